//! The registry of metrics: every name that appears in a table, with its unit, its definition and its source.
//!
//! A metric is known by its [`MetricKind`] and its name: `sent_packets` of a flow and of a link are two metrics. Names
//! end in their unit, unless the value is a plain count, a text or the number of something.

mod kinds;
mod rows;

pub use kinds::{Metric, MetricKind, Unit};
pub use rows::METRICS;

/// The metric of that kind and name.
pub fn find(kind: MetricKind, name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|m| m.kind == kind && m.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::ClassRows;
    use crate::{EventLimit, EventLog, RunKey, Tables, flows::Flows, table};
    use crosswind_base::{Backlog, ClassTotals, DropReason, Histogram, Metrics, Time};
    use std::collections::BTreeSet;

    const COUNTS: &[&str] = &[
        "count",
        "duplicate_acks",
        "early_reductions",
        "ecn_reductions",
        "window_probes",
        "avoidable_timeouts",
        "bbr_rounds",
        "bbr_state",
        "events",
        "fast_recoveries",
        "genuine_detected",
        "genuine_episodes",
        "loss_events",
        "loss_reports",
        "loss_runs",
        "no_feedback_expiries",
        "rate_cuts",
        "spurious_detected",
        "spurious_episodes",
        "spurious_timeouts",
        "stack_congestion_events",
        "stack_timeouts",
        "syn_spurious_timeouts",
        "syn_timeouts",
        "timeouts",
        "triple_duplicate_acks",
        "truncated_events",
    ];

    #[test]
    fn every_name_ends_in_its_unit_or_is_a_known_count() {
        for m in METRICS {
            match m.unit.suffix() {
                Some(s) => assert!(m.name == s || m.name.ends_with(&format!("_{s}")), "{m:?}"),
                None if m.unit == Unit::Count => assert!(COUNTS.contains(&m.name), "{m:?}"),
                None => assert!(matches!(m.unit, Unit::Index | Unit::Text | Unit::Varies), "{m:?}"),
            }
        }
    }

    #[test]
    fn every_metric_appears_once() {
        let mut seen = BTreeSet::new();
        for m in METRICS {
            assert!(seen.insert((m.kind, m.name)), "{m:?}");
        }
    }

    #[test]
    fn every_metric_is_defined_in_sentences_and_has_a_source() {
        for m in METRICS {
            assert!(m.definition.len() >= 20 && m.definition.ends_with('.'), "{m:?}");
            assert!(["RFC ", "[", "Crosswind", "draft-"].iter().any(|s| m.source.starts_with(s)), "{m:?}");
        }
    }

    #[test]
    fn every_reason_of_a_drop_has_its_column() {
        for reason in DropReason::NAMES {
            let name = format!("drops_{reason}_packets");
            assert!(find(MetricKind::Link, &name).is_some(), "{name}");
        }
    }

    #[test]
    fn every_column_of_a_class_is_registered() {
        let mut tables = Tables::new();
        let mut rows = ClassRows { tables: &mut tables, link: "a", direction: "forward" };
        rows.class("voice", &ClassTotals::default(), Backlog::default());
        let t = tables.get("class").unwrap();
        let is_known = |name: &str| [MetricKind::Class, MetricKind::Column].iter().any(|k| find(*k, name).is_some());
        assert_eq!((t.rows(), t.columns().iter().find(|(name, _)| !is_known(name)).map(|(name, _)| name)), (1, None));
    }

    #[test]
    fn every_column_of_the_long_tables_is_registered() {
        let mut tables = Tables::new();
        tables.add(EventLog::new(Flows::All, EventLimit::default()).into_table());
        tables.push_sample(table::Sample { at: Time(0), entity: "a", metric: "cwnd_bytes", value: 1.0 });
        tables.push_histogram(table::Subject { entity: "a", metric: "rtt_ns" }, &Histogram::new());
        tables.stamp(RunKey { scenario: 0, rep: 0 });
        for t in tables.iter() {
            for (name, _) in t.columns() {
                assert!(find(MetricKind::Column, name).is_some(), "{} {name}", t.name());
            }
        }
    }

    #[test]
    fn a_metric_is_written_as_people_read_it() {
        let m = find(MetricKind::Flow, "simultaneous_Bps").unwrap();
        let json = serde_json::to_value(m).unwrap();
        assert_eq!((&json["unit"], &json["kind"]), (&"Bps".into(), &"flow".into()));
    }
}
