//! An endpoint: one end of a flow, a transport and the application on top of it.

use super::arrivals::{Arrivals, Freshness, Heard};
use super::host_queue::HostQueue;
use super::own::Own;
use super::port::{EndIo, Milestone, Port, Setup};
use super::transport::{Broken, Transport};
use super::workload::App;
use crate::scenario::OfFlow;
use crosswind_base::packet::Proto;
use crosswind_base::{Cx, PacketId, Time, Vantage};
use crosswind_transport::stack::{Role, Stack};
use crosswind_transport::tcp::Connection;
use crosswind_transport::tcp::share::Cache;

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
    /// The stack of other people at this end, and which end of its connection it is.
    pub fn stack(&mut self) -> Option<(Role, &mut dyn Stack)> {
        match self {
            FlowEnd::Tcp(_) => None,
            FlowEnd::Other(e) => e.conn.stack(),
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
        let ext = cx.pool.ext(&p).copied();
        if let Some(o) = cx.observer.as_deref_mut() {
            o.packet(cx.now, self.port.seen, &p, cx.pool);
        }
        if p.proto == Proto::Icmp {
            return self.on_message(id, cx, caches);
        }
        self.conn.take_bytes(cx.pool, id);
        self.arrivals.in_queues = cx.pool.in_queues(id);
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
