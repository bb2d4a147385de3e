//! Addresses that do something for whoever knows them.

use super::{MARKED, around, shape};
use crate::redact::rule::{Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "zapier-webhook",
        what: "Zapier webhook",
        severity: Severity::Medium,
        literals: &["hooks.zapier.com/hooks/catch/"],
        finder: shape(
            r"hooks\.zapier\.com/hooks/catch/([0-9]{4,10}/[a-z0-9]{6})",
            46,
        ),
        found: &[
            "https://hooks.zapier.com/hooks/catch/«73¦730/9u847yl»/",
            "hook: https://hooks.zapier.com/hooks/catch/«02¦01/ga8twue»",
            "We call https://hooks.zapier.com/hooks/catch/«602¦0/oqkj7k9», which writes the \
             sheet.",
        ],
        kept: &[
            "ZAPIER_WEBHOOK=%ZAPIER_WEBHOOK%",
            "The linter looks for `hooks.zapier.com/hooks/catch/` at the start of a word.",
            "typed hooks.zapier.com/hooks/catch/lnI, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "make-webhook",
        what: "Make webhook",
        severity: Severity::Medium,
        literals: &[".make.com/"],
        finder: around(
            r"hook\.[a-z0-9.]{2,12}\.make\.com/([a-z0-9]{32})",
            20,
            42,
            Tail::Word,
        ),
        found: &[
            "https://hook.eu1.make.com/«81n¦795ftkosd9nfqtf4t9r0clsfl9ccq»",
            "make_hook: https://hook.eu1.make.com/«o2¦fa64fb4kseba31t2441oo906temr1b»",
            "See https://hook.eu1.make.com/«8k¦rsdde05al0k9dnnp43p2s2sm397epm». Do not call it \
             by hand.",
        ],
        kept: &[
            "Put yours here: hook.xx.make.com/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "What does .make.com/ stand for?",
            "It ended up as .make.com/F4MeK... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "ifttt-key",
        what: "IFTTT webhook key",
        severity: Severity::Medium,
        literals: &["maker.ifttt.com/"],
        finder: shape(
            r"maker\.ifttt\.com/(?:trigger/[A-Za-z0-9_]{1,64}(?:/json)?/with/key|use)/([A-Za-z0-9_-]{22})",
            125,
        ),
        found: &[
            "https://maker.ifttt.com/trigger/door/with/key/«ZgFG¦z7UJdYaADVlqJ6GRpL»",
            "curl -X POST https://maker.ifttt.com/trigger/door/with/key/«7JY¦4o4kBW5YyrhGIdTTuH\
             Z»",
            "The lamp listens at https://maker.ifttt.com/trigger/door/with/key/«5EqL¦R0ZemYDRid\
             Iipurczy».",
        ],
        kept: &[
            "process.env.IFTTT_KEY",
            "`maker.ifttt.com/` is how IFTTT marks its own.",
            "typed maker.ifttt.com/NN2iU, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "tines-webhook",
        what: "Tines webhook",
        severity: Severity::Medium,
        literals: &[".tines.com/webhook/"],
        finder: around(
            r"[A-Za-z0-9_-]{1,40}\.tines\.com/webhook/([a-z0-9]{32}/[a-z0-9]{32})",
            40,
            84,
            Tail::Word,
        ),
        found: &[
            "https://acme-ops.tines.com/webhook/«fb¦c09991f82fff144633506494125b24/413aebaeed88\
             b9ef45c4a13f5ec695cb»",
            "url = \"https://acme-ops.tines.com/webhook/«13¦f273603213e693ba0b7e4bf8fd2492/962d\
             5bf1f060af31ab97dd9996997235»\"",
            "Alarms go to https://acme-ops.tines.com/webhook/«b45¦e3c3c3c48e3108f0825b9d1773184\
             /0ace8cef11bb5b2be7fd72d2da1767ac», then to us.",
        ],
        kept: &[
            "`x.tines.com/webhook/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/xxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxx` in the docs",
            "return s.startsWith('.tines.com/webhook/');",
            "Only .tines.com/webhook/suRi5l was left of it.",
        ],
        ..MARKED
    },
];
