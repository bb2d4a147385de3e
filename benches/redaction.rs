//! What redaction costs: on text as it comes, on one memory, on the worst that can be thought of,
//! and the first time in a process. `cargo bench --bench redaction` prints the figures of docs/performance.md.

#![allow(clippy::print_stdout, clippy::unwrap_used)] // a report, and nobody to hand an error to

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use agekeep::redact::Redactor;
use agekeep::{Digest, Text};

/// Bytes of each kind of text, with `cargo bench` and under `cargo test`.
const FULL: usize = 8 * 1024 * 1024;
const SMALL: usize = 32 * 1024;
/// How much of a text is redacted at once.
const PIECE: usize = 64 * 1024;
/// Tells a process of this program to redact once and report on itself.
const FIRST_USE: &str = "AGEKEEP_BENCH_FIRST_USE";

fn main() {
    if std::env::var_os(FIRST_USE).is_some() {
        return first_use();
    }
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let bytes = if measuring { FULL } else { SMALL };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    println!(
        "{:<34} {:>10}  against SHA-256 of the same bytes",
        "redaction of", "MB/s"
    );
    for (name, text) in [
        ("documentation", gather(root, &["docs"], bytes)),
        (
            "code",
            gather(
                root,
                &["src/store", "src/repository", "src/bin", "tests"],
                bytes,
            ),
        ),
    ] {
        row(name, &text, PIECE);
    }
    for (name, unit) in WORST {
        let text = unit.repeat(bytes.min(1024 * 1024) / unit.len() + 1);
        row(&format!("worst: {name}"), &text, text.len());
    }
    for (unit, end) in OPENINGS.iter().flat_map(|unit| [(unit, ""), (unit, "\n")]) {
        let unit = format!("{unit}{end}");
        let text = unit.repeat(bytes.min(1024 * 1024) / unit.len() + 1);
        row(&format!("worst: {unit:?}"), &text, text.len());
    }
    one_memory(
        &gather(root, &["docs"], 4 * 1024),
        if measuring { 2_000 } else { 5 },
    );
    spawn_first_use(if measuring { 20 } else { 1 });
}

/// Texts made to cost: what opens rules and closes none, what closes many, what is encoded.
const WORST: &[(&str, &str)] = &[
    ("assignments", "password=aB3$xY9!qw; "),
    ("names without values", "password secret token key "),
    ("prefixes", "ghp_AKIAxoxb-sk-ant-eyJhvs.npm_"),
    ("headers of blocks", "-----BEGIN RSA PRIVATE KEY-----\n"),
    ("userinfo", "a://b:c@"),
    ("base64", "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQg"),
    (
        "lines of base64",
        "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQg\n",
    ),
    ("percent escapes", "%70%61%73%73%3D"),
    ("unicode escapes", "\\u0070\\u0061"),
    ("joined strings", "\"ghp_a\" + "),
    ("hidden characters", "g\u{200b}h\u{200b}p_"),
    ("heads of tables", "|password|token|\n|---|---|\n"),
    ("digits", "4111 1111 1111 1112 "),
    ("broken lines", "ghp_XcwM0kYq2RvTn7L\nbPz4HsJd9UfGe3A1\n"),
];

/// What opens a rule and never closes it, repeated with and without an end of the line.
const OPENINGS: &[&str] = &[
    "password:",
    "password: ",
    "secret=",
    "token ",
    "Bearer ",
    "AccountKey=",
    " -p",
    " -u",
    "key",
    "Authorization: ",
    "Cookie: a=b; ",
    "machine x login y password z ",
    "-----END",
    "PuTTY-User-Key-File-2: ",
    "\"kty\"",
    "client-key-data: ",
    "otpauth://",
    "://",
    "@",
    ":5432:",
    "+ASt",
    "JQQJ99",
    "eyJ",
    "$2y$",
    "sig=",
    "hooks.slack.com/services/",
    "AKIA",
    "| ",
    "auth",
];

/// Files below some places, repeated up to a size.
fn gather(root: &Path, places: &[&str], bytes: usize) -> String {
    let mut text = String::new();
    for place in places {
        collect(&root.join(place), &mut text);
    }
    let mut all = text.repeat(bytes / text.len() + 1);
    let mut end = bytes;
    while !all.is_char_boundary(end) {
        end -= 1;
    }
    all.truncate(end);
    all
}

fn collect(path: &Path, text: &mut String) {
    if path.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        entries.sort();
        for entry in &entries {
            collect(entry, text);
        }
        return;
    }
    let known = path
        .extension()
        .is_some_and(|end| end == "rs" || end == "md");
    if known {
        text.push_str(&fs::read_to_string(path).unwrap());
    }
}

/// A row of the report, unless the command line names another.
fn row(name: &str, text: &str, piece: usize) {
    let mut wanted = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    if wanted.next().is_some_and(|wanted| !name.contains(&wanted)) {
        return;
    }
    let redactor = Redactor::default();
    let mut pieces: Vec<Text> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = piece.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        pieces.push(rest[..end].into());
        rest = &rest[end..];
    }
    let scan = || {
        for piece in &pieces {
            drop(redactor.redact("", piece));
        }
    };
    scan();
    let redaction = timed(scan);
    let digest = timed(|| {
        for piece in &pieces {
            std::hint::black_box(Digest::of(piece.as_str().as_bytes()));
        }
    });
    #[allow(clippy::cast_precision_loss)] // a few million bytes
    let speed = text.len() as f64 / 1e6 / redaction.as_secs_f64();
    let over = redaction.as_secs_f64() / digest.as_secs_f64();
    println!("{name:<34} {speed:>10.1}  {over:.1} x");
}

fn one_memory(text: &str, times: usize) {
    let (redactor, text) = (Redactor::default(), Text::from(text));
    let mut each: Vec<Duration> = (0..times)
        .map(|_| timed(|| drop(redactor.redact("", &text))))
        .collect();
    each.sort_unstable();
    let median = each[each.len() / 2].as_secs_f64() * 1e6;
    println!("{:<34} {median:>10.1}  microseconds", "one memory of 4 KB");
}

/// Redacts once, and reports how long it took and how much memory the process has had.
fn first_use() {
    let before = peak_kib();
    let token = ["gh", "p_XcwM0kYq2RvTn7LbPz4HsJd9UfGe3A1CmK5s"].concat();
    let text = format!(
        "{}\ntoken: {token}\n",
        "Deploys go out on Tuesdays. ".repeat(36)
    );
    let took = timed(|| drop(Redactor::default().redact("", &text.as_str().into())));
    println!("{} {}", took.as_micros(), peak_kib() - before);
}

fn spawn_first_use(times: usize) {
    let mut all: Vec<(u64, u64)> = (0..times)
        .map(|_| {
            let program = std::env::current_exe().unwrap();
            let output = Command::new(program).env(FIRST_USE, "1").output().unwrap();
            let line = String::from_utf8(output.stdout).unwrap();
            let (micros, kib) = line.trim().split_once(' ').unwrap();
            (micros.parse().unwrap(), kib.parse().unwrap())
        })
        .collect();
    all.sort_unstable();
    let (micros, kib) = all[all.len() / 2];
    #[allow(clippy::cast_precision_loss)] // milliseconds
    let millis = micros as f64 / 1e3;
    println!(
        "{:<34} {millis:>10.2}  milliseconds, {kib} KiB",
        "first use in a process, 1 KB"
    );
}

/// The most memory this process has had resident, in KiB.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let digits = line.and_then(|line| line.split_whitespace().nth(1));
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}
