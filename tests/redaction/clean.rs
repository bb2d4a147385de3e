//! Texts without secrets that look as if they had some: they stay as they are.

use std::collections::BTreeMap;

use crate::redaction::texts::{Dice, redacted, rules};

/// How many texts of each sort are made.
const EACH: usize = 90;

/// Most clean texts that may be changed, in thousandths.
const CHANGED_MAX: usize = 10;

/// A sort of clean text, and how one is made.
type Sort = (&'static str, fn(&mut Dice) -> String);

const SORTS: &[Sort] = &[
    ("commit id", |d| {
        format!("Fixed in commit {} on main.", d.hex(40))
    }),
    ("short commit id", |d| {
        format!("see {} and {}", d.hex(7), d.hex(12))
    }),
    ("git log", |d| {
        format!(
            "commit {}\nAuthor: Jo <jo@example.org>\n\n    fix the parser\n",
            d.hex(40)
        )
    }),
    ("merge base", |d| {
        format!("base: {}\nhead: {}\n", d.hex(40), d.hex(40))
    }),
    ("action pin", |d| {
        format!("- uses: actions/checkout@{} # v4.2.2", d.hex(40))
    }),
    ("primary key", |d| {
        format!("primary key {} was deleted", d.uuid())
    }),
    ("key of a row", |d| format!("partition_key = {}", d.uuid())),
    ("idempotency key", |d| {
        format!("idempotency_key: {}", d.uuid())
    }),
    ("foreign key", |d| {
        format!("{{\"foreign_key\": \"{}\"}}", d.uuid())
    }),
    ("cache key", |d| {
        format!("cache_key: build-linux-{}", d.hex(64))
    }),
    ("sort key", |d| format!("sortKey={}", d.uuid())),
    ("key id", |d| format!("key_id = \"{}\"", d.uuid())),
    ("request id", |d| {
        format!("request_id={} trace={}", d.uuid(), d.hex(32))
    }),
    ("npm integrity", |d| {
        format!("\"integrity\": \"sha512-{}==\"", d.base64(86))
    }),
    ("yarn lock", |d| {
        let url = "https://registry.yarnpkg.com/left-pad/-/left-pad-1.3.0.tgz";
        format!(
            "left-pad@^1.3.0:\n  version \"1.3.0\"\n  resolved \"{url}#{}\"\n",
            d.hex(40)
        )
    }),
    ("cargo lock", |d| {
        format!(
            "name = \"aes\"\nversion = \"0.8.4\"\nchecksum = \"{}\"\n",
            d.hex(64)
        )
    }),
    ("go sum", |d| {
        format!("golang.org/x/text v0.14.0 h1:{}=", d.base64(43))
    }),
    ("pip hash", |d| {
        format!("requests==2.32.0 \\\n    --hash=sha256:{}", d.hex(64))
    }),
    ("image digest", |d| {
        format!("image: nginx@sha256:{}", d.hex(64))
    }),
    ("nix hash", |d| {
        format!("hash = \"sha256-{}=\";", d.base64(43))
    }),
    ("ssh fingerprint", |d| {
        format!("256 SHA256:{} jo@laptop (ED25519)", d.base64(43))
    }),
    ("old ssh fingerprint", |d| {
        let pairs: Vec<String> = (0..16).map(|_| d.hex(2)).collect();
        format!("MD5:{} root@host (RSA)", pairs.join(":"))
    }),
    ("ssh public key", |d| {
        format!(
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} jo@laptop",
            d.base64(43)
        )
    }),
    ("rsa public key", |d| {
        format!(
            "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC{} jo@laptop",
            d.base64(340)
        )
    }),
    ("age recipient", |d| {
        let body = d.text("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 58);
        format!("recipient: age1{body}")
    }),
    ("image", |d| {
        format!(
            "![logo](data:image/png;base64,iVBORw0KGgo{})",
            d.base64(800)
        )
    }),
    ("font", |d| {
        format!(
            "src: url(data:font/woff2;base64,d09GMgABAAAAA{});",
            d.base64(400)
        )
    }),
    ("certificate", |d| {
        let lines: Vec<String> = (0..12).map(|_| d.base64(64)).collect();
        let (name, body) = ("CERTIFICATE", lines.join("\n"));
        format!("-----BEGIN {name}-----\nMIID{body}\n-----END {name}-----\n")
    }),
    ("public key block", |d| {
        let lines: Vec<String> = (0..5).map(|_| d.base64(64)).collect();
        let (name, body) = ("PUBLIC KEY", lines.join("\n"));
        format!("-----BEGIN {name}-----\nMIIB{body}\n-----END {name}-----\n")
    }),
    ("placeholder", |d| {
        let value = d.pick(&[
            "<your-api-key>",
            "YOUR_API_KEY",
            "xxxxxxxxxxxxxxxx",
            "${API_KEY}",
            "{{ api_key }}",
            "changeme",
            "...",
            "********",
            "%API_KEY%",
            "<redacted>",
            "$API_KEY",
            "[token]",
        ]);
        let name = d.pick(&[
            "API_KEY",
            "password",
            "DB_PASSWORD",
            "client_secret",
            "token",
        ]);
        format!("{name}={value}")
    }),
    ("token placeholder", |d| {
        let token = d.pick(&[
            "gh\u{70}_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "sk-...",
            "xoxb-...",
        ]);
        format!("Tokens look like {token}")
    }),
    ("documentation sample", |d| {
        let id = ["AKIA", "IOSFODNN7", "EXAMPLE"].concat();
        let secret = ["wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYEXAMPLEKEY"].concat();
        let line = [
            format!("aws_access_key_id = {id}"),
            format!("AWS_SECRET_ACCESS_KEY={secret}"),
            format!("The manual uses {id}."),
        ];
        d.pick(&line).clone()
    }),
    ("reads the environment", |d| {
        d.pick(&[
            "token = os.environ[\"GITHUB_TOKEN\"]",
            "const key = process.env.OPENAI_API_KEY;",
            "let password = std::env::var(\"DB_PASSWORD\")?;",
            "api_key = ENV.fetch('STRIPE_API_KEY')",
            "String secret = System.getenv(\"CLIENT_SECRET\");",
            "password := os.Getenv(\"PGPASSWORD\")",
            "token: ${{ secrets.GITHUB_TOKEN }}",
            "password = getpass.getpass()",
            "secret_key = settings.SECRET_KEY",
            "export GITHUB_TOKEN=$(gh auth token)",
            "password: \"{{ vault_db_password }}\"",
            "api_key = config.get(\"api_key\")",
        ])
        .to_string()
    }),
    ("password policy", |d| {
        d.pick(&[
            "Passwords must have at least 12 characters and one digit.",
            "password_min_length = 14",
            "The password policy is reviewed in Q3 2026.",
            "Rotate API keys every 90 days; tokens expire after 24h.",
            "password_reset_timeout: 3600",
            "max_tokens = 4096",
            "token_type: Bearer",
            "The secret is that nobody reads it.",
            "Das Passwort muss 12 Zeichen haben.",
            "He lost the key to room 4B.",
            "token count: 128000 of 200000",
        ])
        .to_string()
    }),
    ("sops", |d| {
        let (data, iv) = (d.base64(24), d.base64(43));
        format!(
            "password: ENC[AES256_GCM,data:{data},iv:{iv}=,tag:{}==,type:str]",
            d.base64(22)
        )
    }),
    ("ansible vault", |d| {
        let lines: Vec<String> = (0..4).map(|_| format!("          {}", d.hex(80))).collect();
        format!(
            "db_password: !vault |\n          $ANSIBLE_VAULT;1.1;AES256\n{}",
            lines.join("\n")
        )
    }),
    ("age message", |d| {
        let lines: Vec<String> = (0..5).map(|_| d.base64(64)).collect();
        let name = "AGE ENCRYPTED FILE";
        format!(
            "-----BEGIN {name}-----\n{}\n-----END {name}-----\n",
            lines.join("\n")
        )
    }),
    ("reference", |d| {
        d.pick(&[
            "password = op://vault/item/password",
            "secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf",
            "token: vault:secret/data/app#token",
            "password_file: /run/secrets/db_password",
            "key: projects/my-app/secrets/db/versions/3",
        ])
        .to_string()
    }),
    ("object id", |d| {
        const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let prefix = *d.pick(&["cus_", "evt_1", "price_1", "prod_", "pk_live_", "pi_3"]);
        format!("see {prefix}{}", d.text(LETTERS, 14))
    }),
    ("file hash", |d| {
        format!("{}  agekeep-0.1.0.tar.gz", d.hex(64))
    }),
    ("etag", |d| format!("ETag: \"{}\"", d.hex(32))),
    ("phone and date", |d| {
        format!(
            "Meeting 2026-11-{:02} at 10:30, room {}",
            1 + d.below(28),
            d.below(900)
        )
    }),
    ("uri without password", |d| {
        format!(
            "postgres://app@db{}.internal:5432/app?sslmode=require",
            d.below(99)
        )
    }),
];

/// Every exact marker, and the places markers stand in.
fn markers() -> Vec<(String, String)> {
    let frames = [
        "[REDACTED:KIND]",
        "[REDACTED:KIND#0123abcd]",
        "password=[REDACTED:KIND]",
        "export API_KEY=\"[REDACTED:KIND#9f8e7d6c]\"",
        "Authorization: Bearer [REDACTED:KIND]",
        "postgres://user:[REDACTED:KIND]@host/db",
        "{\"token\": \"[REDACTED:KIND]\"}",
        "the key is [REDACTED:KIND], and the token [REDACTED:KIND].",
    ];
    let mut texts = Vec::new();
    for (number, rule) in rules().iter().enumerate() {
        let frame = frames[number % frames.len()].replace("KIND", &rule.kind);
        texts.push((format!("marker {}", rule.kind), frame));
    }
    let name = ["PRIVATE", "KEY"].join(" ");
    let block = format!("-----BEGIN {name}-----\n[REDACTED:private-key-pem]\n-----END {name}-----");
    texts.push(("marker in a block".into(), block));
    texts
}

#[test]
fn markers_stay_as_they_are() {
    let named = markers();
    let texts: Vec<String> = named.iter().map(|(_, text)| text.clone()).collect();
    let mut faults = Vec::new();
    for (text, out) in texts.iter().zip(redacted(&texts)) {
        if *text != out {
            faults.push(format!("{text:?} became {out:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// When a secret was made, used and will expire is none itself.
#[test]
fn the_time_of_a_secret_stays() {
    let frames = [
        "the signing key of ana is valid from TIME",
        "the token was issued at TIME, and never used",
        "the API key was rotated on TIME.",
        "access token: valid until TIME",
        "password_changed_at: \"TIME\"",
        "{\"api_key_created\": \"TIME\"}",
        "TOKEN_EXPIRY=TIME",
        "secret: TIME",
        "| token | TIME |",
    ];
    let mut dice = Dice::new(20_261_122);
    let mut texts = Vec::new();
    for _ in 0..EACH {
        let day = (
            2_015 + dice.below(25),
            1 + dice.below(12),
            1 + dice.below(28),
        );
        let time = (dice.below(24), dice.below(60), dice.below(60));
        let marked = format!("{}-{:02}-{:02}T{:02}", day.0, day.1, day.2, time.0);
        let (minute, second) = (time.1, time.2);
        let part = dice.below(1_000_000_000);
        for time in [
            format!("{marked}:{minute:02}:{second:02}Z"),
            format!("{marked}:{minute:02}Z"),
            format!("{marked}:{minute:02}:{second:02}.{part:09}+02:00"),
            format!("{marked}-{minute:02}-{second:02}Z"),
            format!("{}{minute:02}{second:02}Z", marked.replace('-', "")),
        ] {
            texts.extend(frames.iter().map(|frame| frame.replace("TIME", &time)));
        }
    }
    let faults: Vec<String> = texts
        .iter()
        .zip(redacted(&texts))
        .filter(|(text, out)| *text != out)
        .map(|(text, out)| format!("{text:?} became {out:?}"))
        .collect();
    assert!(
        faults.is_empty(),
        "{} of {}: {:#?}",
        faults.len(),
        texts.len(),
        &faults[..1]
    );
}

#[test]
fn clean_texts_stay_as_they_are() {
    let mut dice = Dice::new(20_261_121);
    let mut named = Vec::new();
    for (sort, make) in SORTS {
        named.extend((0..EACH).map(|_| (*sort, make(&mut dice))));
    }
    named.sort_unstable();
    named.dedup();
    assert!(named.len() >= 3_000, "{} texts", named.len());
    let texts: Vec<String> = named.iter().map(|(_, text)| text.clone()).collect();
    let mut changed: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for ((sort, text), out) in named.iter().zip(redacted(&texts)) {
        if *text != out {
            changed
                .entry(sort)
                .or_default()
                .push(format!("{text:?} became {out:?}"));
        }
    }
    for (sort, texts) in &changed {
        eprintln!(
            "{sort}: {} changed of {EACH}, such as {}",
            texts.len(),
            texts[0]
        );
    }
    let count: usize = changed.values().map(Vec::len).sum();
    eprintln!("{count} of {} clean texts changed", texts.len());
    assert!(
        count * 1_000 <= texts.len() * CHANGED_MAX,
        "{count}: {changed:#?}"
    );
}

#[test]
fn what_rules_say_they_keep_stays() {
    let rules = rules();
    let named: Vec<(&str, &String)> = rules
        .iter()
        .flat_map(|rule| rule.kept.iter().map(|text| (rule.kind.as_str(), text)))
        .collect();
    let texts: Vec<String> = named.iter().map(|(_, text)| (*text).clone()).collect();
    assert!(texts.len() > 2_000);
    let mut changed = Vec::new();
    for ((kind, text), out) in named.iter().zip(redacted(&texts)) {
        if **text != out {
            changed.push(format!("{kind}: {text:?} became {out:?}"));
        }
    }
    eprintln!(
        "{} of {} kept texts changed: {changed:#?}",
        changed.len(),
        texts.len()
    );
    assert!(
        changed.len() * 1_000 <= texts.len() * CHANGED_MAX,
        "{}",
        changed.join("\n")
    );
}
