//! Questions to the person at the terminal, asked there whatever the standard streams are. Also
//! quoting for the shell.

use std::fs::File;
use std::io::{self, Read, Write};

use agekeep::crypto::keyfile::PASSPHRASE_BYTES_MAX;
use zeroize::Zeroizing;

use crate::platform::{TerminalModes, open_terminal};
use crate::{input, output};

const END_OF_TEXT: u8 = 0x03;
const END_OF_TRANSMISSION: u8 = 0x04;
const BACKSPACE: u8 = 0x08;
const KILL_LINE: u8 = 0x15;
const DELETE: u8 = 0x7f;

/// The terminal of this process, whose modes are restored when this is dropped.
pub(super) struct Terminal {
    file: File,
    before: TerminalModes,
}

impl Terminal {
    /// Opens the terminal of this process; `None` if it has none, or runs in the background, where
    /// asking would stop it.
    pub(super) fn open() -> Option<Self> {
        let (file, before) = open_terminal()?;
        Some(Self { file, before })
    }

    /// Asks for a line without showing it; `None` if the person gives up.
    pub(super) fn ask_secret(mut self, question: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        self.before.silence(&self.file)?;
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
        self.before.restore(&self.file);
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
