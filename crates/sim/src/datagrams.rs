//! One end of a flow over UDP: a source, or what listens to it.

use crate::endpoint::{Arrivals, Milestone, Port};
use crate::workload::cbr::{Left, Source};
use crosswind_base::packet::{Ext, Meta};
use crosswind_base::{Cx, Dur, EventKind, LinearHistogram, Packet, Time};
use crosswind_transport::udp::{self, Receiver};

pub enum Half {
    Source(Box<Source>),
    Sink(Box<Receiver>),
}

pub struct Datagrams {
    pub half: Half,
    pub port: Port,
    pub start: Option<Time>,
    pub arrivals: Arrivals,
    /// How long packets have waited in queues that say so; only for flows with limits.
    pub waits: Option<Box<Waits>>,
    /// What arrives is answered with as much.
    pub answers: bool,
}

/// Sums of the waits that queues have noted in the packets of a flow.
pub struct Waits {
    limits: Vec<Dur>,
    /// How many packets exceeded each limit.
    late: Vec<u64>,
    /// All of them, where histograms are wanted.
    sums_ns: Option<LinearHistogram>,
}

/// A sum of waits is known to this many nanoseconds.
const WAIT_RESOLUTION_NS: u32 = 80_000;

impl Waits {
    /// `None` without limits. `is_recorded`: whether a histogram is wanted.
    pub fn new(limits: &[Dur], is_recorded: Recorded) -> Option<Box<Waits>> {
        let sums_ns = (is_recorded == Recorded::Yes).then(|| LinearHistogram::new(WAIT_RESOLUTION_NS));
        let waits = Waits { limits: limits.to_vec(), late: vec![0; limits.len()], sums_ns };
        (!limits.is_empty()).then(|| Box::new(waits))
    }

    fn note(&mut self, sum: Dur) {
        for (n, limit) in self.late.iter_mut().zip(&self.limits) {
            *n += u64::from(sum > *limit);
        }
        if let Some(h) = &mut self.sums_ns {
            h.record(sum.0 as i64);
        }
    }
}

/// Whether a histogram is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recorded {
    Yes,
    No,
}

impl Datagrams {
    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        match &self.half {
            Half::Source(s) if self.start.is_none() => s.next_at,
            _ => self.start,
        }
    }

    /// How many packets exceeded each limit of waiting.
    pub fn late(&self) -> &[u64] {
        self.waits.as_ref().map_or(&[], |w| &w.late)
    }

    pub fn waited(&self) -> Option<&LinearHistogram> {
        self.waits.as_ref()?.sums_ns.as_ref()
    }

    /// Notes how long a packet that arrives has waited.
    pub fn note_wait(&mut self, sum: Option<Dur>) {
        if let (Some(waits), Some(sum)) = (&mut self.waits, sum) {
            waits.note(sum);
        }
    }

    pub fn take(&mut self, p: &Packet, now: Time) -> Option<Milestone> {
        self.arrivals.packets += 1;
        self.arrivals.bytes += u64::from(p.len);
        let Half::Sink(rx) = &mut self.half else {
            self.arrivals.delay_ns.record(now.since(p.sent_at).0);
            return None;
        };
        let is_new = rx.on_datagram(p, now);
        if let Some(f) = self.arrivals.freshness.as_mut().filter(|_| is_new) {
            f.judge(p, now);
        }
        if is_new {
            self.arrivals.delay_ns.record(now.since(p.sent_at).0);
            self.arrivals.counted_bytes += u64::from(p.len);
        }
        Some(Milestone::Arrived)
    }

    /// Sends the answer to a datagram.
    pub fn answer(&mut self, p: &Packet, cx: &mut Cx<'_>) {
        let len = p.payload + udp::HEADERS_BYTES;
        let reply = Packet { sent_at: cx.now, cause: p.sent_at, len, meta: Meta::default(), ext: 0, ..*p };
        self.port.note(cx, EventKind::Send, &reply);
        self.port.send(reply, None, cx);
    }

    pub fn wake(&mut self, cx: &mut Cx<'_>) -> Option<Milestone> {
        let Half::Source(source) = &mut self.half else { return None };
        if self.start.take().is_some() {
            source.begin(cx.now);
            self.port.note(cx, EventKind::Open, &Packet::default());
            return Some(Milestone::Opened);
        }
        self.port.object_began(source.burst_began);
        let (p, left) = source.send(cx.now);
        self.port.note(cx, EventKind::Send, &p);
        let option = self.waits.is_some().then(Ext::default);
        self.port.send(p, option, cx);
        if left == Left::Nothing {
            self.port.note(cx, EventKind::Close, &p);
        }
        (left == Left::Nothing).then_some(Milestone::Closed)
    }
}
