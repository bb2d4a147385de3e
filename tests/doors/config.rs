//! What `mcp-config` prints for each client, read back by a parser of its language.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::doors::site::{CLIENTS, NAMES, Site, parse, table};
use crate::support::{stderr, stdout};

const PASSPHRASE: &str = "correct horse battery staple";

#[test]
fn every_block_is_what_its_client_reads() {
    let site = Site::new("plain");
    for client in CLIENTS {
        let block = site.block(client, &[]);
        let servers = block[table(client)].as_object().expect("a table");
        assert_eq!(
            block.as_object().map(serde_json::Map::len),
            Some(1),
            "{block}"
        );
        assert_eq!(servers.len(), 1, "{block}");
        let server = &servers["agekeep"];
        assert_eq!(server["command"], json!(site.program), "{client}");
        assert_eq!(server["args"], json!(site.words(client)), "{client}");
        assert!(server.get("env").is_none(), "{client}: none is needed");
        let typed = matches!(client, "claude-code" | "cursor" | "vscode");
        assert_eq!(
            server.get("type"),
            typed.then_some(&json!("stdio")),
            "{client}"
        );
        let waits = server.get("startup_timeout_sec").and_then(Value::as_u64);
        assert_eq!(waits, (client == "codex").then_some(20), "{client}");
    }
}

#[test]
fn names_of_every_kind_come_through() {
    for name in NAMES {
        let site = Site::new(name);
        for client in CLIENTS {
            let server = &site.block(client, &[])[table(client)]["agekeep"];
            assert_eq!(server["command"], json!(site.program), "{client}: {name}");
            assert_eq!(
                server["args"],
                json!(site.words(client)),
                "{client}: {name}"
            );
        }
    }
}

#[test]
fn the_line_for_a_shell_gives_the_same_words() {
    for name in NAMES {
        let site = Site::new(name);
        let heard = site.root().join("heard");
        let bin = site.root().join("clients");
        fs::create_dir(&bin).expect("makes a folder");
        for (client, program) in [("claude-code", "claude"), ("codex", "codex")] {
            let witness = format!("printf '%s\\n' \"$@\" >'{}'\n", heard.display());
            fs::rename(site.script(program, &witness), bin.join(program)).expect("moves");
            let mut command = site.command(&["mcp-config", "--client", client, "--json"]);
            let output = command
                .env("XDG_STATE_HOME", site.path("a b/state"))
                .output();
            let said: Value = serde_json::from_slice(&output.expect("runs").stdout).expect("JSON");
            let line = said["command"].as_str().expect("a command");
            assert_eq!(line.lines().count(), 1);
            let mut shell = Command::new(crate::support::program("sh"));
            let path = format!("{}:/usr/bin:/bin", bin.display());
            shell.env_clear().env("PATH", path).current_dir("/");
            assert!(
                shell
                    .args(["-c", line])
                    .status()
                    .expect("sh runs")
                    .success()
            );

            let words = fs::read_to_string(&heard).expect("the witness ran");
            let words: Vec<_> = words.lines().map(str::to_owned).collect();
            let begin: &[&str] = match client {
                "codex" => &["mcp", "add", "agekeep"],
                _ => &["mcp", "add", "--scope", "user", "agekeep"],
            };
            let mut expected: Vec<String> = begin.iter().map(|&word| word.into()).collect();
            expected.push("--env".into());
            expected.push(format!("XDG_STATE_HOME={}", site.path("a b/state")));
            expected.push("--".into());
            expected.push(site.program.to_str().expect("UTF-8").into());
            expected.extend(site.words(client));
            assert_eq!(words, expected, "{client}: {name}");
        }
    }
}

#[test]
fn standard_output_is_the_block_and_standard_error_says_where_it_belongs() {
    let site = Site::new("plain");
    let project = site.project();
    let here = |file: &str| project.join(file).display().to_string();
    for (client, files) in [
        (
            "claude-code",
            vec![here(".mcp.json"), site.path(".claude.json")],
        ),
        (
            "cursor",
            vec![here(".cursor/mcp.json"), site.path(".cursor/mcp.json")],
        ),
        (
            "codex",
            vec![here(".codex/config.toml"), site.path(".codex/config.toml")],
        ),
        ("vscode", vec![here(".vscode/mcp.json")]),
        ("claude-desktop", vec!["claude_desktop_config.json".into()]),
    ] {
        let output = site.run(&["mcp-config", "--client", client]);
        parse(client, &stdout(&output));
        let said = stderr(&output);
        for file in files {
            assert!(said.contains(&file), "{client}: {file}: {said}");
        }
        assert!(said.contains("--diagnose"), "{said}");
        let adds = said.contains(" mcp add ");
        assert_eq!(adds, matches!(client, "claude-code" | "codex"), "{said}");
        assert_eq!(
            said.matches("claude mcp add --scope user agekeep -- ")
                .count()
                == 1,
            client == "claude-code"
        );
    }
}

#[test]
fn nothing_is_edited() {
    let site = Site::new("plain");
    site.put(".cursor/mcp.json", "{\"mcpServers\": {}}");
    site.put(".claude.json", "{}");
    let before = site.files();
    for client in CLIENTS {
        site.ok(&["mcp-config", "--client", client]);
        site.ok(&["mcp-config", "--client", client, "--json"]);
    }
    assert!(site.files() == before, "some file is another");
}

#[test]
fn a_client_says_where_else_its_files_are() {
    let site = Site::new("plain");
    for (client, variable, file) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
    ] {
        let mut command = site.command(&["mcp-config", "--client", client]);
        let output = command.env(variable, "/else/where").output().expect("runs");
        let path = format!("/else/where/{file} ");
        assert!(stderr(&output).contains(&path), "{}", stderr(&output));
        let usual = format!("  {}", site.path("."));
        assert!(!stderr(&output).contains(&usual), "{}", stderr(&output));
    }
}

#[test]
fn options_are_passed_on() {
    let site = Site::new("plain");
    let args = |options: &[&str]| -> Vec<String> {
        let server = &site.block("cursor", options)["mcpServers"]["agekeep"];
        serde_json::from_value(server["args"].clone()).expect("texts")
    };
    let rest = |options: &[&str]| args(options)[7..].to_vec();
    assert_eq!(rest(&[]), ["--actor=cursor"]);
    assert_eq!(rest(&["--actor=-Mei B"]), ["--actor=-Mei B"]);
    assert_eq!(
        rest(&["--single-tool"]),
        ["--actor=cursor", "--single-tool"]
    );
    assert_eq!(rest(&["--read-only"]), ["--actor=cursor", "--read-only"]);
    assert_eq!(
        rest(&[
            "--admin",
            "--tools",
            "read-write,restore",
            "--session",
            "s 1"
        ]),
        [
            "--actor=cursor",
            "--session=s 1",
            "--admin",
            "--tools=read-write,restore"
        ]
    );
    let keyring = site.path("key ring");
    let with_keyring = args(&["--keyring", &keyring]);
    assert_eq!(with_keyring[7..9], ["--keyring".to_owned(), keyring]);
    let named = site.block("vscode", &["--name", "team_2-memory"]);
    assert!(named["servers"]["team_2-memory"].is_object(), "{named}");
}

#[test]
fn relative_paths_become_whole_ones() {
    let site = Site::new("plain");
    let block = site.block("cursor", &["--store", "x/./y", "--identity", "id"]);
    let args = &block["mcpServers"]["agekeep"]["args"];
    assert_eq!(args[2], json!(site.project().join("x/y")));
    assert_eq!(args[4], json!(site.project().join("id")));
}

#[test]
fn what_no_client_could_be_told_is_refused() {
    let site = Site::new("plain");
    let long = "x".repeat(41);
    for name in [
        "", "a b", "a.b", "-a", "_a", "ü", "a\nb", "a/b", "a\"b", "${a}", &long,
    ] {
        let name = format!("--name={name}");
        let said = site.misused(&["mcp-config", "--client", "cursor", &name]);
        assert!(said.starts_with("error: --name "), "{said}");
    }
    for store in ["a\nb", "a\tb", "a\u{1b}[2Jb", "a\u{2028}b"] {
        let said = site.misused(&["mcp-config", "--client", "cursor", "--store", store]);
        assert!(said.contains("control character"), "{said}");
        assert!(!said.contains('\u{1b}'), "{said:?}");
    }
    let said = site.misused(&["mcp-config", "--client", "cursor", "--actor", "a\nb"]);
    assert!(said.contains("--actor"), "{said}");
    for args in [
        &["mcp-config"][..],
        &["mcp-config", "--client", "emacs"],
        &["mcp-config", "--client", "Cursor"],
        &["mcp-config", "--client", "cursor", "--tools", "erase"],
        &[
            "mcp-config",
            "--client",
            "cursor",
            "--single-tool",
            "--admin",
        ],
        &[
            "mcp-config",
            "--client",
            "cursor",
            "--single-tool",
            "--tools",
            "restore",
        ],
        &["mcp-config", "--client", "cursor", "--read-only", "--admin"],
    ] {
        site.misused(args);
    }
}

#[test]
fn a_path_that_is_not_utf8_is_a_clear_error() {
    let site = Site::new("plain");
    let mut command = site.command(&["mcp-config", "--client", "codex", "--store"]);
    let output = command
        .arg(OsStr::from_bytes(b"/x\xff"))
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stdout(&output), "");
    let said = stderr(&output);
    assert!(
        said.contains("the store's path") && said.contains("not UTF-8"),
        "{said}"
    );
}

#[test]
fn where_a_client_puts_variables_in_a_path_with_one_is_refused() {
    let site = Site::new("plain");
    for client in CLIENTS {
        let args = ["mcp-config", "--client", client, "--store", "/x/${HOME}/y"];
        if matches!(client, "claude-desktop" | "codex") {
            let server = parse(client, &site.ok(&args));
            assert_eq!(server[table(client)]["agekeep"]["args"][2], "/x/${HOME}/y");
        } else {
            assert!(
                site.misused(&args)
                    .contains("would replace it by a variable"),
                "{client}"
            );
        }
    }
    // Without braces it is nobody's variable.
    site.ok(&[
        "mcp-config",
        "--client",
        "cursor",
        "--store",
        "/x/$HOME/{y}",
    ]);
}

#[test]
fn a_state_folder_that_is_not_the_usual_one_is_passed_on() {
    let site = Site::new("plain");
    let env = |value: &Path| {
        let mut command = site.command(&["mcp-config", "--client", "codex"]);
        let output = command.env("XDG_STATE_HOME", value).output().expect("runs");
        parse("codex", &stdout(&output))["mcp_servers"]["agekeep"]["env"].clone()
    };
    assert_eq!(
        env(Path::new("/state here")),
        json!({"XDG_STATE_HOME": "/state here"})
    );
    assert_eq!(env(&site.home.join(".local/state")), Value::Null);
    assert_eq!(env(Path::new("relative")), Value::Null);
}

/// Puts an identity behind a passphrase in the place of the plain one.
pub(crate) fn lock(site: &Site) {
    use std::io::Write;
    let path = site.home.join(".config/agekeep/identity.txt");
    let plain = fs::read(&path).expect("an identity");
    let mut recipient = age::scrypt::Recipient::new(PASSPHRASE.to_owned().into());
    recipient.set_work_factor(10);
    let recipients = std::iter::once(&recipient as &dyn age::Recipient);
    let encryptor = age::Encryptor::with_recipients(recipients).expect("one");
    let mut out = Vec::new();
    let mut writer = encryptor.wrap_output(&mut out).expect("memory");
    writer.write_all(&plain).expect("memory");
    writer.finish().expect("memory");
    fs::write(&path, out).expect("writes");
}

pub(crate) fn passphrase_file(site: &Site) -> String {
    let path = site.put("secret/pass phrase", &format!("{PASSPHRASE}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("ours");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_passphrase_stays_where_it_is_and_its_place_is_passed_on() {
    let site = Site::new("plain");
    lock(&site);
    let file = passphrase_file(&site);
    let run = |set: &[(&str, &str)]| {
        let mut command = site.command(&["mcp-config", "--client", "cursor"]);
        let output = command.envs(set.iter().copied()).output().expect("runs");
        let (out, said) = (stdout(&output), stderr(&output));
        assert!(
            !out.contains(PASSPHRASE) && !said.contains(PASSPHRASE),
            "{out}{said}"
        );
        let env = (!out.is_empty()).then(|| parse("cursor", &out));
        (
            env.map(|env| env["mcpServers"]["agekeep"]["env"].clone()),
            said,
        )
    };
    let (env, said) = run(&[]);
    assert_eq!(env, Some(Value::Null));
    assert!(said.contains("cannot type one"), "{said}");
    let (env, said) = run(&[("AGEKEEP_PASSPHRASE_FILE", &file)]);
    assert_eq!(env, Some(json!({"AGEKEEP_PASSPHRASE_FILE": file})));
    assert!(!said.contains("cannot type"), "{said}");
    let (env, _) = run(&[("AGEKEEP_PASSPHRASE_COMMAND", "pass show 'my memory'")]);
    assert_eq!(
        env,
        Some(json!({"AGEKEEP_PASSPHRASE_COMMAND": "pass show 'my memory'"}))
    );
    // A passphrase in the place of its file, and one in the environment, are nothing to pass on.
    for name in ["AGEKEEP_PASSPHRASE_FILE", "AGEKEEP_PASSPHRASE"] {
        let (env, said) = run(&[(name, PASSPHRASE)]);
        assert_eq!(env, Some(Value::Null), "{name}");
        assert!(said.contains("cannot type one"), "{said}");
    }
    let token = format!("echo ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let (env, said) = run(&[("AGEKEEP_PASSPHRASE_COMMAND", &token)]);
    assert_eq!(env, None);
    assert!(
        said.contains("there is a secret in it") && !said.contains("ghp_"),
        "{said}"
    );
}

#[test]
fn where_no_key_is_locked_no_passphrase_is_spoken_of() {
    let site = Site::new("plain");
    let file = passphrase_file(&site);
    let mut command = site.command(&["mcp-config", "--client", "cursor"]);
    let output = command
        .env("AGEKEEP_PASSPHRASE_FILE", &file)
        .output()
        .expect("runs");
    assert!(
        !stdout(&output).contains("PASSPHRASE"),
        "{}",
        stdout(&output)
    );
    assert!(
        !stderr(&output).contains("passphrase"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn what_would_not_work_yet_is_said_beside_the_block() {
    let site = Site::empty("plain");
    let said = |site: &Site| {
        let output = site.run(&["mcp-config", "--client", "cursor"]);
        parse("cursor", &stdout(&output));
        stderr(&output)
    };
    assert!(said(&site).contains("there is no store at"));
    site.ok(&["init"]);
    assert!(!said(&site).contains("there is no store at"));
    let key = site.home.join(".config/agekeep/signing_key");
    fs::rename(&key, site.root().join("aside")).expect("moves");
    assert!(said(&site).contains("the server cannot work"));
    fs::copy(key.with_extension("pub"), &key).expect("copies");
    assert!(said(&site).contains("SSH_AUTH_SOCK"));
}

#[test]
fn a_program_that_will_not_stay_is_told_of() {
    let site = Site::new("plain");
    let temporary = stderr(&site.run(&["mcp-config", "--client", "cursor"]));
    assert!(temporary.contains("in a temporary folder"), "{temporary}");
    let built = Command::new(env!("CARGO_BIN_EXE_agekeep"))
        .env_clear()
        .env("HOME", &site.home)
        .args(["mcp-config", "--client", "cursor"])
        .output()
        .expect("runs");
    assert!(
        stderr(&built).contains("in a build folder of cargo"),
        "{}",
        stderr(&built)
    );
}

#[test]
fn as_json_it_is_one_object_with_everything() {
    let site = Site::new("with space");
    for client in CLIENTS {
        let said = site.ok(&["mcp-config", "--client", client, "--json"]);
        let said: Value = serde_json::from_str(&said).expect("JSON");
        assert_eq!(said["schema"], "agekeep.mcp-config/1");
        assert_eq!(said["client"], client);
        let block = said["block"].as_str().expect("a text");
        assert_eq!(parse(client, block), site.block(client, &[]));
        assert!(!said["files"].as_array().expect("files").is_empty());
        assert_eq!(said["warnings"].as_array().map(Vec::len), Some(1), "{said}");
        let has_command = matches!(client, "claude-code" | "codex");
        assert_eq!(said["command"].is_string(), has_command);
    }
}
