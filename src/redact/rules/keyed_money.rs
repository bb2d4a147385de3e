//! Bare values of payments.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "paypal-secret",
        what: "PayPal client secret",
        severity: Severity::Critical,
        keywords: &["paypal"],
        finder: bare("E[A-Za-z0-9_-]{79}", 80),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "paypal_secret=\"«Ee4d¦cMcvbvoDcDmKZO53hUc8HZj7I9eKsdGHXTDj99PdZHzteNcDY16tXURvbCBD\
             z_TXlb3SlInCpCqf»\"",
            "PayPal accepts the client secret `«EUhP¦2mBtarj-5DgvD-YXPysnRSWdcvKnNK7mkcaZTiVEsy\
             NQyWiBO7Rkvx5w1C6Z5WcEgk_4YSzGM5pC»`, the other one not.",
            "PayPal client secret = «Efr-¦NV7wLgwitcmOcIA94g50DrdKIERXtjq1uZ3Td1ub-AS7q3BV-BMDl\
             l23_Ny88JZCM1ZVvHkQNSdY», in the vault since June",
        ],
        kept: &[
            "Row ENSAHcgHkA9IMPnLzAiRMQrp7MmCK_8gOv8EB2_ZKAfG0Woi2OszPHoUaPVgAyQc5m0RFHS69scyl9\
             fl of the export was empty.",
            "The PayPal invoice 1392 came to 49 EUR.",
            "PayPal client secret: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "plaid-secret",
        what: "Plaid secret",
        severity: Severity::Critical,
        keywords: &["plaid"],
        finder: bare("[a-f0-9]{30}", 30),
        found: &[
            "\"plaid_secret\": \"«3bf¦45188f9665d84afec198df7c6d3»\",",
            "My Plaid secret («7c0a¦69540dc9b369eb7012b11af498») was rotated.",
            "Use the Plaid secret «3f5¦fa8a6c4864b16a74234b58e6ddc».",
        ],
        kept: &[
            "Parcel 5de381a729f304616b004dff093a01 arrived.",
            "Plaid costs more since 6951 users joined.",
            "The Plaid secret goes into PLAID_SECRET.",
        ],
        ..KEYED
    },
    Rule {
        kind: "gocardless-token",
        what: "GoCardless access token",
        severity: Severity::Critical,
        keywords: &["gocardless"],
        finder: bare("live_[A-Za-z0-9_-]{40}", 45),
        checks: &[Check::Digit],
        found: &[
            "export GOCARDLESS_TOKEN=«liv¦e_G_bzGNE1oUAy03szD_cHf4ipf1ctikmI9-ztwtXI»",
            "Jo sent the GoCardless token by mail: «liv¦e_mHTqVeA8RTgbBCUbJj3FUIJxFSWuhCbMSAuNc\
             2UO»",
            "The token of the GoCardless account was «liv¦e_0TOJWm0VRCsVazqbkR_LkdppOGypEnCrdnL\
             Np9V3», says Jo.",
        ],
        kept: &[
            "Row live_o7-jx2K4n0q0xBE2riLiUCOzSIFTT9w8d589FSzw of the export was empty.",
            "GoCardless support wrote about case 5292.",
            "GoCardless rejects a token that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "lob-key",
        what: "Lob API key",
        keywords: &["lob_", "lob.com", "lob api", "lob key", "lob "],
        finder: bare("(?:live|test)_[a-f0-9]{35}", 40),
        found: &[
            "$env:LOB_KEY = \"«li¦ve_7c499e7ed8e2a32b3bf840ab9d8d92e3db4»\"",
            "Lob key = «live¦_438fa674cc5137206c478def7fc554aea3f», in the vault since June",
            "**Lob key**: `«test¦_e3d5b6860d56e1cf0d992295d6b987ea743»`",
        ],
        kept: &[
            "Part live_b4731e0637848eb76c2c2eaca9b80d5b091 is out of stock.",
            "Two people at Lob answered.",
            "LOB_KEY=YOUR_LOB_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "recurly-key",
        what: "Recurly API key",
        keywords: &["recurly"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "recurly-key = «9b¦8622d5e0faad103a2356ebf200dd5e»",
            "My Recurly key («a82¦c878ff1fb4ee11f412ce77043ba25») was rotated.",
            "The key of the Recurly account was «6c18¦411d5d775f68acdb488741ba29c7», says Jo.",
        ],
        kept: &[
            "md5sum: 8a15e23ad560cf3d7c1028a95175faa1  backup.tar",
            "Ask Mira who owns the Recurly account.",
            "RECURLY_KEY=${RECURLY_KEY}",
        ],
        ..KEYED
    },
    Rule {
        kind: "chargebee-key",
        what: "Chargebee API key",
        keywords: &["chargebee"],
        finder: bare("(?:live|test)_[A-Za-z0-9]{32,36}", 41),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "CHARGEBEE_KEY=«te¦st_ey31QRCyifi0Tp9wSQhx4yygP2NkkKUhC» make release",
            "Chargebee key: «tes¦t_uAqDgM72u3Eqi5k8oTpy6kDdikPcHExsAYj»",
            "Copy the Chargebee key <«test¦_fXmyvxMHNeeIHQkjyLzqHPQJAIjEwE566y»> to the phone.",
        ],
        kept: &[
            "The folder live_QHCODPA5obB117K2If7QrWOa3UnUsNGsRe can go.",
            "The Chargebee page 3816 shows the numbers.",
            "CHARGEBEE_KEY=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "wise-token",
        what: "Wise API token",
        severity: Severity::Critical,
        keywords: &[
            "wise_",
            "transferwise",
            "wise.com",
            "wise api",
            "wise token",
        ],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "$env:WISE_TOKEN = \"«6fe¦d1439-1c41-ba4a-ae0f-f3de93c94534»\"",
            "| Wise token | «6a¦63a60a-1362-d052-5f82-959ac9733ac2» | ops |",
            "The Wise token is «6a1¦ea8c5-e8bc-43b5-9d30-9e92e823ffd0».",
        ],
        kept: &[
            "The row f07a6c21-ad02-1c8e-fc65-cca620a7a46c has no parent.",
            "The talk about Wise starts at 10:26.",
            "WISE_TOKEN=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "finicity-secret",
        what: "Finicity app key",
        keywords: &["finicity"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "set -x FINICITY_SECRET «5200¦8ec646f15c2e078fe9ed2257fb21»",
            "Use the Finicity key «bcb1¦c9b81a058ca263ed0d36baab1955».",
            "- Finicity key «563¦fcec3db6967f7a8c9be9f6f3658b9»",
        ],
        kept: &[
            "ETag e463486a7c9ac064266b00ba65d87cc0 did not change.",
            "Jo set up Finicity in room 23.",
            "os.environ[\"FINICITY_SECRET\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "taxjar-token",
        what: "TaxJar API token",
        severity: Severity::Medium,
        keywords: &["taxjar"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "ENV TAXJAR_TOKEN «a06¦21957d4079786f288bc6c30e34892»",
            "I think the token of our TaxJar test account was «a53f¦5f86fc89db85ed5047f2774c11cf».",
            "The TaxJar token «e19¦a30e886a2c55e8edd5fb201d66382» is new.",
        ],
        kept: &[
            "md5sum: babaeb5b8858817df080501de79a91a6  backup.tar",
            "TaxJar (plan B) has 3432 rows.",
            "taxjar_token: 1234567890abcdef1234567890abcdef",
        ],
        ..KEYED
    },
];
