//! What holds packets up between the queue and the link: delay spikes, and channels that are allocated on demand. And what
//! lets them go: Fast Reset.
//!
//! Each is a key of a link beside its `queue` and `loss`. Together they are the `Delayer` of ns-2: one packet is taken out
//! of the queue and waits until the link takes it. Spikes can also hold packets in the queue; that is [`gate`]'s work.

pub mod fast_reset;
pub mod gate;
pub mod mtu;
pub mod on_demand;
pub mod slow_path;
pub mod spikes;

use super::{Applied, Link, TxPlan};
use crate::params::{self, Params};
use crate::registry::BoxStage;
use crosswind_base::{ConfigError, Cx, Dur, Packet, Stage, Time};
use serde_json::{Map, Value};

/// The keys of a link that hold packets up, and the row of the registry that each stands for; in the order in which a
/// packet meets them.
pub const KEYS: [(&str, &str); 5] = [
    ("on_demand", "on-demand"),
    ("spikes", "spikes"),
    ("fast_reset", "fast-reset"),
    ("slow_path", "slow-path"),
    ("path_mtu", "path-mtu"),
];

/// Something that may hold a packet up.
pub trait Holdup {
    /// From when on it no longer holds a packet that comes at `now`. Asked once for each packet, in the order of time.
    fn ready_at(&mut self, now: Time) -> Time;
    /// The packet's transmission begins.
    fn sent(&mut self, _at: Time) {}
    /// New values for some parameters.
    fn change(&mut self, new: &Value, now: Time) -> Result<(), ConfigError>;
}

/// A table of the keys that change.
fn keys_of(new: &Value) -> Result<&Map<String, Value>, ConfigError> {
    new.as_object().ok_or_else(|| ConfigError::new("", new.to_string(), "a table of the keys that change"))
}

/// Changes what stands in front of an egress: new values under `name` are for its own parameters, the others for the egress.
fn change_in_front<P: Params>(
    name: &str,
    own: &mut P,
    inner: &mut BoxStage,
    set: &Map<String, Value>,
    cx: &mut Cx<'_>,
) -> Result<(), ConfigError> {
    let mut others = set.clone();
    if let Some(new) = others.shift_remove(name) {
        *own = keys_of(&new).and_then(|keys| params::merged(own, keys)).map_err(|e| e.under(name))?;
    }
    if others.is_empty() { Ok(()) } else { inner.change(&others, cx) }
}

/// One of them, chosen at run time.
pub type BoxHoldup = Box<dyn Holdup + Send>;

/// A link in front of which packets are held up.
pub struct Held<L> {
    link: L,
    /// Each under its key.
    holdups: Vec<(&'static str, BoxHoldup)>,
}

impl<L: Link> Held<L> {
    pub fn new(link: L, holdups: Vec<(&'static str, BoxHoldup)>) -> Held<L> {
        Held { link, holdups }
    }
}

impl<L: Link> Link for Held<L> {
    fn transmit(&mut self, p: &Packet, now: Time) -> TxPlan {
        let start = self.holdups.iter_mut().fold(now, |at, (_, h)| h.ready_at(at));
        self.holdups.iter_mut().for_each(|(_, h)| h.sent(start));
        self.link.transmit(p, start)
    }
    fn is_in_order(&self) -> bool {
        self.link.is_in_order()
    }
    fn change(&mut self, set: &Map<String, Value>, now: Time) -> Result<(), ConfigError> {
        self.link.change(set, now)
    }
    fn change_holdup(&mut self, key: &str, new: &Value, now: Time) -> Result<Applied, ConfigError> {
        let Some((_, h)) = self.holdups.iter_mut().find(|(own, _)| *own == key) else { return Ok(Applied::No) };
        h.change(new, now).map(|()| Applied::Yes)
    }
    fn repeated(&self, now: Time) -> Dur {
        self.link.repeated(now)
    }
    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.link.sample(now, out)
    }
}
