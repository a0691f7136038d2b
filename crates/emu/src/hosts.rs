//! The hosts at the ends of the network, as it knows them: the frames of their packets, and the ways between them.

use crate::acknowledgement;
use crate::delivery::{Delivery, Port, Sink, Totals};
use crate::flows::Flows;
use crate::frame::{self, Addresses, Header};
use crate::life;
use crate::spec::{Crossing, EgressSpec, Spec, host_of_v4, host_of_v6, router};
use crate::too_big::{self, Fate};
use crosswind_base::packet::Proto;
use crosswind_base::{Clock, ConfigError, Cx, DsByte, End, EventKind, Histogram, Packet, PacketId, Pool, Sync, Time};
use crosswind_engine::Ends;
use crosswind_net::registry;
use crosswind_record::option::TimeOfDay;
use std::collections::BTreeMap;

/// No route, or no subject.
pub const NONE: u32 = u32::MAX;

/// The routes between hosts.
pub struct Ways {
    /// The table of hops: numbers of egresses and boundaries, and at the end of each route that of a host.
    pub hops: Vec<u32>,
    /// For each hop that is a boundary whose contracts count there, and `NONE`.
    pub subjects: Vec<u32>,
    /// First hop from host to host, as a square.
    starts: Vec<u32>,
    /// First hop of declared flows that have a way of their own, by flow and hosts.
    of_flows: BTreeMap<[u32; 3], u32>,
    /// The number of the router in front of each egress.
    routers: Vec<usize>,
    hosts: usize,
    gateway: Option<usize>,
}

impl Ways {
    pub fn of(spec: &Spec) -> Result<Ways, ConfigError> {
        let (hosts, egresses) = (spec.hosts.len(), spec.egresses.len());
        let mut ways = Ways {
            hops: Vec::new(),
            subjects: Vec::new(),
            starts: vec![NONE; hosts * hosts],
            of_flows: BTreeMap::new(),
            routers: routers(spec),
            hosts,
            gateway: spec.gateway.map(|g| g as usize),
        };
        let boundaries_from = (egresses + hosts) as u32;
        for r in &spec.routes {
            let inside = [r.from, r.to].iter().all(|h| (*h as usize) < hosts);
            let is_crossing = |c: &Crossing| {
                let at = spec.boundaries.get(c.boundary as usize);
                at.is_some_and(|b| b.rules.iter().any(|r| r.flow == c.subject)) && (c.behind as usize) < r.hops.len()
            };
            let exist = r.hops.iter().all(|h| (*h as usize) < egresses) && r.crossings.iter().all(is_crossing);
            if !inside || !exist {
                return Err(ConfigError::new("routes", format!("{r:?}"), "hosts, egresses and boundaries that exist"));
            }
            let start = ways.hops.len() as u32;
            match r.flow {
                None => ways.starts[r.from as usize * hosts + r.to as usize] = start,
                Some(flow) => {
                    ways.of_flows.insert([flow, r.from, r.to], start);
                }
            }
            for (k, hop) in r.hops.iter().enumerate() {
                ways.push(*hop, NONE);
                for c in r.crossings.iter().filter(|c| c.behind as usize == k) {
                    ways.push(boundaries_from + c.boundary, c.subject);
                }
            }
            ways.push(egresses as u32 + r.to, NONE);
        }
        Ok(ways)
    }

    fn push(&mut self, hop: u32, subject: u32) {
        self.hops.push(hop);
        self.subjects.push(subject);
    }

    fn route(&self, from: Port, h: &Header, flow: u32) -> Option<u32> {
        let to = match h.addresses {
            Addresses::V4([_, to]) if to[0] & 0xf0 == 0xe0 => None,
            Addresses::V6([_, to]) if to[0] == 0xff || to[..2] == [0xfe, 0x80] => None,
            Addresses::V4([_, to]) => host_of_v4(to).or(self.gateway),
            Addresses::V6([_, to]) => host_of_v6(to).or(self.gateway),
        }?;
        if to >= self.hosts || to == from as usize {
            return None;
        }
        if let Some(own) = self.of_flows.get(&[flow, from, to as u32]) {
            return Some(*own);
        }
        let start = self.starts[from as usize * self.hosts + to];
        (start != NONE).then_some(start)
    }

    /// Where a message of the router in front of an egress enters the route to the sender of a packet.
    fn way_back(&self, h: &Header, egress: usize) -> Option<u32> {
        let [from, to] = match h.addresses {
            Addresses::V4(both) => both.map(host_of_v4),
            Addresses::V6(both) => both.map(host_of_v6),
        };
        let (from, to) = (from.or(self.gateway)?, to.or(self.gateway)?);
        if from == to || from.max(to) >= self.hosts {
            return None;
        }
        let mut hop = self.starts[to * self.hosts + from];
        if hop == NONE {
            return None;
        }
        // A router that is not on the way back stands beside the sender: the last entry of the route.
        loop {
            let next = self.hops[hop as usize] as usize;
            let is_host = (self.routers.len()..self.routers.len() + self.hosts).contains(&next);
            if is_host || self.routers.get(next) == Some(&self.routers[egress]) {
                return Some(hop);
            }
            hop += 1;
        }
    }
}

/// The number of the node in front of each egress.
fn routers(spec: &Spec) -> Vec<usize> {
    let first = |e: &EgressSpec| spec.egresses.iter().position(|other| other.from == e.from);
    spec.egresses.iter().map(|e| first(e).expect("it is there itself")).collect()
}

/// All hosts, seen from the network.
pub struct Hosts {
    pub ways: Ways,
    /// What each egress carries at most.
    pub mtus_bytes: Vec<u16>,
    pub start: TimeOfDay,
    /// A queue wants to know what acknowledgements say.
    pub reads_acks: bool,
    /// The bytes of each packet of the pool.
    pub frames: Vec<Vec<u8>>,
    pub flows: Flows,
    pub waits: Vec<Waits>,
}

/// How long the data of a declared flow was in the queues of links, all queues of the way together.
pub struct Waits {
    /// The host that receives it.
    receiver: Port,
    pub queue_delay_ns: Histogram,
}

impl Waits {
    pub fn of(spec: &Spec) -> Vec<Waits> {
        let at = |receiver: &u32| Waits { receiver: *receiver, queue_delay_ns: Histogram::new() };
        spec.receivers.iter().map(at).collect()
    }
}

impl Hosts {
    pub fn make_room(&mut self, packets: usize, frame_bytes: usize) {
        let room = || {
            let mut buffer = vec![1; frame_bytes];
            buffer.clear();
            buffer
        };
        self.frames.resize_with(packets.max(self.frames.len()), room);
    }

    /// The packet of a frame that comes from a host, with what its headers tell; `None` when it leads nowhere.
    pub fn described(&mut self, from: Port, h: &Header, p: Packet) -> Option<Packet> {
        let flow = self.flows.of(h);
        let hop = self.ways.route(from, h, flow.0)?;
        Some(Packet { flow, hop, ..described(h, p) })
    }

    /// Makes a packet of a frame. The buffer is exchanged for another one.
    #[inline]
    pub fn take_in(&mut self, p: Packet, frame: &mut Vec<u8>, now: Time, pool: &mut Pool) -> PacketId {
        let len = usize::from(p.len);
        let id = pool.insert(p);
        let slot = id.0 as usize;
        if let Some(life) = life::read(frame, now, self.start) {
            pool.ext_mut(id).life = Some(life);
        }
        if self.reads_acks
            && p.proto == Proto::Tcp
            && let Ok(h) = frame::parse(frame)
            && let Some((ack, sack)) = acknowledgement::read(frame, &h)
        {
            let ext = pool.ext_mut(id);
            (ext.ack, ext.sack) = (Some(ack), sack);
        }
        // Where its bytes are, for whoever sees the packet only.
        pool.get_mut(id).ack = slot as u64;
        if self.frames.len() <= slot {
            self.frames.resize_with(slot + 1, || Vec::with_capacity(frame.capacity()));
        }
        frame.truncate(len);
        std::mem::swap(&mut self.frames[slot], frame);
        id
    }

    /// A packet in front of a link that is not made for its size. Whether it goes on as it is.
    #[cold]
    fn is_carried_whole(&mut self, id: PacketId, egress: usize, cx: &mut Cx<'_>, totals: &mut Totals) -> bool {
        let p = *cx.pool.get(id);
        let read = |f: &[u8]| frame::parse(f).expect("frames inside, their pieces and messages have right lengths");
        let frame = &self.frames[id.0 as usize];
        let h = read(frame);
        let fate = too_big::decide(frame, &h, self.mtus_bytes[egress], router(self.ways.routers[egress]));
        if matches!(fate, Fate::Told(_) | Fate::Silent) {
            totals.too_big_packets += 1;
            cx.note(End::source_of(&p), EventKind::Drop, p.seq, p.payload as u32, egress as u32);
        }
        match fate {
            Fate::Passes => return true,
            Fate::Fragments(pieces) => {
                totals.fragmented_packets += 1;
                let waited = cx.pool.in_queues(id);
                for mut piece in pieces {
                    let Header { len, payload, tcp_flags: flags, .. } = read(&piece);
                    // Once more to the same link.
                    let piece_of = Packet { len, payload, flags, hop: p.hop - 1, ..p };
                    let id = self.take_in(piece_of, &mut piece, cx.now, cx.pool);
                    cx.pool.note_in_queue(id, waited);
                    cx.forward(id);
                }
            }
            Fate::Told(mut message) => {
                if let Some(hop) = self.ways.way_back(&h, egress) {
                    let told = read(&message);
                    let own = Packet { sent_at: cx.now, cause: cx.now, seq: p.seq, ..Packet::default() };
                    let own = Packet { flow: self.flows.of(&told), hop, ..described(&told, own) };
                    let id = self.take_in(own, &mut message, cx.now, cx.pool);
                    cx.forward(id);
                }
            }
            Fate::Silent => {}
        }
        cx.pool.remove(id);
        false
    }

    /// The bytes of a packet that leaves the network, with what was done to its headers on the way.
    fn last_seen(&mut self, id: PacketId, pool: &Pool) -> &[u8] {
        let p = pool.get(id);
        let bytes = &mut self.frames[id.0 as usize];
        let was = if bytes[0] >> 4 == 6 { bytes[0] << 4 | bytes[1] >> 4 } else { bytes[1] };
        let ds = p.ds.0;
        if ds != was {
            frame::set_ds(bytes, ds);
        }
        if let Some(life) = pool.ext(p).and_then(|e| e.life) {
            life::write(bytes, &life, p.len, self.start);
        }
        bytes
    }
}

/// What an egress wants to know of a packet, as far as its headers tell.
#[inline]
fn described(h: &Header, p: Packet) -> Packet {
    let proto = if h.protocol == Proto::UDP_NUMBER { Proto::UDP } else { Proto::Tcp };
    let mut p = Packet { len: h.len, payload: h.payload, flags: h.tcp_flags, ds: DsByte(h.ds), proto, ..p };
    registry::Hosts::write(&mut p, h.addresses.numbers());
    p
}

/// The hosts at the ends of the network while it is driven: where packets leave, and by which clock.
pub struct Exits<'a, S> {
    pub hosts: &'a mut Hosts,
    pub totals: &'a mut Totals,
    /// How far the clock was seen to have come; up to then it is not asked.
    pub reached: &'a mut Time,
    pub sink: &'a mut S,
    pub clock: fn(&mut S, Time) -> Sync,
}

impl<S: Sink> Clock for Exits<'_, S> {
    #[inline]
    fn sync(&mut self, deadline: Time) -> Sync {
        if deadline <= *self.reached {
            return Sync::OnTime;
        }
        let sync = (self.clock)(self.sink, deadline);
        if let Sync::Late(by) = sync {
            *self.reached = deadline + by;
        }
        sync
    }
}

/// Hosts are never woken: what they send comes in from outside.
impl<S: Sink> Ends for Exits<'_, S> {
    type Told = ();

    fn accept(&mut self, end: usize, id: PacketId, cx: &mut Cx<'_>) -> (Time, Option<()>) {
        let (p, port) = (*cx.packet(id), end as Port);
        cx.note(End::source_of(&p), EventKind::Receive, p.seq, p.payload as u32, port);
        if let Some(waits) = self.hosts.waits.get_mut(p.flow.0 as usize)
            && waits.receiver == port
            && p.payload > 0
        {
            waits.queue_delay_ns.record(cx.pool.in_queues(id).0);
        }
        self.totals.delivered_packets += 1;
        self.totals.delivered_bytes += u64::from(p.len);
        let frame = self.hosts.last_seen(id, cx.pool);
        self.sink.deliver(Delivery { at: cx.now, port, frame });
        cx.pool.remove(id);
        (Time::NEVER, None)
    }

    fn wake(&mut self, _end: usize, _cx: &mut Cx<'_>) -> (Time, Option<()>) {
        (Time::NEVER, None)
    }

    #[inline]
    fn enters(&mut self, egress: usize, id: PacketId, cx: &mut Cx<'_>) -> bool {
        let fits = cx.packet(id).len <= self.hosts.mtus_bytes[egress];
        fits || self.hosts.is_carried_whole(id, egress, cx, self.totals)
    }
}
