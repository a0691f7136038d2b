//! # Reno
//!
//! **Source**: rfc5681 section 3.1; linux-2.4 `tcp_cong_avoid`; ns-2.35 `TcpAgent::opencwnd`.
//!
//! **Idea**: slow start adds one segment per ACK; congestion avoidance adds one segment per window;
//! a reduction sets `ssthresh = max(base / 2, 2 segments)` and continues from there, or from one segment on a timeout.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `avoidance_counting` | - | `bytes` | rfc5681 section 3.1 |
//! | `reduce_from` | - | `flight` | rfc5681 equation 4 |
//! | `timeout_window` | - | `one-segment` | rfc5681 section 3.1; `flight` in the presets of Linux 6 (`tcp_enter_loss`) |
//!
//! **Deviations**: 1. `acks` counts ACKs, so a receiver that delays them halves the growth, and
//! needs one ACK more than the window has segments (Linux 2.4). 2. `fraction`
//! adds 1/cwnd per ACK in floating point (ns-2). 3. Both round a reduction down to whole segments.
//!
//! **Checked by**: `law/reno_oracle.rs` (the routines of Linux 2.4, RFC 5681 and ns-2 in their own units), the ns-2
//! comparison.

use super::{Controller, Start, Window};
use crate::tcp::choices::AvoidanceCounting;
use crate::tcp::facts::{Ack, Trigger};

#[derive(Clone, Debug)]
pub struct Reno {
    w: Window,
    counting: AvoidanceCounting,
    /// ACKs or bytes since the window last grew in congestion avoidance.
    counted: f64,
}

impl Reno {
    pub fn new(start: Start) -> Reno {
        Reno { w: start.window, counting: start.counting, counted: 0.0 }
    }
}

impl Controller for Reno {
    #[inline]
    fn grow(&mut self, a: &Ack) {
        let w = &mut self.w;
        // Linux stays in slow start until the window exceeds the threshold; the others until it reaches it.
        let slow_start = match self.counting {
            AvoidanceCounting::Acks => w.cwnd <= w.ssthresh,
            _ => w.cwnd < w.ssthresh,
        };
        if slow_start {
            return w.climb(a, self.counting);
        }
        match self.counting {
            AvoidanceCounting::Fraction => w.cwnd += w.mss * w.mss / w.cwnd,
            AvoidanceCounting::Bytes | AvoidanceCounting::Segments => {
                self.counted += a.bytes as f64;
                if self.counted >= w.cwnd {
                    self.counted -= w.cwnd;
                    w.cwnd += w.mss;
                }
            }
            AvoidanceCounting::Acks => {
                // The ACK that finds the count full grows the window and is not counted: cwnd + 1 ACKs per segment.
                if self.counted * w.mss >= w.cwnd {
                    self.counted = 0.0;
                    w.cwnd += w.mss;
                } else {
                    self.counted += 1.0;
                }
            }
        }
    }

    fn reduce(&mut self, why: Trigger, base: f64) {
        let w = &mut self.w;
        let mut half = base / 2.0;
        if self.counting != AvoidanceCounting::Bytes {
            half = (half / w.mss).floor() * w.mss;
        }
        w.ssthresh = half.max(2.0 * w.mss);
        // ns-2 halves the window exactly and rounds the threshold alone.
        let reduced = if self.counting == AvoidanceCounting::Fraction { base / 2.0 } else { w.ssthresh };
        w.cwnd = if why == Trigger::Timeout { w.mss } else { reduced };
        self.counted = 0.0;
    }

    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}
