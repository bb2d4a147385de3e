//! Who may write: signers come and go, each with a key and a time of its own, also in an agent.

mod agent;
mod beyond;
mod changes;
mod forged;
mod live;
mod roles;
mod states;
mod team;
