//! A report that is signed, and what `report verify` refuses.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::keys::team::Team;
use crate::support::{git, stderr, stdout};

/// A store with a signed report in its home.
struct Signed {
    team: Team,
    file: PathBuf,
    note: PathBuf,
}

impl Signed {
    fn new() -> Self {
        let team = Team::new();
        team.create("a.md", "text");
        let file = team.home.path().join("report.html");
        let made = team
            .home
            .run(&["report", "--out", file.to_str().expect("UTF-8"), "--sign"]);
        assert!(made.status.success(), "{}", stderr(&made));
        assert_eq!(stdout(&made), "");
        let note = team.home.path().join("report.html.note");
        Self { team, file, note }
    }

    fn path(&self) -> &str {
        self.file.to_str().expect("UTF-8")
    }

    fn refused(&self, words: &str) {
        self.refused_by(&self.team, 13, words);
    }

    fn refused_by(&self, team: &Team, code: i32, words: &str) {
        let output = team.home.run(&["report", "verify", self.path()]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(words) && said.contains("hint: "), "{said}");
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn a_signed_report_is_proved_also_after_more_events() {
    let signed = Signed::new();
    for file in [&signed.file, &signed.note] {
        let mode = fs::metadata(file).expect("there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", file.display());
    }
    let proved = signed.team.ok(&["report", "verify", signed.path()]);
    assert!(
        proved.contains("as owner signed it") && proved.contains("event 2 of "),
        "{proved}"
    );
    assert!(
        proved.contains("unbroken; 0 events came after it"),
        "{proved}"
    );
    signed.team.create("b.md", "more");
    let proved = signed.team.ok(&["report", "verify", signed.path()]);
    assert!(proved.contains("1 event came after it"), "{proved}");
    let told = signed
        .team
        .ok(&["report", "verify", signed.path(), "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told).expect("an object");
    assert_eq!(
        (&told["ok"], &told["event"], &told["signer"]),
        (&true.into(), &2.into(), &"owner".into())
    );
}

#[test]
fn a_report_that_was_changed_is_refused() {
    let signed = Signed::new();
    let page = fs::read(&signed.file).expect("there");
    for changed in [
        [&page[..], b" "].concat(),
        page[..page.len() - 1].to_vec(),
        String::from_utf8(page.clone())
            .expect("UTF-8")
            .replace("denied", "Denied")
            .into_bytes(),
        Vec::new(),
    ] {
        fs::write(&signed.file, changed).expect("written");
        signed.refused("its note was signed for");
    }
    fs::write(&signed.file, page).expect("written");
    signed.team.ok(&["report", "verify", signed.path()]);
}

#[test]
fn a_note_that_was_changed_is_refused() {
    let signed = Signed::new();
    let note = fs::read_to_string(&signed.note).expect("there");
    let other = |from: &str, to: &str| {
        assert!(note.contains(from), "{note}");
        note.replacen(from, to, 1)
    };
    let sha256 = note
        .lines()
        .find_map(|line| line.strip_prefix("sha256 "))
        .expect("a line");
    let checkpoint = signed.team.ok(&["checkpoint"]);
    for (changed, words) in [
        (other("events 3", "events 2"), "signed it"),
        (
            other("events 3", "events 03"),
            "not that of a note on a file",
        ),
        (other("/file\n", "\n"), "not that of a note on a file"),
        (other(sha256, &"0".repeat(64)), "signed it"),
        (other("\u{2014} owner", "\u{2014} other"), "signed it"),
        (other("\n\n", "\n"), "no empty line"),
        (checkpoint, "not that of a note on a file"),
        (String::new(), "no empty line"),
        ("\u{1b}[2J\n\n".into(), "control character"),
    ] {
        fs::write(&signed.note, &changed).expect("written");
        signed.refused(words);
    }
    fs::write(&signed.note, [0xFF, 0xFE]).expect("written");
    signed.refused("not UTF-8");
    fs::write(&signed.note, "x".repeat(200_000)).expect("written");
    signed.refused_by(&signed.team, 9, "131072");
    fs::remove_file(&signed.note).expect("there");
    signed.refused_by(&signed.team, 16, "report.html.note");
}

/// The length of the file is signed for too, and a note made for a report is no checkpoint.
#[test]
fn a_note_on_a_report_is_no_checkpoint() {
    let signed = Signed::new();
    let note = signed.note.to_str().expect("UTF-8");
    let output = signed.team.home.run(&["verify", "--checkpoint", note]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn another_store_s_note_is_refused() {
    let (signed, other) = (Signed::new(), Team::new());
    signed.refused_by(&other, 13, "another store");
}

#[test]
fn a_note_by_nobody_who_may_sign_is_refused() {
    let signed = Signed::new();
    // The same store, as a stranger would sign for it.
    let stranger = Signed::new();
    let note = fs::read_to_string(&stranger.note).expect("there");
    let own = fs::read_to_string(&signed.note).expect("there");
    let (text, _) = own.rsplit_once("\n\n").expect("an empty line");
    let (_, signature) = note.rsplit_once("\n\n").expect("an empty line");
    fs::write(&signed.note, format!("{text}\n\n{signature}")).expect("written");
    signed.refused("nobody who was a signer");
}

#[test]
fn a_note_of_a_history_that_was_taken_back_is_refused() {
    let signed = Signed::new();
    let store = signed.team.home.store();
    let copy = signed.team.home.path().join("older");
    assert!(git(&store, &["log", "-1"]).status.success());
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .arg(&store)
        .arg(&copy)
        .status();
    assert!(copied.expect("cp runs").success());
    signed.team.create("b.md", "more");
    let later = signed.team.home.path().join("later.html");
    let made = signed
        .team
        .home
        .run(&["report", "--out", later.to_str().expect("UTF-8"), "--sign"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let copy = copy.to_str().expect("UTF-8");
    let args = [
        "report",
        "verify",
        later.to_str().expect("UTF-8"),
        "--store",
        copy,
    ];
    let output = signed.team.home.run(&args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(13), "{said}");
    assert!(said.contains("ends before the event"), "{said}");
}

#[test]
fn a_report_is_written_over_nothing_and_not_into_the_store() {
    let signed = Signed::new();
    let before = fs::read(&signed.file).expect("there");
    let newest = signed.team.newest()["event"].clone();
    let inside = signed.team.home.store().join("report.html");
    for place in [signed.path(), inside.to_str().expect("UTF-8")] {
        let output = signed.team.home.run(&["report", "--out", place]);
        assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    }
    let noted = signed.team.home.path().join("other.html");
    fs::write(signed.team.home.path().join("other.html.note"), "mine").expect("written");
    let output =
        signed
            .team
            .home
            .run(&["report", "--out", noted.to_str().expect("UTF-8"), "--sign"]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert!(!noted.exists());
    assert_eq!(fs::read(&signed.file).expect("there"), before);
    assert_eq!(
        signed.team.newest()["event"],
        newest,
        "nothing was recorded"
    );
}

#[test]
fn who_has_no_signing_key_signs_nothing() {
    let team = Team::new();
    fs::remove_file(team.home.signing_key()).expect("there");
    let file = team.home.path().join("report.html");
    let output = team
        .home
        .run(&["report", "--out", file.to_str().expect("UTF-8"), "--sign"]);
    assert_eq!(output.status.code(), Some(12), "{}", stderr(&output));
    assert!(!file.exists() && !team.home.path().join("report.html.note").exists());
    let unsigned = team.home.run(&["report"]);
    assert!(unsigned.status.success(), "{}", stderr(&unsigned));
    assert!(stdout(&unsigned).contains("without a signing key"));
}
