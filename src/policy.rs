//! The policy: `agekeep.toml`, which names the format, the store, and the limits in force.

pub mod expiration;
pub mod key;

use std::path::Path;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use toml::Spanned;

use self::expiration::{Expiration, Lifetime};
use crate::error::{Error, Result};
use crate::event::bounded;
use crate::id::StoreId;
use crate::memory_tool::MEMORY_BYTES_MAX;
use crate::memory_tool::path::{self, MemoryPath, PATH_BYTES, PATH_BYTES_MAX};
use crate::redact::config::Redaction;
use crate::redact::{self, Glob, Place, reading};

/// The format of new stores. A store of format 1 is still read, and is upgraded by the first
/// command of an owner.
pub const FORMAT: u32 = 2;

/// Largest text of one memory, in bytes, unless the policy sets another.
pub const MEMORY_BYTES: usize = 2 * 1024 * 1024;
/// Longest answer to `view`, in characters, which the memory tool announces to models.
pub const VIEW_CHARACTERS: usize = 16_000;
/// Most lines of a file that `view` shows; the number is part of the memory tool's contract.
pub const LINES: usize = 999_999;
/// Most memories in a store.
pub const MEMORIES: usize = 100_000;
/// Most bytes of ciphertext in history, so that a store fits on a small disk.
pub const HISTORY_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Longest line that an interface accepts, in bytes: room for a memory of the default size whose
/// every byte is a six-byte JSON escape, and its envelope.
pub const REQUEST_BYTES: usize = 16 * 1024 * 1024;

/// Most bytes of text that one rename of a directory seals again: they are in memory at once, and
/// other processes wait meanwhile.
pub const MOVE_BYTES: u64 = 64 * 1024 * 1024;

/// Largest number in a policy: every TOML parser supports it.
const NUMBER_MAX: usize = usize::MAX / 2;
/// Longest policy that is parsed, in bytes.
pub const POLICY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Largest `history_bytes` in a policy: every TOML parser supports it.
const HISTORY_BYTES_MAX: u64 = i64::MAX as u64;
/// Smallest `path_bytes` in a policy: `/memories/` and a short name.
pub const PATH_BYTES_MIN: usize = 32;
/// Smallest `request_bytes` in a policy: a call with a long path and no text.
pub const REQUEST_BYTES_MIN: usize = 1_024;
/// Largest `request_bytes` in a policy.
pub const REQUEST_BYTES_MAX: usize = 512 * 1024 * 1024;

/// The limits on all outside input; the `[limits]` table of the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// Largest text of one memory, in bytes.
    #[serde(deserialize_with = "memory_bytes")]
    pub memory_bytes: usize,
    /// Longest answer to `view`, in characters; 0 means no limit.
    #[serde(deserialize_with = "view_characters")]
    pub view_characters: usize,
    /// Most lines of a file that `view` shows.
    #[serde(deserialize_with = "lines")]
    pub lines: usize,
    /// Most memories in the store.
    #[serde(deserialize_with = "memories")]
    pub memories: usize,
    /// Longest path, in bytes.
    #[serde(deserialize_with = "path_bytes")]
    pub path_bytes: usize,
    /// Longest line that an interface accepts, in bytes.
    #[serde(deserialize_with = "request_bytes")]
    pub request_bytes: usize,
    /// Most bytes of ciphertext in history; 0 means no limit.
    #[serde(deserialize_with = "history_bytes")]
    pub history_bytes: u64,
    /// Most events per minute from the agent commands of one session; 0 means no limit.
    #[serde(deserialize_with = "session_events_per_minute")]
    pub session_events_per_minute: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: MEMORY_BYTES,
            view_characters: VIEW_CHARACTERS,
            lines: LINES,
            memories: MEMORIES,
            path_bytes: PATH_BYTES,
            request_bytes: REQUEST_BYTES,
            history_bytes: HISTORY_BYTES,
            session_events_per_minute: 0,
        }
    }
}

/// The behaviour of commands where the memory tool's contract leaves a choice; the `[tool]` table
/// of the policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolPolicy {
    /// Lets `create` overwrite a file (never a directory). Off by default.
    pub create_overwrites: bool,
}

/// Where the keyring is, in the `[keyring]` table of policies of earlier versions. Now each machine
/// decides for itself: [`Store::move_keyring`](crate::store::Store::move_keyring).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct KeyringPlace {
    /// An absolute path; the default is the folder `keyring` in the store.
    #[serde(deserialize_with = "absolute", skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

fn absolute<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    reading::text(deserializer, "an absolute path in quotes", |folder| {
        if Path::new(folder).is_absolute() {
            return Ok(Some(folder.to_owned()));
        }
        Err("keyring.folder is not an absolute path".into())
    })
}

/// Copies on other machines; the `[replicas]` table of the policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Replicas {
    /// How long a copy may go without reaching any of its remotes before it refuses commands. Never, by
    /// default.
    #[serde(skip_serializing_if = "Lifetime::is_never")]
    pub closes_after: Lifetime,
}

/// The owner's part of a policy: the file without the lines that name the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Policy {
    /// The limits on all outside input.
    #[serde(deserialize_with = "reading::table")]
    pub limits: Limits,
    /// The behaviour of commands.
    #[serde(deserialize_with = "reading::table")]
    pub tool: ToolPolicy,
    /// The place of the keyring.
    #[serde(
        deserialize_with = "reading::table",
        skip_serializing_if = "is_default"
    )]
    pub keyring: KeyringPlace,
    /// The treatment of secrets.
    #[serde(
        deserialize_with = "reading::table",
        skip_serializing_if = "is_default"
    )]
    pub redaction: Redaction,
    /// The expiry of memories.
    #[serde(
        deserialize_with = "reading::table",
        skip_serializing_if = "is_default"
    )]
    pub expiration: Expiration,
    /// Copies on other machines.
    #[serde(
        deserialize_with = "reading::table",
        skip_serializing_if = "is_default"
    )]
    pub replicas: Replicas,
}

fn is_default<T: Default + PartialEq>(table: &T) -> bool {
    *table == T::default()
}

/// The only line that every format version has.
#[derive(Deserialize)]
struct PolicyFormat {
    format: u32,
}

/// The whole file, as in the tree of every commit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFile {
    #[serde(rename = "format")]
    _format: u32,
    store: StoreId,
    #[serde(default, deserialize_with = "reading::table")]
    limits: Limits,
    #[serde(default, deserialize_with = "reading::table")]
    tool: ToolPolicy,
    #[serde(default, deserialize_with = "reading::table")]
    keyring: KeyringPlace,
    #[serde(default, deserialize_with = "reading::table")]
    redaction: Redaction,
    #[serde(default, deserialize_with = "reading::table")]
    expiration: Expiration,
    #[serde(default, deserialize_with = "reading::table")]
    replicas: Replicas,
}

impl Policy {
    /// Parses the owner's part of a policy: the tables `[limits]`, `[tool]`, `[keyring]`,
    /// `[redaction]`, `[expiration]` and `[replicas]`, all optional.
    ///
    /// # Errors
    /// [`Error::Policy`] names the line of an unknown key, a wrong type, or a value out of bounds.
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > POLICY_BYTES_MAX {
            let why = format!("it has more than {POLICY_BYTES_MAX} bytes");
            return Err(Error::Policy { line: None, why });
        }
        toml::from_str(text).map_err(|e| fault(text, &e))
    }

    /// Parses the owner's part of a policy like [`Policy::parse`], and tests its rules: the
    /// patterns of a `gitleaks.toml`, and the examples of the owner's own rules.
    ///
    /// # Errors
    /// The errors of [`Policy::parse`]; also for the first rule that fails its test.
    pub fn parse_and_try(text: &str) -> Result<Self> {
        let policy = Self::parse(text)?;
        match redact::try_policy(&policy.redaction) {
            Ok(()) => Ok(policy),
            Err(broken) => Err(Error::Policy {
                line: line_of(text, broken.place),
                why: broken.why_in_policy(),
            }),
        }
    }

    /// Formats the owner's part of a policy, as [`Policy::parse`] reads it.
    ///
    /// # Panics
    /// Never: every part of a policy has a TOML form.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("numbers, booleans, strings and lists have a TOML form")
    }

    /// Parses the file of a store; returns the store id in it too.
    pub(crate) fn parse_file(text: &str) -> Result<(StoreId, Self)> {
        // The version comes first: another version may have other tables.
        Self::format_of(text)?;
        let file: PolicyFile = toml::from_str(text).map_err(|e| fault(text, &e))?;
        let policy = Self {
            limits: file.limits,
            tool: file.tool,
            keyring: file.keyring,
            redaction: file.redaction,
            expiration: file.expiration,
            replicas: file.replicas,
        };
        Ok((file.store, policy))
    }

    /// Reads the format version in the file of a store.
    pub(crate) fn format_of(text: &str) -> Result<u32> {
        let PolicyFormat { format } = toml::from_str(text).map_err(|e| fault(text, &e))?;
        if (1..=FORMAT).contains(&format) {
            return Ok(format);
        }
        Err(Error::UnknownFormat {
            what: "agekeep.toml".into(),
            found: format.to_string(),
        })
    }

    /// Formats the file of a store.
    ///
    /// # Errors
    /// [`Error::Policy`] if the file would not read back the same: a caller can build a policy that
    /// no file can express, and such a file would open no store.
    pub(crate) fn to_file(&self, store: StoreId) -> Result<String> {
        let unwritable = |why| Error::Policy { line: None, why };
        let tables = toml::to_string(self).map_err(|e| unwritable(e.to_string()))?;
        let text = format!("format = {FORMAT}\nstore = \"{store}\"\n\n{tables}");
        match Self::parse_file(&text) {
            Ok((_, read)) if read == *self => Ok(text),
            Ok(_) => Err(unwritable("it has a value that no file can say".into())),
            Err(Error::Policy { why, .. }) => Err(unwritable(why)),
            Err(other) => Err(other),
        }
    }
}

/// Validates a glob. A glob that can match no memory is an error too.
///
/// # Errors
/// Returns the fault.
pub(crate) fn check_glob(text: &str) -> Result<(), String> {
    const SHOWN_MAX: usize = 200;
    let is_name = |name: &str| {
        let path = format!("{}/{name}", path::ROOT);
        MemoryPath::parse_kept(&path, PATH_BYTES_MAX).is_ok_and(|parsed| parsed.as_str() == path)
    };
    let glob = Glob::parse(text).map_err(|fault| fault.why)?;
    if glob.fits_below(&path::ROOT[1..], is_name) {
        return Ok(());
    }
    let shown = bounded(text, SHOWN_MAX);
    Err(format!(
        "the glob `{shown}`: it fits no memory, whose paths are like /memories/a.md; `**` stands \
         for any directories, so all below one is /memories/name/**"
    ))
}

/// Defines a function that reads a number within bounds.
macro_rules! bounded {
    ($name:ident: $number:ty, $low:expr, $high:expr) => {
        fn $name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$number, D::Error> {
            let name = concat!("limits.", stringify!($name));
            reading::number(deserializer, name, ($low, $high))
        }
    };
}

bounded!(memory_bytes: usize, 1, MEMORY_BYTES_MAX);
bounded!(view_characters: usize, 0, NUMBER_MAX);
bounded!(lines: usize, 1, LINES);
bounded!(memories: usize, 1, NUMBER_MAX);
bounded!(path_bytes: usize, PATH_BYTES_MIN, PATH_BYTES_MAX);
bounded!(request_bytes: usize, REQUEST_BYTES_MIN, REQUEST_BYTES_MAX);
bounded!(history_bytes: u64, 0, HISTORY_BYTES_MAX);
bounded!(session_events_per_minute: usize, 0, NUMBER_MAX);

fn fault(text: &str, error: &toml::de::Error) -> Error {
    let value = error.span().and_then(|span| text.get(span));
    let is_date = value.is_some_and(|value| value.parse::<toml::value::Datetime>().is_ok());
    Error::Policy {
        line: error.span().map(|span| line_at(text, span.start)),
        why: message(error, is_date),
    }
}

/// Rewords a parser's message for TOML; for serde a date is a map with a private key.
fn message(error: &toml::de::Error, is_date: bool) -> String {
    let said = error.message();
    if said.contains("$__toml_private") {
        return "a date or time cannot stand here".into();
    }
    let table = if is_date { "date or time" } else { "table" };
    said.replacen("type: map,", &format!("type: {table},"), 1)
        .replacen("type: sequence,", "type: array,", 1)
}

// The line numbers of parts of a policy.

/// The parts of a policy whose lines are wanted: only their spans, not their values.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Stands {
    redaction: RedactionStands,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RedactionStands {
    gitleaks: Option<Spanned<IgnoredAny>>,
    rules: Vec<RuleStands>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RuleStands {
    found: Vec<Spanned<IgnoredAny>>,
    kept: Vec<Spanned<IgnoredAny>>,
}

/// Returns the line, counted from 1, of a byte in the text.
fn line_at(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.min(text.len())];
    before.split(|byte| *byte == b'\n').count()
}

/// Returns the line of a place in a policy.
fn line_of(text: &str, place: Place) -> Option<usize> {
    let redaction = toml::from_str::<Stands>(text).ok()?.redaction;
    let rule = |at: usize| redaction.rules.get(at);
    let stands = match place {
        Place::Gitleaks(_) => redaction.gitleaks.as_ref(),
        Place::Found(at, number) => rule(at)?.found.get(number),
        Place::Kept(at, number) => rule(at)?.kept.get(number),
        Place::Redaction => None,
    };
    stands.map(|stands| line_at(text, stands.span().start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_mistake_is_reported_with_its_line() {
        for (text, line) in [
            ("[limits]\nmemory_byte = 3\n", 2),
            ("[limits]\n\nlines = \"many\"\n", 3),
            ("[tool]\ncreate_overwrites = 1", 2),
            ("[limit]\n", 1),
            ("[limits\n", 1),
        ] {
            match Policy::parse(text) {
                Err(Error::Policy { line: Some(l), .. }) => assert_eq!(l, line, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn values_out_of_bounds_are_refused() {
        for text in [
            "[limits]\nmemory_bytes = 0",
            "[limits]\nmemory_bytes = 999999999",
            "[limits]\nlines = 1000000",
            "[limits]\npath_bytes = 8",
        ] {
            let refused = Policy::parse(text);
            assert!(
                matches!(refused, Err(Error::Policy { line: Some(2), .. })),
                "{text}"
            );
        }
    }

    #[test]
    fn a_file_says_the_same_after_a_round_trip() {
        let policy =
            Policy::parse("[limits]\nview_characters = 0\n[tool]\ncreate_overwrites = true")
                .expect("valid");
        let store = StoreId::random();
        let (id, again) =
            Policy::parse_file(&policy.to_file(store).expect("valid")).expect("own output");
        assert_eq!((id, again), (store, policy));
    }

    #[test]
    fn a_store_that_is_no_id_is_reported_with_its_line() {
        for (text, line) in [
            ("format = 1\nstore = \"0011\"\n", 2),
            ("format = 1\n\nstore = 5\n", 3),
            ("format = 1\n", 1),
        ] {
            match Policy::parse_file(text) {
                Err(Error::Policy { line: Some(l), .. }) => assert_eq!(l, line, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_could_not_be_read_back_is_not_written() {
        let changes: [fn(&mut Policy); 6] = [
            |policy| policy.limits.lines = 0,
            |policy| policy.limits.memories = usize::MAX,
            |policy| policy.keyring.folder = Some("keys".into()),
            |policy| policy.expiration.sweep_max = expiration::SweepMax::Share(101),
            |policy| policy.expiration.sweep_max = expiration::SweepMax::Count(usize::MAX),
            |policy| policy.expiration.keep = vec!["a".into()],
        ];
        for (at, change) in changes.into_iter().enumerate() {
            let mut policy = Policy::default();
            change(&mut policy);
            let refused = policy.to_file(StoreId::random());
            assert!(
                matches!(refused, Err(Error::Policy { line: None, .. })),
                "{at}: {refused:?}"
            );
        }
    }

    #[test]
    fn a_pattern_that_would_swallow_what_stands_behind_it_is_refused() {
        let rule = |shape: &str| {
            let kind = "kind = \"acme-key\"\nliterals = [\"acme_\"]";
            format!("[[redaction.rules]]\n{kind}\nshape = '{shape}'\n")
        };
        let allow = |regex: &str| {
            format!("[redaction]\nallow = [{{ regex = '{regex}', reason = \"r\" }}]\n")
        };
        for pattern in [
            "(?x) acme_[0-9]+ # keys",
            "(?x)acme_#",
            "(?x: acme_)(?x) # keys",
        ] {
            assert!(Policy::parse(&rule(pattern)).is_err(), "{pattern}");
            assert!(Policy::parse(&allow(pattern)).is_err(), "{pattern}");
        }
        for pattern in ["acme_#[0-9]+", "acme_[#]", "(?x) acme_ \\#"] {
            assert!(Policy::parse(&rule(pattern)).is_ok(), "{pattern}");
            assert!(Policy::parse(&allow(pattern)).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn another_format_version_is_its_own_error() {
        let text = format!("format = 3\nstore = \"{}\"\n", StoreId::random());
        assert!(matches!(
            Policy::parse_file(&text),
            Err(Error::UnknownFormat { .. })
        ));
    }

    #[test]
    fn what_can_fit_no_memory() {
        for glob in [
            "",
            "/",
            "/memories",
            "/memories/",
            "memories/**",
            "/memory/**",
            "/notes/a.md",
            "a.md",
            "*.md",
            "**.md",
            "/memories/a/",
            "/memories//a",
            "/memories/./a",
            "/memories/../a",
            "/memories/%2e%2e/a",
            "/*",
            "/m[!e]mories/**",
            "/{memory,notes}/**",
            "/memories/a\\\\b",
        ] {
            let said = check_glob(glob).expect_err(glob);
            assert!(said.contains("fits no memory"), "{said}");
        }
        for glob in [
            "**",
            "/**",
            "**/a.md",
            "/memories/*",
            "/memories/**",
            "/m*/**",
            "*/memories/a",
            "/**/a",
            "/{memory,memories}/a",
            "/memories/[ab]",
            "/memories/a/**/b",
            "{/memories/a,/x}/**",
        ] {
            check_glob(glob).expect(glob);
        }
    }

    proptest! {
        #[test]
        fn what_a_path_fits_was_not_refused(
            glob in "(/|/memories|a|b|\\*|\\*\\*|\\{a,b\\}|/\\*\\*/|/memories/){0,6}",
            path in "/memories(/(a|b|ab|memories)){1,4}",
        ) {
            if Glob::parse(&glob).is_ok_and(|glob| glob.fits(&path)) {
                prop_assert!(check_glob(&glob).is_ok(), "{} {}", glob, path);
            }
        }

        #[test]
        fn no_text_breaks_the_parser(text in "[a-z_\\[\\]=0-9\"\n .{}]{0,80}") {
            let _ = Policy::parse(&text);
            let _ = Policy::parse_file(&text);
        }
    }
}
