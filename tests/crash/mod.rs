//! Stops of every kind: killed processes, lost power, torn objects, a clock that goes back.
#![allow(clippy::wildcard_imports)] // speed does not matter here

mod clock;
mod kill;
pub(crate) mod model;
mod power;
mod torn;
