//! Cards: what each machine says of itself at a remote, in a signed commit without a parent.
//!
//! ```text
//! refs/agekeep/cards/<digits of its signing key>
//!     commit   the card in its message, signed by the machine's key
//!     readers auditors   mail: keys for the mailboxes of other machines
//! ```
//!
//! A card is public. It says which event its machine is at, which keys it has, and to which mailbox
//! others can send it more. docs/format.md, section 14, has every line of it.

use std::fmt::Write;

use chrono::{DateTime, Utc};

use crate::crypto::digest::Digest;
use crate::crypto::recipients::Role;
use crate::crypto::seal::{Recipient, Sealed};
use crate::crypto::sign::{SignedBy, SigningKey, VerifyingKey, check_name};
use crate::error::Result;
use crate::event::rfc3339;
use crate::id::{ObjectId, StoreId, hex_bytes};
use crate::keyring::HeldKeys;
use crate::repository::Repository;
use crate::repository::object::{self, Object, Tree, TreeEntry};
pub(super) use crate::store::replica::digits_of;

/// Where cards are at a remote, and the lines of machines whose events are not in the branch.
pub(super) const CARDS: &str = "refs/agekeep/cards/";
pub(super) const LINES: &str = "refs/agekeep/lines/";
/// The names of the mail in a card's tree.
const READERS: &str = "readers";
const AUDITORS: &str = "auditors";
/// Most bytes of a card's commit.
pub(super) const CARD_BYTES_MAX: usize = 16 * 1024;
/// The form of a card.
const SCHEMA: &str = "agekeep card 1";
/// The letters of a code, of which a person reads sixteen to another.
const LETTERS: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";

/// What a machine says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Card {
    pub(super) store: StoreId,
    /// Its name, which is that of its signing key in `signers`.
    pub(super) name: String,
    pub(super) key: VerifyingKey,
    /// The recipient of the identity that opens its copy.
    pub(super) reads: Recipient,
    /// What it is, or asks to become.
    pub(super) role: Role,
    pub(super) mailbox: Recipient,
    /// The keys that it has; `None` if it has none.
    pub(super) keys: Option<HeldKeys>,
    /// True if it asks for all of the keyring, whatever it has.
    pub(super) wants_all: bool,
    /// The mailboxes to which its mail is, each with the entries of the two tables at which that begins;
    /// zeros if it is all of the keyring.
    pub(super) mail: Vec<(u32, u32, String)>,
    /// Where its history ends: how many events, the newest commit, and SHA-256 of that.
    pub(super) events: u64,
    pub(super) head: ObjectId,
    pub(super) digest: Digest,
    /// The time at which it said so. A later card of one machine has a later time.
    pub(super) time: DateTime<Utc>,
}

/// The mail of a card.
#[derive(Default)]
pub(super) struct Mail {
    pub(super) readers: Option<Sealed>,
    pub(super) auditors: Option<Sealed>,
}

/// A card as its machine published it. The signature on the commit is checked; whether its key is a
/// signer's is not.
#[derive(Clone)]
pub(super) struct PublishedCard {
    pub(super) card: Card,
    pub(super) commit: ObjectId,
    /// The commit object.
    pub(super) object: String,
}

/// Parses the digits in the name of a ref.
pub(super) fn parse_digits(text: &str) -> Option<&str> {
    hex_bytes::<8>(text).map(|_| text)
}

impl Card {
    /// Tells whether it comes with mail for a mailbox.
    pub(super) fn has_mail_for(&self, mailbox: &str) -> bool {
        self.mail.iter().any(|(_, _, to)| to == mailbox)
    }

    /// Tells whether its machine has no keys, and asks for none.
    pub(super) fn has_left(&self) -> bool {
        self.keys.is_none() && !self.wants_all
    }

    /// Returns the code that people compare: sixteen letters that stand for store, name, keys and role.
    pub(super) fn code(&self) -> String {
        let digest = Digest::of_pieces(&[
            b"agekeep card code\n",
            self.store.to_string().as_bytes(),
            format!("\n{}\n{}\n", self.name, self.role.as_str()).as_bytes(),
            self.key.public_line().as_bytes(),
            format!("\n{}\n", self.reads).as_bytes(),
        ]);
        let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
        let letters: String = digest.0[..16].iter().map(letter).collect();
        [
            &letters[..4],
            &letters[4..8],
            &letters[8..12],
            &letters[12..],
        ]
        .join("-")
    }

    /// Tells whether another card says the same, but for its time.
    pub(super) fn says_what(&self, other: &Self) -> bool {
        let time = other.time;
        *other
            == Self {
                time,
                ..self.clone()
            }
    }

    fn to_message(&self) -> String {
        let keys = match self.keys {
            Some(held) => format!(
                "{} {} {} {}",
                held.epoch, held.names, held.in_ring, held.in_names
            ),
            None => "none".into(),
        };
        let wants = if self.wants_all { "wants all\n" } else { "" };
        let mut mail = String::new();
        for (in_ring, in_names, to) in &self.mail {
            let _ = writeln!(mail, "mail {in_ring} {in_names} {to}");
        }
        format!(
            "card of {name}\n\n{SCHEMA}\nstore {}\nname {name}\nkey {}\nreads {}\nrole {}\n\
             mailbox {}\nkeys {keys}\n{wants}{mail}events {}\ncommit {}\nsha256 {}\ntime {}\n",
            self.store,
            self.key.public_line(),
            self.reads,
            self.role.as_str(),
            self.mailbox,
            self.events,
            self.head,
            self.digest,
            rfc3339(self.time),
            name = self.name,
        )
    }

    /// Parses the message of a card's commit. There is only one form; any other is refused.
    fn parse(message: &str) -> Option<Self> {
        let (_, lines) = message.split_once("\n\n")?;
        let mut lines = lines.lines().peekable();
        let mut line = |label: &str| lines.next()?.strip_prefix(label);
        line(SCHEMA)?;
        let store = StoreId::from_hex(line("store ")?)?;
        let name = line("name ")?.to_owned();
        check_name(&name).ok()?;
        let key = VerifyingKey::parse(line("key ")?).ok()?;
        key.bytes()?;
        let reads = Recipient::parse(line("reads ")?).ok()?;
        let role = line("role ")?.parse().ok()?;
        let mailbox = Recipient::parse(line("mailbox ")?).ok()?;
        // The outer encryption of mail runs no plugin.
        mailbox.is_x25519().then_some(())?;
        let keys = match line("keys ")? {
            "none" => None,
            numbers => Some(parse_keys(numbers)?),
        };
        let wants_all = lines.next_if_eq(&"wants all").is_some();
        let mut mail = Vec::new();
        while let Some(to) = lines.next_if(|line| line.starts_with("mail ")) {
            let mut parts = to.split(' ').skip(1);
            let (in_ring, in_names) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let to = parts.next()?;
            to.bytes()
                .all(|byte| byte.is_ascii_alphanumeric())
                .then_some(())?;
            mail.push((in_ring, in_names, to.to_owned()));
        }
        let mut line = |label: &str| lines.next()?.strip_prefix(label);
        let card = Self {
            store,
            name,
            key,
            reads,
            role,
            mailbox,
            keys,
            wants_all,
            mail,
            events: line("events ")?.parse().ok().filter(|events| *events > 0)?,
            head: ObjectId::from_hex(line("commit ")?)?,
            digest: Digest::from_hex(line("sha256 ")?)?,
            time: DateTime::parse_from_rfc3339(line("time ")?).ok()?.to_utc(),
        };
        (card.to_message() == message).then_some(card)
    }

    /// Signs the card, and returns its commit and the other objects of it.
    pub(super) fn publish(
        &self,
        mail: Mail,
        signing_key: &SigningKey,
    ) -> Result<(PublishedCard, Vec<Object>)> {
        let (mut tree, mut objects) = (Tree::new(), Vec::new());
        for (name, sealed) in [(READERS, mail.readers), (AUDITORS, mail.auditors)] {
            let Some(sealed) = sealed else { continue };
            let object = Object::sealed(sealed);
            let (folder, id) = (false, object.id);
            tree.insert(name.into(), TreeEntry { folder, id });
            objects.push(object);
        }
        let tree = Object::tree(&tree);
        let author = format!(
            "{0} <{0}@agekeep> {1} +0000",
            self.name,
            self.time.timestamp()
        );
        let unsigned = object::encode_commit(tree.id, None, &author, &self.to_message());
        let signature = signing_key.sign(&unsigned)?;
        let commit = Object::commit(object::add_signature(&unsigned, &signature));
        let published = PublishedCard {
            card: self.clone(),
            commit: commit.id,
            object: String::from_utf8(commit.bytes.clone()).expect("a card is text"),
        };
        objects.extend([tree, commit]);
        Ok((published, objects))
    }
}

fn parse_keys(text: &str) -> Option<HeldKeys> {
    let mut numbers = text.split(' ');
    let keys = HeldKeys {
        epoch: numbers.next()?.parse().ok()?,
        names: numbers.next()?.parse().ok()?,
        in_ring: numbers.next()?.parse().ok()?,
        in_names: numbers.next()?.parse().ok()?,
    };
    numbers.next().is_none().then_some(keys)
}

impl PublishedCard {
    /// Parses the commit object of a card, and checks that the key in it signed it.
    pub(super) fn parse(object: &str) -> Option<Self> {
        if object.len() > CARD_BYTES_MAX {
            return None;
        }
        let commit = object::parse_commit(object.as_bytes())?;
        let card = Card::parse(&commit.message).filter(|_| commit.parent.is_none())?;
        let signed = SignedBy::check(&commit.signed_bytes, &commit.signature)?;
        (signed.fingerprint() == card.key.fingerprint()).then(|| Self {
            card,
            commit: Object::commit(object.as_bytes().to_vec()).id,
            object: object.to_owned(),
        })
    }

    /// Reads a card that was fetched; `None` if it is none.
    pub(super) fn read(repository: &Repository, commit: ObjectId) -> Option<Self> {
        let (_, bytes) = repository.commit(commit).ok()?;
        Self::parse(&String::from_utf8(bytes).ok()?)
    }

    /// Reads the mail of a card that was fetched: what is for machines of this role.
    pub(super) fn mail(&self, repository: &Repository, role: Role) -> Option<Sealed> {
        let commit = object::parse_commit(self.object.as_bytes())?;
        let name = match role {
            Role::Reader => READERS,
            Role::Auditor => AUDITORS,
        };
        let [found] = repository.files_in(commit.tree, [name]).ok()?;
        repository.sealed(found?).ok()
    }

    pub(super) fn digits(&self) -> String {
        digits_of(&self.card.key)
    }
}

/// Returns the letters of a code, however somebody spelled it.
pub(super) fn letters_of(code: &str) -> String {
    let letters = code.chars().filter(char::is_ascii_alphabetic);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Reads bytes as the commit of a card: what is accepted encodes back to the same bytes.
#[cfg(any(fuzzing, test))]
#[allow(clippy::missing_panics_doc)] // a violated property panics, which is how it is found
pub fn fuzz(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Some(card) = Card::parse(text) {
        assert_eq!(card.to_message(), text);
        assert_eq!(card.code().len(), 19);
    }
    if let Some(published) = PublishedCard::parse(text) {
        assert_eq!(published.object, text);
        assert!(text.contains(&published.card.to_message()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::crypto::seal::SealKey;

    fn card(key: &SigningKey) -> Card {
        let recipient = || Recipient::parse(&SealKey::generate().public_text()).expect("own");
        Card {
            store: StoreId([3; 16]),
            name: "ci".into(),
            key: key.verifying_key(),
            reads: recipient(),
            role: Role::Reader,
            mailbox: recipient(),
            keys: Some(HeldKeys {
                epoch: 3,
                names: 4,
                in_ring: 120,
                in_names: 118,
            }),
            wants_all: true,
            mail: vec![(0, 0, "age1a".into()), (7, 8, "age1b".into())],
            events: 131,
            head: ObjectId([7; 20]),
            digest: Digest([9; 32]),
            time: DateTime::from_timestamp_millis(1_790_000_000_017).expect("a time"),
        }
    }

    fn published(card: &Card, key: &SigningKey) -> PublishedCard {
        card.publish(Mail::default(), key).expect("signs").0
    }

    #[test]
    fn a_card_reads_back_and_only_its_own_key_signs_it() {
        let key = SigningKey::generate();
        let ours = Card {
            keys: None,
            wants_all: false,
            mail: Vec::new(),
            ..card(&key)
        };
        for card in [card(&key), ours] {
            let made = published(&card, &key);
            let read = PublishedCard::parse(&made.object).expect("own output");
            assert_eq!((&read.card, read.commit), (&card, made.commit));
            let other = published(&card, &SigningKey::generate());
            assert!(PublishedCard::parse(&other.object).is_none());
        }
    }

    #[test]
    fn a_code_stands_for_store_name_keys_and_role() {
        let key = SigningKey::generate();
        let card = card(&key);
        let same = Card {
            mailbox: Recipient::parse(&SealKey::generate().public_text()).expect("own"),
            events: 9,
            keys: None,
            ..card.clone()
        };
        assert_eq!(card.code(), same.code());
        assert_eq!(card.code().split('-').map(str::len).max(), Some(4));
        let reads = Recipient::parse(&SealKey::generate().public_text()).expect("own");
        let role = Role::Auditor;
        for other in [
            Card {
                store: StoreId([4; 16]),
                ..card.clone()
            },
            Card {
                name: "cj".into(),
                ..card.clone()
            },
            Card {
                key: SigningKey::generate().verifying_key(),
                ..card.clone()
            },
            Card {
                reads,
                ..card.clone()
            },
            Card {
                role,
                ..card.clone()
            },
        ] {
            assert_ne!(card.code(), other.code());
        }
    }

    #[test]
    fn one_form_is_read() {
        let whole = card(&SigningKey::generate()).to_message();
        assert!(Card::parse(&whole).is_some());
        for (from, to) in [
            ("card of ci", "card of cj"),
            ("card 1", "card 2"),
            ("store 03", "store 0"),
            ("name ci", "name -ci"),
            ("role reader", "role owner"),
            ("keys 3 4 120 118", "keys 3 4 120"),
            ("keys 3 4 120 118", "keys 3 4 120 118 1"),
            ("keys 3", "keys 03"),
            ("wants all", "wants some"),
            ("wants all", "wants all\nwants all"),
            ("keys 3 4 120", "keys 3 4 4294967296"),
            ("mail 0 0 age1a", "mail 0 age1a"),
            ("mail 0 0 age1a", "mail 0 0 age1a x"),
            ("mail 0 0 age1a", "mail 0 0 age1\u{1}"),
            ("events 131", "events 0"),
            ("events 131", "events 131\nevents 131"),
            (".017Z", ".017+00:00"),
            ("mailbox age1", "mailbox age2"),
            ("key ssh-ed25519", "key ssh-rsa"),
            ("time 2", "time  2"),
        ] {
            let bad = whole.replacen(from, to, 1);
            assert_ne!(bad, whole, "{from}");
            assert!(Card::parse(&bad).is_none(), "{to}");
        }
        assert!(Card::parse(&(whole.clone() + "\n")).is_none());
        assert!(Card::parse(&whole[..whole.len() - 1]).is_none());
    }

    /// The version of a signature is not signed, and no other is read.
    #[test]
    fn a_signature_has_one_form() {
        let key = SigningKey::generate();
        let object = published(&card(&key), &key).object;
        let version_1 = "U1NIU0lHAAAAAQ";
        assert!(object.contains(version_1));
        for other in ["U1NIU0lHAAAAAA", "U1NIU0lHAAAAAB", "U1NIU0lHABAAAQ"] {
            let changed = object.replacen(version_1, other, 1);
            assert!(PublishedCard::parse(&changed).is_none(), "{other}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(
            text in "(card of ci\n\n|agekeep card 1\n|store |name ci\n|keys none\n|mail 0 0 age1\n|time |[0-9a-f]{0,40}|\n|\\PC){0,14}",
            cut in any::<prop::sample::Index>(),
            byte: u8,
        ) {
            fuzz(text.as_bytes());
            let key = SigningKey::generate();
            let mut object = published(&card(&key), &key).object.into_bytes();
            let at = cut.index(object.len());
            let before = std::mem::replace(&mut object[at], byte);
            fuzz(&object);
            let changed = String::from_utf8(object).ok();
            let read = changed.and_then(|text| PublishedCard::parse(&text));
            prop_assert!(before == byte || read.is_none());
        }
    }
}
