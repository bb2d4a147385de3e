//! Hosts of source code: GitHub, GitLab, Bitbucket and their like.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "github-pat",
        what: "GitHub personal access token (classic)",
        severity: Severity::Critical,
        literals: &["ghp_"],
        finder: shape("ghp_[A-Za-z0-9]{36}", 40),
        checks: &[Check::Crc32Base62],
        found: &[
            "ghp¦_06cDXjeYnX3IVa7LllnMU4wOpl6ZCs4VzLOr",
            "[default]\ngithub_pat = «gh¦p_3tLAF7k5YPWYrawNuGKoPUchcIriNS1v6Vos»\nregion = \
             north",
            "GitHub (staging): «ghp¦_4heE7xUFIHKesr5aehDiTxFUInYIge3G2uNA»;",
        ],
        kept: &[
            "github_pat: \"ghp_…\"",
            "grep -rn 'ghp_' src/ found nothing.",
            "The list had ghp_TDX (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "github-oauth",
        what: "GitHub OAuth token",
        severity: Severity::Critical,
        literals: &["gho_"],
        finder: shape("gho_[A-Za-z0-9]{36}", 40),
        checks: &[Check::Crc32Base62],
        found: &[
            "gh¦o_VWNjEG52XhbAHERDaOJqNqKiT9FzDP3th49T",
            "githubOauth := \"«gh¦o_gHnPze3rWyFwTxYlPfumHsU744V9V30ccGlI»\" // see the wiki",
            "The one for GitHub is `«gho¦_aEtkNXeUDFoiaGcTc3flD9esIU88on2GMQL7»`.",
        ],
        kept: &[
            "GITHUB_OAUTH=gho_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "Strings with gho_ are new, the others are old.",
            "It ended up as gho_elMfp... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "github-app-user",
        what: "GitHub App token on behalf of a user",
        literals: &["ghu_"],
        finder: shape("ghu_[A-Za-z0-9]{36}", 40),
        checks: &[Check::Crc32Base62],
        found: &[
            "gh¦u_HvnLunJD1oXhP4RKgpm3j0kAU5Gv5V38lPr4",
            "export GITHUB_APP_USER=«ghu¦_7w6XvDj3DeLvfzDlkjUlkCo2IVsUNv1Phegj»",
            "> «ghu¦_XhvdZtkyYLxlx5PQS9WVzu4p6JHogY1I85b3»\n\nwas in the ticket.",
        ],
        kept: &[
            "e.g. ghu_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "/^ghu_[A-Za-z0-9]+$/",
            "GitHub prints ghu_yToW*** and no more.",
        ],
        ..MARKED
    },
    // The newer form wraps a JWT, hence the full stops.
    Rule {
        kind: "github-app-server",
        what: "GitHub App installation token",
        literals: &["ghs_"],
        finder: tailed(
            "ghs_(?:[A-Za-z0-9]{36}|[0-9]{1,12}_eyJ[A-Za-z0-9_-]{20})",
            40,
            Tail::Dotted,
        ),
        checks: &[Check::Crc32Base62],
        found: &[
            "ghs¦_243392_eyJzLn1gZwvCkUzVEJtIGC9LaNtT1qO.eyJyxjhFuS5JnqIc45vdeIeURdPd0Mbyn5Orj1\
             nHrPT.ZtxQjWHjDvf1NkIq9GLLLBqTIDch0IWlrsrtN9KhZse",
            "    github_app_server: «ghs¦_fxuVHwI8yoVgAODcPKT60VDHMS8Mn70DMBmH»",
            "We use two at GitHub: «ghs¦_391341_eyJIuAygsgYVMuT5aZfdVw4Eaz4dG6t.eyJWXc7CzzKeJk7\
             KaHY9kYVvjGI4GRFDiUj3ErdupcB.5FQ9rXf9zEYcBQdDOy2ezEmrE6Cj6lCaG3wSQgZjdQV», and \
             one more for tests.",
        ],
        kept: &[
            "`ghs_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` in the docs",
            "case ghs_*) echo GitHub ;;",
            "Row 7: ghs_Hk2…",
        ],
        ..MARKED
    },
    Rule {
        kind: "github-refresh",
        what: "GitHub App refresh token",
        severity: Severity::Critical,
        literals: &["ghr_"],
        finder: shape("ghr_[A-Za-z0-9]{36}", 40),
        found: &[
            "ghr¦_sFEHGPBZiVDngAJLvPYptMKGWBL52NWPemNRGugTevRhHap1MEIDOhRpZLTlcc7YEulqSeFePoa5",
            "| GitHub | `«ghr¦_Mp5csXamf3ZWQ8pJU4QcKt3vEjKFZLKS0mbLSbUIgkMh6OBoUUkqjLPhWrh8qqM7\
             x545KRodzUyE»` | staging |",
            "Replace «ghr¦_fhL89cLvtF3yYqmYsDIVdsqTC50G5GgwWqTl6HzmwgbUxXHTLy8UX9Y9VvqdeKnug0H4\
             VoHUyyxX»: it was in a screenshot.",
        ],
        kept: &[
            "github_refresh: ghr_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "GitHub documents the ghr_ prefix.",
            "typed ghr_3pn, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "github-pat-fine",
        what: "GitHub fine-grained personal access token",
        severity: Severity::Critical,
        literals: &["github_pat_"],
        finder: shape("github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", 93),
        found: &[
            "gi¦thub_pat_K9pLSoVyuaRctHAzZdiunG_nzD3dWkgk7jDh53k6QnUW1N7jyjYBG4hEkOLnFGzU86S65N\
             AOksh2ahJrel",
            "# .env\nPORT=8080\nGITHUB_PAT_FINE=«gith¦ub_pat_8VMDrQzsqx4EQMyiUBw8aV_YGBu6H3nOOh\
             7YQ9G0ZVbOmpqxiC0NfGFybx4avkyUUIQKshiBxuoNLgT8At»\nLOG=info",
            "«gith¦ub_pat_VFsYo5NWmP77eiESXrFvkX_rN4YHHwllLAHUH0U6mNfeaLHmBcxwnuNzXe6rlr6I7nbMB\
             IkZT6j4F2jnFJ»，来自 GitHub。",
        ],
        kept: &[
            "github_pat_****************",
            "The github_pat_ ones belong to GitHub, ask them.",
            "The console shows only github_pat_x3eQ… of it.",
        ],
        ..MARKED
    },
    // Before `gitlab-pat`, whose shape the first part of this one has as well.
    Rule {
        kind: "gitlab-pat-routable",
        what: "GitLab routable personal access token",
        severity: Severity::Critical,
        literals: &["glpat-"],
        finder: tailed(
            r"glpat-[A-Za-z0-9_-]{27,300}\.[0-9a-z]{2}\.?[0-9a-z]{7,9}",
            319,
            Tail::Dotted,
        ),
        found: &[
            "glpa¦t-mTW57yKaizoyIIJeV5fe4mmE-3h2.s2peiyp8h1",
            "set -x GITLAB_PAT_ROUTABLE «gl¦pat-eJc7peh57lft9PLtKl5dwBETgtHs9d5FGIRzyV.66okabod\
             now»",
            "GitLab gave us «glpa¦t-7ASSZi92NTTHly6ZfCQREQ6pfvx.f4.92cskhls», which runs out \
             in June.",
        ],
        kept: &[
            "Put yours here: glpat-xxxxxxxxxxxxxxxxxxxxxxxxxxx.xxxxxxxxx",
            "They renamed glpat- twice at GitLab.",
            "glpat-VeRsIoN.01.ab",
        ],
        ..MARKED
    },
    Rule {
        kind: "gitlab-pat",
        what: "GitLab personal access token",
        severity: Severity::Critical,
        literals: &["glpat-"],
        finder: shape("glpat-[A-Za-z0-9_-]{20}", 26),
        found: &[
            "glp¦at-V7ZMvqnvTFvRDIIvjTyf",
            "GITLAB_PAT=«glp¦at-1FLX9CpWJOr06n8bqAZL» make release",
            "Is «glpa¦t-th8u3qMAUf7MIX6SadjC» still in use?",
        ],
        kept: &[
            "cp .env.sample .env  # GITLAB_PAT=glpat-xxxxxxxxxxxxxxxxxxxx",
            "Nothing in the dump has glpat- in it.",
            "The screenshot ends at glpat-EeNXWX",
        ],
        ..MARKED
    },
    Rule {
        kind: "gitlab-other",
        what: "GitLab deploy, runner, job, trigger, feed, SCIM, agent, mail, application or feature flag token",
        literals: &[
            "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-",
            "glimt-", "gloas-", "glffct-", "glwt-",
        ],
        finder: tailed(
            "gl(?:dt|rtr?|cbt|ptt|ft|soat|agent|imt|oas|ffct|wt)-[A-Za-z0-9_.-]{20}",
            28,
            Tail::Dotted,
        ),
        found: &[
            "gl¦ft-dgJCA7BLcotdlQWeDUXj",
            "let gitlab_other = \"«gl¦oas-1zTaNXttXcbfDYU42.O2»\";",
            "I pasted «glf¦fct-xzg7ZQzKpcrT6IR7t65Q», then the call went through.",
        ],
        kept: &[
            "GITLAB_OTHER=\"gldt-xxxxxxxxxxxxxxxxxxxx\"  # replace me",
            "What does gldt- stand for?",
            "gldt-mlUIt is too short for GitLab.",
        ],
        ..MARKED
    },
    Rule {
        kind: "gitlab-runner-registration",
        what: "GitLab runner registration token (old)",
        literals: &["GR1348941"],
        finder: shape("GR1348941[A-Za-z0-9_-]{20}", 29),
        found: &[
            "GR¦1348941KFto_ZdeNejaiTWiICo9",
            "  GITLAB_RUNNER_REGISTRATION: «GR1¦348941zjebrsBpZveaDNVvQlDH»\n  REPLICAS: 2",
            "He read it out: «GR1¦348941ciiKvFpfzTanL0mXVot3». Nobody noticed.",
        ],
        kept: &[
            "GITLAB_RUNNER_REGISTRATION=<your GitLab value>",
            "GitLab changed to the GR1348941 form last year.",
            "GitLab answers: bad value GR1348941PhmLvI…",
        ],
        ..MARKED
    },
    Rule {
        kind: "bitbucket-app-password",
        what: "Bitbucket app password",
        literals: &["ATBB"],
        finder: shape("ATBB[A-Za-z0-9]{32}", 36),
        checks: &[Check::Digit],
        found: &[
            "ATB¦B5iryJ8pGBeiEjiONW5A5ayijkuKKgu0W",
            "  - BITBUCKET_APP_PASSWORD=«ATB¦Bcrt2ouF8hCZdbfwgy9JY8f8VjRO5WqK4»",
            "Le jeton «AT¦BBeAaR6dBYDgoNM4TdScPwuOsxhIcCN0ei», c'est pour la préproduction.",
        ],
        kept: &[
            "os.environ[\"BITBUCKET_APP_PASSWORD\"]",
            "Is the part after ATBB random?",
            "Only ATBBXrw9T was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "bitbucket-http-token",
        what: "Bitbucket Data Center HTTP access token",
        literals: &["BBDC-"],
        finder: shape("BBDC-[MNO][A-Za-z0-9]{3}[A-Za-z0-9_-]{40}", 49),
        found: &[
            "BB¦DC-NzAzODczNTY0NTA11YiiMdDrZSj8n6S4Tz0gHtwdguVr",
            "deploy --bitbucket-http-token «BBD¦C-NjMxMDQ5OTkxNDE0q7XyUYGoZIycjnSPtGItCujfLi1V\
             » --verbose",
            "- [ ] revoke «BBD¦C-MjA2MDcwNDE5MDkxZTpfyIZoq8ke2vwKyXthfexZWvkB»",
        ],
        kept: &[
            "BBDC-3xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "| Bitbucket | `BBDC-` | prefix |",
            "In the mail I could read BBDC-lOqwB and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "atlassian-api-token",
        what: "Atlassian API token (Jira, Confluence, Bitbucket)",
        severity: Severity::Critical,
        literals: &["ATATT3", "ATCTT3"],
        finder: shape("AT[AC]TT3[A-Za-z0-9_=-]{60,250}=[0-9A-F]{8}", 265),
        checks: &[Check::Crc32Upper],
        found: &[
            "ATA¦TT3xFfGvmqZVRgJzjGy4a-eGa0dboSJ15FTU4I_LXTTex-xRHnC-kPlN129suzXIlRJZcMEqq98liK\
             VN=8C5BB210",
            "ATLASSIAN_TOKEN=«ATA¦TT3xFfGVB-9J6r2PzpE9qfadJ1UgVJINgRbr66stl5QRzNif8AjH1oz9Sc8EG\
             _t86qhHAHCctJoCzuuV=45D14FFE»",
            "Please do not share «AT¦CTT3xFfGk18UhAB6oLHeCEaOZJ1H8AFNHvTwDpJZqh_ue4lxpIUNz9gVUj\
             1L1E6Ezji7GHtNERStDc3xL=F83AC8E0».",
        ],
        kept: &[
            "The README says AT9TT3xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             =12345678.",
            "Search the logs for ATATT3 and tell Atlassian.",
            "Masked: ATATT3dyo****",
        ],
        ..MARKED
    },
    Rule {
        kind: "sourcegraph-token",
        what: "Sourcegraph access token",
        literals: &["sgp_"],
        finder: shape("sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}", 61),
        found: &[
            "sgp¦_CB1F4D55FCffDAdD31708FFB6A3399F1c3ff4F4C",
            "{\"sourcegraphToken\": \"«sgp¦_5ddE1379537f2B82f36EF6d2Aac99AE04eEDEcd8»\", \
             \"retries\": 3}",
            "La clé de Sourcegraph était «sg¦p_local_fE1eB2ECEDD39D61dAD5ABC1345450D7C6d19B7a»\
             . À changer.",
        ],
        kept: &[
            "The sample has sgp_1234567890abcdef1234567890abcdef12345678, which is no real one.",
            "Everything from sgp_ on is cut by the console.",
            "Sourcegraph answers: bad value sgp_Be8I3…",
        ],
        ..MARKED
    },
    Rule {
        kind: "sourcegraph-gateway",
        what: "Sourcegraph gateway token or licence key",
        severity: Severity::Medium,
        literals: &["sgd_", "slk_"],
        finder: shape("s(?:gd|lk)_[a-f0-9]{64}", 68),
        found: &[
            "sgd¦_4cb831f1da88ae7bbb0d8ec7365e03de66b2a7070117ae6b2e2ebd2a9387f38d",
            "ARG SOURCEGRAPH_GATEWAY=\"«sgd¦_dd05fb8ebee6175320a7c78c6b3b7be2d244a9f3fe8656961b\
             0b14e2bb38fa2f»\"",
            "1. Copy «sgd¦_2df11d4fbb3082295fd5bd736076494895e3ebf33f74d11d704c3f06a74ffe73»\n2\
             . Open Sourcegraph\n3. Paste it",
        ],
        kept: &[
            "\"sourcegraph_gateway\": \"sgd_1234567890abcdef1234567890abcdef1234567890abcdef123\
             4567890abcdef\"",
            "# sgd_ -> Sourcegraph",
            "Sourcegraph prints sgd_b8f555*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "amp-key",
        what: "Sourcegraph Amp access token",
        literals: &["sgamp_user_"],
        finder: shape("sgamp_user_[A-Z0-9]{26}_[a-f0-9]{64}", 102),
        found: &[
            "sgam¦p_user_FFHA34GFCW5BDXHTTRH48DMN6R_7c9e73d1a9e1eb58742ca212aa4fe059b300c143b89\
             8e12f3cefa5f494e93e2d",
            "Setenv AMP_KEY «sg¦amp_user_Q1W1M5JRE2D7EOFC75ALM4ZLLG_1495b6d13662a618d2daccebcd9\
             d2b2107ba8643f8a2206242830b21b8a4cd9d»",
            "For Sourcegraph Amp log in with «sg¦amp_user_DI7YEDVIEKIJMPC1BDGLWXQ9XU_6efd146c31\
             b0987cd938f466635042380abe2a10bf316c3601215f2261a8eecf», not with the old one.",
        ],
        kept: &[
            "AMP_KEY=\"sgamp_user_XXXXXXXXXXXXXXXXXXXXXXXXXX_1234567890abcdef1234567890abcdef12\
             34567890abcdef1234567890abcdef\"  # replace me",
            "Sourcegraph Amp: the ones with sgamp_user_",
            "The console shows only sgamp_user_abe9… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "gitpod-pat",
        what: "Gitpod personal access token",
        literals: &["gitpod_pat_"],
        finder: tailed("gitpod_pat_[A-Za-z0-9_.-]{40}", 51, Tail::Dotted),
        found: &[
            "gi¦tpod_pat_NTV7dnptF62ilyRVCkSm02CknXJBnUEuXxd97GWj",
            "gitpod-pat = \"«git¦pod_pat_kIrDeIIBX_yfMljjCgKZ8l56ofsG1hjZqSh2D7Sf»\"",
            "Both of them: [«git¦pod_pat_q7c-UVc9Qif0Da1rJe0CtjVtdHogpUoh-vfX-Y3q»], and \
             nothing else.",
        ],
        kept: &[
            "\"gitpod_pat\": \"gitpod_pat_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            "\"gitpod_pat_\" => \"Gitpod\",",
            "It ended up as gitpod_pat_QTbf... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "deepsource-token",
        what: "DeepSource personal access token",
        severity: Severity::Medium,
        literals: &["dsp_"],
        finder: shape("dsp_[A-Za-z0-9]{40}", 44),
        found: &[
            "dsp¦_CL5BBJ6ckrFUUWgCHp3o8y9MC6cyAXMEF0LW4ZY2",
            "ENV DEEPSOURCE_TOKEN «dsp¦_4pCxDSGOER103SEi4AAi8fz2Yl2clGvqGslVq9fc»",
            "at 10:42 the proxy logged «ds¦p_3AX976XpJlek2h5hJv1L94ZpbWNT2SzrijsKLnBu»|200|/v1/\
             items",
        ],
        kept: &[
            "The README says dsp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.",
            "if value.starts_with(\"dsp_\") { return Some(Vendor::Known); }",
            "Row 7: dsp_o6bfRq…",
        ],
        ..MARKED
    },
];
