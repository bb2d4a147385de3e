//! Properties of git objects: loose files, packs, trees and commits.
#![allow(clippy::missing_panics_doc)] // a law that is broken panics: that is what finds it

use crate::repository::loose::{inflate, stored};
use crate::repository::object::{
    Commit, ObjectKind, add_signature, encode_commit, encode_tree, parse_commit, parse_tree,
};

pub use crate::repository::pack::fuzzing::pack;

/// Reads `bytes` as a loose file and as the content of one. An accepted file is complete, with
/// nothing after it, and in canonical form.
pub fn loose(bytes: &[u8]) {
    if let Ok(Some((kind, content))) = inflate(bytes) {
        assert!(content.len() <= 256 * 1024 * 1024, "over the limit");
        assert_reads_back(kind, &content);
        let cut = &bytes[..bytes.len() - 1];
        assert!(!matches!(inflate(cut), Ok(Some(_))), "cut short, and whole");
        let longer = [bytes, b"\0"].concat();
        assert!(!matches!(inflate(&longer[..]), Ok(Some(_))), "a byte more");
    }
    let file = stored(bytes);
    if let Ok(Some((kind, content))) = inflate(&file[..]) {
        let header = format!("{} {}\0", kind.name(), content.len());
        assert!([header.as_bytes(), &content].concat() == bytes);
    }
}

fn assert_reads_back(kind: ObjectKind, content: &[u8]) {
    let header = format!("{} {}\0", kind.name(), content.len());
    let file = stored(&[header.as_bytes(), content].concat());
    let again = inflate(&file[..]).ok().flatten();
    assert!(again.is_some_and(|again| again == (kind, content.to_vec())));
}

/// Reads `bytes` as a tree and as a commit. An accepted object encodes back to the same bytes from
/// its parsed fields alone.
pub fn object(bytes: &[u8]) {
    if let Some(tree) = parse_tree(bytes) {
        assert!(tree.len() <= bytes.len() / 28, "more than it can hold");
        assert_eq!(encode_tree(&tree), bytes);
    }
    if let Some(commit) = parse_commit(bytes) {
        let Commit {
            tree,
            parent,
            author,
            ..
        } = &commit;
        let unsigned = encode_commit(*tree, *parent, author, &commit.message);
        let of_signed = add_signature(&commit.signed_bytes, &commit.signature);
        assert_eq!(of_signed, bytes);
        if commit.merged.is_none() {
            assert_eq!(unsigned, commit.signed_bytes, "what was signed is another");
        }
    }
}
