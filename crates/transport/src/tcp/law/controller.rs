//! What every controller is told and answers.

use super::sample::{AckSample, SentFacts};
use super::window::{Change, Window};
use crate::tcp::conn::ledger::Lost;
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::{ConfigError, Rng};

/// One controller: alone in charge of the window, told of everything. Before a timeout that may turn out to have been a mistake
/// the sender takes a copy (`clone`).
pub trait Controller: Clone {
    /// Every ACK. Unless a controller makes something of the others, too, the window grows on those on which it may.
    #[inline]
    fn on_ack(&mut self, s: &AckSample<'_>) {
        if !s.may_grow {
            return;
        }
        if s.credit == s.ack.bytes {
            self.grow(s.ack);
        } else {
            self.grow(&Ack { bytes: s.credit, ..*s.ack });
        }
    }
    /// Growth by an ACK on which the window may grow; `bytes` of it count.
    fn grow(&mut self, _a: &Ack) {}
    /// Congestion. `base` is the number of bytes that the profile reduces from (flight or window).
    fn reduce(&mut self, why: Trigger, base: f64);
    /// What else the connection asks of the window.
    fn change(&mut self, change: Change) {
        self.window_mut().apply(change);
    }
    /// A segment is held lost. For controllers whose row asks for losses; before the ACK that has shown it.
    fn on_lost(&mut self, _l: &Lost) {}
    /// A segment leaves. For controllers whose row asks for delivery rates.
    fn on_sent(&mut self, _s: &SentFacts) {}
    /// The last timeout was a mistake: `before` is the controller as it was then.
    fn undo(&mut self, before: &Self) {
        *self = before.clone();
    }
    /// So many bytes have been delivered: before an undo, for one whose row asks for rates, as the ACK in hand is still to come.
    fn hear_delivered(&mut self, _bytes: u64) {}
    /// Bytes per second at which segments are to leave.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// It sends less than the path carries on purpose: samples count as application-limited.
    fn holds_back(&self) -> bool {
        false
    }
    /// What it goes by, for time series: name of the metric and value.
    fn sample(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
    /// The random stream that its row asks for.
    fn take_dice(&mut self, _dice: Rng) {}
    fn window(&self) -> &Window;
    /// For this folder: others cannot write what it gives.
    fn window_mut(&mut self) -> &mut Window;
    #[inline]
    fn cwnd(&self) -> f64 {
        self.window().cwnd
    }
    #[inline]
    fn ssthresh(&self) -> f64 {
        self.window().ssthresh
    }
}

/// Refuses a number outside its range.
pub(in crate::tcp) fn within(key: &str, value: f64, range: std::ops::RangeInclusive<f64>) -> Result<(), ConfigError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(ConfigError::new(key, value.to_string(), format!("from {} to {}", range.start(), range.end())))
}
