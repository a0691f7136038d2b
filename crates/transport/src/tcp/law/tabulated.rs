//! # Tabulated law
//!
//! **Source**: ours; rfc3649 section 5 (the form of the table).
//!
//! **Idea**: a window law given by two functions of the window `w` (in segments): congestion avoidance adds
//! `increase(w)` segments per window of acknowledged data, and a reduction keeps `keep(w)` of it:
//! `cwnd += increase(w) mss bytes / cwnd`; `ssthresh = max(keep(w) base, 2 mss)`. Slow start is Reno's.
//! Between the rows of the table both are interpolated on the logarithm of `w`; outside they are those of the nearest row.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `law_table` | rows of `window`, `increase`, `keep` | none: it must be given | ours |
//!
//! **Deviations**: none. It is meant for teaching and first ideas: a law that remembers more than its window (time since the
//! last reduction, delays) cannot be written as a table.
//!
//! **Checked by**: unit tests; `python/tests/test_law.py` (the table of Reno against `reno`, and rfc3649's response at
//! large windows).

use super::{Controller, Start, Window};
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One row of a window law given as a table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LawPoint {
    /// Congestion window in segments.
    pub window: f64,
    /// Segments added per window of acknowledged data in congestion avoidance.
    pub increase: f64,
    /// Share of the window that a reduction keeps.
    pub keep: f64,
}

/// Refuses a law without a table, a table without its law, and rows that make no sense.
pub fn check(is_chosen: bool, table: &[LawPoint], at: &dyn Fn(&str) -> String) -> Result<(), ConfigError> {
    let wrong = |found: String, expected: &str| Err(ConfigError::new(at("law_table"), found, expected));
    if is_chosen == table.is_empty() {
        let (found, expected) =
            if is_chosen { ("no rows", "at least one row") } else { ("rows", "rows only with law = \"tabulated\"") };
        return wrong(found.into(), expected);
    }
    for (i, row) in table.iter().enumerate() {
        let fine = row.window >= 1.0 && row.window.is_finite() && row.increase >= 0.0 && row.increase.is_finite();
        if !fine || !(0.0..=1.0).contains(&row.keep) {
            let found = format!("row {i}: window {}, increase {}, keep {}", row.window, row.increase, row.keep);
            return wrong(found, "window >= 1, increase >= 0, keep from 0 to 1");
        }
        if i > 0 && table[i - 1].window >= row.window {
            return wrong(format!("row {i}: window {} after {}", row.window, table[i - 1].window), "growing windows");
        }
    }
    Ok(())
}

/// A law that looks up what to do.
#[derive(Clone, Debug)]
pub struct Tabulated {
    w: Window,
    table: Arc<[LawPoint]>,
}

impl Tabulated {
    pub fn new(table: &[LawPoint], start: Start) -> Tabulated {
        Tabulated { w: start.window, table: table.into() }
    }
    /// The interpolated row at a window in bytes.
    fn at(&self, window_bytes: f64) -> LawPoint {
        let window = (window_bytes / self.w.mss).max(1.0);
        let after = self.table.partition_point(|r| r.window <= window);
        match (after.checked_sub(1).map(|i| self.table[i]), self.table.get(after)) {
            (Some(a), Some(b)) => {
                let share = (window / a.window).ln() / (b.window / a.window).ln();
                let between = |x: f64, y: f64| x + (y - x) * share;
                LawPoint { window, increase: between(a.increase, b.increase), keep: between(a.keep, b.keep) }
            }
            (Some(only), None) => only,
            (None, Some(only)) => *only,
            (None, None) => unreachable!("an empty table is refused when the scenario is checked"),
        }
    }
}

impl Controller for Tabulated {
    fn grow(&mut self, a: &Ack) {
        let grow = if self.w.cwnd < self.w.ssthresh {
            self.w.mss.min(a.bytes as f64)
        } else {
            self.at(self.w.cwnd).increase * self.w.mss * a.bytes as f64 / self.w.cwnd
        };
        self.w.cwnd += grow;
    }
    fn reduce(&mut self, why: Trigger, base: f64) {
        let kept = self.at(base).keep * base;
        self.w.ssthresh = kept.max(2.0 * self.w.mss);
        self.w.cwnd = if why == Trigger::Timeout { self.w.mss } else { self.w.ssthresh };
    }
    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::preset;
    use super::super::LawName;
    use super::*;
    use crate::tcp::params::TcpParams;

    fn params(rows: &[(f64, f64, f64)]) -> TcpParams {
        let rfc = preset::PRESETS.iter().find(|p| p.name == "rfc").unwrap();
        let law_table = rows.iter().map(|&(window, increase, keep)| LawPoint { window, increase, keep }).collect();
        (rfc.make)().with(|p| {
            p.controller.law = LawName::Tabulated;
            p.controller.law_table = law_table;
        })
    }

    fn law(rows: &[(f64, f64, f64)]) -> Tabulated {
        let p = params(rows);
        Tabulated::new(&p.controller.law_table, Start::of(&p))
    }

    #[test]
    fn rows_are_interpolated_on_the_logarithm_and_held_outside() {
        let law = law(&[(10.0, 1.0, 0.5), (1000.0, 3.0, 0.9)]);
        let at = |segments: f64| law.at(segments * law.w.mss);
        assert_eq!((at(2.0).increase, at(5000.0).keep), (1.0, 0.9));
        assert!((at(100.0).increase - 2.0).abs() < 1e-12 && (at(100.0).keep - 0.7).abs() < 1e-12);
    }

    #[test]
    fn a_reduction_keeps_the_share_of_the_table_and_a_timeout_starts_from_one_segment() {
        let mut law = law(&[(1.0, 1.0, 0.7)]);
        let mss = law.w.mss;
        law.reduce(Trigger::Loss, 100.0 * mss);
        assert!((law.cwnd() - 70.0 * mss).abs() < 1e-6);
        law.reduce(Trigger::Timeout, 100.0 * mss);
        assert_eq!((law.cwnd(), law.ssthresh()), (mss, 0.7 * 100.0 * mss));
        law.reduce(Trigger::Loss, 1.0 * mss);
        assert_eq!(law.ssthresh(), 2.0 * mss);
    }

    #[test]
    fn a_window_of_acks_adds_what_the_table_says_and_slow_start_is_renos() {
        let mut law = law(&[(1.0, 3.0, 0.5)]);
        let mss = law.w.mss;
        let a = Ack { bytes: mss as u64, ..Ack::default() };
        (law.w.cwnd, law.w.ssthresh) = (10.0 * mss, 10.0 * mss);
        law.grow(&a);
        assert!((law.cwnd() - 10.3 * mss).abs() < 1e-6);
        law.w.ssthresh = 20.0 * mss;
        law.grow(&a);
        assert!((law.cwnd() - 11.3 * mss).abs() < 1e-6);
    }

    #[test]
    fn tables_that_make_no_sense_are_refused() {
        let refused = |p: TcpParams| p.check("flow.x.tcp").unwrap_err();
        assert!(refused(params(&[])).found.contains("no rows"));
        assert!(refused(params(&[(1.0, 1.0, 1.5)])).found.contains("row 0"));
        assert!(refused(params(&[(5.0, 1.0, 0.5), (5.0, 1.0, 0.5)])).found.contains("row 1"));
        let reno = params(&[(1.0, 1.0, 0.5)]).with(|p| p.controller.law = LawName::Reno);
        assert!(refused(reno).expected.contains("tabulated"));
        params(&[(1.0, 1.0, 0.5)]).check("x").unwrap();
    }
}
