//! AIMD(a, b): ns-2's `slowdown` and `opencwnd` in segments, with its names; and the mean window under periodic losses.

use super::*;
use crate::tcp::law::aimd::{AimdParams, FirstDecrease};

/// What ns-2 keeps between ACKs and reductions.
struct Agent {
    cwnd: f64,
    ssthresh: f64,
    increase_num: f64,
    decrease_num: f64,
    first_decrease: bool,
}

impl Agent {
    fn opencwnd(&mut self) {
        self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { self.increase_num / self.cwnd };
    }
    /// `timeout`: the window restarts at one segment, and the threshold is half of it.
    fn slowdown(&mut self, timeout: bool) {
        let slowstart = self.cwnd < self.ssthresh;
        let (halfwin, decreasewin) = (self.cwnd / 2.0, self.decrease_num * self.cwnd);
        let kept = if self.first_decrease || slowstart || timeout { halfwin } else { decreasewin };
        self.ssthresh = kept.floor().max(2.0);
        self.cwnd = if timeout { 1.0 } else { kept };
        self.first_decrease = false;
    }
}

fn aimd(increase: f64, decrease: f64, first_decrease: FirstDecrease) -> TcpParams {
    params(LawName::Aimd).with(|p| p.controller.aimd = AimdParams { increase, decrease, first_decrease })
}

#[test]
fn aimd_is_the_routine_of_ns_2() {
    for (seed, (a, b)) in (0..).zip([(1.0, 0.5), (0.31, 0.125), (0.75, 0.25), (3.0, 0.8)]) {
        for first in [FirstDecrease::Half, FirstDecrease::Same] {
            let mut r = Streams::new(seed).named("aimd");
            let mut law = Law::new(&aimd(a, b, first));
            let mut agent = Agent {
                cwnd: 4.0,
                ssthresh: 60.0,
                increase_num: a,
                decrease_num: 1.0 - b,
                first_decrease: first == FirstDecrease::Half,
            };
            for n in 1..20_000 {
                if r.chance(0.003) {
                    let timeout = r.chance(0.1);
                    law.reduce(if timeout { Trigger::Timeout } else { Trigger::Loss }, law.cwnd());
                    agent.slowdown(timeout);
                } else {
                    law.grow(&ack(Step { now_s: n as f64, rtt_s: 0.1, in_flight: 1.0 }, n));
                    agent.opencwnd();
                }
                let (ours, kept) = (law.cwnd() / MSS as f64, law.ssthresh() / MSS as f64);
                assert!((ours - agent.cwnd).abs() < 1e-6 * agent.cwnd, "step {n}: {ours} and {}", agent.cwnd);
                assert_eq!(kept, agent.ssthresh, "step {n}");
                agent.cwnd = ours;
            }
        }
    }
}

#[test]
fn under_periodic_losses_the_mean_window_is_that_of_the_response_function() {
    // One loss in every 1/p ACKs: w = sqrt(a (2 - b) / (2 b p)).
    for (a, b) in [(1.0_f64, 0.5_f64), (0.31, 0.125)] {
        let p = 1e-4;
        let mut law = Law::new(&aimd(a, b, FirstDecrease::Same));
        law.window_mut().cwnd = 100.0 * MSS as f64;
        law.change(Change::Threshold(2.0 * MSS as f64));
        let (mut acks, mut windows) = (0.0, 0.0);
        for n in 1..2_000_000_u64 {
            law.grow(&ack(Step { now_s: n as f64, rtt_s: 0.1, in_flight: 1.0 }, n));
            if n % 10_000 == 0 {
                law.reduce(Trigger::Loss, law.cwnd());
            }
            if n > 200_000 {
                acks += 1.0;
                windows += MSS as f64 / law.cwnd();
            }
        }
        // The mean over time is ACKs by windows of time.
        let (mean, theory) = (acks / windows, (a * (2.0 - b) / (2.0 * b * p)).sqrt());
        assert!((mean / theory - 1.0).abs() < 0.02, "{mean} and {theory}");
    }
}
