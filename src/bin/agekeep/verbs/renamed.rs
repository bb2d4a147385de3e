//! The names that verbs had before, hidden for one version: each works as it did.

use std::path::PathBuf;

use agekeep::error::Result;
use clap::Subcommand;

use crate::args::{Global, VerbGroup};
use crate::output;
use crate::verbs::memory::MemoryArgs;
use crate::verbs::{history, members, memory, rules};

#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum Renamed {
    /// Search for a pattern in all memories, or in all of history
    #[command(hide = true)]
    Grep(history::SearchArgs),
    /// Replace a text that occurs exactly once in a file
    #[command(hide = true)]
    StrReplace(MemoryArgs<memory::Edit>),
    /// List, add and remove the people who can read the store
    #[command(hide = true)]
    Recipients(VerbGroup<members::MembersVerb>),
    /// Replace the keys of memories, for example if somebody may know them
    #[command(hide = true)]
    Rekey(members::ReplaceKeys),
    /// Print a file unchanged, or every path (`memory_read`)
    #[command(hide = true)]
    Read(MemoryArgs<memory::Read>),
}

// What `redact` did besides the destruction; a doc comment would replace the help of `redact`.
#[derive(Subcommand)]
pub(crate) enum RenamedRedact {
    /// List the rules; with --json also their shapes
    #[command(hide = true)]
    Rules,
    /// Redact standard input without storing it
    #[command(hide = true)]
    Test(rules::Test),
    /// Show which rules of a gitleaks.toml agekeep can use
    #[command(hide = true)]
    Check {
        /// The gitleaks.toml
        file: PathBuf,
    },
    /// Print the fingerprint of the value on standard input
    #[command(hide = true)]
    Fingerprint,
}

pub(crate) fn run(global: &Global, verb: &Renamed) -> Result<u8> {
    match verb {
        Renamed::Grep(args) => {
            is_called_now("grep", "search");
            history::search(global, args)
        }
        Renamed::StrReplace(args) => {
            is_called_now("str-replace", "edit");
            memory::run(global, args)
        }
        Renamed::Recipients(args) => {
            is_called_now("recipients", "members");
            members::members(global, &args.verb)
        }
        Renamed::Rekey(args) => {
            is_called_now("rekey", "keys replace");
            members::replace_keys(global, args)
        }
        Renamed::Read(args) => {
            is_called_now("read", "view --raw");
            memory::run(global, args)
        }
    }
}

pub(crate) fn run_redact(global: &Global, verb: &RenamedRedact) -> Result<u8> {
    match verb {
        RenamedRedact::Rules => {
            is_called_now("redact rules", "rules list");
            rules::list(global)
        }
        RenamedRedact::Test(args) => {
            is_called_now("redact test", "rules test");
            rules::try_on_input(global, args)
        }
        RenamedRedact::Check { file } => {
            is_called_now("redact check", "rules check");
            rules::check(file, global.json)
        }
        RenamedRedact::Fingerprint => {
            is_called_now("redact fingerprint", "rules fingerprint");
            rules::fingerprint(global)
        }
    }
}

/// Tells a person, and no program, the name of today.
fn is_called_now(old: &str, new: &str) {
    output::note_to_person(&format!("note: `{old}` is called `{new}` now"));
}
