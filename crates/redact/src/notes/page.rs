//! The page of a text: the lines near labels, as words with their classes and the marks around
//! them.

use std::ops::Range;

use crate::notes::cache::WordCache;
use crate::notes::code::{alphanumerics, count_words, is_code};
use crate::notes::look::{Look, Sort, is_digit, look};
use crate::notes::vocabulary::{self, Classes};
use crate::notes::{join, weigh};
use crate::span::{BLANK, Span, is_joined};

/// Number of lines that are read before a label, and behind it.
const LINES_BEFORE: usize = 1;
const LINES_BEHIND: usize = 4;
/// Longest word and longest phrase that are weighed, in bytes.
const WORD_BYTES_MAX: usize = 48;
const PHRASE_BYTES_MAX: usize = 80;
/// The prefixes of fingerprints, and the characters behind each: of SSH keys, and of modules in `go.sum`.
const FINGERPRINTS: [(&str, usize); 2] = [("SHA256:", 43), ("h1:", 44)];

/// Marks between two words, as bits.
pub(super) mod marks {
    pub(in super::super) const COLON: u16 = 1;
    pub(in super::super) const EQUALS: u16 = 1 << 1;
    pub(in super::super) const DASH: u16 = 1 << 2;
    pub(in super::super) const SLASH: u16 = 1 << 3;
    pub(in super::super) const COMMA: u16 = 1 << 4;
    pub(in super::super) const OPEN: u16 = 1 << 5;
    pub(in super::super) const QUOTE: u16 = 1 << 6;
    pub(in super::super) const ARROW: u16 = 1 << 7;
    pub(in super::super) const PIPE: u16 = 1 << 8;
    /// The end of a sentence.
    pub(in super::super) const END: u16 = 1 << 9;
    pub(in super::super) const DOTS: u16 = 1 << 10;
    pub(in super::super) const CLOSE: u16 = 1 << 11;
    /// No blank between the words.
    pub(in super::super) const TIGHT: u16 = 1 << 12;
    /// The start of a line.
    pub(in super::super) const START: u16 = 1 << 13;

    /// Returns the mark that a character is.
    pub(in super::super) fn of(c: char) -> u16 {
        match c {
            ':' | '：' => COLON,
            '=' | '＝' => EQUALS,
            '-' | '–' | '—' | '―' => DASH,
            '/' | '\\' | '／' => SLASH,
            ',' | ';' | '、' | '，' | '；' | '،' | '&' | '+' => COMMA,
            '(' | '（' | '[' | '【' => OPEN,
            ')' | '）' | ']' | '】' => CLOSE,
            '"' | '\'' | '`' | '«' | '»' | '„' | '“' | '”' | '‘' | '’' | '「' | '」' | '『'
            | '』' => QUOTE,
            '→' | '⇒' | '➜' | '>' | '<' | '←' => ARROW,
            '|' | '│' => PIPE,
            '.' | '!' | '?' | '。' | '！' | '？' | '؟' | '।' => END,
            '…' => DOTS,
            _ => 0,
        }
    }

    pub(super) fn of_all(text: &str) -> u16 {
        text.chars().fold(0, |all, c| all | of(c))
    }
}

/// A word without the marks around it.
#[derive(Clone)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    /// The hash of the word in lower case, without `!`, `?` and `=` at its end.
    pub(super) hash: u32,
    /// The number of the first phrase that may begin with it.
    phrase: u16,
    /// The row of its points, and the bit of a common word.
    pub(super) term: u16,
    pub(super) classes: Classes,
    pub(super) look: Look,
    /// The marks before the word and behind it.
    pub(super) before: u16,
    pub(super) behind: u16,
    /// The index of its line on the page.
    pub(super) line: usize,
    /// Set if something has been found there.
    pub(super) taken: bool,
}

impl Word<'_> {
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    pub(super) fn is_plain(&self) -> bool {
        self.look.sort() == Sort::Plain
    }

    /// Tells whether the word says nothing between a label and its value.
    pub(super) fn is_empty(&self) -> bool {
        self.classes.0 != 0 && self.classes.0 & !Classes::EMPTY.0 == 0
    }
}

/// A line that has words, or is code.
pub(super) struct NoteLine {
    /// The number of the line in the text.
    number: usize,
    pub(super) words: Range<usize>,
    /// The classes of its words.
    pub(super) classes: Classes,
    /// The classes of three lines above and of the line below, if they are near.
    pub(super) above: Classes,
    pub(super) below: Classes,
    /// Set if the line begins as an item of a list does.
    pub(super) is_item: bool,
    /// Set if the line ends as a question does.
    pub(super) asks: bool,
    /// The number of its words, and of those that code is full of.
    count: usize,
    technical: usize,
}

/// The lines near labels.
pub(super) struct NotePage<'a> {
    pub(super) words: Vec<Word<'a>>,
    pub(super) lines: Vec<NoteLine>,
    /// The hashes of all words, sorted, and for each value of their first bits the end of those with it.
    hashes: Vec<u32>,
    ends: Vec<usize>,
}

/// The decisions on the words before the present one.
#[derive(Default)]
pub(super) struct History {
    /// Set if the word right before is a secret, and if the one before that is.
    pub(super) last: bool,
    pub(super) last_but_one: bool,
    /// The groups of the secrets on the line and in the text, one bit for each.
    pub(super) on_line: u32,
    pub(super) in_text: u32,
    pub(super) count: u32,
    /// The last word on the line that names a secret, and the number of words since then that say something.
    pub(super) name: Option<(usize, usize)>,
}

impl<'a> NotePage<'a> {
    /// Reads the lines around labels, and marks the words in which something was found as taken.
    pub(super) fn read(text: &'a [u8], labels: &[usize], found: &[Span]) -> Self {
        let mut page = NotePage {
            words: Vec::new(),
            lines: Vec::new(),
            hashes: Vec::new(),
            ends: Vec::new(),
        };
        let mut taken: Vec<(usize, usize)> = found.iter().map(|s| (s.start, s.end)).collect();
        taken.sort_unstable();
        let mut cache = WordCache::new(text.len());
        let whole = std::str::from_utf8(text).ok();
        for (number, range) in wanted(text, labels) {
            let line = match whole {
                Some(text) => Some(&text[range.clone()]),
                None => std::str::from_utf8(&text[range.clone()]).ok(),
            };
            if let Some(line) = line {
                page.add(&mut cache, line, range.start, number);
            }
        }
        let mut first = 0;
        for word in &mut page.words {
            let Range { start, end } = word.range();
            while taken.get(first).is_some_and(|span| span.1 <= start) {
                first += 1;
            }
            word.taken |= taken.get(first).is_some_and(|span| span.0 < end);
        }
        (page.hashes, page.ends) = sorted(page.words.iter().map(|word| word.hash).collect());
        for at in 0..page.lines.len() {
            let above = (1..=3).filter_map(|up| page.above(at, up));
            let above = above.fold(0, |all, line| all | line.classes.0);
            let below = page.below(at).map_or(0, |line| line.classes.0);
            page.lines[at].above = Classes(above);
            page.lines[at].below = Classes(below);
        }
        page
    }

    /// Returns how often a word is repeated on the page: 2 for more than once.
    pub(super) fn repeated(&self, word: &Word) -> u32 {
        let first_bits = (word.hash >> (2 * SORTED_BITS)) as usize;
        let begin = first_bits
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        let alike = &self.hashes[begin..self.ends[first_bits]];
        let first = alike.partition_point(|hash| *hash < word.hash);
        let again = alike[first..].iter().skip(1).take(2);
        let again = again.take_while(|hash| **hash == word.hash && word.hash != 0);
        again.map(|_| 1).sum()
    }

    /// Asks `is_secret` about each word that could be a secret, in order.
    pub(super) fn decide(&self, mut is_secret: impl FnMut(&Self, usize, &History) -> bool) {
        let mut history = History::default();
        for line in &self.lines {
            history.on_line = 0;
            history.last = false;
            history.last_but_one = false;
            history.name = None;
            let near = Classes(line.classes.0 | line.above.0 | line.below.0);
            let labelled = near.meets(Classes::LABELS);
            for at in line.words.clone() {
                let word = &self.words[at];
                let secret = labelled
                    && !word.taken
                    && weigh::could_be(self, at, &history)
                    && is_secret(self, at, &history);
                history.last_but_one = history.last;
                history.last = secret;
                if word.classes.meets(weigh::NAMES) {
                    history.name = Some((at, 0));
                } else if let Some((_, since)) = &mut history.name {
                    *since += usize::from(!word.is_empty());
                }
                if secret || word.taken {
                    let group = 1 << word.look.group as u8;
                    history.on_line |= group;
                    history.in_text |= group;
                    history.count += 1;
                }
            }
        }
    }

    /// Returns the line `up` lines before this one, if it is near.
    pub(super) fn above(&self, line: usize, up: usize) -> Option<&NoteLine> {
        let above = &self.lines[line.checked_sub(up)?];
        (self.lines[line].number - above.number <= up + 1).then_some(above)
    }

    pub(super) fn below(&self, line: usize) -> Option<&NoteLine> {
        let below = self.lines.get(line + 1)?;
        (below.number - self.lines[line].number <= 2).then_some(below)
    }

    /// Returns how technical the lines around this one are, in tenths.
    pub(super) fn technical(&self, line: usize) -> usize {
        let around = &self.lines[line.saturating_sub(2)..self.lines.len().min(line + 2)];
        let (count, technical) = around.iter().fold((0, 0), |(count, technical), line| {
            (count + line.count, technical + line.technical)
        });
        technical * 10 / count.max(1)
    }

    fn add(&mut self, cache: &mut WordCache<'a>, line: &'a str, start: usize, number: usize) {
        let begun = self.words.len();
        if is_code(line) {
            let count = count_words(line.as_bytes());
            self.lines.push(NoteLine {
                number,
                words: begun..begun,
                classes: Classes::default(),
                above: Classes::default(),
                below: Classes::default(),
                is_item: false,
                asks: false,
                count,
                technical: count,
            });
            return;
        }
        let mut reader = LineReader {
            words: &mut self.words,
            cache,
            line: self.lines.len(),
            marks: marks::START,
        };
        let bytes = line.as_bytes();
        let mut from = 0;
        // The end of the last byte of a marker.
        let mut blanked = usize::MAX;
        while from < bytes.len() {
            // Most chunks are letters and digits between blanks.
            let word = from + alphanumerics(&bytes[from..]);
            if word > from && bytes.get(word).is_none_or(|b| *b == b' ') {
                reader.single(&line[from..word], start + from);
                reader.marks = 0;
                from = word + 1;
                continue;
            }
            let (at, width) = next_space(line, word);
            if from < at {
                reader.chunk(&line[from..at], start + from);
            }
            // A marker stands in place of a secret.
            if bytes.get(at) == Some(&BLANK) {
                if blanked != at {
                    reader.marker(start + at);
                }
                blanked = at + 1;
            }
            from = at + width;
        }
        let end = reader.marks & !marks::START;
        let words = begun..self.words.len();
        if words.is_empty() {
            return;
        }
        for at in words.clone() {
            let behind = (at + 1 < words.end).then(|| self.words[at + 1].before);
            self.words[at].behind = behind.unwrap_or(end);
            if self.words[at].phrase != u16::MAX {
                self.phrases(at, words.end);
            }
        }
        join::words(&mut self.words, begun, line, start);
        let words = begun..self.words.len();
        let of_line = &self.words[words.clone()];
        let item = line.trim_start();
        let digits = item.bytes().take_while(u8::is_ascii_digit).count();
        let numbered = matches!(item.as_bytes().get(digits), None | Some(b'.' | b')'));
        self.lines.push(NoteLine {
            number,
            classes: Classes(of_line.iter().fold(0, |all, word| all | word.classes.0)),
            above: Classes::default(),
            below: Classes::default(),
            is_item: item.starts_with(['-', '*', '•', '|', '>', '+', '#'])
                || (1..=2).contains(&digits) && numbered,
            asks: line.trim_end().ends_with(['?', '？', '؟']),
            count: of_line.len(),
            technical: of_line
                .iter()
                .filter(|word| word.look.is_technical())
                .count(),
            words,
        });
    }

    /// Adds the classes of a phrase to its words.
    fn phrases(&mut self, at: usize, end: usize) {
        let Word { hash, phrase, .. } = self.words[at];
        for phrase in vocabulary::phrases(phrase, hash) {
            let last = at + phrase.rest.len();
            let rest = last < end
                && (self.words[at + 1..=last].iter().zip(phrase.rest))
                    .all(|(word, hash)| word.hash == *hash);
            if rest {
                for word in &mut self.words[at..=last] {
                    word.classes.0 |= phrase.classes;
                }
            }
        }
    }
}

/// Number of bits by which hashes are sorted at once.
const SORTED_BITS: u32 = 11;

/// Sorts hashes by their last bits, by the bits before those, and by the first ones (Knuth, TAOCP
/// 5.2.5): each pass keeps the order of the one before. Returns with them the ends that the last pass leaves.
fn sorted(mut hashes: Vec<u32>) -> (Vec<u32>, Vec<usize>) {
    let mut next = hashes.clone();
    let mut places = vec![0; 1 << SORTED_BITS];
    for shift in (0..u32::BITS).step_by(SORTED_BITS as usize) {
        let digit = |hash: u32| (hash >> shift) as usize % (1 << SORTED_BITS);
        places.fill(0);
        for hash in &hashes {
            places[digit(*hash)] += 1;
        }
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for hash in &hashes {
            let place = &mut places[digit(*hash)];
            next[*place] = *hash;
            *place += 1;
        }
        std::mem::swap(&mut hashes, &mut next);
    }
    (hashes, places)
}

/// Returns the lines near labels, with their numbers.
fn wanted(text: &[u8], labels: &[usize]) -> Vec<(usize, Range<usize>)> {
    let mut labels = labels.to_vec();
    labels.sort_unstable();
    let mut labels = labels.into_iter().peekable();
    let mut lines = Vec::new();
    let mut before: Vec<(usize, Range<usize>)> = Vec::new();
    let mut left = 0;
    let mut start = 0;
    let breaks = memchr::memchr_iter(b'\n', text).chain([text.len()]);
    for (number, end) in breaks.enumerate() {
        let mut labelled = false;
        while labels.next_if(|label| *label < end).is_some() {
            labelled = true;
        }
        if labelled {
            lines.append(&mut before);
            left = LINES_BEHIND + 1;
        }
        if left > 0 {
            lines.push((number, start..end));
            left -= 1;
        } else {
            if before.len() == LINES_BEFORE {
                before.remove(0);
            }
            before.push((number, start..end));
        }
        start = end + 1;
    }
    lines
}

/// Returns the place of the next space or blanked byte from `at` on, and its width, or the end of the line and 0.
fn next_space(line: &str, mut at: usize) -> (usize, usize) {
    // No other byte is a space, or begins one.
    let may_be_space = |b: &u8| !(b'!'..0xC0).contains(b);
    while let Some(skip) = line.as_bytes()[at..].iter().position(may_be_space) {
        at += skip;
        let width = space(line, at);
        if width > 0 {
            return (at, width);
        }
        at += 1;
    }
    (line.len(), 0)
}

/// Returns the width of the space or blanked byte at a place, and 0 for anything else.
fn space(line: &str, at: usize) -> usize {
    match line.as_bytes()[at] {
        b' ' | b'\t'..=b'\r' | BLANK => 1,
        // No other character of one byte, and no byte inside a longer one.
        0..0xC0 => 0,
        _ => {
            let space = line[at..].chars().next().filter(|c| c.is_whitespace());
            space.map_or(0, char::len_utf8)
        }
    }
}

/// Tells whether a mark opens a word.
fn opens(c: char) -> bool {
    matches!(
        c,
        '(' | '['
            | '{'
            | '"'
            | '\''
            | '`'
            | '«'
            | '»'
            | '„'
            | '“'
            | '”'
            | '‘'
            | '’'
            | '「'
            | '『'
            | '【'
            | '（'
            | '<'
            | '¿'
            | '¡'
            | '*'
            | '_'
            | '~'
    )
}

/// Tells whether a mark separates a word from the one before.
fn parts(c: char) -> bool {
    matches!(
        c,
        '-' | '–' | '—' | '→' | '=' | ':' | '|' | '/' | ',' | '.' | '>' | '←' | '…'
    )
}

/// Tells whether a mark closes a word.
fn closes(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '"'
            | '\''
            | '`'
            | '»'
            | '«'
            | '“'
            | '”'
            | '’'
            | '」'
            | '』'
            | '】'
            | '）'
            | '>'
            | ','
            | ';'
            | ':'
            | '.'
            | '、'
            | '。'
            | '，'
            | '：'
            | '；'
            | '…'
            | '؟'
            | '،'
            | '*'
            | '_'
            | '～'
            | '！'
            | '？'
            | '।'
    )
}

/// Tells whether a chunk is `user/password`.
fn is_pair(chunk: &str, slash: usize) -> bool {
    let (user, password) = (&chunk[..slash], &chunk[slash + 1..]);
    let name = |c: char| c.is_alphabetic() || matches!(c, '.' | '_' | '-');
    // The length comes first: a line may be one word of any length.
    user.len().max(password.len()) <= PHRASE_BYTES_MAX
        && user.chars().count() >= 2
        && user.chars().all(name)
        && password.chars().count() >= 4
        && !password.contains(['/', '.'])
        && password
            .chars()
            .any(|c| is_digit(c) || c.is_uppercase() || "!@#$%&*+?-_".contains(c))
        && password.chars().any(char::is_alphabetic)
}

/// A reader of the words of a line.
struct LineReader<'a, 'b> {
    words: &'b mut Vec<Word<'a>>,
    cache: &'b mut WordCache<'a>,
    line: usize,
    /// Marks since the last word.
    marks: u16,
}

impl<'a> LineReader<'a, '_> {
    /// Reads a chunk: the text between blanks.
    fn chunk(&mut self, chunk: &'a str, start: usize) {
        let closing = |b: u8| b.is_ascii() && b != b'*' && closes(char::from(b));
        // As most are.
        let word = alphanumerics(chunk.as_bytes());
        if word > 0 && chunk.bytes().skip(word).all(closing) {
            self.single(&chunk[..word], start);
            self.marks = marks::of_all(&chunk[word..]);
            return;
        }
        let inner = chunk.trim_start_matches(|c| opens(c) || parts(c));
        let lead = &chunk[..chunk.len() - inner.len()];
        self.marks |= marks::of_all(lead);
        if let Some(print) = fingerprint(inner) {
            self.single(print, start + lead.len());
            self.marks = marks::of_all(&inner[print.len()..]);
            return;
        }
        if lead.contains("..") {
            self.marks = self.marks & !marks::END | marks::DOTS;
        }
        // Most chunks are one word, which nothing below would split.
        let joins = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        let word = inner.bytes().take_while(joins).count();
        let word = inner[..word].trim_end_matches(['_', '.']);
        let tail = &inner[word.len()..];
        if word.starts_with(|c: char| c.is_ascii_alphanumeric()) && tail.bytes().all(closing) {
            self.single(word, start + lead.len());
            self.marks = marks::of_all(tail);
            return;
        }
        // A star may end a code; `piece` decides on it.
        let mut core = inner.trim_end_matches(|c| closes(c) && c != '*');
        // A plain word ends before `!`; a password may end with one.
        let bare = core.trim_end_matches(['!', '?']);
        if bare.chars().all(char::is_alphabetic) {
            core = bare;
        }
        let start = start + lead.len();
        let mut from = 0;
        let mut tight = 0;
        let mut before = None;
        for (at, c) in core.char_indices() {
            let last = before.replace(c);
            let Some(last) = last.filter(|_| at > from) else {
                continue;
            };
            let letters = c.is_alphanumeric() && last.is_alphanumeric();
            if letters && is_joined(c) != is_joined(last) {
                self.piece(&core[from..at], start + from, tight);
                (from, tight) = (at, marks::TIGHT);
            } else if parts_a_chunk(core, from, at, c, last) {
                self.piece(&core[from..at], start + from, tight);
                (from, tight) = (at + c.len_utf8(), marks::TIGHT | marks::of(c));
            }
        }
        if from < core.len() {
            self.piece(&core[from..], start + from, tight);
        }
        self.marks |= marks::of_all(&inner[core.len()..]);
        if core.ends_with(['!', '?']) {
            self.marks |= marks::END;
        }
    }

    /// Reads a piece of a chunk: a word, perhaps with marks around it.
    fn piece(&mut self, piece: &'a str, start: usize, tight: u16) {
        self.marks |= tight;
        let inner = piece.trim_start_matches(opens);
        let lead = &piece[..piece.len() - inner.len()];
        self.marks |= marks::of_all(lead);
        let mut word = inner.trim_end_matches(closes);
        // The star ends a code, and is not emphasis: `#1975*`.
        let is_code = word.chars().all(|c| is_digit(c) || matches!(c, '#' | '*'));
        if is_code && inner[word.len()..].starts_with('*') && !lead.ends_with('*') {
            word = &inner[..=word.len()];
        }
        if !word.contains(char::is_alphanumeric) {
            self.marks |= marks::of_all(inner);
            return;
        }
        self.word(word, start + lead.len());
        self.marks = marks::of_all(&inner[word.len()..]);
    }

    /// Reads a word. A script without blanks may join it to its label: `答えはもなかです`.
    fn word(&mut self, word: &'a str, start: usize) {
        let Some((label, value)) = join::label(word) else {
            return self.single(word, start);
        };
        self.single(&word[..label], start);
        self.marks |= marks::TIGHT;
        self.single(&word[value.clone()], start + value.start);
        self.marks = 0;
    }

    fn single(&mut self, word: &'a str, start: usize) {
        let facts = self.cache.facts(word);
        self.words.push(Word {
            text: word,
            start,
            hash: facts.hash,
            phrase: facts.phrase,
            term: facts.term,
            classes: facts.classes,
            look: facts.look,
            before: self.marks,
            behind: 0,
            line: self.line,
            taken: false,
        });
    }

    /// Adds a marker of an earlier redaction.
    fn marker(&mut self, start: usize) {
        self.words.push(Word {
            text: "",
            start,
            hash: 0,
            phrase: u16::MAX,
            term: 0,
            classes: Classes::default(),
            look: look(""),
            before: self.marks,
            behind: 0,
            line: self.line,
            taken: true,
        });
        self.marks = 0;
    }
}

/// Returns the fingerprint at the start of a chunk, as `ssh-keygen -l` and `go mod` print it. It is public,
/// and as one word too long to be weighed.
fn fingerprint(chunk: &str) -> Option<&str> {
    let base64 = |b: &u8| b.is_ascii_alphanumeric() || b"+/=".contains(b);
    FINGERPRINTS.iter().find_map(|(prefix, length)| {
        let rest = chunk.strip_prefix(prefix)?;
        let digest = rest.bytes().take_while(base64).count();
        (digest == *length).then(|| &chunk[..prefix.len() + digest])
    })
}

/// Tells whether a word is the name of an environment variable: `SSH_AUTH_SOCK`.
fn is_variable(word: &str) -> bool {
    word.contains('_') && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
}

/// Tells whether a mark splits a chunk into words: `pw:hunter22`, `密码：abc123`, `user/Pass-1`.
fn parts_a_chunk(chunk: &str, from: usize, at: usize, c: char, last: char) -> bool {
    let rest = &chunk[at + c.len_utf8()..];
    match c {
        '：' | '，' | '、' | '（' | '）' | '「' | '」' | '『' | '』' | '；' | '。' | '／'
        | '＝' | '<' | '>' | '|' | '·' | '।' => true,
        '\'' | '’' => {
            rest.starts_with(char::is_alphabetic) && chunk[from..at].chars().all(is_digit)
        }
        ',' => is_joined(last) || rest.starts_with(is_joined),
        '/' => is_pair(chunk, at),
        ':' | '=' | '→' => {
            let name = |c: char| {
                c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | '*' | '"' | '\'')
            };
            let time = c == ':' && last.is_ascii_digit() && rest.starts_with(is_digit);
            !rest.is_empty()
                && !rest.starts_with("//")
                && !time
                && chunk[from..at].chars().all(name)
        }
        _ => false,
    }
}

/// Tells whether a word may be weighed at all.
pub(super) fn fits(word: &Word) -> bool {
    let least = if word.look.is_number() { 1 } else { 2 };
    // Lines of keys and certificates are longer.
    let most = if word.text.contains(' ') {
        PHRASE_BYTES_MAX
    } else {
        WORD_BYTES_MAX
    };
    let names = word.text.ends_with('=') && word.classes.meets(Classes::LABELS);
    (least..=most).contains(&word.text.len())
        && !names
        && !stands_for_a_number(word.text)
        && !is_variable(word.text)
}

/// Tells whether a word is three or more digits that stand for any number: `0000`, `123456`.
fn stands_for_a_number(word: &str) -> bool {
    let bytes = word.as_bytes();
    if bytes.len() >= 3 && bytes.iter().all(|b| b"0 ".contains(b)) {
        return true;
    }
    let digits = bytes.len() >= 3 && bytes.iter().all(u8::is_ascii_digit);
    let same = |w: &[u8]| w[0] == w[1];
    let next = |w: &[u8]| w[1] == b'0' + (w[0] - b'0' + 1) % 10;
    digits && (bytes.windows(2).all(same) || bytes.len() >= 6 && bytes.windows(2).all(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let page = NotePage::read(text.as_bytes(), &[0], &[]);
        page.words.iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_stand_without_what_parts_them() {
        assert_eq!(words("pw:hunter22, \"x\"."), ["pw", "hunter22", "x"]);
        assert_eq!(words("密码是abc123，别忘"), ["密码是", "abc123", "别忘"]);
        assert_eq!(
            words("it's NoPain! at 8:30"),
            ["it's", "NoPain", "at", "8:30"]
        );
        assert_eq!(
            words("admin/Frost-21 in src/a/b"),
            ["admin", "Frost-21", "in", "src/a/b"]
        );
        assert_eq!(words("Popcorn!Popcorn!"), ["Popcorn!Popcorn!"]);
    }

    #[test]
    fn fingerprints_of_keys_and_names_of_variables_are_not_weighed() {
        let print = "SHA256:pRSRqyZcVbI5hYyz7e0Ij3MXt3I3b2Jb0VZq8/M0d+s";
        let text = format!("no key {print}: SSH_AUTH_SOCK or BLUE_7_SOCKS");
        let page = NotePage::read(text.as_bytes(), &[3], &[]);
        let weighed: Vec<_> = page.words.iter().filter(|word| fits(word)).collect();
        let weighed: Vec<&str> = weighed.iter().map(|word| word.text).collect();
        assert_eq!(weighed, ["no", "key", "or", "BLUE_7_SOCKS"]);
    }

    #[test]
    fn a_user_and_a_password_are_two_words_if_neither_is_too_long() {
        assert_eq!(words("ab/Cd1x"), ["ab", "Cd1x"]);
        let long = format!("ab/{}", "Cd1x".repeat(60));
        assert_eq!(words(&long), [long.as_str()]);
    }

    #[test]
    fn lines_far_from_labels_are_not_read() {
        let text = "a\nb\nlabel\nc\nd\ne\nf\ng";
        let page = NotePage::read(text.as_bytes(), &[4], &[]);
        let read: Vec<&str> = page.words.iter().map(|word| word.text).collect();
        assert_eq!(read, ["b", "label", "c", "d", "e", "f"]);
    }
}
