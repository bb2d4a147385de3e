//! `doctor`: what is not wrong yet and will hurt one day, each with what to do about it.

use std::path::Path;

use agekeep::crypto::recipients::Role;
use agekeep::error::Result;
use agekeep::store::{SignerRole, Store};
use serde_json::json;

use crate::args::Global;
use crate::{environment, output};

/// The exit code where something is found.
const FINDINGS: u8 = 14;

/// Something to look after.
struct Advice {
    id: &'static str,
    what: String,
    fix: String,
}

pub(crate) fn run(global: &Global) -> Result<u8> {
    let closed = Store::protect(&global.existing_store()?);
    let store = global.open_to_look()?;
    let status = store.status()?;
    let mut found: Vec<Advice> = closed.into_iter().map(was_open).collect();
    found.extend(status.problems.iter().map(|problem| Advice {
        id: "problem",
        what: problem.clone(),
        fix: "what it says; `agekeep verify` shows what is behind it".into(),
    }));
    found.extend(readers(&store));
    found.extend(signers(&store));
    found.extend(backups(&store, &status.path));
    found.extend(copy_left(&store, &status.path));
    found.extend(keys_inside(global, &status.path)?);
    for advice in &found {
        if global.json {
            output::json(&json!({
                "schema": "agekeep.doctor/1",
                "id": advice.id,
                "what": advice.what,
                "fix": advice.fix,
            }))?;
        } else {
            output::line(&format!(
                "{}: {}\n  fix: {}",
                advice.id, advice.what, advice.fix
            ))?;
        }
    }
    if found.is_empty() && !global.json {
        output::line("Nothing was found.")?;
    }
    Ok(if found.is_empty() { 0 } else { FINDINGS })
}

/// What others could use until now.
fn was_open(what: String) -> Advice {
    Advice {
        id: "loose-permissions",
        what,
        fix:
            "if somebody else may have read the keyring together with an identity, `agekeep rekey`"
                .into(),
    }
}

fn readers(store: &Store) -> Option<Advice> {
    let readers = store
        .members()
        .iter()
        .filter(|member| member.role == Role::Reader);
    (readers.count() == 1).then(|| Advice {
        id: "one-reader",
        what: "there is one reader: if that identity is lost, every memory is".into(),
        fix: "add another with `agekeep recipients add NAME RECIPIENT`, or one for a safe with \
              `agekeep recipients add recovery --new`"
            .into(),
    })
}

fn signers(store: &Store) -> Option<Advice> {
    let mut signers = store.signer_list();
    signers.retain(|signer| signer.role == SignerRole::Owner);
    let ends = signers.iter().map(|signer| signer.validity.before());
    let last = ends.collect::<Option<Vec<_>>>()?.into_iter().max()?;
    Some(Advice {
        id: "signers-end",
        what: format!("after {last} nobody can say who may write: every owner's time ends"),
        fix: "add one whose time does not, with `agekeep signers add NAME KEY --role owner`".into(),
    })
}

fn backups(store: &Store, root: &Path) -> Option<Advice> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let keyring = real(store.keyring_folder());
    keyring.starts_with(real(root)).then(|| Advice {
        id: "one-backup",
        what: format!(
            "the keyring is in the store's folder, so a backup of one is a backup of both: whoever \
             restores it has the keys of everything it holds, also of what is erased later ({})",
            keyring.display()
        ),
        fix: "copy that folder to a volume with a backup of its own, name it in the policy as \
              `[keyring]` with `folder = \"…\"` (`agekeep policy set`), and remove the copy here; a \
              new store: `agekeep init --keyring DIR`"
            .into(),
    })
}

fn copy_left(store: &Store, root: &Path) -> Option<Advice> {
    let copy = root.join("keyring");
    let is_other = copy.join("ring").is_file() && store.keyring_folder() != copy;
    is_other.then(|| Advice {
        id: "keyring-copy",
        what: format!(
            "the keyring is in {}, and a copy of it is still in {}",
            store.keyring_folder().display(),
            copy.display()
        ),
        fix: format!("remove {}", copy.display()),
    })
}

fn keys_inside(global: &Global, root: &Path) -> Result<Vec<Advice>> {
    let files = [
        ("identity", environment::identity(global)?),
        ("signing key", environment::signing_key(global)?),
    ];
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let inside = |path: &Path| {
        path.canonicalize()
            .is_ok_and(|path| path.starts_with(&root))
    };
    let inside = files.into_iter().filter(|(_, path)| inside(path));
    Ok(inside
        .map(|(what, path)| Advice {
            id: "key-in-store",
            what: format!("the {what} {} lies in the store it is for", path.display()),
            fix: format!(
                "move it elsewhere, and name it with --{}",
                what.replace(' ', "-")
            ),
        })
        .collect())
}
