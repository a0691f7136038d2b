//! # Two colours by a time sliding window
//!
//! **Source**: igarashi sections 2.4 to 2.6; rfc2859 sections 2 and 3; clark-fang-1998 section 3; ns-2.35 (TSW tagger).
//!
//! **Idea**: each packet moves the average, `avg = (avg * window + bits) / (now - t_front + window)`. Up to `cir`
//! everything is green. Above, with `p = (avg - cir) / avg`, packets are yellow: each with probability p (`original`), or
//! spaced as RED spaces its drops (`excess-in`): none while `count * p < 1`, then with `p / (2 - count * p)`, where count
//! is the number of green packets since the last yellow one, so that more than `cir` stays green.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `cir` | bit/s | 1 Mbit/s | the contract; scenarios must give it |
//! | `window` | time | 1 s | igarashi section 2.4 |
//! | `marking` | - | original | rfc2859; `excess-in` and `excess-in-below-half` are igarashi's excess_in_mark and its form in late ns-2, which spaces only while p < 0.5 |
//!
//! **Deviations**: 1. Blind to the colour that packets come with; a contract with `dscp` chooses what is metered. 2. No
//! formula is printed for the two policies of igarashi: these are the readings that fit its packet counts.
//!
//! **Checked by**: oracle `markers` on random arrivals; conformance suite; claims of igarashi chapter 6.

use super::window::{SlidingWindow, check_window};
use super::{Meter, Metered};
use crate::params::{self, Params};
use crosswind_base::{BitRate, Colour, ConfigError, Dur, Rng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the packets above the contract are selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Marking {
    /// Each with the same probability: what stays green is the contracted rate.
    #[default]
    Original,
    /// Spaced, so that more stays green.
    ExcessIn,
    /// Spaced below one half, independent above.
    ExcessInBelowHalf,
}

/// Parameters of the two-colour marker.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tsw2cmParams {
    /// Rate up to which everything is green.
    pub cir: BitRate,
    /// How much of the past the average remembers.
    pub window: Dur,
    /// How the packets above the contract are selected.
    pub marking: Marking,
}

impl Default for Tsw2cmParams {
    fn default() -> Self {
        Tsw2cmParams { cir: BitRate(1_000_000), window: Dur::from_secs(1), marking: Marking::Original }
    }
}

impl Params for Tsw2cmParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("cir", self.cir)?;
        check_window(self.window)
    }
}

/// The two-colour marker.
pub struct Tsw2cm {
    cir: f64,
    marking: Marking,
    window: SlidingWindow,
    /// Green packets since the last yellow one.
    count: u64,
    rng: Rng,
}

impl Tsw2cm {
    pub fn new(p: Tsw2cmParams, rng: Rng) -> Tsw2cm {
        let window = SlidingWindow::new(p.window, p.cir);
        Tsw2cm { cir: p.cir.as_f64(), marking: p.marking, window, count: 0, rng }
    }

    fn spaced(&self, p: f64) -> f64 {
        match self.count as f64 * p {
            used if used < 1.0 => 0.0,
            used if used < 2.0 => p / (2.0 - used),
            _ => 1.0,
        }
    }
}

impl Meter for Tsw2cm {
    fn colour(&mut self, m: &Metered) -> Colour {
        let avg = self.window.after(m.len, m.now);
        let mut is_out = false;
        if avg > self.cir {
            let p = (avg - self.cir) / avg;
            let used = match self.marking {
                Marking::Original => p,
                Marking::ExcessInBelowHalf if p >= 0.5 => p,
                _ => self.spaced(p),
            };
            is_out = self.rng.chance(used);
        }
        if is_out {
            self.count = 0;
            return Colour::Yellow;
        }
        self.count += 1;
        Colour::Green
    }
    fn worst(&self) -> Colour {
        Colour::Yellow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::{Streams, Time};

    /// Share of yellow packets of a steady stream at so many times the contract.
    fn share(marking: Marking, times: f64) -> f64 {
        let p = Tsw2cmParams { marking, ..Tsw2cmParams::default() };
        let mut meter = Tsw2cm::new(p, Streams::new(5).named("marker"));
        let gap_ns = 8e6 / times;
        let out = |i: u64, m: &mut Tsw2cm| {
            m.colour(&Metered { len: 1000, was: Colour::Green, now: Time((i as f64 * gap_ns) as u64) })
        };
        for i in 0..2_000 {
            out(i, &mut meter);
        }
        (2_000..62_000).filter(|i| out(*i, &mut meter) == Colour::Yellow).count() as f64 / 60_000.0
    }

    #[test]
    fn the_original_policy_lets_the_contract_pass_and_the_spaced_one_two_thirds_more() {
        // igarashi 2.5: r = 3.12 Mbit/s against 1 Mbit/s gives a share of 0.679, printed 0.676.
        assert!((share(Marking::Original, 3.12) - 0.679).abs() < 0.006);
        // igarashi 2.6: p = 0.70, 0.57, 0.46 and 0.33 give 0.333, 0.299, 0.234 and 0.180.
        for (p, expected) in [(0.70, 0.333), (0.57, 0.299), (0.46, 0.234), (0.33, 0.180)] {
            let s = share(Marking::ExcessIn, 1.0 / (1.0 - p));
            assert!((s - expected).abs() < 0.012, "p = {p}: {s}, expected {expected}");
        }
        // The variant of late ns-2: 0.62 or more for p = 0.70.
        assert!(share(Marking::ExcessInBelowHalf, 1.0 / 0.3) > 0.62);
        assert_eq!(share(Marking::Original, 0.99), 0.0);
    }
}
