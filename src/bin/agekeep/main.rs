//! The `agekeep` command, which gives access to the library.

mod args;
mod complete;
mod config;
mod environment;
mod help;
#[cfg(feature = "http")]
mod http;
mod input;
mod mcp;
mod output;
mod passphrase;
mod platform;
mod recovery;
mod render;
mod report;
mod siem;
mod table;
mod terminal;
#[cfg(feature = "http")]
mod ui;
mod verbs;
mod worker;

fn main() -> std::process::ExitCode {
    args::run()
}
