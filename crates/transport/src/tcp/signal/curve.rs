//! From queueing delay to the probability of an early response: what every curve is shown and answers.

use crosswind_base::Time;

/// What a curve is shown at every sample.
#[derive(Clone, Copy, Debug)]
pub struct Queueing {
    /// Smoothed round-trip time less the least one, in seconds.
    pub delay_s: f64,
    /// Change of the round-trip time since the sample before, in seconds.
    pub change_s: f64,
    pub now: Time,
}

/// From queueing delay to the probability of a response.
pub trait Curve {
    fn probability(&mut self, q: Queueing) -> f64;
}
