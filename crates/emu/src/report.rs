//! From a network to tables and to the momentary picture that a terminal shows.

use crate::live::Punctuality;
use crate::network::Network;
use crate::spec::{EgressSpec, Spec};
use crosswind_base::{DropReason, Histogram, Metrics, Stage, Time};
use crosswind_net::diffserv::boundary::{ARRIVED, LEFT, Passed};
use crosswind_record::class::{ClassRows, ClassSeries};
use crosswind_record::{ColumnType, Sample, Subject, Table, Tables};
use serde::Serialize;

/// One direction of a link, now. Totals count from the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkView {
    pub link: String,
    pub direction: String,
    pub rate_bps: u64,
    pub arrived_packets: u64,
    pub sent_packets: u64,
    pub sent_bytes: u64,
    pub queue_packets: u64,
    pub queue_bytes: u64,
    pub drops_packets: u64,
    pub lost_packets: u64,
    pub marks_packets: u64,
    pub queue_delay_p95_ns: f64,
}

/// The whole network, now.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct View {
    pub time_ns: u64,
    pub links: Vec<LinkView>,
    pub arrived_packets: u64,
    pub delivered_packets: u64,
    pub refused_packets: u64,
    pub unrouted_packets: u64,
    pub too_big_packets: u64,
    pub fragmented_packets: u64,
    pub packets_inside: u64,
    /// Of each declared flow: packets dropped by queues, lost on links, marked.
    pub flows: Vec<[u64; 3]>,
    /// Of each declared flow, when the run is over: how long its data was in queues.
    pub queue_delays_ns: Vec<Spread>,
    /// What happened since the last look: changes that were made, or why not.
    pub notes: Vec<String>,
}

/// A distribution in six numbers; not a number where nothing was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    pub min: f64,
    pub mean: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

impl Spread {
    fn of(h: &Histogram) -> Spread {
        let exact = |v: u64| if h.count() == 0 { f64::NAN } else { v as f64 };
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|q| h.quantile(q));
        Spread { min: exact(h.min()), mean: h.mean(), p50, p95, p99, max: exact(h.max()) }
    }
}

/// The picture at the end of a run.
pub fn last_view(spec: &Spec, n: &Network, at: Time) -> View {
    View { queue_delays_ns: n.queue_delays_ns().map(Spread::of).collect(), ..view(spec, n, at) }
}

pub fn name_of(e: &EgressSpec) -> String {
    format!("{}/{}", e.link, e.direction)
}

struct Values<'a> {
    view: &'a mut LinkView,
}

impl Metrics for Values<'_> {
    fn value(&mut self, name: &'static str, v: f64) {
        let v = v as u64;
        match name {
            "arrived_packets" => self.view.arrived_packets = v,
            "sent_packets" => self.view.sent_packets = v,
            "sent_bytes" => self.view.sent_bytes = v,
            _ => {}
        }
    }
    fn histogram(&mut self, name: &'static str, h: &Histogram) {
        if name == "queue_delay_ns" && h.count() > 0 {
            self.view.queue_delay_p95_ns = h.quantile(0.95);
        }
    }
}

/// The picture of this moment.
pub fn view(spec: &Spec, n: &Network, at: Time) -> View {
    let links = spec.egresses.iter().enumerate().map(|(i, e)| link_view(e, n, i, at)).collect();
    let t = n.totals;
    View {
        time_ns: at.0,
        links,
        arrived_packets: t.arrived_packets,
        delivered_packets: t.delivered_packets,
        refused_packets: t.refused_packets,
        unrouted_packets: t.unrouted_packets,
        too_big_packets: t.too_big_packets,
        fragmented_packets: t.fragmented_packets,
        packets_inside: n.packets_inside() as u64,
        flows: n.losses.by_flow.clone(),
        queue_delays_ns: Vec::new(),
        notes: Vec::new(),
    }
}

fn link_view(e: &EgressSpec, n: &Network, i: usize, at: Time) -> LinkView {
    let stage = &n.egresses()[i];
    let mut v = LinkView {
        link: e.link.clone(),
        direction: e.direction.clone(),
        rate_bps: e.rate_bps,
        marks_packets: n.losses.marks_packets[i],
        ..LinkView::default()
    };
    let by_reason = &n.losses.by_reason[i];
    let lost = by_reason[DropReason::LinkError as usize] + by_reason[DropReason::Listed as usize];
    v.lost_packets = lost;
    v.drops_packets = by_reason.iter().sum::<u64>() - lost;
    stage.sample(at, &mut |name, value| match name {
        "queue_bytes" => v.queue_bytes = value as u64,
        "queue_packets" => v.queue_packets = value as u64,
        _ => {}
    });
    stage.report(at, &mut Values { view: &mut v });
    v
}

/// What a direction of a link, and each class of its queue, had sent by the look before.
#[derive(Clone, Debug, Default)]
pub struct Looked {
    sent_bytes: u64,
    classes: ClassSeries,
}

/// Appends momentary values to the table `sample`; `before` is of the look before, one for each direction of a link.
pub fn sample(spec: &Spec, n: &Network, at: Time, interval_s: f64, before: &mut [Looked], tables: &mut Tables) {
    for (i, e) in spec.egresses.iter().enumerate() {
        let entity = name_of(e);
        let stage = &n.egresses()[i];
        let mut now = 0;
        stage.sample(at, &mut |metric, value| {
            if metric == "sent_bytes" {
                now = value as u64;
                return;
            }
            tables.push_sample(Sample { at, entity: &entity, metric, value });
        });
        let value = (now - before[i].sent_bytes) as f64 * 8.0 / interval_s;
        before[i].sent_bytes = now;
        tables.push_sample(Sample { at, entity: &entity, metric: "throughput_bps", value });
        let mut put = |(_, class): (usize, &str), metric, value| {
            tables.push_sample(Sample { at, entity: &format!("{entity}/{class}"), metric, value });
        };
        stage.report(at, &mut before[i].classes.momentary(interval_s, &mut put));
    }
}

/// Facts about a run that the network does not know.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub seed: u64,
    pub end: Time,
    pub decisions: u64,
}

/// The tables `run`, `link`, `class`, `boundary` and `hist`.
pub fn summary(spec: &Spec, n: &Network, p: &Punctuality, f: Facts, tables: &mut Tables) {
    let t = tables.table("run");
    let mut int = |name: &str, v: u64| {
        let c = t.column(name, ColumnType::U64);
        t.put(c, v);
    };
    int("seed", f.seed);
    int("end_ns", f.end.0);
    int("events", f.decisions);
    int("packets", n.totals.arrived_packets);
    int("peak_packets", n.peak_packets() as u64);
    int("wall_ns", f.end.0);
    for (what, h) in [("lateness", &p.lateness_ns), ("oversleep", &p.oversleep_ns)] {
        for (name, q) in [("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)] {
            let v = if h.count() == 0 { 0.0 } else { h.quantile(q) };
            int(&format!("{what}_{name}_ns"), v as u64);
        }
    }
    let c = t.column("outcome", ColumnType::Text);
    t.put(c, "duration reached");
    t.end_row();
    for i in 0..spec.egresses.len() {
        link_row(spec, n, (i, f.end), tables.table("link"));
        let e = &spec.egresses[i];
        n.egresses()[i].report(f.end, &mut ClassRows { tables, link: &e.link, direction: &e.direction });
    }
    for (i, b) in spec.boundaries.iter().enumerate() {
        n.passed(i)
            .for_each(|(passed, shaped)| boundary_row(spec, &b.domain, &passed, shaped, tables.table("boundary")));
        for (contract, h) in n.green_intervals(i).filter(|(_, h)| h.count() > 0) {
            let entity = &b.conditioners[contract].contract;
            tables.push_histogram(Subject { entity, metric: "green_interval_ns" }, h);
        }
    }
    for (metric, h) in [("lateness_ns", &p.lateness_ns), ("oversleep_ns", &p.oversleep_ns)] {
        tables.push_histogram(Subject { entity: "emulator", metric }, h);
    }
    for (i, e) in spec.egresses.iter().enumerate() {
        n.egresses()[i].report(f.end, &mut Histograms { tables, entity: name_of(e) });
    }
}

struct Histograms<'a> {
    tables: &'a mut Tables,
    entity: String,
}

impl Metrics for Histograms<'_> {
    fn value(&mut self, _: &'static str, _: f64) {}
    fn histogram(&mut self, name: &'static str, h: &Histogram) {
        self.tables.push_histogram(Subject { entity: &self.entity, metric: name }, h);
    }
}

fn link_row(spec: &Spec, n: &Network, (i, end): (usize, Time), t: &mut Table) {
    let e = &spec.egresses[i];
    for (name, v) in [("link", &e.link), ("direction", &e.direction), ("from", &e.from), ("to", &e.to)] {
        let c = t.column(name, ColumnType::Text);
        t.put(c, v.as_str());
    }
    let c = t.column("rate_bps", ColumnType::U64);
    t.put(c, e.rate_bps);
    n.egresses()[i].report(end, &mut Cells(t));
    for (reason, v) in DropReason::NAMES.iter().zip(n.losses.by_reason[i]) {
        let c = t.column(&format!("drops_{reason}_packets"), ColumnType::U64);
        t.put(c, v);
    }
    let c = t.column("marks_packets", ColumnType::U64);
    t.put(c, n.losses.marks_packets[i]);
    t.end_row();
}

/// What a boundary did to a declared flow, or to what else goes from one host to another.
fn boundary_row(spec: &Spec, domain: &str, p: &Passed, shaped: u64, t: &mut Table) {
    let subject = &spec.subjects[p.flow as usize];
    for (name, v) in [("domain", domain), ("name", &subject.name), ("group", &subject.group)] {
        let c = t.column(name, ColumnType::Text);
        t.put(c, v);
    }
    let mut int = |name: &str, v: u64| {
        let c = t.column(name, ColumnType::U64);
        t.put(c, v);
    };
    int("flow", u64::from(p.flow));
    for (name, v) in ARRIVED.iter().zip(p.arrived).chain(LEFT.iter().zip(p.left)) {
        int(name, v);
    }
    int("remarked_packets", p.remarked_packets);
    int("policed_packets", p.policed_packets);
    int("shaper_drops_packets", shaped);
    t.end_row();
}

/// A stage's report as cells of one row.
struct Cells<'a>(&'a mut Table);

impl Metrics for Cells<'_> {
    fn value(&mut self, name: &'static str, v: f64) {
        let whole = name.ends_with("_packets") || name.ends_with("_bytes") && !name.contains("mean");
        let c = self.0.column(name, if whole { ColumnType::U64 } else { ColumnType::F64 });
        if whole { self.0.put(c, v as u64) } else { self.0.put(c, v) }
    }
    fn histogram(&mut self, name: &'static str, h: &Histogram) {
        let mut put = |name: String, v: f64| {
            let c = self.0.column(&name, ColumnType::F64);
            self.0.put(c, v);
        };
        if let Some(what) = name.strip_suffix("_ns") {
            let empty = h.count() == 0;
            put(format!("{what}_min_ns"), if empty { f64::NAN } else { h.min() as f64 });
            put(format!("{what}_mean_ns"), h.mean());
            put(format!("{what}_p50_ns"), h.quantile(0.5));
            put(format!("{what}_p95_ns"), h.quantile(0.95));
            put(format!("{what}_p99_ns"), h.quantile(0.99));
            put(format!("{what}_max_ns"), if empty { f64::NAN } else { h.max() as f64 });
        } else if let Some(what) = name.strip_suffix("_bytes") {
            put(format!("{what}_p95_bytes"), h.quantile(0.95));
        }
    }
}
