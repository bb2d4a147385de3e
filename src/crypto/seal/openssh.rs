//! SSH private keys as identities: Ed25519 and RSA, with or without a passphrase.

use std::io;
use std::path::Path;

use age::DecryptError;
use age::ssh::{Identity, ParseRecipientKeyError};
use zeroize::Zeroizing;

use crate::crypto::base64;
use crate::crypto::seal::identity::Unusable;
use crate::crypto::seal::recipient::Recipient;
use crate::crypto::seal::unlock::{PassphraseRequest, Unlock};

/// Most rounds of bcrypt-pbkdf that a key file may demand: some ten seconds. ssh-keygen writes 16
/// or 24.
const BCRYPT_ROUNDS_MAX: u32 = 1024;

/// An unlocked SSH private key.
pub(super) struct OpenSshKey {
    pub(super) identity: Identity,
    pub(super) recipient: Recipient,
}

impl OpenSshKey {
    pub(super) fn read(bytes: &[u8], path: &Path, unlock: &dyn Unlock) -> Result<Self, Unusable> {
        let identity = Identity::from_buffer(bytes, None).map_err(|e| match e.kind() {
            io::ErrorKind::Interrupted => "it is an SSH key that was cut short",
            _ => {
                "it is not an SSH private key that agekeep can read; `ssh-keygen -p` converts \
                  older forms"
            }
        })?;
        // Checked before asking for a passphrase.
        let recipient = age::ssh::Recipient::try_from(identity.clone()).map_err(of_no_use)?;
        let recipient = Recipient::parse(&recipient.to_string())?;
        let identity = match identity {
            Identity::Encrypted(key) => {
                if rounds(bytes).is_none_or(|rounds| rounds > BCRYPT_ROUNDS_MAX) {
                    return Err(format!(
                        "its passphrase asks for more than {BCRYPT_ROUNDS_MAX} rounds of work"
                    )
                    .into());
                }
                let passphrase = unlock
                    .passphrase(PassphraseRequest::File(path))
                    .map_err(Unusable::Failed)?;
                let opened = key.decrypt(passphrase.to_age());
                opened.map(Identity::from).map_err(|error| match error {
                    DecryptError::KeyDecryptionFailed | DecryptError::DecryptionFailed => {
                        Unusable::wrong_passphrase(path)
                    }
                    _ => "it is an SSH key that was changed".into(),
                })?
            }
            open => open,
        };
        Ok(Self {
            identity,
            recipient,
        })
    }
}

fn of_no_use(error: ParseRecipientKeyError) -> String {
    match error {
        ParseRecipientKeyError::Unsupported(kind) => {
            format!("it is an SSH key of the kind {kind:?}; age knows ssh-ed25519 and ssh-rsa")
        }
        ParseRecipientKeyError::RsaModulusTooLarge => {
            "it is an SSH key of more than 4096 bits, which age does not accept".into()
        }
        ParseRecipientKeyError::Ignore => {
            "it is an SSH key with an old or unknown encryption; `ssh-keygen -p` changes it".into()
        }
        _ => "it is not a usable SSH key".into(),
    }
}

/// Tells whether an RSA public key has canonical wire form: both numbers as short as possible, and
/// nothing after them (RFC 4253, section 6.6; RFC 4251, section 5).
pub(super) fn is_one_form(base64: &str) -> bool {
    let read = || {
        let binary = base64::decode_padded(base64)?;
        let mut rest = &binary[..];
        let _kind = string(&mut rest)?;
        let (exponent, modulus) = (string(&mut rest)?, string(&mut rest)?);
        let shortest = |number: &[u8]| match number {
            [0, next, ..] => next & 0x80 != 0,
            [0] | [] => false,
            [first, ..] => first & 0x80 == 0,
        };
        Some(shortest(exponent) && shortest(modulus) && rest.is_empty())
    };
    read().unwrap_or(false)
}

/// Reads the rounds of the key derivation of an encrypted key (OpenSSH, PROTOCOL.key).
fn rounds(pem: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(pem).ok()?;
    let body = text.lines().skip(1).map(str::trim);
    let body = body.take_while(|line| !line.starts_with('-'));
    let body = Zeroizing::new(body.collect::<String>());
    let binary = Zeroizing::new(base64::decode(body.trim_end_matches('='))?);
    let mut rest = binary.strip_prefix(b"openssh-key-v1\0")?;
    let (_cipher, _kdf) = (string(&mut rest)?, string(&mut rest)?);
    let mut options = string(&mut rest)?;
    let _salt = string(&mut options)?;
    Some(u32::from_be_bytes(options.try_into().ok()?))
}

/// Takes a string of the SSH wire format off the front.
fn string<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, behind) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (text, behind) = behind.split_at_checked(length)?;
    *rest = behind;
    Some(text)
}
