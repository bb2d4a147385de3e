//! A backup of the keyring, and mail from one machine to others: files of the keyring, or what was
//! added to them, in one age file.
//!
//! The files are encrypted already. The age file around them hides how many memories there are and
//! their ids, and gives both one form that stock age opens: a line of JSON, then the files. A backup
//! is encrypted to members, mail to the mailboxes of machines.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::crypto::digest::Digest;
use crate::crypto::recipients::{self, Member};
use crate::crypto::seal::{Identity, OpenFault, Recipient, SealKey, Sealed, Unlock, Unopened};
use crate::disk::{FileKind, Folder, Name, StagedKeyringId};
use crate::error::{Error, Result};
use crate::id::{ObjectId, StoreId};
use crate::journal::KeyEntry;
use crate::keyring::{FILES, Keyring, files, mailbox, rotation, table};

/// The form of the first line.
const SCHEMA: &str = "agekeep.keyring/1";
/// Most bytes of the four files together.
pub(crate) const BYTES_MAX: usize = 1 << 30;
/// Most bytes of the first line.
const LINE_BYTES_MAX: usize = 4096;

/// Whom a backup is for: everybody who can open the files in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The four files, for readers.
    Readers,
    /// The two files that an auditor opens, for auditors.
    Auditors,
}

static OF_READERS: [Name; 4] = FILES;
static OF_AUDITORS: [Name; 2] = [Name::NAMES, Name::AUDIT];

impl Audience {
    fn files(self) -> &'static [Name] {
        match self {
            Self::Readers => &OF_READERS,
            Self::Auditors => &OF_AUDITORS,
        }
    }

    /// The files that grow, with which mail can go on where a copy ends.
    fn tables(self) -> &'static [Name] {
        match self {
            Self::Readers => &OF_READERS[..2],
            Self::Auditors => &OF_AUDITORS[..1],
        }
    }
}

/// The mailbox of a machine whose owner is a reader. What is sent there has keys of contents.
pub(crate) struct ReaderMailbox(pub(crate) Recipient);

/// The mailbox of a machine whose owner is an auditor.
pub(crate) struct AuditorMailbox(pub(crate) Recipient);

/// The first line: whose keyring it is, of which moment, and which files follow.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    schema: String,
    store: String,
    event: u64,
    commit: String,
    files: Vec<ListedFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedFile {
    name: String,
    /// Where in the file these bytes belong, if they are not all of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    from: u64,
    bytes: usize,
    sha256: String,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's form
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A file of a keyring, or its end from some byte on.
type FilePiece = (Name, u64, Vec<u8>);

/// Encrypts a keyring to those who may open it. The event and its commit are where history ends, which
/// names these keys.
pub(crate) fn make(
    folder: &Folder,
    store: StoreId,
    end: (u64, ObjectId),
    (audience, recipients): (Audience, &[Recipient]),
    unlock: &Arc<dyn Unlock>,
) -> Result<Vec<u8>> {
    let files = audience.files().iter();
    let pieces = files.map(|name| {
        let bytes = folder.read(name).map_err(folder.fault("read", name))?;
        Ok((name.clone(), 0, bytes))
    });
    let pieces = pieces.collect::<Result<Vec<_>>>()?;
    Ok(packed(store, end, &pieces, recipients, unlock)?.into_bytes())
}

/// Encrypts to mailboxes of readers what they lack: all of the keyring, or, if they have its keys,
/// the entries after the first of each table. Requires the store's lock and a reader.
pub(crate) fn mail_to_readers(
    keyring: &Keyring,
    members: &[Member],
    end: (u64, ObjectId),
    to: &[ReaderMailbox],
    first: Option<(u32, u32)>,
) -> Result<Sealed> {
    let (ring, names) = (keyring.ring()?, &keyring.names);
    let mut pieces = Vec::new();
    if let Some((in_ring, in_names)) = first {
        pieces.push(end_of(keyring, &Name::RING, ring.bytes_of_first(in_ring))?);
        pieces.push(end_of(
            keyring,
            &Name::NAMES,
            names.bytes_of_first(in_names),
        )?);
    } else {
        pieces.push(end_of(keyring, &Name::RING, 0)?);
        pieces.push(end_of(keyring, &Name::NAMES, 0)?);
        pieces.push(audit_file(keyring, members)?);
        pieces.push(epoch_file(keyring, members)?);
    }
    let to: Vec<Recipient> = to.iter().map(|mailbox| mailbox.0.clone()).collect();
    packed(keyring.store, end, &pieces, &to, keyring.unlock())
}

/// As [`mail_to_readers`], for auditors: nothing of it opens a text.
pub(crate) fn mail_to_auditors(
    keyring: &Keyring,
    members: &[Member],
    end: (u64, ObjectId),
    to: &[AuditorMailbox],
    first: Option<u32>,
) -> Result<Sealed> {
    let from = first.map_or(0, |in_names| keyring.names.bytes_of_first(in_names));
    let mut pieces = vec![end_of(keyring, &Name::NAMES, from)?];
    if first.is_none() {
        pieces.push(audit_file(keyring, members)?);
    }
    let to: Vec<Recipient> = to.iter().map(|mailbox| mailbox.0.clone()).collect();
    packed(keyring.store, end, &pieces, &to, keyring.unlock())
}

/// Returns a file from some byte on.
fn end_of(keyring: &Keyring, name: &Name, from: u64) -> Result<FilePiece> {
    let folder = &keyring.folder;
    let mut bytes = folder.read(name).map_err(folder.fault("read", name))?;
    let at = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
    Ok((name.clone(), from, bytes.split_off(at)))
}

/// Returns `audit.age`, encrypted to all members there are now.
fn audit_file(keyring: &Keyring, members: &[Member]) -> Result<FilePiece> {
    if files::is_sealed_to(&keyring.folder, &Name::AUDIT, members.len()) {
        return end_of(keyring, &Name::AUDIT, 0);
    }
    let audit = &keyring.audit;
    let sealed = audit.seal(keyring.store, members, keyring.unlock())?;
    Ok((Name::AUDIT, 0, sealed.into_bytes()))
}

/// Returns `epoch.age`, encrypted to all readers there are now.
fn epoch_file(keyring: &Keyring, members: &[Member]) -> Result<FilePiece> {
    let readers = recipients::readers(members).len();
    if files::is_sealed_to(&keyring.folder, &Name::EPOCH, readers) {
        return end_of(keyring, &Name::EPOCH, 0);
    }
    let epoch = keyring.epoch()?;
    let sealed = epoch.seal(keyring.store, members, keyring.unlock())?;
    Ok((Name::EPOCH, 0, sealed.into_bytes()))
}

fn packed(
    store: StoreId,
    (event, commit): (u64, ObjectId),
    pieces: &[FilePiece],
    recipients: &[Recipient],
    unlock: &Arc<dyn Unlock>,
) -> Result<Sealed> {
    let bytes_all: usize = pieces.iter().map(|(_, _, bytes)| bytes.len()).sum();
    if bytes_all > BYTES_MAX {
        let (what, bytes_max) = ("the keyring", BYTES_MAX);
        return Err(Error::TooLong { what, bytes_max });
    }
    let part = |(name, from, bytes): &FilePiece| ListedFile {
        name: name.as_str().into(),
        from: *from,
        bytes: bytes.len(),
        sha256: Digest::of(bytes).to_string(),
    };
    let contents = Contents {
        schema: SCHEMA.into(),
        store: store.to_string(),
        event,
        commit: commit.to_string(),
        files: pieces.iter().map(part).collect(),
    };
    let mut plain = serde_json::to_vec(&contents).expect("texts and numbers");
    plain.push(b'\n');
    for (_, _, bytes) in pieces {
        plain.extend(bytes);
    }
    Recipient::seal_to_all(recipients, &plain, unlock)
}

/// Decrypts a backup with the identity of a member.
pub(crate) fn open(bytes: &[u8], identity: &Identity) -> Result<Zeroizing<Vec<u8>>> {
    let sealed = Sealed::parse(bytes.to_vec()).map_err(|_| damaged("it is not an age file"))?;
    identity.open(&sealed).map_err(|unopened| match unopened {
        Unopened::Failed(error) => error,
        Unopened::Fault(OpenFault::WrongKey) => Error::NotARecipient {
            path: "the backup of the keyring".into(),
        },
        Unopened::Fault(OpenFault::Damaged) => damaged("it does not decrypt"),
    })
}

/// Decrypts mail; `None` if it is not for this mailbox, or not whole.
pub(crate) fn open_mail(sealed: &Sealed, mailbox: &SealKey) -> Option<Zeroizing<Vec<u8>>> {
    SealKey::open_with_any(std::slice::from_ref(mailbox), sealed).ok()
}

/// The files that a backup, or mail, was restored to.
pub(crate) struct Restored {
    /// The event whose keys these are.
    pub(crate) event: u64,
    /// For whom they are.
    audience: Audience,
    /// True if all entries that were there before are there as they were, and others only for memories
    /// that had none.
    has_only_added: bool,
}

/// Writes the files of a decrypted backup into an empty folder, durably; those of mail together with what
/// the keyring in `base` has. Anybody can make a backup or mail that opens: only history says whether
/// these keys are right.
pub(crate) fn restore(
    plain: &[u8],
    store: StoreId,
    base: Option<&Folder>,
    to: &Folder,
) -> Result<Restored> {
    let (contents, audience, parts) = parse(plain)?;
    if contents.store != store.to_string() {
        return Err(damaged(&format!(
            "it is of the store {}, and not of {store}",
            contents.store
        )));
    }
    let mut has_only_added = parts.iter().all(|(_, from, _)| *from > 0);
    for name in audience.files() {
        let sent = parts.iter().find(|(file, _, _)| *file == name);
        let written = match (sent, base) {
            (Some((_, 0, bytes)), _) => to.replace(name, bytes, 0o600),
            (_, None) => return Err(damaged("it has only what was added to a keyring")),
            (sent, Some(base)) => {
                let mut bytes = base.read(name).map_err(base.fault("read", name))?;
                if let Some((_, from, end)) = sent {
                    let held = usize::try_from(*from)
                        .ok()
                        .and_then(|from| bytes.get(from..));
                    let held =
                        held.ok_or_else(|| damaged("it goes on from entries that are not here"))?;
                    let added = end.strip_prefix(held);
                    let added = added.ok_or_else(|| damaged("it changes entries that are here"))?;
                    let shape = if *name == Name::RING {
                        &table::RING
                    } else {
                        &table::NAMES
                    };
                    let known: HashSet<_> = table::ids_in(shape, &bytes, 0).into_iter().collect();
                    let held_bytes = bytes.len();
                    bytes.extend(added);
                    let new = table::ids_in(shape, &bytes, held_bytes);
                    has_only_added &= new.iter().all(|id| !known.contains(id));
                }
                if bytes.len() as u64 > name.bytes_max() {
                    return Err(damaged("with it a file would be too long"));
                }
                to.replace(name, &bytes, 0o600)
            }
        };
        written?;
        to.sync_file(name).map_err(to.fault("sync", name))?;
    }
    to.sync()?;
    Ok(Restored {
        event: contents.event,
        audience,
        has_only_added,
    })
}

/// Tells whether what was decrypted is a backup of this store, or mail, for this audience.
pub(crate) fn is_for(plain: &[u8], store: StoreId, wanted: Audience) -> bool {
    parse(plain).is_ok_and(|(contents, audience, _)| {
        audience == wanted && contents.store == store.to_string()
    })
}

/// A backup that was put beside the files of a keyring, to take their place with a record of the
/// journal. Dropped before that, it is removed.
pub(crate) struct StagedBackup {
    keyring: Folder,
    id: StagedKeyringId,
    folder: Folder,
    audience: Audience,
    has_only_added: bool,
    before: Option<Keyring>,
    is_recorded: bool,
}

impl StagedBackup {
    /// Restores a decrypted backup, or mail, into a folder of the keyring. The identity is that of
    /// whoever opens this copy.
    pub(crate) fn stage(
        plain: &[u8],
        identity: &Identity,
        store: StoreId,
        keyring: &Folder,
    ) -> Result<Self> {
        let id = StagedKeyringId::random();
        let mut staged = Self {
            folder: keyring.make_private(&Name::next(id))?,
            keyring: keyring.clone(),
            id,
            audience: Audience::Readers,
            has_only_added: false,
            before: None,
            is_recorded: false,
        };
        let restored = restore(plain, store, Some(keyring), &staged.folder)?;
        staged.audience = restored.audience;
        staged.has_only_added = restored.has_only_added;
        if !staged.has_only_added {
            staged.before = kept_by(&staged.folder, keyring, store, identity);
        }
        if staged.audience == Audience::Auditors {
            // A reader who became an auditor keeps no key of a text.
            let purpose = rotation::FOR_AUDITOR;
            staged.folder.replace_durably(&Name::FOR, purpose, 0o600)?;
        }
        if !staged.has_only_added {
            // What was sent to the old one may open keys that are gone now.
            mailbox::renew(keyring, &staged.folder, store, identity)?;
        }
        keyring.sync()?;
        Ok(staged)
    }

    /// Returns the keyring's folder.
    pub(crate) fn keyring(&self) -> &Folder {
        &self.keyring
    }

    /// Returns the folder that the backup is in.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Tells whether what was verified with the keyring holds with this: it has the same keys, others only
    /// for memories that had none, and for some memories none at all any more.
    pub(crate) fn keeps_keys(&self) -> bool {
        self.has_only_added || self.before.is_some()
    }

    /// Returns the keyring, open, if this one has other epoch or names keys and keeps the keys in it.
    pub(crate) fn before(&self) -> Option<&Keyring> {
        self.before.as_ref()
    }

    /// Tells whether all of it is still there: a command that changes keys removes what others have
    /// made ready.
    pub(crate) fn is_whole(&self) -> bool {
        let there = self.keyring.sub(&Name::next(self.id));
        let is_it = there.is_ok_and(|there| there.is(&self.folder).unwrap_or(false));
        is_it
            && self
                .audience
                .files()
                .iter()
                .all(|name| self.folder.has_kind(name, FileKind::File))
    }

    /// Returns its entry for a record that is about to be written. From then on nobody knows for sure
    /// that the record is not on the disk, and the files stay.
    pub(crate) fn record(&mut self) -> KeyEntry {
        self.is_recorded = true;
        rotation::entry_of(self.id)
    }

    /// Moves the files into place, once the journal says so.
    pub(crate) fn install(&self) -> Result<()> {
        rotation::install_staged_files(&self.keyring, self.id)
    }
}

impl Drop for StagedBackup {
    fn drop(&mut self) {
        if !self.is_recorded {
            drop(self.keyring.remove_tree(&Name::next(self.id)));
        }
    }
}

/// Opens a keyring, if another one keeps its keys.
fn kept_by(
    other: &Folder,
    keyring: &Folder,
    store: StoreId,
    identity: &Identity,
) -> Option<Keyring> {
    let before = Keyring::open(keyring, store, identity).ok()?;
    let after = Keyring::open(other, store, identity).ok()?;
    keeps_keys(&after, &before).ok()?.then_some(before)
}

/// Tells whether a keyring has the keys that another one had, as they were, but for memories of which it has
/// none: so it is after an erasure, and with keys of new memories.
pub(super) fn keeps_keys(after: &Keyring, before: &Keyring) -> Result<bool> {
    let public = |keyring: &Keyring| -> Vec<String> {
        let identities = keyring.audit.identities.iter();
        identities.map(SealKey::public_text).collect()
    };
    let is_same_role = after.is_reader() == before.is_reader();
    if !is_same_role || !public(after).starts_with(&public(before)) {
        return Ok(false);
    }
    if let (Some(epoch), Some(earlier)) = (&after.epoch, &before.epoch) {
        let keys = (&epoch.key, &earlier.key);
        if !after.ring()?.keeps_entries_of(before.ring()?, keys)? {
            return Ok(false);
        }
    }
    let keys = (&after.audit.names_key, &before.audit.names_key);
    after.names.keeps_entries_of(&before.names, keys)
}

/// The parts of a backup or of mail: a file, where in it the bytes belong, and the bytes.
type Parts<'a> = Vec<(&'static Name, u64, &'a [u8])>;

/// Parses what a backup or mail decrypts to. The parts are the files of one audience in their order, or
/// the ends of its tables.
fn parse(plain: &[u8]) -> Result<(Contents, Audience, Parts<'_>)> {
    let end = plain.iter().take(LINE_BYTES_MAX).position(|b| *b == b'\n');
    let (line, rest) = plain.split_at(end.ok_or_else(|| damaged("it has no first line"))?);
    let contents: Contents =
        serde_json::from_slice(line).map_err(|_| damaged("its first line is not valid"))?;
    if contents.schema != SCHEMA {
        return Err(Error::UnknownFormat {
            what: "the backup of the keyring".into(),
            found: "another".into(),
        });
    }
    let is_whole = contents.files.iter().all(|part| part.from == 0);
    let are_ends = contents.files.iter().all(|part| part.from > 0);
    let sent = |audience: &Audience| {
        let files = [audience.files(), audience.tables()];
        let [files, tables] = files.map(|names| {
            let named = contents.files.iter().map(|part| part.name.as_str());
            named.eq(names.iter().map(Name::as_str)).then_some(names)
        });
        files
            .filter(|_| is_whole)
            .or(tables.filter(|_| are_ends))
            .map(|names| (*audience, names))
    };
    let audiences = [Audience::Readers, Audience::Auditors];
    let sent = audiences.iter().find_map(sent);
    let (audience, names) = sent.ok_or_else(|| damaged("its files are not those of a keyring"))?;
    let (mut rest, mut parts) = (&rest[1..], Vec::new());
    for (part, name) in contents.files.iter().zip(names) {
        let split = rest.split_at_checked(part.bytes);
        let (bytes, others) = split.ok_or_else(|| damaged("it was cut off"))?;
        let is_intact = Digest::of(bytes).to_string() == part.sha256;
        if !is_intact || bytes.len() as u64 > name.bytes_max() {
            return Err(damaged("a file in it is not whole, or too long"));
        }
        parts.push((name, part.from, bytes));
        rest = others;
    }
    if !rest.is_empty() {
        return Err(damaged("more follows its files"));
    }
    Ok((contents, audience, parts))
}

/// Reads bytes as what a backup decrypts to: accepted bytes are within the limits, and are all there
/// is.
#[cfg(any(fuzzing, test))]
#[allow(clippy::missing_panics_doc)] // a violated property panics, which is how it is found
pub fn fuzz(bytes: &[u8]) {
    if let Ok((contents, audience, parts)) = parse(bytes) {
        let is_whole = parts.iter().all(|(_, from, _)| *from == 0);
        let names = if is_whole {
            audience.files()
        } else {
            audience.tables()
        };
        assert!(parts.iter().map(|(name, _, _)| *name).eq(names));
        let line = bytes.len() - parts.iter().map(|part| part.2.len()).sum::<usize>();
        assert!(line <= LINE_BYTES_MAX && bytes[line - 1] == b'\n');
        assert_eq!(contents.files.len(), parts.len());
    }
}

fn damaged(why: &str) -> Error {
    Error::damaged_with_hint(
        "the backup of the keyring",
        why,
        "use another backup, made by `agekeep keys backup` of the same store",
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(files: &[(&str, &[u8])]) -> Vec<u8> {
        let part = |(name, bytes): &(&str, &[u8])| ListedFile {
            name: (*name).into(),
            from: 0,
            bytes: bytes.len(),
            sha256: Digest::of(bytes).to_string(),
        };
        let contents = Contents {
            schema: SCHEMA.into(),
            store: "s".into(),
            event: 7,
            commit: "c".into(),
            files: files.iter().map(part).collect(),
        };
        let mut plain = serde_json::to_vec(&contents).expect("JSON");
        plain.push(b'\n');
        for (_, bytes) in files {
            plain.extend(*bytes);
        }
        plain
    }

    fn whole() -> Vec<u8> {
        plain(&[
            ("ring", b"one"),
            ("names", b""),
            ("audit.age", b"three"),
            ("epoch.age", b"4"),
        ])
    }

    #[test]
    fn a_whole_one_reads_back_and_no_shorter_one_does() {
        let whole = whole();
        let (contents, _, parts) = parse(&whole).expect("whole");
        assert_eq!((contents.event, parts[2].2), (7, &b"three"[..]));
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "{end}");
        }
        assert!(parse(&[&whole[..], b"x"].concat()).is_err());
    }

    #[test]
    fn other_files_are_refused() {
        let outside = [
            ("../../HEAD", &b"x"[..]),
            ("names", b""),
            ("audit.age", b""),
            ("x", b""),
        ];
        for files in [&[][..], &[("ring", &b"one"[..])], &outside] {
            assert!(parse(&plain(files)).is_err());
        }
        let text = String::from_utf8(whole()).expect("text");
        assert!(parse(text.replace("keyring/1", "keyring/x").as_bytes()).is_err());
        assert!(parse(text.replace("three", "thr3e").as_bytes()).is_err());
    }

    /// The bytes of a table with an entry for each memory, whose sealed part is one byte over and over.
    fn table_with(entries: &[(u8, u8)]) -> Vec<u8> {
        let mut bytes = vec![0; 128];
        bytes[..16].copy_from_slice(b"agekeep-name-002");
        for (id, sealed) in entries {
            bytes.extend([*id; 16]);
            bytes.extend([*sealed; 72]);
        }
        bytes
    }

    /// Mail for an auditor whose table has `held`, from some entry on.
    fn added_to(held: &[(u8, u8)], from: usize, sent: &[(u8, u8)]) -> Result<(Vec<u8>, bool)> {
        let folder = tempfile::tempdir().expect("a folder");
        let base = Folder::at(folder.path()).expect("opens");
        let to = tempfile::tempdir().expect("a folder");
        let to = Folder::at(to.path()).expect("opens");
        base.replace(&Name::NAMES, &table_with(held), 0o600)?;
        base.replace(&Name::AUDIT, b"audit", 0o600)?;
        let store = StoreId([3; 16]);
        let plain = mail(store, from, sent);
        let restored = restore(&plain, store, Some(&base), &to)?;
        let written = to.read(&Name::NAMES).expect("written");
        assert_eq!(to.read(&Name::AUDIT).expect("written"), b"audit");
        Ok((written, restored.has_only_added))
    }

    fn mail(store: StoreId, from: usize, sent: &[(u8, u8)]) -> Vec<u8> {
        let bytes = table_with(sent).split_off(128);
        let contents = Contents {
            schema: SCHEMA.into(),
            store: store.to_string(),
            event: 7,
            commit: "c".into(),
            files: vec![ListedFile {
                name: "names".into(),
                from: 128 + 88 * from as u64,
                bytes: bytes.len(),
                sha256: Digest::of(&bytes).to_string(),
            }],
        };
        let line = serde_json::to_vec(&contents).expect("JSON");
        [&line[..], b"\n", &bytes].concat()
    }

    #[test]
    fn mail_adds_entries_and_changes_none_that_are_here() {
        let held = [(1, 1), (2, 2)];
        let whole = table_with(&[(1, 1), (2, 2), (3, 3)]);
        for (from, sent) in [
            (2, &[(3, 3)][..]),
            (1, &[(2, 2), (3, 3)]),
            (0, &[(1, 1), (2, 2), (3, 3)]),
        ] {
            let (written, has_only_added) = added_to(&held, from, sent).expect("it goes on");
            assert_eq!((&written, has_only_added), (&whole, true), "{from}");
        }
        // Another key for a memory that has one is looked at from the first event on.
        let (_, has_only_added) = added_to(&held, 2, &[(3, 3), (1, 9)]).expect("it goes on");
        assert!(!has_only_added);
        let nothing = added_to(&held, 2, &[]).expect("it goes on");
        assert_eq!(nothing, (table_with(&held), true));
        for (what, from, sent) in [
            ("another entry", 1, &[(2, 9), (3, 3)][..]),
            ("another memory", 0, &[(9, 1), (2, 2), (3, 3)]),
            ("fewer entries", 1, &[]),
            ("fewer than are here", 0, &[(1, 1)]),
            ("entries that are not here", 3, &[(3, 3)]),
        ] {
            assert!(added_to(&held, from, sent).is_err(), "{what}");
        }
    }

    #[test]
    fn mail_without_a_keyring_and_of_another_store_is_refused() {
        let to = tempfile::tempdir().expect("a folder");
        let to = Folder::at(to.path()).expect("opens");
        let (store, other) = (StoreId([3; 16]), StoreId([4; 16]));
        let plain = mail(store, 0, &[(1, 1)]);
        assert!(restore(&plain, store, None, &to).is_err());
        assert!(restore(&plain, other, Some(&to), &to).is_err());
        assert!(is_for(&plain, store, Audience::Auditors));
        assert!(!is_for(&plain, other, Audience::Auditors));
        assert!(!is_for(&plain, store, Audience::Readers));
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_parser(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            at in 0usize..600,
            byte: u8,
        ) {
            fuzz(&bytes);
            let mut changed = whole();
            let at = at % changed.len();
            changed[at] = byte;
            fuzz(&changed);
        }
    }
}
