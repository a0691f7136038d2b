//! # Receive window of Linux 2.4
//!
//! **Source**: linux-2.4 `net/ipv4/tcp_input.c` (`tcp_grow_window`, `tcp_init_buffer_space`), `tcp_output.c`
//! (`__tcp_select_window`), `include/net/tcp.h` (`tcp_select_initial_window`, `tcp_win_from_space`); jarvinen-2006
//! section 3.4 (`tcp_rmem`, `tcp_adv_win_scale`, `tcp_app_win`).
//!
//! **Idea**: the kernel offers no more than its memory can hold of segments like those that have come. The threshold of
//! the window starts at four segments and grows by two segments with each that arrives in order, as long as it is below
//! the clamp and the free space. Where the memory of a segment (`skb->truesize`) exceeds its data, growth ends at the
//! half, quarter, eighth.. of the space at which the overhead, halved as often, would fit again.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `receive_window` | - | `buffer` | `linux-2.4` in the presets of that system |
//! | `receive_buffer` | B | 87380 | linux-2.4 `tcp_rmem[1]` |
//! | `receive_truesize` | B | 1728 | an Ethernet driver's buffer: 1536 + 16, and 176 of `sk_buff` |
//! | `receive_overhead_shift` | - | 2 | linux-2.4 `tcp_adv_win_scale`: a quarter of the space is not offered |
//! | `receive_application_shift` | - | 31 | linux-2.4 `tcp_app_win` |
//!
//! **Deviations**: 1. The buffer does not grow beyond `receive_buffer`, nor is the window clamped or the queue pruned when
//! the memory is exhausted (`tcp_clamp_window`, `tcp_prune_queue`): the window keeps segments of one size within the
//! memory. 2. Segments out of order are counted as if they were of the largest size seen.
//!
//! **Checked by**: `tests/oracle_receive_window.rs` (the kernel's functions written out), `crates/sim/tests/worlds.rs`.

use super::super::params::TcpParams;
use crosswind_base::ConfigError;

/// Segments shorter than this say nothing about the overhead of data.
const LEAST_DATA: u64 = 128;
/// Largest window in a SYN: some stacks take it for a signed number.
const SYN_WINDOW_MAX: u64 = 32_767;

/// Segments of the first window.
fn first_segments(mss: u64) -> u64 {
    match mss {
        0..=1460 => 4,
        1461..=4380 => 3,
        _ => 2,
    }
}

/// Refuses settings of the growing window that make no sense.
pub fn check(p: &TcpParams, at: &dyn Fn(&str) -> String) -> Result<(), ConfigError> {
    if !(1..=31).contains(&p.receiver.receive_overhead_shift) {
        let found = p.receiver.receive_overhead_shift.to_string();
        return Err(ConfigError::new(at("receive_overhead_shift"), found, "from 1 to 31"));
    }
    if !(1..=31).contains(&p.receiver.receive_application_shift) {
        let found = p.receiver.receive_application_shift.to_string();
        return Err(ConfigError::new(at("receive_application_shift"), found, "from 1 to 31"));
    }
    if p.receiver.receive_truesize.0 < p.connection.mss.0 {
        let found = format!("{} B", p.receiver.receive_truesize.0);
        let expected = format!("at least one segment (mss = {} B)", p.connection.mss.0);
        return Err(ConfigError::new(at("receive_truesize"), found, expected));
    }
    // A smaller buffer the kernel would enlarge by itself.
    let least = 4 * p.receiver.receive_truesize.0 * 2;
    if p.receiver.receive_buffer.0 < least {
        let found = format!("{} B", p.receiver.receive_buffer.0);
        return Err(ConfigError::new(
            at("receive_buffer"),
            found,
            format!("at least {least} B (8 segments of receive_truesize)"),
        ));
    }
    Ok(())
}

#[derive(Clone, Debug)]
pub struct Growing {
    buffer: u64,
    truesize: u64,
    overhead_shift: u32,
    advertised_mss: u64,
    /// No window is above this.
    clamp: u64,
    /// No window is above this either: it grows with experience (`rcv_ssthresh`).
    threshold: u64,
    /// Largest segment so far (`rcv_mss`).
    segment: u64,
    /// The window last sent, and `next` when it was.
    offered: u64,
    offered_at: u64,
}

impl Growing {
    pub fn new(p: &TcpParams) -> Growing {
        let mss = p.connection.mss.0;
        let mut g = Growing {
            buffer: p.receiver.receive_buffer.0,
            truesize: p.receiver.receive_truesize.0,
            overhead_shift: p.receiver.receive_overhead_shift,
            advertised_mss: mss,
            clamp: 0,
            threshold: 0,
            segment: mss.min(536),
            offered: 0,
            offered_at: 0,
        };
        let space = g.offerable(g.buffer);
        let scale = if p.connection.window_scaling.on() { 14 } else { 0 };
        g.clamp = space.min(65_535 << scale);
        if g.clamp > 4 * mss {
            let kept = g.clamp.checked_shr(p.receiver.receive_application_shift).unwrap_or(0);
            g.clamp = (g.clamp - kept).max(4 * mss);
        }
        // One segment is kept for the application.
        if g.clamp > 2 * mss && g.clamp + mss > space {
            g.clamp = (2 * mss).max(space.saturating_sub(mss));
        }
        let whole = if space > mss { space / mss * mss } else { space };
        g.offered = whole.min(SYN_WINDOW_MAX).min(first_segments(mss) * mss);
        g.threshold = g.offered.min(g.clamp);
        g
    }

    /// What of some memory may be offered.
    fn offerable(&self, space: u64) -> u64 {
        space - space.checked_shr(self.overhead_shift).unwrap_or(0)
    }

    /// What may be offered while this many bytes wait out of order.
    fn free(&self, waiting: u64) -> u64 {
        let used = waiting.div_ceil(self.segment) * self.truesize;
        self.offerable(self.buffer.saturating_sub(used))
    }

    /// A data segment has arrived in order; `waiting` bytes are out of order behind it. Returns whether the window may grow by it.
    pub fn on_data(&mut self, len: u64, waiting: u64) -> bool {
        self.segment = self.segment.max(len.min(self.advertised_mss));
        if len < LEAST_DATA {
            return false;
        }
        // The segment itself still takes its memory.
        let space =
            self.offerable(self.buffer.saturating_sub(waiting.div_ceil(self.segment) * self.truesize + self.truesize));
        if self.threshold >= self.clamp || self.threshold >= space {
            return false;
        }
        let more = if self.offerable(self.truesize) <= len { 2 * self.advertised_mss } else { self.growth(len) };
        self.threshold = (self.threshold + more).min(self.clamp);
        more > 0
    }

    /// Halves the overhead and the space together until the data would fill it, as long as the space is above the threshold.
    fn growth(&self, len: u64) -> u64 {
        let mut overhead = self.offerable(self.truesize) / 2;
        let mut space = self.offerable(self.buffer) / 2;
        while self.threshold <= space {
            if overhead <= len {
                return 2 * self.segment;
            }
            overhead /= 2;
            space /= 2;
        }
        0
    }

    /// The window to send now.
    pub fn window(&self, next: u64, waiting: u64) -> u64 {
        let still_offered = (self.offered_at + self.offered).saturating_sub(next);
        self.select(waiting).max(still_offered)
    }

    fn select(&self, waiting: u64) -> u64 {
        let full = self.clamp.min(self.offerable(self.buffer));
        let mss = self.segment.min(full);
        let free = self.free(waiting);
        if free < full / 2 && free < mss {
            return 0;
        }
        let free = free.min(self.threshold);
        if self.offered + mss <= free || self.offered > free { free / mss * mss } else { self.offered }
    }

    /// `cleanup_rbuf`: reading has opened the window to at least twice what is left of the one offered.
    pub fn tells_of_room(&self, left: u64, waiting: u64) -> bool {
        let window = self.select(waiting);
        2 * left <= self.clamp && window > 0 && window >= 2 * left
    }

    /// The window last sent (`rcv_wnd`).
    pub fn offered(&self) -> u64 {
        self.offered
    }

    /// A segment with the window has been sent.
    pub fn sent(&mut self, next: u64, waiting: u64) {
        self.offered = self.window(next, waiting);
        self.offered_at = next;
    }
}
