//! # ACK habits of operating systems
//!
//! **Source**: igarashi section 2.19 (what four receivers of 2003 and three of 2006 were seen to do).
//!
//! **Idea**: a host that takes segments out of its network card in batches acknowledges a chunk at a time. The length of each
//! chunk is drawn: `least` and a geometric number with the mean `mean - least` more, at most `most`; a chunk that does not fill
//! is acknowledged after `delayed_ack`. A share `empty_share` of all ACKs comes directly after another and says nothing new.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `receiver` | - | `as-given` | a row of the table below; keys beside it are stronger |
//! | `ack_habit.least_segments` | segments | 0 | off: `ack_every_segments` alone decides |
//! | `ack_habit.mean_segments` | segments | 0 | mean length of a chunk before it is cut at `most_segments` |
//! | `ack_habit.most_segments` | segments | 0 | igarashi: chunks of up to 14 |
//! | `ack_habit.empty_share` | - | 0 | igarashi: 0.2 of the ACKs of FreeBSD |
//!
//! | `receiver` | SACK | segments per ACK | waits at most |
//! |---|---|---|---|
//! | `linux-2.4` | yes | 1 to 14, mean 2 | 2 ms |
//! | `windows-2000` | yes | 1 to 14, mean 4 | 2 ms |
//! | `windows-xp` | yes | 4 to 16, mean 8 | 2 ms |
//! | `solaris-9` | yes | 1 or 2 | 50 ms |
//! | `freebsd-4.7` | no | 2, and 0.2 of the ACKs empty | 100 ms |
//! | `freebsd-5.3` | yes | 2, and 0.2 of the ACKs empty | 100 ms |
//!
//! **Deviations**: 1. The source shows distributions in figures that are lost: largest lengths and the share of empty ACKs are
//! its own, means are ours (that of Linux fits the growth of its Table 4.5). 2. Lengths do not depend on the rate.
//!
//! **Checked by**: `tests/habits.rs` (a second copy of the draw, means, shares), `crates/sim/tests/receivers.rs` (growth).

use crosswind_base::{ConfigError, Rng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a host acknowledges in chunks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AckHabitParams {
    /// Fewest segments that an ACK waits for; 0: `ack_every_segments` decides.
    pub least_segments: u32,
    /// Segments that an ACK waits for on average.
    pub mean_segments: f64,
    /// Most segments that an ACK waits for.
    pub most_segments: u32,
    /// Share of all ACKs that repeat the one before and acknowledge nothing new.
    pub empty_share: f64,
}

impl AckHabitParams {
    pub fn is_on(&self) -> bool {
        self.least_segments > 0 || self.empty_share > 0.0
    }
    /// Refuses numbers that make no sense.
    pub fn check(&self) -> Result<(), ConfigError> {
        let (least, most) = (self.least_segments, self.most_segments);
        if !(0.0..=0.9).contains(&self.empty_share) {
            return Err(ConfigError::new("empty_share", self.empty_share.to_string(), "from 0 to 0.9"));
        }
        if least == 0 && (most != 0 || self.mean_segments != 0.0) {
            return Err(ConfigError::new("least_segments", "0, beside a mean or a largest number", "at least 1"));
        }
        if most < least || most > 10_000 {
            let expected = format!("from {least} (least_segments) to 10000");
            return Err(ConfigError::new("most_segments", most.to_string(), expected));
        }
        if !(f64::from(least)..=f64::from(most)).contains(&self.mean_segments) {
            let expected = format!("from {least} (least_segments) to {most} (most_segments)");
            return Err(ConfigError::new("mean_segments", self.mean_segments.to_string(), expected));
        }
        Ok(())
    }
}

/// How many segments more than its least a chunk has: geometric on 0, 1, 2 .., by inversion.
#[derive(Debug)]
struct Length {
    /// Logarithm of the chance of one more.
    ln_one_more: f64,
    /// The largest draw (0..=1) at which it is 1, 2, 3 .. segments longer: most draws need no logarithm.
    bounds: [f64; 8],
}

impl Length {
    fn of(extra: f64) -> Length {
        let mut length = Length { ln_one_more: (extra / (1.0 + extra)).ln(), bounds: [0.0; 8] };
        length.bounds = std::array::from_fn(|i| length.bound((i + 1) as f64));
        length
    }
    fn by_logarithm(&self, draw: f64) -> f64 {
        (draw.ln() / self.ln_one_more).floor()
    }
    /// To the last bit where [`Length::by_logarithm`] has it.
    fn bound(&self, more: f64) -> f64 {
        let about = (more * self.ln_one_more).exp();
        let (mut low, mut high) = (about * (1.0 - 1e-9), about * (1.0 + 1e-9));
        while let middle = 0.5 * (low + high)
            && low < middle
            && middle < high
        {
            *(if self.by_logarithm(middle) >= more { &mut low } else { &mut high }) = middle;
        }
        low
    }
    fn of_draw(&self, draw: f64) -> f64 {
        self.bounds.iter().position(|b| draw > *b).map_or_else(|| self.by_logarithm(draw), |more| more as f64)
    }
}

/// The habit of one receiver and its dice.
#[derive(Debug)]
pub struct Habit {
    params: AckHabitParams,
    /// Where chunks have a length to be drawn.
    length: Option<Length>,
    rng: Rng,
    /// Segments that the next ACK waits for; 0: no chunks.
    pub chunk: u32,
}

impl Habit {
    pub fn new(params: AckHabitParams, rng: Rng) -> Habit {
        let extra = params.mean_segments - f64::from(params.least_segments);
        let length = (params.least_segments > 0 && extra > 0.0).then(|| Length::of(extra));
        let mut habit = Habit { params, length, rng, chunk: 0 };
        habit.draw();
        habit
    }

    /// Draws the length of the next chunk.
    pub fn draw(&mut self) {
        let (least, most) = (self.params.least_segments, self.params.most_segments);
        self.chunk = least;
        if let Some(length) = &self.length {
            let more = length.of_draw(1.0 - self.rng.uniform());
            self.chunk += more.min(f64::from(most - least)) as u32;
        }
    }

    /// Whether an ACK that has just been sent is followed by an empty one.
    pub fn repeats(&mut self) -> bool {
        let share = self.params.empty_share;
        share > 0.0 && self.rng.chance(share / (1.0 - share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;

    #[test]
    fn lengths_are_those_of_the_logarithm_bit_for_bit() {
        for extra in [1e-3, 0.5, 1.0, 3.0, 4.0, 1000.0] {
            let length = Length::of(extra);
            let mut rng = Streams::new(3).named("lengths");
            // Anywhere, and in the last bits beside each bound.
            let near = |b: f64| (-40i64..=40).map(move |k| f64::from_bits(b.to_bits().wrapping_add_signed(k)));
            let draws = (0..20_000).map(|_| 1.0 - rng.uniform()).collect::<Vec<_>>();
            for draw in draws.into_iter().chain(length.bounds.into_iter().filter(|b| *b > 1e-300).flat_map(near)) {
                assert_eq!(length.of_draw(draw), length.by_logarithm(draw), "{extra}: {draw}");
            }
        }
    }
}
