//! The search for a policer, as in Linux: two spans of four to sixteen round trips, each ended by a loss, in which a fifth and more was
//! lost at nearly the same rate. That rate is kept for 48 round trips.

use crate::tcp::conn::ledger::Delivery;
use crosswind_base::Time;

/// Round trips of a span.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Round trips for which a rate is kept.
const KEPT_ROUNDS: u32 = 48;
/// Share lost that makes a span suspect.
const LOST: f64 = 50.0 / 256.0;
/// How far two rates may differ: relatively, or in bytes per second.
const APART: f64 = 1.0 / 8.0;
const APART_BYTES: f64 = 500.0;

/// What an ACK has changed.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum News {
    None,
    /// The rate has been kept long enough.
    Over,
}

/// Where the span began.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    at: Time,
    delivered: u64,
    lost: u64,
    rounds: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    span: Option<Span>,
    /// Bytes per second of the last suspect span.
    rate: Option<f64>,
    is_believed: bool,
    timed_out: bool,
}

impl Policer {
    /// The rate of the policer, while it is believed in.
    pub(super) fn rate(&self) -> Option<f64> {
        self.rate.filter(|_| self.is_believed)
    }

    /// A timeout counts as a loss of the next ACK.
    pub(super) fn hear_of_timeout(&mut self) {
        self.timed_out = true;
    }

    pub(super) fn take(&mut self, newly_lost: u64, d: &Delivery, begins_round: bool, probing: bool) -> News {
        let is_lossy = newly_lost > 0 || std::mem::take(&mut self.timed_out);
        if self.is_believed {
            return self.keep(begins_round, probing);
        }
        let here = Span { at: d.delivered_at, delivered: d.delivered, lost: d.lost, rounds: 0 };
        let mut span = match self.span {
            Some(span) => span,
            None if is_lossy => here,
            None => return News::None,
        };
        span.rounds += u32::from(begins_round);
        self.span = Some(span);
        if d.is_app_limited || span.rounds > MOST_ROUNDS {
            *self = Policer::default();
        } else if span.rounds >= LEAST_ROUNDS && is_lossy {
            self.end_span(span, here);
        }
        News::None
    }

    fn keep(&mut self, begins_round: bool, probing: bool) -> News {
        let Some(span) = &mut self.span else { return News::None };
        if !(probing && begins_round) {
            return News::None;
        }
        span.rounds += 1;
        if span.rounds < KEPT_ROUNDS {
            return News::None;
        }
        *self = Policer::default();
        News::Over
    }

    fn end_span(&mut self, from: Span, here: Span) {
        let (lost, delivered) = ((here.lost - from.lost) as f64, (here.delivered - from.delivered) as f64);
        let seconds = here.at.since(from.at).as_secs_f64();
        if delivered == 0.0 || lost < LOST * delivered || seconds < 1e-3 {
            return;
        }
        let rate = delivered / seconds;
        self.span = Some(here);
        if let Some(before) = self.rate {
            let apart = (rate - before).abs();
            if apart <= APART * before || apart <= APART_BYTES {
                (self.rate, self.is_believed) = (Some((rate + before) / 2.0), true);
                return;
            }
        }
        self.rate = Some(rate);
    }
}
