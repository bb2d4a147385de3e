//! `policy explain`: what the policy means for what expires, in plain sentences.

use agekeep::error::{Error, Result};
use agekeep::policy::expiration::{
    DecidedBy, Expiration, Lifetime, RuleFor, RuleWhen, SweepMax, Then, TimeSpan,
};
use serde_json::{Value, json};

use crate::args::Global;
use crate::{output, render};

pub(super) fn run(global: &Global) -> Result<()> {
    let store = global.open_for_reading()?;
    let table = &store.policy().expiration;
    output::answer(global, &to_json(table), &to_text(table))
}

/// Prints what decides about one file.
pub(super) fn one(global: &Global, shown: &str) -> Result<()> {
    let mut store = global.open_for_reading()?;
    let path = store.parse_path(shown)?;
    let fate = store.expiry_status(&path)?.ok_or_else(|| Error::NotThere {
        path: shown.to_owned(),
        when: "now".into(),
        hint: "`agekeep log` with this path shows whether a sweep removed it".into(),
    })?;
    let table = &store.policy().expiration;
    let (by, part) = match fate.ruling.by {
        DecidedBy::Keep(at) => (format!("{} in keep", table.keep[at - 1]), "keep"),
        DecidedBy::Rule(at) => {
            let (of, _) = fates(table)
                .nth(at - 1)
                .unwrap_or((String::new(), otherwise(table)));
            (format!("rule {at}, for {of}"), "rule")
        }
        _ => ("no rule; the table [expiration] itself".into(), "table"),
    };
    let expires = fate.ruling.expires.map(|(_, at)| at);
    let object = json!({
        "schema": "agekeep.policy_explain_path/1",
        "path": path.as_str(),
        "memory": fate.id,
        "accessed": render::rfc3339(fate.accessed),
        "decided_by": part,
        "expires": expires.map(render::rfc3339),
        "expired": fate.expired,
        "hold": fate.hold,
        "grace": fate.ruling.grace,
        "then": fate.ruling.then,
    });
    let mut lines = vec![
        format!("{}  {}", render::quoted(path.as_str()), fate.id),
        format!("last accessed  {}", render::seconds(fate.accessed)),
        format!("decided by     {by}"),
    ];
    lines.push(match (expires, fate.expired) {
        (None, _) => "expires        never".into(),
        (Some(at), true) => format!("expired        {}", render::seconds(at)),
        (Some(at), false) => format!("expires        {}", render::seconds(at)),
    });
    if let Some(hold) = fate.hold {
        lines.push(format!(
            "held           by hold {hold}, whatever the policy says"
        ));
    }
    if expires.is_some() {
        lines.push(match fate.ruling.then {
            Then::Erase => format!(
                "then           erased {} after the sweep",
                fate.ruling.grace
            ),
            _ => "then           removed by the sweep, and kept in history".into(),
        });
    }
    output::answer(global, &object, &lines.join("\n"))
}

/// The outcome of the memories that one part of the table is for.
struct RuleSummary {
    when: RuleWhen,
    grace: TimeSpan,
    then: Then,
}

/// Lists the rules: what each is for, and the outcome it decides.
fn fates(table: &Expiration) -> impl Iterator<Item = (String, RuleSummary)> + '_ {
    table.rules.iter().map(|rule| {
        let of = match &rule.of {
            RuleFor::Path(glob) => glob.clone(),
            RuleFor::Memory(id) => format!("the memory {id}"),
            _ => "others".into(),
        };
        let fate = RuleSummary {
            when: rule.when,
            grace: rule.grace.unwrap_or(table.grace),
            then: rule.then.unwrap_or(table.then),
        };
        (of, fate)
    })
}

/// Returns the outcome of all memories that no rule is for.
fn otherwise(table: &Expiration) -> RuleSummary {
    RuleSummary {
        when: RuleWhen::UnaccessedFor(table.unaccessed_for),
        grace: table.grace,
        then: table.then,
    }
}

impl RuleSummary {
    fn sentence(&self) -> String {
        let when = match self.when {
            RuleWhen::UnaccessedFor(Lifetime::For(window)) => {
                format!(
                    "expires when nobody has read or written it for {}",
                    window.in_words()
                )
            }
            RuleWhen::At(time) => {
                format!(
                    "expires at {}, whether or not it is read until then",
                    render::seconds(time)
                )
            }
            _ => return "never expires".into(),
        };
        let grace = self.grace.in_words();
        let then = match self.then {
            Then::Erase if self.grace.seconds() == 0 => "erased when a sweep removes it".into(),
            Then::Erase => format!("erased {grace} after the sweep that removed it"),
            _ => "the next sweep removes it, and history keeps it".into(),
        };
        format!("{when}; {then}")
    }

    fn to_json(&self) -> Value {
        let (unaccessed_for, expires_at) = match self.when {
            RuleWhen::At(time) => (None, Some(render::rfc3339(time))),
            RuleWhen::UnaccessedFor(lifetime) => (Some(lifetime.to_string()), None),
            _ => (None, None),
        };
        json!({
            "unaccessed_for": unaccessed_for,
            "expires_at": expires_at,
            "grace": self.grace,
            "then": self.then,
            "means": self.sentence(),
        })
    }
}

fn cap(table: &Expiration) -> String {
    let more = match table.sweep_max {
        SweepMax::Count(0) | SweepMax::Share(0) => "any memory".into(),
        SweepMax::Count(1) => "more than one memory".into(),
        SweepMax::Count(count) => format!("more than {count} memories"),
        share @ SweepMax::Share(_) => {
            format!("more than {share} of all memories, and more than 10 of them,")
        }
    };
    format!("A sweep that would remove {more} stops unless you give --yes.")
}

fn to_text(table: &Expiration) -> String {
    let mut lines = Vec::new();
    if !table.keep.is_empty() {
        lines.push("Memories that match one of these globs never expire:".to_owned());
        lines.extend(table.keep.iter().map(|glob| format!("  {glob}")));
    }
    if !table.rules.is_empty() {
        lines.push("The first of these rules that matches a memory decides:".to_owned());
        let rules = fates(table).enumerate();
        lines.extend(
            rules.map(|(at, (of, fate))| format!("  {}. {of}: {}", at + 1, fate.sentence())),
        );
    }
    let what = if lines.is_empty() {
        "Every memory"
    } else {
        "Every other memory"
    };
    lines.push(format!("{what}: {}", otherwise(table).sentence()));
    if table.rules.is_empty() && table.unaccessed_for == Lifetime::Never {
        lines.push(
            "So nothing expires. With `agekeep policy set expiration.unaccessed_for 90d`, memories \
             expire that nobody has read or written for 90 days."
                .to_owned(),
        );
    }
    lines.push(cap(table));
    lines.join("\n")
}

fn to_json(table: &Expiration) -> Value {
    let rules = table.rules.iter().zip(fates(table)).enumerate();
    let rules: Vec<_> = rules
        .map(|(at, (rule, (_, fate)))| {
            let (path, memory) = match &rule.of {
                RuleFor::Path(glob) => (Some(glob), None),
                RuleFor::Memory(id) => (None, Some(id.to_string())),
                _ => (None, None),
            };
            let mut body = json!({"rule": at + 1, "path": path, "memory": memory});
            if let (Some(body), Value::Object(fate)) = (body.as_object_mut(), fate.to_json()) {
                body.extend(fate);
            }
            body
        })
        .collect();
    json!({
        "schema": "agekeep.policy_explain/1",
        "keep": table.keep,
        "rules": rules,
        "otherwise": otherwise(table).to_json(),
        "sweep_max": table.sweep_max,
    })
}
