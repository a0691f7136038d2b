//! Packets on their way from stage to stage.

use crate::calendar::Calendar;
use crosswind_base::{Cx, HandedOn, PacketId, Stage};
use crosswind_net::registry::BoxStage;

/// The stage that a packet reaches next.
#[inline]
pub fn next_hop(id: PacketId, hops: &[u32], cx: &mut Cx<'_>) -> usize {
    let p = cx.pool.get_mut(id);
    let stage = hops[p.hop as usize];
    p.hop += 1;
    cx.stage = stage;
    stage as usize
}

/// Takes packets that a stage has handed on before their time from stage to stage, as far as those know their way.
#[inline]
pub fn on(stages: &mut [BoxStage], hops: &[u32], calendar: &mut Calendar, cx: &mut Cx<'_>) {
    while let Some(HandedOn { id, at, from }) = cx.take_ahead() {
        let p = cx.pool.get_mut(id);
        let s = hops[p.hop as usize];
        let Some(stage) = stages.get_mut(s as usize) else {
            // Hosts and edges do everything at its time.
            calendar.arrives(at, from, id);
            continue;
        };
        p.hop += 1;
        (cx.from, cx.stage, cx.now) = (from, s, at);
        let next = stage.accepts(id, cx);
        calendar.wishes(s as usize, next);
    }
    cx.now = cx.reached;
}

/// The same for all packets that stage `from` has to hand on now: `more` calls it for the next.
pub fn all(
    from: usize,
    stages: &mut [BoxStage],
    hops: &[u32],
    calendar: &mut Calendar,
    cx: &mut Cx<'_>,
    more: &mut dyn FnMut(&mut BoxStage, &mut Cx<'_>),
) {
    loop {
        on(stages, hops, calendar, cx);
        if !std::mem::take(&mut cx.has_more) {
            return;
        }
        cx.stage = from as u32;
        more(&mut stages[from], cx);
    }
}
