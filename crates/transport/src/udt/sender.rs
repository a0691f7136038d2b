//! The sender of UDT and SABUL: lost packets first, then new ones as far as the window allows, each after its interval.

use super::arrivals::smoothed;
use super::law::{Answer, Law};
use super::packet::{Ack, DATA_HEADERS_BYTES, control};
use super::params::{Increase, Raise, UdtParams};
use super::ranges::Ranges;
use crate::rate::{self, Supply};
use crate::tcp::io::Io;
use crosswind_base::packet::{Datagram, Ext, Proto};
use crosswind_base::{Dur, EventKind, Histogram, Metrics, Packet, Rng, Setting, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// What the world may read.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    pub retransmitted_packets: u64,
    pub loss_reports: u64,
    pub expiries: u64,
    pub rtt_ns: Histogram,
}

pub struct Sender {
    params: Arc<UdtParams>,
    supply: Supply,
    law: Law,
    payload_bytes: u16,
    /// Packets with less payload that may have to be retransmitted: number and payload, the oldest first.
    short: VecDeque<(u64, u16)>,
    /// Number of the next new packet; all below `acknowledged` have come.
    next: u64,
    acknowledged: u64,
    lost: Ranges,
    in_slow_start: bool,
    window: f64,
    rtt: Option<Dur>,
    arrival_rate: f64,
    capacity: f64,
    /// Sent, and reported lost, since the last change of the rate.
    sent: u64,
    lost_packets: u64,
    /// Losses have been reported since the last acknowledgement that was new.
    reported: bool,
    /// The next packet does not leave before this time, and leaves then if there is one.
    free_at: Time,
    send_at: Option<Time>,
    expire_at: Option<Time>,
    pub stats: Stats,
}

impl Sender {
    pub fn new(params: Arc<UdtParams>, supply: Supply, rng: Rng) -> Sender {
        Sender {
            law: Law::new(&params, rng),
            payload_bytes: params.packet_size.0 as u16 - DATA_HEADERS_BYTES,
            in_slow_start: params.slow_start.on(),
            window: if params.slow_start.on() { 2.0 } else { f64::from(params.window_limit_packets) },
            params,
            supply,
            short: VecDeque::new(),
            next: 0,
            acknowledged: 0,
            lost: Ranges::default(),
            rtt: None,
            arrival_rate: 0.0,
            capacity: 0.0,
            sent: 0,
            lost_packets: 0,
            reported: false,
            free_at: Time::ZERO,
            send_at: None,
            expire_at: None,
            stats: Stats::default(),
        }
    }

    pub fn interval(&self) -> Dur {
        Dur::from_secs_f64(self.law.interval_s)
    }
    pub fn window_packets(&self) -> u64 {
        self.window.ceil() as u64
    }

    fn on_ack(&mut self, a: &Ack, io: &mut dyn Io) {
        let now = io.now();
        let answer = Packet { seq: a.number, ..control(Datagram::UdtAck2, 0, now) };
        io.send(answer, None);
        if a.below <= self.acknowledged {
            return;
        }
        self.acknowledged = a.below;
        self.lost.remove_below(a.below);
        while self.short.front().is_some_and(|s| s.0 < a.below) {
            self.short.pop_front();
        }
        self.note_rtt(a.rtt);
        let mean = |old: f64, new: f64| if old > 0.0 { 0.875 * old + 0.125 * new } else { new };
        if a.arrival_rate > 0.0 {
            self.arrival_rate = mean(self.arrival_rate, a.arrival_rate);
        }
        if a.capacity > 0.0 {
            self.capacity = mean(self.capacity, a.capacity);
        }
        self.open_window(a);
        let reported = std::mem::take(&mut self.reported) && self.params.raise == Raise::Unreported;
        if self.params.increase == Increase::Capacity && !self.in_slow_start && !reported {
            self.law.on_interval(self.capacity, 0.0);
        }
        self.bound();
        self.expire_at = Some(now + self.params.expiry);
        self.plan(now);
    }

    fn bound(&mut self) {
        if let Some(rtt) = self.rtt.filter(|_| self.params.round_trip_bounds_interval.on()) {
            self.law.bound(rtt.as_secs_f64());
        }
    }

    fn note_rtt(&mut self, sample: Dur) {
        if sample == Dur::ZERO {
            return;
        }
        self.stats.rtt_ns.record(sample.0);
        self.rtt = Some(smoothed(self.rtt, sample));
    }

    /// What arrives in a round-trip time and a control interval; in slow start all that has arrived so far.
    fn open_window(&mut self, a: &Ack) {
        if !self.params.window_control.on() {
            return;
        }
        let limit = f64::from(self.params.window_limit_packets);
        if self.in_slow_start {
            self.window = (a.below as f64).max(2.0);
            if self.window >= limit {
                self.end_slow_start();
            }
        } else if a.arrival_rate > 0.0 {
            let span = self.rtt.unwrap_or(Dur::ZERO) + self.params.control_interval;
            self.window = 0.875 * self.window + 0.125 * a.arrival_rate * span.as_secs_f64();
        }
        self.window = self.window.clamp(2.0, limit);
    }

    fn end_slow_start(&mut self) {
        self.in_slow_start = false;
        self.law.leave_slow_start(self.arrival_rate);
    }

    fn on_nak(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut dyn Io) {
        let Some(ranges) = ext.map(|e| e.sack) else { return };
        let Some(&(first, _)) = ranges.as_slice().first() else { return };
        if self.in_slow_start {
            self.end_slow_start();
        }
        // A report of many ranges comes in several packets; the first stands for all of them.
        if p.ack == 0 {
            self.stats.loss_reports += 1;
            self.reported = true;
            // UDT compares with the last packet sent, SABUL with the next one.
            let last = if self.params.increase == Increase::Rate { self.next } else { self.next.saturating_sub(1) };
            if self.law.on_loss(first, last) == Answer::SlowerAndPause {
                self.free_at = self.free_at.max(io.now() + self.params.control_interval);
            }
            self.bound();
        }
        for &(from, to) in ranges.as_slice() {
            let (from, to) = (from.max(self.acknowledged), to.min(self.next.saturating_sub(1)));
            if from <= to {
                self.lost.insert(from, to);
                self.lost_packets += to - from + 1;
            }
        }
        self.expire_at = Some(io.now() + self.params.expiry);
        self.plan(io.now());
    }

    /// SABUL: the receiver says that a control interval is over.
    fn on_interval(&mut self, now: Time) {
        if self.sent > 0 {
            let share = self.lost_packets as f64 / self.sent.max(self.lost_packets) as f64;
            self.law.on_interval(0.0, share);
        }
        (self.sent, self.lost_packets) = (0, 0);
        self.plan(now);
    }

    fn on_expiry(&mut self, io: &mut dyn Io) {
        self.stats.expiries += 1;
        io.note(EventKind::Timeout, self.acknowledged, 0, 0);
        if self.next > self.acknowledged {
            self.lost.insert(self.acknowledged, self.next - 1);
        }
        self.expire_at = Some(io.now() + self.params.expiry);
        self.plan(io.now());
    }

    fn has_something(&self) -> bool {
        !self.lost.is_empty() || self.may_send_new()
    }
    fn may_send_new(&self) -> bool {
        self.supply.has_more() && self.next - self.acknowledged < self.window_packets()
    }

    /// Decides when the next packet leaves.
    fn plan(&mut self, now: Time) {
        self.send_at = self.has_something().then(|| self.free_at.max(now));
        if rate::Sender::is_over(self) {
            (self.send_at, self.expire_at) = (None, None);
        }
    }

    fn payload_of(&self, number: u64) -> u16 {
        let known = self.short.binary_search_by_key(&number, |s| s.0);
        known.map_or(self.payload_bytes, |i| self.short[i].1)
    }

    fn send(&mut self, io: &mut dyn Io) {
        let now = io.now();
        let (number, payload, is_new) = match self.lost.pop_first() {
            Some(n) => (n, self.payload_of(n), false),
            None => {
                let Some(piece) = self.supply.take() else { return self.plan(now) };
                let n = self.next;
                self.next += 1;
                if piece.payload_bytes < self.payload_bytes {
                    self.short.push_back((n, piece.payload_bytes));
                }
                (n, piece.payload_bytes, true)
            }
        };
        self.stats.retransmitted_packets += u64::from(!is_new);
        self.sent += 1;
        let p = Packet {
            sent_at: now,
            seq: number,
            ack: 1,
            payload,
            len: payload + DATA_HEADERS_BYTES,
            proto: Proto::Udp(Datagram::UdtData),
            ..Packet::default()
        };
        let kind = if is_new { EventKind::Send } else { EventKind::Retransmit };
        io.note(kind, number, payload.into(), 0);
        io.send(p, None);
        let every = u64::from(self.params.pair_every_packets);
        let begins_pair = is_new && every > 0 && number % every == 0;
        self.free_at = if begins_pair { now } else { now + self.interval() };
        self.plan(now);
    }
}

impl rate::Sender for Sender {
    fn open(&mut self, io: &mut dyn Io) {
        self.expire_at = Some(io.now() + self.params.expiry);
        self.plan(io.now());
    }

    fn on_packet(&mut self, p: &Packet, ext: Option<&Ext>, io: &mut dyn Io) {
        if rate::Sender::is_over(self) {
            return;
        }
        match Datagram::of(p) {
            Datagram::UdtAck => self.on_ack(&Ack::read(p), io),
            Datagram::UdtNak => self.on_nak(p, ext, io),
            Datagram::SabulSyn => self.on_interval(io.now()),
            _ => {}
        }
    }

    fn on_wake(&mut self, io: &mut dyn Io) {
        let now = io.now();
        if self.expire_at.is_some_and(|at| at <= now) {
            self.on_expiry(io);
        }
        if self.send_at.is_none() {
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
        self.supply.is_exhausted() && self.acknowledged == self.next
    }

    fn sample(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("allowed_rate_bps", 8.0 * self.params.packet_size.0 as f64 / self.law.interval_s);
        out("in_flight_bytes", ((self.next - self.acknowledged) * self.params.packet_size.0) as f64);
        if let Some(rtt) = self.rtt {
            out("srtt_ns", rtt.0 as f64);
        }
        if self.capacity > 0.0 {
            out("path_capacity_bps", 8.0 * self.params.packet_size.0 as f64 * self.capacity);
        }
    }

    fn retune(&mut self, new: &Setting) {
        self.params = new.get();
    }

    fn report(&self, out: &mut dyn Metrics) {
        out.value("allowed_rate_bps", 8.0 * self.params.packet_size.0 as f64 / self.law.interval_s);
        out.value("retransmitted_packets", self.stats.retransmitted_packets as f64);
        out.value("loss_reports", self.stats.loss_reports as f64);
        out.value("rate_cuts", self.law.cuts as f64);
        out.value("no_feedback_expiries", self.stats.expiries as f64);
        out.value("refused_packets", self.supply.refused_packets as f64);
        out.histogram("rtt_ns", &self.stats.rtt_ns);
    }
}
