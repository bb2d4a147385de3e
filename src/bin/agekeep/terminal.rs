//! Questions to the person at the terminal, asked there whatever the standard streams are. Also
//! quoting for the shell, and limits of this process and its children.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

use agekeep::crypto::keyfile::PASSPHRASE_BYTES_MAX;
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use zeroize::Zeroizing;

use crate::{input, output};

const END_OF_TEXT: u8 = 0x03;
const END_OF_TRANSMISSION: u8 = 0x04;
const BACKSPACE: u8 = 0x08;
const KILL_LINE: u8 = 0x15;
const DELETE: u8 = 0x7f;

/// The terminal of this process, whose modes are restored when this is dropped.
pub(super) struct Terminal {
    file: File,
    before: Termios,
}

impl Terminal {
    /// Opens the terminal of this process; `None` if it has none, or runs in the background, where
    /// asking would stop it.
    pub(super) fn open() -> Option<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty");
        let file = file.ok()?;
        if tcgetpgrp(&file).ok()? != getpgrp() {
            return None;
        }
        let before = tcgetattr(&file).ok()?;
        Some(Self { file, before })
    }

    /// Asks for a line without showing it; `None` if the person gives up.
    pub(super) fn ask_secret(mut self, question: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let mut silent = self.before.clone();
        // Signals are off too: the terminal must be as before when this process ends.
        silent.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        silent.special_codes[SpecialCodeIndex::VMIN] = 1;
        silent.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&self.file, OptionalActions::Flush, &silent)?;
        self.say(&format!("{question} "))?;
        let line = self.read_line();
        self.say("\n")?;
        line
    }

    /// Asks for a line that may be seen.
    pub(super) fn ask(mut self, question: &str) -> io::Result<String> {
        self.say(&format!("{question} "))?;
        let mut line = [0; PASSPHRASE_BYTES_MAX];
        let read = self.file.read(&mut line)?;
        Ok(String::from_utf8_lossy(&line[..read]).trim().to_owned())
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(output::escaped(text).as_bytes())
    }

    fn read_line(&mut self) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        // Room for all of it, because a buffer that grows leaves copies behind.
        let mut line = Zeroizing::new(Vec::with_capacity(PASSPHRASE_BYTES_MAX + 1));
        let mut key = Zeroizing::new([0; 1]);
        loop {
            if self.file.read(&mut *key)? == 0 {
                return Ok(None);
            }
            match key[0] {
                b'\n' | b'\r' => return Ok(Some(line)),
                END_OF_TEXT => return Ok(None),
                END_OF_TRANSMISSION if line.is_empty() => return Ok(None),
                BACKSPACE | DELETE => drop(line.pop()),
                KILL_LINE => line.clear(),
                byte if line.len() <= PASSPHRASE_BYTES_MAX => line.push(byte),
                _ => {}
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.file, OptionalActions::Flush, &self.before);
    }
}

/// Says what is awaited, where standard input is a terminal and a person would wait in turn.
pub(super) fn tell_what_is_awaited(what: &str) {
    if input::is_terminal() {
        output::note(&format!(
            "note: waiting for {what} on standard input; Ctrl-D on a line of its own ends it"
        ));
    }
}

// Quoting for the shell.

/// Writes a shell command of these words, after its variables.
pub(super) fn command(variables: &[(&str, String)], words: &[String]) -> String {
    let variables = variables
        .iter()
        .map(|(name, value)| format!("{name}={}", quoted(value)));
    let words = words.iter().map(|word| quoted(word));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for the shell, if it has to be.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+.,:@/".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

// The limits of this process, and its children.

/// Has the kernel write no core dump of this process, and let no other process of this user look
/// into it. A machine that cannot do this is no reason to refuse work.
#[cfg(target_os = "linux")]
pub(super) fn keep_memory_private() {
    use rustix::process::{DumpableBehavior, Resource, Rlimit};
    use rustix::process::{set_dumpable_behavior, setrlimit};

    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = setrlimit(Resource::Core, none);
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Does nothing: a way is known only on Linux.
#[cfg(not(target_os = "linux"))]
pub(super) fn keep_memory_private() {}

/// Raises the limit of open files to `files`, as far as the machine lets it, and returns how many
/// of them the process may open.
#[cfg(feature = "http")]
pub(super) fn let_open(files: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let wanted = files as u64;
    let now = getrlimit(Resource::Nofile);
    let few = |limit: Option<u64>| limit.map_or(wanted, |limit| limit.min(wanted));
    let raised = Rlimit {
        current: Some(few(now.maximum)),
        ..now
    };
    let may = if few(now.current) < few(now.maximum) && setrlimit(Resource::Nofile, raised).is_ok()
    {
        raised.current
    } else {
        now.current
    };
    usize::try_from(few(may)).unwrap_or(files)
}

/// Tells whether a child has ended. The child is not reaped, so that its process id is not used
/// again yet.
pub(super) fn has_ended(child: &std::process::Child) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};

    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // An error means that there is no such child any more.
    waitid(WaitId::Pid(number(child)), options).map_or(true, |status| status.is_some())
}

/// Kills a child that leads a process group, and everything in that group, and waits for the child,
/// which must not have been waited for before.
pub(super) fn end_group(child: &mut std::process::Child) -> Option<std::process::ExitStatus> {
    let _ = rustix::process::kill_process_group(number(child), rustix::process::Signal::KILL);
    child.wait().ok()
}

fn number(child: &std::process::Child) -> rustix::process::Pid {
    rustix::process::Pid::from_child(child)
}
