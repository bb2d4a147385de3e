//! Redacting what is kept already: a memory's present text without the secrets in it, and nothing
//! of what it was before.

use crate::crypto::seal::SealKey;
use crate::error::{Error, Result};
use crate::event::{Change, Context, REDACT_COMMAND};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::repository::object::Object;
use crate::store::retention::{RedactedMemory, Target};
use crate::store::revision::Revision;
use crate::version;

use super::Store;
use super::commit::Sealing;
use super::erase::Erasing;
use super::past::no_file_at;
use super::plan::touch;
use super::reseal::Progress;

impl Store {
    /// Replaces the present text of a memory by its redacted form, sealed to a fresh identity, and
    /// erases every older version, by one event with its receipt. The memory is the one that was at
    /// a path at a moment, wherever it is now.
    ///
    /// # Errors
    /// [`Error::NotThere`] if nothing was at the path then, or it is not there any more;
    /// [`crate::error::RetentionFault::Held`] if a hold keeps it; [`Error::Invalid`] if its text cannot be
    /// scanned; otherwise as for [`Store::erase`].
    pub fn redact(
        &mut self,
        path: &MemoryPath,
        revision: &Revision,
        context: &Context,
        progress: &mut Progress<'_>,
    ) -> Result<RedactedMemory> {
        let lock = self.lock()?;
        self.refresh()?;
        self.may_record(REDACT_COMMAND)?;
        self.load_timeline()?;
        let id = self.to_redact(path, revision)?;
        let memory = self.catalog.memory(id).cloned();
        self.catalog.check()?;
        let memory = memory.ok_or_else(|| Error::NotThere {
            path: path.as_str().to_owned(),
            when: "now: it was deleted".into(),
            hint: format!("erase it whole: `agekeep erase {id}`"),
        })?;
        self.check_not_held(std::iter::once((id, Some(&memory.path))))?;
        let text = self.text_of(&memory)?;
        let redacted = self.redactor()?.replace_all(memory.path.as_str(), &text);
        let redacted = redacted.map_err(|_| Error::Invalid {
            what: "so large a text",
            why: "looking for secrets in it takes too long; erase it whole instead".into(),
        })?;
        let stripped: Vec<String> = redacted.kinds().into_iter().map(str::to_owned).collect();
        let fresh = SealKey::generate();
        let place = version::Place {
            id,
            path: &memory.path,
            version: memory.version + 1,
        };
        let sealed = version::seal(fresh.begin(), &place, &redacted);
        let digest = sealed.digest();
        let object = Object::sealed(sealed);
        self.repository.write(&object)?;
        let mut sealing = Sealing::default();
        sealing.blobs.push((id, Some(object.id)));
        let mut touch = touch(&memory, Change::Redact);
        touch.version = memory.version + 1;
        touch.bytes = redacted.text().len() as u64;
        touch.blob = Some((object.id, digest));
        sealing.touches.push(touch);
        let erasing = Erasing {
            before: sealing,
            fresh: vec![(id, fresh)],
            ..Erasing::default()
        };
        let adjust = |event: &mut crate::event::Event| {
            let found = redacted.findings().iter();
            event
                .redactions
                .extend(found.map(crate::event::Redaction::in_text));
            event.redactions.truncate(crate::event::REDACTIONS_MAX);
        };
        let (meta, receipt) = self.erase_now(REDACT_COMMAND, erasing, adjust, context, progress)?;
        drop(lock);
        Ok(RedactedMemory {
            target: Target {
                id,
                path: Some(memory.path),
                is_there: true,
                versions: receipt.memories.iter().map(|m| m.blobs.len()).sum(),
                hold: None,
            },
            stripped,
            meta,
            receipt,
        })
    }

    fn to_redact(&self, path: &MemoryPath, revision: &Revision) -> Result<MemoryId> {
        let at = self.resolve(revision)?;
        let found = self.timeline().at(path, at.event);
        let found = found.ok_or_else(|| no_file_at(path, at, self.timeline()))?;
        Ok(found.id)
    }
}
