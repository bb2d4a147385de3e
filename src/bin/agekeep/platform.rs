//! The calls of the program that differ between operating systems, for Unix. A port to another
//! system writes this file, `platform/folder.rs` and the library's room `disk` again, and nothing
//! else.

pub(crate) mod folder;

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, kill_process_group, waitid};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize,
    tcsetattr,
};
use tokio::signal::unix::{SignalKind, signal};

// The terminal.

/// The path of the terminal of this process, whatever its standard streams are.
pub(crate) const TERMINAL: &str = "/dev/tty";

/// The modes of a terminal.
pub(crate) struct TerminalModes(Termios);

/// Opens the terminal of this process, and returns its modes; `None` if it has none, or runs in the
/// background, where asking would stop it.
pub(crate) fn open_terminal() -> Option<(File, TerminalModes)> {
    let file = OpenOptions::new().read(true).write(true).open(TERMINAL);
    let file = file.ok()?;
    if tcgetpgrp(&file).ok()? != getpgrp() {
        return None;
    }
    let modes = TerminalModes(tcgetattr(&file).ok()?);
    Some((file, modes))
}

impl TerminalModes {
    /// Has the terminal show nothing that is typed, and give each key at once.
    pub(crate) fn silence(&self, terminal: &File) -> io::Result<()> {
        let mut silent = self.0.clone();
        // Signals are off too: the terminal must be as before when this process ends.
        silent.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        silent.special_codes[SpecialCodeIndex::VMIN] = 1;
        silent.special_codes[SpecialCodeIndex::VTIME] = 0;
        Ok(tcsetattr(terminal, OptionalActions::Flush, &silent)?)
    }

    /// Sets the terminal to these modes.
    pub(crate) fn restore(&self, terminal: &File) {
        let _ = tcsetattr(terminal, OptionalActions::Flush, &self.0);
    }
}

/// Returns how many columns a terminal has; 80 if it does not tell.
pub(crate) fn terminal_width(stream: impl AsFd) -> usize {
    let told = tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col));
    if told == 0 { 80 } else { told }
}

// Streams.

/// Returns a standard stream as a file, without the standard library's buffer.
pub(crate) fn as_file(stream: impl AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

/// Opens a descriptor that this process inherited.
pub(crate) fn open_descriptor(number: u32) -> io::Result<File> {
    File::open(format!("/dev/fd/{number}"))
}

/// Tells whether a file can be read without waiting.
pub(crate) fn can_be_read(file: &File) -> bool {
    let mut asked = [PollFd::new(file, PollFlags::IN)];
    matches!(poll(&mut asked, Some(&Timespec::default())), Ok(1..))
}

/// Tells whether a stream takes so many bytes without waiting for its reader. A pipe that takes any
/// takes 4 KiB (POSIX, `PIPE_BUF`; Linux, pipe(7)).
pub(crate) fn takes_at_once(out: impl AsFd, bytes: usize) -> bool {
    let mut asked = [PollFd::new(&out, PollFlags::OUT)];
    let polled = poll(&mut asked, Some(&Timespec::default()));
    bytes <= 4096 && polled.is_ok() && asked[0].revents() == PollFlags::OUT
}

/// Waits, but not longer than the reader of a stream is there; `false` if it is gone.
pub(crate) fn wait_while_read(out: impl AsFd, time: Duration) -> bool {
    // No events are asked for: that the other end of a pipe was closed is told always.
    let mut asked = [PollFd::new(&out, PollFlags::empty())];
    let time = Timespec::try_from(time).expect("a short time");
    match poll(&mut asked, Some(&time)) {
        Ok(_) => asked[0].revents().is_empty(),
        Err(_) => true,
    }
}

// Who may read a file.

/// The bits of a file's mode for its group and for others.
const OTHERS: u32 = 0o077;

/// Tells whether accounts other than the owner's have any access.
pub(crate) fn is_open_to_others(about: &fs::Metadata) -> bool {
    about.permissions().mode() & OTHERS != 0
}

/// Removes all access of other accounts to an open file.
pub(crate) fn close_to_others(file: &File) -> io::Result<()> {
    let mode = file.metadata()?.permissions().mode();
    file.set_permissions(Permissions::from_mode(mode & !OTHERS))
}

/// Makes a new file for its owner alone.
pub(crate) fn make_private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

/// Returns the number of the account that owns a file.
pub(crate) fn owner(path: impl AsRef<Path>) -> Option<u32> {
    fs::metadata(path).ok().map(|about| about.uid())
}

/// The folders that the system empties, beside the one that the environment names.
pub(crate) const TEMPORARY_FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Returns what the system tells of its mounts, in Linux's form; empty if it tells nothing.
pub(crate) fn mounts() -> String {
    fs::read_to_string("/proc/self/mountinfo").unwrap_or_default()
}

// This process.

/// Has the kernel write no core dump of this process, and let no other process of this user look
/// into it. A machine that cannot do this is no reason to refuse work.
#[cfg(target_os = "linux")]
pub(crate) fn keep_memory_private() {
    use rustix::process::{DumpableBehavior, Resource, Rlimit};
    use rustix::process::{set_dumpable_behavior, setrlimit};

    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = setrlimit(Resource::Core, none);
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Does nothing: a way is known only on Linux.
#[cfg(not(target_os = "linux"))]
pub(crate) fn keep_memory_private() {}

/// Raises the limit of open files to `files`, as far as the machine lets it, and returns how many
/// of them the process may open.
#[cfg(feature = "http")]
pub(crate) fn let_open(files: usize) -> usize {
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

/// Waits until the process is told to end.
pub(crate) async fn end_of_process() {
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

// Other processes.

/// Makes a command of the shell.
pub(crate) fn shell(command: impl AsRef<OsStr>) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    shell
}

/// Gives a command a group of its own, so that it can be ended with all that it starts.
pub(crate) fn in_own_group(command: &mut Command) {
    command.process_group(0);
}

/// Tells whether a child has ended. The child is not reaped, so that its process id is not used
/// again yet.
pub(crate) fn has_ended(child: &Child) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // An error means that there is no such child any more.
    waitid(WaitId::Pid(Pid::from_child(child)), options).map_or(true, |status| status.is_some())
}

/// Kills a child that leads a process group, and everything in that group, and waits for the child,
/// which must not have been waited for before.
pub(crate) fn end_group(child: &mut Child) -> Option<ExitStatus> {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    child.wait().ok()
}

/// Reads a small text file that only its owner can write, who is this user or root; `None` if there is
/// none. Links and pipes are refused.
pub(crate) fn own_text(path: &Path, bytes_max: u64) -> Result<Option<String>, String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty());
    let unread = |fault: io::Error| format!("it cannot be read: {fault}");
    let file = match opened {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::LOOP) => return Err("it is a link, which could lead anywhere".into()),
        Err(fault) => return Err(unread(fault.into())),
    };
    let found = file.metadata().map_err(unread)?;
    let me = rustix::process::geteuid().as_raw();
    if !found.is_file() {
        return Err("it is not a regular file".into());
    }
    if found.uid() != me && found.uid() != 0 {
        return Err("it belongs to another account".into());
    }
    if found.mode() & 0o022 != 0 {
        return Err("other accounts can write it (`chmod go-w` forbids that)".into());
    }
    let mut bytes = Vec::new();
    let read = file.take(bytes_max + 1).read_to_end(&mut bytes);
    if read.map_err(unread)? as u64 > bytes_max {
        return Err(format!("it is longer than {bytes_max} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
    Ok(Some(text))
}
