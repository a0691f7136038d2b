//! # Three colours by a time sliding window
//!
//! **Source**: rfc2859 sections 2 and 3.
//!
//! **Idea**: the average of `tsw2cm`. Up to `cir` green; up to `pir` yellow with probability `(avg - cir) / avg`, else
//! green; above `pir` red with `(avg - pir) / avg`, yellow with `(pir - cir) / avg`, else green.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `cir` | bit/s | 1 Mbit/s | the contract; scenarios must give it |
//! | `pir` | bit/s | 2 Mbit/s | the contract |
//! | `window` | time | 1 s | as `tsw2cm` |
//!
//! **Deviations**: none.
//!
//! **Checked by**: oracle `markers` on random arrivals; conformance suite; shares of a steady stream below.

use super::window::{SlidingWindow, check_window};
use super::{Meter, Metered};
use crate::params::{self, Params};
use crosswind_base::{BitRate, Colour, ConfigError, Dur, Rng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the three-colour marker with one window.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tsw3cmParams {
    /// Rate up to which everything is green.
    pub cir: BitRate,
    /// Rate from which some packets are red.
    pub pir: BitRate,
    /// How much of the past the average remembers.
    pub window: Dur,
}

impl Default for Tsw3cmParams {
    fn default() -> Self {
        Tsw3cmParams { cir: BitRate(1_000_000), pir: BitRate(2_000_000), window: Dur::from_secs(1) }
    }
}

impl Params for Tsw3cmParams {
    fn check(&self) -> Result<(), ConfigError> {
        check_two_rates(self.cir, self.pir)?;
        check_window(self.window)
    }
}

/// A peak rate that is no less than the committed one.
pub(super) fn check_two_rates(cir: BitRate, pir: BitRate) -> Result<(), ConfigError> {
    params::check_rate("cir", cir)?;
    params::check_rate("pir", pir)?;
    if pir < cir {
        let (found, least) = (crosswind_base::units::show_rate(pir), crosswind_base::units::show_rate(cir));
        return Err(ConfigError::new("pir", found, format!("at least the committed rate ({least})")));
    }
    Ok(())
}

/// The three-colour marker with one window.
pub struct Tsw3cm {
    cir: f64,
    pir: f64,
    window: SlidingWindow,
    rng: Rng,
}

impl Tsw3cm {
    pub fn new(p: Tsw3cmParams, rng: Rng) -> Tsw3cm {
        let window = SlidingWindow::new(p.window, p.cir);
        Tsw3cm { cir: p.cir.as_f64(), pir: p.pir.as_f64(), window, rng }
    }
}

impl Meter for Tsw3cm {
    fn colour(&mut self, m: &Metered) -> Colour {
        let avg = self.window.after(m.len, m.now);
        if avg <= self.cir {
            return Colour::Green;
        }
        let p_red = ((avg - self.pir) / avg).max(0.0);
        let p_yellow = (avg.min(self.pir) - self.cir) / avg;
        match self.rng.uniform() {
            u if u < p_red => Colour::Red,
            u if u < p_red + p_yellow => Colour::Yellow,
            _ => Colour::Green,
        }
    }
    fn worst(&self) -> Colour {
        Colour::Red
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::{Streams, Time};

    #[test]
    fn a_stream_above_both_rates_is_split_in_the_contracts_proportions() {
        let mut meter = Tsw3cm::new(Tsw3cmParams::default(), Streams::new(7).named("marker"));
        let mut seen = [0u32; 3];
        for i in 0..100_000u64 {
            // 4 Mbit/s.
            let c = meter.colour(&Metered { len: 1000, was: Colour::Green, now: Time(i * 2_000_000) });
            seen[c as usize] += u32::from(i >= 10_000);
        }
        for (n, share) in seen.iter().zip([0.25, 0.25, 0.5]) {
            assert!((f64::from(*n) / 90_000.0 - share).abs() < 0.006, "{seen:?}");
        }
    }
}
