//! # CUBIC
//!
//! **Source**: rfc9438 section 4; rhee-xu-2005 (`version = "2005"`); linux-6.18 `tcp_cubic.c` (`version = "linux-6"`).
//!
//! **Idea**: the window follows `W(t) = C (t - K)^3 + w_max` in the time since the last loss, with K such that W(0) is the window
//! after the loss: flat around `w_max`, steep away from it. Where AIMD with the same average would be larger, it is AIMD.
//! A loss keeps the share `beta`. A loss below the last `w_max` sets the new one lower (fast convergence). After a timeout `w_max` is
//! the window with which congestion avoidance begins, and K is zero.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `cubic.version` | - | `rfc9438` | - |
//! | `cubic.c` | segments/s^3 | 0.4 | rfc9438 section 5 |
//! | `cubic.beta` | - | 0.7 | rfc9438 section 4.6; 2005: 0.8 |
//! | `cubic.fast_convergence` | - | `on` | rfc9438 section 4.7 |
//! | `cubic.friendly` | - | `on` | rfc9438 section 4.3 |
//! | `cubic.s_max` | segments/s | 160 | rhee-xu-2005: the fastest growth; rfc9438: half a window per round trip instead |
//!
//! **Deviations**: 1. An epoch begins with the first ACK after the reduction that may grow the window. 2. The round-trip time
//! that is looked ahead is smoothed over those ACKs. 3. `2005` computes the AIMD window from time, `rfc9438` from ACKs, as the
//! sources do: the two differ while the round-trip time changes. 4. `linux-6`: an exact cube
//! root for the kernel's approximate one, a clock of 250 ticks a second (`law/cubic_linux.rs`). 5. `2005`: K is such that W(0) is the window
//! at the first ACK, as in Linux; with the paper's `(w_max beta / C)^(1/3)` a flow that gives way would stand still first. It
//! approaches the AIMD window by a segment per ACK at most, and answers timeouts as rfc9438 does: the paper says nothing of them. 6. Time in
//! which the window was not used is left out of an epoch with `rfc9438` only. 7. An echo leaves one segment with `rfc9438`, two with the others;
//! a sender with one is not slowed down further by its timer (section 4.6, last paragraph).
//!
//! **Checked by**: `law/oracle/cubic.rs` (rfc9438, the paper of 2005 and the kernel's functions line by line), the average windows of rfc9438 tables 1 and 2, measured.

use super::super::detect::Phase;
use super::cubic_linux::Counting;
use super::rtt_filter::RttFilter;
use super::{AckSample, Controller, Start, Window, within};
use crate::tcp::choices::{AvoidanceCounting, Switch};
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::{ConfigError, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which document is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum CubicVersion {
    #[serde(rename = "rfc9438")]
    Rfc9438,
    #[serde(rename = "2005")]
    Pfldnet2005,
    /// The kernel's arithmetic: one segment in so many acknowledged ones.
    #[serde(rename = "linux-6")]
    Linux6,
}

/// Parameters of CUBIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CubicParams {
    /// Which document is followed.
    pub version: CubicVersion,
    /// How steep the curve is, in segments per cubic second.
    pub c: f64,
    /// Share of the window that a loss keeps. `None` (left out): 0.7, or 0.8 with `version = "2005"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// A loss below the last `w_max` sets the new one lower.
    pub fast_convergence: Switch,
    /// Never slower than AIMD with the same average window.
    pub friendly: Switch,
    /// `2005`: the fastest growth, in segments per second.
    pub s_max: f64,
}

impl Default for CubicParams {
    fn default() -> Self {
        CubicParams {
            version: CubicVersion::Rfc9438,
            c: 0.4,
            beta: None,
            fast_convergence: Switch::On,
            friendly: Switch::On,
            s_max: 160.0,
        }
    }
}

impl CubicParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        within("c", self.c, 1e-6..=1e6)?;
        within("beta", self.beta(), 0.01..=0.99)?;
        within("s_max", self.s_max, 0.01..=1e9)
    }
    /// The share that a loss keeps.
    pub fn beta(&self) -> f64 {
        let own = match self.version {
            CubicVersion::Rfc9438 => 0.7,
            CubicVersion::Pfldnet2005 => 0.8,
            CubicVersion::Linux6 => 717.0 / 1024.0,
        };
        self.beta.unwrap_or(own)
    }
}

/// From the first growth after a reduction to the next one; windows in segments.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    from: Time,
    k: f64,
    w_est: f64,
}

#[derive(Clone, Debug)]
pub struct Cubic {
    w: Window,
    counting: AvoidanceCounting,
    params: CubicParams,
    beta: f64,
    rtts: RttFilter,
    /// Zero before the first loss.
    w_max: f64,
    /// The window when the last reduction was made.
    prior: f64,
    /// The last reduction was that of a timeout: the next epoch begins at its own `w_max`.
    starts_over: bool,
    epoch: Option<Epoch>,
    /// When the last ACK came.
    heard: Time,
    kernel: Counting,
}

impl Cubic {
    pub fn new(p: &CubicParams, start: Start) -> Cubic {
        Cubic {
            w: start.window,
            counting: start.counting,
            beta: p.beta(),
            params: p.clone(),
            rtts: RttFilter::new(),
            w_max: 0.0,
            prior: 0.0,
            starts_over: false,
            epoch: None,
            heard: Time::ZERO,
            kernel: Counting::default(),
        }
    }

    fn begin(&mut self, now: Time) -> Epoch {
        let segments = self.w.segments();
        // Section 4.8: after a timeout, and where there is nothing to climb back to.
        if self.starts_over || self.w_max < segments {
            (self.w_max, self.starts_over) = (segments, false);
        }
        let k = ((self.w_max - segments) / self.params.c).cbrt();
        *self.epoch.insert(Epoch { from: now, k, w_est: segments })
    }

    /// The cubic, in segments, `t` seconds into the epoch.
    fn curve(&self, e: &Epoch, t: f64) -> f64 {
        self.params.c * (t - e.k).powi(3) + self.w_max
    }

    /// RFC 9438 section 4.3: what AIMD would have, after `credit` more segments.
    fn aimd(&self, e: &Epoch, credit: f64) -> f64 {
        let alpha = if e.w_est >= self.prior { 1.0 } else { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) };
        e.w_est + alpha * credit / self.w.segments()
    }

    /// Section 4.2: the time in an epoch is that in which the window was used.
    fn leave_out_pauses(&mut self, s: &AckSample<'_>) {
        let now = s.ack.now;
        let heard = std::mem::replace(&mut self.heard, now);
        let Some(e) = self.epoch.as_mut().filter(|_| self.params.version == CubicVersion::Rfc9438) else { return };
        // What this ACK acknowledges left after the last one had come: nothing was under way in between.
        let left = s.ack.rtt.map_or(heard, |rtt| Time(now.0.saturating_sub(rtt.0)));
        let pause = match s.phase == Phase::Open && !s.may_grow && !s.ack.window_limited {
            true => now.since(heard),
            false if left > heard => left.since(heard),
            false => return,
        };
        e.from = (e.from + pause).min(now);
    }

    fn grow_2005(&self, e: &Epoch, t: f64, credit: f64) -> f64 {
        let (segments, rtt) = (self.w.segments(), self.rtts.smoothed_s);
        let per_window = (self.curve(e, t + rtt) - segments).clamp(0.0, self.params.s_max * rtt);
        let aimd = self.w_max * self.beta + 3.0 * (1.0 - self.beta) / (1.0 + self.beta) * t / rtt.max(1e-6);
        let grown = segments + per_window * credit / segments;
        if self.params.friendly.on() { grown.max(aimd.min(segments + credit)) } else { grown }
    }

    fn grow_linux(&mut self, a: &Ack) {
        let (window, acked) = (self.w.segments() as u64, self.w.credit(a, self.counting));
        let c = ((self.params.c * 1024.0).round() as u64).max(1);
        let grown = self.kernel.grow(a.now, window, acked, self.rtts.min_s, c, self.params.friendly.on());
        self.w.cwnd += grown as f64 * self.w.mss;
    }

    fn reduce_linux(&mut self, why: Trigger, segments: f64) {
        match why {
            Trigger::Timeout => self.kernel.forget(),
            _ => self.kernel.reduce(segments as u64, self.beta, self.params.fast_convergence.on()),
        }
        self.w.fall_to((segments * self.beta).floor() * self.w.mss, why);
    }

    fn grow_rfc(&self, e: &Epoch, t: f64, credit: f64) -> f64 {
        let segments = self.w.segments();
        if self.params.friendly.on() && self.curve(e, t) < e.w_est {
            return e.w_est.max(segments);
        }
        let target = self.curve(e, t + self.rtts.smoothed_s).clamp(segments, 1.5 * segments);
        segments + (target - segments) * credit / segments
    }
}

impl Controller for Cubic {
    fn on_ack(&mut self, s: &AckSample<'_>) {
        self.leave_out_pauses(s);
        if s.may_grow {
            self.grow(&Ack { bytes: s.credit, ..*s.ack });
        }
    }

    /// Section 4.9: what a mistaken reduction took is given back unless the window has outgrown it. The kernel gives the window back alone:
    /// the next climb begins with it (`tcp_reno_undo_cwnd`).
    fn undo(&mut self, before: &Cubic) {
        if self.params.version == CubicVersion::Linux6 {
            self.w = before.w.clone();
        } else if self.params.version != CubicVersion::Rfc9438 || self.w.cwnd < before.w.cwnd {
            *self = before.clone();
        }
    }

    fn grow(&mut self, a: &Ack) {
        self.rtts.take(a);
        if self.w.slow_start(a, self.counting) {
            // A slow start after idle time begins a new epoch.
            self.epoch = None;
            return;
        }
        if self.params.version == CubicVersion::Linux6 {
            return self.grow_linux(a);
        }
        let mut e = match self.epoch {
            Some(e) => e,
            None => self.begin(a.now),
        };
        let t = a.now.since(e.from).as_secs_f64();
        let credit = self.w.credit(a, self.counting);
        e.w_est = self.aimd(&e, credit);
        let grown = match self.params.version {
            CubicVersion::Pfldnet2005 => self.grow_2005(&e, t, credit),
            _ => self.grow_rfc(&e, t, credit),
        };
        self.epoch = Some(e);
        self.w.cwnd = grown * self.w.mss;
    }

    fn reduce(&mut self, why: Trigger, base: f64) {
        let segments = base / self.w.mss;
        if self.params.version == CubicVersion::Linux6 {
            return self.reduce_linux(why, segments.floor());
        }
        // Sections 4.6 and 4.7 speak of the window; only the threshold comes from what is in flight.
        let segments = if self.params.version == CubicVersion::Rfc9438 { self.w.segments() } else { segments };
        let below = segments < self.w_max && self.params.fast_convergence.on();
        self.w_max = if below { segments * (1.0 + self.beta) / 2.0 } else { segments };
        // The same segment times out again: the threshold stays, and so does the window at which it was set (section 4.3).
        let is_again = why == Trigger::Timeout && self.starts_over && segments <= 1.0;
        self.prior = if is_again { self.prior } else { segments };
        self.starts_over = why == Trigger::Timeout;
        self.epoch = None;
        self.w.fall_to(base * self.beta, why);
        if why == Trigger::Echo && self.params.version == CubicVersion::Rfc9438 {
            self.w.cwnd = (base * self.beta).max(self.w.mss);
        }
    }

    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Law, LawName};
    use super::*;
    use crate::tcp::preset;

    const MSS: f64 = 1460.0;

    fn cubic(version: CubicVersion) -> Box<Cubic> {
        let p = preset::preset("rfc").expect("a preset").with(|p| {
            p.controller.law = LawName::Cubic;
            p.controller.cubic.version = version;
        });
        match Law::new(&p) {
            Law::Cubic(law) => law,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn echoes_leave_one_segment_by_the_rfc_and_two_in_the_kernel() {
        for (version, least) in [(CubicVersion::Rfc9438, 1.0), (CubicVersion::Linux6, 2.0)] {
            let mut law = cubic(version);
            for _ in 0..12 {
                law.reduce(Trigger::Echo, law.w.cwnd());
            }
            assert_eq!((law.w.segments(), law.w.ssthresh()), (least, 2.0 * MSS), "{version:?}");
            law.reduce(Trigger::Loss, law.w.cwnd());
            assert_eq!(law.w.segments(), 2.0, "a loss leaves two");
        }
    }

    #[test]
    fn a_segment_that_times_out_again_leaves_the_window_that_was_lost() {
        let mut law = cubic(CubicVersion::Rfc9438);
        law.w.cwnd = 20.0 * MSS;
        law.reduce(Trigger::Timeout, 20.0 * MSS);
        law.reduce(Trigger::Timeout, MSS);
        assert_eq!(law.prior, 20.0);
        law.w.cwnd = 3.0 * MSS;
        law.reduce(Trigger::Timeout, 3.0 * MSS);
        assert_eq!(law.prior, 3.0, "of a later loss");
    }
}
