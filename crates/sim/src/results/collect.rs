//! From a finished world to the result tables. Names and units are those of the metric registry.

use super::boundary;
use super::ends::Ends;
use super::flow::{self, flow_row};
use super::outcome::FlowOutcome;
use super::row::{Row, StageRow, entity};
use crate::world::{Outcome, World};
use crosswind_base::{DropReason, Dur, Histogram, Metrics, Stage, Time};
use crosswind_record::class::ClassRows;
use crosswind_record::{Subject, Table, Tables};

/// Facts about a run that the world itself does not know.
#[derive(Clone, Copy, Debug)]
pub struct RunFacts {
    pub seed: u64,
    pub wall: Dur,
    pub outcome: Outcome,
    pub leaked_packets: usize,
    /// Events are in tables; this many did not fit.
    pub truncated_events: u64,
}

/// The tables `run`, `flow`, `link` and `class`.
pub fn summary(w: &World<'_>, end: Time, facts: RunFacts, tables: &mut Tables) {
    run_row(w, end, facts, tables.table("run"));
    for flow in 0..w.plan.flows.len() {
        flow_row(w, flow, end, tables.table("flow"));
    }
    flow::pages(w, tables);
    for egress in 0..w.engine.stages.len() {
        link_row(w, egress, end, tables.table("link"));
        let e = &w.plan.egresses[egress];
        w.engine.stages[egress].report(end, &mut ClassRows { tables, link: &e.name, direction: e.direction.word() });
    }
    boundary::rows(w, end, tables);
}

fn run_row(w: &World<'_>, end: Time, f: RunFacts, t: &mut Table) {
    let whole = flow::whole(w);
    let packets: u64 = w.ends.iter().map(|e| e.port().sent_packets).sum();
    let mut row = Row(t);
    row.int("seed", f.seed)
        .int("end_ns", end.0)
        .int("events", w.engine.tick.events)
        .int("packets", packets)
        .int("peak_packets", w.engine.pool.peak() as u64)
        .int("wall_ns", f.wall.0)
        .text("outcome", why(w, f.outcome))
        .int("leaked_packets", f.leaked_packets as u64)
        .int("truncated_events", f.truncated_events)
        .span("elapsed_ns", whole.elapsed)
        .float("overall_Bps", whole.overall_bytes_per_s)
        .float("simultaneous_jain_ratio", whole.simultaneous_jain);
    if let Some(shuffle) = &w.engine.shuffle {
        let (at, stage) =
            shuffle.first.map_or((None, String::new()), |(at, stage)| (Some(at), entity(w, stage as usize)));
        row.int("meetings_packets", shuffle.meetings).time("first_meeting_ns", at).text("first_meeting", &stage);
    }
    row.end();
}

/// Why the run ended. Flows that gave up are over, but nobody closed them.
fn why(w: &World<'_>, outcome: Outcome) -> &'static str {
    let gave_up = || (0..w.plan.flows.len()).any(|f| FlowOutcome::of(w, f) == FlowOutcome::GaveUp);
    match outcome {
        Outcome::AllFlowsClosed | Outcome::AwaitedFlowsClosed if gave_up() => "flows closed or gave up",
        _ => outcome.text(),
    }
}

fn link_row(w: &World<'_>, egress: usize, end: Time, t: &mut Table) {
    let e = &w.plan.egresses[egress];
    let mut row = Row(t);
    row.text("link", &e.name)
        .text("direction", e.direction.word())
        .text("from", &w.plan.nodes[e.from as usize])
        .text("to", &w.plan.nodes[e.to as usize])
        .int("rate_bps", e.spec.rate.map_or(0, |r| r.0));
    w.engine.stages[egress].report(end, &mut StageRow(&mut row));
    let l = &w.losses.stages[egress];
    for (name, n) in DROP_COLUMNS.iter().zip(l.by_reason) {
        row.int(name, n);
    }
    row.int("marks_packets", l.marks_packets).end();
}

const DROP_COLUMNS: [&str; DropReason::COUNT] = [
    "drops_queue_full_packets",
    "drops_early_drop_packets",
    "drops_forced_drop_packets",
    "drops_link_error_packets",
    "drops_listed_packets",
    "drops_no_endpoint_packets",
    "drops_policed_packets",
    "drops_local_delay_packets",
    "drops_delay_budget_packets",
    "drops_handover_packets",
    "drops_expired_packets",
    "drops_reset_packets",
    "drops_too_big_packets",
    "drops_fat_flow_packets",
    "drops_ack_filter_packets",
];

/// Histograms of the flows that were asked for; of all in detailed runs.
pub fn flow_histograms(w: &World<'_>, tables: &mut Tables) {
    for (i, f) in w.plan.flows.iter().enumerate().filter(|(_, f)| f.hist || w.plan.record.sample.is_some()) {
        let of = |metric| Subject { entity: &f.name, metric };
        match Ends::of(w, i) {
            Ends::Tcp(tx, _) => tables.push_histogram(of("rtt_ns"), &tx.conn.tx.stats().rtt_ns),
            Ends::Other(tx, rx) => {
                if let Some(heard) = &tx.arrivals.heard {
                    tables.push_histogram(of("rtt_ns"), &heard.rtt_ns);
                }
                if let Some(data) = rx.arrivals.data() {
                    tables.push_linear_histogram(of("ipdv_ns"), &data.variation_ns);
                }
            }
        }
        tables.push_histogram(of("delay_ns"), &w.ends[2 * i + 1].arrivals().delay_ns);
        if let Some(waited) = w.ends[2 * i + 1].arrivals().waited() {
            tables.push_linear_histogram(of("expected_wait_ns"), waited);
        }
    }
}

/// Histograms of contracts that record intervals.
pub fn contract_histograms(w: &World<'_>, tables: &mut Tables) {
    boundary::histograms(w, tables);
}

/// Histograms of links, for detailed runs.
pub fn link_histograms(w: &World<'_>, end: Time, tables: &mut Tables) {
    struct ToTable<'a>(&'a mut Tables, String);
    impl Metrics for ToTable<'_> {
        fn value(&mut self, _: &'static str, _: f64) {}
        fn histogram(&mut self, name: &'static str, h: &Histogram) {
            self.0.push_histogram(Subject { entity: &self.1, metric: name }, h);
        }
    }
    for (i, stage) in w.engine.stages.iter().enumerate() {
        stage.report(end, &mut ToTable(tables, entity(w, i)));
    }
}
