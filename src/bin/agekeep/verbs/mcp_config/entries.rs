//! The entries of servers in the present files of clients, which are read and never written.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::environment;
use crate::verbs::mcp_config::{Client, ClientFile, Launch};

/// The largest file of a client that is read, in bytes: some clients keep more in it than servers.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Finds the entry of the server in a client's file. An error says why the file cannot be used.
pub(super) fn entry(
    client: &Client,
    file: &ClientFile,
    path: &Path,
    name: &str,
) -> Result<Option<Value>, String> {
    let text = match read(path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e.to_string()),
    };
    let whole = parse(&text, client.toml)?;
    let here = environment::here();
    let here = here.to_string_lossy();
    let above: &[&str] = if file.project {
        &["projects", &here]
    } else {
        &[]
    };
    let mut tables = above.iter().copied().chain([client.table.as_str(), name]);
    Ok(tables
        .try_fold(&whole, |value, key| value.get(key))
        .cloned())
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

/// Parses a file's text. An error says where, and shows nothing of the text, which may hold keys.
fn parse(text: &str, is_toml: bool) -> Result<Value, String> {
    if is_toml {
        let table: Result<toml::Table, _> = toml::from_str(text);
        let table = table.map_err(|e| {
            let at = e.span().map_or(0, |span| span.start).min(text.len());
            let line = text.as_bytes()[..at].split(|b| *b == b'\n').count();
            format!("it is no TOML at line {line}")
        })?;
        return serde_json::to_value(table).map_err(|_| "it holds what JSON cannot".into());
    }
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(&without_comments(text))
        .map_err(|e| format!("it is no JSON from line {} on", e.line()))
}

/// Removes what editors allow in JSON: comments, and a comma after the last item of a list. Both
/// become spaces, so that the line numbers stay the same.
fn without_comments(text: &str) -> String {
    let mut out: Vec<char> = text.chars().collect();
    let mut at = 0;
    let mut comma = None;
    while at < out.len() {
        match (out[at], out.get(at + 1)) {
            ('"', _) => {
                comma = None;
                at += 1;
                while at < out.len() && out[at] != '"' {
                    at += if out[at] == '\\' { 2 } else { 1 };
                }
            }
            ('/', Some(kind @ ('/' | '*'))) => {
                let end: &[char] = if *kind == '/' { &['\n'] } else { &['*', '/'] };
                let after = &out[at + 2..];
                let length = after.windows(end.len()).position(|signs| signs == end);
                let end = length.map_or(out.len(), |length| at + 2 + length + end.len());
                let comment = out[at..end].iter_mut();
                comment.filter(|c| **c != '\n').for_each(|c| *c = ' ');
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

impl Launch {
    /// Reads an entry; `None` if it starts no program.
    pub(super) fn of(entry: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let args = entry["args"].as_array().into_iter().flatten();
        let env = entry["env"].as_object().into_iter().flatten();
        let env = env.filter_map(|(name, value)| Some((name.clone(), text(value)?)));
        Some(Self {
            program: text(&entry["command"])?,
            args: args.filter_map(text).collect(),
            env: env.collect(),
        })
    }

    /// Returns the value of an option, however it is spelled.
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

    /// Returns the folder of the store that the server uses.
    pub(super) fn store(&self) -> Option<PathBuf> {
        let said = self.option("--store", Some("-C"));
        let said = said.or_else(|| self.env.get("AGEKEEP_STORE").map(String::as_str));
        let usual = || Some(environment::folder_in("HOME")?.join(".local/share/agekeep/store"));
        said.map(PathBuf::from).or_else(usual)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn read_json(text: &str) -> Option<Value> {
        parse(text, false).ok()
    }

    #[test]
    fn comments_and_last_commas_are_read_over() {
        let text = "// one\n{ /* two\n \" */ \"a\": [1, 2, /* x */ ], // \"b\": 3\n}\n";
        assert_eq!(read_json(text), Some(serde_json::json!({"a": [1, 2]})));
        let text = r#"{"url": "http://x/*y*/", "b": "\",]//"}"#;
        assert_eq!(
            read_json(text),
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
            assert!(read_json(text).is_none(), "{text}");
        }
    }

    #[test]
    fn an_error_says_the_line_and_nothing_of_the_text() {
        let why = parse("{\n\"key\": sekrit\n}", false).expect_err("broken");
        assert_eq!(why, "it is no JSON from line 2 on");
        let why = parse("a = 1\nkey = sekrit\n", true).expect_err("broken");
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
