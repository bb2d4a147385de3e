//! Completion and manual pages, tried by the programs that read them: bash, zsh, fish, elvish, mandoc.

mod candidates;
mod complete;
mod pages;
