//! # Seawind link
//!
//! **Source**: jarvinen-2006 Tables 1 and 14-17, sections 4.3 and B.2 (its use of the Seawind emulator).
//!
//! **Idea**: below the router's queue a packet passes in order: up to `in_transit` packets between router and emulator
//! (when full, the router may not dequeue); the send buffer (it enters only when it fits wholly); the line, `8 L / rate`;
//! `delay`; errors and ARQ; release in order. ARQ: while the attempt at `t + d` fails, with the error probability of the
//! state at that time, `d += arq.delay`; lost when the limit is passed; else it arrives at `t + delay + d`. With `hold =
//! acknowledged` its bytes leave the send buffer `ack_delay` after release: the link stalls while a frame is repaired.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `preset` | - | error-free | defaults of a link type of jarvinen-2006; every other key overrides it |
//! | `rate` | bit/s | 64 kbit/s | Table 1 (`rate_base`) |
//! | `tx_tick` | time | 0 s | 1 ms as the emulator had it: jarvinen-2006 section 5.4.1 (packets of 76 B come 9 ms apart). Each transmission lasts whole ticks, rounded down; 0 s: as long as its bits |
//! | `delay` | time | 300 ms | Table 1 (`propagation_delay`) |
//! | `send_buffer` | bytes or packets | 12000 B | Table 1; "1 packets" is the variant LSB1 |
//! | `receive_buffer` | bytes | 12000 B | Table 1; the line waits while this much has overtaken a frame under repair |
//! | `in_transit` | packets | 3 | what sat between router and emulator |
//! | `mtu` | bytes | 576 B | Table 6; the buffers must hold one |
//! | `channel` | - | none | good and bad states; with `arq-*`: Table 2 |
//! | `error` | 1 | 0 | error probability of an attempt where there is no `channel` |
//! | `error_unit` | - | frame | Table 14 (`error_rate_type = UNIT`) |
//! | `arq` | - | none | with `arq-*`: 700 ms, 1, 2 or 4 retransmissions (DELAY_ITERATE); without, an error is a loss |
//! | `hold` | - | sent | `link_layer_ack_emulation`; with `arq-*`: acknowledged |
//! | `ack_delay` | time | `delay` | ours: the way back; "0 ms" is the literal reading of the source |
//! | `ack_order` | - | in-order | section B.2: no space is freed during retransmissions |
//! | `order` | - | kept | Table 14 (reordering off) |
//! | `overhead` | bytes | 0 B | Table 14 (off): added to each frame on the line |
//! | `fragment` | bytes | none | Table 14 (off): packets travel in frames of this size and are put together again |
//! | `allocation` | - | none | Table 14 (off): `delay` before sending on a channel released after `idle_timeout` |
//! | `random_delay` | - | none | Table 14 (off): with `probability`, a packet takes `length` longer |
//! | `rate_changes` | - | none | Table 14 (off): the rate changes `every` span, to one of `rates` |
//! | `outages` | - | none | ours: the line stands still for `length` `every` so often |
//! | `background` | - | none | Table 14 (off): `arrivals` of others who take one of `channels` for `holding`; ours use `own` |
//!
//! Parts, with what the `arq-high` preset sets (a span is `"700 ms"`, `{ uniform = ["1 s", "3 s"] }` or `{ exponential = "10 s",
//! min = "5 s", max = "15 s" }`):
//!
//! ```toml
//! channel.good = { length = { exponential = "10 s", min = "5 s", max = "15 s" }, error = 0.0 }     # rate: as the link
//! channel.bad = { length = { exponential = "2.5 s", min = "1.4 s", max = "4 s" }, error = 0.6 }
//! channel.first = "good"            # the history begins so, ..
//! channel.offset = "19 s"           # .. this long before time zero
//! channel.history = "link"          # both directions share it; or "direction". channel.seed: the same in all repetitions
//! # channel.stretch = "300 s"       # repetitions are stretches of one long history, each begins so much later
//! # channel.trace = ["9 s", "2 s", "12 s", "3 s"]       # a history that is given, not drawn; it repeats
//! arq = { delay = "700 ms", retransmissions = 4, state_at = "attempt" }     # or drop_threshold = "2801 ms"; or "first"
//! allocation = { delay = "500 ms", idle_timeout = "5 s" }                   # from here on: off unless written
//! random_delay = { probability = 0.01, length = "1 s" }
//! rate_changes = { every = "10 s", rates = ["32 kbit/s", "64 kbit/s"], pick = "cycle" }     # or "random"
//! outages = { every = { exponential = "60 s" }, length = "2 s" }
//! background = { channels = 4, own = 1, arrivals = { exponential = "10 s" }, holding = { exponential = "20 s" } }
//! ```
//!
//! The emulator's input queue with a limit of length, size or delay that drops is the queue `bounded` in front of this
//! link; its output dropper is a loss model `at = "exit"`.
//!
//! **Deviations**: 1. A packet larger than `send_buffer` enters when the buffer is empty, instead of blocking the link for
//! ever. 2. Moving between router and emulator takes no time. (It took well below 1 ms on the thesis's LAN.) 3. State
//! lengths are exponential within bounds, so their means are those of the truncated distribution: 9.18 s for 10 s, 2.48 s
//! for 2.5 s. (The source's trace is lost.) 4. A link-level acknowledgement takes no capacity of the other direction.
//! 5. Not modelled: allocation algorithms other than BASIC (one user has nothing to be allocated against), reassembly
//! switched off (fragments as packets of their own: nothing that TCP or UDP could receive), errors that damage a packet
//! without losing it (checksums would drop it a hop later), the user interface's clock and oversleeps (virtual time has
//! none). 6. Other users are absent at time zero; the first holding times are a transient.
//!
//! **Checked by**: conformance suite; oracle `seawind`, event by event, on random traces; closed forms for state
//! occupancy, residual loss, delay and throughput (`links_closed_form`).

mod arq;
mod channel;
mod entrance;
mod full;
mod line;
mod plain;
mod preset;

pub use arq::{ArqParams, ErrorUnit, Errors, FrameFate, Outcome, StateAt};
pub use channel::{Channel, ChannelParams, History, State, StateParams};
pub use full::Full;
pub use line::{BackgroundParams, OutagesParams, Pick, RateChangesParams};
pub use plain::Plain;
pub use preset::Preset;

use crate::link::BoxLink;
use crate::params::{self, Params};
use crate::registry::BuildCx;
use crate::spread::Spread;
use crate::switch::Switch;
use crosswind_base::{BitRate, ConfigError, Dur, Limit, Size, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Until when a packet's bytes take space in the send buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    /// Until its transmission ends.
    #[default]
    Sent,
    /// Until the far end's confirmation has come back.
    Acknowledged,
}

/// What the far end confirms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckOrder {
    /// A frame when it is released, behind all its predecessors.
    #[default]
    InOrder,
    /// Each frame when it arrives.
    Each,
}

/// In which order packets leave the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As they entered; later ones wait for a predecessor that is being repaired.
    #[default]
    Kept,
    /// As they arrive.
    AsArrived,
}

/// Allocation of a radio channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllocationParams {
    /// Time that it takes to get a channel before the first frame can be sent.
    pub delay: Spread,
    /// The channel is released when nothing was sent for this long.
    pub idle_timeout: Dur,
}

/// Delays of single packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomDelayParams {
    /// Probability that a packet is delayed.
    pub probability: f64,
    /// By how much.
    pub length: Spread,
}

/// Parameters of the Seawind link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SeawindParams {
    /// A link type of the source; sets the defaults of the other keys.
    pub preset: Preset,
    /// Bits per second on the line.
    pub rate: BitRate,
    /// A transmission lasts a whole number of these, rounded down; 0 s: exactly as long as its bits.
    #[serde(skip_serializing_if = "is_exact")]
    pub tx_tick: Dur,
    /// One-way propagation delay.
    pub delay: Dur,
    /// What waits for transmission or is being transmitted, below the router's queue; with `hold = "acknowledged"` also
    /// what has not been confirmed.
    pub send_buffer: Limit,
    /// Bytes that the far end may hold while it waits for a frame under repair.
    pub receive_buffer: Size,
    /// Packets that may sit between the router and the send buffer before the router is stopped.
    pub in_transit: u32,
    /// The largest packet that is expected; the buffers must hold one.
    pub mtu: Size,
    /// A channel with a good and a bad state, or "none".
    pub channel: Switch<ChannelParams>,
    /// Error probability of an attempt where there is no channel.
    pub error: f64,
    /// Whether error probabilities are those of a frame, a byte or a bit.
    pub error_unit: ErrorUnit,
    /// Link-level retransmission, or "none": an error is a loss.
    pub arq: Switch<ArqParams>,
    /// Until when a packet takes space in the send buffer: "sent" or "acknowledged".
    pub hold: Hold,
    /// Time from release (or arrival) to the confirmation at the sending end; that of `delay` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_delay: Option<Dur>,
    /// Whether frames are confirmed in order or each on arrival.
    pub ack_order: AckOrder,
    /// Whether the order of packets is kept.
    pub order: Order,
    /// Bytes that each frame adds on the line.
    pub overhead: Size,
    /// Payload of a link frame, or "none": a packet is one frame.
    pub fragment: Switch<Size>,
    /// Allocation of the radio channel after idle times, or "none".
    pub allocation: Switch<AllocationParams>,
    /// Delays of single packets, or "none".
    pub random_delay: Switch<RandomDelayParams>,
    /// Changes of the rate, or "none".
    pub rate_changes: Switch<RateChangesParams>,
    /// Spans in which the line stands still, or "none".
    pub outages: Switch<OutagesParams>,
    /// Other users of the cell, or "none".
    pub background: Switch<BackgroundParams>,
}

fn is_exact(tick: &Dur) -> bool {
    tick.0 == 0
}

impl Default for SeawindParams {
    fn default() -> Self {
        Preset::ErrorFree.params()
    }
}

impl SeawindParams {
    /// Whether nothing is asked for but buffers, rate and delay.
    pub fn is_plain(&self) -> bool {
        let on_the_line = self.overhead == Size(0) && self.fragment.is_off() && self.rate_changes.is_off();
        let in_time = self.allocation.is_off() && self.random_delay.is_off() && self.outages.is_off();
        let errors = !self.channel.is_off() || self.error > 0.0;
        on_the_line && in_time && !errors && self.background.is_off() && self.hold == Hold::Sent
    }

    /// Whether the rate may change while a frame is on the line.
    fn line_changes(&self) -> bool {
        let by_channel = self.channel.as_ref().is_some_and(ChannelParams::has_rates);
        by_channel || !self.rate_changes.is_off() || !self.outages.is_off() || !self.background.is_off()
    }

    /// The link for these parameters.
    pub fn build(self, cx: &BuildCx<'_>) -> BoxLink {
        if self.is_plain() && !cx.may_change() { Box::new(Plain::new(&self)) } else { Box::new(Full::new(self, cx)) }
    }

    fn check_buffers(&self) -> Result<(), ConfigError> {
        params::check_limit("send_buffer", self.send_buffer)?;
        params::check_limit("receive_buffer", Limit::Bytes(self.receive_buffer.0))?;
        let sizes = [("send_buffer", self.send_buffer), ("receive_buffer", Limit::Bytes(self.receive_buffer.0))];
        for (key, limit) in sizes {
            if matches!(limit, Limit::Bytes(n) if n < self.mtu.0) {
                return Err(ConfigError::new(
                    key,
                    units::show_limit(limit),
                    format!("at least one mtu ({} B)", self.mtu.0),
                )
                .hint("a packet enters the buffer only when it fits wholly; lower `mtu` if packets are smaller"));
            }
        }
        if !(1..=1_000_000).contains(&self.in_transit) {
            return Err(ConfigError::new("in_transit", self.in_transit.to_string(), "1 to 1000000 packets")
                .hint("the router's head must be in transit before the link can ask whether it fits"));
        }
        Ok(())
    }

    fn check_errors(&self) -> Result<(), ConfigError> {
        params::check_range("error", self.error, 0.0..=1.0)?;
        if let Some(c) = self.channel.as_ref() {
            c.check().map_err(|e| e.under("channel"))?;
            if self.error > 0.0 {
                return Err(ConfigError::new("error", self.error.to_string(), "0 beside a channel").hint(
                    "the states of the channel have error probabilities: channel.good.error, channel.bad.error",
                ));
            }
            if c.has_rates() && !self.rate_changes.is_off() {
                return Err(ConfigError::new(
                    "rate_changes",
                    "changes of the rate",
                    "none where a channel state has a rate",
                ));
            }
        }
        match self.arq.as_ref() {
            None => Ok(()),
            Some(a) => a.check(&arq::error_probabilities(self.error, self.channel.as_ref()), self.error_unit),
        }
    }

    fn check_tick(&self) -> Result<(), ConfigError> {
        let found = units::show_dur(self.tx_tick);
        if self.tx_tick > Dur::from_secs(1) {
            return Err(ConfigError::new("tx_tick", found, "at most 1 s"));
        }
        if self.tx_tick > Dur::ZERO && self.line_changes() {
            let expected = "0 s where the rate changes, and where the line stands still or is shared";
            return Err(ConfigError::new("tx_tick", found, expected));
        }
        Ok(())
    }

    fn check_extras(&self) -> Result<(), ConfigError> {
        if self.overhead.0 > 65_535 {
            return Err(ConfigError::new("overhead", units::show_size(self.overhead), "at most 65535 B"));
        }
        if let Some(f) = self.fragment.as_ref() {
            params::check_packet_size("fragment", *f)?;
        }
        if let Some(a) = self.allocation.as_ref() {
            a.delay.check("allocation.delay")?;
            params::check_delay("allocation.idle_timeout", a.idle_timeout)?;
        }
        if let Some(r) = self.random_delay.as_ref() {
            params::check_range("random_delay.probability", r.probability, 0.0..=1.0)?;
            r.length.check("random_delay.length")?;
        }
        self.rate_changes.as_ref().map_or(Ok(()), RateChangesParams::check)?;
        self.outages.as_ref().map_or(Ok(()), OutagesParams::check)?;
        self.background.as_ref().map_or(Ok(()), BackgroundParams::check)
    }
}

impl Params for SeawindParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_rate("rate", self.rate)?;
        params::check_delay("delay", self.delay)?;
        params::check_packet_size("mtu", self.mtu)?;
        if let Some(d) = self.ack_delay {
            params::check_delay("ack_delay", d)?;
        }
        self.check_buffers()?;
        self.check_tick()?;
        self.check_errors()?;
        self.check_extras()
    }

    fn fill(written: &mut Map<String, Value>) {
        preset::fill(written);
    }
}
