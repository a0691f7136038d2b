//! # Single-rate three-colour marker
//!
//! **Source**: rfc2697 section 3.
//!
//! **Idea**: credit comes at `cir` and fills a bucket of `cbs` bytes first, then one of `ebs` bytes. Green packets take from
//! the first, yellow ones from the second; what neither covers is red.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `cir` | bit/s | 1 Mbit/s | the contract; scenarios must give it |
//! | `cbs` | bytes | 10000 B | ours: ten packets of 1000 B |
//! | `ebs` | bytes | 20000 B | ours |
//! | `mode` | - | colour-blind | rfc2697 has both |
//!
//! **Deviations**: 1. As `trtcm`, credit grows continuously.
//!
//! **Checked by**: oracle `markers` on random arrivals in both modes; conformance suite.

use super::{Meter, Metered, Mode, check_burst};
use crate::params::{self, Params};
use crate::sched::bucket::PER_BYTE;
use crosswind_base::{BitRate, Colour, ConfigError, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the single-rate three-colour marker.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SrtcmParams {
    /// Committed rate.
    pub cir: BitRate,
    /// Committed burst.
    pub cbs: Size,
    /// Excess burst, filled by what the committed one does not take.
    pub ebs: Size,
    /// Whether the colour that a packet comes with counts.
    pub mode: Mode,
}

impl Default for SrtcmParams {
    fn default() -> Self {
        SrtcmParams { cir: BitRate(1_000_000), cbs: Size(10_000), ebs: Size(20_000), mode: Mode::ColourBlind }
    }
}

impl Params for SrtcmParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("cir", self.cir)?;
        check_burst("cbs", self.cbs)?;
        check_burst("ebs", self.ebs)
    }
}

/// The single-rate three-colour marker. Credit is in bits times nanoseconds per second, as in [`PER_BYTE`].
pub struct Srtcm {
    mode: Mode,
    per_ns: i128,
    cbs: i128,
    ebs: i128,
    t_c: i128,
    t_e: i128,
    at: Time,
}

impl Srtcm {
    pub fn new(p: SrtcmParams) -> Srtcm {
        let (cbs, ebs) = (i128::from(p.cbs.0) * PER_BYTE, i128::from(p.ebs.0) * PER_BYTE);
        Srtcm { mode: p.mode, per_ns: i128::from(p.cir.0), cbs, ebs, t_c: cbs, t_e: ebs, at: Time::ZERO }
    }

    fn fill(&mut self, now: Time) {
        let new = self.t_c + self.per_ns * i128::from(now.since(self.at).0);
        self.t_c = new.min(self.cbs);
        self.t_e = (self.t_e + new - self.t_c).min(self.ebs);
        self.at = now;
    }
}

impl Meter for Srtcm {
    fn colour(&mut self, m: &Metered) -> Colour {
        self.fill(m.now);
        let was = self.mode.seen(m.was);
        let cost = i128::from(m.len) * PER_BYTE;
        if was == Colour::Green && self.t_c >= cost {
            self.t_c -= cost;
            return Colour::Green;
        }
        if was <= Colour::Yellow && self.t_e >= cost {
            self.t_e -= cost;
            return Colour::Yellow;
        }
        Colour::Red
    }
    fn worst(&self) -> Colour {
        Colour::Red
    }
}
