//! Where things are on this machine: the only file that reads the environment.

use std::env;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use agekeep::crypto::keyfile::{self, Unlock};
use agekeep::error::{Error, Result};
use agekeep::store::{Identity, Keys, SigningKey};

use crate::args::Global;
use crate::output;
use crate::passphrase::Sources;

/// The store's folder.
pub(super) fn store(global: &Global) -> Result<PathBuf> {
    match &global.store {
        Some(path) => named("--store", path),
        None => Ok(base("XDG_DATA_HOME", ".local/share")?.join("agekeep/store")),
    }
}

/// The age identity file.
pub(super) fn identity(global: &Global) -> Result<PathBuf> {
    match &global.identity {
        Some(path) => named("--identity", path),
        None => Ok(base("XDG_CONFIG_HOME", ".config")?.join("agekeep/identity.txt")),
    }
}

/// The signing key file.
pub(super) fn signing_key(global: &Global) -> Result<PathBuf> {
    match &global.signing_key {
        Some(path) => named("--signing-key", path),
        None => Ok(base("XDG_CONFIG_HOME", ".config")?.join("agekeep/signing_key")),
    }
}

/// The folder for what is known of stores and kept outside them; `None` where there is no home.
pub(super) fn state() -> Option<PathBuf> {
    state_base().map(|base| base.join("agekeep"))
}

/// The folder that [`state`] is in: what `XDG_STATE_HOME` has to be for another process to use it.
pub(super) fn state_base() -> Option<PathBuf> {
    base("XDG_STATE_HOME", ".local/state").ok()
}

/// The keyring's folder, where the caller says it.
pub(super) fn keyring(global: &Global) -> Result<Option<PathBuf>> {
    let said = global.keyring.as_deref();
    said.map(|path| named("--keyring", path)).transpose()
}

/// The file that `AGEKEEP_PASSPHRASE_FILE` names.
pub(super) fn passphrase_file() -> Option<PathBuf> {
    let file = env::var_os("AGEKEEP_PASSPHRASE_FILE").map(PathBuf::from);
    file.filter(|file| !file.as_os_str().is_empty())
}

/// Whether a command is named that prints the passphrase.
pub(super) fn has_passphrase_command() -> bool {
    passphrase_command().is_some()
}

/// The command that prints the passphrase.
pub(super) fn passphrase_command() -> Option<OsString> {
    env::var_os("AGEKEEP_PASSPHRASE_COMMAND").filter(|command| !command.is_empty())
}

/// The folder that a variable names, where it is an absolute one.
pub(super) fn folder_in(variable: &str) -> Option<PathBuf> {
    let folder = env::var_os(variable).map(PathBuf::from);
    folder.filter(|folder| folder.is_absolute())
}

/// The folder this process works in.
pub(super) fn here() -> PathBuf {
    env::current_dir().unwrap_or_else(|_| ".".into())
}

/// Whether JSON is asked for by a command line of which nothing more is known, as it does not parse.
pub(super) fn typed_json() -> bool {
    let mut options = env::args_os().take_while(|word| word != "--");
    options.any(|word| word == "--json")
}

/// This program, by the path it was called by: a link that an update turns to the next version
/// stays right, and what it points to today does not.
pub(super) fn program() -> Result<PathBuf> {
    let running = env::current_exe().map_err(|source| Error::Io {
        doing: "find",
        path: "agekeep".into(),
        source,
    })?;
    let called = env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let on_path = env::var_os("PATH").unwrap_or_default();
    let candidates: Vec<PathBuf> = if called.components().count() > 1 {
        vec![std::path::absolute(&called).unwrap_or(called)]
    } else {
        let folders = env::split_paths(&on_path).filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(&called)).collect()
    };
    let is_it = |path: &PathBuf| {
        let real = |path: &Path| path.canonicalize().ok();
        real(path).is_some_and(|found| Some(found) == real(&running))
    };
    Ok(candidates.into_iter().find(is_it).unwrap_or(running))
}

/// Both keys, read.
pub(super) fn keys(global: &Global) -> Result<Keys> {
    let unlock = unlock(global);
    Ok(Keys {
        identity: unlocked(global, &unlock)?,
        signing_key: Some(found_signing_key(global, &unlock)?),
        state: state_or_warn(),
        keyring: global.keyring.clone(),
    })
}

/// The identity, and the signing key if it is there.
pub(super) fn keys_to_look(global: &Global) -> Result<Keys> {
    let unlock = unlock(global);
    let signing_key = match found_signing_key(global, &unlock) {
        Err(Error::NoKeyFile { .. }) => None,
        read => Some(read?),
    };
    Ok(Keys {
        identity: unlocked(global, &unlock)?,
        signing_key,
        state: state_or_warn(),
        keyring: global.keyring.clone(),
    })
}

/// The socket of the ssh-agent.
fn agent() -> Option<PathBuf> {
    let socket = env::var_os("SSH_AUTH_SOCK").map(PathBuf::from);
    socket.filter(|socket| !socket.as_os_str().is_empty())
}

/// The signing key: in its file, or in the ssh-agent where there is one, or behind a passphrase.
fn found_signing_key(global: &Global, unlock: &Arc<dyn Unlock>) -> Result<SigningKey> {
    let (path, agent) = (signing_key(global)?, agent());
    keyfile::find_signing_key(&path, agent.as_deref(), unlock)
}

/// What answers when a key wants a passphrase.
fn unlock(global: &Global) -> Arc<dyn Unlock> {
    if env::var_os("AGEKEEP_PASSPHRASE").is_some() {
        output::warn(
            "AGEKEEP_PASSPHRASE is ignored, because other processes can see it; use \
             AGEKEEP_PASSPHRASE_FD, AGEKEEP_PASSPHRASE_FILE or AGEKEEP_PASSPHRASE_COMMAND",
        );
    }
    Arc::new(Sources {
        descriptor: global.passphrase_fd.as_deref().map(descriptor),
        file: passphrase_file(),
        command: passphrase_command().map(|command| command.to_string_lossy().into_owned()),
        unattended: global.unattended,
        read: Mutex::default(),
    })
}

/// The number of a descriptor; what is none is not shown, and is none that can be open.
fn descriptor(text: &str) -> u32 {
    text.parse().unwrap_or(u32::MAX)
}

/// A path that somebody named; a secret in its place is not shown.
fn named(option: &'static str, path: &Path) -> Result<PathBuf> {
    let shown = path.to_string_lossy();
    if keyfile::is_secret(&shown) {
        return Err(Error::Invalid {
            what: option,
            why: "it is a secret itself, not the file that holds it".into(),
        });
    }
    Ok(path.to_owned())
}

/// The identity, for a caller that needs no other key.
pub(super) fn identity_alone(global: &Global) -> Result<Identity> {
    unlocked(global, &unlock(global))
}

/// The identity, unlocked.
fn unlocked(global: &Global, unlock: &Arc<dyn Unlock>) -> Result<Identity> {
    keyfile::unlock_identity(&identity(global)?, unlock)
}

fn state_or_warn() -> Option<PathBuf> {
    let state = state();
    if state.is_none() {
        output::warn(
            "neither XDG_STATE_HOME nor HOME is an absolute path, so there is no place to keep \
             what was seen of the store: an older copy in its place would not be noticed",
        );
    }
    state
}

/// Who acts, as the environment says.
pub(super) fn actor() -> Option<String> {
    env::var("AGEKEEP_ACTOR")
        .ok()
        .filter(|actor| !actor.is_empty())
}

/// The name of the person at this machine, as the environment says.
pub(super) fn user() -> Option<String> {
    ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|u| !u.is_empty()))
}

/// Whether the environment asks for output without colour (no-color.org).
pub(super) fn no_color() -> bool {
    env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || env::var_os("TERM").is_some_and(|value| value == "dumb")
}

/// The program to page long output with, and its arguments.
pub(super) fn pager() -> Vec<String> {
    let chosen = ["AGEKEEP_PAGER", "PAGER"]
        .iter()
        .find_map(|name| env::var(name).ok());
    let words: Vec<String> = chosen
        .unwrap_or_else(|| "less -FRX".into())
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    words
}

/// The command that edits a file, where the environment names one.
pub(super) fn editor() -> Option<String> {
    ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|command| !command.is_empty()))
}

/// The folder for files that are soon gone.
pub(super) fn temporary_folder() -> PathBuf {
    env::temp_dir()
}

/// A base folder of the XDG specification, which ignores relative values.
fn base(variable: &str, below_home: &str) -> Result<PathBuf> {
    folder_in(variable)
        .or_else(|| folder_in("HOME").map(|home| home.join(below_home)))
        .ok_or_else(|| Error::Invalid {
            what: "the home folder",
            why: format!("neither {variable} nor HOME is an absolute path"),
        })
}

/// A path as it is named, from the root on. Links on the way stay: they are somebody's way to say
/// where things are today. A step back is only what it seems where there is no link before it.
pub(super) fn absolute(what: &'static str, path: &Path) -> Result<String> {
    let invalid = |why: &str| Error::Invalid {
        what,
        why: why.into(),
    };
    let mut path = std::path::absolute(path).map_err(|_| invalid("it is not a path"))?;
    if path.components().any(|part| part == Component::ParentDir) {
        let found = path.canonicalize();
        path = found.map_err(|_| invalid("it steps back with `..`, and leads nowhere yet"))?;
    }
    let path: PathBuf = path.components().collect();
    let text = path.to_str().ok_or_else(|| invalid("it is not UTF-8"))?;
    one_line(what, text)
}

/// A text that can stand in one line of every format.
pub(super) fn one_line(what: &'static str, text: &str) -> Result<String> {
    let ends_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if text.contains(ends_line) {
        return Err(Error::Invalid {
            what,
            why: "there is a line break or another control character in it, and no unit, crontab, \
                  manifest or configuration can hold one"
                .into(),
        });
    }
    Ok(text.to_owned())
}
