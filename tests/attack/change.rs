//! What can be done to any file or folder of a store by who has no key: each change of each file is
//! a case.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::attack::canary::{AUTHORIZED_KEYS, DOCUMENTS};
use crate::attack::case::{Case, Deed};
use crate::attack::plant;
use crate::attack::scene::Scene;
use crate::support::{Home, stdout};

/// Files that are not in every store and are read, or were once, where they are.
const PLANTED: [&str; 12] = [
    "packed-refs",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "objects/pack/multi-pack-index",
    "journal.new",
    "shallow",
    "info/grafts",
    "tmp_agekeep_0123456789abcdef",
    "objects/tmp_agekeep_0123456789abcdef",
    "objects/pack/tmp_agekeep_0123456789abcdef",
    "keyring/tmp_agekeep_0123456789abcdef",
    "keyring/next-0123456789abcdef0123456789abcdef",
];

/// Whether a kind of file is none that the scene's store has.
pub(crate) fn is_planted(what: &str) -> bool {
    PLANTED.contains(&what)
}

/// A file or folder of the scene's store.
struct Target {
    path: String,
    what: String,
    /// What it holds; nothing for a folder, or for what is not there.
    bytes: Arc<Vec<u8>>,
}

/// Every change of every file and folder there is.
pub(crate) fn cases(scene: &Scene) -> Vec<Case> {
    let mut cases = Vec::new();
    for path in plant::list(&scene.home.store()) {
        let path = path.to_str().expect("UTF-8").to_owned();
        let whole = scene.home.store().join(&path);
        let target = Target {
            what: kind(scene, &path),
            bytes: Arc::new(if whole.is_file() {
                fs::read(&whole).expect("there")
            } else {
                Vec::new()
            }),
            path,
        };
        cases.extend(target.cases_of_things(scene));
        if whole.is_file() {
            cases.extend(target.cases_of_bytes());
            cases.extend(target.cases_of_others(scene));
        }
    }
    for path in PLANTED {
        let target = Target {
            path: path.into(),
            what: path.into(),
            bytes: Arc::default(),
        };
        cases.extend(target.cases_of_things(scene));
        cases.extend([target.case("other/text", |path| write(path, b"0123456789\n".into()))]);
    }
    cases
}

/// What a path of a store is: all loose blobs are one, all packs are one.
fn kind(scene: &Scene, path: &str) -> String {
    let is_folder = scene.home.store().join(path).is_dir();
    let Some(object) = path.strip_prefix("objects/") else {
        return path.into();
    };
    if let Some(pack) = object.strip_prefix("pack/") {
        let end = Path::new(pack).extension().expect("an ending");
        return format!("objects/pack/*.{}", end.to_str().expect("UTF-8"));
    }
    if is_folder {
        return if object.len() == 2 {
            "objects/??".into()
        } else {
            path.into()
        };
    }
    let name = object.replace('/', "");
    let kind = stdout(&scene.home.git(&["cat-file", "-t", &name]));
    format!("loose {}", kind.trim())
}

impl Target {
    fn case(&self, deed: &str, act: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Case {
        let path = self.path.clone();
        self.case_in(deed, Box::new(move |home| act(&home.store().join(&path))))
    }

    fn case_in(&self, deed: &str, act: Deed) -> Case {
        Case {
            what: self.what.clone(),
            deed: deed.into(),
            place: self.path.clone(),
            touched: vec![self.path.clone()],
            act,
        }
    }

    /// It is gone, somebody else's, or something else than a file.
    fn cases_of_things(&self, scene: &Scene) -> Vec<Case> {
        let mut cases = vec![
            self.case("gone", |path| did(|| plant::clear(path))),
            self.case("fifo", |path| did(|| plant::fifo(path))),
            self.case("socket", |path| did(|| plant::socket(path))),
            self.case("device", plant::device),
            self.case("folder", |path| did(|| folder(path))),
            self.case("folder with files", |path| did(|| full_folder(path))),
            self.case("empty file", |path| write(path, Vec::new())),
            self.case("giant", |path| {
                did(|| {
                    plant::clear(path);
                    plant::grow(path);
                })
            }),
        ];
        for (deed, target) in [
            ("link to a file", AUTHORIZED_KEYS),
            ("link to a folder", DOCUMENTS),
            ("link to nothing", "Documents/not-there"),
        ] {
            let act = move |home: &Home, path: &Path| plant::link(path, &home.path().join(target));
            cases.push(self.case_beside(deed, act));
        }
        if scene.home.store().join(&self.path).exists() {
            cases.push(self.case_beside("link to what it was", |home, path| {
                let kept = home.path().join("kept");
                plant::copy(path, &kept);
                plant::link(path, &kept);
            }));
            cases.push(self.case("mode/open", |path| did(|| plant::set_mode(path, 0o777))));
            cases.push(self.case("mode/closed", |path| did(|| plant::set_mode(path, 0))));
            cases.push(self.case("owner", |path| {
                plant::is_root() && did(|| plant::give_away(path))
            }));
        }
        cases
    }

    fn case_beside(&self, deed: &str, act: impl Fn(&Home, &Path) + Send + Sync + 'static) -> Case {
        let path = self.path.clone();
        self.case_in(
            deed,
            Box::new(move |home| did(|| act(home, &home.store().join(&path)))),
        )
    }

    /// Some of its bytes are gone, new, or others.
    fn cases_of_bytes(&self) -> Vec<Case> {
        let size = self.bytes.len();
        let used = size
            - self
                .bytes
                .iter()
                .rev()
                .take_while(|byte| **byte == 0)
                .count();
        let mut cases = Vec::new();
        let mut changed = |deed: String, bytes: Vec<u8>| {
            if bytes != *self.bytes {
                cases.push(self.case(&deed, move |path| write(path, bytes.clone())));
            }
        };
        for at in [
            0,
            1,
            16,
            64,
            128,
            size / 2,
            used.saturating_sub(1),
            size.saturating_sub(1),
        ] {
            if at < size {
                changed(format!("cut/at {at}"), self.bytes[..at].to_vec());
            }
        }
        for more in [
            vec![0],
            vec![b'\n'],
            vec![0; 4096],
            self.bytes.to_vec(),
            vec![0xff; 1 << 20],
        ] {
            let deed = format!("longer/by {} of {:?}", more.len(), more.first());
            changed(deed, [&self.bytes[..], &more].concat());
        }
        for at in flips(used) {
            let mut bytes = self.bytes.to_vec();
            bytes[at] ^= 1 << (at % 8);
            changed(format!("flip/at {at}"), bytes);
        }
        for (from, to) in [(0, 16), (32, 64), (64, 128), (used / 2, used)] {
            let mut bytes = self.bytes.to_vec();
            for (deed, value) in [("zeros", 0), ("ones", 0xff)] {
                if let Some(part) = bytes.get_mut(from..to.min(used)) {
                    part.fill(value);
                    changed(format!("{deed}/{from} to {to}"), bytes.clone());
                }
            }
        }
        cases.push(self.case("grown to a giant", |path| did(|| plant::grow(path))));
        for (deed, target) in [
            ("hard link to a file", AUTHORIZED_KEYS),
            ("hard link to a copy", "kept"),
        ] {
            let act = move |home: &Home, path: &Path| {
                let target = home.path().join(target);
                if !target.exists() {
                    plant::copy(path, &target);
                }
                plant::hard_link(path, &target);
            };
            cases.push(self.case_beside(deed, act));
        }
        cases
    }

    /// It is what it was, or what the same file of another store is, or another file of its kind.
    fn cases_of_others(&self, scene: &Scene) -> Vec<Case> {
        let mut cases = Vec::new();
        for (group, stores) in [("older", &scene.moments), ("another store", &scene.others)] {
            for (name, store) in stores {
                let bytes = fs::read(store.join(&self.path)).unwrap_or_default();
                if !bytes.is_empty() && bytes != *self.bytes {
                    let deed = format!("{group}/{name}");
                    cases.push(self.case(&deed, move |path| write(path, bytes.clone())));
                }
            }
        }
        for other in siblings(scene, self) {
            let bytes = fs::read(scene.home.store().join(&other)).expect("there");
            if bytes != *self.bytes {
                let deed = format!("sibling/{}", other.display());
                cases.push(self.case(&deed, move |path| write(path, bytes.clone())));
            }
        }
        cases
    }
}

/// A few other files of the store: the next of its kind, and of other kinds.
fn siblings(scene: &Scene, target: &Target) -> Vec<PathBuf> {
    let store = scene.home.store();
    let mut files = plant::list(&store);
    files.retain(|path| store.join(path).is_file());
    let at = files
        .iter()
        .position(|path| path == Path::new(&target.path));
    files.rotate_left(at.expect("it is one of them"));
    let step = if target.path.starts_with("objects/") {
        7
    } else {
        5
    };
    files.into_iter().skip(1).step_by(step).take(5).collect()
}

/// Places of a file where one bit is flipped: all fields of what begins it, and some of the rest.
fn flips(used: usize) -> Vec<usize> {
    let head = (0..used.min(132)).step_by(if used < 600 { 3 } else { 4 });
    let rest = (132..used).step_by((used / 24).max(1));
    head.chain(rest).chain(used.checked_sub(1)).collect()
}

fn did(act: impl FnOnce()) -> bool {
    act();
    true
}

fn write(path: &Path, bytes: Vec<u8>) -> bool {
    plant::clear(path);
    fs::write(path, bytes).expect("written");
    plant::set_mode(path, 0o600);
    true
}

fn folder(path: &Path) {
    plant::clear(path);
    fs::create_dir(path).expect("made");
}

fn full_folder(path: &Path) {
    folder(path);
    fs::write(path.join("for"), "all 1 1\n").expect("written");
    plant::fifo(&path.join("ring"));
}
