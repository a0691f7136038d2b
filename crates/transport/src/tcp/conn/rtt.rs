//! # Round-trip time and the retransmission timeout
//!
//! **Source**: rfc6298; linux-2.4 `tcp_rtt_estimator`; ns-2.35 `TcpAgent`; gurtov-2004 section 4.3.3; rfc4015 section 3.2.
//!
//! **Idea**: `RTO = SRTT + 4 RTTVAR` (RFC 6298), doubled at every expiry. The profiles differ in arithmetic, in what
//! lifts the variance term, and in the clock's tick.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `rto` | - | `rfc6298` | per preset: `rfc6298`, `linux-2.4`, `linux-2.4.17`, `ns-2` |
//! | `rto_initial` | time | 1 s | rfc6298 section 2.1 (rfc2988: 3 s) |
//! | `rto_min` | time | 1 s | rfc6298 section 2.4; Linux: 200 ms, of the variance term |
//! | `rto_max` | time | 60 s | rfc6298 section 2.5 |
//! | `rto_tick` | time | 1 ms | ours; Linux 2.4 and ns-2: 10 ms |
//! | `backoff_end` | - | `sample` | rfc6298 section 5.7; ns-2: `new-data` |
//! | `spurious_timer` | - | `std` | rfc6298: a spurious timeout changes nothing |
//! | `spurious_timer_step` | time | 1 s | ours: gurtov-2004 gives none |
//!
//! **Deviations**: 1. `linux-2.4` keeps the largest mean deviation of the current window (`mdev_max`), never below the
//! floor, and lets the variance term fall only once per window: its timeout stays high for a round trip longer than
//! rfc6298 would have it. `linux-2.4.17`, the same up to release 2.4.18, takes every ACK for the end of a window, and its first sample makes a
//! timeout of five round trips instead of three. 2. `ns-2` works in integer ticks with SRTT scaled by 8 and RTTVAR by 4, and rounds every sample
//! to ticks: timeouts come in steps of a tick. 3. `reseed` uses the rule of the first sample, which the source does not
//! spell out. 4. The floor that `min++` raises has no ceiling of its own: `rto_max` holds.
//!
//! **Checked by**: `tests/oracle_rto.rs` (all four profiles, transcribed); `undo/eifel_oracle.rs` and
//! `tests/tapes/eifel_timer_*.tape` (adaptations); `crates/sim/tests/worlds.rs` (the cost of one lost segment, to the nanosecond); the ns-2 comparison.

use super::super::params::TcpParams;
use crate::tcp::choices::{RtoProfile, SpuriousTimer};
use crosswind_base::Dur;

impl RtoProfile {
    /// One of the timers of Linux 2.4, which alone hand their state on.
    pub fn hands_on_state(self) -> bool {
        matches!(self, RtoProfile::PeakDeviation | RtoProfile::PeakDeviationPerAck)
    }
}

/// What a host remembers of the way to a peer, in ticks as Linux 2.4 counts them: eight times the mean, four times the
/// deviation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    pub srtt: i64,
    pub var: i64,
}

/// The estimator of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Rtt {
    pub srtt: Option<Dur>,
    rttvar_ns: f64,
    srtt_ns: f64,
    state: State,
    /// Timeout before back-off.
    base: Dur,
    backoff: u32,
    /// Back-off that new samples do not end (`back-off`), and how often the floor was raised (`min++`).
    kept: u16,
    raised: u16,
}

/// SRTT and its deviation, as an estimator had them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    pub srtt: Dur,
    pub rttvar: Dur,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Rfc,
    /// Jiffies: srtt x8, mdev x4, mdev_max x4, rttvar x4, and the sequence number at which the window ends.
    Peak {
        srtt: i64,
        mdev: i64,
        mdev_max: i64,
        rttvar: i64,
        window_end: u64,
    },
    /// Ticks: srtt x8, rttvar x4.
    Ticks {
        srtt: i64,
        rttvar: i64,
    },
}

impl Rtt {
    pub fn new(p: &TcpParams) -> Rtt {
        let state = match p.timers.rto {
            RtoProfile::Rfc6298 => State::Rfc,
            RtoProfile::PeakDeviation | RtoProfile::PeakDeviationPerAck => {
                State::Peak { srtt: 0, mdev: 0, mdev_max: 0, rttvar: 0, window_end: 0 }
            }
            RtoProfile::CoarseTicks => State::Ticks { srtt: 0, rttvar: 0 },
        };
        Rtt {
            srtt: None,
            rttvar_ns: 0.0,
            srtt_ns: 0.0,
            state,
            base: p.timers.rto_initial,
            backoff: 0,
            kept: 0,
            raised: 0,
        }
    }

    /// The estimator of a connection whose SYN timed out: at least 3 s until the first sample (RFC 6298 section 5.7).
    /// Linux 2.4 and RFC 2988 know no such rule: what the SYN's timeouts have doubled stays until there is a sample. The
    /// side that answers (`backoff` 0) keeps no timer of its own until the connection exists.
    pub fn after_syn_loss(p: &TcpParams, backoff: u32) -> Rtt {
        let fresh = Rtt::new(p);
        match p.timers.rto {
            RtoProfile::PeakDeviation | RtoProfile::PeakDeviationPerAck => Rtt { backoff, ..fresh },
            _ => Rtt { base: fresh.base.max(Dur::from_secs(3)), ..fresh },
        }
    }

    /// The timeout that a timer started now gets.
    pub fn rto(&self, p: &TcpParams) -> Dur {
        let mut v = self.base;
        if self.raised > 0 {
            v = v.max(p.timers.rto_min + p.undo.spurious_timer_step.saturating_mul(u64::from(self.raised)));
        }
        for _ in 0..self.backoff.min(40) {
            v = v.saturating_mul(2);
            if v > p.timers.rto_max {
                break;
            }
        }
        Dur(v.0.min(p.timers.rto_max.0))
    }

    /// What is worth remembering; nothing in the other profiles, before the first sample, or after a timeout.
    pub fn path(&self) -> Option<Path> {
        match self.state {
            State::Peak { srtt, mdev, .. } if srtt > 0 && self.backoff == 0 => Some(Path { srtt, var: mdev }),
            _ => None,
        }
    }

    /// Starts from what is remembered where that is larger: the SYN was small and says little of full packets.
    pub fn recall(&mut self, known: Path, p: &TcpParams) {
        let State::Peak { srtt, mdev, mdev_max, rttvar, .. } = &mut self.state else { return };
        let tick = p.timers.rto_tick.0.max(1);
        *srtt = known.srtt.max(*srtt);
        if known.var > *mdev {
            *mdev = known.var;
            *mdev_max = known.var.max((p.timers.rto_min.0 / tick) as i64);
            *rttvar = *mdev_max;
        }
        self.base = Dur((((*srtt >> 3) + *rttvar) as u64) * tick);
        self.srtt = Some(Dur(*srtt as u64 * tick / 8));
    }

    pub fn backoff_count(&self) -> u32 {
        self.backoff
    }
    /// The timer expired.
    pub fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
        // ns-2 distrusts the mean after four expiries: it moves into the deviation, and the next sample starts afresh.
        if let State::Ticks { srtt, rttvar } = &mut self.state
            && self.backoff >= 4
        {
            *rttvar += *srtt >> 3;
            *srtt = 0;
        }
    }
    /// New data was acknowledged.
    pub fn reset_backoff(&mut self) {
        self.backoff = u32::from(self.kept);
    }
    /// The deviation as the timeout uses it: SRTT + 4 of these, or for `linux-2.4` SRTT + this.
    pub fn rttvar(&self, p: &TcpParams) -> Dur {
        match self.state {
            State::Rfc => Dur(self.rttvar_ns as i64 as u64),
            State::Peak { rttvar, .. } => Dur(rttvar as u64 * p.timers.rto_tick.0),
            State::Ticks { rttvar, .. } => Dur(rttvar as u64 * p.timers.rto_tick.0 / 4),
        }
    }
    pub fn estimate(&self, p: &TcpParams) -> Estimate {
        Estimate { srtt: self.srtt.unwrap_or_default(), rttvar: self.rttvar(p) }
    }

    /// A timeout was spurious: `reached` is the back-off that its episode came to, `r` the sample that told.
    pub fn on_spurious(&mut self, r: Option<Dur>, reached: u32, now: crosswind_base::Time, p: &TcpParams) {
        match (p.undo.spurious_timer, r) {
            (SpuriousTimer::Reseed, Some(r)) => {
                let fresh = Rtt::new(p);
                (self.state, self.srtt, self.srtt_ns, self.rttvar_ns) = (fresh.state, None, 0.0, 0.0);
                self.sample(r, now, p, 0, 1);
            }
            (SpuriousTimer::BackOff, _) => {
                self.kept = reached.min(40) as u16;
                self.backoff = u32::from(self.kept);
            }
            (SpuriousTimer::RaiseFloor, _) => self.raised = self.raised.saturating_add(1),
            _ => {}
        }
    }

    /// A timeout was genuine: what spurious ones have left behind goes.
    pub fn on_genuine(&mut self) {
        if self.kept > 0 {
            self.backoff = 0;
        }
        (self.kept, self.raised) = (0, 0);
    }

    /// RFC 4015 step 9: the estimator after a spurious timeout is the larger of what it was and of what one sample of new
    /// data would make of a fresh one.
    pub fn lift(&mut self, before: Estimate, r: Dur, p: &TcpParams) {
        let tick = p.timers.rto_tick.0.max(1);
        // The deviation of Linux is four times as large.
        let times = if matches!(self.state, State::Peak { .. }) { 4 } else { 1 };
        let (srtt, rttvar) = (Dur(before.srtt.0 + 2 * tick).max(r), before.rttvar.max(Dur(times * r.0 / 2)));
        let ticks = |d: Dur| (d.0 / tick).max(1) as i64;
        match &mut self.state {
            State::Rfc => {
                (self.srtt_ns, self.rttvar_ns) = (srtt.0 as i64 as f64, rttvar.0 as i64 as f64);
                self.base = Dur(srtt.0 + (4 * rttvar.0).max(tick)).max(p.timers.rto_min);
            }
            State::Peak { srtt: s, mdev, mdev_max, rttvar: v, .. } => {
                (*s, *mdev) = (ticks(srtt) << 3, ticks(rttvar));
                *mdev_max = *mdev;
                *v = *mdev;
                self.base = Dur(((*s >> 3) + *v) as u64 * tick);
            }
            State::Ticks { srtt: s, rttvar: v } => {
                (*s, *v) = (ticks(srtt) << 3, ticks(rttvar) << 2);
                self.base = Dur(ticks_rto(*s, *v, tick).max(p.timers.rto_min.0));
            }
        }
        self.srtt = Some(srtt);
    }

    /// One sample. `una` and `nxt` tell the Linux profile where the current window of data ends.
    pub fn sample(&mut self, rtt: Dur, now: crosswind_base::Time, p: &TcpParams, una: u64, nxt: u64) {
        match &mut self.state {
            State::Rfc => self.sample_rfc(rtt, p),
            State::Peak { srtt, mdev, mdev_max, rttvar, window_end } => {
                let tick = p.timers.rto_tick.0.max(1);
                let floor = (p.timers.rto_min.0 / tick) as i64;
                let m = (rtt.0 / tick).max(1) as i64;
                let is_early = p.timers.rto == RtoProfile::PeakDeviationPerAck;
                if *srtt == 0 {
                    *srtt = m << 3;
                    *mdev = if is_early { m << 2 } else { m << 1 };
                    *mdev_max = floor.max(*mdev);
                    *rttvar = *mdev_max;
                    *window_end = nxt;
                } else {
                    peak_update(m, srtt, mdev, mdev_max, rttvar);
                    if una > *window_end {
                        if *mdev_max < *rttvar {
                            *rttvar -= (*rttvar - *mdev_max) >> 2;
                        }
                        *window_end = if is_early { una } else { nxt };
                        *mdev_max = floor;
                    }
                }
                self.base = Dur((((*srtt >> 3) + *rttvar) as u64) * tick);
                self.srtt = Some(Dur(*srtt as u64 * tick / 8));
            }
            State::Ticks { srtt, rttvar } => {
                let tick = p.timers.rto_tick.0.max(1);
                // ns-2 counts the ticks of a coarse clock between sending and acknowledgement.
                let m = match p.connection.timestamps.on() {
                    // With timestamps it rounds the exact difference.
                    true => ((rtt.0 + tick / 2) / tick).max(1) as i64,
                    false => (now.0 / tick - (now.0 - rtt.0) / tick).max(1) as i64,
                };
                if *srtt != 0 {
                    let mut delta = m - (*srtt >> 3);
                    *srtt = (*srtt + delta).max(1);
                    delta = delta.abs() - (*rttvar >> 2);
                    *rttvar = (*rttvar + delta).max(1);
                } else {
                    *srtt = m << 3;
                    *rttvar = m << 1;
                }
                self.srtt = Some(Dur(*srtt as u64 * tick / 8));
                self.base = Dur(ticks_rto(*srtt, *rttvar, tick).max(p.timers.rto_min.0));
            }
        }
    }

    fn sample_rfc(&mut self, rtt: Dur, p: &TcpParams) {
        // Signed numbers convert in one instruction on most processors.
        let r = rtt.0 as i64 as f64;
        if self.srtt.is_none() {
            self.srtt_ns = r;
            self.rttvar_ns = r / 2.0;
        } else {
            // RFC 6298 (2.3): RTTVAR first, with the old SRTT.
            self.rttvar_ns = 0.75 * self.rttvar_ns + 0.25 * (self.srtt_ns - r).abs();
            self.srtt_ns = 0.875 * self.srtt_ns + 0.125 * r;
        }
        let rto = self.srtt_ns + (4.0 * self.rttvar_ns).max(p.timers.rto_tick.0 as i64 as f64);
        self.srtt = Some(Dur(self.srtt_ns as i64 as u64));
        self.base = Dur((rto as i64 as u64).max(p.timers.rto_min.0));
    }
}

/// `srtt` scaled by 8, `rttvar` by 4: SRTT + 4 RTTVAR in nanoseconds.
fn ticks_rto(srtt: i64, rttvar: i64, tick: u64) -> u64 {
    (((rttvar << 2) + (srtt >> 1)) >> 2) as u64 * tick
}

fn peak_update(m: i64, srtt: &mut i64, mdev: &mut i64, mdev_max: &mut i64, rttvar: &mut i64) {
    let mut err = m - (*srtt >> 3);
    *srtt += err;
    if err < 0 {
        err = -err - (*mdev >> 2);
        // A falling RTT lowers the deviation slowly, so that the timeout does not jump up on an improvement.
        if err > 0 {
            err >>= 3;
        }
    } else {
        err -= *mdev >> 2;
    }
    *mdev += err;
    if *mdev > *mdev_max {
        *mdev_max = *mdev;
        if *mdev_max > *rttvar {
            *rttvar = *mdev_max;
        }
    }
}
