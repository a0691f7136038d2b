//! The fair queue with pacing: gaps, credits and bands as computed by hand, and random traces against plain lists.

use crosswind_base::{DropReason, Ecn, FlowId, Streams, Time};
use crosswind_net::queue::QueueDisc;
use crosswind_net::queue::fq::{Fq, FqParams};
use crosswind_net::registry::{self, BuildCx, Kind};
use crosswind_testkit::bench::{DiscBench, Entry, Outcome};
use crosswind_testkit::oracle::fq::{Fq as Oracle, Waits};
use serde_json::{Value, json};

const MS: u64 = 1_000_000;

fn rig(params: &Value) -> DiscBench<Fq> {
    let p: FqParams = crosswind_net::params::read(params, "queue").unwrap_or_else(|e| panic!("{e}"));
    let streams = Streams::new(1);
    DiscBench::new(Fq::build(p, &BuildCx::new(&streams, "q")).unwrap_or_else(|e| panic!("{e}")))
}

/// When packets leave, asked whenever the queue wants to be asked; in microseconds.
fn departures(b: &mut DiscBench<Fq>, from: u64) -> Vec<(u64, u64)> {
    let (mut now, mut left) = (Time(from), Vec::new());
    while b.disc.backlog().packets > 0 {
        match b.depart(now) {
            Some(seq) => left.push((now.0 / 1000, seq)),
            None => now = b.disc.next_wake().filter(|at| *at > now).expect("it says when to ask again"),
        }
    }
    left
}

fn times(b: &mut DiscBench<Fq>, from: u64) -> Vec<u64> {
    departures(b, from).into_iter().map(|d| d.0).collect()
}

#[test]
fn a_flow_sends_its_credit_at_once_and_then_a_quantum_worth_of_time_apart() {
    // 24.224 Mbit/s are 3028 bytes in a millisecond.
    let mut b = rig(&json!({"class": {"all": {"rate": "24224 kbit/s"}}}));
    for _ in 0..16 {
        b.arrive_of(Time(MS), FlowId(1), 1514, Ecn::NotEct);
    }
    // Ten packets are the first credit; the last of them, and every second from then on, is followed by a gap.
    let known = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4];
    assert_eq!(times(&mut b, MS), known.map(|ms| ms * 1000));
}

#[test]
fn a_slow_flow_is_spaced_packet_by_packet_and_never_by_more_than_a_second() {
    let mut b = rig(&json!({"class": {"all": {"rate": "400 kbit/s"}}}));
    for _ in 0..4 {
        b.arrive_of(Time(0), FlowId(1), 1000, Ecn::NotEct);
    }
    assert_eq!(times(&mut b, 0), [0, 20_000, 40_000, 60_000]);
    let mut b = rig(&json!({"max_rate": "8 kbit/s"}));
    for _ in 0..3 {
        b.arrive_of(Time(0), FlowId(1), 1500, Ecn::NotEct);
    }
    assert_eq!(times(&mut b, 0), [0, 1_000_000, 2_000_000]);
}

#[test]
fn a_packet_that_leaves_late_gives_back_half_a_gap_at_most() {
    let mut b = rig(&json!({"max_rate": "400 kbit/s"}));
    for _ in 0..4 {
        b.arrive_of(Time(0), FlowId(1), 1000, Ecn::NotEct);
    }
    assert!(b.depart(Time(0)).is_some() && b.depart(Time(19 * MS)).is_none());
    assert_eq!(b.disc.next_wake(), Some(Time(20 * MS)));
    // Five milliseconds late: the next one is due as if it had been on time. 30 ms late: after half a gap.
    assert!(b.depart(Time(25 * MS)).is_some() && b.depart(Time(39 * MS)).is_none());
    assert_eq!(b.disc.next_wake(), Some(Time(40 * MS)));
    assert!(b.depart(Time(70 * MS)).is_some() && b.depart(Time(71 * MS)).is_none());
    assert_eq!(b.disc.next_wake(), Some(Time(80 * MS)));
}

#[test]
fn rates_are_those_of_classes_and_without_pacing_of_nobody() {
    let shaped = json!({"class": {"slow": {"rate": "400 kbit/s"}, "rest": {}}, "default": "rest",
        "filter": [{"class": "slow", "dscp": "0", "size_max": "1000 B"}]});
    let mut b = rig(&shaped);
    for _ in 0..3 {
        b.arrive_of(Time(0), FlowId(1), 1000, Ecn::NotEct);
        b.arrive_of(Time(0), FlowId(2), 1500, Ecn::NotEct);
    }
    // The three of the second flow do not wait for the first one's.
    assert_eq!(departures(&mut b, 0), [(0, 0), (0, 1), (0, 3), (0, 5), (20_000, 2), (40_000, 4)]);
    let mut off = shaped;
    off["pacing"] = false.into();
    let mut b = rig(&off);
    for _ in 0..3 {
        b.arrive_of(Time(0), FlowId(1), 1000, Ecn::NotEct);
    }
    assert_eq!(times(&mut b, 0), [0, 0, 0]);
}

#[test]
fn bands_share_the_link_by_their_weights() {
    let classes = json!({"class": {"a": {"band": 0}, "b": {"band": 1}, "c": {"band": 2}}, "default": "c", "flow_limit": 10000,
        "filter": [{"class": "a", "ecn": "ect0"}, {"class": "b", "ecn": "ect1"}]});
    let mut b = rig(&classes);
    let ecns = [Ecn::Ect0, Ecn::Ect1, Ecn::NotEct];
    for _ in 0..6000 {
        for (flow, ecn) in (0..3).zip(ecns) {
            b.arrive_of(Time(0), FlowId(flow), 1000, ecn);
        }
    }
    let mut sent = [0u32; 3];
    // Ten rounds of 852 packets.
    for _ in 0..8520 {
        sent[(b.depart(Time(0)).expect("all wait") % 3) as usize] += 1;
    }
    let [a, b, c] = sent.map(f64::from);
    assert!((a / c - 9.0).abs() < 0.6 && (b / c - 3.0).abs() < 0.2, "{sent:?}");
}

#[test]
fn flows_and_bands_have_limits_of_their_own() {
    let mut b = rig(&json!({"limit": "6 packets", "flow_limit": 4}));
    let full = Outcome::Dropped(DropReason::QueueFull);
    let mut arrive = |flow: u32| b.arrive_of(Time(0), FlowId(flow), 1000, Ecn::Ect0);
    let got: Vec<Outcome> = [1, 1, 1, 1, 1, 2, 2, 2].into_iter().map(&mut arrive).collect();
    let ok = Outcome::Admitted;
    assert_eq!(got, [ok, ok, ok, ok, full, ok, ok, full]);
}

#[test]
fn a_packet_that_waited_beyond_its_departure_is_marked() {
    let mut b = rig(&json!({"ce_threshold": "2 ms"}));
    for flow in 0..3 {
        b.arrive_of(Time(0), FlowId(flow), 1000, if flow == 1 { Ecn::NotEct } else { Ecn::Ect0 });
    }
    for ms in [2, 3, 3] {
        b.depart(Time(ms * MS));
    }
    assert_eq!(b.log.entries, [Entry::Marked { at: Time(3 * MS), seq: 2 }]);
}

#[test]
fn packets_are_taken_out_of_the_middle() {
    let mut b = rig(&json!({"max_rate": "400 kbit/s"}));
    for i in 0..8u64 {
        b.arrive_of(Time(i * MS), FlowId((i % 2) as u32), 1000, Ecn::NotEct);
    }
    b.depart(Time(8 * MS));
    b.depart(Time(8 * MS));
    let mut asked = Vec::new();
    b.call(Time(9 * MS), |q, cx| {
        q.remove(
            &mut |head, cx| {
                let seq = cx.packet(head.id).seq;
                asked.push(seq);
                seq % 4 == 2 || seq == 5
            },
            DropReason::Reset,
            cx,
        );
    });
    assert_eq!((asked, b.disc.backlog().packets), (vec![2, 3, 4, 5, 6, 7], 3));
    assert_eq!(departures(&mut b, 9 * MS), [(28_000, 4), (28_000, 3), (48_000, 7)]);
}

/// Random flows through both sides: departures, marks, refusals, and times that were waited for.
fn compare(seed: u64, max_rate: Option<u64>, skew: u64) -> [usize; 4] {
    let rates = [None, Some(100_000), Some(50_000)];
    let class =
        json!({"a": {"band": 0}, "b": {"band": 1, "rate": "800 kbit/s"}, "c": {"band": 2, "rate": "400 kbit/s"}});
    let shown = max_rate.map_or("none".into(), |r| format!("{} bit/s", 8 * r));
    let mut b = rig(&json!({"limit": "60 packets", "flow_limit": 25, "quantum": "1500 B", "initial_quantum": "4000 B",
        "class": class, "default": "a", "max_rate": shown, "ce_threshold": "30 ms",
        "filter": [{"class": "c", "size_max": "200 B"}, {"class": "b", "ecn": ["ect0", "ce"]}]}));
    let mut oracle = Oracle::new(10);
    (oracle.quantum, oracle.initial_quantum, oracle.band_limit, oracle.flow_limit) = (1500, 4000, 60, 25);
    (oracle.max_rate, oracle.ce_threshold_ns) = (max_rate, Some(30 * MS + skew));
    let mut rng = Streams::new(seed).named("trace");
    let (mut now, mut load, mut seen, mut seq) = (0, 1.0, [0; 4], 0);
    for i in 0..30_000 {
        if i % 500 == 0 {
            load = rng.between(0.5, 1.5);
            now += if rng.chance(0.3) { rng.exponential(2e8) as u64 } else { 0 };
        }
        now += rng.exponential(1.5e6) as u64;
        if rng.chance(load / (1.0 + load)) {
            let flow = if rng.chance(0.7) { rng.below(3) } else { rng.below(10) };
            let (len, is_capable) = (40 + rng.below(1460), rng.chance(0.6));
            let band = if len <= 200 { 2 } else { usize::from(is_capable) };
            let p = Waits { seq, len, at_ns: now, is_capable, band, rate: rates[band] };
            seq += 1;
            let ecn = if is_capable { Ecn::Ect0 } else { Ecn::NotEct };
            let got = b.arrive_of(Time(now), FlowId(flow as u32), len as u16, ecn);
            assert_eq!(got == Outcome::Admitted, oracle.enqueue(flow as usize, p), "seed {seed}, step {i}");
            seen[2] += usize::from(got != Outcome::Admitted);
        } else {
            let before = b.log.entries.len();
            let out = b.depart(Time(now)).map(|seq| (seq, b.log.entries.len() > before));
            assert_eq!(out, oracle.dequeue(now), "seed {seed}, step {i}");
            seen[0] += usize::from(out.is_some());
            seen[1] += usize::from(out.is_some_and(|o| o.1));
            let wake = b.disc.next_wake().map(|t| t.0);
            assert_eq!(wake, oracle.wake().filter(|_| oracle.held() > 0), "seed {seed}, step {i}");
            seen[3] += usize::from(out.is_none() && wake.is_some());
        }
        assert_eq!(b.disc.backlog().packets as usize, oracle.held(), "seed {seed}, step {i}");
    }
    seen
}

#[test]
fn random_flows_meet_plain_lists() {
    for seed in 0..6 {
        for max_rate in [None, Some(60_000), Some(400_000)] {
            let seen = compare(seed, max_rate, 0);
            assert!(seen.iter().all(|n| *n > 50), "{seed} {max_rate:?}: {seen:?}");
        }
    }
}

#[test]
fn the_oracle_notices_a_threshold_that_is_a_little_higher() {
    assert!(std::panic::catch_unwind(|| compare(1, None, MS / 10)).is_err());
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    for (params, path) in [
        (json!({"type": "fq", "flow_limit": 0}), "queue.flow_limit"),
        (json!({"type": "fq", "quantum": "0 B"}), "queue.quantum"),
        (json!({"type": "fq", "weights": ["9 B", "3 B", "1 B"]}), "queue.weights"),
        (json!({"type": "fq", "class": {"x": {"band": 3}}}), "queue.class.x.band"),
        (json!({"type": "fq", "class": {"x": {"rate": "0 bit/s"}}}), "queue.class.x.rate"),
        (json!({"type": "fq", "class": {"x": {}, "y": {}}}), "queue.default"),
        (json!({"type": "fq", "max_rate": "0 bit/s"}), "queue.max_rate"),
    ] {
        let e = registry::normalise(Kind::Queue, &params, "queue").expect_err("a wrong value");
        assert_eq!(e.path, path, "{e}");
    }
}
