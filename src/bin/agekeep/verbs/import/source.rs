//! The source of an import: its kind, and what is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::Path;

use agekeep::Text;
use agekeep::error::{Error, Result};
use agekeep::memory_tool::path::{MemoryPath, SEGMENTS};
use agekeep::policy::Limits;
use agekeep::store::Store;
use zeroize::Zeroizing;

use crate::platform::folder::{self, EntryKind, Itself, OpenedPath, UserFolder};
use crate::verbs::import::ImportOutcome;
use crate::verbs::import::lines::Lines;

/// The kind of a source.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum From {
    /// Any folder of text files, as it is.
    Folder,
    /// The folder of an SDK's local memory tool: what is in its folder `memories`.
    Sdk,
    /// Claude Code's folder of a project: what is in its folder `memory`.
    ClaudeCode,
    /// A JSON Lines export.
    Jsonl,
}

/// The source of an import, open.
pub(super) struct ImportSource {
    from: From,
    body: SourceBody,
}

enum SourceBody {
    Tree(UserFolder),
    Lines(Lines),
}

/// An item of a source.
pub(super) struct ImportItem {
    /// Its name in the source.
    pub(super) name: String,
    /// The path it is to get.
    pub(super) path: Option<String>,
    /// The text of a memory, or what becomes of it without one.
    pub(super) what: Result<Body, ImportOutcome>,
}

/// The place of a text in the source.
pub(super) enum Body {
    File(Vec<OsString>),
    Line { at: u64, path: String },
}

impl ImportSource {
    /// Opens the source that the caller named, and finds out its kind.
    pub(super) fn open(path: &Path, from: Option<From>, limits: &Limits) -> Result<Self> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => Error::NotThere {
                path: path.display().to_string(),
                when: "to import".into(),
                hint: "name an existing folder, or a file that `agekeep export --jsonl` wrote"
                    .into(),
            },
            _ => Error::io("open", path)(source),
        };
        let (from, body) = match (folder::open(path).map_err(failed)?, from) {
            (OpenedPath::File(file), None | Some(From::Jsonl)) => {
                let lines = Lines::open(file, path, limits)?;
                (From::Jsonl, SourceBody::Lines(lines))
            }
            (OpenedPath::Folder(folder), from) if from != Some(From::Jsonl) => {
                let from = from.map_or_else(|| told(&folder, path), Ok)?;
                (from, SourceBody::Tree(inner(folder, from)?))
            }
            (OpenedPath::File(_), _) => return Err(invalid("it is a file, not a folder")),
            (OpenedPath::Folder(_), _) => return Err(invalid("it is a folder, not a file")),
        };
        Ok(Self { from, body })
    }

    /// Returns the reason to record if the caller gives none; it tells nothing of this machine.
    pub(super) fn reason(&self) -> String {
        match (&self.body, self.from) {
            (SourceBody::Lines(lines), _) => match lines.store {
                Some(store) => format!("import of an export of the store {store}"),
                None => "import of an export".into(),
            },
            (_, From::ClaudeCode) => "import of a memory folder of Claude Code".into(),
            (_, From::Sdk) => "import of the folder of an SDK's local memory tool".into(),
            _ => "import of a folder of text files".into(),
        }
    }

    /// Returns its kind, in a word.
    pub(super) fn kind(&self) -> &'static str {
        match self.from {
            From::Folder => "folder",
            From::Sdk => "sdk",
            From::ClaudeCode => "claude-code",
            From::Jsonl => "jsonl",
        }
    }

    /// Lists everything in it, each with the path below `to` it is to get; items whose paths clash
    /// are refused.
    pub(super) fn items(
        &mut self,
        store: &Store,
        itself: Option<Itself>,
        to: &MemoryPath,
    ) -> Result<Vec<ImportItem>> {
        let mut items = match &mut self.body {
            SourceBody::Tree(root) => {
                if itself.is_some() && root.itself().ok() == itself {
                    return Err(invalid("it is the store itself"));
                }
                let depth_max = SEGMENTS - to.as_str().split('/').skip(1).count();
                walk(root, itself, to.as_str(), depth_max)
            }
            SourceBody::Lines(lines) => lines.items(to.as_str())?,
        };
        refuse_clashes(store, &mut items);
        Ok(items)
    }

    /// Reads a text; the inner error says why it is not taken.
    pub(super) fn text(&mut self, body: &Body, limits: &Limits) -> Result<Result<Text, String>> {
        match (&mut self.body, body) {
            (SourceBody::Tree(root), Body::File(names)) => {
                Ok(read(root, names, limits.memory_bytes))
            }
            (SourceBody::Lines(lines), Body::Line { at, path }) => lines.text(*at, path),
            _ => unreachable!("each kind of source has its own bodies"),
        }
    }
}

fn invalid(why: &str) -> Error {
    Error::invalid("the source", why)
}

/// Tells what kind of folder it is.
fn told(folder: &UserFolder, path: &Path) -> Result<From> {
    let failed = |source: io::Error| invalid(&format!("it cannot be listed: {source}"));
    let names = folder.names().map_err(failed)?;
    let has_index = |folder: &UserFolder| is(folder, "MEMORY.md", EntryKind::File);
    let memory = || folder.folder(OsStr::new("memory"));
    if is(folder, "memory", EntryKind::Folder) && memory().is_ok_and(|memory| has_index(&memory)) {
        let transcript = |name: &OsString| {
            let name = Path::new(name);
            name.extension().is_some_and(|end| end == "jsonl")
        };
        if names.len() == 1 || names.iter().any(transcript) {
            return Ok(From::ClaudeCode);
        }
        return Err(invalid(
            "it has a folder `memory` with a MEMORY.md, and other files: --from claude-code \
             imports only that folder, and --from folder imports everything",
        ));
    }
    if has_index(folder) {
        return Ok(From::ClaudeCode);
    }
    if !is(folder, "memories", EntryKind::Folder) {
        return Ok(From::Folder);
    }
    let mut others = names
        .iter()
        .filter(|n| *n != "memories" && *n != ".DS_Store");
    if others.next().is_none() && path.file_name() != Some(OsStr::new("memories")) {
        return Ok(From::Sdk);
    }
    Err(invalid(
        "it has a folder `memories`, and may be a folder of memories itself: --from sdk imports \
         only that folder, and --from folder imports everything",
    ))
}

/// Tells whether a name in a folder stands for this kind of thing.
fn is(folder: &UserFolder, name: &str, kind: EntryKind) -> bool {
    let found = folder.kind(OsStr::new(name));
    found.is_ok_and(|found| found == kind)
}

/// Opens the folder whose files are the memories: one inside the named folder, or that itself.
fn inner(folder: UserFolder, from: From) -> Result<UserFolder> {
    let name = match from {
        From::Sdk => "memories",
        From::ClaudeCode => "memory",
        From::Folder | From::Jsonl => return Ok(folder),
    };
    let name = OsStr::new(name);
    let is_memory = from == From::ClaudeCode && is(&folder, "MEMORY.md", EntryKind::File);
    match folder.kind(name) {
        // It is the memory folder itself, and the folder in it holds memories too.
        Ok(EntryKind::Folder) if is_memory => Ok(folder),
        Ok(EntryKind::Folder) => {
            let opened = folder.folder(name);
            opened.map_err(|error| invalid(&format!("its folder cannot be opened: {error}")))
        }
        Ok(EntryKind::Link) => Err(invalid(
            "its folder of memories is a symbolic link; name the folder that the link points to",
        )),
        _ => Ok(folder),
    }
}

/// Refuses items that would share a path, or be above another: none of them has more right to it.
fn refuse_clashes(store: &Store, items: &mut [ImportItem]) {
    let mut at: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let path = item.path.as_deref().filter(|_| item.what.is_ok());
        let path = path.map(|path| store.parse_path(path));
        if let Some(Ok(path)) = path {
            at.entry(path.as_str().to_owned()).or_default().push(index);
        }
    }
    let paths: BTreeSet<String> = at.keys().cloned().collect();
    let mut why: Vec<(usize, String)> = Vec::new();
    for (path, indexes) in &at {
        let below = format!("{path}/");
        let mut after = paths.range::<String, _>(below.clone()..);
        if after.next().is_some_and(|next| next.starts_with(&below)) {
            let too = "others are to be below it, as in a folder of its name";
            why.extend(indexes.iter().map(|index| (*index, too.to_owned())));
        } else if let [first, second, ..] = indexes[..] {
            why.extend(indexes.iter().map(|index| {
                let other = &items[if *index == first { second } else { first }];
                let same = format!("its path and that of {} are one", other.name.escape_debug());
                (*index, same + " (in Unicode NFC)")
            }));
        }
    }
    for (index, why) in why {
        items[index].what = Err(ImportOutcome::Refused(why));
    }
}

// The files below a folder: their listing, in an order that never changes, and their texts.

/// Lists everything below a folder but folders, in the byte order of names, each with its path below
/// `to`. A folder that is more than `depth_max` names down is refused as a whole; so are links, and
/// all that is no file.
fn walk(root: &UserFolder, store: Option<Itself>, to: &str, depth_max: usize) -> Vec<ImportItem> {
    let mut walk = Walk {
        store,
        to,
        depth_max,
        found: Vec::new(),
    };
    walk.below(root, &mut Vec::new());
    walk.found
}

struct Walk<'a> {
    /// The store's own folder, which is no memory.
    store: Option<Itself>,
    to: &'a str,
    depth_max: usize,
    found: Vec<ImportItem>,
}

impl Walk<'_> {
    fn below(&mut self, folder: &UserFolder, names: &mut Vec<OsString>) {
        let listed = match folder.names() {
            Ok(listed) => listed,
            Err(error) => return self.refuse(names, unreadable(&error)),
        };
        for name in listed {
            names.push(name);
            self.one(folder, names);
            names.pop();
        }
    }

    fn one(&mut self, folder: &UserFolder, names: &mut Vec<OsString>) {
        let name = names.last().expect("a name was just added").clone();
        let kind = match folder.kind(&name) {
            Ok(kind) => kind,
            Err(error) => return self.refuse(names, unreadable(&error)),
        };
        if let Some(what) = no_memory(&name, kind) {
            return self.add(names, Err(ImportOutcome::LeftOut(what)));
        }
        match kind {
            EntryKind::File => self.add(names, Ok(Body::File(names.clone()))),
            EntryKind::Folder => self.folder(folder, names, &name),
            EntryKind::Link => self.refuse(names, LINK),
            EntryKind::Other(what) => self.refuse(names, what),
        }
    }

    fn folder(&mut self, folder: &UserFolder, names: &mut Vec<OsString>, name: &OsStr) {
        let below = match folder.folder(name) {
            Ok(below) => below,
            Err(error) => return self.refuse(names, opened(&error)),
        };
        if self.store.is_some() && below.itself().ok() == self.store {
            return self.add(names, Err(ImportOutcome::LeftOut("the store itself")));
        }
        if names.len() >= self.depth_max {
            let why = "a folder deeper down than a path may go";
            return self.refuse(names, why);
        }
        self.below(&below, names);
    }

    fn refuse(&mut self, names: &[OsString], why: impl Into<String>) {
        self.add(names, Err(ImportOutcome::Refused(why.into())));
    }

    fn add(&mut self, names: &[OsString], what: Result<Body, ImportOutcome>) {
        let whole = names.join(OsStr::new("/"));
        let path = whole.to_str().map(|below| format!("{}/{below}", self.to));
        let nameless = || ImportOutcome::Refused("its name is not UTF-8".into());
        self.found.push(ImportItem {
            name: match whole.to_string_lossy() {
                name if name.is_empty() => ".".into(),
                name => name.into(),
            },
            what: what.and_then(|body| path.as_ref().map(|_| body).ok_or_else(nameless)),
            path,
        });
    }
}

const LINK: &str = "a symbolic link, which agekeep does not follow";

/// Says what a file is that stands beside memories and is none.
fn no_memory(name: &OsStr, kind: EntryKind) -> Option<&'static str> {
    let name = name.to_str()?;
    match (name, kind) {
        (".git", _) => Some("of git"),
        (".DS_Store", EntryKind::File) => Some("of the Finder"),
        (".consolidate-lock", EntryKind::File) => Some("a lock of Claude Code"),
        (name, EntryKind::File) if is_half_written(name) => Some("half written by an SDK"),
        _ => None,
    }
}

/// Tells whether the local memory tools of the SDKs would give this name to a file that they are
/// about to rename: `.tmp-`, a process id, and a UUID.
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

/// Reads the text of a file, or says why it is not taken. Opens every name on the way anew, so that
/// a link that was swapped in since the listing is not followed.
fn read(root: &UserFolder, names: &[OsString], bytes_max: usize) -> Result<Text, String> {
    let (name, above) = names.split_last().expect("a file has a name");
    let mut folder: Option<UserFolder> = None;
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
        read(
            &UserFolder::open(root).expect("a folder"),
            &names(path),
            MAX,
        )
    }

    /// A file that is swapped after the listing is recognised when it is opened.
    #[test]
    fn what_is_swapped_for_a_link_is_not_followed() {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let (root, outside) = (scratch.path().join("in"), scratch.path().join("outside"));
        fs::create_dir_all(root.join("a/b")).expect("made");
        fs::create_dir_all(outside.join("b")).expect("made");
        for folder in [&root.join("a"), &outside] {
            fs::write(folder.join("b/c.md"), "text\n").expect("written");
        }
        let found = walk(&UserFolder::open(&root).expect("a folder"), None, "/m", 9);
        let [
            ImportItem {
                what: Ok(Body::File(listed)),
                ..
            },
        ] = &found[..]
        else {
            panic!("one file");
        };
        let again = || read(&UserFolder::open(&root).expect("a folder"), listed, MAX);
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
        // The kernel says that some files are empty which are not.
        if let Ok(folder) = UserFolder::open(Path::new("/proc/self")) {
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
