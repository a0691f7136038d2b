//! # SFB
//!
//! **Source**: linux-sch-sfb; feng-2001-sfb (stochastic fair BLUE).
//!
//! **Idea**: BLUE for each flow without state for each flow. A hash leads a packet to one of 16 bins in each of eight levels. A bin that
//! is empty when a packet comes lowers its probability, one that holds `bin_size` packets raises it; the flow is selected with the lowest
//! probability of its eight bins. Only a flow that does not listen drives all eight to the end; it gets a burst of `penalty_burst` packets,
//! and new ones only when none of them has come for `1 / penalty_rate`: each one refused starts that wait anew.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | bytes or packets | 1000 packets | linux-sch-sfb: the length of the device's queue |
//! | `max` | packets | 25 | linux-sch-sfb: a flow whose smallest bin holds as many is refused |
//! | `bin_size` | packets | 20 | linux-sch-sfb: what a bin may hold before its probability grows |
//! | `increment` | 1/65535 | 66 | linux-sch-sfb: a thousandth |
//! | `decrement` | 1/65535 | 11 | linux-sch-sfb: a sixth of it |
//! | `penalty_rate` | packets/s | 10 | linux-sch-sfb |
//! | `penalty_burst` | packets | 20 | linux-sch-sfb |
//! | `rehash` | time | 600 s | linux-sch-sfb: after this the flows are spread anew |
//! | `warmup` | time | 60 s | linux-sch-sfb: so long before it the new bins learn beside the old |
//! | `ecn` | - | mark | linux-sch-sfb: it always marks what it can |
//!
//! **Deviations**: 1. Times are exact to the nanosecond; the kernel counts jiffies. 2. Hash and random numbers are not the kernel's.
//! 3. The queue inside is a FIFO: another one cannot be put there.
//!
//! **Checked by**: oracle `sfb` on random traces, hash included; steps of probabilities and penalties in `crates/testkit/tests/sfb.rs`;
//! conformance suite.

use super::Head;
use super::aqm::{Aqm, AqmQueue, Arrival, EcnMode, Excess, Lent, Setup, Verdict, Victim};
use crate::params::{self, Params};
use crosswind_base::{ConfigError, DropReason, Dur, Limit, Metrics, Packet, Rng, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::VecDeque;

const LEVELS: usize = 8;
const BINS: usize = 16;
const P_MAX: u16 = u16::MAX;
/// The kernel saves no more time than this for the packets of a penalty.
const PENALTY_AGE_MAX: Dur = Dur::from_secs(10);

/// Parameters of SFB.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SfbParams {
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// A packet whose smallest bin holds as many is refused.
    pub max: u32,
    /// With so many packets in a bin its probability grows.
    pub bin_size: u32,
    /// By how much it grows, of 65535.
    pub increment: u16,
    /// By how much it falls when a packet finds the bin empty, of 65535.
    pub decrement: u16,
    /// Packets a second for the flows that do not listen, together.
    pub penalty_rate: u32,
    /// As many of them may come at once.
    pub penalty_burst: u32,
    /// How long a hash is in use; 0: for ever.
    pub rehash: Dur,
    /// For how long before its time the next hash learns.
    pub warmup: Dur,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
}

impl Default for SfbParams {
    fn default() -> Self {
        SfbParams {
            limit: Limit::Packets(1000),
            max: 25,
            bin_size: 20,
            increment: 66,
            decrement: 11,
            penalty_rate: 10,
            penalty_burst: 20,
            rehash: Dur::from_secs(600),
            warmup: Dur::from_secs(60),
            ecn: EcnMode::Mark,
        }
    }
}

impl Params for SfbParams {
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        for (key, n) in [("max", self.max), ("bin_size", self.bin_size)] {
            if !(1..=u32::from(u16::MAX)).contains(&n) {
                return Err(ConfigError::new(key, n.to_string(), "from 1 to 65535 packets"));
            }
        }
        params::check_delay("rehash", self.rehash)?;
        params::check_delay("warmup", self.warmup)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    packets: u16,
    p: u16,
}

/// One hash and its bins.
#[derive(Clone, Debug)]
struct Table {
    salt: u64,
    bins: [[Bin; BINS]; LEVELS],
}

/// Spreads keys over 64 bits (the finaliser of SplitMix64).
fn mix(key: u64) -> u64 {
    let z = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The bins of a flow, four bits for each level; never 0, which stands for no hash at all.
pub fn hash_of(salt: u64, p: &Packet) -> u32 {
    let key = u64::from(p.flow.0) << 1 | u64::from(p.meta.is_reverse());
    ((mix(key ^ salt) >> 32) as u32).max(1)
}

impl Table {
    fn new(salt: u64) -> Table {
        Table { salt, bins: [[Bin::default(); BINS]; LEVELS] }
    }
    fn of(&mut self, hash: u32) -> impl Iterator<Item = &mut Bin> {
        self.bins.iter_mut().enumerate().map(move |(level, bins)| &mut bins[(hash >> (4 * level)) as usize % BINS])
    }
    /// The bins hear of an arrival; the fewest packets and the lowest probability among them.
    fn hear(&mut self, hash: u32, params: &SfbParams) -> (u16, u16) {
        let mut least = (u16::MAX, P_MAX);
        for b in self.of(hash) {
            if b.packets == 0 {
                b.p = b.p.saturating_sub(params.decrement);
            } else if u32::from(b.packets) >= params.bin_size {
                b.p = b.p.saturating_add(params.increment);
            }
            least = (least.0.min(b.packets), least.1.min(b.p));
        }
        least
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Sfb {
    params: SfbParams,
    tables: [Table; 2],
    /// Which of the two is in use.
    current: usize,
    /// The other one learns.
    is_learning: bool,
    hashed_at: Time,
    salts: Rng,
    tokens: u64,
    tokens_at: Time,
    /// In both tables, of what waits; 0: in none.
    waiting: VecDeque<[u32; 2]>,
    arriving: [u32; 2],
    bucket_drops_packets: u64,
    penalty_drops_packets: u64,
}

impl Sfb {
    pub fn new(params: SfbParams, mut salts: Rng) -> Sfb {
        Sfb {
            tables: [Table::new(salts.bits()), Table::new(salts.bits())],
            current: 0,
            is_learning: false,
            hashed_at: Time::ZERO,
            salts,
            tokens: u64::from(params.penalty_burst),
            tokens_at: Time::ZERO,
            waiting: VecDeque::new(),
            arriving: [0; 2],
            bucket_drops_packets: 0,
            penalty_drops_packets: 0,
            params,
        }
    }

    /// The lowest probability of a flow's bins, of 65535.
    pub fn p_of(&mut self, p: &Packet) -> u16 {
        let table = &mut self.tables[self.current];
        let hash = hash_of(table.salt, p);
        table.of(hash).map(|b| b.p).min().unwrap_or(0)
    }

    /// Whether its time is over, and the other table's has come; or whether that one shall learn.
    fn rehash(&mut self, now: Time) {
        if self.params.rehash == Dur::ZERO {
            return;
        }
        let end = self.hashed_at + self.params.rehash;
        if now > end {
            self.tables[self.current].salt = self.salts.bits();
            self.current ^= 1;
            self.is_learning = false;
            self.hashed_at = now;
        } else if self.params.warmup > Dur::ZERO && now + self.params.warmup > end {
            self.is_learning = true;
        }
    }

    /// One of the few packets that flows which do not listen may send.
    fn spends_a_token(&mut self, now: Time) -> bool {
        let (rate, burst) = (u64::from(self.params.penalty_rate), u64::from(self.params.penalty_burst));
        if rate == 0 || burst == 0 {
            return false;
        }
        if self.tokens == 0 {
            let age = now.since(self.tokens_at).min(PENALTY_AGE_MAX);
            self.tokens = (age.0 * rate / 1_000_000_000).min(burst);
            self.tokens_at = now;
        }
        let has_one = self.tokens > 0;
        self.tokens -= u64::from(has_one);
        has_one
    }

    /// The packets of these bins are one less.
    fn leaves(&mut self, hashes: [u32; 2]) {
        for (table, hash) in self.tables.iter_mut().zip(hashes).filter(|(_, hash)| *hash != 0) {
            table.of(hash).for_each(|b| b.packets = b.packets.saturating_sub(1));
        }
    }

    fn verdict(&mut self, p: &Packet, now: Time, draw: u16) -> Verdict {
        // As in the kernel, the packet at which the tables change places is still counted in the old one.
        let current = self.current;
        self.rehash(now);
        let hash = hash_of(self.tables[current].salt, p);
        let (fewest, p_min) = self.tables[current].hear(hash, &self.params);
        self.arriving[current] = hash;
        self.arriving[current ^ 1] = 0;
        if u32::from(fewest) >= self.params.max {
            self.bucket_drops_packets += 1;
            return Verdict::Drop(DropReason::ForcedDrop);
        }
        if p_min == P_MAX {
            if self.is_learning {
                let other = &mut self.tables[current ^ 1];
                let hash = hash_of(other.salt, p);
                other.hear(hash, &self.params);
                self.arriving[current ^ 1] = hash;
            }
            if self.spends_a_token(now) {
                return Verdict::Pass;
            }
            self.penalty_drops_packets += 1;
            return Verdict::Drop(DropReason::ForcedDrop);
        }
        if draw >= p_min {
            return Verdict::Pass;
        }
        // So much has to be selected that marks alone do not do.
        let half = u32::from(P_MAX / 2);
        if u32::from(draw) < 2 * u32::from(p_min).saturating_sub(half) {
            return Verdict::Drop(DropReason::EarlyDrop);
        }
        Verdict::Signal(DropReason::EarlyDrop)
    }
}

impl Aqm for Sfb {
    type Draws = Rng;

    fn on_enqueue(&mut self, a: &Arrival, q: &mut Lent<'_, '_, Rng>) -> Verdict {
        if !q.fits(a) {
            return Verdict::Drop(DropReason::QueueFull);
        }
        let draw = (q.draws.bits() >> 48) as u16;
        let p = *q.arriving();
        self.verdict(&p, a.now, draw)
    }
    fn on_admitted(&mut self, _a: &Arrival) {
        let hashes = self.arriving;
        for (table, hash) in self.tables.iter_mut().zip(hashes).filter(|(_, hash)| *hash != 0) {
            table.of(hash).for_each(|b| b.packets = b.packets.saturating_add(1));
        }
        self.waiting.push_back(hashes);
    }
    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, Rng>) -> Option<Head> {
        let head = q.pop()?;
        if let Some(hashes) = self.waiting.pop_front() {
            self.leaves(hashes);
        }
        Some(head)
    }
    /// Only when the limit has become smaller: the last one goes.
    fn victim(&mut self, why: Excess, _q: &mut Lent<'_, '_, Rng>) -> Victim {
        if why == Excess::Change
            && let Some(hashes) = self.waiting.pop_back()
        {
            self.leaves(hashes);
        }
        Victim::Newest
    }
    fn decides_on_arrival(&self) -> bool {
        true
    }
    fn on_taken_out(&mut self, place: usize) {
        if let Some(hashes) = self.waiting.remove(place) {
            self.leaves(hashes);
        }
    }
    fn change(&mut self, new: &Setting, _q: &mut Lent<'_, '_, Rng>) -> Result<Setup, ConfigError> {
        self.params = new.get();
        Ok(Setup::fits(self.params.limit, self.params.ecn))
    }
    fn read_change(&self, set: &Map<String, Value>, _setup: &Setup) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        let highest = self.tables[self.current].bins.iter().flatten().map(|b| b.p).max().unwrap_or(0);
        out("aqm_p_ratio", f64::from(highest) / f64::from(P_MAX));
    }
    fn report(&self, out: &mut dyn Metrics) {
        out.value("bucket_drops_packets", self.bucket_drops_packets as f64);
        out.value("penalty_drops_packets", self.penalty_drops_packets as f64);
    }
}

/// A queue with SFB.
pub fn queue(p: SfbParams, [salts, draws]: [Rng; 2]) -> AqmQueue<Sfb> {
    let setup = Setup::fits(p.limit, p.ecn);
    AqmQueue::around(Sfb::new(p, salts), setup, draws)
}
