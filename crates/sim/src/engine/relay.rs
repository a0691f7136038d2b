//! Packets on their way from stage to stage.

use super::calendar::Calendar;
use super::edges::Edges;
use super::manner::Shuffle;
use crosswind_base::{Cx, HandedOn, PacketId, Stage};
use crosswind_net::registry::BoxStage;
use std::ops::Range;

/// What lies between the hosts.
pub struct Network<'a> {
    pub stages: &'a mut [BoxStage],
    pub edges: &'a mut Edges,
    pub hops: &'a [u32],
    pub calendar: &'a mut Calendar,
}

/// The stage that a packet reaches next.
#[inline]
pub fn next_hop(id: PacketId, hops: &[u32], cx: &mut Cx<'_>) -> usize {
    let p = cx.pool.get_mut(id);
    let stage = hops[p.hop as usize];
    p.hop += 1;
    cx.stage = stage;
    stage as usize
}

/// Chooses which of the waiting packets arrives next, and notes whether others meet it. `ends`: the numbers of
/// hosts.
#[cold]
pub fn shuffle(shuffle: &mut Shuffle, cx: &mut Cx<'_>, first: usize, (hops, ends): (&[u32], Range<usize>)) {
    let pool = &*cx.pool;
    shuffle.arrivals(&mut cx.out[first..], |id| hops[pool.get(id).hop as usize]);
    let at = pool.get(cx.out[first]).hop as usize;
    // Behind the end of another route a route begins: its host is known by the place.
    let before = at.checked_sub(1).map(|i| hops[i]).filter(|s| !ends.contains(&(*s as usize)));
    shuffle.arrives(cx.reached, hops[at], before.unwrap_or(u32::MAX - at as u32));
}

impl Network<'_> {
    /// Takes packets that a stage has handed on before their time from stage to stage, as far as those know their way.
    #[inline]
    pub fn hand_on(&mut self, cx: &mut Cx<'_>) {
        while let Some(handed) = cx.take_ahead() {
            let HandedOn { id, at, from } = handed;
            let p = cx.pool.get_mut(id);
            let mut s = self.hops[p.hop as usize];
            if s as usize >= self.stages.len() {
                let Some(next) = self.beyond(s, handed, cx) else { continue };
                s = next;
            }
            cx.pool.get_mut(id).hop += 1;
            (cx.from, cx.stage, cx.now) = (from, s, at);
            let next = self.stages[s as usize].accepts(id, cx);
            self.calendar.wishes(s as usize, next);
        }
        cx.now = cx.reached;
    }

    /// An edge or a host comes next: those do everything at its time, except for edges that do the same at any time. Returns
    /// the egress behind such edges. Packets of one line all take the same way here, whoever looks when: one that waited for
    /// its time would be overtaken.
    fn beyond(&mut self, first: u32, HandedOn { id, at, from }: HandedOn, cx: &mut Cx<'_>) -> Option<u32> {
        let mut s = first;
        while let Some(edge) = self.edges.timeless(s) {
            (cx.stage, cx.now) = (s, at);
            edge.pass(id, cx);
            let p = cx.pool.get_mut(id);
            p.hop += 1;
            s = self.hops[p.hop as usize];
            if (s as usize) < self.stages.len() {
                return Some(s);
            }
        }
        self.calendar.arrives(at, from, id);
        None
    }

    /// The same for all packets that stage `from` has to hand on now: `more` calls it for the next.
    pub fn hand_on_all(&mut self, from: usize, cx: &mut Cx<'_>, more: &mut dyn FnMut(&mut BoxStage, &mut Cx<'_>)) {
        loop {
            self.hand_on(cx);
            if !std::mem::take(&mut cx.has_more) {
                return;
            }
            cx.stage = from as u32;
            more(&mut self.stages[from], cx);
        }
    }
}
