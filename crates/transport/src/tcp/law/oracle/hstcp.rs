//! RFC 3649: section 5, and the program of appendix B with some rows of the table that it prints.

use super::*;
use crate::tcp::law::hstcp::HstcpParams;

fn b(w: f64) -> f64 {
    (0.1 - 0.5) * (w.ln() - 38f64.ln()) / (83_000f64.ln() - 38f64.ln()) + 0.5
}

struct PlainHstcp;

impl Plain for PlainHstcp {
    fn ack(&mut self, _: Step, cwnd: f64, ssthresh: f64) -> f64 {
        if cwnd < ssthresh {
            return cwnd + 1.0;
        }
        let w = cwnd.floor();
        let a = if w <= 38.0 { 1.0 } else { w * w * 2.0 * (0.078 / w.powf(1.2)) * b(w) / (2.0 - b(w)) };
        cwnd + a.max(1.0) / cwnd
    }
    fn cut(&mut self, why: Trigger, cwnd: f64) -> f64 {
        let share = if why == Trigger::Timeout || cwnd <= 38.0 { 0.5 } else { b(cwnd) };
        cwnd * (1.0 - share)
    }
}

#[test]
fn hstcp_is_its_rfc() {
    compare(&params(LawName::Hstcp), 0.0005, || Box::new(PlainHstcp));
}

/// The rows that appendix B's program prints, computed by that program (with its 1 / 12.8 for 0.078).
fn table() -> Vec<(f64, f64, f64)> {
    let mut rows = vec![(38.0, 1.0, 0.5)];
    let mut last = 1.0;
    for number in 38..100_000 {
        let w = f64::from(number);
        let a = w * w * 2.0 * b(w) / ((2.0 - b(w)) * w.powf(1.2) * 12.8);
        if a > last + 1.0 {
            rows.push((w, a, b(w)));
            last = a;
        }
    }
    rows
}

#[test]
fn increase_and_decrease_are_those_of_the_table_of_rfc_3649() {
    let rows = table();
    // As printed in the RFC.
    for (w, a, share) in [(118.0, 2.0, 0.44), (1058.0, 8.0, 0.33), (10_661.0, 30.0, 0.21), (84_035.0, 71.0, 0.10)] {
        let row = rows.iter().find(|r| r.0 == w).expect("a row of the printed table");
        assert!(row.1.floor() == a && (row.2 - share).abs() < 0.0051, "{row:?}");
    }
    let params = HstcpParams::default();
    for (w, a, share) in rows {
        assert!((params.increase(w) / a - 1.0).abs() < 0.003, "{w}: {} and {a}", params.increase(w));
        assert!((params.decrease(w) - share).abs() < 1e-9);
    }
}
