//! Signing through an ssh-agent: stock ones, and such as do not do what they should.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::signers::live::Tool;
use crate::signers::team::{NIGHT, NOON, Team};
use crate::support::{has_peer, stderr, stdout};

/// A stock agent, which ends with the test.
struct Agent {
    child: Child,
    socket: String,
}

impl Agent {
    fn start(team: &Team, name: &str) -> Self {
        let socket = team.path(name);
        let child = Command::new("ssh-agent")
            .args(["-D", "-a", &socket])
            .env_remove("SSH_ASKPASS")
            .env_remove("DISPLAY")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("ssh-agent starts");
        let until = Instant::now() + Duration::from_secs(20);
        while UnixStream::connect(&socket).is_err() {
            assert!(Instant::now() < until, "the agent does not listen");
            thread::sleep(Duration::from_millis(10));
        }
        Self { child, socket }
    }

    fn add(&self, args: &[&str]) {
        let mut add = Command::new("ssh-add");
        add.arg("-q").args(args).env("SSH_AUTH_SOCK", &self.socket);
        let added = add.output().expect("ssh-add runs");
        assert!(added.status.success(), "{}", stderr(&added));
    }

    /// Ends it; the socket's place is free then.
    fn end(&mut self) {
        self.child.kill().expect("runs");
        self.child.wait().expect("ends");
        drop(fs::remove_file(&self.socket));
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A store that `ana` may write to, whose key is ready to go to an agent.
fn team() -> Option<(Team, String)> {
    if !["ssh-agent", "ssh-add"]
        .iter()
        .all(|peer| has_peer(peer, "signing through an agent"))
    {
        return None;
    }
    let team = Team::new()?;
    let key = team.let_in("ana", &[]);
    Some((team, key))
}

/// Runs a command with an agent's socket.
fn run(team: &Team, socket: Option<&str>, args: &[&str]) -> Output {
    let mut command = team.command(NOON, args);
    command.envs(socket.map(|socket| ("SSH_AUTH_SOCK", socket)));
    command.output().expect("runs")
}

/// A command that is refused because no agent signs; what it said.
fn refused(team: &Team, socket: Option<&str>, key: &str) -> String {
    let before = team.events();
    for args in [
        &["create", "/memories/b.md", "--text", "x"][..],
        &["view", "/memories/a.md"],
        &["checkpoint"],
    ] {
        let output = run(
            team,
            socket,
            &[&["--json", "--signing-key", key], args].concat(),
        );
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(12), "{args:?}: {said}");
        assert!(said.contains("\"code\":\"agent\""), "{said}");
        assert!(!said.contains("squirrel"), "{said}");
        if args[0] == "checkpoint" {
            assert_eq!(team.events(), before, "nothing is recorded");
            return said;
        }
    }
    unreachable!("the last one answers")
}

#[test]
fn an_agent_signs_for_a_public_key_and_for_a_locked_one() {
    let Some((team, open)) = team() else { return };
    let locked = team.keygen("ben", &["-N", "a passphrase"]);
    team.done(NOON, &["signers", "add", "ben", &format!("{locked}.pub")]);
    let agent = Agent::start(&team, "agent");
    agent.add(&[&open]);
    // What ben has unlocked elsewhere.
    let copy = team.path("unlocked");
    fs::copy(&locked, &copy).expect("copied");
    let mut keygen = Command::new("ssh-keygen");
    keygen.args(["-q", "-p", "-P", "a passphrase", "-N", "", "-f", &copy]);
    assert!(keygen.output().expect("runs").status.success());
    agent.add(&[&copy]);
    for (name, key) in [
        ("ana", format!("{open}.pub")),
        ("ben", format!("{locked}.pub")),
        ("ben", locked),
    ] {
        let output = run(
            &team,
            Some(&agent.socket),
            &["view", "/memories/a.md", "--signing-key", &key],
        );
        assert!(output.status.success(), "{key}: {}", stderr(&output));
        assert_eq!(stderr(&output), "", "a public key is no secret");
        assert_eq!(team.log("1")[0]["signer"], name);
        assert!(team.git_verifies("main", "UTC"));
    }
    assert!(team.findings().is_empty());
    let note = team.path("note");
    let made = run(
        &team,
        Some(&agent.socket),
        &[
            "checkpoint",
            "--out",
            &note,
            "--signing-key",
            &format!("{open}.pub"),
        ],
    );
    assert!(made.status.success(), "{}", stderr(&made));
    let verified = team.run(NOON, &["verify", "--checkpoint", &note]);
    assert!(verified.status.success(), "{}", stdout(&verified));
}

#[test]
fn an_owner_whose_key_is_in_an_agent_makes_a_store() {
    let Some((team, key)) = team() else { return };
    let agent = Agent::start(&team, "agent");
    agent.add(&[&key]);
    let (store, key) = (team.path("another"), format!("{key}.pub"));
    let own = ["--store", &store, "--signing-key", &key];
    for args in [
        &["init", "--trial"][..],
        &["create", "/memories/a.md", "--text", "x"],
        &["verify"],
    ] {
        let output = run(&team, Some(&agent.socket), &[args, &own].concat());
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    }
    // Without the agent there is no store, and nothing half made of one.
    let (third, key) = (team.path("third"), &key);
    let before = fs::read_dir(team.home.path()).expect("a folder").count();
    let args = ["init", "--trial", "--store", &third, "--signing-key", key];
    assert_eq!(run(&team, None, &args).status.code(), Some(12));
    let after = fs::read_dir(team.home.path()).expect("a folder").count();
    assert_eq!(before, after);
}

#[test]
fn without_an_agent_nothing_is_recorded() {
    let Some((team, key)) = team() else { return };
    let public = format!("{key}.pub");
    for socket in [None, Some("")] {
        let said = refused(&team, socket, &public);
        assert!(said.contains("SSH_AUTH_SOCK names none"), "{said}");
        assert!(said.contains(&format!("ssh-add {key}")), "{said}");
    }
    let said = refused(&team, Some(&team.path("nowhere")), &public);
    assert!(said.contains("cannot be reached"), "{said}");
    // What signs nothing needs none.
    let listed = run(&team, None, &["log", "--signing-key", &public]);
    assert!(listed.status.success(), "{}", stderr(&listed));
}

#[test]
fn an_agent_that_lacks_the_key_or_refuses_says_so() {
    let Some((team, key)) = team() else { return };
    let public = format!("{key}.pub");
    let agent = Agent::start(&team, "agent");
    agent.add(&[&team.keygen("other", &[])]);
    let said = refused(&team, Some(&agent.socket), &public);
    assert!(said.contains("does not have the key"), "{said}");
    assert!(said.contains(&format!("run `ssh-add {key}`")), "{said}");
    // It is to ask for a confirmation, and has nobody to ask.
    agent.add(&["-c", &key]);
    let said = refused(&team, Some(&agent.socket), &public);
    assert!(said.contains("it has the key and refused"), "{said}");
}

/// An agent that does as it is told with each connection.
fn listen(socket: &str, answer: impl Fn(UnixStream) + Send + Sync + 'static) {
    let listener = UnixListener::bind(socket).expect("bound");
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for line in listener.incoming() {
            let (line, answer) = (line.expect("accepted"), answer.clone());
            thread::spawn(move || answer(line));
        }
    });
}

#[test]
fn an_agent_that_answers_nonsense_is_not_believed() {
    let Some((team, key)) = team() else { return };
    let public = format!("{key}.pub");
    let signature = [
        &[14, 0, 0, 0, 83, 0, 0, 0, 11][..],
        b"ssh-ed25519",
        &[0, 0, 0, 64],
        &[7; 64],
    ];
    let cases: [Vec<u8>; 6] = [
        [&[0, 0, 0, 88][..], &signature.concat()].concat(),
        vec![0, 0, 0, 1, 14],
        vec![0, 0, 0, 1, 6],
        vec![0, 0, 0, 0],
        vec![0, 0, 0, 6, 14, 255, 255, 255, 255, 0],
        vec![255, 255, 255, 255, 14],
    ];
    for (number, case) in cases.into_iter().enumerate() {
        let socket = team.path(&format!("false{number}"));
        listen(&socket, move |mut line| {
            let mut request = [0; 4096];
            while line.read(&mut request).is_ok_and(|read| read > 0) {
                drop(line.write_all(&case));
            }
        });
        let said = refused(&team, Some(&socket), &public);
        assert!(
            said.contains("is no signature by that key"),
            "{number}: {said}"
        );
    }
    let socket = team.path("hangs up");
    listen(&socket, drop);
    let said = refused(&team, Some(&socket), &public);
    assert!(said.contains("cannot be reached"), "{said}");
}

#[test]
fn an_agent_that_does_not_answer_is_waited_for_and_then_given_up() {
    let Some((team, key)) = team() else { return };
    let socket = team.path("silent");
    listen(&socket, |mut line| {
        // One byte now and again, so that each read alone is answered.
        while line.write_all(&[0]).is_ok() {
            thread::sleep(Duration::from_secs(6));
        }
    });
    let (begin, before) = (Instant::now(), team.events());
    let args = [
        "view",
        "/memories/a.md",
        "--signing-key",
        &format!("{key}.pub"),
    ];
    let output = run(&team, Some(&socket), &args);
    assert_eq!(output.status.code(), Some(12), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("did not answer within 15 s"),
        "{}",
        stderr(&output)
    );
    assert!(
        (10..40).contains(&begin.elapsed().as_secs()),
        "{:?}",
        begin.elapsed()
    );
    assert_eq!(team.events(), before);
    team.done(NOON, &["view", "/memories/a.md"]);
}

#[test]
fn a_process_asks_over_one_connection_and_finds_an_agent_that_was_started_anew() {
    let Some((team, key)) = team() else { return };
    let mut agent = Agent::start(&team, "agent");
    agent.add(&[&key]);
    let (front, connections) = (team.path("front"), Arc::new(AtomicUsize::new(0)));
    let (counted, behind) = (connections.clone(), agent.socket.clone());
    listen(&front, move |line| {
        counted.fetch_add(1, Ordering::SeqCst);
        pass(&line, Path::new(&behind));
    });
    let mut tool = Tool::start(&team, &format!("{key}.pub"), Some(&front));
    for number in 0..5 {
        let answer = tool.create(&format!("/memories/{number}.md"));
        assert_eq!(answer["is_error"], false, "{answer}");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    // Nobody asks while there is none: the first question after finds the other.
    agent.end();
    let mut agent = Agent::start(&team, "agent");
    agent.add(&[&key]);
    assert_eq!(tool.create("/memories/again.md")["is_error"], false);
    assert_eq!(connections.load(Ordering::SeqCst), 2);
    agent.end();
    let before = team.events();
    let answer = tool.create("/memories/none.md");
    assert_eq!(answer["is_error"], true, "{answer}");
    assert!(answer.to_string().contains("ssh-agent"), "{answer}");
    assert!(!answer.to_string().contains(&team.path("")), "{answer}");
    assert_eq!(team.events(), before);
    let agent = Agent::start(&team, "agent");
    agent.add(&[&key]);
    assert_eq!(tool.create("/memories/none.md")["is_error"], false);
    tool.end();
    assert!(team.findings().is_empty());
}

/// Passes on what comes either way, until one side ends.
fn pass(line: &UnixStream, to: &Path) {
    let Ok(behind) = UnixStream::connect(to) else {
        return;
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = io::copy(&mut &behind, &mut &*line);
            drop(line.shutdown(std::net::Shutdown::Both));
        });
        let _ = io::copy(&mut &*line, &mut &behind);
        drop(behind.shutdown(std::net::Shutdown::Both));
    });
}

#[test]
fn a_locked_key_opens_with_its_passphrase_and_no_other() {
    let Some((team, _)) = team() else { return };
    let locked = team.keygen("ben", &["-N", "a passphrase"]);
    let public = format!("{locked}.pub");
    team.done(NIGHT, &["signers", "add", "ben", &public]);
    let before = team.events();
    let create = |name: &str, passphrase: Option<&str>| {
        let path = format!("/memories/{name}.md");
        let args = ["--signing-key", &locked, "create", &path, "--text", "x"];
        let mut command = team.home.command(&args);
        if let Some(passphrase) = passphrase {
            command.env("AGEKEEP_PASSPHRASE_COMMAND", format!("echo '{passphrase}'"));
        }
        crate::support::feed(command, b"")
    };
    let made = create("mine", Some("a passphrase"));
    assert!(made.status.success(), "{}", stderr(&made));
    for wrong in [Some("A passphrase"), Some("a passphrase "), None] {
        let refused = create("b", wrong);
        assert_eq!(refused.status.code(), Some(12), "{}", stderr(&refused));
        let said = stderr(&refused);
        assert!(
            said.contains("passphrase") && !said.contains("A passphrase"),
            "{said}"
        );
    }
    assert_eq!(team.events(), before + 1);
}
