//! # RED of Linux
//!
//! **Source**: linux-sch-red (kernels 2.4 and 2.6, the arithmetic of `red.h`); iproute2-tc-red (how `tc` rounds);
//! jarvinen-2006 Figures 2 and 3, Table 6 and appendix C.
//!
//! **Idea**: `qavg` holds `avg << w_log`; an arrival adds `backlog - (qavg >> w_log)`. Between the thresholds one is
//! selected when `((qavg - min) >> w_log) * count >= R`, `R` uniform below `(max_th - min_th) / max_p` and redrawn after
//! each pick: gaps are uniform on 1 to 1/p_b. After idle time damping replaces the update: `qavg >> table[t >> cell]`,
//! and where the table says 0, `qavg - min(qavg t >> cell, qavg / 2)`, `t` in microseconds.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | bytes or packets | 11520 B | jarvinen-2006 Table 6 |
//! | `admission` | - | fits | Linux since the later releases of 2.4; `linux-2.4` is how 2.4.0 tested |
//! | `overhead` | bytes | 0 B | what Linux counts for the link-layer header of each packet that waits: 14 B on an Ethernet |
//! | `ecn` | - | mark | jarvinen-2006: always on together with RED |
//! | `min_th` | bytes | 1728 B | jarvinen-2006 Table 6 |
//! | `max_th` | bytes | 5184 B | jarvinen-2006 Table 6 |
//! | `w_q` | 1 | 2^-9 | jarvinen-2006 Table 6; rounded to a power of two |
//! | `burst` | packets | - | instead of `w_q`: `tc` derives the weight from it |
//! | `w_log` | - | from `w_q` or `burst` | - |
//! | `max_p` | 1 | 0.1 | jarvinen-2006 Table 6 |
//! | `max_p_rounding` | - | none | ours (the source does not say); as Linux since 3.3 |
//! | `p_log` | - | from `max_p` when rounding is `tc-plog` | `tc`: doubles max_p/(max_th - min_th) until above 1 |
//! | `adaptive` | - | false | linux-sch-red (since 3.3); floyd-gummadi-shenker-2001: every half second `max_p` grows or shrinks as the average is above or below the middle fifth between the thresholds, from 1 % to 50 % |
//! | `avpkt` | bytes | 576 B | jarvinen-2006 Table 6 |
//! | `rate` | bit/s | the link's | - |
//! | `scell_log` | - | from `w_log`, `avpkt` and `rate` | `tc`: the smallest cell that covers the decay in 512 |
//! | `idle_damping` | - | fixed | jarvinen-2006 appendix C; `none` in a class of `htb` (linux-sch-red `red_dequeue`, linux-sch-htb `htb_dequeue_tree`) |
//!
//! **Deviations**: 1. Integers are 64 bits wide, so a large queue with a small weight does not overflow as it could on
//! 32-bit kernels; the one overflow that mattered is `idle_damping = "overflow32"`. 2. A packet that would be marked and
//! does not fit counts as dropped only. 3. The clock ticks in microseconds, not in the kernel's scheduler ticks.
//! 4. With `idle_damping = "exact"` the average decays by `(1 - 2^-w_log)^m`, m = idle time over the transmission time of
//! `avpkt`. The kernel's own line is much steeper when `tc` chose the cell: one idle second at 64 kbit/s leaves 76 %
//! of the average, where the exponential leaves 97 %. 5. Idle time begins when the last packet leaves; the kernel's when the queue is asked in
//! vain, at that moment where the device takes the packet at once. A class of `htb` is never asked in vain: `idle_damping = "none"` has to be said there.
//!
//! **Checked by**: conformance suite; oracle `red::Linux`; tests of claims 14 to 17 of jarvinen-2006.

use super::super::store::{Admission, check_overhead, no_bytes};
use super::law::{Arrival, EcnMode, Idle, Law, Limits, Verdict, check_common, check_weight};
use crate::params::{self, Params};
use crate::queue::aqm::Setup;
use crosswind_base::{BitRate, ConfigError, DropReason, Dur, Limit, Past, Rng, Setting, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How `max_p` reaches the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MaxPRounding {
    /// As it is written.
    #[default]
    None,
    /// As `(max_th - min_th) / 2^p_log`, which is between half of it and all of it.
    TcPlog,
}

/// How the average decays over idle time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleDamping {
    /// The kernel's table and line, with a product that is wide enough.
    #[default]
    Fixed,
    /// The same with the product cut to 32 bits, as kernels up to 2.6.15 at least computed it on 32-bit machines.
    Overflow32,
    /// The exponential that table and line stand for.
    Exact,
    /// None: the next arrival updates the average as any other does. So it is below `htb`, which never asks a leaf that holds nothing, and a
    /// RED of Linux takes note of idle time when it is asked in vain.
    None,
}

/// Parameters of RED as Linux has it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinuxParams {
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// Whether the limit is tested with the arriving packet (fits) or without it (overshoot, linux-2.4).
    pub admission: Admission,
    /// Link-layer bytes that count, in the limit and in the average, for every packet.
    #[serde(skip_serializing_if = "no_bytes")]
    pub overhead: Size,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
    /// Average queue below which no packet is selected.
    pub min_th: Size,
    /// Average queue from which every packet is selected.
    pub max_th: Size,
    /// Weight of one arrival in the average; rounded to a power of two.
    pub w_q: f64,
    /// Burst in packets that shall pass unselected; replaces `w_q` by the weight that `tc` derives from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// The weight as 2^-w_log; replaces `w_q` and `burst`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub w_log: Option<u32>,
    /// Probability of being selected just below `max_th`.
    pub max_p: f64,
    /// Whether `max_p` is rounded to what `tc` can express.
    pub max_p_rounding: MaxPRounding,
    /// The range of the random number as 2^p_log; replaces `max_p`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_log: Option<u32>,
    /// Whether `max_p` follows the average.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub adaptive: bool,
    /// Typical packet, for idle time.
    pub avpkt: Size,
    /// Rate at which the idle link could have sent; the link's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Width of a cell of the damping table, 2^scell_log microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scell_log: Option<u32>,
    /// How the average decays over idle time.
    pub idle_damping: IdleDamping,
}

impl Default for LinuxParams {
    fn default() -> Self {
        LinuxParams {
            limit: Limit::Bytes(11_520),
            admission: Admission::Fits,
            overhead: Size(0),
            ecn: EcnMode::Mark,
            min_th: Size(1728),
            max_th: Size(5184),
            w_q: 1.0 / 512.0,
            burst: None,
            w_log: None,
            max_p: 0.1,
            max_p_rounding: MaxPRounding::None,
            p_log: None,
            adaptive: false,
            avpkt: Size(576),
            rate: None,
            scell_log: None,
            idle_damping: IdleDamping::Fixed,
        }
    }
}

impl Params for LinuxParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        check_overhead(self.overhead)?;
        params::check_packet_size("avpkt", self.avpkt)?;
        check_weight(self.w_q)?;
        let th = Limits { min: self.min_th.0 as f64, max: self.max_th.0 as f64, unit: "B" };
        check_common(th, self.max_p, self.rate)?;
        for (key, value, range) in
            [("w_log", self.w_log, 0..=31), ("p_log", self.p_log, 0..=40), ("scell_log", self.scell_log, 0..=31)]
        {
            if let Some(v) = value.filter(|v| !range.contains(v)) {
                return Err(ConfigError::new(key, v.to_string(), format!("{} to {}", range.start(), range.end())));
            }
        }
        if self.weight_log().is_none() {
            let found = self.burst.map_or_else(|| self.w_q.to_string(), |b| b.to_string());
            let key = if self.burst.is_some() { "burst" } else { "w_q" };
            return Err(ConfigError::new(key, found, "a value that gives a weight from 2^-31 to 1")
                .hint("`burst` must be at least min_th / avpkt"));
        }
        if self.max_p_rounding == MaxPRounding::TcPlog && self.p_log.is_none() && self.random_range() >= 1 << 32 {
            return Err(ConfigError::new("max_p", self.max_p.to_string(), "a probability that 32 bits can express")
                .hint("tc finds an exponent from 0 to 31 for max_p / (max_th - min_th)"));
        }
        Ok(())
    }
}

impl LinuxParams {
    pub fn common(&self) -> Setup {
        Setup { admission: self.admission, overhead: self.overhead, ..Setup::fits(self.limit, self.ecn) }
    }

    /// The weight's exponent, however it was given.
    pub fn weight_log(&self) -> Option<u32> {
        if self.w_log.is_some() {
            return self.w_log;
        }
        match self.burst {
            Some(burst) => self.weight_log_of_burst(burst),
            None => Some((-self.w_q.log2()).round() as u32).filter(|w| *w <= 31),
        }
    }

    /// The largest weight 2^-n, n from 1, whose average stays below `min_th` while `burst` packets arrive at an empty
    /// queue: burst + 1 - min_th/avpkt <= (1 - (1 - w)^burst) / w.
    fn weight_log_of_burst(&self, burst: u32) -> Option<u32> {
        let target = burst as f64 + 1.0 - self.min_th.0 as f64 / self.avpkt.0 as f64;
        let reached = |n: &u32| {
            let w = 0.5f64.powi(*n as i32);
            target <= (1.0 - (1.0 - w).powf(burst as f64)) / w
        };
        if target < 1.0 { None } else { (1..32).find(reached) }
    }

    /// The random number lies below this: (max_th - min_th) / max_p, rounded as asked.
    pub fn random_range(&self) -> u64 {
        let span = (self.max_th.0 - self.min_th.0) as f64;
        match (self.p_log, self.max_p_rounding) {
            (Some(p_log), _) => 1 << p_log,
            (None, MaxPRounding::None) => (span / self.max_p).round() as u64,
            // The smallest power of two above span / max_p.
            (None, MaxPRounding::TcPlog) => {
                (0..63).map(|n| 1u64 << n).find(|r| *r as f64 * self.max_p > span).unwrap_or(1 << 63)
            }
        }
    }
}

/// The damping table: by how much to shift after so many cells of idle time.
pub(super) struct Damping {
    pub(super) cell_log: u32,
    pub(super) shifts: [u8; 256],
}

impl Damping {
    pub(super) fn new(params: &LinuxParams, w_log: u32, rate: BitRate) -> Damping {
        let tx_us = 8e6 * params.avpkt.0 as f64 / rate.as_f64();
        let decay_per_us = -(1.0 - 0.5f64.powi(w_log as i32)).ln() / tx_us;
        let fits = |cell_log: &u32| 31.0 / decay_per_us / 2f64.powi(*cell_log as i32) < 512.0;
        let cell_log = params.scell_log.unwrap_or_else(|| (0..32).find(fits).unwrap_or(31));
        let shift = |i: usize| ((i as f64 * 2f64.powi(cell_log as i32) * decay_per_us) as u64).min(31) as u8;
        let mut shifts = std::array::from_fn(shift);
        shifts[0] = 0;
        shifts[255] = 31;
        Damping { cell_log, shifts }
    }
}

/// A `max_p` that follows the average, as a timer of the kernel moves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Adaptive {
    /// In parts of 2^32.
    p: u64,
    next: Time,
    /// An average between these is left alone, bytes.
    target: [u64; 2],
}

impl Adaptive {
    const EVERY: Dur = Dur::from_millis(500);
    /// One percent, and a half.
    const LEAST: u64 = 42_949_673;
    const MOST: u64 = 50 * Adaptive::LEAST;

    fn new(params: &LinuxParams) -> Adaptive {
        let (min, span) = (params.min_th.0, params.max_th.0 - params.min_th.0);
        let p = (((span as f64) * 2f64.powi(32)) / params.random_range() as f64).round() as u64;
        Adaptive { p, next: Time::ZERO + Adaptive::EVERY, target: [min + span / 5 * 2, min + span / 5 * 3] }
    }

    fn step(&mut self, avg_bytes: u64) {
        if avg_bytes > self.target[1] && self.p <= Adaptive::MOST {
            self.p += (self.p / 4).min(Adaptive::LEAST);
        } else if avg_bytes < self.target[0] && self.p >= Adaptive::LEAST {
            self.p = self.p / 10 * 9;
        }
        self.next += Adaptive::EVERY;
    }

    /// The random number lies below this.
    fn range(&self, span: u64) -> u64 {
        (1 << 32) / ((self.p + span / 2) / span).max(1)
    }
}

/// The average, shifted by another weight: by the difference alone, so that the same weight leaves it as it is, to its last bit.
fn weighted(qavg: u64, old: u32, new: u32) -> u64 {
    if new >= old { qavg << (new - old) } else { qavg >> (old - new) }
}

/// The law of the kernel.
pub struct Linux {
    params: LinuxParams,
    rate: BitRate,
    w_log: u32,
    min: u64,
    max: u64,
    range: u64,
    adaptive: Option<Adaptive>,
    damping: Damping,
    idle_damping: IdleDamping,
    /// ln of what `avg` is multiplied by in a nanosecond of idle time.
    ln_decay_per_ns: f64,
    span: u64,
    /// avg << w_log.
    qavg: u64,
    /// Packets since the last pick; -1 outside the thresholds.
    qcount: i64,
    /// The random number to be reached.
    qr: u64,
    idle: Option<Idle>,
}

/// What outlives a run.
struct Known {
    qavg: u64,
    w_log: u32,
    qcount: i64,
    qr: u64,
    /// How long it has known of idle time.
    idle: Option<Dur>,
}

impl Linux {
    pub fn new(params: LinuxParams, rate: BitRate) -> Linux {
        let w_log = params.weight_log().expect("checked with the parameters");
        let tx_ns = 8e9 * params.avpkt.0 as f64 / rate.as_f64();
        Linux {
            w_log,
            min: params.min_th.0 << w_log,
            max: params.max_th.0 << w_log,
            range: params.random_range().max(1),
            adaptive: params.adaptive.then(|| Adaptive::new(&params)),
            damping: Damping::new(&params, w_log, rate),
            idle_damping: params.idle_damping,
            ln_decay_per_ns: (1.0 - 0.5f64.powi(w_log as i32)).ln() / tx_ns,
            span: params.max_th.0 - params.min_th.0,
            rate,
            qavg: 0,
            qcount: -1,
            qr: 0,
            idle: Some(Idle::begins(Time::ZERO)),
            params,
        }
    }

    /// What the average is after so much idle time.
    fn damped(&self, idle_ns: u64) -> u64 {
        if self.idle_damping == IdleDamping::Exact {
            return (self.qavg as f64 * (self.ln_decay_per_ns * idle_ns as f64).exp()) as u64;
        }
        let cell_log = self.damping.cell_log;
        let us = (idle_ns / 1000).min(255 << cell_log);
        let shift = self.damping.shifts[(us >> cell_log) as usize & 255];
        if shift > 0 {
            return self.qavg >> shift;
        }
        let less = match self.idle_damping {
            IdleDamping::Overflow32 => ((self.qavg as u32).wrapping_mul(us as u32) >> cell_log) as u64,
            _ => ((self.qavg as u128 * us as u128) >> cell_log) as u64,
        };
        self.qavg - less.min(self.qavg / 2)
    }

    /// The steps of an adaptive `max_p` that are due, each with the average of its time.
    fn adapt(&mut self, now: Time) {
        let Some(mut adaptive) = self.adaptive else { return };
        while adaptive.next <= now {
            let idle = self.idle.filter(|idle| idle.since <= adaptive.next);
            let qavg = idle.map_or(self.qavg, |idle| self.damped(idle.lasts(adaptive.next).0));
            adaptive.step(qavg >> self.w_log);
            self.range = adaptive.range(self.span);
        }
        self.adaptive = Some(adaptive);
    }
}

impl Law for Linux {
    fn arrive(&mut self, a: &Arrival, rng: &mut Rng) -> Verdict {
        self.adapt(a.now);
        match self.idle.take() {
            Some(idle) => self.qavg = self.damped(idle.lasts(a.now).0),
            None => self.qavg = self.qavg + a.backlog.bytes - (self.qavg >> self.w_log),
        }
        if self.qavg < self.min {
            self.qcount = -1;
            return Verdict::Pass;
        }
        if self.qavg >= self.max {
            self.qcount = -1;
            return Verdict::Signal(DropReason::ForcedDrop);
        }
        self.qcount += 1;
        if self.qcount == 0 {
            self.qr = rng.below(self.range);
            return Verdict::Pass;
        }
        if ((self.qavg - self.min) >> self.w_log) * (self.qcount as u64) < self.qr {
            return Verdict::Pass;
        }
        self.qcount = 0;
        self.qr = rng.below(self.range);
        Verdict::Signal(DropReason::EarlyDrop)
    }
    fn emptied(&mut self, now: Time, _last_len: u32) {
        if self.idle_damping != IdleDamping::None {
            self.idle = Some(Idle::begins(now));
        }
    }
    fn avg_bytes(&self) -> f64 {
        self.qavg as f64 / (1u64 << self.w_log) as f64
    }
    fn max_p(&self) -> f64 {
        self.span as f64 / self.range as f64
    }
    /// But for a `max_p` that a timer moves: it would move between the runs.
    fn past(&self, now: Time) -> Option<Past> {
        let idle = self.idle.map(|idle| idle.lasts(now));
        let known = Known { qavg: self.qavg, w_log: self.w_log, qcount: self.qcount, qr: self.qr, idle };
        self.adaptive.is_none().then(|| Past::new(known))
    }
    fn resume(&mut self, past: Past, gap: Dur) {
        let Known { qavg, w_log, qcount, qr, idle } = past.get();
        (self.qavg, self.qcount, self.qr) = (weighted(qavg, w_log, self.w_log), qcount, qr);
        self.idle = idle.map(|lasted| Idle::before(lasted + gap));
    }
    fn change(&mut self, new: &Setting) -> Result<Setup, ConfigError> {
        let new: LinuxParams = new.get();
        let (common, rate) = (new.common(), new.rate.unwrap_or(self.rate));
        let fresh = Linux::new(new, rate);
        let qavg = weighted(self.qavg, self.w_log, fresh.w_log);
        let is_set = fresh.params.max_p != self.params.max_p;
        let (qcount, qr, idle) = (self.qcount, self.qr, self.idle);
        let before = self.adaptive.filter(|_| !is_set);
        *self = Linux { qavg, qcount, qr, idle, ..fresh };
        // A probability that has moved stays where it is unless it is set anew; its timer runs on.
        if let (Some(before), Some(own)) = (before, &mut self.adaptive) {
            (own.p, own.next) = (before.p, before.next);
            self.range = own.range(self.span);
        }
        Ok(common)
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        if let Some(v) = set.get("adaptive").filter(|v| **v != Value::Bool(self.params.adaptive)) {
            return Err(ConfigError::new("adaptive", v.to_string(), "the value that the run began with"));
        }
        params::setting(&self.params, set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tc_rounds_the_thesis_probability_to_about_half() {
        let tc = LinuxParams { max_p_rounding: MaxPRounding::TcPlog, ..LinuxParams::default() };
        assert_eq!(tc.random_range(), 1 << 16);
        let law = Linux::new(tc, BitRate(64_000));
        assert!((law.max_p() - 0.0527).abs() < 1e-4, "{}", law.max_p());
        assert_eq!(LinuxParams::default().random_range(), 34_560);
    }

    #[test]
    fn a_leaf_that_is_never_asked_in_vain_takes_idle_time_for_any_other() {
        let after = |idle_damping| {
            let mut law =
                Linux::new(LinuxParams { idle_damping, w_log: Some(4), ..LinuxParams::default() }, BitRate(64_000));
            let mut rng = crosswind_base::Streams::new(1).named("red");
            let mut arrive = |law: &mut Linux, ms: u64, bytes: u64| {
                let backlog = crate::queue::Backlog { bytes, packets: u32::from(bytes > 0) };
                law.arrive(&Arrival { backlog, len: 576, now: Time(ms * 1_000_000) }, &mut rng);
                law.avg_bytes()
            };
            let before = (0..100).map(|_| arrive(&mut law, 0, 1600)).last().expect("a hundred");
            law.emptied(Time(0), 576);
            arrive(&mut law, 10_000, 0) / before
        };
        // qave -= qave >> Wlog, whatever the time.
        assert!((after(IdleDamping::None) - 15.0 / 16.0).abs() < 1e-3);
        assert!(after(IdleDamping::Fixed) < 0.51, "half of it at least goes");
    }

    #[test]
    fn a_burst_gives_the_weight_that_admits_it() {
        // min 3 packets: a burst of 10 fits below 2^-n when 10 + 1 - 3 <= (1 - (1 - w)^10) / w, first at n = 5 (8.7).
        let p = LinuxParams { burst: Some(10), ..LinuxParams::default() };
        assert_eq!(p.weight_log(), Some(5));
        let too_small = LinuxParams { burst: Some(2), ..LinuxParams::default() };
        assert_eq!(too_small.check().expect_err("below min_th / avpkt").path, "burst");
    }

    #[test]
    fn an_adaptive_probability_follows_the_average_of_every_half_second() {
        let p = LinuxParams { adaptive: true, max_p: 0.02, w_log: Some(2), ..LinuxParams::default() };
        let mut law = Linux::new(p, BitRate(64_000));
        let mut rng = crosswind_base::Streams::new(1).named("red");
        let mut at = |law: &mut Linux, ms: u64, bytes: u64| {
            let now = Time(ms * 1_000_000);
            law.arrive(&Arrival { backlog: crate::queue::Backlog { bytes, packets: 1 }, len: 576, now }, &mut rng);
            law.adaptive.expect("it adapts").p as f64 / 2f64.powi(32)
        };
        // Nothing waits: nine tenths each time, until it is below one percent.
        law.emptied(Time::ZERO, 0);
        let near = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 1e-6, "{found}, not {wanted}");
        near(at(&mut law, 499, 0), 0.02);
        near(at(&mut law, 1_000, 0), 0.02 * 0.81);
        near(at(&mut law, 60_000, 0), 0.02 * 0.9f64.powi(7));
        // Far above the middle: a quarter of it, one percent at most, until it is above a half.
        (0..40).for_each(|_| {
            at(&mut law, 60_001, 5000);
        });
        near(at(&mut law, 60_500, 5000), 0.02 * 0.9f64.powi(7) * 1.25);
        near(at(&mut law, 62_500, 5000), 0.02 * 0.9f64.powi(7) * 1.25f64.powi(5));
        assert!((0.5..0.52).contains(&at(&mut law, 200_000, 5000)));
        // In the middle fifth it stays.
        (0..40).for_each(|_| {
            at(&mut law, 200_001, 3456);
        });
        let before = at(&mut law, 200_002, 3456);
        assert_eq!(at(&mut law, 300_000, 3456), before);
    }

    #[test]
    fn the_damping_cell_of_the_thesis_link_is_four_seconds() {
        // 31 / ln(512/511) * 72 ms = 1142 s; in cells of 2^22 us that is 272 < 512, of 2^21 us 545.
        let d = Damping::new(&LinuxParams::default(), 9, BitRate(64_000));
        assert_eq!(d.cell_log, 22);
        assert_eq!(d.shifts[8], 0);
        assert_eq!(d.shifts[9], 1);
        assert_eq!(d.shifts[255], 31);
    }
}
