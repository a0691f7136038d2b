//! The event loop: what is due next happens next. Simulator and emulator share it; they differ in their clock, and in who
//! stands at the ends of the network.
//!
//! Order of events: time; at one time, wakes before arrivals; wakes by stage; arrivals in the order in which they were
//! emitted. With shuffled ties, simultaneous wakes and simultaneous arrivals at different stages are permuted.
//!
//! Numbers of stages: egresses first, then ends, then boundaries. A packet's `hop` is a place in one table of such numbers,
//! in which each route is its egresses and boundaries, followed by its end.

use crate::boundaries::Boundaries;
use crate::calendar::Calendar;
use crate::ends::{Ends, Stop};
use crate::relay::{self, Network};
use crate::shuffle::Shuffle;
use crate::tick::Tick;
use crate::view::View;
use crosswind_base::{Cx, Ledger, Observer, PacketId, Pool, Stage, Sync, Time};
use crosswind_net::registry::BoxStage;

/// The network between the ends, and what is to happen in it.
pub struct Engine {
    pub now: Time,
    pub stages: Vec<BoxStage>,
    pub boundaries: Boundaries,
    pub pool: Pool,
    pub tick: Tick,
    pub shuffle: Option<Box<Shuffle>>,
    hops: Vec<u32>,
    calendar: Calendar,
    out: Vec<PacketId>,
    out_head: usize,
}

/// What lies between the ends: these fields of an engine, and no others, so that the rest stays free.
macro_rules! network {
    ($e:ident) => {
        Network { stages: &mut $e.stages, boundaries: &mut $e.boundaries, hops: &$e.hops, calendar: &mut $e.calendar }
    };
}

impl Engine {
    /// `tie_seed` zero orders simultaneous wakes by stage; any other value permutes stages for that purpose.
    pub fn new(stages: Vec<BoxStage>, boundaries: Boundaries, hops: Vec<u32>, tie_seed: u64) -> Engine {
        let ends = boundaries.from - stages.len();
        let mut calendar = Calendar::new(stages.len(), ends + boundaries.list.len(), tie_seed);
        for (i, s) in stages.iter().enumerate() {
            calendar.wake_at(i, s.next_wake().unwrap_or(Time::NEVER));
        }
        Engine {
            now: Time::ZERO,
            tick: Tick::new(stages.len() + ends),
            calendar,
            stages,
            boundaries,
            hops,
            pool: Pool::new(),
            out: Vec::new(),
            out_head: 0,
            shuffle: None,
        }
    }

    /// The numbers of all routes.
    pub fn hops(&self) -> &[u32] {
        &self.hops
    }

    /// Room for so many packets that have been emitted.
    pub fn make_room(&mut self, packets: usize) {
        self.out.reserve(packets);
    }

    /// A stage that is called now, outside the loop.
    pub fn cx<'a>(
        &'a mut self,
        stage: usize,
        ledger: &'a mut dyn Ledger,
        observer: Option<&'a mut (dyn Observer + 'static)>,
    ) -> Cx<'a> {
        Cx::new(self.now, stage as u32, &mut self.pool, &mut self.out, ledger, observer)
    }

    /// An egress does something now, outside the loop.
    pub fn call<T>(
        &mut self,
        egress: usize,
        ledger: &mut dyn Ledger,
        observer: Option<&mut (dyn Observer + 'static)>,
        work: impl FnOnce(&mut BoxStage, &mut Cx<'_>) -> T,
    ) -> T {
        let stage = &mut self.stages[egress];
        let mut cx = Cx::new(self.now, egress as u32, &mut self.pool, &mut self.out, ledger, observer);
        let done = work(stage, &mut cx);
        self.calendar.wake_at(egress, stage.next_wake().unwrap_or(Time::NEVER));
        done
    }

    /// An end that was called outside the loop, or is to begin, says when it wants to be woken.
    pub fn wake_end(&mut self, end: usize, at: Time) {
        self.calendar.wake_at(self.stages.len() + end, at);
    }

    /// A packet that goes on from its hop, now.
    pub fn emit(&mut self, id: PacketId) {
        self.out.push(id);
    }

    /// Whether nothing will happen any more.
    pub fn is_idle(&mut self) -> bool {
        self.calendar.is_idle()
    }

    /// Brings egresses up to now, so that they can be sampled and reported.
    pub fn catch_up(
        &mut self,
        egresses: impl Iterator<Item = usize>,
        ledger: &mut dyn Ledger,
        observer: Option<&mut (dyn Observer + 'static)>,
    ) {
        let mut cx = Cx::new(self.now, 0, &mut self.pool, &mut self.out, ledger, observer);
        for i in egresses {
            cx.stage = i as u32;
            self.stages[i].catch_up(&mut cx);
            if cx.ahead.has_early() || cx.ahead.has_more {
                let more = &mut |stage: &mut BoxStage, cx: &mut Cx<'_>| stage.catch_up(cx);
                network!(self).forward_all_early(i, &mut cx, more);
            }
            self.calendar.wake_at(i, self.stages[i].next_wake().unwrap_or(Time::NEVER));
        }
    }

    /// Serves events until one of them is more than a matter between two stages.
    #[inline]
    pub fn run<E: Ends>(
        &mut self,
        view: View,
        ends: &mut E,
        ledger: &mut dyn Ledger,
        observer: Option<&mut (dyn Observer + 'static)>,
    ) -> Stop<E::Told> {
        let n = self.stages.len();
        let mut cx = Cx::new(self.now, 0, &mut self.pool, &mut self.out, ledger, observer);
        (cx.ahead.report_horizon, cx.ahead.sample_horizon) = (view.report_horizon, view.sample_horizon);
        let mut clock = self.now;
        loop {
            let due = self.calendar.due();
            let mut told = None;
            let next = if due <= cx.ahead.reached || self.out_head == cx.out.len() {
                if due > view.ends {
                    return Stop::LaterDue;
                }
                if due > clock {
                    clock = match ends.sync(due) {
                        Sync::OnTime => due,
                        Sync::Late(by) => due + by,
                        Sync::Interrupted(_) => return Stop::Interrupted,
                    };
                }
                if let Some((id, link)) = self.calendar.arrival(due) {
                    (cx.now, cx.ahead.reached, cx.ahead.from) = (due, due, link);
                    relay::prefetch_arrivals(&self.calendar, cx.pool, &self.hops, ends, n);
                    let is_alone = self.out_head == cx.out.len() && self.calendar.due() > due;
                    if !is_alone || self.shuffle.is_some() {
                        cx.forward(id);
                        continue;
                    }
                    Some(id)
                } else {
                    let Some(s) = self.calendar.first(due) else { continue };
                    if !self.tick.at(&mut self.now, due) {
                        return Stop::Stuck { stage: s };
                    }
                    (cx.now, cx.ahead.reached, cx.stage) = (due, due, s as u32);
                    told = network!(self).wake(s, ends, &mut cx);
                    None
                }
            } else {
                if let Some(shuffle) = &mut self.shuffle {
                    relay::shuffle(shuffle, &mut cx, self.out_head, (&self.hops, n..self.boundaries.from));
                }
                Some(relay::next_emitted(&mut self.out_head, &mut cx))
            };
            if let Some(id) = next {
                let s = relay::next_hop(id, &self.hops, &mut cx);
                if !self.tick.at(&mut self.now, cx.ahead.reached) {
                    return Stop::Stuck { stage: s };
                }
                told = network!(self).accept(s, id, ends, &mut cx);
            }
            told = told.or_else(|| self.tick.is_poll().then_some(Stop::Poll));
            if told.is_some() || cx.has_notifications {
                return told.unwrap_or(Stop::Notification);
            }
        }
    }
}
