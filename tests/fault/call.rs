//! System calls as `strace` prints them.

use std::collections::BTreeMap;

/// What is asked of `strace`: every call but those in [`HARMLESS`], its strings whole and in
/// hexadecimal; of `read`, which only moves a place in a file, no bytes.
pub(crate) fn options(place: &str) -> Vec<String> {
    let trace = format!("trace=!{}", HARMLESS.join(","));
    let fixed = [
        "-xx",
        "-a",
        "1",
        "-s",
        "99999999",
        "-e",
        "signal=none",
        "-e",
        "raw=read",
    ];
    let mut options: Vec<String> = fixed.map(str::to_owned).to_vec();
    options.extend(["-e".into(), trace, "-o".into(), place.into()]);
    options
}

/// Calls that change nothing on a disk. Every other has to be modelled: see `recorder`. (A question
/// mark is for those that not every machine has.)
const HARMLESS: &[&str] = &[
    "pread64",
    "preadv",
    "futex",
    "mprotect",
    "munmap",
    "mremap",
    "brk",
    "madvise",
    "statx",
    "fstat",
    "newfstatat",
    "?stat",
    "?lstat",
    "?access",
    "faccessat",
    "?faccessat2",
    "?readlink",
    "readlinkat",
    "getrandom",
    "getdents64",
    "getcwd",
    "statfs",
    "fstatfs",
    "flock",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "clock_gettime",
    "clock_nanosleep",
    "nanosleep",
    "sched_yield",
    "sched_getaffinity",
    "sched_setaffinity",
    "set_robust_list",
    "?rseq",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getpid",
    "gettid",
    "getppid",
    "prctl",
    "?arch_prctl",
    "set_tid_address",
    "prlimit64",
    "?getrlimit",
    "getrusage",
    "sysinfo",
    "uname",
    "?poll",
    "ppoll",
    "restart_syscall",
    "exit",
    "exit_group",
    "pipe2",
    "eventfd2",
    "socket",
    "connect",
];

/// A system call, with what came of it.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) args: Vec<String>,
    pub(crate) result: i64,
    /// The name of the error, such as `ENOENT`; `?` if it did not return.
    pub(crate) error: Option<String>,
}

/// A call begins and ends at two moments, between which other threads make theirs.
pub(crate) enum Moment {
    /// With what is known of it before it returns, and a number of its own.
    Begins(usize, Call),
    Ends(usize, Call),
}

/// The calls of a trace in their order. One that never returned only begins.
pub(crate) fn parse(trace: &str) -> Vec<Moment> {
    let mut begun: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    let mut moments = Vec::new();
    for (number, line) in trace.lines().enumerate() {
        let (thread, text) = line.split_once(' ').expect("a thread's number");
        let text = text.trim_start();
        if text.starts_with("+++") || text.starts_with("---") {
            continue;
        }
        if let Some(part) = text.strip_suffix("<unfinished ...>") {
            let part = part.trim_end();
            moments.push(Moment::Begins(number, Call::parse(part)));
            begun.insert(thread, (number, part.to_owned()));
        } else if let Some((_, rest)) = text.split_once(" resumed>") {
            let (number, part) = begun.remove(thread).expect("it was begun");
            let separator = if part.ends_with(',') { " " } else { "" };
            let whole = format!("{part}{separator}{}", rest.trim_start());
            moments.push(Moment::Ends(number, Call::parse(&whole)));
        } else {
            let call = Call::parse(text);
            moments.push(Moment::Begins(number, call.clone()));
            moments.push(Moment::Ends(number, call));
        }
    }
    moments
}

impl Call {
    fn parse(text: &str) -> Self {
        let (name, rest) = text
            .split_once('(')
            .unwrap_or_else(|| panic!("no call: {text:.200}"));
        assert!(!rest.contains("\"..."), "a string of {name} was cut short");
        let (args, result) = match rest.rfind(") = ") {
            Some(at) => (&rest[..at], &rest[at + 4..]),
            None => (rest, "?"),
        };
        let mut words = result.split(' ');
        let first = words.next().unwrap_or("?");
        Self {
            name: name.to_owned(),
            args: split(args),
            result: number(first).unwrap_or(0),
            // One that never returned was not carried out.
            error: matches!(first, "-1" | "?").then(|| words.next().unwrap_or("?").to_owned()),
        }
    }

    /// The number that an argument is.
    pub(crate) fn number(&self, at: usize) -> i64 {
        let text = self.args.get(at).map_or("", String::as_str);
        number(text).unwrap_or_else(|| panic!("argument {at} of {self:.200?} is no number"))
    }

    /// The bytes of the strings in an argument: one, or those of a list of buffers.
    pub(crate) fn bytes(&self, at: usize) -> Vec<u8> {
        let quoted = self.args[at].split('"').skip(1).step_by(2);
        quoted.flat_map(unhex).collect()
    }

    /// A path, which is UTF-8 here.
    pub(crate) fn path(&self, at: usize) -> String {
        String::from_utf8(self.bytes(at)).expect("UTF-8")
    }

    pub(crate) fn has(&self, at: usize, flag: &str) -> bool {
        let flags = self.args.get(at).map_or("", String::as_str);
        flags.split('|').any(|found| found == flag)
    }
}

fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => i64::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| {
        (byte as char)
            .to_digit(16)
            .expect("hexadecimal")
            .to_le_bytes()[0]
    };
    let bytes = text.as_bytes().chunks_exact(4);
    bytes
        .map(|escaped| digit(escaped[2]) * 16 + digit(escaped[3]))
        .collect()
}

/// Cuts arguments apart where a comma is in no string, list or structure.
fn split(args: &str) -> Vec<String> {
    let (mut depth, mut quoted, mut start, mut found) = (0, false, 0, Vec::new());
    for (at, byte) in args.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' | b'(' => depth += 1,
            b']' | b'}' | b')' => depth -= 1,
            b',' if depth == 0 => {
                found.push(args[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(args[start..].trim().to_owned());
    found
}
