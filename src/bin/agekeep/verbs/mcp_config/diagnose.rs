//! `mcp-config --diagnose`: checks the client's files, and whether the server works when it is
//! started as the client starts it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use agekeep::error::Result;
use agekeep::redact::Redactor;
use agekeep::store::Store;
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::Global;
use crate::verbs::mcp_config::entries::entry;
use crate::verbs::mcp_config::{Client, GIVE_IT, KNOWN, LOCKED, Launch};
use crate::{environment, output, platform};

/// The version of the protocol that is asked for.
const PROTOCOL: &str = "2025-11-25";
/// The path that the trial views, which is always there.
const VIEWED: &str = "/memories";
/// Most characters that are shown of another program's output.
const SHOWN_CHARACTERS_MAX: usize = 1_000;
/// The time from which people notice that a client waits.
const SLOW: Duration = Duration::from_secs(1);

/// A step of the trial: how it went, and what to do if it did not go well.
#[derive(Serialize)]
struct SetupCheck {
    step: &'static str,
    state: &'static str,
    what: String,
    fix: Option<String>,
}

/// The state of a step that keeps the server from working.
const FAULT: &str = "fault";

fn check(step: &'static str, state: &'static str, what: String, fix: Option<String>) -> SetupCheck {
    SetupCheck {
        step,
        state,
        what,
        fix,
    }
}

fn ok(step: &'static str, what: String) -> SetupCheck {
    check(step, "ok", what, None)
}

/// Makes a step that says something to know, which keeps nothing from working.
fn note(step: &'static str, what: String) -> SetupCheck {
    check(step, "note", what, None)
}

fn fault(step: &'static str, what: impl Into<String>, fix: impl Into<String>) -> SetupCheck {
    check(step, FAULT, what.into(), Some(fix.into()))
}

/// Runs all checks and prints each; returns 0 if all is well.
pub(super) fn run(
    global: &Global,
    client: &Client,
    name: &str,
    printed: &Launch,
    remarks: &[String],
) -> Result<u8> {
    let remarks = remarks.iter().map(|text| note("setup", text.clone()));
    let mut checks: Vec<SetupCheck> = remarks.collect();
    let own = in_files(client, name, printed, &mut checks);
    let tried = match own {
        Some(_) => "the entry as it stands",
        None => "what mcp-config prints",
    };
    let launch = own.as_ref().unwrap_or(printed);
    checks.push(ok("trying", format!("{tried}: {}", shown(&launch.program))));
    checks.extend(launch.store().and_then(|store| on_file_system(&store)));
    checks.extend(of_store(launch));
    talk(launch, &mut checks);
    let well = checks.iter().all(|check| check.state != FAULT);
    if global.json {
        output::json(&json!({
            "schema": "agekeep.mcp-diagnosis/1", "client": client.id, "name": name, "ok": well,
            "checks": checks,
        }))?;
        return Ok(u8::from(!well));
    }
    for check in &checks {
        let what = check.what.replace('\n', "\n    ");
        output::line(&format!("{:<6} {}: {what}", check.state, check.step))?;
        if let Some(fix) = &check.fix {
            output::line(&format!("  fix: {fix}"))?;
        }
    }
    output::line(if well {
        "All is well."
    } else {
        "It does not work yet."
    })?;
    Ok(u8::from(!well))
}

/// Makes another program's output fit to be shown: without secrets, control characters and great
/// length.
fn shown(text: &str) -> String {
    let text: String = text.trim().chars().take(SHOWN_CHARACTERS_MAX).collect();
    match Redactor::default().redact("said", &text.as_str().into()) {
        Ok(redacted) => output::escaped(redacted.text().as_str()).into_owned(),
        Err(_) => "(its output cannot be shown)".into(),
    }
}

/// Looks into the client's files. Returns the entry that the client would start, if it is in a file
/// of the user's own: an entry that came with somebody else's folder is not run.
fn in_files(
    client: &Client,
    name: &str,
    printed: &Launch,
    checks: &mut Vec<SetupCheck>,
) -> Option<Launch> {
    let mut decided = false;
    let mut own = None;
    for (file, path) in client.places() {
        let again = format!(
            "add what `agekeep mcp-config --client {}` prints with the same options",
            client.id
        );
        let found = entry(client, file, &path, name);
        let path = shown(&path.to_string_lossy());
        let launch = match found {
            Ok(None) => continue,
            Ok(Some(entry)) => Launch::of(&entry),
            Err(why) => {
                checks.push(fault(
                    "file",
                    format!("{path} cannot be read: {}", shown(&why)),
                    format!(
                        "correct the file; {} finds no server in it now",
                        client.title
                    ),
                ));
                continue;
            }
        };
        let Some(launch) = launch else {
            checks.push(fault(
                "file",
                format!("{path} has an entry {name:?} that starts no program"),
                format!("{again}, or choose another --name"),
            ));
            continue;
        };
        let has = format!("{path} has");
        checks.push(compared(&launch, printed, &has, name, again));
        // agekeep does not know what a client puts in place of a variable.
        let is_whole = !client.expands || !launch.has_variables();
        if !decided && is_whole && (file.is_own() || launch == *printed) {
            own = Some(launch);
        }
        decided = true;
    }
    if !decided {
        let title = &client.title;
        checks.push(note(
            "file",
            format!("no file of {title} has an entry {name:?} yet"),
        ));
    }
    own
}

/// Compares the entry in a file with what would be printed for it.
fn compared(launch: &Launch, printed: &Launch, has: &str, name: &str, again: String) -> SetupCheck {
    if launch == printed {
        return ok(
            "file",
            format!("{has} the entry {name:?}, and it is up to date"),
        );
    }
    let (program, ours) = (&launch.program, &printed.program);
    if program != ours && !is_same(program.as_ref(), ours.as_ref()) {
        let other = shown(program);
        let what = format!("{has} an entry {name:?} that starts another program: {other}");
        return fault("file", what, again);
    }
    let (store, ours) = (launch.store(), printed.store());
    if !matches!((&store, &ours), (Some(one), Some(two)) if one == two || is_same(one, two)) {
        let other = shown(&store.unwrap_or_default().to_string_lossy());
        let what = format!("{has} an entry {name:?} that is about another store: {other}");
        let fix = format!("{again}, or name that store with --store");
        return fault("file", what, fix);
    }
    note(
        "file",
        format!("{has} the entry {name:?}, with the same program and store and other options"),
    )
}

fn is_same(one: &Path, two: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    // A relative path says nothing by itself, because clients start servers from anywhere.
    one.is_absolute() && real(one).is_some_and(|one| Some(one) == real(two))
}

// The ground that a store stands on: a folder that a program copies elsewhere, or another machine's
// disk.

/// The entry that Syncthing puts into a folder that it copies.
const SYNCTHING_MARK: &str = ".stfolder";

/// Warns of what may go wrong where the store stands, in one sentence.
fn on_file_system(store: &Path) -> Option<SetupCheck> {
    let store = store.canonicalize().unwrap_or_else(|_| store.to_owned());
    let what = match synced(&store) {
        Some(folder) => format!(
            "the store is in {}, which is synchronized with other machines while agekeep writes to \
             it; two machines can break its history; keep the store elsewhere",
            folder.display()
        ),
        None => format!(
            "the store is on a network file system ({}), whose locks and flushes may not be \
             reliable; keep the store on a local disk",
            remote_kind(&platform::mounts(), &store)?
        ),
    };
    Some(note("file system", what))
}

/// Finds the folder above a path that is copied elsewhere.
fn synced(store: &Path) -> Option<&Path> {
    let is_synced = |folder: &&Path| {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| KNOWN.synced.iter().any(|begin| name.starts_with(begin)))
            || folder.join(SYNCTHING_MARK).exists()
    };
    store.ancestors().find(is_synced)
}

/// Returns the kind of the file system a path is on, if it is another machine's.
fn remote_kind<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let mount = |line: &'a str| {
        let (before, after) = line.split_once(" - ")?;
        let at = unescaped(before.split(' ').nth(4)?);
        let kind = after.split(' ').next()?;
        path.starts_with(&at).then_some((at.len(), kind))
    };
    // Of two mounts at the same place the later one covers the other.
    let mounts = mounts.lines().filter_map(mount);
    let (_, kind) = mounts.max_by_key(|(length, _)| *length)?;
    KNOWN
        .network
        .iter()
        .any(|known| known == kind)
        .then_some(kind)
}

/// Decodes a path as the kernel lists it: spaces and the like are three octal digits.
fn unescaped(path: &str) -> String {
    let codes = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ];
    let codes = codes.into_iter();
    codes.fold(path.to_owned(), |path, (code, sign)| {
        path.replace(code, sign)
    })
}

// The store, and a conversation with the server.

/// Has this program open the store under the same conditions, because it says best what is wrong;
/// `None` if that takes too long, because the server will show it.
fn of_store(launch: &Launch) -> Option<SetupCheck> {
    let store = launch.store()?;
    let status = Server::start(&status_of(launch, store.to_str()?)?).ok()?;
    let (status, stderr) = status.end(ANSWER_TIME_MAX);
    if status?.success() {
        let store = shown(&store.to_string_lossy());
        return Some(ok("store", format!("{store} opens")));
    }
    let lines = stderr.lines().rev();
    let mut objects = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let error = objects.find_map(|mut line| line.get_mut("error").map(Value::take));
    let error = error.unwrap_or_default();
    // Explains it for a person who configures a client.
    let told = |key: &str, otherwise: &str| shown(error[key].as_str().unwrap_or(otherwise));
    let sources = ["AGEKEEP_PASSPHRASE_FILE", "AGEKEEP_PASSPHRASE_COMMAND"];
    let is_told = sources.iter().any(|name| launch.env.contains_key(*name));
    let hint = told("hint", "run `agekeep status` to see the problem");
    Some(match error["code"].as_str() {
        Some("no_passphrase") if !is_told => fault("store", LOCKED, GIVE_IT),
        Some("missing_plugin") => fault(
            "store",
            told("message", "a plugin is missing"),
            format!("{hint}: with PATH among the variables (env) of the entry"),
        ),
        _ => fault("store", told("message", "it cannot be opened"), hint),
    })
}

/// Makes the command that looks at the store with the keys that a server is started with.
fn status_of(launch: &Launch, store: &str) -> Option<Launch> {
    let mut args = ["status", "--json", "--store", store]
        .map(str::to_owned)
        .to_vec();
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

/// Starts the server, talks to it as a client does, and ends it.
fn talk(launch: &Launch, checks: &mut Vec<SetupCheck>) {
    let begun = Instant::now();
    let mut server = match Server::start(launch) {
        Ok(server) => server,
        Err(error) => return checks.push(of_start(launch, &error)),
    };
    let talked = converse(&mut server, begun, checks);
    if let Some(noise) = &server.noise {
        checks.push(fault(
            "stdout",
            format!(
                "it prints something that is not a message of the protocol: {}",
                shown(noise)
            ),
            "find what prints that, such as a script around the program or a shell's profile, and \
             have it print to standard error",
        ));
    }
    let ending = server.end(END_TIME_MAX);
    if let Err((step, trouble)) = talked {
        checks.push(of_trouble(step, &trouble, ending, launch));
    }
}

/// Talks to a server; an error names the step that had no answer.
fn converse(
    server: &mut Server,
    begun: Instant,
    checks: &mut Vec<SetupCheck>,
) -> Result<(), (&'static str, Trouble)> {
    let at = |step| move |trouble| (step, trouble);
    let hello = json!({
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "agekeep mcp-config", "version": env!("CARGO_PKG_VERSION")},
    });
    let answer = server.ask("initialize", &hello).map_err(at("initialize"))?;
    of_hello(&answer, begun.elapsed(), checks);
    // A notification, which has no answer.
    let told = server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let tools = told.and_then(|()| server.ask("tools/list", &json!({})));
    let tools = tools.map_err(at("tools/list"))?;
    let tools = tools["tools"].as_array().into_iter().flatten();
    let names: Vec<_> = tools.filter_map(|tool| tool["name"].as_str()).collect();
    let (tool, arguments) = if names.contains(&"memory_view") {
        ("memory_view", json!({"path": VIEWED}))
    } else if names.contains(&"memory") {
        ("memory", json!({"command": "view", "path": VIEWED}))
    } else {
        checks.push(fault(
            "tools/list",
            "it offers neither the tool memory_view nor the tool memory",
            "have the entry start `agekeep mcp`",
        ));
        return Ok(());
    };
    checks.push(ok("tools/list", format!("{} tools", names.len())));
    let answer = server.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
    let answer = answer.map_err(at("tools/call"))?;
    let pieces = answer["content"].as_array().into_iter().flatten();
    let text: Vec<_> = pieces.filter_map(|piece| piece["text"].as_str()).collect();
    if answer["isError"] == json!(true) || text.is_empty() {
        return Err(("tools/call", Trouble::Answered(text.join("\n"))));
    }
    checks.push(ok(
        "tools/call",
        format!("{tool} showed {VIEWED}, which is on record as a look of the actor it names"),
    ));
    Ok(())
}

/// Explains why a program could not be started.
fn of_start(launch: &Launch, error: &io::Error) -> SetupCheck {
    let program = shown(&launch.program);
    let (what, fix) = match error.kind() {
        io::ErrorKind::NotFound if !launch.program.contains('/') => (
            format!("{program} is not found: clients do not look where your shell does"),
            "name the program by its absolute path in the entry",
        ),
        io::ErrorKind::NotFound => (
            format!("there is no {program}, or not what its first line names"),
            "install it there, or correct its path in the entry",
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
    fault("start", what, fix)
}

/// Checks what a server says of itself, and how long it took.
fn of_hello(answer: &Value, took: Duration, checks: &mut Vec<SetupCheck>) {
    let told = |value: &Value| shown(value.as_str().unwrap_or("nothing"));
    let (spoken, server) = (told(&answer["protocolVersion"]), &answer["serverInfo"]);
    let (name, version) = (told(&server["name"]), told(&server["version"]));
    let ours = env!("CARGO_PKG_VERSION");
    let after = format!("after {} ms", took.as_millis());
    let (speaks_other, is_other) = (spoken != PROTOCOL, name != "agekeep" || version != ours);
    if speaks_other {
        checks.push(fault(
            "initialize",
            format!("it speaks version {spoken} of the protocol instead of {PROTOCOL}"),
            "have the entry start `agekeep mcp` of this version",
        ));
    }
    if is_other {
        checks.push(fault(
            "initialize",
            format!("it is {name} {version}, and this is agekeep {ours}"),
            "have the entry start this program, or install the same version there",
        ));
    }
    if !speaks_other && !is_other {
        checks.push(ok(
            "initialize",
            format!("{name} {version} answered {after}"),
        ));
    }
    if took > SLOW {
        checks.push(note(
            "initialize",
            format!("it starts slowly: it answered {after}"),
        ));
    }
}

/// The reason why there is no answer.
enum Trouble {
    /// The time is up.
    Late,
    /// The server is gone.
    Ended,
    /// The server answered with an error of the protocol.
    Refused(String),
    /// A tool answered with an error, or with no text.
    Answered(String),
}

/// Explains why an answer did not come.
fn of_trouble(
    step: &'static str,
    trouble: &Trouble,
    (status, stderr): (Option<ExitStatus>, String),
    launch: &Launch,
) -> SetupCheck {
    let said = match shown(&stderr) {
        said if said.is_empty() => "it said nothing on standard error".to_owned(),
        said => format!("it said on standard error:\n{said}"),
    };
    let seconds = ANSWER_TIME_MAX.as_secs();
    let is_locked = || launch.store().is_some_and(|store| Store::is_locked(&store));
    let (what, fix) = match trouble {
        Trouble::Late if is_locked() => (
            format!(
                "there was no answer within {seconds} seconds, and another process holds the \
                 store's lock"
            ),
            "wait until that process has finished, or stop it; a client would wait too",
        ),
        Trouble::Late => (
            format!("there was no answer within {seconds} seconds; {said}"),
            "check that the program is `agekeep mcp`, and that no wrapper consumes its input",
        ),
        Trouble::Ended => {
            let how = status.map_or_else(|| "stopped talking".into(), |s| format!("ended ({s})"));
            (
                format!("it {how} before it answered; {said}"),
                "follow its message, or let the entry start `agekeep mcp` of this version",
            )
        }
        Trouble::Answered(text) => (
            format!("it answers: {}\n{said}", shown(text)),
            "follow its message; problems of the store are listed above",
        ),
        Trouble::Refused(message) => (
            format!("it answers that it cannot: {}", shown(message)),
            "have the entry start `agekeep mcp` of this version",
        ),
    };
    fault(step, what, fix)
}

// A conversation over the server's standard input and output, with time limits.

/// The longest time for each answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(10);
/// The longest time that a server may take to end after its input does.
const END_TIME_MAX: Duration = Duration::from_secs(2);
/// The longest wait for the last output of a program that has ended.
const LAST_WORDS_TIME_MAX: Duration = Duration::from_secs(1);
/// The longest line that is read from a server, in bytes.
const LINE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Most bytes that are kept of a server's standard error.
const STDERR_BYTES_MAX: usize = 4 * 1024;
/// Most lines that may wait to be read; a server that writes more waits too.
const LINES_WAITING_MAX: usize = 64;
/// The `PATH` of a program that was not started from a shell.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A server that was started.
struct Server {
    child: Child,
    input: ChildStdin,
    lines: Receiver<Vec<u8>>,
    /// The beginning of its standard error, in pieces.
    stderr: Receiver<Vec<u8>>,
    asked: u64,
    /// The first thing on standard output that is no message of the protocol.
    noise: Option<String>,
}

impl Server {
    /// Starts a program as a client starts it that is no shell's child: few variables, and no folder.
    fn start(launch: &Launch) -> io::Result<Self> {
        let mut command = Command::new(&launch.program);
        command.env_clear().env("PATH", PATH);
        if let Some(home) = environment::folder_in("HOME") {
            command.env("HOME", home);
        }
        command
            .envs(&launch.env)
            .args(&launch.args)
            .current_dir("/");
        platform::in_own_group(&mut command);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (to_lines, lines) = sync_channel(LINES_WAITING_MAX);
        let output = child.stdout.take().expect("it is piped");
        thread::spawn(move || pass_on(output, &to_lines));
        Ok(Self {
            input: child.stdin.take().expect("it is piped"),
            lines,
            stderr: beginning(child.stderr.take().expect("it is piped")),
            child,
            asked: 0,
            noise: None,
        })
    }

    /// Sends a request, and waits for its answer.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Trouble> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let until = Instant::now() + ANSWER_TIME_MAX;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).map_err(|error| match error {
                RecvTimeoutError::Timeout => Trouble::Late,
                RecvTimeoutError::Disconnected => Trouble::Ended,
            })?;
            let message = self.message(&line);
            // A request or notification of the server's own has a method, and is no answer.
            if message.get("method").is_some() || message["id"] != json!(id) {
                continue;
            }
            return message.get("result").cloned().ok_or_else(|| {
                let said = message["error"]["message"].as_str();
                Trouble::Refused(said.unwrap_or("an error without a message").into())
            });
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Trouble> {
        // A line is far shorter than what a pipe holds, so this does not block.
        let sent = writeln!(self.input, "{message}").and_then(|()| self.input.flush());
        sent.map_err(|_| Trouble::Ended)
    }

    /// Reads a line as a message of the protocol; `Null` if it is none.
    fn message(&mut self, line: &[u8]) -> Value {
        let message: Value = serde_json::from_slice(line).unwrap_or_default();
        if message["jsonrpc"] == json!("2.0") {
            return message;
        }
        if line.len() as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n") {
            self.noise
                .get_or_insert_with(|| "a line without an end".into());
        } else if !line.iter().all(u8::is_ascii_whitespace) {
            let text = String::from_utf8_lossy(line);
            self.noise.get_or_insert_with(|| text.trim_end().to_owned());
        }
        Value::Null
    }

    /// Closes the server's input, gives it a time, and ends it and what it started. Returns its exit
    /// status, if it ended by itself, and its standard error.
    fn end(mut self, time: Duration) -> (Option<ExitStatus>, String) {
        drop(self.input);
        let until = Instant::now() + time;
        while !platform::has_ended(&self.child) && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        let by_itself = platform::has_ended(&self.child);
        let status = platform::end_group(&mut self.child).filter(|_| by_itself);
        // Processes that the program left behind may still write, and are not waited for.
        let until = Instant::now() + LAST_WORDS_TIME_MAX;
        let left = || until.saturating_duration_since(Instant::now());
        let mut stderr = Vec::new();
        while let Ok(piece) = self.stderr.recv_timeout(left()) {
            stderr.extend(piece);
        }
        (status, String::from_utf8_lossy(&stderr).into_owned())
    }
}

/// Passes the lines of a server on, and longer ones in pieces.
fn pass_on(output: impl Read, to: &SyncSender<Vec<u8>>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let read = output
            .by_ref()
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line);
        // Nobody listens any more when the conversation is over.
        if !matches!(read, Ok(1..)) || to.send(line).is_err() {
            return;
        }
    }
}

/// Reads a program's standard error to its end, so that the program does not wait, and passes its
/// beginning on.
fn beginning(mut errors: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (to_pieces, pieces) = channel();
    thread::spawn(move || {
        let mut room = STDERR_BYTES_MAX;
        let mut piece = [0; 1024];
        while let Ok(read @ 1..) = errors.read(&mut piece) {
            let kept = read.min(room);
            room -= kept;
            if kept > 0 {
                // Whoever does not wait for the end has heard enough.
                let _ = to_pieces.send(piece[..kept].to_vec());
            }
        }
    });
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw shared:1 - ext4 /dev/vda rw
40 22 0:44 / /home rw - nfs4 server:/home rw
41 40 0:45 / /home/me/local rw - ext4 /dev/vdb rw
42 22 0:46 / /mnt/with\\040space rw shared:3 master:1 - fuse.sshfs me@there:/ rw
43 22 0:47 / /over rw - ext4 /dev/vdc rw
44 43 0:48 / /over rw - cifs //there/share rw
";

    #[test]
    fn the_innermost_mount_decides() {
        let kind = |path| remote_kind(MOUNTS, Path::new(path));
        assert_eq!(kind("/home/me/store"), Some("nfs4"));
        assert_eq!(kind("/home/me/local/store"), None);
        assert_eq!(kind("/mnt/with space/store"), Some("fuse.sshfs"));
        assert_eq!(kind("/over/store"), Some("cifs"));
        assert_eq!(kind("/homely/store"), None);
        assert_eq!(kind("/var/store"), None);
        assert_eq!(remote_kind("", Path::new("/x")), None);
    }

    #[test]
    fn folders_of_services_are_known_by_name() {
        let found = |path| synced(Path::new(path)).is_some();
        assert!(found("/home/me/Dropbox/store"));
        assert!(found("/home/me/Dropbox (Work)/x/store"));
        assert!(found(
            "/Users/me/Library/Mobile Documents/com~apple~CloudDocs/store"
        ));
        assert!(found("/Users/me/Library/CloudStorage/OneDrive-Work/store"));
        assert!(!found("/home/me/mydropbox/store"));
        assert!(!found("/home/me/.local/share/agekeep/store"));
    }
}
