//! The sender's record of every segment in the network: what was SACKed, what is held lost, what was retransmitted.
//!
//! Segments stand in a ring in sequence order. Each is touched a constant number of times in its life, whatever the window: SACK
//! blocks are compared with the known ranges and only the difference is walked; loss boundary and cursor only move forward.

use crate::tcp::choices::SackAfterTimeout;
use crosswind_base::{Time, prefetch};
pub use segment::{Acked, InOrderAck, OnSacked, Sent};
use segment::{EVER_RESENT, LOST, RETRANSMITTED, Retransmissions, SACKED};
use std::collections::VecDeque;

pub mod overdue;
mod retransmissions;
mod segment;

/// Segments that an ACK in order takes off at most: what receivers acknowledge in one piece.
pub const IN_ORDER_MOST: usize = 16;

/// How far behind the front of the board the next ACK looks, or the one after it: segments, 24 bytes each.
const NEXT: usize = 4;

#[derive(Default, Debug)]
pub struct Scoreboard {
    ring: VecDeque<Sent>,
    /// Segments taken off the front so far; turns ring positions into numbers that stay valid.
    popped: u64,
    /// Number of the next segment that may be lost and not yet retransmitted.
    retransmit_cursor: u64,
    /// Everything unsacked below this sequence number is marked lost.
    loss_boundary: u64,
    /// SACKed ranges, ascending and disjoint.
    ranges: VecDeque<(u64, u64)>,
    /// No segment before this number is unsacked, unmarked and never retransmitted.
    suspect_cursor: u64,
    sacked: u64,
    sacked_segments: u32,
    lost: u64,
    retransmitted: u64,
    /// Lost and not retransmitted yet.
    waiting: u64,
    /// Bytes that were ever held lost; those held lost again count again.
    ever_lost: u64,
    retransmissions: Retransmissions,
}

impl Scoreboard {
    /// Room for one segment: many flows never have more in flight.
    pub fn new() -> Scoreboard {
        Scoreboard { ring: VecDeque::with_capacity(1), ..Scoreboard::default() }
    }

    /// Bytes reported by SACK and not yet acknowledged cumulatively.
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked
    }
    /// Segments of which all that is left is SACKed.
    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }
    /// Bytes held lost (retransmitted or not), not SACKed.
    pub fn lost_bytes(&self) -> u64 {
        self.lost
    }
    /// Bytes retransmitted, and neither acknowledged nor held lost since. Most of them are counted as lost as well.
    pub fn retransmitted_bytes(&self) -> u64 {
        self.retransmitted
    }
    /// Bytes in the network, of those not acknowledged: all but what is SACKed or held lost, and what was retransmitted again.
    #[inline]
    pub fn in_network(&self, outstanding: u64) -> u64 {
        outstanding - self.sacked - self.lost + self.retransmitted
    }
    /// Bytes that were ever held lost; what was lost again after it had been retransmitted counts again.
    pub fn ever_lost(&self) -> u64 {
        self.ever_lost
    }
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
    pub fn len(&self) -> usize {
        self.ring.len()
    }
    pub fn first(&self) -> Option<&Sent> {
        self.ring.front()
    }
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &Sent> {
        self.ring.iter()
    }
    /// Highest sequence number reported by SACK; zero when there is none.
    pub fn highest_sacked(&self) -> u64 {
        self.ranges.back().map_or(0, |r| r.1)
    }
    /// The segment that ends at `end`.
    pub fn ending_at(&self, end: u64) -> Option<&Sent> {
        self.ring.get(self.find(end.saturating_sub(1))).filter(|s| s.end() == end)
    }
    pub fn sacked_ranges(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().copied()
    }

    /// Nothing is SACKed, held lost or retransmitted.
    #[inline]
    pub fn is_clear(&self) -> bool {
        self.sacked | self.lost | self.retransmitted == 0
    }

    /// Takes off everything below `ack` if it is a few whole segments, `most` of them, that were sent once, and if what is left has not left
    /// before `after` (time, and end of the segment that left then); else nothing. For a board that is clear.
    #[inline]
    pub fn take_in_order(&mut self, ack: u64, most: usize, after: (Time, u64)) -> Option<InOrderAck> {
        let first = *self.ring.front().filter(|s| s.flags == 0)?;
        let (mut last, mut segments) = (first, 1);
        while last.end() < ack && segments < most {
            last = *self.ring.get(segments).filter(|s| s.flags == 0)?;
            segments += 1;
        }
        let is_later = |s: &Sent| s.flags == 0 && (s.sent_at, s.end()) >= after;
        if last.end() != ack || !self.ring.get(segments).is_none_or(is_later) {
            return None;
        }
        for _ in 0..segments {
            self.ring.pop_front();
        }
        self.popped += segments as u64;
        self.prefetch_next();
        self.retransmit_cursor = self.retransmit_cursor.max(self.popped);
        let (first_start, first_sent_at, last_sent_at) = (first.start, first.sent_at, last.sent_at);
        Some(InOrderAck { segments: segments as u32, first_start, first_sent_at, last_sent_at })
    }

    /// A segment leaves for the first time; it follows the last one.
    #[inline]
    pub fn push(&mut self, start: u64, len: u32, now: Time) {
        debug_assert!(self.ring.back().is_none_or(|s| s.end() == start), "segments are contiguous");
        self.ring.push_back(Sent { start, len, flags: 0, sent_at: now });
    }

    /// Takes off everything below `ack`. A partly acknowledged segment keeps its unacknowledged part.
    pub fn ack_to(&mut self, ack: u64, mark: u64) -> Acked {
        let (mut out, sacked_before) = (Acked::default(), self.sacked);
        while let Some(s) = self.ring.front().copied() {
            if s.end() > ack {
                if s.start < ack {
                    self.trim_front(ack, &mut out);
                }
                break;
            }
            out.bytes += s.len as u64;
            out.segments += 1;
            out.known_segments += u32::from(s.is_sacked());
            if s.was_ever_retransmitted() {
                out.any_retransmitted = true;
                let news = if s.is_sacked() { Default::default() } else { (s.sent_at, s.end()) };
                out.latest_retransmission = out.latest_retransmission.max(news);
            } else {
                out.latest_original = (s.sent_at, s.end());
                out.latest_unreported = if s.is_sacked() { out.latest_unreported } else { out.latest_original };
            }
            out.original_below_mark |= s.start < mark && !s.was_ever_retransmitted() && !s.is_sacked();
            out.timed = out.timed.or(Some(s.sent_at));
            out.last_sent_at = s.sent_at;
            self.forget(&s, s.len as u64);
            self.sacked_segments -= u32::from(s.is_sacked());
            self.ring.pop_front();
            self.popped += 1;
        }
        self.prefetch_next();
        out.known_bytes = sacked_before - self.sacked;
        if out.any_retransmitted {
            out.timed = None;
        }
        while self.ranges.front().is_some_and(|r| r.1 <= ack) {
            self.ranges.pop_front();
        }
        if let Some(r) = self.ranges.front_mut() {
            r.0 = r.0.max(ack);
        }
        self.retransmit_cursor = self.retransmit_cursor.max(self.popped);
        out
    }

    /// What the next ACK takes off was written a round trip ago: in a large window it is no longer in a cache.
    #[inline]
    fn prefetch_next(&self) {
        if let Some(s) = self.ring.get(NEXT) {
            prefetch(s);
        }
    }

    fn trim_front(&mut self, ack: u64, out: &mut Acked) {
        let s = *self.ring.front().expect("the caller looked at the front");
        let cut = ack - s.start;
        out.bytes += cut;
        self.forget(&s, cut);
        let front = self.ring.front_mut().expect("the caller looked at the front");
        front.start = ack;
        front.len -= cut as u32;
    }

    fn forget(&mut self, s: &Sent, bytes: u64) {
        if s.is_sacked() {
            self.sacked -= bytes;
        } else {
            self.uncount(s, bytes);
        }
    }

    /// Takes bytes of an unsacked segment out of the counters.
    fn uncount(&mut self, s: &Sent, bytes: u64) {
        self.lost -= if s.is_lost() { bytes } else { 0 };
        self.retransmitted -= if s.is_retransmitted() { bytes } else { 0 };
        self.waiting -= if s.is_lost() && !s.is_retransmitted() { bytes } else { 0 };
    }

    /// Position in the ring of the segment that contains `seq`, or where it would stand.
    fn find(&self, seq: u64) -> usize {
        let Some(first) = self.ring.front() else { return 0 };
        if seq <= first.start {
            return 0;
        }
        let guess = ((seq - first.start) / first.len.max(1) as u64) as usize;
        if let Some(s) = self.ring.get(guess)
            && s.start <= seq
            && seq < s.end()
        {
            return guess;
        }
        self.ring.partition_point(|s| s.end() <= seq)
    }

    /// Records one SACK block; returns the bytes that were not known before. `fresh` hears of every newly SACKed segment.
    pub fn sack(&mut self, block: (u64, u64), mark: u64, fresh: &mut impl OnSacked) -> u64 {
        let low = self.ring.front().map_or(u64::MAX, |s| s.start);
        let high = self.ring.back().map_or(0, |s| s.end());
        let (left, right) = (block.0.max(low), block.1.min(high));
        if left >= right {
            return 0;
        }
        let i = self.ranges.partition_point(|r| r.1 < left);
        // Most blocks repeat what earlier ACKs have reported.
        if self.ranges.get(i).is_some_and(|r| r.0 <= left && right <= r.1) {
            return 0;
        }
        let touched = self.ranges.range(i..).take_while(|r| r.0 <= right).count();
        let Some(last) = touched.checked_sub(1) else {
            self.ranges.insert(i, (left, right));
            return self.sack_gap((left, right), (left, right), mark, fresh);
        };
        let whole = (left.min(self.ranges[i].0), right.max(self.ranges[i + last].1));
        // Every known range that touches [left, right) becomes a part of the first; only the gaps between them are walked.
        let (mut at, mut news) = (left, 0);
        for k in i..=i + last {
            let known = self.ranges[k];
            if at < known.0 {
                news += self.sack_gap((at, known.0), whole, mark, fresh);
            }
            at = at.max(known.1);
        }
        if at < right {
            news += self.sack_gap((at, right), whole, mark, fresh);
        }
        self.ranges[i] = whole;
        if last > 0 {
            self.ranges.drain(i + 1..=i + last);
        }
        news
    }

    /// Marks the segments that touch `gap` and lie within `whole`, the SACKed range that it has become part of.
    fn sack_gap(&mut self, gap: (u64, u64), whole: (u64, u64), mark: u64, fresh: &mut impl OnSacked) -> u64 {
        let mut i = self.find(gap.0);
        let mut news = 0;
        while let Some(s) = self.ring.get_mut(i) {
            if s.start >= gap.1 || s.end() > whole.1 {
                break;
            }
            if s.start >= whole.0 && !s.is_sacked() {
                let was = *s;
                s.flags = (s.flags & EVER_RESENT) | SACKED;
                fresh.on_sacked(&was, mark);
                self.uncount(&was, was.len as u64);
                self.sacked += was.len as u64;
                self.sacked_segments += 1;
                news += was.len as u64;
            }
            i += 1;
        }
        news
    }

    /// RFC 6675 `IsLost`: marks every unsacked segment below which `dupthresh` SACKed ranges, or more than
    /// `dupthresh - 1` segments' worth of SACKed bytes, lie above. Returns whether anything new was marked.
    pub fn mark_lost_by_sack(&mut self, dupthresh: u32, mss: u64) -> bool {
        let (mut bytes, mut count) = (0u64, 0u32);
        let mut boundary = 0;
        for r in self.ranges.iter().rev() {
            bytes += r.1 - r.0;
            count += 1;
            if count >= dupthresh || bytes > (dupthresh as u64 - 1) * mss {
                boundary = r.0;
                break;
            }
        }
        self.mark_lost_below(boundary)
    }

    /// Marks every unsacked, not yet marked segment below `boundary` lost.
    pub fn mark_lost_below(&mut self, boundary: u64) -> bool {
        if boundary <= self.loss_boundary {
            return false;
        }
        let before = self.lost;
        let mut i = self.find(self.loss_boundary);
        while let Some(s) = self.ring.get_mut(i) {
            if s.end() > boundary {
                break;
            }
            if s.flags & (SACKED | LOST) == 0 {
                s.flags |= LOST;
                self.lost += s.len as u64;
                if !s.is_retransmitted() {
                    self.waiting += s.len as u64;
                    self.ever_lost += s.len as u64;
                    self.retransmit_cursor = self.retransmit_cursor.min(self.popped + i as u64);
                }
            }
            i += 1;
        }
        self.loss_boundary = boundary;
        self.lost > before
    }

    /// Marks the first segment lost unless it is already; returns whether it was new.
    pub fn mark_first_lost(&mut self) -> bool {
        let popped = self.popped;
        let Some(s) = self.ring.front_mut() else { return false };
        if s.flags & (SACKED | LOST) != 0 {
            return false;
        }
        s.flags |= LOST;
        self.lost += s.len as u64;
        if !s.is_retransmitted() {
            self.waiting += s.len as u64;
            self.ever_lost += s.len as u64;
            self.retransmit_cursor = self.retransmit_cursor.min(popped);
        }
        true
    }

    /// The first segment was lost, perhaps once more although it was retransmitted: it waits. Returns whether there is one.
    pub fn mark_first_lost_again(&mut self) -> bool {
        let popped = self.popped;
        match self.ring.front_mut() {
            Some(s) if s.flags & (SACKED | LOST | RETRANSMITTED) == LOST | RETRANSMITTED => {
                s.flags &= !RETRANSMITTED;
                self.retransmitted -= s.len as u64;
                self.waiting += s.len as u64;
                self.ever_lost += s.len as u64;
                self.retransmit_cursor = self.retransmit_cursor.min(popped);
                true
            }
            Some(s) if s.is_lost() => true,
            _ => self.mark_first_lost(),
        }
    }

    /// A timeout: everything that ends at or below `high` is held lost, SACKed segments too unless they are kept.
    pub fn mark_all_lost(&mut self, keep: SackAfterTimeout, high: u64) {
        if keep == SackAfterTimeout::Clear {
            self.ranges.clear();
            (self.sacked, self.sacked_segments) = (0, 0);
        }
        let waited = self.waiting;
        (self.lost, self.retransmitted, self.waiting, self.suspect_cursor) = (0, 0, 0, self.popped);
        self.retransmissions = Default::default();
        for s in &mut self.ring {
            if keep == SackAfterTimeout::Clear {
                s.flags &= !SACKED;
            }
            s.flags &= !(RETRANSMITTED | LOST);
            if s.flags & SACKED == 0 && s.end() <= high {
                s.flags |= LOST;
                self.lost += s.len as u64;
            }
        }
        self.waiting = self.lost;
        self.ever_lost += self.lost.saturating_sub(waited);
        self.retransmit_cursor = self.popped;
        self.loss_boundary = self.ring.back().map_or(self.loss_boundary, |s| s.end().min(high));
    }

    /// The timeout was a mistake: nothing is held lost any more.
    pub fn clear_lost(&mut self) {
        for s in &mut self.ring {
            s.flags &= !(LOST | RETRANSMITTED);
        }
        (self.lost, self.retransmitted, self.waiting, self.suspect_cursor) = (0, 0, 0, self.popped);
        self.loss_boundary = 0;
        self.retransmissions = Default::default();
        self.retransmit_cursor = self.popped;
    }

    /// The next segment that is lost and waits to be retransmitted.
    pub fn next_lost(&mut self) -> Option<Sent> {
        if self.waiting == 0 {
            return None;
        }
        loop {
            let s = *self.ring.get((self.retransmit_cursor - self.popped) as usize)?;
            if s.flags & (LOST | RETRANSMITTED) == LOST {
                return Some(s);
            }
            self.retransmit_cursor += 1;
        }
    }

    /// RFC 6675 `NextSeg` rule 3: the first unsacked segment below the highest SACK that was never retransmitted.
    pub fn next_suspect(&mut self) -> Option<Sent> {
        let high = self.highest_sacked();
        self.suspect_cursor = self.suspect_cursor.max(self.popped);
        loop {
            let s = self.ring.get((self.suspect_cursor - self.popped) as usize).filter(|s| s.end() <= high)?;
            if s.flags & (SACKED | LOST | RETRANSMITTED) == 0 {
                return Some(*s);
            }
            self.suspect_cursor += 1;
        }
    }

    /// Compares every counter with a recount; `una` and `nxt` are the ends of the window.
    pub fn audit(&self, una: u64, nxt: u64) -> Result<(), String> {
        let sum = |f: &dyn Fn(&Sent) -> bool| self.ring.iter().filter(|s| f(s)).map(|s| s.len as u64).sum::<u64>();
        let same = |what: &str, kept: u64, counted: u64| {
            if kept == counted { Ok(()) } else { Err(format!("{what}: {kept} kept, {counted} counted")) }
        };
        same("outstanding bytes", nxt - una, sum(&|_| true))?;
        same("SACKed bytes", self.sacked, sum(&|s| s.is_sacked()))?;
        same("SACKed segments", self.sacked_segments.into(), self.segments().filter(|s| s.is_sacked()).count() as u64)?;
        same("lost bytes", self.lost, sum(&|s| s.is_lost()))?;
        same("retransmitted bytes", self.retransmitted, sum(&|s| s.is_retransmitted()))?;
        same("bytes that wait", self.waiting, sum(&|s| s.is_lost() && !s.is_retransmitted()))?;
        same("SACKed and lost", 0, sum(&|s| s.is_sacked() && s.is_lost()))?;
        let within = |s: &Sent| {
            let i = self.ranges.partition_point(|r| r.1 < s.end());
            self.ranges.get(i).is_some_and(|r| r.0 <= s.start)
        };
        same("bytes in ranges", self.sacked, sum(&within))?;
        let waiting = |s: &Sent| s.is_lost() && !s.is_retransmitted();
        let first = self.ring.iter().position(waiting).map_or(u64::MAX, |i| self.popped + i as u64);
        if first < self.retransmit_cursor {
            return Err(format!("segment {first} waits behind the cursor {}", self.retransmit_cursor));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(n: u64) -> Scoreboard {
        let mut b = Scoreboard::default();
        (0..n).for_each(|i| b.push(i * 100, 100, Time(i)));
        b
    }

    #[test]
    fn three_sacked_segments_mark_everything_below_them_lost() {
        let mut b = board(10);
        assert_eq!(b.sack((300, 500), 0, &mut false), 200);
        assert!(!b.mark_lost_by_sack(3, 100));
        assert_eq!(b.sack((300, 600), 0, &mut false), 100);
        assert!(b.mark_lost_by_sack(3, 100));
        assert_eq!(b.lost_bytes(), 300);
        assert_eq!(b.next_lost().map(|s| s.start), Some(0));
        b.retransmit(0, Time(9));
        assert_eq!(b.next_lost().map(|s| s.start), Some(100));
    }

    #[test]
    fn three_separate_holes_count_as_three_even_when_short() {
        let mut b = board(10);
        for k in [2, 4, 6] {
            b.sack((k * 100, k * 100 + 100), 0, &mut false);
        }
        b.mark_lost_by_sack(3, 100);
        assert_eq!(b.lost_bytes(), 200);
    }

    #[test]
    fn karn_no_sample_from_an_ack_that_covers_a_retransmission() {
        let mut b = board(3);
        b.retransmit(0, Time(50));
        assert_eq!(b.ack_to(300, 0).timed, None);
        let mut b = board(3);
        assert_eq!(b.ack_to(300, 0).timed, Some(Time(0)));
    }

    #[test]
    fn after_a_timeout_kept_sacks_are_not_sent_again() {
        let mut b = board(5);
        b.sack((200, 300), 0, &mut false);
        b.mark_all_lost(SackAfterTimeout::Keep, u64::MAX);
        assert_eq!((b.lost_bytes(), b.sacked_bytes()), (400, 100));
        b.mark_all_lost(SackAfterTimeout::Clear, u64::MAX);
        assert_eq!((b.lost_bytes(), b.sacked_bytes()), (500, 0));
    }

    #[test]
    fn overlapping_and_repeated_blocks_count_once() {
        let mut b = board(10);
        assert_eq!(b.sack((200, 400), 0, &mut false), 200);
        assert_eq!(b.sack((200, 400), 0, &mut false), 0);
        assert_eq!(b.sack((600, 700), 0, &mut false), 100);
        assert_eq!(b.sack((100, 800), 0, &mut false), 400);
        assert_eq!(b.sacked_ranges().collect::<Vec<_>>(), [(100, 800)]);
        assert_eq!(b.ack_to(900, 0).bytes, 900);
        assert_eq!((b.sacked_bytes(), b.len()), (0, 1));
    }
}
