//! # CoDel
//!
//! **Source**: rfc8289 sections 4.2, 4.3, 5.5 and 5.6; linux-sch-codel (profile `linux`).
//!
//! **Idea**: a queue that has kept every packet longer than `target` for a whole `interval` is a standing queue, not a burst. Then
//! the packet at the head is marked or dropped, and the next one `interval / sqrt(count)` later, `count` growing, until a packet
//! has waited less than `target`, or no more than `mtu` bytes are left. A queue that stands again within 16 intervals goes on at
//! about the rate at which it had stopped.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `profile` | - | rfc8289 | real numbers; `linux` computes as the kernel, in whole units of 1024 ns and with a root of 16 bits that one Newton step refines |
//! | `limit` | bytes or packets | 1000 packets | linux-sch-codel; the law has none |
//! | `target` | time | 5 ms | rfc8289 section 4.3; at least the time of one packet on the link |
//! | `interval` | time | 100 ms | rfc8289 section 4.2: about the longest round trip of the path |
//! | `mtu` | bytes | 1500 B (`rfc8289`), 1514 B (`linux`) | the packet of an Ethernet; the kernel counts its header |
//! | `ecn` | - | mark (`rfc8289`), drop (`linux`) | rfc8289 section 3.3; `tc` marks when it is told to |
//! | `ce_threshold` | time | none | `linux` only: every ECN-capable packet that waited longer is marked |
//! | `ce_threshold_mask` | - | 0 | `linux` only: 0 means all packets, else those whose DS byte under the mask is the selector (3 and 1: ECT(1)) |
//! | `ce_threshold_selector` | - | 0 | the same |
//!
//! **Deviations**: 1. The kernel's cap on the drops of one call (256, from 2026 on) is absent: a call ends when the schedule is
//! met. 2. Lengths are those of IP packets, so `linux` spares 14 B more than a kernel whose packets have Ethernet headers. 3. A
//! packet that finds queue and link empty is taken for one that did not wait, as the kernel's would be.
//!
//! **Checked by**: oracle `codel` on random traces, both profiles; drop times and roots of `crates/testkit/tests/codel.rs`;
//! conformance suite.

use super::Head;
use super::aqm::{Aqm, AqmQueue, EcnMode, Lent, Setup};
use crate::params::{self, Params};
use crate::switch::Switch;
use crosswind_base::{ConfigError, DropReason, Dur, Limit, Metrics, Setting, Size, Time, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How it computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// As the RFC is written, in real numbers.
    #[default]
    Rfc8289,
    /// As the kernel, in whole numbers.
    Linux,
}

/// Parameters of CoDel.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CodelParams {
    /// How it computes.
    pub profile: Profile,
    /// How much the queue holds, in bytes or packets.
    pub limit: Limit,
    /// A wait that may last.
    pub target: Dur,
    /// For how long every packet must have waited longer before one is selected.
    pub interval: Dur,
    /// With no more bytes than this left in the queue no packet is selected.
    pub mtu: Size,
    /// Whether selected ECN-capable packets are marked or dropped.
    pub ecn: EcnMode,
    /// Every ECN-capable packet that has waited longer is marked, or "none".
    pub ce_threshold: Switch<Dur>,
    /// The bits of the DS byte that choose the packets for `ce_threshold`; 0: all.
    pub ce_threshold_mask: u8,
    /// What these bits are in the packets that are chosen.
    pub ce_threshold_selector: u8,
}

impl Default for CodelParams {
    fn default() -> Self {
        CodelParams {
            profile: Profile::Rfc8289,
            limit: Limit::Packets(1000),
            target: Dur::from_millis(5),
            interval: Dur::from_millis(100),
            mtu: Size(1500),
            ecn: EcnMode::Mark,
            ce_threshold: Switch::Off,
            ce_threshold_mask: 0,
            ce_threshold_selector: 0,
        }
    }
}

impl Params for CodelParams {
    fn fill(written: &mut Map<String, Value>) {
        if written.get("profile").is_some_and(|p| p == "linux") {
            written.entry("mtu").or_insert_with(|| "1514 B".into());
            written.entry("ecn").or_insert_with(|| "drop".into());
        }
    }
    fn check(&self) -> Result<(), ConfigError> {
        params::check_limit("limit", self.limit)?;
        self.law().check()?;
        if self.profile == Profile::Rfc8289 && !self.ce_threshold.is_off() {
            let found = self.ce_threshold.as_ref().map_or_else(String::new, |d| units::show_dur(*d));
            return Err(ConfigError::new(
                "ce_threshold",
                found,
                "none with the profile `rfc8289`, which has no such mark",
            )
            .hint("profile = \"linux\" has it"));
        }
        Ok(())
    }
}

impl CodelParams {
    fn of(law: &CodelLaw, setup: &Setup) -> CodelParams {
        CodelParams {
            profile: law.profile,
            limit: setup.limit,
            target: law.target,
            interval: law.interval,
            mtu: law.mtu,
            ecn: setup.ecn,
            ce_threshold: law.threshold.above.map_or(Switch::Off, Switch::On),
            ce_threshold_mask: law.threshold.mask,
            ce_threshold_selector: law.threshold.selector,
        }
    }
    fn setup(&self) -> Setup {
        Setup::fits(self.limit, self.ecn)
    }
    fn law(&self) -> CodelLaw {
        CodelLaw {
            profile: self.profile,
            target: self.target,
            interval: self.interval,
            mtu: self.mtu,
            threshold: CeThreshold {
                above: self.ce_threshold.as_ref().copied(),
                mask: self.ce_threshold_mask,
                selector: self.ce_threshold_selector,
            },
        }
    }
}

/// Which packets are marked although the law has not selected them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CeThreshold {
    pub above: Option<Dur>,
    pub mask: u8,
    pub selector: u8,
}

/// What the law goes by, in a queue of its own or in one of many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelLaw {
    pub profile: Profile,
    pub target: Dur,
    pub interval: Dur,
    pub mtu: Size,
    pub threshold: CeThreshold,
}

impl CodelLaw {
    /// Spans that the law can work with. Whole units of the kernel wrap around after 73 minutes, and are compared by their sign.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (key, span) in [("target", self.target), ("interval", self.interval)] {
            if !(Dur::from_micros(2)..=Dur::from_secs(100)).contains(&span) {
                return Err(ConfigError::new(key, units::show_dur(span), "from 2 us to 100 s"));
            }
        }
        params::check_delay("ce_threshold", self.threshold.above.unwrap_or_default())?;
        params::check_packet_size("mtu", self.mtu)
    }
}

/// What the law remembers.
#[derive(Clone, Debug)]
enum State {
    Rfc(Rfc),
    Linux(Linux),
}

/// The law.
#[derive(Clone, Debug)]
pub struct Codel {
    law: CodelLaw,
    state: State,
    /// The wait of the packet that left last.
    sojourn: Dur,
    threshold_marks_packets: u64,
}

impl Codel {
    pub fn new(law: CodelLaw) -> Codel {
        let state = match law.profile {
            Profile::Rfc8289 => State::Rfc(Rfc::default()),
            Profile::Linux => State::Linux(Linux::default()),
        };
        Codel { law, state, sojourn: Dur::ZERO, threshold_marks_packets: 0 }
    }

    /// Another law with the same past; the profile stays.
    pub fn continue_as(&mut self, law: CodelLaw) -> Result<(), ConfigError> {
        if law.profile != self.law.profile {
            return Err(ConfigError::new("profile", "another profile", "the profile as it is"));
        }
        self.law = law;
        Ok(())
    }

    /// Packets that it has selected since it began to, and when it will pick the next one.
    pub fn schedule(&self) -> (u32, Time) {
        match &self.state {
            State::Rfc(s) => (s.count, s.drop_next),
            State::Linux(s) => (s.count, Time(u64::from(s.drop_next) << UNIT_LOG)),
        }
    }

    /// Marks what has waited too long for its kind.
    fn mark_above_threshold(&mut self, head: &Head, q: &mut Lent<'_, '_, ()>) {
        let CeThreshold { above: Some(above), mask, selector } = self.law.threshold else { return };
        let is_longer = match self.state {
            State::Rfc(_) => self.sojourn > above,
            State::Linux(_) => is_after(units_between(head.since, q.now()), units_of(above)),
        };
        let is_chosen = mask == 0 || q.packet(head).ds.0 & mask == selector;
        if is_longer && is_chosen && q.mark_if_capable(head) {
            self.threshold_marks_packets += 1;
        }
    }
}

impl Aqm for Codel {
    type Draws = ();

    fn on_dequeue(&mut self, q: &mut Lent<'_, '_, ()>) -> Option<Head> {
        let head = match &mut self.state {
            State::Rfc(s) => s.dequeue(&self.law, q),
            State::Linux(s) => s.dequeue(&self.law, q),
        }?;
        self.sojourn = q.now().since(head.since);
        self.mark_above_threshold(&head, q);
        Some(head)
    }
    fn on_cut(&mut self, packets: u32, _now: Time) {
        let count = match &mut self.state {
            State::Rfc(s) => &mut s.count,
            State::Linux(s) => &mut s.count,
        };
        *count = count.wrapping_add(packets);
    }
    fn change(&mut self, new: &Setting, _q: &mut Lent<'_, '_, ()>) -> Result<Setup, ConfigError> {
        let new: CodelParams = new.get();
        self.continue_as(new.law())?;
        Ok(new.setup())
    }
    fn read_change(&self, set: &Map<String, Value>, setup: &Setup) -> Result<Setting, ConfigError> {
        params::setting(&CodelParams::of(&self.law, setup), set)
    }
    /// As `dequeue` leaves the law after a packet that did not wait.
    fn may_pass(&mut self) -> bool {
        match &mut self.state {
            State::Rfc(s) => (s.first_above, s.is_dropping) = (None, false),
            State::Linux(s) => (s.first_above, s.is_dropping) = (0, false),
        }
        self.sojourn = Dur::ZERO;
        true
    }
    fn gives_oldest(&self) -> bool {
        false
    }
    fn sample(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        out("codel_sojourn_ns", self.sojourn.0 as f64);
        out("codel_count_packets", f64::from(self.schedule().0));
    }
    fn report(&self, out: &mut dyn Metrics) {
        out.value("threshold_marks_packets", self.threshold_marks_packets as f64);
    }
}

/// What the pseudo-code remembers.
#[derive(Clone, Debug, Default)]
struct Rfc {
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    is_dropping: bool,
}

impl Rfc {
    /// The next packet, and whether it may be dropped.
    #[inline]
    fn take(&mut self, law: &CodelLaw, q: &mut Lent<'_, '_, ()>) -> (Option<Head>, bool) {
        let (now, head) = (q.now(), q.pop());
        let is_below = head.is_none_or(|h| now.since(h.since) < law.target || q.backlog_of_all().bytes <= law.mtu.0);
        if is_below {
            self.first_above = None;
            return (head, false);
        }
        let at = *self.first_above.get_or_insert(now + law.interval);
        (head, now >= at)
    }

    fn next_after(&self, t: Time, law: &CodelLaw) -> Time {
        t + Dur((law.interval.0 as f64 / f64::from(self.count).sqrt()).round() as u64)
    }

    #[inline]
    fn dequeue(&mut self, law: &CodelLaw, q: &mut Lent<'_, '_, ()>) -> Option<Head> {
        let (head, is_ok) = self.take(law, q);
        if self.is_dropping {
            self.is_dropping = is_ok;
            return self.go_on(head, law, q);
        }
        if is_ok { self.begin(head?, law, q) } else { head }
    }

    /// Drops whatever is due by now; a mark ends it.
    fn go_on(&mut self, mut head: Option<Head>, law: &CodelLaw, q: &mut Lent<'_, '_, ()>) -> Option<Head> {
        while self.is_dropping && q.now() >= self.drop_next {
            let marked = q.signal(head?, DropReason::EarlyDrop);
            self.count += 1;
            if marked.is_some() {
                self.drop_next = self.next_after(self.drop_next, law);
                return marked;
            }
            (head, self.is_dropping) = self.take(law, q);
            if self.is_dropping {
                self.drop_next = self.next_after(self.drop_next, law);
            }
        }
        head
    }

    fn begin(&mut self, head: Head, law: &CodelLaw, q: &mut Lent<'_, '_, ()>) -> Option<Head> {
        let head = q.signal(head, DropReason::EarlyDrop).or_else(|| self.take(law, q).0);
        self.is_dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let is_soon = q.now().since(self.drop_next) < law.interval.saturating_mul(16);
        self.count = if delta > 1 && is_soon { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.next_after(q.now(), law);
        head
    }
}

/// A unit of the kernel is 2^10 ns.
const UNIT_LOG: u32 = 10;

fn units_of(d: Dur) -> u32 {
    (d.0 >> UNIT_LOG) as u32
}

fn clock(t: Time) -> u32 {
    (t.0 >> UNIT_LOG) as u32
}

fn units_between(since: Time, now: Time) -> u32 {
    clock(now).wrapping_sub(clock(since))
}

/// In 32 bits that wrap around.
fn is_after(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}

/// What the kernel remembers.
#[derive(Clone, Debug, Default)]
struct Linux {
    /// 0: none.
    first_above: u32,
    drop_next: u32,
    count: u32,
    last_count: u32,
    /// 2^16 / sqrt(count), about.
    root: u16,
    is_dropping: bool,
}

/// One Newton step towards `2^16 / sqrt(count)`.
pub fn newton_step(root: u16, count: u32) -> u16 {
    let root32 = u64::from(root) << 16;
    let square = (root32 * root32) >> 32;
    // A count that others have raised makes this wrap around, as it does in the kernel.
    let rest = (3u64 << 32).wrapping_sub(u64::from(count).wrapping_mul(square)) >> 2;
    (rest.wrapping_mul(root32) >> 31 >> 16) as u16
}

impl Linux {
    #[inline]
    fn take(&mut self, law: &CodelLaw, q: &mut Lent<'_, '_, ()>) -> (Option<Head>, bool) {
        let (now, head) = (clock(q.now()), q.pop());
        let is_below = head.is_none_or(|h| {
            is_after(units_of(law.target), units_between(h.since, q.now())) || q.backlog_of_all().bytes <= law.mtu.0
        });
        if is_below {
            self.first_above = 0;
            return (head, false);
        }
        if self.first_above == 0 {
            self.first_above = now.wrapping_add(units_of(law.interval));
            return (head, false);
        }
        (head, is_after(now, self.first_above))
    }

    fn next_after(&self, t: u32, law: &CodelLaw) -> u32 {
        t.wrapping_add(((u64::from(units_of(law.interval)) * (u64::from(self.root) << 16)) >> 32) as u32)
    }

    #[inline]
    fn dequeue(&mut self, law: &CodelLaw, q: &mut Lent<'_, '_, ()>) -> Option<Head> {
        let (head, is_ok) = self.take(law, q);
        if self.is_dropping {
            self.is_dropping = is_ok;
            return self.go_on(head, law, q);
        }
        if is_ok { self.begin(head?, law, q) } else { head }
    }

    fn go_on(&mut self, mut head: Option<Head>, law: &CodelLaw, q: &mut Lent<'_, '_, ()>) -> Option<Head> {
        let now = clock(q.now());
        while self.is_dropping && !is_after(self.drop_next, now) {
            self.count = self.count.wrapping_add(1);
            self.root = newton_step(self.root, self.count);
            let marked = q.signal(head?, DropReason::EarlyDrop);
            if marked.is_some() {
                self.drop_next = self.next_after(self.drop_next, law);
                return marked;
            }
            (head, self.is_dropping) = self.take(law, q);
            if self.is_dropping {
                self.drop_next = self.next_after(self.drop_next, law);
            }
        }
        head
    }

    fn begin(&mut self, head: Head, law: &CodelLaw, q: &mut Lent<'_, '_, ()>) -> Option<Head> {
        let now = clock(q.now());
        let head = q.signal(head, DropReason::EarlyDrop).or_else(|| self.take(law, q).0);
        self.is_dropping = true;
        let delta = self.count.wrapping_sub(self.last_count);
        let since_last = now.wrapping_sub(self.drop_next);
        if delta > 1 && is_after(units_of(law.interval).wrapping_mul(16), since_last) {
            self.count = delta;
            self.root = newton_step(self.root, self.count);
        } else {
            self.count = 1;
            self.root = u16::MAX;
        }
        self.last_count = self.count;
        self.drop_next = self.next_after(now, law);
        head
    }
}

/// A queue with CoDel.
pub fn queue(p: &CodelParams) -> AqmQueue<Codel> {
    AqmQueue::around(Codel::new(p.law()), p.setup(), ())
}

#[cfg(test)]
mod tests {
    use super::super::store::Fifo;
    use super::*;
    use crosswind_base::{Cx, Ledger, Packet, Pool};

    struct Count(u32);

    impl Ledger for Count {
        fn dropped(&mut self, _stage: u32, _p: &Packet, why: DropReason) {
            assert_eq!(why, DropReason::EarlyDrop);
            self.0 += 1;
        }
        fn marked(&mut self, _stage: u32, _p: &Packet) {}
    }

    /// One call at `now`, with a backlog whose packets have all waited as long. How many were dropped.
    fn drops(codel: &mut Codel, [now, waited]: [u64; 2], len: u16) -> u32 {
        let (mut pool, mut out, mut count, mut store) = (Pool::new(), Vec::new(), Count(0), Fifo::new());
        for _ in 0..8 {
            store.push(pool.insert(Packet { len, ..Packet::default() }), u32::from(len), Time(now - waited));
        }
        let mut cx = Cx::new(Time(now), 0, &mut pool, &mut out, &mut count, None);
        let setup = Setup::fits(Limit::Packets(100), EcnMode::Drop);
        codel.on_dequeue(&mut Lent::new(&setup, &mut store, &mut (), &mut cx)).expect("there is a backlog");
        count.0
    }

    const MS: u64 = 1_000_000;

    fn codel(profile: Profile) -> Codel {
        Codel::new(CodelParams { profile, ..CodelParams::default() }.law())
    }

    /// The count with which it goes on when the law left off at `drop_next` = 5 s and picks again at `at` ms.
    fn count_at_entry(profile: Profile, [count, last_count]: [u32; 2], at_ms: f64) -> u32 {
        let mut c = codel(profile);
        let at = (at_ms * 1e6) as u64;
        match &mut c.state {
            State::Rfc(s) => {
                (s.count, s.last_count, s.drop_next) = (count, last_count, Time(5_000 * MS));
                s.first_above = Some(Time(at - 1));
            }
            State::Linux(s) => {
                (s.count, s.last_count, s.drop_next) = (count, last_count, clock(Time(5_000 * MS)));
                s.first_above = clock(Time(at)) - 1;
            }
        }
        assert_eq!(drops(&mut c, [at, 20 * MS], 1000), 1, "it picks at {at_ms} ms");
        c.schedule().0
    }

    #[test]
    fn a_queue_that_stands_again_within_sixteen_intervals_goes_on_where_it_stopped() {
        for profile in [Profile::Rfc8289, Profile::Linux] {
            let entry = |counts, at| count_at_entry(profile, counts, at);
            assert_eq!((entry([30, 1], 6_500.0), entry([30, 1], 6_700.0)), (29, 1), "{profile:?}");
            assert_eq!(entry([30, 29], 6_500.0), 1, "a difference of one is none");
        }
        // Sixteen intervals exactly are too late.
        assert_eq!(count_at_entry(Profile::Rfc8289, [30, 1], 6_600.0), 1);
        assert_eq!(count_at_entry(Profile::Rfc8289, [30, 1], 6_599.999), 29);
        let units = clock(Time(5_000 * MS)) + 16 * 97_656;
        let at = |units: u32| (u64::from(units) << UNIT_LOG) as f64 / 1e6;
        assert_eq!(count_at_entry(Profile::Linux, [30, 1], at(units)), 1);
        assert_eq!(count_at_entry(Profile::Linux, [30, 1], at(units - 1)), 29);
    }

    #[test]
    fn sojourns_equal_to_the_target_are_above_it() {
        // 4882 units of the kernel are its 5 ms.
        for (profile, waited, is_above) in [
            (Profile::Rfc8289, 5 * MS, true),
            (Profile::Rfc8289, 5 * MS - 1, false),
            (Profile::Linux, 4882 << UNIT_LOG, true),
            (Profile::Linux, 4881 << UNIT_LOG, false),
        ] {
            let mut c = codel(profile);
            let start = 1_000_000 << UNIT_LOG;
            drops(&mut c, [start, waited], 1000);
            assert_eq!(drops(&mut c, [start + (100_000 << UNIT_LOG), waited], 1000) == 1, is_above, "{profile:?}");
        }
    }
}
