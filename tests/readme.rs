//! Every command in the README and in the pages of docs/: each page in a fresh home, its commands in
//! order, and the output that it shows.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::security::collect;
use crate::support::{Home, has_peer, stderr, stdout};

/// A block of commands, and the output that the page shows for it.
struct Block {
    script: String,
    shown: Option<String>,
}

/// Stands between the outputs of two blocks.
const MARK: &str = "=====next block=====";

/// What `cargo` is inside a page: building and testing are what is going on already.
const CARGO: &str = r#"#!/bin/sh
case "$1" in
  run) while [ "$1" != "--" ]; do shift; done; shift; exec agekeep "$@" ;;
  test|bench|install) exit 0 ;;
esac
exit 1
"#;

/// A test for each page with commands in it.
macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        /// The pages that are tested.
        const PAGES: &[&str] = &[$($page),*];
        $(
            #[test]
            fn $test() {
                every_command_works_and_prints_what_is_shown($page);
            }
        )*
    };
}

pages! {
    the_readme: "README.md",
    the_tutorial: "docs/tutorial.md",
    agents: "docs/agents/README.md",
    agents_in_any_language: "docs/agents/any-language.md",
    agents_over_mcp: "docs/agents/mcp.md",
    audits: "docs/audit.md",
    the_command_line: "docs/command-line.md",
    backup_and_restore: "docs/backup-and-restore.md",
    history_and_undo: "docs/history-and-undo.md",
    import_and_export: "docs/import-export.md",
    the_policy: "docs/policy-reference.md",
    redaction: "docs/redaction.md",
    retention: "docs/retention.md",
    a_report: "docs/report.md",
    a_team: "docs/team.md",
}

/// A page whose commands no test runs would rot: a test here or of its own subject names it.
#[test]
fn every_page_with_commands_is_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tests = String::new();
    collect(&root.join("tests"), &mut tests);
    let mut with_commands = 0;
    for page in pages(root) {
        if !blocks(&fs::read_to_string(root.join(&page)).expect("a page")).is_empty() {
            with_commands += 1;
            assert!(
                tests.contains(&format!("\"{page}\"")),
                "no test runs the commands of {page}"
            );
        }
    }
    assert!(with_commands >= PAGES.len(), "{with_commands}");
}

/// The README, SECURITY.md, the changelog and the pages in `docs/` and its folders.
pub(crate) fn pages(root: &Path) -> Vec<String> {
    let mut pages: Vec<String> = ["README.md", "SECURITY.md", "CHANGELOG.md"]
        .map(str::to_owned)
        .to_vec();
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).expect("the pages") {
            let entry = entry.expect("an entry");
            let name = format!("{folder}/{}", entry.file_name().to_str().expect("a name"));
            if entry.path().is_dir() {
                folders.push(name);
            } else if entry.path().extension().is_some_and(|end| end == "md") {
                pages.push(name);
            }
        }
    }
    pages.sort();
    pages
}

/// The book has every page of `docs/` once, and no other.
#[test]
fn the_book_lists_every_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let summary = fs::read_to_string(root.join("docs/SUMMARY.md")).expect("the list");
    let listed = summary.lines().filter_map(|line| {
        let (_, link) = line.split_once("](")?;
        Some(format!("docs/{}", link.strip_suffix(')')?))
    });
    let mut listed: Vec<String> = listed.collect();
    listed.sort();
    let pages = pages(root).into_iter();
    let pages = pages.filter(|page| page.starts_with("docs/") && page != "docs/SUMMARY.md");
    assert_eq!(listed, pages.collect::<Vec<_>>());
}

/// Each picture of the pages is shown in one, is small, and asks for nothing from a network.
#[test]
fn pictures_are_shown_small_and_closed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |page: &String| fs::read_to_string(root.join(page)).expect("a page");
    let all: String = pages(root).iter().map(read).collect();
    let mut seen = 0;
    for entry in fs::read_dir(root.join("docs/pictures")).expect("the pictures") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        if name == "make" {
            continue;
        }
        seen += 1;
        assert!(
            all.contains(&format!("pictures/{name})")),
            "{name} is in no page"
        );
        let bytes = fs::read(&path).expect("readable");
        assert!(bytes.len() < 150_000, "{name}: {} bytes", bytes.len());
        if let Ok(svg) = String::from_utf8(bytes) {
            let svg = svg.replace("http://www.w3.org/2000/svg", "");
            for word in ["http", "href", "<script", "@import", "url(//"] {
                assert!(!svg.contains(word), "{name} has {word}");
            }
        }
    }
    assert_eq!(seen, 2);
}

/// Each key of the policy, as the format has it, is explained to owners.
#[test]
fn the_policy_reference_has_every_key() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |page: &str| fs::read_to_string(root.join("docs").join(page)).expect("a page");
    let (format, reference) = (read("format.md"), read("policy-reference.md"));
    let (_, table) = format.split_once("### 3.1 ").expect("its section");
    let (table, _) = table.split_once("### 3.2 ").expect("the next");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let keys = rows.map(|row| row.split_once('`').expect("a key").0);
    let keys: Vec<&str> = keys.filter(|key| key.contains('.')).collect();
    assert!(keys.len() > 20, "{keys:?}");
    for key in keys {
        assert!(reference.contains(&format!("\n| `{key}` | ")), "{key}");
    }
}

/// A link of a page leads to a file, and to a heading, that is there.
#[test]
fn every_link_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut faults, mut followed) = (Vec::new(), 0);
    for name in pages(root) {
        let page = root.join(&name);
        let text = fs::read_to_string(&page).expect("a page");
        // Outside of blocks and of `code`.
        let prose: String = text.split("```").step_by(2).collect();
        let prose: String = prose.split('`').step_by(2).collect();
        for (at, _) in prose.match_indices("](") {
            let link = prose[at + 2..].split(')').next().expect("a link");
            if link.contains("://") {
                continue;
            }
            followed += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.with_file_name("").join(file),
            };
            let is_there = match fs::read_to_string(&target) {
                Ok(text) => heading.is_empty() || text.lines().any(|line| anchor(line) == heading),
                Err(_) => target.exists() && heading.is_empty(),
            };
            if !is_there {
                faults.push(format!("{name}: {link}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(followed > 50, "{followed}");
}

/// The name by which links lead to a heading; empty for any other line.
fn anchor(line: &str) -> String {
    let Some(title) = line.strip_prefix('#') else {
        return String::new();
    };
    let title = title.trim_start_matches('#').trim().to_lowercase();
    let kept = title.replace(' ', "-");
    kept.chars()
        .filter(|c| c.is_alphanumeric() || "-_".contains(*c))
        .collect()
}

/// Runs the `sh` blocks of a page in order, in one shell and one fresh home, and compares the output
/// of each with what the page shows.
fn every_command_works_and_prints_what_is_shown(page: &str) {
    check_page(page, &Home::empty(), &[], str::to_owned);
}

/// The same in a given home, with variables and with commands that are changed.
pub(crate) fn check_page(
    page: &str,
    home: &Home,
    variables: &[(&str, &str)],
    changed: impl Fn(&str) -> String,
) {
    let peers = [
        ("git", "pages show what stock git sees"),
        ("age-keygen", "pages have members of a team make their keys"),
        ("ssh-keygen", "pages have a signer make a key"),
        ("flock", "pages copy a store with its locks held"),
    ];
    if !peers.iter().all(|(peer, why)| has_peer(peer, why)) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let blocks = blocks(&fs::read_to_string(root.join(page)).expect("the page"));
    assert!(!blocks.is_empty(), "{page} has commands");
    prepare(root, home.path());
    let script: Vec<String> = blocks.iter().map(|block| changed(&block.script)).collect();
    let output = Command::new(crate::support::program("sh"))
        .args(["-euc", &script.join(&format!("\necho {MARK}\n"))])
        .current_dir(home.path())
        .env_clear()
        .envs(variables.iter().copied())
        .env("HOME", home.path())
        .env(
            "PATH",
            format!(
                "{}:/usr/local/bin:/usr/bin:/bin",
                home.path().join("bin").display()
            ),
        )
        .output()
        .expect("sh runs");
    assert!(
        output.status.success(),
        "{page}\n{}\n{}",
        stdout(&output),
        stderr(&output)
    );
    let printed = stdout(&output);
    let printed: Vec<&str> = printed.split(&format!("{MARK}\n")).collect();
    assert_eq!(printed.len(), blocks.len(), "{page}");
    for (block, printed) in blocks.iter().zip(printed) {
        let Some(shown) = &block.shown else { continue };
        let lines: Vec<_> = printed.lines().collect();
        let want: Vec<_> = shown.lines().collect();
        assert!(
            all_fit(&lines, &want),
            "{page}\n{}\nprinted:\n{printed}\nshown:\n{shown}",
            block.script
        );
    }
}

/// Whether lines are what is shown, where a line of `…` alone stands for any lines, or none.
fn all_fit(lines: &[&str], shown: &[&str]) -> bool {
    match (shown.split_first(), lines.split_first()) {
        (None, _) => lines.is_empty(),
        (Some((&"…", shown)), _) => (0..=lines.len()).any(|at| all_fit(&lines[at..], shown)),
        (Some((want, shown)), Some((line, lines))) => fits(line, want) && all_fit(lines, shown),
        (Some(_), None) => false,
    }
}

/// A folder with the fixtures in it, and the programs that the pages name.
fn prepare(root: &Path, home: &Path) {
    symlink(root.join("fixtures"), home.join("fixtures")).expect("links");
    let bin = home.join("bin");
    fs::create_dir(&bin).expect("makes a folder");
    symlink(env!("CARGO_BIN_EXE_agekeep"), bin.join("agekeep")).expect("links");
    fs::write(bin.join("cargo"), CARGO).expect("writes");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(bin.join("cargo"), executable).expect("sets the mode");
}

/// The `sh` blocks, each with the `text` block that follows it at once.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find("\n```sh\n") {
        let (script, after) = rest[at + 7..].split_once("```\n").expect("the block ends");
        let shown = after
            .strip_prefix("```text\n")
            .and_then(|text| text.split_once("```"))
            .map(|(text, _)| text.to_owned());
        blocks.push(Block {
            script: script.to_owned(),
            shown,
        });
        rest = after;
    }
    blocks
}

/// Whether a line is what is shown, where `…` stands for anything.
fn fits(line: &str, shown: &str) -> bool {
    let mut pieces = shown.split('…');
    let Some(mut rest) = pieces.next().and_then(|first| line.strip_prefix(first)) else {
        return false;
    };
    let mut open_end = false;
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
        open_end = piece.is_empty();
    }
    rest.is_empty() || open_end
}

#[test]
fn a_wildcard_stands_for_anything_and_nothing_else_does() {
    assert!(fits("a 123 b", "a … b") && fits("a 1", "a …") && fits("same", "same"));
    assert!(!fits("a 123 c", "a … b") && !fits("same!", "same") && !fits("x", "…y"));
    assert!(all_fit(&["a", "b", "c"], &["a", "…", "c"]) && all_fit(&["a"], &["a", "…"]));
    assert!(!all_fit(&["a", "b"], &["…", "a"]) && !all_fit(&["a"], &["a", "b"]));
}
