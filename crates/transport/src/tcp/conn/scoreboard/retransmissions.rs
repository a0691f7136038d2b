//! Retransmissions in the order in which they left: which of them were lost again is found without a walk over the window.

use super::Scoreboard;
use super::segment::{EVER_RESENT, LOST, RETRANSMITTED, SACKED, Sent};
use crate::tcp::choices::SackAfterTimeout;
use crosswind_base::Time;

impl Scoreboard {
    /// The segment that starts at `start` is being retransmitted.
    pub fn retransmit(&mut self, start: u64, now: Time) {
        let i = self.find(start);
        let Some(s) = self.ring.get_mut(i) else { return };
        debug_assert_eq!(s.start, start, "whole segments are retransmitted");
        if s.flags & RETRANSMITTED == 0 {
            self.waiting -= if s.is_lost() { s.len as u64 } else { 0 };
            s.flags |= RETRANSMITTED;
            self.retransmitted += s.len as u64;
        }
        s.flags |= EVER_RESENT;
        s.sent_at = now;
        // Two for one: so the list stays short also where nobody asks for it.
        for _ in 0..2 {
            if self.retransmissions.0.front().is_some_and(|r| self.on_its_way(*r).is_none()) {
                self.retransmissions.0.pop_front();
            }
        }
        self.retransmissions.0.push_back((start, now));
    }

    /// Position in the ring of the segment that left again then, if nothing has been heard of it since.
    pub(super) fn on_its_way(&self, (start, at): (u64, Time)) -> Option<usize> {
        let i = self.find(start);
        self.ring.get(i).filter(|s| s.sent_at == at && s.flags & (SACKED | RETRANSMITTED) == RETRANSMITTED).map(|_| i)
    }

    /// Retransmissions below `top` that left before `left`, or at that very time if `also_then`, are lost once more: they
    /// wait. Touches those only that left so early.
    pub fn mark_retransmissions_lost(&mut self, top: u64, left: Time, also_then: bool) {
        let mut k = 0;
        while let Some(&(start, at)) = self.retransmissions.0.get(k)
            && (at < left || (at == left && also_then))
        {
            let found = self.on_its_way((start, at));
            if found.is_some_and(|i| self.ring[i].start >= top) {
                k += 1;
                continue;
            }
            if let Some(i) = found {
                self.hold_lost_again(i);
            }
            self.retransmissions.0.remove(k);
        }
    }

    /// A timeout has held everything lost; what left later than `time`, but for the first segment, may still arrive.
    pub fn spare_sent_after(&mut self, time: Time) {
        for s in self.ring.iter_mut().skip(1).filter(|s| s.flags & LOST != 0 && s.sent_at > time) {
            s.flags &= !LOST;
            let len = u64::from(s.len);
            (self.lost, self.waiting) = (self.lost - len, self.waiting - len);
            self.ever_lost = self.ever_lost.saturating_sub(len);
        }
    }

    /// Bytes that left later than `time` and were not SACKed, but for the first segment.
    pub fn sent_after(&self, time: Time) -> u64 {
        let is_later = |s: &&Sent| s.sent_at > time && !s.is_sacked();
        self.ring.iter().skip(1).filter(is_later).map(|s| u64::from(s.len)).sum()
    }

    /// The segments that are held lost and wait to be retransmitted, in order.
    pub fn waiting(&self) -> impl Iterator<Item = &Sent> {
        let mut i = self.retransmit_cursor.saturating_sub(self.popped) as usize;
        let mut left = self.waiting;
        std::iter::from_fn(move || {
            // Behind the last of them nobody walks on to the end of the window.
            while left > 0 {
                let s = self.ring.get(i)?;
                i += 1;
                if s.flags & (LOST | RETRANSMITTED) == LOST {
                    left = left.saturating_sub(u64::from(s.len));
                    return Some(s);
                }
            }
            None
        })
    }

    /// The segment at this place, which is on its way, is lost: it waits to be retransmitted.
    pub(super) fn hold_lost_again(&mut self, i: usize) {
        let s = &mut self.ring[i];
        let len = s.len as u64;
        self.lost += if s.flags & LOST == 0 { len } else { 0 };
        self.retransmitted -= if s.flags & RETRANSMITTED != 0 { len } else { 0 };
        self.waiting += len;
        self.ever_lost += len;
        s.flags = (s.flags | LOST) & !RETRANSMITTED;
        self.retransmit_cursor = self.retransmit_cursor.min(self.popped + i as u64);
    }

    /// As [`Scoreboard::mark_all_lost`], but what has been retransmitted since the timeout is on its way.
    pub fn mark_lost_but_retransmitted(&mut self, keep: SackAfterTimeout, high: u64) {
        let again = |s: &&Sent| s.is_retransmitted();
        let mut retransmitted: Vec<(Time, u64)> =
            self.ring.iter().filter(again).map(|s| (s.sent_at, s.start)).collect();
        retransmitted.sort_unstable();
        self.mark_all_lost(keep, high);
        for (at, start) in retransmitted {
            self.retransmit(start, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten segments of 100 bytes; 0, 200 and 400 are held lost and were retransmitted at 40, 50 and 60.
    fn board() -> Scoreboard {
        let mut b = Scoreboard::default();
        (0..10).for_each(|i| b.push(i * 100, 100, Time(i)));
        for k in [1, 3, 5, 6, 7] {
            b.sack((k * 100, k * 100 + 100), 0, &mut false);
        }
        b.mark_lost_below(500);
        for (start, at) in [(0, 40), (200, 50), (400, 60)] {
            b.retransmit(start, Time(at));
        }
        b
    }

    #[test]
    fn retransmissions_that_left_before_wait_again_and_later_ones_do_not() {
        let mut b = board();
        b.mark_retransmissions_lost(1000, Time(50), false);
        assert_eq!((b.retransmitted_bytes(), b.next_lost().map(|s| s.start)), (200, Some(0)));
        b.retransmit(0, Time(70));
        assert!(b.next_lost().is_none());
        b.mark_retransmissions_lost(1000, Time(50), true);
        assert_eq!((b.retransmitted_bytes(), b.next_lost().map(|s| s.start)), (200, Some(200)));
        b.audit(0, 1000).expect("the counters agree with the segments");
    }

    #[test]
    fn retransmissions_above_the_block_stay_for_a_later_one() {
        let mut b = board();
        b.mark_retransmissions_lost(200, Time(70), false);
        assert_eq!((b.retransmitted_bytes(), b.next_lost().map(|s| s.start)), (200, Some(0)));
        b.mark_retransmissions_lost(1000, Time(70), false);
        assert_eq!(b.retransmitted_bytes(), 0);
    }

    #[test]
    fn the_list_stays_short_where_nobody_asks() {
        let mut b = Scoreboard::default();
        for start in (0..100_000).step_by(100) {
            b.ack_to(start, 0);
            b.push(start, 100, Time(start));
            b.mark_first_lost();
            b.retransmit(start, Time(start + 50));
        }
        assert!(b.retransmissions.0.len() <= 2, "{}", b.retransmissions.0.len());
    }
}
