//! The memory tool's contract, without a store: paths, commands, and the work on one text.

pub mod command;
pub(crate) mod edit;
pub(crate) mod listing;
pub mod path;

/// The largest value a policy may give `memory_bytes`: one object must fit in memory several times.
pub const MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;
