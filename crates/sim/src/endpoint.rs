//! An endpoint: one end of a flow, a TCP connection and the application on top of it.

use crate::workload::App;
use crosswind_base::packet::{Ext, Meta};
use crosswind_base::{Cx, End, EventKind, FlowId, Histogram, Packet, PacketId, Time, Vantage};
use crosswind_transport::tcp::share::Cache;
use crosswind_transport::tcp::{CloseRule, Connection, Io, TcpParams};
use std::sync::Arc;

/// Something that happened to a flow and that the world keeps count of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Milestone {
    Opened,
    Closed,
}

/// What the world may read of what arrived at an endpoint.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    pub packets: u64,
    pub bytes: u64,
    /// Packets sent again although their bytes had arrived.
    pub unnecessary_resends: u64,
    /// One-way delay of packets with payload.
    pub delay_ns: Histogram,
    /// Bytes with headers, without retransmissions of what was first sent before `count_from`.
    pub counted_bytes: u64,
    pub count_from: u64,
}

pub struct Endpoint {
    pub conn: Connection,
    pub app: App,
    pub port: Port,
    /// When the application starts; `None` once it has, or at the end that only answers.
    start: Option<Time>,
    pub arrivals: Arrivals,
}

/// Where an endpoint meets the network, and what it has sent.
pub struct Port {
    flow: FlowId,
    seen: Vantage,
    /// First entry of this endpoint's route in the driver's table.
    route: u32,
    pub sent_packets: u64,
    pub sent_bytes: u64,
}

/// What tells one end from the other.
pub struct Setup {
    pub flow: FlowId,
    pub seen: Vantage,
    pub route: u32,
    pub start: Option<Time>,
    pub peer: u32,
}

impl Endpoint {
    pub fn new(params: Arc<TcpParams>, app: App, s: Setup) -> Endpoint {
        let rule = if s.seen == Vantage::Sender { CloseRule::ByApplication } else { CloseRule::WithPeer };
        Endpoint {
            conn: Connection::new(params, s.peer, rule),
            app,
            port: Port { flow: s.flow, seen: s.seen, route: s.route, sent_packets: 0, sent_bytes: 0 },
            start: s.start,
            arrivals: Arrivals::default(),
        }
    }

    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        if self.start.is_some() { self.start } else { self.conn.next_wake() }
    }

    #[inline]
    pub fn accept(&mut self, id: PacketId, cx: &mut Cx<'_>, cache: &mut Cache) -> Option<Milestone> {
        let p = *cx.packet(id);
        let ext = cx.pool.ext(&p).copied();
        if let Some(o) = cx.observer.as_deref_mut() {
            o.packet(cx.now, self.port.seen, &p, cx.pool);
        }
        cx.pool.remove(id);
        self.count(&p, cx.now);
        let before = self.conn.is_over();
        let Endpoint { conn, app, port, .. } = self;
        let mut io = EndIo { cx, cache, port };
        conn.on_packet(&p, ext.as_ref(), &mut io);
        app.run(conn, &mut io);
        (conn.is_over() && !before).then_some(Milestone::Closed)
    }

    fn count(&mut self, p: &Packet, now: Time) {
        let a = &mut self.arrivals;
        a.packets += 1;
        a.bytes += p.len as u64;
        if p.payload > 0 {
            a.delay_ns.record(now.since(p.sent_at).0);
        }
        let known = p.payload > 0 && self.conn.rx.has(p.seq, p.seq + p.payload as u64);
        if p.meta.is_rexmit() && known {
            a.unnecessary_resends += 1;
        }
        if !known && (!p.meta.is_rexmit() || p.seq >= a.count_from) {
            a.counted_bytes += p.len as u64;
        }
    }

    pub fn wake(&mut self, cx: &mut Cx<'_>, cache: &mut Cache) -> Option<Milestone> {
        let before = self.conn.is_over();
        let starting = self.start.take().is_some();
        let Endpoint { conn, app, port, .. } = self;
        let mut io = EndIo { cx, cache, port };
        if starting {
            conn.open(&mut io);
            return Some(Milestone::Opened);
        }
        conn.on_wake(&mut io);
        app.run(conn, &mut io);
        (conn.is_over() && !before).then_some(Milestone::Closed)
    }
}

/// The network as a connection sees it.
pub struct EndIo<'a, 'b> {
    cx: &'a mut Cx<'b>,
    cache: &'a mut Cache,
    port: &'a mut Port,
}

impl Io for EndIo<'_, '_> {
    #[inline]
    fn now(&self) -> Time {
        self.cx.now
    }

    #[inline]
    fn send(&mut self, mut p: Packet, ext: Option<Ext>) {
        p.flow = self.port.flow;
        p.hop = self.port.route;
        if self.port.seen == Vantage::Receiver {
            p.meta = Meta(p.meta.0 | Meta::REVERSE);
        }
        self.port.sent_packets += 1;
        self.port.sent_bytes += p.len as u64;
        let id = self.cx.pool.insert(p);
        if let Some(e) = ext {
            self.cx.pool.attach(id, e);
        }
        if let Some(o) = self.cx.observer.as_deref_mut() {
            o.packet(self.cx.now, self.port.seen, self.cx.pool.get(id), self.cx.pool);
        }
        self.cx.forward(id);
    }

    #[inline]
    fn note(&mut self, kind: EventKind, seq: u64, len: u32, aux: u32) {
        self.cx.note(End { flow: self.port.flow, seen: self.port.seen }, kind, seq, len, aux);
    }

    fn shared(&mut self) -> Option<&mut Cache> {
        Some(self.cache)
    }
}
