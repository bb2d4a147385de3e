//! `import`: memories that people already have, each by one command like any other.

mod lines;
mod report;
mod source;
mod tree;

use std::path::PathBuf;

use agekeep::Text;
use agekeep::error::{Error, Result};
use agekeep::event::{Context, Redaction};
use agekeep::memory_tool::command::Command;
use agekeep::store::answer::Refusal;
use agekeep::store::{Compared, Store};
use clap::Args;

use self::report::{Outcome, Report, Written};
use self::source::{From, Item, Source, What};
use crate::args::Global;
use crate::environment;
use crate::folder::Folder;
use crate::output::Bar;

pub(crate) use self::lines::SCHEMA;

#[derive(Args)]
pub(crate) struct Import {
    /// A folder of text files, that of an SDK's local memory tool, Claude Code's memory folder of a
    /// project, or a JSON Lines export; links in it are not followed
    source: PathBuf,
    /// What it is, where that could be taken for something else
    #[arg(long, value_name = "KIND")]
    from: Option<From>,
    /// Put everything below this directory
    #[arg(long, value_name = "PATH", default_value = agekeep::memory_tool::path::ROOT)]
    to: String,
    /// Write over what is there with another text
    #[arg(long)]
    overwrite: bool,
    /// Say what would be imported and what would be stripped from it; nothing changes, and nothing
    /// is recorded
    #[arg(short = 'n', long)]
    dry_run: bool,
}

pub(crate) fn run(global: &Global, args: &Import) -> Result<u8> {
    let store = if args.dry_run {
        global.open_to_look()?
    } else {
        global.open()?
    };
    let to = store.parse_path(&args.to)?;
    let mut source = Source::open(&args.source, args.from, store.limits())?;
    let mut context = global.context();
    context.reason.get_or_insert_with(|| source.reason());
    let itself = Folder::open(&environment::store(global)?).and_then(|folder| folder.itself());
    let items = source.items(&store, itself.ok(), &to)?;
    let mut run = Importing {
        room: room(&store)?,
        store,
        context,
        overwrite: args.overwrite,
        dry_run: args.dry_run,
    };
    let mut report = Report::new(global.json, args.dry_run);
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

/// How many more memories the store may hold.
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
    /// How many memories there was room for.
    room: u64,
}

/// What a command answered, or would answer.
struct Answered {
    refusal: Option<(Refusal, String)>,
    written: Written,
}

impl Importing {
    /// Brings in one thing.
    fn bring(&mut self, source: &mut Source, item: &Item, so_far: &Report) -> Result<Outcome> {
        let body = match &item.what {
            What::Text(body) => body,
            What::LeftOut(what) => return Ok(Outcome::LeftOut(what)),
            What::Older => return Ok(Outcome::Older),
            What::Refused(why) => return Ok(Outcome::Refused(why.clone())),
        };
        let text = match source.text(body, self.store.limits())? {
            Ok(text) => text,
            Err(why) => return Ok(Outcome::Refused(why)),
        };
        let path = item.path.as_deref().expect("a text has a path");
        if self.dry_run && so_far.counts.imported >= self.room {
            let held = self.store.limits().memories;
            if let Compared::Free = self.store.compare_kept(path, &text)? {
                return Ok(Outcome::Refused(format!(
                    "the store holds at most {held} memories"
                )));
            }
        }
        self.settle(path, &text)
    }

    /// Brings a text to its path, or finds that it is there.
    fn settle(&mut self, path: &str, text: &Text) -> Result<Outcome> {
        let found = self.store.compare_kept(path, text)?;
        if let Compared::Free = found {
            let answered = self.give(&create(path, text), None)?;
            return Ok(match answered.refusal {
                None => Outcome::Imported(answered.written),
                // Somebody else made it a moment ago, or a directory is there.
                Some((Refusal::Exists, why)) => match self.store.compare_kept(path, text)? {
                    Compared::Free => Outcome::Refused(why),
                    found => self.found(&found, path, text)?,
                },
                Some((_, why)) => Outcome::Refused(why),
            });
        }
        self.found(&found, path, text)
    }

    /// What comes of a text where a file is already.
    fn found(&mut self, found: &Compared, path: &str, text: &Text) -> Result<Outcome> {
        match found {
            Compared::Same => Ok(Outcome::Same),
            Compared::Other(base) if self.overwrite => {
                let write = Command::Write {
                    path: path.to_owned(),
                    content: text.clone(),
                };
                // Not over what somebody else wrote since it was compared.
                let answered = self.give(&write, Some(*base))?;
                Ok(match answered.refusal {
                    None => Outcome::Overwritten(answered.written),
                    Some((_, why)) => Outcome::Refused(why),
                })
            }
            Compared::Closed(error) => Ok(Outcome::Refused(closed(error))),
            _ => Ok(Outcome::Other),
        }
    }

    /// Gives a command, or only asks what would come of it.
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
            let foreseen = self.store.foresee(command, &self.context)?;
            (
                foreseen.refusal,
                foreseen.content,
                foreseen.redactions,
                None,
            )
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
            written: Written {
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

/// Whether it was in the text, and not in what is said about who imports it and why.
fn is_in_text(redaction: &Redaction) -> bool {
    redaction.line.is_some()
}

fn closed(error: &Error) -> String {
    format!("what is there does not open: {error}")
}
