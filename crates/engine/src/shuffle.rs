//! Simultaneous arrivals in an order that a seed decides, to expose results that depend on it.

use crosswind_base::{PacketId, Rng, Time};

/// Permutes simultaneous arrivals, and notes where the order of simultaneous events decides something: where packets from
/// different stages arrive at one instant. What one stage sends always keeps its order.
pub struct Shuffle {
    rng: Rng,
    /// The last packet that arrived at each stage: when, and where it came from.
    last: Vec<(Time, u32)>,
    /// How many packets have arrived at the instant at which one from elsewhere did.
    pub meetings: u64,
    /// The first of them: when, and at which stage.
    pub first: Option<(Time, u32)>,
}

impl Shuffle {
    pub fn new(rng: Rng, stages: usize) -> Shuffle {
        Shuffle { rng, last: vec![(Time::NEVER, 0); stages], meetings: 0, first: None }
    }

    /// Brings a random waiting arrival to the front; arrivals at one stage keep their order.
    pub fn arrivals(&mut self, waiting: &mut [PacketId], stage: impl Fn(PacketId) -> u32) {
        if waiting.len() < 2 {
            return;
        }
        let pick = self.rng.below(waiting.len() as u64) as usize;
        let wanted = stage(waiting[pick]);
        let first = (0..=pick).find(|i| stage(waiting[*i]) == wanted).unwrap_or(pick);
        waiting[..=first].rotate_right(1);
    }

    /// A packet arrives at a stage; `from` stands for where it comes from.
    pub fn arrives(&mut self, now: Time, stage: u32, from: u32) {
        let Some(last) = self.last.get_mut(stage as usize) else { return };
        let before = std::mem::replace(last, (now, from));
        if before.0 == now && before.1 != from {
            self.meetings += 1;
            self.first.get_or_insert((now, stage));
        }
    }
}
