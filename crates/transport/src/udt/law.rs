//! # Rate laws of UDT and SABUL
//!
//! **Source**: gu-udt-ns2 (`rateControl`, `recv` case 3); gu-sabul `sender.cpp` (`rateControl`, `processFeedback`);
//! igarashi sections 2.17 and 2.18.
//!
//! **Idea**: once per control interval SYN the time `T` between packets becomes `T SYN / (T inc + SYN)`: `inc` packets more
//! per SYN. UDT: `inc = max(10^ceil(log10(8 MSS (B - C))) 1.5e-6 / MSS, 1/MSS)`, B measured capacity, C rate, packets/s.
//! SABUL: `inc = max(10^ceil(log10(SYN / T)) / 1000, 1/1500)`, while few packets are lost. A new congestion: `T *= 1.125`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `control_interval` | time | 10 ms | igarashi section 2.17 |
//! | `increase` | - | `capacity` | `rate` in SABUL |
//! | `raise` | - | `always` | gu-udt-ns2; `unreported`: igarashi section 2.17 |
//! | `round_trip_bounds_interval` | - | `on` | gu-udt-ns2; `off` in SABUL |
//! | `decrease` | - | 1.125 | igarashi section 2.17; gu-sabul |
//! | `repeat` | - | `random` | gu-udt-ns2; `doubling` in SABUL |
//! | `loss_limit`, `loss_memory` | - | 0.001, 0.1 | gu-sabul |
//!
//! **Deviations**: 1. igarashi section 2.17 raises UDT's rate after intervals without a report only, gu-udt-ns2 with every new
//! acknowledgement: `raise` says which. 2. A time between packets that a round trip has cut short holds from the next packet on.
//!
//! **Checked by**: `tests/oracle_udt.rs` (both rules on random reports against literal copies).

use super::params::{Increase, Repeat, UdtParams};
use crosswind_base::Rng;

/// The time between packets, and what decides its next change.
#[derive(Debug)]
pub struct Law {
    increase: Increase,
    repeat: Repeat,
    decrease: f64,
    /// Seconds, bytes.
    syn_s: f64,
    size: f64,
    limits_s: [f64; 2],
    loss_limit: f64,
    loss_memory: f64,
    /// `T`, seconds.
    pub interval_s: f64,
    /// Mean share of lost packets.
    loss: f64,
    /// The last packet sent when the rate was reduced; losses up to it belong to the same congestion.
    reduced_at: Option<u64>,
    /// Reports of this congestion, of earlier ones on average, and how many of them reduce the rate once more.
    reports: u64,
    mean_reports: u64,
    gap: u64,
    pub cuts: u64,
    rng: Rng,
}

/// What a report of losses leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Nothing,
    Slower,
    /// Slower, and silent for one control interval.
    SlowerAndPause,
}

impl Law {
    pub fn new(p: &UdtParams, rng: Rng) -> Law {
        Law {
            increase: p.increase,
            repeat: p.repeat,
            decrease: p.decrease,
            syn_s: p.control_interval.as_secs_f64(),
            size: p.packet_size.0 as f64,
            limits_s: [p.interval_min.as_secs_f64(), p.interval_max.as_secs_f64()],
            loss_limit: p.loss_limit,
            loss_memory: p.loss_memory,
            interval_s: p.first_interval.as_secs_f64(),
            loss: 0.0,
            reduced_at: None,
            reports: 0,
            mean_reports: 2,
            gap: 2,
            cuts: 0,
            rng,
        }
    }

    /// Packets more per control interval, given the measured capacity (UDT), packets per second.
    fn step(&self, capacity: f64) -> f64 {
        let rate = 1.0 / self.interval_s;
        match self.increase {
            Increase::Capacity if capacity <= rate => 1.0 / self.size,
            Increase::Capacity => {
                let spare_bps = (capacity - rate) * self.size * 8.0;
                (10f64.powf(spare_bps.log10().ceil()) * 1.5e-6 / self.size).max(1.0 / self.size)
            }
            Increase::Rate => (10f64.powf((self.syn_s * rate).log10().ceil()) / 1000.0).max(1.0 / 1500.0),
        }
    }

    /// A control interval is over. `lost_share`: of the packets sent in it.
    pub fn on_interval(&mut self, capacity: f64, lost_share: f64) {
        self.loss = self.loss * self.loss_memory + lost_share * (1.0 - self.loss_memory);
        if self.increase == Increase::Rate && self.loss > self.loss_limit {
            return;
        }
        let t = self.interval_s;
        self.set(t * self.syn_s / (t * self.step(capacity) + self.syn_s));
    }

    fn set(&mut self, interval_s: f64) {
        self.interval_s = interval_s.clamp(self.limits_s[0], self.limits_s[1]);
    }

    /// A report of losses has come: the first lost packet, and the last one sent so far.
    pub fn on_loss(&mut self, first_lost: u64, last_sent: u64) -> Answer {
        if self.reduced_at.is_none_or(|at| first_lost > at) {
            self.choose_gap();
            self.reports = 1;
            self.reduced_at = Some(last_sent);
            self.cut();
            return Answer::SlowerAndPause;
        }
        self.reports += 1;
        match self.repeat {
            Repeat::Random if self.reports % self.gap == 0 => self.reduced_at = Some(last_sent),
            Repeat::Doubling if self.reports >= self.gap => self.gap *= 2,
            _ => return Answer::Nothing,
        }
        self.cut();
        Answer::Slower
    }

    /// No time between packets is longer than a round trip.
    pub fn bound(&mut self, round_trip_s: f64) {
        self.set(self.interval_s.min(round_trip_s));
    }

    fn cut(&mut self) {
        self.cuts += 1;
        self.set(self.interval_s * self.decrease);
    }

    /// How many reports of the congestion that begins reduce the rate once more.
    fn choose_gap(&mut self) {
        if self.repeat == Repeat::Doubling {
            self.gap = 16;
            return;
        }
        let mean = self.mean_reports as f64 * 0.875 + self.reports as f64 * 0.125;
        self.mean_reports = 1 + mean.ceil() as u64;
        self.gap = (self.rng.below(self.mean_reports) + self.mean_reports.div_ceil(5)).max(1);
    }

    /// Slow start is over: the rate is what arrives, packets per second.
    pub fn leave_slow_start(&mut self, arrival_rate: f64) {
        if arrival_rate > 0.0 {
            self.set(1.0 / arrival_rate);
        }
    }
}
