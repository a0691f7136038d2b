//! smoltcp in virtual time, against itself and against Crosswind's own TCP, in real bytes.
#![cfg(feature = "smoltcp")]

mod common;

use common::{Little, Path, pairs};
use crosswind_base::Time;
use crosswind_stacks::ROWS;
use crosswind_stacks::tcp::{Line, OwnTcp, Place};
use crosswind_transport::stack::{Role, Stack, State};
use crosswind_transport::tcp::preset;
use serde_json::{Value, json};
use std::sync::Arc;

const MB: u64 = 1_000_000;
/// Who sends and who receives.
const MIXES: [&str; 3] = ["both", "client", "server"];

fn table(runs_at: &str, own: Value) -> Value {
    let mut all = json!({"runs_at": runs_at});
    if runs_at != "both" {
        all["tcp"] = own;
    }
    all
}

fn world(params: &Value, path: Path, flows: usize, size: u64, seed: u64) -> Little {
    let row = ROWS.iter().find(|r| r.name == "smoltcp").expect("it is built in");
    let (_, make) = (row.build.read)(params, "flow.a.transport").expect("parameters make sense");
    Little::new(path, pairs(flows, seed, |role, rng| make(role, rng)), size)
}

/// Runs until everything has arrived and both ends know; both compare each byte with what was sent.
fn complete(mut w: Little, size: u64, seconds: u64) -> Little {
    let until = |w: &Little| w.ends.iter().all(|e| e.state() == State::Closed);
    while !until(&w) && w.now < Time::from_secs_f64(seconds as f64) {
        w.run(Time(w.now.0 + 100_000_000));
        assert_eq!(w.failures(), Vec::<String>::new());
    }
    assert!(until(&w), "both ends have closed: {:?}", w.ends.iter().map(|e| e.state()).collect::<Vec<_>>());
    assert!(w.transfers.iter().all(|t| t.has_ended && t.read == size), "{}", w.transfers[0].read);
    w
}

#[test]
fn fifty_megabytes_arrive_byte_for_byte_in_every_mix() {
    for mix in MIXES {
        let w = world(&table(mix, json!({"law": "cubic"})), Path::new(20, 100, 60), 1, 50 * MB, 1);
        let w = complete(w, 50 * MB, 300);
        assert!(w.drops_packets > 10, "{mix}: the queue has overflowed: {}", w.drops_packets);
        assert!(w.goodput_mbit() > 5.0, "{mix}: {} Mbit/s", w.goodput_mbit());
    }
}

#[test]
fn transfers_survive_losses_in_every_mix() {
    for (mix, lose_every) in MIXES.into_iter().flat_map(|m| [(m, 101), (m, 19)]) {
        let path = Path { lose_every: Some(lose_every), ..Path::new(10, 100, 20) };
        let mut params = table(mix, json!({"law": "reno"}));
        params["send_buffer"] = json!("30 kB");
        complete(world(&params, path, 1, 2 * MB, 2), 2 * MB, 200);
    }
}

#[test]
fn who_asks_for_marks_to_be_counted_sends_without_when_the_peer_does_not() {
    for (mix, own) in [("client", json!({"ecn": "accurate"})), ("server", json!({"preset": "prague"}))] {
        complete(world(&table(mix, own), Path::new(20, 100, 60), 1, MB, 1), MB, 60);
    }
}

#[test]
fn ten_runs_with_one_seed_send_the_same_bytes_at_the_same_times_and_another_seed_does_not() {
    for mix in MIXES {
        let hash = |seed| {
            let mut w = world(&table(mix, json!({})), Path::new(20, 60, 30), 2, 100 * MB, seed);
            w.run(Time::from_secs_f64(2.5));
            assert!(w.sent_packets > 2000, "{mix}: there was something to compare: {}", w.sent_packets);
            w.hash
        };
        let first = hash(1);
        assert!((0..9).all(|_| hash(1) == first), "{mix}: what is not seeded leaks into the bytes");
        assert_ne!(hash(2), first, "{mix}: the seed reaches the stack");
    }
}

#[test]
fn segments_are_as_large_as_the_smaller_end_allows() {
    for (mss, mtu) in [(536, 576), (1220, 1260), (1460, 1500)] {
        for mix in ["client", "server"] {
            let mut params = table(mix, json!({"law": "reno"}));
            params["mtu"] = json!(format!("{mtu} B"));
            let w = complete(world(&params, Path::new(10, 100, 20), 1, MB, 3), MB, 200);
            assert_eq!(w.largest_bytes, mss + 40, "{mix}");
        }
    }
}

#[test]
fn the_window_of_this_release_does_not_bound_what_is_in_flight() {
    // It compares what may still be sent with the whole window (socket/tcp.rs, `seq_to_transmit`), so that only the buffers
    // are a bound. RFC 5681 section 2 wants the data in flight below it. A release of which this is no longer true fails here.
    let run = |congestion: &str| {
        let params = json!({"congestion": congestion, "send_buffer": "500 kB"});
        let mut w = world(&params, Path::new(20, 100, 60), 1, 100 * MB, 1);
        w.run(Time::from_secs_f64(0.5));
        (w.ends[0].probe().in_flight_bytes.expect("its packets tell"), w.hash)
    };
    let (in_flight, with_cubic) = run("cubic");
    assert!(in_flight > 450_000, "the path holds 150 kB and the queue as much: {in_flight}");
    assert_eq!(run("reno").1, with_cubic, "which controller runs changes nothing");
}

/// Two ends of Crosswind's TCP in real bytes; sequence numbers wrap at once.
fn own_pair(keys: &Value) -> Vec<[Box<dyn Stack>; 2]> {
    let params = Arc::new(preset::read(keys, "tcp").expect("parameters make sense"));
    let (a, b) = (Place { address: [192, 0, 2, 1], port: 49_152 }, Place { address: [192, 0, 2, 2], port: 9 });
    let end = |role, line| Box::new(OwnTcp::new(params.clone(), role, line)) as Box<dyn Stack>;
    let client = end(Role::Client, Line::new(a, Some(b), u32::MAX - 4095));
    vec![[client, end(Role::Server, Line::new(b, None, u32::MAX))]]
}

#[test]
fn own_tcp_in_real_bytes_is_byte_exact_with_all_options_and_numbers_that_wrap() {
    let keys =
        json!({"law": "cubic", "timestamps": "on", "sack": "on", "window_scaling": "on", "receive_buffer": "4 MB"});
    let w = complete(Little::new(Path::new(20, 100, 60), own_pair(&keys), 50 * MB), 50 * MB, 60);
    assert!(w.goodput_mbit() > 17.0 && !w.cuts.is_empty(), "{} Mbit/s", w.goodput_mbit());
    for c in w.cuts.iter().filter(|c| c.at > Time::from_secs_f64(2.0)) {
        let factor = c.after_bytes as f64 / c.before_bytes as f64;
        assert!((factor - 0.7).abs() < 0.01, "{c:?}");
    }
}

#[test]
fn a_peer_that_falls_silent_is_a_failure_with_a_reason() {
    let path = Path { lose_every: Some(1), ..Path::new(10, 100, 40) };
    let mut w = world(&json!({"idle_timeout": "20 s"}), path, 1, 1000, 1);
    w.run(Time::from_secs_f64(120.0));
    assert_eq!(w.failures(), ["timed out"]);
}

#[test]
fn a_connection_that_is_dropped_is_reset_and_the_peer_says_so() {
    for mix in MIXES {
        // It has not written everything yet.
        let mut w = world(&table(mix, json!({"send_buffer": "1 MB"})), Path::new(10, 100, 40), 1, 100 * MB, 1);
        w.run(Time::from_secs_f64(1.0));
        let now = w.now;
        w.ends[0].close(now);
        w.run(Time::from_secs_f64(3.0));
        assert!(w.failures().iter().any(|why| why.contains("reset")), "{mix}: {:?}", w.failures());
    }
}

#[test]
fn what_makes_no_sense_is_refused_where_it_stands() {
    let row = ROWS.iter().find(|r| r.name == "smoltcp").expect("it is built in");
    for (params, path) in [
        (json!({"mtu": "100 B"}), "t.mtu"),
        (json!({"tcp": {"law": "cubic"}}), "t.tcp"),
        (json!({"runs_at": "client", "tcp": {"law": "cubik"}}), "t.tcp.law"),
        (json!({"congestion": "newreno"}), "t.congestion"),
    ] {
        let e = (row.build.read)(&params, "t").err().expect("it makes no sense");
        assert_eq!(e.path, path, "{e}");
    }
}
