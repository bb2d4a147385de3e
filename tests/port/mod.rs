//! Memories that were files are brought in, and written out as files again.

mod place;

mod lines;
mod refused;
mod resumed;
mod round;
mod sources;
mod stripped;
mod taken;
mod targets;
