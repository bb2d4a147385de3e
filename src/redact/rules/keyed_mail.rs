//! Bare values of mail.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "postmark-token",
        what: "Postmark server token",
        keywords: &["postmark"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "postmarkToken := \"«0eb9¦a673-aaeb-28d4-e89f-41f50c6f7df4»\"",
            "| Postmark token | «f8f7¦cc44-89a7-2aeb-12ee-c94d8a72f267» | ops |",
            "Use the Postmark token «1e¦9e196b-dd04-de82-09df-9af1d2871e60».",
        ],
        kept: &[
            "Request a50454cd-9243-d46d-1448-8cc7418426bf took 40 ms.",
            "Postmark (plan B) has 8453 rows.",
            "POSTMARK_TOKEN=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "mailjet-secret",
        what: "Mailjet API or secret key",
        keywords: &["mailjet"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "ENV MAILJET_SECRET «26¦81572c8c36fe1c9ba5f95ae87f1b8f»",
            "Mailjet wants a secret, so I sent «1cd¦f55df27e21074e94f0baee8295ab8»; it worked.",
            "The secret of the Mailjet account was «65fd¦71db86147238d121d2e3557230df», says \
             Jo.",
        ],
        kept: &[
            "ETag b0431dd4cb65b64b9ae56829879340b1 did not change.",
            "The Mailjet invoice 5287 came to 49 EUR.",
            "mailjet_secret = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "mandrill-key",
        what: "Mandrill API key (old)",
        keywords: &["mandrill"],
        finder: bare("[A-Za-z0-9_-]{22}", 22),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "const mandrillKey = \"«M_¦ENnZLsWj8PV9xJy1l29u»\";",
            "**Mandrill key**: `«ViC¦diXTtBuT3BYl86Z4M7R»`",
            "Jo sent the Mandrill key by mail: «Va¦Zj67nAeg3NAa9P1Gb1RK»",
        ],
        kept: &[
            "Row jnnAlrjtS4unlsmkdxXnJ1 of the export was empty.",
            "Our Mandrill contract ends on 2025-11-19.",
            "process.env.MANDRILL_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "mailgun-signing-key",
        what: "Mailgun private or signing key",
        keywords: &["mailgun"],
        finder: bare("[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}", 50),
        found: &[
            "let mailgun_signing_key = \"«3282¦b750571322fd15a5741f2b9ec057-e72f2da4-ed405233»\
             \";",
            "Mailgun accepts the key `«9f5¦f4f59e3ee2711c416d1af4d3c4aa1-0c71f213-f0e4cfeb»`, \
             the other one not.",
            "remember the Mailgun key «66¦7808f85d1a759332c2b4cf82ecaa68-e4422974-310db870»",
        ],
        kept: &[
            "Part e1c192195c90c2b3ddf00a9b7d6f3c0e-b5b36b42-7068a327 is out of stock.",
            "I like Mailgun, but the limits are tight.",
            "MAILGUN_SIGNING_KEY={{ mailgun_signing_key }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "sparkpost-key",
        what: "SparkPost API key",
        keywords: &["sparkpost"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "SPARKPOST_KEY = '«3f1¦d1e3e85a2f0e78258da3a1e0b20fb524650d0»'",
            "The SparkPost key «6a3e¦db93723995a0912acd5d5074a3e312944e2f» is new.",
            "I think the key of our SparkPost test account was «2f9¦10bd0b6fb77637ec61e0b9afe1b572\
             c42684d».",
        ],
        kept: &[
            "git show 8af161940797da312c780019ba2cdc313d0d2b6d",
            "Release 1797 drops support for SparkPost.",
            "The SparkPost key goes into SPARKPOST_KEY.",
        ],
        ..KEYED
    },
    Rule {
        kind: "elasticemail-key",
        what: "Elastic Email API key",
        keywords: &["elasticemail", "elastic email", "elastic_email"],
        finder: bare("[A-F0-9]{96}", 96),
        checks: &[Check::Digit],
        found: &[
            "export ELASTICEMAIL_KEY=«B597¦FCE90FC749A1DB7770B5BF367E7C6D025A70B8E3AF65D17C4C83\
             29F74AA0477B49E8B74525AD595E2459894C88C1»",
            "Elastic Email key: «A1¦665DC0183050EEAC378F81486DAEC3845C1A93821DB46F563469C309AD3\
             F555D8F2BE85D9D0CE2D83DB2456D0C5FC1»",
            "The Elastic Email key is «B8¦DE20BD788A70858688CF0952FB745502B0CBB9DA1C9DE3ED05B6D\
             C4DEA9B7E10F26B7D9BF96F0791CE1147BE5A1D55».",
        ],
        kept: &[
            "Look at node 2519E3E949601FA7D44EF6D240B79E77EC02FBEC66620D459AE0631691E7B279A6684\
             2D6B4C70E1D8AFF3437B390CB56 in the graph.",
            "Two people at Elastic Email answered.",
            "Where do I find the Elastic Email key?",
        ],
        ..KEYED
    },
    Rule {
        kind: "mailtrap-token",
        what: "Mailtrap API token",
        severity: Severity::Medium,
        keywords: &["mailtrap"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "| mailtrap_token | «bc09¦69ce6fde6b495a203773b5ea6d57» |",
            "For Mailtrap we use the token «7153¦4341f243d79ddff77db3b561356b», valid until \
             May.",
            "Mailtrap: token \"«b65¦430db64360ca7abbeb83d27cd12ea»\"",
        ],
        kept: &[
            "md5sum: 72b00d5ba3898bab42924a0206cd3938  backup.tar",
            "The Mailtrap plugin at 5ce396e7a9cf31d3512b14fc99c48294ceb4b6ed fails on Windows.",
            "MAILTRAP_TOKEN=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "loops-key",
        what: "Loops API key",
        severity: Severity::Medium,
        keywords: &[
            "loops.so",
            "loops_api",
            "loops api",
            "loops key",
            "loops_key",
        ],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "# Loops\nLOOPS_KEY=«6a¦e2406b6b87cf61070839b833848d2c»",
            "Loops key = «9bf3¦8202c36b377cbafd8819da1d2625», in the vault since June",
            "Jo sent the Loops key by mail: «6ff1¦a045bed2a317532d144617cdd332»",
        ],
        kept: &[
            "Sum of the dump: f130b576afafd26ef61c0ea50e578987",
            "The talk about Loops starts at 10:15.",
            "LOOPS_KEY=1234567890abcdef1234567890abcdef",
        ],
        ..KEYED
    },
    Rule {
        kind: "customerio-key",
        what: "Customer.io API key",
        severity: Severity::Medium,
        keywords: &["customerio", "customer.io", "customer_io"],
        finder: bare("[a-f0-9]{20}", 20),
        found: &[
            "$env:CUSTOMERIO_KEY = \"«b12c¦8e4ffa5caf427400»\"",
            "| Customer.io key | «27a8¦072a5c116dd60b3e» | ops |",
            "Log in to Customer.io with the key «e12¦91c0dc1956936affe».",
        ],
        kept: &[
            "Build 299eb5a189aa05adb836 passed.",
            "Customer.io returned 503 for job 1705, then 200.",
            "process.env.CUSTOMERIO_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "beamer-token",
        what: "Beamer API token",
        severity: Severity::Medium,
        keywords: &["beamer"],
        finder: bare("b_[A-Za-z0-9=_/+-]{44}", 46),
        checks: &[Check::MixedCase],
        found: &[
            "beamer-token = «b_Gn¦=6KoPPz=2Dmi8GxkF4h8JrB239WmAo/JYnqyVUMqc9»",
            "Old Beamer token: «b_¦x2ua1bSbnfEm30zVhL8OQkzsLwNs5_A18s32eeliLgak». Delete it!",
            "The new token for Beamer: «b_¦O/icf7=bE3WSaMzi_p=8DnBpqoKAh2ZkNR7Avs4X4Bjy»",
        ],
        kept: &[
            "The recording b_G3W71UXGZwjw3xx2B-YGbsHtE--fr=vIDJp7ALDxu4hd.wav is in the \
             archive.",
            "The talk about Beamer starts at 10:28.",
            "beamer_token: b_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ],
        ..KEYED
    },
    Rule {
        kind: "hunter-key",
        what: "Hunter API key",
        severity: Severity::Medium,
        keywords: &["hunter"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "hunterKey: «55¦073a1ae083f75c455418429cab8d8b14c27a61»",
            "remember the Hunter key «d8b8¦c0aeb5b237a09bbb85fa03192f1941be3158»",
            "Hunter wants a key, so I sent «c23¦164636ae2f91e798d6a0ee4662070d7331aa4»; it \
             worked.",
        ],
        kept: &[
            "HEAD is now at 59a828fd39a8cd9964c185d6e7f0347cd1c048e0",
            "The Hunter page 3344 shows the numbers.",
            "Hunter key: <from the vault>",
        ],
        ..KEYED
    },
];
