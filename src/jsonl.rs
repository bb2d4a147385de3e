//! Memory-tool calls as JSON, in three shapes, and their answers.
//!
//! | a call | its answer |
//! |---|---|
//! | a bare input, `{"command":…}` | `{"id":null,"content":…,"is_error":…,"meta":…}` |
//! | `{"id":…,"input":…,"context":…}` | the same with its `id` |
//! | a `tool_use` block | a `tool_result` block |

#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::crypto::digest::Digest;
use crate::error::{Error, KeyFault, SigningFault};
use crate::event::Context;
use crate::memory_tool::command::Command;
use crate::store::Store;
use crate::store::answer::Answer;

/// The answer to a caller. Serialized, it has the caller's id verbatim.
#[non_exhaustive]
pub struct Reply {
    /// The answer, in the shape of the call. A number in its id may be rounded.
    pub json: Value,
    /// The id as the caller wrote it, if `json` may differ.
    id: Option<Box<RawValue>>,
    /// The exit code of the error that kept the command from being recorded, and so from being
    /// carried out.
    pub unrecorded: Option<u8>,
}

impl Serialize for Reply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.json.as_object().into_iter().flatten();
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in fields {
            match (name.as_str(), &self.id) {
                ("id" | "tool_use_id", Some(id)) => map.serialize_entry(name, id)?,
                _ => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

/// Carries out calls given as JSON, in order, until the iterator ends, and answers every one. Calls
/// that arrive before the first is durable become durable together with it. `defaults` provides
/// context fields that a call does not set. `replied` gets the answers in order, each as soon as it
/// may go out; as for [`Store::execute_all`], it must not wait for anybody.
#[allow(clippy::missing_panics_doc)] // never: the expectation says why
pub fn answer(
    store: &mut Store,
    lines: impl IntoIterator<Item = impl AsRef<[u8]>>,
    defaults: &Context,
    mut replied: impl FnMut(Reply),
) {
    let shapes = RefCell::new(VecDeque::new());
    let calls = lines
        .into_iter()
        .filter_map(|line| match parse(line.as_ref(), defaults) {
            Ok(call) => {
                shapes.borrow_mut().push_back(Ok(call.shape));
                Some((call.command, call.context))
            }
            Err((shape, why)) => {
                let fault = shape.fault("malformed_line", &why, None);
                shapes.borrow_mut().push_back(Err(fault));
                None
            }
        });
    store.execute_all(calls, |answer| {
        let shape = loop {
            let next = shapes.borrow_mut().pop_front();
            match next.expect("each call has a shape") {
                Ok(shape) => break shape,
                Err(fault) => replied(fault),
            }
        };
        replied(match answer {
            Ok(answer) => shape.answer(&answer),
            Err(error) => shape.fault(error.code(), &explain(&error), Some(error.exit_code())),
        });
    });
    let rest = shapes.into_inner().into_iter();
    rest.filter_map(Result::err).for_each(replied);
}

/// Builds the answer to a line over the limit, which was not read.
#[must_use]
pub fn too_long(bytes_max: usize) -> Reply {
    let why = format!("the line is longer than {bytes_max} bytes");
    CallForm::Bare.fault("limit_exceeded", &why, None)
}

/// Explains an error of a store and the way out, in words that a model may read: no path of this
/// machine is among them.
#[must_use]
pub fn explain(error: &Error) -> String {
    let text = public_text(error);
    match error {
        Error::NoStore { .. } => format!(
            "{text} (whoever set up this memory can create a store with `agekeep init`, or name \
             one with --store)"
        ),
        Error::NoKeyFile { what, .. } | Error::BadKeyFile { what, .. } => format!(
            "{text} (whoever set up this memory can restore the {what} from a backup, or name \
             another with --{})",
            what.replace(' ', "-")
        ),
        Error::Key(KeyFault::NotPrivate { what, .. }) => format!(
            "{text} (whoever set up this memory can make the {what} private with `chmod go=`)"
        ),
        // Their hints are for people only, name a file, or are for the command line.
        Error::Invalid { .. }
        | Error::DeniedPath { .. }
        | Error::NotThere { .. }
        | Error::Conflict { .. }
        | Error::NothingToUndo { .. }
        | Error::PlanChanged { .. }
        | Error::RolledBack { .. }
        | Error::AnotherStore { .. }
        | Error::BadPin { .. }
        | Error::HistoryFull { .. }
        | Error::Signing(_) => text,
        _ => format!("{text} ({})", error.hint()),
    }
}

/// Formats an error in words that a model may read: without a path of this machine.
fn public_text(error: &Error) -> String {
    match error {
        Error::Io { doing, source, .. } => format!("the store cannot {doing} a file: {source}"),
        Error::Locked { waited_seconds, .. } => {
            format!("the store stayed locked for {waited_seconds} s")
        }
        Error::Damaged { why, .. } => format!("the store is damaged: {why}"),
        Error::HeadMoved { .. } => "the store's branch does not match its journal".into(),
        Error::RolledBack { .. } => "the store's history was rolled back".into(),
        Error::AnotherStore { .. } => "another store is in the place of the known one".into(),
        Error::BadPin { .. } => "the file that remembers the newest event of the store cannot be \
                                 read"
            .into(),
        Error::UnknownFormat { found, .. } => {
            format!(
                "the store has the format version {found}, which this version of agekeep does \
                     not know"
            )
        }
        Error::NotASigner { .. }
        | Error::Signing(SigningFault::NotValid { .. })
        | Error::NoSigningKey => "the store's signing key may not write to it".into(),
        Error::Signing(SigningFault::Agent { why, .. }) => {
            format!("the ssh-agent of the store's signer did not sign: {why}")
        }
        Error::MissingKey { memory } => format!("the store has no key for the memory {memory}"),
        Error::Policy { why, .. } => format!("the store's policy is not valid: {why}"),
        Error::Invalid { what, why } => format!("{what} cannot be used: {why}"),
        Error::TooLong { what, bytes_max } => format!("{what} is longer than {bytes_max} bytes"),
        Error::HistoryFull { .. } => format!("{error}; a person has to raise the limit"),
        // A session that continues over the limit, and errors that only administrative commands
        // cause.
        Error::DeniedPath { .. }
        | Error::NoRevision { .. }
        | Error::CursorLost { .. }
        | Error::NothingToUndo { .. }
        | Error::Ambiguous { .. }
        | Error::NotThere { .. }
        | Error::Conflict { .. }
        | Error::PlanChanged { .. }
        | Error::PolicyChanged
        | Error::TooManyEvents { .. }
        | Error::NotRolledBack
        | Error::OldFormat
        | Error::NotATrial
        | Error::NotConfirmed { .. }
        | Error::Retention(_)
        | Error::Signing(_)
        | Error::Membership(_) => error.to_string(),
        Error::NoStore { .. } => "there is no store here".into(),
        Error::NoKeyFile { what, .. } => format!("the {what} of the store is missing"),
        Error::BadKeyFile { what, .. } => format!("the {what} of the store cannot be used"),
        Error::Key(KeyFault::NoPassphrase { .. }) => {
            "the store's key has a passphrase, and nobody is here to enter it".into()
        }
        Error::StoreExists { .. }
        | Error::NotEmpty { .. }
        | Error::NotYours { .. }
        | Error::Key(_)
        | Error::NotARecipient { .. }
        | Error::NotAReader
        | Error::Export(_)
        | Error::Remote(_)
        | Error::NoKeyring { .. } => format!("the store cannot be opened ({})", error.code()),
    }
}

/// The shape of a call, which its answer follows.
enum CallForm {
    /// Only the input.
    Bare,
    /// An envelope with the caller's id, or null.
    Envelope(Id),
    /// A `tool_use` block with this id.
    Block(Id),
}

/// The id by which a caller recognizes its answer.
#[derive(Default)]
struct Id {
    value: Value,
    /// The verbatim id, if the value may differ.
    written: Option<Box<RawValue>>,
}

struct ToolCall {
    shape: CallForm,
    command: Command,
    context: Context,
}

impl CallForm {
    fn answer(self, answer: &Answer) -> Reply {
        let meta = serde_json::to_value(&answer.meta).expect("facts have a JSON form");
        self.reply(answer.content.as_str(), answer.is_error(), &meta, None)
    }

    fn fault(self, code: &str, why: &str, unrecorded: Option<u8>) -> Reply {
        self.reply(
            &format!("Error: {why}"),
            true,
            &json!({"error": code}),
            unrecorded,
        )
    }

    fn reply(self, content: &str, is_error: bool, meta: &Value, unrecorded: Option<u8>) -> Reply {
        let plain =
            |id: &Value| json!({"id": id, "content": content, "is_error": is_error, "meta": meta});
        let (json, id) = match self {
            Self::Bare => (plain(&Value::Null), None),
            Self::Envelope(id) => (plain(&id.value), id.written),
            // The Messages API accepts only these fields.
            Self::Block(id) => {
                let json = json!({
                    "type": "tool_result",
                    "tool_use_id": id.value,
                    "content": content,
                    "is_error": is_error,
                });
                (json, id.written)
            }
        };
        Reply {
            json,
            id,
            unrecorded,
        }
    }
}

fn parse(line: &[u8], defaults: &Context) -> Result<ToolCall, (CallForm, String)> {
    let none = || CallForm::Bare;
    let text = std::str::from_utf8(line).map_err(|_| (none(), "the line is not UTF-8".into()))?;
    // Some programs begin a file with a byte-order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (value, fault) = match serde_json::from_str(text) {
        Ok(value) => (value, None),
        Err(e) => {
            let why = format!("the line is not JSON at column {}", e.column());
            match despite_surrogates(text) {
                Some(value) => (value, Some(why)),
                None => return Err((none(), why)),
            }
        }
    };
    let Value::Object(mut fields) = value else {
        return Err((none(), "the line is not a JSON object".into()));
    };
    let shape = shape_of(&mut fields, text);
    let mut context = defaults.clone();
    let command = match &shape {
        CallForm::Bare => Command::from_json(Value::Object(fields)),
        CallForm::Envelope(_) | CallForm::Block(_) => {
            if let CallForm::Block(Id {
                value: Value::String(id),
                ..
            }) = &shape
            {
                context.tool_use_id = Some(id.clone());
            }
            let filled = fill_context(&mut context, fields.remove("context"));
            let name = fields.remove("name");
            let input = fields.remove("input").unwrap_or_default();
            let command = command_of(name.as_ref().and_then(Value::as_str), input);
            match filled {
                Ok(()) => command,
                Err(why) => command.spoiled(why),
            }
        }
    };
    let command = match fault {
        None => command,
        Some(why) => command.spoiled(why),
    };
    Ok(ToolCall {
        shape,
        command,
        context,
    })
}

/// Takes the call's id and determines its shape. An object with its own `command` is a bare input,
/// and its other fields are unknown ones.
fn shape_of(fields: &mut Map<String, Value>, line: &str) -> CallForm {
    if fields.contains_key("command") {
        return CallForm::Bare;
    }
    let is_block = fields.get("type").and_then(Value::as_str) == Some("tool_use");
    if !is_block && !fields.contains_key("input") {
        return CallForm::Bare;
    }
    let value = fields.remove("id").unwrap_or_default();
    let written = has_inexact(&value).then(|| written_id(line)).flatten();
    let id = Id { value, written };
    if is_block {
        CallForm::Block(id)
    } else {
        CallForm::Envelope(id)
    }
}

/// Tells whether it contains a number that may be inexact.
fn has_inexact(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(values) => values.iter().any(has_inexact),
        Value::Object(fields) => fields.values().any(has_inexact),
        _ => false,
    }
}

/// Returns the verbatim id in a line. If there are several, the last counts.
fn written_id(line: &str) -> Option<Box<RawValue>> {
    let read = |line: &str| {
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(line).ok()?;
        Some((*fields.get("id")?).to_owned())
    };
    let id = read(line).or_else(|| read(&without_lone_surrogates(line)))?;
    // An answer is one line, even for callers that end lines at a carriage return.
    (!id.get().contains(['\n', '\r'])).then_some(id)
}

/// Parses the command of an input, whose name may come from the called tool.
fn command_of(tool: Option<&str>, input: Value) -> Command {
    match (tool, input) {
        (Some(name @ ("memory_read" | "memory_write")), Value::Object(fields)) => {
            Command::from_fields(name, fields)
        }
        (None | Some("memory"), input) => Command::from_json(input),
        (Some(_), _) => Command::Malformed {
            command: None,
            why: "the tool must be memory, memory_read or memory_write, and its input an object"
                .into(),
            path: None,
        },
    }
}

/// Takes over the fields of a call's own `context` object; other fields stay.
///
/// # Errors
/// A message for the caller, if it is not an object or one of its fields is invalid.
pub fn fill_context(context: &mut Context, asked: Option<Value>) -> Result<(), String> {
    let mut fields = match asked {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err("`context` must be an object".into()),
    };
    let mut take = |name: &str| match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`context.{name}` must be a string")),
    };
    for (name, place) in [
        ("actor", &mut context.actor),
        ("session", &mut context.session),
        ("tool_use_id", &mut context.tool_use_id),
        ("client", &mut context.client),
        ("trace", &mut context.trace),
        ("reason", &mut context.reason),
    ] {
        if let Some(text) = take(name)? {
            *place = Some(text);
        }
    }
    if let Some(text) = take("base_sha256")? {
        let digest = Digest::from_hex(&text)
            .ok_or("`context.base_sha256` must be 64 lowercase hexadecimal digits")?;
        context.base_sha256 = Some(digest);
    }
    Ok(())
}

/// Parses a line of JSON whose only fault is a lone surrogate. Some languages send such strings,
/// and their callers wait for an answer with the right id. The caller has to refuse and record any
/// request in it.
#[must_use]
pub fn despite_surrogates(text: &str) -> Option<Value> {
    serde_json::from_str(&without_lone_surrogates(text)).ok()
}

fn without_lone_surrogates(text: &str) -> String {
    let code = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match code(rest) {
            Some(0xd800..=0xdbff)
                if matches!(rest.get(6..).and_then(code), Some(0xdc00..=0xdfff)) =>
            {
                12
            }
            Some(0xd800..=0xdfff) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            Some(_) => 6,
            None => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn call(line: &str) -> Result<ToolCall, (CallForm, String)> {
        parse(line.as_bytes(), &Context::default())
    }

    #[test]
    fn three_shapes() {
        let bare = call(r#"{"command":"view","path":"/memories","id":7}"#)
            .ok()
            .expect("parses");
        assert!(matches!(bare.shape, CallForm::Bare));
        let envelope = call(r#"{"id":7,"input":{"command":"view","path":"/memories"}}"#)
            .ok()
            .expect("parses");
        assert!(matches!(&envelope.shape, CallForm::Envelope(id) if id.value == 7));
        let block = r#"{"type":"tool_use","id":"toolu_1","name":"memory_read","input":{}}"#;
        let block = call(block).ok().expect("parses");
        assert!(matches!(&block.shape, CallForm::Block(id) if id.value == "toolu_1"));
        assert!(matches!(block.command, Command::Read { path: None }));
        assert_eq!(block.context.tool_use_id.as_deref(), Some("toolu_1"));
        let other = r#"{"type":"tool_use","id":"t","name":"bash","input":{"command":"view","path":"/memories"}}"#;
        assert!(matches!(
            call(other).ok().expect("parses").command,
            Command::Malformed { .. }
        ));
    }

    #[test]
    fn a_lone_surrogate_is_an_error_with_the_right_id() {
        for text in [r"\ud800", r"\udc00 x", r"a\\\ud83d!", r"\ud800\ud800"] {
            let line = format!(r#"{{"id":"seven","input":{{"command":"view","path":"{text}"}}}}"#);
            let call = call(&line).ok().expect("a call to refuse and record");
            assert!(matches!(call.command, Command::Malformed { .. }), "{line}");
            assert!(
                matches!(&call.shape, CallForm::Envelope(id) if id.value == "seven"),
                "{line}"
            );
        }
        let pair = r#"{"id":1,"input":{"command":"view","path":"\\ud800 \ud83d\ude00"}}"#;
        assert!(call(pair).is_ok());
    }

    #[test]
    fn lines_that_are_no_calls() {
        for line in ["", "{", "3", "[]", "null", "\"view\"", "{}{}", "\u{0}"] {
            assert!(call(line).is_err(), "{line}");
        }
        for context in ["3", r#"{"actor":3}"#, r#"{"base_sha256":"AB"}"#] {
            let input = r#"{"command":"view","path":"/memories"}"#;
            let line = format!(r#"{{"input":{input},"context":{context}}}"#);
            let call = call(&line).ok().expect("a call to refuse and record");
            assert!(matches!(call.command, Command::Malformed { .. }), "{line}");
        }
        assert!(parse(b"{\"command\":\"\xff\"}", &Context::default()).is_err());
        assert!(call(&format!("{}1{}", "[".repeat(5000), "]".repeat(5000))).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_parser(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&line, &Context::default());
        }

        #[test]
        fn no_escape_breaks_the_surrogate_mender(text in r#"(\\(u[0-9a-fA-F]{0,4}|.)|[a-zé"]){0,12}"#) {
            let repaired = without_lone_surrogates(&text);
            let line = format!("\"{text}\"");
            if serde_json::from_str::<Value>(&line).is_ok() {
                prop_assert_eq!(repaired, text);
            }
        }
    }
}
