//! Tool calls and their answers.

use agekeep::event::Context;
use agekeep::jsonl;
use agekeep::memory_tool::command::Command;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use rmcp::service::RequestContext;
use serde_json::Value;

use crate::mcp::tool::{COMMANDS, Group, Spec};
use crate::mcp::{OfferedTools, history_tools};
use crate::worker::{Done, WorkerState};

/// A call of a tool.
pub(super) struct Call {
    pub(super) spec: &'static Spec,
    pub(super) arguments: JsonObject,
    pub(super) context: Context,
    /// The error in the request's `_meta`, or one that `_meta` reports, if there is one.
    pub(super) fault: Option<String>,
}

impl Call {
    /// Tells whether this is a memory command and nothing else.
    pub(super) fn is_command(&self) -> bool {
        !matches!(self.spec.group, Group::Look | Group::Restore | Group::Admin)
    }
}

/// The answer to one tool call.
pub(super) struct ToolReply {
    pub(super) text: String,
    pub(super) is_error: bool,
    pub(super) structured: Option<Value>,
}

impl ToolReply {
    pub(super) fn found(text: String, structured: Value) -> Self {
        Self {
            text,
            is_error: false,
            structured: Some(structured),
        }
    }

    /// Makes the answer to a memory command, word for word as the memory tool gives it.
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

    /// Makes the answer for an error, in words for the model.
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

/// Carries out a call that is no memory command.
pub(super) fn answer(state: &mut WorkerState, call: Call) -> ToolReply {
    carried_out(state, call).unwrap_or_else(|fault| {
        let why = match fault {
            CallFault::Misused(why) => why,
            CallFault::Failed(error) => jsonl::explain(&error),
        };
        // The error may repeat a path or moment as the caller wrote it.
        ToolReply::error(&state.redacted(why))
    })
}

fn carried_out(state: &mut WorkerState, call: Call) -> Result<ToolReply, CallFault> {
    let path = call.arguments.get("path").and_then(Value::as_str);
    if let (Some(path), Some(command)) = (path, call.spec.recorded_as.as_deref()) {
        // The path is checked before anything else, and recorded whatever else is wrong.
        state.with(|store| store.parse_asked_path(path, command, &call.context))?;
    }
    if let Some(why) = call.fault {
        return Err(CallFault::Misused(why));
    }
    let tool = &call.spec.name;
    let arguments = Arguments {
        tool,
        fields: call.arguments,
    };
    let mut call = StoreCall {
        state,
        arguments,
        context: call.context,
    };
    history_tools::answer(tool, &mut call)
}

/// A call that is no memory command, and the store to carry it out with.
pub(super) struct StoreCall<'a> {
    pub(super) state: &'a mut WorkerState,
    pub(super) arguments: Arguments,
    pub(super) context: Context,
}

/// Translates a call into a memory command and its context.
pub(super) fn command(offer: &OfferedTools, call: Call) -> (Command, Context) {
    let mut command = match call.spec.group {
        Group::Single | Group::SingleLook => single(call.arguments),
        Group::ReadWrite => Command::from_fields(&call.spec.name, call.arguments),
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

/// Parses the command of the single tool, which knows only [`COMMANDS`].
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

/// The reason why a call that is no memory command was not carried out.
pub(super) enum CallFault {
    /// Its parameters do not fit.
    Misused(String),
    /// The store could not do it, and says why.
    Failed(agekeep::error::Error),
}

impl From<agekeep::error::Error> for CallFault {
    fn from(error: agekeep::error::Error) -> Self {
        Self::Failed(error)
    }
}

/// The parameters of a call, taken one by one; unknown ones are ignored, and null counts as absent.
pub(super) struct Arguments {
    tool: &'static str,
    fields: JsonObject,
}

impl Arguments {
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, CallFault> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            // Clients send event numbers as JSON numbers too.
            Some(Value::Number(number)) if name != "path" => Ok(Some(number.to_string())),
            Some(_) => Err(self.misused(name, "a string")),
        }
    }

    pub(super) fn needed_text(&mut self, name: &str) -> Result<String, CallFault> {
        let text = self.text(name)?;
        text.ok_or_else(|| self.misused(name, "a string"))
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, CallFault> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(self.misused(name, "true or false")),
        }
    }

    pub(super) fn count(&mut self, name: &str, most: usize) -> Result<Option<usize>, CallFault> {
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

    fn misused(&self, name: &str, what: &str) -> CallFault {
        CallFault::Misused(format!(
            "{} needs the parameter `{name}`: {what}",
            self.tool
        ))
    }
}

// The caller, as the client describes itself: claimed, not verified, and recorded as such.

/// The `_meta` field in which a client may give what JSON lines give in `context`: actor, session,
/// reason and so on.
const CONTEXT: &str = "agekeep/context";
/// The `_meta` field in which [`super::stdio`] marks a message that it had to repair.
pub(super) const REPAIRED: &str = "agekeep/mended";
/// The end of the name of the `_meta` field in which a client gives the model's tool call id.
const TOOL_USE_ID: &str = "/toolUseId";

/// Returns the context of a request, and the error in what the client says of it, if any.
pub(super) fn context_of(
    defaults: &Context,
    request: &RequestContext<RoleServer>,
) -> (Context, Option<String>) {
    let mut context = defaults.clone();
    if let Some(client) = request.client_info() {
        context.client = Some(format!("{}/{}", client.name, client.version));
    }
    if let Some(session) = session_of(request) {
        context.session.get_or_insert(session);
    }
    context.trace = request.meta.get_traceparent().and_then(trace_id);
    let said = |(name, value): (&String, &Value)| {
        let id = value.as_str().filter(|_| name.ends_with(TOOL_USE_ID))?;
        Some(id.to_owned())
    };
    let fields = || request.meta.iter();
    context.tool_use_id = fields().find_map(said);
    let asked = fields().find(|(name, _)| *name == CONTEXT);
    let asked = asked.map(|(_, value)| value.clone());
    let fault = jsonl::fill_context(&mut context, asked).err();
    let is_mended = fields().any(|(name, _)| name == REPAIRED);
    let repaired = is_mended.then(|| "a string in it holds half a surrogate pair".to_owned());
    (context, repaired.or(fault))
}

/// Parses the trace id of a `traceparent` (W3C Trace Context, section 3.2.2): 32 lowercase
/// hexadecimal digits that are not all zero.
fn trace_id(traceparent: &str) -> Option<String> {
    let id = traceparent.split('-').nth(1)?;
    let is_hex = id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    (id.len() == 32 && is_hex && id.bytes().any(|b| b != b'0')).then(|| id.to_owned())
}

/// Returns the session that the server made for a client of the older protocol version over HTTP.
#[cfg(feature = "http")]
fn session_of(request: &RequestContext<RoleServer>) -> Option<String> {
    let parts = request.extensions.get::<hyper::http::request::Parts>()?;
    let session = parts.headers.get("mcp-session-id")?;
    session.to_str().ok().map(str::to_owned)
}

#[cfg(not(feature = "http"))]
fn session_of(_: &RequestContext<RoleServer>) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::tool::SPECS;

    /// A path that leaves /memories is on record whatever tool it was given to: for a memory
    /// command by the command itself, for other tools under this name.
    #[test]
    fn every_tool_that_takes_a_path_records_it() {
        let is_command = |group| {
            matches!(
                group,
                Group::Memory | Group::Single | Group::SingleLook | Group::ReadWrite
            )
        };
        for spec in SPECS.tools.iter().filter(|spec| !is_command(spec.group)) {
            let paths: Vec<_> = spec
                .parameters()
                .filter(|name| name.contains("path"))
                .collect();
            assert!(paths.is_empty() || paths == ["path"], "{}", spec.name);
            assert_eq!(
                spec.recorded_as.is_some(),
                !paths.is_empty(),
                "{}",
                spec.name
            );
        }
    }

    #[test]
    fn a_trace_id_is_what_the_specification_says() {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        let good = format!("00-{id}-00f067aa0ba902b7-01");
        assert_eq!(trace_id(&good).as_deref(), Some(id));
        for bad in [
            "",
            "00",
            "00--00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f35-00f067aa0ba902b7-01",
        ] {
            assert_eq!(trace_id(bad), None, "{bad}");
        }
    }
}
