//! The sources of passphrases: an inherited descriptor, a file, a command, or the person at the
//! terminal. Never an argument or a plain environment variable, which others can see.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;

use agekeep::crypto::keyfile::{PASSPHRASE_BYTES_MAX, Passphrase, PassphraseRequest, Unlock};
use agekeep::error::{Error, KeyFault, Result};
use zeroize::Zeroizing;

use crate::terminal::Terminal;
use crate::{output, platform};

/// The sources of passphrases; the first one that is set is read.
pub(super) struct Sources {
    pub(super) descriptor: Option<u32>,
    pub(super) file: Option<PathBuf>,
    pub(super) command: Option<String>,
    /// Set if nobody is at the terminal to answer, even if there is one.
    pub(super) unattended: bool,
    /// The PIN that came from the descriptor, which can be read only once.
    pub(super) read: Mutex<Option<Passphrase>>,
}

impl Unlock for Sources {
    fn passphrase(&self, wanted: PassphraseRequest<'_>) -> Result<Passphrase> {
        let refused = |why: &str| {
            Error::Key(KeyFault::NoPassphrase {
                wanted: output::escaped(&wanted.to_string()).into_owned(),
                why: why.into(),
            })
        };
        let given = self.descriptor.is_some() || self.file.is_some() || self.command.is_some();
        if let (true, PassphraseRequest::Plugin { again: true, .. }) = (given, wanted) {
            return Err(refused("the given one is wrong"));
        }
        let read = if let Some(descriptor) = self.descriptor {
            self.read_descriptor(descriptor, wanted)
        } else if let Some(path) = &self.file {
            check_private(path)?;
            from_file(path)
        } else if let Some(command) = &self.command {
            from_command(command)
        } else {
            self.ask_at_terminal(wanted)
        };
        read.map_err(|why| refused(&why))
    }

    fn message(&self, plugin: &str, text: &str) {
        output::note(&format!("{plugin}: {text}"));
    }

    fn confirm(&self, plugin: &str, question: &str, yes: &str, no: Option<&str>) -> Option<bool> {
        let no = no.unwrap_or("no");
        let question = format!("{plugin}: {question} ({yes}: y, {no}: n)");
        let answer = self.terminal()?.ask(&question).ok()?;
        Some(answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case(yes))
    }

    fn answer(&self, plugin: &str, question: &str) -> Option<String> {
        self.terminal()?.ask(&format!("{plugin}: {question}")).ok()
    }
}

impl Sources {
    fn terminal(&self) -> Option<Terminal> {
        (!self.unattended).then(Terminal::open).flatten()
    }

    fn ask_at_terminal(&self, wanted: PassphraseRequest<'_>) -> Result<Passphrase, String> {
        let terminal = self.terminal().ok_or("there is no terminal to ask on")?;
        let question = match wanted {
            PassphraseRequest::Plugin {
                plugin, question, ..
            } => format!("{plugin}: {question}"),
            file => format!("Passphrase for {file}:"),
        };
        let line = terminal.ask_secret(&question);
        let line = line.map_err(|e| format!("the terminal cannot be read: {e}"))?;
        let line = line.ok_or("nothing was typed")?;
        Ok(Passphrase::from_first_line(&line)?)
    }

    fn read_descriptor(
        &self,
        descriptor: u32,
        wanted: PassphraseRequest<'_>,
    ) -> Result<Passphrase, String> {
        let mut read = self.read.lock().expect("nobody panics while holding it");
        if let Some(passphrase) = &*read {
            return Ok(passphrase.duplicate());
        }
        let source = "the descriptor in --passphrase-fd";
        let file = platform::open_descriptor(descriptor);
        let passphrase = first_line(file.map_err(|e| format!("{source} cannot be read: {e}"))?)
            .map_err(|why| format!("{source}: {why}"))?;
        // An identity file is unlocked once. A plugin may want its PIN for each file.
        if let PassphraseRequest::Plugin { .. } = wanted {
            *read = Some(passphrase.duplicate());
        }
        Ok(passphrase)
    }
}

/// Refuses a passphrase file that is open to others.
fn check_private(path: &PathBuf) -> Result<()> {
    let about = std::fs::metadata(path);
    if about.is_ok_and(|about| about.is_file() && platform::is_open_to_others(&about)) {
        let fault = KeyFault::NotPrivate {
            what: "passphrase",
            path: path.clone(),
        };
        return Err(Error::Key(fault));
    }
    Ok(())
}

fn from_file(path: &PathBuf) -> Result<Passphrase, String> {
    // The path is not shown: it may be a passphrase in the wrong place.
    const SOURCE: &str = "the file in AGEKEEP_PASSPHRASE_FILE";
    let file = File::open(path).map_err(|e| format!("{SOURCE} cannot be read: {e}"))?;
    first_line(file).map_err(|why| format!("{SOURCE}: {why}"))
}

/// Most reads, of a kilobyte each, of a command's output after its first line.
const REST_READS_MAX: usize = 256;

/// Runs a command with the shell and reads its first line. Its standard error is for the user to
/// see.
fn from_command(command: &str) -> Result<Passphrase, String> {
    const SOURCE: &str = "the command in AGEKEEP_PASSPHRASE_COMMAND";
    let failed = |e: io::Error| format!("{SOURCE} cannot be run: {e}");
    let mut child = platform::shell(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut output = child.stdout.take().expect("it is piped");
    let passphrase = first_line(&mut output);
    // A command that writes a little more must be able to, or it would fail.
    let mut rest = Zeroizing::new([0; 1024]);
    let mut more = (0..REST_READS_MAX).map(|_| output.read(&mut *rest));
    more.all(|read| read.is_ok_and(|count| count > 0));
    drop(output);
    let status = child.wait().map_err(failed)?;
    if !status.success() {
        return Err(format!("{SOURCE} failed ({status})"));
    }
    passphrase.map_err(|why| format!("{SOURCE}: {why}"))
}

/// Reads to the end of the first line and no further: the rest is for another reader.
fn first_line(mut from: impl Read) -> Result<Passphrase, String> {
    // Room for all of it, because a buffer that grows leaves copies behind.
    let mut line = Zeroizing::new(Vec::with_capacity(PASSPHRASE_BYTES_MAX + 2));
    let mut byte = Zeroizing::new([0; 1]);
    while line.len() < PASSPHRASE_BYTES_MAX + 2 {
        match from.read(&mut *byte) {
            Ok(0) => break,
            Ok(_) if byte[0] == b'\n' => break,
            Ok(_) => line.push(byte[0]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(format!("it cannot be read: {e}")),
        }
    }
    Ok(Passphrase::from_first_line(&line)?)
}
