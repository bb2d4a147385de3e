//! One thing that is done to a store, and what comes of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::attack::law::{self, Trial};
use crate::attack::plant;
use crate::attack::scene::Scene;
use crate::support::Home;

/// What is done to the copy of a store; false where this machine cannot do it.
pub(crate) type Deed = Box<dyn Fn(&Home) -> bool + Send + Sync>;

pub(crate) struct Case {
    /// What the file is: files of one kind have the same place in the store.
    pub(crate) what: String,
    /// What is done to it.
    pub(crate) deed: String,
    /// Where, if `what` does not say that.
    pub(crate) place: String,
    /// The paths, from the store's folder, that it changes.
    pub(crate) touched: Vec<String>,
    pub(crate) act: Deed,
}

/// What came of a case.
pub(crate) struct Outcome {
    pub(crate) faults: Vec<String>,
    /// The command that took longest.
    pub(crate) slowest: (Duration, String),
}

impl Case {
    /// Cases of one kind differ in the place within the file, or in which of several files it is.
    pub(crate) fn kind(&self) -> (String, String) {
        let deed = self.deed.split('/').next().unwrap_or_default();
        (self.what.clone(), deed.to_owned())
    }

    pub(crate) fn name(&self) -> String {
        format!("{} [{}]: {}", self.what, self.place, self.deed)
    }

    /// Runs it on a copy of the scene; `None` where this machine cannot do it.
    pub(crate) fn run(&self, scene: &Scene, turn: usize) -> Option<Outcome> {
        let ran = catch_unwind(AssertUnwindSafe(|| self.try_run(scene, turn)));
        ran.unwrap_or_else(|cause| {
            let why = cause.downcast_ref::<String>().cloned().unwrap_or_default();
            panic!("{}: {why}", self.name());
        })
    }

    fn try_run(&self, scene: &Scene, turn: usize) -> Option<Outcome> {
        let home = scene.copy();
        if !(self.act)(&home) {
            return None;
        }
        let trial = Trial::run(&home, &scene.truth, turn);
        let mut faults = trial.faults(&home, scene);
        if faults.is_empty() && trial.is_refused() {
            self.put_back(&home, scene);
            let lasting = law::whole(&home, scene);
            faults.extend(lasting.map(|why| format!("lasting: once it is put back, {why}")));
        }
        let (time, args) = trial.slowest();
        Some(Outcome {
            faults,
            slowest: (time, args.to_owned()),
        })
    }

    /// Puts what was touched back as it was in the scene.
    fn put_back(&self, home: &Home, scene: &Scene) {
        for path in &self.touched {
            let (here, there) = (home.store().join(path), scene.home.store().join(path));
            plant::clear(&here);
            if there.exists() {
                plant::copy(&there, &here);
            }
        }
    }
}
