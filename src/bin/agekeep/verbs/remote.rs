//! Copies elsewhere: `remote`, `push`, `pull` and `clone`.

use std::cell::RefCell;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use agekeep::crypto::keyfile;
use agekeep::crypto::recipients::Role;
use agekeep::error::{Error, RemoteFault, Result};
use agekeep::remote::{
    self, Asking, CloneOptions, Cloned, KeyBackup, PullOptions, Pulled, Pushed, Remote, Transfer,
};
use agekeep::store::ProgressFn;
use agekeep::verify;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::args::Global;
use crate::output::{self, Bar, Style, counted, plain};
use crate::table::{self, Column, ListRow, Screen, main, whole};
use crate::verbs::verify::note;
use crate::{environment, input, render};

/// Most bytes of a backup of the keyring: 1 GiB, and what age adds.
const KEYS_BYTES_MAX: u64 = (1 << 30) + (1 << 20);

#[derive(Args)]
pub(crate) struct RemoteArgs {
    #[command(subcommand)]
    verb: RemoteVerb,
}

#[derive(Subcommand)]
enum RemoteVerb {
    /// Add a git repository to send the history to. Nothing is sent yet
    Add {
        /// A name for it
        name: String,
        /// Its URL: https, ssh, git, file, `user@host:path` or a path
        url: String,
        /// For a host that takes branches alone: put what the machines say of themselves there
        #[arg(long)]
        branches: bool,
    },
    /// List the remotes, and where each was last seen
    List,
    /// Remove a remote from the list. What it has stays there
    Rm {
        /// Its name
        name: String,
    },
}

#[derive(Args)]
pub(crate) struct TransferArgs {
    /// The remote's name [default: the only one, or origin]
    #[arg(value_name = "NAME")]
    remote: Option<String>,
}

#[derive(Args)]
pub(crate) struct PullArgs {
    #[command(flatten)]
    from: TransferArgs,
    /// Replace the keys of this copy by those of this backup, made by `agekeep keys backup`
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct CloneArgs {
    /// The URL of the git repository
    url: String,
    /// The folder for the copy; it must be empty or not exist yet
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Refuse a history that does not contain this checkpoint
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,
    /// Put the keys of this backup in place, made by `agekeep keys backup`
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Ask for keys under this name: a reader lets this machine in with `agekeep replicas add`
    #[arg(long, conflicts_with = "keys")]
    name: Option<String>,
    /// Ask for the keys of an auditor, which open no text
    #[arg(long, requires = "name")]
    audit: bool,
}

pub(crate) fn remote(global: &Global, args: &RemoteArgs) -> Result<u8> {
    let store = global.existing_store()?;
    match &args.verb {
        RemoteVerb::List => list(global, &remote::list(&store)?)?,
        RemoteVerb::Add {
            name,
            url,
            branches,
        } => {
            let added = remote::add(&store, name, url, *branches)?;
            let said = format!(
                "{} is {}. Nothing was sent: `agekeep push {0}` does that.",
                added.name, added.url
            );
            output::answer(global, &to_json(&added), &said)?;
        }
        RemoteVerb::Rm { name } => {
            let removed = remote::remove(&store, name)?;
            let said = format!("{name} is removed. {} keeps what it has.", removed.url);
            output::answer(global, &to_json(&removed), &said)?;
        }
    }
    Ok(0)
}

const REMOTES: &[Column] = &[whole("name"), whole("seen"), main("url")];

fn list(global: &Global, remotes: &[Remote]) -> Result<()> {
    let seen = |remote: &Remote| match remote.seen {
        Some(seen) => format!(
            "{} at {}",
            counted(seen.events, "event"),
            render::rfc3339(seen.time)
        ),
        None => "never".into(),
    };
    let line = |remote: &&Remote| {
        if global.json {
            return plain(&to_json(remote).to_string());
        }
        plain(&format!(
            "{}  {}  {}",
            remote.name,
            remote.url,
            seen(remote)
        ))
    };
    let row = |remote: &&Remote, _: &Screen| {
        let cells = [remote.name.clone(), seen(remote), remote.url.clone()];
        ListRow::new(Style::Plain, cells.into())
    };
    table::print(global, REMOTES, remotes.iter().map(Ok), line, row).map(drop)
}

pub(crate) fn to_json(remote: &Remote) -> Value {
    let seen = remote.seen.map(|seen| {
        json!({
            "commit": seen.commit,
            "events": seen.events,
            "time": render::rfc3339(seen.time),
        })
    });
    json!({
        "schema": "agekeep.remote/1",
        "name": remote.name,
        "url": remote.url,
        "branches": remote.branches,
        "seen": seen,
    })
}

pub(crate) fn push(global: &Global, args: &TransferArgs) -> Result<u8> {
    let store = global.existing_store()?;
    let mut bar = Bar::start("objects");
    let pushed = {
        let mut progress = |done, total| bar.show(done, Some(total));
        let mut transfer = transfer(global, &mut progress);
        remote::push(&store, args.remote.as_deref(), &mut transfer)
    };
    bar.finish();
    let Pushed {
        remote,
        head,
        sent,
        events,
        lost,
        ..
    } = pushed?;
    if lost > 0 {
        output::warn(&format!(
            "{remote} had lost {} since the last push; now it has them again",
            counted(lost, "event")
        ));
    }
    let object = json!({
        "schema": "agekeep.push/1",
        "remote": remote,
        "head": head,
        "sent": sent,
        "events": events,
        "lost": lost,
    });
    let said = match sent {
        0 => format!("{remote} has everything: {}", counted(events, "event")),
        _ => format!(
            "{remote}: {} sent, {} there now",
            counted(sent, "event"),
            counted(events, "event")
        ),
    };
    output::answer(global, &object, &said)?;
    Ok(0)
}

pub(crate) fn pull(global: &Global, args: &PullArgs) -> Result<u8> {
    let store = global.existing_store()?;
    let keys = args.keys.as_deref();
    let options = PullOptions {
        identity: environment::identity_if_any(global)?,
        state: environment::state(),
        keyring: global.keyring.clone(),
        keys: keys.map(|file| backup(global, file)).transpose()?,
    };
    let name = args.from.remote.as_deref();
    let has_mail = remote::list(&store)?
        .iter()
        .any(|remote| remote.machines > 0);
    let pulled = with_bar(global, |transfer, verified| {
        match remote::pull(&store, name, &options, transfer, verified) {
            // Another machine may have sent the keys.
            Err(Error::Remote(RemoteFault::NoKeys { .. })) if has_mail && keys.is_none() => {
                let keys = (environment::keys_to_look(global)?, global.clock());
                remote::pull_with_mail(&store, name, keys, transfer, verified)
            }
            pulled => pulled,
        }
    })?;
    let object = json!({
        "schema": "agekeep.pull/1",
        "remote": pulled.remote,
        "head": pulled.head,
        "received": pulled.received,
        "events": pulled.events,
        "missing": pulled.missing,
    });
    output::answer(global, &object, &told(&pulled))?;
    Ok(0)
}

fn told(pulled: &Pulled) -> String {
    let (remote, events) = (&pulled.remote, counted(pulled.events, "event"));
    match (pulled.received, pulled.missing) {
        (0, _) if pulled.report.is_some() => {
            "the keys are in place; nothing else is new. Other machines learn of the keys by \
             `agekeep sync`"
                .into()
        }
        (0, 0) => format!("nothing new in {remote}: {events}"),
        (0, missing) => format!(
            "nothing new in {remote}, which lacks {} of this store; `agekeep push {remote}` sends \
             them",
            counted(missing, "event")
        ),
        (received, _) => format!(
            "{remote}: {} received and verified, {events} now",
            counted(received, "event")
        ),
    }
}

pub(crate) fn clone(global: &Global, args: &CloneArgs) -> Result<u8> {
    let keys = args.keys.as_deref();
    let checkpoints = args.checkpoint.iter().map(|file| note(file));
    let asks = args
        .name
        .as_deref()
        .map(|name| asking(global, name, args.audit));
    let options = CloneOptions {
        checkpoints: checkpoints.collect::<Result<_>>()?,
        keys: keys.map(|file| backup(global, file)).transpose()?,
        state: environment::state(),
        asks: asks.transpose()?,
    };
    let cloned = with_bar(global, |transfer, verified| {
        remote::clone(&args.url, &args.folder, options, transfer, verified)
    })?;
    // The card is at the remote once this says what a reader has to do.
    let asks = args.name.as_ref().map(|_| ask(global, &args.folder));
    let waiting = asks.transpose()?.flatten();
    let code = match &waiting {
        Some(Error::Remote(RemoteFault::Waiting { code, .. })) => Some(code),
        _ => None,
    };
    let object = json!({
        "schema": "agekeep.clone/1",
        "folder": args.folder,
        "store": cloned.store,
        "owner": cloned.owner.fingerprint(),
        "head": cloned.pulled.head,
        "events": cloned.pulled.events,
        "keys_of": cloned.keys_of,
        "code": code,
    });
    let vouched = !args.checkpoint.is_empty();
    let mut said = introduced(&cloned, args, vouched);
    if let Some(waiting) = &waiting {
        let _ = write!(said, "\nIt asks for keys: {}.", waiting.hint());
    }
    output::answer(global, &object, &said)?;
    Ok(0)
}

/// Describes this machine to others, with keys that are made where there are none.
fn asking(global: &Global, name: &str, audit: bool) -> Result<Asking> {
    keyfile::make_identity(&environment::identity(global)?)?;
    keyfile::make_signing_key(&environment::signing_key(global)?)?;
    let keys = environment::keys(global)?;
    let role = if audit { Role::Auditor } else { Role::Reader };
    Ok(Asking {
        name: name.to_owned(),
        role,
        key: keys.signing_key.ok_or(Error::NoSigningKey)?.verifying_key(),
        reads: keys.identity.recipient()?,
        keyring: keys.keyring,
    })
}

/// Publishes the card of a new copy; the error says for what it waits, and `None` if it has its keys.
fn ask(global: &Global, folder: &Path) -> Result<Option<Error>> {
    let keys = (environment::keys_to_look(global)?, global.clock());
    let mut progress = |_, _| {};
    let mut transfer = transfer(global, &mut progress);
    match remote::sync(folder, None, None, keys, &mut transfer, &mut |_| {}) {
        Err(waiting @ Error::Remote(RemoteFault::Waiting { .. } | RemoteFault::NoMail { .. })) => {
            Ok(Some(waiting))
        }
        synced => {
            let synced = synced.inspect_err(|_| {
                let store = folder.display();
                output::note(&format!(
                    "The copy is made, and has not asked for keys yet. `agekeep --store {store} sync` asks."
                ));
            });
            synced.map(|_| None)
        }
    }
}

/// Describes a copy: what it is, how far it can be believed, and what it can do.
fn introduced(cloned: &Cloned, args: &CloneArgs, vouched: bool) -> String {
    let folder = &args.folder;
    let mut text = format!(
        "The store {} is in {}: {}, verified. {} created it.",
        cloned.store,
        folder.display(),
        counted(cloned.pulled.events, "event"),
        cloned.owner.fingerprint(),
    );
    if !vouched {
        text.push_str(
            "\nCompare that key with the one that you know: nobody vouched for this history. \
             --checkpoint FILE holds it to one that somebody signed.",
        );
    }
    text.push_str(match cloned.keys_of {
        Some(_) => "\nIts keys are in place, so your identity opens it.",
        None if args.name.is_some() => "",
        None => {
            "\nIt has no keys: nobody can read it, and `agekeep verify` and `agekeep pull` work. A machine that \
             is to have keys is cloned with --name, or with --keys and a backup of the keyring."
        }
    });
    text
}

/// Shows one bar for what is transferred, and then for what is verified.
pub(crate) fn with_bar<T>(
    global: &Global,
    work: impl FnOnce(&mut Transfer<'_>, &mut dyn FnMut(verify::Progress)) -> Result<T>,
) -> Result<T> {
    let bar = RefCell::new(Bar::start("transferred, then verified"));
    let done = {
        let mut progress = |done, total| bar.borrow_mut().show(done, Some(total));
        let mut verified = |done: verify::Progress| bar.borrow_mut().show(done.done, done.total);
        work(&mut transfer(global, &mut progress), &mut verified)
    };
    bar.into_inner().finish();
    done
}

/// Reads a backup of the keyring, and the identity that opens it.
fn backup(global: &Global, file: &Path) -> Result<KeyBackup> {
    Ok(KeyBackup {
        bytes: input::bytes(file, KEYS_BYTES_MAX)?,
        identity: environment::identity_alone(global)?,
    })
}

pub(crate) fn transfer<'a>(global: &Global, progress: &'a mut ProgressFn<'a>) -> Transfer<'a> {
    Transfer {
        now: (global.clock())(),
        attended: !global.unattended && input::is_terminal(),
        progress,
    }
}
