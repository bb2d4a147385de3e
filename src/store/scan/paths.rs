//! The rules' findings in paths, and the redacted form of paths that hold a secret.

use std::collections::HashMap;

use crate::Text;
use crate::background::on_every_core;
use crate::error::{Error, Result};
use crate::memory_tool::path::{MemoryPath, ROOT};
use crate::redact::{Kind, Redactor};
use crate::store::scan::worker::THREAD_MIN;

/// Paths of memories with their findings.
pub(super) struct Paths {
    redactor: Redactor,
    /// Each path with its finding, if any.
    known: HashMap<MemoryPath, Option<RedactedPath>>,
}

/// A path that must not be shown unredacted.
pub(super) struct RedactedPath {
    /// The kind of secret in it; `None` if the path could not be scanned in time.
    pub(super) kind: Option<Kind>,
    shown: Text,
}

impl Paths {
    /// Scans paths on every core.
    pub(super) fn of(redactor: Redactor, paths: Vec<MemoryPath>) -> Result<Self> {
        let judged = on_every_core(
            &paths,
            THREAD_MIN,
            || Ok::<_, Error>(()),
            |(), path| Ok(redact_path(&redactor, path)),
        )?;
        let known = paths.into_iter().zip(judged).collect();
        Ok(Self { redactor, known })
    }

    /// Returns the finding in a path, if any.
    pub(super) fn redacted(&self, path: &MemoryPath) -> Option<&RedactedPath> {
        self.known.get(path)?.as_ref()
    }

    /// Returns a path with its secrets redacted.
    pub(super) fn shown(&self, path: &MemoryPath) -> Text {
        let shown = |judged: Option<&RedactedPath>| match judged {
            Some(judged) => judged.shown.clone(),
            None => path.as_str().into(),
        };
        match self.known.get(path) {
            Some(judged) => shown(judged.as_ref()),
            // The path of a memory that moved during the scan.
            None => shown(redact_path(&self.redactor, path).as_ref()),
        }
    }
}

fn redact_path(redactor: &Redactor, path: &MemoryPath) -> Option<RedactedPath> {
    let kind = match redactor.in_path(path.as_str()) {
        Ok(None) => return None,
        Ok(kind) => kind,
        Err(_) => None,
    };
    // A secret that is found in a single name may not be found within the whole path.
    let (shown, _) = redactor.line(path.as_str());
    let is_clean = redactor.in_path(&shown).is_ok_and(|kind| kind.is_none());
    let shown = match &kind {
        _ if is_clean && shown != path.as_str() => shown,
        Some(kind) => format!("{ROOT}/[REDACTED:{}]", kind.as_str()),
        None => format!("{ROOT}/[not shown: it could not be scanned]"),
    };
    Some(RedactedPath {
        kind,
        shown: shown.into(),
    })
}
