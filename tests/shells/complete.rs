//! Completion in the shells themselves: each reads its script, completes a line as it does for a
//! person, and inserts a path of the store that it would obey if it were not quoted.

use std::path::PathBuf;
use std::process::{Command, Output};

use super::candidates::hostile_home;
use crate::support::{Home, feed, has_peer, stderr, stdout};

/// A shell on a script, in a home whose `PATH` has agekeep first.
fn shell(home: &Home, program: &[&str], script: &str) -> Output {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_agekeep"));
    let folder = binary.parent().expect("a folder").display();
    let mut command = Command::new(crate::support::program(program[0]));
    command
        .args(&program[1..])
        .env_clear()
        .env("PATH", format!("{folder}:/usr/bin:/bin"))
        .env("HOME", home.path())
        .env("XDG_CONFIG_HOME", home.path().join("config"))
        .env("AGEKEEP_STORE", home.store())
        .env("TERM", "xterm")
        .env("LANG", "C.UTF-8")
        .current_dir(home.path());
    feed(command, script.as_bytes())
}

#[track_caller]
fn assert_harmless(home: &Home, output: &Output) {
    assert!(
        !home.path().join("x").exists(),
        "a path was executed: {}",
        stdout(output)
    );
    assert!(!stdout(output).contains('\u{1b}'), "{}", stdout(output));
}

/// Bash completes as readline would ask it to, and the inserted word is then read by bash itself.
#[test]
fn bash_inserts_a_hostile_path_as_one_word() {
    let home = hostile_home();
    let script = r#"
eval "$(agekeep completions bash)"
complete_line() {
    COMP_LINE=$1 COMP_POINT=${#1}
    _agekeep
    printf '<%s>\n' "${COMPREPLY[@]}"
}
complete_line 'agekeep vie'
complete_line 'agekeep view /memories/\$'
eval "printf 'read as [%s]\n' ${COMPREPLY[0]}"
complete_line 'agekeep view /memories/i'
eval "printf 'read as [%s]\n' ${COMPREPLY[0]}"
complete -p agekeep
"#;
    let output = shell(&home, &["bash", "--norc", "--noprofile"], script);
    let text = stdout(&output);
    assert_eq!(stderr(&output), "");
    assert!(text.contains("<view>"), "{text}");
    assert!(
        text.contains("read as [/memories/$(touch x).md]\n"),
        "{text}"
    );
    assert!(
        text.contains("read as [/memories/it's \"quoted\".md]\n"),
        "{text}"
    );
    assert!(text.contains("complete -F _agekeep agekeep"), "{text}");
    assert_harmless(&home, &output);
}

/// A person at a real terminal of bash: what Tab inserts is printed, then given to `echo`.
#[test]
fn tab_in_an_interactive_bash_inserts_the_quoted_path() {
    let home = hostile_home();
    let typed = "PS1=; bind 'set enable-bracketed-paste off'\\n\
        eval \"$(agekeep completions bash)\"\\n\
        agekeep view --quiet /memories/\\\\$\\t\\nexit\\n";
    let script = format!(
        "{{ sleep 1; printf '{}'; sleep 3; }} | script -qec 'bash --norc --noprofile -i' /dev/null",
        typed.replace('\'', "'\\''")
    );
    if !has_peer("script", "no terminal for an interactive bash") {
        return;
    }
    let output = shell(&home, &["bash"], &script);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("\\$\\(touch\\ x\\).md"), "{text}");
    assert!(
        text.contains("1\tone"),
        "the path was read as one word: {text}"
    );
    assert!(!home.path().join("x").exists());
}

#[test]
fn zsh_inserts_a_hostile_path_as_one_word() {
    if !has_peer("zsh", "completion in zsh") {
        return;
    }
    let home = hostile_home();
    let script = r#"
zmodload zsh/zpty
zpty z zsh -f -i
send() { zpty -w z "$1"; }
send 'PS1=; unsetopt zle_bracketed_paste 2>/dev/null; autoload -U compinit; compinit -u -D; eval "$(agekeep completions zsh)"; bindkey "^I" complete-word; print -r -- rea''dy'
zpty -r -m z seen '*ready*'
zpty -w -n z $'print -r -- agekeep view\n'
zpty -w -n z $'agekeep view --quiet /memories/\\$\t\n'
zpty -r -m z seen '*1*one*'
print -r -- "$seen"
zpty -w -n z $'agekeep vie\t --quiet /memories/pl\t\n'
zpty -r -m z seen '*1*one*'
print -r -- "$seen"
zpty -d z
"#;
    let output = shell(&home, &["timeout", "60", "zsh", "-f"], script);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("\\$\\(touch\\ x\\).md"),
        "{text}{}",
        stderr(&output)
    );
    assert!(text.contains("one"), "{text}{}", stderr(&output));
    assert!(!home.path().join("x").exists());
}

#[test]
fn fish_offers_paths_and_verbs() {
    if !has_peer("fish", "completion in fish") {
        return;
    }
    let home = hostile_home();
    let script = r#"
agekeep completions fish | source
complete -C 'agekeep vie'
complete -C 'agekeep view /mem'
complete -C 'agekeep view "/memories/it'
complete -C 'agekeep view /memories/\$'
"#;
    let output = shell(&home, &["fish", "--no-config"], script);
    let text = stdout(&output);
    assert_eq!(stderr(&output), "");
    assert!(text.contains("view\t"), "{text}");
    for path in [
        "plain.md",
        "$(touch x).md",
        "team/",
        "it's \"quoted\".md",
        "with space.md",
    ] {
        assert!(
            text.contains(&format!("/memories/{path}")),
            "{path}: {text}"
        );
    }
    assert_harmless(&home, &output);
}

#[test]
fn elvish_takes_the_script_and_its_candidates() {
    if !has_peer("elvish", "completion in elvish") {
        return;
    }
    let home = hostile_home();
    let script = r"
use str
var edit:completion:arg-completer = [&]
fn edit:complex-candidate {|value &code-suffix='' &display=''| put '<'$value'|'$code-suffix'>' }
";
    // Without a terminal, elvish has no module `edit`: the body of the script runs with its names
    // replaced.
    let body = stdout(&shell(&home, &["agekeep", "completions", "elvish"], ""));
    let body = body
        .replace("edit:completion:arg-completer", "completers")
        .replace("edit:complex-candidate", "candidate");
    let script = script
        .replace("edit:completion:arg-completer", "completers")
        .replace("edit:complex-candidate", "candidate");
    let script =
        format!("{script}{body}\n$completers[agekeep] agekeep view /memories/ | each $echo~\n");
    let file = home.path().join("script.elv");
    std::fs::write(&file, script).expect("written");
    let file = file.to_str().expect("UTF-8").to_owned();
    let output = shell(&home, &["elvish", "-norc", &file], "");
    let text = stdout(&output);
    assert_eq!(stderr(&output), "");
    assert!(text.contains("</memories/$(touch x).md| >"), "{text}");
    assert!(text.contains("</memories/team/|>"), "{text}");
    assert_harmless(&home, &output);
}

/// PowerShell is not at hand here: the script is read, and the quotes of its candidates.
#[test]
fn powershell_gets_quoted_candidates() {
    let home = hostile_home();
    let script = stdout(&home.run(&["completions", "powershell"]));
    assert!(script.contains("Register-ArgumentCompleter -Native -CommandName agekeep"));
    assert!(!script.contains("Invoke-Expression"));
    let asked = [
        "complete",
        "powershell",
        "--",
        "agekeep",
        "view",
        "'/memories/",
    ];
    let text = stdout(&home.run(&asked));
    for path in [
        "'/memories/$(touch x).md'",
        "'/memories/it''s \"quoted\".md'",
        "/memories/plain.md",
    ] {
        assert!(text.lines().any(|line| line == path), "{path}: {text}");
    }
}
