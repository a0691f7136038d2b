//! # RED as published
//!
//! **Source**: floyd-jacobson-1993 section IV (the detailed algorithm); rfc3168 section 5 (marking).
//!
//! **Idea**: `avg` is an exponential average of the queue; between `min_th` and `max_th` packets are selected with
//! `p_b = max_p (avg - min_th) / (max_th - min_th)`, spread evenly by `p_a = p_b / (1 - count p_b)`; above `max_th` all
//! are selected. An idle queue decays as if `m` packets had arrived at it: `avg (1 - w_q)^m`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | bytes or packets | 60 packets | ours: four times `max_th` |
//! | `admission` | - | fits | as for drop-tail |
//! | `overhead` | bytes | 0 B | what Linux counts for the link-layer header of each packet that waits: 14 B on an Ethernet |
//! | `ecn` | - | mark | rfc3168 |
//! | `min_th` | bytes or packets | 5 packets | floyd-jacobson-1993, as jarvinen-2006 Table 6 quotes it |
//! | `max_th` | bytes or packets | 15 packets | three times `min_th`, same place |
//! | `w_q` | 1 | 0.002 | same place |
//! | `max_p` | 1 | 0.1 | floyd-1997 |
//! | `measure` | - | packets | floyd-jacobson-1993: queue counted in packets |
//! | `avpkt` | bytes | 1000 B | ours; used for idle time and to convert between bytes and packets |
//! | `rate` | bit/s | the link's | - |
//!
//! **Deviations**: 1. `m` is a real number: idle time over the transmission time of `avpkt`. (The paper leaves the
//! function open.) 2. A packet that is dropped at an empty queue restarts the idle clock; taken literally the
//! pseudo-code would count the same idle time twice. 3. After a mark `count` is 0 and the next packet already sees 1,
//! as the pseudo-code has it: the gap is uniform on 1 to 1/p_b - 1 except for the first after `avg` rose above `min_th`,
//! which is uniform on 1 to 1/p_b as in the text.
//!
//! **Checked by**: conformance suite; oracle `red::FloydJacobson`; tests of claims 14 to 17 of jarvinen-2006.

use super::super::store::{Admission, check_overhead, no_bytes};
use super::law::{Arrival, EcnMode, Idle, Law, Limits, Measure, Verdict, check_common, check_weight};
use crate::params::{self, Params};
use crate::queue::aqm::Setup;
use crosswind_base::{BitRate, ConfigError, DropReason, Dur, Limit, Past, Rng, Setting, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters of RED as published.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FloydJacobsonParams {
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
    pub min_th: Limit,
    /// Average queue from which every packet is selected.
    pub max_th: Limit,
    /// Weight of one arrival in the average.
    pub w_q: f64,
    /// Probability of being selected just below `max_th`.
    pub max_p: f64,
    /// Whether the average is over bytes or packets.
    pub measure: Measure,
    /// Typical packet, for idle time.
    pub avpkt: Size,
    /// Rate at which the idle link could have sent; the link's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
}

impl Default for FloydJacobsonParams {
    fn default() -> Self {
        FloydJacobsonParams {
            limit: Limit::Packets(60),
            admission: Admission::Fits,
            overhead: Size(0),
            ecn: EcnMode::Mark,
            min_th: Limit::Packets(5),
            max_th: Limit::Packets(15),
            w_q: 0.002,
            max_p: 0.1,
            measure: Measure::Packets,
            avpkt: Size(1000),
            rate: None,
        }
    }
}

impl Params for FloydJacobsonParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        check_overhead(self.overhead)?;
        params::check_packet_size("avpkt", self.avpkt)?;
        check_weight(self.w_q)?;
        let threshold = |limit| self.measure.threshold(limit, self.avpkt);
        let (min, max, unit) = (threshold(self.min_th), threshold(self.max_th), self.measure.unit());
        check_common(Limits { min, max, unit }, self.max_p, self.rate)
    }
}

impl FloydJacobsonParams {
    pub fn common(&self) -> Setup {
        Setup { admission: self.admission, overhead: self.overhead, ..Setup::fits(self.limit, self.ecn) }
    }
}

/// The law of the paper.
pub struct FloydJacobson {
    params: FloydJacobsonParams,
    rate: BitRate,
    min_th: f64,
    max_th: f64,
    /// Packets of `avpkt` bytes that the link sends in a nanosecond.
    packets_per_ns: f64,
    avg: f64,
    /// Packets since the last one that was selected; -1 below `min_th`.
    count: i64,
    idle: Idle,
}

/// What outlives a run.
struct Known {
    avg: f64,
    /// Bytes that the average is counted in.
    unit: f64,
    count: i64,
    idle: Dur,
}

impl FloydJacobson {
    pub fn new(params: FloydJacobsonParams, rate: BitRate) -> FloydJacobson {
        FloydJacobson {
            rate,
            min_th: params.measure.threshold(params.min_th, params.avpkt),
            max_th: params.measure.threshold(params.max_th, params.avpkt),
            packets_per_ns: rate.as_f64() / (8e9 * params.avpkt.0 as f64),
            avg: 0.0,
            count: -1,
            idle: Idle::begins(Time::ZERO),
            params,
        }
    }

    fn unit(&self) -> f64 {
        self.params.measure.bytes(self.params.avpkt)
    }

    fn average(&mut self, a: &Arrival) {
        if a.backlog.packets > 0 {
            self.avg += self.params.w_q * (self.params.measure.of(a.backlog) - self.avg);
        } else {
            let m = self.idle.lasts(a.now).0 as f64 * self.packets_per_ns;
            self.avg *= (1.0 - self.params.w_q).powf(m);
        }
    }
}

impl Law for FloydJacobson {
    fn arrive(&mut self, a: &Arrival, rng: &mut Rng) -> Verdict {
        self.average(a);
        if self.avg < self.min_th {
            self.count = -1;
            return Verdict::Pass;
        }
        if self.avg >= self.max_th {
            self.count = 0;
            return Verdict::Signal(DropReason::ForcedDrop);
        }
        self.count += 1;
        let p_b = self.params.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th);
        let spread = 1.0 - self.count as f64 * p_b;
        // Where count p_b reaches 1 the interval is used up and the packet is selected for certain.
        let p_a = if spread > 0.0 { p_b / spread } else { 1.0 };
        if rng.chance(p_a) {
            self.count = 0;
            return Verdict::Signal(DropReason::EarlyDrop);
        }
        Verdict::Pass
    }
    fn emptied(&mut self, now: Time, _last_len: u32) {
        self.idle = Idle::begins(now);
    }
    fn avg_bytes(&self) -> f64 {
        self.avg * self.unit()
    }
    fn max_p(&self) -> f64 {
        self.params.max_p
    }
    fn past(&self, now: Time) -> Option<Past> {
        Some(Past::new(Known { avg: self.avg, unit: self.unit(), count: self.count, idle: self.idle.lasts(now) }))
    }
    fn resume(&mut self, past: Past, gap: Dur) {
        let Known { avg, unit, count, idle } = past.get();
        (self.avg, self.count, self.idle) = (avg * (unit / self.unit()), count, Idle::before(idle + gap));
    }
    fn change(&mut self, new: &Setting) -> Result<Setup, ConfigError> {
        let new: FloydJacobsonParams = new.get();
        let (common, rate) = (new.common(), new.rate.unwrap_or(self.rate));
        let avg = self.avg_bytes() / new.measure.bytes(new.avpkt);
        *self = FloydJacobson { avg, count: self.count, idle: self.idle, ..FloydJacobson::new(new, rate) };
        Ok(common)
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
}
