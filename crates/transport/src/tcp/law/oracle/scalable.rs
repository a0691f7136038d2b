//! Kelly 2003: 0.01 of a segment per ACK, an eighth of the window per loss, TCP up to 16 segments.

use super::*;

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
