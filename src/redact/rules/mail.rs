//! Mail and campaigns.

use super::{MARKED, around, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "sendgrid-key",
        what: "SendGrid API key",
        literals: &["SG."],
        finder: shape(r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39}", 67),
        checks: &[Check::Digit],
        found: &[
            "SG¦.R4swp3YHGed6bkSVCrNFbQ.jewPjxlPJn8rFsc23Ds7lUOA6dC7BQSkDrUDl6U6qB8",
            "echo '«SG¦.oQTdl3Scw6BcsPLvtk5ybu.TSyyRdV2sFmXg4qvOphmnv6FDV7eWOw7x167S33oJZu»' > \
             /run/sendgrid-key",
            "Found «SG¦.p6aq5w8hC5F9BkHZDfVv83.6XxHm0upo2QfXZlVFVsPwoLG6G9NQs86w1OoONvr0ub»! \
             Please have it revoked.",
        ],
        kept: &[
            "SG.... goes here",
            "We filter on SG. (that is SendGrid).",
            "Masked: SG.Moq****",
        ],
        ..MARKED
    },
    Rule {
        kind: "mailgun-key",
        what: "Mailgun API key",
        literals: &["key-"],
        finder: tailed("key-[a-f0-9]{32}", 36, Tail::Exact),
        found: &[
            "key¦-18d85ff0db4575ec4c6cd252cd475927",
            "deploy --mailgun-key «key¦-18f29ef66f6382fcda50591c95fff9ae» --verbose",
            "Mailgun (staging): «ke¦y-3090b2be797e49803ef04b99443abe40»;",
        ],
        kept: &[
            "MAILGUN_KEY={{ mailgun_key }}",
            "Strings with key- are new, the others are old.",
            "pubkey-3ax6xnjp29jd6fds4gc373sgvjxteol0 is for checking addresses.",
        ],
        ..MARKED
    },
    // The data centre stands at the end.
    Rule {
        kind: "mailchimp-key",
        what: "Mailchimp API key",
        literals: &[
            "-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9",
        ],
        finder: around("[a-f0-9]{32}-us[0-9]{1,2}", 32, 5, Tail::Exact),
        found: &[
            "57¦68bbed7ca7fe12075799f86dddabb4-us3",
            "  - MAILCHIMP_KEY=«cf6¦8ee8a07b0775aa1e2e3e6a3508adf-us70»",
            "cat .env showed \"«4518¦2076df174c6757d6726135f6c573-us32»\".",
        ],
        kept: &[
            "os.environ[\"MAILCHIMP_KEY\"]",
            "The -us ones belong to Mailchimp, ask them.",
            "In the mail I could read -usb03d and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "brevo-key",
        what: "Brevo API key",
        literals: &["xkeysib-"],
        finder: shape("xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}", 89),
        found: &[
            "xkey¦sib-fba562620b97901df5965f3bc1adef72d5d29f14a9f7f0b8b86e85c6aea478a1-vVE9WhoQ\
             9OHfrWmz",
            "brevo_key=«xke¦ysib-abcf2960412a9be1ade63fe60f752b28a845667de7a20d192329fa52f392d9\
             59-Caqu8opKyM8jKeyL»&page=2",
            "Please do not share «xk¦eysib-432982db4a23b83f2eb22d4fc594d9cd2760c9de0f9ba9431f36\
             13b506f77fbc-cQmGoJEP6GEm07Ny».",
        ],
        kept: &[
            "BREVO_KEY=<your Brevo value>",
            "They renamed xkeysib- twice at Brevo.",
            "The screenshot ends at xkeysib-46c12",
        ],
        ..MARKED
    },
    Rule {
        kind: "brevo-smtp",
        what: "Brevo SMTP key",
        literals: &["xsmtpsib-"],
        finder: shape("xsmtpsib-[a-f0-9]{64}-[A-Za-z0-9]{16}", 90),
        found: &[
            "xsm¦tpsib-783022da4ef4adc589ce0e059bcc58e5a7ffe4b8f2f8313456d2341140e434b5-nSxlAcy\
             xhl69Nsi6",
            "BREVO_SMTP=«xsm¦tpsib-6940b360356a70b8e9a6364b7c2f8e64716f0cf0438fbb367f00a20528e0\
             0541-BWRrCNkEWyZRGwQj»",
            "at 10:42 the proxy logged «xs¦mtpsib-f117c3b4408a6464af1bb76a54c78dc3d2fba3dc0166f\
             0fe4e0c58a2b501360f-m6lOtpNc9vLTUjoG»|200|/v1/items",
        ],
        kept: &[
            "xsmtpsib-1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef-xxxxxxxx\
             xxxxxxxx",
            "What Brevo hands out begins with xsmtpsib- these days.",
            "Brevo prints xsmtpsib-2bf*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "mailersend",
        what: "MailerSend API token",
        literals: &["mlsn."],
        finder: shape(r"mlsn\.[A-Za-z0-9]{30}", 35),
        found: &[
            "mls¦n.s9j9TfebyHYK11RiMFHClknmTVQTW6Oszk39pdKOAxZR4NaFKCKvVFgMnnSOcv13",
            "{\"mailersend\": \"«mlsn¦.8oJUpBMlgJ5GBvAd9ErJzMlAOJe0NKlQuYRRCN6uNq9KhoOkMfh0LWAs\
             FWWFhxhM»\", \"retries\": 3}",
            "\"«mls¦n.wajRyKl3cWWKTwAPnuiFGTvJxrrfEbbeJva1f5E3hP7WHiRNHOMkZxNZSkiNBmox»\" is \
             what MailerSend sent back.",
        ],
        kept: &[
            "MAILERSEND=\"mlsn.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"  # replace me",
            "case mlsn.*) echo MailerSend ;;",
            "MailerSend answers: bad value mlsn.HwzyR…",
        ],
        ..MARKED
    },
    Rule {
        kind: "resend-key",
        what: "Resend API key",
        literals: &["re_"],
        finder: shape("re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20}", 32),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "re¦_gob6oK6O_mE5E1gk5gK9Ps7T7CA6aajoP",
            "  RESEND_KEY: «re¦_wmEoB2cx_VUXE0gJ8vfgMC7kXimBJ2iea»\n  REPLICAS: 2",
            "That was «re¦_zDjxn4S0_YlWvXxaicthxW3ABKZPpvMxf», as far as I remember.",
        ],
        kept: &[
            "RESEND_KEY=${RESEND_KEY}",
            "if value.starts_with(\"re_\") { return Some(Vendor::Known); }",
            "It ended up as re_TD7PM... in the report.",
        ],
        ..MARKED
    },
    // In spite of its prefix it is the private one.
    Rule {
        kind: "klaviyo-key",
        what: "Klaviyo private API key",
        literals: &["pk_"],
        finder: tailed("pk_[a-f0-9]{34}", 37, Tail::Exact),
        found: &[
            "pk¦_8134d6ebca0be2587537f9b930f8bd685f",
            "set -x KLAVIYO_KEY «pk¦_3e9f4fdb6e8cf7c50d72f6c5cfb8781235»",
            "We use two at Klaviyo: «pk¦_4a0c70c1d93864c653dc13856098477975», and one more for \
             tests.",
        ],
        kept: &[
            "The README says pk_1234567890abcdef1234567890abcdef12.",
            "Is the part after pk_ random?",
            "The list had pk_fd963 (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "smtp2go-key",
        what: "SMTP2GO API key",
        literals: &["api-"],
        finder: tailed("api-[A-F0-9]{32}", 36, Tail::Exact),
        found: &[
            "api¦-B0498D5D713568DA7485E8C8F7C87D33",
            "    smtp2go_key: «api¦-421C7366308104802922090B7309B117»",
            "Der Schlüssel lautet «api¦-670798013F0FCB3EB45D3ACBA68E0515», gültig bis Ende \
             Juli.",
        ],
        kept: &[
            "e.g. api-1234567890ABCDEF1234567890ABCDEF",
            "Nothing in the dump has api- in it.",
            "The console shows only api-4g9A… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "kit-key",
        what: "Kit API key (v4)",
        severity: Severity::Medium,
        literals: &["kit_"],
        finder: tailed("kit_[a-f0-9]{32}", 36, Tail::Exact),
        found: &[
            "ki¦t_bf9c73d904539bc55fa69edcc11f2b58",
            "- name: KIT_KEY\n  value: «kit¦_72c714d730b316575536c5e02879bfe0»",
            "Use «kit¦_a39e3cdcc2b71d5806efca2bd1816754». It works from the office too.",
        ],
        kept: &[
            "The sample has kit_1234567890abcdef1234567890abcdef, which is no real one.",
            "| Kit | `kit_` | prefix |",
            "kit_a6b6 is too short for Kit.",
        ],
        ..MARKED
    },
    Rule {
        kind: "mandrill-md-key",
        what: "Mandrill API key (new form)",
        literals: &["md-"],
        finder: tailed("md-[A-Za-z0-9_-]{22}", 25, Tail::Exact),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "md¦-O9a2fzy34Li7n5E3jQR9l9",
            "\"mandrill_md_key\": \"«md¦-HaBaYp7t8aIpapBQ2m4CU8»\",",
            "1. Copy «md¦-9PPplPM1UtKIDFFewtl1Tl»\n2. Open Mandrill\n3. Paste it",
        ],
        kept: &[
            "mandrill_md_key: md-xxxxxxxxxxxxxxxxxxxxxx",
            "Mandrill documents the md- prefix.",
            "Row 7: md-cr5…",
        ],
        ..MARKED
    },
    Rule {
        kind: "nylas-key",
        what: "Nylas API key",
        literals: &["nyk_v0_"],
        finder: shape("nyk_v0_[A-Za-z0-9]{64}", 71),
        found: &[
            "ny¦k_v0_c7fxFxrGUxPqSZEmt1TVl0YyMYCJYGtLbRbVAWjphbHSe6rN5A1uYNtygKfGz5nQ",
            "| Nylas | `«nyk¦_v0_NVkvP3ExJxDbAhjeO7RoqS5Xj1ezF5O0i4h5Gfo0R8XsBH0PylPkNH6XGMcaFD\
             R3»` | staging |",
            "请用 «nyk_¦v0_l6gL4kpEO4L2nhjnbPplbhp92Rjv5HEmUVECozi20mhDIQ9DtqhPL7j4uunL39c5»。",
        ],
        kept: &[
            "The README says nyk_v0_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxx.",
            "# nyk_v0_ -> Nylas",
            "typed nyk_v0_rVwP, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "closecrm-key",
        what: "Close API key",
        literals: &["api_"],
        finder: tailed(r"api_[A-Za-z0-9]{22}\.[A-Za-z0-9]{22}", 49, Tail::Exact),
        found: &[
            "ap¦i_LuYbyNvj4MJKrqkQKZThkD.0HKOvZ4y6NI44PAShReu7p",
            "$env:CLOSECRM_KEY = \"«api¦_AgsUaAZOWOvEaHieZn1lDS.Lgmyw43AlKCgcrjXES6PVd»\"",
            "Close 的密钥是 «api¦_L3bEJPZOv3nOXREJIdcqNa.Eq8Eiz4dguWveDFNI7nTfE»，请勿外传。",
        ],
        kept: &[
            "`api_xxxxxxxxxxxxxxxxxxxxxx.xxxxxxxxxxxxxxxxxxxxxx` in the docs",
            "Everything from api_ on is cut by the console.",
            "api_fY8Wf6 is too short for Close.",
        ],
        ..MARKED
    },
    Rule {
        kind: "salesblink-key",
        what: "SalesBlink API key",
        severity: Severity::Medium,
        literals: &["key-"],
        finder: tailed("key-[A-Za-z0-9]{64}", 68, Tail::Exact),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "ke¦y-BvCoJVJ9b0OQ7CtLQmoxhnnpf9pXM4uMEaMSjmGBebEdrMgHIZmTeRj06zFwBZ8Z",
            "with:\n  salesblink-key: «key¦-TKq3uYcZQRwy2h9FxLOc1k9JXyalSWPJd5gGGqkPMEuEBK46kWG\
             GVBY1R8QCpYLv»",
            "I pasted «key¦-gr0xlRkw7KH2gKI1umFOcip9GMIwJ2WOlVgVkxo8BeAL9WjeatyHPdgmK3grnIUu», \
             then the call went through.",
        ],
        kept: &[
            "Put yours here: key-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xx",
            "SalesBlink: the ones with key-",
            "The screenshot ends at key-gdjn",
        ],
        ..MARKED
    },
    Rule {
        kind: "gc-notify-key",
        what: "GC Notify API key",
        literals: &["gcntfy-"],
        finder: shape(
            "gcntfy-[a-z0-9_-]{1,60}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            141,
        ),
        found: &[
            "gcnt¦fy-ops-4e620d4a-f4b0-d588-756e-1475e95fb8f9-5295d4ae-e282-bf04-525d-2cc4c1cf6\
             c55",
            "* GC_NOTIFY_KEY: `«gc¦ntfy-ops-c68aa474-d236-b234-7dd7-6989ccdea5e1-8ad3b8a0-3674-\
             0b47-cab6-7618e99273eb»`",
            "**GC Notify**: «gc¦ntfy-ops-76aa1c02-980a-3331-be00-e5094560839d-fcc3cfcb-e38c-fe3\
             a-c923-7ee961d196b7»",
        ],
        kept: &[
            "GC_NOTIFY_KEY=gcntfy-x-12345678-1234-1234-1234-1234567890ab-12345678-1234-1234-123\
             4-1234567890ab",
            "What GC Notify hands out begins with gcntfy- these days.",
            "Only gcntfy-11c7c was left of it.",
        ],
        ..MARKED
    },
];
