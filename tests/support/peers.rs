//! Programs and packages of other projects that tests talk to: what `tests/peers/install` put into
//! `target/peers`, or into the folder that `AGEKEEP_PEERS` names.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::{Digest, Sha256};

/// A kind of peer, its folder, and the files that pin its versions.
struct Kind {
    name: &'static str,
    pins: &'static [&'static str],
    program: &'static str,
}

const PYTHON: Kind = Kind {
    name: "python",
    pins: &["requirements.txt"],
    program: "bin/python",
};

const NODE: Kind = Kind {
    name: "node",
    pins: &["package.json", "package-lock.json"],
    program: "node_modules/.bin/node",
};

/// The Python that has the SDKs in it.
pub(crate) fn python() -> Option<PathBuf> {
    usable(&root(), &PYTHON).ok()
}

/// A Node that is new enough for every npm peer.
pub(crate) fn node() -> Option<PathBuf> {
    usable(&root(), &NODE).ok()
}

/// The folder of an npm package, such as `@modelcontextprotocol/inspector`.
pub(crate) fn node_module(name: &str) -> Option<PathBuf> {
    node()?;
    let folder = node_modules().join(name);
    folder.is_dir().then_some(folder)
}

/// The folder that `NODE_PATH` or a link can name, for programs that stand outside it.
pub(crate) fn node_modules() -> PathBuf {
    root().join(NODE.name).join("node_modules")
}

/// Says loudly that a test was left out, and what for. In CI that is a failure, unless no Node of the
/// right age can be had for the machine: a test that is skipped in silence is soon a broken one.
pub(crate) fn skipped(test: &str, why: &str) {
    say_skipped(test, why, &reasons(&root()), "tests/peers/install");
}

/// The browser that pages are looked at with: Debian's headless one, or Chromium itself.
pub(crate) fn chromium() -> Option<PathBuf> {
    let names = ["chromium-headless-shell", "chromium", "chromium-browser"];
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let places = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}

/// Says loudly that a test was left out because there is no browser. In CI that is a failure.
pub(crate) fn skipped_without_chromium(test: &str, why: &str) {
    let reason = Reason {
        text: "chromium: not installed".into(),
        final_here: false,
    };
    say_skipped(
        test,
        why,
        &[reason],
        "apt-get install chromium-headless-shell",
    );
}

fn say_skipped(test: &str, why: &str, reasons: &[Reason], remedy: &str) {
    let mut loud = format!("\n*** SKIPPED: {test} ***\n*** It matters because {why}.\n");
    for reason in reasons {
        let _ = writeln!(loud, "*** {}", reason.text);
    }
    let _ = write!(loud, "*** Install what is missing with: {remedy}\n\n");
    // Past the test harness, which keeps the output of a test that passes to itself.
    let mut stderr = std::io::stderr();
    stderr
        .write_all(loud.as_bytes())
        .expect("standard error is open");
    let ci = env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1");
    assert!(!ci || is_excused(reasons), "CI must not skip:{loud}");
}

/// Why peers of a kind cannot be used.
pub(crate) struct Reason {
    /// In words.
    pub(crate) text: String,
    /// Whether nothing can be done about it on this machine.
    pub(crate) final_here: bool,
}

/// What keeps peers from being used; nothing where all can be.
pub(crate) fn reasons(root: &Path) -> Vec<Reason> {
    let kinds = [&PYTHON, &NODE].into_iter();
    kinds.filter_map(|kind| usable(root, kind).err()).collect()
}

/// Whether CI may go on without the peers.
pub(crate) fn is_excused(reasons: &[Reason]) -> bool {
    !reasons.is_empty() && reasons.iter().all(|reason| reason.final_here)
}

fn root() -> PathBuf {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    env::var_os("AGEKEEP_PEERS").map_or_else(|| project.join("target/peers"), PathBuf::from)
}

/// The program of a kind, where it is installed in the versions pinned today.
fn usable(root: &Path, kind: &Kind) -> Result<PathBuf, Reason> {
    let because = |why: &str, final_here| {
        let text = format!("{}: {why}", kind.name);
        Err(Reason { text, final_here })
    };
    let folder = root.join(kind.name);
    let Ok(stamp) = fs::read_to_string(folder.join("stamp")) else {
        return because("not installed", false);
    };
    if stamp.trim() != pinned(kind) {
        return because("installed in other versions than are pinned now", false);
    }
    if let Ok(why) = fs::read_to_string(folder.join("unfit")) {
        return because(why.trim(), true);
    }
    let program = folder.join(kind.program);
    if !program.exists() {
        return because("its program is gone", false);
    }
    Ok(program)
}

/// The stamp of what is pinned, as `tests/peers/install` makes it.
fn pinned(kind: &Kind) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers");
    let mut hash = Sha256::new();
    for file in kind.pins {
        hash.update(fs::read(folder.join(file)).expect("the pins are in the project"));
    }
    format!("{:x}", hash.finalize())
}
