//! Where one end of a flow meets the network: its packets get their addresses, marks and lifetimes here.

use crate::scenario::{LifetimeFrom, LifetimeParams, OfFlow};
use crosswind_base::packet::{Ext, Life, Meta};
use crosswind_base::{Cx, Dscp, Dur, End, EventKind, FlowId, Packet, Time, Vantage};
use crosswind_transport::tcp::Io;
use crosswind_transport::tcp::share::Cache;

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

/// What decides how long the next packet is worth having.
struct Lifetimes {
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
    lifetimes: Option<Box<Lifetimes>>,
    pub sent_packets: u64,
    pub sent_bytes: u64,
}

impl Port {
    pub fn new(s: &Setup) -> Port {
        let lifetimes = s.lifetime.map(|params| Box::new(Lifetimes { params, began: Time::ZERO, timeout: Dur::ZERO }));
        let Setup { flow, seen, route, host, dscp, .. } = *s;
        Port { flow, seen, route, host, dscp, lifetimes, sent_packets: 0, sent_bytes: 0 }
    }

    pub(super) fn retune(&mut self, new: &OfFlow) {
        self.dscp = new.dscp.unwrap_or(self.dscp);
        if let (Vantage::Sender, Some(params)) = (self.seen, new.lifetime) {
            let known = self.lifetimes.take().map_or((Time::ZERO, Dur::ZERO), |m| (m.began, m.timeout));
            self.lifetimes = Some(Box::new(Lifetimes { params, began: known.0, timeout: known.1 }));
        }
    }

    /// Gives a packet its lifetime.
    #[cold]
    fn give_lifetime(&self, p: &mut Packet, ext: Option<Ext>, now: Time) -> Option<Ext> {
        let Some(m) = self.lifetimes.as_ref().filter(|_| p.payload > 0) else { return ext };
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
        if self.lifetimes.is_some() {
            ext = self.give_lifetime(&mut p, ext, cx.now);
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

/// The network as a connection sees it.
pub struct EndIo<'a, 'b> {
    pub(super) cx: &'a mut Cx<'b>,
    /// The shared control blocks of all hosts.
    pub(super) caches: &'a mut [Cache],
    pub(super) port: &'a mut Port,
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
        if let Some(m) = &mut self.port.lifetimes {
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
        self.port.lifetimes.is_some()
    }

    fn waits(&mut self, timeout: Dur) {
        if let Some(m) = &mut self.port.lifetimes {
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
