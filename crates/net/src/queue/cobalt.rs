//! # COBALT
//!
//! **Source**: linux-sch-cake (`cobalt_*` of sch_cake.c; profile `linux`); palmei-2019; ns3-cobalt (profile `ns3`).
//!
//! **Idea**: CoDel for flows that listen and BLUE for those that do not, both at work all the time. Packets that waited longer than
//! `target` are marked or dropped at CoDel's pace, `interval / sqrt(count)` apart. Below the target `count` goes down at the same pace,
//! so nothing is forgotten at once. When the queue overflows a drop probability grows by `increment`, when it runs empty it falls by
//! `decrement`, not more often than once per `target`; BLUE drops and never marks.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `profile` | - | linux | `linux` has the first pick of a fresh queue with the next packet above the target and never drops the last packet; `ns3` has it one interval later, and drops the last |
//! | `limit` | bytes or packets | 1000 packets | ns3-cobalt (1000 packets of 1500 bytes); in CAKE the limit is that of all queues |
//! | `target` | time | 5 ms | linux-sch-cake |
//! | `interval` | time | 100 ms | linux-sch-cake |
//! | `increment` | - | 0.00390625 | linux-sch-cake: 2^24 of 2^32 |
//! | `decrement` | - | 0.000244140625 | linux-sch-cake: 2^20 of 2^32 |
//! | `blue_threshold` | time | none (`linux`), 400 ms (`ns3`) | ns3-cobalt: a longer wait makes the probability grow as an overflow does |
//! | `ce_threshold` | time | none | `ns3` only: an ECN-capable packet that waited longer is marked, where the law has not marked it |
//! | `l4s` | - | false | `ns3` only: packets with ECT(1) or CE are marked above `ce_threshold`, and neither law sees them; the others are not marked by it |
//! | `ecn` | - | mark | linux-sch-cake |
//!
//! **Deviations**: 1. The link asks for a packet when something waits. A kernel asks once more, and so learns that the queue is empty:
//! here that question comes with the last packet. 2. The probability has 32 bits in both profiles; ns-3 has a real number. 3. Random
//! numbers are not the kernel's.
//!
//! **Checked by**: oracle `cobalt` on random traces, both profiles, with and without the threshold; roots, pace and first picks of `crates/testkit/tests/cobalt.rs`;
//! conformance suite.

use super::Head;
use super::aqm::{Aqm, AqmQueue, Arrival, EcnMode, Lent, Setup};
use crate::params::{self, Params};
use crate::switch::Switch;
use crosswind_base::{ConfigError, DropReason, Dur, Ecn, Limit, Metrics, Rng, Setting, Time, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Whose COBALT it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// That of the kernel's CAKE.
    #[default]
    Linux,
    /// That of ns-3.
    Ns3,
}

/// Parameters of COBALT.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CobaltParams {
    /// Whose COBALT it is.
    pub profile: Profile,
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// A wait that may last; also the least time between two changes of the probability.
    pub target: Dur,
    /// The time between the first two picks.
    pub interval: Dur,
    /// What the probability gains when the queue overflows.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub increment: f64,
    /// What the probability loses when the queue is empty.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub decrement: f64,
    /// A wait that counts as an overflow, or "none".
    pub blue_threshold: Switch<Dur>,
    /// A wait above which ECN-capable packets are marked although the law has not selected them, or "none".
    pub ce_threshold: Switch<Dur>,
    /// Packets with ECT(1) or CE see nothing but `ce_threshold`, and no others see that.
    pub l4s: bool,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
}

impl Default for CobaltParams {
    fn default() -> Self {
        CobaltParams {
            profile: Profile::Linux,
            limit: Limit::Packets(1000),
            target: Dur::from_millis(5),
            interval: Dur::from_millis(100),
            increment: 1.0 / 256.0,
            decrement: 1.0 / 4096.0,
            blue_threshold: Switch::Off,
            ce_threshold: Switch::Off,
            l4s: false,
            ecn: EcnMode::Mark,
        }
    }
}

impl Params for CobaltParams {
    fn fill(written: &mut Map<String, Value>) {
        if written.get("profile").is_some_and(|p| p == "ns3") {
            written.entry("blue_threshold").or_insert_with(|| "400 ms".into());
        }
    }
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        params::check_range("increment", self.increment, 0.0..=1.0)?;
        params::check_range("decrement", self.decrement, 0.0..=1.0)?;
        params::check_delay("blue_threshold", self.blue_threshold.as_ref().copied().unwrap_or_default())?;
        params::check_delay("ce_threshold", self.ce_threshold.as_ref().copied().unwrap_or_default())?;
        if self.profile == Profile::Linux && !self.ce_threshold.is_off() {
            let found = self.ce_threshold.as_ref().map_or_else(String::new, |d| units::show_dur(*d));
            return Err(ConfigError::new("ce_threshold", found, "the profile `ns3`, which has it, or none"));
        }
        if self.l4s && self.ce_threshold.is_off() {
            return Err(ConfigError::new("l4s", "true", "a `ce_threshold`, by which such packets are marked"));
        }
        self.law().check()
    }
}

impl CobaltParams {
    fn of(law: &CobaltLaw, setup: &Setup) -> CobaltParams {
        let share = |p: u32| f64::from(p) / WHOLE;
        CobaltParams {
            profile: law.profile,
            limit: setup.limit,
            target: law.target,
            interval: law.interval,
            increment: share(law.increment),
            decrement: share(law.decrement),
            blue_threshold: law.blue_threshold.map_or(Switch::Off, Switch::On),
            ce_threshold: law.ce_threshold.map_or(Switch::Off, Switch::On),
            l4s: law.l4s,
            ecn: setup.ecn,
        }
    }
    fn law(&self) -> CobaltLaw {
        // A conversion that would not fit stops at the largest value.
        let part = |p: f64| (p * WHOLE).round() as u32;
        CobaltLaw {
            profile: self.profile,
            target: self.target,
            interval: self.interval,
            increment: part(self.increment),
            decrement: part(self.decrement),
            blue_threshold: self.blue_threshold.as_ref().copied(),
            ce_threshold: self.ce_threshold.as_ref().copied(),
            l4s: self.l4s,
            least_wait: Dur::ZERO,
        }
    }
}

/// A probability of one, in units of the kernel.
const WHOLE: f64 = 4_294_967_296.0;

/// What the law goes by, in a queue of its own or in one of many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CobaltLaw {
    pub profile: Profile,
    pub target: Dur,
    pub interval: Dur,
    /// In units of 2^-32.
    pub increment: u32,
    pub decrement: u32,
    pub blue_threshold: Option<Dur>,
    /// A longer wait is marked.
    pub ce_threshold: Option<Dur>,
    /// Packets of scalable senders see nothing else.
    pub l4s: bool,
    /// A wait that is no longer is never above the target: a few packets on a slow link.
    pub least_wait: Dur,
}

impl CobaltLaw {
    /// The law of CAKE: defaults but for target and interval.
    pub fn of_cake(target: Dur, interval: Dur, least_wait: Dur) -> CobaltLaw {
        CobaltLaw { target, interval, least_wait, ..CobaltParams::default().law() }
    }
    /// Spans that the law can work with: an interval has 32 bits, in nanoseconds.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (key, span) in [("target", self.target), ("interval", self.interval)] {
            if !(Dur::from_micros(2)..=Dur::from_secs(4)).contains(&span) {
                return Err(ConfigError::new(key, units::show_dur(span), "from 2 us to 4 s"));
            }
        }
        Ok(())
    }
}

/// Counts whose roots are looked up.
const KNOWN: usize = 16;

/// One Newton step towards `2^32 / sqrt(count)`.
const fn newton_step(root: u32, count: u32) -> u32 {
    let square = (root as u64 * root as u64) >> 32;
    let rest = (3u64 << 32).wrapping_sub((count as u64).wrapping_mul(square)) >> 2;
    (rest.wrapping_mul(root as u64) >> 31) as u32
}

/// Four steps each, from the root of the count before.
const ROOTS: [u32; KNOWN] = {
    let mut roots = [u32::MAX; KNOWN];
    let (mut root, mut count) = (u32::MAX, 1);
    while count < KNOWN {
        let mut step = 0;
        while step < 4 {
            root = newton_step(root, count as u32);
            step += 1;
        }
        roots[count] = root;
        count += 1;
    }
    roots
};

/// `2^32 / sqrt(count)`, about; `root` is that of a count next to it.
pub fn root_of(count: u32, root: u32) -> u32 {
    ROOTS.get(count as usize).copied().unwrap_or_else(|| newton_step(root, count))
}

/// The packet says that its sender is a scalable one, or does not say that it is not.
fn is_scalable(ecn: Ecn) -> bool {
    matches!(ecn, Ecn::Ect1 | Ecn::Ce)
}

/// What comes of a packet that is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pick {
    Keep,
    /// CoDel has selected it: mark it, or drop it where it cannot be marked.
    Signal,
}

/// What became of the packet at the head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Looked {
    Leaves(Head),
    Dropped(Head),
    Empty,
}

/// The law.
#[derive(Clone, Debug)]
pub struct Cobalt {
    law: CobaltLaw,
    count: u32,
    root: u32,
    /// When the next packet is due; without a count, until when the law is at work.
    drop_next: Time,
    is_dropping: bool,
    p_drop: u32,
    /// When the probability changed last.
    blue_at: Option<Time>,
    sojourn: Dur,
    blue_drops_packets: u64,
    threshold_marks_packets: u64,
}

impl Cobalt {
    pub fn new(law: CobaltLaw) -> Cobalt {
        let root = if law.profile == Profile::Linux { 0 } else { u32::MAX };
        Cobalt {
            law,
            count: 0,
            root,
            drop_next: Time::ZERO,
            is_dropping: false,
            p_drop: 0,
            blue_at: None,
            sojourn: Dur::ZERO,
            blue_drops_packets: 0,
            threshold_marks_packets: 0,
        }
    }

    /// Another law with the same past; the profile stays.
    pub fn continue_as(&mut self, law: CobaltLaw) -> Result<(), ConfigError> {
        if law.profile != self.law.profile {
            return Err(ConfigError::new("profile", "another profile", "the profile as it is"));
        }
        self.set(law);
        Ok(())
    }
    /// The same for a law of the same profile.
    pub fn set(&mut self, law: CobaltLaw) {
        self.law = law;
    }

    /// Packets that it has selected, less those forgotten, and the drop probability in units of 2^-32.
    pub fn state(&self) -> (u32, u32) {
        (self.count, self.p_drop)
    }
    /// It would treat a new flow as a fresh law does.
    #[inline]
    pub fn is_at_rest(&self, now: Time) -> bool {
        self.count == 0 && self.p_drop == 0 && now >= self.drop_next
    }
    /// BLUE is at work.
    pub fn is_unresponsive(&self) -> bool {
        self.p_drop > 0
    }

    /// The count has changed: its root and the next time follow.
    #[inline]
    fn schedule(&mut self, count: u32) {
        self.count = count;
        self.root = root_of(count, self.root);
        self.drop_next = self.after(self.drop_next);
    }
    #[inline]
    fn after(&self, t: Time) -> Time {
        t + Dur((self.law.interval.0 * u64::from(self.root)) >> 32)
    }
    #[inline]
    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.drop_next
    }
    #[inline]
    fn may_change_blue(&self, now: Time) -> bool {
        self.blue_at.is_none_or(|at| now.since(at) > self.law.target)
    }
    fn raise_blue(&mut self, now: Time) {
        if self.may_change_blue(now) {
            self.p_drop = self.p_drop.saturating_add(self.law.increment);
            self.blue_at = Some(now);
        }
    }

    /// The queue holds too much.
    pub fn on_overflow(&mut self, now: Time) {
        self.raise_blue(now);
        (self.is_dropping, self.drop_next) = (true, now);
        self.count = self.count.max(1);
    }

    /// The queue was asked for a packet and had none.
    pub fn on_empty(&mut self, now: Time) {
        if self.p_drop > 0 && self.may_change_blue(now) {
            self.p_drop = self.p_drop.saturating_sub(self.law.decrement);
            self.blue_at = Some(now);
        }
        self.is_dropping = false;
        if self.is_due(now) {
            self.schedule(self.count - 1);
        }
    }

    /// CoDel's part: whether the packet that has waited so long is selected, and whether the schedule lies behind.
    fn look(&mut self, now: Time, waited: Dur, least: Dur) -> (Pick, bool) {
        let is_due = self.is_due(now);
        let mut is_late = now > self.drop_next;
        self.sojourn = waited;
        if waited > self.law.target && waited > least {
            if !self.is_dropping {
                (self.is_dropping, self.drop_next) = (true, self.after(now));
            }
            self.count = self.count.max(1);
        } else {
            self.is_dropping = false;
        }
        if !is_due {
            return (Pick::Keep, is_late);
        }
        if self.is_dropping {
            self.schedule(self.count.saturating_add(1));
            return (Pick::Signal, now > self.drop_next);
        }
        while self.is_due(now) {
            self.schedule(self.count - 1);
            is_late = now > self.drop_next;
        }
        (Pick::Keep, is_late)
    }

    /// Whether a packet that was taken out is to go; it may have been marked. `least`: a wait that is short here.
    fn is_to_go(&mut self, head: &Head, least: Dur, q: &mut Lent<'_, '_, Rng>) -> bool {
        let (now, waited) = (q.now(), q.now().since(head.since));
        if self.law.l4s && is_scalable(q.packet(head).ecn()) {
            self.mark_above_threshold(head, waited, q);
            return false;
        }
        let (pick, is_late) = self.look(now, waited, least.max(self.law.least_wait));
        let is_marked = pick == Pick::Signal && q.setup().ecn == EcnMode::Mark && q.mark_if_capable(head);
        let mut goes = pick == Pick::Signal && !is_marked;
        if !is_marked && !self.law.l4s && q.setup().ecn == EcnMode::Mark {
            self.mark_above_threshold(head, waited, q);
        }
        if self.law.blue_threshold.is_some_and(|t| waited > t) {
            self.raise_blue(now);
        }
        if self.p_drop > 0 && ((q.draws.bits() >> 32) as u32) < self.p_drop {
            self.blue_drops_packets += u64::from(!goes);
            goes = true;
        }
        if self.count == 0 {
            self.drop_next = now + self.law.interval;
        } else if is_late && !goes {
            self.drop_next = now;
        }
        goes
    }

    /// Marks what has waited longer than may be.
    fn mark_above_threshold(&mut self, head: &Head, waited: Dur, q: &mut Lent<'_, '_, Rng>) {
        if self.law.ce_threshold.is_some_and(|t| waited > t) && q.mark_if_capable(head) {
            self.threshold_marks_packets += 1;
        }
    }

    /// Looks at the packet at the head. `least`: a wait that is short here, whatever the target is.
    #[inline]
    pub fn look_at_head(&mut self, least: Dur, q: &mut Lent<'_, '_, Rng>) -> Looked {
        let Some(head) = q.pop() else {
            self.on_empty(q.now());
            return Looked::Empty;
        };
        let is_spared = self.law.profile == Profile::Linux && q.backlog().packets == 0;
        if !self.is_to_go(&head, least, q) || is_spared {
            return Looked::Leaves(head);
        }
        q.drop(head, DropReason::EarlyDrop);
        Looked::Dropped(head)
    }
}

impl Aqm for Cobalt {
    type Draws = Rng;

    fn on_refused(&mut self, a: &Arrival, why: DropReason) {
        if why == DropReason::QueueFull {
            self.on_overflow(a.now);
        }
    }
    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, Rng>) -> Option<Head> {
        loop {
            match self.look_at_head(Dur::ZERO, q) {
                Looked::Leaves(head) => {
                    if q.backlog().packets == 0 {
                        self.on_empty(q.now());
                    }
                    return Some(head);
                }
                Looked::Dropped(_) => {}
                Looked::Empty => return None,
            }
        }
    }
    fn on_cut(&mut self, _packets: u32, now: Time) {
        self.on_overflow(now);
    }
    fn change(&mut self, new: &Setting, _q: &mut Lent<'_, '_, Rng>) -> Result<Setup, ConfigError> {
        let new: CobaltParams = new.get();
        self.continue_as(new.law())?;
        Ok(Setup::fits(new.limit, new.ecn))
    }
    fn read_change(&self, set: &Map<String, Value>, setup: &Setup) -> Result<Setting, ConfigError> {
        params::setting(&CobaltParams::of(&self.law, setup), set)
    }
    fn gives_oldest(&self) -> bool {
        false
    }
    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        out("codel_sojourn_ns", self.sojourn.0 as f64);
        out("codel_count_packets", f64::from(self.count));
        out("aqm_p_ratio", f64::from(self.p_drop) / WHOLE);
    }
    fn report(&self, out: &mut dyn Metrics) {
        out.value("blue_drops_packets", self.blue_drops_packets as f64);
        if self.law.ce_threshold.is_some() {
            out.value("threshold_marks_packets", self.threshold_marks_packets as f64);
        }
    }
}

/// A queue with COBALT.
pub fn queue(p: &CobaltParams, rng: Rng) -> AqmQueue<Cobalt> {
    AqmQueue::around(Cobalt::new(p.law()), Setup::fits(p.limit, p.ecn), rng)
}
