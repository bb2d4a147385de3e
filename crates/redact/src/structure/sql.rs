//! Passwords in statements that create an account: `IDENTIFIED BY`, `PASSWORD '…'`.

use crate::span::Span;
use crate::structure::near::{ahead, behind, find, is_blank, is_word, report, run, stands, value};

const KIND: &str = "sql-password";

/// Longest distance from the start of a statement to its password clause, in bytes.
const STATEMENT_MAX: usize = 320;
/// Beginnings of statements that create an account or give one rights.
const STATEMENTS: &[&str] = &[
    "create user",
    "alter user",
    "create role",
    "alter role",
    "set role",
    "database link",
    "grant ",
    "create login",
    "user mapping",
    "options (",
];
/// Longest distance from the name of a plugin to the password, in bytes.
const PLUGIN_MAX: usize = 64;
/// Words that may follow the password.
const CLAUSES: &[&str] = crate::lists::SQL_CLAUSES;

/// Finds the password behind `IDENTIFIED BY`, `IDENTIFIED WITH … BY` or `PASSWORD` at `at`.
pub(crate) fn identified(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let before = behind(text, at, STATEMENT_MAX);
    // Another statement ends before this one.
    let before = memchr::memrchr(b';', before).map_or(before, |end| &before[end + 1..]);
    let sets = stands(text, at, b"set password for");
    if !sets && !STATEMENTS.iter().any(|begin| find(before, begin).is_some()) {
        return;
    }
    let Some(mut start) = password_at(text, at) else {
        return;
    };
    start += run(ahead(text, start, 16), 0, |b| b.is_ascii_whitespace());
    // A hash follows, which has a rule of its own.
    if stands(text, start, b"password ") || stands(text, start, b"values ") {
        return;
    }
    let (password, next) = value(text, start, |b| {
        b.is_ascii_graphic() && !matches!(b, b';' | b',' | b'"' | b'\'' | b'`' | b')')
    });
    let quoted = password.start > start;
    if quoted || ends_clause(text, next) {
        report(text, password, KIND, found);
    }
}

/// Returns the start of the password that the words at `at` announce.
fn password_at(text: &[u8], at: usize) -> Option<usize> {
    if stands(text, at, b"set password for") {
        let rest = ahead(text, at, 2 * PLUGIN_MAX);
        let line = rest.iter().position(|b| matches!(b, b'\n' | b';'));
        let equals = find(&rest[..line.unwrap_or(rest.len())], "= ")?;
        let start = at + equals + "= ".len();
        let call = usize::from(stands(text, start, b"password(")) * "password(".len();
        return (text.get(start + call) == Some(&b'\'')).then_some(start + call);
    }
    if stands(text, at, b"password") {
        let hash = behind(text, at, 16).trim_ascii_end();
        let hashed = hash.to_ascii_lowercase().ends_with(b" by");
        return (!hashed).then_some(at + "password".len());
    }
    if stands(text, at, b"identified with") {
        let plugin = at + "identified with".len();
        let rest = ahead(text, plugin, PLUGIN_MAX);
        let line = rest.iter().position(|b| matches!(b, b'\n' | b';'));
        let by = find(&rest[..line.unwrap_or(rest.len())], " by ")?;
        return Some(plugin + by + " by ".len());
    }
    Some(at + "identified by".len())
}

/// Tells whether the statement ends at `at` or goes on with a clause: a sentence does not.
fn ends_clause(text: &[u8], at: usize) -> bool {
    let start = at + run(ahead(text, at, 16), 0, is_blank);
    let end = start + run(ahead(text, start, 32), 0, is_word);
    let word = &text[start..end];
    let is = |clause: &&str| word.eq_ignore_ascii_case(clause.as_bytes());
    match text.get(start) {
        None | Some(b';' | b'\n' | b'\r' | b',' | b'"' | b'\'' | b'`' | b'/') => true,
        _ => CLAUSES.iter().any(is),
    }
}

#[cfg(test)]
mod tests {
    use super::KIND;
    use crate::structure::harness::{finds, keeps};

    #[test]
    fn statements() {
        finds(
            KIND,
            &[
                "CREATE USER bob IDENTIFIED BY «heron»;",
                "grant connect to hr identified by «heron»\n",
                "ALTER USER bob IDENTIFIED BY \"«He ron»\" ACCOUNT UNLOCK;",
                "CREATE USER 'bob'@'%' IDENTIFIED BY '«heron»';",
                "create user bob identified with caching_sha2_password by '«o''heron»';",
                "ALTER ROLE bob WITH LOGIN PASSWORD '«Heron/Reed»' VALID UNTIL 'infinity';",
                "CREATE USER bob IDENTIFIED BY «heron» DEFAULT TABLESPACE users;",
            ],
        );
        keeps(
            KIND,
            &[
                "A person is identified by name.",
                "you grant rights to users identified by their key, always",
                "CREATE USER bob IDENTIFIED BY <password>;",
                "CREATE USER bob IDENTIFIED BY '$PASS';",
                "CREATE USER bob IDENTIFIED BY PASSWORD '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29';",
                "DROP USER bob; rows identified by id;",
            ],
        );
    }
}
