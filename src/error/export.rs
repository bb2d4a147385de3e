//! Why nothing is written to where an export should go.

use std::fmt;
use std::path::PathBuf;

/// Why an export does not begin.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportFault {
    /// Something is there already.
    InTheWay {
        /// Where the export should be.
        path: PathBuf,
        /// What is there.
        what: &'static str,
    },
    /// What is written there may be committed and pushed by whoever works in it.
    WorkTree {
        /// Where the export should be.
        path: PathBuf,
        /// The folder that is a work tree of git.
        of: PathBuf,
    },
    /// The file system cannot hold two memories side by side: it takes their names for one.
    OneName {
        /// The path of the second.
        path: String,
    },
}

impl ExportFault {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::InTheWay { .. } => "in_the_way",
            Self::WorkTree { .. } => "work_tree",
            Self::OneName { .. } => "one_name",
        }
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::InTheWay { .. } => 5,
            Self::WorkTree { .. } => 7,
            Self::OneName { .. } => 16,
        }
    }

    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::InTheWay { .. } => "name one that is not there yet, or an empty folder",
            Self::WorkTree { .. } => {
                "plaintext there is one `git add` away from everybody; name a folder outside of it, \
                 or say --force"
            }
            Self::OneName { .. } => {
                "name a folder on a file system that tells upper from lower case, or export with \
                 --jsonl"
            }
        }
    }
}

impl fmt::Display for ExportFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InTheWay { path, what } => write!(f, "{} is {what}", path.display()),
            Self::WorkTree { path, of } => write!(
                f,
                "{} would be in a git work tree: {} has .git",
                path.display(),
                of.display()
            ),
            Self::OneName { path } => write!(
                f,
                "the file system takes {path} for another memory that was just written"
            ),
        }
    }
}
