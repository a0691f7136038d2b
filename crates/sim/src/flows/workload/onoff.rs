//! # On and off over UDP
//!
//! **Source**: ours. Sources of this kind stand in many studies, first of all to make background traffic.
//!
//! **Idea**: active periods drawn from `on`, with a datagram every `interval` (or at `rate`), and silences drawn from
//! `off`. Both may be fixed, uniform, exponential or Pareto: many heavy-tailed sources make self-similar traffic.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `payload` | B | - | - |
//! | `interval` | time | - | one of the two is needed |
//! | `rate` | bit/s | - | |
//! | `on` | time | - | - |
//! | `off` | time | - | - |
//! | `bursts` | - | endless | - |
//! | `first` | - | on | `off` starts with a silence, as a source that has been running |
//! | `rounding` | - | up | `nearest` is ns-2's (igarashi section 3.5): the mean rate is that of the periods |
//!
//! **Deviations**: 1. An active period holds at least one packet and ends one interval after its last (which lengthens
//! periods shorter than an interval; with rounding `up` all of them, by half an interval on average). 2. After a first silence
//! ns-2's source waits an interval more.
//!
//! **Checked by**: `crates/sim/tests/datagrams.rs`, the number of packets of ns-2's source (`cbr.rs`); the machine is that of `cbr.rs`.
