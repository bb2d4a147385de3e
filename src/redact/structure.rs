//! Scanners of secrets that their place gives away: an armour, a URI, a header, a file format.
//!
//! Each is a [`Scanner`](super::rule::Scanner): the gate calls it where a literal of its rule
//! stands, it reads a bounded stretch around that and says which bytes are secret. Names, hosts and
//! ids around a value stay, so that a memory still says what there is and where. A span holds the
//! whole value and none of the punctuation of the sentence that it stands in.

pub(super) mod account;
pub(super) mod armour;
pub(super) mod aws;
pub(super) mod cloud;
pub(super) mod command;
pub(super) mod connection;
pub(super) mod cookie;
pub(super) mod hash;
pub(super) mod header;
pub(super) mod jose;
pub(super) mod option;
pub(super) mod signed;
pub(super) mod uri;
pub(super) mod webhook;

mod lines;
mod near;
mod value;

#[cfg(test)]
mod harness;
