//! An endpoint: one end of a flow, a TCP connection and the application on top of it, or a source or sink of datagrams.

use crate::datagrams::Datagrams;
use crate::resends::DroppedResends;
use crate::scenario::{LifetimeFrom, LifetimeParams, OfFlow};
use crate::workload::{App, Own};
use crosswind_base::packet::{Ext, Life, Meta, Proto};
use crosswind_base::probe::header_bits;
use crosswind_base::{
    Cx, Dscp, Dur, End, EventKind, FlowId, Histogram, LinearHistogram, Packet, PacketId, TcpFlags, Time, Vantage,
};
use crosswind_transport::tcp::conn::State;
use crosswind_transport::tcp::share::Cache;
use crosswind_transport::tcp::{CloseRule, Connection, Io, TcpParams};
use std::sync::Arc;

/// Something that happened to a flow and that the world keeps count of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Milestone {
    Opened,
    Closed,
    /// The first data of an answer has arrived.
    FirstData,
    /// All data of an answer has arrived.
    Complete,
}

/// What the world may read of what arrived at an endpoint.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    pub packets: u64,
    pub bytes: u64,
    /// Packets sent again although an earlier copy had arrived, or was still going to.
    pub unnecessary_resends: u64,
    /// Segments sent again that arrived.
    pub resends: u64,
    /// Resends that were dropped before their data had arrived: an earlier copy may still be on its way.
    pub dropped_resends: DroppedResends,
    /// One-way delay of packets with payload.
    pub delay_ns: Histogram,
    /// Bytes with headers, without retransmissions of what was first sent before `count_from`.
    pub counted_bytes: u64,
    pub count_from: u64,
    /// Of a flow whose data has a lifetime.
    pub freshness: Option<Box<Freshness>>,
}

/// Which packets came in time.
#[derive(Clone, Debug)]
pub struct Freshness {
    lifetime: Dur,
    from: LifetimeFrom,
    pub valid_packets: u64,
    pub stale_packets: u64,
    pub stale_bytes: u64,
    /// Without the payload that links took away.
    pub cut_packets: u64,
}

impl Freshness {
    pub fn of(l: &LifetimeParams) -> Option<Box<Freshness>> {
        let new = |lifetime| Freshness {
            lifetime,
            from: l.from,
            valid_packets: 0,
            stale_packets: 0,
            stale_bytes: 0,
            cut_packets: 0,
        };
        l.data.map(|d| Box::new(new(d)))
    }

    /// Another lifetime from now on; what has been counted stays.
    fn after(self: Box<Self>, known: Option<Box<Freshness>>) -> Box<Freshness> {
        let Some(mut known) = known else { return self };
        (known.lifetime, known.from) = (self.lifetime, self.from);
        known
    }

    /// A packet with payload arrives for the first time, or what was left of it.
    pub fn judge(&mut self, p: &Packet, now: Time) {
        let began = if self.from == LifetimeFrom::Object { p.cause } else { p.sent_at };
        if p.payload == 0 {
            self.cut_packets += 1;
        } else if now.since(began) <= self.lifetime {
            self.valid_packets += 1;
        } else {
            self.stale_packets += 1;
            self.stale_bytes += u64::from(p.payload);
        }
    }
}

/// One end of a flow, over whichever transport.
#[expect(clippy::large_enum_variant, reason = "nearly all ends are connections, and they are used all the time")]
pub enum FlowEnd {
    Tcp(Endpoint),
    Udp(Datagrams),
}

impl FlowEnd {
    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        match self {
            FlowEnd::Tcp(e) => e.next_wake(),
            FlowEnd::Udp(d) => d.next_wake(),
        }
    }

    #[inline]
    pub fn accept(&mut self, id: PacketId, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        match self {
            FlowEnd::Tcp(e) => e.accept(id, cx, caches),
            FlowEnd::Udp(d) => {
                let p = *cx.packet(id);
                let ext = if d.reads_options() { cx.pool.ext(&p).copied() } else { None };
                if let Some(o) = cx.observer.as_deref_mut() {
                    o.packet(cx.now, d.port.seen, &p, cx.pool);
                }
                if d.waits.is_some() {
                    d.note_wait(cx.pool.ext(&p).map(|e| e.wait.so_far));
                }
                cx.pool.remove(id);
                d.port.note(cx, EventKind::Receive, &p);
                let told = d.take(&p, ext.as_ref(), cx, caches);
                if d.answers {
                    d.answer(&p, cx);
                }
                told
            }
        }
    }

    #[inline]
    pub fn wake(&mut self, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        match self {
            FlowEnd::Tcp(e) => e.wake(cx, caches),
            FlowEnd::Udp(d) => d.wake(cx, caches),
        }
    }

    /// Tells it to start at a time.
    pub fn start_at(&mut self, at: Time) {
        match self {
            FlowEnd::Tcp(e) => e.start = Some(at),
            FlowEnd::Udp(d) => d.start = Some(at),
        }
    }

    /// It will not start.
    pub fn cancel(&mut self) {
        match self {
            FlowEnd::Tcp(e) => e.start = None,
            FlowEnd::Udp(d) => d.start = None,
        }
    }

    /// New parameters from the timeline; `own` has the random streams of the flow.
    #[cold]
    pub fn retune(&mut self, new: &OfFlow, own: &Own<'_>, cx: &mut Cx<'_>, caches: &mut [Cache]) {
        let port = match self {
            FlowEnd::Tcp(e) => &mut e.port,
            FlowEnd::Udp(d) => &mut d.port,
        };
        port.retune(new);
        if let (Vantage::Receiver, Some(l)) = (port.seen, &new.lifetime) {
            let a = self.arrivals_mut();
            let known = a.freshness.take();
            a.freshness = match Freshness::of(l) {
                Some(fresh) => Some(fresh.after(known)),
                None => known,
            };
        }
        match self {
            FlowEnd::Tcp(e) => {
                if let Some(params) = &new.tcp {
                    let has_begun = e.conn.has_begun();
                    e.conn.retune(params);
                    if !has_begun {
                        own.equip(e, params);
                    }
                    e.conn.push(&mut EndIo { cx, caches, port: &mut e.port });
                }
                if let Some(w) = &new.workload {
                    e.app.go_on_as(w, &mut e.conn, &mut EndIo { cx, caches, port: &mut e.port });
                }
            }
            FlowEnd::Udp(d) => d.retune(new),
        }
    }

    pub fn tcp(&self) -> Option<&Endpoint> {
        match self {
            FlowEnd::Tcp(e) => Some(e),
            FlowEnd::Udp(_) => None,
        }
    }
    /// Sums of waits of a stream that records them.
    pub fn waited(&self) -> Option<&LinearHistogram> {
        match self {
            FlowEnd::Tcp(_) => None,
            FlowEnd::Udp(d) => d.waited(),
        }
    }
    pub fn port(&self) -> &Port {
        match self {
            FlowEnd::Tcp(e) => &e.port,
            FlowEnd::Udp(d) => &d.port,
        }
    }
    pub fn arrivals(&self) -> &Arrivals {
        match self {
            FlowEnd::Tcp(e) => &e.arrivals,
            FlowEnd::Udp(d) => &d.arrivals,
        }
    }
    pub fn arrivals_mut(&mut self) -> &mut Arrivals {
        match self {
            FlowEnd::Tcp(e) => &mut e.arrivals,
            FlowEnd::Udp(d) => &mut d.arrivals,
        }
    }
}

pub struct Endpoint {
    pub conn: Connection,
    pub app: App,
    pub port: Port,
    /// When the application starts; `None` once it has, or at the end that only answers.
    start: Option<Time>,
    pub arrivals: Arrivals,
}

/// What decides how long the next packet is worth having.
struct Mortal {
    params: LifetimeParams,
    /// When the present object began.
    began: Time,
    timeout: Dur,
}

/// Where an endpoint meets the network, and what it has sent.
pub struct Port {
    flow: FlowId,
    pub seen: Vantage,
    /// First entry of this endpoint's route in the driver's table.
    route: u32,
    /// Whose shared control blocks it uses.
    host: u32,
    dscp: Dscp,
    /// What becomes of packets that come too late.
    mortal: Option<Box<Mortal>>,
    pub sent_packets: u64,
    pub sent_bytes: u64,
}

impl Port {
    pub fn new(s: &Setup) -> Port {
        let mortal = s.lifetime.map(|params| Box::new(Mortal { params, began: Time::ZERO, timeout: Dur::ZERO }));
        let Setup { flow, seen, route, host, dscp, .. } = *s;
        Port { flow, seen, route, host, dscp, mortal, sent_packets: 0, sent_bytes: 0 }
    }

    fn retune(&mut self, new: &OfFlow) {
        self.dscp = new.dscp.unwrap_or(self.dscp);
        if let (Vantage::Sender, Some(params)) = (self.seen, new.lifetime) {
            let known = self.mortal.take().map_or((Time::ZERO, Dur::ZERO), |m| (m.began, m.timeout));
            self.mortal = Some(Box::new(Mortal { params, began: known.0, timeout: known.1 }));
        }
    }

    /// The next packets belong to an object that began then.
    pub fn object_began(&mut self, at: Time) {
        if let Some(m) = &mut self.mortal {
            m.began = at;
        }
    }

    /// Gives a packet its lifetime.
    #[cold]
    fn mortalise(&self, p: &mut Packet, ext: Option<Ext>, now: Time) -> Option<Ext> {
        let Some(m) = self.mortal.as_ref().filter(|_| p.payload > 0) else { return ext };
        let life = m.params.of_packet(now, m.began, m.timeout);
        if m.params.from == LifetimeFrom::Object {
            p.cause = m.began;
        }
        p.len += Life::OPTION_BYTES;
        Some(Ext { life: Some(life), ..ext.unwrap_or_default() })
    }

    /// First entry of this endpoint's route in the driver's table.
    pub fn route(&self) -> u32 {
        self.route
    }

    /// Puts a packet on the network.
    #[inline(always)]
    pub fn send(&mut self, mut p: Packet, mut ext: Option<Ext>, cx: &mut Cx<'_>) {
        if self.mortal.is_some() {
            ext = self.mortalise(&mut p, ext, cx.now);
        }
        p.flow = self.flow;
        p.hop = self.route;
        p.set_dscp(self.dscp);
        if self.seen == Vantage::Receiver {
            p.meta = Meta(p.meta.0 | Meta::REVERSE);
        }
        self.sent_packets += 1;
        self.sent_bytes += p.len as u64;
        let id = cx.pool.insert(p);
        if let Some(e) = ext {
            cx.pool.attach(id, e);
        }
        if let Some(o) = cx.observer.as_deref_mut() {
            o.packet(cx.now, self.seen, cx.pool.get(id), cx.pool);
        }
        cx.forward(id);
    }

    /// Tells observers about a datagram.
    pub fn note(&self, cx: &mut Cx<'_>, kind: EventKind, p: &Packet) {
        cx.note(End { flow: self.flow, seen: self.seen }, kind, p.seq, p.payload.into(), header_bits(p));
    }
}

/// What tells one end from the other.
pub struct Setup {
    pub flow: FlowId,
    pub seen: Vantage,
    pub route: u32,
    pub host: u32,
    pub dscp: Dscp,
    pub start: Option<Time>,
    pub peer: u32,
    /// Of what this end sends.
    pub lifetime: Option<LifetimeParams>,
}

impl Endpoint {
    pub fn new(params: Arc<TcpParams>, app: App, s: Setup) -> Endpoint {
        let rule = if s.seen == Vantage::Sender { CloseRule::ByApplication } else { CloseRule::WithPeer };
        Endpoint {
            conn: Connection::new(params, s.peer, rule),
            app,
            port: Port::new(&s),
            start: s.start,
            arrivals: Arrivals::default(),
        }
    }

    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        if self.start.is_some() {
            return self.start;
        }
        match (self.conn.next_wake(), self.app.next_wake()) {
            (Some(conn), Some(app)) => Some(conn.min(app)),
            (conn, app) => conn.or(app),
        }
    }

    #[inline]
    pub fn accept(&mut self, id: PacketId, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        let p = *cx.packet(id);
        if p.proto == Proto::Icmp {
            return self.on_message(id, cx, caches);
        }
        let ext = cx.pool.ext(&p).copied();
        if let Some(o) = cx.observer.as_deref_mut() {
            o.packet(cx.now, self.port.seen, &p, cx.pool);
        }
        cx.pool.remove(id);
        self.count(&p, ext.as_ref(), cx.now);
        let before = self.conn.is_over();
        let Endpoint { conn, app, port, .. } = self;
        let mut io = EndIo { cx, caches, port };
        conn.on_packet(&p, ext.as_ref(), &mut io);
        let told = app.run(conn, &mut io);
        if conn.is_over() && !before { Some(Milestone::Closed) } else { told }
    }

    /// A router says that a packet was too large.
    #[cold]
    fn on_message(&mut self, id: PacketId, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        let p = *cx.packet(id);
        cx.pool.remove(id);
        let mut io = EndIo { cx, caches, port: &mut self.port };
        self.conn.on_too_big(p.seq, p.wnd.into(), &mut io);
        None
    }

    /// The application drops the connection; its peer is told by a reset.
    pub fn abort(&mut self, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        self.start = None;
        if self.conn.is_over() || self.conn.state == State::Closed {
            return None;
        }
        let mut io = EndIo { cx, caches, port: &mut self.port };
        self.conn.abort(&mut io);
        Some(Milestone::Closed)
    }

    #[inline]
    fn count(&mut self, p: &Packet, ext: Option<&Ext>, now: Time) {
        let a = &mut self.arrivals;
        a.packets += 1;
        a.bytes += p.len as u64;
        let is_bare = p.payload == 0 && !p.meta.is_rexmit();
        if is_bare && a.freshness.is_none() {
            a.counted_bytes += p.len as u64;
            return;
        }
        if p.payload > 0 {
            a.delay_ns.record(now.since(p.sent_at).0);
        }
        let known = p.payload > 0 && self.conn.rx.has(p.seq, p.seq + p.payload as u64);
        a.unnecessary_resends += u64::from(known);
        a.resends += u64::from(p.meta.is_rexmit() && !p.flags.has(TcpFlags::SYN));
        if !a.dropped_resends.is_empty() {
            a.unnecessary_resends += a.dropped_resends.settle(p);
        }
        if let Some(f) = &mut a.freshness {
            // Bare headers tell no more which data they had: each counts.
            let is_cut = ext.and_then(|e| e.life).is_some_and(|l| l.is_cut);
            if is_cut || (p.payload > 0 && !known) {
                f.judge(p, now);
            }
        }
        if !known && (!p.meta.is_rexmit() || p.seq >= a.count_from) {
            a.counted_bytes += p.len as u64;
        }
    }

    pub fn wake(&mut self, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        let before = self.conn.is_over();
        let starting = self.start.take().is_some();
        let Endpoint { conn, app, port, .. } = self;
        let mut io = EndIo { cx, caches, port };
        if starting {
            conn.open(&mut io);
            return Some(Milestone::Opened);
        }
        conn.on_wake(&mut io);
        let told = app.run(conn, &mut io);
        if conn.is_over() && !before { Some(Milestone::Closed) } else { told }
    }
}

/// The network as a connection sees it.
pub struct EndIo<'a, 'b> {
    cx: &'a mut Cx<'b>,
    /// The shared control blocks of all hosts.
    caches: &'a mut [Cache],
    port: &'a mut Port,
}

impl<'a, 'b> EndIo<'a, 'b> {
    pub fn new(cx: &'a mut Cx<'b>, caches: &'a mut [Cache], port: &'a mut Port) -> EndIo<'a, 'b> {
        EndIo { cx, caches, port }
    }
}

impl Io for EndIo<'_, '_> {
    #[inline]
    fn now(&self) -> Time {
        self.cx.now
    }

    #[inline]
    fn send(&mut self, p: Packet, ext: Option<Ext>) {
        self.port.send(p, ext, self.cx);
    }

    #[inline]
    fn is_mortal(&self) -> bool {
        self.port.mortal.is_some()
    }

    fn waits(&mut self, timeout: Dur) {
        if let Some(m) = &mut self.port.mortal {
            m.timeout = timeout;
        }
    }

    #[inline]
    fn note(&mut self, kind: EventKind, seq: u64, len: u32, aux: u32) {
        self.cx.note(End { flow: self.port.flow, seen: self.port.seen }, kind, seq, len, aux);
    }

    #[inline]
    fn is_watched(&self) -> bool {
        self.cx.observer.is_some()
    }

    fn shared(&mut self) -> Option<&mut Cache> {
        self.caches.get_mut(self.port.host as usize)
    }
}
