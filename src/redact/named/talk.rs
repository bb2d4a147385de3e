//! Passwords as people speak of them: asked for and answered, changed from one to another, said in
//! one breath with a user, or just near the word.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::chosen;
use super::decide::{self, Joint};
use super::name::Strength;
use super::shape::is_leet;
use super::value::{self, Frame, line_end, line_start};
use super::words::holds;
use super::{SENTENCE_REACH, Seek};
use crate::redact::judge::Makeup;
use crate::redact::marker::BLANK;
use crate::redact::span::Span;

/// How many lines below a question are looked at for its answer.
const ANSWER_LINES_MAX: usize = 3;
/// How many lines of logins below their heading are looked at.
const LOGIN_LINES_MAX: usize = 12;
/// Longest name of somebody who speaks, in bytes.
const SPEAKER_BYTES_MAX: usize = 32;
/// Longest user of a login, in bytes.
const USER_BYTES_MAX: usize = 64;
/// Least length of a plain word that is a whole answer, in bytes.
const WORD_BYTES_MIN: usize = 10;

/// Words and stems that say that a password became another one, in lower case.
const CHANGED: &str = "chang rotat reset replac renam updat was used to be former old new previous set to \
    geändert ändern neu alt bisher vorher früher jetzt ersetzt changé remplac ancien nouveau avant \
    cambi antes ahora nueva nuevo prima vecchi nuov mudou mudei troc antig nova gewijzigd verander \
    oude nieuw zmieni star nowe změn nové ändra bytt byt gaml nya ændre endre gammel vaihd vanha uusi \
    megvált régi új schimb vech nou αλλά αλλα παλι νέο đổi cũ mới ganti lama baru измен смен помен \
    стар нов змін değiş eski yeni बदल पुरान नया غير قديم جديد שינ ישן חדש ישנה חדשה เปลี่ยน เก่า ใหม่ 改 换 換 變更 变更 変更 旧 \
    新 原来 原本 本來 바꾸 변경 바뀌 예전 새";

/// Words that stand before the one or the other password, in lower case.
const POINTING: &str = "from to was is now old new into with by -> → => von auf zu nach war jetzt ist neu alt \
    de à a en por para ancien nouveau est était da per era ora è van naar nu z na od do je bylo teď \
    från till fra til är var blev с на был стал теперь з був тепер як old: new: now: was: neu: alt: \
    ancien: nouveau: nueva: antigua: vieja: vecchia: nuova: antiga: nova: oud: nieuw: stare: nowe: \
    starý: nový: gammal: ny: nytt: vanha: uusi: régi: új: vechi: nou: старый: новый: было: стало: \
    eski: yeni: thành từ sang cũ mới jadi menjadi ke dari lama: baru: من إلى الى صار במקום זה מ עכשיו";

static POINTS: LazyLock<HashSet<&str>> = LazyLock::new(|| POINTING.split_whitespace().collect());

static CHANGES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let words = CHANGED.split_whitespace().filter(|word| word.len() >= 3);
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(words)
        .expect("a few words")
});

/// What people answer who do not say the password.
const REPLIES: &[&str] = &[
    "dunno",
    "thanks",
    "thankyou",
    "yesterday",
    "tomorrow",
    "somewhere",
    "nevermind",
    "whatever",
    "remember",
    "unfortunately",
    "absolutely",
    "definitely",
    "probably",
    "everything",
    "something",
    "certainly",
    "natürlich",
    "vielleicht",
    "eigentlich",
    "bestimmt",
    "selbstverständlich",
    "malheureusement",
    "probablement",
    "evidentemente",
    "seguramente",
    "naturalmente",
    "waarschijnlijk",
];

impl Seek<'_> {
    /// What people say of a password around the word for it.
    pub(super) fn talk(&self, found: &mut Vec<Span>) {
        let begun = found.len();
        match self.name.strength {
            Strength::Password => {
                self.phrase(found);
                if found.len() == begun {
                    self.answered(found);
                }
                if found.len() == begun {
                    self.changed(found);
                }
                if found.len() == begun {
                    self.nearby(found);
                }
            }
            Strength::Login => self.logins(found),
            Strength::Secret | Strength::Pin | Strength::Weak => {}
        }
    }

    /// The rest of the line behind the name, no further than a sentence reaches.
    fn line_behind(&self) -> Range<usize> {
        let from = self.name.range.end;
        from..line_end(self.text, from).min(from + SENTENCE_REACH)
    }

    /// The answer to a question: `whats the pw again?` and on the next line `Mo: bigpaper1`.
    fn answered(&self, found: &mut Vec<Span>) {
        let line = self.line_behind();
        if line_end(self.text, line.start) != line.end || !asks(&self.text[line.clone()]) {
            return;
        }
        let mut at = line.end + 1;
        for _ in 0..ANSWER_LINES_MAX {
            if at >= self.text.len() {
                return;
            }
            let end = line_end(self.text, at);
            // What has been taken out already was the answer.
            if self.text[at..end].contains(&BLANK) {
                return;
            }
            let begin = speech(self.text, at, end);
            if self.is_phrase_name() && chosen::is_promised_phrase(&self.text[begin..end]) {
                found.push(self.span(begin..end));
                return;
            }
            if self.answer(begin, end, found) {
                return;
            }
            at = end + 1;
        }
    }

    /// Takes the first word of an answer, or a plain word that is all of it.
    fn answer(&self, begin: usize, end: usize, found: &mut Vec<Span>) -> bool {
        let Some(value) = value::read(self.text, begin).filter(|value| value.range.end <= end)
        else {
            return false;
        };
        let rest = self.text[value.after.min(end)..end].trim_ascii();
        let alone = rest.len() <= 3 || rest.starts_with(b"(") || rest.starts_with(b",");
        let bytes = &self.text[value.range.clone()];
        // `Thanks!` is none.
        if !bytes.iter().any(u8::is_ascii_digit) && bytes.ends_with(b"!") {
            return false;
        }
        if alone && self.accept(&value.clone().alone(), Joint::Said, found)
            || !alone && self.accept(&value, Joint::Near, found)
        {
            return true;
        }
        let letters = |b: &u8| b.is_ascii_lowercase() || matches!(b, b'_' | b'-') || *b >= 0x80;
        let asked = self.text[..begin].trim_ascii_end().ends_with(b"?");
        let word = asked && alone && bytes.len() >= WORD_BYTES_MIN && bytes.iter().all(letters);
        if word
            && bytes[0].is_ascii_lowercase()
            && !holds(REPLIES, bytes)
            && !decide::stands_for_value(bytes)
        {
            found.push(self.span(value.range));
        }
        word
    }

    /// The phrase behind the colon that ends what is said of it: `passphrase on the laptop: …`.
    fn phrase(&self, found: &mut Vec<Span>) {
        let line = self.line_behind();
        let bytes = &self.text[line.clone()];
        let Some(colon) = memchr::memmem::find(bytes, b": ").filter(|_| self.is_phrase_name())
        else {
            return;
        };
        let value = bytes[colon + 2..].trim_ascii_end();
        if chosen::is_promised_phrase(value) {
            let start = line.start + colon + 2;
            found.push(self.span(start..start + value.len()));
        }
    }

    /// `changed from A to B`, `was A, is now B`: each that a pointing word stands before.
    pub(super) fn changed(&self, found: &mut Vec<Span>) {
        let start = line_start(self.text, self.name.range.start)
            .max(self.name.range.start.saturating_sub(80));
        let line = self.line_behind();
        if !CHANGES.is_match(&self.text[start..line.end]) {
            return;
        }
        let mut before: &[u8] = b"";
        let mut at = line.start;
        while at < line.end {
            let word = word(self.text, at, line.end);
            let pointed = is_pointing(before);
            if pointed
                && let Some(value) =
                    value::read(self.text, word.start).filter(|value| value.range.end <= line.end)
            {
                self.accept(&value, Joint::Near, found);
            }
            before = &self.text[word.clone()];
            at = word.end + 1;
        }
    }

    /// What can be nothing but a password, anywhere on the line: `Tooth!Fairy7`.
    fn nearby(&self, found: &mut Vec<Span>) {
        let start = line_start(self.text, self.name.range.start)
            .max(self.name.range.start.saturating_sub(SENTENCE_REACH));
        let line = self.line_behind();
        for range in [line, start..self.name.range.start] {
            let mut at = range.start;
            while at < range.end {
                let word = word(self.text, at, range.end);
                at = word.end + 1;
                if let Some(value) = value::read(self.text, word.start)
                    && value.range.end <= range.end
                    && is_unmistakable(&self.text[value.range.clone()])
                {
                    self.accept(&value, Joint::Prose, found);
                }
            }
        }
    }

    /// `anna.k / Geranium77` on the line of the word for a login, or on the lines below it.
    fn logins(&self, found: &mut Vec<Span>) {
        let mut line = self.line_behind();
        if self.login_pair(&line, found) {
            return;
        }
        let heads = self.text[line.clone()].trim_ascii_end();
        if !heads.ends_with(b":") && !heads.is_empty() {
            return;
        }
        for _ in 0..LOGIN_LINES_MAX {
            let next = line_end(self.text, line.end) + 1;
            if next >= self.text.len() {
                return;
            }
            line = next..line_end(self.text, next);
            if !self.login_pair(&line, found) {
                return;
            }
        }
    }

    /// Takes the second half of `user / password`.
    fn login_pair(&self, line: &Range<usize>, found: &mut Vec<Span>) -> bool {
        let bytes = &self.text[line.clone()];
        for separator in [&b" / "[..], b" with ", " mit ".as_bytes(), b" | ", b" pw "] {
            let Some(at) = memchr::memmem::find(bytes, separator) else {
                continue;
            };
            let user = bytes[..at]
                .rsplit(|b| b.is_ascii_whitespace() || *b == b':')
                .next()
                .unwrap_or_default();
            let named = !user.is_empty()
                && user.len() <= USER_BYTES_MAX
                && user.iter().any(|b| b.is_ascii_alphabetic() || *b >= 0x80);
            let next = line.start + at + separator.len();
            if named
                && (separator[1] == b'/' || user.contains(&b'@'))
                && next < self.text.len()
                && let Some(value) = value::read(self.text, next)
            {
                // Both halves are said in one breath: the second is a password whatever it is like.
                return self.accept(&value, Joint::Said, found);
            }
        }
        false
    }
}

/// Whether a line asks for what it names, or says that it is on the next line.
fn asks(rest: &[u8]) -> bool {
    const ENDS: &[&str] = &[
        "?",
        "？",
        "؟",
        "↓",
        "👇",
        "吗",
        "ครับ",
        "คะ",
        " is",
        " ist",
        " est",
        " es",
        " è",
        " é",
        " er",
        " är",
        " on",
        " to",
        " jest",
    ];
    let rest = rest.trim_ascii_end();
    ENDS.iter().any(|end| rest.ends_with(end.as_bytes()))
}

/// Where what is said begins on a line, behind the name of who says it or an arrow.
fn speech(text: &[u8], at: usize, end: usize) -> usize {
    let skip = |at: usize| {
        let marks = text[at..end].iter();
        at + marks.take_while(|b| b" \t>*-\r".contains(b)).count()
    };
    let mut at = skip(at);
    for arrow in ["→", "=>", "⇒"] {
        if text[at..end].starts_with(arrow.as_bytes()) {
            at = skip(at + arrow.len());
        }
    }
    let line = &text[at..end.min(at + SPEAKER_BYTES_MAX)];
    if line.starts_with(b"<") {
        return memchr::memchr(b'>', line).map_or(at, |close| skip(at + close + 1));
    }
    let name = |b: &u8| b.is_ascii_alphanumeric() || *b >= 0x80 || b" _.-".contains(b);
    match line.iter().position(|b| matches!(b, b':' | b'>')) {
        Some(mark) if line[..mark].iter().all(name) && line.get(mark + 1) == Some(&b' ') => {
            skip(at + mark + 1)
        }
        _ => at,
    }
}

/// The word at or behind `at`, up to white space, without what opens a bracket.
fn word(text: &[u8], at: usize, end: usize) -> Range<usize> {
    let gap = text[at..end]
        .iter()
        .take_while(|b| b.is_ascii_whitespace() || matches!(b, b'(' | b'['))
        .count();
    let start = at + gap;
    let width = text[start..end]
        .iter()
        .take_while(|b| !b.is_ascii_whitespace())
        .count();
    start..start + width
}

fn is_pointing(word: &[u8]) -> bool {
    let Ok(word) = std::str::from_utf8(word) else {
        return false;
    };
    POINTS.contains(&*word.to_lowercase())
}

/// Whether a word in a sentence about a password can be nothing else: letters, digits and a mark
/// inside, or digits in place of letters.
fn is_unmistakable(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let part = |b: &u8| b.is_ascii_alphanumeric() || *b >= 0x80 || b"!#*^~+-_.?$&".contains(b);
    let marks = value.iter().filter(|b| b"!#*^~$".contains(b)).count();
    if value.len() < 8 || makeup.digits == 0 || !value.iter().all(part) || value.contains(&b'\\') {
        return false;
    }
    let opens = value[0].is_ascii_alphanumeric() || value[0] >= 0x80;
    let marked = marks > 0 && makeup.lower >= 3 && makeup.upper > 0;
    let leet = is_leet(value)
        && makeup.upper > 0
        && makeup.lower >= 4
        && makeup.symbols == 0
        && makeup.digits <= 3;
    opens && (marked || leet) && chosen::is_chosen(value, Joint::Near, Frame::Bare)
}
