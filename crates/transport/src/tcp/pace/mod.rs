//! # Pacing
//!
//! **Source**: bhandarkar-2006 V.C (TCP-LDP, point 4); linux-6.18 `tcp_update_pacing_rate`, `tcp_update_skb_after_send`.
//!
//! **Idea**: each segment has a time at which it may leave, so that a late packet whose arrival releases a large cumulative ACK does not
//! release a burst. `window`: segments leave at least `srtt / cwnd` apart. `linux`, and laws that set a rate: a segment's bytes over the
//! rate apart; the rate is the law's, or `2 cwnd / srtt` while the window is below half the threshold and `1.2 cwnd / srtt` above. A
//! segment that leaves later than it might gives half of its own gap back at most. Without pacing they leave as soon as the window allows.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `pacing` | - | `off` | bhandarkar-2006: `window` in TCP-LDP; a law that sets a rate (`bbr`) is paced, unless `never` (Linux before 4.13, where the queue `fq` paces and nobody else) |
//! | `pacing_limit` | bit/s | none | linux-6.18 `SO_MAX_PACING_RATE`: no rate above it, of payload; it asks for pacing |
//! | `pacing_burst` | - | `segment` | ours; `linux`: what is ready leaves at once until it fills 2^-10 s of the rate, two segments at least (one below 1.2 Mbit/s) |
//!
//! **Deviations**: 1. The first segment of a recovery leaves at once. 2. `window`: the round trip is smoothed as in rfc6298 over what the
//! sender's own clock says of the segments that are acknowledged, whatever the tick of timestamps and of the retransmission timer; that
//! timer's mean is used before the first segment is acknowledged. The window is that at the time of sending. 3. The first ten
//! segments are not paced, as in Linux. 4. Where `pacing_limit` holds back what the window allows, samples of the delivery rate are
//! application-limited (not in Linux; without it BBR takes the limit for the path's rate).
//!
//! **Checked by**: `tests/delayed_response.rs` (claim B130); `tests/fast.rs` (a clock of 10 ms); `tests/pacing.rs` (retransmissions);
//! `crates/sim/tests/bbr3.rs` (the limit); unit tests (the ratios, lateness, a rate that changes).

use super::law::Needs;
use super::law::rtt_filter::RttFilter;
use super::params::TcpParams;
use crate::tcp::choices::{Pacing, PacingBurst};
use crate::tcp::facts::Ack;
use crosswind_base::{Dur, Time};

/// Segments that Linux does not pace.
const FIRST_SEGMENTS: u64 = 10;
/// Part of a second whose bytes leave at once, and the most of them, in Linux.
const BURSTS_PER_S: f64 = 1024.0;
const BURST_MAX: f64 = 65_536.0;
/// Bytes per second below which one segment at a time is enough.
const SLOW: f64 = 150_000.0;

/// When the next segment may leave.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    next: Time,
    rule: Pacing,
    burst: PacingBurst,
    /// When a burst began, and how many bytes more may leave at that time.
    burst_at: Time,
    burst_left: f64,
    rtts: RttFilter,
    /// Bytes per second, by the program's word.
    limit: Option<f64>,
    is_limited: Limited,
    /// Something had to wait since the last alarm.
    is_wanted: Wanted,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    No,
    Yes,
}

/// Whether the program's limit is what spaces segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limited {
    No,
    Yes,
}

/// A segment that has just left, and the window then; in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    pub now: Time,
    pub bytes: u64,
    /// The round trip that the retransmission timer knows.
    pub of_timer: Option<Dur>,
    pub cwnd: f64,
    pub mss: f64,
    /// The window is below half the slow-start threshold.
    pub is_far_from_threshold: bool,
    /// The law's rate, in bytes per second.
    pub rate: Option<f64>,
    /// Segments that have left so far, this one included.
    pub segments: u64,
}

/// Whether segments are paced.
pub fn is_asked(p: &TcpParams) -> bool {
    match p.host.pacing {
        Pacing::Off => Needs::of(&p.controller).pacing || p.host.pacing_limit.is_some(),
        Pacing::Never => false,
        Pacing::ByPhase | Pacing::Window => true,
    }
}

impl Pacer {
    pub fn asked_for(p: &TcpParams) -> Option<Pacer> {
        let pacer = Pacer {
            next: Time::ZERO,
            rule: p.host.pacing,
            burst: p.host.pacing_burst,
            burst_at: Time::NEVER,
            burst_left: 0.0,
            rtts: RttFilter::new(),
            limit: p.host.pacing_limit.map(|r| r.0 as f64 / 8.0),
            is_limited: Limited::No,
            is_wanted: Wanted::No,
        };
        is_asked(p).then_some(pacer)
    }
    /// When the next segment may leave.
    pub fn next(&self) -> Time {
        self.next
    }
    /// Whether the program's limit is below the rate at which the last segment would have been paced.
    pub fn is_limited(&self) -> bool {
        self.is_limited == Limited::Yes
    }
    /// Whether a segment that could leave now has to wait.
    pub fn holds(&mut self, now: Time) -> bool {
        let holds = now < self.next && !(now == self.burst_at && self.burst_left > 0.0);
        if holds {
            self.is_wanted = Wanted::Yes;
        }
        holds
    }
    /// An ACK tells how long its segments were under way.
    pub fn on_ack(&mut self, a: &Ack) {
        self.rtts.take_sample(a.last_trip());
    }
    /// A segment has left.
    pub fn left(&mut self, l: Leaving) {
        if self.rule == Pacing::Window && l.rate.is_none() {
            return self.left_by_window(l);
        }
        let ratio = if l.is_far_from_threshold { 2.0 } else { 1.2 };
        let by_window = |srtt: Dur| ratio * l.cwnd / srtt.as_secs_f64();
        let asked = l.rate.or(l.of_timer.map(by_window)).filter(|rate| *rate > 0.0 && rate.is_finite());
        let rate = self.limited(asked);
        let Some(rate) = rate.filter(|_| l.segments >= FIRST_SEGMENTS) else { return };
        if self.burst == PacingBurst::Millisecond {
            self.count_burst(&l, rate);
        }
        let gap = Dur::from_secs_f64(l.bytes as f64 / rate);
        let late = if l.now > self.next { l.now.since(self.next) } else { Dur::ZERO };
        self.next = self.next.max(l.now) + Dur(gap.0 - late.0.min(gap.0 / 2));
    }
    /// The rate that is asked for, or the program's limit.
    fn limited(&mut self, asked: Option<f64>) -> Option<f64> {
        let Some(limit) = self.limit else { return asked };
        self.is_limited = if asked.is_none_or(|rate| rate > limit) { Limited::Yes } else { Limited::No };
        Some(asked.map_or(limit, |rate| rate.min(limit)))
    }
    /// A segment belongs to the burst of its time, or begins one.
    fn count_burst(&mut self, l: &Leaving, rate: f64) {
        if l.now != self.burst_at {
            let least = if rate < SLOW { l.mss } else { 2.0 * l.mss };
            (self.burst_at, self.burst_left) = (l.now, (rate / BURSTS_PER_S).min(BURST_MAX).max(least));
        }
        self.burst_left -= l.bytes as f64;
    }
    fn left_by_window(&mut self, l: Leaving) {
        let seen = (self.rtts.smoothed_s > 0.0).then(|| Dur::from_secs_f64(self.rtts.smoothed_s));
        if let Some(srtt) = seen.or(l.of_timer) {
            let gap = srtt.mul_f64(1.0 / (l.cwnd / l.mss).max(1.0));
            let rate = self.limited(Some(l.bytes as f64 / gap.as_secs_f64().max(1e-9)));
            let least =
                rate.filter(|_| self.is_limited()).map_or(Dur::ZERO, |r| Dur::from_secs_f64(l.bytes as f64 / r));
            self.next = self.next.max(l.now) + gap.max(least);
        }
    }
    pub fn alarm(&self) -> Time {
        if self.is_wanted == Wanted::Yes { self.next } else { Time::NEVER }
    }
    pub fn on_alarm(&mut self) {
        self.is_wanted = Wanted::No;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::preset;
    use crosswind_base::BitRate;

    fn pacer() -> Pacer {
        let p = preset::preset("linux-6-cubic").expect("a preset");
        Pacer::asked_for(&p.with(|p| p.host.pacing = Pacing::ByPhase)).expect("pacing is on")
    }

    /// A full segment that leaves with twenty in the window and a round trip of 20 ms.
    fn segment(now: Time) -> Leaving {
        Leaving {
            now,
            bytes: 1000,
            of_timer: Some(Dur::from_millis(20)),
            cwnd: 20_000.0,
            mss: 1000.0,
            is_far_from_threshold: false,
            rate: None,
            segments: 10,
        }
    }

    #[test]
    fn a_burst_of_linux_is_a_millisecond_of_the_rate_and_two_segments_at_least() {
        let at_once = |rate: f64| {
            let mut p = Pacer { burst: PacingBurst::Millisecond, ..pacer() };
            let now = Time::from_secs_f64(1.0);
            let mut segments = 0;
            while !p.holds(now) {
                p.left(Leaving { rate: Some(rate), ..segment(now) });
                segments += 1;
            }
            let gap = p.next().since(now).as_secs_f64();
            assert!((gap * rate / 1000.0 - f64::from(segments)).abs() < 0.51, "the rate is kept: {gap}");
            assert!(p.holds(now + Dur(1)) && !p.holds(p.next()));
            segments
        };
        assert_eq!([1e5, 1e6, 2e6, 10e6, 1e9].map(at_once), [1, 2, 2, 10, 66]);
        let mut one = pacer();
        one.left(Leaving { rate: Some(1e6), ..segment(Time::from_secs_f64(1.0)) });
        assert!(one.holds(Time::from_secs_f64(1.0)), "one by one");
    }

    #[test]
    fn linux_paces_at_twice_the_window_far_below_the_threshold_and_at_six_fifths_of_it_above() {
        let at = Time::from_secs_f64(1.0);
        let gap = |l: Leaving| {
            let mut p = pacer();
            p.left(Leaving { now: Time::ZERO, ..l });
            let first = p.next();
            p.left(Leaving { now: first, ..l });
            p.next().since(first)
        };
        assert_eq!(gap(Leaving { is_far_from_threshold: true, ..segment(at) }), Dur::from_micros(500));
        assert_eq!(gap(segment(at)).0, 833_333);
        assert_eq!(
            gap(Leaving { rate: Some(1e6), ..segment(at) }),
            Dur::from_millis(1),
            "the law's own rate comes first"
        );
        assert_eq!(gap(Leaving { segments: 9, ..segment(at) }), Dur::ZERO, "the first ten leave at once");
        assert_eq!(gap(Leaving { of_timer: None, ..segment(at) }), Dur::ZERO, "no round trip, no rate");
    }

    #[test]
    fn a_gap_that_is_booked_stays_when_the_rate_changes_and_the_next_one_is_the_new_one() {
        let mut p = pacer();
        let first = Time::from_secs_f64(1.0);
        p.next = first;
        p.left(Leaving { rate: Some(1e6), ..segment(first) });
        let due = p.next();
        assert_eq!(due.since(first), Dur::from_millis(1));
        for (rate, gap) in [(2e6, 500), (5e5, 2000)] {
            let mut p = p;
            assert!(p.holds(due - Dur(1)) && !p.holds(due), "at a rate of {rate}: nothing is booked anew");
            p.left(Leaving { rate: Some(rate), ..segment(due) });
            assert_eq!(p.next().since(due), Dur::from_micros(gap));
        }
    }

    #[test]
    fn a_program_s_limit_spaces_what_would_be_faster_and_nothing_else() {
        let limited = |l: Leaving| {
            let p = preset::preset("linux-6-cubic").expect("a preset");
            let mut p =
                Pacer::asked_for(&p.with(|p| p.host.pacing_limit = Some(BitRate(4_000_000)))).expect("a limit paces");
            p.next = l.now;
            p.left(l);
            (p.next().since(l.now), p.is_limited())
        };
        let at = segment(Time::from_secs_f64(1.0));
        assert_eq!(limited(at), (Dur::from_millis(2), true), "4 Mbit/s, not 1.2 windows a round trip");
        assert_eq!(limited(Leaving { rate: Some(1e5), ..at }), (Dur::from_millis(10), false), "a law that is slower");
        assert_eq!(limited(Leaving { of_timer: None, ..at }), (Dur::from_millis(2), true), "no round trip yet");
    }

    #[test]
    fn a_late_segment_gives_back_half_a_gap_at_most_and_no_credit_is_kept() {
        let mut p = pacer();
        let rate = Some(1e6);
        p.left(Leaving { rate, ..segment(Time(10_000_000)) });
        let due = p.next();
        assert_eq!(due, Time(10_500_000), "ten milliseconds late: half a gap");
        p.left(Leaving { rate, ..segment(due + Dur(200_000)) });
        assert_eq!(p.next(), due + Dur(1_000_000), "a fifth of a gap late: the next one is on time");
        p.left(Leaving { rate, ..segment(Time(90_000_000)) });
        assert_eq!(p.next(), Time(90_500_000), "after idle time one half gap, whatever its length");
        assert!(p.holds(Time(90_400_000)) && p.alarm() == p.next());
        p.on_alarm();
        assert_eq!(p.alarm(), Time::NEVER);
    }
}
