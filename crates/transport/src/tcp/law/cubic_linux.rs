//! The arithmetic of CUBIC in Linux 6 (`bictcp_update`, `tcp_cong_avoid_ai`): whole segments and ticks of the clock.
//!
//! At windows of ten segments the rounding is worth a twentieth of the throughput: the AIMD window counts when it is a whole
//! segment ahead, and while the window stands still the curve is looked at 32 times a second.

use crosswind_base::Time;

const TICKS_PER_S: u64 = 250;
const TICK_NS: u64 = 1_000_000_000 / TICKS_PER_S;
/// While the window stands still, so many ticks pass from one look at the curve to the next.
const LOOK_EVERY: u64 = TICKS_PER_S / 32;
/// Without a loss to climb back to, so many acknowledged segments are enough for one more.
const COUNT_EXPLORING: u64 = 20;
/// The AIMD window gains 8 segments in 15 windows.
const AIMD: (u64, u64) = (15, 8);

/// From the first growth after a reduction to the next one.
#[derive(Clone, Copy, Debug)]
struct Climb {
    from_tick: u64,
    /// When the curve passes `origin`, in parts of 1024 of a second.
    k: u64,
    origin: u64,
}

/// How many acknowledged segments the window takes for one more; windows in segments.
#[derive(Clone, Debug, Default)]
pub struct Counting {
    w_max: u64,
    climb: Option<Climb>,
    /// Tick and window of the last look at the curve.
    looked: Option<(u64, u64)>,
    count: u64,
    aimd: u64,
    acked_for_aimd: f64,
    /// Acknowledged, and not used for growth yet.
    acked: f64,
}

impl Counting {
    /// `acked` segments were acknowledged at a window of so many: by how many it grows. `c` in parts of 1024 of a segment
    /// per cubic second, one at least.
    pub fn grow(&mut self, now: Time, window: u64, acked: f64, least_rtt_s: f64, c: u64, friendly: bool) -> u64 {
        let tick = now.0 / TICK_NS;
        self.acked_for_aimd += acked;
        let is_fresh = self.looked.is_some_and(|(at, w)| w == window && tick - at <= LOOK_EVERY);
        if !is_fresh {
            if self.climb.is_none() || self.looked.is_none_or(|(at, _)| at != tick) {
                self.look(tick, window, acked, least_rtt_s, c);
            }
            if friendly {
                self.keep_up_with_aimd(window);
            }
            self.count = self.count.max(2);
        }
        self.take(acked)
    }

    fn look(&mut self, tick: u64, window: u64, acked: f64, least_rtt_s: f64, c: u64) {
        self.looked = Some((tick, window));
        let climb = *self.climb.get_or_insert_with(|| {
            (self.acked_for_aimd, self.aimd) = (acked, window);
            let lost = self.w_max.saturating_sub(window);
            let k = (lost as f64 * (1u64 << 40) as f64 / c as f64).cbrt() as u64;
            Climb { from_tick: tick, k, origin: self.w_max.max(window) }
        });
        let ahead = (least_rtt_s * TICKS_PER_S as f64).ceil() as u64;
        let t = (tick - climb.from_tick + ahead) * 1024 / TICKS_PER_S;
        let away = u128::from(t.abs_diff(climb.k));
        let part = ((u128::from(c) * away * away * away) >> 40) as u64;
        let target = if t < climb.k { climb.origin.saturating_sub(part) } else { climb.origin + part };
        self.count = if target > window { window / (target - window) } else { 100 * window };
        if self.w_max == 0 {
            self.count = self.count.min(COUNT_EXPLORING);
        }
    }

    /// Never slower than AIMD with the same average window.
    fn keep_up_with_aimd(&mut self, window: u64) {
        let per_segment = (window * AIMD.0 / AIMD.1) as f64;
        while self.acked_for_aimd > per_segment {
            self.acked_for_aimd -= per_segment;
            self.aimd += 1;
        }
        if self.aimd > window {
            self.count = self.count.min(window / (self.aimd - window));
        }
    }

    fn take(&mut self, acked: f64) -> u64 {
        let count = self.count as f64;
        let mut grown = 0;
        if self.acked >= count {
            (self.acked, grown) = (0.0, 1);
        }
        self.acked += acked;
        if self.acked >= count {
            let whole = (self.acked / count).floor();
            self.acked -= whole * count;
            grown += whole as u64;
        }
        grown
    }

    /// A loss at this window: the next climb leads back to it, or not as high if the last one was not reached again.
    pub fn reduce(&mut self, window: u64, beta: f64, fast_convergence: bool) {
        let gives_way = window < self.w_max && fast_convergence;
        self.w_max = if gives_way { (window as f64 * (1.0 + beta) / 2.0) as u64 } else { window };
        (self.climb, self.acked) = (None, 0.0);
    }

    /// A timeout: everything is forgotten (`bictcp_reset`).
    pub fn forget(&mut self) {
        *self = Counting::default();
    }
}
