//! The build script: makes a static table of the rules in `src/rules/*.toml`.
//!
//! A rule that cannot work ends the build with its file and line. docs/rules.md says how a rule is
//! written. The options of programs in `flags.toml` become a table of their own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use regex_syntax::ParserBuilder;
use serde::Deserialize;
use toml::Spanned;

#[cfg(test)]
use crate::rules::form;
use form::{Check, Class, Form, Severity, Tail};

#[cfg(not(test))]
#[allow(unreachable_pub)] // the library shows them
#[path = "../src/rules/form.rs"]
mod form;

#[allow(dead_code, unreachable_pub)] // the tests of the library call more of it
#[path = "notes.rs"]
pub(crate) mod notes;

#[allow(dead_code)] // the tests of the library call none of it
#[path = "words.rs"]
mod named;

/// The files of rules. Where two rules have the same literal, the first one decides.
const FAMILIES: [&str; 13] = [
    "code",
    "cloud",
    "hosting",
    "data",
    "models",
    "money",
    "messages",
    "watching",
    "work",
    "keyed",
    "codes",
    "generic",
    "structural",
];

/// Modules with scanners, besides `structure`.
const SCANNERS: [&str; 3] = ["code_list", "mnemonic", "named"];

/// A file of rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    /// The class of the rules that name none.
    class: Option<Class>,
    rule: Vec<Spanned<Row>>,
}

/// A rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    kind: String,
    what: String,
    class: Option<Class>,
    severity: Option<Severity>,
    #[serde(default)]
    literals: Vec<String>,
    #[serde(default)]
    keywords: Vec<String>,
    shape: Option<String>,
    #[serde(default)]
    lead: usize,
    reach: Option<usize>,
    tail: Option<Tail>,
    /// The function in `src/structure`, or in one of [`SCANNERS`], that reads the secret at a
    /// literal.
    scanner: Option<String>,
    /// Makes the options and programs of `flags.toml` literals too.
    #[serde(default)]
    flags: bool,
    #[serde(default)]
    checks: Vec<Check>,
}

#[allow(clippy::print_stdout)] // so a build script speaks to cargo
fn main() -> ExitCode {
    let folder = Path::new("src/rules");
    let notes = Path::new("src/notes");
    let named = Path::new("src/named");
    let lists = Path::new("src/lists.toml");
    for path in [folder, notes, named, lists] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    match write(folder)
        .and_then(|()| notes::write(notes))
        .and_then(|()| named::write(named))
        .and_then(|()| write_lists(lists))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("cargo::error={}", why.replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

/// Writes both tables.
fn write(folder: &Path) -> Result<(), String> {
    let place = env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?;
    let write = |name, table: String| {
        fs::write(Path::new(&place).join(name), table).map_err(|e| e.to_string())
    };
    let path = folder.join("flags.toml");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let flags = Flags::read(&path.display().to_string(), &text)?;
    write("rules.rs", table(&read(folder)?, &flags)?)?;
    write("flags.rs", flags.to_rust())
}

/// Writes a constant for each list of `lists.toml`.
fn write_lists(path: &Path) -> Result<(), String> {
    let place = env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?;
    let fault = |why: String| format!("{}:1: {why}", path.display());
    let text = fs::read_to_string(path).map_err(|e| fault(e.to_string()))?;
    let lists: BTreeMap<String, BTreeMap<String, Vec<String>>> =
        toml::from_str(&text).map_err(|e| fault(e.message().to_owned()))?;
    let mut code = String::new();
    for (section, lists) in &lists {
        for (name, words) in lists {
            let name = format!("{section}_{name}").to_uppercase();
            writeln!(code, "pub(crate) const {name}: &[&str] = &{words:?};").expect("memory");
        }
    }
    fs::write(Path::new(&place).join("lists.rs"), code).map_err(|e| e.to_string())
}

/// The options of programs that take a password, by form and by program.
#[derive(Default)]
struct Flags(BTreeMap<Form, BTreeMap<String, Vec<String>>>);

impl Flags {
    /// Reads the file. An error begins with file and line.
    fn read(path: &str, text: &str) -> Result<Self, String> {
        let read = toml::from_str(text).map(Self).map_err(|error| {
            let line = error
                .span()
                .map_or(0, |s| text[..s.start].matches('\n').count() + 1);
            format!("{path}:{line}: {}", error.message())
        })?;
        for (form, program, option) in read.rows() {
            let fits = match form {
                Form::Argument | Form::Line => {
                    matches!(option.as_bytes(), [b'1'..=b'9' | b':' | b'/'])
                }
                Form::Input => true,
                _ => option.len() > 1 && option.starts_with(['-', '/']),
            };
            if !fits || program != program.to_lowercase() {
                return Err(format!(
                    "{path}: `{program}` with `{option}` cannot stand there"
                ));
            }
        }
        Ok(read)
    }

    /// Returns the form, the program and the option of every entry.
    fn rows(&self) -> impl Iterator<Item = (Form, &str, &str)> {
        self.0.iter().flat_map(|(form, programs)| {
            programs.iter().flat_map(|(program, options)| {
                let none = options.is_empty().then_some("");
                let options = options.iter().map(String::as_str).chain(none);
                options.map(|option| (*form, program.as_str(), option))
            })
        })
    }

    /// Returns the literals that stand where an option does, as written and in any case.
    fn literals(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut exact, mut folded) = (BTreeSet::new(), BTreeSet::new());
        for (form, program, option) in self.rows() {
            match form {
                Form::Argument | Form::Line => {
                    folded.insert(format!("{program} "));
                }
                Form::Input | Form::Other => {}
                _ if option.starts_with('/') => {
                    let before = [" ", "\"", "'"];
                    folded.extend(before.map(|b| format!("{b}{option}").to_lowercase()));
                }
                _ => exact.extend([" ", "\"", "'"].map(|before| format!("{before}{option}"))),
            }
        }
        (exact, folded)
    }

    /// Writes the table as Rust.
    fn to_rust(&self) -> String {
        let mut rows = String::new();
        for (form, program, option) in self.rows() {
            let program: Vec<&str> = program.split(' ').collect();
            writeln!(
                rows,
                "    Flag {{ program: &{program:?}, option: {option:?}, form: Form::{form:?} }},"
            )
            .expect("memory");
        }
        format!("static FLAGS: &[Flag] = &[\n{rows}];\n")
    }
}

/// Reads the files of rules, each with its path.
fn read(folder: &Path) -> Result<Vec<(String, String)>, String> {
    let mut families = Vec::new();
    for name in FAMILIES {
        let path = folder.join(name).with_extension("toml");
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        families.push((path.display().to_string(), text));
    }
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_stem().unwrap_or_default();
        let is_rules = path
            .extension()
            .is_some_and(|extension| extension == "toml");
        if is_rules && name != "flags" && !FAMILIES.iter().any(|family| *family == name) {
            let why = "FAMILIES in build/rules.rs does not name this file";
            return Err(format!("{}:1: {why}", path.display()));
        }
    }
    Ok(families)
}

/// Writes the table of rules as Rust, from files with their paths. An error begins with file and
/// line.
fn table(families: &[(String, String)], flags: &Flags) -> Result<String, String> {
    let mut rows = String::new();
    let mut count = 0;
    let mut kinds: HashMap<String, String> = HashMap::new();
    for (path, text) in families {
        let line_at = |at: usize| format!("{path}:{}", text[..at].matches('\n').count() + 1);
        let family: Family = toml::from_str(text).map_err(|error| {
            let place = error
                .span()
                .map_or(path.clone(), |span| line_at(span.start));
            format!("{place}: {}", error.message())
        })?;
        for row in family.rule {
            let (place, mut row) = (line_at(row.span().start), row.into_inner());
            if row.flags {
                let (exact, folded) = flags.literals();
                row.literals.extend(exact);
                row.keywords.extend(folded);
            }
            let class = row.class.or(family.class);
            let class = class.ok_or_else(|| format!("{place}: `class` is missing"))?;
            let written = row
                .to_rust(class)
                .map_err(|why| format!("{place}: {why}"))?;
            if let Some(other) = kinds.insert(row.kind.clone(), place.clone()) {
                return Err(format!("{place}: `{}` stands at {other} too", row.kind));
            }
            count += 1;
            writeln!(rows, "    // {place}\n    {written},").expect("memory");
        }
    }
    Ok(format!("static RULES: [Rule; {count}] = [\n{rows}];\n"))
}

impl Row {
    /// Writes the rule as Rust. The error says why the rule cannot work.
    fn to_rust(&self, class: Class) -> Result<String, String> {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if !(2..=40).contains(&self.kind.len()) || !self.kind.bytes().all(fits) {
            return Err("`kind` is 2 to 40 of a-z, 0-9 and -".into());
        }
        if self.what.is_empty() {
            return Err("`what` is empty".into());
        }
        let finder = match (class, &self.shape, &self.scanner) {
            (Class::Marked | Class::Keyed, Some(shape), None) => {
                self.shape_to_rust(class, shape)?
            }
            (Class::Structural, None, Some(scanner)) => {
                let module = scanner.split_once("::").map_or("", |(module, _)| module);
                let place = if SCANNERS.contains(&module) {
                    ""
                } else {
                    "structure::"
                };
                format!("Finder::Scan(ScanFn({place}{scanner}))")
            }
            (Class::Named, None, None) => "Finder::Named".into(),
            (Class::Personal, None, None) => "Finder::Personal".into(),
            (Class::Marked | Class::Keyed, ..) => return Err("it needs a `shape` alone".into()),
            (Class::Structural, ..) => return Err("it needs a `scanner` alone".into()),
            (Class::Named | Class::Personal, ..) => {
                return Err("it has neither `shape` nor `scanner`".into());
            }
        };
        let is_lower = |word: &String| !word.is_empty() && *word == word.to_lowercase();
        if !self.keywords.iter().all(is_lower) {
            return Err("`keywords` are written in lower case".into());
        }
        let (literals, keywords) = (self.literals.len(), self.keywords.len());
        match class {
            Class::Marked if literals == 0 => return Err("`literals` are missing".into()),
            Class::Keyed if keywords == 0 => return Err("`keywords` are missing".into()),
            Class::Keyed if literals > 0 => return Err("it has `keywords` alone".into()),
            Class::Structural if literals + keywords == 0 => {
                return Err("it needs `literals` or `keywords`".into());
            }
            _ => {}
        }
        let checks = self.checks.iter().map(|check| format!("Check::{check:?}"));
        Ok(format!(
            "Rule {{ kind: {:?}, what: {:?}, class: Class::{class:?}, severity: Severity::{:?}, \
             literals: &{:?}, keywords: &{:?}, finder: {finder}, checks: &[{}] }}",
            self.kind,
            self.what,
            self.severity.unwrap_or(Severity::High),
            self.literals,
            self.keywords,
            checks.collect::<Vec<_>>().join(", "),
        ))
    }

    fn shape_to_rust(&self, class: Class, shape: &str) -> Result<String, String> {
        let mut parser = ParserBuilder::new().utf8(false).unicode(false).build();
        let parsed = parser.parse(shape).map_err(|e| format!("`shape`: {e}"))?;
        let reach = match (self.reach, parsed.properties().maximum_len()) {
            (Some(reach), _) => reach,
            (None, Some(longest)) if self.lead == 0 => longest,
            (None, Some(_)) => return Err("`reach` is missing, as there is a `lead`".into()),
            (None, None) => return Err("`shape` has no longest match: give `reach`".into()),
        };
        let mut literals = self.literals.iter();
        if let Some(long) = literals.find(|literal| self.lead == 0 && reach < literal.len()) {
            return Err(format!("`{long}` is longer than any match"));
        }
        let tail = self.tail.unwrap_or(match class {
            Class::Keyed => Tail::Exact,
            _ => Tail::Word,
        });
        let lead = self.lead;
        Ok(format!(
            "Finder::Shape(Shape {{ core: {shape:?}, lead: {lead}, reach: {reach}, \
             tail: Tail::{tail:?} }})"
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::{Family, Flags, table};
    use crate::engine::Engine;
    use crate::rule::{Class, Finder, Rule, Severity, Shape, Tail};
    use crate::rules::tests::example;
    use crate::scan::Budget;

    const PAGE: &str = include_str!("../../../docs/rules.md");

    fn built(rules: &str) -> Result<String, String> {
        let family = format!("class = \"marked\"\n\n{rules}");
        table(&[("one.toml".into(), family)], &Flags::default())
    }

    /// Returns the lines of the page's block in this language.
    fn block(language: &str) -> &'static str {
        let fence = format!("```{language}\n");
        let (_, rest) = PAGE.split_once(&fence).expect("the page has one");
        rest.split_once("```").expect("its end").0
    }

    #[test]
    fn what_the_page_adds_is_built_and_found() {
        let table = built(block("toml")).expect("it is built");
        assert!(table.contains("reach: 36"), "the longest match: {table}");
        let text = format!("class = \"marked\"\n{}", block("toml"));
        let mut family: Family = toml::from_str(&text).expect("it is a rule");
        let row = family.rule.remove(0).into_inner();
        let literals = row.literals.into_iter().map(|text| &*text.leak());
        let rule = Box::leak(Box::new(Rule {
            kind: row.kind.leak(),
            what: row.what.leak(),
            class: Class::Marked,
            severity: Severity::High,
            literals: literals.collect::<Vec<_>>().leak(),
            keywords: &[],
            finder: Finder::Shape(Shape {
                core: row.shape.expect("a shape").leak(),
                lead: 0,
                reach: 36,
                tail: Tail::Word,
            }),
            checks: row.checks.leak(),
        }));
        let engine = Engine::new([&*rule].into_iter());
        let mut shown = (0, 0);
        for line in block("json").lines() {
            let sample: serde_json::Value = serde_json::from_str(line).expect("one on each line");
            let text = sample["text"].as_str().or(sample["clean"].as_str());
            let (text, secrets) = example(text.expect("a text"));
            let mut spans = Vec::new();
            let budget = &mut Budget::new(1 << 20, 100);
            let scanned = engine.plain(&text, budget, &mut Vec::new(), &mut spans);
            scanned.expect("a short text");
            spans.retain(|span| span.kind.as_str() == rule.kind);
            let found: Vec<Range<usize>> = spans.iter().map(|s| s.start..s.end).collect();
            assert_eq!(found, secrets, "{line}");
            let side = if secrets.is_empty() {
                &mut shown.1
            } else {
                &mut shown.0
            };
            *side += 1;
        }
        assert_eq!(shown, (3, 3));
    }

    #[test]
    fn a_bad_rule_ends_the_build_with_its_file_and_line() {
        let one = "kind = \"a-key\"\nwhat = \"a\"\n";
        for (rules, wanted) in [
            ("[[rule]]\nkind = 7", "one.toml:4: "),
            ("[[rule]]\nkimd = \"a\"", "one.toml:4: unknown field `kimd`"),
            (
                "[[rule]]\nkind = \"A\"\nwhat = \"a\"",
                "one.toml:3: `kind` is 2 to 40",
            ),
            (
                "[[rule]]\nkind = \"a-key\"\nwhat = \"\"",
                "one.toml:3: `what` is empty",
            ),
            (
                &format!("[[rule]]\n{one}"),
                "one.toml:3: it needs a `shape` alone",
            ),
            (
                &format!("[[rule]]\n{one}shape = 'a('\nliterals = [\"a\"]"),
                "one.toml:3: `shape`: ",
            ),
            (
                &format!("[[rule]]\n{one}shape = 'abc+'\nliterals = [\"abc\"]"),
                "one.toml:3: `shape` has no longest match",
            ),
            (
                &format!("[[rule]]\n{one}shape = 'abc'\nlead = 1\nliterals = [\"b\"]"),
                "one.toml:3: `reach` is missing",
            ),
            (
                &format!("[[rule]]\n{one}shape = 'abc'\nliterals = [\"abcd\"]"),
                "one.toml:3: `abcd` is longer",
            ),
            (
                &format!("[[rule]]\n{one}shape = 'abc'"),
                "one.toml:3: `literals` are missing",
            ),
            (
                &format!("[[rule]]\n{one}class = \"keyed\"\nshape = 'abc'"),
                "one.toml:3: `keywords` are missing",
            ),
            (
                &format!("[[rule]]\n{one}class = \"keyed\"\nkeywords = [\"Acme\"]\nshape = 'abc'"),
                "one.toml:3: `keywords` are written in lower case",
            ),
            (
                &format!("[[rule]]\n{one}class = \"structural\"\nscanner = \"a::b\""),
                "one.toml:3: it needs `literals` or `keywords`",
            ),
            (
                &format!("[[rule]]\n{one}class = \"named\"\nscanner = \"a::b\""),
                "one.toml:3: it has neither",
            ),
            (
                &format!(
                    "[[rule]]\n{one}shape = 'abc'\nliterals = [\"abc\"]\n\n\
                     [[rule]]\n{one}shape = 'abd'\nliterals = [\"abd\"]"
                ),
                "one.toml:9: `a-key` stands at one.toml:3 too",
            ),
        ] {
            let refused = built(rules).expect_err(rules);
            assert!(refused.starts_with(wanted), "{rules}\n{refused}");
        }
        let two = [("two.toml".into(), format!("[[rule]]\n{one}"))];
        assert!(table(&two, &Flags::default()).is_err());
    }

    #[test]
    fn a_bad_flag_ends_the_build_with_its_file() {
        for (flags, wanted) in [
            ("[word]\na = 7", "flags.toml:2: "),
            ("[words]\na = []", "flags.toml:1: unknown variant `words`"),
            ("[word]\nA = [\"-p\"]", "flags.toml: `A` with `-p`"),
            ("[word]\na = [\"p\"]", "flags.toml: `a` with `p`"),
            ("[argument]\na = [\"0\"]", "flags.toml: `a` with `0`"),
        ] {
            let refused = Flags::read("flags.toml", flags).err().expect(flags);
            assert!(refused.starts_with(wanted), "{flags}\n{refused}");
        }
        let flags =
            Flags::read("flags.toml", "[input]\nsu = []\n[word]\n'a b' = ['-p']").expect("good");
        assert!(
            flags
                .to_rust()
                .contains("&[\"a\", \"b\"], option: \"-p\", form: Form::Word")
        );
        assert!(flags.literals().0.contains(" -p"));
    }
}
