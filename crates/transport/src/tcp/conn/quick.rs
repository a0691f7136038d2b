//! # Delayed ACKs of Linux 2.4
//!
//! **Source**: linux-2.4 `net/ipv4/tcp_input.c` (`tcp_measure_rcv_mss`, `tcp_incr_quickack`, `tcp_event_data_recv`,
//! `__tcp_ack_snd_check`), `tcp_output.c` (`tcp_send_delayed_ack`), `tcp_timer.c` (`tcp_delack_timer`), `tcp.c` (`cleanup_rbuf`).
//!
//! **Idea**: how long an ACK waits is learnt. A number of ACKs are quick, that is sent at once: half a window of segments, at most
//! 16, at the start, after a gap longer than the receiver's own timeout, and after every segment out of order or received twice; and one for
//! each segment that makes the window grow. Otherwise an ACK waits for more than one full segment, for a segment that was pushed (a
//! program that waits for data reads it at once, and the read acknowledges it), or for the timer. The timer starts at 40 ms; it doubles
//! each time it fires, follows the gaps between segments that are shorter, and returns to 40 ms when quick ACKs begin or
//! end. It is at most 500 ms, and no longer than the round trip where that is known to the receiver.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `delayed_ack_timer` | - | `per-segment` | ours; `linux-2.4` goes with `receive_window` and `writing` of that system |
//! | `delayed_ack` | time | - | the shortest wait; linux-2.4 `TCP_ATO_MIN` = `TCP_DELACK_MIN`: 40 ms |
//! | `rto_tick` | time | - | the clock by which it fires; linux-2.4: 10 ms |
//!
//! **Deviations**: 1. The program always waits for data, so the ACK of a pushed segment never waits for it. 2. The clock ticks at whole
//! multiples of `rto_tick` on every host. 3. An ACK of the FIN goes at once: the program closes with it. 4. Interactive connections
//! (`pingpong`) are not told apart: nothing is sent back.
//!
//! **Checked by**: `tests/oracle_quick_acks.rs` (a model of the kernel's rules, on random arrivals).

use super::super::params::TcpParams;
use super::rtt::Rtt;
use super::state::AckNow;
use crate::tcp::choices::DelayedAckTimer;
use crosswind_base::{Dur, Time};

/// Most quick ACKs in store (`TCP_MAX_QUICKACKS`).
const QUICK_MAX: u64 = 16;
/// Longest wait (`HZ/2`).
const WAIT_MAX: Dur = Dur::from_millis(500);
/// A segment that is shorter than the largest so far, and than this, tells nothing about the sender's size (`TCP_MIN_RCVMSS` less
/// timestamps), unless it was not pushed either (`TCP_MIN_MSS`).
const TELLING: u64 = 536 - 12;
const TELLING_UNPUSHED: u64 = 88 - 12;

/// What arrived in order, and what the connection knows.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub len: u64,
    /// The segment has PSH or FIN.
    pub pushed: bool,
    /// It made the window grow.
    pub grew: bool,
    /// The window last offered.
    pub window: u64,
}

/// The engine of one receiver. Times in ticks.
#[derive(Clone, Debug)]
pub struct QuickAcks {
    tick: Dur,
    least: u64,
    /// How long an ACK waits (`ato`); zero before the first segment.
    wait: u64,
    /// ACKs still to be sent at once.
    quick: u64,
    last_at: u64,
    /// Largest segment, or the one that has come twice in a row (`rcv_mss`).
    segment: u64,
    /// The smaller one that may be such (`last_seg_size`).
    smaller: u64,
    pushed: bool,
    /// In-order edge at the last ACK (`rcv_wup`).
    acked_to: u64,
    /// Round trip and timeout that this end has measured.
    srtt: Option<u64>,
    rto: u64,
}

impl QuickAcks {
    pub fn asked_for(p: &TcpParams) -> Option<Box<QuickAcks>> {
        (p.receiver.delayed_ack_timer == DelayedAckTimer::Learnt).then(|| Box::new(QuickAcks::new(p)))
    }

    fn new(p: &TcpParams) -> QuickAcks {
        let tick = Dur(p.timers.rto_tick.0.max(1));
        QuickAcks {
            tick,
            least: (p.receiver.delayed_ack.0 / tick.0).max(1),
            wait: 0,
            quick: 0,
            last_at: 0,
            segment: p.connection.mss.0.min(536),
            smaller: 0,
            pushed: false,
            acked_to: 1,
            srtt: None,
            rto: p.timers.rto_initial.0 / tick.0,
        }
    }

    /// What this end has measured itself: the handshake, as a rule.
    pub fn know(&mut self, rtt: &Rtt, p: &TcpParams) {
        self.srtt = rtt.srtt.map(|s| s.0 / self.tick.0);
        self.rto = rtt.rto(p).0 / self.tick.0;
    }

    fn refill(&mut self, window: u64) {
        let half = window / (2 * self.segment);
        self.quick = self.quick.max(if half == 0 { 2 } else { half.min(QUICK_MAX) });
    }

    /// A segment came out of order, or once more.
    pub fn on_disorder(&mut self, window: u64) {
        self.refill(window);
        self.wait = self.least;
    }

    /// A segment of data came in order.
    pub fn on_data(&mut self, a: Arrival, now: Time) {
        self.measure(a.len, a.pushed);
        let at = now.0 / self.tick.0;
        if self.wait == 0 {
            self.refill(a.window);
            self.wait = self.least;
        } else {
            let gap = at.saturating_sub(self.last_at);
            // With a coarse clock halves are nothing; an ACK that is due waits for a tick all the same.
            if gap <= self.least / 2 {
                self.wait = (self.wait / 2 + self.least / 2).max(1);
            } else if gap < self.wait {
                self.wait = (self.wait / 2 + gap).min(self.rto).max(1);
            } else if gap > self.rto {
                self.refill(a.window);
            }
        }
        self.last_at = at;
        if a.grew {
            self.quick |= 1;
        }
    }

    /// Learns the size of full segments; a shorter one that came alone is the end of something, pushed or not.
    fn measure(&mut self, len: u64, pushed: bool) {
        let before = std::mem::take(&mut self.smaller);
        if len >= self.segment {
            self.segment = len;
            self.pushed |= pushed;
            return;
        }
        if len >= TELLING || (len >= TELLING_UNPUSHED && !pushed) {
            self.smaller = len;
            if len == before {
                self.segment = len;
                return;
            }
        }
        self.pushed = true;
    }

    /// Whether all up to `next` is acknowledged now. If not, and the timer is to be set, `due` becomes when it fires.
    pub fn decide(&self, next: u64, now: Time, due: &mut Time) -> AckNow {
        if next - self.acked_to > self.segment || self.quick > 0 || self.pushed {
            return AckNow::Yes;
        }
        let wait = self.bounded();
        let at = now.0 / self.tick.0;
        let mut timeout = at + wait;
        if *due != Time::NEVER {
            let pending = due.0 / self.tick.0;
            if pending <= at + wait / 4 {
                return AckNow::Yes;
            }
            timeout = timeout.min(pending);
        }
        *due = Time(timeout * self.tick.0);
        AckNow::Later
    }

    fn bounded(&self) -> u64 {
        if self.wait <= self.least {
            return self.wait;
        }
        let longest = (WAIT_MAX.0 / self.tick.0).max(1);
        self.wait.min(self.srtt.map_or(longest, |s| longest.min(s.max(self.least))))
    }

    /// The timer has fired: the wait was in vain.
    pub fn on_timer(&mut self) {
        self.wait = (2 * self.wait).min(self.rto).max(1);
    }

    /// An ACK has been sent, for all up to `next`.
    pub fn acked(&mut self, next: u64) {
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.wait = self.least;
            }
        }
        self.pushed = false;
        self.acked_to = next;
    }

    /// Ticks that an ACK would wait now, and quick ACKs in store.
    pub fn state(&self) -> (u64, u64) {
        (self.wait, self.quick)
    }
}
