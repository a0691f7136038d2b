//! The receiver of UDT and SABUL: reports a hole at once and again while it lasts, and acknowledges once per control
//! interval.

use super::arrivals::Arrivals;
use super::packet::{Ack, control};
use super::params::{Increase, UdtParams};
use super::ranges::Ranges;
use super::smoothed;
use crate::rate::{self, Tuning};
use crate::tcp::Io;
use crosswind_base::packet::{Datagram, Ext, SackList};
use crosswind_base::{Dur, Metrics, Packet, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// What the world may read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    pub acks: u64,
    pub naks: u64,
    pub lost_packets: u64,
}

/// ACKs that wait for their answer, for the round-trip time.
const UNANSWERED: usize = 1024;
/// Ranges that one NAK holds.
const RANGES: usize = 4;
/// Losses that are reported again at a time: what a NAK of 1500 bytes holds when each is a single packet (gu-udt-ns2).
const REPEATED: usize = 91 * RANGES;

pub struct Receiver {
    params: Arc<UdtParams>,
    arrivals: Arrivals,
    lost: Ranges,
    /// Number behind the highest packet.
    next: u64,
    /// What the last ACK acknowledged, when it was sent, and what the sender has confirmed of that.
    acknowledged: u64,
    acknowledged_at: Time,
    confirmed: u64,
    unanswered: VecDeque<(u64, u64, Time)>,
    rtt: Option<Dur>,
    /// How often the present losses have been reported.
    reported: u64,
    has_news: bool,
    ack_at: Option<Time>,
    nak_at: Option<Time>,
    pub stats: Stats,
}

impl Receiver {
    pub fn new(params: Arc<UdtParams>) -> Receiver {
        Receiver {
            params,
            arrivals: Arrivals::default(),
            lost: Ranges::default(),
            next: 0,
            acknowledged: 0,
            acknowledged_at: Time::ZERO,
            confirmed: 0,
            unanswered: VecDeque::new(),
            rtt: None,
            reported: 0,
            has_news: false,
            ack_at: None,
            nak_at: None,
            stats: Stats::default(),
        }
    }

    fn on_data(&mut self, p: &Packet, io: &mut dyn Io) {
        let (number, now) = (p.seq, io.now());
        self.arrivals.note(number, u64::from(self.params.pair_every_packets), now);
        self.has_news = true;
        if number > self.next {
            let last = number - 1;
            self.stats.lost_packets += number - self.next;
            self.report_losses(&[(self.next, last)], io);
            self.lost.insert(self.next, last);
            self.nak_at.get_or_insert(now + self.nak_wait());
        }
        if number >= self.next {
            self.next = number + 1;
        } else {
            self.lost.remove(number);
        }
        self.ack_at.get_or_insert(now + self.params.control_interval);
    }

    fn nak_wait(&self) -> Dur {
        self.rtt.unwrap_or(Dur::from_millis(100)).max(self.params.control_interval)
    }

    /// Sends ranges in as many NAKs as they need.
    fn report_losses(&mut self, ranges: &[(u64, u64)], io: &mut dyn Io) {
        for (i, some) in ranges.chunks(RANGES).enumerate() {
            let mut sack = SackList::EMPTY;
            some.iter().for_each(|r| {
                sack.push(r.0, r.1);
            });
            let mut p = control(Datagram::UdtNak, 8 * some.len() as u16, io.now());
            p.ack = i as u64;
            self.stats.naks += 1;
            io.send(p, Some(Ext { sack, ..Ext::default() }));
        }
    }

    /// Everything that is still lost, again: after two round-trip times, three, four ..
    fn repeat_losses(&mut self, io: &mut dyn Io) {
        let now = io.now();
        self.nak_at = None;
        if self.lost.is_empty() {
            self.reported = 0;
            return;
        }
        self.reported += 1;
        self.nak_at = Some(now + self.nak_wait().saturating_mul(2 + self.reported.min(14)));
        let all: Vec<(u64, u64)> = self.lost.iter().take(REPEATED).collect();
        self.report_losses(&all, io);
    }

    fn acknowledge(&mut self, io: &mut dyn Io) {
        let now = io.now();
        let below = self.lost.first().unwrap_or(self.next);
        let is_new = below > self.acknowledged;
        let is_unconfirmed = self.acknowledged > self.confirmed
            && now.since(self.acknowledged_at) > self.rtt.unwrap_or(Dur::from_secs(1)).saturating_mul(2);
        if is_new || is_unconfirmed {
            self.acknowledged = below;
            self.acknowledged_at = now;
            let ack = Ack {
                number: self.stats.acks,
                below,
                rtt: self.rtt.unwrap_or(Dur::ZERO),
                arrival_rate: self.arrivals.rate(),
                capacity: self.arrivals.capacity(),
            };
            if self.unanswered.len() == UNANSWERED {
                self.unanswered.pop_front();
            }
            self.unanswered.push_back((ack.number, below, now));
            self.stats.acks += 1;
            io.send(ack.write(now), None);
        }
        if self.params.increase == Increase::Rate && self.has_news {
            io.send(control(Datagram::SabulSyn, 4, now), None);
        }
        // Nothing has come and nothing is open: the timer rests until the next packet.
        let goes_on = self.has_news || !self.lost.is_empty() || self.acknowledged > self.confirmed;
        self.ack_at = goes_on.then_some(now + self.params.control_interval);
        self.has_news = false;
    }

    fn on_answer(&mut self, number: u64, now: Time) {
        while let Some((n, below, at)) = self.unanswered.front().copied().filter(|u| u.0 <= number) {
            self.unanswered.pop_front();
            if n == number {
                let sample = now.since(at);
                self.rtt = Some(smoothed(self.rtt, sample));
                self.confirmed = self.confirmed.max(below);
            }
        }
    }
}

impl rate::Receiver for Receiver {
    fn on_packet(&mut self, p: &Packet, io: &mut dyn Io) {
        match Datagram::of(p) {
            Datagram::UdtData => self.on_data(p, io),
            Datagram::UdtAck2 => self.on_answer(p.seq, io.now()),
            _ => {}
        }
    }

    fn on_wake(&mut self, io: &mut dyn Io) {
        let now = io.now();
        if self.nak_at.is_some_and(|at| at <= now) {
            self.repeat_losses(io);
        }
        if self.ack_at.is_some_and(|at| at <= now) {
            self.acknowledge(io);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        [self.ack_at, self.nak_at].into_iter().flatten().min()
    }

    fn sample(&self, _out: &mut dyn FnMut(&'static str, f64)) {}

    fn retune(&mut self, new: &Tuning) {
        if let Tuning::Udt(params) = new {
            self.params = params.clone();
        }
    }

    fn report(&self, out: &mut dyn Metrics) {
        out.value("reported_losses_packets", self.stats.lost_packets as f64);
        out.value("feedback_packets", (self.stats.acks + self.stats.naks) as f64);
    }
}
