//! The second half of a login: `admin / hunter2!`, `admin:hunter2!`.

use super::chosen;
use super::decide::{Joint, stands_for_value};
use super::place::address;
use super::value::{self, Frame};
use crate::judge::{self, Makeup};
use crate::span::{Rank, Span};

/// Longest name of a user, in bytes.
const USER_BYTES_MAX: usize = 64;

/// Names of accounts that every machine has.
const ACCOUNTS: &[&[u8]] = &[
    b"root",
    b"admin",
    b"administrator",
    b"administrateur",
    b"user",
    b"guest",
    b"sa",
    b"sysadmin",
    b"superuser",
    b"postgres",
    b"mysql",
    b"deploy",
    b"ubuntu",
    b"test",
    b"demo",
    b"info",
    b"support",
];

/// Finds the password of a login that nothing says to be one: `root / vmware1!`. Before the slash
/// stands an account that every machine has, or an address; before one between blanks it may be any
/// name, if what follows can be nothing else.
pub(crate) fn login_pair(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let blank = text[at] == b' ';
    let slash = at
        + text[at..]
            .iter()
            .position(|b| *b == b'/')
            .unwrap_or_default();
    let end = if blank { at } else { slash };
    let part = |b: &u8| b.is_ascii_alphanumeric() || *b >= 0x80 || b"._-+@\\".contains(b);
    let name = &text[end.saturating_sub(USER_BYTES_MAX)..end];
    let name = name.strip_suffix(b"`").unwrap_or(name);
    let width = name.iter().rev().take_while(|b| part(b)).count();
    let (before, user) = name.split_at(name.len() - width);
    // A path, a URL, a variable.
    let inside = matches!(
        before.last(),
        Some(b'/' | b':' | b'$' | b'~' | b'<' | b'{' | b'=')
    );
    if user.is_empty() || inside || width == USER_BYTES_MAX {
        return;
    }
    let known = ACCOUNTS
        .iter()
        .any(|account| user.eq_ignore_ascii_case(account));
    let start = slash + 1 + usize::from(blank);
    let Some(value) = text.get(start).and_then(|_| value::read(text, start)) else {
        return;
    };
    let bytes = &text[value.range.clone()];
    if !(6..=64).contains(&bytes.len()) || bytes.contains(&b'/') || stands_for_value(bytes) {
        return;
    }
    let makeup = Makeup::of(bytes);
    let marks = bytes.iter().filter(|b| b"!#*^~$@&?%".contains(b)).count();
    let numbered = makeup.digits > 0 && makeup.letters() + makeup.foreign >= 3;
    let marked = marks > 0 && numbered && makeup.upper + makeup.foreign > 0;
    let sure = marked && chosen::is_chosen(bytes, Joint::Near, Frame::Bare);
    let likely = numbered && chosen::is_chosen(bytes, Joint::Near, Frame::Bare);
    let takes = if blank && (known || address(user)) {
        likely
    } else {
        sure && (blank || known)
    };
    if takes && !judge::placeholder(bytes) {
        found.push(Span::new(value.range, "login-password", Rank::Structural));
    }
}
