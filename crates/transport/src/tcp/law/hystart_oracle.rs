//! HyStart against the kernel's own arithmetic, in microseconds, on random rounds of ACKs.

use super::Window;
use super::hystart::Hystart;
use super::window::Ramp;
use crate::tcp::facts::Ack;
use crosswind_base::{Dur, Streams, Time};

const MSS: f64 = 1000.0;

/// `bictcp_acked` and `hystart_update`, with their names; `hystart_ack_delay` is 1000, pacing is off.
#[derive(Default)]
struct Kernel {
    delay_min: u32,
    end_seq: u64,
    round_start: u32,
    last_ack: u32,
    curr_rtt: u32,
    sample_cnt: u8,
    found: bool,
}

impl Kernel {
    fn acked(&mut self, now: u32, delay: u32, ack: u64, nxt: u64, cwnd: u32, slow_start: bool) -> bool {
        if self.delay_min == 0 || self.delay_min > delay {
            self.delay_min = delay;
        }
        if self.found || !slow_start || cwnd < 16 {
            return false;
        }
        if ack > self.end_seq {
            self.round_start = now;
            self.last_ack = now;
            self.end_seq = nxt;
            self.curr_rtt = u32::MAX;
            self.sample_cnt = 0;
        }
        if now - self.last_ack <= 2000 {
            self.last_ack = now;
            let threshold = (self.delay_min + 1000) >> 1;
            if now - self.round_start > threshold {
                self.found = true;
            }
        }
        if self.curr_rtt > delay {
            self.curr_rtt = delay;
        }
        if self.sample_cnt < 8 {
            self.sample_cnt += 1;
        } else if self.curr_rtt > self.delay_min + (self.delay_min >> 3).clamp(4000, 16000) {
            self.found = true;
        }
        self.found
    }
}

#[test]
fn hystart_is_the_kernels() {
    let (mut found, mut missed) = (0, 0);
    for seed in 0..400 {
        let mut r = Streams::new(seed).named("hystart");
        let (mut ours, mut kernel) = (Hystart::default(), Kernel::default());
        let (mut now, mut una, mut cwnd) = (1_000_000u32, 1u64, 10u32);
        // Multiples of 16: the kernel's shifts lose nothing that nanoseconds keep.
        let base = 16 * (200 + r.below(6000) as u32);
        let queue_per_ack = 16 * r.below(40) as u32;
        let (mut queue, gap) = (0u32, 400 + r.below(2400) as u32);
        for step in 0..200 {
            now += gap + r.below(200) as u32;
            queue += queue_per_ack;
            let delay = base + queue;
            una += 1000;
            let nxt = una + u64::from(cwnd) * 1000;
            let ssthresh = if r.chance(0.98) { 1e9 } else { 1000.0 };
            let w = Window { cwnd: f64::from(cwnd) * MSS, ssthresh, mss: MSS, ramp: Ramp::ByCounting };
            let a = Ack {
                now: Time(u64::from(now) * 1000),
                ack: una,
                bytes: 1000,
                rtt: Some(Dur(u64::from(delay) * 1000)),
                ..Ack::default()
            };
            let want = kernel.acked(now, delay, una, nxt, cwnd, w.in_slow_start());
            assert_eq!(ours.on_ack(&a, nxt, &w), want, "seed {seed} step {step}");
            cwnd += 1;
            if want {
                break;
            }
        }
        found += u32::from(kernel.found);
        missed += u32::from(!kernel.found);
    }
    assert!(found > 50 && missed > 5, "both outcomes are tried: {found} and {missed}");
}
