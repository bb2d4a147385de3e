//! A backup of the keyring: its files in one age file, which the identities open that they are for.
//!
//! The files are encrypted already. The age file around them hides how many memories there are and
//! their ids, and gives the backup one form that stock age opens: a line of JSON, then the files.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::crypto::digest::Digest;
use crate::crypto::seal::{Identity, OpenFault, Recipient, Sealed, Unlock, Unopened};
use crate::disk::{FileKind, Folder, Name, StagedKeyringId};
use crate::error::{Error, Result};
use crate::id::{ObjectId, StoreId};
use crate::journal::KeyEntry;
use crate::keyring::{FILES, rotation};

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
}

/// The first line: whose keyring it is, of which moment, and which files follow.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    schema: String,
    store: String,
    event: u64,
    commit: String,
    files: Vec<Part>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    bytes: usize,
    sha256: String,
}

/// Encrypts files of a keyring to those who may open them. The event and its commit are where history ends, which
/// names these keys.
pub(crate) fn make(
    folder: &Folder,
    store: StoreId,
    (event, commit): (u64, ObjectId),
    (audience, recipients): (Audience, &[Recipient]),
    unlock: &Arc<dyn Unlock>,
) -> Result<Vec<u8>> {
    let (mut files, mut rest) = (Vec::new(), Vec::new());
    for name in audience.files() {
        let bytes = folder.read(name).map_err(folder.fault("read", name))?;
        if rest.len() + bytes.len() > BYTES_MAX {
            let (what, bytes_max) = ("the keyring", BYTES_MAX);
            return Err(Error::TooLong { what, bytes_max });
        }
        files.push(Part {
            name: name.as_str().into(),
            bytes: bytes.len(),
            sha256: Digest::of(&bytes).to_string(),
        });
        rest.extend(bytes);
    }
    let contents = Contents {
        schema: SCHEMA.into(),
        store: store.to_string(),
        event,
        commit: commit.to_string(),
        files,
    };
    let mut plain = serde_json::to_vec(&contents).expect("texts and numbers");
    plain.push(b'\n');
    plain.extend(rest);
    Ok(Recipient::seal_to_all(recipients, &plain, unlock)?.into_bytes())
}

/// Decrypts a backup and writes its files into an empty folder, durably. Returns the event that the
/// backup is of, and for whom it is. Anybody can make one that opens: only history says whether these keys are right.
pub(crate) fn restore(
    bytes: &[u8],
    identity: &Identity,
    store: StoreId,
    to: &Folder,
) -> Result<(u64, Audience)> {
    let sealed = Sealed::parse(bytes.to_vec()).map_err(|_| damaged("it is not an age file"))?;
    let plain = identity.open(&sealed).map_err(|unopened| match unopened {
        Unopened::Failed(error) => error,
        Unopened::Fault(OpenFault::WrongKey) => Error::NotARecipient {
            path: "the backup of the keyring".into(),
        },
        Unopened::Fault(OpenFault::Damaged) => damaged("it does not decrypt"),
    })?;
    let (contents, audience, parts) = parse(&plain)?;
    if contents.store != store.to_string() {
        return Err(damaged(&format!(
            "it is of the store {}, and not of {store}",
            contents.store
        )));
    }
    for (name, part) in audience.files().iter().zip(parts) {
        to.replace(name, part, 0o600)?;
        to.sync_file(name).map_err(to.fault("sync", name))?;
    }
    to.sync()?;
    Ok((contents.event, audience))
}

/// A backup that was put beside the files of a keyring, to take their place with a record of the
/// journal. Dropped before that, it is removed.
pub(crate) struct StagedBackup {
    keyring: Folder,
    id: StagedKeyringId,
    folder: Folder,
    audience: Audience,
    is_recorded: bool,
}

impl StagedBackup {
    /// Restores a backup into a folder of the keyring.
    pub(crate) fn stage(
        bytes: &[u8],
        identity: &Identity,
        store: StoreId,
        keyring: &Folder,
    ) -> Result<Self> {
        let id = StagedKeyringId::random();
        let name = Name::next(id);
        let made = keyring.make_folder(&name, 0o700);
        let folder = made.and_then(|()| keyring.sub(&name));
        let mut staged = Self {
            folder: folder.map_err(keyring.fault("make", &name))?,
            keyring: keyring.clone(),
            id,
            audience: Audience::Readers,
            is_recorded: false,
        };
        (_, staged.audience) = restore(bytes, identity, store, &staged.folder)?;
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

/// Parses what a backup decrypts to. The files have to be those of one audience in their order.
fn parse(plain: &[u8]) -> Result<(Contents, Audience, Vec<&[u8]>)> {
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
    let are_these = |audience: &Audience| {
        let named = contents.files.iter().map(|part| part.name.as_str());
        named.eq(audience.files().iter().map(Name::as_str))
    };
    let audience = [Audience::Readers, Audience::Auditors];
    let audience = audience.into_iter().find(are_these);
    let audience = audience.ok_or_else(|| damaged("its files are not those of a keyring"))?;
    let (mut rest, mut parts) = (&rest[1..], Vec::new());
    for (part, name) in contents.files.iter().zip(audience.files()) {
        let split = rest.split_at_checked(part.bytes);
        let (bytes, others) = split.ok_or_else(|| damaged("it was cut off"))?;
        let is_whole = Digest::of(bytes).to_string() == part.sha256;
        if !is_whole || bytes.len() as u64 > name.bytes_max() {
            return Err(damaged("a file in it is not whole, or too long"));
        }
        parts.push(bytes);
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
        assert_eq!(parts.len(), audience.files().len());
        let line = bytes.len() - parts.iter().map(|part| part.len()).sum::<usize>();
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
        let part = |(name, bytes): &(&str, &[u8])| Part {
            name: (*name).into(),
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
        assert_eq!((contents.event, parts[2]), (7, &b"three"[..]));
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
