//! Shops, parcels and travel.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "shopify-token",
        what: "Shopify access token or shared secret",
        severity: Severity::Critical,
        literals: &["shpat_", "shpca_", "shppa_", "shpss_", "shpua_"],
        finder: shape("shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{32}", 38),
        found: &[
            "shpu¦a_dEDFd9Ce0BC5159d470cBe0Fb1Cc448f",
            "printf %s «sh¦pss_1cC815d337bc87486d2b31AAc8dF4aDe» | pbcopy",
            "Replace «shp¦pa_6fb06e14a6A5ECBE0ddd598Fc0Be53bE»: it was in a screenshot.",
        ],
        kept: &[
            "SHOPIFY_TOKEN=shpat_YOUR_VALUE_HERE",
            "grep -rn 'shpat_' src/ found nothing.",
            "Only shpat_EtJfEE was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "shopify-partner",
        what: "Shopify partner API token",
        literals: &["prtapi_"],
        finder: shape("prtapi_[a-f0-9]{32}", 39),
        found: &[
            "prta¦pi_89d2d2783d1ecbc17426767abe266d52",
            "SHOPIFY_PARTNER=«pr¦tapi_ef52f4eea400e85a4e157d1ae8db7a4c» make release",
            "Is «prt¦api_2eff6e62a05def82b68c77827d125c33» still in use?",
        ],
        kept: &[
            "SHOPIFY_PARTNER=<your Shopify value>",
            "Nothing in the dump has prtapi_ in it.",
            "Row 7: prtapi_efa1…",
        ],
        ..MARKED
    },
    Rule {
        kind: "woocommerce-key",
        what: "WooCommerce consumer key or secret",
        literals: &["ck_", "cs_"],
        finder: tailed("c[ks]_[a-f0-9]{40}", 43, Tail::Exact),
        found: &[
            "ck¦_a9554c4126209313a69c719aef3e429b83528ea2",
            "os.environ[\"WOOCOMMERCE_KEY\"] = \"«ck¦_28012c19a62c9a36e3f65063807f90a90c6c404f»\
             \"",
            "See <«cs¦_f28701c8525337045aca275bca35d6a4c0135a96»> for WooCommerce.",
        ],
        kept: &[
            "WOOCOMMERCE_KEY=\"c1_1234567890abcdef1234567890abcdef12345678\"  # replace me",
            "case ck_*) echo WooCommerce ;;",
            "cs_test_a1B2c3D4e5 is the id of a checkout session.",
        ],
        ..MARKED
    },
    Rule {
        kind: "easypost-key",
        what: "EasyPost API key",
        literals: &["EZAK", "EZTK"],
        finder: shape("EZ[AT]K[A-Za-z0-9]{54}", 58),
        found: &[
            "EZ¦TKlvJJxdM1mQ9irwr7Ezg9mi4vcNT1T7RgZMVjyPFCbAAS3EpA2B0KEm",
            "- name: EASYPOST_KEY\n  value: «EZT¦KAZVw2LaU9IrUHKWCGrk9P4Zz9JffnbI0wGe66Mfcw5Af6\
             7cMEMxOWk»",
            "Both of them: [«EZA¦KUnQI8ByeX79aLb3EVhnKt5OuaJ14j9q96KWi9uvyMtHhnSnu4naSOp»], \
             and nothing else.",
        ],
        kept: &[
            "`EZ1Kxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` in the docs",
            "return s.startsWith('EZAK');",
            "typed EZAKvZjjN, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "shippo-token",
        what: "Shippo API token",
        literals: &["shippo_"],
        finder: shape("shippo_(?:live|test)_[a-f0-9]{40}", 52),
        found: &[
            "sh¦ippo_test_7cb4db5aee357b0b6548effe32e3295617828a93",
            "{\"shippoToken\": \"«shi¦ppo_test_f9c84f940626c6dd6049224bc37578d463448893»\", \
             \"retries\": 3}",
            "Shippo answers 401 unless «ship¦po_test_c6d335c660ef637e30d89399915a826332cf0fee» \
             is sent.",
        ],
        kept: &[
            "os.environ[\"SHIPPO_TOKEN\"]",
            "/^shippo_[A-Za-z0-9]+$/",
            "Shippo answers: bad value shippo_d4e0…",
        ],
        ..MARKED
    },
    Rule {
        kind: "duffel",
        what: "Duffel API token",
        literals: &["duffel_"],
        finder: shape("duffel_(?:live|test)_[A-Za-z0-9_-]{43}", 55),
        found: &[
            "du¦ffel_test_nClRM5gxCd5WAKXRQ9A2MDh5yOkjVejP-Gnbp626aAv",
            "curl -H \"X-Api-Key: «du¦ffel_live_iimx2CnyqZsres36uEpL1gRyZOKuLev2jAfsbu_CYb6»\" \
             https://api.internal.test/v1",
            "Duffel 的密钥是 «duf¦fel_live_LaYAclWzUh7X9RtEqaJ93qqBRT-0vwrsjz-nl8Ig6oH»，请勿外传。",
        ],
        kept: &[
            "DUFFEL=duffel_live_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "# duffel_ -> Duffel",
            "It ended up as duffel_yJcn... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "crossmint-key",
        what: "Crossmint server or client key",
        literals: &[
            "sk_staging_",
            "sk_production_",
            "ck_staging_",
            "ck_production_",
        ],
        finder: shape("[sc]k_(?:staging|production)_[A-Za-z0-9]{24}", 38),
        checks: &[Check::Digit],
        found: &[
            "sk_s¦taging_Tl6rNcMJKLgxoY6dsgbzU6mV8i4WX49DiUCu32E1eFYipdKOr8GyY1opoocm0uC9",
            "set -x CROSSMINT_KEY «sk_s¦taging_paYomz1Zoil4Y3eEKoJi6LWtu2ogtnB8ZBuCr7uP6mZWCF19\
             VLCSGQznno2nBqv1»",
            "The build printed «ck_s¦taging_GGFfoBuLGuyRn7a81syA86uAScBtMX0sgXz0eAR2ce28qBY5Sab\
             vx6tP0aROMtdJ»\nand went on.",
        ],
        kept: &[
            "sk_staging_... goes here",
            "Is the part after sk_staging_ random?",
            "sk_staging_avJp is too short for Crossmint.",
        ],
        ..MARKED
    },
    Rule {
        kind: "flexport-key",
        what: "Flexport Logistics API key",
        severity: Severity::Medium,
        literals: &["shltm_"],
        finder: shape("shltm_[A-Za-z0-9_-]{40}", 46),
        found: &[
            "sh¦ltm_lmyGhRW_IN-5Lk00foCs1sxiviEuXDEecCuBnfj7",
            "ENV FLEXPORT_KEY «sh¦ltm_XOk1k4QdbnTgi5suNOvpFZ0r9GRaFM-ZEP3vLBoI»",
            "Set it to «shl¦tm_EmJ7-pDtamBfO88UAW_yFEXzkPTdxAY9m5cmNmbE»; then restart the \
             worker.",
        ],
        kept: &[
            "FLEXPORT_KEY=changeme",
            "Flexport changed to the shltm_ form last year.",
            "The console shows only shltm_T7h… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "ebay-secret",
        what: "eBay certificate id (client secret)",
        literals: &["PRD-", "SBX-"],
        finder: shape(
            "(?:PRD|SBX)-[a-f0-9]{12}-[a-f0-9]{4}(?:-[a-f0-9]{4}){3}",
            36,
        ),
        found: &[
            "SB¦X-5d478d0a96fd-c073-6a49-5edf-eeec",
            "put(\"ebay_secret\", \"«SB¦X-71cdad382d18-54ae-5b47-d793-cc64»\")",
            "That was «PRD¦-273aed3d2dab-991a-6732-686b-28ab», as far as I remember.",
        ],
        kept: &[
            "The sample has PRD-1234567890ab-1234-1234-1234-1234, which is no real one.",
            "A value with PRD- in front comes from eBay.",
            "The list had PRD-45e7b (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "ticket-tailor-key",
        what: "Ticket Tailor API key",
        severity: Severity::Medium,
        literals: &["sk_"],
        finder: tailed("sk_[0-9]{4,5}_[0-9]{5,7}_[a-f0-9]{32}", 49, Tail::Exact),
        found: &[
            "sk¦_61266_5432286_1ca42f96b131e818d6b3fae77305809a",
            "\"ticket_tailor_key\": \"«sk¦_4350_59593_b622cc2cd92d1417c45df8488dc09bf1»\",",
            "Use «sk¦_24859_89137_8c4d1ad69a206449fcbc48d0e93de19e». It works from the office \
             too.",
        ],
        kept: &[
            "TICKET_TAILOR_KEY=<your Ticket Tailor value>",
            "\"sk_\" => \"Ticket Tailor\",",
            "Masked: sk_4f4ed8****",
        ],
        ..MARKED
    },
    Rule {
        kind: "fleetbase-key",
        what: "Fleetbase API key",
        severity: Severity::Medium,
        literals: &["flb_live_", "flb_test_"],
        finder: shape("flb_(?:live|test)_[A-Za-z0-9]{20}", 29),
        found: &[
            "fl¦b_test_LNs1gdPUiVU1lxQfi7Lj",
            "fleetbase_key=«fl¦b_test_HL3P9sBXp8Z4yh64zAbL»&page=2",
            "Der Schlüssel lautet «fl¦b_test_Qr7QI34HAIdAr2zmOwXm», gültig bis Ende Juli.",
        ],
        kept: &[
            "FLEETBASE_KEY=\"flb_live_xxxxxxxxxxxxxxxxxxxx\"  # replace me",
            "They renamed flb_live_ twice at Fleetbase.",
            "Only flb_live_4Hl was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "whop-key",
        what: "Whop API key",
        severity: Severity::Medium,
        literals: &["apik_"],
        finder: shape("apik_[A-Za-z0-9]{12,20}_[A-Za-z0-9_]{20}", 46),
        found: &[
            "api¦k_u7XB61uO2CsjgOnQfh_QMWghXHU8wPZ533cPmf633vpoLAKn2SqCJepIyrLoAQj1akm1Z",
            "whopKey := \"«apik¦_8y7OotJlJMc7_pXQema8IVuYJQNaooDdkGY8ld2iee4sFYGUePKOTgCTKT5u0G\
             n»\" // see the wiki",
            "We use two at Whop: «ap¦ik_3Fb0rtbaLr2RM_sHZn8xCvCk8Kkg3IqDgOglWpyiwUXHqiu96I3b4JA\
             NhF2k4vZJ», and one more for tests.",
        ],
        kept: &[
            "\"whop_key\": \"apik_xxxxxxxxxxxx_xxxxxxxxxxxxxxxxxxxx\"",
            "grep -rn 'apik_' src/ found nothing.",
            "Row 7: apik_37eLSt…",
        ],
        ..MARKED
    },
];
