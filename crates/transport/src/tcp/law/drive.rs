//! A window law alone: one ACK per segment, evenly spaced over the round trip, no packets and no recovery. For response
//! functions (losses at random) and for the shape of a law over time (losses where the window exceeds what the path holds).
//! A round trip of a large window may be told in fewer ACKs, each for several segments (`acks_per_round`).

use super::{Controller, Law, within};
use crate::tcp::choices::AvoidanceCounting;
use crate::tcp::facts::{Ack, Trigger};
use crate::tcp::params::TcpParams;
use crosswind_base::units::show_dur;
use crosswind_base::{ConfigError, Dur, Rng, Time};
use serde::{Deserialize, Serialize};

/// What the law meets, how long, and how often to look.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Drive {
    /// Probability that an ACK stands for a loss.
    pub loss: f64,
    /// Round-trip time without queues.
    pub rtt: Dur,
    /// Segments that the path holds without a queue; beyond, the round-trip time grows. Left out: no end.
    pub capacity: Option<f64>,
    /// Segments above which there is a loss: capacity and queue. Left out: no such loss.
    pub limit: Option<f64>,
    /// Acknowledged segments before the count begins.
    pub skipped: u64,
    /// Acknowledged segments that count.
    pub counted: u64,
    /// Where a round trip has more than so many segments an ACK stands for several of them, and counts by bytes. Zero: one
    /// ACK per segment, whatever it costs.
    pub acks_per_round: u32,
    /// Time between two points of the trace; zero: none.
    pub sample: Dur,
}

impl Default for Drive {
    fn default() -> Self {
        let rtt = Dur::from_millis(100);
        Drive {
            loss: 0.0,
            rtt,
            capacity: None,
            limit: None,
            skipped: 0,
            counted: 1_000_000,
            acks_per_round: 0,
            sample: Dur::ZERO,
        }
    }
}

/// Most segments of one drive, and the longest round trip.
const ACKS_LIMIT: u64 = 10_000_000_000;
const RTT_LIMIT: Dur = Dur::from_secs(1000);

impl Drive {
    /// What the types cannot say.
    pub fn check(&self) -> Result<(), ConfigError> {
        within("loss", self.loss, 0.0..=1.0)?;
        let acks = self.skipped.saturating_add(self.counted);
        if self.counted == 0 || acks > ACKS_LIMIT {
            let found = format!("{} segments, and {} skipped", self.counted, self.skipped);
            return Err(ConfigError::new("counted", found, format!("at least one, and at most {ACKS_LIMIT} in all")));
        }
        if self.rtt == Dur::ZERO || self.rtt > RTT_LIMIT {
            let expected = format!("more than zero and at most {}", show_dur(RTT_LIMIT));
            return Err(ConfigError::new("rtt", show_dur(self.rtt), expected));
        }
        for (key, value) in [("capacity", self.capacity), ("limit", self.limit)] {
            value.map_or(Ok(()), |v| within(key, v, 1.0..=WINDOW_MAX))?;
        }
        Ok(())
    }
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Driven {
    /// Mean window over time, in segments.
    pub mean_window: f64,
    pub losses: u64,
    /// Time in seconds and window in segments.
    pub trace: Vec<(f64, f64)>,
}

/// A window at which a law without losses is stopped from growing, in segments.
const WINDOW_MAX: f64 = 1e8;

/// Drives the law of `p` along a path.
pub fn drive(p: &TcpParams, how: &Drive, rng: &mut Rng) -> Driven {
    let coarse = how.acks_per_round > 0;
    let own = coarse.then(|| p.clone().with(|p| p.window.avoidance_counting = AvoidanceCounting::Bytes));
    let mut law = Law::new(own.as_ref().unwrap_or(p));
    let mss = law.window().mss;
    let mut out = Driven::default();
    let (mut now_s, mut counted_rounds, mut next_sample_s) = (0.0, 0.0, 0.0);
    let (capacity, limit) = (how.capacity.unwrap_or(f64::INFINITY), how.limit.unwrap_or(f64::INFINITY));
    let gap = |rng: &mut Rng| if how.loss > 0.0 { rng.exponential(1.0 / how.loss).max(1.0) } else { f64::INFINITY };
    let mut until_loss = gap(rng);
    let base_s = how.rtt.as_secs_f64();
    let (mut acked, mut done, mut counted) = (0u64, 0u64, 0u64);
    // A loss shows one round trip later; meanwhile there is no second one.
    let mut deaf_until_s = 0.0;
    while done < how.skipped + how.counted {
        let window = law.cwnd() / mss;
        let segments = if coarse { (window / f64::from(how.acks_per_round)).max(1.0) as u32 } else { 1 };
        let rtt_s = base_s * (window / capacity).max(1.0);
        let rounds = f64::from(segments) / window.max(1.0);
        now_s += rtt_s * rounds;
        if done >= how.skipped {
            counted_rounds += rounds;
            counted += u64::from(segments);
        }
        until_loss -= f64::from(segments);
        let overflows = window > limit && now_s >= deaf_until_s;
        if until_loss <= 0.0 || overflows {
            law.reduce(Trigger::Loss, law.cwnd());
            deaf_until_s = now_s + rtt_s;
            out.losses += u64::from(done >= how.skipped);
            until_loss = gap(rng);
        } else if window < WINDOW_MAX {
            acked += u64::from(segments) * p.connection.mss.0;
            law.grow(&Ack {
                now: Time::from_secs_f64(now_s),
                ack: acked,
                bytes: u64::from(segments) * p.connection.mss.0,
                segments,
                rtt: Some(Dur::from_secs_f64(rtt_s)),
                in_flight_before: law.cwnd() as u64,
                window_limited: true,
                ..Ack::default()
            });
        }
        done += u64::from(segments);
        if how.sample > Dur::ZERO && now_s >= next_sample_s {
            out.trace.push((now_s, window));
            next_sample_s += how.sample.as_secs_f64();
        }
    }
    out.mean_window = counted as f64 / counted_rounds;
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::choices::AvoidanceCounting;
    use crate::tcp::params::LawName;
    use crate::tcp::preset;
    use crosswind_base::Streams;
    use crosswind_base::units::Size;

    fn mean_window(law: LawName, loss: f64, counted: u64) -> f64 {
        let rfc = preset::preset("rfc").expect("a preset");
        let p = rfc.with(|p| {
            p.controller.law = law;
            p.window.avoidance_counting = AvoidanceCounting::Fraction;
        });
        let how = Drive { loss, skipped: (20.0 / loss) as u64, counted, ..Drive::default() };
        drive(&p, &how, &mut Streams::new(1).named("drive")).mean_window
    }

    #[test]
    fn reno_has_the_square_root_response() {
        // Mathis et al.: 1.22 / sqrt(p) for regular losses; with exponential spacing it is 1.31 (Misra, Gong, Towsley), that
        // is sqrt(2 / p) in the time average less the part cut off.
        for loss in [1e-3, 1e-4] {
            let w = mean_window(LawName::Reno, loss, (3000.0 / loss) as u64);
            assert!((1.15..1.5).contains(&(w * loss.sqrt())), "{}", w * loss.sqrt());
        }
    }

    #[test]
    fn the_slope_of_ltcp_is_steeper_than_that_of_reno() {
        let slope = |law| (mean_window(law, 1e-5, 12_000_000) / mean_window(law, 1e-3, 300_000)).log10() / 2.0;
        assert!((slope(LawName::Ltcp) - 0.6).abs() < 0.06, "{}", slope(LawName::Ltcp));
    }

    #[test]
    fn a_window_told_in_few_acks_is_the_one_told_in_many() {
        for law in [LawName::Reno, LawName::Ltcp, LawName::Hstcp, LawName::Scalable, LawName::Bic, LawName::Htcp] {
            let rfc = preset::preset("rfc").expect("a preset");
            // Slow start ends soon: it is not what is compared.
            let ssthresh = Size(500 * rfc.connection.mss.0);
            let p = rfc.with(|p| {
                p.controller.law = law;
                p.window.avoidance_counting = AvoidanceCounting::Fraction;
                p.window.initial_ssthresh = ssthresh;
            });
            let mean = |acks_per_round| {
                let how =
                    Drive { loss: 1e-5, skipped: 1_000_000, counted: 30_000_000, acks_per_round, ..Drive::default() };
                drive(&p, &how, &mut Streams::new(1).named("drive")).mean_window
            };
            let (few, many) = (mean(200), mean(0));
            assert!((few / many - 1.0).abs() < 0.02, "{law:?}: {few} and {many}");
        }
    }

    #[test]
    fn a_drive_that_leads_nowhere_is_refused() {
        let refused = |d: Drive| d.check().expect_err("it makes no sense").path;
        let plain = Drive::default();
        assert!(plain.check().is_ok());
        assert_eq!(refused(Drive { counted: 0, ..plain.clone() }), "counted");
        assert_eq!(refused(Drive { skipped: u64::MAX, ..plain.clone() }), "counted");
        assert_eq!(refused(Drive { rtt: Dur::ZERO, ..plain.clone() }), "rtt");
        assert_eq!(refused(Drive { capacity: Some(0.0), ..plain.clone() }), "capacity");
        assert_eq!(refused(Drive { limit: Some(f64::NAN), ..plain.clone() }), "limit");
        assert_eq!(refused(Drive { loss: -0.1, ..plain }), "loss");
    }
}
