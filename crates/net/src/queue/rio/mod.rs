//! # RED with in and out
//!
//! **Source**: clark-fang-1998 section 3; igarashi section 2.8; ns-2.35 (rio.cc, diffserv/dsredq.cc).
//!
//! **Idea**: one FIFO, one RED for each colour. Green packets (in profile) are judged by the average of the green packets
//! that wait; yellow ones by that of green and yellow; red ones by that of all (RIO-C). An average moves with the arrivals
//! that it counts. So packets out of profile go first, and green ones only when they alone fill the queue.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | packets or bytes | 200 packets | igarashi section 2.8 |
//! | `ecn` | - | drop | igarashi |
//! | `average` | - | coupled | RIO-C; `own` counts each colour alone (RIO-D), `total` everything (WRED) |
//! | `profile` | - | ns2-red | each colour a RED as `red-ns2`; `ns2-diffserv` has the steps of ns-2's diffserv module |
//! | `green` | - | 100 and 150 packets, 0.02 | igarashi, `min_th`, `max_th` and `max_p` of IN |
//! | `yellow` | - | 50 and 100 packets, 0.1 | igarashi, of OUT |
//! | `red` | - | as yellow | red packets count as yellow unless given |
//! | `others` | - | red | the colour of packets that have none |
//! | `w_q` | - | 0.002 | ns-2.35 |
//! | `mean_packet` | bytes | 1000 B | igarashi: its packets |
//! | `gentle` | - | false | igarashi open point 6.4 |
//! | `wait` | - | true | the same |
//! | `rate` | bit/s | the link's | - |
//!
//! **Deviations**: 1. ns-2's `rio.cc` does not move the total average when a packet out of profile arrives; here it moves
//! with every arrival, as RIO is defined. 2. Averages are in packets.
//!
//! **Checked by**: oracle `rio` on random traces, both profiles and all averages; conformance suite; ns-2's diffserv module
//! side by side (docs/validation.md).

pub mod dsred;
pub mod wred;

use super::aqm::{Aqm, AqmQueue, Arrival, EcnMode, Excess, Lent, Setup, Verdict, Victim};
use super::red::law::{Law, Limits, Measure, check_common, check_weight};
use super::red::ns2::{LinkFacts, Ns2, Ns2Params, Weight};
use super::store::Admission;
use super::{Backlog, Head, Removal};
use crate::params::{self, Params};
use crosswind_base::{BitRate, Colour, ConfigError, DropReason, Dur, Limit, Metrics, Rng, Setting, Size, Time};
use dsred::DsRed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// What the average of a colour counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// Packets of this colour and better ones.
    #[default]
    Coupled,
    /// Packets of this colour.
    Own,
    /// All packets.
    Total,
}

impl Average {
    /// Whether the average of colour `of` counts packets of colour `c`.
    fn counts(self, c: usize, of: usize) -> bool {
        match self {
            Average::Coupled => c <= of,
            Average::Own => c == of,
            Average::Total => true,
        }
    }
}

/// Whose steps each colour follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The RED of ns-2.
    #[default]
    #[serde(rename = "ns2-red")]
    Ns2Red,
    /// The diffserv module of ns-2.
    #[serde(rename = "ns2-diffserv")]
    Ns2Diffserv,
}

/// RED of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// Average below which no packet of this colour is selected.
    pub min_th: Limit,
    /// Average from which every packet of this colour is selected.
    pub max_th: Limit,
    /// Probability of being selected just below `max_th`.
    pub max_p: f64,
}

/// Parameters of RIO.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RioParams {
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
    /// What the average of a colour counts.
    pub average: Average,
    /// Whose steps each colour follows.
    pub profile: Profile,
    /// RED of packets in profile.
    pub green: Thresholds,
    /// RED of packets out of profile.
    pub yellow: Thresholds,
    /// RED of packets far out of profile; they count as yellow when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub red: Option<Thresholds>,
    /// The colour of packets that have none: best effort, acknowledgements of other classes.
    pub others: Colour,
    /// Weight of one arrival in an average.
    pub w_q: f64,
    /// Typical packet, for idle time and for thresholds given in bytes.
    pub mean_packet: Size,
    /// Raise the probability from max_p to 1 between max_th and twice max_th.
    pub gentle: bool,
    /// Leave at least 1/p_b packets between picks.
    pub wait: bool,
    /// Rate of the link; its own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
}

impl Default for RioParams {
    fn default() -> Self {
        let of = |min, max, max_p| Thresholds { min_th: Limit::Packets(min), max_th: Limit::Packets(max), max_p };
        RioParams {
            limit: Limit::Packets(200),
            ecn: EcnMode::Drop,
            average: Average::Coupled,
            profile: Profile::Ns2Red,
            green: of(100, 150, 0.02),
            yellow: of(50, 100, 0.1),
            red: None,
            others: Colour::Red,
            w_q: 0.002,
            mean_packet: Size(1000),
            gentle: false,
            wait: true,
            rate: None,
        }
    }
}

impl Params for RioParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        params::check_packet_size("mean_packet", self.mean_packet)?;
        check_weight(self.w_q)?;
        for (key, t) in [("green", Some(&self.green)), ("yellow", Some(&self.yellow)), ("red", self.red.as_ref())] {
            let Some(t) = t else { continue };
            let in_packets = |l| Measure::Packets.threshold(l, self.mean_packet);
            let (min, max) = (in_packets(t.min_th), in_packets(t.max_th));
            let th = Limits { min, max, unit: Measure::Packets.unit() };
            check_common(th, t.max_p, self.rate).map_err(|e| e.under(key))?;
        }
        Ok(())
    }
}

impl RioParams {
    fn setup(&self) -> Setup {
        Setup { admission: Admission::Overshoot, ..Setup::fits(self.limit, self.ecn) }
    }

    fn law(&self, t: &Thresholds, rate: BitRate) -> ColourLaw {
        let packets = |l| Measure::Packets.threshold(l, self.mean_packet);
        if self.profile == Profile::Ns2Diffserv {
            return ColourLaw::DsRed(DsRed::new(dsred::Profile {
                min_th: packets(t.min_th),
                max_th: packets(t.max_th),
                max_p: t.max_p,
                w_q: self.w_q,
                packets_per_s: rate.as_f64() / (8.0 * self.mean_packet.0 as f64),
            }));
        }
        let p = Ns2Params {
            limit: self.limit,
            min_th: Some(t.min_th),
            max_th: Some(t.max_th),
            max_p: t.max_p,
            measure: Measure::Packets,
            drop_by: Measure::Packets,
            mean_packet: self.mean_packet,
            w_q: Weight::Value(self.w_q),
            gentle: self.gentle,
            wait: self.wait,
            mark_p: 1.0,
            ..Ns2Params::default()
        };
        ColourLaw::Red(Box::new(Ns2::new(p, LinkFacts { rate, delay: Dur::ZERO })))
    }
}

/// The law of one colour.
enum ColourLaw {
    Red(Box<Ns2>),
    DsRed(DsRed),
}

impl ColourLaw {
    fn observe(&mut self, a: &Arrival) {
        match self {
            ColourLaw::Red(law) => law.observe(a),
            ColourLaw::DsRed(law) => law.observe(a),
        }
    }
    fn decide(&mut self, a: &Arrival, rng: &mut Rng) -> Verdict {
        match self {
            ColourLaw::Red(law) => law.decide(a, rng),
            ColourLaw::DsRed(law) => law.decide(rng),
        }
    }
    fn emptied(&mut self, now: Time, last_len: u32) {
        match self {
            ColourLaw::Red(law) => law.emptied(now, last_len),
            ColourLaw::DsRed(law) if last_len > 0 => law.emptied(now),
            ColourLaw::DsRed(_) => {}
        }
    }
    fn avg_packets(&self, mean_packet: f64) -> f64 {
        match self {
            ColourLaw::Red(law) => law.avg_bytes() / mean_packet,
            ColourLaw::DsRed(law) => law.avg_packets(),
        }
    }
}

/// What has become of the packets of one colour.
#[derive(Clone, Copy, Default, Debug)]
struct Count {
    arrived: u64,
    early: u64,
    full: u64,
}

/// Names of [`Count`]'s fields in the table of links, by colour.
const NAMES: [[&str; 3]; 3] = [
    ["green_arrived_packets", "green_early_drops_packets", "green_full_drops_packets"],
    ["yellow_arrived_packets", "yellow_early_drops_packets", "yellow_full_drops_packets"],
    ["red_arrived_packets", "red_early_drops_packets", "red_full_drops_packets"],
];
const AVERAGES: [&str; 3] = ["green_avg_packets", "yellow_avg_packets", "red_avg_packets"];

/// Laws of all colours, and what they count.
pub struct Colours {
    params: Box<RioParams>,
    rate: BitRate,
    average: Average,
    profile: Profile,
    others: Colour,
    mean_packet: f64,
    laws: Vec<ColourLaw>,
    /// The colour that arrives, and those of the packets that wait.
    arriving: usize,
    waiting: VecDeque<u8>,
    held: [Backlog; 3],
    counts: [Count; 3],
}

/// A queue that treats colours differently.
pub type Rio = AqmQueue<Colours>;

impl Rio {
    pub fn new(p: RioParams, rate: BitRate, rng: Rng) -> Rio {
        let setup = p.setup();
        AqmQueue::around(Colours::new(p, rate), setup, rng)
    }
}

impl Colours {
    fn new(p: RioParams, rate: BitRate) -> Colours {
        let thresholds = [Some(p.green), Some(p.yellow), p.red];
        Colours {
            rate,
            average: p.average,
            profile: p.profile,
            others: p.others,
            mean_packet: p.mean_packet.0 as f64,
            laws: thresholds.iter().flatten().map(|t| p.law(t, rate)).collect(),
            arriving: 0,
            waiting: VecDeque::new(),
            held: [Backlog::default(); 3],
            counts: [Count::default(); 3],
            params: Box::new(p),
        }
    }

    /// Laws for other parameters, with the averages of the present ones.
    fn relearn(&mut self, new: RioParams) -> Result<(), ConfigError> {
        if (new.profile, new.red.is_some()) != (self.profile, self.params.red.is_some()) {
            return Err(ConfigError::new(
                "red",
                "another number or kind of laws",
                "the colours and the profile as they are",
            ));
        }
        self.rate = new.rate.unwrap_or(self.rate);
        let thresholds = [Some(new.green), Some(new.yellow), new.red];
        for (law, t) in self.laws.iter_mut().zip(thresholds.iter().flatten()) {
            match (law, new.law(t, self.rate)) {
                (ColourLaw::Red(law), ColourLaw::Red(fresh)) => law.continue_as(*fresh),
                (ColourLaw::DsRed(law), ColourLaw::DsRed(fresh)) => law.continue_as(fresh),
                _ => unreachable!("one profile has one kind of law"),
            }
        }
        (self.average, self.others) = (new.average, new.others);
        self.mean_packet = new.mean_packet.0 as f64;
        *self.params = new;
        Ok(())
    }

    /// What the average of a colour counts.
    fn counted(&self, of: usize) -> Backlog {
        let mut sum = Backlog::default();
        for (c, held) in self.held.iter().enumerate().filter(|(c, _)| self.average.counts(*c, of)) {
            debug_assert!(held.packets == 0 || c < self.laws.len(), "a colour without a law counts as a better one");
            sum.bytes += held.bytes;
            sum.packets += held.packets;
        }
        sum
    }

    /// Moves every average that counts this arrival, then asks its own law.
    fn decide(&mut self, all: &Arrival, draws: &mut Rng) -> Verdict {
        let c = self.arriving;
        for i in (0..self.laws.len()).filter(|i| self.average.counts(c, *i)) {
            let a = Arrival { backlog: self.counted(i), ..*all };
            self.laws[i].observe(&a);
        }
        let own = Arrival { backlog: self.counted(c), ..*all };
        self.laws[c].decide(&own, draws)
    }

    /// Tells laws whose packets are all gone.
    fn rest(&mut self, c: usize, now: Time, last_len: u32) {
        for i in 0..self.laws.len() {
            if self.average.counts(c, i) && self.counted(i).packets == 0 {
                self.laws[i].emptied(now, last_len);
            }
        }
    }
}

impl Aqm for Colours {
    type Draws = Rng;

    fn on_enqueue(&mut self, a: &Arrival, q: &mut Lent<'_, '_, Rng>) -> Verdict {
        let colour = q.arriving().dscp().colour().unwrap_or(self.others);
        self.arriving = (colour as usize).min(self.laws.len() - 1);
        self.counts[self.arriving].arrived += 1;
        let fits = q.fits(a);
        if self.profile == Profile::Ns2Diffserv && !fits {
            return Verdict::Pass;
        }
        match self.decide(a, q.draws) {
            // No packet is marked and dropped.
            Verdict::Signal(why) if !fits => Verdict::Drop(why),
            verdict => verdict,
        }
    }
    fn on_admitted(&mut self, a: &Arrival) {
        let c = self.arriving;
        self.waiting.push_back(c as u8);
        self.held[c].bytes += u64::from(a.len);
        self.held[c].packets += 1;
        for (i, law) in self.laws.iter_mut().enumerate() {
            if let ColourLaw::DsRed(law) = law
                && self.average.counts(c, i)
            {
                law.admitted();
            }
        }
    }
    fn on_refused(&mut self, a: &Arrival, why: DropReason) {
        let c = self.arriving;
        let is_full = why == DropReason::QueueFull;
        if is_full && let ColourLaw::Red(law) = &mut self.laws[c] {
            law.overflowed();
        }
        let n = if is_full { &mut self.counts[c].full } else { &mut self.counts[c].early };
        *n += 1;
        self.rest(c, a.now, 0);
    }
    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, Rng>) -> Option<Head> {
        let head = q.pop()?;
        let c = self.waiting.pop_front().expect("every packet has a colour") as usize;
        self.held[c].bytes -= u64::from(head.len);
        self.held[c].packets -= 1;
        self.rest(c, q.now(), head.len);
        Some(head)
    }
    /// A new limit counts for what arrives from then on.
    fn victim(&mut self, _why: Excess, _q: &mut Lent<'_, '_, Rng>) -> Victim {
        Victim::Nobody
    }
    /// Averages stay.
    fn change(&mut self, new: &Setting, _q: &mut Lent<'_, '_, Rng>) -> Result<Setup, ConfigError> {
        self.relearn(new.get())?;
        Ok(self.params.setup())
    }
    fn read_change(&self, set: &Map<String, Value>, _setup: &Setup) -> Result<Setting, ConfigError> {
        params::setting(&*self.params, set)
    }
    fn decides_on_arrival(&self) -> bool {
        true
    }
    /// Colours are known in the order of arrival only.
    fn removal(&self) -> Removal {
        Removal::Impossible
    }
    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        for (law, name) in self.laws.iter().zip(AVERAGES) {
            out(name, law.avg_packets(self.mean_packet));
        }
    }
    fn report(&self, out: &mut dyn Metrics) {
        for (n, [arrived, early, full]) in self.counts.iter().zip(NAMES) {
            out.value(arrived, n.arrived as f64);
            out.value(early, n.early as f64);
            out.value(full, n.full as f64);
        }
    }
}
