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
mod params;
mod plain;

pub use arq::{ArqParams, ErrorUnit, Errors, FrameFate, Outcome, StateAt};
pub use channel::{Channel, ChannelParams, History, State, StateParams};
pub use full::Full;
pub use line::{BackgroundParams, OutagesParams, Pick, RateChangesParams};
pub use params::{AckOrder, AllocationParams, Hold, Order, Preset, RandomDelayParams, SeawindParams};
pub use plain::Plain;

use crate::build::BuildCx;
use crate::link::BoxLink;

impl SeawindParams {
    /// The link for these parameters.
    pub fn build(self, cx: &BuildCx<'_>) -> BoxLink {
        if self.is_plain() && !cx.may_change() { Box::new(Plain::new(&self)) } else { Box::new(Full::new(self, cx)) }
    }
}
