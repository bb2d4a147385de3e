//! Whether a value behind a name is the secret that the name promises.

use super::name::Strength;
use super::value::Frame;
use crate::redact::judge::{self, Makeup};

/// How a value was joined to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// `name=value`, with no white space.
    Tight,
    /// `name = value`, `name := value`, an argument.
    Assigned,
    /// `name: value`, a table cell, an element, a flag, the line below.
    Said,
    /// A sentence, with at most a verb between name and value.
    Near,
    /// A sentence.
    Prose,
}

impl Joint {
    fn is_sentence(self) -> bool {
        matches!(self, Self::Near | Self::Prose)
    }
}

/// Words with digits that are no secrets: formats, algorithms, standards.
const TECHNICAL: &[&str] = &[
    "base64",
    "base32",
    "base58",
    "base62",
    "base64url",
    "sha1",
    "sha2",
    "sha3",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "md4",
    "md5",
    "utf8",
    "utf16",
    "ascii7",
    "argon2",
    "argon2i",
    "argon2id",
    "pbkdf2",
    "oauth1",
    "oauth2",
    "x509",
    "ed25519",
    "x25519",
    "curve25519",
    "secp256k1",
    "p256",
    "p384",
    "rs256",
    "rs384",
    "rs512",
    "hs256",
    "hs384",
    "hs512",
    "es256",
    "es384",
    "ps256",
    "http2",
    "http3",
    "h2",
    "p12",
    "pkcs1",
    "pkcs5",
    "pkcs7",
    "pkcs8",
    "pkcs11",
    "pkcs12",
    "i18n",
    "l10n",
    "k8s",
    "s3",
    "ec2",
    "2fa",
    "mfa",
    "u2f",
    "fido2",
    "tls1",
    "ssl3",
    "ipv4",
    "ipv6",
    "aes128",
    "aes192",
    "aes256",
    "rsa2048",
    "rsa4096",
    "hmac256",
    "chacha20",
    "poly1305",
    "blake2",
    "blake2b",
    "blake3",
    "crc32",
    "scram256",
    "log4j",
    "win32",
    "win64",
    "x86",
    "x64",
    "amd64",
    "arm64",
    "python3",
    "python2",
    "py3",
    "es6",
    "es2020",
    "html5",
    "css3",
    "mp3",
    "mp4",
    "h264",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "u8",
    "u16",
    "u32",
    "u64",
    "i8",
    "i16",
    "i32",
    "i64",
    "f32",
    "f64",
    "utf",
    "vault2",
    "v2ray",
    "1password",
    "neo4j",
    "auth0",
    "route53",
    "ssh2",
    "libssh2",
    "rfc6749",
    "rfc7519",
    "web3",
    "gpt4",
    "b2b",
];

/// Words that stand where a password would in documentation, code and forms.
const NO_VALUE: &[&str] = &[
    "none",
    "null",
    "nil",
    "true",
    "false",
    "yes",
    "no",
    "undefined",
    "string",
    "str",
    "text",
    "password",
    "passwd",
    "pass",
    "secret",
    "token",
    "required",
    "optional",
    "empty",
    "bytes",
    "bool",
    "boolean",
    "int",
    "integer",
    "number",
    "any",
    "object",
    "varchar",
    "char",
    "n/a",
    "na",
    "tba",
    "tbd",
    "unknown",
    "default",
    "default1",
    "password1",
    "value",
    "value1",
    "foo1",
    "bar1",
    "string1",
    "token1",
    "key1",
    "secret1",
    "user1",
    "password2",
    "param1",
    "arg1",
];

/// Whether a value is one to take out.
pub(super) fn secret(value: &[u8], strength: Strength, joint: Joint, frame: Frame) -> bool {
    let least = if strength == Strength::Pin { 4 } else { 6 };
    if value.len() < least || value.contains(&0x01) || refers(value) {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    if NO_VALUE.iter().any(|word| word.as_bytes() == lower) {
        return false;
    }
    if fingerprint(value) || (joint == Joint::Prose && plain_id(value)) {
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
    likely && (strength == Strength::Pin || !judge::placeholder(value))
}

/// Four to eight digits, not all the same, not a year.
fn pin(value: &[u8], joint: Joint) -> bool {
    let year = value.len() == 4
        && joint == Joint::Prose
        && (value.starts_with(b"19") || value.starts_with(b"20"));
    let one = value.iter().all(|b| *b == value[0]);
    (4..=8).contains(&value.len()) && value.iter().all(u8::is_ascii_digit) && !year && !one
}

/// A password: two classes of characters, one of them digits or symbols, and no mere words.
pub(super) fn password(value: &[u8], joint: Joint, frame: Frame) -> bool {
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
        // Digits alone: a number somebody chose, where the name is straight beside it.
        let only = makeup.symbols == 0 && !joint.is_sentence() && frame != Frame::Bare;
        return (only || strong > 0 && makeup.digits > 0) && makeup.digits >= 6 && value.len() >= 6;
    }
    if frame != Frame::Bare && plain_phrase(value, b'-') {
        return true;
    }
    if makeup.digits == 0 && strong == 0 {
        // Letters and joining marks: only what no word would be.
        return !joint.is_sentence()
            && value.len() >= 10
            && makeup.classes() >= 2
            && frame != Frame::Bare
            && judge::random(value);
    }
    if is_words(value) {
        return numbered_words(value) && (frame != Frame::Bare || joint != Joint::Assigned);
    }
    if joint.is_sentence() && camel(value) {
        return false;
    }
    let mixed = makeup.digits > 0 && makeup.letters() + makeup.foreign > 0;
    if mixed && strong > 0 {
        return true;
    }
    match (joint, frame) {
        (Joint::Prose | Joint::Near, Frame::Bare | Frame::Line) => {
            let leet = is_leet(value);
            (value.len() >= 8 || value.len() >= 7 && makeup.classes() >= 3 && !is_leet(value))
                && !camel(value)
                && (mixed || (strong > 0 && makeup.classes() >= 3))
                && (leet || judge::unrest(value) >= 340 || makeup.classes() >= 3)
        }
        (Joint::Assigned, Frame::Bare | Frame::Line) if name_like(value) => false,
        (_, Frame::Bare) => {
            mixed && (value.len() >= 8 || is_leet(value)) || strong > 0 && makeup.classes() >= 2
        }
        _ => mixed || (strong > 0 && (makeup.classes() >= 2)),
    }
}

/// `red_candle_138`, `desert-glacier-tiger-57`: ordinary words and a number, as people join them
/// to passwords; no word that speaks of formats or of code.
fn numbered_words(value: &[u8]) -> bool {
    const OF_CODE: &[&str] = &[
        "password",
        "passwd",
        "pass",
        "secret",
        "token",
        "key",
        "auth",
        "user",
        "name",
        "test",
        "env",
        "var",
        "the",
        "min",
        "max",
        "length",
        "least",
        "version",
        "step",
        "level",
        "aes",
        "sha",
        "rsa",
        "rfc",
        "tls",
        "ssl",
        "utf",
        "iso",
        "hmac",
        "argon",
        "pbkdf",
        "field",
        "input",
        "value",
        "string",
        "type",
        "line",
        "page",
        "see",
        "issue",
        "ticket",
        "section",
        "table",
        "column",
        "config",
        "default",
        "cluster",
        "vault",
        "store",
        "param",
        "node",
        "pod",
        "api",
        "service",
        "server",
        "host",
        "port",
        "prod",
        "staging",
        "dev",
        "deployment",
        "app",
    ];
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
            piece.len() >= 3
                && piece.iter().all(u8::is_ascii_alphabetic)
                && !OF_CODE
                    .iter()
                    .any(|word| piece.eq_ignore_ascii_case(word.as_bytes()))
        })
}

/// Words between spaces, in quotes: a passphrase holds digits or symbols, or is no sentence.
fn phrase(value: &[u8], spaces: usize, frame: Frame) -> bool {
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
fn plain_phrase(value: &[u8], separator: u8) -> bool {
    const OF_SENTENCES: &[&str] = &[
        "the",
        "your",
        "you",
        "enter",
        "please",
        "must",
        "and",
        "for",
        "with",
        "not",
        "this",
        "that",
        "are",
        "was",
        "has",
        "have",
        "can",
        "will",
        "should",
        "may",
        "new",
        "old",
        "password",
        "passphrase",
        "key",
        "from",
        "into",
        "when",
        "where",
        "what",
        "set",
        "use",
        "using",
        "least",
        "characters",
        "length",
        "required",
        "invalid",
        "incorrect",
        "wrong",
        "minimum",
        "maximum",
        "reset",
        "change",
        "forgot",
        "confirm",
        "same",
        "only",
        "here",
        "see",
        "stored",
        "access",
        "user",
        "admin",
        "account",
        "login",
        "email",
        "file",
        "private",
        "public",
        "secret",
        "token",
    ];
    let words: Vec<&[u8]> = value.split(|b| *b == separator).collect();
    (4..=12).contains(&words.len())
        && words.iter().all(|word| {
            (3..=10).contains(&word.len())
                && word.iter().all(u8::is_ascii_lowercase)
                && !OF_SENTENCES.iter().any(|known| known.as_bytes() == *word)
        })
}

/// A short secret: as a password, and of a stricter look.
fn passcode(value: &[u8], joint: Joint, frame: Frame) -> bool {
    let makeup = Makeup::of(value);
    let strict = !joint.is_sentence() || frame == Frame::Quoted;
    value.len() >= 8
        && strict
        && makeup.digits > 0
        && makeup.letters() > 0
        && !bare_hex(value)
        && !name_like(value)
        && !is_version(value)
        && !camel(value)
        && password(value, joint, frame)
        && (judge::unrest(value) >= 340 || makeup.classes() >= 3)
}

/// A token: 16 bytes and more that a machine has rolled.
pub(super) fn token(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let body = value
        .iter()
        .filter(|b| b.is_ascii_alphanumeric() || b"_-+/=.~:".contains(b))
        .count();
    if value.len() < 16 || body * 10 < value.len() * 9 || makeup.letters() == 0 {
        return false;
    }
    if uuid(value) || bare_hex(value) {
        return makeup.distinct >= 6;
    }
    if is_words(value) {
        return false;
    }
    if makeup.digits == 0 {
        return value.len() >= 20 && makeup.lower > 0 && makeup.upper > 0 && judge::random(value);
    }
    let broken = judge::words(value) * 2 < makeup.letters() && is_leet(value);
    judge::random(value) || broken && judge::entropy(value) >= 3.2 && makeup.symbols == 0
}

/// What is an id or digest unless a name straight beside it says otherwise.
pub(super) fn plain_id(value: &[u8]) -> bool {
    uuid(value) || bare_hex(value)
}

/// Pairs of hexadecimal digits between colons.
fn fingerprint(value: &[u8]) -> bool {
    let upper = |b: &u8| b.is_ascii_digit() || (b'A'..=b'F').contains(b);
    // OpenPGP writes them so (RFC 9580).
    if value.len() == 40 && value.iter().all(upper) {
        return true;
    }
    value.len() >= 8
        && value.iter().enumerate().all(|(i, b)| match i % 3 {
            2 => *b == b':',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Hexadecimal digits alone.
fn bare_hex(value: &[u8]) -> bool {
    value.len() >= 16 && value.iter().all(u8::is_ascii_hexdigit)
}

/// The form of a UUID (RFC 9562).
pub(super) fn uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// A version, a size, a duration, an address, a date.
fn is_version(value: &[u8]) -> bool {
    let digits = value
        .iter()
        .filter(|b| b.is_ascii_digit() || b".:-/TZv".contains(b))
        .count();
    digits + 2 >= value.len()
}

/// Digits in place of letters, inside a word: `W1nt3rF0x`, `p4ssw0rd`.
fn is_leet(value: &[u8]) -> bool {
    value
        .windows(3)
        .any(|w| w[0].is_ascii_alphabetic() && w[1].is_ascii_digit() && w[2].is_ascii_alphabetic())
}

/// Whether a value is made of words, numbers and technical terms, joined as in prose.
fn is_words(value: &[u8]) -> bool {
    let mut pieces = value
        .split(|b| b"-_./,:'+&@#\\ ()[]{}=".contains(b))
        .filter(|piece| !piece.is_empty());
    pieces.all(|piece| {
        let lower = piece.to_ascii_lowercase();
        let trimmed = lower.strip_suffix(b"s").unwrap_or(&lower);
        let known = |word: &[u8]| TECHNICAL.iter().any(|entry| entry.as_bytes() == word);
        piece.iter().all(u8::is_ascii_digit) && piece.len() <= 5
            || piece.iter().all(|b| b.is_ascii_alphabetic() || *b >= 0x80)
                && (piece.len() < 8 || judge::unrest(piece) < 340)
            || known(&lower)
            || known(trimmed)
            || quantity(&lower)
    })
}

/// `30min`, `90days`, `v2`, `16gb`, `1st`, `10x`.
fn quantity(piece: &[u8]) -> bool {
    const UNITS: &[&str] = &[
        "s",
        "ms",
        "min",
        "mins",
        "h",
        "hr",
        "hrs",
        "d",
        "day",
        "days",
        "w",
        "m",
        "y",
        "k",
        "kb",
        "mb",
        "gb",
        "tb",
        "kib",
        "mib",
        "gib",
        "b",
        "bit",
        "bits",
        "byte",
        "bytes",
        "x",
        "st",
        "nd",
        "rd",
        "th",
        "px",
        "em",
        "rem",
        "hz",
        "khz",
        "mhz",
        "ghz",
        "chars",
        "characters",
        "sec",
        "secs",
        "hours",
        "hour",
        "minutes",
        "minute",
        "seconds",
        "months",
        "weeks",
        "years",
        "am",
        "pm",
        "e",
        "kg",
        "km",
        "cm",
        "mm",
    ];
    let digits = piece.iter().take_while(|b| b.is_ascii_digit()).count();
    let unit = &piece[digits..];
    (digits > 0 && UNITS.iter().any(|known| known.as_bytes() == unit))
        || (piece.len() <= 4 && piece[0] == b'v' && piece[1..].iter().all(u8::is_ascii_digit))
}

/// Whether a value is several words in camel case, perhaps with a digit among them:
/// `OAuth2PasswordBearer`.
fn camel(value: &[u8]) -> bool {
    let humps = value
        .windows(2)
        .filter(|w| !w[0].is_ascii_uppercase() && w[1].is_ascii_uppercase())
        .count();
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    value.iter().all(u8::is_ascii_alphanumeric)
        && digits <= 2
        && humps >= 1
        && value.len() >= (humps + 1) * 5
        && judge::unrest(value) < 400
}

/// Whether a value could be the name of a variable: words, then perhaps a number.
fn name_like(value: &[u8]) -> bool {
    let stem = value
        .iter()
        .rposition(|b| !b.is_ascii_digit())
        .map_or(0, |last| last + 1);
    let identifier = value
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    identifier
        && value[0].is_ascii_alphabetic()
        && !value[..stem].iter().any(u8::is_ascii_digit)
        && judge::unrest(&value[..stem]) < 340
}

/// Whether a value is code or points elsewhere: the environment, a vault, a file, a type.
pub(super) fn refers(value: &[u8]) -> bool {
    const STARTS: &[&str] = &[
        "${",
        "{{",
        "$(",
        "%(",
        "<%",
        "#{",
        "op://",
        "vault:",
        "vault://",
        "arn:",
        "sm://",
        "ssm:",
        "projects/",
        "secretsmanager",
        "secretref:",
        "file:",
        "file://",
        "keyring:",
        "env:",
        "env.",
        "env(",
        "enc[",
        "$ansible_vault",
        "age1",
        "ssh-rsa",
        "ssh-ed25519",
        "ecdsa-sha2",
        "sha256:",
        "sha512:",
        "sha1:",
        "sha384:",
        "md5:",
        "sha256-",
        "sha384-",
        "sha512-",
        "data:",
        "./",
        "../",
        "~/",
        "c:\\",
        "process.",
        "os.",
        "import.",
        "self.",
        "this.",
        "config.",
        "settings.",
        "args.",
        "params.",
        "req.",
        "request.",
        "ctx.",
        "props.",
        "state.",
        "data.",
        "module.",
        "local.",
        "var.",
        "secrets.",
        "@microsoft.keyvault",
        "!ref",
        "!sub",
        "!secret",
        "!vault",
        "-----begin",
        "-----end",
        "getenv",
        "kms:",
        "keychain:",
        "bws:",
        "doppler:",
        "infisical:",
        "akv:",
        "gsm:",
        "awssm:",
        "gopass:",
        "pass:",
        "ref+",
        "lookup(",
        "pk_live_",
        "pk_test_",
        "urn:",
        "git@",
        "s3://",
        "gs://",
        "npm:",
        "pkg:",
        "[redacted",
        "[masked",
        "[hidden",
        "[removed",
        "[secret",
        "[filtered",
        "(redacted",
        "(hidden",
        "(see ",
        "%5b",
        "%3c",
        "%7b",
        "%24",
        "&lt;",
        "//",
    ];
    let head: Vec<u8> = value.iter().take(24).map(u8::to_ascii_lowercase).collect();
    if STARTS
        .iter()
        .any(|start| head.starts_with(start.as_bytes()))
    {
        return true;
    }
    // A sealed secret of Kubernetes begins with the length of a 4,096-bit RSA block.
    if value.len() >= 150 && value.starts_with(b"Ag") && !value.contains(&b'.') {
        return true;
    }
    let identifier = |part: &[u8]| {
        !part.is_empty()
            && (part[0].is_ascii_alphabetic() || part[0] == b'_')
            && part
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    };
    let rest = &value[1..];
    let spelled = match value[0] {
        b'$' => variable(rest) || rest.first() == Some(&b'$') || value.ends_with(b"$"),
        b':' | b'&' | b'*' | b'@' => identifier(rest) && !rest.iter().any(u8::is_ascii_digit),
        b'{' | b'[' => true,
        b'!' => rest.iter().all(|b| b.is_ascii_alphabetic() || *b == b':'),
        b'%' => value.ends_with(b"%") || value.len() <= 3,
        b'<' => true,
        _ => false,
    };
    let bare = value
        .iter()
        .take_while(|b| matches!(b, b'*' | b'&' | b'!' | b'\\'))
        .count();
    if bare > 0
        && bare < value.len()
        && (member(&value[bare..], identifier) || calls(&value[bare..]) || value[bare] == b'$')
    {
        return true;
    }
    let number = value.starts_with(b"0x")
        && value.len() <= 18
        && value[2..].iter().all(u8::is_ascii_hexdigit);
    let pattern = [
        &b")["[..],
        b"[^",
        b"]+",
        b"]*",
        b")?",
        b".*",
        b"(?",
        b"\\(",
        b"\\.",
        b"\\|",
        b"?.",
    ]
    .iter()
    .any(|mark| memchr::memmem::find(value, mark).is_some());
    number
        || pattern
        || names(value)
        || hostname(value)
        || path_like(value)
        || spelled
        || calls(value)
        || member(value, identifier)
        || url(&head, value)
        || address(value)
}

/// The name of a variable behind its `$`, and perhaps what is taken from it.
fn variable(rest: &[u8]) -> bool {
    let name = rest
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
        .count();
    let starts = rest
        .first()
        .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    let word = rest[..name].iter().all(|b| !b.is_ascii_digit());
    starts
        && word
        && matches!(
            rest.get(name),
            None | Some(b'[' | b'(' | b'-' | b'.' | b':' | b'/' | b'{')
        )
}

/// `name(…`, `name[…`, `a::b`, `a->b`.
fn calls(value: &[u8]) -> bool {
    let head = value
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || b"_.:$!?>-".contains(b))
        .count();
    let opens = value.get(head).is_some_and(|b| matches!(b, b'(' | b'['));
    let closes = memchr::memchr2(b')', b']', &value[head..]).is_some();
    let arrow = memchr::memmem::find(value, b"->").is_some()
        || memchr::memmem::find(value, b"::").is_some()
        || memchr::memmem::find(value, b"=>").is_some();
    let name = &value[..head];
    let named = head >= 2 && name[0].is_ascii_alphabetic() && judge::unrest(name) < 400;
    (opens && named && (closes || value[head] == b'(' && head + 1 == value.len()))
        || (arrow && judge::unrest(value) < 400)
        || value.ends_with(b"()")
        || value.ends_with(b"(") && named
}

/// `settings.database.password`: two and more names, none of them random.
fn member(value: &[u8], identifier: impl Fn(&[u8]) -> bool) -> bool {
    let mut parts = value.split(|b| *b == b'.');
    let count = parts.clone().count();
    count >= 2
        && parts.all(|part| {
            identifier(part) && (judge::unrest(part) < 340 || part.len() <= 5) && !is_leet(part)
        })
}

/// A path of names: no part of it random.
fn path_like(value: &[u8]) -> bool {
    let parts = value.split(|b| *b == b'/').filter(|part| !part.is_empty());
    // Base64 has such signs too.
    let rolled = value.len() >= 24 && value[0] != b'/' && judge::random(value);
    value.iter().filter(|b| **b == b'/').count() >= 2
        && !rolled
        && parts
            .clone()
            .all(|part| part.len() < 20 || judge::unrest(part) < 340)
}

/// A name of its own with its value: `api_key=…`, `key:…`.
pub(super) fn names(value: &[u8]) -> bool {
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let name = value.iter().take(48).take_while(part).count();
    let words =
        judge::unrest(&value[..name]) < 340 && value[..name].iter().any(u8::is_ascii_alphabetic);
    match value.get(name) {
        Some(b'=') => name >= 4 && words && value.get(name + 1).is_some_and(|b| *b != b'='),
        Some(b':') => ["key", "token", "secret", "password", "pass", "pwd"]
            .iter()
            .any(|word| {
                value[..name]
                    .to_ascii_lowercase()
                    .ends_with(word.as_bytes())
            }),
        _ => false,
    }
}

/// A host's name with a well-known end, and perhaps a port.
fn hostname(value: &[u8]) -> bool {
    const ENDS: &[&str] = &[
        ".com",
        ".net",
        ".org",
        ".io",
        ".dev",
        ".local",
        ".internal",
        ".de",
        ".fr",
        ".cn",
        ".co",
        ".ai",
        ".app",
        ".cloud",
        ".edu",
        ".gov",
        ".svc",
        ".lan",
        ".js",
        ".ts",
        ".py",
        ".rs",
        ".go",
        ".rb",
        ".java",
        ".json",
        ".yaml",
        ".yml",
        ".toml",
        ".md",
        ".txt",
        ".pem",
        ".key",
        ".crt",
        ".conf",
        ".cfg",
        ".ini",
        ".xml",
        ".html",
        ".sh",
        ".tar",
        ".gz",
        ".zip",
        ".so",
        ".h",
        ".c",
        ".env",
        ".lock",
        ".sql",
        ".csv",
        ".log",
        ".php",
        ".vue",
        ".tsx",
        ".jsx",
        ".p12",
        ".jks",
    ];
    let colon = memchr::memrchr(b':', value);
    let port = colon.filter(|colon| value[colon + 1..].iter().all(u8::is_ascii_digit));
    let host = &value[..port.unwrap_or(value.len())];
    let named = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'/' | b'*');
    host.iter().all(named) && ENDS.iter().any(|end| host.ends_with(end.as_bytes()))
}

/// A URL; what is secret inside one is found by the rules for URLs.
fn url(head: &[u8], value: &[u8]) -> bool {
    memchr::memmem::find(head, b"://").is_some()
        || head.starts_with(b"www.")
        || (head.starts_with(b"localhost") && value.len() < 20)
}

/// An e-mail address or `user@host`.
fn address(value: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b'@', value) else {
        return false;
    };
    let host = &value[at + 1..];
    let named = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-');
    at > 0
        && memchr::memchr(b'.', host).is_some_and(|dot| dot > 0)
        && host.iter().all(named)
        && host
            .iter()
            .rev()
            .take_while(|b| b.is_ascii_alphabetic())
            .count()
            >= 2
        && value[..at]
            .iter()
            .all(|b| named(b) || matches!(b, b'_' | b'+'))
}
