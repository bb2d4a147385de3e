//! What `schedule` prints, read by what it is for: systemd, cron and its shell, and Kubernetes.
#![allow(clippy::print_stderr, unreachable_pub)] // both for the support module

mod place;
#[path = "../support/mod.rs"]
mod support;

mod cron;
mod k8s;
mod refusals;
mod systemd;
