//! Product analytics and feature flags.

use super::{MARKED, around, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "posthog-key",
        what: "PostHog personal API key",
        literals: &["phx_"],
        finder: shape("phx_[A-Za-z0-9_-]{41}", 45),
        checks: &[Check::Digit],
        found: &[
            "phx¦_bCjSSGOHcl-OXClWh-4qDZk2DUUMYR4tsDzyHim6UFr",
            "deploy --posthog-key «phx¦_udw_zCVZWano1VMXbtOkoQ1jtlyNE7JnTZ8NYi7E_ex» --verbose",
            "The one for PostHog is `«phx¦_CZlr7Amvq2Qp2zKPcl8_NZAZd2rAMoKOS_fWiXo-9nX»`.",
        ],
        kept: &[
            "Put yours here: phx_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "A value with phx_ in front comes from PostHog.",
            "phc_9dQ2mZb7XvLk3TnRw8YsHj5Fc1Ga6Pe0UiOtErWq4Zx is the project's, and public.",
        ],
        ..MARKED
    },
    Rule {
        kind: "posthog-flags",
        what: "PostHog feature flags secure key",
        severity: Severity::Medium,
        literals: &["phs_"],
        finder: shape("phs_[A-Za-z0-9_-]{36}", 40),
        checks: &[Check::Digit],
        found: &[
            "ph¦s_9Ad6Qjty4YJ0fitPCvRkKMqTPPqtFstEo6vE",
            "    posthog_flags: «phs¦_OdxWj7d9RvEZ_OVaOHqXFlavYp77Cp1x4T2O»",
            "Found «phs¦_bVo6dk2JiiAfbXvVqxklcFI1X-JiWcZ8EJIw»! Please have it revoked.",
        ],
        kept: &[
            "e.g. phs_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "PostHog: the ones with phs_",
            "In the mail I could read phs_Pes1 and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "segment-public-token",
        what: "Segment Public API token",
        literals: &["sgp_"],
        finder: tailed("sgp_[A-Za-z0-9]{64}", 68, Tail::Exact),
        checks: &[Check::MixedCase],
        found: &[
            "sg¦p_hq0Vw9K4uewDERxocRDZZydi3QmLwhE0r6NqCcImLhsdvZ8ur4AbHEQdQanoEfeB",
            "set -x SEGMENT_PUBLIC_TOKEN «sgp¦_b2EQ6liEEuP61wIrW6iqx5ZWriB33e0GzE12OLWv0SE8KcTR\
             AUKeUfrGIOyO1XqH»",
            "> «sgp¦_svaHCmFxJHmzbtjmUJPTgp25ju9eB6ODHPXO7e8Q8JBuSoq6Wh30sAm8OfsKh6Yk»\n\nwas \
             in the ticket.",
        ],
        kept: &[
            "SEGMENT_PUBLIC_TOKEN={{ segment_public_token }}",
            "\"sgp_\" => \"Segment\",",
            "sgp_jNo is too short for Segment.",
        ],
        ..MARKED
    },
    Rule {
        kind: "launchdarkly",
        what: "LaunchDarkly SDK or API key",
        literals: &["sdk-", "api-"],
        finder: shape(
            "(?:sdk|api)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            40,
        ),
        found: &[
            "sd¦k-3ea409f9-833b-5c0e-2965-f18b9e8a77bd",
            "launchdarkly=«api¦-67c1fa8a-3666-0f38-6bab-eeeb6a6bf676»&page=2",
            "Both of them: [«ap¦i-a3bae320-90be-47f2-d14c-8c67122f96d0»], and nothing else.",
        ],
        kept: &[
            "launchdarkly: sdk-12345678-1234-1234-1234-1234567890ab",
            "if value.starts_with(\"sdk-\") { return Some(Vendor::Known); }",
            "mob-5b0f2d6e-8a91-4c37-9d20-6e1f7a43b8c5 is the mobile one",
        ],
        ..MARKED
    },
    Rule {
        kind: "statsig-key",
        what: "Statsig server secret",
        literals: &["secret-", "console-"],
        finder: tailed("(?:secret|console)-[A-Za-z0-9]{43}", 51, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "secr¦et-8cEjB7kRPH0QGrWbsBNCc0T41UgoZk4sXwtCSFkmV7u",
            "export STATSIG_KEY=«sec¦ret-QjbXNyhqfZIWdX6IeOZpEzo4MmAOxJk19u8ae0D9MTe»",
            "cat .env showed \"«con¦sole-5CL0zA9cb21SgScnZPM8ZMgu9wWHR9jdanDpGPbyGQA»\".",
        ],
        kept: &[
            "STATSIG_KEY=\"secret-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"  # replace me",
            "We filter on secret- (that is Statsig).",
            "It ended up as secret-1eL... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "flagsmith-key",
        what: "Flagsmith server-side key",
        severity: Severity::Medium,
        literals: &["ser."],
        finder: tailed(r"ser\.[A-Za-z0-9]{22}", 26, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "se¦r.Y9E0HDeRJ7iadk2Lmu2eBv",
            "FLAGSMITH_KEY = '«se¦r.uchOkHSBRs5PCUcu5G86vD»'  # rotate in May",
            "We use two at Flagsmith: «ser¦.a9MtqM1JwKscqTOxZcxtSd», and one more for tests.",
        ],
        kept: &[
            "process.env.FLAGSMITH_KEY",
            "Flagsmith documents the ser. prefix.",
            "user.authenticationProviderFactory",
        ],
        ..MARKED
    },
    Rule {
        kind: "unleash-token",
        what: "Unleash client or admin token",
        severity: Severity::Medium,
        literals: &[":production.", ":development.", ":*.", ":default."],
        finder: around(
            r"[A-Za-z0-9_*-]{1,40}:(?:production|development|default|\*)\.[a-f0-9]{56}",
            40,
            69,
            Tail::Word,
        ),
        found: &[
            "defa¦ult:production.40cbc648daf5b1925514dbfdfddae874206a80ba619133907d2774451217",
            "  - UNLEASH_TOKEN=«defa¦ult:production.2147a173b3cf52014f343fafe738f829ed91f697cf9\
             aa523356fee6616e9»",
            "La clé de Unleash était «def¦ault:production.1b43df31fd0a50a5ca50beda6893593863cc9\
             8a02f5205f4a24580a4ca8a». À changer.",
        ],
        kept: &[
            "cp .env.sample .env  # UNLEASH_TOKEN=x:production.1234567890abcdef1234567890abcdef\
             1234567890abcdef12345678",
            "Everything from :production. on is cut by the console.",
            "The console shows only :production.e75f… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "growthbook-key",
        what: "GrowthBook API key",
        severity: Severity::Medium,
        literals: &["secret_admin_", "secret_readonly_", "secret_user_"],
        finder: shape("secret_(?:admin|readonly|user)_[A-Za-z0-9]{30}", 46),
        checks: &[Check::Digit],
        found: &[
            "se¦cret_admin_Fe7mQdCu4EazeeaqAV0J10BhrLFHzTMtr07eYFkq",
            "  GROWTHBOOK_KEY: «secr¦et_admin_1fN0O73GR6vsR62j7pcKaftSRNBhcHnrWgMWtLZ8»\n  \
             REPLICAS: 2",
            "I pasted «sec¦ret_user_aafxYYVbdJMygl4GDyYKwUm08QD9aCAXx56tLmnB», then the call \
             went through.",
        ],
        kept: &[
            "The sample has secret_admin_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, which is no real one.",
            "Is the part after secret_admin_ random?",
            "Row 7: secret_admin_i4v7Q…",
        ],
        ..MARKED
    },
    Rule {
        kind: "devcycle-key",
        what: "DevCycle server SDK key",
        severity: Severity::Medium,
        literals: &["dvc_server_"],
        finder: shape("dvc_server_[A-Za-z0-9_]{20}", 31),
        checks: &[Check::Digit],
        found: &[
            "dv¦c_server_knwCBT6xKlJq_JevTS0W",
            "DEVCYCLE_KEY: \"«dv¦c_server_Fe5aHAMRQ_TtMgrG3QtO»\"",
            "DevCycle gave us «dvc¦_server_QD2Dkwqp1TXMj9kcw6Zo», which runs out in June.",
        ],
        kept: &[
            "The README says dvc_server_xxxxxxxxxxxxxxxxxxxx.",
            "return s.startsWith('dvc_server_');",
            "Masked: dvc_server_6Yszs****",
        ],
        ..MARKED
    },
    Rule {
        kind: "configcat-key",
        what: "ConfigCat SDK key",
        severity: Severity::Low,
        literals: &["configcat-sdk-1/"],
        finder: shape("configcat-sdk-1/[A-Za-z0-9_-]{22}/[A-Za-z0-9_-]{22}", 61),
        found: &[
            "con¦figcat-sdk-1/7rzZzuiaxMTcl5RhQNcXNb/iMj4EMytF40kgKINpRsJtC",
            "printf %s «co¦nfigcat-sdk-1/LZLUyVi8bzcrdi3_l_UCxi/vsyBYebg7RDEfS4LDOyM0T» | \
             pbcopy",
            "Please do not share «con¦figcat-sdk-1/J8WlRDosUlwMGVGst06yWu/NArANSTyEMHvtGc9VJ2Zq\
             s».",
        ],
        kept: &[
            "Put yours here: configcat-sdk-1/xxxxxxxxxxxxxxxxxxxxxx/xxxxxxxxxxxxxxxxxxxxxx",
            "They renamed configcat-sdk-1/ twice at ConfigCat.",
            "ConfigCat prints configcat-sdk-1/RkKp*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "fullstory-key",
        what: "FullStory API key",
        severity: Severity::Medium,
        literals: &["na1.", "eu1."],
        finder: tailed(r"(?:na|eu)1\.[A-Za-z0-9+/]{80}", 84, Tail::Base64),
        found: &[
            "na1¦.u6JO3w8PAtlg/rxavKHE3g4nOeG+MfJIkPWMvG55zRaj6Tij9na9sljXq91/NbXMh97ijBnu1ag2T\
             +kpQ9f6ps13AYDz4aell6VU",
            "\"fullstory_key\": \"«eu1¦.P8mQaCI9IIMVY4ZmaquRxEGuDANCgLRwnWwUGRVlcpNG1Kugplm7cYo\
             VCPuKADsRn2kgpxA4SPfHjnggRFWpBk3w9rBWchyZILEh»\",",
            "It was a FullStory one («na¦1.rJXIfkp7Ke/D8gtfYJuBLNck4pSvwfIiKG+HYakbK/m+GA292oRD\
             AeeQs6S3gw/89Y4xw6GlGrImTgbyFLo47LDRII8syK6wvSsN») all along.",
        ],
        kept: &[
            "FULLSTORY_KEY=\"na1.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxx\"  # replace me",
            "grep -rn 'na1.' src/ found nothing.",
            "The console shows only na1.5hSiBt… of it.",
        ],
        ..MARKED
    },
];
