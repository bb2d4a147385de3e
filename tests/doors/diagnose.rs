//! `mcp-config --diagnose`: every fault is named with what to do, and no server outlives it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::doors::site::{CLIENTS, NAMES, Site, fault, of_step, parse, table};
use crate::support::{has_peer, json_lines, stderr, stdout};

/// A server that answers as it should, where nothing else is said: one answer after the other.
fn server(hello: &str, tools: &str, called: &str) -> String {
    let answer = |id: u8, result: &str| {
        assert!(!result.contains('\''));
        format!("printf '%s\\n' '{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}'")
    };
    format!(
        "while read -r line; do case $line in\n\
         *'\"initialize\"'*) {} ;;\n*tools/list*) {} ;;\n*tools/call*) {} ;;\nesac; done\n",
        answer(1, hello),
        answer(2, tools),
        answer(3, called)
    )
}

const TOOLS: &str = r#"{"tools":[{"name":"memory_view"}]}"#;
const CALLED: &str = r#"{"content":[{"type":"text","text":"Here"}]}"#;

fn hello() -> String {
    hello_of("2025-11-25", "agekeep", env!("CARGO_PKG_VERSION"))
}

fn hello_of(protocol: &str, name: &str, version: &str) -> String {
    json!({
        "protocolVersion": protocol, "capabilities": {},
        "serverInfo": {"name": name, "version": version},
    })
    .to_string()
}

fn good() -> String {
    server(&hello(), TOOLS, CALLED)
}

/// What is said of a script in the place of the program, and the exit code.
fn of_script(text: &str) -> (Value, i32) {
    let site = Site::new("plain");
    let program = site.script("server", text);
    site.enter(
        &program,
        &["mcp", "--store", &site.path(".local/share/agekeep/store")],
    );
    site.diagnosis("cursor", &[])
}

/// Everything that is said, as one text.
fn all(said: &Value) -> String {
    said["checks"].to_string()
}

fn what(check: &Value) -> &str {
    check["what"].as_str().expect("a text")
}

/// The processes that have a path among their words.
fn processes(path: &Path) -> Vec<String> {
    let path = path.to_str().expect("UTF-8");
    let entries = fs::read_dir("/proc").expect("Linux");
    let commands = entries.filter_map(|entry| {
        let words = fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        words.contains(path).then_some(words)
    });
    commands.collect()
}

#[test]
fn all_is_well_for_every_client_and_it_is_on_record() {
    for (client, name) in CLIENTS.into_iter().zip(NAMES.into_iter().cycle()) {
        let site = Site::new(name);
        let (said, code) = site.diagnosis(client, &[]);
        assert_eq!((code, &said["ok"]), (0, &json!(true)), "{client}: {said:#}");
        for step in ["store", "initialize", "tools/list", "tools/call"] {
            assert_eq!(of_step(&said, step)[0]["state"], "ok", "{client}: {said:#}");
        }
        let events = json_lines(site.ok(&["log", "--json"]).as_bytes());
        let view = events
            .iter()
            .find(|event| event["command"] == "view")
            .expect("a look");
        assert_eq!(view["actor"], client, "{view}");
        assert_eq!(view["door"], "mcp", "{view}");
        assert!(
            view["client"]
                .as_str()
                .is_some_and(|client| client.contains("mcp-config"))
        );
        assert_eq!(processes(&site.store()), Vec::<String>::new());
    }
}

#[test]
fn other_offers_work_too() {
    let site = Site::new("plain");
    for args in [
        &["--single-tool"][..],
        &["--read-only"],
        &["--admin", "--tools", "restore"],
    ] {
        let (said, code) = site.diagnosis("vscode", args);
        assert_eq!(code, 0, "{args:?}: {said:#}");
    }
}

#[test]
fn the_printed_command_answers_from_anywhere() {
    for (client, name) in CLIENTS.into_iter().zip(NAMES.into_iter().cycle()) {
        let site = Site::new(name);
        let server = site.block(client, &[])[table(client)]["agekeep"].clone();
        let args: Vec<String> = serde_json::from_value(server["args"].clone()).expect("texts");
        let mut child = Command::new(server["command"].as_str().expect("a path"))
            .args(args)
            .env_clear()
            .env("HOME", &site.home)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut input = child.stdin.take().expect("piped");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}});
        writeln!(input, "{hello}").expect("it reads");
        let answer = lines.next().expect("an answer").expect("UTF-8");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-11-25",
            "{answer}"
        );
        drop(input);
        assert!(child.wait().expect("ends").success());
    }
}

#[test]
fn no_store_is_said_with_what_makes_one() {
    let site = Site::empty("plain");
    let (said, code) = site.diagnosis("codex", &[]);
    assert_eq!(code, 1);
    let fault = fault(&said, "store");
    assert!(what(fault).contains("no store at"), "{fault}");
    assert!(
        fault["fix"]
            .as_str()
            .expect("a text")
            .contains("agekeep init"),
        "{fault}"
    );
    assert!(!site.store().exists(), "nothing is made");
}

#[test]
fn missing_and_locked_keys_are_said() {
    let site = Site::new("plain");
    let identity = site.home.join(".config/agekeep/identity.txt");
    fs::rename(&identity, site.root().join("aside")).expect("moves");
    let (said, code) = site.diagnosis("cursor", &[]);
    assert_eq!(code, 1);
    assert!(
        what(fault(&said, "store")).contains("no identity at"),
        "{said:#}"
    );
    assert!(
        what(fault(&said, "tools/call")).contains("no identity at"),
        "{said:#}"
    );

    let other = Site::new("plain");
    fs::copy(other.home.join(".config/agekeep/identity.txt"), &identity).expect("copies");
    let (said, code) = site.diagnosis("cursor", &[]);
    assert_eq!(code, 1);
    fault(&said, "store");
    fault(&said, "tools/call");
}

#[test]
fn a_key_that_may_not_sign_is_said() {
    let site = Site::new("plain");
    let other = Site::new("plain");
    let key = other.home.join(".config/agekeep/signing_key");
    let key = key.to_str().expect("UTF-8");
    let (said, code) = site.diagnosis("cursor", &["--signing-key", key]);
    assert_eq!(code, 1, "{said:#}");
    let fault = fault(&said, "tools/call");
    assert!(what(fault).contains("sign"), "{fault}");
}

#[test]
fn a_locked_store_is_said() {
    let site = Site::new("plain");
    let lock = File::open(site.store().join("lock")).expect("a lock file");
    lock.lock().expect("locks");
    let (said, code) = site.diagnosis("cursor", &[]);
    assert_eq!(code, 1);
    let fault = fault(&said, "tools/call");
    assert!(what(fault).contains("another process holds"), "{fault}");
    assert_eq!(processes(&site.store()), Vec::<String>::new());
}

#[test]
fn the_entry_in_the_persons_own_file_is_what_is_tried() {
    let (said, code) = of_script(&good());
    let steps = ["initialize", "tools/list", "tools/call"];
    assert!(
        steps
            .iter()
            .all(|step| of_step(&said, step)[0]["state"] == "ok"),
        "{said:#}"
    );
    // It is another program than this, which is a fault by itself.
    assert_eq!(code, 1);
    assert!(
        what(fault(&said, "file")).contains("another program"),
        "{said:#}"
    );
    assert!(
        what(of_step(&said, "trying")[0]).contains("as it stands"),
        "{said:#}"
    );
}

#[test]
fn a_program_that_cannot_be_started_is_said_with_why() {
    let site = Site::new("plain");
    let plain = site.put("plain file", "#!/bin/sh\n");
    let lost = site.script("lost", "");
    fs::write(&lost, "#!/no/such/shell\n").expect("writes");
    for (program, words) in [
        (
            PathBuf::from("/no/such/program"),
            "there is no /no/such/program",
        ),
        ("agekeep".into(), "not found: clients do not look"),
        (plain, "not executable"),
        (site.home.clone(), "not executable"),
        (lost, "first line"),
    ] {
        site.enter(&program, &["mcp"]);
        let (said, code) = site.diagnosis("cursor", &[]);
        assert_eq!(code, 1);
        assert!(
            what(fault(&said, "start")).contains(words),
            "{words}: {said:#}"
        );
    }
}

#[test]
fn a_server_that_ends_at_once_is_shown_with_its_last_words() {
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let text = format!("printf 'bad \\033[2J\\nkey={token}\\n' >&2; exit 3\n");
    let (said, code) = of_script(&text);
    assert_eq!(code, 1);
    let fault = fault(&said, "initialize");
    assert!(what(fault).contains("exit status: 3"), "{fault}");
    assert!(what(fault).contains("bad \\u001b[2J"), "{fault}");
    assert!(what(fault).contains("[REDACTED:"), "{fault}");
    assert!(!all(&said).contains("ghp_"), "{said:#}");
    let (said, _) = of_script("exit 0\n");
    assert!(all(&said).contains("nothing on standard error"), "{said:#}");
}

#[test]
fn a_server_that_ends_between_two_answers_is_said() {
    for step in ["tools/list", "tools/call"] {
        let dies = good().replace(&format!("*{step}*)"), &format!("*{step}*) exit 4;"));
        let (said, code) = of_script(&dies);
        assert_eq!(code, 1);
        assert!(
            what(fault(&said, step)).contains("exit status: 4"),
            "{said:#}"
        );
    }
}

#[test]
fn noise_on_standard_output_is_a_fault_also_if_answers_come() {
    for noise in [
        "echo Welcome",
        "printf '\\377\\376\\n'",
        "echo '{\"level\":\"info\"}'",
        "echo '[1]'",
        "head -c 5000000 /dev/zero; echo",
    ] {
        let (said, code) = of_script(&format!("{noise}\n{}", good()));
        assert_eq!(code, 1, "{noise}");
        fault(&said, "stdout");
        assert_eq!(
            of_step(&said, "tools/call")[0]["state"],
            "ok",
            "{noise}: {said:#}"
        );
    }
    // Blank lines, and what a server tells by itself, are none.
    let told = r#"echo; echo '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'"#;
    let (said, _) = of_script(&format!("{told}\n{}", good()));
    assert!(of_step(&said, "stdout").is_empty(), "{said:#}");
}

#[test]
fn another_protocol_or_program_is_said() {
    let ours = env!("CARGO_PKG_VERSION");
    for (hello, words) in [
        (
            hello_of("2024-11-05", "agekeep", ours),
            "version 2024-11-05 of the protocol",
        ),
        (
            hello_of("2025-11-25", "agekeep", "99.0.0"),
            "agekeep 99.0.0, and this is",
        ),
        (hello_of("2025-11-25", "other", ours), "it is other"),
        ("{}".into(), "nothing"),
    ] {
        let (said, code) = of_script(&server(&hello, TOOLS, CALLED));
        assert_eq!(code, 1);
        assert!(all(&said).contains(words), "{words}: {said:#}");
    }
    let refuses = "read -r l; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"message\":\"no thanks\"}}'; cat >/dev/null\n";
    let (said, code) = of_script(refuses);
    assert_eq!(code, 1);
    assert!(
        what(fault(&said, "initialize")).contains("no thanks"),
        "{said:#}"
    );
}

#[test]
fn tools_that_are_not_there_or_refuse_are_said() {
    let (said, code) = of_script(&server(
        &hello(),
        r#"{"tools":[{"name":"search"}]}"#,
        CALLED,
    ));
    assert_eq!(code, 1);
    assert!(
        what(fault(&said, "tools/list")).contains("neither"),
        "{said:#}"
    );
    let refuses = r#"{"isError":true,"content":[{"type":"text","text":"Error: not today"}]}"#;
    for called in [refuses, r#"{"content":[]}"#, "{}"] {
        let (said, code) = of_script(&server(&hello(), TOOLS, called));
        assert_eq!(code, 1);
        let fault = fault(&said, "tools/call");
        assert!(
            called != refuses || what(fault).contains("Error: not today"),
            "{fault}"
        );
    }
    let single = server(&hello(), r#"{"tools":[{"name":"memory"}]}"#, CALLED);
    let (said, _) = of_script(&single);
    assert!(
        what(of_step(&said, "tools/call")[0]).starts_with("memory showed"),
        "{said:#}"
    );
}

#[test]
fn a_slow_start_is_said_and_is_no_fault() {
    let (said, _) = of_script(&format!("sleep 1.2\n{}", good()));
    let notes = of_step(&said, "initialize");
    assert!(
        notes
            .iter()
            .any(|check| check["state"] == "note" && what(check).contains("slow"))
    );
    assert!(
        notes.iter().all(|check| check["state"] != "fault"),
        "{said:#}"
    );
}

#[test]
fn whatever_a_server_does_it_is_not_left_behind() {
    // A time to sleep that nobody else does.
    let words = [1001, 1002, 1003].map(|seconds| format!("{seconds}.{}", std::process::id()));
    let [long, longer, noise] = &words;
    let stubborn = [
        // Answers, and does not end with its input; nor does what it has started.
        format!(
            "trap '' TERM HUP\n(exec sleep {long}) &\n{}sleep {long}\n",
            good()
        ),
        // Says nothing.
        format!("(exec sleep {longer}) & wait\n"),
        // Reads nothing, and never stops talking: at last, when an answer is not waited for much longer, as
        // fast as it can. From the beginning on that would be ten seconds of two processors.
        format!("for n in $(seq 34); do echo noise; sleep 0.25; done\nexec yes 'noise {noise}'\n"),
    ];
    thread::scope(|scope| {
        for (text, words) in stubborn.iter().zip(&words) {
            scope.spawn(move || {
                let (begun, site) = (Instant::now(), Site::new("plain"));
                let program = site.script("stubborn", text);
                site.enter(&program, &[]);
                let (said, code) = site.diagnosis("cursor", &[]);
                assert_eq!(code, 1, "{said:#}");
                assert_eq!(processes(&program), Vec::<String>::new(), "{said:#}");
                assert_eq!(
                    processes(Path::new(words)),
                    Vec::<String>::new(),
                    "{said:#}"
                );
                assert!(begun.elapsed() < Duration::from_secs(40));
            });
        }
    });
}

#[test]
fn a_server_gets_no_more_than_a_client_gives() {
    let site = Site::new("plain");
    let (env, folder) = (site.root().join("env"), site.root().join("folder"));
    let text = format!(
        "env >'{}'; pwd >'{}'\n{}",
        env.display(),
        folder.display(),
        good()
    );
    let program = site.script("server", &text);
    let entry = json!({"command": program, "args": ["mcp"], "env": {"MINE": "a b"}});
    site.put(
        ".cursor/mcp.json",
        &json!({"mcpServers": {"agekeep": entry}}).to_string(),
    );
    let mut command = site.command(&["mcp-config", "--client", "cursor", "--diagnose"]);
    command
        .env("AGEKEEP_ACTOR", "somebody")
        .env("SSH_AUTH_SOCK", "/x")
        .env("LANG", "C");
    command.output().expect("runs");
    assert_eq!(fs::read_to_string(folder).expect("it ran"), "/\n");
    let env = fs::read_to_string(env).expect("it ran");
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    let mut names: Vec<_> = env
        .lines()
        .filter_map(|line| line.split_once('='))
        .collect();
    names.retain(|(name, _)| !own.contains(name));
    names.sort_unstable();
    let home = site.home.to_str().expect("UTF-8");
    let path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
    assert_eq!(names, [("HOME", home), ("MINE", "a b"), ("PATH", path)]);
}

#[test]
fn what_came_with_a_folder_is_compared_and_not_run() {
    let site = Site::new("plain");
    let mark = site.root().join("mark");
    let program = site.script(
        "planted",
        &format!("touch '{}'\n{}", mark.display(), good()),
    );
    let entry = json!({"agekeep": {"command": program, "args": ["mcp"]}});
    let project = site.project();
    for (client, file) in [("cursor", ".cursor/mcp.json"), ("claude-code", ".mcp.json")] {
        let path = project.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("makes a folder");
        fs::write(&path, json!({"mcpServers": entry}).to_string()).expect("writes");
        let (said, code) = site.diagnosis(client, &[]);
        assert_eq!(code, 1);
        assert!(
            what(fault(&said, "file")).contains("another program"),
            "{said:#}"
        );
        assert!(
            what(of_step(&said, "trying")[0]).contains("mcp-config prints"),
            "{said:#}"
        );
    }
    assert!(!mark.exists(), "it was run");
}

#[test]
fn an_entry_with_variables_is_not_guessed_at() {
    let site = Site::new("plain");
    let mark = site.root().join("mark");
    let program = site.script("odd", &format!("touch '{}'\n{}", mark.display(), good()));
    site.enter(&program, &["mcp", "--store", "${userHome}/store"]);
    let (said, _) = site.diagnosis("cursor", &[]);
    assert!(
        what(of_step(&said, "trying")[0]).contains("mcp-config prints"),
        "{said:#}"
    );
    assert!(!mark.exists(), "it was run");
}

#[test]
fn entries_are_compared_with_what_would_be_printed() {
    let site = Site::new("plain");
    let print = |client: &str| site.ok(&["mcp-config", "--client", client]);
    for (client, file) in [
        ("claude-code", ".claude.json"),
        ("cursor", ".cursor/mcp.json"),
        ("codex", ".codex/config.toml"),
    ] {
        site.put(file, &print(client));
        let (said, _) = site.diagnosis(client, &[]);
        assert_eq!(
            of_step(&said, "file")[0]["state"],
            "ok",
            "{client}: {said:#}"
        );
        let (said, _) = site.diagnosis(client, &["--single-tool"]);
        assert_eq!(
            of_step(&said, "file")[0]["state"],
            "note",
            "{client}: {said:#}"
        );
        let (said, code) = site.diagnosis(client, &["--store", "/other"]);
        assert_eq!(code, 1);
        assert!(
            what(fault(&said, "file")).contains("another store"),
            "{client}: {said:#}"
        );
        let (said, _) = site.diagnosis(client, &["--name", "mine"]);
        assert!(
            what(of_step(&said, "file")[0]).contains("no file"),
            "{client}: {said:#}"
        );
    }
    site.put(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"agekeep": {"url": "http://x"}}}"#,
    );
    let (said, code) = site.diagnosis("cursor", &[]);
    assert_eq!(code, 1);
    assert!(
        what(fault(&said, "file")).contains("starts no program"),
        "{said:#}"
    );
}

#[test]
fn an_entry_for_one_folder_is_found_where_claude_code_keeps_it() {
    let site = Site::new("plain");
    let server = site.block("claude-code", &[])["mcpServers"].clone();
    let whole =
        json!({"projects": {(site.project().to_str().expect("UTF-8")): {"mcpServers": server}}});
    site.put(".claude.json", &whole.to_string());
    let (said, _) = site.diagnosis("claude-code", &[]);
    assert_eq!(of_step(&said, "file")[0]["state"], "ok", "{said:#}");
}

#[test]
fn a_file_that_does_not_parse_is_a_fault_and_is_not_repeated() {
    let site = Site::new("plain");
    for (client, file, text) in [
        ("cursor", ".cursor/mcp.json", "{\"key\": sekrit-value}"),
        (
            "codex",
            ".codex/config.toml",
            "[mcp_servers\nkey = sekrit-value",
        ),
        ("vscode", ".config/Code/User/mcp.json", "{"),
    ] {
        let path = site.put(file, text);
        let (said, code) = site.diagnosis(client, &[]);
        assert_eq!(code, 1);
        assert!(
            what(fault(&said, "file")).contains("cannot be read"),
            "{said:#}"
        );
        assert!(!all(&said).contains("sekrit"), "{said:#}");
        assert_eq!(
            fs::read_to_string(path).expect("there"),
            text,
            "it is as it was"
        );
    }
    fs::write(site.home.join(".cursor/mcp.json"), b"\xff\xfe").expect("writes");
    fault(&site.diagnosis("cursor", &[]).0, "file");
    // Comments are what editors allow.
    site.put(
        ".config/Code/User/mcp.json",
        "// mine\n{\"servers\": {},}\n",
    );
    let (said, _) = site.diagnosis("vscode", &[]);
    assert!(
        what(of_step(&said, "file")[0]).contains("no file"),
        "{said:#}"
    );
}

#[test]
fn a_file_that_is_both_a_projects_and_the_persons_own_is_named_once() {
    let site = Site::new("plain");
    site.enter(Path::new("/no/such/program"), &[]);
    let mut command = site.command(&["mcp-config", "--client", "cursor", "--diagnose", "--json"]);
    let output = command.current_dir(&site.home).output().expect("runs");
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(of_step(&said, "file").len(), 1, "{said:#}");
    assert!(
        what(fault(&said, "start")).contains("there is no"),
        "{said:#}"
    );
}

#[test]
fn nothing_is_edited_by_a_trial() {
    let site = Site::new("plain");
    site.enter(&site.script("server", &good()), &["mcp"]);
    site.put(".claude.json", "{}");
    let before = site.files();
    site.diagnosis("cursor", &[]);
    // The server in this trial writes nothing.
    let changed: Vec<_> = site
        .files()
        .into_iter()
        .filter(|file| !before.contains(file))
        .collect();
    assert!(
        changed.is_empty(),
        "{:?}",
        changed.iter().map(|(path, _)| path).collect::<Vec<_>>()
    );
}

#[test]
fn for_a_person_each_step_is_a_line_with_what_to_do() {
    let site = Site::new("plain");
    site.enter(
        &site.script("server", "printf 'a\\033[1m\\nb\\n' >&2; exit 1\n"),
        &[],
    );
    let output = site.run(&["mcp-config", "--client", "cursor", "--diagnose"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let said = stdout(&output);
    for line in [
        "fault  initialize: it ended (exit status: 1)",
        "    a\\u001b[1m",
        "    b",
        "  fix: ",
    ] {
        assert!(
            said.lines().any(|shown| shown.starts_with(line)),
            "{line}: {said}"
        );
    }
    assert!(said.ends_with("It does not work yet.\n"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
}

#[test]
fn a_folder_that_is_copied_elsewhere_is_noted() {
    let site = Site::new("Dropbox");
    let (said, _) = site.diagnosis("cursor", &[]);
    assert!(
        what(of_step(&said, "file system")[0]).contains("synchronized with other machines"),
        "{said:#}"
    );
    let (said, _) = Site::new("plain").diagnosis("cursor", &[]);
    assert!(of_step(&said, "file system").is_empty(), "{said:#}");
}

#[test]
fn an_identity_behind_a_passphrase_is_said_and_its_file_is_passed_on() {
    let site = Site::new("plain");
    crate::doors::config::lock(&site);
    let (said, code) = site.diagnosis("cursor", &[]);
    assert_eq!(code, 1);
    let locked = fault(&said, "store");
    assert!(what(locked).contains("cannot type one"), "{said:#}");
    assert!(
        locked["fix"]
            .as_str()
            .expect("a text")
            .contains("AGEKEEP_PASSPHRASE_FILE")
    );
    fault(&said, "tools/call");

    let file = crate::doors::config::passphrase_file(&site);
    let mut command = site.command(&["mcp-config", "--client", "cursor", "--diagnose"]);
    let output = command
        .env("AGEKEEP_PASSPHRASE_FILE", &file)
        .output()
        .expect("runs");
    assert!(output.status.success(), "{}", stdout(&output));
    let mut command = site.command(&["mcp-config", "--client", "cursor"]);
    let output = command
        .env("AGEKEEP_PASSPHRASE_FILE", &file)
        .output()
        .expect("runs");
    site.put(".cursor/mcp.json", &stdout(&output));
    parse("cursor", &stdout(&output));
    // The entry has what it needs, also for somebody who has not.
    let (said, _) = site.diagnosis("cursor", &[]);
    assert_eq!(of_step(&said, "tools/call")[0]["state"], "ok", "{said:#}");
    let open = fs::Permissions::from_mode(0o644);
    fs::set_permissions(&file, open).expect("ours");
    let (said, code) = site.diagnosis("cursor", &[]);
    assert_eq!(code, 1);
    assert!(
        what(fault(&said, "store")).contains("other accounts can access"),
        "{said:#}"
    );
}

#[test]
fn nobody_is_asked_at_the_terminal_which_a_client_does_not_have() {
    if !has_peer(
        "script",
        "whether a trial asks for a passphrase at a terminal",
    ) {
        return;
    }
    let site = Site::new("plain");
    crate::doors::config::lock(&site);
    let line = format!(
        "{} mcp-config --client codex --diagnose",
        site.program.display()
    );
    let mut command = Command::new(crate::support::program("script"));
    command.args(["-qec", &line, "/dev/null"]).env_clear();
    command
        .env("HOME", &site.home)
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::null());
    let begun = Instant::now();
    let output = command.output().expect("script runs");
    let said = stdout(&output);
    assert!(
        said.contains("fault  store: a key is behind a passphrase"),
        "{said}"
    );
    assert!(said.contains("fault  tools/call: "), "{said}");
    assert!(!said.contains("Passphrase for"), "{said}");
    assert!(
        begun.elapsed() < Duration::from_secs(8),
        "it waited for somebody: {said}"
    );
}

#[test]
fn a_plugin_that_a_client_does_not_find_is_said() {
    let site = Site::new("plain");
    let identity = site.home.join(".config/agekeep/identity.txt");
    fs::write(&identity, "AGE-PLUGIN-AGEKEEPTEST-1DAHX2XT6EAH\n").expect("writes");
    let (said, code) = site.diagnosis("cursor", &[]);
    assert_eq!(code, 1);
    let fault = fault(&said, "store");
    assert!(what(fault).contains("age-plugin-agekeeptest"), "{fault}");
    assert!(
        fault["fix"].as_str().expect("a text").contains("PATH"),
        "{fault}"
    );
}
