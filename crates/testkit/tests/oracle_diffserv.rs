//! Meters, RIO and early discard against their literal oracles on random traces.

use crosswind_base::{BitRate, Colour, Cx, DropReason, Dscp, Dur, Ecn, Limit, Rng, Streams, Time, Waiting};
use crosswind_net::diffserv::{Meter, Metered};
use crosswind_net::params;
use crosswind_net::queue::QueueDisc;
use crosswind_net::queue::early_discard::{AtLimit, EarlyDiscard};
use crosswind_net::queue::rio::{Rio, RioParams};
use crosswind_net::registry::{BuildCx, build_meter};
use crosswind_testkit::bench::{DiscBench, Entry, Outcome, packet};
use crosswind_testkit::oracle::Decision;
use crosswind_testkit::oracle::early_discard::{Cause, Limits, Node};
use crosswind_testkit::oracle::markers::{Marker, Tokens};
use crosswind_testkit::oracle::rio;
use serde_json::{Value, json};

const BYTES_PER_S: f64 = 125_000.0;

/// Bursts and pauses at a load that drifts around the contract; any colour on arrival.
fn arrivals(rng: &mut Rng, n: usize) -> Vec<(Time, u32, Colour)> {
    let mut now = Time::ZERO;
    let mut gap_s = 0.01;
    (0..n)
        .map(|i| {
            if i % 150 == 0 {
                gap_s = rng.between(0.001, 0.02);
            }
            now += Dur::from_secs_f64(if rng.chance(0.3) { 1e-6 } else { rng.exponential(gap_s) });
            let len = 40 + rng.below(1461) as u32;
            (now, len, Colour::ALL[rng.below(3) as usize])
        })
        .collect()
}

/// Compares every colour; returns how often each was given.
fn same_colours(meter: &Value, mut oracle: Marker, seed: u64) -> [u32; 3] {
    let streams = Streams::new(seed);
    let cx = BuildCx::new(&streams, "contract");
    let mut ours = build_meter(meter, "meter", &cx).expect("a valid meter");
    let mut seen = [0; 3];
    for (i, (at, len, was)) in arrivals(&mut streams.named("arrivals"), 30_000).into_iter().enumerate() {
        let c = ours.colour(&Metered { len, was, now: at });
        let expected = oracle.mark(at.as_secs_f64(), f64::from(len), was as u8);
        assert_eq!(c as u8, expected, "{meter}: packet {i} at {at:?}, {len} B, came {was:?}");
        assert!(c <= ours.worst(), "{meter}: {c:?} is worse than announced");
        seen[c as usize] += 1;
    }
    seen
}

#[test]
fn the_markers_of_one_window_colour_as_their_texts_do() {
    for (policy, marking) in ["original", "excess-in", "excess-in-below-half"].into_iter().enumerate() {
        let rng = Streams::new(1).named("contract/meter");
        let policy = policy as u8;
        let oracle = Marker::Tsw2 { cir: BYTES_PER_S, win: 1.0, policy, avg: BYTES_PER_S, front: 0.0, count: 0, rng };
        let seen = same_colours(&json!({"type": "tsw2cm", "cir": "1 Mbit/s", "marking": marking}), oracle, 1);
        assert!(seen[0] > 1000 && seen[1] > 1000 && seen[2] == 0, "{marking}: {seen:?}");
    }
    let rng = Streams::new(2).named("contract/meter");
    let (cir, pir) = (BYTES_PER_S, 1.5 * BYTES_PER_S);
    let oracle = Marker::Tsw3 { cir, pir, win: 0.5, avg: cir, front: 0.0, rng };
    let meter = json!({"type": "tsw3cm", "cir": "1 Mbit/s", "pir": "1.5 Mbit/s", "window": "500 ms"});
    assert!(same_colours(&meter, oracle, 2).iter().all(|n| *n > 500));
}

#[test]
fn the_token_markers_colour_as_their_texts_do_blind_and_aware() {
    let full = |factor: f64, size: f64| Tokens::full(BYTES_PER_S * factor, size);
    for (seed, mode, aware) in [(3, "colour-blind", false), (4, "colour-aware", true)] {
        let cases = [
            (
                json!({"type": "srtcm", "cir": "1 Mbit/s", "cbs": "8000 B", "ebs": "30 kB", "mode": mode}),
                Marker::SingleRate { cir: BYTES_PER_S, cbs: 8e3, ebs: 3e4, tc: 8e3, te: 3e4, at: 0.0, aware },
                3,
            ),
            (
                json!({"type": "trtcm", "cir": "1 Mbit/s", "cbs": "8000 B", "pir": "1.6 Mbit/s", "pbs": "9000 B",
                    "mode": mode}),
                Marker::TwoRate { tc: full(1.0, 8e3), tp: full(1.6, 9e3), at: 0.0, aware },
                3,
            ),
            (
                json!({"type": "trtcm-4115", "cir": "1 Mbit/s", "cbs": "8000 B", "eir": "600 kbit/s", "ebs": "5000 B",
                    "mode": mode}),
                Marker::TwoRate4115 { tc: full(1.0, 8e3), te: full(0.6, 5e3), at: 0.0, aware },
                3,
            ),
            (
                json!({"type": "token-bucket", "cir": "1 Mbit/s", "cbs": "8000 B", "mode": mode}),
                Marker::Bucket { t: full(1.0, 8e3), at: 0.0, aware },
                if aware { 3 } else { 2 },
            ),
        ];
        for (meter, oracle, colours) in cases {
            let seen = same_colours(&meter, oracle, seed);
            assert!(seen[..colours].iter().all(|n| *n > 500), "{meter}: {seen:?}");
        }
    }
}

#[test]
fn an_aware_meter_never_improves_a_colour() {
    let streams = Streams::new(9);
    let cx = BuildCx::new(&streams, "contract");
    for name in ["srtcm", "trtcm", "trtcm-4115", "token-bucket"] {
        let meter = json!({"type": name, "cir": "1 Mbit/s", "mode": "colour-aware"});
        let mut meter = build_meter(&meter, "meter", &cx).expect("valid");
        for (at, len, was) in arrivals(&mut streams.named("arrivals"), 5_000) {
            let c = meter.colour(&Metered { len, was, now: at });
            assert!(c >= was, "{name}: {was:?} became {c:?}");
        }
    }
}

fn expected(d: Decision) -> Outcome {
    match d {
        Decision::Admit | Decision::Mark => Outcome::Admitted,
        Decision::DropEarly => Outcome::Dropped(DropReason::EarlyDrop),
        Decision::DropForced => Outcome::Dropped(DropReason::ForcedDrop),
        Decision::DropFull => Outcome::Dropped(DropReason::QueueFull),
    }
}

#[test]
fn rio_drops_what_a_list_of_colours_drops() {
    let points = ["AF11", "AF12", "AF13"].map(|n| Dscp::parse(n).expect("a code point"));
    let of = |t: [u64; 2], p: f64| json!({"min_th": format!("{} packets", t[0]), "max_th": format!("{} packets", t[1]), "max_p": p});
    for (seed, (average, profile)) in
        (0..3).flat_map(|a| [(a, "ns2-red"), (a, "ns2-diffserv")]).enumerate().map(|(i, c)| (i as u64, c))
    {
        let word = ["coupled", "own", "total"][average as usize];
        let value = json!({"limit": "30 packets", "average": word,
            "profile": profile, "w_q": 0.05, "rate": "1 Mbit/s", "mean_packet": "500 B",
            "green": of([12, 20], 0.05), "yellow": of([8, 16], 0.1), "red": of([4, 10], 0.2)});
        let p: RioParams = params::read(&value, "").expect("valid");
        let streams = Streams::new(seed);
        let mut bench = DiscBench::new(Rio::new(p, BitRate(1_000_000), streams.named("red")));
        let red = rio::Red::new;
        let mut oracle = rio::Rio {
            average,
            is_diffserv: profile == "ns2-diffserv",
            reds: vec![red(12.0, 20.0, 0.05), red(8.0, 16.0, 0.1), red(4.0, 10.0, 0.2)],
            limit: 30,
            w_q: 0.05,
            ptc: 250.0,
            bits_per_s: 1e6,
            queue: Vec::new(),
            line_free: 0.0,
            rng: streams.named("red"),
        };
        let mut rng = streams.named("trace");
        let (mut now, mut load) = (Time::ZERO, 0.5);
        let mut seen = [[0u32; 2]; 3];
        for i in 0..40_000 {
            if i % 200 == 0 {
                load = rng.between(0.25, 0.7);
                if rng.chance(0.2) {
                    now += Dur::from_secs_f64(rng.exponential(0.5));
                }
            }
            now += Dur::from_secs_f64(rng.exponential(0.002));
            if !rng.chance(load) {
                bench.depart(now);
                oracle.depart(now.as_secs_f64());
                continue;
            }
            let (len, c) = (200 + rng.below(600) as u16, rng.below(3) as usize);
            let ours = bench.arrive_as(now, len, points[c]);
            let theirs = oracle.arrive(now.as_secs_f64(), f64::from(len), c);
            assert_eq!(ours, expected(theirs), "{value}: step {i}, colour {c}");
            seen[c][usize::from(ours != Outcome::Admitted)] += 1;
        }
        assert!(seen.iter().flatten().all(|n| *n > 20), "{value}: {seen:?}");
        let rates: Vec<f64> = seen.iter().map(|[a, d]| f64::from(*d) / f64::from(a + d)).collect();
        assert!(rates.is_sorted(), "{value}: {rates:?}");
    }
}

/// Hands a packet with limits over; what is left of them, or why it was dropped.
fn offer(b: &mut DiscBench<EarlyDiscard>, (seq, len): (u64, u16), l: Limits, now: Time) -> Result<Waiting, DropReason> {
    let id = b.pool.insert(packet(seq, len, Ecn::NotEct));
    if l != Limits::default() {
        let wait = Waiting { longest: l.mtq.map(Dur), left: l.qtl.map(Dur), so_far: Dur::ZERO };
        b.pool.ext_mut(id).wait = wait;
    }
    b.log.now = now;
    let before = b.log.entries.len();
    let mut out = Vec::new();
    let mut cx = Cx::new(now, 0, &mut b.pool, &mut out, &mut b.log, None);
    b.disc.enqueue(id, &mut cx);
    match b.log.entries.get(before) {
        Some(Entry::Dropped { why, .. }) => Err(*why),
        _ => Ok(b.pool.ext(b.pool.get(id)).map(|e| e.wait).unwrap_or_default()),
    }
}

#[test]
fn early_discard_drops_and_charges_as_its_pseudo_code_does() {
    for (seed, rate) in [20_000_000u64, 3_000_007, 20_000_000].into_iter().enumerate() {
        let equal_is_in_time = seed == 2;
        let at_limit = if equal_is_in_time { AtLimit::Admit } else { AtLimit::Drop };
        let mut rng = Streams::new(seed as u64).named("trace");
        let mut bench = DiscBench::new(EarlyDiscard::new(Limit::Packets(25), BitRate(rate), at_limit));
        let mut oracle = Node { bits_per_s: rate, limit_packets: 25, equal_is_in_time, queue: Vec::new() };
        let packet_ns = 1600 * 1_000_000_000 / rate;
        let mut seen = [0u32; 4];
        for i in 0..30_000u64 {
            let now = Time(i * 1000);
            if rng.chance([0.45, 0.8][(i / 500 % 2) as usize]) {
                let some = |rng: &mut Rng, most: u64| rng.chance(0.6).then(|| (1 + rng.below(most)) * packet_ns);
                let l = Limits { mtq: some(&mut rng, 60), qtl: some(&mut rng, 60) };
                let len = if rng.chance(0.9) { 200 } else { 40 + rng.below(1400) as u16 };
                let ours = offer(&mut bench, (i, len), l, now);
                match oracle.arrive(u64::from(len), l) {
                    Ok((left, d)) => {
                        let w = ours.unwrap_or_else(|why| panic!("packet {i} was dropped: {why:?}"));
                        assert_eq!(w.left.map(|d| d.0), left.qtl, "packet {i}");
                        let noted = if l == Limits::default() { 0 } else { d };
                        assert_eq!(w.so_far.0, noted, "packet {i}");
                        seen[0] += 1;
                    }
                    Err(cause) => {
                        let (n, why) = match cause {
                            Cause::Overflow => (1, DropReason::QueueFull),
                            Cause::Mtq => (2, DropReason::LocalDelay),
                            Cause::Qtl => (3, DropReason::DelayBudget),
                        };
                        assert_eq!(ours, Err(why), "packet {i}");
                        seen[n] += 1;
                    }
                }
            } else {
                bench.depart(now);
                oracle.depart();
            }
        }
        assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
    }
}

#[test]
fn a_wait_as_long_as_its_limit_is_too_long_unless_it_is_said_to_be_in_time() {
    // 200 B at 20 Mbit/s take 0.08 ms: behind five packets the counted wait is 0.4 ms, the packet on the line left out.
    let ns = 80_000;
    let limits = [
        (Limits { mtq: Some(5 * ns), qtl: None }, Err(DropReason::LocalDelay)),
        (Limits { mtq: None, qtl: Some(5 * ns) }, Err(DropReason::DelayBudget)),
        (Limits { mtq: Some(5 * ns + 1), qtl: Some(5 * ns + 1) }, Ok(5 * ns)),
    ];
    for (limits, strict) in limits {
        for at_limit in [AtLimit::Drop, AtLimit::Admit] {
            let mut bench = DiscBench::new(EarlyDiscard::new(Limit::Packets(200), BitRate(20_000_000), at_limit));
            for i in 0..6 {
                offer(&mut bench, (i, 200), Limits::default(), Time(0)).expect("there is room");
            }
            bench.depart(Time(0));
            let got = offer(&mut bench, (6, 200), limits, Time(0)).map(|w| w.so_far.0);
            let want = if at_limit == AtLimit::Admit { Ok(5 * ns) } else { strict };
            assert_eq!(got, want, "{limits:?} {at_limit:?}");
        }
    }
}
