//! Values on a line of their own below their name.

use super::Seek;
use super::decide::Joint;
use super::value::{self, line_end, line_start};
use crate::span::Span;

/// How many lines below a name are looked at: fences and empty lines come before the value.
const LINES_MAX: usize = 4;

impl Seek<'_> {
    /// The value alone on the next line that is not empty.
    pub(super) fn below(&self, at: usize, joint: Joint, found: &mut Vec<Span>) {
        let mut start = at;
        for _ in 0..LINES_MAX {
            let end = line_end(self.text, start);
            let line = &self.text[start..end];
            let marks = line
                .iter()
                .take_while(|b| b" \t>-*+|\r".contains(b))
                .count();
            let body = line[marks..].trim_ascii_end();
            if body.starts_with(b"```") || body.is_empty() || body.starts_with(b"~~~") {
                start = end + 1;
                if start >= self.text.len() {
                    return;
                }
                continue;
            }
            let begin = start + marks;
            // A line that ends in a colon is a name of its own, and so is what `=` follows.
            if body.ends_with(b":") || is_setting(body) || (joint == Joint::Prose && !self.heads())
            {
                return;
            }
            if let Some(value) = value::read(self.text, begin) {
                // Alone on its line: but for marks nothing follows.
                let rest = self.text[value.after.min(end)..end].trim_ascii();
                if rest.len() <= 3 {
                    let line = value.alone();
                    let joint = if joint == Joint::Prose {
                        Joint::Near
                    } else {
                        joint
                    };
                    self.accept(&line, joint, found);
                }
            }
            return;
        }
    }

    /// Whether the name's line is hardly more than the name: a heading.
    fn heads(&self) -> bool {
        let start = line_start(self.text, self.name.range.start);
        let end = line_end(self.text, start);
        let before = &self.text[start..self.name.range.start];
        let after = self.text[self.name.range.end..end.max(self.name.range.end)].trim_ascii();
        // Words alone, as a heading has them: `### Meraki dashboard API key`.
        let heading =
            |b: &u8| b.is_ascii_alphanumeric() || b" #*>-_'&()\t".contains(b) || *b >= 0x80;
        before.len() <= 60
            && after.len() <= 24
            && before.iter().all(heading)
            && after.iter().all(heading)
    }
}

/// Whether a line is a name, `=` and a value: `JWT_TTL=3600`.
fn is_setting(line: &[u8]) -> bool {
    let part = |b: &&u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.' | b'-');
    let name = line.iter().take_while(part).count();
    let rest = line[name..].trim_ascii_start();
    name > 0 && rest.starts_with(b"=") && !rest.starts_with(b"==") && rest.len() > 1
}
