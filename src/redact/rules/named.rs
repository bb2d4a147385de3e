//! What only a name gives away. One scanner finds them all; the kind says what the name said.

use super::MARKED;
use crate::redact::rule::{Class, Finder, Rule, Severity};

const NAMED: Rule = Rule {
    class: Class::Named,
    finder: Finder::Named,
    ..MARKED
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "password",
        what: "Password or passphrase beside its name, in any of forty languages",
        found: &[
            "DB_PASSWORD=«W1nt3rF0x_995»",
            "The old sandbox logs in with «S3cur3Pl4n_526» as password.",
            "Das Passwort lautet „«Bl4uw4l!2031»“.",
            "数据库密码是«Xk9!vTq2Lm»。",
            "| user | password |\n|---|---|\n| root | «k7Tq!rVn20» |",
            "- name: DB_PASSWORD\n  value: «tR0ub4dor&3»",
        ],
        kept: &[
            "The password field is optional.",
            "PASSWORD=changeit_please_${ENV}",
            "password: string",
            "The password must be at least 12 characters long.",
            "password = os.environ[\"DB_PASSWORD\"]",
            "the password reset bug was introduced in 95a26fba0d66e2e796afef52866f6e30297117f8",
        ],
        ..NAMED
    },
    Rule {
        kind: "pin",
        what: "Personal identification number beside its name",
        severity: Severity::Medium,
        found: &["PIN: «4821»", "The door PIN is «730152».", "pin = «90417»"],
        kept: &[
            "Pin urllib3 to 1.26",
            "LED_PIN = 13",
            "the PIN pad on floor 2",
        ],
        ..NAMED
    },
    Rule {
        kind: "token",
        what: "Token of an unknown vendor beside its name",
        found: &[
            "DEPLOY_TOKEN=«q8Zr5Tn2Wx7Lb0Vc4Ys9»",
            "\"access_token\": \"«9f2c1be07d5a4c83a6e1d0b7f4938c52»\"",
            "my token: `«Lk3-vR8_tQ1zXp7MwB5n»`",
        ],
        kept: &[
            "let token = lexer.next();",
            "max_tokens = 4096",
            "token=$TOKEN",
            "a token is a unit of text",
        ],
        ..NAMED
    },
    Rule {
        kind: "api-key",
        what: "API, access or signing key of an unknown vendor beside its name",
        found: &[
            "API_KEY=«kb3af6ebmzh5a2a4c21g9»",
            "The access key is «Zx81Qm4Tv7Lp20Rn6Wy3».",
            "signing-key: '«c0ffee7a91d24be8835f60a1»'",
        ],
        kept: &[
            "API_KEY=<insert key>",
            "primary key 5c9f1b2e-8d44-4a71-9c1e-0b7a6d3f2e10",
            "idempotency_key: 5c9f1b2e-8d44-4a71-9c1e-0b7a6d3f2e10",
            "api_key = settings.API_KEY",
        ],
        ..NAMED
    },
    Rule {
        kind: "secret",
        what: "Secret of an unknown vendor beside its name",
        found: &[
            "client_secret: «vT9q-Lm3Zx_81Rn6Wy30»",
            "secret=«8f14e45fceea167a5a36dedd4bea2543»",
            "SHARED_SECRET = \"«p7Kd2Vn9Xw4Bq1Zt»\"",
        ],
        kept: &[
            "the secret to good bread is patience",
            "secretName: db-credentials",
            "secret: my-db-secret-1",
        ],
        ..NAMED
    },
    Rule {
        kind: "credential",
        what: "Second half of a login written as name and password",
        found: &[
            "credentials: admin / «hunter2!X»",
            "login: deploy:«Xk9vTq2Lm!»",
            "session.login(\"root\", \"«q8Zr5Tn2Wx»\")",
        ],
        kept: &[
            "credentials: see 1Password",
            "login: required",
            "credentials = load_credentials(path)",
        ],
        ..NAMED
    },
    Rule {
        kind: "assignment",
        what: "Random value beside a name that says no more than key or auth",
        severity: Severity::Medium,
        found: &[
            "key = \"«Lk3vR8tQ1zXp7MwB5nYc2»\"",
            "auth: «q8Zr5Tn2Wx7Lb0Vc4Ys9Kd»",
            "encryption salt: «g7Q66StqUQDQk9SJ81sWbYZX»",
        ],
        kept: &[
            "key: value pairs",
            "\"key\": \"a13ddd89-1e4c-495d-b601-97d459573913\"",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ],
        ..NAMED
    },
];
