//! The keys of a policy: reading and changing single values.

use std::fmt;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::policy::{Policy, message};
use crate::redact::similar::{steps, steps_max};

/// The default of a key that a policy does not contain.
#[derive(Clone, Copy)]
enum Unsaid {
    /// No default: the key is always written.
    Said,
    /// An empty list.
    Empty,
    /// `never`.
    Never,
    /// No value.
    Nothing,
}

use Unsaid::{Empty, Never, Nothing, Said};

/// All keys by table, in the order of a policy.
const TABLES: [(&str, &[(&str, Unsaid)]); 6] = [
    (
        "limits",
        &[
            ("memory_bytes", Said),
            ("view_characters", Said),
            ("lines", Said),
            ("memories", Said),
            ("path_bytes", Said),
            ("request_bytes", Said),
            ("history_bytes", Said),
            ("session_events_per_minute", Said),
        ],
    ),
    ("tool", &[("create_overwrites", Said)]),
    ("keyring", &[("folder", Nothing)]),
    (
        "redaction",
        &[
            ("mode", Said),
            ("fingerprints", Said),
            ("off", Empty),
            ("personal", Empty),
            ("paths", Empty),
            ("allow", Empty),
            ("rules", Empty),
            ("gitleaks", Nothing),
        ],
    ),
    (
        "expiration",
        &[
            ("unaccessed_for", Never),
            ("grace", Said),
            ("then", Said),
            ("keep", Empty),
            ("sweep_max", Said),
            ("rules", Empty),
        ],
    ),
    ("replicas", &[("closes_after", Never)]),
];

/// The keys whose values describe secrets, and so may look like one.
const PATTERNS: [&str; 6] = ["gitleaks", "regex", "shape", "literals", "found", "kept"];

/// Most characters of an invalid key that a message shows and that are compared with the keys.
const SHOWN_MAX: usize = 60;

/// The dotted name of a table of the policy, such as `limits`, or of a key in one, such as
/// `expiration.grace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyKey {
    table: &'static str,
    name: Option<&'static str>,
}

impl PolicyKey {
    /// Iterates over all keys: each table, followed by its keys.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLES.into_iter().flat_map(|(table, names)| {
            let inside = names.iter().map(|(name, _)| Some(*name));
            std::iter::once(None)
                .chain(inside)
                .map(move |name| Self { table, name })
        })
    }

    /// Iterates over the keys that are tables.
    pub fn tables() -> impl Iterator<Item = Self> {
        Self::all().filter(|key| key.name.is_none())
    }

    /// Parses a dotted key.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the most similar keys, or all keys.
    pub fn parse(text: &str) -> Result<Self> {
        let found = Self::all().find(|key| key.to_string() == text);
        found.ok_or_else(|| {
            Error::invalid("the key", no_key(&crate::event::bounded(text, SHOWN_MAX)))
        })
    }
}

impl fmt::Display for PolicyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.table)?;
        self.name.map_or(Ok(()), |name| write!(f, ".{name}"))
    }
}

/// Explains that a text is not a key, and names similar keys, which may lack their table or be in
/// another one.
fn no_key(text: &str) -> String {
    let mut near = nearest(text);
    if let (true, Some((_, name))) = (near.is_empty(), text.rsplit_once('.')) {
        near = nearest(name);
    }
    if !near.is_empty() {
        return format!(
            "{text:?} is none of the policy; the nearest is {}",
            near.join(" or ")
        );
    }
    let keys: Vec<_> = PolicyKey::all().map(|key| key.to_string()).collect();
    format!(
        "{text:?} is none of the policy; there are {}",
        keys.join(", ")
    )
}

/// Returns the keys that are most similar to a text, with their table or without it.
fn nearest(text: &str) -> Vec<String> {
    let distance = |key: &PolicyKey| {
        let name = key.name.map(|name| steps(text, name));
        name.into_iter()
            .chain([steps(text, &key.to_string())])
            .min()
    };
    let near: Vec<_> = PolicyKey::all().map(|key| (distance(&key), key)).collect();
    let least = near.iter().filter_map(|(steps, _)| *steps).min();
    let least = least.filter(|steps| *steps <= steps_max(text));
    let near = near
        .iter()
        .filter(|(steps, _)| least.is_some() && *steps == least);
    near.map(|(_, key)| key.to_string()).collect()
}

impl Policy {
    /// Returns the value in force for a key, even if the file does not contain it; null if there is
    /// none.
    #[must_use]
    pub fn value(&self, key: PolicyKey) -> Value {
        let table = self.table(key.table);
        match key.name {
            None => Value::Object(table),
            Some(name) => table.get(name).cloned().unwrap_or_default(),
        }
    }

    /// Changes the value of a key. The value is TOML, or else a plain text.
    ///
    /// # Errors
    /// [`Error::Policy`] names the key, if the policy is invalid with that value.
    pub fn with(&self, key: PolicyKey, value: &str) -> Result<Self> {
        let written = value.trim().parse();
        let value = written.unwrap_or_else(|_| toml::Value::String(value.to_owned()));
        let fault = |why: &str| Error::Policy {
            line: None,
            why: format!("`{key}`: {why}"),
        };
        let tables = toml::from_str::<toml::Table>(&self.to_toml());
        let mut tables = tables.map_err(|e| fault(e.message()))?;
        let is_date = value.is_datetime();
        let empty = || toml::Value::Table(toml::Table::new());
        let table = tables.entry(key.table).or_insert_with(empty);
        match (key.name, table.as_table_mut()) {
            (Some(name), Some(table)) => drop(table.insert(name.into(), value)),
            _ => *table = value,
        }
        let changed = tables.try_into();
        changed.map_err(|e| fault(&message(&e, is_date)))
    }

    /// Formats the owner's part of a policy with every key that has a value, as [`Policy::parse`]
    /// reads it.
    #[must_use]
    pub fn to_full_toml(&self) -> String {
        let tables = TABLES.iter().map(|(name, _)| (*name, self.table(name)));
        let said = tables.filter(|(_, table)| table.values().any(|value| !value.is_null()));
        let tables: Vec<_> = said.map(|(name, table)| table_text(name, &table)).collect();
        tables.join("\n")
    }

    /// Formats the value in force for a key, for people and shells: a text without quotes, a table
    /// with its heading, anything else as TOML. Empty if there is no value.
    #[must_use]
    pub fn value_text(&self, key: PolicyKey) -> String {
        match self.value(key) {
            Value::Null => String::new(),
            Value::String(text) => text,
            Value::Object(table) => table_text(key.table, &table).trim_end().to_owned(),
            other => toml_text(&other),
        }
    }

    /// Collects its texts, each with its key, without patterns and their examples.
    pub(crate) fn texts(&self) -> Vec<(PolicyKey, String)> {
        let mut texts = Vec::new();
        for key in
            PolicyKey::all().filter(|key| key.name.is_some_and(|name| !PATTERNS.contains(&name)))
        {
            let mut found = Vec::new();
            gather_texts(&self.value(key), &mut found);
            texts.extend(found.into_iter().map(|text| (key, text)));
        }
        texts
    }

    /// Returns a table with all its keys.
    fn table(&self, name: &str) -> Map<String, Value> {
        let said = match name {
            "limits" => serde_json::to_value(&self.limits),
            "tool" => serde_json::to_value(&self.tool),
            "keyring" => serde_json::to_value(&self.keyring),
            "redaction" => serde_json::to_value(&self.redaction),
            "expiration" => serde_json::to_value(&self.expiration),
            _ => serde_json::to_value(&self.replicas),
        };
        let mut said = said.expect("a table has a JSON form");
        let names = TABLES.iter().find(|(table, _)| *table == name);
        let names = names.map_or(&[][..], |(_, names)| names);
        let value = |(name, unsaid): &(&str, Unsaid)| {
            let said = said.get_mut(*name).map(Value::take);
            let value = said.unwrap_or_else(|| match unsaid {
                Empty => Value::Array(Vec::new()),
                Never => "never".into(),
                Said | Nothing => Value::Null,
            });
            ((*name).to_owned(), value)
        };
        names.iter().map(value).collect()
    }
}

fn gather_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| gather_texts(item, texts)),
        Value::Object(table) => {
            let said = table
                .iter()
                .filter(|(name, _)| !PATTERNS.contains(&name.as_str()));
            said.for_each(|(_, value)| gather_texts(value, texts));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Formats a table with its heading, followed by its arrays of tables.
fn table_text(name: &str, table: &Map<String, Value>) -> String {
    let (mut text, mut arrays) = (format!("[{name}]\n"), String::new());
    for (key, value) in table {
        match value {
            Value::Null => {}
            Value::Array(items) if items.iter().any(Value::is_object) => {
                for item in items.iter().filter_map(Value::as_object) {
                    arrays.extend(["\n[[", name, ".", key, "]]\n"]);
                    arrays.extend(item.iter().map(|(key, value)| line(key, value)));
                }
            }
            value => text += &line(key, value),
        }
    }
    text + &arrays
}

fn line(key: &str, value: &Value) -> String {
    format!("{key} = {}\n", toml_text(value))
}

/// Formats a value as TOML: in one line, except for multi-line texts, and with a line for each
/// table in an array.
#[must_use]
pub fn toml_text(value: &Value) -> String {
    match value {
        Value::String(text) => toml::Value::String(text.clone()).to_string(),
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let items = items
                .iter()
                .map(|item| format!("    {},\n", toml_text(item)));
            format!("[\n{}]", items.collect::<String>())
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(toml_text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(table) => {
            let said = table.iter().filter(|(_, value)| !value.is_null());
            let pairs: Vec<_> = said
                .map(|(key, value)| format!("{key} = {}", toml_text(value)))
                .collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"
[limits]
lines = 5
[tool]
create_overwrites = true
[keyring]
folder = "/srv/keys"
[redaction]
mode = "reject"
fingerprints = true
off = ["jwt"]
personal = ["email"]
gitleaks = "[[rules]]\nid = \"x\"\nregex = '''x{9}'''\n"
[[redaction.paths]]
glob = "/memories/public/**"
mode = "off"
[[redaction.allow]]
regex = "a\\d+'"
reason = "r"
[[redaction.rules]]
kind = "own-kind"
shape = "own_[a-z]{4}"
literals = ["own_"]
found = ["own_abcd"]
[replicas]
closes_after = "30d"
[expiration]
unaccessed_for = "90d"
keep = ["/memories/keep/**", "/memories/\"é'"]
sweep_max = 5
[[expiration.rules]]
path = "/memories/tmp/**"
unaccessed_for = "7d"
then = "erase"
[[expiration.rules]]
memory = "00112233445566778899aabbccddeeff"
expires_at = 2027-01-31T00:00:00+01:00
"#;

    fn key(text: &str) -> PolicyKey {
        PolicyKey::parse(text).expect("a key")
    }

    #[test]
    fn every_value_is_set_to_what_it_is() {
        for policy in [Policy::default(), Policy::parse(FULL).expect("valid")] {
            for key in PolicyKey::all().filter(|key| !policy.value(*key).is_null()) {
                let same = policy.with(key, &toml_text(&policy.value(key)));
                assert_eq!(same.expect("its own value"), policy, "{key}");
                if key.name.is_some() {
                    let same = policy.with(key, &policy.value_text(key));
                    assert_eq!(same.expect("its own value"), policy, "{key}");
                }
            }
        }
    }

    #[test]
    fn the_whole_says_the_same() {
        for policy in [Policy::default(), Policy::parse(FULL).expect("valid")] {
            let text = policy.to_full_toml();
            assert_eq!(
                Policy::parse(&text).expect("its own output"),
                policy,
                "{text}"
            );
        }
    }

    /// The parser accepts exactly the listed keys.
    #[test]
    fn every_key_is_one() {
        for (table, names) in TABLES {
            let refused = Policy::parse(&format!("[{table}]\nno_such_key = 1\n"));
            let Err(Error::Policy { why, .. }) = refused else {
                panic!("{table}: {refused:?}")
            };
            let expected = why.split("expected").nth(1).expect("the keys there are");
            let expected: Vec<_> = expected.split('`').skip(1).step_by(2).collect();
            let names: Vec<_> = names.iter().map(|(name, _)| *name).collect();
            assert_eq!(expected, names, "{table}");
        }
        let Err(Error::Policy { why, .. }) = Policy::parse("[no_such_table]\n") else {
            panic!("no such table")
        };
        let tables: Vec<_> = why.split('`').skip(3).step_by(2).collect();
        assert_eq!(tables, TABLES.map(|(table, _)| table));
    }

    #[test]
    fn a_value_need_not_be_quoted() {
        let policy = Policy::default();
        for (name, given, said) in [
            ("expiration.unaccessed_for", "90d", "90d"),
            ("expiration.unaccessed_for", "\"90d\"", "90d"),
            ("expiration.sweep_max", "10%", "10%"),
            ("expiration.sweep_max", "10", "10"),
            ("expiration.then", "erase", "erase"),
            (
                "expiration.keep",
                "[\"/memories/a/**\"]",
                "[\"/memories/a/**\"]",
            ),
            ("limits.lines", " 5\n", "5"),
            ("tool.create_overwrites", "true", "true"),
            ("keyring.folder", "/srv/keys", "/srv/keys"),
            (
                "tool",
                "{ create_overwrites = true }",
                "[tool]\ncreate_overwrites = true",
            ),
        ] {
            let set = policy.with(key(name), given).expect(given);
            assert_eq!(set.value_text(key(name)), said, "{name}");
        }
    }

    #[test]
    fn a_value_that_does_not_fit_is_refused_by_its_key() {
        let policy = Policy::parse(FULL).expect("valid");
        for (name, given) in [
            ("expiration.unaccessed_for", "90"),
            ("expiration.unaccessed_for", "soon"),
            ("expiration.unaccessed_for", ""),
            ("expiration.keep", "/memories/a/**"),
            ("expiration.keep", "[\"notes/**\"]"),
            ("expiration.rules", "[{ path = \"/memories/a\" }]"),
            ("expiration.rules", "{}"),
            ("expiration", "90d"),
            ("expiration", "{ unaccesed_for = \"90d\" }"),
            ("limits.lines", "-1"),
            ("limits.lines", "many"),
            ("limits.lines", "1\n[tool]\ncreate_overwrites = true"),
            ("limits.lines", "1.5"),
            ("limits.lines", "2027-01-31"),
            ("tool", "[true]"),
            ("tool.create_overwrites", "yes"),
            ("keyring.folder", "keys"),
            ("redaction.off", "[\"no-such-kind\"]"),
        ] {
            match policy.with(key(name), given) {
                Err(Error::Policy { line: None, why }) => {
                    assert!(why.starts_with(&format!("`{name}`: ")), "{why}");
                    assert!(!why.contains("$__"), "{why}");
                }
                other => panic!("{name} {given}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_key_is_told_the_nearest() {
        for (text, said) in [
            (
                "expiration.unacessed_for",
                "the nearest is expiration.unaccessed_for",
            ),
            ("unaccessed_for", "the nearest is expiration.unaccessed_for"),
            ("expirations", "the nearest is expiration"),
            ("limits.memory_byte", "the nearest is limits.memory_bytes"),
            (
                "rules",
                "the nearest is redaction.rules or expiration.rules",
            ),
            ("Expiration.Grace", "the nearest is expiration.grace"),
            ("retention.garce", "the nearest is expiration.grace"),
            ("", "there are limits, "),
            ("something else", "expiration.rules"),
            ("expiration.rules.path", "is none"),
            (&"x".repeat(9_999), "bytes)"),
        ] {
            let why = PolicyKey::parse(text).expect_err(text).to_string();
            assert!(why.contains(said), "{why}");
        }
    }
}
