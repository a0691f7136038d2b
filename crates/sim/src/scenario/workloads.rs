//! What the application of a flow does: the parameters of every workload.

use super::draw::Draw;
use crosswind_base::packet::Life;
use crosswind_base::{BitRate, ConfigError, Dur, Size, config};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the application of a flow does; `type` chooses.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum WorkloadParams {
    Bulk(Bulk),
    Page(Page),
    Cbr(Cbr),
    OnOff(OnOff),
    Ping(Ping),
    Web(Web),
}

/// The names of the workloads, as `type` wants them.
pub(super) const NAMES: [&str; 6] = ["bulk", "page", "cbr", "on-off", "ping", "web"];

impl WorkloadParams {
    /// Makes messages in its own time: over UDP, unless the flow has another transport.
    pub fn is_messages(&self) -> bool {
        matches!(self, WorkloadParams::Cbr(_) | WorkloadParams::OnOff(_) | WorkloadParams::Ping(_))
    }
    /// How many connections (or streams) one member of the group has.
    pub fn connections(&self) -> u32 {
        match self {
            WorkloadParams::Page(p) => p.objects + 1,
            _ => 1,
        }
    }
    /// The connections of a page are `member/body`, `member/1`, `member/2`..
    pub(super) fn connection_name(&self, member: &str, connection: u32) -> String {
        match (self, connection) {
            (WorkloadParams::Page(_), 0) => format!("{member}/body"),
            (WorkloadParams::Page(_), k) => format!("{member}/{k}"),
            _ => member.to_string(),
        }
    }
}

/// One transfer, as fast as TCP allows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bulk {
    /// Bytes of application data. Left out: the transfer never ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Bytes per write to the socket. Left out: everything at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Size>,
    /// What follows the last byte.
    pub close: Close,
    /// Whether the application gives data to be sent. A timeline may stop it and let it go on; what has not left by then stays.
    #[serde(skip_serializing_if = "is_default")]
    pub sending: Activity,
    /// Whether the other end reads. A timeline may stop it and let it go on: its window closes meanwhile.
    #[serde(skip_serializing_if = "is_default")]
    pub reading: Activity,
    /// How fast the other end reads. Left out: whatever comes is read at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<BitRate>,
    /// With `read_rate`: most bytes that one read takes. Left out: 4096 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_size: Option<Size>,
    /// Bytes that the other end sends when all has arrived, before it closes too (half-close). Left out: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Size>,
}

/// Whether a program does something at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// It does.
    #[default]
    On,
    /// It does not.
    Off,
}

fn is_default<T: Default + PartialEq>(v: &T) -> bool {
    *v == T::default()
}

/// What a sender does after its last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Close {
    /// Closes the connection; the flow is finished when the FIN of both ends is acknowledged.
    #[default]
    Fin,
    /// Leaves the connection open; the flow is never finished.
    Never,
}

/// A web page over HTTP/1.0: one connection for each object, some of them at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Page {
    /// Bytes of the answer that holds the page itself.
    pub body: Size,
    /// Number of inline objects.
    #[schemars(range(max = 10_000))]
    pub objects: u32,
    /// Bytes of the answer that holds an inline object.
    pub object: Size,
    /// Bytes of the request for the page.
    pub request: Size,
    /// Bytes of the request for an inline object.
    pub object_request: Size,
    /// Most connections of one page at a time.
    #[schemars(range(min = 1))]
    pub parallel: u32,
    /// Bytes per write of the server. Left out: everything at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Size>,
}

impl Default for Page {
    fn default() -> Page {
        Page {
            body: Size(11_792),
            objects: 8,
            object: Size(8576),
            request: Size(351),
            object_request: Size(350),
            parallel: 4,
            write: Some(Size(4288)),
        }
    }
}

/// Datagrams of one size at a constant rate, in one burst or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cbr {
    /// Bytes of UDP payload in each packet.
    pub payload: Size,
    /// Time from one packet to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Dur>,
    /// Instead of `interval`: bits per second with UDP and IP headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Packets of a burst. Left out: the first burst never ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
    /// Number of bursts.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub bursts: u64,
    /// Time between the end of a burst (one interval after its last packet) and the next.
    #[serde(default)]
    pub idle: Draw,
}

fn one() -> u64 {
    1
}

/// Datagrams at a constant rate during active periods, with silence between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Bytes of UDP payload in each packet.
    pub payload: Size,
    /// Time from one packet to the next while active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Dur>,
    /// Instead of `interval`: bits per second with UDP and IP headers while active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Length of each active period; it holds at least one packet.
    pub on: Draw,
    /// Length of each silence.
    pub off: Draw,
    /// Number of active periods. Left out: it never ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<u64>,
    /// Whether a flow starts with an active period or with a silence.
    #[serde(default)]
    pub first: FirstPeriod,
    /// How many packets an active period has that is no whole number of intervals.
    #[serde(default)]
    pub rounding: Rounding,
}

/// What a source of bursts starts with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstPeriod {
    /// An active period.
    #[default]
    On,
    /// A silence: with exponential silences, a source that has been running for long and is silent now.
    Off,
}

/// From the length of an active period to its number of packets, at least one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// All that begin in it: half a packet more on average than its length has intervals.
    #[default]
    Up,
    /// To the nearest number, as ns-2's exponential source: the mean rate is that of the periods.
    Nearest,
}

/// Datagrams that are answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ping {
    /// Bytes of UDP payload, of the question and of the answer.
    pub payload: Size,
    /// Time from one question to the next.
    pub interval: Dur,
    /// Number of questions. Left out: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
}

impl Default for Ping {
    fn default() -> Ping {
        Ping { payload: Size(32), interval: Dur::from_secs(1), packets: None }
    }
}

/// Transfers one after the other on one connection, as somebody who clicks through pages causes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Web {
    /// Bytes of each transfer; at least one.
    pub size: Draw<Size>,
    /// Time from the start of one transfer to the start of the next. One that comes before the last is through waits
    /// behind it.
    pub every: Draw,
    /// Number of transfers. Left out: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfers: Option<u64>,
}

impl Default for Web {
    fn default() -> Web {
        Web { size: Draw::Pareto(Size(12_000), 1.2), every: Draw::Exponential(Dur::from_secs(15)), transfers: None }
    }
}

/// IP and UDP headers.
pub const UDP_IP_HEADER: u64 = 28;
const PAYLOAD_LIMIT: u64 = 65_535 - UDP_IP_HEADER;
const OBJECTS_LIMIT: u32 = 10_000;

/// Time from packet to packet, from whichever of the two keys is there.
pub fn interval_of(payload: Size, interval: Option<Dur>, rate: Option<BitRate>) -> Dur {
    match (interval, rate) {
        (Some(d), _) => d,
        (None, Some(r)) => r.tx_time(payload.0 + UDP_IP_HEADER),
        (None, None) => Dur::ZERO,
    }
}

/// Whether the datagrams of a flow have room for the option that tells their lifetime.
pub(super) fn leaves_room(w: &WorkloadParams) -> Result<(), ConfigError> {
    let limit = PAYLOAD_LIMIT - u64::from(Life::OPTION_BYTES);
    match w.payload() {
        Some(p) if p.0 > limit => {
            let expected = format!("from 1 B to {limit} B with a lifetime, which is an option of the packet");
            Err(ConfigError::new("workload.payload", format!("{} B", p.0), expected))
        }
        _ => Ok(()),
    }
}

fn at_least(value: u64, key: &str, expected: &str) -> Result<(), ConfigError> {
    if value > 0 { Ok(()) } else { Err(ConfigError::new(format!("workload.{key}"), "0", expected)) }
}

fn pace(payload: Size, interval: Option<Dur>, rate: Option<BitRate>) -> Result<(), ConfigError> {
    if payload.0 == 0 || payload.0 > PAYLOAD_LIMIT {
        let expected = format!("from 1 B to {PAYLOAD_LIMIT} B");
        return Err(ConfigError::new("workload.payload", format!("{} B", payload.0), expected));
    }
    match (interval, rate) {
        (None, None) => {
            Err(ConfigError::new("workload.interval", "nothing", "`interval` (or `rate`), such as \"20 ms\""))
        }
        (Some(_), Some(_)) => Err(ConfigError::new("workload.rate", "both `interval` and `rate`", "one of the two")),
        _ if interval_of(payload, interval, rate) == Dur::ZERO => {
            Err(ConfigError::new("workload.interval", "less than a nanosecond", "a longer interval"))
        }
        _ => Ok(()),
    }
}

impl WorkloadParams {
    /// Payload of its datagrams.
    pub fn payload(&self) -> Option<Size> {
        match self {
            WorkloadParams::Cbr(c) => Some(c.payload),
            WorkloadParams::OnOff(o) => Some(o.payload),
            WorkloadParams::Ping(p) => Some(p.payload),
            WorkloadParams::Bulk(_) | WorkloadParams::Page(_) | WorkloadParams::Web(_) => None,
        }
    }

    /// The same workload with new values for some keys, as it may change while it runs: a source of datagrams gets
    /// another pace or other spans. `rate` and `interval` replace each other.
    pub fn changed(&self, set: &Map<String, Value>) -> Result<WorkloadParams, ConfigError> {
        let (keys, valid): (Value, &[&str]) = match self {
            WorkloadParams::Cbr(c) => (json(c), &["payload", "interval", "rate", "idle"]),
            WorkloadParams::OnOff(o) => (json(o), &["payload", "interval", "rate", "on", "off"]),
            WorkloadParams::Bulk(b) => (json(b), &["size", "close", "sending", "reading", "read_rate", "read_size"]),
            _ => (Value::Null, &[]),
        };
        if let Some(key) = set.keys().find(|k| !valid.contains(&k.as_str())) {
            return Err(match valid {
                [] => ConfigError::cannot_change(set),
                _ => ConfigError::unknown(key.as_str(), key, "a key that can change while it runs", valid),
            });
        }
        let mut keys = keys.as_object().cloned().unwrap_or_default();
        let other = [("rate", "interval"), ("interval", "rate")].into_iter().find(|(new, _)| set.contains_key(*new));
        if let Some((_, old)) = other {
            keys.shift_remove(old);
        }
        keys.extend(set.clone());
        let new = match self {
            WorkloadParams::OnOff(_) => WorkloadParams::OnOff(config::read(&Value::Object(keys), "")?),
            WorkloadParams::Bulk(old) => {
                let new: Bulk = config::read(&Value::Object(keys), "")?;
                old.may_become(&new)?;
                WorkloadParams::Bulk(new)
            }
            _ => WorkloadParams::Cbr(config::read(&Value::Object(keys), "")?),
        };
        check(&new).map_err(|mut e| {
            e.path = e.path.trim_start_matches("workload.").to_string();
            e
        })?;
        Ok(new)
    }
}

impl Bulk {
    /// Refuses what a transfer that has begun cannot do: take bytes back, or send on after its end.
    fn may_become(&self, new: &Bulk) -> Result<(), ConfigError> {
        let shown = |s: Option<Size>| s.map_or("no end".to_string(), |s| format!("{} B", s.0));
        if new.size != self.size {
            if self.close != Close::Never {
                let found = format!("{} for a flow that closes after {}", shown(new.size), shown(self.size));
                let expected = "a flow with `close = \"never\"`: it can send more later";
                return Err(ConfigError::new("size", found, expected));
            }
            if self.size.is_none() || new.size < self.size {
                let expected = format!("at least {}, as before", shown(self.size));
                return Err(ConfigError::new("size", shown(new.size), expected));
            }
        }
        match (self.close, new.close) {
            (Close::Fin, Close::Never) => {
                Err(ConfigError::new("close", "\"never\" for a flow that closes after its last byte", "\"fin\""))
            }
            (Close::Never, Close::Fin) if self.size.is_none() => {
                let expected = "a flow with a `size`: one without has no last byte to close after";
                Err(ConfigError::new("close", "\"fin\" for a flow without end", expected).hint("`abort` ends it"))
            }
            _ => Ok(()),
        }
    }
}

fn json<T: Serialize>(t: &T) -> Value {
    serde_json::to_value(t).expect("parameters are plain data with text keys")
}

/// What the types cannot say. Paths are relative to the flow.
pub(super) fn check(w: &WorkloadParams) -> Result<(), ConfigError> {
    match w {
        WorkloadParams::Bulk(b) => {
            for (key, value) in [("size", b.size), ("write", b.write), ("read_size", b.read_size), ("answer", b.answer)]
            {
                if value == Some(Size(0)) {
                    let expected = "at least 1 B; leave the key out for no limit";
                    return Err(ConfigError::new(format!("workload.{key}"), "0 B", expected));
                }
            }
            if b.answer.is_some() && (b.size.is_none() || b.close == Close::Never) {
                let found = "an answer to a flow that never closes";
                return Err(ConfigError::new("workload.answer", found, "a `size`, and `close = \"fin\"`"));
            }
            Ok(())
        }
        WorkloadParams::Page(p) => {
            for (key, value) in [
                ("body", p.body),
                ("object", p.object),
                ("request", p.request),
                ("object_request", p.object_request),
                ("write", p.write.unwrap_or(Size(1))),
            ] {
                at_least(value.0, key, "at least 1 B")?;
            }
            at_least(p.parallel.into(), "parallel", "at least one connection")?;
            if p.objects > OBJECTS_LIMIT {
                let expected = format!("at most {OBJECTS_LIMIT} objects");
                return Err(ConfigError::new("workload.objects", p.objects.to_string(), expected));
            }
            Ok(())
        }
        WorkloadParams::Cbr(c) => {
            pace(c.payload, c.interval, c.rate)?;
            at_least(c.bursts, "bursts", "at least one burst")?;
            at_least(c.packets.unwrap_or(1), "packets", "at least one packet; leave the key out for no end")?;
            if c.packets.is_none() && c.bursts > 1 {
                let found = "nothing, with more than one burst";
                return Err(ConfigError::new("workload.packets", found, "the number of packets of a burst"));
            }
            Ok(())
        }
        WorkloadParams::Web(w) => {
            at_least(w.transfers.unwrap_or(1), "transfers", "at least one; leave the key out for no end")?;
            for (key, never, expected) in [
                ("size", w.size.is_never_positive(), "a positive size"),
                ("every", w.every.is_never_positive(), "a positive length"),
            ] {
                if never {
                    return Err(ConfigError::new(format!("workload.{key}"), "zero", expected));
                }
            }
            Ok(())
        }
        WorkloadParams::Ping(p) => {
            pace(p.payload, Some(p.interval), None)?;
            at_least(p.packets.unwrap_or(1), "packets", "at least one; leave the key out for no end")
        }
        WorkloadParams::OnOff(o) => {
            pace(o.payload, o.interval, o.rate)?;
            at_least(o.bursts.unwrap_or(1), "bursts", "at least one; leave the key out for no end")?;
            if o.on.is_never_positive() {
                return Err(ConfigError::new("workload.on", "an active period of zero", "a positive length"));
            }
            Ok(())
        }
    }
}
