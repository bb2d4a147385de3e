//! The `agekeep` command: a door to the library.

mod args;
mod changes;
mod environment;
mod events;
mod folder;
mod lines;
mod mcp;
mod output;
mod passphrase;
mod process;
mod recovery;
mod shell;
mod terminal;
mod verbs;

fn main() -> std::process::ExitCode {
    args::run()
}
