//! What one text may cost: rules that others wrote are run only so long, then the text is refused.

use std::fmt;

/// What is left to spend on one text. Once overdrawn, it stays so.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: u64,
    matches: u64,
}

/// Why a text could not be scanned to its end; it must then not be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OverBudget {
    /// More bytes would be read than the limit allows.
    Bytes,
    /// More matches were found than the limit allows.
    Matches,
    /// A pattern needs more memory than it may have.
    Pattern {
        /// The rule it belongs to.
        rule: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Budget {
    /// A budget of so many bytes to read, each pass over a byte counted, and so many matches.
    pub(super) const fn new(bytes: u64, matches: u64) -> Self {
        Self { bytes, matches }
    }

    /// Pays for a pass over `count` bytes, before it is made.
    pub(super) fn read(&mut self, count: usize) -> Result<(), OverBudget> {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        spend(&mut self.bytes, count).ok_or(OverBudget::Bytes)
    }

    /// Pays for one match.
    pub(super) fn found(&mut self) -> Result<(), OverBudget> {
        spend(&mut self.matches, 1).ok_or(OverBudget::Matches)
    }
}

/// Takes `count` from `left`, all of it if there is too little.
fn spend(left: &mut u64, count: u64) -> Option<()> {
    let rest = left.checked_sub(count);
    *left = rest.unwrap_or(0);
    rest.map(|_| ())
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes => f.write_str("the rules would read the text too many times"),
            Self::Matches => f.write_str("the rules match too often"),
            Self::Pattern { rule, why } => write!(f, "rule `{rule}`: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_and_stays_ended() {
        let mut budget = Budget::new(10, 1);
        assert_eq!(budget.read(10), Ok(()));
        assert_eq!(budget.read(1), Err(OverBudget::Bytes));
        assert_eq!(budget.read(1), Err(OverBudget::Bytes));
        assert_eq!(budget.read(0), Ok(()));
        assert_eq!(budget.found(), Ok(()));
        assert_eq!(budget.found(), Err(OverBudget::Matches));
    }

    #[test]
    fn what_does_not_fit_takes_all() {
        let mut budget = Budget::new(10, 0);
        assert_eq!(budget.read(11), Err(OverBudget::Bytes));
        assert_eq!(budget.read(1), Err(OverBudget::Bytes));
    }
}
