//! What a tool call does, and how it is answered.

use agekeep::event::Context;
use agekeep::jsonl;
use agekeep::memory_tool::command::Command;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::Value;

use crate::mcp::keeper::{Done, Kept};
use crate::mcp::tool::{COMMANDS, Group, Spec};
use crate::mcp::{Offer, care, look};

/// One call.
pub(super) struct Call {
    pub(super) spec: &'static Spec,
    pub(super) arguments: JsonObject,
    pub(super) context: Context,
    /// What is wrong with what came beside it.
    pub(super) fault: Option<String>,
}

impl Call {
    /// Whether it is of a memory command, and of nothing else.
    pub(super) fn is_command(&self) -> bool {
        !matches!(self.spec.group, Group::Look | Group::Restore | Group::Admin)
    }
}

/// Its answer.
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) is_error: bool,
    pub(super) structured: Option<Value>,
}

impl Reply {
    pub(super) fn found(text: String, structured: Value) -> Self {
        Self {
            text,
            is_error: false,
            structured: Some(structured),
        }
    }

    /// The answer to a memory command, word for word as the memory tool says it.
    pub(super) fn of_command(done: Done) -> Self {
        match done {
            Ok(answer) => Self {
                text: answer.content.as_str().to_owned(),
                is_error: answer.is_error(),
                structured: Some(
                    serde_json::to_value(&answer.meta).expect("facts have a JSON form"),
                ),
            },
            Err(why) => Self::error(&why),
        }
    }

    /// In words for the model.
    pub(super) fn error(why: &str) -> Self {
        Self {
            text: format!("Error: {why}"),
            is_error: true,
            structured: None,
        }
    }

    pub(super) fn into_result(self) -> CallToolResult {
        let content = vec![ContentBlock::text(self.text)];
        let mut result = if self.is_error {
            CallToolResult::error(content)
        } else {
            CallToolResult::success(content)
        };
        result.structured_content = self.structured;
        result
    }
}

/// Carries out a call of what is no memory command.
pub(super) fn answer(kept: &mut Kept, call: Call) -> Reply {
    carried_out(kept, call).unwrap_or_else(|fault| {
        let why = match fault {
            Fault::Misused(why) => why,
            Fault::Failed(error) => jsonl::explain(&error),
        };
        // A path or a moment that is not there is repeated as it was asked for.
        Reply::error(&kept.masked(why))
    })
}

fn carried_out(kept: &mut Kept, call: Call) -> Result<Reply, Fault> {
    let path = call.arguments.get("path").and_then(Value::as_str);
    if let (Some(path), Some(command)) = (path, recorded_as(call.spec.name)) {
        // It is judged before anything else, and on record however else the call is wrong.
        kept.with(|store| store.parse_asked_path(path, command, &call.context))?;
    }
    if let Some(why) = call.fault {
        return Err(Fault::Misused(why));
    }
    let mut arguments = Arguments::new(call.spec.name, call.arguments);
    if call.spec.group == Group::Look {
        look::answer(kept, call.spec.name, &mut arguments, &call.context)
    } else {
        care::answer(kept, call.spec.name, &mut arguments, &call.context)
    }
}

/// How events name what a tool does with a path, where that is no memory command.
fn recorded_as(tool: &str) -> Option<&'static str> {
    match tool {
        "memory_history" => Some("log"),
        "memory_diff" => Some("diff"),
        "memory_search" => Some("grep"),
        "memory_restore" => Some("restore"),
        "memory_redact" => Some("redact"),
        "memory_erase" => Some("erase"),
        _ => None,
    }
}

/// What a call means as a memory command, and in which context.
pub(super) fn command(offer: &Offer, call: Call) -> (Command, Context) {
    let mut command = match call.spec.group {
        Group::Single | Group::SingleLook => single(call.arguments),
        Group::ReadWrite => Command::from_fields(call.spec.name, call.arguments),
        _ => {
            let name = call.spec.name.trim_start_matches("memory_");
            Command::from_fields(name, call.arguments)
        }
    };
    if let Some(why) = call.fault {
        command = command.spoiled(why);
    }
    if offer.read_only && !matches!(command.name(), "view" | "memory_read" | "unknown") {
        command = command.spoiled("this memory is read-only here".into());
    }
    (command, call.context)
}

/// The command of the one tool, which has fewer than there are.
fn single(arguments: JsonObject) -> Command {
    let name = arguments.get("command").and_then(Value::as_str);
    if name.is_none_or(|name| COMMANDS.contains(&name)) {
        return Command::from_json(Value::Object(arguments));
    }
    Command::Malformed {
        command: None,
        why: format!("unknown command; the commands are {}", COMMANDS.join(", ")),
        path: None,
    }
}

/// Why a call that is no memory command was not carried out.
pub(super) enum Fault {
    /// Its parameters do not fit.
    Misused(String),
    /// The store says why.
    Failed(agekeep::error::Error),
}

impl From<agekeep::error::Error> for Fault {
    fn from(error: agekeep::error::Error) -> Self {
        Self::Failed(error)
    }
}

/// The parameters of a call, taken one by one. Unknown ones are ignored, null is absent.
pub(super) struct Arguments {
    tool: &'static str,
    fields: JsonObject,
}

impl Arguments {
    fn new(tool: &'static str, fields: JsonObject) -> Self {
        Self { tool, fields }
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            // Event numbers come as numbers too.
            Some(Value::Number(number)) if name != "path" => Ok(Some(number.to_string())),
            Some(_) => Err(self.misused(name, "a string")),
        }
    }

    pub(super) fn needed_text(&mut self, name: &str) -> Result<String, Fault> {
        let text = self.text(name)?;
        text.ok_or_else(|| self.misused(name, "a string"))
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(self.misused(name, "true or false")),
        }
    }

    pub(super) fn count(&mut self, name: &str, most: usize) -> Result<Option<usize>, Fault> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
        let fits = count.filter(|count| (1..=most).contains(count));
        fits.map(Some)
            .ok_or_else(|| self.misused(name, &format!("an integer from 1 to {most}")))
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name).filter(|value| !value.is_null())
    }

    fn misused(&self, name: &str, what: &str) -> Fault {
        Fault::Misused(format!(
            "{} needs the parameter `{name}`: {what}",
            self.tool
        ))
    }
}
