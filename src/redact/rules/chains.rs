//! Coins and chains.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "bip32-private-key",
        what: "BIP-32 extended private key",
        severity: Severity::Critical,
        literals: &["xprv", "yprv", "zprv", "tprv"],
        finder: shape("[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100}", 104),
        found: &[
            "tp¦rv9rDVSBcnEY831ZkzggdCYvfj2G9oQHniRzgWJ9ZUhRfM8kU6uhKScfZLakpThfW37sFqJohuKxJ16\
             hFUsP8T6fC691LovyTm1TF342sEa5q",
            "    bip32_private_key: «yp¦rv9ogsiqgtmTFR2yUDidt5zexGDjSusqn5ckAARpjr5EgGvdt2p7ADg\
             XUogBSzkLGC799mhVGHXZ7Aqjujq4Kso4SvYt5bLSN9kXhaATGuzTg»",
            "cat .env showed \"«zpr¦v9RBRakvbNRouVEPvX1JbPXGkgsCKR1pWik9EiBS4YHMrndgWtFw8jkpbmU\
             8VPfyUhCpo4CFTnVQV1bacj3HVWMFn9cCUbQmbSYFQUmxrF1a»\".",
        ],
        kept: &[
            "BIP32_PRIVATE_KEY=xprvxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "They renamed xprv twice at BIP-32.",
            "In the mail I could read xprvPgmls and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "nostr-secret-key",
        what: "Nostr private key",
        severity: Severity::Critical,
        literals: &["nsec1"],
        finder: shape("nsec1[023456789acdefghjklmnpqrstuvwxyz]{58}", 63),
        found: &[
            "nse¦c1a6uweyzkdf28l07r2cm9xj30epe959u6vrl09lc4uwhqnypkg3e2e3zrys",
            "* NOSTR_SECRET_KEY: `«nse¦c19xfufstrmwug9ce5kj22p0jwx823e39em6meh7nlhhnzldd66m88p3\
             atvr»`",
            "Old: «ns¦ec1f5h3fasqnl85n54vmy4vppcrpkcdkppj9gf5u57x48epragtu7jy0m39pr»; the new \
             one comes on Monday.",
        ],
        kept: &[
            "process.env.NOSTR_SECRET_KEY",
            "Nothing in the dump has nsec1 in it.",
            "Nostr prints nsec1eTd*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "tezos-secret-key",
        what: "Tezos secret key",
        severity: Severity::Critical,
        literals: &["edsk"],
        finder: shape("edsk[1-9A-HJ-NP-Za-km-z]{50}", 54),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "ed¦skZBtJ5x5o6TijSGpuH7faHgHSyhTqUWSpDuMDZVbT9bYTfEsdjW",
            "  TEZOS_SECRET_KEY: «eds¦ksfXS7NCsfsxnnC829hq9NVZzAS17LdqWupqWgWEtggkeAtWdEk»\n  \
             REPLICAS: 2",
            "He read it out: «eds¦k3nbsdfnyQYhvFnb8vX2s8Zn5f1L2v4mNeUYhdjv5Tdgesfbbpe». Nobody \
             noticed.",
        ],
        kept: &[
            "TEZOS_SECRET_KEY=${TEZOS_SECRET_KEY}",
            "Tezos documents the edsk prefix.",
            "The screenshot ends at edskXHqb",
        ],
        ..MARKED
    },
    Rule {
        kind: "alchemy-token",
        what: "Alchemy API token",
        literals: &["alcht_"],
        finder: shape("alcht_[A-Za-z0-9]{30}", 36),
        found: &[
            "alc¦ht_Arv4QYwiAC9Eue7NNuaJ56IJdI2xPR",
            "ALCHEMY_TOKEN: \"«alc¦ht_ZFybB8oAVN3v95UAPVM7G2xj5pbggn»\"",
            "For Alchemy log in with «al¦cht_ehjDpUCTuVLQre3ckgHx1wnRwJDk7i», not with the old \
             one.",
        ],
        kept: &[
            "alchemy_token: alcht_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "`alcht_` is how Alchemy marks its own.",
            "typed alcht_Yvn, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "quicknode-key",
        what: "QuickNode API key",
        literals: &["QN_"],
        finder: tailed("QN_[a-f0-9]{32}", 35, Tail::Exact),
        found: &[
            "QN¦_936d71eb6b00cf9d4fe53ed3461477b7",
            "QUICKNODE_KEY=«QN¦_1298cf5d10e65b596a822aa5063056bd»",
            "Mira wrote: 'take «QN¦_478334dec9b6bd81593eb964ef51855b»'.",
        ],
        kept: &[
            "cp .env.sample .env  # QUICKNODE_KEY=QN_1234567890abcdef1234567890abcdef",
            "What does QN_ stand for?",
            "Row 7: QN_a60b3…",
        ],
        ..MARKED
    },
    Rule {
        kind: "tatum-key",
        what: "Tatum API key",
        literals: &["t-5", "t-6", "t-7"],
        finder: tailed("t-[5-7][a-f0-9]{23}-[a-f0-9]{24}", 51, Tail::Exact),
        found: &[
            "t-¦6a1fb8ea53d30f0de3781a82-4ebbac2064ba89b6a430a902",
            "TATUM_KEY = '«t-¦5acc1fa21a6f48bc2e894328-e4c79710005b340376731e12»'  # rotate in \
             May",
            "See <«t-¦7a6e6218bfb3dfade6df8a67-ef08c06ebad31e576549f8f1»> for Tatum.",
        ],
        kept: &[
            "TATUM_KEY=changeme",
            "We filter on t-6 (that is Tatum).",
            "It ended up as t-604bc2a... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "blockfrost-key",
        what: "Blockfrost project id",
        severity: Severity::Medium,
        literals: &["mainnet", "preprod", "preview", "testnet", "ipfs"],
        finder: tailed(
            "(?:mainnet|preprod|preview|testnet|ipfs)[A-Za-z0-9]{32}",
            39,
            Tail::Exact,
        ),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "prev¦iew0pPIRcdAN81FmluzeJKSEhngb3wF6MAR",
            "export BLOCKFROST_KEY=«ipf¦shN2cXyJLmmwoM15SjEr0Vu6w20C9i0pT»",
            "> «pr¦eprodAAWdc4GXLxHx9R7eqGHEKMEnridYjruH»\n\nwas in the ticket.",
        ],
        kept: &[
            "blockfrost_key: mainnet<yours>",
            "Search the logs for mainnet and tell Blockfrost.",
            "mainnetgenesisconfigurationfordevelopers",
        ],
        ..MARKED
    },
    Rule {
        kind: "coingecko-key",
        what: "CoinGecko API key",
        severity: Severity::Medium,
        literals: &["CG-"],
        finder: tailed("CG-[A-Za-z0-9]{24}", 27, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "CG¦-l34E7zluJjgBTApEZUWNI4hz",
            "ARG COINGECKO_KEY=\"«CG¦-F01lnH5SgD5u426nS6GjWdtL»\"",
            "Does CoinGecko still take «CG¦-KTR7JYgEx4x4Zh9eyxjKYUsN»?",
        ],
        kept: &[
            "CG-xxxxxxxxxxxxxxxxxxxxxxxx",
            "The linter looks for `CG-` at the start of a word.",
            "Masked: CG-fUHpq****",
        ],
        ..MARKED
    },
    Rule {
        kind: "iex-cloud-key",
        what: "IEX Cloud or Clearbit secret key",
        severity: Severity::Medium,
        literals: &["sk_"],
        finder: tailed("sk_[a-f0-9]{32}", 35, Tail::Exact),
        found: &[
            "sk¦_40af5bc9d20b66404a99583183af14c2",
            "# .env\nPORT=8080\nIEX_CLOUD_KEY=«sk¦_615c23a1f8786f7365066d4642c31801»\nLOG=info",
            "He read it out: «sk¦_9e6419e5588eca2c47d83928c86f0ad4». Nobody noticed.",
        ],
        kept: &[
            "IEX_CLOUD_KEY={{ iex_cloud_key }}",
            "A value with sk_ in front comes from IEX Cloud.",
            "Only sk_254fe5 was left of it.",
        ],
        ..MARKED
    },
    // The path names the account; the last part names the key.
    Rule {
        kind: "coinbase-cdp-key",
        what: "Coinbase developer key name",
        severity: Severity::Medium,
        literals: &["organizations/"],
        finder: shape(
            "organizations/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/apiKeys/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
            95,
        ),
        found: &[
            "organizations/096a69a7-6ed6-be9b-be5c-203f12e4410e/apiKeys/«12¦e29b23-afeb-7bc6-ad\
             c9-2a11fb79f059»",
            "| Coinbase | `organizations/796481d7-7c2f-8533-e64a-3e3e8dd73951/apiKeys/«1d2¦ed09\
             f-4774-2125-3c43-b28f980c5def»` | staging |",
            "- [ ] revoke organizations/8d969bfc-13f2-e8c7-8eba-578e7d560ae6/apiKeys/«fc2¦0f1dc\
             -f54b-538b-da47-ddc3c1d1d093»",
        ],
        kept: &[
            "os.environ[\"COINBASE_CDP_KEY\"]",
            "return s.startsWith('organizations/');",
            "The screenshot ends at organizations/2f1",
        ],
        ..MARKED
    },
];
