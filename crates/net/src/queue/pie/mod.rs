//! # PIE
//!
//! **Source**: rfc8033 sections 4.1 to 4.4, 5.1 to 5.5; linux-sch-pie (profile `linux`).
//!
//! **Idea**: every `t_update` the probability moves by `alpha (q - target) + beta (q - q_last)`, in smaller steps the smaller it is.
//! An arriving packet is selected with it. Short bursts and short queues are spared, and picks are kept apart: none before the
//! probabilities of the packets add up to 0.85, one for certain at 8.5.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `profile` | - | rfc8033 | real numbers; `linux` computes as the kernel, in ticks of 64 ns and parts of 2^56 - 1 |
//! | `limit` | bytes or packets | 1000 packets | linux-sch-pie; the law has none |
//! | `target` | time | 15 ms | rfc8033 section 4.2 |
//! | `t_update` | time | 15 ms | rfc8033 section 4.2 |
//! | `alpha` | Hz | 0.125 | rfc8033 section 4.2; `linux`: in sixteenths |
//! | `beta` | Hz | 1.25 | rfc8033 section 4.2; `linux`: in sixteenths |
//! | `max_burst` | time | 150 ms | rfc8033 section 4.4 |
//! | `estimator` | - | timestamp | linux-sch-pie; `rate`: backlog over the rate at which packets leave (rfc8033 section 5.2) |
//! | `active_from` | bytes or packets | none | rfc8033 section 5.3, which proposes a third of the limit: below it the law rests until the queue is so long; none: it never rests |
//! | `inactive_when` | - | short | rfc8033 section 5.3: probability 0 and both delays below half the target; `empty`: both 0 (its appendix B) |
//! | `derandomise` | - | true | rfc8033 section 5.4; `linux` always does |
//! | `byte_mode` | - | false | linux-sch-pie: the probability grows with the size of the packet |
//! | `mean_packet` | bytes | 1500 B (`rfc8033`), 1514 B (`linux`) | two of these are spared, and `byte_mode` goes by it: ours, the packet of an Ethernet |
//! | `ecn` | - | mark (`rfc8033`), drop (`linux`) | rfc8033 section 5.1; `tc` marks when it is told to |
//! | `ecn_below` | - | 0.1 | rfc8033 section 5.1: from this probability on ECN-capable packets are dropped, too; `linux`: above it, not settable |
//!
//! **Deviations**: 1. Updates are made when a packet comes or leaves, one for each `t_update` that has passed: with what they would
//! have seen at their time. 2. `t_update` is not rounded to the ticks of a kernel's timer (16 ms at 250 Hz). 3. rfc8033 contradicts itself on
//! when a resting law forgets: here it does when it turns active, as in appendix B, and it updates nothing while it rests but the rate at which
//! packets leave: forgotten, too, the law would turn inactive with the packet that woke it. 4. With timestamps the delay is that of the packet that left last, 0 when it left the
//! queue empty, in both profiles. 5. Each pick begins the sum of section 5.4 anew, whether the packet is dropped or marked; its appendix B can be read
//! so that a pick for certain that marks does not. `linux`: it does not, as in the kernel.
//!
//! **Checked by**: oracle `pie` on random traces, both profiles and estimators; probabilities and gaps of `crates/testkit/tests/pie.rs`;
//! conformance suite.

mod linux;
mod params;
mod rfc;

use super::Head;
use super::aqm::{Aqm, AqmQueue, Arrival, Lent, Setup, Verdict};
use crosswind_base::{ConfigError, DropReason, Dur, Rng, Setting, Time};
use linux::{Linux, ticks};
pub use linux::{MAX_P, gains};
pub use params::{Estimator, PieParams, Profile, Quiet};
use rfc::Rfc;
use serde_json::{Map, Value};

/// What the law remembers.
#[derive(Clone, PartialEq, Debug)]
enum State {
    Rfc(Rfc),
    Linux(Linux),
}

/// The law.
#[derive(Clone, Debug)]
pub struct Pie {
    params: PieParams,
    next: Time,
    /// Up to this probability of the kernel packets are marked.
    mark_up_to: u64,
    state: State,
}

/// The timer of the kernel starts half a second after the queue.
const FIRST_UPDATE_LINUX: Dur = Dur::from_millis(500);

impl Pie {
    pub fn new(params: PieParams) -> Pie {
        let (first, state) = match params.profile {
            Profile::Rfc8033 => (params.t_update, State::Rfc(Rfc::new(&params))),
            Profile::Linux => (FIRST_UPDATE_LINUX, State::Linux(Linux::new(&params))),
        };
        Pie { next: Time::ZERO + first, mark_up_to: MAX_P / 10, params, state }
    }

    /// One update with the delay that was found, and a queue that is empty or not.
    pub fn update(&mut self, delay: Dur, is_empty: bool) {
        match &mut self.state {
            State::Rfc(s) => s.update(&self.params, delay.as_secs_f64()),
            State::Linux(s) => s.update(&self.params, ticks(delay.0), is_empty),
        }
    }
    /// The probability now.
    pub fn probability(&self) -> f64 {
        match &self.state {
            State::Rfc(s) => s.p,
            State::Linux(s) => s.p as f64 / MAX_P as f64,
        }
    }
    /// The probability of the kernel, in parts of 2^56 - 1.
    pub fn parts(&self) -> Option<u64> {
        match &self.state {
            State::Rfc(_) => None,
            State::Linux(s) => Some(s.p),
        }
    }

    /// The kernel's law marks up to so many percent.
    pub fn mark_up_to(&mut self, percent: u64) {
        self.mark_up_to = MAX_P / 100 * percent;
    }

    /// The updates that are due, with a backlog that has not changed since.
    #[inline]
    pub fn catch_up(&mut self, now: Time, bytes: u64) {
        while self.next <= now {
            let before = self.state.clone();
            match &mut self.state {
                State::Rfc(s) => s.update(&self.params, s.delay(&self.params, bytes)),
                State::Linux(s) => s.update(&self.params, s.delay(&self.params, bytes), bytes == 0),
            }
            self.next += self.params.t_update;
            if self.state == before && self.next <= now {
                // All further ones change nothing either.
                let more = (now - self.next).0 / self.params.t_update.0 + 1;
                self.next += self.params.t_update.saturating_mul(more);
            }
        }
    }
}

impl Aqm for Pie {
    type Draws = Rng;

    fn on_enqueue(&mut self, a: &Arrival, q: &mut Lent<'_, '_, Rng>) -> Verdict {
        self.catch_up(a.now, a.backlog.bytes);
        let does_fit = q.fits(a);
        let (is_selected, may_mark) = match &mut self.state {
            State::Rfc(s) => {
                s.may_turn_active(&self.params, &a.backlog);
                let is_selected = does_fit && s.picks(&self.params, a, q.draws);
                let may_mark = s.p < self.params.ecn_below;
                s.arm(&self.params, a.backlog.bytes);
                (is_selected, may_mark)
            }
            State::Linux(s) => (does_fit && s.picks(&self.params, a, q.draws), s.p <= self.mark_up_to),
        };
        match (is_selected, may_mark) {
            (false, _) => Verdict::Pass,
            (true, true) => Verdict::Signal(DropReason::EarlyDrop),
            (true, false) => Verdict::Drop(DropReason::EarlyDrop),
        }
    }
    fn on_refused(&mut self, _a: &Arrival, _why: DropReason) {
        match &mut self.state {
            State::Rfc(s) => s.accu = 0.0,
            State::Linux(s) => s.accu = 0,
        }
    }
    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, Rng>) -> Option<Head> {
        self.catch_up(q.now(), q.backlog().bytes);
        let head = q.pop()?;
        let (now, left) = (q.now(), q.backlog().bytes);
        match &mut self.state {
            State::Rfc(s) => s.departed(&self.params, &head, now, left),
            State::Linux(s) => s.departed(&self.params, &head, now, left),
        }
        Some(head)
    }
    /// The probability and its time stay. What does not fit into a new limit goes, the newest first.
    fn change(&mut self, new: &Setting, q: &mut Lent<'_, '_, Rng>) -> Result<Setup, ConfigError> {
        self.catch_up(q.now(), q.backlog().bytes);
        let new: PieParams = new.get();
        self.continue_as(new)?;
        Ok(self.params.setup())
    }
    fn read_change(&self, set: &Map<String, Value>, _setup: &Setup) -> Result<Setting, ConfigError> {
        crate::params::setting(&self.params, set)
    }
    /// Packets leave in their order, and what the law learns from them is known when the next one comes.
    fn decides_on_arrival(&self) -> bool {
        true
    }
    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        out("aqm_p_ratio", self.probability().min(1.0));
    }
}

impl Pie {
    /// Other parameters with the same past; profile and estimator stay.
    pub fn continue_as(&mut self, new: PieParams) -> Result<(), ConfigError> {
        if new.profile != self.params.profile {
            return Err(ConfigError::new("profile", "another profile", "the profile as it is"));
        }
        if new.estimator != self.params.estimator {
            return Err(ConfigError::new("estimator", "another estimator", "the estimator as it is"));
        }
        self.params = new;
        Ok(())
    }
}

/// A queue with PIE.
pub fn queue(p: PieParams, rng: Rng) -> AqmQueue<Pie> {
    let setup = p.setup();
    AqmQueue::around(Pie::new(p), setup, rng)
}
