//! Completion and manual pages, tried by the programs that read them: bash, zsh, fish, elvish, mandoc.
//! And the file with a person's defaults.

mod candidates;
mod complete;
mod config;
mod pages;
