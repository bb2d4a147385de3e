//! Commands by a dice.

use crate::fault::cuts::{SEED, is_long_run};
use crate::fault::dice::Dice;
use crate::fault::story::{State, Story, Task, new_store};
use crate::support::{Home, has_peer};

const PATHS: [&str; 6] = ["a.md", "b.md", "d/a.md", "d/b.md", "d/e/a.md", "f.md"];
/// Bytes of texts: short, some sectors, some pages, and one that grows the journal.
const LENGTHS: [usize; 5] = [3, 700, 5_000, 20_000, 300_000];
const COMMANDS: usize = 30;

/// A command that fits what is there, or is refused rightly.
fn next(state: &State, dice: &mut Dice) -> Task {
    let path = format!("/memories/{}", PATHS[dice.roll(PATHS.len())]);
    let there: Vec<&String> = state.texts.keys().collect();
    let some = (!there.is_empty()).then(|| there[dice.roll(there.len())].clone());
    let text = "lines of text\n".repeat(LENGTHS[dice.roll(LENGTHS.len())] / 14 + 1);
    match (dice.roll(7), some) {
        (0, Some(some)) => Task::view(&some, 0),
        (1, Some(some)) => Task::delete(&some),
        (2, Some(some)) => {
            let to = format!("/memories/r{}.md", dice.roll(1_000_000));
            Task::rename(&some, &to)
        }
        (3, Some(some)) => {
            let all = format!("first\n{}", state.texts[&some]);
            Task::insert(&some, (0, "first\n"), &all)
        }
        (4, _) => Task::view("/memories/none.md", 4),
        _ if state.texts.contains_key(&path) => Task::create(&path, &text).refused(5),
        _ if state.texts.contains_key("/memories/d") => Task::view("/memories", 0),
        _ => Task::create(&path, &text),
    }
}

/// A store at random work: sessions and single commands in turn.
fn random_story(seed: u64) -> (Home, Story) {
    let home = Home::empty();
    let mut state = new_store(&home);
    let mut story = Story::new(&format!("random {seed}"), &home, state.clone());
    let (mut dice, mut count) = (Dice::new(seed), 0);
    while count < COMMANDS {
        let mut tasks = Vec::new();
        for _ in 0..=dice.roll(6) {
            let task = next(&state, &mut dice);
            state = state.after(&task);
            tasks.push(task);
        }
        count += tasks.len();
        match dice.roll(3) {
            0 if tasks.iter().all(|task| task.line.len() < 50_000) => {
                story.one_by_one(&home, &tasks);
            }
            way => story.in_session(&home, &tasks, way == 1, &[]),
        }
    }
    (home, story)
}

#[test]
fn whatever_a_store_is_given_it_keeps_what_it_answered() {
    if !has_peer("strace", "records what is cut off") {
        return;
    }
    let (seeds, sample) = if is_long_run() { (12, 800) } else { (1, 12) };
    for seed in SEED..SEED + seeds {
        let (_home, story) = random_story(seed);
        story.cut_some(sample);
    }
}
