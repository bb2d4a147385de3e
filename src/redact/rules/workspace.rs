//! Tools of offices and teams.

use super::{MARKED, around, shape};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "canva-secret",
        what: "Canva client secret",
        literals: &["cnvca"],
        finder: shape("cnvca[A-Za-z0-9_-]{51}", 56),
        found: &[
            "cn¦vcazRP3Exi3BBwxeQPh1s5mfaxhl3gWBLC9TAzKPL1uyLcEAWN_zPp",
            "CANVA_SECRET=«cnv¦caRpOaVsnhnXPdbeyMQ00cif7iMpzHEVgq3YdZajPQMA2yNUA4Hle» make \
             release",
            "**Canva**: «cnv¦ca8tBNbi83nvrk3mJGlTSmdfWIohBogv5Sd4WoSwReJ0lH6K_CdAo»",
        ],
        kept: &[
            "The sample has cnvcaxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, which is \
             no real one.",
            "/^cnvca[A-Za-z0-9]+$/",
            "cnvcam0E47E is too short for Canva.",
        ],
        ..MARKED
    },
    // Three markers stand inside; the last is the rarest in other text.
    Rule {
        kind: "rapidapi",
        what: "RapidAPI key",
        literals: &["jsn"],
        finder: around(
            "[a-z0-9]{10}msh[a-z0-9]{15}p1[a-z0-9]{5,7}jsn[a-z0-9]{12}",
            37,
            15,
            Tail::Exact,
        ),
        found: &[
            "44fh¦fi57jamshyi7si5xwcunttsbp1ehw9ekxjsnjmp7ma0mhou3",
            "- name: RAPIDAPI\n  value: «ivv¦ac4vxxymshdvxxxju9uwiidrep139je1tajsntn2rbe8h6syw»",
            "Memo: «63¦bsqtoqplmshi5sybv8eixtopvfp1oco3axjsn88xmdrrcapvm» (from RapidAPI, made \
             in spring)",
        ],
        kept: &[
            "xxxxxxxxxxmshxxxxxxxxxxxxxxxp1xxxxxjsnxxxxxxxxxxxx",
            "What RapidAPI hands out begins with jsn these days.",
            "The jsn and msh parts are fixed.",
        ],
        ..MARKED
    },
    Rule {
        kind: "valtown-token",
        what: "Val Town API token",
        severity: Severity::Medium,
        literals: &["vtwn_"],
        finder: shape("vtwn_[A-Za-z0-9_-]{20}", 25),
        checks: &[Check::Digit],
        found: &[
            "vtwn¦_Cc8xWx8HPGoOH92mzieEuMdL9TU",
            "  VALTOWN_TOKEN: «vtwn¦_NA2WOApO-aQCmBojizRMgpvhqOp»\n  REPLICAS: 2",
            "> «vt¦wn_x2z-DjIAUuLztG1XHBNc2fJcIlz»\n\nwas in the ticket.",
        ],
        kept: &[
            "valtown_token: \"vtwn_…\"",
            "Strings with vtwn_ are new, the others are old.",
            "Only vtwn_VZdOc was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "dub-key",
        what: "Dub API key",
        severity: Severity::Medium,
        literals: &["dub_"],
        finder: shape("dub_[A-Za-z0-9]{24}", 28),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "dub¦_XlEGrOpDxz6Mq061OtgldShW",
            "dubKey := \"«du¦b_3t2J0tF3le9bY8061VGeCAH2»\" // see the wiki",
            "The one for Dub is `«du¦b_Pl92NU4lnAV599wGysCKmYf1»`.",
        ],
        kept: &[
            "`dub_xxxxxxxxxxxxxxxxxxxxxxxx` in the docs",
            "The linter looks for `dub_` at the start of a word.",
            "The console shows only dub_wL7h… of it.",
        ],
        ..MARKED
    },
];
