//! Time series: gauges of flows and links at an interval.

use super::entity;
use super::flow::{Ends, rate_bps};
use crate::datagrams::Half;
use crate::endpoint::Endpoint;
use crate::scenario::Series;
use crate::world::World;
use crosswind_base::{DropReason, Histogram, Metrics, Stage, Time};
use crosswind_record::{Entity, Samples, Table};
use crosswind_transport::tcp::law::Controller;

/// What was delivered and sent up to the last sample, and all samples so far.
pub struct Sampler {
    delivered: Vec<u64>,
    sent: Vec<f64>,
    /// Index and name of those that are sampled.
    flows: Vec<(usize, Entity)>,
    links: Vec<(usize, Entity)>,
    last: Time,
    samples: Samples,
}

impl Sampler {
    pub fn new(w: &mut World<'_>) -> Sampler {
        let mut samples = Samples::default();
        let links: Vec<usize> = (0..w.stages.len()).filter(|i| w.plan.is_sampled_link(*i)).collect();
        links.iter().for_each(|i| w.stages[*i].will_be_sampled());
        Sampler {
            delivered: vec![0; w.plan.flows.len()],
            sent: vec![0.0; w.stages.len()],
            flows: (0..w.plan.flows.len())
                .filter(|i| w.plan.is_sampled_flow(*i))
                .map(|i| (i, samples.entity(&w.plan.flows[i].name)))
                .collect(),
            links: links.into_iter().map(|i| (i, samples.entity(&entity(w, i)))).collect(),
            last: Time::ZERO,
            samples,
        }
    }

    /// The table `sample`.
    pub fn into_table(self) -> Table {
        self.samples.into_table()
    }

    pub fn sample(&mut self, w: &mut World<'_>) {
        w.catch_up_with(self.links.iter().map(|(i, _)| *i));
        self.samples.begin(w.now);
        if w.plan.record.series == Series::Totals {
            return self.sample_totals(w);
        }
        let at = w.now;
        let since = at.since(self.last);
        self.last = at;
        let samples = &mut self.samples;
        for (i, flow) in &self.flows {
            let i = *i;
            let ends = Ends::of(w, i);
            if ends.open().is_none() || ends.close().is_some_and(|c| c < at - since) {
                continue;
            }
            let now = ends.delivered();
            let goodput = rate_bps(now - self.delivered[i], Some(since));
            self.delivered[i] = now;
            let mut put = |metric, value: f64| samples.push(*flow, metric, value);
            match ends {
                Ends::Tcp(tx, _) => flow_gauges(tx, &mut put),
                Ends::Udp(tx, rx) => {
                    if let (Half::Paced(tx), Half::Listener(rx)) = (&tx.half, &rx.half) {
                        tx.transport.sample(&mut put);
                        rx.transport.sample(&mut put);
                    }
                }
            }
            put("goodput_bps", goodput);
        }
        for (i, link) in &self.links {
            let (i, link, stage) = (*i, *link, &w.stages[*i]);
            let rate = w.plan.egresses[i].spec.rate.map_or(f64::NAN, |r| r.as_f64());
            let before = self.sent[i];
            stage.sample(at, &mut |metric, value| {
                if metric == "sent_bytes" {
                    self.sent[i] = value;
                    return;
                }
                samples.push(link, metric, value);
                if metric == "queue_bytes" {
                    samples.push(link, "queue_delay_ns", value * 8e9 / rate);
                }
            });
            samples.push(link, "throughput_bps", (self.sent[i] - before) * 8.0 / since.as_secs_f64());
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
        let at = w.now;
        let samples = &mut self.samples;
        for (i, flow) in &self.flows {
            let i = *i;
            let ends = Ends::of(w, i);
            if ends.open().is_none() {
                continue;
            }
            let mut put = |metric, value: f64| samples.push(*flow, metric, value);
            put("size_bytes", ends.delivered() as f64);
            if let Ends::Tcp(tx, _) = ends {
                let s = tx.conn.tx.stats();
                put("sent_packets", s.segments as f64);
                put("fast_recoveries", s.fast_recoveries as f64);
                put("timeouts", s.timeouts as f64);
            }
        }
        for (i, link) in &self.links {
            let (i, link, stage) = (*i, *link, &w.stages[*i]);
            stage.report(at, &mut LinkTotals(&mut |metric, value| samples.push(link, metric, value)));
            let by_reason = &w.losses.stages[i].by_reason;
            let is_drop = |why: usize| why != DropReason::LinkError as usize && why != DropReason::Listed as usize;
            let drops: u64 = by_reason.iter().enumerate().filter(|(why, _)| is_drop(*why)).map(|(_, n)| n).sum();
            samples.push(link, "drops_packets", drops as f64);
            stage.sample(at, &mut |metric, value| {
                if metric == "queue_packets" {
                    samples.push(link, metric, value);
                }
            });
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
