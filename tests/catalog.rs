//! The file `catalog` is only a copy: whatever becomes of it, every answer stays what it was.

use std::fs;

use crate::support::Home;
use serde_json::{Value, json};

/// Memories: enough for several leaves of the file.
const MEMORIES: usize = 150;
/// Commands: enough that leaves are written anew beside others that stay.
const COMMANDS: usize = 600;
/// Places at which the file is changed, and lengths to which it is cut.
const PLACES: usize = 9;
const LENGTHS: usize = 4;

fn path(n: usize) -> String {
    format!("/memories/d{}/f{n}.md", n % 7)
}

/// A store of several leaves and steps, in the file of whose catalog there is more than one root.
fn grown() -> Home {
    let home = Home::with_store();
    let create = |n| json!({"command": "create", "path": path(n), "file_text": format!("{n}\n")});
    let insert = |n: usize| {
        let path = path(n * 31 % MEMORIES);
        json!({"command": "insert", "path": path, "insert_line": 1, "insert_text": "more"})
    };
    let lines = (0..MEMORIES).map(create).chain((0..COMMANDS).map(insert));
    let lines: Vec<String> = lines.map(|line| line.to_string() + "\n").collect();
    let answers = home.tool(&lines.concat());
    assert!(answers.iter().all(|answer| answer["is_error"] == false));
    home
}

/// What an agent is told of what is there, and of what is not.
fn answers(home: &Home, n: usize) -> Vec<String> {
    let calls = [
        json!({"command": "view", "path": path(n % MEMORIES)}),
        json!({"command": "view", "path": "/memories/d3/nothing.md"}),
        json!({"command": "create", "path": path(n % MEMORIES), "file_text": "taken"}),
        json!({"command": "view", "path": "/memories"}),
        json!({"command": "view", "path": format!("/memories/d{}", n % 7)}),
        json!({"command": "memory_read"}),
    ];
    let lines: Vec<String> = calls.iter().map(|call| format!("{call}\n")).collect();
    let content = |answer: &Value| answer["content"].to_string();
    home.tool(&lines.concat()).iter().map(content).collect()
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[test]
fn a_catalog_that_is_cut_or_changed_anywhere_answers_as_without_one() {
    let home = grown();
    let catalog = home.store().join("catalog");
    let bytes = fs::read(&catalog).expect("there");
    assert_ne!(
        u64_at(&bytes, 72),
        0,
        "the control: a root was written behind another"
    );
    let expected: Vec<_> = (0..PLACES).map(|n| answers(&home, n)).collect();
    fs::remove_file(&catalog).expect("there");
    assert!(answers(&home, 0) == expected[0], "without one");
    let mut renewed = 0;
    for n in 0..PLACES {
        let mut bytes = fs::read(&catalog).expect("there");
        // Some in the header; the others all over the file.
        let spread = [bytes.len(), 80][usize::from(n % 4 == 1)];
        let at = spread * n / PLACES + 7;
        bytes[at] ^= 0x20;
        fs::write(&catalog, &bytes).expect("written");
        assert!(answers(&home, n) == expected[n], "byte {at} changed");
        let after = fs::read(&catalog).expect("there");
        renewed += usize::from(after[32..48] != bytes[32..48]);
    }
    assert!(renewed > 0, "the control: what is damaged is made anew");
    for (n, expected) in expected.iter().take(LENGTHS).enumerate() {
        let bytes = fs::read(&catalog).expect("there");
        let length = bytes.len() * n / LENGTHS;
        fs::write(&catalog, &bytes[..length]).expect("written");
        assert!(answers(&home, n) == *expected, "cut to {length}");
    }
    let verified = home.run(&["verify", "--full"]);
    assert!(
        verified.status.success(),
        "{}",
        crate::support::stdout(&verified)
    );
}

/// A copy from some time ago says less, and nothing that is not so.
#[test]
fn a_catalog_from_before_is_followed_by_history() {
    let home = grown();
    let catalog = home.store().join("catalog");
    let before = fs::read(&catalog).expect("there");
    let rename = ["rename", "/memories/d1", "/memories/moved"];
    assert!(home.run(&rename).status.success());
    let expected = answers(&home, 9);
    fs::write(&catalog, &before).expect("written");
    assert!(answers(&home, 9) == expected, "it is older");
    // Its root is there, and leaves of it are not what they were.
    let mut torn = before.clone();
    let root = usize::try_from(u64_at(&torn, 64)).expect("small");
    torn[80..root].fill(0);
    fs::write(&catalog, &torn).expect("written");
    assert!(answers(&home, 9) == expected, "no leaf opens");
    let after = fs::read(&catalog).expect("there");
    assert_ne!(after[32..48], torn[32..48], "another file is in its place");
}
