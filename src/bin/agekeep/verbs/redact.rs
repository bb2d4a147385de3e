//! `redact`: lists what redaction looks for, tries it on texts, and redacts what is kept.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::memory_tool::path::MemoryPath;
use agekeep::policy::Limits;
use agekeep::redact::{self, Finding, Redactor, Rule, Verdict, Withheld};
use agekeep::store::retention::{ReachedVersion, RedactedMemory, RedactionPlan, check_reason};
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::args::Global;
use crate::input::{Line, next_line, reader};
use crate::output::{self, Bar};
use crate::render;
use crate::terminal;
use crate::verbs::erase::confirm;
use crate::verbs::history::revision_and_path;
use crate::verbs::policy::{self, PolicyFiles};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "VERB")]
pub(crate) struct Redact {
    #[command(subcommand)]
    verb: Option<RedactVerb>,
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

#[derive(Subcommand)]
enum RedactVerb {
    /// List the rules; with --json also their shapes
    Rules,
    /// Redact standard input without storing it. Standard output gets the text, standard error the
    /// findings
    Test(Test),
    /// Show which rules of a gitleaks.toml agekeep can use, and why not the others
    Check {
        /// The gitleaks.toml
        file: PathBuf,
    },
    /// Print the fingerprint of the value on standard input, for `allow` in the policy
    Fingerprint,
}

#[derive(Args)]
struct Test {
    /// Read one `{"id","text"}` object a line, and answer each with a line
    /// `{"id","text","findings":[{"kind","line"}]}`
    #[arg(long)]
    jsonl: bool,
    #[command(flatten)]
    files: PolicyFiles,
}

/// A text of a corpus.
#[derive(Deserialize)]
struct Sample {
    id: Value,
    text: Zeroizing<String>,
}

pub(crate) fn run(global: &Global, args: &Redact) -> Result<u8> {
    let Some(verb) = &args.verb else {
        return redact_kept(global, args);
    };
    match verb {
        RedactVerb::Rules => rules(global.json),
        RedactVerb::Test(args) => {
            let redactor = Redactor::of_policy(&args.files.read()?.redaction)?;
            if args.jsonl {
                return test_lines(&redactor);
            }
            test(&redactor, global.json)
        }
        RedactVerb::Check { file } => check(file, global.json),
        RedactVerb::Fingerprint => fingerprint(global),
    }
}

/// Redacts a memory that is kept already.
fn redact_kept(global: &Global, args: &Redact) -> Result<u8> {
    let what = args.what.as_deref().unwrap_or_default();
    let Some((rev, path)) = revision_and_path(global, what) else {
        return Err(Error::Invalid {
            what: "what to redact",
            why: "it is not REV:PATH, such as HEAD:/memories/notes.md".into(),
        });
    };
    let context = global.context();
    let mut store = if args.dry_run {
        global.open_for_reading()?
    } else {
        check_reason(&context)?;
        global.open()?
    };
    let (rev, path) = (rev?, store.parse_path(&path)?);
    if args.dry_run {
        let plan = store.plan_redaction(&path, &rev)?;
        if global.json {
            output::json(&plan_to_json(&plan))?;
        } else {
            output::line(&(plan_lines(&plan).join("\n") + "\nNothing was changed."))?;
        }
        return Ok(0);
    }
    if !args.yes {
        let plan = store.plan_redaction(&path, &rev)?;
        let now = plan.target.path.as_ref().map_or("", MemoryPath::as_str);
        confirm(&plan_lines(&plan), "Destroy these versions of ", now)?;
    }
    let mut bar = Bar::start("records tried");
    let mut progress = |done, total| bar.show(done, Some(total));
    let done = store.redact(&path, &rev, &context, &mut progress);
    bar.finish();
    let done = done?;
    if global.json {
        output::json(&kept_to_json(&done))?;
    } else {
        output::line(&kept_to_text(&done))?;
    }
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

fn standard_input() -> Result<Zeroizing<String>> {
    terminal::tell_what_is_awaited("the text");
    let mut text = Zeroizing::new(String::new());
    let read = io::stdin().read_to_string(&mut text);
    read.map(|_| text).map_err(|source| Error::Io {
        doing: "read",
        path: "standard input".into(),
        source,
    })
}

fn check(file: &Path, as_json: bool) -> Result<u8> {
    let (rules, remarks) = redact::check_gitleaks(&policy::read(file)?)?;
    let mut refused = false;
    for rule in &rules {
        let (verdict, why) = match &rule.verdict {
            Verdict::Loaded => ("loaded", String::new()),
            Verdict::Rewritten(what) => ("rewritten", what.join(", ")),
            Verdict::Ignored(why) => ("ignored", (*why).to_owned()),
            Verdict::Refused(fault) => ("refused", fault.why.clone()),
        };
        refused |= verdict == "refused";
        let (id, line) = (&rule.id, rule.line);
        if as_json {
            output::json(&json!({
                "schema": "agekeep.redact_check/1",
                "id": id,
                "line": line,
                "verdict": verdict,
                "why": why,
            }))?;
        } else {
            output::line(format!("{verdict:<9} line {line:<5} {id:<40} {why}").trim_end())?;
        }
    }
    for remark in remarks {
        output::note(&remark);
    }
    // A policy that cannot be followed is a mistake in usage, as at `init`.
    Ok(if refused { 2 } else { 0 })
}

fn fingerprint(global: &Global) -> Result<u8> {
    let value = standard_input()?;
    let store = global.open_for_reading()?;
    let fingerprint = store.fingerprint(value.trim_end_matches(['\r', '\n']))?;
    if global.json {
        let schema = "agekeep.redact_fingerprint/1";
        output::json(&json!({"schema": schema, "fingerprint": fingerprint}))?;
    } else {
        output::line(&fingerprint)?;
    }
    Ok(0)
}

fn rules(as_json: bool) -> Result<u8> {
    for rule in redact::built_in() {
        if as_json {
            if !output::json(&rule_json(rule))? {
                break;
            }
        } else {
            output::line(&format!("{:<28} {}", rule.kind, rule.what))?;
        }
    }
    Ok(0)
}

fn rule_json(rule: &Rule) -> Value {
    json!({
        "schema": "agekeep.redact_rule/2",
        "kind": rule.kind,
        "what": rule.what,
        "class": rule.class,
        "severity": rule.severity,
        "rules": redact::VERSION,
        "shape": rule.shape(),
        "literals": rule.literals,
        "keywords": rule.keywords,
        "checks": rule.checks,
    })
}

fn test(redactor: &Redactor, as_json: bool) -> Result<u8> {
    let text = standard_input()?;
    let redacted = redactor
        .redact("", &text.as_str().into())
        .map_err(withheld)?;
    if as_json {
        let findings: Vec<_> = redacted.findings().iter().map(place).collect();
        let text = redacted.text().as_str();
        let schema = "agekeep.redact_test/1";
        output::json(&json!({"schema": schema, "text": text, "findings": findings}))?;
        return Ok(0);
    }
    output::text(redacted.text().as_str())?;
    for found in redacted.findings() {
        let (kind, line) = (found.kind.as_str(), found.line);
        output::note(&format!(
            "{kind}: line {line}, columns {} to {}",
            found.start, found.end
        ));
    }
    Ok(0)
}

fn place(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind.as_str(),
        "line": finding.line,
        "columns": [finding.start, finding.end],
    })
}

fn test_lines(redactor: &Redactor) -> Result<u8> {
    let stdin = PathBuf::from("-");
    let mut input = reader(&stdin)?;
    let max = Limits::default().request_bytes;
    let mut failed = false;
    while let Some(line) = next_line(&mut input, Path::new("-"), max)? {
        let answer = match line {
            Line::Whole(line) => test_line(redactor, &line),
            Line::TooLong(max) => {
                json!({"id": null, "error": format!("the line has more than {max} bytes")})
            }
        };
        failed |= answer.get("error").is_some();
        if !output::json(&answer)? {
            break;
        }
    }
    Ok(u8::from(failed))
}

fn test_line(redactor: &Redactor, line: &[u8]) -> Value {
    let Ok(Sample { id, text }) = serde_json::from_slice(line) else {
        return json!({"id": null, "error": "not an object with `id` and `text`"});
    };
    match redactor.redact("", &text.as_str().into()) {
        Ok(redacted) => {
            let findings = redacted.findings().iter();
            let findings: Vec<_> = findings
                .map(|finding| json!({"kind": finding.kind.as_str(), "line": finding.line}))
                .collect();
            json!({"id": id, "text": redacted.text().as_str(), "findings": findings})
        }
        Err(why) => json!({"id": id, "error": withheld(why).to_string()}),
    }
}

fn withheld(why: Withheld) -> Error {
    let why = match why {
        Withheld::Found(findings) => {
            let kinds: Vec<_> = findings.iter().map(|found| found.kind.as_str()).collect();
            format!(
                "it holds {}, and the policy refuses such texts",
                kinds.join(", ")
            )
        }
        Withheld::Unfinished => "looking for secrets in it would take too long".into(),
    };
    Error::Invalid {
        what: "the text",
        why,
    }
}
