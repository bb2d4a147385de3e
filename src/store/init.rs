//! Creates a store: agekeep builds it in a folder of its own, then renames that to its place.
//! Into an existing empty folder it moves the parts, last the one that makes it a store.

use std::io;
use std::path::Path;

use crate::crypto::recipients::{self, Member, Role};
use crate::crypto::sign::Signers;
use crate::disk::{self, Folder, Lock, Name};
use crate::error::{Error, Result};
use crate::event::{CallerClaims, Context, Event, INIT_COMMAND};
use crate::id::{ObjectId, StoreId};
use crate::journal::{self, Journal};
use crate::keyring::{self, Keyring};
use crate::policy::{KeyringPlace, Policy};
use crate::redact::{self, Redactor};
use crate::repository::Repository;
use crate::repository::object::{Object, Tree, TreeEntry};
use crate::store::commit::{signed_commit, time_of};
use crate::store::config::check_texts;
use crate::store::keyring_location::{
    check_outside, check_place, make_vacant, write_keyring_place,
};
use crate::store::timeline::{load_timeline, with_lock};
use crate::store::{Clock, Keys, OWNER, Store};

/// The entries of a new store, in the order in which they are moved into place. The last one makes
/// the folder a store.
const MADE: [Name; 7] = [
    Name::OBJECTS,
    Name::REFS,
    Name::CONFIG,
    Name::KEYRING,
    Name::JOURNAL,
    Name::LOCK,
    Name::HEAD,
];

/// See [`Store::check_vacant`].
pub(super) fn check_vacant(root: &Path) -> Result<()> {
    let there = disk::if_there(Folder::at(root)).map_err(Error::io("read", root))?;
    there.as_ref().map_or(Ok(()), check_vacant_folder)
}

/// See [`Store::init`] and [`Store::init_trial`].
pub(super) fn init(
    root: &Path,
    keys: Keys,
    policy: &Policy,
    trial: bool,
    context: &Context,
    clock: Clock,
) -> Result<Store> {
    Store::check_vacant(root)?;
    redact::check_policy(&policy.redaction)?;
    check_texts(policy, &Redactor::of_policy(&policy.redaction)?)?;
    check_place(&KeyringPlace::default(), policy)?;
    if let Some(folder) = &keys.keyring {
        check_outside(root, folder)?;
    }
    // An existing empty folder is kept, as it may be somebody's working directory.
    let there = disk::if_there(Folder::at(root)).map_err(Error::io("open", root))?;
    let lock = there.as_ref().map(Lock::of_folder).transpose()?;
    if let Some(there) = &there {
        check_vacant_folder(there)?;
    }
    let place = InitTarget::of(root, there)?;
    let event = |tree| first_event(tree, policy, trial, context, &clock);
    let made = build(&place, &keys, policy, &event).and_then(|()| place.move_into_place());
    if let Err(error) = made {
        place.remove_built();
        return Err(error);
    }
    drop(lock);
    if let Some(state) = &keys.state {
        // The creator of a store decides what this place holds from now on, so an earlier pin is
        // dropped.
        crate::store::pin::Place::of(state, root)?.forget()?;
    }
    let mut store = Store::open(root, keys, clock)?;
    // The timeline starts with the first event, so that it never has to be built from all of
    // history.
    with_lock(&mut store, load_timeline)?;
    Ok(store)
}

/// Checks that an existing folder is empty and that the user owns it: the owner of a folder can add
/// and remove anything in it.
fn check_vacant_folder(folder: &Folder) -> Result<()> {
    let path = || folder.path().to_owned();
    if folder.has(&Name::KEYRING) || folder.has(&Name::JOURNAL) {
        return Err(Error::StoreExists { path: path() });
    }
    let fault = || Error::io("read", folder.path());
    // Another process's build, even a half-finished one, is not in the way.
    let names = folder.list().map_err(fault())?;
    let mut others = names.iter().map(|name| name.to_str());
    if others.any(|name| name.and_then(Name::building).is_none()) {
        return Err(Error::NotEmpty { path: path() });
    }
    let owner = folder.look_at_itself().map_err(fault())?.owner;
    if owner != disk::user() {
        return Err(Error::NotYours {
            path: path(),
            owner,
        });
    }
    Ok(())
}

/// The place of a new store, and the folder in which it is built.
struct InitTarget<'a> {
    root: &'a Path,
    /// The empty folder that is in its place already.
    there: Option<Folder>,
    /// The folder that contains the one in which it is built.
    above: Folder,
    name: Name,
    building: Folder,
}

impl<'a> InitTarget<'a> {
    fn of(root: &'a Path, there: Option<Folder>) -> Result<Self> {
        let above = match (&there, root.parent()) {
            (Some(there), _) => there.clone(),
            (None, above) => {
                let above = above.filter(|above| !above.as_os_str().is_empty());
                let above = above.unwrap_or(Path::new("."));
                disk::make_folder(above)?;
                Folder::at(above).map_err(Error::io("open", above))?
            }
        };
        let name = Name::new_building();
        Ok(Self {
            building: above.make_private(&name)?,
            root,
            there,
            above,
            name,
        })
    }

    /// Moves the built store into its place, durably.
    fn move_into_place(&self) -> Result<()> {
        match &self.there {
            Some(root) => self.move_into(root).and_then(|()| root.sync()),
            None => self.rename(),
        }
    }

    /// Renames the built folder. If that cannot be made durable, it is renamed back.
    fn rename(&self) -> Result<()> {
        let exists = || Error::StoreExists {
            path: self.root.into(),
        };
        let name = self.root.file_name().ok_or_else(exists)?;
        let placed = self.above.rename_out(&self.name, &self.above, name);
        placed.map_err(|e| match e.kind() {
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => exists(),
            _ => Error::io("make", self.root)(e),
        })?;
        let synced = self.above.sync();
        synced.inspect_err(|_| drop(self.above.rename_back(name, &self.name)))
    }

    /// Moves the built files up into `root`, last the one that makes it a store.
    fn move_into(&self, root: &Folder) -> Result<()> {
        for name in &MADE {
            if root.has(name) {
                let path = root.path().into();
                return Err(Error::StoreExists { path });
            }
            let moved = self.building.rename_into(name, root, name);
            moved.map_err(root.fault("make", name))?;
        }
        let removed = self.above.remove_folder(&self.name);
        removed.map_err(self.above.fault("remove", &self.name))?;
        root.close_to_others()
            .map_err(Error::io("protect", root.path()))
    }

    /// Removes the built files, by the names they have, and nothing else.
    fn remove_built(&self) {
        let building = &self.building;
        if let Ok(keyring) = building.sub(&Name::KEYRING) {
            keyring::remove_files(&keyring);
        }
        Repository::open_lenient(building, journal::find).remove_made();
        for name in [
            Name::CONFIG,
            Name::KEYRING_PLACE,
            Name::JOURNAL,
            Name::JOURNAL_NEW,
            Name::LOCK,
            Name::HEAD,
        ] {
            drop(building.remove(&name));
        }
        building.remove_temporary_files();
        drop(building.remove_folder(&Name::KEYRING));
        drop(self.above.remove_folder(&self.name));
    }
}

fn build(
    place: &InitTarget<'_>,
    keys: &Keys,
    policy: &Policy,
    event: &dyn Fn(ObjectId) -> Result<Event>,
) -> Result<()> {
    let root = &place.building;
    let id = StoreId::random();
    let owner = Member {
        role: Role::Reader,
        name: OWNER.into(),
        recipient: keys.identity.recipient()?,
    };
    let repository = Repository::create(root, journal::find)?;
    let folder = keyring_folder(root, keys.keyring.as_deref())?;
    let owner = [owner];
    let made = Keyring::create(&folder, id, &owner, &keys.identity).and_then(|keyring| {
        fill(
            root,
            &repository,
            &keyring,
            &owner,
            (id, policy, keys),
            event,
        )
    });
    made.inspect_err(|_| keyring::remove_files(&folder))
}

/// Creates the folder of the new keyring, which must be empty: in the store, or elsewhere.
fn keyring_folder(root: &Folder, elsewhere: Option<&Path>) -> Result<Folder> {
    if let Some(path) = elsewhere {
        write_keyring_place(root, &Name::KEYRING_PLACE, path)?;
        return make_vacant(path);
    }
    root.make_private(&Name::KEYRING)
}

/// Writes the first commit, and everything else that makes a folder with a keyring a store.
fn fill(
    root: &Folder,
    repository: &Repository,
    keyring: &Keyring,
    owner: &[Member],
    (id, policy, keys): (StoreId, &Policy, &Keys),
    event: &dyn Fn(ObjectId) -> Result<Event>,
) -> Result<()> {
    let key = keys.signing_key.as_ref().ok_or(Error::NoSigningKey)?;
    let files = [
        ("agekeep.toml", policy.to_file(id)?),
        ("recipients", recipients::to_file(owner)),
        ("signers", Signers::file(OWNER, key)),
    ];
    let mut tree = Tree::new();
    for (name, text) in files {
        let object = Object::public(&text);
        repository.write(&object)?;
        tree.insert(
            name.into(),
            TreeEntry {
                folder: false,
                id: object.id,
            },
        );
    }
    let tree = Object::tree(&tree);
    repository.write(&tree)?;

    let mut event = event(tree.id)?;
    event.replica = keyring.replica();
    event.keys = Some(keyring.commitment()?);
    let message = event.to_message(keyring, |_| None)?;
    let commit = Object::commit(signed_commit(
        tree.id, None, OWNER, key, event.time, &message,
    )?);
    repository.write(&commit)?;
    repository.set_head(commit.id)?;
    Journal::start(root, commit.id)?;
    let lock = root.create_new(&Name::LOCK, 0o600);
    lock.map_err(root.fault("make", &Name::LOCK))?;
    repository.sync()
}

/// Returns the record of `init`, whose commit has this tree.
fn first_event(
    tree: ObjectId,
    policy: &Policy,
    trial: bool,
    context: &Context,
    clock: &Clock,
) -> Result<Event> {
    let redactor = Redactor::of_policy(&policy.redaction)?;
    let mut redactions = Vec::new();
    let said = CallerClaims::of(context, &redactor, &mut redactions);
    let place = (0, None, tree);
    let event = Event::new(INIT_COMMAND, context, said, place, time_of(clock)?);
    Ok(Event {
        redactions,
        trial,
        ..event
    })
}
