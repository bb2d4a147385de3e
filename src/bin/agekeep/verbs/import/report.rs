//! What became of everything in the source of an import, in words and as JSON.

use agekeep::error::Result;
use agekeep::event::Redaction;
use agekeep::store::Store;
use serde_json::json;

use crate::verbs::import::source::Item;
use crate::{events, output};

/// The exit code where something was refused: not everything was imported.
const REFUSED: u8 = 1;
/// The exit code where something is there already and says something else.
const OTHERS: u8 = 5;

/// What became of one thing.
pub(super) enum Outcome {
    Imported(Written),
    Overwritten(Written),
    /// It is there already.
    Same,
    /// Another text is there, and was left as it is.
    Other,
    LeftOut(&'static str),
    /// It is what a memory was before.
    Older,
    Refused(String),
}

/// A text that was written, or would be.
pub(super) struct Written {
    pub(super) bytes: usize,
    pub(super) event: Option<u64>,
    pub(super) redactions: Vec<Redaction>,
}

/// The report of an import.
pub(super) struct Report {
    json: bool,
    dry_run: bool,
    lines: Vec<String>,
    pub(super) counts: Counts,
}

/// How many there were of each.
#[derive(Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) imported: u64,
    pub(super) overwritten: u64,
    same: u64,
    other: u64,
    left_out: u64,
    older: u64,
    refused: u64,
    stripped: u64,
    bytes: u64,
}

impl Report {
    pub(super) fn new(json: bool, dry_run: bool) -> Self {
        Self {
            json,
            dry_run,
            lines: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Adds what became of one thing.
    pub(super) fn add(&mut self, store: &Store, item: &Item, outcome: &Outcome) -> Result<()> {
        self.counts.add(outcome);
        if self.json {
            return self.object(store, item, outcome);
        }
        if let Some(said) = self.said(store, outcome)? {
            // Where it came to lie, or else how the source calls it.
            let path = item.path.as_ref().filter(|_| !is_of_source(outcome));
            let name = shown(store, path.unwrap_or(&item.name))?;
            self.lines
                .push(format!("{}  {said}", events::quoted(&name)));
        }
        Ok(())
    }

    /// What is said of an outcome in words, if anything is.
    fn said(&self, store: &Store, outcome: &Outcome) -> Result<Option<String>> {
        let would = |done: &str, written: &Written| match (self.dry_run, &written.redactions[..]) {
            (false, []) if done == "imported" => None,
            (dry_run, found) => {
                let mut said = if dry_run { "would be " } else { "" }.to_owned() + done;
                if !found.is_empty() {
                    said = format!("{said}; stripped: {}", kinds(found));
                }
                Some(said)
            }
        };
        Ok(match outcome {
            Outcome::Imported(written) => would("imported", written),
            Outcome::Overwritten(written) => would("overwritten", written),
            Outcome::Same => self.dry_run.then(|| "is there already".into()),
            Outcome::Older => None,
            Outcome::Other => Some("is there with another text, and was left as it is".into()),
            Outcome::LeftOut(what) => Some(format!("left out: {what}")),
            Outcome::Refused(why) => Some(format!("refused: {}", shown(store, why)?)),
        })
    }

    fn object(&self, store: &Store, item: &Item, outcome: &Outcome) -> Result<()> {
        if matches!(outcome, Outcome::Older) {
            return Ok(());
        }
        let written = match outcome {
            Outcome::Imported(written) | Outcome::Overwritten(written) => Some(written),
            _ => None,
        };
        let path = item.path.as_deref();
        let object = json!({
            "schema": "agekeep.import_file/1",
            "name": shown(store, &item.name)?,
            "path": path.map(|path| shown(store, path)).transpose()?,
            "dry_run": self.dry_run,
            "outcome": match outcome {
                Outcome::Imported(_) => "imported",
                Outcome::Overwritten(_) => "overwritten",
                Outcome::Same => "same",
                Outcome::Other => "other",
                Outcome::LeftOut(_) => "left_out",
                Outcome::Older => "older",
                Outcome::Refused(_) => "refused",
            },
            "why": match outcome {
                Outcome::LeftOut(what) => Some((*what).to_owned()),
                Outcome::Refused(why) => Some(shown(store, why)?),
                _ => None,
            },
            "bytes": written.map(|written| written.bytes),
            "event": written.and_then(|written| written.event),
            "redactions": written.map(|written| &written.redactions),
        });
        output::json(&object).map(drop)
    }

    /// Shows the report; `stopped` says that not everything was come to.
    pub(super) fn show(&self, kind: &str, stopped: bool) -> Result<()> {
        let counts = &self.counts;
        if self.json {
            let object = json!({
                "schema": "agekeep.import/1",
                "from": kind,
                "dry_run": self.dry_run,
                "stopped": stopped,
                "imported": counts.imported,
                "overwritten": counts.overwritten,
                "same": counts.same,
                "other": counts.other,
                "left_out": counts.left_out,
                "older": counts.older,
                "refused": counts.refused,
                "stripped": counts.stripped,
                "bytes": counts.bytes,
            });
            return output::json(&object).map(drop);
        }
        for line in &self.lines {
            output::line(line)?;
        }
        output::line(&self.summary(stopped))
    }

    fn summary(&self, stopped: bool) -> String {
        let counts = &self.counts;
        let did = if self.dry_run {
            "Would import"
        } else {
            "Imported"
        };
        let memories = output::counted(counts.imported, "memory");
        let bytes = output::counted(counts.bytes, "byte");
        let mut parts = vec![format!("{did} {memories} ({bytes})")];
        let stripped = output::counted(counts.stripped, "secret value");
        let older = output::counted(counts.older, "older version");
        for (count, what) in [
            (
                counts.overwritten,
                format!("{} overwritten", counts.overwritten),
            ),
            (counts.same, format!("{} there already", counts.same)),
            (
                counts.other,
                format!("{} there with another text", counts.other),
            ),
            (counts.refused, format!("{} refused", counts.refused)),
            (counts.left_out, format!("{} left out", counts.left_out)),
            (counts.older, format!("{older} not taken")),
            (counts.stripped, format!("{stripped} stripped")),
        ] {
            if count > 0 {
                parts.push(what);
            }
        }
        let mut text = parts.join(", ");
        if stopped {
            text.push_str("; then it stopped: the same command again goes on");
        } else if counts.other > 0 {
            text.push_str("; --overwrite writes what is there with another text");
        }
        text
    }

    pub(super) fn exit_code(&self) -> u8 {
        match (self.counts.refused, self.counts.other) {
            (0, 0) => 0,
            (0, _) => OTHERS,
            _ => REFUSED,
        }
    }
}

impl Counts {
    fn add(&mut self, outcome: &Outcome) {
        let count = match outcome {
            Outcome::Imported(_) => &mut self.imported,
            Outcome::Overwritten(_) => &mut self.overwritten,
            Outcome::Same => &mut self.same,
            Outcome::Other => &mut self.other,
            Outcome::LeftOut(_) => &mut self.left_out,
            Outcome::Older => &mut self.older,
            Outcome::Refused(_) => &mut self.refused,
        };
        *count += 1;
        if let Outcome::Imported(written) = outcome {
            self.bytes += written.bytes as u64;
        }
        if let Outcome::Imported(written) | Outcome::Overwritten(written) = outcome {
            self.stripped += written.redactions.len() as u64;
        }
    }
}

/// Whether it is said of the source, and not of a memory.
fn is_of_source(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Refused(_) | Outcome::LeftOut(_))
}

/// A text that came with the source: there may be a secret in it.
fn shown(store: &Store, text: &str) -> Result<String> {
    store.without_secrets(text)
}

/// `password in line 3; github-pat in lines 5,9-11`
fn kinds(found: &[Redaction]) -> String {
    let mut kinds: Vec<(&str, Vec<(u64, u64)>)> = Vec::new();
    for one in found {
        let at = kinds.iter().position(|(kind, _)| *kind == one.kind);
        let at = at.unwrap_or_else(|| {
            kinds.push((&one.kind, Vec::new()));
            kinds.len() - 1
        });
        let Some(line) = one.line else { continue };
        let line = line as u64;
        match kinds[at].1.last_mut() {
            Some((_, last)) if line == *last || line == *last + 1 => *last = line,
            _ => kinds[at].1.push((line, line)),
        }
    }
    let said = kinds.iter().map(|(kind, lines)| match lines[..] {
        [(first, last)] if first == last => format!("{kind} in line {first}"),
        _ => format!("{kind} in lines {}", events::runs(lines)),
    });
    said.collect::<Vec<_>>().join("; ")
}
