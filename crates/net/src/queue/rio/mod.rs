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

use super::red::ns2::{LinkFacts, Ns2, Ns2Params, Weight};
use super::red::{Arrival, EcnMode, Law, Limits, Measure, Verdict, check_common, check_weight};
use super::store::{Admission, Fifo};
use super::{Backlog, Head, QueueDisc};
use crate::params::{self, Params};
use crosswind_base::{BitRate, Colour, ConfigError, Cx, DropReason, Dur, Limit, Metrics, PacketId, Rng, Size, Time};
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
    /// Average below which no packet of this colour is picked.
    pub min_th: Limit,
    /// Average from which every packet of this colour is picked.
    pub max_th: Limit,
    /// Probability of being picked just below `max_th`.
    pub max_p: f64,
}

/// Parameters of RIO.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RioParams {
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// Whether picked ECN-capable packets are marked or dropped.
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

/// A queue that treats colours differently.
pub struct Rio {
    params: Box<RioParams>,
    rate: BitRate,
    limit: Limit,
    ecn: EcnMode,
    average: Average,
    profile: Profile,
    others: Colour,
    mean_packet: f64,
    laws: Vec<ColourLaw>,
    store: Fifo,
    /// Colours of the packets in `store`.
    colours: VecDeque<u8>,
    held: [Backlog; 3],
    counts: [Count; 3],
    rng: Rng,
}

impl Rio {
    pub fn new(p: RioParams, rate: BitRate, rng: Rng) -> Rio {
        let thresholds = [Some(p.green), Some(p.yellow), p.red];
        Rio {
            rate,
            limit: p.limit,
            ecn: p.ecn,
            average: p.average,
            profile: p.profile,
            others: p.others,
            mean_packet: p.mean_packet.0 as f64,
            laws: thresholds.iter().flatten().map(|t| p.law(t, rate)).collect(),
            store: Fifo::new(),
            colours: VecDeque::new(),
            held: [Backlog::default(); 3],
            counts: [Count::default(); 3],
            rng,
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
        (self.limit, self.ecn, self.average, self.others) = (new.limit, new.ecn, new.average, new.others);
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

    fn admits(&self, len: u32) -> bool {
        Admission::Overshoot.admits(self.store.backlog(), len, self.limit)
    }

    fn refuse(&mut self, id: PacketId, c: usize, why: DropReason, cx: &mut Cx<'_>) {
        let n = if why == DropReason::QueueFull { &mut self.counts[c].full } else { &mut self.counts[c].early };
        *n += 1;
        cx.drop(id, why);
    }

    /// Moves every average that counts this arrival, then asks its own law.
    fn judge(&mut self, c: usize, len: u32, now: Time) -> Verdict {
        for i in (0..self.laws.len()).filter(|i| self.average.counts(c, *i)) {
            let a = Arrival { backlog: self.counted(i), len, now };
            self.laws[i].observe(&a);
        }
        let own = Arrival { backlog: self.counted(c), len, now };
        self.laws[c].decide(&own, &mut self.rng)
    }

    /// Tells laws whose packets are all gone.
    fn rest(&mut self, c: usize, now: Time, last_len: u32) {
        for i in 0..self.laws.len() {
            if self.average.counts(c, i) && self.counted(i).packets == 0 {
                self.laws[i].emptied(now, last_len);
            }
        }
    }

    fn push(&mut self, id: PacketId, c: usize, len: u32, now: Time) {
        self.store.push(id, len, now);
        self.colours.push_back(c as u8);
        self.held[c].bytes += u64::from(len);
        self.held[c].packets += 1;
        for (i, law) in self.laws.iter_mut().enumerate() {
            if let ColourLaw::DsRed(law) = law
                && self.average.counts(c, i)
            {
                law.admitted();
            }
        }
    }
}

impl QueueDisc for Rio {
    fn enqueue(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let p = cx.packet(id);
        let (len, is_capable) = (u32::from(p.len), p.ecn().is_capable());
        let c = (p.dscp().colour().unwrap_or(self.others) as usize).min(self.laws.len() - 1);
        self.counts[c].arrived += 1;
        if self.profile == Profile::Ns2Diffserv && !self.admits(len) {
            return self.refuse(id, c, DropReason::QueueFull, cx);
        }
        match self.judge(c, len, cx.now) {
            Verdict::Signal(_) if is_capable && self.ecn == EcnMode::Mark && self.admits(len) => cx.mark(id),
            Verdict::Signal(why) | Verdict::Drop(why) => {
                self.refuse(id, c, why, cx);
                return self.rest(c, cx.now, 0);
            }
            Verdict::Pass => {}
        }
        if self.admits(len) {
            self.push(id, c, len, cx.now);
        } else {
            if let ColourLaw::Red(law) = &mut self.laws[c] {
                law.overflowed();
            }
            self.refuse(id, c, DropReason::QueueFull, cx);
        }
        self.rest(c, cx.now, 0);
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Head> {
        let head = self.store.pop()?;
        let c = self.colours.pop_front().expect("every packet has a colour") as usize;
        self.held[c].bytes -= u64::from(head.len);
        self.held[c].packets -= 1;
        self.rest(c, cx.now, head.len);
        Some(head)
    }

    /// Averages stay. A new limit counts for what arrives from then on.
    fn change(&mut self, set: &Map<String, Value>, _cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.relearn(params::merged(&*self.params, set)?)
    }
    fn peek(&self) -> Option<Head> {
        self.store.front()
    }
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
    fn decides_on_arrival(&self) -> bool {
        true
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
