//! The `agekeep` command: a door to the library.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
