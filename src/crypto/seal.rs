//! Sealing with age: versions to their memory's own key, records to the audit identity, keyring
//! files to members. The only module that uses the `age` crate.
//!
//! [`Sealed`] is the only type that the repository accepts as content. Only this module makes one:
//! by sealing, or by parsing the whole header of an age v1 file.

mod identity;
mod openssh;
mod recipient;
mod unlock;

use std::io::{self, BufReader, Read, Write};
use std::str::FromStr;

use age::armor::{ArmoredReader, ArmoredWriter, Format};
use age::secrecy::ExposeSecret;
use age::{DecryptError, x25519};
use zeroize::Zeroizing;

use crate::crypto::digest::Digest;
use crate::error::{Error, KeyFault};

pub use self::identity::Identity;
pub(crate) use self::identity::{Unopened, Unusable};
pub use self::recipient::Recipient;
pub use self::unlock::{PASSPHRASE_BYTES_MAX, Passphrase, PassphraseRequest, Unattended, Unlock};

/// Length of an age X25519 identity in Bech32, in characters: `AGE-SECRET-KEY-1` and 58 more.
pub(crate) const IDENTITY_CHARACTERS: usize = 74;

/// Ciphertext: a whole age v1 file.
#[derive(Clone)]
pub(crate) struct Sealed(Vec<u8>);

/// The reasons why a ciphertext does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenFault {
    /// Not an age file, truncated, or changed.
    Damaged,
    /// A whole age file that is sealed to another key.
    WrongKey,
}

impl Sealed {
    /// Accepts bytes that begin with a whole age v1 header, and no others.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Self, OpenFault> {
        age::Decryptor::new_buffered(&bytes[..]).map_err(|_| OpenFault::Damaged)?;
        Ok(Self(bytes))
    }

    /// Encrypts `plain` with an encryptor that is set up for its recipients.
    fn write(encryptor: age::Encryptor, plain: &[u8]) -> Self {
        // The header with its random grease stanza stays under 600 bytes for one recipient; the
        // stream adds 16 bytes for each 64 KiB.
        let mut out = Vec::with_capacity(plain.len() + plain.len() / 4096 + 600);
        encryptor
            .wrap_output(&mut out)
            .and_then(|mut writer| {
                writer.write_all(plain)?;
                writer.finish()
            })
            .expect("writing to memory");
        Self(out)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Counts the recipients in the header, without the grease stanzas that age adds to keep
    /// readers tolerant.
    pub(crate) fn stanzas(&self) -> usize {
        let lines = self.0.split(|b| *b == b'\n');
        lines
            .take_while(|line| !line.starts_with(b"---"))
            .filter_map(|line| line.strip_prefix(b"-> "))
            .filter(|line| {
                let tag = line.split(|b| *b == b' ').next();
                tag.is_some_and(|tag| !tag.ends_with(b"-grease"))
            })
            .count()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Returns the SHA-256 of the ciphertext, which the event record holds.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }
}

impl OpenFault {
    fn of(error: &DecryptError) -> Self {
        match error {
            DecryptError::NoMatchingKeys => Self::WrongKey,
            _ => Self::Damaged,
        }
    }
}

/// An X25519 identity that the store generates: a memory's, or the audit identity.
///
/// The public half is as secret as the private one: nobody without it can forge a version.
pub(crate) struct SealKey(x25519::Identity);

impl SealKey {
    pub(crate) fn generate() -> Self {
        Self(x25519::Identity::generate())
    }

    /// Copies the key.
    pub(crate) fn again(&self) -> Self {
        Self(self.0.clone())
    }

    /// Parses the Bech32 form, as in `age -i` files.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        x25519::Identity::from_str(text).ok().map(Self)
    }

    /// Formats the key in Bech32, [`IDENTITY_CHARACTERS`] long.
    pub(crate) fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(self.0.to_string().expose_secret().to_owned())
    }

    /// Formats the public half in Bech32.
    pub(crate) fn public_text(&self) -> String {
        self.0.to_public().to_string()
    }

    /// Starts an age file. This takes longer than the rest, and does not depend on the plaintext.
    pub(crate) fn begin(&self) -> PreparedEncryptor {
        let recipient = self.0.to_public();
        let recipients = std::iter::once(&recipient as &dyn age::Recipient);
        let encryptor = age::Encryptor::with_recipients(recipients);
        PreparedEncryptor(encryptor.expect("there is one X25519 recipient"))
    }

    /// Seals `plain` into an age file.
    pub(crate) fn seal(&self, plain: &[u8]) -> Sealed {
        self.begin().seal(plain)
    }

    #[cfg(test)]
    pub(crate) fn open(&self, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, OpenFault> {
        Self::open_with_any(std::slice::from_ref(self), sealed)
    }

    /// Opens an age file with the first matching key.
    pub(crate) fn open_with_any(
        keys: &[Self],
        sealed: &Sealed,
    ) -> Result<Zeroizing<Vec<u8>>, OpenFault> {
        let identities: Vec<&dyn age::Identity> = keys.iter().map(|k| &k.0 as _).collect();
        let opened = decrypt(&sealed.0[..], sealed.0.len(), &identities);
        opened.map_err(|error| OpenFault::of(&error))
    }
}

/// A started age file: its header and its file key. It seals one plaintext.
pub(crate) struct PreparedEncryptor(age::Encryptor);

impl PreparedEncryptor {
    /// Seals `plain` into it.
    pub(crate) fn seal(self, plain: &[u8]) -> Sealed {
        Sealed::write(self.0, plain)
    }

    /// Seals `plain` as ASCII armor, for a commit message.
    pub(crate) fn seal_armored(self, plain: &[u8]) -> String {
        let mut out = Vec::new();
        let armored =
            ArmoredWriter::wrap_output(&mut out, Format::AsciiArmor).expect("writing to memory");
        self.0
            .wrap_output(armored)
            .and_then(|mut writer| {
                writer.write_all(plain)?;
                writer.finish()?.finish()
            })
            .expect("writing to memory");
        String::from_utf8(out).expect("armor is ASCII")
    }
}

/// Opens an armored age file with the first matching key.
pub(crate) fn open_armored(
    armored: &str,
    keys: &[SealKey],
) -> Result<Zeroizing<Vec<u8>>, OpenFault> {
    // Most records are sealed to the newest key, which is last.
    let newest_first = keys.iter().rev();
    let identities: Vec<&dyn age::Identity> = newest_first.map(|k| &k.0 as _).collect();
    let reader = BufReader::new(ArmoredReader::new(armored.as_bytes()));
    let opened = decrypt(reader, armored.len(), &identities);
    opened.map_err(|error| OpenFault::of(&error))
}

fn decrypt(
    input: impl io::BufRead,
    capacity: usize,
    identities: &[&dyn age::Identity],
) -> Result<Zeroizing<Vec<u8>>, DecryptError> {
    let decryptor = age::Decryptor::new_buffered(input)?;
    let mut reader = decryptor.decrypt(identities.iter().copied())?;
    // The plaintext is shorter than the ciphertext, so the buffer never grows and leaves no copy.
    let mut plain = Zeroizing::new(Vec::with_capacity(capacity));
    let read = reader.read_to_end(&mut plain);
    read.map_err(|_| DecryptError::InvalidMac)?;
    Ok(plain)
}

/// Returns the program that age runs for a plugin.
fn program(plugin: &str) -> String {
    format!("age-plugin-{plugin}")
}

/// Builds the error of a failed plugin. Its message is untrusted and is kept short.
fn plugin_failed(plugin: String, why: &str) -> Error {
    /// Room for a sentence or two.
    const CHARACTERS_MAX: usize = 400;
    // The age crate isolates foreign texts with these directional marks.
    let why = why
        .chars()
        .filter(|c| !matches!(c, '\u{2068}' | '\u{2069}'));
    let why = why.take(CHARACTERS_MAX).collect();
    Error::Key(KeyFault::PluginFailed { plugin, why })
}

/// Rounds a size up to its PADMÉ class (Nikitin et al., "Reducing Metadata Leakage from Encrypted
/// Files", 2019), at least `min`. Only O(log log size) bits of the size show, at a cost of at most
/// 12 %.
pub(crate) fn size_class(size: usize, min: usize) -> usize {
    let size = size.max(min).max(2);
    let exponent = size.ilog2();
    let kept_bits = exponent.ilog2() + 1;
    let mask = (1usize << exponent.saturating_sub(kept_bits)) - 1;
    (size + mask) & !mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn seal_then_open_is_identity(plain in prop::collection::vec(any::<u8>(), 0..70_000)) {
            let key = SealKey::generate();
            let opened = key.open(&key.seal(&plain)).expect("own key");
            prop_assert_eq!(&*opened, &plain);
            let armored = key.begin().seal_armored(&plain);
            let opened = open_armored(&armored, &[SealKey::generate(), key]).expect("one of them");
            prop_assert_eq!(&*opened, &plain);
        }
    }

    #[test]
    fn no_changed_or_cut_byte_opens() {
        let key = SealKey::generate();
        let sealed = key.seal(b"a text of some length");
        for i in 0..sealed.0.len() {
            let mut bad = sealed.0.clone();
            bad[i] ^= 1;
            assert!(key.open(&Sealed(bad)).is_err(), "byte {i}");
            assert!(
                key.open(&Sealed(sealed.0[..i].to_vec())).is_err(),
                "cut at {i}"
            );
        }
        let mut longer = sealed.0.clone();
        longer.push(0);
        assert!(key.open(&Sealed(longer)).is_err());
    }

    #[test]
    fn plaintext_is_not_taken_for_ciphertext() {
        for bytes in [
            &b""[..],
            b"plain",
            b"age-encryption.org/v1\n",
            b"age-encryption.org/v2\n-> X25519 a\n",
        ] {
            assert!(Sealed::parse(bytes.to_vec()).is_err());
        }
        let sealed = SealKey::generate().seal(b"x");
        assert!(Sealed::parse(sealed.0).is_ok());
    }

    #[test]
    fn another_key_and_damage_are_told_apart() {
        let sealed = SealKey::generate().seal(b"x");
        assert_eq!(
            SealKey::generate().open(&sealed).err(),
            Some(OpenFault::WrongKey)
        );
    }

    #[test]
    fn recipients_are_counted_without_grease() {
        let text = b"age-encryption.org/v1\n-> X25519 one\nbody\n-> f-grease x y\nbody\n\
            -> ssh-ed25519 two\nbody\n--- mac\n-> X25519 three\n";
        assert_eq!(Sealed(text.to_vec()).stanzas(), 2);
    }

    #[test]
    fn sizes_grow_by_the_classes_of_padme() {
        for (size, min, class) in [
            (0, 0, 2),
            (3, 0, 3),
            (9, 0, 10),
            (100, 256, 256),
            (1_000, 256, 1_024),
            (1_024, 256, 1_024),
            (1_025, 256, 1_088),
            (65_537, 256, 67_584),
            (70_000, 256, 71_680),
            (1_000_000, 256, 1_015_808),
        ] {
            assert_eq!(size_class(size, min), class, "{size}");
        }
    }

    #[test]
    fn identity_files() {
        let identity = Identity::generate();
        let text = identity.to_file();
        assert!(Identity::parse(&text).is_ok());
        assert_eq!(text.lines().last().map(str::len), Some(IDENTITY_CHARACTERS));
        assert!(Identity::parse("# nothing\n\n").is_err());
        let why = Identity::parse("\nAGE-SECRET-KEY-1CANARY\n")
            .err()
            .expect("refused");
        assert!(why.contains("line 2") && !why.contains("CANARY"));
        assert!(Identity::parse(&identity.recipient().expect("X25519").to_string()).is_err());
    }

    #[test]
    fn the_recipient_of_a_plugin_is_the_one_that_its_file_names() {
        let (identity, recipient) = (
            "AGE-PLUGIN-AGEKEEPTEST-1DAHX2XT6EAH",
            "age1agekeeptest1dahx2hxxx5p",
        );
        let of = |comment: &str| {
            let read = Identity::parse(&format!("{comment}\n{identity}\n"));
            read.expect("an identity").recipient().ok()
        };
        for comment in ["# public key: ", "#Recipient:", "#   RECIPIENT:   "] {
            let named = of(&format!("{comment}{recipient}"));
            assert_eq!(named.expect("named").to_string(), recipient, "{comment}");
        }
        for comment in ["#", "# key: ", "# public key ", "# created: "] {
            assert!(of(&format!("{comment}{recipient}")).is_none(), "{comment}");
        }
    }

    #[test]
    fn no_type_that_holds_a_key_can_be_printed() {
        /// Tells whether a type has `Debug`: the trait's constant applies if there is no other.
        macro_rules! has_debug {
            ($type:ty) => {{
                #[allow(dead_code, reason = "used for types that lack it")]
                trait Without {
                    const DEBUG: bool = false;
                }
                struct Of<T>(std::marker::PhantomData<T>);
                impl<T> Without for Of<T> {}
                #[allow(dead_code, reason = "used for types that have it")]
                impl<T: std::fmt::Debug> Of<T> {
                    const DEBUG: bool = true;
                }
                <Of<$type>>::DEBUG
            }};
        }
        assert!(has_debug!(String) && has_debug!(Recipient));
        assert!(!has_debug!(Identity) && !has_debug!(SealKey) && !has_debug!(Passphrase));
        assert!(!has_debug!(crate::crypto::aead::Key) && !has_debug!(crate::keyring::Keyring));
        assert!(!has_debug!(crate::crypto::sign::SigningKey) && !has_debug!(crate::store::Keys));
    }
}
