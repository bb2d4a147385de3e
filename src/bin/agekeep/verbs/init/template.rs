//! The memories that `init --template` begins with.

use agekeep::error::Result;
use agekeep::memory_tool::command::Command;
use agekeep::store::Store;
use agekeep::store::answer::Refusal;

use crate::args::Global;
use crate::output;

/// Why these memories were made, for the event record, where nobody says it.
const REASON: &str = "template";

/// A set of memories to begin with.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Template {
    /// For software built over many sessions: a progress log, a checklist of features, and notes on
    /// how to start.
    SoftwareProject,
}

/// A memory, and what it begins as.
struct Page {
    path: &'static str,
    text: &'static str,
}

/// The checklist is JSON, one feature on a line: a program can count what passes, and a line with
/// its `id` is a text that occurs once, as `str_replace` wants it. The other two are read as prose.
const SOFTWARE_PROJECT: [Page; 3] = [
    Page {
        path: "/memories/startup.md",
        text: include_str!("template/startup.md"),
    },
    Page {
        path: "/memories/features.json",
        text: include_str!("template/features.json"),
    },
    Page {
        path: "/memories/progress.md",
        text: include_str!("template/progress.md"),
    },
];

impl Template {
    fn pages(self) -> &'static [Page] {
        match self {
            Self::SoftwareProject => &SOFTWARE_PROJECT,
        }
    }

    /// The paths of its memories.
    pub(super) fn paths(self) -> Vec<&'static str> {
        self.pages().iter().map(|page| page.path).collect()
    }

    /// Makes its memories by the commands that everybody uses, until one is refused, which is said.
    pub(super) fn fill(self, store: &mut Store, global: &Global) -> Result<Option<Refusal>> {
        let mut context = global.context();
        context.reason.get_or_insert_with(|| REASON.into());
        for page in self.pages() {
            let create = Command::Create {
                path: page.path.into(),
                file_text: page.text.into(),
            };
            let answer = store.execute(&create, &context)?;
            if answer.is_error() {
                output::refusal(answer.content.as_str());
                return Ok(answer.refusal);
            }
        }
        Ok(None)
    }
}
