//! `scan`: what today's rules find in what was kept before they held, and what is done about it.
#![allow(clippy::print_stderr)] // measured times are printed
#![allow(clippy::format_push_string, clippy::format_collect)] // speed does not matter here

#[path = "../redaction/canary.rs"]
mod canary;
#[path = "../support/mod.rs"]
mod support;
#[allow(dead_code)] // a part of it is used here
#[path = "../redaction/texts.rs"]
mod texts;

mod found;
mod kept;
mod meanwhile;
mod remedies;
mod rules;
mod told;
mod whole;
