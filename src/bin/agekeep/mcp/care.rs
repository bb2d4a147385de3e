//! Bringing back, and looking after the store: `memory_restore`, `memory_expire`, `memory_redact`
//! and `memory_erase`.

use agekeep::event::Context;
use agekeep::store::retention::{EraseOf, SweepOptions};
use agekeep::store::undo::Undo;
use serde_json::json;

use crate::mcp::call::{Arguments, Fault, Reply};
use crate::mcp::keeper::Kept;
use crate::verbs::{erase, expire, redact, undo};

pub(super) fn answer(
    kept: &mut Kept,
    tool: &str,
    arguments: &mut Arguments,
    context: &Context,
) -> Result<Reply, Fault> {
    match tool {
        "memory_restore" => restored(kept, arguments, context),
        "memory_expire" => swept(kept, arguments, context),
        "memory_redact" => redacted(kept, arguments, context),
        _ => erased(kept, arguments, context),
    }
}

fn restored(kept: &mut Kept, arguments: &mut Arguments, context: &Context) -> Result<Reply, Fault> {
    let path = arguments.needed_text("path")?;
    let path = kept.store()?.parse_path(&path)?;
    let from = match arguments.text("from")? {
        Some(from) => kept.revision(&from)?,
        None => kept.with(|store| store.before_it_went(&path))?,
    };
    let restore = Undo::Restore { path, from };
    let (plan, meta) = kept.with(|store| store.undo(&restore, None, false, context))?;
    let text = undo::to_text(&plan, false, meta.as_ref());
    Ok(Reply::found(text, json!({"plan": plan, "meta": meta})))
}

fn swept(kept: &mut Kept, arguments: &mut Arguments, context: &Context) -> Result<Reply, Fault> {
    let how = SweepOptions::default();
    if arguments.flag("dry_run")?.unwrap_or(true) {
        let plan = kept.with(|store| store.plan_sweep(how))?;
        let text = expire::to_text(&plan, None);
        return Ok(Reply::found(
            text,
            json!({"sweep": expire::to_json(&plan, None)}),
        ));
    }
    let swept = kept.with(|store| store.sweep(how, context, &mut |_, _| {}))?;
    let text = expire::to_text(&swept.plan, Some(&swept));
    let structured = expire::to_json(&swept.plan, Some(&swept));
    Ok(Reply::found(text, json!({"sweep": structured})))
}

fn redacted(kept: &mut Kept, arguments: &mut Arguments, context: &Context) -> Result<Reply, Fault> {
    let path = arguments.needed_text("path")?;
    let path = kept.store()?.parse_path(&path)?;
    let now = kept.revision("HEAD")?;
    let done = kept.with(|store| store.redact(&path, &now, context, &mut |_, _| {}))?;
    let structured = redact::kept_to_json(&done);
    Ok(Reply::found(
        redact::kept_to_text(&done),
        json!({"redaction": structured}),
    ))
}

fn erased(kept: &mut Kept, arguments: &mut Arguments, context: &Context) -> Result<Reply, Fault> {
    let path = arguments.needed_text("path")?;
    let what = EraseOf::Path(kept.store()?.parse_path(&path)?);
    let history = arguments.flag("history")?.unwrap_or(false);
    if arguments.flag("dry_run")?.unwrap_or(false) {
        let targets = kept.with(|store| store.plan_erasure(&what, history))?;
        let text = erase::lines(&targets, None).join("\n");
        let structured = erase::all_to_json(&targets, history, None);
        return Ok(Reply::found(text, json!({"erasure": structured})));
    }
    let done = kept.with(|store| store.erase(&what, history, context, &mut |_, _| {}))?;
    let text = erase::lines(&done.targets, Some(&done)).join("\n");
    let structured = erase::all_to_json(&done.targets, history, Some(&done));
    Ok(Reply::found(text, json!({"erasure": structured})))
}
