//! The only file that prints. Data goes to standard output, everything else to standard error. Text
//! for people is escaped, whatever standard output is: there may be a terminal behind a pipe.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agekeep::error::{Error, Result};
use agekeep::redact::Redactor;
use agekeep::store::history::RecordStatus;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{Global, USAGE};
use crate::{environment, platform};

/// Returns how many columns the terminal has that standard output is.
pub(super) fn terminal_width() -> usize {
    platform::terminal_width(io::stdout())
}

/// Tells whether standard output is a terminal.
pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Prints text for people, and ends the line.
pub(super) fn line(text: &str) -> Result<()> {
    let text = escaped(text);
    write(|out| writeln!(out, "{text}")).map(drop)
}

/// Prints data: byte for byte, except to a terminal.
pub(super) fn text(text: &str) -> Result<()> {
    if is_terminal() && !text.ends_with('\n') {
        return line(text);
    }
    data(text).map(drop)
}

/// Prints a piece of data with its line end, at once; `false` if the reader is gone.
pub(super) fn data(text: &str) -> Result<bool> {
    let text = for_stdout(text);
    write(|out| out.write_all(text.as_bytes()))
}

/// Tells whether standard output takes so many bytes without waiting for its reader.
pub(super) fn takes_at_once(bytes: usize) -> bool {
    platform::takes_at_once(io::stdout(), bytes)
}

/// Waits, but not longer than the reader of standard output is there; `false` if it is gone.
pub(super) fn wait(time: Duration) -> bool {
    platform::wait_while_read(io::stdout(), time)
}

/// Prints an object as one line of JSON, at once; `false` if the reader is gone.
pub(super) fn json(value: &impl Serialize) -> Result<bool> {
    let text = serde_json::to_string(value).expect("answers have a JSON form");
    let text = for_stdout(&text);
    write(|out| writeln!(out, "{text}"))
}

/// Prints an answer: the object for a program, and the text for people.
pub(super) fn answer(global: &Global, object: &Value, said: &str) -> Result<()> {
    if global.json {
        return json(object).map(drop);
    }
    line(said)
}

/// Makes standard output private before a secret key goes to it. The shell creates its file by the
/// umask, which mostly lets everybody read it: those rights are removed before there is anything to
/// read.
pub(super) fn close_to_others() -> Result<()> {
    let name = Path::new("standard output");
    let fault = |source| Error::io("restrict the permissions of", name)(source);
    let out = platform::as_file(io::stdout()).map_err(fault)?;
    let about = out.metadata().map_err(fault)?;
    if !about.is_file() || !platform::is_open_to_others(&about) {
        return Ok(());
    }
    platform::close_to_others(&out).map_err(fault)?;
    // Some file systems have no rights, and do not say so.
    if platform::is_open_to_others(&out.metadata().map_err(fault)?) {
        return Err(fault(io::ErrorKind::PermissionDenied.into()));
    }
    note("note: other accounts could access the output file; now only you can");
    Ok(())
}

/// Prints an answer that is an error, in the contract's words, and marks it as an error if they do
/// not.
pub(super) fn refusal(content: &str, hint: Option<&str>) {
    let mark = if content.starts_with("Error: ") {
        ""
    } else {
        "error: "
    };
    let hint = hint.map(|hint| format!("\nhint: {hint}"));
    note(&format!("{mark}{content}{}", hint.unwrap_or_default()));
}

/// Prints an error and its hint. Both may repeat what the user typed, so what a built-in rule takes
/// for a secret in it is not shown.
pub(super) fn error(error: &Error, as_json: bool) {
    let (message, hint) = (stripped(&error.to_string()), stripped(&error.hint()));
    if as_json {
        refuse(error.code(), error.exit_code(), &message, &hint);
    } else {
        note(&format!("error: {message}\nhint: {hint}"));
    }
}

/// Prints an error as an object.
fn refuse(code: &str, exit: u8, message: &str, hint: &str) {
    let body = json!({"code": code, "exit": exit, "message": message, "hint": hint});
    note(&json!({"schema": "agekeep.error/1", "error": body}).to_string());
}

/// Prints why a command line does not parse, and what would, without the secrets in it.
pub(super) fn usage(rendered: &str, as_json: bool) {
    let text = stripped(rendered.trim_end());
    if as_json {
        let (message, hint) = text.split_once("\n\n").unwrap_or((&text, ""));
        let message = message.strip_prefix("error: ").unwrap_or(message);
        refuse("usage", USAGE, message, hint);
    } else {
        note(&text);
    }
}

/// Strips the secrets from a text by the built-in rules, because an error may come before any
/// policy is read.
fn stripped(text: &str) -> String {
    match Redactor::default().redact("", &text.into()) {
        Ok(redacted) => redacted.text().as_str().to_owned(),
        Err(_) => "the error cannot be shown, because it could not be scanned for secrets".into(),
    }
}

/// Prints a note for people, beside the data.
pub(super) fn note(text: &str) {
    let text = escaped(text);
    // If standard error is closed, there is nobody left to tell.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints a note for a person at a terminal, and for no program.
pub(super) fn note_to_person(text: &str) {
    if io::stderr().is_terminal() {
        note(text);
    }
}

/// Writes a number of things in words.
pub(super) fn counted(count: u64, what: &str) -> String {
    format!("{count} {}", plural(count, what))
}

/// Returns the word for so many things of one kind.
pub(super) fn plural(count: u64, what: &str) -> String {
    match (count, what) {
        (1, _) => what.to_owned(),
        (_, "memory") => "memories".into(),
        _ => format!("{what}s"),
    }
}

/// Prints a warning.
pub(super) fn warn(text: &str) {
    note(&format!("warning: {text}"));
}

/// The progress bar of a long verb, on standard error, and only on a terminal.
pub(super) struct Bar(Option<ProgressBar>);

impl Bar {
    pub(super) fn start(what: &'static str) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let style = "{wide_bar} {pos} of {len} {msg}";
            let style = ProgressStyle::with_template(style).expect("a template that parses");
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_style(style).with_message(what)
        });
        Self(bar)
    }

    /// Shows the progress; `total` is `None` while it is still being counted.
    pub(super) fn show(&mut self, done: u64, total: Option<u64>) {
        if let Some(bar) = &self.0 {
            bar.set_length(total.unwrap_or(done));
            bar.set_position(total.map_or(0, |_| done));
        }
    }

    /// Removes the bar.
    pub(super) fn finish(self) {
        if let Some(bar) = self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Does long work, which tells how much of how much is done, with a bar.
pub(super) fn with_bar<T>(
    what: &'static str,
    work: impl FnOnce(&mut dyn FnMut(u64, u64)) -> T,
) -> T {
    let mut bar = Bar::start(what);
    let done = work(&mut |done, total| bar.show(done, Some(total)));
    bar.finish();
    done
}

/// Writes to standard output; `false` if the reader is gone, which is no error.
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
    Err(Error::io("write", Path::new("standard output"))(source))
}

fn for_stdout(text: &str) -> Cow<'_, str> {
    if is_terminal() {
        escaped(text)
    } else {
        text.into()
    }
}

/// Escapes what a terminal would obey: control characters other than tab and newline, and
/// text-direction controls. The escapes are those of JSON, so that JSON keeps its meaning.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| is_obeyed(c) && c != '\n' && c != '\t';
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

/// Tells whether a terminal or a browser would obey a character, and not show it.
pub(super) fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The look of a piece of a line on a terminal. It tells nothing that the text does not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Heading,
    Failed,
    Denied,
    Place,
    Removed,
    RemovedWord,
    Added,
    AddedWord,
}

/// A line in pieces, each with its style.
pub(super) type StyledLine = Vec<(Style, String)>;

/// Makes a line without any style.
pub(super) fn plain(text: &str) -> StyledLine {
    vec![(Style::Plain, text.to_owned())]
}

impl Style {
    /// Returns the parameters of the escape sequence that turns it on (ECMA-48, SGR).
    fn sgr(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Heading => Some("1"),
            Self::Failed => Some("33"),
            Self::Denied | Self::Removed => Some("31"),
            Self::Place => Some("36"),
            Self::RemovedWord => Some("31;7"),
            Self::Added => Some("32"),
            Self::AddedWord => Some("32;7"),
        }
    }
}

/// When output is in colour.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    Always,
    Never,
}

impl Color {
    fn is_on(self, terminal: bool) -> bool {
        match self {
            Self::Auto => terminal && environment::no_color().is_none(),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Prints a note if a look was not recorded.
pub(super) fn unless_recorded(recorded: &RecordStatus) {
    if let RecordStatus::Not(why) = recorded {
        note(&format!("note: this look was not recorded: {why}"));
    }
}

/// Prints lines through a pager on a terminal, until the reader is gone.
pub(super) fn pages(
    global: &Global,
    lines: impl Iterator<Item = Result<StyledLine>>,
) -> Result<()> {
    let mut pages = Pages::start(!global.no_pager && !global.json, global.color);
    for line in lines {
        if !pages.styled(&line?)? {
            break;
        }
    }
    pages.finish();
    Ok(())
}

/// Long output: through a pager on a terminal, straight to standard output otherwise.
pub(super) struct Pages {
    pager: Option<Child>,
    color: bool,
}

impl Pages {
    pub(super) fn start(wanted: bool, color: Color) -> Self {
        let terminal = is_terminal();
        let pager = (wanted && terminal && !environment::is_dumb())
            .then(spawn_pager)
            .flatten();
        Self {
            pager,
            color: color.is_on(terminal),
        }
    }

    /// Adds a line; `false` if the reader is gone.
    pub(super) fn line(&mut self, text: &str) -> Result<bool> {
        self.styled(&plain(text))
    }

    /// Adds a line in pieces; `false` if the reader is gone.
    pub(super) fn styled(&mut self, line: &StyledLine) -> Result<bool> {
        let mut text = String::new();
        for (style, piece) in line {
            let piece = escaped(piece);
            match style.sgr().filter(|_| self.color && !piece.is_empty()) {
                Some(sgr) => text.extend(["\u{1b}[", sgr, "m", &piece, "\u{1b}[m"]),
                None => text.push_str(&piece),
            }
        }
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
    let words = environment::pager();
    let (program, arguments) = words.split_first()?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .spawn()
        .ok()
}
