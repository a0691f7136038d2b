//! One end of a flow over UDP: a source, or what listens to it.

use crate::endpoint::{Arrivals, Milestone, Port};
use crate::workload::cbr::{Left, Source};
use crosswind_base::{Cx, EventKind, Packet, Time};
use crosswind_transport::udp::Receiver;

pub enum Half {
    Source(Box<Source>),
    Sink(Box<Receiver>),
}

pub struct Datagrams {
    pub half: Half,
    pub port: Port,
    pub start: Option<Time>,
    pub arrivals: Arrivals,
}

impl Datagrams {
    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        match &self.half {
            Half::Source(s) if self.start.is_none() => s.next_at,
            _ => self.start,
        }
    }

    pub fn take(&mut self, p: &Packet, now: Time) -> Option<Milestone> {
        let Half::Sink(rx) = &mut self.half else { return None };
        self.arrivals.packets += 1;
        self.arrivals.bytes += u64::from(p.len);
        if rx.on_datagram(p, now) {
            self.arrivals.delay_ns.record(now.since(p.sent_at).0);
            self.arrivals.counted_bytes += u64::from(p.len);
        }
        Some(Milestone::Arrived)
    }

    pub fn wake(&mut self, cx: &mut Cx<'_>) -> Option<Milestone> {
        let Half::Source(source) = &mut self.half else { return None };
        if self.start.take().is_some() {
            source.begin(cx.now);
            self.port.note(cx, EventKind::Open, &Packet::default());
            return Some(Milestone::Opened);
        }
        let (p, left) = source.send(cx.now);
        self.port.note(cx, EventKind::Send, &p);
        self.port.send(p, None, cx);
        if left == Left::Nothing {
            self.port.note(cx, EventKind::Close, &p);
        }
        (left == Left::Nothing).then_some(Milestone::Closed)
    }
}
