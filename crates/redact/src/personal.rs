//! Personal data: card and account numbers, and on request addresses, telephone and identity
//! numbers. These have no literals to look for, so one pass over the digits and one over `@` find
//! them all. Check digits, lengths and the words beside them prove their meaning.

mod address;
mod card;
mod edge;
mod email;
mod iban;
mod national;
mod phone;

use std::ops::Range;

use crate::span::{Rank, Span};

/// Number of bytes that are searched for a digit together: enough for the compiler to use wide
/// registers.
const STRIDE: usize = 64;

/// Number of bytes that are searched one by one before that.
const NEAR: usize = 8;

/// A choice of personal data to look for.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a choice of the owner's, and none excludes another"
)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Personal {
    /// Payment card numbers.
    pub(super) cards: bool,
    /// International bank account numbers.
    pub(super) ibans: bool,
    /// E-mail addresses.
    pub(super) emails: bool,
    /// Telephone numbers.
    pub(super) phones: bool,
    /// Identity, tax and social security numbers of people.
    pub(super) national_ids: bool,
    /// Public IP addresses.
    pub(super) addresses: bool,
}

impl Personal {
    /// Kinds that have no use in a memory and are proven beyond doubt: cards and accounts.
    pub(super) const PROVEN: Self = Self {
        cards: true,
        ibans: true,
        emails: false,
        phones: false,
        national_ids: false,
        addresses: false,
    };

    /// Returns the choice of one kind, or `None` if no rule here has that kind.
    pub(super) fn of_kind(kind: &str) -> Option<Self> {
        let mut wanted = Self::default();
        let choice = match kind {
            card::KIND => &mut wanted.cards,
            iban::KIND => &mut wanted.ibans,
            email::KIND => &mut wanted.emails,
            phone::KIND => &mut wanted.phones,
            address::KIND => &mut wanted.addresses,
            _ if national::KINDS.contains(&kind) => &mut wanted.national_ids,
            _ => return None,
        };
        *choice = true;
        Some(wanted)
    }

    /// Returns the union of two choices.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            cards: self.cards || other.cards,
            ibans: self.ibans || other.ibans,
            emails: self.emails || other.emails,
            phones: self.phones || other.phones,
            national_ids: self.national_ids || other.national_ids,
            addresses: self.addresses || other.addresses,
        }
    }

    fn any_number(self) -> bool {
        self.cards || self.ibans || self.phones || self.national_ids || self.addresses
    }
}

/// Finds the chosen data in a text. The byte 1 and bytes outside ASCII end words and numbers.
///
/// Spans of one kind do not overlap; an e-mail address may overlap a number.
pub(super) fn scan(text: &[u8], wanted: Personal, found: &mut Vec<Span>) {
    if wanted.any_number() {
        let mut at = 0;
        while let Some(start) = next_digit(text, at) {
            at = match number(text, start, wanted) {
                Some((range, kind)) => {
                    let end = range.end;
                    found.push(Span::new(range, kind, Rank::Personal));
                    end
                }
                None => edge::run_end(text, start),
            };
        }
    }
    if wanted.emails {
        email::scan(text, found);
    }
}

/// Returns the next digit at or after `from`.
fn next_digit(text: &[u8], from: usize) -> Option<usize> {
    let rest = &text[from..];
    // In numbers the next digit is near.
    if let Some(near) = rest.iter().take(NEAR).position(u8::is_ascii_digit) {
        return Some(from + near);
    }
    let skipped = rest
        .chunks_exact(STRIDE)
        .take_while(|chunk| !chunk.iter().fold(false, |any, b| any | b.is_ascii_digit()))
        .count()
        * STRIDE;
    let near = rest[skipped..].iter().position(u8::is_ascii_digit)?;
    Some(from + skipped + near)
}

/// Returns the number that the run of digits at `start` is part of.
fn number(text: &[u8], start: usize, wanted: Personal) -> Option<(Range<usize>, &'static str)> {
    found_at(text, start, wanted).or_else(|| {
        let start = start + escape_length(text, start)?;
        edge::digit_at(text, start).then(|| found_at(text, start, wanted))?
    })
}

/// Returns the number of digits from `start` that belong to a percent escape, and not to the number
/// behind it.
fn escape_length(text: &[u8], start: usize) -> Option<usize> {
    let head = &text[..start];
    match head {
        [.., b'%'] => Some(2),
        [.., b'%', digit] if digit.is_ascii_hexdigit() => Some(1),
        _ => None,
    }
}

fn found_at(text: &[u8], at: usize, wanted: Personal) -> Option<(Range<usize>, &'static str)> {
    let as_kind = |kind| move |range| (range, kind);
    let iban = || iban::find(text, at).map(as_kind(iban::KIND));
    let card = || card::find(text, at).map(as_kind(card::KIND));
    let address = || address::find(text, at).map(as_kind(address::KIND));
    let national = || national::find(text, at);
    let phone = || phone::find(text, at).map(as_kind(phone::KIND));
    None.or_else(|| wanted.ibans.then(iban).flatten())
        .or_else(|| wanted.cards.then(card).flatten())
        .or_else(|| wanted.addresses.then(address).flatten())
        .or_else(|| wanted.national_ids.then(national).flatten())
        .or_else(|| wanted.phones.then(phone).flatten())
}

#[cfg(test)]
mod tests;
