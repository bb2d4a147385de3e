//! `man`: manual pages, made from the same words as `--help`.

use std::fs;
use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result, nearest};
use clap::{Args, Command};

use crate::args::command_line;
use crate::output;

#[derive(Args)]
pub(crate) struct Man {
    /// The verb whose page to print, such as `log` or `hold add` [default: agekeep itself]
    #[arg(value_name = "VERB", conflicts_with = "out")]
    verb: Vec<String>,
    /// The folder to write every page into, a file each, such as `agekeep-log.1`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A manual page: its name, and its text in the language of man (roff).
type ManPage = (String, String);

pub(crate) fn run(args: &Man) -> Result<u8> {
    let mut pages = Vec::new();
    if let Some(folder) = &args.out {
        add_pages(&command_line(), &mut pages);
        write(folder, &pages)?;
        let count = output::counted(pages.len() as u64, "page");
        output::line(&format!("{count} written into {}", folder.display()))?;
    } else {
        let command = verb(&args.verb)?;
        let (_, text) = page(&command);
        output::text(&text)?;
    }
    Ok(0)
}

/// Finds the verb of these words.
fn verb(words: &[String]) -> Result<Command> {
    let mut command = command_line();
    for word in words {
        let found = command.find_subcommand(word).cloned();
        command = found.ok_or_else(|| {
            let names = command.get_subcommands().filter(|verb| !verb.is_hide_set());
            let near = nearest(word, names.map(Command::get_name));
            let near = near
                .first()
                .map(|name| format!("; a similar one is {name}"));
            Error::invalid(
                "the verb",
                format!(
                    "{word:?} is not a verb of {}{}",
                    command.get_name(),
                    near.unwrap_or_default()
                ),
            )
        })?;
    }
    Ok(command)
}

/// Adds the page of a command, and of each verb in it that help shows.
fn add_pages(command: &Command, pages: &mut Vec<ManPage>) {
    pages.push(page(command));
    let verbs = command.get_subcommands();
    for verb in verbs.filter(|verb| !verb.is_hide_set() && verb.get_name() != "help") {
        add_pages(verb, pages);
    }
}

fn page(command: &Command) -> ManPage {
    let name = command.get_display_name().unwrap_or("agekeep");
    let page = clap_mangen::Man::new(command.clone())
        .title(name.to_uppercase())
        .source(format!("agekeep {}", env!("CARGO_PKG_VERSION")))
        .manual("agekeep");
    let mut text = Vec::<u8>::new();
    page.render(&mut text).expect("a buffer takes everything");
    (format!("{name}.1"), tidied(&String::from_utf8_lossy(&text)))
}

/// Removes what man complains about. An empty date moves the words after it one place ahead, and a
/// line is not broken beside an empty one.
fn tidied(page: &str) -> String {
    let dated = page.replacen(" 1  \"", " 1 \"\" \"", 1);
    let empty = dated.replace(".br\n\n.br\n", "\n");
    empty.replace("\n\n.br\n", "\n\n")
}

/// Writes pages into a folder, which is made if it is not there. A file that is there is replaced.
fn write(folder: &Path, pages: &[ManPage]) -> Result<()> {
    fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
    for (name, text) in pages {
        let file = folder.join(name);
        fs::write(&file, text).map_err(Error::io("write", &file))?;
    }
    Ok(())
}
