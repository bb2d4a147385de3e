//! The identities of a person or machine: read and unlocked once, then held open in memory.

use std::io::BufReader;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use age::armor::ArmoredReader;
use age::plugin::{self, IdentityPluginV1, ResolveError};
use age::secrecy::ExposeSecret;
use age::{DecryptError, scrypt, x25519};
use zeroize::Zeroizing;

use crate::crypto::seal::recipient::Recipient;
use crate::crypto::seal::unlock::{PassphraseRequest, PluginCallbacks, Unattended, Unlock};
use crate::crypto::seal::{OpenFault, Sealed, decrypt, openssh, plugin_failed, program};
use crate::error::{Error, KeyFault, Result};

/// Largest scrypt work factor of an identity file, as a power of two: 1 GiB of memory and some
/// seconds. age writes 18.
const SCRYPT_LOG_N_MAX: u8 = 20;

const ENCRYPTED: &[u8] = b"age-encryption.org/";
const ENCRYPTED_ARMORED: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----";

/// The age identities in an identity file of a person or machine: X25519, plugin or SSH.
///
/// All of them are unlocked. It has no `Debug`, and is wiped when dropped.
#[derive(Clone)]
pub struct Identity {
    keys: Arc<Vec<IdentityKey>>,
    /// The recipient as the caller states it.
    given: Option<Recipient>,
    /// The recipient as a comment in the file states it.
    noted: Option<Recipient>,
    unlock: Arc<dyn Unlock>,
}

/// A single identity.
enum IdentityKey {
    X25519(x25519::Identity),
    Ssh(Box<openssh::OpenSshKey>),
    /// An identity that only its plugin can use.
    Plugin(plugin::Identity),
}

/// The reasons why an identity file yields no identity.
pub(crate) enum Unusable {
    /// The fault, without any content of the file.
    Because(String),
    /// It could not be unlocked.
    Failed(Error),
}

impl From<&str> for Unusable {
    fn from(why: &str) -> Self {
        Self::Because(why.into())
    }
}

impl From<String> for Unusable {
    fn from(why: String) -> Self {
        Self::Because(why)
    }
}

impl Unusable {
    pub(super) fn wrong_passphrase(path: &Path) -> Self {
        let path = path.into();
        Self::Failed(Error::Key(KeyFault::WrongPassphrase { path }))
    }
}

/// The reasons why an identity did not open a file.
pub(crate) enum Unopened {
    /// It is damaged, or sealed to another key.
    Fault(OpenFault),
    /// A plugin could not run, or failed.
    Failed(Error),
}

impl Identity {
    /// Generates a new X25519 identity.
    #[must_use]
    pub fn generate() -> Self {
        Self::of(
            vec![IdentityKey::X25519(x25519::Identity::generate())],
            None,
        )
    }

    /// Parses an identity file that needs no passphrase: lines of `AGE-SECRET-KEY-1…` and
    /// `AGE-PLUGIN-…`, comments and blank lines; or one SSH private key.
    ///
    /// # Errors
    /// Returns the fault and its line, never content of the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let unlock: Arc<dyn Unlock> = Arc::new(Unattended);
        Self::read(text.as_bytes(), Path::new("it"), &unlock).map_err(|unusable| match unusable {
            Unusable::Because(why) => why,
            Unusable::Failed(error) => error.to_string(),
        })
    }

    /// Reads an identity file of any kind, and unlocks it. `path` is for the passphrase prompt.
    pub(crate) fn read(
        bytes: &[u8],
        path: &Path,
        unlock: &Arc<dyn Unlock>,
    ) -> Result<Self, Unusable> {
        let mut identity = match decrypted(bytes, path, unlock)? {
            Some(plain) => Self::read_plain(&plain, path, unlock)?,
            None => Self::read_plain(bytes, path, unlock)?,
        };
        identity.unlock = Arc::clone(unlock);
        Ok(identity)
    }

    fn read_plain(bytes: &[u8], path: &Path, unlock: &Arc<dyn Unlock>) -> Result<Self, Unusable> {
        if bytes.starts_with(b"-----BEGIN ") {
            let key = openssh::OpenSshKey::read(bytes, path, &**unlock)?;
            return Ok(Self::of(vec![IdentityKey::Ssh(Box::new(key))], None));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not text")?;
        let (mut keys, mut noted) = (Vec::new(), None);
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if let Some(comment) = line.strip_prefix('#') {
                noted = noted.or_else(|| named(comment));
            } else if !line.is_empty() {
                let fault = |what| format!("line {} {what}", index + 1);
                keys.push(key_of(line).map_err(fault)?);
            }
        }
        if keys.is_empty() {
            return Err("it holds no identity".into());
        }
        Ok(Self::of(keys, noted))
    }

    fn of(keys: Vec<IdentityKey>, noted: Option<Recipient>) -> Self {
        Self {
            keys: Arc::new(keys),
            given: None,
            noted,
            unlock: Arc::new(Unattended),
        }
    }

    /// Sets the recipient of the identity. Only a plugin knows the recipient of its own identities.
    #[must_use]
    pub fn with_recipient(mut self, recipient: Recipient) -> Self {
        self.given = Some(recipient);
        self
    }

    /// Formats the X25519 identities as a file, each with its recipient in a comment, as
    /// `age-keygen` writes it. Generated identities are always X25519.
    #[must_use]
    pub fn to_file(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(200 * self.keys.len()));
        for key in self.keys.iter() {
            let IdentityKey::X25519(identity) = key else {
                continue;
            };
            text.push_str("# public key: ");
            text.push_str(&identity.to_public().to_string());
            text.push('\n');
            text.push_str(identity.to_string().expose_secret());
            text.push('\n');
        }
        text
    }

    /// Returns the public half of the first identity: `age1…` or an SSH public key.
    ///
    /// # Errors
    /// [`KeyFault::NoRecipient`] if only a plugin knows it.
    pub fn recipient(&self) -> Result<Recipient> {
        if let Some(given) = &self.given {
            return Ok(given.clone());
        }
        match &self.keys[0] {
            IdentityKey::X25519(identity) => Ok(identity.to_public().into()),
            IdentityKey::Ssh(key) => Ok(key.recipient.clone()),
            IdentityKey::Plugin(identity) => self.noted.clone().ok_or_else(|| {
                let plugin = program(identity.plugin());
                Error::Key(KeyFault::NoRecipient { plugin })
            }),
        }
    }

    /// Returns the first identity in Bech32 (`AGE-SECRET-KEY-1…`), if it is an X25519 identity.
    #[must_use]
    pub fn to_secret_line(&self) -> Option<Zeroizing<String>> {
        match self.keys.first() {
            Some(IdentityKey::X25519(identity)) => Some(Zeroizing::new(
                identity.to_string().expose_secret().to_owned(),
            )),
            _ => None,
        }
    }

    /// Returns the public halves that are known without running a plugin.
    pub(crate) fn recipients(&self) -> Vec<Recipient> {
        let said = self.given.iter().chain(&self.noted).cloned();
        self.own_recipients().chain(said).collect()
    }

    /// Returns the public halves of the keys held here. Files sealed to them are sure to open,
    /// unlike those for recipients that are only stated.
    pub(crate) fn own_recipients(&self) -> impl Iterator<Item = Recipient> {
        self.keys.iter().filter_map(|key| match key {
            IdentityKey::X25519(identity) => Some(identity.to_public().into()),
            IdentityKey::Ssh(key) => Some(key.recipient.clone()),
            IdentityKey::Plugin(_) => None,
        })
    }

    /// Returns the answers to plugins while a file is sealed to their recipients.
    pub(crate) fn unlock(&self) -> &Arc<dyn Unlock> {
        &self.unlock
    }

    /// Opens a file that is sealed to any of the identities. Plugins run last, because they may
    /// require a person's action.
    pub(crate) fn open(&self, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, Unopened> {
        let (bytes, len) = (sealed.as_bytes(), sealed.as_bytes().len());
        let own: Vec<&dyn age::Identity> =
            self.keys.iter().filter_map(IdentityKey::as_age).collect();
        let mut unopened = match decrypt(bytes, len, &own) {
            Ok(plain) => return Ok(plain),
            Err(error) => Unopened::Fault(OpenFault::of(&error)),
        };
        let plugins = self.keys.iter().filter_map(IdentityKey::as_plugin);
        let mut plugins: Vec<&str> = plugins.map(plugin::Identity::plugin).collect();
        plugins.sort_unstable();
        plugins.dedup();
        for name in plugins {
            if !matches!(unopened, Unopened::Fault(OpenFault::Damaged)) {
                match self.open_by_plugin(name, sealed) {
                    Ok(plain) => return Ok(plain),
                    Err(Unopened::Fault(OpenFault::WrongKey)) => {}
                    Err(other) => unopened = other,
                }
            }
        }
        Err(unopened)
    }

    fn open_by_plugin(&self, name: &str, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, Unopened> {
        let identities = self.keys.iter().filter_map(IdentityKey::as_plugin);
        let identities: Vec<_> = identities.cloned().collect();
        let answers = PluginCallbacks::new(&self.unlock, program(name));
        let plugin = IdentityPluginV1::new(name, &identities, answers.clone())
            .map_err(|e| Unopened::Failed(unresolved(&e)))?;
        let bytes = sealed.as_bytes();
        decrypt(bytes, bytes.len(), &[&plugin]).map_err(|error| {
            if let Some(refused) = answers.refused() {
                return Unopened::Failed(refused);
            }
            match error {
                DecryptError::Plugin(errors) => {
                    let said: Vec<_> = errors.iter().map(ToString::to_string).collect();
                    Unopened::Failed(plugin_failed(program(name), &said.join("; ")))
                }
                // The file is in memory, so the plugin's connection failed.
                DecryptError::Io(_) => Unopened::Failed(plugin_failed(program(name), "it stopped")),
                error => Unopened::Fault(OpenFault::of(&error)),
            }
        })
    }
}

impl IdentityKey {
    fn as_age(&self) -> Option<&dyn age::Identity> {
        match self {
            Self::X25519(identity) => Some(identity),
            Self::Ssh(key) => Some(&key.identity),
            Self::Plugin(_) => None,
        }
    }

    fn as_plugin(&self) -> Option<&plugin::Identity> {
        match self {
            Self::Plugin(identity) => Some(identity),
            _ => None,
        }
    }
}

/// Parses a line of an identity file; the error is the fault in it.
fn key_of(line: &str) -> Result<IdentityKey, &'static str> {
    if let Ok(identity) = x25519::Identity::from_str(line) {
        return Ok(IdentityKey::X25519(identity));
    }
    if let Ok(identity) = plugin::Identity::from_str(line) {
        return Ok(IdentityKey::Plugin(identity));
    }
    Err(if line.starts_with("age1") || line.starts_with("ssh-") {
        "is a recipient, the public half; an identity is the secret one"
    } else if line.starts_with("AGE-") {
        "is an age identity that was cut short or changed"
    } else {
        "is not an age identity"
    })
}

/// Parses the recipient in a comment, as written by `age-keygen` and plugins.
fn named(comment: &str) -> Option<Recipient> {
    let (label, text) = comment.split_once(':')?;
    let label = label.trim();
    let labels = ["public key", "recipient"];
    if !labels.iter().any(|known| label.eq_ignore_ascii_case(known)) {
        return None;
    }
    Recipient::parse(text).ok()
}

/// Decrypts a file that is encrypted with a passphrase; `None` if it is not encrypted.
fn decrypted(
    bytes: &[u8],
    path: &Path,
    unlock: &Arc<dyn Unlock>,
) -> Result<Option<Zeroizing<Vec<u8>>>, Unusable> {
    let armored = bytes.starts_with(ENCRYPTED_ARMORED);
    if !armored && !bytes.starts_with(ENCRYPTED) {
        return Ok(None);
    }
    let input = || BufReader::new(ArmoredReader::new(bytes));
    let header = age::Decryptor::new_buffered(input());
    let header = header.map_err(|_| "it is an age file that was cut short or changed")?;
    if !header.is_scrypt() {
        return Err("it is encrypted to a key; agekeep can only ask for a passphrase".into());
    }
    let passphrase = unlock
        .passphrase(PassphraseRequest::File(path))
        .map_err(Unusable::Failed)?;
    let mut identity = scrypt::Identity::new(passphrase.to_age());
    drop(passphrase);
    identity.set_max_work_factor(SCRYPT_LOG_N_MAX);
    match decrypt(input(), bytes.len(), &[&identity]) {
        Ok(plain) => Ok(Some(plain)),
        Err(DecryptError::DecryptionFailed) => Err(Unusable::wrong_passphrase(path)),
        Err(DecryptError::ExcessiveWork { required, .. }) => Err(format!(
            "its passphrase asks for 2^{required} steps of work, and at most 2^{SCRYPT_LOG_N_MAX} \
             are done"
        )
        .into()),
        Err(_) => Err("it is an age file that was cut short or changed".into()),
    }
}

pub(super) fn unresolved(error: &ResolveError) -> Error {
    let plugin = match error {
        ResolveError::MissingPlugin { binary_name } => binary_name.clone(),
        other => other.to_string(),
    };
    Error::Key(KeyFault::MissingPlugin { plugin })
}
