//! `rules`: what redaction looks for, tried on texts that are not stored.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::policy::Limits;
use agekeep::redact::{self, Finding, Redactor, Rule, Verdict, Withheld};
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::args::Global;
use crate::input::{Line, next_line, reader};
use crate::output;
use crate::table;
use crate::terminal;
use crate::verbs::policy::{self, PolicyFiles};

#[derive(Subcommand)]
pub(crate) enum RulesVerb {
    /// List the rules; with --json also their shapes
    List,
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
pub(crate) struct Test {
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

pub(crate) fn run(global: &Global, verb: &RulesVerb) -> Result<u8> {
    match verb {
        RulesVerb::List => list(global),
        RulesVerb::Test(args) => try_on_input(global, args),
        RulesVerb::Check { file } => check(file, global.json),
        RulesVerb::Fingerprint => fingerprint(global),
    }
}

pub(crate) fn try_on_input(global: &Global, args: &Test) -> Result<u8> {
    let redactor = Redactor::of_policy(&args.files.read()?.redaction)?;
    if args.jsonl {
        return test_lines(&redactor);
    }
    test(&redactor, global.json)
}

fn standard_input() -> Result<Zeroizing<String>> {
    terminal::tell_what_is_awaited("the text");
    let mut text = Zeroizing::new(String::new());
    let read = io::stdin().read_to_string(&mut text);
    read.map(|_| text)
        .map_err(Error::io("read", Path::new("standard input")))
}

pub(crate) fn check(file: &Path, as_json: bool) -> Result<u8> {
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

pub(crate) fn fingerprint(global: &Global) -> Result<u8> {
    let value = standard_input()?;
    let store = global.open_for_reading()?;
    let fingerprint = store.fingerprint(value.trim_end_matches(['\r', '\n']))?;
    let schema = "agekeep.redact_fingerprint/1";
    let object = json!({"schema": schema, "fingerprint": fingerprint});
    output::answer(global, &object, &fingerprint)?;
    Ok(0)
}

pub(crate) fn list(global: &Global) -> Result<u8> {
    if global.json {
        for rule in redact::built_in() {
            if !output::json(&rule_json(rule))? {
                break;
            }
        }
    } else {
        let rules = redact::built_in();
        let pairs: Vec<table::Pair> = rules.map(|rule| (rule.kind, rule.what.into())).collect();
        table::print_pairs(global, &pairs)?;
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
    Error::invalid("the text", why)
}
