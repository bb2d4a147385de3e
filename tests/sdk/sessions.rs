//! One session through every runner: the texts that the model would see, and what the store has of
//! it afterwards.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::sdk::scene::{Language, Scene};
use crate::support::Home;

/// What a store says of who acted.
struct Recorded {
    actor: &'static str,
    session: Option<&'static str>,
    /// Whether the runner says which block of the model's a call is.
    tool_use_ids: bool,
}

const QUICKSTART: Recorded = Recorded {
    actor: "quickstart",
    session: None,
    tool_use_ids: false,
};

const PLANNER: Recorded = Recorded {
    actor: "planner",
    session: Some("s-17"),
    tool_use_ids: false,
};

#[test]
fn the_python_quickstart() {
    whole_session(
        Language::Python,
        "quickstart.py",
        &["Remember."],
        &QUICKSTART,
    );
}

#[test]
fn the_python_runner_async() {
    whole_session(Language::Python, "runner.py", &["async"], &PLANNER);
}

#[test]
fn the_python_runner_streaming() {
    whole_session(Language::Python, "runner.py", &["stream"], &PLANNER);
}

#[test]
fn the_python_runner_async_and_streaming() {
    whole_session(Language::Python, "runner.py", &["async-stream"], &PLANNER);
}

#[test]
fn the_typescript_quickstart() {
    let recorded = Recorded {
        tool_use_ids: true,
        ..QUICKSTART
    };
    whole_session(
        Language::TypeScript,
        "quickstart.ts",
        &["Remember."],
        &recorded,
    );
}

#[test]
fn the_typescript_runner_streaming() {
    let recorded = Recorded {
        tool_use_ids: true,
        ..PLANNER
    };
    whole_session(Language::TypeScript, "runner.ts", &[], &recorded);
}

#[test]
fn raw_http() {
    let recorded = Recorded {
        actor: "raw-http",
        session: None,
        tool_use_ids: true,
    };
    whole_session(Language::Python, "agent.py", &["Remember."], &recorded);
}

fn whole_session(language: Language, program: &str, args: &[&str], recorded: &Recorded) {
    let Some(scene) = Scene::new(language, program) else {
        return;
    };
    let turns = session();
    let input = |step: &Value| step["input"].clone();
    let said = |turn: &Vec<Value>| turn.iter().map(input).collect::<Vec<_>>();
    let script = json!(turns.iter().map(said).collect::<Vec<_>>());
    let requests = scene.talk(program, args, &script);
    assert_eq!(requests.len(), turns.len() + 1);
    let streams = args.iter().any(|arg| arg.ends_with("stream")) || program == "runner.ts";
    assert!(requests.iter().all(|request| request["stream"] == streams));
    let (first, later) = match program {
        "agent.py" => (Value::Null, Value::Null),
        _ => ("create".into(), Value::from("continue")),
    };
    assert_eq!(requests[0]["thread"], first);
    assert!(
        requests[1..]
            .iter()
            .all(|request| request["thread"] == later)
    );
    for (number, (turn, request)) in turns.iter().zip(&requests[1..]).enumerate() {
        let results = request["results"].as_array().expect("tool results");
        assert_eq!(results.len(), turn.len(), "turn {number}");
        for (at, (step, result)) in turn.iter().zip(results).enumerate() {
            assert_eq!(result["tool_use_id"], tool_use_id(number, at));
            assert_eq!(result["content"], step["want"], "{}", step["input"]);
            let is_error = result["is_error"].as_bool().unwrap_or(false);
            assert_eq!(is_error, step["is_error"] == true, "{}", step["input"]);
        }
    }
    recorded_as_by_tool(&scene, &turns, recorded);
    scene.verify();
}

/// The store has the same events as one in which `agekeep tool` carried out the same inputs, in the
/// same order, and in each who it was.
fn recorded_as_by_tool(scene: &Scene, turns: &[Vec<Value>], recorded: &Recorded) {
    let beside = Home::with_store();
    let lines = turns
        .iter()
        .flatten()
        .map(|step| format!("{}\n", step["input"]));
    let answers = beside.tool(&lines.collect::<String>());
    let wants = turns.iter().flatten().map(|step| &step["want"]);
    assert!(answers.iter().map(|answer| &answer["content"]).eq(wants));
    let ids = turns.iter().enumerate().flat_map(|(number, turn)| {
        (0..turn.len()).map(move |at| Value::from(tool_use_id(number, at)))
    });
    let events = scene.events();
    let log = crate::support::json_lines(&beside.run(&["log", "--json"]).stdout);
    assert_eq!(events.len() + 1, log.len());
    for ((event, like), id) in events.iter().zip(log.iter().rev().skip(1)).zip(ids) {
        for same in [
            "event", "command", "outcome", "error", "path", "new_path", "door",
        ] {
            assert_eq!(event[same], like[same], "{same} of {event}");
        }
        assert_eq!(event["actor"], recorded.actor);
        assert_eq!(event["session"], json!(recorded.session));
        let id = if recorded.tool_use_ids {
            id
        } else {
            Value::Null
        };
        assert_eq!(event["tool_use_id"], id);
        let reason = recorded.session.map(|_| "asked to remember");
        assert_eq!(event["reason"], json!(reason));
    }
}

fn session() -> Vec<Vec<Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk/session.json");
    let text = fs::read_to_string(path).expect("the session");
    serde_json::from_str(&text).expect("the session parses")
}

/// The id that the fake API gives a call.
fn tool_use_id(turn: usize, at: usize) -> String {
    format!("toolu_{turn:02}{at:02}")
}
