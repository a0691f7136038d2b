//! The replay window of a tunnel against a window of bits, behind queues that overtake each other, on random traces.

use crosswind_base::{DropReason, Dur, Ecn, Rng, Streams, Time};
use crosswind_net::registry::{BoxStage, BuildCx, EgressMaker, Parts};
use crosswind_testkit::bench::{Bench, Entry};
use crosswind_testkit::oracle::replay_window::ReplayWindow as Oracle;
use serde_json::{Value, json};

/// L packets pass those that wait in the Classic queue.
fn rig(loss: &Value) -> Bench<BoxStage> {
    let queue = json!({"type": "dualpi2", "limit": "60 packets", "target": "1 s", "scheduler": "strict"});
    let link = json!({"type": "wire", "rate": "8 Mbit/s", "delay": "3 ms"});
    let parts = Parts { queue: &queue, link: &link, loss: Some(loss), delayers: &Value::Null };
    let streams = Streams::new(7);
    let made = EgressMaker::new(&parts, "link.t").and_then(|m| m.make(&BuildCx::new(&streams, "link/t/forward")));
    Bench::new(made.unwrap_or_else(|e| panic!("{e}")))
}

fn offered(b: &mut Bench<BoxStage>, rng: &mut Rng) {
    let mut at = Time::ZERO;
    for _ in 0..20_000 {
        at += Dur(rng.below(1_600_000));
        let ecn = if rng.chance(0.7) { Ecn::Ect1 } else { Ecn::NotEct };
        b.offer(at, 200 + rng.below(1300) as u16, ecn);
    }
    b.drain();
}

/// Number (from 1), and whether it was let in, in the order in which packets came to the far end.
fn far_end(b: &Bench<BoxStage>) -> Vec<(u64, bool)> {
    let refused = b.log.entries.iter().filter_map(|e| match e {
        Entry::Dropped { at, seq, why: DropReason::LinkError } => Some((*at, *seq, false)),
        _ => None,
    });
    let mut all: Vec<_> = b.deliveries.iter().map(|d| (d.at, d.seq, true)).chain(refused).collect();
    all.sort_unstable();
    all.into_iter().map(|(_, seq, is_in)| (seq + 1, is_in)).collect()
}

#[test]
fn those_that_are_too_late_are_refused_and_no_others() {
    let mut refused = Vec::new();
    for window in [1u32, 8, 32, 500] {
        let mut b = rig(&json!({"type": "replay-window", "window": window}));
        offered(&mut b, &mut Streams::new(3).named("trace"));
        let mut oracle = Oracle::new(window as usize);
        let seen = far_end(&b);
        assert!(seen.len() > 10_000, "the queue dropped nearly everything");
        for (number, is_in) in &seen {
            assert_eq!(oracle.receive(*number), *is_in, "window {window}, packet {number}");
        }
        refused.push(seen.iter().filter(|s| !s.1).count());
    }
    assert!(refused[0] > refused[1] && refused[1] > refused[2] && refused[2] > 100, "{refused:?}");
    assert_eq!(refused[3], 0, "nobody is that late in a queue of 60 packets");
    let mut off = rig(&json!({"type": "replay-window", "window": 0}));
    offered(&mut off, &mut Streams::new(3).named("trace"));
    assert_eq!(off.drops_of(DropReason::LinkError), 0);
}

#[test]
fn beside_other_losses_it_knows_its_packets_too() {
    let alone = json!({"type": "replay-window", "window": 8});
    let both = json!({"type": "several", "of": [{"type": "uniform", "probability": 0.0}, &alone]});
    let [a, b] = [alone, both].map(|loss| {
        let mut b = rig(&loss);
        offered(&mut b, &mut Streams::new(3).named("trace"));
        far_end(&b)
    });
    assert!(a == b && a.iter().any(|s| !s.1), "the same packets are refused");
}

#[test]
fn the_window_may_change() {
    let mut b = rig(&json!({"type": "replay-window", "window": 0}));
    let set = json!({"loss": {"window": 1}});
    b.change(Time(1), set.as_object().expect("a table")).unwrap_or_else(|e| panic!("{e}"));
    offered(&mut b, &mut Streams::new(3).named("trace"));
    assert!(b.drops_of(DropReason::LinkError) > 0);
}
