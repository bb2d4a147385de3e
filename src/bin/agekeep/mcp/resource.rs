//! Memories as resources: their URIs, and the answers when clients list, read or complete them.

use std::sync::Arc;

use agekeep::error::{Error, Result};
use agekeep::event::Context;
use agekeep::memory_tool::command::Command;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::Store;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{Resource, ResourceTemplate};

use crate::worker::WorkerState;

/// The URI template of a memory as it is now.
pub(super) const NOW: &str = "memory:///{+path}";
/// The URI template of one version of a memory.
pub(super) const AT: &str = "memory+at:///{version}/{+path}";

/// The number of resources on one page of a list.
const PAGE: usize = 1_000;
/// Most paths that a completion answers, by the protocol.
pub(super) const COMPLETIONS_MAX: usize = 100;

/// The characters that are escaped in a path of a URI (RFC 3986, section 3.3): all but `/`,
/// letters, digits and `-._~`.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The memory that a URI names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    path: String,
    version: Option<u64>,
}

/// Makes the URI of a memory from its path relative to `/memories`.
pub(super) fn uri(relative: &str) -> String {
    format!("memory:///{}", utf8_percent_encode(relative, PATH))
}

/// Parses a URI; `None` if it names no memory.
pub(super) fn named(uri: &str) -> Option<Named> {
    let (version, path) = if let Some(path) = uri.strip_prefix("memory:///") {
        (None, path)
    } else {
        let (version, path) = uri.strip_prefix("memory+at:///")?.split_once('/')?;
        (Some(version.parse().ok()?), path)
    };
    let path = percent_decode_str(path).decode_utf8().ok()?;
    (!path.is_empty()).then(|| Named {
        path: format!("/memories/{path}"),
        version,
    })
}

/// Rewrites the URI of a memory as it is now in agekeep's spelling, and returns any other text as
/// it is.
pub(super) fn canonical(text: &str) -> String {
    let path = match named(text) {
        Some(Named {
            path,
            version: None,
        }) => MemoryPath::read(&path),
        _ => None,
    };
    path.map_or_else(|| text.to_owned(), |path| uri(path.relative()))
}

/// Returns the templates of both forms of URI.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let now = ResourceTemplate::new(NOW, "memory")
        .with_title("Memory")
        .with_description("A memory file as it is now; reading it counts as an access");
    let at = ResourceTemplate::new(AT, "memory-version")
        .with_title("Version of a memory")
        .with_description("One version of a memory file; looking at it is no access");
    vec![
        now.with_mime_type("text/plain"),
        at.with_mime_type("text/plain"),
    ]
}

/// Returns one page of memories, after the one that `cursor` names, and the next cursor.
pub(super) fn page(
    state: &mut WorkerState,
    cursor: Option<&str>,
    context: &Context,
) -> Result<(Vec<Resource>, Option<String>)> {
    let paths = paths(state, context, cursor.is_some())?;
    let from = cursor.map_or(0, |cursor| {
        paths.partition_point(|path| path.as_str() <= cursor)
    });
    let shown = &paths[from..paths.len().min(from + PAGE)];
    let next = (from + PAGE < paths.len())
        .then(|| shown.last().cloned())
        .flatten();
    let resource = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        Resource::new(uri(path), name)
            .with_title(format!("/memories/{path}"))
            .with_mime_type("text/plain")
    };
    Ok((shown.iter().map(resource).collect(), next))
}

/// Returns the paths that begin with what was typed, and how many there are in all.
pub(super) fn completions(
    state: &mut WorkerState,
    typed: &str,
    context: &Context,
) -> Result<(Vec<String>, usize)> {
    let paths = paths(state, context, false)?;
    // A client puts the value into the template as it is, and there `%` begins an escape.
    let values = paths.iter().map(|path| path.replace('%', "%25"));
    let fitting: Vec<String> = values.filter(|value| value.starts_with(typed)).collect();
    let all = fitting.len();
    Ok((fitting.into_iter().take(COMPLETIONS_MAX).collect(), all))
}

/// Lists every path relative to `/memories`, sorted, by `memory_read`, which is recorded.
fn paths(state: &mut WorkerState, context: &Context, goes_on: bool) -> Result<Arc<Vec<String>>> {
    let list = |store: &mut Store| {
        let answer = store.execute(&Command::Read { path: None }, context)?;
        let mut paths: Vec<String> = answer.content.as_str().lines().map(str::to_owned).collect();
        paths.sort_unstable();
        Ok((answer.meta.event + 1, paths))
    };
    state.paths(context, goes_on, list)
}

/// Reads the text of a memory; `None` if it is not there.
pub(super) fn read(
    state: &mut WorkerState,
    named: &Named,
    context: &Context,
) -> Result<Option<String>> {
    state.with(|store| {
        let Some(version) = named.version else {
            let path = Some(named.path.clone());
            let answer = store.execute(&Command::Read { path }, context)?;
            return Ok((!answer.is_error()).then(|| answer.content.as_str().to_owned()));
        };
        let path = store.parse_asked_path(&named.path, "show", context);
        match path.and_then(|_| store.show_version(&named.path, version, context)) {
            Ok(looked) => Ok(Some(looked.found.content.as_str().to_owned())),
            Err(
                Error::NotThere { .. }
                | Error::DeniedPath { .. }
                | Error::Invalid { .. }
                | Error::Retention(_),
            ) => Ok(None),
            Err(error) => Err(error),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_memory() {
        for uri in [
            "",
            "memory:///",
            "memory://x/a",
            "file:///etc/passwd",
            "memory+at:///a.md",
            "memory+at:///x/a.md",
            "memory+at:///-1/a.md",
            "memory:///%ff",
        ] {
            assert_eq!(named(uri), None, "{uri}");
        }
    }

    proptest! {
        #[test]
        fn a_uri_names_the_path_it_was_made_of(path in "[^\u{0}]{1,40}") {
            let found = named(&uri(&path)).expect("a memory's URI");
            prop_assert_eq!(found, Named { path: format!("/memories/{path}"), version: None });
        }

        #[test]
        fn no_uri_breaks_the_parser(text in "(memory(\\+at)?:///?)?.{0,40}") {
            let _ = named(&text);
        }
    }
}
