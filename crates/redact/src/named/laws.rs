//! Laws that hold for any text: nothing breaks the engine, and every span is valid.

use proptest::prelude::*;

use crate::rules;
use crate::scan::{Budget, OverBudget, Scan, Switches};
use crate::span::Span;

/// Text between the pieces of rule examples: separators, quotes, escapes and surprises.
const JOINTS: &[&str] = &[
    "",
    " ",
    "\n",
    "\r\n",
    "\t",
    "=",
    ": ",
    ", ",
    "|",
    "\"",
    "'",
    "`",
    "\\",
    "\\\"",
    "(",
    ")",
    "[",
    "<",
    ">",
    "{",
    "}",
    "é",
    "密码",
    "„",
    "“",
    "🔐",
    "\u{1}",
    "\\n",
    "-",
    "--",
    "://",
    "@",
    "?",
    "&",
    ";",
    "password",
    "token",
    "key? lee> ",
    "login ",
    "|---|\n",
    "```\n",
    "$",
    "%",
    "is the ",
    "user,password\n",
];

/// Number of texts that are tried.
const CASES: u32 = 500;

fn pieces() -> impl Strategy<Value = Vec<(usize, usize, usize, usize)>> {
    proptest::collection::vec(
        (
            any::<usize>(),
            any::<usize>(),
            any::<usize>(),
            any::<usize>(),
        ),
        0..10,
    )
}

/// Builds a text from pieces of examples, cut at random places.
fn assemble(pieces: &[(usize, usize, usize, usize)]) -> String {
    let examples: Vec<&str> = rules::all()
        .map(rules::samples::of)
        .flat_map(|samples| samples.found.iter().chain(&samples.kept))
        .map(String::as_str)
        .collect();
    let mut text = String::new();
    for (example, from, to, joint) in pieces {
        let example = examples[example % examples.len()].replace(['«', '»', '¦'], "");
        let letters: Vec<char> = example.chars().collect();
        let (from, to) = (from % (letters.len() + 1), to % (letters.len() + 1));
        text.extend(&letters[from.min(to)..from.max(to)]);
        text.push_str(JOINTS[joint % JOINTS.len()]);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// No text breaks the engine, and no span is empty or reaches beyond the text.
    #[test]
    fn no_text_breaks_the_engine(pieces in pieces()) {
        let text = assemble(&pieces);
        let mut budget = Budget::new(1 << 24, 100_000);
        if let Ok(spans) = scan(text.as_bytes(), &mut budget) {
            for span in spans {
                prop_assert!(span.start < span.end && span.end <= text.len(), "{span:?} in {text:?}");
            }
        }
    }

    /// Bytes that are no text do not break the engine either.
    #[test]
    fn no_bytes_break_the_names(bytes in proptest::collection::vec(any::<u8>(), 0..200), word in 0usize..8) {
        let words = ["password=", "token: ", "|key|", "login ", "api key (", "密码", "secret\n", "auth=("];
        let mut text = bytes.clone();
        text.extend_from_slice(words[word].as_bytes());
        text.extend_from_slice(&bytes);
        let mut budget = Budget::new(1 << 24, 100_000);
        if let Ok(spans) = scan(&text, &mut budget) {
            for span in spans {
                prop_assert!(span.start < span.end && span.end <= text.len(), "{span:?}");
            }
        }
    }
}

/// Runs the whole scan, as on every text.
fn scan(text: &[u8], budget: &mut Budget) -> Result<Vec<Span>, OverBudget> {
    let switches = Switches::default();
    let scan = Scan {
        own: None,
        gitleaks: None,
        switches: &switches,
        path: "",
        weighs: true,
    };
    scan.of(text, budget)
}
