//! RFC 3649: section 5, and the program of appendix B with some rows of the table that it prints.

use super::*;
use crate::tcp::law::hstcp::HstcpParams;

/// Section 5, with its names: W = (p / Low_P)^S Low_Window, solved for p.
fn p(w: f64, low_window: f64, high_window: f64, high_p: f64) -> f64 {
    let low_p = 1.5 / (low_window * low_window);
    let s = (high_window.log10() - low_window.log10()) / (high_p.log10() - low_p.log10());
    low_p * 10f64.powf((w / low_window).log10() / s)
}

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
        let a = if w <= 38.0 { 1.0 } else { w * w * 2.0 * p(w, 38.0, 83_000.0, 1e-7) * b(w) / (2.0 - b(w)) };
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
    // The table's 1 / 12.8 w^1.2 is the line between two ends with rounded numbers, of which 1e-3 is the lower.
    for (low_p, tolerance) in [(None, 0.046), (Some(1e-3), 0.026)] {
        let params = HstcpParams { low_p, ..HstcpParams::default() };
        for &(w, a, share) in &rows {
            assert!((params.increase(w) / a - 1.0).abs() < tolerance, "{w}: {} and {a}", params.increase(w));
            assert!((params.decrease(w) - share).abs() < 1e-9);
        }
    }
}

#[test]
fn the_ends_of_the_response_function_move_the_increase() {
    // a(150), by hand and with ns-2's `increase_param`.
    let default = HstcpParams::default();
    let near = |p: &HstcpParams, w: f64, a: f64| assert!((p.increase(w) - a).abs() < 0.005, "{}", p.increase(w));
    near(&HstcpParams { low_window: 25.0, ..default.clone() }, 150.0, 3.01);
    near(&HstcpParams { low_window: 13.0, high_window: 12_500.0, high_p: 1e-6, ..default.clone() }, 150.0, 3.42);
    near(&HstcpParams { low_window: 100.0, ..default.clone() }, 150.0, 1.36);
    // The ends themselves: TCP's response at the lower one, equation 2 at the upper one.
    assert!((default.loss_rate(38.0) - 1.5 / 38.0 / 38.0).abs() < 1e-12);
    near(&default, 83_000.0, 83_000f64 * 83_000.0 * 1e-7 * 2.0 * 0.1 / 1.9);
    // A loss rate of its own at the lower end (section 5 rounds it to 1e-3).
    let rounded = HstcpParams { low_p: Some(1e-3), ..default.clone() };
    assert!((rounded.loss_rate(38.0) - 1e-3).abs() < 1e-15 && (rounded.loss_rate(83_000.0) - 1e-7).abs() < 1e-18);
    assert!(HstcpParams { high_p: 0.1, ..default }.check().expect_err("it rises").path.contains("high_p"));
}
