//! What the rules say of paths, and how one that holds a secret is shown.

use std::collections::HashMap;

use super::piece::on_every_core;
use crate::Text;
use crate::error::Result;
use crate::memory_tool::path::{MemoryPath, ROOT};
use crate::redact::{Kind, Redactor};

/// Paths of memories, as the rules judge them.
pub(super) struct Paths {
    redactor: Redactor,
    /// Each path, and what is wrong with it.
    known: HashMap<MemoryPath, Option<Judged>>,
}

/// A path that is not to be shown as it is.
pub(super) struct Judged {
    /// What is in it; `None` if it could not be scanned in time.
    pub(super) kind: Option<Kind>,
    shown: Text,
}

impl Paths {
    /// Judges paths, on every core.
    pub(super) fn of(redactor: Redactor, paths: Vec<MemoryPath>) -> Result<Self> {
        let judged = on_every_core(&paths, || Ok(()), |(), path| Ok(judge(&redactor, path)))?;
        let known = paths.into_iter().zip(judged).collect();
        Ok(Self { redactor, known })
    }

    /// What is wrong with a path.
    pub(super) fn judged(&self, path: &MemoryPath) -> Option<&Judged> {
        self.known.get(path)?.as_ref()
    }

    /// A path without the secrets in it.
    pub(super) fn shown(&self, path: &MemoryPath) -> Text {
        let shown = |judged: Option<&Judged>| match judged {
            Some(judged) => judged.shown.clone(),
            None => path.as_str().into(),
        };
        match self.known.get(path) {
            Some(judged) => shown(judged.as_ref()),
            // Of a memory that moved while the scan was under way.
            None => shown(judge(&self.redactor, path).as_ref()),
        }
    }
}

fn judge(redactor: &Redactor, path: &MemoryPath) -> Option<Judged> {
    let kind = match redactor.in_path(path.as_str()) {
        Ok(None) => return None,
        Ok(kind) => kind,
        Err(_) => None,
    };
    // What is found in one name alone may not be found where it stands in the whole path.
    let (shown, _) = redactor.line(path.as_str());
    let is_clean = redactor.in_path(&shown).is_ok_and(|kind| kind.is_none());
    let shown = match &kind {
        _ if is_clean && shown != path.as_str() => shown,
        Some(kind) => format!("{ROOT}/[REDACTED:{}]", kind.as_str()),
        None => format!("{ROOT}/[not shown: it could not be scanned]"),
    };
    Some(Judged {
        kind,
        shown: shown.into(),
    })
}
