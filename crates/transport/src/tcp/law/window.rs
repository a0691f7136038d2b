//! The congestion window. Its fields are written in this folder and nowhere else: whoever wants it changed asks the controller
//! ([`Change`]).

use super::limited_slow_start;
use crate::tcp::choices::AvoidanceCounting;
use crate::tcp::facts::{Ack, Trigger};

/// What every controller has: the window and the slow-start threshold, in bytes.
#[derive(Clone, Debug)]
pub struct Window {
    /// Congestion window; fractions accumulate.
    pub(super) cwnd: f64,
    /// Slow-start threshold.
    pub(super) ssthresh: f64,
    pub(super) mss: f64,
    pub(super) ramp: Ramp,
}

/// What every controller begins with, whatever its own parameters.
#[derive(Clone, Debug)]
pub struct Start {
    pub window: Window,
    /// What congestion avoidance counts.
    pub counting: AvoidanceCounting,
}

/// What an ACK adds in slow start. Windows in segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ramp {
    /// What `avoidance_counting` says.
    ByCounting,
    /// A share of what it acknowledges, of so many segments at most (HyStart++).
    Counted { most: f64, share: f64 },
    /// Less and less above this window (RFC 3742).
    Limited { above: f64 },
}

/// What a connection asks of the window besides growth and reductions. Windows in bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// Segments have another size, and the window as many of them as before.
    SegmentSize(f64),
    /// Segments have become smaller; the window keeps its bytes.
    SmallerSegments(f64),
    /// At most so many bytes from now on: moderation, the bound to what is in flight, a restart after idle time.
    Cap(f64),
    /// At most the threshold: the end of a recovery that has halved the rate.
    CapToThreshold,
    /// One segment at least.
    OneSegment,
    /// It begins anew from so many bytes.
    StartFrom(f64),
    /// What a reduction leaves while it goes on, over a round trip.
    ReducingTo(f64),
    /// The reduction is over: the threshold is the window.
    Reduced,
    /// A partial ACK takes so many bytes off (NewReno).
    Deflate(f64),
    /// Another threshold.
    Threshold(f64),
    /// Slow start ends here.
    EndSlowStart,
    /// It goes on like this.
    Ramp(Ramp),
    /// An early response gives up this share.
    GiveUp(f64),
    /// A reduction, or a wait, was a mistake: both as given.
    Restore { cwnd: f64, ssthresh: f64 },
}

impl Window {
    /// Congestion window in bytes.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }
    /// Slow-start threshold in bytes.
    #[inline]
    pub fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
    /// Bytes of a full segment.
    #[inline]
    pub fn mss(&self) -> f64 {
        self.mss
    }
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
    /// The window in segments.
    pub fn segments(&self) -> f64 {
        self.cwnd / self.mss
    }
    /// Grows as slow start does while the window is below the threshold; returns whether it was.
    #[inline]
    pub(super) fn slow_start(&mut self, a: &Ack, counting: AvoidanceCounting) -> bool {
        let below = self.in_slow_start();
        if below {
            self.climb(a, counting);
        }
        below
    }
    /// What an ACK adds in slow start.
    #[inline]
    pub(super) fn climb(&mut self, a: &Ack, counting: AvoidanceCounting) {
        let plain = match counting {
            AvoidanceCounting::Bytes => self.mss.min(a.bytes as f64),
            AvoidanceCounting::Segments => (a.bytes as f64).min(self.ssthresh - self.cwnd),
            _ => self.mss,
        };
        self.cwnd += match self.ramp {
            Ramp::ByCounting => plain,
            Ramp::Counted { most, share } => (a.bytes as f64).min(most * self.mss) * share,
            Ramp::Limited { above } => plain * limited_slow_start::share(self.segments(), above),
        };
    }
    /// What an ACK counts for in congestion avoidance, in segments: what it acknowledges, or one.
    #[inline]
    pub(super) fn credit(&self, a: &Ack, counting: AvoidanceCounting) -> f64 {
        let by_bytes = matches!(counting, AvoidanceCounting::Bytes | AvoidanceCounting::Segments);
        if by_bytes { a.bytes as f64 / self.mss } else { 1.0 }
    }
    /// Adds `per_window` segments per window of ACKs.
    #[inline]
    pub(super) fn add(&mut self, per_window: f64, credit: AckCredit) {
        self.cwnd += per_window * credit.0 * self.mss * self.mss / self.cwnd;
    }
    /// Reduces to `kept` bytes, never below two segments; a timeout starts again from one.
    pub(super) fn fall_to(&mut self, kept: f64, why: Trigger) {
        self.ssthresh = kept.max(2.0 * self.mss);
        self.cwnd = if why == Trigger::Timeout { self.mss } else { self.ssthresh };
    }

    /// Does what is asked.
    pub(super) fn apply(&mut self, change: Change) {
        match change {
            Change::SegmentSize(mss) => {
                self.cwnd *= mss / self.mss;
                self.mss = mss;
            }
            Change::SmallerSegments(mss) => self.mss = mss,
            Change::Cap(most) => self.cwnd = self.cwnd.min(most),
            Change::CapToThreshold => self.cwnd = self.cwnd.min(self.ssthresh),
            Change::OneSegment => self.cwnd = self.cwnd.max(self.mss),
            Change::StartFrom(cwnd) | Change::ReducingTo(cwnd) => self.cwnd = cwnd,
            Change::Reduced => self.cwnd = self.ssthresh,
            Change::Deflate(bytes) => self.cwnd = (self.cwnd - bytes).max(self.mss),
            Change::Threshold(ssthresh) => self.ssthresh = ssthresh,
            Change::EndSlowStart => self.ssthresh = self.cwnd,
            Change::Ramp(ramp) => self.ramp = ramp,
            Change::GiveUp(share) => {
                self.cwnd = (self.cwnd * (1.0 - share)).max(self.mss);
                self.ssthresh = self.cwnd.max(2.0 * self.mss);
            }
            Change::Restore { cwnd, ssthresh } => (self.cwnd, self.ssthresh) = (cwnd, ssthresh),
        }
    }
}

/// What an ACK counts for, in segments.
#[derive(Clone, Copy, Debug)]
pub struct AckCredit(pub f64);
