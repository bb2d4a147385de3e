//! What somebody puts in the place of a store's files: links, pipes, files without end, and names
//! that lead elsewhere. It is refused, found or thrown away, and nothing outside the store changes.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Home, has_peer, stderr, stdout, strace};
use sha2::{Digest, Sha256};

/// A hang takes for ever; an honest answer on a busy machine never this long.
const LIMIT: Duration = Duration::from_secs(20);

/// What each of these answers is looked at.
const COMMANDS: [&[&str]; 4] = [
    &["write", "new.md", "--text", "new\n"],
    &["status"],
    &["verify"],
    &["log"],
];

/// A store with a memory in a pack, one in loose files, and one in the journal, and beside it a
/// folder that is somebody else's.
fn scene() -> Home {
    let home = Home::with_store();
    create(&home, "a.md");
    run(&home, &["compact"]);
    create(&home, "b.md");
    fs::create_dir(documents(&home)).expect("makes");
    fs::write(documents(&home).join("thesis"), "years of work").expect("writes");
    home
}

fn create(home: &Home, name: &str) {
    run(
        home,
        &["create", &format!("/memories/{name}"), "--text", name],
    );
}

fn run(home: &Home, args: &[&str]) -> String {
    let done = home.run(args);
    assert!(done.status.success(), "{args:?}: {}", stderr(&done));
    stdout(&done)
}

fn documents(home: &Home) -> PathBuf {
    home.path().join("Documents")
}

fn assert_documents_are_there(home: &Home, when: &str) {
    let thesis = fs::read_to_string(documents(home).join("thesis"));
    assert_eq!(thesis.ok().as_deref(), Some("years of work"), "{when}");
    let names = fs::read_dir(documents(home)).expect("there").count();
    assert_eq!(names, 1, "{when}: something was put there");
}

/// The answer of a command, which has to come.
fn answer(home: &Home, args: &[&str], when: &str) -> Output {
    let mut command = home.command(args);
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("runs");
    let begun = Instant::now();
    while child.try_wait().expect("is asked").is_none() {
        if begun.elapsed() > LIMIT {
            child.kill().expect("ends");
            child.wait().expect("ended");
            panic!("{when}: {args:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("ended")
}

fn pipe(at: &Path) {
    let made = Command::new("mkfifo")
        .arg(at)
        .status()
        .expect("mkfifo runs");
    assert!(made.success(), "{}", at.display());
}

/// The one file with this ending in the folder of packs.
fn packed(home: &Home, ending: &str) -> PathBuf {
    let folder = fs::read_dir(home.store().join("objects/pack")).expect("there");
    let mut paths = folder.map(|entry| entry.expect("an entry").path());
    let found = paths.find(|path| path.extension().is_some_and(|end| end == ending));
    found.expect("there is a pack")
}

/// A loose object that the newest commit needs.
fn loose(home: &Home) -> PathBuf {
    let id = stdout(&home.git(&["rev-parse", "main"]));
    let id = id.trim();
    home.store().join("objects").join(&id[..2]).join(&id[2..])
}

/// Every file of the store that a command may open, with whether the store goes on without it.
fn files(home: &Home) -> Vec<(PathBuf, bool)> {
    let store = home.store();
    let needed = [
        "HEAD",
        "refs/heads/main",
        "journal",
        "lock",
        "keyring/epoch.age",
        "keyring/audit.age",
        "keyring/ring",
        "keyring/names",
    ];
    let others = [
        "config",
        "main.before",
        "catalog",
        "timeline",
        "packed-refs",
    ];
    let mut all: Vec<_> = needed.map(|name| (store.join(name), false)).into();
    all.extend(others.map(|name| (store.join(name), true)));
    // What the newest commit needs is in the journal too.
    all.push((loose(home), true));
    all.push((store.join("objects/info/alternates"), false));
    all.push((packed(home, "pack"), false));
    all.push((packed(home, "idx"), false));
    all
}

/// Puts something in the place of each file in turn, gives commands, and puts the file back.
fn in_the_place_of_each_file(what: &str, put: impl Fn(&Path)) {
    let home = scene();
    let kept = home.path().join("kept");
    for (path, is_needless) in files(&home) {
        let was_there = path.exists();
        if was_there {
            fs::rename(&path, &kept).expect("moves");
        }
        put(&path);
        let when = format!("{what} in the place of {}", path.display());
        let mut refused = false;
        for args in COMMANDS {
            let done = answer(&home, args, &when);
            let said = stderr(&done);
            assert!(!said.contains("panicked"), "{when}: {said}");
            refused |= !done.status.success();
            if !done.status.success() {
                let code = done.status.code();
                let expected = [Some(12), Some(13), Some(14)].contains(&code);
                assert!(expected, "{when}: {args:?}: {code:?}: {said}");
            }
        }
        assert!(refused || is_needless, "{when}: nobody said a word");
        assert_documents_are_there(&home, &when);
        clear(&path);
        if was_there && !path.exists() {
            fs::rename(&kept, &path).expect("moves back");
        }
        run(&home, &["view"]);
    }
    run(&home, &["verify", "--full"]);
}

/// Removes what was put in a place, unless a command has put its own file there.
fn clear(path: &Path) {
    let Ok(found) = path.symlink_metadata() else {
        return;
    };
    if found.is_dir() {
        fs::remove_dir_all(path).expect("removes");
    } else if !found.is_file() || found.len() > 1 << 30 || found.nlink() > 1 {
        fs::remove_file(path).expect("removes");
    }
}

#[test]
fn a_pipe_in_the_place_of_any_file_hangs_no_command() {
    in_the_place_of_each_file("a pipe", pipe);
}

#[test]
fn a_folder_in_the_place_of_any_file_is_told() {
    in_the_place_of_each_file("a folder", |path| {
        fs::create_dir_all(path.join("in it")).expect("makes");
    });
}

#[test]
fn a_socket_in_the_place_of_any_file_is_told() {
    in_the_place_of_each_file("a socket", |path| {
        // Its name is longer than a socket's can be.
        let short = path.with_file_name("s");
        drop(UnixListener::bind(&short).unwrap_or_else(|_| {
            let place = tempfile::tempdir().expect("a folder");
            let socket = UnixListener::bind(place.path().join("s")).expect("binds");
            fs::rename(place.path().join("s"), &short).expect("moves");
            socket
        }));
        fs::rename(short, path).expect("moves");
    });
}

#[test]
fn a_link_in_the_place_of_any_file_changes_nothing_elsewhere() {
    let target = tempfile::tempdir().expect("a folder");
    let target = target.path().join("authorized_keys");
    fs::write(&target, "ssh-ed25519 AAAA mine\n").expect("writes");
    in_the_place_of_each_file("a link", |path| {
        symlink(&target, path).expect("links");
    });
    let left = fs::read_to_string(&target).expect("there");
    assert_eq!(left, "ssh-ed25519 AAAA mine\n");
}

/// The branch is exchanged with `main.before`: that file was written, whatever it was.
#[test]
fn the_branch_never_becomes_a_link() {
    let home = scene();
    let before = home.store().join("main.before");
    for put in [false, true] {
        drop(fs::remove_file(&before));
        let thesis = documents(&home).join("thesis");
        if put {
            symlink(thesis, &before).expect("links");
        } else {
            fs::hard_link(thesis, &before).expect("links");
        }
        for _ in 0..3 {
            run(&home, &["view"]);
            let branch = home.store().join("refs/heads/main");
            let branch = branch.symlink_metadata().expect("there");
            assert!(branch.is_file() && branch.nlink() == 1);
            assert_documents_are_there(&home, "after a view");
        }
    }
    run(&home, &["verify", "--full"]);
}

/// A journal that goes on with a record whose key entry is this name; no key is needed to make one.
fn journal_naming(base: &str, named: &str) -> Vec<u8> {
    let base: Vec<u8> = (0..20)
        .map(|at| u8::from_str_radix(&base[2 * at..2 * at + 2], 16).expect("digits"))
        .collect();
    let mut file = b"agekeep-journal1".to_vec();
    let salt = [7; 16];
    file.extend_from_slice(&salt);
    file.extend_from_slice(&base);
    file.resize(96, 0);
    let sum = Sha256::digest(&file);
    file.extend_from_slice(&sum);
    let mut payload = [&base[..], &base, &0_u32.to_le_bytes(), &1_u32.to_le_bytes()].concat();
    payload.push(2);
    payload.extend_from_slice(&0_u32.to_le_bytes());
    payload.extend_from_slice(&u32::try_from(named.len()).expect("short").to_le_bytes());
    payload.extend_from_slice(named.as_bytes());
    let offset = 128_u64.to_le_bytes();
    let sum = Sha256::digest([&salt[..], &offset, &payload].concat());
    file.extend_from_slice(&u32::try_from(payload.len()).expect("short").to_le_bytes());
    file.extend_from_slice(&sum);
    file.extend_from_slice(&payload);
    file.resize(262_144, 0);
    file
}

#[test]
fn a_journal_that_names_a_path_is_refused_and_nothing_is_removed() {
    let home = scene();
    let base = stdout(&home.git(&["rev-parse", "main"]));
    let ups = "../".repeat(3);
    for named in [
        format!("x/{ups}Documents"),
        format!("x/{ups}{ups}{ups}{}", documents(&home).display()),
        documents(&home).display().to_string(),
        "x".into(),
        String::new(),
    ] {
        fs::create_dir_all(home.store().join("keyring/next-x")).expect("makes");
        let journal = journal_naming(base.trim(), &named);
        fs::write(home.store().join("journal"), journal).expect("writes");
        for args in [
            &["status"][..],
            &["view"],
            &["verify"],
            &["verify", "--full"],
        ] {
            let done = answer(&home, args, &named);
            let code = done.status.code();
            assert!(matches!(code, Some(13 | 14)), "{named}: {code:?}");
            assert_documents_are_there(&home, &named);
        }
        assert!(home.store().join("keyring/next-x").is_dir(), "{named}");
    }
    // The control: what is written so is a journal, and a name of the format in it is followed.
    let id = "0123456789abcdef".repeat(2);
    let next = home.store().join(format!("keyring/next-{id}"));
    fs::create_dir(&next).expect("makes");
    fs::write(next.join("for"), "").expect("writes");
    fs::write(next.join("a stranger's"), "").expect("writes");
    let journal = journal_naming(base.trim(), &id);
    fs::write(home.store().join("journal"), journal).expect("writes");
    run(&home, &["view"]);
    assert!(!next.join("for").exists());
    assert!(
        next.join("a stranger's").exists(),
        "it is none of a keyring's"
    );
}

#[test]
fn a_keyring_that_is_a_link_is_refused_before_any_mode_is_changed() {
    let home = scene();
    let (keyring, elsewhere) = (home.store().join("keyring"), home.path().join("elsewhere"));
    fs::rename(&keyring, &elsewhere).expect("moves");
    symlink(&elsewhere, &keyring).expect("links");
    fs::write(elsewhere.join("notes"), "").expect("writes");
    let open = fs::Permissions::from_mode(0o755);
    for path in [elsewhere.clone(), elsewhere.join("notes")] {
        fs::set_permissions(&path, open.clone()).expect("opens");
    }
    for args in COMMANDS {
        let done = answer(&home, args, "a keyring that is a link");
        let code = done.status.code();
        assert!(matches!(code, Some(13 | 14)), "{args:?}: {code:?}");
        let said = stderr(&done) + &stdout(&done);
        assert!(said.contains("it is a link, not a folder"), "{said}");
    }
    for path in [elsewhere.clone(), elsewhere.join("notes")] {
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o755, "{}", path.display());
    }
    let moved = elsewhere.to_str().expect("UTF-8");
    run(&home, &["--keyring", moved, "view"]);
}

#[test]
fn a_file_without_end_is_refused_before_room_is_made_for_it() {
    let home = scene();
    let kept = home.path().join("kept");
    let needed = [
        "keyring/ring",
        "keyring/names",
        "keyring/epoch.age",
        "keyring/audit.age",
        "journal",
        "refs/heads/main",
    ];
    for name in needed {
        let path = home.store().join(name);
        fs::copy(&path, &kept).expect("copies");
        let file = fs::OpenOptions::new().write(true).open(&path);
        file.and_then(|file| file.set_len(60 << 30)).expect("grows");
        for args in [&["view"][..], &["verify"]] {
            let begun = Instant::now();
            let done = answer(&home, args, name);
            let said = stderr(&done) + &stdout(&done);
            assert!(
                matches!(done.status.code(), Some(13 | 14)),
                "{name}: {said}"
            );
            assert!(said.contains("it is longer than "), "{name}: {said}");
            eprintln!("{name}: {args:?} took {:?}", begun.elapsed());
        }
        fs::copy(&kept, &path).expect("puts back");
    }
    for name in ["catalog", "timeline"] {
        let file = fs::File::create(home.store().join(name)).expect("makes");
        file.set_len(60 << 30).expect("grows");
        run(&home, &["view"]);
        run(&home, &["log"]);
    }
    // An index that says that there are as many objects as four bytes can say.
    let index = packed(&home, "idx");
    let mut bytes = fs::read(&index).expect("reads");
    bytes[8 + 4 * 255..8 + 4 * 256].fill(0xff);
    fs::remove_file(&index).expect("there");
    fs::write(&index, bytes).expect("writes");
    let grown = fs::OpenOptions::new().write(true).open(&index);
    grown
        .and_then(|file| file.set_len(60 << 30))
        .expect("grows");
    let done = answer(&home, &["verify", "--full"], "an index without end");
    assert!(
        matches!(done.status.code(), Some(13 | 14)),
        "{}",
        stderr(&done)
    );
}

#[test]
fn a_store_whose_files_go_by_other_names_too_is_not_written_through_them() {
    let home = scene();
    let copy = home.path().join("copy");
    for name in ["journal", "keyring/ring", "keyring/names"] {
        let path = home.store().join(name);
        fs::hard_link(&path, &copy).expect("links");
        let before = fs::read(&copy).expect("reads");
        let done = answer(&home, COMMANDS[0], name);
        assert_eq!(done.status.code(), Some(13), "{}", stderr(&done));
        assert!(stderr(&done).contains("has 2 names"), "{}", stderr(&done));
        assert!(
            fs::read(&copy).expect("reads") == before,
            "{name} was written"
        );
        fs::remove_file(&copy).expect("there");
    }
    for name in ["catalog", "timeline"] {
        let path = home.store().join(name);
        fs::hard_link(&path, &copy).expect("links");
        let before = fs::read(&copy).expect("reads");
        create(&home, name);
        run(&home, &["log"]);
        assert!(
            fs::read(&copy).expect("reads") == before,
            "{name} was written"
        );
        fs::remove_file(&copy).expect("there");
    }
}

#[test]
fn no_store_is_made_in_a_folder_that_is_somebody_else_s() {
    let home = Home::empty();
    let store = home.store();
    fs::create_dir_all(&store).expect("makes");
    if chown(&store, Some(65_534), Some(65_534)).is_err() {
        eprintln!("\n*** NOT TESTED: only root can give a folder to somebody else ***\n");
        return;
    }
    let refused = home.run(&["init"]);
    assert_eq!(refused.status.code(), Some(5), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("belongs to the user 65534"));
    assert!(stderr(&refused).contains("\nhint: "));
    assert_eq!(fs::read_dir(&store).expect("there").count(), 0);
    assert!(!home.identity().exists(), "a key was made for nothing");
    chown(&store, Some(0), Some(0)).expect("ours again");
    run(&home, &["init"]);
}

/// Where the kernel does not know `openat2`, or a filter keeps it away, each folder on the way is
/// opened on its own.
#[test]
fn a_kernel_without_openat2_is_no_difference() {
    if !has_peer("strace", "takes a system call away") {
        return;
    }
    for error in ["ENOSYS", "EPERM"] {
        let home = scene();
        let inject = format!("inject=openat2:error={error}");
        let command = home.command(&["create", "/memories/c.md", "--text", "c\n"]);
        let mut strace = strace(&inject);
        strace.args(["-o", "/dev/null", "-e", "trace=openat2"]);
        strace.args(["-e", &inject]).arg(command.get_program());
        strace.args(command.get_args()).env_clear();
        let set = command.get_envs();
        strace.envs(set.filter_map(|(name, value)| Some((name, value?))));
        let done = strace.current_dir(home.path()).output().expect("runs");
        assert!(done.status.success(), "{error}: {}", stderr(&done));
        assert_eq!(run(&home, &["read", "/memories/c.md"]), "c\n");
        run(&home, &["verify", "--full"]);
    }
}
