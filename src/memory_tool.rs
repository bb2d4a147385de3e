//! The memory tool's contract, without a store: paths, commands, and text operations.

pub mod command;
pub(crate) mod edit;
pub(crate) mod listing;
pub mod path;

/// Largest `memory_bytes` in a policy: an object must fit in memory several times.
pub const MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;
