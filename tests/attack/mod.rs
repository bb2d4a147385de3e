//! Whoever can write into the folder of a store tries to harm those who open it.
//!
//! `AGEKEEP_TESTS=all` with `cargo test --test all attack::` runs every case of the generator; a number
//! is the seed of another sample; any other text runs the cases whose name has it.
#![allow(clippy::similar_names, clippy::type_complexity)] // tables of deeds say what they are

mod canary;
mod case;
mod change;
mod folder_stories;
mod generator;
mod keyring;
mod keyring_stories;
mod law;
mod opener;
pub(crate) mod plant;
mod probe;
mod record_stories;
mod scene;
mod store_stories;
mod swap_stories;
