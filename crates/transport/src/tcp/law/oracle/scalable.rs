//! Kelly 2003: 0.01 of a segment per ACK, an eighth of the window per loss, TCP up to 16 segments. Linux 2.6: its integers.

use super::*;
use crate::tcp::law::scalable::{ScalableParams, ScalableVersion};

struct PlainScalable;

impl Plain for PlainScalable {
    fn ack(&mut self, _: Step, cwnd: f64, ssthresh: f64) -> f64 {
        cwnd + if cwnd < ssthresh {
            1.0
        } else if cwnd <= 16.0 {
            1.0 / cwnd
        } else {
            0.01
        }
    }
    fn cut(&mut self, why: Trigger, cwnd: f64) -> f64 {
        if why == Trigger::Timeout || cwnd <= 16.0 { cwnd / 2.0 } else { 0.875 * cwnd }
    }
}

#[test]
fn scalable_is_its_paper() {
    compare(&params(LawName::Scalable), 0.004, || Box::new(PlainScalable));
}

/// The kernel's counters, with its names.
#[derive(Default)]
struct Linux {
    snd_cwnd_cnt: u32,
}

impl Plain for Linux {
    fn ack(&mut self, _: Step, cwnd: f64, ssthresh: f64) -> f64 {
        let (snd_cwnd, snd_ssthresh) = (cwnd as u32, ssthresh as u32);
        if snd_cwnd <= snd_ssthresh {
            return f64::from(snd_cwnd + 1);
        }
        self.snd_cwnd_cnt += 1;
        if self.snd_cwnd_cnt > snd_cwnd.min(50) {
            self.snd_cwnd_cnt = 0;
            return f64::from(snd_cwnd + 1);
        }
        cwnd
    }
    fn cut(&mut self, _: Trigger, cwnd: f64) -> f64 {
        self.snd_cwnd_cnt = 0;
        let snd_cwnd = cwnd as u32;
        f64::from((snd_cwnd - (snd_cwnd >> 3)).max(2))
    }
}

#[test]
fn the_scalable_of_linux_2_6_counts_as_the_kernel_does() {
    let scalable = ScalableParams { version: ScalableVersion::Linux26, ..ScalableParams::default() };
    compare(&params(LawName::Scalable).with(|p| p.controller.scalable = scalable), 0.004, || Box::<Linux>::default());
}

#[test]
fn in_linux_2_6_fifty_one_acks_make_a_segment() {
    let scalable = ScalableParams { version: ScalableVersion::Linux26, ..ScalableParams::default() };
    let mut law = Law::new(&params(LawName::Scalable).with(|p| p.controller.scalable = scalable));
    law.window_mut().cwnd = 100.0 * MSS as f64;
    let s = Step { now_s: 1.0, rtt_s: 0.1, in_flight: 100.0 };
    (0..102).for_each(|n| law.grow(&ack(s, n)));
    assert_eq!(law.cwnd() / MSS as f64, 102.0);
}
