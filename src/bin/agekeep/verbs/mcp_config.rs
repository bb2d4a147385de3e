//! `mcp-config`: prints the configuration with which an MCP client uses a store, and tests it. It
//! never edits a client's files.

mod diagnose;
mod entries;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use agekeep::crypto::keyfile::{self, Unattended, Unlock};
use agekeep::error::{Error, KeyFault, Result};
use agekeep::redact::Redactor;
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::Global;
use crate::environment::{self, Places, absolute, one_line};
use crate::platform::TEMPORARY_FOLDERS;
use crate::{output, terminal};

/// Most characters of a server's name: clients put it in front of the names of tools.
const NAME_CHARACTERS_MAX: usize = 40;

/// The seconds a client is to wait for the server, where its file can say so: a passphrase takes
/// some.
const STARTUP_SECONDS: u32 = 20;

/// The fault when a key needs a passphrase and there is none.
const LOCKED: &str = "a key is behind a passphrase, and an MCP client cannot type one";

/// The fix for it.
const GIVE_IT: &str = "set AGEKEEP_PASSPHRASE_FILE to a file of yours alone that holds \
                                  it, or AGEKEEP_PASSPHRASE_COMMAND to a command that prints it, \
                                  and print this again; or use a key without a passphrase";

#[derive(Args)]
pub(crate) struct McpConfig {
    /// The MCP client that will use the store
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(KNOWN.clients.iter().map(|client| client.id.as_str())))]
    client: String,
    /// The name of the server in the client
    #[arg(long, value_name = "NAME", default_value = "agekeep")]
    name: String,
    #[command(flatten)]
    offer: OfferArgs,
    /// Start the server as the client would, test it, and print what is wrong; the test's view is
    /// recorded
    #[arg(long)]
    diagnose: bool,
}

// The options for what the server offers.
#[derive(Args)]
struct OfferArgs {
    /// Offer one tool, `memory`, instead of one tool for each command
    #[arg(long, conflicts_with_all = ["tools", "admin"])]
    single_tool: bool,
    /// Also offer these tools
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ["read-write", "restore"])]
    tools: Vec<String>,
    /// Also offer the administrator's tools: expire, redact and erase
    #[arg(long)]
    admin: bool,
    /// Offer only tools that change no memory
    #[arg(long, conflicts_with = "admin")]
    read_only: bool,
}

/// What is known of clients and file systems; the file explains it.
static KNOWN: LazyLock<KnownSetups> = LazyLock::new(|| {
    toml::from_str(include_str!("mcp_config/known.toml")).expect("every run of the verb reads it")
});

#[derive(Deserialize)]
struct KnownSetups {
    synced: Vec<String>,
    network: Vec<String>,
    clients: Vec<Client>,
}

/// A client that starts MCP servers.
#[derive(Deserialize)]
struct Client {
    id: String,
    title: String,
    table: String,
    #[serde(default)]
    toml: bool,
    #[serde(default)]
    says_type: bool,
    #[serde(default)]
    expands: bool,
    #[serde(default)]
    adds: Vec<String>,
    files: Vec<ClientFile>,
}

/// A place where a client keeps servers.
#[derive(Deserialize)]
struct ClientFile {
    at: Vec<String>,
    #[serde(default)]
    macos: Vec<String>,
    reach: String,
    #[serde(default)]
    project: bool,
}

impl Client {
    /// Lists its files, with their paths. For a user who works in the home folder, a project's file
    /// can be the user's own, and is listed once.
    fn places(&self) -> Vec<(&ClientFile, PathBuf)> {
        let all = self.files.iter();
        let mut all: Vec<_> = all.filter_map(|file| Some((file, file.path()?))).collect();
        let own = all.iter().filter(|(file, _)| file.is_own());
        let own: Vec<PathBuf> = own.map(|(_, path)| path.clone()).collect();
        all.retain(|(file, path)| file.is_own() || !own.contains(path));
        all
    }
}

impl ClientFile {
    /// Returns its path; `None` without a home folder.
    fn path(&self) -> Option<PathBuf> {
        let is_other = cfg!(target_os = "macos") && !self.macos.is_empty();
        let mut places = if is_other { &self.macos } else { &self.at }.iter();
        places.find_map(|place| match in_variable(place) {
            Some((variable, below)) => Some(environment::folder_in(variable)?.join(below)),
            None => Some(environment::here().join(place)),
        })
    }

    /// Tells whether it is the user's own, and came with no project.
    fn is_own(&self) -> bool {
        in_variable(&self.at[0]).is_some()
    }
}

/// Splits the place of a file into its variable and what is below the folder that it names.
fn in_variable(place: &str) -> Option<(&str, &str)> {
    place.strip_prefix('$')?.split_once('/')
}

pub(crate) fn run(global: &Global, args: &McpConfig) -> Result<u8> {
    check_name(&args.name)?;
    let mut clients = KNOWN.clients.iter();
    let client = clients.find(|client| client.id == args.client);
    let client = client.expect("only ids of clients are accepted");
    let (launch, remarks) = Launch::find(global, &args.offer, client)?;
    if args.diagnose {
        return diagnose::run(global, client, &args.name, &launch, &remarks);
    }
    let text = text(client, &args.name, &launch);
    let command = command(client, &args.name, &launch);
    let mut files = client.places();
    files.retain(|(file, _)| !file.project);
    if global.json {
        let file = |(file, path): &(&ClientFile, PathBuf)| json!({"path": path.to_string_lossy(), "reach": file.reach});
        output::json(&json!({
            "schema": "agekeep.mcp-config/1",
            "client": client.id,
            "name": args.name,
            "block": text,
            "files": files.iter().map(file).collect::<Vec<_>>(),
            "command": command,
            "warnings": remarks,
        }))?;
        return Ok(0);
    }
    for sentence in &remarks {
        output::warn(sentence);
    }
    output::note(&directions(client, &args.name, &files, command));
    output::text(&text)?;
    Ok(0)
}

/// Refuses a name that a client would not take, or that a tool's name could not begin with.
fn check_name(name: &str) -> Result<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    // A name that begins with a dash would be an option to the command that adds it.
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(fits)
        && name.len() <= NAME_CHARACTERS_MAX;
    if is_name {
        return Ok(());
    }
    Err(Error::invalid(
        "--name",
        format!(
            "it must have at most {NAME_CHARACTERS_MAX} letters a-z, digits, - and _, and begin \
             with a letter or digit"
        ),
    ))
}

/// A server, as an entry in a client's file.
#[derive(Serialize)]
struct ServerEntry<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    command: &'a str,
    args: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    startup_timeout_sec: Option<u32>,
    // The last field, because TOML puts tables after everything else.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env: &'a BTreeMap<String, String>,
}

/// Makes the text for the client's file.
fn text(client: &Client, name: &str, launch: &Launch) -> String {
    let server = ServerEntry {
        kind: client.says_type.then_some("stdio"),
        command: &launch.program,
        args: &launch.args,
        startup_timeout_sec: client.toml.then_some(STARTUP_SECONDS),
        env: &launch.env,
    };
    let whole = BTreeMap::from([(&client.table, BTreeMap::from([(name, server)]))]);
    if client.toml {
        return toml::to_string(&whole).expect("texts have a TOML form");
    }
    serde_json::to_string_pretty(&whole).expect("texts have a JSON form") + "\n"
}

/// Makes the shell command that adds the server, if the client has one.
fn command(client: &Client, name: &str, launch: &Launch) -> Option<String> {
    if client.adds.is_empty() {
        return None;
    }
    let mut words = client.adds.clone();
    // The name stands before the variables: an option that takes several values would take it too.
    words.push(name.into());
    for (variable, value) in &launch.env {
        words.extend(["--env".into(), format!("{variable}={value}")]);
    }
    words.extend(["--".into(), launch.program.clone()]);
    words.extend_from_slice(&launch.args);
    Some(terminal::command(&[], &words))
}

/// Writes the directions for the user.
fn directions(
    client: &Client,
    name: &str,
    files: &[(&ClientFile, PathBuf)],
    command: Option<String>,
) -> String {
    let (title, table) = (&client.title, &client.table);
    let which = match files {
        [_] => "this file",
        _ => "one of these files",
    };
    let mut lines = vec![format!(
        "For {title}: put this into {which}. If the file exists already, add {name:?} to its {table:?}."
    )];
    let file =
        |(file, path): &(&ClientFile, PathBuf)| format!("  {}  {}", path.display(), file.reach);
    lines.extend(files.iter().map(file));
    lines.extend(command.map(|command| format!("Or let {title} do it:\n  {command}")));
    if files.len() > 1 {
        lines.push("The paths are those of this machine: do not commit a project's file.".into());
    }
    lines.push(format!(
        "Then restart {title}. To test the configuration, run the same command with --diagnose."
    ));
    lines.join("\n")
}

// The way a client starts the server: the program, its arguments, and the variables it has to be
// given.

/// A program to start. Nothing in it is a secret.
#[derive(PartialEq)]
struct Launch {
    program: String,
    args: Vec<String>,
    env: BTreeMap<String, String>,
}

impl Launch {
    /// Finds the server of the store that the options and the environment name; also returns what a
    /// person should know about it, one sentence each.
    fn find(global: &Global, offer: &OfferArgs, client: &Client) -> Result<(Self, Vec<String>)> {
        let places = Places::find(global)?;
        let (env, warnings) = variables(global, &places)?;
        let program = absolute("the path of this program", &environment::program()?)?;
        let mut said: Vec<String> = remark(&program).into_iter().collect();
        said.extend(warnings);
        let args = words(global, offer, client, &places)?;
        let launch = Self { program, args, env };
        if client.expands && launch.has_variables() {
            // The client would start something else.
            let title = &client.title;
            return Err(Error::invalid(
                "a path or name with `${` in it",
                format!("{title} would replace it by a variable; use a link with another name"),
            ));
        }
        Ok((launch, said))
    }

    /// Tells whether there is something in it that many clients take for a variable.
    fn has_variables(&self) -> bool {
        let words = [&self.program].into_iter().chain(&self.args);
        let mut words = words.chain(self.env.values());
        words.any(|word| word.contains("${"))
    }
}

/// Warns of a program that may soon be replaced or gone.
fn remark(program: &str) -> Option<String> {
    let path = Path::new(program);
    let folder = path.parent().unwrap_or(path);
    // Every build folder has these, whatever it is called.
    if folder.join(".fingerprint").is_dir() && folder.join("deps").is_dir() {
        return Some(format!(
            "{program} is in a build folder of cargo, and the next build or `cargo clean` replaces \
             or removes it: install the program with `cargo install --path .`, and run the \
             installed one"
        ));
    }
    let is_below = |folder: PathBuf| {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        path.starts_with(&folder) || real(path).starts_with(real(&folder))
    };
    let folders = TEMPORARY_FOLDERS.iter().map(PathBuf::from);
    let mut folders = folders.chain([environment::temporary_folder()]);
    folders.any(is_below).then(|| {
        format!(
            "{program} is in a temporary folder, which the system empties: move the program \
             elsewhere, and run it there"
        )
    })
}

fn words(
    global: &Global,
    offer: &OfferArgs,
    client: &Client,
    places: &Places,
) -> Result<Vec<String>> {
    let mut words = vec!["mcp".to_owned()];
    words.extend(places.options());
    // Option and value are one word, so that a value that begins with `-` is no option.
    let actor = global.actor.as_deref().unwrap_or(&client.id);
    words.push(format!("--actor={}", one_line("--actor", actor)?));
    if let Some(session) = &global.session {
        words.push(format!("--session={}", one_line("--session", session)?));
    }
    let switches = [
        ("--single-tool", offer.single_tool),
        ("--admin", offer.admin),
        ("--read-only", offer.read_only),
    ];
    let switches = switches.into_iter().filter(|(_, on)| *on);
    words.extend(switches.map(|(switch, _)| switch.to_owned()));
    if !offer.tools.is_empty() {
        words.push(format!("--tools={}", offer.tools.join(",")));
    }
    Ok(words)
}

/// Returns the variables that the server needs and a client does not have, and what else to say of
/// the keys.
fn variables(global: &Global, places: &Places) -> Result<(BTreeMap<String, String>, Vec<String>)> {
    let mut env = BTreeMap::new();
    let usual = environment::folder_in("HOME").map(|home| home.join(".local/state"));
    if let Some(state) = environment::state_base().filter(|state| Some(state) != usual.as_ref()) {
        let state = absolute("the path of the state folder", &state)?;
        env.insert("XDG_STATE_HOME".into(), state);
    }
    if !Path::new(&places.store).join("HEAD").is_file() {
        let why = format!(
            "there is no store at {} yet: `agekeep init` makes one",
            places.store
        );
        return Ok((env, vec![why]));
    }
    let (locked, mut said) = keys(places);
    if locked {
        match passphrase()? {
            Some((name, value)) => drop(env.insert(name.into(), value)),
            None => said.push(format!("{LOCKED}: {GIVE_IT}")),
        }
    }
    if locked && global.passphrase_fd.is_some() {
        said.push("no client passes a descriptor on, so --passphrase-fd is left out".into());
    }
    Ok((env, said))
}

/// Returns the variable that names the source of the passphrase, and never the passphrase.
fn passphrase() -> Result<Option<(&'static str, String)>> {
    let (file, command) = ("AGEKEEP_PASSPHRASE_FILE", "AGEKEEP_PASSPHRASE_COMMAND");
    // A passphrase given in place of its file is not shown.
    if let Some(path) = environment::passphrase_file().filter(|path| path.is_file()) {
        let path = absolute("the path in AGEKEEP_PASSPHRASE_FILE", &path)?;
        return Ok(Some((file, path)));
    }
    let Some(text) = environment::passphrase_command() else {
        return Ok(None);
    };
    let invalid = |why: &str| Error::invalid(command, why);
    let text = text.to_str().ok_or_else(|| invalid("it is not UTF-8"))?;
    let scanned = Redactor::default().redact("command", &text.into());
    if !scanned.is_ok_and(|redacted| redacted.findings().is_empty()) {
        return Err(invalid(
            "there is a secret in it, and what is printed here is no place for one",
        ));
    }
    Ok(Some((command, one_line(command, text)?)))
}

/// Tells whether a key needs a passphrase, and what else keeps the keys from being used.
fn keys(places: &Places) -> (bool, Vec<String>) {
    let nobody: Arc<dyn Unlock> = Arc::new(Unattended);
    let identity = keyfile::unlock_identity(Path::new(&places.identity), &nobody).map(|_| false);
    let path = Path::new(&places.signing_key);
    let signing = keyfile::find_signing_key(path, None, &nobody);
    let signing = signing.map(|key| keyfile::is_public(&key.to_file()));
    let in_agent = matches!(signing, Ok(true));
    let (mut locked, mut said) = (false, Vec::new());
    for error in [identity, signing].into_iter().filter_map(Result::err) {
        match error {
            Error::Key(KeyFault::NoPassphrase { .. }) => locked = true,
            error => said.push(format!("as it is now the server cannot work: {error}")),
        }
    }
    if in_agent {
        said.push(format!(
            "{} is a public key, so the ssh-agent signs: a client that was started without \
             SSH_AUTH_SOCK cannot reach it, and then nothing can be read or written",
            places.signing_key
        ));
    }
    (locked, said)
}
