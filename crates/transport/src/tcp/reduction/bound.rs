//! # Bound of the window to what is in flight
//!
//! **Source**: linux-2.4 `net/ipv4/tcp_input.c` (`tcp_cwnd_down`, `tcp_enter_cwr`, `tcp_complete_cwr`).
//!
//! **Idea**: in a recovery, and after an echo until its window is acknowledged, each ACK leaves a window of at most what is in flight and
//! one segment. So an ACK that shows many losses, or many segments delivered, releases one segment and no burst. What the window has
//! lost by that it does not get back at the end: it is the threshold at most, and after many losses slow start follows.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `flight_bound` | - | `off` | rfc5681 knows none; jarvinen-2006 section 4.2 names the kernel, 2.4.22 |
//!
//! With `reduction = "at-once"` it stands alone: the kernel of jarvinen-2006 halves the window at once. `reduction = "linux-2.4"` has
//! it in recoveries anyway, beside its rate halving; with it the key adds the time after an echo.
//!
//! **Deviations**: none.
//!
//! **Checked by**: `reduction/halving_oracle.rs` (the kernel's integers with and without rate halving), `tests/tapes/flight_bound_*.tape`.

/// The largest window in bytes, with so many bytes in flight.
#[inline]
pub fn bound(in_flight: f64, mss: f64) -> f64 {
    in_flight + mss
}
