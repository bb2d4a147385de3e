//! Who can open a store: members come and go, keys change, and nothing else does.
#![allow(clippy::print_stderr, unreachable_pub)] // both for the support module
#![allow(clippy::format_collect)] // speed does not matter here

#[path = "../support/forge.rs"]
mod forge;
#[path = "../support/mod.rs"]
mod support;
mod team;

mod crash;
mod elsewhere;
mod leaver;
mod members;
mod mixed;
mod recovery;
mod roles;
