//! # Delayed congestion response: TCP-DCR and TCP-NCR
//!
//! **Source**: bhandarkar-2006 II.A (DCR), V.C (a window of duplicates); rfc4653 sections 3.1 to 3.3 (NCR).
//!
//! **Idea**: on the first duplicate ACK do not count to three: wait. If the hole is filled meanwhile, nothing has happened; else
//! the ordinary response begins. How long: `timer`: `tau_rtts` smoothed round trips; `duplicates`: `W srtt / rtt` duplicates, with W
//! segments in flight; `window`: W of them; `ncr-careful`, `ncr-aggressive`: 2/3 or 1/2 of the growing flight.
//! Every duplicate releases one new segment meanwhile, with `ncr-careful` every second one; what the window has grown by
//! leaves after the wait. `window` and `ncr-*` raise the threshold for duplicates itself: in the recovery that follows a
//! segment is lost when so many above it have arrived, and one that is late by less is not.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `dcr.wait` | - | `off` | - |
//! | `dcr.tau_rtts` | round trips | 1 | bhandarkar-2006 II.A.2 |
//! | `dcr.growth` | - | `on` | bhandarkar-2006 equation 2.1; rfc4653: off |
//!
//! **Deviations**: 1. In slow start DCR does not wait, NCR does, as their sources say. 2. A detector that was stopped by a
//! cumulative ACK begins a new wait at the next duplicate, also when SACK has told of further holes already. 3. The window
//! grows on duplicates only where ACKs, not bytes, are counted: bytes are counted when they are acknowledged. 4. Base
//! detectors are `sack`, `reno` and `newreno`; those of ns-2 count to three inside their routines. 5. NCR's FlightSizePrev leaves
//! out what is SACKed already when a wait begins: with the RFC's FlightSize the window would grow by every such wait that
//! follows another (seen as a third of all packets dropped with a tenth of them late).
//!
//! **Checked by**: `detect/delayed_response_oracle.rs` (the pseudo-code of the source); tests/delayed_response.rs (claims B1 to B9, B11, B12).

use super::super::conn::scoreboard::Scoreboard;
use super::super::law::rtt_filter::RttFilter;
use super::newreno::NewReno;
use super::sack::Sack;
use super::{Delay, Detect, Phase, RecoveryPolicy, Status, Verdict, View};
use crate::tcp::choices::Switch;
use crate::tcp::facts::Ack;
use crosswind_base::{ConfigError, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a sender waits before it takes duplicates for a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// Not at all.
    Off,
    /// For `tau_rtts` smoothed round-trip times (DCR).
    Timer,
    /// For as many duplicates as segments were in flight, times the smoothed over the last round-trip time (DCR).
    Duplicates,
    /// For as many duplicates as segments were in flight (LDP).
    Window,
    /// RFC 4653 with one new segment on every second duplicate.
    NcrCareful,
    /// RFC 4653 with one new segment on every duplicate.
    NcrAggressive,
}

/// Parameters of the delayed response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DcrParams {
    /// How long to wait.
    pub wait: Wait,
    /// With `wait = "timer"`: how many smoothed round-trip times.
    pub tau_rtts: f64,
    /// Whether the window grows while the sender waits.
    pub growth: Switch,
}

impl Default for DcrParams {
    fn default() -> Self {
        DcrParams { wait: Wait::Off, tau_rtts: 1.0, growth: Switch::On }
    }
}

impl DcrParams {
    pub fn is_on(&self) -> bool {
        self.wait != Wait::Off
    }
    fn is_ncr(&self) -> bool {
        matches!(self.wait, Wait::NcrCareful | Wait::NcrAggressive)
    }
    /// Refuses settings that make no sense.
    pub fn check(&self, at: &dyn Fn(&str) -> String) -> Result<(), ConfigError> {
        if !(0.0..=100.0).contains(&self.tau_rtts) {
            return Err(ConfigError::new(at("dcr.tau_rtts"), self.tau_rtts.to_string(), "from 0 to 100 round trips"));
        }
        Ok(())
    }
}

/// A wait that is under way.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Bytes in flight at the first duplicate.
    flight: u64,
    /// The congestion window at the first duplicate, in bytes.
    window: f64,
    duplicates: u64,
    /// How many duplicates end it, where they do.
    threshold: u64,
    deadline: Time,
    /// Bytes that duplicates have freed and that are not to be used (`ncr-careful`).
    held: u64,
}

/// Rules that can be made to wait.
#[derive(Clone, Debug)]
pub enum Base {
    Sack(Sack),
    NewReno(NewReno),
}

macro_rules! each {
    ($base:expr, $question:ident($($arg:expr),*)) => {
        match $base {
            Base::Sack(d) => d.$question($($arg),*),
            Base::NewReno(d) => d.$question($($arg),*),
        }
    };
}

/// A detector that is asked only after a wait.
#[derive(Clone, Debug)]
pub struct DelayedResponse {
    base: Base,
    params: DcrParams,
    waiting: Option<Waiting>,
    rtts: RttFilter,
    rtt_s: f64,
    /// Duplicates that prove a loss in the recovery after a wait, where more than three are needed.
    proof: u32,
}

impl DelayedResponse {
    pub fn new(base: Base, p: &DcrParams) -> DelayedResponse {
        DelayedResponse { base, params: p.clone(), waiting: None, rtts: RttFilter::new(), rtt_s: 0.0, proof: 0 }
    }

    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    fn begin(&self, a: &Ack, v: &View) -> Waiting {
        let segments = a.in_flight_before as f64 / v.mss as f64;
        let scale = if self.rtt_s > 0.0 { self.rtts.smoothed_s / self.rtt_s } else { 1.0 };
        let threshold = match self.params.wait {
            Wait::Duplicates => segments * scale,
            Wait::Window => segments,
            _ => f64::INFINITY,
        };
        let deadline = match self.params.wait {
            Wait::Timer => a.now + Dur::from_secs_f64(self.params.tau_rtts * self.rtts.smoothed_s),
            _ => Time::NEVER,
        };
        Waiting {
            flight: a.in_flight_before,
            window: v.cwnd,
            duplicates: 0,
            threshold: (threshold.round() as u64).max(u64::from(v.dupthresh)),
            deadline,
            held: 0,
        }
    }

    /// Whether duplicates that come now may begin a wait, or go on with one.
    fn applies(&self, a: &Ack, v: &View) -> bool {
        matches!(v.phase, Phase::Open | Phase::Echo { .. })
            && (self.waiting.is_some() || self.params.is_ncr() || !a.slow_start)
    }

    fn on_duplicate(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
        let fresh = self.begin(a, v);
        let w = self.waiting.get_or_insert(fresh);
        w.duplicates += 1;
        if self.params.wait == Wait::NcrCareful && w.duplicates % 2 == 1 {
            w.held += v.mss;
        }
        if self.params.is_ncr() {
            let share = if self.params.wait == Wait::NcrCareful { 2.0 / 3.0 } else { 0.5 };
            let segments = ((v.nxt - v.una) as f64 / v.mss as f64 * share).ceil() as u64;
            w.threshold = segments.max(u64::from(v.dupthresh));
        }
        let over = w.duplicates >= w.threshold || a.now >= w.deadline;
        each!(&mut self.base, note(a, blocks, board, v));
        if over { self.end(board, v) } else { Verdict::Nothing }
    }

    fn end(&mut self, board: &mut Scoreboard, v: &View) -> Verdict {
        let raises = self.params.wait == Wait::Window || self.params.is_ncr();
        self.proof = match self.waiting.take() {
            Some(w) if raises => u32::try_from(w.threshold).unwrap_or(u32::MAX),
            _ => 0,
        };
        let v = self.strict(v);
        each!(&mut self.base, declare(board, &v))
    }

    /// What the detector within is shown: the threshold that ended the wait, as long as its recovery lasts.
    fn strict(&self, v: &View) -> View {
        View { dupthresh: v.dupthresh.max(self.proof), ..*v }
    }
}

impl Detect for DelayedResponse {
    fn on_ack(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
        self.rtts.take(a);
        if let Some(r) = a.rtt {
            self.rtt_s = r.as_secs_f64();
        }
        let is_news = a.bytes == 0 && if self.policy().uses_scoreboard { a.sacked > 0 } else { a.duplicate };
        if is_news && self.applies(a, v) && v.una >= v.recovery_point {
            return self.on_duplicate(a, blocks, board, v);
        }
        let ended = if a.bytes > 0 { self.waiting.take() } else { None };
        if !matches!(v.phase, Phase::Recovery { .. }) {
            self.proof = 0;
        }
        let verdict = if a.sacked > 0 && self.applies(a, v) {
            // New data and news of a hole at once: the hole waits for the next duplicate.
            each!(&mut self.base, note(a, blocks, board, v));
            Verdict::Nothing
        } else {
            let v = self.strict(v);
            each!(&mut self.base, on_ack(a, blocks, board, &v))
        };
        match ended {
            Some(w) if self.params.is_ncr() && verdict == Verdict::Nothing => Verdict::Resumed { flight: w.flight },
            _ => verdict,
        }
    }

    fn in_flight(&self, board: &Scoreboard, v: &View) -> u64 {
        // One new segment per duplicate: what the window has grown by stays for later.
        let held = self.waiting.map_or(0, |w| w.held + (v.cwnd - w.window).max(0.0) as u64);
        // Until it responds every duplicate is a segment that has left (limited transmit would stop after two), and a hole
        // is no loss, also between two waits.
        let is_open = matches!(v.phase, Phase::Open | Phase::Echo { .. });
        let v = View {
            limited_transmit: true,
            dupthresh: if held > 0 || is_open || self.is_waiting() { u32::MAX } else { v.dupthresh },
            ..*v
        };
        each!(&self.base, in_flight(board, &v)) + held
    }

    #[inline]
    fn status(&self) -> Status {
        let next_wake = self.waiting.map_or(Time::NEVER, |w| w.deadline);
        let grows_on_duplicate = self.waiting.is_some() && self.params.growth.on();
        Status { is_quiet: false, next_wake, grows_on_duplicate, ..each!(&self.base, status()) }
    }
    fn on_wake(&mut self, board: &mut Scoreboard, v: &View) -> Verdict {
        self.end(board, v)
    }
    fn on_timeout(&mut self, now: Time, board: &Scoreboard, v: &View) -> Option<Time> {
        self.waiting = None;
        self.proof = 0;
        each!(&mut self.base, on_timeout(now, board, v))
    }
    fn policy(&self) -> RecoveryPolicy {
        each!(&self.base, policy())
    }
}
