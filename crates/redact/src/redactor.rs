//! The redactor: the built-in rules and the owner's policy, ready to use on texts.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use hmac::{Hmac, Mac};
use regex::bytes::Regex;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::config::{Allow, Mode, Redaction};
use crate::engine::Engine;
use crate::gitleaks::Gitleaks;
use crate::glob::Glob;
use crate::personal::Personal;
use crate::scan::{Budget, Scan, Switches, merge};
use crate::span::{self, Kind, Rank, Span};
use crate::text::Text;
use crate::{Fault, entropy, rules, token};

/// Most rounds in which a text is redacted until nothing more is found in it.
const ROUNDS_MAX: usize = 8;
/// Bytes that one scan may read for each byte of its text, besides the bytes for the owner's rules.
const READS_MAX: u64 = 64;
/// Bytes that one scan may read however short its text is.
const READS_FREE: u64 = 1024 * 1024;
/// Most findings in one text.
const FINDINGS_MAX: u64 = 100_000;
/// Least randomness of a value whose fingerprint may be shown, in bits. Whoever has the key can
/// guess a value with fewer.
const FINGERPRINT_BITS_MIN: f64 = 80.0;

/// A secret found in a text: its place, never its value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of the secret.
    pub kind: Kind,
    /// The line in which it begins, counted from 1.
    pub line: usize,
    /// The first column, in characters, counted from 1.
    pub start: usize,
    /// The column behind the last one; for a secret over several lines, in its last line.
    pub end: usize,
    /// Its bytes in the text that was searched. A text is searched again after secrets in it were
    /// replaced; for those that are found then, that is the text as it was by then.
    pub bytes: Range<usize>,
    /// The number of line breaks that were removed with it.
    breaks: usize,
    /// The fingerprint in its marker, if the policy asks for one.
    pub fingerprint: Option<u32>,
}

/// A text with its secrets replaced by markers: the only text that is sealed.
#[derive(Debug, Clone)]
pub struct Redacted {
    text: Text,
    findings: Vec<Finding>,
}

impl Redacted {
    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Returns the replaced secrets, in order.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the kinds of the replaced secrets, in order.
    #[must_use]
    pub fn kinds(&self) -> Vec<&str> {
        self.findings
            .iter()
            .map(|found| found.kind.as_str())
            .collect()
    }

    /// Returns the present number of a line of the text before redaction; both are counted from 1.
    #[must_use]
    pub fn line_now(&self, line: usize) -> usize {
        let before = self.findings.iter().filter(|found| found.line < line);
        let gone: usize = before.map(|found| found.breaks).sum();
        line.saturating_sub(gone).max(1)
    }
}

/// The reason why a text is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withheld {
    /// The scan would cost more than a text of that length may.
    Unfinished,
    /// The text holds secrets, and the policy refuses such texts.
    Found(Vec<Finding>),
}

/// The key of a store's fingerprints, which is never exported.
pub struct FingerprintKey(Zeroizing<[u8; 32]>);

impl FingerprintKey {
    /// Makes a key of 32 random bytes, or of bytes derived from such.
    #[must_use]
    pub fn new(key: Zeroizing<[u8; 32]>) -> Self {
        Self(key)
    }

    /// Returns the first 32 bits of a fingerprint, as they stand in a marker.
    fn marker(&self, kind: &Kind, value: &[u8]) -> u32 {
        let digest = self.keyed(&[b"marker", kind.as_str().as_bytes(), value]);
        u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
    }

    /// Returns the first 64 bits of a fingerprint in hexadecimal, as they stand in the policy.
    fn allow(&self, value: &[u8]) -> String {
        let digest = self.keyed(&[b"allow", value]);
        let first = digest[..8].try_into().expect("eight of 32 bytes");
        format!("{:016x}", u64::from_be_bytes(first))
    }

    /// Computes the HMAC-SHA-256 (RFC 2104) of pieces, each with its length before it.
    fn keyed(&self, pieces: &[&[u8]]) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&*self.0).expect("a key of any length");
        for piece in pieces {
            mac.update(&(piece.len() as u64).to_le_bytes());
            mac.update(piece);
        }
        mac.finalize().into_bytes().into()
    }
}

/// A value that may stay, with its patterns compiled.
struct Allowed {
    fingerprint: Option<String>,
    regex: Option<Regex>,
    kind: Option<String>,
    glob: Option<Glob>,
}

/// A redactor, which finds and replaces secrets as the owner's policy says.
#[derive(Clone)]
pub struct Redactor(Arc<Ready>);

struct Ready {
    switches: Switches,
    mode: Mode,
    paths: Vec<(Glob, Mode)>,
    allow: Vec<Allowed>,
    own: Option<Engine>,
    own_rules: usize,
    gitleaks: Option<Gitleaks>,
    /// Kinds that no built-in rule has.
    own_kinds: BTreeSet<String>,
    fingerprints: bool,
    key: Option<FingerprintKey>,
}

impl Default for Redactor {
    /// Makes a redactor of the built-in rules alone.
    fn default() -> Self {
        Self::new(&Redaction::default(), None).expect("the default policy has no rules of its own")
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor(…)")
    }
}

impl Redactor {
    /// Makes a redactor of a policy, without a store's key: no marker shows a fingerprint, and no
    /// fingerprint lets a value stay.
    ///
    /// # Errors
    /// A [`Fault`] if a part of the policy cannot be followed.
    pub fn of_policy(policy: &Redaction) -> Result<Self, Fault> {
        Self::new(policy, None)
    }

    /// Makes a redactor of a policy, with the key of its fingerprints.
    ///
    /// # Errors
    /// A [`Fault`] if a part of the policy cannot be followed.
    pub fn new(policy: &Redaction, key: Option<FingerprintKey>) -> Result<Self, Fault> {
        let gitleaks = policy.gitleaks.as_deref().map(Gitleaks::parse).transpose();
        let gitleaks = gitleaks.map_err(|fault| Fault {
            line: None,
            why: format!("gitleaks.toml: {fault}"),
        })?;
        let mut own_kinds: BTreeSet<String> =
            policy.rules.iter().map(|rule| rule.kind.clone()).collect();
        own_kinds.extend(gitleaks.iter().flat_map(Gitleaks::kinds));
        let paths = policy.paths.iter();
        let paths = paths.map(|entry| Ok((Glob::parse(&entry.glob)?, entry.mode)));
        Ok(Self(Arc::new(Ready {
            switches: switches(policy),
            mode: policy.mode,
            paths: paths.collect::<Result<_, _>>()?,
            allow: policy.allow.iter().map(allowed).collect::<Result<_, _>>()?,
            own: (!policy.rules.is_empty()).then(|| Engine::own(&policy.rules)),
            own_rules: policy.rules.len() + gitleaks.as_ref().map_or(0, Gitleaks::len),
            gitleaks,
            own_kinds,
            fingerprints: policy.fingerprints,
            key,
        })))
    }

    /// Tells whether this is the other redactor or a clone of it.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns a memory's text as it may be kept at `path`.
    ///
    /// # Errors
    /// [`Withheld`] if it may not be kept there at all.
    pub fn redact(&self, path: &str, text: &Text) -> Result<Redacted, Withheld> {
        match self.mode_at(path) {
            Mode::Off => Ok(Redacted {
                text: text.clone(),
                findings: Vec::new(),
            }),
            Mode::Redact => self.rewrite(path, text),
            Mode::Reject => {
                let redacted = self.rewrite(path, text)?;
                if redacted.findings.is_empty() {
                    return Ok(redacted);
                }
                Err(Withheld::Found(redacted.findings))
            }
        }
    }

    /// Returns a memory's text without its secrets, whatever the mode at its path says.
    ///
    /// # Errors
    /// [`Withheld::Unfinished`] if it takes too long to scan.
    pub fn replace_all(&self, path: &str, text: &Text) -> Result<Redacted, Withheld> {
        self.rewrite(path, text)
    }

    /// Finds the secrets in a text as it stands, whatever the mode at its path says.
    ///
    /// # Errors
    /// [`Withheld::Unfinished`] if it takes too long to scan.
    pub fn find(&self, path: &str, text: &Text) -> Result<Vec<Finding>, Withheld> {
        let spans = self.spans(text.as_str(), path)?;
        Ok(self.locate(text.as_str(), &spans))
    }

    /// Replaces the secrets in a text of the record or of an answer, whatever the mode of any path
    /// says. A text that cannot be scanned is left out whole.
    #[must_use]
    pub fn line(&self, text: &str) -> (String, Vec<Finding>) {
        match self.rewrite("", &text.into()) {
            Ok(redacted) => (redacted.text.as_str().to_owned(), redacted.findings),
            Err(_) => ("[not kept: it could not be scanned]".into(), Vec::new()),
        }
    }

    /// Returns the kind of the first secret in a path.
    ///
    /// # Errors
    /// [`Withheld::Unfinished`] as for texts.
    pub fn in_path(&self, path: &str) -> Result<Option<Kind>, Withheld> {
        // The path as a whole, and each name in it, with and without its extension.
        let mut lines = path.to_owned();
        for name in path.split('/') {
            // A name that stood here twice would be a label, `PW4`, and the value below it.
            let stem = name.rsplit_once('.').map(|(stem, _)| stem);
            for line in [Some(name), stem].into_iter().flatten() {
                lines.push('\n');
                lines.push_str(line);
            }
        }
        // The words of a name are weighed only where it is a sentence: `ssh/11-27-incident.md` names a
        // topic and a date, and there is nothing around them that would tell.
        let is_sentence = path.contains(' ');
        let spans = self.spans_of(&lines, path, is_sentence)?;
        // No name holds a list of codes: `11-02-backup-codes-7.md` is a day, a topic and a number.
        let is_list = |span: &Span| !is_sentence && span.kind.as_str() == "recovery-code";
        let found = spans.into_iter().find(|span| !is_list(span));
        Ok(found.map(|span| span.kind))
    }

    /// Returns the fingerprint of a value for the `allow` list of the policy.
    #[must_use]
    pub fn fingerprint(&self, value: &str) -> Option<String> {
        let key = self.0.key.as_ref()?;
        Some(key.allow(value.as_bytes()))
    }

    fn mode_at(&self, path: &str) -> Mode {
        let fits = self.0.paths.iter().find(|(glob, _)| glob.fits(path));
        fits.map_or(self.0.mode, |(_, mode)| *mode)
    }

    /// Redacts until nothing more is found, so that redacting again changes nothing.
    fn rewrite(&self, path: &str, text: &Text) -> Result<Redacted, Withheld> {
        let mut findings = Vec::new();
        let mut now = text.clone();
        for _ in 0..ROUNDS_MAX {
            let spans = self.spans(now.as_str(), path)?;
            if spans.is_empty() {
                return Ok(Redacted {
                    text: now,
                    findings,
                });
            }
            findings.extend(self.locate(now.as_str(), &spans));
            now = self.replace(now.as_str(), &spans);
        }
        Err(Withheld::Unfinished)
    }

    /// Finds the secrets in a text, in order and without overlaps.
    fn spans(&self, text: &str, path: &str) -> Result<Vec<Span>, Withheld> {
        self.spans_of(text, path, true)
    }

    /// Finds the secrets of a text, with or without the words that only weigh like one.
    fn spans_of(&self, text: &str, path: &str, weighs: bool) -> Result<Vec<Span>, Withheld> {
        let mut bytes = Zeroizing::new(text.as_bytes().to_vec());
        blank_order_marks(&mut bytes);
        for marker in span::find(&bytes, |kind| self.knows(kind)) {
            bytes[marker].fill(span::BLANK);
        }
        let length = bytes.len() as u64;
        let reads = length.saturating_mul(READS_MAX + self.0.own_rules as u64);
        let mut budget = Budget::new(reads.saturating_add(READS_FREE), FINDINGS_MAX);
        let scan = Scan {
            own: self.0.own.as_ref(),
            gitleaks: self.0.gitleaks.as_ref(),
            switches: &self.0.switches,
            path,
            weighs,
        };
        let found = scan.of(&bytes, &mut budget);
        let mut spans = found.map_err(|_| Withheld::Unfinished)?;
        if !self.0.allow.is_empty() {
            spans.retain(|span| !self.allows(span, &bytes, path));
        }
        Ok(merge(text, spans))
    }

    fn knows(&self, kind: &str) -> bool {
        is_known(kind) || self.0.own_kinds.contains(kind)
    }

    fn allows(&self, span: &Span, text: &[u8], path: &str) -> bool {
        let Some(value) = text.get(span.start..span.end) else {
            return false;
        };
        self.0.allow.iter().any(|allowed| {
            let kind = allowed.kind.as_ref();
            let here = allowed.glob.as_ref().is_none_or(|glob| glob.fits(path));
            let same = allowed.fingerprint.as_ref().is_some_and(|fingerprint| {
                let key = self.0.key.as_ref();
                key.is_some_and(|key| key.allow(value) == *fingerprint)
            });
            let fits = allowed
                .regex
                .as_ref()
                .is_some_and(|regex| regex.is_match(value));
            kind.is_none_or(|kind| kind == span.kind.as_str()) && here && (same || fits)
        })
    }

    fn fingerprint_of(&self, span: &Span, text: &str) -> Option<u32> {
        let key = self.0.key.as_ref().filter(|_| self.0.fingerprints)?;
        let value = &text.as_bytes()[span.start..span.end];
        #[allow(clippy::cast_precision_loss)] // values are far shorter than 2^52 bytes
        let bits = entropy::entropy(value) * value.len() as f64;
        let guessed = !matches!(span.rank, Rank::Marked | Rank::Keyed | Rank::Armour);
        (!guessed && bits >= FINGERPRINT_BITS_MIN).then(|| key.marker(&span.kind, value))
    }

    fn replace(&self, text: &str, spans: &[Span]) -> Text {
        let mut out = Zeroizing::new(String::with_capacity(text.len() + spans.len() * 24));
        let mut done = 0;
        for span in spans {
            out.push_str(&text[done..span.start]);
            out.push_str(&span::write(&span.kind, self.fingerprint_of(span, text)));
            done = span.end;
        }
        out.push_str(&text[done..]);
        out.as_str().into()
    }

    fn locate(&self, text: &str, spans: &[Span]) -> Vec<Finding> {
        let bytes = text.as_bytes();
        // Each character is counted once, however many findings a line has.
        let (mut line, mut column, mut at) = (1, 1, 0);
        let mut walk = |to: usize| {
            if let Some(last) = memchr::memrchr(b'\n', &bytes[at..to]) {
                line += memchr::memchr_iter(b'\n', &bytes[at..to]).count();
                column = 1;
                at += last + 1;
            }
            column += text[at..to].chars().count();
            at = to;
            (line, column)
        };
        let place = |span: &Span| {
            let (line, start) = walk(span.start);
            let (last, end) = walk(span.end);
            Finding {
                kind: span.kind.clone(),
                line,
                start,
                end,
                bytes: span.start..span.end,
                breaks: last - line,
                fingerprint: self.fingerprint_of(span, text),
            }
        };
        spans.iter().map(place).collect()
    }
}

/// Takes byte-order marks at the beginning of a line for blanks: they are no part of its first word. Those of the
/// whole text are lines of their own, because blanks would indent the first.
fn blank_order_marks(bytes: &mut [u8]) {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    let marks: Vec<usize> = memchr::memmem::find_iter(bytes, MARK).collect();
    // Several in a row begin the line together.
    let mut end = 0;
    for at in marks {
        if at == end || bytes[at - 1] == b'\n' {
            let begins_text = at == 0 || at == end && bytes[at - 1] == b'\n';
            end = at + MARK.len();
            bytes[at..end].fill(if begins_text { b'\n' } else { b' ' });
        }
    }
}

/// The kinds of the built-in rules.
static KINDS: LazyLock<BTreeSet<&'static str>> =
    LazyLock::new(|| rules::all().map(|rule| rule.kind).collect());

/// Tells whether a built-in rule has this kind.
#[must_use]
pub fn is_known(kind: &str) -> bool {
    KINDS.contains(kind)
}

/// Tells whether this is a kind of personal data.
#[must_use]
pub fn is_personal(kind: &str) -> bool {
    Personal::of_kind(kind).is_some()
}

/// Tells whether an owner's pattern can be followed.
pub(crate) fn check_pattern(pattern: &str) -> Result<(), String> {
    let empty = token::compile_new(pattern)
        .map_err(|e| e.to_string())?
        .is_match(b"");
    if empty {
        return Err("it fits the empty text".into());
    }
    Ok(())
}

fn allowed(allow: &Allow) -> Result<Allowed, Fault> {
    let regex = allow
        .regex
        .as_ref()
        .map(|regex| token::compile(&format!("^(?:{regex})$")));
    Ok(Allowed {
        fingerprint: allow.fingerprint.clone(),
        regex: regex.transpose().map_err(|e| Fault {
            line: None,
            why: format!("an `allow` regex: {e}"),
        })?,
        kind: allow.kind.clone(),
        glob: allow.glob.as_deref().map(Glob::parse).transpose()?,
    })
}

fn switches(policy: &Redaction) -> Switches {
    let mut switches = Switches::default();
    let kinds = |names: &[String]| -> BTreeSet<Kind> {
        names.iter().filter_map(|name| Kind::parse(name)).collect()
    };
    switches.off = kinds(&policy.off);
    for name in &policy.personal {
        if let Some(wanted) = Personal::of_kind(name) {
            switches.personal = switches.personal.and(wanted);
        }
    }
    // One switch looks for every kind of national id; the kinds not asked for are switched off.
    let asked = kinds(&policy.personal);
    let others = rules::all()
        .map(|rule| rule.kind)
        .filter(|kind| Personal::of_kind(kind).is_some_and(|wanted| wanted.national_ids));
    let others = others
        .filter_map(Kind::parse)
        .filter(|kind| !asked.contains(kind));
    switches.off.extend(others);
    switches
}
