//! A zoo of damaged and forged stores: each is what it says, and `verify` names it by its findings.
#![allow(clippy::format_collect)] // speed does not matter here

#[path = "../support/forge.rs"]
mod forge;
#[path = "../support/mod.rs"]
mod support;

mod base;
mod forging;
mod live;
mod means;
mod open;
mod scenario;
mod verify;
