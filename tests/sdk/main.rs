//! The adapters in `examples/` under the real SDKs: whole sessions against a small Messages API on
//! loopback, the contract, and what goes wrong with processes.

#[path = "../support/cases.rs"]
mod cases;
#[path = "../support/peers.rs"]
mod peers;
#[path = "../support/mod.rs"]
mod support;

mod contract;
mod present;
mod readme;
mod scene;
mod sessions;
mod trouble;
