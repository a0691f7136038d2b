//! # DCTCP
//!
//! **Source**: rfc8257 sections 3.3 to 3.5; linux-6.18 `tcp_dctcp.c`.
//!
//! **Idea**: once a round, `alpha = (1 - g) alpha + g F`, where F is the share of what was delivered that carried a mark. Marks cost
//! `cwnd alpha / 2`, once a window; losses cost half. Between them the window grows as Reno's. The number of marks
//! a round does not depend on the rate.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `dctcp.profile` | - | `linux` | linux-6.18: alpha of 1024, packets; `rfc` counts bytes, in real numbers |
//! | `dctcp.gain_shift` | - | 4 | rfc8257 section 4.2: g = 1/16 |
//! | `dctcp.alpha_initial` | - | 1 | rfc8257 section 3.3 |
//!
//! **Deviations**: 1. Marks that come while a loss is repaired are counted and not answered, as in Linux. 2. `rfc`: bytes count when SACK reports
//! them (the RFC leaves SACK out), and a round is over when all that was in flight at its beginning is acknowledged, as the text of section 3.3 has
//! it; its step 4 waits for one ACK more. 3. A loss in a window that marks have reduced costs a half
//! more with `rfc` too, as in Linux; section 3.5 may be read so that it does not.
//!
//! **Checked by**: `law/dctcp_oracle.rs` (the kernel's integers and the RFC's steps on random ACKs), unit tests (the kernel's integers; as many marks a round at every rate; alpha above a step, the root of two over the window).

use super::reno::Reno;
use super::{AckSample, Controller, Start, Window, within};
use crate::tcp::choices::choice;
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice!(
    /// Whose arithmetic.
    #[derive(Default)]
    DctcpProfile {
        /// Integers of 1/1024, packets (Linux).
        #[default]
        Linux,
        /// Real numbers, bytes (RFC 8257).
        Rfc,
    }
);

/// Parameters of DCTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DctcpParams {
    /// Whose arithmetic.
    pub profile: DctcpProfile,
    /// The weight of a round is two to the minus this.
    pub gain_shift: u32,
    /// Alpha of a fresh connection.
    pub alpha_initial: f64,
}

impl Default for DctcpParams {
    fn default() -> Self {
        DctcpParams { profile: DctcpProfile::Linux, gain_shift: 4, alpha_initial: 1.0 }
    }
}

impl DctcpParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        within("gain_shift", self.gain_shift.into(), 0.0..=10.0)?;
        within("alpha_initial", self.alpha_initial, 0.0..=1.0)
    }
}

/// One in Linux's alpha.
const ONE_BITS: u32 = 10;

#[derive(Clone, Debug)]
pub struct Dctcp {
    reno: Reno,
    profile: DctcpProfile,
    gain_shift: u32,
    alpha: f64,
    /// The round ends when this is acknowledged.
    round_end: u64,
    /// Packets or bytes of this round, by profile.
    delivered: u64,
    marked: u64,
}

impl Dctcp {
    pub fn new(p: &DctcpParams, start: Start) -> Dctcp {
        let d = p;
        let alpha = match d.profile {
            DctcpProfile::Linux => (d.alpha_initial * f64::from(1 << ONE_BITS)).floor() / f64::from(1 << ONE_BITS),
            DctcpProfile::Rfc => d.alpha_initial,
        };
        let (profile, gain_shift) = (d.profile, d.gain_shift);
        Dctcp { reno: Reno::new(start), profile, gain_shift, alpha, round_end: 0, delivered: 0, marked: 0 }
    }

    /// The estimated share of marked packets.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    fn count(&mut self, s: &AckSample<'_>) {
        let a = s.ack;
        let (delivered, marked) = match self.profile {
            DctcpProfile::Linux => (a.newly_delivered.into(), a.newly_ce.min(a.newly_delivered).into()),
            DctcpProfile::Rfc => (a.delivered, a.ce_bytes.min(a.delivered)),
        };
        self.delivered += delivered;
        self.marked += marked;
        if a.ack >= self.round_end {
            self.end_round();
            self.round_end = s.nxt;
        }
    }

    fn end_round(&mut self) {
        let (delivered, marked) = (std::mem::take(&mut self.delivered), std::mem::take(&mut self.marked));
        if self.profile == DctcpProfile::Rfc {
            let share = if delivered > 0 { marked as f64 / delivered as f64 } else { 0.0 };
            let gain = 1.0 / f64::from(1u32 << self.gain_shift);
            self.alpha += gain * (share - self.alpha);
            return;
        }
        let one = 1u64 << ONE_BITS;
        let mut alpha = (self.alpha * one as f64) as u64;
        let decay = alpha >> self.gain_shift;
        alpha -= if decay == 0 { alpha } else { decay };
        alpha = (alpha + (marked << (ONE_BITS - self.gain_shift)) / delivered.max(1)).min(one);
        self.alpha = alpha as f64 / one as f64;
    }

    fn answer_marks(&mut self) {
        let w = self.reno.window_mut();
        let kept = match self.profile {
            DctcpProfile::Rfc => w.cwnd * (1.0 - self.alpha / 2.0),
            DctcpProfile::Linux => {
                let segments = (w.cwnd / w.mss).floor();
                let share = self.alpha * f64::from(1 << ONE_BITS);
                (segments - (segments * share / f64::from(2 << ONE_BITS)).floor()) * w.mss
            }
        };
        w.fall_to(kept, Trigger::Echo);
    }
}

impl Controller for Dctcp {
    fn on_ack(&mut self, s: &AckSample<'_>) {
        self.count(s);
        self.reno.on_ack(s);
    }
    fn grow(&mut self, a: &Ack) {
        self.reno.grow(a);
    }
    fn reduce(&mut self, why: Trigger, base: f64) {
        match why {
            Trigger::Echo => self.answer_marks(),
            _ => self.reno.reduce(why, base),
        }
    }
    fn undo(&mut self, before: &Self) {
        let now = self.reno.window().cwnd;
        self.reno = before.reno.clone();
        let w = self.reno.window_mut();
        w.cwnd = w.cwnd.max(now);
    }
    fn sample(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("marked_ratio", self.alpha);
    }
    fn window(&self) -> &Window {
        self.reno.window()
    }
    fn window_mut(&mut self) -> &mut Window {
        self.reno.window_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::super::scalable_drive::{Path, drive};
    use super::*;
    use crate::tcp::params::TcpParams;
    use crate::tcp::preset;

    fn params(profile: DctcpProfile) -> TcpParams {
        let p = preset::preset("linux-6-dctcp").expect("a preset");
        p.with(|p| p.controller.dctcp = DctcpParams { profile, ..DctcpParams::default() })
    }

    fn rounds(d: &mut Dctcp, n: u32, marked: u64) -> Vec<u64> {
        (0..n)
            .map(|_| {
                (d.delivered, d.marked) = (100, marked);
                d.end_round();
                (d.alpha * 1024.0) as u64
            })
            .collect()
    }

    #[test]
    fn alpha_falls_in_the_kernels_integers_and_from_fifteen_to_nothing() {
        let p = params(DctcpProfile::Linux);
        let mut d = Dctcp::new(&p.controller.dctcp, Start::of(&p));
        assert_eq!(rounds(&mut d, 3, 0), [960, 900, 844]);
        d.alpha = 15.0 / 1024.0;
        assert_eq!(rounds(&mut d, 1, 0), [0]);
        d.alpha = 1.0;
        assert_eq!(rounds(&mut d, 1, 100), [1024]);
    }

    #[test]
    fn a_hundred_segments_with_half_marked_become_seventy_five_and_a_loss_halves_whatever_alpha_is() {
        for profile in [DctcpProfile::Linux, DctcpProfile::Rfc] {
            let p = params(profile);
            let mut d = Dctcp::new(&p.controller.dctcp, Start::of(&p));
            let mss = p.connection.mss.0 as f64;
            d.alpha = 0.5;
            d.window_mut().cwnd = 100.0 * mss;
            d.reduce(Trigger::Echo, 1.0);
            assert_eq!((d.cwnd() / mss, d.ssthresh() / mss), (75.0, 75.0));
            d.alpha = 0.0;
            d.reduce(Trigger::Loss, 60.0 * mss);
            assert_eq!(d.ssthresh() / mss, 30.0);
            d.reduce(Trigger::Timeout, 3.0 * mss);
            assert_eq!((d.cwnd() / mss, d.ssthresh() / mss), (1.0, 2.0));
        }
    }

    #[test]
    fn alpha_is_the_share_of_marks_and_their_number_a_round_trip_is_the_same_at_every_rate() {
        let rounds = [50, 20, 10].map(|every| {
            let got = drive(&params(DctcpProfile::Rfc), Path::every(every, 0.020), 4000);
            let share = 1.0 / every as f64;
            assert!((got.alpha / share - 1.0).abs() < 0.05, "every {every}: alpha {}", got.alpha);
            got.marks_a_round
        });
        let (least, most) = (rounds.iter().copied().fold(9.0, f64::min), rounds.iter().copied().fold(0.0, f64::max));
        assert!(most / least < 1.1, "{rounds:?}");
    }

    #[test]
    fn above_a_step_the_window_swings_by_a_few_segments_and_alpha_is_the_root_of_two_over_it() {
        let law = drive(&params(DctcpProfile::Rfc), Path::step(100.0, 0.020), 3000);
        let want = (2.0_f64 / 100.0).sqrt();
        assert!((law.alpha / want - 1.0).abs() < 0.25, "alpha {} for {want}", law.alpha);
        assert!((85.0..105.0).contains(&law.mean_window), "{}", law.mean_window);
    }
}
