//! Copies on several machines: `sync`, and `replicas`, which lets machines in and out.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use agekeep::crypto::recipients::Role;
use agekeep::error::{Error, RemoteFault, Result};
use agekeep::policy::expiration::TimeSpan;
use agekeep::remote::{self, Replica, ReplicaKeys, Synced, Transfer};
use agekeep::store::Store;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::args::Global;
use crate::output::{self, Style, counted, plain};
use crate::table::{self, Column, ListRow, Screen, main, whole};
use crate::verbs::history::revision;
use crate::verbs::remote::{transfer, with_bar};
use crate::{environment, render};

/// How often `sync --wait` looks whether keys have come.
const LOOK: Duration = Duration::from_secs(2);

#[derive(Args)]
pub(crate) struct SyncArgs {
    /// The remote's name [default: the only one, or origin]
    #[arg(value_name = "NAME")]
    remote: Option<String>,
    /// Wait until another machine has sent the keys that are missing here
    #[arg(long)]
    wait: bool,
}

#[derive(Args)]
pub(crate) struct ReplicasArgs {
    #[command(subcommand)]
    verb: ReplicasVerb,
}

#[derive(Subcommand)]
enum ReplicasVerb {
    /// List the machines that have a copy, and how far each is
    List,
    /// Let in a machine that asks for keys, by the code that it shows
    Add {
        /// The name under which it asks
        name: String,
        /// The code: four times four letters
        #[arg(long)]
        code: String,
        /// What it may open
        #[arg(long, value_enum, default_value_t = ReplicaRole::Reader)]
        role: ReplicaRole,
        /// The remote's name [default: the only one, or origin]
        #[arg(long)]
        remote: Option<String>,
    },
    /// Remove a machine: it gets no more keys, and can write nothing more
    Rm {
        /// Its name
        name: String,
        /// The remote's name [default: the only one, or origin]
        #[arg(long)]
        remote: Option<String>,
    },
    /// Destroy the keys of this copy, and tell the other machines
    Leave {
        /// Confirm it: nobody can read this copy afterwards
        #[arg(long, required = true)]
        destroy: bool,
        /// The remote's name [default: the only one, or origin]
        #[arg(long)]
        remote: Option<String>,
    },
}

/// What a machine may open.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplicaRole {
    /// Everything
    Reader,
    /// Who did what and when, and no content
    Auditor,
}

impl From<ReplicaRole> for Role {
    fn from(role: ReplicaRole) -> Self {
        match role {
            ReplicaRole::Reader => Self::Reader,
            ReplicaRole::Auditor => Self::Auditor,
        }
    }
}

pub(crate) fn sync(global: &Global, args: &SyncArgs) -> Result<u8> {
    let mut said = None;
    let synced = loop {
        match sync_once(global, args.remote.as_deref(), None) {
            Err(
                error @ Error::Remote(RemoteFault::NoMail { .. } | RemoteFault::Waiting { .. }),
            ) if args.wait => {
                // Somebody has to read the code.
                let text = format!("{error}: {}", error.hint());
                if said.as_ref() != Some(&text) {
                    output::note(&text);
                }
                said = Some(text);
            }
            synced => break synced,
        }
        thread::sleep(LOOK);
    }?;
    if synced.lost > 0 {
        let (remote, lost) = (&synced.remote, counted(synced.lost, "event"));
        output::warn(&format!("{remote} had lost {lost}; now it has them again"));
    }
    output::answer(global, &synced_to_json(&synced), &synced_to_text(&synced))?;
    Ok(0)
}

/// Syncs with a remote, with a bar on a terminal; the card of the machine of that name does not count.
fn sync_once(global: &Global, remote: Option<&str>, passed_over: Option<&str>) -> Result<Synced> {
    let store = global.existing_store()?;
    with_bar(global, |transfer, verified| {
        let keys = (environment::keys_to_look(global)?, global.clock());
        remote::sync(&store, remote, passed_over, keys, transfer, verified)
    })
}

fn to_signer((name, events): &(String, u64)) -> Value {
    json!({"name": name, "events": events})
}

fn to_other((name, lacks): &(String, Option<u64>)) -> Value {
    json!({"name": name, "lacks": lacks})
}

fn synced_to_json(synced: &Synced) -> Value {
    json!({
        "schema": "agekeep.sync/1",
        "remote": synced.remote,
        "head": synced.head,
        "events": synced.events,
        "received": synced.received,
        "sent": synced.sent,
        "lost": synced.lost,
        "mailed": synced.mailed,
        "new_keys": synced.has_new_keys,
        "received_by": synced.received_by.iter().map(to_signer).collect::<Vec<_>>(),
        "erased": synced.erased,
        "erased_versions": synced.erased_versions,
        "others": synced.others.iter().map(to_other).collect::<Vec<_>>(),
    })
}

fn synced_to_text(synced: &Synced) -> String {
    let mut parts = Vec::new();
    if synced.received > 0 {
        let new_keys = if synced.has_new_keys {
            " with new keys"
        } else {
            ""
        };
        let received = counted(synced.received, "event");
        let by = synced.received_by.iter();
        let by: Vec<_> = by.map(|(name, count)| format!("{name} {count}")).collect();
        let by = by.join(", ");
        parts.push(format!("{received} received and verified ({by}){new_keys}"));
    } else if synced.has_new_keys {
        parts.push("the keys came".into());
    }
    if synced.sent > 0 {
        parts.push(format!("{} sent", counted(synced.sent, "event")));
    }
    if synced.mailed > 0 {
        let machines = counted(synced.mailed as u64, "machine");
        parts.push(format!("keys sent to {machines}"));
    }
    if parts.is_empty() {
        parts.push("nothing new".into());
    }
    let mut text = format!(
        "{}: {}; {} here and there",
        synced.remote,
        parts.join(", "),
        counted(synced.events, "event")
    );
    if synced.erased > 0 {
        let versions = counted(synced.erased_versions, "version");
        let memories = counted(synced.erased, "memory");
        let _ = write!(
            text,
            "\nerased elsewhere: {versions} of {memories}, which no key here decrypts any more"
        );
    }
    for (name, lacks) in &synced.others {
        let _ = match lacks {
            Some(0) => write!(text, "\n{name} has everything"),
            Some(lacks) => write!(text, "\n{name} lacks {}", counted(*lacks, "event")),
            None => write!(text, "\n{name} has events that are not here"),
        };
    }
    text
}

pub(crate) fn replicas(global: &Global, args: &ReplicasArgs) -> Result<u8> {
    match &args.verb {
        ReplicasVerb::List => list(global)?,
        ReplicasVerb::Add {
            name,
            code,
            role,
            remote,
        } => {
            admit(
                global,
                remote.as_deref(),
                (name, code.as_str(), (*role).into()),
            )?;
            sync_after(global, remote.as_deref())?;
        }
        ReplicasVerb::Rm { name, remote } => {
            expel(global, name, remote.as_deref())?;
            sync_after(global, remote.as_deref())?;
        }
        ReplicasVerb::Leave { remote, .. } => leave(global, remote.as_deref())?,
    }
    Ok(0)
}

fn admit(global: &Global, remote: Option<&str>, asked: (&str, &str, Role)) -> Result<()> {
    let path = global.existing_store()?;
    refuse_apart(sync_once(global, remote, None))?;
    let mut store = global.open()?;
    let mut progress = |_, _| {};
    let mut transfer = transfer(global, &mut progress);
    let context = global.context();
    let done = remote::admit(&path, remote, &mut store, asked, &context, &mut transfer)?;
    let opens = match done.role {
        Role::Auditor => "who did what and when, and no content",
        _ => "everything, including all of history",
    };
    let object = json!({
        "schema": "agekeep.replica_add/1",
        "name": done.name,
        "role": done.role.as_str(),
        "events": done.events,
    });
    output::answer(global, &object, &format!("{} can open {opens}.", done.name))
}

/// Passes on that this copy is apart: what it decides then reaches nobody. `None` if another fault ended the
/// sync.
fn refuse_apart(synced: Result<Synced>) -> Result<Option<Synced>> {
    match synced {
        Err(error @ Error::Remote(RemoteFault::Apart { .. } | RemoteFault::Diverged { .. })) => {
            Err(error)
        }
        other => Ok(other.ok()),
    }
}

/// Removes a machine: its identity from the members, and its key from the signers.
fn expel(global: &Global, name: &str, remote: Option<&str>) -> Result<()> {
    // Its newest card says whether it has left, and the newest memories get new keys too.
    if refuse_apart(sync_once(global, remote, None))?.is_none() {
        // If it contradicts the host, its word does not stand in the way.
        refuse_apart(sync_once(global, remote, Some(name)))?;
    }
    let mut store = global.open()?;
    let context = global.context();
    let mut events = Vec::new();
    let signers = store.signer_list();
    let signer = signers.iter().find(|signer| signer.name == name);
    let replicas = remote::replicas(&global.existing_store()?, &store)?;
    let has_left = replicas.iter().any(|replica| {
        signer.is_some_and(|signer| signer.fingerprint == replica.fingerprint) && replica.has_left()
    });
    let is_signer = signer.is_some();
    let is_member = store.members().iter().any(|member| member.name == name);
    // A removal that was stopped before the remote had it has been sent now.
    let was_seen = replicas.iter().any(|replica| replica.name == name);
    let is_removed = was_seen && !is_member && !is_signer;
    if is_member || !(is_signer || is_removed) {
        let removed = store.remove_member(name, &context, &mut |_, _| {})?;
        events.push(removed.meta.event);
    }
    if is_signer {
        events.push(store.remove_signer(name, &context)?.meta.event);
    }
    let object = json!({"schema": "agekeep.replica_rm/1", "name": name, "events": events});
    let keeps = if has_left {
        "It says that it has destroyed its keys."
    } else {
        "It keeps what it has: every text and record up to now."
    };
    let said = format!("{name} gets no more keys, and can write nothing more. {keeps}");
    output::answer(global, &object, &said)
}

/// Sends what a change of machines made. That it is made stands whatever becomes of this.
fn sync_after(global: &Global, remote: Option<&str>) -> Result<()> {
    let synced = sync_once(global, remote, None).inspect_err(|_| {
        output::note(
            "The change is made; the remote does not have it yet. `agekeep sync` sends it.",
        );
    })?;
    if !global.json {
        output::line(&synced_to_text(&synced))?;
    }
    Ok(())
}

fn leave(global: &Global, remote: Option<&str>) -> Result<()> {
    let path = global.existing_store()?;
    let keys = (environment::keys_to_look(global)?, global.clock());
    let mut progress = |_, _| {};
    remote::leave(&path, remote, keys, &mut transfer(global, &mut progress))?;
    let object = json!({"schema": "agekeep.replica_leave/1", "store": path});
    let said = "The keys of this copy are destroyed, and nobody can read it. Run `agekeep replicas rm` \
                for it on another machine, and remove the folder when you no longer need it.";
    output::answer(global, &object, said)
}

const REPLICAS: &[Column] = &[whole("name"), whole("role"), whole("events"), main("seen")];

fn list(global: &Global) -> Result<()> {
    let path = global.existing_store()?;
    let store = global.open_for_reading()?;
    let events = store.status()?.events;
    let replicas = remote::replicas(&path, &store)?;
    let line = |replica: &&Replica| {
        if global.json {
            return plain(&to_json(replica).to_string());
        }
        let (role, name) = (role_of(replica), &replica.name);
        plain(&format!("{role:<8} {name}  {}", how_far(replica, events)))
    };
    let row = |replica: &&Replica, _: &Screen| {
        let cells = [
            replica.name.clone(),
            role_of(replica).to_owned(),
            replica.events.to_string(),
            how_far(replica, events),
        ];
        ListRow::new(Style::Plain, cells.into())
    };
    table::print(global, REPLICAS, replicas.iter().map(Ok), line, row).map(drop)
}

fn role_of(replica: &Replica) -> &'static str {
    replica.role.map_or("removed", Role::as_str)
}

/// Tells whether a machine has destroyed the keys that an event destroyed, as its newest card says: it has
/// left, or its history is ours, and goes beyond that event.
pub(crate) fn has_destroyed(
    global: &Global,
    store: &mut Store,
    replica: &Replica,
    event: u64,
) -> Result<bool> {
    if replica.has_left() {
        return Ok(true);
    }
    let Some(last) = replica.events.checked_sub(1).filter(|last| *last >= event) else {
        return Ok(false);
    };
    if replica.is_apart || replica.keys != ReplicaKeys::Has {
        // A machine that asks for keys may have a mailbox that opens those which were sent to it before.
        return Ok(false);
    }
    match store.moment(&revision(global, &last.to_string())?) {
        // It claims more events than there are.
        Err(Error::NoRevision { .. }) => Ok(false),
        moment => Ok(moment?.commit == replica.head),
    }
}

/// Names the other machines that may open what they have.
fn others(global: &Global, store: &Store) -> Vec<String> {
    let replicas = global.existing_store();
    let replicas = replicas.and_then(|path| remote::replicas(&path, store));
    let others = replicas.unwrap_or_default().into_iter();
    let others = others.filter(Replica::may_open);
    others.map(|replica| replica.name).collect()
}

/// Names the remotes where machines tell of themselves.
fn meeting_places(global: &Global) -> Vec<String> {
    let remotes = global.existing_store();
    let remotes = remotes
        .and_then(|path| remote::list(&path))
        .unwrap_or_default();
    let remotes = remotes.into_iter().filter(|remote| remote.machines > 0);
    remotes.map(|remote| remote.name).collect()
}

/// Takes what other machines wrote, before keys are destroyed or replaced: otherwise their events and this one
/// would be two histories, and an erasure could be lost with one of them.
pub(crate) fn take_from_others(global: &Global) -> Result<()> {
    let remotes = meeting_places(global);
    if remotes.is_empty() || others(global, &global.open_for_reading()?).is_empty() {
        return Ok(());
    }
    for remote in remotes {
        if let Err(error) = sync_once(global, Some(&remote), None) {
            output::note(&format!(
                "What other machines wrote was not taken from {remote} first: {error}"
            ));
        }
    }
    Ok(())
}

/// Names the other machines, which keep erased keys until they sync; `None` if there are none.
pub(crate) fn yet_to_erase(global: &Global, store: &Store) -> Option<String> {
    let names = others(global, store);
    let keep = match &names[..] {
        [] => return None,
        [_] => "keeps the erased keys until it syncs",
        _ => "keep the erased keys until they sync",
    };
    let sync = match &meeting_places(global)[..] {
        [] | [_] => "`agekeep sync`".into(),
        all => format!("`agekeep sync {}`", all.join("` and `agekeep sync ")),
    };
    let names = names.join(", ");
    Some(format!(
        "{names} {keep}; `agekeep receipt show` says who has. Run {sync} here first."
    ))
}

/// Describes how far a machine was when it was last seen.
pub(crate) fn how_far(replica: &Replica, events: u64) -> String {
    let at = render::seconds(replica.time);
    let behind = match events.saturating_sub(replica.events) {
        _ if replica.is_apart => "has events that are not here".into(),
        0 => "has everything".into(),
        behind => format!("behind by {}", counted(behind, "event")),
    };
    let keys = match replica.keys {
        ReplicaKeys::Has => "",
        ReplicaKeys::Asks => ", asks for keys",
        ReplicaKeys::Left => ", has no keys",
    };
    let own = if replica.is_own {
        " (this machine)"
    } else {
        ""
    };
    format!("{behind}{keys}, last seen {at}{own}")
}

pub(crate) fn to_json(replica: &Replica) -> Value {
    json!({
        "schema": "agekeep.replica/1",
        "name": replica.name,
        "fingerprint": replica.fingerprint,
        "role": replica.role.map(Role::as_str),
        "events": replica.events,
        "head": replica.head,
        "time": render::rfc3339(replica.time),
        "keys": replica.keys.as_str(),
        "apart": replica.is_apart,
        "own": replica.is_own,
    })
}

/// When a server's store was last in sync, in Unix time: 0 if it never was, and less if nobody syncs it.
static LAST_SYNC: AtomicI64 = AtomicI64::new(-1);

/// Returns when this server last synced, in Unix time, and 0 if it could not yet; `None` if it does not.
#[cfg(feature = "http")]
pub(crate) fn last_sync() -> Option<i64> {
    let last = LAST_SYNC.load(Ordering::Relaxed);
    (last >= 0).then_some(last)
}

/// Syncs a server's store now and then again and again, beside its calls. What goes wrong is said once.
pub(crate) fn keep_in_sync(global: Arc<Global>, every: TimeSpan) {
    LAST_SYNC.store(0, Ordering::Relaxed);
    let pause = Duration::from_secs(every.seconds().unsigned_abs().max(1));
    thread::spawn(move || {
        let mut said = None;
        loop {
            let failed = sync_quietly(&global).err().map(|error| {
                let hint = error.hint();
                format!("{error}; {hint}")
            });
            if failed.is_none() {
                LAST_SYNC.store((global.clock())().timestamp().max(0), Ordering::Relaxed);
            }
            if failed != said {
                let text = failed.as_deref().unwrap_or("the store is in sync again");
                output::warn(&format!("sync: {text}"));
            }
            said = failed;
            thread::sleep(pause);
        }
    });
}

fn sync_quietly(global: &Global) -> Result<Synced> {
    let store = global.existing_store()?;
    let keys = (environment::keys_to_look(global)?, global.clock());
    let mut transfer = Transfer {
        now: (global.clock())(),
        attended: false,
        progress: &mut |_, _| {},
    };
    remote::sync(&store, None, None, keys, &mut transfer, &mut |_| {})
}
