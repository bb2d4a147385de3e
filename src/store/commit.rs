//! From a plan to a commit: seal → trees → record → sign, and on to `batch`.

use chrono::{DateTime, Datelike, Utc};

use crate::crypto::aead::Key;
use crate::crypto::digest::Digest;
use crate::crypto::seal::{PreparedEncryptor, SealKey};
use crate::crypto::sign::SigningKey;
use crate::error::{Error, Result};
use crate::event::{
    CallerClaims, Change, Context, Event, MemoryChange, Moment, Outcome, PathRef, PublicFile,
    REDACTIONS_MAX, Redaction,
};
use crate::id::{MemoryId, ObjectId};
use crate::journal::KeyEntry;
use crate::keyring::NewMemory;
use crate::redact::Redacted;
use crate::repository::object::{Object, add_signature, encode_commit};
use crate::state::catalog::Step;
use crate::store::answer::{Answer, MemoryMeta, Meta, Refusal};
use crate::store::batch::{PendingCommit, enqueue, pending_head};
use crate::store::keyring_location::check_one_keyring;
use crate::store::pin::SeenMoment;
use crate::store::plan::{Plan, PlannedChange, Subject, VersionWrite};
use crate::store::quota::check_reserve;
use crate::store::replica::check_in_touch;
use crate::store::signers::{check_allowed, may_sign};
use crate::store::versions::Trees;
use crate::store::{Clock, Ledger, Store, redactor};
use crate::version;

/// Returns the author and committer of a commit: its signer, at the time of its event, in git's
/// form.
pub(super) fn author(signer: &str, time: DateTime<Utc>) -> String {
    format!("{signer} <{signer}@agekeep> {} +0000", time.timestamp())
}

/// Encodes and signs a commit.
pub(super) fn signed_commit(
    tree: ObjectId,
    parent: Option<ObjectId>,
    signer: &str,
    key: &SigningKey,
    time: DateTime<Utc>,
    message: &str,
) -> Result<Vec<u8>> {
    let unsigned = encode_commit(tree, parent, &author(signer, time), message);
    Ok(add_signature(&unsigned, &key.sign(&unsigned)?))
}

/// Returns the clock's time, if git and RFC 3339 can both express it: the years 1970 to 9999.
pub(super) fn time_of(clock: &Clock) -> Result<DateTime<Utc>> {
    let time = clock();
    if (1970..=9999).contains(&time.year()) {
        return Ok(time);
    }
    Err(Error::invalid(
        "the clock",
        format!("it says {time}, which is outside the years 1970 to 9999"),
    ))
}

/// The objects, keys and record entries that sealing a plan produces.
#[derive(Default)]
pub(super) struct SealedPlan {
    pub(super) new: Vec<NewMemory>,
    /// Fresh identities of existing memories.
    pub(super) fresh: Vec<(MemoryId, SealKey)>,
    /// A staged keyring that this commit puts in place.
    pub(super) next: Option<KeyEntry>,
    pub(super) objects: Vec<Object>,
    pub(super) blobs: Vec<(MemoryId, Option<ObjectId>)>,
    pub(super) touches: Vec<MemoryChange>,
    /// The public file that the owner changes, and its new blob.
    pub(super) decides: Option<(PublicFile, ObjectId)>,
}

impl SealedPlan {
    /// Returns the sealing of a plan that writes nothing.
    pub(super) fn touching(touches: Vec<MemoryChange>) -> Self {
        Self {
            touches,
            ..Self::default()
        }
    }

    /// Adds a public file that the owner changes, and the tree that has it.
    pub(super) fn decide(&mut self, trees: &mut Trees, file: PublicFile, object: Object) {
        let root = trees.put_public(file.name(), object.id);
        self.decides = Some((file, object.id));
        self.objects.extend([object, root]);
    }

    fn name_key(&self, id: MemoryId) -> Option<&Key> {
        self.new
            .iter()
            .find(|new| new.id == id)
            .map(|new| &new.name_key)
    }
}

/// Commits a plan. It is durable when this returns, unless a batch is open.
pub(super) fn commit(
    store: &mut Store,
    plan: Plan,
    command: &str,
    context: &Context,
) -> Result<Answer> {
    check_reserve(&store.state)?;
    let Plan {
        content,
        refusal,
        path,
        new_path,
        steps,
        subject,
        stripped: in_paths,
        at,
        undone,
    } = plan;
    let outcome = refusal.map_or(Outcome::Ok, Refusal::outcome);
    let mut redactions = in_paths;
    redactions.extend(stripped(&steps));
    let sealed_plan = seal(&mut store.ledger, steps)?;
    let memory = meta_of(subject, &sealed_plan.touches);
    let mut event = event(store, command, context, &mut redactions)?;
    event.outcome = outcome;
    event.error = refusal.map(|refusal| refusal.code().to_owned());
    let path = path.map(|place| place_of(place, &sealed_plan));
    event.path = path;
    event.new_path = new_path;
    (event.at, event.undone) = (at, undone);
    redactions.truncate(REDACTIONS_MAX);
    event.redactions.clone_from(&redactions);
    let (event, commit) =
        record(store, event, sealed_plan).inspect_err(|_| store.ledger.trees.forget())?;
    Ok(Answer {
        content,
        refusal,
        meta: Meta {
            error: refusal.map(Refusal::code),
            memory,
            ..Meta::of(&event, commit, redactions)
        },
    })
}

/// Seals every text of a plan to its memory's own key.
pub(super) fn seal(ledger: &mut Ledger, steps: Vec<PlannedChange>) -> Result<SealedPlan> {
    let mut sealed_plan = SealedPlan::default();
    for step in steps {
        match step {
            PlannedChange::Touch(touch) => {
                if touch.change.removes() {
                    sealed_plan.blobs.push((touch.id, None));
                }
                sealed_plan.touches.push(touch);
            }
            PlannedChange::Add { path, text } => {
                let (new, begun) = ledger.keyring.new_memory();
                let written = VersionWrite {
                    id: new.id,
                    path,
                    version: 1,
                    change: Change::Add,
                    from: None,
                };
                sealed_plan.write(written, begun, &text);
                sealed_plan.new.push(new);
            }
            PlannedChange::Write(written, text) => {
                let id = written.id;
                if ledger.keyring.is_stale(id)? {
                    let key = SealKey::generate();
                    sealed_plan.write(written, key.begin(), &text);
                    sealed_plan.fresh.push((id, key));
                } else {
                    sealed_plan.write(written, ledger.keyring.memory_key(id)?.begin(), &text);
                }
            }
        }
    }
    Ok(sealed_plan)
}

pub(super) fn event(
    store: &Store,
    command: &str,
    context: &Context,
    redactions: &mut Vec<Redaction>,
) -> Result<Event> {
    let said = CallerClaims::of(context, redactor(store)?, redactions);
    let (ledger, state) = (&store.ledger, &store.state);
    let time = match state.began {
        Some(began) => began,
        None => time_of(&state.clock)?,
    };
    let last = state.catalog.times.last;
    let behind = last.map_or(0, |last| (last - time).num_milliseconds());
    let tree = ledger.trees.root_id().expect("loaded with the catalog");
    let place = (state.catalog.events, Some(ledger.chain), tree);
    Ok(Event {
        clock_behind_ms: u64::try_from(behind).ok().filter(|behind| *behind > 0),
        replica: ledger.keyring.replica(),
        ..Event::new(command, context, said, place, time)
    })
}

/// Records an event whose plan is sealed already; `adjust` completes its record.
pub(super) fn record_sealed(
    store: &mut Store,
    command: &str,
    sealed_plan: SealedPlan,
    adjust: impl FnOnce(&mut Event),
    context: &Context,
) -> Result<Meta> {
    let mut redactions: Vec<Redaction> = Vec::new();
    let begun = event(store, command, context, &mut redactions);
    let recorded = begun.and_then(|mut event| {
        event.redactions.clone_from(&redactions);
        adjust(&mut event);
        record(store, event, sealed_plan)
    });
    let (event, commit) = recorded.inspect_err(|_| store.ledger.trees.forget())?;
    Ok(Meta::of(&event, commit, redactions))
}

/// Builds the commit, and makes it durable, alone or with its batch.
pub(super) fn record(
    store: &mut Store,
    mut event: Event,
    sealed_plan: SealedPlan,
) -> Result<(Event, ObjectId)> {
    store.state.catalog.check()?;
    if event.replica.is_none() {
        return Err(Error::OldFormat);
    }
    check_in_touch(store, event.time)?;
    // A change of keys checks this earlier; by now it has the new keys loaded.
    if sealed_plan.next.is_none() {
        check_one_keyring(store)?;
    }
    event.memories.clone_from(&sealed_plan.touches);
    let (ledger, state) = (&mut store.ledger, &store.state);
    let (key, signer) = may_sign(
        ledger.signing_key.as_ref(),
        &state.config.signers,
        event.time,
        state.catalog.times.last,
    )?;
    check_allowed(state, signer, &event)?;
    let signer = signer.name().to_owned();
    let trees = ledger.trees.put(&ledger.repository, &sealed_plan.blobs)?;
    event.tree = ledger.trees.root_id().expect("loaded with the catalog");
    if event.keys.is_none() {
        event.keys = ledger.keyring.new_commitment(event.parent)?;
    }
    if let Some((_, why)) = event.violation() {
        return Err(Error::damaged("the record of this command", why));
    }
    let message = event.to_message(&ledger.keyring, |id| sealed_plan.name_key(id))?;
    let head = pending_head(ledger);
    let commit = Object::commit(signed_commit(
        event.tree,
        Some(head),
        &signer,
        key,
        event.time,
        &message,
    )?);
    let id = commit.id;
    let (chain, commit_bytes) = (Digest::of(&commit.bytes), commit.bytes.len() as u64);
    let mut objects = sealed_plan.objects;
    objects.extend(trees);
    objects.push(commit);
    // The keyring comes first: the entries are for the one that is in place then.
    let mut keys = Vec::from_iter(sealed_plan.next);
    let (new, fresh) = (&sealed_plan.new, &sealed_plan.fresh);
    keys.extend(ledger.keyring.entries_for(new, fresh)?);
    let seen = SeenMoment {
        moment: Moment {
            event: event.number,
            commit: id,
        },
        digest: chain,
    };
    enqueue(
        store,
        PendingCommit {
            step: Step::of(&event, id, commit_bytes),
            decides: sealed_plan.decides,
            of_catalog: None,
            event: event.clone(),
            signer,
            seen,
            parent: head,
            objects,
            keys,
        },
    )?;
    Ok((event, id))
}

/// Returns the redactions in the texts of a plan.
pub(super) fn stripped(steps: &[PlannedChange]) -> Vec<Redaction> {
    let texts = steps.iter().filter_map(|step| match step {
        PlannedChange::Touch(_) => None,
        PlannedChange::Add { text, .. } | PlannedChange::Write(_, text) => Some(text),
    });
    texts
        .flat_map(Redacted::findings)
        .map(Redaction::in_text)
        .collect()
}

/// Returns the facts about a command's memory, as they are after it.
fn meta_of(subject: Option<Subject>, touches: &[MemoryChange]) -> Option<MemoryMeta> {
    let (subject, touch) = (subject?, touches.first()?);
    Some(MemoryMeta {
        id: touch.id,
        path: touch.path.clone()?,
        version: touch.version,
        bytes: touch.bytes,
        sha256: subject.sha256,
    })
}

impl SealedPlan {
    pub(super) fn write(
        &mut self,
        written: VersionWrite,
        begun: PreparedEncryptor,
        text: &Redacted,
    ) {
        let place = version::VersionAddress {
            id: written.id,
            path: &written.path,
            version: written.version,
        };
        let sealed = version::seal(begun, &place, text);
        let digest = sealed.digest();
        let blob = Object::sealed(sealed);
        self.blobs.push((written.id, Some(blob.id)));
        let last = (written.version, text.text().len() as u64);
        self.touches.push(MemoryChange {
            blob: Some((blob.id, digest)),
            from: written.from,
            ..MemoryChange::of(written.id, written.change, Some(written.path), last)
        });
        self.objects.push(blob);
    }
}

/// Returns the path reference of a memory; a new one has the id that sealing gave it.
fn place_of(place: super::plan::PlanTarget, sealed_plan: &SealedPlan) -> PathRef {
    match place {
        super::plan::PlanTarget::At(place) => place,
        super::plan::PlanTarget::New(path) => {
            let id = sealed_plan
                .touches
                .first()
                .expect("an added memory is touched")
                .id;
            PathRef::Of(id, Some(path))
        }
    }
}
