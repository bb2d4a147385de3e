//! Bare values of tests, translations and security checks.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "saucelabs-key",
        what: "Sauce Labs access key",
        severity: Severity::Medium,
        keywords: &["sauce", "saucelabs"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "saucelabsKey := \"«cd¦33d8d6-a948-acaa-7c08-30073cd25f2f»\"",
            "Copy the Sauce Labs key <«f8c¦49965-677d-a278-8e20-f3106ed3b43c»> to the phone.",
            "Notre key Sauce Labs : «dde¦97cec-5c4d-5a3c-2d8a-03a62253098b»",
        ],
        kept: &[
            "Request 0d6a197b-009b-fb1f-6802-86496321374e took 40 ms.",
            "Ask Mira who owns the Sauce Labs account.",
            "Sauce Labs rejects a key that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "cypress-key",
        what: "Cypress record key",
        severity: Severity::Medium,
        keywords: &["cypress_", "cypress record", "cypress key"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "# Cypress\nCYPRESS_KEY=«52de¦9e8c-1fec-9d8e-089c-8c79602ee518»",
            "Old Cypress key: «f6a6¦efaf-0267-2f3c-d6ce-0dffa50bb15f». Delete it!",
            "remember the Cypress key «38e¦77819-7958-e047-52da-bb4f16fe13ab»",
        ],
        kept: &[
            "Device d0b8345a-9a9e-81f5-78d4-53d4124dfe2c went offline.",
            "The talk about Cypress starts at 10:16.",
            "Where do I find the Cypress key?",
        ],
        ..KEYED
    },
    Rule {
        kind: "lambdatest-key",
        what: "LambdaTest access key",
        severity: Severity::Medium,
        keywords: &["lambdatest"],
        finder: bare("[A-Za-z0-9]{50}", 50),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "export LAMBDATEST_KEY=«gYj¦DyLwfcSOlX1hbrJQCbwlaYTaBFj5jJ0iiKZmvmZ7ZfgBzeT»",
            "- LambdaTest key «9H¦hMGB8Q75JWVs1zvOXF5FjIVwG9pwOAUonvLMEhTDyRMF6DAC»",
            "For LambdaTest we use the key «Sri9¦VnXz9RxyikMU9HgqcbI1OM6uZH5GlCDz66kLv90mP7Ysmf\
             », valid until May.",
        ],
        kept: &[
            "The recording Rn54JVqZNkcx9FszOX1anBvVRu5aJQfk1oODOiJj0iGppbeTu1.wav is in the \
             archive.",
            "The LambdaTest page 3101 shows the numbers.",
            "LAMBDATEST_KEY=${LAMBDATEST_KEY}",
        ],
        ..KEYED
    },
    Rule {
        kind: "gitter-token",
        what: "Gitter access token",
        severity: Severity::Medium,
        keywords: &["gitter"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "GITTER_TOKEN = '«6d0¦b5c4dbb494bd996f6bcba2759dddcd6632851»'",
            "**Gitter token**: `«c7¦04534c825c0f6ec6d91ca738b866b846eb95b1»`",
            "Use the Gitter token «15¦68790bdfea804ff643915b2e7f175f3e889698».",
        ],
        kept: &[
            "Bisect says 9e25aac8900089ee1b3e83c257eca704c10156fb broke it.",
            "Gitter costs more since 7166 users joined.",
            "process.env.GITTER_TOKEN",
        ],
        ..KEYED
    },
    Rule {
        kind: "lokalise-token",
        what: "Lokalise API token",
        severity: Severity::Medium,
        keywords: &["lokalise"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "    lokalise_token: «5c7¦e05cf27eecee565ac2e7ca3567d8392b5a444»",
            "Lokalise: token \"«05¦03ee6e185426a930f238481cf74dd76f8dcb4c»\"",
            "The token of the Lokalise account was «0e¦41c3c6d938c62521955c38a8f8b91d477d84d0»\
             , says Jo.",
        ],
        kept: &[
            "Merged at 924af99d45ecc0be5ec180a45e2ff7c40ace6c3d.",
            "The Lokalise invoice 4653 came to 49 EUR.",
            "Lokalise token: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "crowdin-token",
        what: "Crowdin personal token",
        severity: Severity::Medium,
        keywords: &["crowdin"],
        finder: bare("[a-f0-9]{80}", 80),
        found: &[
            "crowdin_token = «a6¦bbb6306a21bc635fd0f1337f3d889f6ac9b5cbcdb06c0f7c7b23abc230ac79\
             7529161f15e8d031»",
            "Crowdin token = «c19¦7c3d1877d982d96fc3b74f1e816fece25eba6498a775fd57bdc784950a0ab\
             565d196ec9f6fa1c», in the vault since June",
            "Crowdin accepts the token `«7d¦a63761b7299448e364f37fde367b9addb14f790fe11b4febb48\
             d1690cf5bf67b63abb95962889a»`, the other one not.",
        ],
        kept: &[
            "Build 85280b78eb4cedac4fa166cdfe6a26c4911a6a22b2acb8c80869c0df9de1ed721d3eced6f4b6\
             a61a passed.",
            "Release 9161 drops support for Crowdin.",
            "the Crowdin token lives in crowdin_token.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "shodan-key",
        what: "Shodan API key",
        severity: Severity::Medium,
        keywords: &["shodan"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "set -x SHODAN_KEY «Q96P¦RY9xLeoiRfdikJNDIEIcS1I81VR3»",
            "I think the key of our Shodan test account was «uC¦GNTFYLpeI8TqNjQ2TCcDqNROc5Zb8q».",
            "Shodan wants a key, so I sent «wp0b¦k0wgZdCWf6d0sQUYVkEVbNdA6izm»; it worked.",
        ],
        kept: &[
            "Row jnfXRP5mwvwagD4TuMLH60pyv2s24UFU of the export was empty.",
            "The Shodan client was upgraded to 4.11.1.",
            "SHODAN_KEY={{ shodan_key }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "virustotal-key",
        what: "VirusTotal API key",
        severity: Severity::Medium,
        keywords: &["virustotal", "virus_total", "vt_"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "os.environ[\"VIRUSTOTAL_KEY\"] = \"«c017¦cc85eeb5a420d754e3177c5bb34417dcd5d53c641\
             eaefd42a33c6dc34432»\"",
            "My VirusTotal key («53db¦772c22fb6649ca26ed5880878afd8be5dd5fef84fd09b8b4f3c221bb6\
             a88») was rotated.",
            "the key (VirusTotal) → «fb¦a60a31c44c7886d734f261d246e189f8879e6043aa984efad17500d\
             11a3bf4»",
        ],
        kept: &[
            "The image was sha256:ee34cdbb7773ff14d80b7384ca34426a1c83d13f2e68b1cc8393796f2bcac\
             ac0.",
            "The VirusTotal invoice 5031 came to 49 EUR.",
            "virustotal_key = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "abuseipdb-key",
        what: "AbuseIPDB API key",
        severity: Severity::Medium,
        keywords: &["abuseipdb"],
        finder: bare("[a-f0-9]{80}", 80),
        found: &[
            "ABUSEIPDB_KEY=«fc7¦4ed092ff1fd0cb5d7574aafd2e9a76a5b13d7873338ce43e5b1ab3b276283b2\
             1e92083e71fdd3» make release",
            "AbuseIPDB key: «d4e¦ea69f3a296052ae7912be24f42d34bc392d192af0e17303aabf7892badb133\
             d1cfcf93b0801fe»",
            "Jo sent the AbuseIPDB key by mail: «9a4a¦03d26deb8730f30af4aa62179bcbf66b106fe34a7\
             f37f770664c31bad08131a295f3f2bdece8»",
        ],
        kept: &[
            "The folder 383b4e04cb37dd02803dd69564e9e15b62ee1da06985b9fe4fb85ec4dab44d441880f3b\
             8f194b5ea can go.",
            "AbuseIPDB returned 503 for job 8292, then 200.",
            "os.environ[\"ABUSEIPDB_KEY\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "securitytrails-key",
        what: "SecurityTrails API key",
        severity: Severity::Medium,
        keywords: &["securitytrails"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "ENV SECURITYTRAILS_KEY «Cj¦c4sdeUqXfazxq9j5sPcvFi6gTesS6G»",
            "The new key for SecurityTrails: «AD¦aDK1lUBuP9L9GiniiWlVAm5piMTbUk»",
            "Log in to SecurityTrails with the key «QuP¦sdRY0FAYRz4fGJa20rhCxcTHM4s9l».",
        ],
        kept: &[
            "Part u7dQ8i9FgVknJxERS7QHJGocpfzFqBt9 is out of stock.",
            "SecurityTrails (plan B) has 2040 rows.",
            "SECURITYTRAILS_KEY=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "tenable-key",
        what: "Tenable access or secret key",
        keywords: &["tenable", "nessus"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "tenable-key = «2c¦f076ec2946761029eecc887c4a0819f1cd7b47d8406e85fdb646f7523\
             e93c0»",
            "Use the Tenable secret «a7¦2dc56a2f27c13f84fb29cc29ad7d2a7f648a83390069064051be68d58c\
             fdb9».",
            "Tenable accepts the secret `«eec¦2b59501c35d98ac68d625c433f63a42024ec034eb82357d59\
             0ce267fbde07»`, the other one not.",
        ],
        kept: &[
            "The layer ffeac699851f1f35f864ad4c406d8a175ed989dab57677cf3779ded6758d6ad1 is 40 \
             MB.",
            "The Tenable plugin at 446c4fd57146318ccbcebcf3a164d46036382156 fails on Windows.",
            "TENABLE_KEY=%TENABLE_KEY%",
        ],
        ..KEYED
    },
    Rule {
        kind: "urlscan-key",
        what: "urlscan.io API key",
        severity: Severity::Medium,
        keywords: &["urlscan"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "urlscanKey: «7145¦ea58-e430-471b-789f-114cc43a09b8»",
            "Notre key urlscan.io : «3f¦7e34da-dc56-a46d-bd0c-04ad975177fc»",
            "The urlscan.io key «c0¦33f16e-0fba-b5a5-8555-1f8e90da782a» is new.",
        ],
        kept: &[
            "The row 260ae0dc-10cd-371f-62cb-3e28fbd03153 has no parent.",
            "The urlscan.io page 5813 shows the numbers.",
            "URLSCAN_KEY=12345678-1234-1234-1234-1234567890ab",
        ],
        ..KEYED
    },
    Rule {
        kind: "sidekiq-license",
        what: "Sidekiq licence credentials",
        severity: Severity::Medium,
        keywords: &["sidekiq", "contribsys"],
        finder: bare("[a-f0-9]{8}:[a-f0-9]{8}", 17),
        found: &[
            "sidekiq_license_key=\"«2f5¦63efe:87739d42»\"",
            "Sidekiq licence key: «2f1f¦e55e:218ee5c4»",
            "For Sidekiq we use the licence key «e3¦efb915:70fc5822», valid until May.",
        ],
        kept: &[
            "Row cda93e4f:b3bec0b4 of the export was empty.",
            "I like Sidekiq, but the limits are tight.",
            "The Sidekiq licence key goes into SIDEKIQ_LICENSE_KEY.",
        ],
        ..KEYED
    },
];
