//! Answers to the questions that a bank or a site asks: a first pet, a mother's maiden name.

mod words;

use self::words::WORDS;
use super::judge;
use super::named;
use super::span::{Rank, Span};
use super::window::{ahead, behind, is_joined};

/// How far behind its question an answer is looked for, in bytes.
const AHEAD_BYTES_MAX: usize = 320;
/// How far behind its question a word for answer may stand, in bytes.
const ANSWER_BYTES_MAX: usize = 200;
/// Longest answer, in bytes.
const VALUE_BYTES_MAX: usize = 64;
/// Most words of an answer.
const VALUE_WORDS_MAX: usize = 5;
/// Most characters of an answer in a script without blanks.
const JOINED_CHARS_MAX: usize = 16;
/// Words that name a question, behind which the answer itself may stand: `maiden name: …`.
const DIRECT: &[&str] = &[
    "memorable",
    "maiden",
    "mädchenname",
    "jeune fille",
    "soltera",
    "nubile",
    "solteira",
    "meisjesnaam",
    "panieńskie",
    "svobodna",
    "девичья",
    "дівоче",
    "kızlık",
    "flicknamn",
    "pigenavn",
    "pikenavn",
    "tyttönimi",
    "leánykori",
    "nama gadis",
];
/// Questions of a list, whose answers stand on lines that begin with a mark for one.
const ANSWERED: &[&str] = &[
    "a:",
    "a.",
    "a)",
    "answer:",
    "ans:",
    "r:",
    "antwort:",
    "réponse",
    "respuesta:",
    "risposta:",
    "resposta:",
    "о:",
    "ответ:",
    "відповідь:",
    "答：",
    "答:",
    "답:",
    "odp:",
    "svar:",
];
/// Words in which an answer ends where no blank sets it off.
const ENDS: &[&str] = &[
    "です",
    "だよ",
    "だ。",
    "でした",
    "입니다",
    "이에요",
    "예요",
    "นะ",
    "ครับ",
    "ค่ะ",
];

/// Finds the answer to the question at `at`.
pub(super) fn answer(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let asked = ahead(text, at, AHEAD_BYTES_MAX);
    if behind(text, at, 4).ends_with(|c: char| c.is_alphanumeric() && !is_joined(c)) {
        return;
    }
    let value = below(asked)
        .or_else(|| said(asked))
        .or_else(|| direct(asked))
        .or_else(|| inline(asked));
    if let Some((start, end)) = value.and_then(|start| cut(asked, start)) {
        found.push(Span::new(
            at + start..at + end,
            "security-answer",
            Rank::Structural,
        ));
    }
}

/// The answer on a line of its own that says so: `A: …`.
fn below(asked: &str) -> Option<usize> {
    let line = asked.find('\n')?;
    let rest = &asked[line..];
    let start = line + rest.len()
        - rest
            .trim_start_matches(['\n', '\r', ' ', '\t', '-', '*', '•', '>'])
            .len();
    let lower = asked[start..]
        .chars()
        .take(16)
        .collect::<String>()
        .to_lowercase();
    let mark = ANSWERED.iter().find(|mark| lower.starts_with(**mark))?;
    let after = asked.get(start + mark.len()..)?;
    let value = after.trim_start_matches([' ', ':', '\u{a0}']);
    (line <= 120).then(|| asked.len() - value.len())
}

/// The answer behind a word for it.
fn said(asked: &str) -> Option<usize> {
    let words = &*WORDS;
    let mut at = 0;
    for piece in asked.split_inclusive(|c: char| {
        c.is_whitespace() || matches!(c, '?' | '？' | '」' | '，' | ',' | '。' | '"')
    }) {
        let start = at;
        at += piece.len();
        if start > ANSWER_BYTES_MAX {
            return None;
        }
        let lower = piece.to_lowercase();
        if !words.answer.is_in(&lower) {
            continue;
        }
        let word = lower.trim_end_matches(|c: char| c.is_whitespace() || ",.。，".contains(c));
        // `答えはもなか` is one word.
        let joined = word.contains(is_joined);
        let inside = if joined {
            after_word(&asked[start..]).map(|skip| start + skip)
        } else {
            None
        };
        let from = inside.unwrap_or(start + piece.trim_end().len());
        let colon = word.ends_with([':', '：']);
        if let Some(value) = behind_word(asked, from, colon, joined) {
            return Some(value);
        }
    }
    None
}

/// The end of a word for answer in a script without blanks, with the particle behind it.
fn after_word(text: &str) -> Option<usize> {
    let words = [
        "答えは",
        "答えが",
        "答案是",
        "答案为",
        "答案為",
        "答案",
        "คำตอบคือ",
        "คำตอบ",
        "답은",
        "답변은",
        "답",
    ];
    words.iter().find_map(|word| {
        let at = text.find(word).filter(|at| *at <= VALUE_BYTES_MAX)?;
        Some(at + word.len())
    })
}

/// Where the value behind a word for answer begins, if something says that it does.
fn behind_word(asked: &str, from: usize, colon: bool, joined: bool) -> Option<usize> {
    let words = &*WORDS;
    let rest = &asked[from..];
    let trimmed = rest.trim_start_matches([' ', '\u{a0}', '\t']);
    let mut at = asked.len() - trimmed.len();
    let mut said = colon || joined;
    if let Some(value) = trimmed.strip_prefix([':', '：', '=', '→', '—', '–']) {
        return Some(asked.len() - value.trim_start().len());
    }
    for _ in 0..2 {
        let word = asked[at..].split_whitespace().next()?;
        let is = words.is.holds(word.to_lowercase().trim_end_matches(':'));
        if !is {
            break;
        }
        said = true;
        at += asked[at..].find(word)? + word.len();
        at = asked.len() - asked[at..].trim_start_matches([' ', '\u{a0}']).len();
    }
    let value = &asked[at..];
    let quoted = value.starts_with(['"', '\'', '“', '„', '«', '「', '‘', '`', '”']);
    let name = value.starts_with(|c: char| c.is_uppercase());
    (said || quoted || name).then_some(at)
}

/// The answer behind the words that name the question: `memorable word is …`.
fn direct(asked: &str) -> Option<usize> {
    let head = asked.chars().take(40).collect::<String>().to_lowercase();
    if !DIRECT.iter().any(|word| head.contains(word)) {
        return None;
    }
    let words = &*WORDS;
    let line = asked.find(['\n', '.', ',', ';']).unwrap_or(asked.len());
    let clause = &asked[..line];
    if let Some(colon) = clause.find([':', '=']).filter(|at| *at <= 80) {
        let value = asked[colon + 1..].trim_start_matches([' ', '\u{a0}']);
        return Some(asked.len() - value.len());
    }
    let mut at = 0;
    for word in clause.split_inclusive(' ') {
        let start = at;
        at += word.len();
        let lower = word.trim().to_lowercase();
        let copula = lower.len() > 1 || matches!(lower.as_str(), "è" | "é" | "є");
        if start > 0 && copula && words.is.holds(&lower) && start <= 80 && at < clause.len() {
            return Some(at);
        }
    }
    None
}

/// The answer behind the question mark, on the same line.
fn inline(asked: &str) -> Option<usize> {
    let line = asked.find('\n').unwrap_or(asked.len());
    let mark = asked[..line]
        .find(['?', '？', '؟'])
        .filter(|at| *at <= 120)?;
    let colon = asked[..mark].contains([':', '：', '-', '—', '(', '「', '"', '“']);
    let rest = &asked[mark..line];
    let value =
        rest.trim_start_matches(|c: char| c.is_whitespace() || "?？؟\"”)」'-—–→=:".contains(c));
    (colon && !value.is_empty()).then_some(line - value.len())
}

/// The value that begins at `start`, up to the end of its clause.
fn cut(asked: &str, start: usize) -> Option<(usize, usize)> {
    let words = &*WORDS;
    let quotes = [
        ('"', '"'),
        ('“', '”'),
        ('„', '“'),
        ('«', '»'),
        ('「', '」'),
        ('‘', '’'),
        ('`', '`'),
        ('\'', '\''),
        ('”', '”'),
    ];
    let rest = &asked[start..];
    let opened = quotes.iter().find(|(open, _)| rest.starts_with(*open));
    let (start, end) = if let Some((open, close)) = opened {
        let begin = start + open.len_utf8();
        let length = asked[begin..]
            .find(*close)
            .filter(|length| *length <= VALUE_BYTES_MAX)?;
        (begin, begin + length)
    } else {
        (start, start + clause(rest))
    };
    let value = &asked[start..end];
    let lower = value.to_lowercase();
    let first = lower.split_whitespace().next()?;
    let letters = value.chars().filter(|c| c.is_alphanumeric()).count();
    let points = opened.is_none() && words.speaks.begins(&lower);
    let stands_in = judge::placeholder(value.as_bytes()) || named::refers(value.as_bytes());
    let mask =
        value.contains(['<', '{', '$', '[', '\u{1}', '*', '\n', '|']) || words.answer.holds(first);
    (letters >= 2 && !points && !stands_in && !mask && value.len() <= VALUE_BYTES_MAX)
        .then_some((start, end))
}

/// How long an answer without quotes is.
fn clause(rest: &str) -> usize {
    let words = &*WORDS;
    let mut end = 0;
    let mut at = 0;
    for (count, piece) in rest.split_inclusive([' ', '\n']).enumerate() {
        let word = piece.trim_end();
        if count > 0 && words.and.holds(&word.to_lowercase()) || count == VALUE_WORDS_MAX {
            break;
        }
        if matches!(word, "-" | "—" | "–" | "|") {
            break;
        }
        let stop = word.find([
            ',', ';', '!', '?', '(', ')', '。', '、', '，', '！', '"', '|', '؟', '،', '→', '」',
        ]);
        let mut length = stop.unwrap_or(word.len());
        if word.starts_with(is_joined) {
            let told = ENDS
                .iter()
                .filter_map(|end| word[..length].find(end).filter(|at| *at > 0))
                .min();
            let most = word
                .char_indices()
                .nth(JOINED_CHARS_MAX)
                .map_or(word.len(), |(at, _)| at);
            length = told.unwrap_or(length).min(most);
        }
        let full = word[..length].ends_with('.') && word[..length].len() > 4;
        let short = word[..length].ends_with('.') && piece.len() == word.len();
        let kept = word[..length].trim_end_matches(if full || short {
            &['.', ':'][..]
        } else {
            &[':'][..]
        });
        end = at + kept.len();
        at += piece.len();
        if kept.len() < word.len() || piece.ends_with('\n') {
            break;
        }
    }
    end.min(rest.len())
}
