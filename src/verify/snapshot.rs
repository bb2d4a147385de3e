//! Opens the store at one moment, under its lock: the end of history, the keys, the cache.
//!
//! After an unclean stop this restores objects and keys as an open does. Apart from that it changes
//! nothing. What an open would refuse is a finding here, and verification goes on.

use std::collections::HashMap;

use crate::crypto::recipients::{self, Member};
use crate::disk::{self, Folder, Lock, Name};
use crate::error::{Error, Result};
use crate::id::{ObjectId, StoreId};
use crate::journal::{self, Journal};
use crate::keyring::{self, Keyring};
use crate::policy::Policy;
use crate::repository::object::ObjectKind;
use crate::repository::{Repository, name};
use crate::state::catalog::file::CatalogFile;
use crate::state::catalog::{Catalog, ConfigBlobs};
use crate::store::{self, PendingRecovery};
use crate::verify::commit::{read_outline, read_text};
use crate::verify::findings::{Fault, Findings};
use crate::verify::tree::RawTree;
use crate::verify::{Options, claims, layout, walk};

/// The store as it was at that moment.
pub(super) struct StoreSnapshot {
    pub(super) repository: Repository,
    /// The end of history; `None` if nothing gives it.
    pub(super) head: Option<ObjectId>,
    pub(super) store: Option<StoreId>,
    pub(super) keyring: Option<Keyring>,
    /// The state in the catalog file, if that opens.
    pub(super) cached: Option<Catalog>,
    /// The parents of recent commits, from the journal.
    pub(super) parents: HashMap<ObjectId, ObjectId>,
    /// Sentences on what limits a verification here, though it is as it should be.
    pub(super) notes: Vec<String>,
}

impl StoreSnapshot {
    /// Returns a store of which nothing can be read.
    pub(super) fn nothing(root: &Folder) -> Self {
        Self {
            repository: Repository::open_lenient(root, journal::find),
            head: None,
            store: None,
            keyring: None,
            cached: None,
            parents: HashMap::new(),
            notes: Vec::new(),
        }
    }
}

/// Opens the store. Adds one sentence to `not_checked` for each check that cannot be made. `end` is
/// where history is to end, if something else than the store says so.
pub(super) fn open(
    root: &Folder,
    options: &Options,
    end: Option<ObjectId>,
    findings: &mut Findings,
    not_checked: &mut Vec<String>,
) -> Result<StoreSnapshot> {
    let identity = options.identity.as_ref();
    if !root.has(&Name::HEAD) && !root.has(&Name::KEYRING) {
        let path = root.path().into();
        return Err(Error::NoStore { path });
    }
    let lock = Lock::acquire(root)?;
    layout::check(root, findings);
    let repository = Repository::open_lenient(root, journal::find);
    let mut notes = Vec::new();
    let journal = open_journal(root, findings, &mut notes)?;
    let mut parents = HashMap::new();
    let mut unclean = None;
    let branch = read_branch(&repository, findings)?;
    if let Some(journal) = &journal {
        read_journal(journal, &mut parents, findings)?;
        if branch.is_some() {
            unclean = restore(&repository, journal, findings)?;
        }
    }
    let branch = branch.flatten();
    if branch.is_none() && journal.is_none() && !root.has(&Name::KEYRING) {
        // An empty repository, and nothing that a store leaves.
        let path = root.path().into();
        return Err(Error::NoStore { path });
    }
    let head = find_head(&repository, branch, journal.as_ref(), findings)?;
    let policy = match head {
        Some(head) => policy_at(&repository, head)?,
        None => None,
    };
    let store = policy.as_ref().map(|(store, _)| *store);
    let policy = policy.map(|(_, policy)| policy).unwrap_or_default();
    let folder = store::keyring_at(root, options.keyring.as_deref(), &policy);
    if let (Some(unclean), Ok(folder)) = (&unclean, &folder) {
        unclean.place_keyring(folder)?;
    }
    if let (Some(state), Some(head), Some(store)) = (&options.state, head, store) {
        claims::check_pin(
            &repository,
            end.unwrap_or(head),
            (state, root.path()),
            store,
            findings,
            not_checked,
        )?;
    }
    let mut keyring = match (identity, store) {
        (None, _) => {
            not_checked.push("records, keys and contents: there is no identity".into());
            check_keyring_is_there(folder, findings);
            None
        }
        (Some(_), None) => {
            not_checked.push(
                "records, keys and contents: the newest commit does not say which store it is"
                    .into(),
            );
            None
        }
        (Some(identity), Some(store)) => {
            // Keys that come along are those of the members at the end of what comes.
            let coming = end.and_then(|end| members_at(&repository, Some(end)).ok());
            let members = coming.map_or_else(|| members_at(&repository, head), Ok)?;
            let keyring =
                folder.and_then(|folder| Keyring::open_of(&folder, store, identity, &members));
            opened_keyring(keyring, findings, not_checked)?
        }
    };
    if let (Some(unclean), Some(keyring), Some(mut journal)) = (unclean, &mut keyring, journal) {
        unclean.finish(&repository, keyring)?;
        store::checkpoint(&repository, keyring, &mut journal)?;
    }
    let cached = keyring.as_ref().and_then(|keyring| {
        let mut cached = Catalog::empty();
        let name = keyring.cache_name(Name::CATALOG, Name::AUDITORS_CATALOG);
        let mut file = CatalogFile::new(root, name, keyring.store());
        file.load(&mut cached, keyring.cache_key());
        // A file that does not open counts as absent.
        (cached.head.is_some() && cached.is_whole()).then_some(cached)
    });
    // The lock can go: from here on history and key entries only grow.
    drop(lock);
    Ok(StoreSnapshot {
        repository,
        head: end.or(head),
        store,
        keyring,
        cached,
        parents,
        notes,
    })
}

fn open_journal(
    root: &Folder,
    findings: &mut Findings,
    notes: &mut Vec<String>,
) -> Result<Option<Journal>> {
    if !root.has(&Name::JOURNAL) {
        notes.push(
            "there is no journal, as in a fresh clone: history ends where the branch says".into(),
        );
        return Ok(None);
    }
    match Journal::open(root) {
        Ok(journal) => Ok(Some(journal)),
        Err(error @ (Error::Damaged { .. } | Error::UnknownFormat { .. })) => {
            findings.add_outside(Fault::new("journal", error.to_string()));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Checks that the journal's records form one line of commits, and its objects hash to their names.
fn read_journal(
    journal: &Journal,
    parents: &mut HashMap<ObjectId, ObjectId>,
    findings: &mut Findings,
) -> Result<()> {
    let records = match journal.records() {
        Ok(records) => records,
        Err(error @ Error::Damaged { .. }) => {
            findings.add_outside(Fault::new("journal", error.to_string()));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let mut head = None;
    for record in &records {
        if head.is_some_and(|head| head != record.parent) {
            let what = "a record in it does not follow the one before";
            findings.add_outside(Fault::new("journal", what));
        }
        head = Some(record.head);
        parents.insert(record.head, record.parent);
        for object in &record.objects {
            if name(object.kind, &object.bytes) == object.id {
                findings.journaled.insert(object.id);
            } else {
                let what = format!("what it holds as {} does not hash to that", object.id);
                findings.add_outside(Fault::new("journal", what));
            }
        }
    }
    Ok(())
}

fn restore(
    repository: &Repository,
    journal: &Journal,
    findings: &mut Findings,
) -> Result<Option<PendingRecovery>> {
    let trusted = !journal.is_from_another_boot();
    let (id, error) = match store::restore_objects(repository, journal, trusted) {
        Ok(unclean) => return Ok(unclean),
        Err(error @ Error::HeadMoved { .. }) => ("head", error),
        Err(error @ Error::Damaged { .. }) => ("journal", error),
        Err(error) => return Err(error),
    };
    // The journal was read a moment ago, and its own faults were reported then.
    if id == "head" || findings.total == 0 {
        findings.add_outside(Fault::new(id, error.to_string()));
    }
    Ok(None)
}

/// Returns the branch's commit; `None` if something else is in the place of its file, which is
/// never overwritten.
#[allow(clippy::option_option)] // no branch is another thing than one that cannot be read
fn read_branch(
    repository: &Repository,
    findings: &mut Findings,
) -> Result<Option<Option<ObjectId>>> {
    match repository.head() {
        Err(error @ Error::Damaged { .. }) => {
            findings.add_outside(Fault::new("head", error.to_string()));
            Ok(None)
        }
        branch => branch.map(Some),
    }
}

/// Returns the end of the history to verify: the journal's head, or the branch's commit if that is
/// neither known to the journal nor an ancestor of its head.
fn find_head(
    repository: &Repository,
    branch: Option<ObjectId>,
    journal: Option<&Journal>,
    findings: &mut Findings,
) -> Result<Option<ObjectId>> {
    let Some(journal) = journal else {
        if branch.is_none() {
            let what = "neither the branch nor a journal says where history ends";
            findings.add_outside(Fault::new("head", what));
        }
        return Ok(branch);
    };
    let acknowledged = journal.head();
    let Some(branch) = branch.filter(|branch| !journal.knows(*branch)) else {
        return Ok(Some(acknowledged));
    };
    let dropped = walk::descends(repository, acknowledged, branch)?;
    Ok(Some(if dropped { acknowledged } else { branch }))
}

/// Returns the tree of a commit, if the commit can be read.
pub(super) fn tree_of(repository: &Repository, commit: ObjectId) -> Result<Option<ObjectId>> {
    Ok(read_outline(repository, commit)?.map(|outline| outline.tree))
}

/// Returns the three public files in the tree of a commit, as far as they can be read.
pub(super) fn config_blobs_at(
    repository: &Repository,
    commit: ObjectId,
) -> Result<Option<ConfigBlobs>> {
    let Some(tree) = tree_of(repository, commit)? else {
        return Ok(None);
    };
    let bytes = repository.read_whole(tree, ObjectKind::Tree)?;
    Ok(bytes.and_then(|bytes| {
        let tree = RawTree::parse(&bytes)?;
        Some(ConfigBlobs {
            policy: tree.file("agekeep.toml")?,
            recipients: tree.file("recipients")?,
            signers: tree.file("signers")?,
        })
    }))
}

/// Returns the policy of a commit, and the store id in it.
fn policy_at(repository: &Repository, commit: ObjectId) -> Result<Option<(StoreId, Policy)>> {
    let Some(decided) = config_blobs_at(repository, commit)? else {
        return Ok(None);
    };
    let text = read_text(repository, decided.policy)?;
    Ok(text.and_then(|text| Policy::parse_file(&text).ok()))
}

/// Returns the members of the store by its newest commit; none if that cannot be read.
fn members_at(repository: &Repository, head: Option<ObjectId>) -> Result<Vec<Member>> {
    let decided = match head {
        Some(head) => config_blobs_at(repository, head)?,
        None => None,
    };
    let Some(decided) = decided else {
        return Ok(Vec::new());
    };
    let text = read_text(repository, decided.recipients)?;
    let members = text.and_then(|text| recipients::parse(&text).ok());
    Ok(members.unwrap_or_default())
}

/// Checks that the keyring's files exist, for a run without an identity to open them.
fn check_keyring_is_there(folder: Result<Folder>, findings: &mut Findings) {
    let folder = match folder {
        Ok(folder) => folder,
        Err(error) => return findings.add_outside(keyring_fault(&error)),
    };
    for name in &keyring::FILES {
        let fault = match folder.has_that_is(name, disk::FileKind::File) {
            Ok(true) => continue,
            Ok(false) => {
                let what = format!("the keyring file {} is missing", name.as_str());
                Fault::new("keyring-missing", what)
            }
            Err(error) => keyring_fault(&folder.fault("read", name)(error)),
        };
        findings.add_outside(fault);
    }
}

/// Returns the fault of a keyring that does not open. One that is not there is no damage.
fn keyring_fault(error: &Error) -> Fault {
    let id = match error {
        Error::NoKeyring { .. } => "keyring-missing",
        _ => "keyring",
    };
    Fault::new(id, error.to_string())
}

fn opened_keyring(
    keyring: Result<Keyring>,
    findings: &mut Findings,
    not_checked: &mut Vec<String>,
) -> Result<Option<Keyring>> {
    let why = match keyring {
        Ok(keyring) => {
            for problem in keyring.problems() {
                findings.add_outside(Fault::new("keyring", problem));
            }
            return Ok(Some(keyring));
        }
        Err(Error::NotARecipient { .. }) => "your identity cannot decrypt the keyring",
        Err(
            error @ (Error::NoKeyring { .. } | Error::Damaged { .. } | Error::UnknownFormat { .. }),
        ) => {
            findings.add_outside(keyring_fault(&error));
            "the keyring cannot be decrypted"
        }
        Err(error) => return Err(error),
    };
    not_checked.push(format!("records, keys and contents: {why}"));
    Ok(None)
}
