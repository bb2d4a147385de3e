//! Recognises values that are code or point elsewhere: the environment, a vault, a file, a type.

use crate::entropy;
use crate::named::shape::is_leet;

/// Prefixes of references, types, public keys and masks, in lower case.
const STARTS: &[&str] = crate::lists::REFERS_STARTS;

/// Marks of patterns and of code that no secret has.
const PATTERN_MARKS: &[&[u8]] = &[
    b")[", b"[^", b"]+", b"]*", b")?", b".*", b"(?", b"\\(", b"\\.", b"\\|", b"?.", b")$", b"]{",
    b"\\s", b"\\w", b"\\d{",
];

/// Endings of names that `:` and a value follow.
const NAMES: &[&str] = &["key", "token", "secret", "password", "pass", "pwd"];

/// Shortest sealed secret of Kubernetes, in bytes.
const SEALED_BYTES_MIN: usize = 150;

/// Tells whether a value is code or points elsewhere: the environment, a vault, a file, a type.
pub(super) fn refers(value: &[u8]) -> bool {
    points(value) || hostname(value) || member(value)
}

/// Tells the same as [`refers`], except for names between dots, which literals have too:
/// `obs.wren.pg`.
pub(super) fn points(value: &[u8]) -> bool {
    is_reference(value) || path_like(value)
}

/// Tells the same as [`points`], except for paths, which some people make passwords of.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let head: Vec<u8> = value.iter().take(24).map(u8::to_ascii_lowercase).collect();
    let begins = |start: &&str| {
        start.as_bytes().first() == head.first() && head.starts_with(start.as_bytes())
    };
    STARTS.iter().any(begins)
        || sealed(value)
        || dereferences(value)
        || casts(value)
        || issue(value)
        || validates(value)
        || expands(value)
        || scope(value)
        || number(value)
        || required_type(value)
        || has_pattern(value)
        || names(value)
        || spelled(value)
        || calls(value)
        || url(&head, value)
        || address(value)
        || object(value)
}

/// Tells whether a value is an object as a program prints it: `android.os.BinderProxy@2bd79ce`, `Token{a64f992`.
fn object(value: &[u8]) -> bool {
    let name = value
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || b"._$".contains(b))
        .count();
    let (name, rest) = value.split_at(name);
    let Some((mark @ (b'@' | b'{'), rest)) = rest.split_first() else {
        return false;
    };
    let hash = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let named = match mark {
        b'@' => name.contains(&b'.') && member(name),
        _ => name.first().is_some_and(u8::is_ascii_uppercase) && identifier(name),
    };
    named && (5..=8).contains(&hash) && (hash == rest.len() || *mark == b'@' && rest[hash] == b',')
}

/// Tells whether a value has a mark of a pattern or of code.
fn has_pattern(value: &[u8]) -> bool {
    let begins = |at: usize| {
        PATTERN_MARKS
            .iter()
            .any(|mark| value[at..].starts_with(mark))
    };
    (0..value.len()).any(|at| b")[](?.\\".contains(&value[at]) && begins(at))
}

/// Tells whether a value is a sealed secret of Kubernetes, which begins with the length of a
/// 4,096-bit RSA block.
fn sealed(value: &[u8]) -> bool {
    value.len() >= SEALED_BYTES_MIN && value.starts_with(b"Ag") && !value.contains(&b'.')
}

/// Tells whether a value is a member, a call or a variable behind the marks of a pointer:
/// `*settings.key`, `&$key`.
fn dereferences(value: &[u8]) -> bool {
    let marks = value
        .iter()
        .take_while(|b| matches!(b, b'*' | b'&' | b'!' | b'\\'))
        .count();
    let rest = &value[marks..];
    marks > 0 && !rest.is_empty() && (member(rest) || calls(rest) || rest[0] == b'$')
}

/// Tells whether a value begins with a cast to a pointer, whole or from its star on:
/// `(struct login*)data`.
fn casts(value: &[u8]) -> bool {
    let name = value.strip_prefix(b"(").map_or(0, |rest| {
        let part = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
        1 + rest.iter().take_while(part).count()
    });
    value[name..].starts_with(b"*)")
}

/// Tells whether a value is variables of a shell, with options between them:
/// `$common $lock --registry`.
fn expands(value: &[u8]) -> bool {
    let part = |part: &[u8]| {
        let name = part.strip_prefix(b"$").or_else(|| part.strip_prefix(b"--"));
        name.is_some_and(|name| {
            let fits = |b: &u8| b.is_ascii_alphanumeric() || b"_-{}".contains(b);
            name.iter().all(fits)
        })
    };
    value.starts_with(b"$") && value.contains(&b' ') && value.split(|b| *b == b' ').all(part)
}

/// Tells whether a value is a grammar scope, as editors name it: `string.quoted.double.source`.
fn scope(value: &[u8]) -> bool {
    let word = |word: &[u8]| word.len() >= 2 && word.iter().all(u8::is_ascii_lowercase);
    let dots = memchr::memchr_iter(b'.', value).count();
    dots >= 3 && value.split(|b| *b == b'.').all(word)
}

/// Tells whether a value is the number of an issue: `#1010254`.
fn issue(value: &[u8]) -> bool {
    let number = value.strip_prefix(b"#").unwrap_or_default();
    (1..=8).contains(&number.len()) && number.iter().all(u8::is_ascii_digit)
}

/// Tells whether a value is validation rules of a form: `required|min:8|confirmed`.
fn validates(value: &[u8]) -> bool {
    let word =
        |part: &[u8]| !part.is_empty() && part.iter().all(|b| b.is_ascii_lowercase() || *b == b'_');
    let argument = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b',' | b'.');
    let mut rules = value.split(|b| *b == b'|');
    value.contains(&b'|')
        && rules.all(|rule| match memchr::memchr(b':', rule) {
            Some(colon) => word(&rule[..colon]) && rule[colon + 1..].iter().all(argument),
            None => word(rule),
        })
}

/// Tells whether a value is a number of code, hexadecimal or with its type (`131072u32`), or a blockchain
/// address of 20 bytes.
fn number(value: &[u8]) -> bool {
    const TYPES: [&[u8]; 10] = [
        b"u8", b"u16", b"u32", b"u64", b"usize", b"i8", b"i16", b"i32", b"i64", b"isize",
    ];
    let typed = TYPES.iter().find_map(|name| value.strip_suffix(*name));
    let number = typed.map_or(value, |number| number.strip_suffix(b"_").unwrap_or(number));
    match number.strip_prefix(b"0x") {
        Some(hex) => (hex.len() <= 16 || hex.len() == 40) && hex.iter().all(u8::is_ascii_hexdigit),
        None => typed.is_some() && !number.is_empty() && number.iter().all(u8::is_ascii_digit),
    }
}

/// Tells whether a value is a type that must have a value: `String!`.
fn required_type(value: &[u8]) -> bool {
    let name = value.strip_suffix(b"!").unwrap_or_default();
    let name = name.strip_suffix(b"]").unwrap_or(name);
    [
        &b"String"[..],
        b"ID",
        b"Int",
        b"Float",
        b"Boolean",
        b"Password",
    ]
    .contains(&name)
}

/// Tells whether the first character marks a value as a variable, a symbol, a type or a tag.
fn spelled(value: &[u8]) -> bool {
    let rest = &value[1..];
    match value[0] {
        b'$' => variable(rest) || rest.first() == Some(&b'$') || value.ends_with(b"$"),
        b':' | b'&' | b'*' | b'@' => identifier(rest) && !rest.iter().any(u8::is_ascii_digit),
        b'{' | b'[' | b'<' => true,
        b'!' => rest.iter().all(|b| b.is_ascii_alphabetic() || *b == b':'),
        b'%' => {
            value.ends_with(b"%") || value.len() <= 3 || rest[0] == b'{' && value.ends_with(b"}")
        }
        _ => false,
    }
}

/// Tells whether a part is an identifier of code.
fn identifier(part: &[u8]) -> bool {
    let goes_on = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    part.first()
        .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
        && part.iter().all(goes_on)
}

/// Tells whether the name of a variable follows its `$`, perhaps with an access to a part of it.
fn variable(rest: &[u8]) -> bool {
    let name = rest
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
        .count();
    let starts = rest
        .first()
        .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    let word = rest[..name].iter().all(|b| !b.is_ascii_digit());
    starts
        && word
        && matches!(
            rest.get(name),
            None | Some(b'[' | b'(' | b'-' | b'.' | b':' | b'/' | b'{')
        )
}

/// Tells whether a value is an expression of code: `name(…`, `name[…`, `name{a:b`, `a::b`, `a->b`.
fn calls(value: &[u8]) -> bool {
    let head = value
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || b"_.:$!?>-".contains(b))
        .count();
    let opens = value.get(head).is_some_and(|b| matches!(b, b'(' | b'['));
    let closes = memchr::memchr2(b')', b']', &value[head..]).is_some();
    let arrow = memchr::memmem::find(value, b"->").is_some()
        || memchr::memmem::find(value, b"::").is_some()
        || memchr::memmem::find(value, b"=>").is_some();
    let name = &value[..head];
    let named = || head >= 2 && name[0].is_ascii_alphabetic() && entropy::unrest(name) < 400;
    // The first argument of a call that a blank cuts off.
    let cut = opens && value[head] == b'(' && name.contains(&b'_') && identifier(name);
    let cut = cut && identifier(&value[head + 1..])
        || opens && value[head] == b'(' && calls_with_first(name, &value[head + 1..])
        || opens && calls_with_argument(name, &value[head + 1..]);
    // A rule of a style sheet, or the start of a block.
    let block = value.get(head) == Some(&b'{');
    let block = block && (value.ends_with(b"{") || value[head..].contains(&b':'));
    block && named()
        || (opens && (closes || value[head] == b'(' && head + 1 == value.len()) && named())
        || cut
        || (arrow && entropy::unrest(value) < 400)
        || value.ends_with(b"()")
        || value.ends_with(b"(") && named()
}

/// Tells whether a name and what is behind its bracket are a call that was cut behind the first argument:
/// `Filter1D(data`, `Ui.MakeTextBox(300`.
fn calls_with_first(name: &[u8], argument: &[u8]) -> bool {
    let name = name.strip_prefix(b"!").unwrap_or(name);
    // Random letters around a bracket are a password.
    if entropy::unrest(name) >= 340 || entropy::unrest(argument) >= 340 {
        return false;
    }
    let number = !argument.is_empty() && argument.iter().all(u8::is_ascii_digit);
    let dotted = name.contains(&b'.') && name.split(|b| *b == b'.').all(identifier);
    // `Kettle(Drum` is two words.
    let capital = name.first().is_some_and(u8::is_ascii_uppercase)
        && name[1..].iter().all(u8::is_ascii_lowercase);
    dotted && (number || identifier(argument))
        || identifier(name)
            && !capital
            && name.len() >= 5
            && argument.len() >= 3
            && identifier(argument)
}

/// Tells whether what is behind the bracket of a call is an argument of a query or of a shell: `crypt($1`,
/// `digest(:password`.
fn calls_with_argument(name: &[u8], argument: &[u8]) -> bool {
    let Some((b'$' | b':' | b'@', argument)) = argument.split_first() else {
        return false;
    };
    let number = argument.iter().all(u8::is_ascii_digit);
    name.len() >= 3
        && name.iter().all(u8::is_ascii_lowercase)
        && !argument.is_empty()
        && (number || identifier(argument))
}

/// Tells whether a value is two or more dotted names, none of them random:
/// `settings.database.password`.
fn member(value: &[u8]) -> bool {
    let mut parts = value.split(|b| *b == b'.');
    let count = parts.clone().count();
    let (digits, capitals) = (
        value.iter().any(u8::is_ascii_digit),
        value[0].is_ascii_uppercase(),
    );
    // Names in code have no hyphens, and seldom a capital and a number, unlike `Blue.heron-7`.
    let chosen = value.contains(&b'-') && value.iter().any(u8::is_ascii_uppercase)
        || digits && value.iter().any(u8::is_ascii_uppercase) && !capitals
        || digits && capitals && value.last().is_some_and(u8::is_ascii_digit);
    count >= 2
        && !chosen
        && parts.all(|part| {
            identifier(part) && (entropy::unrest(part) < 340 || part.len() <= 5) && !is_leet(part)
        })
}

fn ends_in_name(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    lower == b"pw" || NAMES.iter().any(|word| lower.ends_with(word.as_bytes()))
}

/// Tells whether a value is a name with a value of its own: `api_key=…`, `key:…`.
pub(super) fn names(value: &[u8]) -> bool {
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let name = value.iter().take(48).take_while(part).count();
    let words = || {
        entropy::unrest(&value[..name]) < 340 && value[..name].iter().any(u8::is_ascii_alphabetic)
    };
    match value.get(name) {
        Some(b'=') => {
            let sure = ends_in_name(&value[..name]);
            match value.get(name + 1) {
                None => sure,
                Some(b'=') => false,
                Some(_) => sure || name >= 4 && words(),
            }
        }
        Some(b':') => ends_in_name(&value[..name]),
        _ => false,
    }
}

// Values that are a place, not a secret: a host, a path, a URL, an address.

/// Well-known endings of hosts and of files.
const ENDS: &[&str] = crate::lists::REFERS_ENDS;

/// Tells whether a value is a path of names, none of them random.
pub(super) fn path_like(value: &[u8]) -> bool {
    let parts = value.split(|b| *b == b'/').filter(|part| !part.is_empty());
    // Base64 has slashes too.
    let rolled = value.len() >= 24 && value[0] != b'/' && entropy::random(value);
    memchr::memchr_iter(b'/', value).count() >= 2
        && !rolled
        && parts
            .clone()
            .all(|part| part.len() < 20 || entropy::unrest(part) < 340)
}

/// Tells whether a value is a host name with a well-known ending, and perhaps a port.
pub(super) fn hostname(value: &[u8]) -> bool {
    let colon = memchr::memrchr(b':', value);
    let port = colon.filter(|colon| value[colon + 1..].iter().all(u8::is_ascii_digit));
    let host = &value[..port.unwrap_or(value.len())];
    let named = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'/' | b'*');
    let ends = |end: &&str| end.as_bytes().last() == host.last() && host.ends_with(end.as_bytes());
    host.iter().all(named) && ENDS.iter().any(ends)
}

/// Tells whether a value is a URL. The rules for URLs find the secrets inside one.
pub(super) fn url(head: &[u8], value: &[u8]) -> bool {
    memchr::memmem::find(head, b"://").is_some()
        || head.starts_with(b"www.")
        || (head.starts_with(b"localhost") && value.len() < 20)
}

/// Tells whether a value is an e-mail address or `user@host`.
pub(super) fn address(value: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b'@', value) else {
        return false;
    };
    let host = &value[at + 1..];
    let named = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-');
    at > 0
        && memchr::memchr(b'.', host).is_some_and(|dot| dot > 0)
        && host.iter().all(named)
        && host
            .iter()
            .rev()
            .take_while(|b| b.is_ascii_alphabetic())
            .count()
            >= 2
        && value[..at]
            .iter()
            .all(|b| named(b) || matches!(b, b'_' | b'+'))
}
