//! Clouds and services of China, Russia and Korea.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "alibaba-key-id",
        what: "Alibaba Cloud AccessKey id",
        severity: Severity::Medium,
        literals: &["LTAI"],
        finder: shape("LTAI[A-Za-z0-9]{12}", 16),
        checks: &[Check::MixedCase],
        found: &[
            "LTA¦IPWBVgNb0F9cLXBT72BZ3",
            "$env:ALIBABA_KEY_ID = \"«LTA¦I6BLQCDq362dwAyOY48eN»\"",
            "Mira wrote: 'take «LT¦AIFPhrIMT5qXyoiG1vwxgi»'.",
        ],
        kept: &[
            "ALIBABA_KEY_ID=%ALIBABA_KEY_ID%",
            "Nothing in the dump has LTAI in it.",
            "Row 7: LTAI5C0…",
        ],
        ..MARKED
    },
    Rule {
        kind: "alibaba-sts",
        what: "Alibaba Cloud STS key id",
        severity: Severity::Medium,
        literals: &["STS.N"],
        finder: shape(r"STS\.N[A-Za-z0-9]{20}", 25),
        checks: &[Check::Digit],
        found: &[
            "ST¦S.N2bINHKMeoVAU2m5I9LJp4hQd",
            "echo '«STS¦.NDYmctJCh1iEE8jGIlz42zkWr»' > /run/alibaba-sts",
            "We use two at Alibaba Cloud: «STS.¦NJWZ0cZbQ6vQQhR4G9ZFDnVOT», and one more for \
             tests.",
        ],
        kept: &[
            "`STS.Nxxxxxxxxxxxxxxxxxxxx` in the docs",
            "if value.starts_with(\"STS.N\") { return Some(Vendor::Known); }",
            "The list had STS.NdP1 (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "alibaba-sts-token",
        what: "Alibaba Cloud STS security token",
        literals: &["CAIS"],
        finder: tailed("CAIS[A-Za-z0-9+/=]{60}", 64, Tail::Base64),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "CA¦ISYx+04=2CCR0v2n=3gJ5iMvzVaTCElN+4QhfFqABmbLDqO8c3pWSp5hBzbLqThQUeqWGC7zK3YtCe0\
             O1Wl89PP7eWOI9dNKqKtlJDAaFUy0t6IzfsvwcArBMkAI9ixf7YWOmeH9UUGiklOULyme28OG",
            "export ALIBABA_STS_TOKEN=«CAI¦SBG+tjNODxGq5AKAhcEqR4Ok91UftHPG3KIShednGSC5xuL/02X2\
             F6TLYVh3RdALSRuaLCQBlgsyaBLLWbn9icH5OQINbwTGAVKHIAwc4QwHZeLZih1KphYBzoBOlIXNtYux8P\
             Ze7w4WhDhphX774B6»",
            "(staging) «CAI¦SjAU=wYyVYE4VIUGfKOmax47btDT1jwXqP8eZZ7NDRVE2bZjpZKA9g0+JgyUicVNvpZ\
             daWZNCXn0veXjDCl94VsdlMkNJDr4gzIKIY3g18A5Oj3Eq8YeiOQaUAODtPqckRWRLcMqkE3LRHYpvxigx\
             Fs»",
        ],
        kept: &[
            "alibaba_sts_token: CAIS<yours>",
            "What does CAIS stand for?",
            "The screenshot ends at CAISHcbGr",
        ],
        ..MARKED
    },
    Rule {
        kind: "tencent-secret-id",
        what: "Tencent Cloud SecretId",
        severity: Severity::Medium,
        literals: &["AKID"],
        finder: shape("AKID[A-Za-z0-9]{32}", 36),
        checks: &[Check::Digit],
        found: &[
            "AKI¦D2MsRmcw040cwuVyo7IgvyLK6cTcy8cdf",
            "* TENCENT_SECRET_ID: `«AKI¦DV533Wga1isnaQdcKt5XELqkac0xgnjGl»`",
            "- [ ] revoke «AK¦IDbHSqathvBU9EGx9c2rjV3aVfjUG8TQBs»",
        ],
        kept: &[
            "The sample has AKIDxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, which is no real one.",
            "return s.startsWith('AKID');",
            "typed AKID7542U, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "baidu-bce-key",
        what: "Baidu Cloud API key",
        literals: &["bce-v3/ALTAK-"],
        finder: shape("bce-v3/ALTAK-[A-Za-z0-9]{21}/[a-f0-9]{40}", 75),
        found: &[
            "bce¦-v3/ALTAK-9olPgRynC7NxMKHXgPyFS/6a4ccde46cfde6852816a1922786b518f911972c",
            "{\"baiduBceKey\": \"«bce-¦v3/ALTAK-3nuXMSbgJxZXavuqM2LlB/e3634bdcaf43b2bfc5d62fe82\
             43355d9972f218a»\", \"retries\": 3}",
            "The one for Baidu Cloud is `«bce-¦v3/ALTAK-G8TILHH4nrnwQrPWjMbVo/097db302ec308a1d7\
             b5d44e59571f9871cb784de»`.",
        ],
        kept: &[
            "os.environ[\"BAIDU_BCE_KEY\"]",
            "| Baidu Cloud | `bce-v3/ALTAK-` | prefix |",
            "Baidu Cloud prints bce-v3/ALTAK-7826a4*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "volcengine-key-id",
        what: "Volcengine access key id",
        severity: Severity::Medium,
        literals: &["AKLT"],
        finder: shape("AKLT[A-Za-z0-9_-]{40}", 44),
        checks: &[Check::MixedCase],
        found: &[
            "AK¦LTt15Uv1N8RXVsxaQLFX1IE91wtoxKKyNFTU8TGima",
            "VOLCENGINE_KEY_ID: \"«AK¦LTGf3KBJ0vSIO-czP9sypZaJfNHOEw8QCDSwd5FPYj»\"",
            "1. Copy «AKL¦TqxvBEqh0G0Kd07YwyelXCoWfVtdoyFwSoQLh9P_2»\n2. Open Volcengine\n3. \
             Paste it",
        ],
        kept: &[
            "volcengine_key_id: \"AKLT…\"",
            "Is the part after AKLT random?",
            "Volcengine answers: bad value AKLTJI7LAm…",
        ],
        ..MARKED
    },
    Rule {
        kind: "yandex-api-key",
        what: "Yandex Cloud API key",
        literals: &["AQVN"],
        finder: shape("AQVN[A-Za-z0-9_-]{35}", 39),
        found: &[
            "AQV¦NbTdo3733Hz7Q86PzSXnTJ2QUDQVZDVaQTBS",
            "let yandex_api_key = \"«AQV¦NfYgwccY3nB9Wow2CZgz-h4OnowgRNTzDVIj»\";",
            "Yandex Cloud (staging): «AQ¦VNSWin4U39hd5WTDxMi08LlayRdpQC6Viqjgv»;",
        ],
        kept: &[
            "YANDEX_API_KEY=${YANDEX_API_KEY}",
            "Yandex Cloud changed to the AQVN form last year.",
            "In the mail I could read AQVNHpWxt and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "yandex-iam-token",
        what: "Yandex Cloud IAM token",
        literals: &["t1."],
        finder: shape(r"t1\.[A-Za-z0-9_-]{20,400}={0,2}\.[A-Za-z0-9_-]{86}", 492),
        found: &[
            "t1¦.9eucuxg9AfDKNLpILTRKYVYj97A0OucMPxoe0qqB1CIy9QjFiPsyLrALXH6VmRg.nT24CU4BBeb7ku\
             1GH7uU5Bk7QXCBFZvETQcj7Rnp8o1iQ7pT2Yofat4P1o4pA5JLqCgisFpnagPOt2GF1Ya1PY",
            "printf %s «t1¦.9eu5MhyAGxyGW5WFVCwrECiw2rNh856Bo7AeF3sw5YqBKQVvbmkkPRfezSy9dZK.kt1\
             XyYhwRVAwVK89TA7Qhc3HAuVqqi3FKSKyZGqJ7tJ2gMhiWKC1nsOG1HSPOC3mzkede7puTtZIf5ShpWxcu\
             G» | pbcopy",
            "Yandex Cloud 的密钥是 «t1¦.9euh5NJXqtNUJ4wVBJEb8XBAc584Dtl9K9sagU4czetE8Fd3AWeG4cPesKJ\
             Zi1f.nBrXmvYuppFpudPUgPbpu4bopyTMRRPGTizz2q8jdw8PRdlddK6FmQpZgJ0IjTh3BVPWHQIosOelU\
             rHJiXc5DQ»，请勿外传。",
        ],
        kept: &[
            "YANDEX_IAM_TOKEN=changeme",
            "The t1. ones belong to Yandex Cloud, ask them.",
            "t1.gJSd is too short for Yandex Cloud.",
        ],
        ..MARKED
    },
    Rule {
        kind: "yandex-static-key",
        what: "Yandex Cloud static access key",
        literals: &["YCA", "YCB", "YCM", "YCN", "YCO", "YCP"],
        finder: tailed("YC[ABMNOP][A-Za-z0-9_-]{37}", 40, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "YC¦PI1hV8PJ3JmL6krwAv3mZd0r3_zZCdTKliOCHC",
            "curl -H \"X-Api-Key: «YC¦Nlm2kVQvP_69u1B0j28LjjrlDVAqPmnLVDohbP»\" \
             https://api.internal.test/v1",
            "La clé de Yandex Cloud était «YC¦ProAZ9qPXUPQKtR1IFfhEW39weusKjmN5Gzhcm». À \
             changer.",
        ],
        kept: &[
            "yandex_static_key: YCA<yours>",
            "\"YCA\" => \"Yandex Cloud\",",
            "It ended up as YCA3Eh9X2... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "yandex-oauth",
        what: "Yandex OAuth token",
        literals: &["y0_", "y1_", "y2_", "y3_"],
        finder: shape("y[0-3]_[A-Za-z0-9_-]{55}", 58),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "y1¦_Kn-ic0r8P8fQCfBSH4YPHld-k1EilooebMjDoRS3a-hC0BsreYGETl5",
            "# .env\nPORT=8080\nYANDEX_OAUTH=«y2¦_E-fN592V8rn5x77YF-nYAWP1N36aXcEf0OnfTk75epb_u\
             4Nhu25tRMd»\nLOG=info",
            "«y2¦_ccWg1hr9N262ksVkmH_R5im6Sjfcli9ID65VKImsoS5koRRqsicP870»，来自 Yandex。",
        ],
        kept: &[
            "YANDEX_OAUTH=%YANDEX_OAUTH%",
            "# y0_ -> Yandex",
            "It ended up as y0_Lqj... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "vk-token",
        what: "VK access token",
        severity: Severity::Medium,
        literals: &["vk1.a."],
        finder: shape(r"vk1\.a\.[A-Za-z0-9_-]{80}", 86),
        found: &[
            "vk1¦.a.RpABnbCu5Uc3vwSS4H5K1M4smsVGIKPosyLJqhZUfi00nKngsaWjsTSFVWK-6bZQ-SW-gkIDNvm\
             SRqQj",
            "- name: VK_TOKEN\n  value: «vk¦1.a.KXLpxueCR2GFA7_d8gTCTSmV40yb4_K1lJC2tKMe1shmxzt\
             j9oRowK8KQMLaPrhbRu77SJ15fLgxrre1»",
            "Set it to «vk1.¦a.YuY-B9yY3NoKqiEZ7FR81YmpyYd0VVT29q7mI1AbNkcvQ0eaQt0dEsv5FQHFvPq9\
             zFHD5o4nj2TUzaip»; then restart the worker.",
        ],
        kept: &[
            "\"vk_token\": \"vk1.a.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxxxx\"",
            "Search the logs for vk1.a. and tell VK.",
            "The list had vk1.a.hh3IP6 (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "feishu-webhook",
        what: "Feishu or Lark bot webhook",
        severity: Severity::Medium,
        literals: &["open.feishu.cn/", "open.larksuite.com/"],
        finder: shape(
            r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/([a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12})",
            77,
        ),
        found: &[
            "https://open.larksuite.com/open-apis/bot/v2/hook/«88d¦556d0-444e-7867-c145-7ac5c45\
             d3ea1»",
            "url: https://open.larksuite.com/open-apis/bot/v2/hook/«8d67¦5444-c8b6-0e6a-703a-38\
             04ab716ba9»",
            "The room hears https://open.larksuite.com/open-apis/bot/v2/hook/«1e2a¦a04e-bf36-e9\
             3f-72c4-d8d6a0d59ece».",
        ],
        kept: &[
            "FEISHU_WEBHOOK=<your Feishu or Lark value>",
            "Strings with open.feishu.cn/ are new, the others are old.",
            "open.feishu.cn/48c52 is too short for Feishu or Lark.",
        ],
        ..MARKED
    },
    Rule {
        kind: "dingtalk-webhook",
        what: "DingTalk robot webhook",
        severity: Severity::Medium,
        literals: &["oapi.dingtalk.com/robot/send"],
        finder: shape(
            r"oapi\.dingtalk\.com/robot/send\?access_token=([a-f0-9]{64})",
            106,
        ),
        found: &[
            "https://oapi.dingtalk.com/robot/send?access_token=«4cb¦2f81d2e9cc466aba6e9748a20db\
             5719903f40b830b7ced82e65d075d27e98»",
            "hook = \"https://oapi.dingtalk.com/robot/send?access_token=«73¦757a73fd4347ac66705\
             2f9b8fc5e61eb0ff45f82c3f2eecfea32ebec7d043a»\"",
            "See https://oapi.dingtalk.com/robot/send?access_token=«b3c¦77d9d6bd767b296db4d8ecc\
             daced83087eef893f2668e5cf5f9db746efd0e», the robot of the night shift.",
        ],
        kept: &[
            "DINGTALK_WEBHOOK=oapi.dingtalk.com/robot/sendYOUR_VALUE_HERE",
            "A value with oapi.dingtalk.com/robot/send in front comes from DingTalk.",
            "In the mail I could read oapi.dingtalk.com/robot/sendc8a and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "wecom-webhook",
        what: "WeCom robot webhook",
        severity: Severity::Medium,
        literals: &["qyapi.weixin.qq.com/cgi-bin/webhook/send"],
        finder: shape(
            r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=([a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12})",
            81,
        ),
        found: &[
            "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=«0fec¦a2a0-c6a9-46a4-1f05-7a8\
             a44341d7a»",
            "curl -d @msg.json 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=«97¦99aa7a\
             -1829-c3e8-751e-cf1ef4d1e7b1»'",
            "Alarms go to https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=«90f¦8f4be-09a8-\
             bdbb-fac3-c0b2ae62dccf»; ask Wei.",
        ],
        kept: &[
            "process.env.WECOM_WEBHOOK",
            "The linter looks for `qyapi.weixin.qq.com/cgi-bin/webhook/send` at the start of a \
             word.",
            "Row 7: qyapi.weixin.qq.com/cgi-bin/webhook/send059fd…",
        ],
        ..MARKED
    },
];
