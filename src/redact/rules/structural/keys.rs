//! Private keys and tokens with a form of their own.

use super::{STRUCTURAL, scan};
use crate::redact::rule::{Rule, Severity};
use crate::redact::structure::{armour, hash, jose, signed};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "private-key-pem",
        what: "private key in PEM armour (PKCS, OpenSSH, PGP, SSH2)",
        severity: Severity::Critical,
        literals: &["-----BEGIN", "-----END", "---- BEGIN", "---- END"],
        finder: scan(armour::pem),
        found: &[
            "-----BEGIN PRIVATE ¦KEY-----\n«MC4CAQAwBQYDK2VwBCIEIH5mQ0kqT1v0hXn2RzT7b9cLp6WqYsDfGjKl»\n-----END PRIVATE KEY-----",
            "\"private_key\": \"-----BEGIN PRIVATE ¦KEY-----\\n«MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\\nBKcwggSjAgEAAoIBAQC7»\\n-----END PRIVATE KEY-----\\n\"",
            "key: |\n  -----BEGIN OPENSSH PRIVATE ¦KEY-----\n  «b3BlbnNzaC1rZXktdjEAAAAABG5vbmUA\n  AAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz»\n",
        ],
        kept: &[
            "the file starts with -----BEGIN RSA PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "putty-key",
        what: "private key of PuTTY",
        severity: Severity::Critical,
        literals: &["Private-Lines:", "Private-MAC:", "Private-Hash:"],
        finder: scan(armour::putty),
        found: &[
            "Private-Lines: 1\n«AAAAQQDZ3mXk5Vq0pLw8tYr1uNj2sHcBfGeKdMiRoQvTzPaXyWnUbCl9EhJgFx==»\nPrivate-MAC: «0123456789abcdef0123456789abcdef01234567»",
            "> Private-Lines: 1\n> «AAAAQQDZ3mXk5Vq0pLw8tYr1uNj2sHcBfGeKdMiRoQvTzPaXyWnUbCl9EhJgFx==»",
            "Private-MAC: «0123456789abcdef0123456789abcdef01234567»",
        ],
        kept: &[
            "PuTTY-User-Key-File-3: ssh-ed25519",
            "Private-Lines: 2\n...",
            "Public-Lines: 1\nAAAAB3NzaC1yc2EAAAADAQABAAABAQC7",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "jwt",
        what: "JSON Web Token, signed or encrypted",
        literals: &["eyJ", "ewog", "ewoJ", "eyAi", "ew0K"],
        finder: scan(jose::jwt),
        found: &[
            "eyJ¦hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI2MDE3NTUzNyIsImlhdCI6MTc2MTg1OTM0Mn0.E9NR84xX-t1tvj9Hd-CctYKkiT9BFeEG8SekDP6EZnc",
            "id token «eyJ¦hbGciOiJIUzI1NiJ9.eyJzdWIiOiI2MDE3NTUzNyJ9.E9NR84xXt1tvj9HdCctYKk»。",
            "https://h/cb?token=«eyJ¦hbGciOiJub25lIn0.eyJzdWIiOiI2MDE3NTUzNyJ9».&state=1",
        ],
        kept: &[
            "tokens that begin with eyJ are JSON",
            "eyJ¦hbGciOiJIUzI1NiJ9.<claims>.<signature>",
            "eyJ¦hbGciOi...",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "jwk",
        what: "private member of a JSON Web Key",
        severity: Severity::Critical,
        literals: &["kty"],
        finder: scan(jose::jwk),
        found: &[
            r#"{"kty":"OKP","crv":"Ed25519","d":"«nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A»","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            r#"{"k":"«AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ»","kty":"oct"}"#,
            r#"{\"kty\":\"EC\",\"d\":\"«870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE»\"}"#,
        ],
        kept: &[
            r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            r#"{"kty":"EC","d":"<private>"}"#,
            "the member kty names the type of a key",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "otpauth",
        what: "seed of one-time passwords (TOTP, HOTP)",
        keywords: &["otpauth://", "otpauth%3a", "otpauth-migration://"],
        finder: scan(signed::otpauth),
        found: &[
            "otpauth://totp/X:me?secret=«JBSWY3DPEHPK3PXP»&issuer=X",
            "scan otpauth://hotp/X?issuer=X&secret=«NB2W45DFOIZA2345».",
            "\"otpauth://totp/X?secret=«JBSWY3DPEHPK3PXQ»\"",
        ],
        kept: &[
            "otpauth://totp/X?secret=<SECRET>&issuer=X",
            "otpauth://totp/X?secret=${SECRET}",
            "an otpauth:// URI holds the seed",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "password-hash",
        what: "hash of a password (crypt, bcrypt, Argon2, LDAP, Windows)",
        severity: Severity::Medium,
        literals: &[
            "$apr1$",
            "$1$",
            "$2a$",
            "$2b$",
            "$2x$",
            "$2y$",
            "$5$",
            "$6$",
            "$7$",
            "$y$",
            "$gy$",
            "$argon2",
            "$scrypt$",
            "$pbkdf2",
            "pbkdf2_sha",
            "bcrypt_sha256$",
            "{SHA}",
            "{SSHA",
            "{SMD5}",
            "{CRYPT}",
            "{BCRYPT}",
            "{PBKDF2",
            "{SHA256}",
            "{SHA512}",
            "{ARGON2",
            ":::",
        ],
        finder: scan(hash::any),
        found: &[
            "bob:«$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy»",
            "the hash is «$apr1$eWLkJ8hV$1f0v4n0kLW5oUQ2sXyT7b1».",
            "bob:«{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9gK2aXb»",
        ],
        kept: &[
            "bcrypt hashes begin with $2b$12$",
            "$6$<salt>$<hash>",
            "root:*:19000:0:99999:7:::",
        ],
        ..STRUCTURAL
    },
];
