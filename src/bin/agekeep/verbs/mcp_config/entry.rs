//! What stands in a client's files already. They are read and never written.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::environment;
use crate::verbs::mcp_config::client::{Client, File, Format};
use crate::verbs::mcp_config::launch::Launch;

/// Largest file of a client that is read, in bytes: some keep more in it than servers.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What a file says about the server.
pub(super) enum Found {
    /// There is no such file.
    Absent,
    /// It cannot be used as it is.
    Broken(String),
    /// It has no entry of this name.
    Nothing,
    /// It has one, which is no program.
    Elsewhere,
    /// It has one.
    Entry(Launch),
}

/// What is in a client's file.
pub(super) fn look(client: &Client, file: &File, path: &Path, name: &str) -> Found {
    let text = match read(path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Found::Absent,
        Err(e) => return Found::Broken(e.to_string()),
    };
    match parse(client.format, &text) {
        Err(why) => Found::Broken(why),
        Ok(whole) => {
            let tables = file.tables();
            let table = tables.iter().try_fold(&whole, |value, key| value.get(key));
            table
                .and_then(|table| table.get(name))
                .map_or(Found::Nothing, to_launch)
        }
    }
}

fn read(path: &Path) -> io::Result<String> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() || meta.len() > FILE_BYTES_MAX {
        return Err(io::Error::other("it is no file, or far too large for one"));
    }
    let mut text = String::new();
    let file = fs::File::open(path)?;
    file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Reads a file's text; an error says where, and nothing of the text, which may hold keys.
fn parse(format: Format, text: &str) -> Result<Value, String> {
    match format {
        Format::Json if text.trim().is_empty() => Ok(Value::Null),
        Format::Json => serde_json::from_str(&without_comments(text))
            .map_err(|e| format!("it is no JSON from line {} on", e.line())),
        Format::Toml => {
            let table: Result<toml::Table, _> = toml::from_str(text);
            let table = table.map_err(|e| {
                let at = e.span().map_or(0, |span| span.start).min(text.len());
                let line = text.as_bytes()[..at].split(|b| *b == b'\n').count();
                format!("it is no TOML at line {line}")
            })?;
            serde_json::to_value(table).map_err(|_| "it holds what JSON cannot".into())
        }
    }
}

/// JSON as editors allow it: comments, and a comma behind the last of a list. Both become spaces,
/// so that the lines stay what they are.
fn without_comments(text: &str) -> String {
    let mut out: Vec<char> = text.chars().collect();
    let mut at = 0;
    let mut comma = None;
    while at < out.len() {
        let next = out.get(at + 1).copied();
        match (out[at], next) {
            ('"', _) => {
                comma = None;
                at += 1;
                while at < out.len() && out[at] != '"' {
                    at += if out[at] == '\\' { 2 } else { 1 };
                }
            }
            ('/', Some('/')) => {
                while at < out.len() && out[at] != '\n' {
                    out[at] = ' ';
                    at += 1;
                }
            }
            ('/', Some('*')) => {
                let closes = |i: &usize| out[*i] == '*' && out.get(i + 1) == Some(&'/');
                let end = (at + 2..out.len())
                    .find(closes)
                    .map_or(out.len(), |i| i + 2);
                for c in &mut out[at..end] {
                    if *c != '\n' {
                        *c = ' ';
                    }
                }
                at = end;
                continue;
            }
            (',', _) => comma = Some(at),
            ('}' | ']', _) => {
                if let Some(comma) = comma.take() {
                    out[comma] = ' ';
                }
            }
            (c, _) if c.is_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    out.into_iter().collect()
}

fn to_launch(entry: &Value) -> Found {
    let Some(program) = entry.get("command").and_then(Value::as_str) else {
        return Found::Elsewhere;
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let args = entry.get("args").and_then(Value::as_array);
    let env = entry.get("env").and_then(Value::as_object);
    let args: Vec<_> = args.into_iter().flatten().filter_map(text).collect();
    let env: BTreeMap<_, _> = env
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), text(value)?)))
        .collect();
    Found::Entry(Launch {
        program: program.into(),
        args,
        env,
    })
}

impl Launch {
    /// The value of an option, however it is spelled.
    pub(super) fn option(&self, long: &str, short: Option<&str>) -> Option<&str> {
        let mut args = self.args.iter();
        let mut found = None;
        while let Some(arg) = args.next() {
            let short_value = short.and_then(|short| arg.strip_prefix(short));
            if arg == long || Some(arg.as_str()) == short {
                found = args.next().map(String::as_str);
            } else if let Some(value) = arg.strip_prefix(long).and_then(|v| v.strip_prefix('=')) {
                found = Some(value);
            } else if let Some(value) = short_value {
                found = Some(value.strip_prefix('=').unwrap_or(value));
            }
        }
        found
    }

    /// The folder of the store that the server is about.
    pub(super) fn store(&self) -> Option<PathBuf> {
        let said = self.option("--store", Some("-C")).map(str::to_owned);
        let said = said.or_else(|| self.env.get("AGEKEEP_STORE").cloned());
        let usual = || Some(environment::folder_in("HOME")?.join(".local/share/agekeep/store"));
        said.map(PathBuf::from).or_else(usual)
    }

    /// Whether two start the same program.
    pub(super) fn is_same_program(&self, other: &Self) -> bool {
        self.program == other.program
            || is_same(Path::new(&self.program), Path::new(&other.program))
    }

    /// Whether two are about the same store.
    pub(super) fn is_same_store(&self, other: &Self) -> bool {
        match (self.store(), other.store()) {
            (Some(one), Some(two)) => one == two || is_same(&one, &two),
            _ => false,
        }
    }

    /// Whether two are the same to the letter.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        self.program == other.program && self.args == other.args && self.env == other.env
    }
}

fn is_same(one: &Path, two: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    // A relative path is nothing by itself: clients start servers from anywhere.
    one.is_absolute() && real(one).is_some_and(|one| Some(one) == real(two))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Value> {
        parse(Format::Json, text).ok()
    }

    #[test]
    fn comments_and_last_commas_are_read_over() {
        let text = "// one\n{ /* two\n \" */ \"a\": [1, 2, /* x */ ], // \"b\": 3\n}\n";
        assert_eq!(read(text), Some(serde_json::json!({"a": [1, 2]})));
        let text = r#"{"url": "http://x/*y*/", "b": "\",]//"}"#;
        assert_eq!(
            read(text),
            Some(serde_json::json!({"url": "http://x/*y*/", "b": "\",]//"}))
        );
    }

    #[test]
    fn what_is_broken_is_not_mended() {
        for text in [
            "{",
            "{\"a\": 1,,}",
            "{\"a\" 1}",
            "[,]x",
            "/*",
            "\"",
            "{\"a\": \"\\",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn an_error_says_the_line_and_nothing_of_the_text() {
        let why = parse(Format::Json, "{\n\"key\": sekrit\n}").expect_err("broken");
        assert_eq!(why, "it is no JSON from line 2 on");
        let why = parse(Format::Toml, "a = 1\nkey = sekrit\n").expect_err("broken");
        assert_eq!(why, "it is no TOML at line 2");
    }

    #[test]
    fn an_option_is_found_however_it_is_spelled() {
        for args in [
            &["mcp", "--store", "/x"][..],
            &["--store=/x"],
            &["-C", "/x"],
            &["-C/x"],
            &["-C=/x"],
            &["-C", "/y", "--store", "/x"],
        ] {
            let launch = Launch {
                program: "p".into(),
                args: args.iter().map(|&arg| arg.into()).collect(),
                env: BTreeMap::new(),
            };
            assert_eq!(launch.option("--store", Some("-C")), Some("/x"), "{args:?}");
            assert_eq!(launch.option("--identity", Some("-i")), None);
        }
    }
}
