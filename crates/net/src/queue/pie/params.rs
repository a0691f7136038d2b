//! The parameters of PIE; its page is in `pie/mod.rs`.

use crate::params::{self, Params};
use crate::queue::aqm::{EcnMode, Setup};
use crate::switch::Switch;
use crosswind_base::{ConfigError, Dur, Limit, Size, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How it computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// As the RFC is written, in real numbers.
    #[default]
    Rfc8033,
    /// As the kernel, in whole numbers.
    Linux,
}

/// How the delay is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// What the packet that left last had waited.
    #[default]
    Timestamp,
    /// The backlog over the rate at which packets leave.
    Rate,
}

/// When a law that may rest does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quiet {
    /// Nothing is selected, and the delay was below half the target twice.
    #[default]
    Short,
    /// Nothing is selected, and there was no delay twice.
    Empty,
}

/// Parameters of PIE.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PieParams {
    /// How it computes.
    pub profile: Profile,
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// The delay at which the probability rests.
    pub target: Dur,
    /// Between two updates of the probability.
    pub t_update: Dur,
    /// Gain of the deviation from the target, in Hz.
    pub alpha: f64,
    /// Gain of the change since the last update, in Hz.
    pub beta: f64,
    /// For how long a queue that was short may be long.
    pub max_burst: Dur,
    /// How the delay is found.
    pub estimator: Estimator,
    /// How much waits when the law turns active, or "none" for one that always is.
    pub active_from: Switch<Limit>,
    /// When it turns inactive.
    pub inactive_when: Quiet,
    /// Whether picks are kept apart.
    pub derandomise: bool,
    /// Whether the probability grows with the size of the packet.
    pub byte_mode: bool,
    /// The usual packet.
    pub mean_packet: Size,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
    /// From this probability on they are dropped in any case.
    pub ecn_below: f64,
}

impl Default for PieParams {
    fn default() -> Self {
        PieParams {
            profile: Profile::Rfc8033,
            limit: Limit::Packets(1000),
            target: Dur::from_millis(15),
            t_update: Dur::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Dur::from_millis(150),
            estimator: Estimator::Timestamp,
            active_from: Switch::Off,
            inactive_when: Quiet::Short,
            derandomise: true,
            byte_mode: false,
            mean_packet: Size(1500),
            ecn: EcnMode::Mark,
            ecn_below: 0.1,
        }
    }
}

impl Params for PieParams {
    fn fill(written: &mut Map<String, Value>) {
        if written.get("profile").is_some_and(|p| p == "linux") {
            written.entry("mean_packet").or_insert_with(|| "1514 B".into());
            written.entry("ecn").or_insert_with(|| "drop".into());
        }
    }
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        check_span("target", self.target, [Dur::from_micros(2), Dur::from_secs(100)], "from 2 us to 100 s")?;
        check_span("t_update", self.t_update, [Dur::from_micros(100), Dur::from_secs(100)], "from 100 us to 100 s")?;
        check_span("max_burst", self.max_burst, [Dur::ZERO, Dur::from_secs(100)], "at most 100 s")?;
        params::check_packet_size("mean_packet", self.mean_packet)?;
        params::check_range("ecn_below", self.ecn_below, 0.0..=1.0)?;
        for (key, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            params::check_range(key, gain, 0.0..=100.0)?;
            if self.profile == Profile::Linux && (gain * 16.0).fract() != 0.0 {
                return Err(ConfigError::new(key, gain.to_string(), "sixteenths with the profile `linux`"));
            }
        }
        self.active_from.as_ref().map_or(Ok(()), |l| params::check_limit("active_from", *l))?;
        if self.profile == Profile::Linux {
            let told = [
                ("derandomise", !self.derandomise, "false".to_string()),
                ("ecn_below", self.ecn_below != 0.1, self.ecn_below.to_string()),
                ("active_from", !self.active_from.is_off(), "a length".into()),
                ("inactive_when", self.inactive_when != Quiet::Short, "`empty`".into()),
            ];
            if let Some((key, _, found)) = told.into_iter().find(|(_, differs, _)| *differs) {
                return Err(ConfigError::new(key, found, "the default with the profile `linux`, which cannot be told"));
            }
        }
        Ok(())
    }
}

pub(super) fn check_span(key: &str, d: Dur, [least, most]: [Dur; 2], expected: &str) -> Result<(), ConfigError> {
    if (least..=most).contains(&d) { Ok(()) } else { Err(ConfigError::new(key, units::show_dur(d), expected)) }
}

impl PieParams {
    pub(super) fn setup(&self) -> Setup {
        Setup::fits(self.limit, self.ecn)
    }
}

/// Bytes that must wait before the rate is measured, and that one measurement takes.
pub(super) const CYCLE_BYTES: u64 = 1 << 14;
