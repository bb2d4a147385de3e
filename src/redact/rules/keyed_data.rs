//! Bare values of data stores and search.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "confluent-secret-old",
        what: "Confluent API secret (old)",
        severity: Severity::Critical,
        keywords: &["confluent", "kafka"],
        finder: bare("[A-Za-z0-9+/]{64}", 64),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "const confluentSecret = \"«xh7¦8SUQQ+U8nJJY0ZhyEv89dVaCP+mEM+HZuzTJZIhOlP7XiTQeILz\
             uxlMxaOkMv»\";",
            "I think the secret of our Confluent test account was «4NwW¦r83VsbpVTUmqkiHJJfilYF7ZjE\
             NyfuizCg5HRM8wY2AgWL27yMM7O5H5eKTG».",
            "Jo sent the Confluent secret by mail: «JjTU¦fHVa2q19ti4euba7UF/H3q35mKRbAL0IP69ue4\
             0fIbskPo6xx4ms57YI/0tE»",
        ],
        kept: &[
            "The recording eZID/5CD7qiNUjQXYXSzizEKSOiXAUGZTIXsof9uWVa22JqxGeUH2+OkfYQefBA7.wa\
             v is in the archive.",
            "Confluent support wrote about case 6432.",
            "CONFLUENT_SECRET=YOUR_CONFLUENT_SECRET",
        ],
        ..KEYED
    },
    Rule {
        kind: "influxdb-token",
        what: "InfluxDB API token",
        severity: Severity::Critical,
        keywords: &["influx", "influxdb"],
        finder: bare("[A-Za-z0-9_-]{86}==", 88),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "\"influxdb_token\": \"«O5Y¦jgsxILpUrkndPJPlpTY9pd9OMC2MtLZoi1YYRfgsEAg_AAM378iC9zn\
             DHE40755lAHO19HLKHTMSc1_lKx0==»\",",
            "| InfluxDB token | «eBc¦owg1CUeobOxMZJd6aLx6rpNycj5Tyw577Ug_-X0rDU35hop3Qlq7pfAhyR\
             OiEwtc1amOUGrbEZW5MJidJmN==» | ops |",
            "**InfluxDB token**: `«vqy¦ZOnFaR2iiTcf5TzzmiGsQjMDyY6WXxwUaG3Sp6ge4tO25oWrLy07GSMa\
             sgtZbp7SADf5pPpMsDfMfB2lOn7==»`",
        ],
        kept: &[
            "Parcel yVjkMmys0qncjAv9gtHITB0ZoYUgCAF7g6rR6HcDMorKcYsK93ONZ4uPN-DZSnfAgfBXvuWkmqC\
             6nQhHkgYJMu== arrived.",
            "The InfluxDB adapter was built from commit \
             3b447651b2b59cbc9f30358471f9734ef0aee6bc.",
            "The InfluxDB token goes into INFLUXDB_TOKEN.",
        ],
        ..KEYED
    },
    Rule {
        kind: "fauna-key",
        what: "Fauna secret",
        severity: Severity::Critical,
        keywords: &["fauna"],
        finder: bare("fn[A-Za-z0-9_-]{38}", 40),
        checks: &[Check::MixedCase],
        found: &[
            "| fauna_key | «fn¦ljX6d5SYJGb5PGu6uZNl5TRwujjubVJwobyCP1» |",
            "The new secret for Fauna: «fn¦P-hckEcDXnjmtSY2xg96TBxWnaqUqe3-0lYObs»",
            "Log in to Fauna with the secret «fn3S¦r1pZRWountWd55gw4CF0lAYTL8H-MqguiqT8».",
        ],
        kept: &[
            "Look at node fnT-44DDXmoWbphgGLRiGbxYYBMzT2svNaoKLIxG in the graph.",
            "Jo set up Fauna in room 14.",
            "FAUNA_KEY=%FAUNA_KEY%",
        ],
        ..KEYED
    },
    Rule {
        kind: "algolia-admin-key",
        what: "Algolia admin API key",
        keywords: &["algolia"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "algolia-admin-key = «92b¦4376aca99d889e1cb9a78e1ebb7c4»",
            "Copy the Algolia key <«41¦2e9e3f9a81fe90f6e159f7f1c62fd9»> to the phone.",
            "Algolia key = «c9¦7f5a284cef07ccd5fa41583963ebcd», in the vault since June",
        ],
        kept: &[
            "The blob 16311e7710c90a8b6c6515b6c87fb147 is a test image.",
            "Ask Mira who owns the Algolia account.",
            "ALGOLIA_ADMIN_KEY=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "pinecone-key-old",
        what: "Pinecone API key (old)",
        keywords: &["pinecone"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "pinecone_key = «49¦3ea9ac-c1f3-ffef-d61b-2cd2913daee9»",
            "The key of the Pinecone account was «23¦5b670e-6f9c-553a-e7da-e02c7c3c04e7», says \
             Jo.",
            "Pinecone 的 key 是 «0e¦b214c8-8607-5b8d-4e29-ad6224882d7b»。",
        ],
        kept: &[
            "Order 002171fb-c71e-040e-abe6-77ff2dcfd25b was shipped on Monday.",
            "Our Pinecone contract ends on 2025-11-26.",
            "PINECONE_KEY=YOUR_PINECONE_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "meilisearch-key",
        what: "Meilisearch master key",
        keywords: &["meili", "meilisearch"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "ENV MEILISEARCH_KEY «3b31¦fceefe90454e135d47edca323477b1513e2fa1f4e2f115ad89d5bac8\
             cb27»",
            "Meilisearch: key \"«fbe7¦64160c2f6b556ea6d1b089fb9513a47d78822b4884d1035f1b6e3ac10\
             286»\"",
            "the key (Meilisearch) → «89a¦a61a578c07b8c28eedc9bb8caeba74bc0d12cbd9c48e7fb2de366\
             2497d8f8»",
        ],
        kept: &[
            "Block 14c1bb719028e6d9af904a0265f23eabf0ac15aee039610538b96527636f676a was \
             orphaned.",
            "Meilisearch costs more since 5752 users joined.",
            "MEILISEARCH_KEY={{ meilisearch_key }}",
        ],
        ..KEYED
    },
];
