//! Questions to the person at the terminal, who is asked there whatever the standard streams are.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

use agekeep::crypto::keyfile::PASSPHRASE_BYTES_MAX;
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use zeroize::Zeroizing;

use crate::output;

const END_OF_TEXT: u8 = 0x03;
const END_OF_TRANSMISSION: u8 = 0x04;
const BACKSPACE: u8 = 0x08;
const KILL_LINE: u8 = 0x15;
const DELETE: u8 = 0x7f;

/// A terminal that shows nothing of what is typed, until this is dropped.
pub(super) struct Terminal {
    file: File,
    before: Termios,
}

impl Terminal {
    /// The terminal of this process; none if it has none, or stands in the background, where asking
    /// would stop it.
    pub(super) fn open() -> Option<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty");
        let file = file.ok()?;
        if tcgetpgrp(&file).ok()? != getpgrp() {
            return None;
        }
        let before = tcgetattr(&file).ok()?;
        Some(Self { file, before })
    }

    /// Asks for a line and shows nothing of it; `None` if whoever is there gives up.
    pub(super) fn ask_secret(mut self, question: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let mut silent = self.before.clone();
        // Signals too: the terminal must be as before when this process ends.
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
