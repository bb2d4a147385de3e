//! Two servers and a `tool` process on one store: whole commands in any order, and none lost.

use std::collections::BTreeMap;
use std::io::Write;
use std::thread;

use serde_json::{Value, json};

use crate::mcp::client::{Server, call, events, signal};
use crate::support::{Home, feed, json_lines, stderr, stdout};

/// Commands of each process.
const EACH: usize = 200;

/// A command that all of them give now and then to the same memories, with who and which it is.
fn command(who: &str, number: usize) -> (&'static str, Value) {
    let shared = format!("/memories/shared-{}.md", number % 3);
    let own = format!("/memories/{who}/{number}.md");
    let line = format!("{who} {number}");
    match number % 8 {
        0 => ("create", json!({"path": shared, "file_text": "first\n"})),
        1..=3 => (
            "insert",
            json!({"path": shared, "insert_line": 0, "insert_text": line}),
        ),
        4 => ("view", json!({"path": shared})),
        5 => ("create", json!({"path": own, "file_text": line})),
        6 => (
            "str_replace",
            json!({"path": shared, "old_str": format!("{who} {}", number - 3), "new_str": line}),
        ),
        _ => ("view", json!({"path": "/memories"})),
    }
}

/// What a process was told of each of its commands: the number of its event, and whether it was done.
type Told = BTreeMap<usize, (u64, bool)>;

fn by_server(home: &Home, who: &str, mut server: Server) -> Told {
    let lines: String = (0..EACH)
        .map(|number| {
            let (name, arguments) = command(who, number);
            let mut call = call(number, &format!("memory_{name}"), arguments);
            call["params"]["_meta"] =
                json!({"agekeep/context": {"reason": format!("{who} {number}")}});
            format!("{call}\n")
        })
        .collect();
    let mut input = server.take_input();
    let writer = thread::spawn(move || drop(input.write_all(lines.as_bytes())));
    let end = server.end_of_output();
    writer.join().expect("all is written");
    assert!(
        end.status.success(),
        "{}: {}",
        home.path().display(),
        end.stderr
    );
    answers(&end.rest)
}

fn answers(messages: &[Value]) -> Told {
    let results = messages
        .iter()
        .filter(|message| message.get("method").is_none());
    let one = |answer: &Value| {
        let id = answer["id"].as_u64().expect("an id");
        let event = answer["result"]["structuredContent"]["event"].as_u64();
        let event = event.unwrap_or_else(|| panic!("{answer}"));
        (
            usize::try_from(id).expect("small"),
            (event, answer["result"]["isError"] == false),
        )
    };
    results.map(one).collect()
}

fn by_tool(home: &Home, who: &str) -> Told {
    let lines: String = (0..EACH)
        .map(|number| {
            let (name, mut input) = command(who, number);
            input["command"] = name.into();
            let context = json!({"reason": format!("{who} {number}")});
            format!(
                "{}\n",
                json!({"id": number, "input": input, "context": context})
            )
        })
        .collect();
    let output = feed(home.command(&["tool"]), lines.as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    let one = |answer: Value| {
        let id = answer["id"].as_u64().expect("an id");
        let event = answer["meta"]["event"].as_u64();
        let event = event.unwrap_or_else(|| panic!("{answer}"));
        (
            usize::try_from(id).expect("small"),
            (event, answer["is_error"] == false),
        )
    };
    json_lines(&output.stdout).into_iter().map(one).collect()
}

/// Each command is one event in the order of its process, and what was told of it is so.
fn assert_whole(home: &Home, told: &BTreeMap<&str, Told>) {
    let recorded = events(home);
    let mut last: BTreeMap<&str, u64> = BTreeMap::new();
    for (who, told) in told {
        for (number, (event, done)) in told {
            let found = &recorded[usize::try_from(*event).expect("small")];
            assert_eq!(found["event"], *event);
            assert_eq!(found["reason"], format!("{who} {number}"), "{found}");
            assert_eq!(found["outcome"] == "ok", *done, "{found}");
            let before = last.insert(who, *event);
            assert!(
                before.is_none_or(|before| before < *event),
                "{who} {number}"
            );
        }
    }
    let checked = home.run(&["verify", "--full"]);
    assert!(
        checked.status.success(),
        "{}{}",
        stdout(&checked),
        stderr(&checked)
    );
}

#[test]
fn three_processes_lose_nothing() {
    let home = Home::with_store();
    let told: BTreeMap<&str, Told> = thread::scope(|scope| {
        let home = &home;
        let older = scope.spawn(move || by_server(home, "older", Server::older(home, &[])));
        let second = scope.spawn(move || by_server(home, "second", Server::older(home, &[])));
        let tool = scope.spawn(move || by_tool(home, "tool"));
        let told = [("older", older), ("second", second), ("tool", tool)];
        told.map(|(who, told)| (who, told.join().expect("it ends")))
            .into()
    });
    assert!(told.values().all(|told| told.len() == EACH));
    assert_eq!(events(&home).len(), 3 * EACH + 1);
    assert_whole(&home, &told);
    // Every line that was put in and not replaced stands there once.
    let shared: String = (0..3)
        .map(|n| stdout(&home.run(&["read", &format!("shared-{n}.md")])))
        .collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in shared.lines().filter(|line| *line != "first") {
        *counts.entry(line).or_default() += 1;
    }
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    let inserted = told.iter().flat_map(|(who, told)| {
        let done = told
            .iter()
            .filter(|(number, (_, done))| matches!(*number % 8, 1..=3) && *done);
        done.map(move |(number, _)| (who, *number, told.get(&(number + 3))))
    });
    for (who, number, replaced) in inserted {
        let is_replaced = (number + 3) % 8 == 6 && replaced.is_some_and(|(_, done)| *done);
        let stands = if is_replaced { number + 3 } else { number };
        assert!(
            counts.contains_key(format!("{who} {stands}").as_str()),
            "{who} {number}"
        );
    }
}

#[test]
fn a_server_that_is_killed_takes_nobody_with_it() {
    let home = Home::with_store();
    let mut killed = Server::older(&home, &[]);
    let told: BTreeMap<&str, Told> = thread::scope(|scope| {
        let home = &home;
        let second = scope.spawn(move || by_server(home, "second", Server::older(home, &[])));
        let tool = scope.spawn(move || by_tool(home, "tool"));
        let lines: String = (0..EACH)
            .map(|number| {
                let (name, arguments) = command("killed", number);
                let mut call = call(number, &format!("memory_{name}"), arguments);
                call["params"]["_meta"] =
                    json!({"agekeep/context": {"reason": format!("killed {number}")}});
                format!("{call}\n")
            })
            .collect();
        let mut input = killed.take_input();
        let writer = thread::spawn(move || drop(input.write_all(lines.as_bytes())));
        let mut messages: Vec<Value> = (0..EACH / 4).map(|_| killed.receive()).collect();
        signal(&killed.child, "KILL");
        let end = killed.wait();
        assert!(!end.status.success());
        messages.extend(end.rest);
        writer.join().expect("the writer ends");
        let told = [("second", second), ("tool", tool)];
        let mut told: BTreeMap<&str, Told> = told
            .map(|(who, told)| (who, told.join().expect("it ends")))
            .into();
        told.insert("killed", answers(&messages));
        told
    });
    assert_eq!((told["second"].len(), told["tool"].len()), (EACH, EACH));
    assert!((1..EACH).contains(&told["killed"].len()));
    assert_whole(&home, &told);
    // The next server goes on from there.
    let mut next = Server::newer(&home, &[]);
    next.done(
        "memory_create",
        json!({"path": "/memories/next.md", "file_text": "x"}),
    );
}
