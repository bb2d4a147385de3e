//! The MCP clients: where each keeps its servers, and in what form.

use std::path::PathBuf;

use crate::environment;

/// One row for each client.
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
            File {
                at: At::Here(".mcp.json"),
                tables: &["mcpServers"],
                reach: "in this folder only",
            },
            File {
                at: At::home(".claude.json", ".claude.json")
                    .or("CLAUDE_CONFIG_DIR", ".claude.json"),
                tables: &["projects", HERE, "mcpServers"],
                reach: "in this folder only, kept elsewhere",
            },
            File {
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
        files: &[File {
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
            File {
                at: At::Here(".cursor/mcp.json"),
                tables: &["mcpServers"],
                reach: "in this folder only",
            },
            File {
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
            File {
                at: At::Here(".codex/config.toml"),
                tables: &["mcp_servers"],
                reach: "in this folder only, once Codex is told to trust it",
            },
            File {
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
            File {
                at: At::Here(".vscode/mcp.json"),
                tables: &["servers"],
                reach: "in this folder only",
            },
            File {
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

/// Stands for the folder somebody works in, among the tables of a file.
const HERE: &str = "{here}";

/// A client that starts MCP servers.
pub(super) struct Client {
    /// What it is called in `--client`; also who acts, where nobody says it.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) format: Format,
    /// The table its servers stand in, in what is printed.
    pub(super) table: &'static str,
    /// Whether an entry says that it is a program and not an address.
    pub(super) says_type: bool,
    /// Whether it puts something else in place of `${…}`, which nothing can keep it from.
    pub(super) expands: bool,
    /// The command that adds a server, up to the server's name; empty where there is none.
    pub(super) adds: &'static [&'static str],
    /// Where it looks, the first that has an entry deciding.
    pub(super) files: &'static [File],
}

/// The language of a client's files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Toml,
}

/// A place where a client keeps servers.
pub(super) struct File {
    at: At,
    tables: &'static [&'static str],
    /// Where it counts, in words.
    pub(super) reach: &'static str,
}

/// Where a file is.
#[derive(Clone, Copy)]
enum At {
    /// Below the folder somebody works in.
    Here(&'static str),
    /// Below the home folder, or below what a variable names.
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
    /// The client that is called so.
    pub(super) fn named(id: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.id == id)
    }

    /// Its files, with their paths. For somebody who works in the home folder a project's file can be
    /// the person's own, and is there once.
    pub(super) fn places(&self) -> Vec<(&'static File, PathBuf)> {
        let paths = self.files.iter();
        let all: Vec<_> = paths
            .filter_map(|file| Some((file, file.path()?)))
            .collect();
        let is_own_too = |(file, path): &&(&'static File, PathBuf)| {
            let mut others = all.iter().filter(|(other, _)| other.is_own());
            !file.is_own() && others.any(|(_, other)| other == path)
        };
        let once = all.iter().filter(|place| !is_own_too(place));
        once.cloned().collect()
    }
}

impl File {
    /// Its path; `None` where there is no home folder.
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

    /// Whether it is the person's own, and came with no project.
    pub(super) fn is_own(&self) -> bool {
        matches!(self.at, At::Home { .. })
    }

    /// The tables that servers stand in, from the outermost.
    pub(super) fn tables(&self) -> Vec<String> {
        let here = || environment::here().to_string_lossy().into_owned();
        let tables = self.tables.iter();
        tables
            .map(|&table| if table == HERE { here() } else { table.into() })
            .collect()
    }

    /// Whether somebody would put an entry there by hand.
    pub(super) fn is_for_hands(&self) -> bool {
        !self.tables.contains(&HERE)
    }
}
