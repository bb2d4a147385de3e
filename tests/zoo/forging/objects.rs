//! Scenarios of object files: flipped, cut, swapped, gone.

use std::fs;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::{Forged, Zoo};

pub(super) const ALL: &[Forged] = &[
    ("blob-with-a-flipped-byte", |zoo| {
        flip(zoo, &zoo.memory("project/plan.md").blob);
    }),
    ("old-blob-with-a-flipped-byte", |zoo| {
        flip(zoo, &zoo.memory_at("project/plan.md", 1).blob);
    }),
    ("commit-with-a-flipped-byte", |zoo| {
        flip(zoo, &zoo.commit_of(10));
    }),
    ("blob-cut-short", |zoo| {
        edit(zoo, &zoo.memory("project/plan.md").blob, |bytes| {
            bytes.truncate(100);
        });
    }),
    ("blob-emptied", |zoo| {
        edit(zoo, &zoo.memory("project/plan.md").blob, Vec::clear);
    }),
    ("folder-tree-cut-short", |zoo| {
        let id = zoo.memory("project/plan.md").id;
        let tree = zoo.git(&["rev-parse", &format!("main:{}", &id[..2])]);
        edit(zoo, &tree, |bytes| bytes.truncate(bytes.len() - 5));
    }),
    ("blob-missing", |zoo| {
        drop_object(zoo, &zoo.memory("project/plan.md").blob);
    }),
    ("old-blob-missing", |zoo| {
        drop_object(zoo, &zoo.memory_at("project/plan.md", 1).blob);
    }),
    ("commit-missing", |zoo| drop_object(zoo, &zoo.commit_of(10))),
    ("root-tree-missing", |zoo| {
        let tree = zoo.git(&["rev-parse", &format!("{}^{{tree}}", zoo.commit_of(7))]);
        drop_object(zoo, &tree);
    }),
    ("blob-file-of-another-blob", |zoo| {
        let other = fs::read(zoo.loose(&zoo.memory("handover.md").blob)).expect("there");
        edit(zoo, &zoo.memory("project/plan.md").blob, |bytes| {
            *bytes = other;
        });
    }),
    ("blob-with-more-than-it-says", |zoo| {
        edit(zoo, &zoo.memory("project/plan.md").blob, |bytes| {
            let mut plain = Vec::new();
            ZlibDecoder::new(&bytes[..])
                .read_to_end(&mut plain)
                .expect("zlib");
            plain.extend([0; 4096]);
            *bytes = deflate(&plain);
        });
    }),
    ("blob-that-claims-a-terabyte", |zoo| {
        edit(zoo, &zoo.memory("project/plan.md").blob, |bytes| {
            *bytes = deflate(b"blob 1099511627776\0short");
        });
    }),
    ("pack-with-a-flipped-byte", packed),
    ("control-object-nobody-names", |zoo| {
        zoo.git_fed(
            &["hash-object", "-w", "--stdin"],
            "left behind by a stock git",
        );
    }),
];

fn edit(zoo: &Zoo, id: &str, edit: impl FnOnce(&mut Vec<u8>)) {
    zoo.edit(&format!("objects/{}/{}", &id[..2], &id[2..]), edit);
}

fn flip(zoo: &Zoo, id: &str) {
    edit(zoo, id, |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    });
}

fn drop_object(zoo: &Zoo, id: &str) {
    fs::remove_file(zoo.loose(id)).expect("there");
}

fn deflate(plain: &[u8]) -> Vec<u8> {
    let mut deflated = ZlibEncoder::new(Vec::new(), Compression::fast());
    deflated.write_all(plain).expect("in memory");
    deflated.finish().expect("in memory")
}

/// Two blobs of one memory in a pack of stock git's, with a byte of the live one flipped: the sum
/// of the whole pack is made right again, as only somebody does who wants it to stay unnoticed.
fn packed(zoo: &Zoo) {
    let blobs = [
        zoo.memory("project/plan.md").blob,
        zoo.memory_at("project/plan.md", 1).blob,
    ];
    let folder = zoo.store().join("objects/pack");
    let pack = folder.join("pack");
    let pack = pack.to_str().expect("UTF-8");
    let name = zoo.git_fed(&["pack-objects", "-q", pack], blobs.join("\n") + "\n");
    for blob in &blobs {
        drop_object(zoo, blob);
    }
    drop(fs::remove_file(folder.join(format!("pack-{name}.rev"))));
    zoo.edit(&format!("objects/pack/pack-{name}.pack"), |bytes| {
        // Behind the header of the pack and of the first object, inside its zlib data.
        bytes[60] ^= 1;
        let end = bytes.len() - 20;
        let sum = git_sum(zoo, &bytes[..end]);
        bytes[end..].copy_from_slice(&sum);
    });
}

/// SHA-1 with the program of the machine: no code here has another use for it.
fn git_sum(zoo: &Zoo, bytes: &[u8]) -> Vec<u8> {
    let file = zoo.home.path().join("pack.part");
    fs::write(&file, bytes).expect("written");
    let sum = std::process::Command::new("sha1sum")
        .arg(&file)
        .output()
        .expect("it runs");
    crate::support::forge::unhex(std::str::from_utf8(&sum.stdout[..40]).expect("hex"))
}
