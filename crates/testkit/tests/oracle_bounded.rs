//! The bounded queue against its oracle on random traces.

use crosswind_base::{Cx, Dur, Ecn, Limit, Packet, Size, Streams, Time};
use crosswind_net::queue::QueueDisc;
use crosswind_net::queue::bounded::{Bounded, BoundedParams, Overflow};
use crosswind_net::switch::Switch;
use crosswind_testkit::bench::{DiscBench, Entry, packet};
use crosswind_testkit::oracle::bounded::{self, Victim};

/// Like `arrive`, but others may lose their place.
fn hand_over(bench: &mut DiscBench<Bounded>, now: Time, p: Packet) {
    let id = bench.pool.insert(p);
    bench.log.now = now;
    let (pool, ledger) = (&mut bench.pool, &mut bench.log);
    let mut out = Vec::new();
    let mut cx = Cx::new(now, 0, pool, &mut out, ledger, None);
    bench.disc.enqueue(id, &mut cx);
}

#[test]
fn a_bounded_queue_drops_whom_a_plain_list_drops() {
    let mut stale = 0;
    for (i, (overflow, victim)) in [
        (Overflow::DropArrival, Victim::Arrival),
        (Overflow::DropOldest, Victim::Oldest),
        (Overflow::DropRandom, Victim::Random),
    ]
    .into_iter()
    .cycle()
    .take(12)
    .enumerate()
    {
        let wait_max = [u64::MAX / 2, 20][i / 6];
        let params = BoundedParams {
            limit: Limit::Packets(12),
            limit_size: Switch::On(Size(5_000)),
            limit_delay: if wait_max == 20 { Switch::On(Dur(20)) } else { Switch::Off },
            overflow,
        };
        let streams = Streams::new(i as u64);
        let mut bench = DiscBench::new(Bounded::new(params, streams.named("overflow")));
        let mut draws = streams.named("overflow");
        let mut below = |n| draws.below(n);
        let mut oracle = bounded::Bounded {
            packets_max: 12,
            bytes_max: 5_000,
            wait_max,
            victim,
            list: Vec::new(),
            dropped: Vec::new(),
            below: &mut below,
        };
        let mut rng = streams.named("trace");
        let mut arrived = 0;
        for t in 0..20_000 {
            let before = oracle.dropped.len();
            if rng.chance(0.55) {
                let len = if rng.chance(0.01) { 6_000 } else { 40 + rng.below(1_460) };
                hand_over(&mut bench, Time(t), packet(arrived, len as u16, Ecn::NotEct));
                oracle.arrive(arrived, len, t);
                arrived += 1;
            } else {
                assert_eq!(bench.depart(Time(t)), oracle.depart(t));
                stale += oracle.dropped.len() - before;
            }
            let b = bench.disc.backlog();
            assert_eq!((b.packets as usize, b.bytes), (oracle.list.len(), oracle.list.iter().map(|p| p.1).sum()));
        }
        let dropped: Vec<u64> = bench
            .log
            .entries
            .iter()
            .map(|e| match e {
                Entry::Dropped { seq, .. } => *seq,
                Entry::Marked { .. } => panic!("a bounded queue does not mark"),
            })
            .collect();
        assert_eq!(dropped, oracle.dropped, "{overflow:?}");
        assert!(dropped.len() > 1_000);
    }
    assert!(stale > 100, "{stale} packets waited too long");
}
