//! The Seawind link without errors and everything else that most runs leave off: the fast one.

use super::entrance::{Entrance, Place};
use super::line::Steady;
use super::params::SeawindParams;
use crate::link::{Fate, Link, TxPlan};
use crosswind_base::{BitRate, Dur, Packet, Time};

/// A send buffer in front of a line of constant rate and delay.
pub struct Plain {
    delay: Dur,
    line: Steady,
    entrance: Entrance,
    line_free: Time,
}

impl Plain {
    /// Takes account of `rate`, `tx_tick`, `delay`, `send_buffer` and `in_transit` only.
    pub fn new(params: &SeawindParams) -> Plain {
        Plain {
            delay: params.delay,
            line: Steady::new(params.rate, params.tx_tick),
            entrance: Entrance::new(params.send_buffer, params.in_transit),
            line_free: Time::ZERO,
        }
    }
}

impl Link for Plain {
    #[inline]
    fn is_in_order(&self) -> bool {
        true
    }
    fn nominal_rate(&self) -> Option<BitRate> {
        Some(self.line.rate())
    }
    fn transmit(&mut self, p: &Packet, now: Time) -> TxPlan {
        let bytes = p.len as u64;
        let enters = self.entrance.enter(bytes, now);
        let tx_start = enters.max(self.line_free);
        let tx_end = self.line.send(p.len as u32, tx_start, self.line_free);
        self.entrance.hold(Place { bytes, packets: 1, leaves: tx_end });
        self.line_free = tx_end;
        let fate = Fate::Deliver(tx_end + self.delay);
        TxPlan { free_at: self.entrance.free_at(now), fate, attempts: 1, tx_start, tx_end }
    }

    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.entrance.sample(now, out);
    }
}
