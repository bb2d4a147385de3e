//! What a memory is to be about, and what it must not be about.

use agekeep::error::{Error, Result};

/// Most topics of each kind: more are no limit that a model could keep in mind.
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
    /// Takes topics as somebody gave them.
    ///
    /// # Errors
    /// [`Error::Invalid`] for one that is no plain line, for too many, and for one that is both
    /// wanted and not.
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
            Some(topic) => Err(invalid(
                "--never",
                format!("{topic:?} is also given with --only"),
            )),
            None => Ok(topics),
        }
    }

    /// What the guidance says about them.
    pub(super) fn section(&self) -> Option<String> {
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
        return Err(invalid(option, why));
    }
    topics.iter().map(|topic| one(option, topic)).collect()
}

/// A topic as one plain line. What is refused is not repeated: it may be long, or move a cursor.
fn one(option: &'static str, topic: &str) -> Result<String> {
    if topic.chars().any(is_unseen) {
        let why = "there is a line break or another character in it that cannot be seen";
        return Err(invalid(option, why.into()));
    }
    let topic = topic.trim();
    if topic.is_empty() {
        return Err(invalid(option, "the topic is empty".into()));
    }
    if topic.chars().count() > CHARACTERS_MAX {
        let why = format!("the topic is longer than {CHARACTERS_MAX} characters");
        return Err(invalid(option, why));
    }
    Ok(topic.to_owned())
}

/// Whether a character ends a line, moves a cursor, turns the direction of text, or hides text from
/// a person that a model reads.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

fn invalid(what: &'static str, why: String) -> Error {
    Error::Invalid { what, why }
}
