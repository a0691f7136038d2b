//! What a scenario may say of a QUIC stack.

use super::law::{self, LawFactory};
use super::null::Sizes;
use super::proto::congestion::ControllerFactory;
use super::proto::{IdleTimeout, TransportConfig, VarInt};
use super::seam::Congestion;
use crosswind_base::units::Size;
use crosswind_base::{ConfigError, Dur};
use crosswind_transport::tcp::law::ControllerParams;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Whether a run may draw from the operating system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unrepeatable {
    /// What cannot be repeated is refused.
    #[default]
    Refuse,
    /// Two runs with one seed may differ.
    Allow,
}

/// The cryptographic session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Crypto {
    /// One that encrypts nothing: sizes and order of a handshake's messages, tags of the usual size.
    #[default]
    Null,
    /// The stack's own: TLS 1.3 by rustls. Slower; what it draws follows from the seed.
    Tls,
}

/// Parameters of a QUIC stack; both ends of a flow have the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuicParams {
    /// Which of the stack's own congestion controllers runs.
    pub congestion: Congestion,
    /// In its place a window law of Crosswind: a name, or a table with parameters, `{ law = "htcp", htcp = { beta_max = 0.7 } }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ControllerParams>")]
    pub law: Option<Value>,
    /// Bytes of UDP payload of a full packet. Path MTU discovery is off.
    pub initial_mtu: Size,
    /// The most datagrams that leave at one instant (segmentation offload).
    pub segments: u32,
    /// The cryptographic session.
    pub crypto: Crypto,
    /// Bytes of the server's certificates and what goes with them in its handshake; with `tls` about so many, and 530 at least.
    pub certificate: Size,
    /// Flow control of a stream.
    pub stream_window: Size,
    /// Flow control of the connection, and the most that waits to be acknowledged.
    pub connection_window: Size,
    /// Streams that one end may have open at once.
    pub streams: u32,
    /// The round-trip time that is assumed before the first sample.
    pub initial_rtt: Dur,
    /// The first window. Left out: the stack's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<Size>,
    /// A packet is lost when this many that were sent later have been acknowledged.
    pub packet_threshold: u32,
    /// A packet is lost when it is older than this many round-trip times.
    pub time_threshold: f32,
    /// A connection without any packet for so long is lost.
    pub idle_timeout: Dur,
    /// Whether a controller may run that draws numbers which no seed reaches.
    pub unrepeatable: Unrepeatable,
}

impl Default for QuicParams {
    fn default() -> QuicParams {
        QuicParams {
            congestion: Congestion::Cubic,
            law: None,
            initial_mtu: Size(1452),
            segments: 10,
            crypto: Crypto::Null,
            certificate: Size(800),
            stream_window: Size(10_000_000),
            connection_window: Size(10_000_000),
            streams: 100,
            initial_rtt: Dur::from_millis(333),
            initial_window: None,
            packet_threshold: 3,
            time_threshold: 1.125,
            idle_timeout: Dur::from_secs(30),
            unrepeatable: Unrepeatable::Refuse,
        }
    }
}

impl QuicParams {
    /// Refuses what the stack would not take. `path`: where the parameters stand in the scenario.
    pub fn check(&self, path: &str) -> Result<(), ConfigError> {
        let within = |key: &str, value: u64, low: u64, high: u64, unit: &str| {
            let expected = format!("from {low}{unit} to {high}{unit}");
            let wrong = || ConfigError::new(format!("{path}.{key}"), format!("{value}{unit}"), expected);
            if (low..=high).contains(&value) { Ok(()) } else { Err(wrong()) }
        };
        let most = (1 << 62) - 1;
        within("initial_mtu", self.initial_mtu.0, 1200, 65_527, " B")?;
        within("segments", self.segments.into(), 1, 64, "")?;
        within("certificate", self.certificate.0, 1, 60_000, " B")?;
        within("stream_window", self.stream_window.0, 1, most, " B")?;
        within("connection_window", self.connection_window.0, 1, most, " B")?;
        within("streams", self.streams.into(), 1, 1 << 20, "")?;
        within("packet_threshold", self.packet_threshold.into(), 3, 1 << 20, "")?;
        within("initial_window", self.initial_window.map_or(2400, |w| w.0), 2400, most, " B")?;
        for (key, value) in [("initial_rtt", self.initial_rtt), ("idle_timeout", self.idle_timeout)] {
            if !(Dur::from_millis(1)..=Dur::from_secs(86_400)).contains(&value) {
                let found = crosswind_base::units::show_dur(value);
                return Err(ConfigError::new(format!("{path}.{key}"), found, "from 1 ms to a day"));
            }
        }
        if !(1.0..=100.0).contains(&self.time_threshold) {
            let found = self.time_threshold.to_string();
            return Err(ConfigError::new(format!("{path}.time_threshold"), found, "from 1 to 100 round-trip times"));
        }
        self.check_law(path)?;
        if self.crypto == Crypto::Tls && !cfg!(feature = "tls") {
            let expected = "\"null\", or a build of the stacks with the feature `tls`";
            return Err(ConfigError::new(
                format!("{path}.crypto"),
                "\"tls\", which this build does not have",
                expected,
            ));
        }
        if self.congestion.draws() && self.unrepeatable == Unrepeatable::Refuse {
            let expected = "\"cubic\" or \"newreno\", or `unrepeatable = \"allow\"`: this controller draws numbers that no \
                            seed reaches";
            return Err(ConfigError::new(format!("{path}.congestion"), self.congestion.quoted(), expected));
        }
        Ok(())
    }

    fn check_law(&self, path: &str) -> Result<(), ConfigError> {
        let Some(table) = &self.law else { return Ok(()) };
        if self.congestion != Congestion::default() {
            let expected = "`congestion` or `law`, not both";
            return Err(ConfigError::new(format!("{path}.congestion"), self.congestion.quoted(), expected));
        }
        law::read(table, &format!("{path}.law")).map(|_| ())
    }

    pub(super) fn sizes(&self) -> Sizes {
        Sizes { hello: 250, answer: 90, certificate: self.certificate.0 as usize, finished: 36 }
    }

    pub(super) fn controller(&self) -> Arc<dyn ControllerFactory + Send + Sync> {
        let initial_window = self.initial_window.map(|w| w.0);
        match &self.law {
            None => self.congestion.factory(initial_window),
            Some(table) => {
                let law = law::read(table, "law").unwrap_or_else(|e| panic!("checked with the scenario: {e}"));
                Arc::new(LawFactory { law, initial_window })
            }
        }
    }

    pub(super) fn transport(&self, controller: Arc<dyn ControllerFactory + Send + Sync>) -> TransportConfig {
        let var = |n: u64| VarInt::from_u64(n).unwrap_or(VarInt::MAX);
        let idle = IdleTimeout::try_from(Duration::from_nanos(self.idle_timeout.0)).ok();
        let mut t = TransportConfig::default();
        t.mtu_discovery_config(None)
            .initial_mtu(self.initial_mtu.0 as u16)
            .min_mtu(1200)
            .stream_receive_window(var(self.stream_window.0))
            .receive_window(var(self.connection_window.0))
            .send_window(self.connection_window.0)
            .max_concurrent_bidi_streams(var(self.streams.into()))
            .max_concurrent_uni_streams(var(self.streams.into()))
            .initial_rtt(Duration::from_nanos(self.initial_rtt.0))
            .packet_threshold(self.packet_threshold)
            .time_threshold(self.time_threshold)
            .max_idle_timeout(idle)
            .enable_segmentation_offload(self.segments > 1)
            .congestion_controller_factory(controller);
        t
    }
}
