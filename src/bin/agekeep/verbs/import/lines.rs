//! A JSON Lines export, read twice: first to list its lines, and then for each text in its turn.

use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::id::StoreId;
use agekeep::memory_tool::path::ROOT;
use agekeep::policy::Limits;
use agekeep::{Digest, Text};
use serde::Deserialize;
use serde::de::IgnoredAny;
use zeroize::Zeroizing;

use crate::input::{Line, next_line};
use crate::verbs::import::ImportOutcome;
use crate::verbs::import::source::{Body, ImportItem};

/// The schema that the first line of an export names.
pub(crate) const SCHEMA: &str = "agekeep.export/1";
/// The beginning of the schemas of all forms of exports.
const ANY_SCHEMA: &str = "agekeep.export/";
/// Most bytes that a line may have beside its text.
const ENVELOPE_BYTES: usize = 64 * 1024;
/// Most bytes that one byte of text takes, as an escape.
const ESCAPE_BYTES: usize = 6;

/// Most characters that are repeated of the reason a line gives.
const WHY_CHARACTERS_MAX: usize = 200;

#[derive(Deserialize)]
struct ExportHeader {
    schema: String,
    store: Option<StoreId>,
    lines: u64,
}

/// A line without its text.
#[derive(Deserialize)]
struct LineSummary {
    path: Option<String>,
    present: bool,
    text: Option<IgnoredAny>,
    why: Option<String>,
}

/// A line with its text.
#[derive(Deserialize)]
struct Whole {
    path: String,
    text: Zeroizing<String>,
    sha256: Digest,
}

/// An export that is being read.
pub(super) struct Lines {
    input: BufReader<File>,
    path: PathBuf,
    bytes_max: usize,
    /// The store that was exported.
    pub(super) store: Option<StoreId>,
    /// The number of lines that are to follow the first.
    follow: u64,
}

impl Lines {
    /// Opens an export and reads its first line.
    pub(super) fn open(file: File, path: &Path, limits: &Limits) -> Result<Self> {
        let mut lines = Self {
            input: BufReader::new(file),
            path: path.to_owned(),
            bytes_max: ESCAPE_BYTES * limits.memory_bytes + ENVELOPE_BYTES,
            store: None,
            follow: 0,
        };
        let first = match lines.next()? {
            Some(Line::Whole(line)) => serde_json::from_slice::<ExportHeader>(&line).ok(),
            _ => None,
        };
        match first {
            Some(header) if header.schema == SCHEMA => {
                (lines.store, lines.follow) = (header.store, header.lines);
                Ok(lines)
            }
            Some(header) if header.schema.starts_with(ANY_SCHEMA) => Err(Error::UnknownFormat {
                what: path.display().to_string(),
                found: header.schema[ANY_SCHEMA.len()..].chars().take(20).collect(),
            }),
            _ => Err(Error::invalid(
                "the file",
                format!("it is no JSON Lines export: its first line does not say {SCHEMA}"),
            )),
        }
    }

    fn next(&mut self) -> Result<Option<Line>> {
        next_line(&mut self.input, &self.path, self.bytes_max)
    }

    /// Lists what is in it, line by line, each to be put below `to`.
    pub(super) fn items(&mut self, to: &str) -> Result<Vec<ImportItem>> {
        let mut items = Vec::new();
        let mut number = 1;
        loop {
            let at = self.input.stream_position().map_err(|e| self.fault(e))?;
            let Some(line) = self.next()? else { break };
            number += 1;
            items.push(match line {
                Line::Whole(line) => item(&line, number, at, to),
                Line::TooLong(max) => refused(number, format!("it has more than {max} bytes")),
            });
        }
        let found = items.len() as u64;
        if found != self.follow {
            let why = format!(
                "{found} lines follow the first, and that says {}: the export was cut off, or \
                 changed",
                self.follow
            );
            items.push(refused(number + 1, why));
        }
        Ok(items)
    }

    /// Reads the text of a line; the inner error says why it is not taken.
    pub(super) fn text(&mut self, at: u64, path: &str) -> Result<Result<Text, String>> {
        let sought = self.input.seek(SeekFrom::Start(at));
        sought.map_err(|e| self.fault(e))?;
        let Some(Line::Whole(line)) = self.next()? else {
            return Ok(Err("the file was changed meanwhile".into()));
        };
        Ok(match serde_json::from_slice::<Whole>(&line) {
            Ok(mut whole) if whole.path == path => {
                if Digest::of(whole.text.as_bytes()) == whole.sha256 {
                    Ok(Text::from(std::mem::take(&mut *whole.text)))
                } else {
                    Err("its text does not have the SHA-256 it says: it was changed".into())
                }
            }
            _ => Err("it is not a line of an export, or was changed meanwhile".into()),
        })
    }

    fn fault(&self, source: std::io::Error) -> Error {
        Error::io("read", &self.path)(source)
    }
}

fn item(line: &[u8], number: u64, at: u64, to: &str) -> ImportItem {
    let Ok(listed) = serde_json::from_slice::<LineSummary>(line) else {
        return refused(number, "it is not a line of an export".into());
    };
    let name = format!("line {number}");
    if !listed.present {
        return ImportItem {
            name,
            path: None,
            what: Err(ImportOutcome::Older),
        };
    }
    let (Some(path), Some(IgnoredAny)) = (listed.path, listed.text) else {
        // Whoever made the file may have written anything there.
        let why = listed.why.unwrap_or_default();
        let why: String = why.escape_debug().take(WHY_CHARACTERS_MAX).collect();
        return refused(number, format!("it has no text: {why}"));
    };
    let below = path.strip_prefix(ROOT).filter(|rest| rest.starts_with('/'));
    let Some(below) = below.map(str::to_owned) else {
        return refused(number, format!("its path is not below {ROOT}"));
    };
    ImportItem {
        name,
        path: Some(format!("{to}{below}")),
        what: Ok(Body::Line { at, path }),
    }
}

fn refused(number: u64, why: String) -> ImportItem {
    ImportItem {
        name: format!("line {number}"),
        path: None,
        what: Err(ImportOutcome::Refused(why)),
    }
}
