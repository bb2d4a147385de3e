//! Hints that depend on what was refused: by the operating system, or in an argument.

use std::io;

/// The error numbers of "too many open files", machine-wide (`ENFILE`) and per process (`EMFILE`),
/// which have no name in the standard library.
const OUT_OF_FILES: [i32; 2] = [23, 24];

/// Returns advice on what the operating system refused.
pub(super) fn of_io(source: &io::Error) -> &'static str {
    let number = source.raw_os_error();
    if number.is_some_and(|number| OUT_OF_FILES.contains(&number)) {
        return "raise the limit of open files (`ulimit -n`), or end what holds so many, and try \
                again; nothing acknowledged was lost";
    }
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space and try again; nothing acknowledged was lost"
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "make both writable: every command is recorded, so the store must be writable by \
             this user, and so must the folder for what was seen of it (XDG_STATE_HOME)"
        }
        io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable => {
            "name another address or port; port 0 is any that is free"
        }
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            "check how its path is written: no such file is there"
        }
        io::ErrorKind::IsADirectory => "name a file: it is a folder",
        _ => "check the disk and try again; nothing acknowledged was lost",
    }
}

/// The arguments that have forms of their own, by their names in errors, and those forms.
const FORMS: [(&str, &str); 32] = [
    (
        "the URL",
        "give https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH or the path of a bare repository; \
         for a password set up git's credential helper",
    ),
    (
        "the configuration file",
        "correct it or move it away; `agekeep config` then shows each value and where it comes from",
    ),
    (
        "the time",
        "give RFC 3339 (2026-11-01T09:00Z), a date, `today`, `yesterday`, or an age: 30m, \
         2h ago, 7d; UTC unless it has an offset",
    ),
    (
        "the time of the key",
        "give RFC 3339 (2026-11-01T09:00Z) or a date; UTC unless it has an offset",
    ),
    (
        "the pattern",
        "give a regular expression without look-around and back-references, such as \
         'refund|return'; with --fixed-strings any text is taken as it is",
    ),
    (
        "the recipient",
        "give `age1…` as `age-keygen -y FILE` prints it, an `ssh-ed25519` or `ssh-rsa` \
         public key, or a file with one of these in it",
    ),
    (
        "the signer's key",
        "name the file of an SSH public key of type ssh-ed25519, such as ~/.ssh/id_ed25519.pub",
    ),
    (
        "the name",
        "give 1 to 64 of A-Z a-z 0-9 . _ - @, a letter or digit first",
    ),
    (
        "the signer's name",
        "give 1 to 64 of A-Z a-z 0-9 . _ - @, a letter or digit first",
    ),
    (
        "the auditor's name",
        "`agekeep members list` shows who is an auditor; a reader uses a copy of the whole store, \
         with its keyring",
    ),
    (
        "the text",
        "convert it to UTF-8 first, for example with `iconv -t UTF-8`",
    ),
    (
        "standard input",
        "give the text with --text, --file or a pipe; `--text ''` means an empty one",
    ),
    (
        "the range of events",
        "give FIRST..LAST, both ends included, such as 40..44 or HEAD~3..HEAD",
    ),
    (
        "the selection",
        "see the events with their paths, actors and sessions with `agekeep log`; nothing was \
         changed",
    ),
    (
        "a hold without a reason",
        "give the reason, such as --reason 'case 17'",
    ),
    (
        "what to redact",
        "give a revision and a path, such as HEAD:notes.md; `agekeep rules test` tries the rules on \
         a text",
    ),
    (
        "a restore without a moment",
        "`agekeep log` with the path shows the events; `agekeep restore PATH --from 12` brings back \
         the file as it was after event 12",
    ),
    (
        "--max-age",
        "give a number with its unit: 30min, 26h, 7d or 2w",
    ),
    ("the outcome", "give ok, error or denied"),
    (
        "the command's name",
        "give a command as `agekeep log` shows it, such as view, create or policy_set",
    ),
    (
        "the glob",
        "give a path in which * and ? stand for any characters, ** for any folders, and {a,b} for \
         one of several, such as 'people/**'",
    ),
    (
        "the actor",
        "name yourself with --actor NAME, or with AGEKEEP_ACTOR",
    ),
    (
        "the request",
        "go back, and follow a link of these pages or send one of their forms",
    ),
    (
        "the report",
        "name the file of a report; its note is beside it, as FILE.note",
    ),
    (
        "the period",
        "give a year, a quarter or a month (2026, 2026-Q3, 2026-09), or --since and --until",
    ),
    ("--order", "leave --order out, or say --order asc"),
    (
        "the cursor",
        "give the number of an event, or its whole commit, as `agekeep log --json` shows them",
    ),
    (
        "the checkpoint",
        "give a file that `agekeep checkpoint` printed",
    ),
    (
        "the key",
        "run `agekeep policy get` to see every key with its value",
    ),
    (
        "the reason",
        "give the reason with --reason TEXT; it is recorded",
    ),
    (
        "an erasure without a reason",
        "give the reason, such as --reason 'request 4711'; nothing was changed",
    ),
    (
        "an erasure that nobody confirms",
        "see with --dry-run what it would destroy, and then say --yes; nothing was changed",
    ),
];

/// Returns advice on an argument that cannot be used.
pub(super) fn of_argument(what: &str) -> &'static str {
    let known = FORMS.iter().find(|(name, _)| *name == what);
    known.map_or("see `agekeep --help`; nothing was changed", |(_, form)| {
        form
    })
}
