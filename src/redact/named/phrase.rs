//! Passwords made of words: passphrases, and words joined with a number.

use super::shape::{is_leet, is_words};
use super::value::Frame;
use super::value_words::{OF_CODE, OF_SENTENCES};
use super::words::holds;
use crate::redact::judge::Makeup;

/// `red_candle_138`, `desert-glacier-tiger-57`: ordinary words and a number, as people join them
/// to passwords; no word that speaks of formats or of code.
pub(super) fn numbered_words(value: &[u8]) -> bool {
    let mut pieces: Vec<&[u8]> = value.split(|b| matches!(b, b'-' | b'_')).collect();
    let Some(number) = pieces.pop() else {
        return false;
    };
    let humps = value
        .windows(2)
        .filter(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase())
        .count();
    (2..=4).contains(&number.len())
        && number.iter().all(u8::is_ascii_digit)
        && (pieces.len() >= 2 || (pieces.len() == 1 && humps >= 1))
        && pieces.iter().all(|piece| {
            piece.len() >= 3 && piece.iter().all(u8::is_ascii_alphabetic) && !holds(OF_CODE, piece)
        })
}

/// Words between spaces, in quotes: a passphrase holds digits or symbols, or is no sentence.
pub(super) fn phrase(value: &[u8], spaces: usize, frame: Frame) -> bool {
    let makeup = Makeup::of(value);
    if frame == Frame::Quoted && plain_phrase(value, b' ') {
        return true;
    }
    frame == Frame::Quoted
        && value.len() >= 10
        && spaces <= 8
        && makeup.digits > 0
        && !value.ends_with(b".")
        && value.split(u8::is_ascii_whitespace).any(|word| {
            is_leet(word)
                || (word.len() >= 2
                    && !is_words(word)
                    && Makeup::of(word).classes() >= 2
                    && word.iter().any(u8::is_ascii_digit))
        })
}

/// Four and more short words without any that a sentence would hold.
pub(super) fn plain_phrase(value: &[u8], separator: u8) -> bool {
    let words: Vec<&[u8]> = value.split(|b| *b == separator).collect();
    (4..=12).contains(&words.len())
        && words.iter().all(|word| {
            (3..=10).contains(&word.len())
                && word.iter().all(u8::is_ascii_lowercase)
                && !holds(OF_SENTENCES, word)
        })
}
