//! What to run, and how whoever waits for it is told.

use crate::flows::{Brought, OwnLaws};
use crate::world::{LookAhead, Manner, Ties};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// What to run, beside the scenarios themselves.
#[derive(Clone)]
pub struct Request {
    pub seed: u64,
    /// Indices of the repetitions to run.
    pub reps: Vec<u32>,
    /// Number of repetitions of the whole design (strata are cut by it).
    pub reps_total: u32,
    /// Where repetitions depend on the one before, they do so through so many, and begin anew with the next; 0: through all.
    pub block: u32,
    pub workers: usize,
    pub ties: Ties,
    pub look_ahead: LookAhead,
    /// The folder below which scenarios write what they record; the present one when it is empty.
    pub folder: PathBuf,
    pub laws: OwnLaws,
    /// Transports that are not built in, by the name that scenarios call them.
    pub transports: Brought,
    pub around: Around,
}

/// What stands around the work of a thread, for a program whose laws need something there: it calls what it is given, once.
pub type Around = fn(&mut (dyn FnMut() + Send));

/// Nothing stands around it.
pub fn alone(work: &mut (dyn FnMut() + Send)) {
    work();
}

impl Request {
    /// One run with a seed, on one thread, with what is built in.
    pub fn once(seed: u64) -> Request {
        Request {
            seed,
            reps: vec![0],
            reps_total: 1,
            block: 0,
            workers: 1,
            ties: Ties::Ordered,
            look_ahead: LookAhead::Allowed,
            folder: PathBuf::new(),
            laws: OwnLaws::new(),
            transports: Brought::new(),
            around: alone,
        }
    }

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
