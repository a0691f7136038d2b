//! One end of a flow over UDP: a source, a rate-based transport, or what listens to them.

use crate::endpoint::{Arrivals, EndIo, Milestone, Port};
use crate::host_queue::HostQueue;
use crate::paced::{Listener, Paced};
use crate::scenario::OfFlow;
use crate::workload::cbr::{Left, Source};
use crosswind_base::packet::{Datagram, Ext, Meta};
use crosswind_base::{Cx, Dur, EventKind, Histogram, LinearHistogram, Packet, Time};
use crosswind_transport::tcp::Io;
use crosswind_transport::tcp::share::Cache;
use crosswind_transport::udp::{self, Receiver};

pub enum Half {
    Source(Box<Source>),
    Sink(Box<Receiver>),
    Paced(Box<Paced>),
    Listener(Box<Listener>),
}

impl Half {
    /// What is measured of the data, at the end that receives it.
    pub fn heard(&self) -> Option<&Receiver> {
        match self {
            Half::Sink(r) => Some(r),
            Half::Listener(l) => Some(&l.heard),
            Half::Source(_) | Half::Paced(_) => None,
        }
    }
    fn heard_mut(&mut self) -> Option<&mut Receiver> {
        match self {
            Half::Sink(r) => Some(r),
            Half::Listener(l) => Some(&mut l.heard),
            Half::Source(_) | Half::Paced(_) => None,
        }
    }
    pub fn opened_at(&self) -> Option<Time> {
        match self {
            Half::Source(s) => s.opened_at,
            Half::Paced(p) => p.opened_at,
            Half::Sink(_) | Half::Listener(_) => None,
        }
    }
    pub fn closed_at(&self) -> Option<Time> {
        match self {
            Half::Source(s) => s.closed_at,
            Half::Paced(p) => p.closed_at,
            Half::Sink(_) | Half::Listener(_) => None,
        }
    }
}

pub struct Datagrams {
    pub half: Half,
    pub port: Port,
    /// What waits in the sending host, where that is modelled.
    pub host: Option<Box<HostQueue>>,
    pub start: Option<Time>,
    pub arrivals: Arrivals,
    /// How long packets have waited in queues that say so; only for flows with limits.
    pub waits: Option<Box<Waits>>,
    /// What arrives is answered with as much.
    pub answers: bool,
    /// From each question to its answer, at the end that asks.
    pub rtt_ns: Histogram,
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
        if self.start.is_some() {
            return self.start;
        }
        let own = match &self.half {
            Half::Source(s) => s.next_at,
            Half::Paced(p) => p.next_wake(),
            Half::Listener(l) => l.transport.next_wake(),
            Half::Sink(_) => None,
        };
        match &self.host {
            Some(host) => own.map(|at| at.max(host.room_at())),
            None => own,
        }
    }

    /// What has been sent since then is in the host.
    fn fill_host(&mut self, before: (u64, u64), now: Time) {
        if let Some(host) = &mut self.host {
            host.take(self.port.sent_packets - before.0, self.port.sent_bytes - before.1, now);
        }
    }

    /// New parameters from the timeline.
    pub fn retune(&mut self, new: &OfFlow) {
        match (&mut self.half, &new.paced) {
            (Half::Source(source), _) => {
                if let Some(w) = &new.workload {
                    source.go_on_as(&w.now);
                }
            }
            (Half::Paced(p), _) => p.retune(new),
            (Half::Listener(l), Some(params)) => l.transport.retune(params),
            (Half::Listener(_) | Half::Sink(_), _) => {}
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

    /// Whether what stands beside a packet matters to it.
    #[inline]
    pub fn reads_options(&self) -> bool {
        matches!(self.half, Half::Paced(_))
    }

    pub fn take(&mut self, p: &Packet, ext: Option<&Ext>, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        self.arrivals.packets += 1;
        self.arrivals.bytes += u64::from(p.len);
        if let Half::Paced(paced) = &mut self.half {
            let before = (self.port.sent_packets, self.port.sent_bytes);
            let told = paced.take(p, ext, &mut EndIo::new(cx, caches, &mut self.port));
            self.fill_host(before, cx.now);
            return told;
        }
        let is_data = matches!(self.half, Half::Sink(_)) || Datagram::of(p).is_data();
        let Some(rx) = self.half.heard_mut() else {
            self.arrivals.delay_ns.record(cx.now.since(p.sent_at).0);
            self.rtt_ns.record(cx.now.since(p.cause).0);
            return None;
        };
        let is_new = is_data && rx.on_datagram(p, cx.now);
        if let Some(f) = self.arrivals.freshness.as_mut().filter(|_| is_new) {
            f.judge(p, cx.now);
        }
        if is_new {
            self.arrivals.delay_ns.record(cx.now.since(p.sent_at).0);
            self.arrivals.counted_bytes += u64::from(p.len);
        }
        if let Half::Listener(l) = &mut self.half {
            l.transport.on_packet(p, &mut EndIo::new(cx, caches, &mut self.port));
        }
        cx.datagram_arrived(p.flow);
        None
    }

    /// Sends the answer to a datagram.
    pub fn answer(&mut self, p: &Packet, cx: &mut Cx<'_>) {
        let len = p.payload + udp::HEADERS_BYTES;
        let reply = Packet { sent_at: cx.now, cause: p.sent_at, len, meta: Meta::default(), ext: 0, ..*p };
        self.port.note(cx, EventKind::Send, &reply);
        self.port.send(reply, None, cx);
    }

    pub fn wake(&mut self, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        let before = (self.port.sent_packets, self.port.sent_bytes);
        let told = self.act(cx, caches);
        self.fill_host(before, cx.now);
        told
    }

    /// The start, or what is due.
    fn act(&mut self, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        let is_start = self.start.take().is_some();
        let source = match &mut self.half {
            Half::Source(source) => source,
            Half::Paced(p) => {
                let mut io = EndIo::new(cx, caches, &mut self.port);
                if is_start {
                    io.note(EventKind::Open, 0, 0, 0);
                }
                return if is_start { Some(p.open(&mut io)) } else { p.wake(&mut io) };
            }
            Half::Listener(l) => {
                l.transport.on_wake(&mut EndIo::new(cx, caches, &mut self.port));
                return None;
            }
            Half::Sink(_) => return None,
        };
        if is_start {
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
