//! The verbs for who can open the store: `members add`, `rm`, `list`; and for keys:
//! `keys export`, `keys replace` and `keys backup`.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use agekeep::crypto::keyfile;
use agekeep::crypto::recipients::{Member, Role};
use agekeep::error::{Error, Result};
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::{Audience, Recipient, Rekeyed};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::args::{Global, memory_glob, one_of, path_or_id};
use crate::output::{self, Style, plain};
use crate::recovery;
use crate::table::{self, Column, ListRow, Screen, main, whole};
use crate::verbs::export::writer::ExportTarget;
use crate::verbs::replicas::take_from_others;

/// Most bytes of a file that are searched for a key.
const FILE_BYTES_MAX: u64 = 64 * 1024;

#[derive(Subcommand)]
pub(crate) enum MembersVerb {
    /// Add a reader or an auditor. This is fast, however large the store is
    Add(AddMemberArgs),
    /// Remove a member: later commands use new keys, and every live memory is re-encrypted
    Rm {
        /// The member
        name: String,
    },
    /// List who can read the store
    List,
}

#[derive(Args)]
pub(crate) struct AddMemberArgs {
    /// A name for them, without blanks
    name: String,
    /// Their public age key, or the file that holds it, such as `id_ed25519.pub`
    #[arg(
        value_name = "RECIPIENT|FILE",
        allow_hyphen_values = true,
        required_unless_present = "new",
        conflicts_with = "new"
    )]
    recipient: Option<String>,
    /// Create an identity for them. It is printed once and stored nowhere
    #[arg(long)]
    new: bool,
    /// What they can read
    #[arg(long, value_parser = one_of::<Role>(&ROLES), default_value = "reader")]
    role: Role,
}

/// The roles of members: what each can read.
const ROLES: [(&str, &str); 2] = [
    ("reader", "Content and audit records"),
    (
        "auditor",
        "Audit records alone: who did what and when, to which path",
    ),
];

#[derive(Args)]
pub(crate) struct ReplaceKeys {
    /// Replace only the keys of memories whose path matches this glob
    #[arg(long, value_name = "GLOB", value_parser = memory_glob)]
    memories: Option<String>,
}

pub(crate) fn members(global: &Global, verb: &MembersVerb) -> Result<u8> {
    match verb {
        MembersVerb::Add(add) => add_member(global, add)?,
        MembersVerb::Rm { name } => remove_member(global, name)?,
        MembersVerb::List => list(global, global.open_for_reading()?.members())?,
    }
    Ok(0)
}

pub(crate) fn replace_keys(global: &Global, args: &ReplaceKeys) -> Result<u8> {
    take_from_others(global)?;
    let mut store = global.open()?;
    let done = output::with_bar("memories re-encrypted", |progress| match &args.memories {
        None => store.rekey(&global.context(), progress),
        Some(glob) => store.rekey_some(glob, &global.context(), progress),
    })?;
    let said = format!("New keys are in place (event {}).", done.meta.event);
    tell(global, "agekeep.rekey/1", &done, &said)?;
    Ok(0)
}

fn add_member(global: &Global, add: &AddMemberArgs) -> Result<()> {
    if add.new {
        output::close_to_others()?;
    }
    let fresh = add.new.then(recovery::Fresh::new);
    let recipient = match (&fresh, &add.recipient) {
        (Some(fresh), _) => fresh.recipient()?,
        (None, given) => read_recipient(given.as_deref().unwrap_or_default())?,
    };
    let mut store = global.open()?;
    let meta = store.add_member(&add.name, add.role, &recipient, &global.context())?;
    let opens = match add.role {
        Role::Auditor => "who did what and when, and no content",
        _ => "everything, including all of history",
    };
    if global.json {
        let identity = fresh.as_ref().map(|fresh| fresh.line().to_string());
        output::json(&json!({
            "schema": "agekeep.recipients_add/1",
            "meta": meta,
            "identity": identity,
        }))?;
        return Ok(());
    }
    let said = format!("{} can open {opens} (event {}).", add.name, meta.event);
    match &fresh {
        // The output is an identity file.
        Some(fresh) => output::line(fresh.to_text(&said).as_str())?,
        None => output::line(&said)?,
    }
    Ok(())
}

/// Parses a recipient, or reads the one in a file.
fn read_recipient(text: &str) -> Result<Recipient> {
    let path = Path::new(text);
    let invalid = |why: &str| Error::invalid("the recipient", why);
    if path.is_dir() {
        return Err(invalid("it is a folder"));
    }
    if !path.is_file() {
        let looks_like_one = path.extension().is_some() || text.contains('/');
        return parse(text).map_err(|error| {
            if looks_like_one && !keyfile::is_secret(text) {
                return invalid("there is no such file");
            }
            error
        });
    }
    let mut read = String::new();
    let file = fs::File::open(path).map(|file| file.take(FILE_BYTES_MAX));
    file.and_then(|mut file| file.read_to_string(&mut read))
        .map_err(|_| invalid("the file cannot be read as text"))?;
    let lines = read.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let line = lines.next().unwrap_or_default();
    if lines.next().is_some() {
        return Err(invalid(
            "the file has more than one line; add each recipient by itself, with a name",
        ));
    }
    parse(line)
}

/// Parses a recipient; text that cannot be one is not shown.
pub(crate) fn parse(text: &str) -> Result<Recipient> {
    Recipient::parse(text).map_err(|why| Error::invalid("the recipient", why))
}

fn remove_member(global: &Global, name: &str) -> Result<()> {
    take_from_others(global)?;
    let mut store = global.open()?;
    let role = store.members().iter().find(|member| member.name == name);
    let role = role.map(|member| member.role);
    let done = output::with_bar("memories re-encrypted", |progress| {
        store.remove_member(name, &global.context(), progress)
    })?;
    if store.signer_list().iter().any(|signer| signer.name == name) {
        output::warn(&format!(
            "{name} can still write, because a signer has that name; run `agekeep signers rm \
             {name}` to end that"
        ));
    }
    let what = match role {
        Some(Role::Auditor) => "every record up to now",
        _ => "every text and record up to now",
    };
    let said = format!(
        "{name} cannot read anything that is written from now on (event {event}).\n\
         If {name} copied the keyring and the repository before, they can still read {what} in that \
         copy. If memories held secrets, change those secrets where they are used.",
        event = done.meta.event
    );
    tell(global, "agekeep.recipients_rm/1", &done, &said)
}

const MEMBERS: &[Column] = &[whole("role"), whole("name"), main("recipient")];

fn list(global: &Global, members: &[Member]) -> Result<()> {
    let line = |member: &&Member| {
        let (role, name, recipient) = (member.role.as_str(), &member.name, &member.recipient);
        if global.json {
            let schema = "agekeep.recipient/1";
            let recipient = recipient.to_string();
            let object =
                json!({"schema": schema, "role": role, "name": name, "recipient": recipient});
            return plain(&object.to_string());
        }
        plain(&format!("{role:<8} {name}  {recipient}"))
    };
    let row = |member: &&Member, _: &Screen| {
        let cells = [
            member.role.as_str().to_owned(),
            member.name.clone(),
            member.recipient.to_string(),
        ];
        ListRow::new(Style::Plain, cells.into())
    };
    let members = members.iter().map(Ok);
    table::print(global, MEMBERS, members, line, row).map(drop)
}

fn tell(global: &Global, schema: &str, done: &Rekeyed, said: &str) -> Result<()> {
    let object = json!({"schema": schema, "meta": done.meta, "left": done.left});
    output::answer(global, &object, said)?;
    if !done.left.is_empty() {
        output::warn(&format!(
            "{} memories cannot be decrypted and keep their keys; `agekeep verify` shows which, \
             and what is wrong with them",
            done.left.len()
        ));
    }
    Ok(())
}

// `keys`: new keys for memories, and the identities that open one memory with stock age.

#[derive(Subcommand)]
pub(crate) enum KeyVerb {
    /// Print the identities of one memory, which decrypt all its versions with stock age; recorded
    Export {
        /// The memory's path or id. The id also finds a deleted memory
        #[arg(value_name = "PATH|ID", value_parser = path_or_id)]
        memory: String,
    },
    /// Replace the keys of memories, for example if somebody may know them
    Replace(ReplaceKeys),
    /// Move the keyring of this machine to another folder, outside the store or back into it
    Move {
        /// The folder, new or empty, or one that already has the keyring
        folder: PathBuf,
    },
    /// Back up the keyring to a new file, for `agekeep clone --keys` and `agekeep pull --keys`
    Backup {
        /// The new file, encrypted to all readers
        file: PathBuf,
        /// Only the keys of audit records, encrypted to all auditors
        #[arg(long)]
        for_auditors: bool,
    },
}

pub(crate) fn keys(global: &Global, verb: &KeyVerb) -> Result<u8> {
    match verb {
        KeyVerb::Export { memory } => export_keys(global, memory),
        KeyVerb::Replace(args) => replace_keys(global, args),
        KeyVerb::Move { folder } => move_keys(global, folder),
        KeyVerb::Backup { file, for_auditors } => back_up_keys(global, file, *for_auditors),
    }
}

fn move_keys(global: &Global, folder: &Path) -> Result<u8> {
    let folder = PathBuf::from(crate::verbs::init::absolute(folder)?);
    global.open_for_reading()?.move_keyring(&folder)?;
    let object = json!({
        "schema": "agekeep.keys_move/1",
        "folder": folder,
    });
    let said = format!("The keyring of this machine is in {}.", folder.display());
    output::answer(global, &object, &said)?;
    Ok(0)
}

fn back_up_keys(global: &Global, file: &Path, for_auditors: bool) -> Result<u8> {
    let store = global.existing_store()?;
    let target = ExportTarget::check(file, false, true, &store)?;
    let (audience, whose) = if for_auditors {
        (
            Audience::Auditors,
            "auditors, who can read no text with them",
        )
    } else {
        (Audience::Readers, "readers")
    };
    let (bytes, moment) = global.open_for_reading()?.backup_keys(audience)?;
    target.write_bytes(&bytes)?;
    let object = json!({
        "schema": "agekeep.keys_backup/1",
        "file": file,
        "bytes": bytes.len(),
        "event": moment.event,
        "commit": moment.commit,
    });
    let said = format!(
        "The keys up to event {} are in {}, encrypted to the {whose}. An erasure does not reach this \
         file: with it, what you erase from now on can still be decrypted. Keep it apart from copies \
         of the history, and for less than your grace period.",
        moment.event,
        file.display(),
    );
    output::answer(global, &object, &said)?;
    Ok(0)
}

fn export_keys(global: &Global, memory: &str) -> Result<u8> {
    output::close_to_others()?;
    let mut store = global.open()?;
    let exported = store.export_keys(memory, &global.context())?;
    let path = exported.path.as_ref().map(MemoryPath::as_str);
    if global.json {
        output::json(&json!({
            "schema": "agekeep.keys_export/1",
            "memory": exported.id,
            "path": path,
            "identities": exported.identities.lines().collect::<Vec<_>>(),
            "event": exported.event,
        }))?;
    } else {
        // A path has no line end in it.
        let path = path.map_or_else(String::new, |path| format!(" {path}"));
        output::text(&format!(
            "# the memory {}{path}; the newest identity first\n{}",
            exported.id,
            exported.identities.as_str()
        ))?;
    }
    Ok(0)
}
