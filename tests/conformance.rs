//! The memory tool's contract as data: every case through the library, `tool` and the command line.

use std::path::Path;
use std::process::Output;

use crate::support::cases::{CASES, Case, EmptyStore, STEPS, Step, cases, fits};
use crate::support::{Home, feed, json_lines, stderr, stdout};
use agekeep::crypto::keyfile;
use agekeep::event::Context;
use agekeep::memory_tool::command::Command;
use agekeep::policy::Policy;
use agekeep::store::{Keys, Store};
use serde_json::Value;

/// Steps that leave out what the command line has a default for: `create` and `insert` take the
/// text from standard input, `view` shows `/memories`, and a path without a slash is below it.
const DEFAULTED_STEPS: usize = 5;
/// Steps that cannot be spelled as arguments at all.
const MISSPELT_STEPS: usize = 6;

/// What a door made of one step.
#[derive(Debug)]
enum Given {
    Answer {
        content: String,
        is_error: bool,
    },
    /// Refused before there was a call: right where the step cannot be spelled at this door.
    Misspelt,
    /// This door has a default for what the step leaves out, so it was not tried.
    Defaulted,
}

/// Runs every case through a door and reports all that fail at once. Answers what was given.
fn every_case(machine: &Path, mut door: impl FnMut(usize, &Case) -> Vec<Given>) -> Vec<Given> {
    let cases = cases();
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    for (index, case) in cases.iter().enumerate() {
        let given = door(index, case);
        assert_eq!(given.len(), case.steps.len(), "answers in {}", case.id);
        for (number, (step, given)) in case.steps.iter().zip(&given).enumerate() {
            if let Some(fault) = fault(step, given, machine) {
                let Case { id, .. } = case;
                faults.push(format!("{id}, step {number}: {}\n  {fault}", step.input));
            }
        }
        all.extend(given);
    }
    let (count, failed) = (cases.len(), faults.len());
    assert!(
        faults.is_empty(),
        "{failed} steps of {count} cases:\n{}",
        faults.join("\n")
    );
    assert_eq!((count, all.len()), (CASES, STEPS));
    all
}

/// Why what was given is not what the step wants.
fn fault(step: &Step, given: &Given, machine: &Path) -> Option<String> {
    let Given::Answer { content, is_error } = given else {
        return None;
    };
    if step.err.is_some_and(|err| err != *is_error) {
        return Some(format!("is_error is {is_error}: {content:?}"));
    }
    if content.contains(&machine.display().to_string()) {
        return Some(format!("shows a path of the machine: {content:?}"));
    }
    if !fits(&step.want, content) {
        return Some(format!("wants {}\n  given {content:?}", step.want));
    }
    None
}

#[test]
fn the_library_keeps_the_contract() {
    let home = Home::with_store();
    let given = every_case(home.path(), |index, case| {
        let root = home.path().join(format!("case-{index}"));
        let mut store = new_store(&home, &root);
        let execute = |step: &Step| {
            let command = Command::from_json(step.input.clone());
            let answer = store.execute(&command, &Context::default());
            let answer = answer.expect("the command is recorded");
            Given::Answer {
                content: answer.content.as_str().to_owned(),
                is_error: answer.is_error(),
            }
        };
        case.steps.iter().map(execute).collect()
    });
    assert!(
        given
            .iter()
            .all(|given| matches!(given, Given::Answer { .. }))
    );
}

fn new_store(home: &Home, root: &Path) -> Store {
    let keys = Keys {
        identity: keyfile::read_identity(&home.identity()).expect("an identity"),
        signing_key: Some(keyfile::read_signing_key(&home.signing_key()).expect("a signing key")),
        state: None,
        keyring: None,
    };
    let context = Context::default();
    let clock = Box::new(chrono::Utc::now);
    Store::init(root, keys, &Policy::default(), &context, clock).expect("a new store")
}

#[test]
fn the_tool_door_keeps_the_contract() {
    let home = Home::with_store();
    let empty = EmptyStore::of(&home);
    let given = every_case(home.path(), |index, case| {
        let lines: Vec<String> = case.steps.iter().map(|s| s.input.to_string()).collect();
        let store = empty.copy(index);
        let tool = home.command(&["--store", &store, "tool"]);
        let output = feed(tool, lines.join("\n").as_bytes());
        assert!(output.status.success(), "{}", stderr(&output));
        json_lines(&output.stdout).iter().map(answer).collect()
    });
    assert!(
        given
            .iter()
            .all(|given| matches!(given, Given::Answer { .. }))
    );
}

fn answer(line: &Value) -> Given {
    Given::Answer {
        content: line["content"].as_str().expect("a text").to_owned(),
        is_error: line["is_error"].as_bool().expect("a flag"),
    }
}

#[test]
fn the_command_line_keeps_the_contract() {
    let home = Home::with_store();
    let empty = EmptyStore::of(&home);
    let given = every_case(home.path(), |index, case| {
        let store = empty.copy(index);
        let run = |step: &Step| at_the_command_line(&home, &store, &step.input);
        case.steps.iter().map(run).collect()
    });
    let misspelt = given.iter().filter(|g| matches!(g, Given::Misspelt));
    assert_eq!(misspelt.count(), MISSPELT_STEPS);
    let defaulted = given.iter().filter(|g| matches!(g, Given::Defaulted));
    assert_eq!(defaulted.count(), DEFAULTED_STEPS);
}

fn at_the_command_line(home: &Home, store: &str, input: &Value) -> Given {
    let Some(Spelling { args, text }) = spell(input) else {
        return Given::Defaulted;
    };
    let paths = ["path", "old_path", "new_path"].map(|name| input[name].as_str());
    let relative = |path: &str| !path.is_empty() && !path.starts_with('/');
    if paths.into_iter().flatten().any(relative) {
        return Given::Defaulted;
    }
    let mut words = vec!["--store", store, "--json"];
    words.extend(args.iter().map(String::as_str));
    let output = feed(home.command(&words), text.as_bytes());
    if output.status.code() == Some(2) && output.stdout.is_empty() {
        assert!(!can_be_spelled(input), "{input}: {}", stderr(&output));
        return Given::Misspelt;
    }
    answer_of(input, &output)
}

fn answer_of(input: &Value, output: &Output) -> Given {
    let text = stdout(output);
    let line: Value =
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{input}: {e}: {}", stderr(output)));
    assert_eq!(
        output.status.success(),
        line["is_error"] == false,
        "{input}: the exit code and the answer differ"
    );
    answer(&line)
}

/// Arguments and standard input that say what a step's input says.
struct Spelling {
    args: Vec<String>,
    text: String,
}

/// Spells an input as arguments, leaving out what it leaves out; `None` where a default would
/// step in.
fn spell(input: &Value) -> Option<Spelling> {
    let mut spelling = Spelling {
        args: Vec::new(),
        text: String::new(),
    };
    let command = input["command"].as_str();
    spelling.args.extend(command.map(|c| c.replace('_', "-")));
    for name in ["path", "old_path", "new_path"] {
        spelling
            .args
            .extend(input[name].as_str().map(str::to_owned));
    }
    match command {
        Some("view") => spelling.view(input)?,
        Some("create") => {
            let text = input["file_text"].as_str()?;
            // An empty standard input is refused: it is more often a command that failed.
            if text.is_empty() {
                spelling.option("--text", &input["file_text"]);
            }
            text.clone_into(&mut spelling.text);
        }
        Some("insert") => spelling.insert(input)?,
        Some("str_replace") => {
            spelling.option("--old", &input["old_str"]);
            spelling.option("--new", &input["new_str"]);
        }
        _ => {}
    }
    Some(spelling)
}

impl Spelling {
    fn view(&mut self, input: &Value) -> Option<()> {
        input["path"].as_str()?;
        if let Some([start, end]) = input["view_range"].as_array().map(Vec::as_slice) {
            self.args.push(format!("--lines={start}:{end}"));
        }
        Some(())
    }

    fn insert(&mut self, input: &Value) -> Option<()> {
        if input["insert_line"].is_i64() {
            self.args.push(input["insert_line"].to_string());
        }
        self.args
            .push(format!("--text={}", input["insert_text"].as_str()?));
        Some(())
    }

    fn option(&mut self, name: &str, value: &Value) {
        if let Some(text) = value.as_str() {
            self.args.push(format!("{name}={text}"));
        }
    }
}

/// Whether arguments can say what this input says: it names a command and all that it needs.
fn can_be_spelled(input: &Value) -> bool {
    let has = |names: &[&str]| names.iter().all(|name| !input[name].is_null());
    match input["command"].as_str() {
        Some("view" | "create" | "delete") => has(&["path"]),
        Some("insert") => has(&["path", "insert_line"]),
        Some("str_replace") => has(&["path", "old_str"]),
        Some("rename") => has(&["old_path", "new_path"]),
        _ => false,
    }
}

#[test]
fn an_expectation_matches_the_whole_text_and_nothing_less() {
    let re = |pattern: &str| serde_json::json!({ "re": pattern });
    assert!(fits(&re("a.*c"), "a\nb\nc"));
    assert!(!fits(&re("a"), "ab"));
    assert!(!fits(&re("b"), "ab"));
    assert!(!fits(&re("a|ab"), "ac"));
    assert!(fits(&re("a|ab"), "ab"));
    assert!(!fits(&re("(?!.*(?:/tmp|/home)).*"), "a\n/tmp/x"));
    assert!(fits(&re(r"Here're\ the"), "Here're the"));
    let any = serde_json::json!({"any": ["x", {"re": "y+"}]});
    assert!(fits(&any, "x") && fits(&any, "yy") && !fits(&any, "xy"));
}
