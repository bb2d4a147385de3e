//! What would keep a sweep from working when nobody is there to see it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use agekeep::crypto::keyfile::{self, Unattended, Unlock};
use agekeep::error::{Error, KeyFault, Result};

use crate::environment;
use crate::verbs::schedule::sweep::Sweep;
use crate::verbs::schedule::{Form, systemd};

/// What a person should know before putting it in place, one sentence each.
pub(super) fn all(sweep: &Sweep, form: &Form) -> Vec<String> {
    let mut found = keys(sweep);
    if let Form::K8s(args) = form {
        found.extend(args.obstacle());
        return found;
    }
    found.extend(missing(sweep));
    found.extend(owners(sweep));
    if let Form::Systemd(args) = form {
        found.extend(systemd::obstacle(sweep, args));
    }
    found
}

/// Keys that want a person, or are of no use to anybody.
fn keys(sweep: &Sweep) -> Vec<String> {
    let nobody: Arc<dyn Unlock> = Arc::new(Unattended);
    let identity = keyfile::unlock_identity(Path::new(&sweep.identity), &nobody).map(drop);
    let mut found: Vec<_> = [identity, signing_key(sweep, &nobody)]
        .into_iter()
        .filter_map(|read| said_of(sweep, &read.err()?))
        .collect();
    if environment::passphrase_file().is_some() && sweep.passphrase_file.is_none() {
        found.push("AGEKEEP_PASSPHRASE_FILE names no file, and is left out".into());
    }
    if environment::has_passphrase_command() {
        found.push(
            "AGEKEEP_PASSPHRASE_COMMAND is left out: what it needs of your session is not there \
             at night; use AGEKEEP_PASSPHRASE_FILE"
                .into(),
        );
    }
    found
}

/// The signing key has to be in its file: there is no ssh-agent.
fn signing_key(sweep: &Sweep, nobody: &Arc<dyn Unlock>) -> Result<()> {
    let path = Path::new(&sweep.signing_key);
    let key = keyfile::find_signing_key(path, None, nobody)?;
    if keyfile::is_public(&key.to_file()) {
        return Err(Error::BadKeyFile {
            what: "signing key",
            path: path.into(),
            why: "it is a public key, and no ssh-agent is there to sign".into(),
        });
    }
    Ok(())
}

fn said_of(sweep: &Sweep, error: &Error) -> Option<String> {
    match error {
        Error::Key(KeyFault::NoPassphrase { .. }) if sweep.passphrase_file.is_some() => None,
        Error::Key(KeyFault::NoPassphrase { wanted, .. }) => Some(format!(
            "{wanted} is behind a passphrase, and nobody is there to give it: set \
             AGEKEEP_PASSPHRASE_FILE to a file that holds it and print this again, or use a key \
             without one"
        )),
        error => Some(format!("as it is now the sweep would fail: {error}")),
    }
}

/// What is not where it should be.
fn missing(sweep: &Sweep) -> Vec<String> {
    let store = Path::new(&sweep.store);
    let mut found = Vec::new();
    match fs::metadata(store.join("HEAD")) {
        Ok(_) if sweep.keyring.is_none() && !store.join("keyring").is_dir() => found.push(
            "the keyring is not in the store: name its folder with --keyring, so that the sweep \
             can use it"
                .into(),
        ),
        Ok(_) => {}
        Err(_) => found.push(format!("there is no store at {} yet", sweep.store)),
    }
    if !Path::new(&sweep.program).is_file() {
        found.push(format!("the program is not at {} any more", sweep.program));
    }
    match sweep.state() {
        Some(state) if !Path::new(&state).is_dir() => found.push(format!(
            "there is no {state} yet, in which to keep what was seen of the store; \
             `agekeep status` makes it"
        )),
        Some(_) => {}
        None => found.push(
            "neither XDG_STATE_HOME nor HOME is an absolute path, so the sweep has no place to \
             keep what was seen of the store"
                .into(),
        ),
    }
    found
}

/// Files of another account than the store's, which the sweep runs under.
fn owners(sweep: &Sweep) -> Vec<String> {
    let owner = |path: &str| fs::metadata(path).ok().map(|meta| meta.uid());
    let Some(account) = owner(&sweep.store) else {
        return Vec::new();
    };
    let mut paths = vec![sweep.identity.clone(), sweep.signing_key.clone()];
    paths.extend(sweep.passphrase_file.clone());
    paths.extend(sweep.keyring.clone());
    paths.extend(sweep.state());
    let strange = |path: &String| owner(path).is_some_and(|uid| uid != account);
    paths.retain(strange);
    paths
        .iter()
        .map(|path| {
            format!(
                "{path} belongs to another account than the store, under whose account the sweep \
                 runs: it may not be able to use it"
            )
        })
        .collect()
}
