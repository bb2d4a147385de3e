//! The log in the forms that log collectors read, and as a stream that goes on.

mod cef;
mod csv;
mod ocsf;

use std::time::Duration;

use agekeep::error::{Error, Result};
use agekeep::id::StoreId;
use agekeep::store::Store;
use agekeep::store::log::{Entry, Filter};
use clap::{Args, ValueEnum};

use crate::args::Global;
use crate::output::{self, Pages};
use crate::render;

/// How often `--follow` looks whether there is more.
const LOOK_EVERY: Duration = Duration::from_millis(25);

// The arguments of `log` for programs that collect events. A doc comment would begin its help.
#[derive(Args)]
pub(crate) struct StreamArgs {
    /// Print each event in this form; jsonl is what --json prints
    #[arg(long, value_name = "FORM", conflicts_with = "patch")]
    format: Option<LogFormat>,
    /// Oldest first (asc) or newest first (desc) [default: desc; asc with --after and --follow]
    #[arg(long, conflicts_with = "patch")]
    order: Option<Order>,
    /// Only events after this one: its number, or its whole commit id
    #[arg(long, value_name = "EVENT", conflicts_with = "patch")]
    after: Option<String>,
    /// Wait for new events, and print each when it is recorded
    #[arg(long, conflicts_with = "patch")]
    follow: bool,
}

/// The store that events are of.
#[derive(Clone, Copy)]
struct EventSource {
    store: StoreId,
    /// True for a store for trials.
    trial: bool,
}

/// A form of the log for other programs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// agekeep's own objects, one on each line
    Jsonl,
    /// The Open Cybersecurity Schema Framework: Datastore Activity, one on each line
    Ocsf,
    /// The Common Event Format
    Cef,
    /// Comma-separated values with a header
    Csv,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    Asc,
    Desc,
}

impl LogFormat {
    /// Renders an event, with the end of its line.
    fn to_line(self, entry: &Entry, source: EventSource) -> String {
        match self {
            Self::Jsonl => format!("{}\n", render::to_json(entry, source.trial)),
            Self::Ocsf => format!("{}\n", ocsf::to_json(entry, source)),
            Self::Cef => format!("{}\n", cef::to_line(entry, source)),
            Self::Csv => csv::to_line(entry, source),
        }
    }
}

impl StreamArgs {
    /// Tells whether more is asked for than the newest events as text or JSON.
    pub(crate) fn is_asked(&self) -> bool {
        self.format.is_some() || self.order.is_some() || self.after.is_some() || self.follow
    }

    /// Tells whether a form for programs is named.
    pub(crate) fn has_format(&self) -> bool {
        self.format.is_some()
    }

    /// Returns the form to print in; `None` for text.
    fn form(&self, global: &Global) -> Result<Option<LogFormat>> {
        match self.format {
            Some(format) if global.json && format != LogFormat::Jsonl => Err(Error::invalid(
                "--format",
                "--json asks for jsonl; give one of the two",
            )),
            None if global.json => Ok(Some(LogFormat::Jsonl)),
            format => Ok(format),
        }
    }

    fn is_descending(&self) -> Result<bool> {
        let descending = match self.order {
            Some(order) => order == Order::Desc,
            None => self.after.is_none() && !self.follow,
        };
        if descending && self.follow {
            return Err(Error::invalid(
                "--order",
                "events that are still to come can only follow in order: --follow goes with asc",
            ));
        }
        Ok(descending)
    }
}

/// Prints the events that match a filter, in the order and form asked for. Returns false if there
/// was none, and there was no cursor after which there may well be none.
pub(crate) fn run(
    global: &Global,
    args: &StreamArgs,
    store: &mut Store,
    filter: &Filter,
    limit: usize,
) -> Result<bool> {
    let (form, descending) = (args.form(global)?, args.is_descending()?);
    let after = args.after.as_deref();
    let after = after.map(|text| store.parse_cursor(text)).transpose()?;
    let source = EventSource {
        store: store.last_seen().0,
        trial: store.is_trial(),
    };
    let mut sink = Sink::start(global, args, form, source)?;
    if descending {
        let is_later = |entry: &Result<Entry>| match (entry, after) {
            (Ok(entry), Some(after)) => entry.event.number > after,
            _ => true,
        };
        if *filter == Filter::default() {
            // The newest events are found without the rest of history.
            sink.print(store.log().take_while(is_later).take(limit))?;
        } else {
            sink.print(store.events(filter)?.take_while(is_later).take(limit))?;
        }
    } else if args.follow {
        follow(store, filter, after, limit, &mut sink)?;
    } else {
        sink.print(store.events_after(after, filter)?.take(limit))?;
    }
    sink.pages.finish();
    Ok(sink.is_any || after.is_some() || args.follow)
}

/// Prints what there is and what comes, until the reader is gone or `limit` events are out.
fn follow(
    store: &mut Store,
    filter: &Filter,
    mut after: Option<u64>,
    mut limit: usize,
    sink: &mut Sink,
) -> Result<()> {
    while limit > 0 {
        let printed = match store.events_after(after, filter) {
            Ok(entries) => sink.print(entries.take(limit))?,
            // A long command such as `rekey` holds the lock. Its event comes when it is done.
            Err(Error::Locked { .. }) => continue,
            Err(error) => return Err(error),
        };
        let Some(printed) = printed else {
            return Ok(());
        };
        limit -= printed;
        after = Some(store.last_seen().1.event);
        while limit > 0 && !store.has_changed() {
            if !output::wait(LOOK_EVERY) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Where events go: to people as text, or to a program.
struct Sink {
    form: Option<LogFormat>,
    source: EventSource,
    pages: Pages,
    is_open: bool,
    /// True once an event was printed.
    is_any: bool,
}

impl Sink {
    fn start(
        global: &Global,
        args: &StreamArgs,
        form: Option<LogFormat>,
        source: EventSource,
    ) -> Result<Self> {
        let paged = form.is_none() && !args.follow && !global.no_pager;
        let is_open = form != Some(LogFormat::Csv) || output::data(csv::HEADER)?;
        Ok(Self {
            form,
            source,
            pages: Pages::start(paged, global.color),
            is_open,
            is_any: false,
        })
    }

    /// Prints events, each at once, and counts them; `None` if the reader is gone.
    fn print(&mut self, entries: impl Iterator<Item = Result<Entry>>) -> Result<Option<usize>> {
        let mut printed = 0;
        for entry in entries {
            if !self.is_open {
                return Ok(None);
            }
            let entry = entry?;
            self.is_open = match self.form {
                Some(form) => output::data(&form.to_line(&entry, self.source))?,
                None => self.pages.line(&render::to_text(&entry))?,
            };
            printed += 1;
            self.is_any = true;
        }
        Ok(self.is_open.then_some(printed))
    }
}
