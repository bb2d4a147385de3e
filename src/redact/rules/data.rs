//! Databases, warehouses and what moves data between them.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "supabase-token",
        what: "Supabase management token or secret key",
        severity: Severity::Critical,
        literals: &["sbp_", "sb_secret_"],
        finder: shape("sb(?:p_[a-f0-9]{40}|_secret_[A-Za-z0-9_-]{31})", 44),
        found: &[
            "sbp¦_ae22a3f6511d0f1ca9092d25185e349f89fecbbb",
            "| Supabase | `«sbp¦_518ce85402fc5e3cb47cfe84a2d629c1f2951769»` | staging |",
            "at 10:42 the proxy logged «sb¦_secret_Jsqdl6CV3_fKF837AnNwQ0Wor2lObUe»|200|/v1/ite\
             ms",
        ],
        kept: &[
            "SUPABASE_TOKEN=%SUPABASE_TOKEN%",
            "return s.startsWith('sbp_');",
            "It ended up as sbp_717... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "neon-key",
        what: "Neon API key",
        severity: Severity::Critical,
        literals: &["napi_"],
        finder: shape("napi_[a-z0-9]{64}", 69),
        found: &[
            "napi¦_whtj12owl2sd32u91usbikbwok4i4njyfcpmossr97y7nqdr8f6iyisp1h0i39z7",
            "printf %s «nap¦i_tg98ehrhhdacc6mzbwv0vclwjtwwnobkl3ba2rypxvw2hbz6g838moh06h2r7j15\
             » | pbcopy",
            "cat .env showed \"«na¦pi_xu7epc6akljorviepfpz5sb2i5ltafscswhushydj0xvjls6gtmr6o79r\
             nddgysi»\".",
        ],
        kept: &[
            "neon_key: \"napi_…\"",
            "if value.starts_with(\"napi_\") { return Some(Vendor::Known); }",
            "Neon answers: bad value napi_oox…",
        ],
        ..MARKED
    },
    Rule {
        kind: "planetscale",
        what: "PlanetScale token or password",
        severity: Severity::Critical,
        literals: &["pscale_"],
        finder: tailed(
            "pscale_(?:tkn|pw|oauth|otkn)_[A-Za-z0-9_.=-]{32}",
            45,
            Tail::Dotted,
        ),
        found: &[
            "psca¦le_pw_psFHMXqJRhgawSk1c.7p7Lfhq0I.nwXCWxBfoKlzLGh",
            "| name | value |\n|---|---|\n| planetscale | \
             «psc¦ale_otkn_RHq1-OKs3H1CeJ.kcRAMKimBypD8eV.QUhKna42LAnp» |",
            "In PlanetScale, «ps¦cale_pw_oP4CcUnu963eXcx0gLdlslobQpoBmsHY7cpNwgkXFKu» was made \
             by the intern.",
        ],
        kept: &[
            "PLANETSCALE=pscale_tkn_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "PlanetScale: the ones with pscale_",
            "Row 7: pscale_acW3rW…",
        ],
        ..MARKED
    },
    Rule {
        kind: "databricks-pat",
        what: "Databricks personal access token",
        severity: Severity::Critical,
        literals: &["dapi"],
        finder: tailed("dapi[a-f0-9]{32}(?:-[0-9]{1,2})?", 39, Tail::Exact),
        found: &[
            "da¦picdafa2b86d37241cc0692e6faea47adb",
            "# .env\nPORT=8080\nDATABRICKS_PAT=«dap¦if0a7290ad7ac2aacf0f818dcab03d35d-1»\nLOG=i\
             nfo",
            "- [ ] revoke «da¦pie6bf40a110928ed71b3036c01f653bd9-75»",
        ],
        kept: &[
            "DATABRICKS_PAT=\"dapi1234567890abcdef1234567890abcdef\"  # replace me",
            "case dapi*) echo Databricks ;;",
            "The console shows only dapi886b34… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "databricks-oauth-secret",
        what: "Databricks OAuth client secret",
        severity: Severity::Critical,
        literals: &["dose"],
        finder: tailed("dose[a-f0-9]{32}", 36, Tail::Exact),
        found: &[
            "dos¦e05fb1262246d3b4dd11d6b33095e7b3e",
            "const databricksOauthSecret = \"«do¦sedd156e066e7ec59b5f297f336e5dbdd7»\";",
            "1. Copy «do¦se18c3bd77e3b7fee61de726eb5a9a0561»\n2. Open Databricks\n3. Paste it",
        ],
        kept: &[
            "databricks_oauth_secret: dose<yours>",
            "The dose ones belong to Databricks, ask them.",
            "Only dose0b9a was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "aiven-password",
        what: "Aiven service password",
        severity: Severity::Critical,
        literals: &["AVNS_"],
        finder: shape("AVNS_[A-Za-z0-9_-]{19}", 24),
        found: &[
            "AV¦NS_31S_yU7JqrfY2dk3L48",
            "AIVEN_PASSWORD=«AV¦NS_EnYQr5Xk2dkGh1GOCG4» make release",
            "He read it out: «AVNS¦_Ra7Xd0xQ40t4hAUMnpT». Nobody noticed.",
        ],
        kept: &[
            "Put yours here: AVNS_xxxxxxxxxxxxxxxxxxx",
            "Aiven: the ones with AVNS_",
            "Aiven prints AVNS_4NDW*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "mongodb-atlas",
        what: "MongoDB Atlas service account secret",
        severity: Severity::Critical,
        literals: &["mdb_sa_sk_"],
        finder: shape("mdb_sa_sk_[A-Za-z0-9_-]{40}", 50),
        found: &[
            "mdb_¦sa_sk_x6dvFWEUEkEyPo_KSj3QT_cIR6f0iJk-OZfB5gtW",
            "mongodbAtlas: '«mdb¦_sa_sk_ceGaZ-3U5I2zTQMqdWoBEkpFbD3yjfrehAXqzmjl»',",
            "The build printed «mdb¦_sa_sk_q0UhqR2AnhEySB3BR4QbHQjD3eLs7E-vrMlO2bQ3»\nand went \
             on.",
        ],
        kept: &[
            "`mdb_sa_sk_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` in the docs",
            "\"mdb_sa_sk_\" => \"MongoDB Atlas\",",
            "typed mdb_sa_sk_HOc, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "cockroach-key",
        what: "CockroachDB Cloud API key",
        severity: Severity::Critical,
        literals: &["CCDB1_"],
        finder: shape("CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}", 69),
        found: &[
            "CCD¦B1_1lDpT9WKlyE0cEzK5rgBl8_2R0QUW8LeX2bcU3X6nDRVXFUGXjPsS4xHmpVADla",
            "[default]\ncockroach_key = «CCD¦B1_CAFHuJvOzxt3k41roC4nE5_Knmc4abPKtPbVrSeoqO6k4sv\
             UK6Monee6CLQz6ah»\nregion = north",
            "Le jeton «CC¦DB1_qO8mETrESsX9jCyVLWh5aF_rVtSbEM78abFF1krNOTL0yKKOYwPMRgFfPnQS5qn»\
             , c'est pour la préproduction.",
        ],
        kept: &[
            "cockroach_key: CCDB1_xxxxxxxxxxxxxxxxxxxxxx_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xx",
            "A value with CCDB1_ in front comes from CockroachDB Cloud.",
            "CCDB1_olGEh is too short for CockroachDB Cloud.",
        ],
        ..MARKED
    },
    Rule {
        kind: "clickhouse-key",
        what: "ClickHouse Cloud API key secret",
        severity: Severity::Critical,
        literals: &["4b1d"],
        finder: tailed("4b1d[A-Za-z0-9]{38}", 42, Tail::Exact),
        checks: &[Check::Random, Check::MixedCase],
        found: &[
            "4b1¦dEAtRw3KTD5hoKssCVADIvpgyjMW5fDZtHOLg1r",
            "# .env\nPORT=8080\nCLICKHOUSE_KEY=«4b1¦d9PZwHwAvHdViTbsApYJc3y6JYTchKrpgYFyKqP»\nL\
             OG=info",
            "Found «4b1¦dCb2Foe6ZVuNlUyeRGrWQ6PSU1ibfXuuRCz8Bz1»! Please have it revoked.",
        ],
        kept: &[
            "clickhouse_key: 4b1dxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "The linter looks for `4b1d` at the start of a word.",
            "The screenshot ends at 4b1dw3V",
        ],
        ..MARKED
    },
    Rule {
        kind: "confluent-secret",
        what: "Confluent Cloud API secret (2025 form)",
        severity: Severity::Critical,
        literals: &["cflt"],
        finder: tailed("cflt[A-Za-z0-9+/]{60}", 64, Tail::Base64),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "cf¦ltU6N9oCxLnAY6D7QKr395rCpHZO/jFXHNmLrX2rNAPESRZG4GHBf29y78EYhc",
            "| name | value |\n|---|---|\n| confluent_secret | \
             «cf¦ltStD1OE5Ir9S5W0hq4R1THQ9uH2v3QDMnrqduqYppm7aaciG4idZqgOV3I5FU» |",
            "Is «cfl¦tpnkXIbXQA2LDS9dmp34RxDngS+7oUB1jxuBwOFVqmOuCUne0kY4pDN+yTJtO» still in \
             use?",
        ],
        kept: &[
            "cflt... goes here",
            "Strings with cflt are new, the others are old.",
            "In the mail I could read cfltQuZ and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "astra-token",
        what: "DataStax Astra application token",
        severity: Severity::Critical,
        literals: &["AstraCS:"],
        finder: shape("AstraCS:[A-Za-z0-9]{20,30}:[a-f0-9]{64}", 103),
        found: &[
            "Astr¦aCS:ne80sRQLrziM7l3L5uYaToZ5QMs:e5a7a6c9b7c8fb444f8faa1c2444dfde43c35fb65f582\
             0f214c09fb64353636f",
            "ASTRA_TOKEN=«Astr¦aCS:HAupilQbybi8Ry7ms5iVMmddyS2:97828ca4871477cac6fc62e406b5c194\
             acfc54ea1ceb5bf32a1ce3fd6fabd5e3»",
            "See <«Astr¦aCS:EZhPrSuDHCo5422qmYvVNxWCyxr2W:fab98a85c84aff32f0f547d27ddf0675e0348\
             10c66fb8f885c3bb4d2765c06d9»> for DataStax Astra.",
        ],
        kept: &[
            "ASTRA_TOKEN=AstraCS:xxxxxxxxxxxxxxxxxxxx:1234567890abcdef1234567890abcdef123456789\
             0abcdef1234567890abcdef",
            "if value.starts_with(\"AstraCS:\") { return Some(Vendor::Known); }",
            "The list had AstraCS:a9f (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "xata-key",
        what: "Xata API key",
        literals: &["xau_"],
        finder: shape("xau_[A-Za-z0-9]{36}", 40),
        checks: &[Check::Digit],
        found: &[
            "xau¦_0qIJqUrfFVYNXcVVEUSSlIKOtH7sIxEjLsFz",
            "  XATA_KEY: «xa¦u_9CH01PUPz9Gb5YcFA2bjmCIXa33pGKQXifHl»\n  REPLICAS: 2",
            "That was «xa¦u_9r1IquAuosB6viIvdsPs4C2b5bRkSFHmXVWk», as far as I remember.",
        ],
        kept: &[
            "cp .env.sample .env  # XATA_KEY=xau_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "Xata changed to the xau_ form last year.",
            "The list had xau_Y87B0k (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "convex-key",
        what: "Convex deploy key",
        severity: Severity::Critical,
        literals: &["prod:", "dev:", "preview:"],
        finder: tailed(
            r"(?:prod|dev|preview):[a-z0-9:-]{6,60}\|[A-Za-z0-9+/]{40}",
            109,
            Tail::Base64,
        ),
        checks: &[Check::Digit],
        found: &[
            "prod¦:quick-otter-911|aB7mjOY9PL3ilI8MTcqG8A3cRdAcDXp1Zfugnmd6X3v1HPNc2u5wB19G78pK\
             ezLoLA8YsDcO94Iw7kBp=",
            "  - CONVEX_KEY=«prod¦:quick-otter-198|kqpxJqB8habwR72vAQ7fU0JF2nZ6hk1tmmvStGpt1cPc\
             R6FEEmsygR7VAidxI8aI8OTG4VOEgBhgzevE=»",
            "Both of them: [«pr¦od:quick-otter-959|9n36K1ytO2aTSVtsUeeLH4jFMxVfJ1KuErtS9I3p6qFs\
             UgGGWlm5PUT8gPpQcGORZrJvTEp9NSZ5CBqE=»], and nothing else.",
        ],
        kept: &[
            "process.env.CONVEX_KEY",
            "return s.startsWith('prod:');",
            "typed prod:hup, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "appwrite-key",
        what: "Appwrite API key",
        severity: Severity::Critical,
        literals: &["standard_"],
        finder: shape("standard_[a-f0-9]{200}", 209),
        found: &[
            "sta¦ndard_1e4a307e51bca3fff56f606f07b1d655e3e212ed1049d4ed3f1455abdcc015b5529dbad6\
             b72d345043b79b6a8f0de09aea2da38016330af7de9510f5203e87e38fc8b9abcc3bc5c047f51ba1f6\
             0ab6967d18a2a439eeb5af9b16916229daeb22271cca553f929a2691928f5eeed8644e86d15d4ca1ab\
             87a8272f12586e9ae7f0",
            "ARG APPWRITE_KEY=\"«st¦andard_7e0eb5575999383f9a8fa5b7e99e6bbf518a02a7f13fa99f42cb\
             0e5bf6f83212ca14b4154ff2e1300509ad73de104ceac1b7fc5b623c90112966d092a38dea58f0d25d\
             22d70ba80a85ce8ac2293d85867465764c9bae6d776fed9bd7372dbee9e01bde3e192561ee05c0aad8\
             6210832f408ffd32ee58e25c2385ade971d59fa1»\"",
            "Please do not share «st¦andard_50b8f5730801e8e275b507a5b49e037a2a607f956b76ed16b87\
             1b12855a8f51f8e622b41c4dc214780f45a74c3a50f114629a18383e6a67dd6b2121ec461828cf0d73\
             dfa8cd4c3fca2eb2f3849df7b6d8608e60c286e4ee677fcdf5fdc289d15c8854fa2b2e50331376ad7a\
             a9758994cd88e0104819294a4aca30f41ced6036a».",
        ],
        kept: &[
            "APPWRITE_KEY=standard_YOUR_VALUE_HERE",
            "Appwrite documents the standard_ prefix.",
            "In the mail I could read standard_1a52 and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "tinybird-token",
        what: "Tinybird token",
        literals: &["p.eyJ"],
        finder: shape(r"p\.eyJ[A-Za-z0-9_-]{40,400}\.[A-Za-z0-9_-]{40}", 446),
        found: &[
            "p.e¦yJ1IjogUck2mN6y2HNkYJi928VjXy1ggxqHbOl0ReUEWhoFm13Lt7nYj7OJwOYYxEhn.aQDRm0bEiD\
             aMgfHa4x9MNqJXcpXzQLBWMhExJz2cmAJ",
            "set -x TINYBIRD_TOKEN «p.ey¦J1Ijogpz7TqoW5ghXzpAoPrstGhiKHZzCmln539MMl8JQ43UWiCwQY\
             kwzBOSRIXs4o.wX1p3NnnzdhNrHLP6eFb9LLN8C2us8MKa2kkHxCxF0T»",
            "Tinybird (staging): «p.¦eyJ1IjogSQwiWXNXVDu8Vz6rMSwwVJRIMpOAkuK5p6XoKSzZ0qXdpRNlwj\
             vYIfn2jl0D.iMt3koZWNOJHUJDdvr84b7rsB37eoDM7FD2H2S1xQzP»;",
        ],
        kept: &[
            "p.eyJ****************",
            "We filter on p.eyJ (that is Tinybird).",
            "Only p.eyJDwI was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "materialize-key",
        what: "Materialize app password",
        severity: Severity::Critical,
        literals: &["mzp_"],
        finder: shape("mzp_[a-f0-9]{64}", 68),
        found: &[
            "mz¦p_a8196460d6808483d38b46fea7a639fa06258d68592168435b11dc34a5688e3c",
            "deploy --materialize-key «mzp¦_177cb21978d5fe33654e10bbe7c3ea5d16e7034a8bf70f3193e\
             4a858049afcb2» --verbose",
            "For Materialize log in with «mz¦p_7879e1483d804c090d6b5e8251b7c903649712ef703c54a4\
             ef56d6fd3c1437cf», not with the old one.",
        ],
        kept: &[
            "Put yours here: mzp_1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcd\
             ef",
            "What does mzp_ stand for?",
            "It ended up as mzp_d000c4... in the report.",
        ],
        ..MARKED
    },
];
