//! Drop tail and the Seawind link against their oracles on random traces.

use crosswind_base::{BitRate, DropReason, Dur, Ecn, Limit, Size, Streams, Time};
use crosswind_net::Egress;
use crosswind_net::link::seawind::{Seawind, SeawindParams};
use crosswind_net::queue::QueueDisc;
use crosswind_net::queue::droptail::{DropTail, DropTailParams};
use crosswind_net::queue::store::Admission;
use crosswind_testkit::bench::{Bench, DiscBench, Entry, Outcome};
use crosswind_testkit::oracle::droptail::Rule;
use crosswind_testkit::oracle::{self, Decision};

#[test]
fn drop_tail_admits_what_a_list_of_lengths_admits() {
    let rules = [
        (Limit::Bytes(5000), Admission::Fits, Rule::BytesWithArrival(5000)),
        (Limit::Bytes(5000), Admission::Overshoot, Rule::BytesWithoutArrival(5000)),
        (Limit::Packets(7), Admission::Fits, Rule::Packets(7)),
        (Limit::Packets(7), Admission::Overshoot, Rule::Packets(7)),
    ];
    for (limit, admission, rule) in rules {
        let mut rng = Streams::new(5).named("trace");
        let mut bench = DiscBench::new(DropTail::new(DropTailParams { limit, admission }));
        let mut oracle = oracle::droptail::DropTail::new(rule);
        let mut full = 0;
        for i in 0..20_000u64 {
            if rng.chance(0.52) {
                let len = 40 + rng.below(1460) as u16;
                let want = oracle.arrive(len as u64);
                let got = bench.arrive(Time(i), len, Ecn::NotEct);
                match want {
                    Decision::Admit => assert_eq!(got, Outcome::Admitted),
                    _ => assert_eq!(got, Outcome::Dropped(DropReason::QueueFull)),
                }
                full += (want == Decision::DropFull) as u32;
            } else {
                assert_eq!(bench.depart(Time(i)).is_some(), oracle.depart().is_some());
            }
            let b = bench.disc.backlog();
            assert_eq!((b.bytes, b.packets as usize), (oracle.lengths.iter().sum(), oracle.lengths.len()));
        }
        assert!(full > 500, "{limit:?} {admission:?}: only {full} drops, the trace is too light");
    }
}

struct Case {
    seed: u64,
    send_buffer: u64,
    in_transit: u32,
    rate: u64,
    load: f64,
}

fn seawind_case(case: Case) -> (usize, usize) {
    let params = SeawindParams {
        rate: BitRate(case.rate),
        delay: Dur::from_millis(300),
        send_buffer: Size(case.send_buffer),
        in_transit: case.in_transit,
        ..SeawindParams::default()
    };
    let queue = DropTail::new(DropTailParams { limit: Limit::Bytes(11_520), admission: Admission::Fits });
    let mut bench = Bench::new(Egress::new(queue, Seawind::new(params)));
    let mut rng = Streams::new(case.seed).named("trace");
    let mut arrivals = Vec::new();
    let mut now = 0u64;
    for i in 0..5_000 {
        let load = if (i / 500) % 2 == 0 { case.load } else { case.load * 0.4 };
        // Some arrivals coincide, some fall exactly on the end of a transmission.
        now += match rng.below(4) {
            0 => 0,
            1 => BitRate(case.rate).tx_time(576).0,
            _ => (rng.exponential(576.0 * 8.0 / case.rate as f64 / load) * 1e9) as u64,
        };
        let len = if rng.chance(0.7) { 576 } else { 40 + rng.below(537) };
        arrivals.push((now, len));
        bench.offer(Time(now), len as u16, Ecn::NotEct);
    }
    bench.drain();
    let want = oracle::seawind::Seawind {
        queue_limit_bytes: 11_520,
        in_transit_max: case.in_transit as usize,
        send_buffer_bytes: case.send_buffer,
        bits_per_s: case.rate,
        delay_ns: 300_000_000,
    }
    .run(&arrivals);
    let delivered: Vec<(u64, u64)> = bench.deliveries.iter().map(|d| (d.at.0, d.seq)).collect();
    let dropped: Vec<(u64, u64)> = bench
        .log
        .entries
        .iter()
        .map(|e| match e {
            Entry::Dropped { at, seq, .. } => (at.0, *seq),
            Entry::Marked { .. } => panic!("drop tail does not mark"),
        })
        .collect();
    for (what, mine, theirs) in [("drop", &dropped, &want.dropped), ("delivery", &delivered, &want.delivered)] {
        let i = mine.iter().zip(theirs).position(|(a, b)| a != b).unwrap_or(mine.len().min(theirs.len()));
        assert_eq!(mine.get(i), theirs.get(i), "seed {}: {what} {i} (time in ns, ordinal)", case.seed);
    }
    (delivered.len(), dropped.len())
}

#[test]
fn the_seawind_link_delivers_exactly_like_an_event_by_event_simulation() {
    let mut drops = 0;
    for seed in 0..24 {
        let (delivered, dropped) = seawind_case(Case {
            seed,
            send_buffer: [12_000, 576, 1_200, 2_000][seed as usize % 4],
            in_transit: [3, 1, 2][seed as usize % 3],
            rate: [64_000, 384_000, 63_997][seed as usize / 8],
            load: 1.2,
        });
        assert_eq!(delivered + dropped, 5_000);
        drops += dropped;
    }
    assert!(drops > 1_000, "only {drops} drops: the traces never fill the queue");
}

#[test]
fn below_the_queue_the_thesis_link_holds_three_packets_and_twelve_thousand_bytes() {
    let queue = DropTail::new(DropTailParams { limit: Limit::Bytes(11_520), admission: Admission::Fits });
    let mut bench = Bench::new(Egress::new(queue, Seawind::new(SeawindParams::default())));
    for _ in 0..60 {
        bench.offer(Time::ZERO, 576, Ecn::NotEct);
    }
    // 20 packets of 576 B fit into 12000 B, three are in transit, 20 wait; the rest of 60 is dropped.
    assert_eq!(bench.dropped(), 60 - 20 - 3 - 20);
    let sample = bench.sample();
    let value = |name: &str| sample.iter().find(|s| s.0 == name).expect("sampled").1;
    assert_eq!(value("queue_packets"), 20.0);
    assert_eq!(value("in_transit_packets"), 3.0);
    assert_eq!(value("send_buffer_bytes"), 20.0 * 576.0);
    bench.drain();
    assert_eq!(bench.deliveries.len(), 43);
    let last = bench.deliveries[42].at;
    assert_eq!(last, Time(43 * 72_000_000 + 300_000_000), "72 ms a packet without a pause");
}
