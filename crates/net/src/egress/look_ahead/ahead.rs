//! What an egress knows of what it does before its time.

use super::batch::Batch;
use super::remembered::Remembered;
use crate::queue::Backlog;
use crosswind_base::Time;
use std::collections::VecDeque;

/// A packet that was forwarded before its arrival, and will have to wait.
#[derive(Clone, Copy)]
pub(in crate::egress) struct PendingArrival {
    pub arrives: Time,
    pub starts: Time,
    pub len: u32,
}

/// What becomes of a packet that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::egress) enum Arriving {
    /// Everything happens at its own time.
    #[default]
    Now,
    /// Its delivery is planned.
    Planned,
    /// It has been forwarded before its time, by the one upstream link.
    FromUpstream,
    /// It has been forwarded before its time, by one of several upstream links.
    Batched,
}

/// What the driver has permitted.
#[derive(Clone, Copy, Default)]
pub(in crate::egress) struct Permitted {
    pub arriving: Arriving,
    pub defers: bool,
    pub plans: bool,
    pub has_one_upstream: bool,
    pub forwards_early: bool,
    /// It is sampled during the run.
    pub is_sampled: bool,
}

/// What an egress does before its time.
#[derive(Default)]
pub(in crate::egress) struct Ahead {
    pub permitted: Permitted,
    /// With a plan: when the packets in the queue will leave it.
    pub starts: VecDeque<Time>,
    /// Pending arrivals that one upstream link has forwarded early, and those that wait since.
    pub pending: VecDeque<PendingArrival>,
    /// Of the pending ones, those that have arrived, and their bytes.
    pub waiting: Backlog,
    /// With several upstream links: what will arrive.
    pub batch: Option<Box<Batch>>,
    /// Of a link that forwards early: what is in flight.
    pub remembered: Remembered,
}
