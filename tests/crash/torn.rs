//! Torn objects the store has not noticed.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::crash::model::*;
use crate::support::{Home, json_lines, stderr, stdout};

/// A store with two memories in different folders, one of them with an older version.
struct Torn {
    home: Home,
    whole: PathBuf,
    /// `(role, object id)`
    objects: Vec<(&'static str, String)>,
}

const OLD: &str = "canary one\n";
const NEW: &str = "canary two\n";
const OTHER: &str = "another text\n";

impl Torn {
    fn new() -> Self {
        let home = Home::with_store();
        let run = |args: &[&str]| {
            let done = home.run(args);
            assert!(done.status.success(), "{args:?}: {}", stderr(&done));
            stdout(&done)
        };
        run(&["create", "/memories/a", "--text", OLD]);
        run(&["str-replace", "/memories/a", "--old", "one", "--new", "two"]);
        let folder = |output: String| {
            let answer: Value = serde_json::from_str(&output).expect("JSON");
            answer["meta"]["memory"].as_str().expect("an id")[..2].to_owned()
        };
        let folder_a = folder(run(&["view", "/memories/a", "--json"]));
        loop {
            if folder(run(&["create", "/memories/b", "--text", OTHER, "--json"])) != folder_a {
                break;
            }
            run(&["delete", "/memories/b"]);
        }
        let git = |what: &str| {
            let name = home.git(&["rev-parse", what]);
            assert!(name.status.success(), "{what}");
            stdout(&name).trim().to_owned()
        };
        // A new journal holds none of these objects, so that none comes back from it.
        fs::remove_file(home.store().join("journal")).expect("there");
        let log = json_lines(run(&["log", "--json"]).as_bytes());
        let blob = |command: &str| {
            let event = log.iter().find(|event| event["command"] == command);
            event.expect("done")["memories"][0]["blob"]
                .as_str()
                .expect("an id")
                .to_owned()
        };
        let first = log
            .iter()
            .find(|event| event["event"] == 1)
            .expect("the first create");
        let old_blob = first["memories"][0]["blob"]
            .as_str()
            .expect("an id")
            .to_owned();
        let objects = vec![
            ("text", blob("str_replace")),
            ("old text", old_blob),
            ("folder", git(&format!("main:{folder_a}"))),
            ("old folder", git(&format!("main~3:{folder_a}"))),
            ("head", git("main")),
            ("head tree", git("main^{tree}")),
            ("old commit", git("main~2")),
            ("old tree", git("main~3^{tree}")),
            ("policy", git("main:agekeep.toml")),
            ("recipients", git("main:recipients")),
            ("signers", git("main:signers")),
        ];
        let whole = keep(&home, "whole");
        Self {
            home,
            whole,
            objects,
        }
    }

    fn file(&self, id: &str) -> PathBuf {
        self.home
            .store()
            .join("objects")
            .join(&id[..2])
            .join(&id[2..])
    }

    /// Runs a command that must end, and never show anything but a text that was written.
    fn run(&self, args: &[&str], when: &str) -> (i32, String, String) {
        let mut child = self
            .home
            .command(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let start = Instant::now();
        while child.try_wait().expect("waits").is_none() {
            if start.elapsed() > HANG {
                child.kill().expect("kills");
                panic!("{when}: {args:?} hangs");
            }
            thread::sleep(Duration::from_millis(1));
        }
        let output = child.wait_with_output().expect("ends");
        let (said, complaint) = (stdout(&output), stderr(&output));
        assert!(
            !complaint.contains("panicked"),
            "{when}: {args:?}: {complaint}"
        );
        assert!(
            !complaint.contains("canary"),
            "{when}: {args:?}: {complaint}"
        );
        (output.status.code().expect("no signal"), said, complaint)
    }

    fn works(&self, args: &[&str], want: &str, when: &str) {
        let (code, said, complaint) = self.run(args, when);
        assert_eq!((code, &*complaint), (0, ""), "{when}: {args:?}");
        assert!(said.contains(want), "{when}: {args:?}: {said}");
    }

    fn is_damaged(&self, args: &[&str], when: &str) {
        let (code, said, complaint) = self.run(args, when);
        assert_eq!(code, 13, "{when}: {args:?}: {complaint}");
        assert!(
            complaint.contains(" is damaged: "),
            "{when}: {args:?}: {complaint}"
        );
        assert!(!said.contains("canary"), "{when}: {args:?}: {said}");
    }

    /// Makes a file. Its id is random, and may fall into the damaged folder once.
    fn creates(&self, when: &str) {
        let codes: Vec<_> = ["c", "d", "e", "f"]
            .iter()
            .map(|name| {
                self.run(
                    &["create", &format!("/memories/{name}"), "--text", "x"],
                    when,
                )
                .0
            })
            .collect();
        let made = codes.iter().filter(|code| **code == 0).count();
        assert!(
            made >= 3 && codes.iter().all(|code| [0, 13].contains(code)),
            "{when}: {codes:?}"
        );
    }

    fn others_work(&self, when: &str) {
        self.works(&["read", "b"], OTHER, when);
        self.works(
            &[
                "str-replace",
                "/memories/b",
                "--old",
                "another",
                "--new",
                "a new",
            ],
            "",
            when,
        );
        self.works(&["read", "b"], "a new text\n", when);
        self.creates(when);
        self.works(&["view", "/memories"], "/memories/a", when);
        self.works(&["status"], "memories ", when);
    }

    fn everything_works(&self, when: &str) {
        self.works(&["read", "a"], NEW, when);
        self.works(
            &["insert", "/memories/a", "0", "--text", "top"],
            "edited",
            when,
        );
        self.others_work(when);
    }

    fn nothing_works(&self, when: &str) {
        for args in [
            &["status"][..],
            &["log"],
            &["read", "a"],
            &["view", "/memories"],
            &["create", "/memories/c", "--text", "x"],
        ] {
            self.is_damaged(args, when);
            let complaint = self.run(args, when).2;
            assert!(
                complaint.contains("hint: "),
                "{when}: {args:?}: {complaint}"
            );
        }
    }

    /// The one command that shows whether the damage was noticed.
    fn probe(&self, role: &str, when: &str) {
        match role {
            "text" | "folder" => self.is_damaged(&["read", "a"], when),
            "old text" | "old folder" => self.works(&["read", "a"], NEW, when),
            "old commit" => self.is_damaged(&["log"], when),
            "old tree" => {
                fs::remove_file(self.home.store().join("catalog")).expect("there");
                self.is_damaged(&["status"], when);
            }
            _ => self.is_damaged(&["status"], when),
        }
    }

    fn check(&self, role: &str, when: &str) {
        match role {
            "text" => {
                for args in [
                    &["read", "a"][..],
                    &["view", "/memories/a"],
                    &["str-replace", "/memories/a", "--old", "two", "--new", "x"],
                    &["insert", "/memories/a", "0", "--text", "x"],
                    &["rename", "/memories/a", "/memories/z"],
                ] {
                    self.is_damaged(args, when);
                }
                self.others_work(when);
                self.works(&["log", "-n", "2"], "", when);
                self.works(&["delete", "/memories/a"], "deleted", when);
            }
            "folder" => {
                self.is_damaged(&["read", "a"], when);
                self.is_damaged(&["insert", "/memories/a", "0", "--text", "x"], when);
                self.is_damaged(&["delete", "/memories/a"], when);
                self.others_work(when);
                self.works(&["log", "-n", "2"], "", when);
            }
            "old text" | "old folder" => {
                self.everything_works(when);
                self.works(&["log", "-n", "2"], "", when);
            }
            "old tree" => {
                self.everything_works(when);
                self.works(&["log", "-n", "2"], "", when);
                self.without_catalog_nothing_works(when);
            }
            "old commit" => {
                self.everything_works(when);
                self.is_damaged(&["log"], when);
                self.works(&["log", "-n", "1"], "view", when);
                self.without_catalog_nothing_works(when);
            }
            _ => self.nothing_works(when),
        }
    }

    fn without_catalog_nothing_works(&self, when: &str) {
        fs::remove_file(self.home.store().join("catalog")).expect("there");
        self.nothing_works(&format!("{when}, no catalog"));
    }

    /// The file of an object that would do in its place, were it not for its name.
    fn other_of_its_kind(&self, role: &str) -> Vec<u8> {
        let other = match role {
            "text" => "old text",
            "old text" => "text",
            "folder" => "old folder",
            "old folder" => "folder",
            "head" => "old commit",
            "old commit" => "head",
            "head tree" => "old tree",
            "old tree" => "head tree",
            "policy" => "signers",
            _ => "policy",
        };
        let other = self.objects.iter().find(|(role, _)| *role == other);
        fs::read(self.file(&other.expect("a role").1)).expect("there")
    }

    fn damages(&self, role: &str, id: &str) -> Vec<(&'static str, Option<Vec<u8>>)> {
        let file = fs::read(self.file(id)).expect("there");
        let half = file.len() / 2;
        let mut flipped = file.clone();
        flipped[half] ^= 0x20;
        let mut head = file.clone();
        head[2] ^= 0xff;
        vec![
            ("empty", Some(Vec::new())),
            ("one byte", Some(file[..1].to_vec())),
            ("half", Some(file[..half].to_vec())),
            ("but its last byte", Some(file[..file.len() - 1].to_vec())),
            ("flipped in the middle", Some(flipped)),
            ("changed at its start", Some(head)),
            ("zeros", Some(vec![0; file.len()])),
            ("with a tail", Some([&file[..], b"tail"].concat())),
            ("another object", Some(self.other_of_its_kind(role))),
            ("gone", None),
        ]
    }
}

#[test]
fn a_torn_object_stops_only_what_needs_it_and_nothing_hangs() {
    let torn = Torn::new();
    for (role, id) in &torn.objects {
        for (how, bytes) in torn.damages(role, id) {
            let file = torn.file(id);
            match bytes {
                Some(bytes) => overwrite(&file, &bytes),
                None => fs::remove_file(&file).expect("there"),
            }
            let when = format!("{role} {how}");
            if ["half", "gone"].contains(&how) {
                torn.check(role, &when);
            } else {
                torn.probe(role, &when);
            }
            put_back(&torn.whole, &torn.home);
        }
    }
}

#[test]
fn a_long_lived_process_goes_on_after_it_met_a_torn_object() {
    let torn = Torn::new();
    for (role, id) in &torn.objects[..3] {
        overwrite(&torn.file(id), b"");
        let call = |command: &str, path: &str| {
            json!({"command": command, "path": path, "file_text": "x", "insert_line": 0,
                "insert_text": "x"})
        };
        let calls = [
            call("insert", "/memories/a"),
            call("delete", "/memories/a"),
            call("view", "/memories/b"),
            call("insert", "/memories/b"),
            call("view", "/memories/b"),
        ];
        let run = torn.home.run_with_input(&["tool"], &lines(&calls));
        assert!(
            !stderr(&run).contains("panicked"),
            "{role}: {}",
            stderr(&run)
        );
        let answers = json_lines(&run.stdout);
        assert_eq!(answers.len(), calls.len(), "{role}: {answers:?}");
        for answer in &answers[2..] {
            assert_eq!(answer["is_error"], false, "{role}: {answer}");
        }
        torn.works(&["read", "b"], &format!("x\n{OTHER}"), role);
        put_back(&torn.whole, &torn.home);
    }
}
