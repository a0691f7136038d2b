//! Parameters that change during a run, for every element: time runs forward, nothing is lost from sight, and who looks
//! changes nothing.

use crosswind_base::{Dur, Ecn, Rng, Streams, Time};
use crosswind_net::registry::{Kind, ROWS};
use crosswind_testkit::bench::Bench;
use crosswind_testkit::conformance::{Setup, setups};
use serde_json::{Map, Value, json};

/// What may change, by key. An element refuses what it does not have.
fn changes(kind: Kind) -> Vec<Value> {
    let spans = |key: &str, all: &[&str]| all.iter().map(|v| json!({ key: v })).collect::<Vec<_>>();
    let mut of_link = spans("rate", &["60 kbit/s", "2 Mbit/s", "40 Mbit/s"]);
    of_link.extend(spans("delay", &["0 ms", "7 ms", "900 ms", "3 s"]));
    of_link.extend(spans("jitter", &["0 ms", "5 ms", "2 s"]));
    of_link.extend(spans("tick", &["0 ms", "10 ms", "1 s"]));
    of_link.extend(spans("difference", &["0 ms", "40 ms"]));
    of_link.extend(spans("send_buffer", &["1500 B", "9000 B"]));
    of_link.extend(spans("order", &["kept", "as-arrived"]));
    of_link.extend([
        json!({ "counts": "all" }),
        json!({ "share": 0.2 }),
        json!({ "share": 0.0 }),
        json!({ "error": 0.1 }),
        json!({ "error": 0.0 }),
        json!({ "in_transit": 1 }),
        json!({ "in_transit": 4 }),
        json!({ "opportunities_ms": [3, 9, 40] }),
        json!({ "opportunities_ms": [1] }),
        json!({ "encapsulation": "0 B" }),
        json!({ "random_delay": { "probability": 0.5, "length": "300 ms" } }),
        json!({ "random_delay": "none" }),
    ]);
    let mut of_queue = vec![json!({})];
    of_queue.extend(spans("limit", &["3 packets", "9000 B", "40 packets"]));
    of_queue.extend(spans("rate", &["50 kbit/s", "1 Mbit/s", "30 Mbit/s"]));
    of_queue.extend([
        json!({ "class": { "short": { "rate": "30 kbit/s" } } }),
        json!({ "class": { "all": { "rate": "40 kbit/s", "ceil": "60 kbit/s" } } }),
        json!({ "class": { "all": { "rate": "4 Mbit/s", "ceil": "60 Mbit/s" } } }),
        json!({ "class": { "long": { "queue": { "limit": "3 packets" } } } }),
        json!({ "queue": { "limit": "2 packets" } }),
    ]);
    let of_delayer = [
        json!({ "spikes": { "first": "1 s", "every": "700 ms", "length": "90 ms" } }),
        json!({ "spikes": "none" }),
        json!({ "spikes": { "at": ["2 s", "5 s"] } }),
    ];
    match kind {
        Kind::Queue => of_queue.into_iter().map(|q| json!({ "queue": q })).chain(of_link).collect(),
        Kind::Delayer => of_delayer.into_iter().chain(of_link).collect(),
        Kind::Link | Kind::Loss | Kind::Meter => of_link,
    }
}

/// What arrived where, and how many changes the element took.
fn run(setup: &Setup, kind: Kind, seed: u64, looks: bool) -> (Vec<(Time, u64)>, u32) {
    let mut bench = Bench::new(setup.build_changing(seed));
    let changes = changes(kind);
    let (mut traffic, mut looking) = (Streams::new(seed).named("traffic"), Streams::new(seed).named("looks"));
    let mut taken = 0;
    let mut at = Time::ZERO;
    for i in 0..1500 {
        let load = [0.3, 1.6, 0.9][i / 100 % 3];
        at += Dur::from_secs_f64(traffic.exponential(700.0 * 8.0 / 2e6 / load));
        // Between two packets, so that what a change makes due is not served with the next one.
        let mut last = bench.now;
        if traffic.chance(0.02) {
            last += at.since(last).mul_f64(traffic.uniform());
            taken += u32::from(bench.change(last, pick(&changes, &mut traffic)).is_ok());
        }
        if looks && looking.chance(0.3) {
            bench.run_until(last + at.since(last).mul_f64(looking.uniform()));
        }
        let len = if traffic.chance(0.6) { 1500 } else { 40 + traffic.below(600) as u16 };
        bench.offer(at, len, Ecn::Ect0);
    }
    bench.drain();
    assert_eq!(bench.pool.in_use(), 0, "{setup:?}, seed {seed}: nothing is held once no wake is wanted");
    let deliveries: Vec<(Time, u64)> = bench.deliveries.iter().map(|d| (d.at, d.seq)).collect();
    assert!(deliveries.is_sorted_by_key(|d| d.0), "{setup:?}, seed {seed}: deliveries go back in time");
    (deliveries, taken)
}

fn pick<'a>(all: &'a [Value], rng: &mut Rng) -> &'a Map<String, Value> {
    all[rng.below(all.len() as u64) as usize].as_object().expect("a table")
}

#[test]
fn every_element_takes_changes_in_its_stride_whoever_looks() {
    for row in ROWS.iter().filter(|row| row.kind != Kind::Meter) {
        let mut taken = 0;
        for setup in setups(row) {
            for seed in 0..6 {
                let (alone, n) = run(&setup, row.kind, seed, false);
                taken += n;
                let (watched, _) = run(&setup, row.kind, seed, true);
                assert_eq!(alone, watched, "{setup:?}, seed {seed}");
            }
        }
        assert!(taken > 20, "{}: {taken} changes were taken", row.name);
    }
}
