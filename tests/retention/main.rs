//! What nobody reads goes away, and what is erased is gone: sweeps, holds, erasure and receipts.
#![allow(clippy::print_stderr)] // what could not be tested is said loudly
#![allow(clippy::format_collect)] // speed does not matter here

#[path = "../support/forge.rs"]
mod forge;
mod naive;
mod scene;
#[path = "../support/mod.rs"]
mod support;

mod absent;
mod crash;
mod holds;
mod outside;
mod property;
mod refusals;
mod resurrect;
mod sweeper;
mod together;
