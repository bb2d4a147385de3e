//! The state that all events add up to, in two caches: the catalog of live memories and the
//! timeline of events.

pub(crate) mod catalog;
pub(crate) mod timeline;
