//! Memories that were files are brought in, and written out as files again.
#![allow(clippy::format_collect, clippy::format_push_string)] // speed does not matter here

#[path = "../redaction/canary.rs"]
mod canary;
#[path = "../support/forge.rs"]
mod forge;
mod place;
#[allow(dead_code)] // a part of it is used here
#[path = "../retention/scene.rs"]
mod scene;
#[path = "../support/mod.rs"]
mod support;
#[allow(dead_code)]
#[path = "../redaction/texts.rs"]
mod texts;

mod lines;
mod refused;
mod resumed;
mod round;
mod sources;
mod stripped;
mod taken;
mod targets;
