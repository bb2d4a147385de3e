//! The steps of a trial: how each went, and what to do if it did not go well.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agekeep::error::Result;
use agekeep::redact::Redactor;
use agekeep::redact::config::Redaction;
use agekeep::store::Store;
use serde_json::{Value, json};

use crate::args::Global;
use crate::verbs::mcp_config::client::Client;
use crate::verbs::mcp_config::launch::{GIVE_IT, LOCKED, Launch};
use crate::verbs::mcp_config::session::{ANSWER_SECONDS_MAX, Said, Trouble, bare_command};
use crate::{environment, output, process};

/// Most characters that are shown of what another program said.
const SHOWN_CHARACTERS_MAX: usize = 1_000;

/// From here on people notice that a client waits.
const SLOW: Duration = Duration::from_secs(1);

/// One step.
pub(super) struct Check {
    step: &'static str,
    state: State,
    what: String,
    fix: Option<String>,
}

/// How a step went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ok,
    /// Something to know, which keeps nothing from working.
    Note,
    Fault,
}

impl Check {
    pub(super) fn ok(step: &'static str, what: impl Into<String>) -> Self {
        Self::new(step, State::Ok, what.into(), None)
    }

    pub(super) fn note(step: &'static str, what: impl Into<String>) -> Self {
        Self::new(step, State::Note, what.into(), None)
    }

    pub(super) fn fault(
        step: &'static str,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self::new(step, State::Fault, what.into(), Some(fix.into()))
    }

    fn new(step: &'static str, state: State, what: String, fix: Option<String>) -> Self {
        Self {
            step,
            state,
            what,
            fix,
        }
    }

    pub(super) fn is_fault(&self) -> bool {
        self.state == State::Fault
    }
}

/// Prints all steps.
pub(super) fn print(global: &Global, client: &Client, name: &str, checks: &[Check]) -> Result<()> {
    let well = !checks.iter().any(Check::is_fault);
    if global.json {
        let checks = checks.iter().map(|check| {
            let state = check.state.word();
            json!({"step": check.step, "state": state, "what": check.what, "fix": check.fix})
        });
        let checks: Vec<_> = checks.collect();
        let schema = "agekeep.mcp-diagnosis/1";
        output::json(&json!({
            "schema": schema, "client": client.id, "name": name, "ok": well, "checks": checks,
        }))?;
        return Ok(());
    }
    for check in checks {
        let what = check.what.replace('\n', "\n    ");
        output::line(&format!("{:<6} {}: {what}", check.state.word(), check.step))?;
        if let Some(fix) = &check.fix {
            output::line(&format!("  fix: {fix}"))?;
        }
    }
    output::line(if well {
        "All is well."
    } else {
        "It does not work as it is."
    })
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Fault => "fault",
        }
    }
}

/// What another program said, fit to be shown: without secrets, control characters and great length.
pub(super) fn shown(text: &str) -> String {
    let text: String = text.trim().chars().take(SHOWN_CHARACTERS_MAX).collect();
    let redactor = Redactor::of_policy(&Redaction::default());
    let redacted = redactor.ok().and_then(|redactor| {
        let redacted = redactor.redact("said", &text.as_str().into()).ok()?;
        Some(redacted.text().as_str().to_owned())
    });
    let text = redacted.unwrap_or_else(|| "(what it said cannot be shown)".into());
    output::escaped(&text).into_owned()
}

/// Why a program could not be started.
pub(super) fn of_start(launch: &Launch, error: &io::Error) -> Check {
    let program = shown(&launch.program);
    let (what, fix) = match error.kind() {
        io::ErrorKind::NotFound if !launch.program.contains('/') => (
            format!("{program} is not found: clients do not look where your shell does"),
            "have the entry name the program by its whole path",
        ),
        io::ErrorKind::NotFound => (
            format!("there is no {program}, or not what its first line names"),
            "install it there, or have the entry name where it is",
        ),
        io::ErrorKind::PermissionDenied => (
            format!("{program} is not executable, or in a folder that is not yours"),
            "run `chmod +x` on it, or have the entry name the program itself",
        ),
        _ => (
            format!("{program} cannot be started: {}", shown(&error.to_string())),
            "have the entry name the program agekeep for this machine",
        ),
    };
    Check::fault("start", what, fix)
}

/// Why an answer did not come.
pub(super) fn of_trouble(
    step: &'static str,
    trouble: &Trouble,
    (status, stderr): (Option<ExitStatus>, String),
    launch: &Launch,
) -> Check {
    let said = match shown(&stderr) {
        said if said.is_empty() => "it said nothing on standard error".to_owned(),
        said => format!("it said on standard error:\n{said}"),
    };
    match trouble {
        Trouble::Late if is_locked(launch) => Check::fault(
            step,
            format!(
                "there was no answer within {ANSWER_SECONDS_MAX} seconds, and another process holds \
                 the store's lock"
            ),
            "wait until that process is done, or end it; a client would wait too",
        ),
        Trouble::Late => Check::fault(
            step,
            format!("there was no answer within {ANSWER_SECONDS_MAX} seconds; {said}"),
            "see that the program is `agekeep mcp`, and that nothing in front of it keeps its input \
             to itself",
        ),
        Trouble::Ended => {
            let status =
                status.map_or_else(|| "stopped talking".into(), |s| format!("ended ({s})"));
            Check::fault(
                step,
                format!("it {status} before it answered; {said}"),
                "do what it says there, or have the entry start `agekeep mcp` of this version",
            )
        }
        Trouble::Answered(text) => Check::fault(
            step,
            format!("it answers: {}\n{said}", shown(text)),
            "do what it says there; what is wrong with the store is said above, too",
        ),
        Trouble::Refused(message) => Check::fault(
            step,
            format!("it answers that it cannot: {}", shown(message)),
            "have the entry start `agekeep mcp` of this version",
        ),
    }
}

/// Whether another process has the store to itself at this moment.
fn is_locked(launch: &Launch) -> bool {
    launch
        .store()
        .is_some_and(|store| Store::is_locked(store.as_ref()))
}

/// What a server says of itself, and how long it took.
pub(super) fn of_hello(answer: &Value, protocol: &str, took: Duration) -> Vec<Check> {
    let told = |value: &Value| shown(value.as_str().unwrap_or("nothing"));
    let (spoken, server) = (told(&answer["protocolVersion"]), &answer["serverInfo"]);
    let (name, version) = (told(&server["name"]), told(&server["version"]));
    let ours = env!("CARGO_PKG_VERSION");
    let mut checks = Vec::new();
    if spoken != protocol {
        checks.push(Check::fault(
            "initialize",
            format!("it speaks version {spoken} of the protocol, and not {protocol}"),
            "have the entry start `agekeep mcp` of this version",
        ));
    }
    if name != "agekeep" || version != ours {
        checks.push(Check::fault(
            "initialize",
            format!("it is {name} {version}, and this is agekeep {ours}"),
            "have the entry start this program, or install the same version there",
        ));
    }
    let after = format!("after {} ms", took.as_millis());
    if checks.is_empty() {
        checks.push(Check::ok(
            "initialize",
            format!("{name} {version} answered {after}"),
        ));
    }
    if took > SLOW {
        checks.push(Check::note(
            "initialize",
            format!("it is slow to start: it answered {after}"),
        ));
    }
    checks
}

/// Has this program open the store under the same conditions, because it says best what is wrong.
/// Nothing where that takes too long: the server will show.
pub(super) fn of_store(launch: &Launch) -> Option<Check> {
    let store = launch.store()?;
    let (succeeded, stderr) = carry_out(&status_of(launch, store.to_str()?)?)?;
    if succeeded {
        let store = shown(&store.to_string_lossy());
        return Some(Check::ok("store", format!("{store} opens")));
    }
    let lines = stderr.lines().rev();
    let mut objects = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let error = objects.find_map(|mut line| line.get_mut("error").map(Value::take));
    Some(of_error(launch, &error.unwrap_or_default()))
}

/// What looks at the store with the keys that a server is started with.
fn status_of(launch: &Launch, store: &str) -> Option<Launch> {
    let mut args: Vec<String> = ["status", "--json", "--store", store]
        .map(str::to_owned)
        .into();
    let keys = [
        ("--identity", Some("-i")),
        ("--signing-key", None),
        ("--keyring", None),
    ];
    for (long, short) in keys {
        if let Some(value) = launch.option(long, short) {
            args.extend([long.to_owned(), value.to_owned()]);
        }
    }
    Some(Launch {
        program: environment::program().ok()?.to_str()?.to_owned(),
        args,
        env: launch.env.clone(),
    })
}

/// Why a store does not open, for somebody who configures a client.
fn of_error(launch: &Launch, error: &Value) -> Check {
    let told = |key: &str, otherwise: &str| shown(error[key].as_str().unwrap_or(otherwise));
    let sources = ["AGEKEEP_PASSPHRASE_FILE", "AGEKEEP_PASSPHRASE_COMMAND"];
    let is_told = sources.iter().any(|name| launch.env.contains_key(*name));
    let hint = told("hint", "see what `agekeep status` says");
    match error["code"].as_str() {
        Some("no_passphrase") if !is_told => Check::fault("store", LOCKED, GIVE_IT),
        Some("missing_plugin") => Check::fault(
            "store",
            told("message", "a plugin is missing"),
            format!("{hint}: with PATH among the variables (env) of the entry"),
        ),
        _ => Check::fault("store", told("message", "it does not open"), hint),
    }
}

/// Runs a command to its end: whether it succeeded, and what it said on standard error. Nothing at
/// the end of patience.
fn carry_out(launch: &Launch) -> Option<(bool, String)> {
    let home = environment::folder_in("HOME");
    let mut child = bare_command(launch, home.as_ref().map(|home| home.as_os_str()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let said = Said::on(child.stderr.take().expect("it is piped"));
    let until = Instant::now() + Duration::from_secs(ANSWER_SECONDS_MAX);
    while !process::has_ended(&child) && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    let by_itself = process::has_ended(&child);
    let status = process::end_group(&mut child)?;
    by_itself.then(|| (status.success(), said.all()))
}
