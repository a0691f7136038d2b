//! Drivers with a virtual clock for one stage or one queue discipline.

use crosswind_base::packet::Ext;
use crosswind_base::{
    Backlog, ClassTotals, ConfigError, Cx, DropReason, DsByte, Dscp, Ecn, FlowId, Ledger, Metrics, Packet, PacketId,
    Pool, Stage, Time,
};
use crosswind_net::queue::QueueDisc;
use crosswind_net::registry::{BoxStage, BuildCx, EgressMaker, Parts};
use serde_json::Value;

/// A loss or a mark, as the ledger was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    Dropped { at: Time, seq: u64, why: DropReason },
    Marked { at: Time, seq: u64 },
}

/// Writes down everything.
#[derive(Default)]
pub struct Log {
    pub now: Time,
    pub entries: Vec<Entry>,
}

impl Ledger for Log {
    fn dropped(&mut self, _stage: u32, p: &Packet, why: DropReason) {
        self.entries.push(Entry::Dropped { at: self.now, seq: p.seq, why });
    }
    fn marked(&mut self, _stage: u32, p: &Packet) {
        self.entries.push(Entry::Marked { at: self.now, seq: p.seq });
    }
}

/// A packet that has left a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    pub at: Time,
    pub seq: u64,
    pub ecn: Ecn,
}

/// The egress of a queue and a link that loses nothing and holds nothing up, in the words of a scenario.
pub fn egress([queue, link]: [&Value; 2], path: &str, cx: &BuildCx<'_>) -> Result<BoxStage, ConfigError> {
    EgressMaker::new(&Parts { queue, link, loss: None, delayers: &Value::Null }, path)?.make(cx)
}

/// A data packet of `len` bytes; `seq` identifies it.
pub fn packet(seq: u64, len: u16, ecn: Ecn) -> Packet {
    Packet { seq, len, payload: len.saturating_sub(40), ds: ecn.into(), ..Packet::default() }
}

/// Drives one stage: hands it packets, wakes it when it asks, and checks the wake contract on the way.
pub struct Bench<S> {
    pub stage: S,
    pub pool: Pool,
    pub log: Log,
    pub now: Time,
    pub offered: Vec<Packet>,
    pub deliveries: Vec<Delivery>,
    /// The same packets as they are at the far end, with what they carry.
    pub delivered: Vec<(Packet, Option<Ext>)>,
    out: Vec<PacketId>,
}

impl<S: Stage> Bench<S> {
    pub fn new(stage: S) -> Bench<S> {
        Bench {
            stage,
            pool: Pool::new(),
            log: Log::default(),
            now: Time::ZERO,
            offered: Vec::new(),
            deliveries: Vec::new(),
            delivered: Vec::new(),
            out: Vec::new(),
        }
    }

    fn call(&mut self, f: impl FnOnce(&mut S, &mut Cx<'_>)) {
        self.log.now = self.now;
        let mut cx = Cx::new(self.now, 0, &mut self.pool, &mut self.out, &mut self.log, None);
        f(&mut self.stage, &mut cx);
        for id in self.out.drain(..) {
            let p = self.pool.get(id);
            self.deliveries.push(Delivery { at: self.now, seq: p.seq, ecn: p.ecn() });
            self.delivered.push((*p, self.pool.ext(p).copied()));
            self.pool.remove(id);
        }
    }

    /// Serves every wake up to and including `until`, then moves the clock there.
    pub fn run_until(&mut self, until: Time) {
        while let Some(at) = self.stage.next_wake().filter(|at| *at <= until) {
            assert!(at >= self.now, "the stage asked for a wake at {at:?}, it is {:?}", self.now);
            self.now = at;
            self.call(|s, cx| s.wake(cx));
            let again = self.stage.next_wake();
            assert!(again.is_none_or(|t| t > at), "woken at {at:?}, the stage asks for {again:?} again");
        }
        self.now = self.now.max(until);
        self.call(|s, cx| s.catch_up(cx));
    }

    /// Hands a packet over at `at`, after the wakes due by then. Its `seq` becomes its ordinal, from 0.
    pub fn offer(&mut self, at: Time, len: u16, ecn: Ecn) {
        self.run_until(at);
        let p = packet(self.offered.len() as u64, len, ecn);
        self.offered.push(p);
        let id = self.pool.insert(p);
        self.call(|s, cx| s.accept(id, cx));
    }

    /// The same with a packet of any kind, and what it carries beside itself.
    pub fn offer_packet(&mut self, at: Time, p: Packet, ext: Option<Ext>) {
        self.run_until(at);
        let p = Packet { seq: self.offered.len() as u64, ..p };
        self.offered.push(p);
        let id = self.pool.insert(p);
        if let Some(ext) = ext {
            self.pool.attach(id, ext);
        }
        self.call(|s, cx| s.accept(id, cx));
    }

    /// Drops what waits and is chosen, now.
    pub fn purge(&mut self, mut goes: impl FnMut(&Packet) -> bool, why: DropReason) {
        self.call(|s, cx| s.purge(&mut goes, why, cx));
    }

    /// New values for some parameters at `at`, after the wakes due by then. Whether the stage took them.
    pub fn change(&mut self, at: Time, set: &serde_json::Map<String, Value>) -> Result<(), ConfigError> {
        self.run_until(at);
        let mut taken = Ok(());
        self.call(|s, cx| taken = s.read_and_change(set, cx));
        taken
    }

    /// Serves wakes until the stage asks for none.
    pub fn drain(&mut self) {
        while let Some(at) = self.stage.next_wake() {
            self.run_until(at);
        }
    }

    pub fn dropped(&self) -> usize {
        self.log.entries.iter().filter(|e| matches!(e, Entry::Dropped { .. })).count()
    }
    pub fn drops_of(&self, reason: DropReason) -> usize {
        self.log.entries.iter().filter(|e| matches!(e, Entry::Dropped { why, .. } if *why == reason)).count()
    }
    pub fn sample(&self) -> Vec<(&'static str, f64)> {
        let mut values = Vec::new();
        self.stage.sample(self.now, &mut |name, v| values.push((name, v)));
        values
    }
    pub fn report(&self) -> Report {
        let mut r = Report::default();
        self.stage.report(self.now, &mut r);
        r
    }
}

/// Totals of a stage.
#[derive(Default)]
pub struct Report {
    pub values: Vec<(&'static str, f64)>,
    pub histograms: Vec<(&'static str, u64, f64)>,
    /// Name, totals, what it holds.
    pub classes: Vec<(String, ClassTotals, Backlog)>,
}

impl Report {
    /// The value of that name; there must be exactly one.
    pub fn get(&self, name: &str) -> f64 {
        let found: Vec<f64> = self.values.iter().filter(|v| v.0 == name).map(|v| v.1).collect();
        assert_eq!(found.len(), 1, "{name} is reported {} times", found.len());
        found[0]
    }
}

impl Metrics for Report {
    fn value(&mut self, name: &'static str, v: f64) {
        self.values.push((name, v));
    }
    fn histogram(&mut self, name: &'static str, h: &crosswind_base::Histogram) {
        self.histograms.push((name, h.count(), h.mean()));
    }
    fn class(&mut self, name: &str, totals: &ClassTotals, holds: Backlog) {
        self.classes.push((name.to_string(), totals.clone(), holds));
    }
}

/// Drives one queue discipline, without a link.
pub struct DiscBench<Q> {
    pub disc: Q,
    pub pool: Pool,
    pub log: Log,
    next_seq: u64,
}

/// What became of an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Admitted,
    Marked,
    Dropped(DropReason),
}

impl<Q: QueueDisc> DiscBench<Q> {
    pub fn new(disc: Q) -> DiscBench<Q> {
        DiscBench { disc, pool: Pool::new(), log: Log::default(), next_seq: 0 }
    }

    /// Calls the discipline at a time.
    pub fn call<T>(&mut self, now: Time, f: impl FnOnce(&mut Q, &mut Cx<'_>) -> T) -> T {
        self.log.now = now;
        let mut out = Vec::new();
        let mut cx = Cx::new(now, 0, &mut self.pool, &mut out, &mut self.log, None);
        let result = f(&mut self.disc, &mut cx);
        assert!(out.is_empty(), "a discipline never forwards");
        result
    }

    pub fn arrive(&mut self, now: Time, len: u16, ecn: Ecn) -> Outcome {
        self.arrive_marked(now, len, ecn.into())
    }

    /// A packet of a flow arrives.
    pub fn arrive_of(&mut self, now: Time, flow: FlowId, len: u16, ecn: Ecn) -> Outcome {
        self.put(now, Packet { flow, ..packet(0, len, ecn) })
    }

    /// A packet with a code point arrives.
    pub fn arrive_as(&mut self, now: Time, len: u16, dscp: Dscp) -> Outcome {
        self.arrive_marked(now, len, DsByte::default().with_dscp(dscp))
    }

    fn arrive_marked(&mut self, now: Time, len: u16, ds: DsByte) -> Outcome {
        self.put(now, Packet { ds, ..packet(0, len, Ecn::NotEct) })
    }

    fn put(&mut self, now: Time, p: Packet) -> Outcome {
        let seq = self.next_seq;
        self.next_seq += 1;
        let before = self.log.entries.len();
        let id = self.pool.insert(Packet { seq, ..p });
        self.call(now, |q, cx| q.enqueue(id, cx));
        match self.log.entries[before..] {
            [] => Outcome::Admitted,
            [Entry::Marked { seq: s, .. }] if s == seq => Outcome::Marked,
            [Entry::Dropped { seq: s, why, .. }] if s == seq => Outcome::Dropped(why),
            ref other => panic!("one packet arrived and the ledger says {other:?}"),
        }
    }

    /// New values for some parameters.
    pub fn change(&mut self, now: Time, set: &serde_json::Value) {
        let set = set.as_object().expect("a table of keys");
        self.call(now, |q, cx| q.read_and_change(set, cx)).unwrap_or_else(|e| panic!("{e}"));
    }

    /// Takes the head; returns its ordinal.
    pub fn depart(&mut self, now: Time) -> Option<u64> {
        let head = self.call(now, |q, cx| q.dequeue(cx))?;
        let seq = self.pool.get(head.id).seq;
        self.pool.remove(head.id);
        Some(seq)
    }
}
