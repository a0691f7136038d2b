//! The receiver of UDT and SABUL: reports a hole at once and again while it lasts, and acknowledges at intervals.

use super::arrivals::{Arrivals, smoothed};
use super::packet::{Ack, control};
use super::params::{Again, Increase, UdtParams};
use super::ranges::{self, Ranges};
use crate::rate;
use crate::tcp::io::Io;
use crosswind_base::packet::{Datagram, Ext, SackList};
use crosswind_base::{Dur, Metrics, Packet, Setting, Time};
use std::collections::{BTreeMap, VecDeque};
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
/// Losses in a report of SABUL, each by its number in a packet of 1472 bytes with two numbers in front (gu-sabul).
const REPORTED: usize = 1472 / 4 - 2;
/// How often SABUL looks which losses to report again, and how soon it does at the earliest (gu-sabul).
const LOOKS: Dur = Dur::from_millis(20);

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
    /// The shortest round trip so far.
    shortest_rtt: Option<Dur>,
    /// How often the present losses have been reported, where all are reported together.
    reported: u64,
    /// When each was reported last, where each is reported for itself.
    reported_at: BTreeMap<u64, Time>,
    has_news: bool,
    /// Payload of what has arrived in order, and of each packet that has come behind a hole.
    delivered_bytes: u64,
    behind: BTreeMap<u64, u16>,
    /// When the next control interval is over, and when the next acknowledgement is due.
    ack_at: Option<Time>,
    ack_due: Time,
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
            shortest_rtt: None,
            reported: 0,
            reported_at: BTreeMap::new(),
            has_news: false,
            delivered_bytes: 0,
            behind: BTreeMap::new(),
            ack_at: None,
            ack_due: Time::ZERO,
            nak_at: None,
            stats: Stats::default(),
        }
    }

    fn on_data(&mut self, p: &Packet, io: &mut dyn Io) {
        let (number, now) = (p.seq, io.now());
        self.arrivals.note(number, u64::from(self.params.pair_every_packets), now);
        self.has_news = true;
        if number > self.next {
            self.notice(self.next, number - 1, io);
        }
        let is_new = number >= self.next;
        if is_new {
            self.next = number + 1;
        }
        if is_new || self.lost.remove(number) {
            self.reported_at.remove(&number);
            self.deliver(number, p.payload);
        }
        self.ack_at.get_or_insert(now + self.params.control_interval);
    }

    /// A packet has come for the first time.
    fn deliver(&mut self, number: u64, payload_bytes: u16) {
        let below = self.complete_below();
        if number >= below {
            self.behind.insert(number, payload_bytes);
            return;
        }
        self.delivered_bytes += u64::from(payload_bytes);
        while let Some((_, bytes)) = self.behind.first_entry().filter(|e| *e.key() < below).map(|e| e.remove_entry()) {
            self.delivered_bytes += u64::from(bytes);
        }
    }

    /// Numbers were left out.
    fn notice(&mut self, first: u64, last: u64, io: &mut dyn Io) {
        let now = io.now();
        self.stats.lost_packets += last - first + 1;
        match self.params.report_again {
            Again::Rounds => {
                self.report_losses(&[(first, last)], io);
                self.nak_at.get_or_insert(now + self.nak_wait());
            }
            Again::Each => {
                self.report_losses(&[(first, last.min(first + REPORTED as u64 - 1))], io);
                self.reported_at.extend((first..=last).map(|n| (n, now)));
                self.nak_at.get_or_insert(now + LOOKS);
            }
        }
        self.lost.insert(first, last);
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

    /// What is still lost, again.
    fn repeat_losses(&mut self, io: &mut dyn Io) {
        self.nak_at = None;
        if self.lost.is_empty() {
            self.reported = 0;
            return;
        }
        match self.params.report_again {
            Again::Rounds => self.repeat_all(io),
            Again::Each => self.repeat_each(io),
        }
    }

    /// All of it: after two round-trip times, three, four ..
    fn repeat_all(&mut self, io: &mut dyn Io) {
        self.reported += 1;
        self.nak_at = Some(io.now() + self.nak_wait().saturating_mul(2 + self.reported.min(14)));
        let all: Vec<(u64, u64)> = self.lost.iter().take(REPEATED).collect();
        self.report_losses(&all, io);
    }

    /// What has not been reported for one and a half round-trip times. Before the first of those nothing is.
    fn repeat_each(&mut self, io: &mut dyn Io) {
        let now = io.now();
        self.nak_at = Some(now + LOOKS);
        let Some(rtt) = self.shortest_rtt else { return };
        let wait = if rtt > LOOKS { Dur(rtt.0 / 2 * 3) } else { LOOKS };
        let old = self.reported_at.iter_mut().filter(|(_, at)| now.since(**at) > wait).take(REPORTED);
        let due = ranges::of(old.map(|(n, at)| {
            *at = now;
            *n
        }));
        self.report_losses(&due, io);
    }

    /// A control interval is over.
    fn on_interval(&mut self, io: &mut dyn Io) {
        let now = io.now();
        if now >= self.ack_due || self.needs_rtt() {
            self.ack_due = now + self.params.ack_interval;
            self.acknowledge(io);
        }
        if self.params.increase == Increase::Rate && self.has_news {
            io.send(control(Datagram::SabulSyn, 4, now), None);
        }
        // Nothing has come and nothing is open: the timer rests until the next packet.
        let is_open = self.acknowledged > self.confirmed || self.complete_below() > self.acknowledged;
        let goes_on = self.has_news || !self.lost.is_empty() || is_open;
        self.ack_at = goes_on.then_some(now + self.params.control_interval);
        self.has_news = false;
    }

    /// Answers to acknowledgements are lost as data is: they go on until one comes.
    fn needs_rtt(&self) -> bool {
        self.params.report_again == Again::Each && self.shortest_rtt.is_none()
    }

    /// Everything below this has come.
    fn complete_below(&self) -> u64 {
        self.lost.first().unwrap_or(self.next)
    }

    fn acknowledge(&mut self, io: &mut dyn Io) {
        let now = io.now();
        let below = self.complete_below();
        let is_unconfirmed = self.acknowledged > self.confirmed
            && now.since(self.acknowledged_at) > self.rtt.unwrap_or(Dur::from_secs(1)).saturating_mul(2);
        if below <= self.acknowledged && !is_unconfirmed && !self.needs_rtt() {
            return;
        }
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

    fn on_answer(&mut self, number: u64, now: Time) {
        while let Some((n, below, at)) = self.unanswered.front().copied().filter(|u| u.0 <= number) {
            self.unanswered.pop_front();
            if n == number {
                let sample = now.since(at);
                self.rtt = Some(smoothed(self.rtt, sample));
                self.shortest_rtt = Some(self.shortest_rtt.map_or(sample, |least| least.min(sample)));
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
            self.on_interval(io);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        [self.ack_at, self.nak_at].into_iter().flatten().min()
    }

    fn sample(&self, _out: &mut dyn FnMut(&'static str, f64)) {}

    fn delivered(&self) -> Option<u64> {
        Some(self.delivered_bytes)
    }

    fn retune(&mut self, new: &Setting) {
        self.params = new.get();
    }

    fn report(&self, out: &mut dyn Metrics) {
        out.value("reported_losses_packets", self.stats.lost_packets as f64);
        out.value("feedback_packets", (self.stats.acks + self.stats.naks) as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::Receiver as _;
    use crate::tcp::share::Cache;
    use crate::udt::params::preset;
    use crosswind_base::EventKind;
    use crosswind_base::packet::Proto;

    /// Collects reports: when, and which ranges.
    #[derive(Default)]
    struct Ear {
        now: Time,
        heard: Vec<(u64, Vec<(u64, u64)>)>,
    }

    impl Io for Ear {
        fn now(&self) -> Time {
            self.now
        }
        fn send(&mut self, p: Packet, ext: Option<Ext>) {
            if let (Datagram::UdtNak, Some(e)) = (Datagram::of(&p), ext) {
                self.heard.push((self.now.0 / 1_000_000, e.sack.as_slice().to_vec()));
            }
        }
        fn note(&mut self, _: EventKind, _: u64, _: u32, _: u32) {}
        fn shared(&mut self) -> Option<&mut Cache> {
            None
        }
    }

    /// What is reported when packets 5, 6 and 9 of 20 are lost, one a millisecond, and 6 comes after 80 ms. An ACK is
    /// answered after 60 ms.
    fn reports(name: &str) -> Vec<(u64, Vec<(u64, u64)>)> {
        let (mut rx, mut io) = (Receiver::new(Arc::new(preset(name).unwrap())), Ear::default());
        let data =
            |seq| Packet { seq, len: 1500, payload: 1468, proto: Proto::Udp(Datagram::UdtData), ..Packet::default() };
        for ms in 0..300 {
            io.now = Time(ms * 1_000_000);
            if ms < 20 && ![5, 6, 9].contains(&ms) {
                rx.on_packet(&data(ms), &mut io);
            }
            if ms == 70 {
                rx.on_packet(&Packet { seq: 0, ..control(Datagram::UdtAck2, 0, io.now) }, &mut io);
            }
            if ms == 80 {
                rx.on_packet(&data(6), &mut io);
            }
            while rx.next_wake().is_some_and(|at| at <= io.now) {
                rx.on_wake(&mut io);
            }
        }
        io.heard
    }

    #[test]
    fn sabul_reports_each_loss_again_after_one_and_a_half_round_trips_and_udt_all_at_once() {
        let first = [(7, vec![(5, 6)]), (10, vec![(9, 9)])];
        // Looked up at 27, 47, 67 ..: 90 ms after 7 and 10 ms both are due at 107 ms, and again at 207 ms.
        let each = [(107, vec![(5, 5), (9, 9)]), (207, vec![(5, 5), (9, 9)])];
        assert_eq!(reports("sabul-2.2"), [first.clone(), each].concat());
        // 100 ms after 7 ms, when no round trip was known; 180 ms later, when it was.
        let all = [(107, vec![(5, 5), (9, 9)]), (287, vec![(5, 5), (9, 9)])];
        assert_eq!(reports("udt-2"), [first, all].concat());
    }
}
