//! Foreign things in the place of a file: all of them are refused, and files elsewhere stay
//! untouched.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Instant;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

use crate::disk::*;
use crate::id::ObjectId;

const OBJECT: ObjectId = ObjectId([0xab; 20]);

/// A store's folder, beside a folder with foreign files.
struct Scene {
    temporary: tempfile::TempDir,
    folder: Folder,
}

impl Scene {
    fn new() -> Self {
        let temporary = tempfile::tempdir().expect("a folder");
        let store = temporary.path().join("store");
        fs::create_dir_all(store.join("ab")).expect("makes");
        fs::create_dir_all(store.join("refs/heads")).expect("makes");
        fs::create_dir(temporary.path().join("elsewhere")).expect("makes");
        fs::write(temporary.path().join("elsewhere/secret"), "theirs").expect("writes");
        let folder = Folder::at(&store).expect("opens");
        Self { temporary, folder }
    }

    fn elsewhere(&self) -> std::path::PathBuf {
        self.temporary.path().join("elsewhere")
    }

    fn path(&self, name: &Name) -> std::path::PathBuf {
        self.folder.path_of(name)
    }

    fn make_pipe(&self, name: &Name) {
        let made = mknodat(CWD, self.path(name), FileType::Fifo, Mode::RUSR, 0);
        made.expect("makes");
    }
}

/// Collects the refusals of all ways to open, read or write a file.
fn refusals(folder: &Folder, name: &Name) -> Vec<String> {
    let why = |opened: std::io::Result<()>| {
        let error = opened.expect_err("it is not refused");
        let refused = Refused::in_error(&error);
        refused.map_or(error.to_string(), Refused::why)
    };
    vec![
        why(folder.open_read(name).map(drop)),
        why(folder.open_write(name).map(drop)),
        why(folder.open_or_make(name, 0o600).map(drop)),
        why(folder.read(name).map(drop)),
        why(folder.sync_file(name)),
    ]
}

fn assert_refused(folder: &Folder, name: &Name, expected: &str) {
    let begun = Instant::now();
    for why in refusals(folder, name) {
        assert_eq!(why, expected, "{}", name.as_str());
    }
    assert!(begun.elapsed().as_secs() < 20, "{} waited", name.as_str());
}

#[test]
fn a_link_in_the_place_of_a_file_is_refused() {
    for target in ["secret", "nothing"] {
        let scene = Scene::new();
        for name in [Name::HEAD, Name::BRANCH, Name::object(OBJECT)] {
            symlink(scene.elsewhere().join(target), scene.path(&name)).expect("links");
            assert_refused(&scene.folder, &name, "it is a link, not a file");
        }
        assert!(!scene.elsewhere().join("nothing").exists(), "it was made");
    }
}

#[test]
fn a_link_in_the_place_of_any_folder_above_a_file_is_refused() {
    for depth in ["refs", "refs/heads"] {
        let scene = Scene::new();
        let at = scene.folder.path().join(depth);
        fs::rename(&at, scene.elsewhere().join("moved")).expect("moves");
        symlink(scene.elsewhere().join("moved"), &at).expect("links");
        assert_refused(&scene.folder, &Name::BRANCH, "it is a link, not a folder");
        let replaced = scene.folder.replace(&Name::BRANCH, b"x", 0o644);
        let said = replaced.expect_err("it is not refused").to_string();
        assert!(said.ends_with("it is a link, not a folder"), "{said}");
        assert!(scene.folder.remove(&Name::BRANCH).is_err());
        assert!(scene.folder.look(&Name::BRANCH).is_err());
        assert!(scene.folder.sub(&Name::HEADS).is_err());
    }
    let scene = Scene::new();
    symlink(scene.elsewhere(), scene.path(&Name::KEYRING)).expect("links");
    let sub = scene.folder.sub(&Name::KEYRING).err().expect("refused");
    assert_eq!(
        Refused::in_error(&sub).map(Refused::why).as_deref(),
        Some("it is a link, not a folder")
    );
}

/// Covers the fallback for older kernels and other systems, and `openat2`.
#[test]
fn a_path_is_opened_step_by_step_as_at_once() {
    use std::os::fd::AsFd;
    let scene = Scene::new();
    fs::write(scene.path(&Name::BRANCH), "here").expect("writes");
    let store = fs::File::open(scene.folder.path()).expect("opens");
    let step = |path| outside::step_by_step(store.as_fd(), path, outside::FILE, Mode::empty());
    assert!(step("refs/heads/main").is_ok());
    assert!(scene.folder.open_read(&Name::BRANCH).is_ok());
    fs::rename(scene.path(&Name::HEADS), scene.elsewhere().join("heads")).expect("moves");
    symlink(scene.elsewhere().join("heads"), scene.path(&Name::HEADS)).expect("links");
    assert!(step("refs/heads/main").is_err());
    assert!(scene.folder.open_read(&Name::BRANCH).is_err());
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let scene = Scene::new();
    let names = [
        Name::HEAD,
        Name::JOURNAL,
        Name::BRANCH,
        Name::object(OBJECT),
    ];
    for name in &names {
        scene.make_pipe(name);
        assert_refused(&scene.folder, name, "it is a named pipe, not a file");
        fs::remove_file(scene.path(name)).expect("there");
        let socket = UnixListener::bind(scene.path(name)).expect("binds");
        assert_refused(&scene.folder, name, "it is a socket, not a file");
        drop(socket);
        fs::remove_file(scene.path(name)).expect("there");
        // Only root can make a device.
        if mknodat(
            CWD,
            scene.path(name),
            FileType::CharacterDevice,
            Mode::RUSR,
            0x105,
        )
        .is_ok()
        {
            assert!(scene.folder.read(name).is_err());
            fs::remove_file(scene.path(name)).expect("there");
        }
        fs::create_dir(scene.path(name)).expect("makes");
        assert_refused(&scene.folder, name, "it is a folder, not a file");
    }
    fs::write(scene.path(&Name::KEYRING), "").expect("writes");
    let sub = scene.folder.sub(&Name::KEYRING).err().expect("refused");
    assert_eq!(
        Refused::in_error(&sub).map(Refused::why).as_deref(),
        Some("it is a file, not a folder")
    );
}

#[test]
fn what_is_longer_than_the_format_allows_is_refused_before_it_is_read() {
    let scene = Scene::new();
    for name in [Name::HEAD, Name::RING, Name::JOURNAL, Name::EPOCH] {
        let file = fs::File::create(scene.path(&name)).expect("makes");
        file.set_len(name.bytes_max()).expect("is sparse");
        assert!(scene.folder.open_write(&name).is_ok(), "{}", name.as_str());
        for length in [name.bytes_max() + 1, 60 << 30] {
            file.set_len(length).expect("is sparse");
            let expected = format!("it is longer than {} bytes", name.bytes_max());
            assert_refused(&scene.folder, &name, &expected);
        }
    }
}

#[test]
fn a_file_that_has_another_name_is_read_and_never_written() {
    let scene = Scene::new();
    let other = scene.elsewhere().join("secret");
    fs::hard_link(&other, scene.path(&Name::RING)).expect("links");
    let read = scene.folder.read(&Name::RING).expect("reads");
    assert_eq!(read, b"theirs");
    let error = scene.folder.open_write_or_read(&Name::RING).err();
    let error = error.expect("it is not refused");
    let why = Refused::in_error(&error).map(Refused::why);
    assert_eq!(why.as_deref(), Some("the same file has 2 names"));
    scene
        .folder
        .replace(&Name::RING, b"ours", 0o600)
        .expect("puts another in its place");
    assert_eq!(fs::read(other).expect("reads"), b"theirs");
}

#[test]
fn what_the_branch_is_exchanged_with_is_never_written_through() {
    let kinds: [fn(&Scene, &Path); 5] = [
        |_, _| {},
        |scene, at| symlink(scene.elsewhere().join("secret"), at).expect("links"),
        |scene, at| fs::hard_link(scene.elsewhere().join("secret"), at).expect("links"),
        |scene, _| scene.make_pipe(&Name::BRANCH_BEFORE),
        |_, at| fs::create_dir_all(at.join("in it")).expect("makes"),
    ];
    for put in kinds {
        let scene = Scene::new();
        fs::write(scene.path(&Name::BRANCH), "old\n").expect("writes");
        put(&scene, &scene.path(&Name::BRANCH_BEFORE));
        for text in ["new\n", "newer\n"] {
            let folder = &scene.folder;
            let done = folder.exchange(&Name::BRANCH_BEFORE, &Name::BRANCH, text.as_bytes());
            done.expect("writes");
            assert_eq!(folder.read(&Name::BRANCH).expect("reads"), text.as_bytes());
            assert!(folder.has_kind(&Name::BRANCH, FileKind::File));
        }
        let theirs = fs::read(scene.elsewhere().join("secret"));
        assert_eq!(theirs.expect("reads"), b"theirs");
    }
}

#[test]
fn no_name_is_made_of_a_path() {
    let id = "0123456789abcdef0123456789abcdef";
    assert!(StagedKeyringId::parse(id.as_bytes()).is_some());
    assert!(StagedKeyringId::of_folder(&format!("next-{id}")).is_some());
    for other in [
        "",
        "x",
        "x/../../../home/Documents",
        "../0123456789abcdef0123456789abc",
        &id.to_uppercase(),
        &format!("{id}0"),
        &format!("{id}/"),
        &id[1..],
    ] {
        assert!(
            StagedKeyringId::parse(other.as_bytes()).is_none(),
            "{other}"
        );
        assert!(
            StagedKeyringId::of_folder(&format!("next-{other}")).is_none(),
            "{other}"
        );
        assert!(
            Name::temporary(&format!("tmp_agekeep_{other}")).is_none(),
            "{other}"
        );
        assert!(Name::building(&format!(".agekeep-init-{other}")).is_none());
        assert!(PackId::of_file(&format!("pack-{other}.idx"), "idx").is_none());
    }
    let pack = format!("pack-{}.idx", "0a".repeat(20));
    assert!(PackId::of_file(&pack, "idx").is_some());
    assert!(PackId::of_file(&pack, "pack").is_none());
    assert!(
        StagedKeyringId::parse(&[0xff; 32]).is_none(),
        "not even text"
    );
}

#[test]
fn removing_takes_a_file_or_a_link_and_nothing_behind_it() {
    let scene = Scene::new();
    let folder = &scene.folder;
    symlink(scene.elsewhere(), scene.path(&Name::JOURNAL)).expect("links");
    folder.remove(&Name::JOURNAL).expect("removes the link");
    assert!(scene.elsewhere().join("secret").exists());
    assert!(folder.remove(&Name::REFS).is_err(), "a folder");
    assert!(folder.remove_folder(&Name::REFS).is_err(), "not empty");
    assert!(folder.remove_folder(&Name::HEADS).is_ok());
    fs::rename(folder.path().join("ab"), scene.elsewhere().join("ab")).expect("moves");
    symlink(scene.elsewhere().join("ab"), folder.path().join("ab")).expect("links");
    let rest = &"ab".repeat(19);
    fs::write(scene.elsewhere().join("ab").join(rest), "theirs").expect("writes");
    assert!(folder.remove(&Name::object(OBJECT)).is_err());
    assert!(
        folder
            .replace(&Name::object(OBJECT), b"ours", 0o444)
            .is_err()
    );
    let theirs = fs::read(scene.elsewhere().join("ab").join(rest));
    assert_eq!(theirs.expect("there"), b"theirs");
}

#[test]
fn closing_to_others_follows_nothing() {
    let scene = Scene::new();
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    let theirs = scene.elsewhere().join("secret");
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o644)).expect("opens it");
    symlink(&theirs, scene.path(&Name::RING)).expect("links");
    fs::write(scene.path(&Name::NAMES), "").expect("writes");
    fs::set_permissions(scene.path(&Name::NAMES), fs::Permissions::from_mode(0o664))
        .expect("opens");
    for found in scene.folder.look_at_all().expect("lists") {
        let closed = scene.folder.restrict_entry(&found);
        assert_eq!(closed.is_err(), found.look.kind == FileKind::Link);
    }
    assert_eq!(
        (mode(&theirs), mode(&scene.path(&Name::NAMES))),
        (0o644, 0o600)
    );
}

#[test]
fn a_lock_is_of_the_folder_that_is_at_the_path_now() {
    let scene = Scene::new();
    let known = scene.folder.clone();
    let mut lock = Lock::acquire(&known).expect("locks");
    assert!(lock.moved().is_none());
    drop(lock);
    let path = known.path().to_owned();
    fs::rename(&path, scene.elsewhere().join("away")).expect("moves");
    fs::create_dir(&path).expect("makes");
    let mut lock = Lock::acquire(&known).expect("locks");
    let moved = lock.moved().expect("it is another");
    assert!(!moved.is(&known).expect("open"));
    assert!(moved.is(&Folder::at(&path).expect("opens")).expect("open"));
    assert!(path.join("lock").exists());
    assert!(Lock::try_acquire(&moved).is_none(), "it is held");
    drop(lock);
    assert!(
        Lock::try_acquire(&moved).is_some(),
        "no copy of it holds the lock"
    );
}

#[test]
fn a_folder_without_end_is_not_counted_to_its_end() {
    let scene = Scene::new();
    let mut deep = scene.folder.path().to_owned();
    for _ in 0..200 {
        deep.push("d");
        fs::create_dir(&deep).expect("makes");
    }
    fs::write(scene.path(&Name::HEAD), "12345").expect("writes");
    assert!(scene.folder.bytes_below().expect("counts") >= 5);
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_gets_limits_and_keeps_those_of_which_nothing_is_said() {
    let mut sleep = std::process::Command::new("sleep");
    let mut child = sleep.arg("60").spawn().expect("starts");
    let limits = || {
        let path = format!("/proc/{}/limits", child.id());
        let text = fs::read_to_string(path).expect("runs");
        let line = |begin| {
            let mut lines = text.lines();
            let line = lines.find_map(|line: &str| line.strip_prefix(begin));
            let words = line.expect("it is there").split_whitespace();
            words.take(2).map(str::to_owned).collect::<Vec<_>>()
        };
        [line("Max data size"), line("Max file size")]
    };
    let [_, file] = limits();
    limit_process(&child, 1 << 32, None);
    assert_eq!(limits(), [vec!["4294967296".to_owned(); 2], file]);
    limit_process(&child, 1 << 32, Some(4096));
    assert_eq!(
        limits(),
        ["4294967296", "4096"].map(|bytes| vec![bytes.to_owned(); 2])
    );
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn a_file_is_opened_with_what_keeps_it_from_waiting() {
    for flag in [
        OFlags::NONBLOCK,
        OFlags::NOFOLLOW,
        OFlags::CLOEXEC,
        OFlags::NOCTTY,
    ] {
        assert!(outside::FILE.contains(flag), "{flag:?}");
    }
}

#[test]
fn a_file_outside_a_store_is_read_no_further_than_it_may_be_long() {
    let scene = Scene::new();
    let file = scene.elsewhere().join("secret");
    assert_eq!(read_plain(&file, 6).expect("reads"), b"theirs");
    let longer = read_plain(&file, 5).expect_err("it is longer");
    assert_eq!(longer.kind(), std::io::ErrorKind::InvalidData);
    let pipe = scene.elsewhere().join("pipe");
    let made = mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0);
    made.expect("makes");
    for opened in [
        open_plain(&pipe, false).map(drop),
        open_plain(&pipe, true).map(drop),
        open_chosen(&pipe).map(drop),
        read_plain(&pipe, 5).map(drop),
    ] {
        let error = opened.expect_err("it is no file");
        assert!(Refused::in_error(&error).is_some(), "{error}");
    }
}
