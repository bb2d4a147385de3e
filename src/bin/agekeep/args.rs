//! The command line: parses the arguments, calls the library and shows the result.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use agekeep::error::{Error, Result};
use agekeep::event::Context;
use agekeep::id::MemoryId;
use agekeep::memory_tool::path::ROOT;
use agekeep::store::{Clock, Keys, Store};
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

#[cfg(feature = "http")]
use crate::ui;
use crate::verbs::memory::MemoryArgs;
use crate::verbs::{
    erase, export, history, import, init, man, mcp_config, members, memory, policy, prompt, proof,
    receipt, redact, remote, renamed, replicas, report, retention, rules, scan, schedule, signers,
    status, tool, undo, verify,
};
use crate::{complete, config, environment, help, mcp, output, platform};

/// The memory of an AI agent, as signed commits encrypted with age.
#[derive(Parser)]
#[command(
    name = "agekeep",
    version,
    max_term_width = 100,
    disable_help_flag = true,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    /// Print help; `agekeep help options` lists the options of every verb
    #[arg(short, long, global = true, action = ArgAction::Help)]
    #[allow(dead_code)] // clap answers it
    help: Option<bool>,
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Verb,
}

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
    /// The folder of the keyring [default: where this machine has it; `agekeep keys move` moves it]
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
    /// Show times in full, in UTC, also on a terminal
    #[arg(long, global = true)]
    pub(crate) utc: bool,
    /// Show below each row of a list what did not fit on the terminal, and more of each event
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Do not start a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Use this time (RFC 3339, or a date) instead of the machine's clock, in dry runs and explanations. Only
    /// a store made by `init --trial` records it
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_now)]
    pub(crate) now: Option<DateTime<Utc>>,
    /// Whether nobody is asked anything, also where there is a terminal.
    #[arg(skip)]
    pub(crate) unattended: bool,
    /// The person that the configuration file names.
    // Apart from `actor`, because it must never narrow what `log` shows, or stand for an agent.
    #[arg(skip)]
    pub(crate) usual_actor: Option<String>,
}

/// The verbs. Because of `defer`, clap builds only the arguments of the verb that was asked for,
/// and a doc comment on their type would replace the line of help here.
#[derive(Subcommand)]
#[command(defer = true)]
enum Verb {
    /// Create a store, and the keys to it if you have none
    Init(init::Init),
    /// Show where the store is, what is in it, and any problems
    Status(status::StatusArgs),
    /// Show who did what and when, newest first
    Log(history::Log),
    /// Show who read a memory and when, newest first
    Access(history::Access),
    /// Show an event and its changes, or a file at a revision
    Show(history::Show),
    /// Show the changes between two revisions, or the last change
    Diff(history::Diff),
    /// Show who wrote each line of a file, when, in which event
    ///
    /// `<=` before an event means: the line was written then or earlier, and the earlier versions
    /// are erased.
    Blame(history::BlameArgs),
    /// Search for a pattern in all memories, or in all of history
    Search(history::SearchArgs),
    /// Restore a file or directory, also a deleted one
    Restore(undo::Restore),
    /// Undo events, and keep later changes by others
    Revert(undo::Revert),
    /// Restore the whole store to an earlier state
    Rollback(undo::Rollback),
    /// Show a file with line numbers, or list a directory
    #[command(visible_aliases = ["cat", "ls"])]
    View(MemoryArgs<memory::ViewArgs>),
    /// Create a file
    Create(MemoryArgs<memory::Create>),
    /// Replace a text that occurs exactly once in a file
    Edit(MemoryArgs<memory::Edit>),
    /// Insert text after a line
    Insert(MemoryArgs<memory::Insert>),
    /// Delete a file, or a directory with everything in it
    #[command(visible_alias = "rm")]
    Delete(MemoryArgs<memory::Delete>),
    /// Move a file or a directory
    #[command(visible_alias = "mv")]
    Rename(MemoryArgs<memory::Rename>),
    /// Write a whole file, new or existing
    Write(MemoryArgs<memory::Write>),
    /// Execute memory-tool calls, a JSON object on each line
    Tool(tool::ToolArgs),
    /// Serve the memory to MCP clients, over pipes or HTTP
    Mcp(mcp::Mcp),
    /// Serve pages to look at the store with a browser
    #[cfg(feature = "http")]
    Ui(ui::UiArgs),
    /// Import memories from a folder, an SDK or an export
    Import(import::Import),
    /// Export memories as plaintext, to a folder or as JSON Lines
    Export(export::ExportArgs),
    /// Print a signed statement of where history ends now
    Checkpoint(proof::CheckpointArgs),
    /// Create a folder with which an auditor verifies the store
    AuditKit(proof::AuditKitArgs),
    /// Accept a rolled-back history, or another store in its place
    AcceptRollback,
    /// List, add and remove the people who can read the store
    Members(VerbGroup<members::MembersVerb>),
    /// Replace, export or back up the keys of memories
    Keys(VerbGroup<members::KeyVerb>),
    /// List, add and remove the git repositories that get copies
    Remote(remote::RemoteArgs),
    /// Send the events that a remote lacks, as ciphertext
    Push(remote::TransferArgs),
    /// Take the events that a remote has, once they are verified
    Pull(remote::PullArgs),
    /// Make a verified copy of the store in a git repository
    Clone(remote::CloneArgs),
    /// Take and send events and keys, and tell the other machines
    Sync(replicas::SyncArgs),
    /// List the machines with a copy, and let them in and out
    Replicas(replicas::ReplicasArgs),
    /// Remove expired memories, and erase those past their grace
    Expire(retention::Expire),
    /// Protect memories from expiry, erasure and deletion
    Hold(VerbGroup<retention::HoldVerb>),
    /// Erase memories, also from history, by destroying their keys
    Erase(erase::Erase),
    /// Show and check the receipts of erasures
    Receipt(VerbGroup<receipt::ReceiptVerb>),
    /// List what may cause problems later, each with its fix
    Doctor,
    /// Show, explain or change the policy
    Policy(VerbGroup<policy::PolicyVerb>),
    /// List, add and remove the keys that may write
    Signers(VerbGroup<signers::SignersVerb>),
    /// Remove a secret from a memory, and erase older versions
    Redact(redact::Redact),
    /// List the redaction rules, or test them on a text
    Rules(VerbGroup<rules::RulesVerb>),
    /// Print a timer, crontab line or job that sweeps every day
    Schedule(VerbGroup<schedule::Scheduler>),
    /// Copy mounted key files to a folder that only this account reads
    #[command(hide = true)] // for the first container of a job that `schedule k8s` prints
    CopyKeys(schedule::CopyKeys),
    /// Print or test the settings for an MCP client
    McpConfig(mcp_config::McpConfig),
    /// Print instructions about the memory for a model
    Prompt(prompt::Prompt),
    /// Search all memories and all of history for secrets
    Scan(scan::Scan),
    /// Compact the store's files into one pack
    Compact(status::Compact),
    /// Report on a period, or prove that a report was not changed
    Report(report::ReportArgs),
    /// Verify all of history: signatures, roles, content and keys
    Verify(verify::Verify),
    /// Show your defaults, and where each comes from
    Config,
    /// Print a manual page, or write all pages into a folder
    Man(man::Man),
    /// Print the script that completes commands in a shell
    Completions(complete::Completions),
    /// Print what fits at the end of an unfinished command line
    #[command(hide = true)]
    Complete(complete::Complete),
    /// Print the help of a verb or a topic
    #[command(hide = true)]
    Help(help::HelpArgs),
    #[command(flatten)]
    Renamed(renamed::Renamed),
}

// The verbs below a verb.
#[derive(Args)]
pub(crate) struct VerbGroup<V: Subcommand> {
    #[command(subcommand)]
    pub(crate) verb: V,
}

/// Parses one of these words, which help shows with what each means.
pub(crate) fn one_of<T>(words: &[(&'static str, &'static str)]) -> impl TypedValueParser<Value = T>
where
    T: FromStr + Clone + Send + Sync + 'static,
{
    let words = words.iter();
    let values = words.map(|(word, means)| PossibleValue::new(word).help(means));
    PossibleValuesParser::new(values).map(|word| word.parse().ok().expect("it is one of these"))
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

/// Returns the program's command line, with all verbs and options.
pub(crate) fn command_line() -> clap::Command {
    let (mut command, _) = help::with_examples(Cli::command());
    command.build();
    command
}

/// Runs the command line of this process.
pub(crate) fn run() -> ExitCode {
    platform::keep_memory_private();
    // The command line with all its help costs twice as much to make, and only help and errors show
    // it.
    let line = Cli::command()
        .try_get_matches()
        .or_else(|error| match error.kind() {
            clap::error::ErrorKind::DisplayVersion => Err(error),
            _ => help::command().try_get_matches(),
        });
    let parsed = line.and_then(|line| {
        let cli = Cli::from_arg_matches(&line)?;
        Ok((line, cli))
    });
    let (line, Cli { global, verb, .. }) = match parsed {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(misused(&error)),
    };
    let as_json = global.json;
    match carry_out(global, verb, &line) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::error(&error, as_json);
            ExitCode::from(error.exit_code())
        }
    }
}

fn carry_out(mut global: Global, verb: Verb, line: &ArgMatches) -> Result<u8> {
    let needs_no_store = matches!(
        verb,
        Verb::Man(_) | Verb::Completions(_) | Verb::Complete(_) | Verb::Help(_)
    );
    if !needs_no_store {
        config::apply(&mut global, line)?;
    }
    match verb {
        Verb::Init(args) => init::run(&global, &args),
        Verb::Status(args) => status::run(&global, &args),
        Verb::Log(args) => history::log(&global, &args),
        Verb::Access(args) => history::access(&global, &args),
        Verb::Show(args) => history::show(&global, &args),
        Verb::Diff(args) => history::diff(&global, &args),
        Verb::Blame(args) => history::blame(&global, &args),
        Verb::Search(args) => history::search(&global, &args),
        Verb::Restore(args) => undo::restore(&global, &args),
        Verb::Revert(args) => undo::revert(&global, &args),
        Verb::Rollback(args) => undo::rollback(&global, &args),
        Verb::View(args) => memory::view(&global, &args),
        Verb::Create(args) => memory::run(&global, &args),
        Verb::Edit(args) => memory::run(&global, &args),
        Verb::Insert(args) => memory::run(&global, &args),
        Verb::Delete(args) => memory::run(&global, &args),
        Verb::Rename(args) => memory::run(&global, &args),
        Verb::Write(args) => memory::run(&global, &args),
        Verb::Tool(args) => tool::run(&global, &args),
        Verb::Mcp(args) => mcp::run(global, &args),
        #[cfg(feature = "http")]
        Verb::Ui(args) => ui::run(global, &args),
        Verb::Import(args) => import::run(&global, &args),
        Verb::Export(args) => export::run(&global, &args),
        Verb::Checkpoint(args) => proof::checkpoint(&global, &args),
        Verb::AuditKit(args) => proof::audit_kit(&global, &args),
        Verb::AcceptRollback => proof::accept_rollback(&global),
        Verb::Members(args) => members::members(&global, &args.verb),
        Verb::Keys(args) => members::keys(&global, &args.verb),
        Verb::Remote(args) => remote::remote(&global, &args),
        Verb::Push(args) => remote::push(&global, &args),
        Verb::Pull(args) => remote::pull(&global, &args),
        Verb::Clone(args) => remote::clone(&global, &args),
        Verb::Sync(args) => replicas::sync(&global, &args),
        Verb::Replicas(args) => replicas::replicas(&global, &args),
        Verb::Expire(args) => retention::run(&global, &args),
        Verb::Hold(args) => retention::hold(&global, &args.verb),
        Verb::Erase(args) => erase::erase(&global, &args),
        Verb::Receipt(args) => receipt::run(&global, &args.verb),
        Verb::Doctor => status::doctor(&global),
        Verb::Policy(args) => policy::run(&global, &args.verb),
        Verb::Signers(args) => signers::run(&global, &args.verb),
        Verb::Redact(args) => redact::run(&global, &args),
        Verb::Rules(args) => rules::run(&global, &args.verb),
        Verb::Schedule(args) => schedule::run(&global, &args.verb),
        Verb::CopyKeys(args) => schedule::copy_keys(&args),
        Verb::McpConfig(args) => mcp_config::run(&global, &args),
        Verb::Prompt(args) => prompt::run(&global, &args),
        Verb::Scan(args) => scan::run(&global, &args),
        Verb::Compact(args) => status::compact(&global, &args),
        Verb::Report(args) => report::run(&global, &args),
        Verb::Verify(args) => verify::run(&global, &args),
        Verb::Config => config::show(&global, line),
        Verb::Man(args) => man::run(&args),
        Verb::Completions(args) => complete::print_script(&args),
        Verb::Complete(args) => complete::print_candidates(args),
        Verb::Help(args) => help::run(&global, &args),
        Verb::Renamed(verb) => renamed::run(&global, &verb),
    }
}

/// Parses an RFC 3339 time, or a date.
fn parse_now(text: &str) -> Result<DateTime<Utc>, String> {
    let date = text.parse::<NaiveDate>();
    let midnight = date
        .ok()
        .map(|date| date.and_time(NaiveTime::MIN).and_utc());
    let time = text.parse().ok().or(midnight);
    time.ok_or_else(|| "it is neither RFC 3339 (2026-11-01T09:00Z) nor a date".into())
}

/// Answers a command line that does not parse, or that asks for help.
pub(crate) fn misused(error: &clap::Error) -> u8 {
    use clap::error::ErrorKind::{
        DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion, MissingSubcommand,
    };
    let code = if error.use_stderr() { USAGE } else { 0 };
    match error.kind() {
        DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand => {
            // If the output is closed, there is nobody left to tell.
            let _ = error.print();
        }
        // Variables of the environment count as arguments for clap.
        MissingSubcommand if environment::typed_nothing() => {
            output::usage(&help::command().render_help().to_string(), false);
        }
        _ => output::usage(&error.to_string(), environment::typed_json()),
    }
    code
}

/// Makes the store's keyring private to its owner, wherever it is, and returns the store.
pub(crate) fn protected(store: Store) -> Store {
    for sentence in store.restrict_keyring_permissions() {
        output::warn(&sentence);
    }
    store
}

impl Global {
    /// Finds the global options in a command line that may be unfinished or wrong.
    pub(crate) fn in_words(words: &[OsString]) -> Option<Self> {
        let command = Cli::command().ignore_errors(true);
        let found = command.try_get_matches_from(words).ok()?;
        let mut global = Self::from_arg_matches(&found).ok()?;
        // A faulty file is reported by the command itself.
        let _ = config::apply(&mut global, &found);
        Some(global)
    }

    /// Opens the store to complete a command line: without any record, question or note, and only
    /// with an identity that needs no passphrase. No memory of stores is kept or read, so the note
    /// at a store's first use still comes.
    pub(crate) fn open_silently(&self) -> Result<Store> {
        let path = self.existing_store()?;
        Store::open(&path, environment::keys_to_complete(self)?, self.clock())
    }

    /// Opens the store for commands, which are signed.
    pub(crate) fn open(&self) -> Result<Store> {
        let path = self.protected_store()?;
        self.open_at(&path, environment::keys(self)?, true)
    }

    /// Opens the store for commands, or for a dry run of one, which needs no signing key.
    pub(crate) fn open_unless(&self, dry_run: bool) -> Result<Store> {
        if dry_run {
            self.open_for_reading()
        } else {
            self.open()
        }
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
        if self.now.is_some() && !self.is_trial(path, &keys, keys.state.as_ref())? {
            if records && keys.signing_key.is_some() {
                return Err(Error::NotATrial);
            }
            keys.signing_key = None;
        }
        let store = Store::open(path, keys, self.clock())?;
        self.introduce(&store);
        if let Some((event, count)) = store.finished_erasures().filter(|_| !self.quiet) {
            let keys = match count {
                0 => String::new(),
                _ => format!(
                    ": the keys of {} are gone",
                    output::counted(count as u64, "memory")
                ),
            };
            output::note(&format!(
                "note: event {event} finished an erasure that was begun before{keys}"
            ));
        }
        Ok(protected(store))
    }

    /// Refuses a time that the caller makes up, unless the store is for trials: for what is shown to
    /// others or shows texts, and so is no dry run.
    pub(crate) fn refuse_made_up_time(&self) -> Result<()> {
        if self.now.is_none() {
            return Ok(());
        }
        let keys = environment::keys_to_look(self)?;
        if self.is_trial(&self.existing_store()?, &keys, keys.state.as_ref())? {
            Ok(())
        } else {
            Err(Error::NotATrial)
        }
    }

    /// Tells whether the store is for trials. It is opened without a signing key, because opening
    /// can finish and record an erasure.
    pub(crate) fn is_trial(
        &self,
        path: &Path,
        keys: &Keys,
        state: Option<&PathBuf>,
    ) -> Result<bool> {
        let to_look = || Keys {
            identity: keys.identity.clone(),
            signing_key: None,
            state: state.cloned(),
            keyring: keys.keyring.clone(),
        };
        let store = Store::open(path, to_look(), self.clock())?;
        self.introduce(&store);
        if !store.is_trial() {
            // A time that the caller makes up opens no copy.
            drop(store);
            drop(Store::open(path, to_look(), Box::new(Utc::now))?);
            return Ok(false);
        }
        Ok(true)
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
                Err(Error::io("enter", &path)(source))
            }
            Err(_) if is_kit(&path) => Ok(path.join("store")),
            // A clone by stock git that has files checked out.
            Err(_) if path.join(".git/HEAD").is_file() => Ok(path.join(".git")),
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

    /// Returns the person at this machine.
    fn person(&self) -> Option<String> {
        self.usual_actor.clone().or_else(environment::user)
    }

    /// Returns the context of a command given on the command line.
    pub(crate) fn context(&self) -> Context {
        let mut context = Context::default();
        context.actor = self.agent().or_else(|| self.person());
        context.session.clone_from(&self.session);
        context.reason.clone_from(&self.reason);
        context.door = Some("cli");
        context
    }

    /// Returns the context for a verb in which `--actor` and `--session` select events.
    pub(crate) fn reader_context(&self) -> Context {
        let mut context = self.context();
        context.actor = environment::actor().or_else(|| self.person());
        context.session = None;
        context
    }
}

/// Tells whether a folder is an auditor's kit, which has the store in it.
fn is_kit(folder: &Path) -> bool {
    folder.join("checkpoint").is_file() && folder.join("store/HEAD").is_file()
}
