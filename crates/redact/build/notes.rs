//! Tables of `vocabulary.txt`, `common.txt` and `points.txt`, for the build script.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use hash::{feature, place, place_with};

#[cfg(test)]
pub(crate) use crate::notes::hash;
#[cfg(not(test))]
#[path = "../src/notes/hash.rs"]
pub(crate) mod hash;

/// Classes whose words the gate looks for.
const LABELS: [&str; 11] = [
    "password", "code", "thing", "pin", "otp", "card", "answer", "recovery", "opens", "account",
    "login",
];
/// Shortest word that the gate looks for, in bytes.
const LABEL_BYTES_MIN: usize = 3;

/// Number of bits that tell whether a phrase may begin with a hash, and whether a hash may be an entry.
const HEADS: usize = 1 << 14;
const ENTRY_BITS: usize = 1 << 17;

/// The kinds of features, in the order of `Kind` in `weigh.rs`, and how many there are of each of their numbers, if
/// their points stand in a dense table.
pub(crate) const KINDS: [(&str, [u32; 3]); 38] = [
    ("always", [1, 1, 1]),
    ("group", [24, 1, 1]),
    ("length", [24, 8, 1]),
    ("before", [29, 16, 5]),
    ("behind", [29, 16, 5]),
    ("line-above", [29, 5, 3]),
    ("lines-above", [29, 5, 2]),
    ("same-line", [29, 5, 1]),
    ("nearest", [128, 24, 1]),
    ("nearest-marks", SPARSE),
    ("marks", SPARSE),
    ("position", [16, 24, 1]),
    ("asked", [2, 5, 3]),
    ("trait", [32, 24, 1]),
    ("trait-nearest", [32, 7, 7]),
    ("says", [29, 5, 1]),
    ("word-before", [5, 1, WORDS]),
    ("word-before-that", [5, 1, WORDS]),
    ("word-behind", [5, 1, WORDS]),
    ("words-before", [5, 1, WORDS]),
    ("found", [2, 2, 5]),
    ("found-behind", SPARSE),
    ("found-alike", [2, 2, 24]),
    ("found-count", [6, 5, 1]),
    ("alike", [7, 24, 1]),
    ("technical", [7, 5, 1]),
    ("technical-group", [7, 24, 1]),
    ("technical-nearest", [5, 5, 128]),
    ("inside", SPARSE),
    ("repeated", [3, 5, 24]),
    ("refers", [24, 7, 1]),
    ("itself", [1, 1, WORDS]),
    ("marks-behind", SPARSE),
    ("marks-around", SPARSE),
    ("common", [2, 24, 128]),
    ("common-marks", SPARSE),
    ("pair", [29, 29, 24]),
    ("nearest-word", SPARSE),
];
/// The kinds with too many numbers for a dense table.
const SPARSE: [u32; 3] = [0; 3];
/// The number of words, of which each has a row in the dense table, behind rows for numbers in place of a word.
const WORDS: u32 = u32::MAX;
const NUMBERS: u32 = 26;
/// The bit of a common word, beside its row.
const COMMON: i64 = 1 << 15;
/// The kinds whose first number is a class.
pub(crate) const OF_CLASS: [&str; 6] = [
    "before",
    "behind",
    "line-above",
    "lines-above",
    "same-line",
    "says",
];

/// Lists of words, each behind a line of `[name]`: `vocabulary.txt`, and the `words.txt` of names.
pub(crate) struct Lists<'a>(pub(crate) Vec<(&'a str, Vec<&'a str>)>);

impl<'a> Lists<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Self, String> {
        let mut lists: Vec<(&str, Vec<&str>)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if line.starts_with('#') {
                continue;
            }
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|name| name.strip_suffix(']'))
            {
                lists.push((name, Vec::new()));
                continue;
            }
            let entries = line
                .split(',')
                .map(str::trim)
                .filter(|entry| !entry.is_empty());
            for entry in entries {
                let (_, list) = lists.last_mut().ok_or("an entry stands before any class")?;
                if entry != entry.to_lowercase() {
                    return Err(format!("{}: `{entry}` is not in lower case", number + 1));
                }
                list.push(entry);
            }
        }
        Ok(Self(lists))
    }

    fn class(&self, name: &str) -> Option<u32> {
        let at = self.0.iter().position(|(class, _)| *class == name)?;
        u32::try_from(at).ok()
    }
}

/// Writes the tables.
pub(crate) fn write(folder: &Path) -> Result<(), String> {
    let place = env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?;
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
    };
    let words = read("vocabulary.txt")?;
    let vocabulary = Lists::read(&words).map_err(|why| format!("vocabulary.txt:{why}"))?;
    let (points, dense) = points(&read("points.txt")?, &vocabulary, &read("common.txt")?)?;
    fs::write(Path::new(&place).join("points.bin"), dense).map_err(|e| e.to_string())?;
    let write = |name: &str, table: String| {
        fs::write(Path::new(&place).join(name), table).map_err(|e| e.to_string())
    };
    write("vocabulary.rs", table_of_words(&vocabulary)?)?;
    write("points.rs", points)
}

/// Returns a table of numbers and their values, as `vocabulary.rs` reads it.
fn table_of_numbers(name: &str, kind: &str, entries: &BTreeMap<u32, i64>) -> String {
    let counts = (entries.len() * 5 / 4..).step_by(entries.len() / 8 + 1);
    let mut tables = counts.filter_map(|count| placed(entries, count));
    let (seeds, places) = tables.next().expect("a larger table has room");
    let rows = places.iter().map(|place| format!("{place:?}"));
    let rows: Vec<String> = rows.collect();
    format!(
        "static {name}: NumberTable<{kind}> = NumberTable {{ seeds: &{name}_SEEDS, places: &{name}_PLACES }};\n{}{}",
        array(&format!("{name}_SEEDS"), "u8", seeds.iter()),
        array(
            &format!("{name}_PLACES"),
            &format!("(u32, {kind})"),
            rows.iter()
        ),
    )
}

/// A number and its value at each place, or zeros.
type Places = Vec<(u32, i64)>;

/// Gives each number a place of its own among so many, by one seed for each bucket of numbers. The
/// fullest bucket takes its places first.
fn placed(entries: &BTreeMap<u32, i64>, count: usize) -> Option<(Vec<u8>, Places)> {
    let mut seeds = vec![0; entries.len() / 4 + 1];
    let mut buckets: Vec<(usize, Vec<u32>)> = (0..seeds.len()).map(|at| (at, vec![])).collect();
    for number in entries.keys() {
        buckets[place(*number, seeds.len())].1.push(*number);
    }
    let mut places = vec![(0, 0); count];
    buckets.sort_by_key(|(_, numbers)| Reverse(numbers.len()));
    for (at, numbers) in buckets {
        let at_seed = |number: &u32, seed| place_with(*number, seed, count);
        let fits = |seed: &u8| {
            let own: BTreeSet<usize> = numbers.iter().map(|one| at_seed(one, *seed)).collect();
            own.len() == numbers.len() && own.iter().all(|place| places[*place].0 == 0)
        };
        seeds[at] = (0..=u8::MAX).find(fits)?;
        for number in &numbers {
            places[at_seed(number, seeds[at])] = (*number, entries[number]);
        }
    }
    Some((seeds, places))
}

fn array<T: std::fmt::Display>(
    name: &str,
    kind: &str,
    values: impl ExactSizeIterator<Item = T>,
) -> String {
    let mut text = format!(
        "#[allow(clippy::unreadable_literal)]\nstatic {name}: [{kind}; {}] = [",
        values.len()
    );
    for value in values {
        write!(text, "{value},").expect("memory");
    }
    text + "];\n"
}

fn table_of_words(vocabulary: &Lists) -> Result<String, String> {
    let mut entries: BTreeMap<u32, i64> = BTreeMap::new();
    let mut phrases: BTreeMap<(u32, Vec<u32>), u32> = BTreeMap::new();
    // For the first three bytes, the kinds of the fourth.
    let mut heads = vec![0u8; hash::part_head([u8::MAX; 3]) + 1];
    let mut phrase_heads = vec![0u64; HEADS / 64];
    let mut entry_bits = vec![0u64; ENTRY_BITS / 64];
    let set = |bits: &mut [u64], hash: u32| {
        let bit = place(hash, bits.len() * 64);
        bits[bit / 64] |= 1 << (bit % 64);
    };
    let mut labels: BTreeSet<&str> = BTreeSet::new();
    for (class, (name, words)) in vocabulary.0.iter().enumerate() {
        for entry in words {
            let bare = entry.trim_start_matches('~').trim_end_matches('.');
            // One English word of this class stands in every documentation: `key`, `token`.
            let is_secret = *name == "secret" && !bare.bytes().all(|b| b.is_ascii_alphabetic());
            if (LABELS.contains(name) || is_secret) && bare.len() >= LABEL_BYTES_MIN {
                labels.insert(bare);
            }
            if bare.contains(' ') {
                let mut hashes = bare.split(' ').map(hash::of);
                let first = hashes.next().ok_or("an entry has no word")?;
                set(&mut phrase_heads, first);
                *phrases.entry((first, hashes.collect())).or_default() |= 1 << class;
                continue;
            }
            let is_part = entry.starts_with('~');
            if is_part {
                let byte = |at: usize| bare.as_bytes().get(at).copied();
                let head = [0, 1, 2].map(|at| byte(at).unwrap_or(0));
                heads[hash::part_head(head)] |= byte(3).map_or(u8::MAX, |fourth| 1 << (fourth & 7));
            }
            let form = 2 * u32::from(is_part) + u32::from(!entry.ends_with('.'));
            let number = feature(0, hash::of(bare), form, 0).max(1);
            set(&mut entry_bits, number);
            *entries.entry(number).or_default() |= 1 << class;
        }
    }
    // A label that holds another one is found with it.
    let all = labels.clone();
    labels.retain(|label| {
        !all.iter()
            .any(|other| other != label && label.contains(other))
    });
    let mut text = table_of_numbers("ENTRIES", "u32", &entries);
    text += &array("ENTRY_BITS", "u64", entry_bits.iter());
    text += &array("PHRASE_HEADS", "u64", phrase_heads.iter());
    text += &array("PART_HEADS", "u8", heads.iter());
    let rows = phrases.iter().map(|((first, rest), classes)| {
        format!("Phrase {{ first: {first}, rest: &{rest:?}, classes: {classes} }}")
    });
    text += &array("PHRASES", "Phrase", rows.collect::<Vec<_>>().into_iter());
    let labels: Vec<String> = labels.iter().map(|label| format!("{label:?}")).collect();
    text += &array("LABELS", "&str", labels.into_iter()).replacen(
        "static LABELS",
        "pub(super) static LABELS",
        1,
    );
    Ok(text)
}

/// Reads a row of `points.txt`: the kind, three numbers, and the points. The first number may be a
/// class, the third a word.
pub(crate) fn row(line: &str, vocabulary: &Lists) -> Option<(u32, i64)> {
    let mut parts = line.split(' ');
    let kind = parts.next()?;
    let number = KINDS.iter().position(|(known, _)| *known == kind)?;
    let one = parts.next()?;
    let one = if OF_CLASS.contains(&kind) {
        vocabulary.class(one)?
    } else {
        one.parse().ok()?
    };
    let two = parts.next()?.parse().ok()?;
    let three = parts.next()?;
    let three = match quoted(three) {
        Some(word) => hash::of(word),
        None => three.parse().ok()?,
    };
    let points: i16 = parts.next()?.parse().ok()?;
    let number = feature(u8::try_from(number).ok()?, one, two, three).max(1);
    parts.next().is_none().then_some((number, points.into()))
}

fn quoted(word: &str) -> Option<&str> {
    word.strip_prefix('"')?.strip_suffix('"')
}

/// Returns the tables of the points, of which the dense one is bytes.
fn points(text: &str, vocabulary: &Lists, common: &str) -> Result<(String, Vec<u8>), String> {
    let mut entries = BTreeMap::new();
    // The entries that no dense table has, and the words that have rows.
    let mut sparse: BTreeMap<u32, i64> = BTreeMap::new();
    let mut words: BTreeSet<&str> = BTreeSet::new();
    // The most points that features of a kind have near a class, and for a group, sort or trait.
    let mut most: BTreeMap<[&str; 3], i64> = BTreeMap::new();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#'))
    {
        let fault = |why: &str| format!("src/notes/points.txt:{}: {why}", number + 1);
        let (hash, points) = row(line, vocabulary).ok_or_else(|| fault("no row of points"))?;
        if entries.insert(hash, points).is_some() {
            return Err(fault("what counts here counts already"));
        }
        let parts: Vec<&str> = line.split(' ').collect();
        match KINDS.iter().find(|(kind, _)| *kind == parts[0]) {
            Some((_, [.., WORDS])) => words.extend(quoted(parts[3])),
            Some((_, SPARSE)) => _ = sparse.insert(hash, points),
            _ => {}
        }
        let key = match parts[0] {
            kind @ ("before" | "behind") => [kind, parts[1], parts[3]],
            kind @ ("trait-nearest" | "nearest-word" | "refers") => [kind, "", parts[1]],
            kind => [kind, "", parts[2]],
        };
        let most = most.entry(key).or_default();
        *most = points.max(*most);
    }
    let most = |kinds: &[&str], class: &str, number: usize| {
        let number = number.to_string();
        let of_kind = |kind: &&str| most.get(&[*kind, class, &*number]).copied();
        kinds.iter().filter_map(of_kind).sum::<i64>()
    };
    let of_group = [
        "nearest",
        "nearest-word",
        "marks-behind",
        "refers",
        "common",
        "alike",
    ];
    let of_group: Vec<i64> = (0..24).map(|group| most(&of_group, "", group)).collect();
    let of_sort = |sort| most(&["nearest-marks", "technical-nearest"], "", sort);
    let of_sort: Vec<i64> = (0..5).map(of_sort).collect();
    let of_trait = (0..32).map(|number| most(&["trait-nearest"], "", number));
    let near = vocabulary.0.iter().map(|(class, _)| {
        let of_sort = |sort| most(&["before", "behind"], class, sort);
        format!("{:?}", [0, 1, 2, 3, 4].map(of_sort))
    });
    let (tables, dense) = dense(&entries, &words)?;
    let text = table_of_numbers("POINTS", "i16", &sparse)
        + &table_of_numbers("WORDS", "u16", &terms(&words, common)?)
        + &array("TABLES", "PointTable", tables.into_iter())
        + &array("MOST_OF_GROUP", "i32", of_group.iter())
        + &array("MOST_OF_SORT", "i32", of_sort.iter())
        + &array("MOST_OF_TRAIT", "i32", of_trait)
        + &array("MOST_NEAR", "[i32; 5]", near);
    Ok((text, dense))
}

/// Returns where the points of each kind stand in the dense table, and its bytes. Each has the points that a look
/// by its hash would find.
fn dense(
    entries: &BTreeMap<u32, i64>,
    words: &BTreeSet<&str>,
) -> Result<(Vec<String>, Vec<u8>), String> {
    let points = |kind, one, two, three| {
        let number = feature(kind, one, two, three).max(1);
        let points = i8::try_from(entries.get(&number).copied().unwrap_or(0));
        let points = points.map_err(|_| "a byte has no room for some points")?;
        Ok::<_, String>(points.cast_unsigned())
    };
    let worded = (0..).zip(KINDS).filter(|(_, (_, sizes))| sizes[2] == WORDS);
    let worded: Vec<(u8, u32)> = worded.map(|(kind, (_, sizes))| (kind, sizes[0])).collect();
    let columns: u32 = worded.iter().map(|(_, columns)| columns).sum();
    let mut bytes = Vec::new();
    for word in (0..NUMBERS).chain(words.iter().map(|word| hash::of(word))) {
        for (kind, columns) in &worded {
            for one in 0..*columns {
                bytes.push(points(*kind, one, 0, word)?);
            }
        }
    }
    let (mut tables, mut column) = (Vec::new(), 0);
    for (kind, (_, [ones, twos, threes])) in (0..).zip(KINDS) {
        let (begin, steps) = match threes {
            WORDS => (column, [1, 0, columns]),
            0 => (u32::MAX, [0; 3]),
            _ => (
                u32::try_from(bytes.len()).expect("few"),
                [twos * threes, threes, 1],
            ),
        };
        tables.push(format!("PointTable {{ begin: {begin}, steps: {steps:?} }}"));
        if threes == WORDS {
            column += ones;
            continue;
        }
        for one in 0..ones {
            for (two, three) in (0..twos).flat_map(|two| (0..threes).map(move |three| (two, three)))
            {
                bytes.push(points(kind, one, two, three)?);
            }
        }
    }
    Ok((tables, bytes))
}

/// Returns the row of each word that has one, and the bit of each common word.
fn terms(words: &BTreeSet<&str>, common: &str) -> Result<BTreeMap<u32, i64>, String> {
    let mut terms: BTreeMap<u32, i64> = BTreeMap::new();
    for (word, row) in words.iter().zip(i64::from(NUMBERS)..) {
        if terms.insert(hash::of(word), row).is_some() || row >= COMMON {
            return Err("two words have one hash, or there are too many".to_owned());
        }
    }
    let lines = common.lines().filter(|line| !line.starts_with('#'));
    for word in lines.flat_map(|line| line.split(' ')) {
        *terms.entry(hash::of(word)).or_default() |= COMMON;
    }
    Ok(terms)
}
