//! Chat, calls, push and what carries messages.

use super::{MARKED, around, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    // Before `slack-token`, whose shape its second half has.
    Rule {
        kind: "slack-config",
        what: "Slack configuration token",
        severity: Severity::Critical,
        literals: &["xoxe.xox"],
        finder: shape(r"xoxe\.xox[bp]-[0-9]-[A-Za-z0-9]{100}", 112),
        found: &[
            "xoxe¦.xoxb-2-mRuW54sB7sDrXsbdab1XXNbwlDuAHql79Qh6LYLP2p3zxbftgIjlqisYy9iXasEz8Jvnz\
             w34Mrm7LdWfhM7eSnREIjO1ysrkGTrQdOIRdWLi1K3oEy5zdwc7pVQ4oEVQu2eZpSsBm1ItCOfbgTsiV2d\
             b2ycxlwTE",
            "| name | value |\n|---|---|\n| slack_config | \
             «xox¦e.xoxp-6-wQPdbAwDKGKBMN35IFFte5ikOSYcqTgdgWT1CAHTlVOBxSYYg2xCDwR79eaWgbpzvUZX\
             TWXsIszDEDB7T9FTPtFMC1BHQsZo6yS35RpCXfwtLGcuEPQ55olc3mDuf8r5qHtbPHXdk2WlLca7nZGyDD\
             0Uf0tH30tl» |",
            "The build printed «xoxe¦.xoxb-2-LFf21AyfEGnHXEakCYShfjbk3vBruhYfcFbndSs0TC6PMreOjP\
             qAEYTlRj0cE20XKzuMC0SccmCP26xYXfKWb682vk5WydJPYkTZQwzm9agXqwqOYOZCP84u0JlwP0E9BxcC\
             6BXElWGf2qHYMt3lZsCJfVH8pIwA»\nand went on.",
        ],
        kept: &[
            "Put yours here: xoxe.xox1-2-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "The xoxe.xox ones belong to Slack, ask them.",
            "Slack answers: bad value xoxe.xoxnhe…",
        ],
        ..MARKED
    },
    Rule {
        kind: "slack-token",
        what: "Slack bot, user, workspace, session or refresh token",
        severity: Severity::Critical,
        literals: &[
            "xoxa-", "xoxb-", "xoxc-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-",
        ],
        finder: shape("xox[abceoprs]-(?:[0-9]-)?[A-Za-z0-9-]{10}", 17),
        checks: &[Check::Digit],
        found: &[
            "xox¦b-133753912788-4433732895436-jOILwma8R2EiukPocMF8Y21K",
            "Setenv SLACK_TOKEN «xox¦p-924947486198-936628596423-2856256738596-a8da5712aa82651e\
             9a19df5820fdaed5»",
            "**Slack**: «xo¦xp-346172558151-682148236498-1383368116385-1fc946e30e217718a3a32329\
             882aecb3»",
        ],
        kept: &[
            "SLACK_TOKEN=xoxa-YOUR_VALUE_HERE",
            "Slack changed to the xoxa- form last year.",
            "xoxb-your-bot-value goes into the chart",
        ],
        ..MARKED
    },
    Rule {
        kind: "slack-cookie",
        what: "Slack session cookie",
        severity: Severity::Critical,
        literals: &["xoxd-"],
        finder: tailed("xoxd-[A-Za-z0-9%/+_-]{50}", 55, Tail::Base64),
        found: &[
            "xo¦xd-z%TThKWe7KGxcczaH7GTS_9rvauU2GMKcGe5SsmkZoQmACnf4RP0wJ1YnHf9bGmQZoRYpQ7Qxa8m\
             7gDC0X0F5YzZHfRcEtLChMij35D6Hq19fj",
            "let slack_cookie = \"«xo¦xd-pLoU8+K6qJO6/R6-A+tzeSbo880F1Fb-w9Bktbu7%rKcDNL9c7cfHE\
             LnGVvQGD5xZlvYO0FX2B7IhTEm0rgO8ZlcMXAbjYVnFeOPzi9qoaamEr»\";",
            "Slack gave us «xo¦xd-cdK5Iu58V5Y4O8YG4qa6XaY8WV2k3rNeD1CM8_PqI+yJLQiTMlycOIaMdOtH5\
             57xRvWhrpweDnBrhIPUr7u0jMotBaG7JqNQj687p4KUmZXphQ», which runs out in June.",
        ],
        kept: &[
            "xoxd-****************",
            "\"xoxd-\" => \"Slack\",",
            "The list had xoxd-zbo8 (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "slack-app",
        what: "Slack app-level token",
        severity: Severity::Critical,
        literals: &["xapp-"],
        finder: shape(
            "xapp-[0-9]{1,2}-[A-Z0-9]{8,14}-[0-9]{8,16}-[a-f0-9]{32}",
            72,
        ),
        found: &[
            "xa¦pp-5-AYX766OG8LT-4299316263-f863d395433aaf53c3ca55db2ebdaffab4d20afe7f38b5410e5\
             de644eff97642",
            "with:\n  slack-app: «xap¦p-5-BSYD5P5F8O-14608313054-13371f98190e46176aa3049233a01e\
             a56930b99039efeb8936f51b0081ad2819»",
            "Mira wrote: 'take «xapp¦-1-JCCC2V6P75-49189707594600-67008efacd49f44b316fc87f85b40\
             eceb35eee33cba466524dc71bdb3a607b26»'.",
        ],
        kept: &[
            "xapp-<paste the rest>",
            "What Slack hands out begins with xapp- these days.",
            "Slack prints xapp-917*** and no more.",
        ],
        ..MARKED
    },
    // It begins with the base64 of the bot's number, so with one of these.
    Rule {
        kind: "discord-bot",
        what: "Discord bot token",
        severity: Severity::Critical,
        literals: &[
            "MTA", "MTE", "MTI", "MTM", "MTQ", "MTU", "MTY", "MTc", "MTg", "MTk", "MjA", "MjE",
            "MjI", "MjM", "MjQ", "MjU", "MjY", "Mjc", "Mjg", "Mjk", "MzA", "MzE", "MzI", "MzM",
            "MzQ", "MzU", "MzY", "Mzc", "Mzg", "Mzk", "NDA", "NDE", "NDI", "NDM", "NDQ", "NDU",
            "NDY", "NDc", "NDg", "NDk", "NTA", "NTE", "NTI", "NTM", "NTQ", "NTU", "NTY", "NTc",
            "NTg", "NTk", "NjA", "NjE", "NjI", "NjM", "NjQ", "NjU", "NjY", "Njc", "Njg", "Njk",
            "NzA", "NzE", "NzI", "NzM", "NzQ", "NzU", "NzY", "Nzc", "Nzg", "Nzk", "ODA", "ODE",
            "ODI", "ODM", "ODQ", "ODU", "ODY", "ODc", "ODg", "ODk", "OTA", "OTE", "OTI", "OTM",
            "OTQ", "OTU", "OTY", "OTc", "OTg", "OTk",
        ],
        finder: shape(
            r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
            63,
        ),
        checks: &[Check::NumberPart],
        found: &[
            "OT¦kxNjEzMDY0Mjk3MTIyNzE3OA.GgKerY.s155d1yQzccw6VuZEYcn0ozyoMtlXqF0XrdRVY",
            "discordBot: '«ND¦U5NDE3MDg1NjAxMzAwNjU4MQ.G3pXeN.nuLhfEmPxL180TqjpQn1Wc1QFelzIpDds\
             MDK2E»',",
            "Old: «OD¦QxOTIyNDUyMzA1NTQ2MDg3OA.GgYXXa.tW5y6u0bsJXSwWOoH2jo7OsvAMoYUCdBGX7LMk»; \
             the new one comes on Monday.",
        ],
        kept: &[
            "e.g. 3xxxxxxxxxxxxxxxxxxxxxx.xxxxxx.xxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "The file NTeenagers.backup.2024 is old.",
            "MTAwMDAwMDAwMDAwMDAwMDAwMA is only the number of the bot.",
        ],
        ..MARKED
    },
    // In an address `bot` stands before it, with nothing between.
    Rule {
        kind: "telegram-bot",
        what: "Telegram bot token",
        severity: Severity::Critical,
        literals: &[":AA"],
        finder: around(
            "(?:bot)?([0-9]{8,10}:AA[A-Za-z0-9_-]{32})",
            13,
            35,
            Tail::Word,
        ),
        found: &[
            "8453¦685745:AAekChKwHRV7OeL7punISV81dotnS97rF6q",
            "TELEGRAM_BOT=«38¦56797971:AAu7LU5n3o6fV12wUYsEghUtyl8Uv5tZai3»",
            "The bot «5963¦511711:AAZ3ip7osrCUzVuh0e2tlHlY0X1yZBfw28o» talks too much.",
            "https://api.telegram.org/«bot1955¦867268:AAfeyz6vqNoTDAH5VRXMpg4OhaNN6Wxka3d»/getM\
             e",
        ],
        kept: &[
            "`12345678:AAxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` in the docs",
            "case :AA*) echo Telegram ;;",
            "10:AA is not a time",
        ],
        ..MARKED
    },
    Rule {
        kind: "twilio-key",
        what: "Twilio API key",
        literals: &[
            "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb",
            "SKc", "SKd", "SKe", "SKf",
        ],
        finder: tailed("SK[a-f0-9]{32}", 34, Tail::Exact),
        checks: &[Check::Digit],
        found: &[
            "SK¦e474e8f59310fd395cfc6b4b6b986a04",
            "echo '«SK¦6b3c8b5321fb3945cc4f5a775fa6f888»' > /run/twilio-key",
            "Both of them: [«SK¦7ef58e16c9c31d3ec0e2e4493047feee»], and nothing else.",
        ],
        kept: &[
            "TWILIO_KEY=%TWILIO_KEY%",
            "| Twilio | `SK` | prefix |",
            "AC3f9b1d7e2a8c4056b7d9e0f1a2c3b4d5 is an account, not a key.",
        ],
        ..MARKED
    },
    Rule {
        kind: "telnyx-key",
        what: "Telnyx API key",
        literals: &["KEY0"],
        finder: shape("KEY0[A-F0-9]{31}_[A-Za-z0-9]{22}", 58),
        found: &[
            "KEY¦0EB62270B104790CB7F81E0B1B1DF78B_Jb9yTJwzS3BdQRv9ImS4v3",
            "[default]\ntelnyx_key = «KEY¦018A1991023890927DB2542B7A78AC54_2QBJaE1kAeD409ZXaTgr\
             3w»\nregion = north",
            "Memo: «KE¦Y07FFD4A913CD01CEEC746E5744878591_Uu89KFjf2LqkVabAJlM8E9» (from Telnyx, \
             made in spring)",
        ],
        kept: &[
            "The README says KEY01234567890ABCDEF1234567890ABCDE_xxxxxxxxxxxxxxxxxxxxxx.",
            "Telnyx: the ones with KEY0",
            "In the mail I could read KEY0ampAx and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "pubnub-secret",
        what: "PubNub secret key",
        literals: &["sec-c-"],
        finder: shape("sec-c-[A-Za-z0-9=-]{36}", 42),
        found: &[
            "sec¦-c-nL6cc45alahqEmR56CcsbXwvqvfHK43Tfr4P4bKNRqrIwDH9",
            "deploy --pubnub-secret «sec¦-c-cyp3gvj0irtpgudMLHvFZRccYOttLIfAu0fE6B5g3ctHUeBz» \
             --verbose",
            "Set it to «sec¦-c-DZ0jNGDU6LzqDFK1aSeVZuCnH19Y33EfLy19GKid0lEDSqf0»; then restart \
             the worker.",
        ],
        kept: &[
            "PUBNUB_SECRET=sec-c-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "if value.starts_with(\"sec-c-\") { return Some(Vendor::Known); }",
            "The console shows only sec-c-Il86… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "onesignal-key",
        what: "OneSignal app or organisation key",
        literals: &["os_v2_app_", "os_v2_org_"],
        finder: shape("os_v2_(?:app|org)_[a-z2-7]{80}", 90),
        found: &[
            "os¦_v2_org_ympjng7qbfxdzb55nl4fzihohryopvk7ylrb4hgw3mbek3eebilnsps6vsfzqlxrxff6oee\
             3s737wd4zxezq4cgc5nf7gud5xlnaslu",
            "const onesignalKey = \"«os¦_v2_org_bybm7kvkhqsuqrf5kj7r4wp5d4ziwz5uoyqwlzowezvcpbf\
             zbgd7vopoois3arfxzsxbrmhxvj4kn6ksesgyketbsqmeps2yfvdrtmj»\";",
            "For OneSignal log in with «os_v¦2_app_s6usivgpgckkbs2rbjitehkw4wkhnurpnvfwviy5c64h\
             pfzabumnxqtcmwdeocqg6csyils5jav3nlvkb2qsjibpqs7ugde4bz2loxd», not with the old \
             one.",
        ],
        kept: &[
            "cp .env.sample .env  # ONESIGNAL_KEY=os_v2_app_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "Is the part after os_v2_app_ random?",
            "os_v2_app_skLI is too short for OneSignal.",
        ],
        ..MARKED
    },
    Rule {
        kind: "webex-token",
        what: "Webex bot or personal access token",
        literals: &["_PF84_", "_PE93_", "_P0A1_"],
        finder: around(
            "[A-Za-z0-9]{64}_P(?:F84|E93|0A1)_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            64,
            42,
            Tail::Word,
        ),
        found: &[
            "xlkB¦0bmAcLHfFIxQzSahTqTEeKpawGuQsafQBmI4WXvWZsm2oBG0yZYngMcSdfd5_P0A1_e90388d3-17\
             34-b1f1-e72f-b42b1e4d9b99",
            "<webexToken>«4sM5¦xfW8edWAug07QwiUcQmBIA5SIFbXFuwGhE6c4gBffj4RQpauqHnzDAZGIrF2_PE9\
             3_644ced26-126f-6f88-fb7b-8f831eccdd6a»</webexToken>",
            "In Webex, «fUX¦t4T17PwOsTuzPepZW00PPFRboaxj7bxkYaA0B7TugT4EpSuqmgOa1CHDNxD8Y_PF84_\
             2cc1ba92-3e88-43bb-39c5-ac80abb10cb5» was made by the intern.",
        ],
        kept: &[
            "webex_token: \"_PF84_…\"",
            "Everything from _PF84_ on is cut by the console.",
            "In the mail I could read _PF84_e895 and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "matrix-token",
        what: "Matrix access or refresh token (Synapse)",
        literals: &["syt_", "syr_"],
        finder: shape(
            "sy[tr]_[A-Za-z0-9+/=_-]{1,64}_[A-Za-z]{20}_[A-Za-z0-9]{6}",
            96,
        ),
        found: &[
            "syt¦_cWppcHJ0MQ_SyfQorvjVRJIhvMRwZnq_JCqO9z",
            "[default]\nmatrix_token = «syt¦_b3U4cXZlMA_fCkVuzusqBtUcgbhVxEH_svl7ht»\nregion = \
             north",
            "It was a Matrix one («syt¦_Y241NGJqdQ_doCarHdQoOhXkxmYeyuu_OIrdEq») all along.",
        ],
        kept: &[
            "syt_... goes here",
            "/^syt_[A-Za-z0-9]+$/",
            "Masked: syt_ptj****",
        ],
        ..MARKED
    },
    Rule {
        kind: "matrix-mas-token",
        what: "Matrix authentication service token",
        literals: &["mat_", "mar_", "mct_", "mpt_"],
        finder: shape("m(?:at|ar|ct|pt)_[A-Za-z0-9]{30}_[A-Za-z0-9]{6}", 41),
        checks: &[Check::Digit],
        found: &[
            "mar¦_6fOous85OhPyO48seawcVyumytARvQ_Vuhait",
            "MATRIX_MAS_TOKEN=«mar¦_bejRgF2hwLeakjQlu7DaNsyeEw1e9n_WOL2oQ» make release",
            "Matrix answers 401 unless «mct¦_HC4xeWmW3Hx34QJ3EAanhdfOjQXwOh_rZ94Ae» is sent.",
        ],
        kept: &[
            "MATRIX_MAS_TOKEN=mat_YOUR_VALUE_HERE",
            "# mat_ -> Matrix",
            "Matrix answers: bad value mat_8P2W0I…",
        ],
        ..MARKED
    },
    Rule {
        kind: "ntfy-token",
        what: "ntfy access token",
        severity: Severity::Medium,
        literals: &["tk_"],
        finder: tailed("tk_[a-z0-9]{29}", 32, Tail::Exact),
        checks: &[Check::Random, Check::Digit],
        found: &[
            "tk¦_r3ozxf06fxqfv4am64klboo6lzssn",
            "ntfyToken := \"«tk¦_7nwx7p414ftp4phq9zcwphv5dqzhs»\" // see the wiki",
            "Replace «tk¦_pbj4mv9iril8gteles0a6fuioswz2»: it was in a screenshot.",
        ],
        kept: &[
            "tk_****************",
            "Strings with tk_ are new, the others are old.",
            "ntfy prints tk_fT5*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "adafruit-key",
        what: "Adafruit IO key",
        severity: Severity::Medium,
        literals: &["aio_"],
        finder: shape("aio_[A-Za-z0-9]{28}", 32),
        checks: &[Check::MixedCase],
        found: &[
            "ai¦o_Worm157FrDzgurbGNM9ORiPCfRCA",
            "const adafruitKey = \"«ai¦o_tEvLxhzEyjE263pyDHjtrZyC3neU»\";",
            "Le jeton «ai¦o_M5rlk2j5CjhzLKJwaGKd9r9B4NvU», c'est pour la préproduction.",
        ],
        kept: &[
            "ADAFRUIT_KEY=changeme",
            "\"aio_\" => \"Adafruit IO\",",
            "The console shows only aio_OPcbUc… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "ubidots-token",
        what: "Ubidots token",
        severity: Severity::Medium,
        literals: &["BBFF-"],
        finder: shape("BBFF-[A-Za-z0-9]{30}", 35),
        found: &[
            "BBF¦F-navfYXELtKrmvsBxrgERRzm0OnQHQ7",
            "put(\"ubidots_token\", \"«BBF¦F-kwnAavEUeotwroYvEaXBmJ3mkAZbsM»\")",
            "Is «BBF¦F-zFlrXWgvo93VoeYOxO03vXsyE9yf9n» still in use?",
        ],
        kept: &[
            "ubidots_token: BBFF-<yours>",
            "Search the logs for BBFF- and tell Ubidots.",
            "Only BBFF-RnCaQQ was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "twitch-chat",
        what: "Twitch chat OAuth password",
        severity: Severity::Medium,
        literals: &["oauth:"],
        finder: tailed("oauth:([a-z0-9]{30})", 36, Tail::Exact),
        checks: &[Check::Digit, Check::Random],
        found: &[
            "oauth:«lquy¦zloya7ug9tl4gak8jwd4p6qpzm»",
            "ENV TWITCH_CHAT oauth:«ck¦e74kowvbftkqpnj5e718f6lacdr1»",
            "oauth:«732¦q17roc3pa3p8dkyz70f5ksfost9»，来自 Twitch。",
        ],
        kept: &[
            "twitch_chat: \"oauth:…\"",
            "Twitch changed to the oauth: form last year.",
            "oauth:h4BN0M is too short for Twitch.",
        ],
        ..MARKED
    },
    Rule {
        kind: "twitch-stream-key",
        what: "Twitch stream key",
        severity: Severity::Medium,
        literals: &["live_"],
        finder: shape("live_[0-9]{8,12}_[A-Za-z0-9]{30}", 48),
        checks: &[Check::MixedCase],
        found: &[
            "live¦_76970882_jy4SZyrVoodfFCw8MLOQ8qdX0eKXRG",
            "| name | value |\n|---|---|\n| twitch_stream_key | \
             «liv¦e_796693059261_DQaLr2NfNQ351c3mbehAnuCdSs13ny» |",
            "La clé de Twitch était «li¦ve_698560972392_kNPvYSC5Wvj9BTTZgeTW6EtlTOppEl». À \
             changer.",
        ],
        kept: &[
            "\"twitch_stream_key\": \"live_12345678_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            "grep -rn 'live_' src/ found nothing.",
            "The screenshot ends at live_QTKLQP",
        ],
        ..MARKED
    },
    Rule {
        kind: "courier-key",
        what: "Courier API key",
        literals: &["dk_prod_", "dk_test_", "pk_prod_"],
        finder: shape("[pd]k_(?:prod|test)_[A-Za-z0-9]{24}", 32),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "dk¦_prod_OVIIlfG3UuYagMBSBQfbFGuo",
            "let courier_key = \"«dk_¦test_lJjLphLNTkpTbeDDNPc9wSZ9»\";",
            "The one for Courier is `«pk¦_prod_h1cipQKVMgQLaGNqe58TYKnz»`.",
        ],
        kept: &[
            "dk_prod_<paste the rest>",
            "/^dk_prod_[A-Za-z0-9]+$/",
            "Row 7: dk_prod_9UN464…",
        ],
        ..MARKED
    },
    Rule {
        kind: "smooch-key",
        what: "Smooch API key secret",
        severity: Severity::Medium,
        literals: &["act_"],
        finder: tailed("act_[a-z0-9]{24}", 28, Tail::Exact),
        checks: &[Check::Random, Check::Digit],
        found: &[
            "act¦_k1daw1g6ahz3bg8lm780hevh",
            "export SMOOCH_KEY=«act¦_3nnuo9nmjrmhykz8mbw1c0co»",
            "(staging) «act¦_hjqf2t1t86hhj6w9iyt5k14t»",
        ],
        kept: &[
            "SMOOCH_KEY=${SMOOCH_KEY}",
            "A value with act_ in front comes from Smooch.",
            "The list had act_03MQ (cut off).",
        ],
        ..MARKED
    },
];
