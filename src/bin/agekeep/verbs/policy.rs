//! `policy`: what the owner decided, as a whole or key by key; what it means; and another in its
//! place.

mod edit;
mod expire_at;
mod explain;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::policy::key::{Key, toml_text};
use agekeep::policy::{POLICY_BYTES_MAX, Policy};
use agekeep::redact;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::args::Global;
use crate::output;

#[derive(Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Print the policy in force, in the form that `policy set --policy` reads, or what it says for
    /// one key
    Get {
        /// A key such as `expiration.unaccessed_for`, or a table such as `limits`
        key: Option<String>,
    },
    /// Change one key of the policy, or put another policy in place of all of it
    Set(Set),
    /// Change the policy in your editor: `$VISUAL`, `$EDITOR` or vi
    Edit,
    /// Have one memory expire at a time, whoever reads it until then
    ExpireAt(expire_at::ExpireAt),
    /// Say in plain sentences what expires, when, and what becomes of it; of one file, what decides
    /// about it
    Explain {
        /// A file
        path: Option<String>,
    },
}

#[derive(Args)]
#[group(skip)]
struct Set {
    /// The key, such as `expiration.unaccessed_for`
    #[arg(
        requires = "value",
        required_unless_present_any = ["policy", "gitleaks"],
        conflicts_with_all = ["policy", "gitleaks"]
    )]
    key: Option<String>,
    /// What it says from now on: TOML, or a text as it is
    #[arg(allow_negative_numbers = true)]
    value: Option<String>,
    #[command(flatten)]
    files: PolicyFiles,
}

// The files a policy is read from.
#[derive(Args, Default)]
pub(crate) struct PolicyFiles {
    /// A TOML file with the tables [limits], [tool], [keyring], [redaction] and [expiration]; what
    /// it does not say is as it is without a policy
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// A gitleaks.toml, whose rules are followed besides
    #[arg(long, value_name = "FILE")]
    gitleaks: Option<PathBuf>,
}

impl PolicyFiles {
    /// Reads the policy, and tries every rule in it.
    pub(crate) fn read(&self) -> Result<Policy> {
        let mut policy = match &self.policy {
            Some(file) => Policy::parse_and_try(&read(file)?)?,
            None => Policy::default(),
        };
        if let Some(file) = &self.gitleaks {
            policy.redaction.gitleaks = Some(read(file)?);
            redact::check_policy(&policy.redaction)?;
        }
        Ok(policy)
    }
}

pub(crate) fn run(global: &Global, args: &PolicyArgs) -> Result<u8> {
    match &args.verb {
        Verb::Get { key } => get(global, key.as_deref())?,
        Verb::Set(set) => match (&set.key, &set.value) {
            (Some(key), Some(value)) => set_key(global, key, value)?,
            _ => set_all(global, &set.files)?,
        },
        Verb::Edit => return edit::run(global),
        Verb::ExpireAt(args) => expire_at::run(global, args)?,
        Verb::Explain { path: None } => explain::run(global)?,
        Verb::Explain { path: Some(path) } => explain::one(global, path)?,
    }
    Ok(0)
}

fn get(global: &Global, key: Option<&str>) -> Result<()> {
    let key = key.map(Key::parse).transpose()?;
    let store = global.open_to_look()?;
    let policy = store.policy();
    if global.json {
        let value = match key {
            Some(key) => policy.value(key),
            None => Key::tables()
                .map(|key| (key.to_string(), policy.value(key)))
                .collect(),
        };
        let key = key.map(|key| key.to_string());
        let body = json!({"schema": "agekeep.policy/1", "key": key, "value": value});
        return output::json(&body).map(drop);
    }
    match key {
        None => output::text(&policy.to_full_toml()),
        Some(key) if policy.value(key).is_null() => {
            output::note(&format!("The policy does not say {key}."));
            Ok(())
        }
        Some(key) => output::line(&policy.value_text(key)),
    }
}

fn set_all(global: &Global, files: &PolicyFiles) -> Result<()> {
    let policy = files.read()?;
    let meta = global.open()?.set_policy(&policy, &global.context())?;
    if global.json {
        let body = json!({"schema": "agekeep.policy_set/1", "meta": meta});
        return output::json(&body).map(drop);
    }
    output::line(&format!("The policy is in place (event {}).", meta.event))
}

fn set_key(global: &Global, key: &str, value: &str) -> Result<()> {
    let key = Key::parse(key)?;
    let mut store = global.open()?;
    let change = store.change_policy(|policy| policy.with(key, value), &global.context());
    let change = change.map_err(|error| at_key(key, error))?;
    let (before, after) = (change.before.value(key), change.after.value(key));
    if global.json {
        let body = json!({
            "schema": "agekeep.policy_set/1",
            "key": key.to_string(),
            "before": before,
            "after": after,
            "meta": change.meta,
        });
        return output::json(&body).map(drop);
    }
    let after = said(&after);
    output::line(&match change.meta {
        Some(meta) => format!(
            "{key} was {} and is {after} (event {}).",
            said(&before),
            meta.event
        ),
        None => format!("{key} is {after} already; nothing was recorded."),
    })
}

/// A value within a sentence.
fn said(value: &Value) -> String {
    match value {
        Value::Null => "not set".into(),
        value => toml_text(value),
    }
}

/// Names the key whose new value made the policy one that cannot be followed: nothing of it stands
/// on a line.
fn at_key(key: Key, error: Error) -> Error {
    match error {
        Error::Policy { why, .. } if !why.starts_with(&format!("`{key}`")) => Error::Policy {
            line: None,
            why: format!("`{key}`: {why}"),
        },
        other => other,
    }
}

/// Reads the text of a policy or a gitleaks.toml.
pub(crate) fn read(file: &Path) -> Result<String> {
    let read_error = |source| Error::Io {
        doing: "read",
        path: file.into(),
        source,
    };
    let mut bytes = Vec::new();
    let max = POLICY_BYTES_MAX as u64;
    let opened = File::open(file).map_err(read_error)?;
    opened
        .take(max + 1)
        .read_to_end(&mut bytes)
        .map_err(read_error)?;
    let name = file.display();
    if bytes.len() > POLICY_BYTES_MAX {
        let why = format!("{name} has more than {max} bytes");
        return Err(Error::Policy { line: None, why });
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        Error::Policy {
            line: Some(before.split(|byte| *byte == b'\n').count()),
            why: format!("{name} is not UTF-8"),
        }
    })
}
