//! # Tail loss probe
//!
//! **Source**: rfc8985 section 7; linux-6.18 `tcp_schedule_loss_probe`, `tcp_send_loss_probe`, `tcp_process_tlp_ack`.
//!
//! **Idea**: when nothing has been heard for two smoothed round trips, and before the retransmission timer, send one segment
//! more: new data, or the last segment again. Its ACK, or a SACK, shows what the tail has lost, and the ordinary recovery repairs
//! it. Whether a repeated last segment filled a hole is told by a D-SACK; without one the window is reduced once.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `tail_probe` | - | `off` | `on` in the preset `linux-6` |
//!
//! **Deviations**: 1. With one segment in the network the probe waits 200 ms more (Linux), not for the delayed ACK that the peer is
//! thought to use (section 7.2). 2. It is sent however full the window is, as both sources have it, but only while no
//! SACK is outstanding and no recovery is under way.
//!
//! **Checked by**: `tests/linux6.rs` (times of probes and what their ACKs cost, by hand).

use super::super::Ack;
use super::super::params::choice;
use crosswind_base::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice!(
    /// Whether silence is answered by a probe before the timer expires.
    #[derive(Default)]
    TailProbe {
        #[default]
        Off,
        On,
    }
);

/// What a delayed ACK may add, with a single segment in the network.
const WORST_DELAYED_ACK: Dur = Dur::from_millis(200);
/// Two ticks of a timer: what a probe of several segments waits beyond two round trips.
const SLACK: Dur = Dur::from_millis(2);

/// The probe of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Tlp {
    at: Time,
    /// End of what was outstanding when a probe left, and whether it was a segment sent again.
    out: Option<(u64, Kind)>,
}

/// What a probe was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    New,
    Again,
}

/// What the sender shows it.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    pub now: Time,
    pub srtt: Option<Dur>,
    /// When the retransmission timer expires.
    pub timer: Time,
    pub outstanding: u64,
    pub mss: u64,
    /// Nothing is SACKed and nothing is being recovered.
    pub is_calm: bool,
}

/// What the ACK of a probe means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    Nothing,
    /// The probe filled a hole: its loss is answered once.
    Repaired,
}

impl Default for Tlp {
    fn default() -> Tlp {
        Tlp { at: Time::NEVER, out: None }
    }
}

impl Tlp {
    /// When the probe is due, or never.
    pub fn at(&self) -> Time {
        self.at
    }
    pub fn stop(&mut self) {
        *self = Tlp::default();
    }

    /// Section 7.2: sets the alarm anew, after an ACK or new data.
    pub fn schedule(&mut self, s: Situation) {
        self.at = match s.srtt {
            Some(srtt) if s.is_calm && s.outstanding > 0 && self.out.is_none() => {
                let more = if s.outstanding <= s.mss { WORST_DELAYED_ACK } else { SLACK };
                (s.now + srtt.saturating_mul(2) + more).min(s.timer)
            }
            _ => Time::NEVER,
        };
    }

    /// Section 7.3: a probe has left; everything up to `end` is outstanding now.
    pub fn sent(&mut self, end: u64, kind: Kind) {
        (self.at, self.out) = (Time::NEVER, Some((end, kind)));
    }

    /// Whether `on_ack` will say that the probe filled a hole. Linux answers that before the window grows.
    pub fn repairs(&self, a: &Ack) -> bool {
        self.out.is_some_and(|(end, kind)| a.ack > end && kind == Kind::Again && a.reported_twice == 0)
    }

    /// Section 7.4.2.
    pub fn on_ack(&mut self, a: &Ack) -> Meaning {
        let Some((end, kind)) = self.out.filter(|o| a.ack >= o.0) else { return Meaning::Nothing };
        let is_pure_duplicate = a.bytes == 0 && a.sacked == 0 && a.duplicate;
        if kind == Kind::New || a.reported_twice > 0 || (a.ack == end && is_pure_duplicate) {
            self.out = None;
        } else if a.ack > end {
            self.out = None;
            return Meaning::Repaired;
        }
        Meaning::Nothing
    }
}
