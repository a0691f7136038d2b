//! # RACK: loss detection by time
//!
//! **Source**: rfc8985 sections 5 and 6; linux-6.18 `tcp_recovery.c`.
//!
//! **Idea**: a segment is lost when one that left later has been delivered and `rtt + reo_wnd` have passed since it left, `rtt` being that
//! of the segment delivered last, however early it left. `reo_wnd` is zero until reordering has been seen while `dupthresh` segments are SACKed or
//! a recovery is under way; else a quarter of the least round trip, times a factor that grows with each D-SACK.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `recovery` | - | `rack` | in the preset `linux-6` |
//! | `dupthresh` | segments | 3 | rfc8985 section 3.3.1 |
//!
//! **Deviations**: 1. The check by timestamps of section 6.2 step 2 is made where there are some and the ACK advances: one that does not echoes
//! the last segment in order (RFC 7323 section 4.3), so a probe of the tail behind a hole would never count as delivered. Linux only asks
//! whether the ACK came sooner than the least round trip. 2. The least round trip is that of the whole connection, the handshake included. 3. The ACK that ends a recovery is not searched for new losses: the next one is. 4. Of several
//! retransmissions that one ACK delivers, step 2 looks at the one that left last.
//!
//! **Checked by**: `detect/rack_oracle.rs` (the pseudo-code over a plain list, on random traces); unit tests (window, factor, timeouts); `tests/linux6.rs`; the twins
//! with a real kernel (docs/validation.md).

use super::super::conn::scoreboard::Scoreboard;
use super::super::conn::scoreboard::overdue::Overdue;
use super::super::law::rtt_filter::RttFilter;
use super::{Detect, Phase, RecoveryPolicy, Status, Verdict, View};
use crate::tcp::facts::{Ack, is_older, stamp};
use crosswind_base::{Dur, Time};

/// Recoveries for which a widened reordering window stays (section 6.2 step 4).
const PERSIST: u32 = 16;

/// What is remembered of the segments delivered, and of reordering.
#[derive(Clone, Debug)]
pub struct Rack {
    /// The segment delivered that left last: when, and its end.
    newest: (Time, u64),
    /// The round trip of the last ACK that delivered anything: of the segment that left last of those.
    rtt: Dur,
    min_rtt: Dur,
    rtts: RttFilter,
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
    /// `tick`: of the timestamp clock, if there is one.
    pub fn new(tick: Option<Dur>) -> Rack {
        Rack {
            tick,
            newest: (Time::ZERO, 0),
            rtt: Dur::ZERO,
            min_rtt: Dur(u64::MAX),
            rtts: RttFilter::new(),
            is_reordered: false,
            factor: 1,
            persist: 0,
            dsack_until: None,
            deadline: Time::NEVER,
            has_news: false,
        }
    }

    /// What every ACK tells of round trips and of the segment delivered that left last.
    fn hear(&mut self, a: &Ack, handshake_rtt: Dur) {
        self.has_news = false;
        self.rtts.take(a);
        self.min_rtt = self.min_rtt.min(handshake_rtt);
        if let Some(r) = a.rtt {
            self.min_rtt = self.min_rtt.min(r);
        }
        self.is_reordered |= a.covers_original;
        self.update(a);
    }

    /// Section 6.2 step 2.
    fn update(&mut self, a: &Ack) {
        let is_valid = a.news_again.0 > Time::ZERO && self.is_of_retransmission(a);
        let again = if is_valid { a.news_again } else { Default::default() };
        let newest = a.news_once.max(again);
        if newest.0 == Time::ZERO {
            return;
        }
        self.rtt = a.now.since(newest.0);
        self.newest = self.newest.max(newest);
        // The first losses may come before any ACK that advances.
        if a.news_once.0 > Time::ZERO {
            self.min_rtt = self.min_rtt.min(a.now.since(a.news_once.0));
        }
    }

    /// Whether the last of the retransmissions delivered may have arrived in its last copy.
    fn is_of_retransmission(&self, a: &Ack) -> bool {
        let has_echo = a.ts_ecr != 0 && a.bytes > 0;
        let is_older = self.tick.is_some_and(|tick| has_echo && is_older(a.ts_ecr, stamp(a.news_again.0, tick)));
        !is_older && a.now.since(a.news_again.0) >= self.min_rtt
    }

    /// Section 6.2 step 4, but for the end of a recovery. Returns whether a D-SACK counted.
    fn count_duplicates(&mut self, a: &Ack, v: &View) -> bool {
        if self.dsack_until.is_some_and(|until| v.una >= until) {
            self.dsack_until = None;
        }
        let counts = a.reported_twice > 0 && self.dsack_until.is_none();
        if counts {
            self.dsack_until = Some(v.nxt);
            self.factor += 1;
            self.persist = PERSIST;
        }
        counts
    }

    /// The same step, for an ACK that ends a recovery and of which no D-SACK `counted`.
    fn end_recovery(&mut self, counted: bool) {
        if counted {
            return;
        }
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.factor = 1;
        }
    }

    fn reordering_window(&self, board: &Scoreboard, v: &View) -> Dur {
        let recovers = matches!(v.phase, Phase::Recovery { .. } | Phase::Timeout { .. });
        let many = board.sacked_segments() >= v.dupthresh;
        if !self.is_reordered && (recovers || many) || self.min_rtt == Dur(u64::MAX) {
            return Dur::ZERO;
        }
        let quarters = Dur(self.min_rtt.0 / 4).saturating_mul(u64::from(self.factor));
        let srtt = Dur::from_secs_f64(self.rtts.smoothed_s);
        if srtt == Dur::ZERO { quarters } else { quarters.min(srtt) }
    }

    /// Section 6.2 step 5.
    fn detect(&mut self, now: Time, board: &mut Scoreboard, v: &View) -> bool {
        let wait = Dur(self.rtt.0 + self.reordering_window(board, v).0);
        let found = board.mark_overdue(&Overdue { now, newest: self.newest, wait });
        (self.has_news, self.deadline) = (found.has_losses, found.deadline);
        self.has_news
    }
}

impl Detect for Rack {
    fn on_ack(&mut self, a: &Ack, _blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
        self.hear(a, v.handshake_rtt);
        let counted = self.count_duplicates(a, v);
        if let Phase::Recovery { high } = v.phase
            && v.una >= high
        {
            self.deadline = Time::NEVER;
            self.end_recovery(counted);
            return Verdict::Recovered;
        }
        if let Phase::Timeout { high } = v.phase
            && v.una >= high
        {
            self.end_recovery(counted);
        }
        let lost = self.detect(a.now, board, v);
        match v.phase {
            Phase::Recovery { .. } if a.bytes > 0 => Verdict::Partial { deflate: 0 },
            Phase::Open | Phase::Echo { .. } if lost => Verdict::Loss,
            _ => Verdict::Nothing,
        }
    }

    /// What left before the newest delivered segment and is still missing may be lost: that is looked at. D-SACKs that count are too.
    #[inline]
    fn quiet_after(&self) -> Option<(Time, u64)> {
        self.dsack_until.is_none().then_some(self.newest)
    }

    #[inline]
    fn on_in_order(&mut self, a: &Ack, handshake_rtt: Dur) {
        self.hear(a, handshake_rtt);
        self.deadline = Time::NEVER;
    }

    #[inline]
    fn in_flight(&self, board: &Scoreboard, v: &View) -> u64 {
        board.in_network(v.nxt - v.una)
    }

    #[inline]
    fn status(&self) -> Status {
        Status { next_wake: self.deadline, found_losses: self.has_news, ..Status::WATCHFUL }
    }

    fn on_wake(&mut self, board: &mut Scoreboard, v: &View) -> Verdict {
        let now = std::mem::replace(&mut self.deadline, Time::NEVER);
        let lost = self.detect(now, board, v);
        let quiet = matches!(v.phase, Phase::Open | Phase::Echo { .. });
        if lost && quiet { Verdict::Loss } else { Verdict::Nothing }
    }

    /// Section 6.3: of what is outstanding at a timeout, the first segment is lost, and what left so long ago.
    fn on_timeout(&mut self, now: Time, board: &Scoreboard, v: &View) -> Option<Time> {
        self.deadline = Time::NEVER;
        Some(Time(now.0.saturating_sub(self.rtt.0 + self.reordering_window(board, v).0)))
    }

    fn policy(&self) -> RecoveryPolicy {
        RecoveryPolicy {
            watches_order: true,
            counts_by_board: true,
            retransmits_suspects: false,
            ..RecoveryPolicy::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::choices::SackAfterTimeout;
    use crate::tcp::preset;

    const MSS: u64 = 1000;

    fn rack() -> Rack {
        let p = preset::preset("linux-6").expect("a preset");
        let mut rack = Rack::new(Some(p.connection.timestamp_tick));
        (rack.min_rtt, rack.rtt, rack.is_reordered) = (Dur::from_millis(100), Dur::from_millis(100), true);
        rack.rtts.take_sample(Some(Dur::from_millis(100)));
        rack
    }

    fn view(una: u64, phase: Phase) -> View {
        View {
            una,
            nxt: una + 10 * MSS,
            mss: MSS,
            dupthresh: 3,
            phase,
            recovery_point: 0,
            limited_transmit: true,
            cwnd: 1e4,
            handshake_rtt: Dur(u64::MAX),
        }
    }

    #[test]
    fn the_window_is_a_quarter_of_the_least_round_trip_times_the_factor_and_a_smoothed_one_at_most() {
        let mut rack = rack();
        let board = Scoreboard::new();
        let mut of = |factor: u32| {
            rack.factor = factor;
            rack.reordering_window(&board, &view(1, Phase::Open))
        };
        assert_eq!((of(1), of(2)), (Dur::from_millis(25), Dur::from_millis(50)));
        // Sixteen quarters are more than a round trip: the bound is the smoothed round trip, not an eighth of it.
        assert_eq!(of(16), Dur::from_millis(100));
    }

    #[test]
    fn three_segments_are_enough_however_short_the_last_is() {
        let mut rack = rack();
        rack.is_reordered = false;
        let mut board = Scoreboard::new();
        for (start, len) in [(1, 1000), (1001, 1000), (2001, 1000), (3001, 10)] {
            board.push(start, len, Time(1_000_000));
        }
        let mut window = |block: (u64, u64)| {
            board.sack(block, 0, &mut false);
            rack.reordering_window(&board, &view(1, Phase::Open))
        };
        assert_eq!(window((1001, 3001)), Dur::from_millis(25));
        assert_eq!(window((3001, 3011)), Dur::ZERO);
    }

    #[test]
    fn a_dsack_on_the_ack_that_ends_a_recovery_holds_the_factor_for_sixteen_more() {
        let mut rack = rack();
        let (high, mut board) = (100 * MSS, Scoreboard::new());
        let a = Ack { now: Time(1_000_000_000), bytes: MSS, reported_twice: MSS, ..Ack::default() };
        rack.on_ack(&a, &[], &mut board, &view(high, Phase::Recovery { high }));
        assert_eq!((rack.factor, rack.persist), (2, 16));
    }

    #[test]
    fn a_segment_that_comes_late_tells_the_round_trip_although_a_later_one_was_there_before() {
        let mut rack = rack();
        let at = |ms: u64| Time(ms * 1_000_000);
        let ack = |now, sent, end| Ack { now: at(now), bytes: MSS, news_once: (at(sent), end), ..Ack::default() };
        rack.hear(&ack(1100, 1000, 5001), Dur(u64::MAX));
        rack.hear(&ack(1150, 990, 4001), Dur(u64::MAX));
        assert_eq!((rack.newest, rack.rtt), ((at(1000), 5001), Dur::from_millis(160)));
        // A retransmission that is answered too early says nothing; what came once with it does.
        let both = Ack { news_again: (at(1190), 6001), ..ack(1200, 1080, 7001) };
        rack.hear(&both, Dur(u64::MAX));
        assert_eq!((rack.newest, rack.rtt), ((at(1080), 7001), Dur::from_millis(120)));
    }

    #[test]
    fn each_round_with_a_dsack_widens_the_window_and_sixteen_recoveries_later_it_is_as_before() {
        let mut rack = rack();
        for round in 1..=3u32 {
            let v = view(1 + u64::from(round) * 20 * MSS, Phase::Open);
            let a = Ack { reported_twice: MSS, ..Ack::default() };
            rack.count_duplicates(&a, &v);
            rack.count_duplicates(&a, &v);
            assert_eq!(rack.factor, 1 + round, "once a round");
        }
        let mut board = Scoreboard::new();
        for recovery in 1..=16 {
            assert_eq!(rack.factor, 4, "recovery {recovery}");
            let high = 100 * MSS;
            // Timeouts count like fast recoveries.
            let phase = if recovery % 2 == 0 { Phase::Recovery { high } } else { Phase::Timeout { high } };
            let a = Ack { now: Time(1_000_000_000), bytes: MSS, ..Ack::default() };
            rack.on_ack(&a, &[], &mut board, &view(high, phase));
        }
        assert_eq!(rack.factor, 1);
    }

    #[test]
    fn a_timeout_holds_the_first_segment_lost_and_what_left_a_round_trip_and_the_window_ago() {
        let mut rack = rack();
        let mut board = Scoreboard::new();
        for k in 0..5 {
            board.push(1 + k * MSS, MSS as u32, Time(1_000_000_000 + k * 50_000_000));
        }
        let now = Time(1_200_000_000);
        let late = rack.on_timeout(now, &board, &view(1, Phase::Open)).expect("it says so");
        assert_eq!(late, Time(1_075_000_000), "100 ms and a quarter ago");
        board.mark_all_lost(SackAfterTimeout::Keep, u64::MAX);
        board.spare_sent_after(late);
        assert_eq!(board.lost_bytes(), 2 * MSS, "those of 1.0 and 1.05 s");
        assert_eq!(board.waiting().map(|s| s.start).collect::<Vec<_>>(), [1, 1 + MSS]);
        board.audit(1, 1 + 5 * MSS).expect("the counters agree with the segments");
        // Had all of them left just now, the first would still be lost.
        board.mark_all_lost(SackAfterTimeout::Keep, u64::MAX);
        board.spare_sent_after(Time(1));
        assert_eq!(board.lost_bytes(), MSS);
    }
}
