//! Bare values of clouds, which only the vendor's name beside them gives away.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "aws-secret-access-key",
        what: "AWS secret access key",
        severity: Severity::Critical,
        keywords: &["aws", "amazon", "akia"],
        finder: bare("[A-Za-z0-9/+]{40}", 40),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "awsSecretAccessKey: «Bqc¦wP5P18j5HHNoqsyv3+GEcmHPSIHklpHWyccRl»",
            "- AWS secret access key «tpxL¦OukRUN7sz0THVUbUH/MggPzGU58tpf31E4Pc»",
            "Copy the AWS secret access key <«sgEF¦OR0Qsk2jqHMa/5pDnbOxU6dUaveZg8BwkIqS»> to \
             the phone.",
        ],
        kept: &[
            "Parcel IyMkBVZuJFpq/0lOUcI0IGTrOoRPo+4wVJPK1txC arrived.",
            "The AWS invoice 2763 came to 49 EUR.",
            "Where do I find the AWS secret access key?",
        ],
        ..KEYED
    },
    Rule {
        kind: "azure-storage-key",
        what: "Azure storage account key",
        severity: Severity::Critical,
        keywords: &["azure", "accountkey", "core.windows.net"],
        finder: bare("[A-Za-z0-9+/]{86}==", 88),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "AZURE_STORAGE_KEY=«hji9¦eEw0W1n8mGNox/9+qWWRptZDc/Avwg8oN53yvMerGpwZ8GGpVAHU5eNsbX\
             HtK5R0VaMN/pY2ksgMTa8lQ5==» make release",
            "Azure accepts the storage key `«bf¦SKWEpCnbPbf95gYB8s/9Wgn4Q5LjFTNdqwA/uak+HF17E3h\
             F26IQT1BtiZz2hUHrgq5r13GZrX0Sb9b+MUCm==»`, the other one not.",
            "Use the Azure storage key «zb¦KpWCwvD/z3wy7IOgHmuFRu4ESGOk4hETdc5KxuR3LwRZEs8uwRPtJ1r\
             4JJjDKpNmVXZPza92lBu8Wuob0ac0==».",
        ],
        kept: &[
            "Look at node SuBcCyqBr21s1zplntjALCk7iiRA9FXStghXmn0/RrXn4nmls5vcOP7K6RygVt1kUdY2S\
             vh0fU6goAKnjPuybA== in the graph.",
            "We moved away from Azure, see ticket OPS-5790.",
            "Azure rejects a storage key that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "azure-openai-key",
        what: "Azure OpenAI or Cognitive Services key",
        keywords: &["azure", "azureopenai", "openai", "cognitive"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "AZURE_OPENAI_KEY=«02bf¦552275e4937afe5cd177f44ceff7»",
            "Azure OpenAI wants a key, so I sent «995c¦47cae4f5e076b046cbf285732c0f»; it \
             worked.",
            "For Azure OpenAI we use the key «f63¦a01c15ab19b34ed2c4f7f3db70dbc», valid until \
             May.",
        ],
        kept: &[
            "Sum of the dump: 0c7f1c4651b09ee968ac2d8bd10e97f3",
            "Release 1496 drops support for Azure OpenAI.",
            "process.env.AZURE_OPENAI_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "azure-devops-pat-old",
        what: "Azure DevOps personal access token (old)",
        severity: Severity::Critical,
        keywords: &[
            "azure",
            "azuredevops",
            "devops",
            "visualstudio",
            "vsts",
            "ado_",
        ],
        finder: bare("[a-z2-7]{52}", 52),
        checks: &[Check::Digit],
        found: &[
            "export AZURE_DEVOPS_PAT=«dd¦ipvufwf6fwaaqehpm7mcyblm4hjpicyok6khqpmskeyf6cqrin»",
            "Jo sent the Azure DevOps token by mail: «rfq¦4epekm5zmgiuvbzykn4pcu4e7izgbvllonxv3\
             64i26h5gy74p»",
            "The new token for Azure DevOps: «7xhc¦nqaozukbo473e6k35zbfs3c3sqlplalfyhsm24ay3fy6\
             tq3w»",
        ],
        kept: &[
            "The folder pcy7alqselyfcu2z2ctltpifun7jskedizmd7md35kpec53lztrk can go.",
            "Ask Mira who owns the Azure DevOps account.",
            "os.environ[\"AZURE_DEVOPS_PAT\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "azure-search-key",
        what: "Azure AI Search query or admin key",
        keywords: &["azure", "search.windows.net"],
        finder: bare("[A-Za-z0-9]{52}", 52),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "azureSearchKey := \"«bP¦BuLqwEdyKjUM4f3JpTnxAlC8DbTLSMpWmREP3hHfDHKyG7F4s3»\"",
            "Azure AI Search 的 key 是 «tfJ8¦58KFsoMNhPx0tt6GFMOrJOk01iBKnpzvAzL0VIY21S5GnaiZ»。",
            "the key (Azure AI Search) → «Ev¦8SkA0RTWJLBKtczfZGyg5BCjhOu7ahkf0Bkluymu4R7DyqRYL9\
             »",
        ],
        kept: &[
            "Build fahyYPqQs6sUKRmajMsH4dZytng7G2jerYkO0YBVdXHJ4oLLtQUB passed.",
            "Jo set up Azure AI Search in room 17.",
            "AZURE_SEARCH_KEY=YOUR_AZURE_SEARCH_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "google-client-secret-old",
        what: "Google OAuth client secret (old)",
        keywords: &["google", "gcp"],
        finder: bare("[A-Za-z0-9_-]{24}", 24),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "GOOGLE_CLIENT_SECRET: \"«Bsl¦S7oiR0-YZTz1q2OeHP4sz»\"",
            "Old Google client secret: «4N¦FP8C3u0_jRN200YH_C5Xwe». Delete it!",
            "Notre client secret Google : «0hO¦C_IUr8ZB6ctBzTj0nt3Or»",
        ],
        kept: &[
            "The recording 6UlydkWAqK9Wov9YIcvTxVDj.wav is in the archive.",
            "The Google client was upgraded to 4.18.1.",
            "google_client_secret: xxxxxxxxxxxxxxxxxxxxxxxx",
        ],
        ..KEYED
    },
    Rule {
        kind: "recaptcha-secret",
        what: "reCAPTCHA secret key",
        severity: Severity::Medium,
        keywords: &["recaptcha"],
        finder: bare("6L[A-Za-z0-9_-]{38}", 40),
        checks: &[Check::MixedCase],
        found: &[
            "RECAPTCHA_SECRET = '«6L60¦8U66Kg-gadgmU_NIBrlu6ahEtRUszUk1UV3b»'",
            "The secret of the reCAPTCHA account was «6L¦aivpkB_zsVbrAM6ABrgjTOdymTK2eI_A8uZatl\
             », says Jo.",
            "remember the reCAPTCHA secret «6Leh¦wDsux8_8QtA4O4ApeSKLnGDvA3w18CphvPXC»",
        ],
        kept: &[
            "Row 6LV4izSU-0lgrC9sW8gw4Ao8ga0dbLc-R50I5MXq of the export was empty.",
            "The talk about reCAPTCHA starts at 10:19.",
            "RECAPTCHA_SECRET=%RECAPTCHA_SECRET%",
        ],
        ..KEYED
    },
    Rule {
        kind: "cloudflare-api-token",
        what: "Cloudflare API token",
        severity: Severity::Critical,
        keywords: &["cloudflare", "cf_"],
        finder: bare("[A-Za-z0-9_-]{40}", 40),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "const cloudflareApiToken = \"«FS¦tplklP2QRlxcRxjVxFwpOWscbRQd3aC7gQ0ntt»\";",
            "The Cloudflare token «Sxl¦xq71Za98yYMW1q5J5IXyO9OMiF9JE5iEclXyL» is new.",
            "| Cloudflare token | «tkG¦nhlcvMPtZu_9gJ2yXcg3FqqNfy7OQ6L5DN_Jp» | ops |",
        ],
        kept: &[
            "Part E_nRh-vdcCbZv3RC-vyBMmocjNrokBsMsykLFPsZ is out of stock.",
            "Cloudflare support wrote about case 5460.",
            "the Cloudflare token lives in cloudflare_api_token.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "cloudflare-global-key",
        what: "Cloudflare global API key",
        severity: Severity::Critical,
        keywords: &["cloudflare", "cf_"],
        finder: bare("[a-f0-9]{37}", 37),
        found: &[
            "ENV CLOUDFLARE_GLOBAL_KEY «b64¦268454bcdfc6f6f6d09e50453aebe3e420»",
            "My Cloudflare key («237¦a9c9a424efd414a0c20f312d2ca500a02b») was rotated.",
            "The Cloudflare key is «66ab¦0956c22ac3816f676a0c5a275666c294d».",
        ],
        kept: &[
            "The recording 75b8091b53c2764d242feed10315bca86ef84.wav is in the archive.",
            "Two people at Cloudflare answered.",
            "Cloudflare key: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "heroku-uuid",
        what: "Heroku API key (old)",
        severity: Severity::Critical,
        keywords: &["heroku"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "    heroku_api_key: «71c7¦fd8b-6df8-6c0f-45f4-9a2a470e2f78»",
            "I think the key of our Heroku test account was «8b55¦4e63-05a2-e459-349a-e8e5e2979d9b\
             ».",
            "Log in to Heroku with the key «e14¦20715-ec41-57c0-fe96-0e2fa15e0c81».",
        ],
        kept: &[
            "Trace c6c54ed5-4839-e7eb-4420-0a5f3bfec8cd shows two retries.",
            "Heroku costs more since 7681 users joined.",
            "HEROKU_API_KEY={{ heroku_api_key }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "linode-token",
        what: "Linode personal access token",
        severity: Severity::Critical,
        keywords: &["linode"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "# Linode\nLINODE_TOKEN=«8ac2¦cc3f8fc472e7762a1abe854b201975b5bb6656180ffa4d713603c\
             eaaed5f»",
            "Linode token = «621¦560871e91da2fc65b8c8519b00d4796c285bbf6b9cda4a1ff6a1022edf9cd»\
             , in the vault since June",
            "Linode token: «55¦66bcb01452dabc1dd4bec567cdb07b274c93e8d17c19bee8ad2c99c6700384»",
        ],
        kept: &[
            "The layer 883e32ef49af5e8489e1bd03972ea5395636f01dd3e84aa849e852a28b024c95 is 40 \
             MB.",
            "Our Linode contract ends on 2025-11-13.",
            "linode_token = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "vultr-key",
        what: "Vultr API key",
        severity: Severity::Critical,
        keywords: &["vultr"],
        finder: bare("[A-Z0-9]{36}", 36),
        checks: &[Check::Digit],
        found: &[
            "{\"vultr_key\": \"«6H¦QXIESTXTI3FJMT2RA47QTTE7EIV7OUFP8F»\", \"retries\": 3}",
            "**Vultr key**: `«X2¦LFR9J7Y640O7FI7JKSD9CE8ZQ5SV70HNBP»`",
            "Vultr: key \"«RJEX¦GU9AUNE7KJ60WPWLURJMLNWHT566ECME»\"",
        ],
        kept: &[
            "Build N0ZWVNO93F28YHY1EU7NZDBAUZ0DIHI6BUBW passed.",
            "Vultr (plan B) has 6006 rows.",
            "VULTR_KEY=changeme",
        ],
        ..KEYED
    },
];
