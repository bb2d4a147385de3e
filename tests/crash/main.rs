//! Stops of every kind: killed processes, lost power, torn objects, a clock that goes back.
#![allow(clippy::format_collect, clippy::wildcard_imports)] // speed does not matter here

#[path = "../support/mod.rs"]
mod support;

mod clock;
mod kill;
mod model;
mod power;
mod torn;
