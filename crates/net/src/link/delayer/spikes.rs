//! # Delay spikes
//!
//! **Source**: gurtov-2004 sections 3.3.2 and 4.4 (processes D1 to D3, D9, D10); ns-2.35 (`queue/delayer.cc`, block and unblock).
//!
//! **Idea**: from time to time the link stops serving, and goes on afterwards: spike n begins at `start(n) = start(n-1) +
//! every` (or `end(n-1) + every`) and lasts `length`. What is on the link arrives; the queue fills up. Both directions of a
//! link that inherit one `spikes` table draw the same spikes and are blocked together.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `at` | times | none | scheduled spikes; replaces `first` and `every` |
//! | `first` | time | 10 s | gurtov-2004 process D3 |
//! | `every` | time | none | from spike to spike; without it there is one (D1: U(20, 40) s, D2: 30 s) |
//! | `spacing` | - | start-to-start | gurtov-2004 process D1 as its tables suggest; its author's later scripts draw `end-to-start` |
//! | `length` | time | 10 s | gurtov-2004 process D3 (D1: U(3, 15) s, D2: U(7, 10) s) |
//! | `holds` | - | line | ns-2: the packet whose turn comes has left the queue; `queue` leaves it there, where it can expire |
//! | `loss` | probability | 0 | share lost of what arrives during a spike (process D10, table 6.1) |
//! | `discard` | packets | 0 | so many are thrown out of the queue, the oldest first, when a spike begins (process D9: the old cell's buffer) |
//!
//! A time is `"700 ms"`, or `{ uniform = ["20 s", "40 s"] }`, or `{ exponential = "30 s", min = "5 s", max = "90 s" }`.
//!
//! **Deviations**: none. A packet whose transmission has begun when a spike begins is sent to its end, as in ns-2.
//!
//! **Checked by**: `crates/testkit/tests/oracle_delayers.rs` (a transliteration of the Delayer, on random traffic), closed forms
//! beside it.

use super::{Delayer, keys_of};
use crate::params::{self, Params};
use crate::spread::Spread;
use crosswind_base::{ConfigError, Dur, Rng, Setting, Time, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// From where the time to the next spike counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// From the beginning of a spike to that of the next. Spikes that meet are one.
    #[default]
    StartToStart,
    /// From the end of a spike to the beginning of the next.
    EndToStart,
}

/// Where the packet waits whose turn comes during a spike.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// In front of the line, no longer in the queue.
    #[default]
    Line,
    /// In the queue.
    Queue,
}

/// Parameters of delay spikes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpikesParams {
    /// When spikes begin, in ascending order; replaces `first` and `every`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Dur>,
    /// When the first spike begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Spread>,
    /// Time from spike to spike. Left out: there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Spread>,
    /// Whether `every` counts from the beginning or the end of the spike before.
    pub spacing: Spacing,
    /// How long a spike lasts.
    pub length: Spread,
    /// Where the packet waits whose turn comes during a spike.
    pub holds: Holds,
    /// Probability that a packet is lost that arrives during a spike.
    pub loss: f64,
    /// So many packets are thrown out of the queue when a spike begins, the oldest first.
    pub discard: u32,
}

const DEFAULT: Dur = Dur::from_secs(10);

impl Default for SpikesParams {
    fn default() -> Self {
        SpikesParams {
            at: Vec::new(),
            first: None,
            every: None,
            spacing: Spacing::StartToStart,
            length: Spread::Fixed(DEFAULT),
            holds: Holds::Line,
            loss: 0.0,
            discard: 0,
        }
    }
}

impl Params for SpikesParams {
    fn check(&self) -> Result<(), ConfigError> {
        if let (false, Some(key)) = (self.at.is_empty(), self.random_key()) {
            return Err(ConfigError::new(
                key,
                format!("`{key}` beside `at`"),
                "either the times of all spikes or a rule",
            ));
        }
        if let Some(i) = self.at.windows(2).position(|w| w[0] >= w[1]) {
            let found = units::show_dur(self.at[i + 1]);
            return Err(ConfigError::new(format!("at[{}]", i + 1), found, "times in ascending order"));
        }
        self.first.map_or(Ok(()), |s| s.check("first"))?;
        self.every.map_or(Ok(()), |s| s.check_recurring("every"))?;
        self.length.check("length")?;
        self.check_gaps()?;
        params::check_range("loss", self.loss, 0.0..=1.0)
    }
}

impl SpikesParams {
    /// Spikes that are as long as the time from one to the next would meet for ever.
    fn check_gaps(&self) -> Result<(), ConfigError> {
        match self.every {
            Some(every) if self.spacing == Spacing::StartToStart && self.length.mean() >= every.mean() => {
                let show = units::show_dur;
                let found =
                    format!("{} on average, with a spike every {}", show(self.length.mean()), show(every.mean()));
                let hint = "spacing = \"end-to-start\" counts `every` from the end of a spike";
                Err(ConfigError::new("length", found, "less than `every`: the link would never open").hint(hint))
            }
            _ => Ok(()),
        }
    }

    fn random_key(&self) -> Option<&'static str> {
        let keys = [("first", self.first.is_some()), ("every", self.every.is_some())];
        keys.into_iter().find(|(_, given)| *given).map(|(key, _)| key)
    }

    /// What happens in the queue has a part of its own.
    pub fn touches_queue(&self) -> bool {
        self.holds == Holds::Queue || self.loss > 0.0 || self.discard > 0
    }
}

/// So many drawn spikes that meet, one after the other, are one without end.
const MEETING_MAX: usize = 1_000_000;

/// The spikes of one link, one after the other. Two that are made alike give the same.
pub struct Spikes {
    params: SpikesParams,
    rng: Rng,
    /// How many of `at` have been taken.
    taken: usize,
    /// Beginning and end of the first spike that was not over when last asked.
    next: Option<(Time, Time)>,
    /// The end of a spike that a change of the parameters found going on.
    going_on_until: Time,
}

impl Spikes {
    pub fn params(&self) -> &SpikesParams {
        &self.params
    }

    pub fn new(params: SpikesParams, mut rng: Rng) -> Spikes {
        let first = match (params.at.first(), params.first) {
            (Some(at), _) => *at,
            (None, first) => first.unwrap_or(Spread::Fixed(DEFAULT)).draw(&mut rng),
        };
        let start = Time::ZERO + first;
        let next = Some((start, start + params.length.draw(&mut rng)));
        Spikes { params, rng, taken: 1, next, going_on_until: Time::ZERO }
    }

    fn advance(&mut self) {
        let Some((start, end)) = self.next else { return };
        let then = match (self.params.at.is_empty(), self.params.every) {
            (false, _) => self.params.at.get(self.taken).map(|at| Time::ZERO + *at),
            (true, None) => None,
            (true, Some(every)) => {
                let from = if self.params.spacing == Spacing::StartToStart { start } else { end };
                Some(from + every.draw(&mut self.rng))
            }
        };
        self.taken += 1;
        self.next = then.map(|at| (at, at + self.params.length.draw(&mut self.rng)));
    }

    /// The first moment from `t` on at which the link serves. Times asked for never run backwards.
    pub fn open_from(&mut self, t: Time) -> Time {
        let mut t = t.max(self.going_on_until);
        for _ in 0..MEETING_MAX.max(self.params.at.len() + 1) {
            match self.next {
                Some((start, end)) if start <= t => t = t.max(end),
                _ => return t,
            }
            self.advance();
        }
        // They come faster than they end: nobody will see a gap.
        (self.next, self.going_on_until) = (None, Time::NEVER);
        Time::NEVER
    }

    /// A spike that goes on ends as it would have. The next one is at the first of `at`, or at `first`, that is still to
    /// come; else after `every`, if that is set anew; else when it would have come. `"none"`: no more.
    pub fn set(&mut self, new: &Setting, now: Time) {
        self.going_on_until = self.open_from(now);
        let NewSpikes::Like { params, has_first, has_every } = new.get() else {
            self.next = None;
            return;
        };
        self.params = params;
        let at = &self.params.at;
        self.taken = at.partition_point(|t| Time::ZERO + *t <= now) + 1;
        let listed = at.get(self.taken - 1).copied();
        let first = self.params.first.filter(|_| has_first).map(|f| f.draw(&mut self.rng));
        let every = self.params.every.filter(|_| has_every).map(|e| now.since(Time::ZERO) + e.draw(&mut self.rng));
        let start = match (at.is_empty(), first.filter(|t| Time::ZERO + *t > now), every, self.next) {
            (false, ..) => listed.map(|t| Time::ZERO + t),
            (true, Some(t), ..) | (true, None, Some(t), _) => Some(Time::ZERO + t),
            (true, None, None, next) => next.map(|(start, _)| start),
        };
        self.next = start.map(|at| (at, at + self.params.length.draw(&mut self.rng)));
    }

    /// Reads and checks new values: a table of keys, or `"none"`.
    pub fn read(&self, new: &Value) -> Result<Setting, ConfigError> {
        if new.as_str() == Some("none") {
            return Ok(Setting::new(NewSpikes::None));
        }
        let set = keys_of(new)?;
        // Listed spikes and a rule replace each other.
        let mut old = self.params.clone();
        if set.contains_key("at") {
            (old.first, old.every) = (None, None);
        } else if set.contains_key("first") || set.contains_key("every") {
            old.at.clear();
        }
        let p: SpikesParams = params::merged(&old, set)?;
        if p.holds != self.params.holds {
            return Err(ConfigError::new("holds", "a change while it runs", "the same as at the start"));
        }
        let has = |key: &str| set.contains_key(key);
        Ok(Setting::new(NewSpikes::Like { params: p, has_first: has("first"), has_every: has("every") }))
    }

    /// When the next spike begins that no answer has gone beyond yet.
    pub fn next_start(&self) -> Option<Time> {
        self.next.map(|(start, _)| start)
    }
}

/// What becomes of the spikes.
#[derive(Clone, Debug)]
enum NewSpikes {
    None,
    /// These parameters; whether `first` and `every` are set anew.
    Like {
        params: SpikesParams,
        has_first: bool,
        has_every: bool,
    },
}

impl Delayer for Spikes {
    fn ready_at(&mut self, now: Time) -> Time {
        self.open_from(now)
    }
    fn read_change(&self, new: &Value) -> Result<Setting, ConfigError> {
        self.read(new)
    }
    fn change(&mut self, new: &Setting, now: Time) -> Result<(), ConfigError> {
        self.set(new, now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;
    use serde_json::json;

    fn spikes(v: Value) -> Spikes {
        Spikes::new(params::read(&v, "spikes").unwrap(), Streams::new(7).named("spikes"))
    }
    fn s(x: f64) -> Time {
        Time::from_secs_f64(x)
    }

    #[test]
    fn one_spike_by_default_from_ten_to_twenty_seconds() {
        let mut one = spikes(json!({}));
        for (asked, answer) in [(0.0, 0.0), (9.999, 9.999), (10.0, 20.0), (20.0, 20.0), (1e6, 1e6)] {
            assert_eq!(one.open_from(s(asked)), s(answer));
        }
    }

    #[test]
    fn spikes_that_meet_are_one() {
        let mut three = spikes(json!({"at": ["1 s", "3 s", "9 s"], "length": "2 s"}));
        assert_eq!(three.open_from(s(1.5)), s(5.0));
        assert_eq!(three.next_start(), Some(s(9.0)));
    }

    #[test]
    fn spikes_that_always_meet_are_one_without_end() {
        for (every, length) in [(json!("1 s"), json!("1 s")), (json!({"uniform": ["1 s", "2 s"]}), json!("3 s"))] {
            let params = serde_json::from_value(json!({"first": "1 s", "every": every, "length": length})).unwrap();
            let mut shut = Spikes::new(params, Streams::new(7).named("spikes"));
            assert_eq!(shut.open_from(s(0.5)), s(0.5));
            assert_eq!(shut.open_from(s(1.0)), Time::NEVER);
            assert_eq!((shut.open_from(s(2.0)), shut.next_start()), (Time::NEVER, None));
        }
    }

    #[test]
    fn random_spikes_keep_to_their_distributions() {
        for (spacing, cycle) in [("start-to-start", 30.0), ("end-to-start", 39.0)] {
            let mut all = spikes(json!({"first": {"uniform": ["0 s", "5 s"]}, "every": {"uniform": ["20 s", "40 s"]},
                "length": {"uniform": ["3 s", "15 s"]}, "spacing": spacing}));
            let (mut n, mut blocked) = (0.0, 0.0);
            let mut last = Time::ZERO;
            for _ in 0..4000 {
                let start = all.next_start().unwrap();
                let end = all.open_from(start);
                assert!((3.0..=15.0).contains(&(end - start).as_secs_f64()));
                (n, blocked, last) = (n + 1.0, blocked + (end - start).as_secs_f64(), start);
            }
            // Four standard errors of the mean: 5.8 / sqrt(4000) and 3.5 / sqrt(4000), times four.
            assert!((last.as_secs_f64() / n - cycle).abs() < 0.5, "{spacing}");
            assert!((blocked / n - 9.0).abs() < 0.22, "{spacing}");
        }
    }

    #[test]
    fn contradictions_are_refused() {
        for (v, key) in [
            (json!({"at": ["2 s"], "every": "3 s"}), "spikes.every"),
            (json!({"at": ["2 s", "1 s"]}), "spikes.at[1]"),
            (json!({"loss": 1.5}), "spikes.loss"),
            (json!({"first": {"uniform": ["5 s", "1 s"]}}), "spikes.first.uniform"),
        ] {
            let e = params::read::<SpikesParams>(&v, "spikes").unwrap_err();
            assert_eq!(e.path, key, "{e}");
        }
    }
}
