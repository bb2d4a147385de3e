//! The files below a folder: which there are, in an order that never changes, and what each says.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};

use agekeep::Text;
use zeroize::Zeroizing;

use crate::folder::{Folder, Itself, Kind};

/// What stands somewhere below a folder.
pub(super) struct Found {
    /// The names on the way to it.
    pub(super) names: Vec<OsString>,
    pub(super) what: What,
}

/// What it is.
pub(super) enum What {
    File,
    /// No memory; of whom or what it is.
    LeftOut(&'static str),
    /// Nothing that is taken, and why.
    Refused(String),
}

/// Everything below a folder but folders, in the order of the bytes of their paths. A folder that is
/// more than `depth_max` names down is refused as a whole; so are what is no text, and links.
pub(super) fn walk(root: &Folder, store: Option<Itself>, depth_max: usize) -> Vec<Found> {
    let mut walk = Walk {
        store,
        depth_max,
        found: Vec::new(),
    };
    walk.below(root, &mut Vec::new());
    walk.found
}

struct Walk {
    /// The store's own folder, which is nobody's memory.
    store: Option<Itself>,
    depth_max: usize,
    found: Vec<Found>,
}

impl Walk {
    fn below(&mut self, folder: &Folder, names: &mut Vec<OsString>) {
        let listed = match folder.names() {
            Ok(listed) => listed,
            Err(error) => return self.add(names, What::Refused(unreadable(&error))),
        };
        for name in listed {
            names.push(name);
            self.one(folder, names);
            names.pop();
        }
    }

    fn one(&mut self, folder: &Folder, names: &mut Vec<OsString>) {
        let name = names.last().expect("a name was just added").clone();
        let kind = match folder.kind(&name) {
            Ok(kind) => kind,
            Err(error) => return self.add(names, What::Refused(unreadable(&error))),
        };
        if let Some(what) = no_memory(&name, kind) {
            return self.add(names, What::LeftOut(what));
        }
        match kind {
            Kind::File => self.add(names, What::File),
            Kind::Folder => self.folder(folder, names, &name),
            Kind::Link => self.add(names, What::Refused(LINK.into())),
            Kind::Other(what) => self.add(names, What::Refused(what.into())),
        }
    }

    fn folder(&mut self, folder: &Folder, names: &mut Vec<OsString>, name: &OsStr) {
        let below = match folder.folder(name) {
            Ok(below) => below,
            Err(error) => return self.add(names, What::Refused(opened(&error))),
        };
        if self.store.is_some() && below.itself().ok() == self.store {
            return self.add(names, What::LeftOut("the store itself"));
        }
        if names.len() >= self.depth_max {
            let why = "a folder deeper down than a path may go";
            return self.add(names, What::Refused(why.into()));
        }
        self.below(&below, names);
    }

    fn add(&mut self, names: &[OsString], what: What) {
        self.found.push(Found {
            names: names.to_vec(),
            what,
        });
    }
}

const LINK: &str = "a symbolic link, which may lead anywhere";

/// What is no memory, though it may stand beside them.
fn no_memory(name: &OsStr, kind: Kind) -> Option<&'static str> {
    let name = name.to_str()?;
    match (name, kind) {
        (".git", _) => Some("of git"),
        (".DS_Store", Kind::File) => Some("of the Finder"),
        (".consolidate-lock", Kind::File) => Some("a lock of Claude Code"),
        (name, Kind::File) if is_half_written(name) => Some("half written by an SDK"),
        _ => None,
    }
}

/// Whether the local memory tools of the SDKs would write to a file of this name what is about to
/// be renamed: `.tmp-`, the number of a process, and a UUID.
fn is_half_written(name: &str) -> bool {
    let Some((process, uuid)) = name.strip_prefix(".tmp-").and_then(|n| n.split_once('-')) else {
        return false;
    };
    let lengths = uuid.split('-').map(str::len);
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    !process.is_empty()
        && process.bytes().all(|b| b.is_ascii_digit())
        && lengths.eq([8, 4, 4, 4, 12])
        && hex(uuid)
}

/// The text of a file, or why it is not taken. Every name on the way is opened anew, so that what
/// was swapped for a link since it was listed is not followed.
pub(super) fn read(root: &Folder, names: &[OsString], bytes_max: usize) -> Result<Text, String> {
    let (name, above) = names.split_last().expect("a file has a name");
    let mut folder: Option<Folder> = None;
    for name in above {
        let next = folder.as_ref().unwrap_or(root).folder(name);
        folder = Some(next.map_err(|error| opened(&error))?);
    }
    let opening = folder.as_ref().unwrap_or(root).file(name);
    let (file, length) = opening.map_err(|error| opened(&error))?;
    let too_long = |length: u64| {
        format!("it has {length} bytes, and a file has at most {bytes_max}; split it into several")
    };
    if length > bytes_max as u64 {
        return Err(too_long(length));
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(bytes_max.min(64 * 1024)));
    let reading = file.take(bytes_max as u64 + 1).read_to_end(&mut bytes);
    reading.map_err(|error| unreadable(&error))?;
    if bytes.len() > bytes_max {
        return Err(too_long(bytes.len() as u64));
    }
    if let Some(at) = bytes.iter().position(|b| *b == 0) {
        return Err(format!("no text: a NUL at byte {at}"));
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(text.into()),
        Err(fault) => Err(format!("no UTF-8 text at byte {}", fault.valid_up_to())),
    }
}

fn opened(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::Other => error.to_string(),
        _ => unreadable(error),
    }
}

fn unreadable(error: &io::Error) -> String {
    format!("it cannot be read: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    const MAX: usize = 100;

    fn names(path: &str) -> Vec<OsString> {
        path.split('/').map(OsString::from).collect()
    }

    fn read_in(root: &Path, path: &str) -> Result<Text, String> {
        read(&Folder::open(root).expect("a folder"), &names(path), MAX)
    }

    /// What is swapped after it was listed is told by what it is when it is opened.
    #[test]
    fn what_is_swapped_for_a_link_is_not_followed() {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let (root, outside) = (scratch.path().join("in"), scratch.path().join("outside"));
        fs::create_dir_all(root.join("a/b")).expect("made");
        fs::create_dir_all(outside.join("b")).expect("made");
        for folder in [&root.join("a"), &outside] {
            fs::write(folder.join("b/c.md"), "text\n").expect("written");
        }
        let found = walk(&Folder::open(&root).expect("a folder"), None, 9);
        assert_eq!(found.len(), 1);
        let again = || {
            read(
                &Folder::open(&root).expect("a folder"),
                &found[0].names,
                MAX,
            )
        };
        assert_eq!(again().expect("read").as_str(), "text\n");
        let swap = |path: &str, to: &Path| {
            let path = root.join(path);
            fs::rename(&path, scratch.path().join("aside")).expect("moved");
            symlink(to, &path).expect("linked");
            let said = again().expect_err("it is a link");
            assert!(said.contains("a symbolic link"), "{said}");
            fs::remove_file(&path).expect("removed");
            fs::rename(scratch.path().join("aside"), &path).expect("moved");
        };
        swap("a/b/c.md", &outside.join("b/c.md"));
        swap("a/b", &outside.join("b"));
        swap("a", &outside);
        assert!(again().is_ok(), "what was swapped is there again");
    }

    #[test]
    fn what_grows_or_goes_after_it_was_listed_is_refused() {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let root = scratch.path();
        fs::write(root.join("fits"), "x".repeat(MAX)).expect("written");
        fs::write(root.join("more"), "x".repeat(MAX + 1)).expect("written");
        assert_eq!(read_in(root, "fits").expect("read").len(), MAX);
        let said = read_in(root, "more").expect_err("too long");
        assert!(said.contains("101 bytes"), "{said}");
        assert!(read_in(root, "gone").is_err());
        fs::create_dir(root.join("folder")).expect("made");
        assert!(read_in(root, "folder").is_err());
        let fifo = std::process::Command::new("mkfifo")
            .arg(root.join("fifo"))
            .status();
        assert!(fifo.expect("mkfifo runs").success());
        let said = read_in(root, "fifo").expect_err("a FIFO");
        assert!(said.contains("FIFO"), "{said}");
        // The kernel says of some files that they are empty, and they are not.
        if let Ok(folder) = Folder::open(Path::new("/proc/self")) {
            let said = read(&folder, &names("status"), 10).expect_err("longer than it says");
            assert!(said.contains("at most 10"), "{said}");
        }
    }

    #[test]
    fn only_the_very_names_of_the_tools_are_half_written_files() {
        let uuid = "0b0f7bd4-9a53-4f5c-8bbf-2d0c5f1f6a01";
        assert!(is_half_written(&format!(".tmp-4711-{uuid}")));
        for name in [
            format!("tmp-4711-{uuid}"),
            format!(".tmp-{uuid}"),
            format!(".tmp-x-{uuid}"),
            format!(".tmp-4711-{}", &uuid[1..]),
            format!(".tmp-4711-{}", uuid.replace('b', "g")),
            ".tmp-4711-notes".into(),
            ".tmp-".into(),
        ] {
            assert!(!is_half_written(&name), "{name}");
        }
    }
}
