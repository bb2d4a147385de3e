//! The memory tool's contract as data, what an expectation in it matches, and a store for each case.

use std::fs;
use std::path::{Path, PathBuf};

use fancy_regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use crate::support::Home;

/// Cases in the file, so that none is lost without a test noticing.
pub(crate) const CASES: usize = 108;
/// Their steps.
pub(crate) const STEPS: usize = 281;

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) steps: Vec<Step>,
}

#[derive(Deserialize)]
pub(crate) struct Step {
    pub(crate) input: Value,
    pub(crate) want: Value,
    pub(crate) err: Option<bool>,
}

/// Every case, in the order of the file.
pub(crate) fn cases() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/conformance/cases.json");
    let text = fs::read_to_string(path).expect("the cases can be read");
    let file: Cases = serde_json::from_str(&text).expect("the cases parse");
    file.cases
}

/// Whether a text is what an expectation wants.
pub(crate) fn fits(want: &Value, content: &str) -> bool {
    match want {
        Value::String(text) => text == content,
        Value::Object(fields) if fields.contains_key("re") => {
            let pattern = format!(r"\A(?s:{})\z", fields["re"].as_str().expect("a pattern"));
            let regex = Regex::new(&pattern).expect("the pattern parses");
            regex.is_match(content).expect("the pattern is decidable")
        }
        Value::Object(fields) => {
            let any = fields["any"].as_array().expect("alternatives");
            any.iter().any(|want| fits(want, content))
        }
        other => panic!("no such expectation: {other}"),
    }
}

/// A store nothing was ever put in, to be copied: making each case its own from nothing would cost
/// more than all the commands.
pub(crate) struct EmptyStore {
    from: PathBuf,
    beside: PathBuf,
}

impl EmptyStore {
    pub(crate) fn of(home: &Home) -> Self {
        Self {
            from: home.store(),
            beside: home.path().join("copies"),
        }
    }

    pub(crate) fn copy(&self, index: usize) -> String {
        let to = self.beside.join(index.to_string());
        copy_folder(&self.from, &to);
        to.to_str().expect("UTF-8").to_owned()
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, beside) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &beside);
        } else {
            fs::copy(&path, &beside).expect("a copy");
        }
    }
}
