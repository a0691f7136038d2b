//! Workloads: what applications do with their connections. One file each, one variant of [`App`], one of
//! [`crate::scenario::WorkloadParams`].

pub mod bulk;
pub mod cbr;
pub mod page;
pub mod ping;
pub mod reader;
pub mod web;

use crate::endpoint::{EndIo, FlowEnd, Freshness, Milestone, Setup};
use crate::host_queue::HostQueue;
use crate::scenario::{self, Changed, FlowPlan, GroupPlan, Plan, Repetition, WorkloadParams};
use crate::transport::Stream;
use crate::waits::Recorded;
use crate::world::Parameters;
use crosswind_base::{FlowId, Streams, Time, Vantage};
use crosswind_transport::tcp::law::{Controller, Needs};
use crosswind_transport::tcp::{Connection, TcpParams};
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
    /// Makes messages in its own time.
    Source(Box<cbr::Source>),
    /// Answers every message with one of the same length.
    Echo,
}

impl App {
    /// Called after anything that may have changed what the application can do.
    #[inline(always)]
    pub fn run(&mut self, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        match self {
            App::Bulk(b) => b.run(conn, io),
            App::Sink | App::Echo => {}
            App::Source(s) => s.run(conn, io),
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
            App::Source(s) => s.next_at,
            _ => None,
        }
    }

    /// The timeline says what the workload is from now on.
    #[cold]
    pub fn go_on_as(&mut self, change: &Changed, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) {
        if let App::Source(source) = self {
            return source.go_on_as(&change.now);
        }
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
        let [sender, receiver] = apps(group, f, streams);
        let opener = if matches!(receiver, App::Fetch(_)) { Vantage::Receiver } else { Vantage::Sender };
        // The later connections of a page are opened when the page says so.
        let start = Some(starts[i]).filter(|_| f.connection == 0);
        let setup = |seen: Vantage| {
            let (route, host, peer) = match seen {
                Vantage::Sender => (routes[2 * i], f.from, f.to),
                Vantage::Receiver => (routes[2 * i + 1], f.to, f.from),
            };
            // Lifetimes belong to the data.
            let sends_data = seen == Vantage::Sender;
            let lifetime = group.lifetime.filter(|_| sends_data);
            let start = start.filter(|_| seen == opener);
            Setup { flow: FlowId(i as u32), seen, route, host, dscp: group.dscp, start, peer, lifetime }
        };
        let both = [(sender, setup(Vantage::Sender)), (receiver, setup(Vantage::Receiver))];
        let own = Own { streams, flow: &f.name, recorded: if f.hist { Recorded::Yes } else { Recorded::No } };
        out.extend(both.map(|(app, s)| params.ends[f.group as usize].end(app, &s, group, &own)));
    }
    for (i, f) in plan.flows.iter().enumerate() {
        out[2 * i + 1].arrivals_mut().freshness = plan.group(f).lifetime.as_ref().and_then(Freshness::of);
        if let (FlowEnd::Other(sender), Some(host)) = (&mut out[2 * i], plan.group(f).host_queue) {
            sender.host = Some(Box::new(HostQueue::new(host)));
        }
    }
    out
}

/// What runs at the two ends of a flow: where the data comes from, and where it goes.
fn apps(group: &GroupPlan, f: &FlowPlan, streams: &Streams) -> [App; 2] {
    match &group.workload {
        WorkloadParams::Bulk(b) => {
            let reader = reader::Reader::of(b).map_or(App::Sink, |r| App::Reader(Box::new(r)));
            [App::Bulk(bulk::Sender::new(b)), reader]
        }
        WorkloadParams::Web(w) => {
            let app = web::Web::new(w, streams.named(&format!("flow/{}/web", f.name)));
            [App::Web(Box::new(app)), App::Sink]
        }
        WorkloadParams::Page(p) => {
            let (answer, fetch) = (page::Answer::new(p, f.connection), page::Fetch::new(p, f.connection));
            [App::Answer(Box::new(answer)), App::Fetch(Box::new(fetch))]
        }
        WorkloadParams::Cbr(_) | WorkloadParams::OnOff(_) | WorkloadParams::Ping(_) => {
            let rng = streams.named(&format!("flow/{}/source", f.name));
            let source = cbr::Source::of(&group.workload, rng).expect("the arm names those that have a source");
            let listens = if matches!(group.workload, WorkloadParams::Ping(_)) { App::Echo } else { App::Sink };
            [App::Source(Box::new(source)), listens]
        }
    }
}

/// What is a flow's own: its name, and the random streams under it.
pub struct Own<'a> {
    pub streams: &'a Streams,
    pub flow: &'a str,
    /// Whether its histograms are kept.
    pub recorded: Recorded,
}

impl Own<'_> {
    /// Gives an end that has not begun its reader, its habit of acknowledging and its dice.
    pub fn equip(&self, conn: &mut Connection, app: &App, seen: Vantage, tcp: &TcpParams) {
        let flow = self.flow;
        if let App::Reader(r) = app {
            r.begin(conn);
        }
        if seen == Vantage::Sender && tcp.early.is_on() {
            let rng = self.streams.named(&format!("flow/{flow}/tcp/early"));
            conn.sender().predict(tcp, rng);
        }
        if seen == Vantage::Sender && Needs::of(tcp).dice {
            let rng = self.streams.named(&format!("flow/{flow}/tcp/law"));
            conn.sender().law.take_dice(rng);
        }
        if tcp.ack_habit.is_on() {
            let side = if seen == Vantage::Sender { "sender" } else { "receiver" };
            conn.rx.accustom(tcp, self.streams.named(&format!("flow/{flow}/tcp/acks/{side}")));
        }
    }
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
