//! `init`: makes a store, and the keys to it where there are none.

use std::path::PathBuf;

use agekeep::error::Result;
use agekeep::keyfile;
use agekeep::policy::Policy;
use agekeep::store::Store;
use clap::Args;
use serde_json::json;

use super::policy::PolicyFiles;
use super::{Global, output, place};

/// Arguments of `init`.
#[derive(Args)]
pub(super) struct Init {
    /// The policy the store starts with.
    #[command(flatten)]
    files: PolicyFiles,
}

pub(super) fn run(global: &Global, args: &Init) -> Result<u8> {
    let policy = args.files.read()?;
    let made = make(global, &policy)?;
    if global.json {
        output::json(&made.to_json())?;
    } else {
        output::line(&made.to_text())?;
    }
    Ok(0)
}

/// What `init` made.
pub(super) struct Made {
    pub(super) store: Store,
    path: PathBuf,
    recipient: String,
    identity: PathBuf,
    signing_key: PathBuf,
    new_identity: bool,
    new_signing_key: bool,
}

/// Makes keys where there are none, and a store.
pub(super) fn make(global: &Global, policy: &Policy) -> Result<Made> {
    let path = place::store(global)?;
    let (identity, signing_key) = (place::identity(global)?, place::signing_key(global)?);
    // Said before any key is made.
    Store::check_vacant(&path)?;
    let new_identity = keyfile::make_identity(&identity)?;
    let new_signing_key = keyfile::make_signing_key(&signing_key)?;
    let keys = place::keys(global)?;
    Ok(Made {
        recipient: keys.identity.recipient().to_string(),
        store: Store::init(&path, keys, policy, &global.context(), global.clock())?,
        path,
        identity,
        signing_key,
        new_identity,
        new_signing_key,
    })
}

impl Made {
    pub(super) fn to_text(&self) -> String {
        let new = |made| if made { " (new)" } else { "" };
        format!(
            "store        {store}\n\
             recipient    {recipient}\n\
             identity     {identity}{new_identity}\n\
             signing key  {signing_key}{new_signing_key}\n\
             \n\
             Back up, because nothing can bring them back:\n\
             \x20 {identity}  opens the store; without it every memory is lost\n\
             \x20 {signing_key}  signs what is written; without it the store can only be read with git and age\n\
             \x20 {store}/keyring  holds each memory's key; without it every memory is lost\n\
             \x20 {store}  the history itself\n\
             Whoever has a copy of the identity, the keyring and the store can read everything in it.",
            store = self.path.display(),
            recipient = self.recipient,
            identity = self.identity.display(),
            signing_key = self.signing_key.display(),
            new_identity = new(self.new_identity),
            new_signing_key = new(self.new_signing_key),
        )
    }

    fn to_json(&self) -> serde_json::Value {
        json!({
            "schema": "agekeep.init/1",
            "store": self.path,
            "recipient": self.recipient,
            "identity": self.identity,
            "new_identity": self.new_identity,
            "signing_key": self.signing_key,
            "new_signing_key": self.new_signing_key,
        })
    }
}
