//! Time series: gauges of flows and links at an interval.

use super::ends::{Ends, rate_bps};
use super::row::entity;
use crate::flows::Endpoint;
use crate::scenario::Series;
use crate::world::World;
use crosswind_base::{Backlog, ClassTotals, DropReason, Histogram, Metrics, Stage, Time};
use crosswind_record::class::{ClassSeries, class_totals};
use crosswind_record::{Entity, Samples, Table};
use crosswind_transport::tcp::law::Controller;

/// What was delivered and sent up to the last sample, and all samples so far.
pub struct Sampler {
    delivered: Vec<u64>,
    /// Index and name of those that are sampled.
    flows: Vec<(usize, Entity)>,
    links: Vec<Line>,
    last: Time,
    samples: Samples,
}

/// One direction of a link that is sampled.
struct Line {
    stage: usize,
    entity: Entity,
    sent_bytes: f64,
    /// The classes of its queue, in the order in which the stage reports them.
    classes: Vec<Entity>,
    series: ClassSeries,
}

impl Line {
    fn new(stage: usize, w: &World<'_>, samples: &mut Samples) -> Line {
        struct Names(Vec<String>);
        impl Metrics for Names {
            fn value(&mut self, _: &'static str, _: f64) {}
            fn histogram(&mut self, _: &'static str, _: &Histogram) {}
            fn class(&mut self, name: &str, _: &ClassTotals, _: Backlog) {
                self.0.push(name.to_string());
            }
            fn wants_histograms(&self) -> bool {
                false
            }
        }
        let (name, mut classes) = (entity(w, stage), Names(Vec::new()));
        w.engine.stages[stage].report(w.engine.now, &mut classes);
        Line {
            stage,
            entity: samples.entity(&name),
            sent_bytes: 0.0,
            classes: classes.0.iter().map(|c| samples.entity(&format!("{name}/{c}"))).collect(),
            series: ClassSeries::default(),
        }
    }
}

impl Sampler {
    pub fn new(w: &mut World<'_>) -> Sampler {
        let mut samples = Samples::default();
        let links: Vec<usize> = (0..w.engine.stages.len()).filter(|i| w.plan.is_sampled_link(*i)).collect();
        links.iter().for_each(|i| w.engine.stages[*i].will_be_sampled());
        Sampler {
            delivered: vec![0; w.plan.flows.len()],
            flows: (0..w.plan.flows.len())
                .filter(|i| w.plan.is_sampled_flow(*i))
                .map(|i| (i, samples.entity(&w.plan.flows[i].name)))
                .collect(),
            links: links.into_iter().map(|i| Line::new(i, w, &mut samples)).collect(),
            last: Time::ZERO,
            samples,
        }
    }

    /// The table `sample`.
    pub fn into_table(self) -> Table {
        self.samples.into_table()
    }

    pub fn sample(&mut self, w: &mut World<'_>) {
        w.catch_up_with(self.links.iter().map(|l| l.stage));
        self.samples.begin(w.engine.now);
        if w.plan.record.series == Series::Totals {
            return self.sample_totals(w);
        }
        let at = w.engine.now;
        let since = at.since(self.last);
        self.last = at;
        let samples = &mut self.samples;
        for (i, flow) in &self.flows {
            let i = *i;
            let ends = Ends::of(w, i);
            if ends.open().is_none() || ends.close().is_some_and(|c| c < at - since) {
                continue;
            }
            let now = w.ends[2 * i + 1].delivered();
            let goodput = rate_bps(now - self.delivered[i], Some(since));
            self.delivered[i] = now;
            let mut put = |metric, value: f64| samples.push(*flow, metric, value);
            match ends {
                Ends::Tcp(tx, _) => flow_gauges(tx, &mut put),
                Ends::Other(tx, rx) => {
                    tx.conn.sample(&mut put);
                    rx.conn.sample(&mut put);
                }
            }
            put("goodput_bps", goodput);
        }
        for l in &mut self.links {
            let (link, stage) = (l.entity, &w.engine.stages[l.stage]);
            let before = l.sent_bytes;
            stage.sample(at, &mut |metric, value| {
                if metric == "sent_bytes" {
                    l.sent_bytes = value;
                    return;
                }
                samples.push(link, metric, value);
            });
            samples.push(link, "throughput_bps", (l.sent_bytes - before) * 8.0 / since.as_secs_f64());
            if !l.classes.is_empty() {
                let mut put = |(i, _): (usize, &str), metric, value| samples.push(l.classes[i], metric, value);
                stage.report(at, &mut l.series.momentary(since.as_secs_f64(), &mut put));
            }
        }
    }
}

/// What is counted of a link, in the names of its report.
const LINK_TOTALS: [&str; 4] = ["arrived_packets", "sent_packets", "sent_bytes", "queue_mean_bytes"];

struct LinkTotals<'a>(&'a mut dyn FnMut(&'static str, f64));

impl Metrics for LinkTotals<'_> {
    fn value(&mut self, name: &'static str, v: f64) {
        if LINK_TOTALS.contains(&name) {
            (self.0)(name, v);
        }
    }
    fn histogram(&mut self, _: &'static str, _: &Histogram) {}
    fn wants_histograms(&self) -> bool {
        false
    }
}

impl Sampler {
    fn sample_totals(&mut self, w: &World<'_>) {
        let at = w.engine.now;
        let samples = &mut self.samples;
        for (i, flow) in &self.flows {
            let i = *i;
            let ends = Ends::of(w, i);
            if ends.open().is_none() {
                continue;
            }
            let mut put = |metric, value: f64| samples.push(*flow, metric, value);
            put("size_bytes", w.ends[2 * i + 1].delivered() as f64);
            if let Ends::Tcp(tx, _) = ends {
                let s = tx.conn.tx.stats();
                put("sent_packets", s.segments as f64);
                put("fast_recoveries", s.fast_recoveries as f64);
                put("timeouts", s.timeouts as f64);
            }
        }
        for l in &self.links {
            let (i, link, stage) = (l.stage, l.entity, &w.engine.stages[l.stage]);
            stage.report(at, &mut LinkTotals(&mut |metric, value| samples.push(link, metric, value)));
            let by_reason = &w.losses.stages[i].by_reason;
            let is_drop = |why: usize| why != DropReason::LinkError as usize && why != DropReason::Listed as usize;
            let drops: u64 = by_reason.iter().enumerate().filter(|(why, _)| is_drop(*why)).map(|(_, n)| n).sum();
            samples.push(link, "drops_packets", drops as f64);
            samples.push(link, "marks_packets", w.losses.stages[i].marks_packets as f64);
            stage.sample(at, &mut |metric, value| {
                if metric == "queue_packets" {
                    samples.push(link, metric, value);
                }
            });
            if !l.classes.is_empty() {
                let mut put = |(i, _): (usize, &str), metric, value| samples.push(l.classes[i], metric, value);
                stage.report(at, &mut class_totals(&mut put));
            }
        }
    }
}

fn flow_gauges(e: &Endpoint, put: &mut impl FnMut(&'static str, f64)) {
    let (tx, p) = (e.conn.tx.get(), e.conn.params());
    let window = e.conn.window();
    put("cwnd_bytes", window.cwnd());
    put("ssthresh_bytes", window.ssthresh());
    put("in_flight_bytes", tx.map_or(0, |tx| tx.in_flight(p)) as f64);
    put("rto_ns", e.conn.tx.rto(p).0 as f64);
    if let Some((tx, s)) = tx.and_then(|tx| Some((tx, tx.rtt.srtt?))) {
        put("srtt_ns", s.0 as f64);
        put("rttvar_ns", tx.rtt.rttvar(p).0 as f64);
    }
    if let Some(tx) = tx {
        tx.law.sample(&mut *put);
    }
}
