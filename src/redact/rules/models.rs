//! Artificial intelligence: those who run models.

use super::{MARKED, around, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "anthropic-key",
        what: "Anthropic API, admin, OAuth or session key",
        severity: Severity::Critical,
        literals: &["sk-ant-"],
        finder: shape(
            "sk-ant-(?:api|admin|oat|ort|sid)[0-9]{2}-[A-Za-z0-9_-]{80}",
            95,
        ),
        found: &[
            "sk¦-ant-admin01-0JvVt3D4j9iog1TRiwwTiY0PPp9gDfJOckbrVY8BhQ8WWhDmcqGaohe91T6BkQZm6S\
             YvJ5ZEJFlAKciR52VczI9uaxYKhAA",
            "printf %s «sk¦-ant-api03-WtiRVZogJBGvZJFzeQPDXUVCBiaraDn5VuxYMFXcqrE73yIAEYt5cK4Zd\
             XzqX72qbRDTAOBeBnK9HPSZiJTcmy0IeT8ziAA» | pbcopy",
            "He read it out: «sk¦-ant-api03-RYSU1oSTanbzAmSIAzktQS9J9RxMouuDa2nj2RWx6KWUfBobxJ6\
             QkLfsvazb7vj4yOLVuCi7fNvmesrAdzUW3RI9w8bNKAA». Nobody noticed.",
        ],
        kept: &[
            "ANTHROPIC_API_KEY=<your Anthropic value>",
            "| Anthropic | `sk-ant-` | prefix |",
            "The screenshot ends at sk-ant-O3c",
        ],
        ..MARKED
    },
    Rule {
        kind: "openrouter-key",
        what: "OpenRouter API key",
        literals: &["sk-or-v1-"],
        finder: shape("sk-or-v1-[a-f0-9]{64}", 73),
        found: &[
            "sk¦-or-v1-0f072dee69d037bfbfc30d49b3ea46748eb34cc5a08a9bd097cd3823774f3a78",
            "    openrouter_key: «sk-o¦r-v1-8aad5e8c0032495151bbf76d30f5d41c046bb1412664480005a\
             6203a86a54a1b»",
            "The build printed «sk-¦or-v1-4307a4c20acd141f9a2ab10a4c0d34786add9cbf70bd7802764ce\
             38b1d7f01ed»\nand went on.",
        ],
        kept: &[
            "OPENROUTER_KEY={{ openrouter_key }}",
            "Nothing in the dump has sk-or-v1- in it.",
            "Only sk-or-v1-b9d was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "langfuse-secret",
        what: "Langfuse secret key",
        literals: &["sk-lf-"],
        finder: shape("sk-lf-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 42),
        found: &[
            "sk-l¦f-58e9b714-301f-0a9a-4cae-0a31ca15fe25",
            "| Langfuse | `«sk¦-lf-b5aa03fd-0044-8da7-39d5-c0f638f4939a»` | staging |",
            "(staging) «sk-l¦f-2e3cac3e-2936-9df5-637d-8db4510b528f»",
        ],
        kept: &[
            "LANGFUSE_SECRET=sk-lf-YOUR_VALUE_HERE",
            "`sk-lf-` is how Langfuse marks its own.",
            "pk-lf-5b0f2d6e-8a91-4c37-9d20-6e1f7a43b8c5 is the public half.",
        ],
        ..MARKED
    },
    Rule {
        kind: "helicone-key",
        what: "Helicone API key",
        literals: &["sk-helicone-"],
        finder: shape("sk-helicone-[a-z0-9-]{20}", 32),
        found: &[
            "sk-h¦elicone-4a7df6c-5h44nnm-e0ddad5-8edgajn",
            "\"helicone_key\": \"«sk-h¦elicone-578hbg1-m5pj44d-dack17k-n77mmf7»\",",
            "Memo: «sk-¦helicone-hg1dm1e-3ck5kd5-ea4351n-ahb7b0j» (from Helicone, made in \
             spring)",
        ],
        kept: &[
            "helicone_key: \"sk-helicone-…\"",
            "Helicone documents the sk-helicone- prefix.",
            "Helicone answers: bad value sk-helicone-JejT…",
        ],
        ..MARKED
    },
    Rule {
        kind: "windsurf-key",
        what: "Windsurf API key",
        literals: &["sk-ws-01-"],
        finder: shape("sk-ws-01-[A-Za-z0-9_-]{40}", 49),
        found: &[
            "sk-w¦s-01-YDLTk4BuS8mq_esLS5RdDeLydYtvD_r1MvaPz30bOh2zerb5GeGyOlmkrNLRAxhGUClbS0hI\
             pFtXtj2A",
            "ENV WINDSURF_KEY «sk¦-ws-01-7EkYg-7XEdJo2VMSoZqbhYPlPpcJeS2rRKm6vcWlDCby53yxxPkvXX\
             weWXlPBIE0F9RpHmHzbY4hv5Z3»",
            "We use two at Windsurf: «sk¦-ws-01-T7nx3OuW4OyFChdGXueLg_jaRIlfp7DrMijezmmQHk0cekE\
             jEaNuYqAKyfwyFtgF47C1mce23c6mha7M», and one more for tests.",
        ],
        kept: &[
            "`sk-ws-01-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` in the docs",
            "Everything from sk-ws-01- on is cut by the console.",
            "The console shows only sk-ws-01-6MV3U… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "context7-key",
        what: "Context7 API key",
        severity: Severity::Medium,
        literals: &["ctx7sk-"],
        finder: shape("ctx7sk-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 43),
        found: &[
            "ct¦x7sk-0d3e2a38-31a9-933a-3813-6c534dd5310a",
            "- name: CONTEXT7_KEY\n  value: «ct¦x7sk-72c0808a-f98c-ad2d-6398-5fa3fa985569»",
            "Found «ctx¦7sk-a2f347b4-15ff-c525-087e-35df8c960c87»! Please have it revoked.",
        ],
        kept: &[
            "ctx7sk-... goes here",
            "Strings with ctx7sk- are new, the others are old.",
            "Masked: ctx7sk-1d71e****",
        ],
        ..MARKED
    },
    Rule {
        kind: "minimax-key",
        what: "MiniMax API key",
        literals: &["sk-api-"],
        finder: shape("sk-api-[A-Za-z0-9_-]{80}", 87),
        found: &[
            "sk-¦api-3FtCsapEpymvYOrhD5o0acF7uFs2S5b0pxINVheTv-FsDecnL-SLuliG767uQEvdlJBBPszfXR\
             BW9hJhD7gCcIlfmM57W53m43KyhRYiR8nJRaEyj7i7Y6C",
            "minimax_key=«sk-¦api-ZBjijlQdCWp9bymj-hUkopmW12wtMV6M1-9N8CmEITMSv7xf3k1eZ5OmlIpZA\
             Ui3MZVtYaXypM8j92zISCT6Q3HE15So1osQ0LZjOZbO200vWZ4kvIK7Hj2»&page=2",
            "For MiniMax log in with «sk-a¦pi-VwsBmRrcx48HhHctBZrryJfti-D7W2pZNhMAeEsvdCVscpTPL\
             yBDhdxNOf2KftiSiTwND7Yp1qzr29hr5sv7LDepaoQPADus8nLcLMhqWwx4Q4AH0236ppO», not with \
             the old one.",
        ],
        kept: &[
            "MINIMAX_KEY=%MINIMAX_KEY%",
            "case sk-api-*) echo MiniMax ;;",
            "sk-api-6CRGef is too short for MiniMax.",
        ],
        ..MARKED
    },
    // `T3BlbkFJ` is base64 of `OpenAI`, and stands in the middle.
    Rule {
        kind: "openai-key",
        what: "OpenAI project, service, admin or legacy key",
        severity: Severity::Critical,
        literals: &["T3BlbkFJ"],
        finder: around(
            "sk-(?:(?:proj|svcacct|admin|None|service)-)?[A-Za-z0-9_-]{20,100}T3BlbkFJ[A-Za-z0-9_-]{20}",
            120,
            28,
            Tail::Word,
        ),
        found: &[
            "sk-p¦roj-jmoSgqmrhdgg0kD4gZZH6GQC7wjCTFHwSKKDztfbVZ9YIpVdS3CW6EP2gMAp92kRXhMjIH3mv\
             yT3BlbkFJ60sENPbYEcIM2Afsou5hWvr00hS1jVmGP2zSs3OhK5XbKSrg7coyW0UFUownIH3TgQuRRGJz3\
             E",
            "openai-key = \"«sk-¦proj-AfwuedGWdXW4GxMqENTdeRoACNFFvukU96gFY5xzMB0Rlp7eVmMkjshBA\
             J4lA0z2aYcF30NxhQT3BlbkFJZLpif7Eo7NuCEmokMpJy0wQ0xFcwesHoM4iC5T0Sn3Quz4dhdQ3C9ENdA\
             btt1Tij3SSieVZSEu»\"",
            "Set it to «sk-p¦roj-PKP38I9mqIrRTt05wvI1yemW8hphLAyAosHOainJAizMm2Jf3BWp9UHpp5BZcR\
             TON3sIplZ79LT3BlbkFJxhz7bT85q5yEzqzum72AW3vIXXNlkKGT1R8XCSJtPPUtLLA7dXbRRNQ56zRY7M\
             31fMZuUGEENY»; then restart the worker.",
        ],
        kept: &[
            "The README says sk-xxxxxxxxxxxxxxxxxxxxT3BlbkFJxxxxxxxxxxxxxxxxxxxx.",
            "They renamed sk-proj- twice at OpenAI.",
            "T3BlbkFJ is base64 of OpenAI",
        ],
        ..MARKED
    },
    // Cut or newer keys lack the marker in the middle.
    Rule {
        kind: "openai-project",
        what: "OpenAI key without its inner marker",
        severity: Severity::Critical,
        literals: &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        finder: shape("sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40}", 51),
        checks: &[Check::Digit],
        found: &[
            "sk-¦admin-oYMWJVUwryKbicfXw63_nlcCxVsU34atpirOkfTCNgPhGoniUg5e0rt0lpkwfjZg2gdF8hyV\
             kqBkOxupEkBOuxlTyZDmOSVeZFFjVWQzktQXFUO7Oe44tO8c",
            "export OPENAI_PROJECT=«sk-¦proj-DDVKKiQG9vnP1QvyhgyA4x7oy69X-oVQN0iBU0bgOz7MWZiyqa\
             od3IyzPw5bifFEdWI2b3KBjwhydgSJ24WH57RzV6uIJ24XpmfpdaYHt3NyEVN65RI9DGGU»",
            "OpenAI answers 401 unless «sk¦-svcacct-cz0kU-HSbGWtggxfAHlroxzBZQjGAZJBn0YIGowbszA\
             Fu7sHAmPheCDG11M2kR5917vWs8uto3mxW2pIV0ySDPBlNEu57geNsKAd3l0avN5OHziWn8lejcK3» is \
             sent.",
        ],
        kept: &[
            "OPENAI_PROJECT=\"sk-proj-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"  # replace me",
            "Is the part after sk-proj- random?",
            "OpenAI prints sk-proj-F0z*** and no more.",
        ],
        ..MARKED
    },
    // Letters only: no digit may be asked for.
    Rule {
        kind: "huggingface-token",
        what: "Hugging Face user or organisation token",
        severity: Severity::Critical,
        literals: &["hf_", "api_org_"],
        finder: shape("(?:hf_|api_org_)[A-Za-z]{34}", 42),
        checks: &[Check::MixedCase],
        found: &[
            "api_¦org_hxQiDxcEmPJrtyrwdvajVZOIHTuTFNVgei",
            "<huggingfaceToken>«api_¦org_FXaRkBvYrESCOBnqgyfcaeXMoiLwSuGMhF»</huggingfaceToken>",
            "Hugging Face (staging): «api_¦org_piHZzraZLvTZaRKAuZArmHCxrLCoqeDhHY»;",
        ],
        kept: &[
            "hf_****************",
            "| Hugging Face | `hf_` | prefix |",
            "Row 7: hf_h847…",
        ],
        ..MARKED
    },
    Rule {
        kind: "huggingface-oauth",
        what: "Hugging Face OAuth access token",
        literals: &["hf_oauth_"],
        finder: tailed("hf_oauth_[A-Za-z0-9_.-]{40}", 49, Tail::Dotted),
        found: &[
            "hf_¦oauth_eyJ3dbjheQIuMDaDQJ20wHRXcf1kvmThR9kOw7LXr9EsE5QOoRcahEtixm1mPrY.BLPQDDqs\
             Tru9jqZheFKZklQh2lgY9eEgpj8Y09JjzFRa3L1LlpNS2gjSJVt7.xeDqRaked5u3kYFwXP9OhFO37goxb\
             YtLuI6WR40uD2N",
            "HUGGINGFACE_OAUTH: \"«hf_¦oauth_eyJ9XjZBsE0b41xDUcHcENVf4MJpv5rV9KR5md7a3RgUoWcawQ\
             5Q7b7gAXL6Fra.MlODcQ2b4izMnzQ2TJ1siI0AnPFwjokJxAVyjztDL1uBiUHOqjWKao5S3NOR.s9Rk2Vc\
             LPnosavRU6Yj3v8l0SuTtJwfzOYjgrdLmugt»\"",
            "That was «hf¦_oauth_eyJ6EuSvjGFuXHQNTpzBHAG1cvacmjUaD4vsAawmH9YF7UKUthV6yd5hDAmYY8\
             B.emNaYsNV4Xr5ulHVuATZlV7cxczVTKIhvPz9McsGoKAJzdTm2MmTq3vcZcC8.cQnLXn0ej3pVjIZ3Vb8\
             WZAjrxiFYCCBllfzKiluVZLN», as far as I remember.",
        ],
        kept: &[
            "`hf_oauth_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` in the docs",
            "\"hf_oauth_\" => \"Hugging Face\",",
            "It ended up as hf_oauth_mdZePj... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "replicate-token",
        what: "Replicate API token",
        literals: &["r8_"],
        finder: shape("r8_[A-Za-z0-9_-]{37}", 40),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "r8¦_dywz_TZOxr8QLNJ6C8MYqUTyni0lSAVWUuplf",
            "let replicate_token = \"«r8¦_omvzXH1RaUr_EE7ZxDcfPheN95MWXL_YKnGRi»\";",
            "Replicate 的密钥是 «r8¦_s3-PdX0cs64_OjKXOon3SQsPPZPYwYNUDM0Yo»，请勿外传。",
        ],
        kept: &[
            "r8_<paste the rest>",
            "The r8_ ones belong to Replicate, ask them.",
            "typed r8_hXrhH, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "groq-key",
        what: "Groq API key",
        literals: &["gsk_"],
        finder: shape("gsk_[A-Za-z0-9]{50}", 54),
        found: &[
            "gs¦k_SQgTE6UfUmzGsJW1BXTMWGdyb3FYWtmyOFT9RhxGRrOqiJSR7Qx3",
            "GROQ_KEY = '«gsk¦_EjQdEoSYptpxJSnK1OBQWGdyb3FYpxxEGpXsoIwE4Rkccnzd4NPA»'  # \
             rotate in May",
            "Does Groq still take «gsk¦_T9bvOyIa1u9NXEmCK06MWGdyb3FY6OLof6dHGQAPUtsJpu5BNHvC»?",
        ],
        kept: &[
            "The README says gsk_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.",
            "Groq: the ones with gsk_",
            "Groq prints gsk_tPSXCr*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "xai-key",
        what: "xAI API key",
        literals: &["xai-"],
        finder: shape("xai-[A-Za-z0-9_-]{70}", 74),
        found: &[
            "xai¦-DTGrkT8z2QRzWgtGfdGkjemPdLV8MhLBqmVtSunLz2Ew031uf_CkanUUcaY5vS3w9QUbh3MSq1NMg\
             F8t",
            "put(\"xai_key\", \"«xa¦i-jVINshE8gvHCIJC23DSIefVgQWZqEX6J1fxt2irlU4sWVSgQtkB-K-elx\
             9XHuMF-z6o4f0JBH20RpOOO»\")",
            "cat .env showed \"«xa¦i-O4EHYiJ_vEvFZYvQZts43DS4w-LGzZ0PflhXBjZ67DkqBjf3qggGGUw02F\
             dTqCYp-8cKcMneYoGMpsox»\".",
        ],
        kept: &[
            "XAI_KEY=\"xai-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xx\"  # replace me",
            "The linter looks for `xai-` at the start of a word.",
            "The screenshot ends at xai-Y4Ev",
        ],
        ..MARKED
    },
    Rule {
        kind: "perplexity-key",
        what: "Perplexity API key",
        literals: &["pplx-"],
        finder: shape("pplx-[A-Za-z0-9]{48}", 53),
        found: &[
            "pp¦lx-um3CRJ1ExDQvzC8wZmEPFWxSXqVSTTgassnTAjcnuUvtWzrD",
            "{\"perplexityKey\": \"«pp¦lx-uMHyfOdsZ4ukyXNPF9wOXS4pTdZfhJv85cmPQ8AmiGy2b8wQ»\", \
             \"retries\": 3}",
            "> «pp¦lx-csjuodB1JpS264gIGEuXsLi4uDKqF45zBNdVDTEBAZH3r9FU»\n\nwas in the ticket.",
        ],
        kept: &[
            "The sample has pplx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, which is no \
             real one.",
            "Search the logs for pplx- and tell Perplexity.",
            "It ended up as pplx-mQYk... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "nvidia-key",
        what: "NVIDIA NGC or NIM API key",
        literals: &["nvapi-"],
        finder: shape("nvapi-[A-Za-z0-9_-]{60}", 66),
        found: &[
            "nv¦api-TvG_mTyJbbbdp_VRAcXA2KSCoVU5cQfol_Ak-krU2laJp9ubK-SIC8CaWBC-FYEb",
            "os.environ[\"NVIDIA_KEY\"] = \"«nva¦pi-0gnAUHA2ynDTPGuyjZE2_58LT_rAofKRFLPO1huO7fP\
             Zc9OiJBGYvqXQ7ORQ6h2J»\"",
            "See <«nvap¦i-JQlh17hzhaxb3dnzBELXMOO6sR72EbMhBI2vymTxYevXj6GmiUk5jh2g7OeDWBLk»> \
             for NVIDIA.",
        ],
        kept: &[
            "Put yours here: nvapi-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "NVIDIA changed to the nvapi- form last year.",
            "Masked: nvapi-Qwl6XB****",
        ],
        ..MARKED
    },
    Rule {
        kind: "cerebras-key",
        what: "Cerebras API key",
        literals: &["csk-"],
        finder: shape("csk-[a-z0-9]{48}", 52),
        checks: &[Check::Digit],
        found: &[
            "cs¦k-eok2s7457srp0hyuxftzvhiqc3ne8vsuclg1ocmsic2h4470",
            "Setenv CEREBRAS_KEY «csk¦-3mwv03h5p8tma7o92q4wuzdbl0jzsww9i1ta01mh80irdhyq»",
            "Use «csk¦-mgphjoe4l87jmth6jsaxuno5pwgjjkxreeybj8l1bmbqhp7b». It works from the \
             office too.",
        ],
        kept: &[
            "CEREBRAS_KEY=${CEREBRAS_KEY}",
            "What Cerebras hands out begins with csk- these days.",
            "In the mail I could read csk-xig3u and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "together-key",
        what: "Together AI API key",
        literals: &["tgp_v1_"],
        finder: shape("tgp_v1_[A-Za-z0-9_-]{43}", 50),
        found: &[
            "tgp¦_v1_dq-wNOhWl_aPq6j5Uk5gEHtH-H0gAIlr2pm0Kn7oVcT",
            "ENV TOGETHER_KEY «tgp¦_v1_TbI07EAnwQRbDTrWWVWOJQsfrj3qJq0cC81Yr7u4QUq»",
            "Der Schlüssel lautet «tg¦p_v1_VE36WbQPI0lnpX9HeGyErbhOmLrR3_P_7HQt54x7kZk», \
             gültig bis Ende Juli.",
        ],
        kept: &[
            "TOGETHER_KEY=changeme",
            "# tgp_v1_ -> Together AI",
            "tgp_v1_q0a is too short for Together AI.",
        ],
        ..MARKED
    },
];
