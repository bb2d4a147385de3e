//! `import`: brings in memories that people already have, each by one command like any other.

mod lines;
mod source;

use std::path::PathBuf;

use agekeep::Text;
use agekeep::error::{Error, Result};
use agekeep::event::{Context, Redaction};
use agekeep::memory_tool::command::Command;
use agekeep::store::answer::Refusal;
use agekeep::store::{Store, TextComparison};
use clap::Args;
use serde_json::json;

use self::source::{From, ImportItem, ImportSource, ItemContent};
use crate::args::{Global, memory_path};
use crate::output::{self, Bar};
use crate::platform::folder::UserFolder;
use crate::{environment, render};

pub(crate) use self::lines::SCHEMA;

#[derive(Args)]
pub(crate) struct Import {
    /// A folder of text files, the folder of an SDK's local memory tool, Claude Code's memory
    /// folder of a project, or a JSON Lines export. Links are not followed
    source: PathBuf,
    /// The kind of source, if agekeep cannot tell
    #[arg(long, value_name = "KIND")]
    from: Option<From>,
    /// The directory to import into
    #[arg(long, value_name = "PATH", value_parser = memory_path, default_value = agekeep::memory_tool::path::ROOT)]
    to: String,
    /// Overwrite memories that have a different text
    #[arg(long)]
    overwrite: bool,
    /// Print what would be imported and redacted, without changing or recording anything
    #[arg(short = 'n', long)]
    dry_run: bool,
}

pub(crate) fn run(global: &Global, args: &Import) -> Result<u8> {
    let store = if args.dry_run {
        global.open_for_reading()?
    } else {
        global.open()?
    };
    let to = store.parse_path(&args.to)?;
    let mut source = ImportSource::open(&args.source, args.from, store.limits())?;
    let mut context = global.context();
    context.reason.get_or_insert_with(|| source.reason());
    let itself = UserFolder::open(&environment::store(global)?).and_then(|folder| folder.itself());
    let items = source.items(&store, itself.ok(), &to)?;
    let mut run = Importing {
        room: room(&store)?,
        store,
        context,
        overwrite: args.overwrite,
        dry_run: args.dry_run,
    };
    let mut report = ImportReport::new(global.json, args.dry_run);
    let mut bar = Bar::start("files");
    let mut stopped = None;
    for (done, item) in items.iter().enumerate() {
        bar.show(done as u64, Some(items.len() as u64));
        let added = run.bring(&mut source, item, &report);
        let added = added.and_then(|outcome| report.add(&run.store, item, &outcome));
        if let Err(error) = added {
            stopped = Some(error);
            break;
        }
    }
    bar.finish();
    report.show(source.kind(), stopped.is_some())?;
    stopped.map_or_else(|| Ok(report.exit_code()), Err)
}

/// Returns how many more memories the store may hold.
fn room(store: &Store) -> Result<u64> {
    let held = store.status()?.memories;
    Ok(store.limits().memories.saturating_sub(held) as u64)
}

/// An import that is under way.
struct Importing {
    store: Store,
    context: Context,
    overwrite: bool,
    dry_run: bool,
    /// The number of memories there was room for at the start.
    room: u64,
}

/// The answer to a command, given or previewed.
struct Answered {
    refusal: Option<(Refusal, String)>,
    written: ImportedText,
}

impl Importing {
    /// Imports one item.
    fn bring(
        &mut self,
        source: &mut ImportSource,
        item: &ImportItem,
        so_far: &ImportReport,
    ) -> Result<ImportOutcome> {
        let body = match &item.what {
            ItemContent::Text(body) => body,
            ItemContent::LeftOut(what) => return Ok(ImportOutcome::LeftOut(what)),
            ItemContent::Older => return Ok(ImportOutcome::Older),
            ItemContent::Refused(why) => return Ok(ImportOutcome::Refused(why.clone())),
        };
        let text = match source.text(body, self.store.limits())? {
            Ok(text) => text,
            Err(why) => return Ok(ImportOutcome::Refused(why)),
        };
        let path = item.path.as_deref().expect("a text has a path");
        if self.dry_run && so_far.counts.imported >= self.room {
            let held = self.store.limits().memories;
            if let TextComparison::Free = self.store.compare_with_stored(path, &text)? {
                return Ok(ImportOutcome::Refused(format!(
                    "the store holds at most {held} memories"
                )));
            }
        }
        self.settle(path, &text)
    }

    /// Writes a text to its path, or finds that it is there already.
    fn settle(&mut self, path: &str, text: &Text) -> Result<ImportOutcome> {
        let found = self.store.compare_with_stored(path, text)?;
        if let TextComparison::Free = found {
            let answered = self.give(&create(path, text), None)?;
            return Ok(match answered.refusal {
                None => ImportOutcome::Imported(answered.written),
                // Somebody else made it a moment ago, or a directory is there.
                Some((Refusal::Exists, why)) => match self.store.compare_with_stored(path, text)? {
                    TextComparison::Free => ImportOutcome::Refused(why),
                    found => self.found(&found, path, text)?,
                },
                Some((_, why)) => ImportOutcome::Refused(why),
            });
        }
        self.found(&found, path, text)
    }

    /// Handles a text whose path already has a file.
    fn found(&mut self, found: &TextComparison, path: &str, text: &Text) -> Result<ImportOutcome> {
        match found {
            TextComparison::Same => Ok(ImportOutcome::Same),
            TextComparison::Other(base) if self.overwrite => {
                let write = Command::Write {
                    path: path.to_owned(),
                    content: text.clone(),
                };
                // The write must not replace what somebody else wrote since the comparison.
                let answered = self.give(&write, Some(*base))?;
                Ok(match answered.refusal {
                    None => ImportOutcome::Overwritten(answered.written),
                    Some((_, why)) => ImportOutcome::Refused(why),
                })
            }
            TextComparison::Unreadable(error) => Ok(ImportOutcome::Refused(closed(error))),
            _ => Ok(ImportOutcome::Other),
        }
    }

    /// Executes a command, or in a dry run only previews its answer.
    fn give(&mut self, command: &Command, base: Option<agekeep::Digest>) -> Result<Answered> {
        self.context.base_sha256 = base;
        let bytes = match command {
            Command::Create {
                file_text: text, ..
            }
            | Command::Write { content: text, .. } => text.len(),
            _ => 0,
        };
        let (refusal, content, redactions, event) = if self.dry_run {
            let preview = self.store.preview(command, &self.context)?;
            (preview.refusal, preview.content, preview.redactions, None)
        } else {
            let answer = self.store.execute(command, &self.context)?;
            let event = Some(answer.meta.event);
            (
                answer.refusal,
                answer.content,
                answer.meta.redactions,
                event,
            )
        };
        let why = |refusal| {
            let said = content.as_str();
            (
                refusal,
                said.strip_prefix("Error: ").unwrap_or(said).to_owned(),
            )
        };
        Ok(Answered {
            refusal: refusal.map(why),
            written: ImportedText {
                bytes,
                event,
                redactions: redactions.into_iter().filter(is_in_text).collect(),
            },
        })
    }
}

fn create(path: &str, text: &Text) -> Command {
    Command::Create {
        path: path.to_owned(),
        file_text: text.clone(),
    }
}

/// Tells whether a secret was in the text, and not in what is said about who imports it and why.
fn is_in_text(redaction: &Redaction) -> bool {
    redaction.line.is_some()
}

fn closed(error: &Error) -> String {
    format!("the memory that is there cannot be decrypted: {error}")
}

// The outcomes of an import, in words and as JSON.

/// The exit code if something was refused: not everything was imported.
const REFUSED: u8 = 1;
/// The exit code if something is there already with another text.
const OTHERS: u8 = 5;

/// The outcome of one item.
enum ImportOutcome {
    Imported(ImportedText),
    Overwritten(ImportedText),
    /// The same text is there already.
    Same,
    /// Another text is there, and was left as it is.
    Other,
    LeftOut(&'static str),
    /// It is an older version of a memory.
    Older,
    Refused(String),
}

/// A text that was written, or would be.
struct ImportedText {
    bytes: usize,
    event: Option<u64>,
    redactions: Vec<Redaction>,
}

/// The report of an import.
struct ImportReport {
    json: bool,
    dry_run: bool,
    lines: Vec<String>,
    counts: Counts,
}

/// The number of items by outcome, of stripped secrets and of bytes.
#[derive(Default, Clone, Copy)]
struct Counts {
    imported: u64,
    overwritten: u64,
    same: u64,
    other: u64,
    left_out: u64,
    older: u64,
    refused: u64,
    stripped: u64,
    bytes: u64,
}

impl ImportReport {
    fn new(json: bool, dry_run: bool) -> Self {
        Self {
            json,
            dry_run,
            lines: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Adds the outcome of one item.
    fn add(&mut self, store: &Store, item: &ImportItem, outcome: &ImportOutcome) -> Result<()> {
        self.counts.add(outcome);
        if self.json {
            return self.object(store, item, outcome);
        }
        if let Some(said) = self.said(store, outcome)? {
            // The path it was imported to, or else its name in the source.
            let path = item.path.as_ref().filter(|_| !is_of_source(outcome));
            let name = shown(store, path.unwrap_or(&item.name))?;
            self.lines
                .push(format!("{}  {said}", render::quoted(&name)));
        }
        Ok(())
    }

    /// Describes an outcome in words, if there is anything to say.
    fn said(&self, store: &Store, outcome: &ImportOutcome) -> Result<Option<String>> {
        let would =
            |done: &str, written: &ImportedText| match (self.dry_run, &written.redactions[..]) {
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
            ImportOutcome::Imported(written) => would("imported", written),
            ImportOutcome::Overwritten(written) => would("overwritten", written),
            ImportOutcome::Same => self.dry_run.then(|| "is there already".into()),
            ImportOutcome::Older => None,
            ImportOutcome::Other => {
                Some("exists with a different text, and was left unchanged".into())
            }
            ImportOutcome::LeftOut(what) => Some(format!("left out: {what}")),
            ImportOutcome::Refused(why) => Some(format!("refused: {}", shown(store, why)?)),
        })
    }

    fn object(&self, store: &Store, item: &ImportItem, outcome: &ImportOutcome) -> Result<()> {
        if matches!(outcome, ImportOutcome::Older) {
            return Ok(());
        }
        let written = match outcome {
            ImportOutcome::Imported(written) | ImportOutcome::Overwritten(written) => Some(written),
            _ => None,
        };
        let path = item.path.as_deref();
        let object = json!({
            "schema": "agekeep.import_file/1",
            "name": shown(store, &item.name)?,
            "path": path.map(|path| shown(store, path)).transpose()?,
            "dry_run": self.dry_run,
            "outcome": match outcome {
                ImportOutcome::Imported(_) => "imported",
                ImportOutcome::Overwritten(_) => "overwritten",
                ImportOutcome::Same => "same",
                ImportOutcome::Other => "other",
                ImportOutcome::LeftOut(_) => "left_out",
                ImportOutcome::Older => "older",
                ImportOutcome::Refused(_) => "refused",
            },
            "why": match outcome {
                ImportOutcome::LeftOut(what) => Some((*what).to_owned()),
                ImportOutcome::Refused(why) => Some(shown(store, why)?),
                _ => None,
            },
            "bytes": written.map(|written| written.bytes),
            "event": written.and_then(|written| written.event),
            "redactions": written.map(|written| &written.redactions),
        });
        output::json(&object).map(drop)
    }

    /// Prints the report; `stopped` says that the import ended before it came to everything.
    fn show(&self, kind: &str, stopped: bool) -> Result<()> {
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
                format!("{} with a different text", counts.other),
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
            text.push_str("; then it stopped: run the same command again to continue");
        } else if counts.other > 0 {
            text.push_str("; --overwrite replaces memories that have a different text");
        }
        text
    }

    fn exit_code(&self) -> u8 {
        match (self.counts.refused, self.counts.other) {
            (0, 0) => 0,
            (0, _) => OTHERS,
            _ => REFUSED,
        }
    }
}

impl Counts {
    fn add(&mut self, outcome: &ImportOutcome) {
        let count = match outcome {
            ImportOutcome::Imported(_) => &mut self.imported,
            ImportOutcome::Overwritten(_) => &mut self.overwritten,
            ImportOutcome::Same => &mut self.same,
            ImportOutcome::Other => &mut self.other,
            ImportOutcome::LeftOut(_) => &mut self.left_out,
            ImportOutcome::Older => &mut self.older,
            ImportOutcome::Refused(_) => &mut self.refused,
        };
        *count += 1;
        if let ImportOutcome::Imported(written) = outcome {
            self.bytes += written.bytes as u64;
        }
        if let ImportOutcome::Imported(written) | ImportOutcome::Overwritten(written) = outcome {
            self.stripped += written.redactions.len() as u64;
        }
    }
}

/// Tells whether an outcome is about the source, and not about a memory.
fn is_of_source(outcome: &ImportOutcome) -> bool {
    matches!(
        outcome,
        ImportOutcome::Refused(_) | ImportOutcome::LeftOut(_)
    )
}

/// Redacts the secrets in a text that came with the source.
fn shown(store: &Store, text: &str) -> Result<String> {
    store.without_secrets(text)
}

/// Lists the kinds of secrets and their lines: `password in line 3; github-pat in lines 5,9-11`
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
        _ => format!("{kind} in lines {}", render::runs(lines)),
    });
    said.collect::<Vec<_>>().join("; ")
}
