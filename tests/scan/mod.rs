//! `scan`: what today's rules find in what was kept before they held, and what is done about it.

mod found;
mod kept;
mod meanwhile;
mod remedies;
mod rules;
mod told;
mod whole;
