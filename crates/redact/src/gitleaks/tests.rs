//! Tests of reading a file, and of refusals with their lines.

use proptest::prelude::*;

use crate::gitleaks::*;

fn refused(text: &str) -> Fault {
    match Gitleaks::parse(text) {
        Err(fault) => fault,
        Ok(_) => panic!("accepted: {text}"),
    }
}

/// A file, the line of its fault, and some words of the fault.
const FAULTS: &[(&str, usize, &str)] = &[
    ("title = \"x\"\ntitel = 3\n", 2, "titel"),
    (
        "[[rules]]\nid = \"ab\"\nregex = 'x'\nrandomness = 3\n",
        4,
        "randomness",
    ),
    ("\n[[rules]]\nregex = 'x'\n", 2, "without an `id`"),
    (
        "[[rules]]\nid = \"  \"\nregex = 'x'\n",
        1,
        "without an `id`",
    ),
    ("[[rules]]\nid = \"ab\"\n", 1, "neither `regex` nor `path`"),
    (
        "[[rules]]\nid = \"ab\"\nregex = ''\n",
        1,
        "neither `regex` nor `path`",
    ),
    (
        "[[rules]]\nid = \"中文\"\nregex = 'x'\n",
        1,
        "fewer than two",
    ),
    ("[[rules]]\nid = \"a_\"\nregex = 'x'\n", 1, "fewer than two"),
    (
        "[[rules]]\nid = \"ab\"\nregex = '''\na(?=b)'''\n",
        3,
        "`(?=`, which Go does not know, at character 2",
    ),
    (
        "[[rules]]\nid = \"ab\"\nregex = 'x'\npath = '*'\n",
        4,
        "`path`: a repetition of nothing",
    ),
    (
        "[[rules]]\nid = \"ab\"\nregex = '(x)'\nsecretGroup = 2\n",
        4,
        "its regex has 1",
    ),
    (
        "[[rules]]\nid = \"ab\"\nregex = '(x)'\nsecretGroup = -1\n",
        4,
        "expected usize",
    ),
    (
        "[[rules]]\nid = \"ab\"\nregex = 'x'\nentropy = nan\n",
        4,
        "`entropy` is NaN",
    ),
    (
        "[[rules]]\nid = \"ab\"\nregex = 'x'\nentropy = -1\n",
        4,
        "`entropy` is -1",
    ),
    (
        "[[rules]]\nid = \"ab\"\nregex = 'x'\nentropy = \"3\"\n",
        4,
        "invalid type",
    ),
    (
        "[[rules]]\nid = \"ab\"\nregex = 'x'\nkeywords = [\n\"x\",\n\"\",\n]\n",
        6,
        "an empty keyword",
    ),
    (
        "[[rules]]\nid = \"ab\"\nregex = 'x'\nskipReport = false\n",
        4,
        "`skipReport`",
    ),
    (
        "[[rules]]\nid = \"ab\"\nregex = 'x'\n[[rules.required]]\nid = \"cd\"\n",
        4,
        "`required`",
    ),
    (
        "[extend]\nuseDefault = true\npath = \"x.toml\"\n",
        3,
        "`extend.path`",
    ),
    ("[extend]\nurl = \"https://x\"\n", 2, "`extend.url`"),
    (
        "[extend]\nuseDefault = true\n[[rules]]\nid = \"gitlab-pat\"\n",
        3,
        "one of gitleaks' own rules",
    ),
    ("[[rules]\n", 1, "unclosed array table"),
];

#[test]
fn every_fault_has_its_line_and_names_its_cause() {
    for &(text, line, cause) in FAULTS {
        let fault = refused(text);
        assert!(fault.why.contains(cause), "{text}: {fault}");
        assert_eq!(fault.line, Some(line), "{text}: {fault}");
    }
}

#[test]
fn faults_of_allowlists_have_their_line() {
    let rule = "[[rules]]\nid = \"ab\"\nregex = 'x'\n";
    for (text, line, cause) in [
        (
            "[[allowlists]]\n",
            4,
            "no commits, paths, regexes or stopwords",
        ),
        (
            "[[rules.allowlists]]\n",
            4,
            "no commits, paths, regexes or stopwords",
        ),
        (
            "[allowlist]\nregexes = ['a']\n[[allowlists]]\nregexes = ['b']\n",
            4,
            "both",
        ),
        (
            "[rules.allowlist]\nregexes = ['a']\n[[rules.allowlists]]\nregexes = ['b']\n",
            4,
            "both",
        ),
        (
            "[[allowlists]]\nregexTarget = \"mtach\"\nregexes = ['a']\n",
            5,
            "`regexTarget`",
        ),
        (
            "[[allowlists]]\ncondition = \"NOT\"\nregexes = ['a']\n",
            5,
            "`condition`",
        ),
        (
            "[[allowlists]]\nregexes = [\n'a',\n'',\n]\n",
            7,
            "an empty pattern",
        ),
        ("[[allowlists]]\npaths = ['']\n", 5, "an empty pattern"),
        (
            "[[allowlists]]\nstopwords = ['']\n",
            5,
            "an empty stop word",
        ),
        ("[[allowlists]]\npaths = ['(']\n", 5, "without its `)`"),
        (
            "[[allowlists]]\nregexes = ['a']\ntargetRules = [\"ab\", \"cd\"]\n",
            6,
            "names `cd`",
        ),
        (
            "[[rules.allowlists]]\nregexes = ['a']\ntargetRules = [\"ab\"]\n",
            6,
            "`targetRules`",
        ),
        (
            "[[allowlists]]\nregexes = ['a']\nfiles = ['a']\n",
            6,
            "files",
        ),
    ] {
        let fault = refused(&format!("{rule}{text}"));
        assert!(fault.why.contains(cause), "{text}: {fault}");
        assert_eq!(fault.line, Some(line), "{text}: {fault}");
    }
}

#[test]
fn ids_become_kinds_that_differ() {
    let file = |ids: &[&str]| {
        let rule = |id: &&str| format!("[[rules]]\nid = \"{id}\"\nregex = 'x'\n");
        ids.iter().map(rule).collect::<String>()
    };
    let long = "a".repeat(60);
    let parsed = Gitleaks::parse(&file(&["My_Rule #1", "--x9--", &long])).expect("valid");
    let kinds: Vec<_> = parsed.rules.iter().map(|rule| rule.kind.as_str()).collect();
    assert_eq!(kinds, ["my-rule-1", "x9", &long[..40]]);
    for ids in [
        ["ab", "ab"],
        ["my_rule", "My-Rule"],
        ["my rule", "my.rule!"],
    ] {
        let fault = refused(&file(&ids));
        assert_eq!(fault.line, Some(4), "{fault}");
        assert!(fault.why.contains(ids[1]), "{fault}");
    }
}

#[test]
fn what_has_no_bearing_is_accepted_and_reported() {
    let text = r#"
title = "mine"
description = "x"
minVersion = "v8.25.0"
[extend]
useDefault = true
disabledRules = ["generic-api-key", "curl-auth-user"]
[[rules]]
id = "files"
path = '\.p12$'
[[rules]]
id = "mine"
description = "x"
regex = 'x'
tags = ["a"]
[[rules.allowlists]]
commits = ["abc"]
[allowlist]
commits = ["abc"]
"#;
    let parsed = Gitleaks::parse(text).expect("valid");
    assert_eq!(parsed.rules.len(), 1);
    let report = Gitleaks::check(text).expect("readable");
    let remarks = report.remarks.join("\n");
    for part in [
        "our own rules stand in for them",
        "generic-api-key, curl-auth-user belong",
        "rule `mine`: its `commits`",
        "allowlist: its `commits`",
    ] {
        assert!(remarks.contains(part), "{part}: {remarks}");
    }
    assert_eq!(report.fault(), None);
    assert!(matches!(report.rules[0].verdict, Verdict::Ignored(_)));
    assert_eq!(report.rules[1].verdict, Verdict::Loaded);
}

#[test]
fn a_check_goes_through_all_rules() {
    let text = r#"
[[rules]]
id = "plain"
regex = 'abc'
[[rules]]
id = "rewritten"
regex = 'a{b'
[[rules.allowlists]]
regexes = ['\<', 'x{y']
[[rules]]
id = "refused"
regex = 'a**'
[[rules]]
id = "large"
regex = '(?:[a-z]{10}\pL){100}'
[[allowlists]]
paths = ['(']
"#;
    let report = Gitleaks::check(text).expect("readable");
    let lines: Vec<_> = report.rules.iter().map(|rule| rule.line).collect();
    assert_eq!(lines, [2, 5, 10, 13]);
    let ids: Vec<_> = report.rules.iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(ids, ["plain", "rewritten", "refused", "large"]);
    assert_eq!(report.rules[0].verdict, Verdict::Loaded);
    assert_eq!(
        report.rules[1].verdict,
        Verdict::Rewritten(vec![go::Rewrite::Brace.what(), go::Rewrite::Angle.what()])
    );
    for (rule, line, why) in [(2, 12, "repetition of a repetition"), (3, 13, "4 MiB")] {
        match &report.rules[rule].verdict {
            Verdict::Refused(fault) => {
                assert_eq!(fault.line, Some(line));
                assert!(fault.why.contains(why), "{fault}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(report.faults.len(), 1);
    assert_eq!(report.faults[0].line, Some(17));
    assert_eq!(report.fault(), report.faults.first());
}

#[test]
fn older_and_other_spellings_are_read() {
    let text = r#"
[[rules]]
id = "ab"
regex = '(x)(y)'
secretgroup = 2
entropy = 3
[rules.allowlist]
stopWords = ["A"]
regextarget = "line"
[allowList]
regexes = ['b']
condition = "or"
"#;
    let parsed = Gitleaks::parse(text).expect("valid");
    assert_eq!(parsed.rules[0].group, 2);
    assert!((parsed.rules[0].entropy - 3.0).abs() < f64::EPSILON);
    assert_eq!(parsed.allow.len(), 1);
}

#[test]
fn sizes_are_bounded() {
    let rule = |id: usize| format!("[[rules]]\nid = \"r{id}\"\nregex = 'x'\n");
    let rules = |count: usize| (0..count).map(rule).collect::<String>();
    assert!(Gitleaks::parse(&rules(2_000)).is_ok());
    assert_eq!(refused(&rules(2_001)).line, Some(6_001));
    let large = format!("title = \"{}\"\n", "x".repeat(2 * 1024 * 1024));
    assert!(refused(&large).why.contains("2 MiB"));
    let words = format!(
        "{}keywords = [\"{}\"]\n",
        rule(1),
        "x".repeat(256 * 1024 + 1)
    );
    assert!(refused(&words).why.contains("256 KiB"));
}

#[test]
fn an_empty_file_has_no_rules() {
    let parsed = Gitleaks::parse("").expect("valid");
    assert!(parsed.rules.is_empty() && parsed.allow.is_empty());
}

proptest! {
    #[test]
    fn no_text_breaks_the_loader(
        text in "(\\[\\[rules\\]\\]\n|id = |regex = |path = |entropy = |\\[allowlist\\]\n|\
                 regexes = |'[a-z(\\[{]{0,4}'\n|\\['x'\\]\n|[0-9.]{1,3}\n|[a-zA-Z= ]{0,5}){0,10}",
    ) {
        let parsed = Gitleaks::parse(&text);
        let report = Gitleaks::check(&text);
        if parsed.is_ok() {
            prop_assert!(report.is_ok_and(|report| report.fault().is_none()));
        }
    }
}
