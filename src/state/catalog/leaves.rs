//! Which leaves a new root needs: all, or those of rows that changed since the last.

use std::collections::BTreeMap;

use super::base::Base;
use super::row::Whereabouts;
use super::tree::Tree;
use super::writer::{Kept, Writer};
use super::{Catalog, Memory, key};

/// Writes what differs from the leaves that are kept: all, where none are. `None` if one of those
/// does not open, or cannot be written.
pub(super) fn write_leaves(
    catalog: &Catalog,
    writer: &mut Writer<'_>,
) -> Option<(Tree<Memory>, Tree<Whereabouts>)> {
    match (writer.kept, catalog.rows.base()) {
        (Kept::None, _) | (_, None) => write_all(catalog, writer),
        (_, Some(base)) => write_changed(catalog, base, writer),
    }
}

fn write_all(
    catalog: &Catalog,
    writer: &mut Writer<'_>,
) -> Option<(Tree<Memory>, Tree<Whereabouts>)> {
    let all = || catalog.rows.all();
    let paths: BTreeMap<_, _> = all().map(|m| (key(&m.path), Some(m))).collect();
    // Not so where a leaf does not open, and history does not tell what was in it.
    if paths.len() as u64 != catalog.rows.count() {
        return None;
    }
    let by_path = Tree::new(Vec::new()).rewritten(paths, |_| None, writer)?;
    let places: Vec<Whereabouts> = all().map(Whereabouts::of).collect();
    let ids = places.iter().map(|row| (row.id.0, Some(row)));
    let by_id = Tree::new(Vec::new()).rewritten(ids.collect(), |_| None, writer)?;
    Some((by_path, by_id))
}

fn write_changed(
    catalog: &Catalog,
    base: &Base,
    writer: &mut Writer<'_>,
) -> Option<(Tree<Memory>, Tree<Whereabouts>)> {
    let changed = catalog.rows.changed();
    let changed: Vec<_> = changed.map(|(id, now)| (base.get(id), now)).collect();
    let (mut paths, mut ids) = (BTreeMap::new(), BTreeMap::new());
    for was in changed.iter().filter_map(|(was, _)| *was) {
        paths.insert(key(&was.path), None);
    }
    for now in changed.iter().filter_map(|(_, now)| *now) {
        paths.insert(key(&now.path), Some(now));
    }
    // Where nothing moved, the leaf of its id stays.
    let path = |memory: Option<&Memory>| memory.map(|memory| memory.path.clone());
    let moved = changed.iter().filter(|(was, now)| path(*was) != path(*now));
    let moved: Vec<_> = moved.collect();
    let places = moved.iter().filter_map(|(_, now)| now.map(Whereabouts::of));
    let places: Vec<Whereabouts> = places.collect();
    for was in moved.iter().filter_map(|(was, _)| *was) {
        ids.insert(was.id.0, None);
    }
    for row in &places {
        ids.insert(row.id.0, Some(row));
    }
    if base.is_torn() {
        return None;
    }
    let by_path = base
        .by_path
        .rewritten(paths, |leaf| base.open(leaf), writer)?;
    let by_id = base.by_id.rewritten(ids, |leaf| base.open(leaf), writer)?;
    Some((by_path, by_id))
}
