//! Scanners of secrets that their place gives away: an armour, a URI, a header, a file format.
//!
//! Each is a [`Scanner`](super::rule::Scanner). The gate calls it where a literal of its rule
//! stands. It reads a bounded stretch around that literal and reports which bytes are secret.
//! Names, hosts and ids around a value stay, so that a memory still says what there is and where. A
//! span holds the whole value and none of the punctuation of the sentence around it.

pub(super) mod account;
pub(super) mod argument;
pub(super) mod cloud;
pub(super) mod command;
pub(super) mod connection;
pub(super) mod hash;
pub(super) mod http;
pub(super) mod jose;
pub(super) mod pem;
pub(super) mod settings;
pub(super) mod sql;
pub(super) mod uri;
pub(super) mod webhook;
pub(super) mod xml;

/// Returns how many bytes behind its literal a scanner is shown at first. `None` is for scanners
/// that end by themselves before the next place they would be asked about.
pub(super) fn window(kind: &str) -> Option<usize> {
    Some(match kind {
        "private-key-pem" | "putty-key" | "jwt" | "jwk" => return None,
        "wireguard" => 192,
        "aws-key-pair" => 256,
        "cookie" => 8192,
        "http-authorization" => 2048,
        "netrc" => 1536,
        _ => 1024,
    })
}

mod echo;
mod flags;
mod near;
mod title;
mod value;

#[cfg(test)]
mod harness;
