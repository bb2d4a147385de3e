//! Every state a key can be in, and what each verb does with it then.

use crate::signers::team::{EVENING, MORNING, NIGHT, NOON, Team};
use crate::support::{stderr, stdout};

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Valid,
    NotYet,
    Expired,
    Removed,
    Never,
}

impl State {
    const ALL: [Self; 5] = [
        Self::Valid,
        Self::NotYet,
        Self::Expired,
        Self::Removed,
        Self::Never,
    ];

    /// A store and a key in this state, and the time at which it is.
    fn made(self) -> Option<(Team, String, &'static str)> {
        let team = Team::new()?;
        if self == Self::Never {
            let key = team.keygen("ana", &[]);
            return Some((team, key, NOON));
        }
        let window = ["--valid-after", MORNING, "--valid-before", NOON];
        let key = team.let_in("ana", &[&window[..], &["--role", "owner"]].concat());
        match self {
            Self::NotYet => return Some((team, key, NIGHT)),
            Self::Expired => return Some((team, key, EVENING)),
            Self::Removed => drop(team.done(MORNING, &["signers", "rm", "ana"])),
            _ => {}
        }
        Some((team, key, NOON))
    }

    /// The error of what writes, and words in it.
    fn refusal(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Valid => None,
            Self::NotYet => Some(("signer_not_valid", "is valid from 2025-12-31T08:00:00Z")),
            Self::Expired => Some(("signer_not_valid", "was valid until 2025-12-31T12:00:00Z")),
            Self::Removed | Self::Never => Some(("not_a_signer", "may not write")),
        }
    }
}

#[test]
fn who_may_do_what() {
    for state in State::ALL {
        let Some((team, key, now)) = state.made() else {
            return;
        };
        team.keygen("ben", &[]);
        let ben = team.public("ben");
        let policy = team.path("policy.toml");
        std::fs::write(&policy, "[limits]\nlines = 5000\n").expect("written");
        let with = |args: &[&str]| -> Vec<String> {
            let args = [args, &["--signing-key", &key]].concat();
            args.into_iter().map(str::to_owned).collect()
        };
        for args in [
            &["create", "/memories/b.md", "--text", "x"][..],
            &["view", "/memories/a.md"],
            &["policy", "set", "--policy", &policy],
            &["signers", "add", "ben", &ben],
            &["signers", "rm", "ben"],
            &["checkpoint"],
        ] {
            let args = with(args);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let Some((code, words)) = state.refusal() else {
                team.done(now, &args);
                continue;
            };
            let said = team.refused(now, &args, 7, code);
            assert!(said.contains(words), "{state:?} {args:?}: {said}");
        }
        let before = team.events();
        for args in [
            &["log"][..],
            &["verify"],
            &["status"],
            &["signers", "list"],
            &["policy", "get"],
        ] {
            let args = with(args);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let said = team.done(now, &args);
            if let (["status", ..], Some((_, words))) = (&args[..], state.refusal()) {
                assert!(said.contains(words), "{state:?}: {said}");
            }
        }
        assert_eq!(team.events(), before, "{state:?}");
        looks(&team, state, &key, now);
        assert!(team.findings().is_empty(), "{state:?}");
    }
}

/// A look works, and is on record where it can be.
fn looks(team: &Team, state: State, key: &str, now: &str) {
    let before = team.events();
    let output = team.run(
        now,
        &["show", "HEAD~0:/memories/a.md", "--signing-key", key],
    );
    assert!(output.status.success(), "{state:?}: {}", stderr(&output));
    assert!(stdout(&output).contains("squirrel"), "{state:?}");
    match state.refusal() {
        None => assert_eq!(team.events(), before + 1),
        Some((_, words)) => {
            assert!(stderr(&output).contains("was not recorded"), "{state:?}");
            assert!(stderr(&output).contains(words), "{state:?}");
            assert_eq!(team.events(), before, "{state:?}");
        }
    }
}

#[test]
fn a_window_is_open_in_its_first_and_in_its_last_second() {
    let Some(team) = Team::new() else { return };
    let window = [
        "--valid-after",
        "2025-12-31T08:00:00.900Z",
        "--valid-before",
        "2025-12-31T12:00:00Z",
    ];
    let key = team.let_in("ana", &window);
    let view = ["view", "/memories/a.md", "--signing-key", &key];
    team.refused("2025-12-31T07:59:59.999Z", &view, 7, "signer_not_valid");
    for now in ["2025-12-31T08:00:00Z", "2025-12-31T12:00:00.999Z"] {
        team.done(now, &view);
        for zone in ["UTC", "Asia/Tokyo", "America/New_York"] {
            assert!(team.git_verifies("main", zone), "{now} {zone}");
        }
    }
    team.refused("2025-12-31T12:00:01Z", &view, 7, "signer_not_valid");
    assert!(team.findings().is_empty());
}

#[test]
fn a_clock_that_is_turned_back_opens_no_closed_window() {
    let Some(team) = Team::new() else { return };
    let key = team.let_in("ana", &["--valid-before", NOON]);
    let view = ["view", "/memories/a.md"];
    let anas = [&view[..], &["--signing-key", &key]].concat();
    team.done(EVENING, &view);
    let said = team.refused(MORNING, &anas, 7, "signer_not_valid");
    assert!(said.contains("was valid until"), "{said}");
    team.done(MORNING, &view);
    assert!(team.findings().is_empty());
}
