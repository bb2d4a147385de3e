//! Where things are on this machine: the only file that reads the environment.

use std::env;
use std::path::PathBuf;

use agekeep::error::{Error, Result};
use agekeep::keyfile;
use agekeep::store::Keys;

use super::{Global, output};

/// The store's folder.
pub(super) fn store(global: &Global) -> Result<PathBuf> {
    match &global.store {
        Some(path) => Ok(path.clone()),
        None => Ok(base("XDG_DATA_HOME", ".local/share")?.join("agekeep/store")),
    }
}

/// The age identity file.
pub(super) fn identity(global: &Global) -> Result<PathBuf> {
    match &global.identity {
        Some(path) => Ok(path.clone()),
        None => Ok(base("XDG_CONFIG_HOME", ".config")?.join("agekeep/identity.txt")),
    }
}

/// The signing key file.
pub(super) fn signing_key(global: &Global) -> Result<PathBuf> {
    match &global.signing_key {
        Some(path) => Ok(path.clone()),
        None => Ok(base("XDG_CONFIG_HOME", ".config")?.join("agekeep/signing_key")),
    }
}

/// The folder for what is known of stores and kept outside them; `None` where there is no home.
pub(super) fn state() -> Option<PathBuf> {
    base("XDG_STATE_HOME", ".local/state")
        .ok()
        .map(|base| base.join("agekeep"))
}

/// Both keys, read.
pub(super) fn keys(global: &Global) -> Result<Keys> {
    let (identity, signing_key) = (identity(global)?, signing_key(global)?);
    warn_if_open(&[&identity, &signing_key]);
    Ok(Keys {
        identity: keyfile::read_identity(&identity)?,
        signing_key: Some(keyfile::find_signing_key(&signing_key, agent().as_deref())?),
        state: state_or_warn(),
        keyring: global.keyring.clone(),
    })
}

/// The identity, and the signing key if it is there.
pub(super) fn keys_to_look(global: &Global) -> Result<Keys> {
    let (identity, signing_key) = (identity(global)?, signing_key(global)?);
    warn_if_open(&[&identity, &signing_key]);
    let signing_key = match keyfile::find_signing_key(&signing_key, agent().as_deref()) {
        Err(Error::NoKeyFile { .. }) => None,
        read => Some(read?),
    };
    Ok(Keys {
        identity: keyfile::read_identity(&identity)?,
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

fn warn_if_open(paths: &[&PathBuf]) {
    for path in paths.iter().filter(|path| keyfile::others_can_read(path)) {
        let path = path.display();
        output::warn(&format!("others can read {path}; run `chmod go= {path}`"));
    }
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

/// A base folder of the XDG specification, which ignores relative values.
fn base(variable: &str, below_home: &str) -> Result<PathBuf> {
    let absolute = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    absolute(variable)
        .or_else(|| absolute("HOME").map(|home| home.join(below_home)))
        .ok_or_else(|| Error::Invalid {
            what: "the home folder",
            why: format!("neither {variable} nor HOME is an absolute path"),
        })
}
