//! The commands of the memory tool, and their form as JSON.

use serde_json::{Map, Value};

use crate::Text;

/// A memory-tool call. Its paths are as the caller wrote them, and nothing is validated yet.
#[derive(Clone)]
#[non_exhaustive]
pub enum Command {
    /// Shows a directory, or a file with line numbers.
    View {
        /// The file or directory.
        path: String,
        /// First and last line, counted from 1; a last line of −1 means to the end.
        range: Option<(i64, i64)>,
    },
    /// Creates a file.
    Create {
        /// The new file.
        path: String,
        /// Its text.
        file_text: Text,
    },
    /// Replaces the only occurrence of a text.
    StrReplace {
        /// The file.
        path: String,
        /// The text that must occur exactly once.
        old_str: Text,
        /// The replacement.
        new_str: Text,
    },
    /// Inserts whole lines after a line.
    Insert {
        /// The file.
        path: String,
        /// The line, 0 for the start of the file.
        insert_line: i64,
        /// The lines to insert.
        insert_text: Text,
    },
    /// Deletes a file, or a directory with everything in it.
    Delete {
        /// The file or directory.
        path: String,
    },
    /// Moves a file or a directory.
    Rename {
        /// The file or directory.
        old_path: String,
        /// The new path, which must be free.
        new_path: String,
    },
    /// `memory_read`: the text of a file, or all paths if none is given.
    Read {
        /// The file, relative to the memory directory.
        path: Option<String>,
    },
    /// `memory_write`: the whole text of a file, new or existing.
    Write {
        /// The file, relative to the memory directory.
        path: String,
        /// Its text.
        content: Text,
    },
    /// A call that names no command, or whose parameters are invalid. It changes nothing and is
    /// recorded like any other.
    Malformed {
        /// The command, if it is one of the eight.
        command: Option<&'static str>,
        /// The fault, in words for the calling model; never one of its values.
        why: String,
        /// The path in the call, if there is one: it is checked before anything else.
        path: Option<String>,
    },
}

/// The wire names of the commands.
pub const NAMES: [&str; 8] = [
    "view",
    "create",
    "str_replace",
    "insert",
    "delete",
    "rename",
    "memory_read",
    "memory_write",
];

impl Command {
    /// Parses the input of a memory-tool call: an object with `command` and its parameters.
    ///
    /// Unknown fields are ignored. Invalid input becomes [`Command::Malformed`], so that it is
    /// answered and recorded.
    #[must_use]
    pub fn from_json(input: Value) -> Self {
        let Value::Object(mut fields) = input else {
            return malformed(None, "the input must be a JSON object");
        };
        match fields.remove("command") {
            Some(Value::String(name)) => Self::from_fields(&name, fields),
            Some(_) => malformed(None, "the parameter `command` must be a string"),
            None => malformed(
                None,
                format!(
                    "the parameter `command` is required: one of {}",
                    NAMES.join(", ")
                ),
            ),
        }
    }

    /// Parses the parameters of the command `name`.
    #[must_use]
    pub fn from_fields(name: &str, fields: Map<String, Value>) -> Self {
        let Some(name) = NAMES.iter().find(|n| **n == name) else {
            let why = format!("unknown command; the commands are {}", NAMES.join(", "));
            return malformed(None, why);
        };
        let path = ["path", "old_path"]
            .iter()
            .find_map(|key| fields.get(*key)?.as_str());
        let path = path.map(str::to_owned);
        let mut fields = Fields { name, fields };
        fields.command().unwrap_or_else(|why| Self::Malformed {
            command: Some(name),
            why,
            path,
        })
    }

    /// Turns the command into a malformed one, because of other input or of its caller. It is not
    /// carried out, but recorded. `why` is for the calling model, and contains none of its values.
    #[must_use]
    pub fn spoiled(self, why: String) -> Self {
        let command = NAMES.into_iter().find(|name| *name == self.name());
        let path = match self {
            Self::View { path, .. }
            | Self::Create { path, .. }
            | Self::StrReplace { path, .. }
            | Self::Insert { path, .. }
            | Self::Delete { path }
            | Self::Write { path, .. }
            | Self::Rename { old_path: path, .. } => Some(path),
            Self::Read { path } | Self::Malformed { path, .. } => path,
        };
        Self::Malformed { command, why, path }
    }

    /// Returns the wire name; `unknown` for a call that names none.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::View { .. } => "view",
            Self::Create { .. } => "create",
            Self::StrReplace { .. } => "str_replace",
            Self::Insert { .. } => "insert",
            Self::Delete { .. } => "delete",
            Self::Rename { .. } => "rename",
            Self::Read { .. } => "memory_read",
            Self::Write { .. } => "memory_write",
            Self::Malformed { command, .. } => command.unwrap_or("unknown"),
        }
    }
}

/// Shows the name of the command, and nothing that the caller wrote.
impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Command({})", self.name())
    }
}

fn malformed(command: Option<&'static str>, why: impl Into<String>) -> Command {
    Command::Malformed {
        command,
        why: why.into(),
        path: None,
    }
}

/// The parameters of a call, taken out one by one. Strings are moved, not copied, so that the only
/// buffer with a text in it is wiped.
struct Fields {
    name: &'static str,
    fields: Map<String, Value>,
}

impl Fields {
    fn command(&mut self) -> Result<Command, String> {
        Ok(match self.name {
            "view" => Command::View {
                path: self.string("path")?,
                range: self.range("view_range")?,
            },
            "create" => Command::Create {
                path: self.string("path")?,
                file_text: self.string("file_text")?.into(),
            },
            "str_replace" => Command::StrReplace {
                path: self.string("path")?,
                old_str: self.string("old_str")?.into(),
                new_str: self.optional_string("new_str")?.unwrap_or_default().into(),
            },
            "insert" => Command::Insert {
                path: self.string("path")?,
                insert_line: self.integer("insert_line")?,
                insert_text: self.string("insert_text")?.into(),
            },
            "delete" => Command::Delete {
                path: self.string("path")?,
            },
            "rename" => Command::Rename {
                old_path: self.string("old_path")?,
                new_path: self.string("new_path")?,
            },
            "memory_read" => Command::Read {
                path: self.optional_string("path")?,
            },
            _ => Command::Write {
                path: self.string("path")?,
                content: self.string("content")?.into(),
            },
        })
    }

    fn string(&mut self, parameter: &str) -> Result<String, String> {
        self.optional_string(parameter)?
            .ok_or_else(|| self.needs(parameter, "a string"))
    }

    fn optional_string(&mut self, parameter: &str) -> Result<Option<String>, String> {
        match self.fields.remove(parameter) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.needs(parameter, "a string")),
        }
    }

    fn integer(&mut self, parameter: &str) -> Result<i64, String> {
        self.fields
            .remove(parameter)
            .and_then(|value| integer(&value))
            .ok_or_else(|| self.needs(parameter, "an integer"))
    }

    fn range(&mut self, parameter: &str) -> Result<Option<(i64, i64)>, String> {
        let value = match self.fields.remove(parameter) {
            None | Some(Value::Null) => return Ok(None),
            Some(value) => value,
        };
        let ends: Option<Vec<i64>> = value
            .as_array()
            .and_then(|ends| ends.iter().map(integer).collect());
        match ends.as_deref() {
            Some([start, end]) => Ok(Some((*start, *end))),
            _ => Err(self.needs(
                parameter,
                "an array of two integers, [start_line, end_line]",
            )),
        }
    }

    fn needs(&self, parameter: &str, what: &str) -> String {
        format!("{} needs the parameter `{parameter}`: {what}", self.name)
    }
}

/// Reads an integer, or an integral float, as some languages write it.
fn integer(value: &Value) -> Option<i64> {
    let float = || value.as_f64().filter(|float| float.fract() == 0.0);
    let exact = value.as_i64().or_else(|| value.as_u64().map(|_| i64::MAX));
    // Beyond 64 bits the value saturates: no file has as many lines.
    #[allow(clippy::cast_possible_truncation)]
    exact.or_else(|| float().map(|float| float as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn why(input: Value) -> String {
        match Command::from_json(input) {
            Command::Malformed { why, .. } => why,
            other => panic!("accepted: {other:?}"),
        }
    }

    #[test]
    fn a_fault_names_command_and_parameter() {
        for (input, words) in [
            (json!({}), "`command`"),
            (json!([]), "object"),
            (json!({"command": 3}), "`command`"),
            (json!({"command": "undo_edit"}), "view, create, str_replace"),
            (
                json!({"command": "view"}),
                "view needs the parameter `path`",
            ),
            (json!({"command": "view", "path": 1}), "`path`"),
            (
                json!({"command": "view", "path": "/memories", "view_range": [1]}),
                "`view_range`",
            ),
            (
                json!({"command": "view", "path": "/memories", "view_range": [1, 2.5]}),
                "`view_range`",
            ),
            (
                json!({"command": "view", "path": "/memories", "view_range": "1-2"}),
                "`view_range`",
            ),
            (
                json!({"command": "create", "path": "/memories/x"}),
                "`file_text`",
            ),
            (
                json!({"command": "create", "path": "/memories/x", "file_text": null}),
                "`file_text`",
            ),
            (
                json!({"command": "insert", "path": "p", "insert_line": true, "insert_text": ""}),
                "`insert_line`",
            ),
            (
                json!({"command": "insert", "path": "p", "insert_line": "1", "insert_text": ""}),
                "`insert_line`",
            ),
            (json!({"command": "rename", "old_path": "p"}), "`new_path`"),
            (json!({"command": "memory_write", "path": "p"}), "`content`"),
        ] {
            assert!(why(input.clone()).contains(words), "{input}");
        }
    }

    #[test]
    fn no_value_of_the_caller_is_repeated() {
        let secret = "hunter2-canary";
        for input in [
            json!({"command": secret}),
            json!({"command": "create", "path": [secret]}),
            json!({"command": "view", "path": "/memories", "view_range": secret}),
        ] {
            assert!(!why(input).contains(secret));
        }
    }

    #[test]
    fn integral_floats_and_nulls() {
        assert!(matches!(
            Command::from_json(json!({"command": "view", "path": "p", "view_range": [2.0, -1.0]})),
            Command::View {
                range: Some((2, -1)),
                ..
            }
        ));
        assert!(matches!(
            Command::from_json(json!({"command": "view", "path": "p", "view_range": null, "x": 1})),
            Command::View { range: None, .. }
        ));
        match Command::from_json(
            json!({"command": "str_replace", "path": "p", "old_str": "a", "new_str": null}),
        ) {
            Command::StrReplace { new_str, .. } => assert!(new_str.is_empty()),
            other => panic!("{other:?}"),
        }
    }
}
