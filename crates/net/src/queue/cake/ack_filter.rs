//! Which acknowledgement a newer one of its connection makes needless.

use crosswind_base::packet::{AckHeader, Ext, Proto};
use crosswind_base::{Packet, TcpFlags};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether acknowledgements give way to newer ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilter {
    /// None does.
    #[default]
    Off,
    /// The oldest goes when another one that could go as well stays behind it.
    On,
    /// One that could go does so, too, where it is the last before the newest.
    Aggressive,
}

/// A packet of a flow queue with what few packets carry.
pub type Seen<'a> = (&'a Packet, Option<&'a Ext>);

/// A pure acknowledgement: no data, no flag but those of ECN, no option beside SACK and timestamps.
struct Ack<'a> {
    header: AckHeader,
    sack: &'a [(u64, u64)],
}

impl<'a> Ack<'a> {
    fn of((p, ext): Seen<'a>) -> Option<Ack<'a>> {
        // AE is a reserved bit to the kernel, which lets nothing unknown go; nor does it know the option of AccECN.
        const OTHERS: u8 = !(TcpFlags::ECE.0 | TcpFlags::CWR.0);
        let is_pure = p.proto == Proto::Tcp && p.payload == 0 && p.flags.0 & OTHERS == TcpFlags::ACK.0;
        if !is_pure || ext.is_some_and(|e| e.accecn.is_some() || e.life.is_some()) {
            return None;
        }
        let own = AckHeader { ack: p.ack, ts_val: p.ts_val, ts_ecr: p.ts_ecr, has_others: false };
        let header = ext.and_then(|e| e.ack).unwrap_or(own);
        let sack = ext.map_or(&[][..], |e| e.sack.as_slice());
        (!header.has_others).then_some(Ack { header, sack })
    }

    /// Whether it says nothing that a newer one does not say.
    fn is_covered_by(&self, new: &Ack<'_>) -> bool {
        let (old, by) = (&self.header, &new.header);
        if is_after(old.ack, by.ack) || is_after32(old.ts_val, by.ts_val) || is_after32(old.ts_ecr, by.ts_ecr) {
            return false;
        }
        let bytes = |blocks: &[(u64, u64)]| blocks.iter().map(|(from, to)| to.wrapping_sub(*from)).sum::<u64>();
        let is_held = |(from, to): &(u64, u64)| {
            // A block below the cumulative number tells of a duplicate, and nobody else does.
            let is_duplicate = is_after(old.ack, *from);
            !is_duplicate && new.sack.iter().any(|(a, b)| !is_after(*a, *from) && !is_after(*to, *b))
        };
        self.sack.iter().all(is_held) && (old.ack as u32 != by.ack as u32 || bytes(new.sack) > bytes(self.sack))
    }
}

/// Numbers of 32 bits that wrap around; what a simulation counts on beyond them is left out.
fn is_after(a: u64, b: u64) -> bool {
    is_after32(a as u32, b as u32)
}

fn is_after32(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}

fn is_of_one_flow(a: &Packet, b: &Packet) -> bool {
    a.proto == b.proto && a.flow == b.flow && a.meta.is_reverse() == b.meta.is_reverse()
}

/// The place of the acknowledgement that goes: `queue` is what waits before `newest`, the oldest first.
///
/// Two are looked for that `newest` makes needless, and the first of them goes. A change of what ECN says between them keeps
/// what came before it.
pub fn needless<'a>(mode: AckFilter, queue: impl Iterator<Item = Seen<'a>>, newest: Seen<'a>) -> Option<usize> {
    let new = Ack::of(newest)?;
    let (mut found, mut len): (Option<(usize, u8)>, usize) = (None, 0);
    for (i, seen) in queue.enumerate() {
        len = i + 1;
        if !is_of_one_flow(seen.0, newest.0) {
            continue;
        }
        let ecn = seen.0.flags.ace();
        found = found.filter(|(_, before)| *before == ecn);
        if !Ack::of(seen).is_some_and(|old| old.is_covered_by(&new)) {
            continue;
        }
        if let Some((first, _)) = found {
            return Some(first);
        }
        found = Some((i, ecn));
    }
    let (last, ecn) = found?;
    let is_next = last + 1 == len && ecn == newest.0.flags.ace();
    (mode == AckFilter::Aggressive && is_next).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::packet::AccEcnOption;
    use crosswind_base::{FlowId, SackList};

    /// Cumulative number, what ECN says (CWR and ECE), blocks.
    type Written = (u64, u8, &'static [(u64, u64)]);

    fn packet((ack, ecn, blocks): Written) -> (Packet, Ext) {
        let mut sack = SackList::EMPTY;
        blocks.iter().for_each(|(from, to)| assert!(sack.push(*from, *to)));
        let p = Packet { flow: FlowId(1), ack, flags: TcpFlags::ACK.with_ace(ecn), len: 52, ..Packet::default() };
        (p, Ext { sack, ..Ext::default() })
    }

    fn goes(mode: AckFilter, queue: &[(Packet, Ext)]) -> Option<usize> {
        let seen: Vec<Seen<'_>> = queue.iter().map(|(p, e)| (p, Some(e))).collect();
        let (newest, before) = seen.split_last().expect("something joined");
        needless(mode, before.iter().copied(), *newest)
    }

    fn written(mode: AckFilter, queue: &[Written]) -> Option<usize> {
        goes(mode, &queue.iter().map(|w| packet(*w)).collect::<Vec<_>>())
    }

    #[test]
    fn the_oldest_of_two_goes_and_one_alone_only_where_the_filter_is_aggressive() {
        use AckFilter::{Aggressive, On};
        for (queue, on, aggressive) in [
            (&[(100, 0, &[][..])][..], None, None),
            (&[(100, 0, &[]), (200, 0, &[])], None, Some(0)),
            (&[(100, 0, &[]), (200, 0, &[]), (300, 0, &[])], Some(0), Some(0)),
            // Numbers above that of the newest, and the same number again, stay.
            (&[(400, 0, &[]), (200, 0, &[]), (300, 0, &[])], None, Some(1)),
            (&[(300, 0, &[]), (300, 0, &[]), (300, 0, &[])], None, None),
            // So do those before a change of what ECN says.
            (&[(100, 0, &[]), (200, 1, &[]), (300, 1, &[])], None, Some(1)),
            (&[(100, 0, &[]), (200, 1, &[]), (300, 0, &[])], None, None),
            (&[(100, 0, &[]), (200, 1, &[]), (250, 1, &[]), (300, 0, &[])], Some(1), Some(1)),
            // The newest says more of the same number; or less.
            (&[(100, 0, &[]), (100, 0, &[(200, 300)]), (100, 0, &[(200, 400)])], Some(0), Some(0)),
            (&[(100, 0, &[(200, 300)]), (100, 0, &[(200, 300)]), (100, 0, &[(400, 500)])], None, None),
            (&[(100, 0, &[(200, 300)]), (150, 0, &[(200, 300)])], None, Some(0)),
            // A block that is no longer among those of the newest; one that tells of a duplicate.
            (&[(100, 0, &[(200, 300)]), (300, 0, &[])], None, None),
            (&[(100, 0, &[(50, 60)]), (300, 0, &[(50, 60)])], None, None),
        ] {
            assert_eq!((written(On, queue), written(Aggressive, queue)), (on, aggressive), "{queue:?}");
        }
    }

    #[test]
    fn whatever_else_a_packet_carries_keeps_it() {
        let plain = || [packet((100, 0, &[])), packet((200, 0, &[])), packet((300, 0, &[]))];
        assert_eq!(goes(AckFilter::On, &plain()), Some(0));
        let changes: [fn(&mut (Packet, Ext)); 9] = [
            |p| p.0.payload = 1,
            |p| p.0.flags = p.0.flags.with(TcpFlags::FIN),
            |p| p.0.flags = p.0.flags.with(TcpFlags::PSH),
            |p| p.0.flags = p.0.flags.with(TcpFlags::AE),
            |p| p.0.proto = Proto::UDP,
            |p| p.0.flow = FlowId(2),
            |p| p.0.ts_val = 1,
            |p| p.1.accecn = Some(AccEcnOption::default()),
            |p| p.1.ack = Some(AckHeader { ack: 100, has_others: true, ..AckHeader::default() }),
        ];
        for (i, change) in changes.into_iter().enumerate() {
            let mut changed = plain();
            change(&mut changed[0]);
            assert_eq!(goes(AckFilter::On, &changed), None, "change {i}");
        }
    }

    #[test]
    fn numbers_wrap_around_and_a_header_that_was_read_counts() {
        let near: u64 = u64::from(u32::MAX) - 10;
        let queue = [near, near + 5, near + 40].map(|ack| packet((ack, 0, &[])));
        assert_eq!(goes(AckFilter::On, &queue), Some(0));
        let mut read = [7, 7, 7].map(|ack| packet((ack, 0, &[])));
        for (p, ack) in read.iter_mut().zip([u64::from(u32::MAX), 3, 900]) {
            p.1.ack = Some(AckHeader { ack, ..AckHeader::default() });
        }
        assert_eq!(goes(AckFilter::On, &read), Some(0));
    }
}
