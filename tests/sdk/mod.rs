//! The adapters in `packaging/` under the real SDKs: whole sessions against a small Messages API on
//! loopback, the contract, and what goes wrong with processes.

mod contract;
mod present;
mod readme;
mod scene;
mod sessions;
mod trouble;
