//! An undo from a page: its plan first, and then exactly that plan or nothing.

use serde_json::json;

use crate::support::{Home, json_lines, stderr, stdout};
use crate::ui::client::{Ui, hidden};

const PLAN: &str = "plan?do=revert&session=night";

fn act(home: &Home, session: &str, input: &serde_json::Value) {
    let args = ["--actor", "night-agent", "--session", session, "tool"];
    let done = home.run_with_input(&args, &input.to_string());
    assert!(done.status.success(), "{}", stderr(&done));
}

fn scene() -> Home {
    let home = Home::with_store();
    let create =
        json!({"command": "create", "path": "/memories/policy.md", "file_text": "ask\nlater\n"});
    act(&home, "day", &create);
    act(&home, "night", &replace("ask", "never ask"));
    home
}

fn replace(old: &str, new: &str) -> serde_json::Value {
    json!({"command": "str_replace", "path": "/memories/policy.md", "old_str": old, "new_str": new})
}

fn text(home: &Home) -> String {
    stdout(&home.run(&["show", "HEAD:/memories/policy.md"]))
}

/// The form that a plan's page sends.
fn form(plan: &str) -> String {
    let (csrf, digest) = (hidden(plan, "csrf"), hidden(plan, "plan"));
    format!("do=revert&session=night&csrf={csrf}&plan={digest}&reason=a+bad+night")
}

#[test]
fn a_plan_is_shown_and_exactly_that_is_done() {
    let home = scene();
    let ui = Ui::open(&home, &["--allow-undo", "--actor", "maria"]);
    let plan = ui.text(PLAN);
    assert!(
        plan.contains("events 2 changed") && plan.contains("Nothing is changed yet"),
        "{plan}"
    );
    assert_eq!(text(&home), "never ask\nlater\n", "a plan changes nothing");
    let done = ui.send("undo", &[], &form(&plan));
    assert_eq!(done.status, 303, "{done:?}");
    assert_eq!(text(&home), "ask\nlater\n");
    let to = done.header("location").expect("a page").to_owned();
    let event = ui.text(&to);
    assert!(
        event.contains("revert") && event.contains("a bad night"),
        "{event}"
    );
    let number = to.strip_prefix("event?n=").expect("an event");
    let shown = home.run(&["show", number, "--json"]);
    let record = &json_lines(&shown.stdout)[0];
    assert_eq!([&record["actor"], &record["door"]], ["maria", "ui"]);
    // The same form again finds nothing to undo.
    let again = ui.send("undo", &[], &form(&plan));
    assert!([303, 409].contains(&again.status), "{again:?}");
    assert_eq!(text(&home), "ask\nlater\n");
}

/// A look in a page is on record with a person's name, so there has to be one.
#[test]
fn nobody_looks_without_a_name() {
    let home = scene();
    let mut command = home.command(&["ui"]);
    command.env_remove("USER");
    let refused = crate::support::feed(command, b"");
    assert_eq!(refused.status.code(), Some(2));
    let said = stderr(&refused);
    assert!(
        said.contains("nobody is named") && said.contains("--actor"),
        "{said}"
    );
}

#[test]
fn without_being_allowed_to_it_undoes_nothing_and_says_so() {
    let home = scene();
    let ui = Ui::open(&home, &[]);
    let plan = ui.text(PLAN);
    assert!(
        plan.contains("agekeep ui --allow-undo") && !plan.contains("csrf"),
        "{plan}"
    );
    let other = Ui::open(&home, &["--allow-undo"]);
    let form = form(&other.text(PLAN));
    let refused = ui.send("undo", &[], &form);
    assert_eq!(refused.status, 403, "{refused:?}");
    assert_eq!(text(&home), "never ask\nlater\n");
}

#[test]
fn a_form_without_its_token_undoes_nothing() {
    let home = scene();
    let ui = Ui::open(&home, &["--allow-undo"]);
    let form = form(&ui.text(PLAN));
    let csrf = form
        .split("csrf=")
        .nth(1)
        .and_then(|rest| rest.split('&').next());
    let csrf = csrf.expect("a token");
    for wrong in ["", "0", &csrf[1..], &csrf.to_uppercase()] {
        if wrong == csrf {
            continue;
        }
        let refused = ui.send("undo", &[], &form.replace(csrf, wrong));
        assert_eq!(refused.status, 403, "{wrong}: {refused:?}");
    }
    // That of another server is none of this one's.
    let other = Ui::open(&home, &["--allow-undo"]);
    let foreign = hidden(&other.text(PLAN), "csrf");
    assert_eq!(
        ui.send("undo", &[], &form.replace(csrf, &foreign)).status,
        403
    );
    assert_eq!(text(&home), "never ask\nlater\n");
    // Nor does one without the plan that was shown, or with more than the page has.
    let bare = form.split("&plan=").next().expect("a form").to_owned();
    assert_eq!(ui.send("undo", &[], &bare).status, 400);
    // Or without a reason for the record.
    let silent = form.replace("a+bad+night", "");
    assert_eq!(ui.send("undo", &[], &silent).status, 400);
    assert_eq!(
        ui.send("undo", &[], &(form.clone() + "&force=1")).status,
        400
    );
    assert_eq!(text(&home), "never ask\nlater\n");
}

#[test]
fn a_plan_that_others_have_overtaken_is_not_carried_out() {
    let home = scene();
    let ui = Ui::open(&home, &["--allow-undo"]);
    let form = form(&ui.text(PLAN));
    act(&home, "night", &replace("later", "at once"));
    let refused = ui.send("undo", &[], &form);
    assert_eq!(refused.status, 409, "{refused:?}");
    assert_eq!(text(&home), "never ask\nat once\n");
}

#[test]
fn what_is_in_conflict_is_left_only_where_the_form_says_so() {
    let home = scene();
    act(&home, "day", &replace("never ask", "perhaps ask"));
    let create = json!({"command": "create", "path": "/memories/b.md", "file_text": "b\n"});
    act(&home, "night", &create);
    let ui = Ui::open(&home, &["--allow-undo"]);
    let plan = ui.text(PLAN);
    assert!(
        plan.contains("In conflict") && plan.contains("required"),
        "{plan}"
    );
    let form = form(&plan);
    assert_eq!(ui.send("undo", &[], &form).status, 409);
    assert_eq!(text(&home), "perhaps ask\nlater\n");
    let done = ui.send("undo", &[], &(form + "&partial=1"));
    assert_eq!(done.status, 303, "{done:?}");
    assert_eq!(text(&home), "perhaps ask\nlater\n");
    assert!(!ui.text("").contains("b.md"));
}

#[test]
fn memories_and_the_whole_store_can_be_brought_back() {
    let home = scene();
    let ui = Ui::open(&home, &["--allow-undo"]);
    for asked in [
        "do=restore&path=/memories/policy.md&from=1",
        "do=rollback&to=1",
    ] {
        let plan = ui.text(&format!("plan?{asked}"));
        let (csrf, digest) = (hidden(&plan, "csrf"), hidden(&plan, "plan"));
        let done = ui.send(
            "undo",
            &[],
            &format!("{asked}&csrf={csrf}&plan={digest}&reason=back"),
        );
        assert_eq!(done.status, 303, "{asked}: {done:?}");
        assert_eq!(text(&home), "ask\nlater\n", "{asked}");
        act(&home, "night", &replace("ask", "never ask"));
    }
}
