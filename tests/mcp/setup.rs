//! A server before everything is in place: it answers, the first call says what is missing, and once
//! that is there the next call works.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use age::secrecy::SecretString;
use serde_json::{Value, json};

use crate::mcp::client::{Held, Server, events, text};
use crate::support::{Home, feed, stderr, stdout};

const PASSPHRASE: &str = "correct horse battery staple";

/// Something that keeps a store from being opened.
struct Trouble {
    name: &'static str,
    /// What the text of the first call has in it.
    says: &'static [&'static str],
    /// What standard error has in it, below the home.
    shows: &'static str,
    make: fn(&Home),
    mend: fn(&Home),
}

const VIEW: &str = "memory_view";

fn root() -> Value {
    json!({"path": "/memories"})
}

/// Moves something aside, or back.
fn aside(path: &Path) {
    fs::rename(path, other(path)).expect("it is there");
}

fn back(path: &Path) {
    drop(fs::remove_file(path));
    fs::rename(other(path), path).expect("it was moved");
}

fn other(path: &Path) -> PathBuf {
    path.with_extension("aside")
}

fn private(path: &Path, content: impl AsRef<[u8]>) {
    fs::write(path, content).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("its owner's alone");
}

fn epoch(home: &Home) -> PathBuf {
    home.store().join("keyring/epoch.age")
}

fn branch(home: &Home) -> PathBuf {
    home.store().join("refs/heads/main")
}

fn passphrase_file(home: &Home) -> PathBuf {
    home.path().join("passphrase")
}

/// The identity behind a passphrase, as `age -p` keeps it, with a work factor that takes a moment.
fn lock_identity(home: &Home) {
    let identity = fs::read(home.identity()).expect("an identity");
    let mut recipient = age::scrypt::Recipient::new(SecretString::from(PASSPHRASE.to_owned()));
    recipient.set_work_factor(10);
    let locked = age::encrypt(&recipient, &identity).expect("it is encrypted");
    private(&home.identity(), locked);
}

const TROUBLES: &[Trouble] = &[
    Trouble {
        name: "no store",
        says: &["there is no store here", "agekeep init"],
        shows: "store",
        make: |home| aside(&home.store()),
        mend: |home| back(&home.store()),
    },
    Trouble {
        name: "no identity",
        says: &[
            "the identity of the store is missing",
            "backup",
            "--identity",
        ],
        shows: "config/agekeep/identity.txt",
        make: |home| aside(&home.identity()),
        mend: |home| back(&home.identity()),
    },
    Trouble {
        name: "no signing key",
        says: &["the signing key of the store is missing", "--signing-key"],
        shows: "config/agekeep/signing_key",
        make: |home| aside(&home.signing_key()),
        mend: |home| back(&home.signing_key()),
    },
    Trouble {
        name: "somebody else's identity",
        says: &["the store cannot be opened", "--identity"],
        shows: "store",
        make: |home| {
            aside(&home.identity());
            let somebody = Home::with_store();
            fs::copy(somebody.identity(), home.identity()).expect("a copy");
        },
        mend: |home| back(&home.identity()),
    },
    Trouble {
        name: "somebody else's signing key",
        says: &["the store's signing key may not write to it"],
        shows: "",
        make: |home| {
            aside(&home.signing_key());
            let somebody = Home::with_store();
            fs::copy(somebody.signing_key(), home.signing_key()).expect("a copy");
        },
        mend: |home| back(&home.signing_key()),
    },
    Trouble {
        name: "an identity that is none",
        says: &["the identity of the store cannot be used", "--identity"],
        shows: "config/agekeep/identity.txt",
        make: |home| {
            aside(&home.identity());
            private(&home.identity(), "not an identity\n");
        },
        mend: |home| back(&home.identity()),
    },
    Trouble {
        name: "an identity for all to read",
        says: &["chmod go="],
        shows: "config/agekeep/identity.txt",
        make: |home| mode(&home.identity(), 0o644),
        mend: |home| mode(&home.identity(), 0o600),
    },
    Trouble {
        name: "a passphrase that nobody gives",
        says: &["has a passphrase", "AGEKEEP_PASSPHRASE_FILE"],
        shows: "",
        make: lock_identity,
        mend: |home| private(&passphrase_file(home), PASSPHRASE),
    },
    Trouble {
        name: "no keyring",
        says: &["the store cannot be opened", "backup"],
        shows: "store/keyring",
        make: |home| aside(&home.store().join("keyring")),
        mend: |home| back(&home.store().join("keyring")),
    },
    Trouble {
        name: "a damaged keyring",
        says: &["the store is damaged", "backup"],
        shows: "",
        make: |home| {
            aside(&epoch(home));
            private(&epoch(home), "age-encryption.org/v1\n");
        },
        mend: |home| back(&epoch(home)),
    },
    Trouble {
        name: "a branch that was moved",
        says: &["does not match"],
        shows: "",
        make: |home| {
            aside(&branch(home));
            fs::write(branch(home), format!("{}\n", "1".repeat(40))).expect("a file");
        },
        mend: |home| back(&branch(home)),
    },
];

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("this process owns it");
}

/// Starts a server that finds a passphrase where there is a file of it.
fn start(home: &Home) -> Server {
    let mut command = home.command(&["mcp"]);
    command.env("AGEKEEP_PASSPHRASE_FILE", passphrase_file(home));
    // Nobody is at a terminal, also where the test runs at one.
    let mut alone = Command::new(crate::support::program("setsid"));
    alone.env_clear().current_dir(home.path());
    for (name, value) in command.get_envs() {
        alone.env(name, value.expect("it is set"));
    }
    alone.env("PATH", "/usr/bin:/bin");
    alone
        .arg("--wait")
        .arg(command.get_program())
        .args(command.get_args());
    Server::start(alone)
}

/// Nothing a client is told says where anything is on this machine.
fn says_no_place(home: &Home, said: &str) {
    let place = home.path().display().to_string();
    assert!(!said.contains(&place), "{said}");
    assert!(!said.contains("/tmp"), "{said}");
    assert!(!said.contains("config/agekeep"), "{said}");
}

#[test]
fn the_first_call_says_what_is_missing_and_the_next_one_works() {
    for trouble in TROUBLES {
        let Trouble { name, .. } = trouble;
        let home = Home::with_store();
        home.run(&["write", "a.md", "--text", "x\n"]);
        (trouble.make)(&home);
        let mut server = start(&home).introduce();
        let listed = server.result("tools/list", json!({}));
        assert_eq!(
            listed["tools"].as_array().expect("tools").len(),
            9,
            "{name}"
        );
        for tool in [VIEW, "memory_create", VIEW] {
            let mut arguments = root();
            arguments["file_text"] = "x".into();
            let result = server.call(tool, arguments);
            assert_eq!(result["isError"], true, "{name}: {result}");
            let said = text(&result);
            assert!(said.starts_with("Error: "), "{name}: {said}");
            for words in trouble.says {
                assert!(said.contains(words), "{name}: {said}");
            }
            says_no_place(&home, &said);
        }
        let error = server.refusal("resources/list", json!({}));
        assert_eq!(error["code"], -32603, "{name}: {error}");
        says_no_place(&home, &error.to_string());
        let error = server.refusal("resources/read", json!({"uri": "memory:///a.md"}));
        says_no_place(&home, &error.to_string());
        (trouble.mend)(&home);
        let text = server.done(VIEW, root());
        assert!(text.contains("/memories/a.md"), "{name}: {text}");
        let end = server.end();
        assert!(end.status.success(), "{name}: {}", end.stderr);
        // Who looks after the server is told once, and where.
        let place = home.path().join(trouble.shows).display().to_string();
        let told = end.stderr;
        assert!(
            trouble.shows.is_empty() || told.contains(&place),
            "{name}: {told}"
        );
        assert_eq!(told.matches("error: ").count(), 1, "{name}: {told}");
        assert!(!told.contains(PASSPHRASE));
    }
}

#[test]
fn what_breaks_while_the_server_runs_is_told_and_mended_without_it() {
    for trouble in TROUBLES {
        // Keys are read once, and are in use from then on.
        if !["no store", "no keyring", "a branch that was moved"].contains(&trouble.name) {
            continue;
        }
        let home = Home::with_store();
        let mut server = Server::newer(&home, &[]);
        server.done(
            "memory_create",
            json!({"path": "/memories/a.md", "file_text": "x\n"}),
        );
        (trouble.make)(&home);
        let arguments = json!({"path": "/memories/b.md", "file_text": "x\n"});
        let said = server.failed("memory_create", arguments);
        says_no_place(&home, &said);
        let said = server.failed(VIEW, root());
        for words in trouble.says {
            assert!(said.contains(words), "{}: {said}", trouble.name);
        }
        assert!(server.result("tools/list", json!({}))["tools"].is_array());
        (trouble.mend)(&home);
        let text = server.done(VIEW, root());
        assert!(text.contains("/memories/a.md"), "{}: {text}", trouble.name);
        assert!(!text.contains("b.md"), "{}: {text}", trouble.name);
        assert!(server.end().status.success());
        let checked = home.run(&["verify"]);
        assert!(checked.status.success(), "{}", stdout(&checked));
    }
}

#[test]
fn a_store_that_another_holds_is_waited_for() {
    let home = Home::with_store();
    let mut server = Server::older(&home, &[]);
    let held = Held::of(&home);
    server.send(&crate::mcp::client::call(1_000, VIEW, root()));
    // What needs no store is answered meanwhile.
    assert!(server.result("tools/list", json!({}))["tools"].is_array());
    assert!(server.receive_within(Duration::from_millis(500)).is_none());
    held.release();
    assert_eq!(server.answer(&1_000.into())["result"]["isError"], false);
    assert!(server.end().status.success());
}

#[test]
fn a_disk_that_cannot_be_written_is_told() {
    let home = Home::with_store();
    let script =
        "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && exec \"$@\"";
    let inside = |program: &str, args: &[&str]| {
        let mut process = Command::new(crate::support::program("unshare"));
        process
            .args(["-rm", "sh", "-c", script, "sh"])
            .arg(home.store());
        process.arg(program).args(args).env_clear();
        process.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        process
            .env("HOME", home.path())
            .env("AGEKEEP_STORE", home.store());
        process.env("XDG_CONFIG_HOME", home.path().join("config"));
        process
    };
    let probe = feed(inside("echo", &["ready"]), b"");
    if !stdout(&probe).contains("ready") {
        let loud = format!(
            "\n*** NOT TESTED: no namespace here: {} ***\n",
            stderr(&probe)
        );
        std::io::stderr()
            .write_all(loud.as_bytes())
            .expect("it is open");
        return;
    }
    let server = Server::start(inside(env!("CARGO_BIN_EXE_agekeep"), &["mcp"]));
    let mut server = server.introduce();
    assert!(server.result("tools/list", json!({}))["tools"].is_array());
    for _ in 0..2 {
        let said = server.failed(VIEW, root());
        assert!(said.contains("Read-only file system"), "{said}");
        assert!(said.contains("must be writable"), "{said}");
        says_no_place(&home, &said);
    }
    let end = server.end();
    assert!(end.status.success(), "{}", end.stderr);
    assert_eq!(events(&home).len(), 1);
}

#[test]
fn init_makes_keys_and_store_in_an_empty_home() {
    let home = Home::empty();
    let mut server = Server::older(&home, &["--init"]);
    // Before somebody wants a memory there is nothing.
    assert!(server.result("tools/list", json!({}))["tools"].is_array());
    assert!(!home.store().exists());
    server.done(
        "memory_create",
        json!({"path": "/memories/a.md", "file_text": "x\n"}),
    );
    let end = server.end();
    assert!(end.status.success() && end.rest.iter().all(|note| note.get("method").is_some()));
    let store = home.store().display().to_string();
    assert!(
        end.stderr.contains(&store) && end.stderr.contains("Back these up"),
        "{}",
        end.stderr
    );
    assert!(!end.stderr.contains("SECRET-KEY"));
    for key in [home.identity(), home.signing_key()] {
        let about = fs::metadata(key).expect("it was made");
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
    }
    // The second time it is there.
    let mut server = Server::newer(&home, &["--init"]);
    assert!(server.done(VIEW, root()).contains("/memories/a.md"));
    let end = server.end();
    assert!(end.stderr.is_empty(), "{}", end.stderr);
}

#[test]
fn init_makes_one_store_for_two_servers() {
    let home = Home::empty();
    let servers = [(); 2].map(|()| Server::older(&home, &["--init"]));
    let makers = servers.into_iter().enumerate().map(|(number, mut server)| {
        thread::spawn(move || {
            let path = format!("/memories/{number}.md");
            server.done("memory_create", json!({"path": path, "file_text": "x\n"}));
        })
    });
    for maker in makers.collect::<Vec<_>>() {
        maker.join().expect("it is made");
    }
    assert_eq!(stdout(&home.run(&["read"])), "0.md\n1.md\n");
}

#[test]
fn init_does_not_make_what_is_in_the_way() {
    let home = Home::empty();
    fs::create_dir_all(home.store()).expect("a folder");
    fs::write(home.store().join("precious"), "x").expect("a file");
    let mut server = Server::older(&home, &["--init"]);
    let said = server.failed(VIEW, root());
    says_no_place(&home, &said);
    assert!(said.contains("the store cannot be opened"), "{said}");
    assert!(
        !home.identity().exists(),
        "no key is made for a store that is not"
    );
    // Without it nothing is made at all.
    let home = Home::empty();
    let mut server = Server::older(&home, &[]);
    server.failed(VIEW, root());
    server.end();
    assert_eq!(fs::read_dir(home.path()).expect("a folder").count(), 0);
}

/// A key that is asked for again and again is one a person touches, or a server that is asked.
#[test]
fn what_cannot_be_opened_is_not_tried_again_by_itself() {
    let home = Home::with_store();
    lock_identity(&home);
    let asked = home.path().join("asked");
    let mut command = home.command(&["mcp"]);
    let says = format!("echo x >> {}; echo wrong", asked.display());
    command.env("AGEKEEP_PASSPHRASE_COMMAND", says);
    command.env("PATH", "/usr/bin:/bin");
    let mut server = Server::start(command).introduce();
    std::thread::sleep(Duration::from_millis(3_500));
    let times = || {
        fs::read_to_string(&asked)
            .unwrap_or_default()
            .lines()
            .count()
    };
    assert!(times() <= 1, "asked {} times", times());
    server.call("memory_view", json!({"path": "/memories"}));
    assert!(times() <= 2, "asked {} times", times());
}

/// What this process has seen counts also where there is no place to keep it.
#[test]
fn a_store_that_was_turned_back_is_refused_again_and_again() {
    let home = Home::with_store();
    let mut command = home.command(&["mcp", "--store"]);
    command
        .arg(home.store())
        .arg("--identity")
        .arg(home.identity());
    command.arg("--signing-key").arg(home.signing_key());
    command.env_remove("HOME").env_remove("XDG_STATE_HOME");
    let mut server = Server::start(command).introduce();
    let create =
        |number: u32| json!({"path": format!("/memories/{number}.md"), "file_text": "x\n"});
    server.done("memory_create", create(1));
    let (older, aside) = (home.path().join("older"), home.path().join("newer"));
    let copied = Command::new("cp")
        .arg("-a")
        .arg(home.store())
        .arg(&older)
        .status();
    assert!(copied.expect("cp runs").success());
    server.done("memory_create", create(2));
    fs::rename(home.store(), &aside).expect("moved");
    fs::rename(&older, home.store()).expect("put in its place");
    for number in 3..7 {
        let said = server.failed("memory_create", create(number));
        assert!(said.contains("rolled back"), "{said}");
    }
    // Another store in its place is no better.
    fs::rename(home.store(), home.path().join("older")).expect("moved");
    home.run(&["init", "--store", home.store().to_str().expect("UTF-8")]);
    for number in 3..6 {
        server.failed("memory_create", create(number));
    }
    // Not removed: the server may be about to write there.
    fs::rename(home.store(), home.path().join("another")).expect("moved");
    fs::rename(&aside, home.store()).expect("put back");
}
