//! Bare values of analytics.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "segment-key",
        what: "Segment write key",
        severity: Severity::Medium,
        keywords: &["segment", "segmentio"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "segment_key=\"«70M¦G58EfYfQhUpzK2NS9ukUb7bEfCJOA»\"",
            "the key (Segment) → «bh¦3IXZbL2yILQnHVZ9IAqNAlxTQCL8pj»",
            "- Segment key «d3u¦uv19z09iW2jNUchlGmApo0S9LEAxe»",
        ],
        kept: &[
            "The recording m1O0ShP3bm7Y7HRrYCaU0at5G5KqyROy.wav is in the archive.",
            "Segment was down from 10:00 to 10:20 on 2024-03-20.",
            "Segment key: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "mixpanel-secret",
        what: "Mixpanel API secret",
        severity: Severity::Medium,
        keywords: &["mixpanel"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "MIXPANEL_SECRET = '«e2¦b9a9b0aca18cd97ccd9f562aa1c48c»'",
            "Mixpanel: secret \"«57¦09024d6c0b0a11f23c741f9771b54f»\"",
            "Mixpanel secret = «30¦3d483cf2daf00a1a26cd457ba54073», in the vault since June",
        ],
        kept: &[
            "md5sum: f140cbbcd86f6e065bb109176a3b1bdc  backup.tar",
            "The Mixpanel page 4406 shows the numbers.",
            "mixpanel_secret: 1234567890abcdef1234567890abcdef",
        ],
        ..KEYED
    },
    Rule {
        kind: "amplitude-key",
        what: "Amplitude API or secret key",
        severity: Severity::Medium,
        keywords: &["amplitude"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "export AMPLITUDE_KEY=«5a1¦77a65884905ad49f33a46599efbe2»",
            "Amplitude 的 secret 是 «6f5¦d912c4858795ea5d797dbc81cab61»。",
            "For Amplitude we use the secret «5f7¦f75435fb3aba04a492300aa771389», valid until \
             May.",
        ],
        kept: &[
            "The blob af90a2e349403e25e8dc96e78ddad7bc is a test image.",
            "Our Amplitude contract ends on 2025-11-17.",
            "Where do I find the Amplitude secret?",
        ],
        ..KEYED
    },
    Rule {
        kind: "rudderstack-key",
        what: "RudderStack write key",
        severity: Severity::Medium,
        keywords: &["rudder", "rudderstack"],
        finder: bare("[A-Za-z0-9]{27}", 27),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "RUDDERSTACK_KEY=«11f0¦p9wuAZsKPELN3bPi1WDlNHD»",
            "The RudderStack key «as1¦rwcnXTjLZusNDUWWjUnHCC7M» is new.",
            "| RudderStack key | «dMpT¦BqyB8cLIPAzomL4Xv48JNL3» | ops |",
        ],
        kept: &[
            "The folder ZdLzSwnc5HCh6rc6XbzHdi3uaPF can go.",
            "I like RudderStack, but the limits are tight.",
            "the RudderStack key lives in rudderstack_key.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "tableau-token",
        what: "Tableau personal access token",
        keywords: &["tableau"],
        finder: bare("[A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}", 57),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "tableauToken: «b3¦cyoDSTwLZ2iqpHfR1ls+==:CcD0sfaioir8b4CZsrWww6nMJx4GC9E9»",
            "remember the Tableau token «PRTD¦iqK4AzfiQRxf01p4Mp==:Zrr7fYZXYPJvi2xqqgAvimNH7LYy\
             bmRX»",
            "The token of the Tableau account was «8vi¦pF+4NiyXVOEuZZ3w/AM==:TPoMGqOfzlCaJAKPB2\
             vw5rOdBw6B8wfr», says Jo.",
        ],
        kept: &[
            "Build mu3pojvoZbNzEKuYLrZJp8==:eQqLG8hSc1QPVR1O48SRvOEGpA8ug7PD passed.",
            "The Tableau plugin at 0b091f5920b49cb5ccde1106c824b1aa5d5f54e5 fails on Windows.",
            "os.environ[\"TABLEAU_TOKEN\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "redash-key",
        what: "Redash API key",
        keywords: &["redash"],
        finder: bare("[A-Za-z0-9]{40}", 40),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "* redash_key: `«f7Ms¦4vmD3iriwdGl7GudeoY0juezXzPv86FSZ5PX»`",
            "**Redash key**: `«lq¦MBps1b5TseK0pYaxsvaX7Dwo5BYqxqy65D8jt7»`",
            "Jo sent the Redash key by mail: «YKy¦mKEz3Nk5oqAs9YpLCgFGdObfgLMeZj63Ok1mS»",
        ],
        kept: &[
            "Parcel Lhb16ryb48XyH9lyw9fKLJjkpA42LcLMwbGxgyvz arrived.",
            "The Redash invoice 8014 came to 49 EUR.",
            "REDASH_KEY=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "looker-secret",
        what: "Looker client secret",
        keywords: &["looker"],
        finder: bare("[a-z0-9]{24}", 24),
        checks: &[Check::Digit, Check::Random],
        found: &[
            "# Looker\nLOOKER_SECRET=«g9j7¦zl34aqimtejwsr76wyew»",
            "Copy the Looker client secret <«ko¦l6tw41s6ou0m0yu2n6n2x2»> to the phone.",
            "My Looker client secret («ng0e¦xxqi24tdmjqp814r37r4») was rotated.",
        ],
        kept: &[
            "Part 0jmjxxpddoob50mk5gijd2fy is out of stock.",
            "Jo set up Looker in room 17.",
            "process.env.LOOKER_SECRET",
        ],
        ..KEYED
    },
];
