//! What holds packets up between the queue and the link: delay spikes, and channels that are allocated on demand. And what
//! lets them go: Fast Reset.
//!
//! Each is a key of a link beside its `queue` and `loss`. Together they are the `Delayer` of ns-2: one packet is taken out
//! of the queue and waits until the link takes it. Spikes can also hold packets in the queue; that is [`gate`]'s work.

pub mod channel_allocation;
pub mod fast_reset;
pub mod gate;
pub mod mtu;
pub mod processing_delay;
pub mod spikes;

use super::{Link, TxPlan};
use crate::build::BoxStage;
use crate::params::{self, Params};
use crosswind_base::{BitRate, ConfigError, Cx, Dur, Packet, Past, Setting, Stage, Time};
use serde_json::{Map, Value};

/// The keys of a link that hold packets up, and the row of the registry that each stands for; in the order in which a
/// packet meets them.
pub const KEYS: [(&str, &str); 5] = [
    ("channel_allocation", "channel-allocation"),
    ("spikes", "spikes"),
    ("fast_reset", "fast-reset"),
    ("processing_delay", "processing-delay"),
    ("path_mtu", "path-mtu"),
];

/// Something that may hold a packet up.
pub trait Delayer {
    /// From when on it no longer holds a packet that comes at `now`. Asked once for each packet, in the order of time.
    fn ready_at(&mut self, now: Time) -> Time;
    /// The packet's transmission begins.
    fn sent(&mut self, _at: Time) {}
    /// Reads and checks new values for some parameters.
    fn read_change(&self, new: &Value) -> Result<Setting, ConfigError>;
    /// What has been read holds from now on.
    fn change(&mut self, new: &Setting, now: Time) -> Result<(), ConfigError>;
}

/// A table of the keys that change.
fn keys_of(new: &Value) -> Result<&Map<String, Value>, ConfigError> {
    new.as_object().ok_or_else(|| ConfigError::new("", new.to_string(), "a table of the keys that change"))
}

/// Reads a change of what stands in front of an egress: new values under `name` are for its own parameters, the others for the
/// egress.
fn read_in_front<P: Params>(
    name: &str,
    own: &P,
    inner: &BoxStage,
    set: &Map<String, Value>,
) -> Result<Setting, ConfigError> {
    let mut others = set.clone();
    let new = others.shift_remove(name);
    let read = |new: &Value| keys_of(new).and_then(|keys| params::merged(own, keys)).map_err(|e| e.under(name));
    let new: Option<P> = new.as_ref().map(read).transpose()?;
    let inner = if others.is_empty() { None } else { Some(inner.read_change(&others)?) };
    Ok(Setting::new((new, inner)))
}

/// Makes it.
fn change_in_front<P: Params>(
    own: &mut P,
    inner: &mut BoxStage,
    new: &Setting,
    cx: &mut Cx<'_>,
) -> Result<(), ConfigError> {
    let (new, of_inner): (Option<P>, Option<Setting>) = new.get();
    if let Some(new) = new {
        *own = new;
    }
    of_inner.map_or(Ok(()), |new| inner.change(&new, cx))
}

/// One of them, chosen at run time.
pub type BoxDelayer = Box<dyn Delayer + Send>;

/// A link in front of which packets are held up.
pub struct Held<L> {
    link: L,
    /// Each under its key.
    delayers: Vec<(&'static str, BoxDelayer)>,
}

impl<L: Link> Held<L> {
    pub fn new(link: L, delayers: Vec<(&'static str, BoxDelayer)>) -> Held<L> {
        Held { link, delayers }
    }
}

impl<L: Link> Link for Held<L> {
    fn transmit(&mut self, p: &Packet, now: Time) -> TxPlan {
        let start = self.delayers.iter_mut().fold(now, |at, (_, h)| h.ready_at(at));
        self.delayers.iter_mut().for_each(|(_, h)| h.sent(start));
        self.link.transmit(p, start)
    }
    fn is_in_order(&self) -> bool {
        self.link.is_in_order()
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        self.link.read_change(set)
    }
    fn change(&mut self, new: &Setting, now: Time) -> Result<(), ConfigError> {
        self.link.change(new, now)
    }
    fn read_delayer(&self, key: &str, new: &Value) -> Result<Option<Setting>, ConfigError> {
        self.delayers.iter().find(|(own, _)| *own == key).map(|(_, h)| h.read_change(new)).transpose()
    }
    fn change_delayer(&mut self, key: &str, new: &Setting, now: Time) -> Result<(), ConfigError> {
        self.delayers.iter_mut().find(|(own, _)| *own == key).map_or(Ok(()), |(_, h)| h.change(new, now))
    }
    fn nominal_rate(&self) -> Option<BitRate> {
        self.link.nominal_rate()
    }
    fn repeated(&self, now: Time) -> Dur {
        self.link.repeated(now)
    }
    fn begun(&self) -> Option<Past> {
        self.link.begun()
    }
    fn go_on_from(&mut self, earlier: Past) {
        self.link.go_on_from(earlier)
    }
    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.link.sample(now, out)
    }
}
