//! What has to hold of a store wherever it was cut off: it opens, nothing acknowledged is missing,
//! nothing is there by half, and it goes on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::fault::story::State;
use crate::support::{Home, complaints, json_lines, stderr, stdout};

/// A memory that is made after the cut.
const NEW: &str = "/memories/after-the-cut.md";
/// The exit code where there is no store.
const NO_STORE: i32 = 10;

/// Opens the store in a home folder, which may be as any of these states says, and goes on with it.
pub(crate) fn check(home: &Home, states: &[State]) -> Result<(), String> {
    let paths: BTreeSet<&String> = states.iter().flat_map(|state| state.texts.keys()).collect();
    let mut calls: Vec<Value> = vec![json!({"command": "memory_read"})];
    calls.extend(
        paths
            .iter()
            .map(|path| json!({"command": "memory_read", "path": path})),
    );
    calls.push(json!({"command": "create", "path": NEW, "file_text": "new\n"}));
    let Some(answers) = answers(home, &calls, states)? else {
        return Ok(());
    };
    let found = state_in(&answers[..answers.len() - 1], &paths)?;
    if !states.contains(&found) {
        return Err(format!("{}, and not {}", say(&found), say_all(states)));
    }
    let made = &answers[answers.len() - 1];
    if made["is_error"] != false {
        return Err(format!("it does not go on: {made}"));
    }
    fsck(home)?;
    let events = found.events + calls.len() as u64;
    verify(home, events)?;
    look_again(home, found, events)
}

/// What `tool` answers; `None` if there is no store yet and one can be made.
fn answers(home: &Home, calls: &[Value], states: &[State]) -> Result<Option<Vec<Value>>, String> {
    let lines: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let output = home.run_with_input(&["tool"], &lines);
    let code = output.status.code();
    if code == Some(NO_STORE) && states.iter().any(|state| state.events == 0) {
        let made = home.run(&["init"]);
        if !made.status.success() {
            return Err(format!("init cannot be given again: {}", stderr(&made)));
        }
        let first = State {
            events: 1,
            texts: BTreeMap::new(),
        };
        check(home, &[first])?;
        return Ok(None);
    }
    let answers = json_lines(&output.stdout);
    if !output.status.success() || answers.len() != calls.len() || !complaints(&output).is_empty() {
        return Err(format!(
            "it does not open: exit {code:?}, {}{}",
            stderr(&output),
            last(&answers)
        ));
    }
    Ok(Some(answers))
}

fn last(answers: &[Value]) -> String {
    answers.last().map(ToString::to_string).unwrap_or_default()
}

/// The state that the list and the readings tell of.
fn state_in(answers: &[Value], paths: &BTreeSet<&String>) -> Result<State, String> {
    let events = answers[0]["meta"]["event"].as_u64().ok_or("no event")?;
    let mut texts = BTreeMap::new();
    for (answer, path) in answers[1..].iter().zip(paths) {
        if answer["is_error"] == false {
            let text = answer["content"].as_str().ok_or("no text")?;
            texts.insert((*path).clone(), text.to_owned());
        } else if !answer["content"]
            .as_str()
            .is_some_and(|said| said.contains("does not exist"))
        {
            return Err(format!("{path}: {answer}"));
        }
    }
    let listed: BTreeSet<&str> = answers[0]["content"]
        .as_str()
        .unwrap_or("")
        .lines()
        .collect();
    let read: BTreeSet<&str> = texts
        .keys()
        .filter_map(|path| path.strip_prefix("/memories/"))
        .collect();
    if listed != read {
        return Err(format!("listed are {listed:?}, read {read:?}"));
    }
    Ok(State { events, texts })
}

fn fsck(home: &Home) -> Result<(), String> {
    let checked = home.git(&[
        "fsck",
        "--full",
        "--strict",
        "--no-dangling",
        "--no-progress",
    ]);
    let said = stdout(&checked) + &stderr(&checked);
    if checked.status.success() && said.is_empty() {
        return Ok(());
    }
    Err(format!("git fsck: {said}"))
}

fn verify(home: &Home, events: u64) -> Result<(), String> {
    let output = home.run(&["verify", "--full", "--json"]);
    let report = json_lines(&output.stdout);
    let found = report
        .first()
        .map_or(&Value::Null, |report| &report["events"]);
    if output.status.success() && *found == events && output.stderr.is_empty() {
        return Ok(());
    }
    Err(format!(
        "verify of {events} events: {}{}",
        stdout(&output),
        stderr(&output)
    ))
}

/// A second process finds what the first did, and what that added.
fn look_again(home: &Home, mut state: State, events: u64) -> Result<(), String> {
    state.texts.insert(NEW.to_owned(), "new\n".to_owned());
    state.events = events;
    let paths: BTreeSet<&String> = state.texts.keys().collect();
    let mut calls: Vec<Value> = vec![json!({"command": "memory_read"})];
    calls.extend(
        paths
            .iter()
            .map(|path| json!({"command": "memory_read", "path": path})),
    );
    let answers = answers(home, &calls, &[])?.expect("there is a store");
    let found = state_in(&answers, &paths)?;
    if found == state {
        return Ok(());
    }
    Err(format!(
        "opened again, {}, and not {}",
        say(&found),
        say(&state)
    ))
}

fn say_all(states: &[State]) -> String {
    let said: Vec<String> = states.iter().map(say).collect();
    said.join(" or ")
}

/// A state in few words.
fn say(state: &State) -> String {
    let texts = state.texts.iter();
    let said: Vec<String> = texts
        .map(|(path, text)| {
            format!(
                "{path} ({} bytes: {:?})",
                text.len(),
                text.chars().take(12).collect::<String>()
            )
        })
        .collect();
    format!("{} events with {}", state.events, said.join(", "))
}
