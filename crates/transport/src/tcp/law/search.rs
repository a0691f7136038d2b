//! # SEARCH
//!
//! **Source**: draft-chung-ccwg-search (version 09), read through what implementations of it say.
//!
//! **Idea**: slow start ends when less is delivered than was sent. Sent and acknowledged bytes are written down at the ends of bins, ten
//! of which make 3.5 first round trips. At the end of a bin the bytes acknowledged in the last ten are compared with those that were
//! sent in ten bins a round trip earlier, which lie between two ends: both neighbours count by their distance. If a share of 0.26
//! or more of them is missing, the threshold is set to the window.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `slow_start` | - | `standard` | `search` |
//!
//! **Deviations**: 1. A round trip earlier is backward in time; version 09 interpolates towards the later neighbour, which an implementer
//! holds to be a mistake, as do we. 2. The window is not lowered at the exit, which the draft leaves open. 3. After a loss, a
//! timeout or a mark it never returns. 4. What is retransmitted counts neither as sent nor as delivered: there is nothing of it before.
//!
//! **Checked by**: unit tests (bytes that grow from bin to bin, at fractions of a bin; the exit; bins that were missed),
//! `crates/sim/tests/scavengers.rs` (before a long queue is full).

use super::window::Window;
use crate::tcp::facts::Ack;
use crosswind_base::{Dur, Time};

/// Bins of a window, and how many more a round trip may reach back.
const WINDOW: u64 = 10;
const EXTRA: u64 = 15;
/// Tenths of the first round trip that a window lasts.
const FACTOR: u64 = 35;
/// Share of what was sent that may be missing.
const MISSING: f64 = 0.26;
/// Bins without an ACK after which all begins anew.
const MISSED_MAX: u64 = 10;
const ENDS: usize = (WINDOW + EXTRA) as usize + 2;

/// The first slow start of a connection.
#[derive(Clone, Debug)]
pub struct Search {
    /// Length of a bin; zero before the first sample and when it is over.
    bin: Dur,
    end: Time,
    /// The bin that ended last, and totals at the ends of bins.
    last: u64,
    acked: [u64; ENDS],
    sent: [u64; ENDS],
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Fresh,
    Counting,
    Over,
}

impl Default for Search {
    fn default() -> Search {
        Search { bin: Dur::ZERO, end: Time::ZERO, last: 0, acked: [0; ENDS], sent: [0; ENDS], stage: Stage::Fresh }
    }
}

fn place(bin: u64) -> usize {
    (bin % ENDS as u64) as usize
}

impl Search {
    /// A loss, a timeout or a mark.
    pub fn end(&mut self) {
        self.stage = Stage::Over;
    }

    fn begin(&mut self, a: &Ack, nxt: u64, rtt: Dur) {
        let bin = Dur((rtt.0 * FACTOR / (10 * WINDOW)).max(1));
        *self = Search { bin, end: a.now + bin, stage: Stage::Counting, ..Search::default() };
        (self.acked[0], self.sent[0]) = (a.ack, nxt);
    }

    /// Takes an ACK with its sample; `nxt` is the next new byte. Returns whether slow start is to end.
    pub fn on_ack(&mut self, a: &Ack, nxt: u64, w: &Window) -> bool {
        if self.stage == Stage::Over || !w.in_slow_start() {
            self.end();
            return false;
        }
        let Some(rtt) = a.rtt.filter(|rtt| rtt.0 > 0) else { return false };
        if self.stage == Stage::Fresh {
            self.begin(a, nxt, rtt);
            return false;
        }
        if a.now <= self.end {
            return false;
        }
        let passed = a.now.since(self.end).0 / self.bin.0 + 1;
        if passed > MISSED_MAX {
            self.begin(a, nxt, rtt);
            return false;
        }
        for bin in self.last + 1..self.last + passed {
            self.acked[place(bin)] = self.acked[place(self.last)];
            self.sent[place(bin)] = self.sent[place(self.last)];
        }
        self.last += passed;
        self.end += Dur(self.bin.0 * passed);
        (self.acked[place(self.last)], self.sent[place(self.last)]) = (a.ack, nxt);
        self.is_full(rtt)
    }

    /// Whether too little of what was sent a round trip ago has come.
    fn is_full(&self, rtt: Dur) -> bool {
        let back = rtt.0 / self.bin.0;
        // One end more than the window is needed on the far side of the fraction.
        if back > EXTRA || self.last < back + WINDOW + 1 {
            return false;
        }
        let sent = self.sent_before(self.last - back, (rtt.0 % self.bin.0) as f64 / self.bin.0 as f64);
        let delivered = (self.acked[place(self.last)] - self.acked[place(self.last - WINDOW)]) as f64;
        sent > 0.0 && (sent - delivered) / sent >= MISSING
    }

    /// Bytes sent in the window that ended a fraction of a bin before the end of `bin`.
    fn sent_before(&self, bin: u64, fraction: f64) -> f64 {
        let window = |bin: u64| (self.sent[place(bin)] - self.sent[place(bin - WINDOW)]) as f64;
        (1.0 - fraction) * window(bin) + fraction * window(bin - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::Start;
    use super::*;
    use crate::tcp::preset;

    const MSS: u64 = 1000;

    fn window() -> Window {
        Start::of(&preset::preset("linux-6").expect("a preset")).window
    }

    fn ack(ms: u64, to: u64, rtt_ms: u64) -> Ack {
        Ack { now: Time(ms * 1_000_000), ack: to, bytes: MSS, rtt: Some(Dur::from_millis(rtt_ms)), ..Ack::default() }
    }

    #[test]
    fn what_was_sent_a_round_trip_ago_lies_between_two_ends_and_not_beyond() {
        // Each bin sends two bytes more than the one before: totals are squares, and a window is 2 x 10 x - 100 at every x.
        let mut s = Search::default();
        for bin in 0..ENDS as u64 {
            s.sent[place(bin)] = bin * bin;
        }
        for (bin, fraction) in [(14, 0.0), (14, 0.25), (20, 0.5), (25, 0.9)] {
            let x = bin as f64 - fraction;
            let found = s.sent_before(bin, fraction);
            assert!((found - (20.0 * x - 100.0)).abs() < 1e-9, "{bin} less {fraction}: {found}");
        }
    }

    /// Slow start over 100 ms and a line of so many segments a bin of 35 ms; the first ten leave one by one. When it ends, and what is
    /// then in flight over what the path holds.
    fn exit(segments_a_bin: f64) -> Option<(u64, f64)> {
        let (mut s, w) = (Search::default(), window());
        let per_ms = segments_a_bin * MSS as f64 / 35.0;
        let mut sent: Vec<f64> = (0..100).map(|ms| f64::from(ms / 10 + 1) * MSS as f64).collect();
        let mut acked = 0.0;
        for ms in 100..3000 {
            let more = f64::min(sent[ms - 100] - acked, per_ms);
            acked += more;
            sent.push(sent[ms - 1] + 2.0 * more);
            // What is acknowledged now left so long ago.
            let rtt = ms - sent.partition_point(|s| *s < acked);
            if more > 0.0 && s.on_ack(&ack(ms as u64, acked as u64, rtt as u64), sent[ms] as u64, &w) {
                return Some((ms as u64, (sent[ms] - acked) / (100.0 * per_ms)));
            }
        }
        None
    }

    #[test]
    fn slow_start_goes_on_while_all_arrives_and_ends_soon_after_the_line_is_full() {
        assert_eq!(exit(1e15), None, "a line that is never full");
        let (at, products) = exit(100.0).expect("a line of 100 segments a bin");
        // It is full after some 600 ms. The window reaches back 3.5 round trips, and each is longer than the one before: it takes
        // a window of its own until a quarter is missing.
        assert!((900..1150).contains(&at) && (4.0..7.0).contains(&products), "{at} ms, {products}");
    }

    #[test]
    fn after_ten_bins_without_an_ack_all_begins_anew_and_after_a_loss_nothing_does() {
        let (mut s, w) = (Search::default(), window());
        for i in 0..20 {
            s.on_ack(&ack(100 + 36 * i, i * MSS, 100), 10 * MSS + i * MSS, &w);
        }
        assert!(s.last > 15 && s.bin == Dur::from_millis(35));
        let mut missed = s.clone();
        assert!(!missed.on_ack(&ack(100 + 36 * 19 + 12 * 35, 21 * MSS, 200), 40 * MSS, &w));
        assert_eq!((missed.last, missed.bin), (0, Dur::from_millis(70)), "bins of the round trip of now");
        s.end();
        assert!(!s.on_ack(&ack(2000, 100 * MSS, 100), 1000 * MSS, &w) && s.stage == Stage::Over);
    }
}
