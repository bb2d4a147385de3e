//! Help: the list of verbs in groups, what stands below the help of a verb, and topics. The texts are
//! files in `help/`.

use std::fmt::Write as _;

use agekeep::error::{Result, nearest};
use clap::error::ErrorKind;
use clap::{Args, Command, CommandFactory};

use crate::args::{Cli, Global, USAGE, misused};
use crate::output;

/// Groups (`# name`), the verbs of each (`## name`), and what stands below the help of a verb.
const VERBS: &str = include_str!("help/verbs.txt");

/// The topics, each with its text. `policy` is a verb too; its topic is printed below its help.
const TOPICS: [(&str, &str); 6] = [
    ("revisions", include_str!("help/revisions.txt")),
    ("paths", include_str!("help/paths.txt")),
    ("policy", include_str!("help/policy.txt")),
    ("environment", include_str!("help/environment.txt")),
    ("exit-codes", include_str!("help/exit-codes.txt")),
    ("recovery", include_str!("help/recovery.txt")),
];

/// The topic whose text is made from the options themselves.
const OPTIONS: &str = "options";

/// The width of the column of names in the list of verbs.
const NAME_WIDTH: usize = 16;

#[derive(Args)]
pub(crate) struct HelpArgs {
    /// A verb, with the verb below it if it has any, or a topic
    #[arg(value_name = "VERB|TOPIC")]
    words: Vec<String>,
}

/// Returns the command line, whose help is complete. Its global options stand in one topic instead of
/// in the help of every verb.
pub(crate) fn command() -> Command {
    let (command, list) = with_examples(Cli::command().mut_args(|arg| {
        let hidden = arg.get_id() != "help";
        arg.hide(hidden)
    }));
    let topics = TOPICS.map(|(name, _)| name).join(" ");
    command
        .help_template("{about-with-newline}\n{usage-heading} {usage}{after-help}")
        .after_help(format!(
            "{list}\nMore help\n  agekeep help VERB   what a verb does, with examples\n  agekeep help \
             TOPIC  {topics}\n                      {OPTIONS}"
        ))
}

/// Puts examples and what is recorded below the help of each verb; returns the list of verbs too.
pub(crate) fn with_examples(mut command: Command) -> (Command, String) {
    let mut list = String::new();
    for group in VERBS.split("\n# ").skip(1) {
        let (title, verbs) = group.split_once('\n').expect("a group has verbs");
        list.extend(["\n", title, "\n"]);
        for entry in verbs.split("\n## ").skip(1) {
            let (name, text) = entry.split_once('\n').expect("a verb has a text");
            // One that this build has not.
            let Some(verb) = command.find_subcommand(name) else {
                continue;
            };
            let about = verb.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            let _ = writeln!(list, "  {name:<NAME_WIDTH$} {about}");
            let text = below(verb, text);
            command = command.mut_subcommand(name, |verb| verb.after_help(text));
        }
    }
    (command, list.trim_start().to_owned())
}

/// Makes what stands below the help of a verb.
fn below(verb: &Command, text: &str) -> String {
    let names: Vec<_> = verb.get_visible_aliases().collect();
    let text = text.trim_end();
    if names.is_empty() {
        return text.to_owned();
    }
    format!("{text}\nOther names: {}", names.join(", "))
}

pub(crate) fn run(global: &Global, args: &HelpArgs) -> Result<u8> {
    let words: Vec<_> = args.words.iter().map(String::as_str).collect();
    let topic = match words[..] {
        [OPTIONS] => return options(),
        [word] => TOPICS.iter().find(|(name, _)| *name == word),
        _ => None,
    };
    let is_verb = |name: &str| Cli::command().find_subcommand(name).is_some();
    match topic {
        Some((name, text)) if is_verb(name) => {
            let code = of_verb(global, &words);
            output::text(&format!("\n{text}"))?;
            Ok(code)
        }
        Some((_, text)) => output::text(text).map(|()| 0),
        None => Ok(of_verb(global, &words)),
    }
}

/// Prints the help of a verb, or why there is none.
fn of_verb(global: &Global, words: &[&str]) -> u8 {
    let plain = words.iter().copied().filter(|word| !word.starts_with('-'));
    let line = ["agekeep"].into_iter().chain(plain).chain(["--help"]);
    let Err(error) = command().try_get_matches_from(line) else {
        return USAGE;
    };
    let (ErrorKind::InvalidSubcommand, [word]) = (error.kind(), words) else {
        return misused(&error);
    };
    let topics = TOPICS.map(|(name, _)| name);
    let tip = match nearest(word, topics.into_iter().chain([OPTIONS]))[..] {
        [topic, ..] => format!("tip: a similar topic exists: '{topic}'"),
        [] if error.to_string().contains("tip:") => return misused(&error),
        [] => format!("topics: {} {OPTIONS}", topics.join(" ")),
    };
    let said = format!(
        "error: no verb and no topic is called '{word}'\n\n  {tip}\n\nFor more information, try \
         'agekeep --help'."
    );
    output::usage(&said, global.json);
    USAGE
}

/// Prints the options of every verb.
fn options() -> Result<u8> {
    let mut command = Cli::command().help_template("{options}");
    let options = command.render_help();
    output::text(&format!(
        "Options of every verb; they may stand before or after its name.\n\n{options}"
    ))?;
    Ok(0)
}
