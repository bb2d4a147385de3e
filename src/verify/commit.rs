//! Checks one commit on its own and against the previous one; runs on every core.

mod change;

use std::collections::HashMap;
use std::rc::Rc;

use chrono::{DateTime, Utc};

use crate::crypto::digest::Digest;
use crate::crypto::seal::SealKey;
use crate::crypto::sign::{SignedBy, SignerEntry, SignerRole, Signers, Validity};
use crate::error::Result;
use crate::event::command::may_record;
use crate::event::{self, Event, EventFault, INIT_COMMAND, Message, PathOpener, PublicFile};
use crate::id::{MemoryId, ObjectId};
use crate::keyring::Keyring;
use crate::repository::object::{self, Commit, ObjectKind, Outline};
use crate::repository::{Repository, StrictRead};
use crate::verify::findings::Fault;
use crate::verify::tree::RawTree;

/// Folders that one checker caches: more than a store has.
const FOLDERS_MAX: usize = 512;
/// Memories whose keys one checker caches.
const KEYS_MAX: usize = 4_096;

/// The state of history right before a commit.
#[derive(Clone, Default)]
pub(super) struct Before {
    /// True if the commit must be the first of all.
    pub(super) root: bool,
    /// SHA-256 of the previous commit; `None` if that is not known for sure.
    pub(super) digest: Option<Digest>,
    /// The tree of the last commit that could be read.
    pub(super) tree: Option<ObjectId>,
    /// True if that is the commit right before.
    pub(super) certain: bool,
}

/// A memory whose entry in the tree changed.
#[derive(Clone, Copy)]
pub(super) struct BlobChange {
    pub(super) id: MemoryId,
    pub(super) old: Option<ObjectId>,
    pub(super) new: Option<ObjectId>,
}

/// A signer with a limited validity, and the second of the commit.
pub(super) struct ValidityQuestion {
    pub(super) name: String,
    pub(super) validity: Validity,
    pub(super) time: DateTime<Utc>,
}

/// A signer whose role may not allow the command. The replay decides: it knows the earlier events.
pub(super) struct RoleQuestion {
    pub(super) name: String,
    pub(super) role: SignerRole,
    /// The command from the record, or from the subject.
    pub(super) command: String,
}

/// The results of checking one commit.
#[derive(Default)]
pub(super) struct CheckedCommitFacts {
    pub(super) faults: Vec<Fault>,
    /// Bytes of the commit object.
    pub(super) bytes: u64,
    /// Its record, if that belongs to this commit.
    pub(super) event: Option<Event>,
    /// Memories of which a path in the record does not open.
    pub(super) closed: Vec<MemoryId>,
    pub(super) changed: Vec<BlobChange>,
    /// The memories that its trailers name.
    pub(super) named: Vec<MemoryId>,
    /// True if record and tree agree, so that the state can be trusted.
    pub(super) sound: bool,
    /// True if it follows the previous commit, as far as can be known.
    pub(super) linked: bool,
    /// A valid signature by somebody who was no signer then.
    pub(super) stranger: Option<SignedBy>,
    /// A valid signature by a signer whose key has a limited validity.
    pub(super) limited: Option<ValidityQuestion>,
    /// A valid signature by a signer whose role may not allow the command.
    pub(super) beyond: Option<RoleQuestion>,
    /// Its `signers` blob, if that changed.
    pub(super) signers: Option<ObjectId>,
    /// The number of versions it writes.
    pub(super) versions: u64,
    /// Versions it writes that no key of their memory opens.
    pub(super) shut: Vec<(MemoryId, ObjectId)>,
    /// The keys that opened others, of memories that have several: by their places, newest first.
    pub(super) used: Vec<(MemoryId, usize)>,
}

/// A reader and checker of commits; each thread has its own.
pub(super) struct CommitChecker<'a> {
    repository: Repository,
    keyring: Option<&'a Keyring>,
    opener: Option<PathOpener<'a>>,
    /// The keys of memories whose versions were opened.
    keys: HashMap<MemoryId, Option<Vec<SealKey>>>,
    /// The last two root trees: hardly any commit needs another.
    roots: [Option<(ObjectId, Rc<RawTree>)>; 2],
    folders: HashMap<ObjectId, Rc<RawTree>>,
    signers: HashMap<ObjectId, Option<Rc<Signers>>>,
}

impl<'a> CommitChecker<'a> {
    pub(super) fn new(repository: Repository, keyring: Option<&'a Keyring>) -> Self {
        Self {
            repository,
            keyring,
            opener: keyring.map(PathOpener::noting),
            keys: HashMap::new(),
            roots: [None, None],
            folders: HashMap::new(),
            signers: HashMap::new(),
        }
    }

    /// Returns the state of history right after a commit; `None` if the commit cannot be read.
    pub(super) fn after(&self, id: ObjectId) -> Result<Option<Before>> {
        let bytes = self.repository.read_whole(id, ObjectKind::Commit)?;
        Ok(bytes.and_then(|bytes| Some(Before::after(&bytes, &object::outline(&bytes)?))))
    }

    /// Checks a commit, and returns the results and the state of history right after it.
    pub(super) fn check_commit(
        &mut self,
        id: ObjectId,
        before: &Before,
    ) -> Result<(CheckedCommitFacts, Before)> {
        let mut seen = CheckedCommitFacts {
            linked: before.certain || before.root,
            ..CheckedCommitFacts::default()
        };
        let Some(bytes) = self.object(id, ObjectKind::Commit, &mut seen.faults)? else {
            return Ok((seen, before.unreadable()));
        };
        seen.bytes = bytes.len() as u64;
        let Some(outline) = object::outline(&bytes) else {
            seen.faults.push(Fault::new(
                "commit-form",
                "it does not begin with a tree and a parent",
            ));
            return Ok((seen, before.unreadable()));
        };
        let after = Before::after(&bytes, &outline);
        let commit = form(&bytes, outline.signed, &mut seen.faults);
        let said = commit.as_ref().and_then(|commit| {
            let said = MessageHeader::parse(&commit.message);
            if said.is_none() {
                let what = "its message is not a subject, a record and trailers";
                seen.faults.push(Fault::new("commit-form", what));
            }
            said
        });
        if let Some(said) = &said {
            seen.named.clone_from(&said.memories);
            check_chain(said, before, &mut seen);
        }
        if let (Some(commit), Some(said)) = (&commit, &said) {
            self.open_record(commit, said, before, &mut seen);
        }
        self.check_tree(outline.tree, before, said.as_ref(), &mut seen)?;
        if let Some(commit) = commit.as_ref().filter(|_| outline.signed) {
            self.check_signature(commit, said.as_ref(), before, outline.tree, &mut seen)?;
        }
        Ok((seen, after))
    }

    /// Reads an object of a kind. An unreadable one is a fault, not an error.
    fn object(
        &self,
        id: ObjectId,
        kind: ObjectKind,
        faults: &mut Vec<Fault>,
    ) -> Result<Option<Vec<u8>>> {
        read_object(&self.repository, id, kind, faults)
    }

    /// Reads a root tree.
    fn root(&mut self, id: ObjectId, faults: &mut Vec<Fault>) -> Result<Option<Rc<RawTree>>> {
        let known = self.roots.iter().flatten().find(|(known, _)| *known == id);
        if let Some((_, tree)) = known {
            return Ok(Some(tree.clone()));
        }
        let tree = self.read_tree(id, faults)?;
        if let Some(tree) = &tree {
            self.roots.swap(0, 1);
            self.roots[1] = Some((id, tree.clone()));
        }
        Ok(tree)
    }

    /// Reads the tree of a folder.
    fn folder(&mut self, id: ObjectId, faults: &mut Vec<Fault>) -> Result<Option<Rc<RawTree>>> {
        if let Some(tree) = self.folders.get(&id) {
            return Ok(Some(tree.clone()));
        }
        let tree = self.read_tree(id, faults)?;
        if self.folders.len() >= FOLDERS_MAX {
            self.folders.clear();
        }
        if let Some(tree) = &tree {
            self.folders.insert(id, tree.clone());
        }
        Ok(tree)
    }

    fn read_tree(&self, id: ObjectId, faults: &mut Vec<Fault>) -> Result<Option<Rc<RawTree>>> {
        let Some(bytes) = self.object(id, ObjectKind::Tree, faults)? else {
            return Ok(None);
        };
        let Some(tree) = RawTree::parse(&bytes) else {
            let what = format!("the tree {id} does not parse");
            faults.push(Fault::of_object("tree-form", id, what));
            return Ok(None);
        };
        if !tree.ordered {
            let what = format!("the tree {id} is not in order");
            faults.push(Fault::of_object("tree-form", id, what));
        }
        Ok(Some(Rc::new(tree)))
    }

    /// Opens the record and compares it with its commit.
    fn open_record(
        &self,
        commit: &Commit,
        said: &MessageHeader<'_>,
        before: &Before,
        seen: &mut CheckedCommitFacts,
    ) {
        let Some(opener) = &self.opener else { return };
        let event = said.message.open(opener);
        let closed = opener.take_closed();
        let event = match event {
            Ok(event) => event,
            Err(fault) => return seen.faults.push(record_fault(&fault)),
        };
        let follows = event.parent == before.digest || (before.digest.is_none() && !before.root);
        if event.tree != commit.tree || !follows {
            let what = "its record belongs to another commit";
            return seen.faults.push(Fault::new("record-swapped", what));
        }
        if seen.linked
            && let Err(why) = said.message.check(&event)
        {
            seen.faults.push(Fault::new("record-mismatch", why));
        }
        let seconds = commit.author.rsplit(' ').nth(1);
        if seconds != Some(event.time.timestamp().to_string().as_str()) {
            let what = "its commit does not have the second of its record";
            seen.faults.push(Fault::new("time-author", what));
        }
        let odd = |t: &&crate::event::MemoryChange| t.blob.is_some() != t.change.writes();
        if event.memories.iter().any(|touch| odd(&touch)) {
            let what = "its record names a blob where none is written, or none where one is";
            seen.faults.push(Fault::new("record-malformed", what));
        }
        seen.closed = closed;
        seen.event = Some(event);
    }

    /// Checks the signature, and that its key belongs to a signer of the previous commit: nobody
    /// can add their own key.
    fn check_signature(
        &mut self,
        commit: &Commit,
        said: Option<&MessageHeader<'_>>,
        before: &Before,
        own_tree: ObjectId,
        seen: &mut CheckedCommitFacts,
    ) -> Result<()> {
        let Some(signed) = SignedBy::check(&commit.signed_bytes, &commit.signature) else {
            let what = "its signature is not one over it";
            seen.faults.push(Fault::new("signature", what));
            return Ok(());
        };
        // Faults of these trees were reported already.
        let tree = self.root(before.tree.unwrap_or(own_tree), &mut Vec::new())?;
        let Some(blob) = tree.and_then(|tree| tree.file("signers")) else {
            return Ok(());
        };
        let Some(signers) = self.signers(blob)? else {
            return Ok(());
        };
        let Some(entry) = signers.holder(&signed) else {
            seen.stranger = Some(signed);
            return Ok(());
        };
        seen.beyond = beyond(entry, seen.event.as_ref(), said);
        if before.root
            && let Err(what) = signers.founder(&signed)
        {
            seen.faults.push(Fault::new("signer", what));
        }
        let name = entry.name();
        let begin = format!("{name} <{name}@agekeep> ");
        let rest = commit.author.strip_prefix(&begin);
        let seconds = rest.and_then(|rest| rest.strip_suffix(" +0000"));
        let time = seconds
            .filter(|s| s.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|s| DateTime::from_timestamp(s.parse().ok()?, 0));
        let Some(time) = time else {
            let what = format!("its author is not {name:?}, who signed it");
            seen.faults.push(Fault::new("author", what));
            return Ok(());
        };
        seen.limited = (entry.validity() != Validity::default()).then(|| ValidityQuestion {
            name: name.to_owned(),
            validity: entry.validity(),
            time,
        });
        Ok(())
    }

    fn signers(&mut self, blob: ObjectId) -> Result<Option<Rc<Signers>>> {
        if let Some(known) = self.signers.get(&blob) {
            return Ok(known.clone());
        }
        let signers = read_signers(&self.repository, blob)?.map(Rc::new);
        self.signers.insert(blob, signers.clone());
        Ok(signers)
    }
}

/// Returns the signer if it must be checked whether the role allows the command. Only an owner may
/// give every known command.
fn beyond(
    signer: &SignerEntry,
    event: Option<&Event>,
    said: Option<&MessageHeader<'_>>,
) -> Option<RoleQuestion> {
    let command = match event {
        Some(event) => &event.command,
        None => said?.command,
    };
    let role = signer.role();
    let is_free = role == SignerRole::Owner && may_record(role, command);
    (!is_free).then(|| RoleQuestion {
        name: signer.name().to_owned(),
        role,
        command: command.to_owned(),
    })
}

impl Before {
    fn after(commit: &[u8], outline: &Outline) -> Self {
        Self {
            root: false,
            digest: Some(Digest::of(commit)),
            tree: Some(outline.tree),
            certain: true,
        }
    }

    fn unreadable(&self) -> Self {
        Self {
            root: false,
            digest: None,
            tree: self.tree,
            certain: false,
        }
    }
}

/// Reads an object of a kind. An unreadable one is a fault.
pub(super) fn read_object(
    repository: &Repository,
    id: ObjectId,
    kind: ObjectKind,
    faults: &mut Vec<Fault>,
) -> Result<Option<Vec<u8>>> {
    let name = kind.name();
    let (finding, what) = match repository.read_strictly(id)? {
        StrictRead::Whole(found, bytes) if found == kind => return Ok(Some(bytes)),
        StrictRead::Whole(found, _) => {
            let what = format!("the object {id} is a {}, not a {name}", found.name());
            ("object-damaged", what)
        }
        StrictRead::Missing => ("object-missing", format!("the {name} {id} is missing")),
        StrictRead::Damaged(why, _) => ("object-damaged", format!("the {name} {id}: {why}")),
    };
    faults.push(Fault::of_object(finding, id, what));
    Ok(None)
}

/// Reads the signers in a blob; `None` if it cannot be read or does not parse.
pub(super) fn read_signers(repository: &Repository, blob: ObjectId) -> Result<Option<Signers>> {
    let text = read_text(repository, blob)?;
    Ok(text.and_then(|text| Signers::parse(&text).ok()))
}

/// Reads a blob as text; `None` if it cannot be read or is none.
pub(super) fn read_text(repository: &Repository, blob: ObjectId) -> Result<Option<String>> {
    let bytes = repository.read_whole(blob, ObjectKind::Blob)?;
    Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
}

/// Reads the outline of a commit; `None` if it cannot be read.
pub(super) fn read_outline(repository: &Repository, commit: ObjectId) -> Result<Option<Outline>> {
    let bytes = repository.read_whole(commit, ObjectKind::Commit)?;
    Ok(bytes.and_then(|bytes| object::outline(&bytes)))
}

/// Parses a commit in the one form a store writes. An unsigned commit is reported, and
/// parsed as if it were signed.
fn form(bytes: &[u8], signed: bool, faults: &mut Vec<Fault>) -> Option<Commit> {
    if let Some(commit) = object::parse_commit(bytes) {
        if commit.merged.is_none() {
            return Some(commit);
        }
        let what =
            "it is a merge of two histories, which this version of agekeep does not read yet";
        faults.push(Fault::new("merge", what));
        return None;
    }
    let otherwise = (!signed)
        .then(|| object::parse_commit(&object::add_signature(bytes, "none")))
        .flatten();
    faults.push(match otherwise {
        Some(_) => Fault::new("unsigned", "it has no signature"),
        None => Fault::new(
            "commit-form",
            "it has parents or headers that agekeep does not write",
        ),
    });
    otherwise
}

/// Checks the commit's link to the previous one.
fn check_chain(said: &MessageHeader<'_>, before: &Before, seen: &mut CheckedCommitFacts) {
    let broken = match (before.root, said.chain) {
        (true, None) => {
            if said.command != INIT_COMMAND {
                let what = "history begins with it, and it is no `init`";
                seen.faults.push(Fault::new("history-broken", what));
            }
            return;
        }
        (true, Some(_)) => {
            seen.linked = false;
            let what = "history begins with it, and it says that a commit came before";
            return seen.faults.push(Fault::new("history-broken", what));
        }
        (false, None) => true,
        (false, Some(chain)) => before.digest.is_some_and(|digest| digest != chain),
    };
    if broken {
        seen.linked = false;
        let what = "its Chain trailer is not the SHA-256 of the commit before";
        seen.faults.push(Fault::new("chain", what));
    }
}

fn record_fault(fault: &EventFault) -> Fault {
    match fault {
        EventFault::Unreadable(why) => Fault::new("record-closed", *why),
        EventFault::Damaged(why) => Fault::new("record-malformed", *why),
        EventFault::Unknown(found) => {
            let what = format!("its record has the format version {found}, not known here");
            Fault::new("record-malformed", what)
        }
    }
}

// The unencrypted parts of a commit message.

/// The subject and trailers of a commit.
struct MessageHeader<'a> {
    message: Message<'a>,
    command: &'a str,
    outcome: &'a str,
    memories: Vec<MemoryId>,
    /// The digest of the previous commit; `None` if there is none.
    chain: Option<Digest>,
}

impl<'a> MessageHeader<'a> {
    /// Parses a message in the form a store writes.
    fn parse(text: &'a str) -> Option<Self> {
        let message = Message::split(text).ok()?;
        let (command, outcome) = message.subject.split_once(' ')?;
        let word = |c: char| c.is_ascii_lowercase() || c == '_';
        let known = matches!(outcome, "ok" | "error" | "denied");
        if command.is_empty() || !command.chars().all(word) || !known {
            return None;
        }
        let (before, last) = match message.trailers.strip_suffix('\n')?.rsplit_once('\n') {
            Some((before, last)) => (Some(before), last),
            None => (None, message.trailers.trim_end()),
        };
        let memories = before.into_iter().flat_map(|lines| lines.split('\n'));
        let chain = match last.strip_prefix("Chain: ")? {
            "none" => None,
            chain => Some(Digest::from_hex(chain.strip_prefix("sha256:")?)?),
        };
        Some(Self {
            command,
            outcome,
            memories: memories.map(event::named_memory).collect::<Option<_>>()?,
            chain,
            message,
        })
    }

    /// Tells whether it may change memories at all.
    fn may_write(&self) -> bool {
        self.outcome == "ok" && event::may_alter(self.command)
    }

    /// Returns the public file it may replace.
    fn decides(&self) -> Option<PublicFile> {
        PublicFile::changed_by(self.command).filter(|_| self.outcome == "ok")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_form_is_read() {
        let id = "3f0c00000000000000000000000000aa";
        let chain = format!("Chain: sha256:{}", "0".repeat(64));
        let good = format!("create ok\n\n-----BEGIN\n-----END\n\nMemory: {id}\n{chain}\n");
        let said = MessageHeader::parse(&good).expect("a message");
        assert_eq!((said.command, said.memories.len()), ("create", 1));
        assert!(said.may_write() && said.chain.is_some());
        assert!(MessageHeader::parse("init ok\n\nx\n\nChain: none\n").is_some());
        for bad in [
            good.trim_end().to_owned(),
            good.clone() + "\n",
            good.clone() + "More: x\n",
            good.replace("create ok", "create"),
            good.replace("create ok", "create fine"),
            good.replace("create ok", "Create ok"),
            good.replace("Memory: 3f", "Memory: 3F"),
            good.replace("Memory:", "Memoir:"),
            good.replace("sha256:0", "sha256:"),
            good.replace(&chain, ""),
            "hello\n".to_owned(),
            String::new(),
        ] {
            assert!(MessageHeader::parse(&bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn looks_and_refusals_write_nothing() {
        for subject in ["view ok", "create error", "delete denied", "policy_set ok"] {
            let message = format!("{subject}\n\nx\n\nChain: none\n");
            let said = MessageHeader::parse(&message).expect("a message");
            assert!(!said.may_write(), "{subject}");
        }
    }
}
