//! # Lifetime packet discard
//!
//! **Source**: gurtov-2004 sections 5.1 to 5.3.
//!
//! **Idea**: a packet may say how long it is worth having. In front of a slow link it is of no use any more when
//! `remaining < 8 L / rate + delay`, the time that the link itself needs. What then becomes of it, it says itself: it is
//! discarded, goes on all the same, or goes on without its payload ("headercasting"). A lifetime that is relative is
//! written back without the time spent here.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `queue` | - | droptail | the queue whose packets are watched: gurtov-2004 uses drop-tail and RED |
//! | `looks` | - | always | gurtov-2004 figure 5.6: packets go while the link is blocked. `arrival`: when one arrives or leaves; `departure`: when one leaves |
//! | `rate` | bit/s | the link's | gurtov-2004 |
//! | `delay` | time | the link's | gurtov-2004 |
//!
//! **Deviations**: 1. What waits ahead of a packet is not counted in the time it still needs (the source's condition names the
//! link alone), so a packet may wait in vain for its turn. 2. Under `always` a packet that goes on without its payload keeps
//! its place and length in the queue until its turn.
//!
//! **Checked by**: oracle `lpd` on random traces; closed forms in `crates/sim/tests/lifetimes.rs`; conformance suite.

use super::{Backlog, BoxQueue, Chooser, Head, QueueDisc, Removal};
use crate::build::BuildCx;
use crate::params::{self, Complete, Params};
use crate::sched::children::{Inner, inner_keys};
use crosswind_base::packet::{Expired, Lifetime};
use crosswind_base::{BitRate, ConfigError, Cx, DropReason, Dur, Metrics, PacketId, Past, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When the queue looks for packets whose lifetime is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Looks {
    /// At the moment at which one is over, and whenever a packet arrives or leaves.
    #[default]
    Always,
    /// Whenever a packet arrives or leaves.
    Arrival,
    /// At a packet whose turn it is.
    Departure,
}

/// Parameters of lifetime packet discard.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LpdParams {
    /// The queue whose packets are watched.
    pub queue: Inner,
    /// When it looks for packets whose lifetime is over.
    pub looks: Looks,
    /// Rate at which packets leave; the link's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// How long a packet is under way after it has left; the link's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Dur>,
}

impl Default for LpdParams {
    fn default() -> Self {
        LpdParams { queue: Inner::default(), looks: Looks::Always, rate: None, delay: None }
    }
}

impl Params for LpdParams {
    fn complete(&mut self, inside: &Complete) -> Result<(), ConfigError> {
        self.queue.complete("queue", inside)
    }
    fn check(&self) -> Result<(), ConfigError> {
        self.rate.map_or(Ok(()), |r| params::check_rate("rate", r))?;
        self.delay.map_or(Ok(()), |d| params::check_delay("delay", d))
    }
}

/// A queue that knows of lifetimes.
pub struct Lpd {
    params: LpdParams,
    queue: BoxQueue,
    rate: BitRate,
    delay: Dur,
    /// When lifetimes in the queue are over, the earliest on top; some of these packets may have left.
    ends: BinaryHeap<Reverse<Time>>,
}

pub fn build(p: LpdParams, cx: &BuildCx<'_>) -> Result<Lpd, ConfigError> {
    let queue = cx.elements().queue(&p.queue.0, "queue", cx)?;
    if p.looks != Looks::Departure && queue.removal() == Removal::Impossible {
        let found = "a queue that gives out its packets in its own order only";
        return Err(ConfigError::new("queue", found, "a queue such as droptail or RED, or looks = \"departure\""));
    }
    let (rate, delay) = link_facts(&p, cx.link_rate(), cx.link_delay())?;
    Ok(Lpd { params: p, queue, rate, delay, ends: BinaryHeap::new() })
}

fn link_facts(p: &LpdParams, rate: Option<BitRate>, delay: Option<Dur>) -> Result<(BitRate, Dur), ConfigError> {
    let rate = p.rate.or(rate).ok_or_else(|| {
        ConfigError::new("rate", "nothing", "the rate of the link that empties this queue")
            .hint("it is taken from the link when the link has a `rate`")
    })?;
    Ok((rate, p.delay.or(delay).unwrap_or_default()))
}

/// The last moment at which a packet that has been here since then may leave and be in time.
fn last_moment(lifetime: Lifetime, since: Time, needs: Dur) -> Time {
    let end = match lifetime {
        Lifetime::Left(d) => since + d,
        Lifetime::Until(at) => at,
    };
    Time(end.0.saturating_sub(needs.0))
}

/// What a link of this rate and delay needs for so many bytes.
fn needs([rate, delay]: [u64; 2], len: u32) -> Dur {
    BitRate(rate).tx_time(u64::from(len)) + Dur(delay)
}

impl Lpd {
    /// Drops what is over.
    fn purge(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        if self.ends.peek().is_none_or(|Reverse(at)| *at >= now) {
            return;
        }
        while self.ends.peek().is_some_and(|Reverse(at)| *at < now) {
            self.ends.pop();
        }
        let facts = [self.rate.0, self.delay.0];
        let mut is_over = |head: &Head, cx: &Cx<'_>| {
            let life = cx.pool.ext(cx.packet(head.id)).and_then(|e| e.life);
            life.is_some_and(|l| {
                l.expired == Expired::Discard && last_moment(l.lifetime, head.since, needs(facts, head.len)) < now
            })
        };
        self.queue.remove(&mut is_over, DropReason::Expired, cx);
    }

    /// A packet whose turn it is, as it goes on; nothing when it is over and does not.
    fn goes_on(&mut self, mut head: Head, cx: &mut Cx<'_>) -> Option<Head> {
        let p = *cx.packet(head.id);
        let Some(mut life) = cx.pool.ext(&p).and_then(|e| e.life) else { return Some(head) };
        let is_over = last_moment(life.lifetime, head.since, needs([self.rate.0, self.delay.0], head.len)) < cx.now;
        if is_over && life.expired == Expired::Discard {
            cx.drop(head.id, DropReason::Expired);
            return None;
        }
        if is_over && life.expired == Expired::Headers && p.payload > 0 {
            life.is_cut = true;
            let bare = cx.pool.get_mut(head.id);
            bare.len -= bare.payload;
            bare.payload = 0;
            head.len = u32::from(bare.len);
        }
        if let Lifetime::Left(d) = life.lifetime {
            life.lifetime = Lifetime::Left(d.saturating_sub(cx.now.since(head.since)));
        }
        cx.pool.ext_mut(head.id).life = Some(life);
        Some(head)
    }
}

impl QueueDisc for Lpd {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        if self.params.looks != Looks::Departure {
            self.purge(cx);
            let p = cx.packet(id);
            let len = u32::from(p.len);
            if let Some(life) = cx.pool.ext(p).and_then(|e| e.life)
                && life.expired == Expired::Discard
            {
                let last = last_moment(life.lifetime, cx.now, needs([self.rate.0, self.delay.0], len));
                if last < cx.now {
                    return cx.drop(id, DropReason::Expired);
                }
                self.ends.push(Reverse(last));
            }
        }
        self.queue.enqueue(id, cx);
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        loop {
            let head = self.queue.dequeue(cx)?;
            if let Some(head) = self.goes_on(head, cx) {
                return Some(head);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn next_wake(&self) -> Option<Time> {
        let watches = self.params.looks == Looks::Always && self.queue.backlog().packets > 0;
        // It may still leave at its last moment, and is over a nanosecond later.
        let over = self.ends.peek().filter(|_| watches).map(|Reverse(at)| *at + Dur(1));
        [over, self.queue.next_wake()].into_iter().flatten().min()
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        if self.params.looks == Looks::Always {
            self.purge(cx);
        }
        if self.queue.next_wake().is_some_and(|at| at <= cx.now) {
            self.queue.wake(cx);
        }
    }

    fn removal(&self) -> Removal {
        self.queue.removal()
    }
    fn remove(&mut self, goes: &mut Chooser<'_>, why: DropReason, cx: &mut Cx<'_>) {
        self.queue.remove(goes, why, cx)
    }

    /// `queue` changes the queue inside; `rate` and `delay` are those of the link from now on.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        let mut own = set.clone();
        let inner = inner_keys(&mut own)?.map(|keys| self.queue.read_change(&keys).map_err(|e| e.under("queue")));
        let new: LpdParams = params::merged(&self.params, &own)?;
        Ok(Setting::new((new, inner.transpose()?)))
    }
    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let (new, inner): (LpdParams, Option<Setting>) = new.get();
        if let Some(inner) = inner {
            self.queue.change(&inner, cx).map_err(|e| e.under("queue"))?;
        }
        (self.rate, self.delay) = (new.rate.unwrap_or(self.rate), new.delay.unwrap_or(self.delay));
        self.params = new;
        self.purge(cx);
        Ok(())
    }

    fn past(&mut self, now: Time) -> Option<Past> {
        self.queue.past(now)
    }
    fn resume(&mut self, past: Past, gap: Dur) {
        self.queue.resume(past, gap)
    }

    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.queue.sample(now, out)
    }

    fn report(&self, out: &mut dyn Metrics) {
        self.queue.report(out)
    }
}
