//! # Two colours by a token bucket
//!
//! **Source**: igarashi section 2.9; rfc2475 section 2.3.3.1; clark-fang-1998 section 3.
//!
//! **Idea**: a bucket of `cbs` bytes fills at `cir`. A packet that finds enough credit is green and takes it; any other is
//! yellow. With `yellow = "drop"` in the contract this is a policer.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `cir` | bit/s | 1 Mbit/s | the contract; scenarios must give it |
//! | `cbs` | bytes | 10000 B | ours: ten packets of 1000 B |
//! | `mode` | - | colour-blind | a packet that comes yellow or red stays so in colour-aware mode and costs nothing |
//!
//! **Deviations**: none.
//!
//! **Checked by**: oracle `markers` on random arrivals; conformance suite; claim IC6.12.

use super::{Meter, Metered, Mode, check_burst};
use crate::params::{self, Params};
use crate::sched::bucket::Bucket;
use crosswind_base::{BitRate, Colour, ConfigError, Dur, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the token bucket marker.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TokenBucketParams {
    /// Rate at which the bucket fills.
    pub cir: BitRate,
    /// Size of the bucket.
    pub cbs: Size,
    /// Whether the colour that a packet comes with counts.
    pub mode: Mode,
}

impl Default for TokenBucketParams {
    fn default() -> Self {
        TokenBucketParams { cir: BitRate(1_000_000), cbs: Size(10_000), mode: Mode::ColourBlind }
    }
}

impl Params for TokenBucketParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("cir", self.cir)?;
        check_burst("cbs", self.cbs)
    }
}

/// The token bucket marker.
pub struct TokenBucket {
    mode: Mode,
    bucket: Bucket,
}

impl TokenBucket {
    pub fn new(p: TokenBucketParams) -> TokenBucket {
        TokenBucket { mode: p.mode, bucket: Bucket::new(p.cir, p.cbs) }
    }
}

impl Meter for TokenBucket {
    fn colour(&mut self, m: &Metered) -> Colour {
        let was = self.mode.seen(m.was);
        if was > Colour::Green {
            return was;
        }
        if !self.bucket.covers(u64::from(m.len), m.now) {
            return Colour::Yellow;
        }
        self.bucket.spend(u64::from(m.len), m.now, Dur::ZERO);
        Colour::Green
    }
    fn worst(&self) -> Colour {
        if self.mode == Mode::ColourAware { Colour::Red } else { Colour::Yellow }
    }
}
