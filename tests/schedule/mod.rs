//! What `schedule` prints, read by what it is for: systemd, cron and its shell, and Kubernetes.

mod place;

mod cron;
mod k8s;
mod refusals;
mod systemd;
