//! What is to be run every day, and where everything it needs is.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use agekeep::error::Result;

use crate::args::Global;
use crate::environment::{absolute, one_line};
use crate::{environment, shell};

/// Who sweeps, for the event record, where nobody says it.
const ACTOR: &str = "sweeper";

/// A sweep, with absolute paths only: whoever starts it has no folder and no variables to go by.
pub(super) struct Sweep {
    pub(super) program: String,
    pub(super) store: String,
    pub(super) identity: String,
    pub(super) signing_key: String,
    /// The keyring's folder, where it is said.
    pub(super) keyring: Option<String>,
    /// What `XDG_STATE_HOME` has to be.
    pub(super) state_base: Option<String>,
    pub(super) passphrase_file: Option<String>,
    /// Options of the event record, with their values.
    pub(super) recorded: Vec<(&'static str, String)>,
}

impl Sweep {
    /// The sweep of the store that the options and the environment name, with the keys they name.
    pub(super) fn find(global: &Global) -> Result<Self> {
        let option =
            |what, path: Option<PathBuf>| path.map(|path| absolute(what, &path)).transpose();
        let recorded = [
            ("--actor", Some(global.actor.as_deref().unwrap_or(ACTOR))),
            ("--session", global.session.as_deref()),
            ("--reason", global.reason.as_deref()),
        ];
        let recorded = recorded
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .map(|(name, value)| Ok((name, one_line(name, value)?)));
        // A passphrase in the place of its file is not shown.
        let passphrase_file = environment::passphrase_file().filter(|path| path.is_file());
        Ok(Self {
            program: absolute("the path of this program", &environment::program()?)?,
            store: absolute("the store's path", &environment::store(global)?)?,
            identity: absolute("the identity's path", &environment::identity(global)?)?,
            signing_key: absolute("the signing key's path", &environment::signing_key(global)?)?,
            keyring: option("the keyring's path", environment::keyring(global)?)?,
            state_base: option("the path of the state folder", environment::state_base())?,
            passphrase_file: option("the path in AGEKEEP_PASSPHRASE_FILE", passphrase_file)?,
            recorded: recorded.collect::<Result<_>>()?,
        })
    }

    /// The command that sweeps.
    pub(super) fn expire(&self) -> Vec<String> {
        self.recorded_command(&["expire"])
    }

    /// The command that prints again what is printed now, with its variables.
    pub(super) fn schedule(&self, form: &[&str]) -> String {
        let verb: Vec<_> = ["schedule"].iter().chain(form).copied().collect();
        shell::command(&self.variables(), &self.recorded_command(&verb))
    }

    /// The command that fails if the last sweep is too long ago: a day, and what the start of one
    /// may be late.
    pub(super) fn status(&self) -> String {
        let words = self.command(&["status", "--max-age", "26h"]);
        shell::command(&self.variables(), &words)
    }

    fn recorded_command(&self, verb: &[&str]) -> Vec<String> {
        // In one word: a value that begins with `-` is no option then.
        let recorded = self.recorded.iter();
        let recorded = recorded.map(|(name, value)| format!("{name}={value}"));
        let mut words = self.command(verb);
        words.extend(recorded);
        words
    }

    /// A command of this program about the store.
    fn command(&self, verb: &[&str]) -> Vec<String> {
        let places = [
            ("--store", Some(&self.store)),
            ("--identity", Some(&self.identity)),
            ("--signing-key", Some(&self.signing_key)),
            ("--keyring", self.keyring.as_ref()),
        ];
        let mut words = vec![self.program.clone()];
        words.extend(verb.iter().map(|&word| word.to_owned()));
        for (name, path) in places {
            words.extend(
                path.into_iter()
                    .flat_map(|path| [name.to_owned(), path.clone()]),
            );
        }
        words
    }

    /// The variables it goes by.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("XDG_STATE_HOME", &self.state_base),
            ("AGEKEEP_PASSPHRASE_FILE", &self.passphrase_file),
        ];
        let set = all.into_iter();
        set.filter_map(|(name, value)| Some((name, value.clone()?)))
            .collect()
    }

    /// The folder for what was seen of stores.
    pub(super) fn state(&self) -> Option<String> {
        self.state_base
            .as_ref()
            .map(|base| format!("{base}/agekeep"))
    }

    /// What it writes to.
    pub(super) fn written(&self) -> Vec<String> {
        let mut paths = vec![self.store.clone()];
        paths.extend(self.keyring.clone());
        paths.extend(self.state());
        paths
    }

    /// What it only reads.
    pub(super) fn read(&self) -> Vec<String> {
        let mut paths = vec![
            self.program.clone(),
            self.identity.clone(),
            self.signing_key.clone(),
        ];
        paths.extend(self.passphrase_file.clone());
        paths
    }

    /// The account that the store belongs to, or will.
    pub(super) fn account(&self) -> String {
        let owner = [&self.store, &self.identity]
            .into_iter()
            .find_map(|path| fs::metadata(path).ok())
            .map(|meta| meta.uid().to_string());
        let Some(owner) = owner else {
            let plain = |c: char| c.is_alphanumeric() || "_-.@".contains(c);
            let user = environment::user().filter(|name| name.chars().all(plain));
            return user.unwrap_or_else(|| "agekeep".into());
        };
        let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let name = accounts.lines().find_map(|line| {
            let mut fields = line.split(':');
            let (name, id) = (fields.next()?, fields.nth(1)?);
            (id == owner).then(|| name.to_owned())
        });
        name.unwrap_or(owner)
    }
}
