//! # RACK: loss detection by time
//!
//! **Source**: rfc8985 sections 5 and 6; linux-6.18 `tcp_recovery.c`.
//!
//! **Idea**: a segment is lost when one that left later has been delivered and `rtt + reo_wnd` have passed since it left, `rtt` being that
//! of the segment delivered last. `reo_wnd` is zero until reordering has been seen while `dupthresh` segments are SACKed or
//! a recovery is under way; else a quarter of the least round trip, times a factor that grows with each D-SACK.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `recovery` | - | `rack` | in the preset `linux-6` |
//! | `dupthresh` | segments | 3 | rfc8985 section 3.3.1 |
//!
//! **Deviations**: 1. The check by timestamps of section 6.2 step 2 is made where there are some; Linux only asks whether the
//! ACK came sooner than the least round trip. 2. The least round trip is that of the
//! whole connection. 3. The ACK that ends a recovery is not searched for new losses: the next one is. 4. A timeout holds
//! everything lost that is not SACKed, not only what is old enough (section 6.3): more is sent again after a spurious one.
//! 5. An ACK that shows a loss looks at every segment that left before: the work grows with the window.
//!
//! **Checked by**: `detect/rack_oracle.rs` (the pseudo-code over a plain list, on random traces); `tests/linux6.rs`; the twins
//! with a real kernel (docs/validation.md).

use super::super::conn::scoreboard::Scoreboard;
use super::super::law::seen::Seen;
use super::super::params::TcpParams;
use super::super::undo::eifel::is_older;
use super::super::{Ack, stamp};
use super::delivered::Fate;
use super::{Detect, Habits, Phase, Verdict, View};
use crosswind_base::{Dur, Time};

/// Recoveries for which a widened reordering window stays (section 6.2 step 4).
const PERSIST: u32 = 16;

/// What is remembered of the segments delivered, and of reordering.
#[derive(Clone, Debug)]
pub struct Rack {
    /// The segment delivered that left last: when, and its end.
    newest: (Time, u64),
    /// Its round trip.
    rtt: Dur,
    least_rtt: Dur,
    seen: Seen,
    is_reordered: bool,
    factor: u32,
    persist: u32,
    /// D-SACKs count once until this is acknowledged.
    dsack_until: Option<u64>,
    deadline: Time,
    has_news: bool,
    /// Of the clock of timestamps, where there are some.
    tick: Option<Dur>,
}

impl Rack {
    pub fn new(p: &TcpParams) -> Rack {
        Rack {
            tick: p.timestamps.on().then_some(p.timestamp_tick),
            newest: (Time::ZERO, 0),
            rtt: Dur::ZERO,
            least_rtt: Dur(u64::MAX),
            seen: Seen::new(),
            is_reordered: false,
            factor: 1,
            persist: 0,
            dsack_until: None,
            deadline: Time::NEVER,
            has_news: false,
        }
    }

    /// Section 6.2 step 2.
    fn update(&mut self, a: &Ack) {
        if a.newest <= self.newest || a.newest.0 == Time::ZERO {
            return;
        }
        let rtt = a.now.since(a.newest.0);
        // What the retransmission cannot have caused.
        let is_older = self.tick.is_some_and(|tick| a.ts_ecr != 0 && is_older(a.ts_ecr, stamp(a.newest.0, tick)));
        if a.newest_resent && (rtt < self.least_rtt || is_older) {
            return;
        }
        (self.newest, self.rtt) = (a.newest, rtt);
        // The first losses may come before any ACK that advances.
        if !a.newest_resent {
            self.least_rtt = self.least_rtt.min(rtt);
        }
    }

    /// Section 6.2 step 4, but for the end of a recovery.
    fn count_duplicates(&mut self, a: &Ack, v: &View) {
        if self.dsack_until.is_some_and(|until| v.una >= until) {
            self.dsack_until = None;
        }
        if a.reported_twice > 0 && self.dsack_until.is_none() {
            self.dsack_until = Some(v.nxt);
            self.factor += 1;
            self.persist = PERSIST;
        }
    }

    fn end_recovery(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.factor = 1;
        }
    }

    fn reordering_window(&self, board: &Scoreboard, v: &View) -> Dur {
        let recovers = matches!(v.phase, Phase::Recovery { .. } | Phase::Timeout { .. });
        let many = board.sacked_bytes() >= u64::from(v.dupthresh) * v.mss;
        if !self.is_reordered && (recovers || many) || self.least_rtt == Dur(u64::MAX) {
            return Dur::ZERO;
        }
        let quarters = Dur(self.least_rtt.0 / 4).saturating_mul(u64::from(self.factor));
        let srtt = Dur::from_secs_f64(self.seen.smoothed_s);
        if srtt == Dur::ZERO { quarters } else { quarters.min(srtt) }
    }

    /// Section 6.2 step 5.
    fn detect(&mut self, now: Time, board: &mut Scoreboard, v: &View) -> bool {
        let patience = Dur(self.rtt.0 + self.reordering_window(board, v).0);
        let newest = self.newest;
        let mut deadline = Time::NEVER;
        self.has_news = board.mark_lost_where(|s| {
            if (s.sent_at, s.end()) >= newest {
                // All that follow left later still, unless this one was sent again.
                return if s.was_ever_resent() { Fate::Keep } else { Fate::Stop };
            }
            let due = s.sent_at + patience;
            if due <= now {
                return Fate::Lost;
            }
            deadline = if deadline == Time::NEVER { due } else { deadline.max(due) };
            Fate::Keep
        });
        self.deadline = deadline;
        self.has_news
    }
}

impl Detect for Rack {
    fn on_ack(&mut self, a: &Ack, _blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
        self.has_news = false;
        self.seen.take(a);
        if let Some(r) = a.rtt {
            self.least_rtt = self.least_rtt.min(r);
        }
        self.is_reordered |= a.covers_original;
        self.update(a);
        self.count_duplicates(a, v);
        if let Phase::Recovery { high } = v.phase
            && v.una >= high
        {
            self.deadline = Time::NEVER;
            self.end_recovery();
            return Verdict::Recovered;
        }
        let lost = self.detect(a.now, board, v);
        match v.phase {
            Phase::Recovery { .. } if a.bytes > 0 => Verdict::Partial,
            Phase::Open | Phase::Echo { .. } if lost => Verdict::Loss,
            _ => Verdict::Nothing,
        }
    }

    #[inline]
    fn in_flight(&self, board: &Scoreboard, v: &View) -> u64 {
        v.nxt - v.una - board.sacked_bytes() - board.lost_bytes() + board.resent_bytes()
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn on_deadline(&mut self, board: &mut Scoreboard, v: &View) -> Verdict {
        let now = std::mem::replace(&mut self.deadline, Time::NEVER);
        let lost = self.detect(now, board, v);
        let quiet = matches!(v.phase, Phase::Open | Phase::Echo { .. });
        if lost && quiet { Verdict::Loss } else { Verdict::Nothing }
    }

    fn on_timeout(&mut self) {
        self.deadline = Time::NEVER;
    }

    fn found_losses(&self) -> bool {
        self.has_news
    }

    fn habits(&self) -> Habits {
        Habits { watches_order: true, resends_suspects: false, ..Habits::default() }
    }
}
