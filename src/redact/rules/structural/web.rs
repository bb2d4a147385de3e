//! Credentials in URIs, connection strings, headers, cookies and commands.

use super::{STRUCTURAL, scan};
use crate::redact::rule::{Rule, Severity};
use crate::redact::structure::{command, connection, cookie, header, signed, uri};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "uri-userinfo",
        what: "password or token in a URI",
        literals: &["://"],
        finder: scan(uri::userinfo),
        found: &[
            "postgres://dev:«W1nt3rF0x_995»@localhost/devdb",
            "redis://:«p4ss/w0rd»@cache:6379/0.",
            "git clone https://«8f3kd92ks01lqp47vmz2»@github.com/o/r",
        ],
        kept: &[
            "postgres://user:password@localhost/db",
            "postgres://${USER}:${PASS}@localhost/db",
            "http://localhost:8080/@foo and git@github.com:org/repo",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "connection-string",
        what: "password or key in a connection string",
        literals: &["@tcp(", "@unix(", "jdbc:oracle:thin:"],
        keywords: &[
            "password",
            "passwd",
            "pwd",
            "accountkey",
            "sharedaccesskey",
            "sharedaccesssignature",
        ],
        finder: scan(connection::any),
        found: &[
            "Server=db;User Id=sa;Password=«S3cr et!»;Encrypt=true",
            "AccountName=a;AccountKey=«dGhpcyBpcyBhIGtleQ==»;EndpointSuffix=x",
            "host=db user=app password=«S3cret» dbname=x",
        ],
        kept: &[
            "Server=db;Password=${PASS};Database=x",
            "Server=db;Integrated Security=true",
            "the password = field is empty",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "http-authorization",
        what: "credential in an HTTP header",
        keywords: &[
            "authorization",
            "bearer",
            "basic",
            "api-key",
            "apikey",
            "x-auth-token",
            "x-auth-key",
            "x-vault-token",
            "private-token",
            "job-token",
            "deploy-token",
            "x-access-token",
            "x-session-token",
            "x-consul-token",
            "circle-token",
            "x-figma-token",
            "x-shopify-access-token",
            "x-amz-security-token",
            "x-functions-key",
            "subscription-key",
            "dd-application-key",
            "x-rapidapi-key",
            "x-subscription-token",
            "x-honeycomb-team",
            "x-refresh-token",
            "x-gitlab-token",
            "x-github-token",
            "x-csrf-token",
            "x-xsrf-token",
            "x-token",
            "x-secret",
            "x-aws-ec2-metadata-token",
        ],
        finder: scan(header::any),
        found: &[
            "Authorization: Bearer «abc123»",
            "curl -H \"X-Api-Key: «abcd1234»\" https://h",
            "{\"Authorization\": \"Basic «Ym9iOmh1bnRlcjI=»\"}",
        ],
        kept: &[
            "Authorization: Bearer ${TOKEN}",
            "Bearer authentication and Basic auth",
            "the bearer of bad news",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "cookie",
        what: "session cookie",
        literals: &[" -b "],
        keywords: &["cookie"],
        finder: scan(cookie::any),
        found: &[
            "Cookie: theme=dark; sessionid=«38afes7a8»",
            "Set-Cookie: sid=«a3fWa12»; Path=/; HttpOnly",
            "document.cookie = \"auth=«abc123»; path=/\"",
        ],
        kept: &[
            "Cookie: theme=dark; lang=en",
            "Cookie: session=<session>",
            "the cookie: it expires in a day",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "cli-password",
        what: "password among the arguments of a command",
        literals: &[
            " -p",
            " -a ",
            " -u",
            " -U ",
            " -P ",
            " -w ",
            " --user",
            "| ",
            "htpasswd ",
            "PGPASSWORD=",
            "MYSQL_PWD=",
            "SSHPASS=",
            "REDISCLI_AUTH=",
            "RESTIC_PASSWORD=",
            "BORG_PASSPHRASE=",
            "LDAP_PASSWORD=",
            "MONGO_PASSWORD=",
        ],
        keywords: &[
            "net user ",
            "password",
            "passwd",
            "passphrase",
            "-pass",
            "-pwd",
            "-secret",
            "-token",
            "api-key",
            "-apikey",
            "-authkey",
            "-auth-key",
            "access-key",
            "secret-key",
            "private-key",
            "-pat",
        ],
        finder: scan(command::any),
        found: &[
            "mysql -u root -p«S3cret» db",
            "curl -u bob:«hunter2» https://h",
            "PGPASSWORD=«hunter2» psql -h h",
        ],
        kept: &[
            "mysql -u root -p db",
            "tool --password-stdin",
            "use the flag --password instead.",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "azure-sas",
        what: "signature of a shared access (Azure)",
        keywords: &["sig=", "sig%3d"],
        finder: scan(signed::azure),
        found: &[
            "https://x.blob.core.windows.net/c?sv=2022-11-02&sig=«aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC9%3D»&sp=r",
            "https://x/c?sv=2022&se=1&sig=«aB3dE5fG7hI9jK1lM3nO5+Q7/S9tU1vW3xY5zA7bC9=».",
            "https://prod.logic.azure.com/w/1?sp=%2Ftriggers&sv=1.0&sig=«aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x»",
        ],
        kept: &[
            "https://x/c?sv=2022&sig=<signature>",
            "https://x/c?sig=aB3dE5fG7hI9jK1lM3nO5pQ7",
            "the parameter sig= signs the rest",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "aws-presigned",
        what: "signature of a presigned URL (AWS)",
        severity: Severity::Medium,
        keywords: &["x-amz-signature", "x-amz-security-token", "signature="],
        finder: scan(signed::aws),
        found: &[
            "https://b/k?X-Amz-Date=1&X-Amz-Signature=«fe5f80f77d5fa3beca038a248ff027d0445342fe»",
            "https://b/k?X-Amz-Security-Token=«IQoJb3JpZ2luX2VjEJr%2F%2F»&x=1",
            "https://b/k?AWSAccessKeyId=AK&Expires=1&Signature=«vjbyPxybdZaNmGa%2ByT272YEAiv4%3D»",
        ],
        kept: &[
            "https://b/k?X-Amz-Signature=...",
            "https://b/k?X-Amz-Signature=<hex>",
            "Signature=vjbyPxybdZaNmGayT272YEAiv4",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "gcp-signed-url",
        what: "signature of a signed URL (Google Cloud)",
        severity: Severity::Medium,
        keywords: &["x-goog-signature", "signature="],
        finder: scan(signed::gcp),
        found: &[
            "https://storage.googleapis.com/b/o?X-Goog-Date=1&X-Goog-Signature=«247a2aa45f169edf4d187d54e7cc46e4»",
            "https://h/o?GoogleAccessId=x&Expires=1&Signature=«vjbyPxybdZaNmGa%2ByT272YEAiv4%3D»",
            "X-Goog-Signature=«247a2aa45f169edf4d187d54e7cc46e4»",
        ],
        kept: &[
            "X-Goog-Signature=<hex>",
            "X-Goog-Signature=...",
            "Signature=vjbyPxybdZaNmGayT272YEAiv4",
        ],
        ..STRUCTURAL
    },
];
