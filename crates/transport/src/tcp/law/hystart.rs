//! # HyStart
//!
//! **Source**: ha-rhee-2011 (hybrid slow start); linux-6.18 `tcp_cubic.c` (`hystart_update`, `bictcp_acked`).
//!
//! **Idea**: slow start ends, by setting the threshold to the window, when within one round trip either the ACKs that come close
//! together (2 ms) stretch over half the least round trip, or the least of the round's first samples exceeds the least
//! of all by an eighth of it (from 4 to 16 ms).
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `slow_start` | - | `standard` | `hystart` in the preset `linux-6-cubic` |
//!
//! **Deviations**: 1. The allowance for large segments (`hystart_ack_delay`) is its largest value, 1 ms: below 2 Gbit/s it never is
//! smaller in Linux. 2. It works with any window law; in Linux only with CUBIC.
//!
//! **Checked by**: `law/hystart_oracle.rs` (the kernel's function in microseconds, on random rounds).

use super::hystart_plus::{HystartPlus, SlowStartParams};
use super::search::Search;
use super::window::{Change, Window};
use crate::tcp::choices::choice;
use crate::tcp::facts::Ack;
use crosswind_base::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice!(
    /// How slow start ends without a loss.
    #[derive(Default)]
    SlowStart {
        /// At the threshold only.
        #[default]
        Standard,
        /// Also when the delay of ACKs says that the path is full.
        Hystart,
        /// The same by RFC 9406: at a quarter of the pace first, and back if it was jitter.
        #[serde(rename = "hystart++")]
        HystartPlus,
        /// Also when less is delivered than was sent a round trip before.
        Search,
        /// At the threshold, with less growth at large windows (RFC 3742).
        Limited,
    }
);

/// Windows below this many segments are left alone.
const LOW_WINDOW: f64 = 16.0;
/// ACKs further apart are not of one train.
const ACK_GAP: Dur = Dur::from_millis(2);
const ACK_ALLOWANCE: Dur = Dur::from_millis(1);
const SAMPLES_MIN: u32 = 8;
const THRESHOLD_MIN: Dur = Dur::from_millis(4);
const THRESHOLD_MAX: Dur = Dur::from_millis(16);

/// One slow start after the other.
#[derive(Clone, Copy, Debug)]
pub struct Hystart {
    min_rtt: Dur,
    /// The present round: its begin, its last ACK of the train, the byte that ends it.
    round_at: Time,
    last_ack_at: Time,
    round_end: u64,
    round_rtt: Dur,
    samples: u32,
    has_found: bool,
}

/// What watches slow start, if anything does.
#[derive(Clone, Debug)]
pub enum Watch {
    Classic(Hystart),
    Plus(HystartPlus),
    Search(Box<Search>),
}

impl Watch {
    /// `per_ack`: what one ACK counts for at most in HyStart++, in segments.
    pub fn asked_for(how: SlowStart, p: &SlowStartParams, per_ack: f64) -> Option<Watch> {
        match how {
            SlowStart::Standard | SlowStart::Limited => None,
            SlowStart::Hystart => Some(Watch::Classic(Hystart::default())),
            SlowStart::HystartPlus => Some(Watch::Plus(HystartPlus::new(p.baseline, per_ack))),
            SlowStart::Search => Some(Watch::Search(Box::default())),
        }
    }
    /// A loss, a timeout or a mark.
    pub fn reset(&mut self) {
        match self {
            Watch::Classic(h) => h.reset(),
            Watch::Plus(h) => h.end(),
            Watch::Search(s) => s.end(),
        }
    }
    /// Takes an ACK; what becomes of slow start.
    pub fn on_ack(&mut self, a: &Ack, nxt: u64, w: &Window) -> Option<Change> {
        match self {
            Watch::Classic(h) => h.on_ack(a, nxt, w).then_some(Change::EndSlowStart),
            Watch::Plus(h) => h.on_ack(a, nxt, w),
            Watch::Search(s) => s.on_ack(a, nxt, w).then_some(Change::EndSlowStart),
        }
    }
}

impl Default for Hystart {
    fn default() -> Hystart {
        let none = Dur(u64::MAX);
        Hystart {
            min_rtt: none,
            round_at: Time::ZERO,
            last_ack_at: Time::ZERO,
            round_end: 0,
            round_rtt: none,
            samples: 0,
            has_found: false,
        }
    }
}

impl Hystart {
    /// A loss or a timeout: the next slow start begins afresh.
    pub fn reset(&mut self) {
        *self = Hystart { min_rtt: self.min_rtt, ..Hystart::default() };
    }

    /// Takes an ACK with its sample; `una` and `nxt` after it. Returns whether slow start is to end.
    pub fn on_ack(&mut self, a: &Ack, nxt: u64, w: &Window) -> bool {
        let Some(rtt) = a.rtt else { return false };
        self.min_rtt = self.min_rtt.min(rtt);
        if self.has_found || !w.in_slow_start() || w.segments() < LOW_WINDOW {
            return false;
        }
        if a.ack > self.round_end {
            (self.round_at, self.last_ack_at, self.round_end) = (a.now, a.now, nxt);
            (self.round_rtt, self.samples) = (Dur(u64::MAX), 0);
        }
        if a.now.since(self.last_ack_at) <= ACK_GAP {
            self.last_ack_at = a.now;
            let limit = Dur((self.min_rtt.0 + ACK_ALLOWANCE.0) / 2);
            self.has_found |= a.now.since(self.round_at) > limit;
        }
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < SAMPLES_MIN {
            self.samples += 1;
        } else {
            let allowed = Dur(self.min_rtt.0 / 8).clamp(THRESHOLD_MIN, THRESHOLD_MAX);
            self.has_found |= self.round_rtt > self.min_rtt + allowed;
        }
        self.has_found
    }
}
