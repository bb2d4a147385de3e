//! Directory listings of `view`: two levels, with sizes, without hidden names.

use std::collections::BTreeMap;

use crate::memory_tool::path::MemoryPath;

/// Levels shown below the directory.
const DEPTH: usize = 2;

/// A row of the listing: a directory or file, with the bytes of text in or below it.
#[derive(Default)]
struct ListingNode {
    bytes: u64,
    directory: bool,
    below: BTreeMap<String, ListingNode>,
}

/// Formats a directory, shown as `shown`, from all memories below it.
pub(crate) fn render<'a>(
    shown: &str,
    directory: &MemoryPath,
    memories: impl Iterator<Item = (&'a MemoryPath, u64)>,
) -> String {
    let mut top = ListingNode {
        directory: true,
        ..ListingNode::default()
    };
    for (path, bytes) in memories {
        top.add(&path.as_str()[directory.as_str().len() + 1..], bytes, DEPTH);
    }
    let mut rows = vec![format!("{}\t{shown}", size(top.bytes))];
    top.list(shown.trim_end_matches('/'), &mut rows);
    let heading = format!(
        "Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items and node_modules:"
    );
    rows.insert(0, heading);
    rows.join("\n")
}

impl ListingNode {
    fn add(&mut self, below: &str, bytes: u64, depth: usize) {
        self.bytes += bytes;
        let (name, rest) = below
            .split_once('/')
            .map_or((below, None), |(n, r)| (n, Some(r)));
        if depth == 0 || name.starts_with('.') || name == "node_modules" {
            return;
        }
        let row = self.below.entry(name.to_owned()).or_default();
        match rest {
            Some(rest) => {
                row.directory = true;
                row.add(rest, bytes, depth - 1);
            }
            None => row.bytes += bytes,
        }
    }

    fn list(&self, path: &str, rows: &mut Vec<String>) {
        for (name, row) in &self.below {
            let slash = if row.directory { "/" } else { "" };
            rows.push(format!("{}\t{path}/{name}{slash}", size(row.bytes)));
            row.list(&format!("{path}/{name}"), rows);
        }
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
