//! Lines of input: from files or standard input, bounded, up to byte 0x0A only.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::fd::AsFd;
use std::path::Path;

use agekeep::error::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use zeroize::Zeroizing;

/// Bytes that are read ahead at most.
const BUFFER_BYTES: usize = 64 * 1024;

/// What lines are read from. Its memory is of one size, and cleared in the end.
pub(super) struct Input {
    source: File,
    buffer: Zeroizing<Vec<u8>>,
    /// Where what has been read ahead begins and ends.
    begin: usize,
    end: usize,
}

/// Opens a file; `-` is standard input.
pub(super) fn reader(path: &Path) -> Result<Input> {
    let source = if path == Path::new("-") {
        // The descriptor itself: what the standard library would read ahead cannot be asked for.
        io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::open(path)
    };
    Ok(Input {
        source: source.map_err(|e| read_error(path, e))?,
        buffer: Zeroizing::new(vec![0; BUFFER_BYTES]),
        begin: 0,
        end: 0,
    })
}

impl Input {
    /// Whether the next line is here already, all of it and not blank: reading it waits for nobody.
    pub(super) fn is_line_ready(&mut self) -> bool {
        loop {
            let mut lines =
                self.buffer[self.begin..self.end].split_inclusive(|byte| *byte == b'\n');
            let next = lines.next().unwrap_or_default();
            if next.ends_with(b"\n") {
                return !next.iter().all(u8::is_ascii_whitespace);
            }
            // What is wrong with the source is said when the line is asked for.
            if self.is_full() || !self.has_more() || !self.read_more().is_ok_and(|read| read > 0) {
                return false;
            }
        }
    }

    fn is_full(&self) -> bool {
        self.end - self.begin == self.buffer.len()
    }

    /// Whether the source can be read without waiting.
    fn has_more(&self) -> bool {
        let mut asked = [PollFd::new(&self.source, PollFlags::IN)];
        matches!(poll(&mut asked, Some(&Timespec::default())), Ok(1..))
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
    /// As it stands, with its end.
    Whole(Zeroizing<Vec<u8>>),
    /// Longer than this many bytes; it has been skipped.
    TooLong(usize),
}

/// The next line, up to byte 0x0A only: other line separators stand inside JSON strings.
pub(super) fn next_line(input: &mut dyn BufRead, path: &Path, max: usize) -> Result<Option<Line>> {
    loop {
        let mut line = Zeroizing::new(Vec::new());
        let read = input
            .take(max as u64 + 1)
            .read_until(b'\n', &mut line)
            .map_err(|e| read_error(path, e))?;
        if read == 0 {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') && read > max {
            input.skip_until(b'\n').map_err(|e| read_error(path, e))?;
            return Ok(Some(Line::TooLong(max)));
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            return Ok(Some(Line::Whole(line)));
        }
    }
}

fn read_error(path: &Path, source: io::Error) -> Error {
    Error::Io {
        doing: "read",
        path: path.into(),
        source,
    }
}
