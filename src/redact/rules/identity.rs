//! Logins, social networks and games.

use super::{MARKED, around, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "facebook-token",
        what: "Facebook page or user token",
        literals: &["EAA"],
        finder: shape("EAA[A-Za-z0-9]{90}", 93),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "EA¦AaPcoxw8fJgWEGyqZXDkspyJqTy0CoJEWA8vy87CxN2Su8vte4Aw1EJDTNDmpZqpwFy1BXlDeyFn0kT\
             fU6rZrlUQUHq098ULzdfEIyJV5DP116lr3GHvdfs58UOw6LZvEePlIDcu3aZyKj9sMYzjr4k",
            "os.environ[\"FACEBOOK_TOKEN\"] = \"«EA¦AWiahg2hjnjzXAbV4JSEvWBbb57JXXZppcohIq8MioD\
             b5P8G2gzLa1w8rY6HVU5DUdnrTGjTRVPaM3dEQzMzPCDZwe9QDVCUIkJ36bm7lFnCPWgKDYy4HNYP1rXDb\
             pkgyRZXdxGWB5etghoygB1J4x9»\"",
            "at 10:42 the proxy logged «EA¦AB4zMfZdSYl9W7GmyKv5AXcUgQqXQmOgfDQDd3PWUETZeu2bUUck\
             Ngss10wvxAEABKy1ZCDQjbuOTYF4yUNTlm5ORQrxg3gEQiO34ZDdG8n1l6916QGpxldyNBKuIw378vLUly\
             qZH786jVkzPw2cxSc»|200|/v1/items",
        ],
        kept: &[
            "EAA****************",
            "if value.starts_with(\"EAA\") { return Some(Vendor::Known); }",
            "The screenshot ends at EAAZND5",
        ],
        ..MARKED
    },
    Rule {
        kind: "instagram-token",
        what: "Instagram access token",
        literals: &["IGQV", "IGAA"],
        finder: shape("IG(?:QV|AA)[A-Za-z0-9_-]{90}", 94),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "IGA¦AxdLryzVVLxHC1mB6FHM_uMHIzqEwnLfI8DiUh7Poki3-VqyN_BHnmq8AWkRj819Qam93ezG7_ERUV\
             scSIR3TtNF7FkX2YJAvvBTNq8Re9r59K6A4lZVDzi9J9Lb9uRuW8h",
            "INSTAGRAM_TOKEN=«IGA¦AiuNx6lGtpe-iUJTPOYQwMRa6Q2UCVJjoORrtkwWruiO7PKhk7nb5qFn4TdQQ\
             _R7_VUqzqT4EVf_MApv9Z5SJ5lhgo1o8XEPJml56GKNPTaWvOY4yyAsJJJ0a1suhTKhoZ7»",
            "请用 «IGQ¦V_DCScQjjuRtSYeWhsD0seh5wcDp2EdRkmvGrnL0fDqwRWwrDK7pC-4G_yF6VtZdyyz1kUNBFa\
             OQprsDKW4JkRzq95BwQVzWvmrJ4h2LXCrHH9otkIp61wNbML2MkCDHbyI»。",
        ],
        kept: &[
            "INSTAGRAM_TOKEN=IGQVxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "case IGQV*) echo Instagram ;;",
            "IGQVUzp110 is too short for Instagram.",
        ],
        ..MARKED
    },
    Rule {
        kind: "dropbox-short",
        what: "Dropbox short-lived token",
        literals: &["sl."],
        finder: shape(r"sl\.(?:u\.)?[A-Za-z0-9_-]{130}", 135),
        found: &[
            "sl¦.8q7BflYL8pmNgyf_3JAnu9bMZYo1a9F7u3qAIo3Y9IsWGm4sfALvx8t5x0LG-x4L7km8lWVRAeoNgS\
             zg67lTjpbH-jBbBPoEvu4iMkCerHiRCwiooQhMVyeROYteQJWHA_zgbVzxW",
            "ENV DROPBOX_SHORT «sl¦.3qTHEXdwvJxe0-pyzFzHCKACn5LMNPuvLH9r-KH8klCUrckoOQC8i-NEIzf\
             9oMgrO56yrK53_DbSvji6fdifwoNscU9EtuZSgEClKstD4y08lXA-mb7_ScYiBNmYPhbr5W5ZnNJcq»",
            "Replace «sl¦.Vuya6YGFH7-0Ng7c5SY5HO_II-o7D4jSnzWBThfoB7UWo8r3U62j9jlPIXIqZLk0Veh_x\
             sG2FqHrYmg-wFe0XuXoimH5EcoVJXqVllUF2pMxcN32ET6R-PRDAJdPg3yg3cXItKI62»: it was in \
             a screenshot.",
        ],
        kept: &[
            "process.env.DROPBOX_SHORT",
            "The sl. ones belong to Dropbox, ask them.",
            "Row 7: sl.dd0…",
        ],
        ..MARKED
    },
    Rule {
        kind: "dropbox-long",
        what: "Dropbox long-lived token",
        literals: &["AAAAAAAAAA"],
        finder: around(
            "[A-Za-z0-9]{11}A{10}[A-Za-z0-9_=-]{43}",
            11,
            53,
            Tail::Exact,
        ),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "Ma¦iWsWxsmQeAAAAAAAAAAuvPOwGsF3jOAKuzuriApsXyZ4gx3Uq1AqJWqqqlKNkq",
            "DROPBOX_LONG = '«FV¦X1tvTWUhoAAAAAAAAAANLjHqtOXcFEVc5fdjKVLaowN3LHkSyEYG5qgx7GNL40\
             »'  # rotate in May",
            "«b2H¦fYWTEoLzAAAAAAAAAAhKVzcU10JOg3FN51RPVJ7fVrahSQAbn2UOdYREBckKE»，来自 Dropbox。",
        ],
        kept: &[
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA is padding",
            "The battery is an AAAAAAAAAA size, he joked.",
            "DROPBOX_LONG=${DROPBOX_LONG}",
        ],
        ..MARKED
    },
    // The run of A is the base64 of zero bytes; it must not be taken for padding.
    Rule {
        kind: "twitter-bearer",
        what: "X (Twitter) app bearer token",
        literals: &["AAAAAAAAAAAAAAAAAAAA"],
        finder: shape(
            "A{20,22}[A-Za-z0-9]{20,40}(?:%[23][0-9A-F]|[A-Za-z0-9]){4,20}[A-Za-z0-9%]{20}",
            142,
        ),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "AA¦AAAAAAAAAAAAAAAAAAA3Z3a3QoFnAOucEjgUhOO2sKfrY4f%2BDZO9wk9Td%3DJsvIYnQf2JA596Wc6\
             nuRgKbSsf1A4zedCCBftsvfzcdMelzSe0OXIzXIORwvxEvbtx59QzUhQsYJ",
            "export TWITTER_BEARER=«AAA¦AAAAAAAAAAAAAAAAAAIoCoEZ1V0dhkHYBz5yFcSYaJwE6c%2By7d40i\
             6yW%3DbEVUri0v18M4n1DMkIDSt2agI6WhWxUiiEA04zkMcka7YwEUnzK7sjNZZWfRCzAi3tnxmFzGoicI\
             »",
            "For X log in with `«AAAA¦AAAAAAAAAAAAAAAAAEUny4n8GV6BsR6DHbe2mlMi4JkJe%2BzT9xkb4s1\
             %3DnbjHPgHfM58VnLNpnKVH2hOQRM98Dt7rmW4Y9BHFDuPXZxSU0Y2Vj4BD1WLUYMGtvPVt0CysGZxF»`.",
        ],
        kept: &[
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA \
             is a page of zeros",
            "Padded with AAAAAAAAAAAAAAAAAAAAAAAA at the end.",
            "TWITTER_BEARER=<from the portal>",
        ],
        ..MARKED
    },
    Rule {
        kind: "linkedin-secret",
        what: "LinkedIn client secret",
        literals: &["WPL_AP0.", "WPL_AP1."],
        finder: tailed(
            r"WPL_AP[01]\.[A-Za-z0-9]{16}\.[A-Za-z0-9+/]{4,8}",
            33,
            Tail::Base64,
        ),
        found: &[
            "WPL¦_AP1.HHzimPfAwEoAurCf.SZB+t71a",
            "deploy --linkedin-secret «WPL_¦AP1.GbRCcpI0WGpRfvnt.uDHx+FyX» --verbose",
            "See <«WP¦L_AP1.2p4nYXyemOF4QcCE.EMDpEGW»> for LinkedIn.",
        ],
        kept: &[
            "LINKEDIN_SECRET=changeme",
            "LinkedIn: the ones with WPL_AP0.",
            "The console shows only WPL_AP0.GouXCK… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "pinterest-token",
        what: "Pinterest access token",
        severity: Severity::Medium,
        literals: &["pina_"],
        finder: shape("pina_[A-Za-z0-9_-]{40}", 45),
        checks: &[Check::Digit],
        found: &[
            "pina¦_iB7Nsi4QWpp__3Mcl-pE0-THDeuhA6s2KVuJm7QN5ohFFUb5heoVp1190P9Thuon2qZsiJ",
            "* PINTEREST_TOKEN: `«pin¦a_4OVE-senvoWdIoEd-dGvJp-Hc8gR8ywwg0iRluH6irGtNoHcJoDN0Dg\
             cYDV6o0AaMmNSSt»`",
            "He read it out: «pin¦a_sj9To-kH06LQ_2gZddQ4ktZ9koL4aHW8QSSEJAV_0JV3xK0mk0wYUaXR2OL\
             Fs3foJaTx89». Nobody noticed.",
        ],
        kept: &[
            "PINTEREST_TOKEN=${PINTEREST_TOKEN}",
            "\"pina_\" => \"Pinterest\",",
            "Masked: pina_IuSp****",
        ],
        ..MARKED
    },
    Rule {
        kind: "ory-token",
        what: "Ory personal, access, refresh or session token",
        literals: &["ory_pat_", "ory_at_", "ory_rt_", "ory_st_", "ory_ac_"],
        finder: tailed(
            "ory_(?:pat|at|rt|st|ac)_[A-Za-z0-9_.-]{30}",
            38,
            Tail::Dotted,
        ),
        found: &[
            "or¦y_st_UcXZZDnfO57qTUK2Q3y9L4WY0jA.S1Evuh31iY87h3",
            "let ory_token = \"«ory¦_rt_KPLJuTa.f3g6a3Sf3EpU4lCDatb69SJt7LiWcORLGS»\";",
            "Ory gave us «or¦y_ac_ShoBcV.il1ETvRsTVQkcm-MTcNWGH1HOR2FuiSMlUb», which runs out \
             in June.",
        ],
        kept: &[
            "ory_token: ory_pat_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "What does ory_pat_ stand for?",
            "The list had ory_pat_kkgZo (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "stytch-secret",
        what: "Stytch project secret",
        severity: Severity::Critical,
        literals: &["secret-live-", "secret-test-"],
        finder: shape("secret-(?:live|test)-[A-Za-z0-9_-]{30}", 42),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "sec¦ret-test-nR_BikiT24W4w7EPr9MHRiDjSYKii8fOpRH",
            "    stytch_secret: «secr¦et-live-SoCg-42XcfHgyGGOj7psgrZeaEpfQDzm2fW»",
            "Stytch 的密钥是 «secr¦et-test-jYnhBwsIjBLnBPXlt5djNGrOrTXp3rugsp1»，请勿外传。",
        ],
        kept: &[
            "\"stytch_secret\": \"secret-live-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            "grep -rn 'secret-live-' src/ found nothing.",
            "In the mail I could read secret-live-GdR8 and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "jumpcloud-key",
        what: "JumpCloud API key",
        severity: Severity::Critical,
        literals: &["jca_"],
        finder: shape("jca_[A-Za-z0-9]{36}", 40),
        found: &[
            "jca¦_ZQ920n7W8HxeOHHfLebojRYCGOX1zno3Rqjd",
            "jumpcloudKey: '«jc¦a_3ucDQeYmh45KI03Jnx6KkviaoEGp1kqXEwOg»',",
            "I pasted «jca¦_BrIZ9kjYyp0svchrbNGdjD1oFamxbZMrPsWL», then the call went through.",
        ],
        kept: &[
            "The README says jca_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.",
            "They renamed jca_ twice at JumpCloud.",
            "JumpCloud answers: bad value jca_pklY…",
        ],
        ..MARKED
    },
    Rule {
        kind: "hcaptcha-secret",
        what: "hCaptcha secret",
        severity: Severity::Medium,
        literals: &["ES_"],
        finder: tailed("ES_[a-f0-9]{32}", 35, Tail::Exact),
        found: &[
            "ES¦_654c84f511df5dca025861895d1e4613",
            "curl -H \"X-Api-Key: «ES¦_983a5a5ad667c36ff184c1919a82d89f»\" \
             https://api.internal.test/v1",
            "The build printed «ES¦_dc5a6f15720f0d7b327da3f7efacd45a»\nand went on.",
        ],
        kept: &[
            "HCAPTCHA_SECRET=%HCAPTCHA_SECRET%",
            "A value with ES_ in front comes from hCaptcha.",
            "typed ES_ccf1, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "turnstile-secret",
        what: "Cloudflare Turnstile secret",
        severity: Severity::Medium,
        literals: &["0x4AAAAAAA"],
        finder: tailed("0x4AAAAAAA[A-Za-z0-9_-]{25}", 35, Tail::Exact),
        found: &[
            "0x¦4AAAAAAAFAkw6tHvqisRxoW7NjzkKSaVS",
            "Setenv TURNSTILE_SECRET «0x¦4AAAAAAAs29RPvePzB7saeiALG2dPOJ43»",
            "For Cloudflare Turnstile log in with «0x4¦AAAAAAAS1JDXWDsSe34Hxb5CTponeKU8», not \
             with the old one.",
        ],
        kept: &[
            "/^0x4AAAAAAA[A-Za-z0-9]+$/",
            "0x4AAAAAAADnPIDROzI9Tk2 is a site's own and stands in the page.",
            "TURNSTILE_SECRET=<from the dashboard>",
        ],
        ..MARKED
    },
    Rule {
        kind: "riot-key",
        what: "Riot Games API key",
        severity: Severity::Medium,
        literals: &["RGAPI-"],
        finder: shape("RGAPI-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 42),
        found: &[
            "RGAP¦I-45c6bba9-a10d-1565-73e2-db1c8fb3fd09",
            "$env:RIOT_KEY = \"«RGAP¦I-7c8b9b02-3088-5599-60e8-781fc4ff2451»\"",
            "Found «RG¦API-2d5f0fce-4281-95cd-a342-94b5ab1b3518»! Please have it revoked.",
        ],
        kept: &[
            "RGAPI-... goes here",
            "We filter on RGAPI- (that is Riot Games).",
            "Only RGAPI-e5073 was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "roblox-cookie",
        what: "Roblox session cookie",
        literals: &["_|WARNING:-DO-NOT-SHARE-THIS."],
        finder: shape(
            r"_\|WARNING:-DO-NOT-SHARE-THIS\.[A-Za-z0-9.,-]{20,150}\|_([A-F0-9]{100})",
            281,
        ),
        found: &[
            "_|WARNING:-DO-NOT-SHARE-THIS.--Sharing-this-will-allow-someone-to-log-in-as-you-an\
             d-to-steal-your-ROBUX-and-items.|_«93E9¦D8F2EC2E42F767B1A81F6F4C66816A03F28A0E2F87\
             E5F9AFB33596AD228EF85A7D0DEE972E81CCEAC3588029461C72ADA0804FF031F608019B6760201D70\
             28A9536D1B36B3A389F6F05A9725E9FE3AC4C08E47027D570BEDBDB705348B0D30C66C768D2BC9D3DB\
             327C435490871567F445CB20996BDA2AE93497C1ECA17D060E581C56C4CCA5B7B770EBEB51EC6FDF39\
             4EDC9E1C08CECE2688»",
            "roblosecurity = _|WARNING:-DO-NOT-SHARE-THIS.--Sharing-this-will-allow-someone-to-\
             log-in-as-you-and-to-steal-your-ROBUX-and-items.|_«EEA0¦C5504B097F3DBE2EFA3080F71C\
             FC2A2286D13A7A2FCA850ACF5503C10714500F9CB0D276A23150A3A0E5C337989AAC08A109CBF09F5E\
             DF1C4A975E3F4FD33301F6BD0228FAC3A26957F3B3200BE5E93188AD712EDC0167B842D8F9131406F5\
             5B161D1A6FEB7D7C7402DF5183C12015F4EE6F1C584AB80BF18183EA34A1AC04B600D2130811C7363A\
             381CACE2A81FDEBC0E68EB8BC1DDA00FB2»",
            "He pasted _|WARNING:-DO-NOT-SHARE-THIS.--Sharing-this-will-allow-someone-to-log-in\
             -as-you-and-to-steal-your-ROBUX-and-items.|_«2A¦BB140767E1C3D99A9986A72E8ECABA6233\
             26A22A766DD3A402E2628A16531902535D84601D69AACC9277C04F3076C5A4816924E20C265A2257B8\
             387403484EAFFF7078F8CD41F038F6E8447C4C4337AADA17D3B44D354C95BB56943839DDA4ACF6E2E3\
             C00DDD44ED337864630DF4F2639D2DE7D94931B64535E9B891F0F0D6C6C7214679C689EDC9452B0E05\
             3E556E8E68102E7E6EAE21315F0E», and then his account was gone.",
        ],
        kept: &[
            "roblox_cookie: _|WARNING:-DO-NOT-SHARE-THIS.<yours>",
            "They renamed _|WARNING:-DO-NOT-SHARE-THIS. twice at Roblox.",
            "It ended up as _|WARNING:-DO-NOT-SHARE-THIS.ikJ... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "paseto-token",
        what: "PASETO token",
        severity: Severity::Medium,
        literals: &[
            "v1.local.",
            "v2.local.",
            "v3.local.",
            "v4.local.",
            "v1.public.",
            "v2.public.",
            "v3.public.",
            "v4.public.",
        ],
        finder: tailed(
            r"v[1-4]\.(?:local|public)\.[A-Za-z0-9_-]{64}",
            74,
            Tail::Dotted,
        ),
        found: &[
            "v2¦.public.7nhfWM1t-0i2rFNijlk2ADn0N1ZhqOn9flcohr7M1PDrzLBjnjY8UapTOdWt8YPZT6ZwJus\
             iMMfwHjmzEGHpVTHiUx3vks5mZMe69fcJ",
            "{\"pasetoToken\": \"«v2.l¦ocal.7rwEwlbpTvpTFuo-dEH-56qH-XkrjnhyRCZJMSsKqdJQQE_UmFZ\
             kVIJz-X6O-N3T5ShIaBDfGqEwLKjribF6xdNKyE53KsJB5u7QJpsy»\", \"retries\": 3}",
            "Does PASETO still take «v1.p¦ublic.wjh1HmzH8uuv_cUn3k_PVoWl9XfEaKGDzoVmMYxkuCgdpfG\
             XUu_Auk-lE6efcdMXqURADSoJsw4g4m0Y27CLzLQNfiCbdFhGzBJFqjRx»?",
        ],
        kept: &[
            "PASETO_TOKEN=v1.local.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxx",
            "The linter looks for `v1.local.` at the start of a word.",
            "PASETO prints v1.local.t90Dsl*** and no more.",
        ],
        ..MARKED
    },
    // The scheme of RFC 8959 says itself that a secret follows.
    Rule {
        kind: "secret-token-uri",
        what: "RFC 8959 secret-token URI",
        literals: &["secret-token:"],
        finder: tailed("secret-token:([A-Za-z0-9._~%+-]{16})", 29, Tail::Dotted),
        found: &[
            "Authorization is secret-token:«05j¦LE4kS0BsDwZTP3EhmYXE1bIzdfSZ9»",
            "api_value=secret-token:«l1¦00BLjqpTrqXZelMcmjtPRMJj4xRFgz»",
            "Use secret-token:«u5dM¦gucySvc9z2Oq2mvwPOh5TW06X3ye». It is in the address form.",
        ],
        kept: &[
            "SECRET_TOKEN_URI=<your RFC 8959 value>",
            "RFC 8959 changed to the secret-token: form last year.",
            "secret-token:g6KoMU is too short for RFC 8959.",
        ],
        ..MARKED
    },
];
