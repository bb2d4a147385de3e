//! A zoo of damaged and forged stores: each is what it says, and `verify` names it by its findings.

mod base;
mod forging;
mod live;
mod means;
mod open;
pub(crate) mod scenario;
mod verify;
