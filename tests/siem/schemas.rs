//! Every JSON object that the program prints, against its schema in docs/schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

use super::{command, with_program};
use crate::support::{Home, has_peer, stderr, stdout};

/// Printed only for a version that cannot be decrypted, which no command makes.
const NOT_PRINTED: &[&str] = &["scan_problem-1"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The schemas by the names of their files.
fn schemas() -> BTreeMap<String, Value> {
    let folder = fs::read_dir(root().join("docs/schemas")).expect("the schemas");
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("UTF-8");
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        (name, serde_json::from_str(&text).expect("JSON"))
    };
    folder
        .map(|entry| read(entry.expect("an entry").path()))
        .collect()
}

/// A home in which the program has printed every object, and these.
pub(super) fn home_with_every_object() -> &'static (Home, Vec<Value>) {
    static MADE: OnceLock<(Home, Vec<Value>)> = OnceLock::new();
    MADE.get_or_init(|| {
        assert!(has_peer("ssh-keygen", "a signer's key is made with it"));
        let home = with_program(Home::empty());
        let output = command(&home, "sh")
            .arg("-eu")
            .arg(root().join("tests/siem/every_object.sh"))
            .output()
            .expect("sh runs");
        assert!(
            output.status.success(),
            "{}\n{}",
            stdout(&output),
            stderr(&output)
        );
        let text = stdout(&output);
        let objects = text.lines().filter(|line| line.starts_with('{'));
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let objects = objects.map(parse).collect();
        (home, objects)
    })
}

/// The schema that an object says it has, or that it has by its place.
fn schema_of(object: &Value) -> String {
    match object["schema"].as_str() {
        Some(schema) => schema.trim_start_matches("agekeep.").replace('/', "-"),
        None if object.get("content").is_some() => "tool-1".into(),
        None => "export_line-1".into(),
    }
}

#[test]
fn what_the_program_prints_fits_its_schema() {
    let schemas = schemas();
    let validator = |schema| {
        jsonschema::draft202012::options()
            .should_validate_formats(true)
            .build(schema)
    };
    let validators: BTreeMap<&str, Validator> = schemas
        .iter()
        .map(|(name, schema)| {
            (
                name.as_str(),
                validator(schema).unwrap_or_else(|e| panic!("{name}: {e}")),
            )
        })
        .collect();
    let mut seen = BTreeMap::new();
    for object in &home_with_every_object().1 {
        let name = schema_of(object);
        let validator = validators
            .get(name.as_str())
            .unwrap_or_else(|| panic!("no schema of {object}"));
        let faults = validator.iter_errors(object);
        let faults: Vec<String> = faults
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{name}: {faults:#?}\n{object}");
        seen.entry(name).or_insert(object);
    }
    let unseen: Vec<&&str> = validators
        .keys()
        .filter(|name| !seen.contains_key(**name))
        .collect();
    assert_eq!(
        unseen,
        NOT_PRINTED.iter().collect::<Vec<_>>(),
        "not printed, so not checked"
    );
    // A schema that takes anything would prove nothing.
    for (name, object) in seen {
        let required = schemas[&name]["required"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for field in required.iter().filter_map(Value::as_str) {
            let mut less = object.clone();
            less.as_object_mut().expect("an object").remove(field);
            assert!(
                !validators[name.as_str()].is_valid(&less),
                "{name} without {field}"
            );
        }
        let mut more = object.clone();
        more["a_field_of_tomorrow"] = 1.into();
        assert!(
            validators[name.as_str()].is_valid(&more),
            "{name}: fields may be added"
        );
        if object.get("schema").is_some() {
            let mut other = object.clone();
            other["schema"] = "agekeep.other/1".into();
            assert!(!validators[name.as_str()].is_valid(&other), "{name}");
        }
    }
}

#[test]
fn every_form_in_the_sources_has_a_schema_and_every_schema_a_form() {
    let mut names = BTreeSet::from(["tool-1".to_owned(), "export_line-1".to_owned()]);
    let mut folders = vec![root().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            for part in text.split("\"agekeep.").skip(1) {
                let name = part.split('"').next().expect("one");
                let is_version = |v: &str| !v.is_empty() && v.bytes().all(|b| b.is_ascii_digit());
                if let Some((form, version)) = name.split_once('/')
                    && is_version(version)
                {
                    names.insert(format!("{form}-{version}"));
                }
            }
        }
    }
    assert!(names.len() > 50, "they are found");
    let files: BTreeSet<String> = schemas().into_keys().collect();
    assert_eq!(files, names);
    for (file, schema) in schemas() {
        let (name, version) = file.rsplit_once('-').expect("a version");
        assert_eq!(
            schema["$schema"], "https://json-schema.org/draft/2020-12/schema",
            "{file}"
        );
        assert_eq!(schema["$id"], format!("urn:agekeep:{name}:{version}"));
    }
}
