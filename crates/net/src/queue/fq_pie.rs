//! # FQ-PIE
//!
//! **Source**: linux-sch-fq-pie; rfc8033 (the law); shreedhar-varghese-1995 (the rounds).
//!
//! **Idea**: every flow waits in a queue of its own, found by a hash, with a PIE of its own, which knows of that queue only. Queues that
//! have just become active are served first, until they have sent `quantum` bytes; then they take turns with all others, a
//! quantum each. When all together hold `limit`, whoever arrives is refused: nothing is dropped that was let in.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `profile` | - | linux | whose PIE it is: `linux` computes as the kernel, `rfc8033` in real numbers |
//! | `limit` | packets | 10240 packets | linux-sch-fq-pie: of all queues together |
//! | `flows` | - | 1024 | linux-sch-fq-pie: buckets of the hash |
//! | `isolation` | - | hash | linux-sch-fq-pie; `exact` gives every flow a queue |
//! | `filter` | - | none | packets with a queue of their own, one for each class that filters name, besides the hash |
//! | `quantum` | bytes | 1514 B | linux-sch-fq-pie: a packet of the device |
//! | `target` | time | 15 ms | as `pie` |
//! | `t_update` | time | 15 ms | as `pie` |
//! | `alpha` | Hz | 0.125 | as `pie`; `linux`: in sixteenths |
//! | `beta` | Hz | 1.25 | as `pie`; `linux`: in sixteenths |
//! | `max_burst` | time | 150 ms | as `pie` |
//! | `estimator` | - | timestamp | as `pie` |
//! | `byte_mode` | - | false | as `pie` |
//! | `mean_packet` | bytes | 1514 B (`linux`), 1500 B (`rfc8033`) | as `pie`, two of the flow's own queue are spared |
//! | `ecn` | - | drop (`linux`), mark (`rfc8033`) | as `pie` |
//! | `ecn_below` | - | 0.1 | linux-sch-fq-pie: above this probability ECN-capable packets are dropped, too, in whole percents; `rfc8033`: from it on |
//!
//! **Deviations**: 1. The hash is of the flow's number and the direction and not the kernel's: which flows share a bucket differs, how
//! many do not. 2. The kernel's `memory_limit` drops nothing there, it is a counter; so it is no parameter here. 3. When the limit
//! has become smaller, packets go from the head of the longest queue; the kernel drops those that would leave next. 4. As `pie`:
//! `t_update` is not rounded to ticks of a kernel's timer.
//!
//! **Checked by**: oracle `fq_pie` on random traces, both profiles; `crates/testkit/tests/fq_pie.rs`; conformance suite.

use super::Backlog;
use super::aqm::{EcnMode, Setup};
use super::flows::{Cut, FlowParams, Isolation, Sees, Shape, check_filters, check_rounds};
use super::pie::{Estimator, Pie, PieParams, Profile};
use crate::build::BuildCx;
use crate::params::{self, Params};
use crate::sched::classify::Filter;
use crosswind_base::{ConfigError, Dur, Limit, Rng, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters of FQ-PIE.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqPieParams {
    /// Whose PIE it is.
    pub profile: Profile,
    /// How much all queues hold, in bytes or packets.
    pub limit: Limit,
    /// Buckets of the hash.
    #[schemars(range(min = 1, max = 65536))]
    pub flows: u32,
    /// Which flows share a queue.
    pub isolation: Isolation,
    /// Packets with a queue of their own, one for each class that is named here.
    pub filter: Vec<Filter>,
    /// Bytes that a queue may send in its turn.
    pub quantum: Size,
    /// The delay of a flow at which its probability rests.
    pub target: Dur,
    /// Between two updates of the probabilities.
    pub t_update: Dur,
    /// Gain of the deviation from the target, in Hz.
    pub alpha: f64,
    /// Gain of the change since the last update, in Hz.
    pub beta: f64,
    /// For how long a queue that was short may be long.
    pub max_burst: Dur,
    /// How the delay is found.
    pub estimator: Estimator,
    /// Whether the probability grows with the size of the packet.
    pub byte_mode: bool,
    /// The usual packet.
    pub mean_packet: Size,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
    /// Beyond this probability they are dropped in any case.
    pub ecn_below: f64,
}

impl Default for FqPieParams {
    fn default() -> Self {
        let pie = PieParams::default();
        FqPieParams {
            profile: Profile::Linux,
            limit: Limit::Packets(10_240),
            flows: 1024,
            isolation: Isolation::Hash,
            filter: Vec::new(),
            quantum: Size(1514),
            target: pie.target,
            t_update: pie.t_update,
            alpha: pie.alpha,
            beta: pie.beta,
            max_burst: pie.max_burst,
            estimator: pie.estimator,
            byte_mode: pie.byte_mode,
            mean_packet: Size(1514),
            ecn: EcnMode::Drop,
            ecn_below: pie.ecn_below,
        }
    }
}

impl Params for FqPieParams {
    fn fill(written: &mut Map<String, Value>) {
        if written.get("profile").is_some_and(|p| p == "rfc8033") {
            written.entry("mean_packet").or_insert_with(|| "1500 B".into());
            written.entry("ecn").or_insert_with(|| "mark".into());
        }
    }
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        check_rounds(self.flows, self.quantum)?;
        params::check_range("ecn_below", self.ecn_below, 0.0..=1.0)?;
        if self.profile == Profile::Linux && (self.percent() as f64 / 100.0 - self.ecn_below).abs() > 1e-9 {
            let found = self.ecn_below.to_string();
            return Err(ConfigError::new("ecn_below", found, "whole percents with the profile `linux`, such as 0.1"));
        }
        self.pie().check()?;
        check_filters(&self.filter)
    }
}

impl FqPieParams {
    fn pie(&self) -> PieParams {
        let default = PieParams::default();
        let ecn_below = if self.profile == Profile::Linux { default.ecn_below } else { self.ecn_below };
        PieParams {
            profile: self.profile,
            target: self.target,
            t_update: self.t_update,
            alpha: self.alpha,
            beta: self.beta,
            max_burst: self.max_burst,
            estimator: self.estimator,
            byte_mode: self.byte_mode,
            mean_packet: self.mean_packet,
            ecn: self.ecn,
            ecn_below,
            ..default
        }
    }
    fn percent(&self) -> u64 {
        (self.ecn_below * 100.0).round() as u64
    }
}

impl FlowParams for FqPieParams {
    type Law = Pie;

    fn shape(&self) -> Shape {
        Shape {
            buckets: self.flows,
            isolation: self.isolation,
            quantum: self.quantum,
            cut: Cut::Arrival,
            batch: 1,
            sees: Sees::OwnQueue,
        }
    }
    fn setup(&self) -> Setup {
        Setup::fits(self.limit, self.ecn)
    }
    fn law(&self) -> Pie {
        let mut pie = Pie::new(self.pie());
        pie.mark_up_to(self.percent());
        pie
    }
    fn draws(&self, cx: &BuildCx<'_>) -> Rng {
        cx.rng("pie")
    }
    fn retune(&self, law: &mut Pie, holds: Backlog, now: Time) -> Result<(), ConfigError> {
        law.catch_up(now, holds.bytes);
        law.continue_as(self.pie())?;
        law.mark_up_to(self.percent());
        Ok(())
    }
    fn filter(&self) -> &[Filter] {
        &self.filter
    }
}
