//! Where programs run: platforms, servers, edges.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "digitalocean-token",
        what: "DigitalOcean access or refresh token",
        severity: Severity::Critical,
        literals: &["dop_v1_", "doo_v1_", "dor_v1_"],
        finder: shape("do[opr]_v1_[a-f0-9]{64}", 71),
        found: &[
            "dop¦_v1_b0d636e6e2d2a4dd02cc039df181936f60358beb4c20ddbbde046ad852a66b9e",
            "digitaloceanToken: '«do¦p_v1_38136f513817856ef0cf1bd1b5be1fc1f10b3d393a6642643cfc9\
             d8820570a36»',",
            "Does DigitalOcean still take «do¦r_v1_88fd54d2d1a9f03e6f6cd207234d617793a4afb271fe\
             101fba95425ab4098bb2»?",
        ],
        kept: &[
            "DIGITALOCEAN_TOKEN=\"do1_v1_1234567890abcdef1234567890abcdef1234567890abcdef123456\
             7890abcdef\"  # replace me",
            "What DigitalOcean hands out begins with dop_v1_ these days.",
            "The console shows only dop_v1_43f31… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "digitalocean-spaces",
        what: "DigitalOcean Spaces key id",
        severity: Severity::Medium,
        literals: &["DO00", "DO80"],
        finder: tailed("DO[08]0[A-Z0-9]{16}", 20, Tail::Exact),
        checks: &[Check::Digit, Check::Random],
        found: &[
            "DO8¦0CID9DARZ3D8PJ1H8",
            "[default]\ndigitalocean_spaces = «DO0¦0KF1T0V3UYDOK9DZT»\nregion = north",
            "\"«DO¦00TAW90O8XKHSKR6JN»\" is what DigitalOcean sent back.",
        ],
        kept: &[
            "digitalocean_spaces: \"DO00…\"",
            "/^DO00[A-Za-z0-9]+$/",
            "The screenshot ends at DO00P3sTI",
        ],
        ..MARKED
    },
    Rule {
        kind: "cloudflare-v2",
        what: "Cloudflare user or account token, or global key (2025 form)",
        severity: Severity::Critical,
        literals: &["cfut_", "cfat_", "cfk_"],
        finder: shape("cf(?:[ua]t|k)_[A-Za-z0-9]{40}[a-f0-9]{8}", 53),
        checks: &[Check::Crc32Body],
        found: &[
            "cfk¦_PGig3Iv3JGBSxYAO7V7oC8XwG5hxdgeLq7t2lbVPff6efea9",
            "ARG CLOUDFLARE_V2=\"«cf¦k_amYLU7TxZdo1dqZMB8aiq7RJumvBUMnATcNCaZmCa59ca8e9»\"",
            "Please do not share «cf¦k_jpZUXx4WmdZLUVC2FekXJisLMRZEuX0JURDt5Hip99c3c8d4».",
        ],
        kept: &[
            "cfut_****************",
            "Everything from cfut_ on is cut by the console.",
            "Only cfut_87f was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "cloudflare-origin-ca",
        what: "Cloudflare origin CA key",
        literals: &["v1.0-"],
        finder: shape(r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}", 176),
        found: &[
            "v1¦.0-eeca4b6070e944e3bed177cf-a05c56c7003ac87fbaefec2f6c21ebd828bacaac3cb34b26b49\
             f1265d9eea0775f494293b9d3e96500f0a064b5c0ba9fa59356c5f60bf4a9eb4095d985aa1fa357df1\
             c3ab97ee4519b",
            "deploy --cloudflare-origin-ca «v1.¦0-8dc03f495354a994ef4c6a37-96dc4d14f233d8745c9d\
             4d36c9ac6f86e3153e96ec682fcf1e18c393ec430f38d5759cfddb674bf3d5be34dca4ff0ad40f0ce0\
             981361a20970a09773aba522787b5fa8ed05622bbbac» --verbose",
            "It was a Cloudflare one («v1¦.0-00a67fc4aaa17e053add07fb-0578424df2612b23b26e2054c\
             f25f2cd01f06230875f2ca22876aea3fe29fd2d7553c266c2ebdb5c02b1099ee6f4d082679594aa2f6\
             08b6db7f9f8706c24da30c12a10939eee06f161») all along.",
        ],
        kept: &[
            "v1.0-<paste the rest>",
            "Search the logs for v1.0- and tell Cloudflare.",
            "typed v1.0-e7eb, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "heroku-key",
        what: "Heroku API key (2024 form)",
        severity: Severity::Critical,
        literals: &["HRKU-"],
        finder: shape("HRKU-AA[A-Za-z0-9_-]{58}", 65),
        found: &[
            "HR¦KU-AACFnE6eodjgs6EAMQGomZikCGMZWCTuAKIvpLFaoDBndBeexVo-wZ8IOWWy",
            "HEROKU_KEY=«HR¦KU-AAVhYnuMWotx6R-3IXfKPR2m4HhFaiK-f6hmq5WsyonlLHPUKfhkaaLoyzwb»",
            "I pasted «HR¦KU-AAX1tpwrnQmUHRv7QfU8cCoOzdHopokVbfXbMHS3IF4Xlv5EtFYExYKa7saV», \
             then the call went through.",
        ],
        kept: &[
            "HRKU-AAxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "# HRKU- -> Heroku",
            "Heroku answers: bad value HRKU-4OjS7…",
        ],
        ..MARKED
    },
    Rule {
        kind: "flyio-token",
        what: "Fly.io macaroon or deploy token",
        severity: Severity::Critical,
        literals: &["fo1_", "fm1_", "fm1a_", "fm1r_", "fm2_"],
        finder: tailed(
            "f(?:o1_[A-Za-z0-9_-]{43}|m[12][ar]?_[A-Za-z0-9+/_-]{100})",
            105,
            Tail::Base64,
        ),
        found: &[
            "fm¦2_4hT4dm9PcxiW6f5vwnT5ZB6mPfW8vz3fHTmI3IZUX4VLCCFCRW6TR6e1vX1YZltVUAFGBGTcxl4uX\
             ljFgRzCdnRuiIX2l5lDBGbSGyicn7QahNxBpoYCwDcwocvij8wLPPRxZphpKsxReZbVNnkPE3=",
            "FLYIO_TOKEN = '«fm2¦_q6CN2DonDGuo5iunxLUnaNrvBZAGTNXBrHkWQL2eQ98nCFDVLu4Uk90B27Aqf\
             ufUl6M0CL7yKzRTxwaVD2rxZ0o6oOaDE5djVkNWozPdDJJBhGtPle1lIl9bLtbn5k1PDrZpBlIwA5r8joI\
             PKqpvcB=»'  # rotate in May",
            "> «fm2¦_zqXSqm3wPRQoUuq1iQ8gM1bDi3aUn11VVeTjO4IXa2H3Xrf6uAI0ydbh0RjA3EzFOPPttrMrDt\
             izuaPgdaCFB5Ab814kncMDcUgyb8p9guhpV6RD73EXdl7qzxKJpLeZ4UmxYIqhn06HdyaiZSGbSO=»\
             \n\nwas in the ticket.",
        ],
        kept: &[
            "os.environ[\"FLYIO_TOKEN\"]",
            "A value with fo1_ in front comes from Fly.io.",
            "Fly.io prints fo1_wkj*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "vercel-token",
        what: "Vercel access, integration or gateway token",
        severity: Severity::Critical,
        literals: &["vcp_", "vcc_", "vci_", "vca_", "vcr_", "vck_"],
        finder: shape("vc[pciakr]_[A-Za-z0-9_-]{56}", 60),
        found: &[
            "vcr¦_K-uySm45mEYAQbzDQhpqyvGlzK-s8vzVqPL1eEeSjOkHAvXFWVePLfyt",
            "| Vercel | `«vcr¦_B4chc4Qlyo45A4RuLoSbbcLpc0Z34uI8F7GSSgKpHf7pgTtOd5pw35rm»` | \
             staging |",
            "请用 «vci¦_ZfM-xeG72mS0qQBPjpSUhNQRBPlFy1Sle1Cz3Xx_WQ27UmTYcKttsZAO»。",
        ],
        kept: &[
            "VERCEL_TOKEN={{ vercel_token }}",
            "The linter looks for `vcp_` at the start of a word.",
            "Masked: vcp_w12WJs****",
        ],
        ..MARKED
    },
    Rule {
        kind: "netlify-token",
        what: "Netlify personal access token",
        severity: Severity::Critical,
        literals: &["nfp_"],
        finder: shape("nfp_[A-Za-z0-9_]{36}", 40),
        found: &[
            "nfp¦_CY3jXU4PedHVk02YZOIRZ4vuByOfx8tMoucV",
            "netlify-token = \"«nfp¦_oQWcIdYAfvoF9ncIyb4xOkheKYfFQsPWIy_q»\"",
            "Old: «nfp¦_m69vXRmace8UIIJbz_eFJM5DdB3Mljpeuy6v»; the new one comes on Monday.",
        ],
        kept: &[
            "nfp_... goes here",
            "| Netlify | `nfp_` | prefix |",
            "The console shows only nfp_ZNJ… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "render-key",
        what: "Render API key",
        severity: Severity::Critical,
        literals: &["rnd_"],
        finder: shape("rnd_[A-Za-z0-9]{28}", 32),
        checks: &[Check::MixedCase],
        found: &[
            "rnd¦_AplTw36XHY4OJY6hYgOfcW2ewGpH",
            "set -x RENDER_KEY «rn¦d_Rvg8HJcWvtvAuSshVQChDGrCZqD9»",
            "He read it out: «rn¦d_EpHNozyZOs5vC6YqBwZF6D81pqrL». Nobody noticed.",
        ],
        kept: &[
            "RENDER_KEY=${RENDER_KEY}",
            "grep -rn 'rnd_' src/ found nothing.",
            "It ended up as rnd_KTWgY... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "deno-token",
        what: "Deno Deploy access token",
        literals: &["ddp_", "ddw_", "ddo_"],
        finder: shape("dd[pwo]_[A-Za-z0-9]{36}", 40),
        found: &[
            "ddp¦_xewsnbiiznLFgbEYcPQnbLyBF0jR0HRSxf5H",
            "    deno_token: «dd¦o_zy3XBAVyOm2yWq7Yq9QK83X1c1qKS1vhejXq»",
            "Deno Deploy gave us «dd¦o_yRZoXs15BLfbvtJ5FVT9Z2jLWHhnVBD6tD62», which runs out \
             in June.",
        ],
        kept: &[
            "DENO_TOKEN=dd1_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "Deno Deploy documents the ddp_ prefix.",
            "Deno Deploy prints ddp_paXH*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "scaleway-key-id",
        what: "Scaleway access key id",
        severity: Severity::Medium,
        literals: &["SCW"],
        finder: tailed("SCW[A-Z0-9]{17}", 20, Tail::Exact),
        checks: &[Check::Digit, Check::Random],
        found: &[
            "SC¦WH6STWBUMEH56ONQ9M",
            "  - SCALEWAY_KEY_ID=«SC¦W0P5SYAZ6P8LLRDY0K»",
            "cat .env showed \"«SC¦W4EC383XKGV8RXOT39»\".",
        ],
        kept: &[
            "Put yours here: SCWXXXXXXXXXXXXXXXXX",
            "What does SCW stand for?",
            "Masked: SCWveuZXl****",
        ],
        ..MARKED
    },
    Rule {
        kind: "exoscale-key",
        what: "Exoscale API key id",
        severity: Severity::Medium,
        literals: &["EXO"],
        finder: shape("EXO[a-f0-9]{24}", 27),
        checks: &[Check::Digit],
        found: &[
            "EX¦O0701654cb1844aef6de78041",
            "\"exoscale_key\": \"«EX¦O498eb4ff3076d35eb778c0ed»\",",
            "See <«EX¦O2b9f9e24d42a87bf522ce337»> for Exoscale.",
        ],
        kept: &[
            "e.g. EXO1234567890abcdef12345678",
            "We filter on EXO (that is Exoscale).",
            "The list had EXO582a (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "upcloud-token",
        what: "UpCloud API token",
        literals: &["ucat_"],
        finder: shape("ucat_[A-Z0-9]{24}", 29),
        checks: &[Check::Digit],
        found: &[
            "uca¦t_136N93SBAYNVRX0IKR1S751J",
            "put(\"upcloud_token\", \"«uc¦at_8I0QY6VP3CK4EOGSHMBJ44W9»\")",
            "For UpCloud log in with «uca¦t_EY9AFTURA5YEAUJ2W7S63SS5», not with the old one.",
        ],
        kept: &[
            "The README says ucat_XXXXXXXXXXXXXXXXXXXXXXXX.",
            "UpCloud changed to the ucat_ form last year.",
            "Row 7: ucat_gRMH5O…",
        ],
        ..MARKED
    },
    Rule {
        kind: "akamai-token",
        what: "Akamai EdgeGrid access or client token",
        literals: &["akab-"],
        finder: shape("akab-[a-z0-9]{16}-[a-z0-9]{16}", 38),
        found: &[
            "akab¦-c893560ncn3o03t3-jgjqpn1j7oio3llg",
            "with:\n  akamai-token: «ak¦ab-k83kfuvgzr6gq268-yv3usqjhr18x8264»",
            "In Akamai, «aka¦b-rfy9iqq7ieaqbriv-yjvm5wul7lch37ow» was made by the intern.",
        ],
        kept: &[
            "AKAMAI_TOKEN=<your Akamai value>",
            "Nothing in the dump has akab- in it.",
            "Only akab-IlSB7P was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "backblaze-key",
        what: "Backblaze B2 application key",
        literals: &["K000", "K001", "K002", "K003", "K004", "K005"],
        finder: tailed("K00[0-5][A-Za-z0-9+/]{27}", 31, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "K00¦3BHKiom+10Y7O4UjZAG8lYjbUQ9D",
            "os.environ[\"BACKBLAZE_KEY\"] = \"«K00¦0NLT5UAvihPc7t7hsbA0jmniwe4i»\"",
            "The build printed «K00¦0Inii+2S+LSchnh6S2HcZgV+xqPz»\nand went on.",
        ],
        kept: &[
            "os.environ[\"BACKBLAZE_KEY\"]",
            "\"K000\" => \"Backblaze\",",
            "The screenshot ends at K000Dec",
        ],
        ..MARKED
    },
    Rule {
        kind: "portainer-token",
        what: "Portainer access token",
        literals: &["ptr_"],
        finder: tailed("ptr_[A-Za-z0-9+/=_-]{20}", 24, Tail::Base64),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "ptr¦_6X-G8meMgqB4NrqvQ9RYPEWzL4ITHgLH5xgYwSdSGrHO",
            "Setenv PORTAINER_TOKEN «ptr¦_yp+N-OEKbQJ7ddpM2ZDlgyHNG4Spu3kpKC69X3rptp3S»",
            "at 10:42 the proxy logged «pt¦r_dJYG-9f96++suPkHScqYyXny4V5DdKmq5A8WKwdK0knr»|200|\
             /v1/items",
        ],
        kept: &[
            "portainer_token: ptr_xxxxxxxxxxxxxxxxxxxx",
            "What Portainer hands out begins with ptr_ these days.",
            "In the mail I could read ptr_aZ7pd and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "rancher-token",
        what: "Rancher API or kubeconfig token",
        severity: Severity::Critical,
        literals: &["token-", "kubeconfig-u"],
        finder: shape(
            "(?:token-[a-z0-9]{5}|kubeconfig-u(?:ser)?-[a-z0-9]{5,10}):[a-z0-9]{54}",
            81,
        ),
        checks: &[Check::Digit],
        found: &[
            "tok¦en-oka2j:wyzho2s0my207rfg08v1opxh744enrre20bc045u8tvf1xhbez21od",
            "  RANCHER_TOKEN: «tok¦en-t94si:rca3hhdvek6ha1l3pgnxfnaqvkrf57sq0vchivdye2sz4zdlwmm\
             qt3»\n  REPLICAS: 2",
            "Memo: «kube¦config-u-xnsxzbl74:b9i1awyzem0ndg3o8new1899ob52302ovnd1lcakxapdam9z4bv\
             pq6» (from Rancher, made in spring)",
        ],
        kept: &[
            "RANCHER_TOKEN=token-YOUR_VALUE_HERE",
            "The token- ones belong to Rancher, ask them.",
            "Rancher answers: bad value token-63o1R…",
        ],
        ..MARKED
    },
    Rule {
        kind: "proxmox-token",
        what: "Proxmox VE API token",
        severity: Severity::Critical,
        literals: &["PVEAPIToken="],
        finder: shape(
            "PVEAPIToken=[A-Za-z0-9@._-]{3,80}![A-Za-z0-9_-]{1,40}=([a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12})",
            170,
        ),
        found: &[
            "PVEAPIToken=«root@pam!backup=f44¦26825-a7e8-206a-19c3-2489008c968b»",
            "export PROXMOX_TOKEN=PVEAPIToken=«root@pam!backup=66¦ff64ac-54e5-e375-6e83-275cab4\
             fafe7»",
            "Found PVEAPIToken=«root@pam!backup=d3¦e8fb12-1a6a-f0fa-0d81-a6d98846f56e», please \
             have it revoked.",
        ],
        kept: &[
            "PROXMOX_TOKEN=%PROXMOX_TOKEN%",
            "They renamed PVEAPIToken= twice at Proxmox VE.",
            "typed PVEAPIToken=9adfca, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "docker-swarm",
        what: "Docker swarm join token or unlock key",
        severity: Severity::Critical,
        literals: &["SWMTKN-", "SWMKEY-"],
        finder: tailed("SWM(?:TKN|KEY)-1-[A-Za-z0-9+/-]{40}", 49, Tail::Base64),
        found: &[
            "SWM¦TKN-1-lE/VG3uoKEy9+BHK9-Tm48iAre1GDhMWDWA4S0MP",
            "docker-swarm = \"«SWMT¦KN-1-oJXn4yoBVqYSvaJat6Lu3F7+eZ+yejGI3Vo9FZ9M»\"",
            "Docker answers 401 unless «SWM¦KEY-1-S+QbJrBOMBeJCGen7HlFSOSD6DV0P0yWUieRNENM» is \
             sent.",
        ],
        kept: &[
            "cp .env.sample .env  # DOCKER_SWARM=SWMTKN-1-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxx",
            "case SWMTKN-*) echo Docker ;;",
            "SWMTKN-dwS03B is too short for Docker.",
        ],
        ..MARKED
    },
    Rule {
        kind: "openshift",
        what: "OpenShift user token",
        severity: Severity::Critical,
        literals: &["sha256~"],
        finder: shape("sha256~[A-Za-z0-9_-]{43}", 50),
        found: &[
            "sh¦a256~duWgs0jwPH7AhEWsi_ssDlQKRMwaUErjypJDHfUO7rJ",
            "OPENSHIFT=«sha2¦56~BzpOipEUyXIs0bV8AW8_impG8_yjEXX15HybP9t9W38»",
            "Is «sha¦256~tm1N_m7BOXu1J3-fWGgmyGTMfHH_qWIl2-st7BzIn-b» still in use?",
        ],
        kept: &[
            "\"openshift\": \"sha256~xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            "if value.starts_with(\"sha256~\") { return Some(Vendor::Known); }",
            "The screenshot ends at sha256~a4UC",
        ],
        ..MARKED
    },
    Rule {
        kind: "saladcloud-key",
        what: "SaladCloud API key",
        severity: Severity::Medium,
        literals: &["salad_cloud_"],
        finder: shape("salad_cloud_[A-Za-z0-9]{1,7}_[A-Za-z0-9]{20}", 40),
        checks: &[Check::Digit],
        found: &[
            "sala¦d_cloud_yN_A2Bdp1xLXdWqN8NIsKJd",
            "os.environ[\"SALADCLOUD_KEY\"] = \"«sa¦lad_cloud_f_F6rQMeyO4iQACplUqBrh»\"",
            "**SaladCloud**: «sala¦d_cloud_X7x_Hg6TG3cw9eYLqrQkRKvX»",
        ],
        kept: &[
            "The sample has salad_cloud_x_xxxxxxxxxxxxxxxxxxxx, which is no real one.",
            "SaladCloud: the ones with salad_cloud_",
            "SaladCloud prints salad_cloud_jJs*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "cfx-key",
        what: "Cfx.re server licence key",
        severity: Severity::Low,
        literals: &["cfxk_"],
        finder: shape("cfxk_[A-Za-z0-9_-]{20}", 25),
        checks: &[Check::Digit],
        found: &[
            "cfxk¦_tDoy2DQwtIPu4NFG_iZb",
            "$env:CFX_KEY = \"«cf¦xk_DQWhcUWM2xfJIagcnBsM»\"",
            "Use «cfx¦k_G8g6Ts-FZSCfUKOxjxXh». It works from the office too.",
        ],
        kept: &[
            "CFX_KEY={{ cfx_key }}",
            "return s.startsWith('cfxk_');",
            "cfxk_3Np1m0 is too short for Cfx.re.",
        ],
        ..MARKED
    },
];
