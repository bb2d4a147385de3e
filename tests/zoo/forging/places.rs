//! Scenarios around the objects: refs, configuration, hooks, the journal, borrowed folders.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::commits::view;
use super::{Forged, Zoo};
use crate::support::stderr;

pub(super) const ALL: &[Forged] = &[
    ("alternates-planted", |zoo| {
        zoo.plant("objects/info/alternates", "/srv/elsewhere/objects\n");
    }),
    ("alternates-over-http", |zoo| {
        zoo.plant(
            "objects/info/http-alternates",
            "https://elsewhere.example/objects\n",
        );
    }),
    ("alternates-with-a-blob-elsewhere", |zoo| {
        let blob = zoo.memory("project/plan.md").blob;
        let name = format!("{}/{}", &blob[..2], &blob[2..]);
        let bytes = fs::read(zoo.loose(&blob)).expect("there");
        fs::remove_file(zoo.loose(&blob)).expect("there");
        crate::zoo::scenario::put(&zoo.store().join("objects/info/elsewhere"), &name, &bytes);
        zoo.plant("objects/info/alternates", "info/elsewhere\n");
    }),
    ("replace-ref", |zoo| {
        let (from, to) = (zoo.memory("project/plan.md"), zoo.memory("handover.md"));
        zoo.git(&[
            "update-ref",
            &format!("refs/replace/{}", from.blob),
            &to.blob,
        ]);
    }),
    ("replace-ref-packed", |zoo| {
        let line = format!("{} refs/replace/{}\n", zoo.commit_of(20), zoo.commit_of(29));
        zoo.plant(
            "packed-refs",
            &format!("# pack-refs with: peeled fully-peeled sorted \n{line}"),
        );
    }),
    ("branch-of-another-history", |zoo| {
        let commit = zoo.write(&view(zoo));
        zoo.git(&["update-ref", "refs/heads/other", &commit]);
    }),
    ("tag-planted", |zoo| {
        drop(zoo.git(&["update-ref", "refs/tags/v1", "main~3"]));
    }),
    ("ref-packed-unknown", |zoo| {
        let line = format!("{} refs/heads/other\n", zoo.commit_of(20));
        zoo.plant(
            "packed-refs",
            &format!("# pack-refs with: peeled fully-peeled sorted \n{line}"),
        );
    }),
    ("ref-of-notes", |zoo| {
        drop(zoo.git(&["update-ref", "refs/notes/commits", "main~3"]));
    }),
    ("control-ref-packed", |zoo| {
        drop(zoo.git(&["pack-refs", "--all"]));
    }),
    ("head-detached", |zoo| {
        zoo.plant("HEAD", &format!("{}\n", zoo.commit_of(30)));
    }),
    ("head-on-another-branch", |zoo| {
        zoo.plant("HEAD", "ref: refs/heads/other\n");
    }),
    ("grafts-planted", |zoo| {
        let line = format!("{} {}\n", zoo.commit_of(30), zoo.commit_of(20));
        zoo.plant("info/grafts", &line);
    }),
    ("shallow-planted", |zoo| {
        zoo.plant("shallow", &format!("{}\n", zoo.commit_of(20)));
    }),
    ("config-fsmonitor", |zoo| {
        config(zoo, "core.fsmonitor", "/srv/elsewhere/run");
    }),
    ("config-hooks-path", |zoo| {
        config(zoo, "core.hooksPath", "/srv/elsewhere/hooks");
    }),
    ("config-include", |zoo| {
        config(zoo, "include.path", "/srv/elsewhere/config");
    }),
    ("config-alias", |zoo| {
        config(zoo, "alias.log", "!/srv/elsewhere/run");
    }),
    ("config-remote-program", |zoo| {
        config(zoo, "remote.origin.receivepack", "/srv/elsewhere/run");
    }),
    ("config-allows-rewriting", |zoo| {
        config(zoo, "receive.denyNonFastForwards", "false");
    }),
    ("control-config-of-a-remote", |zoo| {
        config(
            zoo,
            "remote.origin.url",
            "https://elsewhere.example/store.git",
        );
        config(
            zoo,
            "remote.origin.fetch",
            "+refs/heads/*:refs/remotes/origin/*",
        );
        config(zoo, "branch.main.remote", "origin");
        config(zoo, "branch.main.merge", "refs/heads/main");
    }),
    ("hook-planted", |zoo| {
        zoo.plant(
            "hooks/post-update",
            "#!/bin/sh\necho this could be anything\n",
        );
        let path = zoo.store().join("hooks/post-update");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("set");
    }),
    ("stray-file", |zoo| {
        zoo.plant("notes.txt", "left here by somebody\n");
    }),
    ("branch-ahead-of-the-journal", |zoo| {
        let commit = zoo.write(&view(zoo));
        zoo.git(&["update-ref", "refs/heads/main", &commit]);
    }),
    ("branch-moved-back", |zoo| {
        drop(zoo.git(&["update-ref", "refs/heads/main", "main~4"]));
    }),
    ("branch-beside-the-journal", |zoo| {
        let commit = zoo.write(&zoo.draft_after(29, "view", json!([])));
        zoo.git(&["update-ref", "refs/heads/main", &commit]);
    }),
    ("journal-with-a-damaged-record", |zoo| {
        journal(zoo, |bytes| {
            let first = u32::from_le_bytes(bytes[128..132].try_into().expect("four bytes"));
            let second = 128 + 36 + first as usize;
            bytes[second + 200] ^= 1;
        });
    }),
    ("journal-with-a-damaged-header", |zoo| {
        zoo.edit("journal", |bytes| bytes[40] ^= 1);
    }),
];

fn config(zoo: &Zoo, key: &str, value: &str) {
    let file = zoo.store().join("config");
    let file = file.to_str().expect("UTF-8");
    zoo.git(&["config", "--file", file, key, value]);
}

/// Three more commands, and a change to the journal that holds them.
fn journal(zoo: &Zoo, change: impl FnOnce(&mut Vec<u8>)) {
    for _ in 0..3 {
        let read = zoo.home.run(&["read", "handover.md"]);
        assert!(read.status.success(), "{}", stderr(&read));
    }
    zoo.edit("journal", change);
}
