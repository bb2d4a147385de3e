//! `policy edit`: the policy in the editor of whoever may change it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::Command;

use agekeep::error::{Error, Result};
use agekeep::policy::Policy;
use agekeep::store::PolicyChange;
use serde_json::json;

use crate::args::Global;
use crate::terminal::Terminal;
use crate::{environment, output};

/// What stands above the policy in the file that is edited.
const HEADING: &str = "\
# The policy in force. When the editor ends it is put in place as it is then, if anything in it
# has changed; comments are not kept. `agekeep policy explain` says what it means.

";
/// Most names that are tried for the file.
const NAMES_MAX: u32 = 1_000;

pub(super) fn run(global: &Global) -> Result<u8> {
    let mut store = global.open()?;
    let before = store.policy().clone();
    let draft = Draft::of(&before)?;
    let after = loop {
        draft.edit()?;
        let error = match draft.read() {
            Ok(policy) => break policy,
            Err(error) => error,
        };
        match wants_again(&error, global)? {
            Some(true) => {}
            Some(false) => {
                draft.keep();
                return Ok(error.exit_code());
            }
            None => {
                draft.keep();
                return Err(error);
            }
        }
    };
    if after == before {
        return say(global, None);
    }
    let unless_changed = |now: &Policy| {
        if *now == before {
            Ok(after)
        } else {
            Err(Error::PolicyChanged)
        }
    };
    let changed = store.change_policy(unless_changed, &global.context());
    let changed = changed.inspect_err(|_| draft.keep())?;
    say(global, Some(&changed))
}

fn say(global: &Global, change: Option<&PolicyChange>) -> Result<u8> {
    let meta = change.and_then(|change| change.meta.as_ref());
    if global.json {
        output::json(&json!({"schema": "agekeep.policy_set/1", "meta": meta}))?;
    } else if let Some(meta) = meta {
        output::line(&format!("The policy is in place (event {}).", meta.event))?;
    } else {
        output::line("The policy is as it was; nothing was recorded.")?;
    }
    Ok(0)
}

/// Says what is wrong and asks whether to go on; `None` where there is nobody to ask.
fn wants_again(error: &Error, global: &Global) -> Result<Option<bool>> {
    let Some(terminal) = Terminal::open() else {
        return Ok(None);
    };
    output::error(error, global.json);
    let answer = terminal
        .ask("Edit it again? [y/N]")
        .map_err(|source| Error::Io {
            doing: "ask at",
            path: "the terminal".into(),
            source,
        })?;
    Ok(Some(answer.to_lowercase().starts_with('y')))
}

/// A file of this user's alone, gone when this is, unless it is kept.
struct Draft {
    path: PathBuf,
    kept: std::cell::Cell<bool>,
}

impl Draft {
    /// Writes a policy to a new file.
    fn of(policy: &Policy) -> Result<Self> {
        let folder = environment::temporary_folder();
        let mut number = 0;
        loop {
            let name = format!("agekeep-policy-{}-{number}.toml", std::process::id());
            let path = folder.join(name);
            let write_error = |source| Error::Io {
                doing: "write",
                path: path.clone(),
                source,
            };
            let mut options = OpenOptions::new();
            match options.write(true).create_new(true).mode(0o600).open(&path) {
                Ok(mut file) => {
                    let text = format!("{HEADING}{}", policy.to_full_toml());
                    let written = file.write_all(text.as_bytes());
                    written.map_err(write_error)?;
                    let kept = std::cell::Cell::new(false);
                    return Ok(Self { path, kept });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < NAMES_MAX => {
                    number += 1;
                }
                Err(e) => return Err(write_error(e)),
            }
        }
    }

    /// Has it edited, by a command line as git takes one.
    fn edit(&self) -> Result<()> {
        let editor = match environment::editor() {
            Some(editor) => editor,
            None if Terminal::open().is_some() => "vi".into(),
            None => return Err(fault("there is no terminal; set VISUAL or EDITOR".into())),
        };
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(format!("{editor} \"$@\""))
            .arg(&editor)
            .arg(&self.path);
        match shell.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => {
                self.keep();
                Err(fault(format!(
                    "`{editor}` ended with {status}, so nothing was changed"
                )))
            }
            Err(e) => Err(fault(format!("sh does not start: {e}"))),
        }
    }

    /// Reads it back. One from which everything is gone is more likely an editor that failed than
    /// somebody's wish for what holds without a policy.
    fn read(&self) -> Result<Policy> {
        let text = crate::verbs::policy::read(&self.path)?;
        if text.trim().is_empty() {
            return Err(Error::Invalid {
                what: "the policy",
                why: "nothing is left of it, so nothing was changed".into(),
            });
        }
        Policy::parse_and_try(&text)
    }

    fn keep(&self) {
        self.kept.set(true);
        if !self.path.exists() {
            return;
        }
        output::note(&format!(
            "What was written is kept in {}.",
            self.path.display()
        ));
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.kept.get() {
            // Nothing in it is secret, and there is nobody to tell.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn fault(why: String) -> Error {
    Error::Invalid {
        what: "the editor",
        why,
    }
}
