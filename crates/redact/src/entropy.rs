//! Judgements of a value by its look: random, made of words, or a placeholder.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// The letters that follow each letter in ordinary text: 98.5 % of all pairs inside words, counted
/// over 16 million letters of documentation. Half of all possible pairs are missing, so a handful
/// of pairs tells random letters from words.
const FOLLOWERS: [&str; 26] = [
    "abcdefgiklmnprstuvwxyz",   // a
    "acdeijloprsuxy",           // b
    "acdehiklorstuy",           // c
    "abdeilnoprstuy",           // d
    "abcdefghijlmnopqrstuvwxy", // e
    "acefilorstuy",             // f
    "aeghilnorstu",             // g
    "aeilmortu",                // h
    "abcdefglmnoprstvxz",       // i
    "aeos",                     // j
    "abeis",                    // k
    "abdegijlopstuvy",          // l
    "abeilmopsuy",              // m
    "abcdefghiklmnopstuvy",     // n
    "abcdefgiklmnoprstuvwyz",   // o
    "acdehilmoprstuy",          // p
    "u",                        // q
    "acdefgiklmnoprstuvy",      // r
    "acefhiklmnopqrstuy",       // s
    "abcdefghilmnoprstuwxy",    // t
    "abcdefgilmnprst",          // u
    "aeio",                     // v
    "aehinorsw",                // w
    "aceimpstx",                // x
    "aeilmnopstw",              // y
    "aeio",                     // z
];

/// [`FOLLOWERS`] as one bit for each letter.
const COMMON: [u32; 26] = {
    let mut table = [0; 26];
    let mut first = 0;
    while first < 26 {
        let followers = FOLLOWERS[first].as_bytes();
        let mut next = 0;
        while next < followers.len() {
            table[first] |= 1 << (followers[next] - b'a');
            next += 1;
        }
        first += 1;
    }
    table
};

/// Counts of the kinds of bytes in a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Makeup {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    /// All other ASCII bytes. Bytes beyond ASCII are counted apart, as letters of neither case.
    pub(super) symbols: usize,
    pub(super) foreign: usize,
    pub(super) distinct: usize,
}

impl Makeup {
    pub(super) fn of(value: &[u8]) -> Self {
        let mut makeup = Self::default();
        let mut seen = [false; 256];
        for &b in value {
            match b {
                b'a'..=b'z' => makeup.lower += 1,
                b'A'..=b'Z' => makeup.upper += 1,
                b'0'..=b'9' => makeup.digits += 1,
                0x80.. => makeup.foreign += 1,
                _ => makeup.symbols += 1,
            }
            makeup.distinct += usize::from(!seen[usize::from(b)]);
            seen[usize::from(b)] = true;
        }
        makeup
    }

    pub(super) fn letters(self) -> usize {
        self.lower + self.upper
    }

    /// Returns how many of the four classes occur: lower case, upper case, digits and symbols.
    pub(super) fn classes(self) -> usize {
        [self.lower, self.upper, self.digits, self.symbols]
            .into_iter()
            .filter(|count| *count > 0)
            .count()
    }
}

/// Returns the Shannon entropy in bits per byte.
#[allow(clippy::cast_precision_loss)] // values are far shorter than 2^52 bytes
pub(super) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_usize; 256];
    for &b in value {
        counts[usize::from(b)] += 1;
    }
    let all = value.len() as f64;
    counts
        .into_iter()
        .filter(|count| *count > 0)
        .map(|count| count as f64 / all)
        .map(|share| -share * share.log2())
        .sum()
}

/// Tells whether two letters, of either case, seldom stand side by side in a word.
fn is_rare(first: u8, second: u8) -> bool {
    let (first, second) = (first.to_ascii_lowercase(), second.to_ascii_lowercase());
    COMMON[usize::from(first - b'a')] & (1 << (second - b'a')) == 0
}

/// Returns how broken up a value is, in thousandths of its length. It counts rare pairs of letters,
/// and places where camel case or a separator ends a word. Random base 62 is near 790, random
/// hexadecimal near 500, identifiers and sentences are near 250.
pub(super) fn unrest(value: &[u8]) -> usize {
    let mut count = 0;
    for pair in value.windows(2) {
        let [first, second] = [pair[0], pair[1]];
        count += match (kind_of(first), kind_of(second)) {
            (Byte::Lower | Byte::Upper, Byte::Lower) | (Byte::Upper, Byte::Upper) => {
                usize::from(is_rare(first, second))
            }
            (Byte::Lower, Byte::Upper) => 1 + usize::from(is_rare(first, second)),
            (a, b) => usize::from(a != b && b != Byte::Other),
        };
    }
    count * 1000 / value.len().max(1)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    Lower,
    Upper,
    Digit,
    Other,
}

fn kind_of(b: u8) -> Byte {
    match b {
        b'a'..=b'z' => Byte::Lower,
        b'A'..=b'Z' => Byte::Upper,
        b'0'..=b'9' => Byte::Digit,
        _ => Byte::Other,
    }
}

/// Least [`unrest`] of a value that counts as random.
const RANDOM_UNREST: usize = 340;
/// Least [`entropy`] of a value that counts as random.
const RANDOM_ENTROPY: f64 = 2.9;

/// Tells whether a token of 12 bytes or more looks as if a machine had made it at random.
pub(super) fn random(token: &[u8]) -> bool {
    let makeup = Makeup::of(token);
    if token.len() < 12 || makeup.distinct < 6 || entropy(token) < RANDOM_ENTROPY {
        return false;
    }
    if makeup.letters() == 0 {
        return false;
    }
    if makeup.digits == 0 && (makeup.lower == 0 || makeup.upper == 0) {
        return makeup.symbols * 8 <= token.len() && unrest(token) >= RANDOM_UNREST;
    }
    is_digest_like(token, makeup)
        || unrest(token) >= RANDOM_UNREST && words(token) * 2 < makeup.letters()
}

/// Tells whether a token is made of more hexadecimal digits than any word. In some such tokens
/// digits and letters alternate too seldom for [`unrest`] to tell.
fn is_digest_like(token: &[u8], makeup: Makeup) -> bool {
    token.len() >= 32
        && makeup.digits > 0
        && (makeup.lower == 0 || makeup.upper == 0)
        && token.iter().all(u8::is_ascii_hexdigit)
}

/// Returns the number of a value's letters in words: runs of five or more letters whose pairs are
/// all ordinary.
pub(super) fn words(value: &[u8]) -> usize {
    let mut in_words = 0;
    let mut run = 0;
    let mut before = None;
    for &b in value.iter().chain([&b' ']) {
        let goes_on = before.is_some_and(|before: u8| {
            b.is_ascii_alphabetic()
                && !(before.is_ascii_lowercase() && b.is_ascii_uppercase())
                && !is_rare(before, b)
        });
        if goes_on {
            run += 1;
        } else {
            in_words += if run >= 5 { run } else { 0 };
            run = usize::from(b.is_ascii_alphabetic());
        }
        before = b.is_ascii_alphabetic().then_some(b);
    }
    in_words
}

/// Pieces of placeholders, long enough that no random token holds one.
const STANDS_IN: &[&str] = crate::lists::ENTROPY_STANDS_IN;

/// Pieces of words that are placeholders for a password or key.
const STANDS_IN_WORDS: &[&str] = crate::lists::ENTROPY_STANDS_IN_WORDS;

static STAND_IN: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(STANDS_IN)
        .expect("a few words")
});

static STAND_IN_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(STANDS_IN_WORDS)
        .expect("a few words")
});

/// Tells whether a token of a known shape is a placeholder: an instruction, a mask, a run of the
/// alphabet.
pub(super) fn placeholder_token(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    value.is_empty()
        || makeup.distinct <= 3.min(value.len() / 2)
        || STAND_IN.is_match(value)
        || climbs(value)
}

/// Tells whether any text is a placeholder for a secret.
pub(super) fn placeholder(value: &[u8]) -> bool {
    placeholder_token(value.trim_ascii()) || STAND_IN_WORDS.is_match(value)
}

/// Tells whether one climb through the alphabet or the digits makes up most of a text.
fn climbs(value: &[u8]) -> bool {
    let mut longest = 0;
    let mut run = 0;
    for pair in value.windows(2) {
        let [first, second] = [pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase()];
        let step = second.wrapping_sub(first) == 1 || (first == b'9' && second == b'0');
        run = if step { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest >= 5 && (longest + 1) * 2 > value.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rolled_tokens_are_told_from_names() {
        for token in [
            "q8Zr5Tn2Wx7Lb0Vc4Ys9Kd",
            "9f2c1be07d5a4c83a6e1d0b7f4938c52",
            "c2141aafc6516c47a1aeafb158369107",
        ] {
            assert!(random(token.as_bytes()), "{token}");
        }
        for name in [
            "authentication_provider",
            "useLocalStorageState",
            "aaaaaaaaaaaaaaaa",
            "2026-11-21T10:00:00Z",
            "short1",
            "",
        ] {
            assert!(!random(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn what_stands_in_for_a_secret() {
        for value in [
            "",
            "your_token",
            "xxxxxxxx",
            "<token>",
            "${TOKEN}",
            "abcdefghij",
            "aaaa",
        ] {
            assert!(placeholder(value.as_bytes()), "{value}");
        }
        for value in ["Vn7!kqRz#2pL", "q8Zr5Tn2Wx7Lb0Vc4Ys9Kd"] {
            assert!(!placeholder(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn words_are_counted() {
        assert_eq!(words(b"moonlight9q"), 9);
        assert_eq!(words(b"x1y2"), 0);
    }

    proptest::proptest! {
        /// Any bytes can be judged without a panic.
        #[test]
        fn no_bytes_break_it(value in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80)) {
            let _ = (random(&value), words(&value), unrest(&value), entropy(&value));
            let _ = (placeholder(&value), placeholder_token(&value));
        }
    }
}
