//! Credentials in the files of tools.

use super::{STRUCTURAL, scan};
use crate::redact::rule::{Rule, Severity};
use crate::redact::structure::{account, aws, cloud};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "netrc",
        what: "password in netrc",
        keywords: &["machine ", "machine\t", "default login "],
        finder: scan(account::netrc),
        found: &[
            "machine api.example.com login bob password «hunter2»",
            "machine api.example.com\n  login bob\n  password «hunter2»\n",
            "default login bob password «hunter2»",
        ],
        kept: &[
            "machine learning password reset",
            "machine api.example.com login bob password <password>",
            "machine api.example.com login bob password $PASS",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "pgpass",
        what: "password in a pgpass line",
        literals: &[
            ":5432:", ":*:", ":5433:", ":5434:", ":5435:", ":5439:", ":6432:", ":6543:", ":15432:",
            ":25060:", ":25061:", ":26257:", ":54320:",
        ],
        finder: scan(account::pgpass),
        found: &[
            "localhost:5432:mydb:bob:«s3cret»",
            "db.example.com:*:*:bob:«p@ssw0rd»\n",
            "echo \"*:5432:*:bob:«s3cret»\" >> ~/.pgpass",
        ],
        kept: &[
            "localhost:5432:mydb:bob:$PASS",
            "hostname:port:database:username:password",
            "-p 127.0.0.1:5432:5432",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "sasl-passwd",
        what: "password of a mail relay in Postfix's sasl_passwd",
        literals: &["]:587", "]:465", "]:25", "]:2525"],
        finder: scan(account::sasl),
        found: &[
            "[smtp.example.com]:587 bob:«hunter2»",
            "[smtp.example.com]:465\tbob@example.com:«p@ss:w0rd»\n",
            "[mail.example.com]:25 bob:«s3cret» # sasl_passwd",
        ],
        kept: &[
            "[smtp.example.com]:587 bob:$PASS",
            "[smtp.example.com]:587 user:password",
            "listens on [::1]:25 only: see the notes",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "aws-key-pair",
        what: "secret access key of AWS beside its key id",
        severity: Severity::Critical,
        literals: &["AKIA", "ASIA", "ABIA", "ACCA"],
        finder: scan(aws::pair),
        found: &[
            "«AK¦IAQYLPMN5HFIQR7XYA»:«Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N»",
            "«AK¦IAQYLPMN5HFIQR7XYA» / «Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N».",
            "«AS¦IAQYLPMN5HFIQR7XYA»\n«Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N»",
        ],
        kept: &[
            "AKIA and da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "ASIAQYLP is too short for Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1",
            "the ids begin with AKIA",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "pypirc",
        what: "password in pypirc",
        keywords: &["password"],
        finder: scan(account::pypirc),
        found: &[
            "[pypi]\nusername = bob\npassword = «hunter2»",
            "[testpypi]\nusername: bob\npassword: «hunter2»\n",
            "repository: https://upload.pypi.org/legacy/\nusername: bob\npassword: «hunter2»",
        ],
        kept: &[
            "[pypi]\nusername = bob\npassword = <password>",
            "[pypi]\npassword = ${PASS}",
            "the password = of [pypi]",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "ldif-password",
        what: "password in LDIF",
        severity: Severity::Medium,
        keywords: &["userpassword:", "olcrootpw:", "unicodepwd:"],
        finder: scan(account::ldif),
        found: &[
            "userPassword: «{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=»",
            "userPassword:: «e1NTSEF9VzZwaDVNbTVQejhHZ2lVTGJQZ3pHMzdtajln»",
            "dn: x\nuserPassword: «s3cret»\ncn: y",
        ],
        kept: &[
            "userPassword: <password>",
            "userPassword: ${PASS}",
            "the attribute userPassword: it holds a hash",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "npmrc",
        what: "token or password in npmrc or Yarn's settings",
        severity: Severity::Critical,
        literals: &[
            "_authToken",
            "_auth",
            "_password",
            "npmAuthToken",
            "npmAuthIdent",
        ],
        finder: scan(cloud::npmrc),
        found: &[
            "//registry.npmjs.org/:_authToken=«9f8c2f4a-0b1d»",
            "//npm.example.com/:_password=«c2VjcmV0»",
            "_auth = «Ym9iOmh1bnRlcjI=»",
        ],
        kept: &[
            "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
            "self._password = getpass()",
            "the _authToken is in .npmrc",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "docker-auth",
        what: "credential in Docker's config",
        keywords: &[
            "auth\":",
            "auth\\\":",
            "auth\" :",
            "identitytoken",
            "registrytoken",
            ".dockerconfigjson",
            ".dockercfg",
        ],
        finder: scan(cloud::docker),
        found: &[
            r#"{"auths": {"https://h": {"auth": "«Ym9iOmh1bnRlcjI=»"}}}"#,
            r#"{\"auth\":\"«Ym9iOmh1bnRlcjI=»\"}"#,
            r#""identitytoken": "«a1b2c3d4e5»""#,
        ],
        kept: &[
            r#""auth": "basic""#,
            r#""auth": "<base64>""#,
            r#""identitytoken": """#,
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "kubeconfig",
        what: "client key, token or password in a kubeconfig",
        severity: Severity::Critical,
        literals: &[
            "client-key-data",
            "token",
            "id-token",
            "refresh-token",
            "access-token",
            "password",
        ],
        finder: scan(cloud::kubeconfig),
        found: &[
            "    client-key-data: «LS0tLS1CRUdJTiBSU0Eg»\n",
            "users:\n- name: x\n  user:\n    token: «abc123def456»\n",
            r#"{"client-key-data":"«LS0tLS1CRUdJTiBSU0Eg»"}"#,
        ],
        kept: &[
            "certificate-authority-data: LS0tLS1CRUdJTiBDRVJU",
            "client-certificate-data: LS0tLS1CRUdJTiBDRVJU",
            "client-key-data: DATA+OMITTED",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "wireguard",
        what: "private or preshared key of WireGuard",
        severity: Severity::Critical,
        keywords: &[
            "privatekey",
            "presharedkey",
            "private_key",
            "preshared_key",
            "private-key",
            "preshared-key",
        ],
        finder: scan(cloud::wireguard),
        found: &[
            "PrivateKey = «yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=»",
            "PresharedKey=«yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=»\r\n",
            "privateKey: \"«yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=»\"",
        ],
        kept: &[
            "PublicKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=",
            "PrivateKey = <private key>",
            "PrivateKey = (hidden)",
        ],
        ..STRUCTURAL
    },
];
