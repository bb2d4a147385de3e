//! Events in the Open Cybersecurity Schema Framework, version 1.8: class 6005, Datastore Activity.

use agekeep::event::{Change, Event, Outcome, PathRef};
use agekeep::store::log::Entry;
use serde_json::{Map, Value, json};

use crate::render;
use crate::siem::EventSource;

/// The version of the schema.
const VERSION: &str = "1.8.0";
const CLASS: u32 = 6005;

/// The fields of `agekeep.event/1` that have an attribute of their own. All others go to `unmapped`.
const MAPPED: [&str; 12] = [
    "schema", "event", "commit", "signer", "time", "command", "error", "door", "actor", "session",
    "client", "path",
];

/// The commands that change who may do what, or destroy, or take texts and keys out of the store.
const GOVERNING: [&str; 13] = [
    "policy_set",
    "recipients_add",
    "recipients_rm",
    "signers_add",
    "signers_rm",
    "signers_set",
    "keys_export",
    "rekey",
    "hold_rm",
    "erase",
    "redact",
    "export",
    "export_history",
];

/// An activity of the class, by its number and name: what a command does to the store.
type OcsfActivity = (u32, &'static str);

const UNKNOWN: OcsfActivity = (0, "Unknown");
const READ: OcsfActivity = (1, "Read");
const UPDATE: OcsfActivity = (2, "Update");
const QUERY: OcsfActivity = (4, "Query");
const CREATE: OcsfActivity = (6, "Create");
const DELETE: OcsfActivity = (7, "Delete");
const LIST: OcsfActivity = (8, "List");
const ENCRYPT: OcsfActivity = (9, "Encrypt");
/// Any other, which has the name of its command.
const OTHER: OcsfActivity = (99, "");

/// How much an event matters to those who watch: its number and name in the schema, and in CEF's scale
/// of 0 to 10.
pub(super) struct SeverityGrade {
    id: u32,
    name: &'static str,
    pub(super) cef: &'static str,
}

const INFORMATIONAL: SeverityGrade = grade(1, "Informational", "1");
const LOW: SeverityGrade = grade(2, "Low", "3");
const MEDIUM: SeverityGrade = grade(3, "Medium", "5");
const HIGH: SeverityGrade = grade(4, "High", "8");
const CRITICAL: SeverityGrade = grade(5, "Critical", "10");

const fn grade(id: u32, name: &'static str, cef: &'static str) -> SeverityGrade {
    SeverityGrade { id, name, cef }
}

fn activity_of(event: &Event) -> OcsfActivity {
    let is_list = matches!(event.path, None | Some(PathRef::Root));
    let adds = event
        .memories
        .iter()
        .any(|touch| touch.change == Change::Add);
    activity(&event.command, is_list, adds)
}

fn activity(command: &str, is_list: bool, adds: bool) -> OcsfActivity {
    match command {
        "view" | "memory_read" if is_list => LIST,
        "view" | "memory_read" | "view_at" | "show" | "diff" | "blame" | "log" | "report"
        | "export" | "export_history" => READ,
        "memory_write" if !adds => UPDATE,
        "init" | "create" | "memory_write" => CREATE,
        "str_replace" | "insert" | "rename" | "restore" | "revert" | "rollback" | "redact" => {
            UPDATE
        }
        "delete" | "expire" | "erase" => DELETE,
        "grep" | "scan" => QUERY,
        "rekey" | "upgrade" => ENCRYPT,
        "unknown" => UNKNOWN,
        _ => OTHER,
    }
}

/// Judges an event: without a valid signer, an accepted rollback, a refusal or a change of who may do
/// what, an error, or none of these.
pub(super) fn severity(entry: &Entry) -> SeverityGrade {
    let event = &entry.event;
    match event.outcome {
        _ if entry.signer.is_none() => CRITICAL,
        Outcome::Ok if event.command == "accept_rollback" => HIGH,
        Outcome::Ok if GOVERNING.contains(&event.command.as_str()) => MEDIUM,
        Outcome::Ok => INFORMATIONAL,
        Outcome::Denied => MEDIUM,
        _ => LOW,
    }
}

/// Renders an event as an object of the class.
pub(super) fn to_json(entry: &Entry, source: EventSource) -> Value {
    let event = &entry.event;
    let ((activity_id, name), severity) = (activity_of(event), severity(entry));
    let activity_name = if activity_id == OTHER.0 {
        event.command.as_str()
    } else {
        name
    };
    let is_ok = event.outcome == Outcome::Ok;
    let mut object = json!({
        "category_uid": 6,
        "category_name": "Application Activity",
        "class_uid": CLASS,
        "class_name": "Datastore Activity",
        "activity_id": activity_id,
        "activity_name": activity_name,
        "type_uid": CLASS * 100 + activity_id,
        "type_name": format!("Datastore Activity: {activity_name}"),
        "severity_id": severity.id,
        "severity": severity.name,
        "status_id": if is_ok { 1 } else { 2 },
        "status": if is_ok { "Success" } else { "Failure" },
        "status_code": event.error,
        "status_detail": event.outcome,
        "message": format!("{} {}", event.command, event.outcome.as_str()),
        "time": event.time.timestamp_millis(),
        "timezone_offset": 0,
        "metadata": metadata(entry),
        "actor": actor(entry),
        "src_endpoint": {"svc_name": event.door, "uid": event.replica},
        "type_id": 2,
        "type": "Databucket",
        "databucket": databucket(event, source),
        "unmapped": unmapped(entry, source),
    });
    remove_absent(&mut object);
    object
}

fn metadata(entry: &Entry) -> Value {
    let event = &entry.event;
    json!({
        "version": VERSION,
        "product": {
            "name": "agekeep",
            "vendor_name": "agekeep",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "uid": entry.commit,
        "sequence": event.number,
        "event_code": event.command,
        "log_name": "agekeep",
        "log_version": "agekeep.event/1",
        "original_time": render::rfc3339(event.time),
        "correlation_uid": event.trace,
    })
}

/// Renders who acted: the signer, which the signature proves, and the rest as the caller says.
fn actor(entry: &Entry) -> Value {
    let event = &entry.event;
    let user = match &entry.signer {
        Some(name) => json!({"name": name, "type_id": 99, "type": "Signer"}),
        None => json!({"name": "unknown", "type_id": 0, "type": "Unknown"}),
    };
    json!({
        "user": user,
        "app_name": event.actor,
        "invoked_by": event.client,
        "session": event.session.as_ref().map(|session| json!({"uid": session})),
    })
}

/// Renders the store, and the path in it.
fn databucket(event: &Event, source: EventSource) -> Value {
    let file = event.path.as_ref().and_then(|place| {
        let (path, id) = match place {
            PathRef::Root => ("/memories", None),
            PathRef::Of(id, path) => (path.as_ref()?.as_str(), Some(id)),
            PathRef::Asked(text) => (text.as_str(), None),
            _ => return None,
        };
        let name = path
            .rsplit('/')
            .find(|part| !part.is_empty())
            .unwrap_or(path);
        let type_id = i32::from(id.is_some());
        Some(json!({"name": name, "path": path, "type_id": type_id, "uid": id}))
    });
    json!({
        "name": "agekeep",
        "uid": source.store,
        "type_id": 99,
        "type": "agekeep store",
        "is_encrypted": true,
        "file": file,
    })
}

/// Returns the fields of the event that have no attribute.
fn unmapped(entry: &Entry, source: EventSource) -> Value {
    let Value::Object(mut fields) = render::to_json(entry, source.trial) else {
        return Value::Null;
    };
    fields.retain(|name, value| {
        let is_nothing = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        !is_nothing && !MAPPED.contains(&name.as_str())
    });
    Value::Object(fields)
}

/// Removes attributes without a value. Those of `unmapped` stay as they are.
fn remove_absent(object: &mut Value) {
    let remove = |fields: &mut Map<String, Value>| fields.retain(|_, value| !value.is_null());
    let Value::Object(fields) = object else {
        return;
    };
    remove(fields);
    for (_, value) in fields.iter_mut().filter(|(name, _)| *name != "unmapped") {
        remove_absent(value);
    }
}

#[cfg(test)]
mod tests {
    use agekeep::event::ADMINISTRATIVE_COMMANDS;
    use agekeep::memory_tool::command::NAMES;

    use super::*;

    /// A new command gets its activity and its severity on purpose.
    #[test]
    fn every_command_has_an_activity_and_a_severity() {
        const OTHERS: [&str; 10] = [
            "policy_set",
            "recipients_add",
            "recipients_rm",
            "keys_export",
            "signers_add",
            "signers_rm",
            "signers_set",
            "accept_rollback",
            "hold_add",
            "hold_rm",
        ];
        const ROUTINE: [&str; 15] = [
            "init", "upgrade", "view_at", "show", "diff", "blame", "log", "grep", "report",
            "restore", "revert", "rollback", "expire", "hold_add", "scan",
        ];
        for command in ADMINISTRATIVE_COMMANDS {
            let is_other = activity(command, false, false) == OTHER;
            assert_eq!(is_other, OTHERS.contains(&command), "{command}");
            // An accepted rollback has a severity of its own.
            let kinds = [GOVERNING.contains(&command), ROUTINE.contains(&command)];
            let is_single = kinds[0] != kinds[1];
            assert!(is_single || command == "accept_rollback", "{command}");
        }
        for command in NAMES {
            assert_ne!(activity(command, false, false), OTHER, "{command}");
        }
    }
}
