//! What goes wrong with processes, threads, tasks and texts: told in each language by its own test
//! runner, and run here; and whether what is meant to be copied is well typed.

use crate::sdk::scene::{Language, Scene, assert_ok};
use crate::support::peers;
use crate::support::{stderr, stdout};

#[test]
fn the_python_adapters_in_trouble() {
    let Some(scene) = Scene::new(Language::Python, "trouble_test.py") else {
        return;
    };
    let warn = "always::ResourceWarning";
    let mut command = scene.command("-W", &[warn, "trouble_test.py"]);
    let output = command.output().expect("the program starts");
    assert_ok("trouble_test.py", &output);
    let ran = stderr(&output);
    assert!(
        ran.contains("Ran 30 tests") && ran.ends_with("\nOK\n"),
        "{ran}"
    );
    assert!(
        !ran.contains("ResourceWarning"),
        "nothing is left open: {ran}"
    );
    scene.verify();
}

#[test]
fn the_bench_beside_the_sdk_still_works() {
    let Some(scene) = Scene::new(Language::Python, "benches/python_sdk.py") else {
        return;
    };
    let bench = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/python_sdk.py");
    let work = scene.work();
    let args = ["agekeep", work.to_str().expect("UTF-8"), "3"];
    let output = scene.command(bench, &args).output();
    let output = output.expect("the program starts");
    assert_ok("the bench", &output);
    let rows = stdout(&output);
    for row in [
        "create: SDK",
        "create: agekeep",
        "view: SDK",
        "view: agekeep",
    ] {
        assert!(rows.lines().any(|line| line.starts_with(row)), "{rows}");
    }
}

#[test]
fn the_typescript_adapter_in_trouble() {
    let Some(scene) = Scene::new(Language::TypeScript, "trouble.test.ts") else {
        return;
    };
    let mut command = scene.command("--test", &["--test-reporter=tap", "trouble.test.ts"]);
    let output = command.output().expect("the program starts");
    assert_ok("trouble.test.ts", &output);
    let ran = stdout(&output);
    assert!(
        ran.contains("\n# pass 14\n") && ran.contains("\n# skipped 0\n"),
        "{ran}"
    );
    scene.verify();
}

#[test]
fn the_typescript_example_is_well_typed() {
    let Some(scene) = Scene::new(Language::TypeScript, "tsc") else {
        return;
    };
    let options = [
        "--noEmit",
        "--strict",
        "--noUncheckedIndexedAccess",
        "--target",
        "esnext",
        "--module",
        "nodenext",
        "--allowImportingTsExtensions",
        "--erasableSyntaxOnly",
        "--verbatimModuleSyntax",
        "--types",
        "node",
    ];
    let files = [
        "quickstart.ts",
        "runner.ts",
        "contract.ts",
        "trouble.test.ts",
    ];
    let tsc = peers::node_modules().join(".bin/tsc");
    let program = tsc.to_str().expect("UTF-8");
    let output = scene
        .command(program, &[&options[..], &files].concat())
        .output();
    let output = output.expect("the program starts");
    assert!(output.status.success(), "{}", stdout(&output));
}
