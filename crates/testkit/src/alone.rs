//! One queue without a link, driven by packets of many kinds, and everything that it does and answers as one hash. Two runs
//! with the same hash cannot be told apart.

use crate::bench::{DiscBench, Entry, Report};
use crate::conformance::setups;
use crate::kept::Hash;
use crosswind_base::packet::{Expired, Ext, Life, Lifetime, Meta};
use crosswind_base::{
    Backlog, BitRate, ConfigError, Cx, DropReason, DsByte, Dscp, Dur, Ecn, FlowId, Packet, PacketId, Rng, Streams,
    Time, Waiting,
};
use crosswind_net::queue::{BoxQueue, Head, QueueDisc, Removal};
use crosswind_net::registry::{self, BuildCx, Hosts, Row};
use serde_json::{Map, Value, json};

/// Random packets of several flows, in both directions, with code points, limits of waiting and lifetimes.
pub struct Traffic(pub Rng);

impl Traffic {
    pub fn next(&mut self, seq: u64, now: Time) -> (Packet, Option<Ext>) {
        let r = &mut self.0;
        let len = if r.chance(0.6) { 1500 } else { 40 + r.below(600) as u16 };
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][r.below(4) as usize];
        let dscp = ["AF11", "AF12", "AF13", "EF", "CS1", "0"][r.below(6) as usize];
        let ds = DsByte::default().with_dscp(Dscp::parse(dscp).expect("a code point")).with_ecn(ecn);
        let meta = Meta(if r.chance(0.2) { Meta::REVERSE } else { 0 });
        let flow = FlowId(r.below(6) as u32);
        let mut p = Packet { seq, len, payload: len - 40, ds, meta, flow, ..Packet::default() };
        Hosts::write(&mut p, [1 + r.below(3) as u32, 7 + r.below(2) as u32]);
        let mut ms = |most: u64| Dur::from_micros(500 + r.below(1000 * most));
        let (longest, left, life) = (ms(60), ms(200), ms(90));
        let lifetime = if r.chance(0.5) { Lifetime::Left(life) } else { Lifetime::Until(now + life) };
        let expired = [Expired::Forward, Expired::Discard, Expired::Headers][r.below(3) as usize];
        let wait = Waiting {
            longest: r.chance(0.5).then_some(longest),
            left: r.chance(0.5).then_some(left),
            so_far: Dur::ZERO,
        };
        let life = r.chance(0.6).then_some(Life { lifetime, expired, is_cut: false });
        (p, r.chance(0.4).then_some(Ext { wait, life, ..Ext::default() }))
    }
}

pub fn hash_packet(h: &mut Hash, p: &Packet, ext: Option<&Ext>) {
    h.words(&[p.seq, u64::from(p.len), u64::from(p.payload), u64::from(p.ds.0)]);
    if let Some(e) = ext {
        let life = e.life.map_or(0, |l| 1 + u64::from(l.is_cut));
        let left = e.life.map_or(0, |l| match l.lifetime {
            Lifetime::Left(d) => d.0,
            Lifetime::Until(at) => at.0,
        });
        let wait = [e.wait.longest, e.wait.left].map(|d| d.map_or(u64::MAX, |d| d.0));
        h.words(&[life, left, wait[0], wait[1], e.wait.so_far.0]);
    }
}

pub fn hash_entries(h: &mut Hash, entries: &[Entry]) {
    for e in entries {
        match e {
            Entry::Dropped { at, seq, why } => {
                h.words(&[at.0, *seq]);
                h.text(why.name());
            }
            Entry::Marked { at, seq } => h.words(&[at.0, *seq, 77]),
        }
    }
}

pub fn hash_values(h: &mut Hash, values: &[(&'static str, f64)]) {
    for (name, v) in values {
        h.text(name);
        h.number(*v);
    }
}

pub fn hash_report(h: &mut Hash, r: &Report) {
    hash_values(h, &r.values);
    for (name, count, mean) in &r.histograms {
        h.text(name);
        h.word(*count);
        h.number(*mean);
    }
    for (name, t, holds) in &r.classes {
        h.text(name);
        h.words(&[t.arrived_packets, t.arrived_bytes, t.sent_packets, t.sent_bytes, t.marks_packets]);
        h.words(&[holds.bytes, u64::from(holds.packets), t.queue_delay_ns.count()]);
        h.number(t.queue_delay_ns.mean());
        for (why, n) in DropReason::NAMES.iter().zip(t.drops_packets).filter(|(_, n)| *n > 0) {
            h.text(why);
            h.word(n);
        }
    }
}

/// Whether the element took it, or under which key it did not.
pub fn hash_taken(h: &mut Hash, taken: &Result<(), ConfigError>) {
    match taken {
        Ok(()) => h.text("taken"),
        Err(e) => h.text(&e.path),
    }
}

/// Every key of an element with every value that there is for it.
pub fn tries(row: &Row) -> Vec<(String, Value)> {
    let all: Map<String, Value> =
        serde_json::from_str(include_str!("../tests/kept/values.json")).expect("a table of values");
    let schema = serde_json::to_value(row.schema().expect("every element has parameters")).expect("a schema is JSON");
    let has = |key: &String| schema["properties"].get(key.as_str()).is_some();
    let pairs = all.into_iter().filter(|(key, _)| has(key));
    pairs
        .flat_map(|(key, vs)| vs.as_array().cloned().unwrap_or_default().into_iter().map(move |v| (key.clone(), v)))
        .collect()
}

pub fn table(key: &str, v: &Value) -> Map<String, Value> {
    Map::from_iter([(key.to_string(), v.clone())])
}

/// A queue alone, emptied now faster and now slower than it fills, and all that it answers.
pub struct Alone {
    b: DiscBench<BoxQueue>,
    h: Hash,
    traffic: Traffic,
    seq: u64,
}

impl Alone {
    pub fn new(queue: &Value, seed: u64) -> Result<Alone, ConfigError> {
        let streams = Streams::new(seed);
        let cx = BuildCx::new(&streams, "link/test/forward")
            .of_link(Some(BitRate(2_000_000)), Some(Dur::from_millis(7)))
            .with_hosts_in_packets();
        let disc = registry::build_queue(queue, "queue", &cx)?;
        Ok(Alone { b: DiscBench::new(disc), h: Hash::default(), traffic: Traffic(streams.named("traffic")), seq: 0 })
    }
    pub fn arrive(&mut self, now: Time) {
        let (p, ext) = self.traffic.next(self.seq, now);
        self.seq += 1;
        if self.b.disc.backlog().packets == 0 && self.seq % 2 == 0 {
            let passes = self.b.disc.may_pass(u32::from(p.len));
            self.h.word(u64::from(passes));
            if passes {
                return;
            }
        }
        let id = self.b.pool.insert(p);
        if let Some(ext) = ext {
            self.b.pool.attach(id, ext);
        }
        self.b.call(now, |q, cx| q.enqueue(id, cx));
    }
    pub fn depart(&mut self, now: Time) {
        let peeked = self.b.disc.peek();
        let Some(head) = self.b.call(now, |q, cx| q.dequeue(cx)) else { return self.h.word(3) };
        assert!(peeked.is_none_or(|p| p == head), "a queue gives what it has said that it will give");
        self.h.words(&[u64::from(peeked.is_some()), u64::from(head.len), head.since.0]);
        let p = *self.b.pool.get(head.id);
        hash_packet(&mut self.h, &p, self.b.pool.ext(&p));
        self.b.pool.remove(head.id);
    }
    pub fn look(&mut self, now: Time) {
        let (q, h) = (&self.b.disc, &mut self.h);
        let held = q.backlog();
        assert_eq!(self.b.pool.in_use(), held.packets as usize, "what a queue says it holds is what it holds");
        let below = [(2000, 3), (9000, 9), (60_000, 60)].map(|(bytes, packets)| Backlog { bytes, packets });
        let admits = below.map(|b| u64::from(q.always_admits(b)));
        h.words(&[held.bytes, u64::from(held.packets), q.next_wake().map_or(1, |t| t.0)]);
        h.words(&[u64::from(q.decides_on_arrival()), u64::from(q.removal() == Removal::Possible)]);
        h.words(&admits);
        let mut values = Vec::new();
        q.sample(now, &mut |name, v| values.push((name, v)));
        hash_values(h, &values);
    }
    pub fn report(&mut self) {
        let mut r = Report::default();
        self.b.disc.report(&mut r);
        hash_report(&mut self.h, &r);
        hash_entries(&mut self.h, &self.b.log.entries);
    }
    pub fn wake(&mut self, now: Time) {
        if self.b.disc.next_wake().is_some_and(|at| at <= now) {
            self.b.call(now, |q, cx| q.wake(cx));
        }
    }
    pub fn take_out(&mut self, now: Time) {
        if self.b.disc.removal() == Removal::Possible {
            let mut asked: Vec<PacketId> = Vec::new();
            self.b.call(now, |q, cx| {
                let mut goes = |head: &Head, cx: &Cx<'_>| {
                    asked.push(head.id);
                    cx.packet(head.id).seq % 3 == 1
                };
                q.remove(&mut goes, DropReason::Expired, cx);
            });
            self.h.word(asked.len() as u64);
        }
    }
    /// What came of all steps.
    pub fn run(mut self, plan: &Plan<'_>) -> Outcome {
        let mut rng = Streams::new(plan.steps).named("steps");
        let (mut now, mut taken) = (Time::ZERO, None);
        for i in 0..plan.steps {
            if let Some((_, set)) = plan.change.filter(|(at, _)| *at == i) {
                taken = Some(self.b.call(now, |q, cx| q.read_and_change(set, cx)).map_err(|e| e.path));
            }
            now += Dur::from_secs_f64(rng.exponential(0.002));
            if rng.chance(0.01) {
                now += Dur::from_millis(400);
            }
            self.wake(now);
            if rng.chance([0.35, 0.7, 0.5][(i / 90 % 3) as usize]) {
                self.arrive(now)
            } else {
                self.depart(now)
            }
            if i % 10 == 9 {
                self.look(now);
            }
            if plan.takes_out_every.is_some_and(|n| i % n == n - 1) {
                self.take_out(now);
            }
        }
        self.report();
        Outcome { hash: self.h, taken }
    }
}

/// How long a queue is driven, and what happens to it besides packets.
#[derive(Clone, Copy, Default, Debug)]
pub struct Plan<'a> {
    pub steps: u64,
    /// New values before this step.
    pub change: Option<(u64, &'a Map<String, Value>)>,
    /// After so many steps packets are taken out of it, for a reason that is not its own.
    pub takes_out_every: Option<u64>,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub hash: Hash,
    /// Whether the queue took the new values, or where it did not.
    pub taken: Option<Result<(), String>>,
}

/// A base on which most keys make a difference soon.
pub fn bases(row: &Row) -> Vec<Value> {
    let mut all: Vec<Value> = setups(row).into_iter().map(|s| s.queue).collect();
    match row.name {
        "red-ns2" => all.push(json!({"type": row.name, "w_q": 0.1, "min_th": "2 packets", "measure": "packets"})),
        "rem" => all.push(json!({"type": row.name, "gamma": 0.05, "phi": 1.05, "target": 3, "rate": "1 Mbit/s"})),
        "pi" => all.push(json!({"type": row.name, "a": 0.02, "b": 0.01, "target": 3})),
        "lpd" => all.push(json!({"type": row.name, "rate": "1 Mbit/s", "delay": "1 ms", "looks": "departure"})),
        "rio" | "wred" => {
            let t = |min: u32, max: u32, p: f64| json!({"min_th": format!("{min} packets"), "max_th": format!("{max} packets"), "max_p": p});
            let base = json!({"type": row.name, "w_q": 0.2, "green": t(4, 9, 0.1), "yellow": t(2, 6, 0.3)});
            let mut three = base.clone();
            (three["red"], three["profile"]) = (t(1, 4, 0.5), "ns2-diffserv".into());
            all.extend([base, three]);
        }
        _ => {}
    }
    all.dedup();
    all
}
