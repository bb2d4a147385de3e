//! History as people read it: any moment, what changed, who wrote a line, who looked.

mod blame;
mod colour;
mod logs;
mod looks;
mod moments;
mod revisions;
pub(crate) mod story;
mod timeline;
