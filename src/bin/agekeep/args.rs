//! The command line: parses the arguments, calls the library and shows the result.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agekeep::error::{Error, Result};
use agekeep::event::Context;
use agekeep::id::MemoryId;
use agekeep::memory_tool::path::ROOT;
use agekeep::store::{Clock, Keys, Store};
use chrono::{DateTime, Utc};
use clap::{Args, Parser, Subcommand};

#[cfg(feature = "http")]
use crate::ui;
use crate::verbs::{
    accept, audit_kit, checkpoint, erase, export, history, import, init, mcp_config, members,
    memory, policy, prompt, receipt, redact, report, retention, scan, schedule, signers, status,
    undo, verify,
};
use crate::{environment, mcp, output, terminal};

/// The memory of an AI agent: every command a signed commit, every byte encrypted with age.
#[derive(Parser)]
#[command(name = "agekeep", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Verb,
}

const EXIT_CODES: &str = "\
Exit codes: 0 ok, 1 failed, 2 usage, 3 incomplete (verify), 4 not found, 5 already exists,
6 precondition failed, 7 denied, 9 limit exceeded, 10 no store here, 11 locked, 12 no key decrypts
it, 13 integrity failure, 14 findings, 15 merge conflict, 16 I/O or disk full.";

/// The exit code of a command line that does not parse.
pub(crate) const USAGE: u8 = 2;

/// Options every verb takes.
#[derive(Args)]
#[command(next_help_heading = "Global options")]
#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
pub(crate) struct Global {
    /// The store's folder [default: agekeep/store in the user's data folder]
    #[arg(
        short = 'C',
        long,
        env = "AGEKEEP_STORE",
        global = true,
        value_name = "DIR"
    )]
    pub(crate) store: Option<PathBuf>,
    /// The age identity that decrypts the store [default: agekeep/identity.txt in the user's
    /// configuration folder]
    #[arg(
        short,
        long,
        env = "AGEKEEP_IDENTITY",
        global = true,
        value_name = "FILE"
    )]
    pub(crate) identity: Option<PathBuf>,
    /// The file descriptor to read the identity's passphrase from
    // Read as text: an error must not show what may be a passphrase in the wrong place.
    #[arg(
        long,
        env = "AGEKEEP_PASSPHRASE_FD",
        global = true,
        value_name = "N",
        hide_env_values = true
    )]
    pub(crate) passphrase_fd: Option<String>,
    /// The SSH key that signs commits. If it is a public key or has a passphrase, ssh-agent signs
    /// [default: `agekeep/signing_key` in the user's configuration folder]
    #[arg(long, env = "AGEKEEP_SIGNING_KEY", global = true, value_name = "FILE")]
    pub(crate) signing_key: Option<PathBuf>,
    /// The folder of the keyring [default: the folder in the policy, or keyring in the store's
    /// folder]
    #[arg(long, env = "AGEKEEP_KEYRING", global = true, value_name = "DIR")]
    pub(crate) keyring: Option<PathBuf>,
    /// Who gives the command; recorded in the event [default: `AGEKEEP_ACTOR`, or your user name].
    /// `log` and `revert` select the events of this actor
    // The variable is not read by clap: it must never narrow what `log` shows.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) actor: Option<String>,
    /// The session; recorded in the event. `log` and `revert` select the events of this session
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Why you give the command; recorded in the event
    #[arg(long, global = true, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Print JSON: one object, or one object a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Do not print which store this is at its first use; `compact` prints only problems
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// When to print in colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: output::Color,
    /// Do not start a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Use this time (RFC 3339) instead of the machine's clock, in dry runs and explanations. Only
    /// a store made by `init --trial` records it
    #[arg(long, global = true, value_name = "TIME")]
    pub(crate) now: Option<DateTime<Utc>>,
    /// Whether nobody is asked anything, also where there is a terminal.
    #[arg(skip)]
    pub(crate) unattended: bool,
}

/// The verbs. Because of `defer`, clap builds only the arguments of the verb that was asked for,
/// and a doc comment on their type would replace the line of help here.
#[derive(Subcommand)]
#[command(defer = true)]
enum Verb {
    /// Create a store, and the keys to it if you have none
    Init(init::Init),
    /// Show where the store is, what is in it, who can read it, and any problems
    Status(status::StatusArgs),
    /// Show who did what and when, newest first
    Log(history::Log),
    /// Show who read a memory and when, newest first
    Access(history::Access),
    /// Show an event and its changes, or a file at a revision (REV:PATH)
    Show(history::Show),
    /// Show the changes between two revisions, or the last change
    Diff(history::Diff),
    /// Show who wrote each line of a file, when, in which event and session
    ///
    /// `<=` before an event means: the line was written then or earlier, and the earlier versions
    /// are erased.
    Blame(history::BlameArgs),
    /// Search for a pattern in all memories, or in all of history
    Grep(history::Grep),
    /// Restore a file or directory to an earlier state, also a deleted one
    Restore(undo::Restore),
    /// Undo events, and keep later changes by others
    Revert(undo::Revert),
    /// Restore the whole store to an earlier state
    Rollback(undo::Rollback),
    /// Show a file with line numbers, or list a directory
    #[command(visible_aliases = ["cat", "ls"])]
    View(memory::ViewArgs),
    /// Create a file; its text comes from --text, --file or standard input
    Create(memory::Create),
    /// Replace a text that occurs exactly once in a file
    StrReplace(memory::StrReplace),
    /// Insert text after a line; the text comes from --text, --file or standard input
    Insert(memory::Insert),
    /// Delete a file, or a directory with everything in it
    #[command(visible_alias = "rm")]
    Delete(memory::Delete),
    /// Move a file or a directory
    #[command(visible_alias = "mv")]
    Rename(memory::Rename),
    /// Print a file unchanged, or every path (`memory_read`)
    Read(memory::Read),
    /// Write a whole file, new or existing (`memory_write`); the text comes as for `create`
    Write(memory::Write),
    /// Execute memory-tool calls: one JSON object a line in, one answer a line out
    Tool(memory::ToolArgs),
    /// Serve the memory to MCP clients, over standard input and output or HTTP
    Mcp(mcp::Mcp),
    /// Serve pages to look at the store with a browser on this machine, and to undo
    #[cfg(feature = "http")]
    Ui(ui::UiArgs),
    /// Import memories from a folder, an SDK's memory, Claude Code's memory or an export
    Import(import::Import),
    /// Export memories as plaintext, to a folder or as JSON Lines; recorded
    Export(export::ExportArgs),
    /// Print a signed statement of where history ends now, for an auditor to keep
    Checkpoint(checkpoint::CheckpointArgs),
    /// Create a folder for an auditor: a mirror of the store without the keys of memories, and a
    /// signed checkpoint
    AuditKit(audit_kit::AuditKitArgs),
    /// Accept a history that was rolled back, or another store in its place; needs --reason;
    /// recorded
    AcceptRollback,
    /// List, add and remove the people who can read the store
    Recipients(members::Recipients),
    /// Export the keys that decrypt one memory with stock age
    Keys(members::KeysArgs),
    /// Sweep: remove expired memories, and erase those past their grace if the policy says so
    Expire(retention::Expire),
    /// Hold memories: protect them from expiry, erasure and deletion, with a reason
    Hold(retention::HoldArgs),
    /// Erase memories, also from history, by destroying their keys
    Erase(erase::Erase),
    /// Show and check the receipts of erasures
    Receipt(receipt::ReceiptArgs),
    /// List what may cause problems later, each with its fix
    Doctor,
    /// Replace the keys of memories, for example if somebody may know them
    Rekey(members::RekeyArgs),
    /// Show, explain or change the policy
    Policy(policy::PolicyArgs),
    /// List, add and remove the keys that may write
    Signers(signers::SignersArgs),
    /// List the redaction rules, test them on a text, or redact a stored memory
    Redact(redact::Redact),
    /// Print a systemd unit, a crontab line or a Kubernetes job that sweeps every day
    Schedule(schedule::Schedule),
    /// Print the configuration with which an MCP client uses this store, or test it
    McpConfig(mcp_config::McpConfig),
    /// Print instructions about the memory for a model's system prompt
    Prompt(prompt::Prompt),
    /// Search for secrets in all memories and all of history, by today's rules
    Scan(scan::Scan),
    /// Compact the store's files into one pack
    Compact(status::Compact),
    /// Report on a period, as a page for people, and prove that such a file was not changed
    Report(report::ReportArgs),
    /// Verify all of history: signatures, roles, records, content and keys
    Verify(verify::Verify),
}

/// Parses a path: one that does not begin with a slash is below `/memories`, in every verb.
#[allow(clippy::unnecessary_wraps)] // the form that clap wants
pub(crate) fn memory_path(text: &str) -> Result<String, Infallible> {
    let as_it_is = text.is_empty() || text.starts_with('/');
    Ok(if as_it_is {
        text.to_owned()
    } else {
        format!("{ROOT}/{text}")
    })
}

/// Parses a path, or a memory id.
pub(crate) fn path_or_id(text: &str) -> Result<String, Infallible> {
    match MemoryId::from_hex(text) {
        Some(_) => Ok(text.to_owned()),
        None => memory_path(text),
    }
}

/// Parses a glob over whole paths, a path, or a memory id. A glob that begins with a wildcard may
/// fit a whole path already.
pub(crate) fn memory_glob(text: &str) -> Result<String, Infallible> {
    if text.starts_with(['*', '?', '[', '{']) {
        return Ok(text.to_owned());
    }
    path_or_id(text)
}

/// Runs the command line of this process.
pub(crate) fn run() -> ExitCode {
    terminal::keep_memory_private();
    let Cli { global, verb } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    let as_json = global.json;
    let done = match verb {
        Verb::Init(args) => init::run(&global, &args),
        Verb::Status(args) => status::run(&global, &args),
        Verb::Log(args) => history::log(&global, &args),
        Verb::Access(args) => history::access(&global, &args),
        Verb::Show(args) => history::show(&global, &args),
        Verb::Diff(args) => history::diff(&global, &args),
        Verb::Blame(args) => history::blame(&global, &args),
        Verb::Grep(args) => history::grep(&global, &args),
        Verb::Restore(args) => undo::restore(&global, &args),
        Verb::Revert(args) => undo::revert(&global, &args),
        Verb::Rollback(args) => undo::rollback(&global, &args),
        Verb::View(args) => memory::view(&global, &args),
        Verb::Create(args) => memory::run(&global, &args),
        Verb::StrReplace(args) => memory::run(&global, &args),
        Verb::Insert(args) => memory::run(&global, &args),
        Verb::Delete(args) => memory::run(&global, &args),
        Verb::Rename(args) => memory::run(&global, &args),
        Verb::Read(args) => memory::run(&global, &args),
        Verb::Write(args) => memory::run(&global, &args),
        Verb::Tool(args) => memory::tool(&global, &args),
        Verb::Mcp(args) => mcp::run(global, &args),
        #[cfg(feature = "http")]
        Verb::Ui(args) => ui::run(global, &args),
        Verb::Import(args) => import::run(&global, &args),
        Verb::Export(args) => export::run(&global, &args),
        Verb::Checkpoint(args) => checkpoint::checkpoint(&global, &args),
        Verb::AuditKit(args) => audit_kit::run(&global, &args),
        Verb::AcceptRollback => accept::accept_rollback(&global),
        Verb::Recipients(args) => members::recipients(&global, &args),
        Verb::Keys(args) => members::export_keys(&global, &args),
        Verb::Expire(args) => retention::run(&global, &args),
        Verb::Hold(args) => retention::hold(&global, &args),
        Verb::Erase(args) => erase::erase(&global, &args),
        Verb::Receipt(args) => receipt::run(&global, &args),
        Verb::Doctor => status::doctor(&global),
        Verb::Rekey(args) => members::rekey(&global, &args),
        Verb::Policy(args) => policy::run(&global, &args),
        Verb::Signers(args) => signers::run(&global, &args),
        Verb::Redact(args) => redact::run(&global, &args),
        Verb::Schedule(args) => schedule::run(&global, &args),
        Verb::McpConfig(args) => mcp_config::run(&global, &args),
        Verb::Prompt(args) => prompt::run(&global, &args),
        Verb::Scan(args) => scan::run(&global, &args),
        Verb::Compact(args) => status::compact(&global, &args),
        Verb::Report(args) => report::run(&global, &args),
        Verb::Verify(args) => verify::run(&global, &args),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::error(&error, as_json);
            ExitCode::from(error.exit_code())
        }
    }
}

/// Answers a command line that does not parse, or that asks for help.
fn misused(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::{
        DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion,
    };
    let code = if error.use_stderr() { USAGE } else { 0 };
    match error.kind() {
        DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand => {
            // If the output is closed, there is nobody left to tell.
            let _ = error.print();
        }
        _ => output::usage(&error.to_string(), environment::typed_json()),
    }
    ExitCode::from(code)
}

/// Makes the store's keyring private to its owner, wherever it is, and returns the store.
pub(crate) fn protected(store: Store) -> Store {
    for sentence in store.restrict_keyring_permissions() {
        output::warn(&sentence);
    }
    store
}

impl Global {
    /// Opens the store for commands, which are signed.
    pub(crate) fn open(&self) -> Result<Store> {
        let path = self.protected_store()?;
        self.open_at(&path, environment::keys(self)?, true)
    }

    /// Prints which store this is, the first time one is seen at its place.
    pub(crate) fn introduce(&self, store: &Store) {
        if let Some(first) = store.first_use().filter(|_| !self.quiet) {
            output::note(&format!("note: {first}"));
        }
    }

    /// Opens the store for a look, which is recorded if there is a signing key.
    pub(crate) fn open_to_look(&self) -> Result<Store> {
        let path = self.protected_store()?;
        self.open_at(&path, environment::keys_to_look(self)?, true)
    }

    /// Opens the store for a verb that records nothing.
    pub(crate) fn open_for_reading(&self) -> Result<Store> {
        let path = self.protected_store()?;
        self.open_at(&path, environment::keys_to_look(self)?, false)
    }

    /// Opens the store. Only a store for trials records a time that the caller makes up; any other
    /// one is opened without a key to record by, or not at all.
    fn open_at(&self, path: &Path, mut keys: Keys, records: bool) -> Result<Store> {
        if self.now.is_some() && !self.is_trial(path, &keys, keys.state.clone())? {
            if records && keys.signing_key.is_some() {
                return Err(Error::NotATrial);
            }
            keys.signing_key = None;
        }
        let store = Store::open(path, keys, self.clock())?;
        self.introduce(&store);
        Ok(protected(store))
    }

    /// Tells whether the store is for trials. It is opened without a signing key, because opening
    /// can finish and record an erasure.
    pub(crate) fn is_trial(
        &self,
        path: &Path,
        keys: &Keys,
        state: Option<PathBuf>,
    ) -> Result<bool> {
        let to_look = Keys {
            identity: keys.identity.clone(),
            signing_key: None,
            state,
            keyring: keys.keyring.clone(),
        };
        let store = Store::open(path, to_look, self.clock())?;
        self.introduce(&store);
        Ok(store.is_trial())
    }

    /// Finds the store's folder and makes it private to its owner.
    pub(crate) fn protected_store(&self) -> Result<PathBuf> {
        let path = self.existing_store()?;
        for sentence in Store::restrict_permissions(&path) {
            output::warn(&sentence);
        }
        Ok(path)
    }

    /// Finds the store's folder. A missing store is the likelier mistake, and is reported before a
    /// missing key.
    pub(crate) fn existing_store(&self) -> Result<PathBuf> {
        let path = environment::store(self)?;
        match std::fs::metadata(path.join("HEAD")) {
            Err(source) if source.kind() == std::io::ErrorKind::PermissionDenied => {
                let doing = "enter";
                Err(Error::Io {
                    doing,
                    path,
                    source,
                })
            }
            Err(_) if !path.join("keyring").is_dir() => Err(Error::NoStore { path }),
            _ => Ok(path),
        }
    }

    pub(crate) fn clock(&self) -> Clock {
        match self.now {
            Some(now) => Box::new(move || now),
            None => Box::new(Utc::now),
        }
    }

    /// Returns the actor, if `--actor` or the environment names one.
    pub(crate) fn agent(&self) -> Option<String> {
        self.actor.clone().or_else(environment::actor)
    }

    /// Returns the context of a command given on the command line.
    pub(crate) fn context(&self) -> Context {
        let mut context = Context::default();
        context.actor = self.agent().or_else(environment::user);
        context.session.clone_from(&self.session);
        context.reason.clone_from(&self.reason);
        context.door = Some("cli");
        context
    }

    /// Returns the context for a verb in which `--actor` and `--session` select events.
    pub(crate) fn reader_context(&self) -> Context {
        let mut context = self.context();
        context.actor = environment::actor().or_else(environment::user);
        context.session = None;
        context
    }
}
