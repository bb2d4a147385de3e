//! Where an export may be written, and what is left when it is cut off.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::port::place::{Place, text, texts, tree};
use crate::support::{feed, git, stderr, stdout};

fn with_memories() -> Place {
    let place = Place::new();
    place.ok(&["create", "/memories/a.md", "--text", "a\n"]);
    place.ok(&["create", "/memories/deep/er/b.md", "--text", "b\n"]);
    place
}

/// Mounts a small file system of its own on a folder; says loudly if it cannot.
pub(crate) fn mounted(folder: &Path, size: &str, why: &str) -> bool {
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", size, "tmpfs", text(folder)])
        .stderr(Stdio::null())
        .status();
    let done = mounted.is_ok_and(|status| status.success());
    if !done {
        let loud = format!("\n*** NOT TESTED: no file system can be mounted: {why} ***\n");
        std::io::Write::write_all(&mut std::io::stderr(), loud.as_bytes()).expect("open");
    }
    done
}

pub(crate) fn unmount(folder: &Path) {
    let done = Command::new("umount").arg(folder).status();
    assert!(done.expect("umount runs").success());
}

/// The names in a folder that begin like an export that is not whole.
fn left_over(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).expect("a folder");
    let names = names.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.into_string().expect("UTF-8"));
    names
        .filter(|name| name.starts_with(".agekeep-export-"))
        .collect()
}

#[test]
fn nobody_else_can_read_what_is_written_whatever_the_umask() {
    let place = with_memories();
    for umask in ["000", "022", "077"] {
        let (folder, file) = (format!("out{umask}"), format!("out{umask}.jsonl"));
        let script = format!(
            "umask {umask}; \"$0\" export {folder} && \"$0\" export --jsonl {file} --history"
        );
        let mut shell = place.home.command(&[]);
        let program = shell.get_program().to_owned();
        let envs: Vec<_> = shell
            .get_envs()
            .map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned)))
            .collect();
        shell = Command::new("/bin/sh");
        shell.env_clear().current_dir(place.home.path());
        shell.envs(envs.into_iter().filter_map(|(k, v)| Some((k, v?))));
        shell.arg("-c").arg(script).arg(program);
        let output = feed(shell, b"");
        assert!(output.status.success(), "{}", stderr(&output));
        let mode = |name: &str| {
            let found = fs::symlink_metadata(place.path(name)).expect("there");
            found.permissions().mode() & 0o7777
        };
        for name in ["", "/deep", "/deep/er"] {
            assert_eq!(mode(&format!("{folder}{name}")), 0o700, "{umask} {name}");
        }
        for name in [
            format!("{folder}/a.md"),
            format!("{folder}/deep/er/b.md"),
            file,
        ] {
            assert_eq!(mode(&name), 0o600, "{umask} {name}");
        }
    }
}

#[test]
fn an_empty_folder_is_taken_and_nothing_else_that_is_there() {
    let place = with_memories();
    let empty = place.folder("empty");
    fs::set_permissions(&empty, fs::Permissions::from_mode(0o755)).expect("set");
    let itself = fs::metadata(&empty).expect("there").ino();
    let said = place.home.run(&["export", "empty"]);
    assert!(said.status.success(), "{}", stderr(&said));
    assert!(stderr(&said).starts_with("warning: this writes plaintext"));
    assert_eq!(
        tree(&empty),
        texts(&[("a.md", "a\n"), ("deep/er/b.md", "b\n")])
    );
    let mode = fs::metadata(&empty).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    // It may be a mount, or where somebody's shell is.
    assert_eq!(fs::metadata(&empty).expect("there").ino(), itself);
    place.write("full/x", "");
    place.write("file", "");
    place.folder("real");
    symlink("real", place.path("link")).expect("linked");
    symlink("nowhere", place.path("dangling")).expect("linked");
    for (args, why) in [
        (&["export", "empty"][..], "not empty"),
        (&["export", "full"], "not empty"),
        (&["export", "file"], "there already"),
        (&["export", "link"], "a symbolic link"),
        (&["export", "link/"], "a symbolic link"),
        (&["export", "dangling"], "a symbolic link"),
        (&["export", "."], "not empty"),
        (&["export", "/"], "the root"),
        (&["export", "store/out"], "in the store"),
        (&["export", "store/refs/out", "--force"], "in the store"),
        (&["export", "--jsonl", "file"], "there already"),
        (&["export", "--jsonl", "real"], "a folder"),
        (&["export", "--jsonl", "dangling"], "a symbolic link"),
        (&["export", "--jsonl", "/dev/null"], "there already"),
    ] {
        let said = place.unrecorded(5, args);
        assert!(said.contains(why), "{args:?}: {said}");
        assert!(!said.contains("this writes plaintext"), "{args:?}: {said}");
    }
    for (code, args) in [
        (16, &["export", "nowhere/out"][..]),
        (2, &["export"]),
        (2, &["export", "out", "--jsonl", "out.jsonl"]),
        (2, &["export", "out", "--history"]),
        (7, &["export", "out", "--path", "/elsewhere"]),
        (4, &["export", "out", "--path", "/memories/nothing"]),
        (4, &["export", "out", "--at", "99"]),
    ] {
        place.unrecorded(code, args);
    }
    assert!(!place.path("out").exists());
    assert!(tree(&place.path("real")).is_empty());
    assert_eq!(left_over(place.home.path()), Vec::<String>::new());
}

#[test]
fn a_git_work_tree_is_refused_unless_it_is_said_twice() {
    let place = with_memories();
    let work = place.folder("work/sub");
    let made = git(&place.path("work/.git"), &["init", "-q"]);
    assert!(made.status.success());
    // A linked work tree and a submodule have a file of that name.
    place.write("linked/.git", "gitdir: ../work/.git/worktrees/linked\n");
    for target in ["work/out", "work/sub/out", "work/.git/out", "linked/out"] {
        for args in [&["export", target][..], &["export", "--jsonl", target]] {
            let said = place.unrecorded(7, args);
            assert!(said.contains("git work tree"), "{said}");
            assert!(said.contains("--force"), "{said}");
        }
    }
    // By another name it is the same place.
    symlink(&work, place.path("elsewhere")).expect("linked");
    place.unrecorded(7, &["export", "elsewhere/out"]);
    place.ok(&["export", "elsewhere/out", "--force"]);
    assert_eq!(tree(&work.join("out")).len(), 2);
    place.ok(&["export", "--jsonl", "linked/out", "--force"]);
}

#[test]
fn an_export_that_is_killed_is_never_taken_for_a_whole_one() {
    let place = Place::new();
    for number in 0..300 {
        place.write(&format!("in/{number}/{number}.md"), "x\n".repeat(1 << 12));
    }
    assert_eq!(place.import(&["in"]).code, 0);
    let mut seen = [0, 0];
    for round in 0..30_u64 {
        for (kind, args) in [["export", "out"].as_slice(), &["export", "--jsonl", "out"]]
            .iter()
            .enumerate()
        {
            let folder = place.folder(&format!("{round}-{kind}"));
            let mut command = place.home.command(args);
            command.current_dir(&folder);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().expect("starts");
            // Killed when it is seen to write, sooner or later.
            while left_over(&folder).is_empty() && child.try_wait().expect("known").is_none() {
                thread::sleep(Duration::from_micros(200));
            }
            thread::sleep(Duration::from_millis(2 * round));
            child.kill().expect("kills");
            child.wait().expect("ends");
            let left = left_over(&folder);
            let out = folder.join("out");
            assert_eq!(left.is_empty(), out.exists(), "one or the other");
            if left.is_empty() {
                continue;
            }
            seen[kind] += 1;
            let mut again = place
                .home
                .command(&[*args, &["--path", "/memories/1"]].concat());
            again.current_dir(&folder);
            let again = feed(again, b"");
            assert!(again.status.success(), "{}", stderr(&again));
            let said = stderr(&again);
            assert!(
                said.contains(&left[0]) && said.contains("cut off"),
                "{said}"
            );
            assert_eq!(left_over(&folder), left, "what is not ours to remove stays");
        }
        if seen.iter().all(|count| *count > 2) {
            return;
        }
    }
    panic!("hardly any export was killed while it wrote: {seen:?}");
}

#[test]
fn an_export_under_way_is_not_called_a_left_over() {
    let place = with_memories();
    let folder = place.folder("beside");
    let running = folder.join(".agekeep-export-1-0");
    fs::create_dir(&running).expect("made");
    let lock = fs::File::open(&running).expect("opened");
    lock.lock().expect("locked");
    let said = place.home.run(&["export", "beside/out"]);
    assert!(said.status.success());
    assert!(!stderr(&said).contains("cut off"), "{}", stderr(&said));
    drop(lock);
    let said = place.home.run(&["export", "beside/out2"]);
    assert!(stderr(&said).contains("cut off"), "{}", stderr(&said));
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let place = Place::new();
    for number in 0..40 {
        place.write(&format!("in/{number}.md"), "x".repeat(64 * 1024));
    }
    assert_eq!(place.import(&["in"]).code, 0);
    let small = place.folder("small");
    if !mounted(&small, "size=1m", "an export to a full disk") {
        return;
    }
    let outputs = [
        place.home.run(&["export", "small/out"]),
        place.home.run(&["export", "--jsonl", "small/out"]),
    ];
    // Names alone: an open entry would keep the folder busy.
    let left = fs::read_dir(&small).expect("a folder");
    let left: Vec<_> = left
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    unmount(&small);
    for output in outputs {
        assert_eq!(output.status.code(), Some(16), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("free some space"),
            "{}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "");
    }
    assert_eq!(left.len(), 0, "{left:?}");
}

#[test]
fn what_git_would_obey_is_not_written_to_a_folder() {
    let place = with_memories();
    for path in [
        "/memories/.git/config",
        "/memories/x/.GIT/hooks/post-checkout",
    ] {
        place.ok(&["create", path, "--text", "[core]\n"]);
    }
    place.ok(&["create", "/memories/.gitignore", "--text", "x\n"]);
    let said = place.fails(1, &["export", "out"]);
    assert!(said.contains("/memories/.git/config  left out"), "{said}");
    assert!(said.contains("Exported 3 memories"), "{said}");
    let want = [
        (".gitignore", "x\n"),
        ("a.md", "a\n"),
        ("deep/er/b.md", "b\n"),
    ];
    assert_eq!(tree(&place.path("out")), texts(&want));
    let lines = place.ok(&["export", "--jsonl", "-"]);
    assert_eq!(lines.lines().count(), 6);
}
