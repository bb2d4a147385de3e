//! What nobody reads goes away, and what is erased is gone: sweeps, holds, erasure and receipts.

mod naive;
pub(crate) mod scene;

mod absent;
mod crash;
mod holds;
mod outside;
mod property;
mod refusals;
mod resurrect;
mod sweeper;
mod together;
