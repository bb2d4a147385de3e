//! An import that is cut off is completed by the same command; nothing is lost and nothing twice.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::port::place::{Place, Tree, text, texts, tree};
use crate::port::targets::{mounted, unmount};
use crate::support::{Home, stderr, stdout};

/// Enough that an import is not done while nobody reads what it says: a pipe holds some hundred lines.
const FILES: usize = 1_500;
/// How often it is cut off.
const CUTS: usize = 4;

/// Files of mixed sizes: most are short, some take up kilobytes, a few as much as there may be.
fn many(place: &Place) -> Tree {
    for number in 0..FILES {
        let bytes = match number % 2_500 {
            0 => 1_000_000,
            n if n % 50 == 0 => 20_000,
            n => n % 300,
        };
        let name = format!("in/{:02}/{:02}/{number}.md", number % 7, number % 11);
        let line = format!("line of the memory {number}, one of many like it\n");
        let mut text = line.repeat(bytes / line.len() + 1);
        text.truncate(bytes);
        place.write(&name, text);
    }
    tree(&place.path("in"))
}

fn each_once(want: &Tree) -> BTreeMap<String, usize> {
    let paths = want.keys().map(|name| (format!("/memories/{name}"), 1));
    paths.collect()
}

#[test]
fn killed_again_and_again_thousands_of_files_come_in_once() {
    let place = Place::new();
    let want = many(&place);
    for cut in 1..=CUTS {
        let mut command = place.home.command(&["import", "in", "--json"]);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        // It says of each file what became of it, at once: it is cut off after some more of them.
        let mut said = BufReader::new(child.stdout.take().expect("piped"));
        // It waits for whoever reads this: nobody does until it is cut off.
        let some = FILES / 15 * cut;
        assert_eq!(said.by_ref().lines().take(some).count(), some);
        if cut % 2 == 0 {
            let pid = child.id().to_string();
            // Not SIGINT: a job in the background of a shell ignores it, and so do its children.
            let sent = Command::new("kill").args(["-TERM", &pid]).status();
            assert!(sent.expect("kill runs").success());
        } else {
            child.kill().expect("kills");
        }
        let ended = child.wait().expect("ends");
        assert_eq!(ended.code(), None, "it was done before it was cut off");
    }
    // What is durable after a kill is brought to where git sees it by the next process.
    place.ok(&["status"]);
    let before = stdout(&place.home.git(&["rev-list", "--count", "main"]));
    let before: usize = before.trim().parse().expect("a number");
    let before = before - 1;
    assert!(before > 0 && before < FILES, "{before} were in");
    let said = place.import(&["in"]);
    assert_eq!(said.code, 0, "{}", stderr(&said.output));
    let (same, imported) = (said.counts()["same"], said.counts()["imported"]);
    assert_eq!(same, before as u64);
    assert_eq!(same + imported, FILES as u64);
    assert!(place.kept() == want, "every text is as it was");
    // Of nothing else is there an event: what was found there again has none.
    assert_eq!(place.carried_out("create"), each_once(&want));
    let events = stdout(&place.home.git(&["rev-list", "--count", "main"]));
    assert_eq!(
        events.trim(),
        (FILES + 2).to_string(),
        "init and the export"
    );
}

/// Megabytes that a process may have taken at its peak: a few texts of the largest size.
const PEAK_MB_MAX: usize = 80;

#[test]
fn however_much_there_is_memory_stays_flat() {
    let place = Place {
        home: Home::with_store_on_disk(),
    };
    place.write("policy.toml", "[redaction]\nmode = \"off\"\n");
    place.ok(&[
        "policy",
        "set",
        "--policy",
        text(&place.path("policy.toml")),
    ]);
    let line = "a line of notes, as long as most of them are\n";
    let mut large = line.repeat(2_097_152 / line.len() + 1);
    large.truncate(2_097_152);
    for number in 0..44 {
        place.write(
            &format!("in/{number}.md"),
            format!("{number:02}{}", &large[2..]),
        );
    }
    for args in [
        &["import", "in"][..],
        &["export", "out"],
        &["export", "--jsonl", "out.jsonl"],
        &["import", "out.jsonl"],
    ] {
        let mut command = place.home.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("starts");
        let mut peak = 0;
        while child.try_wait().expect("known").is_none() {
            let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
            let status = status.unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|line| line.split_whitespace().next());
            peak = kilobytes.map_or(peak, |kb| kb.parse::<usize>().expect("a number") / 1024);
            thread::sleep(Duration::from_millis(2));
        }
        assert!(child.wait().expect("ended").success(), "{args:?}");
        assert!(peak < PEAK_MB_MAX, "{args:?} took {peak} MB");
    }
    assert_eq!(tree(&place.path("out")), tree(&place.path("in")));
}

#[test]
fn a_full_disk_stops_an_import_and_the_same_command_goes_on() {
    let place = Place::new();
    let disk = place.folder("disk");
    if !mounted(&disk, "size=3m", "an import into a full disk") {
        return;
    }
    place.ok(&["-C", "disk/store", "init"]);
    for number in 0..200 {
        place.write(
            &format!("in/{number}.md"),
            format!("{number}\n").repeat(5_000),
        );
    }
    let args = ["-C", "disk/store", "import", "in"];
    let stopped = place.home.run(&args);
    let size = ["-o", "remount,size=64m", text(&disk)];
    let grown = Command::new("mount").args(size).status();
    assert!(grown.expect("mount runs").success());
    let done = place.home.run(&args);
    let kept = place.home.run(&["-C", "disk/store", "export", "out"]);
    unmount(&disk);
    assert_eq!(stopped.status.code(), Some(16), "{}", stderr(&stopped));
    let said = stdout(&stopped);
    assert!(
        said.contains("then it stopped: run the same command again to continue"),
        "{said}"
    );
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(!stdout(&done).contains("Imported 200"), "{}", stdout(&done));
    assert!(kept.status.success(), "{}", stderr(&kept));
    assert!(tree(&place.path("out")) == tree(&place.path("in")));
}

#[test]
fn imports_at_the_same_time_bring_in_everything_once() {
    let place = Place::new();
    for number in 0..40 {
        place.write(&format!("in/{number}.md"), format!("{number}\n"));
    }
    let begun: Vec<_> = (0..3)
        .map(|_| {
            let mut command = place.home.command(&["import", "in"]);
            command.stdout(Stdio::null()).spawn().expect("starts")
        })
        .collect();
    for mut child in begun {
        assert!(child.wait().expect("ends").success());
    }
    let want = tree(&place.path("in"));
    assert_eq!(place.carried_out("create"), each_once(&want));
    assert_eq!(place.kept(), want);
}

#[test]
fn another_text_is_left_alone_unless_it_is_to_be_overwritten() {
    let place = Place::new();
    place.ok(&["create", "/memories/a.md", "--text", "here\n"]);
    place.ok(&["create", "/memories/same.md", "--text", "same\n"]);
    place.ok(&["create", "/memories/dir/x.md", "--text", "x\n"]);
    place.ok(&["create", "/memories/file", "--text", "x\n"]);
    place.write("in/a.md", "from the folder\n");
    place.write("in/same.md", "same\n");
    place.write("in/new.md", "new\n");
    let said = place.import(&["in"]);
    assert_eq!(said.code, 5);
    let want = [("imported", 1), ("same", 1), ("other", 1)];
    assert_eq!(said.counts(), want.into());
    assert_eq!(said.of("a.md").0, "other");
    assert_eq!(place.ok(&["read", "a.md"]), "here\n");
    let told = place.fails(5, &["import", "in"]);
    assert!(
        told.contains("/memories/a.md  exists with a different text"),
        "{told}"
    );
    assert!(told.contains("--overwrite"), "{told}");
    let dry = place.import(&["in", "--overwrite", "--dry-run"]);
    assert_eq!((dry.code, dry.of("a.md").0), (0, "overwritten"));
    assert_eq!(place.ok(&["read", "a.md"]), "here\n");
    let said = place.import(&["in", "--overwrite"]);
    assert_eq!(said.code, 0);
    assert_eq!(said.counts(), [("overwritten", 1), ("same", 2)].into());
    assert_eq!(place.ok(&["read", "a.md"]), "from the folder\n");
    assert_eq!(place.carried_out("memory_write")["/memories/a.md"], 1);
    // A directory where a file is to be, and a file where a directory is to be.
    place.write("odd/dir", "a file\n");
    place.write("odd/file/below.md", "below a file\n");
    let said = place.import(&["odd", "--overwrite"]);
    said.refuses("dir", "already exists");
    said.refuses("file/below.md", "/memories/file is a file");
    assert_eq!(said.code, 1);
}

#[test]
fn a_store_whose_policy_lets_create_overwrite_is_no_exception() {
    let place = Place::new();
    place.write("policy.toml", "[tool]\ncreate_overwrites = true\n");
    place.ok(&[
        "policy",
        "set",
        "--policy",
        text(&place.path("policy.toml")),
    ]);
    place.ok(&["create", "/memories/a.md", "--text", "here\n"]);
    place.write("in/a.md", "from the folder\n");
    assert_eq!(place.import(&["in"]).code, 5);
    assert_eq!(place.kept(), texts(&[("a.md", "here\n")]));
}

#[test]
fn what_is_there_and_does_not_open_is_refused_and_the_rest_goes_on() {
    let place = Place::new();
    place.ok(&["create", "/memories/a.md", "--text", "here\n"]);
    let listed = place.home.git(&["ls-tree", "-r", "main"]);
    let listed = String::from_utf8(listed.stdout).expect("UTF-8");
    let entry = listed.lines().find(|line| line.contains('/')).expect("one");
    let blob = entry.split_whitespace().nth(2).expect("a name");
    let path = format!("objects/{}/{}", &blob[..2], &blob[2..]);
    let path = place.home.store().join(path);
    fs::remove_file(place.home.store().join("journal")).expect("it would be mended from it");
    fs::remove_file(&path).expect("there");
    place.write("in/a.md", "here\n");
    place.write("in/b.md", "b\n");
    let said = place.import(&["in"]);
    said.refuses("a.md", "cannot be decrypted");
    assert_eq!((said.code, said.of("b.md").0), (1, "imported"));
}
