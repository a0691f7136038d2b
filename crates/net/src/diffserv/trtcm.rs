//! # Two-rate three-colour marker
//!
//! **Source**: rfc2698 section 3.
//!
//! **Idea**: two buckets, of `pbs` bytes at `pir` and of `cbs` bytes at `cir`. A packet that the peak bucket does not cover
//! is red; one that only the committed bucket does not cover is yellow and costs peak credit; a green one costs both.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `cir` | bit/s | 1 Mbit/s | the contract; scenarios must give it |
//! | `cbs` | bytes | 10000 B | ours: ten packets of 1000 B |
//! | `pir` | bit/s | 2 Mbit/s | the contract |
//! | `pbs` | bytes | 20000 B | ours |
//! | `mode` | - | colour-blind | rfc2698 has both |
//!
//! **Deviations**: 1. Credit grows continuously, not by whole bytes (no packet of a random trace tells them apart).
//!
//! **Checked by**: oracle `markers` on random arrivals in both modes; conformance suite.

use super::tsw3cm::check_two_rates;
use super::{Meter, Metered, Mode, check_burst};
use crate::params::Params;
use crate::sched::bucket::Bucket;
use crosswind_base::{BitRate, Colour, ConfigError, Dur, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the two-rate three-colour marker.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TrtcmParams {
    /// Committed rate.
    pub cir: BitRate,
    /// Committed burst.
    pub cbs: Size,
    /// Peak rate.
    pub pir: BitRate,
    /// Peak burst.
    pub pbs: Size,
    /// Whether the colour that a packet comes with counts.
    pub mode: Mode,
}

impl Default for TrtcmParams {
    fn default() -> Self {
        let (cir, pir) = (BitRate(1_000_000), BitRate(2_000_000));
        TrtcmParams { cir, cbs: Size(10_000), pir, pbs: Size(20_000), mode: Mode::ColourBlind }
    }
}

impl Params for TrtcmParams {
    fn check(&self) -> Result<(), ConfigError> {
        check_two_rates(self.cir, self.pir)?;
        check_burst("cbs", self.cbs)?;
        check_burst("pbs", self.pbs)
    }
}

/// The two-rate three-colour marker.
pub struct Trtcm {
    mode: Mode,
    t_c: Bucket,
    t_p: Bucket,
}

impl Trtcm {
    pub fn new(p: TrtcmParams) -> Trtcm {
        Trtcm { mode: p.mode, t_c: Bucket::new(p.cir, p.cbs), t_p: Bucket::new(p.pir, p.pbs) }
    }
}

impl Meter for Trtcm {
    fn colour(&mut self, m: &Metered) -> Colour {
        let (was, len) = (self.mode.seen(m.was), u64::from(m.len));
        if was == Colour::Red || !self.t_p.covers(len, m.now) {
            return Colour::Red;
        }
        self.t_p.spend(len, m.now, Dur::ZERO);
        if was == Colour::Yellow || !self.t_c.covers(len, m.now) {
            return Colour::Yellow;
        }
        self.t_c.spend(len, m.now, Dur::ZERO);
        Colour::Green
    }
    fn worst(&self) -> Colour {
        Colour::Red
    }
}
