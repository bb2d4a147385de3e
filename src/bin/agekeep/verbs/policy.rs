//! `policy`: prints, explains and replaces what the owner decided, as a whole or key by key.

mod explain;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::id::MemoryId;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::policy::expiration::TimeSpan;
use agekeep::policy::key::{PolicyKey, toml_text};
use agekeep::policy::{POLICY_BYTES_MAX, Policy};
use agekeep::redact;
use agekeep::store::answer::Meta;
use agekeep::store::revision::parse_time;
use agekeep::store::{PolicyChange, Store};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::args::{Global, memory_path, path_or_id};
use crate::terminal::Terminal;
use crate::{environment, output, platform, render};

#[derive(Subcommand)]
pub(crate) enum PolicyVerb {
    /// Print the policy as TOML, or the value of one key
    Get {
        /// A key such as `expiration.unaccessed_for`, or a table such as `limits`
        key: Option<String>,
    },
    /// Change one key of the policy, or replace the whole policy
    Set(Set),
    /// Edit the policy in your editor: `$VISUAL`, `$EDITOR` or vi
    Edit,
    /// Set the time when one memory expires, whether or not it is read until then
    ExpireAt(ExpireAt),
    /// Explain in plain sentences what expires and when, or which rule decides about one file
    Explain {
        /// A file
        #[arg(value_parser = memory_path)]
        path: Option<String>,
    },
}

#[derive(Args)]
#[group(skip)]
pub(crate) struct Set {
    /// The key, such as `expiration.unaccessed_for`
    #[arg(
        requires = "value",
        required_unless_present_any = ["policy", "gitleaks"],
        conflicts_with_all = ["policy", "gitleaks"]
    )]
    key: Option<String>,
    /// The new value: TOML or plain text
    #[arg(allow_negative_numbers = true)]
    value: Option<String>,
    #[command(flatten)]
    files: PolicyFiles,
}

// The files a policy is read from.
#[derive(Args, Default)]
pub(crate) struct PolicyFiles {
    /// A TOML file with the tables [limits], [tool], [keyring], [redaction] and [expiration]; a
    /// missing key has its default
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// A gitleaks.toml whose rules are applied too
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

pub(crate) fn run(global: &Global, verb: &PolicyVerb) -> Result<u8> {
    match verb {
        PolicyVerb::Get { key } => get(global, key.as_deref())?,
        PolicyVerb::Set(set) => match (&set.key, &set.value) {
            (Some(key), Some(value)) => set_key(global, key, value)?,
            _ => set_all(global, &set.files)?,
        },
        PolicyVerb::Edit => return edit(global),
        PolicyVerb::ExpireAt(args) => expire_at(global, args)?,
        PolicyVerb::Explain { path: None } => explain::run(global)?,
        PolicyVerb::Explain { path: Some(path) } => explain::one(global, path)?,
    }
    Ok(0)
}

fn get(global: &Global, key: Option<&str>) -> Result<()> {
    let key = key.map(PolicyKey::parse).transpose()?;
    let store = global.open_for_reading()?;
    let policy = store.policy();
    if global.json {
        let value = match key {
            Some(key) => policy.value(key),
            None => PolicyKey::tables()
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
            output::note(&format!("The policy does not set {key}."));
            Ok(())
        }
        Some(key) => output::line(&policy.value_text(key)),
    }
}

fn set_all(global: &Global, files: &PolicyFiles) -> Result<()> {
    let policy = files.read()?;
    let meta = global.open()?.set_policy(&policy, &global.context())?;
    say(global, Some(&meta))
}

fn set_key(global: &Global, key: &str, value: &str) -> Result<()> {
    let key = PolicyKey::parse(key)?;
    let mut store = global.open()?;
    let change = store.change_policy(|policy| policy.with(key, value), &global.context());
    let change = change.map_err(|error| at_key(key, error))?;
    let (before, after) = (change.before.value(key), change.after.value(key));
    let object = json!({
        "schema": "agekeep.policy_set/1",
        "key": key.to_string(),
        "before": before,
        "after": after,
        "meta": change.meta,
    });
    let after = said(&after);
    let said = match change.meta {
        Some(meta) => format!(
            "{key} was {} and is {after} (event {}).",
            said(&before),
            meta.event
        ),
        None => format!("{key} is {after} already; nothing was recorded."),
    };
    output::answer(global, &object, &said)
}

/// Writes a value for use within a sentence.
fn said(value: &Value) -> String {
    match value {
        Value::Null => "not set".into(),
        value => toml_text(value),
    }
}

/// Names the key whose new value made the policy one that cannot be followed, and no line, because
/// the value stands on none.
fn at_key(key: PolicyKey, error: Error) -> Error {
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
    let read_error = |source| Error::io("read", file)(source);
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

// `policy expire-at`: a rule for one memory, before all others.

#[derive(Args)]
pub(crate) struct ExpireAt {
    /// The memory, by its path or its memory id
    #[arg(value_name = "PATH|ID", value_parser = path_or_id)]
    memory: String,
    /// The time: RFC 3339 or a date (in UTC by default); `never` removes it
    time: String,
}

fn expire_at(global: &Global, args: &ExpireAt) -> Result<()> {
    let at = time(&args.time, (global.clock())())?;
    let mut store = global.open()?;
    let (id, path) = find(&mut store, &args.memory, at.is_some())?;
    let change = |policy: &Policy| {
        let mut policy = policy.clone();
        policy.expiration.expire_at(id, at);
        Ok(policy)
    };
    let change = store.change_policy(change, &global.context())?;
    let kept = path
        .as_ref()
        .and_then(|path| change.after.expiration.keeps(path));
    if let (Some(_), Some(glob)) = (at, kept) {
        output::warn(&format!(
            "the glob {glob} in expiration.keep matches it, so it never expires"
        ));
    }
    let object = json!({
        "schema": "agekeep.policy_expire_at/1",
        "memory": id.to_string(),
        "path": path.as_ref().map(MemoryPath::as_str),
        "expires_at": at.map(render::rfc3339),
        "meta": change.meta,
    });
    output::answer(global, &object, &sentence(&args.memory, at, &change))
}

/// Parses a time that is still to come, or how long it is until then; `None` for `never`.
fn time(text: &str, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
    if text == "never" {
        return Ok(None);
    }
    let later = text.parse::<TimeSpan>().ok().and_then(|span| {
        let span = chrono::TimeDelta::try_seconds(span.seconds())?;
        now.checked_add_signed(span)
    });
    let time = later.map_or_else(|| parse_time(text, now), Ok)?;
    if time > now {
        return Ok(Some(time));
    }
    Err(Error::invalid(
        "the time",
        format!(
            "{text:?} is {}, which is in the past; give a future time, such as {}, or delete the \
             memory now with `agekeep delete`",
            render::seconds(time),
            (now + chrono::TimeDelta::days(30)).date_naive()
        ),
    ))
}

/// Finds the memory that is named. A memory that is gone can still be in the policy, by its id.
fn find(
    store: &mut Store,
    memory: &str,
    must_be_there: bool,
) -> Result<(MemoryId, Option<MemoryPath>)> {
    match MemoryId::from_hex(memory) {
        Some(id) if !must_be_there => Ok((id, None)),
        _ => store.find_memory(memory).map(|(id, path)| (id, Some(path))),
    }
}

fn sentence(memory: &str, at: Option<DateTime<Utc>>, change: &PolicyChange) -> String {
    let says = match at {
        Some(at) => format!("{memory} expires at {}", render::seconds(at)),
        None => format!("{memory} has no expiry time of its own"),
    };
    match &change.meta {
        Some(meta) => format!("{says} (event {}).", meta.event),
        None => format!("{says} already; nothing was recorded."),
    }
}

// `policy edit`: the policy in the user's editor.

/// The text above the policy in the file that is edited.
const HEADING: &str = "\
# The policy in force. When you close the editor, agekeep replaces the policy by this text if anything
# has changed. Comments are not kept. `agekeep policy explain` explains what it means.

";
/// Most names that are tried for the file.
const NAMES_MAX: u32 = 1_000;

fn edit(global: &Global) -> Result<u8> {
    let mut store = global.open()?;
    let before = store.policy().clone();
    let draft = Draft::of(&before)?;
    let after = loop {
        draft.edit()?;
        let error = match draft.read() {
            Ok(policy) => break policy,
            Err(error) => error,
        };
        match wants_again(&error, global)? {
            Some(true) => {}
            Some(false) => {
                draft.keep();
                output::note(
                    "Nothing was changed: the policy in force is as it was. `agekeep policy set \
                     --policy FILE` puts what you wrote in place once it is corrected.",
                );
                return Ok(error.exit_code());
            }
            None => {
                draft.keep();
                return Err(error);
            }
        }
    };
    if after == before {
        return say(global, None).map(|()| 0);
    }
    let unless_changed = |now: &Policy| {
        if *now == before {
            Ok(after)
        } else {
            Err(Error::PolicyChanged)
        }
    };
    let changed = store.change_policy(unless_changed, &global.context());
    let changed = changed.inspect_err(|_| draft.keep())?;
    say(global, changed.meta.as_ref())?;
    Ok(0)
}

fn say(global: &Global, meta: Option<&Meta>) -> Result<()> {
    let object = json!({"schema": "agekeep.policy_set/1", "meta": meta});
    let said = meta.map_or_else(
        || "The policy has not changed; nothing was recorded.".into(),
        |meta| format!("The policy is in place (event {}).", meta.event),
    );
    output::answer(global, &object, &said)
}

/// Prints the error and asks whether to edit again; `None` if there is nobody to ask.
fn wants_again(error: &Error, global: &Global) -> Result<Option<bool>> {
    let Some(terminal) = Terminal::open() else {
        return Ok(None);
    };
    output::error(error, global.json);
    let answer = terminal.ask("Edit it again? [y/N]");
    let answer = answer.map_err(Error::io("ask at", Path::new("the terminal")))?;
    Ok(Some(answer.to_lowercase().starts_with('y')))
}

/// A file for this user alone. It is removed when this is dropped, unless it is kept.
struct Draft {
    path: PathBuf,
    kept: std::cell::Cell<bool>,
}

impl Draft {
    /// Writes a policy to a new file.
    fn of(policy: &Policy) -> Result<Self> {
        let folder = environment::temporary_folder();
        let mut number = 0;
        loop {
            let name = format!("agekeep-policy-{}-{number}.toml", std::process::id());
            let path = folder.join(name);
            let write_error = Error::io("write", &path);
            match platform::make_private_file(&path) {
                Ok(mut file) => {
                    let text = format!("{HEADING}{}", policy.to_full_toml());
                    let written = file.write_all(text.as_bytes());
                    written.map_err(write_error)?;
                    let kept = std::cell::Cell::new(false);
                    return Ok(Self { path, kept });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < NAMES_MAX => {
                    number += 1;
                }
                Err(e) => return Err(write_error(e)),
            }
        }
    }

    /// Opens it in the editor, whose command line is taken as git takes one.
    fn edit(&self) -> Result<()> {
        let editor = match environment::editor() {
            Some(editor) => editor,
            None if Terminal::open().is_some() => "vi".into(),
            None => return Err(fault("there is no terminal; set VISUAL or EDITOR".into())),
        };
        let mut shell = platform::shell(format!("{editor} \"$@\""));
        match shell.arg(&editor).arg(&self.path).status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => {
                self.keep();
                Err(fault(format!(
                    "`{editor}` ended with {status}, so nothing was changed"
                )))
            }
            Err(e) => Err(fault(format!("sh does not start: {e}"))),
        }
    }

    /// Reads it back. An empty file is an error: more likely the editor failed than the user wants
    /// what holds without a policy.
    fn read(&self) -> Result<Policy> {
        let text = crate::verbs::policy::read(&self.path)?;
        if text.trim().is_empty() {
            return Err(Error::invalid(
                "the policy",
                "the edited policy is empty, so nothing was changed",
            ));
        }
        Policy::parse_and_try(&text)
    }

    fn keep(&self) {
        self.kept.set(true);
        if !self.path.exists() {
            return;
        }
        output::note(&format!("Your text is kept in {}.", self.path.display()));
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.kept.get() {
            // Nothing in it is secret, and there is nobody to tell.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn fault(why: String) -> Error {
    Error::invalid("the editor", why)
}
