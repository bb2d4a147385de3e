//! Identities and recipients of every kind, through the binary: what opens, what is refused, and
//! what stays in memory.

mod files;
mod kinds;
mod memory;
mod passphrases;
mod plugins;

use std::fs;
use std::io::Write;
use std::iter;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::{Home, feed, stderr, stdout};

/// The passphrase of every identity that has one.
const PASSPHRASE: &str = "correct horse battery staple";

/// A work factor that takes a moment.
pub(crate) const QUICK: u8 = 10;

/// The recipient and identity of the plugin for tests.
const PLUGIN_RECIPIENT: &str = "age1agekeeptest1dahx2hxxx5p";
const PLUGIN_IDENTITY: &str = "AGE-PLUGIN-AGEKEEPTEST-1DAHX2XT6EAH";

/// The binary with an identity file, and with nobody at a terminal.
struct Person {
    home: Home,
    identity: PathBuf,
    env: Vec<(&'static str, String)>,
}

impl Person {
    /// With a file of this content.
    fn with_identity(content: impl AsRef<[u8]>) -> Self {
        let home = Home::empty();
        let identity = home.path().join("identity");
        private(&identity, content);
        Self {
            home,
            identity,
            env: vec![("PATH", with_plugins())],
        }
    }

    /// With an SSH key as `ssh-keygen` makes it. One with a passphrase opens with little work, unless the
    /// arguments say how much: else each command takes ten times as long.
    fn with_ssh_key(args: &[&str]) -> Self {
        let person = Self::with_identity("");
        fs::remove_file(&person.identity).expect("it was there");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-a", "1", "-C", "somebody@example.org"])
            .args(args)
            .arg("-f")
            .arg(&person.identity)
            .output()
            .expect("ssh-keygen runs");
        assert!(made.status.success(), "{}", stderr(&made));
        person
    }

    fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    /// With a private file that holds this as the passphrase.
    fn passphrase(self, passphrase: &str) -> Self {
        let path = self.home.path().join("passphrase");
        private(&path, format!("{passphrase}\n"));
        self.env("AGEKEEP_PASSPHRASE_FILE", path.display().to_string())
    }

    fn forget(&mut self, name: &str) {
        self.env.retain(|(known, _)| *known != name);
    }

    /// In a session of its own, which has no terminal.
    fn command(&self, args: &[&str]) -> Command {
        let plain = self.home.command(args);
        let mut command = Command::new(crate::support::program("setsid"));
        command.arg("-w").arg(plain.get_program());
        command.arg("-i").arg(&self.identity).args(args);
        command.env_clear().current_dir(self.home.path());
        let set = plain.get_envs();
        command.envs(set.filter_map(|(name, value)| Some((name, value?))));
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        feed(self.command(args), b"")
    }

    /// Runs what has to work.
    fn done(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output)
    }

    /// Runs what has to fail with this code; its words, which repeat no secret.
    fn refused(&self, args: &[&str], code: i32) -> String {
        let output = self.run(args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert_eq!(stdout(&output), "", "{args:?}");
        assert!(said.contains("\nhint: "), "{said}");
        for secret in [
            PASSPHRASE,
            "AGE-SECRET-KEY-1",
            "AGE-PLUGIN-",
            "PRIVATE KEY-",
        ] {
            assert!(!said.contains(secret), "{said}");
        }
        said
    }

    fn epoch_file(&self) -> PathBuf {
        self.home.store().join("keyring/epoch.age")
    }
}

/// Writes a file for its owner alone.
fn private(path: &Path, content: impl AsRef<[u8]>) {
    fs::write(path, content).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("mode set");
}

/// A search path on which the plugin for tests is found.
fn with_plugins() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/plugin:/usr/bin:/bin").into()
}

/// A new X25519 identity as stock age makes it.
fn keygen() -> String {
    let made = Command::new("age-keygen")
        .output()
        .expect("age-keygen runs");
    stdout(&made)
}

/// An identity file that is encrypted with [`PASSPHRASE`].
pub(crate) fn encrypted(plain: &str, armored: bool, work: u8) -> Vec<u8> {
    let mut recipient = age::scrypt::Recipient::new(PASSPHRASE.to_owned().into());
    recipient.set_work_factor(work);
    let encryptor = age::Encryptor::with_recipients(iter::once(&recipient as _)).expect("one");
    let format = if armored {
        age::armor::Format::AsciiArmor
    } else {
        age::armor::Format::Binary
    };
    let mut out = Vec::new();
    let armor = age::armor::ArmoredWriter::wrap_output(&mut out, format).expect("memory");
    let mut writer = encryptor.wrap_output(armor).expect("memory");
    writer.write_all(plain.as_bytes()).expect("memory");
    let armor = writer.finish().expect("memory");
    armor.finish().expect("memory");
    out
}

/// Opens a file with stock age.
fn stock_age(identity: &Path, file: &Path) -> Output {
    Command::new(crate::support::program("age"))
        .env("PATH", with_plugins())
        .args(["-d", "-i"])
        .args([identity, file])
        .stdin(Stdio::null())
        .output()
        .expect("age runs")
}

/// This many commands for `tool`, one on each line.
fn creations(count: usize) -> String {
    (0..count)
        .map(|n| {
            format!("{{\"command\":\"create\",\"path\":\"/memories/{n}\",\"file_text\":\"x\"}}\n")
        })
        .collect()
}
