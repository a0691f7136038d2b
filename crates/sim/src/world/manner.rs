//! How a world is driven: in what order simultaneous events come, and whether links look ahead.

use serde::{Deserialize, Serialize};

/// How simultaneous events are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ties {
    /// By stage and order of emission.
    #[default]
    Ordered,
    /// Permuted by the seed, to expose results that depend on the order of simultaneous events.
    Shuffled,
}

/// How far links may decide things before their time, each step with all that stand before it. What comes out is the same; how
/// much work it is differs (docs/look-ahead.md has the figures).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LookAhead {
    /// Everything happens at its own time, one thing after the other: what tests compare with.
    Never,
    /// Queues that decide at arrivals plan when each packet leaves.
    Planned,
    /// What goes to a host is forwarded at once and waits for its time in a wheel.
    #[serde(alias = "handed-on")]
    ForwardEarly,
    /// An egress with one upstream link gets its arrivals early.
    #[serde(alias = "announced")]
    OneUpstream,
    /// So does one with several, which puts them in order and takes them in batches.
    #[default]
    Allowed,
}

/// How a world is to be driven.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Manner {
    pub ties: Ties,
    pub look_ahead: LookAhead,
}
