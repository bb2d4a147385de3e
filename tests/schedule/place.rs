//! Places with names that every format has to quote, and a program that tells what it was given.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::{stderr, stdout};

/// Names with everything in them that a shell, cron, systemd or YAML makes something of.
pub(crate) const NAMES: [&str; 4] = [
    "plain",
    "with space",
    r#"a $HOME `b` "c" 'd' ü; #e: f, [g] {h} *?!&|<> \i"#,
    r"100% %h %%n \% \\%% %\ $$ \n \t \x41 \",
];

/// Options with each sign on its own, in a path and at the beginning of a value: what is beside it
/// may have it quoted already.
pub(crate) fn signs() -> impl Iterator<Item = [String; 3]> {
    let signs = (' '..='~').chain(['ü', '\u{1f511}']);
    let signs = signs.filter(|c| !c.is_ascii_alphanumeric());
    signs.map(|sign| {
        [
            format!("--store=/x{sign}y"),
            format!("--session={sign}z"),
            format!("--reason={sign}"),
        ]
    })
}

/// Whether a command was given these.
pub(crate) fn has_all(words: &[String], said: &[String; 3]) -> bool {
    let store = said[0].strip_prefix("--store=").expect("the first");
    let at = words.iter().position(|word| word == "--store");
    at.is_some_and(|at| words[at + 1] == store) && said[1..].iter().all(|said| words.contains(said))
}

/// Those that systemd starts a program from.
pub(crate) const PROGRAM_NAMES: [&str; 3] =
    ["plain", "with space", "a $HOME `b` ü; #e: f, %h %%n *?&"];

/// A home folder of some name, with keys and a store, and the program in a folder of another.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) home: PathBuf,
    /// A link to the program, which can be turned into something else.
    pub(crate) program: PathBuf,
}

impl Place {
    pub(crate) fn new(home: &str, bin: &str) -> Self {
        let folder = crate::support::folder();
        // Others look into it: a service manager does not run its tests as root.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("ours");
        let root = folder.path().canonicalize().expect("there");
        let (home, bin) = (root.join("home").join(home), root.join("bin").join(bin));
        fs::create_dir_all(&home).expect("makes a folder");
        fs::create_dir_all(&bin).expect("makes a folder");
        let program = bin.join("agekeep");
        symlink(env!("CARGO_BIN_EXE_agekeep"), &program).expect("links");
        let place = Self {
            folder,
            home,
            program,
        };
        place.ok(&["init"]);
        place
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("there")
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("USER", "tester")
            .current_dir(&self.home)
            .args(args);
        command
    }

    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.command(args).output().expect("runs");
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output)
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.home.join(".local/share/agekeep/store")
    }

    pub(crate) fn identity(&self) -> PathBuf {
        self.home.join(".config/agekeep/identity.txt")
    }

    pub(crate) fn signing_key(&self) -> PathBuf {
        self.home.join(".config/agekeep/signing_key")
    }

    pub(crate) fn state_base(&self) -> PathBuf {
        self.home.join(".local/state")
    }

    /// The words of the command that sweeps.
    pub(crate) fn words(&self) -> Vec<String> {
        let text = |path: PathBuf| path.to_str().expect("UTF-8").to_owned();
        let (store, identity) = (text(self.store()), text(self.identity()));
        let mut words = vec![text(self.program.clone()), "expire".into()];
        words.extend(["--store".into(), store, "--identity".into(), identity]);
        words.extend(["--signing-key".into(), text(self.signing_key())]);
        words.push("--actor=sweeper".into());
        words
    }

    /// Puts a script where the program was: it writes down its words and what state folder it was
    /// told, one on a line, and says something on both outputs.
    pub(crate) fn put_witness(&self) {
        fs::remove_file(&self.program).expect("a link");
        let heard = self.heard_file();
        let heard = heard.to_str().expect("UTF-8");
        assert!(!heard.contains('\''));
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\" \"$XDG_STATE_HOME\" >'{heard}'\necho swept\necho trouble >&2\n"
        );
        fs::write(&self.program, script).expect("writes");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&self.program, executable).expect("ours");
    }

    fn heard_file(&self) -> PathBuf {
        self.root().join("heard")
    }

    /// What the witness was given.
    pub(crate) fn heard(&self) -> Vec<String> {
        let text = fs::read_to_string(self.heard_file()).expect("the witness ran");
        text.lines().map(str::to_owned).collect()
    }

    /// What it has to have been given.
    pub(crate) fn expected(&self) -> Vec<String> {
        let mut expected = self.words();
        expected.push(self.state_base().to_str().expect("UTF-8").to_owned());
        expected
    }
}

/// Runs a shell command as somebody does who has no folder and no variables.
pub(crate) fn shell(command: &str, path: &str) -> Output {
    Command::new(crate::support::program("sh"))
        .args(["-c", command])
        .env_clear()
        .env("PATH", path)
        .current_dir("/")
        .output()
        .expect("sh runs")
}

/// The command that a comment shows, by what stands in it.
pub(crate) fn shown<'a>(text: &'a str, part: &str) -> &'a str {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("#   "));
    lines
        .find(|line| line.contains(part))
        .unwrap_or_else(|| panic!("no comment with {part:?} in\n{text}"))
}

/// Writes a file and answers its path.
pub(crate) fn put(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).expect("writes");
    path
}
