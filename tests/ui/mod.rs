//! The pages of `agekeep ui`: who is let in, what they show and record, and a story in a browser.

mod client;
mod look;
mod refusals;
mod report;
mod story;
mod undo;
