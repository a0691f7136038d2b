//! What a transport that sends at a rate says of itself, once: its name and its keys, its bundles of parameters, and what makes its
//! two ends. A row of [`super::table`] is made of it, and from that row scenarios, results, schemas and pages have all they need.

use super::{Receiver, Sender, Supply};
use crate::bundle;
use crosswind_base::registry::{Preset, Row};
use crosswind_base::units::Size;
use crosswind_base::{ConfigError, Rng, Setting};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// Whether what is sent arrives in order and completely.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// A stream, like that of TCP: what is lost comes again.
    Reliable,
    /// Packets: what is lost is lost.
    Unreliable,
}

/// How the application hands its data over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As bytes of a stream.
    Written,
    /// As messages, each of which fills a packet.
    Messages,
}

/// The parameters of one transport, and with them the transport itself.
pub trait Protocol: Clone + Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// Its name in scenarios (`transport.type`, and the key of its own) and in results.
    const NAME: &'static str;
    /// What that key is, for the reference of scenarios.
    const KEY: &'static str;
    const DELIVERY: Delivery;
    /// Headers of a packet with data, in bytes, those of IP and UDP among them.
    const DATA_HEADERS_BYTES: u16;
    /// Keys that may change while a flow lives: those that its ends read anew whenever they need them.
    const LIVE_KEYS: &'static [&'static str];
    /// Bundles of parameters; the first is the default.
    const PRESETS: &'static [Preset<Self>];
    /// Refuses values that make no sense together; `path` is where the table stands.
    fn check(&self, path: &str) -> Result<(), ConfigError>;
    /// Of a packet with data, headers and all.
    fn packet_size(&mut self) -> &mut Size;
    /// Messages that wait for their turn, at most.
    fn send_queue_packets(&self) -> u32;
    /// `rng` is the stream of this end of its flow.
    fn sender(self: Arc<Self>, supply: Supply, rng: Rng) -> Box<dyn Sender>;
    fn receiver(self: Arc<Self>) -> Box<dyn Receiver>;
}

/// Parameters of some transport, read and checked, and the ends that are made of them.
pub trait Parameters: Debug + Send + Sync {
    /// Its name in scenarios.
    fn name(&self) -> &'static str;
    /// Those that may change while a flow lives.
    fn live_keys(&self) -> &'static [&'static str];
    fn packet_size(&self) -> Size;
    fn sender(&self, form: Form, rng: Rng) -> Box<dyn Sender>;
    fn receiver(&self) -> Box<dyn Receiver>;
    /// As JSON, without the name of a bundle.
    fn value(&self) -> Value;
}

/// A bundle of parameters of some transport.
pub struct Bundle {
    pub name: &'static str,
    pub title: &'static str,
    pub source: &'static str,
    pub params: Value,
}

/// What a row knows beside name, page and schema.
pub struct Built {
    pub key: &'static str,
    pub delivery: Delivery,
    pub live_keys: &'static [&'static str],
    pub presets: fn() -> Vec<Bundle>,
    read: fn(Table<'_>) -> Result<Arc<dyn Parameters>, ConfigError>,
    setting: fn(Table<'_>) -> Result<Setting, ConfigError>,
}

/// One transport.
pub type RateRow = Row<&'static str, Built>;

/// A table of parameters as it is written, and where it stands.
#[derive(Clone, Copy)]
struct Table<'a> {
    value: &'a Value,
    path: &'a str,
    /// The size of the application's messages: packets are as long as those need.
    payload: Option<Size>,
}

impl Built {
    /// Reads and checks a table of parameters: a bundle and what differs from it. With `payload`, the size of the application's messages,
    /// packets have the size that those need.
    pub fn read(&self, value: &Value, path: &str, payload: Option<Size>) -> Result<Arc<dyn Parameters>, ConfigError> {
        (self.read)(Table { value, path, payload })
    }

    /// Reads parameters for ends that live, which take them by `retune`.
    pub fn setting(&self, value: &Value, path: &str) -> Result<Setting, ConfigError> {
        (self.setting)(Table { value, path, payload: None })
    }

    pub fn is_reliable(&self) -> bool {
        self.delivery == Delivery::Reliable
    }
}

/// A row of the table. `source` is the file whose header is the reference page.
pub const fn row<P: Protocol>(source: &'static str) -> RateRow {
    let build = Built {
        key: P::KEY,
        delivery: P::DELIVERY,
        live_keys: P::LIVE_KEYS,
        presets: bundles::<P>,
        read: |table| Ok(Arc::new(Of(Arc::new(read::<P>(table)?)))),
        setting: |table| Ok(Setting::new(Arc::new(read::<P>(table)?))),
    };
    Row { kind: "transport", name: P::NAME, source, schema: Some(|| schema_for!(P)), build }
}

fn bundles<P: Protocol>() -> Vec<Bundle> {
    let of = |p: &Preset<P>| Bundle { name: p.name, title: p.title, source: p.source, params: plain(&(p.make)()) };
    P::PRESETS.iter().map(of).collect()
}

fn plain<P: Serialize>(params: &P) -> Value {
    serde_json::to_value(params).expect("parameters are plain data with text keys")
}

fn read<P: Protocol>(Table { value, path, payload }: Table<'_>) -> Result<P, ConfigError> {
    let names: Vec<&str> = P::PRESETS.iter().map(|p| p.name).collect();
    let preset = |name: &str| P::PRESETS.iter().find(|p| p.name == name).map(|p| (p.make)());
    let mut params: P = bundle::read(value, path, &names, preset)?;
    params.check(path)?;
    if let Some(payload) = payload {
        *params.packet_size() = Size(payload.0 + u64::from(P::DATA_HEADERS_BYTES));
        params.check(path)?;
    }
    Ok(params)
}

/// Parameters whose type is known here alone.
struct Of<P>(Arc<P>);

impl<P: Debug> Debug for Of<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<P: Protocol> Parameters for Of<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }
    fn live_keys(&self) -> &'static [&'static str] {
        P::LIVE_KEYS
    }
    fn packet_size(&self) -> Size {
        *P::clone(&self.0).packet_size()
    }
    fn sender(&self, form: Form, rng: Rng) -> Box<dyn Sender> {
        let payload = self.packet_size().0 as u16 - P::DATA_HEADERS_BYTES;
        let supply = match form {
            Form::Written => Supply::written(payload),
            Form::Messages => Supply::stream(payload, self.0.send_queue_packets()),
        };
        self.0.clone().sender(supply, rng)
    }
    fn receiver(&self) -> Box<dyn Receiver> {
        self.0.clone().receiver()
    }
    fn value(&self) -> Value {
        plain(&*self.0)
    }
}
