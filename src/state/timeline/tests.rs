//! Tests the timeline and its file on made-up histories of tens of thousands of events.

use chrono::Duration;

use crate::crypto::aead::Key;
use crate::crypto::digest::Digest;
use crate::disk::{Folder, Name};
use crate::id::StoreId;
use crate::state::timeline::file::{TimelineFile, TimelineQuery};
use crate::state::timeline::*;

const MEMORIES: u64 = 700;

fn path(n: u64) -> MemoryPath {
    MemoryPath::from_canonical(format!("/memories/d{}/f{n}.md", n % 7))
}

fn commit(number: u64) -> ObjectId {
    let mut id = [0; 20];
    id[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    id[8..16].copy_from_slice(&number.to_be_bytes());
    ObjectId(id)
}

/// Makes an event that writes one memory after another, one version further each round.
fn event(number: u64) -> Event {
    let (memory, round) = (number % MEMORIES, number / MEMORIES);
    let mut id = [7; 16];
    id[..8].copy_from_slice(&memory.to_be_bytes());
    Event {
        number,
        parent: None,
        tree: commit(number),
        time: DateTime::from_timestamp_millis(
            1_790_000_000_000 + i64::try_from(number).expect("small") * 1_000,
        )
        .expect("a time"),
        clock_behind_ms: None,
        command: "memory_write".into(),
        outcome: Outcome::Ok,
        error: None,
        door: "library".into(),
        actor: Some(format!("actor-{}", number % 5)),
        session: Some(format!("s-{}", number / 50)),
        tool_use_id: None,
        client: None,
        trace: None,
        reason: None,
        path: None,
        new_path: None,
        memories: vec![MemoryChange {
            id: MemoryId(id),
            change: if round == 0 {
                Change::Add
            } else {
                Change::Edit
            },
            path: Some(path(memory)),
            version: round + 1,
            bytes: number,
            blob: None,
            from: None,
            because: None,
        }],
        rules: None,
        redactions: Vec::new(),
        at: Vec::new(),
        undone: Vec::new(),
        lost: None,
        member: None,
        hold: None,
        receipt: None,
        clock_accepted: false,
        trial: false,
        replica: None,
        keys: None,
    }
}

/// Makes a file of `events` events added one by one.
fn filled(folder: &std::path::Path, key: &Key, events: u64) -> TimelineFile {
    filled_with(folder, key, events, event)
}

fn filled_with(
    folder: &std::path::Path,
    key: &Key,
    events: u64,
    event: impl Fn(u64) -> Event,
) -> TimelineFile {
    let mut file = TimelineFile::new(
        &Folder::at(folder).expect("there"),
        Name::TIMELINE,
        StoreId([3; 16]),
    );
    let mut begun = Timeline::default();
    begun.push(&event(0), commit(0), "owner");
    file.append(&begun, 0, key);
    for number in 1..events {
        assert!(file.is_next(number, commit(number - 1)), "event {number}");
        let mut single = Timeline::default();
        single.push(&event(number), commit(number), "owner");
        file.append_one(&single, number, key);
    }
    file
}

fn assert_same(found: &Timeline, number: u64) {
    let want = event(number);
    let moment = found.moment(number).expect("there");
    assert_eq!(moment.commit, commit(number));
    assert_eq!(found.time(number), Some(want.time));
    let who = (want.actor.as_deref(), want.session.as_deref());
    assert_eq!(found.who(number), Some(who));
    let parts = found.parts_of(number);
    assert_eq!(parts.len(), 1);
    let (part, touch) = (&parts[0], &want.memories[0]);
    assert_eq!(part.change, touch.change);
    let said = (
        part.of.id,
        part.of.version,
        part.of.bytes,
        part.of.path.clone(),
    );
    assert_eq!(
        said,
        (touch.id, touch.version, touch.bytes, touch.path.clone())
    );
}

#[test]
fn single_events_are_joined_and_nothing_is_lost() {
    let (folder, key) = (tempfile::tempdir().expect("a folder"), Key::random());
    let events = 26_000;
    drop(filled(folder.path(), &key, events));
    let mut file = TimelineFile::new(
        &Folder::at(folder.path()).expect("there"),
        Name::TIMELINE,
        StoreId([3; 16]),
    );
    let loaded = file.load(&key);
    assert_eq!(
        (loaded.len(), loaded.head()),
        (events, Some(commit(events - 1)))
    );
    for number in (0..events).step_by(997).chain([events - 1]) {
        assert_same(&loaded, number);
    }
    assert!(
        file.wants_joining(),
        "twelve blocks are many for so few events"
    );
    file.append(&loaded, 0, &key);
    let again = file.load(&key);
    assert!(!file.wants_joining());
    assert_eq!(again.len(), events);
    (0..events)
        .step_by(997)
        .for_each(|number| assert_same(&again, number));
    assert!(file.is_next(events, commit(events - 1)), "and it goes on");
    assert!(!file.is_next(events, commit(events - 2)), "behind no other");
}

#[test]
fn a_piece_says_what_the_whole_says() {
    let (folder, key) = (tempfile::tempdir().expect("a folder"), Key::random());
    let events = 21_000;
    let mut file = filled(folder.path(), &key, events);
    let end = (events - 1, commit(events - 1));
    let whole = file.load(&key);
    // First as single events came in, then in few blocks.
    for _ in 0..2 {
        for number in (0..events)
            .step_by(613)
            .chain([0, 2_047, 2_048, 8_192, end.0])
        {
            let sought = TimelineQuery::Event(number);
            let (piece, event) = file.load_around(sought, end, &key).expect("a piece");
            assert_eq!(event, number);
            assert_eq!(piece.moment(number), whole.moment(number));
            let named = file.load_around(TimelineQuery::Commit(number, commit(number)), end, &key);
            assert_eq!(named.map(|(_, event)| event), Some(number));
            let stranger = TimelineQuery::Commit(number, commit(number + 1));
            assert!(file.load_around(stranger, end, &key).is_none());
            assert_same(&piece, number);
            for memory in [number % MEMORIES, (number + 1) % MEMORIES, number % 13] {
                let (some, all) = (
                    piece.at(&path(memory), number),
                    whole.at(&path(memory), number),
                );
                // A piece may not know; if it answers, the answer is right.
                assert!(some.is_none() || some == all, "event {number}");
            }
            assert!(piece.at(&path(number % MEMORIES), number).is_some());
        }
        file.append(&whole, 0, &key);
    }
    for other in [
        (end.0, commit(3)),
        (end.0 - 1, commit(end.0 - 1)),
        (end.0 + 1, end.1),
    ] {
        assert!(
            file.load_around(TimelineQuery::Event(5), other, &key)
                .is_none(),
            "of another history"
        );
    }
    assert!(
        file.load_around(TimelineQuery::Event(5), end, &Key::random())
            .is_none()
    );
}

/// The clock runs ahead for a hundred events and is set back; later it stands still for a while.
fn uneven(number: u64) -> Event {
    let mut event = event(number);
    let seconds = match number {
        3_000..3_100 => number + 2_500,
        9_000..9_400 => 9_000,
        _ => number,
    };
    event.time = at_second(seconds);
    event
}

fn at_second(seconds: u64) -> DateTime<Utc> {
    event(seconds).time
}

#[test]
fn a_time_is_found_in_a_piece_where_events_are_in_the_order_of_their_times() {
    let (folder, key) = (tempfile::tempdir().expect("a folder"), Key::random());
    let events = 21_000;
    let mut file = filled_with(folder.path(), &key, events, uneven);
    let end = (events - 1, commit(events - 1));
    let whole = file.load(&key);
    let mut catalog = crate::state::catalog::Times::default();
    let times: Vec<_> = (0..events).map(|number| uneven(number).time).collect();
    for time in &times {
        catalog.advance(*time, false);
    }
    assert!(
        !catalog.part_at(at_second(5_598)),
        "some were said to be later"
    );
    assert!(catalog.part_at(at_second(5_599)));
    let near = |second: u64| {
        [-1, 0, 400, 999, 1_000].map(|millis| at_second(second) + Duration::milliseconds(millis))
    };
    for _ in 0..2 {
        for time in (5_600..events + 50)
            .step_by(4_001)
            .chain([8_191, 8_192, 8_999, 9_000, 9_400, 10_239, 10_240, end.0])
            .flat_map(near)
        {
            let found = file.load_around(TimelineQuery::Time(time), end, &key);
            let (piece, event) = found.expect("a piece");
            assert_eq!(Some(event), whole.at_time(time), "{time}");
            assert_eq!(piece.moment(event), whole.moment(event));
            let last = times.iter().rposition(|then| *then <= time);
            assert_eq!(usize::try_from(event).ok(), last, "{time}");
        }
        file.append(&whole, 0, &key);
    }
    let before = at_second(0) - Duration::seconds(1);
    assert!(
        file.load_around(TimelineQuery::Time(before), end, &key)
            .is_none()
    );
}

/// The times between blocks are unencrypted. Changing them can slow a search, not make it wrong.
#[test]
fn a_time_in_the_clear_that_lies_is_not_believed() {
    let (folder, key) = (tempfile::tempdir().expect("a folder"), Key::random());
    let events = 21_000;
    let mut file = filled(folder.path(), &key, events);
    let end = (events - 1, commit(events - 1));
    let whole = file.load(&key);
    file.append(&whole, 0, &key);
    let at = folder.path().join("timeline");
    let mut bytes = std::fs::read(&at).expect("a file");
    // Header, then the first block's length, events and commit, and the time of its last event.
    let clear = 92 + 4 + 4 + 20;
    let said = i64::from_le_bytes(bytes[clear..clear + 8].try_into().expect("eight bytes"));
    assert_eq!(said, at_second(8_191).timestamp());
    bytes[clear..clear + 8].copy_from_slice(&(said + 9_000).to_le_bytes());
    std::fs::write(&at, &bytes).expect("written");
    let sought = TimelineQuery::Time(at_second(12_000));
    assert!(file.load_around(sought, end, &key).is_none());
}

#[test]
fn a_memory_s_life_is_found_in_order_also_after_more_events() {
    let mut timeline = Timeline::default();
    for number in 0..3 * MEMORIES {
        timeline.push(&event(number), commit(number), "owner");
    }
    let id = event(5).memories[0].id;
    let events = |timeline: &Timeline, to| -> Vec<u64> {
        timeline
            .versions(id, to)
            .map(|version| version.event)
            .collect()
    };
    assert_eq!(events(&timeline, u64::MAX), [5, 705, 1_405]);
    assert_eq!(events(&timeline, 1_404), [5, 705]);
    assert_eq!(
        timeline.version_at(id, 1_404).map(|version| version.event),
        Some(705)
    );
    assert!(timeline.version_at(id, 4).is_none());
    let mut removal = event(3 * MEMORIES);
    removal.memories[0].id = id;
    removal.memories[0].change = Change::Remove;
    timeline.push(&removal, commit(removal.number), "owner");
    assert_eq!(timeline.life(id).len(), 4);
    assert_eq!(timeline.removed(id), Some(removal.number));
    assert!(timeline.version_at(id, removal.number).is_none());
    assert_eq!(timeline.removed(event(6).memories[0].id), None);
}

#[test]
fn commits_are_found_by_their_first_digits() {
    let mut timeline = Timeline::default();
    (0..2_000).for_each(|number| timeline.push(&event(number), commit(number), "owner"));
    let text = commit(1_234).to_string();
    for digits in [4, 5, 7, 39, 40] {
        let found: Vec<Moment> = timeline.with_prefix(&text[..digits]).collect();
        let want: Vec<u64> = (0..2_000)
            .filter(|number| commit(*number).to_string().starts_with(&text[..digits]))
            .collect();
        assert_eq!(
            found.iter().map(|moment| moment.event).collect::<Vec<_>>(),
            want
        );
    }
    let digest = Digest::of(b"none").to_string();
    assert_eq!(timeline.with_prefix(&digest[..40]).count(), 0);
}
