//! The MCP clients: where each keeps its servers, and in what form.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::environment;
use crate::verbs::mcp_config::Launch;

/// The clients, one in each row.
pub(super) const CLIENTS: [Client; 5] = [
    Client {
        id: "claude-code",
        title: "Claude Code",
        format: Format::Json,
        table: "mcpServers",
        says_type: true,
        expands: true,
        adds: &["claude", "mcp", "add", "--scope", "user"],
        files: &[
            ClientFile {
                at: At::Here(".mcp.json"),
                tables: &["mcpServers"],
                reach: "in this folder only",
            },
            ClientFile {
                at: At::home(".claude.json", ".claude.json")
                    .or("CLAUDE_CONFIG_DIR", ".claude.json"),
                tables: &["projects", HERE, "mcpServers"],
                reach: "in this folder only, kept elsewhere",
            },
            ClientFile {
                at: At::home(".claude.json", ".claude.json")
                    .or("CLAUDE_CONFIG_DIR", ".claude.json"),
                tables: &["mcpServers"],
                reach: "everywhere",
            },
        ],
    },
    Client {
        id: "claude-desktop",
        title: "Claude Desktop",
        format: Format::Json,
        table: "mcpServers",
        says_type: false,
        expands: false,
        adds: &[],
        files: &[ClientFile {
            at: At::home(
                ".config/Claude/claude_desktop_config.json",
                "Library/Application Support/Claude/claude_desktop_config.json",
            )
            .or("XDG_CONFIG_HOME", "Claude/claude_desktop_config.json"),
            tables: &["mcpServers"],
            reach: "everywhere",
        }],
    },
    Client {
        id: "cursor",
        title: "Cursor",
        format: Format::Json,
        table: "mcpServers",
        says_type: true,
        expands: true,
        adds: &[],
        files: &[
            ClientFile {
                at: At::Here(".cursor/mcp.json"),
                tables: &["mcpServers"],
                reach: "in this folder only",
            },
            ClientFile {
                at: At::home(".cursor/mcp.json", ".cursor/mcp.json"),
                tables: &["mcpServers"],
                reach: "everywhere",
            },
        ],
    },
    Client {
        id: "codex",
        title: "Codex",
        format: Format::Toml,
        table: "mcp_servers",
        says_type: false,
        expands: false,
        adds: &["codex", "mcp", "add"],
        files: &[
            ClientFile {
                at: At::Here(".codex/config.toml"),
                tables: &["mcp_servers"],
                reach: "in this folder only, once Codex is told to trust it",
            },
            ClientFile {
                at: At::home(".codex/config.toml", ".codex/config.toml")
                    .or("CODEX_HOME", "config.toml"),
                tables: &["mcp_servers"],
                reach: "everywhere",
            },
        ],
    },
    Client {
        id: "vscode",
        title: "VS Code",
        format: Format::Json,
        table: "servers",
        says_type: true,
        expands: true,
        adds: &[],
        files: &[
            ClientFile {
                at: At::Here(".vscode/mcp.json"),
                tables: &["servers"],
                reach: "in this folder only",
            },
            ClientFile {
                at: At::home(
                    ".config/Code/User/mcp.json",
                    "Library/Application Support/Code/User/mcp.json",
                )
                .or("XDG_CONFIG_HOME", "Code/User/mcp.json"),
                tables: &["servers"],
                reach: "everywhere",
            },
        ],
    },
];

/// A placeholder for the working folder, among the tables of a file.
const HERE: &str = "{here}";

/// A client that starts MCP servers.
pub(super) struct Client {
    /// Its name in `--client`; also the actor, if the caller names none.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) format: Format,
    /// The table of servers in the printed text.
    pub(super) table: &'static str,
    /// Set if an entry says that it is a program and not an address.
    pub(super) says_type: bool,
    /// Set if it replaces `${…}`, which nothing can prevent.
    pub(super) expands: bool,
    /// The command that adds a server, up to the server's name; empty if there is none.
    pub(super) adds: &'static [&'static str],
    /// The files it looks in; the first that has an entry decides.
    pub(super) files: &'static [ClientFile],
}

/// The language of a client's files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Toml,
}

/// A place where a client keeps servers.
pub(super) struct ClientFile {
    at: At,
    tables: &'static [&'static str],
    /// Its reach, in words.
    pub(super) reach: &'static str,
}

/// The place of a file.
#[derive(Clone, Copy)]
enum At {
    /// Below the working folder.
    Here(&'static str),
    /// Below the home folder, or below the folder that a variable names.
    Home {
        linux: &'static str,
        macos: &'static str,
        variable: Option<(&'static str, &'static str)>,
    },
}

impl At {
    const fn home(linux: &'static str, macos: &'static str) -> Self {
        Self::Home {
            linux,
            macos,
            variable: None,
        }
    }

    const fn or(self, variable: &'static str, below: &'static str) -> Self {
        match self {
            Self::Home { linux, macos, .. } => Self::Home {
                linux,
                macos,
                variable: Some((variable, below)),
            },
            here @ Self::Here(_) => here,
        }
    }
}

impl Client {
    /// Finds the client with this name.
    pub(super) fn named(id: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.id == id)
    }

    /// Lists its files, with their paths. For a user who works in the home folder, a project's file
    /// can be the user's own, and is listed once.
    pub(super) fn places(&self) -> Vec<(&'static ClientFile, PathBuf)> {
        let paths = self.files.iter();
        let all: Vec<_> = paths
            .filter_map(|file| Some((file, file.path()?)))
            .collect();
        let is_own_too = |(file, path): &&(&'static ClientFile, PathBuf)| {
            let mut others = all.iter().filter(|(other, _)| other.is_own());
            !file.is_own() && others.any(|(_, other)| other == path)
        };
        let once = all.iter().filter(|place| !is_own_too(place));
        once.cloned().collect()
    }
}

impl ClientFile {
    /// Returns its path; `None` without a home folder.
    fn path(&self) -> Option<PathBuf> {
        let At::Home {
            linux,
            macos,
            variable,
        } = self.at
        else {
            let At::Here(name) = self.at else { return None };
            return Some(environment::here().join(name));
        };
        // XDG's variables mean nothing on macOS.
        let applies = |name: &str| !(cfg!(target_os = "macos") && name.starts_with("XDG_"));
        let said = variable.filter(|(name, _)| applies(name));
        let said = said.and_then(|(name, below)| Some(environment::folder_in(name)?.join(below)));
        let below = if cfg!(target_os = "macos") {
            macos
        } else {
            linux
        };
        said.or_else(|| Some(environment::folder_in("HOME")?.join(below)))
    }

    /// Tells whether it is the user's own, and came with no project.
    pub(super) fn is_own(&self) -> bool {
        matches!(self.at, At::Home { .. })
    }

    /// Returns the tables that servers stand in, from the outermost.
    pub(super) fn tables(&self) -> Vec<String> {
        let here = || environment::here().to_string_lossy().into_owned();
        let tables = self.tables.iter();
        tables
            .map(|&table| if table == HERE { here() } else { table.into() })
            .collect()
    }

    /// Tells whether a person would put an entry there by hand.
    pub(super) fn is_for_hands(&self) -> bool {
        !self.tables.contains(&HERE)
    }
}

// The present content of a client's files, which are read and never written.

/// The largest file of a client that is read, in bytes: some clients keep more in it than servers.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The result of a look for the server in a file.
pub(super) enum ConfiguredServer {
    /// There is no such file.
    Absent,
    /// The file cannot be used as it is.
    Broken(String),
    /// The file has no entry of this name.
    Nothing,
    /// The file has an entry that starts no program.
    Elsewhere,
    /// The file has an entry that starts a program.
    Entry(Launch),
}

/// Looks for the server in a client's file.
pub(super) fn look(
    client: &Client,
    file: &ClientFile,
    path: &Path,
    name: &str,
) -> ConfiguredServer {
    let text = match read(path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return ConfiguredServer::Absent,
        Err(e) => return ConfiguredServer::Broken(e.to_string()),
    };
    match parse(client.format, &text) {
        Err(why) => ConfiguredServer::Broken(why),
        Ok(whole) => {
            let tables = file.tables();
            let table = tables.iter().try_fold(&whole, |value, key| value.get(key));
            table
                .and_then(|table| table.get(name))
                .map_or(ConfiguredServer::Nothing, to_launch)
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

/// Parses a file's text. An error says where, and shows nothing of the text, which may hold keys.
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

/// Removes what editors allow in JSON: comments, and a comma after the last item of a list. Both
/// become spaces, so that the line numbers stay the same.
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

fn to_launch(entry: &Value) -> ConfiguredServer {
    let Some(program) = entry.get("command").and_then(Value::as_str) else {
        return ConfiguredServer::Elsewhere;
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
    ConfiguredServer::Entry(Launch {
        program: program.into(),
        args,
        env,
    })
}

impl Launch {
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
        let said = self.option("--store", Some("-C")).map(str::to_owned);
        let said = said.or_else(|| self.env.get("AGEKEEP_STORE").cloned());
        let usual = || Some(environment::folder_in("HOME")?.join(".local/share/agekeep/store"));
        said.map(PathBuf::from).or_else(usual)
    }

    /// Tells whether two start the same program.
    pub(super) fn is_same_program(&self, other: &Self) -> bool {
        self.program == other.program
            || is_same(Path::new(&self.program), Path::new(&other.program))
    }

    /// Tells whether two use the same store.
    pub(super) fn is_same_store(&self, other: &Self) -> bool {
        match (self.store(), other.store()) {
            (Some(one), Some(two)) => one == two || is_same(&one, &two),
            _ => false,
        }
    }

    /// Tells whether two are the same to the letter.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        self.program == other.program && self.args == other.args && self.env == other.env
    }
}

fn is_same(one: &Path, two: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    // A relative path says nothing by itself, because clients start servers from anywhere.
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
