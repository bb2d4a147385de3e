//! The auditor's kit: a mirror of the store, the two files of the keyring that an auditor's role
//! opens, a signed checkpoint, and a page that says what to do with them.
//!
//! It is made in a folder beside its place and renamed there when it is whole.

use std::io::{self, Write};
use std::path::Path;

use crate::crypto::recipients::{Member, Role};
use crate::disk::{Folder, Name, NewFolder};
use crate::error::{Error, MembershipFault, Result};
use crate::event::rfc3339;
use crate::journal;
use crate::repository::Repository;
use crate::store::recovery::refresh;
use crate::store::rekey::ProgressFn;
use crate::store::rollback_check::checkpoint_now;
use crate::store::signed_checkpoint::Checkpoint;
use crate::store::signers::signer_now;
use crate::store::{State, Store, lock};

/// The page for the auditor; what stands in braces is filled in.
const README: &str = include_str!("audit_kit/readme.md");

/// The files of the keyring that an auditor's role opens.
const KEYRING_FILES: [Name; 2] = [Name::AUDIT, Name::NAMES];

/// See [`Store::audit_kit`].
pub(super) fn audit_kit(
    store: &mut Store,
    auditor: &str,
    to: &Path,
    progress: &mut ProgressFn<'_>,
) -> Result<Checkpoint> {
    // Before anything is made, and again once the newest members are known.
    find_auditor(&store.state, auditor)?;
    let kit = NewFolder::begin(to, |above| {
        let of_store = [&store.ledger.root, store.ledger.keyring.folder()];
        let is_one = |path| {
            let folder = Folder::at(path);
            folder.is_ok_and(|at| of_store.iter().any(|own| at.is(own).unwrap_or(false)))
        };
        (above.path().ancestors().any(is_one)).then_some("in the store")
    })?;
    let checkpoint = fill(store, auditor, kit.folder(), progress)?;
    kit.put_in_place().map(|()| checkpoint)
}

/// Returns the auditor of this name. A reader's identity needs the whole keyring, so a kit would
/// not open for a reader, and one that did would not be an auditor's.
fn find_auditor(state: &State, name: &str) -> Result<Member> {
    let mut members = state.config.members.iter();
    match members.find(|member| member.name == name) {
        Some(member) if member.role == Role::Auditor => Ok(member.clone()),
        Some(_) => Err(Error::invalid(
            "the auditor's name",
            format!("{name} is a reader, who opens texts too and needs all keys for that"),
        )),
        None => Err(Error::Membership(MembershipFault::Nobody {
            name: Some(name.to_owned()),
        })),
    }
}

fn fill(
    store: &mut Store,
    auditor: &str,
    kit: &Folder,
    progress: &mut ProgressFn<'_>,
) -> Result<Checkpoint> {
    let packing = store.ledger.repository.pack_lock()?;
    let lock = lock(&mut store.ledger)?;
    // Puts everything that the journal acknowledged in its place.
    refresh(store)?;
    let member = find_auditor(&store.state, auditor)?;
    let (checkpoint, note) = checkpoint_now(store, None)?;
    let mirror = kit.make_private(&Name::KIT_STORE)?;
    let keyring = mirror.make_private(&Name::KEYRING)?;
    for name in &KEYRING_FILES {
        copy(store.ledger.keyring.folder(), &keyring, name)?;
    }
    let readme = readme(store, &member, &checkpoint)?;
    // History only grows from here on, and its objects never change.
    drop(lock);
    let repository = Repository::create(&mirror, journal::find)?;
    let history = &store.ledger.repository;
    history.copy_history(checkpoint.commit, &repository, progress)?;
    drop(packing);
    repository.set_head(checkpoint.commit)?;
    repository.forget_branch_before()?;
    write(kit, &Name::KIT_README, readme.as_bytes())?;
    write(kit, &Name::KIT_CHECKPOINT, note.as_bytes())?;
    kit.sync_file_system()?;
    Ok(checkpoint)
}

fn copy(from: &Folder, to: &Folder, name: &Name) -> Result<()> {
    let mut source = from.open_read(name).map_err(from.fault("read", name))?;
    let mut made = to.create_new(name, 0o600).map_err(to.fault("make", name))?;
    let copied = io::copy(&mut source, &mut made).map(drop);
    copied.map_err(to.fault("write", name))
}

fn write(folder: &Folder, name: &Name, bytes: &[u8]) -> Result<()> {
    let made = folder.create_new(name, 0o600);
    made.and_then(|mut file| file.write_all(bytes))
        .map_err(folder.fault("write", name))
}

/// Fills in the page for the auditor.
fn readme(store: &Store, auditor: &Member, checkpoint: &Checkpoint) -> Result<String> {
    let (_, signer) = signer_now(store)?;
    let trial = if store.is_trial() {
        "; this is a store for trials: its times may be made up"
    } else {
        ""
    };
    let made = rfc3339((store.state.clock)());
    Ok([
        ("{auditor}", auditor.name.clone()),
        ("{recipient}", auditor.recipient.to_string()),
        ("{store}", checkpoint.store.to_string()),
        ("{made}", made + trial),
        ("{events}", checkpoint.events.to_string()),
        ("{newest}", rfc3339(checkpoint.time)),
        ("{commit}", checkpoint.commit.to_string()),
        ("{signer}", signer.name().to_owned()),
    ]
    .iter()
    .fold(README.to_owned(), |text, (name, value)| {
        text.replace(name, value)
    }))
}
