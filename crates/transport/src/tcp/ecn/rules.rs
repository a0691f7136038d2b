//! What may be asked for about marks, what both ends agree on, and what one ACK tells of them.

use crate::tcp::choices::choice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a connection uses ECN for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMode {
    /// No ECN.
    #[default]
    Off,
    /// RFC 3168: one answer a round trip; `on` is another name of it.
    #[serde(alias = "on")]
    Classic,
    /// RFC 8257: the receiver echoes marks as they come.
    Dctcp,
    /// RFC 9768 (AccECN): the receiver counts marks; with a peer that cannot, as `classic`.
    Accurate,
}

impl EcnMode {
    pub fn on(self) -> bool {
        self != EcnMode::Off
    }
}

impl JsonSchema for EcnMode {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TcpEcn".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What a connection uses ECN for.",
            "oneOf": [
                { "const": "off", "type": "string", "description": "No ECN." },
                { "const": "classic", "type": "string", "description": "RFC 3168: one answer a round trip." },
                { "const": "dctcp", "type": "string", "description": "RFC 8257: the receiver echoes marks as they come." },
                { "const": "accurate", "type": "string",
                  "description": "RFC 9768 (AccECN): the receiver counts marks; with a peer that cannot, as `classic`." },
                { "const": "on", "type": "string", "description": "Another name of `classic`." }
            ]
        })
    }
}

choice!(
    /// The code point of packets that may be marked.
    #[derive(Default)]
    Codepoint {
        /// ECT(0): classic queues.
        #[default]
        Ect0,
        /// ECT(1): L4S (RFC 9331).
        Ect1,
    }
);
choice!(
    /// Which packets may be marked.
    #[derive(Default)]
    Capable {
        /// As the mode has it: `classic` new data, `dctcp` all, `accurate` all but SYN and SYN-ACK.
        #[default]
        Mode,
        /// New data only (RFC 3168).
        Data,
        /// All but SYN and SYN-ACK (Linux with AccECN).
        Established,
        /// All (DCTCP and Prague in Linux).
        All,
    }
);
choice!(
    /// What the own SYN asks for.
    #[derive(Default)]
    Request {
        /// What `ecn` says.
        #[default]
        Mode,
        /// At most the ECN of RFC 3168.
        Classic,
        /// Nothing; a peer that asks is answered as `ecn` says.
        Nothing,
    }
);
choice!(
    /// When a segment carries the AccECN option.
    #[derive(Default)]
    OptionRule {
        /// Never.
        Off,
        /// During the handshake, on the first data, and when a counter has changed (RFC 9768 section 3.2.3.3).
        #[default]
        Minimum,
        /// On every segment that has room (Linux).
        Always,
    }
);
choice!(
    /// Whether ACKs that always stand for many packets are believed to have lost no turn of the counter.
    #[derive(Default)]
    Thinning {
        /// No.
        Off,
        /// Once they stand for more than four packets on average (RFC 9768 appendix A.2.1; Linux).
        #[default]
        #[serde(rename = "linux")]
        FromFour,
    }
);
choice!(
    /// Whether the path is watched for changes of the field that no router may make.
    #[derive(Default)]
    PathTest {
        Off,
        /// What the handshake tells of one ends the use of ECT (RFC 9768 section 3.2.2.3).
        #[default]
        On,
    }
);

/// Details of ECN that few set.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EcnRules {
    /// Which packets may be marked.
    pub capable: Capable,
    /// What the own SYN asks for.
    pub request: Request,
    /// When a segment carries the AccECN option.
    pub option: OptionRule,
    /// What is made of ACKs that stand for many packets.
    pub thinning: Thinning,
    /// Whether the path is watched for changes that no router may make.
    pub path_test: PathTest,
}

/// What both ends use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Agreed {
    #[default]
    Nothing,
    Classic,
    Dctcp,
    Accurate,
}

impl Agreed {
    pub fn is_any(self) -> bool {
        self != Agreed::Nothing
    }
}

/// What one ACK tells of marks. Packets are those that it shows to have been delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks {
    pub packets: u32,
    /// Payload of packets that carried a mark; where only packets are counted, in proportion.
    pub bytes: u64,
}
