//! Making a store: all of it beside its place, then one rename.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::disk::{self, Lock};
use crate::error::{Error, Result};
use crate::event::{Context, Event, Outcome, Said};
use crate::id::{StoreId, hex};
use crate::journal::Journal;
use crate::keyring::{self, Keyring};
use crate::pin::Place;
use crate::policy::Policy;
use crate::recipients::{self, Member, Role};
use crate::redact::{self, Redactor};
use crate::repository::Repository;
use crate::repository::object::{Entry, Object, ObjectId, Tree};
use crate::sign::Signers;

use super::commit::{signed_commit, time_of};
use super::decide::check_texts;
use super::{Clock, Keys, OWNER, Store};

/// Begins the name of a folder in which a store is made.
const BUILDING: &str = ".agekeep-init-";

impl Store {
    /// Checks that a store can be made at `root`: nothing is there, or an empty folder.
    ///
    /// # Errors
    /// [`Error::StoreExists`] or [`Error::NotEmpty`] if `root` is taken.
    pub fn check_vacant(root: &Path) -> Result<()> {
        let path = || root.to_owned();
        match fs::read_dir(root) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(Error::io("read", root)(e)),
            Ok(_) if root.join("keyring").exists() || root.join("journal").exists() => {
                Err(Error::StoreExists { path: path() })
            }
            Ok(entries) => {
                // What another process is building, or left half built, is not in the way.
                let building = |name: &str| name.starts_with(BUILDING);
                let mut others = entries.flatten().map(|entry| entry.file_name());
                if others.any(|name| !name.to_str().is_some_and(building)) {
                    return Err(Error::NotEmpty { path: path() });
                }
                Ok(())
            }
        }
    }

    /// Makes a store at `root` that `keys` can read and write, and opens it.
    ///
    /// # Errors
    /// [`Error::StoreExists`] or [`Error::NotEmpty`] if `root` is taken; for a policy as
    /// [`Store::set_policy`].
    pub fn init(
        root: &Path,
        keys: Keys,
        policy: &Policy,
        context: &Context,
        clock: Clock,
    ) -> Result<Self> {
        Self::check_vacant(root)?;
        check_apart(root, policy)?;
        redact::check_policy(&policy.redaction)?;
        check_texts(policy, &Redactor::of_policy(&policy.redaction)?)?;
        // An empty folder that is there already stays the same folder: somebody may stand in it.
        let there = root.is_dir();
        let lock = there.then(|| Lock::of_folder(root)).transpose()?;
        if there {
            Self::check_vacant(root)?;
        }
        let name = format!("{BUILDING}{}", hex(&crate::aead::random::<8>()));
        let above = match root.parent() {
            _ if there => root,
            Some(above) if !above.as_os_str().is_empty() => above,
            _ => Path::new("."),
        };
        fs::create_dir_all(above).map_err(Error::io("make", above))?;
        let building = above.join(name);
        let made = build(&building, &keys, policy, context, &clock).and_then(|()| {
            if there {
                move_into(&building, root).and_then(|()| disk::sync_folder(above))
            } else {
                put_in_place(&building, root, above)
            }
        });
        if let Err(error) = made {
            drop(fs::remove_dir_all(&building));
            return Err(error);
        }
        drop(lock);
        if let Some(state) = &keys.state {
            // Whoever makes a store has decided what is here from now on.
            Place::of(state, root)?.forget()?;
        }
        let mut store = Self::open(root, keys, clock)?;
        // From the first event on, so that it never has to be made from all of history.
        store.locked(Self::load_timeline)?;
        Ok(store)
    }
}

/// Refuses a keyring that would be within what is being made, or around it.
fn check_apart(root: &Path, policy: &Policy) -> Result<()> {
    let Some(folder) = &policy.keyring.folder else {
        return Ok(());
    };
    let root = std::path::absolute(root).map_err(Error::io("find", root))?;
    if Path::new(folder).starts_with(&root) || root.starts_with(folder) {
        return Err(Error::Invalid {
            what: "the keyring's folder",
            why: "it is in the store's folder, or the store in it".into(),
        });
    }
    Ok(())
}

/// Puts what was built in its place, durably. Where that cannot be made durable nothing is left there.
fn put_in_place(building: &Path, root: &Path, above: &Path) -> Result<()> {
    fs::rename(building, root).map_err(|e| match e.kind() {
        io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => {
            Error::StoreExists { path: root.into() }
        }
        _ => Error::io("make", root)(e),
    })?;
    disk::sync_folder(above).inspect_err(|_| drop(fs::rename(root, building)))
}

/// Moves what was built up into `root`, and last the file that makes it a store.
fn move_into(building: &Path, root: &Path) -> Result<()> {
    let entries = [
        "objects", "refs", "config", "keyring", "journal", "lock", "HEAD",
    ];
    for name in entries {
        let (from, to) = (building.join(name), root.join(name));
        // The keyring can have a place of its own.
        if name == "keyring" && !from.exists() {
            continue;
        }
        if to.exists() {
            return Err(Error::StoreExists { path: root.into() });
        }
        fs::rename(from, &to).map_err(Error::io("make", &to))?;
    }
    fs::remove_dir(building).map_err(Error::io("remove", building))?;
    let private = fs::Permissions::from_mode(0o700);
    fs::set_permissions(root, private).map_err(Error::io("protect", root))
}

fn build(
    root: &Path,
    keys: &Keys,
    policy: &Policy,
    context: &Context,
    clock: &Clock,
) -> Result<()> {
    disk::make_private_folder(root)?;
    let id = StoreId::random();
    let owner = Member {
        role: Role::Reader,
        name: OWNER.into(),
        recipient: keys.identity.recipient()?,
    };
    let repository = Repository::create(root)?;
    let folder = policy.keyring.folder_of(root);
    if policy.keyring.folder.is_some()
        && fs::read_dir(&folder).is_ok_and(|mut in_it| in_it.next().is_some())
    {
        return Err(Error::NotEmpty { path: folder });
    }
    let owner = [owner];
    let made = Keyring::create(&folder, id, &owner, &keys.identity).and_then(|keyring| {
        fill(
            root,
            &repository,
            &keyring,
            &owner,
            (id, policy, keys),
            (context, clock),
        )
    });
    // Below the store's folder it goes with that.
    made.inspect_err(|_| {
        for name in keyring::FILES {
            drop(fs::remove_file(folder.join(name)));
        }
    })
}

/// The first commit, and what else makes a folder with a keyring a store.
fn fill(
    root: &Path,
    repository: &Repository,
    keyring: &Keyring,
    owner: &[Member],
    (id, policy, keys): (StoreId, &Policy, &Keys),
    (context, clock): (&Context, &Clock),
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
            Entry {
                folder: false,
                id: object.id,
            },
        );
    }
    let tree = Object::tree(&tree);
    repository.write(&tree)?;

    let event = first_event(tree.id, policy, context, clock)?;
    let message = event.to_message(keyring, |_| None)?;
    let commit = Object::commit(signed_commit(
        tree.id, None, OWNER, key, event.time, &message,
    )?);
    repository.write(&commit)?;
    repository.set_head(commit.id)?;
    Journal::start(&root.join("journal"), commit.id)?;
    disk::create_new(&root.join("lock"), 0o600).map_err(Error::io("make", &root.join("lock")))?;
    repository.sync()
}

/// The record of `init`.
fn first_event(tree: ObjectId, policy: &Policy, context: &Context, clock: &Clock) -> Result<Event> {
    let redactor = Redactor::of_policy(&policy.redaction)?;
    let mut redactions = Vec::new();
    let said = Said::of(context, &redactor, &mut redactions);
    Ok(Event {
        number: 0,
        parent: None,
        tree,
        time: time_of(clock)?,
        clock_behind_ms: None,
        command: "init".into(),
        outcome: Outcome::Ok,
        error: None,
        door: context.door.unwrap_or("library").into(),
        actor: said.actor,
        session: said.session,
        tool_use_id: said.tool_use_id,
        client: said.client,
        trace: said.trace,
        reason: said.reason,
        path: None,
        new_path: None,
        memories: Vec::new(),
        rules: Some(redact::VERSION),
        redactions,
        at: Vec::new(),
        undone: Vec::new(),
        lost: None,
        member: None,
        hold: None,
        receipt: None,
        clock_accepted: false,
    })
}
