//! Git objects as bytes: names, trees and commits (gitformat-loose, git-cat-file(1)).

use std::collections::BTreeMap;
use std::iter;

use crate::id::ObjectId;

/// The object kinds in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Blob,
    Tree,
    Commit,
}

impl ObjectKind {
    pub(crate) const ALL: [Self; 3] = [Self::Blob, Self::Tree, Self::Commit];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
        }
    }
}

/// An object together with its name.
#[derive(Clone)]
pub(crate) struct Object {
    pub(crate) id: ObjectId,
    pub(crate) kind: ObjectKind,
    pub(crate) bytes: Vec<u8>,
}

/// An entry of a tree: a file, or a folder one level down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    pub(crate) folder: bool,
    pub(crate) id: ObjectId,
}

/// A tree: names in git's order, which for names that share no prefix is byte order.
pub(crate) type Tree = BTreeMap<String, TreeEntry>;

/// Encodes a tree object.
pub(crate) fn encode_tree(tree: &Tree) -> Vec<u8> {
    let mut out = Vec::with_capacity(tree.len() * 64);
    for (name, entry) in tree {
        out.extend_from_slice(if entry.folder { b"40000 " } else { b"100644 " });
        out.extend_from_slice(name.as_bytes());
        out.push(0);
        out.extend_from_slice(&entry.id.0);
    }
    out
}

/// Parses a tree object of plain files and folders, in order.
pub(crate) fn parse_tree(bytes: &[u8]) -> Option<Tree> {
    let named =
        |entry: Option<(&str, TreeEntry)>| entry.map(|(name, entry)| (name.to_owned(), entry));
    entries(bytes).map(named).collect()
}

/// Finds the blobs of the named files in a tree object; `None` for a file that is absent. The whole
/// tree is checked, as by [`parse_tree`].
pub(crate) fn find_files<const N: usize>(
    bytes: &[u8],
    names: [&str; N],
) -> Option<[Option<ObjectId>; N]> {
    let mut found = [None; N];
    for entry in entries(bytes) {
        let (name, entry) = entry?;
        if let Some(at) = names.iter().position(|wanted| *wanted == name)
            && !entry.folder
        {
            found[at] = Some(entry.id);
        }
    }
    Some(found)
}

/// Lists the entries of a tree object that another tree lacks, skipping malformed entries.
pub(crate) fn entries_not_in<'a>(
    bytes: &'a [u8],
    other: &'a [u8],
) -> impl Iterator<Item = (&'a str, TreeEntry)> {
    let mut others = entries(other).flatten().peekable();
    entries(bytes).flatten().filter(move |(name, entry)| {
        while others.next_if(|(before, _)| before < name).is_some() {}
        others.peek() != Some(&(*name, *entry))
    })
}

/// Iterates over the entries of a tree object in order; ends with `None` at one that a store would
/// not write.
fn entries(mut bytes: &[u8]) -> impl Iterator<Item = Option<(&str, TreeEntry)>> {
    let mut last = "";
    iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let first = split_entry(bytes).filter(|(name, ..)| *name > last);
        bytes = first.map_or(&[], |(_, _, rest)| rest);
        last = first.map_or("", |(name, ..)| name);
        Some(first.map(|(name, entry, _)| (name, entry)))
    })
}

/// Splits the first entry of a tree object from the rest.
fn split_entry(bytes: &[u8]) -> Option<(&str, TreeEntry, &[u8])> {
    let (folder, rest) = match bytes.strip_prefix(b"40000 ") {
        Some(rest) => (true, rest),
        None => (false, bytes.strip_prefix(b"100644 ")?),
    };
    let nul = rest.iter().position(|b| *b == 0)?;
    let name = std::str::from_utf8(&rest[..nul]).ok()?;
    let (id, rest) = rest[nul + 1..].split_first_chunk()?;
    let id = ObjectId(*id);
    (!name.is_empty() && !name.contains('/')).then_some((name, TreeEntry { folder, id }, rest))
}

/// A commit of a store: at most one parent, or two in a merge, and one signer.
pub(crate) struct Commit {
    pub(crate) tree: ObjectId,
    pub(crate) parent: Option<ObjectId>,
    /// The second parent of a merge. This version of agekeep makes none.
    pub(crate) merged: Option<ObjectId>,
    /// The name, address and time of the author, who is also the committer.
    pub(crate) author: String,
    /// The signed bytes: the object without its `gpgsig` header.
    pub(crate) signed_bytes: Vec<u8>,
    pub(crate) signature: String,
    pub(crate) message: String,
}

/// Encodes a commit object without a signature. `author` is name, address and time, and serves as
/// committer too.
pub(crate) fn encode_commit(
    tree: ObjectId,
    parent: Option<ObjectId>,
    author: &str,
    message: &str,
) -> Vec<u8> {
    let parent = parent.map_or_else(String::new, |p| format!("parent {p}\n"));
    format!("tree {tree}\n{parent}author {author}\ncommitter {author}\n\n{message}").into_bytes()
}

/// Inserts a signature into a commit object as its `gpgsig` header.
pub(crate) fn add_signature(unsigned: &[u8], signature: &str) -> Vec<u8> {
    let end = headers_end(unsigned).expect("a commit has an empty line after its headers");
    let folded = signature.trim_end().replace('\n', "\n ");
    let mut out = Vec::with_capacity(unsigned.len() + folded.len() + 10);
    out.extend_from_slice(&unsigned[..end]);
    out.extend_from_slice(b"gpgsig ");
    out.extend_from_slice(folded.as_bytes());
    out.push(b'\n');
    out.extend_from_slice(&unsigned[end..]);
    out
}

/// Finds the empty line after the headers.
fn headers_end(commit: &[u8]) -> Option<usize> {
    commit
        .windows(2)
        .position(|w| w == b"\n\n")
        .map(|at| at + 1)
}

/// Parses a commit object in the form a store writes: signed, UTF-8, at most one parent; or that of a merge,
/// with two.
pub(crate) fn parse_commit(bytes: &[u8]) -> Option<Commit> {
    let end = headers_end(bytes)?;
    let headers = std::str::from_utf8(&bytes[..end]).ok()?;
    let message = std::str::from_utf8(&bytes[end + 1..]).ok()?;
    let (before, after) = headers.split_once("\ngpgsig ")?;
    let signature_end = after
        .match_indices('\n')
        .map(|(at, _)| at)
        .find(|at| !after[at + 1..].starts_with(' '))?;
    let mut lines = before.split('\n');
    let tree = ObjectId::from_hex(lines.next()?.strip_prefix("tree ")?)?;
    let mut next = lines.next()?;
    let mut parents = [None; 2];
    for parent in &mut parents {
        if let Some(id) = next.strip_prefix("parent ") {
            *parent = Some(ObjectId::from_hex(id)?);
            next = lines.next()?;
        }
    }
    let [parent, merged] = parents;
    if merged.is_some() && merged == parent {
        return None;
    }
    let author = next.strip_prefix("author ")?;
    let rest_is_plain = lines.next()?.strip_prefix("committer ")? == author
        && lines.next().is_none()
        && signature_end + 1 == after.len();
    if !rest_is_plain {
        return None;
    }
    let commit = Commit {
        tree,
        parent,
        merged,
        author: author.to_owned(),
        signed_bytes: [before.as_bytes(), b"\n", &bytes[end..]].concat(),
        signature: after[..signature_end].replace("\n ", "\n"),
        message: message.to_owned(),
    };
    // One form only: the parsed commit, encoded again, must equal the hashed bytes.
    (add_signature(&commit.signed_bytes, &commit.signature) == bytes).then_some(commit)
}

/// The fields that can be read from the headers of any commit, even a foreign or torn one.
pub(crate) struct Outline {
    pub(crate) tree: ObjectId,
    /// The first parent.
    pub(crate) parent: Option<ObjectId>,
    pub(crate) signed: bool,
    /// True if the commit visibly has no parent.
    pub(crate) begins_history: bool,
}

/// Parses the outline of a commit object, which may be foreign or torn.
pub(crate) fn outline(bytes: &[u8]) -> Option<Outline> {
    let headers = &bytes[..headers_end(bytes).unwrap_or(bytes.len())];
    let mut lines = headers.split(|b| *b == b'\n');
    let id = |line: Option<&[u8]>, name: &str| {
        let line = std::str::from_utf8(line?).ok()?;
        ObjectId::from_hex(line.strip_prefix(name)?)
    };
    let tree = id(lines.next(), "tree ")?;
    let second = lines.next();
    Some(Outline {
        tree,
        parent: id(second, "parent "),
        begins_history: second.is_some_and(|line| line.starts_with(b"author ")),
        signed: lines.any(|line| line.starts_with(b"gpgsig")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn oid(byte: u8) -> ObjectId {
        ObjectId([byte; 20])
    }

    #[test]
    fn a_signed_commit_reads_back() {
        for parent in [None, Some(oid(2))] {
            let unsigned = encode_commit(
                oid(1),
                parent,
                "owner <owner@x> 17 +0000",
                "view ok\n\nbody\n",
            );
            let pem = "-----BEGIN SSH SIGNATURE-----\nabc\ndef\n-----END SSH SIGNATURE-----\n";
            let commit = parse_commit(&add_signature(&unsigned, pem)).expect("own output");
            assert_eq!((commit.tree, commit.parent), (oid(1), parent));
            assert_eq!(commit.merged, None);
            assert_eq!(commit.signed_bytes, unsigned);
            assert_eq!(commit.signature, pem.trim_end());
            assert_eq!(commit.message, "view ok\n\nbody\n");
        }
    }

    #[test]
    fn commits_this_store_never_writes() {
        let good = encode_commit(oid(1), Some(oid(2)), "o <o> 1 +0000", "m\n");
        assert!(parse_commit(&good).is_none(), "unsigned");
        let signed = String::from_utf8(add_signature(&good, "s\n")).expect("text");
        let parent = format!("parent {}\n", oid(2));
        let other = format!("parent {}\n", oid(3));
        let merge = signed.replacen(&parent, &format!("{parent}{other}"), 1);
        let merge = parse_commit(merge.as_bytes()).expect("a merge");
        assert_eq!((merge.parent, merge.merged), (Some(oid(2)), Some(oid(3))));
        for bad in [
            signed.replacen(&parent, &format!("{parent}{parent}"), 1),
            signed.replacen(&parent, &format!("{parent}{other}{other}"), 1),
            signed.replacen("gpgsig", "encoding x\ngpgsig", 1),
            signed.replacen("tree", "TREE", 1),
            signed.replacen("\n\nm", "\nmergetag x\n\nm", 1),
            signed.replacen("\n\n", "\n", 1),
        ] {
            assert!(parse_commit(bad.as_bytes()).is_none(), "{bad}");
        }
    }

    #[test]
    fn trees_read_back_and_loose_ones_do_not() {
        let mut tree = Tree::new();
        tree.insert(
            "00".into(),
            TreeEntry {
                folder: true,
                id: oid(3),
            },
        );
        tree.insert(
            "agekeep.toml".into(),
            TreeEntry {
                folder: false,
                id: oid(4),
            },
        );
        let bytes = encode_tree(&tree);
        assert_eq!(parse_tree(&bytes), Some(tree));
        assert_eq!(parse_tree(&bytes[..bytes.len() - 1]), None);
        assert_eq!(parse_tree(&[bytes.clone(), bytes.clone()].concat()), None);
        assert_eq!(parse_tree(b"120000 link\0aaaaaaaaaaaaaaaaaaaa"), None);
        for name in ["", "a/b", "/"] {
            let bytes = [b"100644 ", name.as_bytes(), &[0; 21]].concat();
            assert_eq!(parse_tree(&bytes), None, "{name}");
        }
        assert_eq!(parse_tree(b""), Some(Tree::new()));
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_parsers(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(tree) = parse_tree(&bytes) {
                prop_assert_eq!(encode_tree(&tree), bytes.clone());
            }
            let _ = parse_commit(&bytes);
        }

        #[test]
        fn no_text_near_a_commit_breaks_the_parser(cut in 0usize..400, insert in "[ -~\n]{0,12}") {
            let unsigned = encode_commit(oid(1), Some(oid(2)), "o <o> 1 +0000", "view ok\n\nbody\n");
            let mut signed = add_signature(&unsigned, "-----BEGIN\nabc\n-----END\n");
            let at = cut.min(signed.len());
            signed.splice(at..at, insert.bytes());
            if let Some(commit) = parse_commit(&signed) {
                // An accepted commit encodes back to the same bytes.
                prop_assert_eq!(add_signature(&commit.signed_bytes, &commit.signature), signed);
            }
        }
    }
}
