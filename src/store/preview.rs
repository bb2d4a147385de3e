//! Dry runs, and comparisons of a text with a kept one. Neither is recorded, because they reveal no
//! text.

use crate::Text;
use crate::crypto::digest::Digest;
use crate::error::{Error, Result};
use crate::event::{Context, REDACTIONS_MAX, Redaction};
use crate::memory_tool::command::Command;
use crate::store::answer::Refusal;
use crate::store::commit::stripped;
use crate::store::config::require_reader;
use crate::store::log::parse_path;
use crate::store::plan::plan;
use crate::store::sweep::unexpired;
use crate::store::timeline::with_lock;
use crate::store::versions::text_of;
use crate::store::{Store, redactor};

/// The result of a dry run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Preview {
    /// The text that the model would get.
    pub content: Text,
    /// The reason for which it would be refused.
    pub refusal: Option<Refusal>,
    /// The redactions that the text and the paths would get.
    pub redactions: Vec<Redaction>,
}

/// The result of comparing a text with the one kept at a path.
#[derive(Debug)]
#[non_exhaustive]
pub enum TextComparison {
    /// No file is there. That does not mean that the path allows one.
    Free,
    /// The kept text is the same, after redaction.
    Same,
    /// The kept text differs, and has this SHA-256.
    Other(Digest),
    /// A file is there and does not open.
    Unreadable(Error),
}

/// See [`Store::preview`].
pub(super) fn preview(store: &mut Store, command: &Command, context: &Context) -> Result<Preview> {
    if matches!(command, Command::View { .. } | Command::Read { .. }) {
        return Err(Error::invalid(
            "a command that shows what is kept",
            "whoever looks is on record",
        ));
    }
    require_reader(&store.ledger)?;
    with_lock(store, |store| {
        let plan = plan(store, command, context, None)?;
        let mut redactions = plan.stripped;
        redactions.extend(stripped(&plan.steps));
        redactions.truncate(REDACTIONS_MAX);
        Ok(Preview {
            content: plan.content,
            refusal: plan.refusal,
            redactions,
        })
    })
}

/// See [`Store::compare_with_stored`].
pub(super) fn compare_with_stored(
    store: &mut Store,
    path: &str,
    text: &Text,
) -> Result<TextComparison> {
    require_reader(&store.ledger)?;
    with_lock(store, |store| {
        let Ok(path) = parse_path(&store.state, path) else {
            return Ok(TextComparison::Free);
        };
        let Some(memory) = unexpired(&store.state).at(&path).cloned() else {
            return Ok(TextComparison::Free);
        };
        let kept = match text_of(&mut store.ledger, &memory) {
            Err(error) if error.is_of_one_memory() => return Ok(TextComparison::Unreadable(error)),
            kept => kept?,
        };
        let redacted = redactor(store)?.redact(path.as_str(), text);
        if redacted.is_ok_and(|redacted| *redacted.text() == kept) {
            return Ok(TextComparison::Same);
        }
        Ok(TextComparison::Other(Digest::of(kept.as_str().as_bytes())))
    })
}
