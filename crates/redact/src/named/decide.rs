//! Decides whether the value behind a name is the secret that the name promises.

use crate::entropy::{self, Makeup};
use crate::named::chosen::{self, numbered_words, phrase};
use crate::named::name::Strength;
use crate::named::refers::refers;
use crate::named::shape::{
    bare_hex, camel, date_time, fingerprint, is_leet, is_version, is_words, name_like, plain_id,
    rolled, token, type_name,
};
use crate::named::value::Frame;
use crate::named::words::{NO_VALUE, holds};
use crate::notes;

/// The way a value is joined to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// `name=value`, without whitespace.
    Tight,
    /// `name = value`, `name := value`, an argument.
    Assigned,
    /// `name: value`, a table cell, an element, a flag, the line below.
    Said,
    /// In a sentence, with at most a verb between name and value.
    Near,
    /// In a sentence.
    Prose,
}

impl Joint {
    pub(super) fn is_sentence(self) -> bool {
        matches!(self, Self::Near | Self::Prose)
    }
}

/// Tells whether the value looks like a secret, not like one or more words that stand in for it.
pub(super) fn tells(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    makeup.digits > 0 && (entropy::unrest(value) >= 340 || makeup.classes() >= 3)
}

/// Tells whether the value stands in for a secret: `required`, `none`, a reference, a placeholder.
pub(super) fn stands_for_value(value: &[u8]) -> bool {
    holds(NO_VALUE, value) || refers(value) || entropy::placeholder(value)
}

/// Tells whether the value is a secret that must be redacted.
pub(super) fn secret(value: &[u8], strength: Strength, joint: Joint, frame: Frame) -> bool {
    if frame == Frame::Quoted && rolled(value) {
        return true;
    }
    let least = if strength == Strength::Pin { 4 } else { 6 };
    if value.len() < least || value.contains(&0x01) || refers(value) {
        return false;
    }
    if holds(NO_VALUE, value) || fingerprint(value) || date_time(value) {
        return false;
    }
    if escaped(value) || notes::is_label(value) {
        return false;
    }
    if joint == Joint::Prose && plain_id(value) {
        return false;
    }
    let likely = match strength {
        Strength::Password => password(value, joint, frame),
        Strength::Pin => pin(value, joint),
        Strength::Secret => {
            let words = value.contains(&b'_') && !joint.is_sentence() && numbered_words(value);
            token(value) || passcode(value, joint, frame) || words
        }
        Strength::Weak => {
            value.len() >= 20
                && !plain_id(value)
                && !value.contains(&b':')
                && value[0] != b'/'
                && token(value)
                && !name_like(value)
        }
        Strength::Login => false,
    };
    likely && (strength == Strength::Pin || !entropy::placeholder(value))
}

/// Tells whether the value is text of another script in escapes, as of a translation: `\u0421\u0435`.
fn escaped(value: &[u8]) -> bool {
    let escapes = value.windows(2).filter(|two| *two == b"\\u").count();
    escapes >= 3 && escapes * 6 * 4 >= value.len() * 3
}

/// Tells whether the value is a PIN: four to eight digits, not all the same, not a year.
fn pin(value: &[u8], joint: Joint) -> bool {
    let year = value.len() == 4
        && joint.is_sentence()
        && (value.starts_with(b"19") || value.starts_with(b"20"));
    let one = value.iter().all(|b| *b == value[0]);
    (4..=8).contains(&value.len()) && value.iter().all(u8::is_ascii_digit) && !year && !one
}

/// Tells whether the value is a password: a random one, or one that a person chose if its label is
/// a strong one.
fn password(value: &[u8], joint: Joint, frame: Frame) -> bool {
    let makeup = Makeup::of(value);
    let spaces = value.iter().filter(|b| b.is_ascii_whitespace()).count();
    if value.len() > 128 {
        return token(value);
    }
    if spaces > 0 {
        return phrase(value, spaces, frame);
    }
    let strong = value
        .iter()
        .filter(|b| b"!@#$%^&*+=?~|".contains(b))
        .count();
    if makeup.letters() == 0 && makeup.foreign == 0 {
        // Digits alone: a number that somebody chose, if the name is straight beside it.
        let only = makeup.symbols == 0 && !joint.is_sentence() && frame != Frame::Bare;
        return (only || strong > 0 && makeup.digits > 0) && makeup.digits >= 6 && value.len() >= 6;
    }
    if chosen::is_chosen(value, joint, frame) {
        return true;
    }
    if makeup.digits == 0 && strong == 0 {
        // Letters and joining marks: only if no word looks like it.
        return !joint.is_sentence()
            && value.len() >= 10
            && makeup.classes() >= 2
            && frame != Frame::Bare
            && entropy::random(value);
    }
    if is_words(value) || joint.is_sentence() && camel(value) {
        return false;
    }
    let mixed = makeup.digits > 0 && makeup.letters() + makeup.foreign > 0;
    if mixed && strong > 0 {
        return true;
    }
    match (joint, frame) {
        (Joint::Prose | Joint::Near, Frame::Bare | Frame::Line) => {
            let (leet, many) = (is_leet(value), makeup.classes() >= 3);
            (value.len() >= 8 || value.len() >= 7 && many && !leet)
                && (mixed || (strong > 0 && many))
                && (leet || entropy::unrest(value) >= 340 || many)
        }
        (Joint::Assigned, Frame::Bare | Frame::Line) if name_like(value) => false,
        (_, Frame::Bare) => {
            mixed && (value.len() >= 8 || is_leet(value)) || strong > 0 && makeup.classes() >= 2
        }
        _ => mixed || (strong > 0 && (makeup.classes() >= 2)),
    }
}

/// Tells whether the value is a short secret: a password with stricter demands on its look.
fn passcode(value: &[u8], joint: Joint, frame: Frame) -> bool {
    let makeup = Makeup::of(value);
    let strict = !joint.is_sentence() || frame == Frame::Quoted;
    value.len() >= 8
        && strict
        && !value.contains(&b' ')
        && makeup.digits > 0
        && makeup.letters() > 0
        && !bare_hex(value)
        && !name_like(value)
        && !is_version(value)
        && !camel(value)
        && (frame == Frame::Quoted || !type_name(value))
        && password(value, joint, frame)
        && (entropy::unrest(value) >= 340 || makeup.classes() >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(value: &str, strength: Strength, joint: Joint, frame: Frame) -> bool {
        secret(value.as_bytes(), strength, joint, frame)
    }

    #[test]
    fn passwords() {
        for value in [
            "Vn7!kqRz#2pL",
            "W1nt3rF0x",
            "red_candle_138",
            "847261",
            "otter-lamp-river-cloud",
        ] {
            assert!(
                takes(value, Strength::Password, Joint::Said, Frame::Quoted),
                "{value}"
            );
        }
        for value in [
            "short",
            "password1",
            "required",
            "user_password",
            "minimum-length-12",
            "base64",
            "sha256",
            "30days",
            "${DB_PASSWORD}",
            "$PASSWORD",
            "{{ password }}",
            "<password>",
            "%PASSWORD%",
            "os.environ",
            "get_password()",
            "settings.database.password",
            "op://vault/item",
            "/run/secrets/db",
            "db.example.com:5432",
            "bob@example.org",
            "https://example.org",
            "0x1f2e",
            "aa:bb:cc:dd:ee:ff",
            "changeme123!",
            "your_password1",
            "the password must be set",
            "token=abc123",
        ] {
            assert!(
                !takes(value, Strength::Password, Joint::Said, Frame::Quoted),
                "{value}"
            );
        }
    }

    #[test]
    fn sentences_ask_for_more() {
        for value in ["Vn7!kqRz#2pL", "W1nt3rF0x"] {
            assert!(takes(value, Strength::Password, Joint::Prose, Frame::Bare));
        }
        for value in [
            "847261",
            "OAuth2PasswordBearer",
            "v1.2.3",
            "step2",
            "Today!",
        ] {
            assert!(
                !takes(value, Strength::Password, Joint::Prose, Frame::Bare),
                "{value}"
            );
        }
    }

    #[test]
    fn tokens_and_numbers() {
        let digest = "9f2c1be07d5a4c83a6e1d0b7f4938c52";
        let rolled = "q8Zr5Tn2Wx7Lb0Vc4Ys9Kd";
        for (value, strength, joint, taken) in [
            (rolled, Strength::Secret, Joint::Tight, true),
            (rolled, Strength::Weak, Joint::Said, true),
            (rolled, Strength::Login, Joint::Said, false),
            (digest, Strength::Secret, Joint::Near, true),
            (digest, Strength::Secret, Joint::Prose, false),
            (digest, Strength::Weak, Joint::Said, false),
            (
                "authentication_provider",
                Strength::Secret,
                Joint::Said,
                false,
            ),
            ("useLocalStorageState", Strength::Secret, Joint::Said, false),
            ("8351", Strength::Pin, Joint::Said, true),
            ("1111", Strength::Pin, Joint::Said, false),
            ("1999", Strength::Pin, Joint::Prose, false),
            ("835", Strength::Pin, Joint::Said, false),
            ("83a1", Strength::Pin, Joint::Said, false),
            ("20260102T0304Z", Strength::Password, Joint::Said, false),
            ("2026-01-02T", Strength::Password, Joint::Said, true),
            ("3026-01-02T03:04", Strength::Password, Joint::Said, true),
        ] {
            let found = takes(value, strength, joint, Frame::Bare);
            assert_eq!(found, taken, "{value} {strength:?} {joint:?}");
        }
    }
}
