//! What becomes of the owner's rules: each one tried before a policy is accepted.

use super::gitleaks::Gitleaks;
use super::redactor::Redactor;
use crate::Fault;
use crate::config::{OwnRule, Redaction};

pub use super::gitleaks::{Checked, Verdict};

/// Says of each rule of a `gitleaks.toml` what becomes of it here, and what in the file has no
/// bearing.
///
/// # Errors
/// A [`Fault`], with its line, for what keeps the file from being read at all.
pub fn check_gitleaks(text: &str) -> Result<(Vec<Checked>, Vec<String>), Fault> {
    let report = Gitleaks::check(text).map_err(|fault| policy_fault(&fault))?;
    if let Some(fault) = report.faults.into_iter().next() {
        return Err(policy_fault(&fault));
    }
    Ok((report.rules, report.remarks))
}

/// Something in a policy that does not do what it says.
pub struct Broken {
    /// Where it stands.
    pub place: Place,
    why: String,
}

/// Where in a policy.
#[derive(Clone, Copy)]
pub enum Place {
    /// The `gitleaks.toml` in it, at a line of that.
    Gitleaks(Option<usize>),
    /// An example in `found` of one of the rules, both counted from 0.
    Found(usize, usize),
    /// An example in `kept` of one of the rules.
    Kept(usize, usize),
    /// No one place.
    Redaction,
}

impl Broken {
    /// Why, where the `gitleaks.toml` is a value of the policy and has lines of its own.
    #[must_use]
    pub fn why_in_policy(&self) -> String {
        match self.place {
            Place::Gitleaks(Some(line)) => {
                format!("gitleaks.toml, line {line} of it: {}", self.why)
            }
            Place::Gitleaks(None) => format!("gitleaks.toml: {}", self.why),
            _ => self.why.clone(),
        }
    }
}

/// Tries a policy: compiles every rule of the owner's, and runs the examples of each.
///
/// # Errors
/// A [`Fault`] that names the first rule that does not do what it says.
pub fn check_policy(policy: &Redaction) -> Result<(), Fault> {
    try_policy(policy).map_err(|broken| match broken.place {
        Place::Gitleaks(line) => policy_fault(&Fault {
            line,
            why: broken.why,
        }),
        _ => Fault {
            line: None,
            why: broken.why,
        },
    })
}

/// As [`check_policy`], and says where the rule stands.
///
/// # Errors
/// The first rule that does not do what it says.
pub fn try_policy(policy: &Redaction) -> Result<(), Broken> {
    let in_gitleaks = |fault: &Fault| Broken {
        place: Place::Gitleaks(fault.line),
        why: fault.why.clone(),
    };
    if let Some(text) = &policy.gitleaks {
        let report = Gitleaks::check(text).map_err(|fault| in_gitleaks(&fault))?;
        if let Some(fault) = report.fault() {
            return Err(in_gitleaks(fault));
        }
    }
    let redactor = Redactor::of_policy(policy).map_err(|fault| Broken {
        place: Place::Redaction,
        why: fault.why,
    })?;
    let mut rules = policy.rules.iter().enumerate();
    rules.try_for_each(|(at, rule)| check_rule(&redactor, at, rule))
}

fn policy_fault(fault: &Fault) -> Fault {
    Fault {
        line: fault.line,
        why: format!("gitleaks.toml: {}", fault.why),
    }
}

fn check_rule(redactor: &Redactor, at: usize, rule: &OwnRule) -> Result<(), Broken> {
    let fault = |what: &str, number: usize, place: fn(usize, usize) -> Place| {
        Err(Broken {
            place: place(at, number),
            why: format!("rule `{}`: {what} its example {}", rule.kind, number + 1),
        })
    };
    for (number, example) in rule.found.iter().enumerate() {
        let text = example.replace(['«', '»', '¦'], "");
        let (redacted, _) = redactor.line(&text);
        let secrets = example.split('«').skip(1);
        let mut secrets = secrets.map(|rest| rest.split('»').next().unwrap_or(rest));
        let left = secrets.any(|secret| redacted.contains(&secret.replace('¦', "")));
        if left || redacted == text {
            return fault("it does not find", number, Place::Found);
        }
    }
    for (number, example) in rule.kept.iter().enumerate() {
        let text = example.replace('¦', "");
        if redactor.line(&text).0 != text {
            return fault("it does not keep", number, Place::Kept);
        }
    }
    Ok(())
}
