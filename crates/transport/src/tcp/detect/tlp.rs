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
//! SACK is outstanding and no recovery is under way. 3. Section 4 wants RACK beside it: another detector takes the SACK of a probe
//! by its own rules, and may find no loss in it.
//!
//! **Checked by**: `tests/linux6.rs` (times of probes and what their ACKs cost, by hand).

use crate::tcp::choices::choice;
use crate::tcp::facts::Ack;
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
/// How long a probe waits before any round trip is known (section 7.2).
const WITHOUT_SAMPLE: Dur = Dur::from_secs(1);
/// Two ticks of a timer: what a probe of several segments waits beyond two round trips.
const SLACK: Dur = Dur::from_millis(2);

/// The probe of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Tlp {
    at: Time,
    /// End of what was outstanding when a probe left, and whether it was a segment retransmitted.
    out: Option<(u64, Kind)>,
    /// A round trip has been measured since the last probe.
    has_sample: bool,
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
    /// Segments in the network.
    pub outstanding: usize,
    /// Nothing is SACKed and nothing is being recovered.
    pub is_plain: bool,
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
        Tlp { at: Time::NEVER, out: None, has_sample: true }
    }
}

impl Tlp {
    /// When the probe is due, or never.
    pub fn at(&self) -> Time {
        self.at
    }
    /// No probe is out: no ACK tells of one.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.out.is_none()
    }
    pub fn stop(&mut self) {
        *self = Tlp::default();
    }

    /// Section 7.2: sets the alarm anew, after an ACK or new data.
    pub fn schedule(&mut self, s: Situation) {
        let may_probe = s.is_plain && s.outstanding > 0 && self.out.is_none() && self.has_sample;
        let more = if s.outstanding == 1 { WORST_DELAYED_ACK } else { SLACK };
        let wait = s.srtt.map_or(WITHOUT_SAMPLE, |srtt| srtt.saturating_mul(2) + more);
        self.at = if may_probe { (s.now + wait).min(s.timer) } else { Time::NEVER };
    }

    /// Section 7.3: a probe has left; everything up to `end` is outstanding now.
    pub fn sent(&mut self, end: u64, kind: Kind) {
        (self.at, self.out, self.has_sample) = (Time::NEVER, Some((end, kind)), false);
    }

    /// Whether `on_ack` will say that the probe filled a hole. Linux answers that before the window grows.
    pub fn repairs(&self, a: &Ack) -> bool {
        self.out.is_some_and(|(end, kind)| a.ack > end && kind == Kind::Again && !reports(a, end))
    }

    /// Section 7.4.2.
    pub fn on_ack(&mut self, a: &Ack) -> Meaning {
        self.has_sample |= a.rtt.is_some();
        let Some((end, kind)) = self.out.filter(|o| a.ack >= o.0) else { return Meaning::Nothing };
        let is_pure_duplicate = a.bytes == 0 && a.sacked == 0 && a.duplicate;
        if kind == Kind::New || reports(a, end) || (a.ack == end && is_pure_duplicate) {
            self.out = None;
        } else if a.ack > end {
            self.out = None;
            return Meaning::Repaired;
        }
        Meaning::Nothing
    }
}

/// Whether the peer says that it has the probe twice (section 7.4.2).
fn reports(a: &Ack, end: u64) -> bool {
    a.reported_twice > 0 && a.twice_end == end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn situation(now_ms: u64, srtt: Option<Dur>) -> Situation {
        let (now, timer) = (Time(now_ms * 1_000_000), Time(60_000_000_000));
        Situation { now, srtt, timer, outstanding: 5, is_plain: true }
    }

    #[test]
    fn a_probe_waits_two_round_trips_or_a_second_where_none_is_known_and_never_beyond_the_timer() {
        let mut t = Tlp::default();
        t.schedule(situation(1000, Some(Dur::from_millis(50))));
        assert_eq!(t.at(), Time(1_102_000_000));
        t.schedule(Situation { outstanding: 1, ..situation(1000, Some(Dur::from_millis(50))) });
        assert_eq!(t.at(), Time(1_300_000_000), "one segment: the peer may delay its ACK");
        t.schedule(situation(1000, None));
        assert_eq!(t.at(), Time(2_000_000_000));
        t.schedule(Situation { timer: Time(1_050_000_000), ..situation(1000, None) });
        assert_eq!(t.at(), Time(1_050_000_000));
    }

    #[test]
    fn only_what_is_received_twice_up_to_the_end_of_the_probe_is_the_probe() {
        let acked = |twice_end| {
            let mut t = Tlp::default();
            t.sent(5001, Kind::Again);
            t.on_ack(&Ack { ack: 6001, bytes: 1000, reported_twice: 1000, twice_end, ..Ack::default() })
        };
        assert_eq!((acked(5001), acked(3001)), (Meaning::Nothing, Meaning::Repaired));
    }

    #[test]
    fn the_next_probe_needs_a_round_trip_measured_since_the_last() {
        let mut t = Tlp::default();
        let srtt = Some(Dur::from_millis(50));
        t.sent(5001, Kind::Again);
        t.schedule(situation(1200, srtt));
        assert_eq!(t.at(), Time::NEVER, "one at a time");
        // The probe is reported twice: it is over, but says nothing of the round trip.
        t.on_ack(&Ack { ack: 5001, bytes: 1000, reported_twice: 1000, twice_end: 5001, ..Ack::default() });
        t.schedule(situation(1200, srtt));
        assert_eq!(t.at(), Time::NEVER, "no sample yet");
        t.on_ack(&Ack { ack: 6001, bytes: 1000, rtt: srtt, ..Ack::default() });
        t.schedule(situation(1300, srtt));
        assert!(t.at() < Time::NEVER);
    }
}
