//! CAKE: gaps, shares and places as computed, and random traces against plain lists.

use crosswind_base::{
    Backlog, ClassTotals, Cx, DropReason, DsByte, Dscp, Ecn, FlowId, Histogram, Metrics, Packet, Pool, Streams, Time,
};
use crosswind_net::queue::cake::framing::{Cells, Extra, Framing};
use crosswind_net::queue::cake::{Cake, CakeParams, Salt, Tins};
use crosswind_net::queue::{Head, QueueDisc, Removal};
use crosswind_net::registry::BuildCx;
use crosswind_net::sched::classify::FlowNames;
use crosswind_testkit::bench::{Entry, Log, packet};
use crosswind_testkit::oracle::cake::{Arrival, Cake as Oracle, Tin};
use crosswind_testkit::oracle::codel::Waiting;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

/// Flows by number, between hosts by number.
struct Ends(Vec<[u32; 2]>);

impl FlowNames for Ends {
    fn ids(&self, _: &str) -> Option<Vec<Range<u32>>> {
        None
    }
    fn groups(&self) -> Vec<&str> {
        Vec::new()
    }
    fn hosts(&self) -> Arc<[[u32; 2]]> {
        self.0.iter().copied().collect()
    }
}

struct Rig {
    disc: Cake,
    pool: Pool,
    log: Log,
    seq: u64,
}

fn rig_with(params: &Value, hosts: &[[u32; 2]], seed: u64) -> Rig {
    let p: CakeParams = crosswind_net::params::read(params, "queue").unwrap_or_else(|e| panic!("{e}"));
    let (streams, ends) = (Streams::new(seed), Ends(hosts.to_vec()));
    let disc = Cake::build(p, &BuildCx::new(&streams, "q").with_flows(&ends)).unwrap_or_else(|e| panic!("{e}"));
    Rig { disc, pool: Pool::new(), log: Log::default(), seq: 0 }
}

fn rig(params: &Value) -> Rig {
    rig_with(params, &[], 1)
}

impl Rig {
    /// So many packets of a flow arrive.
    fn arrive_all(&mut self, now: u64, flow: u32, len: u16, ds: DsByte, n: usize) {
        (0..n).for_each(|_| {
            self.arrive(now, flow, len, ds);
        });
    }
    fn call<T>(&mut self, now: u64, f: impl FnOnce(&mut Cake, &mut Cx<'_>) -> T) -> T {
        self.log.now = Time(now);
        let mut out = Vec::new();
        f(&mut self.disc, &mut Cx::new(Time(now), 0, &mut self.pool, &mut out, &mut self.log, None))
    }
    /// A packet of a flow arrives; its ordinal.
    fn arrive(&mut self, now: u64, flow: u32, len: u16, ds: DsByte) -> u64 {
        let id = self.pool.insert(Packet { flow: FlowId(flow), ds, ..packet(self.seq, len, Ecn::NotEct) });
        self.call(now, |q, cx| q.enqueue(id, cx));
        self.seq += 1;
        self.seq - 1
    }
    /// Ordinal and flow of the packet that leaves.
    fn depart(&mut self, now: u64) -> Option<(u64, u32)> {
        let head = self.call(now, |q, cx| q.dequeue(cx))?;
        let p = *self.pool.get(head.id);
        self.pool.remove(head.id);
        Some((p.seq, p.flow.0))
    }
    /// When the next packet leaves, asked at `now` and then whenever the queue wants to be asked; and which.
    fn next(&mut self, mut now: u64) -> Option<(u64, u32)> {
        loop {
            if let Some((_, flow)) = self.depart(now) {
                return Some((now, flow));
            }
            now = self.disc.next_wake()?.0;
            self.call(now, |q, cx| q.wake(cx));
        }
    }
}

fn plain() -> DsByte {
    DsByte::default()
}

fn marked_as(dscp: u8) -> DsByte {
    DsByte::default().with_dscp(Dscp::from_bits(dscp).unwrap())
}

#[test]
fn a_pause_saves_no_credit() {
    let mut r = rig(&json!({"rate": "10 Mbit/s", "framing": "ethernet"}));
    r.arrive(0, 1, 1500, plain());
    assert_eq!(r.next(0), Some((0, 1)));
    // The law marks, so that none is missing.
    r.arrive_all(10 * S, 1, 1500, Ecn::Ect0.into(), 100);
    let mut now = 10 * S;
    for i in 0..100 {
        now = r.next(now).expect("backlogged").0;
        assert_eq!(now, 10 * S + i * 1_230_400, "packet {i}");
    }
    assert_eq!(r.disc.backlog().packets, 0);
}

/// Bytes that each flow sends in ten seconds in which all have always something to send.
fn shares(isolation: &str, hosts: &[[u32; 2]]) -> Vec<f64> {
    let rate = json!({"rate": "50 Mbit/s", "isolation": isolation, "tins": "besteffort"});
    let mut r = rig_with(&rate, hosts, 1);
    let mut sent = vec![0.0; hosts.len()];
    for f in 0..hosts.len() as u32 {
        r.arrive_all(0, f, 1500, plain(), 5);
    }
    let mut now = 0;
    while now < 10 * S {
        let before = r.log.entries.len();
        let (at, flow) = r.next(now).expect("backlogged");
        now = at;
        sent[flow as usize] += 1500.0;
        r.arrive(now, flow, 1500, plain());
        // Whoever loses a packet sends another one.
        let lost = r.log.entries.len() - before;
        r.arrive_all(now, flow, 1500, plain(), lost);
    }
    let all: f64 = sent.iter().sum();
    assert!((all / (50e6 / 8.0 * 10.0) - 1.0).abs() < 1e-3, "the shaper sends at its rate: {all}");
    sent.iter().map(|s| s / all).collect()
}

#[test]
fn hosts_get_equal_shares_and_flows_equal_parts_of_them() {
    // Host 1 sends one flow, host 2 ten; so do the hosts that they send to.
    let ends: Vec<[u32; 2]> = std::iter::once([1, 11]).chain((0..10).map(|_| [2, 12])).collect();
    for s in shares("flows", &ends) {
        assert!((s * 11.0 - 1.0).abs() < 0.01, "{s}");
    }
    for isolation in ["dual-srchost", "dual-dsthost", "triple-isolate", "srchost", "dsthost", "hosts"] {
        let s = shares(isolation, &ends);
        assert!((s[0] / 0.5 - 1.0).abs() < 0.01, "{isolation}: {s:?}");
        if isolation.contains('-') {
            assert!(s[1..].iter().all(|one| (one / 0.05 - 1.0).abs() < 0.01), "{isolation}: {s:?}");
        }
    }
    // Where all go to one host, only that of the other end counts.
    let one: Vec<[u32; 2]> = ends.iter().map(|e| [e[0], 11]).collect();
    let s = shares("dual-srchost", &one);
    assert!((s[0] / 0.5 - 1.0).abs() < 0.01, "{s:?}");
    let s = shares("dual-dsthost", &one);
    assert!((s[0] * 11.0 - 1.0).abs() < 0.01, "{s:?}");
}

/// How many of `n` packets of each tin, always there, leave in ten seconds, by code point.
fn split(tins: &str, rate: &str, dscps: &[u8]) -> Vec<f64> {
    let mut r = rig(&json!({"rate": rate, "tins": tins}));
    let mut sent = vec![0.0; dscps.len()];
    for (f, dscp) in (0..).zip(dscps) {
        r.arrive_all(0, f, 1500, marked_as(*dscp), 40);
    }
    let mut now = 0;
    for _ in 0..8000 {
        let before = r.log.entries.len();
        let (at, flow) = r.next(now).expect("backlogged");
        now = if rate == "none" { at + 100_000 } else { at };
        let i = flow as usize;
        sent[i] += 1.0 / 8000.0;
        r.arrive(now, flow, 1500, marked_as(dscps[i]));
        for e in &r.log.entries[before..].to_vec() {
            assert!(matches!(e, Entry::Dropped { why: DropReason::EarlyDrop, .. }));
            r.arrive(now, flow, 1500, marked_as(dscps[i]));
        }
    }
    sent
}

#[test]
fn a_tin_comes_first_up_to_its_share_and_gets_what_others_leave() {
    // Voice a quarter, bulk a sixteenth; best effort the rest.
    let s = split("diffserv3", "20 Mbit/s", &[0, 8, 46]);
    let expected = [1.0 - 0.25 - 1.0 / 16.0, 1.0 / 16.0, 0.25];
    assert!(s.iter().zip(expected).all(|(s, e)| (s / e - 1.0).abs() < 0.02), "{s:?}");
    // Without best effort the two get all of it.
    let s = split("diffserv3", "20 Mbit/s", &[8, 46]);
    assert!((s[0] + s[1] - 1.0).abs() < 1e-9 && s[1] > 0.25 && s[0] > 1.0 / 16.0, "{s:?}");
    // Nothing shapes: by quantum.
    let s = split("diffserv4", "none", &[0, 8, 34, 46]);
    let all = 1024.0 + 64.0 + 512.0 + 256.0;
    let expected = [1024.0 / all, 64.0 / all, 512.0 / all, 256.0 / all];
    assert!(s.iter().zip(expected).all(|(s, e)| (s / e - 1.0).abs() < 0.02), "{s:?}");
}

#[test]
fn eight_ways_let_flows_meet_as_often_as_chance_has_it() {
    for n in [200u32, 300, 500, 1000] {
        // Eight or more of n others in one of 128 sets.
        let (mut term, mut below, q) = ((1.0f64 - 1.0 / 128.0).powi(n as i32), 0.0, 1.0 / 127.0);
        for k in 0..8u32 {
            below += term;
            term *= f64::from(n - k) / f64::from(k + 1) * q;
        }
        let (p, trials) = (1.0 - below, 4_000_000 / (n * n) + 200);
        let mut met = 0;
        for t in 0..trials {
            let mut r = rig_with(&json!({"isolation": "flows", "tins": "besteffort"}), &[], u64::from(t));
            for f in 0..n {
                r.arrive(0, f, 100, plain());
            }
            let before = r.disc.found();
            r.arrive(0, 1 << 20, 100, plain());
            met += r.disc.found().collisions_packets - before.collisions_packets;
        }
        let (share, error) = (met as f64 / f64::from(trials), (p * (1.0 - p) / f64::from(trials)).sqrt());
        assert!((share - p).abs() <= 3.0 * error.max(1.0 / f64::from(trials)), "{n} flows: {share}, expected {p}");
    }
}

#[test]
fn hosts_fall_into_places_as_chance_has_it_and_otherwise_at_the_other_end() {
    for seed in 0..4 {
        let salt = Salt(Streams::new(seed).named("hash").bits());
        let hashes = |end: usize| (0..1024).map(|host| salt.of_host(host, end)).collect::<Vec<u32>>();
        for of in [0, 1].map(hashes) {
            // 1024 hosts in as many places: 1 - 1/e of them, 647, are taken; the standard deviation is ten.
            let taken = of.iter().map(|h| h % 1024).collect::<BTreeSet<u32>>().len();
            assert!((600..=694).contains(&taken), "seed {seed}: {taken}");
        }
        assert_eq!(hashes(0).iter().zip(hashes(1)).filter(|(a, b)| **a == *b).count(), 0, "seed {seed}");
    }
}

#[derive(Default)]
struct Classes(Vec<(String, ClassTotals)>);

impl Metrics for Classes {
    fn value(&mut self, _: &'static str, _: f64) {}
    fn histogram(&mut self, _: &'static str, _: &Histogram) {}
    fn class(&mut self, name: &str, totals: &ClassTotals, _: Backlog) {
        self.0.push((name.to_string(), totals.clone()));
    }
}

#[test]
fn tins_have_totals_of_their_own_and_the_longest_flow_loses_at_its_head() {
    let mut r = rig(&json!({"rate": "10 Mbit/s", "tins": "diffserv4", "memory_limit": "15000 B"}));
    for i in 0..30u64 {
        r.arrive(i, 1, 1000, plain());
        r.arrive(i, 2, 100, marked_as(46));
    }
    let mut c = Classes::default();
    r.disc.report(&mut c);
    assert_eq!(c.0.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>(), ["best-effort", "bulk", "video", "voice"]);
    let of = |i: usize| &c.0[i].1;
    let cut = DropReason::FatFlow as usize;
    assert_eq!([of(0), of(3)].map(|t| (t.arrived_packets, t.drops_packets[cut])), [(30, 18), (30, 0)]);
    let gone: Vec<u64> = r.log.entries.iter().map(|e| gone(e, DropReason::FatFlow)).collect();
    assert_eq!(gone, (0..18).map(|i| 2 * i).collect::<Vec<_>>());
    assert_eq!(r.disc.backlog().bytes, 15_000);
}

#[test]
fn packets_are_taken_out_of_the_middle_the_oldest_asked_first() {
    let mut r = rig(&json!({"tins": "diffserv3"}));
    for i in 0..12 {
        r.arrive(i * MS, (i % 3) as u32, 1000, marked_as([0, 8, 46][i as usize % 3]).with_ecn(Ecn::Ect0));
    }
    assert!(r.disc.removal() == Removal::Possible);
    let mut asked = Vec::new();
    r.call(20 * MS, |q, cx| {
        let mut chooser = |head: &Head, cx: &Cx<'_>| {
            asked.push(cx.packet(head.id).seq);
            cx.packet(head.id).seq % 4 == 1
        };
        q.remove(&mut chooser, DropReason::Reset, cx);
    });
    assert_eq!(asked, (0..12).collect::<Vec<_>>());
    assert_eq!((r.disc.backlog().packets, r.disc.backlog().bytes), (9, 9000));
    let mut left: Vec<u64> = std::iter::from_fn(|| r.depart(21 * MS)).map(|p| p.0).collect();
    left.sort_unstable();
    assert_eq!(left, [0, 2, 3, 4, 6, 7, 8, 10, 11]);
}

#[test]
fn a_running_shaper_takes_another_rate_and_another_line() {
    let mut r = rig(&json!({"rate": "10 Mbit/s"}));
    r.arrive_all(0, 1, 1000, plain(), 40);
    let set = |v: Value| v.as_object().unwrap().clone();
    assert_eq!([r.next(0), r.next(0)].map(|n| n.unwrap().0), [0, 800_000]);
    r.call(MS, |q, cx| q.read_and_change(&set(json!({"rate": "100 Mbit/s", "framing": "conservative"})), cx)).unwrap();
    // 1048 bytes are 22 cells.
    let cells = 22 * 53 * 80;
    assert_eq!([r.next(MS), r.next(MS)].map(|n| n.unwrap().0), [1_600_000, 1_600_000 + cells]);
    for fixed in [json!({"tins": "besteffort"}), json!({"isolation": "flows"}), json!({"rtt": "1 h"})] {
        assert!(r.call(2 * MS, |q, cx| q.read_and_change(&set(fixed), cx)).is_err());
    }
}

/// The packet that was marked, or dropped for this reason.
fn gone(e: &Entry, reason: DropReason) -> u64 {
    match e {
        Entry::Marked { seq, .. } => *seq,
        Entry::Dropped { seq, why, .. } => {
            assert_eq!(*why, reason);
            *seq
        }
    }
}

/// One way to set both sides up.
struct Case {
    params: Value,
    tins: Tins,
    rate: u64,
    memory: u64,
    adjust: fn(u64) -> u64,
    isolation: &'static str,
    charges_all: bool,
}

fn docsis(len: u64) -> u64 {
    Framing { overhead: Extra(18), mpu: crosswind_base::Size(64), cells: Cells::None }.of(len as u32)
}

fn cells(len: u64) -> u64 {
    (len + 44).div_ceil(48) * 53
}

fn cases() -> Vec<Case> {
    let case = |tins: &str, rate: u64, isolation: &'static str| Case {
        params: json!({"tins": tins, "rate": if rate == 0 { "none".into() } else { format!("{} bit/s", rate * 8) },
                       "isolation": isolation}),
        tins: serde_json::from_value(tins.into()).unwrap(),
        rate,
        memory: 10_240 * 1514,
        adjust: |len| len,
        isolation,
        charges_all: false,
    };
    let with = |mut c: Case, extra: Value| {
        c.params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        c
    };
    let mut small =
        with(case("diffserv3", 1_250_000, "triple-isolate"), json!({"memory_limit": "60 kB", "ecn": "drop"}));
    small.memory = 60_000;
    let mut cable = with(case("diffserv4", 1_250_000, "dual-srchost"), json!({"framing": "docsis"}));
    cable.adjust = docsis;
    let mut dsl = with(
        case("besteffort", 1_250_000, "triple-isolate"),
        json!({"overhead": "44 B", "cells": "atm", "charge": "all"}),
    );
    (dsl.adjust, dsl.charges_all) = (cells, true);
    let mut back =
        with(case("diffserv8", 1_250_000, "dual-dsthost"), json!({"charge": "all", "memory_limit": "90 kB"}));
    (back.charges_all, back.memory) = (true, 90_000);
    vec![small, cable, dsl, back, case("diffserv3", 0, "triple-isolate"), case("precedence", 1_250_000, "hosts")]
}

/// Numbers whose hash falls into the first places of a tin: so few that they collide.
fn close(hash: impl Fn(u32) -> u32, places: u32, n: usize) -> Vec<u32> {
    (0..).filter(|i| hash(*i) % 1024 < places).take(n).collect()
}

/// Random packets through both sides. How many were marked, dropped by the law, cut; how many shared the place of another flow.
fn compare(c: &Case, oracle_dual: [bool; 2], seed: u64) -> [u64; 4] {
    let streams = Streams::new(seed);
    let salt = Salt(streams.named("q/hash").bits());
    let flow_hash = |f: u32| salt.of_flow(&Packet { flow: FlowId(f), ..Packet::default() });
    let flows = close(flow_hash, 16, 30);
    let ends = [0, 1].map(|end| close(|h| salt.of_host(h, end), 8, 12));
    let mut rng = streams.named("trace");
    let hosts: Vec<[u32; 2]> =
        (0..=*flows.last().unwrap()).map(|f| [ends[0][f as usize * 7 % 12], ends[1][f as usize * 5 % 12]]).collect();
    let mut r = rig_with(&c.params, &hosts, seed);
    let tins = c.tins.shares(c.rate).iter().map(|s| Tin::new(s.rate, s.quantum, 1514, 100 * MS)).collect();
    let mut oracle = Oracle::new(tins, c.memory);
    (oracle.dual, oracle.charges_all, oracle.adjust) = (oracle_dual, c.charges_all, c.adjust);
    oracle.ecn = c.params.get("ecn").is_none();
    let [mut draws, mut dither] = ["q/cobalt", "q/dither"].map(|n| streams.named(n));
    let mut random16 = || (dither.bits() >> 48) as u16;
    let mut random32 = || (draws.bits() >> 32) as u32;
    let (map, mut now, mut load, mut seen) = (c.tins.map(), S, 1.0, [0, 0, 0, 0]);
    for i in 0..8_000 {
        if i % 400 == 0 {
            load = rng.between(0.6, 1.4);
        }
        now += rng.exponential(3e5) as u64;
        let before = r.log.entries.len();
        if rng.chance(load / (1.0 + load)) {
            // A few heavy flows and many that come now and then.
            let flow = flows[if rng.chance(0.7) { rng.below(4) } else { rng.below(30) } as usize];
            let (len, ecn) = (40 + rng.below(1460), if flow % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct });
            let dscp = [0, 8, 34, 46, 2, 16, 48, 1][flow as usize % 8];
            let seq = r.arrive(now, flow, len as u16, marked_as(dscp).with_ecn(ecn));
            let packet = Waiting { seq, len, since_ns: now, is_capable: ecn == Ecn::Ect0 };
            let both = [0, 1].map(|end| salt.of_host(hosts[flow as usize][end], end));
            let hash = match c.isolation {
                "hosts" => both[0] ^ both[1],
                _ => flow_hash(flow),
            };
            let a = Arrival { packet, tin: usize::from(map[usize::from(dscp)]), flow_hash: hash, host_hashes: both };
            let cut = oracle.enqueue(now, &a, &mut random16);
            let mine: Vec<u64> = r.log.entries[before..].iter().map(|e| gone(e, DropReason::FatFlow)).collect();
            assert_eq!(mine, cut, "{}, seed {seed}, step {i}", c.params);
            seen[2] += cut.len() as u64;
        } else {
            let out = r.depart(now).map(|(seq, _)| seq);
            let want = oracle.dequeue(now, &mut random16, &mut random32);
            let new = &r.log.entries[before..];
            let of = |marks: bool| {
                let fits = move |e: &&Entry| matches!(e, Entry::Marked { .. }) == marks;
                new.iter().filter(fits).map(|e| gone(e, DropReason::EarlyDrop)).collect::<Vec<u64>>()
            };
            assert_eq!(
                (out, of(true), of(false)),
                (want.out, want.marked, want.dropped),
                "{}, seed {seed}, step {i}",
                c.params
            );
            seen = [seen[0] + of(true).len() as u64, seen[1] + of(false).len() as u64, seen[2], seen[3]];
        }
        let (held, (packets, bytes)) = (r.disc.backlog(), oracle.held());
        assert_eq!((held.packets as usize, held.bytes), (packets, bytes), "{}, seed {seed}, step {i}", c.params);
    }
    seen[3] = r.disc.found().collisions_packets;
    seen
}

fn dual(isolation: &str) -> [bool; 2] {
    let is = |one: &str| isolation == one || isolation == "triple-isolate";
    [is("dual-srchost"), is("dual-dsthost")]
}

#[test]
fn random_flows_meet_plain_lists() {
    let mut all = [0; 4];
    for c in cases() {
        for seed in 0..2 {
            let seen = compare(&c, dual(c.isolation), seed);
            all.iter_mut().zip(seen).for_each(|(sum, n)| *sum += n);
        }
    }
    assert!(all.iter().all(|n| *n > 50), "{all:?}");
}

#[test]
fn the_oracle_notices_hosts_that_do_not_count() {
    let c = &cases()[0];
    assert!(std::panic::catch_unwind(|| compare(c, [true, false], 1)).is_err());
}

#[test]
fn the_oracle_notices_a_length_that_is_not_adjusted() {
    let mut c = cases().swap_remove(1);
    c.adjust = |len| len;
    assert!(std::panic::catch_unwind(|| compare(&c, dual(c.isolation), 1)).is_err());
}
