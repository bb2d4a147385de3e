//! What brings agents to a store: the guidance for a prompt, the memories to begin with, and the
//! configuration of MCP clients, which is started as they start it.
#![allow(clippy::print_stderr, unreachable_pub)] // both for the support module

#[path = "../support/mod.rs"]
mod support;

mod config;
mod diagnose;
mod prompt;
mod site;
mod template;
