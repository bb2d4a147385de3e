//! Logs, metrics, errors.

use super::{MARKED, around, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "newrelic-key",
        what: "New Relic user, ingest, query or admin key",
        literals: &["NRAK-", "NRII-", "NRIQ-", "NRRA-", "NRAA-", "NRSP-"],
        finder: shape(
            "NR(?:AK-[A-Z0-9]{27}|(?:II|IQ|RA|AA|SP)-[A-Za-z0-9_-]{25})",
            32,
        ),
        found: &[
            "NRAA¦-LmlsJnFQHVPsfoFgz3INY3mcN",
            "newrelic-key = \"«NR¦AK-UB179FJRLTDTIGQE7410PFKW0T5»\"",
            "New Relic 的密钥是 «NR¦AK-NXOLNNSMP8YQLPYY5OR7B5HYUBR»，请勿外传。",
        ],
        kept: &[
            "e.g. NRAK-XXXXXXXXXXXXXXXXXXXXXXXXXXX",
            "Strings with NRAK- are new, the others are old.",
            "NRJS-4f0c8d1e7b2a9c3d5e6 is for browsers and public.",
        ],
        ..MARKED
    },
    // Its marker is the end.
    Rule {
        kind: "newrelic-license",
        what: "New Relic licence key",
        literals: &["NRAL"],
        finder: around(
            "(?:eu01xx)?[a-f0-9]{26,36}(?:FFFF)?NRAL",
            46,
            4,
            Tail::Exact,
        ),
        found: &[
            "af1¦bf360adaad586deec19f5286b0625fc7fNRAL",
            "# .env\nPORT=8080\nNEWRELIC_LICENSE=«ea7d¦5f5033137efeebd5fc8b462e4a3ed6f2NRAL»\nL\
             OG=info",
            "(staging) «9e¦22bb7dd0ece7c87d37f77c2aed09fa3152NRAL»",
        ],
        kept: &[
            "The sample has 1234567890abcdef1234567890NRAL, which is no real one.",
            "The linter looks for `NRAL` at the start of a word.",
            "The console shows only NRAL0c9f… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "newrelic-mobile",
        what: "New Relic mobile application token",
        severity: Severity::Medium,
        literals: &["-NRMA"],
        finder: around(
            "(?:AA[a-f0-9]{40}|eu01xx[a-f0-9]{36})-NRMA",
            42,
            5,
            Tail::Exact,
        ),
        found: &[
            "eu0¦1xx6a0e6c9e6ef80a122751bcfb4f8d12090b70-NRMA",
            "printf %s «AAa¦60180473c8cbbdb8e006d9f0b735614a7ac68aa-NRMA» | pbcopy",
            "Set it to «eu01¦xxcf32a716f32ad6e676abf25ee662c67b7d90-NRMA»; then restart the \
             worker.",
        ],
        kept: &[
            "newrelic_mobile: AA1234567890abcdef1234567890abcdef12345678-NRMA",
            "The -NRMA ones belong to New Relic, ask them.",
            "Row 7: -NRMA6fc3b7…",
        ],
        ..MARKED
    },
    Rule {
        kind: "pixie-key",
        what: "New Relic Pixie API or deploy key",
        severity: Severity::Medium,
        literals: &["px-api-", "px-dep-"],
        finder: shape(
            "px-(?:api|dep)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            43,
        ),
        found: &[
            "px-a¦pi-4559f18f-6f9a-4bec-03eb-70d9abf7cdbe",
            "PIXIE_KEY = '«px-¦api-33dffe57-0705-f87a-7fea-c1542bbdfefa»'  # rotate in May",
            "The build printed «px-¦dep-4de06293-480e-4fc8-fbbb-4a8fc5ac8bd4»\nand went on.",
        ],
        kept: &[
            "px-api-12345678-1234-1234-1234-1234567890ab",
            "Nothing in the dump has px-api- in it.",
            "Masked: px-api-565b****",
        ],
        ..MARKED
    },
    Rule {
        kind: "grafana-sa",
        what: "Grafana service account token",
        literals: &["glsa_"],
        finder: shape("glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}", 46),
        checks: &[Check::Crc32Reversed],
        found: &[
            "gl¦sa_vdUmmeeRtVf4ly617IbJmc8MKi3PqTfz_86c5cd9f",
            "os.environ[\"GRAFANA_SA\"] = \"«gls¦a_OdhiYHRgelXII1hfUrS32g892oz7zMnh_af29fbb8»\"",
            "That was «glsa¦_rI3w4cDhtld20RXvdpwPHUZAWYM3quuP_f73cdf5b», as far as I remember.",
        ],
        kept: &[
            "cp .env.sample .env  # GRAFANA_SA=glsa_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_12345678",
            "Search the logs for glsa_ and tell Grafana.",
            "The list had glsa_VJZ87z (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "grafana-cloud",
        what: "Grafana Cloud access policy token",
        literals: &["glc_"],
        finder: tailed("glc_[A-Za-z0-9+/]{32}", 36, Tail::Base64),
        found: &[
            "glc¦_eyJvIjogIjM0NDg1IiwgIm4iOiAic3RhY2stY2kiLCAiayI6ICJidUJTMnpOSVZ5aXpPU21XRTlRQ\
             nJvcTgiLCAibSI6IHsiciI6ICJldSJ9fQ==",
            "GRAFANA_CLOUD: \"«gl¦c_eyJvIjogIjQxMDQ0IiwgIm4iOiAic3RhY2stY2kiLCAiayI6ICJRU25jRzM\
             wdktxUktPM1Jhc01BY1VhUlMiLCAibSI6IHsiciI6ICJldSJ9fQ==»\"",
            "at 10:42 the proxy logged «gl¦c_eyJvIjogIjgxMTE0IiwgIm4iOiAic3RhY2stY2kiLCAiayI6IC\
             JXTVJRd2lyeVE1bTRua3BiYTVVa2xzZjAiLCAibSI6IHsiciI6ICJldSJ9fQ==»|200|/v1/items",
        ],
        kept: &[
            "\"grafana_cloud\": \"glc_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            "# glc_ -> Grafana Cloud",
            "It ended up as glc_q0CI... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "grafana-api-key",
        what: "Grafana API key (old)",
        literals: &["eyJrIjoi"],
        finder: tailed("eyJrIjoi[A-Za-z0-9+/]{60}", 68, Tail::Base64),
        found: &[
            "eyJ¦rIjoiTURyQXp3eFduaGNnbjdJbEc2bFhDSE0wengydE96c1AiLCJuIjoiY2kiLCJpZCI6NH0=",
            "Setenv GRAFANA_API_KEY «eyJr¦IjoiU0lIc1F4bnBKZzZyZlluRTloTVUzRDNaNGw0VURDVWIiLCJuI\
             joiY2kiLCJpZCI6Njd9»",
            "Le jeton «eyJr¦IjoiN3BhcGdEaUdib3FtbG41OG05R0dWNldJWGgwR3NrTWsiLCJuIjoiY2kiLCJpZCI\
             6MzV9», c'est pour la préproduction.",
        ],
        kept: &[
            "GRAFANA_API_KEY=changeme",
            "case eyJrIjoi*) echo Grafana ;;",
            "Grafana prints eyJrIjoiU3I0*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "sentry-token",
        what: "Sentry user or organisation token",
        literals: &["sntryu_", "sntrys_"],
        finder: tailed(
            "sntry(?:u_[a-f0-9]{64}|s_[A-Za-z0-9+/=_]{60,400})",
            410,
            Tail::Base64,
        ),
        found: &[
            "sn¦tryu_0b671dfac8ce900aeb06c1ffce1aef7d5e529ae7741e6a55bd98d15b4d01bccb",
            "ARG SENTRY_TOKEN=\"«sntr¦ys_eyJpYXQin5CT9XZ398OhHWDSizRdZ6ekyOfF8fIi9KaI1YWxZxKAt4\
             6wic7rovNSbfJqTplOgNxsyBEyozz9ZHUt8vKaeDA14c_D2hFVRhuDzSmqcj5NZt9Twt52nJTt4GStoAUa\
             rsdCbl»\"",
            "He read it out: «sn¦tryu_0ba869ee364c334bcfb2c3358b6e52d9d190a468e14477fd10f6b8db5\
             a6ef27f». Nobody noticed.",
        ],
        kept: &[
            "SENTRY_TOKEN=\"sntryu_1234567890abcdef1234567890abcdef1234567890abcdef1234567890ab\
             cdef\"  # replace me",
            "Sentry changed to the sntryu_ form last year.",
            "Sentry answers: bad value sntryu_62d621…",
        ],
        ..MARKED
    },
    Rule {
        kind: "dynatrace-token",
        what: "Dynatrace API or platform token",
        literals: &["dt0"],
        finder: shape(r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}", 96),
        found: &[
            "dt¦0m29.TX46TCCV9FZEWWMDJNLNZ0P9.O7RTCBJ5ZW6SYXGISZSH9OXXPETR2N8TM43PDAT39OU0B2XBF\
             ARQH2XO6OJGKLBP",
            "dynatraceToken: '«dt¦0g23.2C0EUMS50TH3OB21Y0CQ4HSG.14WCSNSN5SVR28KFAJLUO4WKQILBYB4\
             EQ1B5RVYAZOK4N0DSPTL9SG3SAJJ9FLKP»',",
            "Replace «dt¦0y69.V98CDUN1OO1JOQCCH8LBFOCZ.SDWYFSGQJOIUK72DB3VBA27DP9CRCU0RB97METVR\
             USQ6NHSLMZEEUJ8VEQETTF2A»: it was in a screenshot.",
        ],
        kept: &[
            "DYNATRACE_TOKEN=dt0x12.XXXXXXXXXXXXXXXXXXXXXXXX.XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX\
             XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
            "/^dt0[A-Za-z0-9]+$/",
            "In the mail I could read dt0sL9JW and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "axiom-token",
        what: "Axiom API or personal token",
        severity: Severity::Medium,
        literals: &["xaat-", "xapt-"],
        finder: shape("xa[ap]t-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 41),
        found: &[
            "xapt¦-03cc5840-8d41-b1d0-592e-9bffa190fdb7",
            "curl -H \"X-Api-Key: «xa¦pt-21d89544-02df-4ff8-5798-acd834955eb5»\" \
             https://api.internal.test/v1",
            "In Axiom, «xa¦pt-b3661967-4525-4354-b595-6df830c9654e» was made by the intern.",
        ],
        kept: &[
            "`xa1t-12345678-1234-1234-1234-1234567890ab` in the docs",
            "grep -rn 'xaat-' src/ found nothing.",
            "Only xaat-98eff was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "honeycomb-ingest",
        what: "Honeycomb ingest or management key",
        severity: Severity::Medium,
        literals: &[
            "hcaik_", "hcbik_", "hcxik_", "hcalk_", "hcamk_", "hcxlk_", "hcxmk_",
        ],
        finder: shape("hc[abcmx](?:ik|lk|mk)_[a-z0-9]{26}", 32),
        checks: &[Check::Digit],
        found: &[
            "hc¦aik_v8v8jby5njgzd3js75ui9ntxz5ab229c4b0b3e83d650bb67facbfb5380",
            "os.environ[\"HONEYCOMB_INGEST\"] = \"«hcb¦ik_bd3ix7rhe1062y0lgil7ai6w8qbdedd0a8c96\
             0ca70138d124ab94bceeb»\"",
            "Der Schlüssel lautet «hcam¦k_0wgihoctsw1i22zp3zlxsa27ssb4e252d701e67f7d6fcd98c62bb\
             798c8», gültig bis Ende Juli.",
        ],
        kept: &[
            "hcxik_xxxxxxxxxxxxxxxxxxxxxxxxxx",
            "They renamed hcaik_ twice at Honeycomb.",
            "The list had hcaik_Whve (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "coralogix-key",
        what: "Coralogix API key",
        severity: Severity::Medium,
        literals: &["cxtp_", "cxtu_"],
        finder: shape("cxt[pu]_[A-Za-z0-9]{30}", 35),
        checks: &[Check::MixedCase],
        found: &[
            "cx¦tu_wyCjPsrIUX42R2WGaY4PmIQUYgtx29",
            "- name: CORALOGIX_KEY\n  value: «cx¦tp_zA1johbtVlKGwTJB4CsxOMwg8xLmLC»",
            "Does Coralogix still take «cxtp¦_zInRDIomRjzaKA8pU2qck3hJEJZyzB»?",
        ],
        kept: &[
            "\"coralogix_key\": \"cxt1_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            "What does cxtp_ stand for?",
            "Coralogix answers: bad value cxtp_eCCgf…",
        ],
        ..MARKED
    },
    Rule {
        kind: "rootly-key",
        what: "Rootly API key",
        severity: Severity::Medium,
        literals: &["rootly_"],
        finder: shape("rootly_[a-f0-9]{64}", 71),
        found: &[
            "ro¦otly_0d3cd3f5632e02e3a1a05508b2da7911b699da403da94046018cb822f48e3db1",
            "{\"rootlyKey\": \"«root¦ly_35af3323474ab26bef096e28d4a480748cce669aacae8c060d64e7b\
             75b65888a»\", \"retries\": 3}",
            "Use «roo¦tly_00c6eacd5ef02c168160c50f9b77a6617256253e882f0768439b1ea14f0c4606». \
             It works from the office too.",
        ],
        kept: &[
            "The README says rootly_1234567890abcdef1234567890abcdef1234567890abcdef1234567890a\
             bcdef.",
            "| Rootly | `rootly_` | prefix |",
            "typed rootly_aae, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "checkly-key",
        what: "Checkly user API key",
        severity: Severity::Medium,
        literals: &["cu_"],
        finder: tailed("cu_[a-f0-9]{32}", 35, Tail::Exact),
        found: &[
            "cu¦_55a93363fe49fad021ccaf63e4d734bf",
            "Setenv CHECKLY_KEY «cu¦_9105d6281613689248121632af6a0151»",
            "Checkly (staging): «cu¦_e96b14782e2aa910d1bb3dc0e376de9f»;",
        ],
        kept: &[
            "CHECKLY_KEY=cu_YOUR_VALUE_HERE",
            "`cu_` is how Checkly marks its own.",
            "The screenshot ends at cu_a07",
        ],
        ..MARKED
    },
];
