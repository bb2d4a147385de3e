//! Makes tables of the lists in `words.txt`, for the build script.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// Writes a table for each list.
pub(crate) fn write(folder: &Path) -> Result<(), String> {
    let place = env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?;
    let path = folder.join("words.txt");
    let fault = |why: String| format!("{}: {why}", path.display());
    let text = fs::read_to_string(&path).map_err(|e| fault(e.to_string()))?;
    let table = tables(&text).map_err(fault)?;
    fs::write(Path::new(&place).join("words.rs"), table).map_err(|e| e.to_string())
}

fn tables(text: &str) -> Result<String, String> {
    let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut name = None;
    for (line, number) in text.lines().zip(1..) {
        let header = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if let Some(header) = header {
            name = Some(header);
            continue;
        }
        if line.starts_with("# ") {
            continue;
        }
        for word in line
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            if word != word.to_lowercase() {
                return Err(format!("{number}: `{word}` is not in lower case"));
            }
            let name = name.ok_or(format!("{number}: `{word}` stands before any list"))?;
            lists.entry(name).or_default().push(word);
        }
    }
    let mut tables = String::new();
    for (name, mut words) in lists {
        words.sort_unstable();
        let mut pairs = words.iter().zip(words.iter().skip(1));
        if let Some((twice, _)) = pairs.find(|(one, next)| one == next) {
            return Err(format!("{name}: `{twice}` stands there twice"));
        }
        let ends = words.iter().scan(0, |end, word| {
            *end += word.len();
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        writeln!(
            tables,
            "pub(super) const {name}: List = List {{ text: {:?}, ends: &{ends:?} }};",
            words.concat()
        )
        .expect("memory");
    }
    Ok(tables)
}
