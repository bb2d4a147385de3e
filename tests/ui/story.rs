//! The story of docs/ui.md, in a browser: a person finds who changed a policy last night, and takes
//! it back.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::chromium::Chromium;
use crate::support::{Home, stderr, stdout};
use crate::ui::client::Ui;

/// The widths at which pages are looked at.
const WIDTHS: [u32; 2] = [1_280, 400];

#[test]
fn a_person_finds_who_changed_a_policy_last_night_and_takes_it_back() {
    let why = "pages are for people, who look at them with a browser";
    let Some(mut browser) = Chromium::start("a person takes back a policy", why) else {
        return;
    };
    let home = Home::with_store();
    for block in blocks() {
        let done = home_shell(&home, &block);
        assert!(done.status.success(), "{block}: {}", stderr(&done));
    }
    let path = "/memories/<script>document.title='obeyed'</script><img src=x onerror=alert(1)>.md";
    let create = json!({"command": "create", "path": path, "file_text": format!("{path}\n")});
    home.tool(&create.to_string());

    let ui = Ui::run(home.command(&["ui", "--allow-undo"]));
    browser.open(&ui.url);
    assert_eq!(heading(&mut browser), "Memories");
    assert!(
        !address(&mut browser).contains("token"),
        "{}",
        address(&mut browser)
    );
    assert_is_well_made(&mut browser);
    let room = browser.eval("location.pathname");
    let room = room.as_str().expect("a path").to_owned();

    // From the tree to the policy; who changed it last, and to what.
    follow(&mut browser, "refunds.md");
    assert_eq!(heading(&mut browser), "/memories/policies/refunds.md");
    assert!(shows(&mut browser, "Any sum: refund at once, ask nobody."));
    assert_is_well_made(&mut browser);
    mouse(
        &mut browser,
        "document.querySelector('[name=old][value=\"1\"]')",
    );
    press(&mut browser, "Compare the chosen two");
    browser.wait_until_loaded();
    assert!(shows(&mut browser, "Over 200 EUR: ask a person."));
    assert_is_well_made(&mut browser);
    follow(&mut browser, "Back to the memory");

    // Everything that this session did.
    follow(&mut browser, "s-night");
    assert_eq!(heading(&mut browser), "Timeline");
    assert!(shows(&mut browser, "night-agent") && !shows(&mut browser, "support-agent"));
    assert_is_well_made(&mut browser);

    // What undoing it would do, and then that.
    follow(&mut browser, "See what undoing these events would do");
    assert!(shows(&mut browser, "Nothing is changed yet."));
    assert_is_well_made(&mut browser);
    browser.eval("document.querySelector('[name=reason]').focus()");
    browser.call(
        "Input.insertText",
        &json!({"text": "the night agent was told lies"}),
    );
    press(&mut browser, "Do exactly this");
    browser.wait_until_loaded();
    let done = heading(&mut browser);
    assert!(
        done.starts_with("Event "),
        "{done}: {}",
        browser.eval("document.querySelector('main').innerText")
    );
    assert!(shows(&mut browser, "revert") && shows(&mut browser, "the night agent was told lies"));
    assert_is_well_made(&mut browser);

    let text = stdout(&home.run(&["show", "HEAD:/memories/policies/refunds.md"]));
    assert!(text.contains("Over 200 EUR: ask a person.\n"), "{text}");
    let reverted = home.run(&["log", "--command", "revert", "--json"]);
    let record: Value = serde_json::from_slice(&reverted.stdout).expect("one event");
    assert_eq!([&record["actor"], &record["door"]], ["tester", "ui"]);

    // The other pages, and what an agent called a memory, which does nothing.
    for page in ["Search", "Undo", "Memories"] {
        follow(&mut browser, page);
        assert_is_well_made(&mut browser);
    }
    follow(&mut browser, "Report");
    assert_is_well_made(&mut browser);
    press(&mut browser, "Show the report");
    browser.wait_until_loaded();
    assert!(address(&mut browser).contains("/report.html"));
    assert!(shows(&mut browser, "night-agent"));
    let is_styled =
        "document.styleSheets.length === 1 && document.styleSheets[0].cssRules.length > 10";
    assert_eq!(browser.eval(is_styled), true);
    assert!(browser.overflow() <= 0);
    browser.open(&format!("http://{}{room}", ui.host));
    follow(&mut browser, ".md");
    assert!(shows(&mut browser, "onerror=alert(1)"));
    assert_is_well_made(&mut browser);

    assert_eq!(browser.complaints(), [] as [String; 0]);
    let own = format!("http://{}/", ui.host);
    let foreign = browser.requests().iter().find(|url| !url.starts_with(&own));
    assert_eq!(foreign, None);
}

/// By keyboard alone: the first stop leads past the navigation, and what has the focus shows it.
#[test]
fn a_keyboard_is_enough() {
    let why = "not everybody has a mouse";
    let Some(mut browser) = Chromium::start("a keyboard is enough", why) else {
        return;
    };
    let home = Home::with_store();
    home.tool(
        &json!({"command": "create", "path": "/memories/a.md", "file_text": "x\n"}).to_string(),
    );
    let ui = Ui::run(home.command(&["ui"]));
    browser.open(&ui.url);
    key(&mut browser, "Tab", 9);
    assert_eq!(focused(&mut browser), "Skip to the content");
    let top = "document.activeElement.getBoundingClientRect().top >= 0";
    assert_eq!(browser.eval(top), true, "it is seen once it has the focus");
    key(&mut browser, "Enter", 13);
    key(&mut browser, "Tab", 9);
    assert_eq!(focused(&mut browser), "a.md", "the navigation was skipped");
    let outline = "getComputedStyle(document.activeElement).outlineStyle";
    assert_eq!(browser.eval(outline), "solid");
    key(&mut browser, "Enter", 13);
    browser.wait_until_loaded();
    assert_eq!(heading(&mut browser), "/memories/a.md");
}

fn key(browser: &mut Chromium, name: &str, code: u32) {
    let text = if name == "Enter" { "\r" } else { "" };
    for kind in ["keyDown", "keyUp"] {
        let event = json!({"type": kind, "key": name, "code": name, "text": text, "windowsVirtualKeyCode": code});
        browser.call("Input.dispatchKeyEvent", &event);
    }
}

fn focused(browser: &mut Chromium) -> String {
    let text = browser.eval("document.activeElement.textContent.trim()");
    text.as_str().expect("a text").to_owned()
}

/// The blocks of commands of docs/ui.md that make the night's scene.
fn blocks() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ui.md");
    let page = fs::read_to_string(page).expect("the page");
    let blocks = page.split("```sh\n").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("```").next());
    let blocks: Vec<String> = blocks
        .filter(|block| !block.contains("agekeep ui"))
        .map(str::to_owned)
        .collect();
    assert!(!blocks.is_empty(), "the page has the story's commands");
    blocks
}

/// Runs a block of a page in a shell, as a person would.
fn home_shell(home: &Home, block: &str) -> std::process::Output {
    let program = Path::new(env!("CARGO_BIN_EXE_agekeep"));
    let folder = program.parent().expect("a folder");
    let mut shell = std::process::Command::new("/bin/sh");
    shell.env_clear();
    for (name, value) in home.command(&[]).get_envs() {
        shell.env(name, value.expect("set"));
    }
    shell.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    shell.args(["-euc", block]).current_dir(home.path());
    shell.output().expect("a shell")
}

fn heading(browser: &mut Chromium) -> String {
    let text = browser.eval("document.querySelector('h1').textContent");
    text.as_str().expect("a heading").to_owned()
}

fn address(browser: &mut Chromium) -> String {
    let text = browser.eval("location.href");
    text.as_str().expect("an address").to_owned()
}

fn shows(browser: &mut Chromium, text: &str) -> bool {
    let inside = format!(
        "document.querySelector('main').innerText.includes({})",
        json!(text)
    );
    browser.eval(&inside).as_bool().expect("yes or no")
}

fn follow(browser: &mut Chromium, text: &str) {
    click(browser, "a", text);
    browser.wait_until_loaded();
}

fn press(browser: &mut Chromium, text: &str) {
    click(browser, "button", text);
}

/// Clicks on the first of these elements that has this text, or ends with it where it begins with a
/// dot.
fn click(browser: &mut Chromium, element: &str, text: &str) {
    let fits = if text.starts_with('.') {
        "endsWith(wanted)"
    } else {
        "trim() === wanted"
    };
    let (element, text) = (json!(element), json!(text));
    mouse(
        browser,
        &format!(
            "(wanted => [...document.querySelectorAll({element})].find(e => e.textContent.{fits}))({text})"
        ),
    );
}

/// Clicks with the mouse in the middle of an element, as a person does who sees it.
fn mouse(browser: &mut Chromium, element: &str) {
    browser.resize(WIDTHS[0], 900);
    let place = format!(
        "(found => {{ if (!found) return null; found.scrollIntoView({{block: 'center'}}); \
         const box = found.getClientRects()[0]; \
         return [box.x + box.width / 2, box.y + box.height / 2]; }})({element})"
    );
    let place = browser.eval(&place);
    assert!(place.is_array(), "{} has no {element}", address(browser));
    for kind in ["mousePressed", "mouseReleased"] {
        let event =
            json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
        browser.call("Input.dispatchMouseEvent", &event);
    }
}

/// What every page has: landmarks, headings in order, labels, captions; no script, no style of its
/// own; contrast enough; and nothing wider than a narrow window.
fn assert_is_well_made(browser: &mut Chromium) {
    let faults = browser.eval(CHECKS);
    assert_eq!(faults, json!([]), "{}", address(browser));
    for width in WIDTHS {
        browser.resize(width, 900);
        assert!(browser.overflow() <= 0, "{} at {width}", address(browser));
    }
}

const CHECKS: &str = r"(() => {
  const faults = [];
  const all = selector => [...document.querySelectorAll(selector)];
  const one = selector => { if (all(selector).length !== 1) faults.push('not one ' + selector); };
  ['html[lang]', 'title', 'main', 'h1', 'header', 'footer', 'nav[aria-label=Pages]'].forEach(one);
  if (document.title === 'obeyed') faults.push('a script ran');
  if (all('script, style, [style], iframe, img').length) faults.push('active content');
  for (const e of all('*')) for (const a of e.attributes)
    if (a.name.startsWith('on')) faults.push('a handler: ' + a.name);
  let level = 0;
  for (const h of all('h1, h2, h3, h4')) {
    const own = Number(h.tagName[1]);
    if (own > level + 1) faults.push('heading out of order: ' + h.textContent);
    level = own;
  }
  for (const t of all('table')) if (!t.caption || !t.querySelector('th[scope=col]')) faults.push('a bare table');
  for (const i of all('input:not([type=hidden]), select')) if (!i.labels.length) faults.push('no label: ' + i.name);
  for (const id of all('[id]').map(e => e.id)) if (all('#' + CSS.escape(id)).length > 1) faults.push('twice: ' + id);
  for (const a of all('a')) if (!a.textContent.trim() || !a.href.startsWith(location.origin)) faults.push('a link: ' + a.href);
  const light = rgb => { const [r, g, b] = rgb.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const parse = text => (text.match(/[\d.]+/g) || []).map(Number);
  const ground = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c.slice(0, 3); } return [255, 255, 255]; };
  for (const e of all('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color).slice(0, 3)), light(ground(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faults.push('contrast: ' + e.textContent.slice(0, 40));
  }
  return faults;
})()";
