//! What became of each flow. What the receiving application got decides, not what the transport went through.

use super::ends::{Ends, fetch};
use crate::scenario::WorkloadParams;
use crate::world::World;
use crosswind_transport::tcp::conn::State;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FlowOutcome {
    /// The receiving application got all of it; a stream has sent its last packet.
    Complete,
    /// The transport of one end gave up (or was reset by the end that had) before that.
    GaveUp,
    /// The timeline broke it off before that.
    Aborted,
    /// The run ended before that.
    CutOff,
    /// It never began.
    NotOpened,
    /// It has no end of its own, and was open at the end of the run.
    Endless,
}

impl FlowOutcome {
    pub fn text(self) -> &'static str {
        match self {
            FlowOutcome::Complete => "complete",
            FlowOutcome::GaveUp => "gave up",
            FlowOutcome::Aborted => "aborted",
            FlowOutcome::CutOff => "cut off",
            FlowOutcome::NotOpened => "not opened",
            FlowOutcome::Endless => "endless",
        }
    }

    pub fn of(w: &World<'_>, flow: usize) -> FlowOutcome {
        let ends = Ends::of(w, flow);
        if is_complete(w, flow, &ends) {
            FlowOutcome::Complete
        } else if w.aborted.contains(&flow) {
            FlowOutcome::Aborted
        } else if gave_up(&ends) {
            FlowOutcome::GaveUp
        } else if ends.open().is_none() {
            FlowOutcome::NotOpened
        } else if is_endless(w.workload(flow)) {
            FlowOutcome::Endless
        } else {
            FlowOutcome::CutOff
        }
    }

    /// Of a page: complete when all its objects are, else the first reason in the order of its connections that tells
    /// why not.
    pub fn of_page(w: &World<'_>, flows: std::ops::Range<usize>) -> FlowOutcome {
        let each: Vec<FlowOutcome> = flows.map(|f| FlowOutcome::of(w, f)).collect();
        let first = |wanted: FlowOutcome| each.iter().copied().find(|o| *o == wanted);
        let body = each.first().copied().unwrap_or(FlowOutcome::NotOpened);
        if body == FlowOutcome::NotOpened {
            return body;
        }
        first(FlowOutcome::Aborted)
            .or_else(|| first(FlowOutcome::GaveUp))
            .or_else(|| each.iter().any(|o| *o != FlowOutcome::Complete).then_some(FlowOutcome::CutOff))
            .unwrap_or(FlowOutcome::Complete)
    }
}

fn is_complete(w: &World<'_>, flow: usize, ends: &Ends<'_>) -> bool {
    if let Some(f) = fetch(w, flow) {
        return f.done_at.is_some();
    }
    match ends {
        Ends::Other(..) => ends.close().is_some(),
        Ends::Tcp(_, rx) => {
            let size = match w.workload(flow) {
                WorkloadParams::Bulk(b) => b.size,
                _ => None,
            };
            rx.conn.rx.fin_reached() || size.is_some_and(|s| rx.conn.rx.delivered() >= s.0)
        }
    }
}

fn gave_up(ends: &Ends<'_>) -> bool {
    match ends {
        Ends::Other(tx, rx) => [tx, rx].iter().any(|e| e.conn.failure().is_some()),
        Ends::Tcp(tx, rx) => [tx, rx].iter().any(|e| e.conn.state == State::Aborted),
    }
}

/// Whether it has no last byte, or no last packet.
fn is_endless(w: &WorkloadParams) -> bool {
    match w {
        WorkloadParams::Bulk(b) => b.size.is_none(),
        WorkloadParams::Cbr(c) => c.packets.is_none(),
        WorkloadParams::OnOff(o) => o.bursts.is_none(),
        WorkloadParams::Ping(p) => p.packets.is_none(),
        WorkloadParams::Web(x) => x.transfers.is_none(),
        WorkloadParams::Page(_) => false,
    }
}
