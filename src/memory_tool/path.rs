//! Parsing of paths into [`MemoryPath`], the canonical form, or a reason for refusal.

use std::ops::RangeInclusive;

use serde::{Serialize, Serializer};
use unicode_normalization::UnicodeNormalization;

/// The directory that contains every memory.
pub const ROOT: &str = "/memories";

/// Longest path, in bytes of its NFC form.
pub const PATH_BYTES: usize = 1_024;
/// Longest name in a path, in bytes: every common file system can hold it on export.
pub const SEGMENT_BYTES: usize = 255;
/// Most names in a path, `memories` included.
pub const SEGMENTS: usize = 20;
/// Largest `path_bytes` in a policy.
pub const PATH_BYTES_MAX: usize = 4_096;

/// Most rounds of percent-decoding before the path is refused as a disguise.
const DECODE_ROUNDS_MAX: usize = 8;

/// A canonical path: `/memories` or below it, in Unicode NFC, with no empty, `.` or `..` segment.
///
/// Only its text counts; it is not resolved on any disk.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryPath(String);

/// The reasons to refuse a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathFault {
    /// It is neither `/memories` nor below it.
    Outside,
    /// It contains a `..` in some spelling.
    Escapes,
    /// It contains this forbidden character.
    Forbidden(&'static str),
    /// It exceeds this limit.
    TooLong(String),
}

impl MemoryPath {
    /// Returns the directory `/memories`.
    #[must_use]
    pub fn root() -> Self {
        Self(ROOT.into())
    }

    /// Parses a caller's path under the rules for new memories. `bytes_max` is the policy's limit.
    pub(crate) fn parse(text: &str, bytes_max: usize) -> Result<Self, PathFault> {
        Self::parse_without(forbidden, text, bytes_max)
    }

    /// Parses a path under the rules for existing memories: stores of earlier versions have names
    /// with blanks and invisible characters that are forbidden in new ones.
    pub(crate) fn parse_kept(text: &str, bytes_max: usize) -> Result<Self, PathFault> {
        Self::parse_without(always_forbidden, text, bytes_max)
    }

    fn parse_without(
        forbidden: Forbidden,
        text: &str,
        bytes_max: usize,
    ) -> Result<Self, PathFault> {
        // Checked before any scan, and again on the NFC form below.
        if text.len() > 4 * bytes_max {
            return Err(too_long(bytes_max));
        }
        if let Some(what) = text.chars().find_map(forbidden) {
            return Err(PathFault::Forbidden(what));
        }
        let below = text.strip_prefix(ROOT).ok_or(PathFault::Outside)?;
        if !below.is_empty() && !below.starts_with('/') {
            return Err(PathFault::Outside);
        }
        refuse_traversal(text, forbidden)?;
        let mut path = String::from(ROOT);
        for segment in below.split('/').filter(|s| !s.is_empty() && *s != ".") {
            path.push('/');
            if segment.is_ascii() {
                path.push_str(segment);
            } else {
                path.extend(segment.nfc());
            }
        }
        Self::measured(path, bytes_max)
    }

    /// Parses a path that a memory may have, under the memory tool's rules; `None` if it is
    /// invalid. A store's policy may allow fewer bytes.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        Self::parse_kept(text, PATH_BYTES).ok()
    }

    /// Wraps a path that this store sealed, which was canonical when written.
    pub(crate) fn from_canonical(path: String) -> Self {
        Self(path)
    }

    /// Moves the path of a memory along with its directory, from `from` to `to`.
    pub(crate) fn moved(
        &self,
        from: &Self,
        to: &Self,
        bytes_max: usize,
    ) -> Result<Self, PathFault> {
        Self::measured(format!("{}{}", to.0, &self.0[from.0.len()..]), bytes_max)
    }

    fn measured(path: String, bytes_max: usize) -> Result<Self, PathFault> {
        if path.len() > bytes_max {
            return Err(too_long(bytes_max));
        }
        if path.split('/').skip(1).count() > SEGMENTS {
            return Err(PathFault::TooLong(format!(
                "a path has at most {SEGMENTS} segments"
            )));
        }
        if path.split('/').any(|s| s.len() > SEGMENT_BYTES) {
            return Err(PathFault::TooLong(format!(
                "a name in a path has at most {SEGMENT_BYTES} bytes"
            )));
        }
        Ok(Self(path))
    }

    /// Returns the canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether this is `/memories` itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0 == ROOT
    }

    /// Tells whether this path is strictly below `directory`.
    #[must_use]
    pub fn is_below(&self, directory: &Self) -> bool {
        self.0
            .strip_prefix(directory.as_str())
            .is_some_and(|rest| rest.starts_with('/'))
    }

    /// Returns the path relative to `/memories`, without a leading slash.
    #[must_use]
    pub fn relative(&self) -> &str {
        self.0[ROOT.len()..].trim_start_matches('/')
    }

    /// Iterates over all directories above this path, nearest first, without the root.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = Self> + '_ {
        let inside = ROOT.len() + 1;
        self.0
            .rmatch_indices('/')
            .map(|(at, _)| at)
            .filter(move |at| *at >= inside)
            .map(|at| Self(self.0[..at].to_owned()))
    }
}

/// Writes the canonical text, for answers.
impl Serialize for MemoryPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Keeps paths out of logs: `Debug` hides the path.
impl std::fmt::Debug for MemoryPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MemoryPath(…)")
    }
}

/// Escapes forbidden characters in a caller's path.
pub(crate) fn visible(text: &str) -> String {
    text.chars()
        .fold(String::with_capacity(text.len()), |mut out, c| {
            if forbidden(c).is_some() && c != '\\' {
                out.extend(c.escape_unicode());
            } else {
                out.push(c);
            }
            out
        })
}

fn too_long(bytes_max: usize) -> PathFault {
    PathFault::TooLong(format!("a path has at most {bytes_max} bytes"))
}

/// Returns the reason why a character is forbidden in paths, if it is.
type Forbidden = fn(char) -> Option<&'static str>;

/// Returns the reason why a character is forbidden in new paths, if it is.
fn forbidden(c: char) -> Option<&'static str> {
    always_forbidden(c).or_else(|| match c {
        // Unicode calls it a symbol, but it is drawn as a blank.
        '\u{2800}' => Some(BLANK),
        ' ' => None,
        c if c.is_whitespace() => Some(BLANK),
        c if is_ignorable(c) => Some("an invisible character"),
        _ => None,
    })
}

const BLANK: &str = "a blank that is no plain space";

/// Returns the reason why a character was always forbidden, if it was.
fn always_forbidden(c: char) -> Option<&'static str> {
    match c {
        '\\' => Some("a backslash"),
        '\0' => Some("a NUL"),
        '\u{2028}' | '\u{2029}' => Some("a line or paragraph separator"),
        // Bidi controls (Unicode UAX #9) reorder the visible text.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}' => {
            Some("a text-direction control")
        }
        // Interlinear annotations, which Unicode does not call ignorable.
        '\u{fff9}'..='\u{fffb}' => Some("an invisible character"),
        c if c.is_control() => Some("a control character"),
        c if is_ignorable(c) && !LATER_FORBIDDEN.iter().any(|range| range.contains(&c)) => {
            Some("an invisible character")
        }
        _ => None,
    }
}

/// Tells whether a character is invisible: it would make two different names look alike.
fn is_ignorable(c: char) -> bool {
    let after = IGNORABLE.partition_point(|(first, _)| *first <= c);
    after.checked_sub(1).is_some_and(|at| c <= IGNORABLE[at].1)
}

/// `Default_Ignorable_Code_Point` (Unicode 16, DerivedCoreProperties.txt), in order. Emoji with a
/// joiner or a variation selector are therefore not allowed in names.
const IGNORABLE: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Ignorable characters that earlier versions allowed: variation selectors, and controls of
/// shorthand and of music.
const LATER_FORBIDDEN: [RangeInclusive<char>; 3] = [
    '\u{fe00}'..='\u{fe0f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
];

/// Refuses `..` in every spelling that a later reader of the path might decode: nested
/// percent-encoding, compatibility characters (`‥`, full-width dots) and slash look-alikes.
fn refuse_traversal(text: &str, forbidden: Forbidden) -> Result<(), PathFault> {
    if has_parent_segment(text) {
        return Err(PathFault::Escapes);
    }
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..DECODE_ROUNDS_MAX {
        let Some(decoded) = percent_decoded(&bytes)? else {
            return Ok(());
        };
        bytes = decoded;
        match std::str::from_utf8(&bytes) {
            Ok(text) if has_parent_segment(text) => return Err(PathFault::Escapes),
            Ok(text) if text.chars().any(|c| forbidden(c).is_some()) => {
                return Err(PathFault::Forbidden(
                    "a percent-encoded character of that kind",
                ));
            }
            Ok(_) => {}
            Err(_) if is_overlong(&bytes) => return Err(PathFault::Escapes),
            Err(_) => {
                return Err(PathFault::Forbidden(
                    "percent-encoded bytes that are no text",
                ));
            }
        }
    }
    Err(PathFault::Escapes)
}

/// Tells whether bytes contain an overlong form such as `%c0%ae`, an old spelling of a dot.
fn is_overlong(bytes: &[u8]) -> bool {
    let three = |w: &[u8]| w[0] == 0xe0 && (0x80..0xa0).contains(&w[1]);
    let four = |w: &[u8]| w[0] == 0xf0 && (0x80..0x90).contains(&w[1]);
    bytes.iter().any(|b| matches!(b, 0xc0 | 0xc1)) || bytes.windows(2).any(|w| three(w) || four(w))
}

fn has_parent_segment(text: &str) -> bool {
    if text.is_ascii() {
        return text
            .split(['/', '\\'])
            .any(|segment| segment.trim() == "..");
    }
    let folded: String = text
        .nfkc()
        .map(|c| match c {
            '\u{2215}' | '\u{2044}' | '\u{29f8}' | '\u{ff0f}' | '\\' => '/',
            c => c,
        })
        .collect();
    folded.split('/').any(|segment| segment.trim() == "..")
}

/// Decodes one layer of `%xx` and `%uxxxx`; `None` if there is none. An escape for a separator or a
/// dot is refused at once, in any position.
fn percent_decoded(bytes: &[u8]) -> Result<Option<Vec<u8>>, PathFault> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    let mut found = false;
    while let Some((&first, tail)) = rest.split_first() {
        let escape = (first == b'%').then(|| escape(tail)).flatten();
        let Some((decoded, length)) = escape else {
            out.push(first);
            rest = tail;
            continue;
        };
        if matches!(decoded, '.' | '/' | '\\') {
            return Err(PathFault::Escapes);
        }
        match u8::try_from(u32::from(decoded)) {
            Ok(byte) if length == 2 => out.push(byte),
            _ => out.extend(decoded.encode_utf8(&mut [0; 4]).bytes()),
        }
        found = true;
        rest = &tail[length..];
    }
    Ok(found.then_some(out))
}

/// Reads the character code after a `%`, and the bytes consumed.
fn escape(tail: &[u8]) -> Option<(char, usize)> {
    let (digits, length) = match tail.first() {
        Some(b'u' | b'U') => (tail.get(1..5)?, 5),
        _ => (tail.get(..2)?, 2),
    };
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let digits = std::str::from_utf8(digits).ok()?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some((char::from_u32(code)?, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<MemoryPath, PathFault> {
        MemoryPath::parse(text, 1_024)
    }

    #[test]
    fn one_canonical_form() {
        for (given, canonical) in [
            ("/memories", "/memories"),
            ("/memories/", "/memories"),
            ("/memories/.", "/memories"),
            ("/memories//./a///b/.", "/memories/a/b"),
            ("/memories/a..b", "/memories/a..b"),
            ("/memories/..foo", "/memories/..foo"),
            ("/memories/...", "/memories/..."),
            ("/memories/.hidden", "/memories/.hidden"),
            ("/memories/e\u{301}.md", "/memories/\u{e9}.md"),
            ("/memories/100%", "/memories/100%"),
            ("/memories/50%20off", "/memories/50%20off"),
            ("/memories/100%25", "/memories/100%25"),
            ("/memories/日本 é.md", "/memories/日本 é.md"),
            ("/memories/❤.md", "/memories/❤.md"),
        ] {
            assert_eq!(parse(given).expect(given).as_str(), canonical);
        }
    }

    #[test]
    fn outside_is_outside() {
        for bad in [
            "",
            "/",
            "memories/x",
            "/memoriesx",
            "/memories_backup/x",
            "/MEMORIES/x",
            "//memories/x",
            "/./memories/x",
            "/etc/passwd",
            " /memories/x",
            "~/memories/x",
            "file:///memories/x",
        ] {
            assert_eq!(parse(bad), Err(PathFault::Outside), "{bad}");
        }
    }

    #[test]
    fn traversal_in_every_spelling() {
        for bad in [
            "/memories/..",
            "/memories/../x",
            "/memories/a/../b",
            "/memories/ .. /x",
            "/memories/%2e%2e/x",
            "/memories/%2E./x",
            "/memories/..%2fx",
            "/memories/a%2fb",
            "/memories/%5c..%5cx",
            "/memories/%252e%252e/x",
            "/memories/%25252e%25252e%25252fx",
            "/memories/%u002e%u002e/x",
            "/memories/%c0%ae%c0%ae/x",
            "/memories/%e0%80%ae/x",
            "/memories/\u{2025}/x",
            "/memories/\u{ff0e}\u{ff0e}/x",
            "/memories/..\u{2215}x",
            "/memories/..\u{ff0f}x",
            "/memories/%ef%bc%8e%ef%bc%8e/x",
        ] {
            assert_eq!(parse(bad), Err(PathFault::Escapes), "{bad}");
        }
        let deep = format!("/memories/%{}41", "25".repeat(40));
        assert!(parse(&deep).is_err());
    }

    #[test]
    fn characters_that_fool_a_reader() {
        for bad in [
            "/memories/a\\b",
            "/memories\\..\\x",
            "/memories/a\0b",
            "/memories/a\nb",
            "/memories/a\u{7f}b",
            "/memories/a\u{85}b",
            "/memories/a\u{202e}b",
            "/memories/a\u{200b}b",
            "/memories/a\u{feff}b",
            "/memories/a\u{2028}b",
            "/memories/a\u{ad}b",
            "/memories/a%00b",
            "/memories/a%0ab",
            "/memories/a%2500b",
            "/memories/a%e2%80%aeb",
            "/memories/a\u{a0}b",
            "/memories/a\u{2003}b",
            "/memories/\u{3000}/b",
            "/memories/a\u{2800}b",
            "/memories/a%c2%a0b",
            "/memories/❤\u{fe0f}.md",
            "/memories/a\u{e0101}b",
            "/memories/a\u{1d173}b",
            "/memories/👩\u{200d}💻.md",
        ] {
            assert!(matches!(parse(bad), Err(PathFault::Forbidden(_))), "{bad}");
        }
    }

    #[test]
    fn every_character_that_unicode_says_is_not_seen_is_refused() {
        let unseen =
            fancy_regex::Regex::new(r"^[\p{Default_Ignorable_Code_Point}\p{White_Space}]$");
        let unseen = unseen.expect("a pattern");
        let mut found = 0;
        for c in ('\0'..=char::MAX).filter(|c| *c != ' ') {
            let is_unseen = unseen
                .is_match(c.encode_utf8(&mut [0; 4]))
                .expect("matched");
            found += u32::from(is_unseen);
            assert!(
                !is_unseen || forbidden(c).is_some(),
                "{}",
                c.escape_unicode()
            );
        }
        assert!(found > 4_000, "{found}");
    }

    #[test]
    fn what_an_earlier_version_let_through_is_still_a_path() {
        for kept in [
            "a\u{a0}b",
            "a\u{3000}b",
            "❤\u{fe0f}.md",
            "a\u{e000}",
            "a%c2%a0b",
        ] {
            let path = format!("/memories/{kept}");
            let parsed = MemoryPath::parse_kept(&path, 1_024).expect("kept");
            assert_eq!(parsed.as_str(), path);
        }
        for never in [
            "a\u{200b}b",
            "a\u{202e}b",
            "a\u{e0101}b",
            "a\u{ad}b",
            "a\u{85}b",
        ] {
            let path = format!("/memories/{never}");
            assert!(MemoryPath::parse_kept(&path, 1_024).is_err(), "{never:?}");
        }
    }

    #[test]
    fn limits_are_on_the_canonical_form() {
        let name = |n: usize| format!("/memories/{}", "n".repeat(n));
        assert!(parse(&name(255)).is_ok());
        assert!(matches!(parse(&name(256)), Err(PathFault::TooLong(_))));
        let deep = |n: usize| format!("/memories{}", "/d".repeat(n));
        assert!(parse(&deep(19)).is_ok());
        assert!(matches!(parse(&deep(20)), Err(PathFault::TooLong(_))));
        let long = format!("/memories{}", format!("/{}", "x".repeat(200)).repeat(6));
        assert!(matches!(parse(&long), Err(PathFault::TooLong(_))));
        assert!(parse(&format!("/memories{}x", "/".repeat(900))).is_ok());
    }

    #[test]
    fn ancestors_stop_below_the_root() {
        let path = parse("/memories/a/b/c").expect("valid");
        let above: Vec<_> = path.ancestors().map(|p| p.0).collect();
        assert_eq!(above, ["/memories/a/b", "/memories/a"]);
        assert_eq!(parse("/memories/a").expect("valid").ancestors().count(), 0);
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_canonical(text in "/memories(/[a-c.% ée\u{301}０．/]{0,6}){0,4}") {
            if let Ok(path) = parse(&text) {
                let again = parse(path.as_str());
                prop_assert_eq!(again.as_ref(), Ok(&path));
                prop_assert!(path.as_str().split('/').all(|s| s != ".." && s != "."));
            }
        }

        #[test]
        fn no_text_breaks_the_parser(text in any::<String>()) {
            let _ = parse(&text);
            let _ = parse(&format!("/memories/{text}"));
            let _ = visible(&text);
        }
    }
}
