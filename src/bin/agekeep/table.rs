//! Lists on a terminal: aligned columns that fit its width, with times relative to now. Widths are
//! those that a terminal shows, never bytes. A pipe gets the lines that programs read instead.

use agekeep::error::Result;
use chrono::{DateTime, Utc};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, presets};
use unicode_width::UnicodeWidthChar;

use crate::args::Global;
use crate::output::{self, Style, StyledLine, plain};
use crate::render;

/// The rows whose widths are measured together: they are read before the first is shown.
const BLOCK: usize = 256;
/// The space between columns.
const GAP: usize = 2;
/// The fewest columns for a path beside other things; with less, it stands on the next line.
const MAIN_WIDTH_MIN: usize = 24;
/// The fewest columns for what may be left out.
const EXTRA_WIDTH_MIN: usize = 12;
/// The fewest columns for a name before its value, in a pipe.
const NAME_WIDTH_MIN: usize = 11;
/// What is on a line below its row begins here.
const INDENT: usize = 4;

/// The terminal that a list is shown on.
pub(super) struct Screen {
    width: usize,
    now: DateTime<Utc>,
    utc: bool,
    verbose: bool,
}

/// A column: its title, and what happens to it where there is little room.
pub(super) struct Column {
    title: &'static str,
    fit: Fit,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Whole,
    Number,
    Main,
    Extra,
}

/// Makes a column that is always shown whole, as long as the terminal is wide enough for that.
pub(super) const fn whole(title: &'static str) -> Column {
    let fit = Fit::Whole;
    Column { title, fit }
}

/// Makes a column of numbers, aligned to the right.
pub(super) const fn number(title: &'static str) -> Column {
    let fit = Fit::Number;
    Column { title, fit }
}

/// Makes the column that the list is about, such as paths. It is cut in the middle, and moves to a
/// line of its own on a narrow terminal.
pub(super) const fn main(title: &'static str) -> Column {
    let fit = Fit::Main;
    Column { title, fit }
}

/// Makes a column that is cut, and left out on a narrow terminal; the last of them goes first.
pub(super) const fn extra(title: &'static str) -> Column {
    let fit = Fit::Extra;
    Column { title, fit }
}

/// A row of a list.
pub(super) struct ListRow {
    style: Style,
    cells: Vec<String>,
    below: Vec<Pair>,
}

/// A name with its value.
pub(super) type Pair = (&'static str, String);

impl ListRow {
    pub(super) fn new(style: Style, cells: Vec<String>) -> Self {
        let below = Vec::new();
        Self {
            style,
            cells,
            below,
        }
    }

    /// Adds named details, each on a line of its own below the row.
    pub(super) fn with_details(mut self, details: Vec<Pair>) -> Self {
        self.below = details;
        self
    }
}

/// Prints a list, through a pager on a terminal, and tells whether anything was in it. A terminal
/// gets a table, a program what `line` says of each thing.
pub(super) fn print<T>(
    global: &Global,
    columns: &'static [Column],
    things: impl Iterator<Item = Result<T>>,
    line: impl Fn(&T) -> StyledLine,
    row: impl Fn(&T, &Screen) -> ListRow,
) -> Result<bool> {
    let mut any = false;
    let things = things.inspect(|thing| any |= thing.is_ok());
    match Screen::of(global) {
        None => output::pages(global, things.map(|thing| Ok(line(&thing?))))?,
        Some(screen) => {
            let rows = things.map(|thing| Ok(row(&thing?, &screen)));
            output::pages(global, screen.list(columns, rows))?;
        }
    }
    Ok(any)
}

/// Prints names with their values: on a terminal beside each other, wrapped to its width.
pub(super) fn print_pairs(global: &Global, pairs: &[Pair]) -> Result<()> {
    let lines: Vec<StyledLine> = match Screen::of(global) {
        None => {
            let names = pairs.iter().map(|(name, _)| width(name));
            let wide = names.max().unwrap_or_default().max(NAME_WIDTH_MIN);
            let line = |(name, value): &Pair| plain(&format!("{name:<wide$} {value}"));
            pairs.iter().map(line).collect()
        }
        Some(screen) => screen.pairs(pairs, 0),
    };
    output::pages(global, lines.into_iter().map(Ok))
}

impl Screen {
    /// Returns the terminal that standard output is; `None` if it is none, or if programs read it.
    pub(super) fn of(global: &Global) -> Option<Self> {
        let is_shown = output::is_terminal() && !global.json;
        is_shown.then(|| Self {
            width: output::terminal_width(),
            now: (global.clock())(),
            utc: global.utc,
            verbose: global.verbose,
        })
    }

    /// Tells whether details are asked for.
    pub(super) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Formats a time: how long ago it was, a date if that is long, or all of it with `--utc`.
    pub(super) fn time(&self, time: DateTime<Utc>) -> String {
        let seconds = (self.now - time).num_seconds();
        let (count, unit) = match seconds.unsigned_abs() {
            _ if self.utc => return render::seconds(time),
            count @ 0..60 => (count, "s"),
            count @ 60..3_600 => (count / 60, "min"),
            count @ 3_600..172_800 => (count / 3_600, "h"),
            count @ 172_800..5_184_000 => (count / 86_400, "days"),
            _ => return time.format("%Y-%m-%d").to_string(),
        };
        if seconds < 0 {
            return format!("in {count} {unit}");
        }
        format!("{count} {unit} ago")
    }

    /// Renders a sentence, wrapped to the width.
    pub(super) fn sentence(&self, text: &str) -> Vec<StyledLine> {
        self.wrapped([[one_line(text)]], 0)
    }

    /// Renders names and values in two columns, from a column of the terminal on.
    pub(super) fn pairs(&self, pairs: &[Pair], indent: usize) -> Vec<StyledLine> {
        let rows = pairs
            .iter()
            .map(|(name, value)| [one_line(name), one_line(value)]);
        self.wrapped(rows, indent)
    }

    /// Renders the rows of a list as they come.
    pub(super) fn list(
        &self,
        columns: &'static [Column],
        rows: impl Iterator<Item = Result<ListRow>>,
    ) -> impl Iterator<Item = Result<StyledLine>> {
        let mut list = List {
            screen: self,
            columns,
            widest: columns.iter().map(|column| width(column.title)).collect(),
            is_titled: false,
        };
        let mut rows = rows.peekable();
        let blocks = std::iter::from_fn(move || {
            rows.peek()?;
            let block: Result<Vec<ListRow>> = rows.by_ref().take(BLOCK).collect();
            Some(match block {
                Ok(block) => list.block(block).into_iter().map(Ok).collect::<Vec<_>>(),
                Err(error) => vec![Err(error)],
            })
        });
        blocks.flatten()
    }

    /// Renders rows whose last column is wrapped to the width.
    fn wrapped<const N: usize>(
        &self,
        rows: impl IntoIterator<Item = [String; N]>,
        indent: usize,
    ) -> Vec<StyledLine> {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Dynamic);
        // The space after the last column is cut off.
        let width = (self.width + GAP).saturating_sub(indent).max(20);
        table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        table.add_rows(rows);
        pad(&mut table);
        for name in table.column_iter_mut().take(N - 1) {
            name.set_constraint(ColumnConstraint::ContentWidth);
        }
        let indent = " ".repeat(indent);
        let lines = table.lines();
        lines
            .map(|line| plain(&format!("{indent}{}", line.trim_end())))
            .collect()
    }
}

/// A list that is being printed.
struct List<'s> {
    screen: &'s Screen,
    columns: &'static [Column],
    /// The widest that each column was so far: a later block does not make it narrower.
    widest: Vec<usize>,
    is_titled: bool,
}

impl List<'_> {
    fn block(&mut self, mut rows: Vec<ListRow>) -> Vec<StyledLine> {
        for row in &mut rows {
            for (cell, widest) in row.cells.iter_mut().zip(&mut self.widest) {
                *cell = one_line(cell);
                *widest = (*widest).max(width(cell));
            }
        }
        let layout = Layout::of(self.screen.width, self.columns, &self.widest);
        let mut lines = Vec::new();
        if !self.is_titled && !rows.is_empty() {
            self.is_titled = true;
            let titles = self.columns.iter().map(|column| column.title.to_owned());
            rows.insert(0, ListRow::new(Style::Heading, titles.collect()));
        }
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING);
        for row in &rows {
            let mut cells = comfy_table::Row::from(layout.cells(&row.cells));
            cells.max_height(1); // a line a row, whatever a terminal makes of a text
            table.add_row(cells);
        }
        pad(&mut table);
        for (shown, (index, width)) in layout.shown.iter().enumerate() {
            let column = table.column_mut(shown).expect("each row has a cell of it");
            if self.columns[*index].fit == Fit::Number {
                column.set_cell_alignment(CellAlignment::Right);
            }
            // With the padding, because a block of short cells is as wide as the one before.
            let wide = comfy_table::Width::Fixed(u16::try_from(width + GAP).unwrap_or(u16::MAX));
            column.set_constraint(ColumnConstraint::Absolute(wide));
        }
        let text: Vec<String> = table.lines().collect();
        for (row, text) in rows.iter().zip(text) {
            lines.push(vec![(row.style, text.trim_end().to_owned())]);
            if let Some(main) = layout.below.filter(|_| row.style != Style::Heading) {
                let room = self.screen.width.saturating_sub(INDENT);
                let text = cut(&row.cells[main], room);
                lines.push(vec![(row.style, format!("{:INDENT$}{text}", ""))]);
            }
            let below = self.details(row, &layout);
            if !below.is_empty() {
                lines.extend(self.screen.pairs(&below, INDENT));
            }
        }
        lines
    }

    /// Returns the named details of a row: its own, or with `-v` the cells that are not shown whole.
    fn details(&self, row: &ListRow, layout: &Layout) -> Vec<Pair> {
        if !self.screen.verbose || !row.below.is_empty() || row.style == Style::Heading {
            return row.below.clone();
        }
        let is_whole = |index: usize| {
            let mut shown = layout.shown.iter();
            shown.any(|(at, room)| *at == index && width(&row.cells[index]) <= *room)
        };
        let cells = row.cells.iter().enumerate();
        cells
            .filter(|(index, cell)| !cell.is_empty() && !is_whole(*index))
            .map(|(index, cell)| (self.columns[index].title, cell.clone()))
            .collect()
    }
}

/// Sets the space between the columns of a table.
fn pad(table: &mut comfy_table::Table) {
    let gap = u16::try_from(GAP).unwrap_or_default();
    for column in table.column_iter_mut() {
        column.set_padding((0, gap));
    }
}

/// The columns that are shown, and how wide.
struct Layout {
    shown: Vec<(usize, usize)>,
    /// The column that stands on the next line.
    below: Option<usize>,
}

impl Layout {
    fn of(screen: usize, columns: &[Column], widest: &[usize]) -> Self {
        let fit = |index: usize| columns[index].fit;
        let least = |index: usize| match fit(index) {
            Fit::Main => widest[index].min(MAIN_WIDTH_MIN),
            Fit::Extra => widest[index].min(EXTRA_WIDTH_MIN),
            Fit::Whole | Fit::Number => widest[index],
        };
        let needs = |shown: &[usize]| {
            let widths: usize = shown.iter().map(|index| least(*index)).sum();
            widths + shown.len().saturating_sub(1) * GAP
        };
        let mut shown: Vec<usize> = (0..columns.len()).collect();
        let mut below = None;
        while needs(&shown) > screen {
            let extra = shown.iter().rposition(|index| fit(*index) == Fit::Extra);
            let main = shown.iter().position(|index| fit(*index) == Fit::Main);
            match extra.or(main) {
                Some(at) => {
                    let index = shown.remove(at);
                    below = (fit(index) == Fit::Main).then_some(index);
                }
                None => break,
            }
        }
        let mut widths: Vec<usize> = shown.iter().map(|index| widest[*index]).collect();
        let gaps = shown.len().saturating_sub(1) * GAP;
        // The widest gives way first: of those that may be cut, and where they do not suffice, of all.
        while widths.iter().sum::<usize>() + gaps > screen {
            let may = |at: &usize| widths[*at] > least(shown[*at]);
            let of = |at: &usize| widths[*at];
            let cut = (0..widths.len()).filter(may).max_by_key(of);
            match cut.or_else(|| (0..widths.len()).max_by_key(of)) {
                Some(at) if widths[at] > 1 => widths[at] -= 1,
                _ => break,
            }
        }
        let shown = shown.into_iter().zip(widths).collect();
        Self { shown, below }
    }

    fn cells(&self, cells: &[String]) -> Vec<String> {
        let cell = |(index, width): &(usize, usize)| cut(&cells[*index], *width);
        self.shown.iter().map(cell).collect()
    }
}

/// Returns a text without what a terminal would obey, line ends included.
fn one_line(text: &str) -> String {
    output::escaped(text)
        .replace('\n', "\\n")
        .replace('\t', " ")
}

/// Measures a text as the wider of what terminals make of it: not all of them join emoji.
fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    match c {
        '\u{fe0f}' => 1, // it may make the sign before it wide
        _ => c.width().unwrap_or(0),
    }
}

/// Cuts a text to a width, in the middle, where paths differ least.
fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let ends = room.saturating_sub(1);
    let (mut head, mut head_width) = ("", 0);
    for (at, c) in text.char_indices() {
        head_width += char_width(c);
        if head_width > ends / 2 {
            break;
        }
        head = &text[..at + c.len_utf8()];
    }
    let (mut tail, mut tail_width) = ("", width(head));
    for (at, c) in text.char_indices().rev() {
        tail_width += char_width(c);
        if tail_width > ends {
            break;
        }
        // What has no width belongs to what is before it.
        if c.width().unwrap_or(0) > 0 {
            tail = &text[at..];
        }
    }
    format!("{head}…{tail}")
}
