//! The contract of look-ahead: what a stage that is steady can say early, what a driver that knows the whole network lets it do,
//! and packets that are forwarded before their time.
//!
//! Nothing here changes what comes out. A driver that does not look ahead needs none of it.

use crate::{BitRate, PacketId, Time};

/// What is known early of a stage whose packets' deliveries can be computed when they arrive.
pub trait Steady {
    /// Packets reach its far end in order, and no closer to each other than its rate lets them.
    fn is_even(&self) -> bool;
    /// Every packet takes some time to the far end.
    fn takes_time(&self) -> bool;
    /// Whatever arrives reaches the far end, unless the queue drops it.
    fn is_lossless(&self) -> bool;
    /// This upstream link alone can never fill the queue.
    fn always_admits_from(&self, upstream: Upstream) -> bool;
}

/// The one link that leads to a stage; packets come in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Upstream {
    pub rate: BitRate,
    /// No packet on it is longer, in bytes.
    pub longest: u32,
}

/// What a stage is to do before its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LooksAhead {
    pub arrivals: Arrivals,
    pub departures: Departures,
}

/// How packets come to a stage that looks ahead. It plans their way through at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrivals {
    AtTheirTime,
    /// Before their time, from one upstream link. Until `catch_up` or `wake` reaches the time of such an arrival, it must not show
    /// in `sample` and `report`.
    FromOneUpstream,
    /// Before their time, from several upstream links and nothing else, in any order: they are processed in batches, each packet when
    /// its time has come, or later, as long as nobody could have noticed.
    FromSeveral,
}

/// When packets leave a stage that looks ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Departures {
    AtTheirTime,
    /// Through [`Ahead::forward`], as soon as their delivery is planned.
    Early,
}

/// A packet that was forwarded before its time.
#[derive(Clone, Copy, Debug)]
pub struct EarlyPacket {
    pub id: PacketId,
    /// When it arrives at the next stage.
    pub at: Time,
    /// Who forwarded it.
    pub from: u32,
}

/// Packets forwarded early in one call, first in, first out.
struct EarlyRing {
    packets: [EarlyPacket; EarlyRing::MOST],
    taken: u32,
    given: u32,
}

impl EarlyRing {
    /// A power of two.
    const MOST: usize = 8;
    const EMPTY: EarlyRing =
        EarlyRing { packets: [EarlyPacket { id: PacketId(0), at: Time::ZERO, from: 0 }; 8], taken: 0, given: 0 };

    #[inline]
    fn holds(&self) -> usize {
        self.given.wrapping_sub(self.taken) as usize
    }
}

/// The part of a call's context that look-ahead needs.
pub struct Ahead {
    /// How far the run has come: `now`, unless a packet is forwarded before its time.
    pub reached: Time,
    /// With a packet that is forwarded before its time: the stage that it comes from.
    pub from: u32,
    /// The stage could not forward all that it has now, and is to be called once more: see [`Ahead::forward`].
    pub has_more: bool,
    /// The report horizon: nobody reads totals before then, and what will have happened by that time may be counted at once.
    pub report_horizon: Time,
    /// The same for the momentary values of stages that are sampled; no later than `report_horizon`.
    pub sample_horizon: Time,
    early: EarlyRing,
}

impl Ahead {
    #[inline]
    pub(crate) fn at(now: Time) -> Ahead {
        Ahead {
            reached: now,
            from: 0,
            has_more: false,
            report_horizon: now,
            sample_horizon: now,
            early: EarlyRing::EMPTY,
        }
    }

    /// Stage `from` forwards a packet to the next stage of its route, where it arrives at `at`. Only for stages that were told to, and as
    /// long as [`Ahead::can_forward`]; a stage that has more sets `has_more`, and is called again.
    #[inline]
    pub fn forward(&mut self, packet: EarlyPacket) {
        debug_assert!(self.can_forward(), "a few packets a call");
        self.early.packets[self.early.given as usize % EarlyRing::MOST] = packet;
        self.early.given = self.early.given.wrapping_add(1);
    }

    /// Whether one more packet may be forwarded early in this call.
    #[inline]
    pub fn can_forward(&self) -> bool {
        self.early.holds() < EarlyRing::MOST
    }

    /// Whether packets have been forwarded early and not been taken.
    #[inline]
    pub fn has_early(&self) -> bool {
        self.early.holds() > 0
    }

    /// The first of the packets that were forwarded before their time; for drivers.
    #[inline]
    pub fn take(&mut self) -> Option<EarlyPacket> {
        if self.early.holds() == 0 {
            return None;
        }
        let first = self.early.packets[self.early.taken as usize % EarlyRing::MOST];
        self.early.taken = self.early.taken.wrapping_add(1);
        Some(first)
    }
}
