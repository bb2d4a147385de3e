//! What an import can come from, and how it is told.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::port::place::{Place, text, texts};
use crate::support::{Home, stderr};

/// What the local memory tools of the Python and TypeScript SDKs leave in their base folder: files
/// with mode 0600 in folders with mode 0700 below `memories`; and, where a process was killed, what
/// it was about to rename.
fn sdk(place: &Place, base: &str) {
    for (name, text) in [
        ("progress.md", "step 1\r\nstep 2"),
        ("notes/a.md", "a\n"),
        ("notes/.hidden", "kept, though no listing shows it\n"),
        ("node_modules/readme.md", "also kept\n"),
        ("empty.txt", ""),
        ("notes/café ☕.md", "é\n"),
        (
            "notes/.tmp-4711-0b0f7bd4-9a53-4f5c-8bbf-2d0c5f1f6a01",
            "half",
        ),
        (".tmp-plan.md", "no file of a tool: kept\n"),
    ] {
        place.write(&format!("{base}/memories/{name}"), text);
    }
    for folder in ["memories", "memories/notes", "memories/node_modules"] {
        let path = place.path(base).join(folder);
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("set");
    }
}

const SDK: [(&str, &str); 7] = [
    ("progress.md", "step 1\r\nstep 2"),
    ("notes/a.md", "a\n"),
    ("notes/.hidden", "kept, though no listing shows it\n"),
    ("node_modules/readme.md", "also kept\n"),
    ("empty.txt", ""),
    ("notes/café ☕.md", "é\n"),
    (".tmp-plan.md", "no file of a tool: kept\n"),
];

#[test]
fn the_folder_of_an_sdk_is_taken_from_its_base_and_from_itself() {
    let place = Place::new();
    sdk(&place, "agent");
    place.write("agent/memories/.DS_Store", "\0\0\0\x01Bud1");
    place.write("agent/memories/.git/config", "[core]\n");
    let said = place.import(&["agent"]);
    assert_eq!(said.code, 0, "{}", stderr(&said.output));
    assert_eq!(said.sum["from"], "sdk");
    assert_eq!(said.counts(), [("imported", 7), ("left_out", 3)].into());
    for name in [
        ".DS_Store",
        ".git",
        "notes/.tmp-4711-0b0f7bd4-9a53-4f5c-8bbf-2d0c5f1f6a01",
    ] {
        assert_eq!(said.of(name).0, "left_out");
    }
    assert_eq!(place.kept(), texts(&SDK));
    let itself = place.import(&["agent/memories"]);
    assert_eq!(itself.sum["from"], "folder");
    assert_eq!(itself.counts(), [("same", 7), ("left_out", 3)].into());
    for event in &place.log()[1..8] {
        assert_eq!(event["command"], "create");
        assert_eq!(
            event["reason"],
            "import of the folder of an SDK's local memory tool"
        );
        assert_eq!(event["actor"], "tester");
    }
    let told = place.home.run(&["import", "agent"]);
    assert!(stderr(&told).is_empty(), "{}", stderr(&told));
}

#[test]
fn of_claude_code_a_project_is_taken_without_its_transcripts() {
    let project = ".claude/projects/-home-me-app";
    let memory = [
        (
            "MEMORY.md",
            "# Index\n- [Build](build.md) — how it is built\n",
        ),
        (
            "build.md",
            "---\nname: build\ntype: project\n---\nuse make\n",
        ),
        ("logs/2026/03/2026-03-01.md", "a day\n"),
    ];
    let place = Place::new();
    for (name, text) in memory {
        place.write(&format!("{project}/memory/{name}"), text);
    }
    place.write(&format!("{project}/memory/.consolidate-lock"), "4711");
    place.write(&format!("{project}/4f1c.jsonl"), "{\"said\":1}\n");
    place.write(&format!("{project}/4f1c/tool-results/1.txt"), "said\n");
    for source in [project, &format!("{project}/memory")] {
        let said = place.import(&[source, "--dry-run"]);
        assert_eq!(said.sum["from"], "claude-code", "{source}");
        assert_eq!(said.counts(), [("imported", 3), ("left_out", 1)].into());
        assert_eq!(said.of(".consolidate-lock").0, "left_out");
    }
    assert_eq!(place.import(&[project, "--to", "/memories/app"]).code, 0);
    let want = memory.map(|(name, text)| (format!("app/{name}"), text.as_bytes().to_vec()));
    assert_eq!(place.kept(), want.into());
    let reason = &place.log()[1]["reason"];
    assert_eq!(reason, "import of a memory folder of Claude Code");
}

#[test]
fn what_could_be_two_things_has_to_be_said() {
    let place = Place::new();
    place.write("both/memories/a.md", "a\n");
    place.write("both/README.md", "b\n");
    place.write("memories/memories/a.md", "a\n");
    place.write("mixed/memory/MEMORY.md", "a\n");
    place.write("mixed/notes.md", "b\n");
    for source in ["both", "memories", "mixed"] {
        let said = place.unrecorded(2, &["import", source]);
        assert!(said.contains("--from folder"), "{said}");
    }
    let names = |args: &[&str]| {
        let said = place.import(&[args, &["--dry-run"]].concat());
        let names = said.files.iter().map(|file| file["path"].to_string());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&["both", "--from", "sdk"]), r#""/memories/a.md""#);
    assert_eq!(
        names(&["both", "--from", "folder"]),
        r#""/memories/README.md" "/memories/memories/a.md""#
    );
    assert_eq!(names(&["memories", "--from", "sdk"]), r#""/memories/a.md""#);
    assert_eq!(
        names(&["mixed", "--from", "claude-code"]),
        r#""/memories/MEMORY.md""#
    );
    // One that has no such folder is it.
    assert_eq!(
        names(&["both/memories", "--from", "sdk"]),
        r#""/memories/a.md""#
    );
}

#[test]
fn a_link_is_followed_only_where_a_person_named_it() {
    let place = Place::new();
    sdk(&place, "agent");
    symlink("agent", place.path("here")).expect("linked");
    assert_eq!(place.import(&["here", "--dry-run"]).sum["from"], "sdk");
    place.folder("base");
    symlink("../agent/memories", place.path("base/memories")).expect("linked");
    let said = place.unrecorded(2, &["import", "base", "--from", "sdk"]);
    assert!(
        said.contains("name the folder that the link points to"),
        "{said}"
    );
}

#[test]
fn what_is_no_source_is_refused_as_a_whole() {
    let place = Place::new();
    place.write("text.md", "no export\n");
    place.write("empty.jsonl", "");
    place.write("other.jsonl", "{\"schema\":\"agekeep.log/1\"}\n");
    place.write(
        "newer.jsonl",
        "{\"schema\":\"agekeep.export/2\",\"lines\":0}\n",
    );
    place.write("folder/a.md", "a\n");
    let fifo = place.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo runs").success());
    for (code, args, why) in [
        (
            4,
            &["import", "nowhere"][..],
            "nothing was at nowhere to import",
        ),
        (4, &["import", "nowhere"], "hint: name an existing folder"),
        (16, &["import", "fifo"], "a FIFO"),
        (16, &["import", "/dev/zero"], "a device"),
        (2, &["import", "text.md"], "agekeep.export/1"),
        (2, &["import", "empty.jsonl"], "agekeep.export/1"),
        (2, &["import", "other.jsonl"], "agekeep.export/1"),
        (1, &["import", "newer.jsonl"], "format version 2"),
        (2, &["import", "folder", "--from", "jsonl"], "a folder"),
        (2, &["import", "text.md", "--from", "folder"], "a file"),
        (2, &["import", "folder", "--from", "zip"], "zip"),
        (7, &["import", "folder", "--to", "/elsewhere"], "the path"),
        (
            7,
            &["import", "folder", "--to", "/memories/../x"],
            "the path",
        ),
        (2, &["import", "store"], "the store itself"),
    ] {
        let said = place.unrecorded(code, args);
        assert!(said.contains(why), "{args:?}: {said}");
    }
    let home = Home::empty();
    fs::write(home.path().join("a.md"), "a\n").expect("written");
    let said = home.run(&["import", text(home.path())]);
    assert_eq!(said.status.code(), Some(10), "{}", stderr(&said));
}

#[test]
fn who_and_why_are_recorded_as_the_caller_says() {
    let place = Place::new();
    place.write("folder/a.md", "a\n");
    place.ok(&[
        "import",
        "folder",
        "--actor",
        "mover",
        "--session",
        "s-1",
        "--reason",
        "the old agent's notes",
    ]);
    let event = &place.log()[1];
    assert_eq!(event["actor"], "mover");
    assert_eq!(event["session"], "s-1");
    assert_eq!(event["reason"], "the old agent's notes");
}

#[test]
fn the_store_in_the_source_is_left_out() {
    let place = Place::new();
    place.write("a.md", "a\n");
    // The home folder has the store in it, and the keys beside it: no memory is made of the store.
    let said = place.import(&[".", "--from", "folder", "--dry-run"]);
    assert_eq!(said.of("store"), ("left_out", "the store itself"));
    assert_eq!(said.of("a.md").0, "imported");
    let below = said.files.iter().filter_map(|file| file["name"].as_str());
    assert!(!below.into_iter().any(|name| name.starts_with("store/")));
}
