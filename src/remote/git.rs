//! The `git` program, which talks to hosts. The only file that runs it.
//!
//! It runs in a repository of its own, made for one transfer, whose objects come from the store by
//! an alternate: so it neither reads the store's configuration nor writes to the store. The user's
//! own configuration counts, because it says how to reach a host: credentials, proxies, ssh.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::disk::{Folder, Lock, Name, limit_process};
use crate::error::{Error, RemoteFault, Result};
use crate::id::ObjectId;
use crate::journal;
use crate::repository::{BRANCH, Repository};
use crate::store::ProgressFn;

/// How long a host may say nothing before the transfer is given up.
const SILENCE_MAX: Duration = Duration::from_secs(300);
/// How long a git may run: a host can go on for ever without being silent.
const RUN_TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Most memory of each git, in bytes: some fifteen times what it takes to index a million events.
const MEMORY_MAX: u64 = 4 << 30;
/// How often a running git is looked at, in case something else holds its output open.
const LOOK: Duration = Duration::from_millis(100);
/// Most bytes that are read of what git prints for programs.
const OUTPUT_BYTES_MAX: u64 = 1024 * 1024;
/// How long the last of that may take once git has ended.
const OUTPUT_WAIT: Duration = Duration::from_secs(5);
/// Most pieces of words for people that wait to be looked at.
const PIECES_WAITING: usize = 4;
/// Most lines and characters of git's own words in an error.
const LINES_MAX: usize = 4;
const CHARACTERS_MAX: usize = 600;

/// Settings that hold whatever the user's configuration says: no program of a repository runs, no
/// transport but these, every object is checked, and packs stay packs.
const SETTINGS: &[&str] = &[
    "core.bare=true",
    "core.hooksPath=/dev/null",
    "protocol.allow=never",
    "protocol.file.allow=always",
    "protocol.git.allow=always",
    "protocol.http.allow=always",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
    "protocol.ext.allow=never",
    "protocol.fd.allow=never",
    "fetch.fsckObjects=true",
    "fetch.unpackLimit=1",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "transfer.bundleURI=false",
    "push.recurseSubmodules=no",
    "push.gpgSign=false",
    "push.followTags=false",
    "push.pushOption=",
    "pack.indexVersion=2",
    "gc.auto=0",
    "maintenance.auto=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=300",
];

/// Settings of the git that takes a push in a folder: otherwise it would run, with the user's rights, the hooks
/// and programs that the folder's own configuration names. It neither checks files out nor fetches what is
/// missing there.
const FOLDER_SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.alternateRefsCommand=true",
    "core.fsmonitor=false",
    "protocol.allow=never",
    "receive.denyCurrentBranch=refuse",
    "receive.autogc=false",
];

/// How git fetches: packs and the named refs, and nothing besides.
const FETCH: &[&str] = &[
    "fetch",
    "--progress",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--",
];

/// Variables that would lead git to another repository, or to other objects.
const VARIABLES: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_QUARANTINE_PATH",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_TEMPLATE_DIR",
    "GIT_DEFAULT_HASH",
    "GIT_ATTR_SOURCE",
];

/// A repository for one transfer, in the store's folder, under a passing name. Dropped, it is
/// removed.
pub(super) struct TransferRepository {
    root: Folder,
    name: Name,
    folder: Folder,
    pub(super) repository: Repository,
    /// Held as long as this process uses the folder, so that others leave it alone.
    _lock: Lock,
}

/// A host, as errors name it, and its URL.
#[derive(Clone, Copy)]
pub(super) struct Host<'a> {
    pub(super) name: &'a str,
    pub(super) url: &'a str,
    /// True if a person is there whom git may ask for a password.
    pub(super) attended: bool,
    /// True if refs beside branches are branches there.
    pub(super) branches: bool,
}

/// Where refs of machines are.
const BESIDE: &str = "refs/agekeep/";
/// Where they are at a host that takes branches alone.
const AS_BRANCHES: &str = "refs/heads/agekeep/";
/// Every card of a remote that has them as branches.
pub(super) const CARDS_AS_BRANCHES: &str = "refs/heads/agekeep/cards/*";

impl Host<'_> {
    /// Returns the name that a ref has at the host.
    fn name_there(self, name: &str) -> String {
        match name.strip_prefix(BESIDE) {
            Some(rest) if self.branches => format!("{AS_BRANCHES}{rest}"),
            _ => name.to_owned(),
        }
    }

    /// Returns the name that a ref of the host has here.
    fn name_here(self, name: &str) -> String {
        match name.strip_prefix(AS_BRANCHES) {
            Some(rest) if self.branches => format!("{BESIDE}{rest}"),
            _ => name.to_owned(),
        }
    }
}

/// What a push changes at the host.
pub(super) struct RefUpdate {
    pub(super) name: String,
    pub(super) to: ObjectId,
    pub(super) how: HowUpdated,
}

/// How a ref of the host may change.
pub(super) enum HowUpdated {
    /// It only goes on from where it was when it was listed.
    GoesOn(Option<ObjectId>),
    /// It is replaced, if it is this; if there is none, for `None`.
    Replaces(Option<ObjectId>),
}

/// What a run of git ended with.
struct Ended {
    succeeded: bool,
    output: String,
    /// Its words for people, without progress.
    said: Vec<String>,
}

impl TransferRepository {
    /// Makes one, whose branch is at `head`, in the folder of a store. Removes those that killed
    /// processes left.
    pub(super) fn make(root: &Folder, head: Option<ObjectId>) -> Result<Self> {
        // One process at a time, so that nobody takes a folder for left that is not locked yet.
        let objects = root.sub(&Name::OBJECTS);
        let turn = Lock::of_folder(&objects.map_err(root.fault("open", &Name::OBJECTS))?)?;
        for name in root.list_of(Name::building).unwrap_or_default() {
            let left = root.sub(&name).ok();
            if left.is_some_and(|folder| Lock::try_acquire(&folder).is_some()) {
                drop(root.remove_tree(&name));
            }
        }
        let name = Name::new_building();
        let made = root.make_folder(&name, 0o700);
        let folder = made.and_then(|()| root.sub(&name));
        let folder = folder.map_err(root.fault("make", &name))?;
        let lock = Lock::of_folder(&folder)?;
        drop(turn);
        let repository = Repository::create(&folder, journal::find);
        let made = repository.and_then(|repository| {
            if let Some(head) = head {
                let objects = folder.sub(&Name::OBJECTS);
                let objects = objects.map_err(folder.fault("open", &Name::OBJECTS))?;
                // Relative to the folder that the file is about.
                objects.replace(&Name::ALTERNATES, b"../../objects\n", 0o600)?;
                repository.set_head(head)?;
            }
            Ok(repository)
        });
        match made {
            Ok(repository) => Ok(Self {
                root: root.clone(),
                name,
                folder,
                repository,
                _lock: lock,
            }),
            Err(error) => {
                drop(root.remove_tree(&name));
                Err(error)
            }
        }
    }

    /// Returns where the host's branch is; `None` if it has no such branch, as when it is empty.
    pub(super) fn head_of(&self, host: Host<'_>) -> Result<Option<ObjectId>> {
        Ok(self.refs_of(host, &[BRANCH.into()])?.remove(BRANCH))
    }

    /// Returns where refs of the host are, by their names.
    pub(super) fn refs_of(
        &self,
        host: Host<'_>,
        names: &[String],
    ) -> Result<BTreeMap<String, ObjectId>> {
        let mut args = vec!["ls-remote", "--quiet", "--", host.url];
        let names: Vec<String> = names.iter().map(|name| host.name_there(name)).collect();
        args.extend(names.iter().map(String::as_str));
        let ended = self.run(host, &args, &mut |_, _| {})?;
        if !ended.succeeded {
            return Err(failed(host, &ended));
        }
        if ended.output.len() as u64 > OUTPUT_BYTES_MAX {
            let why = format!("it lists more than {OUTPUT_BYTES_MAX} bytes of refs");
            return Err(unusable(host, &why));
        }
        let lines = ended.output.lines();
        let found = lines.filter_map(|line| line.split_once('\t'));
        let parsed = found.map(|(id, name)| {
            let unknown = || unusable(host, "it does not name a commit of a SHA-1 repository");
            let id = ObjectId::from_hex(id).ok_or_else(unknown)?;
            Ok((host.name_here(name), id))
        });
        parsed.collect()
    }

    /// Returns a text in the tree of a commit that was fetched, or that the store has.
    pub(super) fn text_at(&self, host: Host<'_>, commit: ObjectId, name: &str) -> Result<String> {
        let object = format!("{commit}:{name}");
        let ended = self.run(host, &["cat-file", "blob", &object], &mut |_, _| {})?;
        if ended.succeeded {
            return Ok(ended.output);
        }
        Err(failed(host, &ended))
    }

    /// Fetches refs, each to a name here, wherever they go on from.
    pub(super) fn fetch_refs(&self, host: Host<'_>, names: &[(String, String)]) -> Result<()> {
        let specs = names.iter();
        let specs = specs.map(|(name, to)| format!("+{}:{to}", host.name_there(name)));
        let specs: Vec<String> = specs.collect();
        let mut args = FETCH.to_vec();
        args.push(host.url);
        args.extend(specs.iter().map(String::as_str));
        let ended = self.run_bounded(host, &args, &mut |_, _| {})?;
        if ended.succeeded {
            return Ok(());
        }
        Err(failed(host, &ended))
    }

    /// Fetches the host's branch, if it goes on from the branch here. Returns where it is now, and
    /// `None` if it does not.
    pub(super) fn fetch(
        &self,
        host: Host<'_>,
        progress: &mut ProgressFn<'_>,
    ) -> Result<Option<ObjectId>> {
        let branches = format!("{BRANCH}:{BRANCH}");
        let args = [FETCH, &[host.url, &branches]].concat();
        let ended = self.run_bounded(host, &args, progress)?;
        if ended.succeeded {
            return self.repository.head();
        }
        if ended.mentions("(non-fast-forward)") {
            return Ok(None);
        }
        Err(failed(host, &ended))
    }

    /// Pushes a commit to the host's branch, which must go on from where it was listed. Returns `false` if
    /// the host has moved on meanwhile.
    pub(super) fn push(
        &self,
        host: Host<'_>,
        (there, commit): (Option<ObjectId>, ObjectId),
        progress: &mut ProgressFn<'_>,
    ) -> Result<bool> {
        let update = RefUpdate {
            name: BRANCH.into(),
            to: commit,
            how: HowUpdated::GoesOn(there),
        };
        self.push_refs(host, &[update], progress)
    }

    /// Pushes commits to refs of the host, all of them or none. Returns `false` if the host has moved on
    /// meanwhile.
    pub(super) fn push_refs(
        &self,
        host: Host<'_>,
        updates: &[RefUpdate],
        progress: &mut ProgressFn<'_>,
    ) -> Result<bool> {
        let mut args: Vec<String> = ["push", "--progress", "--porcelain", "--no-verify"]
            .map(str::to_owned)
            .into();
        if host.url.starts_with('/') || host.url.starts_with("file:") {
            let none = FOLDER_SETTINGS.join(" -c ");
            args.push(format!("--receive-pack=git -c {none} receive-pack"));
        }
        if updates.len() > 1 {
            args.push("--atomic".into());
        }
        for update in updates {
            if let HowUpdated::Replaces(known) = &update.how {
                let known = known.map_or_else(String::new, |known| known.to_string());
                let name = host.name_there(&update.name);
                args.push(format!("--force-with-lease={name}:{known}"));
            }
        }
        args.extend(["--".to_owned(), host.url.to_owned()]);
        let specs = updates.iter();
        args.extend(specs.map(|update| {
            let name = host.name_there(&update.name);
            format!("{}:{name}", update.to)
        }));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ended = self.run(host, &args, progress)?;
        if ended.succeeded {
            return Ok(true);
        }
        // In the words of git-push(1), and of hosts that compare by themselves.
        let as_if_moved = [
            "(fetch first)",
            "(non-fast-forward)",
            "(stale info)",
            "(failed to update ref)",
            "(reference already exists)",
            "cannot lock ref",
        ];
        // A lock that somebody left there, and a host that replaces no branch, are refused in the same words.
        if as_if_moved.iter().any(|words| ended.mentions(words)) && self.has_moved(host, updates)? {
            return Ok(false);
        }
        Err(failed(host, &ended))
    }

    /// Tells whether a ref at the host is another than it was when an update of it was planned.
    fn has_moved(&self, host: Host<'_>, updates: &[RefUpdate]) -> Result<bool> {
        let names: Vec<String> = updates.iter().map(|update| update.name.clone()).collect();
        let there = self.refs_of(host, &names)?;
        for update in updates {
            let (HowUpdated::Replaces(known) | HowUpdated::GoesOn(known)) = update.how;
            if there.get(&update.name).copied() != known {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Runs a git that takes what a host sends, which may not fill the disk: commands need room too.
    fn run_bounded(
        &self,
        host: Host<'_>,
        args: &[&str],
        progress: &mut ProgressFn<'_>,
    ) -> Result<Ended> {
        let free = self.folder.bytes_free();
        self.run_within(host, args, free.map(|free| free / 4 * 3), progress)
    }

    fn run(&self, host: Host<'_>, args: &[&str], progress: &mut ProgressFn<'_>) -> Result<Ended> {
        self.run_within(host, args, None, progress)
    }

    /// Runs git until it ends. It is stopped if this folder gets more bytes than are given here.
    fn run_within(
        &self,
        host: Host<'_>,
        args: &[&str],
        bytes_max: Option<u64>,
        progress: &mut ProgressFn<'_>,
    ) -> Result<Ended> {
        let is_too_much = || {
            let bytes = || self.folder.bytes_below().unwrap_or_default();
            bytes_max.is_some_and(|bytes_max| bytes() > bytes_max)
        };
        let mut git = Command::new("git");
        for variable in VARIABLES {
            git.env_remove(variable);
        }
        git.args(["--git-dir", "."]);
        for setting in SETTINGS {
            git.args(["-c", setting]);
        }
        git.args(args)
            .current_dir(self.folder.path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if !host.attended {
            git.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", "");
        }
        let mut child = git.spawn().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Error::Remote(RemoteFault::NoGit),
            _ => Error::io("run", Path::new("git"))(source),
        })?;
        // A program that git began can outlive it.
        limit_process(&child, MEMORY_MAX, bytes_max);
        let output = child.stdout.take().expect("it is piped");
        let output = collect_in_background(output);
        let words = child.stderr.take().expect("it is piped");
        let heard = listen(
            &mut child,
            &read_in_background(words),
            (RUN_TIME_MAX, SILENCE_MAX),
            &is_too_much,
            progress,
        );
        let heard = match heard {
            Heard::All(_) if !ends(&mut child) => Heard::Silence,
            heard => heard,
        };
        if !matches!(heard, Heard::All(_)) {
            drop(child.kill());
        }
        let status = child.wait().map_err(Error::io("run", Path::new("git")))?;
        let given_up = match heard {
            Heard::All(_) if !status.success() && is_too_much() => Heard::Enough,
            Heard::All(said) => {
                let bytes = output.recv_timeout(OUTPUT_WAIT).unwrap_or_default();
                return Ok(Ended {
                    succeeded: status.success(),
                    output: String::from_utf8_lossy(&bytes).into_owned(),
                    said,
                });
            }
            heard => heard,
        };
        let why = match given_up {
            Heard::Enough => {
                let bytes_max = bytes_max.unwrap_or_default();
                format!(
                    "it sent more than {bytes_max} bytes, three quarters of what was free on the disk"
                )
            }
            Heard::Endless => format!("it went on for {} seconds", RUN_TIME_MAX.as_secs()),
            _ => format!("it said nothing for {} seconds", SILENCE_MAX.as_secs()),
        };
        Err(unusable(host, &why))
    }
}

impl Drop for TransferRepository {
    fn drop(&mut self) {
        drop(self.root.remove_tree(&self.name));
    }
}

impl Ended {
    fn mentions(&self, words: &str) -> bool {
        self.output.contains(words) || self.said.iter().any(|line| line.contains(words))
    }
}

/// How a git that was listened to ended.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    /// By itself, with these words for people.
    All(Vec<String>),
    /// It said nothing for too long.
    Silence,
    /// It went on for too long.
    Endless,
    /// It wrote too much.
    Enough,
}

/// Follows what git says until it ends, and hands its progress on. It may go on, and be silent, for so long.
fn listen(
    child: &mut Child,
    words: &Receiver<Vec<u8>>,
    (time_max, silence_max): (Duration, Duration),
    is_too_much: &dyn Fn() -> bool,
    progress: &mut ProgressFn<'_>,
) -> Heard {
    let (mut said, mut rest) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    let (mut heard, mut looked) = (begun, begun);
    loop {
        if begun.elapsed() > time_max {
            return Heard::Endless;
        }
        if looked.elapsed() > LOOK {
            if is_too_much() {
                return Heard::Enough;
            }
            looked = Instant::now();
        }
        match words.recv_timeout(LOOK) {
            Ok(piece) => {
                heard = Instant::now();
                rest.extend(piece);
                let mut lines = rest.split(|byte| b"\r\n".contains(byte)).peekable();
                let mut begun = Vec::new();
                while let Some(line) = lines.next() {
                    if lines.peek().is_some() {
                        note(line, &mut said, progress);
                    } else {
                        begun = line[..line.len().min(CHARACTERS_MAX)].to_vec();
                    }
                }
                rest = begun;
            }
            Err(RecvTimeoutError::Disconnected) => break,
            // A program that git began, such as a shared ssh connection, may live on.
            Err(RecvTimeoutError::Timeout) if matches!(child.try_wait(), Ok(Some(_))) => break,
            Err(RecvTimeoutError::Timeout) if heard.elapsed() > silence_max => {
                return Heard::Silence;
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    note(&rest, &mut said, progress);
    Heard::All(said)
}

/// Waits for a git that says nothing any more; `false` if it goes on for too long.
fn ends(child: &mut Child) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < SILENCE_MAX {
        match child.try_wait() {
            Ok(None) => thread::sleep(Duration::from_millis(1)),
            _ => return true,
        }
    }
    false
}

/// Takes a line for progress, such as `Receiving objects:  45% (450/1000)`, or keeps it.
fn note(line: &[u8], said: &mut Vec<String>, progress: &mut ProgressFn<'_>) {
    let line = String::from_utf8_lossy(line);
    let counts = line
        .split_once("% (")
        .and_then(|(_, rest)| rest.split_once(')'))
        .and_then(|(counts, _)| counts.split_once('/'));
    if let Some((done, total)) = counts
        && let (Ok(done), Ok(total)) = (done.parse(), total.parse())
    {
        return progress(done, total);
    }
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    if !line.trim().is_empty() {
        said.push(line.trim().to_owned());
    }
    // The last words say why it failed.
    if said.len() > 8 * LINES_MAX {
        said.drain(..LINES_MAX);
    }
}

/// Collects the first of what git prints for programs on a thread, and lets go of the rest.
fn collect_in_background(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if from
            .by_ref()
            .take(OUTPUT_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .is_ok()
        {
            drop(sender.send(bytes));
            drop(io::copy(&mut from, &mut io::sink()));
        }
    });
    receiver
}

/// Reads on a thread, because a host may write to one stream while the other is waited for.
fn read_in_background(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    // A host that floods waits until it is read.
    let (sender, receiver) = mpsc::sync_channel(PIECES_WAITING);
    thread::spawn(move || {
        let mut piece = [0; 16 * 1024];
        while let Ok(count @ 1..) = from.read(&mut piece) {
            if sender.send(piece[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Words that git adds to the reason.
const ADVICE: [&str; 3] = [
    "fatal: Could not read from remote repository",
    "Please make sure you have the correct access rights",
    "and the repository exists",
];

/// Returns the error of a git that failed, with its last words.
fn failed(host: Host<'_>, ended: &Ended) -> Error {
    // What a host says is its own; git's advice is about another command.
    let is_reason = |line: &&String| {
        !line.starts_with("hint: ")
            && !line.starts_with("To ")
            && !line.starts_with("Done")
            && !line.starts_with("From ")
    };
    // All refs are rejected with the one of which the host says why.
    let mut rejected = ended.output.lines().filter(|line| line.starts_with('!'));
    let first = rejected.clone().next();
    let rejected = rejected.find(|line| !line.contains("atomic")).or(first);
    let reasons = ended.said.iter().filter(is_reason);
    let reasons = reasons.map(|line| line.trim_end_matches('.'));
    let (advice, mut reasons): (Vec<&str>, Vec<&str>) =
        reasons.partition(|line| ADVICE.contains(line));
    if reasons.is_empty() {
        reasons = advice;
    }
    let is_error = |line: &&&str| {
        ["error: ", "fatal: "]
            .iter()
            .any(|begin| line.contains(begin))
    };
    let error = reasons.iter().find(is_error).copied();
    let last = reasons.len().saturating_sub(LINES_MAX);
    let last = reasons[last..].iter().copied();
    let words: Vec<&str> = rejected
        .into_iter()
        .chain(error)
        .chain(last.filter(|line| Some(*line) != error))
        .collect();
    let words = words.join("; ").replace('\t', " ");
    let mut why: String = words.chars().take(CHARACTERS_MAX).collect();
    let refuses_name = |line: &str| {
        let others = [
            "atomic",
            "unpacker",
            "unable to migrate objects",
            "failed to update ref",
            "non-fast-forward",
        ];
        line.contains(BESIDE) && !others.iter().any(|reason| line.contains(reason))
    };
    if rejected.is_some_and(refuses_name) {
        why.push_str(
            "; a host that takes branches alone has to be added with `remote add --branches`",
        );
    }
    unusable(host, if why.is_empty() { "git failed" } else { &why })
}

fn unusable(host: Host<'_>, why: &str) -> Error {
    Error::Remote(RemoteFault::Unreachable {
        remote: host.name.into(),
        why: why.into(),
        waiting: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_and_words_are_kept_without_control_characters() {
        let (mut said, mut told) = (Vec::new(), Vec::new());
        for line in [
            "Receiving objects:  45% (450/1000), 1.2 MiB",
            "Resolving deltas: 100% (3/3), done.",
            "remote: \u{1b}[31mno\u{1b}[0m",
            "  ",
            "fatal: 50% (of them/all) are gone",
        ] {
            note(line.as_bytes(), &mut said, &mut |done, total| {
                told.push((done, total));
            });
        }
        assert_eq!(told, [(450, 1000), (3, 3)]);
        assert_eq!(
            said,
            ["remote: [31mno[0m", "fatal: 50% (of them/all) are gone"]
        );
    }

    #[test]
    fn a_host_that_is_never_silent_or_says_nothing_is_given_up() {
        let (short, long) = (Duration::from_millis(100), Duration::from_secs(600));
        let endless = "while :; do echo remote: yes >&2; sleep 0.01; done";
        let stalled = "echo remote: yes >&2; exec sleep 600";
        for (script, limits, expected) in [
            (endless, (short, long), Heard::Endless),
            (stalled, (long, short), Heard::Silence),
        ] {
            let mut git = Command::new("sh");
            git.args(["-c", script]).stderr(Stdio::piped());
            let mut child = git.spawn().expect("a shell");
            let words = read_in_background(child.stderr.take().expect("it is piped"));
            let heard = listen(&mut child, &words, limits, &|| false, &mut |_, _| {});
            assert_eq!(heard, expected, "{script}");
            child.kill().expect("it runs");
            child.wait().expect("it ends");
        }
    }

    #[test]
    fn a_host_that_says_much_keeps_its_last_words() {
        let mut said = Vec::new();
        for number in 0..10_000 {
            note(
                format!("remote: {number}").as_bytes(),
                &mut said,
                &mut |_, _| {},
            );
        }
        assert!(said.len() < 100);
        assert_eq!(said.last().map(String::as_str), Some("remote: 9999"));
    }
}
