//! Token bucket filter and HTB against their literal oracles on random traces.

use crosswind_base::{BitRate, DropReason, Dscp, Ecn, Rng, Streams, Time};
use crosswind_net::queue::{BoxQueue, QueueDisc};
use crosswind_net::registry::{BuildCx, build_queue};
use crosswind_testkit::bench::{DiscBench, Outcome};
use crosswind_testkit::oracle::{htb, tbf};
use serde_json::{Map, Value, json};

fn disc(table: &Value) -> DiscBench<BoxQueue> {
    let streams = Streams::new(1);
    let cx = BuildCx::new(&streams, "link/a/forward");
    DiscBench::new(build_queue(table, "q", &cx).unwrap_or_else(|e| panic!("{table}: {e}")))
}

/// Nanoseconds in which a rate sends a byte; the rates of these tests have whole ones.
fn ns_per_byte(rate: BitRate) -> i64 {
    assert_eq!(8_000_000_000 % rate.0, 0, "{rate:?}");
    (8_000_000_000 / rate.0) as i64
}

#[test]
fn the_filter_lets_packets_go_when_its_description_does() {
    let (mut sent, mut refused, mut dropped) = (0, 0, 0);
    for seed in 0..40u64 {
        let mut rng = Streams::new(seed).named("trace");
        let has_peak = seed % 2 == 1;
        let overhead = [0, 14][seed as usize % 4 / 2];
        let (burst, mtu) = (600 + rng.below(3000), 600 + rng.below(900));
        let mut table = json!({"type": "tbf", "rate": "64 kbit/s", "burst": format!("{burst} B"),
            "overhead": format!("{overhead} B"), "queue": {"limit": "12 packets"}});
        if has_peak {
            table["peak_rate"] = "160 kbit/s".into();
            table["mtu"] = format!("{mtu} B").into();
        }
        let mut mine = disc(&table);
        let mut oracle = tbf::Tbf {
            ns_per_byte: 125_000,
            peak_ns_per_byte: has_peak.then_some(50_000),
            buffer: burst as i64 * 125_000,
            mtu: mtu as i64 * 50_000,
            overhead,
            limit_packets: 12,
            tokens: burst as i64 * 125_000,
            ptokens: mtu as i64 * 50_000,
            t_c: 0,
            queue: Vec::new(),
            watchdog: None,
        };
        let mut now = Time::ZERO;
        for step in 0..4000 {
            now.0 += (rng.exponential(20e6)) as u64;
            if rng.chance(0.01) {
                now.0 += 3_000_000_000;
            }
            // Half of the questions come exactly when the filter said it would be worth asking.
            if let Some(at) = mine.disc.next_wake().filter(|at| *at < now && rng.chance(0.5)) {
                now = at;
            }
            if rng.chance(0.55) {
                let len = 40 + rng.below(1000) as u16;
                let was_let_in = mine.arrive(now, len, Ecn::NotEct) == Outcome::Admitted;
                assert_eq!(was_let_in, oracle.enqueue(len as i64), "seed {seed} step {step}");
                dropped += !was_let_in as u32;
            } else {
                let got = mine.depart(now).is_some();
                assert_eq!(got, oracle.dequeue(now.0 as i64).is_some(), "seed {seed} step {step} at {now:?}");
                let wake = mine.disc.next_wake().map(|t| t.0 as i64);
                assert_eq!(wake, oracle.watchdog, "seed {seed} step {step}");
                sent += got as u32;
                refused += wake.is_some() as u32;
            }
            assert_eq!(mine.disc.backlog().packets as usize, oracle.queue.len());
        }
    }
    assert!(sent > 20_000 && refused > 5_000 && dropped > 5_000, "{sent} {refused} {dropped}");
}

/// A random tree of up to ten classes: names, parents, parameters. Children stay within their parents.
struct Sketch {
    table: Value,
    classes: Vec<htb::Class>,
    /// The leaves, as numbers in `classes`; each has its own code point, equal to its number.
    leaves: Vec<usize>,
}

const RATES_KBIT: [u64; 9] = [8, 16, 20, 32, 40, 64, 80, 160, 320];

fn sketch(rng: &mut Rng, seed: u64) -> Sketch {
    let n = 3 + rng.below(8) as usize;
    let parent: Vec<Option<usize>> =
        (0..n).map(|i| if i == 0 || rng.chance(0.1) { None } else { Some(rng.below(i as u64) as usize) }).collect();
    let depth = |mut i: usize| {
        let mut d = 0;
        while let Some(p) = parent[i] {
            (i, d) = (p, d + 1);
        }
        d
    };
    let leaves: Vec<usize> = (0..n).filter(|i| !parent.contains(&Some(*i)) && depth(*i) < 7).collect();
    let (mut class, mut filter, mut classes) = (Map::new(), Vec::new(), Vec::new());
    for (i, &above) in parent.iter().enumerate() {
        let rate = BitRate(RATES_KBIT[rng.below(9) as usize] * 1000);
        let ceil = BitRate(rate.0 * if rng.chance(0.5) { 1 } else { 2 });
        let g = htb::Given {
            parent: above,
            level: if leaves.contains(&i) { 0 } else { 7 - depth(i) },
            prio: if rng.chance(0.7) { 0 } else { rng.below(8) as usize },
            quantum: 500 + rng.below(3000) as i64,
            rate_ns: ns_per_byte(rate),
            ceil_ns: ns_per_byte(ceil),
            burst: 200 + rng.below(4000) as i64,
            cburst: 200 + rng.below(4000) as i64,
            limit_packets: 15,
        };
        let mut c = json!({"rate": rate, "ceil": ceil, "prio": g.prio, "quantum": format!("{} B", g.quantum),
            "burst": format!("{} B", g.burst), "cburst": format!("{} B", g.cburst)});
        if let Some(p) = above {
            c["parent"] = format!("c{p:02}").into();
        }
        if leaves.contains(&i) {
            c["queue"] = json!({"limit": "15 packets"});
            filter.push(json!({"class": format!("c{i:02}"), "dscp": i}));
        }
        class.insert(format!("c{i:02}"), c);
        classes.push(htb::Class::new(g));
    }
    let table = json!({"type": "htb", "oversubscription": "allow", "class": class, "filter": filter,
        "default": format!("c{:02}", leaves[0]), "hysteresis": if seed % 3 == 0 { "on" } else { "off" },
        "overhead": if seed % 2 == 0 { "14 B" } else { "0 B" }});
    Sketch { table, classes, leaves }
}

/// One random tree under random load; returns packets sent and refusals.
fn compare(seed: u64, spoil: impl Fn(&mut htb::Htb)) -> (u32, u32) {
    let mut rng = Streams::new(seed).named("trace");
    let s = sketch(&mut rng, seed);
    let mut mine = disc(&s.table);
    let mut oracle = htb::Htb::new(s.classes);
    oracle.is_hysteretic = seed % 3 == 0;
    oracle.overhead = if seed % 2 == 0 { 14 } else { 0 };
    spoil(&mut oracle);
    let (mut now, mut id, mut load) = (Time::ZERO, 0u64, 0.5);
    let (mut sent, mut refused) = (0, 0);
    for step in 0..3000 {
        if step % 150 == 0 {
            load = rng.between(0.25, 0.7);
            now.0 += if rng.chance(0.3) { rng.exponential(3e9) as u64 } else { 0 };
        }
        now.0 += rng.exponential(15e6) as u64;
        if let Some(at) = mine.disc.next_wake().filter(|at| *at < now && rng.chance(0.5)) {
            now = at;
        }
        if rng.chance(load) {
            let leaf = s.leaves[rng.below(s.leaves.len() as u64) as usize];
            let len = 40 + rng.below(1460) as u16;
            let dscp = Dscp::from_bits(leaf as u8).expect("few classes");
            let got = mine.arrive_as(now, len, dscp);
            let let_in = oracle.enqueue(leaf, (id, len as i64));
            let expected = if let_in { Outcome::Admitted } else { Outcome::Dropped(DropReason::QueueFull) };
            assert_eq!(got, expected, "seed {seed} step {step}");
            id += 1;
        } else {
            let got = mine.depart(now);
            assert_eq!(got, oracle.dequeue(now.0 as i64), "seed {seed} step {step} at {now:?}");
            sent += got.is_some() as u32;
            if got.is_none() && mine.disc.backlog().packets > 0 {
                refused += 1;
                let wake = mine.disc.next_wake().map(|t| t.0 as i64);
                assert_eq!(wake, oracle.watchdog(), "seed {seed} step {step} at {now:?}");
            }
        }
    }
    (sent, refused)
}

#[test]
fn random_trees_are_served_as_their_definition_says() {
    let (mut sent, mut refused) = (0, 0);
    for seed in 0..120 {
        let (s, r) = compare(seed, |_| {});
        (sent, refused) = (sent + s, refused + r);
    }
    assert!(sent > 50_000 && refused > 20_000, "{sent} sent, {refused} refused");
}

#[test]
fn the_oracle_notices_a_tree_that_is_slightly_wrong() {
    let spoiled: [fn(&mut htb::Htb); 3] =
        [|o| o.classes[1].quantum += 400, |o| o.overhead += 1, |o| o.is_hysteretic = !o.is_hysteretic];
    for (i, spoil) in spoiled.iter().enumerate() {
        let noticed = (0..20).filter(|seed| std::panic::catch_unwind(|| compare(*seed, spoil)).is_err()).count();
        assert!(noticed >= 3, "defect {i} was noticed on {noticed} of 20 trees");
    }
}
