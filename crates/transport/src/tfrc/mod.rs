//! # TFRC: TCP-friendly rate control
//!
//! **Source**: rfc5348; rfc3448; gurtov-2004 sections 2.17 and 6.3; ns-2.35 `tcp/tfrc.cc` and `tcp/tfrc-sink.cc`.
//!
//! **Idea**: the receiver measures the rate `p` of loss events (`tfrc/history.rs`) and the rate at which data comes, and
//! reports both once per round-trip time. The sender sends at the rate of a TCP that meets `p` (`tfrc/equation.rs`), at
//! most twice the receive rate; before the first loss it doubles each round-trip time. Without feedback the rate is halved.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `preset` | - | `rfc5348` | `rfc3448`, `ns2-tfrc`, `ns2-tfrc-2003`, `ns2-tfrc-old`, `testbed-tfrc`; every other key overrides one value of it |
//! | `packet_size` | B | 1000 | ns-2.35 |
//! | `law` | - | `rfc5348` | rfc5348 sections 4.3 and 4.4, and the receiver's 6.1 to 6.3.1; `ns-2` is that of ns-2.35, `ns-2-old` an older one |
//! | `rtt_sample` | - | `path` | rfc5348 section 4.3; `whole` in `ns2-tfrc-old` |
//! | `initial_window` | - | `rfc3390` | rfc5348 section 4.2; `one-packet` in `ns2-tfrc-2003` (`rate_init_option_` 1, the default before October 2004) |
//! | `increase` | - | `jump` | rfc5348 section 4.3; `packet-per-rtt` is the limiter of ns-2 |
//! | `slow_start` | - | `step` | rfc5348 section 4.3; `ramp` is ns-2's `slow_increase_` |
//! | `conservative` | - | `off` | bansal-2001 (self-clocking; ns-2's `conservative_`) |
//! | `interpacket_correction` | - | `off` | optional in rfc5348 section 4.5; on in rfc3448 and ns-2 (`ca_`) |
//! | `feedback_per_rtt` | - | 1 | rfc5348 section 6.2; gurtov-2004 figure 6.7 has 3 |
//! | `no_feedback_rtts` | R | 4 | rfc5348 section 4.3; 2 in ns-2 |
//! | `minimum_rate` | - | `packet-per-backoff` | rfc5348 section 4.3; `packet-per-rtt`: the testbed of gurtov-2004 |
//! | `dupthresh` | packets | 3 | rfc5348 section 5.1; 1 in ns-2 |
//! | `early_losses` | - | `on` | rfc5348 section 5.1; `off` in ns-2: what is missing before the first arrival is no loss |
//! | `notify` | - | none | gurtov-2004 section 6.5: the receiver reports a new link instead of what it measures |
//! | `headercast` | - | `off` | gurtov-2004 section 5.3.3: the first feedback undoes what the silence did |
//!
//! **Deviations**: 1. Over UDP with 16 bytes of fields, not over DCCP: a header-only packet of a router still counts as
//! arrived. 2. Time stamps have microseconds, rates whole bytes per second, `p` steps of 2^-32. 3. A silent application does not save up packets: they follow at the allowed rate.
//!
//! **Checked by**: `tests/oracle_tfrc.rs` (equation, loss intervals, discounting), `tests/oracle_tfrc_old.rs`, `tests/tfrc_tapes.rs` (reports in, packets
//! out), `crates/sim/tests/tfrc.rs`, and rate curves beside those of ns-2 (`validation/`).

pub mod equation;
pub mod history;
pub mod law;
pub mod losses;
pub mod ns2;
pub mod ns2_old;
pub mod packet;
pub mod params;
pub mod preset;
pub mod protocol;
pub mod receiver;
pub mod sender;

pub use packet::{DATA_HEADERS_BYTES, FEEDBACK_BYTES, FIELDS_BYTES};
pub use params::TfrcParams;
pub use receiver::Receiver;
pub use sender::Sender;
