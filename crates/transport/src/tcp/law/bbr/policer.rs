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

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Dur;

    /// After a loss at time zero and five round trips another loss, when so much was delivered and lost. The rate that is believed
    /// after a second span like the first but for its bytes.
    fn after(first: (u64, u64, Dur), second: (u64, u64, Dur)) -> (Option<f64>, Option<f64>) {
        let mut policer = Policer::default();
        let (mut at, mut delivered, mut lost) = (Time::ZERO, 0, 0);
        let d = |at, delivered, lost| Delivery { delivered_at: at, delivered, lost, ..Delivery::default() };
        policer.take(1, &d(at, 0, 0), false, false);
        for (more, gone, after) in [first, second] {
            for _ in 0..LEAST_ROUNDS {
                policer.take(0, &d(at, delivered, lost), true, false);
            }
            (at, delivered, lost) = (at + after, delivered + more, lost + gone);
            policer.take(gone, &d(at, delivered, lost), false, false);
        }
        (policer.rate, policer.rate())
    }

    const SECOND: Dur = Dur::from_secs(1);

    #[test]
    fn a_span_is_suspect_from_a_fifth_lost_and_a_millisecond_on() {
        let one = |delivered, lost, after| after_one((delivered, lost, after));
        assert_eq!(one(256_000, 50_000, SECOND), Some(256e3), "fifty of 256 are enough");
        assert_eq!(one(256_000, 49_999, SECOND), None);
        assert_eq!(one(256_000, 256_000, Dur::from_secs(2)), Some(128e3), "the rate is what was delivered");
        assert_eq!(one(256, 100, Dur::from_millis(1)), Some(256e3));
        assert_eq!(one(256, 100, Dur(999_999)), None, "too short to be a rate");
        assert_eq!(one(0, 100, SECOND), None, "nothing was delivered");
    }

    /// What is remembered of one span, when the next loses nothing to speak of.
    fn after_one(span: (u64, u64, Dur)) -> Option<f64> {
        after(span, (1_000_000, 1, SECOND)).0
    }

    #[test]
    fn two_rates_are_one_when_they_differ_by_an_eighth_or_by_500_bytes_per_second() {
        let second = |first: u64, second: u64| after((first, first, SECOND), (second, second, SECOND)).1;
        assert_eq!(second(800_000, 900_000), Some(850e3), "an eighth apart: the mean of both");
        assert_eq!(second(800_000, 700_000), Some(750e3));
        assert_eq!(second(800_000, 900_001), None);
        assert_eq!(second(800_000, 699_999), None);
        assert_eq!(second(1000, 1500), Some(1250.0), "five hundred bytes apart");
        assert_eq!(second(1000, 1501), None);
        assert_eq!(after((1000, 1000, SECOND), (1501, 1501, SECOND)).0, Some(1501.0), "the later one is remembered");
    }

    #[test]
    fn a_span_that_was_suspect_ends_where_the_next_begins() {
        // 1000 B in the first second, 1500 in the second: counted from the beginning they would be 1250 per second.
        let (_, believed) = after((2000, 2000, SECOND), (2400, 2400, SECOND));
        assert_eq!(believed, Some(2200.0));
    }
}
