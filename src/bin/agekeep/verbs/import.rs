//! `import`: brings in memories that people already have, each by one command like any other.

mod lines;
mod source;

use std::collections::BTreeMap;
use std::path::PathBuf;

use agekeep::Digest;
use agekeep::error::Result;
use agekeep::event::{Context, Redaction};
use agekeep::memory_tool::command::Command;
use agekeep::store::answer::Refusal;
use agekeep::store::{Store, TextComparison};
use clap::Args;
use serde_json::json;

use self::source::{Body, From, ImportSource};
use crate::args::{Global, memory_path};
use crate::platform::folder::UserFolder;
use crate::{environment, output, render};

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
    let store = global.open_unless(args.dry_run)?;
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
    let mut report = ImportReport {
        json: global.json,
        dry_run: args.dry_run,
        ..ImportReport::default()
    };
    let total = items.len() as u64;
    let brought = output::with_bar("files", |progress| {
        for (done, item) in (0..).zip(items) {
            progress(done, total);
            let path = item.path.as_deref();
            let outcome = match item.what {
                Ok(body) => {
                    let path = path.expect("a text has a path");
                    run.bring(&mut source, &body, path, &report)?
                }
                Err(outcome) => outcome,
            };
            report.add(&run.store, &item.name, path, &outcome)?;
        }
        Ok(())
    });
    report.show(source.kind(), brought.is_err())?;
    brought.map(|()| report.exit_code())
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

/// What was written, or why nothing was.
type WriteResult = Result<ImportedText, (Refusal, String)>;

impl Importing {
    /// Imports one text, or finds that it is there already.
    fn bring(
        &mut self,
        source: &mut ImportSource,
        body: &Body,
        path: &str,
        so_far: &ImportReport,
    ) -> Result<ImportOutcome> {
        let text = match source.text(body, self.store.limits())? {
            Ok(text) => text,
            Err(why) => return Ok(ImportOutcome::Refused(why)),
        };
        let mut found = self.store.compare_with_stored(path, &text)?;
        if let TextComparison::Free = found {
            if self.dry_run && so_far.count("imported") >= self.room {
                let held = self.store.limits().memories;
                let why = format!("the store holds at most {held} memories");
                return Ok(ImportOutcome::Refused(why));
            }
            let create = Command::Create {
                path: path.to_owned(),
                file_text: text.clone(),
            };
            match self.give(&create, text.len(), None)? {
                Ok(written) => return Ok(ImportOutcome::Imported(written)),
                // Somebody else made it a moment ago, or a directory is there.
                Err((Refusal::Exists, why)) => {
                    found = self.store.compare_with_stored(path, &text)?;
                    if let TextComparison::Free = found {
                        return Ok(ImportOutcome::Refused(why));
                    }
                }
                Err((_, why)) => return Ok(ImportOutcome::Refused(why)),
            }
        }
        Ok(match found {
            TextComparison::Same => ImportOutcome::Same,
            TextComparison::Other(base) if self.overwrite => {
                let bytes = text.len();
                let write = Command::Write {
                    path: path.to_owned(),
                    content: text,
                };
                // The write must not replace what somebody else wrote since the comparison.
                match self.give(&write, bytes, Some(base))? {
                    Ok(written) => ImportOutcome::Overwritten(written),
                    Err((_, why)) => ImportOutcome::Refused(why),
                }
            }
            TextComparison::Unreadable(error) => ImportOutcome::Refused(format!(
                "the memory that is there cannot be decrypted: {error}"
            )),
            _ => ImportOutcome::Other,
        })
    }

    /// Executes a command, or in a dry run only previews its answer.
    fn give(
        &mut self,
        command: &Command,
        bytes: usize,
        base: Option<Digest>,
    ) -> Result<WriteResult> {
        self.context.base_sha256 = base;
        let (refusal, content, redactions, event) = if self.dry_run {
            let preview = self.store.preview(command, &self.context)?;
            (preview.refusal, preview.content, preview.redactions, None)
        } else {
            let answer = self.store.execute(command, &self.context)?;
            let meta = answer.meta;
            let event = Some(meta.event);
            (answer.refusal, answer.content, meta.redactions, event)
        };
        if let Some(refusal) = refusal {
            let said = content.as_str();
            let why = said.strip_prefix("Error: ").unwrap_or(said);
            return Ok(Err((refusal, why.to_owned())));
        }
        // A secret in what is said about who imports it and why has no line.
        let in_text = redactions.into_iter().filter(|found| found.line.is_some());
        Ok(Ok(ImportedText {
            bytes,
            event,
            redactions: in_text.collect(),
        }))
    }
}

// The outcomes of an import, in words and as JSON.

/// The outcome of one item.
pub(super) enum ImportOutcome {
    Imported(ImportedText),
    Overwritten(ImportedText),
    /// The same text is there already.
    Same,
    /// Another text is there, and was left as it is.
    Other,
    /// It is no memory: the text says whose or what it is.
    LeftOut(&'static str),
    /// It is an older version of a memory, or a version of one that was gone.
    Older,
    Refused(String),
}

/// A text that was written, or would be.
pub(super) struct ImportedText {
    bytes: usize,
    event: Option<u64>,
    redactions: Vec<Redaction>,
}

/// The counts of a report, as JSON names them: the outcomes, the secrets that were stripped, and the
/// bytes that were imported.
const COUNTED: [&str; 9] = [
    "imported",
    "overwritten",
    "same",
    "other",
    "left_out",
    "older",
    "refused",
    "stripped",
    "bytes",
];

/// The report of an import.
#[derive(Default)]
struct ImportReport {
    json: bool,
    dry_run: bool,
    lines: Vec<String>,
    counts: BTreeMap<&'static str, u64>,
}

impl ImportReport {
    fn count(&self, what: &str) -> u64 {
        self.counts.get(what).copied().unwrap_or_default()
    }

    /// Adds the outcome of one item, from its name in the source and the path that it was to get.
    fn add(
        &mut self,
        store: &Store,
        name: &str,
        path: Option<&str>,
        outcome: &ImportOutcome,
    ) -> Result<()> {
        let (word, written, why) = outcome.parts();
        *self.counts.entry(word).or_default() += 1;
        if let Some(written) = written {
            *self.counts.entry("stripped").or_default() += written.redactions.len() as u64;
        }
        if let ImportOutcome::Imported(written) = outcome {
            *self.counts.entry("bytes").or_default() += written.bytes as u64;
        }
        if self.json {
            return self.object(store, name, path, outcome);
        }
        if let Some(said) = self.said(store, outcome)? {
            // The path it was imported to, or else its name in the source.
            let name = store.without_secrets(path.filter(|_| why.is_none()).unwrap_or(name))?;
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
            ImportOutcome::Refused(why) => {
                Some(format!("refused: {}", store.without_secrets(why)?))
            }
        })
    }

    fn object(
        &self,
        store: &Store,
        name: &str,
        path: Option<&str>,
        outcome: &ImportOutcome,
    ) -> Result<()> {
        if matches!(outcome, ImportOutcome::Older) {
            return Ok(());
        }
        let shown = |text: &str| store.without_secrets(text);
        let (word, written, why) = outcome.parts();
        let object = json!({
            "schema": "agekeep.import_file/1",
            "name": shown(name)?,
            "path": path.map(shown).transpose()?,
            "dry_run": self.dry_run,
            "outcome": word,
            "why": why.map(shown).transpose()?,
            "bytes": written.map(|written| written.bytes),
            "event": written.and_then(|written| written.event),
            "redactions": written.map(|written| &written.redactions),
        });
        output::json(&object).map(drop)
    }

    /// Prints the report; `stopped` says that the import ended before it came to everything.
    fn show(&self, kind: &str, stopped: bool) -> Result<()> {
        if self.json {
            let mut object = json!({
                "schema": "agekeep.import/1",
                "from": kind,
                "dry_run": self.dry_run,
                "stopped": stopped,
            });
            for what in COUNTED {
                object[what] = self.count(what).into();
            }
            return output::json(&object).map(drop);
        }
        for line in &self.lines {
            output::line(line)?;
        }
        output::line(&self.summary(stopped))
    }

    fn summary(&self, stopped: bool) -> String {
        let did = if self.dry_run {
            "Would import"
        } else {
            "Imported"
        };
        let memories = output::counted(self.count("imported"), "memory");
        let bytes = output::counted(self.count("bytes"), "byte");
        let mut text = format!("{did} {memories} ({bytes})");
        for (what, said) in [
            ("overwritten", "overwritten"),
            ("same", "there already"),
            ("other", "with a different text"),
            ("refused", "refused"),
            ("left_out", "left out"),
            ("older", "not taken"),
            ("stripped", "stripped"),
        ] {
            let counted = match (self.count(what), what) {
                (0, _) => continue,
                (count, "older") => output::counted(count, "older version"),
                (count, "stripped") => output::counted(count, "secret value"),
                (count, _) => count.to_string(),
            };
            text.extend([", ", &counted, " ", said]);
        }
        if stopped {
            text.push_str("; then it stopped: run the same command again to continue");
        } else if self.count("other") > 0 {
            text.push_str("; --overwrite replaces memories that have a different text");
        }
        text
    }

    /// Returns 1 if something was refused, so that not everything was imported, and 5 if something
    /// is there already with another text.
    fn exit_code(&self) -> u8 {
        match (self.count("refused"), self.count("other")) {
            (0, 0) => 0,
            (0, _) => 5,
            _ => 1,
        }
    }
}

impl ImportOutcome {
    /// Returns its name in JSON, the text that was written, and what is said of an item that is no
    /// memory here, because of what it is in the source.
    fn parts(&self) -> (&'static str, Option<&ImportedText>, Option<&str>) {
        match self {
            Self::Imported(written) => ("imported", Some(written), None),
            Self::Overwritten(written) => ("overwritten", Some(written), None),
            Self::Same => ("same", None, None),
            Self::Other => ("other", None, None),
            Self::LeftOut(why) => ("left_out", None, Some(why)),
            Self::Older => ("older", None, None),
            Self::Refused(why) => ("refused", None, Some(why)),
        }
    }
}

/// Lists the kinds of secrets and their lines: `password in line 3; github-pat in lines 5,9-11`
fn kinds(found: &[Redaction]) -> String {
    let mut kinds: Vec<(&str, Vec<usize>)> = Vec::new();
    for one in found {
        match kinds.iter_mut().find(|(kind, _)| *kind == one.kind) {
            Some((_, lines)) => lines.extend(one.line),
            None => kinds.push((&one.kind, one.line.into_iter().collect())),
        }
    }
    let said = kinds
        .into_iter()
        .map(|(kind, lines)| format!("{kind} in {}", render::in_lines(lines.into_iter())));
    said.collect::<Vec<_>>().join("; ")
}
