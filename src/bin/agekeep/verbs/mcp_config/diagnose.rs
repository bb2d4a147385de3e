//! `mcp-config --diagnose`: checks the client's files, and whether the server works when it is
//! started as the client starts it.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

use agekeep::error::Result;
use agekeep::redact::Redactor;
use agekeep::redact::config::Redaction;
use agekeep::store::Store;
use serde_json::{Value, json};

use crate::args::Global;
use crate::verbs::mcp_config::client::{self, Client, ConfiguredServer};
use crate::verbs::mcp_config::session::{
    ANSWER_SECONDS_MAX, Session, StderrCapture, Trouble, bare_command,
};
use crate::verbs::mcp_config::{GIVE_IT, LOCKED, Launch};
use crate::{environment, output, platform};

/// The version of the protocol that is asked for.
const PROTOCOL: &str = "2025-11-25";
/// The path that the trial views, which is always there.
const VIEWED: &str = "/memories";

/// Runs all checks and prints each; returns 0 if all is well.
pub(super) fn run(
    global: &Global,
    client: &Client,
    name: &str,
    printed: &Launch,
    remarks: &[String],
) -> Result<u8> {
    let mut checks: Vec<Check> = remarks
        .iter()
        .map(|text| Check::note("setup", text.as_str()))
        .collect();
    let own = in_files(client, name, printed, &mut checks);
    let launch = own.as_ref().unwrap_or(printed);
    checks.push(Check::ok(
        "trying",
        format!(
            "{}: {}",
            if own.is_some() {
                "the entry as it stands"
            } else {
                "what mcp-config prints"
            },
            shown(&launch.program)
        ),
    ));
    checks.extend(check_file_system(launch));
    checks.extend(of_store(launch));
    talk(launch, &mut checks);
    print(global, client, name, &checks)?;
    Ok(u8::from(checks.iter().any(Check::is_fault)))
}

fn check_file_system(launch: &Launch) -> Option<Check> {
    let store = launch.store()?;
    remark(&store).map(|text| Check::note("file system", text))
}

/// Looks into the client's files. Returns the entry that the client would start, if it is in a file
/// of the user's own: an entry that came with somebody else's folder is not run.
fn in_files(
    client: &Client,
    name: &str,
    printed: &Launch,
    checks: &mut Vec<Check>,
) -> Option<Launch> {
    let mut decided = false;
    let mut own = None;
    for (file, path) in client.places() {
        let found = client::look(client, file, &path, name);
        let is_entry = matches!(found, ConfiguredServer::Entry(_));
        checks.extend(about_file(client, &path, name, printed, &found));
        if let ConfiguredServer::Entry(launch) = found {
            // agekeep does not know what a client puts in place of a variable.
            let is_whole = !client.expands || !launch.has_variables();
            let can_be_tried = is_whole && (file.is_own() || launch.is_same_as(printed));
            if !decided && can_be_tried {
                own = Some(launch);
            }
        }
        decided |= is_entry;
    }
    if !decided {
        checks.push(Check::note(
            "file",
            format!("no file of {} has an entry {name:?} yet", client.title),
        ));
    }
    own
}

fn about_file(
    client: &Client,
    path: &Path,
    name: &str,
    printed: &Launch,
    found: &ConfiguredServer,
) -> Option<Check> {
    let path = shown(&path.to_string_lossy());
    let again = format!(
        "add what `agekeep mcp-config --client {}` prints with the same options",
        client.id
    );
    let check = match found {
        ConfiguredServer::Absent | ConfiguredServer::Nothing => return None,
        ConfiguredServer::Broken(why) => Check::fault(
            "file",
            format!("{path} cannot be read: {}", shown(why)),
            format!(
                "correct the file; {} finds no server in it now",
                client.title
            ),
        ),
        ConfiguredServer::Elsewhere => Check::fault(
            "file",
            format!("{path} has an entry {name:?} that starts no program"),
            format!("{again}, or choose another --name"),
        ),
        ConfiguredServer::Entry(launch) if launch.is_same_as(printed) => Check::ok(
            "file",
            format!("{path} has the entry {name:?}, and it is up to date"),
        ),
        ConfiguredServer::Entry(launch) if !launch.is_same_program(printed) => Check::fault(
            "file",
            format!(
                "{path} has an entry {name:?} that starts another program: {}",
                shown(&launch.program)
            ),
            &again,
        ),
        ConfiguredServer::Entry(launch) if !launch.is_same_store(printed) => Check::fault(
            "file",
            format!(
                "{path} has an entry {name:?} that is about another store: {}",
                shown(&launch.store().unwrap_or_default().to_string_lossy())
            ),
            format!("{again}, or name that store with --store"),
        ),
        ConfiguredServer::Entry(_) => Check::note(
            "file",
            format!(
                "{path} has the entry {name:?}, with the same program and store and other options"
            ),
        ),
    };
    Some(check)
}

/// Starts the server, talks to it as a client does, and ends it.
fn talk(launch: &Launch, checks: &mut Vec<Check>) {
    let begun = Instant::now();
    let home = environment::folder_in("HOME");
    let home = home.as_ref().map(|home| home.as_os_str());
    let mut session = match Session::start(launch, home) {
        Ok(session) => session,
        Err(error) => return checks.push(of_start(launch, &error)),
    };
    let troubled = converse(&mut session, begun, checks);
    if let Some(noise) = session.noise() {
        checks.push(Check::fault(
            "stdout",
            format!(
                "it prints something that is not a message of the protocol: {}",
                shown(noise)
            ),
            "find what prints that, such as a script around the program or a shell's profile, and \
             have it print to standard error",
        ));
    }
    let ending = session.end();
    if let Some((step, trouble)) = troubled {
        checks.push(of_trouble(step, &trouble, ending, launch));
    }
}

type Troubled = Option<(&'static str, Trouble)>;

fn converse(session: &mut Session, begun: Instant, checks: &mut Vec<Check>) -> Troubled {
    let hello = json!({
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "agekeep mcp-config", "version": env!("CARGO_PKG_VERSION")},
    });
    match session.ask("initialize", &hello) {
        Ok(answer) => checks.extend(of_hello(&answer, PROTOCOL, begun.elapsed())),
        Err(trouble) => return Some(("initialize", trouble)),
    }
    let listed = session.tell("notifications/initialized");
    let tools = match listed.and_then(|()| session.ask("tools/list", &json!({}))) {
        Ok(tools) => tools,
        Err(trouble) => return Some(("tools/list", trouble)),
    };
    let names: Vec<_> = tools["tools"].as_array().into_iter().flatten().collect();
    let names: Vec<_> = names
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let (tool, arguments) = if names.contains(&"memory_view") {
        ("memory_view", json!({"path": VIEWED}))
    } else if names.contains(&"memory") {
        ("memory", json!({"command": "view", "path": VIEWED}))
    } else {
        checks.push(Check::fault(
            "tools/list",
            "it offers neither the tool memory_view nor the tool memory",
            "have the entry start `agekeep mcp`",
        ));
        return None;
    };
    checks.push(Check::ok("tools/list", format!("{} tools", names.len())));
    let answer = session.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
    match answer.and_then(|answer| viewed(&answer)) {
        Ok(()) => checks.push(Check::ok(
            "tools/call",
            format!("{tool} showed {VIEWED}, which is on record as a look of the actor it names"),
        )),
        Err(trouble) => return Some(("tools/call", trouble)),
    }
    None
}

/// Checks that a tool showed something.
fn viewed(answer: &Value) -> Result<(), Trouble> {
    let pieces = answer["content"].as_array().into_iter().flatten();
    let text: Vec<_> = pieces.filter_map(|piece| piece["text"].as_str()).collect();
    if answer["isError"] == json!(true) || text.is_empty() {
        return Err(Trouble::Answered(text.join("\n")));
    }
    Ok(())
}

// The steps of a trial: how each went, and what to do if it did not go well.

/// Most characters that are shown of another program's output.
const SHOWN_CHARACTERS_MAX: usize = 1_000;

/// The time from which people notice that a client waits.
const SLOW: Duration = Duration::from_secs(1);

/// A step of the trial.
pub(super) struct Check {
    step: &'static str,
    state: StepState,
    what: String,
    fix: Option<String>,
}

/// The result of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StepState {
    Ok,
    /// Something to know, which keeps nothing from working.
    Note,
    Fault,
}

impl Check {
    pub(super) fn ok(step: &'static str, what: impl Into<String>) -> Self {
        Self::new(step, StepState::Ok, what.into(), None)
    }

    pub(super) fn note(step: &'static str, what: impl Into<String>) -> Self {
        Self::new(step, StepState::Note, what.into(), None)
    }

    pub(super) fn fault(
        step: &'static str,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self::new(step, StepState::Fault, what.into(), Some(fix.into()))
    }

    fn new(step: &'static str, state: StepState, what: String, fix: Option<String>) -> Self {
        Self {
            step,
            state,
            what,
            fix,
        }
    }

    pub(super) fn is_fault(&self) -> bool {
        self.state == StepState::Fault
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
        "It does not work yet."
    })
}

impl StepState {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Fault => "fault",
        }
    }
}

/// Makes another program's output fit to be shown: without secrets, control characters and great
/// length.
pub(super) fn shown(text: &str) -> String {
    let text: String = text.trim().chars().take(SHOWN_CHARACTERS_MAX).collect();
    let redactor = Redactor::of_policy(&Redaction::default());
    let redacted = redactor.ok().and_then(|redactor| {
        let redacted = redactor.redact("said", &text.as_str().into()).ok()?;
        Some(redacted.text().as_str().to_owned())
    });
    let text = redacted.unwrap_or_else(|| "(its output cannot be shown)".into());
    output::escaped(&text).into_owned()
}

/// Explains why a program could not be started.
pub(super) fn of_start(launch: &Launch, error: &io::Error) -> Check {
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
    Check::fault("start", what, fix)
}

/// Explains why an answer did not come.
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
            "wait until that process has finished, or stop it; a client would wait too",
        ),
        Trouble::Late => Check::fault(
            step,
            format!("there was no answer within {ANSWER_SECONDS_MAX} seconds; {said}"),
            "check that the program is `agekeep mcp`, and that no wrapper consumes its input",
        ),
        Trouble::Ended => {
            let status =
                status.map_or_else(|| "stopped talking".into(), |s| format!("ended ({s})"));
            Check::fault(
                step,
                format!("it {status} before it answered; {said}"),
                "follow its message, or let the entry start `agekeep mcp` of this version",
            )
        }
        Trouble::Answered(text) => Check::fault(
            step,
            format!("it answers: {}\n{said}", shown(text)),
            "follow its message; problems of the store are listed above",
        ),
        Trouble::Refused(message) => Check::fault(
            step,
            format!("it answers that it cannot: {}", shown(message)),
            "have the entry start `agekeep mcp` of this version",
        ),
    }
}

/// Tells whether another process holds the store's lock at this moment.
fn is_locked(launch: &Launch) -> bool {
    launch
        .store()
        .is_some_and(|store| Store::is_locked(store.as_ref()))
}

/// Checks what a server says of itself, and how long it took.
pub(super) fn of_hello(answer: &Value, protocol: &str, took: Duration) -> Vec<Check> {
    let told = |value: &Value| shown(value.as_str().unwrap_or("nothing"));
    let (spoken, server) = (told(&answer["protocolVersion"]), &answer["serverInfo"]);
    let (name, version) = (told(&server["name"]), told(&server["version"]));
    let ours = env!("CARGO_PKG_VERSION");
    let mut checks = Vec::new();
    if spoken != protocol {
        checks.push(Check::fault(
            "initialize",
            format!("it speaks version {spoken} of the protocol instead of {protocol}"),
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
            format!("it starts slowly: it answered {after}"),
        ));
    }
    checks
}

/// Has this program open the store under the same conditions, because it says best what is wrong;
/// `None` if that takes too long, because the server will show it.
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

/// Makes the command that looks at the store with the keys that a server is started with.
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

/// Explains why a store does not open, for a person who configures a client.
fn of_error(launch: &Launch, error: &Value) -> Check {
    let told = |key: &str, otherwise: &str| shown(error[key].as_str().unwrap_or(otherwise));
    let sources = ["AGEKEEP_PASSPHRASE_FILE", "AGEKEEP_PASSPHRASE_COMMAND"];
    let is_told = sources.iter().any(|name| launch.env.contains_key(*name));
    let hint = told("hint", "run `agekeep status` to see the problem");
    match error["code"].as_str() {
        Some("no_passphrase") if !is_told => Check::fault("store", LOCKED, GIVE_IT),
        Some("missing_plugin") => Check::fault(
            "store",
            told("message", "a plugin is missing"),
            format!("{hint}: with PATH among the variables (env) of the entry"),
        ),
        _ => Check::fault("store", told("message", "it cannot be opened"), hint),
    }
}

/// Runs a command to its end; returns whether it succeeded, and its standard error, or `None` if it
/// took too long.
fn carry_out(launch: &Launch) -> Option<(bool, String)> {
    let home = environment::folder_in("HOME");
    let mut child = bare_command(launch, home.as_ref().map(|home| home.as_os_str()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let said = StderrCapture::on(child.stderr.take().expect("it is piped"));
    let until = Instant::now() + Duration::from_secs(ANSWER_SECONDS_MAX);
    while !platform::has_ended(&child) && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    let by_itself = platform::has_ended(&child);
    let status = platform::end_group(&mut child)?;
    by_itself.then(|| (status.success(), said.all()))
}

// The ground that a store stands on: a folder that a program copies elsewhere, or another machine's
// disk.

/// The beginnings of the names of folders that services copy to their machines.
const SYNCED: [&str; 10] = [
    "Dropbox",
    "OneDrive",
    "Google Drive",
    "GoogleDrive",
    "Mobile Documents",
    "CloudStorage",
    "Nextcloud",
    "ownCloud",
    "pCloud",
    "Syncthing",
];

/// The entry that Syncthing puts into a folder that it copies.
const SYNCTHING_MARK: &str = ".stfolder";

/// The file systems of other machines, by the names that Linux gives them.
const REMOTE: [&str; 12] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "glusterfs",
    "fuse.sshfs",
    "fuse.rclone",
    "davfs",
];

/// Warns of what may go wrong where the store stands, in one sentence.
pub(super) fn remark(store: &Path) -> Option<String> {
    let store = store.canonicalize().unwrap_or_else(|_| store.to_owned());
    if let Some(folder) = synced(&store) {
        return Some(format!(
            "the store is in {}, which is synchronized with other machines while agekeep writes to \
             it; two machines can break its history; keep the store elsewhere",
            folder.display()
        ));
    }
    let mounts = platform::mounts();
    let kind = remote_kind(&mounts, &store)?;
    Some(format!(
        "the store is on a network file system ({kind}), whose locks and flushes may not be \
         reliable; keep the store on a local disk"
    ))
}

/// Finds the folder above a path that is copied elsewhere.
fn synced(store: &Path) -> Option<PathBuf> {
    let is_synced = |folder: &&Path| {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| SYNCED.iter().any(|begin| name.starts_with(begin)))
            || folder.join(SYNCTHING_MARK).exists()
    };
    store.ancestors().find(is_synced).map(Path::to_owned)
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
    let (_, kind) = mounts
        .lines()
        .filter_map(mount)
        .max_by_key(|(length, _)| *length)?;
    REMOTE.contains(&kind).then_some(kind)
}

/// Decodes a path as the kernel lists it: spaces and the like are three octal digits.
fn unescaped(path: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(path.to_owned(), |path, (code, sign)| {
        path.replace(code, sign)
    })
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
