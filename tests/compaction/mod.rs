//! Packs that a store makes by itself, and `compact`: nothing is ever lost by them.
#![allow(clippy::wildcard_imports)] // speed does not matter here

mod beside;
mod damage;
mod journaled;
mod scene;
mod stops;
mod verb;
