//! Lines of input, from files or standard input: of bounded length, and ended by byte 0x0A only.

use std::fs::File;
use std::io::{self, BufRead, IsTerminal, Read};
use std::path::Path;

use agekeep::error::{Error, Result};
use zeroize::Zeroizing;

use crate::platform;

/// Most bytes that are read ahead.
const BUFFER_BYTES: usize = 64 * 1024;

/// A source of lines. Its buffer has a fixed size, and is zeroed when dropped.
pub(super) struct Input {
    source: File,
    buffer: Zeroizing<Vec<u8>>,
    /// The bounds of the bytes in `buffer` that were read ahead.
    begin: usize,
    end: usize,
}

/// Tells whether standard input is a terminal.
pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// Reads a file whole, if it has no more bytes than `bytes_max`.
pub(super) fn bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    bounded(path, "the file", bytes_max)
}

/// Reads a file whole, which an error calls `what`, if it has no more bytes than `bytes_max`.
pub(super) fn bounded(path: &Path, what: &'static str, bytes_max: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Error::io("read", path))?;
    let read = file.take(bytes_max as u64 + 1).read_to_end(&mut bytes);
    read.map_err(Error::io("read", path))?;
    if bytes.len() > bytes_max {
        return Err(Error::TooLong { what, bytes_max });
    }
    Ok(bytes)
}

/// Opens a file; `-` is standard input.
pub(super) fn reader(path: &Path) -> Result<Input> {
    let source = if path == Path::new("-") {
        // What the standard library has read ahead it does not tell.
        platform::as_file(io::stdin())
    } else {
        File::open(path)
    };
    Ok(Input {
        source: source.map_err(Error::io("read", path))?,
        buffer: Zeroizing::new(vec![0; BUFFER_BYTES]),
        begin: 0,
        end: 0,
    })
}

impl Input {
    /// Tells whether the next line is here already, whole and not blank, so that reading it does
    /// not block.
    pub(super) fn is_line_ready(&mut self) -> bool {
        loop {
            let mut lines =
                self.buffer[self.begin..self.end].split_inclusive(|byte| *byte == b'\n');
            let next = lines.next().unwrap_or_default();
            if next.ends_with(b"\n") {
                return !next.iter().all(u8::is_ascii_whitespace);
            }
            // An error of the source is reported when the line is read.
            if self.is_full()
                || !platform::can_be_read(&self.source)
                || !self.read_more().is_ok_and(|read| read > 0)
            {
                return false;
            }
        }
    }

    fn is_full(&self) -> bool {
        self.end - self.begin == self.buffer.len()
    }

    fn read_more(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        let read = self.source.read(&mut self.buffer[self.end..])?;
        self.end += read;
        Ok(read)
    }
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.begin == self.end {
            self.read_more()?;
        }
        Ok(&self.buffer[self.begin..self.end])
    }

    fn consume(&mut self, bytes: usize) {
        self.begin += bytes;
    }
}

/// A line of input that is not blank.
pub(super) enum Line {
    /// The line as it stands, with its end.
    Whole(Zeroizing<Vec<u8>>),
    /// A line longer than this many bytes, which was skipped.
    TooLong(usize),
}

/// Reads the next line that is not blank. Only byte 0x0A ends a line, because other line separators
/// may stand inside JSON strings.
pub(super) fn next_line(input: &mut dyn BufRead, path: &Path, max: usize) -> Result<Option<Line>> {
    loop {
        let mut line = Zeroizing::new(Vec::new());
        let read = input
            .take(max as u64 + 1)
            .read_until(b'\n', &mut line)
            .map_err(Error::io("read", path))?;
        if read == 0 {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') && read > max {
            input.skip_until(b'\n').map_err(Error::io("read", path))?;
            return Ok(Some(Line::TooLong(max)));
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            return Ok(Some(Line::Whole(line)));
        }
    }
}
