//! Artificial intelligence: smaller hosts of models, and what is built on them.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "fireworks-key",
        what: "Fireworks AI API key",
        literals: &["fw_"],
        finder: tailed("fw_[A-Za-z0-9]{22,24}", 27, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "fw¦_dokcJNm6kCl0w7PmI1Bbomfu",
            "fireworksKey: '«fw¦_IX8ZYzGTnJfCfHlNpti5nb6»',",
            "1. Copy «fw¦_jHpMx5dcXIRfeOdzey2JRFW»\n2. Open Fireworks AI\n3. Paste it",
        ],
        kept: &[
            "fw_... goes here",
            "return s.startsWith('fw_');",
            "The console shows only fw_oPOn… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "anyscale-key",
        what: "Anyscale API key",
        literals: &["esecret_", "aph0_"],
        finder: shape("(?:esecret|aph0)_[A-Za-z0-9]{24}", 32),
        checks: &[Check::Digit],
        found: &[
            "aph¦0_YiqShfTcuofWO4Ym83i6aYdk",
            "| name | value |\n|---|---|\n| anyscale_key | «esec¦ret_0GFkwbXvYelItndgIlFyL2AB» \
             |",
            "Anyscale gave us «aph0¦_18ZklEfRbosWyNOeIGDqpEgU», which runs out in June.",
        ],
        kept: &[
            "anyscale_key: esecret_xxxxxxxxxxxxxxxxxxxxxxxx",
            "Nothing in the dump has esecret_ in it.",
            "The list had esecret_wKROs (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "friendli-key",
        what: "Friendli API token",
        literals: &["flp_"],
        finder: shape("flp_[A-Za-z0-9]{46}", 50),
        checks: &[Check::MixedCase],
        found: &[
            "fl¦p_d7a8oipsx68ItIz5deOMLqsUWLJ4jQzfg90NT6FfQQXKID",
            "curl -H \"X-Api-Key: «flp¦_5bZ8HD9W9FSbWkQmjIxexeXQZqLMqZnlt1d0xhh4tkyG3X»\" \
             https://api.internal.test/v1",
            "In Friendli, «flp¦_MTQunRhFBN9pVI63Lfssy3pGbUHZqEhlc11ik5PktU2Xku» was made by \
             the intern.",
        ],
        kept: &[
            "process.env.FRIENDLI_KEY",
            "A value with flp_ in front comes from Friendli.",
            "Friendli answers: bad value flp_8k1D6…",
        ],
        ..MARKED
    },
    Rule {
        kind: "modal-token",
        what: "Modal token id or secret",
        literals: &["ak-", "as-"],
        finder: tailed("a[ks]-[A-Za-z0-9]{22}", 25, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "ak¦-mfpWLwZIz83aAyL8JqkAuc",
            "\"modal_token\": \"«as¦-Xth2yNs1j5pE0pgplxFklx»\",",
            "Both of them: [«as¦-bY0uq0uHvpDt8e1ZXa2Ew3»], and nothing else.",
        ],
        kept: &[
            "a1-xxxxxxxxxxxxxxxxxxxxxx",
            "/^ak-[A-Za-z0-9]+$/",
            "Only ak-r5HKfN was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "runpod-key",
        what: "RunPod API key",
        literals: &["rpa_"],
        finder: shape("rpa_[A-Z0-9]{40}[A-Za-z0-9]{6}", 50),
        checks: &[Check::Digit],
        found: &[
            "rp¦a_MA7WFIQ7ON2EHFSI37BPU261NGZRDJARHBCGDWTQRG8tWU",
            "ARG RUNPOD_KEY=\"«rp¦a_7FL3D91VI66HEW1DW2FSTJDHE4C4RB9B8OVQD6P4NWY4eq»\"",
            "La clé de RunPod était «rpa¦_YK8E4W4DOMBY7LI2NLSDBOROKBKN7KMA5FFOJN33oWgSsN». À \
             changer.",
        ],
        kept: &[
            "RUNPOD_KEY=%RUNPOD_KEY%",
            "We filter on rpa_ (that is RunPod).",
            "Row 7: rpa_gKii7c…",
        ],
        ..MARKED
    },
    Rule {
        kind: "predibase-key",
        what: "Predibase API token",
        literals: &["pb_"],
        finder: tailed("pb_[A-Za-z0-9_-]{22}", 25, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "pb¦_xTeG08cbiweY2LO1H-80zW",
            "- name: PREDIBASE_KEY\n  value: «pb¦_PkuMW0nV-OImg0Xq931UEz»",
            "**Predibase**: «pb¦_vZF8blI0_79bUX9trLrso1»",
        ],
        kept: &[
            "PREDIBASE_KEY=${PREDIBASE_KEY}",
            "if value.starts_with(\"pb_\") { return Some(Vendor::Known); }",
            "Row 7: pb_ORfidr…",
        ],
        ..MARKED
    },
    Rule {
        kind: "runway-key",
        what: "Runway API key",
        literals: &["key_"],
        finder: tailed("key_[a-f0-9]{128}", 132, Tail::Exact),
        found: &[
            "key¦_adba1b2856fed131d19992d0a8ca004ed3359618cf98f80e5d1aa3546900cffb6a391cf7a6b99\
             e3dd3d89df3a659fea15d987f80d5399a5cc5d58cd3c0649d66",
            "printf %s «key¦_0880a23871d61660c7a097e9f50623a710605dd2e276038eab083540db614d8c7a\
             45e2ec8e183eea203d0d97f56b8643c6ed45745e245c9f4bdb9700138ec2ed» | pbcopy",
            "It was a Runway one («key¦_145f5fd7b5aa8a542b7779a76e60faf8ed69ab1da92bf8f2661bf64\
             2f4c95ea16aed57afdbee4c28aaf1896d107c64350df24314179cfd76733e422e409ead9f») all \
             along.",
        ],
        kept: &[
            "RUNWAY_KEY={{ runway_key }}",
            "grep -rn 'key_' src/ found nothing.",
            "key_904 is too short for Runway.",
        ],
        ..MARKED
    },
    Rule {
        kind: "cursor-key",
        what: "Cursor API key",
        literals: &["key_", "crsr_"],
        finder: tailed("(?:key|crsr)_[0-9a-f]{64}", 69, Tail::Exact),
        found: &[
            "ke¦y_44d486fbd56448de37c61310ab86f3d062b2921ce66a0ed62e8eaf3eb98fbca1",
            "cursorKey := \"«cr¦sr_f52bc44d89afaa13ec95d2f787eb7a50cf3d9da24de327495b0b36714f38\
             07e3»\" // see the wiki",
            "Please do not share «key¦_3b2b4780ec65a45745edd725e794e6e427863d5cfa1a83b01d7c934c\
             75bd3096».",
        ],
        kept: &[
            "CURSOR_KEY=key_YOUR_VALUE_HERE",
            "What does key_ stand for?",
            "It ended up as key_8ff7... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "meta-llama-key",
        what: "Meta Llama API key",
        literals: &["LLM|"],
        finder: shape(r"LLM\|[0-9]{15,17}\|[A-Za-z0-9_-]{27}", 49),
        found: &[
            "LL¦M|6696694737791154|xkWhYDpMUJ2qtMIhfCHgrrFl4Ck",
            "META_LLAMA_KEY: \"«LLM¦|5692744284194796|Xsg4R4nywPCQJoWN5zvVG4RuZVC»\"",
            "Le jeton «LLM¦|3764113558381513|h9Mtel2iYJQIkCQoMfPjjx5hNGG», c'est pour la \
             préproduction.",
        ],
        kept: &[
            "\"meta_llama_key\": \"LLM|123456789012345|xxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            "Everything from LLM| on is cut by the console.",
            "The list had LLM|fEge (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "llamaindex-key",
        what: "LlamaIndex Cloud API key",
        literals: &["llx-"],
        finder: shape("llx-[A-Za-z0-9_-]{48}", 52),
        found: &[
            "llx¦-cj8T9gi-c6MxybZ1b2Xd5G_GARsqjix_v6LMX3kIbG82uAfo",
            "  - LLAMAINDEX_KEY=«ll¦x-r68q0_d3Fhn31JFtOl_4V59VpppJ84eT2kmOZ4anDldX28vg»",
            "Is «llx¦-gIaxShkqdK2IOAb4esulQysg7U3AZdub0Aswifj1Exl2qojp» still in use?",
        ],
        kept: &[
            "e.g. llx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "\"llx-\" => \"LlamaIndex\",",
            "LlamaIndex prints llx-XS3m8*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "dify-key",
        what: "Dify app or dataset key",
        literals: &["app-", "dataset-"],
        finder: tailed("(?:app|dataset)-[A-Za-z0-9]{24}", 32, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "data¦set-6dlUxycliRYVKn24L7UM4M39",
            "export DIFY_KEY=«da¦taset-c128fdeKXSOViAwEyCUJbI7U»",
            "Old: «data¦set-owPsMHf5IuBcrXDSOH9kxRrz»; the new one comes on Monday.",
        ],
        kept: &[
            "DIFY_KEY=app-xxxxxxxxxxxxxxxxxxxxxxxx",
            "Dify documents the app- prefix.",
            "Dify answers: bad value app-2NjiwX…",
        ],
        ..MARKED
    },
    Rule {
        kind: "coze-key",
        what: "Coze personal access token",
        literals: &["pat_"],
        finder: shape("pat_[A-Za-z0-9]{64}", 68),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "pa¦t_I7N4byoTFhH0hw92IbRqrfBryGiBH8CyANx3bg2nvzSA0ybbMyPcZDD1bQNeblYh",
            "$env:COZE_KEY = \"«pa¦t_jW5JMb09JNVQkv0cFZgTnpXdqjehMvcPsLoHvtUa5xvN0BCO4f2jGyRknJ\
             VsWOvr»\"",
            "Found «pat¦_WTvZPGREBUTeJuUdpVjaOXTSrvNP6a8QizhhjahJTmqM4zRJutuBIzX9vyrDPNl5»! \
             Please have it revoked.",
        ],
        kept: &[
            "cp .env.sample .env  # COZE_KEY=pat_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxx",
            "Search the logs for pat_ and tell Coze.",
            "The screenshot ends at pat_u8CQF",
        ],
        ..MARKED
    },
    Rule {
        kind: "voyage-key",
        what: "Voyage AI API key",
        literals: &["pa-"],
        finder: tailed("pa-[A-Za-z0-9_-]{43}", 46, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "pa¦-1dGh85-1w8Ck4jTluttoi6bmQcYVVurFae4FTJ24LB4",
            "echo '«pa¦-6fyGg8otjk8gw_g6EAEZ5gtgMMewXSw0z_wct5qCrXn»' > /run/voyage-key",
            "Voyage AI answers 401 unless «pa¦-bzBFiAaq01a4L4PYdylS2u5rW9qJ1RnCF-YPTC9BEXA» is \
             sent.",
        ],
        kept: &[
            "pa-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "Voyage AI changed to the pa- form last year.",
            "a pa-rt-of-a-compound-word-that-is-hyphenated-x thing",
        ],
        ..MARKED
    },
    // Many vendors share the prefix, so the body must look random.
    Rule {
        kind: "sk-generic",
        what: "DeepSeek, Moonshot, Stability and others: key with the prefix `sk-`",
        literals: &["sk-"],
        finder: shape("sk-[A-Za-z0-9]{32}", 35),
        checks: &[Check::Random, Check::Digit],
        found: &[
            "sk¦-LBh1EJBLkUPg45Os6lZDNWUZC6CTFYxV",
            "SK_GENERIC=«sk¦-Jhkao9GplllhZOikmKiMELFCpE6X6Phj»",
            "Set it to «sk¦-t41BEF83KEMU18jCC3Mqd9khltmxnqkI»; then restart the worker.",
        ],
        kept: &[
            "The sample has sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, which is no real one.",
            "We filter on sk- (that is DeepSeek).",
            "the class sk-spinnerforthecheckoutpagecontainerbox has no effect",
        ],
        ..MARKED
    },
];
