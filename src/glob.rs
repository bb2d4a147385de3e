//! Globs over paths, as the owner writes them: `*` and `?` stay within a segment, `**` does not.
//! The only module that names `globset`.

use globset::{GlobBuilder, GlobMatcher};

use crate::error::{Error, Result};
use crate::path::MemoryPath;

/// A glob over whole paths, `/memories` included.
pub(crate) struct Glob(GlobMatcher);

impl Glob {
    /// # Errors
    /// [`Error::Policy`] if it does not parse.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let built = GlobBuilder::new(text).literal_separator(true).build();
        built
            .map(|glob| Self(glob.compile_matcher()))
            .map_err(|e| Error::Policy {
                line: None,
                why: format!("the glob `{text}`: {}", e.kind()),
            })
    }

    /// Whether a glob can be followed; why not, if not.
    pub(crate) fn check(text: &str) -> std::result::Result<(), String> {
        Self::parse(text).map(drop).map_err(|e| e.to_string())
    }

    pub(crate) fn fits(&self, path: &MemoryPath) -> bool {
        self.fits_text(path.as_str())
    }

    pub(crate) fn fits_text(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}
