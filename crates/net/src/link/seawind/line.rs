//! The line of a link whose rate may change while a frame is on it: rates that take turns, outages, a channel whose
//! states have rates of their own, other users who take channels away.

use super::channel::{Channel, State};
use crate::params;
use crate::spread::Spread;
use crosswind_base::{BitRate, ConfigError, Dur, Rng, Serializer, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the next rate is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// One after the other, as listed.
    #[default]
    Cycle,
    /// Any of the list, independently.
    Random,
}

/// Changes of the rate. The link begins with its `rate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateChangesParams {
    /// How long each rate lasts.
    pub every: Spread,
    /// The rates that follow.
    pub rates: Vec<BitRate>,
    /// How the next one is chosen.
    #[serde(default)]
    pub pick: Pick,
}

/// Spans in which the line stands still; a frame on it goes on afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutagesParams {
    /// Time from the end of an outage to the next.
    pub every: Spread,
    /// How long an outage lasts.
    pub length: Spread,
}

/// Other users of a cell with a number of channels. Our rate is that of `own` channels; it shrinks in proportion when
/// fewer are free.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackgroundParams {
    /// Channels of the cell.
    pub channels: u32,
    /// Channels that we use when they are free.
    pub own: u32,
    /// Time between arrivals of other users; each takes one channel, or gives up when others hold all of them.
    pub arrivals: Spread,
    /// How long a user holds its channel.
    pub holding: Spread,
}

impl RateChangesParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        self.every.check_recurring("rate_changes.every")?;
        if self.rates.is_empty() {
            return Err(ConfigError::new("rate_changes.rates", "[]", "at least one rate"));
        }
        let one = |(i, r): (usize, &BitRate)| params::check_rate(&format!("rate_changes.rates[{i}]"), *r);
        self.rates.iter().enumerate().try_for_each(one)
    }
}

impl OutagesParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        self.every.check_recurring("outages.every")?;
        self.length.check("outages.length")
    }
}

impl BackgroundParams {
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(1..=1000).contains(&self.channels) {
            return Err(ConfigError::new("background.channels", self.channels.to_string(), "1 to 1000 channels"));
        }
        if !(1..=self.channels).contains(&self.own) {
            let expected = format!("1 to {} channels, as many as the cell has", self.channels);
            return Err(ConfigError::new("background.own", self.own.to_string(), expected));
        }
        self.arrivals.check_recurring("background.arrivals")?;
        self.holding.check_recurring("background.holding")
    }
}

/// A line of one rate, whose transmissions may last whole ticks only.
#[derive(Clone, Debug)]
pub struct Steady {
    serializer: Serializer,
    tick: Dur,
}

impl Steady {
    /// With a tick of zero a transmission lasts as long as its bits.
    pub fn new(rate: BitRate, tick: Dur) -> Steady {
        Steady { serializer: Serializer::new(rate), tick }
    }

    pub fn rate(&self) -> BitRate {
        self.serializer.rate()
    }

    /// The end of a transmission that starts now. `idle_since` is the end of the one before.
    #[inline]
    pub fn send(&mut self, bytes: u32, start: Time, idle_since: Time) -> Time {
        if start > idle_since || self.tick.0 > 0 {
            self.serializer.restart();
        }
        let exact = self.serializer.take(bytes);
        start + if self.tick.0 == 0 { exact } else { Dur(exact.0 - exact.0 % self.tick.0) }
    }
}

/// The line of a link.
#[derive(Clone, Debug)]
pub enum Line {
    Steady(Steady),
    Changing(Box<Changing>),
}

impl Line {
    /// The end of a transmission that starts now. `idle_since` is the end of the one before.
    #[inline]
    pub fn send(&mut self, bytes: u32, start: Time, idle_since: Time) -> Time {
        match self {
            Line::Steady(s) => s.send(bytes, start, idle_since),
            Line::Changing(c) => c.send(bytes, start, idle_since),
        }
    }
    /// The channel, where its states have rates of their own.
    pub fn channel_mut(&mut self) -> Option<&mut Channel> {
        match self {
            Line::Steady(_) => None,
            Line::Changing(c) => c.channel.as_mut(),
        }
    }
}

/// A line whose rate is a product of processes, each constant for a while.
#[derive(Clone, Debug)]
pub struct Changing {
    pub rates: Rates,
    pub outages: Option<Outages>,
    pub channel: Option<Channel>,
    pub background: Option<Background>,
    /// Work left over from the last transmission, in billionths of a bit: less than a nanosecond of it.
    carry: u128,
}

const NS_PER_S: u128 = 1_000_000_000;

impl Changing {
    pub fn new(rate: BitRate) -> Changing {
        Changing { rates: Rates::steady(rate), outages: None, channel: None, background: None, carry: 0 }
    }

    fn send(&mut self, bytes: u32, start: Time, idle_since: Time) -> Time {
        if start > idle_since {
            self.carry = 0;
        }
        let mut work = 8 * bytes as u128 * NS_PER_S + self.carry;
        let mut now = start;
        loop {
            let (rate, until) = self.rate_at(now);
            let possible = rate as u128 * until.since(now).0 as u128;
            if work < possible {
                self.carry = work % rate as u128;
                return now + Dur((work / rate as u128) as u64);
            }
            work -= possible;
            now = until;
        }
    }

    /// Bits per second at `t`, and until when at least. `t` never decreases.
    fn rate_at(&mut self, t: Time) -> (u64, Time) {
        let (mut rate, mut until) = self.rates.at(t);
        if let Some(c) = &mut self.channel {
            c.forget(t);
            let (state, end) = c.at(t);
            if let Some(own) = c.params().state(state).rate {
                rate = own.0;
            }
            until = until.min(end);
        }
        if let Some(b) = &mut self.background {
            let (free, end) = b.at(t);
            rate = rate * free.min(b.params.own) as u64 / b.params.own as u64;
            until = until.min(end);
        }
        if let Some(o) = &mut self.outages {
            let (state, end) = o.at(t);
            if state == State::Bad {
                rate = 0;
            }
            until = until.min(end);
        }
        (rate, until)
    }
}

/// The rate before outages and other users.
#[derive(Clone, Debug)]
pub struct Rates {
    now: BitRate,
    until: Time,
    next: usize,
    changes: Option<(RateChangesParams, Rng)>,
}

impl Rates {
    pub fn steady(rate: BitRate) -> Rates {
        Rates { now: rate, until: Time::NEVER, next: 0, changes: None }
    }
    pub fn changing(rate: BitRate, params: RateChangesParams, mut rng: Rng) -> Rates {
        let until = Time::ZERO + params.every.draw(&mut rng);
        Rates { now: rate, until, next: 0, changes: Some((params, rng)) }
    }
    fn at(&mut self, t: Time) -> (u64, Time) {
        while self.until <= t
            && let Some((p, rng)) = &mut self.changes
        {
            let i = match p.pick {
                Pick::Cycle => self.next,
                Pick::Random => rng.below(p.rates.len() as u64) as usize,
            };
            self.now = p.rates[i];
            self.next = (self.next + 1) % p.rates.len();
            self.until += p.every.draw(rng);
        }
        (self.now.0, self.until)
    }
}

/// A line that stops now and then.
#[derive(Clone, Debug)]
pub struct Outages {
    params: OutagesParams,
    rng: Rng,
    state: State,
    until: Time,
}

impl Outages {
    pub fn new(params: OutagesParams, mut rng: Rng) -> Outages {
        let until = Time::ZERO + params.every.draw(&mut rng);
        Outages { params, rng, state: State::Good, until }
    }
    fn at(&mut self, t: Time) -> (State, Time) {
        while self.until <= t {
            self.state = self.state.other();
            let length = if self.state == State::Bad { self.params.length } else { self.params.every };
            self.until += length.draw(&mut self.rng);
        }
        (self.state, self.until)
    }
}

/// The other users of the cell. Nobody is there at time zero.
#[derive(Clone, Debug)]
pub struct Background {
    params: BackgroundParams,
    rng: Rng,
    next_arrival: Time,
    /// When each of the users who hold a channel will leave.
    leaves: Vec<Time>,
}

impl Background {
    pub fn new(params: BackgroundParams, mut rng: Rng) -> Background {
        let next_arrival = Time::ZERO + params.arrivals.draw(&mut rng);
        Background { leaves: Vec::with_capacity(params.channels as usize), params, rng, next_arrival }
    }
    /// Free channels at `t`, and until when at least.
    fn at(&mut self, t: Time) -> (u32, Time) {
        loop {
            let next_leave = self.leaves.iter().copied().min().unwrap_or(Time::NEVER);
            let next = next_leave.min(self.next_arrival);
            if next > t {
                return (self.params.channels - self.leaves.len() as u32, next);
            }
            if next_leave == next {
                self.leaves.retain(|l| *l > next);
                continue;
            }
            let holding = self.params.holding.draw(&mut self.rng);
            if self.leaves.len() < self.params.channels as usize {
                self.leaves.push(next + holding);
            }
            self.next_arrival = next + self.params.arrivals.draw(&mut self.rng);
        }
    }
}
