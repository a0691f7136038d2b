//! How much memory runs will take, before any of it is taken.
//!
//! A lower bound out of what the scenario says: flows, links, the rows of time series and of result tables. Packets are
//! left out, since queues seldom are as long as their limits; so a run may need more, hardly less. A run that fills the
//! machine with packets ends early and says so ([`crate::world::is_short`]).

use super::request::Request;
use crate::flows::FlowEnd;
use crate::scenario::Plan;
use crosswind_base::ConfigError;
use crosswind_record::EVENT_BYTES;

/// Names, routes and histograms of a flow, beside its two ends.
const FLOW_BYTES: u64 = 1000;
/// One direction of a link: queue, ring, statistics.
const EGRESS_BYTES: u64 = 1000;
/// A row of the table `flow` or `link`: some fifty numbers.
const ROW_BYTES: u64 = 400;
/// Time, entity, metric and value, and the two columns of the run key: 32 bytes here; some 80 at the peak, when Python makes a
/// table of the columns of one run (measured with ten million rows).
const SAMPLE_BYTES: u64 = 80;
/// Metrics that are sampled of each flow, of each direction of a link, and of each class that its queue names.
const FLOW_METRICS: u64 = 5;
const EGRESS_METRICS: u64 = 3;
const CLASS_METRICS: u64 = 4;

/// What runs take at least, by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Estimate {
    /// The worlds that run at the same time.
    pub worlds_bytes: u64,
    /// Rows of the summary tables of all runs.
    pub rows_bytes: u64,
    /// Time series of all runs.
    pub samples_bytes: u64,
}

impl Estimate {
    pub fn of(plans: &[Plan], request: &Request) -> Estimate {
        let runs = request.reps.len() as u64;
        let at_once = (request.workers as u64).min(runs.saturating_mul(plans.len() as u64));
        let mut sum = Estimate::default();
        for plan in plans {
            let (flows, egresses) = (plan.flows.len() as u64, plan.egresses.len() as u64);
            let flow = 2 * std::mem::size_of::<FlowEnd>() as u64 + FLOW_BYTES;
            let world = flows * flow + egresses * EGRESS_BYTES;
            sum.worlds_bytes = sum.worlds_bytes.max(world.saturating_mul(at_once));
            sum.rows_bytes = sum.rows_bytes.saturating_add((flows + egresses).saturating_mul(runs * ROW_BYTES));
            let points = plan.record.sample.map_or(0, |s| plan.duration.0 / s.0.max(1));
            let sampled_flows = (0..plan.flows.len()).filter(|i| plan.is_sampled_flow(*i)).count() as u64;
            let sampled = plan.egresses.iter().enumerate().filter(|(i, _)| plan.is_sampled_link(*i));
            let of_links = sampled.map(|(_, e)| EGRESS_METRICS + e.spec.classes() * CLASS_METRICS).sum::<u64>();
            let series = sampled_flows * FLOW_METRICS + of_links;
            let samples = points.saturating_mul(series).saturating_mul(runs * SAMPLE_BYTES);
            sum.samples_bytes = sum.samples_bytes.saturating_add(samples);
        }
        sum
    }

    pub fn total_bytes(&self) -> u64 {
        self.worlds_bytes.saturating_add(self.rows_bytes).saturating_add(self.samples_bytes)
    }

    /// Refuses what does not fit into `available_bytes`, and names what takes most.
    pub fn check(&self, available_bytes: u64) -> Result<(), ConfigError> {
        if self.total_bytes() <= available_bytes {
            return Ok(());
        }
        let (path, cause, hint) = if self.samples_bytes >= self.total_bytes() / 2 {
            ("record.sample", "time series", "a longer interval, a shorter run, or fewer repetitions at a time")
        } else if self.rows_bytes > self.worlds_bytes {
            ("flow", "rows of the result tables", "fewer flows, or fewer repetitions at a time")
        } else {
            ("flow", "flows and links", "fewer flows or links, or fewer workers")
        };
        let gb = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
        let found = format!("at least {} of memory, most of it for {cause}", gb(self.total_bytes()));
        Err(ConfigError::new(path, found, format!("at most the {} that are free", gb(available_bytes))).hint(hint))
    }
}

/// Columns of an event that are there at a time: those of the log, and the copies that tables and analyses make of them.
const EVENT_COPIES: u64 = 8;

/// How many events the logs of all runs together may keep, so that there is room for what is done with them.
pub fn events_that_fit(available_bytes: u64) -> usize {
    (available_bytes / (EVENT_COPIES * EVENT_BYTES as u64)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::bench;
    use crate::scenario::{Registries, compile, parse};
    use serde_json::json;

    fn plan(flows: u32, sample: &str) -> Plan {
        recorded(flows, &json!({ "sample": sample }))
    }

    fn recorded(flows: u32, record: &serde_json::Value) -> Plan {
        let s = json!({
            "name": "m", "duration": "1000 s", "link": { "path": { "from": "a", "to": "b", "rate": "1 Mbit/s" } },
            "flow": { "bulk": { "from": "a", "to": "b", "count": flows, "workload": { "type": "bulk" } } },
            "record": record
        });
        compile(&parse(&s.to_string(), &Registries).unwrap()).unwrap()
    }

    fn request(reps: u32) -> Request {
        Request { reps: (0..reps).collect(), reps_total: reps, workers: 2, ..Request::once(1) }
    }

    #[test]
    fn samples_count_once_per_series_point_and_run() {
        let e = Estimate::of(&[plan(10, "1 s")], &request(3));
        assert_eq!(e.samples_bytes, 1000 * (10 * 5 + 2 * 3) * 3 * SAMPLE_BYTES);
        assert_eq!(e.rows_bytes, 12 * 3 * 400);
    }

    #[test]
    fn what_is_not_sampled_takes_no_room() {
        let e = Estimate::of(&[recorded(10, &json!({ "sample": "1 s", "sampled": ["path"] }))], &request(1));
        assert_eq!(e.samples_bytes, 1000 * 2 * 3 * SAMPLE_BYTES);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_cause() {
        let e = Estimate::of(&[plan(1000, "1 ms")], &request(10));
        assert!(e.check(u64::MAX).is_ok());
        let error = e.check(1_000_000_000).unwrap_err();
        assert_eq!(error.path, "record.sample");
        assert!(error.found.contains("GB") && error.expected.contains("1.0 GB"), "{error}");
        let flows = Estimate::of(&[plan(100_000, "1000 s")], &request(1)).check(1000).unwrap_err();
        assert_eq!(flows.path, "flow");
    }

    #[test]
    fn the_estimate_is_no_more_than_what_a_run_of_idle_flows_really_takes() {
        let spec = bench::BenchSpec {
            flows: 5000,
            traffic: bench::Traffic::Idle,
            duration: crosswind_base::Dur::from_secs(2),
            ..Default::default()
        };
        let plan = compile(&parse(&spec.scenario().to_string(), &Registries).unwrap()).unwrap();
        let row = bench::run(&spec).unwrap();
        let estimate = Estimate::of(&[plan], &Request { workers: 1, ..request(1) });
        assert!((estimate.worlds_bytes as f64) < 1.2 * row.added_bytes, "{estimate:?}, really {}", row.added_bytes);
    }
}
