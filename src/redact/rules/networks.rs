//! Networks and gateways.

use super::{MARKED, around, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "tailscale-key",
        what: "Tailscale auth, API, client or webhook key",
        severity: Severity::Critical,
        literals: &["tskey-"],
        finder: shape("tskey-[a-z]{2,10}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{16}", 58),
        found: &[
            "tske¦y-bxsariec-jp3W1jQayKnBzkxTdDY-yHuDgE1YQulj9E9uZSZUQVz5hL",
            "with:\n  tailscale-key: «tsk¦ey-lfh-DJlUb2xrGJN1kzP01FC-n6patkbOFNTLzBxsXUBL1fWfp2\
             »",
            "Tailscale 的密钥是 «ts¦key-lgzycimv-jMqcmzBnDuahG-ZZBZx9Rts0HpNZbExz3iymwAPo»，请勿外传。",
        ],
        kept: &[
            "os.environ[\"TAILSCALE_KEY\"]",
            "Nothing in the dump has tskey- in it.",
            "typed tskey-d1Yi7, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "netbird-token",
        what: "NetBird personal access token",
        literals: &["nbp_"],
        finder: shape("nbp_[A-Za-z0-9]{36}", 40),
        found: &[
            "nbp¦_Cj3x20avFEA3QZbT5vVOY3BzM92uq4SmnIhA",
            "curl -H \"X-Api-Key: «nbp¦_upA1MNyd2fKrO3OZ0QsZD5qjBQ7wGXbHfXXN»\" \
             https://api.internal.test/v1",
            "**NetBird**: «nb¦p_UUizscIkvtJak6q7E53n4ZEHUS69ilFCES6x»",
        ],
        kept: &[
            "NETBIRD_TOKEN=changeme",
            "NetBird changed to the nbp_ form last year.",
            "NetBird answers: bad value nbp_KWs9N…",
        ],
        ..MARKED
    },
    Rule {
        kind: "defined-networking-key",
        what: "Defined Networking API token",
        literals: &["dnkey-"],
        finder: shape("dnkey-[A-Z0-9=_-]{26}-[A-Z0-9=_-]{52}", 85),
        checks: &[Check::Digit],
        found: &[
            "dn¦key-VMERVCY=8RCNG8JUTEXEI82WIW-JPXSNJIF3KLUUWTWE79UZ_VAMXN_9J-7C_EJ0HW7NK99F548\
             AEEA",
            "- name: DEFINED_NETWORKING_KEY\n  value: «dn¦key-ORX312NK7F_YQFXKX0-LQ-AGB5-VNZUP_\
             OF03QREUGFI=SLD7SME26K5F=T0K5G1C-418OHNUAS-03Y»",
            "I pasted «dnke¦y--R9IGOMB3VWZ6_6AC04KXP93QT-89_7J3LSO1H-VZREEGRZHMKARALG5KOAY_BE6C\
             53-JGD_JDHA=XF», then the call went through.",
        ],
        kept: &[
            "DEFINED_NETWORKING_KEY=dnkey-XXXXXXXXXXXXXXXXXXXXXXXXXX-XXXXXXXXXXXXXXXXXXXXXXXXXX\
             XXXXXXXXXXXXXXXXXXXXXXXXXX",
            "\"dnkey-\" => \"Defined Networking\",",
            "The screenshot ends at dnkey-vDU",
        ],
        ..MARKED
    },
    // Two KSUIDs with `_` between them: nothing else is fixed, so the literals are short.
    Rule {
        kind: "ngrok-token",
        what: "ngrok auth token or API key",
        literals: &["_0", "_1", "_2", "_3", "_4", "_5", "_6", "_7", "_8", "_9"],
        finder: around(
            "[123][A-Za-z0-9]{26}_[0-9][A-Za-z0-9]{20}",
            27,
            22,
            Tail::Exact,
        ),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "1qtP¦NFr17VSAeql9qP7dynmVHuQ_6MnK09WEYKQXwWhlY8FVp",
            "ARG NGROK_TOKEN=\"«2dl¦CGlDiFwgrd9Ui30QWyOKTAuv_0ZsVfkgA4oZj8ZVLdpKGm»\"",
            "Memo: «3S¦6VdosgiWTlMXJZC7OPPEv3KQW_5QSvfxgeFAus752YCOygP» (from ngrok, made in \
             spring)",
        ],
        kept: &[
            "The README says 1xxxxxxxxxxxxxxxxxxxxxxxxxx_7xxxxxxxxxxxxxxxxxxxx.",
            "case_1 and case_2 fail, case_3 does not",
            "The ngrok tunnel on 2_4 is open.",
        ],
        ..MARKED
    },
    // The type letter leaves two bits of the next character open.
    Rule {
        kind: "nats-seed",
        what: "NATS nkey seed",
        severity: Severity::Critical,
        literals: &[
            "SUA", "SUB", "SUC", "SUD", "SAA", "SAB", "SAC", "SAD", "SOA", "SOB", "SOC", "SOD",
            "SNA", "SNB", "SNC", "SND", "SCA", "SCB", "SCC", "SCD", "SXA", "SXB", "SXC", "SXD",
        ],
        finder: tailed("S[UAONCX][A-D][A-Z2-7]{55}", 58, Tail::Exact),
        checks: &[Check::Digit],
        found: &[
            "SN¦B6CZWZ3KJQSWQE3FV54KQ3R6T727RYQVZHVZDRF7YL4L4XT77OML5Y4D",
            "let nats_seed = \"«SC¦AWPMUKKAH7WSZLJBW4OMFA2CG6I2TKSNVK7WTGYZBU5UHPNLYUNQ4KUR»\";",
            "请用 «SA¦AZ73DBPLBX2DCAHE2VPWQTUW2UCKNCDLUD2SOTKWTCRGQAEP3JNMVKO6»。",
        ],
        kept: &[
            "The README says SX2XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX.",
            "We filter on SUA (that is NATS).",
            "NATS prints SUAqmN*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "zuplo-key",
        what: "Zuplo consumer API key",
        severity: Severity::Medium,
        literals: &["zpka_"],
        finder: shape("zpka_[a-z0-9]{32}_[a-f0-9]{8}", 46),
        checks: &[Check::Crc32Body],
        found: &[
            "zp¦ka_1f4f9a948fe5b8428f6ea6520e3d1959_bb6b0d26",
            "    zuplo_key: «zp¦ka_4b85736c741a7563eb6c198c375d93bf_38014670»",
            "Der Schlüssel lautet «zpka¦_2a47961dd2f34899955214c8cb0ed018_5639eaee», gültig \
             bis Ende Juli.",
        ],
        kept: &[
            "zpka_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_12345678",
            "What Zuplo hands out begins with zpka_ these days.",
            "It ended up as zpka_fd4fc... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "arcjet-key",
        what: "Arcjet site key",
        severity: Severity::Medium,
        literals: &["ajkey_"],
        finder: shape("ajkey_[a-z0-9]{26}", 32),
        checks: &[Check::Digit],
        found: &[
            "ajke¦y_dpetydzlmc8nte817pj4ibqxxg",
            "\"arcjet_key\": \"«ajk¦ey_awzi94ehb7ksmwtpjfg1tfpogh»\",",
            "Replace «ajke¦y_ygc1725gk0nit61n9vbtpwxgf6»: it was in a screenshot.",
        ],
        kept: &[
            "e.g. ajkey_xxxxxxxxxxxxxxxxxxxxxxxxxx",
            "A value with ajkey_ in front comes from Arcjet.",
            "The console shows only ajkey_hWz… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "unkey-key",
        what: "Unkey root key",
        literals: &["unkey_"],
        finder: shape("unkey_[A-Za-z0-9]{20}", 26),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "unke¦y_MQcbUiZIHCFRWlgE6z8C",
            "{\"unkeyKey\": \"«unke¦y_lj3QQdLFFh7bLqzYmdPB»\", \"retries\": 3}",
            "«unke¦y_5xsr6E2oekNMhGpbWQXf»，来自 Unkey。",
        ],
        kept: &[
            "UNKEY_KEY={{ unkey_key }}",
            "Everything from unkey_ on is cut by the console.",
            "Masked: unkey_x19Z****",
        ],
        ..MARKED
    },
    Rule {
        kind: "vantage-token",
        what: "Vantage API token",
        severity: Severity::Medium,
        literals: &["vntg_tkn_"],
        finder: shape("vntg_tkn_[a-f0-9]{40}", 49),
        found: &[
            "vn¦tg_tkn_b4e0a043a987619dd4c9864967fb7c6606c8e05a",
            "deploy --vantage-token «vntg¦_tkn_273512664c6486dc4fa23af6a281370228a1dffe» \
             --verbose",
            "\"«vnt¦g_tkn_a40b3aff222af9e3c662b6621c9d543f46f3b9ba»\" is what Vantage sent \
             back.",
        ],
        kept: &[
            "\"vantage_token\": \"vntg_tkn_1234567890abcdef1234567890abcdef12345678\"",
            "| Vantage | `vntg_tkn_` | prefix |",
            "In the mail I could read vntg_tkn_1ea1 and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "cosmo-key",
        what: "WunderGraph Cosmo API key",
        severity: Severity::Medium,
        literals: &["cosmo_"],
        finder: shape("cosmo_[a-f0-9]{32}", 38),
        found: &[
            "cosm¦o_33ed7a1af9b059d368fd7d77a54e2670",
            "[default]\ncosmo_key = «cosm¦o_463a60db84fe2275d8fb43168d98d24b»\nregion = north",
            "Does WunderGraph Cosmo still take «co¦smo_876cc984f5638182254e497b940c9262»?",
        ],
        kept: &[
            "cp .env.sample .env  # COSMO_KEY=cosmo_1234567890abcdef1234567890abcdef",
            "Search the logs for cosmo_ and tell WunderGraph Cosmo.",
            "Row 7: cosmo_0a9b8…",
        ],
        ..MARKED
    },
    Rule {
        kind: "blockprotocol-key",
        what: "Block Protocol API key",
        severity: Severity::Low,
        literals: &["b10ck5."],
        finder: shape(r"b10ck5\.[A-Za-z0-9]{32}\.[A-Za-z0-9-]{36}", 76),
        found: &[
            "b10c¦k5.jzWnTZsL1R5Iv4rKJGOoPHACNYx0DJer.0j8ZRBUm4IBXXhoGhcmDAA9l-9p02jeJ3gfm",
            "set -x BLOCKPROTOCOL_KEY «b10¦ck5.yV6PJdKrSQgzNPWq0a5BBqOa5iXJW0s9.BrqXvnSANPr0ycG\
             zoxrYmx-ipuBz4jCmZuUX»",
            "Use «b10c¦k5.8NPivhLKibAkBqbdTb9T8GGtA0CgdIaN.G6Q-OLOFjxEv7xbQOaGSHtwwlCJLXmtSngdP\
             ». It works from the office too.",
        ],
        kept: &[
            "The sample has b10ck5.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.xxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxx, which is no real one.",
            "Strings with b10ck5. are new, the others are old.",
            "Masked: b10ck5.Mgpnu****",
        ],
        ..MARKED
    },
];
