//! The receiver of TFRC: losses, loss events, the receive rate, and when to report (RFC 5348 section 6).

use super::equation::{Formula, PathTimes};
use super::history::LossHistory;
use super::losses::{Arrived, Known, Losses};
use super::packet::{Data, Feedback, is_later_round};
use super::params::{EventClock, FeedbackClock, FirstInterval, Notice, RateLaw, TfrcParams};
use crate::rate;
use crate::tcp::io::Io;
use crosswind_base::{Dur, Ecn, EventKind, Metrics, Packet, Setting, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// The last data packet, as a report speaks of it.
#[derive(Clone, Copy, Debug)]
struct Last {
    fields: Data,
    at: Time,
    sent_at: Time,
}

/// Packets and bytes that came, and when.
#[derive(Clone, Debug, Default)]
struct Received {
    /// Of the last round-trip time.
    recent: VecDeque<(Time, u32)>,
    bytes_since_report: u64,
    reported_at: Time,
    /// The largest rate that a report told of.
    best: f64,
}

/// How a period of reports about a new link goes on.
#[derive(Clone, Copy, Debug)]
struct Notified {
    which: usize,
    reports_left: u32,
}

/// What the world may read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    pub loss_events: u64,
    pub lost_packets: u64,
    pub reports: u64,
}

pub struct Receiver {
    params: Arc<TfrcParams>,
    formula: Formula,
    losses: Losses,
    history: LossHistory,
    /// When the last loss event began (by the clock of the parameters), the round of it, and the number of its first packet.
    event: Option<(Time, u16)>,
    event_number: u64,
    last: Option<Last>,
    received: Received,
    lost_since_report: u32,
    /// `p` of the last report.
    p: f64,
    report_at: Option<Time>,
    notices_seen: usize,
    notified: Option<Notified>,
    pub stats: Stats,
}

impl Receiver {
    pub fn new(params: Arc<TfrcParams>) -> Receiver {
        Receiver {
            formula: Formula::new(&params),
            losses: Losses::new(params.dupthresh, params.early_losses.on()),
            history: LossHistory::new(&params),
            params,
            event: None,
            event_number: 0,
            last: None,
            received: Received::default(),
            lost_since_report: 0,
            p: 0.0,
            report_at: None,
            notices_seen: 0,
            notified: None,
            stats: Stats::default(),
        }
    }

    fn rtt(&self) -> Dur {
        self.last.map_or(Dur::ZERO, |l| l.fields.rtt)
    }

    fn path(&self) -> PathTimes {
        let f = self.last.map(|l| l.fields);
        PathTimes { rtt_s: f.map_or(0.0, |f| f.rtt.as_secs_f64()), t_rto_s: f.map_or(0.0, |f| f.t_rto.as_secs_f64()) }
    }

    /// Adds a packet to what has come. Whether it begins a loss event.
    fn take_in(&mut self, p: &Packet, fields: Data, now: Time) -> bool {
        let sent = now - rate::since_stamp(now, fields.stamp);
        let a = Arrived { number: fields.number, at: now, sent, is_marked: p.ecn() == Ecn::Ce };
        let before = self.losses.highest;
        let mut losses = std::mem::replace(&mut self.losses, Losses::new(0, true));
        let mut is_event = false;
        let is_new = losses.arrive(a, |known| {
            let (a, is_lost) = match known {
                Known::Came(a) if !a.is_marked => return,
                Known::Came(a) => (a, false),
                Known::Lost(a) => (a, true),
            };
            self.stats.lost_packets += u64::from(is_lost);
            self.lost_since_report += 1;
            is_event |= self.begins_event(a, fields);
        });
        self.losses = losses;
        if is_new && (self.losses.highest > before || before.is_none()) {
            self.last = Some(Last { fields, at: now, sent_at: p.sent_at });
        }
        if is_event && self.history.is_empty() {
            self.first_event(now);
        }
        is_event
    }

    /// Whether a lost or marked packet begins a new loss event (RFC 5348 section 5.2).
    fn begins_event(&mut self, a: Arrived, fields: Data) -> bool {
        let at = if self.params.event_clock == EventClock::Sent { a.sent } else { a.at };
        if let Some((begin, round)) = self.event {
            let is_apart = at > begin + fields.rtt;
            let is_answered = !self.params.event_per_round.on() || is_later_round(fields.round, round);
            if !is_apart || !is_answered {
                return false;
            }
            self.history.close((a.number - self.event_number) as f64);
        }
        self.event = Some((at, fields.round));
        self.event_number = a.number;
        self.stats.loss_events += 1;
        true
    }

    /// The first loss: there is no interval yet, so one is made up (RFC 5348 section 6.3.1).
    fn first_event(&mut self, now: Time) {
        let counted = self.event_number.max(1) as f64;
        let path = self.path();
        let mut rate = self.receive_rate(now);
        if self.params.law == RateLaw::Rfc5348 {
            // The largest so far, and half a packet per round-trip time at least, or if the very first packet was lost.
            let least = if path.rtt_s > 0.0 { 0.5 * self.params.packet_size.0 as f64 / path.rtt_s } else { 0.0 };
            let has_interval = self.event_number > 0;
            rate = if has_interval { rate.max(self.received.best).max(least) } else { least };
        }
        let interval = match self.params.seed {
            _ if rate <= 0.0 || path.rtt_s <= 0.0 => counted,
            FirstInterval::Counted => counted,
            FirstInterval::Equation => 1.0 / self.formula.loss_event_rate(rate, path),
            FirstInterval::EquationCut => (1.0 / self.formula.loss_event_rate(rate, path)).floor(),
        };
        self.history.seed(interval.max(1.0));
        if self.params.feedback_clock == FeedbackClock::Arrivals {
            // ns-2 dates the first loss event from the packet that showed it.
            let sent = self.last.map_or(now, |l| now - rate::since_stamp(now, l.fields.stamp));
            let round = self.last.map_or(0, |l| l.fields.round);
            self.event = Some((sent, round));
        }
    }

    /// Bytes per second: since the last report, or over the last round-trip time when that is longer (RFC 3448) or always.
    fn receive_rate(&self, now: Time) -> f64 {
        let rtt = self.rtt();
        let since = now.since(self.received.reported_at);
        if rtt == Dur::ZERO {
            return 0.0;
        }
        if since >= rtt && self.params.law != RateLaw::Rfc5348 {
            return self.received.bytes_since_report as f64 / since.as_secs_f64();
        }
        let bytes: u64 =
            self.received.recent.iter().filter(|(at, _)| *at + rtt > now).map(|(_, b)| u64::from(*b)).sum();
        bytes as f64 / rtt.as_secs_f64()
    }

    fn count(&mut self, bytes: u16, rtt: Dur, now: Time) {
        let r = &mut self.received;
        r.bytes_since_report += u64::from(bytes);
        r.recent.push_back((now, u32::from(bytes)));
        while r.recent.front().is_some_and(|(at, _)| *at + rtt <= now) {
            r.recent.pop_front();
        }
    }

    fn measured_p(&mut self) -> f64 {
        self.history.open = self.losses.highest.map_or(0, |h| h.saturating_sub(self.event_number));
        self.history.mean().map_or(0.0, |mean| 1.0 / mean)
    }

    fn wait(&self) -> Dur {
        Dur((self.rtt().0 / u64::from(self.params.feedback_per_rtt)).max(1000))
    }

    /// Sends a report of what was measured.
    fn report(&mut self, io: &mut dyn Io) {
        let receive_rate = self.receive_rate(io.now());
        let loss_event_rate = self.measured_p();
        self.send(receive_rate, loss_event_rate, io);
    }

    fn send(&mut self, receive_rate: f64, loss_event_rate: f64, io: &mut dyn Io) {
        let Some(last) = self.last else { return };
        let now = io.now();
        self.p = loss_event_rate;
        self.received.best = self.received.best.max(receive_rate);
        let f = Feedback {
            number: self.stats.reports,
            echo: last.fields.stamp,
            delay: now.since(last.at),
            receive_rate,
            lost_packets: self.lost_since_report,
            loss_event_rate,
        };
        let mut p = f.write(last.sent_at, now);
        p.len = self.params.feedback_size.0 as u16;
        self.stats.reports += 1;
        self.lost_since_report = 0;
        self.received.bytes_since_report = 0;
        self.received.reported_at = now;
        let wait = match self.params.feedback_clock {
            FeedbackClock::Timer => self.wait(),
            FeedbackClock::Arrivals => self.wait().mul_f64(1.5),
        };
        self.report_at = (self.rtt() > Dur::ZERO).then_some(now + wait);
        io.note(EventKind::Ack, f.number, 0, 0);
        io.send(p, None);
    }

    fn is_due(&self, fields: Data, is_event: bool, now: Time) -> bool {
        match self.params.feedback_clock {
            FeedbackClock::Timer => is_event || self.stats.reports == 0,
            FeedbackClock::Arrivals => {
                let has_waited = fields.rtt > Dur::ZERO && now.since(self.received.reported_at) >= self.wait();
                is_event || fields.is_urgent || has_waited
            }
        }
    }

    /// The timer expires. Without data since the last report there is none; the timer keeps its beat.
    fn on_timer(&mut self, io: &mut dyn Io) {
        self.report_at = None;
        if self.received.bytes_since_report > 0 {
            self.report(io);
        }
    }

    fn notice(&self) -> Option<&Notice> {
        self.params.notify.get(self.notices_seen)
    }

    /// A report about the new link, and what follows the last one.
    fn report_new_link(&mut self, n: Notified, io: &mut dyn Io) {
        let notice = &self.params.notify[n.which];
        let (rtt, resets) = (notice.rtt, notice.reset.on());
        let rate = notice.rate.as_f64() / 8.0;
        let path = self.path();
        let p = if path.rtt_s > 0.0 { self.formula.loss_event_rate(rate, path) } else { 0.0 };
        if n.reports_left == 0 {
            self.notified = None;
            if resets {
                self.received.recent.clear();
                self.history.seed((1.0 / p).max(1.0));
                self.event_number = self.losses.highest.unwrap_or(0);
                self.event = Some((io.now(), self.last.map_or(0, |l| l.fields.round)));
            }
            self.received.bytes_since_report = 0;
            self.received.reported_at = io.now();
            self.report_at = Some(io.now() + rtt);
            return;
        }
        self.send(rate, p, io);
        self.notified = Some(Notified { reports_left: n.reports_left - 1, ..n });
        self.report_at = Some(io.now() + rtt);
    }
}

impl rate::Receiver for Receiver {
    fn on_packet(&mut self, p: &Packet, io: &mut dyn Io) {
        let fields = Data::read(p);
        let now = io.now();
        while self.last.is_none() && self.notice().is_some_and(|n| n.at.0 <= now.0) {
            self.notices_seen += 1;
        }
        self.count(p.len, fields.rtt, now);
        let is_event = self.take_in(p, fields, now);
        if self.notified.is_some() {
            return;
        }
        if self.is_due(fields, is_event, now) {
            self.report(io);
        } else if self.report_at.is_none() && self.params.feedback_clock == FeedbackClock::Timer {
            if self.params.law == RateLaw::Rfc5348 {
                return self.report(io);
            }
            // The timer went on while nothing came: its next beat.
            let wait = self.wait();
            let beats = now.since(self.received.reported_at).0.div_ceil(wait.0).max(1);
            self.report_at = Some(self.received.reported_at + wait.saturating_mul(beats));
        }
    }

    fn on_wake(&mut self, io: &mut dyn Io) {
        let now = io.now();
        if self.notice().is_some_and(|n| n.at.0 <= now.0) {
            let which = self.notices_seen;
            self.notices_seen += 1;
            let reports_left = self.params.notify[which].for_rtts;
            if self.last.is_some() {
                self.report_new_link(Notified { which, reports_left }, io);
            }
            return;
        }
        if self.report_at.is_some_and(|at| at <= now) {
            match self.notified {
                Some(n) => self.report_new_link(n, io),
                None => self.on_timer(io),
            }
        }
    }

    fn next_wake(&self) -> Option<Time> {
        // A notice without a flow to report on is nobody's business.
        let notice = self.notice().filter(|_| self.last.is_some()).map(|n| Time(n.at.0));
        [self.report_at, notice].into_iter().flatten().min()
    }

    fn sample(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("loss_event_ratio", self.p);
    }

    fn retune(&mut self, new: &Setting) {
        let params: Arc<TfrcParams> = new.get();
        self.formula = Formula::new(&params);
        self.history.retune(&params);
        self.params = params;
    }

    fn report(&self, out: &mut dyn Metrics) {
        out.value("loss_events", self.stats.loss_events as f64);
        out.value("reported_losses_packets", self.stats.lost_packets as f64);
        out.value("feedback_packets", self.stats.reports as f64);
        out.value("loss_event_ratio", self.p);
    }
}
