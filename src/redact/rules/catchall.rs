//! Vendors that no other rule knows, by the words between their delimiters.

use super::{MARKED, around};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    // Weak on its own, so what follows must look random; the first eight hold no joiner, as
    // names in code do. `pk_` and `cs_` name public values of Stripe's.
    Rule {
        kind: "vendor-marker-catchall",
        what: "A vendor's token with a marker word inside",
        severity: Severity::Medium,
        literals: &[
            "_live_", "_prod_", "_test_", "_secret_", "_sk_", "_pat_", "_tok_", "_key_", "_api_",
            "_token_", "_auth_", "-live-", "-prod-", "-test-", "-secret-", "-sk-", "-pat-",
            "-tok-", "-key-", "-api-", "-token-", "-auth-", ".live.", ".prod.", ".test.",
            ".secret.", ".sk.", ".pat.", ".tok.", ".key.", ".api.", ".token.", ".auth.",
        ],
        finder: around(
            "(?:[A-Zabd-oq-z][A-Za-z0-9]|c[A-Za-rt-z0-9]|p[A-Za-jl-z0-9]|(?:cs|pk)[A-Za-z0-9])[A-Za-z0-9]{0,14}[_.-](?:live|prod|test|secret|sk|pat|tok|key|api|token|auth)[_.-][A-Za-z0-9]{8}[A-Za-z0-9_-]{16}",
            17,
            32,
            Tail::Word,
        ),
        checks: &[Check::Random, Check::Digit],
        found: &[
            "zeph¦yr-secret-3zRBGSV4ZCHGVvYJ4spO4bGQJnT4II",
            "ARG VENDOR_MARKER_CATCHALL=\"«kes¦trel.tok.Nijy1XutYspK7vXhKTs9YH8gs6uq84»\"",
            "The one for Acme is `«kes¦trel.tok.491an9yt9pyRa0DTTgPLdMNtjtT12c»`.",
        ],
        kept: &[
            "cp .env.sample .env  # VENDOR_MARKER_CATCHALL=xx_live_xxxxxxxxxxxxxxxxxxxxxxxx",
            "Is the part after acme_live_ random?",
            "my_secret_santa_list_for_the_whole_team",
            "run_test_integration_with_database_2",
            "AGENT_api_documentation_generator_v2_final",
            "pk_live_6sJ0vQw8rT3UiOpA5DfGhJkLzX is public",
        ],
        ..MARKED
    },
];
