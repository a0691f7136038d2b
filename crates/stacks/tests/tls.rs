//! QUIC stacks with their own TLS in virtual time: it repeats to the byte, and differs from the null session in what a cipher changes.
#![cfg(all(feature = "quinn", feature = "noq", feature = "tls"))]

mod common;
#[path = "../../sim/tests/common/mod.rs"]
mod worlds;

use common::{Little, Path, pairs};
use crosswind_base::{Streams, Time};
use crosswind_stacks::ROWS;
use crosswind_transport::stack::{Role, Stack, State, pattern};
use serde_json::{Value, json};
use worlds::{number, run, table, text};

const ENDLESS: u64 = 1 << 50;
const STACKS: [&str; 2] = ["quinn", "noq"];

fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

fn end(stack: &str, params: &Value, role: Role, rng: crosswind_base::Rng) -> Box<dyn Stack> {
    let row = ROWS.iter().find(|r| r.name == stack).expect("a stack that is built in");
    let (_, make) = (row.build.read)(params, "flow.a.transport").expect("parameters make sense");
    make(role, rng)
}

fn world(stack: &str, crypto: &str, path: Path, flows: usize, size: u64, seed: u64) -> Little {
    let params = json!({ "crypto": crypto });
    Little::new(path, pairs(flows, seed, |role, rng| end(stack, &params, role, rng)), size)
}

fn ran(stack: &str, crypto: &str, path: Path, flows: usize, size: u64, seconds: f64) -> Little {
    let mut w = world(stack, crypto, path, flows, size, 7);
    w.run(at(seconds));
    assert_eq!(w.failures(), Vec::<String>::new(), "{stack} with {crypto}");
    w
}

#[test]
fn a_transfer_under_tls_arrives_whole_with_losses_and_without_and_both_ends_close() {
    for (stack, lose_every) in STACKS.into_iter().flat_map(|s| [(s, None), (s, Some(50))]) {
        let path = Path { lose_every, ..Path::new(10, 100, 40) };
        let w = ran(stack, "tls", path, 1, 3_000_000, 60.0);
        assert!(w.transfers[0].has_ended, "{stack}: the end has come");
        assert_eq!(w.transfers[0].read, 3_000_000, "{stack}");
        assert!(w.ends.iter().all(|e| e.state() == State::Closed), "{stack}: both ends know that it is over");
    }
}

#[test]
fn ten_runs_under_tls_send_the_same_bytes_at_the_same_times_and_another_seed_does_not() {
    let path = Path { mark_from_packets: Some(40), ..Path::new(20, 60, 30) };
    for stack in STACKS {
        let hash = |seed| {
            let mut w = world(stack, "tls", path, 3, ENDLESS, seed);
            w.run(at(2.0));
            assert!(w.sent_packets > 2000 && w.marks_packets > 0, "there was something to compare");
            w.hash
        };
        let first = hash(1);
        assert!((0..9).all(|_| hash(1) == first), "{stack}: what is not seeded leaks into the bytes");
        assert_ne!(hash(2), first, "{stack}: the seed reaches the stack");
    }
}

/// All ends of a thread share one source of randomness in rustls: nobody may draw from the stream of another.
#[test]
fn worlds_that_take_turns_on_a_thread_are_as_each_of_them_alone() {
    let path = Path::new(20, 60, 30);
    let alone = |stack, seed| {
        let mut w = world(stack, "tls", path, 2, ENDLESS, seed);
        w.run(at(1.0));
        w.hash
    };
    let wanted = [alone("quinn", 1), alone("noq", 2), alone("quinn", 3)];
    let mut three = [("quinn", 1), ("noq", 2), ("quinn", 3)].map(|(s, seed)| world(s, "tls", path, 2, ENDLESS, seed));
    for step in 1..=100 {
        three.iter_mut().for_each(|w| w.run(at(f64::from(step) * 0.01)));
    }
    assert_eq!(three.map(|w| w.hash), wanted);
}

/// Every datagram of the first 50 ms of a connection without delay, with the end that sent it.
fn datagrams(stack: &str, params: &Value) -> Vec<(Role, Vec<u8>)> {
    const ROLES: [Role; 2] = [Role::Client, Role::Server];
    let seeds = Streams::new(5);
    let mut ends = ROLES.map(|r| end(stack, params, r, seeds.named(&format!("{r:?}"))));
    ends[0].open(Time::ZERO);
    let (mut all, mut opened) = (Vec::new(), None);
    for ms in 1..50 {
        let now = Time(ms * 1_000_000);
        for from in 0..2 {
            let mut sent = Vec::new();
            ends[from].transmit(now, &mut |data, ecn| sent.push((data.to_vec(), ecn)));
            for (data, ecn) in sent {
                all.push((ROLES[from], data.clone()));
                ends[1 - from].on_datagram(now, data, ecn);
            }
            if ends[from].next_timer().is_some_and(|t| t <= now) {
                ends[from].on_timer(now);
            }
        }
        if opened.is_none() && ends[0].state() == State::Established {
            opened = ends[0].streams().open();
            let taken = opened.map(|stream| ends[0].streams().write(stream, 20_000));
            assert_eq!(taken, Some(20_000), "{stack} with {params}");
        }
    }
    all
}

#[test]
fn content_can_be_read_on_the_way_without_a_cipher_and_not_with_one() {
    let content: Vec<u8> = (0..64).map(pattern).collect();
    for stack in STACKS {
        let sent = ["null", "tls"].map(|crypto| datagrams(stack, &json!({ "crypto": crypto })));
        assert!(sent.iter().all(|s| s.iter().map(|(_, d)| d.len()).sum::<usize>() > 20_000), "{stack}: all was sent");
        let shows = sent.map(|s| s.iter().any(|(_, d)| d.windows(64).any(|w| w == content)));
        assert_eq!(shows, [true, false], "{stack}: the null session encrypts nothing, TLS does");
    }
}

#[test]
fn a_server_has_certificates_of_the_size_that_is_asked_for() {
    for (stack, crypto) in STACKS.into_iter().flat_map(|s| [(s, "null"), (s, "tls")]) {
        let of_server = ["1 kB", "3 kB"].map(|size| {
            let sent = datagrams(stack, &json!({ "crypto": crypto, "certificate": size }));
            sent.iter().filter(|(from, _)| *from == Role::Server).map(|(_, d)| d.len()).sum::<usize>()
        });
        let more = of_server[1].checked_sub(of_server[0]);
        assert!(more.is_some_and(|m| (1700..=2500).contains(&m)), "{stack} with {crypto}: {of_server:?}");
    }
}

#[test]
fn losses_and_goodput_are_those_of_the_null_session() {
    for stack in STACKS {
        let [null, tls] = ["null", "tls"].map(|crypto| ran(stack, crypto, Path::new(20, 100, 60), 1, ENDLESS, 30.0));
        let apart = |a: f64, b: f64| (a - b).abs() / b;
        assert!(apart(tls.goodput_mbit(), null.goodput_mbit()) < 0.01, "{stack}: {}", tls.goodput_mbit());
        assert!(apart(tls.drops_packets as f64, null.drops_packets as f64) < 0.1, "{stack}: {}", tls.drops_packets);
        assert_eq!(tls.largest_bytes, null.largest_bytes, "{stack}: a tag has 16 bytes in both");
        assert_eq!(tls.cuts.len(), null.cuts.len(), "{stack}");
        for (a, b) in tls.cuts.iter().zip(&null.cuts) {
            assert!(a.at.0.abs_diff(b.at.0) < 100_000_000, "{stack}: {a:?}, {b:?}");
        }
    }
}

#[test]
fn a_scenario_asks_for_tls() {
    for stack in STACKS {
        let transport = json!({"type": stack, "crypto": "tls"});
        let t = run(&json!({
            "name": "tls", "duration": "30 s",
            "topology": {"template": "dumbbell", "pairs": 1, "bottleneck":
                {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"limit": "60 packets"}}},
            "flow": {"a": {"from": "left-1", "to": "right-1", "transport": transport,
                           "workload": {"type": "bulk", "size": "2 MB"}}},
        }));
        let flow = table(&t, "flow");
        assert_eq!((text(flow, "outcome", 0), text(flow, "protocol", 0)), ("complete", stack));
        assert!(number(flow, "drops_packets", 0) > 0.0, "{stack}: the queue was full");
    }
}

#[test]
fn a_session_that_is_not_known_is_refused() {
    for stack in STACKS {
        let row = ROWS.iter().find(|r| r.name == stack).expect("a stack that is built in");
        let e =
            (row.build.read)(&json!({"crypto": "rot13"}), "flow.a.transport").err().expect("there is no such session");
        assert!(e.to_string().contains("rot13"), "{e}");
    }
}
