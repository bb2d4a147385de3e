//! Building, testing and delivering: pipelines, code quality, releases.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "circleci-pat",
        what: "CircleCI personal API token",
        literals: &["CCIPAT_"],
        finder: shape("CCIPAT_[A-Za-z0-9]{22}_[a-f0-9]{40}", 70),
        found: &[
            "CCIP¦AT_dONizTBUMyftvN3kUJnNty_7dc0dc9d032fc94456f2bb1c497066745a22a752",
            "circleci_pat=«CC¦IPAT_T9zRaMeKi1TTBMxuMfOdK1_be295538432795708cc7f0716a1461daada74\
             4af»&page=2",
            "Found «CCIP¦AT_ZyCanyr3oaPIGIWf6SGzzC_22552798eeb0120af0afb289fc0c6cde00aca46f»! \
             Please have it revoked.",
        ],
        kept: &[
            "CIRCLECI_PAT=${CIRCLECI_PAT}",
            "What CircleCI hands out begins with CCIPAT_ these days.",
            "In the mail I could read CCIPAT_7eef and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "circleci-project",
        what: "CircleCI project API token",
        literals: &["CCIPRJ_"],
        finder: shape("CCIPRJ_[A-Za-z0-9]{22}_[a-f0-9]{40}", 70),
        found: &[
            "CCI¦PRJ_K16tYHzT55F86j2Az1NQeR_62f3b2831e628b583961da6d90735878144ce678",
            "CIRCLECI_PROJECT: \"«CC¦IPRJ_FoECCXyFwhALNrGVXVb8me_1893c2dc471ff7a2a2a2b7143c975b\
             1d2e281ecd»\"",
            "Old: «CC¦IPRJ_UK9xlst6XYh5jObG48Gu78_774a37ed32001d27e225bafc2f042bf63b24124f»; \
             the new one comes on Monday.",
        ],
        kept: &[
            "CIRCLECI_PROJECT={{ circleci_project }}",
            "`CCIPRJ_` is how CircleCI marks its own.",
            "CCIPRJ_3975d is too short for CircleCI.",
        ],
        ..MARKED
    },
    Rule {
        kind: "buildkite-token",
        what: "Buildkite user, agent, cluster or package token",
        literals: &[
            "bkua_", "bkaa_", "bkat_", "bkct_", "bkpt_", "bkaj_", "bkar_",
        ],
        finder: shape("bk(?:ua|aa|at|ct|pt|aj|ar)_[A-Za-z0-9_-]{40}", 45),
        found: &[
            "bk¦aj_eTnrNNQtaSf8UmK2Tt9ZRC96EKvSz8rYq_BgG0LK",
            "$env:BUILDKITE_TOKEN = \"«bk¦ua_4-AXoISsUFnJ-y28Nf1FVgfCJ36D38dijJRYEFR8»\"",
            "**Buildkite**: «bka¦j_zbx-cXVN-0QXGQq0FkSSftq0UySe0IQpFv1H0Ofk»",
        ],
        kept: &[
            "BUILDKITE_TOKEN=bkua_YOUR_VALUE_HERE",
            "A value with bkua_ in front comes from Buildkite.",
            "typed bkua_cVmdcY, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "sonar-token",
        what: "SonarQube user, project or analysis token",
        literals: &["squ_", "sqp_", "sqa_"],
        finder: shape("sq[upa]_[a-f0-9]{40}", 44),
        found: &[
            "squ¦_20abde2c1a5898f2201b74b58c8b61a5d98477a4",
            "with:\n  sonar-token: «sq¦p_744b77bde18d0892ab7de944b64c358463f097a1»",
            "Der Schlüssel lautet «sq¦p_c10f0b6534e39858e74985837299674ce61eec30», gültig bis \
             Ende Juli.",
        ],
        kept: &[
            "The sample has sq1_1234567890abcdef1234567890abcdef12345678, which is no real one.",
            "return s.startsWith('squ_');",
            "Masked: squ_fb973****",
        ],
        ..MARKED
    },
    Rule {
        kind: "harness-pat",
        what: "Harness personal or service account token",
        literals: &["pat.", "sat."],
        finder: tailed(
            r"[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}",
            72,
            Tail::Exact,
        ),
        found: &[
            "pa¦t.5oYhCwisQuQy8tYoyJahRk.cXvM27PJ9zMxS28VWjiW4jyK.TPTMbsKtlUVAS2dKVGnC",
            "echo '«sa¦t.41pygLdzh8368gqrhH_aVC.0t5g4ETDZOMOGoJFPVzft2ye.dsGJYYsBqihMfK6tMyG1»\
             ' > /run/harness-pat",
            "See <«sat¦.p1bxc0lR7LZvguckt_sAwh.9AY0ra55XRv37acOHnKkqC8V.lty6onZiEktZUywNgzn2»> \
             for Harness.",
        ],
        kept: &[
            "pat.... goes here",
            "We filter on pat. (that is Harness).",
            "Only pat.u67Efq was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "prefect-key",
        what: "Prefect user or service account key",
        literals: &["pnu_", "pnb_"],
        finder: shape("pn[ub]_[A-Za-z0-9]{36}", 40),
        found: &[
            "pnu¦_KZHYxs6KQWv958AdJIPQX3N7xYvjZXu7ar6H",
            "printf %s «pn¦b_U70I73vLVKejO9Xumj27VqETNxjPWalORWss» | pbcopy",
            "That was «pnb¦_STnPnWHAQcshuK1M91SubvtMZv73HI8QZB2R», as far as I remember.",
        ],
        kept: &[
            "process.env.PREFECT_KEY",
            "The linter looks for `pnu_` at the start of a word.",
            "The list had pnu_fYY5 (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "octopus-key",
        what: "Octopus Deploy API key",
        literals: &["API-"],
        finder: tailed("API-[A-Z0-9]{26}", 30, Tail::Exact),
        checks: &[Check::Digit, Check::Random],
        found: &[
            "AP¦I-1EOUOW2XWJIIHD2BT3F804WRI9",
            "octopusKey: '«API¦-EWV4RJGTVHPH16L2RKADB03MF2»',",
            "cat .env showed \"«API¦-SLKCTR0WFWA234D5US0TLQ72GR»\".",
        ],
        kept: &[
            "`API-XXXXXXXXXXXXXXXXXXXXXXXXXX` in the docs",
            "return s.startsWith('API-');",
            "The heading reads API-DOCUMENTATIONFOROURPARTNERS today.",
        ],
        ..MARKED
    },
    Rule {
        kind: "scalingo-token",
        what: "Scalingo API token",
        literals: &["tk-us-"],
        finder: shape("tk-us-[A-Za-z0-9_-]{48}", 54),
        found: &[
            "tk¦-us-WmiL2HltCdC206LmqDu2ThfAR2nKdbcZvTweClorDpXlxgTV",
            "| name | value |\n|---|---|\n| scalingo_token | \
             «tk-¦us-UA4tuRarbHNdB_OS_O893HbxVue2dDXB--XZCLvYw8vlu_5x» |",
            "Mira wrote: 'take «tk-¦us-Yiuq82YEmzpxC06JC5nfSe2uTVgzLzOPpx3G5253LeF52KPq»'.",
        ],
        kept: &[
            "SCALINGO_TOKEN=%SCALINGO_TOKEN%",
            "`tk-us-` is how Scalingo marks its own.",
            "The screenshot ends at tk-us-N8ux6z",
        ],
        ..MARKED
    },
    Rule {
        kind: "jetbrains-token",
        what: "JetBrains permanent token (YouTrack, Hub, Space)",
        literals: &["perm:", "perm-"],
        finder: shape(
            r"perm[:-][A-Za-z0-9+/=_-]{4,80}\.[A-Za-z0-9+/=_-]{2,80}\.[A-Za-z0-9]{20}",
            187,
        ),
        checks: &[Check::Random],
        found: &[
            "pe¦rm:c2ozSmM=.NDgtMQ==.rZXA3rZijBu0H4jxmstc0Jj22J78Mx",
            "\"jetbrains_token\": \"«per¦m:RzIzeUY=.NDgtMQ==.CxS8f0HzVEYO1FeTU7PCBdU7jEKDGl»\",",
            "Memo: «per¦m:VmNXdUQ=.NDgtMQ==.62EH7VXXFw2MqdE0u4FlmZLvZfhSI2» (from JetBrains, \
             made in spring)",
        ],
        kept: &[
            "Put yours here: perm:xxxx.xx.xxxxxxxxxxxxxxxxxxxx",
            "\"perm:\" => \"JetBrains\",",
            "typed perm:V0mj, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "teamcity-token",
        what: "TeamCity access token",
        literals: &["eyJ0eXAiOiAiVENWMiJ9."],
        finder: shape(
            r"eyJ0eXAiOiAiVENWMiJ9\.[A-Za-z0-9_-]{36}\.[A-Za-z0-9_-]{48}",
            106,
        ),
        found: &[
            "ey¦J0eXAiOiAiVENWMiJ9.F0aPA2joGKE_iiVFeGHPQ3vVxmxw7-CIE-mK.0wa21cSJUxBOk-sKPEYWB9K\
             ibODQXEqp4xA4MqJQmo9g99Bf",
            "put(\"teamcity_token\", \"«eyJ0¦eXAiOiAiVENWMiJ9.oDfodaxWc-lWFIrpn3-TozIzTMfMbO3p8\
             vUR.05791KFknE4NlAjtcXnoDFBVfQ0qZ1kGcOH46FSNyGpKeEy7»\")",
            "请用 «eyJ¦0eXAiOiAiVENWMiJ9.0CMWy0mVLmCgkzjhpc6cEL7FcbnHLsTN-CZ8.DppC_Z7DlfuGiyzCSEK\
             kcoA-VYqrFjjAFel2oH0_rxgd2CPi»。",
        ],
        kept: &[
            "teamcity: eyJ0eXAiOiAiVENWMiJ9.<yours>",
            "They renamed eyJ0eXAiOiAiVENWMiJ9. twice at TeamCity.",
            "The screenshot ends at eyJ0eXAiOiAiVENWMiJ9.",
        ],
        ..MARKED
    },
    Rule {
        kind: "snyk-pat",
        what: "Snyk user or service account token",
        literals: &["snyk_uat.", "snyk_sat."],
        finder: tailed(
            r"snyk_[us]at\.[A-Za-z0-9]{8}\.[A-Za-z0-9_-]{40}",
            58,
            Tail::Dotted,
        ),
        found: &[
            "sn¦yk_sat.iTD71Mem.paRnVrz63lufxq7N07dhuDikD68TDZfgQ7MtztNC",
            "- name: SNYK_PAT\n  value: «sny¦k_uat.Zm4ZpA9Z.39Tl6Z_W5JzXxNmbs7gNi7gbDYpNP3n5n9y\
             BOye1»",
            "The build printed «snyk¦_sat.Z5ndUiTG.2Tzhnv4Rr5ZzJm1820efNWYhYawoSomWJdDapdyO»\na\
             nd went on.",
        ],
        kept: &[
            "SNYK_PAT=changeme",
            "Snyk changed to the snyk_uat. form last year.",
            "Snyk answers: bad value snyk_uat.mprh…",
        ],
        ..MARKED
    },
    Rule {
        kind: "stackhawk-key",
        what: "StackHawk API key",
        severity: Severity::Medium,
        literals: &["hawk."],
        finder: shape(r"hawk\.[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}", 46),
        checks: &[Check::Digit],
        found: &[
            "ha¦wk.hOTlwbemW_YYzRqg10d5.u0JngSarMoFRPomknHRH",
            "const stackhawkKey = \"«haw¦k.LKCRNMVEr2p8WTfRgkbQ.ntvQ5Zb9o0MKcsGH-10z»\";",
            "\"«hawk¦.kEe6SJnv8goveo3LaanC.0f5BrrYs07QFP_CMa_Oq»\" is what StackHawk sent back.",
        ],
        kept: &[
            "e.g. hawk.xxxxxxxxxxxxxxxxxxxx.xxxxxxxxxxxxxxxxxxxx",
            "grep -rn 'hawk.' src/ found nothing.",
            "Row 7: hawk.5y7h…",
        ],
        ..MARKED
    },
    Rule {
        kind: "spectral-token",
        what: "SpectralOps team key",
        severity: Severity::Medium,
        literals: &["spu-"],
        finder: tailed("spu-[a-z0-9]{32}", 36, Tail::Exact),
        checks: &[Check::Digit],
        found: &[
            "spu¦-342z7hebnfp2oejbr3to5g1n7hchqwhd",
            "os.environ[\"SPECTRAL_TOKEN\"] = \"«sp¦u-kfnj0g97ej2hx1hhvoxr5l1jurn4ot2m»\"",
            "In SpectralOps, «sp¦u-rig6hm93ic9y9pcirn59hgtp7ozjgat7» was made by the intern.",
        ],
        kept: &[
            "spectral_token: spu-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "What does spu- stand for?",
            "SpectralOps prints spu-ygnHe*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "endorlabs-key",
        what: "Endor Labs API key",
        severity: Severity::Medium,
        literals: &["endr+"],
        finder: shape(r"endr\+[A-Za-z0-9-]{16}", 21),
        checks: &[Check::Digit],
        found: &[
            "endr¦+EkV7pC7diIhYjqb7",
            "ENDORLABS_KEY = '«en¦dr+70Lc0S4j1YXRmsfp»'  # rotate in May",
            "Endor Labs 的密钥是 «end¦r+NWvvh38Y4iaO6Drv»，请勿外传。",
        ],
        kept: &[
            "endr+<paste the rest>",
            "Search the logs for endr+ and tell Endor Labs.",
            "The list had endr+TCtHxt (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "socket-key",
        what: "Socket security API token",
        severity: Severity::Medium,
        literals: &["sktsec_"],
        finder: shape("sktsec_[A-Za-z0-9_-]{40}", 47),
        found: &[
            "skts¦ec_h-5HpN33fSJ9vC0WQWWDvLjHzuSASjs2PvO9Lktf",
            "<socketKey>«skt¦sec_FDtd71e6qj0nrBRQxtx8FSV6Z5BZWJKilI3ZRbSl»</socketKey>",
            "Socket answers 401 unless «skts¦ec_CT4yTyzs2bbmcXmCG5XQg5OZvrg1pzNsjxqL5k6y» is \
             sent.",
        ],
        kept: &[
            "SOCKET_KEY=sktsec_YOUR_VALUE_HERE",
            "We filter on sktsec_ (that is Socket).",
            "Masked: sktsec_rzAAoC****",
        ],
        ..MARKED
    },
    Rule {
        kind: "aikido-secret",
        what: "Aikido CI token or client secret",
        severity: Severity::Medium,
        literals: &["AIK_CI_", "AIK_SECRET_"],
        finder: shape("AIK_(?:CI|SECRET)_[A-Za-z0-9]{20}", 31),
        checks: &[Check::Digit],
        found: &[
            "AIK_¦CI_rS4hxGl88SShnwmnHDAMZ3mZgmF0qDav7mCgPNkm",
            "curl -H \"X-Api-Key: «AIK¦_CI_5Sybe8cRMCW9U2HwiSQSwSw4IHaWAChHxrc356SM»\" \
             https://api.internal.test/v1",
            "It was a Aikido one («AIK¦_SECRET_TIWEGNZ652KpRYnVaw8EPOnJcHNIMfmvQLU6T3Cv») all \
             along.",
        ],
        kept: &[
            "cp .env.sample .env  # AIKIDO_SECRET=AIK_CI_xxxxxxxxxxxxxxxxxxxx",
            "The AIK_CI_ ones belong to Aikido, ask them.",
            "AIK_CI_0pq5M is too short for Aikido.",
        ],
        ..MARKED
    },
    Rule {
        kind: "nightfall-key",
        what: "Nightfall API key",
        severity: Severity::Medium,
        literals: &["NF-"],
        finder: tailed("NF-[A-Za-z0-9]{32}", 35, Tail::Exact),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "NF¦-MQKH56QXIbhR9qe98md9ez4Nn99ctuHM",
            "* NIGHTFALL_KEY: `«NF¦-iKSys1NaWYYXjn9P1RG5K37FtdXGqXd8»`",
            "Use «NF¦-F5qZo6LkLNcUYCblA1G3VdOUnvRD3x8n». It works from the office too.",
        ],
        kept: &[
            "NIGHTFALL_KEY={{ nightfall_key }}",
            "| Nightfall | `NF-` | prefix |",
            "It ended up as NF-EEU... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "mergify-key",
        what: "Mergify application key",
        severity: Severity::Medium,
        literals: &["mergify_application_key_"],
        finder: shape("mergify_application_key_[A-Za-z0-9_-]{40}", 64),
        found: &[
            "mer¦gify_application_key_uKO81kIXRQ_kecMf5EJKu9EXchNZZKV2w9-W9Pma",
            "$env:MERGIFY_KEY = \"«mer¦gify_application_key_n40URVldqq5lGJD2Bbi5-uFBfT_KUuIXy_l\
             rlSuH»\"",
            "Does Mergify still take «merg¦ify_application_key_51vHFdAKMk-s3rtPEOu4liHchNHtcyap\
             nszAVMZ2»?",
        ],
        kept: &[
            "mergify_application_key_****************",
            "Everything from mergify_application_key_ on is cut by the console.",
            "In the mail I could read mergify_application_key_cTTvM and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "chromatic-token",
        what: "Chromatic project token",
        severity: Severity::Medium,
        literals: &["chpt_"],
        finder: shape("chpt_[a-f0-9]{12}", 17),
        found: &[
            "chp¦t_39007f77e05c",
            "Setenv CHROMATIC_TOKEN «chpt¦_6c27a4f1fb34»",
            "(staging) «chpt¦_29f2c3663138»",
        ],
        kept: &[
            "chromatic_token: chpt_<yours>",
            "What Chromatic hands out begins with chpt_ these days.",
            "Only chpt_30819e was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "dependency-track-key",
        what: "Dependency-Track API key",
        severity: Severity::Medium,
        literals: &["odt_"],
        finder: shape("odt_(?:[A-Za-z0-9]{8}_)?[A-Za-z0-9]{32}", 45),
        found: &[
            "odt¦_noEyRt5R2ngGE1IYAOZxAylfYFXjuKp4",
            "- name: DEPENDENCY_TRACK_KEY\n  value: «od¦t_JluM3IWfBud4RVnLgSLjb4H1De96T9y9»",
            "Set it to «odt¦_I5Sm77ACnc9uhYdcy4a26yLDUxmCZv2z»; then restart the worker.",
        ],
        kept: &[
            "odt_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "/^odt_[A-Za-z0-9]+$/",
            "The console shows only odt_pieYV… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "wakatime-key",
        what: "WakaTime API key",
        severity: Severity::Medium,
        literals: &["waka_"],
        finder: shape("waka_[a-z0-9]{8}[a-z0-9-]{28}", 41),
        checks: &[Check::Digit],
        found: &[
            "wak¦a_eba1f590-0f48-d87a-6524-38819d9276d2",
            "set -x WAKATIME_KEY «wak¦a_380a9961-9e30-3b7c-8c3a-66df2a9159b5»",
            "In WakaTime, «wa¦ka_2fe32935-89d2-f0c8-8829-1fbf8b267eb4» was made by the intern.",
        ],
        kept: &[
            "WAKATIME_KEY=changeme",
            "WakaTime documents the waka_ prefix.",
            "The console shows only waka_OZH… of it.",
        ],
        ..MARKED
    },
];
