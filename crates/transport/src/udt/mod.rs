//! # UDT and SABUL
//!
//! **Source**: igarashi sections 2.17 and 2.18; gu-udt-ns2; gu-sabul; gu-grossman-2004.
//!
//! **Idea**: packets leave at intervals that a law changes once per control interval of 10 ms (`udt/law.rs`). A receiver
//! that sees a hole reports it at once, and again while it lasts. UDT also limits what is unacknowledged to `arrival rate
//! (RTT + SYN)`, and lets every 16th packet leave together with its successor to measure the capacity.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `preset` | - | `udt-2` | `sabul-2.2`; every other key overrides one value of it |
//! | `packet_size` | B | 1500 | gu-udt-ns2 (`mtu_`) |
//! | `pair_every_packets` | packets | 16 | igarashi section 2.17; 0 in SABUL, which has no packet pairs |
//! | `ack_interval` | time | 10 ms | igarashi section 2.17; 100 ms in SABUL (gu-sabul, `recver.cpp`) |
//! | `report_again` | - | `rounds` | gu-udt-ns2; `each` in SABUL (gu-sabul, `recver.cpp`) |
//! | `window_limit_packets` | packets | 100000 | gu-udt-ns2 (`max_flow_window_`); 25600 in SABUL (gu-sabul, `recver.h`) |
//! | `expiry` | time | 1 s | gu-udt-ns2; gu-sabul |
//!
//! **Deviations**: 1. SABUL's control packets go over UDP like UDT's, not over a TCP connection of their own: one that is
//! lost comes again with a timer, a little later than TCP would bring it. 2. No handshake, no keep-alive, no shutdown. 3.
//! When slow start ends the rate becomes the arrival rate; gu-udt-ns2 keeps the first interval of 1 us and lets the window
//! alone limit. 4. UDT reports present losses, 364 at most, again together, after 2, 3, 4 .. round-trip times; UDT counts for
//! each. 5. SABUL measures the round-trip time of `report_again` when it connects; here it is the shortest that an
//! acknowledgement was answered in, and until one was they go out in every control interval. 6. SABUL's sender reads a
//! report from its end and stops at the first number that it has on its list already; ours enters all that are missing
//! there. 7. SABUL's receiver acknowledges at once when what the application asked for is complete; ours with the next
//! interval. 8. Bursts of an application are not told apart by the measurements of delay variation. 9.
//! As a stream its socket takes whatever is written; a packet leaves with what is there and waits for no more.
//!
//! **Checked by**: `tests/oracle_udt.rs` (both laws), `udt/ranges.rs`, and `crates/sim/tests/udt.rs` (small worlds).

pub mod arrivals;
pub mod law;
pub mod packet;
pub mod params;
pub mod protocol;
pub mod ranges;
pub mod receiver;
pub mod sender;

pub use packet::{CONTROL_HEADERS_BYTES, DATA_HEADERS_BYTES};
pub use params::UdtParams;
pub use receiver::Receiver;
pub use sender::Sender;
