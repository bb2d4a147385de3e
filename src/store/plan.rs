//! Plans of commands: each is decided on the present state, before anything is written.
//!
//! The memory tool's contract fixes every string that a model reads, word for word.

mod draft;

use std::sync::OnceLock;

use self::draft::{create, delete, insert, read, read_all, rename, str_replace, view, write};
use crate::Text;
use crate::crypto::digest::Digest;
use crate::error::{Error, Result};
use crate::event::{Change, Context, MemoryChange, Moment, PathRef, Redaction, bounded};
use crate::id::MemoryId;
use crate::memory_tool::command::Command;
use crate::memory_tool::path::{self, MemoryPath, PathFault, ROOT};
use crate::redact::{Redacted, Redactor, Withheld};
use crate::state::catalog::Memory;
use crate::store::answer::Refusal;
use crate::store::quota::no_room_for;
use crate::store::sweep::{evict_expired, is_clock_implausible, unexpired};
use crate::store::versions::text_of;
use crate::store::{Ledger, State, Store, redactor};

/// Longest piece of a caller's text that an error repeats, in characters.
const ECHO_CHARACTERS_MAX: usize = 2_048;

/// The plan of a command, with its answer.
pub(super) struct Plan {
    pub(super) content: Text,
    pub(super) refusal: Option<Refusal>,
    pub(super) path: Option<PlanTarget>,
    pub(super) new_path: Option<PathRef>,
    pub(super) steps: Vec<PlannedChange>,
    pub(super) subject: Option<Subject>,
    /// Secrets that were stripped from the paths it names.
    pub(super) stripped: Vec<Redaction>,
    /// The moments it goes back to.
    pub(super) at: Vec<Moment>,
    /// The events it undoes, as runs.
    pub(super) undone: Vec<(u64, u64)>,
}

/// The target of the command's first path.
pub(super) enum PlanTarget {
    At(PathRef),
    /// A memory that this plan creates; it gets its id when it is sealed.
    New(MemoryPath),
}

/// Marks the first touched memory as the subject of the command.
pub(super) struct Subject {
    pub(super) sha256: Option<Digest>,
}

/// A memory's part in a plan.
pub(super) enum PlannedChange {
    Touch(MemoryChange),
    Add { path: MemoryPath, text: Redacted },
    Write(VersionWrite, Redacted),
}

/// The metadata of a version that a plan writes.
pub(super) struct VersionWrite {
    pub(super) id: MemoryId,
    pub(super) path: MemoryPath,
    pub(super) version: u64,
    pub(super) change: Change,
    /// The earlier version it restores.
    pub(super) from: Option<u64>,
}

/// The reason why there is no plan.
enum PlanFault {
    /// The command is refused with this text, and the refusal is recorded.
    Refused(Refusal, String),
    /// The store cannot be read.
    Failed(Error),
}

impl From<Error> for PlanFault {
    /// A memory that does not open is a refusal, which is answered and recorded. A disk that cannot
    /// be read is neither.
    fn from(error: Error) -> Self {
        if error.is_of_one_memory() {
            Self::Refused((&error).into(), format!("Error: {error}"))
        } else {
            Self::Failed(error)
        }
    }
}

type Drafted = Result<Plan, PlanFault>;

fn refuse<T>(refusal: Refusal, text: impl Into<String>) -> Result<T, PlanFault> {
    Err(PlanFault::Refused(refusal, text.into()))
}

impl Plan {
    fn answer(content: impl Into<Text>, path: PlanTarget, steps: Vec<PlannedChange>) -> Self {
        Self {
            content: content.into(),
            refusal: None,
            path: Some(path),
            new_path: None,
            steps,
            subject: None,
            stripped: Vec::new(),
            at: Vec::new(),
            undone: Vec::new(),
        }
    }

    /// Makes a plan for an owner's command; it has no answer for a model.
    pub(super) fn of_owner(path: Option<PathRef>, steps: Vec<PlannedChange>) -> Self {
        Self {
            path: path.map(PlanTarget::At),
            ..Self::answer("", PlanTarget::At(PathRef::Root), steps)
        }
    }

    /// Makes a refusal that does not name the requested path.
    pub(super) fn without_path(refusal: Refusal, content: String) -> Self {
        Self {
            refusal: Some(refusal),
            path: None,
            ..Self::answer(content, PlanTarget::At(PathRef::Root), Vec::new())
        }
    }

    /// Makes a plan about a single memory whose text is known.
    fn about(content: impl Into<Text>, path: PlanTarget, step: PlannedChange, text: &Text) -> Self {
        Self {
            subject: Some(Subject {
                sha256: Some(Digest::of(text.as_str().as_bytes())),
            }),
            ..Self::answer(content, path, vec![step])
        }
    }
}

/// A call of a command: the path and the caller's precondition.
struct PlanInput<'a> {
    base: Option<Digest>,
    /// The path as the caller wrote it, for answers.
    shown: &'a str,
    ahead: Option<&'a ComputedAhead>,
}

/// The costly parts of a command's plan, computed before its turn: by another thread, or while
/// others hold the store's lock. The plan takes a part only if it is about the same input, and
/// computes it anew otherwise.
#[derive(Default)]
pub(super) struct ComputedAhead {
    redacted: OnceLock<RedactedAhead>,
    /// A memory, and the text of its version; `None` if only texts that are given are redacted.
    opened: Option<OnceLock<(Memory, Text)>>,
}

/// A redacted text, and what it was made of.
struct RedactedAhead {
    redactor: Redactor,
    path: MemoryPath,
    text: Text,
    redacted: Result<Redacted, Withheld>,
}

impl ComputedAhead {
    /// Computes what the plan of a command needs, in the state as it is known.
    pub(super) fn of_plan(store: &mut Store, command: &Command, context: &Context) -> Self {
        let ahead = Self {
            opened: Some(OnceLock::new()),
            ..Self::default()
        };
        // The plan itself is made again under the lock, where its faults count.
        drop(draft(store, command, context.base_sha256, Some(&ahead)));
        ahead
    }

    /// Redacts the text that a command gives for a path, unless another thread does or did.
    pub(super) fn redact_given(&self, redactor: &Redactor, path: &MemoryPath, command: &Command) {
        if let Some(text) = given_text(command) {
            drop(self.redacted(redactor, path, text));
        }
    }

    fn redacted(
        &self,
        redactor: &Redactor,
        path: &MemoryPath,
        text: &Text,
    ) -> Result<Redacted, Withheld> {
        let redact = || redactor.redact(path.as_str(), text);
        let ahead = self.redacted.get_or_init(|| RedactedAhead {
            redactor: redactor.clone(),
            path: path.clone(),
            text: text.clone(),
            redacted: redact(),
        });
        let fits = ahead.redactor.is(redactor) && ahead.path == *path && ahead.text == *text;
        if fits {
            ahead.redacted.clone()
        } else {
            redact()
        }
    }
}

/// Returns the path for which a command gives a text that is written as it is; `None` if it gives
/// none, or one that is too long.
pub(super) fn path_of_given(state: &State, command: &Command) -> Option<MemoryPath> {
    let fits = |text: &Text| text.len() <= state.config.policy.limits.memory_bytes;
    given_text(command).filter(|text| fits(text))?;
    parse(state, &paths_of(command).0?).ok()
}

/// Returns the text that a command gives and that is written as it is.
pub(super) fn given_text(command: &Command) -> Option<&Text> {
    match command {
        Command::Create { file_text, .. } => Some(file_text),
        Command::Write { content, .. } => Some(content),
        _ => None,
    }
}

/// Plans a command. A refusal is a plan as well.
pub(super) fn plan(
    store: &mut Store,
    command: &Command,
    context: &Context,
    ahead: Option<&ComputedAhead>,
) -> Result<Plan> {
    let drafted = draft(store, command, context.base_sha256, ahead);
    let with_room = drafted.and_then(|plan| match no_room_for(&store.state, &plan.steps) {
        Some(text) => refuse(Refusal::Limit, text),
        None => Ok(plan),
    });
    match with_room {
        Ok(plan) => Ok(plan),
        Err(PlanFault::Refused(refusal, text)) => refused(store, command, refusal, &text),
        Err(PlanFault::Failed(error)) => Err(error),
    }
}

fn draft(
    store: &mut Store,
    command: &Command,
    base: Option<Digest>,
    ahead: Option<&ComputedAhead>,
) -> Drafted {
    let call = |shown| PlanInput { base, shown, ahead };
    match command {
        Command::View { path, range } => view(store, &call(path), *range),
        Command::Create { path, file_text } => create(store, &call(path), file_text),
        Command::StrReplace {
            path,
            old_str,
            new_str,
        } => str_replace(store, &call(path), old_str, new_str),
        Command::Insert {
            path,
            insert_line,
            insert_text,
        } => insert(store, &call(path), *insert_line, insert_text),
        Command::Delete { path } => delete(store, &call(path)),
        Command::Rename { old_path, new_path } => rename(store, &call(old_path), new_path),
        Command::Read { path: None } => Ok(read_all(&store.state)),
        Command::Read { path: Some(path) } => read(store, &call(path)),
        Command::Write { path, content } => write(store, &call(path), content),
        Command::Malformed { command, why, path } => {
            let relative = matches!(command, Some("memory_read" | "memory_write"));
            if let Some(path) = path {
                let path = if relative {
                    absolute(path)
                } else {
                    path.clone()
                };
                path_named(store, &path)?;
            }
            refuse(Refusal::Malformed, format!("Error: {why}"))
        }
    }
}

/// Returns the plan that records a request for a path that no memory may have; `None` if the path
/// is allowed.
pub(super) fn plan_path_refused(store: &Store, path: &str) -> Result<Option<Plan>> {
    match path_named(store, path) {
        Ok(_) => Ok(None),
        Err(PlanFault::Refused(refusal, text)) => {
            let path = path.to_owned();
            let asked = Command::View { path, range: None };
            refused(store, &asked, refusal, &text).map(Some)
        }
        Err(PlanFault::Failed(error)) => Err(error),
    }
}

/// Plans the record of a refusal. Its text may repeat the caller's, so it is redacted.
fn refused(store: &Store, command: &Command, refusal: Refusal, text: &str) -> Result<Plan> {
    let redactor = redactor(store)?;
    let (text, _) = redactor.line(text);
    let mut stripped = Vec::new();
    // The path is redacted as the caller wrote it: redacting the canonical or shortened form could
    // miss part of a secret.
    let mut said = |asked: &str, name| {
        let (text, found) = redactor.line(asked);
        stripped.extend(
            found
                .iter()
                .map(|one| Redaction::elsewhere(&one.kind, name)),
        );
        (!found.is_empty()).then(|| PathRef::asked(&text))
    };
    let (first, second) = paths_of(command);
    let mut place = |asked: String, name| match parse(&store.state, &asked)
        .map(|path| place(&store.state, &path))
    {
        Ok(place @ (PathRef::Root | PathRef::Of(..))) => place,
        Ok(place) => said(&asked, name).unwrap_or(place),
        Err(_) => said(&asked, name).unwrap_or_else(|| PathRef::asked(&asked)),
    };
    let path = first.map(|path| place(path, "path"));
    let new_path = second.map(|path| place(path, "new_path"));
    let named = [&path, &new_path].into_iter().flatten();
    let there = named.filter_map(|place| match place {
        PathRef::Of(_, Some(path)) => store.state.catalog.at(path),
        _ => None,
    });
    // Expired memories are in the record but not in the answer: to the agent they never existed.
    let unexpired = unexpired(&store.state);
    let (mut found, mut expired): (Vec<_>, Vec<_>) =
        there.partition(|memory| unexpired.has(memory));
    // A rename to the same path names the memory twice.
    for named in [&mut found, &mut expired] {
        named.dedup_by_key(|memory| memory.id);
    }
    let steps = found.iter().chain(&expired);
    Ok(Plan {
        content: text.into(),
        refusal: Some(refusal),
        subject: (!found.is_empty()).then_some(Subject { sha256: None }),
        steps: steps
            .map(|memory| PlannedChange::Touch(touch(memory, Change::None)))
            .collect(),
        path: path.map(PlanTarget::At),
        new_path,
        stripped,
        at: Vec::new(),
        undone: Vec::new(),
    })
}

/// Redacts a text for storage at a path, if it was not redacted ahead.
fn redacted(
    store: &Store,
    path: &MemoryPath,
    shown: &str,
    text: &Text,
    ahead: Option<&ComputedAhead>,
) -> Result<Redacted, PlanFault> {
    let redactor = redactor(store)?;
    let redacted = match ahead {
        Some(ahead) => ahead.redacted(redactor, path, text),
        None => redactor.redact(path.as_str(), text),
    };
    let withheld = match redacted {
        Ok(redacted) => return Ok(redacted),
        Err(withheld) => withheld,
    };
    match withheld {
        Withheld::Found(findings) => {
            let kinds = listed(findings.iter().map(|found| found.kind.as_str()));
            let text = format!(
                "Error: {shown} was not written: the text holds secrets ({kinds}), and the \
                 policy refuses them. Write it again without them."
            );
            refuse(Refusal::Secret, text)
        }
        Withheld::Unfinished => refuse(Refusal::Limit, unfinished(shown)),
    }
}

/// Refuses a new path that holds a secret, without repeating it.
fn no_secret_in(store: &Store, path: &MemoryPath, shown: &str) -> Result<(), PlanFault> {
    for text in [path.as_str(), shown] {
        match redactor(store)?.in_path(text) {
            Ok(None) => {}
            Ok(Some(kind)) => {
                let text = format!(
                    "Error: The path holds what looks like a secret ({}), and paths are kept as \
                     they are. Choose a path without it.",
                    kind.as_str()
                );
                return refuse(Refusal::Secret, text);
            }
            Err(_) => return refuse(Refusal::Limit, unfinished("the path")),
        }
    }
    Ok(())
}

/// Returns the present text of a memory.
fn text_now(ledger: &mut Ledger, memory: &Memory, call: &PlanInput<'_>) -> Result<Text> {
    let Some(opened) = call.ahead.and_then(|ahead| ahead.opened.as_ref()) else {
        return text_of(ledger, memory);
    };
    let is_same = |known: &Memory| {
        (known.id, &known.path, known.version) == (memory.id, &memory.path, memory.version)
            && (known.blob, known.sealed) == (memory.blob, memory.sealed)
    };
    if let Some((_, text)) = opened.get().filter(|(known, _)| is_same(known)) {
        return Ok(text.clone());
    }
    let text = text_of(ledger, memory)?;
    let _ = opened.set((memory.clone(), text.clone()));
    Ok(text)
}

/// Returns the text of a memory, if it is still the caller's base.
fn text_at_base(
    ledger: &mut Ledger,
    memory: &Memory,
    call: &PlanInput<'_>,
) -> Result<Text, PlanFault> {
    let text = text_now(ledger, memory, call)?;
    if let Some(base) = call.base {
        check_base(base, &text, call.shown)?;
    }
    Ok(text)
}

/// Returns a path as an event names it: by a memory that is at or below it, otherwise as the caller
/// wrote it.
fn place(state: &State, path: &MemoryPath) -> PathRef {
    if path.is_root() {
        return PathRef::Root;
    }
    let memory = state
        .catalog
        .at(path)
        .or_else(|| state.catalog.below(path).next());
    match memory {
        Some(memory) => PathRef::Of(memory.id, Some(path.clone())),
        None => PathRef::asked(path.as_str()),
    }
}

/// Parses a path that a new memory may have, or that an existing memory has from an earlier version
/// of agekeep.
fn parse(state: &State, text: &str) -> Result<MemoryPath, PathFault> {
    let bytes_max = state.config.policy.limits.path_bytes;
    let is_there = |path: &MemoryPath| {
        let unexpired = unexpired(state);
        unexpired.at(path).is_some() || unexpired.is_directory(path)
    };
    MemoryPath::parse(text, bytes_max).or_else(|fault| {
        let kept = MemoryPath::parse_kept(text, bytes_max).ok();
        kept.filter(is_there).ok_or(fault)
    })
}

fn path_named(store: &Store, shown: &str) -> Result<MemoryPath, PlanFault> {
    parse(&store.state, shown).or_else(|fault| refuse_path(store, shown, &fault))
}

/// Returns the place for a path that was asked for and belongs to no memory, with secrets redacted.
fn asked(store: &Store, path: &MemoryPath) -> Result<PathRef, PlanFault> {
    Ok(PathRef::asked(&redactor(store)?.line(path.as_str()).0))
}

/// Refuses a path without repeating secrets in it, even if the error shortens the path.
fn refuse_path<T>(store: &Store, shown: &str, fault: &PathFault) -> Result<T, PlanFault> {
    path_refused(&redactor(store)?.line(shown).0, fault)
}

fn relative_path(store: &Store, shown: &str) -> Result<MemoryPath, PlanFault> {
    parse(&store.state, &absolute(shown)).or_else(|fault| refuse_path(store, shown, &fault))
}

/// Plans the eviction of expired memories in the way of a new one. Refuses if the clock is
/// implausible.
fn evict_expired_checked(
    store: &Store,
    path: &MemoryPath,
    shown: &str,
) -> Result<Vec<PlannedChange>, PlanFault> {
    let making_way = evict_expired(&store.state, path);
    if making_way.is_empty() || !is_clock_implausible(&store.state) {
        return Ok(making_way);
    }
    let text = format!(
        "Error: {shown} was not written: what expired there is still kept, and the store's \
         clock cannot be believed. Tell a person."
    );
    refuse(Refusal::Precondition, text)
}

fn not_below_a_file(state: &State, path: &MemoryPath, shown: &str) -> Result<(), PlanFault> {
    match path
        .ancestors()
        .find(|above| unexpired(state).at(above).is_some())
    {
        None => Ok(()),
        Some(file) => refuse(
            Refusal::Failed,
            format!("Error: Cannot make {shown}: {} is a file", file.as_str()),
        ),
    }
}

/// Lists the kinds of findings, each once, in order.
fn listed<'a>(kinds: impl Iterator<Item = &'a str>) -> String {
    let mut each: Vec<&str> = Vec::new();
    for kind in kinds {
        if !each.contains(&kind) {
            each.push(kind);
        }
    }
    each.join(", ")
}

fn unfinished(shown: &str) -> String {
    format!(
        "Error: {shown} was not written: looking for secrets in it would take too long. Split it \
         into smaller files."
    )
}

/// Adds a second line to an answer that names what was stripped, so that the model does not write
/// it again.
fn noted(answer: &str, kinds: &[&str]) -> String {
    let values = match kinds.len() {
        0 => return answer.to_owned(),
        1 => "1 secret value was".to_owned(),
        count => format!("{count} secret values were"),
    };
    let kinds = listed(kinds.iter().copied());
    let note = format!(
        "{values} removed and not stored ({kinds}); markers stand in the text. Do not write them \
         again."
    );
    match answer.split_once('\n') {
        None => format!("{answer}\n{note}"),
        Some((first, rest)) => format!("{first}\n{note}\n{rest}"),
    }
}

const VALID_PATH: &str = ". Please provide a valid path.";

fn does_not_exist(shown: &str, end: &str) -> String {
    format!("The path {shown} does not exist{end}")
}

fn moved_on(shown: &str) -> String {
    format!(
        "Error: {shown} is not the text that base_sha256 names; it was changed or removed since. \
         View it again before changing it."
    )
}

fn check_base(base: Digest, text: &Text, shown: &str) -> Result<(), PlanFault> {
    if Digest::of(text.as_str().as_bytes()) == base {
        return Ok(());
    }
    refuse(Refusal::Precondition, moved_on(shown))
}

fn needs_file(call: &PlanInput<'_>) -> Result<(), PlanFault> {
    match call.base {
        None => Ok(()),
        Some(_) => refuse(
            Refusal::Precondition,
            format!(
                "Error: {} is a directory, and base_sha256 names a file's text",
                call.shown
            ),
        ),
    }
}

fn path_refused<T>(shown: &str, fault: &PathFault) -> Result<T, PlanFault> {
    let shown = path::visible(&bounded(shown, ECHO_CHARACTERS_MAX));
    match fault {
        PathFault::Outside => refuse(
            Refusal::Denied,
            format!("Error: Path must start with {ROOT}, got: {shown}"),
        ),
        PathFault::Escapes => refuse(
            Refusal::Denied,
            format!("Error: Path {shown} would escape {ROOT} directory"),
        ),
        PathFault::Forbidden(what) => refuse(
            Refusal::Denied,
            format!("Error: Path {shown} holds {what}, which no path may"),
        ),
        PathFault::TooLong(why) => refuse(Refusal::Limit, format!("Error: Path too long: {why}")),
    }
}

pub(super) fn touch(memory: &Memory, change: Change) -> MemoryChange {
    let last = (memory.version, memory.bytes);
    MemoryChange::of(memory.id, change, Some(memory.path.clone()), last)
}

fn at(memory: &Memory) -> PlanTarget {
    PlanTarget::At(PathRef::Of(memory.id, Some(memory.path.clone())))
}

fn read_plan(content: Text, memory: &Memory, text: &Text) -> Plan {
    let step = PlannedChange::Touch(touch(memory, Change::Read));
    Plan::about(content, at(memory), step, text)
}

/// Plans a command that finds its work done: it succeeds and changes nothing.
fn already(content: impl Into<Text>, memory: &Memory, text: &Text) -> Plan {
    let step = PlannedChange::Touch(touch(memory, Change::None));
    Plan::about(content, at(memory), step, text)
}

fn write_plan(
    content: impl Into<Text>,
    memory: &Memory,
    change: Change,
    path: MemoryPath,
    text: Redacted,
) -> Plan {
    let content: Text = content.into();
    let sha256 = Some(Digest::of(text.text().as_str().as_bytes()));
    let content = noted(content.as_str(), &text.kinds());
    let written = VersionWrite {
        id: memory.id,
        path,
        version: memory.version + 1,
        change,
        from: None,
    };
    let step = PlannedChange::Write(written, text);
    Plan {
        subject: Some(Subject { sha256 }),
        ..Plan::answer(content, at(memory), vec![step])
    }
}

/// Returns the full path; `memory_read` and `memory_write` take paths relative to the root.
fn absolute(shown: &str) -> String {
    let below = shown
        .strip_prefix(ROOT)
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match below {
        Some(_) => shown.to_owned(),
        None => format!("{ROOT}/{}", shown.strip_prefix('/').unwrap_or(shown)),
    }
}

fn paths_of(command: &Command) -> (Option<String>, Option<String>) {
    match command {
        Command::View { path, .. }
        | Command::Create { path, .. }
        | Command::StrReplace { path, .. }
        | Command::Insert { path, .. }
        | Command::Delete { path } => (Some(path.clone()), None),
        Command::Rename { old_path, new_path } => (Some(old_path.clone()), Some(new_path.clone())),
        Command::Read { path } => (path.as_deref().map(absolute), None),
        Command::Write { path, .. } => (Some(absolute(path)), None),
        Command::Malformed { path, .. } => (path.clone(), None),
    }
}

#[cfg(test)]
mod tests {
    use crate::store::commit::commit;
    use crate::store::log::parse_path;
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::policy::Policy;
    use crate::redact::Redactor;
    use crate::store::log::Filter;
    use crate::store::{Identity, Keys, SigningKey};

    const FOLDER: &str = "/memories/a\u{a0}b";
    const ODD: &str = "/memories/a\u{a0}b/❤\u{fe0f}.md";

    fn opened(root: &Path, identity: &Identity, key: Option<SigningKey>) -> Store {
        let keys = Keys {
            identity: identity.clone(),
            signing_key: key,
            state: None,
            keyring: None,
        };
        let clock = Box::new(chrono::Utc::now);
        if root.exists() {
            return Store::open(root, keys, clock).expect("opened");
        }
        let (policy, context) = (Policy::default(), Context::default());
        Store::init(root, keys, &policy, &context, clock).expect("made")
    }

    /// Makes a store in which an earlier version of agekeep allowed such a path.
    fn made_before(root: &Path) -> Store {
        let identity = Identity::generate();
        let mut store = opened(root, &identity, Some(SigningKey::generate()));
        let path = MemoryPath::from_canonical(ODD.into());
        let text = Redactor::default().redact(ODD, &"old\n".into());
        let text = text.expect("no secret is in it");
        let add = PlannedChange::Add {
            path: path.clone(),
            text,
        };
        let plan = Plan::answer("", PlanTarget::New(path), vec![add]);
        let added = commit(&mut store, plan, "create", &Context::default());
        added.expect("written");
        let key = store.ledger.signing_key.take();
        drop(store);
        // From here on, only the record knows the path.
        std::fs::remove_file(root.join("catalog")).expect("there");
        opened(root, &identity, key)
    }

    /// Returns the answer to a call, and true if the call was carried out.
    fn told(store: &mut Store, call: serde_json::Value) -> (bool, String) {
        let command = Command::from_json(call);
        let answer = store.execute(&command, &Context::default()).expect("told");
        (!answer.is_error(), answer.content.as_str().to_owned())
    }

    #[test]
    fn a_name_of_an_earlier_version_is_read_changed_and_moved_away() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut store = made_before(&folder.path().join("store"));
        let mut done = |call: serde_json::Value| {
            let (done, content) = told(&mut store, call);
            assert!(done, "{content}");
            content
        };
        let view = |path: &str| json!({"command": "view", "path": path});
        assert!(done(view("/memories")).contains(ODD));
        assert!(done(view(FOLDER)).contains(ODD));
        assert!(done(view(ODD)).contains("old"));
        done(json!({"command": "str_replace", "path": ODD, "old_str": "old", "new_str": "newer"}));
        let away = "/memories/heart.md";
        done(json!({"command": "rename", "old_path": ODD, "new_path": away}));
        assert!(done(view(away)).contains("newer"));
        // Nothing has the name any more, so it is refused like any other.
        for call in [
            view(ODD),
            json!({"command": "create", "path": ODD, "file_text": "again\n"}),
            json!({"command": "rename", "old_path": away, "new_path": ODD}),
        ] {
            let (done, content) = told(&mut store, call);
            assert!(!done, "{content}");
            let said = "Error: Path /memories/a\\u{a0}b/❤\\u{fe0f}.md holds a blank that is no \
                        plain space, which no path may";
            assert_eq!(content, said);
        }
        let filter = Filter {
            path: Some(parse_path(&store.state, ODD).expect("a path that was one")),
            ..Filter::default()
        };
        let log = store.events_with_changes(&filter, 99, &Context::default());
        // Its creation, two views, its change and its move, and the refusals.
        assert_eq!(log.expect("seen").found.count(), 8);
    }

    #[test]
    fn a_name_of_an_earlier_version_is_deleted_and_a_folder_of_such_a_name_takes_nothing_new() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut store = made_before(&folder.path().join("store"));
        let below = format!("{FOLDER}/new.md");
        let create = json!({"command": "create", "path": below, "file_text": "new\n"});
        assert!(!told(&mut store, create).0);
        let create = json!({"command": "create", "path": ODD, "file_text": "new\n"});
        let (_, content) = told(&mut store, create);
        assert_eq!(content, format!("Error: File {ODD} already exists"));
        let delete = json!({"command": "delete", "path": FOLDER});
        assert!(told(&mut store, delete).0);
        assert_eq!(store.state.catalog.len(), 0);
    }
}
