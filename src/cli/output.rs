//! The only file that prints. Data goes to standard output, everything else to standard error, and
//! text that came from an agent is escaped before a terminal sees it.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use agekeep::error::{Error, Result};
use serde::Serialize;
use serde_json::json;

use super::place;

/// Prints text and ends the line.
pub(super) fn line(text: &str) -> Result<()> {
    let text = for_stdout(text);
    write(|out| writeln!(out, "{text}")).map(drop)
}

/// Prints a file's text: byte for byte, except to a terminal.
pub(super) fn text(text: &str) -> Result<()> {
    if io::stdout().is_terminal() && !text.ends_with('\n') {
        return line(text);
    }
    let text = for_stdout(text);
    write(|out| out.write_all(text.as_bytes())).map(drop)
}

/// Prints an object as one line of JSON, at once; `false` when nobody reads on.
pub(super) fn json(value: &impl Serialize) -> Result<bool> {
    let text = serde_json::to_string(value).expect("answers have a JSON form");
    let text = for_stdout(&text);
    write(|out| writeln!(out, "{text}"))
}

/// Prints an answer that is an error: the contract's words, marked as an error if they are not.
pub(super) fn refusal(content: &str) {
    let mark = if content.starts_with("Error: ") {
        ""
    } else {
        "error: "
    };
    complain(&format!("{mark}{content}"));
}

/// Prints what went wrong and what to do.
pub(super) fn error(error: &Error, as_json: bool) {
    if as_json {
        let (code, exit) = (error.code(), error.exit_code());
        let body =
            json!({"code": code, "exit": exit, "message": error.to_string(), "hint": error.hint()});
        complain(&json!({"schema": "agekeep.error/1", "error": body}).to_string());
    } else {
        complain(&format!("error: {error}\nhint: {}", error.hint()));
    }
}

/// Prints what a person may want to know beside the data.
pub(super) fn note(text: &str) {
    complain(text);
}

/// Prints a warning.
pub(super) fn warn(text: &str) {
    complain(&format!("warning: {text}"));
}

fn complain(text: &str) {
    let text = if io::stderr().is_terminal() {
        escaped(text)
    } else {
        text.into()
    };
    // Where standard error is closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Writes to standard output; `false` when nobody reads on, which is the reader's business.
fn write(put: impl FnOnce(&mut io::StdoutLock<'_>) -> io::Result<()>) -> Result<bool> {
    let mut out = io::stdout().lock();
    put(&mut out)
        .and_then(|()| out.flush())
        .map_or_else(read_on, |()| Ok(true))
}

fn read_on(source: io::Error) -> Result<bool> {
    if source.kind() == io::ErrorKind::BrokenPipe {
        return Ok(false);
    }
    Err(Error::Io {
        doing: "write",
        path: "standard output".into(),
        source,
    })
}

fn for_stdout(text: &str) -> Cow<'_, str> {
    if io::stdout().is_terminal() {
        escaped(text)
    } else {
        text.into()
    }
}

/// Spells out what a terminal would obey: control characters other than tab and newline, and
/// text-direction controls. The spelling is JSON's, so that JSON stays what it is.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(obeyed) {
        return text.into();
    }
    text.chars()
        .fold(String::with_capacity(text.len()), |mut out, c| {
            if obeyed(c) {
                let _ =
                    std::fmt::Write::write_fmt(&mut out, format_args!("\\u{:04x}", u32::from(c)));
            } else {
                out.push(c);
            }
            out
        })
        .into()
}

/// Long output: through a pager on a terminal, straight to standard output otherwise.
pub(super) struct Pages {
    pager: Option<Child>,
    terminal: bool,
}

impl Pages {
    pub(super) fn start(wanted: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let pager = (wanted && terminal).then(spawn_pager).flatten();
        Self { pager, terminal }
    }

    /// Adds a line; `false` when nobody reads on.
    pub(super) fn line(&mut self, text: &str) -> Result<bool> {
        let text = if self.terminal {
            escaped(text)
        } else {
            text.into()
        };
        let pipe = self.pager.as_mut().and_then(|pager| pager.stdin.as_mut());
        let written = match pipe {
            Some(pipe) => writeln!(pipe, "{text}"),
            None => writeln!(io::stdout(), "{text}"),
        };
        written.map_or_else(read_on, |()| Ok(true))
    }

    /// Waits until the reader is done.
    pub(super) fn finish(mut self) {
        if let Some(mut pager) = self.pager.take() {
            drop(pager.stdin.take());
            let _ = pager.wait();
        }
    }
}

fn spawn_pager() -> Option<Child> {
    let words = place::pager();
    let (program, arguments) = words.split_first()?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .spawn()
        .ok()
}
