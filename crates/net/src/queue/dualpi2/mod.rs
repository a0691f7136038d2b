//! # DualPI2
//!
//! **Source**: rfc9332 appendix A.1 and A.2; linux-sch-dualpi2 (profile `linux`).
//!
//! **Idea**: packets of Scalable senders (ECT(1), CE) wait in the L queue, all others in the Classic queue. A controller moves `p'` every
//! `t_update` by `alpha (q - target) + beta (q - q_last)`; Classic packets are selected with `p'^2`, L packets marked with `coupling p'`, so
//! that flows of both kinds get about the same. L packets are also marked by their own wait, from `step` on: a queue of its own, served
//! first but for a small share, and marked that early stays below a millisecond.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `profile` | - | rfc9332 | real numbers; `linux` computes as the kernel, in parts of 2^32 - 1 |
//! | `limit` | bytes or packets | none | of both queues; none: what the link sends in 250 ms (rfc9332), 10000 packets (`linux`, and where the link has no rate) |
//! | `memory_limit` | bytes | none | a second limit; none: 2 `mtu` for each packet of `limit` (`linux`) |
//! | `target` | time | 15 ms | rfc9332 appendix A.1 |
//! | `rtt_max` | time | 100 ms | rfc9332 appendix A.1: where it is written, the next three follow from it as for `pi2` |
//! | `t_update` | time | 15 ms, 16 ms (`linux`) | rfc9332 appendix A.1; linux-sch-dualpi2 |
//! | `alpha` | Hz | 0.15, 0.16 (`linux`) | rfc9332 appendix A.1; `linux`: to the nearest 256th |
//! | `beta` | Hz | 3, 3.2 (`linux`) | rfc9332 appendix A.1; `linux`: to the nearest 256th |
//! | `coupling` | - | 2 | rfc9332 section 2.1; `linux`: a whole number up to 255 |
//! | `step` | time | 800 us, 1 ms (`linux`) | rfc9332 appendix A.1 (minTh): wait from which L packets are marked for their own |
//! | `ramp` | time | 400 us, 0 (`linux`) | rfc9332 appendix A.1 (range): so much later all of them are marked; `linux` has a step |
//! | `step_packets` | packets | 0 | linux-sch-dualpi2: L packets that leave more than these behind are marked, in place of `step`; 0: by time |
//! | `step_spares` | packets | 1, 0 (`linux`) | rfc9332 appendix A.2 (Th_len): with no more than these left in L, `step` does not mark; `linux`: if L held fewer on arrival |
//! | `step_spares_at` | - | departure, arrival (`linux`) | rfc9332 appendix A.2: when they are counted |
//! | `scheduler` | - | wrr | rfc9332 appendix A.2: `classic_share` to C while both wait; `ts-fifo`: who has waited longest, C `time_shift` less; `strict`: L first |
//! | `classic_share` | - | 0.0625, 0.1 (`linux`) | rfc9332 appendix A.2; linux-sch-dualpi2 (in percent) |
//! | `time_shift` | time | 50 ms | rfc9332 appendix A.2 |
//! | `classify` | - | l4s-ect | rfc9332 section 2.3; `any-ect`: ECT(0) goes to L, too (linux-sch-dualpi2) |
//! | `filter` | - | none | what ECN does not send to L: to class `l4s`, `classic`, or `llll` (in L, never selected), as linux-sch-dualpi2 has them |
//! | `overload` | - | drop | what happens where `coupling p'` reaches 1: all are dropped with `p'^2`; `overflow` (`linux`): L is marked, `p'` rises no further, the limit drops |
//! | `decides` | - | departure | rfc9332; `arrival` (`linux`): Classic and coupled picks are made when a packet comes (`drop_early`) |
//! | `picks` | - | spread, random (`linux`) | rfc9332 appendix A.1: without chance, by a sum of probabilities |
//! | `wrap` | - | clamp, kernel (`linux`) | `kernel`: a change of `p'` above 1 is cut to 32 bits before it is tested |
//! | `mtu` | bytes | 1500 B, 1514 B (`linux`) | a packet needs room for one; `linux`: with less than two waiting nobody is selected, and the shares are counted in them |
//!
//! The table `class` has the rows `l4s` and `classic`.
//!
//! **Deviations**: 1. Updates are made when a packet comes or leaves, one for each `t_update` that has passed: with what they would have
//! seen at their time. 2. `coupling p'` goes no further than 1 (`rfc9332`): the published sum would otherwise grow in an overload without
//! end, and mark long after it. 3. A packet without ECN that a filter sent to L is dropped where others are marked, in both profiles.
//! 4. The shares start anew when a packet comes to two empty queues; the kernel does so when it asks them in vain, which is the same but
//! for a packet that comes while the last one is sent. 5. `memory_limit` counts bytes of packets, not those of a kernel's buffers. 6. No
//! splitting of large segments: packets are single.
//!
//! **Checked by**: oracle `dualpi2` on random traces, both profiles; the kernel's numbers, credits and rates of
//! `crates/testkit/tests/dualpi2.rs`; conformance suite.

mod control;
mod disc;
mod params;

pub use control::{Control, Kernel};
pub use disc::DualPi2;
pub use params::{Classify, DualPi2Params, Kind, Overload, Picks, Profile, Scheduler, Wrap};
