//! The linear model: the features of a word and their points, from `points.txt`.

use crate::named;
use crate::notes::look::{GROUPS, Group, Sort};
use crate::notes::page::{History, NoteLine, NotePage, Word, fits, marks};
use crate::notes::vocabulary::{CLASSES, Classes, NumberTable, WordClass};
use crate::notes::{ENOUGH, hash};

/// Number of words before a word whose classes count, and behind it.
const WORDS_BEFORE: usize = 18;
const WORDS_BEHIND: usize = 10;
/// Number of words before it that count by themselves.
const WORDS_COUNTED: usize = 8;
/// Number of words on each side that are searched for similar ones.
const WORDS_ALIKE: usize = 24;

/// Longest distance from a name to a plain word behind it, in words and in words that say something.
const NAME_WORDS_MAX: usize = 10;
const NAME_GAP_MAX: usize = 3;
/// Words that name a secret near them, or what one logs in to.
pub(super) const NAMES: Classes = Classes(Classes::STRONG.0 | Classes::of(&[WordClass::Account]).0);

/// Parts of the names of algorithms.
const ALGORITHMS: &[&str] = crate::lists::NOTES_ALGORITHMS;
/// Keys that are pressed together with others.
const KEYS: &[&str] = &["alt", "cmd", "ctrl", "shift", "strg", "super", "win"];
/// Longest name of a key that is pressed with these, in bytes: `Delete`.
const KEY_BYTES_MAX: usize = 6;
/// Endings of the names of files.
const FILES: &[&str] = crate::lists::NOTES_FILES;

/// Marks that count.
const BEFORE: u16 = marks::COLON
    | marks::EQUALS
    | marks::DASH
    | marks::SLASH
    | marks::COMMA
    | marks::OPEN
    | marks::QUOTE
    | marks::ARROW
    | marks::PIPE
    | marks::END
    | marks::DOTS
    | marks::START
    | marks::TIGHT;
/// Marks behind a word that count.
const BEHIND: u16 = marks::COLON
    | marks::EQUALS
    | marks::DASH
    | marks::SLASH
    | marks::COMMA
    | marks::OPEN
    | marks::CLOSE
    | marks::QUOTE
    | marks::ARROW
    | marks::PIPE
    | marks::END;
/// The bit that says that no word follows on the line.
const LAST: u16 = marks::START;
/// Marks that a value follows.
const JOINTS: u16 = marks::COLON
    | marks::EQUALS
    | marks::ARROW
    | marks::DASH
    | marks::DOTS
    | marks::PIPE
    | marks::SLASH;

/// The kinds of features, in the order of the build script's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum FeatureKind {
    Always,
    Group,
    Length,
    Before,
    Behind,
    LineAbove,
    LinesAbove,
    SameLine,
    Nearest,
    NearestMarks,
    Marks,
    Position,
    Asked,
    Trait,
    TraitNearest,
    Says,
    WordBefore,
    WordBeforeThat,
    WordBehind,
    WordsBefore,
    Found,
    FoundBehind,
    FoundAlike,
    FoundCount,
    Alike,
    Technical,
    TechnicalGroup,
    TechnicalNearest,
    Inside,
    Repeated,
    Refers,
    Itself,
    MarksBehind,
    MarksAround,
    Common,
    CommonMarks,
    Pair,
    NearestWord,
}

/// A feature: its kind, three numbers, and the third one's place in a dense table: for a word, its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Feature(
    pub(super) u8,
    pub(super) u32,
    pub(super) u32,
    pub(super) u32,
    pub(super) u32,
);

/// The place of a kind's points in [`DENSE`]: where they begin, and how far apart those are that differ by one in
/// one of their numbers.
struct PointTable {
    begin: u32,
    steps: [u32; 3],
}

/// The bit of a common word in its term, beside its row.
const COMMON: u16 = 1 << 15;

/// The points of all kinds of features that have few numbers, and the rows of words, each a signed byte.
static DENSE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/points.bin"));

include!(concat!(env!("OUT_DIR"), "/points.rs"));

/// Returns the row of a word's points, and the bit of a common word.
pub(super) fn term(hash: u32) -> u16 {
    WORDS.get(hash)
}

/// A receiver of the features of a word.
pub(super) trait Tally {
    /// Returns the points so far.
    fn see(&mut self, feature: Feature) -> i32;

    #[expect(clippy::inline_always, reason = "see `PointSum::see`")]
    #[inline(always)]
    fn add(&mut self, kind: FeatureKind, one: u32, two: u32, three: u32) -> i32 {
        self.see(Feature(kind as u8, one, two, three, three))
    }

    /// Adds a feature of a word.
    #[expect(clippy::inline_always, reason = "see `PointSum::see`")]
    #[inline(always)]
    fn add_word(&mut self, kind: FeatureKind, one: u32, word: &Word) -> i32 {
        let row = u32::from(word.term & !COMMON);
        self.see(Feature(kind as u8, one, 0, word.hash, row))
    }
}

/// The sum of the points of features.
#[derive(Default)]
struct PointSum(i32);

impl Tally for PointSum {
    // Where a feature is named its kind is known, and the table of a kind that is known need not be looked up.
    #[expect(clippy::inline_always, reason = "the compiler takes it for long")]
    #[inline(always)]
    fn see(&mut self, feature: Feature) -> i32 {
        self.0 += feature.points();
        self.0
    }
}

#[cfg(test)]
impl<F: FnMut(Feature)> Tally for F {
    fn see(&mut self, feature: Feature) -> i32 {
        self(feature);
        0
    }
}

impl Feature {
    #[expect(clippy::inline_always, reason = "see `PointSum::see`")]
    #[inline(always)]
    fn points(self) -> i32 {
        let table = &TABLES[usize::from(self.0)];
        if table.begin == u32::MAX {
            let number = hash::feature(self.0, self.1, self.2, self.3).max(1);
            return i32::from(POINTS.get(number));
        }
        let [one, two, three] = table.steps;
        let at = table.begin + self.1 * one + self.2 * two + self.4 * three;
        i32::from(DENSE[at as usize].cast_signed())
    }
}

/// The points that the words of one group get on the line that is read, as far as it alone decides, and the most
/// that they can get for the classes near them.
#[derive(Default)]
pub(super) struct LinePoints {
    line: usize,
    of_group: [Option<(i32, i32)>; GROUPS],
}

impl LinePoints {
    /// Returns the points of a word. Too few of them may lack features, where no others could make them enough.
    pub(super) fn with(&mut self, page: &NotePage, at: usize, history: &History) -> i32 {
        let word = &page.words[at];
        if self.line != word.line {
            *self = Self {
                line: word.line,
                ..Self::default()
            };
        }
        let of_group = &mut self.of_group[word.look.group as usize];
        let (points, near) = *of_group.get_or_insert_with(|| {
            let mut sum = PointSum::default();
            line_features(page, word, &mut sum);
            let classes = page.lines[word.line].classes.numbers();
            let near = classes.map(|class| MOST_NEAR[class][word.look.sort() as usize]);
            (sum.0, near.sum())
        });
        let mut sum = PointSum(points);
        word_features(page, at, history, near, &mut sum);
        sum.0
    }
}

/// Tells whether a word could be a secret at all: labels must stand near.
pub(super) fn could_be(page: &NotePage, at: usize, history: &History) -> bool {
    let word = &page.words[at];
    if matches!(word.look.group, Group::Other | Group::Date) || !is_near_label(page, at, history) {
        return false;
    }
    // References in code, options of programs and queries of URLs begin like this.
    let is_code = word.text.starts_with(['&', '%', '-', '?']);
    if is_code || !fits(word) || is_name(page, at) {
        return false;
    }
    let is_other_number = word.look.is_number() && is_elsewhere(page, at);
    let may_be_a_year = word.look.is_year() && !names_a_code(page, at);
    !is_other_number && !may_be_a_year
}

/// Tells whether a word is the name of a file, of an algorithm or of keys to press, or the place of a line in a
/// log: `nodes.json`, `HMAC-SHA256`, `Ctrl+Alt+F2`, `main:QuorumPeer@944]`.
fn is_name(page: &NotePage, at: usize) -> bool {
    let word = &page.words[at];
    // All of these have such a mark.
    if !word.text.bytes().any(|b| b"-+/_.@".contains(&b)) {
        return false;
    }
    let ending = word.text.rsplit_once('.').map(|(_, ending)| ending);
    is_number_of_a_thing(word.text)
        || is_algorithm(word.text)
        || are_keys(word.text)
        || ending.is_some_and(|ending| FILES.contains(&ending))
        || is_in_log(page, at)
}

/// Tells whether a word is made of names of algorithms: more than half of its parts are, or, in a word without
/// small letters, half of them.
fn is_algorithm(word: &str) -> bool {
    let parts = || word.split(['-', '+', '/', '_']);
    let is_listed = |part: &&str| {
        ALGORITHMS
            .iter()
            .any(|name| part.eq_ignore_ascii_case(name))
    };
    let (listed, words) = (
        parts().filter(is_listed).count(),
        parts().filter(|part| !part.bytes().all(|b| b.is_ascii_digit())),
    );
    let words = words.count();
    let is_loud = !word.bytes().any(|b| b.is_ascii_lowercase());
    parts().nth(1).is_some()
        && (listed >= 2 && 2 * listed > words || is_loud && listed == 1 && words <= 2)
}

/// Tells whether a word is keys that are pressed together: all but the last hold another down.
fn are_keys(word: &str) -> bool {
    let Some((held, last)) = word.rsplit_once('+') else {
        return false;
    };
    let is_held = |part: &str| KEYS.iter().any(|key| part.eq_ignore_ascii_case(key));
    held.split('+').all(is_held) && (1..=KEY_BYTES_MAX).contains(&last.len())
}

/// Tells whether a word is a class and the number of a line, in the brackets of a log and behind no label.
fn is_in_log(page: &NotePage, at: usize) -> bool {
    const TIGHT: u16 = marks::COLON | marks::TIGHT;
    let word = &page.words[at];
    let Some((class, line)) = word.text.split_once('@') else {
        return false;
    };
    let before = page.words[page.lines[word.line].words.start..at].last();
    word.before & TIGHT == TIGHT
        && word.behind & marks::CLOSE != 0
        && before.is_some_and(|before| !before.classes.meets(Classes::LABELS))
        && class.starts_with(|c: char| c.is_ascii_uppercase())
        && line.bytes().all(|b| b.is_ascii_digit())
}

/// Tells whether a word is a UUID (RFC 9562) or the number of a book (ISBN-13).
fn is_number_of_a_thing(word: &str) -> bool {
    let lengths = || word.split('-').map(str::len);
    let all = |fits: fn(&u8) -> bool| word.bytes().all(|b| b == b'-' || fits(&b));
    let is_uuid = lengths().eq([8, 4, 4, 4, 12]) && all(u8::is_ascii_hexdigit);
    let is_book = (word.starts_with("978-") || word.starts_with("979-"))
        && lengths().sum::<usize>() == 13
        && lengths().count() == 5
        && all(u8::is_ascii_digit);
    is_uuid || is_book
}

/// Tells whether something near says that a number in the form of a year is a code all the same: a label of
/// codes, a word for opening, or a mark right before it.
fn names_a_code(page: &NotePage, at: usize) -> bool {
    const CODES: Classes = Classes::of(&[
        WordClass::Password,
        WordClass::Code,
        WordClass::Pin,
        WordClass::Otp,
        WordClass::Card,
        WordClass::Recovery,
        WordClass::Act,
        WordClass::Opens,
    ]);
    let word = &page.words[at];
    let line = &page.lines[word.line];
    let near = line.classes.0 | line.above.0 | line.below.0;
    Classes(near).meets(CODES) || word.before & JOINTS != 0
}

/// Tells whether labels stand near a word, nearer for plain words.
fn is_near_label(page: &NotePage, at: usize, history: &History) -> bool {
    let word = &page.words[at];
    let line = &page.lines[word.line];
    let NoteLine { above, below, .. } = line;
    let here = Classes(line.classes.0 | above.0);
    if word.look.sort() != Sort::Plain {
        // A word that is a label labels other words, and not itself.
        let others = if word.classes.meets(Classes::LABELS) {
            let from = at.saturating_sub(WORDS_ALIKE).max(line.words.start);
            let to = (at + WORDS_ALIKE).min(line.words.end);
            let others = (from..to).filter(|other| *other != at);
            others.fold(0, |all, other| all | page.words[other].classes.0)
        } else {
            line.classes.0
        };
        return Classes(others | above.0 | below.0).meets(Classes::LABELS);
    }
    if history.last
        || word.before & marks::QUOTE != 0 && here.meets(Classes::STRONG)
        || word.before & JOINTS != 0 && here.meets(Classes::LABELS)
        || line.words.len() <= 4 && above.meets(Classes::STRONG)
    {
        return true;
    }
    let is_behind = history
        .name
        .is_some_and(|(name, since)| at - name <= NAME_WORDS_MAX && since <= NAME_GAP_MAX);
    is_behind
        || line.classes.meets(Classes::STRONG)
            && is_before_name(&page.words[at + 1..line.words.end])
}

/// Tells whether a label that names a secret is one of the first words, or the second that says something.
fn is_before_name(words: &[Word]) -> bool {
    let mut gap = 0;
    for word in words.iter().take(6) {
        if word.classes.meets(Classes::STRONG) {
            return true;
        }
        gap += usize::from(!word.is_empty());
        if gap > 1 {
            return false;
        }
    }
    false
}

/// Tells whether a number belongs to a board or a delivery, because a word in the sentence says so.
fn is_elsewhere(page: &NotePage, at: usize) -> bool {
    let line = &page.lines[page.words[at].line];
    if !line.classes.has(WordClass::Elsewhere) {
        return false;
    }
    let elsewhere = |word: &Word| word.classes.has(WordClass::Elsewhere);
    let ends = |mark: u16| mark & marks::END != 0;
    let before = (line.words.start..at).rev().take(WORDS_BEFORE);
    let behind = (at + 1..line.words.end).take(WORDS_BEHIND);
    before
        .take_while(|other| !ends(page.words[*other + 1].before))
        .any(|other| elsewhere(&page.words[other]))
        || behind
            .take_while(|other| !ends(page.words[*other].before))
            .any(|other| elsewhere(&page.words[other]))
}

/// The bucket for no such word nearby.
const NOWHERE: u8 = 15;

/// Returns the bucket for the number of words between, and for a sentence that ends there.
fn bucket(gap: usize, ended: bool) -> u8 {
    match (ended, gap) {
        (true, 0..=4) => 6,
        (true, _) => 7,
        (_, 0..=2) => u8::try_from(gap).unwrap_or(2),
        (_, 3..=4) => 3,
        (_, 5..=7) => 4,
        _ => 5,
    }
}

/// Returns the sort of the nearest label, which is coarser than its class.
fn label(class: usize) -> u32 {
    const SORTS: [(u32, Classes); 6] = [
        (
            0,
            Classes::of(&[
                WordClass::Password,
                WordClass::Recovery,
                WordClass::Login,
                WordClass::Secret,
            ]),
        ),
        (
            1,
            Classes::of(&[
                WordClass::Pin,
                WordClass::Code,
                WordClass::Otp,
                WordClass::Card,
                WordClass::Opens,
            ]),
        ),
        (2, Classes::of(&[WordClass::Answer])),
        (3, Classes::of(&[WordClass::Act])),
        (4, Classes::of(&[WordClass::Thing])),
        (5, Classes::of(&[WordClass::Account])),
    ];
    let found = SORTS
        .iter()
        .find(|(_, classes)| classes.0 >> class & 1 != 0);
    found.map_or(6, |(sort, _)| *sort)
}

/// Returns the bucket of the nearest word of each class, and the classes that there are.
fn distances<'a>(
    words: impl Iterator<Item = &'a Word<'a>>,
    mut ended: bool,
    mark: impl Fn(&Word) -> u16,
) -> ([u8; CLASSES], Classes) {
    let mut nearest = [NOWHERE; CLASSES];
    let mut seen = Classes::default();
    let mut gap = 0;
    for word in words {
        for class in Classes(word.classes.0 & !seen.0).numbers() {
            nearest[class] = bucket(gap, ended);
        }
        seen.0 |= word.classes.0;
        gap += usize::from(!word.is_empty());
        ended |= mark(word) & marks::END != 0;
    }
    (nearest, seen)
}

/// Names every feature of a word.
#[cfg(test)]
pub(super) fn features(
    page: &NotePage,
    at: usize,
    history: &History,
    mut see: impl FnMut(Feature),
) {
    line_features(page, &page.words[at], &mut see);
    word_features(page, at, history, 0, &mut see);
}

/// Names the features that all words of one group on one line have.
fn line_features(page: &NotePage, word: &Word, tally: &mut impl Tally) {
    let line = &page.lines[word.line];
    let (group, sort) = (word.look.group as u32, word.look.sort() as u32);
    tally.add(FeatureKind::Always, 0, 0, 0);
    tally.add(FeatureKind::Group, group, 0, 0);
    // Two classes in one line, of which the first stands before the word or behind it.
    let paired = Classes(line.classes.0 & !Classes::EMPTY.0);
    for class in Classes(paired.0 & Classes::LABELS.0).numbers() {
        for other in paired.numbers().filter(|other| *other != class) {
            tally.add(FeatureKind::Pair, as_u32(class), as_u32(other), group);
        }
    }
    // The words on the lines around.
    let set = |line: Option<&NoteLine>| line.map_or(0, |line| line.classes.0);
    let above = Classes(set(page.above(word.line, 1)));
    let further = Classes(set(page.above(word.line, 2)) | set(page.above(word.line, 3)));
    let few = few(line);
    for class in above.numbers() {
        tally.add(FeatureKind::LineAbove, as_u32(class), sort, few);
    }
    for class in further.numbers() {
        tally.add(FeatureKind::LinesAbove, as_u32(class), sort, few.min(1));
    }
    for class in line.classes.numbers() {
        tally.add(FeatureKind::SameLine, as_u32(class), sort, 0);
    }
    tally.add(
        FeatureKind::Asked,
        u32::from(asked(page, word.line)),
        sort,
        few,
    );
    let technical = as_u32(page.technical(word.line).min(6));
    tally.add(FeatureKind::Technical, technical, sort, 0);
    tally.add(FeatureKind::TechnicalGroup, technical, group, 0);
}

/// Returns 2 for a line of one word, 1 for two or three.
fn few(line: &NoteLine) -> u32 {
    u32::from(line.words.len() <= 3) + u32::from(line.words.len() == 1)
}

/// Tells whether the line above asks for a secret.
fn asked(page: &NotePage, line: usize) -> bool {
    page.above(line, 1)
        .is_some_and(|line| line.asks && line.classes.meets(Classes::STRONG))
}

/// Names the features that only this word has, those that take longest to find last. `see` returns the points so
/// far, and `near` is the most that the classes near the word can add. It stops where no features that are left
/// can make the points enough.
#[allow(clippy::too_many_lines)] // a list, as long as what counts
fn word_features(page: &NotePage, at: usize, history: &History, near: i32, tally: &mut impl Tally) {
    let word = &page.words[at];
    let line = &page.lines[word.line];
    let (group, sort) = (word.look.group as u32, word.look.sort() as u32);
    let front = &page.words[line.words.start..at];
    let rest = &page.words[at + 1..line.words.end];
    let last = rest.is_empty();
    let mark = u32::from(word.before & BEFORE);
    let mark_behind = u32::from(word.behind & BEHIND | if last { LAST } else { 0 });
    // The word itself, and the marks around it.
    tally.add(FeatureKind::Length, group, u32::from(word.look.length), 0);
    tally.add(FeatureKind::Marks, mark, group, 0);
    tally.add(FeatureKind::MarksAround, mark_behind, sort, mark);
    let position = u32::from(front.is_empty())
        | u32::from(last) << 1
        | u32::from(line.is_item) << 2
        | u32::from(asked(page, word.line)) << 3;
    tally.add(FeatureKind::Position, position, group, 0);
    for number in Classes(word.look.traits).numbers() {
        tally.add(FeatureKind::Trait, as_u32(number), group, 0);
    }
    for class in word.classes.numbers() {
        tally.add(FeatureKind::Says, as_u32(class), sort, 0);
    }
    let common = u32::from(word.is_plain() && word.term & COMMON != 0);
    if word.is_plain() {
        tally.add_word(FeatureKind::Itself, 0, word);
        tally.add(FeatureKind::CommonMarks, common, group, mark);
    }
    if word.look.group == Group::Phrase {
        for part in word.text.split(' ') {
            tally.add(FeatureKind::Inside, 0, 0, hash::of(&part.to_lowercase()));
        }
    }
    // Single words.
    let mut single = |kind: FeatureKind, word: Option<&Word>| match word {
        None => tally.add(kind, sort, 0, 1),
        Some(word) if word.is_plain() => tally.add_word(kind, sort, word),
        Some(word) => tally.add(kind, sort, 0, word.look.group as u32 + 2),
    };
    single(FeatureKind::WordBefore, front.last());
    single(FeatureKind::WordBeforeThat, front.iter().nth_back(1));
    single(FeatureKind::WordBehind, rest.first());
    for other in front.iter().rev().take(WORDS_COUNTED) {
        if other.is_plain() && !other.classes.has(WordClass::Fill) {
            tally.add_word(FeatureKind::WordsBefore, sort, other);
        }
        if other.before & marks::END != 0 {
            break;
        }
    }
    // The findings before.
    tally.add(
        FeatureKind::Found,
        u32::from(history.last),
        u32::from(history.last_but_one),
        sort,
    );
    if history.last {
        let group_before = front.last().map_or(0, |word| word.look.group as u32);
        tally.add(FeatureKind::FoundBehind, group, mark, group_before);
    }
    let alike = |groups: u32| groups >> group & 1;
    tally.add(
        FeatureKind::FoundAlike,
        alike(history.on_line),
        alike(history.in_text),
        group,
    );
    tally.add(FeatureKind::FoundCount, history.count.min(5), sort, 0);
    let points = tally.add(FeatureKind::Repeated, page.repeated(word), sort, group);
    let traits = Classes(word.look.traits).numbers();
    let left = MOST_OF_GROUP[group as usize]
        + MOST_OF_SORT[sort as usize]
        + traits.map(|number| MOST_OF_TRAIT[number]).sum::<i32>();
    if points + left + near < ENOUGH {
        return;
    }
    // The number of similar words on the line.
    let from = at.saturating_sub(WORDS_ALIKE).max(line.words.start);
    let to = (at + WORDS_ALIKE).min(line.words.end);
    let alike = page.words[from..to]
        .iter()
        .filter(|other| other.look.group == word.look.group)
        .take(6);
    let mut points = tally.add(FeatureKind::Alike, as_u32(alike.count()), group, 0);
    // The words on the line.
    let ended = word.before & marks::END != 0;
    let (before, classes_before) =
        distances(front.iter().rev().take(WORDS_BEFORE), ended, |w| w.before);
    let ended = word.behind & marks::END != 0;
    let (behind, classes_behind) = distances(rest.iter().take(WORDS_BEHIND), ended, |w| w.behind);
    for class in classes_before.numbers() {
        let distance = u32::from(before[class]);
        points = tally.add(FeatureKind::Before, as_u32(class), distance, sort);
    }
    for class in classes_behind.numbers() {
        let distance = u32::from(behind[class]);
        points = tally.add(FeatureKind::Behind, as_u32(class), distance, sort);
    }
    if points + left < ENOUGH {
        return;
    }
    // The nearest label.
    let nearest = Classes(Classes::LABELS.0 & classes_before.0)
        .numbers()
        .map(|class| (before[class], class));
    let (distance, class) = nearest
        .min_by_key(|(distance, _)| *distance)
        .unwrap_or((NOWHERE, 31));
    let label = if distance == NOWHERE { 6 } else { label(class) };
    let nearest = u32::from(distance) * 8 + label;
    let labels = |other: &&Word| other.classes.meets(Classes::LABELS);
    if let Some(other) = front.iter().rev().take(WORDS_BEFORE).find(labels) {
        tally.add(
            FeatureKind::NearestWord,
            group,
            u32::from(distance),
            other.hash,
        );
    }
    tally.add(FeatureKind::Nearest, nearest, group, 0);
    tally.add(FeatureKind::NearestMarks, nearest, sort, mark);
    tally.add(FeatureKind::MarksBehind, mark_behind, group, label);
    for number in Classes(word.look.traits).numbers() {
        tally.add(
            FeatureKind::TraitNearest,
            as_u32(number),
            u32::from(distance.min(6)),
            label,
        );
    }
    if word.text.contains(['.', '/']) && named::refers(word.text.as_bytes()) {
        tally.add(FeatureKind::Refers, group, label, 0);
    }
    if word.is_plain() {
        tally.add(FeatureKind::Common, common, group, nearest);
    }
    let technical = as_u32(page.technical(word.line).min(4));
    tally.add(FeatureKind::TechnicalNearest, technical, sort, nearest);
}

fn as_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
