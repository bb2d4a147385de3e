//! Tests of the findings of rules in texts, and of the texts that they let pass.

use proptest::prelude::*;

use crate::gitleaks::scan::*;

const PATH: &str = "/memories/notes.md";

fn rules(text: &str) -> Gitleaks {
    Gitleaks::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn rule(more: &str) -> Gitleaks {
    rules(&format!("[[rules]]\nid = \"mine\"\n{more}"))
}

fn spans(rules: &Gitleaks, text: &str, path: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut budget = Budget::new(1 << 24, 10_000);
    rules
        .scan(text.as_bytes(), path, &mut budget, &mut found)
        .expect("within the budget");
    found
}

/// Returns the texts that are found.
fn found<'t>(rules: &Gitleaks, text: &'t str, path: &str) -> Vec<&'t str> {
    let spans = spans(rules, text, path);
    spans
        .iter()
        .map(|span| &text[span.start..span.end])
        .collect()
}

#[test]
fn a_rule_finds_its_match() {
    let mine = rule("regex = 'tok_[0-9]+'");
    assert_eq!(found(&mine, "a tok_1 b tok_22.", PATH), ["tok_1", "tok_22"]);
    let span = &spans(&mine, "tok_1", PATH)[0];
    assert_eq!((span.kind.as_str(), span.rank), ("mine", Rank::Keyed));
}

#[test]
fn the_secret_is_a_group() {
    let text = "key: abc=def;";
    for (more, secret) in [
        ("regex = 'key: \\w+=\\w+'", "key: abc=def"),
        ("regex = 'key: (\\w+)=(\\w+)'", "abc"),
        ("regex = 'key: (\\w+)=(\\w+)'\nsecretGroup = 2", "def"),
        ("regex = 'key: (x?)\\w+=(\\w+)'", "def"),
        // No group takes part, so the whole match is the secret.
        ("regex = 'key: (x)?(y)?\\w+=\\w+'", "key: abc=def"),
        (
            "regex = 'key: (x)?(\\w+)=\\w+'\nsecretGroup = 1",
            "key: abc=def",
        ),
        // The pattern is matched against the match alone, where `$` is nearer.
        ("regex = 'key: (\\w+=\\w+)(?:;|$)'", "abc=def"),
        // Alone it does not match, so the whole match is the secret.
        ("regex = '\\b=(\\w+)'", "=def"),
    ] {
        assert_eq!(found(&rule(more), text, PATH), [secret], "{more}");
    }
}

#[test]
fn line_ends_around_a_match_are_no_part_of_it() {
    let mine = rule("regex = '\\s*tok\\s*'");
    assert_eq!(found(&mine, "a\n\n tok\n\nb", PATH), [" tok"]);
    assert!(found(&rule("regex = '\\n+|x*'"), "a\n\nb", PATH).is_empty());
}

#[test]
fn a_keyword_anywhere_opens_the_rule() {
    let mine = rule("regex = '[0-9]{4}'\nkeywords = ['Acme', 'ключ']");
    for (text, count) in [
        ("1234", 0),
        ("ACME\n1234", 1),
        ("1234 unacmed", 1),
        ("1234 acm e", 0),
        ("КЛЮЧ 1234", 1),
    ] {
        assert_eq!(found(&mine, text, PATH).len(), count, "{text}");
    }
    // A keyword within another.
    let two = rules(
        "[[rules]]\nid = \"r1\"\nregex = 'a1'\nkeywords = ['xyz']\n\
         [[rules]]\nid = \"r2\"\nregex = 'b2'\nkeywords = ['y', 'xyz']\n",
    );
    assert_eq!(found(&two, "a1 b2 xyz", PATH), ["a1", "b2"]);
    assert_eq!(found(&two, "a1 b2 y", PATH), ["b2"]);
}

#[test]
fn entropy_must_be_more() {
    // Each of the four characters makes up a quarter: two bits.
    let at = |entropy: &str| rule(&format!("regex = 'k=(\\w+)'\nentropy = {entropy}"));
    assert!(found(&at("2"), "k=abcd", PATH).is_empty());
    assert_eq!(found(&at("1.9"), "k=abcd", PATH), ["abcd"]);
    assert_eq!(found(&at("0"), "k=aaaa", PATH), ["aaaa"]);
    for (text, bits) in [
        ("", 0.0),
        ("aaaa", 0.0),
        ("ab", 1.0),
        ("abcdefgh", 3.0),
        // Two characters in four bytes: each counts a quarter.
        ("éä", 1.0),
    ] {
        assert!((entropy(text.as_bytes()) - bits).abs() < 1e-9, "{text}");
    }
}

#[test]
fn patterns_of_an_allowlist_look_at_their_target() {
    let text = "one\nkey: tok_11 fine\nkey: tok_22\n";
    for (list, left) in [
        ("regexes = ['^tok_11$']", vec!["tok_22"]),
        ("regexes = ['key', 'fine']", vec!["tok_11", "tok_22"]),
        ("regexTarget = 'secret'\nregexes = ['11', '22']", vec![]),
        (
            "regexTarget = 'match'\nregexes = ['^key: tok_1']",
            vec!["tok_22"],
        ),
        (
            "regexTarget = 'match'\nregexes = ['fine']",
            vec!["tok_11", "tok_22"],
        ),
        ("regexTarget = 'line'\nregexes = ['fine$']", vec!["tok_22"]),
        (
            "regexTarget = 'line'\nregexes = ['one']",
            vec!["tok_11", "tok_22"],
        ),
        ("stopwords = ['OK_1']", vec!["tok_22"]),
        ("stopwords = ['key']", vec!["tok_11", "tok_22"]),
        ("commits = ['x']", vec!["tok_11", "tok_22"]),
    ] {
        for (before, head) in [
            ("", "[[rules.allowlists]]"),
            ("", "[rules.allowlist]"),
            ("", "[[allowlists]]"),
            ("", "[allowlist]"),
            ("", "[[allowlists]]\ntargetRules = ['mine']"),
        ] {
            let mine = rule(&format!(
                "regex = 'key: (tok_\\d+)'\n{before}{head}\n{list}"
            ));
            assert_eq!(found(&mine, text, PATH), left, "{head} {list}");
        }
    }
}

#[test]
fn a_target_keeps_an_allowlist_to_its_rules() {
    let two = rules(
        "[[rules]]\nid = \"r1\"\nregex = 'a1'\n[[rules]]\nid = \"r2\"\nregex = 'b2'\n\
         [[allowlists]]\ntargetRules = ['r2']\nregexes = ['.']\n",
    );
    assert_eq!(found(&two, "a1 b2", PATH), ["a1"]);
}

#[test]
fn conditions_join_what_an_allowlist_asks() {
    let text = "k=abc k=xbc";
    let all = "condition = 'AND'\n";
    for (list, left) in [
        ("regexes = ['^a']\nstopwords = ['x']", vec![]),
        (
            &format!("{all}regexes = ['^a']\nstopwords = ['x']"),
            vec!["abc", "xbc"],
        ),
        (
            &format!("{all}regexes = ['^a']\nstopwords = ['bc']"),
            vec!["xbc"],
        ),
        ("paths = ['other']\nregexes = ['^a']", vec!["xbc"]),
        ("paths = ['notes']\nregexes = ['^q']", vec![]),
        (
            &format!("{all}paths = ['other']\nregexes = ['^a']"),
            vec!["abc", "xbc"],
        ),
        (
            &format!("{all}paths = ['notes']\nregexes = ['^a']"),
            vec!["xbc"],
        ),
        (&format!("{all}paths = ['notes']"), vec![]),
        // No commit is ever known, so a list that also names one never holds.
        (
            &format!("{all}paths = ['notes']\ncommits = ['x']"),
            vec!["abc", "xbc"],
        ),
        ("paths = ['notes']\ncommits = ['x']", vec![]),
    ] {
        for head in ["[[rules.allowlists]]", "[[allowlists]]"] {
            let mine = rule(&format!("regex = 'k=(\\w+)'\n{head}\n{list}"));
            assert_eq!(found(&mine, text, PATH), left, "{head} {list}");
        }
    }
}

#[test]
fn a_path_keeps_a_rule_to_some_memories() {
    let mine = rule("regex = 'tok_\\d'\npath = '\\.py$'");
    assert_eq!(found(&mine, "tok_1", "/memories/a.py"), ["tok_1"]);
    assert!(found(&mine, "tok_1", "/memories/a.pyc").is_empty());
}

#[test]
fn no_comment_lets_anything_pass() {
    let mine = rule("regex = 'tok_\\d'");
    assert_eq!(found(&mine, "tok_1 # gitleaks:allow", PATH), ["tok_1"]);
}

#[test]
fn flags_of_one_allowed_pattern_do_not_reach_the_next() {
    let mine = rule("regex = 'k=(\\w+)'\n[[allowlists]]\nregexes = ['(?i)^true$', '^abc$']");
    assert_eq!(found(&mine, "k=TRUE k=abc k=ABC", PATH), ["ABC"]);
}

#[test]
fn spans_hold_whole_characters() {
    // With Unicode off `.` is one byte.
    let mine = rule("regex = 'k=.{3}'");
    assert_eq!(found(&mine, "k=éé!", PATH), ["k=éé"]);
    assert_eq!(found(&rule("regex = '(?s)[^a](b)?$'"), "aé", PATH), ["é"]);
    assert_eq!(snapped("a中b".as_bytes(), 2..3), 1..4);
    assert_eq!(snapped(&[0x80; 20], 10..10), 7..13);
}

#[test]
fn no_span_covers_a_marker() {
    let mine = rule("regex = 'k=(.*)'");
    assert_eq!(found(&mine, "k=\x01", PATH), Vec::<&str>::new());
    assert_eq!(found(&mine, "k=\x01ab\x01\x01cd", PATH), ["ab", "cd"]);
    assert_eq!(found(&mine, "k=ab\x01", PATH), ["ab"]);
}

#[test]
fn a_spent_budget_refuses_the_text() {
    let mine = rule("regex = 'a'");
    let scan = |bytes, matches| {
        let mut budget = Budget::new(bytes, matches);
        mine.scan(b"aaaa", PATH, &mut budget, &mut Vec::new())
    };
    assert_eq!(scan(100, 4), Ok(()));
    assert_eq!(scan(100, 3), Err(OverBudget::Matches));
    assert_eq!(scan(5, 4), Err(OverBudget::Bytes));
}

#[test]
fn words_within_words_cost_as_much_as_bytes() {
    let mine = rule("regex = 'b'\nkeywords = ['a', 'aa', 'aaa']");
    let scan = |bytes| {
        let mut budget = Budget::new(bytes, 1);
        mine.scan(b"aaaa", PATH, &mut budget, &mut Vec::new())
    };
    // Four bytes for the gate, nine words, and four bytes for the rule.
    assert_eq!(scan(17), Ok(()));
    assert_eq!(scan(16), Err(OverBudget::Bytes));
}

#[test]
fn a_pattern_that_cannot_be_compiled_refuses_the_text() {
    let mine = rule("regex = '(?:[a-z]{10}\\pL){100}'");
    let mut budget = Budget::new(1 << 20, 10);
    let refused = mine.scan(b"x", PATH, &mut budget, &mut Vec::new());
    assert!(matches!(refused, Err(OverBudget::Pattern { rule, .. }) if rule == "mine"));
}

#[test]
fn a_line_is_asked_once() {
    let mine = rule("regex = 'a'\n[[allowlists]]\nregexTarget = 'line'\nregexes = ['nothing']");
    let text = "a".repeat(1_000);
    let mut budget = Budget::new(4_000, 1_000);
    let mut found = Vec::new();
    assert_eq!(
        mine.scan(text.as_bytes(), PATH, &mut budget, &mut found),
        Ok(())
    );
    assert_eq!(found.len(), 1_000);
}

proptest! {
    #[test]
    fn spans_are_whole_and_hold_no_marker(text in "[aké中=\\n\\x01 ]{0,30}") {
        let several = rules(
            "[[rules]]\nid = \"r1\"\nregex = 'k=.{2}'\n\
             [[rules]]\nid = \"r2\"\nregex = '(?s)a(.)'\n\
             [[rules]]\nid = \"r3\"\nregex = '[^k]+'\n",
        );
        for span in spans(&several, &text, PATH) {
            prop_assert!(span.start < span.end);
            let piece = text.get(span.start..span.end);
            prop_assert!(piece.is_some_and(|piece| !piece.contains('\x01')), "{:?}", span);
        }
    }
}
