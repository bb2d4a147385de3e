//! `init`: makes a store, and the keys to it where there are none.

use std::path::{Path, PathBuf};

use agekeep::crypto::keyfile;
use agekeep::crypto::recipients::Role;
use agekeep::error::{Error, Result};
use agekeep::memory_tool::command::Command;
use agekeep::policy::Policy;
use agekeep::store::Store;
use agekeep::store::answer::Refusal;
use clap::Args;
use serde_json::json;

use crate::args::Global;
use crate::verbs::members;
use crate::verbs::policy::PolicyFiles;
use crate::{environment, output, recovery, render};

#[derive(Args, Default)]
pub(crate) struct Init {
    /// The policy the store starts with.
    #[command(flatten)]
    files: PolicyFiles,
    /// Also create a recovery identity that can read the store. It is printed once and stored
    /// nowhere
    #[arg(long)]
    recovery: bool,
    /// The recipient of your identity, if only its plugin knows it
    #[arg(long, value_name = "RECIPIENT", allow_hyphen_values = true)]
    recipient: Option<String>,
    /// Create a trial store, which can record made-up times (--now). It says for ever that its times
    /// are made up
    #[arg(long)]
    trial: bool,
    /// Start with the memories of a template
    #[arg(long, value_name = "NAME")]
    template: Option<Template>,
}

pub(crate) fn run(global: &Global, args: &Init) -> Result<u8> {
    let policy = args.files.read()?;
    if args.recovery {
        output::close_to_others()?;
    }
    let mut made = make(global, &policy, args)?;
    // The result is shown whatever becomes of the template, because a recovery identity is shown
    // only once.
    let filled = match args.template {
        Some(template) => template.fill(&mut made.store, global),
        None => Ok(None),
    };
    let template = args.template.filter(|_| matches!(filled, Ok(None)));
    if global.json {
        output::json(&made.to_json(template))?;
    } else {
        let mut text = made.to_text();
        if let Some(template) = template {
            let paths = template.paths().join("\n  ");
            text = format!("{text}\n\nThe store starts with these memories:\n  {paths}");
        }
        match &made.recovery {
            // The output is an identity file.
            Some(fresh) => output::line(fresh.to_text(&text).as_str())?,
            None => output::line(&text)?,
        }
    }
    if !matches!(filled, Ok(None)) {
        output::note(
            "The store was created and can be used, but some memories of the template are missing. \
             Create them with `agekeep create`, or remove the store and start again.",
        );
    }
    filled.map(|refusal| refusal.map_or(0, Refusal::exit_code))
}

/// Opens the store; makes it first if there is none and `make_it` says so.
pub(crate) fn open_or_make(global: &Global, make_it: bool) -> Result<Store> {
    match global.open() {
        Err(Error::NoStore { .. }) if make_it => {
            match make(global, &Policy::default(), &Init::default()) {
                // Another process made it a moment ago.
                Err(Error::StoreExists { .. }) => global.open(),
                made => made.map(|made| {
                    output::note(&made.to_text());
                    made.store
                }),
            }
        }
        opened => opened,
    }
}

/// Resolves a folder for the keyring.
pub(crate) fn absolute(folder: &Path) -> Result<String> {
    let invalid = |why: &str| Error::invalid("the keyring's folder", why);
    let path = std::path::absolute(folder).map_err(|_| invalid("it is not a path"))?;
    // Links and `..` are resolved, because what is on the way may go.
    let there = path.ancestors().find(|above| above.is_dir());
    let there = there.ok_or_else(|| invalid("it is not a path"))?;
    let rest = path.strip_prefix(there).expect("it is an ancestor");
    if rest
        .components()
        .any(|part| !matches!(part, std::path::Component::Normal(_)))
    {
        return Err(invalid("it has `..` after a folder that does not exist"));
    }
    let there = there
        .canonicalize()
        .map_err(|_| invalid("it cannot be reached"))?;
    let path = if rest.as_os_str().is_empty() {
        there
    } else {
        there.join(rest)
    };
    let text = path.into_os_string().into_string();
    text.map_err(|_| invalid("it is not UTF-8"))
}

/// The result of `init`.
pub(crate) struct InitResult {
    pub(crate) store: Store,
    path: PathBuf,
    keyring: PathBuf,
    recipient: String,
    identity: PathBuf,
    signing_key: PathBuf,
    new_identity: bool,
    new_signing_key: bool,
    recovery: Option<recovery::Fresh>,
}

/// Makes a store, and the keys to it that are missing.
pub(crate) fn make(global: &Global, policy: &Policy, args: &Init) -> Result<InitResult> {
    if global.now.is_some() && !args.trial {
        return Err(Error::NotATrial);
    }
    let path = environment::store(global)?;
    let (identity, signing_key) = (
        environment::identity(global)?,
        environment::signing_key(global)?,
    );
    let keyring = global.keyring.as_deref().map(absolute).transpose()?;
    let keyring = keyring.map(PathBuf::from);
    // A store in the way is reported before any key is made.
    Store::check_vacant(&path)?;
    let given = args.recipient.as_deref();
    let recipient = given.map(members::parse).transpose()?;
    let new_identity = keyfile::make_identity(&identity)?;
    let new_signing_key = keyfile::make_signing_key(&signing_key)?;
    let mut keys = environment::keys(global)?;
    keys.keyring.clone_from(&keyring);
    if let Some(recipient) = recipient {
        keys.identity = keys.identity.with_recipient(recipient);
    }
    let recipient = keys.identity.recipient()?.to_string();
    let init = if args.trial {
        Store::init_trial
    } else {
        Store::init
    };
    let made = init(&path, keys, policy, &global.context(), global.clock());
    let mut store = made.map_err(|error| match error {
        Error::NotARecipient { .. } => Error::invalid(
            "the recipient",
            "your identity cannot decrypt what is encrypted to it",
        ),
        other => other,
    })?;
    let recovery = args.recovery.then(recovery::Fresh::new);
    if let Some(made) = &recovery {
        let own = made.recipient()?;
        store.add_member(recovery::NAME, Role::Reader, &own, &global.context())?;
    }
    Ok(InitResult {
        recipient,
        recovery,
        keyring: keyring.unwrap_or_else(|| path.join("keyring")),
        store,
        path,
        identity,
        signing_key,
        new_identity,
        new_signing_key,
    })
}

impl InitResult {
    pub(crate) fn to_text(&self) -> String {
        let new = |made| if made { " (new)" } else { "" };
        let trial = if self.store.is_trial() {
            format!("\ntrial        {}", render::TRIAL)
        } else {
            String::new()
        };
        format!(
            "store        {store}\n\
             recipient    {recipient}\n\
             identity     {identity}{new_identity}\n\
             signing key  {signing_key}{new_signing_key}{trial}\n\
             \n\
             Back these up. Nobody can restore them for you:\n\
             \x20 {identity}  decrypts the store; without it every memory is lost\n\
             \x20 {signing_key}  signs every command; without it you can only read the store\n\
             \x20 {keyring}  holds each memory's key; without it every memory is lost\n\
             \x20 {store}  the history itself\n\
             Whoever has the identity, the keyring and the store can read every memory.",
            store = self.path.display(),
            keyring = self.keyring.display(),
            recipient = self.recipient,
            identity = self.identity.display(),
            signing_key = self.signing_key.display(),
            new_identity = new(self.new_identity),
            new_signing_key = new(self.new_signing_key),
        )
    }

    fn to_json(&self, template: Option<Template>) -> serde_json::Value {
        json!({
            "schema": "agekeep.init/1",
            "store": self.path,
            "recipient": self.recipient,
            "trial": self.store.is_trial(),
            "identity": self.identity,
            "new_identity": self.new_identity,
            "signing_key": self.signing_key,
            "new_signing_key": self.new_signing_key,
            "memories": template.map_or_else(Vec::new, Template::paths),
            "recovery_identity": self.recovery.as_ref().map(|fresh| fresh.line().to_string()),
        })
    }
}

// The memories that `init --template` begins with.

/// The reason for these memories in the event record, if the caller gives none.
const REASON: &str = "template";

/// A set of memories to begin with.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Template {
    /// For software built over many sessions: a progress log, a checklist of features, and notes on
    /// how to start.
    SoftwareProject,
}

/// The memories of a software project, each with its first text. The checklist is JSON, one feature on a line: a program can
/// count what passes, and a line with its `id` is a text that occurs once, as `str_replace` needs
/// it. The other two are read as prose.
const SOFTWARE_PROJECT: [(&str, &str); 3] = [
    (
        "/memories/startup.md",
        include_str!("init/template/startup.md"),
    ),
    (
        "/memories/features.json",
        include_str!("init/template/features.json"),
    ),
    (
        "/memories/progress.md",
        include_str!("init/template/progress.md"),
    ),
];

impl Template {
    fn pages(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::SoftwareProject => &SOFTWARE_PROJECT,
        }
    }

    /// Returns the paths of its memories.
    fn paths(self) -> Vec<&'static str> {
        self.pages().iter().map(|(path, _)| *path).collect()
    }

    /// Makes its memories by ordinary commands, until one is refused; prints and returns that
    /// refusal.
    fn fill(self, store: &mut Store, global: &Global) -> Result<Option<Refusal>> {
        let mut context = global.context();
        context.reason.get_or_insert_with(|| REASON.into());
        for &(path, text) in self.pages() {
            let create = Command::Create {
                path: path.into(),
                file_text: text.into(),
            };
            let answer = store.execute(&create, &context)?;
            if answer.is_error() {
                output::refusal(answer.content.as_str(), None);
                return Ok(answer.refusal);
            }
        }
        Ok(None)
    }
}
