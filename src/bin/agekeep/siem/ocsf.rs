//! Events in the Open Cybersecurity Schema Framework, version 1.8: class 6005, Datastore Activity.

use agekeep::event::{Change, Event, Outcome, PathRef};
use agekeep::store::log::Entry;
use serde_json::{Map, Value, json};

use crate::render;
use crate::siem::Source;

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

/// What a command does to the store, by the activities of the class.
#[derive(Clone, Copy)]
enum Activity {
    Unknown = 0,
    Read = 1,
    Update = 2,
    Query = 4,
    Create = 6,
    Delete = 7,
    List = 8,
    Encrypt = 9,
    Other = 99,
}

/// How much an event matters to those who watch.
#[derive(Clone, Copy)]
pub(super) enum Severity {
    Informational = 1,
    Low = 2,
    Medium = 3,
    High = 4,
    Critical = 5,
}

impl Activity {
    fn of(event: &Event) -> Self {
        let is_list = matches!(event.path, None | Some(PathRef::Root));
        let adds = event
            .memories
            .iter()
            .any(|touch| touch.change == Change::Add);
        Self::of_command(&event.command, is_list, adds)
    }

    fn of_command(command: &str, is_list: bool, adds: bool) -> Self {
        match command {
            "view" | "memory_read" if is_list => Self::List,
            "view" | "memory_read" | "view_at" | "show" | "diff" | "blame" | "log" | "report"
            | "export" | "export_history" => Self::Read,
            "memory_write" if !adds => Self::Update,
            "init" | "create" | "memory_write" => Self::Create,
            "str_replace" | "insert" | "rename" | "restore" | "revert" | "rollback" | "redact" => {
                Self::Update
            }
            "delete" | "expire" | "erase" => Self::Delete,
            "grep" | "scan" => Self::Query,
            "rekey" | "upgrade" => Self::Encrypt,
            "unknown" => Self::Unknown,
            _ => Self::Other,
        }
    }

    /// Returns the schema's name; for others the command's.
    fn name(self, event: &Event) -> &str {
        match self {
            Self::Unknown => "Unknown",
            Self::Read => "Read",
            Self::Update => "Update",
            Self::Query => "Query",
            Self::Create => "Create",
            Self::Delete => "Delete",
            Self::List => "List",
            Self::Encrypt => "Encrypt",
            Self::Other => &event.command,
        }
    }
}

/// Judges an event: without a valid signer, an accepted rollback, a refusal or a change of who may do
/// what, an error, or none of these.
pub(super) fn severity(entry: &Entry) -> Severity {
    let event = &entry.event;
    match event.outcome {
        _ if entry.signer.is_none() => Severity::Critical,
        Outcome::Ok if event.command == "accept_rollback" => Severity::High,
        Outcome::Ok if GOVERNING.contains(&event.command.as_str()) => Severity::Medium,
        Outcome::Ok => Severity::Informational,
        Outcome::Denied => Severity::Medium,
        _ => Severity::Low,
    }
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Self::Informational => "Informational",
            Self::Low => "Low",
            Self::Medium => "Medium",
            Self::High => "High",
            Self::Critical => "Critical",
        }
    }
}

/// Renders an event as an object of the class.
pub(super) fn to_json(entry: &Entry, source: Source) -> Value {
    let event = &entry.event;
    let (activity, severity) = (Activity::of(event), severity(entry));
    let activity_name = activity.name(event);
    let is_ok = event.outcome == Outcome::Ok;
    let activity_id = activity as u32;
    let mut object = json!({
        "category_uid": 6,
        "category_name": "Application Activity",
        "class_uid": CLASS,
        "class_name": "Datastore Activity",
        "activity_id": activity_id,
        "activity_name": activity_name,
        "type_uid": CLASS * 100 + activity_id,
        "type_name": format!("Datastore Activity: {activity_name}"),
        "severity_id": severity as u32,
        "severity": severity.name(),
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
fn databucket(event: &Event, source: Source) -> Value {
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
fn unmapped(entry: &Entry, source: Source) -> Value {
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
            let is_other = matches!(Activity::of_command(command, false, false), Activity::Other);
            assert_eq!(is_other, OTHERS.contains(&command), "{command}");
            // An accepted rollback has a severity of its own.
            let kinds = [GOVERNING.contains(&command), ROUTINE.contains(&command)];
            let is_single = kinds[0] != kinds[1];
            assert!(is_single || command == "accept_rollback", "{command}");
        }
        for command in NAMES {
            let activity = Activity::of_command(command, false, false);
            assert!(!matches!(activity, Activity::Other), "{command}");
        }
    }
}
