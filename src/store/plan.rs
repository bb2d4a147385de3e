//! What a command will do, decided on the state as it is, before anything is written.
//!
//! Every string a model reads is the memory tool's contract, word for word.

use crate::answer::Refusal;
use crate::catalog::Memory;
use crate::command::Command;
use crate::digest::Digest;
use crate::edit::{self, ReplaceFault};
use crate::error::{Error, Result};
use crate::event::{Change, Context, Place, Touch, bounded};
use crate::listing;
use crate::path::{self, MemoryPath, PathFault, ROOT};
use crate::repository::object::ObjectId;
use crate::text::Text;
use crate::version::{self, VersionFault};

use super::Store;

/// Longest piece of a caller's text that an error repeats, in characters.
const ECHO_CHARACTERS_MAX: usize = 2_048;

/// What a command will do and answer.
pub(super) struct Plan {
    pub(super) content: Text,
    pub(super) refusal: Option<Refusal>,
    pub(super) path: Option<Target>,
    pub(super) new_path: Option<Place>,
    pub(super) steps: Vec<Planned>,
    pub(super) subject: Option<Subject>,
}

/// Where the command's first path points.
pub(super) enum Target {
    At(Place),
    /// A memory this plan makes; it gets its id when it is sealed.
    New(MemoryPath),
}

/// Says that the first touched memory is what the command was about.
pub(super) struct Subject {
    pub(super) sha256: Option<Digest>,
}

/// One memory's part in a plan.
pub(super) enum Planned {
    Touch(Touch),
    Add {
        path: MemoryPath,
        text: Text,
    },
    Write {
        id: crate::id::MemoryId,
        path: MemoryPath,
        version: u64,
        change: Change,
        text: Text,
    },
}

/// Why there is no plan.
enum Fault {
    /// The command is refused with these words, and that is recorded.
    Refused(Refusal, String),
    /// The store cannot be read.
    Failed(Error),
}

impl From<Error> for Fault {
    /// A memory that does not open is an answer, and an event worth keeping; a disk that cannot
    /// be read is neither.
    fn from(error: Error) -> Self {
        match error {
            Error::Damaged { .. } | Error::MissingKey { .. } | Error::UnknownFormat { .. } => {
                Self::Refused((&error).into(), format!("Error: {error}"))
            }
            error => Self::Failed(error),
        }
    }
}

type Drafted = std::result::Result<Plan, Fault>;

fn refuse<T>(refusal: Refusal, text: impl Into<String>) -> std::result::Result<T, Fault> {
    Err(Fault::Refused(refusal, text.into()))
}

impl Plan {
    fn answer(content: impl Into<Text>, path: Target, steps: Vec<Planned>) -> Self {
        Self {
            content: content.into(),
            refusal: None,
            path: Some(path),
            new_path: None,
            steps,
            subject: None,
        }
    }

    /// A plan about one memory whose text is known.
    fn about(content: impl Into<Text>, path: Target, step: Planned, text: &Text) -> Self {
        Self {
            subject: Some(Subject {
                sha256: Some(Digest::of(text.as_str().as_bytes())),
            }),
            ..Self::answer(content, path, vec![step])
        }
    }
}

/// A command's call: its caller's precondition beside it.
struct Call<'a> {
    base: Option<Digest>,
    /// The path as the caller wrote it, for answers.
    shown: &'a str,
}

impl Store {
    /// Plans a command; a refusal is a plan too.
    pub(super) fn plan(&mut self, command: &Command, context: &Context) -> Result<Plan> {
        match self.draft(command, context.base_sha256) {
            Ok(plan) => Ok(plan),
            Err(Fault::Refused(refusal, text)) => Ok(self.refused(command, refusal, text)),
            Err(Fault::Failed(error)) => Err(error),
        }
    }

    fn draft(&mut self, command: &Command, base: Option<Digest>) -> Drafted {
        let call = |shown| Call { base, shown };
        match command {
            Command::View { path, range } => self.view(&call(path), *range),
            Command::Create { path, file_text } => self.create(&call(path), file_text),
            Command::StrReplace {
                path,
                old_str,
                new_str,
            } => self.str_replace(&call(path), old_str, new_str),
            Command::Insert {
                path,
                insert_line,
                insert_text,
            } => self.insert(&call(path), *insert_line, insert_text),
            Command::Delete { path } => self.delete(&call(path)),
            Command::Rename { old_path, new_path } => self.rename(&call(old_path), new_path),
            Command::Read { path: None } => Ok(self.read_all()),
            Command::Read { path: Some(path) } => self.read(&call(path)),
            Command::Write { path, content } => self.write(&call(path), content),
            Command::Malformed { why, .. } => refuse(Refusal::Malformed, format!("Error: {why}")),
        }
    }

    /// The plan that records a refusal.
    fn refused(&self, command: &Command, refusal: Refusal, text: String) -> Plan {
        let (first, second) = paths_of(command);
        let place = |asked: String| match self.parse(&asked) {
            Ok(path) => self.place(&path),
            Err(_) => Place::asked(&asked),
        };
        let (path, new_path) = (first.map(place), second.map(place));
        let mut steps = Vec::new();
        for place in [&path, &new_path].into_iter().flatten() {
            if let Place::Of(_, Some(path)) = place
                && let Some(memory) = self.catalog.at(path)
            {
                steps.push(Planned::Touch(touch(memory, Change::None)));
            }
        }
        Plan {
            content: text.into(),
            refusal: Some(refusal),
            path: path.map(Target::At),
            new_path,
            subject: (!steps.is_empty()).then_some(Subject { sha256: None }),
            steps,
        }
    }

    fn view(&mut self, call: &Call<'_>, range: Option<(i64, i64)>) -> Drafted {
        let path = self.path(call.shown)?;
        let Some(memory) = self.catalog.at(&path).cloned() else {
            return self.view_directory(call, &path);
        };
        let text = self.text_at_base(&memory, call)?;
        let limits = &self.policy.limits;
        let lines = edit::line_count(text.as_str());
        if lines > limits.lines {
            let max = grouped(limits.lines);
            return refuse(
                Refusal::Limit,
                format!(
                    "File {} exceeds maximum line limit of {max} lines.",
                    call.shown
                ),
            );
        }
        let (from, to) = edit::resolve_range(text.as_str(), range).or_else(|fault| {
            refuse(
                Refusal::Failed,
                format!(
                    "Error: Invalid `view_range` parameter: {:?}. It should be within the range of \
                     lines of the file: [1, {}]",
                    range.map_or([1, -1], |(start, end)| [start, end]),
                    fault.lines
                ),
            )
        })?;
        let heading = format!("Here's the content of {} with line numbers:", call.shown);
        let content = edit::number_lines(heading, text.as_str(), from, to, limits.view_characters);
        Ok(read_plan(content, &memory, &text))
    }

    fn view_directory(&self, call: &Call<'_>, path: &MemoryPath) -> Drafted {
        if !self.catalog.is_directory(path) {
            return refuse(Refusal::NotFound, does_not_exist(call.shown, VALID_PATH));
        }
        needs_file(call)?;
        let memories = self.catalog.below(path).map(|m| (&m.path, m.bytes));
        let max = self.policy.limits.view_characters;
        let content = listing::render(call.shown, path, memories, max);
        Ok(Plan::answer(
            content,
            Target::At(self.place(path)),
            Vec::new(),
        ))
    }

    fn create(&mut self, call: &Call<'_>, text: &Text) -> Drafted {
        let path = self.path(call.shown)?;
        let done = format!("File created successfully at: {}", call.shown);
        if let Some(memory) = self.catalog.at(&path).cloned() {
            if let Some(base) = call.base {
                let now = self.text_of(&memory)?;
                if now == *text {
                    return Ok(already(done, &memory, &now));
                }
                check_base(base, &now, call.shown)?;
            }
            if self.policy.tool.create_overwrites {
                return self.overwrite(call, &memory, text, done);
            }
        } else if call.base.is_some() {
            return refuse(Refusal::Precondition, moved_on(call.shown));
        }
        if self.catalog.at(&path).is_some() || self.catalog.is_directory(&path) {
            let text = format!("Error: File {} already exists", call.shown);
            return refuse(Refusal::Exists, text);
        }
        self.add(call, path, text, done)
    }

    fn str_replace(&mut self, call: &Call<'_>, old: &Text, new: &Text) -> Drafted {
        let memory = self.existing(
            call,
            &format!("Error: {}", does_not_exist(call.shown, VALID_PATH)),
        )?;
        let max = self.policy.limits.view_characters;
        let edit = |text: &str| edit::replace(text, old.as_str(), new.as_str());
        let answer = |text: &Text, line| edit::snippet(EDITED, text.as_str(), line, max);
        let text = self.text_of(&memory)?;
        if let Some(base) = call.base
            && Digest::of(text.as_str().as_bytes()) != base
        {
            let before = self.text_before(&memory, base)?;
            return match before.map(|before| edit(before.as_str())) {
                Some(Ok((done, line))) if done == text => {
                    Ok(already(answer(&text, line), &memory, &text))
                }
                _ => refuse(Refusal::Precondition, moved_on(call.shown)),
            };
        }
        let (text, line) = edit(text.as_str())
            .or_else(|fault| refuse(Refusal::Failed, replace_fault(call.shown, old, &fault)))?;
        self.within_size(call.shown, &text)?;
        let content = answer(&text, line);
        Ok(write_plan(
            content,
            &memory,
            Change::Edit,
            memory.path.clone(),
            text,
        ))
    }

    fn insert(&mut self, call: &Call<'_>, line: i64, insert: &Text) -> Drafted {
        let memory = self.existing(call, &format!("Error: {}", does_not_exist(call.shown, "")))?;
        let done = format!("The file {} has been edited.", call.shown);
        let edit = |text: &str| edit::insert(text, line, insert.as_str());
        let text = self.text_of(&memory)?;
        if let Some(base) = call.base
            && Digest::of(text.as_str().as_bytes()) != base
        {
            let before = self.text_before(&memory, base)?;
            return match before.map(|before| edit(before.as_str())) {
                Some(Ok(edited)) if edited == text => Ok(already(done, &memory, &text)),
                _ => refuse(Refusal::Precondition, moved_on(call.shown)),
            };
        }
        let text = edit(text.as_str()).or_else(|fault| {
            refuse(
                Refusal::Failed,
                format!(
                    "Error: Invalid `insert_line` parameter: {line}. It should be within the range \
                     of lines of the file: [0, {}]",
                    fault.lines
                ),
            )
        })?;
        self.within_size(call.shown, &text)?;
        Ok(write_plan(
            done,
            &memory,
            Change::Edit,
            memory.path.clone(),
            text,
        ))
    }

    fn delete(&mut self, call: &Call<'_>) -> Drafted {
        let path = self.path(call.shown)?;
        if path.is_root() {
            return refuse(
                Refusal::Denied,
                "Error: Cannot delete the /memories directory itself",
            );
        }
        let done = format!("Successfully deleted {}", call.shown);
        let place = Target::At(self.place(&path));
        if let Some(memory) = self.catalog.at(&path).cloned() {
            if let Some(base) = call.base {
                check_base(base, &self.text_of(&memory)?, call.shown)?;
            }
            let step = Planned::Touch(touch(&memory, Change::Remove));
            return Ok(Plan {
                subject: Some(Subject { sha256: None }),
                ..Plan::answer(done, place, vec![step])
            });
        }
        if !self.catalog.is_directory(&path) {
            return match call.base {
                Some(_) => Ok(Plan::answer(done, place, Vec::new())),
                None => refuse(
                    Refusal::NotFound,
                    format!("Error: {}", does_not_exist(call.shown, "")),
                ),
            };
        }
        needs_file(call)?;
        let remove = |memory| Planned::Touch(touch(memory, Change::Remove));
        let steps = self.catalog.below(&path).map(remove).collect();
        Ok(Plan::answer(done, place, steps))
    }

    fn rename(&mut self, call: &Call<'_>, shown_to: &str) -> Drafted {
        let (from, to) = (self.path(call.shown)?, self.path(shown_to)?);
        if from.is_root() {
            return refuse(
                Refusal::Denied,
                "Error: Cannot rename the /memories directory itself",
            );
        }
        let done = format!("Successfully renamed {} to {shown_to}", call.shown);
        let source = self.catalog.at(&from).cloned();
        let taken = self.catalog.at(&to).cloned();
        if let (Some(base), None, Some(there)) = (call.base, &source, &taken) {
            let text = self.text_of(there)?;
            check_base(base, &text, shown_to)?;
            return Ok(already(done, there, &text));
        }
        if taken.is_some() || self.catalog.is_directory(&to) {
            let text = format!("Error: The destination {shown_to} already exists");
            return refuse(Refusal::Exists, text);
        }
        if source.is_none() && !self.catalog.is_directory(&from) {
            let text = format!("Error: {}", does_not_exist(call.shown, ""));
            return refuse(Refusal::NotFound, text);
        }
        if to.is_below(&from) {
            let text = format!("Error: Cannot move {} into itself: {shown_to}", call.shown);
            return refuse(Refusal::Failed, text);
        }
        self.not_below_a_file(&to, shown_to)?;
        match source {
            Some(memory) => self.rename_file(call, &memory, to, done),
            None => self.rename_directory(call, &from, &to, done),
        }
    }

    fn rename_file(
        &mut self,
        call: &Call<'_>,
        memory: &Memory,
        to: MemoryPath,
        done: String,
    ) -> Drafted {
        let text = self.text_at_base(memory, call)?;
        let from = Place::Of(memory.id, Some(memory.path.clone()));
        let plan = write_plan(done, memory, Change::Move, to.clone(), text);
        Ok(Plan {
            path: Some(Target::At(from)),
            new_path: Some(Place::Of(memory.id, Some(to))),
            ..plan
        })
    }

    fn rename_directory(
        &mut self,
        call: &Call<'_>,
        from: &MemoryPath,
        to: &MemoryPath,
        done: String,
    ) -> Drafted {
        needs_file(call)?;
        let memories: Vec<Memory> = self.catalog.below(from).cloned().collect();
        let mut steps = Vec::with_capacity(memories.len());
        for memory in &memories {
            let max = self.policy.limits.path_bytes;
            let path = memory.path.moved(from, to, max);
            let path = path.or_else(|fault| refuse_path(memory.path.as_str(), &fault))?;
            steps.push(Planned::Write {
                id: memory.id,
                path,
                version: memory.version + 1,
                change: Change::Move,
                text: self.text_of(memory)?,
            });
        }
        let first = memories
            .first()
            .expect("a directory has something in it")
            .id;
        Ok(Plan {
            new_path: Some(Place::Of(first, Some(to.clone()))),
            ..Plan::answer(done, Target::At(self.place(from)), steps)
        })
    }

    fn read_all(&self) -> Plan {
        let root = MemoryPath::root();
        let mut list: Vec<&str> = self
            .catalog
            .below(&root)
            .map(|m| m.path.relative())
            .collect();
        list.sort_unstable();
        Plan::answer(list.join("\n"), Target::At(Place::Root), Vec::new())
    }

    fn read(&mut self, call: &Call<'_>) -> Drafted {
        let path = self.relative_path(call.shown)?;
        match self.catalog.at(&path).cloned() {
            Some(memory) => {
                let text = self.text_at_base(&memory, call)?;
                Ok(read_plan(text.clone(), &memory, &text))
            }
            None if self.catalog.is_directory(&path) => refuse(
                Refusal::Failed,
                format!("Error: {} is a directory; read one file in it", call.shown),
            ),
            None => refuse(Refusal::NotFound, does_not_exist(call.shown, VALID_PATH)),
        }
    }

    fn write(&mut self, call: &Call<'_>, text: &Text) -> Drafted {
        let path = self.relative_path(call.shown)?;
        let done = format!("Written to {}", call.shown);
        if let Some(memory) = self.catalog.at(&path).cloned() {
            if let Some(base) = call.base {
                let now = self.text_of(&memory)?;
                if now == *text {
                    return Ok(already(done, &memory, &now));
                }
                check_base(base, &now, call.shown)?;
            }
            return self.overwrite(call, &memory, text, done);
        }
        if self.catalog.is_directory(&path) {
            return refuse(
                Refusal::Exists,
                format!("Error: {} is a directory", call.shown),
            );
        }
        if call.base.is_some() {
            return refuse(Refusal::Precondition, moved_on(call.shown));
        }
        self.add(call, path, text, done)
    }

    fn add(&self, call: &Call<'_>, path: MemoryPath, text: &Text, done: String) -> Drafted {
        self.not_below_a_file(&path, call.shown)?;
        self.within_size(call.shown, text)?;
        let max = self.policy.limits.memories;
        if self.catalog.len() >= max {
            return refuse(
                Refusal::Limit,
                format!(
                    "Error: The store holds {max} files, which is its limit. Delete some first."
                ),
            );
        }
        let step = Planned::Add {
            path: path.clone(),
            text: text.clone(),
        };
        Ok(Plan::about(done, Target::New(path), step, text))
    }

    fn overwrite(&self, call: &Call<'_>, memory: &Memory, text: &Text, done: String) -> Drafted {
        self.within_size(call.shown, text)?;
        let path = memory.path.clone();
        Ok(write_plan(done, memory, Change::Edit, path, text.clone()))
    }

    /// The memory at the call's path, or a refusal with these words.
    fn existing(&self, call: &Call<'_>, missing: &str) -> std::result::Result<Memory, Fault> {
        let path = self.path(call.shown)?;
        match self.catalog.at(&path) {
            Some(memory) => Ok(memory.clone()),
            None => refuse(Refusal::NotFound, missing),
        }
    }

    /// The text of a memory, if it is still the one the caller acts upon.
    fn text_at_base(
        &mut self,
        memory: &Memory,
        call: &Call<'_>,
    ) -> std::result::Result<Text, Fault> {
        let text = self.text_of(memory)?;
        if let Some(base) = call.base {
            check_base(base, &text, call.shown)?;
        }
        Ok(text)
    }

    /// The present text of a memory, checked against its place in the tree and its header.
    fn text_of(&mut self, memory: &Memory) -> Result<Text> {
        let blob = self.trees.blob(&self.repository, memory.id)?;
        if blob != Some(memory.blob) {
            return Err(Error::damaged(
                format!("the memory {}", memory.id),
                "the tree holds another version than its last event wrote",
            ));
        }
        self.open_version(memory, memory.blob, memory.version)
    }

    /// The version before the present one, if its text is the one the caller acts upon: then the
    /// same command may have been carried out already, and its answer lost.
    fn text_before(&self, memory: &Memory, base: Digest) -> Result<Option<Text>> {
        let Some(blob) = memory.before else {
            return Ok(None);
        };
        let text = self.open_version(memory, blob, memory.version - 1)?;
        Ok((Digest::of(text.as_str().as_bytes()) == base).then_some(text))
    }

    fn open_version(&self, memory: &Memory, blob: ObjectId, version: u64) -> Result<Text> {
        let what = || format!("version {version} of the memory {}", memory.id);
        let key = self.keyring.memory_key(memory.id)?;
        let sealed = self.repository.sealed(blob)?;
        let place = version::Place {
            id: memory.id,
            path: &memory.path,
            version,
        };
        version::open(&key, &place, &sealed).map_err(|fault| match fault {
            VersionFault::Unknown(found) => Error::UnknownFormat {
                what: what(),
                found: found.to_string(),
            },
            VersionFault::Closed(_) => Error::damaged(what(), "it does not open with its key"),
            VersionFault::Malformed => Error::damaged(what(), "its header does not parse"),
            VersionFault::Misplaced => Error::damaged(
                what(),
                "its header belongs to another memory, path or version",
            ),
        })
    }

    /// How an event names a path: by a memory that is or was there, or as it was asked for.
    fn place(&self, path: &MemoryPath) -> Place {
        if path.is_root() {
            return Place::Root;
        }
        let memory = self
            .catalog
            .at(path)
            .or_else(|| self.catalog.below(path).next());
        match memory {
            Some(memory) => Place::Of(memory.id, Some(path.clone())),
            None => Place::asked(path.as_str()),
        }
    }

    fn parse(&self, text: &str) -> std::result::Result<MemoryPath, PathFault> {
        MemoryPath::parse(text, self.policy.limits.path_bytes)
    }

    fn path(&self, shown: &str) -> std::result::Result<MemoryPath, Fault> {
        self.parse(shown)
            .or_else(|fault| refuse_path(shown, &fault))
    }

    fn relative_path(&self, shown: &str) -> std::result::Result<MemoryPath, Fault> {
        self.parse(&absolute(shown))
            .or_else(|fault| refuse_path(shown, &fault))
    }

    fn within_size(&self, shown: &str, text: &Text) -> std::result::Result<(), Fault> {
        let max = self.policy.limits.memory_bytes;
        if text.len() <= max {
            return Ok(());
        }
        let size = text.len();
        refuse(
            Refusal::Limit,
            format!(
                "Error: {shown} would have {size} bytes, and a file has at most {max}. \
                 Split it into several files."
            ),
        )
    }

    fn not_below_a_file(&self, path: &MemoryPath, shown: &str) -> std::result::Result<(), Fault> {
        match path
            .ancestors()
            .find(|above| self.catalog.at(above).is_some())
        {
            None => Ok(()),
            Some(file) => refuse(
                Refusal::Failed,
                format!("Error: Cannot make {shown}: {} is a file", file.as_str()),
            ),
        }
    }
}

const VALID_PATH: &str = ". Please provide a valid path.";
const EDITED: &str =
    "The memory file has been edited. Here is the snippet showing the change (with line numbers):";

fn does_not_exist(shown: &str, end: &str) -> String {
    format!("The path {shown} does not exist{end}")
}

fn moved_on(shown: &str) -> String {
    format!(
        "Error: {shown} is not the text that base_sha256 names; it was changed or removed since. \
         View it again before changing it."
    )
}

fn check_base(base: Digest, text: &Text, shown: &str) -> std::result::Result<(), Fault> {
    if Digest::of(text.as_str().as_bytes()) == base {
        return Ok(());
    }
    refuse(Refusal::Precondition, moved_on(shown))
}

fn needs_file(call: &Call<'_>) -> std::result::Result<(), Fault> {
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

fn replace_fault(shown: &str, old: &Text, fault: &ReplaceFault) -> String {
    let old = bounded(old.as_str(), ECHO_CHARACTERS_MAX);
    match fault {
        ReplaceFault::Empty => {
            "Error: No replacement was performed. `old_str` must not be empty".into()
        }
        ReplaceFault::NotFound => format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {shown}."
        ),
        ReplaceFault::Several(lines) => {
            let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
            format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: \
                 {}. Please ensure it is unique",
                lines.join(", ")
            )
        }
    }
}

fn refuse_path<T>(shown: &str, fault: &PathFault) -> std::result::Result<T, Fault> {
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

fn touch(memory: &Memory, change: Change) -> Touch {
    Touch {
        id: memory.id,
        change,
        path: Some(memory.path.clone()),
        version: memory.version,
        bytes: memory.bytes,
        blob: None,
    }
}

fn at(memory: &Memory) -> Target {
    Target::At(Place::Of(memory.id, Some(memory.path.clone())))
}

fn read_plan(content: Text, memory: &Memory, text: &Text) -> Plan {
    let step = Planned::Touch(touch(memory, Change::Read));
    Plan::about(content, at(memory), step, text)
}

/// A command that finds its work done: it succeeds, and changes nothing.
fn already(content: impl Into<Text>, memory: &Memory, text: &Text) -> Plan {
    let step = Planned::Touch(touch(memory, Change::None));
    Plan::about(content, at(memory), step, text)
}

fn write_plan(
    content: impl Into<Text>,
    memory: &Memory,
    change: Change,
    path: MemoryPath,
    text: Text,
) -> Plan {
    let sha256 = Some(Digest::of(text.as_str().as_bytes()));
    let step = Planned::Write {
        id: memory.id,
        path,
        version: memory.version + 1,
        change,
        text,
    };
    Plan {
        subject: Some(Subject { sha256 }),
        ..Plan::answer(content, at(memory), vec![step])
    }
}

/// The full path of one that `memory_read` and `memory_write` take relative to the root.
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
        Command::Malformed { .. } => (None, None),
    }
}

/// A number with its thousands apart, as the contract spells the line limit.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
