//! Packs that a store makes by itself, and `compact`: nothing is ever lost by them.
#![allow(clippy::format_collect, clippy::wildcard_imports)] // speed does not matter here

#[allow(dead_code)] // each test uses its own part of it
#[path = "../crash/model.rs"]
mod model;
#[path = "../support/mod.rs"]
mod support;

mod beside;
mod damage;
mod journaled;
mod scene;
mod stops;
mod verb;
