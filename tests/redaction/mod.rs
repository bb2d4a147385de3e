//! Redaction as agents and owners meet it: every rule in every frame, clean texts, laws, each door,
//! and the owner's policy.

mod answers;
pub(crate) mod canary;
mod clean;
mod doors;
mod frames;
mod harmless;
mod laws;
mod notes;
mod policy;
pub(crate) mod texts;
