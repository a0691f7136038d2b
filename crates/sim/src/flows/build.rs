//! From the flows of a plan to the ends and pages of a world.

use super::arrivals::Freshness;
use super::endpoint::FlowEnd;
use super::ends::Ends;
use super::host_queue::HostQueue;
use super::own::Own;
use super::port::Setup;
use super::waits::Recorded;
use super::workload::{App, bulk, cbr, page, reader, web};
use crate::scenario::{FlowPlan, GroupPlan, Plan, Repetition, WorkloadParams};
use crosswind_base::{FlowId, Streams, Vantage};
use std::sync::Arc;

/// Both ends of every flow of a plan: the sender of data, then its receiver. `routes`: where each end's route begins.
pub fn flow_ends(
    plan: &Plan,
    makers: &[Arc<dyn Ends>],
    rep: Repetition,
    streams: &Streams,
    routes: &[u32],
) -> Vec<FlowEnd> {
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
        out.extend(both.map(|(app, s)| makers[f.group as usize].end(app, &s, group, &own)));
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
