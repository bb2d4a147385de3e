//! History as people read it: any moment, what changed, who wrote a line, who looked.
#![allow(clippy::print_stderr)] // what could not be tested is said loudly
#![allow(clippy::format_collect)] // speed does not matter here

mod blame;
mod colour;
mod logs;
mod looks;
mod moments;
mod revisions;
mod story;
#[path = "../support/mod.rs"]
mod support;
mod timeline;
