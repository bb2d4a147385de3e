//! The tools, as data: the name, description, parameters and answers of each.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// A group of tools that are offered together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// A tool for each memory command.
    Memory,
    /// The tools for history, comparison and search, offered with those.
    Look,
    /// All memory commands in one tool.
    Single,
    /// The same, for a server that changes nothing.
    SingleLook,
    /// `memory_read` and `memory_write`.
    ReadWrite,
    /// The tool that brings back a former version.
    Restore,
    /// The tools of an administrator.
    Admin,
}

/// The effect of a tool on memories, from which the hints of the protocol follow. No tool reaches
/// beyond the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Adds,
    /// The former text is still there, one restore away.
    Edits,
    Deletes,
}

/// A parameter of a tool.
struct Parameter {
    name: &'static str,
    kind: ParameterKind,
    required: bool,
    what: &'static str,
}

enum ParameterKind {
    Text,
    Integer,
    Flag,
    Range,
    /// The name of a memory command.
    Command,
    /// The name of the only command that changes nothing.
    View,
}

const fn needs(name: &'static str, kind: ParameterKind, what: &'static str) -> Parameter {
    Parameter {
        name,
        kind,
        required: true,
        what,
    }
}

const fn takes(name: &'static str, kind: ParameterKind, what: &'static str) -> Parameter {
    Parameter {
        required: false,
        ..needs(name, kind, what)
    }
}

/// The description of a tool.
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) group: Group,
    title: &'static str,
    what: &'static str,
    effect: Effect,
    /// Set if calling it twice has the same effect as calling it once.
    idempotent: bool,
    parameters: &'static [Parameter],
    answers: OutputKind,
}

/// The form of the structured part of an answer.
#[derive(Clone, Copy)]
enum OutputKind {
    /// The event that records the command, and the memory it was about.
    Command,
    /// A list of results, under this name.
    List(&'static str),
    /// A report of what was done, or would be, under this name.
    Done(&'static str),
}

const PATH: Parameter = needs(
    "path",
    ParameterKind::Text,
    "Absolute path below /memories, such as /memories/project/notes.md",
);
const REASON: Parameter = takes(
    "reason",
    ParameterKind::Text,
    "Who asked for it and why; needed unless dry_run",
);
const WITHIN: Parameter = takes(
    "path",
    ParameterKind::Text,
    "Only this file or directory; default /memories",
);

/// The memory commands that a single tool carries out.
pub(super) const COMMANDS: [&str; 6] = [
    "view",
    "create",
    "str_replace",
    "insert",
    "delete",
    "rename",
];

/// Every tool, in the order of their listing.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        name: "memory_view",
        group: Group::Memory,
        title: "View memory",
        what: "Show a memory file with line numbers, or list a directory two levels deep. Begin \
               with the directory /memories. Long files are cut; view_range shows the rest.",
        effect: Effect::Reads,
        idempotent: true,
        parameters: &[
            needs(
                "path",
                ParameterKind::Text,
                "/memories, or a file or directory below it",
            ),
            takes(
                "view_range",
                ParameterKind::Range,
                "First and last line to show, counted from 1; -1 as last line means to the end",
            ),
        ],
        answers: OutputKind::Command,
    },
    Spec {
        name: "memory_create",
        group: Group::Memory,
        title: "Create memory",
        what: "Make a new memory file. Directories on the way appear by themselves. Secrets in the \
               text are replaced by markers before anything is kept.",
        effect: Effect::Adds,
        idempotent: false,
        parameters: &[
            PATH,
            needs(
                "file_text",
                ParameterKind::Text,
                "The whole text of the file",
            ),
        ],
        answers: OutputKind::Command,
    },
    Spec {
        name: "memory_str_replace",
        group: Group::Memory,
        title: "Edit memory",
        what: "Replace the one occurrence of a text in a memory file. The text must occur exactly \
               once; it is taken as it is, also its spaces and line ends.",
        effect: Effect::Edits,
        idempotent: false,
        parameters: &[
            PATH,
            needs(
                "old_str",
                ParameterKind::Text,
                "The text to replace, which occurs exactly once",
            ),
            takes(
                "new_str",
                ParameterKind::Text,
                "What takes its place; without it the text is removed",
            ),
        ],
        answers: OutputKind::Command,
    },
    Spec {
        name: "memory_insert",
        group: Group::Memory,
        title: "Insert into memory",
        what: "Insert whole lines into a memory file after a line.",
        effect: Effect::Adds,
        idempotent: false,
        parameters: &[
            PATH,
            needs(
                "insert_line",
                ParameterKind::Integer,
                "The line to insert after; 0 is the start",
            ),
            needs("insert_text", ParameterKind::Text, "The lines"),
        ],
        answers: OutputKind::Command,
    },
    Spec {
        name: "memory_delete",
        group: Group::Memory,
        title: "Delete memory",
        what: "Delete a memory file, or a directory with everything in it.",
        effect: Effect::Deletes,
        idempotent: true,
        parameters: &[PATH],
        answers: OutputKind::Command,
    },
    Spec {
        name: "memory_rename",
        group: Group::Memory,
        title: "Move memory",
        what: "Move or rename a memory file or directory. Nothing may be at the new path.",
        effect: Effect::Edits,
        idempotent: false,
        parameters: &[
            needs("old_path", ParameterKind::Text, "The file or directory"),
            needs(
                "new_path",
                ParameterKind::Text,
                "Its new path, at which nothing is",
            ),
        ],
        answers: OutputKind::Command,
    },
    Spec {
        name: "memory_history",
        group: Group::Look,
        title: "History of memory",
        what: "List what changed a memory file or directory, newest first: when, by whom, in which \
               session, and how many lines. Looking back does not count as reading a memory.",
        effect: Effect::Reads,
        idempotent: true,
        parameters: &[
            WITHIN,
            takes(
                "limit",
                ParameterKind::Integer,
                "At most so many changes, 1 to 200; default 20",
            ),
        ],
        answers: OutputKind::List("events"),
    },
    Spec {
        name: "memory_diff",
        group: Group::Look,
        title: "Compare memory",
        what: "Show what differs between two moments as a unified diff. A moment is an event \
               number from memory_history, HEAD~3, a time such as @2026-11-01T09:00Z, or an age \
               such as \"2h ago\". Without moments: what the last change was.",
        effect: Effect::Reads,
        idempotent: true,
        parameters: &[
            WITHIN,
            takes("from", ParameterKind::Text, "The earlier moment"),
            takes("to", ParameterKind::Text, "The later moment; default now"),
        ],
        answers: OutputKind::List("changes"),
    },
    Spec {
        name: "memory_search",
        group: Group::Look,
        title: "Search memory",
        what: "Find the lines of memory files that contain a text. Finding a line does not count \
               as reading its file: view what you go on to use.",
        effect: Effect::Reads,
        idempotent: true,
        parameters: &[
            needs(
                "pattern",
                ParameterKind::Text,
                "The text to look for, taken as it is",
            ),
            WITHIN,
            takes(
                "regex",
                ParameterKind::Flag,
                "Take the pattern as a regular expression",
            ),
            takes(
                "ignore_case",
                ParameterKind::Flag,
                "Upper and lower case are the same",
            ),
            takes(
                "history",
                ParameterKind::Flag,
                "Also look into every version there ever was",
            ),
        ],
        answers: OutputKind::List("lines"),
    },
    Spec {
        name: "memory",
        group: Group::Single,
        title: "Memory",
        what: "Keep memory files in the directory /memories across conversations. Look first: \
               view /memories before you begin. Commands: view (path, view_range), create (path, \
               file_text), str_replace (path, old_str, new_str), insert (path, insert_line, \
               insert_text), delete (path), rename (old_path, new_path). Secrets in texts are \
               replaced by markers before anything is kept.",
        effect: Effect::Deletes,
        idempotent: false,
        parameters: &[
            needs("command", ParameterKind::Command, "What to do"),
            takes(
                "path",
                ParameterKind::Text,
                "/memories, or a file or directory below it",
            ),
            takes(
                "view_range",
                ParameterKind::Range,
                "view: first and last line; -1 means to the end",
            ),
            takes(
                "file_text",
                ParameterKind::Text,
                "create: the whole text of the file",
            ),
            takes(
                "old_str",
                ParameterKind::Text,
                "str_replace: the text, which occurs exactly once",
            ),
            takes(
                "new_str",
                ParameterKind::Text,
                "str_replace: what takes its place",
            ),
            takes(
                "insert_line",
                ParameterKind::Integer,
                "insert: the line to insert after; 0 is the start",
            ),
            takes("insert_text", ParameterKind::Text, "insert: the lines"),
            takes(
                "old_path",
                ParameterKind::Text,
                "rename: the file or directory",
            ),
            takes(
                "new_path",
                ParameterKind::Text,
                "rename: its new path, at which nothing is",
            ),
        ],
        answers: OutputKind::Command,
    },
    Spec {
        name: "memory",
        group: Group::SingleLook,
        title: "Memory",
        what: "Look at memory files in the directory /memories, which are kept across \
               conversations. View /memories before you begin. Nothing can be changed here.",
        effect: Effect::Reads,
        idempotent: true,
        parameters: &[
            needs("command", ParameterKind::View, "What to do"),
            needs(
                "path",
                ParameterKind::Text,
                "/memories, or a file or directory below it",
            ),
            takes(
                "view_range",
                ParameterKind::Range,
                "First and last line; -1 means to the end",
            ),
        ],
        answers: OutputKind::Command,
    },
    Spec {
        name: "memory_read",
        group: Group::ReadWrite,
        title: "Read memory as it is",
        what: "The text of a memory file as it is, or without a path every file's path.",
        effect: Effect::Reads,
        idempotent: true,
        parameters: &[takes(
            "path",
            ParameterKind::Text,
            "The file, relative to /memories",
        )],
        answers: OutputKind::Command,
    },
    Spec {
        name: "memory_write",
        group: Group::ReadWrite,
        title: "Write memory whole",
        what: "Write the whole text of a memory file, new or not.",
        effect: Effect::Edits,
        idempotent: true,
        parameters: &[
            needs(
                "path",
                ParameterKind::Text,
                "The file, relative to /memories",
            ),
            needs("content", ParameterKind::Text, "The whole text"),
        ],
        answers: OutputKind::Command,
    },
    Spec {
        name: "memory_restore",
        group: Group::Restore,
        title: "Restore memory",
        what: "Bring a memory file or directory back to what it was at a moment. Without a \
               moment: what was deleted or has expired comes back as it was last.",
        effect: Effect::Edits,
        idempotent: true,
        parameters: &[
            PATH,
            takes(
                "from",
                ParameterKind::Text,
                "The moment: an event number, HEAD~3, a time or an age",
            ),
        ],
        answers: OutputKind::Done("plan"),
    },
    Spec {
        name: "memory_expire",
        group: Group::Admin,
        title: "Sweep expired memory",
        what: "Remove what has expired by the policy, and erase what is past its grace. Unless \
               dry_run is false, only say what would go.",
        effect: Effect::Deletes,
        idempotent: true,
        parameters: &[takes(
            "dry_run",
            ParameterKind::Flag,
            "Change nothing; default true",
        )],
        answers: OutputKind::Done("sweep"),
    },
    Spec {
        name: "memory_redact",
        group: Group::Admin,
        title: "Redact memory",
        what: "Look for secrets in a memory file by today's rules, replace them by markers, and \
               erase everything the file was before.",
        effect: Effect::Deletes,
        idempotent: false,
        parameters: &[
            PATH,
            REASON,
            takes(
                "dry_run",
                ParameterKind::Flag,
                "Change nothing, and say which versions would be destroyed",
            ),
        ],
        answers: OutputKind::Done("redaction"),
    },
    Spec {
        name: "memory_erase",
        group: Group::Admin,
        title: "Erase memory for good",
        what: "Destroy the keys of a memory file or directory: gone from history too, in every \
               copy. Nothing brings it back.",
        effect: Effect::Deletes,
        idempotent: false,
        parameters: &[
            PATH,
            REASON,
            takes(
                "history",
                ParameterKind::Flag,
                "Keep the present version, and erase all before it",
            ),
            takes(
                "dry_run",
                ParameterKind::Flag,
                "Change nothing, and say what would be erased",
            ),
        ],
        answers: OutputKind::Done("erasure"),
    },
];

impl Spec {
    /// Returns the names of its parameters.
    #[cfg(test)]
    pub(super) fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.parameters.iter().map(|parameter| parameter.name)
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.effect == Effect::Reads
    }

    /// Describes the tool for the protocol. `strict` counts every loss of a text as destructive.
    pub(super) fn to_tool(&self, strict: bool) -> Tool {
        let effect = self.effect;
        let destructive = effect == Effect::Deletes || strict && effect == Effect::Edits;
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(effect == Effect::Reads)
            .destructive(destructive)
            .idempotent(self.idempotent)
            .open_world(false);
        Tool::new(self.name, self.what, self.input_schema())
            .with_title(self.title)
            .with_annotations(annotations)
            .with_raw_output_schema(self.answers.schema())
    }

    /// Makes plain JSON Schema: no unions, references or nullable types, which some clients drop.
    fn input_schema(&self) -> Arc<JsonObject> {
        let property = |parameter: &Parameter| {
            let mut schema = parameter.kind.schema();
            schema.insert("description".into(), parameter.what.into());
            (parameter.name.to_owned(), Value::Object(schema))
        };
        let properties: JsonObject = self.parameters.iter().map(property).collect();
        let required = self.parameters.iter().filter(|one| one.required);
        let required: Vec<&str> = required.map(|one| one.name).collect();
        object(json!({"type": "object", "properties": properties, "required": required}))
    }
}

impl ParameterKind {
    fn schema(&self) -> JsonObject {
        let schema = match self {
            Self::Text => json!({"type": "string"}),
            Self::Integer => json!({"type": "integer"}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Range => json!({
                "type": "array",
                "items": {"type": "integer"},
                "minItems": 2,
                "maxItems": 2,
            }),
            Self::View => json!({"type": "string", "enum": ["view"]}),
            Self::Command => json!({"type": "string", "enum": COMMANDS}),
        };
        match schema {
            Value::Object(schema) => schema,
            _ => unreachable!("each is an object"),
        }
    }
}

impl OutputKind {
    fn schema(self) -> Arc<JsonObject> {
        let text = |what: &str| json!({"type": "string", "description": what});
        let number = |what: &str| json!({"type": "integer", "description": what});
        object(match self {
            Self::Command => json!({
                "type": "object",
                "properties": {
                    "event": number("The number of the event that records the command"),
                    "commit": text("Its commit"),
                    "time": text("When, RFC 3339 in UTC"),
                    "outcome": text("ok, error or denied"),
                    "error": text("The one-word name of the error, where there was one"),
                    "memory": text("The lasting id of the memory the command was about"),
                    "path": text("Its path after the command"),
                    "version": number("Its version after the command"),
                    "bytes": number("Bytes of its text"),
                    "sha256": text("SHA-256 of its text"),
                    "redactions": {
                        "type": "array",
                        "items": {"type": "object"},
                        "description": "What was stripped before anything was kept: kinds and lines",
                    },
                },
                "required": ["event", "commit", "time", "outcome"],
            }),
            Self::List(name) => json!({
                "type": "object",
                "properties": {name: {"type": "array", "items": {"type": "object"}}},
                "required": [name],
            }),
            Self::Done(name) => json!({
                "type": "object",
                "properties": {name: {"type": "object"}},
                "required": [name],
            }),
        })
    }
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => unreachable!("each is an object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_tool_names_a_command() {
        for spec in SPECS
            .iter()
            .filter(|spec| matches!(spec.answers, OutputKind::Command))
        {
            let name = spec.name.strip_prefix("memory_").unwrap_or_default();
            let is_command = agekeep::memory_tool::command::NAMES.contains(&name)
                || agekeep::memory_tool::command::NAMES.contains(&spec.name);
            assert!(is_command || spec.name == "memory", "{}", spec.name);
        }
    }

    #[test]
    fn names_are_unique_and_texts_are_short() {
        for (at, spec) in SPECS.iter().enumerate() {
            let same = |other: &&Spec| other.name == spec.name && spec.name != "memory";
            assert!(!SPECS[..at].iter().any(|other| same(&other)));
            assert!(spec.what.len() < 600, "{}", spec.name);
        }
    }
}
