//! How a world is driven: in what order simultaneous events come, and whether lines look ahead.

use crosswind_base::{PacketId, Rng};

/// How simultaneous events are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ties {
    /// By stage and order of emission.
    #[default]
    Ordered,
    /// Permuted by the seed, to expose results that depend on the order of simultaneous events.
    Shuffled,
}

/// Whether lines may decide things before their time. What comes out is the same; how much work it is differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LookAhead {
    #[default]
    Allowed,
    /// Everything happens at its own time, one thing after the other: what tests compare with.
    Never,
}

/// How a world is to be driven.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Manner {
    pub ties: Ties,
    pub look_ahead: LookAhead,
}

/// Brings a random waiting arrival to the front; arrivals at one stage keep their order.
pub fn shuffle_arrivals(waiting: &mut [PacketId], rng: &mut Rng, stage: impl Fn(PacketId) -> u32) {
    if waiting.len() < 2 {
        return;
    }
    let pick = rng.below(waiting.len() as u64) as usize;
    let wanted = stage(waiting[pick]);
    let first = (0..=pick).find(|i| stage(waiting[*i]) == wanted).unwrap_or(pick);
    waiting[..=first].rotate_right(1);
}
