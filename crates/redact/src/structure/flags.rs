//! Passwords that programs take as arguments: `mysql -pX`, `curl -u user:X`, `add_user bob X`.
//!
//! `rules/flags.toml` says which program takes a password, and where. The programs before an option
//! are tried from the nearest one on.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::rules::form::Form;
use crate::span::Span;
use crate::structure::command::{KIND, argument, is_path, is_shell};
use crate::structure::near::{ahead, is_blank, report, run, run_back, stands};
use crate::structure::value::{is_opaque, is_placeholder};

/// A way in which a program takes a password.
struct Flag {
    /// The program and its subcommands, in lower case.
    program: &'static [&'static str],
    /// The option. For arguments, it is the number of the argument or the mark inside it.
    option: &'static str,
    form: Form,
}

include!(concat!(env!("OUT_DIR"), "/flags.rs"));

/// The flags of each program, by its first word.
static PROGRAMS: LazyLock<HashMap<&'static [u8], Vec<&'static Flag>>> = LazyLock::new(|| {
    let mut programs: HashMap<_, Vec<_>> = HashMap::new();
    for flag in FLAGS {
        let first = flag.program[0].as_bytes();
        programs.entry(first).or_default().push(flag);
    }
    programs
});

/// Longest distance from the name of a program to its option, in bytes.
const COMMAND_MAX: usize = 384;
/// Most words of a command that are read.
const WORDS_MAX: usize = 48;
/// Longest word of a command that can be a program, in bytes.
const PROGRAM_MAX: usize = 64;
/// Most words behind a program that are searched for its argument.
const ARGUMENTS_MAX: usize = 12;

/// Words that continue a sentence: the text before them is no command.
const SENTENCE: &[&str] = crate::lists::FLAGS_SENTENCE;

/// Finds the password of the option behind the blank or quote at `at`. Returns true if the program
/// that reads the option is known.
pub(super) fn option(text: &[u8], at: usize, found: &mut Vec<Span>) -> bool {
    let Some((flag, end)) = flag_at(text, at) else {
        return false;
    };
    if flag.form != Form::Other
        && let Some(start) = behind_option(text, at, end, flag)
    {
        take(text, start, flag, found);
    }
    true
}

/// Returns the flag for the option behind `at`, and the end of the option.
fn flag_at(text: &[u8], at: usize) -> Option<(&'static Flag, usize)> {
    let start = at + 1;
    let words = words_before(text, at);
    let fits = |flag: &&&Flag| has_option(flag.form) && is_option(text, start, flag);
    for (nth, word) in words.iter().enumerate().rev() {
        let Some(flags) = program(word).and_then(|name| PROGRAMS.get(&*name)) else {
            continue;
        };
        let those = flags.iter().filter(|flag| follow(flag, &words[nth + 1..]));
        let best = those
            .filter(fits)
            .max_by_key(|flag| (flag.option.len(), flag.program.len()));
        if let Some(flag) = best {
            return Some((flag, start + flag.option.len()));
        }
    }
    None
}

/// Tells whether an option marks the place of the password.
fn has_option(form: Form) -> bool {
    !matches!(form, Form::Argument | Form::Line | Form::Input)
}

/// Tells whether the option of a flag stands at `at`, and is not just the start of a longer one.
fn is_option(text: &[u8], at: usize, flag: &Flag) -> bool {
    let option = flag.option.as_bytes();
    let stands = match option[0] {
        b'/' => stands(text, at, option),
        _ => ahead(text, at, option.len()) == option,
    };
    let next = text.get(at + option.len()).copied();
    let apart = matches!(next, Some(b' ' | b'\t' | b'"' | b'\'' | b'='));
    let long = option.len() > 2;
    stands
        && match flag.form {
            Form::Attached => next.is_some_and(|b| !is_blank(b) && (b != b'=' || long)),
            Form::Word | Form::Prefixed => apart,
            // For a short option, `-u=x` has the `=` inside the value.
            _ => apart || !long && next.is_some_and(|b| b > b' '),
        }
}

/// Tells whether the other words of a flag's program follow in order.
fn follow(flag: &Flag, words: &[&[u8]]) -> bool {
    let mut words = words.iter();
    flag.program[1..]
        .iter()
        .all(|part| words.any(|word| word.eq_ignore_ascii_case(part.as_bytes())))
}

/// Returns the words of a command before `at`, in order.
fn words_before(text: &[u8], at: usize) -> Vec<&[u8]> {
    let parts = |b: &u8| b.is_ascii_whitespace() || b"\"'`()[]{},\\=$".contains(b);
    let words = text[command_start(text, at)..at].rsplit(parts);
    let words = words.filter(|word| !word.is_empty()).take(WORDS_MAX);
    let mut words: Vec<&[u8]> = words.collect();
    words.reverse();
    words
}

/// Returns the start of the command around `at`: behind the line before, unless that goes on, and
/// behind a mark that ends another command.
fn command_start(text: &[u8], at: usize) -> usize {
    let floor = at.saturating_sub(COMMAND_MAX);
    let mut start = at;
    while start > floor {
        let ends = match text[start - 1] {
            b'\n' => !goes_on(&text[floor..start - 1]),
            b'|' | b';' | b'&' => text.get(start).is_none_or(u8::is_ascii_whitespace),
            _ => false,
        };
        if ends {
            break;
        }
        start -= 1;
    }
    start
}

/// Tells whether a line goes on in the next one: in a shell, or in a list of arguments.
fn goes_on(line: &[u8]) -> bool {
    matches!(
        line.trim_ascii_end().last(),
        Some(b'\\' | b'^' | b'`' | b',')
    )
}

/// Returns the name of a program in lower case, without its folder and its extension.
fn program(word: &[u8]) -> Option<Vec<u8>> {
    let name = memchr::memrchr(b'/', word).map_or(word, |slash| &word[slash + 1..]);
    if name.is_empty() || name.len() > PROGRAM_MAX {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let short = [&b".exe"[..], b".cmd", b".bat", b".jar", b".sh"];
    let short = short.iter().find_map(|end| name.strip_suffix(*end));
    Some(match short {
        Some(short) if !PROGRAMS.contains_key(&*name) => short.to_vec(),
        _ => name,
    })
}

/// Returns the start of the value behind an option.
fn behind_option(text: &[u8], at: usize, end: usize, flag: &Flag) -> Option<usize> {
    let next = *text.get(end)?;
    if flag.form == Form::Attached {
        return Some(end);
    }
    if matches!(text[at], b'"' | b'\'') && next == text[at] {
        // In a list: `["-p", "X"]`.
        let gap = run(ahead(text, end + 1, 40), 0, |b| {
            b == b',' || b.is_ascii_whitespace()
        });
        return (gap > 0).then_some(end + 1 + gap);
    }
    match next {
        b'=' if flag.option.len() > 2 => Some(end + 1),
        b if is_blank(b) => Some(over_blanks(text, end)),
        _ => Some(end),
    }
}

/// Skips blanks, and the end of a line that goes on.
fn over_blanks(text: &[u8], at: usize) -> usize {
    let start = at + run(ahead(text, at, 64), 0, is_blank);
    let rest = ahead(text, start, 3);
    let next = match rest {
        [b'\\' | b'^' | b'`', b'\n', ..] => start + 2,
        [b'\\' | b'^' | b'`', b'\r', b'\n'] => start + 3,
        _ => return start,
    };
    next + run(ahead(text, next, 64), 0, is_blank)
}

/// Returns the word of a command that begins at `at`, without its quotes, and its end.
fn word(text: &[u8], at: usize) -> (Range<usize>, usize) {
    // `$'…'` of a shell.
    let ansi = ahead(text, at, 2) == b"$'";
    argument(text, at + usize::from(ansi))
}

/// Reports the password at `at` in the form of the flag.
fn take(text: &[u8], at: usize, flag: &Flag, found: &mut Vec<Span>) {
    let (value, next) = word(text, at);
    let bytes = &text[value.clone()];
    let quoted = value.start > at;
    if bytes.is_empty() || !quoted && bytes.starts_with(b"-") {
        return;
    }
    match flag.form {
        Form::Colon => pair(text, value, b':', found),
        Form::Percent => pair(text, value, b'%', found),
        Form::Comma => pair(text, value, b',', found),
        Form::Prefixed => {
            if stands(text, value.start, b"pass:") && value.len() > "pass:".len() {
                report(text, value.start + "pass:".len()..value.end, KIND, found);
            }
        }
        Form::Item => item(text, value, next, found),
        Form::Field => field(text, value, found),
        _ => plain(text, value, quoted, found),
    }
}

/// Reports a password on its own.
fn plain(text: &[u8], value: Range<usize>, quoted: bool, found: &mut Vec<Span>) {
    let bytes = &text[value.clone()];
    let refused = is_path(bytes) || is_sentence(bytes) || opens_code(bytes);
    if quoted || !refused {
        report(text, value, KIND, found);
    }
}

/// Tells whether a word continues a sentence.
fn is_sentence(word: &[u8]) -> bool {
    SENTENCE
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Tells whether a value begins an expression that computes one.
fn opens_code(value: &[u8]) -> bool {
    value.starts_with(b"(") || value.starts_with(b"@(") || value.starts_with(b"[")
}

/// Reports the password behind the mark in `user:password`.
pub(super) fn pair(text: &[u8], value: Range<usize>, mark: u8, found: &mut Vec<Span>) {
    let bytes = &text[value.clone()];
    let Some(at) = memchr::memchr(mark, bytes) else {
        // The colon behind an API key was taken for punctuation.
        if mark == b':' && text.get(value.end) == Some(&b':') && is_opaque(bytes, 12) {
            report(text, value, KIND, found);
        }
        return;
    };
    if bytes.windows(3).any(|s| s == b"://") {
        return;
    }
    let user = value.start..value.start + at;
    let password = user.end + 1..value.end;
    // An API key as the user with no password: `curl -u KEY:`.
    if password.is_empty() && is_opaque(&text[user.clone()], 12) {
        report(text, user, KIND, found);
    } else if !password.is_empty() {
        report(text, password, KIND, found);
    }
}

/// Names of items that are no secrets.
const OPEN_ITEMS: &[&str] = &[
    "database", "db", "dbname", "email", "endpoint", "host", "hostname", "login", "name", "port",
    "region", "server", "url", "user", "username",
];

/// Reports the value behind the `=` in `name=value`. Quotes may stand around both or around the
/// value.
fn item(text: &[u8], value: Range<usize>, next: usize, found: &mut Vec<Span>) {
    let Some(sign) = memchr::memchr(b'=', &text[value.clone()]) else {
        return;
    };
    let name = &text[value.start..value.start + sign];
    let last = name.rsplit(|b| !b.is_ascii_alphanumeric()).next();
    let is = |open: &&str| last.is_some_and(|last| last.eq_ignore_ascii_case(open.as_bytes()));
    if OPEN_ITEMS.iter().any(is) {
        return;
    }
    let start = value.start + sign + 1;
    let inner = if start < value.end {
        start..value.end
    } else {
        word(text, next.max(start)).0
    };
    plain(text, inner.clone(), inner.start > start, found);
}

/// Reports the password in a list of `name=value` between commas.
fn field(text: &[u8], value: Range<usize>, found: &mut Vec<Span>) {
    const NAMES: [&[u8]; 4] = [b"password=", b"pass=", b"passwd=", b"password2="];
    let mut start = value.start;
    for part in text[value.clone()].split(|b| *b == b',') {
        let end = start + part.len();
        if let Some(name) = NAMES.iter().find(|name| stands(text, start, name)) {
            let from = start + name.len();
            if from < end {
                report(text, from..end, KIND, found);
            }
        }
        start = end + 1;
    }
}

/// Finds the password behind the program whose name begins at `at`. Returns true if a known program
/// takes one there.
pub(super) fn behind_program(text: &[u8], at: usize, found: &mut Vec<Span>) -> bool {
    let before = at.checked_sub(1).map(|before| text[before]);
    if before.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')) {
        return false;
    }
    let first = at
        + run(ahead(text, at, PROGRAM_MAX), 0, |b| {
            !b.is_ascii_whitespace()
        });
    let name = text[at..first].to_ascii_lowercase();
    let Some(flags) = PROGRAMS.get(&*name) else {
        return false;
    };
    let phrase = |flag: &&&Flag| {
        let mut end = at;
        let all = flag.program.iter().all(|part| {
            let here = stands(text, end, part.as_bytes());
            end += part.len() + 1;
            here && text.get(end - 1) == Some(&b' ')
        });
        let place = flag.form == Form::Argument || flag.form == Form::Line && begins_line(text, at);
        place && all
    };
    let Some(flag) = flags
        .iter()
        .filter(phrase)
        .max_by_key(|flag| flag.program.len())
    else {
        return false;
    };
    let length: usize = flag.program.iter().map(|part| part.len() + 1).sum();
    nth_word(text, at + length - 1, flag, found);
    true
}

/// Tells whether only blanks, a prompt or a mark of a list stand before `at` on its line.
fn begins_line(text: &[u8], at: usize) -> bool {
    let start = run_back(text, at, 96, |b| b != b'\n');
    let line = text[start..at].trim_ascii();
    line.is_empty() || matches!(line.last(), Some(b'#' | b'>' | b'$' | b'+' | b'-' | b'`'))
}

/// Reports the argument of a program that its flag points to.
fn nth_word(text: &[u8], at: usize, flag: &Flag, found: &mut Vec<Span>) {
    let sign = flag.option.as_bytes()[0];
    let (mut next, mut count) = (at, b'0');
    for _ in 0..ARGUMENTS_MAX {
        if !text.get(next).copied().is_some_and(is_blank) {
            return;
        }
        let start = over_blanks(text, next);
        let (value, end) = word(text, start);
        let bytes = &text[value.clone()];
        if bytes.is_empty() {
            return;
        }
        let quoted = value.start > start;
        // Trailing punctuation belongs to the word: `Z:`.
        next = if quoted {
            end
        } else {
            run(text, end, is_shell)
        };
        if !quoted && (bytes[0] == b'-' || is_option_of_windows(bytes, flag)) {
            continue;
        }
        // The way in which a device hides the value, as a number: `password 7 X`.
        let level = flag.form == Form::Line && matches!(bytes, [b'0' | b'5'..=b'9']);
        if level && text.get(next) == Some(&b' ') {
            continue;
        }
        if !quoted && (is_sentence(bytes) || matches!(bytes[0], b'>' | b'<' | b'&')) {
            return;
        }
        count += 1;
        if sign.is_ascii_digit() && count == sign {
            return argument_of(text, value, end, quoted, flag, found);
        }
        if !sign.is_ascii_digit() && bytes.contains(&sign) {
            return login(text, value, sign, found);
        }
    }
}

/// Tells whether a word is an option as Windows has them.
fn is_option_of_windows(word: &[u8], flag: &Flag) -> bool {
    flag.program[0] == "net" && word[0] == b'/'
}

/// Reports an argument, unless it is a word in a sentence. A plain word must end its command, or
/// stand in the line of a device.
fn argument_of(
    text: &[u8],
    value: Range<usize>,
    end: usize,
    quoted: bool,
    flag: &Flag,
    found: &mut Vec<Span>,
) {
    let bytes = &text[value.clone()];
    let word = bytes.iter().all(u8::is_ascii_lowercase);
    let rest = ahead(text, end, 16).trim_ascii_start();
    let ends = ahead(text, end, 1)
        .iter()
        .all(|b| matches!(b, b'\n' | b'\r'))
        || rest
            .first()
            .is_none_or(|b| b"-/`\"'|&;>)#\\\n\r".contains(b))
        || flag.form == Form::Line;
    if quoted || !word || ends {
        plain(text, value, quoted, found);
    }
}

/// Reports the password of `user/password@host`, where `mark` stands before the password.
fn login(text: &[u8], value: Range<usize>, mark: u8, found: &mut Vec<Span>) {
    let bytes = &text[value.clone()];
    let Some(first) = memchr::memchr(mark, bytes) else {
        return;
    };
    let host = memchr::memrchr(b'@', bytes).filter(|at| *at > first);
    let end = host.unwrap_or(bytes.len());
    let (user, password) = (&bytes[..first], &bytes[first + 1..end]);
    // Without a host it may be a path or a pair of another kind.
    let path = host.is_none() && (mark == b'/' && password.contains(&mark) || is_path(bytes));
    let named = user.first().is_some_and(|b| !matches!(b, b'@' | b'.'));
    let placed = named && !password.is_empty() && !is_placeholder(user);
    if placed && !path && !bytes.windows(3).any(|s| s == b"://") {
        report(
            text,
            value.start + first + 1..value.start + end,
            KIND,
            found,
        );
    }
}

/// The secret that a command reads from its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlagInput {
    Password,
    /// `user:password`.
    Login,
}

/// Returns the secret that a command reads from its standard input, if it reads one.
pub(super) fn reads_input(command: &[u8]) -> Option<FlagInput> {
    let words = words_before(command, command.len());
    let has = |option: &str| words.contains(&option.as_bytes());
    if has("--password-stdin") {
        return Some(FlagInput::Password);
    }
    words.iter().enumerate().find_map(|(nth, word)| {
        let flags = program(word).and_then(|name| PROGRAMS.get(&*name))?;
        let flag = flags.iter().find(|flag| {
            let asked = matches!(flag.option, "" | ":") || has(flag.option);
            flag.form == Form::Input && asked && follow(flag, &words[nth + 1..])
        })?;
        let login = flag.option == ":";
        Some(if login {
            FlagInput::Login
        } else {
            FlagInput::Password
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::harness::{finds, keeps};

    #[test]
    fn every_form_is_read() {
        finds(
            KIND,
            &[
                "mosquitto_pub -u s -P «heron» -t t",
                "C:\\x\\plink.exe -pw «heron» bob@h",
                "rdesktop -u bob -p«heron» h",
                "curl -u 'bob:«he ron»' https://h",
                "smbclient //h/s -U 'ACME\\bob%«he ron»'",
                "lftp -u bob,«heron» ftp.example.com",
                "openssl enc -pass 'pass:«he ron»'",
                "kubectl -n x create secret generic y --from-literal=token='«he ron»'",
                "mount -t cifs //h/s /m -o user=bob,pass=«heron»,ro",
                "rabbitmqctl add_user bob «heron»\n",
                "ppp chap password 7 «0822455D0A16»\n",
                "sqlplus -S hr/«heron»@//h:1521/x",
                "az storage blob list --account-key \\\n   \"«he ron»\" \\\n -o tsv",
                "[\"xfreerdp\",\n \"/u:bob\", \"/p:«heron»\"]",
                "sshpass -p '«heron»' ssh -p 2222 h",
            ],
        );
    }

    #[test]
    fn what_is_no_password_stays() {
        keeps(
            KIND,
            &[
                "mosquitto_pub -P \"$PW\" -t t",
                "the option -P of mosquitto_pub is new",
                "use redis-cli -a for that",
                "ssh -p 2222 h",
                "sshpass -e ssh -p 2222 h",
                "sshpass -e scp -P 2222 a h:",
                "docker login && docker run -p 8080:80 x",
                "hydra -l bob -P words.txt -p guess h",
                "openssl enc -pass file:pw.txt",
                "openssl enc -pass env:PW",
                "kubectl create secret generic x --from-literal=username=bob",
                "kubectl create secret generic x --from-file=token=t.txt",
                "mount -o ro,user=bob /dev/sda1 /mnt",
                "sqlplus / as sysdba",
                "sqlplus @reports/all.sql",
                "rabbitmqctl add_user bob \"$PW\"",
                "call rabbitmqctl add_user and then go on",
                "net use of cash in operations",
                "set snmp community to the one of the office",
                "enable password for all accounts\n",
                "keytool -storepass:env PW",
                "mkpassword -P x",
            ],
        );
    }

    #[test]
    fn commands_that_read_a_password() {
        assert_eq!(reads_input(b"sudo -S ls"), Some(FlagInput::Password));
        assert_eq!(reads_input(b" sudo chpasswd -e"), Some(FlagInput::Login));
        assert_eq!(
            reads_input(b"docker login --password-stdin"),
            Some(FlagInput::Password)
        );
        for command in [&b"sudo ls"[..], b"tee x", b"docker login", b""] {
            assert_eq!(reads_input(command), None);
        }
    }
}
