//! # CAKE
//!
//! **Source**: linux-sch-cake; hoiland-jorgensen-2018; shreedhar-varghese-1995 (the rounds).
//!
//! **Idea**: a shaper that saves no credit, so that all packets wait here and none behind; in it tins by DSCP, each first in line up to
//! its share of the rate; in a tin a queue for each flow, found by a hash of eight ways, with a COBALT of its own. Flows take turns of a
//! quantum divided by the flows of the busier of their two hosts, so hosts get equal shares first and flows second.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `rate` | bit/s | none | linux-sch-cake: unlimited; the link alone decides when the next packet leaves |
//! | `rtt` | time | 100 ms | linux-sch-cake: interval of COBALT; the target is a twentieth of it, and no less than 1.5 of the longest packets at the tin's threshold |
//! | `tins` | - | diffserv3 | linux-sch-cake; `besteffort`, `diffserv3`, `diffserv4`, `diffserv8` or `precedence` |
//! | `isolation` | - | triple-isolate | linux-sch-cake: whose packets share a queue or a turn; `flowblind`, `srchost`, `dsthost`, `hosts`, `flows`, `dual-srchost` and `dual-dsthost` besides |
//! | `framing` | - | none | linux-sch-cake: a line with a name (`ethernet`, `docsis`, `pppoe-ptm`, `conservative` ..) fills in the next three |
//! | `overhead` | bytes | that of `framing` | added to each packet's IP length; may be negative |
//! | `mpu` | bytes | that of `framing` | no packet is charged less |
//! | `cells` | - | that of `framing` | `none`, `atm` (53 bytes for 48) or `ptm` (65 for 64) |
//! | `charge` | - | sent | linux-sch-cake (`egress`); `all` charges the shaper for dropped packets, too (`ingress`: they have crossed the line before) |
//! | `ack_filter` | - | off | linux-sch-cake; `on`: of two acknowledgements that a newer one makes needless the older goes; `aggressive`: one is enough where it is the last before the newest |
//! | `memory_limit` | bytes | none | linux-sch-cake: 4 `rtt` at `rate`, from 4 MiB to 10240 packets of `mtu` |
//! | `mtu` | bytes | 1514 B | the longest packet, with the header of Ethernet |
//! | `ecn` | - | mark | linux-sch-cake |
//!
//! Tins and their thresholds, as parts of `rate`: `diffserv3` has best effort (all), bulk (1/16; LE, CS1) and voice (1/4); `diffserv4` has
//! video (1/2) besides; in `diffserv8` tin i has `(7/8)^i`. The table `class` has a row for each.
//!
//! **Deviations**: 1. The hash is of the flow's number and of hosts' numbers and is not the kernel's: which flows collide differs, how many
//! do not. 2. `memory_limit` counts bytes of packets, not those of a kernel's buffers, so it is reached later. 3. Of flows that hold the
//! same number of bytes, the first loses a packet when all hold too much; in the kernel a heap decides. 4. Where a threshold is so slow
//! that a target would be above 4.29 s, it stays there; in the kernel it wraps. 5. Random numbers are not the kernel's. 6. Lengths are
//! those of IP, as the kernel has them when an overhead is given; without one it counts the 14 bytes of Ethernet. 7. No NAT, no
//! `autorate-ingress`, no washing, no marks of a firewall. 8. Hosts in simulation are the two ends of a flow. 9. The filter counts AE among
//! what ECN says, so a counter of AccECN is kept as ECE and CWR are.
//!
//! **Checked by**: oracle `cake` on random traces; lengths, thresholds, gaps and shares of `crates/testkit/tests/cake.rs`; conformance suite.

mod ack_filter;
mod clock;
mod disc;
pub mod framing;
mod lists;
mod params;
mod sets;
mod tin;
mod tins;

pub use ack_filter::AckFilter;
pub use disc::{Cake, Salt};
pub use params::{CakeParams, Charged, Isolation};
pub use tins::Tins;
