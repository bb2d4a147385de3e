//! What a new user is told to type, typed: from an empty home folder to an agent that remembers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::sdk::scene::{Language, Scene, assert_ok};
use crate::support::peers;
use crate::support::stdout;

#[test]
fn ten_lines_of_python() {
    as_told(
        Language::Python,
        "docs/agents/python.md",
        "python",
        "examples/python/quickstart.py",
    );
}

#[test]
fn ten_lines_of_typescript() {
    as_told(
        Language::TypeScript,
        "docs/agents/typescript.md",
        "ts",
        "examples/typescript/quickstart.ts",
    );
}

/// The README has the same program, shorter by what it is asked.
#[test]
fn the_readme_shows_a_part_of_the_python_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).expect("the README");
    let example = fs::read_to_string(root.join("examples/python/quickstart.py"));
    let example = example.expect("the example").replace("sys.argv[1]", "…");
    let (_, program) = readme.split_once("```python\n").expect("a block");
    let (program, _) = program.split_once("```").expect("the block ends");
    let program = program.replace("\"What do you remember?\"", "…");
    let lines: Vec<&str> = example.lines().collect();
    let shown = program.lines().filter(|line| !line.is_empty());
    assert!(shown.clone().count() >= 8, "{program}");
    for line in shown {
        assert!(lines.contains(&line), "the example has no line {line:?}");
    }
}

/// Runs what a page tells: the language's commands, then the program in the block after them.
fn as_told(language: Language, page: &str, fence: &str, quickstart: &str) {
    let Some(scene) = Scene::bare(language, quickstart) else {
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join(page)).expect("the page");
    let (before, program) = text
        .split_once(&format!("```\n```{fence}\n"))
        .expect("a block");
    let (_, commands) = before.rsplit_once("```bash\n").expect("its commands");
    let (program, _) = program.split_once("```\n").expect("the block ends");
    assert!(
        code(program)
            .lines()
            .filter(|line| !line.is_empty())
            .count()
            <= 10,
        "ten lines"
    );
    let example = fs::read_to_string(root.join(quickstart)).expect("the example");
    assert_eq!(
        code(program),
        code(&example),
        "{quickstart} is what {page} shows"
    );
    let name = program
        .lines()
        .next()
        .and_then(|line| line.split(' ').nth(1));
    fs::write(scene.work().join(name.expect("its name")), program).expect("writes");
    scene.install(language);
    stand_ins(&scene);
    let mut sh = Command::new("bash");
    sh.args(["-euc", commands]);
    scene.at_home(&mut sh);
    sh.env_remove("AGEKEEP_STORE");
    let input =
        json!({"command": "create", "path": "/memories/tea.md", "file_text": "likes tea\n"});
    let said = scene.talk_through(sh, commands, &json!([[input]]));
    let done = "File created successfully at: /memories/tea.md";
    assert_eq!(said[1]["results"][0]["content"], done);
    assert_eq!(said[1]["results"][0]["is_error"], json!(null));
    let mut agekeep = Command::new("agekeep");
    agekeep.args(["read", "tea.md"]);
    scene.at_home(&mut agekeep);
    agekeep.env_remove("AGEKEEP_STORE");
    let output = agekeep.output().expect("agekeep starts");
    assert_ok("read", &output);
    assert_eq!(stdout(&output), "likes tea\n");
}

/// A program without the comment that it begins with.
fn code(program: &str) -> String {
    let is_comment = |line: &&str| line.starts_with('#') || line.starts_with("//");
    let lines = program.lines().skip_while(is_comment);
    lines.collect::<Vec<_>>().join("\n")
}

/// The programs that the page's commands name: what they install is here already, and
/// `packaging/check-agents` installs it from the packages.
fn stand_ins(scene: &Scene) {
    let bin = scene.home.path().join("bin");
    let node = peers::node_modules().join(".bin/node");
    let node = format!("exec {} \"$@\"", node.display());
    let python = peers::python().expect("it was looked for");
    let python = format!("exec {} \"$@\"", python.display());
    for (name, does) in [
        ("pip", "[ \"$*\" = 'install agekeep[anthropic]' ]"),
        ("npm", "[ \"$*\" = 'install agekeep @anthropic-ai/sdk' ]"),
        ("npx", "exec \"$@\""),
        ("node", node.as_str()),
        ("python", python.as_str()),
    ] {
        fs::write(bin.join(name), format!("#!/bin/sh\n{does}\n")).expect("writes");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(bin.join(name), executable).expect("sets the mode");
    }
}
