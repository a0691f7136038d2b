//! # Feedback of congestion marks
//!
//! **Source**: rfc3168 section 6.1.3 (`classic`); rfc8257 section 3.2 (`dctcp`); rfc9768 sections 3.2.1, 3.2.2.5 and 3.2.3 (`accurate`);
//! linux-6.18 `tcp_ecn.h`, `tcp_options_write`.
//!
//! **Idea**: `classic`: after a mark every ACK carries ECE until a segment with CWR comes. `dctcp`: ECE says whether the last segment
//! was marked; when that changes, what is acknowledged late is acknowledged first, as it was, and the new segment at once. `accurate`: packets
//! that arrived marked are counted from 5 on, and every segment carries the count modulo 8 in AE, CWR and ECE; an option carries bytes of payload
//! by code point (24 bits each; from 0 for CE, from 1 for ECT(0) and ECT(1), so that zeroed fields are noticed).
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `ecn` | - | `off` | per scenario |
//! | `ecn_rules.option` | - | `minimum` | rfc9768 section 3.2.3.3: in the handshake, when another counter moves, three times a round trip; `always` is Linux |
//!
//! **Deviations**: 1. Any change of the code point of data is acknowledged at once (Linux), not only one to CE. 2. `minimum`: the beacon's round
//! trip is that of the handshake, and data segments carry the option only if it does not make them larger than a full one. 3. Options are padded to words one
//! by one; Linux uses the padding of others. 4. Segments out of TIME-WAIT carry the count as any others; Linux has forgotten it there and says 0.
//!
//! **Checked by**: tapes `ecn_*`, `dctcp_*`, `accecn_*`; unit tests.

use super::negotiation::told;
use super::{Agreed, OptionRule};
use crosswind_base::packet::{AccEcnOption, AccEcnOrder};
use crosswind_base::{Dur, Ecn, Packet, SackList, TcpFlags, Time};

/// Marks that have come without an ACK at which one is sent: with data to acknowledge, and without.
const MARKS_WITH_DATA: u32 = 2;
const MARKS_WITHOUT: u32 = 3;
const OPTIONS_BYTES: u16 = 40;
/// SACK blocks that come before the option when both do not fit.
const BLOCKS_FIRST: usize = 2;
const LOW_24: u32 = 0xff_ffff;

/// The receiver's side of ECN.
#[derive(Debug, Default)]
pub struct Feedback {
    pub agreed: Agreed,
    /// Marked segments that have not been answered (`classic`), or whether the last one was marked (`dctcp`).
    unanswered: u32,
    /// `accurate` only.
    counts: Option<Box<Counts>>,
}

/// What AccECN counts, as it stands on the wire.
#[derive(Debug)]
struct Counts {
    /// Packets that arrived CE.
    cep: u32,
    ceb: u32,
    e0b: u32,
    e1b: u32,
    /// `cep` of the last segment that left.
    told: u32,
    /// The code point of the last data.
    last: Option<Ecn>,
    /// In which code point the SYN-ACK arrived: the next pure ACK says so.
    handshake: Option<Ecn>,
    rule: OptionRule,
    /// So many segments to come carry the option, whatever the rule.
    due: u32,
    /// The peer has sent an option: they get through.
    peer_sends: bool,
    beacon: Dur,
    beacon_at: Time,
    /// Fields that have ever counted, from the first on.
    fields: u8,
    has_news: bool,
    /// The last option left beside a report of a duplicate.
    beside_duplicate: bool,
}

impl Feedback {
    /// The handshake has agreed. `option` if the peer's segment had one, or is not meant to.
    pub fn begin(&mut self, agreed: Agreed, rule: OptionRule) {
        self.agreed = agreed;
        self.counts = (agreed == Agreed::Accurate).then(|| {
            Box::new(Counts {
                cep: 5,
                ceb: 0,
                e0b: 1,
                e1b: 1,
                told: 5,
                last: None,
                handshake: None,
                rule,
                due: 2,
                peer_sends: false,
                beacon: Dur::ZERO,
                beacon_at: Time::ZERO,
                fields: 0,
                has_news: false,
                beside_duplicate: false,
            })
        });
    }

    /// A SYN-ACK has arrived: the first, which also counts if it was marked, or another.
    pub fn on_syn_ack(&mut self, arrived: Ecn) {
        let Some(c) = &mut self.counts else { return };
        c.handshake = Some(arrived);
        if arrived == Ecn::Ce {
            (c.cep, c.told) = (6, 6);
        }
    }

    /// A round trip took so long: three options in it at least.
    pub fn set_beacon(&mut self, rtt: Dur) {
        if let Some(c) = &mut self.counts {
            c.beacon = Dur(rtt.0 / 3);
        }
    }

    /// The peer's options get through.
    #[inline]
    pub fn hear_option(&mut self) {
        if let Some(c) = &mut self.counts {
            c.peer_sends = true;
        }
    }

    #[inline]
    pub fn counts_packets(&self) -> bool {
        self.counts.is_some()
    }

    /// Any packet of an established connection (`accurate`). Returns whether it is answered at once.
    pub fn count(&mut self, p: &Packet) -> bool {
        let Some(c) = &mut self.counts else { return false };
        let (ecn, bytes) = (p.ecn(), u32::from(p.payload));
        if ecn == Ecn::Ce {
            c.cep = c.cep.wrapping_add(1);
        }
        if bytes > 0 {
            let (field, position) = match ecn {
                Ecn::NotEct => (None, 0),
                Ecn::Ce => (Some(&mut c.ceb), 2),
                Ecn::Ect0 => (Some(&mut c.e0b), 3),
                Ecn::Ect1 => (Some(&mut c.e1b), 1),
            };
            if let Some(field) = field {
                *field = field.wrapping_add(bytes) & LOW_24;
                c.fields = c.fields.max(position);
                c.has_news = true;
            }
            if c.last.replace(ecn).is_some_and(|last| last != ecn) {
                c.due = c.due.max(2);
                return true;
            }
        }
        let enough = if bytes > 0 { MARKS_WITH_DATA } else { MARKS_WITHOUT };
        ecn == Ecn::Ce && c.cep.wrapping_sub(c.told) >= enough
    }

    /// `dctcp`: this segment differs from the last one, and an ACK for what came before leaves first if one waits.
    #[inline]
    pub fn settles_first(&self, p: &Packet) -> bool {
        self.agreed == Agreed::Dctcp && p.payload > 0 && (p.ecn() == Ecn::Ce) != (self.unanswered > 0)
    }

    /// A segment with payload or FIN. Returns whether it is answered at once.
    #[inline]
    pub fn on_segment(&mut self, p: &Packet) -> bool {
        match self.agreed {
            Agreed::Nothing | Agreed::Accurate => false,
            Agreed::Classic => {
                // RFC 3168 section 6.1.3: CWR ends the echo; a CE on the same or a later segment starts it anew.
                if p.flags.has(TcpFlags::CWR) {
                    self.unanswered = 0;
                }
                self.unanswered += u32::from(p.ecn() == Ecn::Ce);
                false
            }
            Agreed::Dctcp => {
                let changes = self.settles_first(p);
                if p.payload > 0 {
                    self.unanswered = u32::from(p.ecn() == Ecn::Ce);
                }
                changes
            }
        }
    }

    /// A segment of which every byte had arrived: with the option beside a report of the last one, options do not get through.
    pub fn on_duplicate(&mut self) {
        if let Some(c) = &mut self.counts
            && c.beside_duplicate
        {
            c.rule = OptionRule::Off;
        }
    }

    /// The flags of a segment that leaves, with what they tell.
    #[inline]
    pub fn mark(&mut self, flags: TcpFlags) -> TcpFlags {
        match self.agreed {
            Agreed::Nothing => flags,
            Agreed::Accurate => self.mark_count(flags),
            _ if self.unanswered > 0 => flags.with(TcpFlags::ECE),
            _ => flags,
        }
    }

    fn mark_count(&mut self, flags: TcpFlags) -> TcpFlags {
        let Some(c) = &mut self.counts else { return flags };
        c.told = c.cep;
        flags.with_ace(c.cep as u8 & 7)
    }

    /// A pure ACK of a SYN-ACK says in which code point that arrived.
    pub fn mark_ack(&mut self, flags: TcpFlags) -> TcpFlags {
        match self.counts.as_mut().and_then(|c| c.handshake.take()) {
            Some(arrived) => flags.with_ace(told(arrived)),
            None => self.mark(flags),
        }
    }

    /// The option of a SYN-ACK: as every counter begins.
    pub fn first_option(rule: OptionRule) -> Option<AccEcnOption> {
        let first = AccEcnOption { order: AccEcnOrder::Ect1First, fields: 3, ceb: 0, e0b: 1, e1b: 1 };
        (rule != OptionRule::Off).then_some(first)
    }

    /// Whether the next segment has an option to carry.
    #[inline]
    pub fn has_option(&self, now: Time) -> bool {
        self.counts.as_ref().is_some_and(|c| c.is_wanted(now))
    }

    /// The option of a segment that leaves with these blocks; of those, more than two give way to it.
    pub fn option(
        &mut self,
        now: Time,
        other_bytes: u16,
        sack: &mut SackList,
        has_duplicate: bool,
    ) -> Option<AccEcnOption> {
        let c = self.counts.as_mut().filter(|c| c.is_wanted(now))?;
        let room = |blocks: usize| {
            let taken = other_bytes + if blocks > 0 { 4 + 8 * blocks as u16 } else { 0 };
            OPTIONS_BYTES.saturating_sub(taken)
        };
        let mut option = AccEcnOption { order: AccEcnOrder::Ect1First, fields: 3, ceb: c.ceb, e0b: c.e0b, e1b: c.e1b };
        // As many fields as have room, and never fewer than have counted.
        while option.fields > c.fields && option.padded_bytes() > room(sack.len()) {
            option.fields -= 1;
        }
        let fits = |blocks: usize| option.padded_bytes() <= room(blocks);
        let blocks = (BLOCKS_FIRST.min(sack.len())..=sack.len()).rev().find(|n| fits(*n))?;
        sack.truncate(blocks);
        (c.beacon_at, c.has_news) = (now + c.beacon, false);
        c.due = c.due.saturating_sub(1);
        c.beside_duplicate = has_duplicate;
        Some(option)
    }
}

impl Counts {
    fn is_wanted(&self, now: Time) -> bool {
        if !self.peer_sends {
            return false;
        }
        match self.rule {
            OptionRule::Off => false,
            OptionRule::Always => true,
            OptionRule::Minimum => self.due > 0 || (self.has_news && now >= self.beacon_at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(ecn: Ecn) -> Packet {
        let mut p = Packet { payload: 1000, ..Packet::default() };
        p.set_ecn(ecn);
        p
    }

    fn accurate(rule: OptionRule) -> Feedback {
        let mut f = Feedback::default();
        f.begin(Agreed::Accurate, rule);
        f.hear_option();
        f
    }

    #[test]
    fn two_marked_segments_or_three_marked_acks_force_an_ack() {
        let mut f = accurate(OptionRule::Off);
        assert!(!f.count(&data(Ecn::Ce)), "the first data changes nothing, and one mark may wait");
        assert!(f.count(&data(Ecn::Ce)));
        assert_eq!(f.mark(TcpFlags::ACK).ace(), 7);
        let bare = |ecn| Packet { payload: 0, ..data(ecn) };
        assert_eq!([0; 3].map(|_| f.count(&bare(Ecn::Ce))), [false, false, true]);
        assert_eq!(f.mark(TcpFlags::ACK).ace(), 2, "ten modulo eight");
        assert!(f.count(&data(Ecn::Ect1)), "another code point");
    }

    #[test]
    fn the_count_of_a_marked_syn_ack_begins_at_six_and_is_told_once() {
        let mut f = accurate(OptionRule::Off);
        (0..2).for_each(|_| f.on_syn_ack(Ecn::Ce));
        assert_eq!((f.mark_ack(TcpFlags::ACK).ace(), f.mark_ack(TcpFlags::ACK).ace()), (6, 6));
        let mut f = accurate(OptionRule::Off);
        f.on_syn_ack(Ecn::Ect1);
        assert_eq!((f.mark_ack(TcpFlags::ACK).ace(), f.mark_ack(TcpFlags::ACK).ace()), (3, 5));
    }

    #[test]
    fn an_option_gives_up_fields_first_and_then_blocks_down_to_two() {
        let mut f = accurate(OptionRule::Always);
        f.count(&data(Ecn::Ect1));
        let mut two = SackList::EMPTY;
        (0..2).for_each(|i| assert!(two.push(2000 * i, 2000 * i + 1000)));
        let option = f.option(Time::ZERO, 12, &mut two, false);
        assert_eq!(option.map(|o| o.fields), Some(2), "the second has not counted, but there is room");
        f.count(&data(Ecn::Ce));
        let mut fields = |blocks: u64, stamps: u16| {
            let mut sack = SackList::EMPTY;
            (0..blocks).for_each(|i| assert!(sack.push(2000 * i, 2000 * i + 1000)));
            let option = f.option(Time::ZERO, stamps, &mut sack, false);
            (option.map(|o| o.fields), sack.len())
        };
        assert_eq!(fields(3, 0), (Some(3), 3));
        assert_eq!(fields(4, 0), (Some(2), 3), "a fourth block gives way");
        assert_eq!(fields(2, 12), (Some(2), 2), "ECT(0) has never counted");
        assert_eq!(fields(3, 12), (Some(2), 2));
        f.count(&data(Ecn::Ect0));
        let mut sack = SackList::EMPTY;
        (0..3).for_each(|i| assert!(sack.push(2000 * i, 2000 * i + 1000)));
        assert_eq!(f.option(Time::ZERO, 12, &mut sack, false), None, "three fields do not fit beside two blocks");
        assert_eq!(sack.len(), 3);
    }

    #[test]
    fn the_minimum_is_the_handshake_every_change_and_a_beacon() {
        let mut f = accurate(OptionRule::Minimum);
        f.set_beacon(Dur::from_millis(30));
        let mut ack = |ms: u64, ecn: Ecn| {
            f.count(&data(ecn));
            f.option(Time(ms * 1_000_000), 12, &mut SackList::default(), false).is_some()
        };
        let e1 = Ecn::Ect1;
        assert_eq!([ack(1, e1), ack(2, e1), ack(3, e1), ack(11, e1), ack(12, e1)], [true, true, false, false, true]);
        assert_eq!([ack(13, Ecn::Ce), ack(14, e1), ack(15, e1), ack(16, e1)], [true, true, true, false]);
    }
}
