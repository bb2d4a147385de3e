//! Secrets of secrets: vaults, infrastructure as code, networks.

use super::{MARKED, around, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "vault-token",
        what: "HashiCorp Vault service, batch or recovery token",
        severity: Severity::Critical,
        literals: &["hvs.", "hvb.", "hvr."],
        finder: tailed(r"hv[sbr]\.[A-Za-z0-9_-]{24}", 28, Tail::Dotted),
        found: &[
            "hvr¦.NGcA8MNEQVx-anE2f5_15dgQhrvPisytyXMfROpWoaDyxTLptVaKtRlgEDFyCpRkc400TM2RRMJ1y\
             pguhArHlv0n56iGny",
            "const vaultToken = \"«hvb¦.FPplap4LtJdHROuVzS_MnZy20ws6fRsrgt4JoA6gg2AxozkXo3NfPQs\
             w50B1P6VcX1FblFotTeDtKLwG8KJNt8GwWKNKep»\";",
            "Le jeton «hvs¦.TDqCENKg4cNAzXThsh3Fu8r17FeluynYbW7fEt6n75dmOVzLwbexPsYskCoPUS0pjFC\
             GH0aHzZ2o7H4ERrxbHDseJI7qos», c'est pour la préproduction.",
        ],
        kept: &[
            "vault_token: \"hvs.…\"",
            "Is the part after hvs. random?",
            "The list had hvs.0kz (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "terraform-cloud",
        what: "Terraform Cloud API token",
        severity: Severity::Critical,
        literals: &[".atlasv1."],
        finder: around(
            r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60}",
            14,
            69,
            Tail::Word,
        ),
        found: &[
            "p49¦ozrwT46hjvt.atlasv1.Mclee-BeamN4dClD1_2GJIzhYa-aJTlUSeBo1lJWu8wXHkIXpHdh7TsPNf\
             O_0Mj2cGp",
            "terraformCloud := \"«iL6m¦06VMwBpher.atlasv1.88D82gV8ofduCDt_mui=tQURu_2UYDQXASoxu\
             m9rBKaKa-hSnYHV1YJEbWyu27UoRua»\" // see the wiki",
            "Both of them: [«44¦V0JGD59D9P6e.atlasv1.EJLA7VZ8-xoFtDCSCE8QERe2JEcQUeU5HA8USVwELC\
             WW7=MxV4-_-30Ng7nkZ6nL7nS»], and nothing else.",
        ],
        kept: &[
            "`xxxxxxxxxxxxxx.atlasv1.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xx` in the docs",
            "/^\\.atlasv1\\.[A-Za-z0-9]+$/",
            "Masked: .atlasv1.XEPhoV****",
        ],
        ..MARKED
    },
    Rule {
        kind: "pulumi-token",
        what: "Pulumi access token",
        severity: Severity::Critical,
        literals: &["pul-"],
        finder: shape("pul-[a-f0-9]{40}", 44),
        found: &[
            "pul¦-08088041ce97cc6387e85a94cd2ac81a99abd9fb",
            "ENV PULUMI_TOKEN «pu¦l-01e4b3dcbbaf2c2826cc379d1328b653ef082373»",
            "That was «pul¦-20d84d91eed7c69e02b78ec96438a02c6a1c46ab», as far as I remember.",
        ],
        kept: &[
            "pul-1234567890abcdef1234567890abcdef12345678",
            "Strings with pul- are new, the others are old.",
            "Row 7: pul-1af…",
        ],
        ..MARKED
    },
    Rule {
        kind: "doppler-token",
        what: "Doppler personal, service, CLI, SCIM or audit token",
        severity: Severity::Critical,
        literals: &[
            "dp.pt.",
            "dp.ct.",
            "dp.sa.",
            "dp.scim.",
            "dp.audit.",
            "dp.st.",
        ],
        finder: shape(
            r"dp\.(?:pt|ct|sa|scim|audit|st)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40}",
            85,
        ),
        found: &[
            "dp¦.ct.H8hRLpH9qLnkXGwgJp9ThOTMRmLdEhTpWqhZkkpXrMN",
            "dopplerToken: '«dp.s¦a.182P3AxgMIAWcXRRrZIfbhl4r0DfT4LTa2AuoNmlixQ»',",
            "It was a Doppler one («dp.¦st.YIuB4T1s8e8e0vpf8WRof2JMxoMoIkftEY6m5Nf6Xh7») all \
             along.",
        ],
        kept: &[
            "doppler_token: dp.pt.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "`dp.pt.` is how Doppler marks its own.",
            "The console shows only dp.pt.YI8VuV… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "infisical-token",
        what: "Infisical service token",
        severity: Severity::Critical,
        literals: &["st."],
        finder: shape(r"st\.[a-f0-9]{24}\.[a-f0-9]{32}\.[a-f0-9]{32}", 93),
        found: &[
            "st¦.3fb22af661c5f4c1876aa15e.8094969212f445326c3e73216d30703c.b7070e0df980f2ffb095\
             58aad7d0df3d",
            "echo '«st¦.41a3958d293f01ea316605d1.34b76fa4322625d87993ea8e0f49f32f.07cbfc5608ce0\
             021b7068151273b7267»' > /run/infisical-token",
            "Set it to «st¦.ed390b9e028a660039abd635.179506994f74d5c83a4da9366e71b529.7d0befe24\
             7c4b0bd0a53fad5c2bd5d39»; then restart the worker.",
        ],
        kept: &[
            "process.env.INFISICAL_TOKEN",
            "`st.` is how Infisical marks its own.",
            "typed st.33e, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "onepassword-service",
        what: "1Password service account token",
        severity: Severity::Critical,
        literals: &["ops_eyJ"],
        finder: tailed("ops_eyJ[A-Za-z0-9+/_-]{250}", 257, Tail::Base64),
        found: &[
            "ops_¦eyJlbWFpbCI6ICJ0dzNFY3g1dlRkYnNaQG9wLnRlc3QiLCAibXVrIjogIldqQ0U2aDhjenRWYTI0T\
             TZnZW9Oc3FrSW5vRDNnT0l5QjJRSzRQVWptTWMiLCAic2VjcmV0S2V5IjogIkduckdIcmhwY1c5ek5jdDh\
             2dklLU2dQbjhLbTEyS0pDV0wiLCAic3JwWCI6ICJuVkw4eVRtUFNrUnNsb2tVSHFITFVXOVN2Q1NVUWFSM\
             G5ZbEhodjVXbEtxNG9SOVM4MFRQSmdVUDhSOENFN1ZnIiwgInRocm90dGxlIjogIkxwZE1nOGhZTktDd09\
             nSjFxVHdveThleSJ9",
            "ONEPASSWORD_SERVICE: \"«ops¦_eyJlbWFpbCI6ICJWUjh2THN2eXRiUU5SQG9wLnRlc3QiLCAibXVrI\
             jogIk11ZzVjb2N4TTZubU1WNHlIclNpRmFtdk01Y0NhSWMweVFvM3ByeXdEVW4iLCAic2VjcmV0S2V5Ijo\
             gInZPZmwyN3gzTWNqNXNqMUtqUHdsN21weHFZMm5sWFBqY1ciLCAic3JwWCI6ICI3NGZsU0ZZMlZVdUlOa\
             TM2UUJ2eWR5ZlFQR0cwQXpRRjdwWXY0VWJ6bFRFc3lJc3dRSGE4cDcxZU9OcDl4SllXIiwgInRocm90dGx\
             lIjogIndpYTRHZHZEc0ZlNFpjVWtEZlpvVXA4WSJ9»\"",
            "The one for 1Password is `«ops_¦eyJlbWFpbCI6ICJ3U3BnSHdsVWxHS2tlQG9wLnRlc3QiLCAibX\
             VrIjogIkxiRE9YSjJpSDJoMUZ4anV6MEllNWdxYmpuMDZZa1pkUjFTZmxEbGNpdlAiLCAic2VjcmV0S2V5\
             IjogIkpJSXlVUTk1NFFnbzJCclV5dk91QzdLdTh0b1g1ZlVQbk0iLCAic3JwWCI6ICJOQUt4em50bEp2OD\
             FGZ1B3Smh6emJZdnNLZXBpczhhTHRSZ05qWXhHbm50RzM0aHc2bTFORlJlODBhVlpCWlQwIiwgInRocm90\
             dGxlIjogIkNWVmR0UEoxa2NZajQ4VWNnTml0U1E0ZyJ9»`.",
        ],
        kept: &[
            "ops_eyJ<paste the rest>",
            "/^ops_eyJ[A-Za-z0-9]+$/",
            "Only ops_eyJYTiz was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "onepassword-secret-key",
        what: "1Password account key",
        severity: Severity::Critical,
        literals: &["A3-"],
        finder: tailed(
            "A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
            40,
            Tail::Exact,
        ),
        checks: &[Check::Digit],
        found: &[
            "A3¦-ZKJR9E-VKC4KB-D4PIH-J679G-JKBFH-P9YIC",
            "<onepasswordSecretKey>«A3¦-5K7A42-ZK6CJA7ONBD-3RI2N-3S95Z-G75XD»</onepasswordSecre\
             tKey>",
            "> «A3¦-VHU98Z-US4OUW-ZKRN0-NR05F-JMY1O-U5IAY»\n\nwas in the ticket.",
        ],
        kept: &[
            "A3-****************",
            "1Password documents the A3- prefix.",
            "It answers: bad value A3-6OHx2…",
        ],
        ..MARKED
    },
    Rule {
        kind: "bitwarden-token",
        what: "Bitwarden Secrets Manager access token",
        severity: Severity::Critical,
        literals: &[
            "0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.a", "0.b",
            "0.c", "0.d", "0.e", "0.f",
        ],
        finder: tailed(
            r"0\.[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}==",
            94,
            Tail::Exact,
        ),
        found: &[
            "0.¦99fe2d8c-5bbf-7c5b-abcc-826d47e5f49a.AoxjZFNbErqN4rbiVlVhu0QunNSHdf:lNt5ly0mo+m\
             zRccnc/j/Yg==",
            "put(\"bitwarden_token\", \"«0.¦f23e9bb4-85a7-73ce-8d30-5a95f9ded24c.MElW9SYda35Xx7\
             CLXQI556GTNAmBLq:wRHG6KgMCQcTpBeD6q0DVO==»\")",
            "Mira wrote: 'take «0.¦534ce1c6-8852-588c-3e1d-3fba19f3e3b4.ozyG61Wnbu4eWZ79B1GAE4k\
             j6KWs2C:htXHVxCVy1KHIhtp+4DeFD==»'.",
        ],
        kept: &[
            "BITWARDEN_TOKEN=changeme",
            "Is the part after 0. random?",
            "It grew by 0.483 seconds.",
        ],
        ..MARKED
    },
    Rule {
        kind: "age-identity",
        what: "age secret key (X25519)",
        severity: Severity::Critical,
        literals: &["AGE-SECRET-KEY-1"],
        finder: shape("AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}", 74),
        found: &[
            "AGE-¦SECRET-KEY-12L2CMZC0M7TY8WEYETNW66M7YUCYAD3WJ8UV26FGKH47T82TNW7983DTJ5",
            "* AGE_IDENTITY: `«AGE-¦SECRET-KEY-1VFCRJQ6Z7FKV4V4SXVPHV02JQK7JL2FERYS9A9P4PWAHTQH\
             VM6ANTPX2J2»`",
            "(staging) «AGE¦-SECRET-KEY-1LJNYGFHMGR4CKEW7XTJ0ZY9RTEZUU9ZDH5SF888YAS4FGGT4LVSV0G\
             NNDE»",
        ],
        kept: &[
            "e.g. AGE-SECRET-KEY-1XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
            "The AGE-SECRET-KEY-1 ones belong to age, ask them.",
            "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p is a recipient, \
             which is public.",
        ],
        ..MARKED
    },
    Rule {
        kind: "age-identity-pq",
        what: "age secret key (post-quantum hybrid)",
        severity: Severity::Critical,
        literals: &["AGE-SECRET-KEY-PQ-1"],
        finder: shape(
            "AGE-SECRET-KEY-PQ-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
            77,
        ),
        found: &[
            "AGE-¦SECRET-KEY-PQ-1MUV0KL8LUT28JE6DHPSRM2340U46DGQUKVLL9E3D5KNFFJAQAMFGJU37ZL",
            "age_identity_pq=«AGE-¦SECRET-KEY-PQ-168TRJHAJGWVLXNZ8T73TK33GH0GA4099M58KAWYZVVP0D\
             K8267J2YGXZYK»&page=2",
            "La clé de age était «AGE-¦SECRET-KEY-PQ-1X9CWV2GZGA0QVDX0H282RE656CN94L3Z9XHKLA906\
             9S98QR50LGVAJR9H8». À changer.",
        ],
        kept: &[
            "age_identity_pq: AGE-SECRET-KEY-PQ-1<yours>",
            "The linter looks for `AGE-SECRET-KEY-PQ-1` at the start of a word.",
            "It ended up as AGE-SECRET-KEY-PQ-1co6RFx... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "minisign-secret-key",
        what: "minisign secret key",
        severity: Severity::Critical,
        literals: &["RWRTY0Iy"],
        finder: tailed("RWRTY0Iy[A-Za-z0-9+/]{100}", 108, Tail::Base64),
        found: &[
            "RW¦RTY0IyE+W4vEodrLtK5oQBAdFOTOg2P4ZIKOkSwu/AUK0S5ge2kcLjm8zhxJKFJQGyWFJcQXxu7+Xs3\
             E/YTKrx/MBOnmgYt0CXnFZyoUbHao2ES4ujwr4btNN0PV20RABgEE9CSsmNUNKIdhWHNGjdauLR9/MrFRS\
             4lQYdKvHzcHf1im1/Yd62+drD/rWOhwlVw8XPKjPnRXcJPbNq",
            "MINISIGN_SECRET_KEY=«RWRT¦Y0IyJPQfzzEpMLPoXNU6czI7Hn0f8d8LyoDlX1f9ZBIRrxEuTUY1Ua3L\
             u30gXdggPQND/jOp644eClSqcvaGs1i57PcpYU3QTlAyda4eaaFv4Jnvy31+ayFT7OjroRg1TcTA9K/bcZ\
             m6kigBREusVKwpT6adE+xeJFOtUZs8xu50/1e5ZkwGrWgcEAIogXGAZ1DVv3BspIKqjHKb» make \
             release",
            "minisign gave us «RWRT¦Y0IyZ0a8LywHCPH0/pBLBr7e5DqaiY3uzPpoFpugFzZIqnHQkwcNVoaV2Lm\
             Q8QX2HRSZM7YnNCbfKOsNiqugIxvZU64JE+Nz1QYrVUxetHKiBEn10FZBJoKkH8+1PJNTIyqB4LCucGTNH\
             2c5Snokz5oelz7QpfbnWNhOk+nCD7orcEeNqZbn8FSLopi4FUcej0MngoSCPCXrhrCf», which runs \
             out in June.",
        ],
        kept: &[
            "RWRTY0Iy... goes here",
            "What does RWRTY0Iy stand for?",
            "In the mail I could read RWRTY0IyxAS6 and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "signify-secret-key",
        what: "signify secret key",
        severity: Severity::Critical,
        literals: &["RWRCSw"],
        finder: tailed("RWRCSw[A-Za-z0-9+/]{100}", 106, Tail::Base64),
        found: &[
            "RWR¦CSwwHPtv/fVkam9iNgOog0RwauOLKjZz93gV7bxypr/Jk7JNqCmd9gnL7dLRlXWRP84GIyAuHljwAH\
             AiW0eXRqb61sZu5ddz1OegVCuKc/AAbW5xS5bn3xaWaMLFN7/F97A81lr",
            "  - SIGNIFY_SECRET_KEY=«RWRC¦SwIzxvuDmq5AtNjFn76WFhPNParBPZAUOuevJIh8QidxW3ddAXIOJ\
             W1mWzMEqvv9MGz92bGgh9mVQt3SphArgrqqRFExO0pldGVKGPQVnoYUzJc63CiHQovF/MUooZPu+tlqZR»",
            "signify answers 401 unless «RW¦RCSw3SSYtbtweeHfkOQvAWB69MsCO9TbESi60B/QeZ0J6x9BBq7\
             f2+9/gakpoOAyBUSf05N+L6w+LVGaTv5D/hxzlofWzV4boVfyCER4LD5PyXYS0xA8GawxY3nf5o6/wjV4V\
             PuH» is sent.",
        ],
        kept: &[
            "Put yours here: RWRCSwxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "They renamed RWRCSw twice at signify.",
            "Only RWRCSws4KSU was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "infracost-key",
        what: "Infracost API key",
        severity: Severity::Medium,
        literals: &["ico-"],
        finder: shape("ico-[A-Za-z0-9]{32}", 36),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "ico¦-9wyVWGhB0Fwtj15ShuE6G2xq7YhmsD5i",
            "INFRACOST_KEY = '«ico¦-q8lirVo1IkKJCkZkZuYnGVlkGOeOROOx»'  # rotate in May",
            "Old: «ico¦-nn1NsadrdoFrjMTay1psQit6zhl21aD3»; the new one comes on Monday.",
        ],
        kept: &[
            "ico-<paste the rest>",
            "# ico- -> Infracost",
            "ico-AGBLt is too short for Infracost.",
        ],
        ..MARKED
    },
    Rule {
        kind: "authress-key",
        what: "Authress service client access key",
        literals: &[".acc_", ".acc-"],
        finder: around(
            r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30}",
            46,
            68,
            Tail::Base64,
        ),
        found: &[
            "sc¦_p5apebeicw34yvwbl9k1.KkwA.acc-vnh1vbhprotl.FoKmZ6ay59M8CkBcBGlPv7t7lgvta7aZ1UJ\
             PQKkrDTKo2a5YjPVKVJ0HT5oI757h",
            "Setenv AUTHRESS_KEY «sc_¦3nkdvtql3ejmepuhajly.vNLq.acc-ucxrrphiylud.38wfDRmqdH35yD\
             dOhiwdYsigQrUMupSbqFfBie3UBFNSQZZRns3BqY3sNqN78Dwl»",
            "We use two at Authress: «sc¦_xjxmdihaby3wiewjaung.KBxL.acc-wdc0kqppj92h.0WcejOfoqS\
             8U8fq3pFpWhr75KnqE0AYwnmjratBYVPfZlGn1Tp2o1IukTAkjELHs», and one more for tests.",
        ],
        kept: &[
            "AUTHRESS_KEY=\"sc_xxxxx.xxxx.acc_xxxxxxxxxx.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"  # \
             replace me",
            "grep -rn '.acc-' src/ found nothing.",
            "The list had .acc-JzOygx (cut off).",
        ],
        ..MARKED
    },
];
