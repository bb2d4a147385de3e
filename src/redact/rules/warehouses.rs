//! Search, warehouses and reports.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "elastic-cloud-key",
        what: "Elastic Cloud API key",
        severity: Severity::Critical,
        literals: &["essu_"],
        finder: tailed("essu_[A-Za-z0-9_+/-]{60}", 65, Tail::Base64),
        found: &[
            "essu¦_ER+evKbeHA_athcwmYBi_jNhsIvK+Cgp1T0FPgVyWrWTA_xSPur+xaUc8jus05LyTCFYlDOhcQdg\
             aLXz",
            "curl -H \"X-Api-Key: «essu¦_am9wJzBgdacWc/P2Wk8sXuAxHy9/bwvOhBMCu17PSvbUw1wH-QkRM5\
             kcYnuId3Jw5ghGLWT61Ba5xSvp»\" https://api.internal.test/v1",
            "- [ ] revoke «essu¦_/T1b/LmFIzzuC0o9f9kPxGdP_9P0B_YBv-2n8n-dE7UIxjU7lkvQtL+MTnqktp\
             dRTA8D8IOL6ZNFC9fJ»",
        ],
        kept: &[
            "ELASTIC_CLOUD_KEY=<your Elastic Cloud value>",
            "Everything from essu_ on is cut by the console.",
            "The screenshot ends at essu_YdLd",
        ],
        ..MARKED
    },
    Rule {
        kind: "elastic-service-token",
        what: "Elasticsearch service account token",
        severity: Severity::Critical,
        literals: &["AAEAAWVsYXN0aWM"],
        finder: tailed("AAEAAWVsYXN0aWM[A-Za-z0-9+/_-]{30}", 45, Tail::Base64),
        found: &[
            "AAE¦AAWVsYXN0aWMvZmxlZXQtc2VydmVyLb3fZiJyuKaCSLV6KIwASf34eGl2XihJ3qlzAxwuEOuNp7tHz",
            "{\"elasticServiceToken\": \"«AAEA¦AWVsYXN0aWMvZmxlZXQtc2VydmVyLbwPs9NDlSOL1V6ozZSn\
             BTOfpDRPTL6XUnogs5bSIQseD86sd»\", \"retries\": 3}",
            "«AAE¦AAWVsYXN0aWMvZmxlZXQtc2VydmVyLcj6GsvXSrS3wosiSPOebMM2nHLCKdIiZnOaZHB6Qu3ryDCM\
             R»，来自 Elasticsearch。",
        ],
        kept: &[
            "ELASTIC_SERVICE_TOKEN=${ELASTIC_SERVICE_TOKEN}",
            "`AAEAAWVsYXN0aWM` is how Elasticsearch marks its own.",
            "Elasticsearch answers: bad value AAEAAWVsYXN0aWM07S5K…",
        ],
        ..MARKED
    },
    Rule {
        kind: "dbt-token",
        what: "dbt Cloud service or user token",
        literals: &["dbtu_", "dbtc_"],
        finder: shape("dbt[uc]_[A-Za-z0-9_-]{30}", 35),
        found: &[
            "db¦tu_VM8aZbNS7RuicKSb8QF6oJEcwAxEA6Sss99T0GvA",
            "os.environ[\"DBT_TOKEN\"] = \"«db¦tu_jvxb6NysdW3NvrqOhcJ_HeEekR1OgYg65MznE2Nu»\"",
            "The one for dbt Cloud is `«dbtc¦_l35aLibLtBOVzryjNVPrALxvnlsLGAm1Y3otJ5zR»`.",
        ],
        kept: &[
            "os.environ[\"DBT_TOKEN\"]",
            "Search the logs for dbtu_ and tell dbt Cloud.",
            "Masked: dbtu_ro6Qdx****",
        ],
        ..MARKED
    },
    Rule {
        kind: "metabase-key",
        what: "Metabase API key",
        literals: &["mb_"],
        finder: tailed("mb_[A-Za-z0-9+/]{43}=", 47, Tail::Exact),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "mb¦_q4Kh7ED6m5OfWlyebpAm2tS/Tj348zvhO7iWJFccG40=",
            "put(\"metabase_key\", \"«mb¦_2iC/VxKBcyJa63DFi3U5pTqbh/PJ8ySxIyXWlK0aP/X=»\")",
            "\"«mb¦_T+QN4B2EtW6YWW7/F+tUSqAn4WIiVgXbBH9GHacW8xa=»\" is what Metabase sent back.",
        ],
        kept: &[
            "The sample has mb_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx=, which is no real \
             one.",
            "They renamed mb_ twice at Metabase.",
            "mb_J97w is too short for Metabase.",
        ],
        ..MARKED
    },
    Rule {
        kind: "hex-tech-token",
        what: "Hex API token",
        severity: Severity::Medium,
        literals: &["hxtp_", "hxtw_"],
        finder: shape("hxt[pw]_[a-f0-9]{64}", 69),
        found: &[
            "hx¦tw_8b5689ef8d22553269547928893f7b42622879939cafa083758f1623722cb270c5e7e5c98dfa\
             859a1e683a9f80dbe0c1",
            "hexTechToken := \"«hxt¦p_ec374a9553e1585b9ff0fab9d9a1489b33f046cb6f4620bcf91566c5e\
             d8a132f66efb99c027ecfb9bd0fa6e554f5d714»\" // see the wiki",
            "Replace «hx¦tp_4c7760d1b662642c44568ed86d41cb05d95a8f01e1401273377cdc7c11c9d4c0861\
             c54c939886be186e89877a67da9ba»: it was in a screenshot.",
        ],
        kept: &[
            "hxt1_1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef",
            "Is the part after hxtp_ random?",
            "The console shows only hxtp_b689c… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "foursquare-key",
        what: "Foursquare Places API key",
        severity: Severity::Medium,
        literals: &["fsq3"],
        finder: tailed("fsq3[A-Za-z0-9+/]{43}=", 48, Tail::Exact),
        found: &[
            "fsq¦3c+zGgDWSi93nxJgvc2pl8i2XU9Alpa43w4cDEyStFcN=",
            "echo '«fs¦q3vgcByzifTZWn0xRbCZvxYsXa5TuGBxuljjP0bJrLJx7=»' > /run/foursquare-key",
            "I pasted «fsq¦3hIyNFHk/I1I6shhAvPtgPwiYL8MUkX9x6J15Wpzz5Cr=», then the call went \
             through.",
        ],
        kept: &[
            "process.env.FOURSQUARE_KEY",
            "/^fsq3[A-Za-z0-9]+$/",
            "Foursquare prints fsq3P0l*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "chroma-key",
        what: "Chroma Cloud API key",
        literals: &["ck-"],
        finder: tailed("ck-[A-Za-z0-9]{44}", 47, Tail::Exact),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "ck¦-ZbCDVt0O6K9XQHz8yAdgAHdst7uxbndnjRpcR06Tshx8",
            "with:\n  chroma-key: «ck¦-qbbDPbptgV4alxLuso8MhqYiIkBnpayVdkMPjH4wDM2d»",
            "at 10:42 the proxy logged «ck¦-Mp0VyO2mKISKSbVF7YZVt7jfF3YA5LPZrdEpigygOGwA»|200|/\
             v1/items",
        ],
        kept: &[
            "e.g. ck-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "case ck-*) echo Chroma Cloud ;;",
            "Row 7: ck-sCyJef…",
        ],
        ..MARKED
    },
    Rule {
        kind: "pganalyze-key",
        what: "pganalyze API key",
        severity: Severity::Medium,
        literals: &["pgar_"],
        finder: shape("pgar_[A-Za-z0-9]{27}", 32),
        checks: &[Check::Digit],
        found: &[
            "pg¦ar_Sp6BcrK0ZN9Kd2pdJNdf8QG31yY",
            "* PGANALYZE_KEY: `«pgar¦_ed7KRrh9PqBblMh4nXF74vdT7pc»`",
            "Old: «pga¦r_XbzAFQhOvF1WoI0ne8YGNZgUP7L»; the new one comes on Monday.",
        ],
        kept: &[
            "\"pganalyze_key\": \"pgar_xxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            "# pgar_ -> pganalyze",
            "The list had pgar_7z6RB (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "databento-key",
        what: "Databento API key",
        severity: Severity::Medium,
        literals: &["db-"],
        finder: tailed("db-[A-Za-z0-9]{29}", 32, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "db¦-MlJyFTlmqaD6hQlQK0qI0UYQedvai",
            "Setenv DATABENTO_KEY «db¦-fugONZfIfrXIKtJMY4obzraO453Oi»",
            "请用 «db¦-ivPvjmV7UJufMSiqDiVNrTZiqFn6l»。",
        ],
        kept: &[
            "databento_key: db-<yours>",
            "grep -rn 'db-' src/ found nothing.",
            "In the mail I could read db-i6Whz and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "qstash-key",
        what: "Upstash QStash signing key",
        severity: Severity::Medium,
        literals: &["sig_"],
        finder: shape("sig_[A-Za-z0-9]{24}", 28),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "sig¦_Wk1AHWkRDBo4n6hz5c2QrowScryN",
            "$env:QSTASH_KEY = \"«sig¦_lrs5InIqbwvoxCdcrJlx482YXnR2»\"",
            "Mira wrote: 'take «sig¦_IbtjmwgfYiBVkzf18a77jqgZfPzw»'.",
        ],
        kept: &[
            "QSTASH_KEY=changeme",
            "What Upstash QStash hands out begins with sig_ these days.",
            "typed sig_Oex, then gave up",
        ],
        ..MARKED
    },
];
