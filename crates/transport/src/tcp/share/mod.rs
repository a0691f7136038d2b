//! # Control-block sharing: what a host remembers of its peers
//!
//! **Source**: rfc2140; jarvinen-2006 section 2.6.2 (ssthresh only); linux-2.4 and linux-2.6
//! `tcp_update_metrics`.
//!
//! **Idea**: a host remembers, per peer, the slow-start threshold of connections that have *ended*, and the next
//! connection to that peer starts from it; likewise the round-trip time and its deviation, which fall slowly and rise at
//! once. Concurrent connections do not see each other.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `share_ssthresh` | - | `off` | Linux tunable `iip_cbi_reuse_ssthresh` |
//! | `share_rtt` | - | `off` | linux-2.4 `tcp_init_metrics` |
//! | `initial_window_known_segments` | segments | 0 | linux-2.4 `tcp_init_cwnd`: 3 for 1448 B where the round trip is known and either at most 20 ms or the threshold known too, and no more than that; else 2 |
//! | lifetime | s | for ever | open point 7-18: the route cache's garbage collector (`sharing.lifetime`) |
//! | chance | - | 0 | the same, as a chance between repetitions (`sharing.forget_probability`) |
//!
//! **Deviations**: 1. The cache is flushed as a whole when its lifetime has passed since the last flush, like the
//! kernel's periodic rebuild; an entry does not age on its own. 2. A connection that has measured nothing since its last timeout
//! takes the round trip with it and tells of no threshold (Linux 2.4), where round trips are remembered at all.
//!
//! **Checked by**: `share/tests` below.

pub mod queue;

use super::conn::rtt::Path;
use crosswind_base::{Dur, Time};
use std::collections::BTreeMap;

/// What one host remembers about its peers. The driver keeps it; connections read it when they open and write it
/// when they close.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    ssthresh: BTreeMap<u32, u64>,
    paths: BTreeMap<u32, Path>,
    /// What waits at the host itself.
    queue: queue::HostQueue,
    /// Whole-cache flush period.
    pub lifetime: Option<Dur>,
    /// Time that had passed in earlier runs when the present one began.
    pub epoch: Dur,
    last_flush: Time,
}

/// The state of a connection that ends.
#[derive(Clone, Copy, Debug)]
pub struct Closing {
    pub cwnd: u64,
    pub ssthresh: u64,
    pub initial_ssthresh: u64,
    /// No loss recovery is under way.
    pub open: bool,
}

impl Cache {
    pub fn new(lifetime: Option<Dur>) -> Cache {
        Cache { lifetime, ..Cache::default() }
    }

    fn expire(&mut self, now: Time) {
        let now = now + self.epoch;
        if let Some(l) = self.lifetime
            && now >= self.last_flush + l
        {
            self.forget();
            // The last flush was at a multiple of the lifetime.
            self.last_flush += l.saturating_mul(now.since(self.last_flush).0 / l.0);
        }
    }

    /// The queue of the host and the time on its clock.
    pub fn queue(&mut self, now: Time) -> (&mut queue::HostQueue, Time) {
        (&mut self.queue, now + self.epoch)
    }

    /// Everything is forgotten, now; what waits still waits.
    pub fn forget(&mut self) {
        self.ssthresh.clear();
        self.paths.clear();
    }

    /// Round-trip time to `peer` that earlier connections left behind.
    pub fn path(&mut self, peer: u32, now: Time) -> Option<Path> {
        self.expire(now);
        self.paths.get(&peer).copied()
    }

    /// A connection to `peer` has ended and this is what it measured (Linux 2.4 `tcp_update_metrics`).
    pub fn store_path(&mut self, peer: u32, now: Time, seen: Path) {
        self.expire(now);
        let Some(known) = self.paths.get_mut(&peer) else {
            self.paths.insert(peer, seen);
            return;
        };
        let fall = known.srtt - seen.srtt;
        known.srtt = if fall <= 0 { seen.srtt } else { known.srtt - (fall >> 3) };
        let var = (fall.abs() >> 1).max(seen.var);
        known.var = if var >= known.var { var } else { known.var - ((known.var - var) >> 2) };
    }

    /// The round-trip time to `peer` is unknown from now on.
    pub fn forget_path(&mut self, peer: u32, now: Time) {
        self.expire(now);
        self.paths.remove(&peer);
    }

    /// Threshold in bytes left behind by earlier connections to `peer`.
    pub fn lookup(&mut self, peer: u32, now: Time) -> Option<u64> {
        self.expire(now);
        self.ssthresh.get(&peer).copied()
    }

    /// A connection to `peer` has ended.
    pub fn store(&mut self, peer: u32, now: Time, c: Closing) {
        self.expire(now);
        let stored = self.ssthresh.get(&peer).copied();
        let new = if c.ssthresh >= c.initial_ssthresh {
            // Never left initial slow start: it only proves that more is possible.
            stored.map(|s| s.max(c.cwnd / 2))
        } else if c.cwnd > c.ssthresh && c.open {
            Some((c.cwnd / 2).max(c.ssthresh))
        } else {
            stored.map(|s| s.max(c.ssthresh))
        };
        if let Some(v) = new {
            self.ssthresh.insert(peer, v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::choices::{RtoProfile, Switch};
    use crate::tcp::preset;

    #[test]
    fn a_shared_round_trip_needs_the_timer_that_hands_its_state_on() {
        let linux = preset::preset("linux-2.4.17").expect("a preset");
        assert!(linux.check("tcp").is_ok());
        for rto in [RtoProfile::Rfc6298, RtoProfile::CoarseTicks] {
            let e = linux.clone().with(|p| p.timers.rto = rto).check("tcp").expect_err("nothing would be shared");
            assert_eq!(e.path, "tcp.share_rtt");
            assert!(
                linux
                    .clone()
                    .with(|p| {
                        p.timers.rto = rto;
                        p.sharing.share_rtt = Switch::Off;
                    })
                    .check("tcp")
                    .is_ok()
            );
        }
    }

    const CLOSING: Closing = Closing { cwnd: 8000, ssthresh: 3000, initial_ssthresh: 65535, open: true };

    #[test]
    fn only_closed_connections_are_remembered_and_a_flush_forgets_them() {
        let mut c = Cache::new(Some(Dur::from_secs(600)));
        assert_eq!(c.lookup(1, Time::ZERO), None);
        c.store(1, Time::ZERO, CLOSING);
        assert_eq!(c.lookup(1, Time::from_secs_f64(599.0)), Some(4000));
        assert_eq!(c.lookup(2, Time::ZERO), None);
        assert_eq!(c.lookup(1, Time::from_secs_f64(600.0)), None);
    }

    #[test]
    fn a_lifetime_of_a_nanosecond_is_over_at_once() {
        let mut c = Cache::new(Some(Dur(1)));
        c.store(1, Time::ZERO, CLOSING);
        assert_eq!(c.lookup(1, Time::from_secs_f64(1e6)), None);
        c.store(1, Time::from_secs_f64(1e6), CLOSING);
        assert_eq!(c.lookup(1, Time::from_secs_f64(1e6)), Some(4000));
    }

    #[test]
    fn a_remembered_round_trip_rises_at_once_and_falls_by_an_eighth() {
        let mut c = Cache::new(None);
        let path = |srtt, var| Path { srtt, var };
        c.store_path(1, Time::ZERO, path(800, 40));
        c.store_path(1, Time::ZERO, path(1600, 20));
        assert_eq!(c.path(1, Time::ZERO), Some(path(1600, 400)));
        c.store_path(1, Time::ZERO, path(800, 20));
        assert_eq!(c.path(1, Time::ZERO), Some(path(1500, 400)));
        c.forget_path(1, Time::ZERO);
        assert_eq!(c.path(1, Time::ZERO), None);
        c.store_path(1, Time::ZERO, path(800, 20));
        c.forget();
        assert_eq!(c.path(1, Time::ZERO), None);
    }

    #[test]
    fn a_connection_that_never_saw_congestion_creates_no_entry() {
        let mut c = Cache::new(None);
        c.store(1, Time::ZERO, Closing { ssthresh: 65535, ..CLOSING });
        assert_eq!(c.lookup(1, Time::ZERO), None);
    }
}
