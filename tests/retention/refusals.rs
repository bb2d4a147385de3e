//! Sweeps and erasures that do not go on, and what they say; and what monitoring sees.

use crate::retention::scene::{BEGIN, Scene, day, has, list};

const POLICY: &str = "[expiration]\nunaccessed_for = \"90d\"\nsweep_max = 1\n";

fn scene() -> Scene {
    let scene = Scene::new(POLICY);
    for path in ["/memories/a.md", "/memories/b.md"] {
        scene.create(&day(1), path, "text");
    }
    scene
}

#[test]
fn a_sweep_over_the_limit_takes_nothing_and_says_so() {
    let scene = scene();
    let plan = scene.done(&day(95), &["expire", "-n"]);
    has(&plan, &["2 to remove", "this one needs --yes"]);
    let events = scene.events();
    let said = scene.fails(&day(95), 9, &["expire"]);
    has(&said, &["would remove 2 memories", "hint:", "--yes"]);
    assert_eq!(scene.events(), events + 1, "it is on record");
    let event = scene.newest(&day(95));
    assert_eq!(
        (&event["outcome"], &event["error"]),
        (&"denied".into(), &"sweep_limit".into())
    );
    assert_eq!(event["memories"], serde_json::json!([]));
    // For monitoring that was no sweep.
    scene.fails(&day(95), 14, &["status", "--max-age", "26h"]);
    let swept = scene.json(&day(95), &["expire", "--yes"]);
    assert_eq!(list(&swept["expire"]).len(), 2);
    scene.assert_verified("after the sweep");
}

#[test]
fn a_sweep_is_recorded_also_when_nothing_was_due() {
    let scene = scene();
    has(
        &scene.fails(&day(2), 14, &["status", "--max-age", "26h"]),
        &["no sweep has run yet"],
    );
    for now in [day(2), day(3)] {
        has(
            &scene.done(&now, &["expire"]),
            &["0 to remove", "Done (event"],
        );
        assert_eq!(scene.newest(&now)["command"], "expire");
    }
    scene.done(&day(4), &["status", "--max-age", "26h"]);
    has(
        &scene.fails(&day(5), 14, &["status", "--max-age", "26h"]),
        &["the last sweep ran at"],
    );
    scene.refused(&day(5), 2, &["status", "--max-age", "a while"]);
}

#[test]
fn a_dry_run_changes_nothing() {
    let scene = scene();
    let before = scene.keep(&scene.home.store(), "before");
    scene.done(&day(95), &["expire", "--dry-run"]);
    scene.done(&day(95), &["erase", "/memories/a.md", "--dry-run"]);
    let same = std::process::Command::new("diff")
        .args(["-r", "-q"])
        .args([&before, &scene.home.store()])
        .output()
        .expect("diff runs");
    assert!(
        same.status.success(),
        "{}",
        String::from_utf8_lossy(&same.stdout)
    );
}

#[test]
fn a_clock_that_cannot_be_believed_stops_a_sweep_until_it_is_accepted() {
    let scene = scene();
    scene.done(&day(50), &["view", "/memories/a.md"]);
    let behind = scene.refused(&day(49), 6, &["expire"]);
    has(
        &behind,
        &[
            "the clock cannot be trusted",
            "an earlier event has the time",
            "--accept-clock",
        ],
    );
    scene.done(&day(49), &["expire", "--accept-clock"]);
    assert_eq!(scene.newest(&day(49))["clock_accepted"], true);
    // From then on it is the clock.
    scene.done(&day(49), &["expire"]);
    assert_eq!(scene.newest(&day(49))["clock_accepted"], false);

    let leapt = scene.refused("2036-02-07T06:28:16Z", 6, &["expire", "--yes"]);
    has(&leapt, &["more than a year without an event"]);
    // Nor does it help that somebody else acted by that clock in between.
    scene.done("2036-02-07T06:28:16Z", &["read"]);
    scene.refused("2036-02-07T06:28:17Z", 6, &["expire", "--yes"]);
    scene.refused(&day(60), 6, &["expire"]);
    scene.done(&day(60), &["expire", "--accept-clock"]);
    assert!(scene.is_there(&day(60), "/memories/a.md"));
    scene.assert_verified("whatever the clock said");
    assert!(day(0) == BEGIN);
}

#[test]
fn an_erasure_says_what_it_cannot_do() {
    let scene = scene();
    let refused = [
        (
            4,
            &["erase", "/memories/none.md", "--yes", "--reason", "asked"][..],
            "not erased already",
        ),
        (
            4,
            &[
                "erase",
                "/memories/a.md",
                "--history",
                "--yes",
                "--reason",
                "asked",
            ],
            "before its present one",
        ),
        (2, &["erase", "--reason", "asked"], "name exactly one"),
        (
            2,
            &[
                "erase",
                "/memories/a.md",
                "--subject",
                "/memories/*",
                "--yes",
                "--reason",
                "asked",
            ],
            "name exactly one",
        ),
        (
            2,
            &["erase", "--subject", "/memories/*", "--reason", "asked"],
            "say --yes",
        ),
        (2, &["erase", "/memories", "--reason", "asked"], "say --yes"),
        (
            4,
            &["erase", "--session", "s-1", "--yes", "--reason", "asked"],
            "the session s-1 wrote",
        ),
        (
            7,
            &["erase", "/etc/passwd", "--yes", "--reason", "asked"],
            "not /memories",
        ),
        (4, &["receipt", "show"], "no receipt"),
        (4, &["receipt", "show", "1"], "no receipt"),
        (
            4,
            &[
                "redact",
                "HEAD:/memories/none.md",
                "--yes",
                "--reason",
                "asked",
            ],
            "nothing was at",
        ),
        (
            2,
            &["redact", "/memories/a.md", "--yes", "--reason", "asked"],
            "REV:PATH",
        ),
    ];
    for (code, args, said) in refused {
        let output = scene.run(&day(2), args);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(
            !output.status.success() && text.contains(said),
            "{args:?}: {text}"
        );
    }
    has(
        &scene.done(&day(2), &["receipt", "verify"]),
        &["Nothing has been erased yet"],
    );
    scene.done(
        &day(2),
        &["erase", "/memories/a.md", "--yes", "--reason", "asked"],
    );
    let again = scene.refused(
        &day(3),
        4,
        &["erase", "/memories/a.md", "--yes", "--reason", "asked"],
    );
    has(&again, &["hint:"]);
    assert!(!scene.done(&day(3), &["log"]).contains("/memories/a.md  v"));
}

#[test]
fn erasures_for_a_person_reach_what_they_wrote_and_no_more() {
    let scene = Scene::new("");
    let by = |actor: &str, session: &str, path: &str| {
        scene.done(
            &day(1),
            &[
                "--actor",
                actor,
                "--session",
                session,
                "create",
                path,
                "--text",
                "x",
            ],
        );
    };
    by("ana", "s-1", "/memories/ana/1.md");
    by("ana", "s-2", "/memories/ana/2.md");
    by("bob", "s-3", "/memories/bob.md");
    scene.done(&day(2), &["--actor", "ana", "view", "/memories/bob.md"]);
    let plan = scene.json(&day(3), &["erase", "--actor", "ana", "-n"]);
    assert_eq!(
        list(&plan["memories"]).len(),
        2,
        "what she read is not hers"
    );
    let done = scene.json(
        &day(3),
        &["erase", "--session", "s-1", "--yes", "--reason", "asked"],
    );
    assert_eq!(list(&done["memories"])[0]["path"], "/memories/ana/1.md");
    assert_eq!(
        scene.newest(&day(3))["actor"],
        "tester",
        "who erases is not who is erased"
    );
    scene.done(
        &day(4),
        &["rename", "/memories/ana/2.md", "/memories/moved.md"],
    );
    let plan = scene.json(&day(5), &["erase", "--subject", "/memories/ana/*", "-n"]);
    assert_eq!(
        list(&plan["memories"])[0]["path"],
        "/memories/moved.md",
        "it once was there"
    );
    scene.done(
        &day(5),
        &[
            "erase",
            "--subject",
            "/memories/ana/*",
            "--yes",
            "--reason",
            "asked",
        ],
    );
    assert!(scene.is_there(&day(6), "/memories/bob.md"));
    scene.assert_verified("after both");
}

#[test]
fn the_grace_is_over_when_the_policy_says() {
    let scene =
        Scene::new("[expiration]\nunaccessed_for = \"90d\"\nthen = \"erase\"\ngrace = \"10d\"\n");
    for path in ["/memories/a.md", "/memories/b.md", "/memories/c.md"] {
        scene.create(&day(1), path, "text");
    }
    let ids: Vec<String> = ["a", "b", "c"]
        .map(|n| scene.id(&format!("/memories/{n}.md")))
        .into();
    scene.done(&day(100), &["expire"]);
    scene.done(&day(109), &["expire"]);
    scene.done(&day(109), &["restore", "/memories/b.md"]);
    // What a rule keeps by now, or somebody holds, is not erased.
    scene.done(
        &day(109),
        &["hold", "add", "/memories/c.md", "--reason", "case 7"],
    );
    let late = scene.fails(&day(110), 15, &["restore", "/memories/a.md"]);
    has(&late, &["it could be restored until 2026-04-21T00:00:00Z"]);
    let swept = scene.json(&day(111), &["expire"]);
    let erased: Vec<_> = list(&swept["erase"])
        .iter()
        .map(|due| &due["memory"])
        .collect();
    assert_eq!(erased, [ids[0].as_str()]);
    assert_eq!(swept["held"], 1);
    scene.assert_verified("after the erasure");
}

#[test]
fn agents_have_no_door_to_any_of_this() {
    let scene = scene();
    for verb in [
        "expire", "erase", "hold", "hold_add", "redact", "scan", "policy", "receipt",
    ] {
        let call = format!("{{\"command\":\"{verb}\",\"path\":\"/memories/a.md\"}}\n");
        let mut tool = scene.home.command(&["--now", &day(2), "tool"]);
        tool.stdin(std::process::Stdio::piped());
        let output = crate::support::feed(tool, call.as_bytes());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        has(&said, &["\"is_error\":true", "unknown command"]);
    }
    assert!(scene.is_there(&day(2), "/memories/a.md"));
}
