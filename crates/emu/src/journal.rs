//! What the network decided, packet by packet: delivered when, dropped or marked where. Kept as a running fingerprint,
//! and in full when a test or a tape wants it.

use crosswind_base::{Event, EventKind, FlowId, Observer, Packet, Pool, Time, Vantage};

/// One decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// Logical time of the decision.
    pub at: Time,
    pub what: What,
    /// Number of the packet, in the order of arrival.
    pub packet: u64,
    /// The egress that decided, or the host that got the packet.
    pub place: u32,
}

/// What was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum What {
    Delivered = 0,
    Dropped = 1,
    Lost = 2,
    Marked = 3,
}

/// Whether decisions are kept or only counted and fingerprinted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Keep {
    #[default]
    Fingerprint,
    All,
}

/// All decisions of a run.
#[derive(Clone, Debug)]
pub struct Journal {
    keep: Keep,
    fingerprint: u64,
    count: u64,
    kept: Vec<Decision>,
}

impl Journal {
    pub fn new(keep: Keep) -> Journal {
        Journal { keep, fingerprint: 0, count: 0, kept: Vec::new() }
    }
    /// Depends on every decision with its time, and not on when it was worked out: what a queue decides at departures is
    /// worked out with the next arrival, or when somebody looks.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Empty unless all are kept.
    pub fn decisions(&self) -> &[Decision] {
        &self.kept
    }

    #[inline]
    pub fn note(&mut self, d: Decision) {
        let place = u64::from(d.place) << 8 | d.what as u64;
        let mixed = [d.at.0, d.packet, place].into_iter().fold(0xcbf2_9ce4_8422_2325, |h: u64, word| {
            let x = (h ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            x ^ (x >> 29)
        });
        self.fingerprint = self.fingerprint.wrapping_add(mixed);
        self.count += 1;
        if self.keep == Keep::All {
            self.kept.push(d);
        }
    }
}

/// The network gives every packet its number as `seq`.
impl Observer for Journal {
    fn wants(&self, _flow: FlowId) -> bool {
        true
    }
    fn event(&mut self, e: Event) {
        let what = match e.kind {
            EventKind::Receive => What::Delivered,
            EventKind::Drop => What::Dropped,
            EventKind::Lost => What::Lost,
            EventKind::Mark => What::Marked,
            _ => return,
        };
        self.note(Decision { at: e.at, what, packet: e.seq, place: e.aux });
    }
    fn packet(&mut self, _at: Time, _seen: Vantage, _p: &Packet, _pool: &Pool) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_depends_on_every_field_and_not_on_the_order() {
        let base = Decision { at: Time(5), what: What::Delivered, packet: 7, place: 1 };
        let of = |ds: &[Decision]| {
            let mut j = Journal::new(Keep::Fingerprint);
            ds.iter().for_each(|d| j.note(*d));
            j.fingerprint()
        };
        let others = [
            Decision { at: Time(6), ..base },
            Decision { what: What::Lost, ..base },
            Decision { packet: 8, ..base },
            Decision { place: 2, ..base },
        ];
        for o in others {
            assert_ne!(of(&[base]), of(&[o]));
            assert_eq!(of(&[base, o]), of(&[o, base]));
            assert_ne!(of(&[base, o]), of(&[base, base]));
        }
        assert_eq!(of(&[base, others[0]]), of(&[base, others[0]]));
    }
}
