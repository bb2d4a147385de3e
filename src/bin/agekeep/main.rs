//! The `agekeep` command, which gives access to the library.

mod args;
mod environment;
mod folder;
mod input;
mod mcp;
mod output;
mod passphrase;
mod recovery;
mod render;
mod siem;
mod terminal;
mod verbs;

fn main() -> std::process::ExitCode {
    args::run()
}
