//! Money: payments and banking.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "stripe-key",
        what: "Stripe secret or restricted key",
        severity: Severity::Critical,
        literals: &[
            "sk_live_",
            "sk_test_",
            "sk_prod_",
            "rk_live_",
            "rk_test_",
            "rk_prod_",
            "sk_org_live_",
            "sk_org_test_",
        ],
        finder: shape("[rs]k_(?:org_)?(?:live|test|prod)_[A-Za-z0-9]{10}", 22),
        found: &[
            "sk_o¦rg_test_4pbtbRbtgd0onrNr695Mphvo",
            "| Stripe | `«sk¦_org_live_zC7rI0Ddm0f8vlWHlQOOlzbj»` | staging |",
            "> «sk_¦prod_XxEtCSFmibE0oqgDx4bMju4H»\n\nwas in the ticket.",
        ],
        kept: &[
            "STRIPE_KEY={{ stripe_key }}",
            "return s.startsWith('sk_live_');",
            "pk_live_51Hf9sKq2VbT7cXmR may stand in the page.",
            "sk_live_... (masked)",
        ],
        ..MARKED
    },
    Rule {
        kind: "stripe-webhook",
        what: "Stripe or Svix webhook secret",
        literals: &["whsec_"],
        finder: tailed("whsec_[A-Za-z0-9+/=]{32}", 38, Tail::Base64),
        found: &[
            "wh¦sec_vUhOmn7NOAVJJ0OHPb17EStu5=CrgteI",
            "printf %s «whs¦ec_xePKy0Tb0E7mAdqlu9OlPan59W2OIX2c» | pbcopy",
            "\"«wh¦sec_XPcQIa8oZv2qY3H7Jx/HIpcTBSdNVUFZ»\" is what Stripe sent back.",
        ],
        kept: &[
            "whsec_<paste the rest>",
            "What Stripe hands out begins with whsec_ these days.",
            "Row 7: whsec_nRg3Zo…",
        ],
        ..MARKED
    },
    Rule {
        kind: "square-token",
        what: "Square access token or application secret",
        severity: Severity::Critical,
        literals: &["EAAA", "sq0atp-", "sq0csp-"],
        finder: shape(
            "(?:EAAA[A-Za-z0-9_-]{60}|sq0(?:atp|csp)-[A-Za-z0-9_-]{22})",
            64,
        ),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "sq¦0csp-L7vueSZ78Sg1RtU77jpHf4",
            "square_token=«sq0¦atp-reEmYaqKY5aRKz1EvJpmIQ»&page=2",
            "1. Copy «sq¦0atp--W7eyQhk4Q6ndrEY9myB96»\n2. Open Square\n3. Paste it",
        ],
        kept: &[
            "process.env.SQUARE_TOKEN",
            "grep -rn 'EAAA' src/ found nothing.",
            "typed EAAA8yeOZ2, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "plaid-token",
        what: "Plaid access token",
        severity: Severity::Critical,
        literals: &[
            "access-sandbox-",
            "access-development-",
            "access-production-",
        ],
        finder: shape(
            "access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            55,
        ),
        found: &[
            "acc¦ess-production-e2dfcb6c-9c2d-2761-2d00-58a69de0a776",
            "\"plaid_token\": \"«acc¦ess-production-45546f82-a8ee-cd23-a9c2-7bdc232e1c05»\",",
            "Der Schlüssel lautet «ac¦cess-production-1f4526b6-5fc6-36f3-c5ce-e586e2fabb5b», \
             gültig bis Ende Juli.",
        ],
        kept: &[
            "os.environ[\"PLAID_TOKEN\"]",
            "if value.starts_with(\"access-sandbox-\") { return Some(Vendor::Known); }",
            "access-sandbox-4c86 is too short for Plaid.",
        ],
        ..MARKED
    },
    Rule {
        kind: "flutterwave-key",
        what: "Flutterwave secret key",
        severity: Severity::Critical,
        literals: &["FLWSECK"],
        finder: tailed(
            "FLWSECK(?:_TEST)?-(?:[a-zA-Z0-9]{32}-X|[a-h0-9]{12})",
            47,
            Tail::Exact,
        ),
        found: &[
            "FLW¦SECK_TEST-1d8e7819df1e4947a584c990db4c05f9-X",
            "# .env\nPORT=8080\nFLUTTERWAVE_KEY=«FLW¦SECK_TEST-0a5fe13ebf8c4f1b9555abdfaeabfe7a\
             -X»\nLOG=info",
            "Does Flutterwave still take «FLW¦SECK-03271c1faf05fc0087623bc4233ee684-X»?",
        ],
        kept: &[
            "FLWSECK... goes here",
            "Strings with FLWSECK are new, the others are old.",
            "FLWPUBK-9d0f1b6ca85e47d2b3908c6f5e1a7d42-X is the public one.",
        ],
        ..MARKED
    },
    Rule {
        kind: "braintree-token",
        what: "Braintree access token",
        severity: Severity::Critical,
        literals: &["access_token$"],
        finder: shape(
            r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
            73,
        ),
        found: &[
            "acce¦ss_token$production$rkuifyylhxwq4zfa$27bf21e3a7491d5e58b549c1b6de5030",
            "with:\n  braintree-token: «ac¦cess_token$sandbox$81rqzb27bs5icto9$00eeefd6cb17646d\
             a7c7044aecfb0140»",
            "- [ ] revoke «ac¦cess_token$production$24rej5c4i0ilq4nw$9d761c2911c2d3b25c1847a6ac\
             a6d140»",
        ],
        kept: &[
            "cp .env.sample .env  # BRAINTREE_TOKEN=access_token$production$xxxxxxxxxxxxxxxx$12\
             34567890abcdef1234567890abcdef",
            "We filter on access_token$ (that is Braintree).",
            "The console shows only access_token$f76f8… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "razorpay-key",
        what: "Razorpay key id",
        severity: Severity::Medium,
        literals: &["rzp_live_", "rzp_test_"],
        finder: shape("rzp_(?:live|test)_[A-Za-z0-9]{14}", 23),
        found: &[
            "rz¦p_live_qNVptBFFUJ7kZk",
            "<razorpayKey>«rzp_¦test_eZCHSAlIs5u3rt»</razorpayKey>",
            "He read it out: «rz¦p_test_U8lgE4dSJkeSOy». Nobody noticed.",
        ],
        kept: &[
            "The sample has rzp_live_xxxxxxxxxxxxxx, which is no real one.",
            "Is the part after rzp_live_ random?",
            "Razorpay prints rzp_live_mli4KV*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "adyen-key",
        what: "Adyen API key",
        severity: Severity::Critical,
        literals: &["AQE"],
        finder: tailed(
            "AQE[a-z][A-Za-z0-9]{4,12}[A-Za-z0-9+/-]{20,120}(?:={0,2}-[A-Za-z0-9+/]{40,80}|[A-Za-z0-9+/=-]{40})",
            220,
            Tail::Base64,
        ),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "AQ¦EyUK0Qy1jfVUv3cw4bkR6ihfwQOxjtVMvkfiHtVhiVhlsqLkfJX4-kltuOuMfyDNftzZdxG5hVj2jZM\
             DELOZyOjLdcM92cNS=-BjndUDVfa8tZAYDczY0AYyjFJmK9jkckcEZHRQnhk2jhfqrDKTgUjP7E",
            "export ADYEN_KEY=«AQ¦EyMWtpGmk6xZMUug8Cy4sMivMsm6lhIDEOUNIGFou8acQCyA947g-YB3ZyQgw\
             XOW1WVGr8gsI785s4jr0Ihak06Zkd17Nq6P=-7lxtvFKPgjXHWx28Os4VpTSyGpmQoqcsXccTyN1ppahAg\
             YNBkjf5a1G1»",
            "Mira wrote: 'take «AQ¦EyhyH3gYWSKyG0I5I68YZsUD4eQoso1PlnZdhUVahdZeOfLtgloz-myXajs4\
             HODz5K3MfKDY8cG0Ks69JpnrFRl0nim5uFpo=-M0hjgihfkrsRLuMwvrMlTBjG5r9f2xZai9zVj4e11o3B\
             g8hOCka7jWtn»'.",
        ],
        kept: &[
            "adyen_key: \"AQE…\"",
            "\"AQE\" => \"Adyen\",",
            "In the mail I could read AQE9w7 and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "checkout-key",
        what: "Checkout.com secret key",
        severity: Severity::Critical,
        literals: &["sk_sbx_"],
        finder: shape("sk_sbx_[a-z2-7]{26}", 33),
        checks: &[Check::Digit],
        found: &[
            "sk_s¦bx_c3aocw54wg7ijt2kl3a3hqom5e",
            "checkout-key = \"«sk¦_sbx_k62zk4ifodj3an4wonqcxep4my»\"",
            "In Checkout.com, «sk_s¦bx_uzztcxdkvayyjkx7vd4shiidxk» was made by the intern.",
        ],
        kept: &[
            "checkout_key: sk_sbx_<yours>",
            "What does sk_sbx_ stand for?",
            "The console shows only sk_sbx_74y… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "checkout-key-old",
        what: "Checkout.com secret key (old)",
        severity: Severity::Critical,
        literals: &["sk_test_", "sk_"],
        finder: tailed(
            "sk_(?:test_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            44,
            Tail::Exact,
        ),
        found: &[
            "sk_¦test_5560307e-c777-4087-90b4-dffa9af16d73",
            "let checkout_key = \"«sk_t¦est_0188d4d4-9ea3-6dce-170c-beb37f24715e»\";",
            "Use «sk_t¦est_65a557e7-b1b5-02de-ebf3-5811e0bd3e5c». It works from the office too.",
        ],
        kept: &[
            "sk_12345678-1234-1234-1234-1234567890ab",
            "A value with sk_test_ in front comes from Checkout.com.",
            "In the mail I could read sk_test_ce4 and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "mollie-key",
        what: "Mollie API key",
        severity: Severity::Critical,
        literals: &["live_", "test_"],
        finder: tailed("(?:live|test)_[A-Za-z0-9]{30}", 35, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "tes¦t_wCjj1CHqxNH6QHGrwBQZC1ooi2AoWP",
            "* MOLLIE_KEY: `«live¦_0EJhSpv40SOGl1atrSxK4cxxBA5Ivm»`",
            "The one for Mollie is `«live¦_aclbt2kJuaDHUV0TGfvUiCgk5uYrhu»`.",
        ],
        kept: &[
            "\"mollie_key\": \"live_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            "/^live_[A-Za-z0-9]+$/",
            "test_thatTheInvoiceTotalsAreRounded",
        ],
        ..MARKED
    },
    Rule {
        kind: "paddle-key",
        what: "Paddle API key",
        severity: Severity::Critical,
        literals: &["pdl_live_apikey_", "pdl_sdbx_apikey_"],
        finder: shape(
            "pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}",
            69,
        ),
        found: &[
            "pdl_¦sdbx_apikey_i9rxfm8fknz1jgp7yjo9vx7ilf_N2Y8UnpsCsbzXqehDdiKGh_5zj",
            "- name: PADDLE_KEY\n  value: «pdl_¦sdbx_apikey_6bkhagv4z89fynz83xhfp470y5_zMcxowwr\
             eTcaSvmtyofASW_bxM»",
            "at 10:42 the proxy logged «pdl_¦live_apikey_q2i738vmpflyjp8a87ovohd8md_f8jb2F40vyK\
             5JV8aWMIl9u_0Is», then 200",
        ],
        kept: &[
            "The README says pdl_live_apikey_xxxxxxxxxxxxxxxxxxxxxxxxxx_xxxxxxxxxxxxxxxxxxxxxx_\
             xxx.",
            "`pdl_live_apikey_` is how Paddle marks its own.",
            "Only pdl_live_apikey_GYRRic was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "paddle-webhook",
        what: "Paddle webhook secret",
        literals: &["pdl_ntfset_"],
        finder: tailed(
            "pdl_ntfset_[a-z0-9]{26}_[A-Za-z0-9+/]{32}",
            70,
            Tail::Base64,
        ),
        found: &[
            "pdl¦_ntfset_jpmy4nvyqxxax2kil61u227u63_poPOEzFAh/x5S9zSFBAaBFRcksRV+2+j",
            "PADDLE_WEBHOOK=«pdl¦_ntfset_qiadxdvw9h6bcl1xwpjrhmf5g5_4y9qP12Dksz2o3msDbWPnp5B1I4\
             PYcfS» make release",
            "\"«pd¦l_ntfset_qwa3goww8xth1uejbu1dhhdmzg_49l8Q18eSiiKeT9q66oAv8ji8bdcJv6q»\" is \
             what Paddle sent back.",
        ],
        kept: &[
            "paddle_webhook: \"pdl_ntfset_…\"",
            "They renamed pdl_ntfset_ twice at Paddle.",
            "The list had pdl_ntfset_VUh7 (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "polar-token",
        what: "Polar personal or organisation token",
        literals: &["polar_oat_", "polar_pat_", "polar_at_"],
        finder: shape("polar_(?:oat|pat|at)_[A-Za-z0-9_-]{20}", 30),
        checks: &[Check::Digit],
        found: &[
            "pola¦r_oat_ddWelpi7CxLv_7gEXwXo34WAt0iS3Hg7L2HsfBE7Rup",
            "set -x POLAR_TOKEN «po¦lar_pat_pxBJ0m7bTP5yiBDTY8ATjPzQ9M2swcSpP0zx29sF4g5»",
            "Found «pol¦ar_at_B5CXvfdleIODgF7QpjCunu2R1nc1KkI6T85aB9JhMXB»! Please have it \
             revoked.",
        ],
        kept: &[
            "POLAR_TOKEN=polar_oat_xxxxxxxxxxxxxxxxxxxx",
            "The polar_oat_ ones belong to Polar, ask them.",
            "The screenshot ends at polar_oat_KxGK",
        ],
        ..MARKED
    },
    Rule {
        kind: "persona-key",
        what: "Persona API key",
        severity: Severity::Critical,
        literals: &["persona_production_", "persona_sandbox_"],
        finder: shape("persona_(?:production|sandbox)_[a-z0-9_-]{20}", 39),
        checks: &[Check::Digit],
        found: &[
            "per¦sona_production_0ff9f934-a3c3-5301-e4ec-e9d05d6e99d8",
            "PERSONA_KEY: \"«pe¦rsona_production_c8e4dc6a-631c-74e7-48cf-eebe3725e239»\"",
            "(staging) «per¦sona_production_3963c43e-cd8b-1bf7-e8df-3706b56dcf7f»",
        ],
        kept: &[
            "`persona_production_xxxxxxxxxxxxxxxxxxxx` in the docs",
            "Search the logs for persona_production_ and tell Persona.",
            "Row 7: persona_production_zek…",
        ],
        ..MARKED
    },
];
