//! The text for a client's file, and what to do with it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;

use crate::verbs::mcp_config::client::{Client, File, Format};
use crate::verbs::mcp_config::launch::Launch;
use crate::verbs::mcp_config::shell;

/// How long a client is to wait for the server, where it can be told: a passphrase takes seconds.
const STARTUP_SECONDS: u32 = 20;

/// A server, as clients write it down.
#[derive(Serialize)]
struct Server<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    command: &'a str,
    args: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    startup_timeout_sec: Option<u32>,
    // The last, because TOML has tables behind everything else.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env: &'a BTreeMap<String, String>,
}

/// What belongs into the client's file.
pub(super) fn text(client: &Client, name: &str, launch: &Launch) -> String {
    let server = Server {
        kind: client.says_type.then_some("stdio"),
        command: &launch.program,
        args: &launch.args,
        startup_timeout_sec: (client.format == Format::Toml).then_some(STARTUP_SECONDS),
        env: &launch.env,
    };
    let whole = BTreeMap::from([(client.table, BTreeMap::from([(name, server)]))]);
    match client.format {
        Format::Json => {
            let text = serde_json::to_string_pretty(&whole).expect("texts have a JSON form");
            text + "\n"
        }
        Format::Toml => toml::to_string(&whole).expect("texts have a TOML form"),
    }
}

/// The command that adds the server, where the client has one, for a shell.
pub(super) fn command(client: &Client, name: &str, launch: &Launch) -> Option<String> {
    if client.adds.is_empty() {
        return None;
    }
    let mut words: Vec<String> = client.adds.iter().map(|&word| word.into()).collect();
    // The name before the variables: an option that takes several values would take it too.
    words.push(name.into());
    for (variable, value) in &launch.env {
        words.extend(["--env".into(), format!("{variable}={value}")]);
    }
    words.extend(["--".into(), launch.program.clone()]);
    words.extend(launch.args.iter().cloned());
    Some(shell::command(&[], &words))
}

/// The files it can go into, each with where it counts.
pub(super) fn files(client: &Client) -> Vec<serde_json::Value> {
    let files = by_hand(client).into_iter();
    files
        .map(|(file, path)| json!({"path": path.to_string_lossy(), "reach": file.reach}))
        .collect()
}

fn by_hand(client: &Client) -> Vec<(&'static File, PathBuf)> {
    let mut places = client.places();
    places.retain(|(file, _)| file.is_for_hands());
    places
}

/// What a person does with it.
pub(super) fn directions(client: &Client, name: &str, command: Option<String>) -> String {
    let files = by_hand(client);
    let which = if files.len() == 1 {
        "this file"
    } else {
        "one of these files"
    };
    let mut lines = vec![format!(
        "For {}: put this into {which}. Where it is there already, add {name:?} to its {:?}.",
        client.title, client.table
    )];
    lines.extend(
        files
            .iter()
            .map(|(file, path)| format!("  {}  {}", path.display(), file.reach)),
    );
    if let Some(command) = command {
        lines.push(format!("Or have {} do it:\n  {command}", client.title));
    }
    if files.len() > 1 {
        lines.push(
            "The paths are this machine's: what is for a folder is nothing to commit.".into(),
        );
    }
    lines.push(format!(
        "Start {} anew then. Whether it will work, say the same with --diagnose.",
        client.title
    ));
    lines.join("\n")
}
