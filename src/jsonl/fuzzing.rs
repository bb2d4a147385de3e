//! Properties of calls as JSON lines.
#![allow(clippy::missing_panics_doc)] // a law that is broken panics: that is what finds it

use serde_json::{Value, json};

use crate::event::Context;
use crate::jsonl::{CallForm, ToolCall, has_inexact, parse, without_lone_surrogates};
use crate::memory_tool::command::Command;

/// Reads `line` as a call. A call or a fault is answered in one line with the caller's own id, and
/// the same call in another spelling has the same meaning.
pub fn wire(line: &[u8]) {
    let value = serde_json::from_slice::<Value>(line);
    match parse(line, &Context::default()) {
        Err((shape, why)) => {
            let is_object = value.is_ok_and(|value| value.is_object());
            assert!(!is_object, "a call that nobody records");
            assert_answers(shape, &why, &Value::Null);
        }
        Ok(call) => {
            assert!(spoken_bytes(&call.command) <= line.len());
            if let Ok(value) = value {
                assert_same(&call, &value);
                assert_answers(call.shape, "text", &value["id"]);
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(line) {
        let repaired = without_lone_surrogates(text);
        assert_eq!(without_lone_surrogates(&repaired), repaired, "not mended");
        if serde_json::from_str::<Value>(text).is_ok() {
            assert_eq!(repaired, text, "mended what was whole");
        }
    }
}

/// Asserts that the answer is one line, in the shape of the call.
fn assert_answers(shape: CallForm, why: &str, asked: &Value) {
    let expected = match &shape {
        CallForm::Bare => &Value::Null,
        CallForm::Envelope(_) | CallForm::Block(_) => asked,
    };
    let name = match &shape {
        CallForm::Bare | CallForm::Envelope(_) => "id",
        CallForm::Block(_) => "tool_use_id",
    };
    let expected = expected.clone();
    let reply = shape.fault("malformed_line", why, None);
    assert_eq!(reply.json[name], expected, "another call's id");
    let written = serde_json::to_string(&reply).expect("an answer has a JSON form");
    assert!(!written.contains(['\n', '\r']));
    assert!(serde_json::from_str::<Value>(&written).is_ok_and(|value| value == reply.json));
}

/// Asserts that the same JSON without spaces and escapes is the same call.
fn assert_same(call: &ToolCall, value: &Value) {
    if has_inexact(value) {
        return;
    }
    let again = parse(value.to_string().as_bytes(), &Context::default());
    let again = again.unwrap_or_else(|(_, why)| panic!("in another spelling, {why}"));
    assert_eq!(said(&call.command), said(&again.command));
    assert!(call.context == again.context);
}

/// Counts the caller's bytes in a command.
fn spoken_bytes(command: &Command) -> usize {
    let texts = said(command);
    let texts = texts.as_array().expect("a list").iter().skip(2);
    texts.filter_map(Value::as_str).map(str::len).sum()
}

/// Lists the parts of a command: its name, its other parameters, its texts.
fn said(command: &Command) -> Value {
    let name = command.name();
    match command {
        Command::View { path, range } => json!([name, range, path]),
        Command::Create { path, file_text } => json!([name, null, path, file_text.as_str()]),
        Command::StrReplace {
            path,
            old_str,
            new_str,
        } => json!([name, null, path, old_str.as_str(), new_str.as_str()]),
        Command::Insert {
            path,
            insert_line,
            insert_text,
        } => json!([name, insert_line, path, insert_text.as_str()]),
        Command::Delete { path } => json!([name, null, path]),
        Command::Rename { old_path, new_path } => json!([name, null, old_path, new_path]),
        Command::Read { path } => json!([name, null, path]),
        Command::Write { path, content } => json!([name, null, path, content.as_str()]),
        Command::Malformed { why, path, .. } => json!([name, why, path]),
    }
}
