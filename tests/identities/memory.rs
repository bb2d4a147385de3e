//! What a running process keeps in its memory, and who may look.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::identities::{PASSPHRASE, Person, QUICK, encrypted, keygen};
use crate::support::stderr;

/// Something that must be found, so that finding nothing means something.
const CANARY: &str = "/memories/canary-that-is-in-memory.md";

/// The binary that has carried out a command and waits for the next.
struct Waiting {
    child: Child,
    _input: ChildStdin,
    _output: BufReader<ChildStdout>,
}

impl Waiting {
    fn start(person: &Person) -> Self {
        Self::start_through(person, &[])
    }

    fn start_through(person: &Person, before: &[&str]) -> Self {
        // Itself, and not `setsid`, so that its id is known.
        let through = person.command(&["tool"]);
        let before = before.iter().map(OsStr::new);
        let mut words = before.chain(through.get_args().skip(1));
        let mut command = std::process::Command::new(words.next().expect("the binary"));
        command
            .args(words)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command.envs(
            through
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        let mut child = command.spawn().expect("it starts");
        let mut input = child.stdin.take().expect("piped");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let line =
            format!("{{\"command\":\"create\",\"path\":\"{CANARY}\",\"file_text\":\"x\"}}\n");
        input.write_all(line.as_bytes()).expect("sent");
        let mut answer = String::new();
        output.read_line(&mut answer).expect("an answer");
        assert!(answer.contains("created successfully"), "{answer}");
        Self {
            child,
            _input: input,
            _output: output,
        }
    }

    fn proc(&self, name: &str) -> String {
        format!("/proc/{}/{name}", self.child.id())
    }

    /// Everything it can read of its own memory; nothing if we may not look.
    fn memory(&self) -> Option<Vec<Vec<u8>>> {
        let maps = fs::read_to_string(self.proc("maps")).ok()?;
        let mut memory = File::open(self.proc("mem")).ok()?;
        let mut pieces = Vec::new();
        for line in maps.lines() {
            let mut words = line.split_whitespace();
            let (range, rights) = (words.next()?, words.next()?);
            if !rights.starts_with('r') || line.ends_with("[vvar]") || line.contains("[vsyscall]") {
                continue;
            }
            let (from, to) = range.split_once('-')?;
            let from = u64::from_str_radix(from, 16).ok()?;
            let to = u64::from_str_radix(to, 16).ok()?;
            memory.seek(SeekFrom::Start(from)).ok()?;
            let mut piece = vec![0; usize::try_from(to - from).ok()?];
            if memory.read_exact(&mut piece).is_ok() {
                pieces.push(piece);
            }
        }
        Some(pieces)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn holds(memory: &[Vec<u8>], what: &[u8]) -> bool {
    memory
        .iter()
        .any(|piece| memchr::memmem::find(piece, what).is_some())
}

fn remembers_no_secret(person: &Person, secrets: &[&str]) {
    let waiting = Waiting::start(person);
    let Some(memory) = waiting.memory() else {
        let loud = "\n*** NOT TESTED: no right to read the memory of another process ***\n";
        std::io::stderr().write_all(loud.as_bytes()).expect("open");
        return;
    };
    assert!(
        holds(&memory, CANARY.as_bytes()),
        "the search finds what is there"
    );
    for secret in secrets {
        assert!(
            !holds(&memory, secret.as_bytes()),
            "{} characters of a secret",
            secret.len()
        );
    }
}

#[test]
fn neither_passphrase_nor_identity_file_stays_in_memory() {
    let text = keygen();
    let secret = text.lines().last().expect("a key");
    for armored in [false, true] {
        let person = Person::with_identity(encrypted(&text, armored, QUICK)).passphrase(PASSPHRASE);
        person.done(&["init"]);
        remembers_no_secret(
            &person,
            &[PASSPHRASE, &PASSPHRASE[..16], secret, &secret[20..60]],
        );
    }
    let person = Person::with_identity(encrypted(&text, true, QUICK)).env(
        "AGEKEEP_PASSPHRASE_COMMAND",
        format!("tr A-Z a-z <<E\n{}\nE", PASSPHRASE.to_uppercase()),
    );
    person.done(&["init"]);
    remembers_no_secret(&person, &[PASSPHRASE, secret]);
    // Without a passphrase the file itself is the secret.
    let person = Person::with_identity(&text);
    person.done(&["init"]);
    remembers_no_secret(&person, &[secret, &secret[20..60]]);
}

#[test]
fn an_ssh_key_and_its_passphrase_do_not_stay_in_memory() {
    let person = Person::with_ssh_key(&["-t", "ed25519", "-N", PASSPHRASE]).passphrase(PASSPHRASE);
    person.done(&["init"]);
    remembers_no_secret(&person, &[PASSPHRASE]);
}

#[test]
fn it_dumps_no_core_and_lets_nobody_look() {
    let person = Person::with_identity(keygen());
    let made = person.run(&["init"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let waiting = Waiting::start(&person);
    let limits = fs::read_to_string(waiting.proc("limits")).expect("limits");
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    let words: Vec<_> = core.expect("a limit").split_whitespace().collect();
    assert_eq!(words[4..6], ["0", "0"]);
}

/// The kernel gives the `/proc` files of a process that is not dumpable to root, and refuses whoever
/// wants to attach to it; that of another user's process is told apart from root's own.
#[test]
fn no_process_of_the_same_user_may_look() {
    let person = Person::with_identity(keygen());
    person.done(&["init"]);
    let nobody = if fs::metadata("/proc/self").expect("proc").uid() == 0 {
        let owned = std::process::Command::new("chown")
            .args(["-R", "65534:65534"])
            .arg(person.home.path())
            .status();
        assert!(owned.expect("chown runs").success());
        &[
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ][..]
    } else {
        &[]
    };
    let waiting = Waiting::start_through(&person, nobody);
    let status = fs::read_to_string(waiting.proc("status")).expect("status");
    assert!(!status.contains("\nUid:\t0\t"), "it runs as another user");
    assert_eq!(fs::metadata(waiting.proc("maps")).expect("there").uid(), 0);
}
