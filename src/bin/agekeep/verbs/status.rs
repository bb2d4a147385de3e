//! `status`, `doctor` and `compact`.

use std::path::Path;

use agekeep::crypto::recipients::Role;
use agekeep::error::{Error, Result};
use agekeep::policy::expiration::TimeSpan;
use agekeep::remote::{self, Remote, Replica};
use agekeep::store::{Compacted, CopyOf, Distance, SignerRole, Status, StorageStats, Store};
use chrono::{DateTime, TimeDelta, Utc};
use clap::Args;
use serde_json::{Value, json};

use crate::args::Global;
use crate::output::{self, counted};
use crate::table::{self, Pair, Screen};
use crate::verbs::history::revision;
use crate::verbs::replicas;
use crate::{environment, render};

#[derive(Args)]
pub(crate) struct StatusArgs {
    /// Exit with code 14 if the last sweep is older than this, such as 26h; for monitoring
    #[arg(long, value_name = "TIME")]
    max_age: Option<String>,
    /// Exit with code 14 if another machine has not applied an erasure that is older than this, such as
    /// 7d; for monitoring
    #[arg(long, value_name = "TIME")]
    max_erasure_age: Option<String>,
}

/// How long a remote or another machine may lack events before `doctor` names it.
const REMOTE_AGE_MAX: TimeDelta = TimeDelta::days(7);
/// The exit code of a sweep that is overdue.
const OVERDUE: u8 = 14;

pub(crate) fn run(global: &Global, args: &StatusArgs) -> Result<u8> {
    let max_age = span("--max-age", args.max_age.as_deref())?;
    let max_erasure_age = span("--max-erasure-age", args.max_erasure_age.as_deref())?;
    let mut store = global.open_for_reading()?;
    let mut status = store.status()?;
    let remotes = remotes(&mut status);
    let replicas = match remote::replicas(&status.path, &store) {
        Err(error) if max_erasure_age.is_some() => return Err(error),
        // A file of remotes that cannot be read is named already.
        replicas => replicas.unwrap_or_default(),
    };
    let now = (global.clock())();
    let mut problems: Vec<String> = max_age
        .and_then(|max| overdue(&status, now, max))
        .into_iter()
        .collect();
    if let Some(max) = max_erasure_age {
        problems.extend(erasures_behind(global, &mut store, &replicas, max)?);
    }
    let code = if problems.is_empty() { 0 } else { OVERDUE };
    status.problems.extend(problems);
    if global.json {
        output::json(&to_json(&status, &remotes, &replicas))?;
    } else {
        table::print_pairs(global, &to_pairs(&status, &remotes, &replicas))?;
    }
    Ok(code)
}

fn span(option: &'static str, text: Option<&str>) -> Result<Option<TimeSpan>> {
    let span = text.map(str::parse::<TimeSpan>).transpose();
    span.map_err(|why| Error::invalid(option, why))
}

/// Names each machine that has not applied an erasure for longer than `max`, as far as this machine has
/// seen.
fn erasures_behind(
    global: &Global,
    store: &mut Store,
    replicas: &[Replica],
    max: TimeSpan,
) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let erasures = store.receipts()?;
    for replica in replicas.iter().filter(|replica| replica.may_open()) {
        let mut late = None;
        for event in erasures.iter().rev() {
            if replicas::has_destroyed(global, store, replica, *event)? {
                break;
            }
            late = Some(*event);
        }
        let Some(event) = late else { continue };
        let revision = revision(global, &event.to_string())?;
        let time = store.receipt(Some(&revision))?.event.time;
        if ((global.clock())() - time).num_seconds() > max.seconds() {
            problems.push(format!(
                "{} has not applied the erasure of event {event}, made at {}, more than {max} ago: run \
                 `agekeep sync` there",
                replica.name,
                render::seconds(time)
            ));
        }
    }
    Ok(problems)
}

/// Reports that no sweep was carried out for too long.
fn overdue(status: &Status, now: DateTime<Utc>, max: TimeSpan) -> Option<String> {
    let Some((last, _)) = status.last_sweep else {
        return Some("no sweep has run yet; run `agekeep expire`".into());
    };
    // A sweep in the future is no proof that one ran lately.
    let age = (now - last).num_seconds();
    (age > max.seconds() || age < -60).then(|| {
        let at = render::seconds(last);
        if last > now {
            format!("the last sweep has the time {at}, which is still to come: check the clock")
        } else {
            format!("the last sweep ran at {at}, more than {max} ago")
        }
    })
}

/// Returns the remotes. A file of them that cannot be read is a problem, and no more.
fn remotes(status: &mut Status) -> Vec<Remote> {
    remote::list(&status.path).unwrap_or_else(|error| {
        status.problems.push(format!("{error}; {}", error.hint()));
        Vec::new()
    })
}

/// Describes how far a remote is, as far as this machine knows.
fn remote_line(remote: &Remote, events: u64) -> String {
    let (name, url) = (&remote.name, &remote.url);
    let Some(seen) = remote.seen else {
        return format!("{name} {url}, never seen");
    };
    let at = render::seconds(seen.time);
    let wait = events.saturating_sub(seen.events);
    match wait {
        0 => format!("{name} {url}, had everything at {at}"),
        _ => format!("{name} {url}, lacks {} since {at}", counted(wait, "event")),
    }
}

fn to_pairs(status: &Status, remotes: &[Remote], replicas: &[Replica]) -> Vec<Pair> {
    let mut pairs = vec![
        ("store", status.path.display().to_string()),
        ("id", status.id.to_string()),
        ("head", status.head.to_string()),
        (
            "memories",
            format!(
                "{} ({} of text), {} in history",
                status.memories,
                counted(status.text_bytes, "byte"),
                counted(status.versions, "version")
            ),
        ),
        (
            "events",
            format!("{}, the last {}", status.events, last_event(status)),
        ),
        ("history", history(status)),
        ("on disk", counted(status.file_bytes, "byte")),
        (
            "sweep",
            format!(
                "{}, {} expired since, {}",
                last_sweep(status).unwrap_or_else(|| "never".into()),
                status.expired,
                counted(status.holds as u64, "hold")
            ),
        ),
    ];
    if status.trial {
        pairs.push(("trial", render::TRIAL.to_owned()));
    }
    pairs.extend(
        status
            .copy_of
            .iter()
            .map(|copy| ("place", copy.to_string())),
    );
    let remotes = remotes.iter();
    pairs.extend(remotes.map(|remote| ("remote", remote_line(remote, status.events))));
    for replica in replicas {
        let far = replicas::how_far(replica, status.events);
        pairs.push(("replica", format!("{} {far}", replica.name)));
    }
    for member in &status.recipients {
        let who = format!("{} {}", member.name, member.recipient);
        pairs.push((member.role.as_str(), who));
    }
    for signer in &status.signers {
        let (name, role, key) = (&signer.name, signer.role, &signer.key);
        pairs.push(("signer", format!("{name} ({role}) {key}")));
    }
    if status.problems.is_empty() {
        pairs.push(("problems", "none found".into()));
    }
    let problems = status.problems.iter();
    pairs.extend(problems.map(|problem| ("problem", problem.clone())));
    pairs
}

fn history(status: &Status) -> String {
    let bytes = status.history_bytes;
    match status.history_bytes_max {
        0 => format!("{bytes} bytes, without a limit"),
        max => format!("{bytes} bytes of {max}"),
    }
}

fn last_event(status: &Status) -> String {
    let time = status.last_event.map(render::seconds);
    time.unwrap_or_else(|| "never".into())
}

fn last_sweep(status: &Status) -> Option<String> {
    status.last_sweep.map(|(time, _)| render::seconds(time))
}

fn to_json(status: &Status, remotes: &[Remote], replicas: &[Replica]) -> serde_json::Value {
    let recipients: Vec<_> = status
        .recipients
        .iter()
        .map(|m| json!({"role": m.role.as_str(), "name": m.name, "recipient": m.recipient.to_string()}))
        .collect();
    let signers: Vec<_> = status
        .signers
        .iter()
        .map(|signer| json!({"name": signer.name, "role": signer.role.as_str(), "key": signer.key}))
        .collect();
    json!({
        "schema": "agekeep.status/1",
        "store": status.path,
        "id": status.id,
        "head": status.head,
        "memories": status.memories,
        "versions": status.versions,
        "events": status.events,
        "text_bytes": status.text_bytes,
        "history_bytes": status.history_bytes,
        "history_bytes_max": status.history_bytes_max,
        "file_bytes": status.file_bytes,
        "last_event": last_event(status),
        "last_sweep": last_sweep(status),
        "last_sweep_event": status.last_sweep.map(|(_, event)| event),
        "expired": status.expired,
        "holds": status.holds,
        "marked": status.marked,
        "trial": status.trial,
        "copy_of": status.copy_of.as_ref().map(copy_to_json),
        "recipients": recipients,
        "signers": signers,
        "remotes": remotes.iter().map(super::remote::to_json).collect::<Vec<_>>(),
        "replicas": replicas.iter().map(replicas::to_json).collect::<Vec<_>>(),
        "problems": status.problems,
    })
}

/// Renders the store that this is a copy of; `events` is how many fewer, or more, it has than were
/// seen there.
fn copy_to_json(copy: &CopyOf) -> serde_json::Value {
    let (compared, events) = match copy.distance {
        Distance::Behind(events) => ("behind", events),
        Distance::Even => ("even", 0),
        Distance::Ahead(events) => ("ahead", events),
        Distance::Apart => ("apart", 0),
    };
    json!({
        "path": copy.path,
        "is_there": copy.is_there,
        "compared": compared,
        "events": events,
    })
}

// `doctor`: what may cause trouble later, each with its fix.

/// The exit code if something is found.
const FINDINGS: u8 = 14;

/// A finding, and what to do about it.
struct Advice {
    id: &'static str,
    what: String,
    fix: String,
}

pub(crate) fn doctor(global: &Global) -> Result<u8> {
    let closed = Store::restrict_permissions(&global.existing_store()?);
    let store = global.open_for_reading()?;
    let mut status = store.status()?;
    let remotes = remotes(&mut status);
    let mut found: Vec<Advice> = closed.into_iter().map(was_open).collect();
    let problems = [status.problems.clone(), store.lost_memories()?].concat();
    found.extend(problems.into_iter().map(|problem| Advice {
        id: "problem",
        what: problem,
        fix: "do what it says; `agekeep verify` shows the cause".into(),
    }));
    found.extend(readers(&store));
    found.extend(signers(&store));
    found.extend(backups(&store, &status.path));
    found.extend(copy_left(&store, &status.path));
    let now = (global.clock())();
    found.extend(remotes_behind(&remotes, &status, now));
    // A file of remotes that cannot be read is named already.
    let replicas = remote::replicas(&status.path, &store).unwrap_or_default();
    found.extend(machines_behind(&replicas, &status, now));
    found.extend(keys_inside(global, &status.path)?);
    if let Some(screen) = Screen::of(global) {
        let pairs = found.iter().flat_map(|advice| {
            let pairs = [(advice.id, &advice.what), ("  fix", &advice.fix)];
            pairs.map(|(name, value)| (name, value.clone()))
        });
        let lines = screen.pairs(&pairs.collect::<Vec<_>>(), 0);
        output::pages(global, lines.into_iter().map(Ok))?;
    } else {
        print_advice(global, &found)?;
    }
    if found.is_empty() && !global.json {
        output::line("No problems found.")?;
    }
    Ok(if found.is_empty() { 0 } else { FINDINGS })
}

/// Names each remote that has lacked events for long.
fn remotes_behind(remotes: &[Remote], status: &Status, now: DateTime<Utc>) -> Vec<Advice> {
    let is_behind = |remote: &&Remote| {
        let seen = remote.seen.as_ref();
        seen.is_none_or(|seen| seen.events < status.events && now - seen.time > REMOTE_AGE_MAX)
    };
    let advice = |remote: &Remote| Advice {
        id: "remote-behind",
        what: format!("remote {}", remote_line(remote, status.events)),
        fix: format!("run `agekeep push {}`, or have cron do it", remote.name),
    };
    remotes.iter().filter(is_behind).map(advice).collect()
}

/// Names each other machine that has events of its own, or has lacked some for long.
fn machines_behind(replicas: &[Replica], status: &Status, now: DateTime<Utc>) -> Vec<Advice> {
    let advice = |replica: &Replica| {
        let (name, is_late) = (&replica.name, now - replica.time > REMOTE_AGE_MAX);
        let (id, fix) = if replica.is_apart {
            let fix = format!(
                "run `agekeep sync` here and on {name}: the one that ends with code 15 says what to do. An \
                 erasure on either does not reach the other"
            );
            ("machine-apart", fix)
        } else if is_late && replica.events < status.events {
            let fix = format!(
                "run `agekeep sync` on {name}, or `agekeep replicas rm {name}` if it is gone"
            );
            ("machine-behind", fix)
        } else {
            return None;
        };
        let what = format!("{name} {}", replicas::how_far(replica, status.events));
        Some(Advice { id, what, fix })
    };
    let others = replicas.iter().filter(|replica| replica.may_open());
    others.filter_map(advice).collect()
}

/// Prints advice for a pipe or a program.
fn print_advice(global: &Global, found: &[Advice]) -> Result<()> {
    for advice in found {
        if global.json {
            output::json(&json!({
                "schema": "agekeep.doctor/1",
                "id": advice.id,
                "what": advice.what,
                "fix": advice.fix,
            }))?;
        } else {
            output::line(&format!(
                "{}: {}\n  fix: {}",
                advice.id, advice.what, advice.fix
            ))?;
        }
    }
    Ok(())
}

/// Makes the advice about something that others could use until now.
fn was_open(what: String) -> Advice {
    Advice {
        id: "loose-permissions",
        what,
        fix: "run `agekeep keys replace` if somebody else may have read the keyring together with an \
             identity"
            .into(),
    }
}

fn readers(store: &Store) -> Option<Advice> {
    let readers = store
        .members()
        .iter()
        .filter(|member| member.role == Role::Reader);
    (readers.count() == 1).then(|| Advice {
        id: "one-reader",
        what: "there is only one reader: if that identity is lost, every memory is lost".into(),
        fix: "add another with `agekeep members add NAME RECIPIENT`, or one for a safe with \
              `agekeep members add recovery --new`"
            .into(),
    })
}

fn signers(store: &Store) -> Option<Advice> {
    let mut signers = store.signer_list();
    signers.retain(|signer| signer.role == SignerRole::Owner);
    let ends = signers.iter().map(|signer| signer.validity.before());
    let last = ends.collect::<Option<Vec<_>>>()?.into_iter().max()?;
    Some(Advice {
        id: "signers-end",
        what: format!(
            "after {last} nobody can change who may write, because every owner's key has \
                       expired by then"
        ),
        fix: "add an owner whose key does not expire: `agekeep signers add NAME KEY --role \
              owner`"
            .into(),
    })
}

fn backups(store: &Store, root: &Path) -> Option<Advice> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let keyring = real(store.keyring_folder());
    keyring.starts_with(real(root)).then(|| Advice {
        id: "one-backup",
        what: format!(
            "the keyring is in the store's folder ({}), so one backup has both: whoever restores \
             it can also read what is erased later",
            keyring.display()
        ),
        fix: "move it to a volume with a backup of its own: `agekeep keys move FOLDER`".into(),
    })
}

fn copy_left(store: &Store, root: &Path) -> Option<Advice> {
    let copy = root.join("keyring.moving");
    copy.is_dir().then(|| Advice {
        id: "keyring-copy",
        what: format!(
            "the keyring is in {}, and a move that was stopped left a copy in {}",
            store.keyring_folder().display(),
            copy.display()
        ),
        fix: "run `agekeep keys move` again, or remove the copy".into(),
    })
}

fn keys_inside(global: &Global, root: &Path) -> Result<Vec<Advice>> {
    let files = [
        ("identity", environment::identity(global)?),
        ("signing key", environment::signing_key(global)?),
    ];
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let inside = |path: &Path| {
        path.canonicalize()
            .is_ok_and(|path| path.starts_with(&root))
    };
    let inside = files.into_iter().filter(|(_, path)| inside(path));
    Ok(inside
        .map(|(what, path)| Advice {
            id: "key-in-store",
            what: format!(
                "the {what} {} is in the folder of the store that it belongs \
                           to",
                path.display()
            ),
            fix: format!(
                "move it elsewhere, and name it with --{}",
                what.replace(' ', "-")
            ),
        })
        .collect())
}

// `compact`: everything the store holds in one pack.

/// The exit code if something is not whole: that of `verify`.
const FINDINGS_PRESENT: u8 = 13;

#[derive(Args)]
pub(crate) struct Compact {
    /// Print the number of packs and files without changing anything
    #[arg(short = 'n', long)]
    dry_run: bool,
}

pub(crate) fn compact(global: &Global, args: &Compact) -> Result<u8> {
    if global.quiet && global.json {
        return Err(Error::invalid("--quiet", "--json always prints everything"));
    }
    let mut store = global.open_for_reading()?;
    if args.dry_run {
        let kept = store.storage_stats()?;
        if global.json {
            output::json(
                &json!({"schema": "agekeep.compact/1", "before": compacted_to_json(kept)}),
            )?;
        } else if !global.quiet {
            let now = in_words(kept);
            output::line(&format!("now {now}\nNothing was changed."))?;
        }
        return Ok(0);
    }
    let compacted = output::with_bar("objects packed and checked", |progress| {
        store.compact(progress)
    })?;
    print(global, &compacted)
}

fn print(global: &Global, compacted: &Compacted) -> Result<u8> {
    let (before, after) = (compacted.before, compacted.after);
    if global.json {
        output::json(&json!({
            "schema": "agekeep.compact/1",
            "before": compacted_to_json(before),
            "after": compacted_to_json(after),
            "torn": compacted.torn,
        }))?;
    } else if !global.quiet {
        let (before, after) = (in_words(before), in_words(after));
        output::line(&format!("before {before}\nafter  {after}"))?;
    }
    if compacted.torn.is_empty() {
        return Ok(0);
    }
    for id in &compacted.torn {
        output::warn(&format!("object {id} is damaged and was left in place"));
    }
    output::note("hint: run `agekeep verify` to see which events need it");
    Ok(FINDINGS_PRESENT)
}

fn in_words(kept: StorageStats) -> String {
    let (packs, loose) = (
        counted(kept.packs, "pack"),
        counted(kept.loose, "loose object"),
    );
    format!("{packs}, {loose}, {} bytes", kept.bytes)
}

fn compacted_to_json(kept: StorageStats) -> Value {
    json!({"packs": kept.packs, "loose": kept.loose, "bytes": kept.bytes})
}
