//! What to run, and how whoever waits for it is told.

use crate::engine::{LookAhead, Manner, Ties};
use crate::flows::OwnLaws;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// What to run, beside the scenarios themselves.
#[derive(Clone, Debug)]
pub struct Request {
    pub seed: u64,
    /// Indices of the repetitions to run.
    pub reps: Vec<u32>,
    /// Number of repetitions of the whole design (strata are cut by it).
    pub reps_total: u32,
    pub workers: usize,
    pub ties: Ties,
    pub look_ahead: LookAhead,
    /// The folder below which scenarios write what they record; the present one when it is empty.
    pub folder: PathBuf,
    pub laws: OwnLaws,
    pub around: Around,
}

/// What stands around the work of a thread, for a program whose laws need something there: it calls what it is given, once.
pub type Around = fn(&mut (dyn FnMut() + Send));

/// Nothing stands around it.
pub fn alone(work: &mut (dyn FnMut() + Send)) {
    work();
}

impl Request {
    pub(super) fn manner(&self) -> Manner {
        Manner { ties: self.ties, look_ahead: self.look_ahead }
    }
}

/// Shared between the runs and whoever waits for them.
#[derive(Default)]
pub struct Progress {
    pub done: AtomicUsize,
    pub cancel: AtomicBool,
}
