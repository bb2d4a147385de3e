//! Whether a value is a place and no secret: a host, a path, a URL, an address.

use crate::judge;

/// Well-known ends of hosts and of files.
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

/// A path of names: no part of it random.
pub(super) fn path_like(value: &[u8]) -> bool {
    let parts = value.split(|b| *b == b'/').filter(|part| !part.is_empty());
    // Base64 has such signs too.
    let rolled = value.len() >= 24 && value[0] != b'/' && judge::random(value);
    memchr::memchr_iter(b'/', value).count() >= 2
        && !rolled
        && parts
            .clone()
            .all(|part| part.len() < 20 || judge::unrest(part) < 340)
}

/// A host's name with a well-known end, and perhaps a port.
pub(super) fn hostname(value: &[u8]) -> bool {
    let colon = memchr::memrchr(b':', value);
    let port = colon.filter(|colon| value[colon + 1..].iter().all(u8::is_ascii_digit));
    let host = &value[..port.unwrap_or(value.len())];
    let named = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'/' | b'*');
    host.iter().all(named) && ENDS.iter().any(|end| host.ends_with(end.as_bytes()))
}

/// A URL; what is secret inside one is found by the rules for URLs.
pub(super) fn url(head: &[u8], value: &[u8]) -> bool {
    memchr::memmem::find(head, b"://").is_some()
        || head.starts_with(b"www.")
        || (head.starts_with(b"localhost") && value.len() < 20)
}

/// An e-mail address or `user@host`.
pub(super) fn address(value: &[u8]) -> bool {
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
