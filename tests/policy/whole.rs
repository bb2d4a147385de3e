//! `policy set --policy`: another policy in place of all of it, followed at once by everybody, and
//! never in passing.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::support::{Home, stderr, stdout};

const STRICT: &str = "[redaction]\nmode = \"reject\"\n";
const SECRET: &str = "password: W1nt3rF0x_995\n";

fn put(home: &Home, policy: &str) {
    let file = home.path().join("policy.toml");
    fs::write(&file, policy).expect("written");
    let file = file.to_str().expect("a path in UTF-8");
    let output = home.run(&["policy", "set", "--policy", file]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_policy_is_an_event_and_holds_at_once() {
    let home = Home::with_store();
    put(&home, STRICT);
    let log = stdout(&home.run(&["log", "--json", "-n", "1"]));
    assert!(log.contains("\"command\":\"policy_set\""), "{log}");
    let refused = home.run(&["create", "/memories/a.md", "--text", SECRET]);
    assert_eq!(refused.status.code(), Some(7), "{}", stderr(&refused));
    assert!(!stderr(&refused).contains("W1nt3r"));
    let shown = stdout(&home.run(&["policy", "get"]));
    assert!(shown.contains("mode = \"reject\""), "{shown}");
    let status = home.run(&["status"]);
    assert!(stdout(&status).contains("none found"));
}

#[test]
fn a_process_that_is_running_follows_it() {
    let home = Home::with_store();
    let mut child = home
        .command(&["tool"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = child.stdin.take().expect("piped");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut call = |path: &str| {
        let text = serde_json::json!({"command": "create", "path": path, "file_text": SECRET});
        writeln!(input, "{text}").expect("reads");
        let mut line = String::new();
        output.read_line(&mut line).expect("answers");
        line
    };
    assert!(call("/memories/a.md").contains("1 secret value was removed"));
    put(&home, STRICT);
    let refused = call("/memories/b.md");
    assert!(refused.contains("\"error\":\"secret\""), "{refused}");
    put(&home, "");
    assert!(call("/memories/b.md").contains("1 secret value was removed"));
    drop(input);
    assert!(child.wait().expect("ends").success());
}

#[test]
fn a_policy_that_cannot_be_followed_changes_nothing() {
    let home = Home::with_store();
    put(&home, STRICT);
    let file = home.path().join("wrong.toml");
    for (policy, line) in [
        ("[redaction]\noff = [\"no-such-kind\"]\n", Some(2)),
        ("[redaction]\nmode = \"never\"\n", Some(2)),
        (
            "[redaction]\n\nrules = [{kind = \"x\", shape = \"a\", literals = [\"ab\"]}]\n",
            Some(3),
        ),
        (
            "[redaction]\ngitleaks = \"[[rules]]\\nid = 'x'\\nregex = '('\"\n",
            None,
        ),
        (
            "[[redaction.rules]]\nkind = \"own\"\nshape = \"own_[a-z]{4}\"\nliterals = [\"own_\"]\n\
             found = [\"nothing of it\"]\n",
            None,
        ),
    ] {
        fs::write(&file, policy).expect("written");
        let path = file.to_str().expect("a path in UTF-8");
        let output = home.run(&["policy", "set", "--policy", path]);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{policy}\n{}",
            stderr(&output)
        );
        if let Some(line) = line {
            let said = stderr(&output);
            assert!(said.contains(&format!("line {line}")), "{policy}\n{said}");
        }
    }
    let rule = |n: usize| {
        format!(
            "[[redaction.rules]]\nkind = \"own-{n}\"\nshape = \"own{n}_\"\nliterals = [\"own{n}_\"]\n"
        )
    };
    fs::write(&file, (0..1_001).map(rule).collect::<String>()).expect("written");
    let path = file.to_str().expect("a path in UTF-8");
    let output = home.run(&["policy", "set", "--policy", path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("more than 1000"),
        "{}",
        stderr(&output)
    );
    let shown = stdout(&home.run(&["policy", "get"]));
    assert!(shown.contains("mode = \"reject\""), "{shown}");
}

#[test]
fn history_says_what_the_catalog_does_not() {
    let home = Home::with_store();
    assert!(
        home.run(&["create", "/memories/a.md", "--text", "one\n"])
            .status
            .success()
    );
    let catalog = home.store().join("catalog");
    let before = fs::read(&catalog).expect("a catalog");
    put(&home, STRICT);
    // A catalog from before, and none at all.
    for old in [Some(before), None] {
        match old {
            Some(bytes) => fs::write(&catalog, bytes).expect("written"),
            None => fs::remove_file(&catalog).expect("removed"),
        }
        let read = home.run(&["read", "a.md"]);
        assert_eq!(stdout(&read), "one\n", "{}", stderr(&read));
        let refused = home.run(&["create", "/memories/b.md", "--text", SECRET]);
        assert_eq!(refused.status.code(), Some(7));
    }
}

#[test]
fn no_agent_changes_it() {
    let home = Home::with_store();
    put(&home, STRICT);
    let call = r#"{"command":"policy_set","path":"/memories/agekeep.toml","file_text":"[redaction]\nmode=\"off\""}"#;
    let answer = home.tool(&format!("{call}\n"))[0].to_string();
    assert!(answer.contains("unknown command"), "{answer}");
    let shown = stdout(&home.run(&["policy", "get"]));
    assert!(shown.contains("mode = \"reject\""), "{shown}");
}

#[test]
fn a_rule_whose_comment_runs_on_is_refused_before_it_is_needed() {
    let home = Home::with_store();
    let file = home.path().join("policy.toml");
    let shapes = ["(?x) acme_[0-9]{4} # keys", "(?x)acme_\\\\d#"];
    for shape in shapes {
        let rule = "[[redaction.rules]]\nkind = \"acme-key\"\nliterals = [\"acme_\"]\n";
        fs::write(&file, format!("{rule}shape = \"{shape}\"\n")).expect("written");
        let set = home.run(&["policy", "set", "--policy", file.to_str().expect("UTF-8")]);
        assert!(!set.status.success(), "{shape}");
        assert!(stderr(&set).contains("`shape`"), "{}", stderr(&set));
        let made = home.run(&["create", "/memories/a.md", "--text", "acme_1234\n"]);
        assert!(made.status.success(), "{}", stderr(&made));
        assert!(home.run(&["delete", "/memories/a.md"]).status.success());
    }
}
