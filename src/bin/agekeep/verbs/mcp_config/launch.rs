//! How a client starts the server: the program, its words, and the variables it has to be given.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agekeep::crypto::keyfile::{self, Unattended, Unlock};
use agekeep::error::{Error, KeyFault, Result};
use agekeep::redact::Redactor;
use agekeep::redact::config::Redaction;

use crate::args::Global;
use crate::environment;
use crate::environment::{absolute, one_line};
use crate::verbs::mcp_config::Offer;
use crate::verbs::mcp_config::client::Client;

/// A program to start. Nothing in it is a secret.
pub(super) struct Launch {
    pub(super) program: String,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
}

/// The keys and the store that a server is about.
struct Places {
    store: String,
    identity: String,
    signing_key: String,
    keyring: Option<String>,
}

impl Launch {
    /// The server of the store that the options and the environment name; also what a person should
    /// know about it, one sentence each.
    pub(super) fn find(
        global: &Global,
        offer: &Offer,
        client: &Client,
    ) -> Result<(Self, Vec<String>)> {
        let keyring = environment::keyring(global)?;
        let keyring = keyring.map(|path| absolute("the keyring's path", &path));
        let places = Places {
            store: absolute("the store's path", &environment::store(global)?)?,
            identity: absolute("the identity's path", &environment::identity(global)?)?,
            signing_key: absolute("the signing key's path", &environment::signing_key(global)?)?,
            keyring: keyring.transpose()?,
        };
        let (env, warnings) = variables(global, &places)?;
        let launch = Self {
            program: absolute("the path of this program", &environment::program()?)?,
            args: words(global, offer, client, &places)?,
            env,
        };
        if client.expands {
            launch.refuse_variables(client)?;
        }
        let mut said = launch.remarks();
        said.extend(warnings);
        Ok((launch, said))
    }

    /// A client that replaces `${…}` would start something else.
    fn refuse_variables(&self, client: &Client) -> Result<()> {
        if !self.has_variables() {
            return Ok(());
        }
        Err(Error::Invalid {
            what: "a path or name with `${` in it",
            why: format!(
                "{} puts a variable in its place; a link with another name can stand for it",
                client.title
            ),
        })
    }

    /// Whether there is something in it that many clients take for a variable.
    pub(super) fn has_variables(&self) -> bool {
        let mut words = [&self.program]
            .into_iter()
            .chain(&self.args)
            .chain(self.env.values());
        words.any(|word| word.contains("${"))
    }

    /// What may soon not be true any more.
    fn remarks(&self) -> Vec<String> {
        let program = Path::new(&self.program);
        let folder = program.parent().unwrap_or(program);
        // Every build folder has these, whatever it is called.
        let built = folder.join(".fingerprint").is_dir() && folder.join("deps").is_dir();
        let is_temporary = |folder: PathBuf| {
            let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
            program.starts_with(&folder) || real(program).starts_with(real(&folder))
        };
        let folders = [
            environment::temporary_folder(),
            "/tmp".into(),
            "/var/tmp".into(),
        ];
        let mut said = Vec::new();
        if built {
            said.push(format!(
                "{} is where cargo builds, and the next build or `cargo clean` replaces or removes it: \
                 put the program in place with `cargo install --path .`, and print this again \
                 from there",
                self.program
            ));
        } else if folders.into_iter().any(is_temporary) {
            said.push(format!(
                "{} is in a folder that is emptied at times: put the program elsewhere, and print \
                 this again from there",
                self.program
            ));
        }
        said
    }
}

fn words(global: &Global, offer: &Offer, client: &Client, places: &Places) -> Result<Vec<String>> {
    let mut words = vec!["mcp".to_owned()];
    let named = [
        ("--store", Some(&places.store)),
        ("--identity", Some(&places.identity)),
        ("--signing-key", Some(&places.signing_key)),
        ("--keyring", places.keyring.as_ref()),
    ];
    for (option, path) in named {
        words.extend(
            path.into_iter()
                .flat_map(|path| [option.to_owned(), path.clone()]),
        );
    }
    // In one word: a value that begins with `-` is no option then.
    let actor = global.actor.as_deref().unwrap_or(client.id);
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

/// The variables that the server needs and a client does not have, and what else to say of the keys.
fn variables(global: &Global, places: &Places) -> Result<(BTreeMap<String, String>, Vec<String>)> {
    let mut env = BTreeMap::new();
    let mut said = Vec::new();
    let usual = environment::folder_in("HOME").map(|home| home.join(".local/state"));
    if let Some(state) = environment::state_base().filter(|state| Some(state) != usual.as_ref()) {
        let state = absolute("the path of the state folder", &state)?;
        env.insert("XDG_STATE_HOME".into(), state);
    }
    if !Path::new(&places.store).join("HEAD").is_file() {
        said.push(format!(
            "there is no store at {} yet: `agekeep init` makes one",
            places.store
        ));
        return Ok((env, said));
    }
    let (locked, faults) = keys(places);
    said.extend(faults);
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

/// What is wrong where a key wants a passphrase, and there is none.
pub(super) const LOCKED: &str = "a key is behind a passphrase, and an MCP client cannot type one";

/// What to do about it.
pub(super) const GIVE_IT: &str = "set AGEKEEP_PASSPHRASE_FILE to a file of yours alone that holds \
                                  it, or AGEKEEP_PASSPHRASE_COMMAND to a command that prints it, \
                                  and print this again; or use a key without a passphrase";

/// Where the passphrase comes from, as a variable. Never the passphrase.
fn passphrase() -> Result<Option<(&'static str, String)>> {
    let (file, command) = ("AGEKEEP_PASSPHRASE_FILE", "AGEKEEP_PASSPHRASE_COMMAND");
    // A passphrase in the place of its file is not shown.
    if let Some(path) = environment::passphrase_file().filter(|path| path.is_file()) {
        let path = absolute("the path in AGEKEEP_PASSPHRASE_FILE", &path)?;
        return Ok(Some((file, path)));
    }
    let Some(text) = environment::passphrase_command() else {
        return Ok(None);
    };
    let invalid = |why: &str| Error::Invalid {
        what: command,
        why: why.into(),
    };
    let text = text.to_str().ok_or_else(|| invalid("it is not UTF-8"))?;
    if holds_secret(text)? {
        return Err(invalid(
            "there is a secret in it, and what is printed here is no place for one",
        ));
    }
    Ok(Some((command, one_line(command, text)?)))
}

fn holds_secret(text: &str) -> Result<bool> {
    let redactor = Redactor::of_policy(&Redaction::default())?;
    let scanned = redactor.redact("command", &text.into());
    Ok(!scanned.is_ok_and(|redacted| redacted.findings().is_empty()))
}

/// Whether a key wants a passphrase; and what else keeps the keys from being used.
fn keys(places: &Places) -> (bool, Vec<String>) {
    let nobody: Arc<dyn Unlock> = Arc::new(Unattended);
    let identity = keyfile::unlock_identity(Path::new(&places.identity), &nobody).map(|_| false);
    let path = Path::new(&places.signing_key);
    let signing = keyfile::find_signing_key(path, None, &nobody);
    let signing = signing.map(|key| keyfile::is_public(&key.to_file()));
    let in_agent = matches!(signing, Ok(true));
    let (mut locked, mut said) = (false, Vec::new());
    for read in [identity, signing] {
        match read {
            Ok(_) => {}
            Err(Error::Key(KeyFault::NoPassphrase { .. })) => locked = true,
            Err(error) => said.push(format!("as it is now the server cannot work: {error}")),
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
