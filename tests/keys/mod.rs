//! Who can open a store: members come and go, keys change, and nothing else does.

pub(crate) mod team;

mod crash;
mod elsewhere;
mod leaver;
mod members;
mod mixed;
mod recovery;
mod roles;
