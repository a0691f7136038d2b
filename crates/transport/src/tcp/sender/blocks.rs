//! What the SACK blocks of an ACK say, before the scoreboard sees them.

use crosswind_base::SackList;

/// The segment that the receiver reports as received twice (RFC 2883 section 4), or an empty one.
pub(super) fn reported_twice(ack: u64, blocks: &[(u64, u64)]) -> (u64, u64) {
    match blocks {
        [first, ..] if first.1 <= ack => *first,
        [first, second, ..] if second.0 <= first.0 && first.1 <= second.1 => *first,
        _ => (0, 0),
    }
}

/// The blocks that mean something, as in Linux (`tcp_is_sackblock_valid`): one that ends where it begins, or before, is as if
/// it were not there. And whether that is all of them.
pub(super) fn sound(blocks: &[(u64, u64)]) -> (SackList, bool) {
    let mut sound = SackList::default();
    if blocks.iter().all(|b| b.0 < b.1) {
        return (sound, true);
    }
    for b in blocks.iter().filter(|b| b.0 < b.1) {
        sound.push(b.0, b.1);
    }
    (sound, false)
}
