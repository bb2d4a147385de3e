//! Directory listings of `view`: two levels, with sizes, without hidden names.

use std::fmt::Write;

use crate::memory_tool::path::MemoryPath;

/// Levels shown below the directory.
const DEPTH: usize = 2;

/// A row of the listing: a directory or file, with the bytes of text in or below it.
struct ListingRow<'a> {
    path: &'a str,
    bytes: u64,
    is_directory: bool,
}

/// Formats a directory, shown as `shown`, from all memories below it.
pub(crate) fn render<'a>(
    shown: &str,
    directory: &MemoryPath,
    memories: impl Iterator<Item = (&'a MemoryPath, u64)>,
) -> String {
    let skipped = directory.as_str().len() + 1;
    let below = memories.map(|(path, bytes)| (&path.as_str()[skipped..], bytes));
    let mut below: Vec<(&str, u64)> = below.collect();
    // They come in this order, but for a view of the past.
    below.sort_by(|(a, _), (b, _)| a.split('/').cmp(b.split('/')));
    let mut rows: Vec<ListingRow<'_>> = Vec::new();
    let mut newest = [None; DEPTH];
    for (path, bytes) in &below {
        add(path, *bytes, &mut rows, &mut newest);
    }
    let total: u64 = below.iter().map(|(_, bytes)| bytes).sum();
    let mut text = format!(
        "Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items and \
         node_modules:\n{}\t{shown}",
        size(total)
    );
    let above = shown.trim_end_matches('/');
    for row in rows {
        let slash = if row.is_directory { "/" } else { "" };
        let _ = write!(text, "\n{}\t{above}/{}{slash}", size(row.bytes), row.path);
    }
    text
}

/// Adds a memory to its rows: on each level that of the memory before, or a new one. `newest` has the places of
/// the newest rows.
fn add<'a>(
    path: &'a str,
    bytes: u64,
    rows: &mut Vec<ListingRow<'a>>,
    newest: &mut [Option<usize>; DEPTH],
) {
    let mut end = 0;
    for newest in newest {
        let length = path[end..].find('/');
        let name_end = length.map_or(path.len(), |length| end + length);
        let name = &path[end..name_end];
        if name.starts_with('.') || name == "node_modules" {
            return;
        }
        let path = &path[..name_end];
        let same = newest.and_then(|at| rows.get_mut(at));
        if let Some(row) = same.filter(|row| row.path == path) {
            row.bytes += bytes;
        } else {
            *newest = Some(rows.len());
            let is_directory = length.is_some();
            rows.push(ListingRow {
                path,
                bytes,
                is_directory,
            });
        }
        if length.is_none() {
            return;
        }
        end = name_end + 1;
    }
}

/// Formats a size for people: `512B`, `1.5K`, `2.0K`, `1.0M`; never `1024.0K`.
fn size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    let (mut name, mut tenths) = ("", 0);
    for (unit, shift) in [("K", 10), ("M", 20), ("G", 30)] {
        let half = 1u128 << (shift - 1);
        (name, tenths) = (unit, (u128::from(bytes) * 10 + half) >> shift);
        if tenths < 10_240 {
            break;
        }
    }
    format!("{}.{}{name}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (bytes, want) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.0K"),
            (1536, "1.5K"),
            (2048, "2.0K"),
            (1_048_575, "1.0M"),
            (1_048_576, "1.0M"),
            (1_572_864, "1.5M"),
            (1_073_741_823, "1.0G"),
            (1 << 30, "1.0G"),
            (5 << 40, "5120.0G"),
        ] {
            assert_eq!(size(bytes), want, "{bytes}");
        }
    }

    #[test]
    fn two_levels_by_code_point_hidden_left_out() {
        let paths: Vec<_> = [
            "a/b/c/d",
            "a-x",
            "a/k",
            ".h/x",
            "Z",
            "a/node_modules/z",
            "a/.s",
        ]
        .iter()
        .map(|p| MemoryPath::parse(&format!("/memories/{p}"), 1024).expect("valid"))
        .collect();
        let listing = render(
            "/memories",
            &MemoryPath::root(),
            paths.iter().map(|p| (p, 1)),
        );
        let rows: Vec<_> = listing.lines().skip(1).collect();
        assert_eq!(
            rows,
            [
                "7B\t/memories",
                "1B\t/memories/Z",
                "4B\t/memories/a/",
                "1B\t/memories/a/b/",
                "1B\t/memories/a/k",
                "1B\t/memories/a-x",
            ]
        );
    }
}
