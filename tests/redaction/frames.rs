//! Every rule's examples in every frame a text may put around them.

use std::collections::BTreeMap;

use crate::redaction::texts::{Example, Rule, is_left, redacted, rules, without_markers};

/// What stands before and after a token.
const FRAMES: &[(&str, &str, &str)] = &[
    ("bare", "", ""),
    ("full stop", "We use ", "."),
    ("full stop, then more", "We use ", ". It is old."),
    ("comma", "one of ", ", or none"),
    ("semicolon", "first ", "; then the rest"),
    ("colon", "for ", ": do nothing"),
    ("bracket", "(see ", ")"),
    ("square bracket", "[see ", "]"),
    ("brace", "{see ", "}"),
    ("angle bracket", "<", ">"),
    ("exclamation", "take ", "!"),
    ("question", "is it ", "?"),
    ("double quotes", "he said \"", "\" once"),
    ("single quotes", "he said '", "' once"),
    ("backquotes", "run `", "` once"),
    ("german quotes", "er sagte „", "“ dazu"),
    ("guillemets", "il a dit «", "» hier"),
    ("corner quotes", "彼は「", "」と言った"),
    ("bold", "this is **", "** here"),
    ("italic", "this is _", "_ here"),
    ("struck", "this is ~~", "~~ here"),
    ("link text", "see [", "](https://example.org/page)"),
    ("link target", "see [page](", ") there"),
    ("table cell", "| name | ", " | note |"),
    ("narrow table cell", "|name|", "|note|"),
    ("code block", "```\n", "\n```\n"),
    ("yaml", "item:\n  value: ", "\n  other: 1\n"),
    ("yaml list", "items:\n  - ", "\n  - none\n"),
    ("toml", "[table]\nvalue = \"", "\"\nother = 1\n"),
    ("json", "{\"value\": \"", "\", \"other\": 1}"),
    ("narrow json", "{\"value\":\"", "\",\"other\":1}"),
    ("json list", "[\"", "\",\"none\"]"),
    (
        "escaped json",
        "{\\\"value\\\": \\\"",
        "\\\", \\\"n\\\": 1}",
    ),
    (
        "twice escaped json",
        "{\\\\\\\"value\\\\\\\":\\\\\\\"",
        "\\\\\\\"}",
    ),
    ("escaped line break before", "first\\n", "\\nthird"),
    ("escaped tab before", "first\\t", "\\tthird"),
    ("diff added", "@@ -1 +1 @@\n+", "\n context\n"),
    ("diff removed", "@@ -1 +1 @@\n-", "\n context\n"),
    (
        "log line",
        "2026-11-21T12:00:00Z INFO [app] got ",
        " after 3 ms",
    ),
    ("env", "PORT=80\nVALUE=", "\nHOST=a\n"),
    ("export", "export VALUE=", " && make\n"),
    ("powershell", "$env:VALUE = \"", "\"\n"),
    ("xml element", "<value>", "</value>"),
    ("xml attribute", "<add value=\"", "\" other=\"1\"/>"),
    ("html code", "<p><code>", "</code></p>"),
    ("html entity", "he said &quot;", "&quot; once"),
    ("url query", "https://example.org/x?value=", "&page=2"),
    ("chinese", "这是", "的值"),
    ("chinese stop", "我们用 ", "。然后"),
    ("japanese", "値は", "です。"),
    ("korean", "값은 ", "입니다"),
    (
        "german sentence",
        "Für den Zugriff nehmen wir ",
        ", das ändert sich später.",
    ),
    ("emoji", "🔥", "🔥"),
    ("crlf", "first\r\n", "\r\nthird\r\n"),
    ("byte order mark", "\u{feff}", "\nmore"),
    ("no-break space", "we use\u{a0}", "\u{a0}here"),
    ("line separator", "one\u{2028}", "\u{2028}two"),
    ("ellipsis", "it was ", "… or so"),
    ("dash", "it was —", "— or so"),
    ("comment", "let x = 1; // ", "\nlet y = 2;\n"),
    ("block comment", "/* ", " */"),
    ("list item", "- ", "\n- next\n"),
    ("shell arguments", "run --value ", " --verbose"),
    ("call", "connect(\"", "\")"),
    ("arrow", "value => ", ";"),
    ("nul", "a\0", "\0b"),
];

/// Lines before and after an example that may have several.
const SURROUNDINGS: &[(&str, &str, &str)] = &[
    ("alone", "", ""),
    ("after a heading", "# Notes\n\n", ""),
    (
        "between paragraphs",
        "We looked into it.\n\n",
        "\n\nThe rest is fine.\n",
    ),
    ("in a code block", "```\n", "\n```\n"),
    ("between list items", "- one\n- two\n\n", "\n\n- three\n"),
    ("after chinese", "我们看过了。\n\n", "\n\n没有别的。\n"),
    ("after a byte order mark", "\u{feff}", "\n"),
    (
        "in a text with a byte order mark",
        "\u{feff}first\n\n",
        "\n",
    ),
    ("after crlf", "first\r\nsecond\r\n\r\n", "\r\n\r\nthird\r\n"),
];

// Frames whose marks some tokens may begin or end with themselves. What goes too much there is a
// mark of the sentence, which costs little:
// full stops (Entra secrets and Microsoft tokens carry them), `!` and `*` (Microsoft tokens),
// `~` (Entra secrets), `_` (base64url), `+` of a diff (base64), `-` of a diff, `**` and `_` before
// a token that begins with a name (unleash), `t` of `\t` before a digit (tokens that begin with a
// version), and whatever stands after the address of a webhook up to white space or a quote.

/// Most cases of a class in which a part of the secret stays, and in which more than the secret
/// goes, in thousandths: what was measured, so that it gets no worse.
const RATES: &[(&str, usize, usize)] = &[
    // Left: three of `proxmox-token`. Spoiled: the marks named above.
    ("marked", 1, 4),
    ("keyed", 0, 0),
    ("structural", 0, 0),
    ("named", 0, 0),
    ("personal", 0, 0),
];

/// Most tokens in long files that do not go exactly, in thousandths.
const LONG_MAX: usize = 0;

fn assert_rates(class: &str, counts: &BTreeMap<&'static str, Count>) {
    let Count {
        tried,
        left,
        spoiled,
    } = total(counts);
    eprintln!("{class}: {left} left, {spoiled} spoiled of {tried}");
    let rates = RATES.iter().find(|(name, ..)| *name == class);
    let (_, left_max, spoiled_max) = rates.expect("a class");
    assert!(tried > 0, "{class}");
    assert!(
        left * 1_000 <= tried * left_max,
        "{class}: {left} left of {tried}"
    );
    assert!(
        spoiled * 1_000 <= tried * spoiled_max,
        "{class}: {spoiled} spoiled of {tried}"
    );
}

/// A text around a secret, and what must be left of it.
struct Case<'a> {
    kind: &'a str,
    frame: &'static str,
    secret: &'a str,
    text: String,
    rest: String,
}

#[derive(Default)]
struct Count {
    tried: usize,
    left: usize,
    spoiled: usize,
}

/// What one case did, told to standard error if it is no pass.
fn judge(case: &Case<'_>, out: &str, count: &mut Count) {
    let rest = without_markers(out);
    count.tried += 1;
    if rest == case.rest {
        return;
    }
    if is_left(case.secret, &rest) {
        count.left += 1;
        eprintln!("left: {} in {}: {rest:?}", case.kind, case.frame);
    } else {
        count.spoiled += 1;
        eprintln!("spoiled: {} in {}: {rest:?}", case.kind, case.frame);
    }
}

fn run(cases: &[Case<'_>]) -> BTreeMap<&'static str, Count> {
    let texts: Vec<String> = cases.iter().map(|case| case.text.clone()).collect();
    let mut counts: BTreeMap<&'static str, Count> = BTreeMap::new();
    for (case, out) in cases.iter().zip(redacted(&texts)) {
        judge(case, &out, counts.entry(case.frame).or_default());
    }
    counts
}

fn total(counts: &BTreeMap<&str, Count>) -> Count {
    let sum = |of: fn(&Count) -> usize| counts.values().map(of).sum();
    Count {
        tried: sum(|count| count.tried),
        left: sum(|count| count.left),
        spoiled: sum(|count| count.spoiled),
    }
}

/// The run of characters around a token without white space or quotes: what some tokens need to
/// be known by, such as the address of a webhook.
fn word_around<'a>(example: &'a Example, secret: &str) -> (&'a str, &'a str) {
    let ends = |c: char| c.is_whitespace() || "\"'`«»“”„「」，。（）".contains(c);
    let at = example.text.find(secret).expect("its own secret");
    let (before, after) = (&example.text[..at], &example.text[at + secret.len()..]);
    let start = before.char_indices().rev().find(|(_, c)| ends(*c));
    let from = start.map_or(0, |(at, c)| at + c.len_utf8());
    let to = after.find(|c: char| ends(c) || ".,;:!?)]}>".contains(c));
    (&before[from..], &after[..to.unwrap_or(after.len())])
}

/// Kinds that only the word they stand in gives away.
fn needs_its_word(rules: &[Rule]) -> Vec<&str> {
    let marked = || rules.iter().filter(|rule| rule.class == "marked");
    let alone = |rule: &Rule| rule.found[0].secrets[0].clone();
    let outs = redacted(&marked().map(alone).collect::<Vec<_>>());
    let found = marked()
        .zip(outs)
        .filter(|(_, out)| without_markers(out) != "|");
    found.map(|(rule, _)| rule.kind.as_str()).collect()
}

/// Every token of the marked rules with the part of its word that it needs.
fn tokens(rules: &[Rule]) -> Vec<(&str, &str, &str, &str)> {
    let with_word = needs_its_word(rules);
    eprintln!("known by their word alone: {with_word:?}");
    assert!(with_word.len() <= 15, "{with_word:?}");
    let mut tokens = Vec::new();
    for rule in rules.iter().filter(|rule| rule.class == "marked") {
        let kind = rule.kind.as_str();
        for example in &rule.found {
            for secret in &example.secrets {
                let (before, after) = if with_word.contains(&kind) {
                    word_around(example, secret)
                } else {
                    ("", "")
                };
                tokens.push((kind, before, secret.as_str(), after));
            }
        }
    }
    tokens
}

#[test]
fn a_token_goes_whole_from_every_frame() {
    let rules = rules();
    let mut cases = Vec::new();
    for (kind, head, secret, tail) in tokens(&rules) {
        for (frame, before, after) in FRAMES {
            cases.push(Case {
                kind,
                frame,
                secret,
                text: format!("{before}{head}{secret}{tail}{after}"),
                rest: format!("{before}{head}|{tail}{after}"),
            });
        }
    }
    let counts = run(&cases);
    for (frame, count) in counts
        .iter()
        .filter(|(_, count)| count.left + count.spoiled > 0)
    {
        let Count {
            tried,
            left,
            spoiled,
        } = count;
        eprintln!("{frame}: {left} left, {spoiled} spoiled of {tried}");
    }
    assert!(cases.len() > 60_000);
    assert_rates("marked", &counts);
}

#[test]
fn an_example_goes_whole_between_any_lines() {
    let rules = rules();
    let classes = ["keyed", "structural", "named"];
    let proven = ["credit-card", "iban"];
    let mut all = Vec::new();
    for class in [&classes[..], &["personal"]].concat() {
        let mut cases = Vec::new();
        let of_class = rules.iter().filter(|rule| rule.class == class);
        for rule in of_class.filter(|r| class != "personal" || proven.contains(&r.kind.as_str())) {
            for example in &rule.found {
                add_surrounded(&mut cases, &rule.kind, example);
            }
        }
        all.push((class, run(&cases)));
    }
    for (class, counts) in all {
        assert_rates(class, &counts);
    }
}

fn add_surrounded<'a>(cases: &mut Vec<Case<'a>>, kind: &'a str, example: &'a Example) {
    let mut rest = example.text.clone();
    for secret in &example.secrets {
        rest = rest.replacen(secret.as_str(), "|", 1);
    }
    for (frame, before, after) in SURROUNDINGS {
        for secret in &example.secrets {
            cases.push(Case {
                kind,
                frame,
                secret,
                text: format!("{before}{}{after}", example.text),
                rest: format!("{before}{rest}{after}"),
            });
        }
    }
}

#[test]
fn tokens_go_from_the_middle_of_a_long_file() {
    const LINE: &str =
        "The quick brown fox went to the market, and what it bought is listed below.\n";
    let rules = rules();
    let tokens = tokens(&rules);
    let pages: Vec<_> = tokens.chunks(40).collect();
    let filler = LINE.repeat(10);
    let text = |page: &&[(&str, &str, &str, &str)]| {
        let mut text = filler.clone();
        for (_, head, secret, tail) in *page {
            text += &format!("We use {head}{secret}{tail} here.\n{filler}{filler}");
        }
        text
    };
    let texts: Vec<String> = pages.iter().map(text).collect();
    assert!(texts[0].len() > 60_000);
    let mut faults = Vec::new();
    for (page, out) in pages.iter().zip(redacted(&texts)) {
        let rest = without_markers(&out);
        assert_eq!(rest.matches(LINE).count(), 10 + page.len() * 20);
        let lines = rest.lines().filter(|line| line.starts_with("We use "));
        for ((kind, head, _, tail), line) in page.iter().zip(lines) {
            if line != format!("We use {head}|{tail} here.") {
                faults.push(format!("{kind}: {line}"));
            }
        }
    }
    eprintln!(
        "in long files: {} of {}: {faults:#?}",
        faults.len(),
        tokens.len()
    );
    assert!(
        faults.len() * 1_000 <= tokens.len() * LONG_MAX,
        "{faults:#?}"
    );
}
