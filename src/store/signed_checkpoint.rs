//! Checkpoints: signed notes of where a store's history ended, for an auditor to keep.
//!
//! A note on a file, such as a report, says the file's SHA-256 besides.
//!
//! The form is that of C2SP signed notes (c2sp.org/signed-note). A note holds no secret. An auditor
//! who keeps one can later verify that history still contains what the note says.

use chrono::{DateTime, Utc};

use crate::crypto::base64;
use crate::crypto::digest::Digest;
use crate::crypto::sign::{Signers, SigningKey, Untimely};
use crate::error::{Error, Result};
use crate::event::rfc3339;
use crate::id::{ObjectId, StoreId};

/// The most bytes of a note: more than sixteen signatures of any kind need.
pub const NOTE_BYTES_MAX: usize = 128 * 1024;

const ORIGIN: &str = "agekeep/";
/// What follows the store's id in a note on a file, so that neither note is read as the other.
const ON_A_FILE: &str = "/file";
const SIGNATURE_MARK: &str = "\u{2014} ";
/// The type of an Ed25519 signature over the text of a note.
const ED25519: u8 = 1;
const KEY_ID_BYTES: usize = 4;

/// The end of a store's history, at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The store.
    pub store: StoreId,
    /// The number of events; the newest has this number less one.
    pub events: u64,
    /// SHA-256 of the newest commit object.
    pub digest: Digest,
    /// The newest commit.
    pub commit: ObjectId,
    /// The time of the newest event, to the millisecond.
    pub time: DateTime<Utc>,
}

/// The SHA-256 and the length of a file that somebody signs for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileDigest {
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// Its length in bytes.
    pub bytes: u64,
}

/// A signed note on a file, as parsed. Its content counts only once a signature is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedFile {
    /// The file that was signed for.
    pub file: FileDigest,
    /// Where history ended then, with the signatures over both.
    pub checkpoint: SignedCheckpoint,
}

/// A signed checkpoint, as parsed. Its content counts only once a signature is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedCheckpoint {
    checkpoint: Checkpoint,
    text: String,
    signatures: Vec<NoteSignature>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NoteSignature {
    name: String,
    key_id: [u8; KEY_ID_BYTES],
    bytes: Vec<u8>,
}

impl Checkpoint {
    /// Returns the note: the text, an empty line, and a signature by the key of the signer `name`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the form has no place for such a name.
    pub(crate) fn to_note(&self, name: &str, key: &SigningKey) -> Result<String> {
        signed(&self.text(), name, key)
    }

    /// Returns the note on a file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the form has no place for such a name.
    pub(crate) fn to_note_on(
        &self,
        file: &FileDigest,
        name: &str,
        key: &SigningKey,
    ) -> Result<String> {
        signed(&file.text(self), name, key)
    }

    fn text(&self) -> String {
        format!("{ORIGIN}{}\n{}", self.store, self.lines())
    }

    /// Returns the lines after the first, which names the store.
    fn lines(&self) -> String {
        format!(
            "events {}\nsha256 {}\ncommit {}\ntime {}\n",
            self.events,
            self.digest,
            self.commit,
            rfc3339(self.time)
        )
    }

    /// Parses the text. There is only one form; any other is refused.
    fn parse(text: &str) -> Option<Self> {
        let (first, rest) = text.split_once('\n')?;
        let store = StoreId::from_hex(first.strip_prefix(ORIGIN)?)?;
        let read = Self::parse_lines(store, rest)?;
        (read.text() == text).then_some(read)
    }

    fn parse_lines(store: StoreId, text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut line = |label: &str| lines.next()?.strip_prefix(label);
        Some(Self {
            store,
            events: line("events ")?.parse().ok().filter(|events| *events > 0)?,
            digest: Digest::from_hex(line("sha256 ")?)?,
            commit: ObjectId::from_hex(line("commit ")?)?,
            time: DateTime::parse_from_rfc3339(line("time ")?).ok()?.to_utc(),
        })
    }
}

impl FileDigest {
    /// Returns the digest of a file's bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self {
            sha256: Digest::of(bytes),
            bytes: bytes.len() as u64,
        }
    }

    fn text(&self, end: &Checkpoint) -> String {
        format!(
            "{ORIGIN}{}{ON_A_FILE}\nfile-sha256 {}\nfile-bytes {}\n{}",
            end.store,
            self.sha256,
            self.bytes,
            end.lines()
        )
    }

    /// Parses the text of a note on a file.
    fn parse(text: &str) -> Option<(Self, Checkpoint)> {
        let mut lines = text.splitn(4, '\n');
        let mut line = |label: &str| lines.next()?.strip_prefix(label);
        let store = StoreId::from_hex(line(ORIGIN)?.strip_suffix(ON_A_FILE)?)?;
        let file = Self {
            sha256: Digest::from_hex(line("file-sha256 ")?)?,
            bytes: line("file-bytes ")?.parse().ok()?,
        };
        let end = Checkpoint::parse_lines(store, lines.next()?)?;
        (file.text(&end) == text).then_some((file, end))
    }
}

impl SignedFile {
    /// Parses a note on a file.
    ///
    /// # Errors
    /// Tells which part is not of such a note.
    pub fn parse(note: &str) -> Result<Self, String> {
        let (text, signatures) = split(note)?;
        let (file, checkpoint) =
            FileDigest::parse(&text).ok_or("its text is not that of a note on a file")?;
        Ok(Self {
            file,
            checkpoint: SignedCheckpoint {
                checkpoint,
                text,
                signatures,
            },
        })
    }
}

impl SignedCheckpoint {
    /// Parses a note. Its content is not to be trusted before its signature is checked against the
    /// store's signers.
    ///
    /// # Errors
    /// Tells which part is not of an agekeep checkpoint.
    pub fn parse(note: &str) -> Result<Self, String> {
        let (text, signatures) = split(note)?;
        let checkpoint = Checkpoint::parse(&text).ok_or("its text is not a checkpoint's")?;
        Ok(Self {
            checkpoint,
            text,
            signatures,
        })
    }

    /// Returns the checkpoint in the note.
    #[must_use]
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Returns the name of a signer whose signature the note has. Signatures by other keys are
    /// ignored; an invalid one under a signer's name and key id makes the whole note worthless.
    pub(crate) fn signed_by<'a>(&self, signers: &'a Signers) -> Option<&'a str> {
        let mut found = None;
        for signer in signers.entries() {
            let (name, key) = (signer.name(), signer.key());
            let Some(public) = key.bytes() else { continue };
            // A key that had expired by then does not count. A key that was not valid yet may vouch
            // for history before its time.
            if let Err(Untimely::Over(_)) = signer.validity().check(self.checkpoint.time, None) {
                continue;
            }
            let id = key_id(name, &public);
            let own = |signature: &&NoteSignature| signature.name == name && signature.key_id == id;
            for signature in self.signatures.iter().filter(own) {
                if !key.verifies(self.text.as_bytes(), &signature.bytes) {
                    return None;
                }
                found = found.or(Some(name));
            }
        }
        found
    }
}

/// Signs a text, and returns the note.
fn signed(text: &str, name: &str, key: &SigningKey) -> Result<String> {
    if !is_key_name(name) {
        return Err(Error::invalid(
            "the signer's name",
            "a note has no place for spaces, control characters or + in it",
        ));
    }
    let public = key
        .verifying_key()
        .bytes()
        .expect("signing keys are Ed25519");
    let signature = [&key_id(name, &public)[..], &key.sign_bare(text.as_bytes())?].concat();
    let signature = base64::encode_padded(&signature);
    Ok(format!("{text}\n{SIGNATURE_MARK}{name} {signature}\n"))
}

/// Splits a note into its text and its signatures.
fn split(note: &str) -> Result<(String, Vec<NoteSignature>), String> {
    if note.len() > NOTE_BYTES_MAX {
        return Err(format!("it is longer than {NOTE_BYTES_MAX} bytes"));
    }
    if note.chars().any(|c| c < ' ' && c != '\n') {
        return Err("it has a control character".into());
    }
    let (text, signatures) = note
        .rsplit_once("\n\n")
        .ok_or("it has no empty line before its signatures")?;
    let signatures = signatures
        .strip_suffix('\n')
        .ok_or("its last line does not end")?;
    let signatures: Option<Vec<_>> = signatures.split('\n').map(NoteSignature::parse).collect();
    let signatures = signatures.ok_or("a line after the empty one is not a signature")?;
    Ok((format!("{text}\n"), signatures))
}

impl NoteSignature {
    fn parse(line: &str) -> Option<Self> {
        let (name, signature) = line.strip_prefix(SIGNATURE_MARK)?.split_once(' ')?;
        let decoded = base64::decode_padded(signature)?;
        let (key_id, bytes) = decoded.split_first_chunk()?;
        (is_key_name(name) && !bytes.is_empty()).then(|| Self {
            name: name.to_owned(),
            key_id: *key_id,
            bytes: bytes.to_vec(),
        })
    }
}

fn is_key_name(name: &str) -> bool {
    let refused = |c: char| c.is_whitespace() || c.is_control() || c == '+';
    !name.is_empty() && !name.contains(refused)
}

fn key_id(name: &str, public: &[u8; 32]) -> [u8; KEY_ID_BYTES] {
    let digest = Digest::of_pieces(&[name.as_bytes(), b"\n", &[ED25519], public]).0;
    *digest.first_chunk().expect("a digest is longer")
}

/// The result of comparing a checkpoint with today's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// History contains the checkpoint.
    Contained,
    /// A rollback: history ends before the checkpoint, so the newest events were taken away.
    RolledBack,
    /// A fork: history has another commit at that number.
    Fork,
    /// No signer signed it, so it proves nothing.
    Unsigned,
    /// It is of another store, and proves nothing about this one.
    Foreign,
}

/// The result of comparing checkpoints with today's history and with each other.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// The verdict on each checkpoint, in their order.
    pub(crate) verdicts: Vec<Verdict>,
    /// The signer of each, if one signed it.
    pub(crate) signers: Vec<Option<String>>,
    /// Pairs of checkpoints, by index, that no single history can contain both.
    pub(crate) contradictions: Vec<(usize, usize)>,
}

/// Compares checkpoints with the history of `store`.
///
/// `event` returns the commit of an event and the SHA-256 of the commit object, or `None` for a
/// number past the end. `signers` returns the signers right after an event, or today's for a number
/// past the end.
pub(crate) fn check_against(
    notes: &[SignedCheckpoint],
    store: StoreId,
    mut event: impl FnMut(u64) -> Result<Option<(ObjectId, Digest)>>,
    mut signers: impl FnMut(u64) -> Result<Signers>,
) -> Result<Comparison> {
    let mut verdicts = Vec::with_capacity(notes.len());
    let mut signed = Vec::with_capacity(notes.len());
    for note in notes {
        let said = &note.checkpoint;
        let number = said.events - 1;
        let mut maker = None;
        if said.store == store {
            maker = note.signed_by(&signers(number)?).map(str::to_owned);
        }
        let verdict = if said.store != store {
            Verdict::Foreign
        } else if maker.is_none() {
            Verdict::Unsigned
        } else {
            match event(number)? {
                None => Verdict::RolledBack,
                Some(found) if found == (said.commit, said.digest) => Verdict::Contained,
                Some(_) => Verdict::Fork,
            }
        };
        verdicts.push(verdict);
        signed.push(maker);
    }
    let mut contradictions = Vec::new();
    for later in 1..notes.len() {
        for earlier in 0..later {
            let pair = [earlier, later].map(|at| (&notes[at].checkpoint, verdicts[at]));
            if contradict(pair) {
                contradictions.push((earlier, later));
            }
        }
    }
    Ok(Comparison {
        verdicts,
        signers: signed,
        contradictions,
    })
}

/// Tells whether no single history can contain both: they name different commits at one number, or
/// the one with the larger number is in today's history and the other is not.
fn contradict(pair: [(&Checkpoint, Verdict); 2]) -> bool {
    let proves = |verdict| !matches!(verdict, Verdict::Unsigned | Verdict::Foreign);
    if !pair.iter().all(|(_, verdict)| proves(*verdict)) {
        return false;
    }
    let [(a, _), (b, _)] = pair;
    if a.events == b.events {
        return (a.commit, a.digest) != (b.commit, b.digest);
    }
    let [(_, older), (_, newer)] = if a.events < b.events {
        pair
    } else {
        [pair[1], pair[0]]
    };
    older == Verdict::Fork && newer == Verdict::Contained
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::sign::{SignerEntry, SignerRole, Validity};
    use proptest::prelude::*;

    const STORE: StoreId = StoreId([3; 16]);

    fn at(events: u64, byte: u8) -> Checkpoint {
        Checkpoint {
            store: STORE,
            events,
            digest: Digest([byte; 32]),
            commit: ObjectId([byte; 20]),
            time: DateTime::from_timestamp_millis(1_790_000_000_017).expect("a time"),
        }
    }

    fn signers(key: &SigningKey) -> Signers {
        Signers::parse(&Signers::file("owner", key)).expect("own output")
    }

    fn note(checkpoint: &Checkpoint, key: &SigningKey) -> SignedCheckpoint {
        let note = checkpoint.to_note("owner", key).expect("a name");
        SignedCheckpoint::parse(&note).expect("own output")
    }

    /// A history in which event *n* has a commit of bytes *n*.
    fn history(events: u64) -> impl FnMut(u64) -> Result<Option<(ObjectId, Digest)>> {
        move |number| {
            let byte = u8::try_from(number).expect("small");
            Ok((number < events).then_some((ObjectId([byte; 20]), Digest([byte; 32]))))
        }
    }

    #[test]
    fn a_key_whose_time_was_over_says_nothing() {
        let key = SigningKey::generate();
        let note = note(&at(9, 8), &key);
        let second = |after: i64| DateTime::from_timestamp(1_790_000_000 + after, 0);
        for (after, before, expected) in [
            (None, second(0), Some("owner")),
            (None, second(-1), None),
            (second(-9), second(-1), None),
            // The key vouches for history before its time.
            (second(5), None, Some("owner")),
        ] {
            let validity = Validity::new(after, before).expect("in order");
            let entry =
                SignerEntry::new("owner", &key.verifying_key(), SignerRole::Owner, validity);
            let signers = signers(&SigningKey::generate()).without("owner").and(entry);
            assert_eq!(note.signed_by(&signers), expected, "{validity:?}");
        }
    }

    #[test]
    fn a_note_reads_back_and_is_its_signer_s() {
        let (key, stranger) = (SigningKey::generate(), SigningKey::generate());
        let note = note(&at(9, 8), &key);
        assert_eq!(*note.checkpoint(), at(9, 8));
        assert_eq!(note.signed_by(&signers(&key)), Some("owner"));
        assert_eq!(note.signed_by(&signers(&stranger)), None);
    }

    #[test]
    fn other_signatures_are_passed_over_and_false_ones_are_not() {
        let key = SigningKey::generate();
        let whole = at(9, 8).to_note("owner", &key).expect("a name");
        let other = at(9, 8).to_note("witness.example/w1", &SigningKey::generate());
        let other = other.expect("a name");
        let line = |note: &str| note.rsplit_once("\n\n").expect("two parts").1.to_owned();
        let signed = |text: &str| {
            let note = SignedCheckpoint::parse(text).expect("a note");
            note.signed_by(&signers(&key)).is_some()
        };
        assert!(signed(&(whole.clone() + &line(&other))));
        assert!(signed(&whole.replace(
            &line(&whole),
            &(line(&other).repeat(16) + &line(&whole))
        )));
        assert!(!signed(&other), "a witness alone");
        // A signature by the same key over another text, alone and beside the right one.
        let stale = line(&at(8, 7).to_note("owner", &key).expect("a name"));
        assert!(!signed(&whole.replace(&line(&whole), &stale)));
        assert!(!signed(&(whole.clone() + &stale)));
        // The right bytes under another name.
        assert!(!signed(&whole.replace("\u{2014} owner", "\u{2014} other")));
    }

    #[test]
    fn one_form_is_read() {
        let whole = at(9, 8)
            .to_note("owner", &SigningKey::generate())
            .expect("a name");
        let (text, signature) = whole.rsplit_once("\n\n").expect("two parts");
        for bad in [
            String::new(),
            "\n\n".into(),
            text.into(),
            format!("{text}\n\n"),
            format!("{text}\n{signature}"),
            whole.trim_end().into(),
            whole.clone() + "\n",
            whole.replace('\n', "\r\n"),
            whole.replace("agekeep/", "agekeep "),
            whole.replace("agekeep/0", "agekeep/A"),
            whole.replace("events 9", "events 09"),
            whole.replace("events 9", "events +9"),
            whole.replace("events 9", "events 0"),
            whole.replace("events 9", "events 18446744073709551616"),
            whole.replace("sha256 08", "sha256 0"),
            whole.replace(".017Z", ".017+00:00"),
            whole.replace(".017Z", "Z"),
            whole.replace("\n\n", "\nextra\n\n"),
            whole.replace("\n\n", "\n\n\n"),
            whole.replace("\u{2014} ", "- "),
            whole.replace("\u{2014} owner", "\u{2014}  owner"),
            whole.replace("\u{2014} owner", "\u{2014} an+owner"),
            whole.replace("\u{2014} owner", "\u{2014} an\u{a0}owner"),
            format!("{text}\n\n\u{2014} owner AAAA\n"),
            format!("{text}\n\n\u{2014} owner AAAAAAA\n"),
            whole.clone() + &signature.repeat(NOTE_BYTES_MAX / signature.len()),
        ] {
            assert!(SignedCheckpoint::parse(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_with_no_place_in_a_note_signs_none() {
        for name in ["", "an owner", "a+b", "a\u{3000}b", "a\tb", "a\u{7f}"] {
            let refused = at(9, 8).to_note(name, &SigningKey::generate());
            assert!(matches!(refused, Err(Error::Invalid { .. })), "{name:?}");
        }
    }

    #[test]
    fn each_checkpoint_gets_its_verdict() {
        let (key, stranger) = (SigningKey::generate(), SigningKey::generate());
        let elsewhere = Checkpoint {
            store: StoreId([4; 16]),
            ..at(5, 4)
        };
        let sha1_alone = Checkpoint {
            digest: Digest([5; 32]),
            ..at(5, 4)
        };
        let cases = [
            (note(&at(1, 0), &key), Verdict::Contained),
            (note(&at(10, 9), &key), Verdict::Contained),
            (note(&at(11, 10), &key), Verdict::RolledBack),
            (note(&at(5, 5), &key), Verdict::Fork),
            (note(&sha1_alone, &key), Verdict::Fork),
            (note(&at(5, 4), &stranger), Verdict::Unsigned),
            (note(&elsewhere, &key), Verdict::Foreign),
        ];
        let (notes, expected): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
        let compared = check_against(&notes, STORE, history(10), |_| Ok(signers(&key)));
        assert_eq!(compared.expect("reads").verdicts, expected);
    }

    #[test]
    fn who_signed_is_asked_of_the_moment_it_is_about() {
        let (then, now) = (SigningKey::generate(), SigningKey::generate());
        let signers_at = |event: u64| Ok(signers(if event < 5 { &then } else { &now }));
        let notes = [at(5, 4), at(6, 5)].map(|checkpoint| note(&checkpoint, &then));
        let compared = check_against(&notes, STORE, history(10), signers_at).expect("reads");
        assert_eq!(compared.verdicts, [Verdict::Contained, Verdict::Unsigned]);
    }

    #[test]
    fn two_checkpoints_that_cannot_both_be_true_are_named() {
        let (key, stranger) = (SigningKey::generate(), SigningKey::generate());
        let pairs = |checkpoints: &[(u64, u8)], key_of: &SigningKey| {
            let notes = checkpoints.iter().map(|(events, byte)| at(*events, *byte));
            let mut notes: Vec<_> = notes.map(|checkpoint| note(&checkpoint, &key)).collect();
            let last = notes.pop().expect("some");
            notes.push(note(&last.checkpoint, key_of));
            let compared = check_against(&notes, STORE, history(10), |_| Ok(signers(&key)));
            compared.expect("reads").contradictions
        };
        assert_eq!(pairs(&[(5, 4), (10, 9)], &key), []);
        // Past the end: the same number twice, and two numbers that a single history may have.
        assert_eq!(pairs(&[(20, 1), (20, 2)], &key), [(0, 1)]);
        assert_eq!(pairs(&[(20, 1), (21, 2)], &key), []);
        // The one with the larger number is in history, so the other should be too.
        assert_eq!(pairs(&[(5, 5), (8, 7)], &key), [(0, 1)]);
        assert_eq!(pairs(&[(8, 7), (5, 5)], &key), [(0, 1)]);
        // The other way around, one other history may contain both.
        assert_eq!(pairs(&[(5, 4), (8, 8)], &key), []);
        assert_eq!(pairs(&[(5, 4), (5, 4)], &key), []);
        assert_eq!(pairs(&[(20, 1), (20, 2)], &stranger), [], "unsigned");
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in "(agekeep/|events |sha256 |commit |time |\u{2014} |owner |[0-9a-f]{0,40}|[A-Za-z0-9+/=]{0,9}|\n|\n\n|\\PC){0,14}") {
            prop_assert!(SignedCheckpoint::parse(&text).is_err());
        }

        #[test]
        fn any_changed_byte_of_the_text_is_refused(place in any::<prop::sample::Index>(), bit in 0..8u8) {
            let key = SigningKey::generate();
            let whole = at(9, 8).to_note("owner", &key).expect("a name");
            let mut bytes = whole.clone().into_bytes();
            let end = whole.rfind("\n\n").expect("two parts") + 1;
            bytes[place.index(end)] ^= 1 << bit;
            let accepted = String::from_utf8(bytes)
                .ok()
                .and_then(|text| SignedCheckpoint::parse(&text).ok())
                .and_then(|note| note.signed_by(&signers(&key)).map(str::to_owned));
            prop_assert_eq!(accepted, None);
        }
    }
}
