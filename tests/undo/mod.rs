//! Undo as owners meet it: restore, revert and rollback, their plans, refusals, crashes and laws.

mod crash;
mod damage;
mod laws;
mod plans;
mod restore;
mod revert;
mod rollback;
