//! Character classes between brackets.

use regex::bytes::Regex;

use crate::gitleaks::go::{Last, PatternReader, PatternRefusal, Rewrite};

/// A class that is being read.
#[derive(Default)]
struct CharClass {
    items: Vec<Item>,
    /// Set if it names characters beyond ASCII, so that Unicode must be on.
    wide: bool,
}

/// An item of a class.
enum Item {
    /// A character as it stands in the pattern.
    Raw(char),
    /// A range, an escape or a named class, as it is written.
    Text(String),
    /// The letter of `\d`, `\s`, `\w` or their opposites.
    Perl(char),
}

/// An end of a range, or a character alone.
struct End {
    c: char,
    /// Its spelling; `None` for a character as it stands in the pattern.
    text: Option<String>,
}

impl PatternReader<'_> {
    /// Reads a class from `[` to `]`.
    pub(super) fn class(&mut self) -> Result<(), PatternRefusal> {
        let start = self.at;
        self.at += 1;
        let negated = self.peek() == Some('^');
        if negated {
            self.at += 1;
        }
        let mut class = CharClass::default();
        loop {
            match self.peek() {
                None => return Err(self.refusal(start, "`[` without its `]`")),
                Some(']') if !class.items.is_empty() => break,
                Some(_) => self.class_item(start, &mut class)?,
            }
        }
        self.at += 1;
        self.write_class(&class, negated);
        self.thing(1);
        Ok(())
    }

    fn class_item(&mut self, start: usize, class: &mut CharClass) -> Result<(), PatternRefusal> {
        let rest = self.rest();
        if let Some(body) = rest.strip_prefix("[:")
            && let Some((name, _)) = body.split_once(":]")
        {
            if !POSIX.contains(&name.strip_prefix('^').unwrap_or(name)) {
                return Err(self.refusal(self.at, format!("`[:{name}:]`, which is not known")));
            }
            let length = name.len() + 4;
            class.items.push(Item::Text(rest[..length].to_owned()));
            self.at += length;
            return Ok(());
        }
        if let Some(body) = rest.strip_prefix('\\') {
            match body.chars().next() {
                Some('p' | 'P') => {
                    let text = self.unicode_class()?;
                    class.items.push(Item::Text(text));
                    class.wide = true;
                    return Ok(());
                }
                Some(c @ ('d' | 'D' | 's' | 'S' | 'w' | 'W')) => {
                    class.items.push(Item::Perl(c));
                    self.at += 2;
                    return Ok(());
                }
                _ => {}
            }
        }
        let low = self.class_end(start)?;
        class.wide |= !low.c.is_ascii();
        let mut after = self.rest().chars();
        if after.next() != Some('-') || matches!(after.next(), None | Some(']')) {
            class.items.push(match low.text {
                None => Item::Raw(low.c),
                Some(text) => Item::Text(text),
            });
            return Ok(());
        }
        self.at += 1;
        let high = self.class_end(start)?;
        class.wide |= !high.c.is_ascii();
        if low.c > high.c {
            let why = format!("the range from {:?} to {:?} is empty", low.c, high.c);
            return Err(self.refusal(self.at, why));
        }
        let text = format!("{}-{}", self.range_end(low), self.range_end(high));
        class.items.push(Item::Text(text));
        Ok(())
    }

    /// Reads a character in a class that began at `start`.
    fn class_end(&mut self, start: usize) -> Result<End, PatternRefusal> {
        match self.peek() {
            None => Err(self.refusal(start, "`[` without its `]`")),
            Some('\\') => {
                let escaped = self.escaped()?;
                let text = if escaped.c.is_ascii() {
                    escaped.text
                } else {
                    escaped.c.to_string()
                };
                Ok(End {
                    c: escaped.c,
                    text: Some(text),
                })
            }
            Some(c) => {
                self.at += c.len_utf8();
                Ok(End { c, text: None })
            }
        }
    }

    /// Spells an end of a range.
    fn range_end(&mut self, end: End) -> String {
        match end.text {
            Some(text) => text,
            None if matches!(end.c, '[' | ']' | '^' | '-' | '&' | '~') => {
                self.changes.insert(Rewrite::Sign);
                format!("\\{}", end.c)
            }
            None => end.c.to_string(),
        }
    }

    fn write_class(&mut self, class: &CharClass, negated: bool) {
        if class.wide {
            self.out.push_str("(?u:");
            self.changes.insert(Rewrite::Unicode);
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        let last = class.items.len() - 1;
        for (index, item) in class.items.iter().enumerate() {
            match item {
                Item::Text(text) => self.out.push_str(text),
                Item::Perl(letter) => {
                    if matches!(letter, 's' | 'S') {
                        self.changes.insert(Rewrite::Space);
                    }
                    self.out.push_str(&perl(*letter, class.wide));
                }
                Item::Raw(c) => {
                    let edge = index == 0 || index == last;
                    let twin = index > 0
                        && matches!(class.items[index - 1], Item::Raw(before) if before == *c);
                    let change = match c {
                        '[' => Some(Rewrite::Bracket),
                        '-' if !edge || twin => Some(Rewrite::Sign),
                        '&' | '~' if twin => Some(Rewrite::Sign),
                        _ => None,
                    };
                    if let Some(change) = change {
                        self.out.push('\\');
                        self.changes.insert(change);
                    }
                    self.out.push(*c);
                }
            }
        }
        self.out.push(']');
        if class.wide {
            self.out.push(')');
        }
    }
}

/// Spells `\d` and its like inside a class: as ASCII, with Unicode on or off.
fn perl(letter: char, wide: bool) -> String {
    let members = match letter {
        's' | 'S' => SPACES,
        _ if !wide => return format!("\\{letter}"),
        'd' | 'D' => "0-9",
        _ => "0-9A-Za-z_",
    };
    if letter.is_ascii_uppercase() {
        format!("[^{members}]")
    } else {
        members.to_owned()
    }
}

/// The classes that have a name between `[:` and `:]`.
const POSIX: &[&str] = &[
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

// Escapes, which begin with a backslash.

/// The characters of `\s` in Go, as they are written inside a class.
pub(super) const SPACES: &str = "\\t\\n\\x0C\\r ";

/// An escaped character, and its spelling if it is ASCII.
pub(super) struct Escaped {
    pub(super) c: char,
    pub(super) text: String,
}

impl PatternReader<'_> {
    /// Reads a backslash outside a class.
    pub(super) fn backslash(&mut self) -> Result<(), PatternRefusal> {
        match self.rest()[1..].chars().next() {
            Some('A' | 'z' | 'b' | 'B' | 'd' | 'D' | 'w' | 'W') => {
                self.keep(2);
                self.thing(1);
            }
            Some(c @ ('s' | 'S')) => {
                self.at += 2;
                let not = if c == 'S' { "^" } else { "" };
                self.out.extend(["[", not, SPACES, "]"]);
                self.changes.insert(Rewrite::Space);
                self.thing(1);
            }
            Some('p' | 'P') => {
                let class = self.unicode_class()?;
                self.out.extend(["(?u:", &class, ")"]);
                self.thing(1);
            }
            Some('Q') => self.quote(),
            Some('C') => {
                let why = "`\\C`, a single byte, which Go does not know either";
                return Err(self.refusal(self.at, why));
            }
            _ => {
                let escaped = self.escaped()?;
                if escaped.c.is_ascii() {
                    self.out.push_str(&escaped.text);
                    self.thing(1);
                } else {
                    self.changes.insert(Rewrite::Unicode);
                    self.literal(escaped.c);
                }
            }
        }
        Ok(())
    }

    /// Reads `\Q...\E`, or `\Q` to the end.
    fn quote(&mut self) {
        let body = &self.rest()[2..];
        let (quoted, skipped) = match body.split_once("\\E") {
            Some((quoted, _)) => (quoted, 4),
            None => (body, 2),
        };
        self.at += quoted.len() + skipped;
        self.changes.insert(Rewrite::Quote);
        if quoted.is_empty() && matches!(self.last, Last::Repetition) {
            // For Go the repetitions before and after are no longer side by side.
            self.last = Last::Thing(self.repeats);
        }
        for c in quoted.chars() {
            if regex::escape(c.encode_utf8(&mut [0; 4])).len() > c.len_utf8() {
                self.out.push('\\');
            }
            self.literal(c);
        }
    }

    /// Reads a backslash and the character that it stands for, inside a class or outside.
    pub(super) fn escaped(&mut self) -> Result<Escaped, PatternRefusal> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.take() else {
            return Err(self.refusal(start, "a backslash with nothing after it"));
        };
        let c = match c {
            '0'..='7' => return self.octal(start, c),
            'x' => self.hexadecimal(start)?,
            'a' => '\x07',
            'f' => '\x0C',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0B',
            '<' | '>' => {
                self.changes.insert(Rewrite::Angle);
                let text = c.to_string();
                return Ok(Escaped { c, text });
            }
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => c,
            c => return Err(self.refusal(start, format!("`\\{c}`, which Go does not know"))),
        };
        let text = self.text[start..self.at].to_owned();
        Ok(Escaped { c, text })
    }

    /// Reads a number of up to three octal digits. A single digit other than 0 would refer to a
    /// group.
    fn octal(&mut self, start: usize, first: char) -> Result<Escaped, PatternRefusal> {
        let mut value = first.to_digit(8).unwrap_or(0);
        let mut digits = 1;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) {
            if digits == 3 {
                break;
            }
            value = value * 8 + digit;
            digits += 1;
            self.at += 1;
        }
        if digits == 1 && first != '0' {
            let why = format!("`\\{first}`, a reference to a group, which Go does not know");
            return Err(self.refusal(start, why));
        }
        self.changes.insert(Rewrite::Octal);
        let c = char::from_u32(value).unwrap_or('\0');
        let text = format!("\\x{value:02X}");
        Ok(Escaped { c, text })
    }

    /// Reads the number behind `\x`: two digits, or any number of them between braces.
    fn hexadecimal(&mut self, start: usize) -> Result<char, PatternRefusal> {
        let rest = self.rest();
        let (digits, length) = match rest.strip_prefix('{') {
            Some(body) => match body.split_once('}') {
                Some((digits, _)) => (digits, digits.len() + 2),
                None => return Err(self.refusal(start, "`\\x{` without its `}`")),
            },
            None => (rest.get(..2).unwrap_or(""), 2),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(self.refusal(start, "`\\x` without its digits"));
        }
        self.at += length;
        let significant = digits.trim_start_matches('0');
        let value = match significant {
            "" => Some(0),
            _ => u32::from_str_radix(significant, 16).ok(),
        };
        value
            .and_then(char::from_u32)
            .ok_or_else(|| self.refusal(start, "`\\x` with a number that no character has"))
    }

    /// Reads `\pN`, `\p{Name}`, `\P{Name}` or `\p{^Name}`, and spells it for a pattern with Unicode
    /// on.
    pub(super) fn unicode_class(&mut self) -> Result<String, PatternRefusal> {
        let start = self.at;
        let mut negated = self.rest().starts_with("\\P");
        let body = &self.rest()[2..];
        let (mut name, length) = match body.strip_prefix('{') {
            Some(inner) => match inner.split_once('}') {
                Some((name, _)) => (name, name.len() + 4),
                None => return Err(self.refusal(start, "`\\p{` without its `}`")),
            },
            None => match body.chars().next() {
                Some(c) => (&body[..c.len_utf8()], 2 + c.len_utf8()),
                None => return Err(self.refusal(start, "`\\p` without a name")),
            },
        };
        self.at += length;
        if let Some(rest) = name.strip_prefix('^') {
            negated = !negated;
            name = rest;
        }
        self.changes.insert(Rewrite::Unicode);
        let p = if negated { "\\P" } else { "\\p" };
        if name == "Any" {
            return Ok(format!("{p}{{any}}"));
        }
        if name == "C" {
            // The `regex` crate also counts characters that are not assigned.
            let not = if negated { "^" } else { "" };
            return Ok(format!("[{not}\\p{{Cc}}\\p{{Cf}}\\p{{Co}}]"));
        }
        if CATEGORIES.contains(&name) {
            return Ok(format!("{p}{{{name}}}"));
        }
        if is_script(name) {
            return Ok(format!("{p}{{sc={name}}}"));
        }
        Err(self.refusal(start, format!("`\\p{{{name}}}`, which is not known")))
    }
}

/// The general categories that Go names.
const CATEGORIES: &[&str] = &[
    "Cc", "Cf", "Co", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl",
    "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl",
    "Zp", "Zs",
];

/// Tells whether the `regex` crate knows a script of that name.
fn is_script(name: &str) -> bool {
    name.len() > 2
        && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
        && Regex::new(&format!("\\p{{sc={name}}}")).is_ok()
}
