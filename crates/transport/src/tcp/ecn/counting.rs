//! # AccECN: how many marks an ACK reports
//!
//! **Source**: rfc9768 sections 3.2.2 and 3.2.3, appendices A.2.1 and A.2.2; linux-6.18 `tcp_accecn_process_option`, `__tcp_accecn_process`.
//!
//! **Idea**: the peer's count of marked packets comes modulo 8. Its least possible growth is `d = (ACE - count) mod 8`. An ACK for `n`
//! packets may hide a whole turn when `n > 7`; then the largest growth that fits, `safe = n - (n - d) mod 8`, is believed, unless the bytes of the
//! option say otherwise, or ACKs always stand for many packets. ACKs that bring no progress, in data or in timestamps, are late and say nothing.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `ecn` | - | `off` | per scenario: `accurate` |
//! | `ecn_rules.thinning` | - | `linux` | linux-6.18: over 4 packets an ACK on average (gain 1/64); rfc9768 appendix A.2.1 allows it |
//! | `ecn_rules.path_test` | - | `on` | rfc9768 section 3.2.2.3; `tcp_ecn_fallback` of Linux |
//!
//! **Deviations**: 1. Marks on every packet for several round trips, and bytes without packets, are believed (rfc9768 sections 3.2.2.3 and
//! 3.2.3.2.5 would end ECT).
//!
//! **Checked by**: `ecn/counting_oracle.rs` (the kernel's two routines in their own units, on random ACKs), unit tests (the
//! RFC's worked examples), tapes `accecn_*`.

use super::Thinning;
use crosswind_base::Ecn;
use crosswind_base::packet::AccEcnOption;

/// The count starts there on the wire.
const FIRST_COUNT: u32 = 5;
/// ACKs for more packets than this may hide a turn.
const TURN_MAX: u32 = 7;
/// The mean of packets an ACK: 6 bits of fraction, gain 1/64.
const MEAN_BITS: u32 = 6;
const MEAN_LARGE: u32 = 4 << MEAN_BITS;
const FIELDS: [Ecn; 3] = [Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

/// What an ACK has acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Packets and bytes that it is the first to report.
    pub packets: u32,
    pub bytes: u64,
    pub mss: u64,
    /// SACK is used, or no loss is being repaired: packets are counted well.
    pub is_exact: bool,
}

/// The sender's copy of the peer's counters.
#[derive(Clone, Debug)]
pub struct Counting {
    thinning: Thinning,
    /// Marked packets told of so far.
    marked: u32,
    /// Bytes by code point, in the order of [`FIELDS`].
    bytes: [u32; 3],
    /// The field that the last option had moved, if it was one.
    expected: Option<Ecn>,
    mean: u32,
    /// The latest timestamp of an ACK.
    stamp: u32,
    /// The first option had zeroes where ones belong.
    ignores_options: bool,
    has_seen_option: bool,
}

impl Counting {
    pub fn new(thinning: Thinning) -> Counting {
        Counting {
            thinning,
            marked: 0,
            bytes: [0; 3],
            expected: None,
            mean: 0,
            stamp: 0,
            ignores_options: false,
            has_seen_option: false,
        }
    }
    /// Marked packets told of so far.
    pub fn marked(&self) -> u32 {
        self.marked
    }
    /// Bytes told of so far: CE, ECT(0), ECT(1).
    pub fn bytes(&self) -> [u32; 3] {
        [self.bytes[2], self.bytes[1], self.bytes[0]]
    }
    /// The SYN-ACK was marked.
    pub fn count_handshake(&mut self) {
        self.marked += 1;
    }

    /// A timestamp has come; returns whether it is newer than those before.
    #[inline]
    pub fn see(&mut self, stamp: u32) -> bool {
        let newer = stamp != 0 && (self.stamp == 0 || (stamp.wrapping_sub(self.stamp) as i32) > 0);
        let was_seen = self.stamp != 0;
        if newer {
            self.stamp = stamp;
        }
        newer && was_seen
    }

    /// The number says what is known already.
    #[inline]
    pub fn is_known(&self, ace: u8) -> bool {
        u32::from(ace) == (self.marked + FIRST_COUNT) & TURN_MAX
    }

    /// An ACK that is not late. Returns the marked packets, and the bytes where the option tells.
    pub fn read(&mut self, ace: u8, option: Option<&AccEcnOption>, p: Progress) -> (u32, Option<u64>) {
        let before = self.bytes[2];
        let is_usable = self.read_option(option, p.bytes);
        let ce_bytes = self.bytes[2].wrapping_sub(before);
        let least = u32::from(ace).wrapping_sub(self.marked + FIRST_COUNT) & TURN_MAX;
        self.note_size(p.packets);
        let packets = self.estimate(least, is_usable.then_some(ce_bytes), p);
        self.marked = self.marked.wrapping_add(packets);
        (packets, (is_usable && ce_bytes < 1 << 31).then_some(ce_bytes.into()))
    }

    fn note_size(&mut self, n: u32) {
        if n > 0 {
            let sample = n << MEAN_BITS;
            self.mean = match self.mean {
                0 => sample,
                m => (m as i64 + ((i64::from(sample) - i64::from(m)) >> 6)) as u32,
            };
        }
    }

    fn estimate(&self, least: u32, ce_bytes: Option<u32>, p: Progress) -> u32 {
        let n = p.packets;
        if n <= TURN_MAX {
            return least;
        }
        let safe = n - (n.wrapping_sub(least) & TURN_MAX);
        let Some(ce_bytes) = ce_bytes else {
            let is_thinned = self.thinning == Thinning::FromFour && self.mean > MEAN_LARGE;
            return if is_thinned { least } else { safe };
        };
        let db = u64::from(ce_bytes);
        if db == 0 {
            return least;
        }
        if n >= 2 * (TURN_MAX + 1) && p.is_exact {
            if p.bytes <= db {
                return safe;
            }
            let by_bytes = (db * u64::from(n)).div_ceil(p.bytes) as u32;
            return safe.min(least + (by_bytes & !TURN_MAX));
        }
        match () {
            () if db > u64::from(least) * p.mss => safe,
            () if db < u64::from(safe) * p.mss / 2 => least,
            () => safe,
        }
    }

    /// Whether this option, or what the last one lets expect, is to be believed.
    fn read_option(&mut self, option: Option<&AccEcnOption>, delivered: u64) -> bool {
        if self.ignores_options {
            return false;
        }
        let Some(option) = option else {
            let Some(field) = self.expected else { return false };
            let i = position(field);
            self.bytes[i] = self.bytes[i].wrapping_add(delivered as u32);
            return true;
        };
        if !self.has_seen_option {
            self.has_seen_option = true;
            // A counter that begins at one and comes as zero was zeroed on the way.
            if [Ecn::Ect0, Ecn::Ect1].iter().any(|e| option.get(*e) == Some(0)) {
                self.ignores_options = true;
                return false;
            }
        }
        let (mut usable, mut moved, mut ambiguous) = (self.expected.is_some(), None, false);
        for field in [Ecn::Ect1, Ecn::Ce, Ecn::Ect0] {
            let Some(value) = option.get(field) else { continue };
            let delta = self.update(field, value);
            if delta < 0 {
                (usable, ambiguous) = (false, true);
            }
            if delta != 0 && Some(field) != self.expected {
                match moved {
                    None => moved = Some(field),
                    Some(_) => (usable, ambiguous) = (false, true),
                }
            }
        }
        self.expected = if ambiguous { None } else { moved.or(self.expected) };
        usable
    }

    /// Growth of a counter of 24 bits; backwards where bit 23 is set.
    fn update(&mut self, field: Ecn, value: u32) -> i32 {
        let first = u32::from(field != Ecn::Ce);
        let count = &mut self.bytes[position(field)];
        let delta = (value.wrapping_sub(first).wrapping_sub(*count) << 8) as i32 >> 8;
        *count = count.wrapping_add(delta as u32);
        delta
    }
}

fn position(field: Ecn) -> usize {
    FIELDS.iter().position(|f| *f == field).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::packet::AccEcnOrder;

    fn after(n: u32, bytes: u64) -> Progress {
        Progress { packets: n, bytes, mss: 1460, is_exact: true }
    }

    /// `d` marks shown of `n` packets, by a count that stands where it began, with small ACKs before.
    fn marks(d: u32, n: u32) -> u32 {
        let mut c = Counting::new(Thinning::Off);
        c.read((5 + d) as u8 & 7, None, after(n, u64::from(n) * 1460)).0
    }

    #[test]
    fn without_the_option_the_largest_growth_that_fits_is_believed() {
        assert_eq!([(2, 9), (2, 10), (0, 7), (3, 7), (5, 3)].map(|(d, n)| marks(d, n)), [2, 10, 0, 3, 5]);
        assert_eq!([(0, 8), (7, 15), (1, 16)].map(|(d, n)| marks(d, n)), [8, 15, 9]);
    }

    #[test]
    fn with_the_option_bytes_decide_as_in_appendix_a_2_2() {
        for (d, n, db, want) in [(0, 8, 1460, 8), (2, 10, 1460, 2), (7, 15, 10_200, 7), (0, 9, 0, 0)] {
            let mut c = Counting::new(Thinning::Off);
            c.expected = Some(Ecn::Ce);
            let all = u64::from(n) * 1460;
            let option =
                AccEcnOption { order: AccEcnOrder::Ect0First, fields: 3, ceb: db, e0b: 1, e1b: 1 + all as u32 - db };
            assert_eq!(c.read((5 + d) as u8 & 7, Some(&option), after(n, all)).0, want, "d {d}, n {n}, {db} bytes");
        }
    }

    #[test]
    fn acks_that_always_stand_for_many_packets_have_lost_no_turn() {
        let mut c = Counting::new(Thinning::FromFour);
        assert_eq!([5, 6, 4].map(|ace| c.clone().read(ace, None, after(10, 14_600)).0), [0, 1, 7]);
        c.read(5, None, after(1, 1460));
        assert_eq!(c.read(5, None, after(9, 13_140)).0, 8, "the mean is 1.125");
    }

    #[test]
    fn an_option_whose_first_fields_are_zero_is_never_believed() {
        let mut c = Counting::new(Thinning::FromFour);
        let zeroed = AccEcnOption { fields: 3, ..AccEcnOption::default() };
        assert_eq!(c.read(6, Some(&zeroed), after(1, 1000)), (1, None));
        let later = AccEcnOption { fields: 3, ceb: 1000, e0b: 1, e1b: 1001, ..AccEcnOption::default() };
        c.read(7, Some(&later), after(1, 1000));
        assert_eq!((c.marked(), c.bytes()), (2, [0; 3]));
    }

    #[test]
    fn a_counter_that_goes_back_makes_its_option_unusable() {
        let mut c = Counting::new(Thinning::Off);
        let option = |ceb, e1b| AccEcnOption { fields: 3, ceb, e0b: 1, e1b, ..AccEcnOption::default() };
        assert_eq!(c.read(6, Some(&option(1000, 1)), after(1, 1000)), (1, None), "nothing was expected");
        assert_eq!(c.read(7, Some(&option(2000, 1)), after(1, 1000)), (1, Some(1000)));
        assert_eq!(c.read(0, Some(&option(1000, 1)), after(1, 1000)), (1, None));
        let wrapped = [0xff_ff00, 0x1_00].map(|ceb| c.read(0, Some(&option(ceb, 1)), after(0, 0)));
        assert_eq!(c.bytes()[0], 0x1_00, "{wrapped:?}");
    }
}
