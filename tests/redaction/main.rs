//! Redaction as agents and owners meet it: every rule in every frame, clean texts, laws, each door,
//! and the owner's policy.
#![allow(clippy::print_stderr)] // measured rates are printed
#![allow(clippy::format_push_string, clippy::format_collect)] // speed does not matter here

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod canary;
mod clean;
mod doors;
mod frames;
mod laws;
mod policy;
mod texts;
