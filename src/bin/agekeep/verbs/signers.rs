//! `signers`: who may write to the store, what, and from when until when.

use std::io::Read;
use std::path::Path;

use agekeep::error::{Error, Result};
use agekeep::store::revision::parse_time;
use agekeep::store::{Removed, Signer, SignerRole, Validity, VerifyingKey};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::args::{Global, one_of};
use crate::output::{Style, plain};
use crate::render::seconds;
use crate::table::{self, Column, ListRow, Screen, extra, main, whole};
use crate::{input, output};

/// Most bytes that are read for a public key.
const KEY_BYTES_MAX: u64 = 16 * 1024;

#[derive(Subcommand)]
pub(crate) enum SignersVerb {
    /// Allow a key to write, from the next event on
    Add(AddSignerArgs),
    /// Change a signer's role, from the next event on
    Role {
        /// The signer's name, as `signers list` shows it
        #[arg(allow_hyphen_values = true)]
        name: String,
        #[arg(value_parser = one_of::<SignerRole>(&ROLES))]
        role: SignerRole,
    },
    /// Remove a signer. What they wrote stays valid
    Rm {
        /// The signer's name, as `signers list` shows it
        #[arg(allow_hyphen_values = true)]
        name: String,
    },
    /// List the signers: role, key and validity period
    List,
}

#[derive(Args)]
pub(crate) struct AddSignerArgs {
    /// A name of letters, digits, `.`, `_`, `-` and `@`. Every commit shows it
    // A key that is given here by mistake is to be refused, not printed by the parser.
    #[arg(allow_hyphen_values = true)]
    name: String,
    /// Their public key: an OpenSSH line, the path of a `.pub` file, or `-` for standard input
    #[arg(allow_hyphen_values = true)]
    key: String,
    /// What they may write
    #[arg(long, value_parser = one_of::<SignerRole>(&ROLES), default_value = "writer")]
    role: SignerRole,
    /// The key is valid from this time: RFC 3339 or a date, in UTC
    #[arg(long, value_name = "TIME")]
    valid_after: Option<String>,
    /// The key is valid until this time
    #[arg(long, value_name = "TIME")]
    valid_before: Option<String>,
}

/// The roles of signers: what each may write.
const ROLES: [(&str, &str); 4] = [
    ("owner", "Everything"),
    ("writer", "The agent's commands, undo, exports, and looks"),
    ("sweeper", "Sweeps, erasures, new holds, and looks"),
    ("auditor", "Looks only"),
];

pub(crate) fn run(global: &Global, verb: &SignersVerb) -> Result<u8> {
    match verb {
        SignersVerb::Add(add) => run_add(global, add)?,
        SignersVerb::Role { name, role } => run_role(global, name, *role)?,
        SignersVerb::Rm { name } => {
            let removed = global.open()?.remove_signer(name, &global.context())?;
            show_removed(global, &removed)?;
        }
        SignersVerb::List => {
            let signers = global.open_for_reading()?.signer_list();
            show_list(global, &signers)?;
        }
    }
    Ok(0)
}

fn run_add(global: &Global, add: &AddSignerArgs) -> Result<()> {
    let now = (global.clock())();
    let time = |text: &Option<String>| text.as_deref().map(|t| parse_time(t, now)).transpose();
    let validity = Validity::new(time(&add.valid_after)?, time(&add.valid_before)?);
    let validity = validity.map_err(|why| Error::invalid("the time of the key", why))?;
    let (key, file) = read_key(&add.key)?;
    let mut store = global.open()?;
    let (signer, meta) =
        store.add_signer(&add.name, &key, add.role, validity, &global.context())?;
    if let Some(file) = file.filter(|_| !global.json) {
        output::note(&format!("The key was read from {file}."));
    }
    let object = json!({
        "schema": "agekeep.signers_add/1",
        "signer": to_json(&signer, now),
        "read_from": file,
        "meta": meta,
    });
    let said = format!(
        "{} may write as {} with the key {}, {} (event {}).",
        signer.name,
        signer.role,
        signer.fingerprint,
        window(&signer),
        meta.event
    );
    output::answer(global, &object, &said)
}

fn run_role(global: &Global, name: &str, role: SignerRole) -> Result<()> {
    let (signer, meta) = global
        .open()?
        .set_signer_role(name, role, &global.context())?;
    let signer = to_json(&signer, meta.time);
    let object = json!({"schema": "agekeep.signers_role/1", "signer": signer, "meta": meta});
    let said = format!(
        "{name} may write as {role} (event {event}): from the next event on, for every process.",
        event = meta.event
    );
    output::answer(global, &object, &said)
}

/// Reads a public key, and returns the file it came from, if any.
fn read_key(given: &str) -> Result<(VerifyingKey, Option<&str>)> {
    let bad = |why| Error::invalid("the signer's key", why);
    let parse = |text: &str| VerifyingKey::parse(text).map_err(bad);
    if agekeep::crypto::keyfile::is_secret(given) || agekeep::crypto::keyfile::is_public(given) {
        return Ok((parse(given)?, None));
    }
    let mut text = Zeroizing::new(String::new());
    let reader = input::reader(Path::new(given))?;
    let read = reader.take(KEY_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(Error::io("read", given.as_ref()))?;
    if text.len() as u64 > KEY_BYTES_MAX {
        return Err(bad("the file is too long for a public key".into()));
    }
    Ok((parse(&text)?, (given != "-").then_some(given)))
}

fn show_removed(global: &Global, removed: &Removed) -> Result<()> {
    let (signer, meta) = (&removed.signer, &removed.meta);
    let (name, key) = (&signer.name, &signer.fingerprint);
    let mut text = format!(
        "{name} may not write any more (event {event}).\n\
         Earlier commits by {name} stay valid.\n\
         With the key {key}, {name} can still write to a copy of the store, but agekeep refuses every\n\
         commit signed with it after this event, and `agekeep verify` reports it.\n\
         This does not change what {name} can read: see `agekeep members list`.",
        event = meta.event,
    );
    if removed.oneself {
        text += "\nThis was your own signing key: you cannot write with it any more.";
    }
    let object = json!({
        "schema": "agekeep.signers_rm/1",
        "signer": to_json(signer, meta.time),
        "oneself": removed.oneself,
        "meta": meta,
    });
    output::answer(global, &object, &text)
}

fn show_list(global: &Global, signers: &[Signer]) -> Result<()> {
    let now = (global.clock())();
    if global.json {
        let all: Vec<_> = signers.iter().map(|signer| to_json(signer, now)).collect();
        return output::json(&json!({"schema": "agekeep.signers/1", "signers": all})).map(drop);
    }
    let line = |signer: &&Signer| {
        let (name, role, key) = (&signer.name, signer.role.as_str(), &signer.fingerprint);
        let window = window(signer);
        let mark = match state(signer, now) {
            "valid" => "",
            state => state,
        };
        plain(format!("{role:<8} {name:<20} {key} {window} {mark}").trim_end())
    };
    let row = |signer: &&Signer, _: &Screen| {
        let state = state(signer, now);
        let cells = [
            signer.role.to_string(),
            signer.name.clone(),
            state.to_owned(),
            signer.fingerprint.clone(),
            window(signer),
        ];
        let style = match state {
            "valid" => Style::Plain,
            _ => Style::Failed,
        };
        ListRow::new(style, cells.into())
    };
    let signers = signers.iter().map(Ok);
    table::print(global, SIGNERS, signers, line, row).map(drop)
}

const SIGNERS: &[Column] = &[
    whole("role"),
    whole("name"),
    whole("state"),
    main("key"),
    extra("valid"),
];

fn to_json(signer: &Signer, now: DateTime<Utc>) -> Value {
    json!({
        "name": signer.name,
        "role": signer.role.as_str(),
        "fingerprint": signer.fingerprint,
        "key": signer.key,
        "valid_after": signer.validity.after().map(seconds),
        "valid_before": signer.validity.before().map(seconds),
        "state": state(signer, now),
    })
}

/// Returns the state of a signer at a time.
fn state(signer: &Signer, now: DateTime<Utc>) -> &'static str {
    let validity = signer.validity;
    match (validity.after(), validity.before()) {
        (Some(after), _) if now < after => "not yet",
        (_, Some(before)) if now.timestamp() > before.timestamp() => "expired",
        _ => "valid",
    }
}

fn window(signer: &Signer) -> String {
    let validity = signer.validity;
    match (validity.after(), validity.before()) {
        (None, None) => "at any time".into(),
        (Some(after), None) => format!("from {}", seconds(after)),
        (None, Some(before)) => format!("until {}", seconds(before)),
        (Some(after), Some(before)) => format!("from {} until {}", seconds(after), seconds(before)),
    }
}
