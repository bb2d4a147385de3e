//! Build pipelines and their servers.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "inngest-key",
        what: "Inngest signing key",
        literals: &["signkey-"],
        finder: shape("signkey-(?:prod|test|branch|dev)-[a-f0-9]{32}", 47),
        found: &[
            "sig¦nkey-test-cc53dd3b2802641c562b3ba2cbf8a9773e04de9d69c615e04d5ba3f69df4e92a",
            "[default]\ninngest_key = «sig¦nkey-dev-1bcf64a5f3395e4de893946983f6271bd9d07a46842\
             924ee8497ef60907b6f32»\nregion = north",
            "Set it to «sign¦key-prod-3f9096efe574ba2c4f57e24208e762ab589f44fa4abcf743cb6690957\
             d59681f»; then restart the worker.",
        ],
        kept: &[
            "INNGEST_KEY=signkey-prod-1234567890abcdef1234567890abcdef",
            "case signkey-*) echo Inngest ;;",
            "It ended up as signkey-fb24... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "triggerdev-key",
        what: "Trigger.dev secret key or access token",
        literals: &["tr_dev_", "tr_prod_", "tr_stg_", "tr_preview_", "tr_pat_"],
        finder: shape("tr_(?:dev|prod|stg|preview|pat)_[A-Za-z0-9]{20}", 31),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "tr¦_stg_Ux1dAZsZpsry3XHRQZiI",
            "triggerdev-key = \"«tr_¦preview_jxOMk7OjPy0vkw4N4u0H»\"",
            "Please do not share «tr_¦stg_jEWYD5Z8dXIouIH64O3i».",
        ],
        kept: &[
            "TRIGGERDEV_KEY=<your Trigger.dev value>",
            "Trigger.dev: the ones with tr_dev_",
            "Trigger.dev answers: bad value tr_dev_jzum…",
        ],
        ..MARKED
    },
    Rule {
        kind: "truffle-enterprise",
        what: "TruffleHog Enterprise key or secret",
        severity: Severity::Medium,
        literals: &["thog-key-", "thog-secret-"],
        finder: shape("thog-(?:key|secret)-[a-f0-9]{16}", 28),
        found: &[
            "thog¦-secret-0c098a13d94aa684c8cbece4b63ef77b",
            "deploy --truffle-enterprise «th¦og-secret-3e3732aa6e2f0d69ed95743cf36f1d95» \
             --verbose",
            "I pasted «th¦og-secret-1122257dfa337a9832c08a1ceb58a96f», then the call went \
             through.",
        ],
        kept: &[
            "truffle_enterprise: thog-key-1234567890abcdef",
            "Strings with thog-key- are new, the others are old.",
            "The list had thog-key-de0890 (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "workato-token",
        what: "Workato developer API token",
        literals: &["wrka"],
        finder: shape(
            r"wrka(?:[a-z]{2})?-eyJ[A-Za-z0-9_-]{8,400}\.[A-Za-z0-9_-]{16,900}\.[A-Za-z0-9_-]{64}",
            1376,
        ),
        found: &[
            "wrk¦aeu-eyJ8ZjwMEYO1ZpSH0SU3fEj.HvMD8UD154sPA5dRnjBVJdWQLvlDF4H3r8TXUQwdgIV7zyx8gp\
             w11IskJqWk.aU9hFqnzzQHHRsXabox6MjpJtkMazwKmVlYGVxowNSCKZlV91SvOcd9EDwgHIMK5wK1ygvZ\
             NlCsoFoQ8Mc6WIL",
            "workatoToken := \"«wr¦kaeu-eyJX71df9ylUalCuUdxAj6i.rkZqnyD1o312Ct1AU8OdnLj3EVAZp4q\
             FfpgPkGOXjf6s2Pp04UROv9PvMhZ9.wWs9Qd64ExLT4zXXHb4fIww4NTe8q0Qni8R2y4kESY749ccTVcXC\
             a96Nc4iMhFiqxV29o03vhWFodr2APDO4Ft»\" // see the wiki",
            "Found «wr¦kaeu-eyJGdVoANDzivoVzOezIdII.ipN7cqkSc01k9QGCwjXBpmGqAT4jPY1iu01C6tmpKID\
             7yTREdYGbW7lZBTjY.rFYPV7cFoaNDxAwzf5GwndBMG7nbd3ORRfl1WJ2TZlAjjUWh48MMdATLTK3xFLE4\
             6Etv3Y90Ksv49Dzt3Tv7Kw»! Please have it revoked.",
        ],
        kept: &[
            "The README says wrka-eyJxxxxxxxx.xxxxxxxxxxxxxxxx.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.",
            "Nothing in the dump has wrka in it.",
            "wrkaAKQ5E is too short for Workato.",
        ],
        ..MARKED
    },
    // Jenkins writes what it has encrypted between braces; the key to it lies beside the file.
    Rule {
        kind: "jenkins-credential",
        what: "Credential in the XML of Jenkins",
        literals: &[
            "<secret>{",
            "<secretKey>{",
            "<secretBytes>{",
            "<password>{",
            "<passphrase>{",
            "<privateKey>{",
            "<apiToken>{",
        ],
        finder: tailed(
            r"<(?:secret|secretKey|secretBytes|password|passphrase|privateKey|apiToken)>\{([A-Za-z0-9+/]{16})",
            40,
            Tail::Base64,
        ),
        checks: &[Check::Digit],
        found: &[
            "<secret>{«AQA¦AABAAAAAQqm3V8hP0sZt7LwKx2Rc9Yd4NfT6uEjGb1oAi5vXk=»}</secret>",
            "      <password>{«AQA¦AABAAAAAwLk2pX9vQ7tR4mZ8cB1nY6dH3sF5gJ0wE»}</password>\n",
            "<id>deploy</id>\n<passphrase>{«AQA¦AABAAAAAgZx8Rk3Wm6Tq1Vn9Lp4==»}</passphrase>",
        ],
        kept: &[
            "<secret>{}</secret>",
            "<secret>{token}</secret>",
            "<password>{this.props.password}</password>",
        ],
        ..MARKED
    },
];
