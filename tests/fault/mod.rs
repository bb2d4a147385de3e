//! Faults nobody waits for: the power goes at any step, with anything that was not synced lost or
//! not; writes are short, and every call fails once.
//!
//! `recorder` tells what the binary does to a disk, `disk` what such a disk holds after a loss of
//! power, `cuts` where it is cut off, `check` what has to hold then. `AGEKEEP_TESTS=all` cuts
//! everywhere.

mod call;
mod check;
mod cuts;
mod dice;
mod disk;
mod file;
mod image;
mod inject;
mod random;
mod recorder;
mod story;
mod workload;
