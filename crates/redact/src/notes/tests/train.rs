//! The training of the model: learns the points from notes in which the secrets are marked.
//!
//! `AGEKEEP_LEARN=clean.jsonl cargo test --release --lib notes::train` writes `points.txt`.
//! It learns from the notes in `fixtures/redaction/notes` that are not held back, from the samples
//! of the rules, and from the files of texts without secrets that the variable names, with colons
//! between them. Without the variable, it only reads `points.txt`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;

use crate::engine::BUILT_IN;
use crate::notes::hash;
use crate::notes::page::NotePage;
use crate::notes::weigh::{self, Feature, FeatureKind};
use crate::rules::samples;
use crate::rules::tests::build::notes::{KINDS, Lists, OF_CLASS, row};
use crate::rules::tests::example;
use crate::span::{Rank, Span};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/notes");
const NOTES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/redaction/notes"
);
/// The part of a file's name that keeps the file from training.
const HELD_BACK: &str = "held-back";
/// Number of points in one unit of a weight.
const SCALE: f32 = 16.0;
/// Number of times that all texts are learnt from.
const ROUNDS: usize = 12;
/// Number of rounds, the last ones, of whose weights the mean is taken: a single round leans to the
/// texts that it saw last.
const ROUNDS_COUNTED: usize = 6;
/// The learning rate and the sparseness of FTRL-Proximal: "Ad Click Prediction" (KDD 2013), section
/// 3.
const RATE: f32 = 0.1;
const SPARSE: f32 = 3.0;
/// The weight of a text without secrets that nobody wrote for this.
const CLEAN_COUNTS: f32 = 20.0;
/// The weight of a sample of a rule: all samples have to come out as they are.
const SAMPLE_COUNTS: f32 = 40.0;
/// Rules whose secrets people say in notes. The secrets of other rules are found before words are
/// weighed.
const OF_NOTES: [&str; 8] = [
    "access-code",
    "card-code",
    "login-password",
    "one-time-code",
    "password",
    "pin",
    "security-answer",
    "settings-secret",
];
/// Fewest times that a feature must be seen to count.
const SEEN_MIN: u32 = 4;

#[derive(Deserialize)]
struct Note {
    text: String,
    secrets: Vec<String>,
}

/// A word as a training example.
struct Example {
    features: Vec<u32>,
    secret: bool,
    counts: f32,
}

/// Reads the notes of a file. A mark in them keeps other scanners from taking a made-up secret for
/// a live token.
fn notes(text: &str) -> impl Iterator<Item = Note> {
    text.lines()
        .map(|line| serde_json::from_str(&line.replace('¦', "")).expect("a note"))
}

/// Returns the places of a note's secrets, as words of their own.
fn places(note: &Note) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    for secret in note.secrets.iter().filter(|secret| !secret.is_empty()) {
        for (start, _) in note.text.match_indices(secret.as_str()) {
            let end = start + secret.len();
            let glued = |one: Option<char>, other: Option<char>| {
                one.is_some_and(|c| c.is_ascii_alphanumeric())
                    && other.is_some_and(|c| c.is_ascii_alphanumeric())
            };
            let before = glued(
                note.text[..start].chars().next_back(),
                secret.chars().next(),
            );
            let behind = glued(secret.chars().next_back(), note.text[end..].chars().next());
            if !before && !behind {
                places.push(start..end);
            }
        }
    }
    places
}

#[derive(Default)]
struct Learnt {
    numbers: HashMap<Feature, u32>,
    seen: Vec<u32>,
    examples: Vec<Example>,
    words: HashMap<u32, String>,
}

impl Learnt {
    /// Learns from a file of texts without secrets.
    fn read_clean(&mut self, text: &str) {
        for note in notes(text) {
            self.add(note.text.as_bytes(), &[], &[], CLEAN_COUNTS);
        }
    }

    /// Learns from notes: each alone, and between two without secrets, as it may stand in a file.
    fn read_notes(&mut self, all: &[Note]) {
        let honest: Vec<&Note> = all.iter().filter(|note| note.secrets.is_empty()).collect();
        for (at, note) in all.iter().enumerate() {
            let places = places(note);
            self.add(note.text.as_bytes(), &places, &[], 1.0);
            let other = |step: usize| honest[at * step % honest.len()].text.as_str();
            let (before, after) = (other(7), other(11));
            let text = format!("{before}\n\n{}\n\n{after}", note.text);
            let shift = before.len() + 2;
            let places: Vec<_> = places
                .iter()
                .map(|place| place.start + shift..place.end + shift)
                .collect();
            self.add(text.as_bytes(), &places, &[], 1.0);
        }
    }

    /// Learns from the samples of the rules.
    fn read_samples(&mut self) {
        for kind in samples::kinds() {
            let samples = samples::of_kind(kind);
            for marked in samples.found.iter().chain(&samples.kept) {
                let (text, places) = example(marked);
                let found =
                    |place: &Range<usize>| Span::new(place.clone(), "password", Rank::Named);
                if OF_NOTES.contains(&kind) {
                    self.add(&text, &places, &[], SAMPLE_COUNTS);
                } else {
                    let found: Vec<Span> = places.iter().map(found).collect();
                    self.add(&text, &[], &found, SAMPLE_COUNTS);
                }
            }
        }
    }

    fn add(&mut self, text: &[u8], places: &[Range<usize>], found: &[Span], counts: f32) {
        let page = NotePage::read(text, &BUILT_IN.labels(text), found);
        page.decide(|page, at, history| {
            let range = page.words[at].range();
            let hit = |place: &Range<usize>| place.start < range.end && range.start < place.end;
            let secret = places.iter().any(hit);
            let mut features = Vec::new();
            weigh::features(page, at, history, |feature| {
                let next = u32::try_from(self.numbers.len()).expect("few");
                let number = *self.numbers.entry(feature).or_insert(next);
                if number == next {
                    self.seen.push(0);
                }
                self.seen[number as usize] += 1;
                features.push(number);
            });
            self.examples.push(Example {
                features,
                secret,
                counts,
            });
            secret
        });
        for word in page.words.iter().filter(|word| word.is_plain()) {
            let plain = word.text.trim_end_matches(['!', '?']).to_lowercase();
            self.words.insert(word.hash, plain.replace('’', "'"));
        }
        for word in page.words.iter().filter(|word| word.text.contains(' ')) {
            for part in word.text.to_lowercase().split(' ') {
                self.words.insert(hash::of(part), part.to_owned());
            }
        }
    }

    /// Computes the weight of each feature.
    #[allow(clippy::cast_precision_loss)] // a few rounds
    fn weights(&mut self) -> Vec<f32> {
        let seen = &self.seen;
        for example in &mut self.examples {
            let often = |number: &u32| seen[*number as usize] >= SEEN_MIN;
            example.features.retain(often);
        }
        let count = self.numbers.len();
        let (mut weights, mut squares, mut sums) =
            (vec![0f32; count], vec![0f32; count], vec![0f32; count]);
        let mut order: Vec<usize> = (0..self.examples.len()).collect();
        let mut dice = 88_172_645_463_325_252u64;
        let mut means = vec![0f32; count];
        for round in 0..ROUNDS {
            for at in (1..order.len()).rev() {
                dice ^= dice << 13;
                dice ^= dice >> 7;
                dice ^= dice << 17;
                order.swap(at, usize::try_from(dice % (at as u64 + 1)).expect("small"));
            }
            for example in order.iter().map(|at| &self.examples[*at]) {
                let sum: f32 = example.features.iter().map(|n| weights[*n as usize]).sum();
                let likely = 1.0 / (1.0 + (-sum).exp());
                let fault = (likely - f32::from(u8::from(example.secret))) * example.counts;
                for number in example.features.iter().map(|n| *n as usize) {
                    let (square, sum) = (&mut squares[number], &mut sums[number]);
                    let step = ((*square + fault * fault).sqrt() - square.sqrt()) / RATE;
                    *sum += fault - step * weights[number];
                    *square += fault * fault;
                    let beyond = *sum - sum.signum() * SPARSE;
                    let counts = sum.abs() > SPARSE;
                    let rate = (1.0 + square.sqrt()) / RATE;
                    weights[number] = if counts { -beyond / rate } else { 0.0 };
                }
            }
            if round >= ROUNDS - ROUNDS_COUNTED {
                for (mean, weight) in means.iter_mut().zip(&weights) {
                    *mean += weight / ROUNDS_COUNTED as f32;
                }
            }
        }
        means
    }

    /// Writes the rows of `points.txt`.
    fn rows(&self, weights: &[f32], vocabulary: &Lists) -> String {
        let mut rows: BTreeMap<Feature, i32> = BTreeMap::new();
        for (feature, number) in &self.numbers {
            #[allow(clippy::cast_possible_truncation)] // some hundreds at the most
            let points = (weights[*number as usize] * SCALE).round() as i32;
            if points != 0 {
                rows.insert(*feature, points);
            }
        }
        let mut text =
            String::from("# What counts for a word and against it: see tests/train.rs.\n");
        let mut hashes = HashSet::new();
        for (Feature(kind, one, two, three, _), points) in rows {
            // Two features of one hash cannot both have points.
            if !hashes.insert(hash::feature(kind, one, two, three)) {
                continue;
            }
            let (name, _) = KINDS[usize::from(kind)];
            let one = match vocabulary
                .0
                .get(one as usize)
                .filter(|_| OF_CLASS.contains(&name))
            {
                Some((class, _)) => (*class).to_owned(),
                None => one.to_string(),
            };
            let worded = (FeatureKind::WordBefore as u8..=FeatureKind::WordsBefore as u8)
                .contains(&kind)
                || [FeatureKind::Inside as u8, FeatureKind::Itself as u8].contains(&kind);
            let word = self.words.get(&three).filter(|_| worded && three > 64);
            let three = word.map_or(three.to_string(), |word| format!("\"{word}\""));
            writeln!(text, "{name} {one} {two} {three} {points}").expect("memory");
        }
        text
    }
}

#[test]
fn points_are_learnt_from_notes() {
    let words = include_str!("../vocabulary.txt");
    let vocabulary = Lists::read(words).expect("lists of words");
    let path = Path::new(FOLDER).join("points.txt");
    if let Some(clean) = option_env!("AGEKEEP_LEARN") {
        let mut learnt = Learnt::default();
        let mut files: Vec<_> = fs::read_dir(NOTES)
            .expect("a folder")
            .map(|entry| entry.expect("a file").path())
            .filter(|path| !path.to_string_lossy().contains(HELD_BACK))
            .collect();
        files.sort();
        let texts = files
            .iter()
            .map(|file| fs::read_to_string(file).expect("a file"));
        let texts: Vec<String> = texts.collect();
        learnt.read_notes(
            &texts
                .iter()
                .flat_map(|text| notes(text))
                .collect::<Vec<_>>(),
        );
        for file in clean.split(':').filter(|file| !file.is_empty()) {
            learnt.read_clean(&fs::read_to_string(file).expect("a file"));
        }
        learnt.read_samples();
        let weights = learnt.weights();
        let text = learnt.rows(&weights, &vocabulary);
        fs::write(&path, text).expect("written");
    }
    let text = fs::read_to_string(&path).expect("there");
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<_> = rows
        .map(|line| row(line, &vocabulary).ok_or(line))
        .collect();
    let faults: Vec<&&str> = rows.iter().filter_map(|row| row.as_ref().err()).collect();
    assert_eq!(faults, Vec::<&&str>::new());
    assert!(rows.len() > 500, "{}", rows.len());
}
