//! BBR version 3 against a second copy: the pseudo-code of draft-ietf-ccwg-bbr with its own names, over plain variables, on paths that change,
//! lose, bunch ACKs and run out of data. And the number vectors of its rules.

use super::Start;
use super::bbr3::{Bbr3, Bbr3Params, State};
use super::{AckSample, Controller, Delivery, Lost, SentFacts};
use crate::tcp::detect::Phase;
use crate::tcp::facts::{Ack, Trigger};
use crate::tcp::params::TcpParams;
use crate::tcp::preset;
use crosswind_base::units::Size;
use crosswind_base::{Dur, Rng, Streams, Time};

mod draft;

use draft::Draft;

const SMSS: f64 = 1000.0;

fn params() -> TcpParams {
    preset::preset("bbr3").expect("a preset").with(|p| p.connection.mss = Size(SMSS as u64))
}

/// A packet under way, with the copies that the draft puts on it.
#[derive(Clone, Copy)]
struct P {
    id: u64,
    sent: u64,
    arrives: Option<u64>,
    delivered: u64,
    delivered_time: u64,
    first_send_time: u64,
    lost: u64,
    flight: u64,
    is_app_limited: bool,
}

/// One bottleneck with a queue, a sender that obeys ours, and the draft beside it.
struct World {
    ours: Bbr3,
    draft: Draft,
    r: Rng,
    now: u64,
    free_at: u64,
    /// Nanoseconds that a packet takes at the bottleneck, round trip without it, packets of queue, probability of a loss.
    service: u64,
    rtt: u64,
    queue: u64,
    loss: f64,
    flight: Vec<P>,
    next_id: u64,
    next_send: u64,
    idle_until: u64,
    delivered: u64,
    delivered_time: u64,
    first_send_time: u64,
    lost: u64,
    app_limited: u64,
    least: u64,
    recover: Option<u64>,
    timed_out: bool,
    /// Nothing happens but what the path does.
    is_plain: bool,
}

impl World {
    fn new(seed: u64) -> World {
        let (mut r, dice) = (Streams::new(seed).named("path"), Streams::new(seed).named("dice"));
        let p = params();
        let mut ours = Bbr3::new(&p.controller.bbr3, Start::of(&p));
        ours.take_dice(dice.clone());
        World {
            ours,
            draft: Draft::new(dice),
            now: 1_000_000_000,
            free_at: 0,
            service: 1_000_000 + r.below(3_000_000),
            rtt: 10_000_000 + r.below(100_000_000),
            queue: 5 + r.below(120),
            loss: if r.chance(0.5) { 0.0 } else { r.between(0.0, 0.03) },
            flight: Vec::new(),
            next_id: 1,
            next_send: 0,
            idle_until: 0,
            delivered: 0,
            delivered_time: 0,
            first_send_time: 0,
            lost: 0,
            app_limited: 0,
            least: u64::MAX,
            recover: None,
            timed_out: false,
            is_plain: false,
            r,
        }
    }

    fn send(&mut self) {
        let (now, was_idle) = (self.now, self.flight.is_empty());
        if was_idle {
            (self.first_send_time, self.delivered_time) = (now, now);
        }
        let facts = SentFacts { now: Time(now), was_idle, is_app_limited: self.app_limited > 0, srtt: None };
        self.ours.on_sent(&facts);
        self.draft.on_transmit(now, was_idle && self.app_limited > 0);
        let waits = self.free_at.saturating_sub(now) / self.service;
        let is_dropped = waits >= self.queue || self.r.chance(self.loss);
        let arrives = (!is_dropped).then(|| {
            self.free_at = self.free_at.max(now) + self.service;
            self.free_at + self.rtt
        });
        self.flight.push(P {
            id: self.next_id,
            sent: now,
            arrives,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_send_time: self.first_send_time,
            lost: self.lost,
            flight: self.flight.len() as u64 + 1,
            is_app_limited: self.app_limited > 0,
        });
        self.next_id += 1;
        let rate = self.ours.pacing_rate().expect("it sets one");
        self.next_send = now + (SMSS / rate * 1e9) as u64;
    }

    fn lose(&mut self, p: &P) {
        self.lost += 1;
        let l = Lost {
            now: Time(self.now),
            start: p.id * SMSS as u64,
            len: SMSS as u64,
            delivered: self.delivered * SMSS as u64,
            lost_since: (self.lost - p.lost) * SMSS as u64,
            flight: p.flight * SMSS as u64,
            is_app_limited: p.is_app_limited,
        };
        self.ours.on_lost(&l);
        self.draft.handle_lost_packet(p, self.lost - p.lost, self.delivered, self.now);
    }

    /// The oldest packets that arrive, up to `count`, are acknowledged now.
    fn ack(&mut self, count: usize) {
        let before = self.flight.len() as u64;
        let mut newest: Option<P> = None;
        let mut newly = 0;
        for _ in 0..count {
            let Some(i) = self.flight.iter().position(|p| p.arrives.is_some_and(|t| t <= self.now)) else { break };
            let p = self.flight.remove(i);
            (self.delivered, self.delivered_time) = (self.delivered + 1, self.now);
            newly += 1;
            newest = Some(p);
        }
        let Some(p) = newest else { return };
        // Those that left three or more before the newest and have not arrived are lost.
        let is_lost = |q: &P| q.id + 3 <= p.id && q.arrives.is_none();
        let lost: Vec<P> = self.flight.iter().copied().filter(is_lost).collect();
        self.flight.retain(|q| !is_lost(q));
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        for q in &lost {
            self.lose(q);
        }
        if !lost.is_empty() && self.recover.is_none() {
            self.recover = Some(self.next_id);
        } else if self.recover.is_some_and(|id| p.id >= id) {
            (self.recover, self.timed_out) = (None, false);
        }
        self.tell(&p, newly, lost.len() as u64, before);
        self.first_send_time = p.sent;
    }

    fn tell(&mut self, p: &P, newly: u64, lost: u64, before: u64) {
        let mss = SMSS as u64;
        let trip = self.now - p.sent;
        self.least = self.least.min(trip);
        let interval = (p.sent - p.first_send_time).max(self.now - p.delivered_time);
        let rate =
            (interval >= self.least).then(|| (self.delivered - p.delivered) as f64 * SMSS / (interval as f64 / 1e9));
        let d = Delivery {
            delivered: self.delivered * mss,
            delivered_at: Time(self.now),
            lost: self.lost * mss,
            newly: newly * mss,
            prior_delivered: p.delivered * mss,
            lost_since: (self.lost - p.lost) * mss,
            flight: p.flight * mss,
            rate,
            is_app_limited: p.is_app_limited,
            trip: Some(Dur(trip)),
            least_trip: Some(Dur(self.least)),
            rounds: 0,
            may_have_waited: false,
            departs_at: Time(self.next_send),
        };
        let high = u64::MAX;
        let phase = match self.recover {
            Some(_) if self.timed_out => Phase::Timeout { high },
            Some(_) => Phase::Recovery { high },
            None => Phase::Open,
        };
        let a = Ack { now: Time(self.now), in_flight_before: before * mss, ..Ack::default() };
        let in_flight = self.flight.len() as u64 * mss;
        self.ours.on_ack(&AckSample {
            phase,
            newly_lost: lost * mss,
            in_flight,
            delivery: Some(&d),
            ..AckSample::of(&a)
        });
        self.draft.update_on_ack(&d, phase, self.now, before as f64 * SMSS, in_flight as f64);
        if self.ours.holds_back() {
            self.app_limited = (self.delivered + self.flight.len() as u64).max(1);
        }
    }

    fn time_out(&mut self) {
        self.ours.reduce(Trigger::Timeout, 0.0);
        self.draft.on_enter_rto();
        for p in std::mem::take(&mut self.flight) {
            self.lose(&p);
        }
        (self.recover, self.timed_out) = (Some(self.next_id), true);
    }

    fn change_the_path(&mut self) {
        match self.r.below(4) {
            0 => self.service = 1_000_000 + self.r.below(6_000_000),
            1 => self.rtt = 10_000_000 + self.r.below(100_000_000),
            2 => self.idle_until = self.now + self.r.below(900_000_000),
            _ => self.loss = if self.r.chance(0.6) { 0.0 } else { self.r.between(0.0, 0.05) },
        }
    }

    fn step(&mut self) {
        if !self.is_plain && self.r.chance(0.001) {
            self.change_the_path();
        }
        let has_room = self.flight.len() as f64 * SMSS + SMSS <= self.ours.cwnd();
        let has_data = self.now >= self.idle_until;
        if has_room && !has_data {
            self.app_limited = (self.delivered + self.flight.len() as u64).max(1);
        }
        if has_room && has_data && self.now >= self.next_send {
            return self.send();
        }
        let arrival = self.flight.iter().filter_map(|p| p.arrives).min().unwrap_or(u64::MAX);
        let send = if has_room { self.next_send.max(self.idle_until) } else { u64::MAX };
        if arrival == u64::MAX && (send == u64::MAX || !self.flight.is_empty()) {
            self.now += 300_000_000;
            return self.time_out();
        }
        if arrival > send {
            self.now = self.now.max(send);
            return;
        }
        // Now and then ACKs come in bunches.
        let bunch = if !self.is_plain && self.r.chance(0.02) { self.r.below(20_000_000) } else { 0 };
        self.now = self.now.max(arrival) + bunch;
        let count = if bunch > 0 { 20 } else { 1 + self.r.below(2) as usize };
        self.ack(count);
        if !self.is_plain && self.r.chance(0.0005) {
            let before = self.ours.clone();
            self.ours.undo(&before);
            self.draft.handle_spurious_loss_detection();
            (self.recover, self.timed_out) = (None, false);
        }
    }

    fn compare(&self, what: &str) {
        let d = &self.draft;
        let state = match self.ours.state() {
            State::Startup => "Startup",
            State::Drain => "Drain",
            State::Down => "ProbeBW_DOWN",
            State::Cruise => "ProbeBW_CRUISE",
            State::Refill => "ProbeBW_REFILL",
            State::Up => "ProbeBW_UP",
            State::ProbeRtt => "ProbeRTT",
        };
        assert_eq!(state, d.state, "{what}");
        let same = |name: &str, a: f64, b: f64| {
            assert!(a == b || (a / b - 1.0).abs() < 1e-9, "{what} {state}: {name} {a} and {b}");
        };
        same("max_bw", self.ours.max_bw(), d.max_bw);
        same("pacing_rate", self.ours.pacing_rate().expect("it sets one"), d.pacing_rate);
        same("cwnd", self.ours.cwnd(), d.cwnd);
    }
}

#[test]
fn state_rate_and_window_are_those_of_the_draft_on_random_paths() {
    let mut seen = std::collections::BTreeMap::<&str, u32>::new();
    let mut caps = (0, 0, 0);
    for seed in 0..40 {
        let mut w = World::new(seed);
        for step in 0..20_000 {
            w.step();
            w.compare(&format!("seed {seed} step {step}"));
            *seen.entry(w.draft.state).or_default() += 1;
            caps.0 += u32::from(w.draft.inflight_longterm.is_finite());
            caps.1 += u32::from(w.draft.bw_shortterm.is_finite());
            caps.2 += u32::from(w.draft.undone_to.is_some());
        }
    }
    assert!(seen.len() == 7 && seen.values().all(|n| *n > 1000), "{seen:?}");
    assert!(caps.0 > 10_000 && caps.1 > 10_000 && caps.2 > 0, "{caps:?}");
}

#[test]
fn the_rules_of_google_keep_a_path_without_losses_full_too() {
    for google in [Bbr3Params::default(), Bbr3Params::google()] {
        let mut w = World::new(3);
        (w.service, w.rtt, w.queue, w.loss) = (1_000_000, 40_000_000, 80, 0.0);
        w.ours = Bbr3::new(&google, Start::of(&params()));
        w.is_plain = true;
        while w.now < 9_000_000_000 {
            w.step();
        }
        let share = w.delivered as f64 / 8000.0;
        assert!(share > 0.93, "{share} of the path");
    }
}
