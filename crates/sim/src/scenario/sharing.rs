//! What hosts remember of ended connections, and for how long.

use crosswind_base::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far memory reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Persist {
    /// Every run starts with hosts that remember nothing.
    #[default]
    WithinRun,
    /// A repetition starts with what the one before left behind; repetitions run in order.
    AcrossRepetitions,
}

/// Control-block sharing (RFC 2140) at the hosts. It matters to connections with `share_ssthresh = "on"`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sharing {
    /// How far memory reaches.
    pub persist: Persist,
    /// The whole memory is flushed whenever this time has passed. Left out: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<Dur>,
    /// Time between the end of one repetition and the start of the next.
    #[serde(skip_serializing_if = "is_zero")]
    pub gap: Dur,
}

fn is_zero(d: &Dur) -> bool {
    d.0 == 0
}

impl Sharing {
    pub fn across_repetitions(&self) -> bool {
        self.persist == Persist::AcrossRepetitions
    }
    pub fn is_default(&self) -> bool {
        *self == Sharing::default()
    }
    pub fn lifetime(&self) -> Option<Dur> {
        self.lifetime
    }
    pub fn gap(&self) -> Dur {
        self.gap
    }
}
