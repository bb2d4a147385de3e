//! `mcp-config --diagnose`: what stands in the client's files, and whether the server works when it is
//! started as the client starts it.

use std::path::Path;
use std::time::Instant;

use agekeep::error::Result;
use serde_json::{Value, json};

use crate::args::Global;
use crate::environment;
use crate::verbs::mcp_config::check::{self, Check, shown};
use crate::verbs::mcp_config::client::Client;
use crate::verbs::mcp_config::entry::{self, Found};
use crate::verbs::mcp_config::ground;
use crate::verbs::mcp_config::launch::Launch;
use crate::verbs::mcp_config::session::{Session, Trouble};

/// The version of the protocol that is asked for.
const PROTOCOL: &str = "2025-11-25";
/// What is viewed: it is always there.
const VIEWED: &str = "/memories";

/// Tries everything, and says each step; 0 if all is well.
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
    checks.extend(on_ground(launch));
    checks.extend(check::of_store(launch));
    talk(launch, &mut checks);
    check::print(global, client, name, &checks)?;
    Ok(u8::from(checks.iter().any(Check::is_fault)))
}

fn on_ground(launch: &Launch) -> Option<Check> {
    let store = launch.store()?;
    ground::remark(&store).map(|text| Check::note("ground", text))
}

/// Looks into the client's files. Answers the entry that the client would start, where it is in a file
/// of the person's own: what came with a folder of somebody else's is not run.
fn in_files(
    client: &Client,
    name: &str,
    printed: &Launch,
    checks: &mut Vec<Check>,
) -> Option<Launch> {
    let mut decided = false;
    let mut own = None;
    for (file, path) in client.places() {
        let found = entry::look(client, file, &path, name);
        let is_entry = matches!(found, Found::Entry(_));
        checks.extend(about_file(client, &path, name, printed, &found));
        if let Found::Entry(launch) = found {
            // What a client puts in place of a variable is not known here.
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
    found: &Found,
) -> Option<Check> {
    let path = shown(&path.to_string_lossy());
    let again = format!(
        "put there what `agekeep mcp-config --client {}` prints with the same options",
        client.id
    );
    let check = match found {
        Found::Absent | Found::Nothing => return None,
        Found::Broken(why) => Check::fault(
            "file",
            format!("{path} cannot be read: {}", shown(why)),
            format!("mend it; {} finds no server in it as it is", client.title),
        ),
        Found::Elsewhere => Check::fault(
            "file",
            format!("{path} has an entry {name:?} that starts no program"),
            format!("{again}, or choose another --name"),
        ),
        Found::Entry(launch) if launch.is_same_as(printed) => Check::ok(
            "file",
            format!("{path} has the entry {name:?}, as it would be printed now"),
        ),
        Found::Entry(launch) if !launch.is_same_program(printed) => Check::fault(
            "file",
            format!(
                "{path} has an entry {name:?} that starts another program: {}",
                shown(&launch.program)
            ),
            &again,
        ),
        Found::Entry(launch) if !launch.is_same_store(printed) => Check::fault(
            "file",
            format!(
                "{path} has an entry {name:?} that is about another store: {}",
                shown(&launch.store().unwrap_or_default().to_string_lossy())
            ),
            format!("{again}, or name that store with --store"),
        ),
        Found::Entry(_) => Check::note(
            "file",
            format!(
                "{path} has the entry {name:?}, with the same program and store and other options"
            ),
        ),
    };
    Some(check)
}

/// Starts the server, says what a client says, and ends it.
fn talk(launch: &Launch, checks: &mut Vec<Check>) {
    let begun = Instant::now();
    let home = environment::folder_in("HOME");
    let home = home.as_ref().map(|home| home.as_os_str());
    let mut session = match Session::start(launch, home) {
        Ok(session) => session,
        Err(error) => return checks.push(check::of_start(launch, &error)),
    };
    let troubled = converse(&mut session, begun, checks);
    if let Some(noise) = session.noise() {
        checks.push(Check::fault(
            "stdout",
            format!(
                "it prints what is no message of the protocol: {}",
                shown(noise)
            ),
            "find what prints that, such as a script around the program or a shell's profile, and \
             have it print to standard error",
        ));
    }
    let ending = session.end();
    if let Some((step, trouble)) = troubled {
        checks.push(check::of_trouble(step, &trouble, ending, launch));
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
        Ok(answer) => checks.extend(check::of_hello(&answer, PROTOCOL, begun.elapsed())),
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

/// Whether a tool showed something.
fn viewed(answer: &Value) -> Result<(), Trouble> {
    let pieces = answer["content"].as_array().into_iter().flatten();
    let text: Vec<_> = pieces.filter_map(|piece| piece["text"].as_str()).collect();
    if answer["isError"] == json!(true) || text.is_empty() {
        return Err(Trouble::Answered(text.join("\n")));
    }
    Ok(())
}
