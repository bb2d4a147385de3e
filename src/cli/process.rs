//! What this process does to keep its memory to itself.

/// Has the kernel write no core dump of this process, and let no other process of this user look
/// into it. As far as that can be had: a machine where it cannot is no reason to refuse work.
#[cfg(target_os = "linux")]
pub(super) fn keep_memory_private() {
    use rustix::process::{DumpableBehavior, Resource, Rlimit};
    use rustix::process::{set_dumpable_behavior, setrlimit};

    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = setrlimit(Resource::Core, none);
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Only Linux has a way that is known here.
#[cfg(not(target_os = "linux"))]
pub(super) fn keep_memory_private() {}
