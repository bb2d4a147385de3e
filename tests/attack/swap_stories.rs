//! Files are exchanged while a process has the store open.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::attack::canary::{self, AUTHORIZED_KEYS, DOCUMENTS};
use crate::attack::keyring::Table;
use crate::attack::plant;
use crate::attack::probe;
use crate::attack::scene::{ERASED, Scene};
use crate::support::{Home, settle};

/// As in `probe`: a hang takes longer, and nothing else does.
const LIMIT: Duration = Duration::from_secs(20);

/// `agekeep tool`, which answers line by line.
struct Session {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<Value>,
    store: PathBuf,
}

impl Session {
    fn open(home: &Home) -> Self {
        let mut child = probe::limited(&home.command(&["tool"]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let (send, answers) = channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let answer = serde_json::from_str(&line).expect("JSON");
                if send.send(answer).is_err() {
                    break;
                }
            }
        });
        Self {
            stdin: child.stdin.take().expect("piped"),
            child,
            answers,
            store: home.store(),
        }
    }

    /// The answer to a call; `None` if the process ended without one.
    fn call(&mut self, call: &Value) -> Option<Value> {
        let written = writeln!(self.stdin, "{call}");
        written.ok()?;
        match self.answers.recv_timeout(LIMIT) {
            Ok(answer) => {
                settle(&self.store);
                Some(answer)
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("{call} hangs"),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn view(name: &str) -> Value {
    json!({"command": "view", "path": format!("/memories/{name}")})
}

/// Every deed, under a process that has viewed a memory before: afterwards it answers with that
/// text or with an error, and touches nothing outside.
#[test]
fn what_is_exchanged_under_a_running_process_is_refused_or_harmless() {
    type Deed = fn(&Path, &Path);
    let deeds: [(&str, Deed); 9] = [
        ("journal a pipe", |store, _| {
            plant::fifo(&store.join("journal"));
        }),
        ("branch a pipe", |store, _| {
            plant::fifo(&store.join("refs/heads/main"));
        }),
        ("ring a pipe", |store, _| {
            plant::fifo(&store.join("keyring/ring"));
        }),
        ("lock a pipe", |store, _| plant::fifo(&store.join("lock"))),
        ("main.before a link", |store, home| {
            plant::link(&store.join("main.before"), &home.join(AUTHORIZED_KEYS));
        }),
        ("keyring a link", |store, home| {
            plant::link(&store.join("keyring"), &home.join(DOCUMENTS));
        }),
        ("objects a link", |store, home| {
            plant::link(&store.join("objects"), &home.join(DOCUMENTS));
        }),
        ("journal a giant", |store, _| {
            plant::grow(&store.join("journal"));
        }),
        ("ring a giant", |store, _| {
            plant::grow(&store.join("keyring/ring"));
        }),
    ];
    let scene = Scene::shared();
    let mut faults = Vec::new();
    thread::scope(|scope| {
        let threads = deeds.map(|(what, deed)| {
            let scene = &scene;
            let ran = scope.spawn(move || exchanged(scene, deed));
            (what, ran)
        });
        for (what, ran) in threads {
            let said = ran.join().unwrap_or_else(|_| Err("hangs".into()));
            faults.extend(said.err().map(|why| format!("{what}: {why}")));
        }
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn exchanged(scene: &Scene, deed: fn(&Path, &Path)) -> Result<(), String> {
    let home = scene.copy();
    let mut session = Session::open(&home);
    let first = session.call(&view("late.md")).expect("it answers");
    assert_eq!(first["is_error"], false);
    deed(&home.store(), home.path());
    let before = canary::beside_the_store(home.path());
    let create = json!({"command": "create", "path": "/memories/meanwhile.md", "file_text": "x\n"});
    for call in [view("late.md"), create, view("client.md"), view("late.md")] {
        let Some(answer) = session.call(&call) else {
            break;
        };
        let is_other = call["path"] == "/memories/late.md"
            && answer["is_error"] == false
            && answer["content"] != first["content"];
        if is_other || answer.to_string().contains(ERASED) {
            return Err(format!("{call} is answered by {answer}"));
        }
    }
    drop(session);
    let touched = canary::differences(&before, &canary::beside_the_store(home.path()));
    if touched.is_empty() {
        Ok(())
    } else {
        Err(touched.join(", "))
    }
}

/// The same file, in which there is less, or something else, than the process has seen.
#[test]
fn a_table_that_changes_in_its_place_is_not_gone_on_with() {
    type Deed = fn(&mut Table);
    let deeds: [(&str, Deed); 2] = [
        ("it became shorter", |table| drop(table.entries.pop())),
        ("its generation changed", |table| table.set_number(40, 9)),
    ];
    let create = |name: &str| {
        let path = format!("/memories/{name}");
        json!({"command": "create", "path": path, "file_text": "x\n"})
    };
    for name in ["ring", "names"] {
        for (words, deed) in deeds {
            let home = Home::with_store();
            let mut session = Session::open(&home);
            let mut call = |call: Value| session.call(&call).expect("it answers");
            for name in ["a.md", "b.md"] {
                assert_eq!(call(create(name))["is_error"], false);
            }
            let whole = Table::read(&home.store(), name);
            let mut changed = whole.clone();
            deed(&mut changed);
            changed.write(&home.store());
            for said in [view("a.md"), create("c.md")] {
                let answer = call(said);
                assert_eq!(answer["is_error"], true, "{name}, {words}: {answer}");
                assert!(answer.to_string().contains(words), "{name}: {answer}");
            }
            whole.write(&home.store());
            assert_eq!(call(view("a.md"))["is_error"], false, "{name}, {words}");
        }
    }
}
