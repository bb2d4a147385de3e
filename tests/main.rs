//! Every test of the project's behaviour, in one program: a module for each room of the product.
//!
//! `cargo test --test all keys::` runs the tests of one room.
#![allow(clippy::print_stderr)] // what was measured, and what could not be tested, is said loudly
#![allow(clippy::format_collect, clippy::format_push_string)] // speed does not matter here

mod architecture;
mod attack;
mod audit_kit;
mod batch;
mod catalog;
mod checkpoint;
mod cli;
mod clone;
mod compaction;
mod concurrency;
mod conformance;
mod crash;
mod destruction;
mod disk;
mod doors;
mod fault;
mod format;
mod help;
mod hints;
mod history;
mod identities;
mod interop;
mod keys;
mod limits;
mod mcp;
mod pin;
mod planted;
mod policy;
mod port;
mod prose;
mod readme;
mod redaction;
mod remote;
mod report;
mod retention;
mod scan;
mod schedule;
mod sdk;
mod secrecy;
mod security;
mod shells;
mod siem;
mod signers;
mod support;
mod terminal;
mod tool;
mod trial;
mod ui;
mod undo;
mod verify;
mod zoo;
