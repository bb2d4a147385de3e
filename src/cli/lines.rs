//! Lines of input: from files or standard input, bounded, up to byte 0x0A only.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use agekeep::error::{Error, Result};
use zeroize::Zeroizing;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// What lines are read from.
pub(super) type Input = BufReader<Box<dyn Read>>;

/// Opens a file; `-` is standard input.
pub(super) fn reader(path: &Path) -> Result<Input> {
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(|e| read_error(path, e))?)
    };
    Ok(BufReader::with_capacity(BUFFER_BYTES, input))
}

/// Whether the next line is here already: reading it waits for nobody.
pub(super) fn is_line_ready(input: &Input) -> bool {
    let mut lines = input.buffer().split_inclusive(|byte| *byte == b'\n');
    let next = lines.next().unwrap_or_default();
    next.ends_with(b"\n") && !next.iter().all(u8::is_ascii_whitespace)
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
