//! FQ-CoDel: rounds, batches and collisions as computed by hand, and random traces against plain lists.

use crosswind_base::{
    Backlog, ClassTotals, Cx, DropReason, Dur, Ecn, FlowId, Histogram, Metrics, Packet, Pool, Streams, Time,
};
use crosswind_net::queue::flows::FlowQueues;
use crosswind_net::queue::fq_codel::FqCodelParams;
use crosswind_net::queue::{Head, QueueDisc, Removal};
use crosswind_net::registry::BuildCx;
use crosswind_testkit::bench::{Entry, Log, packet};
use crosswind_testkit::oracle::codel::{self as oracle, Codel, Waiting};
use crosswind_testkit::oracle::fq_codel::FqCodel as Oracle;
use serde_json::{Value, json};

const MS: u64 = 1_000_000;

struct Rig {
    disc: FlowQueues<FqCodelParams>,
    pool: Pool,
    log: Log,
    seq: u64,
}

fn rig_with(extra: Value, seed: u64) -> Rig {
    let mut p = json!({"isolation": "exact"});
    p.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let p: FqCodelParams = crosswind_net::params::read(&p, "queue").unwrap_or_else(|e| panic!("{e}"));
    let streams = Streams::new(seed);
    let disc = FlowQueues::build(p, &BuildCx::new(&streams, "q")).unwrap_or_else(|e| panic!("{e}"));
    Rig { disc, pool: Pool::new(), log: Log::default(), seq: 0 }
}

fn rig(extra: Value) -> Rig {
    rig_with(extra, 1)
}

impl Rig {
    fn call<T>(&mut self, now: u64, f: impl FnOnce(&mut FlowQueues<FqCodelParams>, &mut Cx<'_>) -> T) -> T {
        self.log.now = Time(now);
        let mut out = Vec::new();
        f(&mut self.disc, &mut Cx::new(Time(now), 0, &mut self.pool, &mut out, &mut self.log, None))
    }
    /// A packet of a flow arrives; its ordinal.
    fn arrive(&mut self, now: u64, flow: u32, len: u16, ecn: Ecn) -> u64 {
        let id = self.pool.insert(Packet { flow: FlowId(flow), ..packet(self.seq, len, ecn) });
        self.call(now, |q, cx| q.enqueue(id, cx));
        self.seq += 1;
        self.seq - 1
    }
    /// Takes out packets by their ordinal; which ones were asked for, and since when they wait.
    fn remove(&mut self, now: u64, goes: impl Fn(u64) -> bool) -> Vec<(u64, Time)> {
        let mut asked = Vec::new();
        self.call(now, |q, cx| {
            let mut chooser = |head: &Head, cx: &Cx<'_>| {
                asked.push((cx.packet(head.id).seq, head.since));
                goes(cx.packet(head.id).seq)
            };
            q.remove(&mut chooser, DropReason::Reset, cx);
        });
        asked
    }
    /// Ordinal and flow of the packet that leaves.
    fn depart(&mut self, now: u64) -> Option<(u64, u32)> {
        let head = self.call(now, |q, cx| q.dequeue(cx))?;
        let p = *self.pool.get(head.id);
        self.pool.remove(head.id);
        Some((p.seq, p.flow.0))
    }
    fn dropped(&self, why: DropReason) -> Vec<u64> {
        let of = |e: &Entry| match e {
            Entry::Dropped { seq, why: w, .. } if *w == why => Some(*seq),
            _ => None,
        };
        self.log.entries.iter().filter_map(of).collect()
    }
}

/// No law: nothing waits so long.
fn no_law(quantum: &str) -> Value {
    json!({"target": "100 s", "interval": "100 s", "quantum": quantum})
}

/// How many packets of which flow leave in a row.
fn runs(flows: &[u32]) -> Vec<(u32, usize)> {
    flows.chunk_by(|a, b| a == b).map(|c| (c[0], c.len())).collect()
}

#[test]
fn rounds_give_each_flow_a_quantum_of_bytes() {
    let mut r = rig(no_law("1514 B"));
    let lens = [1500u16, 500, 100];
    for f in 0..3u32 {
        let n = [220, 650, 3200][f as usize];
        for _ in 0..n {
            r.arrive(0, f, lens[f as usize], Ecn::NotEct);
        }
    }
    let (mut left, mut sent, mut widest) = (Vec::new(), [0i64; 3], 0);
    for _ in 0..4000 {
        let (_, flow) = r.depart(1).expect("all are backlogged");
        left.push(flow);
        sent[flow as usize] += i64::from(lens[flow as usize]);
        widest = widest.max(sent.iter().max().unwrap() - sent.iter().min().unwrap());
    }
    let expected = [(0, 2), (1, 4), (2, 16), (0, 1), (1, 3), (2, 15), (0, 1), (1, 3), (2, 15)];
    assert_eq!(runs(&left)[..9], expected);
    assert_eq!((sent, widest <= 3000), ([316_500, 316_500, 315_600], true), "{widest}");
    let mut r = rig(no_law("300 B"));
    for _ in 0..10 {
        r.arrive(0, 0, 1500, Ecn::NotEct);
    }
    for _ in 0..200 {
        r.arrive(0, 1, 64, Ecn::NotEct);
    }
    let left: Vec<u32> = (0..100).map(|_| r.depart(1).expect("backlogged").1).collect();
    assert_eq!(runs(&left)[..8], [(0, 1), (1, 24), (0, 1), (1, 23), (0, 1), (1, 24), (0, 1), (1, 23)]);
}

#[test]
fn a_flow_that_was_silent_goes_first_once_and_never_starves_the_others() {
    let mut r = rig(no_law("1514 B"));
    for _ in 0..50 {
        r.arrive(0, 0, 1500, Ecn::NotEct);
    }
    for _ in 0..4 {
        r.depart(0);
    }
    let sparse = r.arrive(0, 1, 100, Ecn::NotEct);
    assert_eq!(r.depart(0), Some((sparse, 1)));
    // Whoever comes back at once has to wait for its turn: its queue is still listed.
    let mut others = 0;
    for _ in 0..60 {
        let again = r.arrive(0, 1, 100, Ecn::NotEct);
        while r.depart(0).expect("backlogged") != (again, 1) {
            others += 1;
        }
    }
    // Four quanta of its own: each but the first comes after a packet of the other flow.
    assert!((2..=4).contains(&others), "{others}");
}

#[test]
fn the_longest_queue_loses_half_of_its_bytes_and_no_more_than_a_batch() {
    for (packets, len, cut) in
        [(10, 1500, 5), (100, 1500, 50), (127, 1500, 64), (128, 1500, 64), (200, 1500, 64), (1000, 100, 64)]
    {
        let mut r = rig(json!({"limit": format!("{packets} packets")}));
        for _ in 0..packets {
            r.arrive(0, 7, len, Ecn::NotEct);
        }
        r.arrive(0, 8, 40, Ecn::NotEct);
        assert_eq!(r.dropped(DropReason::FatFlow), (0..cut).collect::<Vec<_>>(), "{packets} packets of {len} B");
    }
    let mut r = rig(json!({"limit": "4 packets"}));
    for _ in 0..3 {
        r.arrive(0, 1, 100, Ecn::NotEct);
    }
    for f in 2..4 {
        r.arrive(0, f, 100, Ecn::NotEct);
    }
    assert_eq!(r.dropped(DropReason::FatFlow), [0, 1]);
}

#[test]
fn the_rfc_cuts_half_of_the_packets() {
    let mut r = rig(json!({"profile": "rfc8290", "limit": "20 packets"}));
    for _ in 0..10 {
        r.arrive(0, 1, 1500, Ecn::NotEct);
    }
    for _ in 0..10 {
        r.arrive(0, 1, 100, Ecn::NotEct);
    }
    r.arrive(0, 2, 100, Ecn::NotEct);
    assert_eq!(r.dropped(DropReason::FatFlow).len(), 10);
}

#[test]
fn a_hash_lets_flows_meet_as_often_as_chance_has_it() {
    // A new flow meets one of n others with 1 - (1 - 1/1024)^n.
    for (n, p) in [(10u32, 0.00972), (50, 0.04768), (100, 0.09308), (200, 0.17750), (500, 0.38647), (1000, 0.62358)] {
        let trials = 40_000 / n;
        let mut met = 0;
        for t in 0..trials {
            let mut r = rig_with(json!({"isolation": "hash"}), u64::from(t));
            for f in 0..n {
                r.arrive(0, f, 100, Ecn::NotEct);
            }
            let before = r.disc.queues();
            r.arrive(0, 1 << 20, 100, Ecn::NotEct);
            met += u32::from(r.disc.queues() == before);
        }
        let (share, error) = (f64::from(met) / f64::from(trials), (p * (1.0 - p) / f64::from(trials)).sqrt());
        assert!((share - p).abs() < 3.0 * error, "{n} flows: {share}, expected {p}");
    }
}

#[derive(Default)]
struct Classes(Vec<(String, ClassTotals, Backlog)>);

impl Metrics for Classes {
    fn value(&mut self, _: &'static str, _: f64) {}
    fn histogram(&mut self, _: &'static str, _: &Histogram) {}
    fn class(&mut self, name: &str, totals: &ClassTotals, holds: Backlog) {
        self.0.push((name.to_string(), totals.clone(), holds));
    }
}

fn totals(r: &Rig) -> Vec<(String, ClassTotals, Backlog)> {
    let mut c = Classes::default();
    r.disc.report(&mut c);
    c.0
}

#[test]
fn new_flows_old_flows_and_filtered_classes_have_totals_of_their_own() {
    let filter = json!([{"class": "scalable", "ecn": ["ect1", "ce"]}, {"class": "voice", "dscp": "EF"}]);
    let mut r = rig(json!({"filter": filter, "limit": "100 packets"}));
    for i in 0..120u64 {
        r.arrive(i * MS, 1, 1500, Ecn::Ect0);
        if i % 10 == 0 {
            r.arrive(i * MS, 2, 200, Ecn::Ect0);
            r.arrive(i * MS, 3, 300, Ecn::Ect1);
        }
        if i % 2 == 0 {
            r.depart(i * MS);
        }
    }
    let all = totals(&r);
    let of = |name: &str| &all.iter().find(|(n, ..)| n == name).unwrap_or_else(|| panic!("{name}")).1;
    let held = r.disc.backlog();
    let sum = |f: fn(&ClassTotals) -> u64| all.iter().map(|(_, t, _)| f(t)).sum::<u64>();
    let drops = |t: &ClassTotals| t.drops_packets.iter().sum::<u64>();
    assert_eq!(sum(|t| t.arrived_packets), 144);
    assert_eq!(144, sum(|t| t.sent_packets) + u64::from(held.packets) + sum(drops));
    let holds = all.iter().fold(Backlog::default(), |mut all, (_, _, holds)| {
        all += *holds;
        all
    });
    assert_eq!(holds, held);
    let scalable = all.iter().find(|(n, ..)| n == "scalable").unwrap();
    let left = scalable.1.arrived_packets - scalable.1.sent_packets - drops(&scalable.1);
    assert_eq!(u64::from(scalable.2.packets), left, "a class that filters choose keeps its packets");
    assert_eq!(
        (of("scalable").arrived_packets, of("scalable").arrived_bytes, of("voice").arrived_packets),
        (12, 3600, 0)
    );
    assert_eq!(of("old").drops_packets[DropReason::FatFlow as usize], r.dropped(DropReason::FatFlow).len() as u64);
    let (new, old) = (of("new").queue_delay_ns.quantile(0.95), of("old").queue_delay_ns.quantile(0.5));
    assert!(new < old, "{new} {old}");
}

#[test]
fn parameters_of_a_running_queue_can_change_but_not_where_flows_wait() {
    let mut r = rig(json!({"limit": "1000 packets"}));
    for _ in 0..500 {
        r.arrive(0, 1, 1500, Ecn::NotEct);
    }
    let set = |v: Value| v.as_object().unwrap().clone();
    let smaller = set(json!({"limit": "100 packets", "target": "20 ms"}));
    r.call(MS, |q, cx| q.read_and_change(&smaller, cx)).unwrap();
    assert!(r.disc.backlog().packets <= 100);
    for fixed in [json!({"flows": 8}), json!({"profile": "rfc8290"}), json!({"limit": "0 packets"})] {
        assert!(r.call(MS, |q, cx| q.read_and_change(&set(fixed), cx)).is_err());
    }
}

/// Random flows through both sides. How many were marked, dropped by the law and cut.
fn compare<C: Codel + Clone>(extra: Value, codel: &C, is_linux: bool, seed: u64) -> [usize; 3] {
    let mut r = rig_with(extra, seed);
    let mut oracle = Oracle::new(codel, 12);
    (oracle.limit_packets, oracle.memory_limit, oracle.batch, oracle.quantum) = (150, 150_000, 16, 600);
    oracle.is_linux = is_linux;
    let mut rng = Streams::new(seed).named("trace");
    let mut places: Vec<u32> = Vec::new();
    let (mut now, mut load, mut seen) = (1_000 * MS, 1.0, [0, 0, 0]);
    for i in 0..30_000 {
        if i % 400 == 0 {
            load = rng.between(0.7, 1.5);
        }
        now += rng.exponential(4e5) as u64;
        if rng.chance(0.002) {
            let third = |seq: u64| seq % 3 == 0;
            let before = r.log.entries.len();
            let asked = r.remove(now, third);
            assert!(asked.is_sorted_by_key(|a| a.1), "the oldest first");
            let mut mine: Vec<u64> = r.log.entries[before..].iter().map(|e| gone(e, DropReason::Reset)).collect();
            mine.sort_unstable();
            let mut want: Vec<u64> = Vec::new();
            for q in &mut oracle.queues {
                want.extend(q.packets.iter().map(|p| p.seq).filter(|s| third(*s)));
                q.packets.retain(|p| !third(p.seq));
            }
            want.sort_unstable();
            assert_eq!(mine, want, "seed {seed}, step {i}");
        }
        let before = r.log.entries.len();
        if rng.chance(load / (1.0 + load)) {
            // A few heavy flows and some that come now and then.
            let flow = if rng.chance(0.8) { rng.below(3) } else { rng.below(12) } as u32;
            let (len, ecn) = (40 + rng.below(1460), if flow % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct });
            let place = places.iter().position(|f| *f == flow).unwrap_or(places.len());
            if place == places.len() {
                places.push(flow);
            }
            let seq = r.arrive(now, flow, len as u16, ecn);
            let cut = oracle.enqueue(place, Waiting { seq, len, since_ns: now, is_capable: ecn == Ecn::Ect0 });
            let mine: Vec<u64> = r.log.entries[before..].iter().map(|e| gone(e, DropReason::FatFlow)).collect();
            assert_eq!(mine, cut, "seed {seed}, step {i}");
            seen[2] += cut.len();
        } else {
            let out = r.depart(now).map(|(seq, _)| seq);
            let want = oracle.dequeue(now);
            let new = &r.log.entries[before..];
            let is_mark = |e: &&Entry| matches!(e, Entry::Marked { .. });
            let marked: Vec<u64> = new.iter().filter(is_mark).map(|e| gone(e, DropReason::EarlyDrop)).collect();
            let dropped: Vec<u64> =
                new.iter().filter(|e| !is_mark(e)).map(|e| gone(e, DropReason::EarlyDrop)).collect();
            assert_eq!((out, &marked, &dropped), (want.out, &want.marked, &want.dropped), "seed {seed}, step {i}");
            seen = [seen[0] + marked.len(), seen[1] + dropped.len(), seen[2]];
        }
        let (held, (packets, bytes)) = (r.disc.backlog(), oracle.held());
        assert_eq!((held.packets as usize, held.bytes), (packets, bytes), "seed {seed}, step {i}");
    }
    seen
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

fn small(profile: &str) -> Value {
    json!({"profile": profile, "limit": "150 packets", "memory_limit": "150000 B", "drop_batch": 16, "quantum": "600 B"})
}

#[test]
fn random_flows_meet_plain_lists_and_the_codel_of_each() {
    for seed in 0..6 {
        let seen = compare(small("linux"), &oracle::Linux::new(4882, 97_656, 1514, true), true, seed);
        assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
        let seen = compare(small("rfc8290"), &oracle::Rfc::new(5e6, 1e8, 1514, true), false, seed);
        assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
    }
}

#[test]
fn the_oracle_notices_an_exemption_that_looks_at_one_flow() {
    let codel = oracle::Linux::new(4882, 97_656, 1514, true);
    assert!(std::panic::catch_unwind(|| compare(small("linux"), &codel, false, 1)).is_err());
}

#[test]
fn packets_are_taken_out_of_the_middle_and_counted_with_their_class() {
    let mut r = rig(no_law("1514 B"));
    for i in 0..12 {
        r.arrive(i * MS, (i % 3) as u32, 1000, Ecn::NotEct);
    }
    assert!(r.disc.removal() == Removal::Possible);
    let asked = r.remove(20 * MS, |seq| seq == 4 || seq % 3 == 2);
    assert_eq!(asked.iter().map(|a| a.0).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
    assert_eq!((r.disc.backlog().packets, r.disc.backlog().bytes), (7, 7000));
    let lost: u64 = totals(&r).iter().map(|(_, t, _)| t.drops_packets[DropReason::Reset as usize]).sum();
    assert_eq!(lost, 5);
    let left: Vec<u64> = std::iter::from_fn(|| r.depart(21 * MS)).map(|p| p.0).collect();
    assert_eq!(left, [0, 3, 1, 7, 6, 9, 10]);
    assert_eq!(r.disc.backlog().packets, 0);
}

#[test]
fn every_delay_is_from_arrival_to_departure() {
    let mut r = rig(json!({}));
    r.arrive(0, 1, 1000, Ecn::NotEct);
    r.depart(3 * MS);
    let all = totals(&r);
    let new = &all.iter().find(|(n, ..)| n == "new").unwrap().1;
    assert_eq!((new.sent_bytes, new.queue_delay_ns.max()), (1000, Dur::from_millis(3).0));
}
