//! Two connections joined by a pipe without queues: every packet takes the delay of its direction unless a rule or
//! the dice say otherwise. Virtual time, one order of events, nothing random that the seed does not decide.

use super::Surroundings;
use crosswind_base::packet::Ext;
use crosswind_base::{Dur, Ecn, Event, Packet, Rng, Streams, Time};
use crosswind_transport::tcp::share::Cache;
use crosswind_transport::tcp::{CloseRule, Connection, TcpParams};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One end of the pair. `Left` opens the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Left,
    Right,
}

impl End {
    pub fn other(self) -> End {
        match self {
            End::Left => End::Right,
            End::Right => End::Left,
        }
    }
}

/// Which packets of a direction a rule is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// The n-th packet that enters, counted from 0, the SYN included.
    Index(u64),
    /// The n-th copy (0 = the first) of the data segment that starts at this byte.
    Seq { seq: u64, copy: u32 },
    /// Everything that enters during a span of time.
    During { from: Time, until: Time },
}

/// What happens to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Lose,
    /// CE, where the packet is ECN-capable.
    Mark,
    Duplicate,
    /// Arrives this much later than usual, and so perhaps behind its successors.
    Late(Dur),
    /// Arrives at this instant, in order with all others held until then.
    HoldUntil(Time),
}

/// Chances per packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dice {
    pub lose: f64,
    pub mark: f64,
    pub duplicate: f64,
    pub late: f64,
    pub late_by_max: Dur,
}

/// One direction.
pub struct Pipe {
    pub delay: Dur,
    pub rules: Vec<(Pick, Fate)>,
    pub dice: Dice,
    rng: Rng,
    entered: u64,
    copies: BTreeMap<u64, u32>,
}

impl Pipe {
    fn new(delay: Dur, rng: Rng) -> Pipe {
        Pipe { delay, rules: Vec::new(), dice: Dice::default(), rng, entered: 0, copies: BTreeMap::new() }
    }

    fn fates(&mut self, p: &Packet, now: Time) -> Vec<Fate> {
        let index = self.entered;
        self.entered += 1;
        let copy = if p.payload == 0 { 0 } else { *self.copies.entry(p.seq).and_modify(|c| *c += 1).or_insert(0) };
        let applies = |pick: &Pick| match *pick {
            Pick::Index(i) => i == index,
            Pick::Seq { seq, copy: c } => p.payload > 0 && seq == p.seq && c == copy,
            Pick::During { from, until } => from <= now && now < until,
        };
        let mut out: Vec<Fate> = self.rules.iter().filter(|r| applies(&r.0)).map(|r| r.1).collect();
        let d = self.dice;
        // Every packet draws the same number of values, so that one rule more does not shift what follows.
        let draws =
            [self.rng.uniform(), self.rng.uniform(), self.rng.uniform(), self.rng.uniform(), self.rng.uniform()];
        if draws[0] < d.lose {
            out.push(Fate::Lose);
        }
        if draws[1] < d.mark {
            out.push(Fate::Mark);
        }
        if draws[2] < d.duplicate {
            out.push(Fate::Duplicate);
        }
        if draws[3] < d.late {
            out.push(Fate::Late(d.late_by_max.mul_f64(draws[4])));
        }
        out
    }
}

/// One connection and the application on it.
pub struct Host {
    pub conn: Connection,
    pub cache: Cache,
    pub notes: Vec<Event>,
    /// Bytes that the application still wants to write.
    pub to_write: u64,
    /// Bytes per write.
    pub write_size: u64,
    /// Close as soon as everything is written.
    pub closes: Closes,
    closed: bool,
    /// How the application reads; none: whatever comes, at once.
    reads: Option<Reads>,
}

/// An application that reads so many bytes at a time, so often.
#[derive(Clone, Copy, Debug)]
struct Reads {
    bytes: u64,
    every: Dur,
    next_at: Time,
}

/// When an application closes its direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closes {
    WhenWritten,
    WithPeer,
    Never,
}

/// One packet as it entered the pipe, and when its copies left.
#[derive(Clone, Debug)]
pub struct Logged {
    pub at: Time,
    pub from: End,
    pub packet: Packet,
    pub ext: Option<Ext>,
    pub lost: bool,
}

/// The whole world.
pub struct Pair {
    pub now: Time,
    pub left: Host,
    pub right: Host,
    /// Left to right.
    pub forward: Pipe,
    pub reverse: Pipe,
    pub log: Vec<Logged>,
    /// Whether somebody listens to the connections' notes: nothing else may depend on it.
    pub is_watched: bool,
    flying: BTreeMap<(Time, u64), (End, Packet, Option<Ext>)>,
    entered: u64,
    same_instant: u32,
}

impl Pair {
    /// The left end sends `bytes` and closes; the right end reads and closes after it.
    pub fn new(params: TcpParams, bytes: u64, delay: Dur, seed: u64) -> Pair {
        Pair::with_both(params.clone(), params, bytes, delay, seed)
    }

    /// As [`Pair::new`], with different parameters at the two ends.
    pub fn with_both(left: TcpParams, right: TcpParams, bytes: u64, delay: Dur, seed: u64) -> Pair {
        let streams = Streams::new(seed);
        let host = |p: TcpParams, rule, to_write, closes| Host {
            conn: Connection::new(Arc::new(p), 1, rule),
            cache: Cache::new(None),
            notes: Vec::new(),
            to_write,
            write_size: u64::MAX,
            closes,
            closed: false,
            reads: None,
        };
        let mut pair = Pair {
            now: Time::ZERO,
            left: host(left, CloseRule::ByApplication, bytes, Closes::WhenWritten),
            right: host(right, CloseRule::WithPeer, 0, Closes::WithPeer),
            forward: Pipe::new(delay, streams.named("forward")),
            reverse: Pipe::new(delay, streams.named("reverse")),
            log: Vec::new(),
            is_watched: true,
            flying: BTreeMap::new(),
            entered: 0,
            same_instant: 0,
        };
        pair.left.write_size = 1 << 40;
        pair
    }

    /// The right end sends too, and closes by itself.
    pub fn both_write(mut self, right_bytes: u64) -> Pair {
        let p = Arc::new(self.right.conn.params().clone());
        self.right.conn = Connection::new(p, 1, CloseRule::ByApplication);
        self.right.to_write = right_bytes;
        self.right.write_size = 1 << 40;
        self.right.closes = Closes::WhenWritten;
        self
    }

    /// The application at the right end reads `bytes` every so often, from the beginning on.
    pub fn read_slowly(mut self, bytes: u64, every: Dur) -> Pair {
        self.right.conn.rx.wait_for_reads();
        self.right.reads = Some(Reads { bytes, every, next_at: Time::ZERO + every });
        self
    }

    /// Opens the connection from both ends at the present time.
    pub fn open_both(&mut self) {
        self.call(End::Left, |c, io| c.open(io));
        self.call(End::Right, |c, io| c.open(io));
    }

    pub fn host(&self, e: End) -> &Host {
        match e {
            End::Left => &self.left,
            End::Right => &self.right,
        }
    }

    fn call(&mut self, e: End, f: impl FnOnce(&mut Connection, &mut Surroundings<'_>)) {
        let mut sent = Vec::new();
        let now = self.now;
        let h = match e {
            End::Left => &mut self.left,
            End::Right => &mut self.right,
        };
        let Host { conn, cache, notes, .. } = h;
        let is_watched = self.is_watched;
        let mut io = Surroundings { now, sent: &mut sent, notes, cache: Some(cache), is_watched };
        f(conn, &mut io);
        run_application(h, now, &mut sent, is_watched);
        for (p, ext) in sent {
            self.enter(e, p, ext);
        }
    }

    fn enter(&mut self, from: End, mut p: Packet, ext: Option<Ext>) {
        let now = self.now;
        let pipe = match from {
            End::Left => &mut self.forward,
            End::Right => &mut self.reverse,
        };
        let fates = pipe.fates(&p, now);
        let mut at = now + pipe.delay;
        let mut copies = 1;
        for f in &fates {
            match f {
                Fate::Lose => copies = 0,
                Fate::Mark if p.ecn().is_capable() => p.set_ecn(Ecn::Ce),
                Fate::Mark => {}
                Fate::Duplicate => copies *= 2,
                Fate::Late(d) => at += *d,
                Fate::HoldUntil(t) => at = at.max(*t),
            }
        }
        self.log.push(Logged { at: now, from, packet: p, ext, lost: copies == 0 });
        for _ in 0..copies {
            self.flying.insert((at, self.entered), (from.other(), p, ext));
            self.entered += 1;
        }
    }

    /// Opens the connection at the present time.
    pub fn open(&mut self) {
        self.call(End::Left, |c, io| c.open(io));
    }

    /// Handles the next event; false when there is none. Arrivals come before timers, the left end before the right.
    pub fn step(&mut self) -> bool {
        let arrival = self.flying.keys().next().map(|k| k.0);
        let wakes = [self.left.conn.next_wake(), self.right.conn.next_wake()];
        let is_over = self.right.conn.is_over();
        let reads = self.right.reads.filter(|_| !is_over || self.right.conn.rx.unread() > 0);
        let read_at = reads.map(|r| r.next_at);
        let Some(next) = [arrival, wakes[0], wakes[1], read_at].into_iter().flatten().min() else { return false };
        assert!(next >= self.now, "a timer lies in the past: {next:?} at {:?}", self.now);
        self.same_instant = if next == self.now { self.same_instant + 1 } else { 0 };
        assert!(self.same_instant < 100_000, "time stands still at {next:?}");
        self.now = next;
        if let Some(r) = reads.filter(|r| r.next_at == next) {
            self.right.reads = Some(Reads { next_at: next + r.every, ..r });
            self.call(End::Right, |c, io| {
                c.read(r.bytes, io);
            });
        } else if arrival == Some(next) {
            let (_, (to, p, ext)) = self.flying.pop_first().expect("an arrival was seen");
            self.call(to, |c, io| c.on_packet(&p, ext.as_ref(), io));
        } else {
            let e = if wakes[0] == Some(next) { End::Left } else { End::Right };
            self.call(e, |c, io| c.on_wake(io));
        }
        true
    }

    /// Opens and runs until nothing is left to do or `limit` has passed.
    pub fn run(&mut self, limit: Time) {
        self.open();
        while self.now < limit && self.step() {}
    }

    /// Both ends have closed in order.
    pub fn is_done(&self) -> bool {
        use crosswind_transport::tcp::conn::State;
        self.left.conn.state == State::Done && self.right.conn.state == State::Done
    }

    /// Data segments that `from` put on the wire, as (time, first byte, retransmission).
    pub fn data(&self, from: End) -> impl Iterator<Item = (Time, u64, bool)> + '_ {
        let data = self.log.iter().filter(move |l| l.from == from && l.packet.payload > 0);
        data.map(|l| (l.at, l.packet.seq, l.packet.meta.is_rexmit()))
    }

    /// First bytes of retransmitted data segments, in order.
    pub fn retransmitted(&self, from: End) -> Vec<u64> {
        self.data(from).filter(|d| d.2).map(|d| d.1).collect()
    }
}

fn run_application(h: &mut Host, now: Time, sent: &mut Vec<(Packet, Option<Ext>)>, is_watched: bool) {
    use crosswind_transport::tcp::conn::State;
    let Host { conn, cache, notes, .. } = h;
    if conn.state != State::Established {
        return;
    }
    let mut io = Surroundings { now, sent, notes, cache: Some(cache), is_watched };
    while h.to_write > 0 {
        let n = h.to_write.min(h.write_size).min(conn.send_space());
        if n == 0 {
            return;
        }
        h.to_write -= n;
        conn.write(n, &mut io);
    }
    if h.closes == Closes::WhenWritten && !h.closed {
        h.closed = true;
        conn.close(&mut io);
    }
}
