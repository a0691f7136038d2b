//! What congestion marks say to BBR version 3 of Google's kernel, where `bbr3.ecn` lets it hear them: a share of marked packets, smoothed over
//! rounds as DCTCP does, cuts the short-term cap on what is in flight; a round with more than half of them marked is a probe that went too far.

use super::model::TooHigh;
use super::{AckSample, Bbr3, Marks, Sample};
use crate::tcp::choices::Switch;
use crosswind_base::Dur;

const GAIN: f64 = 1.0 / 16.0;
/// Share of alpha that a round with marks costs.
const FACTOR: f64 = 1.0 / 3.0;
const TOO_MANY: f64 = 0.5;
/// On longer paths marks are not believed to be those of a shallow threshold.
const RTT_MAX: Dur = Dur::from_millis(5);

impl Bbr3 {
    pub(super) fn hear_marks(&mut self, s: &AckSample<'_>, rs: &Sample) {
        if self.params.ecn == Switch::Off {
            return;
        }
        self.marks.delivered += u64::from(s.ack.newly_delivered);
        self.marks.marked += u64::from(s.ack.newly_ce);
        if !self.round_start || self.marks.delivered == 0 {
            return;
        }
        let share = self.marks.marked as f64 / self.marks.delivered as f64;
        let alpha = self.marks.alpha + GAIN * (share - self.marks.alpha);
        self.marks = Marks { alpha, delivered: 0, marked: 0 };
        if share == 0.0 || self.min_rtt.is_none_or(|rtt| rtt > RTT_MAX) {
            return;
        }
        if self.is_bw_probe_sample && share > TOO_MANY {
            self.handle_inflight_too_high(&TooHigh {
                now: rs.now,
                delivered: rs.all_delivered,
                tx_in_flight: rs.tx_in_flight,
                is_app_limited: rs.is_app_limited,
            });
        } else if !self.is_probing_bw() {
            let cap = if self.inflight_shortterm.is_finite() { self.inflight_shortterm } else { self.w.cwnd };
            self.inflight_shortterm = cap * (1.0 - FACTOR * alpha);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bbr3Params, Start, State};
    use super::*;
    use crate::tcp::facts::Ack;
    use crate::tcp::preset;
    use crosswind_base::Time;

    const MSS: f64 = 1448.0;

    fn cruising(ecn: Switch, rtt_ms: u64) -> Bbr3 {
        let bbr3 = Bbr3Params { ecn, ..Bbr3Params::google() };
        let p = preset::preset("bbr3-google").expect("a preset");
        let mut b = Bbr3::new(&bbr3, Start::of(&p));
        (b.bw, b.max_bw, b.min_rtt) = (1e7, 1e7, Some(Dur::from_millis(rtt_ms)));
        (b.state, b.full.reached, b.w.cwnd) = (State::Cruise, true, 100.0 * MSS);
        b
    }

    /// A round of twenty packets, of which so many are marked.
    fn round(b: &mut Bbr3, marked: u32) {
        let a = Ack { newly_delivered: 20, newly_ce: marked, ..Ack::default() };
        b.round_start = true;
        let rs = Sample {
            now: Time(1),
            rate: 1e7,
            delivered: 1.0,
            prior_delivered: 0,
            newly_acked: MSS,
            lost: 0.0,
            tx_in_flight: 120.0 * MSS,
            is_app_limited: false,
            rtt: None,
            may_have_waited: false,
            before: 0.0,
            after: 0.0,
            all_delivered: 0,
        };
        b.hear_marks(&AckSample::of(&a), &rs);
    }

    #[test]
    fn a_round_with_marks_costs_a_third_of_alpha_on_short_paths_where_marks_are_heard() {
        let mut b = cruising(Switch::On, 4);
        round(&mut b, 20);
        assert!((b.inflight_shortterm / MSS - 100.0 * (2.0 / 3.0)).abs() < 1e-9, "alpha begins at one");
        let (before, alpha) = (b.inflight_shortterm, 15.0 / 16.0);
        round(&mut b, 0);
        assert_eq!(b.inflight_shortterm, before);
        round(&mut b, 10);
        let alpha = alpha * 15.0 / 16.0 + 0.5 / 16.0;
        assert!((b.inflight_shortterm - before * (1.0 - alpha / 3.0)).abs() < 1e-6);
        for mut deaf in [cruising(Switch::Off, 4), cruising(Switch::On, 6)] {
            round(&mut deaf, 20);
            assert_eq!(deaf.inflight_shortterm, f64::INFINITY);
        }
    }

    #[test]
    fn a_probe_of_which_more_than_half_is_marked_has_gone_too_far() {
        for (marked, want) in [(10, State::Up), (11, State::Down)] {
            let mut b = cruising(Switch::On, 4);
            (b.state, b.is_bw_probe_sample) = (State::Up, true);
            round(&mut b, marked);
            assert_eq!((b.state, b.inflight_longterm.is_finite()), (want, want == State::Down));
            assert_eq!(b.inflight_shortterm, f64::INFINITY, "probes are not cut");
        }
    }
}
