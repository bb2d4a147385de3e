//! Money: banks, checks of identity, and payments in single countries.

use super::{MARKED, around, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "onfido-key",
        what: "Onfido API token",
        severity: Severity::Critical,
        literals: &["api_live.", "api_live_", "api_sandbox.", "api_sandbox_"],
        finder: shape(
            r"api_(?:live|sandbox)(?:_[a-z]{2})?\.[A-Za-z0-9_-]{11}\.[A-Za-z0-9_-]{32}",
            59,
        ),
        found: &[
            "api¦_live_oh.i274OzJkY84.lCC9cXym9v-zQ3G7Pn0Sq_P-GgwmZt2c",
            "| name | value |\n|---|---|\n| onfido_key | \
             «api_¦sandbox.iF9PVh2Pj17.xelnmBBZfmH0h2RR5TWmP19g1d5MLj9k» |",
            "Onfido gave us «api¦_live.dNv45WtLy-u.ijzzsLSpeiwMLReIT4ernhbTfYhzl-iK», which \
             runs out in June.",
        ],
        kept: &[
            "Put yours here: api_live.xxxxxxxxxxx.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "The linter looks for `api_live.` at the start of a word.",
            "Onfido prints api_live.bUTrmP*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "mercury-token",
        what: "Mercury API token",
        severity: Severity::Critical,
        literals: &["mercury_production_", "mercury_sandbox_"],
        finder: shape(
            "mercury_(?:production|sandbox)_[a-z]{3,6}_[A-Za-z0-9]{40}",
            66,
        ),
        found: &[
            "mer¦cury_production_wma_mhkQ610ybHSGVBD50pxQ5PYOd3aQEndNa1nGTiglOhy4_yrucrem",
            "put(\"mercury_token\", \"«merc¦ury_production_wma_VBlg0dN2nWEXLZgcjkMbPgQEI64zhZ2x\
             JxanKLOqwtkT_yrucrem»\")",
            "Does Mercury still take «merc¦ury_production_wma_wb3Z488L0zBLenrjrXFJzUakbKB9aRrll\
             qOksEOgU8db_yrucrem»?",
        ],
        kept: &[
            "e.g. mercury_production_xxx_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "# mercury_production_ -> Mercury",
            "It ended up as mercury_production_C3uLE... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "ramp-secret",
        what: "Ramp client secret",
        severity: Severity::Critical,
        literals: &["ramp_sec_"],
        finder: shape("ramp_sec_[A-Za-z0-9]{48}", 57),
        found: &[
            "ram¦p_sec_9zTNC5rXBmxhxH0oNkDJXcHKkqsnYuXXYPKYXxgtEp7xXgKo",
            "curl -H \"X-Api-Key: «ra¦mp_sec_5LkNKI91SEGlvoVSSCkrzYojTThiZDQ3aV4i6J0UCYgqhvOk»\
             \" https://api.internal.test/v1",
            "In Ramp, «ram¦p_sec_rRvXg57wVwz18drHdavMf9BBsuZaljbi6IfQXA5BNNxZjwCp» was made by \
             the intern.",
        ],
        kept: &[
            "ramp_sec_<paste the rest>",
            "Everything from ramp_sec_ on is cut by the console.",
            "ramp_sec_cQzh9 is too short for Ramp.",
        ],
        ..MARKED
    },
    Rule {
        kind: "brex-token",
        what: "Brex user token",
        severity: Severity::Critical,
        literals: &["bxt_"],
        finder: shape("bxt_[A-Za-z0-9]{36}", 40),
        found: &[
            "bxt¦_NDh7eXQaLmW8RkwaygG7EKkp7DQ8hJjSdNPk",
            "[default]\nbrex_token = «bxt¦_rUrSjorVbmeJmhdr09e5EDf3XoL3G6GLjmNP»\nregion = \
             north",
            "**Brex**: «bxt¦_D5ZDpBNOIo7V1islhaS06vIXnLGrcdPGcMLx»",
        ],
        kept: &[
            "\"brex_token\": \"bxt_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            "`bxt_` is how Brex marks its own.",
            "Masked: bxt_4Ym****",
        ],
        ..MARKED
    },
    Rule {
        kind: "xendit-key",
        what: "Xendit secret key",
        severity: Severity::Critical,
        literals: &["xnd_production_", "xnd_development_"],
        finder: shape("xnd_(?:production|development)_[A-Za-z0-9]{40}", 56),
        found: &[
            "xn¦d_production_ktnkdXbksFVJp6kMx1VffuJEVlGYweQTxMs9eniJAqKXHLCz9k1VdpNf",
            "echo '«xn¦d_development_Hatnwknme3g2q23igW2BVbAgHQYrH0CFFDoc81OkWacnvwDEvd8UdRwq»\
             ' > /run/xendit-key",
            "- [ ] revoke «xn¦d_production_fs65NV0OqAb1KA1zbuKXGCz5kCZNakZlJhH4eUu4axmR7ogdguVK\
             DMEo»",
        ],
        kept: &[
            "process.env.XENDIT_KEY",
            "The xnd_production_ ones belong to Xendit, ask them.",
            "typed xnd_production_IhG, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "midtrans-key",
        what: "Midtrans server key",
        severity: Severity::Critical,
        literals: &["Mid-server-"],
        finder: around("(?:SB-)?Mid-server-[A-Za-z0-9_-]{20}", 3, 31, Tail::Word),
        checks: &[Check::Digit],
        found: &[
            "Mid-¦server-TZYIZjXidS_Ic2ZBtzNa",
            "MIDTRANS_KEY = '«SB-¦Mid-server-WCh-UXspIW-76merqmrq»'  # rotate in May",
            "La clé de Midtrans était «Mid¦-server-2gul6TnDiTkxmbuvwfsT». À changer.",
        ],
        kept: &[
            "cp .env.sample .env  # MIDTRANS_KEY=Mid-server-xxxxxxxxxxxxxxxxxxxx",
            "What does Mid-server- stand for?",
            "Midtrans answers: bad value Mid-server-88Z…",
        ],
        ..MARKED
    },
    Rule {
        kind: "omise-key",
        what: "Omise secret key",
        severity: Severity::Critical,
        literals: &["skey_"],
        finder: shape("skey_(?:test_)?[a-z0-9]{19}", 29),
        checks: &[Check::Digit],
        found: &[
            "ske¦y_i90tr1uwthk0xebntkx",
            "ARG OMISE_KEY=\"«skey¦_qg78x2hb48jlxlu39bf»\"",
            "Le jeton «ske¦y_test_8lu645uw17si34gu0y4», c'est pour la préproduction.",
        ],
        kept: &[
            "OMISE_KEY=${OMISE_KEY}",
            "| Omise | `skey_` | prefix |",
            "The screenshot ends at skey_JrAo",
        ],
        ..MARKED
    },
    Rule {
        kind: "mercadopago-token",
        what: "Mercado Pago access token",
        severity: Severity::Critical,
        literals: &["APP_USR-", "TEST-"],
        finder: shape(
            "(?:APP_USR|TEST)-[0-9]{10,20}-[0-9]{6}-[a-f0-9]{32}-[0-9]{5,12}",
            81,
        ),
        found: &[
            "APP¦_USR-9592426893562259-010641-88982ba2272207d929d37bf07a59dd8f-384282353",
            "{\"mercadopagoToken\": \"«AP¦P_USR-6717291879272192-010354-5406e8b08321c3c5a70dd2f\
             7824a574c-886223448»\", \"retries\": 3}",
            "«APP_¦USR-5784647528475457-010360-27472a7a5e81fcfa90b1e4ee639c2fb2-537699629»，来自 \
             Mercado Pago。",
        ],
        kept: &[
            "Put yours here: APP_USR-1234567890-123456-1234567890abcdef1234567890abcdef-12345",
            "We filter on APP_USR- (that is Mercado Pago).",
            "It ended up as APP_USR-70b8b8... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "pagarme-key",
        what: "Pagar.me API key",
        severity: Severity::Critical,
        literals: &["ak_live_", "ak_test_"],
        finder: shape("ak_(?:live|test)_[A-Za-z0-9]{30}", 38),
        found: &[
            "ak¦_test_2BAsvIugyqUr8ri8ucDoxTumAtrcTM",
            "os.environ[\"PAGARME_KEY\"] = \"«ak_t¦est_F11ePlKgI3Sk2Oa47ffNfWmNK76rBH»\"",
            "Please do not share «ak_t¦est_ppum3Z8SEsnWzJ8sKZ1TVUmZ8qzh9N».",
        ],
        kept: &[
            "PAGARME_KEY=%PAGARME_KEY%",
            "Pagar.me: the ones with ak_live_",
            "In the mail I could read ak_live_GsW and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "asaas-key",
        what: "Asaas API token",
        severity: Severity::Critical,
        literals: &["$aact_"],
        finder: shape(r"\$aact_(?:prod|hmlg)_[A-Za-z0-9_-]{20}", 31),
        found: &[
            "$aa¦ct_prod_oqthk3icc2eJDZnt4ZPp7jokylca5RBCfXRBJh6VXOzZ3CIE3zCusUP98W1AIWXGnmPDVK\
             k2ypbfeQtS",
            "  - ASAAS_KEY=«$aac¦t_prod_SWpj0K4M7SCzElEMJrYNBRUdqCI28S9mSyHSrJq5im2D0KAEaNXryON\
             NbroMLZZd5odL62xDHt7etgcO»",
            "Asaas (staging): «$aa¦ct_prod_KIAQORwN4PZ4p-dRxsR3Wku3RaLuuYUbhN5RleddMZF2anXoen0l\
             8Hh0Ppfeol3TMObqpja60GXVe2Ja»;",
        ],
        kept: &[
            "$aact_prod_****************",
            "Asaas documents the $aact_prod_ prefix.",
            "Asaas prints $aact_prod_cPblDx*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "cashfree-key",
        what: "Cashfree client secret",
        severity: Severity::Critical,
        literals: &["cfsk_ma_"],
        finder: shape("cfsk_ma_(?:prod|test)_[a-f0-9]{32}_[a-f0-9]{8}", 54),
        found: &[
            "cfsk¦_ma_test_147004e8e898414e783cd264ef3c4e97_b2d8dad8",
            "    cashfree_key: «cf¦sk_ma_test_44f4ff4ee12fe7b68a7fe688c2dcdca5_bccc7f38»",
            "1. Copy «cfsk¦_ma_prod_2053cf5cb917ba778da01f8a3ff06d09_ffc1f24c»\n2. Open \
             Cashfree\n3. Paste it",
        ],
        kept: &[
            "The README says cfsk_ma_prod_1234567890abcdef1234567890abcdef_12345678.",
            "Strings with cfsk_ma_ are new, the others are old.",
            "cfsk_ma_2a9 is too short for Cashfree.",
        ],
        ..MARKED
    },
    Rule {
        kind: "klarna-key",
        what: "Klarna API key",
        severity: Severity::Critical,
        literals: &["klarna_live_api_", "klarna_test_api_"],
        finder: tailed(
            "klarna_(?:live|test)_api_[A-Za-z0-9+/=_-]{30}",
            46,
            Tail::Base64,
        ),
        found: &[
            "kl¦arna_test_api_SPiMbgCwzwWNcvG=QNElthm7KH6Z1a6tbEomY1czMe0AmXoZEyr3wmHrWJo0Tsm4E\
             pud9eULvdihyRlwzxuV7caLQZ",
            "$env:KLARNA_KEY = \"«kl¦arna_test_api_LE=bLeR=vwl6WMnQl1DgqLaa+Hd5LJpXMhxSnfogVRBR\
             52X1hBwBXHUBYbpXC8Fli5tzIot6rquu5iEgYCbVLDDLGa»\"",
            "请用 «kl¦arna_live_api_CY9P=jOacd6bqMWFReVKjrr+ZNEOinHPKhEiqWPhPS4M5eShK2qycIQZKPXI7\
             BJoJlvkNsre1Kw6fGLpadzuDMOoXp»。",
        ],
        kept: &[
            "klarna_live_api_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "if value.starts_with(\"klarna_live_api_\") { return Some(Vendor::Known); }",
            "The console shows only klarna_live_api_QYR… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "sumup-key",
        what: "SumUp secret key",
        severity: Severity::Critical,
        literals: &["sup_sk_"],
        finder: shape("sup_sk_[A-Za-z0-9]{32}", 39),
        found: &[
            "su¦p_sk_oxYfwoFuPGhbx3h9UwHTH1pYLxqCj8Yh",
            "  - SUMUP_KEY=«sup_¦sk_PUauXcaIhGX8rtMoVw9bQ5DmA8ZPvjgf»",
            "Memo: «sup_¦sk_0DQ6laJrr7QeDTieAfRNXj83gs7PA00y» (from SumUp, made in spring)",
        ],
        kept: &[
            "sumup_key: sup_sk_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "Search the logs for sup_sk_ and tell SumUp.",
            "SumUp answers: bad value sup_sk_RYn0ue…",
        ],
        ..MARKED
    },
    Rule {
        kind: "rainforest-key",
        what: "Rainforest API key",
        severity: Severity::Critical,
        literals: &["apikey_"],
        finder: shape("apikey_[a-f0-9]{64}", 71),
        found: &[
            "apik¦ey_a4a7b1ff078f34025cea75c73a995c881d2aa9676b34df8f07354c86cf64d89e",
            "<rainforestKey>«api¦key_b08c745f2fcabee779702114d398c244414693b7b686bd56c72f87d7e5\
             c56ec6»</rainforestKey>",
            "> «api¦key_ba74df58c43aa0d3f1955790807c234e3f96d0cd4483f5693997f988242f4b22»\n\nwa\
             s in the ticket.",
        ],
        kept: &[
            "e.g. apikey_1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef",
            "What Rainforest hands out begins with apikey_ these days.",
            "The list had apikey_cba833 (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "samsara-token",
        what: "Samsara API token",
        literals: &["samsara_api_"],
        finder: shape("samsara_api_[A-Za-z0-9]{26}", 38),
        found: &[
            "sa¦msara_api_q3F36Mbpan02EdEVTMC1emPD0mLPIq",
            "samsara-token = \"«sams¦ara_api_0Hf38ysaGmp97m9vLcprwNxQ7J5Is6»\"",
            "I pasted «sa¦msara_api_701wj4JNiobE3hwfoaZBDVrA582gwg», then the call went \
             through.",
        ],
        kept: &[
            "SAMSARA_TOKEN={{ samsara_token }}",
            "Everything from samsara_api_ on is cut by the console.",
            "Masked: samsara_api_KhL0ff****",
        ],
        ..MARKED
    },
    Rule {
        kind: "robinhood-key",
        what: "Robinhood crypto API key",
        severity: Severity::Critical,
        literals: &["rh-api-"],
        finder: shape("rh-api-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 43),
        found: &[
            "rh¦-api-c7f0f937-16fa-1701-4f7d-fd40fdf47c1c",
            "$env:ROBINHOOD_KEY = \"«rh-a¦pi-1f99d71b-3fd5-343d-e25a-f0e3efe4a429»\"",
            "It was a Robinhood one («rh-a¦pi-f39c195a-e672-e88e-ab37-5af7bfd7da7d») all along.",
        ],
        kept: &[
            "The sample has rh-api-12345678-1234-1234-1234-1234567890ab, which is no real one.",
            "The linter looks for `rh-api-` at the start of a word.",
            "typed rh-api-9da62, then gave up",
        ],
        ..MARKED
    },
];
