//! # Two-rate three-colour marker that spares what is in profile
//!
//! **Source**: rfc4115 section 2.
//!
//! **Idea**: two independent buckets, of `cbs` bytes at `cir` and of `ebs` bytes at `eir`. Green packets try the first and
//! then the second, yellow ones only the second, red ones neither: excess traffic cannot use up committed credit.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `cir` | bit/s | 1 Mbit/s | the contract; scenarios must give it |
//! | `cbs` | bytes | 10000 B | ours: ten packets of 1000 B |
//! | `eir` | bit/s | 1 Mbit/s | the contract |
//! | `ebs` | bytes | 10000 B | ours |
//! | `mode` | - | colour-blind | rfc4115 has both |
//!
//! **Deviations**: 1. As `trtcm`, credit grows continuously. A packet needs more credit than its length, as the source
//! has it, where the other markers need as much.
//!
//! **Checked by**: oracle `markers` on random arrivals in both modes; conformance suite.

use super::{Meter, Metered, Mode, check_burst};
use crate::params::{self, Params};
use crate::sched::bucket::Bucket;
use crosswind_base::{BitRate, Colour, ConfigError, Dur, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the marker with committed and excess rate.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Trtcm4115Params {
    /// Committed rate.
    pub cir: BitRate,
    /// Committed burst.
    pub cbs: Size,
    /// Excess rate.
    pub eir: BitRate,
    /// Excess burst.
    pub ebs: Size,
    /// Whether the colour that a packet comes with counts.
    pub mode: Mode,
}

impl Default for Trtcm4115Params {
    fn default() -> Self {
        let rate = BitRate(1_000_000);
        Trtcm4115Params { cir: rate, cbs: Size(10_000), eir: rate, ebs: Size(10_000), mode: Mode::ColourBlind }
    }
}

impl Params for Trtcm4115Params {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("cir", self.cir)?;
        params::check_rate("eir", self.eir)?;
        check_burst("cbs", self.cbs)?;
        check_burst("ebs", self.ebs)
    }
}

/// The marker with committed and excess rate.
pub struct Trtcm4115 {
    mode: Mode,
    t_c: Bucket,
    t_e: Bucket,
}

impl Trtcm4115 {
    pub fn new(p: Trtcm4115Params) -> Trtcm4115 {
        Trtcm4115 { mode: p.mode, t_c: Bucket::new(p.cir, p.cbs), t_e: Bucket::new(p.eir, p.ebs) }
    }
}

impl Meter for Trtcm4115 {
    fn colour(&mut self, m: &Metered) -> Colour {
        let len = u64::from(m.len);
        let was = self.mode.seen(m.was);
        if was == Colour::Green && self.t_c.exceeds(len, m.now) {
            self.t_c.spend(len, m.now, Dur::ZERO);
            return Colour::Green;
        }
        if was <= Colour::Yellow && self.t_e.exceeds(len, m.now) {
            self.t_e.spend(len, m.now, Dur::ZERO);
            return Colour::Yellow;
        }
        Colour::Red
    }
    fn worst(&self) -> Colour {
        Colour::Red
    }
}
