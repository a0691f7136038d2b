//! What a scenario may say of smoltcp.

use crosswind_base::units::{Size, show_dur};
use crosswind_base::{ConfigError, Dur};
use crosswind_transport::stack::Role;
use crosswind_transport::tcp::{TcpParams, preset};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Congestion controllers of smoltcp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Congestion {
    #[default]
    Cubic,
    Reno,
    /// As much as the peer's window allows.
    None,
}

/// Which ends of a connection run smoltcp; the other one runs Crosswind's TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunsAt {
    #[default]
    Both,
    /// The end that opens the connection.
    Client,
    /// The end that answers.
    Server,
}

impl RunsAt {
    pub fn has(self, role: Role) -> bool {
        match self {
            RunsAt::Both => true,
            RunsAt::Client => role == Role::Client,
            RunsAt::Server => role == Role::Server,
        }
    }
}

/// Parameters of smoltcp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SmoltcpParams {
    /// Which of its own congestion controllers runs.
    pub congestion: Congestion,
    /// Which ends run smoltcp.
    pub runs_at: RunsAt,
    /// Bytes of the largest packet, IP header included.
    pub mtu: Size,
    /// Buffers of a socket; the first is what the peer is offered.
    pub receive_buffer: Size,
    pub send_buffer: Size,
    /// How long an acknowledgement may wait for a second segment.
    pub ack_delay: Dur,
    /// A connection of which the peer is silent for so long is lost.
    pub idle_timeout: Dur,
    /// Parameters of Crosswind's TCP at the other end, as in a `tcp` table.
    pub tcp: Map<String, Value>,
}

impl Default for SmoltcpParams {
    fn default() -> SmoltcpParams {
        SmoltcpParams {
            congestion: Congestion::Cubic,
            runs_at: RunsAt::Both,
            mtu: Size(1500),
            receive_buffer: Size(1_000_000),
            send_buffer: Size(1_000_000),
            ack_delay: Dur::from_millis(10),
            idle_timeout: Dur::from_secs(120),
            tcp: Map::new(),
        }
    }
}

impl SmoltcpParams {
    /// Refuses what makes no sense; the parameters of the other end. `path`: where these stand in the scenario.
    pub fn check(&self, path: &str) -> Result<TcpParams, ConfigError> {
        let sizes = [
            ("mtu", self.mtu, 576, 65_535),
            ("receive_buffer", self.receive_buffer, 2048, 1 << 30),
            ("send_buffer", self.send_buffer, 2048, 1 << 30),
        ];
        for (key, value, low, high) in sizes {
            if !(low..=high).contains(&value.0) {
                let expected = format!("from {low} B to {high} B");
                return Err(ConfigError::new(format!("{path}.{key}"), format!("{} B", value.0), expected));
            }
        }
        if !(Dur::from_millis(1)..=Dur::from_secs(86_400)).contains(&self.idle_timeout) {
            let found = show_dur(self.idle_timeout);
            return Err(ConfigError::new(format!("{path}.idle_timeout"), found, "from 1 ms to a day"));
        }
        if self.ack_delay > Dur::from_secs(1) {
            return Err(ConfigError::new(format!("{path}.ack_delay"), show_dur(self.ack_delay), "at most 1 s"));
        }
        if self.runs_at == RunsAt::Both && !self.tcp.is_empty() {
            let expected = "no parameters of Crosswind's TCP, or `runs_at = \"client\"` or `\"server\"`";
            return Err(ConfigError::new(format!("{path}.tcp"), "both ends are smoltcp", expected));
        }
        preset::read(&Value::Object(self.tcp.clone()), &format!("{path}.tcp"))
    }
}
