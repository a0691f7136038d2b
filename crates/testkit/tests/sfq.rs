//! SFQ: rounds and drops worked out by hand, and random traces against plain lists.

use crosswind_base::{Cx, DropReason, Dur, Ecn, FlowId, Limit, Packet, Pool, Size, Streams, Time};
use crosswind_net::queue::sfq::{HeadDrop, Sfq, SfqParams, place_of};
use crosswind_net::queue::{Head, QueueDisc};
use crosswind_net::registry::BuildCx;
use crosswind_testkit::bench::{Entry, Log, packet};
use crosswind_testkit::oracle::sfq::{Sfq as Oracle, Waiting};

const MS: u64 = 1_000_000;

struct Rig {
    disc: Sfq,
    pool: Pool,
    log: Log,
    seq: u64,
}

fn rig(p: SfqParams, seed: u64) -> Rig {
    let streams = Streams::new(seed);
    let disc = Sfq::build(p, &BuildCx::new(&streams, "q")).unwrap_or_else(|e| panic!("{e}"));
    Rig { disc, pool: Pool::new(), log: Log::default(), seq: 0 }
}

impl Rig {
    fn call<T>(&mut self, now: u64, f: impl FnOnce(&mut Sfq, &mut Cx<'_>) -> T) -> T {
        self.log.now = Time(now);
        let mut out = Vec::new();
        f(&mut self.disc, &mut Cx::new(Time(now), 0, &mut self.pool, &mut out, &mut self.log, None))
    }
    /// A packet of a flow arrives; who was dropped meanwhile.
    fn arrive(&mut self, now: u64, flow: u32, len: u16) -> Vec<u64> {
        let id = self.pool.insert(Packet { flow: FlowId(flow), ..packet(self.seq, len, Ecn::NotEct) });
        self.seq += 1;
        self.watched(|r| r.call(now, |q, cx| q.enqueue(id, cx))).1
    }
    fn depart(&mut self, now: u64) -> Option<(u64, u32)> {
        let head = self.call(now, |q, cx| q.dequeue(cx))?;
        let p = *self.pool.get(head.id);
        self.pool.remove(head.id);
        Some((p.seq, p.flow.0))
    }
    /// Takes out packets by their ordinal; which ones were asked for.
    fn remove(&mut self, now: u64, goes: impl Fn(u64) -> bool) -> Vec<u64> {
        let mut asked = Vec::new();
        self.call(now, |q, cx| {
            let mut chooser = |head: &Head, cx: &Cx<'_>| {
                asked.push(cx.packet(head.id).seq);
                goes(cx.packet(head.id).seq)
            };
            q.remove(&mut chooser, DropReason::Reset, cx);
        });
        asked
    }
    fn watched<T>(&mut self, f: impl FnOnce(&mut Rig) -> T) -> (T, Vec<u64>) {
        let before = self.log.entries.len();
        let result = f(self);
        let seq_of = |e: &Entry| match e {
            Entry::Dropped { seq, .. } | Entry::Marked { seq, .. } => *seq,
        };
        (result, self.log.entries[before..].iter().map(seq_of).collect())
    }
}

#[test]
fn rounds_give_each_flow_a_quantum_of_bytes() {
    let mut r = rig(SfqParams { limit: Limit::Packets(200), divisor: 65_536, ..SfqParams::default() }, 1);
    for (flow, len, n) in [(0, 1500, 10), (1, 500, 30), (2, 100, 100)] {
        (0..n).for_each(|_| assert!(r.arrive(0, flow, len).is_empty()));
    }
    let left: Vec<u32> = (0..44).map(|_| r.depart(0).expect("backlogged").1).collect();
    let runs: Vec<(u32, usize)> = left.chunk_by(|a, b| a == b).map(|c| (c[0], c.len())).collect();
    // While the allotment is above zero: two of 1500 B the first time, then one; four of 500 B, then three.
    assert_eq!(runs[..8], [(0, 2), (1, 4), (2, 16), (0, 1), (1, 3), (2, 15), (0, 1), (1, 2)]);
}

#[test]
fn a_flow_that_comes_back_waits_for_the_others() {
    let mut r = rig(SfqParams { divisor: 65_536, ..SfqParams::default() }, 1);
    (0..4).for_each(|_| drop(r.arrive(0, 0, 1500)));
    r.arrive(0, 1, 100);
    assert_eq!((0..5).map(|_| r.depart(0).unwrap().1).collect::<Vec<_>>(), [0, 0, 1, 0, 0]);
}

#[test]
fn the_longest_queue_gives_up_its_last_packet_or_its_first() {
    for (head_drop, gone) in [(HeadDrop::Off, 5), (HeadDrop::On, 1)] {
        let mut r = rig(SfqParams { limit: Limit::Packets(6), divisor: 65_536, head_drop, ..SfqParams::default() }, 1);
        r.arrive(0, 0, 100);
        (0..5).for_each(|_| drop(r.arrive(0, 1, 100)));
        assert_eq!(r.arrive(0, 2, 1500), [gone], "{head_drop:?}");
    }
}

#[test]
fn of_queues_of_one_packet_the_next_in_turn_gives_way() {
    let mut r = rig(SfqParams { limit: Limit::Packets(3), divisor: 65_536, ..SfqParams::default() }, 1);
    (0..3).for_each(|f| drop(r.arrive(0, f, 100)));
    // Three slots for three packets: a fourth flow finds none.
    assert_eq!(r.arrive(0, 9, 100), [3]);
    assert_eq!(r.depart(0), Some((0, 0)));
}

#[test]
fn a_full_queue_refuses_or_drops_its_head() {
    for (head_drop, gone) in [(HeadDrop::Off, 2), (HeadDrop::On, 0)] {
        let mut r = rig(SfqParams { depth: 2, head_drop, ..SfqParams::default() }, 1);
        (0..2).for_each(|_| drop(r.arrive(0, 0, 100)));
        assert_eq!(r.arrive(0, 0, 700), [gone]);
        assert_eq!((r.disc.backlog().packets, r.disc.backlog().bytes), (2, if gone == 0 { 800 } else { 200 }));
        assert!(matches!(r.log.entries[0], Entry::Dropped { why: DropReason::QueueFull, .. }));
    }
}

struct Case {
    params: SfqParams,
    oracle: Oracle,
}

fn case(head_drop: HeadDrop) -> Case {
    let params = SfqParams {
        limit: Limit::Packets(40),
        flows: 7,
        divisor: 16,
        depth: 12,
        quantum: Size(900),
        perturb: Dur::from_millis(50),
        head_drop,
    };
    Case { oracle: Oracle::new(40, 7, 12, 900, head_drop == HeadDrop::On), params }
}

/// Random flows through both sides: drops at arrivals, while flows were spread anew, and out of the middle.
fn compare(Case { params, mut oracle }: Case, seed: u64) -> [usize; 3] {
    let mut r = rig(params.clone(), seed);
    let mut salts = Streams::new(seed).named("q/hash");
    let mut salt = salts.bits();
    let mut rng = Streams::new(seed).named("trace");
    let (mut now, mut due, mut load, mut seen) = (0, 50 * MS, 1.0, [0; 3]);
    let place = |salt: u64, flow: u32| place_of(salt, &Packet { flow: FlowId(flow), ..Packet::default() }, 16);
    for i in 0..40_000 {
        if i % 400 == 0 {
            load = rng.between(0.7, 1.5);
        }
        if rng.chance(0.003) {
            let (asked, gone) = r.watched(|r| r.remove(now, |seq| seq % 3 == 0));
            assert!(asked.is_sorted(), "the oldest first");
            assert_eq!(gone, oracle.remove(|seq| seq % 3 == 0), "seed {seed}, step {i}");
            seen[2] += gone.len();
        }
        now += rng.exponential(4e5) as u64;
        let mut want = Vec::new();
        while now >= due {
            // Gaps are much shorter than a period.
            salt = salts.bits();
            want = oracle.rehash(|flow| place(salt, flow));
            due += 50 * MS;
            seen[1] += want.len();
        }
        if rng.chance(load / (1.0 + load)) {
            let flow = if rng.chance(0.6) { rng.below(3) } else { rng.below(20) } as u32;
            let (len, seq) = (40 + rng.below(1460), r.seq);
            let more = oracle.enqueue(place(salt, flow), Waiting { seq, len, flow });
            seen[0] += more.len();
            want.extend(more);
            assert_eq!(r.arrive(now, flow, len as u16), want, "seed {seed}, step {i}");
        } else {
            let (out, dropped) = r.watched(|r| r.depart(now));
            assert_eq!((out.map(|o| o.0), dropped), (oracle.dequeue(), want), "seed {seed}, step {i}");
        }
        assert_eq!(r.disc.backlog().packets as usize, oracle.held(), "seed {seed}, step {i}");
    }
    seen
}

#[test]
fn random_flows_meet_plain_lists() {
    for seed in 0..10 {
        let seen = compare(case(if seed % 2 == 0 { HeadDrop::Off } else { HeadDrop::On }), seed);
        assert!(seen[0] > 500 && seen[1] > 10 && seen[2] > 100, "{seen:?}");
    }
}

#[test]
fn the_oracle_notices_a_scheduler_that_is_slightly_wrong() {
    for wrong in [(41, 7, 12, 900, false), (40, 8, 12, 900, false), (40, 7, 11, 900, false), (40, 7, 12, 901, false)] {
        let (limit, flows, depth, quantum, headdrop) = wrong;
        let oracle = Oracle::new(limit, flows, depth, quantum, headdrop);
        let run = || compare(Case { oracle, ..case(HeadDrop::Off) }, 1);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err(), "{wrong:?}");
    }
}
