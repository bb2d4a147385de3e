//! Who may write: signers come and go, each with a key and a time of its own, also in an agent.
#![allow(clippy::print_stderr)] // what could not be tested is said loudly

mod agent;
mod beyond;
mod changes;
#[path = "../support/forge.rs"]
mod forge;
mod forged;
mod live;
mod roles;
mod states;
#[path = "../support/mod.rs"]
mod support;
mod team;
