//! What the tests share: the rules with their examples, texts sent through the binary, markers.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::support::{Home, json_lines, stderr};

/// A kind of secret as `redact rules --json` shows it.
pub(crate) struct Rule {
    pub(crate) kind: String,
    pub(crate) class: String,
    pub(crate) found: Vec<Example>,
    pub(crate) kept: Vec<String>,
}

/// A text in which a rule finds something.
#[derive(Clone)]
pub(crate) struct Example {
    pub(crate) text: String,
    /// What must vanish: what stands between `«` and `»`.
    pub(crate) secrets: Vec<String>,
}

impl Example {
    fn read(written: &str) -> Self {
        let written = written.replace('¦', "");
        let text = written.replace(['«', '»'], "");
        let inside = |rest: &str| rest.split('»').next().unwrap_or_default().to_owned();
        let secrets = written.split('«').skip(1).map(inside).collect();
        Self { text, secrets }
    }
}

/// Every built-in rule, as the binary lists them, with its samples.
pub(crate) fn rules() -> Vec<Rule> {
    let listed = Home::empty().run(&["redact", "rules", "--json"]);
    assert!(listed.status.success(), "{}", stderr(&listed));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let samples = json_lines(include_bytes!("../../fixtures/redaction/samples.jsonl"));
    let mut of: HashMap<String, Vec<Value>> = HashMap::new();
    for sample in samples {
        of.entry(text(&sample["kind"])).or_default().push(sample);
    }
    let rule = |value: &Value| {
        let kind = text(&value["kind"]);
        let (found, kept) = of[&kind]
            .iter()
            .partition::<Vec<_>, _>(|s| s["text"].is_string());
        let example = |sample: &&Value| Example::read(&text(&sample["text"]));
        let clean = |sample: &&Value| text(&sample["clean"]).replace('¦', "");
        Rule {
            kind,
            class: text(&value["class"]),
            found: found.iter().map(example).collect(),
            kept: kept.iter().map(clean).collect(),
        }
    };
    let rules: Vec<Rule> = json_lines(&listed.stdout).iter().map(rule).collect();
    assert!(rules.len() > 600, "{} rules", rules.len());
    rules
}

/// Texts as `redact test --jsonl` leaves them, all in one process.
pub(crate) fn redacted(texts: &[String]) -> Vec<String> {
    let mut lines = String::new();
    for (id, text) in texts.iter().enumerate() {
        lines += &format!("{}\n", json!({"id": id, "text": text}));
    }
    let tested = Home::empty().run_with_input(&["redact", "test", "--jsonl"], &lines);
    assert!(tested.status.success(), "{}", stderr(&tested));
    let answers = json_lines(&tested.stdout);
    assert_eq!(answers.len(), texts.len());
    let text = |(id, answer): (usize, &serde_json::Value)| {
        assert_eq!(answer["id"], id, "answers come in order");
        answer["text"].as_str().expect("a text").to_owned()
    };
    answers.iter().enumerate().map(text).collect()
}

/// The marker that a text begins with.
pub(crate) fn marker(text: &str) -> Option<&str> {
    let body = text.strip_prefix("[REDACTED:")?;
    let end = body.find(']')?;
    let (kind, fingerprint) = body[..end].split_once('#').unwrap_or((&body[..end], "0"));
    let named = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let fits = kind.chars().all(named) && fingerprint.chars().all(|c| c.is_ascii_hexdigit());
    fits.then(|| &text[..=(text.len() - body.len() + end)])
}

/// A text with a bar where each marker stands.
pub(crate) fn without_markers(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("[REDACTED:") {
        out += &rest[..at];
        let width = marker(&rest[at..]).map_or(1, str::len);
        out += if width == 1 { "[" } else { "|" };
        rest = &rest[at + width..];
    }
    out + rest
}

/// Whether a text still has the secret, or eight characters of it in a row.
pub(crate) fn is_left(secret: &str, text: &str) -> bool {
    if secret.len() < 8 {
        return text.contains(secret);
    }
    let starts = secret.char_indices().map(|(at, _)| at);
    let mut pieces = starts.filter_map(|at| secret.get(at..at + 8));
    pieces.any(|piece| text.contains(piece))
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number of the splitmix64 sequence.
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).expect("below a usize")
    }

    /// One of these.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// As many characters of an alphabet in ASCII.
    pub(crate) fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters = alphabet.as_bytes();
        (0..length)
            .map(|_| char::from(*self.pick(letters)))
            .collect()
    }

    /// Digits in hexadecimal.
    pub(crate) fn hex(&mut self, length: usize) -> String {
        self.text("0123456789abcdef", length)
    }

    /// Characters of base64.
    pub(crate) fn base64(&mut self, length: usize) -> String {
        const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        self.text(ALPHABET, length)
    }

    /// A random UUID.
    pub(crate) fn uuid(&mut self) -> String {
        let widths = [8, 4, 4, 4, 12];
        let parts: Vec<String> = widths.iter().map(|width| self.hex(*width)).collect();
        parts.join("-")
    }
}

/// The next place at or before `at` where a character begins.
pub(crate) fn boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    let back = (0..4).find(|back| text.is_char_boundary(at.saturating_sub(*back)));
    at.saturating_sub(back.unwrap_or_default())
}
