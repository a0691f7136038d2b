//! The parameters of CAKE; its page is in `cake/mod.rs`.

use super::ack_filter::AckFilter;
use super::framing::{Cells, Extra, FRAMINGS, Framing};
use super::tin::{Shared, Terms};
use super::tins::{Share, Tins};
use crate::params::{self, Params};
use crate::queue::aqm::EcnMode;
use crate::switch::Switch;
use crosswind_base::{BitRate, ConfigError, Dur, Limit, Size, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Whose packets share a queue, and whose queues share a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// All packets share one queue.
    Flowblind,
    /// A queue for each source host.
    Srchost,
    /// A queue for each destination host.
    Dsthost,
    /// A queue for each pair of hosts.
    Hosts,
    /// A queue for each flow.
    Flows,
    /// The same, and the flows of a source host share its turn.
    DualSrchost,
    /// The same for destination hosts.
    DualDsthost,
    /// The same for whichever host has more flows.
    #[default]
    TripleIsolate,
}

impl Isolation {
    pub(super) fn shared(self) -> Shared {
        let of = |one| [one, Isolation::TripleIsolate].contains(&self);
        Shared { source: of(Isolation::DualSrchost), destination: of(Isolation::DualDsthost) }
    }
}

/// Which packets the shaper is charged for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Charged {
    /// Those that it lets through.
    #[default]
    Sent,
    /// Those that the law drops, too.
    All,
}

/// Parameters of CAKE.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CakeParams {
    /// The rate of the shaper, or "none".
    pub rate: Switch<BitRate>,
    /// The round-trip time that the law reckons with.
    pub rtt: Dur,
    /// Which tins there are.
    pub tins: Tins,
    /// Whose packets share a queue or a turn.
    pub isolation: Isolation,
    /// A line that fills in `overhead`, `mpu` and `cells`.
    pub framing: String,
    /// Bytes of the link's headers, added to the length of the IP packet.
    pub overhead: Extra,
    /// No packet is charged less.
    pub mpu: Size,
    /// What the line carries packets in.
    pub cells: Cells,
    /// Which packets the shaper is charged for.
    pub charge: Charged,
    /// Whether acknowledgements give way to newer ones.
    pub ack_filter: AckFilter,
    /// How much all queues hold, or "none" for what follows from the rate.
    pub memory_limit: Switch<Size>,
    /// The longest packet, with its link-layer header.
    pub mtu: Size,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
}

impl Default for CakeParams {
    fn default() -> Self {
        CakeParams {
            rate: Switch::Off,
            rtt: Dur::from_millis(100),
            tins: Tins::default(),
            isolation: Isolation::default(),
            framing: "none".to_string(),
            overhead: Extra(0),
            mpu: Size(0),
            cells: Cells::None,
            charge: Charged::Sent,
            ack_filter: AckFilter::Off,
            memory_limit: Switch::Off,
            mtu: Size(1514),
            ecn: EcnMode::Mark,
        }
    }
}

impl Params for CakeParams {
    fn fill(written: &mut Map<String, Value>) {
        let named = written.get("framing").and_then(Value::as_str);
        let Some((_, overhead, mpu, cells)) = FRAMINGS.iter().find(|f| Some(f.0) == named) else { return };
        let cells = serde_json::to_value(cells).unwrap_or_default();
        for (key, value) in
            [("overhead", format!("{overhead} B").into()), ("mpu", format!("{mpu} B").into()), ("cells", cells)]
        {
            written.entry(key).or_insert(value);
        }
    }
    fn check(&self) -> Result<(), ConfigError> {
        let names = FRAMINGS.map(|f| f.0);
        if !names.contains(&self.framing.as_str()) {
            return Err(ConfigError::unknown("framing", &self.framing, "the name of a line", &names));
        }
        if let Some(rate) = self.rate.as_ref() {
            params::check_rate("rate", *rate)?;
            if !(BitRate(1000)..=BitRate(1_000_000_000_000)).contains(rate) {
                return Err(ConfigError::new("rate", units::show_rate(*rate), "from 1 kbit/s to 1000 Gbit/s"));
            }
        }
        if !(Dur::from_micros(100)..=Dur::from_secs(4)).contains(&self.rtt) {
            return Err(ConfigError::new("rtt", units::show_dur(self.rtt), "from 100 us to 4 s"));
        }
        if let Some(limit) = self.memory_limit.as_ref() {
            params::check_limit("memory_limit", Limit::Bytes(limit.0))?;
        }
        params::check_packet_size("mtu", self.mtu)?;
        self.line().check()
    }
}

/// Without a limit of its own: so many packets.
pub(super) const PACKETS: u64 = 10_240;
pub(super) const LEAST_MEMORY: u64 = 4 << 20;

impl CakeParams {
    /// Bytes per second; zero stands for no limit.
    pub(super) fn bytes_per_s(&self) -> u64 {
        self.rate.as_ref().map_or(0, |r| r.0 / 8)
    }
    pub(super) fn line(&self) -> Framing {
        Framing { overhead: self.overhead, mpu: self.mpu, cells: self.cells }
    }
    /// Bytes that all queues may hold.
    pub(super) fn memory(&self) -> u64 {
        let by_rate = |rate: u64| (4 * u128::from(rate) * u128::from(self.rtt.0) / 1_000_000_000) as u64;
        match (self.memory_limit.as_ref(), self.bytes_per_s()) {
            (Some(own), _) => own.0,
            (None, 0) => PACKETS * self.mtu.0,
            (None, rate) => by_rate(rate).max(LEAST_MEMORY).min(PACKETS * self.mtu.0),
        }
    }
    /// Names of the tins, and what each goes by.
    pub(super) fn terms(&self) -> Vec<(&'static str, Terms)> {
        let target = Dur((self.rtt.0 / 20).max(1000));
        let of =
            |s: Share| (s.name, Terms { rate: s.rate, quantum: s.quantum, mtu: self.mtu.0, target, rtt: self.rtt });
        self.tins.shares(self.bytes_per_s()).into_iter().map(of).collect()
    }
}
