//! What outlives a connection, and what outlives a repetition: memory of the hosts, past of the queues.

use super::start::Repetition;
use crosswind_base::{Dur, Streams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far memory reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Persist {
    /// Every run starts with nothing to remember.
    #[default]
    WithinRun,
    /// A repetition starts with what the one before left behind; repetitions run in order.
    AcrossRepetitions,
}

/// Control-block sharing (RFC 2140) at the hosts, which matters to connections with `share_ssthresh = "on"`; and queues of routers that
/// stay up from one repetition to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sharing {
    /// How far the memory of hosts reaches.
    pub persist: Persist,
    /// How far the past of queues reaches: the average of RED. Packets that wait at the end of a repetition are gone, and shapers have
    /// their credit back. Queues with a past that they cannot hand on are refused. In emulation every repetition begins anew.
    #[serde(skip_serializing_if = "is_of_the_run")]
    pub queues: Persist,
    /// The whole memory of hosts is flushed whenever this time has passed. Left out: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<Dur>,
    /// Chance that the whole memory of hosts is lost between two repetitions, whatever the time.
    #[serde(skip_serializing_if = "is_never")]
    pub forget_probability: f64,
    /// Time between the end of one repetition and the start of the next.
    #[serde(skip_serializing_if = "is_zero")]
    pub gap: Dur,
}

fn is_of_the_run(p: &Persist) -> bool {
    *p == Persist::WithinRun
}

fn is_zero(d: &Dur) -> bool {
    d.0 == 0
}

fn is_never(p: &f64) -> bool {
    *p == 0.0
}

impl Sharing {
    pub fn hosts_persist(&self) -> bool {
        self.persist == Persist::AcrossRepetitions
    }
    pub fn queues_persist(&self) -> bool {
        self.queues == Persist::AcrossRepetitions
    }
    /// Whether a repetition depends on the one before.
    pub fn across_repetitions(&self) -> bool {
        self.hosts_persist() || self.queues_persist()
    }
    pub fn is_default(&self) -> bool {
        *self == Sharing::default()
    }
    pub fn lifetime(&self) -> Option<Dur> {
        self.lifetime
    }
    /// Whether the hosts lose their memory before this repetition.
    pub fn forgets_before(&self, rep: Repetition) -> bool {
        let path = format!("sharing/forget/rep{}", rep.index);
        self.forget_probability > 0.0 && Streams::new(rep.seed).named(&path).chance(self.forget_probability)
    }
    pub fn gap(&self) -> Dur {
        self.gap
    }
}
