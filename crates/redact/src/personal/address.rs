//! IP addresses of the public internet: version 4 (RFC 791) and 6 (RFC 4291), without the ranges
//! that the IANA special-purpose registries keep from it (RFC 6890).

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use crate::personal::edge::{beside, closes, digit_at, opens, run_end};

/// The kind of these findings.
pub(super) const KIND: &str = "ip-address";

/// Most characters of an IPv6 address, with an IPv4 address at its end included.
const V6_LENGTH_MAX: usize = 45;
/// The limit below which four numbers are rather a version or a section number.
const SMALL: u8 = 20;

/// Words beside which four numbers are a version or a section.
const VERSIONS: &[&str] = &[
    "build", "chapter", "clause", "oid", "release", "section", "upgrade", "ver", "version",
    "versions", "§",
];

/// Words beside which four numbers are an address after all.
const HOSTS: &[&str] = &[
    "addr", "address", "client", "dns", "host", "ip", "ips", "ipv4", "peer", "ping", "remote",
    "server", "ssh",
];

/// Returns the address whose first digit stands at `at`, the first of a run of digits.
pub(super) fn find(text: &[u8], at: usize) -> Option<Range<usize>> {
    v6(text, at).or_else(|| v4(text, at))
}

fn v4(text: &[u8], at: usize) -> Option<Range<usize>> {
    let (parts, end) = quad(text, at)?;
    let free = opens(text, at) && !text[..at].ends_with(b".") && closes(text, end);
    (free && public(Ipv4Addr::from(parts)) && !version(text, at, end, parts)).then_some(at..end)
}

/// Reads four numbers up to 255 with full stops between them. Returns them and their end.
pub(super) fn quad(text: &[u8], at: usize) -> Option<([u8; 4], usize)> {
    let (mut parts, mut end) = ([0; 4], at);
    for (index, part) in parts.iter_mut().enumerate() {
        if index > 0 {
            end += usize::from(text.get(end) == Some(&b'.'));
        }
        let start = end;
        end = if digit_at(text, start) {
            run_end(text, start)
        } else {
            return None;
        };
        let digits = &text[start..end];
        if digits.len() > 3 || (index > 0 && text[start - 1] != b'.') {
            return None;
        }
        if digits.len() > 1 && digits[0] == b'0' {
            return None;
        }
        let value = digits.iter().fold(0, |n, d| n * 10 + u16::from(d - b'0'));
        *part = u8::try_from(value).ok()?;
    }
    Some((parts, end))
}

/// Tells whether four numbers are a version, a section or the start of an object identifier (ISO
/// and its members, directories, international organisations).
fn version(text: &[u8], start: usize, end: usize, parts: [u8; 4]) -> bool {
    let head = &text[..start];
    let compared = matches!(
        head,
        [.., b'=' | b'>' | b'<' | b'~' | b'!', b'='] | [.., b'~' | b'^']
    );
    let product = matches!(head, [.., b, b'/'] if b.is_ascii_alphanumeric());
    let suffixed =
        matches!(text.get(end..end + 2), Some([b'-' | b'+', b]) if b.is_ascii_alphabetic());
    let object = matches!(parts, [1, 2 | 3, ..] | [2, 5 | 23, ..]);
    let small = parts.iter().all(|part| *part < SMALL);
    compared
        || product
        || suffixed
        || ((small || object || beside(text, start, start, VERSIONS))
            && !(head.ends_with(b"//") || beside(text, start, end, HOSTS)))
}

/// Tells whether an address belongs to the public internet.
fn public(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let reserved = matches!(
        (a, b, c),
        (0 | 240.., ..) | (100, 64..=127, _) | (192, 0, 0) | (192, 88, 99) | (198, 18 | 19, _)
    );
    !(reserved
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast())
}

fn v6(text: &[u8], at: usize) -> Option<Range<usize>> {
    if !matches!(text[at], b'2' | b'3') || !opens(text, at) {
        return None;
    }
    let window = &text[at..text.len().min(at + V6_LENGTH_MAX + 1)];
    let group = window.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    if group != 4 || window.get(4) != Some(&b':') {
        return None;
    }
    let run = window
        .iter()
        .take_while(|b| b.is_ascii_hexdigit() || b":.".contains(b))
        .count();
    let mut shape = &window[..run];
    // A colon or full stop may belong to the sentence, but not the second colon of `::`.
    while shape.ends_with(b".") || (shape.ends_with(b":") && !shape.ends_with(b"::")) {
        shape = &shape[..shape.len() - 1];
    }
    let address: Ipv6Addr = std::str::from_utf8(shape).ok()?.parse().ok()?;
    let end = at + shape.len();
    (closes(text, end) && !text[..at].ends_with(b":") && global(address)).then_some(at..end)
}

/// Tells whether an address is global unicast and not for documentation.
fn global(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let documentation = (a == 0x2001 && b == 0x0db8) || (a == 0x3fff && b < 0x1000);
    (0x2000..0x4000).contains(&a) && !documentation
}
