//! What is not taken: each is named with its reason, and keeps nothing else from being taken.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use crate::port::place::{Place, text, texts};
use crate::support::{stderr, stdout};

#[test]
fn links_are_never_followed() {
    let place = Place::new();
    place.write("outside/secret.md", "outside\n");
    place.write("in/a.md", "a\n");
    symlink("a.md", place.path("in/to-file")).expect("linked");
    symlink("../outside", place.path("in/to-folder")).expect("linked");
    symlink("/etc/passwd", place.path("in/absolute")).expect("linked");
    symlink("nowhere", place.path("in/dangling")).expect("linked");
    symlink("loop", place.path("in/loop")).expect("linked");
    let said = place.import(&["in"]);
    assert_eq!(said.code, 1);
    for name in ["to-file", "to-folder", "absolute", "dangling", "loop"] {
        said.refuses(name, "a symbolic link");
    }
    assert_eq!(said.counts(), [("imported", 1), ("refused", 5)].into());
    assert_eq!(place.kept(), texts(&[("a.md", "a\n")]));
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let place = Place::new();
    place.write("in/z.md", "z\n");
    let made = Command::new("mkfifo").arg(place.path("in/fifo")).status();
    assert!(made.expect("mkfifo runs").success());
    let _socket = UnixListener::bind(place.path("in/socket")).expect("bound");
    let device = Command::new("mknod")
        .arg(place.path("in/null"))
        .args(["c", "1", "3"])
        .stderr(std::process::Stdio::null())
        .status();
    let has_device = device.is_ok_and(|status| status.success());
    let said = place.import(&["in"]);
    said.refuses("fifo", "a FIFO");
    said.refuses("socket", "a socket");
    if has_device {
        said.refuses("null", "a device");
    }
    assert_eq!((said.code, said.of("z.md").0), (1, "imported"));
}

#[test]
fn what_is_too_large_is_not_read() {
    let place = Place::new();
    fs::create_dir_all(place.path("in")).expect("made");
    let sparse = File::create(place.path("in/huge")).expect("made");
    sparse.set_len(10 << 30).expect("a file with a hole");
    place.write("in/most", "x".repeat(2_097_152));
    place.write("in/more", "x".repeat(2_097_153));
    let said = place.import(&["in"]);
    said.refuses(
        "huge",
        "it has 10737418240 bytes, and a file has at most 2097152",
    );
    said.refuses("more", "it has 2097153 bytes");
    assert_eq!((said.code, said.of("most").0), (1, "imported"));
}

#[test]
fn what_is_no_text_is_named_by_its_first_wrong_byte() {
    let place = Place::new();
    for (name, bytes) in [
        ("nul", &b"ab\0"[..]),
        ("latin", b"caf\xe9\n"),
        ("cut", b"abc\xe2\x98"),
        ("surrogate", b"\xed\xa0\x80"),
        ("utf16", b"\xff\xfea\0"),
    ] {
        place.write(&format!("in/{name}"), bytes);
    }
    place.write("in/bom", "\u{feff}a mark at the start is text\n");
    let said = place.import(&["in"]);
    said.refuses("nul", "a NUL at byte 2");
    said.refuses("latin", "no UTF-8 text at byte 3");
    said.refuses("cut", "no UTF-8 text at byte 3");
    said.refuses("surrogate", "no UTF-8 text at byte 0");
    said.refuses("utf16", "a NUL at byte 3");
    assert_eq!((said.code, said.of("bom").0), (1, "imported"));
}

#[test]
fn names_that_no_path_may_have() {
    let place = Place::new();
    place.write("in/fine.md", "a\n");
    place.write("in/back\\slash", "a\n");
    place.write("in/line\nend", "a\n");
    place.write("in/\u{202e}dm.exe", "a\n");
    place.write("in/%2e%2e", "a\n");
    place.write("in/x%2fy", "a\n");
    place.write("in/zero\u{200b}width", "a\n");
    let broken = place.path("in").join(OsStr::from_bytes(b"caf\xe9"));
    fs::write(broken, "a\n").expect("written");
    let said = place.import(&["in"]);
    said.refuses("back\\slash", "a backslash");
    said.refuses("line\nend", "a control character");
    said.refuses("\u{202e}dm.exe", "a text-direction control");
    said.refuses("%2e%2e", "would escape");
    said.refuses("x%2fy", "would escape");
    said.refuses("zero\u{200b}width", "an invisible character");
    said.refuses("caf\u{fffd}", "not UTF-8");
    assert_eq!(said.counts(), [("imported", 1), ("refused", 7)].into());
    // What the store itself refuses it has on record, as from any other door.
    let log = place.log();
    let denied = log.iter().filter(|event| event["outcome"] == "denied");
    assert_eq!(denied.count(), 6);
    // In words each stays on a line of its own.
    let told = stdout(&place.home.run(&["import", "in"]));
    assert!(told.contains("\"line\\nend\"  refused"), "{told}");
    assert_eq!(told.lines().count(), 8, "{told}");
}

#[test]
fn two_names_that_are_one_are_both_refused() {
    let place = Place::new();
    let (composed, apart) = ("caf\u{e9}.md", "cafe\u{301}.md");
    place.write(&format!("in/{composed}"), "one\n");
    place.write(&format!("in/{apart}"), "another\n");
    place.write("in/\u{e9}", "a file\n");
    place.write("in/e\u{301}/below.md", "below a folder of its name\n");
    place.write("in/\u{f6}/a.md", "folders of one name\n");
    place.write("in/o\u{308}/b.md", "make one directory\n");
    let said = place.import(&["in"]);
    said.refuses(composed, "are one");
    said.refuses(apart, "are one");
    said.refuses("\u{e9}", "below it");
    assert_eq!(said.counts(), [("imported", 3), ("refused", 3)].into());
    let want = [
        ("\u{e9}/below.md", "below a folder of its name\n"),
        ("\u{f6}/a.md", "folders of one name\n"),
        ("\u{f6}/b.md", "make one directory\n"),
    ];
    assert_eq!(place.kept(), texts(&want));
}

#[test]
fn a_tree_is_followed_only_as_deep_as_a_path_may_go() {
    let place = Place::new();
    let deep = |names: usize| "d/".repeat(names);
    place.write(&format!("in/{}at-the-end.md", deep(18)), "a\n");
    place.write(&format!("in/{}too-deep.md", deep(19)), "a\n");
    place.write(&format!("in/{}far.md", deep(300)), "a\n");
    let said = place.import(&["in"]);
    let last = format!("{}d", deep(18));
    said.refuses(&last, "deeper down than a path may go");
    assert_eq!(said.of(&format!("{}at-the-end.md", deep(18))).0, "imported");
    assert_eq!(said.counts(), [("imported", 1), ("refused", 1)].into());
    // Below another directory there is less room.
    let said = place.import(&["in", "--to", "/memories/b", "--dry-run"]);
    said.refuses(&format!("{}d", deep(17)), "deeper down than a path may go");
    assert_eq!(said.counts(), [("refused", 1)].into());
}

#[test]
fn what_a_person_may_not_read_is_named() {
    let place = Place::new();
    place.write("in/a.md", "a\n");
    place.write("in/closed.md", "b\n");
    place.write("in/shut/c.md", "c\n");
    for name in ["in/closed.md", "in/shut"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o000);
        fs::set_permissions(place.path(name), mode).expect("set");
    }
    if fs::read(place.path("in/closed.md")).is_err() {
        let said = place.import(&["in"]);
        said.refuses("closed.md", "cannot be read");
        said.refuses("shut", "cannot be read");
        assert_eq!((said.code, said.of("a.md").0), (1, "imported"));
    }
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(place.path("in/shut"), mode).expect("set");
}

#[test]
fn the_policy_decides_what_an_import_may_write() {
    let place = Place::new();
    place.write(
        "policy.toml",
        "[limits]\nmemories = 2\nmemory_bytes = 10\n[redaction]\nmode = \"reject\"\n",
    );
    place.ok(&[
        "policy",
        "set",
        "--policy",
        text(&place.path("policy.toml")),
    ]);
    place.write("in/a", "a\n");
    place.write("in/b", "PASSWORD=Zk9vTq2Lm4x");
    place.write("in/c", "PW=Zk9vTq2");
    place.write("in/d", "d\n");
    place.write("in/e", "e\n");
    let foreseen = place.import(&["in", "--dry-run"]);
    let said = place.import(&["in"]);
    for said in [foreseen, said] {
        assert_eq!(said.code, 1);
        said.refuses("b", "at most 10");
        assert_eq!((said.of("a").0, said.of("d").0), ("imported", "imported"));
        said.refuses("c", "secret");
        said.refuses("e", "holds");
    }
}

#[test]
fn auditors_and_those_who_may_not_write_import_nothing() {
    let place = Place::new();
    place.write("in/a.md", "a\n");
    let key = place.path("config/agekeep/signing_key");
    fs::rename(&key, place.path("aside")).expect("moved");
    place.unrecorded(12, &["import", "in"]);
    // To be told what would happen takes no key to sign with.
    assert_eq!(place.import(&["in", "--dry-run"]).code, 0);
    let other = place.home.run(&["import", "in"]);
    assert!(stderr(&other).contains("signing key"), "{}", stderr(&other));
}
