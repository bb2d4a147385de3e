//! What all events add up to, kept in two caches: the memories there are, and where in history each
//! event is.

pub(crate) mod catalog;
pub(crate) mod timeline;
