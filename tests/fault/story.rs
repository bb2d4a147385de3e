//! What is asked of the binary while it is recorded, and what has to be there after each moment.

use std::collections::BTreeMap;
use std::process::Output;

use serde_json::{Value, json};

use crate::fault::disk::Step;
use crate::fault::recorder::{Input, Recorder, Recording};
use crate::support::{Home, json_lines, stderr, stdout};

/// What is remembered, and how many events there are; none before there is a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) events: u64,
    pub(crate) texts: BTreeMap<String, String>,
}

/// What a command does to a state, besides being one more event.
#[derive(Debug, Clone)]
pub(crate) enum Effect {
    None,
    Put(String, String),
    Move(String, String),
    Remove(String),
}

/// A command, and what comes of it.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    /// As arguments, or as a line of JSON for `tool`.
    pub(crate) args: Vec<String>,
    pub(crate) line: String,
    pub(crate) effect: Effect,
    pub(crate) events: u64,
    /// The exit code as arguments; for `tool`, whether there is a refusal.
    pub(crate) code: i32,
}

/// When a task was begun and answered, in steps of the recording.
struct Told {
    task: Task,
    begun: usize,
    answered: usize,
    outcome: Outcome,
}

/// What is known of a task that is over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    /// It was answered that it did not happen.
    Failed,
    /// Its process was killed: whoever comes next finds it or not.
    Unknown,
}

/// A recording with what it is a recording of.
pub(crate) struct Story {
    pub(crate) name: String,
    pub(crate) recorder: Recorder,
    first: State,
    told: Vec<Told>,
}

impl State {
    pub(crate) fn after(&self, task: &Task) -> Self {
        let mut next = self.clone();
        next.events += task.events;
        match &task.effect {
            Effect::None => {}
            Effect::Put(path, text) => drop(next.texts.insert(path.clone(), text.clone())),
            Effect::Move(from, to) => next.texts = moved(&self.texts, from, to),
            Effect::Remove(path) => next.texts.retain(|found, _| !is_within(found, path)),
        }
        next
    }
}

fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn moved(texts: &BTreeMap<String, String>, from: &str, to: &str) -> BTreeMap<String, String> {
    let place = |path: &str| match path.strip_prefix(from) {
        Some(rest) if is_within(path, from) => format!("{to}{rest}"),
        _ => path.to_owned(),
    };
    texts
        .iter()
        .map(|(path, text)| (place(path), text.clone()))
        .collect()
}

impl Task {
    /// Any command, by its arguments.
    pub(crate) fn of(args: &[&str], code: i32, effect: Effect) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self {
            args,
            line: String::new(),
            effect,
            events: 1,
            code,
        }
    }

    pub(crate) fn create(path: &str, text: &str) -> Self {
        let line = json!({"command": "create", "path": path, "file_text": text}).to_string();
        let effect = Effect::Put(path.to_owned(), text.to_owned());
        Self {
            line,
            ..Self::of(&["create", path, "--text", text], 0, effect)
        }
    }

    pub(crate) fn view(path: &str, code: i32) -> Self {
        let line = json!({"command": "view", "path": path}).to_string();
        Self {
            line,
            ..Self::of(&["view", path], code, Effect::None)
        }
    }

    /// `all` is the text once `old` is replaced.
    pub(crate) fn replace(path: &str, (old, new): (&str, &str), all: &str) -> Self {
        let call = json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new});
        let effect = Effect::Put(path.to_owned(), all.to_owned());
        let args = ["str-replace", path, "--old", old, "--new", new];
        Self {
            line: call.to_string(),
            ..Self::of(&args, 0, effect)
        }
    }

    /// `all` is the text once `text` is in it.
    pub(crate) fn insert(path: &str, (line, text): (usize, &str), all: &str) -> Self {
        let call =
            json!({"command": "insert", "path": path, "insert_line": line, "insert_text": text});
        let effect = Effect::Put(path.to_owned(), all.to_owned());
        let line = line.to_string();
        let args = ["insert", path, &line, "--text", text];
        Self {
            line: call.to_string(),
            ..Self::of(&args, 0, effect)
        }
    }

    pub(crate) fn rename(from: &str, to: &str) -> Self {
        let call = json!({"command": "rename", "old_path": from, "new_path": to});
        let effect = Effect::Move(from.to_owned(), to.to_owned());
        Self {
            line: call.to_string(),
            ..Self::of(&["rename", from, to], 0, effect)
        }
    }

    pub(crate) fn delete(path: &str) -> Self {
        let line = json!({"command": "delete", "path": path}).to_string();
        let effect = Effect::Remove(path.to_owned());
        Self {
            line,
            ..Self::of(&["delete", path], 0, effect)
        }
    }

    /// As it is, but refused: nothing changes, and it is recorded all the same.
    pub(crate) fn refused(self, code: i32) -> Self {
        Self {
            effect: Effect::None,
            code,
            ..self
        }
    }

    /// As it is, but no event.
    pub(crate) fn unrecorded(self) -> Self {
        Self { events: 0, ..self }
    }
}

impl Story {
    /// Begins to record a home folder as it is now.
    pub(crate) fn new(name: &str, home: &Home, first: State) -> Self {
        let (name, recorder) = (name.to_owned(), Recorder::new(home));
        Self {
            name,
            recorder,
            first,
            told: Vec::new(),
        }
    }

    pub(crate) fn recording(&self) -> &Recording {
        &self.recorder.recording
    }

    fn steps(&self) -> usize {
        self.recording().steps.len()
    }

    /// Gives commands, each to a process of its own.
    pub(crate) fn one_by_one(&mut self, home: &Home, tasks: &[Task]) {
        for task in tasks {
            let output = self.give(home, task, &[]);
            assert_eq!(
                output.status.code(),
                Some(task.code),
                "{:?}: {}",
                task.args,
                stderr(&output)
            );
        }
    }

    /// Gives one command, with `more` for `strace`.
    pub(crate) fn give(&mut self, home: &Home, task: &Task, more: &[String]) -> Output {
        let begun = self.steps();
        let args: Vec<&str> = task.args.iter().map(String::as_str).collect();
        let output = self.recorder.run(home, &args, &Input::Nothing, more);
        let said = |step: &Step| matches!(step, Step::Said(_));
        let last = self.recording().steps[begun..].iter().rposition(said);
        let answered = last.map_or(self.steps(), |last| begun + last + 1);
        let outcome = match output.status.code() {
            Some(16) => Outcome::Failed,
            Some(_) => Outcome::Done,
            None => Outcome::Unknown,
        };
        self.told.push(Told {
            task: task.clone(),
            begun,
            answered,
            outcome,
        });
        output
    }

    /// Gives commands to one process, as `tool` takes them: each once the one before is answered,
    /// or all at once.
    pub(crate) fn in_session(
        &mut self,
        home: &Home,
        tasks: &[Task],
        at_once: bool,
        more: &[String],
    ) {
        let start = self.steps();
        let lines: Vec<String> = tasks.iter().map(|task| task.line.clone()).collect();
        let input = if at_once {
            Input::Lines(&lines)
        } else {
            Input::InTurn(&lines)
        };
        let output = self.recorder.run(home, &["tool"], &input, more);
        let answers = json_lines(&output.stdout);
        assert_eq!(answers.len(), tasks.len(), "{}", stderr(&output));
        let mut begun = start;
        for ((number, task), answer) in tasks.iter().enumerate().zip(&answers) {
            let answered = self.answered(start, number + 1);
            let failed = answer["meta"]["event"].is_null();
            let refused = !failed && answer["is_error"] == true;
            assert!(
                failed || refused == (task.code != 0),
                "{}: {answer}",
                task.line
            );
            assert!(!failed || !more.is_empty(), "{}: {answer}", task.line);
            self.told.push(Told {
                task: task.clone(),
                begun,
                answered,
                outcome: if failed {
                    Outcome::Failed
                } else {
                    Outcome::Done
                },
            });
            begun = if at_once { start } else { answered };
        }
    }

    /// The step after which the process that began at `start` had answered so many lines.
    fn answered(&self, start: usize, count: usize) -> usize {
        let mut lines = 0;
        for (at, step) in self.recording().steps.iter().enumerate().skip(start) {
            if let Step::Said(more) = step {
                lines += more;
            }
            if lines >= count {
                return at + 1;
            }
        }
        panic!("{count} answers were not recorded");
    }

    /// The states that may be there after so many steps, the one without anything that was not
    /// acknowledged first.
    pub(crate) fn states(&self, at: usize) -> Vec<State> {
        let (mut sure, mut more) = (vec![self.first.clone()], Vec::new());
        for told in self.told.iter().filter(|told| told.begun <= at) {
            let after = |states: &[State]| -> Vec<State> {
                states.iter().map(|state| state.after(&told.task)).collect()
            };
            match told.outcome {
                Outcome::Done if told.answered <= at => (sure, more) = (after(&sure), Vec::new()),
                Outcome::Unknown if told.answered <= at => sure.extend(after(&sure)),
                // It failed, which is no promise that nothing of it reached the disk.
                Outcome::Failed => more.extend(after(&sure)),
                // Several may be under way, in their order.
                _ => more.extend(after(&[&sure[..], &more[..]].concat())),
            }
        }
        sure.append(&mut more);
        sure
    }
}

impl Story {
    /// What is there once all is done.
    pub(crate) fn last(&self) -> State {
        self.states(self.steps()).swap_remove(0)
    }

    /// How many commands were answered not to have happened.
    pub(crate) fn failed(&self) -> usize {
        self.told
            .iter()
            .filter(|told| told.outcome == Outcome::Failed)
            .count()
    }
}

/// What the memory tool answers for each line, checked to be a success.
pub(crate) fn carry_out(home: &Home, state: &State, tasks: &[Task]) -> State {
    let lines: String = tasks
        .iter()
        .map(|task| format!("{}\n", task.line))
        .collect();
    let answers = home.tool(&lines);
    assert_eq!(answers.len(), tasks.len());
    for (answer, task) in answers.iter().zip(tasks) {
        assert_eq!(
            answer["is_error"],
            Value::Bool(task.code != 0),
            "{}: {answer}",
            task.line
        );
    }
    tasks
        .iter()
        .fold(state.clone(), |state, task| state.after(task))
}

/// A new store.
pub(crate) fn new_store(home: &Home) -> State {
    let made = home.run(&["init"]);
    assert!(made.status.success(), "{}{}", stdout(&made), stderr(&made));
    State {
        events: 1,
        texts: BTreeMap::new(),
    }
}
