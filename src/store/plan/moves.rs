//! Plans that remove or move memories: `delete` and `rename`.

use crate::event::{Change, Place};
use crate::memory_tool::path::MemoryPath;
use crate::policy::MOVE_BYTES;
use crate::redact::Redacted;
use crate::state::catalog::Memory;
use crate::store::answer::Refusal;

use super::super::Store;
use super::{
    Call, Drafted, Fault, Plan, Planned, Subject, Target, Written, already, check_base,
    does_not_exist, needs_file, noted, refuse, touch, write_plan,
};

impl Store {
    pub(super) fn delete(&mut self, call: &Call<'_>) -> Drafted {
        let path = self.path(call.shown)?;
        if path.is_root() {
            return refuse(
                Refusal::Denied,
                "Error: Cannot delete the /memories directory itself",
            );
        }
        let done = format!("Successfully deleted {}", call.shown);
        let place = Target::At(self.place(&path));
        if let Some(memory) = self.living().at(&path).cloned() {
            if let Some(base) = call.base {
                check_base(base, &self.text_of(&memory)?, call.shown)?;
            }
            self.no_hold_on(&memory)?;
            let step = Planned::Touch(touch(&memory, Change::Remove));
            return Ok(Plan {
                subject: Some(Subject { sha256: None }),
                ..Plan::answer(done, place, vec![step])
            });
        }
        if !self.living().is_directory(&path) {
            return match call.base {
                Some(_) => Ok(Plan::answer(done, place, Vec::new())),
                None => refuse(
                    Refusal::NotFound,
                    format!("Error: {}", does_not_exist(call.shown, "")),
                ),
            };
        }
        needs_file(call)?;
        let memories: Vec<Memory> = self.living().below(&path).cloned().collect();
        memories
            .iter()
            .try_for_each(|memory| self.no_hold_on(memory))?;
        let remove = |memory| Planned::Touch(touch(memory, Change::Remove));
        let steps = memories.iter().map(remove).collect();
        Ok(Plan::answer(done, place, steps))
    }

    /// Refuses to delete what a hold keeps.
    fn no_hold_on(&self, memory: &Memory) -> Result<(), Fault> {
        match self.catalog.hold_on(memory.id, Some(&memory.path)) {
            None => Ok(()),
            Some(_) => refuse(
                Refusal::Denied,
                format!(
                    "Error: {} is kept under a hold and cannot be deleted",
                    memory.path.as_str()
                ),
            ),
        }
    }

    pub(super) fn rename(&mut self, call: &Call<'_>, shown_to: &str) -> Drafted {
        let from = self.path(call.shown)?;
        if from.is_root() {
            return refuse(
                Refusal::Denied,
                "Error: Cannot rename the /memories directory itself",
            );
        }
        let to = self.path(shown_to)?;
        let done = format!("Successfully renamed {} to {shown_to}", call.shown);
        let source = self.living().at(&from).cloned();
        let taken = self.living().at(&to).cloned();
        if let (Some(base), None, Some(there)) = (call.base, &source, &taken) {
            let text = self.text_of(there)?;
            check_base(base, &text, shown_to)?;
            return Ok(Plan {
                path: Some(Target::At(self.asked(&from)?)),
                new_path: Some(Place::Of(there.id, Some(to))),
                ..already(done, there, &text)
            });
        }
        if taken.is_some() || self.living().is_directory(&to) {
            let text = format!("Error: The destination {shown_to} already exists");
            return refuse(Refusal::Exists, text);
        }
        if source.is_none() && !self.living().is_directory(&from) {
            let text = format!("Error: {}", does_not_exist(call.shown, ""));
            return refuse(Refusal::NotFound, text);
        }
        if to.is_below(&from) {
            let text = format!("Error: Cannot move {} into itself: {shown_to}", call.shown);
            return refuse(Refusal::Failed, text);
        }
        self.no_secret_in(&to, shown_to)?;
        self.not_below_a_file(&to, shown_to)?;
        let making_way = self.make_way_now(&to, shown_to)?;
        let mut plan = match source {
            Some(memory) => self.rename_file(call, &memory, to, done),
            None => self.rename_directory(call, &from, &to, &done),
        }?;
        plan.steps.extend(making_way);
        Ok(plan)
    }

    fn rename_file(
        &mut self,
        call: &Call<'_>,
        memory: &Memory,
        to: MemoryPath,
        done: String,
    ) -> Drafted {
        let text = self.text_at_base(memory, call)?;
        let text = self.redacted(&to, to.as_str(), &text)?;
        let from = Place::Of(memory.id, Some(memory.path.clone()));
        let plan = write_plan(done, memory, Change::Move, to.clone(), text);
        Ok(Plan {
            path: Some(Target::At(from)),
            new_path: Some(Place::Of(memory.id, Some(to))),
            ..plan
        })
    }

    fn rename_directory(
        &mut self,
        call: &Call<'_>,
        from: &MemoryPath,
        to: &MemoryPath,
        done: &str,
    ) -> Drafted {
        needs_file(call)?;
        let memories: Vec<Memory> = self.living().below(from).cloned().collect();
        let Some(first) = memories.first().map(|memory| memory.id) else {
            let text = format!("Error: {}", does_not_exist(call.shown, ""));
            return refuse(Refusal::NotFound, text);
        };
        let bytes: u64 = memories.iter().map(|memory| memory.bytes).sum();
        if bytes > MOVE_BYTES {
            let text = format!(
                "Error: {} holds {bytes} bytes, and at most {MOVE_BYTES} move at once. Move what is \
                 in it one by one.",
                call.shown
            );
            return refuse(Refusal::Limit, text);
        }
        let mut steps = Vec::with_capacity(memories.len());
        for memory in &memories {
            let max = self.decisions.policy.limits.path_bytes;
            let path = memory.path.moved(from, to, max);
            let path = path.or_else(|fault| self.refuse_path(memory.path.as_str(), &fault))?;
            let text = self.text_of(memory)?;
            let text = self.redacted(&path, path.as_str(), &text)?;
            steps.push(Planned::Write(
                Written {
                    id: memory.id,
                    path,
                    version: memory.version + 1,
                    change: Change::Move,
                    from: None,
                },
                text,
            ));
        }
        let texts = steps.iter().filter_map(|step| match step {
            Planned::Write(_, text) => Some(text),
            _ => None,
        });
        let kinds: Vec<&str> = texts.flat_map(Redacted::kinds).collect();
        let done = noted(done, &kinds);
        Ok(Plan {
            new_path: Some(Place::Of(first, Some(to.clone()))),
            ..Plan::answer(done, Target::At(self.place(from)), steps)
        })
    }
}
