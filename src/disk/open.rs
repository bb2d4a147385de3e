//! Opening a file below a folder: no link on the way, nothing but a file at the end, no waiting.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

/// What every file is opened with. A named pipe that is opened so does not wait for its other end.
pub(super) const FILE: OFlags = OFlags::NONBLOCK
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NOCTTY);
pub(super) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

/// Opens what may be a file, by names that follow one another.
pub(super) fn file(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<File> {
    beneath(folder, path, flags | FILE, mode).map(File::from)
}

/// Opens a folder, by names that follow one another.
pub(super) fn folder(folder: BorrowedFd<'_>, path: &str) -> rustix::io::Result<OwnedFd> {
    beneath(folder, path, FOLDER, Mode::empty())
}

fn beneath(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    // One name leads through nothing that could be a link.
    if !path.contains('/') {
        return retry_on_intr(|| rustix::fs::openat(folder, path, flags, mode));
    }
    at_once(folder, path, flags, mode)
}

/// Whether the kernel does not know `openat2`, so that it need not be asked again.
#[cfg(target_os = "linux")]
static IS_UNKNOWN: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
fn at_once(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    if IS_UNKNOWN.load(Ordering::Relaxed) {
        return step_by_step(folder, path, flags, mode);
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // It refuses a mode where nothing is made, which `openat` passes over.
    let mode = if flags.contains(OFlags::CREATE) {
        mode
    } else {
        Mode::empty()
    };
    match retry_on_intr(|| rustix::fs::openat2(folder, path, flags, mode, resolve)) {
        // An older kernel, or a filter that does not know the call. (Where the file itself may not be
        // opened, the steps say so again.)
        Err(refused @ (Errno::NOSYS | Errno::PERM)) => {
            IS_UNKNOWN.store(refused == Errno::NOSYS, Ordering::Relaxed);
            step_by_step(folder, path, flags, mode)
        }
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn at_once(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    step_by_step(folder, path, flags, mode)
}

/// Opens each folder on the way.
pub(super) fn step_by_step(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    let mut above: Option<OwnedFd> = None;
    let mut rest = path;
    while let Some((name, below)) = rest.split_once('/') {
        let from = above.as_ref().map_or(folder, AsFd::as_fd);
        let opened = retry_on_intr(|| rustix::fs::openat(from, name, FOLDER, Mode::empty()))?;
        (above, rest) = (Some(opened), below);
    }
    let from = above.as_ref().map_or(folder, AsFd::as_fd);
    retry_on_intr(|| rustix::fs::openat(from, rest, flags, mode))
}

/// Whether an error can come of what stands in the place of a file or folder, rather than of the disk
/// or of the right to use it.
pub(super) fn is_of_kind(error: Errno) -> bool {
    matches!(
        error,
        Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO | Errno::MLINK | Errno::ACCESS
    )
}

/// As the standard library has it.
pub(super) fn io_error(error: Errno) -> io::Error {
    error.into()
}
