//! `policy`: the policy in force, and another one in its place.

use std::fs;
use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::policy::Policy;
use agekeep::redact;
use clap::{Args, Subcommand};
use serde_json::json;

use super::{Global, output};

/// Arguments of `policy`.
#[derive(Args)]
pub(super) struct PolicyArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Print the policy in force, in the form that `policy set` reads
    Show,
    /// Put a policy in place, as a signed event; nothing of the one before stays
    Set(PolicyFiles),
}

/// The files a policy is read from.
#[derive(Args, Default)]
pub(super) struct PolicyFiles {
    /// A TOML file with the tables [limits], [tool] and [redaction]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// A gitleaks.toml, whose rules are followed besides
    #[arg(long, value_name = "FILE")]
    gitleaks: Option<PathBuf>,
}

impl PolicyFiles {
    /// Reads the policy, and tries every rule in it.
    pub(super) fn read(&self) -> Result<Policy> {
        let mut policy = match &self.policy {
            Some(file) => Policy::parse(&read(file)?)?,
            None => Policy::default(),
        };
        if let Some(file) = &self.gitleaks {
            policy.redaction.gitleaks = Some(read(file)?);
        }
        redact::check_policy(&policy.redaction)?;
        Ok(policy)
    }
}

pub(super) fn run(global: &Global, args: &PolicyArgs) -> Result<u8> {
    match &args.verb {
        Verb::Show => output::text(&global.open_unrecorded()?.policy().to_toml())?,
        Verb::Set(files) => {
            let policy = files.read()?;
            let meta = global.open()?.set_policy(&policy, &global.context())?;
            if global.json {
                output::json(&json!({"schema": "agekeep.policy_set/1", "meta": meta}))?;
            } else {
                output::line(&format!("The policy is in place (event {}).", meta.event))?;
            }
        }
    }
    Ok(0)
}

/// Reads a text file.
pub(super) fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).map_err(|source| Error::Io {
        doing: "read",
        path: file.into(),
        source,
    })
}
