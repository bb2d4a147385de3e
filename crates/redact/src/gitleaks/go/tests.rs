//! Tests of each construct that the two engines read differently: its translation, and that this
//! matches as Go's documentation (`regexp/syntax`) says.

use proptest::prelude::*;
use regex::bytes::{Regex, RegexBuilder};

use crate::gitleaks::go::*;

fn build(go: &str) -> Regex {
    let translated = translate(go).unwrap_or_else(|refusal| panic!("{go}: {refusal}"));
    RegexBuilder::new(&translated.pattern)
        .unicode(false)
        .build()
        .unwrap_or_else(|error| panic!("{go}: {error}"))
}

/// A pattern, its translation, texts that it matches as a whole, and texts that it does not match.
type Case = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

fn check(cases: &[Case]) {
    for (go, rust, matched, unmatched) in cases {
        let translated = translate(go).unwrap_or_else(|refusal| panic!("{go}: {refusal}"));
        assert_eq!(translated.pattern, *rust, "{go}");
        let regex = build(go);
        for text in *matched {
            let found = regex.find(text.as_bytes()).map(|found| found.range());
            assert_eq!(found, Some(0..text.len()), "{go} on {text:?}");
        }
        for text in *unmatched {
            assert!(!regex.is_match(text.as_bytes()), "{go} on {text:?}");
        }
    }
}

#[test]
fn a_brace_that_counts_nothing_is_itself() {
    check(&[
        (r"^\${x}$", r"^\$\{x}$", &["${x}"], &["$x"]),
        (r"{\d+}", r"\{\d+}", &["{12}"], &["12"]),
        ("a{,5}", r"a\{,5}", &["a{,5}"], &["aaa"]),
        ("a{", r"a\{", &["a{"], &["a"]),
        ("a{1", r"a\{1", &["a{1"], &["a"]),
        ("a{-1}", r"a\{-1}", &["a{-1}"], &["a"]),
        // With a needless zero or a space, Go no longer reads a count; the `regex` crate still
        // does.
        ("a{02}", r"a\{02}", &["a{02}"], &["aa"]),
        ("a{ 2}", r"a\{ 2}", &["a{ 2}"], &["aa"]),
        ("a{2, 3}", r"a\{2, 3}", &["a{2, 3}"], &["aaa"]),
        ("^a{2}{$", r"^a{2}\{$", &["aa{"], &["aa"]),
        ("^a{0}b$", "^a{0}b$", &["b"], &["ab"]),
        ("^a{2,}$", "^a{2,}$", &["aa", "aaaa"], &["a"]),
        ("^a{2,3}?$", "^a{2,3}?$", &["aa", "aaa"], &["aaaa"]),
    ]);
}

#[test]
fn a_bracket_in_a_class_is_itself() {
    check(&[
        ("^[[]$", r"^[\[]$", &["["], &["]", ":"]),
        (r"^[\w[.]$", r"^[\w\[.]$", &["a", "[", "."], &["]"]),
        ("^[[a]]$", r"^[\[a]]$", &["[]", "a]"], &["[", "a"]),
        ("^[]a]$", "^[]a]$", &["]", "a"], &["["]),
        ("^[^]a]$", "^[^]a]$", &["["], &["]", "a"]),
        (
            "^[]-a]$",
            r"^[\]-a]$",
            &["]", "^", "_", "`", "a"],
            &["-", "["],
        ),
        ("^[[:alpha:]_]$", "^[[:alpha:]_]$", &["x", "_"], &["1", ":"]),
        ("^[[:^digit:]]$", "^[[:^digit:]]$", &["x"], &["1"]),
        ("^[[:]$", r"^[\[:]$", &["[", ":"], &["]"]),
    ]);
}

#[test]
fn signs_in_a_class_are_no_operators() {
    check(&[
        ("^[a&&b]$", r"^[a&\&b]$", &["a", "b", "&"], &["c"]),
        (
            "^[a-z&&[^b]]$",
            r"^[a-z&\&\[^b]]$",
            &["b]", "&]", "[]", "^]"],
            &["a"],
        ),
        ("^[a~~b]$", r"^[a~\~b]$", &["a", "b", "~"], &["c"]),
    ]);
    let refusal = translate("^[a--b]$").expect_err("from `a` down to `-`");
    assert_eq!(refusal.at, 6);
    check(&[
        (r"^[\w--]$", r"^[\w\-\-]$", &["a", "-"], &["+"]),
        ("^[+--]$", r"^[+-\-]$", &["+", ",", "-"], &["."]),
        ("^[--/]$", r"^[\--/]$", &["-", ".", "/"], &[","]),
        ("^[--]$", r"^[-\-]$", &["-"], &["a"]),
        (r"^[\w-a]$", r"^[\w\-a]$", &["x", "-"], &["+"]),
        ("^[a-c-e]$", r"^[a-c\-e]$", &["b", "-", "e"], &["d"]),
        ("^[-a]$", "^[-a]$", &["-", "a"], &["b"]),
        ("^[a-]$", "^[a-]$", &["-", "a"], &["b"]),
        ("^[&]$", "^[&]$", &["&"], &["a"]),
        ("^[a^]$", "^[a^]$", &["^", "a"], &["b"]),
        ("^[^^]$", "^[^^]$", &["a"], &["^"]),
        ("^[!-~]$", r"^[!-\~]$", &["!", "a", "~"], &[" "]),
    ]);
}

#[test]
fn angles_are_no_boundaries() {
    check(&[
        (r"\<a\>", "<a>", &["<a>"], &["a"]),
        (r"[\<\>]", "[<>]", &["<", ">"], &["\\"]),
        (r"a\b{start}", r"a\b\{start}", &["a{start}"], &["a"]),
        (r"\b{2}a", r"\b{2}a", &["a"], &["b"]),
    ]);
}

#[test]
fn quotes_are_written_out() {
    check(&[
        (r"\Qa.b\E+", r"a\.b+", &["a.b", "a.bbb"], &["axb"]),
        (r"\Q[(*", r"\[\(\*", &["[(*"], &["["]),
        (r"x\Q\Ey", "xy", &["xy"], &["x"]),
        (r"^a*\Q\E*$", "^a**$", &["aa"], &["b"]),
        (r"\Qa\.b\E", r"a\\\.b", &[r"a\.b"], &["a.b"]),
    ]);
}

#[test]
fn numbers_are_characters() {
    check(&[
        (r"\123", r"\x53", &["S"], &["{"]),
        (r"\12", r"\x0A", &["\n"], &["1"]),
        (r"\0", r"\x00", &["\0"], &["0"]),
        (r"\1234", r"\x534", &["S4"], &["S"]),
        (r"[\060-\071]", r"[\x30-\x39]", &["0", "9"], &["a"]),
        (r"\x41\x{42}", r"\x41\x{42}", &["AB"], &["ab"]),
        // In Go such a number is a character; in the `regex` crate it would be a byte.
        (r"\xe9", "é", &["é"], &["e"]),
        (r"\x{e9}+", "é+", &["é", "éé"], &["e"]),
        (r"\351", "é", &["é"], &["e"]),
        (r"[\xe0-\xff]", "(?u:[à-ÿ])", &["é"], &["e"]),
        (r"[^\x00-\x7f]", r"[^\x00-\x7f]", &[], &["e"]),
        (
            r"\a\f\n\r\t\v",
            r"\a\f\n\r\t\v",
            &["\x07\x0C\n\r\t\x0B"],
            &["a"],
        ),
    ]);
}

#[test]
fn classes_stay_ascii() {
    check(&[
        (r"^\w\d\b$", r"^\w\d\b$", &["a1"], &["é1", "a٣"]),
        (
            r"^\s$",
            r"^[\t\n\x0C\r ]$",
            &["\t", " "],
            &["\x0B", "\u{a0}"],
        ),
        (r"^\S$", r"^[^\t\n\x0C\r ]$", &["\x0B", "a"], &["\t"]),
        (r"^[\s;]$", r"^[\t\n\x0C\r ;]$", &["\n", ";"], &["\x0B"]),
        (
            r"^[\s\S]$",
            r"^[\t\n\x0C\r [^\t\n\x0C\r ]]$",
            &["\n", "a"],
            &["ab"],
        ),
        (
            r"^[^\S\n]$",
            r"^[^[^\t\n\x0C\r ]\n]$",
            &["\t", " "],
            &["\n", "a", "\x0B"],
        ),
        // Accepted: `(?i)` folds no character beyond ASCII onto an ASCII letter.
        ("(?i)k", "(?i)k", &["k", "K"], &["\u{212A}"]),
    ]);
}

#[test]
fn unicode_is_on_where_it_is_named() {
    check(&[
        (r"^\pN$", r"^(?u:\p{N})$", &["1", "٣", "Ⅷ"], &["a"]),
        (
            r"^\p{Greek}\w$",
            r"^(?u:\p{sc=Greek})\w$",
            &["λa"],
            &["aa", "λλ"],
        ),
        (r"^\P{Greek}$", r"^(?u:\P{sc=Greek})$", &["a"], &["λ"]),
        (r"^\p{^Greek}$", r"^(?u:\P{sc=Greek})$", &["a"], &["λ"]),
        (r"^\P{^Lu}$", r"^(?u:\p{Lu})$", &["Ä"], &["ä"]),
        (r"^(?i)\p{Lu}$", r"^(?i)(?u:\p{Lu})$", &["Ä", "ä"], &["1"]),
        (
            r"^[\p{Lu}\d_]$",
            r"^(?u:[\p{Lu}0-9_])$",
            &["Ä", "1", "_"],
            &["٣"],
        ),
        (
            r"^[^\pL\W]$",
            r"^(?u:[^\p{L}[^0-9A-Za-z_]])$",
            &["1"],
            &["a", "-", "٣"],
        ),
        (r"^\p{Any}$", r"^(?u:\p{any})$", &["λ"], &["λλ"]),
        (
            r"^\pC$",
            r"^(?u:[\p{Cc}\p{Cf}\p{Co}])$",
            &["\u{ad}"],
            &["\u{378}", "a"],
        ),
        ("^[äö]$", "^(?u:[äö])$", &["ä"], &["Ä", "a"]),
        ("^(?i)[äö]$", "^(?i)(?u:[äö])$", &["Ä"], &["a"]),
        ("^é{2}$", "^é{2}$", &["éé"], &["é"]),
        ("(?i)é", "(?i)(?u:é)", &["É", "é"], &["e"]),
        ("(?:(?i)é)é", "(?:(?i)(?u:é))é", &["Éé"], &["éÉ"]),
        ("(?i:é(?-i)é)é", "(?i:(?u:é)(?-i)é)é", &["Ééé"], &["éÉé"]),
    ]);
}

#[test]
fn flags_and_groups_are_gos() {
    check(&[
        ("(?i)ab|c", "(?i)ab|c", &["AB", "C"], &["d"]),
        ("(?i:a)b", "(?i:a)b", &["Ab"], &["AB"]),
        ("(?s)a.b", "(?s)a.b", &["a\nb"], &["ab"]),
        ("a.b", "a.b", &["a b"], &["a\nb"]),
        ("(?U)a+?", "(?U)a+?", &["aa"], &["b"]),
        ("(?m)^a$", "(?m)^a$", &["a"], &["ab"]),
        ("^a$", "^a$", &["a"], &["a\n", "b\na"]),
        (r"\Aa\z", r"\Aa\z", &["a"], &["a\n"]),
        ("(?ii)a", "(?i)a", &["A"], &["b"]),
        ("(?i-i)a", "(?-i)a", &["a"], &["A"]),
        ("(?)a", "a", &["a"], &["A"]),
        ("(?:a)", "(?:a)", &["a"], &["b"]),
        ("(?P<n>a)(?<m>b)", "(?P<n>a)(?<m>b)", &["ab"], &["a"]),
        ("(?P<1>a)", "(a)", &["a"], &["b"]),
        ("()|a", "()|a", &[""], &[]),
        ("a||b", "a||b", &["a"], &[]),
        ("^*a", "^*a", &["a"], &["b"]),
        ("a]}", "a]}", &["a]}"], &["a"]),
    ]);
    let groups = |go| translate(go).expect("a pattern").groups;
    assert_eq!(groups("(a(?:b)(?P<n>c)((d)))"), 4);
    assert_eq!(groups(r"\((?i:[(])\Q(\E"), 0);
}

/// A pattern that Go refuses, and the character at which it does.
const REFUSED: &[(&str, usize)] = &[
    ("a{1001}", 2),
    ("a{1,1001}", 2),
    ("a{99999999999999999999}", 2),
    ("a{3,2}", 2),
    ("(x{100}){20}", 9),
    ("((x{10}){10}y){11}", 15),
    ("(?:a{30,}b){40}", 12),
    ("a**", 3),
    ("a+*", 3),
    ("a{2}{3}", 5),
    ("a*?*", 4),
    ("*a", 1),
    ("a|*b", 3),
    ("(+a)", 2),
    ("(?i)*", 5),
    ("(?x)a", 1),
    ("(?iR)a", 1),
    ("(?i-)a", 1),
    ("(?--i)a", 1),
    ("a(?=b)", 2),
    ("a(?!b)", 2),
    ("(?<=b)a", 1),
    ("(?<!b)a", 1),
    ("(?>a)", 1),
    ("(?#a)", 1),
    ("(?P=a)", 1),
    ("(?P<a-b>c)", 1),
    ("(?P<>c)", 1),
    ("(?P<a", 1),
    ("(?<a>b)(?P<a>c)", 8),
    ("(a", 1),
    ("é(a", 2),
    ("a)", 2),
    ("[a", 1),
    ("[]", 1),
    ("[", 1),
    ("[a-", 1),
    ("[z-a]", 5),
    (r"[a-\d]", 4),
    ("[[:nope:]]", 2),
    (r"[\b]", 2),
    (r"[\Qa\E]", 2),
    (r"\C", 1),
    (r"\Z", 1),
    (r"\1", 1),
    (r"(a)\1", 4),
    (r"\8", 1),
    (r"\y", 1),
    (r"\é", 1),
    (r"a\E", 2),
    (r"\u0041", 1),
    (r"\x4", 1),
    (r"\x", 1),
    (r"\x{}", 1),
    (r"\x{41", 1),
    (r"\x{110000}", 1),
    (r"\x{d800}", 1),
    (r"\p", 1),
    (r"\p{", 1),
    (r"\p{Nope}", 1),
    (r"\p{Alphabetic}", 1),
    (r"\pé", 1),
    ("\\", 1),
];

#[test]
fn what_go_refuses_is_refused_with_its_place() {
    for &(go, at) in REFUSED {
        match translate(go) {
            Err(refusal) => assert_eq!(refusal.at, at, "{go}: {refusal}"),
            Ok(done) => panic!("{go} became {}", done.pattern),
        }
    }
}

#[test]
fn repetitions_multiply_as_in_go() {
    for go in [
        "x{1000}",
        "(x{100}){10}",
        "(x{0,100}y{900}){1}",
        "(x{100}|y*){10,}",
        "(x{1000})*",
        "(?:(x{1000})+)?",
        "(x{1000}){0}",
        "(x{1000}){0,1}",
    ] {
        translate(go).unwrap_or_else(|refusal| panic!("{go}: {refusal}"));
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| format!("{}a{}", "(|b(?:c)+".repeat(depth), ")*".repeat(depth));
    build(&nested(DEPTH - 1));
    assert!(translate(&nested(DEPTH + 1)).is_err());
}

/// Makes patterns of pieces, so that many of them are valid.
fn pattern() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9 _=/.:\"']{1,4}",
        prop::sample::select(vec![
            "(",
            ")",
            "(?:",
            "(?i)",
            "(?s:",
            "(?-i:",
            "(?P<n>",
            "(?U)",
            "|",
            "[",
            "[^",
            "]",
            "-",
            "&&",
            "--",
            "~~",
            "^",
            "$",
            ".",
            "*",
            "+",
            "?",
            "{",
            "}",
            "{2}",
            "{1,3}",
            "{0,}",
            "{,2}",
            "{01}",
            "\\",
            r"\d",
            r"\W",
            r"\s",
            r"\S",
            r"\b",
            r"\B",
            r"\A",
            r"\z",
            r"\<",
            r"\Q",
            r"\E",
            r"\07",
            r"\x41",
            r"\xe9",
            r"\pL",
            r"\p{Greek}",
            r"\P{Lu}",
            r"\pC",
            "[:alpha:]",
            "[[:^space:]",
            "[a-z]",
            "[\\w-]",
            "é",
            "ß",
            "\u{130}",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_breaks_the_translator(text in "\\PC{0,40}", other in any::<String>()) {
        let _ = translate(&text);
        let _ = translate(&other);
    }

    #[test]
    fn what_is_translated_compiles(go in pattern()) {
        if let Ok(translated) = translate(&go) {
            let built = RegexBuilder::new(&translated.pattern)
                .unicode(false)
                .size_limit(64 * 1024 * 1024)
                .build();
            match built {
                Ok(regex) => prop_assert_eq!(regex.captures_len(), translated.groups + 1),
                Err(error) => prop_assert!(false, "{} became {}: {}", go, translated.pattern, error),
            }
        }
    }

    #[test]
    fn a_refusal_stands_within_the_pattern(go in pattern()) {
        if let Err(refusal) = translate(&go) {
            prop_assert!((1..=go.chars().count() + 1).contains(&refusal.at), "{}: {}", go, refusal);
        }
    }

    #[test]
    fn literals_stay_as_they_are(text in "[a-zA-Z0-9 _=/:;,<>\"'%@!#&~}\\]äλ中-]{0,40}") {
        let translated = translate(&text).expect("a literal");
        prop_assert_eq!(&translated.pattern, &text);
        prop_assert!(translated.changes.is_empty());
        prop_assert_eq!(translated.groups, 0);
        let found = build(&text).find(text.as_bytes()).map(|found| found.range());
        prop_assert_eq!(found, Some(0..text.len()));
    }

    #[test]
    fn quoted_texts_match_themselves(text in "[^\\\\]{0,20}") {
        let regex = build(&format!("^\\Q{text}\\E$"));
        prop_assert!(regex.is_match(text.as_bytes()));
    }

    #[test]
    fn a_class_holds_what_it_names(
        members in prop::collection::btree_set(prop::char::range(' ', '~'), 1..6),
        probe in prop::char::range(' ', '~'),
    ) {
        // Each character is escaped on its own, as Go wants it.
        let escape = |c: &char| match c {
            '\\' | ']' | '^' | '-' => format!("\\{c}"),
            _ => c.to_string(),
        };
        let body: String = members.iter().map(escape).collect();
        prop_assume!(!body.contains("[:"));
        let regex = build(&format!("^[{body}]$"));
        prop_assert_eq!(regex.is_match(probe.to_string().as_bytes()), members.contains(&probe));
    }
}
