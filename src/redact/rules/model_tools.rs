//! Artificial intelligence: tools beside the models.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "langsmith-key",
        what: "LangSmith personal or service key",
        literals: &["lsv2_"],
        finder: shape("lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}", 51),
        found: &[
            "lsv¦2_pt_7ddd148db19cffb6656b51531bf082f3_ef22df561d",
            "| LangSmith | `«lsv¦2_pt_b6cbae3d15651eb18b2f91cbcf3ee9c3_7d48fbc2c3»` | staging |",
            "LangSmith 的密钥是 «lsv2¦_pt_995f944c836c2350cf9e3c9d385e195f_5a9ebbda9f»，请勿外传。",
        ],
        kept: &[
            "langsmith_key: \"lsv2_…\"",
            "if value.starts_with(\"lsv2_\") { return Some(Vendor::Known); }",
            "typed lsv2_ead4, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "langsmith-legacy",
        what: "LangSmith API key (old)",
        severity: Severity::Medium,
        literals: &["ls__"],
        finder: tailed("ls__[a-f0-9]{32}", 36, Tail::Exact),
        found: &[
            "ls¦__2c28132ffae5b7fb536c085c266f3f44",
            "LANGSMITH_LEGACY=«ls_¦_7d6d9d933cde87deedc74ee884b786f7» make release",
            "See <«ls_¦_48d78a06d3e95b3560391cd3d3894f05»> for LangSmith.",
        ],
        kept: &[
            "e.g. ls__1234567890abcdef1234567890abcdef",
            "/^ls__[A-Za-z0-9]+$/",
            "Masked: ls__dc5****",
        ],
        ..MARKED
    },
    Rule {
        kind: "pinecone-key",
        what: "Pinecone API key",
        literals: &["pcsk_"],
        finder: shape("pcsk_[A-Za-z0-9]{5,6}_[A-Za-z0-9]{63}", 75),
        found: &[
            "pc¦sk_OPCyzQ_D8bFlVn5lSvhOgQsgEZo4rRtIJL25QpARgHxKOS0u8xd3EkSvDUPBDQrdXcJLCM",
            "set -x PINECONE_KEY «pcs¦k_29ick_I8Y3OURGDDH7yxf0xk4BuDOv6Zy3var6Jm0SAKLXJwBmcw860\
             fDP664M8BFsIad»",
            "La clé de Pinecone était «pcs¦k_ygjlL_yISjpzNpBIaCOoGTNow78iEm0RhaN1K4tIV8VNj78ExN\
             dZikwitF8orSTfyGVtX». À changer.",
        ],
        kept: &[
            "pcsk_<paste the rest>",
            "What Pinecone hands out begins with pcsk_ these days.",
            "In the mail I could read pcsk_s16 and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "tavily-key",
        what: "Tavily API key",
        severity: Severity::Medium,
        literals: &["tvly-"],
        finder: shape("tvly-[A-Za-z0-9-]{30}", 35),
        checks: &[Check::Digit],
        found: &[
            "tvl¦y-vhhvURJfq-b4E0nOcicAmyH4QCdH-e",
            "TAVILY_KEY = '«tvl¦y-JNmxgBq-jKN068o1Jx7liRlNFwMYQJ»'  # rotate in May",
            "Memo: «tv¦ly-hxsraEtcWRbc10taaeWyZQ5LGeGznQ» (from Tavily, made in spring)",
        ],
        kept: &[
            "tavily_key: tvly-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "What does tvly- stand for?",
            "Only tvly-57nSgn was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "firecrawl-key",
        what: "Firecrawl API key",
        severity: Severity::Medium,
        literals: &["fc-"],
        finder: tailed("fc-[a-f0-9]{32}", 35, Tail::Exact),
        found: &[
            "fc¦-8f9bdfc4d88ae3fd6fb9a281f81123c8",
            "[default]\nfirecrawl_key = «fc¦-241a4103aba05471380d3cc2f1d90cdf»\nregion = north",
            "That was «fc¦-a91c7fab4e259babf9d7457060fe95d6», as far as I remember.",
        ],
        kept: &[
            "FIRECRAWL_KEY=\"fc-1234567890abcdef1234567890abcdef\"  # replace me",
            "return s.startsWith('fc-');",
            "The console shows only fc-e90bb… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "jina-key",
        what: "Jina AI API key",
        severity: Severity::Medium,
        literals: &["jina_"],
        finder: shape("jina_[A-Za-z0-9_-]{60}", 65),
        found: &[
            "jin¦a_0g12Ug41BYiTrVzh8rjXUWW9j9bzHBFj3uSMYGu-pD4xl93noLFce_RkJxF6",
            "deploy --jina-key «jin¦a_wLTT2g3LLMn_MAs1miKK9JxETdZcUZxfdxqPl5Kb4nlsIWJzw1ZC-cSCO\
             v8u» --verbose",
            "The one for Jina AI is `«jin¦a_voqAjAANQr3yqUozJRDYsRR8f2igIOwH3RuAp7P2gjq9Ro3kpjX\
             n12YmDW-y»`.",
        ],
        kept: &[
            "jina_****************",
            "| Jina AI | `jina_` | prefix |",
            "It ended up as jina_TMrv... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "elevenlabs-key",
        what: "ElevenLabs API key",
        literals: &["sk_"],
        finder: tailed("sk_[a-f0-9]{48}", 51, Tail::Exact),
        found: &[
            "sk¦_35f1471619c399333e2983f016edbdef3ccfea3b83f0a3ba",
            "const elevenlabsKey = \"«sk¦_47bc9ee0fb22784debe6ab5fa5bedcec6fa5926283628294»\";",
            "cat .env showed \"«sk¦_f646994eb251e2d1caef18c69afddbed46581fd0781fca0e»\".",
        ],
        kept: &[
            "ELEVENLABS_KEY=<your ElevenLabs value>",
            "They renamed sk_ twice at ElevenLabs.",
            "The list had sk_be62 (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "cartesia-key",
        what: "Cartesia API key",
        severity: Severity::Medium,
        literals: &["sk_car_"],
        finder: shape("sk_car_[A-Za-z0-9_-]{20}", 27),
        found: &[
            "sk_c¦ar_djoIr1EvZmF_3OGNGg4G",
            "    cartesia_key: «sk¦_car_OHp9wKbWSmEloQ-Y1sDV»",
            "请用 «sk¦_car_m8zlSK47a23981TAg8Re»。",
        ],
        kept: &[
            "Put yours here: sk_car_xxxxxxxxxxxxxxxxxxxx",
            "`sk_car_` is how Cartesia marks its own.",
            "Cartesia answers: bad value sk_car_oqFqnV…",
        ],
        ..MARKED
    },
    Rule {
        kind: "brave-key",
        what: "Brave Search API key",
        severity: Severity::Medium,
        literals: &["BSA"],
        finder: shape("BSA[A-Za-z0-9_-]{24}", 27),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "BS¦AahYE8CufOsYw79W7lYS6oa5S",
            "brave_key=«BS¦AxnVwGaIvQNv1-ReumEnbO405»&page=2",
            "It was a Brave one («BS¦AIWumqgGkF_K8RrHgDeo5hU7x») all along.",
        ],
        kept: &[
            "\"brave_key\": \"BSAxxxxxxxxxxxxxxxxxxxxxxxx\"",
            "Nothing in the dump has BSA in it.",
            "BSA-member-since-nineteen-eighty-one-and-so-on",
        ],
        ..MARKED
    },
    Rule {
        kind: "wandb-v1",
        what: "Weights & Biases API key (v1)",
        literals: &["wandb_v1_"],
        finder: shape("wandb_v1_[A-Za-z0-9_]{77}", 86),
        found: &[
            "wan¦db_v1_b6ZHBimwBJbrldeCYVR09ur0rYhnLIVRYh7asjynTH2ejQilB9nT4kRNDrarktsp3p6mSfMW\
             8udlC",
            "  WANDB_V1: «wan¦db_v1_IM2rJ2VzwAMbP_TJVytkyFZwDyMyf0YUz7bRIryl5mY30c2vCveSQkyT4dR\
             Qt4T7R7u2myxVoaJBu»\n  REPLICAS: 2",
            "Both of them: [«wand¦b_v1_VrAoRcqE05wvxLO3KR18fFbfHAzh7_tE5NJAKxJsvLUa8PbH4KG4D2tB\
             DO5UNDDVYXwKCKcara2ic»], and nothing else.",
        ],
        kept: &[
            "os.environ[\"WANDB_V1\"]",
            "grep -rn 'wandb_v1_' src/ found nothing.",
            "Row 7: wandb_v1_XBv0iL…",
        ],
        ..MARKED
    },
    Rule {
        kind: "neptune-token",
        what: "Neptune API token",
        literals: &["eyJhcGlfYWRkcmVzcyI6"],
        finder: tailed("eyJhcGlfYWRkcmVzcyI6[A-Za-z0-9+/]{60}", 80, Tail::Base64),
        found: &[
            "ey¦JhcGlfYWRkcmVzcyI6Imh0dHBzOi8vYXBwLnRlc3QiLCJhcGlfdXJsIjoiaHR0cHM6Ly9hcHAudGVzd\
             CIsImFwaV9rZXkiOiI0MjFiZWNlMC0wMWVjLTJmMzYtOTM5Yi02Y2E4YjIwN2YxZDcifQ==",
            "let neptune_token = \"«ey¦JhcGlfYWRkcmVzcyI6Imh0dHBzOi8vYXBwLnRlc3QiLCJhcGlfdXJsIj\
             oiaHR0cHM6Ly9hcHAudGVzdCIsImFwaV9rZXkiOiJjZDJmNzE1My02NzFiLTNiODQtMTVhNy1kMzQ5NjUw\
             ZWNjOGQifQ==»\";",
            "Neptune (staging): «eyJ¦hcGlfYWRkcmVzcyI6Imh0dHBzOi8vYXBwLnRlc3QiLCJhcGlfdXJsIjoia\
             HR0cHM6Ly9hcHAudGVzdCIsImFwaV9rZXkiOiIxMTBiMDk5MS0xMDk1LTNhNmEtZDEwMi0yMzAyMDhiYTA\
             1N2MifQ==»;",
        ],
        kept: &[
            "neptune: eyJhcGlfYWRkcmVzcyI6<yours>",
            "Neptune: the ones with eyJhcGlfYWRkcmVzcyI6",
            "Neptune prints eyJhcGlfYWRkcmVzcyI6nUd*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "dvc-studio-token",
        what: "DVC Studio client access token",
        severity: Severity::Medium,
        literals: &["isat_"],
        finder: shape("isat_[A-Za-z0-9]{40}", 45),
        checks: &[Check::MixedCase],
        found: &[
            "isa¦t_xMkTihtqbpVb1UG46fs6sgsMQz5ZaR5kqLBs86uFNy9jzB77OK",
            "# .env\nPORT=8080\nDVC_STUDIO_TOKEN=«isa¦t_hkacyZBW3KIPowPgVaxDDYNmoX6Tu2cdrTeBXgK\
             V5fkHoqZfVE»\nLOG=info",
            "We use two at DVC Studio: «is¦at_XfNNhVMdBmxWBg3LsjAR2T44NphlRIDxucRtFNiFsR5hQcXyB\
             M», and one more for tests.",
        ],
        kept: &[
            "DVC_STUDIO_TOKEN=${DVC_STUDIO_TOKEN}",
            "# isat_ -> DVC Studio",
            "isat_2a0hq is too short for DVC Studio.",
        ],
        ..MARKED
    },
    Rule {
        kind: "kaggle-token",
        what: "Kaggle API token (2025 form)",
        severity: Severity::Medium,
        literals: &["KGAT_"],
        finder: shape("KGAT_[a-f0-9]{32}", 37),
        found: &[
            "KGA¦T_6415eba3aab8dd0c15cb0c19ae13e4f4",
            "kaggle-token = \"«KG¦AT_8dfa0522784c6db6ed48f00ee4453035»\"",
            "(staging) «KG¦AT_6a87c995b2e9b1959dad592604e6ddb6»",
        ],
        kept: &[
            "KAGGLE_TOKEN=<your Kaggle value>",
            "A value with KGAT_ in front comes from Kaggle.",
            "Only KGAT_7c8 was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "apify-key",
        what: "Apify API token",
        severity: Severity::Medium,
        literals: &["apify_api_"],
        finder: shape("apify_api_[A-Za-z0-9]{34}", 44),
        found: &[
            "ap¦ify_api_YZtpDPVhD50BwTqBODrJvbbZNaYyFGVGiOnr",
            "* APIFY_KEY: `«apif¦y_api_xvoiLeJUMoqMM6SgZxSfJDDk6JwOVgi4NE9l»`",
            "Replace «ap¦ify_api_uPoU9eEdaHtk70YbZ0qLB8jHNRUPuCgqiI2S»: it was in a screenshot.",
        ],
        kept: &[
            "APIFY_KEY=changeme",
            "The linter looks for `apify_api_` at the start of a word.",
            "In the mail I could read apify_api_e3ll and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "browserbase-key",
        what: "Browserbase API key",
        severity: Severity::Medium,
        literals: &["bb_live_", "bb_test_"],
        finder: shape("bb_(?:live|test)_[A-Za-z0-9_-]{27}", 35),
        found: &[
            "bb_l¦ive_QMWMLWKSc2PbdHWMuDijbVy5-3o",
            "<browserbaseKey>«bb¦_test_rxHz8Fh2q4Uj0T83sVo3f7b15xE»</browserbaseKey>",
            "Is «bb_¦live_BHbm_T4FhXRb1WTAaoxVSKFZJwK» still in use?",
        ],
        kept: &[
            "BROWSERBASE_KEY=%BROWSERBASE_KEY%",
            "Is the part after bb_live_ random?",
            "The screenshot ends at bb_live_1kG1",
        ],
        ..MARKED
    },
    Rule {
        kind: "e2b-key",
        what: "E2B API key",
        severity: Severity::Medium,
        literals: &["e2b_"],
        finder: shape("e2b_[a-f0-9]{40}", 44),
        found: &[
            "e2b¦_f770ace0148ced8b798b6ff341e00eae8bc2d9bc",
            "with:\n  e2b-key: «e2b¦_4a918424a638bbf6d8f00660e76e63bce5680dbe»",
            "«e2¦b_491ba2e76b8a712bef4edad3c9132c21fe18eee3»，来自 E2B。",
        ],
        kept: &[
            "e2b_key: e2b_<yours>",
            "The e2b_ ones belong to E2B, ask them.",
            "The console shows only e2b_ced136… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "daytona-key",
        what: "Daytona API key",
        severity: Severity::Medium,
        literals: &["dtn_"],
        finder: shape("dtn_[a-f0-9]{64}", 68),
        found: &[
            "dt¦n_7444fd3da75a391f87faf43707404ee3d6f669f9b985da7edb1fa538e9a0921b",
            "deploy --daytona-key «dtn¦_4d609926d9c31a75bb834dec2c956167cc4c94ca153db6f719e06dd\
             903ddce14» --verbose",
            "Daytona gave us «dt¦n_b46c8f5b1ace97bcb71dc4b707d714d1a6a13c2481d299acf9fb98758e81\
             c58e», which runs out in June.",
        ],
        kept: &[
            "The README says dtn_1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcd\
             ef.",
            "Strings with dtn_ are new, the others are old.",
            "typed dtn_4d0c2b, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "mem0-key",
        what: "Mem0 API key",
        severity: Severity::Medium,
        literals: &["m0-"],
        finder: tailed("m0-[A-Za-z0-9]{40}", 43, Tail::Exact),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "m0¦-19jhLrPwryyhZoCKANKr0oDo7TnyoBSjzDS5TSd5",
            "mem0Key: '«m0¦-18lplOiuDWxpQMzxg6BO5CfTvfs31u4SmOgTPRA7»',",
            "Please do not share «m0¦-i2Wt72EtwT6Qon3NHTpICel4mf8bhUP88l6qSWK9».",
        ],
        kept: &[
            "m0-****************",
            "case m0-*) echo Mem0 ;;",
            "Masked: m0-u601Xg****",
        ],
        ..MARKED
    },
    Rule {
        kind: "composio-key",
        what: "Composio project or consumer key",
        severity: Severity::Medium,
        literals: &["ak_", "ck_"],
        finder: tailed("[ac]k_[A-Za-z0-9_-]{20}", 23, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "ck¦_Wjfb-6VTwlw2AmV4dY50",
            "ENV COMPOSIO_KEY «ak¦_fjxEpMdtqn9WAs5qsROH»",
            "I pasted «ak¦_dwRCuuSQ9d5WyLeMHqwp», then the call went through.",
        ],
        kept: &[
            "COMPOSIO_KEY=1k_xxxxxxxxxxxxxxxxxxxx",
            "Composio documents the ak_ prefix.",
            "The screenshot ends at ak_uUimu",
        ],
        ..MARKED
    },
    Rule {
        kind: "voiceflow-key",
        what: "Voiceflow API key",
        severity: Severity::Medium,
        literals: &["VF."],
        finder: shape(r"VF\.(?:(?:DM|WS)\.)?[A-Fa-f0-9]{24}\.[A-Za-z0-9]{16}", 47),
        found: &[
            "VF¦.DM.35f69fA1cfCA59E09D5cAc95.yNIndMMr6pk2IiTA",
            "VOICEFLOW_KEY=«VF¦.WS.2D7b5fD7e96a59cb47f036E4.8hO2Sa9nqLBGzALa»",
            "Le jeton «VF¦.DM.A64bA8587E75743c854e3fbD.SyVL1tvqrv2DCykr», c'est pour la \
             préproduction.",
        ],
        kept: &[
            "VOICEFLOW_KEY=VF.YOUR_VALUE_HERE",
            "Nothing in the dump has VF. in it.",
            "Masked: VF.Grz****",
        ],
        ..MARKED
    },
    Rule {
        kind: "devin-key",
        what: "Devin API key",
        literals: &["apk_"],
        finder: tailed("apk_(?:user_)?[A-Za-z0-9+/]{80}", 89, Tail::Base64),
        found: &[
            "ap¦k_8qGCmVbD1yUHP2gRnHP8V0XJW88MN4idRgxUpQqTxKCWAgh/trMX8H27nxb0A81/9EdeUE7roY21U\
             etk9J70RCGTKhYv",
            "Setenv DEVIN_KEY «apk¦_l+0FiYPqFtXqj6UheRlI/MQFGUidv4Vv+Ic667v3w2a3CpJNLfqi+iA8kaa\
             SD09XRG1koElCwQHOhSm9UHqAi4GNq3nn»",
            "**Devin**: «apk¦_iReJL2OtPDRsDBE0WvHiotBq5s1tZp4MAiAQf1dXYDVVv8aqdksDgs11MSFHjN2Wh\
             PvbVtyp91CxrEJbhcIb3AkVwa8K»",
        ],
        kept: &[
            "cp .env.sample .env  # DEVIN_KEY=apk_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "case apk_*) echo Devin ;;",
            "It ended up as apk_lzF... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "devin-user-token",
        what: "Devin service user token",
        literals: &["cog_"],
        finder: shape("cog_[a-z2-7]{52}", 56),
        checks: &[Check::Digit],
        found: &[
            "co¦g_zm7ydnv5ev4oi5iginqrbxttfrwtns7xfqc7uayn5tdounk53uel",
            "devinUserToken := \"«cog¦_ccxbmvyqb55p6z76hbk2al3jkmel626x6flm7zyhb6dmzxrxnodw»\" \
             // see the wiki",
            "For Devin log in with «cog¦_jtqkx7i73lydjuiiqp3lapt6rsx5s6z4zq4atxpcqynfmvde6ov6»\
             , not with the old one.",
        ],
        kept: &[
            "`cog_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` in the docs",
            "| Devin | `cog_` | prefix |",
            "Devin answers: bad value cog_ccd…",
        ],
        ..MARKED
    },
    Rule {
        kind: "photoroom-key",
        what: "Photoroom API key",
        severity: Severity::Medium,
        literals: &["sk_pr_"],
        finder: shape("sk_pr_[A-Za-z0-9]{1,64}_[a-f0-9]{40}", 111),
        found: &[
            "sk_¦pr_kXmlmRRlpJwl_c1db4767f2819cdf595bda419be6177ce05326c9",
            "  PHOTOROOM_KEY: «sk_¦pr_29tFp_edff837436441fa662631c5816d093cae87d9aef»\n  \
             REPLICAS: 2",
            "The build printed «sk_p¦r_My_1966d6921c3648c71ee58dc92f5f71c6894cc41f»\nand went \
             on.",
        ],
        kept: &[
            "PHOTOROOM_KEY=\"sk_pr_x_1234567890abcdef1234567890abcdef12345678\"  # replace me",
            "Photoroom changed to the sk_pr_ form last year.",
            "Only sk_pr_373d was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "scrapfly-key",
        what: "Scrapfly API key",
        severity: Severity::Medium,
        literals: &["scp-live-", "scp-test-"],
        finder: shape("scp-(?:live|test)-[a-z0-9]{32}", 41),
        checks: &[Check::Digit],
        found: &[
            "scp-¦live-9lqzgjf04xf6inhyw3ytlhev7ad93q97",
            "const scrapflyKey = \"«sc¦p-live-rk3tovyh9wrzoxrbyr22zhsmbavjcvw2»\";",
            "at 10:42 the proxy logged «scp-¦test-pefqrh34fw42b1xhqje004y36nvje5iz»|200|/v1/ite\
             ms",
        ],
        kept: &[
            "scrapfly_key: scp-live-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "Scrapfly: the ones with scp-live-",
            "The list had scp-live-mdQ5Gs (cut off).",
        ],
        ..MARKED
    },
];
