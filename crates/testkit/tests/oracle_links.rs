//! Drop tail and the Seawind link against their oracles on random traces.

use crosswind_base::{BitRate, DropReason, Ecn, Limit, Streams, Time};
use crosswind_net::Egress;
use crosswind_net::link::seawind::{Channel, ChannelParams, Plain, SeawindParams, State};
use crosswind_net::queue::QueueDisc;
use crosswind_net::queue::droptail::{DropTail, DropTailParams};
use crosswind_net::queue::store::Admission;
use crosswind_net::registry::BuildCx;
use crosswind_testkit::bench::{self, Bench, DiscBench, Entry, Outcome};
use crosswind_testkit::oracle::droptail::Rule;
use crosswind_testkit::oracle::seawind::{Arq, Freed, History, SendBuffer, Trace};
use crosswind_testkit::oracle::{self, Decision};
use serde_json::{Value, json};

#[test]
fn drop_tail_admits_what_a_list_of_lengths_admits() {
    let rules = [
        (Limit::Bytes(5000), Admission::Fits, Rule::BytesWithArrival(5000)),
        (Limit::Bytes(5000), Admission::Overshoot, Rule::BytesWithoutArrival(5000)),
        (Limit::Packets(7), Admission::Fits, Rule::Packets(7)),
        (Limit::Packets(7), Admission::Overshoot, Rule::Packets(7)),
        (Limit::Bytes(5000), Admission::Linux24, Rule::HeldBytes(5000)),
        (Limit::Packets(7), Admission::Linux24, Rule::HeldPackets(7)),
    ];
    for (limit, admission, rule) in rules {
        let mut rng = Streams::new(5).named("trace");
        let mut bench = DiscBench::new(DropTail::new(DropTailParams { limit, admission, ..Default::default() }));
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

/// A setting of the link, as scenarios write it, and the same for the oracle.
struct Case {
    seed: u64,
    rate: u64,
    tx_tick_ms: u64,
    in_transit: u32,
    load: f64,
    /// `send_buffer` and, for lossy links, `preset` and its overrides.
    link: Value,
    buffer: SendBuffer,
    freed: Freed,
    arq: Option<Reading>,
}

#[derive(Clone, Copy)]
struct Reading {
    drop_threshold_ns: u64,
    is_frozen: bool,
}

/// Both name their random streams after this place.
const PLACE: &str = "link/test/forward";

/// The history that a default channel has in the streams of `seed`, and the draws of its errors.
fn trace(seed: u64) -> Trace {
    let mut c = Channel::new(ChannelParams::default(), Streams::new(seed).named("link/test/channel"));
    let (first, mut end) = c.at(Time::ZERO);
    let mut ends_ns = Vec::new();
    for _ in 0..1_000 {
        ends_ns.push(end.0);
        end = c.at(end).1;
    }
    Trace { ends_ns, first_is_bad: first == State::Bad }
}

fn arrivals_of(case: &Case) -> Vec<(u64, u64)> {
    let mut rng = Streams::new(case.seed).named("trace");
    let mut now = 0u64;
    let mut arrivals = Vec::new();
    for i in 0..5_000 {
        let load = if (i / 500) % 2 == 0 { case.load } else { case.load * 0.4 };
        // Some arrivals coincide, some fall exactly on the end of a transmission.
        now += match rng.below(4) {
            0 => 0,
            1 => BitRate(case.rate).tx_time(576).0,
            _ => (rng.exponential(576.0 * 8.0 / case.rate as f64 / load) * 1e9) as u64,
        };
        arrivals.push((now, if rng.chance(0.7) { 576 } else { 40 + rng.below(537) }));
    }
    arrivals
}

fn play(case: &Case, arrivals: &[(u64, u64)]) -> History {
    let streams = Streams::new(case.seed);
    let mut link = case.link.clone();
    link["type"] = "seawind".into();
    link["rate"] = format!("{} bit/s", case.rate).into();
    link["tx_tick"] = format!("{} ms", case.tx_tick_ms).into();
    link["in_transit"] = case.in_transit.into();
    let queue = json!({"type": "droptail", "limit": "11520 B"});
    let egress = bench::egress([&queue, &link], "link.test", &BuildCx::new(&streams, PLACE));
    let mut bench = Bench::new(egress.unwrap_or_else(|e| panic!("{link}: {e}")));
    for &(at, len) in arrivals {
        bench.offer(Time(at), len as u16, Ecn::NotEct);
    }
    bench.drain();
    let drops = |wanted: DropReason| {
        let one = |e: &Entry| match e {
            Entry::Dropped { at, seq, why } if *why == wanted => Some((at.0, *seq)),
            _ => None,
        };
        bench.log.entries.iter().filter_map(one).collect()
    };
    History {
        delivered: bench.deliveries.iter().map(|d| (d.at.0, d.seq)).collect(),
        dropped: drops(DropReason::QueueFull),
        lost: drops(DropReason::LinkError),
        retransmitted: bench.report().get("link_retransmitted_packets") as u64,
    }
}

fn seawind_case(case: &Case) -> History {
    let arrivals = arrivals_of(case);
    let got = play(case, &arrivals);
    let mut errors = Streams::new(case.seed).named(&format!("{PLACE}/errors"));
    let mut rand = move || errors.uniform();
    let arq = case.arq.as_ref().map(|r| Arq {
        trace: trace(case.seed),
        error_in_bad: 0.6,
        delay_ns: 700_000_000,
        drop_threshold_ns: r.drop_threshold_ns,
        is_frozen: r.is_frozen,
        rand: &mut rand,
    });
    let want = oracle::seawind::Seawind {
        queue_limit_bytes: 11_520,
        in_transit_max: case.in_transit as usize,
        send_buffer: case.buffer,
        bits_per_s: case.rate,
        tx_tick_ns: case.tx_tick_ms * 1_000_000,
        delay_ns: 300_000_000,
        freed: case.freed,
        arq,
    }
    .run(&arrivals);
    let parts = [
        ("drop", &got.dropped, &want.dropped),
        ("loss", &got.lost, &want.lost),
        ("delivery", &got.delivered, &want.delivered),
    ];
    for (what, mine, theirs) in parts {
        let i = mine.iter().zip(theirs).position(|(a, b)| a != b).unwrap_or(mine.len().min(theirs.len()));
        assert_eq!(mine.get(i), theirs.get(i), "{} seed {}: {what} {i} (time, ordinal)", case.link, case.seed);
    }
    assert_eq!(got.retransmitted, want.retransmitted, "{}", case.link);
    assert_eq!(got.delivered.len() + got.dropped.len() + got.lost.len(), 5_000);
    got
}

#[test]
fn the_error_free_link_delivers_exactly_like_an_event_by_event_simulation() {
    let mut drops = 0;
    for seed in 0..48 {
        let (text, buffer) = [
            ("12000 B", SendBuffer::Bytes(12_000)),
            ("576 B", SendBuffer::Bytes(576)),
            ("1 packets", SendBuffer::Packets(1)),
            ("2000 B", SendBuffer::Bytes(2_000)),
        ][seed as usize % 4];
        let got = seawind_case(&Case {
            seed,
            link: json!({"send_buffer": text}),
            buffer,
            in_transit: [3, 1, 2][seed as usize % 3],
            rate: [64_000, 384_000, 63_997][seed as usize / 8 % 3],
            tx_tick_ms: seed / 24,
            load: 1.2,
            freed: Freed::AtEndOfTransmission,
            arq: None,
        });
        assert_eq!((got.lost.len(), got.retransmitted), (0, 0));
        drops += got.dropped.len();
    }
    assert!(drops > 1_000, "only {drops} drops: the traces never fill the queue");
}

#[test]
fn with_a_tick_of_a_millisecond_transmissions_last_what_the_emulator_printed() {
    // [Järvinen 2006] section 5.4.1: a packet of the stream takes 9 ms, two of them 18 ms.
    let levels = [(64, 576, 72), (384, 576, 12), (64, 76, 9), (384, 76, 1), (64, 40, 5), (384, 40, 0)];
    for (kbps, len, ms) in levels {
        for more in [json!({}), json!({"error": 1e-12})] {
            let mut link = json!({"type": "seawind", "rate": format!("{kbps} kbit/s"), "tx_tick": "1 ms"});
            link.as_object_mut().expect("a table").extend(more.as_object().expect("a table").clone());
            let queue = json!({"type": "droptail"});
            let streams = Streams::new(1);
            let egress = bench::egress([&queue, &link], "link.test", &BuildCx::new(&streams, PLACE));
            let mut bench = Bench::new(egress.expect("valid"));
            for _ in 0..3 {
                bench.offer(Time(1), len, Ecn::NotEct);
            }
            bench.drain();
            let at: Vec<u64> = bench.deliveries.iter().map(|d| d.at.0).collect();
            assert_eq!(at, [1, 2, 3].map(|n| 1 + 300_000_000 + n * ms * 1_000_000), "{link}, {len} B");
        }
    }
}

#[test]
fn links_with_retransmission_deliver_and_lose_exactly_like_the_pseudo_code() {
    let (s, ms) = (1_000_000_000, 1_000_000);
    let reading = |drop_threshold_ns| Reading { drop_threshold_ns, is_frozen: false };
    let after = Freed::AfterRelease;
    let settings = [
        (json!({"preset": "arq-low"}), after(300 * ms), reading(701 * ms)),
        (json!({"preset": "arq-medium"}), after(300 * ms), reading(1_401 * ms)),
        (json!({"preset": "arq-high"}), after(300 * ms), reading(2_801 * ms)),
        (json!({"preset": "arq-high", "arq": {"drop_threshold": "2801 ms"}}), after(300 * ms), reading(2_801 * ms)),
        (json!({"preset": "arq-medium", "ack_delay": "0 ms"}), after(0), reading(1_401 * ms)),
        (json!({"preset": "arq-high", "ack_order": "each"}), Freed::AfterArrival(300 * ms), reading(2_801 * ms)),
        (json!({"preset": "arq-low", "hold": "sent"}), Freed::AtEndOfTransmission, reading(701 * ms)),
        (
            json!({"preset": "arq-medium", "arq": {"state_at": "first"}, "ack_delay": "1 s"}),
            after(s),
            Reading { drop_threshold_ns: 1_401 * ms, is_frozen: true },
        ),
    ];
    let buffers = [
        ("12000 B", SendBuffer::Bytes(12_000)),
        ("1 packets", SendBuffer::Packets(1)),
        ("3000 B", SendBuffer::Bytes(3_000)),
    ];
    let (mut lost, mut retransmitted) = (0, 0);
    for (i, (link, freed, reading)) in settings.into_iter().enumerate() {
        for (j, (text, buffer)) in buffers.into_iter().enumerate() {
            let mut link = link.clone();
            link["send_buffer"] = text.into();
            // A receive buffer that never fills, as the pseudo-code has it.
            link["receive_buffer"] = "1 MB".into();
            let got = seawind_case(&Case {
                seed: (10 * i + j) as u64,
                link,
                buffer,
                in_transit: [3, 1, 2][(i + j) % 3],
                rate: 64_000,
                tx_tick_ms: (i + j) as u64 % 2,
                load: [0.8, 1.2][j % 2],
                freed,
                arq: Some(reading),
            });
            lost += got.lost.len();
            retransmitted += got.retransmitted;
        }
    }
    assert!(
        lost > 1_000 && retransmitted > 5_000,
        "{lost} losses and {retransmitted} retransmissions are too few to tell"
    );
}

#[test]
fn below_the_queue_the_thesis_link_holds_three_packets_and_twelve_thousand_bytes() {
    let queue =
        DropTail::new(DropTailParams { limit: Limit::Bytes(11_520), admission: Admission::Fits, ..Default::default() });
    let mut bench = Bench::new(Egress::new(queue, Plain::new(&SeawindParams::default())));
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
