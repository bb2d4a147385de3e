//! What becomes of the owner's rules: each one tried before a policy is accepted.

use super::gitleaks::{Fault, Gitleaks};
use super::redactor::Redactor;
use crate::error::{Error, Result};
use crate::policy::redaction::{OwnRule, Redaction};

pub use super::gitleaks::{Checked, Verdict};

/// Says of each rule of a `gitleaks.toml` what becomes of it here, and what in the file has no
/// bearing.
///
/// # Errors
/// [`Error::Policy`], with its line, for what keeps the file from being read at all.
pub fn check_gitleaks(text: &str) -> Result<(Vec<Checked>, Vec<String>)> {
    let report = Gitleaks::check(text).map_err(|fault| policy_fault(&fault))?;
    if let Some(fault) = report.faults.into_iter().next() {
        return Err(policy_fault(&fault));
    }
    Ok((report.rules, report.remarks))
}

/// Tries a policy: compiles every rule of the owner's, and runs the examples of each.
///
/// # Errors
/// [`Error::Policy`] names the first rule that does not do what it says.
pub fn check_policy(policy: &Redaction) -> Result<()> {
    if let Some(text) = &policy.gitleaks {
        let report = Gitleaks::check(text).map_err(|fault| policy_fault(&fault))?;
        if let Some(fault) = report.fault() {
            return Err(policy_fault(fault));
        }
    }
    let redactor = Redactor::of_policy(policy)?;
    policy
        .rules
        .iter()
        .try_for_each(|rule| check_rule(&redactor, rule))
}

fn policy_fault(fault: &Fault) -> Error {
    Error::Policy {
        line: fault.line,
        why: format!("gitleaks.toml: {}", fault.why),
    }
}

fn check_rule(redactor: &Redactor, rule: &OwnRule) -> Result<()> {
    let fault = |what: &str, number: usize| {
        Err(Error::Policy {
            line: None,
            why: format!("rule `{}`: {what} its example {number}", rule.kind),
        })
    };
    for (number, example) in rule.found.iter().enumerate() {
        let text = example.replace(['«', '»', '¦'], "");
        let (redacted, _) = redactor.line(&text);
        let secrets = example.split('«').skip(1);
        let mut secrets = secrets.map(|rest| rest.split('»').next().unwrap_or(rest));
        let left = secrets.any(|secret| redacted.contains(&secret.replace('¦', "")));
        if left || redacted == text {
            return fault("it does not find", number + 1);
        }
    }
    for (number, example) in rule.kept.iter().enumerate() {
        let text = example.replace('¦', "");
        if redactor.line(&text).0 != text {
            return fault("it does not keep", number + 1);
        }
    }
    Ok(())
}
