//! `schedule`: prints the files that have the machine sweep every day, for a person to read and put
//! in place.

mod k8s;
mod systemd;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agekeep::crypto::keyfile::{self, Unattended, Unlock};
use agekeep::error::{Error, KeyFault, Result};
use agekeep::remote;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::args::Global;
use crate::environment::{self, Places, absolute, one_line};
use crate::{output, platform, terminal};

pub(crate) use k8s::{CopyKeys, copy_keys};

/// The exit codes of a sweep after which another try changes nothing: a person has to look.
const HOPELESS: [u8; 7] = [2, 7, 9, 10, 12, 13, 14];

#[derive(Subcommand)]
pub(crate) enum Scheduler {
    /// Print a service that sweeps once, and a timer that starts it every day
    Systemd(systemd::Systemd),
    /// Print a line for the crontab of the store's owner
    Cron(Cron),
    /// Print a daily Kubernetes job, with the keys from a Secret and the store on a volume
    K8s(k8s::K8s),
}

#[derive(Args)]
pub(crate) struct Cron {
    /// Sync before the sweep and after it; without the first there is no sweep
    #[arg(long)]
    sync: bool,
}

/// A text, and the file it is for.
struct ScheduleFile {
    name: String,
    text: String,
}

pub(crate) fn run(global: &Global, form: &Scheduler) -> Result<u8> {
    let sweep = Sweep::find(global, form)?;
    let (name, files, afterwards) = match form {
        Scheduler::Systemd(args) => (
            "systemd",
            systemd::files(&sweep, args)?,
            systemd::afterwards(&sweep, args),
        ),
        Scheduler::Cron(args) => ("cron", vec![file(&sweep, args.sync)], String::new()),
        Scheduler::K8s(args) => ("k8s", vec![k8s::file(&sweep, args)?], String::new()),
    };
    for sentence in all(&sweep, form) {
        output::warn(&sentence);
    }
    if global.json {
        let files: Vec<_> = files
            .iter()
            .map(|file| json!({"name": file.name, "text": file.text}))
            .collect();
        output::json(&json!({"schema": "agekeep.schedule/1", "form": name, "files": files}))?;
    } else {
        let mut pieces: Vec<_> = files
            .iter()
            .map(|file| format!("# {}\n{}", file.name, file.text))
            .collect();
        pieces.extend(Some(afterwards).filter(|text| !text.is_empty()));
        output::text(&pieces.join("\n"))?;
    }
    Ok(0)
}

/// Puts values into a text, in the places that it marks `{{name}}`. A value is not looked through: it
/// may hold such marks itself.
fn filled(text: &str, values: &[(&str, String)]) -> String {
    let mut pieces = text.split("{{");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").expect("each mark has an end");
        let value = values.iter().find(|(known, _)| *known == name);
        let (_, value) = value.expect("each mark has a value");
        out.extend([value, rest]);
    }
    out
}

// A line for a crontab.

/// The longest line that every cron takes, in bytes.
const LINE_BYTES_MAX: usize = 998;

/// A time when little else is going on, at no round minute.
const TIME: &str = "17 3 * * *";

fn file(sweep: &Sweep, sync: bool) -> ScheduleFile {
    let mut command = terminal::command(&sweep.variables(), &sweep.expire());
    let mut form = vec!["cron"];
    if sync {
        let sync = terminal::command(&sweep.variables(), &sweep.command(&["sync"]));
        command = format!("{{ {sync} && {command} && {sync}; }}");
        form.push("--sync");
    }
    let line = format!("{TIME} {} | logger -t agekeep-expire", escaped(&command));
    let long = if line.len() > LINE_BYTES_MAX {
        "# Some crons do not accept a line this long. If yours does not, put the command into a \
         script.\n"
    } else {
        ""
    };
    let text = filled(
        include_str!("schedule/crontab.txt"),
        &[
            ("again", sweep.schedule(&form)),
            ("status", sweep.status()),
            ("long", long.into()),
            ("line", line),
        ],
    );
    ScheduleFile {
        name: format!("the crontab of {}", sweep.account()),
        text,
    }
}

/// Escapes a command for a crontab, where a bare `%` ends it, and `\%` is a `%`. Crons do not agree
/// on what a backslash does before another one, so no backslash of the command's own stands before
/// another or before a `%`: an empty word between them changes nothing for the shell. Both are
/// always in quotes.
fn escaped(command: &str) -> String {
    let mut line = String::with_capacity(command.len());
    for c in command.chars() {
        if matches!(c, '%' | '\\') && line.ends_with('\\') {
            line.push_str("''");
        }
        if c == '%' {
            line.push('\\');
        }
        line.push(c);
    }
    line
}

// The command to run every day, and the paths of everything it needs.

/// The actor in the event record, if the caller names none.
const ACTOR: &str = "sweeper";

/// A sweep, with absolute paths only: its starter has no folder and no variables to go by.
struct Sweep {
    program: String,
    places: Places,
    /// The value for `XDG_STATE_HOME`.
    state_base: Option<String>,
    passphrase_file: Option<String>,
    /// Options of the event record, with their values.
    recorded: Vec<(&'static str, String)>,
    /// The folders of this machine that it syncs with.
    hosts: Vec<String>,
}

impl Sweep {
    /// Finds the sweep of the store that the options and the environment name, with the keys they
    /// name.
    fn find(global: &Global, form: &Scheduler) -> Result<Self> {
        let hosts = match form {
            Scheduler::Systemd(args) if args.sync => remote::list(&environment::store(global)?)?,
            _ => Vec::new(),
        };
        let hosts = hosts.iter().map(|host| {
            let path = host.url.strip_prefix("file://").unwrap_or(&host.url);
            path.starts_with('/').then(|| path.to_owned())
        });
        let option =
            |what, path: Option<PathBuf>| path.map(|path| absolute(what, &path)).transpose();
        let recorded = [
            ("--actor", Some(global.actor.as_deref().unwrap_or(ACTOR))),
            ("--session", global.session.as_deref()),
            ("--reason", global.reason.as_deref()),
        ];
        let recorded = recorded
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .map(|(name, value)| Ok((name, one_line(name, value)?)));
        // A passphrase given in place of its file is not shown.
        let passphrase_file = environment::passphrase_file().filter(|path| path.is_file());
        Ok(Self {
            program: absolute("the path of this program", &environment::program()?)?,
            places: Places::find(global)?,
            hosts: hosts.flatten().collect(),
            state_base: option("the path of the state folder", environment::state_base())?,
            passphrase_file: option("the path in AGEKEEP_PASSPHRASE_FILE", passphrase_file)?,
            recorded: recorded.collect::<Result<_>>()?,
        })
    }

    /// Returns the command that sweeps.
    fn expire(&self) -> Vec<String> {
        self.recorded_command(&["expire"])
    }

    /// Returns the command that prints the same again, with its variables.
    fn schedule(&self, form: &[&str]) -> String {
        let verb: Vec<_> = ["schedule"].iter().chain(form).copied().collect();
        terminal::command(&self.variables(), &self.recorded_command(&verb))
    }

    /// Returns the command that fails if the last sweep is too long ago: a day, and the time by
    /// which its start may be late.
    fn status(&self) -> String {
        let words = self.command(&["status", "--max-age", "26h"]);
        terminal::command(&self.variables(), &words)
    }

    fn recorded_command(&self, verb: &[&str]) -> Vec<String> {
        // Option and value are one word, so that a value that begins with `-` is no option.
        let recorded = self.recorded.iter();
        let recorded = recorded.map(|(name, value)| format!("{name}={value}"));
        let mut words = self.command(verb);
        words.extend(recorded);
        words
    }

    /// Makes a command of this program about the store.
    fn command(&self, verb: &[&str]) -> Vec<String> {
        let mut words = vec![self.program.clone()];
        words.extend(verb.iter().map(|&word| word.to_owned()));
        words.extend(self.places.options());
        words
    }

    /// Returns the variables it goes by.
    fn variables(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("XDG_STATE_HOME", &self.state_base),
            ("AGEKEEP_PASSPHRASE_FILE", &self.passphrase_file),
        ];
        let set = all.into_iter();
        set.filter_map(|(name, value)| Some((name, value.clone()?)))
            .collect()
    }

    /// Returns the folder for what agekeep remembers of stores.
    fn state(&self) -> Option<String> {
        self.state_base
            .as_ref()
            .map(|base| format!("{base}/agekeep"))
    }

    /// Returns the paths it writes to.
    fn written(&self) -> Vec<String> {
        let mut paths = vec![self.places.store.clone()];
        paths.extend(self.places.keyring.clone());
        paths.extend(self.state());
        paths.extend(self.hosts.iter().cloned());
        paths
    }

    /// Returns the paths it only reads.
    fn read(&self) -> Vec<String> {
        let mut paths = vec![
            self.program.clone(),
            self.places.identity.clone(),
            self.places.signing_key.clone(),
        ];
        paths.extend(self.passphrase_file.clone());
        paths
    }

    /// Returns the account that the store belongs to, or will.
    fn account(&self) -> String {
        let owner = [&self.places.store, &self.places.identity]
            .into_iter()
            .find_map(platform::owner)
            .map(|owner| owner.to_string());
        let Some(owner) = owner else {
            let plain = |c: char| c.is_alphanumeric() || "_-.@".contains(c);
            let user = environment::user().filter(|name| name.chars().all(plain));
            return user.unwrap_or_else(|| "agekeep".into());
        };
        let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let name = accounts.lines().find_map(|line| {
            let mut fields = line.split(':');
            let (name, id) = (fields.next()?, fields.nth(1)?);
            (id == owner).then(|| name.to_owned())
        });
        name.unwrap_or(owner)
    }
}

// The obstacles that would keep a sweep from working when nobody is there to see it.

/// Lists what a person should know before putting it in place, one sentence each.
fn all(sweep: &Sweep, form: &Scheduler) -> Vec<String> {
    let mut found = keys(sweep);
    if let Scheduler::K8s(args) = form {
        found.extend(args.obstacle());
        return found;
    }
    found.extend(missing(sweep));
    found.extend(owners(sweep));
    if let Scheduler::Systemd(args) = form {
        found.extend(systemd::obstacle(sweep, args));
    }
    found
}

/// Lists the keys that need a person, or cannot be used at all.
fn keys(sweep: &Sweep) -> Vec<String> {
    let nobody: Arc<dyn Unlock> = Arc::new(Unattended);
    let identity = keyfile::unlock_identity(Path::new(&sweep.places.identity), &nobody).map(drop);
    let mut found: Vec<_> = [identity, signing_key(sweep, &nobody)]
        .into_iter()
        .filter_map(|read| said_of(sweep, &read.err()?))
        .collect();
    if environment::passphrase_file().is_some() && sweep.passphrase_file.is_none() {
        found.push("AGEKEEP_PASSPHRASE_FILE names no file, so it is left out".into());
    }
    if environment::passphrase_command().is_some() {
        found.push(
            "AGEKEEP_PASSPHRASE_COMMAND is left out, because your session does not exist at night; \
             use AGEKEEP_PASSPHRASE_FILE"
                .into(),
        );
    }
    found
}

/// Checks that the signing key is in its file, because there is no ssh-agent.
fn signing_key(sweep: &Sweep, nobody: &Arc<dyn Unlock>) -> Result<()> {
    let path = Path::new(&sweep.places.signing_key);
    let key = keyfile::find_signing_key(path, None, nobody)?;
    if keyfile::is_public(&key.to_file()) {
        return Err(Error::BadKeyFile {
            what: "signing key",
            path: path.into(),
            why: "it is a public key, and there is no ssh-agent to sign".into(),
        });
    }
    Ok(())
}

fn said_of(sweep: &Sweep, error: &Error) -> Option<String> {
    match error {
        Error::Key(KeyFault::NoPassphrase { .. }) if sweep.passphrase_file.is_some() => None,
        Error::Key(KeyFault::NoPassphrase { wanted, .. }) => Some(format!(
            "{wanted} has a passphrase, and nobody is there to enter it: set \
             AGEKEEP_PASSPHRASE_FILE to a file that holds it and run this command again, or use a \
             key without one"
        )),
        error => Some(format!("the sweep would fail now: {error}")),
    }
}

/// Lists what is not where it should be.
fn missing(sweep: &Sweep) -> Vec<String> {
    let store = Path::new(&sweep.places.store);
    let mut found = Vec::new();
    match fs::metadata(store.join("HEAD")) {
        Ok(_) if sweep.places.keyring.is_none() && !store.join("keyring").is_dir() => found.push(
            "the keyring is not in the store: name its folder with --keyring, so that the sweep \
             can use it"
                .into(),
        ),
        Ok(_) => {}
        Err(_) => found.push(format!("there is no store at {} yet", sweep.places.store)),
    }
    if !Path::new(&sweep.program).is_file() {
        found.push(format!("there is no program at {} any more", sweep.program));
    }
    match sweep.state() {
        Some(state) if !Path::new(&state).is_dir() => found.push(format!(
            "the folder {state}, which remembers the newest event of the store, does not exist \
             yet; `agekeep status` creates it"
        )),
        Some(_) => {}
        None => found.push(
            "neither XDG_STATE_HOME nor HOME is an absolute path, so the sweep cannot remember the \
             newest event of the store"
                .into(),
        ),
    }
    found
}

/// Lists the files of another account than the store's, which the sweep runs under.
fn owners(sweep: &Sweep) -> Vec<String> {
    let Some(account) = platform::owner(&sweep.places.store) else {
        return Vec::new();
    };
    let mut paths = vec![
        sweep.places.identity.clone(),
        sweep.places.signing_key.clone(),
    ];
    paths.extend(sweep.passphrase_file.clone());
    paths.extend(sweep.places.keyring.clone());
    paths.extend(sweep.state());
    let strange = |path: &String| platform::owner(path).is_some_and(|owner| owner != account);
    paths.retain(strange);
    paths
        .iter()
        .map(|path| {
            format!(
                "{path} belongs to another account than the store; the sweep runs under the \
                 store's account and may not be able to use it"
            )
        })
        .collect()
}
