//! An endpoint: one end of a flow, a transport and the application on top of it.

use crate::host_queue::HostQueue;
use crate::resends::DroppedResends;
use crate::scenario::{LifetimeFrom, LifetimeParams, OfFlow};
use crate::transport::{Broken, Transport};
use crate::waits::Waits;
use crate::workload::{App, Own};
use crosswind_base::packet::{Ext, Life, Meta, Proto};
use crosswind_base::{
    Cx, Dscp, Dur, End, EventKind, FlowId, Histogram, LinearHistogram, Packet, PacketId, Time, Vantage,
};
use crosswind_transport::tcp::share::Cache;
use crosswind_transport::tcp::{Connection, Io};
use crosswind_transport::udp::Receiver;

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
#[derive(Default)]
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
    /// Of datagrams.
    pub heard: Option<Box<Heard>>,
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

/// What is measured of datagrams where they arrive.
#[derive(Default)]
pub struct Heard {
    /// At the end that receives the data.
    pub data: Option<Box<Receiver>>,
    /// How long packets have waited in queues that say so; only for flows with limits.
    pub waits: Option<Box<Waits>>,
    /// From each question to its answer, at the end that asks.
    pub rtt_ns: Histogram,
}

impl Heard {
    /// At one end of a flow: data are measured where they are received.
    pub fn at(s: &Setup, waits: Option<Box<Waits>>) -> Heard {
        let data = (s.seen == Vantage::Receiver).then(Box::default);
        Heard { data, waits, rtt_ns: Histogram::default() }
    }
}

impl Arrivals {
    /// A packet with data arrives at the end that measures them; `false` at the other.
    pub fn hear(&mut self, p: &Packet, now: Time) -> bool {
        let Some(rx) = self.heard.as_mut().and_then(|h| h.data.as_mut()) else { return false };
        if rx.on_datagram(p, now) {
            if let Some(f) = &mut self.freshness {
                f.judge(p, now);
            }
            self.delay_ns.record(now.since(p.sent_at).0);
            self.counted_bytes += u64::from(p.len);
        }
        true
    }

    /// Notes how long a packet that arrives has waited.
    pub fn note_wait(&mut self, ext: Option<&Ext>) {
        if let (Some(waits), Some(e)) = (self.heard.as_mut().and_then(|h| h.waits.as_mut()), ext) {
            waits.note(e.wait.so_far);
        }
    }

    /// An answer has come so long after its question.
    pub fn record_answer(&mut self, rtt: Dur) {
        self.heard.get_or_insert_default().rtt_ns.record(rtt.0);
    }

    /// What is measured of datagrams at this end.
    pub fn data(&self) -> Option<&Receiver> {
        self.heard.as_ref()?.data.as_deref()
    }

    /// Sums of waits, where they are recorded.
    pub fn waited(&self) -> Option<&LinearHistogram> {
        self.heard.as_ref()?.waits.as_ref()?.sums_ns()
    }

    /// How many packets exceeded each limit of waiting.
    pub fn late(&self) -> &[u64] {
        self.heard.as_ref().and_then(|h| h.waits.as_ref()).map_or(&[], |w| w.late())
    }
}

/// One end of a flow, over whichever transport.
#[expect(clippy::large_enum_variant, reason = "nearly all ends are connections, and they are used all the time")]
pub enum FlowEnd {
    Tcp(Endpoint),
    Other(Box<Endpoint<dyn Transport>>),
}

/// The same for either kind of end.
macro_rules! each {
    ($end:expr, $e:ident => $what:expr) => {
        match $end {
            FlowEnd::Tcp($e) => $what,
            FlowEnd::Other($e) => $what,
        }
    };
}

impl FlowEnd {
    /// One end over any transport but TCP.
    pub fn other(conn: impl Transport + 'static, app: App, s: &Setup, heard: Heard) -> FlowEnd {
        let mut end = Endpoint::new(conn, app, s);
        end.arrivals.heard = Some(Box::new(heard));
        FlowEnd::Other(Box::new(end))
    }

    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        each!(self, e => e.next_wake())
    }

    #[inline]
    pub fn accept(&mut self, id: PacketId, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        each!(self, e => e.accept(id, cx, caches))
    }

    #[inline]
    pub fn wake(&mut self, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        each!(self, e => e.wake(cx, caches))
    }

    /// Tells it to start at a time, or not to start.
    pub fn start_at(&mut self, at: Option<Time>) {
        each!(self, e => e.start = at);
    }

    /// New parameters from the timeline; `own` has the random streams of the flow.
    #[cold]
    pub fn retune(&mut self, new: &OfFlow, own: &Own<'_>, cx: &mut Cx<'_>, caches: &mut [Cache]) {
        each!(self, e => e.retune(new, own, cx, caches));
    }

    /// The application drops the connection.
    pub fn abort(&mut self, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        each!(self, e => e.abort(cx, caches))
    }

    pub fn tcp(&self) -> Option<&Endpoint> {
        match self {
            FlowEnd::Tcp(e) => Some(e),
            FlowEnd::Other(_) => None,
        }
    }
    pub fn transport(&self) -> &dyn Transport {
        match self {
            FlowEnd::Tcp(e) => &e.conn,
            FlowEnd::Other(e) => &e.conn,
        }
    }
    pub fn app(&self) -> &App {
        each!(self, e => &e.app)
    }
    pub fn port(&self) -> &Port {
        each!(self, e => &e.port)
    }
    pub fn arrivals(&self) -> &Arrivals {
        each!(self, e => &e.arrivals)
    }
    pub fn arrivals_mut(&mut self) -> &mut Arrivals {
        each!(self, e => &mut e.arrivals)
    }
    /// Bytes of the application that have arrived, each once.
    pub fn delivered(&self) -> u64 {
        let stream = || self.transport().delivered().unwrap_or(0);
        self.arrivals().data().map_or_else(stream, |d| d.payload_bytes)
    }
}

/// One end: a transport, the application on top of it, and what is measured where they meet the network.
pub struct Endpoint<T: ?Sized = Connection> {
    pub app: App,
    pub port: Port,
    /// When the application starts; `None` once it has, or at the end that only answers.
    start: Option<Time>,
    pub arrivals: Arrivals,
    /// What waits in the sending host, where that is modelled.
    pub host: Option<Box<HostQueue>>,
    /// The transport's end of the flow.
    pub conn: T,
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

impl<T> Endpoint<T> {
    pub fn new(conn: T, app: App, s: &Setup) -> Endpoint<T> {
        Endpoint { conn, app, port: Port::new(s), start: s.start, arrivals: Arrivals::default(), host: None }
    }
}

impl<T: Transport + ?Sized> Endpoint<T> {
    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        if self.start.is_some() {
            return self.start;
        }
        let own = match (self.conn.next_wake(), self.app.next_wake()) {
            (Some(conn), Some(app)) => Some(conn.min(app)),
            (conn, app) => conn.or(app),
        };
        match &self.host {
            Some(host) => own.map(|at| at.max(host.room_at())),
            None => own,
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
        self.conn.take_bytes(cx.pool, id);
        cx.pool.remove(id);
        self.conn.count(&p, ext.as_ref(), cx.now, &mut self.arrivals);
        let (before, sent) = (self.conn.is_over(), self.sent());
        let Endpoint { conn, app, port, .. } = self;
        let told = conn.on_packet(&p, ext.as_ref(), app, &mut EndIo { cx, caches, port });
        if self.conn.leaves_packets_behind() && self.port.seen == Vantage::Receiver {
            cx.datagram_arrived(p.flow);
        }
        self.fill_host(sent, cx.now);
        if self.conn.is_over() && !before { Some(Milestone::Closed) } else { told }
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

    /// The application breaks it off.
    fn abort(&mut self, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        self.start = None;
        let mut io = EndIo { cx, caches, port: &mut self.port };
        (self.conn.abort(&mut io) == Broken::Something).then_some(Milestone::Closed)
    }

    pub fn wake(&mut self, cx: &mut Cx<'_>, caches: &mut [Cache]) -> Option<Milestone> {
        let (before, sent) = (self.conn.is_over(), self.sent());
        let starting = self.start.take().is_some();
        let Endpoint { conn, app, port, .. } = self;
        let mut io = EndIo { cx, caches, port };
        let told = if starting {
            conn.open(app, &mut io);
            Some(Milestone::Opened)
        } else {
            conn.on_wake(app, &mut io)
        };
        self.fill_host(sent, cx.now);
        if !starting && self.conn.is_over() && !before { Some(Milestone::Closed) } else { told }
    }

    fn sent(&self) -> (u64, u64) {
        (self.port.sent_packets, self.port.sent_bytes)
    }

    /// What has been sent since then is in the host.
    #[inline(always)]
    fn fill_host(&mut self, before: (u64, u64), now: Time) {
        if let Some(host) = &mut self.host {
            host.take(self.port.sent_packets - before.0, self.port.sent_bytes - before.1, now);
        }
    }

    fn retune(&mut self, new: &OfFlow, own: &Own<'_>, cx: &mut Cx<'_>, caches: &mut [Cache]) {
        self.port.retune(new);
        if let (Vantage::Receiver, Some(l)) = (self.port.seen, &new.lifetime) {
            let known = self.arrivals.freshness.take();
            self.arrivals.freshness = match Freshness::of(l) {
                Some(fresh) => Some(fresh.after(known)),
                None => known,
            };
        }
        let Endpoint { conn, app, port, .. } = self;
        conn.retune(new, own, app, &mut EndIo { cx, caches, port });
    }
}

/// The network as a connection sees it.
pub struct EndIo<'a, 'b> {
    cx: &'a mut Cx<'b>,
    /// The shared control blocks of all hosts.
    caches: &'a mut [Cache],
    port: &'a mut Port,
}

impl EndIo<'_, '_> {
    /// Which end of the flow this is.
    pub fn seen(&self) -> Vantage {
        self.port.seen
    }

    /// Sends a packet with real bytes in it.
    pub fn send_bytes(&mut self, p: Packet, content: &[u8]) {
        let bytes = self.cx.pool.keep_bytes(content.to_vec());
        self.port.send(p, Some(Ext { bytes, ..Ext::default() }), self.cx);
    }

    /// The next packets belong to an object of the application that began then.
    pub fn object_began(&mut self, at: Time) {
        if let Some(m) = &mut self.port.mortal {
            m.began = at;
        }
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
