//! What the binary does to a disk, recorded as it runs.
//!
//! `strace` sees every system call, also those that no library makes, in every thread. What could
//! change a file and is not modelled here ends the recording with a panic; and after each process
//! the modelled disk is compared with the real one, byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use crate::fault::call::{self, Call, Moment};
use crate::fault::disk::{Disk, Inode, ROOT, Slot, Step, Target};
use crate::fault::image::{masked, read};
use crate::support::{Home, strace};

/// What was recorded: a disk, and what happened to it from then on.
pub(crate) struct Recording {
    pub(crate) start: Disk,
    pub(crate) steps: Vec<Step>,
}

pub(crate) struct Recorder {
    root: PathBuf,
    disk: Disk,
    pub(crate) recording: Recording,
    runs: usize,
}

/// What is fed to a process.
pub(crate) enum Input<'a> {
    Nothing,
    /// All at once.
    Lines(&'a [String]),
    /// Each after the answer to the one before it.
    InTurn(&'a [String]),
}

impl Recorder {
    /// Takes the home folder as it is now to be on the disk for sure.
    pub(crate) fn new(home: &Home) -> Self {
        let root = home.path().to_owned();
        let disk = Disk::of(&read(&root));
        let recording = Recording {
            start: disk.clone(),
            steps: Vec::new(),
        };
        Self {
            root,
            disk,
            recording,
            runs: 0,
        }
    }

    /// Runs the binary and records what it does. `more` is asked of `strace` besides.
    pub(crate) fn run(
        &mut self,
        home: &Home,
        args: &[&str],
        input: &Input<'_>,
        more: &[String],
    ) -> Output {
        // Outside the home folder, so that nothing recorded is in the way.
        let trace = self.root.with_extension(format!("trace{}", self.runs));
        self.runs += 1;
        let command = home.command(args);
        let mut traced = strace(&more.concat());
        traced
            .args(call::options(trace.to_str().expect("UTF-8")))
            .args(more)
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear()
            .envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .current_dir(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let output = feed(traced.spawn().expect("strace runs"), input);
        let text = fs::read_to_string(&trace).expect("traced");
        fs::remove_file(&trace).expect("there");
        let mut process = Process::new(&self.root, &mut self.disk, &mut self.recording.steps);
        for moment in call::parse(&text) {
            process.take(moment);
        }
        process.stop();
        let (model, real) = (self.disk.image(), read(&self.root));
        assert!(
            model == real,
            "{args:?}: the recorded disk is another: {}",
            model.differs(&real)
        );
        output
    }
}

fn feed(mut child: Child, input: &Input<'_>) -> Output {
    let mut pipe = child.stdin.take().expect("piped");
    let (mut stdout, mut said) = (
        BufReader::new(child.stdout.take().expect("piped")),
        Vec::new(),
    );
    match input {
        Input::Nothing => {}
        Input::Lines(lines) => {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            pipe.write_all(text.as_bytes()).expect("takes input");
        }
        Input::InTurn(lines) => {
            for line in *lines {
                if writeln!(pipe, "{line}").is_err() || stdout.read_until(b'\n', &mut said).is_err()
                {
                    break;
                }
            }
        }
    }
    drop(pipe);
    stdout.read_to_end(&mut said).expect("reads");
    let mut output = child.wait_with_output().expect("ends");
    output.stdout = said;
    output
}

/// An open file, shared by descriptors that were duplicated.
#[derive(Debug, Clone, Copy)]
struct Open {
    inode: Inode,
    at: u64,
    append: bool,
}

/// One process while its calls are told again.
struct Process<'a> {
    root: &'a str,
    disk: &'a mut Disk,
    steps: &'a mut Vec<Step>,
    /// What each descriptor is of, where it is of something recorded.
    descriptors: BTreeMap<i64, usize>,
    open: Vec<Open>,
    execs: usize,
    syncs: usize,
}

impl<'a> Process<'a> {
    fn new(root: &'a Path, disk: &'a mut Disk, steps: &'a mut Vec<Step>) -> Self {
        Self {
            root: root.to_str().expect("UTF-8"),
            syncs: steps.len(),
            disk,
            steps,
            descriptors: BTreeMap::new(),
            open: Vec::new(),
            execs: 0,
        }
    }

    fn step(&mut self, step: Step) {
        self.disk.apply(&step);
        self.steps.push(step);
    }

    fn take(&mut self, moment: Moment) {
        match moment {
            Moment::Begins(number, call) => {
                if let Some(target) = self.synced(&call) {
                    self.step(Step::SyncBegins(self.syncs + number + 1, target));
                } else if call.name == "close" {
                    // Its number is free at once: another thread may have it before this returns.
                    self.descriptors.remove(&call.number(0));
                }
            }
            Moment::Ends(number, call) => {
                if self.synced(&call).is_some() {
                    let number = self.syncs + number + 1;
                    self.step(match call.error.as_deref() {
                        None => Step::SyncEnds(number, true),
                        Some("?") => Step::SyncForgotten(number),
                        Some(_) => Step::SyncEnds(number, false),
                    });
                } else if call.error.is_none() {
                    self.carry_out(&call);
                }
            }
        }
    }

    /// A sync that was never answered made nothing sure, and failed for nobody.
    fn stop(&mut self) {
        let begun = self.disk.syncing();
        for number in begun {
            self.step(Step::SyncForgotten(number));
        }
    }

    /// What a call makes sure.
    fn synced(&self, call: &Call) -> Option<Target> {
        match call.name.as_str() {
            "fsync" | "fdatasync" => {
                let open = self.descriptors.get(&call.number(0))?;
                Some(Target::Of(self.open[*open].inode))
            }
            "syncfs" | "sync" => Some(Target::All),
            _ => None,
        }
    }

    fn carry_out(&mut self, call: &Call) {
        match call.name.as_str() {
            "open" | "creat" | "openat" | "openat2" => self.open(call),
            "dup" | "dup2" | "dup3" => self.duplicate(call),
            "fcntl" if call.args[1].starts_with("F_DUPFD") => self.duplicate(call),
            "fcntl" | "read" | "readv" | "lseek" => self.seek(call),
            "write" | "writev" => self.write(call),
            "pwrite64" | "pwritev" => self.write_at(call),
            "ftruncate" | "fallocate" | "truncate" => self.resize(call),
            "rename" | "renameat" | "renameat2" => self.rename(call),
            "link" | "linkat" => self.link(call),
            "unlink" | "unlinkat" | "rmdir" => self.unlink(call),
            "mkdir" | "mkdirat" => self.make_folder(call),
            "chmod" | "fchmod" | "fchmodat" => self.protect(call),
            "mmap" => assert!(
                !(call.has(2, "PROT_WRITE") && call.has(3, "MAP_SHARED")),
                "not recorded: {call:?}"
            ),
            "clone" | "clone3" => assert!(
                call.args[0].contains("CLONE_THREAD")
                    || call.args.join("").contains("CLONE_THREAD"),
                "not recorded: another process: {call:?}"
            ),
            "execve" => {
                self.execs += 1;
                assert!(self.execs == 1, "not recorded: another program: {call:?}");
            }
            "ioctl" => assert!(call.args[1].starts_with('T'), "not recorded: {call:?}"),
            // They wait for nothing, and make nothing sure; a close counts from when it begins.
            "sync_file_range" | "fadvise64" | "close" => {}
            other => panic!("the recorder does not know what {other} does: {call:.300?}"),
        }
    }

    fn file_of(&mut self, descriptor: i64) -> Option<&mut Open> {
        let at = *self.descriptors.get(&descriptor)?;
        Some(&mut self.open[at])
    }

    /// Where a path leads, below the recorded folder; `None` if it is elsewhere. `at` is the
    /// argument that is the path, `folder` the one that is the folder it is read from.
    fn slot(&mut self, call: &Call, folder: Option<usize>, at: usize) -> Option<Slot> {
        let path = call.path(at);
        let descriptor = folder.filter(|at| call.args[*at] != "AT_FDCWD");
        let (start, rest) = if let Some(rest) = path.strip_prefix('/') {
            let rest = format!("/{rest}");
            let rest = rest
                .strip_prefix(self.root)?
                .trim_start_matches('/')
                .to_owned();
            (ROOT, rest)
        } else if let Some(argument) = descriptor {
            (self.file_of(call.number(argument))?.inode, path)
        } else {
            (ROOT, path)
        };
        let names: Vec<&str> = rest
            .split('/')
            .filter(|name| !matches!(*name, "" | "."))
            .collect();
        assert!(!names.contains(&".."), "not recorded: {call:?}");
        let (last, above) = names.split_last()?;
        let folder = above
            .iter()
            .try_fold(start, |folder, name| self.disk.find(folder, name));
        Some((folder?, (*last).to_owned()))
    }

    fn open(&mut self, call: &Call) {
        let first = usize::from(call.name.starts_with("openat"));
        let folder = (first == 1).then_some(0);
        let (path, flags) = (first, first + 1);
        let has = |flag| call.args[flags].contains(flag);
        if call.path(path) == "." {
            // The same folder once more.
            return self.duplicate(call);
        }
        let writes = has("O_WRONLY") || has("O_RDWR") || has("O_CREAT") || call.name == "creat";
        let Some((folder, name)) = self.slot(call, folder, path) else {
            let found = call.path(path);
            let root = found.trim_end_matches('/') == self.root;
            assert!(
                root || !writes || found.starts_with("/dev/"),
                "not recorded: {call:?}"
            );
            if root {
                self.describe(
                    call.result,
                    Open {
                        inode: ROOT,
                        at: 0,
                        append: false,
                    },
                );
            }
            return;
        };
        // Its mode is in a structure.
        let makes = call.name == "openat2" && has("O_CREAT");
        assert!(!has("O_TMPFILE") && !makes, "not recorded: {call:?}");
        let found = self.disk.find(folder, &name);
        let inode = found.unwrap_or_else(|| {
            let inode = self.disk.unused();
            let mode = call.number(flags + 1);
            self.step(Step::NewFile(inode, masked(mode)));
            self.step(Step::Link((folder, name), inode));
            inode
        });
        if has("O_TRUNC") && self.disk.length(inode) > 0 {
            self.step(Step::Resize(inode, 0));
        }
        self.describe(
            call.result,
            Open {
                inode,
                at: 0,
                append: has("O_APPEND"),
            },
        );
    }

    fn describe(&mut self, descriptor: i64, open: Open) {
        self.open.push(open);
        self.descriptors.insert(descriptor, self.open.len() - 1);
    }

    fn duplicate(&mut self, call: &Call) {
        let found = self.descriptors.get(&call.number(0)).copied();
        match found {
            Some(open) => drop(self.descriptors.insert(call.result, open)),
            None => drop(self.descriptors.remove(&call.result)),
        }
    }

    fn seek(&mut self, call: &Call) {
        let Some(open) = self.file_of(call.number(0)) else {
            return;
        };
        let result = u64::try_from(call.result).expect("it worked");
        match call.name.as_str() {
            "lseek" => open.at = result,
            "read" | "readv" => open.at += result,
            _ => assert!(
                !call.args[1].starts_with("F_SETFL"),
                "not recorded: {call:?}"
            ),
        }
    }

    fn write(&mut self, call: &Call) {
        let descriptor = call.number(0);
        let mut bytes = call.bytes(1);
        bytes.truncate(usize::try_from(call.result).expect("it worked"));
        let Some(open) = self.file_of(descriptor).copied() else {
            if matches!(descriptor, 1 | 2) {
                let lines = bytes.split(|byte| *byte == b'\n').count() - 1;
                self.step(Step::Said(if descriptor == 1 { lines } else { 0 }));
            }
            return;
        };
        let at = if open.append {
            self.disk.length(open.inode)
        } else {
            open.at
        };
        self.file_of(descriptor).expect("open").at = at + bytes.len() as u64;
        self.step(Step::Write(open.inode, at, bytes.into()));
    }

    fn write_at(&mut self, call: &Call) {
        let Some(open) = self.file_of(call.number(0)).copied() else {
            return;
        };
        let mut bytes = call.bytes(1);
        bytes.truncate(usize::try_from(call.result).expect("it worked"));
        let at = u64::try_from(call.number(3)).expect("a place in a file");
        self.step(Step::Write(open.inode, at, bytes.into()));
    }

    fn resize(&mut self, call: &Call) {
        assert!(call.name == "ftruncate", "not recorded: {call:?}");
        let length = u64::try_from(call.number(1)).expect("a length");
        if let Some(open) = self.file_of(call.number(0)).copied() {
            self.step(Step::Resize(open.inode, length));
        }
    }

    fn rename(&mut self, call: &Call) {
        let plain = call.name == "rename";
        let from = self.slot(call, (!plain).then_some(0), usize::from(!plain));
        let to = self.slot(call, (!plain).then_some(2), if plain { 1 } else { 3 });
        let (Some(from), Some(to)) = (from, to) else {
            panic!("not recorded: {call:?}");
        };
        let inode = self.disk.find(from.0, &from.1).expect("it worked");
        self.step(if call.args.last().expect("some").contains("EXCHANGE") {
            let other = self.disk.find(to.0, &to.1).expect("it worked");
            Step::Exchange((from, other), (to, inode))
        } else {
            Step::Rename(from, to, inode)
        });
    }

    fn link(&mut self, call: &Call) {
        let plain = call.name == "link";
        let from = self.slot(call, (!plain).then_some(0), usize::from(!plain));
        let to = self.slot(call, (!plain).then_some(2), if plain { 1 } else { 3 });
        let from = from.and_then(|(folder, name)| self.disk.find(folder, &name));
        let (Some(inode), Some(to)) = (from, to) else {
            panic!("not recorded: {call:?}");
        };
        self.step(Step::Link(to, inode));
    }

    fn unlink(&mut self, call: &Call) {
        let at = call.name == "unlinkat";
        let slot = self.slot(call, at.then_some(0), usize::from(at));
        self.step(Step::Unlink(
            slot.unwrap_or_else(|| panic!("not recorded: {call:?}")),
        ));
    }

    fn make_folder(&mut self, call: &Call) {
        let at = call.name == "mkdirat";
        let slot = self.slot(call, at.then_some(0), usize::from(at));
        let slot = slot.unwrap_or_else(|| panic!("not recorded: {call:?}"));
        let mode = call.number(1 + usize::from(at));
        let inode = self.disk.unused();
        self.step(Step::NewFolder(inode, masked(mode)));
        self.step(Step::Link(slot, inode));
    }

    fn protect(&mut self, call: &Call) {
        let at = usize::from(call.name == "fchmodat");
        let inode = if call.name == "fchmod" {
            self.file_of(call.number(0)).map(|open| open.inode)
        } else {
            let slot = self.slot(call, (at == 1).then_some(0), at);
            slot.and_then(|(folder, name)| self.disk.find(folder, &name))
        };
        let inode = inode.unwrap_or_else(|| panic!("not recorded: {call:?}"));
        let mode = u32::try_from(call.number(at + 1)).expect("a mode");
        self.step(Step::Mode(inode, mode));
    }
}
