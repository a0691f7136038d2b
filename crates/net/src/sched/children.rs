//! The disciplines inside a classful one: what they hold together, and when the first of them wants to be woken.

use crate::build::{BuildCx, Kind};
use crate::params::Complete;
use crate::queue::{Backlog, BoxQueue, Chooser, Head, Removal};
use crosswind_base::{
    BitRate, ClassTotals, ConfigError, Cx, DropReason, Dur, Histogram, Metrics, PacketId, Past, Setting, Time,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The table of a queue inside another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Inner(pub Value);

impl Default for Inner {
    fn default() -> Inner {
        Inner(Kind::Queue.default_type().into())
    }
}

impl JsonSchema for Inner {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Inner".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"$ref": "#/$defs/queue"})
    }
}

impl Inner {
    /// Fills in all defaults; `path` is where the table stands.
    pub fn complete(&mut self, path: &str, inside: &Complete) -> Result<(), ConfigError> {
        self.0 = inside(Kind::Queue, &self.0, path)?;
        Ok(())
    }
}

/// The keys of an inner queue that are to change, taken out of those of the queue around it.
pub fn inner_keys(set: &mut Map<String, Value>) -> Result<Option<Map<String, Value>>, ConfigError> {
    let Some(queue) = set.shift_remove("queue") else { return Ok(None) };
    let wrong = || ConfigError::new("queue", queue.to_string(), "a table of the keys that change");
    queue.as_object().cloned().map(Some).ok_or_else(wrong)
}

/// Calls `one` with the number of each class under `class` and its keys; other keys are refused.
pub fn for_classes(
    set: &Map<String, Value>,
    names: &[String],
    mut one: impl FnMut(usize, &Map<String, Value>) -> Result<(), ConfigError>,
) -> Result<(), ConfigError> {
    let mut others = set.clone();
    let classes = others.shift_remove("class").unwrap_or_default();
    if !others.is_empty() {
        return Err(ConfigError::cannot_change(&others));
    }
    for (name, keys) in classes.as_object().into_iter().flatten() {
        let path = format!("class.{name}");
        let i = names.iter().position(|n| n == name).ok_or_else(|| {
            let valid: Vec<&str> = names.iter().map(String::as_str).collect();
            ConfigError::unknown(&path, name, "a class of this queue", &valid)
        })?;
        let wrong = || ConfigError::new(&path, keys.to_string(), "a table of the keys that change");
        one(i, keys.as_object().ok_or_else(wrong)?).map_err(|e| e.under(&path))?;
    }
    Ok(())
}

/// New parameters of the queues of classes, by number; a class has nothing else that can change.
pub fn read_queues(
    set: &Map<String, Value>,
    names: &[String],
    classes: &Children,
) -> Result<Vec<(usize, Setting)>, ConfigError> {
    let mut all = Vec::new();
    for_classes(set, names, |class, keys| {
        let mut own = keys.clone();
        if let Some(queue) = inner_keys(&mut own)? {
            all.push((class, classes.read_change(class, &queue)?));
        }
        if own.is_empty() { Ok(()) } else { Err(ConfigError::cannot_change(&own)) }
    })?;
    Ok(all)
}

/// Where an inner queue stands in its scenario, and how fast it is emptied at most.
pub struct Place<'a> {
    /// The name of the class, part of the names of random streams. Empty for a queue without a class.
    pub class: &'a str,
    pub path: &'a str,
    pub rate_max: Option<BitRate>,
}

struct Slot {
    /// Empty for a queue that is not one of several classes.
    class: String,
    totals: ClassTotals,
    disc: BoxQueue,
    backlog: Backlog,
    wake: Time,
}

/// Values of one name, added up, in the order in which the names came first.
#[derive(Default)]
pub struct Sums(Vec<(&'static str, f64)>);

impl Sums {
    pub fn tell(self, out: &mut dyn Metrics) {
        self.0.into_iter().for_each(|(name, v)| out.value(name, v));
    }
}

impl Metrics for Sums {
    fn value(&mut self, name: &'static str, v: f64) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += v,
            None => self.0.push((name, v)),
        }
    }
    fn histogram(&mut self, _: &'static str, _: &Histogram) {}
}

/// What the queue of a class says: values to be added up, and classes inside the class.
struct Below<'a> {
    sums: Sums,
    class: &'a str,
    out: &'a mut dyn Metrics,
}

impl Metrics for Below<'_> {
    fn value(&mut self, name: &'static str, v: f64) {
        self.sums.value(name, v);
    }
    fn histogram(&mut self, _: &'static str, _: &Histogram) {}
    fn class(&mut self, name: &str, totals: &ClassTotals, holds: Backlog) {
        if self.class.is_empty() {
            return self.out.class(name, totals, holds);
        }
        self.out.class(&format!("{}/{name}", self.class), totals, holds);
    }
}

/// Queues by number.
#[derive(Default)]
pub struct Children {
    slots: Vec<Slot>,
    backlog: Backlog,
    wake: Time,
}

impl Children {
    pub fn new() -> Children {
        Children { slots: Vec::new(), backlog: Backlog::default(), wake: Time::NEVER }
    }

    /// Builds one more; its number is the count of those before it.
    pub fn add(&mut self, inner: &Inner, place: &Place<'_>, cx: &BuildCx<'_>) -> Result<(), ConfigError> {
        let component = cx.below(place.class);
        let disc = cx.elements().queue(&inner.0, place.path, &cx.inside(&component, place.rate_max))?;
        let (class, totals) = (place.class.to_string(), ClassTotals::default());
        self.slots.push(Slot { class, totals, disc, backlog: Backlog::default(), wake: Time::NEVER });
        Ok(())
    }

    #[inline]
    pub fn enqueue(&mut self, i: usize, id: PacketId, cx: &mut Cx<'_>) {
        let slot = &mut self.slots[i];
        if slot.class.is_empty() {
            slot.disc.enqueue(id, cx);
        } else {
            slot.totals.arrived(u32::from(cx.packet(id).len));
            cx.watched(&mut slot.totals, |cx| slot.disc.enqueue(id, cx));
        }
        self.refresh(i);
    }

    #[inline]
    pub fn dequeue(&mut self, i: usize, cx: &mut Cx<'_>) -> Option<Head> {
        let slot = &mut self.slots[i];
        let head = cx.watched(&mut slot.totals, |cx| slot.disc.dequeue(cx));
        if let Some(head) = head.filter(|_| !slot.class.is_empty()) {
            slot.totals.sent(head.len, head.since, cx.now);
        }
        self.refresh(i);
        head
    }

    /// The same, without asking a queue that holds nothing.
    #[inline]
    pub fn dequeue_if_any(&mut self, i: usize, cx: &mut Cx<'_>) -> Option<Head> {
        if self.holds_nothing(i) { None } else { self.dequeue(i, cx) }
    }

    /// What the next `dequeue` of this one will give, where that is known beforehand.
    #[inline]
    pub fn peek(&self, i: usize) -> Option<Head> {
        self.slots[i].disc.peek()
    }

    /// Wakes those whose time has come.
    pub fn wake(&mut self, cx: &mut Cx<'_>) {
        for i in 0..self.slots.len() {
            if self.slots[i].wake <= cx.now {
                let slot = &mut self.slots[i];
                cx.watched(&mut slot.totals, |cx| slot.disc.wake(cx));
                self.refresh(i);
            }
        }
    }

    /// New values for some parameters of one of them.
    pub fn read_change(&self, i: usize, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        self.slots[i].disc.read_change(set).map_err(|e| e.under("queue"))
    }

    /// What one of them has read holds from now on.
    pub fn change(&mut self, i: usize, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let slot = &mut self.slots[i];
        let done = cx.watched(&mut slot.totals, |cx| slot.disc.change(new, cx)).map_err(|e| e.under("queue"));
        self.refresh(i);
        done
    }

    /// What all of them know of the past; see [`QueueDisc::past`](crate::queue::QueueDisc::past).
    pub fn past(&mut self, now: Time) -> Option<Past> {
        self.slots.iter_mut().map(|s| s.disc.past(now)).collect::<Option<Vec<Past>>>().map(Past::new)
    }

    pub fn resume(&mut self, past: Past, gap: Dur) {
        let of_each: Vec<Past> = past.get();
        self.slots.iter_mut().zip(of_each).for_each(|(slot, past)| slot.disc.resume(past, gap));
    }

    /// Whether all of them can give up packets from their middle.
    pub fn removal(&self) -> Removal {
        let all_can = self.slots.iter().all(|s| s.disc.removal() == Removal::Possible);
        if all_can { Removal::Possible } else { Removal::Impossible }
    }

    /// Asks about the packets of all, the oldest first; of packets that came at one time, those of the earlier class. Drops those
    /// that are chosen. `room` is empty before and after.
    pub fn remove(&mut self, goes: &mut Chooser<'_>, why: DropReason, cx: &mut Cx<'_>, room: &mut Vec<Head>) {
        for slot in &mut self.slots {
            slot.disc.remove(
                &mut |head, _| {
                    room.push(*head);
                    false
                },
                why,
                cx,
            );
        }
        room.sort_by_key(|head| head.since);
        room.retain(|head| goes(head, cx));
        room.sort_unstable_by_key(|head| head.id.0);
        for i in 0..self.slots.len() {
            let slot = &mut self.slots[i];
            let mut is_chosen = |head: &Head, _: &Cx<'_>| room.binary_search_by_key(&head.id.0, |r| r.id.0).is_ok();
            cx.watched(&mut slot.totals, |cx| slot.disc.remove(&mut is_chosen, why, cx));
            self.refresh(i);
        }
        room.clear();
    }

    #[inline]
    fn refresh(&mut self, i: usize) {
        let slot = &mut self.slots[i];
        let now = slot.disc.backlog();
        self.backlog.bytes = self.backlog.bytes + now.bytes - slot.backlog.bytes;
        self.backlog.packets = self.backlog.packets + now.packets - slot.backlog.packets;
        slot.backlog = now;
        let wake = slot.disc.next_wake().unwrap_or(Time::NEVER);
        if wake != slot.wake {
            slot.wake = wake;
            self.wake = self.slots.iter().map(|s| s.wake).min().unwrap_or(Time::NEVER);
        }
    }

    /// The totals of the classes, and those that queues inside have of their own; of the latter, those of one name are added up.
    pub fn report(&self, out: &mut dyn Metrics) {
        let mut sums = Sums::default();
        for s in &self.slots {
            if !s.class.is_empty() {
                out.class(&s.class, &s.totals, s.backlog);
            }
            let mut below = Below { sums, class: &s.class, out: &mut *out };
            s.disc.report(&mut below);
            sums = below.sums;
        }
        sums.tell(out);
    }

    /// Momentary values of one of them.
    pub fn sample(&self, i: usize, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.slots[i].disc.sample(now, out);
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.slots.len()
    }
    #[inline]
    pub fn holds_nothing(&self, i: usize) -> bool {
        self.slots[i].backlog.packets == 0
    }
    /// What all of them hold.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }
    /// When the first of them wants to be woken.
    #[inline]
    pub fn next_wake(&self) -> Time {
        self.wake
    }
}
