//! What a command would come to, and how a text compares with what is kept: asked beforehand, and
//! recorded nowhere, because no text is shown.

use crate::Text;
use crate::crypto::digest::Digest;
use crate::error::{Error, Result};
use crate::event::{Context, REDACTIONS_MAX, Redaction};
use crate::memory_tool::command::Command;
use crate::store::answer::Refusal;

use super::Store;
use super::commit::stripped;

/// What a command that writes would answer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Foreseen {
    /// The text for the model.
    pub content: Text,
    /// Why it would be refused.
    pub refusal: Option<Refusal>,
    /// What would be stripped from the text and the paths.
    pub redactions: Vec<Redaction>,
}

/// What is kept at a path, beside a text that is to be there.
#[derive(Debug)]
#[non_exhaustive]
pub enum Compared {
    /// No file is there. That says nothing of whether one may be.
    Free,
    /// The same text, as redaction leaves it.
    Same,
    /// Another text, with this SHA-256.
    Other(Digest),
    /// A file is there and does not open.
    Closed(Error),
}

impl Store {
    /// What a command that writes would come to, now. Nothing changes, and nothing is recorded.
    ///
    /// # Errors
    /// [`Error::NotAReader`] for an auditor, [`Error::Invalid`] for a command that shows what is
    /// kept, and what keeps the store from being read.
    pub fn foresee(&mut self, command: &Command, context: &Context) -> Result<Foreseen> {
        if matches!(command, Command::View { .. } | Command::Read { .. }) {
            return Err(Error::Invalid {
                what: "a command that shows what is kept",
                why: "whoever looks is on record".into(),
            });
        }
        self.as_reader()?;
        self.locked(|store| {
            let plan = store.plan(command, context)?;
            let mut redactions = plan.stripped;
            redactions.extend(stripped(&plan.steps));
            redactions.truncate(REDACTIONS_MAX);
            Ok(Foreseen {
                content: plan.content,
                refusal: plan.refusal,
                redactions,
            })
        })
    }

    /// Compares a text, as redaction would leave it, with the one that is kept at a path. That is
    /// no access, and is not recorded.
    ///
    /// # Errors
    /// [`Error::NotAReader`] for an auditor, and what keeps the store from being read.
    pub fn compare_kept(&mut self, path: &str, text: &Text) -> Result<Compared> {
        self.as_reader()?;
        self.locked(|store| {
            let Ok(path) = store.parse_path(path) else {
                return Ok(Compared::Free);
            };
            let Some(memory) = store.living().at(&path).cloned() else {
                return Ok(Compared::Free);
            };
            let kept = match store.text_of(&memory) {
                Err(error) if error.is_of_one_memory() => return Ok(Compared::Closed(error)),
                kept => kept?,
            };
            let redacted = store.redactor()?.redact(path.as_str(), text);
            if redacted.is_ok_and(|redacted| *redacted.text() == kept) {
                return Ok(Compared::Same);
            }
            Ok(Compared::Other(Digest::of(kept.as_str().as_bytes())))
        })
    }

    /// A line as it may be shown: without the secrets in it, by the policy in force.
    ///
    /// # Errors
    /// [`Error::Policy`] if the policy in force cannot be followed.
    pub fn without_secrets(&self, line: &str) -> Result<String> {
        Ok(self.redactor()?.line(line).0)
    }
}
