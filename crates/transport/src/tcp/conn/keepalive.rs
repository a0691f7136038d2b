//! # Keepalive
//!
//! **Source**: rfc9293 section 3.8.4; rfc1122 section 4.2.3.6; linux-2.4 `tcp_keepalive_timer` (times, number of probes).
//!
//! **Idea**: when nothing has come for `idle` and nothing of ours is under way, an ACK just below the next byte is sent: the peer
//! answers it if it still knows the connection. After `probes` of them without an answer, `interval` apart, the connection is
//! given up with a reset.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `keepalive.idle` | time | 0 | rfc9293 section 3.8.4: off unless asked for, and then not below 2 hours |
//! | `keepalive.interval` | time | 75 s | linux-2.4 `tcp_keepalive_intvl` |
//! | `keepalive.probes` | probes | 9 | linux-2.4 `tcp_keepalive_probes` |
//!
//! **Deviations**: 1. Probes bear no byte of data (rfc1122 has an option for that).
//!
//! **Checked by**: tapes `keepalive_*`.

use crosswind_base::{ConfigError, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a silent peer is asked for signs of life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KeepaliveParams {
    /// How long nothing may come before the first probe; zero: there are none.
    pub idle: Dur,
    /// Time from a probe that is not answered to the next.
    pub interval: Dur,
    /// Probes without an answer after which the connection is given up.
    pub probes: u32,
}

impl Default for KeepaliveParams {
    fn default() -> KeepaliveParams {
        KeepaliveParams { idle: Dur::ZERO, interval: Dur::from_secs(75), probes: 9 }
    }
}

impl KeepaliveParams {
    pub fn is_on(&self) -> bool {
        self.idle > Dur::ZERO
    }
    /// Refuses numbers that make no sense.
    pub fn check(&self) -> Result<(), ConfigError> {
        let positive = |key, is_zero, expected| match is_zero && self.is_on() {
            true => Err(ConfigError::new(key, "0", expected)),
            false => Ok(()),
        };
        positive("interval", self.interval == Dur::ZERO, "a time above zero")?;
        positive("probes", self.probes == 0, "a number of at least 1")
    }
}

/// What is known of the peer's life.
#[derive(Clone, Copy, Debug)]
pub struct Keepalive {
    pub(super) heard_at: Time,
    pub(super) unanswered: u32,
}
