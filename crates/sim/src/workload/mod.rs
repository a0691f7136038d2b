//! Workloads: what applications do with their connections. One file each, one variant of [`App`], one of
//! [`crate::scenario::WorkloadParams`].

pub mod bulk;
pub mod cbr;
pub mod page;
pub mod ping;
pub mod reader;
pub mod web;

use crate::datagrams::{Datagrams, Half, Recorded, Waits};
use crate::endpoint::{Arrivals, Endpoint, FlowEnd, Freshness, Milestone, Port, Setup};
use crate::host_queue::HostQueue;
use crate::scenario::{self, Changed, Plan, Repetition, WorkloadParams};
use crate::world::Parameters;
use crosswind_base::{FlowId, Histogram, Streams, Time, Vantage};
use crosswind_transport::tcp::law::{Controller, Needs};
use crosswind_transport::tcp::{Connection, Io, TcpParams};
use schemars::schema_for;

/// The application at one end of a flow.
pub enum App {
    Bulk(bulk::Sender),
    /// The browser's side of one connection of a page.
    Fetch(Box<page::Fetch>),
    /// The server's side of it.
    Answer(Box<page::Answer>),
    Web(Box<web::Web>),
    /// Reads everything at once and closes when the peer does.
    Sink,
    /// Reads slowly, or has something to answer.
    Reader(Box<reader::Reader>),
}

impl App {
    /// Called after anything that may have changed what the application can do.
    #[inline(always)]
    pub fn run(&mut self, conn: &mut Connection, io: &mut impl Io) -> Option<Milestone> {
        match self {
            App::Bulk(b) => b.run(conn, io),
            App::Sink => {}
            App::Web(w) => w.run(conn, io),
            App::Reader(r) => r.run(conn, io),
            App::Fetch(f) => return f.run(conn, io),
            App::Answer(a) => a.run(conn, io),
        }
        None
    }

    /// When the application wants to act by itself.
    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        match self {
            App::Web(w) => w.next_at(),
            App::Reader(r) => r.next_wake(),
            _ => None,
        }
    }

    /// The timeline says what the workload is from now on.
    #[cold]
    pub fn go_on_as(&mut self, change: &Changed, conn: &mut Connection, io: &mut impl Io) {
        let WorkloadParams::Bulk(new) = &change.now else { return };
        let WorkloadParams::Bulk(old) = &change.before else { return };
        let how = |b: &scenario::Bulk| (b.reading, b.read_rate, b.read_size);
        let reads_otherwise = how(old) != how(new);
        match self {
            App::Bulk(b) => b.go_on_as(old, new, conn),
            App::Sink if reads_otherwise => {
                let reader = reader::Reader::of(new).map(Box::new);
                if let Some(r) = &reader {
                    r.begin(conn);
                }
                *self = reader.map_or(App::Sink, App::Reader);
            }
            App::Reader(r) if reads_otherwise => r.go_on_as(new, conn, io),
            _ => {}
        }
        self.run(conn, io);
    }
}

/// One kind of workload in the registry.
pub struct Row {
    pub name: &'static str,
    pub schema: fn() -> schemars::Schema,
    source: &'static str,
}

impl Row {
    pub fn title(&self) -> String {
        crosswind_base::doc::title(self.source)
    }
    pub fn doc(&self) -> String {
        crosswind_base::doc::header(self.source)
    }
}

/// Every workload, in the order of the reference.
pub const ROWS: &[Row] = &[
    Row { name: "bulk", schema: || schema_for!(scenario::Bulk), source: include_str!("bulk.rs") },
    Row { name: "page", schema: || schema_for!(scenario::Page), source: include_str!("page.rs") },
    Row { name: "cbr", schema: || schema_for!(scenario::Cbr), source: include_str!("cbr.rs") },
    Row { name: "on-off", schema: || schema_for!(scenario::OnOff), source: include_str!("onoff.rs") },
    Row { name: "ping", schema: || schema_for!(scenario::Ping), source: include_str!("ping.rs") },
    Row { name: "web", schema: || schema_for!(scenario::Web), source: include_str!("web.rs") },
];

/// Both ends of every flow of a plan: the sender of data, then its receiver. `routes`: where each end's route begins.
pub fn ends(plan: &Plan, params: &Parameters, rep: Repetition, streams: &Streams, routes: &[u32]) -> Vec<FlowEnd> {
    let starts = plan.starts(rep);
    let mut out = Vec::with_capacity(plan.flows.len() * 2);
    for (i, f) in plan.flows.iter().enumerate() {
        let group = plan.group(f);
        let setup = |seen: Vantage, start: Option<Time>| {
            let (route, host, peer) = match seen {
                Vantage::Sender => (routes[2 * i], f.from, f.to),
                Vantage::Receiver => (routes[2 * i + 1], f.to, f.from),
            };
            // Lifetimes belong to the data.
            let sends_data = seen == Vantage::Sender;
            let lifetime = group.lifetime.filter(|_| sends_data);
            Setup { flow: FlowId(i as u32), seen, route, host, dscp: group.dscp, start, peer, lifetime }
        };
        let start = Some(starts[i]);
        if let Some(paced) = &params.paced[f.group as usize] {
            let (sender, receiver) = paced.ends(&group.workload, &f.name, streams);
            out.push(datagrams(Half::Paced(Box::new(sender)), setup(Vantage::Sender, start), None));
            out.push(datagrams(Half::Listener(Box::new(receiver)), setup(Vantage::Receiver, None), None));
            continue;
        }
        let (sender, receiver, opener) = match &group.workload {
            WorkloadParams::Bulk(b) => {
                let reader = reader::Reader::of(b).map_or(App::Sink, |r| App::Reader(Box::new(r)));
                (App::Bulk(bulk::Sender::new(b)), reader, Vantage::Sender)
            }
            WorkloadParams::Web(w) => {
                let app = web::Web::new(w, streams.named(&format!("flow/{}/web", f.name)));
                (App::Web(Box::new(app)), App::Sink, Vantage::Sender)
            }
            WorkloadParams::Page(p) => {
                let (answer, fetch) = (page::Answer::new(p, f.connection), page::Fetch::new(p, f.connection));
                (App::Answer(Box::new(answer)), App::Fetch(Box::new(fetch)), Vantage::Receiver)
            }
            WorkloadParams::Cbr(_) | WorkloadParams::OnOff(_) | WorkloadParams::Ping(_) => {
                let rng = streams.named(&format!("flow/{}/source", f.name));
                let source = cbr::Source::of(&group.workload, rng).expect("the arm names those that have a source");
                for (half, setup) in [
                    (Half::Source(Box::new(source)), setup(Vantage::Sender, start)),
                    (Half::Sink(Box::default()), setup(Vantage::Receiver, None)),
                ] {
                    let is_recorded = if f.hist { Recorded::Yes } else { Recorded::No };
                    out.push(datagrams(half, setup, Waits::new(&group.queue_delay_limits, is_recorded)));
                }
                if let Some(FlowEnd::Udp(sink)) = out.last_mut() {
                    sink.answers = matches!(group.workload, WorkloadParams::Ping(_));
                }
                continue;
            }
        };
        // The later connections of a page are opened when the page says so.
        let start = start.filter(|_| f.connection == 0);
        for (seen, app) in [(Vantage::Sender, sender), (Vantage::Receiver, receiver)] {
            let setup = setup(seen, start.filter(|_| seen == opener));
            let tcp = &params.tcp[f.group as usize];
            let mut end = Endpoint::new(tcp.clone(), app, setup);
            Own { streams, flow: &f.name }.equip(&mut end, tcp);
            out.push(FlowEnd::Tcp(end));
        }
    }
    for (i, f) in plan.flows.iter().enumerate() {
        out[2 * i + 1].arrivals_mut().freshness = plan.group(f).lifetime.as_ref().and_then(Freshness::of);
        if let (FlowEnd::Udp(sender), Some(host)) = (&mut out[2 * i], plan.group(f).host_queue) {
            sender.host = Some(Box::new(HostQueue::new(host)));
        }
    }
    out
}

/// What is a flow's own: its name, and the random streams under it.
pub struct Own<'a> {
    pub streams: &'a Streams,
    pub flow: &'a str,
}

impl Own<'_> {
    /// Gives an end that has not begun its reader, its habit of acknowledging and its dice.
    pub fn equip(&self, end: &mut Endpoint, tcp: &TcpParams) {
        let (seen, flow) = (end.port.seen, self.flow);
        if let App::Reader(r) = &end.app {
            r.begin(&mut end.conn);
        }
        if seen == Vantage::Sender && tcp.early.is_on() {
            let rng = self.streams.named(&format!("flow/{flow}/tcp/early"));
            end.conn.sender().predict(tcp, rng);
        }
        if seen == Vantage::Sender && Needs::of(tcp).dice {
            let rng = self.streams.named(&format!("flow/{flow}/tcp/law"));
            end.conn.sender().law.take_dice(rng);
        }
        if tcp.ack_habit.is_on() {
            let side = if seen == Vantage::Sender { "sender" } else { "receiver" };
            end.conn.rx.accustom(tcp, self.streams.named(&format!("flow/{flow}/tcp/acks/{side}")));
        }
    }
}

fn datagrams(half: Half, s: Setup, waits: Option<Box<Waits>>) -> FlowEnd {
    FlowEnd::Udp(Datagrams {
        half,
        port: Port::new(&s),
        host: None,
        start: s.start,
        arrivals: Arrivals::default(),
        waits,
        answers: false,
        rtt_ns: Histogram::default(),
    })
}

/// The pages of a plan, and the page that each flow belongs to. Both are empty where there are no pages.
pub fn pages(plan: &Plan) -> (Vec<page::Session>, Vec<Option<u32>>) {
    let mut sessions = Vec::new();
    let mut page_of = vec![None; plan.flows.len()];
    for (i, f) in plan.flows.iter().enumerate() {
        let WorkloadParams::Page(p) = &plan.group(f).workload else { continue };
        if f.connection == 0 {
            sessions.push(page::Session::new(p, i as u32));
        }
        page_of[i] = Some(sessions.len() as u32 - 1);
    }
    if sessions.is_empty() {
        page_of.clear();
    }
    (sessions, page_of)
}
