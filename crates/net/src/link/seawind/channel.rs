//! The two-state channel: good and bad take turns, each for a drawn length. A history depends on its random stream and
//! nothing else, so all configurations that share seed and name meet the same one.

use crate::params;
use crate::spread::Spread;
use crosswind_base::{BitRate, ConfigError, Dur, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// State of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Good,
    Bad,
}

impl State {
    pub fn other(self) -> State {
        match self {
            State::Good => State::Bad,
            State::Bad => State::Good,
        }
    }
}

/// Who shares one history.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum History {
    /// Both directions of the link: they fade together.
    #[default]
    Link,
    /// Each direction has its own.
    Direction,
}

/// One state of the channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateParams {
    /// How long the state lasts each time.
    pub length: Spread,
    /// Probability that a transmission attempt fails in this state.
    pub error: f64,
    /// Rate of the line in this state, where it differs from that of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
}

/// A channel that is good or bad.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelParams {
    /// The good state.
    pub good: StateParams,
    /// The bad state.
    pub bad: StateParams,
    /// The state in which the history begins.
    pub first: State,
    /// How much of the history lies before time zero of the run.
    pub offset: Dur,
    /// Whether both directions of the link share one history.
    pub history: History,
    /// Draw the history from this seed instead of the run's: it is then the same in all repetitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// All repetitions are consecutive stretches of one long history: each begins this much later than the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretch: Option<Dur>,
    /// A given history instead of a drawn one: lengths of the states in turn, repeated when they are used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<Dur>>,
}

impl Default for ChannelParams {
    fn default() -> Self {
        let spread = |ms: [u64; 3]| {
            let [min, mean, max] = ms.map(Dur::from_millis);
            Spread::truncated(mean, [min, max])
        };
        ChannelParams {
            good: StateParams { length: spread([5_000, 10_000, 15_000]), error: 0.0, rate: None },
            bad: StateParams { length: spread([1_400, 2_500, 4_000]), error: 0.6, rate: None },
            first: State::Good,
            offset: Dur::from_secs(19),
            history: History::Link,
            seed: None,
            stretch: None,
            trace: None,
        }
    }
}

impl ChannelParams {
    pub fn state(&self, s: State) -> &StateParams {
        match s {
            State::Good => &self.good,
            State::Bad => &self.bad,
        }
    }

    /// Whether a state has a rate of its own.
    pub fn has_rates(&self) -> bool {
        self.good.rate.is_some() || self.bad.rate.is_some()
    }

    /// Paths are relative to the channel.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (name, state) in [("good", &self.good), ("bad", &self.bad)] {
            state.length.check_recurring("length").map_err(|e| e.under(name))?;
            params::check_range("error", state.error, 0.0..=1.0).map_err(|e| e.under(name))?;
            if let Some(rate) = state.rate {
                params::check_rate("rate", rate).map_err(|e| e.under(name))?;
            }
        }
        params::check_delay("offset", self.offset)?;
        if let Some(stretch) = self.stretch {
            params::check_delay("stretch", stretch)?;
        }
        self.trace.as_ref().map_or(Ok(()), |t| check_trace(t))
    }
}

fn check_trace(lengths: &[Dur]) -> Result<(), ConfigError> {
    if lengths.is_empty() || lengths.len() % 2 == 1 {
        let found = format!("{} lengths", lengths.len());
        return Err(ConfigError::new(
            "trace",
            found,
            "an even number of them: good and bad take turns when it repeats",
        ));
    }
    let one = |(i, d): (usize, &Dur)| Spread::Fixed(*d).check_recurring(&format!("trace[{i}]"));
    lengths.iter().enumerate().try_for_each(one)
}

/// One history of a channel. It is looked at a little ahead and a little behind, in any order.
#[derive(Clone, Debug)]
pub struct Channel {
    params: ChannelParams,
    reached: Reached,
    /// Where this repetition's stretch of the history begins, once it has been looked at.
    begun: Option<Reached>,
}

/// How far a history is known.
#[derive(Clone, Debug)]
pub struct Reached {
    rng: Rng,
    /// Ends of the states that may still be asked for, oldest first; they alternate, from `oldest`.
    ends: VecDeque<Time>,
    oldest: State,
    /// States that have got their length so far.
    known: usize,
    /// Nothing is known of what lies before.
    from: Dur,
}

impl Channel {
    pub fn new(params: ChannelParams, rng: Rng) -> Channel {
        let reached =
            Reached { rng, ends: VecDeque::with_capacity(8), oldest: params.first, known: 0, from: Dur::ZERO };
        Channel { params, reached, begun: None }
    }

    /// The history of one repetition where all are stretches of one.
    pub fn stretched(mut params: ChannelParams, rng: Rng, repetition: u32) -> Channel {
        let before = params.stretch.map_or(Dur::ZERO, |s| s.saturating_mul(repetition.into()));
        params.offset = params.offset + before;
        Channel::new(params, rng)
    }

    /// Where this stretch begins, for a later one of the same history; `None`: nobody has looked.
    pub fn begun(&self) -> Option<Reached> {
        self.begun.clone()
    }

    /// Nobody has looked yet; an earlier stretch begins there. It saves passing over what lies before.
    pub fn go_on_from(&mut self, earlier: Reached) {
        if earlier.from <= self.params.offset {
            self.reached = earlier;
        }
    }

    /// Passes over what lies before this stretch.
    #[cold]
    fn begin(&mut self) {
        while self.reached.ends.back().is_none_or(|end| end.0 <= self.params.offset.0) {
            self.extend(if self.reached.known % 2 == 0 { self.params.first } else { self.params.first.other() });
            self.forget(Time::ZERO);
        }
        self.reached.from = self.params.offset;
        self.begun = Some(self.reached.clone());
    }

    pub fn params(&self) -> &ChannelParams {
        &self.params
    }

    /// The state at `t`, and when it ends. A state that ends at `t` is over.
    pub fn at(&mut self, t: Time) -> (State, Time) {
        if self.begun.is_none() {
            self.begin();
        }
        let t = t + self.params.offset;
        let mut state = self.reached.oldest;
        let mut i = 0;
        loop {
            if i == self.reached.ends.len() {
                self.extend(state);
            }
            let end = self.reached.ends[i];
            if t < end {
                return (state, Time(end.0 - self.params.offset.0));
            }
            state = state.other();
            i += 1;
        }
    }

    fn extend(&mut self, state: State) {
        let r = &mut self.reached;
        let from = r.ends.back().copied().unwrap_or(Time::ZERO);
        let length = match &self.params.trace {
            Some(given) => given[r.known % given.len()],
            None => self.params.state(state).length.draw(&mut r.rng),
        };
        r.known += 1;
        r.ends.push_back(from + length);
    }

    /// Nothing before `t` will be asked for any more.
    pub fn forget(&mut self, t: Time) {
        let t = t + self.params.offset;
        // The last end stays: the next state begins there.
        let r = &mut self.reached;
        while r.ends.len() > 1 && r.ends[0] <= t {
            r.ends.pop_front();
            r.oldest = r.oldest.other();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;

    fn channel(seed: u64) -> Channel {
        Channel::new(ChannelParams::default(), Streams::new(seed).named("channel"))
    }

    #[test]
    fn a_history_is_the_same_however_it_is_asked_for() {
        let times: Vec<Time> = (0..40_000).map(|i| Time(i * 50_000_000)).collect();
        let mut forward = channel(1);
        let seen: Vec<State> = times.iter().map(|t| forward.at(*t).0).collect();
        let mut forgetful = channel(1);
        for (t, want) in times.iter().zip(&seen) {
            // Looked at ahead first, as the attempts of a delayed packet do.
            forgetful.at(*t + Dur::from_millis(2_800));
            assert_eq!(forgetful.at(*t).0, *want);
            forgetful.forget(*t);
            assert!(forgetful.reached.ends.len() <= 4, "{} states are remembered", forgetful.reached.ends.len());
        }
        let mut jump = channel(1);
        assert_eq!(jump.at(times[39_999]).0, seen[39_999]);
    }

    #[test]
    fn repetitions_are_consecutive_stretches_of_one_history() {
        let stretch = Some(Dur::from_secs(300));
        let params = ChannelParams { stretch, ..ChannelParams::default() };
        let of = |rep: u32| Channel::stretched(params.clone(), Streams::new(5).named("channel"), rep);
        let mut whole = Channel::new(ChannelParams::default(), Streams::new(5).named("channel"));
        let mut before: Option<Reached> = None;
        for rep in [0, 1, 7, 119, 60, 5] {
            let (mut alone, mut told) = (of(rep), of(rep));
            // Which changes nothing but the time that it takes; what begins later is of no use.
            before.into_iter().for_each(|earlier| told.go_on_from(earlier));
            for i in 0..3_000 {
                let t = Time(i * 100_000_000);
                let want = whole.at(t + Dur::from_secs(300 * u64::from(rep))).0;
                assert_eq!([alone.at(t).0, told.at(t).0], [want; 2], "{rep} {i}");
            }
            before = told.begun();
            let kept = before.as_ref().map_or(0, |b| b.ends.len());
            assert!((1..=2).contains(&kept), "{kept} states of what is over are kept");
        }
    }

    #[test]
    fn a_given_history_is_followed_and_repeated() {
        let trace = Some([3, 1, 2, 1].map(Dur::from_secs).to_vec());
        let params = ChannelParams { trace, offset: Dur::from_secs(2), ..ChannelParams::default() };
        assert!(params.check().is_ok());
        let mut c = Channel::new(params.clone(), Streams::new(1).named("channel"));
        let bad = |c: &mut Channel, s: u64| c.at(Time(s * 1_000_000_000)).0 == State::Bad;
        let seen: Vec<bool> = (0..12).map(|s| bad(&mut c, s)).collect();
        let once = [false, true, false, false, true, false, false];
        assert_eq!(seen, [&once[..], &once[..5]].concat());
        let odd = ChannelParams { trace: Some(vec![Dur::from_secs(1)]), ..params };
        assert_eq!(odd.check().expect_err("odd").path, "trace");
    }

    #[test]
    fn states_alternate_and_last_as_long_as_they_may() {
        let mut c = channel(2);
        let (mut state, mut end) = c.at(Time::ZERO);
        for _ in 0..10_000 {
            let (next, later) = c.at(end);
            assert_eq!(next, state.other());
            let length = later - end;
            let [low, high] = if next == State::Good { [5_000, 15_000] } else { [1_400, 4_000] };
            assert!(Dur::from_millis(low) <= length && length <= Dur::from_millis(high), "{next:?} {length:?}");
            (state, end) = (next, later);
            c.forget(end - Dur(1));
        }
    }

    #[test]
    fn the_time_in_the_bad_state_is_what_the_means_of_the_lengths_say() {
        // Truncated means: m + (a e^-a/m - b e^-b/m) / (e^-a/m - e^-b/m).
        let mean = |m: f64, a: f64, b: f64| {
            let (x, y) = ((-a / m).exp(), (-b / m).exp());
            m + (a * x - b * y) / (x - y)
        };
        let (good, bad) = (mean(10.0, 5.0, 15.0), mean(2.5, 1.4, 4.0));
        let want = bad / (good + bad);
        assert!((want - 0.213).abs() < 0.001, "{want}");
        let mut c = channel(3);
        let steps = 2_000_000;
        let mut in_bad = 0;
        for i in 0..steps {
            let t = Time(i * 100_000_000);
            in_bad += (c.at(t).0 == State::Bad) as u64;
            c.forget(t);
        }
        let share = in_bad as f64 / steps as f64;
        // About 17 000 cycles; the share's standard deviation is below 0.0006.
        assert!((share - want).abs() < 0.002, "{share} {want}");
    }
}
