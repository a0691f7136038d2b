//! The discipline: two queues, who is served, and who is selected.

use super::control::{Control, Kernel};
use super::params::{Classify, DualPi2Params, Kind, Overload, Picks, Profile, Scheduler, compiled};
use crate::build::BuildCx;
use crate::params;
use crate::queue::aqm::{Aqm, Lent, Setup, Verdict};
use crate::queue::pi2::{Base, Decides, refill_gains};
use crate::queue::store::Fifo;
use crate::queue::{Backlog, Chooser, Head, QueueDisc, Removal};
use crate::sched::classify::Classifier;
use crosswind_base::{
    BitRate, ClassTotals, ConfigError, Cx, DropReason, Dur, Ecn, Limit, Metrics, Packet, PacketId, Rng, Setting, Time,
};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// The two queues by number.
const L: usize = 0;
const C: usize = 1;
const NAMES: [&str; 2] = ["l4s", "classic"];

/// What was decided already, for the shell of either queue.
struct Decided(Verdict);

impl Aqm for Decided {
    type Draws = Rng;

    fn on_enqueue(&mut self, _: &crate::queue::aqm::Arrival, _: &mut Lent<'_, '_, Rng>) -> Verdict {
        self.0
    }
    fn read_change(&self, set: &Map<String, Value>, _: &Setup) -> Result<Setting, ConfigError> {
        Err(ConfigError::cannot_change(set))
    }
    fn change(&mut self, _: &Setting, _: &mut Lent<'_, '_, Rng>) -> Result<Setup, ConfigError> {
        unreachable!("only what has been read is changed")
    }
}

const SELECTED: Verdict = Verdict::Signal(DropReason::EarlyDrop);
const DROPPED: Verdict = Verdict::Drop(DropReason::EarlyDrop);

/// DualPI2.
pub struct DualPi2 {
    params: DualPi2Params,
    control: Control,
    rate: Option<BitRate>,
    /// Of both queues, and none for each.
    limits: Setup,
    each: Setup,
    filters: Option<(Classifier, Vec<Kind>)>,
    stores: [Fifo; 2],
    totals: [ClassTotals; 2],
    draws: Rng,
    /// Bytes that L owes: above 0 it is the turn of the Classic queue.
    credit: i64,
    shares: [i64; 2],
    /// Probabilities that have added up since the last pick, by queue.
    sums: [f64; 2],
    /// L packets that came to so short a queue that its threshold is not theirs.
    spared: VecDeque<PacketId>,
    step_marks_packets: u64,
    /// Room for what is taken out: packets, their queue, their place in it.
    gone: Vec<(Head, usize, usize)>,
}

impl DualPi2 {
    pub fn build(params: DualPi2Params, cx: &BuildCx<'_>) -> Result<DualPi2, ConfigError> {
        let limits = params.limits(cx.link_rate());
        let mut queue = DualPi2 {
            control: Control::new(&params),
            rate: cx.link_rate(),
            each: Setup::fits(Limit::Packets(u64::MAX), limits.ecn),
            limits,
            filters: if params.filter.is_empty() { None } else { Some(compiled(&params.filter, cx)?) },
            stores: [Fifo::new(), Fifo::new()],
            totals: Default::default(),
            draws: cx.rng("dualpi2"),
            credit: 0,
            shares: params.shares(),
            sums: [0.0; 2],
            spared: VecDeque::new(),
            step_marks_packets: 0,
            gone: Vec::new(),
            params,
        };
        queue.credit = queue.full_credit();
        Ok(queue)
    }

    /// The controller.
    pub fn control(&self) -> &Control {
        &self.control
    }
    /// What L owes, in bytes times parts.
    pub fn credit(&self) -> i64 {
        self.credit
    }

    fn full_credit(&self) -> i64 {
        let [classic, l4s] = self.shares;
        self.params.mtu.0 as i64 * (classic - l4s)
    }

    #[inline]
    fn held(&self) -> Backlog {
        let mut all = self.stores[L].backlog();
        all += self.stores[C].backlog();
        all
    }

    #[inline]
    fn catch_up(&mut self, now: Time) {
        let since = |store: &Fifo| store.front().map_or(Time::NEVER, |head| head.since);
        let oldest = since(&self.stores[L]).min(since(&self.stores[C]));
        self.control.catch_up(now, Some(oldest).filter(|t| *t != Time::NEVER));
    }

    #[inline]
    fn kind_of(&self, p: &Packet) -> Kind {
        match (p.ecn(), self.params.classify) {
            (Ecn::Ect1 | Ecn::Ce, _) | (Ecn::Ect0, Classify::AnyEct) => Kind::L4s,
            _ => self.filters.as_ref().map_or(Kind::Classic, |(classifier, kinds)| kinds[classifier.class_of(p)]),
        }
    }

    /// Whether both queues leave room for a packet.
    #[inline]
    fn fits(&self, len: u32) -> bool {
        let needed = if self.params.profile == Profile::Rfc9332 { self.params.mtu.0 as u32 } else { len };
        self.limits.admits(self.held(), needed)
    }

    /// What the law of a queue of the kernel says, with what waits besides the packet.
    #[inline]
    fn judged_by_kernel(&mut self, kernel: &Kernel, kind: Kind, held: Backlog) -> Verdict {
        if held.bytes < 2 * self.params.mtu.0 || kind == Kind::Llll {
            return Verdict::Pass;
        }
        let draws = &mut self.draws;
        let mut hits = |parts: u32| (draws.bits() >> 32) as u32 <= parts;
        let (p, coupled) = (kernel.parts(), kernel.coupled());
        let is_overload = coupled > u64::from(u32::MAX);
        if kind == Kind::Classic {
            return match hits(p) && hits(p) {
                false => Verdict::Pass,
                true if is_overload => DROPPED,
                true => SELECTED,
            };
        }
        if is_overload {
            let does_drop = self.params.overload == Overload::Drop && hits(p) && hits(p);
            return if does_drop { DROPPED } else { SELECTED };
        }
        if hits(coupled as u32) { SELECTED } else { Verdict::Pass }
    }

    /// The same as published, of a packet that has left its queue; an L packet is also judged by its own wait.
    #[inline]
    fn judged_as_published(&mut self, base: &Base, kind: Kind, waited: Dur) -> Verdict {
        let (p, k) = (base.p(), self.params.coupling);
        let squared = p * p;
        match kind {
            Kind::Llll => Verdict::Pass,
            Kind::Classic if !self.picks(C, squared) => Verdict::Pass,
            Kind::Classic if squared >= (1.0 / (k * k)).min(1.0) => DROPPED,
            Kind::Classic => SELECTED,
            Kind::L4s if k * p >= 1.0 => {
                if self.picks(L, squared) {
                    DROPPED
                } else if self.picks(L, 1.0) {
                    SELECTED
                } else {
                    Verdict::Pass
                }
            }
            Kind::L4s => {
                let own = self.ramp(waited);
                let is_selected = self.picks(L, own.max(k * p));
                self.step_marks_packets += u64::from(is_selected && own > k * p);
                if is_selected { SELECTED } else { Verdict::Pass }
            }
        }
    }

    /// The probability with which an L packet is marked for its own wait, unless it was spared on arrival.
    #[inline]
    fn ramp(&self, waited: Dur) -> f64 {
        let p = &self.params;
        if p.step_spares_at == Decides::Departure && self.stores[L].backlog().packets <= p.step_spares {
            0.0
        } else if waited >= p.step + p.ramp {
            1.0
        } else if waited > p.step {
            waited.saturating_sub(p.step).0 as f64 / p.ramp.0 as f64
        } else {
            0.0
        }
    }

    #[inline]
    fn picks(&mut self, queue: usize, x: f64) -> bool {
        if self.params.picks == Picks::Random {
            return self.draws.chance(x);
        }
        let sum = &mut self.sums[queue];
        *sum += x;
        let is_selected = *sum > 1.0;
        if is_selected {
            *sum -= 1.0;
        }
        is_selected
    }

    /// The queue that is served, and what the credit changes by for each byte of it.
    #[inline]
    fn choose(&self, now: Time) -> Option<(usize, i64)> {
        let [classic, l4s] = self.shares;
        match (self.stores[L].front(), self.stores[C].front()) {
            (None, None) => None,
            (Some(_), None) => Some((L, 0)),
            (None, Some(_)) => Some((C, 0)),
            (Some(l), Some(c)) => {
                let is_l = match self.params.scheduler {
                    Scheduler::Wrr => self.credit <= 0,
                    Scheduler::TsFifo => now.since(l.since) + self.params.time_shift >= now.since(c.since),
                    Scheduler::Strict => true,
                };
                Some(if is_l { (L, classic) } else { (C, -l4s) })
            }
        }
    }

    /// Hands the queues to `work`, which counts as of one of them.
    fn with<T>(&mut self, queue: usize, cx: &mut Cx<'_>, work: impl FnOnce(&mut Lent<'_, '_, Rng>) -> T) -> T {
        let (store, draws, each) = (&mut self.stores[queue], &mut self.draws, &self.each);
        cx.watched(&mut self.totals[queue], |cx| work(&mut Lent::new(each, store, draws, cx)))
    }

    /// Does to a packet that has left its queue what was decided.
    fn does(&mut self, verdict: Verdict, queue: usize, head: Head, cx: &mut Cx<'_>) -> Option<Head> {
        match verdict {
            Verdict::Pass => Some(head),
            Verdict::Signal(why) => self.with(queue, cx, |q| q.signal(head, why)),
            Verdict::Drop(why) => {
                self.with(queue, cx, |q| q.drop(head, why));
                None
            }
        }
    }

    /// Judges the oldest packet of a queue; it leaves, unless it was dropped.
    #[inline]
    fn take(&mut self, queue: usize, cx: &mut Cx<'_>) -> Option<Head> {
        let head = self.stores[queue].pop()?;
        let kind = match (queue, &self.filters) {
            (C, _) => Kind::Classic,
            (_, None) => Kind::L4s,
            (_, Some(_)) => self.kind_of(cx.packet(head.id)),
        };
        let is_spared = queue == L && self.spared.front() == Some(&head.id);
        if is_spared {
            self.spared.pop_front();
        }
        let waited = cx.now.since(head.since);
        match self.control {
            Control::Rfc(base) => {
                let waited = if is_spared { Dur::ZERO } else { waited };
                let verdict = self.judged_as_published(&base, kind, waited);
                self.does(verdict, queue, head, cx)
            }
            Control::Linux(kernel) => {
                let mut left = Some(head);
                if self.params.decides == Decides::Departure {
                    let verdict = self.judged_by_kernel(&kernel, kind, self.held());
                    left = self.does(verdict, queue, head, cx);
                }
                let p = &self.params;
                let is_over = match p.step_packets {
                    0 => waited > p.step,
                    packets => self.stores[L].backlog().packets > packets,
                };
                if left.is_some() && kind == Kind::L4s && is_over && !is_spared {
                    left = self.does(SELECTED, queue, head, cx);
                    self.step_marks_packets += u64::from(left.is_some());
                }
                left
            }
        }
    }

    /// Drops the oldest of the longer queue until the limits hold.
    fn shrink(&mut self, cx: &mut Cx<'_>) {
        while self.limits.is_exceeded_by(self.held()) {
            let queue = if self.stores[L].backlog().bytes > self.stores[C].backlog().bytes { L } else { C };
            let dropped = self.with(queue, cx, |q| {
                let head = q.pop();
                head.into_iter().for_each(|head| q.drop(head, DropReason::QueueFull));
                head
            });
            let Some(head) = dropped else { return };
            self.spared.retain(|id| *id != head.id);
        }
    }
}

impl QueueDisc for DualPi2 {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        self.catch_up(cx.now);
        let p = cx.packet(id);
        let (kind, len) = (self.kind_of(p), u32::from(p.len));
        let queue = if kind == Kind::Classic { C } else { L };
        self.totals[queue].arrived(len);
        let held = self.held();
        if held.packets == 0 {
            self.credit = self.full_credit();
        }
        let verdict = match self.control {
            _ if !self.fits(len) => Verdict::Drop(DropReason::QueueFull),
            Control::Linux(kernel) if self.params.decides == Decides::Arrival => {
                self.judged_by_kernel(&kernel, kind, held)
            }
            _ => Verdict::Pass,
        };
        let before = self.stores[queue].backlog().packets;
        let (store, draws, each) = (&mut self.stores[queue], &mut self.draws, &self.each);
        cx.watched(&mut self.totals[queue], |cx| {
            Lent::new(each, store, draws, cx).offer(&mut Decided(verdict), id);
        });
        let p = &self.params;
        let may_spare = queue == L && p.step_spares_at == Decides::Arrival && p.step_spares > 0;
        if may_spare && self.stores[L].backlog().packets > before && before < self.params.step_spares {
            self.spared.push_back(id);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        self.catch_up(cx.now);
        loop {
            let Some((queue, change)) = self.choose(cx.now) else {
                self.credit = self.full_credit();
                return None;
            };
            if let Some(head) = self.take(queue, cx) {
                self.credit += change * i64::from(head.len);
                self.totals[queue].sent(head.len, head.since, cx.now);
                return Some(head);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.held()
    }

    fn removal(&self) -> Removal {
        Removal::Possible
    }

    /// Whoever chooses is asked for the oldest of both queues first; of packets that came at one time, for those of L.
    fn remove(&mut self, goes: &mut Chooser<'_>, why: DropReason, cx: &mut Cx<'_>) {
        let mut gone = std::mem::take(&mut self.gone);
        let all = self.stores.iter().zip(0..);
        gone.extend(all.flat_map(|(store, q)| store.iter().zip(0..).map(move |(head, place)| (*head, q, place))));
        gone.sort_unstable_by_key(|(head, q, place)| (head.since, *q, *place));
        gone.retain(|(head, ..)| goes(head, cx));
        gone.sort_unstable_by_key(|(_, q, place)| (*q, *place));
        self.spared.retain(|id| !gone.iter().any(|(head, ..)| head.id == *id));
        for of_queue in gone.chunk_by(|a, b| a.1 == b.1) {
            let q = of_queue[0].1;
            let (store, draws, each) = (&mut self.stores[q], &mut self.draws, &self.each);
            cx.watched(&mut self.totals[q], |cx| {
                let mut next = of_queue.iter().map(|(head, ..)| head.id).peekable();
                let lent = Lent::new(each, store, draws, cx);
                lent.remove(&mut Decided(Verdict::Pass), |head, _| next.next_if_eq(&head.id).is_some(), why);
            });
        }
        gone.clear();
        self.gone = gone;
    }

    /// The probability and its time stay, and so do the queues that packets wait in.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        const FIXED: [&str; 3] = ["profile", "classify", "filter"];
        if let Some(key) = FIXED.into_iter().find(|k| set.contains_key(*k)) {
            return Err(ConfigError::new(key, set[key].to_string(), "two queues as they are"));
        }
        let now = serde_json::to_value(&self.params).expect("parameters are plain data with text keys");
        let set = refill_gains(set, now.as_object().expect("they are a table"));
        params::setting(&self.params, &set)
    }
    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.catch_up(cx.now);
        self.params = new.get();
        self.control.goes_on_as(&self.params);
        (self.limits, self.shares) = (self.params.limits(self.rate), self.params.shares());
        self.shrink(cx);
        Ok(())
    }

    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        let p = self.control.p();
        out("aqm_p_ratio", p * p);
        out("aqm_base_p_ratio", p);
        out("aqm_coupled_p_ratio", (self.params.coupling * p).min(1.0));
    }

    fn report(&self, out: &mut dyn Metrics) {
        out.value("step_marks_packets", self.step_marks_packets as f64);
        for (q, name) in NAMES.into_iter().enumerate() {
            out.class(name, &self.totals[q], self.stores[q].backlog());
        }
    }
}
