//! Packets on their way from stage to stage.

use crate::boundaries::Boundaries;
use crate::calendar::Calendar;
use crate::ends::{Ends, Stop};
use crate::shuffle::Shuffle;
use crosswind_base::{Cx, EarlyPacket, PacketId, Pool, Stage};
use crosswind_net::registry::BoxStage;
use std::ops::Range;

/// What lies between the hosts.
pub struct Network<'a> {
    pub stages: &'a mut [BoxStage],
    pub boundaries: &'a mut Boundaries,
    pub hops: &'a [u32],
    pub calendar: &'a mut Calendar,
}

/// Takes the first of the packets that stages have emitted; `head`: how many of them have been taken. There is one.
#[inline(always)]
pub fn next_emitted(head: &mut usize, cx: &mut Cx<'_>) -> PacketId {
    let id = cx.out[*head];
    *head += 1;
    if *head == cx.out.len() {
        cx.out.clear();
        *head = 0;
    }
    id
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
    shuffle.arrives(cx.ahead.reached, hops[at], before.unwrap_or(u32::MAX - at as u32));
}

impl Network<'_> {
    /// Wakes the stage that is due; what an end has to say.
    #[inline(always)]
    pub fn wake<E: Ends>(&mut self, s: usize, ends: &mut E, cx: &mut Cx<'_>) -> Option<Stop<E::Told>> {
        let mut told = None;
        let next = if let Some(stage) = self.stages.get_mut(s) {
            let mut next = stage.wakes(cx);
            if cx.ahead.has_early() {
                let more = &mut |stage: &mut BoxStage, cx: &mut Cx<'_>| next = stage.wakes(cx);
                self.forward_all_early(s, cx, more);
            }
            next
        } else if s < self.boundaries.from {
            let end = s - self.stages.len();
            let (next, what) = ends.wake(end, cx);
            told = what.map(|what| Stop::Told { end, what });
            next
        } else {
            self.boundaries.list[s - self.boundaries.from].wakes(cx)
        };
        self.calendar.served(s, next);
        told
    }

    /// A packet reaches its next stage; what an end has to say.
    #[inline(always)]
    pub fn accept<E: Ends>(&mut self, s: usize, id: PacketId, ends: &mut E, cx: &mut Cx<'_>) -> Option<Stop<E::Told>> {
        let mut told = None;
        if let Some(stage) = self.stages.get_mut(s) {
            if ends.enters(s, id, cx) {
                let next = stage.accepts(id, cx);
                self.calendar.wake_at(s, next);
                // With look-ahead the packet is forwarded before its time.
                self.forward_early(cx);
            }
        } else if s < self.boundaries.from {
            let end = s - self.stages.len();
            let (next, what) = ends.accept(end, id, cx);
            told = what.map(|what| Stop::Told { end, what });
            self.calendar.wake_at(s, next);
        } else {
            let next = self.boundaries.list[s - self.boundaries.from].accepts(id, cx);
            self.calendar.wake_at(s, next);
        }
        told
    }

    /// Takes packets that a stage has forwarded early from stage to stage, as far as those can plan their delivery.
    #[inline]
    pub fn forward_early(&mut self, cx: &mut Cx<'_>) {
        while let Some(early) = cx.ahead.take() {
            let EarlyPacket { id, at, from } = early;
            let p = cx.pool.get_mut(id);
            let mut s = self.hops[p.hop as usize];
            if (s as usize) < self.stages.len() {
                p.hop += 1;
            } else {
                let Some(next) = self.beyond(s, early, cx) else { continue };
                s = next;
            }
            (cx.ahead.from, cx.stage, cx.now) = (from, s, at);
            let next = self.stages[s as usize].accepts(id, cx);
            self.calendar.wake_at(s as usize, next);
        }
        cx.now = cx.ahead.reached;
    }

    /// A boundary or a host comes next. Hosts process a packet at its arrival time, and so do boundaries, except for those that do the
    /// same at any time. Returns the egress behind such boundaries, which it has reached then. Packets of one link all take the same path here: one that waited
    /// for its time would be overtaken.
    fn beyond(&mut self, first: u32, EarlyPacket { id, at, from }: EarlyPacket, cx: &mut Cx<'_>) -> Option<u32> {
        let mut s = first;
        while let Some(boundary) = self.boundaries.timeless(s) {
            (cx.stage, cx.now) = (s, at);
            boundary.pass(id, cx);
            let p = cx.pool.get_mut(id);
            p.hop += 1;
            s = self.hops[p.hop as usize];
            if (s as usize) < self.stages.len() {
                p.hop += 1;
                return Some(s);
            }
        }
        self.calendar.arrives(at, from, id);
        None
    }

    /// The same for all packets that stage `from` has to forward now: `more` calls it for the next.
    pub fn forward_all_early(
        &mut self,
        from: usize,
        cx: &mut Cx<'_>,
        more: &mut dyn FnMut(&mut BoxStage, &mut Cx<'_>),
    ) {
        loop {
            self.forward_early(cx);
            if !std::mem::take(&mut cx.ahead.has_more) {
                return;
            }
            cx.stage = from as u32;
            more(&mut self.stages[from], cx);
        }
    }
}

/// What packets that arrive soon will meet, each when what leads to it has come: the packet, its end, and what that leads to.
#[inline]
pub fn prefetch_arrivals(calendar: &Calendar, pool: &Pool, hops: &[u32], ends: &impl Ends, first: usize) {
    let stage_of = |id| hops.get(pool.get(id).hop as usize).map(|s| *s as usize);
    pool.prefetch(calendar.next_arrival());
    let ahead = if ends.is_crowd() { 7 } else { 1 };
    if let Some(id) = calendar.later_arrival(ahead) {
        pool.prefetch(id);
    }
    if !ends.is_crowd() {
        return;
    }
    if let Some(stage) = calendar.later_arrival(4).and_then(stage_of) {
        calendar.prefetch(stage);
        ends.prefetch(stage.wrapping_sub(first), false);
    }
    if let Some(stage) = calendar.later_arrival(2).and_then(stage_of) {
        ends.prefetch(stage.wrapping_sub(first), true);
    }
}
