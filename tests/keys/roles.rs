//! What each role can do, verb by verb.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output};

use agekeep::store::Identity;

use crate::keys::team::Team;
use crate::support::forge::private;
use crate::support::{every, feed, has_peer, stderr, stdout};

/// A command, and how it ends for a reader, an auditor and a stranger.
type Verb = (&'static [&'static str], [i32; 3]);

const VERBS: [Verb; 24] = [
    (&["status"], [0, 0, 12]),
    (&["log", "-n", "2"], [0, 0, 12]),
    (&["log", "/memories/a.md"], [0, 0, 12]),
    (&["access", "/memories/a.md"], [0, 0, 12]),
    (&["recipients", "list"], [0, 0, 12]),
    (&["policy", "get"], [0, 0, 12]),
    (&["verify"], [0, 3, 3]),
    (&["checkpoint"], [0, 0, 12]),
    (&["view", "/memories/a.md"], [0, 12, 12]),
    (&["view", "/memories"], [0, 12, 12]),
    (&["read", "/memories/a.md"], [0, 12, 12]),
    (&["create", "/memories/NEW.md", "--text", "x"], [0, 12, 12]),
    (
        &["insert", "/memories/a.md", "0", "--text", "x"],
        [0, 12, 12],
    ),
    (&["view", "--at", "1", "/memories/a.md"], [0, 12, 12]),
    (&["show", "1"], [0, 12, 12]),
    (&["show", "1:/memories/a.md"], [0, 12, 12]),
    (&["diff", "1"], [0, 12, 12]),
    (&["blame", "/memories/a.md"], [0, 12, 12]),
    (&["grep", "canary"], [0, 12, 12]),
    (&["log", "-p", "-n", "1"], [0, 12, 12]),
    (
        &["restore", "/memories/a.md", "--from", "1", "--dry-run"],
        [0, 12, 12],
    ),
    (&["rollback", "--to", "1"], [0, 12, 12]),
    (&["rekey"], [0, 12, 12]),
    (&["recipients", "add", "NAME", "RECIPIENT"], [0, 12, 12]),
];

/// The kinds of identity there are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    X25519,
    Passphrase,
    SshEd25519,
    SshWithPassphrase,
    SshRsa,
    Plugin,
}

const KINDS: [Kind; 6] = [
    Kind::X25519,
    Kind::Passphrase,
    Kind::SshEd25519,
    Kind::SshWithPassphrase,
    Kind::SshRsa,
    Kind::Plugin,
];

const PASSPHRASE: &str = "correct horse battery staple";
const PLUGIN_RECIPIENT: &str = "age1agekeeptest1dahx2hxxx5p";
const PLUGIN_IDENTITY: &str = "AGE-PLUGIN-AGEKEEPTEST-1DAHX2XT6EAH";

/// Somebody with an identity of a kind.
struct Person {
    identity: PathBuf,
    recipient: String,
}

impl Kind {
    /// Every verb for the first kind. Of the others each tries some, all of which are every verb again.
    fn verbs(self) -> Vec<Verb> {
        let step = if self == Self::X25519 { 1 } else { every(4) };
        let verbs = VERBS.iter().skip(self as usize % step);
        verbs.step_by(step).copied().collect()
    }

    fn make(self, team: &Team, name: &str) -> Person {
        let identity = team.home.path().join(format!("{self:?}-{name}"));
        let ssh = |args: &[&str]| {
            let mut keygen = Command::new("ssh-keygen");
            let made = keygen
                .args(["-q", "-C", "", "-f"])
                .arg(&identity)
                .args(args);
            assert!(made.status().expect("ssh-keygen runs").success());
            let public = fs::read_to_string(identity.with_extension("pub"));
            public.expect("there").trim_end().to_owned()
        };
        let recipient = match self {
            Self::X25519 | Self::Passphrase => {
                let own = Identity::generate();
                if self == Self::X25519 {
                    private(&identity, &own.to_file());
                } else {
                    private(&identity, &locked(own.to_file().as_bytes()));
                }
                own.recipient().expect("X25519").to_string()
            }
            Self::SshEd25519 => ssh(&["-t", "ed25519", "-N", ""]),
            Self::SshWithPassphrase => ssh(&["-t", "ed25519", "-a", "1", "-N", PASSPHRASE]),
            Self::SshRsa => ssh(&["-t", "rsa", "-b", "2048", "-N", ""]),
            Self::Plugin => {
                private(&identity, PLUGIN_IDENTITY);
                PLUGIN_RECIPIENT.into()
            }
        };
        Person {
            identity,
            recipient,
        }
    }
}

/// An armored age file with a passphrase, of little work.
fn locked(plain: &[u8]) -> String {
    let mut recipient = age::scrypt::Recipient::new(PASSPHRASE.to_owned().into());
    recipient.set_work_factor(4);
    let encryptor = age::Encryptor::with_recipients(std::iter::once(&recipient as _));
    let mut out = Vec::new();
    let armor = age::armor::ArmoredWriter::wrap_output(&mut out, age::armor::Format::AsciiArmor);
    let mut writer = encryptor
        .expect("one recipient")
        .wrap_output(armor.expect("memory"))
        .expect("memory");
    writer.write_all(plain).expect("memory");
    let armor = writer.finish().expect("memory");
    armor.finish().expect("memory");
    String::from_utf8(out).expect("armor is ASCII")
}

impl Person {
    fn run(&self, team: &Team, args: &[&str]) -> Output {
        let mut all = vec!["-i", self.identity.to_str().expect("UTF-8")];
        all.extend(args);
        let mut command = team.home.command(&all);
        command
            .env("AGEKEEP_PASSPHRASE_COMMAND", format!("echo '{PASSPHRASE}'"))
            .env(
                "PATH",
                concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/plugin:/usr/bin:/bin"),
            );
        feed(command, b"")
    }

    /// Runs these verbs, each of which has to end as for this role.
    fn tries(&self, verbs: &[Verb], team: &Team, who: &str, role: usize) {
        for (number, (args, codes)) in verbs.iter().enumerate() {
            let (name, path) = (
                format!("{who}-{number}"),
                format!("/memories/{who}-{number}.md"),
            );
            let recipient = team.recipient(&name);
            let args: Vec<&str> = args
                .iter()
                .map(|arg| match *arg {
                    "NAME" => name.as_str(),
                    "RECIPIENT" => recipient.as_str(),
                    "/memories/NEW.md" => path.as_str(),
                    arg => arg,
                })
                .collect();
            let output = self.run(team, &args);
            let said = stdout(&output) + &stderr(&output);
            let code = output.status.code();
            assert_eq!(code, Some(codes[role]), "{who} {args:?}: {said}");
            assert!(
                role == 0 || !said.contains("canary"),
                "{who} {args:?}: {said}"
            );
            if role == 1 && codes[role] == 12 {
                assert!(said.contains("is an auditor's"), "{who} {args:?}: {said}");
            }
        }
    }
}

#[test]
fn each_role_can_do_what_it_is_for_and_no_more() {
    if !has_peer("ssh-keygen", "SSH identities in every role") {
        return;
    }
    let team = Team::new();
    team.create("a.md", "a canary in here\n");
    for kind in KINDS {
        let verbs = kind.verbs();
        for (role, word) in [(0, "reader"), (1, "auditor")] {
            let who = format!("{kind:?}-{word}");
            let person = kind.make(&team, word);
            let add = ["recipients", "add", &who, &person.recipient, "--role", word];
            let added = team.run_with_plugins(&add);
            assert!(added.status.success(), "{who}: {}", stderr(&added));
            person.tries(&verbs, &team, &who, role);
            let removed = team.run_with_plugins(&["recipients", "rm", &who]);
            assert!(removed.status.success(), "{who}: {}", stderr(&removed));
            // Whoever is out is a stranger, of any kind.
            person.tries(&verbs, &team, &format!("{who}-gone"), 2);
        }
        kind.make(&team, "stranger")
            .tries(&verbs, &team, &format!("{kind:?}-stranger"), 2);
        team.assert_verified(&format!("{kind:?}"));
    }
}

#[test]
fn calls_that_an_auditor_may_not_make_end_with_the_code_of_that() {
    let team = Team::new();
    team.create("a.md", "canary");
    team.add("eve", "auditor");
    let identity = team.identity("eve");
    let identity = identity.to_str().expect("UTF-8");
    let calls = r#"{"command":"view","path":"/memories/a.md"}
no call
{"command":"view","path":"/memories"}
"#;
    let output = team.home.run_with_input(&["-i", identity, "tool"], calls);
    assert_eq!(output.status.code(), Some(12), "{}", stderr(&output));
    let said = stdout(&output);
    assert_eq!(
        said.matches("\"error\":\"not_a_reader\"").count(),
        2,
        "{said}"
    );
    assert_eq!(said.lines().count(), 3, "{said}");
    assert!(!said.contains("canary"), "{said}");
}

#[test]
fn an_auditor_sees_who_did_what_to_which_path_and_verify_says_what_it_could_not() {
    let team = Team::new();
    team.create("people/zoe.md", "a canary in here\n");
    team.add("eve", "auditor");
    let log = team.ok_as("eve", &["log"]);
    assert!(
        log.contains("/memories/people/zoe.md") && log.contains("create"),
        "{log}"
    );
    let verified = team.run_as("eve", &["verify", "--full"]);
    let said = stdout(&verified) + &stderr(&verified);
    assert!(said.contains("your identity is an auditor's"), "{said}");
    // What an auditor verified is no reason for a reader to pass over contents.
    let kept = team.run_as("eve", &["verify"]);
    assert_eq!(kept.status.code(), Some(3), "{}", stdout(&kept));
    let report = team.ok(&["verify", "--json"]);
    assert!(report.contains("\"opened\":1"), "{report}");
    // Nothing an auditor can open leads to a memory.
    let store = team.home.store();
    let identity = team.identity("eve");
    let mut age = std::process::Command::new("age");
    age.arg("-d")
        .arg("-i")
        .arg(identity)
        .arg(store.join("keyring/epoch.age"));
    if crate::support::has_peer("age", "that an auditor cannot open the epoch key") {
        assert!(!age.output().expect("age runs").status.success());
    }
    assert!(fs::metadata(store.join("keyring/ring")).is_ok());
}

/// A keyring file with one character of the stanza changed that is its first reader's.
fn flip(team: &Team, name: &str) -> (PathBuf, Vec<u8>) {
    let path = team.home.store().join("keyring").join(name);
    let whole = fs::read(&path).expect("there");
    let mut bytes = whole.clone();
    bytes[90] = if bytes[90] == b'A' { b'B' } else { b'A' };
    fs::write(&path, bytes).expect("written");
    (path, whole)
}

#[test]
fn a_keyring_file_that_is_damaged_makes_nobody_somebody_else() {
    const RESTORE: &str = "restore the keyring from the backup";
    let team = Team::new();
    team.create("a.md", "text\n");
    team.add("eve", "auditor");
    let (path, whole) = flip(&team, "epoch.age");
    for args in [
        &["read", "/memories/a.md"][..],
        &["show", "1:/memories/a.md"],
        &["create", "/memories/b.md", "--text", "x"],
        &["rekey"],
    ] {
        let said = team.fails(13, args);
        assert!(said.contains("epoch.age is damaged"), "{args:?}: {said}");
        assert!(said.contains(RESTORE), "{args:?}: {said}");
    }
    let status = team.ok(&["status"]);
    assert!(status.contains("epoch.age is damaged"), "{status}");
    let advice = team.run_as("owner", &["doctor"]);
    assert_eq!(advice.status.code(), Some(14));
    assert!(stdout(&advice).contains("epoch.age is damaged"));
    let verified = team.run_as("owner", &["verify", "--full"]);
    assert_eq!(verified.status.code(), Some(13), "{}", stdout(&verified));
    assert!(stdout(&verified).contains("epoch.age is damaged"));
    let said = team.fails_as("eve", 12, &["read", "/memories/a.md"]);
    assert!(said.contains("is an auditor's"), "{said}");
    team.ok_as("eve", &["status"]);
    fs::write(path, whole).expect("written");
    let (path, whole) = flip(&team, "audit.age");
    for args in [&["read", "/memories/a.md"][..], &["status"], &["log"]] {
        let said = team.fails(13, args);
        assert!(said.contains("audit.age is damaged"), "{args:?}: {said}");
        assert!(said.contains(RESTORE), "{args:?}: {said}");
    }
    let verified = team.run_as("owner", &["verify", "--full"]);
    assert_eq!(verified.status.code(), Some(13), "{}", stdout(&verified));
    assert!(stdout(&verified).contains("audit.age is damaged"));
    team.fails_as("stranger", 12, &["status"]);
    fs::write(path, whole).expect("written");
    team.assert_verified("with the keyring whole again");
}

/// What is no damage: a keyring from before somebody was let in.
#[test]
fn who_is_not_in_an_older_keyring_is_no_recipient_of_it() {
    let team = Team::new();
    team.create("a.md", "text\n");
    let names = ["audit.age", "epoch.age"];
    let keyring = team.home.store().join("keyring");
    let old = names.map(|name| fs::read(keyring.join(name)).expect("there"));
    team.add("bob", "reader");
    team.add("eve", "auditor");
    for (name, bytes) in names.iter().zip(old) {
        fs::write(keyring.join(name), bytes).expect("written");
    }
    for who in ["bob", "eve"] {
        let said = team.fails_as(who, 12, &["read", "/memories/a.md"]);
        assert!(said.contains("your identity cannot decrypt"), "{said}");
        let verified = team.run_as(who, &["verify", "--full"]);
        assert_eq!(verified.status.code(), Some(3), "{}", stdout(&verified));
    }
    team.ok(&["read", "/memories/a.md"]);
}
