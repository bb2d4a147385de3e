//! `redact`: redacts what is kept already, and destroys the versions before.

use agekeep::error::{Error, Result};
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::retention::{ReachedVersion, RedactedMemory, RedactionPlan, check_reason};
use clap::Args;
use serde_json::{Value, json};

use crate::args::Global;
use crate::output;
use crate::render;
use crate::verbs::erase::confirm;
use crate::verbs::history::revision_and_path;
use crate::verbs::renamed::{self, RenamedRedact};
use crate::verbs::replicas::take_from_others;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "VERB")]
pub(crate) struct Redact {
    #[command(subcommand)]
    verb: Option<RenamedRedact>,
    /// Redact the present text of the file that was at PATH at REV, and erase its older versions
    #[arg(value_name = "REV:PATH", required_unless_present = "help")]
    what: Option<String>,
    /// Print which versions would be destroyed, without changing anything
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do not ask for confirmation; required if there is no terminal
    #[arg(short = 'y', long)]
    yes: bool,
}

pub(crate) fn run(global: &Global, args: &Redact) -> Result<u8> {
    match &args.verb {
        Some(verb) => renamed::run_redact(global, verb),
        None => redact_kept(global, args),
    }
}

/// Redacts a memory that is kept already.
fn redact_kept(global: &Global, args: &Redact) -> Result<u8> {
    let what = args.what.as_deref().unwrap_or_default();
    let Some((rev, path)) = revision_and_path(global, what) else {
        return Err(Error::invalid(
            "what to redact",
            "it is not REV:PATH, such as HEAD:/memories/notes.md",
        ));
    };
    let context = global.context();
    if !args.dry_run {
        check_reason(&context)?;
        take_from_others(global)?;
    }
    let mut store = global.open_unless(args.dry_run)?;
    let (rev, path) = (rev?, store.parse_path(&path)?);
    if args.dry_run {
        let plan = store.plan_redaction(&path, &rev)?;
        let said = plan_lines(&plan).join("\n") + "\nNothing was changed.";
        output::answer(global, &plan_to_json(&plan), &said)?;
        return Ok(0);
    }
    if !args.yes {
        let plan = store.plan_redaction(&path, &rev)?;
        let now = plan.target.path.as_ref().map_or("", MemoryPath::as_str);
        confirm(&plan_lines(&plan), "Destroy these versions of ", now)?;
    }
    let done = output::with_bar("records tried", |progress| {
        store.redact(&path, &rev, &context, progress)
    })?;
    output::answer(global, &kept_to_json(&done), &kept_to_text(&done))?;
    Ok(0)
}

/// Renders the plan of a redaction as an object.
pub(crate) fn plan_to_json(plan: &RedactionPlan) -> Value {
    let version = |version: &ReachedVersion| {
        json!({
            "version": version.version,
            "event": version.event,
            "bytes": version.bytes,
            "kinds": version.kinds,
        })
    };
    json!({
        "schema": "agekeep.redact/1",
        "dry_run": true,
        "memory": plan.target.id,
        "path": plan.target.path.as_ref().map(MemoryPath::as_str),
        "stripped": plan.stripped,
        "versions_erased": plan.target.versions,
        "versions": plan.versions.iter().map(version).collect::<Vec<_>>(),
        "meta": null,
        "receipt": null,
    })
}

/// Renders the plan of a redaction as lines: the memory, and each version that it would destroy.
pub(crate) fn plan_lines(plan: &RedactionPlan) -> Vec<String> {
    let path = plan.target.path.as_ref();
    let path = path.map_or_else(String::new, |path| render::quoted(path.as_str()));
    let after = match &plan.stripped[..] {
        [] => "its present text has no secret and stays".to_owned(),
        kinds => format!("its present text stays without {}", kinds.join(", ")),
    };
    let mut lines = vec![format!("{path}  {}: {after}", plan.target.id)];
    lines.extend(plan.versions.iter().map(|version| {
        let holds = match version.kinds.as_deref() {
            None => "cannot be read".into(),
            Some([]) => "holds no secret".into(),
            Some(kinds) => format!("holds {}", kinds.join(", ")),
        };
        format!(
            "  destroy v{}  event {}  {} bytes  {holds}",
            version.version, version.event, version.bytes
        )
    }));
    lines
}

/// Renders the redaction of a memory as an object.
pub(crate) fn kept_to_json(done: &RedactedMemory) -> Value {
    json!({
        "schema": "agekeep.redact/1",
        "dry_run": false,
        "memory": done.target.id,
        "path": done.target.path.as_ref().map(MemoryPath::as_str),
        "stripped": done.stripped,
        "versions_erased": done.target.versions,
        "meta": done.meta,
        "receipt": done.receipt,
    })
}

/// Renders the redaction of a memory in words.
pub(crate) fn kept_to_text(done: &RedactedMemory) -> String {
    let stripped = match &done.stripped[..] {
        [] => "the present text has no secret".to_owned(),
        kinds => format!("stripped: {}", kinds.join(", ")),
    };
    format!(
        "Redacted (event {event}): {stripped}; {} erased. To see what this does not reach, run \
         `agekeep receipt show {event}`.",
        output::counted(done.target.versions as u64, "older version"),
        event = done.meta.event
    )
}
