//! `prompt`: what a model should be told about its memory, for a system prompt.

use agekeep::error::{Error, Result};
use agekeep::policy::Policy;
use agekeep::policy::expiration::{Lifetime, Then};
use agekeep::store::Store;
use clap::Args;
use serde_json::json;

use crate::args::Global;
use crate::output;

#[derive(Args)]
pub(crate) struct Prompt {
    /// How the model calls its memory: MCP tools such as `memory_view`, or one tool `memory` with
    /// commands
    #[arg(long, value_name = "KIND", default_value = "memory")]
    tools: ToolNaming,
    /// Tell the model to keep only notes about this topic; can be repeated
    #[arg(long, value_name = "TOPIC")]
    only: Vec<String>,
    /// Tell the model to write nothing about this topic; can be repeated
    #[arg(long, value_name = "TOPIC")]
    never: Vec<String>,
    /// Tell the model that it can only read
    #[arg(long)]
    read_only: bool,
    /// Also tell the model the store's policy: when memories expire, and how large they may be
    #[arg(long)]
    for_store: bool,
}

/// How a model calls its memory.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ToolNaming {
    /// One tool for each command: `memory_view`, `memory_create` and so on.
    Mcp,
    /// The tool `memory`, which takes a command: `view`, `create` and so on.
    Memory,
}

/// The options of the guidance.
pub(crate) struct PromptOptions<'a> {
    pub(crate) tools: ToolNaming,
    pub(crate) topics: Topics,
    /// Set if the model can only look.
    pub(crate) read_only: bool,
    /// The policy of the store, if the guidance is about one.
    pub(crate) policy: Option<&'a Policy>,
}

pub(crate) fn run(global: &Global, args: &Prompt) -> Result<u8> {
    let topics = Topics::parse(&args.only, &args.never)?;
    let store = args.for_store.then(|| global.open_for_reading());
    let store = store.transpose()?;
    let text = guidance(&PromptOptions {
        tools: args.tools,
        topics,
        read_only: args.read_only,
        policy: store.as_ref().map(Store::policy),
    });
    if global.json {
        output::json(&json!({"schema": "agekeep.prompt/1", "text": text}))?;
    } else {
        output::text(&text)?;
    }
    Ok(0)
}

/// The sections that are the same for every store. `{view}` is how the model looks at a memory.
const SECTIONS: &str = include_str!("prompt.md");

/// The titles of the sections that also a model needs that can only look.
const FOR_READERS: [&str; 2] = ["Look before anything else", "What to make of what you read"];

/// Writes the guidance, as Markdown. The same options always give the same text.
pub(crate) fn guidance(options: &PromptOptions<'_>) -> String {
    let mut sections = vec![beginning(options)];
    for section in SECTIONS.split_terminator("## ").skip(1) {
        let (title, _) = section.split_once('\n').expect("a section has a title");
        if options.read_only && !FOR_READERS.contains(&title) {
            continue;
        }
        if title == "What never to write" {
            sections.extend(options.topics.section());
        }
        let text = section.trim_end().replace("{view}", options.view());
        sections.push(format!("## {text}\n"));
    }
    sections.extend(limits(options));
    sections.join("\n")
}

impl PromptOptions<'_> {
    fn view(&self) -> &'static str {
        match self.tools {
            ToolNaming::Mcp => "`memory_view`",
            ToolNaming::Memory => "the command `view`",
        }
    }
}

fn beginning(options: &PromptOptions<'_>) -> String {
    let commands: &[&str] = if options.read_only {
        &["view"]
    } else {
        &[
            "view",
            "create",
            "str_replace",
            "insert",
            "rename",
            "delete",
        ]
    };
    let (tool, prefix) = match options.tools {
        ToolNaming::Mcp => ("the tool", "memory_"),
        ToolNaming::Memory => ("the tool `memory` and its command", ""),
    };
    let named: Vec<_> = commands.iter().map(|c| format!("`{prefix}{c}`")).collect();
    let how = match named.split_last() {
        Some((last, others @ [_, ..])) => format!("{tool}s {} and {last}", others.join(", ")),
        _ => format!("{tool} {}", named.concat()),
    };
    let what = if options.read_only {
        "You can look at a memory that outlasts any conversation: text files below /memories, which \
         you read with"
    } else {
        "You have a memory that outlasts this conversation: text files below /memories, which you \
         read and change with"
    };
    format!("# Your memory\n\n{what} {how}.\n")
}

/// Writes the section on what does not stay for ever, and how large a file may be.
fn limits(options: &PromptOptions<'_>) -> Option<String> {
    let sentences = match options.policy {
        Some(policy) => limits_of(policy, options.read_only),
        None => vec![UNSAID.into(), NO_VISITS.into()],
    };
    (!sentences.is_empty())
        .then(|| format!("## What goes away by itself\n\n{}\n", sentences.join(" ")))
}

const UNSAID: &str = "The owner can let files expire that nobody reads or changes for a long time, \
                      so one that you knew may be gone.";
const NO_VISITS: &str = "Do not read files only to keep them from it.";
const NOTHING: &str = "Nothing, so delete what is of no use any more.";

fn limits_of(policy: &Policy, read_only: bool) -> Vec<String> {
    let expiration = &policy.expiration;
    let mut sentences = Vec::new();
    if let Lifetime::For(window) = expiration.unaccessed_for {
        let window = window.in_words();
        sentences.push(format!(
            "A file that nobody reads or changes for {window} is gone."
        ));
    }
    if !expiration.rules.is_empty() {
        sentences.push("For some files the owner has set other times.".into());
    }
    if !sentences.is_empty() {
        if expiration.then == Then::Erase {
            let grace = expiration.grace.in_words();
            sentences.push(format!("After another {grace} nobody can bring it back."));
        }
        sentences.push(NO_VISITS.into());
    } else if !read_only {
        sentences.push(NOTHING.into());
    }
    if !read_only {
        let bytes = policy.limits.memory_bytes;
        sentences.push(format!("A file can hold at most {bytes} bytes."));
    }
    sentences
}

// The topics that a memory is to be about, or must not be about.

/// Most topics of each kind: a model could not keep more in mind.
const TOPICS_MAX: usize = 20;
/// Most characters of a topic: it is a name, not a second prompt.
const CHARACTERS_MAX: usize = 120;

/// Topics that are safe to put into a prompt and onto a terminal.
#[derive(Default)]
pub(crate) struct Topics {
    only: Vec<String>,
    never: Vec<String>,
}

impl Topics {
    /// Checks topics as the caller gave them.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a topic that is no plain line, for too many topics, and for a topic
    /// that is both wanted and not.
    pub(crate) fn parse(only: &[String], never: &[String]) -> Result<Self> {
        let topics = Self {
            only: all("--only", only)?,
            never: all("--never", never)?,
        };
        let both = |topic: &&String| {
            let same = |other: &String| other.to_lowercase() == topic.to_lowercase();
            topics.never.iter().any(same)
        };
        match topics.only.iter().find(both) {
            Some(topic) => Err(Error::invalid(
                "--never",
                format!("{topic:?} is also given with --only"),
            )),
            None => Ok(topics),
        }
    }

    /// Writes the section of the guidance about them.
    fn section(&self) -> Option<String> {
        let listed = |intro: &str, topics: &[String]| {
            let lines = topics.iter().map(|topic| format!("- {topic}\n"));
            (!topics.is_empty()).then(|| format!("\n{intro}\n\n{}", lines.collect::<String>()))
        };
        let parts = [
            listed(
                "Keep only what has to do with these, and write nothing else:",
                &self.only,
            ),
            listed(
                "Write nothing about these, also if you are asked to:",
                &self.never,
            ),
        ];
        let parts: String = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("## What it is about\n{parts}"))
    }
}

fn all(option: &'static str, topics: &[String]) -> Result<Vec<String>> {
    if topics.len() > TOPICS_MAX {
        let why = format!(
            "there are {} topics, and {TOPICS_MAX} are the most",
            topics.len()
        );
        return Err(Error::invalid(option, why));
    }
    topics.iter().map(|topic| one(option, topic)).collect()
}

/// Checks that a topic is one plain line. A refused topic is not repeated: it may be long, or move
/// a cursor.
fn one(option: &'static str, topic: &str) -> Result<String> {
    if topic.chars().any(is_unseen) {
        let why = "there is a line break or another character in it that cannot be seen";
        return Err(Error::invalid(option, why));
    }
    let topic = topic.trim();
    if topic.is_empty() {
        return Err(Error::invalid(option, "the topic is empty"));
    }
    if topic.chars().count() > CHARACTERS_MAX {
        let why = format!("the topic is longer than {CHARACTERS_MAX} characters");
        return Err(Error::invalid(option, why));
    }
    Ok(topic.to_owned())
}

/// Tells whether a character ends a line, moves a cursor, turns the direction of text, or hides
/// text from people that a model reads.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
