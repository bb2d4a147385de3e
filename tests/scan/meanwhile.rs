//! A scan of many memories, and what others do meanwhile: nobody waits for it.

use std::cell::RefCell;
use std::path::Path;

use agekeep::Text;
use agekeep::event::Context;
use agekeep::store::history::Recorded;
use agekeep::store::scan::{Exposed, Remedy, ScanScope, Scanned};

use crate::scan::kept::*;

/// More than one piece.
const MEMORIES: usize = 600;

fn name(number: usize) -> String {
    format!("m{number:03}.md")
}

/// Memories of which every third holds a secret; the first piece has the newest of them.
fn many() -> Kept {
    let text = |number: usize| match number % 3 {
        0 => format!("{number}\n{}\n", token()),
        _ => format!("{number}\n"),
    };
    let calls: Vec<_> = (0..MEMORIES)
        .map(|number| create(&name(number), &text(number)))
        .collect();
    Kept::given(&calls).policy("")
}

/// Scans, and has something done when so many versions are done.
fn scan(kept: &Kept, mut act: impl FnMut(u64)) -> Recorded<Scanned> {
    let mut store = kept.open();
    let mut context = Context::default();
    context.actor = Some("auditor".into());
    let looked = store.scan(&ScanScope::default(), &context, &mut |done, total| {
        assert_eq!(total, MEMORIES as u64);
        act(done);
    });
    looked.expect("scans")
}

fn shown(path: Option<&Text>) -> &str {
    path.map(Text::as_str).expect("a path")
}

fn of(found: &Scanned, number: usize) -> Option<&Exposed> {
    let path = format!("/memories/{}", name(number));
    let mut memories = found.memories.iter();
    memories.find(|memory| shown(memory.path.as_ref()) == path)
}

#[test]
fn others_go_on_and_what_they_erase_is_passed_over() {
    let kept = many();
    let moments = RefCell::new(Vec::new());
    let looked = scan(&kept, |done| {
        moments.borrow_mut().push(done);
        let path = |number| format!("/memories/{}", name(number));
        match done {
            // Still to be looked through, and not yet.
            0 => {
                kept.ok(&["erase", &path(3), "--yes", "--reason", "asked"]);
                kept.ok(&[
                    "redact",
                    &format!("HEAD:{}", path(6)),
                    "--yes",
                    "--reason",
                    "asked",
                ]);
                kept.ok(&["create", "/memories/new.md", "--text", "x"]);
            }
            // Looked through already.
            512 => {
                kept.ok(&["erase", &path(597), "--yes", "--reason", "asked"]);
                kept.ok(&[
                    "redact",
                    &format!("HEAD:{}", path(594)),
                    "--yes",
                    "--reason",
                    "asked",
                ]);
                kept.ok(&["rm", &path(591)]);
                kept.ok(&["mv", &path(588), "/memories/moved.md"]);
                kept.ok(&["rekey", "--memories", "/memories/m585.md"]);
            }
            _ => {}
        }
    });
    assert_eq!(*moments.borrow(), [0, 512, 600]);
    let found = &looked.found;
    assert_eq!((found.closed, found.unfinished), (0, 0), "{found:?}");
    assert_eq!(found.at.event, MEMORIES as u64 + 1);
    for erased in [3, 6, 597, 594] {
        assert!(of(found, erased).is_none(), "{erased}");
    }
    assert_eq!(found.findings, 196);
    assert_eq!(found.memories.len(), 196);
    let gone = of(found, 591).expect("deleted, and still open");
    assert_eq!((gone.is_there, gone.remedy), (false, Remedy::Erase));
    let moved = found
        .memories
        .iter()
        .find(|m| shown(m.path.as_ref()) == "/memories/moved.md");
    let moved = moved.expect("found where it is now");
    assert_eq!(shown(moved.versions[0].path.as_ref()), "/memories/m588.md");
    assert!(!moved.versions[0].present && moved.remedy == Remedy::Redact);
    assert!(!of(found, 585).expect("found").versions[0].present);
    assert!(of(found, 0).expect("found").versions[0].present);
    let event = &kept.log("1")[0];
    assert_eq!(
        (&event["command"], &event["at"][0]["event"]),
        (&"scan".into(), &601.into())
    );
    kept.ok(&["verify", "--full"]);
}

#[test]
fn what_does_not_open_is_tried_with_the_keys_there_are_then() {
    let kept = many();
    let ring = kept.home.store().join("keyring/ring");
    let looked = scan(&kept, |done| {
        if done == 0 {
            // Every key is in another file afterwards, and this one is of no use to anybody.
            let old = std::fs::File::options()
                .write(true)
                .open(&ring)
                .expect("opens");
            kept.ok(&["erase", "/memories/m001.md", "--yes", "--reason", "asked"]);
            overwrite(&old, &ring);
        }
    });
    let found = &looked.found;
    assert_eq!((found.findings, found.closed), (200, 0));
    assert_eq!(found.versions_total, 600);
}

/// Writes over a file that another has taken the place of.
fn overwrite(file: &std::fs::File, now: &Path) {
    use std::os::unix::fs::{FileExt, MetadataExt};
    let meta = file.metadata().expect("a file");
    assert_ne!(meta.ino(), std::fs::metadata(now).expect("there").ino());
    let rest = usize::try_from(meta.len() - 64).expect("short");
    file.write_all_at(&vec![0xAA; rest], 64).expect("written");
}
