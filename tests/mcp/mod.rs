//! `agekeep mcp` as clients meet it: both eras of the protocol, both transports, and everything that
//! can go wrong.
#![allow(clippy::needless_pass_by_value)] // what `json!` makes is there for one request

pub(crate) mod client;
#[cfg(feature = "http")]
pub(crate) mod web;

mod admin;
mod beside;
mod eras;
#[cfg(feature = "http")]
mod flood;
#[cfg(feature = "http")]
mod gate;
mod hostile;
#[cfg(feature = "http")]
mod http;
mod look;
#[cfg(feature = "http")]
mod monitoring;
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
