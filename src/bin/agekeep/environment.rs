//! Paths and settings of this machine: the only file that reads the environment.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use agekeep::crypto::keyfile::{self, Unlock};
use agekeep::error::{Error, Result};
use agekeep::store::{Identity, Keys, SigningKey};

use crate::args::Global;
use crate::output;
use crate::passphrase::Sources;

/// Returns the store's folder.
pub(super) fn store(global: &Global) -> Result<PathBuf> {
    match &global.store {
        Some(path) => named("--store", path),
        None => Ok(base("XDG_DATA_HOME", ".local/share")?.join("agekeep/store")),
    }
}

/// Returns the path of the age identity file.
pub(super) fn identity(global: &Global) -> Result<PathBuf> {
    match &global.identity {
        Some(path) => named("--identity", path),
        None => Ok(base("XDG_CONFIG_HOME", ".config")?.join("agekeep/identity.txt")),
    }
}

/// Returns the path of the signing key file.
pub(super) fn signing_key(global: &Global) -> Result<PathBuf> {
    match &global.signing_key {
        Some(path) => named("--signing-key", path),
        None => Ok(base("XDG_CONFIG_HOME", ".config")?.join("agekeep/signing_key")),
    }
}

/// Returns the path of the file with a person's defaults.
pub(super) fn config_file() -> Result<PathBuf> {
    Ok(base("XDG_CONFIG_HOME", ".config")?.join("agekeep/config.toml"))
}

/// Returns the folder for what agekeep remembers of stores outside them; `None` without a home
/// folder.
pub(crate) fn state() -> Option<PathBuf> {
    state_base().map(|base| base.join("agekeep"))
}

/// Returns the folder that [`state`] is in: the value of `XDG_STATE_HOME` with which another
/// process uses the same one.
pub(super) fn state_base() -> Option<PathBuf> {
    base("XDG_STATE_HOME", ".local/state").ok()
}

/// Returns the keyring's folder, if the caller names one.
pub(super) fn keyring(global: &Global) -> Result<Option<PathBuf>> {
    let said = global.keyring.as_deref();
    said.map(|path| named("--keyring", path)).transpose()
}

/// Returns the file that `AGEKEEP_PASSPHRASE_FILE` names.
pub(super) fn passphrase_file() -> Option<PathBuf> {
    let file = env::var_os("AGEKEEP_PASSPHRASE_FILE").map(PathBuf::from);
    file.filter(|file| !file.as_os_str().is_empty())
}

/// Returns the command that prints the passphrase.
pub(super) fn passphrase_command() -> Option<OsString> {
    env::var_os("AGEKEEP_PASSPHRASE_COMMAND").filter(|command| !command.is_empty())
}

/// Returns the folder that a variable names, if its path is absolute.
pub(super) fn folder_in(variable: &str) -> Option<PathBuf> {
    let folder = env::var_os(variable).map(PathBuf::from);
    folder.filter(|folder| folder.is_absolute())
}

/// Returns the working folder of this process.
pub(super) fn here() -> PathBuf {
    env::current_dir().unwrap_or_else(|_| ".".into())
}

/// Tells whether the command line asks for JSON, for one that does not parse and of which nothing
/// more is known.
pub(super) fn typed_json() -> bool {
    let mut options = env::args_os().take_while(|word| word != "--");
    options.any(|word| word == "--json")
}

/// Tells whether the command line is the program's name alone.
pub(super) fn typed_nothing() -> bool {
    env::args_os().len() <= 1
}

/// Returns the name by which this program was called.
pub(super) fn called() -> String {
    let called = env::args_os().next().unwrap_or_default();
    called.to_string_lossy().into_owned()
}

/// Returns this program's path as it was called: a link that an update turns to the next version
/// stays right, and the file it points to today does not.
pub(super) fn program() -> Result<PathBuf> {
    let running = env::current_exe().map_err(Error::io("find", Path::new("agekeep")))?;
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

/// Reads both keys.
pub(super) fn keys(global: &Global) -> Result<Keys> {
    let unlock = unlock(global);
    Ok(Keys {
        identity: unlocked(global, &unlock)?,
        signing_key: Some(found_signing_key(global, &unlock)?),
        state: state_or_warn(),
        keyring: global.keyring.clone(),
    })
}

/// Reads the identity, and the signing key if there is one.
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

/// Reads the identity to complete a command line. Nobody is asked for a passphrase, and nothing is
/// kept or signed.
pub(super) fn keys_to_complete(global: &Global) -> Result<Keys> {
    Ok(Keys {
        identity: keyfile::read_identity(&identity(global)?)?,
        signing_key: None,
        state: None,
        keyring: global.keyring.clone(),
    })
}

/// Returns the socket of the ssh-agent.
fn agent() -> Option<PathBuf> {
    let socket = env::var_os("SSH_AUTH_SOCK").map(PathBuf::from);
    socket.filter(|socket| !socket.as_os_str().is_empty())
}

/// Finds the signing key: in its file, in the ssh-agent if there is one, or behind a passphrase.
fn found_signing_key(global: &Global, unlock: &Arc<dyn Unlock>) -> Result<SigningKey> {
    let (path, agent) = (signing_key(global)?, agent());
    keyfile::find_signing_key(&path, agent.as_deref(), unlock)
}

/// Returns the sources to ask when a key needs a passphrase.
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

/// Parses the number of a descriptor. Text that is no number is not shown, and becomes a number
/// that no open descriptor has.
fn descriptor(text: &str) -> u32 {
    text.parse().unwrap_or(u32::MAX)
}

/// Checks a path from an option; a secret given in its place is refused and not shown.
fn named(option: &'static str, path: &Path) -> Result<PathBuf> {
    let shown = path.to_string_lossy();
    if keyfile::is_secret(&shown) {
        return Err(Error::invalid(
            option,
            "it is a secret itself, not the name of the file that holds it",
        ));
    }
    Ok(path.to_owned())
}

/// Reads the identity, for a caller that needs no other key.
pub(super) fn identity_alone(global: &Global) -> Result<Identity> {
    unlocked(global, &unlock(global))
}

/// Reads the identity, for a caller that can do without one; `None` if there is no file.
pub(super) fn identity_if_any(global: &Global) -> Result<Option<Identity>> {
    match identity_alone(global) {
        Err(Error::NoKeyFile { .. }) => Ok(None),
        read => read.map(Some),
    }
}

/// Reads the identity and unlocks it.
fn unlocked(global: &Global, unlock: &Arc<dyn Unlock>) -> Result<Identity> {
    keyfile::unlock_identity(&identity(global)?, unlock)
}

fn state_or_warn() -> Option<PathBuf> {
    let state = state();
    if state.is_none() {
        output::warn(
            "neither XDG_STATE_HOME nor HOME is an absolute path, so agekeep cannot remember the \
             newest event of the store, and would not notice an older copy in its place",
        );
    }
    state
}

/// Returns the actor that the environment names.
pub(super) fn actor() -> Option<String> {
    env::var("AGEKEEP_ACTOR")
        .ok()
        .filter(|actor| !actor.is_empty())
}

/// Returns the name of the person at this machine, from the environment.
pub(super) fn user() -> Option<String> {
    ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|u| !u.is_empty()))
}

/// Returns the variable that asks for output without colour (no-color.org), if one does.
pub(super) fn no_color() -> Option<&'static str> {
    let asks = |name, asks: fn(&OsStr) -> bool| env::var_os(name).is_some_and(|value| asks(&value));
    if asks("NO_COLOR", |value| !value.is_empty()) {
        return Some("NO_COLOR");
    }
    asks("TERM", |value| value == "dumb").then_some("TERM")
}

/// Tells whether the terminal can do no more than print, or does not say what it can.
pub(super) fn is_dumb() -> bool {
    env::var_os("TERM").is_none_or(|value| value.is_empty() || value == "dumb")
}

/// Returns the program to page long output with, and its arguments.
pub(super) fn pager() -> Vec<String> {
    let chosen = ["AGEKEEP_PAGER", "PAGER"]
        .iter()
        .find_map(|name| env::var(name).ok());
    let chosen = chosen.unwrap_or_else(|| "less -FRX".into());
    chosen.split_whitespace().map(str::to_owned).collect()
}

/// Returns the command that edits a file, if the environment names one.
pub(super) fn editor() -> Option<String> {
    ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|command| !command.is_empty()))
}

/// Returns the folder for short-lived files.
pub(super) fn temporary_folder() -> PathBuf {
    env::temp_dir()
}

/// Returns a base folder of the XDG specification, which ignores relative values.
fn base(variable: &str, below_home: &str) -> Result<PathBuf> {
    folder_in(variable)
        .or_else(|| folder_in("HOME").map(|home| home.join(below_home)))
        .ok_or_else(|| {
            Error::invalid(
                "the home folder",
                format!("neither {variable} nor HOME is an absolute path"),
            )
        })
}

/// Makes a path absolute. Links on the way stay, because their owner chose them to say where things
/// are today. A path with `..` is resolved, because `..` after a link leads elsewhere than it
/// seems.
pub(super) fn absolute(what: &'static str, path: &Path) -> Result<String> {
    let invalid = |why: &str| Error::invalid(what, why);
    let mut path = std::path::absolute(path).map_err(|_| invalid("it is not a path"))?;
    if path.components().any(|part| part == Component::ParentDir) {
        let found = path.canonicalize();
        path = found.map_err(|_| invalid("it contains `..` and does not exist yet"))?;
    }
    let path: PathBuf = path.components().collect();
    let text = path.to_str().ok_or_else(|| invalid("it is not UTF-8"))?;
    one_line(what, text)
}

/// The absolute paths of a store and of the keys to it, for another process.
pub(crate) struct Places {
    pub(crate) store: String,
    pub(crate) identity: String,
    pub(crate) signing_key: String,
    /// The keyring's folder, if the caller names one.
    pub(crate) keyring: Option<String>,
}

impl Places {
    /// Finds those that the options and the environment name.
    pub(crate) fn find(global: &Global) -> Result<Self> {
        let keyring = keyring(global)?;
        let keyring = keyring.map(|path| absolute("the keyring's path", &path));
        Ok(Self {
            store: absolute("the store's path", &store(global)?)?,
            identity: absolute("the identity's path", &identity(global)?)?,
            signing_key: absolute("the signing key's path", &signing_key(global)?)?,
            keyring: keyring.transpose()?,
        })
    }

    /// Returns the options that name them.
    pub(crate) fn options(&self) -> Vec<String> {
        let mut named = vec![
            ("--store", &self.store),
            ("--identity", &self.identity),
            ("--signing-key", &self.signing_key),
        ];
        named.extend(self.keyring.iter().map(|path| ("--keyring", path)));
        let words = named.into_iter();
        words
            .flat_map(|(name, path)| [name.to_owned(), path.clone()])
            .collect()
    }
}

/// Accepts a text that fits into one line of every format.
pub(super) fn one_line(what: &'static str, text: &str) -> Result<String> {
    let ends_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if text.contains(ends_line) {
        return Err(Error::invalid(
            what,
            "it has a line break or another control character, which no unit, crontab, \
                  manifest or configuration can hold",
        ));
    }
    Ok(text.to_owned())
}
