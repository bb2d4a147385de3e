//! Passwords that programs take as arguments: `mysql -pX`, `curl -u user:X`, `sshpass -p X`.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::near::{
    ahead, find, has_any_word, has_word, is_blank, line_before, report, run, stands, words,
};
use super::option::{KIND, argument, is_shell, long, variable};
use super::value::{is_opaque, is_placeholder};
use crate::redact::judge::Makeup;
use crate::redact::named::refers;
use crate::redact::span::Span;

/// How far a program's name may stand before its option on a line.
const COMMAND_MAX: usize = 256;

/// Programs whose `-p` takes the password right after it.
static ATTACHED: LazyLock<AhoCorasick> = LazyLock::new(|| {
    words(&[
        "mysql",
        "mysqldump",
        "mysqladmin",
        "mysqlimport",
        "mysqlshow",
        "mysqlcheck",
        "mariadb",
        "mariadb-dump",
        "mariadb-admin",
        "sshpass",
        "7z",
        "7za",
        "7zz",
        "rar",
        "unrar",
    ])
});

/// Programs whose `-p` takes the password as the next word.
static SEPARATE: LazyLock<AhoCorasick> = LazyLock::new(|| {
    words(&[
        "docker login",
        "podman login",
        "nerdctl login",
        "helm registry login",
        "buildah login",
        "skopeo login",
        "oc login",
        "az login",
        "cf login",
        "crane auth login",
        "sshpass",
        "mongo",
        "mongosh",
        "mongodump",
        "mongorestore",
        "mongoexport",
        "mongoimport",
        "sqlcmd",
        "snmpget",
        "rabbitmqadmin",
        "oras login",
        "xfreerdp",
        "crackmapexec",
        "evil-winrm",
        "influx",
        "bcp",
    ])
});

/// Programs whose `-u` or `--user` takes `user:password`.
static PAIRED: LazyLock<AhoCorasick> = LazyLock::new(|| {
    words(&[
        "curl", "http", "https", "xh", "curlie", "hey", "wrk", "grpcurl",
    ])
});

/// Finds the password that the option at `at` takes.
pub(in crate::redact) fn any(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if text[at] == b' ' {
        short(text, at, found);
    } else if text[at] == b'|' {
        piped(text, at, found);
    } else if stands(text, at, b"htpasswd") {
        htpasswd(text, at, found);
    } else if stands(text, at, b"net user") {
        net_user(text, at, found);
    } else if text[at].is_ascii_uppercase()
        && !stands(text, at, b"PASSWORD ")
        && is_variable(text, at)
    {
        variable(text, at, found);
    } else {
        long(text, at, found);
    }
}

/// The ends of the variables that programs read a password from.
const VARIABLES: &[&[u8]] = &[
    b"PASSWORD",
    b"PASSWD",
    b"PASSPHRASE",
    b"MYSQL_PWD",
    b"SSHPASS",
    b"REDISCLI_AUTH",
];

/// Whether the literal at `at` ends one of the variables: `DB_PASSWORD_FILE=` names a file.
fn is_variable(text: &[u8], at: usize) -> bool {
    let name = run(ahead(text, at, 32), 0, |b| {
        b.is_ascii_uppercase() || b == b'_'
    });
    let ends = VARIABLES
        .iter()
        .any(|word| text[at..at + name].ends_with(word));
    ends && text.get(at + name) == Some(&b'=') && (at == 0 || text[at - 1] != b'-')
}

/// The short options: which program reads them is said before on the line.
fn short(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let line = line_before(text, at, COMMAND_MAX);
    // Only the last command of a line counts.
    let cut = line
        .iter()
        .rposition(|b| matches!(b, b'|' | b';' | b'&'))
        .map_or(0, |i| i + 1);
    let line = &line[cut..];
    let Some(next) = text.get(at + 3) else {
        return;
    };
    let apart = *next == b' ';
    let is = |programs: &[&str]| has_word(line, programs);
    let called = |programs: &LazyLock<AhoCorasick>| has_any_word(line, programs);
    let argument_of = || argument(text, at + 3).0;
    // Most options take none, and another option is no password.
    let value = &text[argument_of()];
    let other = text[at + 2] == b'-' || stands(text, at, b" -pass");
    if !other && (value.is_empty() || value.starts_with(b"-")) {
        return;
    }
    match text[at + 2] {
        b'p' if stands(text, at, b" -pass") => openssl(text, at, found),
        b'p' if apart && called(&SEPARATE) => plain(text, argument_of(), found),
        b'p' if !apart && called(&ATTACHED) => plain(text, argument_of(), found),
        b'p' if apart && NAMES_USER.is_match(line) => {
            let value = argument_of();
            if is_strong(&text[value.clone()]) {
                plain(text, value, found);
            }
        }
        b'P' if apart && is(&["sqlcmd", "bcp", "unzip", "zip", "ipmitool"]) => {
            plain(text, argument_of(), found);
        }
        b'a' if apart && is(&["redis-cli", "valkey-cli", "keydb-cli"]) => {
            plain(text, argument_of(), found);
        }
        b'a' if apart && is(&["http", "https", "xh"]) => pair(text, argument_of(), b':', found),
        b'w' if apart
            && is(&[
                "ldapsearch",
                "ldapmodify",
                "ldapadd",
                "ldapdelete",
                "ldapwhoami",
                "ldappasswd",
            ]) =>
        {
            plain(text, argument_of(), found);
        }
        b'u' if called(&PAIRED) => pair(text, argument_of(), b':', found),
        b'U' if apart && is(&["smbclient", "rpcclient", "smbmap", "net"]) => {
            pair(text, argument_of(), b'%', found);
        }
        b'-' if stands(text, at, b" --user") => {
            let end = at + " --user".len();
            if matches!(text.get(end), Some(b' ' | b'=')) && called(&PAIRED) {
                pair(text, argument(text, end + 1).0, b':', found);
            }
        }
        _ => {}
    }
}

/// What names a user: then the command's `-p` is likelier a password than a port or path.
static NAMES_USER: LazyLock<AhoCorasick> =
    LazyLock::new(|| words(&[" -u ", " --user ", " --username ", " -l "]));

/// Whether a value is a password whatever program reads it: letters, digits and no path or pair.
fn is_strong(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    value.len() >= 8
        && makeup.letters() > 0
        && makeup.digits > 0
        && makeup.classes() >= 3
        && !value.iter().any(|b| matches!(b, b'/' | b':' | b'=' | b','))
        && !refers(value)
}

/// A password on its own.
fn plain(text: &[u8], value: Range<usize>, found: &mut Vec<Span>) {
    if !text[value.clone()].starts_with(b"-") {
        report(text, value, KIND, found);
    }
}

/// What follows the mark in `user:password`.
fn pair(text: &[u8], value: Range<usize>, mark: u8, found: &mut Vec<Span>) {
    let colon = text[value.clone()].iter().position(|b| *b == mark);
    if let Some(colon) = colon.filter(|at| *at < value.len())
        && !text[value.clone()].windows(3).any(|s| s == b"://")
    {
        let password = value.start + colon + 1..value.end;
        let empty = password.is_empty();
        let user = value.start..value.start + colon;
        // An API key as the user with no password: `curl -u KEY:`.
        if empty && is_opaque(&text[user.clone()], 12) {
            report(text, user, KIND, found);
        } else if !empty {
            report(text, password, KIND, found);
        }
    } else if colon.is_none()
        && text.get(value.end) == Some(&b':')
        && is_opaque(&text[value.clone()], 12)
    {
        report(text, value, KIND, found);
    }
}

/// `-pass`, `-passin` and `-passout` of OpenSSL: `pass:password`.
fn openssl(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let name = run(ahead(text, at + 1, 24), 0, |b| {
        b == b'-' || b.is_ascii_alphabetic()
    }) + at
        + 1;
    let (value, _) = argument(text, name);
    if stands(text, value.start, b"pass:") && value.len() > "pass:".len() {
        plain(text, value.start + "pass:".len()..value.end, found);
    } else if matches!(&text[at..name], b" -password") {
        long(text, at + 1, found);
    }
}

/// What `echo` sends into a command that reads a password.
fn piped(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let start = at + 1 + run(ahead(text, at + 1, 8), 0, is_blank);
    let end = start
        + run(ahead(text, start, 256), 0, |b| {
            !matches!(b, b'\n' | b'|' | b';' | b'&' | b'`')
        });
    let command = &text[start..end];
    let sudo = find(command, "sudo -S").is_some();
    let chpasswd = find(command, "chpasswd").is_some();
    let passwd = chpasswd || find(command, "passwd --stdin").is_some();
    if !sudo && !passwd && find(command, "--password-stdin").is_none() {
        return;
    }
    let line = line_before(text, at, COMMAND_MAX);
    let base = at - line.len();
    let word = ["echo ", "printf "].iter().find_map(|word| {
        let from = line
            .windows(word.len())
            .rposition(|s| s == word.as_bytes())?;
        Some(base + from + word.len())
    });
    let Some(mut start) = word else {
        return;
    };
    while let Some(option) = ["-n ", "-e ", "-ne ", "-en ", "'%s' ", "\"%s\" ", "'%s\\n' "]
        .iter()
        .find(|o| stands(text, start, o.as_bytes()))
    {
        start += option.len();
    }
    let (value, next) = argument(text, start);
    if next > at {
        return;
    }
    if chpasswd {
        // The user stays, also where a marker has taken the password's place.
        if text[value.clone()].contains(&b':') {
            pair(text, value, b':', found);
        }
    } else {
        plain(text, value, found);
    }
}

/// `htpasswd -b file user password`, without the file after `-n`.
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

/// `net user name password /add`.
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

#[cfg(test)]
mod tests {
    use crate::redact::structure::harness::{finds, keeps};

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
