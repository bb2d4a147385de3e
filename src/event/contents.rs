//! The rules for the content of each command's record.
//!
//! Signers are authorized by command name. So a record may hold only what its command does, and the
//! record of a command that was not carried out may hold no change.

use std::collections::HashSet;

use crate::event::command::{
    ACCEPT_COMMAND, ADD_MEMBER_COMMAND, ERASE_COMMAND, EXPIRE_COMMAND, EXPORT_COMMAND,
    EXPORT_HISTORY_COMMAND, HOLD_ADD_COMMAND, HOLD_RM_COMMAND, INIT_COMMAND, POLICY_COMMAND,
    REDACT_COMMAND, REKEY_COMMAND, REMOVE_MEMBER_COMMAND, REPORT_COMMAND, SIGNERS_ADD, SIGNERS_RM,
    SIGNERS_SET, UPGRADE_COMMAND,
};
use crate::event::{Change, Event, HoldChange, Outcome, PathRef};
use crate::id::MemoryId;

/// A part of a record that its command never produces, with the memory it is about, if any.
pub(crate) type RecordViolation = (Option<MemoryId>, &'static str);

/// Returns the changes that a command records; `None` for an unknown command.
fn changes_of(command: &str) -> Option<&'static [Change]> {
    use Change::{
        Add, Edit, Erase, Expire, Look, Mark, Move, None, Read, Redact, Remove, Reseal, Restore,
    };
    Some(match command {
        "view" | "memory_read" => &[None, Read],
        // An expired memory gives way to one that is written to its path.
        "create" | "memory_write" => &[None, Add, Edit, Expire],
        "str_replace" | "insert" => &[None, Edit],
        "delete" => &[None, Remove],
        "rename" => &[None, Move, Expire],
        "unknown" => &[None],
        "restore" | "revert" | "rollback" => &[Edit, Move, Remove, Restore, Expire],
        EXPIRE_COMMAND => &[Expire, Mark, Erase],
        ERASE_COMMAND => &[Remove, Mark, Erase, Reseal],
        REDACT_COMMAND => &[Redact],
        REMOVE_MEMBER_COMMAND | REKEY_COMMAND => &[Reseal],
        "keys_export"
        | "view_at"
        | "show"
        | "diff"
        | "blame"
        | "log"
        | "grep"
        | EXPORT_COMMAND
        | EXPORT_HISTORY_COMMAND => &[Look],
        INIT_COMMAND | UPGRADE_COMMAND | POLICY_COMMAND | ADD_MEMBER_COMMAND | SIGNERS_ADD
        | SIGNERS_RM | SIGNERS_SET | ACCEPT_COMMAND | HOLD_ADD_COMMAND | HOLD_RM_COMMAND
        | REPORT_COMMAND | "scan" => &[],
        _ => return Option::None,
    })
}

/// Tells whether a command may change a memory; an unknown command may.
pub(crate) fn may_alter(command: &str) -> bool {
    changes_of(command).is_none_or(|all| all.iter().any(|change| change.alters()))
}

/// Tells whether a command may take a memory from one state in the tree, there or absent, to
/// another; an unknown command may.
pub(crate) fn may_leave(command: &str, was_there: bool, is_there: bool) -> bool {
    let fits = |change: &Change| match (was_there, is_there) {
        (false, _) => matches!(change, Change::Add | Change::Restore),
        (true, true) => change.writes() && !matches!(change, Change::Add | Change::Restore),
        (true, false) => change.removes(),
    };
    changes_of(command).is_none_or(|all| all.iter().any(fits))
}

/// Tells whether a command makes such changes of memories, and so many of them.
fn is_done_by(command: &str, changes: &[Change]) -> bool {
    let all = changes_of(command).unwrap_or_default();
    let count = |such: fn(Change) -> bool| changes.iter().filter(|change| such(**change)).count();
    let makes_way = matches!(command, "create" | "memory_write" | "rename")
        || matches!(command, "restore" | "revert" | "rollback");
    let own = count(|change| change.alters() && change != Change::Expire);
    let only_one = matches!(
        command,
        "view" | "memory_read" | "create" | "memory_write" | "str_replace" | "insert"
    ) || command == REDACT_COMMAND;
    changes.iter().all(|change| all.contains(change))
        && !(only_one && own + count(|change| change == Change::Read) > 1)
        && !(makes_way && own == 0 && changes.contains(&Change::Expire))
}

impl Event {
    /// Finds what the record holds that its command never does. Every reader refuses such an event.
    pub(crate) fn violation(&self) -> Option<RecordViolation> {
        let changes: Vec<Change> = self.memories.iter().map(|touch| touch.change).collect();
        if self.outcome != Outcome::Ok && !self.changes_nothing(&changes) {
            let what = "it was not carried out, and its record says that it changed something";
            return Some((None, what));
        }
        if !is_done_by(&self.command, &changes) {
            return Some((None, "it changes memories as its command never does"));
        }
        let is_root = self.path == Some(PathRef::Root) && changes.iter().any(|c| c.alters());
        if is_root && matches!(self.command.as_str(), "delete" | "rename") {
            return Some((
                None,
                "it takes away /memories itself, as its command never does",
            ));
        }
        self.other_misfit().or_else(|| self.receipt_misfit())
    }

    /// Tells whether the event changes nothing.
    fn changes_nothing(&self, changes: &[Change]) -> bool {
        changes.iter().all(|change| *change == Change::None)
            && self.hold.is_none()
            && self.receipt.is_none()
            && self.keys.is_none()
            && self.member.is_none()
            && self.lost.is_none()
            && self.undone.is_empty()
            && !self.clock_accepted
            && !self.trial
    }

    /// Finds a field, apart from the memories, that does not belong to the command.
    fn other_misfit(&self) -> Option<RecordViolation> {
        let command = self.command.as_str();
        let holds = match &self.hold {
            None => true,
            Some(HoldChange::Add(_)) => command == HOLD_ADD_COMMAND,
            Some(HoldChange::Lift(_)) => command == HOLD_RM_COMMAND,
        };
        let of_members = [
            ADD_MEMBER_COMMAND,
            REMOVE_MEMBER_COMMAND,
            SIGNERS_ADD,
            SIGNERS_RM,
            SIGNERS_SET,
        ];
        let has_keys = self.keys.is_some();
        let what = if !holds {
            "it is about a hold, and its command never is"
        } else if self.receipt.is_some() && !self.erases() {
            "it erases memories, and its command never does"
        } else if has_keys
            && !(self.may_change_keys() && (self.receipt.is_some() || !self.erases()))
        {
            "it puts other keys in force, and its command never does"
        } else if self.member.is_some() && !of_members.contains(&command) {
            "it is about a reader or a signer, and its command never is"
        } else if self.lost.is_some() && command != ACCEPT_COMMAND {
            "it accepts another history, and its command never does"
        } else if !self.undone.is_empty() && command != "revert" {
            "it undoes events, and its command never does"
        } else if self.clock_accepted && command != EXPIRE_COMMAND {
            "it accepts a clock, and its command never does"
        } else if self.trial && (self.number != 0 || command != INIT_COMMAND) {
            "it makes the store one for trials, and only the first event does"
        } else {
            return None;
        };
        Some((None, what))
    }

    /// Finds a mismatch between the receipt and the rest of the record: the receipt lists the
    /// memories that are erased, and those whose older versions are.
    fn receipt_misfit(&self) -> Option<RecordViolation> {
        let of = |changes: &[Change]| -> HashSet<MemoryId> {
            let touches = self.memories.iter();
            let touches = touches.filter(|touch| changes.contains(&touch.change));
            touches.map(|touch| touch.id).collect()
        };
        let erased = of(&[Change::Erase]);
        let kept = of(&[Change::Reseal, Change::Redact]);
        if self.command == ERASE_COMMAND {
            let ended = of(&[Change::Mark, Change::Erase]);
            if let Some(id) = of(&[Change::Remove]).difference(&ended).next() {
                return Some((Some(*id), "it removes a memory, and does not erase it"));
            }
        }
        let Some(receipt) = &self.receipt else {
            let kept = kept.iter().filter(|_| self.erases());
            let first = erased.iter().chain(kept).next();
            return first.map(|id| (Some(*id), "it erases a memory without a receipt"));
        };
        let listed = receipt.memories.iter();
        let wrong = listed
            .map(|m| (m.memory, m.kept.is_some()))
            .find(|(id, is_kept)| {
                let right = if *is_kept { &kept } else { &erased };
                !right.contains(id)
            });
        if let Some((id, _)) = wrong {
            return Some((
                Some(id),
                "its receipt is about a memory that it does not erase",
            ));
        }
        let count = erased.len() + kept.len();
        let listed: HashSet<MemoryId> = receipt.memories.iter().map(|m| m.memory).collect();
        (listed.len() != count || receipt.memories.len() != count).then_some((
            None,
            "its receipt does not list every memory that it erases",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ADMINISTRATIVE_COMMANDS;
    use crate::memory_tool::command::NAMES;

    #[test]
    fn the_table_has_every_command_and_no_other() {
        for command in NAMES
            .iter()
            .chain(&ADMINISTRATIVE_COMMANDS)
            .chain(&["unknown"])
        {
            assert!(changes_of(command).is_some(), "{command}");
        }
        for word in ["", "policy", "erase ", "Erase", "signers_take"] {
            assert!(changes_of(word).is_none(), "{word:?}");
            assert!(is_done_by(word, &[]) && !is_done_by(word, &[Change::None]));
        }
    }

    #[test]
    fn only_what_agents_read_by_is_an_access() {
        let all = NAMES
            .iter()
            .chain(&ADMINISTRATIVE_COMMANDS)
            .chain(&["unknown"]);
        let reads = all.filter(|command| is_done_by(command, &[Change::Read]));
        let reads: Vec<&&str> = reads.collect();
        assert_eq!(reads, [&"view", &"memory_read"]);
        assert!(!is_done_by("view", &[Change::Read, Change::Read]));
    }

    #[test]
    fn what_expired_goes_only_with_something_that_takes_its_place() {
        use Change::{Add, Expire, Move};
        assert!(is_done_by("create", &[Add, Expire, Expire]));
        assert!(is_done_by("rename", &[Move, Move, Expire]));
        for (command, changes) in [
            ("create", &[Expire][..]),
            ("create", &[Add, Add]),
            ("rename", &[Expire]),
            ("rollback", &[Expire]),
            ("delete", &[Expire]),
        ] {
            assert!(!is_done_by(command, changes), "{command} {changes:?}");
        }
        assert!(is_done_by("expire", &[Expire, Expire]));
    }

    #[test]
    fn what_a_command_may_leave_in_the_tree_is_what_it_changes() {
        assert!(may_leave("create", false, true) && may_leave("create", true, false));
        assert!(may_leave("delete", true, false) && !may_leave("delete", true, true));
        assert!(may_leave("rekey", true, true) && !may_leave("rekey", false, true));
        assert!(!may_leave("log", true, false) && !may_alter("hold_add"));
        assert!(may_leave("signers_take", true, false) && may_alter("signers_take"));
    }
}
