//! A wire whose rate and delay change, and a queue whose limit does, against transliterations of their sources.

use crosswind_base::{BitRate, Dur, Ecn, Limit, Packet, Rng, Streams, Time};
use crosswind_net::link::wire::{Wire, WireParams};
use crosswind_net::link::{Fate, Link};
use crosswind_net::queue::droptail::{DropTail, DropTailParams};
use crosswind_testkit::bench::DiscBench;
use serde_json::json;

/// Appendix A.2 of the thesis in the form of ns-2's `LinkDelay::recv` with `avoidReordering_`.
#[derive(Default)]
struct AvoidReordering {
    latest: f64,
}

impl AvoidReordering {
    /// When a packet sent at `now` arrives.
    fn recv(&mut self, now: f64, txt: f64, delay: f64) -> f64 {
        if self.latest > 0.0 && now + txt + delay < self.latest {
            self.latest += txt;
        } else {
            self.latest = now + txt + delay;
        }
        self.latest
    }
}

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

#[test]
fn nothing_overtakes_at_any_step_of_rate_and_delay() {
    let mut rng = Streams::new(2).named("steps");
    let mut wire =
        Wire::new(WireParams { rate: BitRate(8_000_000), delay: Dur::from_millis(100), ..WireParams::default() });
    let mut oracle = AvoidReordering::default();
    let (mut rate, mut delay) = (8e6, 0.1);
    let (mut now, mut last) = (Time::ZERO, Time::ZERO);
    let mut pushed_back = 0;
    for i in 0..50_000 {
        if rng.chance(0.05) {
            rate = pick(&mut rng, &[8e3, 80e3, 800e3, 8e6, 80e6, 8e9]);
            delay = pick(&mut rng, &[0.0, 0.001, 0.01, 0.1, 0.5]);
            let set = json!({"rate": format!("{rate} bit/s"), "delay": format!("{} ms", delay * 1e3)});
            wire.read_and_change(set.as_object().expect("a table"), now).unwrap_or_else(|e| panic!("{e}"));
        }
        let p = Packet { len: 40 + rng.below(1460) as u16, ..Packet::default() };
        let txt = f64::from(p.len) * 8.0 / rate;
        let plan = wire.transmit(&p, now);
        let Fate::Deliver(at) = plan.fate else { unreachable!("a wire loses nothing") };
        let wanted = oracle.recv(now.as_secs_f64(), txt, delay);
        assert!((at.as_secs_f64() - wanted).abs() < 1e-6 * wanted.max(1.0), "packet {i}: {at:?}, expected {wanted}");
        assert!(at >= last, "packet {i} overtakes");
        pushed_back += usize::from(at > plan.tx_end + Dur::from_secs_f64(delay + 1e-9));
        last = at;
        now = plan.free_at + if rng.chance(0.3) { Dur::from_secs_f64(rng.exponential(0.01)) } else { Dur::ZERO };
    }
    assert!(pushed_back > 100, "the rule was needed {pushed_back} times");
}

#[test]
fn a_queue_that_shrinks_is_within_its_limit_at_once_or_when_it_has_drained() {
    for (shrink, kept) in [("tail", 0..3u64), ("head", 7..10), ("none", 0..10)] {
        let mut q = DiscBench::new(DropTail::new(DropTailParams { limit: Limit::Packets(20), ..Default::default() }));
        let now = Time::from_secs_f64(1.0);
        (0..10).for_each(|_| {
            q.arrive(now, 1000, Ecn::NotEct);
        });
        q.change(now, &json!({"limit": "3 packets", "shrink": shrink}));
        let mut left = Vec::new();
        while let Some(seq) = q.depart(now) {
            left.push(seq);
            if left.len() == 1 {
                q.arrive(now, 1000, Ecn::NotEct);
            }
        }
        let is_full = shrink == "none";
        let wanted: Vec<u64> = kept.chain((!is_full).then_some(10)).collect();
        assert_eq!(left, wanted, "{shrink}: what arrives meanwhile finds the new limit");
    }
}
