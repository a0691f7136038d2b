//! # A law of the user's own
//!
//! **Source**: ours. Slow start, and the floor of two segments: rfc5681 section 3.1.
//!
//! **Idea**: a law that a program brings; from Python, `crosswind.run(.., laws={"mine": Mine})` with an object for each
//! connection. It hears of every ACK that may grow the window and answers with a new one, or with nothing: then slow start
//! goes on below the threshold. It hears of every reduction and answers with the window to keep: `ssthresh = max(answer,
//! 2 segments)`; a timeout starts from one segment. The slow path: Python is asked on every ACK.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `own_law` | name | none: it must be given | ours |
//!
//! **Deviations**: 1. An answer below one segment leaves the window as it is; one that is no number, or absurd, ends a run that asks
//! Python with an error that names law, flow and time. 2. Before a timeout that may be
//! undone the law is copied as the program copies it (in Python: `copy.deepcopy`).
//!
//! **Checked by**: unit tests; `python/tests/test_own_law.py` (Reno written with an object against `reno`, byte by byte).

use super::super::detect::Phase;
use super::{AckSample, Controller, Delivery, Start, Window};
use crate::tcp::facts::{Ack, Trigger};
use crosswind_base::{ConfigError, Dur, Time};
use std::fmt;
use std::sync::Arc;

/// What a law hears of an ACK, or of a reduction. Windows are in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    pub now: Time,
    /// Bytes of a full segment.
    pub segment_bytes: f64,
    pub cwnd_segments: f64,
    pub ssthresh_segments: f64,
    /// In the network before the ACK; with a reduction, what the profile reduces from.
    pub flight_segments: f64,
    /// Newly acknowledged; zero with a reduction.
    pub acked_segments: f64,
    /// The sample of the ACK, if it gives one.
    pub rtt: Option<Dur>,
    /// The profile lets the window grow on the ACK.
    pub may_grow: bool,
    /// Newly delivered, in order or by SACK; shown to be lost; delivered by an ACK that reports marks (ECN).
    pub delivered_segments: f64,
    pub lost_segments: f64,
    pub ce_segments: f64,
    /// In the network after the ACK.
    pub in_flight_segments: f64,
    /// A loss or a timeout is being repaired.
    pub is_recovering: bool,
    /// Rate, rounds and least round trip: for laws that hear of every ACK.
    pub delivery: Option<Delivery>,
}

/// The law of one connection, as a program writes it.
pub trait OwnLaw: Send + Sync {
    /// The new window in segments, if there is to be one. Told of ACKs on which the window may grow, or of all of them
    /// ([`Maker::of_every_ack`]).
    fn on_ack(&mut self, facts: &Facts) -> Option<f64>;
    /// The window in segments that is kept, or nothing for one half.
    fn reduce(&mut self, why: Trigger, facts: &Facts) -> Option<f64>;
    /// An independent copy in the same state.
    fn copy(&self) -> Box<dyn OwnLaw>;
}

/// Makes the law of each connection, told the name of its flow.
type Make = dyn Fn(&str) -> Box<dyn OwnLaw> + Send + Sync;

/// What makes laws of the user's own; none where the engine was not given any.
#[derive(Clone, Default)]
pub struct Maker {
    make: Option<Arc<Make>>,
    flow: Arc<str>,
    hears_all: bool,
}

impl Maker {
    pub fn new(make: impl Fn(&str) -> Box<dyn OwnLaw> + Send + Sync + 'static) -> Maker {
        Maker { make: Some(Arc::new(make)), ..Maker::default() }
    }
    /// The same for the connections of this flow.
    pub fn for_flow(&self, name: &str) -> Maker {
        Maker { flow: name.into(), ..self.clone() }
    }
    /// Its laws hear of every ACK, with delivery rates.
    pub fn of_every_ack(self) -> Maker {
        Maker { hears_all: true, ..self }
    }
    pub fn hears_all(&self) -> bool {
        self.hears_all
    }
    pub fn is_given(&self) -> bool {
        self.make.is_some()
    }
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_given() { "given" } else { "not given" })
    }
}

/// Two are equal that make the same laws.
impl PartialEq for Maker {
    fn eq(&self, other: &Maker) -> bool {
        match (&self.make, &other.make) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

/// Refuses the law without a name, and a name without the law.
pub fn check(is_chosen: bool, name: &str, at: &dyn Fn(&str) -> String) -> Result<(), ConfigError> {
    match (is_chosen, name.is_empty()) {
        (true, true) => Err(ConfigError::new(at("own_law"), "no name", "the name of a law that the program brings")),
        (false, false) => Err(ConfigError::new(at("own_law"), name, "a name only with law = \"own\"")),
        _ => Ok(()),
    }
}

/// A law that asks a program.
pub struct Own {
    w: Window,
    now: Time,
    hears_all: bool,
    program: Box<dyn OwnLaw>,
}

impl Own {
    /// Panics where no program was given: whoever runs a scenario looks for it first.
    pub fn new(maker: &Maker, start: Start) -> Own {
        let make = maker.make.as_ref().expect("the driver has refused a law that nobody brought");
        Own { w: start.window, now: Time::ZERO, hears_all: maker.hears_all, program: make(&maker.flow) }
    }

    fn facts(&self, flight_bytes: f64) -> Facts {
        Facts {
            now: self.now,
            segment_bytes: self.w.mss,
            cwnd_segments: self.w.segments(),
            ssthresh_segments: self.w.ssthresh / self.w.mss,
            flight_segments: flight_bytes / self.w.mss,
            acked_segments: 0.0,
            rtt: None,
            may_grow: false,
            delivered_segments: 0.0,
            lost_segments: 0.0,
            ce_segments: 0.0,
            in_flight_segments: flight_bytes / self.w.mss,
            is_recovering: false,
            delivery: None,
        }
    }

    fn usable(segments: f64) -> bool {
        segments.is_finite() && segments >= 1.0
    }
}

impl Clone for Own {
    fn clone(&self) -> Own {
        Own { w: self.w.clone(), program: self.program.copy(), ..*self }
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Own({:?})", self.w)
    }
}

impl Controller for Own {
    fn on_ack(&mut self, s: &AckSample<'_>) {
        if !s.may_grow && !self.hears_all {
            return;
        }
        self.now = s.ack.now;
        let segments = |bytes: u64| bytes as f64 / self.w.mss;
        let facts = Facts {
            acked_segments: segments(s.credit),
            rtt: s.ack.rtt,
            may_grow: s.may_grow,
            delivered_segments: segments(s.ack.delivered),
            lost_segments: segments(s.newly_lost),
            ce_segments: segments(s.ack.ce_bytes),
            in_flight_segments: segments(s.in_flight),
            is_recovering: matches!(s.phase, Phase::Recovery { .. } | Phase::Timeout { .. }),
            delivery: s.delivery.copied(),
            ..self.facts(s.ack.in_flight_before as f64)
        };
        match self.program.on_ack(&facts).filter(|s| Own::usable(*s)) {
            Some(segments) => self.w.cwnd = segments * self.w.mss,
            None if s.may_grow && self.w.in_slow_start() => self.w.cwnd += self.w.mss.min(s.credit as f64),
            None => {}
        }
    }
    fn grow(&mut self, a: &Ack) {
        self.on_ack(&AckSample::of(a));
    }
    fn reduce(&mut self, why: Trigger, base: f64) {
        let facts = self.facts(base);
        let kept = self.program.reduce(why, &facts).filter(|s| s.is_finite()).unwrap_or(facts.flight_segments / 2.0);
        let kept = kept * self.w.mss;
        self.w.fall_to(kept, why);
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
    use super::super::super::preset;
    use super::super::{Law, LawName};
    use super::*;
    use crate::tcp::params::TcpParams;

    /// Adds one segment an ACK, and counts them.
    #[derive(Clone)]
    struct Counts(f64);

    impl OwnLaw for Counts {
        fn on_ack(&mut self, f: &Facts) -> Option<f64> {
            self.0 += 1.0;
            (f.cwnd_segments >= f.ssthresh_segments).then_some(if self.0 < 3.0 {
                f.cwnd_segments + 1.0
            } else {
                f64::NAN
            })
        }
        fn reduce(&mut self, _why: Trigger, f: &Facts) -> Option<f64> {
            Some(f.flight_segments * 0.75)
        }
        fn copy(&self) -> Box<dyn OwnLaw> {
            Box::new(self.clone())
        }
    }

    fn params() -> TcpParams {
        let rfc = preset::PRESETS.iter().find(|p| p.name == "rfc").unwrap();
        let own = Maker::new(|_| Box::new(Counts(0.0)));
        (rfc.make)().with(|p| {
            p.controller.law = LawName::Own;
            p.controller.own_law = "counts".into();
            p.controller.own = own;
        })
    }

    #[test]
    fn the_program_decides_above_the_threshold_and_nonsense_changes_nothing() {
        let mut law = Law::new(&params());
        let mss = law.window().mss;
        let ack = Ack { bytes: mss as u64, ..Ack::default() };
        law.reduce(Trigger::Loss, 40.0 * mss);
        assert_eq!((law.cwnd(), law.ssthresh()), (30.0 * mss, 30.0 * mss));
        law.grow(&ack);
        law.grow(&ack);
        assert_eq!(law.cwnd(), 32.0 * mss);
        let mut copy = law.clone();
        law.grow(&ack);
        copy.grow(&ack);
        assert_eq!((law.cwnd(), copy.cwnd()), (32.0 * mss, 32.0 * mss), "no number, so nothing; in the copy as well");
    }

    #[test]
    fn below_the_threshold_slow_start_goes_on_and_a_timeout_starts_from_one_segment() {
        let mut law = Law::new(&params());
        let mss = law.window().mss;
        law.reduce(Trigger::Timeout, 40.0 * mss);
        assert_eq!((law.cwnd(), law.ssthresh()), (mss, 30.0 * mss));
        law.grow(&Ack { bytes: mss as u64, ..Ack::default() });
        assert_eq!(law.cwnd(), 2.0 * mss);
    }

    #[test]
    fn a_law_without_its_name_and_a_name_without_its_law_are_refused() {
        let nameless = params().with(|p| p.controller.own_law = String::new());
        assert!(nameless.check("flow.x.tcp").unwrap_err().found.contains("no name"));
        let stray = params().with(|p| p.controller.law = LawName::Reno);
        assert!(stray.check("flow.x.tcp").unwrap_err().expected.contains("own"));
        params().check("x").unwrap();
    }
}
