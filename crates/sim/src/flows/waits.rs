//! How long the packets of a flow have waited in queues, where those say so.

use crosswind_base::{Dur, LinearHistogram};

/// Sums of the waits that queues have noted in the packets of a flow.
pub struct Waits {
    limits: Vec<Dur>,
    /// How many packets exceeded each limit.
    late: Vec<u64>,
    /// All of them, where histograms are wanted.
    sums_ns: Option<LinearHistogram>,
}

/// A sum of waits is known to this many nanoseconds.
const WAIT_RESOLUTION_NS: u32 = 80_000;

impl Waits {
    /// `None` without limits. `is_recorded`: whether a histogram is wanted.
    pub fn new(limits: &[Dur], is_recorded: Recorded) -> Option<Box<Waits>> {
        let sums_ns = (is_recorded == Recorded::Yes).then(|| LinearHistogram::new(WAIT_RESOLUTION_NS));
        let waits = Waits { limits: limits.to_vec(), late: vec![0; limits.len()], sums_ns };
        (!limits.is_empty()).then(|| Box::new(waits))
    }

    /// How many packets exceeded each limit.
    pub fn late(&self) -> &[u64] {
        &self.late
    }

    /// All sums, where they are recorded.
    pub fn sums_ns(&self) -> Option<&LinearHistogram> {
        self.sums_ns.as_ref()
    }

    /// A packet arrives that has waited so long.
    pub fn note(&mut self, sum: Dur) {
        for (n, limit) in self.late.iter_mut().zip(&self.limits) {
            *n += u64::from(sum > *limit);
        }
        if let Some(h) = &mut self.sums_ns {
            h.record(sum.0 as i64);
        }
    }
}

/// Whether a histogram is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recorded {
    Yes,
    No,
}
