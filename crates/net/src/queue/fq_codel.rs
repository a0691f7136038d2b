//! # FQ-CoDel
//!
//! **Source**: rfc8290 sections 4 and 5.2; linux-sch-fq-codel (defaults, profile `linux`); shreedhar-varghese-1995 (the rounds).
//!
//! **Idea**: every flow waits in a queue of its own, found by a hash, with a CoDel of its own. Queues that have just become active
//! are served first, until they have sent `quantum` bytes; then they take turns with all others, a quantum each. When all
//! together hold too much, packets are dropped at the head of the longest.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `profile` | - | linux | CoDel as `codel` has it, and what is cut from the longest queue: at least half of its bytes (`linux`) or half of its packets (`rfc8290`) |
//! | `limit` | packets | 10240 packets | rfc8290 section 5.2.3: of all queues together |
//! | `memory_limit` | bytes | 33554432 B | linux-sch-fq-codel (32 MiB): the same in bytes |
//! | `flows` | - | 1024 | rfc8290 section 5.2.5: buckets of the hash |
//! | `isolation` | - | hash | rfc8290; `exact` gives every flow a queue |
//! | `filter` | - | none | packets with a queue of their own, one for each class that filters name, besides the hash (rfc8290 section 4.1.1) |
//! | `quantum` | bytes | 1514 B | rfc8290 section 5.2.4 |
//! | `drop_batch` | packets | 64 | rfc8290 section 4.1: the most that is cut at once |
//! | `target` | time | 5 ms | as `codel` |
//! | `interval` | time | 100 ms | as `codel` |
//! | `mtu` | bytes | 1514 B | as `codel`; compared with what all queues hold (`linux`) or with the flow's own (`rfc8290`) |
//! | `ecn` | - | mark | rfc8290 section 5.2.6 |
//! | `ce_threshold` | time | none | rfc8290 section 5.2.7: ECN-capable packets that waited longer are marked |
//! | `ce_threshold_mask` | - | 0 | linux-sch-fq-codel, as `codel` |
//! | `ce_threshold_selector` | - | 0 | linux-sch-fq-codel, as `codel` |
//!
//! **Deviations**: 1. The hash is of the flow's number and the direction, which stand for addresses, protocol and ports, and is
//! not the kernel's: which flows share a bucket differs, how many do not. 2. `memory_limit` counts the bytes of packets, not those of a
//! kernel's buffers, so it is reached later. 3. The link asks for a packet when it is free and something waits; a kernel also
//! asks once too often, and then takes empty queues off its lists earlier.
//!
//! **Checked by**: oracle `fq_codel` on random traces, both profiles; rounds, batches and collisions of
//! `crates/testkit/tests/fq_codel.rs`; conformance suite.

use super::Backlog;
use super::aqm::{EcnMode, Setup};
use super::codel::{CeThreshold, Codel, CodelLaw, Profile as CodelProfile};
use super::flows::{Cut, FlowParams, Isolation, Sees, Shape, check_filters, check_rounds};
use crate::build::BuildCx;
use crate::params::{self, Params};
use crate::sched::classify::Filter;
use crate::switch::Switch;
use crosswind_base::{ConfigError, Dur, Limit, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose FQ-CoDel it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// As the kernel, in whole numbers.
    #[default]
    Linux,
    /// As the RFC is written.
    Rfc8290,
}

/// Parameters of FQ-CoDel.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelParams {
    /// Whose FQ-CoDel it is.
    pub profile: Profile,
    /// How much all queues hold, in packets.
    pub limit: Limit,
    /// How much all queues hold, in bytes.
    pub memory_limit: Size,
    /// Buckets of the hash.
    #[schemars(range(min = 1, max = 65536))]
    pub flows: u32,
    /// Which flows share a queue.
    pub isolation: Isolation,
    /// Packets with a queue of their own, one for each class that is named here.
    pub filter: Vec<Filter>,
    /// Bytes that a queue may send in its turn.
    pub quantum: Size,
    /// The most packets that are cut from the longest queue at once.
    #[schemars(range(min = 1))]
    pub drop_batch: u32,
    /// A wait that may last.
    pub target: Dur,
    /// For how long every packet of a flow must have waited longer before one is selected.
    pub interval: Dur,
    /// With no more bytes than this left no packet is selected.
    pub mtu: Size,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
    /// Every ECN-capable packet that has waited longer is marked, or "none".
    pub ce_threshold: Switch<Dur>,
    /// The bits of the DS byte that choose the packets for `ce_threshold`; 0: all.
    pub ce_threshold_mask: u8,
    /// What these bits are in the packets that are chosen.
    pub ce_threshold_selector: u8,
}

impl Default for FqCodelParams {
    fn default() -> Self {
        FqCodelParams {
            profile: Profile::Linux,
            limit: Limit::Packets(10_240),
            memory_limit: Size(32 << 20),
            flows: 1024,
            isolation: Isolation::Hash,
            filter: Vec::new(),
            quantum: Size(1514),
            drop_batch: 64,
            target: Dur::from_millis(5),
            interval: Dur::from_millis(100),
            mtu: Size(1514),
            ecn: EcnMode::Mark,
            ce_threshold: Switch::Off,
            ce_threshold_mask: 0,
            ce_threshold_selector: 0,
        }
    }
}

impl Params for FqCodelParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        params::check_limit("memory_limit", Limit::Bytes(self.memory_limit.0))?;
        check_rounds(self.flows, self.quantum)?;
        if self.drop_batch == 0 {
            return Err(ConfigError::new("drop_batch", "0", "at least 1 packet"));
        }
        self.codel().check()?;
        check_filters(&self.filter)
    }
}

impl FqCodelParams {
    fn codel(&self) -> CodelLaw {
        CodelLaw {
            profile: if self.profile == Profile::Linux { CodelProfile::Linux } else { CodelProfile::Rfc8289 },
            target: self.target,
            interval: self.interval,
            mtu: self.mtu,
            threshold: CeThreshold {
                above: self.ce_threshold.as_ref().copied(),
                mask: self.ce_threshold_mask,
                selector: self.ce_threshold_selector,
            },
        }
    }
}

impl FlowParams for FqCodelParams {
    type Law = Codel;

    fn shape(&self) -> Shape {
        let is_linux = self.profile == Profile::Linux;
        Shape {
            buckets: self.flows,
            isolation: self.isolation,
            quantum: self.quantum,
            cut: if is_linux { Cut::HalfOfBytes } else { Cut::HalfOfPackets },
            batch: self.drop_batch,
            sees: if is_linux { Sees::AllQueues } else { Sees::OwnQueue },
        }
    }
    fn setup(&self) -> Setup {
        Setup { also: Some(Limit::Bytes(self.memory_limit.0)), ..Setup::fits(self.limit, self.ecn) }
    }
    fn law(&self) -> Codel {
        Codel::new(self.codel())
    }
    fn draws(&self, _cx: &BuildCx<'_>) {}
    fn retune(&self, law: &mut Codel, _holds: Backlog, _now: Time) -> Result<(), ConfigError> {
        law.continue_as(self.codel())
    }
    fn filter(&self) -> &[Filter] {
        &self.filter
    }
}
