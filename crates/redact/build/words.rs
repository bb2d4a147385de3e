//! Tables of the lists in `words.txt`, for the build script.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use super::notes::{Lists, hash::head};

/// Writes a table for each list.
pub(crate) fn write(folder: &Path) -> Result<(), String> {
    let place = env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?;
    let path = folder.join("words.txt");
    let fault = |why: String| format!("{}:{why}", path.display());
    let text = fs::read_to_string(&path).map_err(|e| fault(format!(" {e}")))?;
    let table = Lists::read(&text).and_then(tables).map_err(fault)?;
    fs::write(Path::new(&place).join("words.rs"), table).map_err(|e| e.to_string())
}

fn tables(lists: Lists) -> Result<String, String> {
    let mut tables = String::new();
    for (name, mut words) in lists.0 {
        words.sort_unstable();
        let mut pairs = words.iter().zip(words.iter().skip(1));
        if let Some((twice, _)) = pairs.find(|(one, next)| one == next) {
            return Err(format!(" {name}: `{twice}` stands there twice"));
        }
        let ends = words.iter().scan(0, |end, word| {
            *end += word.len();
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        let heads: Vec<u64> = words.iter().map(|word| head(word.as_bytes())).collect();
        writeln!(
            tables,
            "#[allow(clippy::unreadable_literal)]\npub(super) const {name}: List = List {{ text: {:?}, ends: &{ends:?}, heads: &{heads:?} }};",
            words.concat()
        )
        .expect("memory");
    }
    Ok(tables)
}
