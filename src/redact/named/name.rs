//! Names that say a value is secret: `DB_PASSWORD`, `api key`, `contraseña`.

use std::ops::Range;

/// How much a name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strength {
    /// Password and its like, in any language: any value that is no word may be one.
    Password,
    /// A personal identification number.
    Pin,
    /// Token, secret, API key, credential.
    Secret,
    /// `key` or `auth` alone, or a strong name with an ending that is not known.
    Weak,
    /// A login or credentials: a name and then a password.
    Login,
}

/// A name in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) range: Range<usize>,
    pub(super) strength: Strength,
    pub(super) kind: &'static str,
    /// The words beyond ASCII stand in sentences without spaces.
    pub(super) spaceless: bool,
    /// The word is a verb as well: it needs a mark or a verb behind it.
    pub(super) verb: bool,
}

/// The words that open this gate, in lower case, whole names or parts of them.
pub(in super::super) const WORDS: &[(&str, Strength)] = &[
    ("pass", Strength::Password),
    ("pwd", Strength::Password),
    ("pw", Strength::Password),
    ("psw", Strength::Password),
    ("mdp", Strength::Password),
    ("identified by", Strength::Password),
    ("secret", Strength::Secret),
    ("token", Strength::Secret),
    ("pat", Strength::Secret),
    ("key", Strength::Weak),
    ("cred", Strength::Login),
    ("auth", Strength::Weak),
    ("bearer", Strength::Weak),
    ("dsn", Strength::Weak),
    ("salt", Strength::Weak),
    ("getconnection", Strength::Login),
    ("log in", Strength::Login),
    ("logs in", Strength::Login),
    ("convertto-securestring", Strength::Password),
    ("mysqli_connect", Strength::Login),
    ("mysql_connect", Strength::Login),
    ("signin", Strength::Login),
    ("sign_in", Strength::Login),
    ("login", Strength::Login),
    ("logon", Strength::Login),
    ("zugang", Strength::Login),
    ("pin", Strength::Pin),
    ("psk", Strength::Password),
    ("seed", Strength::Weak),
];

/// Words of other languages: whole words for password, or for key and token.
pub(in super::super) const FOREIGN: &[(&str, Strength)] = &[
    ("kennwort", Strength::Password),
    ("contraseña", Strength::Password),
    ("contrasena", Strength::Password),
    ("contraseñas", Strength::Password),
    ("contrasenya", Strength::Password),
    ("clave", Strength::Password),
    ("mot de passe", Strength::Password),
    ("senha", Strength::Password),
    ("palavra-passe", Strength::Password),
    ("parola", Strength::Password),
    ("parolă", Strength::Password),
    ("wachtwoord", Strength::Password),
    ("hasło", Strength::Password),
    ("haslo", Strength::Password),
    ("hasła", Strength::Password),
    ("heslo", Strength::Password),
    ("jelszó", Strength::Password),
    ("jelszo", Strength::Password),
    ("lösenord", Strength::Password),
    ("losenord", Strength::Password),
    ("passord", Strength::Password),
    ("adgangskode", Strength::Password),
    ("salasana", Strength::Password),
    ("şifre", Strength::Password),
    ("sifre", Strength::Password),
    ("geslo", Strength::Password),
    ("lozinka", Strength::Password),
    ("mật khẩu", Strength::Password),
    ("kata sandi", Strength::Password),
    ("пароль", Strength::Password),
    ("пароля", Strength::Password),
    ("паролем", Strength::Password),
    ("κωδικός", Strength::Password),
    ("סיסמה", Strength::Password),
    ("كلمة المرور", Strength::Password),
    ("पासवर्ड", Strength::Password),
    ("รหัสผ่าน", Strength::Password),
    ("密码", Strength::Password),
    ("密碼", Strength::Password),
    ("口令", Strength::Password),
    ("パスワード", Strength::Password),
    ("暗証番号", Strength::Pin),
    ("비밀번호", Strength::Password),
    ("패스워드", Strength::Password),
    ("암호", Strength::Password),
    ("密钥", Strength::Secret),
    ("密鑰", Strength::Secret),
    ("令牌", Strength::Secret),
    ("トークン", Strength::Secret),
    ("シークレット", Strength::Secret),
    ("apiキー", Strength::Secret),
    ("токен", Strength::Secret),
    ("секрет", Strength::Secret),
    ("ключ api", Strength::Secret),
    ("clé api", Strength::Secret),
    ("clé d'api", Strength::Secret),
    ("clé secrète", Strength::Secret),
    ("clave api", Strength::Secret),
    ("clave de api", Strength::Secret),
    ("clave secreta", Strength::Secret),
    ("chave api", Strength::Secret),
    ("chave de api", Strength::Secret),
    ("chave secreta", Strength::Secret),
    ("chiave api", Strength::Secret),
    ("chiave segreta", Strength::Secret),
    ("jeton", Strength::Secret),
    ("schlüssel", Strength::Weak),
    ("geheimnis", Strength::Weak),
    ("sleutel", Strength::Weak),
    ("klucz", Strength::Weak),
];

/// Longest name that is looked at, in bytes to either side of the word.
const NAME_REACH: usize = 64;

/// Words for password inside a name.
const PASSWORDS: &[&str] = &[
    "pass",
    "password",
    "passwd",
    "passwort",
    "pwd",
    "pw",
    "psw",
    "psk",
    "pswd",
    "passphrase",
    "passcode",
    "mdp",
    "passw",
    "pword",
    "passwrd",
    "userpass",
    "dbpass",
    "dbpassword",
    "userpassword",
    "adminpassword",
    "rootpassword",
    "mypassword",
    "sshpass",
    "smtppass",
    "authpass",
    "requirepass",
    "masterauth",
    "storepass",
    "keypass",
    "rootpass",
    "ftppass",
    "mysqlpass",
    "pgpassword",
    "newpassword",
    "oldpassword",
    "basicpass",
    "webpass",
];

/// Words before `key` with which it is one that opens something.
const KEY_OF: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "signing",
    "account",
    "master",
    "encryption",
    "admin",
    "license",
    "licence",
    "auth",
    "client",
    "service",
    "webhook",
    "deploy",
    "storage",
    "shared",
    "consumer",
    "subscription",
    "session",
    "jwt",
    "hmac",
    "aes",
    "encrypt",
    "sign",
    "root",
    "server",
    "write",
    "ingest",
    "ingestion",
    "integration",
    "app",
    "application",
    "activation",
    "product",
    "recovery",
    "root",
    "live",
    "restricted",
    "personal",
    "developer",
    "dev",
    "prod",
    "security",
    "cipher",
    "crypt",
    "rsa",
    "ecdsa",
    "wallet",
    "functions",
    "host",
    "merchant",
    "openai",
    "anthropic",
    "stripe",
    "sendgrid",
    "mailgun",
    "mailjet",
    "twilio",
    "github",
    "gitlab",
    "datadog",
    "algolia",
    "cloudflare",
    "heroku",
    "opsgenie",
    "segment",
    "posthog",
    "mistral",
    "cohere",
    "azure",
    "aws",
    "google",
    "gemini",
    "maps",
    "airtable",
    "linear",
    "notion",
    "sentry",
    "pagerduty",
    "virustotal",
    "shodan",
    "etherscan",
    "infura",
    "alchemy",
    "wandb",
    "pinecone",
    "weather",
    "deepl",
    "meraki",
    "postmark",
    "rapidapi",
    "serp",
    "tavily",
    "elevenlabs",
];

/// Words before `key` or `token` with which it is none.
const NOT_OF: &[&str] = &[
    "public",
    "primary",
    "foreign",
    "partition",
    "sort",
    "cache",
    "idempotency",
    "unique",
    "composite",
    "row",
    "range",
    "i18n",
    "translation",
    "lookup",
    "map",
    "object",
    "hot",
    "shortcut",
    "react",
    "query",
    "routing",
    "group",
    "arrow",
    "enter",
    "sorting",
    "publishable",
    "site",
    "max",
    "min",
    "stop",
    "next",
    "page",
    "continuation",
    "csrf",
    "xsrf",
    "cancellation",
    "cancel",
    "pad",
    "eos",
    "bos",
    "unk",
    "mask",
    "sep",
    "num",
    "special",
    "input",
    "output",
    "prompt",
    "completion",
    "total",
    "cached",
    "partial",
    "candidate",
    "candidates",
    "surrogate",
    "natural",
    "dict",
    "pub",
    "pubkey",
    "sync",
    "per",
    "last",
    "first",
    "start",
    "end",
    "hash",
    "index",
    "dedupe",
    "dedup",
    "dedup",
    "dimension",
    "metric",
    "label",
    "annotation",
    "column",
    "s3",
    "bucket",
    "registry",
    "gpg",
    "pgp",
    "keyboard",
    "distribution",
    "ordering",
    "message",
    "event",
    "trace",
    "correlation",
    "request",
    "resource",
    "feature",
    "flag",
    "locale",
    "lang",
    "socket",
    "ssh",
    "known",
    "authorized",
    "hostkey",
    "by",
    "pinned",
    "trusted",
];

/// What follows a word in a name that is about the secret and is not the secret.
const ABOUT: &[&str] = &[
    "id",
    "ids",
    "name",
    "names",
    "url",
    "uri",
    "file",
    "path",
    "dir",
    "ttl",
    "type",
    "length",
    "len",
    "size",
    "count",
    "counts",
    "version",
    "prefix",
    "suffix",
    "policy",
    "ref",
    "refs",
    "arn",
    "field",
    "fields",
    "input",
    "label",
    "placeholder",
    "hint",
    "hash",
    "hashed",
    "hasher",
    "digest",
    "fingerprint",
    "checksum",
    "integrity",
    "expiry",
    "expires",
    "expiration",
    "expire",
    "expired",
    "age",
    "days",
    "hours",
    "minutes",
    "seconds",
    "time",
    "timeout",
    "date",
    "at",
    "algorithm",
    "algo",
    "alg",
    "format",
    "regex",
    "pattern",
    "rule",
    "rules",
    "validator",
    "validation",
    "valid",
    "required",
    "enabled",
    "disabled",
    "reset",
    "change",
    "changed",
    "strength",
    "manager",
    "provider",
    "store",
    "storage",
    "vault",
    "endpoint",
    "host",
    "server",
    "service",
    "issuer",
    "audience",
    "scope",
    "scopes",
    "usage",
    "limit",
    "limits",
    "max",
    "min",
    "budget",
    "rotation",
    "rotated",
    "env",
    "var",
    "variable",
    "class",
    "cls",
    "schema",
    "model",
    "table",
    "column",
    "index",
    "idx",
    "position",
    "offset",
    "kind",
    "source",
    "header",
    "param",
    "parameter",
    "params",
    "arg",
    "args",
    "list",
    "set",
    "map",
    "dict",
    "array",
    "pair",
    "pairs",
    "ring",
    "size",
    "bits",
    "code",
    "exists",
    "error",
    "message",
    "msg",
    "text",
    "title",
    "desc",
    "description",
    "help",
    "docs",
    "page",
    "screen",
    "form",
    "button",
    "link",
    "icon",
    "image",
    "stream",
    "parser",
    "lexer",
    "izer",
    "ize",
    "ized",
    "ization",
    "url",
    "user",
    "username",
    "email",
    "owner",
    "account",
    "status",
    "state",
    "mode",
    "method",
    "flow",
    "callback",
    "handler",
    "generator",
    "factory",
    "builder",
    "helper",
    "util",
    "utils",
    "test",
    "tests",
    "spec",
    "mock",
    "board",
    "word",
    "words",
    "press",
    "down",
    "up",
    "event",
    "events",
    "frame",
    "frames",
    "public",
    "pub",
    "alias",
    "lookup",
    "scheme",
    "protocol",
    "version",
    "created",
    "updated",
    "used",
    "hit",
    "miss",
    "rate",
    "per",
    "selector",
    "mount",
    "volume",
    "projection",
    "namespace",
    "resource",
];

/// What may follow a word in a name and leaves it a secret's.
const STILL: &[&str] = &[
    "value",
    "val",
    "string",
    "str",
    "plain",
    "plaintext",
    "raw",
    "b",
    "base",
    "prod",
    "production",
    "staging",
    "stage",
    "dev",
    "live",
    "old",
    "new",
    "current",
    "default",
    "main",
    "primary",
    "secondary",
    "backup",
    "key",
    "v",
    "secret",
    "token",
    "master",
    "root",
    "admin",
    "db",
    "ci",
    "here",
    "eu",
    "us",
    "local",
    "qa",
    "uat",
    "sandbox",
    "temp",
    "tmp",
    "confirmation",
    "confirm",
    "repeat",
    "verify",
    "again",
    "data",
    "is",
    "pass",
    "password",
    "auth",
    "api",
];

/// Reads the name that the word at `word` is part of.
pub(super) fn read(text: &[u8], word: Range<usize>, opened: Strength) -> Option<Name> {
    if !text[word.clone()].is_ascii() || whole_word(&text[word.clone()]) {
        return foreign(text, word, opened);
    }
    let range = around(text, word.clone());
    if in_resource_name(text, range.start) {
        return None;
    }
    let name = &text[range.clone()];
    // The command and the variable of the working directory, and a country's domain.
    let command = text[..range.start].ends_with(b"$(")
        || text[..range.start].ends_with(b"$")
        || text[..range.start].ends_with(b"${")
        || text[..range.start].ends_with(b"`");
    let lower_name = name.to_ascii_lowercase();
    if (command && lower_name == b"pwd") || lower_name.ends_with(b".pw") {
        return None;
    }
    let words = split(name);
    // Where the word stands among the words of the name.
    let at = word.start - range.start;
    let place = words.iter().position(|w| w.contains(&at))?;
    let lower = |i: usize| name[words[i].clone()].to_ascii_lowercase();
    let this = lower(place);
    let before = place.checked_sub(1).map(lower);
    let before = before.or_else(|| word_before(text, range.start));
    if text.get(range.end) == Some(&b'(') && logs_in(&lower_name) {
        return Some(Name {
            range,
            strength: Strength::Login,
            kind: "credential",
            spaceless: false,
            verb: false,
        });
    }
    let (mut strength, kind, last) = classify(
        &this,
        before.as_deref(),
        place + usize::from(name == b"PAT"),
    )?;
    // `secretKey` and `tokenSecret` are judged at their last word.
    for i in last + 1..words.len() {
        let after = lower(i);
        if after.iter().all(u8::is_ascii_digit) || contains(STILL, &after) {
            continue;
        }
        if contains(ABOUT, &after) || after.last() == Some(&b's') {
            return None;
        }
        strength = match strength {
            Strength::Weak | Strength::Login | Strength::Pin => return None,
            _ => Strength::Weak,
        };
    }
    Some(Name {
        range,
        strength,
        kind,
        spaceless: false,
        verb: words.len() == 1
            && matches!(&this[..], b"pass" | b"pin" | b"login" | b"auth")
            && name != b"PIN",
    })
}

/// Calls whose arguments are a name and then a password, in lower case.
const LOGIN_CALLS: &[&str] = &[
    "getconnection",
    "httpbasicauth",
    "httpdigestauth",
    "basicauth",
    "basic_auth",
    "setbasicauth",
    "plainauth",
    "passwordauthentication",
    "usernamepasswordcredentials",
    "usernamepasswordauthenticationtoken",
    "plaintextauthprovider",
    "networkcredential",
];

/// Whether a call of this name takes a login.
fn logs_in(name: &[u8]) -> bool {
    LOGIN_CALLS.iter().any(|call| {
        name.strip_suffix(call.as_bytes())
            .is_some_and(|rest| rest.last().is_none_or(|b| !b.is_ascii_alphanumeric()))
    })
}

/// Whether a word of the gate stands for itself, not for a part of a name.
fn whole_word(word: &[u8]) -> bool {
    let lower = word.to_ascii_lowercase();
    FOREIGN
        .iter()
        .any(|(foreign, _)| foreign.as_bytes() == lower)
        || matches!(
            &lower[..],
            b"identified by"
                | b"log in"
                | b"logs in"
                | b"convertto-securestring"
                | b"signin"
                | b"sign_in"
                | b"mysqli_connect"
                | b"mysql_connect"
        )
}

/// A word of another language stands for itself: not inside a longer one, unless its script knows
/// no spaces.
fn foreign(text: &[u8], word: Range<usize>, opened: Strength) -> Option<Name> {
    let spaceless = text[word.start] >= 0xE0;
    let joined = |b: &u8| b.is_ascii_alphanumeric();
    let inside = text[..word.start].last().is_some_and(joined)
        || text.get(word.end).is_some_and(joined)
        // Letters beyond ASCII that go on in the same script.
        || (!spaceless && matches!(text.get(word.end), Some(0xC3..=0xD4)));
    if inside && !spaceless {
        return None;
    }
    let kind = match opened {
        Strength::Password | Strength::Login => "password",
        Strength::Pin => "pin",
        Strength::Secret => "secret",
        Strength::Weak => "assignment",
    };
    Some(Name {
        range: word,
        strength: opened,
        kind,
        spaceless,
        verb: false,
    })
}

/// What a word in a name says, and the place of the last word that takes part in saying it.
fn classify(
    this: &[u8],
    before: Option<&[u8]>,
    place: usize,
) -> Option<(Strength, &'static str, usize)> {
    let denied = before.is_some_and(|before| contains(NOT_OF, before));
    let found = if contains(PASSWORDS, this) {
        (Strength::Password, "password")
    } else if contains(
        &[
            "secret",
            "secretkey",
            "clientsecret",
            "appsecret",
            "apisecret",
            "sharedsecret",
            "jwtsecret",
            "consumersecret",
            "secretaccesskey",
            "authsecret",
            "signingsecret",
            "webhooksecret",
        ],
        this,
    ) {
        (Strength::Secret, "secret")
    } else if contains(
        &[
            "token",
            "authtoken",
            "accesstoken",
            "apitoken",
            "bearertoken",
            "refreshtoken",
            "bottoken",
            "usertoken",
            "sessiontoken",
            "deploytoken",
            "idtoken",
            "oauthtoken",
        ],
        this,
    ) {
        if denied {
            return None;
        }
        (Strength::Secret, "token")
    } else if contains(
        &[
            "apikey",
            "accesskey",
            "authkey",
            "privatekey",
            "masterkey",
            "secretkey",
            "signingkey",
            "accountkey",
            "sharedkey",
            "encryptionkey",
            "licensekey",
            "apikeys",
            "appkey",
            "apisecretkey",
            "accesskeyid",
        ],
        this,
    ) {
        (Strength::Secret, "api-key")
    } else if this == b"pat" && (place > 0 || before.is_some()) {
        (Strength::Secret, "token")
    } else if this == b"seed" {
        let one_time =
            before.is_some_and(|word| contains(&["fa", "2fa", "totp", "otp", "mfa"], word));
        one_time.then_some((Strength::Secret, "secret"))?
    } else if this == b"key" {
        if denied {
            return None;
        }
        match before {
            Some(before) if contains(KEY_OF, before) => (Strength::Secret, "api-key"),
            _ => (Strength::Weak, "assignment"),
        }
    } else if contains(
        &[
            "credential",
            "credentials",
            "cred",
            "creds",
            "login",
            "logon",
            "zugangsdaten",
            "authenticate",
            "signin",
        ],
        this,
    ) {
        (Strength::Login, "credential")
    } else if contains(&["auth", "bearer", "dsn", "salt"], this) {
        (Strength::Weak, "assignment")
    } else if this == b"pin" {
        (Strength::Pin, "pin")
    } else {
        return None;
    };
    Some((found.0, found.1, place))
}

/// The identifier around a word: letters, digits and what joins words.
fn around(text: &[u8], word: Range<usize>) -> Range<usize> {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let low = word.start.saturating_sub(NAME_REACH);
    let mut start = word.start;
    while start > low && part(text[start - 1]) {
        start -= 1;
    }
    let high = text.len().min(word.end + NAME_REACH);
    let mut end = word.end;
    while end < high && part(text[end]) {
        end += 1;
    }
    // The end of an escape (`\n`) or a full stop is not part of a name.
    if start > 0 && text[start - 1] == b'\\' && b"nrt".contains(&text[start]) && start < word.start
    {
        start += 1;
    }
    while end > word.end && matches!(text[end - 1], b'.' | b'-') {
        end -= 1;
    }
    while start < word.start && matches!(text[start], b'.' | b'-') {
        start += 1;
    }
    // A sentence that goes on after its full stop without a space.
    start..end
}

/// Whether a name stands inside `arn:…` or `urn:…`, where it says what follows is called.
fn in_resource_name(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(160)..start];
    let run = before
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_graphic() && !b"\"'`(<=".contains(b))
        .count();
    let run = &before[before.len() - run..];
    run.starts_with(b"arn:") || run.starts_with(b"urn:")
}

/// The words of a name: between joining characters, at camel humps, and between letters and digits.
fn split(name: &[u8]) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = 0;
    for i in 0..=name.len() {
        let joins = |b: u8| !b.is_ascii_alphanumeric();
        let ends = i == name.len() || joins(name[i]) || (i > start && breaks(name, i));
        if ends {
            if i > start {
                words.push(start..i);
            }
            start = if i < name.len() && joins(name[i]) {
                i + 1
            } else {
                i
            };
        }
    }
    words
}

/// Whether a new word begins at `i` inside a run of letters and digits.
fn breaks(name: &[u8], i: usize) -> bool {
    let (before, this) = (name[i - 1], name[i]);
    let next = name.get(i + 1);
    (before.is_ascii_lowercase() && this.is_ascii_uppercase())
        || (before.is_ascii_digit() != this.is_ascii_digit())
        || (before.is_ascii_uppercase()
            && this.is_ascii_uppercase()
            && next.is_some_and(u8::is_ascii_lowercase))
}

/// The word that stands before a name after one space, in lower case.
fn word_before(text: &[u8], start: usize) -> Option<Vec<u8>> {
    let before = text[start.saturating_sub(24)..start].strip_suffix(b" ")?;
    let letters = before.iter().rev();
    let letters = letters.take_while(|b| b.is_ascii_alphanumeric()).count();
    let word = &before[before.len() - letters..];
    (!word.is_empty()).then(|| word.to_ascii_lowercase())
}

fn contains(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|entry| entry.as_bytes() == word)
}
