//! # Token bucket filter
//!
//! **Source**: linux-sch-tbf; jarvinen-2006 section 2.4 (the audio class: 32 kbit/s, bucket of one packet).
//!
//! **Idea**: a bucket of `burst` bytes fills at `rate`. The first packet of the inner queue leaves as soon as the bucket
//! holds its length, which is then taken out. With `peak_rate` a second bucket of `mtu` bytes must hold it too. What
//! arrives waits in the inner queue, whatever that is. Metered at its arrival, a packet is told then when the bucket will
//! have let it pass, as if nothing stood behind the filter: time in which the line takes nothing overflows no bucket.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `rate` | bit/s | 1 Mbit/s | ours |
//! | `burst` | bytes | 1600 B | ours: one Ethernet frame; jarvinen-2006 uses one packet of 576 B |
//! | `peak_rate` | bit/s | none | linux-sch-tbf |
//! | `mtu` | bytes | 1600 B | bucket of `peak_rate`; as `burst` |
//! | `overhead` | bytes | 0 B | IP length is charged; riva-2003, from its finishing times |
//! | `mpu` | bytes | 0 B | linux-sch-tbf |
//! | `cell` | bytes | 1 B | lengths are rounded down to it, as in tc's table of 256 times: 8 B for packets up to 2047 B |
//! | `kbit` | bits | 1000 | 1024 in early versions of tc; every rate of this table is scaled by kbit/1000 |
//! | `metered` | - | departure | linux-sch-tbf; `arrival` is ours, for jarvinen-2006 section 2.4 |
//! | `queue` | - | droptail | the inner queue |
//!
//! **Deviations**: 1. A packet longer than a bucket could never leave; it is dropped on arrival and counted as not
//! fitting the queue. (The kernel does the same.) 2. Credit is exact; the kernel rounds it to nanoseconds and the bucket
//! to ticks of 64 ns, which is invisible. 3. An inner queue that does not say what it will give next has its head taken
//! out while the head waits for credit, so it sees a backlog that is one packet shorter. 4. Metered at arrival, an inner
//! queue that drops what waits in it passes that packet's place in time on to the next.
//!
//! **Checked by**: conformance suite; oracle `tbf` on random traces; the kernel's tbf (docs/validation-qos.md).

use super::bucket::Bucket;
use super::charge::{Charge, check_bucket, check_kbit, no_cell, scaled};
use super::children::{Children, Inner, Place, inner_keys};
use crate::build::BuildCx;
use crate::params::{self, Complete, Params};
use crate::queue::{Backlog, Head, QueueDisc};
use crosswind_base::{BitRate, ConfigError, Cx, DropReason, Dur, Metrics, PacketId, Past, Setting, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// When a packet is held against the buckets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metered {
    /// When it is the first in the queue and the line would take it: what the line does not take, a full bucket loses.
    #[default]
    Departure,
    /// When it arrives: it may leave once the buckets would have let it pass, had the line always been free.
    Arrival,
}

/// Parameters of the token bucket filter.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TbfParams {
    /// Rate at which the bucket fills: the long-term limit.
    pub rate: BitRate,
    /// Size of the bucket: what may leave at once after a pause.
    pub burst: Size,
    /// Rate that not even a burst exceeds; none when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_rate: Option<BitRate>,
    /// Size of the bucket of `peak_rate`.
    pub mtu: Size,
    /// Link-layer bytes charged with every packet beyond its IP length.
    pub overhead: Size,
    /// Least length that a packet is charged with.
    pub mpu: Size,
    /// Lengths are charged in whole multiples of this, rounded down: the cells of tc's rate table.
    pub cell: Size,
    /// Bits in a kbit: 1000, or 1024.
    pub kbit: u32,
    /// When packets are held against the buckets: when they could leave, or when they arrive.
    pub metered: Metered,
    /// Where packets wait.
    pub queue: Inner,
}

impl Default for TbfParams {
    fn default() -> Self {
        TbfParams {
            rate: BitRate(1_000_000),
            burst: Size(1600),
            peak_rate: None,
            mtu: Size(1600),
            overhead: Size(0),
            mpu: Size(0),
            cell: no_cell(),
            kbit: 1000,
            metered: Metered::Departure,
            queue: Inner::default(),
        }
    }
}

impl TbfParams {
    fn charge(&self) -> Charge {
        Charge { overhead: self.overhead, mpu: self.mpu, cell: self.cell }
    }
}

impl Params for TbfParams {
    fn complete(&mut self, inside: &Complete) -> Result<(), ConfigError> {
        self.queue.complete("queue", inside)
    }
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("rate", self.rate)?;
        check_bucket("burst", self.burst)?;
        check_bucket("mtu", self.mtu)?;
        check_kbit(self.kbit)?;
        self.charge().check()?;
        let Some(peak) = self.peak_rate else { return Ok(()) };
        params::check_rate("peak_rate", peak)?;
        if peak <= self.rate {
            let (found, least) = (crosswind_base::units::show_rate(peak), crosswind_base::units::show_rate(self.rate));
            return Err(ConfigError::new("peak_rate", found, format!("more than the rate ({least})")));
        }
        Ok(())
    }
}

/// The token bucket filter.
pub struct Tbf {
    params: Box<TbfParams>,
    charge: Charge,
    bucket: Bucket,
    peak: Option<Bucket>,
    /// What the smaller bucket holds.
    longest: u64,
    inner: Children,
    /// Taken out of an inner queue that could not be looked into.
    held: Option<Head>,
    /// When the head may leave, if it was refused last time.
    retry: Time,
    metered: Metered,
    /// Metered at arrival: when each packet of the inner queue may leave, and the last that was told.
    due: VecDeque<Time>,
    told: Time,
}

/// Builds the filter and its inner queue.
pub fn build(p: TbfParams, cx: &BuildCx<'_>) -> Result<Tbf, ConfigError> {
    let rate = scaled(p.rate, p.kbit);
    let mut inner = Children::new();
    inner.add(&p.queue, &Place { class: "", path: "queue", rate_max: Some(rate) }, cx)?;
    Ok(Tbf {
        charge: p.charge(),
        bucket: Bucket::new(rate, p.burst),
        peak: p.peak_rate.map(|peak| Bucket::new(scaled(peak, p.kbit), p.mtu)),
        longest: if p.peak_rate.is_some() { p.burst.0.min(p.mtu.0) } else { p.burst.0 },
        inner,
        held: None,
        retry: Time::NEVER,
        metered: p.metered,
        due: VecDeque::new(),
        told: Time::ZERO,
        params: Box::new(p),
    })
}

impl Tbf {
    /// From when on both buckets cover a length, seen from `now`.
    fn covered_from(&self, len: u64, now: Time) -> Time {
        let peak_from = self.peak.as_ref().map_or(now, |b| b.covers_from(len, now));
        self.bucket.covers_from(len, now).max(peak_from)
    }

    fn spend(&mut self, len: u64, at: Time) {
        self.bucket.spend(len, at, Dur::ZERO);
        if let Some(b) = &mut self.peak {
            b.spend(len, at, Dur::ZERO);
        }
    }

    /// Tells a packet that has just been taken in when it may leave: in its turn, and with credit of its own.
    fn tell(&mut self, len: u64, now: Time) {
        self.told = self.covered_from(len, now.max(self.told));
        self.spend(len, self.told);
        self.due.push_back(self.told);
    }

    fn dequeue_told(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        let due = *self.due.front()?;
        if due > cx.now {
            self.retry = due;
            return None;
        }
        let head = self.inner.dequeue(0, cx);
        while self.due.len() > self.inner.backlog().packets as usize {
            self.due.pop_front();
        }
        head
    }
}

impl QueueDisc for Tbf {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let len = self.charge.of(cx.packet(id).len as u32);
        if len > self.longest {
            return cx.drop(id, DropReason::QueueFull);
        }
        let before = self.inner.backlog().packets;
        self.inner.enqueue(0, id, cx);
        if self.metered == Metered::Arrival && self.inner.backlog().packets > before {
            self.tell(len, cx.now);
        }
    }

    /// `queue` changes the queue inside. Credit stays as far as it fits; packets that were told at their arrival when to
    /// leave keep to it.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        let mut own = set.clone();
        let below = inner_keys(&mut own)?;
        let new: TbfParams = params::merged(&*self.params, &own)?;
        if (new.metered, new.peak_rate.is_some()) != (self.metered, self.peak.is_some()) {
            return Err(ConfigError::new(
                "peak_rate",
                "another kind of filter",
                "`metered` and the number of buckets as they are",
            ));
        }
        let below = below.map(|keys| self.inner.read_change(0, &keys)).transpose()?;
        Ok(Setting::new((new, below)))
    }
    fn change(&mut self, new: &Setting, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let (new, below): (TbfParams, Option<Setting>) = new.get();
        if let Some(below) = below {
            self.inner.change(0, &below, cx)?;
        }
        self.charge = new.charge();
        self.bucket.set(cx.now, scaled(new.rate, new.kbit), new.burst);
        if let (Some(bucket), Some(peak)) = (&mut self.peak, new.peak_rate) {
            bucket.set(cx.now, scaled(peak, new.kbit), new.mtu);
        }
        self.longest = if new.peak_rate.is_some() { new.burst.0.min(new.mtu.0) } else { new.burst.0 };
        self.retry = if self.retry == Time::NEVER { Time::NEVER } else { cx.now };
        *self.params = new;
        Ok(())
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        self.retry = Time::NEVER;
        if self.metered == Metered::Arrival {
            return self.dequeue_told(cx);
        }
        let known = self.held.or_else(|| self.inner.peek(0));
        let head = match known {
            Some(head) => head,
            None => {
                self.held = Some(self.inner.dequeue(0, cx)?);
                self.held?
            }
        };
        let len = self.charge.of(head.len);
        let from = self.covered_from(len, cx.now);
        if from > cx.now {
            self.retry = from;
            return None;
        }
        self.spend(len, cx.now);
        self.held.take().or_else(|| self.inner.dequeue(0, cx))
    }

    fn backlog(&self) -> Backlog {
        let inner = self.inner.backlog();
        let held = self.held.map_or(0, |h| h.len as u64);
        Backlog { bytes: inner.bytes + held, packets: inner.packets + self.held.is_some() as u32 }
    }

    fn next_wake(&self) -> Option<Time> {
        Some(self.retry.min(self.inner.next_wake())).filter(|at| *at != Time::NEVER)
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        if self.retry <= cx.now {
            self.retry = Time::NEVER;
        }
        self.inner.wake(cx);
    }

    fn past(&mut self, now: Time) -> Option<Past> {
        self.inner.past(now)
    }
    fn resume(&mut self, past: Past, gap: Dur) {
        self.inner.resume(past, gap)
    }

    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.inner.sample(0, now, out)
    }

    fn report(&self, out: &mut dyn Metrics) {
        self.inner.report(out)
    }
}
