//! Registries of packages and container images.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "npm-token",
        what: "npm access token",
        severity: Severity::Critical,
        literals: &["npm_"],
        finder: shape("npm_[A-Za-z0-9]{36}", 40),
        checks: &[Check::Crc32Base62],
        found: &[
            "npm¦_ZcYNMcbhAI1RbRBJgqc6dRweywrmLk15G11X",
            "ENV NPM_TOKEN «npm¦_oyBUZJjJflvvW6RZunYg9XEHspOOes2PDpNL»",
            "The build printed «np¦m_bMNiF1roYdCqMMcZXdQWpjpndk9pzI22hO1t»\nand went on.",
        ],
        kept: &[
            "Put yours here: npm_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "# npm_ -> npm",
            "The screenshot ends at npm_o7dc",
        ],
        ..MARKED
    },
    Rule {
        kind: "pypi-token",
        what: "PyPI upload token",
        severity: Severity::Critical,
        literals: &["pypi-AgE"],
        finder: shape("pypi-AgE[A-Za-z0-9_-]{50}", 58),
        found: &[
            "pypi¦-AgEIcHlwaS5vcmcCJDzlGe5iEZ9yzwkwNPsyIK7V4ur019BLYMVTeUIGzrrATY0byQ25ymC8m4cW\
             LDXZl0Bo3Zzl1",
            "# .env\nPORT=8080\nPYPI_TOKEN=«pypi¦-AgEIcHlwaS5vcmcCJFBlweYJclcIA6U1CpOAmO614mOzW\
             BaP6JMjm3Fm4KHTG7MzZ0wxVIJ7b2X4fHS5Sv4T5aGsz»\nLOG=info",
            "«pypi¦-AgEIcHlwaS5vcmcCJ7P9RXC7J5PL1u94TYXyVtTpj4kGejyPkfKH929C59srrzEoByQpty8iIsM\
             VqdE7PeimdsAXo»，来自 PyPI。",
        ],
        kept: &[
            "`pypi-AgExxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` in the docs",
            "Is the part after pypi-AgE random?",
            "PyPI prints pypi-AgE6jJ1Dl*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "cratesio-token",
        what: "crates.io API token",
        severity: Severity::Critical,
        literals: &["cio"],
        finder: tailed("cio[A-Za-z0-9]{32}", 35, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "ci¦oDmrtarFNckzC9sJBhP6QDpmcccCDZdMH",
            "curl -H \"X-Api-Key: «ci¦oppD6nyghbKmhSFS8Yu4cw3y28FAO0GGX»\" \
             https://api.internal.test/v1",
            "Le jeton «ci¦odwinI4sfNe70bofH0g9HFRHdZCqOC0ft», c'est pour la préproduction.",
        ],
        kept: &[
            "CRATESIO_TOKEN=cioxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "The linter looks for `cio` at the start of a word.",
            "The class ciosomethingverylongwithoutspaceshere is in a test.",
        ],
        ..MARKED
    },
    Rule {
        kind: "rubygems-key",
        what: "RubyGems API key",
        severity: Severity::Critical,
        literals: &["rubygems_"],
        finder: shape("rubygems_[a-f0-9]{48}", 57),
        found: &[
            "ruby¦gems_95464acd94f82879f4a7770cd32a1052055c5ff191eb9257",
            "ARG RUBYGEMS_KEY=\"«rub¦ygems_d5214a18709a827c1ee37045af09ae2c1a880b749ef591c5»\"",
            "Memo: «ru¦bygems_5a75b6aec4f9948bccb0be3c4276ad027e01f376bd88bff1» (from \
             RubyGems, made in spring)",
        ],
        kept: &[
            "rubygems_... goes here",
            "if value.starts_with(\"rubygems_\") { return Some(Vendor::Known); }",
            "In the mail I could read rubygems_29cc31 and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "nuget-key",
        what: "NuGet API key",
        severity: Severity::Critical,
        literals: &["oy2"],
        finder: tailed("oy2[a-z0-9]{43}", 46, Tail::Exact),
        checks: &[Check::Random, Check::Digit],
        found: &[
            "oy¦22orfrc2l1w4qmzwdmda9nfsvwho0btt6siwmokct2yy",
            "NUGET_KEY=«oy¦2gyi5lmuln7khdlbedspf4b1vcglb069f4s6mt809458» make release",
            "at 10:42 the proxy logged «oy¦2ag867snvw47o97sw66wxh2121whqgfg26zo60h7z87e»|200|/v\
             1/items",
        ],
        kept: &[
            "e.g. oy2xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "A value with oy2 in front comes from NuGet.",
            "Row 7: oy2rbf…",
        ],
        ..MARKED
    },
    Rule {
        kind: "dockerhub-token",
        what: "Docker Hub personal or organisation access token",
        severity: Severity::Critical,
        literals: &["dckr_"],
        finder: shape("dckr_(?:pat_[A-Za-z0-9_-]{27}|oat_[A-Za-z0-9_-]{32})", 41),
        found: &[
            "dc¦kr_oat_GKFqtPqcnKh96xIZdzgdC92Kz39K3M_o",
            "echo '«dck¦r_oat_cBN9WsQDiMa3wdhfrHNmQlTzTXCWdKHq»' > /run/dockerhub-token",
            "(staging) «dck¦r_pat_DLefX5MNttcZBUVwtFU3rpEuRUP»",
        ],
        kept: &[
            "dckr_pat_xxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "Docker Hub documents the dckr_ prefix.",
            "Masked: dckr_pjRG****",
        ],
        ..MARKED
    },
    Rule {
        kind: "artifactory-key",
        what: "JFrog Artifactory API key",
        severity: Severity::Critical,
        literals: &["AKCp"],
        finder: shape("AKCp[A-Za-z0-9]{68}", 72),
        found: &[
            "AKC¦pzdiit9prXDREhLbXHW7y0hIxLLfis5CMqgqLOCdP2EMBP5GqqC4mkZ9dPe4sWDTK8YEcC",
            "    artifactory_key: «AKC¦pLKGfODUMXdzGyUnHeeHEax22esOTpziVyAYucMsjmxee0fHVSOFlkzz\
             PerohG1UhD47oI»",
            "JFrog Artifactory answers 401 unless «AKC¦pOiAi9cTdqLlZ5kvMl9G4VmFwR5Bjb6c1rNSabvI\
             8BjD1Ausj4qfZC8jWNYdZAiMdgwLM1» is sent.",
        ],
        kept: &[
            "ARTIFACTORY_KEY=${ARTIFACTORY_KEY}",
            "if value.starts_with(\"AKCp\") { return Some(Vendor::Known); }",
            "Only AKCpiEjQM was left of it.",
        ],
        ..MARKED
    },
    // The start is base64 of `ref`, as in `reftkn:`.
    Rule {
        kind: "artifactory-ref",
        what: "JFrog reference token",
        severity: Severity::Critical,
        literals: &["cmVmd"],
        finder: shape("cmVmd[A-Za-z0-9]{59}", 64),
        checks: &[Check::Random],
        found: &[
            "cm¦Vmd9qqrMKk2UVip1IQ2NYt985RwgRLQbP39mhgkYeXYmwgMJTUYeN8K3idJaIE",
            "\"artifactory_ref\": \"«cm¦VmdXsOi9erG1hRHAl44o1rV5eDNU3Ja5ReiDMomNJuUkEC75PL3jdt0\
             xpHHAGU»\",",
            "**JFrog**: «cmV¦mdC6i0S4ag169lW56G5EvEuw0Sg7FgZYqFW1PQxKmPw3IDEB2zt6lXK1QHZSW»",
        ],
        kept: &[
            "ARTIFACTORY_REF=\"cmVmdxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             \"  # replace me",
            "The linter looks for `cmVmd` at the start of a word.",
            "typed cmVmdIPQS, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "clojars-token",
        what: "Clojars deploy token",
        severity: Severity::Critical,
        literals: &["CLOJARS_"],
        finder: shape("CLOJARS_[a-z0-9]{60}", 68),
        found: &[
            "CL¦OJARS_4lxwha3ilimbbh5zqrwl1svy2okwn5o6rdv99lbyf62q39m9te5r6g97cxls",
            "with:\n  clojars-token: «CL¦OJARS_el3nty2v0uynsa9rx8ll1wuipk1zpu56ojyo6mi6xz9mgd3a\
             cx0xfxu2ayb2»",
            "请用 «CL¦OJARS_iqxh7byb0h27x4ixzud81xel0hmlrpm1hqdxba3uoyg88lwjsyrzfyz0ouif»。",
        ],
        kept: &[
            "The sample has CLOJARS_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             x, which is no real one.",
            "case CLOJARS_*) echo Clojars ;;",
            "It ended up as CLOJARS_FJJPTv... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "packagist-token",
        what: "Private Packagist API or update token",
        literals: &["packagist_"],
        finder: shape("packagist_[a-z]{3}_[a-f0-9]{60}", 74),
        found: &[
            "pa¦ckagist_kom_d6e0def36c7e46d754ee834430ed605f4c63cbd091518d508f7d936a4b66",
            "printf %s «pack¦agist_gso_22617d3124681714acca861d3be212b49673177806237fcc0ab615ab\
             7fcb» | pbcopy",
            "It was a Private Packagist one («pac¦kagist_pqo_2093e0bd30d8675b858ecf9e5f10dee4d2\
             7f5b5963c9858db818a6550196») all along.",
        ],
        kept: &[
            "cp .env.sample .env  # PACKAGIST_TOKEN=packagist_xxx_1234567890abcdef1234567890abc\
             def1234567890abcdef1234567890ab",
            "Everything from packagist_ on is cut by the console.",
            "The console shows only packagist_a868a… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "cloudsmith-key",
        what: "Cloudsmith API key",
        literals: &["csa_"],
        finder: shape("csa_[a-f0-9]{30}[A-Za-z0-9]{6}", 40),
        found: &[
            "cs¦a_6dfa65595434e076934385e16742acm63Hft",
            "CLOUDSMITH_KEY: \"«csa¦_d1fab35e5ce936c4f2eae128bff012DG4tnf»\"",
            "Old: «csa¦_2e4a9f06bbd8dc0d09993e15111230LUENIP»; the new one comes on Monday.",
        ],
        kept: &[
            "CLOUDSMITH_KEY=%CLOUDSMITH_KEY%",
            "| Cloudsmith | `csa_` | prefix |",
            "The screenshot ends at csa_c77",
        ],
        ..MARKED
    },
    Rule {
        kind: "thunderstore-token",
        what: "Thunderstore service account token",
        severity: Severity::Medium,
        literals: &["tss_"],
        finder: shape("tss_[A-Za-z0-9_-]{24}", 28),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "tss¦_nzJ6h5sQNQV3wLVAvAVjWnWL",
            "THUNDERSTORE_TOKEN = '«tss¦_MjU9ZWw_2dYfVZS8zbJGBOv9»'  # rotate in May",
            "See <«tss¦_xk8ltzK7iIy0kMxo8ZMHlcnt»> for Thunderstore.",
        ],
        kept: &[
            "\"thunderstore_token\": \"tss_xxxxxxxxxxxxxxxxxxxxxxxx\"",
            "Strings with tss_ are new, the others are old.",
            "In the mail I could read tss_OTWmh6 and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "lichess-token",
        what: "Lichess personal access token",
        severity: Severity::Low,
        literals: &["lip_"],
        finder: shape("lip_[A-Za-z0-9]{16}", 20),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "lip¦_nPrrDqK0CIuAj1gc",
            "export LICHESS_TOKEN=«lip¦_L93Ut3Jf68Jw5LhE»",
            "La clé de Lichess était «lip¦_kZHrcaVYu98nOSG3». À changer.",
        ],
        kept: &[
            "LICHESS_TOKEN=lip_xxxxxxxxxxxxxxxx",
            "They renamed lip_ twice at Lichess.",
            "typed lip_3Ery, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "ionic-token",
        what: "Ionic personal access token",
        literals: &["ion_"],
        finder: shape("ion_[A-Za-z0-9]{42}", 46),
        found: &[
            "io¦n_tqaH9k47u42ODeJUKzzm3qKrYpjDzXN69c3hgIg10H",
            "put(\"ionic_token\", \"«ion¦_dLBSOnwS9oPSiNfZzlbOupJHOazHq3CdIoP1Ke1ETR»\")",
            "- [ ] revoke «io¦n_F7grDc1ptXhC2hwzAURxuQZfIGdy9tHuJn2lj1Vkn4»",
        ],
        kept: &[
            "ionic_token: ion_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "# ion_ -> Ionic",
            "Ionic prints ion_gNEy*** and no more.",
        ],
        ..MARKED
    },
];
