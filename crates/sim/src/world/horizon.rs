//! The report horizon: how long nobody will read totals.
//!
//! A run that has a time limit and a flow without end ends at its limit: totals are read then, or when a sample is
//! due. Links that have planned a packet need not remember until when what of it has not happened yet
//! ([`crosswind_base::Ahead::report_horizon`]). A flow may end before its time, when its sender gives up; the first retry and
//! the last are far apart, so that it is enough to check now and then whether one is under way.

use crate::flows::FlowEnd;
use crate::scenario::{Change, Close, FlowPlan, Plan, WorkloadParams};
use crosswind_base::{Dur, Time};
use crosswind_engine::View;
use crosswind_transport::tcp::conn::State;

/// What sets it: a flow that the run waits for and that never ends by itself.
pub struct ReportHorizon {
    flow: usize,
    /// A sender of whose segments all have been answered goes on at least as long. `None`: nothing makes it give up.
    retries_for: Option<Dur>,
}

/// When to check again for a sender whose segments are not all acknowledged.
const AGAIN: Dur = Dur(100_000_000);

fn never_ends(w: &WorkloadParams) -> bool {
    match w {
        WorkloadParams::Bulk(b) => b.size.is_none() || b.close == Close::Never,
        WorkloadParams::Cbr(c) => c.packets.is_none(),
        WorkloadParams::OnOff(o) => o.bursts.is_none(),
        _ => false,
    }
}

/// Whether a flow never ends by itself: it has no last byte, and its transport none either.
pub fn is_endless(plan: &Plan, f: &FlowPlan) -> bool {
    let of = plan.group(f);
    // A real stack may give up whenever it likes.
    !of.transport.has_rate() && !of.transport.is_foreign() && never_ends(&of.workload)
}

impl ReportHorizon {
    pub fn find(plan: &Plan) -> Option<ReportHorizon> {
        // What a timeline ends, or makes to end, is no such flow, nor one whose timers it changes.
        let may_end = |c: &Change| c.abort.is_some() || c.of_flow.workload.is_some() || c.of_flow.tcp.is_some();
        if plan.timeline.iter().any(may_end) {
            return None;
        }
        let flow = plan.flows.iter().position(|f| f.is_awaited && is_endless(plan, f))?;
        let Some(tcp) = plan.group(&plan.flows[flow]).transport.tcp() else {
            return Some(ReportHorizon { flow, retries_for: None });
        };
        if tcp.connection.keepalive.is_on() {
            return None;
        }
        let retries_for = tcp.timers.rto_min.min(tcp.timers.rto_max).saturating_mul(u64::from(tcp.timers.retries_max));
        (retries_for > AGAIN).then_some(ReportHorizon { flow, retries_for: Some(retries_for) })
    }

    /// The next part of the run.
    pub fn view(&self, now: Time, ends: &[FlowEnd]) -> View {
        let Some(retries_for) = self.retries_for else { return View::up_to(Time::NEVER, Time::NEVER) };
        let (sender, receiver) = (ends[2 * self.flow].tcp(), ends[2 * self.flow + 1].tcp());
        let is_open = [sender, receiver].iter().all(|e| e.is_some_and(|e| e.conn.state == State::Established));
        let is_answered = sender.and_then(|e| e.conn.tx.get()).is_some_and(|tx| tx.is_answered());
        if is_open && is_answered {
            let until = now + retries_for;
            View::up_to(until, until)
        } else {
            View::up_to(now + AGAIN, Time::ZERO)
        }
    }
}
