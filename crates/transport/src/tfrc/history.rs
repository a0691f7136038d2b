//! # Loss intervals of TFRC
//!
//! **Source**: rfc5348 sections 5.3 to 5.5; rfc3448 sections 5.3 to 5.5; ns-2.35 `tcp/tfrc-sink.cc` (WALI).
//!
//! **Idea**: `p = 1 / I_mean` with `I_mean = max(sum w_i I_i over 0..n-1, sum w_(i-1) I_i over 1..n) / sum w`; `I_0` is the open
//! interval, `w` = 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2 for n = 8. History discounting: when `I_0 > 2 mean(I_1..)` older intervals
//! weigh `max(2 mean / I_0, floor)` of that, and keep the factor when the interval closes.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `loss_intervals` | - | 8 | rfc5348 section 5.4 (`n`) |
//! | `partial_history` | - | `drop-oldest` | rfc5348 section 5.4; ns-2 averages all intervals while there are fewer than n |
//! | `discounting` | - | `on` | rfc5348 section 5.5 |
//! | `discount_floor` | - | 0.25 | rfc5348 section 5.5 (`THRESHOLD`); 0.5 in rfc3448 and ns-2 |
//!
//! **Deviations**: none.
//!
//! **Checked by**: `tests/oracle_tfrc.rs` (the sums written out, on random intervals; ns-2's shifted arrays).

use super::params::{PartialHistory, TfrcParams};
use std::collections::VecDeque;

/// An interval that a loss event has ended.
#[derive(Clone, Copy, Debug)]
struct Closed {
    packets: f64,
    /// Product of the discounts that it has seen.
    discount: f64,
}

/// The most recent loss intervals of a receiver.
#[derive(Clone, Debug)]
pub struct LossHistory {
    n: usize,
    partial: PartialHistory,
    /// Lower bound of the discount; 1 switches discounting off.
    floor: f64,
    /// `I_1`, `I_2`, ..
    closed: VecDeque<Closed>,
    /// `I_0`: packets since the last loss event began.
    pub open: u64,
    /// Discount of everything but `I_0`, as of the last mean.
    discount: f64,
}

impl LossHistory {
    pub fn new(p: &TfrcParams) -> LossHistory {
        let n = p.loss_intervals as usize;
        LossHistory {
            n,
            partial: p.partial_history,
            floor: if p.discounting.on() { p.discount_floor } else { 1.0 },
            closed: VecDeque::with_capacity(n + 1),
            open: 0,
            discount: 1.0,
        }
    }

    /// Another rule for discounts.
    pub fn retune(&mut self, p: &TfrcParams) {
        self.floor = if p.discounting.on() { p.discount_floor } else { 1.0 };
    }

    pub fn is_empty(&self) -> bool {
        self.closed.is_empty()
    }

    /// A loss event begins: the open interval, or one of the given length in its place, is complete.
    pub fn close(&mut self, packets: f64) {
        for c in &mut self.closed {
            c.discount *= self.discount;
        }
        self.discount = 1.0;
        self.closed.push_front(Closed { packets, discount: 1.0 });
        self.closed.truncate(self.n);
        self.open = 0;
    }

    /// Forgets everything, and begins with one interval.
    pub fn seed(&mut self, packets: f64) {
        self.closed.clear();
        self.discount = 1.0;
        self.close(packets);
    }

    /// Weight of the interval `i` places back.
    fn weight(&self, i: usize) -> f64 {
        if i < self.n / 2 { 1.0 } else { 2.0 * (self.n - i) as f64 / (self.n + 2) as f64 }
    }

    /// `I_mean`; none before the first loss event.
    pub fn mean(&mut self) -> Option<f64> {
        let (sum1, weight1) = self.closed.iter().enumerate().fold((0.0, 0.0), |(sum, weight), (i, c)| {
            let w = self.weight(i) * c.discount;
            (sum + w * c.packets, weight + w)
        });
        if weight1 == 0.0 {
            return None;
        }
        let without_open = sum1 / weight1;
        let open = self.open as f64;
        self.discount = if open > 2.0 * without_open { (2.0 * without_open / open).max(self.floor) } else { 1.0 };
        let last = match self.partial {
            PartialHistory::KeepAll if self.closed.len() < self.n => self.closed.len(),
            _ => self.closed.len() - 1,
        };
        let (mut sum0, mut weight0) = (self.weight(0) * open, self.weight(0));
        for (i, c) in self.closed.iter().take(last).enumerate() {
            let w = self.weight(i + 1) * c.discount * self.discount;
            sum0 += w * c.packets;
            weight0 += w;
        }
        Some(without_open.max(sum0 / weight0))
    }
}
