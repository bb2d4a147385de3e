//! Reports on a period: what stands in them, what does nothing in them, who may make one, and the
//! proof that one was not changed.

mod page;
mod period;
mod proof;
mod story;
