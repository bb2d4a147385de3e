//! `agekeep mcp` as clients meet it: both eras of the protocol, both transports, and everything that
//! can go wrong.
#![allow(clippy::format_collect, clippy::format_push_string)] // speed does not matter here
#![allow(clippy::needless_pass_by_value)] // what `json!` makes is there for one request

mod client;
#[path = "../support/peers.rs"]
mod peers_here;
#[path = "../support/mod.rs"]
mod support;
#[cfg(feature = "http")]
mod web;

mod beside;
mod care;
mod eras;
#[cfg(feature = "http")]
mod flood;
#[cfg(feature = "http")]
mod gate;
mod hostile;
#[cfg(feature = "http")]
mod http;
mod look;
mod notify;
mod offer;
mod order;
#[cfg(feature = "http")]
mod peers;
mod resources;
mod secrets;
mod setup;
mod together;
mod words;
