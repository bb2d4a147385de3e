//! A command line as a shell hands it over, and candidates as the shell has to read them.

use std::ffi::OsString;

use super::Shell;

/// The words of a command line up to the cursor.
pub(super) struct TypedLine {
    shell: Shell,
    pub(super) words: Vec<OsString>,
    /// The end of the last word's part that bash keeps, in bytes of the word.
    kept: usize,
    /// The quote that is open at the end; `None` where no candidate would be inserted right.
    quote: Option<Quote>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

impl TypedLine {
    pub(super) fn parse(shell: Shell, words: Vec<OsString>) -> Self {
        let plain = |words| Self {
            shell,
            words,
            kept: 0,
            quote: Some(Quote::None),
        };
        let unquoted = |word: OsString| match word.to_str() {
            Some(text) => split(text, "").0.concat().into(),
            None => word,
        };
        match shell {
            Shell::Zsh | Shell::Elvish => plain(words),
            Shell::Fish => {
                let mut words = words;
                let last = words.pop().map(unquoted);
                words.extend(last);
                plain(words)
            }
            Shell::Powershell => plain(words.into_iter().map(without_quotes).collect()),
            Shell::Bash => {
                let text = |at: usize| words.get(at).map(|word| word.to_string_lossy());
                let (line, breaks) = (text(0).unwrap_or_default(), text(1).unwrap_or_default());
                let (words, kept, quote) = split(&line, &format!(" {breaks}"));
                Self {
                    shell,
                    words: words.into_iter().map(OsString::from).collect(),
                    kept,
                    quote,
                }
            }
        }
    }

    /// Returns the text that the shell inserts for a candidate; `None` if it cannot be inserted here.
    pub(super) fn inserted(&self, value: &str) -> Option<String> {
        match self.shell {
            Shell::Zsh | Shell::Fish | Shell::Elvish => Some(value.to_owned()),
            Shell::Powershell if value.chars().all(is_plain) => Some(value.to_owned()),
            // PowerShell takes these four for quotes too.
            Shell::Powershell if value.contains(['‘', '’', '‚', '‛']) => None,
            Shell::Powershell => Some(format!("'{}'", value.replace('\'', "''"))),
            Shell::Bash => {
                let typed = self.words.last()?.to_str()?;
                let rest = value.strip_prefix(typed.get(..self.kept)?)?;
                match self.quote? {
                    Quote::None => Some(escaped(rest)),
                    // What a quote cannot hold is completed without one.
                    Quote::Single => (!rest.contains('\'')).then(|| rest.to_owned()),
                    Quote::Double => {
                        (!rest.contains(['"', '$', '`', '\\', '!'])).then(|| rest.to_owned())
                    }
                }
            }
        }
    }
}

/// Tells whether a character means only itself in every shell.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/._-+:=,%".contains(c)
}

/// Writes a backslash before each character that bash would not take for itself.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii() && !is_plain(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Removes the quotes around a word of PowerShell.
fn without_quotes(word: OsString) -> OsString {
    let Some(text) = word.to_str() else {
        return word;
    };
    match text.chars().next() {
        Some(quote @ ('\'' | '"')) => {
            let inner = text[1..].strip_suffix(quote).unwrap_or(&text[1..]);
            inner
                .replace(&format!("{quote}{quote}"), &quote.to_string())
                .into()
        }
        _ => word,
    }
}

/// Splits a line into words and removes quotes, as a shell does before any expansion. `breaks` are the
/// characters at which readline begins another word. Nothing is expanded. Returns the words, and what
/// [`TypedLine`] says of the last one: what is kept of it, and its quote.
fn split(line: &str, breaks: &str) -> (Vec<String>, usize, Option<Quote>) {
    let mut words = vec![String::new()];
    let (mut quote, mut kept, mut was_quoted) = (Quote::None, 0, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let word = words.last_mut().expect("one at least");
        match (quote, c) {
            (Quote::None, ' ' | '\t' | '\n') if !breaks.is_empty() => {
                if !word.is_empty() || was_quoted {
                    words.push(String::new());
                }
                (kept, was_quoted) = (0, false);
            }
            (Quote::None, '\'' | '"') => {
                quote = if c == '"' {
                    Quote::Double
                } else {
                    Quote::Single
                };
                (kept, was_quoted) = (word.len(), true);
            }
            (Quote::Single, '\'') | (Quote::Double, '"') => quote = Quote::None,
            (Quote::None, '\\') => word.extend(chars.next()),
            (Quote::Double, '\\') => match chars.next() {
                Some(next @ ('"' | '\\' | '$' | '`')) => word.push(next),
                next => word.extend(std::iter::once('\\').chain(next)),
            },
            (Quote::None, c) if breaks.contains(c) => {
                word.push(c);
                kept = word.len();
            }
            (_, c) => word.push(c),
        }
    }
    let closed = was_quoted && quote == Quote::None;
    // Readline begins a word after a quote that closes.
    (words, kept, (!closed).then_some(quote))
}
