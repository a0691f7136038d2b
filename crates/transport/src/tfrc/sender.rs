//! The sender of TFRC: round-trip time, timers, the time between packets. What the rate is, the laws say.

use super::equation::{Formula, PathTimes};
use super::law::{Rfc, View};
use super::ns2::Ns2;
use super::ns2_old::OldNs2;
use super::packet::DATA_HEADERS_BYTES;
use super::packet::{Data, Feedback, stamp};
use super::params::{InitialWindow, MinimumRate, RateLaw, RttSample, TfrcParams, TimeoutTerm};
use crate::rate::{self, Piece, Supply};
use crate::tcp::io::Io;
use crosswind_base::packet::Ext;
use crosswind_base::{Dur, Ecn, EventKind, Histogram, Metrics, Packet, Setting, Time};
use std::sync::Arc;

#[derive(Clone, Debug)]
enum Law {
    Rfc(Rfc),
    Ns2(Ns2),
    OldNs2(OldNs2),
}

impl Law {
    fn rate(&self) -> f64 {
        match self {
            Law::Rfc(l) => l.rate,
            Law::Ns2(l) => l.rate,
            Law::OldNs2(l) => l.rate,
        }
    }
}

/// Means of the round-trip time.
#[derive(Clone, Debug, Default)]
struct Rtt {
    /// `R`
    mean_s: Option<f64>,
    /// Mean of the square roots (`R_sqmean`), and the last sample.
    sqrt_mean: f64,
    sample_s: f64,
    /// The estimator of a TCP with coarse ticks: eighths of a tick, quarters of a tick.
    srtt: i64,
    rttvar: i64,
}

impl Rtt {
    fn take(&mut self, sample: Dur, p: &TfrcParams) {
        let s = sample.as_secs_f64().max(1e-6);
        let old = p.rtt_memory;
        self.sqrt_mean = if self.mean_s.is_some() { old * self.sqrt_mean + (1.0 - old) * s.sqrt() } else { s.sqrt() };
        self.mean_s = Some(self.mean_s.map_or(s, |mean| old * mean + (1.0 - old) * s));
        self.sample_s = s;
        self.take_ticks(s, p);
    }

    /// ns-2's copy of the estimator of TCP.
    fn take_ticks(&mut self, sample_s: f64, p: &TfrcParams) {
        let ticks = ((sample_s / p.rto_tick.as_secs_f64() + 0.5) as i64).max(1);
        if self.srtt == 0 {
            (self.srtt, self.rttvar) = (ticks << 3, ticks << 1);
            return;
        }
        let delta = ticks - (self.srtt >> 3);
        self.srtt = (self.srtt + delta).max(1);
        self.rttvar = (self.rttvar + delta.abs() - (self.rttvar >> 2)).max(1);
    }

    /// `t_RTO`
    fn timeout_s(&self, p: &TfrcParams) -> f64 {
        match p.timeout_term {
            TimeoutTerm::FourRtts => 4.0 * self.mean_s.unwrap_or(0.0),
            TimeoutTerm::Ns2 => (((self.rttvar << 3) + self.srtt) >> 3) as f64 * p.rto_tick.as_secs_f64(),
        }
    }
}

/// What the world may read.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    pub sent_packets: u64,
    pub expiries: u64,
    pub rtt_ns: Histogram,
}

pub struct Sender {
    params: Arc<TfrcParams>,
    formula: Formula,
    supply: Supply,
    law: Law,
    rtt: Rtt,
    p: f64,
    round: u16,
    is_urgent: bool,
    has_feedback: bool,
    last_sent_at: Time,
    /// When the next packet may leave; it leaves then if there is one.
    free_at: Time,
    /// When the next packet leaves.
    send_at: Option<Time>,
    expire_at: Option<Time>,
    /// Something was sent since the no-feedback timer was set.
    has_sent: bool,
    /// The rate, not the application, held a packet back: since the last report, and before it.
    held: [bool; 2],
    /// The law as it was before the first expiry since the last feedback.
    before_silence: Option<Law>,
    pub stats: Stats,
}

impl Sender {
    pub fn new(params: Arc<TfrcParams>, supply: Supply) -> Sender {
        let rate = params.packet_size.0 as f64 / params.first_interval.as_secs_f64();
        let law = match params.law {
            RateLaw::Rfc5348 | RateLaw::Rfc3448 => Law::Rfc(Rfc::new(rate)),
            RateLaw::Ns2 => Law::Ns2(Ns2::new(rate)),
            RateLaw::OldNs2 => Law::OldNs2(OldNs2::new(rate)),
        };
        Sender {
            formula: Formula::new(&params),
            params,
            supply,
            law,
            rtt: Rtt::default(),
            p: 0.0,
            round: 0,
            is_urgent: true,
            has_feedback: false,
            last_sent_at: Time::ZERO,
            free_at: Time::ZERO,
            send_at: None,
            expire_at: None,
            has_sent: false,
            held: [false; 2],
            before_silence: None,
            stats: Stats::default(),
        }
    }

    /// The allowed rate in bytes per second.
    pub fn rate(&self) -> f64 {
        self.law.rate()
    }
    pub fn rtt(&self) -> Dur {
        Dur::from_secs_f64(self.rtt.mean_s.unwrap_or(0.0))
    }

    fn size(&self) -> f64 {
        self.params.packet_size.0 as f64
    }

    fn view(&self, now: Time, f: Option<&Feedback>) -> View {
        let p = &self.params;
        let path = PathTimes { rtt_s: self.rtt.mean_s.unwrap_or(0.0), t_rto_s: self.rtt.timeout_s(p) };
        let per_rtt = |bytes: f64| if path.rtt_s > 0.0 { bytes / path.rtt_s } else { 0.0 };
        let loss_event_rate = f.map_or(self.p, |f| f.loss_event_rate);
        let per_backoff = self.size() / p.max_backoff.as_secs_f64();
        View {
            now,
            rtt: self.rtt(),
            p: loss_event_rate,
            p_before: self.p,
            receive_rate: f.map_or(0.0, |f| f.receive_rate),
            lost_packets: f.map_or(0, |f| f.lost_packets),
            equation_rate: self.formula.rate(loss_event_rate, path),
            is_data_limited: !self.held[0] && !self.held[1],
            is_first: !self.has_feedback,
            floor: match p.minimum_rate {
                MinimumRate::PacketPerBackoff => per_backoff,
                MinimumRate::PacketPerRtt => per_rtt(self.size()).max(per_backoff),
            },
            initial: match p.initial_window {
                InitialWindow::Rfc3390 => per_rtt((4.0 * self.size()).min((2.0 * self.size()).max(4380.0))),
                InitialWindow::OnePacket => per_rtt(self.size()),
            },
        }
    }

    fn on_feedback(&mut self, f: &Feedback, io: &mut dyn Io) {
        let now = io.now();
        let held = if self.params.rtt_sample == RttSample::Path { f.delay } else { Dur::ZERO };
        let sample = rate::since_stamp(now, f.echo).saturating_sub(held);
        self.stats.rtt_ns.record(sample.0);
        io.note(EventKind::Rtt, sample.0, 0, 0);
        self.rtt.take(sample, &self.params);
        let view = self.view(now, Some(f));
        // ns-2 sets its timer by the rate before the report.
        let rate_before = self.rate();
        let params = self.params.clone();
        let sends_at_once = match (&mut self.law, self.before_silence.take()) {
            (law, Some(before)) if params.headercast.on() => {
                *law = before;
                false
            }
            (Law::Rfc(l), _) => {
                l.on_feedback(&view, &params);
                false
            }
            (Law::Ns2(l), _) => l.on_feedback(&view, &params),
            (Law::OldNs2(l), _) => l.on_feedback(&view, &params),
        };
        self.p = f.loss_event_rate;
        self.round = self.round.wrapping_add(1);
        self.is_urgent = false;
        self.has_feedback = true;
        self.held = [false, self.held[0]];
        let timed_by = if params.law.is_ns2() { rate_before } else { self.rate() };
        self.set_timer(timed_by, now);
        self.reschedule(sends_at_once, io);
    }

    fn set_timer(&mut self, rate: f64, now: Time) {
        let rtts = self.rtt().saturating_mul(u64::from(self.params.no_feedback_rtts));
        let two_packets = rate::interval(2.0 * self.size(), rate);
        let wait = if self.has_feedback { rtts } else { self.params.no_feedback_initial };
        let wait = wait.max(two_packets);
        self.expire_at = Some(now + wait);
        self.has_sent = false;
    }

    fn on_expiry(&mut self, io: &mut dyn Io) {
        self.stats.expiries += 1;
        io.note(EventKind::Timeout, self.stats.sent_packets, 0, 0);
        let view = self.view(io.now(), None);
        let is_idle = !self.has_sent;
        if self.before_silence.is_none() {
            self.before_silence = Some(self.law.clone());
        }
        let params = self.params.clone();
        match &mut self.law {
            Law::Rfc(l) => l.on_expiry(&view, is_idle, &params),
            Law::Ns2(l) => l.on_expiry(&view, is_idle, &params),
            Law::OldNs2(l) => l.on_expiry(&view, is_idle, &params),
        }
        self.round = self.round.wrapping_add(1);
        self.is_urgent = true;
        self.set_timer(self.rate(), io.now());
        self.reschedule(params.law.is_ns2(), io);
    }

    /// The rate has changed: the packet that waits leaves an interval of the new rate after the last one.
    fn reschedule(&mut self, at_once: bool, io: &mut dyn Io) {
        if at_once && self.supply.has_more() {
            self.send(io);
            return;
        }
        if !self.params.law.is_ns2() && self.stats.sent_packets > 0 {
            self.free_at = self.last_sent_at + self.gap();
        }
        self.plan(io.now());
    }

    fn gap(&mut self) -> Dur {
        let params = self.params.clone();
        let (mut rate, is_ramp) = match &mut self.law {
            Law::Rfc(l) => (l.rate, false),
            Law::Ns2(l) => l.next_rate(&params),
            Law::OldNs2(l) => l.next_rate(),
        };
        if params.interpacket_correction.on() && !is_ramp && self.rtt.sample_s > 0.0 {
            rate *= self.rtt.sqrt_mean / self.rtt.sample_s.sqrt();
        }
        rate::interval(self.size(), rate)
    }

    /// Decides when the next packet leaves.
    fn plan(&mut self, now: Time) {
        self.send_at = self.supply.has_more().then(|| self.free_at.max(now));
        if self.supply.is_exhausted() {
            self.expire_at = None;
        }
    }

    fn send(&mut self, io: &mut dyn Io) {
        let now = io.now();
        let Some(Piece { payload_bytes, burst }) = self.supply.take() else {
            self.plan(now);
            return;
        };
        let data = Data {
            number: self.stats.sent_packets,
            stamp: stamp(now),
            rtt: self.rtt(),
            t_rto: Dur::from_secs_f64(self.rtt.timeout_s(&self.params)),
            round: self.round,
            is_urgent: self.is_urgent,
        };
        let mut p = data.write(burst, now);
        p.payload = payload_bytes;
        p.len = payload_bytes + DATA_HEADERS_BYTES;
        if self.params.ecn.on() {
            p.set_ecn(Ecn::Ect0);
        }
        self.stats.sent_packets += 1;
        self.has_sent = true;
        self.last_sent_at = now;
        io.note(EventKind::Send, p.seq, p.payload.into(), 0);
        io.send(p, None);
        self.free_at = now + self.gap();
        self.held[0] |= self.supply.has_more();
        self.plan(now);
    }
}

impl rate::Sender for Sender {
    fn open(&mut self, io: &mut dyn Io) {
        self.set_timer(self.rate(), io.now());
        self.send(io);
    }

    fn on_packet(&mut self, p: &Packet, _ext: Option<&Ext>, io: &mut dyn Io) {
        let f = Feedback::read(p);
        if !self.supply.is_exhausted() {
            self.on_feedback(&f, io);
        }
    }

    fn on_wake(&mut self, io: &mut dyn Io) {
        let now = io.now();
        if self.expire_at.is_some_and(|at| at <= now) {
            self.on_expiry(io);
        }
        if self.send_at.is_none() {
            self.held[0] |= self.supply.has_more() && self.free_at > now;
            self.plan(now);
        }
        if self.send_at.is_some_and(|at| at <= now) {
            self.send(io);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        [self.send_at, self.expire_at].into_iter().flatten().min()
    }

    fn supply(&mut self) -> &mut Supply {
        &mut self.supply
    }

    fn room_bytes(&self) -> u64 {
        self.supply.room_bytes()
    }

    fn is_over(&self) -> bool {
        self.supply.is_exhausted()
    }

    fn sample(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("allowed_rate_bps", 8.0 * self.rate());
        if let Some(mean) = self.rtt.mean_s {
            out("srtt_ns", 1e9 * mean);
        }
    }

    fn retune(&mut self, new: &Setting) {
        let params: Arc<TfrcParams> = new.get();
        self.formula = Formula::new(&params);
        self.params = params;
    }

    fn report(&self, out: &mut dyn Metrics) {
        out.value("allowed_rate_bps", 8.0 * self.rate());
        out.value("no_feedback_expiries", self.stats.expiries as f64);
        out.value("refused_packets", self.supply.refused_packets as f64);
        out.histogram("rtt_ns", &self.stats.rtt_ns);
    }
}
