//! Where an import comes from: which kind it is, and what is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use agekeep::Text;
use agekeep::error::{Error, Result};
use agekeep::memory_tool::path::MemoryPath;
use agekeep::memory_tool::path::SEGMENTS;
use agekeep::policy::Limits;
use agekeep::store::Store;

use crate::folder::{self, Folder, Itself, Kind, Opened};
use crate::verbs::import::lines::Lines;
use crate::verbs::import::tree;

/// What an import can come from.
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

/// Where an import comes from, open.
pub(super) struct Source {
    from: From,
    body: Opening,
}

enum Opening {
    Tree(Folder),
    Lines(Lines),
}

/// One thing that is found in it.
pub(super) struct Item {
    /// How the source calls it.
    pub(super) name: String,
    /// Where it is to be.
    pub(super) path: Option<String>,
    pub(super) what: What,
}

/// What one thing is.
pub(super) enum What {
    Text(Body),
    /// No memory, and of whom or what it is.
    LeftOut(&'static str),
    /// What a memory was before, or one that was gone.
    Older,
    /// Nothing that is taken, and why.
    Refused(String),
}

/// Where a text is.
pub(super) enum Body {
    File(Vec<OsString>),
    Line { at: u64, path: String },
}

impl Source {
    /// Opens what somebody named, and finds out what it is.
    pub(super) fn open(path: &Path, from: Option<From>, limits: &Limits) -> Result<Self> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => Error::NotThere {
                path: path.display().to_string(),
                when: "to import".into(),
                hint: "name a folder that is there, or a file that `agekeep export --jsonl` wrote"
                    .into(),
            },
            _ => Error::Io {
                doing: "open",
                path: path.to_owned(),
                source,
            },
        };
        let (from, body) = match (folder::open(path).map_err(failed)?, from) {
            (Opened::File(file), None | Some(From::Jsonl)) => {
                let lines = Lines::open(file, path, limits)?;
                (From::Jsonl, Opening::Lines(lines))
            }
            (Opened::Folder(folder), from) if from != Some(From::Jsonl) => {
                let from = from.map_or_else(|| told(&folder, path), Ok)?;
                (from, Opening::Tree(inner(folder, from)?))
            }
            (Opened::File(_), _) => return Err(invalid("it is a file, and no folder")),
            (Opened::Folder(_), _) => return Err(invalid("it is a folder, and no file")),
        };
        Ok(Self { from, body })
    }

    /// The reason that is recorded where nobody says another: nothing of this machine is in it.
    pub(super) fn reason(&self) -> String {
        match (&self.body, self.from) {
            (Opening::Lines(lines), _) => match lines.store {
                Some(store) => format!("import of an export of the store {store}"),
                None => "import of an export".into(),
            },
            (_, From::ClaudeCode) => "import of a memory folder of Claude Code".into(),
            (_, From::Sdk) => "import of the folder of an SDK's local memory tool".into(),
            _ => "import of a folder of text files".into(),
        }
    }

    /// What it is, in a word.
    pub(super) fn kind(&self) -> &'static str {
        match self.from {
            From::Folder => "folder",
            From::Sdk => "sdk",
            From::ClaudeCode => "claude-code",
            From::Jsonl => "jsonl",
        }
    }

    /// Everything in it, each with the path below `to` it is to have; what cannot be there side by
    /// side is refused.
    pub(super) fn items(
        &mut self,
        store: &Store,
        itself: Option<Itself>,
        to: &MemoryPath,
    ) -> Result<Vec<Item>> {
        let mut items = match &mut self.body {
            Opening::Tree(root) => {
                if itself.is_some() && root.itself().ok() == itself {
                    return Err(invalid("it is the store itself"));
                }
                let depth_max = SEGMENTS - to.as_str().split('/').skip(1).count();
                let found = tree::walk(root, itself, depth_max);
                found.into_iter().map(|one| item(one, to)).collect()
            }
            Opening::Lines(lines) => lines.items(to.as_str())?,
        };
        refuse_clashes(store, &mut items);
        Ok(items)
    }

    /// A text, or why it is not taken.
    pub(super) fn text(&mut self, body: &Body, limits: &Limits) -> Result<Result<Text, String>> {
        match (&mut self.body, body) {
            (Opening::Tree(root), Body::File(names)) => {
                Ok(tree::read(root, names, limits.memory_bytes))
            }
            (Opening::Lines(lines), Body::Line { at, path }) => lines.text(*at, path),
            _ => unreachable!("each kind of source has its own bodies"),
        }
    }
}

fn invalid(why: &str) -> Error {
    Error::Invalid {
        what: "the source",
        why: why.into(),
    }
}

/// Tells what kind of folder it is.
fn told(folder: &Folder, path: &Path) -> Result<From> {
    let failed = |source: io::Error| invalid(&format!("it cannot be listed: {source}"));
    let names = folder.names().map_err(failed)?;
    let is = |name: &str, kind| {
        folder
            .kind(OsStr::new(name))
            .is_ok_and(|found| found == kind)
    };
    if is("memory", Kind::Folder) && names_index(folder) {
        let transcript = |name: &OsString| {
            let name = Path::new(name);
            name.extension().is_some_and(|end| end == "jsonl")
        };
        if names.len() == 1 || names.iter().any(transcript) {
            return Ok(From::ClaudeCode);
        }
        return Err(invalid(
            "it has a folder `memory` with a MEMORY.md, and other things: --from claude-code takes \
             that folder alone, and --from folder takes everything",
        ));
    }
    if is("MEMORY.md", Kind::File) {
        return Ok(From::ClaudeCode);
    }
    if !is("memories", Kind::Folder) {
        return Ok(From::Folder);
    }
    let mut others = names
        .iter()
        .filter(|n| *n != "memories" && *n != ".DS_Store");
    if others.next().is_none() && path.file_name() != Some(OsStr::new("memories")) {
        return Ok(From::Sdk);
    }
    Err(invalid(
        "it has a folder `memories`, and may be one of memories itself: --from sdk takes that folder \
         alone, and --from folder takes everything as it is",
    ))
}

/// Whether its folder `memory` has the index that Claude Code keeps there.
fn names_index(folder: &Folder) -> bool {
    let memory = folder.folder(OsStr::new("memory"));
    let kind = memory.and_then(|memory| memory.kind(OsStr::new("MEMORY.md")));
    kind.is_ok_and(|kind| kind == Kind::File)
}

/// The folder whose files are the memories: one in what was named, or that itself.
fn inner(folder: Folder, from: From) -> Result<Folder> {
    let name = match from {
        From::Sdk => "memories",
        From::ClaudeCode => "memory",
        From::Folder | From::Jsonl => return Ok(folder),
    };
    let name = OsStr::new(name);
    let is_index = |name| {
        folder
            .kind(OsStr::new(name))
            .is_ok_and(|kind| kind == Kind::File)
    };
    match folder.kind(name) {
        // It is the memory folder itself, and the one in it is of memories too.
        Ok(Kind::Folder) if from == From::ClaudeCode && is_index("MEMORY.md") => Ok(folder),
        Ok(Kind::Folder) => {
            let opened = folder.folder(name);
            opened.map_err(|error| invalid(&format!("its folder cannot be opened: {error}")))
        }
        Ok(Kind::Link) => Err(invalid(
            "the folder of memories in it is a symbolic link: name the folder it leads to",
        )),
        _ => Ok(folder),
    }
}

fn item(found: tree::Found, to: &MemoryPath) -> Item {
    let names = found.names.iter().map(|name| name.to_str());
    let texts: Option<Vec<&str>> = names.collect();
    let path = texts.map(|names| format!("{}/{}", to.as_str(), names.join("/")));
    let shown: Vec<_> = found.names.iter().map(|n| n.to_string_lossy()).collect();
    Item {
        name: if shown.is_empty() {
            ".".into()
        } else {
            shown.join("/")
        },
        what: match (found.what, &path) {
            (tree::What::LeftOut(what), _) => What::LeftOut(what),
            (tree::What::Refused(why), _) => What::Refused(why),
            (tree::What::File, None) => What::Refused("its name is not UTF-8".into()),
            (tree::What::File, Some(_)) => What::Text(Body::File(found.names)),
        },
        path,
    }
}

/// Refuses what would have one path, or be above another: none of them has more right to be there.
fn refuse_clashes(store: &Store, items: &mut [Item]) {
    let mut at: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let What::Text(_) = &item.what else { continue };
        let path = item.path.as_deref().map(|path| store.parse_path(path));
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
        items[index].what = What::Refused(why);
    }
}
