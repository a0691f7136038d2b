//! BBR against a second copy, written from its sources in segments, seconds and the names of Linux, on random paths.

use super::Start;
use super::bbr::{Bbr, Mode};
use super::{AckSample, Controller, Delivery, SentFacts};
use crate::tcp::choices::Switch;
use crate::tcp::detect::Phase;
use crate::tcp::facts::{Ack, Trigger};
use crate::tcp::params::TcpParams;
use crate::tcp::preset;
use crosswind_base::units::Size;
use crosswind_base::{Dur, Rng, Streams, Time};

const MSS: u64 = 1000;

/// One ACK: what `rate_sample` and the socket hold then; times in nanoseconds.
#[derive(Clone, Copy)]
struct Rs {
    now: u64,
    delivered: u64,
    prior_delivered: u64,
    bw: f64,
    acked: u64,
    losses: u64,
    rtt: u64,
    is_app_limited: bool,
    prior_in_flight: u64,
    in_flight: u64,
    edt: u64,
    in_recovery: bool,
}

/// `struct bbr`, without its search for policers.
struct Kernel {
    mode: &'static str,
    cwnd: f64,
    pacing_rate: f64,
    pacing_gain: f64,
    cwnd_gain: f64,
    minmax: [(u64, f64); 3],
    rtt_cnt: u64,
    next_rtt_delivered: u64,
    round_start: bool,
    min_rtt: Option<u64>,
    min_rtt_stamp: u64,
    probe_rtt_done_stamp: u64,
    probe_rtt_round_done: bool,
    full_bw: f64,
    full_bw_cnt: u32,
    full_bw_reached: bool,
    cycle_idx: u64,
    cycle_mstamp: u64,
    prior_cwnd: f64,
    was_in_recovery: bool,
    packet_conservation: bool,
    has_seen_rtt: bool,
    extra_acked: [f64; 2],
    extra_acked_win_idx: usize,
    extra_acked_win_rtts: u32,
    ack_epoch: u64,
    ack_epoch_acked: f64,
    rng: Rng,
}

impl Kernel {
    fn new(rng: Rng) -> Kernel {
        Kernel {
            mode: "startup",
            cwnd: 10.0,
            pacing_rate: 2.88671875 * 0.99 * 10.0 / 1e-3,
            pacing_gain: 2.88671875,
            cwnd_gain: 2.88671875,
            minmax: [(0, 0.0); 3],
            rtt_cnt: 0,
            next_rtt_delivered: 0,
            round_start: false,
            min_rtt: None,
            min_rtt_stamp: 0,
            probe_rtt_done_stamp: 0,
            probe_rtt_round_done: false,
            full_bw: 0.0,
            full_bw_cnt: 0,
            full_bw_reached: false,
            cycle_idx: 0,
            cycle_mstamp: 0,
            prior_cwnd: 0.0,
            was_in_recovery: false,
            packet_conservation: false,
            has_seen_rtt: false,
            extra_acked: [0.0; 2],
            extra_acked_win_idx: 0,
            extra_acked_win_rtts: 0,
            ack_epoch: 0,
            ack_epoch_acked: 0.0,
            rng,
        }
    }

    /// The connection is there, and its handshake has measured a round trip.
    fn init(&mut self, now: u64, rtt: u64) {
        (self.min_rtt, self.min_rtt_stamp, self.has_seen_rtt) = (Some(rtt), now, true);
        self.pacing_rate = 2.88671875 * 0.99 * self.cwnd / (rtt as f64 / 1e9);
    }

    fn bw(&self) -> f64 {
        self.minmax[0].1
    }

    fn minmax_running_max(&mut self, v: (u64, f64)) {
        let m = &mut self.minmax;
        if v.1 >= m[0].1 || v.0 - m[2].0 > 10 {
            *m = [v, v, v];
            return;
        }
        if v.1 >= m[1].1 {
            m[1] = v;
            m[2] = v;
        } else if v.1 >= m[2].1 {
            m[2] = v;
        }
        let dt = v.0 - m[0].0;
        if dt > 10 {
            m[0] = m[1];
            m[1] = m[2];
            m[2] = v;
            if v.0 - m[0].0 > 10 {
                m[0] = m[1];
                m[1] = m[2];
                m[2] = v;
            }
        } else if m[1].0 == m[0].0 && dt > 2 {
            m[1] = v;
            m[2] = v;
        } else if m[2].0 == m[1].0 && dt > 5 {
            m[2] = v;
        }
    }

    fn tso_segs_goal(&self) -> f64 {
        let min_segs: f64 = if self.pacing_rate * (MSS as f64) < 150_000.0 { 1.0 } else { 2.0 };
        let bytes = (self.pacing_rate * MSS as f64 / 1024.0).min(65_215.0);
        (bytes / MSS as f64).floor().max(min_segs).min(127.0)
    }

    fn bdp(&self, gain: f64) -> f64 {
        self.min_rtt.map_or(10.0, |rtt| (gain * self.bw() * rtt as f64 / 1e9).ceil())
    }

    fn quantization_budget(&self, cwnd: f64) -> f64 {
        let cwnd = cwnd + 3.0 * self.tso_segs_goal();
        let cwnd = cwnd + cwnd % 2.0;
        if self.mode == "probe_bw" && self.cycle_idx == 0 { cwnd + 2.0 } else { cwnd }
    }

    fn inflight(&self, gain: f64) -> f64 {
        self.quantization_budget(self.bdp(gain))
    }

    fn packets_in_net_at_edt(&self, inflight_now: u64, rs: &Rs) -> f64 {
        let mut inflight_at_edt = inflight_now as f64;
        if self.pacing_gain > 1.0 {
            inflight_at_edt += self.tso_segs_goal();
        }
        let interval_delivered = self.bw() * rs.edt.saturating_sub(rs.now) as f64 / 1e9;
        if interval_delivered >= inflight_at_edt { 0.0 } else { inflight_at_edt - interval_delivered }
    }

    fn save_cwnd(&mut self) {
        let plain = !self.was_in_recovery && self.mode != "probe_rtt";
        self.prior_cwnd = if plain { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    fn update_bw(&mut self, rs: &Rs) {
        self.round_start = false;
        if rs.prior_delivered >= self.next_rtt_delivered {
            self.next_rtt_delivered = rs.delivered;
            self.rtt_cnt += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        if !rs.is_app_limited || rs.bw >= self.bw() {
            self.minmax_running_max((self.rtt_cnt, rs.bw));
        }
    }

    fn update_ack_aggregation(&mut self, rs: &Rs) {
        if self.round_start {
            self.extra_acked_win_rtts += 1;
            if self.extra_acked_win_rtts >= 5 {
                self.extra_acked_win_rtts = 0;
                self.extra_acked_win_idx = if self.extra_acked_win_idx == 0 { 1 } else { 0 };
                self.extra_acked[self.extra_acked_win_idx] = 0.0;
            }
        }
        let mut expected_acked = self.bw() * (rs.now - self.ack_epoch) as f64 / 1e9;
        if self.ack_epoch_acked <= expected_acked || self.ack_epoch_acked + rs.acked as f64 >= 1_048_575.0 {
            self.ack_epoch_acked = 0.0;
            self.ack_epoch = rs.now;
            expected_acked = 0.0;
        }
        self.ack_epoch_acked += rs.acked as f64;
        let extra = (self.ack_epoch_acked - expected_acked).min(self.cwnd);
        if extra > self.extra_acked[self.extra_acked_win_idx] {
            self.extra_acked[self.extra_acked_win_idx] = extra;
        }
    }

    fn reset_probe_bw_mode(&mut self, now: u64) {
        self.mode = "probe_bw";
        self.cycle_idx = 8 - 1 - self.rng.below(7);
        self.advance_cycle_phase(now);
    }

    fn advance_cycle_phase(&mut self, now: u64) {
        self.cycle_idx = (self.cycle_idx + 1) & 7;
        self.cycle_mstamp = now;
    }

    fn update_cycle_phase(&mut self, rs: &Rs) {
        if self.mode != "probe_bw" {
            return;
        }
        let is_full_length = self.min_rtt.is_some_and(|rtt| rs.now - self.cycle_mstamp > rtt);
        let inflight = self.packets_in_net_at_edt(rs.prior_in_flight, rs);
        let next = if self.pacing_gain == 1.0 {
            is_full_length
        } else if self.pacing_gain > 1.0 {
            is_full_length && (rs.losses > 0 || inflight >= self.inflight(self.pacing_gain))
        } else {
            is_full_length || inflight <= self.inflight(1.0)
        };
        if next {
            self.advance_cycle_phase(rs.now);
        }
    }

    fn check_full_bw_reached(&mut self, rs: &Rs) {
        if self.full_bw_reached || !self.round_start || rs.is_app_limited {
            return;
        }
        if self.bw() >= self.full_bw * 1.25 {
            self.full_bw = self.bw();
            self.full_bw_cnt = 0;
            return;
        }
        self.full_bw_cnt += 1;
        self.full_bw_reached = self.full_bw_cnt >= 3;
    }

    fn check_drain(&mut self, rs: &Rs) {
        if self.mode == "startup" && self.full_bw_reached {
            self.mode = "drain";
        }
        if self.mode == "drain" && self.packets_in_net_at_edt(rs.in_flight, rs) <= self.inflight(1.0) {
            self.reset_probe_bw_mode(rs.now);
        }
    }

    fn update_min_rtt(&mut self, rs: &Rs) {
        let filter_expired = self.min_rtt.is_some() && rs.now > self.min_rtt_stamp + 10_000_000_000;
        if self.min_rtt.is_none_or(|m| rs.rtt < m) || filter_expired {
            self.min_rtt = Some(rs.rtt);
            self.min_rtt_stamp = rs.now;
        }
        if filter_expired && self.mode != "probe_rtt" {
            self.mode = "probe_rtt";
            self.save_cwnd();
            self.probe_rtt_done_stamp = 0;
        }
        if self.mode != "probe_rtt" {
            return;
        }
        if self.probe_rtt_done_stamp == 0 && rs.in_flight <= 4 {
            self.probe_rtt_done_stamp = rs.now + 200_000_000;
            self.probe_rtt_round_done = false;
            self.next_rtt_delivered = rs.delivered;
        } else if self.probe_rtt_done_stamp != 0 {
            if self.round_start {
                self.probe_rtt_round_done = true;
            }
            if self.probe_rtt_round_done && rs.now > self.probe_rtt_done_stamp {
                self.min_rtt_stamp = rs.now;
                self.cwnd = self.cwnd.max(self.prior_cwnd);
                if self.full_bw_reached {
                    self.reset_probe_bw_mode(rs.now);
                } else {
                    self.mode = "startup";
                }
            }
        }
    }

    fn update_gains(&mut self) {
        const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            "startup" => (2.88671875, 2.88671875),
            "drain" => (0.34375, 2.88671875),
            "probe_bw" => (CYCLE[self.cycle_idx as usize], 2.0),
            _ => (1.0, 1.0),
        };
    }

    fn set_cwnd(&mut self, rs: &Rs) {
        let acked = rs.acked as f64;
        if rs.losses > 0 {
            self.cwnd = (self.cwnd - rs.losses as f64).max(1.0);
        }
        if rs.in_recovery && !self.was_in_recovery {
            self.packet_conservation = true;
            self.next_rtt_delivered = rs.delivered;
            self.cwnd = rs.in_flight as f64 + acked;
        } else if !rs.in_recovery && self.was_in_recovery {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        self.was_in_recovery = rs.in_recovery;
        if self.packet_conservation {
            self.cwnd = self.cwnd.max(rs.in_flight as f64 + acked);
        } else {
            let mut target = self.bdp(self.cwnd_gain);
            if self.full_bw_reached {
                let most = self.bw() * 0.1;
                target += self.extra_acked[0].max(self.extra_acked[1]).min(most).floor();
            }
            let target = self.quantization_budget(target);
            if self.full_bw_reached {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target || rs.delivered < 10 {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(4.0);
        }
        if self.mode == "probe_rtt" {
            self.cwnd = self.cwnd.min(4.0);
        }
    }

    fn main(&mut self, rs: &Rs) {
        if rs.in_recovery && !self.was_in_recovery {
            self.save_cwnd();
        }
        self.update_bw(rs);
        self.update_ack_aggregation(rs);
        self.update_cycle_phase(rs);
        self.check_full_bw_reached(rs);
        self.check_drain(rs);
        self.update_min_rtt(rs);
        self.update_gains();
        if !self.has_seen_rtt {
            self.has_seen_rtt = true;
            self.pacing_rate = 2.88671875 * 0.99 * self.cwnd / (rs.rtt as f64 / 1e9);
        }
        let rate = self.bw() * self.pacing_gain * 0.99;
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
        self.set_cwnd(rs);
    }
}

/// A path of about 1000 segments a second and 40 ms, which loses, is left idle, and at times is half as fast.
fn random_acks(r: &mut Rng) -> Vec<Rs> {
    let (mut now, mut delivered, mut recovery) = (1_000_000_000u64, 0u64, 0);
    let mut out = Vec::new();
    let mut path = 1000.0;
    let mut flight = 10u64;
    for step in 0..6_000u64 {
        now += 1 + r.below(12_000_000);
        if r.chance(0.002) {
            path = r.between(400.0, 2000.0);
        }
        let acked = 1 + r.below(3);
        let prior_in_flight = flight.max(acked);
        let losses = if r.chance(0.01) { 1 + r.below(3) } else { 0 };
        recovery = if losses > 0 { 20 } else { recovery - i64::from(recovery > 0) };
        delivered += acked;
        let in_flight = prior_in_flight - acked;
        // Small windows are left as they are: what is in flight may fall to four.
        flight = if r.chance(0.03) { 4 + acked } else { 10 + r.below(90) };
        out.push(Rs {
            now,
            delivered,
            prior_delivered: delivered.saturating_sub(acked + 1 + r.below(60)),
            bw: path * r.between(0.6, 1.0) * (step as f64 / 400.0).min(1.0),
            acked,
            losses,
            rtt: 40_000_000 + r.below(20_000_000),
            is_app_limited: r.chance(0.05),
            prior_in_flight,
            in_flight,
            edt: now + r.below(3_000_000),
            in_recovery: recovery > 0,
        });
    }
    out
}

fn params() -> TcpParams {
    let mut p = preset::preset("linux-6-bbr").expect("a preset").with(|p| p.connection.mss = Size(MSS));
    p.controller.bbr.policer = Switch::Off;
    p
}

fn delivery(rs: &Rs) -> Delivery {
    Delivery {
        delivered: rs.delivered * MSS,
        delivered_at: Time(rs.now),
        lost: 0,
        newly: rs.acked * MSS,
        prior_delivered: rs.prior_delivered * MSS,
        lost_since: 0,
        flight: 0,
        rate: Some(rs.bw * MSS as f64),
        is_app_limited: rs.is_app_limited,
        trip: Some(Dur(rs.rtt)),
        least_trip: None,
        rounds: 0,
        may_have_waited: false,
        departs_at: Time(rs.edt),
    }
}

fn tell(bbr: &mut Bbr, rs: &Rs) {
    let d = delivery(rs);
    let a = Ack { now: Time(rs.now), in_flight_before: rs.prior_in_flight * MSS, ..Ack::default() };
    bbr.on_ack(&AckSample {
        phase: if rs.in_recovery { Phase::Recovery { high: u64::MAX } } else { Phase::Open },
        newly_lost: rs.losses * MSS,
        in_flight: rs.in_flight * MSS,
        delivery: Some(&d),
        ..AckSample::of(&a)
    });
}

#[test]
fn window_rate_and_mode_are_those_of_the_kernel_on_random_paths() {
    let mut seen = std::collections::BTreeMap::<&str, u32>::new();
    for seed in 0..20 {
        let dice = Streams::new(seed).named("dice");
        let (mut bbr, mut kernel) =
            (Bbr::new(&params().controller.bbr, Start::of(&params())), Kernel::new(dice.clone()));
        bbr.take_dice(dice);
        // Every second connection knows the round trip of its handshake: longer ones, and shorter ones than its segments have.
        if seed % 2 == 1 {
            let (now, rtt) = (900_000_000, 36_000_000 + 1_000_000 * seed);
            bbr.on_sent(&SentFacts { now: Time(now), was_idle: false, is_app_limited: false, srtt: Some(Dur(rtt)) });
            kernel.init(now, rtt);
        }
        for (step, rs) in random_acks(&mut Streams::new(seed).named("path")).iter().enumerate() {
            tell(&mut bbr, rs);
            kernel.main(rs);
            let what = format!("seed {seed} step {step}");
            let mode = match bbr.mode() {
                Mode::Startup => "startup",
                Mode::Drain => "drain",
                Mode::Cycle => "probe_bw",
                Mode::SmallWindow => "probe_rtt",
            };
            assert_eq!((mode, bbr.pacing_gain()), (kernel.mode, kernel.pacing_gain), "{what}");
            let ours = (bbr.cwnd() / MSS as f64, bbr.pacing_rate().expect("it sets one") / MSS as f64);
            assert!((ours.0 - kernel.cwnd).abs() < 1e-6, "{what}: window {} and {}", ours.0, kernel.cwnd);
            assert!((ours.1 / kernel.pacing_rate - 1.0).abs() < 1e-9, "{what}: {} and {}", ours.1, kernel.pacing_rate);
            *seen.entry(mode).or_default() += 1;
        }
    }
    assert!(
        ["startup", "drain", "probe_bw", "probe_rtt"].iter().all(|m| seen.get(m).is_some_and(|n| *n > 10)),
        "{seen:?}"
    );
}

/// ACKs of a steady path: one segment a millisecond, 40 ms, `in_flight` under way.
fn steady(bbr: &mut Bbr, from: u64, acks: u64, in_flight: u64, losses_every: u64) {
    for k in from..from + acks {
        tell(
            bbr,
            &Rs {
                now: k * 1_000_000,
                delivered: k,
                prior_delivered: k.saturating_sub(in_flight),
                bw: 1000.0,
                acked: 1,
                losses: u64::from(losses_every > 0 && k % losses_every == 0),
                rtt: 40_000_000,
                is_app_limited: false,
                prior_in_flight: in_flight + 1,
                in_flight,
                edt: 0,
                in_recovery: false,
            },
        );
    }
}

#[test]
fn a_pipe_that_is_full_is_left_after_three_rounds_and_drained() {
    let mut bbr = Bbr::new(&params().controller.bbr, Start::of(&params()));
    steady(&mut bbr, 1, 100, 100, 0);
    assert_eq!(bbr.mode(), Mode::Startup);
    steady(&mut bbr, 101, 250, 100, 0);
    assert_eq!((bbr.mode(), bbr.pacing_gain()), (Mode::Drain, 88.0 / 256.0), "more is under way than the path holds");
    steady(&mut bbr, 351, 1, 40, 0);
    assert_eq!(bbr.mode(), Mode::Cycle);
    assert_eq!(bbr.rate(), 1000.0 * MSS as f64);
    steady(&mut bbr, 352, 400, 40, 0);
    // Two products of 40, three bursts of two, and what ACKs run ahead: one segment.
    assert!((86.0..=90.0).contains(&(bbr.cwnd() / MSS as f64)), "{}", bbr.cwnd());
}

#[test]
fn a_timeout_leaves_one_segment_and_the_window_comes_back_with_the_end_of_the_loss() {
    let mut bbr = Bbr::new(&params().controller.bbr, Start::of(&params()));
    steady(&mut bbr, 1, 400, 40, 0);
    let before = bbr.cwnd();
    bbr.reduce(Trigger::Loss, before);
    assert_eq!(bbr.cwnd(), before, "a loss alone does not reduce");
    bbr.reduce(Trigger::Timeout, before);
    assert_eq!(bbr.cwnd(), MSS as f64);
    steady(&mut bbr, 401, 1, 0, 0);
    assert!(bbr.cwnd() >= before.min(80.0 * MSS as f64), "{} of {before}", bbr.cwnd());
}

#[test]
fn what_a_recovery_or_idle_time_takes_off_other_windows_leaves_this_one() {
    use super::Change;
    let mut bbr = Bbr::new(&params().controller.bbr, Start::of(&params()));
    steady(&mut bbr, 1, 400, 40, 0);
    let before = bbr.cwnd();
    for change in
        [Change::Cap(1.0), Change::ReducingTo(1.0), Change::Reduced, Change::GiveUp(0.9), Change::EndSlowStart]
    {
        bbr.change(change);
        assert_eq!(bbr.cwnd(), before, "{change:?}");
    }
}

#[test]
fn a_policer_is_paced_at_its_rate_for_48_rounds() {
    let mut p = params();
    p.controller.bbr.policer = Switch::On;
    let mut bbr = Bbr::new(&p.controller.bbr, Start::of(&p));
    steady(&mut bbr, 1, 600, 40, 0);
    assert_eq!(bbr.mode(), Mode::Cycle);
    // Every ACK shows a segment lost: half of what is sent. The rate is the one that gets through.
    let lossy = |bbr: &mut Bbr, from: u64, acks: u64| {
        for k in from..from + acks {
            let rs = Rs {
                now: k * 1_000_000,
                delivered: k,
                prior_delivered: k.saturating_sub(40),
                bw: 5000.0,
                acked: 1,
                losses: 1,
                rtt: 40_000_000,
                is_app_limited: false,
                prior_in_flight: 41,
                in_flight: 40,
                edt: 0,
                in_recovery: false,
            };
            let d = Delivery { lost: k * MSS, ..delivery(&rs) };
            let a = Ack { now: Time(rs.now), in_flight_before: 41 * MSS, ..Ack::default() };
            bbr.on_ack(&AckSample { newly_lost: MSS, in_flight: 40 * MSS, delivery: Some(&d), ..AckSample::of(&a) });
        }
    };
    lossy(&mut bbr, 601, 150);
    assert!(bbr.rate() > 4e6, "one span proves nothing: {}", bbr.rate());
    lossy(&mut bbr, 751, 250);
    assert!((bbr.rate() / 1e6 - 1.0).abs() < 0.02, "what gets through: {}", bbr.rate());
    assert_eq!(bbr.pacing_gain(), 1.0);
    lossy(&mut bbr, 1001, 48 * 41);
    assert!(bbr.rate() > 4e6, "after 48 rounds it probes again: {}", bbr.rate());
}
