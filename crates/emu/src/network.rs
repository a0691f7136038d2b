//! The network between the hosts: the egresses of the scenario, told the time by whoever drives them.
//!
//! Nothing in here waits or asks what time it is. The same arrivals at the same times give the same decisions, live or
//! from a tape. Order of events: time; at one time, wakes before arrivals, wakes by stage.

use crate::acknowledgement;
use crate::change::Change;
use crate::flows::Flows;
use crate::frame::{self, Addresses, Header};
use crate::journal::{Decision, Journal, Keep, What};
use crate::life;
use crate::spec::{EgressSpec, HOSTS_MAX, Spec, host_of_v4, host_of_v6, router};
use crate::too_big::{self, Fate};
use crosswind_base::packet::Proto;
use crosswind_base::{
    ConfigError, Cx, DropReason, DsByte, Ledger, Observer, Packet, PacketId, Pool, Stage, Streams, Time,
};
use crosswind_net::registry::{BoxStage, BuildCx, EgressMaker, Hosts, Parts};
use crosswind_record::option::TimeOfDay;
use serde_json::Value;

/// Index of a host.
pub type Port = u32;

/// A packet that leaves the network.
pub struct Delivery<'a> {
    /// Logical time at which it arrives.
    pub at: Time,
    pub port: Port,
    pub frame: &'a [u8],
}

/// Takes what the network delivers.
pub trait Sink {
    fn deliver(&mut self, d: Delivery<'_>);
}

/// An entry of the table of hops that stands for a host.
const EXIT: u32 = 1 << 31;
const NO_ROUTE: u32 = u32::MAX;

/// Losses and marks by egress.
#[derive(Clone, Default, Debug)]
pub struct Losses {
    pub by_reason: Vec<[u64; DropReason::COUNT]>,
    pub marks_packets: Vec<u64>,
    /// Of each declared flow: dropped by queues, lost on links, marked.
    pub by_flow: Vec<[u64; 3]>,
    /// Resets that have crossed an egress with Fast Reset: which one, and the slot of the packet.
    resets: Vec<(u32, usize)>,
}

impl Losses {
    fn of_flow(&mut self, p: &Packet, kind: usize) {
        if let Some(f) = self.by_flow.get_mut(p.flow.0 as usize) {
            f[kind] += 1;
        }
    }
}

impl Ledger for Losses {
    fn dropped(&mut self, stage: u32, p: &Packet, why: DropReason) {
        self.by_reason[stage as usize][why as usize] += 1;
        self.of_flow(p, usize::from(why.is_loss()));
    }
    fn reset_passed(&mut self, stage: u32, p: &Packet) {
        self.resets.push((stage, p.ack as usize));
    }
    fn marked(&mut self, stage: u32, p: &Packet) {
        self.marks_packets[stage as usize] += 1;
        self.of_flow(p, 2);
    }
}

/// What the network counts beside what its egresses do.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Totals {
    pub arrived_packets: u64,
    pub delivered_packets: u64,
    pub delivered_bytes: u64,
    /// No packets of IP, or with lengths that do not fit.
    pub refused_packets: u64,
    /// Addressed to nobody here: multicast, and whatever has no route.
    pub unrouted_packets: u64,
    /// Thrown away because a link could not carry them; their senders were told, where that may be.
    pub too_big_packets: u64,
    /// Cut into pieces in front of a link.
    pub fragmented_packets: u64,
}

pub struct Network {
    pub now: Time,
    egresses: Vec<BoxStage>,
    /// Link and direction of each.
    names: Vec<(String, String)>,
    next_wake: Vec<Time>,
    /// What each egress carries at most, and the number of the router in front of it.
    mtus_bytes: Vec<u16>,
    routers: Vec<usize>,
    hops: Vec<u32>,
    /// First hop from host to host, as a square.
    starts: Vec<u32>,
    hosts: usize,
    gateway: Option<usize>,
    start: TimeOfDay,
    /// A queue wants to know what acknowledgements say.
    reads_acks: bool,
    pool: Pool,
    /// The bytes of each packet of the pool.
    frames: Vec<Vec<u8>>,
    out: Vec<PacketId>,
    flows: Flows,
    pub losses: Losses,
    pub totals: Totals,
    pub journal: Journal,
}

impl Network {
    pub fn build(spec: &Spec, keep: Keep) -> Result<Network, ConfigError> {
        let hosts = spec.hosts.len();
        if hosts > HOSTS_MAX {
            return Err(ConfigError::new("link", format!("{hosts} hosts"), format!("at most {HOSTS_MAX} to emulate")));
        }
        let shared = Streams::new(spec.seed);
        let seed = shared.named(&format!("repetition/{}", spec.rep)).bits();
        let streams = Streams::new(seed);
        let mut egresses = Vec::with_capacity(spec.egresses.len());
        for e in &spec.egresses {
            let component = format!("link/{}/{}", e.link, e.direction);
            let cx = BuildCx::new(&streams, &component).of_repetition(&shared, spec.rep).that_changes();
            let cx = cx.with_hosts_in_packets().with_flows(spec);
            let parts = Parts { queue: &e.queue, link: &e.body, loss: e.loss.as_ref(), delayers: &e.delayers };
            let egress = EgressMaker::new(&parts, &format!("link.{}", e.link))?.make(&cx)?;
            egresses.push(egress);
        }
        let (hops, starts) = flatten(spec, egresses.len())?;
        let n = egresses.len();
        let by_flow = vec![[0; 3]; spec.flow_ports.flows as usize];
        Ok(Network {
            now: Time::ZERO,
            next_wake: egresses.iter().map(|e| e.next_wake().unwrap_or(Time::NEVER)).collect(),
            egresses,
            mtus_bytes: spec.egresses.iter().map(|e| e.mtu_bytes.unwrap_or(u16::MAX)).collect(),
            routers: routers(spec),
            names: spec.egresses.iter().map(|e| (e.link.clone(), e.direction.clone())).collect(),
            hops,
            starts,
            hosts,
            gateway: spec.gateway.map(|g| g as usize),
            start: spec.start,
            reads_acks: spec.egresses.iter().any(|e| filters_acks(&e.queue)),
            pool: Pool::new(),
            frames: Vec::new(),
            out: Vec::new(),
            flows: Flows::new(spec.flow_ports),
            losses: Losses {
                by_reason: vec![[0; DropReason::COUNT]; n],
                marks_packets: vec![0; n],
                by_flow,
                ..Losses::default()
            },
            totals: Totals::default(),
            journal: Journal::new(keep),
        })
    }

    pub fn egresses(&self) -> &[BoxStage] {
        &self.egresses
    }
    pub fn packets_inside(&self) -> usize {
        self.pool.in_use()
    }
    pub fn peak_packets(&self) -> usize {
        self.pool.peak()
    }

    /// Buffers for so many packets, written to once, so that the machine has given the memory.
    pub fn make_room(&mut self, packets: usize, frame_bytes: usize) {
        let room = || {
            let mut buffer = vec![1; frame_bytes];
            buffer.clear();
            buffer
        };
        self.frames.resize_with(packets.max(self.frames.len()), room);
        self.out.reserve(packets);
    }

    /// When something happens next by itself.
    #[inline]
    pub fn next_due(&self) -> Time {
        self.next_wake.iter().copied().min().unwrap_or(Time::NEVER)
    }

    /// Everything that is due up to and at `until`, each at its own time.
    pub fn serve(&mut self, until: Time, sink: &mut impl Sink) {
        loop {
            let (stage, at) = self.first();
            if at > until {
                break;
            }
            self.now = at;
            self.call(stage, at, |s, cx| s.wake(cx));
            self.carry(sink);
        }
        self.now = until;
    }

    #[inline]
    fn first(&self) -> (usize, Time) {
        let mut best = (0, Time::NEVER);
        for (i, at) in self.next_wake.iter().enumerate() {
            if *at < best.1 {
                best = (i, *at);
            }
        }
        best
    }

    /// A frame comes from a host, stamped `at`. What was due by then is served first. The buffer is exchanged for
    /// another one.
    pub fn arrive(&mut self, at: Time, from: Port, frame: &mut Vec<u8>, sink: &mut impl Sink) {
        debug_assert!(at >= self.now, "stamps do not run backwards");
        self.serve(at, sink);
        self.totals.arrived_packets += 1;
        let Ok(h) = frame::parse(frame) else {
            self.totals.refused_packets += 1;
            return;
        };
        let Some(hop) = self.route(from, &h) else {
            self.totals.unrouted_packets += 1;
            return;
        };
        let seq = self.totals.arrived_packets;
        let flow = self.flows.of(&h);
        let own = Packet { sent_at: at, cause: at, seq, flow, hop, ..described(&h) };
        self.take_in(own, frame);
        self.carry(sink);
    }

    /// Makes a packet of a frame, and lets it go on with its hop. The buffer is exchanged for another one.
    #[inline]
    fn take_in(&mut self, p: Packet, frame: &mut Vec<u8>) {
        let len = usize::from(p.len);
        let id = self.pool.insert(p);
        let slot = id.0 as usize;
        if let Some(life) = life::read(frame, self.now, self.start) {
            self.pool.ext_mut(id).life = Some(life);
        }
        if self.reads_acks
            && p.proto == Proto::Tcp
            && let Ok(h) = frame::parse(frame)
            && let Some((ack, sack)) = acknowledgement::read(frame, &h)
        {
            let ext = self.pool.ext_mut(id);
            (ext.ack, ext.sack) = (Some(ack), sack);
        }
        // Where its bytes are, for whoever sees the packet only.
        self.pool.get_mut(id).ack = slot as u64;
        if self.frames.len() <= slot {
            self.frames.resize_with(slot + 1, || Vec::with_capacity(frame.capacity()));
        }
        frame.truncate(len);
        std::mem::swap(&mut self.frames[slot], frame);
        self.out.push(id);
    }

    /// A packet in front of a link that is not made for its size. True when it goes on as it is.
    #[cold]
    fn is_carried_whole(&mut self, id: PacketId, stage: usize) -> bool {
        let p = *self.pool.get(id);
        let read = |f: &[u8]| frame::parse(f).expect("frames inside, their pieces and messages have right lengths");
        let frame = &self.frames[id.0 as usize];
        let h = read(frame);
        match too_big::decide(frame, &h, self.mtus_bytes[stage], router(self.routers[stage])) {
            Fate::Passes => return true,
            Fate::Fragments(pieces) => {
                self.totals.fragmented_packets += 1;
                for mut piece in pieces {
                    let Header { len, payload, tcp_flags: flags, .. } = read(&piece);
                    // Once more to the same link.
                    self.take_in(Packet { len, payload, flags, hop: p.hop - 1, ..p }, &mut piece);
                }
            }
            Fate::Told(mut message) => {
                self.refuse(&p, stage);
                if let Some(hop) = self.way_back(&h, stage) {
                    let told = read(&message);
                    let (at, flow) = (self.now, self.flows.of(&told));
                    let own = Packet { sent_at: at, cause: at, seq: p.seq, flow, hop, ..described(&told) };
                    self.take_in(own, &mut message);
                }
            }
            Fate::Silent => self.refuse(&p, stage),
        }
        self.pool.remove(id);
        false
    }

    fn refuse(&mut self, p: &Packet, stage: usize) {
        self.totals.too_big_packets += 1;
        self.journal.note(Decision { at: self.now, what: What::Dropped, packet: p.seq, place: stage as u32 });
    }

    /// Where a message of the router in front of a link enters the route to the sender of a packet.
    fn way_back(&self, h: &Header, stage: usize) -> Option<u32> {
        let [from, to] = match h.addresses {
            Addresses::V4(both) => both.map(host_of_v4),
            Addresses::V6(both) => both.map(host_of_v6),
        };
        let (from, to) = (from.or(self.gateway)?, to.or(self.gateway)?);
        if from == to || from.max(to) >= self.hosts {
            return None;
        }
        let mut hop = self.starts[to * self.hosts + from];
        if hop == NO_ROUTE {
            return None;
        }
        // A router that is not on the way back stands beside the sender: the last entry of the route.
        loop {
            let next = self.hops[hop as usize];
            if next & EXIT != 0 || self.routers[next as usize] == self.routers[stage] {
                return Some(hop);
            }
            hop += 1;
        }
    }

    fn route(&self, from: Port, h: &Header) -> Option<u32> {
        let to = match h.addresses {
            Addresses::V4([_, to]) if to[0] & 0xf0 == 0xe0 => None,
            Addresses::V6([_, to]) if to[0] == 0xff || to[..2] == [0xfe, 0x80] => None,
            Addresses::V4([_, to]) => host_of_v4(to).or(self.gateway),
            Addresses::V6([_, to]) => host_of_v6(to).or(self.gateway),
        }?;
        if to >= self.hosts || to == from as usize {
            return None;
        }
        let start = self.starts[from as usize * self.hosts + to];
        (start != NO_ROUTE).then_some(start)
    }

    #[inline]
    fn call(&mut self, stage: usize, now: Time, f: impl FnOnce(&mut BoxStage, &mut Cx<'_>)) {
        let observer = Some(&mut self.journal as &mut (dyn Observer + 'static));
        let mut cx = Cx::new(now, stage as u32, &mut self.pool, &mut self.out, &mut self.losses, observer);
        let s = &mut self.egresses[stage];
        f(s, &mut cx);
        self.next_wake[stage] = s.next_wake().unwrap_or(Time::NEVER);
        if !self.losses.resets.is_empty() {
            self.heed_resets(now);
        }
    }

    /// Fast Reset: throws away what waits at the same router to go the other way and belongs to the same connection.
    #[cold]
    fn heed_resets(&mut self, now: Time) {
        while let Some((stage, slot)) = self.losses.resets.pop() {
            let (link, direction) = &self.names[stage as usize];
            let is_other = |n: &(String, String)| n.0 == *link && n.1 != *direction;
            let (Some(other), Ok(reset)) = (self.names.iter().position(is_other), frame::parse(&self.frames[slot]))
            else {
                continue;
            };
            let frames = &self.frames;
            let mut goes = |p: &Packet| frame::parse(&frames[p.ack as usize]).is_ok_and(|h| h.answers(&reset));
            let observer = Some(&mut self.journal as &mut (dyn Observer + 'static));
            let mut cx = Cx::new(now, other as u32, &mut self.pool, &mut self.out, &mut self.losses, observer);
            let s = &mut self.egresses[other];
            s.purge(&mut goes, DropReason::Reset, &mut cx);
            self.next_wake[other] = s.next_wake().unwrap_or(Time::NEVER);
        }
    }

    /// Takes every packet that was emitted to its next stage, or out of the network.
    #[inline]
    fn carry(&mut self, sink: &mut impl Sink) {
        let mut head = 0;
        while head < self.out.len() {
            let id = self.out[head];
            head += 1;
            let p = self.pool.get_mut(id);
            let hop = self.hops[p.hop as usize];
            p.hop += 1;
            if hop & EXIT == 0 {
                let is_too_big = p.len > self.mtus_bytes[hop as usize];
                if is_too_big && !self.is_carried_whole(id, hop as usize) {
                    continue;
                }
                self.call(hop as usize, self.now, |s, cx| s.accept(id, cx));
            } else {
                self.leave(id, hop & !EXIT, sink);
            }
        }
        self.out.clear();
    }

    fn leave(&mut self, id: PacketId, port: Port, sink: &mut impl Sink) {
        let p = *self.pool.get(id);
        let bytes = &mut self.frames[id.0 as usize];
        let was = if bytes[0] >> 4 == 6 { bytes[0] << 4 | bytes[1] >> 4 } else { bytes[1] };
        let ds = p.ds.0;
        if ds != was {
            frame::set_ds(bytes, ds);
        }
        if let Some(life) = self.pool.ext(&p).and_then(|e| e.life) {
            life::write(bytes, &life, p.len, self.start);
        }
        self.totals.delivered_packets += 1;
        self.totals.delivered_bytes += u64::from(p.len);
        self.journal.note(Decision { at: self.now, what: What::Delivered, packet: p.seq, place: port });
        sink.deliver(Delivery { at: self.now, port, frame: bytes });
        self.pool.remove(id);
    }

    /// New parameters for a link, from `at` on; what was due by then has been served.
    pub fn change(&mut self, at: Time, change: &Change) -> Result<(), ConfigError> {
        debug_assert!(at >= self.now, "changes come in order of time");
        for stage in 0..self.egresses.len() {
            let (link, direction) = &self.names[stage];
            if *link != change.link || change.direction.as_ref().is_some_and(|d| d != direction) {
                continue;
            }
            let mut done = Ok(());
            self.call(stage, at, |s, cx| done = s.read_and_change(&change.set, cx));
            done.map_err(|e| e.under(&format!("link.{}", change.link)))?;
        }
        Ok(())
    }

    /// Brings every egress up to `at`, so that it can be sampled and reported.
    pub fn catch_up(&mut self, at: Time, sink: &mut impl Sink) {
        self.serve(at, sink);
        for stage in 0..self.egresses.len() {
            self.call(stage, at, |s, cx| (**s).catch_up(cx));
        }
        self.carry(sink);
    }
}

/// What an egress wants to know of a packet, as far as its headers tell.
#[inline]
fn described(h: &Header) -> Packet {
    let proto = if h.protocol == Proto::UDP_NUMBER { Proto::UDP } else { Proto::Tcp };
    let mut p =
        Packet { len: h.len, payload: h.payload, flags: h.tcp_flags, ds: DsByte(h.ds), proto, ..Packet::default() };
    Hosts::write(&mut p, h.addresses.numbers());
    p
}

/// Whether a queue, or one inside of it, has a filter for acknowledgements.
fn filters_acks(queue: &Value) -> bool {
    match queue {
        Value::Object(keys) => keys.get("ack_filter").is_some_and(|f| f != "off") || keys.values().any(filters_acks),
        Value::Array(all) => all.iter().any(filters_acks),
        _ => false,
    }
}

/// The number of the node in front of each egress.
fn routers(spec: &Spec) -> Vec<usize> {
    let first = |e: &EgressSpec| spec.egresses.iter().position(|other| other.from == e.from);
    spec.egresses.iter().map(|e| first(e).expect("it is there itself")).collect()
}

/// The table of hops, and where the route of each pair of hosts starts in it.
fn flatten(spec: &Spec, egresses: usize) -> Result<(Vec<u32>, Vec<u32>), ConfigError> {
    let hosts = spec.hosts.len();
    let mut hops = Vec::new();
    let mut starts = vec![NO_ROUTE; hosts * hosts];
    for r in &spec.routes {
        let inside = [r.from, r.to].iter().all(|h| (*h as usize) < hosts);
        if !inside || r.hops.iter().any(|h| *h as usize >= egresses) {
            return Err(ConfigError::new("routes", format!("{r:?}"), "hosts and egresses that exist"));
        }
        starts[r.from as usize * hosts + r.to as usize] = hops.len() as u32;
        hops.extend(&r.hops);
        hops.push(EXIT | r.to);
    }
    Ok((hops, starts))
}
