//! `export`: memories as plaintext, in a folder or as JSON Lines.

mod report;
mod target;
mod writer;

use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::store::export::{Head, Scope};
use agekeep::store::{Export, Store};
use clap::Args;

use self::report::Report;
use self::target::Target;
use self::writer::Writer;
use crate::args::Global;
use crate::environment;
use crate::output::{self, Bar};
use crate::verbs::history;

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// The folder to write to, which is not there yet or is empty
    #[arg(value_name = "DIR", required_unless_present = "jsonl")]
    folder: Option<PathBuf>,
    /// Write JSON Lines to a file that is not there yet; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "folder")]
    jsonl: Option<PathBuf>,
    /// As it was after this moment: an event, a commit, HEAD~N or a time
    #[arg(long, value_name = "REV")]
    at: Option<String>,
    /// Every version there was, also of what is gone, and who wrote it
    #[arg(long, conflicts_with = "folder")]
    history: bool,
    /// Only this path and what is below it; may be given several times
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// Write into a git work tree all the same
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(global: &Global, args: &ExportArgs) -> Result<u8> {
    let mut store = global.open()?;
    let scope = scope(global, args, &store)?;
    let target = target(global, args)?;
    let place = place_of(args);
    // Said before anything is written or recorded, so that it can still be stopped.
    output::warn(&format!(
        "this writes plaintext: whoever can read {place} reads these memories, and no erasure \
         reaches them there"
    ));
    let mut export = store.export(&scope, &global.context())?;
    let head = export.head().clone();
    let mut report = Report::new(place, args.history);
    let writer = match (target, args.jsonl.is_some()) {
        (Some(target), false) => Writer::folder(target)?,
        (Some(target), true) => Writer::file(target, &head, &scope)?,
        (None, _) => Writer::stdout(&head, &scope)?,
    };
    let Some(writer) = write(&mut export, &head, writer, &mut report)? else {
        return Ok(0);
    };
    let to_stdout = writer.is_stdout();
    writer.finish()?;
    report.show(&head, global.json, to_stdout)?;
    Ok(report.exit_code())
}

/// Writes everything; `None` when nobody reads on.
fn write(
    export: &mut Export<'_>,
    head: &Head,
    mut writer: Writer,
    report: &mut Report,
) -> Result<Option<Writer>> {
    let mut bar = Bar::start("versions");
    let mut done = 0;
    let write = || {
        for taken in export {
            bar.show(done, Some(head.versions));
            done += 1;
            let taken = taken?;
            let added = writer.add(&taken)?;
            report.add(&taken, added);
            if added == writer::Added::Unread {
                return Ok::<_, Error>(None);
            }
        }
        Ok(Some(()))
    };
    let written = write();
    bar.finish();
    Ok(written?.map(|()| writer))
}

fn scope(global: &Global, args: &ExportArgs, store: &Store) -> Result<Scope> {
    let mut scope = Scope::default();
    let at = args.at.as_deref();
    scope.at = at.map(|at| history::revision(global, at)).transpose()?;
    let paths = args.paths.iter().map(|path| store.parse_path(path));
    scope.within = paths.collect::<Result<_>>()?;
    scope.history = args.history;
    Ok(scope)
}

/// Where to write, if not to standard output.
fn target(global: &Global, args: &ExportArgs) -> Result<Option<Target>> {
    let (path, is_folder) = match (&args.folder, &args.jsonl) {
        (Some(folder), _) => (folder, true),
        (None, Some(file)) if file == Path::new("-") => return Ok(None),
        (None, Some(file)) => (file, false),
        (None, None) => {
            return Err(Error::Invalid {
                what: "the target",
                why: "name a folder, or a file with --jsonl".into(),
            });
        }
    };
    let store = environment::store(global)?;
    Target::check(path, is_folder, args.force, &store).map(Some)
}

/// The target as people call it.
fn place_of(args: &ExportArgs) -> String {
    let path = args.folder.as_ref().or(args.jsonl.as_ref());
    let path = path.filter(|path| *path != Path::new("-"));
    path.map_or_else(
        || "standard output".into(),
        |path| path.display().to_string(),
    )
}
