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

/// Lets this process have so many files open, as far as the machine does, and answers how many it may.
#[cfg(feature = "http")]
pub(super) fn let_open(files: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let wanted = files as u64;
    let now = getrlimit(Resource::Nofile);
    let few = |limit: Option<u64>| limit.map_or(wanted, |limit| limit.min(wanted));
    let raised = Rlimit {
        current: Some(few(now.maximum)),
        ..now
    };
    let may = if few(now.current) < few(now.maximum) && setrlimit(Resource::Nofile, raised).is_ok()
    {
        raised.current
    } else {
        now.current
    };
    usize::try_from(few(may)).unwrap_or(files)
}

/// Whether a child has ended. It stays to be waited for, so that its number is nobody else's yet.
pub(super) fn has_ended(child: &std::process::Child) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};

    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // An error means that there is no such child any more.
    waitid(WaitId::Pid(number(child)), options).map_or(true, |status| status.is_some())
}

/// Ends a child that leads a process group, and everything in that group, and waits for the child.
/// It must not have been waited for before.
pub(super) fn end_group(child: &mut std::process::Child) -> Option<std::process::ExitStatus> {
    let _ = rustix::process::kill_process_group(number(child), rustix::process::Signal::KILL);
    child.wait().ok()
}

fn number(child: &std::process::Child) -> rustix::process::Pid {
    rustix::process::Pid::from_child(child)
}
