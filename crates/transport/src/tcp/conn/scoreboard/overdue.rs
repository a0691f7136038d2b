//! Which segments are lost by the clock (RACK), found without a walk over the window: those sent once stand in the order in which they left,
//! and retransmissions in a list of their own.

use super::Scoreboard;
use super::segment::{LOST, RETRANSMITTED, SACKED};
use crosswind_base::{Dur, Time};

/// What the clock says of segments that left before a delivered one.
#[derive(Clone, Copy, Debug)]
pub struct Overdue {
    pub now: Time,
    /// When the delivered segment that left last did so, and its end.
    pub newest: (Time, u64),
    /// How long after they left they are lost.
    pub wait: Dur,
}

/// What was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// Something is lost that was not.
    pub has_losses: bool,
    /// When all that may still arrive will be lost, or never.
    pub deadline: Time,
}

impl Found {
    /// A segment that left before the delivered one, then; returns whether it is lost.
    fn judge(&mut self, sent_at: Time, o: &Overdue) -> bool {
        let due = sent_at + o.wait;
        if due <= o.now {
            self.has_losses = true;
            return true;
        }
        self.deadline = if self.deadline == Time::NEVER { due } else { self.deadline.max(due) };
        false
    }
}

impl Scoreboard {
    /// Segments that left before `newest` and longer ago than `wait` are lost, retransmissions once more: they wait to be retransmitted.
    pub fn mark_overdue(&mut self, o: &Overdue) -> Found {
        let mut found = Found { has_losses: false, deadline: Time::NEVER };
        self.mark_overdue_originals(o, &mut found);
        self.mark_overdue_retransmissions(o, &mut found);
        found
    }

    /// What is neither SACKed, held lost nor on its way again. The cursor is the first such segment.
    fn mark_overdue_originals(&mut self, o: &Overdue, found: &mut Found) {
        let mut i = self.suspect_cursor.saturating_sub(self.popped) as usize;
        let mut is_first = true;
        while let Some(s) = self.ring.get(i).copied() {
            let mut next = i + 1;
            if s.is_sacked() {
                let range = self.ranges.partition_point(|r| r.1 < s.end());
                next = next.max(self.ranges.get(range).map_or(0, |r| self.find(r.1)));
            } else if s.flags & (LOST | RETRANSMITTED) == 0 {
                let is_later = (s.sent_at, s.end()) >= o.newest;
                if !is_later && found.judge(s.sent_at, o) {
                    self.hold_lost_again(i);
                } else {
                    if is_first {
                        (self.suspect_cursor, is_first) = (self.popped + i as u64, false);
                    }
                    // All that follow left later still, unless this one was retransmitted.
                    if is_later && !s.was_ever_retransmitted() {
                        return;
                    }
                }
            }
            i = next;
        }
        if is_first {
            self.suspect_cursor = self.popped + i.min(self.ring.len()) as u64;
        }
    }

    /// Marks everything lost that left before `time` and is neither SACKed, held lost nor retransmitted.
    pub fn mark_lost_sent_before(&mut self, time: Time) {
        let mut i = self.suspect_cursor.saturating_sub(self.popped) as usize;
        let mut first_left = None;
        while let Some(s) = self.ring.get(i).copied() {
            let is_suspect = s.flags & (SACKED | LOST | RETRANSMITTED) == 0;
            if is_suspect && s.sent_at < time {
                self.hold_lost_again(i);
            } else if is_suspect {
                first_left = first_left.or(Some(i));
            }
            // All that follow left later still.
            if s.sent_at >= time && !s.was_ever_retransmitted() {
                break;
            }
            i += 1;
        }
        self.suspect_cursor = self.popped + first_left.unwrap_or(i) as u64;
    }

    fn mark_overdue_retransmissions(&mut self, o: &Overdue, found: &mut Found) {
        let mut k = 0;
        while let Some(&(start, at)) = self.retransmissions.0.get(k)
            && at <= o.newest.0
        {
            let on_its_way = self.on_its_way((start, at));
            if let Some(i) = on_its_way
                && ((at, self.ring[i].end()) >= o.newest || !found.judge(at, o))
            {
                k += 1;
                continue;
            }
            if let Some(i) = on_its_way {
                self.hold_lost_again(i);
            }
            self.retransmissions.0.remove(k);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sent;
    use super::*;
    use crate::tcp::choices::SackAfterTimeout;
    use crosswind_base::{Rng, Streams};

    const LEN: u64 = 100;

    /// The same by asking every segment: the numbers of those that are lost, and the deadline.
    fn plain(b: &Scoreboard, o: &Overdue) -> (Vec<u64>, Time) {
        let asked = b.segments().filter(|s| !s.is_sacked() && (!s.is_lost() || s.is_retransmitted()));
        let older: Vec<Sent> = asked.copied().filter(|s| (s.sent_at, s.end()) < o.newest).collect();
        let (lost, kept): (Vec<Sent>, Vec<Sent>) = older.iter().partition(|s| s.sent_at + o.wait <= o.now);
        let deadline = kept.iter().map(|s| s.sent_at + o.wait).max().unwrap_or(Time::NEVER);
        (lost.iter().map(|s| s.start).collect(), deadline)
    }

    fn step(r: &mut Rng, b: &mut Scoreboard, now: Time, ends: &mut (u64, u64)) {
        match r.below(10) {
            0..=2 => {
                b.push(ends.1, LEN as u32, now);
                ends.1 += LEN;
            }
            3 => {
                let to = ends.0 + LEN * r.below((ends.1 - ends.0) / LEN + 1);
                b.ack_to(to, 0);
                ends.0 = to;
            }
            4..=6 => {
                let from = ends.0 + LEN * r.below((ends.1 - ends.0) / LEN + 1);
                b.sack((from, from + LEN * (1 + r.below(3))), 0, &mut false);
            }
            7 | 8 => {
                if let Some(s) = b.next_lost().or_else(|| b.segments().next_back().copied().filter(|s| !s.is_sacked()))
                {
                    b.retransmit(s.start, now);
                }
            }
            _ => match r.below(4) {
                0 => b.clear_lost(),
                1 => {
                    b.mark_all_lost(SackAfterTimeout::Keep, u64::MAX);
                    b.spare_sent_after(Time(now.0.saturating_sub(r.below(40))));
                }
                2 => drop(b.mark_first_lost()),
                _ => b.mark_lost_but_retransmitted(SackAfterTimeout::Clear, u64::MAX),
            },
        }
    }

    #[test]
    fn what_left_long_ago_is_held_lost_unless_it_was_sent_again() {
        let mut b = Scoreboard::default();
        (0..6).for_each(|i| b.push(i * 100, 100, Time(i)));
        b.sack((100, 200), 0, &mut false);
        b.mark_first_lost();
        b.retransmit(0, Time(40));
        b.mark_lost_sent_before(Time(4));
        assert_eq!((b.lost_bytes(), b.next_lost().map(|s| s.start)), (300, Some(200)));
        b.audit(0, 600).expect("the counters agree with the segments");
    }

    #[test]
    fn the_walk_from_the_cursor_finds_what_a_walk_over_all_finds() {
        let mut found = 0;
        for seed in 0..300 {
            let mut r = Streams::new(seed).named("overdue");
            let (mut b, mut ends, mut now) = (Scoreboard::default(), (1, 1), Time(1));
            for n in 0..120 {
                now += Dur(r.below(4));
                step(&mut r, &mut b, now, &mut ends);
                let time = Time(now.0.saturating_sub(r.below(60)));
                let waits = |s: &&Sent| s.is_lost() && !s.is_retransmitted();
                let asked = |s: &&Sent| asked_of(s) && s.sent_at < time;
                let mut expected: Vec<u64> = b.segments().filter(|s| waits(s) || asked(s)).map(|s| s.start).collect();
                found += b.segments().filter(asked).count();
                expected.sort_unstable();
                b.mark_lost_sent_before(time);
                assert_eq!(b.segments().filter(waits).map(|s| s.start).collect::<Vec<_>>(), expected, "{seed}, {n}");
                b.audit(ends.0, ends.1).expect("the counters agree with the segments");
                if r.below(8) == 0 && b.next_suspect().is_none() {
                    let above = |s: &&Sent| s.end() <= b.highest_sacked() && asked_of(s);
                    assert!(b.segments().find(above).is_none(), "{seed}, {n}: the cursor has passed one");
                }
            }
        }
        assert!(found > 1000, "{found}");
    }

    fn asked_of(s: &Sent) -> bool {
        s.flags & (SACKED | LOST | RETRANSMITTED) == 0
    }

    #[test]
    fn the_same_segments_are_lost_as_when_each_is_asked() {
        let mut seen = [0; 2];
        for seed in 0..300 {
            let mut r = Streams::new(seed).named("overdue");
            let (mut b, mut ends, mut now) = (Scoreboard::default(), (1, 1), Time(1));
            for n in 0..120 {
                now += Dur(r.below(4));
                step(&mut r, &mut b, now, &mut ends);
                let newest = (Time(now.0.saturating_sub(r.below(30))), ends.0 + LEN * r.below(10));
                let o = Overdue { now, newest, wait: Dur(r.below(40)) };
                let (lost, deadline) = plain(&b, &o);
                let before: Vec<_> =
                    b.segments().filter(|s| s.is_lost() && !s.is_retransmitted()).map(|s| s.start).collect();
                let found = b.mark_overdue(&o);
                assert_eq!((found.has_losses, found.deadline), (!lost.is_empty(), deadline), "seed {seed}, step {n}");
                let mut waiting = [before, lost].concat();
                waiting.sort_unstable();
                let now_waiting = b.segments().filter(|s| s.is_lost() && !s.is_retransmitted()).map(|s| s.start);
                assert_eq!(now_waiting.collect::<Vec<_>>(), waiting, "seed {seed}, step {n}");
                b.audit(ends.0, ends.1).expect("the counters agree with the segments");
                seen[0] += usize::from(found.has_losses);
                seen[1] += usize::from(found.deadline != Time::NEVER);
            }
        }
        assert!(seen.iter().all(|n| *n > 1000), "{seen:?}");
    }
}
