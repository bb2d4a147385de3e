//! One call fails, or one write is short: the command is answered rightly, nothing acknowledged is
//! lost, and the next command works.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::fault::check::check;
use crate::fault::cuts::is_long_run;
use crate::fault::disk::Image;
use crate::fault::image::read;
use crate::fault::story::{Effect, State, Task, carry_out, new_store};
use crate::support::{Home, complaints, every, feed, has_peer, stderr, stdout, strace};

/// Calls that change a disk, or make it sure.
const CALLS: [&str; 12] = [
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "syncfs",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "ftruncate",
    "openat",
    "unlinkat",
];
const ERRORS: [&str; 4] = ["EIO", "ENOSPC", "EDQUOT", "EINTR"];
/// The exit code of input and output that fails.
const IO: i32 = 16;

/// A store at a moment, and a command to be given then.
struct Case {
    image: Image,
    before: State,
    task: Task,
}

/// A fault: which call, for the how manieth time, and what comes of it.
struct Fault<'a> {
    case: &'a Case,
    call: &'static str,
    number: usize,
    error: &'static str,
}

/// A command of each kind, and what it is given to.
fn cases() -> Vec<Case> {
    let home = Home::empty();
    let empty = read(home.path());
    let state = new_store(&home);
    let tasks = [
        Task::create("/memories/d/a.md", "one\ntwo\n"),
        Task::create("/memories/d/b.md", "b\n"),
    ];
    let state = carry_out(&home, &state, &tasks);
    let gone = Effect::Remove("/memories/d/b.md".into());
    let tasks = [
        Task::create("/memories/c.md", "new\n"),
        Task::rename("/memories/d", "/memories/e"),
        Task::view("/memories/d/a.md", 0),
        Task::of(&["policy", "set", "limits.lines", "5000"], 0, Effect::None),
        Task::of(
            &["erase", "/memories/d/b.md", "--yes", "--reason", "asked"],
            0,
            gone,
        ),
    ];
    let image = || read(home.path());
    let mut cases: Vec<Case> = tasks
        .map(|task| Case {
            image: image(),
            before: state.clone(),
            task,
        })
        .into_iter()
        .collect();
    let init = Task::of(&["init"], 0, Effect::None);
    cases.push(Case {
        image: empty,
        before: State::default(),
        task: init,
    });
    cases
}

/// Runs a command under `strace`, which is told more; answers what it saw too.
fn traced(home: &Home, task: &Task, more: &[String]) -> (Output, String) {
    let args: Vec<&str> = task.args.iter().map(String::as_str).collect();
    let command = home.command(&args);
    let trace = home.path().with_extension("trace");
    let mut strace = strace(&more.concat());
    strace.arg("-o").arg(&trace).args(more);
    strace.arg(command.get_program()).args(&args).env_clear();
    strace.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    strace.current_dir(home.path());
    let output = feed(strace, b"");
    let text = fs::read_to_string(&trace).expect("traced");
    fs::remove_file(&trace).expect("there");
    (output, text)
}

/// Every fault that a command can meet: each of its calls, with each error or one of them.
fn faults(case: &Case) -> Vec<Fault<'_>> {
    let mut faults = Vec::new();
    for call in CALLS {
        let home = case.home();
        let (_, trace) = traced(&home, &case.task, &["-e".into(), format!("trace={call}")]);
        let main = trace.split(' ').next().unwrap_or_default().to_owned();
        let own = trace.lines().filter(|line| line.starts_with(&main));
        // Threads are counted each for itself; the first has the most calls.
        for (number, line) in (1..).zip(own.filter(|line| !line.contains("resumed>"))) {
            if !may_fail(call, line) {
                continue;
            }
            let fault = |error| Fault {
                case,
                call,
                number,
                error,
            };
            if is_long_run() {
                faults.extend(ERRORS.map(fault));
            } else {
                faults.push(fault(ERRORS[faults.len() % ERRORS.len()]));
            }
        }
    }
    faults
}

/// Whether a call is one that is made to fail: of those that open a file, one that may make it. A
/// run does not make quite the same calls as the one before, so this is asked in both.
fn may_fail(call: &str, line: &str) -> bool {
    call != "openat" || line.contains("O_CREAT")
}

impl Case {
    fn home(&self) -> Home {
        let home = Home::empty();
        self.image.write_to(home.path());
        home
    }
}

impl Fault<'_> {
    /// Gives the command with this fault, and checks what was answered and what is there.
    fn meet(&self) -> Result<(), String> {
        let home = self.case.home();
        let inject = format!(
            "inject={}:error={}:when={}",
            self.call, self.error, self.number
        );
        let more = [
            "-e".into(),
            format!("trace={}", self.call),
            "-e".into(),
            inject,
        ];
        let (output, trace) = traced(&home, &self.case.task, &more);
        let Some(met) = trace.lines().find(|line| line.contains("(INJECTED)")) else {
            return Ok(());
        };
        if !may_fail(self.call, met) {
            return Ok(());
        }
        let state = answered(&output, self.case)?;
        check(&home, &[state])
    }

    fn say(&self) -> String {
        format!(
            "{:?}: {} from {} {}",
            self.case.task.args, self.error, self.call, self.number
        )
    }
}

/// What has to be there after an answer, if that is one that may be given.
fn answered(output: &Output, case: &Case) -> Result<State, String> {
    let (code, complaint) = (output.status.code(), complaints(output));
    let after = case.before.after(&case.task);
    let said = || format!("exit {code:?}: {}{complaint}", stdout(output));
    match code {
        Some(0) => Ok(after),
        Some(IO) if complaint.contains("standard output") => Ok(after),
        // It says that it happened, and that the keys before are still there.
        Some(IO) if complaint.contains("a change of keys that is recorded") => Ok(after),
        // What it says on standard error is lost with standard error.
        Some(IO) if complaint.starts_with("error: ") && complaint.contains("\nhint: ") => {
            if output.stdout.is_empty() {
                Ok(case.before.clone())
            } else {
                Err(said())
            }
        }
        _ => Err(said()),
    }
}

/// Does all of this on every core, and tells of what fails.
fn all_at_once<T: Sync>(items: &[T], run: impl Fn(&T) -> Result<(), String> + Sync) -> Vec<String> {
    let (at, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(item) = items.get(at.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = run(item) {
                        failures
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(why);
                    }
                }
            });
        }
    });
    failures
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn whatever_call_fails_a_command_happened_if_and_only_if_it_says_so() {
    if !has_peer("strace", "makes calls fail") {
        return;
    }
    let cases = cases();
    let all = cases.iter().flat_map(faults);
    // Of all commands together, a sample meets every kind of call and every error.
    let faults: Vec<Fault<'_>> = all.step_by(every(4)).collect();
    assert!(faults.len() > 60, "only {} faults", faults.len());
    let failures = all_at_once(&faults, |fault| {
        fault
            .meet()
            .map_err(|why| format!("{}: {why}", fault.say()))
    });
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        faults.len(),
        failures.join("\n")
    );
}

/// Compiles what makes writes short.
fn shim(folder: &Path) -> Option<PathBuf> {
    if !has_peer("cc", "makes writes short") {
        return None;
    }
    let library = folder.join("short.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fault/short.c");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .args([source, "-ldl"])
        .output()
        .expect("cc runs");
    assert!(compiled.status.success(), "{}", stderr(&compiled));
    Some(library)
}

/// Gives a command whose `number`th write is short; `false` if it has not so many.
fn with_short_write(
    case: &Case,
    (library, number, part): (&Path, usize, &str),
) -> Result<bool, String> {
    let home = case.home();
    let done = home.path().with_extension("short");
    let args: Vec<&str> = case.task.args.iter().map(String::as_str).collect();
    let mut command = home.command(&args);
    command
        .env("LD_PRELOAD", library)
        .env("SHORT_WRITE", number.to_string())
        .env("SHORT_PART", part)
        .env("SHORT_DONE", &done);
    let output = feed(command, b"");
    let was_short = done.exists();
    drop(fs::remove_file(&done));
    if !output.status.success() {
        return Err(format!(
            "exit {:?}: {}",
            output.status.code(),
            stderr(&output)
        ));
    }
    check(&home, &[case.before.after(&case.task)])?;
    Ok(was_short)
}

#[test]
fn a_short_write_is_gone_on_with() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let Some(library) = shim(folder.path()) else {
        return;
    };
    let cases = cases();
    let parts: &[&str] = if is_long_run() {
        &["one", "half", "most"]
    } else {
        &["half"]
    };
    let runs: Vec<(&Case, &str)> = cases
        .iter()
        .flat_map(|case| parts.iter().map(move |part| (case, *part)))
        .collect();
    let count = AtomicUsize::new(0);
    let runs: Vec<_> = runs.into_iter().enumerate().collect();
    let failures = all_at_once(&runs, |(turn, (case, part))| {
        // Of a sample, each command has other writes that are short.
        for number in (1 + turn % every(2)..).step_by(every(2)) {
            let was_short = with_short_write(case, (&library, number, part))
                .map_err(|why| format!("{:?}: {part} of write {number}: {why}", case.task.args))?;
            if !was_short {
                break;
            }
            count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let count = count.into_inner();
    assert!(count > 20, "only {count} writes were short");
}
