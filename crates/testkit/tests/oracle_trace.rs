//! The trace-driven link against a transliteration of the loop that the source runs every millisecond.

use crosswind_base::{Packet, Streams, Time};
use crosswind_net::link::Link;
use crosswind_net::link::trace::{Trace, TraceParams};
use std::collections::VecDeque;

const MTU: i64 = 1504;

/// The source's queue: every opportunity at or before `now` is used (or wasted) before a packet is enqueued.
struct Oracle {
    schedule: Vec<u64>,
    next: usize,
    base: u64,
    waiting: VecDeque<i64>,
    departures_ms: Vec<u64>,
}

impl Oracle {
    fn rationalize(&mut self, now: u64) {
        while self.base + self.schedule[self.next] <= now {
            let at = self.base + self.schedule[self.next];
            self.next += 1;
            if self.next == self.schedule.len() {
                self.next = 0;
                self.base += self.schedule[self.schedule.len() - 1];
            }
            let mut left = MTU;
            while left > 0 {
                let Some(first) = self.waiting.front_mut() else { break };
                let taken = left.min(*first);
                *first -= taken;
                left -= taken;
                if *first == 0 {
                    self.waiting.pop_front();
                    self.departures_ms.push(at);
                }
            }
        }
    }
}

#[test]
fn departures_are_those_of_the_source_on_random_traces_and_arrivals() {
    let mut rng = Streams::new(3).named("trace");
    let mut shared = 0;
    for _ in 0..300 {
        let mut schedule = Vec::new();
        let mut at = rng.below(4);
        for _ in 0..1 + rng.below(30) {
            schedule.push(at);
            at += if rng.chance(0.4) { 0 } else { rng.below(12) };
        }
        schedule.push(at + 1);
        let mut arrivals = Vec::new();
        let mut now = 0;
        for _ in 0..120 {
            now += if rng.chance(0.5) { 0 } else { rng.below(25) };
            arrivals.push((now, 40 + rng.below(1461) as u16));
        }

        let mut oracle =
            Oracle { schedule: schedule.clone(), next: 0, base: 0, waiting: VecDeque::new(), departures_ms: vec![] };
        for (ms, len) in &arrivals {
            oracle.rationalize(*ms);
            oracle.waiting.push_back(*len as i64);
        }
        oracle.rationalize(now + 100_000);

        let mut link = Trace::new(TraceParams { opportunities_ms: schedule, ..TraceParams::default() });
        let mut free = Time::ZERO;
        let mut got = Vec::new();
        for (ms, len) in &arrivals {
            // Half a millisecond later is still the same millisecond of the source, and never the instant of an opportunity.
            let start = Time(ms * 1_000_000 + 500_000).max(free);
            free = link.transmit(&Packet { len: *len, ..Packet::default() }, start).free_at;
            got.push(free.0 / 1_000_000);
        }
        shared += got.windows(2).filter(|w| w[0] == w[1]).count();
        assert_eq!(got, oracle.departures_ms);
    }
    assert!(shared > 1000, "only {shared} packets shared an opportunity, the traces are too light");
}
