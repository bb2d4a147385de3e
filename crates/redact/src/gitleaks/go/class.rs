//! Classes between brackets.

use super::escape::SPACES;
use super::{Change, Reader, Refusal};

/// A class that is being read.
#[derive(Default)]
struct Class {
    items: Vec<Item>,
    /// Whether it names characters beyond ASCII, so that Unicode must be on.
    wide: bool,
}

/// What a class holds.
enum Item {
    /// A character as it stood.
    Raw(char),
    /// A range, an escape or a named class, as it is written.
    Text(String),
    /// The letter of `\d`, `\s`, `\w` or their opposites.
    Perl(char),
}

/// One end of a range, or a character alone.
struct End {
    c: char,
    /// How it is written; `None` for a character as it stood.
    text: Option<String>,
}

impl Reader<'_> {
    /// `[` to `]`.
    pub(super) fn class(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        let negated = self.peek() == Some('^');
        if negated {
            self.at += 1;
        }
        let mut class = Class::default();
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

    fn class_item(&mut self, start: usize, class: &mut Class) -> Result<(), Refusal> {
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

    /// A character in a class that began at `start`.
    fn class_end(&mut self, start: usize) -> Result<End, Refusal> {
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

    /// How an end of a range is written.
    fn range_end(&mut self, end: End) -> String {
        match end.text {
            Some(text) => text,
            None if matches!(end.c, '[' | ']' | '^' | '-' | '&' | '~') => {
                self.changes.insert(Change::Sign);
                format!("\\{}", end.c)
            }
            None => end.c.to_string(),
        }
    }

    fn write_class(&mut self, class: &Class, negated: bool) {
        if class.wide {
            self.out.push_str("(?u:");
            self.changes.insert(Change::Unicode);
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        let last = class.items.len() - 1;
        for (index, item) in class.items.iter().enumerate() {
            match item {
                Item::Text(text) => self.out.push_str(text),
                Item::Perl(letter) => {
                    if matches!(letter, 's' | 'S') {
                        self.changes.insert(Change::Space);
                    }
                    self.out.push_str(&perl(*letter, class.wide));
                }
                Item::Raw(c) => {
                    let edge = index == 0 || index == last;
                    let twin = index > 0
                        && matches!(class.items[index - 1], Item::Raw(before) if before == *c);
                    let change = match c {
                        '[' => Some(Change::Bracket),
                        '-' if !edge || twin => Some(Change::Sign),
                        '&' | '~' if twin => Some(Change::Sign),
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

/// How `\d` and its like are written in a class: as ASCII, Unicode on or not.
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
