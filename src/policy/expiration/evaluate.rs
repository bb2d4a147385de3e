//! The policy's decision on one memory: the part of the policy that decides, and the expiry time.

use chrono::{DateTime, Utc};

use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::policy::expiration::{
    Expiration, ExpirationRule, Lifetime, RuleFor, RuleWhen, SweepMax, Then, TimeSpan,
};
use crate::redact::Glob;

/// The part of the policy that decides about a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecidedBy {
    /// A glob in `keep`, by its position in the list, counted from 1.
    Keep(usize),
    /// A rule, by its position in `[[expiration.rules]]`, counted from 1.
    Rule(usize),
    /// The table itself.
    Table,
}

/// The policy's decision on one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpiryDecision {
    /// The part of the policy that decides.
    pub by: DecidedBy,
    /// The rule of expiry and the resulting time; `None` is never.
    pub expires: Option<(RuleWhen, DateTime<Utc>)>,
    /// How long it can be restored after a sweep has removed it.
    pub grace: TimeSpan,
    /// The action after that time.
    pub then: Then,
}

impl ExpiryDecision {
    /// Tells whether a removed memory is finally erased. A memory that matches a `keep` glob by now
    /// is not, because an erasure cannot be undone.
    pub(crate) fn erases(&self) -> bool {
        self.then == Then::Erase && !matches!(self.by, DecidedBy::Keep(_))
    }
}

/// The table with its globs compiled.
pub(crate) struct ExpirationRules {
    table: Expiration,
    keep: Vec<Glob>,
    /// An entry for each rule; `None` for a rule about one memory.
    globs: Vec<Option<Glob>>,
}

impl ExpirationRules {
    pub(crate) fn of(table: &Expiration) -> crate::error::Result<Self> {
        let glob = |rule: &ExpirationRule| match &rule.of {
            RuleFor::Path(glob) => Glob::parse(glob).map(Some),
            RuleFor::Memory(_) => Ok(None),
        };
        let keep = table.keep.iter().map(|glob| Glob::parse(glob));
        Ok(Self {
            keep: keep.collect::<Result<_, _>>()?,
            globs: table.rules.iter().map(glob).collect::<Result<_, _>>()?,
            table: table.clone(),
        })
    }

    /// Tells whether nothing ever expires.
    pub(crate) fn is_empty(&self) -> bool {
        self.table.rules.is_empty() && self.table.unaccessed_for.is_never()
    }

    /// Returns a time: no memory that was accessed after it has expired by `now`, whatever its path.
    /// `None` if a rule names a date that has come, because then the last access does not tell.
    pub(crate) fn accessed_if_expired(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let rules = self.table.rules.iter().map(|rule| rule.when);
        let whens = rules.chain([RuleWhen::UnaccessedFor(self.table.unaccessed_for)]);
        let mut last = DateTime::<Utc>::MIN_UTC;
        for when in whens {
            match when {
                RuleWhen::At(at) if at <= now => return None,
                RuleWhen::At(_) | RuleWhen::UnaccessedFor(Lifetime::Never) => {}
                RuleWhen::UnaccessedFor(Lifetime::For(window)) => {
                    last = last.max(now.checked_sub_signed(window.delta()).unwrap_or(last));
                }
            }
        }
        Some(last)
    }

    /// Tells whether anything may be erased.
    pub(crate) fn may_erase(&self) -> bool {
        let mut own = self.table.rules.iter().filter_map(|rule| rule.then);
        self.table.then == Then::Erase || own.any(|then| then == Then::Erase)
    }

    pub(crate) fn sweep_max(&self) -> SweepMax {
        self.table.sweep_max
    }

    /// Returns the decision on a memory with this last access.
    pub(crate) fn evaluate(
        &self,
        id: MemoryId,
        path: &MemoryPath,
        accessed: DateTime<Utc>,
    ) -> ExpiryDecision {
        let table = &self.table;
        let ruling = |by, when, grace: Option<TimeSpan>, then: Option<Then>| ExpiryDecision {
            by,
            expires: match when {
                RuleWhen::UnaccessedFor(Lifetime::Never) => None,
                // A time beyond all dates never comes.
                RuleWhen::UnaccessedFor(Lifetime::For(window)) => accessed
                    .checked_add_signed(window.delta())
                    .map(|at| (when, at)),
                RuleWhen::At(at) => Some((when, at)),
            },
            grace: grace.unwrap_or(table.grace),
            then: then.unwrap_or(table.then),
        };
        let never = RuleWhen::UnaccessedFor(Lifetime::Never);
        if let Some(kept) = self.keep.iter().position(|glob| glob.fits(path.as_str())) {
            return ruling(DecidedBy::Keep(kept + 1), never, None, None);
        }
        let fits = |(rule, glob): &(&ExpirationRule, &Option<Glob>)| match (&rule.of, glob) {
            (RuleFor::Memory(own), _) => *own == id,
            (RuleFor::Path(_), glob) => glob.as_ref().is_some_and(|glob| glob.fits(path.as_str())),
        };
        let mut rules = table.rules.iter().zip(&self.globs).enumerate();
        match rules.find(|(_, rule)| fits(rule)) {
            Some((at, (rule, _))) => {
                ruling(DecidedBy::Rule(at + 1), rule.when, rule.grace, rule.then)
            }
            None => ruling(
                DecidedBy::Table,
                RuleWhen::UnaccessedFor(table.unaccessed_for),
                None,
                None,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    const NAMES: [&str; 4] = ["tmp", "a.md", "b", "é"];

    /// Matches a glob of whole segments, `*` and `**` by the definition.
    fn fits(glob: &[&str], names: &[&str]) -> bool {
        match glob {
            [] => names.is_empty(),
            ["**"] => !names.is_empty(),
            ["**", rest @ ..] => (0..=names.len()).any(|taken| fits(rest, &names[taken..])),
            ["*", rest @ ..] => !names.is_empty() && fits(rest, &names[1..]),
            [name, rest @ ..] => names.first() == Some(name) && fits(rest, &names[1..]),
        }
    }

    fn fits_path(glob: &str, path: &str) -> bool {
        let (glob, path): (Vec<_>, Vec<_>) = (glob.split('/').collect(), path.split('/').collect());
        fits(&glob, &path)
    }

    fn glob() -> impl Strategy<Value = String> {
        let part = prop_oneof![Just("*"), Just("**"), prop::sample::select(&NAMES[..])];
        vec(part, 1..4).prop_map(|parts| format!("/memories/{}", parts.join("/")))
    }

    fn window() -> impl Strategy<Value = TimeSpan> {
        let seconds = prop_oneof![0..200_i64, 0..=36_500 * 86_400_i64];
        seconds.prop_map(|seconds| TimeSpan::of_seconds(seconds).expect("within bounds"))
    }

    fn lifetime() -> impl Strategy<Value = Lifetime> {
        let some = window().prop_filter("not at once", |window| window.seconds() > 0);
        prop_oneof![Just(Lifetime::Never), some.prop_map(Lifetime::For)]
    }

    /// Generates any millisecond from 1970 to 9999.
    fn time() -> impl Strategy<Value = DateTime<Utc>> {
        (0..253_402_300_800_000_i64)
            .prop_map(|millis| DateTime::from_timestamp_millis(millis).expect("a time"))
    }

    fn then() -> impl Strategy<Value = Then> {
        prop_oneof![Just(Then::Delete), Just(Then::Erase)]
    }

    fn rule() -> impl Strategy<Value = ExpirationRule> {
        let memory = (0..3_u8).prop_map(|n| RuleFor::Memory(MemoryId([n; 16])));
        let of = prop_oneof![3 => glob().prop_map(RuleFor::Path), 1 => memory];
        let when = prop_oneof![
            lifetime().prop_map(RuleWhen::UnaccessedFor),
            time().prop_map(RuleWhen::At)
        ];
        let rule = (of, when, option::of(window()), option::of(then()));
        rule.prop_map(|(of, when, grace, then)| ExpirationRule {
            of,
            when,
            grace,
            then,
        })
    }

    fn table() -> impl Strategy<Value = Expiration> {
        let sweep_max = prop_oneof![
            (0..=100_u8).prop_map(SweepMax::Share),
            (0..=usize::MAX / 2).prop_map(SweepMax::Count),
        ];
        let lists = (vec(glob(), 0..2), vec(rule(), 0..5));
        let table = (lifetime(), window(), then(), sweep_max, lists);
        table.prop_map(
            |(unaccessed_for, grace, then, sweep_max, (keep, rules))| Expiration {
                unaccessed_for,
                grace,
                then,
                keep,
                sweep_max,
                rules,
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(expiration in table()) {
            let policy = Policy { expiration, ..Policy::default() };
            prop_assert_eq!(Policy::parse(&policy.to_toml()).expect("own output"), policy);
        }

        #[test]
        fn the_first_that_fits_decides(
            table in table(),
            names in vec(prop::sample::select(&NAMES[..]), 1..4),
            memory in 0..3_u8,
            accessed in time(),
        ) {
            let (id, path) = (MemoryId([memory; 16]), format!("/memories/{}", names.join("/")));
            let memory_path = MemoryPath::parse(&path, 1_000).expect("a path");
            let ruling = ExpirationRules::of(&table).expect("valid").evaluate(id, &memory_path, accessed);

            let mut by = DecidedBy::Table;
            for (at, rule) in table.rules.iter().enumerate().rev() {
                let fits = match &rule.of {
                    RuleFor::Path(glob) => fits_path(glob, &path),
                    RuleFor::Memory(own) => *own == id,
                };
                if fits {
                    by = DecidedBy::Rule(at + 1);
                }
            }
            for (at, glob) in table.keep.iter().enumerate().rev() {
                if fits_path(glob, &path) {
                    by = DecidedBy::Keep(at + 1);
                }
            }
            prop_assert_eq!(ruling.by, by);
            let rule = match by {
                DecidedBy::Rule(at) => Some(&table.rules[at - 1]),
                _ => None,
            };
            let when = match (by, rule) {
                (DecidedBy::Keep(_), _) => RuleWhen::UnaccessedFor(Lifetime::Never),
                (_, Some(rule)) => rule.when,
                (_, None) => RuleWhen::UnaccessedFor(table.unaccessed_for),
            };
            let expires = match when {
                RuleWhen::At(at) => Some(at.timestamp_millis()),
                RuleWhen::UnaccessedFor(Lifetime::Never) => None,
                RuleWhen::UnaccessedFor(Lifetime::For(window)) => {
                    Some(accessed.timestamp_millis() + 1_000 * window.seconds())
                }
            };
            prop_assert_eq!(ruling.expires.map(|(_, at)| at.timestamp_millis()), expires);
            let own = |pick: fn(&ExpirationRule) -> Option<Then>| rule.and_then(pick);
            let rules = ExpirationRules::of(&table).expect("valid");
            if let Some((_, at)) = ruling.expires {
                for now in [at, at + chrono::TimeDelta::days(1)] {
                    let by = rules.accessed_if_expired(now);
                    prop_assert!(by.is_none_or(|by| accessed <= by), "{:?}", by);
                }
            }
            prop_assert_eq!(ruling.then, own(|rule| rule.then).unwrap_or(table.then));
            prop_assert_eq!(ruling.grace, rule.and_then(|rule| rule.grace).unwrap_or(table.grace));
        }
    }
}
