//! The tools: what `tools.toml` says of each becomes what the protocol says.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

/// A group of tools that are offered together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Effect {
    Reads,
    Adds,
    /// The former text is still there, one restore away.
    Edits,
    Deletes,
}

/// A parameter of a tool, or a part of an answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameter {
    name: String,
    #[serde(default)]
    kind: ParameterKind,
    #[serde(default)]
    required: bool,
    what: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ParameterKind {
    #[default]
    Text,
    Integer,
    Flag,
    Range,
    /// The name of a memory command.
    Command,
    /// The name of the only command that changes nothing.
    View,
    Objects,
}

/// The description of a tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spec {
    pub(super) name: String,
    pub(super) group: Group,
    title: String,
    what: String,
    effect: Effect,
    #[serde(default)]
    idempotent: bool,
    parameters: Vec<Parameter>,
    answers: OutputKind,
    pub(super) recorded_as: Option<String>,
}

/// The form of the structured part of an answer.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutputKind {
    Command,
    /// A list, under this name.
    List(String),
    /// A report, under this name.
    Done(String),
}

/// The memory commands that a single tool carries out.
pub(super) const COMMANDS: [&str; 6] = [
    "view",
    "create",
    "str_replace",
    "insert",
    "delete",
    "rename",
];

/// What `tools.toml` holds.
#[derive(Deserialize)]
pub(super) struct AllTools {
    /// The answer of a memory command.
    answer: Vec<Parameter>,
    /// The words for parameters that have none of their own.
    usual: BTreeMap<String, String>,
    /// Every tool, in the order of their listing.
    pub(super) tools: Vec<Spec>,
}

pub(super) static SPECS: LazyLock<AllTools> =
    LazyLock::new(|| toml::from_str(include_str!("tools.toml")).expect("tests read it too"));

impl Spec {
    /// Returns the names of its parameters.
    #[cfg(test)]
    pub(super) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|one| one.name.as_str())
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.effect == Effect::Reads
    }

    /// Describes the tool for the protocol. `strict` counts every loss of a text as destructive.
    pub(super) fn to_tool(&'static self, strict: bool) -> Tool {
        let effect = self.effect;
        let destructive = effect == Effect::Deletes || strict && effect == Effect::Edits;
        let annotations = ToolAnnotations::with_title(&self.title)
            .read_only(effect == Effect::Reads)
            .destructive(destructive)
            .idempotent(self.idempotent)
            .open_world(false);
        Tool::new(
            self.name.as_str(),
            self.what.as_str(),
            schema_of(&self.parameters),
        )
        .with_title(&self.title)
        .with_annotations(annotations)
        .with_raw_output_schema(self.answers.schema())
    }
}

/// Makes plain JSON Schema: no unions, references or nullable types, which some clients drop.
fn schema_of(parameters: &[Parameter]) -> Arc<JsonObject> {
    let property = |parameter: &Parameter| {
        let what = parameter.what.as_ref();
        let mut schema = parameter.kind.schema();
        schema["description"] = json!(what.unwrap_or_else(|| &SPECS.usual[&parameter.name]));
        (parameter.name.clone(), schema)
    };
    let properties: JsonObject = parameters.iter().map(property).collect();
    let required = parameters.iter().filter(|one| one.required);
    let required: Vec<&str> = required.map(|one| one.name.as_str()).collect();
    object(json!({"type": "object", "properties": properties, "required": required}))
}

impl ParameterKind {
    fn schema(&self) -> Value {
        match self {
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
            Self::Objects => json!({"type": "array", "items": {"type": "object"}}),
        }
    }
}

impl OutputKind {
    fn schema(&self) -> Arc<JsonObject> {
        let (name, schema) = match self {
            Self::Command => return schema_of(&SPECS.answer),
            Self::List(name) => (name, ParameterKind::Objects.schema()),
            Self::Done(name) => (name, json!({"type": "object"})),
        };
        object(json!({"type": "object", "properties": {name: schema}, "required": [name]}))
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
            .tools
            .iter()
            .filter(|spec| matches!(spec.answers, OutputKind::Command))
        {
            let name = spec.name.strip_prefix("memory_").unwrap_or_default();
            let names = agekeep::memory_tool::command::NAMES;
            let is_command = names.contains(&name) || names.contains(&spec.name.as_str());
            assert!(is_command || spec.name == "memory", "{}", spec.name);
        }
    }

    #[test]
    fn names_are_unique_and_texts_are_short() {
        for (at, spec) in SPECS.tools.iter().enumerate() {
            let same = |other: &&Spec| other.name == spec.name && spec.name != "memory";
            assert!(!SPECS.tools[..at].iter().any(|other| same(&other)));
            assert!(spec.what.len() < 600, "{}", spec.name);
            // Each parameter has words.
            spec.to_tool(false);
        }
    }
}
