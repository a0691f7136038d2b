//! # Trace-driven link
//!
//! **Source**: mahimahi (mm-link: format of the trace, and what an opportunity delivers).
//!
//! **Idea**: a trace lists instants, in milliseconds, at which the link may deliver `opportunity` bytes; it starts again
//! after its last instant. A packet leaves with the opportunity that covers its last byte; what an opportunity has left
//! over serves the next packets that wait; an opportunity that finds nothing waiting is lost.
//! `arrival = departure + delay`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `trace` | file | none | ours |
//! | `opportunities_ms` | ms | one each ms | mahimahi: the shortest trace, 12 Mbit/s |
//! | `opportunity` | size | 1504 B | mahimahi: a packet of 1500 bytes and the header of its device |
//! | `delay` | time | 0 ms | mahimahi: delay is a shell of its own (mm-delay) |
//!
//! **Deviations**: 1. A packet may come at any nanosecond; in the source it comes at the beginning of the millisecond in
//! which it is read. An opportunity of that very instant is lost for a packet that finds the link idle, as in the source.
//! (Departures are the same for arrivals on whole milliseconds.) 2. The line counts as busy while a packet waits for its
//! opportunity. (Utilisation tells how often there was something to send, not how much of the trace was used.) 3. When `delay`
//! becomes shorter during a run, nothing overtakes: a packet arrives no earlier than the one sent ahead of it.
//!
//! **Checked by**: conformance suite; `crates/testkit/tests/oracle_trace.rs`, a transliterated loop over milliseconds on
//! random traces and arrivals.

use super::{Fate, Link, TxPlan};
use crate::params::{self, Params};
use crosswind_base::{ConfigError, Dur, Packet, Setting, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const NS_PER_MS: u64 = 1_000_000;
/// A trace of a week.
const MS_MAX: u64 = 7 * 24 * 3600 * 1000;

/// Parameters of a trace-driven link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TraceParams {
    /// A file with the instants (Mahimahi's format) or with rates over time (CSV), beside the scenario file. The command
    /// line and Python read it and give the engine `opportunities_ms`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub trace: String,
    /// Instants at which bytes may be delivered, not decreasing; the last one is where the trace starts again.
    pub opportunities_ms: Vec<u64>,
    /// What each instant may deliver.
    pub opportunity: Size,
    /// One-way propagation delay.
    pub delay: Dur,
}

impl Default for TraceParams {
    fn default() -> Self {
        TraceParams { trace: String::new(), opportunities_ms: vec![1], opportunity: Size(1504), delay: Dur::ZERO }
    }
}

impl Params for TraceParams {
    fn check(&self) -> Result<(), ConfigError> {
        if !self.trace.is_empty() {
            let found = format!("the file `{}`", self.trace);
            let hint = "the engine opens no files; crosswind.Scenario fills in what the file holds";
            return Err(ConfigError::new("trace", found, "its instants as `opportunities_ms`").hint(hint));
        }
        let wrong = |found: String, expected: &str| Err(ConfigError::new("opportunities_ms", found, expected));
        if let Some(i) = self.opportunities_ms.windows(2).position(|w| w[0] > w[1]) {
            let found = format!("{} after {}", self.opportunities_ms[i + 1], self.opportunities_ms[i]);
            return wrong(found, "instants that do not decrease");
        }
        match self.opportunities_ms.last() {
            None => return wrong("no instant".into(), "at least one"),
            Some(0) => {
                return wrong("a trace that ends at 0 ms".into(), "a last instant above 0: the trace repeats then");
            }
            Some(&ms) if ms > MS_MAX => return wrong(format!("an instant at {ms} ms"), "at most a week"),
            Some(_) => {}
        }
        if self.opportunity.0 == 0 {
            return Err(ConfigError::new("opportunity", "0 B", "a size above zero"));
        }
        params::check_delay("delay", self.delay)
    }
}

/// A link that delivers when its trace allows.
pub struct Trace {
    params: TraceParams,
    times_ns: Vec<u64>,
    opportunity: u64,
    delay: Dur,
    /// Counts opportunities over all repeats of the trace; the one that was used last, and what it has left.
    used: Option<u64>,
    left: u64,
    free_at: Time,
    /// When the packet sent last arrives; it matters after the delay has become shorter.
    latest: Time,
}

impl Trace {
    pub fn new(p: TraceParams) -> Trace {
        Trace {
            times_ns: p.opportunities_ms.iter().map(|ms| ms * NS_PER_MS).collect(),
            opportunity: p.opportunity.0,
            delay: p.delay,
            used: None,
            left: 0,
            free_at: Time::ZERO,
            latest: Time::ZERO,
            params: p,
        }
    }
    fn count(&self) -> u64 {
        self.times_ns.len() as u64
    }
    fn period_ns(&self) -> u64 {
        self.times_ns[self.times_ns.len() - 1]
    }
    fn time_of(&self, k: u64) -> Time {
        Time(k / self.count() * self.period_ns() + self.times_ns[(k % self.count()) as usize])
    }
    /// The first opportunity after this instant.
    fn after(&self, now: Time) -> u64 {
        let (cycle, rest) = (now.0 / self.period_ns(), now.0 % self.period_ns());
        let within = self.times_ns.partition_point(|t| *t <= rest) as u64;
        cycle * self.count() + within
    }
}

impl Link for Trace {
    fn is_in_order(&self) -> bool {
        true
    }
    /// Another trace repeats as though it had begun with the run; what is left of an opportunity is lost.
    fn change(&mut self, new: &Setting, _now: Time) -> Result<(), ConfigError> {
        *self = Trace { free_at: self.free_at, latest: self.latest, ..Trace::new(new.get()) };
        Ok(())
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
    fn transmit(&mut self, p: &Packet, now: Time) -> TxPlan {
        let waited = self.used.is_some() && now == self.free_at;
        let mut next = self.used.map_or(0, |k| k + 1);
        if !waited {
            self.left = 0;
            next = next.max(self.after(now));
        }
        let mut missing = p.len as u64;
        while self.left < missing {
            missing -= self.left;
            self.left = self.opportunity;
            self.used = Some(next);
            next += 1;
        }
        self.left -= missing;
        let end = self.used.map_or(now, |k| self.time_of(k));
        self.free_at = end;
        self.latest = self.latest.max(end + self.delay);
        TxPlan { free_at: end, fate: Fate::Deliver(self.latest), attempts: 1, tx_start: now, tx_end: end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(opportunities_ms: &[u64]) -> Trace {
        let params = TraceParams { opportunities_ms: opportunities_ms.to_vec(), ..TraceParams::default() };
        params.check().unwrap();
        Trace::new(params)
    }
    fn packet(len: u16) -> Packet {
        Packet { len, ..Packet::default() }
    }
    fn ms(t: u64) -> Time {
        Time(t * NS_PER_MS)
    }

    #[test]
    fn a_packet_leaves_with_the_opportunity_that_covers_its_last_byte() {
        let mut l = link(&[2, 5, 9]);
        assert_eq!(l.transmit(&packet(1500), ms(0)).free_at, ms(2));
        assert_eq!(l.transmit(&packet(4), ms(2)).free_at, ms(2), "the rest of the first opportunity");
        assert_eq!(l.transmit(&packet(1500), ms(2)).free_at, ms(5));
        assert_eq!(l.transmit(&packet(1500), ms(5)).free_at, ms(9), "4 bytes at 5 ms, the others at 9 ms");
    }

    #[test]
    fn the_trace_starts_again_after_its_last_instant_and_unused_opportunities_are_lost() {
        let mut l = link(&[3, 4, 10]);
        assert_eq!(l.transmit(&packet(1504), ms(4)).free_at, ms(10), "that of 4 ms itself is gone for a newcomer");
        assert_eq!(l.transmit(&packet(1504), ms(10)).free_at, ms(13));
        assert_eq!(l.transmit(&packet(1504), ms(35)).free_at, ms(40));
        let mut zero = link(&[0, 5]);
        assert_eq!(zero.transmit(&packet(1504), ms(1)).free_at, ms(5));
        assert_eq!(zero.transmit(&packet(1504), ms(5)).free_at, ms(5), "0 ms of the second round");
    }

    #[test]
    fn nothing_overtakes_when_the_delay_becomes_shorter() {
        let mut l = Trace::new(TraceParams { delay: Dur::from_secs(3), ..TraceParams::default() });
        assert_eq!(l.transmit(&packet(1504), ms(0)).fate, Fate::Deliver(ms(3001)));
        let set = serde_json::json!({"delay": "100 ms"});
        l.read_and_change(set.as_object().unwrap(), ms(1)).unwrap();
        assert_eq!(l.transmit(&packet(1504), ms(1)).fate, Fate::Deliver(ms(3001)));
        assert_eq!(l.transmit(&packet(1504), ms(3000)).fate, Fate::Deliver(ms(3101)));
    }

    #[test]
    fn traces_that_never_end_their_round_are_refused() {
        for (list, said) in [(vec![], "no instant"), (vec![0], "ends at 0 ms"), (vec![3, 2], "2 after 3")] {
            let e = TraceParams { opportunities_ms: list, ..TraceParams::default() }.check().unwrap_err();
            assert!(e.found.contains(said), "{e}");
        }
    }
}
