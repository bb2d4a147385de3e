//! How an ordinary command ends on each forged store.

use serde_json::Value;

use crate::support::{Home, stderr, stdout};
use crate::zoo::scenario::{self, MARK, Scenario};

/// Reads a memory; the code of the error, or `ok`.
fn read(home: &Home, path: &str) -> (String, String) {
    let output = home.run(&["--json", "read", path]);
    let (said, complained) = (stdout(&output), stderr(&output));
    let code = match output.status.code() {
        Some(0) => "ok".into(),
        _ => code_of(&said, &complained),
    };
    (code, said + &complained)
}

/// The error code in an answer on standard output, or in an error on the other.
fn code_of(said: &str, complained: &str) -> String {
    let json = |text: &str| {
        text.lines()
            .find_map(|line| serde_json::from_str::<Value>(line).ok())
    };
    let answer = json(said).map(|answer| answer["meta"]["error"].clone());
    let error = json(complained).map(|error| error["error"]["code"].clone());
    let code = answer.or(error).unwrap_or_default();
    code.as_str().unwrap_or("no code").into()
}

/// What is wrong with how an ordinary read of a forged store ends.
pub(crate) fn faults(scenario: &Scenario, home: &Home) -> Option<String> {
    let (code, said) = read(home, &scenario.read);
    let shown = said.contains(MARK);
    let right = if scenario.open == "ok" { shown } else { !shown };
    let as_said = code == scenario.open && right;
    (!as_said).then(|| format!("{code}, not {}: {said}", scenario.open))
}

#[test]
fn the_base_reads() {
    let home = scenario::base_home(true);
    for path in [
        "project/plan.md",
        "project/decisions.md",
        "team/ben.md",
        "handover.md",
    ] {
        let (code, said) = read(&home, path);
        assert_eq!(code, "ok", "{said}");
        assert!(said.contains(MARK), "{said}");
    }
}
