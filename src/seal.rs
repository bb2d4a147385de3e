//! Sealing with age: versions to their memory's own key, records to the audit identity, keyring
//! files to people. The only module that names the `age` crate.
//!
//! [`Sealed`] is the one type the repository accepts as content, and only this module makes it:
//! by sealing, or by parsing the whole header of an age v1 file.

use std::io::{self, BufReader, Read, Write};
use std::str::FromStr;
use std::sync::Arc;

use age::armor::{ArmoredReader, ArmoredWriter, Format};
use age::secrecy::ExposeSecret;
use age::x25519;
use zeroize::Zeroizing;

use crate::digest::Digest;

/// Characters of an age X25519 identity in its Bech32 form: `AGE-SECRET-KEY-1` and 58 more.
pub(crate) const IDENTITY_CHARACTERS: usize = 74;

/// Ciphertext: a whole age v1 file.
#[derive(Clone)]
pub(crate) struct Sealed(Vec<u8>);

/// Why something did not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenFault {
    /// Not an age file, cut short, or changed.
    Damaged,
    /// A whole age file, for somebody else.
    WrongKey,
}

impl Sealed {
    /// Accepts bytes that begin with a whole age v1 header; anything else is not ciphertext.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Self, OpenFault> {
        age::Decryptor::new_buffered(&bytes[..]).map_err(|_| OpenFault::Damaged)?;
        Ok(Self(bytes))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// SHA-256 of the ciphertext, which the event record keeps.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }
}

/// An X25519 identity the store makes for itself: a memory's, or the audit identity.
///
/// Its public half is as secret as the private one: who does not have it cannot forge a version.
pub(crate) struct SealKey(x25519::Identity);

impl SealKey {
    pub(crate) fn generate() -> Self {
        Self(x25519::Identity::generate())
    }

    /// The same key once more.
    pub(crate) fn again(&self) -> Self {
        Self(self.0.clone())
    }

    /// Reads the Bech32 form, as `age -i` does.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        x25519::Identity::from_str(text).ok().map(Self)
    }

    /// The Bech32 form, [`IDENTITY_CHARACTERS`] long.
    pub(crate) fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(self.0.to_string().expose_secret().to_owned())
    }

    /// Seals `plain` into an age file.
    pub(crate) fn seal(&self, plain: &[u8]) -> Sealed {
        Sealed(seal_to(&[&self.0.to_public()], plain))
    }

    #[cfg(test)]
    pub(crate) fn open(&self, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, OpenFault> {
        Self::open_with_any(std::slice::from_ref(self), sealed)
    }

    /// Opens an age file with the first of `keys` that fits.
    pub(crate) fn open_with_any(
        keys: &[Self],
        sealed: &Sealed,
    ) -> Result<Zeroizing<Vec<u8>>, OpenFault> {
        let identities: Vec<&dyn age::Identity> = keys.iter().map(|k| &k.0 as _).collect();
        open_with(&sealed.0[..], sealed.0.len(), &identities)
    }

    /// Seals `plain` into the ASCII-armored form, for a commit message.
    pub(crate) fn seal_armored(&self, plain: &[u8]) -> String {
        let mut out = Vec::new();
        let armored =
            ArmoredWriter::wrap_output(&mut out, Format::AsciiArmor).expect("writing to memory");
        encryptor(&[&self.0.to_public()])
            .wrap_output(armored)
            .and_then(|mut writer| {
                writer.write_all(plain)?;
                writer.finish()?.finish()
            })
            .expect("writing to memory");
        String::from_utf8(out).expect("armor is ASCII")
    }
}

/// Opens an armored age file with the first of `keys` that fits.
pub(crate) fn open_armored(
    armored: &str,
    keys: &[SealKey],
) -> Result<Zeroizing<Vec<u8>>, OpenFault> {
    let identities: Vec<&dyn age::Identity> = keys.iter().map(|k| &k.0 as _).collect();
    let reader = BufReader::new(ArmoredReader::new(armored.as_bytes()));
    open_with(reader, armored.len(), &identities)
}

/// The age identities of a person or machine, as an identity file holds them.
#[derive(Clone)]
pub struct Identity(Arc<Vec<x25519::Identity>>);

impl Identity {
    /// Makes a new X25519 identity.
    #[must_use]
    pub fn generate() -> Self {
        Self(Arc::new(vec![x25519::Identity::generate()]))
    }

    /// Reads an identity file: lines of `AGE-SECRET-KEY-1…`, comments and blank lines.
    ///
    /// # Errors
    /// Says which line is not an X25519 identity, never what stands in it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut found = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let identity = x25519::Identity::from_str(line)
                .map_err(|_| format!("line {} is not an age X25519 identity", index + 1))?;
            found.push(identity);
        }
        if found.is_empty() {
            return Err("it holds no identity".into());
        }
        Ok(Self(Arc::new(found)))
    }

    /// The file to keep, with the recipient as a comment, as `age-keygen` writes it.
    #[must_use]
    pub fn to_file(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(200 * self.0.len()));
        for identity in self.0.iter() {
            text.push_str("# public key: ");
            text.push_str(&identity.to_public().to_string());
            text.push('\n');
            text.push_str(identity.to_string().expose_secret());
            text.push('\n');
        }
        text
    }

    /// The first identity in its Bech32 form: `AGE-SECRET-KEY-1…`.
    #[must_use]
    pub fn to_secret_line(&self) -> Zeroizing<String> {
        Zeroizing::new(self.0[0].to_string().expose_secret().to_owned())
    }

    /// The public half of the first identity: `age1…`.
    #[must_use]
    pub fn recipient(&self) -> Recipient {
        Recipient(self.0[0].to_public())
    }

    /// The public halves that can be told from what is held.
    pub(crate) fn recipients(&self) -> Vec<Recipient> {
        self.0
            .iter()
            .map(|own| Recipient(own.to_public()))
            .collect()
    }

    pub(crate) fn open(&self, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, OpenFault> {
        let identities: Vec<&dyn age::Identity> = self.0.iter().map(|i| i as _).collect();
        open_with(&sealed.0[..], sealed.0.len(), &identities)
    }
}

/// The public half of an age identity: who can open.
#[derive(Clone, PartialEq, Eq)]
pub struct Recipient(x25519::Recipient);

impl Recipient {
    /// Seals `plain` to every one of `recipients`, of which there is at least one.
    pub(crate) fn seal_to_all(recipients: &[Self], plain: &[u8]) -> Sealed {
        let recipients: Vec<_> = recipients.iter().map(|r| &r.0).collect();
        Sealed(seal_to(&recipients, plain))
    }
}

impl FromStr for Recipient {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        x25519::Recipient::from_str(text).map(Self)
    }
}

impl std::fmt::Display for Recipient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::fmt::Debug for Recipient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Recipient({})", self.0)
    }
}

fn encryptor(recipients: &[&x25519::Recipient]) -> age::Encryptor {
    age::Encryptor::with_recipients(recipients.iter().map(|r| *r as &dyn age::Recipient))
        .expect("X25519 recipients mix, and there is at least one")
}

fn seal_to(recipients: &[&x25519::Recipient], plain: &[u8]) -> Vec<u8> {
    // The header with its random padding stanza stays under 600 bytes for one recipient; the
    // stream adds 16 bytes for each 64 KiB.
    let mut out = Vec::with_capacity(plain.len() + plain.len() / 4096 + 600);
    encryptor(recipients)
        .wrap_output(&mut out)
        .and_then(|mut writer| {
            writer.write_all(plain)?;
            writer.finish()
        })
        .expect("writing to memory");
    out
}

fn open_with(
    input: impl io::BufRead,
    capacity: usize,
    identities: &[&dyn age::Identity],
) -> Result<Zeroizing<Vec<u8>>, OpenFault> {
    let decryptor = age::Decryptor::new_buffered(input).map_err(|_| OpenFault::Damaged)?;
    let mut reader = decryptor
        .decrypt(identities.iter().copied())
        .map_err(|e| match e {
            age::DecryptError::NoMatchingKeys => OpenFault::WrongKey,
            _ => OpenFault::Damaged,
        })?;
    // The plaintext is shorter than the ciphertext: the buffer never grows and leaves no copy.
    let mut plain = Zeroizing::new(Vec::with_capacity(capacity));
    reader
        .read_to_end(&mut plain)
        .map_err(|_| OpenFault::Damaged)?;
    Ok(plain)
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
            let armored = key.seal_armored(&plain);
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
    fn identity_files() {
        let identity = Identity::generate();
        let text = identity.to_file();
        assert!(Identity::parse(&text).is_ok());
        assert_eq!(
            identity.0[0].to_string().expose_secret().len(),
            IDENTITY_CHARACTERS
        );
        assert!(Identity::parse("# nothing\n\n").is_err());
        let why = Identity::parse("\nAGE-SECRET-KEY-1CANARY\n")
            .err()
            .expect("refused");
        assert!(why.contains("line 2") && !why.contains("CANARY"));
        assert!(Identity::parse(&identity.recipient().to_string()).is_err());
    }
}
