//! The answers of a caller while an identity is opened: passphrases, and replies to plugins.

use std::path::Path;
use std::sync::{Arc, Mutex};

use age::secrecy::SecretString;
use zeroize::Zeroizing;

use crate::error::{Error, KeyFault, Result};

/// Longest passphrase that is accepted, in bytes.
pub const PASSPHRASE_BYTES_MAX: usize = 1024;

/// A passphrase or PIN, wiped when dropped. It has no `Debug`.
pub struct Passphrase(Zeroizing<Box<str>>);

impl Passphrase {
    /// Takes the first line of some input as a passphrase.
    ///
    /// # Errors
    /// Returns the fault, never the passphrase.
    pub fn from_first_line(bytes: &[u8]) -> Result<Self, &'static str> {
        let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match std::str::from_utf8(line) {
            Err(_) => Err("it is not UTF-8"),
            Ok("") => Err("it is empty"),
            Ok(text) if text.len() > PASSPHRASE_BYTES_MAX => Err("it is longer than 1024 bytes"),
            Ok(text) => Ok(Self(Zeroizing::new(text.into()))),
        }
    }

    /// Copies the passphrase; the copy is wiped on its own.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        Self(Zeroizing::new((**self.0).into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Converts to the type of the age crate, which is wiped too.
    pub(super) fn to_age(&self) -> SecretString {
        SecretString::new((**self.0).into())
    }
}

/// The purpose of a passphrase.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum PassphraseRequest<'a> {
    /// An identity file that is encrypted with a passphrase.
    File(&'a Path),
    /// Input for a plugin, such as a PIN.
    #[non_exhaustive]
    Plugin {
        /// The plugin's program.
        plugin: &'a str,
        /// The question, in the plugin's own words.
        question: &'a str,
        /// True if it asks again, as after a wrong PIN. Repeating the same answer may lock a
        /// hardware key.
        again: bool,
    },
}

impl std::fmt::Display for PassphraseRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Plugin { plugin, .. } => f.write_str(plugin),
        }
    }
}

/// Answers questions while an identity is opened. The library itself prompts nobody.
///
/// Every text from a plugin is untrusted: it has to be escaped before a terminal shows it.
pub trait Unlock: Send + Sync {
    /// Returns a passphrase.
    ///
    /// # Errors
    /// [`KeyFault::NoPassphrase`] if there is none to give.
    fn passphrase(&self, wanted: PassphraseRequest<'_>) -> Result<Passphrase>;

    /// Shows a message of a plugin, such as a request to touch a hardware key.
    fn message(&self, plugin: &str, text: &str);

    /// Asks a person to choose between two answers; `None` if nobody can be asked.
    fn confirm(&self, plugin: &str, question: &str, yes: &str, no: Option<&str>) -> Option<bool>;

    /// Asks for a value that is not secret; `None` if nobody can be asked.
    fn answer(&self, plugin: &str, question: &str) -> Option<String>;
}

/// An [`Unlock`] without a person to ask: it refuses every passphrase.
pub struct Unattended;

impl Unlock for Unattended {
    fn passphrase(&self, wanted: PassphraseRequest<'_>) -> Result<Passphrase> {
        Err(Error::Key(KeyFault::NoPassphrase {
            wanted: wanted.to_string(),
            why: "there is nobody to ask".into(),
        }))
    }

    fn message(&self, _: &str, _: &str) {}

    fn confirm(&self, _: &str, _: &str, _: &str, _: Option<&str>) -> Option<bool> {
        None
    }

    fn answer(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

/// An [`Unlock`] for one run of a plugin.
#[derive(Clone)]
pub(super) struct PluginCallbacks {
    unlock: Arc<dyn Unlock>,
    plugin: String,
    asked: Arc<Mutex<PluginDialog>>,
}

/// The events of one run of a plugin.
#[derive(Default)]
struct PluginDialog {
    secrets: u32,
    refused: Option<Error>,
}

impl PluginCallbacks {
    pub(super) fn new(unlock: &Arc<dyn Unlock>, plugin: String) -> Self {
        Self {
            unlock: Arc::clone(unlock),
            plugin,
            asked: Arc::default(),
        }
    }

    /// Takes the reason why the caller could not answer, which is clearer than the plugin's error.
    pub(super) fn refused(&self) -> Option<Error> {
        self.asked().refused.take()
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, PluginDialog> {
        self.asked.lock().expect("nobody panics while holding it")
    }
}

impl age::Callbacks for PluginCallbacks {
    fn display_message(&self, message: &str) {
        self.unlock.message(&self.plugin, message);
    }

    fn confirm(&self, message: &str, yes: &str, no: Option<&str>) -> Option<bool> {
        self.unlock.confirm(&self.plugin, message, yes, no)
    }

    fn request_public_string(&self, description: &str) -> Option<String> {
        self.unlock.answer(&self.plugin, description)
    }

    fn request_passphrase(&self, description: &str) -> Option<SecretString> {
        let again = {
            let mut asked = self.asked();
            asked.secrets += 1;
            asked.secrets > 1
        };
        let wanted = PassphraseRequest::Plugin {
            plugin: &self.plugin,
            question: description,
            again,
        };
        match self.unlock.passphrase(wanted) {
            Ok(passphrase) => Some(passphrase.to_age()),
            Err(error) => {
                self.asked().refused = Some(error);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use age::Callbacks;

    use super::*;

    #[test]
    fn a_passphrase_is_the_first_line() {
        let read = |bytes: &[u8]| Passphrase::from_first_line(bytes);
        for text in ["one", "one\n", "one\r\n", "one\ntwo"] {
            let passphrase = read(text.as_bytes()).expect("a line");
            assert_eq!(passphrase.as_str(), "one");
            assert_eq!(passphrase.duplicate().as_str(), "one");
        }
        for bytes in [&b""[..], b"\n", b"\r\nmore", b"\xff\n"] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
        assert!(read(&[b'a'; PASSPHRASE_BYTES_MAX]).is_ok());
        assert!(read(&[b'a'; PASSPHRASE_BYTES_MAX + 1]).is_err());
    }

    /// Answers each question by its own words.
    struct Echo;

    impl Unlock for Echo {
        fn passphrase(&self, wanted: PassphraseRequest<'_>) -> Result<Passphrase> {
            Unattended.passphrase(wanted)
        }

        fn message(&self, _: &str, _: &str) {}

        fn confirm(&self, _: &str, question: &str, yes: &str, no: Option<&str>) -> Option<bool> {
            no.map(|no| question == yes && question != no)
        }

        fn answer(&self, plugin: &str, question: &str) -> Option<String> {
            Some(format!("{plugin} {question}"))
        }
    }

    #[test]
    fn a_plugin_gets_the_answers_of_the_caller_and_none_where_nobody_is() {
        let callbacks = |unlock: Arc<dyn Unlock>| PluginCallbacks::new(&unlock, "p".into());
        let (echo, nobody) = (callbacks(Arc::new(Echo)), callbacks(Arc::new(Unattended)));
        assert_eq!(echo.confirm("a", "a", Some("b")), Some(true));
        assert_eq!(echo.confirm("a", "b", Some("a")), Some(false));
        assert_eq!(echo.confirm("a", "a", None), None);
        let answer = echo.request_public_string("which");
        assert_eq!(answer.as_deref(), Some("p which"));
        assert_eq!(nobody.confirm("a", "a", Some("b")), None);
        assert_eq!(nobody.request_public_string("which"), None);
        assert!(echo.request_passphrase("PIN").is_none());
        assert!(echo.refused().is_some() && echo.refused().is_none());
    }
}
