//! The auditor's kit: a mirror of the store, the two files of the keyring that an auditor's role
//! opens, a signed checkpoint, and a page that says what to do with them.
//!
//! It is made in a folder beside its place and renamed there when it is whole.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use crate::crypto::recipients::{Member, Role};
use crate::disk::{self, Folder, Name};
use crate::error::{Error, ExportFault, MembershipFault, Result};
use crate::event::rfc3339;
use crate::journal;
use crate::keyring;
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

/// The place of a kit, and the folder in which it is made.
struct KitTarget {
    /// The folder that the kit is in.
    above: Folder,
    name: OsString,
    building_name: Name,
    building: Folder,
}

/// See [`Store::audit_kit`].
pub(super) fn audit_kit(
    store: &mut Store,
    auditor: &str,
    to: &Path,
    progress: &mut ProgressFn<'_>,
) -> Result<Checkpoint> {
    // Before anything is made, and again once the newest members are known.
    find_auditor(&store.state, auditor)?;
    let target = KitTarget::begin(store, to)?;
    let made = fill(store, auditor, &target.building, progress);
    made.and_then(|checkpoint| target.move_into_place().map(|()| checkpoint))
        .inspect_err(|_| target.remove())
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
    let mirror = make_folder(kit, &Name::KIT_STORE)?;
    let keyring = make_folder(&mirror, &Name::KEYRING)?;
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

fn make_folder(above: &Folder, name: &Name) -> Result<Folder> {
    let made = above.make_folder(name, 0o700);
    made.and_then(|()| above.sub(name))
        .map_err(above.fault("make", name))
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
    // A policy that keeps the keyring elsewhere names a folder of the store's own machine.
    let elsewhere = store.state.config.policy.keyring.folder.is_some();
    let option = |place: &str| {
        if elsewhere {
            format!(" --keyring {place}/keyring")
        } else {
            String::new()
        }
    };
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
        ("{keyring}", option("store")),
        ("{keyring_next}", option("NEXT/store")),
    ]
    .iter()
    .fold(README.to_owned(), |text, (name, value)| {
        text.replace(name, value)
    }))
}

impl KitTarget {
    /// Checks the place of a kit, and makes the folder beside it.
    fn begin(store: &Store, path: &Path) -> Result<Self> {
        let (above, name) = disk::place_of_new(path)?;
        let in_the_way = |what| {
            let path = path.to_owned();
            Err(Error::Export(ExportFault::InTheWay { path, what }))
        };
        for of_store in [&store.ledger.root, store.ledger.keyring.folder()] {
            let is_it = |path| Folder::at(path).is_ok_and(|at| at.is(of_store).unwrap_or(false));
            if above.path().ancestors().any(is_it) {
                return in_the_way("in the store");
            }
        }
        match Folder::at_itself(&above.path().join(&name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return in_the_way("a link or a file, and no folder"),
            Ok(there) => {
                let fault = || Error::io("read", path);
                if !there.list().map_err(fault())?.is_empty() {
                    return in_the_way("not empty");
                }
                if there.look_at_itself().map_err(fault())?.owner != disk::user() {
                    return in_the_way("somebody else's");
                }
            }
        }
        let building_name = Name::new_building();
        let building = make_folder(&above, &building_name)?;
        Ok(Self {
            above,
            name,
            building_name,
            building,
        })
    }

    fn move_into_place(&self) -> Result<()> {
        let path = self.above.path().join(&self.name);
        let moved = self.above.rename_out(&self.building_name, &self.name);
        moved.map_err(Error::io("make", &path))?;
        self.above.sync()
    }

    /// Removes what was made, by the names it has, and nothing else.
    fn remove(&self) {
        if let Ok(mirror) = self.building.sub(&Name::KIT_STORE) {
            if let Ok(keyring) = mirror.sub(&Name::KEYRING) {
                keyring::remove_files(&keyring);
            }
            Repository::open_lenient(&mirror, journal::find).remove_made();
            drop(mirror.remove_folder(&Name::KEYRING));
            for name in [Name::HEAD, Name::CONFIG] {
                drop(mirror.remove(&name));
            }
            mirror.remove_temporary_files();
        }
        drop(self.building.remove_folder(&Name::KIT_STORE));
        for name in [Name::KIT_README, Name::KIT_CHECKPOINT] {
            drop(self.building.remove(&name));
        }
        drop(self.above.remove_folder(&self.building_name));
    }
}
