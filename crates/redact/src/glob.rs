//! Globs over paths, as the owner writes them.
//!
//! | written | fits |
//! |---|---|
//! | `?` | one character |
//! | `*` | any characters, also none |
//! | `[a-z]`, `[!a-z]` | one of these characters; any other character |
//! | `**` for a whole segment | any segments, also none; at the end at least one |
//! | `{a,b}` | what the glob fits with `a` in its place, or with `b` |
//! | `\*` | the character behind it |
//!
//! Nothing but `**` fits a `/`. Letters are compared in Unicode NFC, as they stand in paths.

use unicode_normalization::UnicodeNormalization;

use crate::Fault;

/// Longest glob, in bytes.
const BYTES_MAX: usize = 4096;
/// Most choices from the braces of one glob.
const WAYS_MAX: usize = 256;
/// Most levels of braces within braces.
const DEPTH_MAX: usize = 8;
/// Most characters of a glob that a message shows.
const SHOWN_MAX: usize = 200;

/// A glob over whole paths, `/memories` included. It has one list of segments for each choice from
/// its braces.
pub struct Glob(Vec<Vec<Segment>>);

enum Segment {
    /// `**`
    Any,
    Named(Vec<Piece>),
}

/// A pattern for a part of a segment.
#[derive(Clone)]
enum Piece {
    /// This character.
    One(char),
    /// `?`
    Any,
    /// `*`
    Run,
    /// `[…]`: a character in these ranges or, if negated, in none of them.
    Class(bool, Vec<(char, char)>),
}

/// A part of a glob as it is written.
#[derive(Clone)]
enum Sign {
    Piece(Piece),
    Slash,
    Open,
    Comma,
    Close,
}

impl Glob {
    /// Reads a glob.
    ///
    /// # Errors
    /// A [`Fault`] that says why it does not parse.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        Self::read(text).map_err(|why| Fault { line: None, why })
    }

    /// Checks that a glob parses.
    ///
    /// # Errors
    /// The reason why it does not.
    pub fn check(text: &str) -> Result<(), String> {
        Self::read(text).map(drop)
    }

    fn read(text: &str) -> Result<Self, String> {
        if text.len() > BYTES_MAX {
            return Err(fault(text, &format!("it has more than {BYTES_MAX} bytes")));
        }
        let ways =
            signs(&text.nfc().collect::<String>()).and_then(|signs| ways(&mut signs.as_slice()));
        let ways = ways.map_err(|why| fault(text, &why))?;
        Ok(Self(ways.iter().map(|way| segments(way)).collect()))
    }

    /// Tells whether the glob fits a whole path.
    #[must_use]
    pub fn fits(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        self.0.iter().any(|way| fits_names(way, &names))
    }

    /// Tells whether the glob fits any path that begins with `/` and the name of the root, and has
    /// more names behind it. `is_name` tells whether a path can have a literal name.
    #[must_use]
    pub fn fits_below(&self, root: &str, is_name: impl Fn(&str) -> bool) -> bool {
        (self.0.iter()).any(|way| fits_some_path(way, root, &is_name))
    }
}

fn fault(glob: &str, why: &str) -> String {
    let shown = match glob.char_indices().nth(SHOWN_MAX) {
        None => glob.to_owned(),
        Some((at, _)) => format!("{}… ({} bytes)", &glob[..at], glob.len()),
    };
    format!("the glob `{shown}`: {why}")
}

/// Splits a glob into its signs.
fn signs(text: &str) -> Result<Vec<Sign>, String> {
    let mut rest = text.chars();
    let mut signs = Vec::new();
    let mut depth = 0_usize;
    while let Some(c) = rest.next() {
        signs.push(match c {
            '?' => Sign::Piece(Piece::Any),
            '*' => Sign::Piece(Piece::Run),
            '[' => Sign::Piece(class(&mut rest)?),
            '/' => Sign::Slash,
            '{' => {
                depth += 1;
                Sign::Open
            }
            ',' if depth > 0 => Sign::Comma,
            '}' => {
                depth = depth.checked_sub(1).ok_or("a `}` closes nothing")?;
                Sign::Close
            }
            '\\' => match rest.next().ok_or("nothing stands behind its last `\\`")? {
                '/' => Sign::Slash,
                meant => Sign::Piece(Piece::One(meant)),
            },
            other => Sign::Piece(Piece::One(other)),
        });
        if depth > DEPTH_MAX {
            return Err(format!("it has more than {DEPTH_MAX} braces in each other"));
        }
    }
    match depth {
        0 => Ok(signs),
        _ => Err("a `{` is not closed".into()),
    }
}

/// Reads the class behind a `[`.
fn class(rest: &mut std::str::Chars<'_>) -> Result<Piece, String> {
    let open = || "a `[` is not closed".to_owned();
    let mut next = || rest.next().ok_or_else(open);
    let mut c = next()?;
    let negated = matches!(c, '!' | '^');
    if negated {
        c = next()?;
    }
    let mut ranges: Vec<(char, char)> = Vec::new();
    // A bracket in first place is one of the characters, and so is a dash that ends no range.
    loop {
        let low = c;
        c = next()?;
        if c == '-' {
            c = next()?;
            if c == ']' {
                ranges.extend([(low, low), ('-', '-')]);
            } else if low > c {
                return Err(format!("in `{low}-{c}` the first comes after the last"));
            } else {
                ranges.push((low, c));
                c = next()?;
            }
        } else {
            ranges.push((low, low));
        }
        if c == ']' {
            return Ok(Piece::Class(negated, ranges));
        }
    }
}

/// Returns every choice from the braces, up to the sign that ends this part of the glob.
fn ways(rest: &mut &[Sign]) -> Result<Vec<Vec<Sign>>, String> {
    let mut ways = vec![Vec::new()];
    while let Some((sign, after)) = rest.split_first() {
        match sign {
            Sign::Comma | Sign::Close => break,
            Sign::Open => {
                let choices = choices(rest)?;
                if ways.len() * choices.len() > WAYS_MAX {
                    return Err(format!("its braces stand for more than {WAYS_MAX} globs"));
                }
                let with = |way: &Vec<Sign>| {
                    let way = way.clone();
                    choices
                        .iter()
                        .map(move |choice| [&way[..], choice].concat())
                };
                ways = ways.iter().flat_map(with).collect();
            }
            plain => {
                *rest = after;
                for way in &mut ways {
                    way.push(plain.clone());
                }
            }
        }
    }
    Ok(ways)
}

/// Returns the choices between a brace and the one that closes it.
fn choices(rest: &mut &[Sign]) -> Result<Vec<Vec<Sign>>, String> {
    let mut choices = Vec::new();
    while !matches!(rest.first(), None | Some(Sign::Close)) {
        // Skips the brace that opens, or a comma.
        *rest = &rest[1..];
        choices.extend(ways(rest)?);
    }
    *rest = rest.get(1..).unwrap_or_default();
    Ok(choices)
}

fn segments(way: &[Sign]) -> Vec<Segment> {
    let segment = |signs: &[Sign]| match signs {
        [Sign::Piece(Piece::Run), Sign::Piece(Piece::Run)] => Segment::Any,
        signs => {
            let pieces = signs.iter().filter_map(|sign| match sign {
                Sign::Piece(piece) => Some(piece.clone()),
                _ => None,
            });
            Segment::Named(pieces.collect())
        }
    };
    let parts = way.split(|sign| matches!(sign, Sign::Slash));
    let mut segments: Vec<_> = parts.map(segment).collect();
    if segments.len() > 1 && matches!(segments.last(), Some(Segment::Any)) {
        // A `**` at the end fits the names below a directory, but not the directory.
        segments.insert(segments.len() - 1, Segment::Named(vec![Piece::Run]));
    }
    segments
}

fn fits_names(segments: &[Segment], names: &[&str]) -> bool {
    let one = |segment: &Segment, name: &&str| match segment {
        Segment::Any => true,
        Segment::Named(pieces) => fits_name(pieces, name),
    };
    matches_all(
        segments,
        names,
        |segment| matches!(segment, Segment::Any),
        one,
    )
}

fn fits_name(pieces: &[Piece], name: &str) -> bool {
    let one = |piece: &Piece, c: &char| match piece {
        Piece::One(own) => own == c,
        Piece::Any | Piece::Run => true,
        Piece::Class(negated, ranges) => {
            *negated != ranges.iter().any(|(low, high)| (low..=high).contains(&c))
        }
    };
    let name: Vec<char> = name.chars().collect();
    matches_all(pieces, &name, |piece| matches!(piece, Piece::Run), one)
}

/// Tells whether a pattern fits all of `items`, where `is_run` parts fit any number of them. Going
/// back to the last run is enough: the items of earlier runs never have to change.
fn matches_all<P, T>(
    pattern: &[P],
    items: &[T],
    is_run: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut i) = (0, 0);
    let mut last_run = None;
    loop {
        match pattern.get(p) {
            Some(run) if is_run(run) => {
                last_run = Some((p, i));
                p += 1;
                continue;
            }
            None if i == items.len() => return true,
            Some(part) if i < items.len() && fits(part, &items[i]) => {
                (p, i) = (p + 1, i + 1);
                continue;
            }
            _ => {}
        }
        match last_run {
            Some((run, taken)) if taken < items.len() => {
                last_run = Some((run, taken + 1));
                (p, i) = (run + 1, taken + 1);
            }
            _ => return false,
        }
    }
}

/// Tells whether the segments fit some path: an empty name, the root's name, and one or more names.
fn fits_some_path(segments: &[Segment], root: &str, is_name: &impl Fn(&str) -> bool) -> bool {
    // The numbers of parts of a path that can have been taken so far; the last number stands for
    // all further names.
    let mut taken = [true, false, false, false];
    for segment in segments {
        taken = match segment {
            Segment::Any => {
                let first = taken.iter().position(|at| *at).unwrap_or(taken.len());
                std::array::from_fn(|at| at >= first)
            }
            Segment::Named(pieces) => [
                false,
                taken[0] && fits_name(pieces, ""),
                taken[1] && fits_name(pieces, root),
                (taken[2] || taken[3]) && fits_some_name(pieces, is_name),
            ],
        };
    }
    taken[3]
}

/// Tells whether a path can have a name that the pieces fit.
fn fits_some_name(pieces: &[Piece], is_name: &impl Fn(&str) -> bool) -> bool {
    let literal = pieces.iter().map(|piece| match piece {
        Piece::One(c) => Some(*c),
        _ => None,
    });
    let literal = literal.collect::<Option<String>>();
    literal.is_none_or(|name| is_name(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fits(glob: &str, path: &str) -> bool {
        Glob::parse(glob).expect(glob).fits(path)
    }

    #[test]
    fn what_fits_and_what_does_not() {
        for (glob, yes, no) in [
            ("/memories/a.md", "/memories/a.md", "/memories/aXmd"),
            ("/memories/*", "/memories/a.md", "/memories/d/a.md"),
            ("/memories/*.md", "/memories/.md", "/memories/a.md/b"),
            (
                "/memories/caf?.md",
                "/memories/café.md",
                "/memories/caf/.md",
            ),
            ("/memories/[éa].md", "/memories/é.md", "/memories/b.md"),
            ("/memories/[!a-c]", "/memories/d", "/memories/b"),
            ("/memories/a[!b]c", "/memories/axc", "/memories/a/c"),
            ("/memories/[]-]", "/memories/]", "/memories/["),
            ("/memories/[a-]", "/memories/-", "/memories/b"),
            ("/memories/cafe\u{301}", "/memories/café", "/memories/cafe"),
            ("/memories/d/**", "/memories/d/e/f", "/memories/d"),
            ("/memories/**", "/memories/a", "/memories"),
            ("/memories/**/a", "/memories/a", "/memories/b"),
            ("/memories/**/a", "/memories/x/y/a", "/memories/x/ya"),
            ("**/a", "/memories/x/a", "/memories/xa"),
            ("/memories/{a,b*}", "/memories/bc", "/memories/ac"),
            ("/memories/{a,{b,c}/d}", "/memories/c/d", "/memories/c"),
            ("/memories/{**,x}/a", "/memories/y/z/a", "/memories/y/a/z"),
            ("/memories/a{,.md}", "/memories/a", "/memories/a."),
            (
                "/{memories/a,memories/b}/**",
                "/memories/b/c",
                "/memories/c/b",
            ),
            ("/memories/\\*\\{", "/memories/*{", "/memories/a{"),
            ("/memories/a,b", "/memories/a,b", "/memories/a"),
            ("/memories/*a*b*", "/memories/xaybz", "/memories/xbya"),
        ] {
            assert!(fits(glob, yes), "{glob} {yes}");
            assert!(!fits(glob, no), "{glob} {no}");
        }
        assert!(fits("**", "/memories/a") && fits("**", ""));
    }

    #[test]
    fn what_is_no_glob() {
        let long = format!("/memories/{}", "a".repeat(BYTES_MAX));
        let deep = format!("/memories/{}a{}", "{".repeat(9), "}".repeat(9));
        let wide = format!("/memories/{}", "{a,b}".repeat(9));
        for glob in [
            "/memories/[",
            "/memories/[a",
            "/memories/[!",
            "/memories/[z-a]",
            "/memories/[a-",
            "/memories/{a",
            "/memories/a}",
            "/memories/{a,[}",
            "/memories/\\",
            &long,
            &deep,
            &wide,
        ] {
            assert!(Glob::check(glob).is_err(), "{glob}");
        }
    }

    /// Matches by the definition, with no care for time.
    fn fits_slowly(pieces: &[char], text: &[char]) -> bool {
        match pieces {
            [] => text.is_empty(),
            ['*', rest @ ..] => (0..=text.len()).any(|taken| fits_slowly(rest, &text[taken..])),
            ['?', rest @ ..] => !text.is_empty() && fits_slowly(rest, &text[1..]),
            [c, rest @ ..] => text.first() == Some(c) && fits_slowly(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn a_name_fits_as_defined(glob in "[ab*?é]{0,8}", name in "[abé]{0,8}") {
            let (pieces, text): (Vec<_>, Vec<_>) = (glob.chars().collect(), name.chars().collect());
            prop_assert_eq!(
                fits(&format!("/memories/x{glob}"), &format!("/memories/x{name}")),
                fits_slowly(&pieces, &text)
            );
        }

        #[test]
        fn no_text_breaks_it(glob in "[a/*?\\[\\]{},!\\\\é^-]{0,30}", path in "[a/é]{0,20}") {
            if let Ok(glob) = Glob::parse(&glob) {
                let _ = glob.fits(&path);
            }
        }
    }
}
