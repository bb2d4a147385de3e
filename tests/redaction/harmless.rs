//! What is no secret stays: whatever stands beside a value, the value alone goes.

use std::sync::LazyLock;

use agekeep::redact::Redactor;
use proptest::prelude::*;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

/// A text after redaction, with `…` for each marker.
fn left(text: &str) -> String {
    let done = REDACTOR.redact("", &text.into()).expect("a short text");
    let mut rest = done.text().as_str();
    let mut out = String::new();
    while let Some(at) = rest.find("[REDACTED:") {
        let end = at + rest[at..].find(']').expect("a marker ends") + 1;
        out += &rest[..at];
        out += "…";
        rest = &rest[end..];
    }
    out + rest
}

fn stays(text: &str) {
    assert_eq!(left(text), text);
}

#[test]
fn base64_that_ends_in_one_mark_is_no_broken_line() {
    for (text, wanted) in [
        (
            "A_KEY=MTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1ub3BxcnN0dXY=\nPORT=8080\nDEBUG=true\n",
            "A_KEY=…\nPORT=8080\nDEBUG=true\n",
        ),
        (
            "APP_KEY=base64:3q2+7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs=\nAPP_DEBUG=true\n",
            "APP_KEY=…\nAPP_DEBUG=true\n",
        ),
        (
            "PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\nAddress = 10.0.0.2/32\n",
            "PrivateKey = …\nAddress = 10.0.0.2/32\n",
        ),
        (
            "  client-key-data: yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmkAAAAAA=\nusers: []\n",
            "  client-key-data: …\nusers: []\n",
        ),
        (
            "A_WEB_HOOK_SIGNING_SECRET=yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk3q=\r\nB=1\r\n",
            "A_WEB_HOOK_SIGNING_SECRET=…\r\nB=1\r\n",
        ),
    ] {
        assert_eq!(left(text), wanted);
    }
}

/// A token that ends its line is whole: it takes no letter of the name of the next setting.
#[test]
fn a_setting_below_a_token_keeps_its_name() {
    let token = concat!("sk_live", "_4eC39HqLyjWDarjtT1zdp7dc");
    for next in ["A_WEBHOOK=on", "PUBLIC=1", "AREA_SID=9"] {
        let text = format!("PAYMENT_KEY={token}\n{next}\n");
        assert_eq!(left(&text), format!("PAYMENT_KEY=…\n{next}\n"));
    }
}

/// Words of a label can be words of seed phrases too.
#[test]
fn the_label_of_a_seed_phrase_stays() {
    let phrase = "wink error alone electric fresh cruel kit anxiety focus fence mirror sample";
    for label in [
        "seed phrase: ",
        "my seed phrase ",
        "wallet seed: \"",
        "phrase: ",
    ] {
        assert_eq!(left(&format!("{label}{phrase}")), format!("{label}…"));
    }
}

#[test]
fn calls_and_numbers_of_code_are_no_passwords() {
    for text in [
        "UPDATE users SET password = crypt($1, gen_salt($2)) WHERE id = $3;",
        "password = digest(:password, 1)",
        "const MAX_TOKEN: u32 = 131072u32;",
        "const E_PASSWORD: HRESULT = 0x8004170B_u32;",
    ] {
        stays(text);
    }
}

/// Of all words that programs say to people, few are labels: what stands beside the others stays. Among those
/// that are labels are `code`, `door` and `login`, in forty languages.
#[test]
fn a_number_beside_an_ordinary_word_stays() {
    let file = include_str!("../../crates/redact/src/notes/common.txt");
    let words = file.lines().filter(|line| !line.starts_with('#'));
    let words: Vec<&str> = words.flat_map(|line| line.split(' ')).collect();
    let text = |word: &&&str| left(&format!("The {word} 4821 is here.")).contains('…');
    let labels: Vec<&&str> = words.iter().filter(text).collect();
    assert!(words.len() > 39_000);
    assert!(
        labels.len() * 80 < words.len(),
        "{} of {}: {labels:?}",
        labels.len(),
        words.len()
    );
    for word in [
        "report",
        "director",
        "mapping",
        "support",
        "vector",
        "decoder",
        "clock",
        "repository",
        "importe",
    ] {
        stays(&format!("The {word} 4821 is here."));
    }
}

/// Rows of data, checksums, names of files and algorithms, years and words of other languages stand beside labels
/// by accident.
#[test]
fn data_and_names_beside_a_label_stay() {
    for text in [
        "(3, 'Till Dawn', 4, 210886, 0.99),",
        "    (N'Knocking At Your Back Door', 61, 1, N'Ian Gillian', 424829, 13779332),",
        "github.com/gorilla/mux v1.8.0 h1:i40aqfkR1h2SlN9hojwV5ZA91wcXFOvkdNIeFDP5koI=",
        "password:\n  see h1:i40aqfkR1h2SlN9hojwV5ZA91wcXFOvkdNIeFDP5koI= for it",
        "Im Zeitraum 2015 wuchs der Umsatz auf 3400.",
        "Mein Traum von 1998 wurde 2004 wahr.",
        "Der Vertrag wurde 2019 abgeschlossen und 2024 verlängert.",
        "Der Kommandeur fiel 1944 bei Caen.",
        "Die Schranken wurden 1989 geöffnet.",
        "Zamiast 1500 osób przyszło 2400.",
        "Preciso pagar 1250 reais.",
        "Regularmente asisten 2400 personas.",
        "La salle accueille 2400 personnes.",
        "Филиппинцев было 12000.",
        "در سال 1998 حدود 4500 نفر.",
        "Cửa hàng bán 1200 bộ.",
        "oc port-forward pod-0 9093",
        "INFO  [main:QuorumPeer@944] - maxSessionTimeout set to -1",
        "Unlock: press Ctrl+Alt+F2 first.",
        "The vault uses XChaCha20-Poly1305 and HKDF-SHA256.",
        "Login uses ECDSA-P256-SHA256 and TLS1.3-PSK.",
        "Gate controller: 7d444840-9dc0-11d1-b245-5ffdce74fad2, wired 2021.",
        "Alarm 978-3-16-148410-0 was acknowledged.",
        "    password: \"{{ upassword }}\"",
        "password = %{ldap:userPassword}",
        "\"secret\": \"\\u0421\\u0435\\u043a\\u0440\\u0435\\u0442\"",
        "\"en_PW\":\"English (Palau)\",",
        "pass1 = Filter1D(data, filter, true)",
        "for (pass = !strcmp(alt, dbase_str) ? 0 : 1; pass >= 0; --pass) {",
        "Bad activity token: android.os.BinderProxy@2bd79ce",
        "token=Token{a64f992 ActivityRecord{de9231d u0 com.x}}",
        "    \"index\": \"adult-green-dragon\",\n    \"name\": \"Adult Green Dragon\",\n    \"size\": \"Huge\",\n    \"type\": \"dragon\",",
        "Thank you. Thank you. Thank you very much. Thank you very, very much. Thank you very much.",
        "Bradley,224,DEM,34,,18,1/24/2000,62.85,1,.4207057519934676,",
        "wss://www.compose-project.eu/WebObject-2423529879879875/streams/location",
    ] {
        stays(text);
    }
    // What stands where these stood goes.
    for (text, wanted) in [
        (
            "moin, falls ihr vor mir da seid: Schuppen geht mit der 1904 auf, Grill steht hinten.",
            "moin, falls ihr vor mir da seid: Schuppen geht mit der … auf, Grill steht hinten.",
        ),
        (
            "Il cancello di zia si apre con 1947 e cancelletto.",
            "Il cancello di zia si apre con … e cancelletto.",
        ),
        ("alarm code 1953", "alarm code …"),
        ("router (pw: Summer@2024)", "router (pw: …)"),
        ("Wifi (code:GateKeeper@4471)", "Wifi (code:…)"),
        ("wifi pw win+moon77", "wifi pw …"),
        ("password: aes-1234", "password: …"),
        ("#wifi Passwort: sommer77 #home", "#wifi Passwort: … #home"),
        ("Visa-4111111111111111", "Visa-…"),
        (
            "Set {name}. The gate code is 4471.",
            "Set {name}. The gate code is ….",
        ),
        ("password: hmac-otter-77", "password: …"),
        ("DATABASE_PASSWORD=/run7/Secret9", "DATABASE_PASSWORD=…"),
    ] {
        assert_eq!(left(text), wanted);
    }
}

#[test]
fn a_line_that_mail_broke_is_joined() {
    let token = concat!("ghp", "_06cDXjeYnX3IVa7LllnMU4wOpl6ZCs4VzLOr");
    let (first, second) = token.split_at(20);
    let filler = "the new token for the build is here, and nobody else has it";
    let line = &format!("{filler:.56}{first}");
    assert_eq!(line.len(), 76 - 1 + 1);
    let line = &line[1..];
    let text = format!("{line}=\n{second} until May\n");
    assert!(!left(&text).contains(second), "{}", left(&text));
    let printed = format!("url=3Dhttps://example.com\nkey {first}=\n{second}\nend\n");
    let kept = left(&printed);
    assert!(
        !kept.contains(second) && kept.ends_with("\nend\n"),
        "{kept}"
    );
}

#[test]
fn the_arguments_of_a_command_are_no_joined_strings() {
    for text in [
        r#"curl -H "Authorization: Bearer $TOKEN" "https://api.example.com/v1/items?x=1""#,
        r#"curl -H "X-Api-Key: $KEY" "https://api.example.com/v1""#,
        r#"curl --user "$U:$P" "$URL""#,
        r#"psql "host=db password=$P" "select 1""#,
        r#"http POST "https://api.example.com" "X-Auth-Token: ${TOKEN}" "name=x""#,
        r#"PGPASSWORD="$PGPASS" psql "host=db" "select 1""#,
        r#"sshpass -p "$(cat pw)" ssh "bob@host" "uname -a""#,
        "curl -H \"Authorization: Bearer $TOKEN\" \\\n  \"https://api.example.com/v1\"",
        "psql \"host=db password=$P\" \"select 1\"\n\"api_key\": \"$TOKEN\",",
    ] {
        stays(text);
    }
    assert_eq!(
        left(r#"docker login -u "bob" --password "hunter2x9" "registry.example.com""#),
        r#"docker login -u "bob" --password "…" "registry.example.com""#
    );
    assert_eq!(
        left(r#"mysql -u "root" -p"S3cr3tPw9" "mydb" "select 1""#),
        r#"mysql -u "root" -p"…" "mydb" "select 1""#
    );
    let (first, second) = ("ghp_06cDXjeYnX3IVa", "7LllnMU4wOpl6ZCs4VzLOr");
    for text in [
        format!("token = \"{first}\" \"{second}\""),
        format!("send(\"{first}\" \"{second}\")"),
        format!("x = (\"{first}\"\n     \"{second}\")"),
    ] {
        let left = left(&text);
        assert!(!left.contains(first) && !left.contains(second), "{left}");
    }
}

#[test]
fn the_password_of_a_uri_ends_before_its_host() {
    for user in [
        "x-access-token",
        "gitlab-ci-token",
        "oauth2",
        "deploy-token",
        "api_key",
        "secret",
    ] {
        for value in ["a8s7d6f5g4h3j2k1l0qw", "v1.0a9s8d7f6g5h4j3k2l1z"] {
            let text =
                format!("git clone https://{user}:{value}@git.example.com/acme/infra.git dir");
            let wanted = format!("git clone https://{user}:…@git.example.com/acme/infra.git dir");
            assert_eq!(left(&text), wanted);
        }
        stays(&format!(
            "git clone https://{user}:${{CI_JOB_TOKEN}}@git.example.com/a.git dir"
        ));
    }
}

/// The part of a resource's name behind `secretsmanager:` reads as a password beside other secrets.
#[test]
fn the_name_of_a_resource_stays_beside_a_secret() {
    let token = "export API_TOKEN=0aAAA+aAAa0+0+a+A0AAaaA0+0aa/aa0AA0a00a0+AA=";
    for name in [
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:app",
        "arn:aws:secretsmanager:us-east-2:210987654321:secret:prod/db-Ab12Cd",
        "urn:acme:password:eu-west-1:123456789012:secret:app",
    ] {
        for between in ["", "x=\n", "xxxx\n", "\n\n"] {
            let text = format!("{token}\n{between}export API_TOKEN={name}\n");
            let wanted = format!("export API_TOKEN=…\n{between}export API_TOKEN={name}\n");
            assert_eq!(left(&text), wanted);
        }
    }
}

#[test]
fn code_and_prose_about_passwords_stay() {
    for text in [
        "use crate::api::authorization::v1::{Resource, Verb};",
        "const user = getSafeProp(auth, \"user\")",
        ".signin hr{margin:0;color:#fff}",
        "'password' => 'required|min:8|confirmed',",
        "\"password\": \"nullable|string|between:8,64\"",
        "  * password expiry (closes: #1010254)",
        "  * Register md5sum for new common-password template, Closes: #982898",
        "seen [REDACTED_SECRET:jwt:ab12cd] there",
        "git_credential_userpass_payload *userpass = (git_credential_userpass_payload*)payload;",
        "#define sk_SRP_user_pwd_set(sk, p) ((SRP_user_pwd *)OPENSSL_sk_set(check_type(sk), p))",
        "SRP_user_pwd *SRP_VBASE_get1_by_user(SRP_VBASE *vb, char *username);",
        "PASS: ld-i386/property-x86-isa2\nPASS: ld-i386/pr22115-1c\n",
        "class=\"type\">&#x3C;string></a> Shared passphrase used for a key",
        "elsif ($tok =~ /^(login|password|account)$/) {",
        "program.addOption(new Option('-s, --secret').hideHelp())",
    ] {
        stays(text);
    }
}

// ---- The law, for any lines ----

/// What stands before and behind a value on its line, and whether a reference can stand there too.
const LINES: [(&str, &str); 14] = [
    ("A_KEY=", ""),
    ("export API_TOKEN=", ""),
    ("PrivateKey = ", ""),
    ("db_password: ", ""),
    ("password: ", "  # changed in May"),
    ("\"api_key\": \"", "\","),
    ("const password = '", "';"),
    (
        "curl -H \"Authorization: Bearer ",
        "\" \"https://api.example.com/v1/items?x=1\"",
    ),
    (
        "curl -H 'X-Api-Key: ",
        "' 'https://api.example.com' -d 'a=b'",
    ),
    ("psql \"host=db password=", "\" \"select 1\""),
    (
        "git clone https://x-access-token:",
        "@github.com/acme/infra.git --depth 1",
    ),
    ("mysql -u root --password=", " -e \"select 1\""),
    ("PGPASSWORD=", " psql -h db -c 'select 1'"),
    ("| app | ", " | read only |"),
];

const REFERENCES: [&str; 10] = [
    "$TOKEN",
    "${TOKEN}",
    "$(cat token)",
    "%TOKEN%",
    "{{ token }}",
    "<token>",
    "process.env.TOKEN",
    "vault:secret/app",
    "op://vault/app/token",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:app",
];

const HONEST: [&str; 8] = [
    "PORT=8080",
    "DEBUG=true",
    "# see the wiki",
    "Address = 10.0.0.2/32",
    "",
    "  name: app",
    "The password is in the vault.",
    "- [ ] ask Jo about the token",
];

#[derive(Debug, Clone)]
enum Line {
    Honest(usize),
    Value(usize, String),
    Reference(usize, usize),
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z0-9+/]{43}=",
        "[A-Za-z0-9+/]{22}==",
        "[a-z][0-9][A-Z][a-zA-Z0-9]{20,60}",
        "[0-9a-f]{40}",
        "[A-Z][a-z]{2}[0-9][a-z]{3}[0-9]{2}[A-Z][a-z0-9]{8}",
    ]
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let line = prop_oneof![
        (0..HONEST.len()).prop_map(Line::Honest),
        (0..LINES.len(), value()).prop_map(|(at, value)| Line::Value(at, value)),
        (0..LINES.len(), 0..REFERENCES.len()).prop_map(|(at, of)| Line::Reference(at, of)),
    ];
    proptest::collection::vec(line, 1..9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// No line is lost, what stands before and behind a value stays, and a reference is no secret.
    #[test]
    fn nothing_goes_but_values(lines in lines(), newline in prop_oneof![Just("\n"), Just("\r\n")]) {
        let written = lines.iter().map(|line| match line {
            Line::Honest(at) => HONEST[*at].to_owned(),
            Line::Value(at, value) => format!("{}{value}{}", LINES[*at].0, LINES[*at].1),
            Line::Reference(at, of) => {
                format!("{}{}{}", LINES[*at].0, REFERENCES[*of], LINES[*at].1)
            }
        });
        let written: Vec<String> = written.collect();
        let after = left(&written.join(newline));
        let after: Vec<&str> = after.split(newline).collect();
        prop_assert_eq!(after.len(), lines.len(), "{:?}\n{:?}", written, after);
        for ((line, before), after) in lines.iter().zip(&written).zip(after) {
            match line {
                Line::Honest(_) | Line::Reference(..) => prop_assert_eq!(before, after),
                Line::Value(at, _) => {
                    let (front, behind) = LINES[*at];
                    prop_assert!(after.starts_with(front), "{before}\n{after}");
                    prop_assert!(after.ends_with(behind), "{before}\n{after}");
                }
            }
        }
    }
}

/// Words that people name files and folders of notes by.
const TOPICS: [&str; 36] = [
    "accounts",
    "passwords",
    "login",
    "wifi",
    "alarm",
    "backup-codes",
    "pins",
    "door",
    "safe",
    "keys",
    "token",
    "api_keys",
    "secrets",
    "vault",
    "credentials",
    "access",
    "recovery",
    "2fa",
    "customers",
    "users",
    "infra",
    "ssh",
    "gpg",
    "router",
    "server",
    "support",
    "onboarding",
    "github",
    "netflix",
    "bank",
    "weber",
    "policy",
    "incident",
    "rotation",
    "reset-flow",
    "reminder",
];

#[test]
fn names_of_files_about_secrets_are_no_secrets() {
    let mut wrong = Vec::new();
    for (number, one) in TOPICS.iter().enumerate() {
        for other in TOPICS {
            let day = number % 28 + 1;
            for path in [
                format!("/memories/{one}/{other}.md"),
                format!("/memories/{one}-{other}.md"),
                format!("/memories/{one}/11-{day:02}-{other}-{number}.md"),
                format!("/memories/{other}/2026-{day:02}_{one}/{other}_v2.json"),
            ] {
                if !matches!(REDACTOR.in_path(&path), Ok(None)) {
                    wrong.push(path);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} {wrong:?}", wrong.len());
    let sentence = "/memories/the wifi password is Sommer2025!.md";
    assert!(matches!(REDACTOR.in_path(sentence), Ok(Some(_))));
    // A name is not the value of a label that it ends in.
    for path in [
        "/memories/CggPW4",
        "/memories/CggPw4",
        "/memories/notes/CggPW44",
    ] {
        assert!(matches!(REDACTOR.in_path(path), Ok(None)), "{path}");
    }
}
