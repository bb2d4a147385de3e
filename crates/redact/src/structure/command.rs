//! Passwords among the arguments of a command. `flags` reads the table of programs; this module
//! reads what has no place in a table.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::entropy::Makeup;
use crate::named::refers;
use crate::span::Span;
use crate::structure::near::{
    ahead, find, is_bare, is_blank, is_wide, is_word, line_before, report, run, stands, value,
    words,
};
use crate::structure::value::{is_opaque, is_placeholder};
use crate::structure::{echo, flags};

/// Longest distance from the name of a user to a password on a line, in bytes.
const COMMAND_MAX: usize = 256;

/// Finds the password that the option or program at `at` takes.
pub(crate) fn any(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let next = text.get(at + 1);
    if matches!(text[at], b' ' | b'"' | b'\'') && matches!(next, Some(b'-' | b'/')) {
        if !flags::option(text, at, found) && stands(text, at, b" -p ") {
            beside_user(text, at, found);
        }
    } else if text[at] == b'<' {
        echo::here(text, at, found);
    } else if stands(text, at, b"echo ") || stands(text, at, b"printf ") {
        echo::written(text, at, found);
    } else if stands(text, at, b"send") {
        echo::answer(text, at, found);
    } else if stands(text, at, b"htpasswd ") {
        htpasswd(text, at, found);
    } else if stands(text, at, b"net user ") {
        net_user(text, at, found);
    } else if !flags::behind_program(text, at, found) {
        named(text, at, found);
    }
}

/// Finds the value of a variable or option whose name says that it is secret.
fn named(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let upper = text[at].is_ascii_uppercase() && !stands(text, at, b"PASSWORD ");
    if upper && is_variable(text, at) {
        variable(text, at, found);
    } else {
        long(text, at, found);
    }
}

/// Endings of the variables that programs read a password from.
const VARIABLES: &[&[u8]] = &[
    b"PASSWORD",
    b"PASSWD",
    b"PASSPHRASE",
    b"MYSQL_PWD",
    b"SSHPASS",
    b"REDISCLI_AUTH",
];

/// Tells whether the literal at `at` ends one of the variables: `DB_PASSWORD_FILE=` names a file.
fn is_variable(text: &[u8], at: usize) -> bool {
    let name = run(ahead(text, at, 32), 0, |b| {
        b.is_ascii_uppercase() || b == b'_'
    });
    let ends = VARIABLES
        .iter()
        .any(|word| text[at..at + name].ends_with(word));
    ends && text.get(at + name) == Some(&b'=') && (at == 0 || text[at - 1] != b'-')
}

/// Finds the value of `-p` of any program, beside the name of a user.
fn beside_user(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let line = line_before(text, at, COMMAND_MAX);
    // Only the last command of a line counts.
    let cut = line.iter().rposition(|b| matches!(b, b'|' | b';' | b'&'));
    let line = &line[cut.map_or(0, |i| i + 1)..];
    let (value, _) = argument(text, at + " -p".len());
    if NAMES_USER.is_match(line) && is_strong(&text[value.clone()]) {
        plain(text, value, found);
    }
}

/// Options that name a user: beside one, `-p` is likelier a password than a port or path.
static NAMES_USER: LazyLock<AhoCorasick> =
    LazyLock::new(|| words(&[" -u ", " --user ", " --username ", " -l "]));

/// Tells whether a value is a password whatever program reads it: letters, digits and no path or
/// pair.
fn is_strong(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    value.len() >= 8
        && makeup.letters() > 0
        && makeup.digits > 0
        && makeup.classes() >= 3
        && !value.iter().any(|b| matches!(b, b'/' | b':' | b'=' | b','))
        && !refers(value)
}

/// Reports a password on its own.
fn plain(text: &[u8], value: Range<usize>, found: &mut Vec<Span>) {
    if !text[value.clone()].starts_with(b"-") {
        report(text, value, KIND, found);
    }
}

/// Finds the password in `htpasswd -b file user password`. After `-n` there is no file.
fn htpasswd(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let mut next = at + "htpasswd".len();
    let (mut batch, mut shown, mut words) = (false, false, Vec::new());
    for _ in 0..10 {
        let (word, end) = argument(text, next);
        if word.is_empty() || text.get(next) != Some(&b' ') {
            break;
        }
        let bytes = &text[word.clone()];
        if bytes.starts_with(b"-") {
            batch |= bytes.contains(&b'b');
            shown |= bytes.contains(&b'n');
        } else {
            words.push(word);
        }
        next = end;
    }
    let index = if shown { 1 } else { 2 };
    if let Some(password) = words.get(index).filter(|_| batch) {
        plain(text, password.clone(), found);
    }
}

/// Finds the password in `net user name password /add`.
fn net_user(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let (_, next) = argument(text, at + "net user".len());
    let (password, _) = argument(text, next);
    let bytes = &text[password.clone()];
    let line = ahead(text, password.end, 64);
    let line = &line[..run(line, 0, |b| !matches!(b, b'\n' | b'\r'))];
    let command = find(line, "/add").is_some() || find(line, "/domain").is_some();
    if !bytes.starts_with(b"/")
        && !bytes.starts_with(b"*")
        && (command || is_opaque(bytes, 6))
        && !is_placeholder(bytes)
        && bytes.iter().all(|b| is_shell(*b))
    {
        plain(text, password, found);
    }
}

// Passwords in options and variables of a command: `--password x`, `PGPASSWORD=x`.

pub(super) const KIND: &str = "cli-password";

/// Tells whether a byte may stand in an unquoted word of a shell.
pub(super) fn is_shell(b: u8) -> bool {
    b > b' ' && b != 0x7f && !is_wide(b) && !matches!(b, b'"' | b'\'' | b'`' | b'|' | b';')
}

/// Finds the value of an option whose name says that it is secret, with two dashes or one.
pub(crate) fn long(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let name = run(ahead(text, at, 64), 0, |b| is_word(b) || b == b'-') + at;
    let first = at
        - line_before(text, at, 48)
            .iter()
            .rev()
            .take_while(|b| is_word(**b) || **b == b'-')
            .count();
    let option = &text[first..name];
    if !option.starts_with(b"-") || !is_secret_option(option) {
        return;
    }
    let (start, attached) = match text.get(name) {
        Some(b'=') => (name + 1, true),
        Some(b' ') => (name + run(ahead(text, name, 8), 0, is_blank), false),
        Some(b'"' | b'\'') => match list_item(text, name) {
            Some(item) => (item, true),
            None => return,
        },
        _ => return,
    };
    let (range, next) = value(text, start, is_shell);
    let bytes = &text[range.clone()];
    let quoted = range.start > start;
    // PowerShell computes a value in brackets: `-Password (Read-Host)`.
    let other = !attached && (bytes.starts_with(b"-") || !quoted && bytes.starts_with(b"("));
    if other || is_path(bytes) || is_mount(bytes) {
        return;
    }
    let password = is_password_option(option);
    let plain = password && ends_command(text, next) && bytes.len() >= 4;
    if is_opaque(bytes, 4) && (password || !is_name(bytes))
        || password && (attached || quoted)
        || plain && !in_sentence(text, first, bytes)
    {
        report(text, range, KIND, found);
    }
}

/// Tells whether an option takes a password, which may be a plain word.
fn is_password_option(option: &[u8]) -> bool {
    let name = option.to_ascii_lowercase();
    [&b"password"[..], b"passwd", b"passphrase", b"-pwd"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Tells whether a sentence is about the option: `the --user and --password options`.
fn in_sentence(text: &[u8], option: usize, value: &[u8]) -> bool {
    const ABOUT: &[&str] = &[
        "option",
        "options",
        "flag",
        "flags",
        "argument",
        "arguments",
        "parameter",
        "switch",
    ];
    const BEFORE: &[&str] = &[
        "and ", "or ", "the ", "with ", "via ", "using ", "use ", "a ", "by ", "pass ",
    ];
    let line = line_before(text, option, 16).to_ascii_lowercase();
    ABOUT
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
        || BEFORE.iter().any(|word| line.ends_with(word.as_bytes()))
}

/// Returns the start of the item behind the closing quote of an option in a list:
/// `["--password", "x"]`.
fn list_item(text: &[u8], at: usize) -> Option<usize> {
    let gap = run(ahead(text, at + 1, 8), 0, |b| {
        matches!(b, b',' | b' ' | b'\n')
    });
    (gap > 0).then_some(at + 1 + gap)
}

/// Tells whether the last word of an option says that a secret follows.
fn is_secret_option(option: &[u8]) -> bool {
    let name = option.to_ascii_lowercase();
    let ends = [
        &b"password"[..],
        b"passwd",
        b"passphrase",
        b"-pass",
        b"-pwd",
        b"-secret",
        b"secret-key",
        b"client-secret",
        b"-token",
        b"-api-key",
        b"-apikey",
        b"-authkey",
        b"-auth-key",
        b"access-key",
        b"_password",
        b"_token",
        b"_secret",
        b"private-key",
        b"-pat",
    ];
    ends.iter().any(|end| name.ends_with(end))
}

/// Tells whether a value is the source of a mounted secret: `id=npm,src=.npmrc`.
fn is_mount(value: &[u8]) -> bool {
    [&b"id="[..], b"type=", b"source=", b"src=", b"env="]
        .iter()
        .any(|key| value.starts_with(key))
}

/// Tells whether a value is the name of a variable, with its `$` or without: letters alone, and
/// short.
fn is_name(value: &[u8]) -> bool {
    let name = value.strip_prefix(b"$").unwrap_or(value);
    name.len() < 20 && name.iter().all(|b| b.is_ascii_alphabetic() || *b == b'_')
}

/// Tells whether a value is a path, such as that of a key file.
pub(super) fn is_path(value: &[u8]) -> bool {
    value.starts_with(b"/")
        || value.starts_with(b"./")
        || value.starts_with(b"~/")
        || value.starts_with(b"file:")
}

/// Tells whether a command ends or goes on with options, as no sentence does.
fn ends_command(text: &[u8], at: usize) -> bool {
    let rest = ahead(text, at, 16);
    let after = run(rest, 0, is_blank);
    match rest.get(after) {
        None => true,
        Some(b'-') => after > 0,
        Some(b) => matches!(
            b,
            b'\n' | b'\r' | b'`' | b'"' | b'\'' | b'|' | b'&' | b'\\' | b'<' | b'>'
        ),
    }
}

/// Finds the value of a variable that programs read a password from.
pub(crate) fn variable(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let start = run(ahead(text, at, 32), 0, |b| b != b'=') + at + 1;
    let (range, _) = value(text, start, |b| is_shell(b) && b != b')');
    if range.start <= text.len() && !is_placeholder(&text[range.clone()]) {
        report(text, range, KIND, found);
    }
}

/// Returns the word of a shell that begins at `at`, without its quotes, and the end of the word.
pub(super) fn argument(text: &[u8], at: usize) -> (std::ops::Range<usize>, usize) {
    let start = at + run(ahead(text, at, 16), 0, is_blank);
    let (range, next) = value(text, start, |b| {
        is_bare(b) && is_shell(b) || matches!(b, b'<' | b'>')
    });
    (range, next)
}

#[cfg(test)]
mod tests {
    use crate::structure::harness::{finds, keeps};

    #[test]
    fn programs() {
        finds(
            "cli-password",
            &[
                "mysql -u root -p«S3cret» db",
                "mysqldump -h h -uroot -p'«S3 cret»' db > x.sql",
                "curl -u bob:«hunter2» https://h",
                "curl --user 'bob:«hunter2»' https://h",
                "`curl -u bob:«hunter2» https://h`",
                "curl -ubob:«hunter2» https://h",
                "curl https://h -u «a8f3kd92ks01aqp47»: -d x",
                "sshpass -p '«x1»' ssh bob@h",
                "sshpass -p«x1» ssh bob@h",
                "redis-cli -h h -a «x1yz» ping",
                "docker login -u bob -p «hunter2» registry.example.com",
                "mongosh -u bob -p «hunter2» h",
                "ldapsearch -D cn=x -w «hunter2» -b dc=x",
                "htpasswd -b .htpasswd bob «hunter2»",
                "htpasswd -nb bob «hunter2»",
                "htpasswd -nbB bob '«hunter2»' > x",
                "net user bob «hunter2!» /add",
                "ssh h \"mysql -u root -p«toor»\"",
                "openssl rsa -in k.pem -passin pass:«hunter2» -out x",
                "openssl enc -aes-256-cbc -pass pass:«hunter2»",
                "echo '«hunter2»' | sudo -S ls",
                "echo \"bob:«hunter2»\" | chpasswd",
                "echo -n «hunter2» | docker login -u bob --password-stdin",
                "smbclient //h/s -U bob%«hunter2»",
                "client -u bob -p «Secret!1x» connect",
                "echo «hunter2» | passwd --stdin bob",
                "echo 'bob:«JR6DQ3hRXCurskO8»' | chpasswd",
            ],
        );
    }

    #[test]
    fn options_and_variables() {
        finds(
            "cli-password",
            &[
                "PGPASSWORD=«hunter2» psql -h h",
                "export PGPASSWORD='«a b»'",
                "MYSQL_PWD=«hunter2» mysql",
                "tool --password «hunter2»",
                "tool --password=«hunter2» --x",
                "tool --password «letmein»\n",
                "tool --password \"«a b»\" x",
                "`tool --password «letmein»`",
                "tool --admin-password=«hunter2»",
                "tool --token «a1b2c3d4»",
                "gpg --passphrase «hunter2» -d x",
                "[\"--password\", \"«hunter2»\"]",
                "用 --password «hunter2»。",
                "wget --user bob --password «hunter2» https://h",
            ],
        );
    }

    #[test]
    fn no_secrets() {
        keeps(
            "cli-password",
            &[
                "mysql -u root -p",
                "mysql -u root -p db",
                "mysql -p$PASS db",
                "mkdir -p /x",
                "curl h && docker run -u 1000:1000 img",
                "docker run -p 80:80 nginx",
                "ssh -p 2222 h",
                "curl -u bob https://h",
                "curl -u $USER:$PASS https://h",
                "curl -u user:password https://h",
                "curl -u bob:\x01\x01 https://h",
                "git push -u origin:main",
                "tool --password $PASS",
                "tool --password <password>",
                "tool --password=\x01\x01\x01",
                "tool --password-stdin",
                "tool --password-file /run/x",
                "use --password to set it",
                "via the --username and --password options\nof it",
                "cargo dev new_lint --pass=late --x",
                "use the flag --password instead.",
                "tool --password --verbose",
                "tool --token-ttl 1h2m3s",
                "PGPASSWORD=$(cat x) psql",
                "PGPASSWORD=\"$X\" psql",
                "set PGPASSWORD first",
                "openssl rsa -passin env:PASS",
                "openssl rsa -passin file:pw.txt",
                "htpasswd -c .htpasswd bob",
                "net user bob /delete",
                "net user bob *",
                "echo $PASS | docker login --password-stdin",
                "echo hello | sudo tee x",
                "echo -n \"what is up, doc?\" | git hash-object --stdin",
                "docker run -e POSTGRES_PASSWORD_FILE=/run/secrets/pg x",
                "docker run --secret id=npm,src=.npmrc .",
                "tool --access-token $patToken --file x",
                "tool --access-token patToken --file x",
                "scp -u bob -p file-2024.txt h",
                "cat f | sudo -S ls",
                "--private-key ~/.ssh/id_ed25519",
            ],
        );
    }
}
