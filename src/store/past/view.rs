//! A file or directory as it was.

use crate::Text;
use crate::error::{Error, Result};
use crate::event::{Context, Moment};
use crate::memory_tool::edit;
use crate::memory_tool::listing;
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::Timeline;
use crate::store::past::Looked;
use crate::store::past::View;
use crate::store::revision::Revision;

use super::super::Store;
use super::{Look, looked_at, not_there, side};

impl Store {
    /// What the memory tool's `view` would have answered at a moment.
    ///
    /// # Errors
    /// [`Error::NotThere`] if nothing was at the path then; [`Error::NoRevision`] or
    /// [`Error::Ambiguous`]; [`Error::Invalid`] for a range that the file did not have.
    pub fn view_at(
        &mut self,
        path: &str,
        range: Option<(i64, i64)>,
        revision: &Revision,
        context: &Context,
    ) -> Result<Looked<View>> {
        let parsed = self.parse_path(path)?;
        self.around(&parsed.clone(), revision, |store| {
            let at = store.resolve(revision)?;
            let heading = format!("Here's the content of {path} with line numbers:");
            let limit = store.policy().limits.view_characters;
            store.view_then(path, &parsed, at, context, "view_at", |text| {
                let (from, to) =
                    edit::resolve_range(text.as_str(), range).map_err(|fault| Error::Invalid {
                        what: "the range of lines",
                        why: format!("the file had lines 1 to {} then", fault.lines),
                    })?;
                Ok(edit::number_lines(heading, text.as_str(), from, to, limit))
            })
        })
    }

    /// A file's text as it was, byte for byte, or the listing of a directory.
    ///
    /// # Errors
    /// As for [`Store::view_at`].
    pub fn show_at(
        &mut self,
        path: &str,
        revision: &Revision,
        context: &Context,
    ) -> Result<Looked<View>> {
        let parsed = self.parse_path(path)?;
        self.around(&parsed.clone(), revision, |store| {
            let at = store.resolve(revision)?;
            store.view_then(path, &parsed, at, context, "show", Ok)
        })
    }

    /// One version of the memory that is at a path, or was the last there, byte for byte.
    ///
    /// # Errors
    /// [`Error::NotThere`] if no memory ever was at the path, or it has no such version.
    #[allow(clippy::missing_panics_doc)] // never: the expectation says why
    pub fn show_version(
        &mut self,
        path: &str,
        version: u64,
        context: &Context,
    ) -> Result<Looked<View>> {
        let parsed = self.parse_path(path)?;
        self.in_contents(|store| {
            let timeline = store.timeline();
            let newest = timeline.len() - 1;
            let was_there = |id| {
                let mut versions = timeline.versions(id, newest);
                versions.rfind(|version| version.path.as_ref() == Some(&parsed))
            };
            let last_there = || {
                let all = timeline.memories().filter_map(was_there);
                all.max_by_key(|version| version.event)
            };
            let memory = timeline.at(&parsed, newest).or_else(last_there);
            let memory = memory.filter(|memory| !store.is_hidden(memory.id, context));
            let found = memory.and_then(|memory| {
                let mut versions = timeline.versions(memory.id, newest);
                versions.find(|found| found.version == version)
            });
            let found = found.ok_or_else(|| Error::NotThere {
                path: parsed.as_str().to_owned(),
                when: format!("as version {version}"),
                hint: "`agekeep log` with this path shows which versions there are".into(),
            })?;
            let at = timeline
                .moment(found.event)
                .expect("an event of the timeline");
            let then = found.path.ok_or_else(|| store.nameless(found.id))?;
            store.view_then(path, &then, at, context, "show", Ok)
        })
    }

    /// Does something with as much of the timeline at hand as tells what was at a path.
    fn around<T>(
        &mut self,
        path: &MemoryPath,
        revision: &Revision,
        act: impl Fn(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.as_reader()?;
        self.locked(|store| {
            let is_piece = store.load_piece(path, revision);
            if !is_piece {
                store.load_timeline()?;
            }
            let mut done = act(store);
            if is_piece && done.as_ref().is_err_and(Error::is_of_one_memory) {
                // What came later may say why it does not open.
                store.timeline = None;
                store.load_timeline()?;
                done = act(store);
            }
            // A piece does not tell the rest.
            store.timeline = store.timeline.take().filter(Timeline::is_whole);
            done
        })
    }

    fn view_then(
        &mut self,
        shown: &str,
        path: &MemoryPath,
        at: Moment,
        context: &Context,
        command: &'static str,
        render: impl FnOnce(Text) -> Result<Text>,
    ) -> Result<Looked<View>> {
        let timeline = self.timeline();
        let time = timeline.time(at.event).expect("a resolved moment");
        let version = timeline.at(path, at.event);
        let (text, touches) = if let Some(file) = &version {
            (render(self.text_then(file)?)?, vec![looked_at(file)])
        } else {
            (self.list_then(shown, path, at)?, Vec::new())
        };
        let look = Look {
            command,
            path: Some(self.place_ever(path, at.event)?),
            at: vec![at],
            touches,
        };
        let recorded = self.record_look(look, context)?;
        Ok(Looked {
            found: View {
                content: text,
                at,
                time,
                version: version.as_ref().map(side),
            },
            recorded,
        })
    }

    fn list_then(&self, shown: &str, path: &MemoryPath, at: Moment) -> Result<Text> {
        let timeline = self.timeline();
        let state = timeline.state(at.event);
        let below: Vec<(&MemoryPath, u64)> = state
            .values()
            .filter_map(|version| Some((version.path.as_ref()?, version.bytes)))
            .filter(|(found, _)| found.is_below(path))
            .collect();
        if below.is_empty() && !path.is_root() {
            return Err(not_there(path, at, timeline));
        }
        Ok(listing::render(shown, path, below.into_iter()).into())
    }
}
