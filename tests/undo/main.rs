//! Undo as owners meet it: restore, revert and rollback, their plans, refusals, crashes and laws.
#![allow(clippy::format_collect)] // speed does not matter here

#[path = "../history/story.rs"]
mod story;
#[path = "../support/mod.rs"]
mod support;

mod crash;
mod damage;
mod laws;
mod plans;
mod restore;
mod revert;
mod rollback;
