//! The memory tool's contract through the adapters, case by case.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sdk::scene::{Language, Scene, assert_ok};
use crate::support::cases::{CASES, EmptyStore, STEPS, Step, cases, fits};
use crate::support::json_lines;

#[test]
fn the_python_adapter_keeps_the_contract() {
    every_case(Language::Python, "contract.py", &["sync"]);
}

#[test]
fn the_async_python_adapter_keeps_the_contract() {
    every_case(Language::Python, "contract.py", &["async"]);
}

#[test]
fn the_typescript_adapter_keeps_the_contract() {
    every_case(Language::TypeScript, "contract.ts", &[]);
}

fn every_case(language: Language, program: &str, args: &[&str]) {
    let Some(scene) = Scene::new(language, program) else {
        return;
    };
    let cases = cases();
    let empty = EmptyStore::of(&scene.home);
    let stores: Vec<String> = (0..cases.len()).map(|index| empty.copy(index)).collect();
    let stores = Path::new(&stores[0])
        .parent()
        .expect("they are beside each other");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/conformance/cases.json");
    let places = [&file, stores].map(|path| path.to_str().expect("UTF-8"));
    let output = scene
        .command(program, &[args, &places].concat())
        .output()
        .expect("the program starts");
    assert_ok(program, &output);
    let answers = json_lines(&output.stdout);
    let steps: Vec<(&str, &Step)> = cases
        .iter()
        .flat_map(|case| case.steps.iter().map(|step| (case.id.as_str(), step)))
        .collect();
    assert_eq!(
        (cases.len(), steps.len(), answers.len()),
        (CASES, STEPS, STEPS)
    );
    let machine = scene.home.path().to_str().expect("UTF-8");
    let faults: Vec<String> = steps
        .iter()
        .zip(&answers)
        .filter(|((_, step), answer)| !is_wanted(step, answer, machine))
        .map(|((id, step), answer)| {
            format!("{id}: {}\n  wants {}\n  {answer}", step.input, step.want)
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(
        fs::read_dir(stores).expect("a folder").count() > CASES,
        "each had its own state"
    );
}

/// Whether an answer is what the step wants, and shows no path of the machine.
fn is_wanted(step: &Step, answer: &Value, machine: &str) -> bool {
    let content = answer["content"].as_str().expect("a text");
    let is_error = answer["is_error"].as_bool().expect("a flag");
    let is_public = !content.contains(machine);
    is_public && fits(&step.want, content) && step.err.is_none_or(|err| err == is_error)
}
