//! Redacting what is kept already: a memory's present text without the secrets in it, and nothing
//! of what it was before.

use crate::crypto::seal::SealKey;
use crate::error::{Error, Result};
use crate::event::{Change, Context, REDACT_COMMAND};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::repository::object::Object;
use crate::store::decide::check_permitted;
use crate::store::erase::erase_now;
use crate::store::history::refresh;
use crate::store::hold::check_not_held;
use crate::store::past::{load_timeline, resolve, timeline};
use crate::store::retention::{RedactedMemory, Target};
use crate::store::revision::Revision;
use crate::store::versions::text_of;
use crate::store::{lock, redactor};
use crate::version;

use super::Store;
use super::commit::Sealing;
use super::erase::Erasing;
use super::past::no_file_at;
use super::plan::touch;
use super::reseal::Progress;

/// See [`Store::redact`].
pub(super) fn redact(
    store: &mut Store,
    path: &MemoryPath,
    revision: &Revision,
    context: &Context,
    progress: &mut Progress<'_>,
) -> Result<RedactedMemory> {
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    check_permitted(store, REDACT_COMMAND)?;
    load_timeline(store)?;
    let id = to_redact(store, path, revision)?;
    let memory = store.state.catalog.memory(id).cloned();
    store.state.catalog.check()?;
    let memory = memory.ok_or_else(|| Error::NotThere {
        path: path.as_str().to_owned(),
        when: "now: it was deleted".into(),
        hint: format!("erase it whole: `agekeep erase {id}`"),
    })?;
    check_not_held(store, std::iter::once((id, Some(&memory.path))))?;
    let text = text_of(&mut store.ledger, &memory)?;
    let redacted = redactor(store)?.replace_all(memory.path.as_str(), &text);
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
    store.ledger.repository.write(&object)?;
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
    let (meta, receipt) = erase_now(store, REDACT_COMMAND, erasing, adjust, context, progress)?;
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

fn to_redact(store: &Store, path: &MemoryPath, revision: &Revision) -> Result<MemoryId> {
    let at = resolve(store, revision)?;
    let found = timeline(&store.state).at(path, at.event);
    let found = found.ok_or_else(|| no_file_at(path, at, timeline(&store.state)))?;
    Ok(found.id)
}
