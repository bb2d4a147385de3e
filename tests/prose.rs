//! The pages, the help and the errors keep the style in fixtures/prose.toml.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use regex::Regex;
use serde::Deserialize;

use crate::hints::every_error;
use crate::readme::pages;
use crate::support::{Home, stderr, stdout};

/// The style: fixtures/prose.toml.
#[derive(Deserialize)]
struct Style {
    words_max: usize,
    /// The rules that a page does not keep, by the page's name.
    exempt: BTreeMap<String, BTreeSet<String>>,
    rule: Vec<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    name: String,
    why: String,
    pattern: String,
    found: Vec<String>,
    kept: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The style, and the patterns of its rules.
fn style() -> (Style, Vec<Regex>) {
    let text = fs::read_to_string(root().join("fixtures/prose.toml")).expect("the style");
    let style: Style = toml::from_str(&text).expect("its form");
    let patterns = style.rule.iter();
    let patterns = patterns.map(|rule| Regex::new(&rule.pattern).expect("a pattern"));
    let patterns = patterns.collect();
    (style, patterns)
}

/// The faults of a text's sentences.
fn faults(place: &str, text: &str, (style, patterns): &(Style, Vec<Regex>)) -> Vec<String> {
    let none = BTreeSet::new();
    let exempt = style.exempt.get(place).unwrap_or(&none);
    let mut faults = Vec::new();
    for sentence in sentences(text) {
        for (rule, pattern) in style.rule.iter().zip(patterns) {
            if !exempt.contains(&rule.name) && pattern.is_match(&sentence) {
                faults.push(format!("{place}: {}:\n    {sentence}", rule.why));
            }
        }
        let words = sentence.split_whitespace().count();
        if !exempt.contains("words") && words > style.words_max {
            faults.push(format!(
                "{place}: {words} words in a sentence:\n    {sentence}"
            ));
        }
    }
    faults
}

/// The sentences of a text in Markdown, or of a help text: without blocks, links and marks, and with X
/// for each piece of code. A heading, a cell of a table and an item of a list end a sentence.
fn sentences(text: &str) -> Vec<String> {
    let code = Regex::new("`[^`]*`").expect("a pattern");
    let target = Regex::new(r"\]\([^)]*\)").expect("a pattern");
    let item = Regex::new(r"^(?:[-*]|\d+[.)]) +").expect("a pattern");
    let mut pieces = vec![String::new()];
    let mut is_block = false;
    for line in text.lines().map(str::trim) {
        let is_fence = line.starts_with("```");
        is_block ^= is_fence;
        if is_fence || is_block || line.is_empty() {
            pieces.push(String::new());
        } else if line.starts_with(['|', '#']) {
            let line = line.replace("\\|", "/");
            pieces.extend(
                line.split('|')
                    .map(|cell| cell.trim_start_matches('#').to_owned()),
            );
            pieces.push(String::new());
        } else if let Some(mark) = item.find(line) {
            pieces.push(line[mark.end()..].to_owned());
        } else {
            let last = pieces.last_mut().expect("there is one");
            last.push(' ');
            last.push_str(line);
        }
    }
    let end = Regex::new(r#"[.!?;]["”)]*\s+"#).expect("a pattern");
    let mut sentences = Vec::new();
    for piece in pieces {
        let piece = target
            .replace_all(&code.replace_all(&piece, "X"), "")
            .into_owned();
        let piece = piece.replace(['[', ']', '*'], "");
        let mut from = 0;
        for mark in end.find_iter(&piece) {
            sentences.push(piece[from..mark.end()].trim().to_owned());
            from = mark.end();
        }
        sentences.push(piece[from..].trim().to_owned());
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

#[test]
fn each_rule_finds_the_bad_sentences_and_leaves_the_good_ones() {
    let (style, patterns) = style();
    for (rule, pattern) in style.rule.iter().zip(&patterns) {
        assert!(
            !rule.found.is_empty() && !rule.kept.is_empty(),
            "{}",
            rule.name
        );
        for sentence in &rule.found {
            assert!(pattern.is_match(sentence), "{}: {sentence}", rule.name);
        }
        for sentence in &rule.kept {
            assert!(!pattern.is_match(sentence), "{}: {sentence}", rule.name);
        }
    }
    let rules: BTreeSet<_> = style.rule.iter().map(|rule| rule.name.as_str()).collect();
    for (page, exempt) in &style.exempt {
        assert!(root().join(page).exists(), "{page}");
        for rule in exempt {
            assert!(rule == "words" || rules.contains(rule.as_str()), "{rule}");
        }
    }
}

#[test]
fn a_fault_is_found_where_it_stands_in_a_page() {
    let style = style();
    let bad = "# What it is\n\nGood. What has expired an agent\nfinds nowhere, in history either.\n\n\
               ```sh\nWhat is code is no prose.\n```\n\n| a | The store is read by the agent. |\n\
               - Use `in order to` as code.\n- Use it in order to read.\n";
    let found = faults("a page", bad, &style);
    assert_eq!(found.len(), 3, "{found:#?}");
    let long = "word ".repeat(style.0.words_max + 1);
    assert_eq!(faults("a page", &long, &style).len(), 1);
    let good = "# What it is\n\nAgents cannot see expired memories, even in history. Restored lines keep \
                their original author.";
    assert_eq!(faults("a page", good, &style), Vec::<String>::new());
}

#[test]
fn the_pages_keep_the_style() {
    let style = style();
    let mut found = Vec::new();
    for page in pages(root()) {
        let text = fs::read_to_string(root().join(&page)).expect("a page");
        found.extend(faults(&page, &text, &style));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_help_keeps_the_style() {
    let (style, home) = (style(), Home::empty());
    let help = |args: &[&str]| {
        let output = home.run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output)
    };
    let all = help(&["--help"]);
    let verbs = all.split_once("\nRemember\n").expect("the verbs").1;
    let verbs = verbs.lines().filter_map(|line| line.strip_prefix("  "));
    let mut names: Vec<&str> = verbs.filter_map(|line| line.split(' ').next()).collect();
    names.extend([
        "revisions",
        "paths",
        "environment",
        "exit-codes",
        "recovery",
        "options",
    ]);
    names.retain(|name| !name.is_empty() && *name != "agekeep");
    assert!(names.len() > 40, "{names:?}");
    let mut texts = vec![("agekeep --help".to_owned(), all.clone())];
    for name in names {
        texts.push((format!("agekeep help {name}"), help(&["help", name])));
    }
    let mut found = Vec::new();
    for (place, text) in texts {
        // An example is code, and each line of a list is a sentence of its own.
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("agekeep "));
        let text = lines.collect::<Vec<_>>().join("\n");
        found.extend(faults(&place, &text.replace("\n  ", "\n\n  "), &style));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_errors_keep_the_style() {
    let style = style();
    let mut found = Vec::new();
    for error in every_error() {
        for text in [error.to_string(), error.hint()] {
            found.extend(faults(error.code(), &format!("{text}."), &style));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Troubleshooting has a row for each error of the library, with its exit code.
#[test]
fn troubleshooting_has_every_error() {
    let page = fs::read_to_string(root().join("docs/troubleshooting.md")).expect("the page");
    let mut errors: Vec<(&str, u8)> = every_error()
        .iter()
        .map(|error| (error.code(), error.exit_code()))
        .collect();
    // Those that need what only a store has.
    errors.extend([
        ("already_member", 5),
        ("another_store", 13),
        ("not_found", 4),
        ("agent", 12),
    ]);
    let missing: Vec<_> = errors
        .iter()
        .filter(|(name, code)| !page.contains(&format!("\n| `{name}` | {code} | ")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
