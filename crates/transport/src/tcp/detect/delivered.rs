//! What an acknowledgement has delivered, for rules that think in times: told segment by segment.

use super::super::conn::scoreboard::{Acked, OnSacked, Sent};
use crosswind_base::{Dur, Time};

/// Whether one lies below the mark and had never been retransmitted, and which of all segments delivered left last.
#[derive(Clone, Copy, Default, Debug)]
pub struct Delivered {
    pub original_below_mark: bool,
    /// Its last transmission and its end.
    pub newest: (Time, u64),
    /// It had been sent more than once.
    pub newest_retransmitted: bool,
    /// As `newest`, of those that had not been delivered before: of those sent once, and of those sent again.
    pub news_once: (Time, u64),
    pub news_again: (Time, u64),
    /// Segments.
    pub segments: u32,
}

impl Delivered {
    /// What a cumulative acknowledgement has delivered.
    #[inline]
    pub fn of(acked: &Acked) -> Delivered {
        let newest_retransmitted = acked.latest_retransmission > acked.latest_original;
        let newest = if newest_retransmitted { acked.latest_retransmission } else { acked.latest_original };
        let segments = acked.segments - acked.known_segments;
        let (news_once, news_again) = (acked.latest_unreported, acked.latest_retransmission);
        let original_below_mark = acked.original_below_mark;
        Delivered { original_below_mark, newest, newest_retransmitted, news_once, news_again, segments }
    }
}

impl Delivered {
    /// The round trip of the newest segment, if it was sent once.
    pub fn sample(&self, now: Time) -> Option<Dur> {
        (!self.newest_retransmitted && self.newest.0 > Time::ZERO).then(|| now.since(self.newest.0))
    }
}

impl OnSacked for Delivered {
    #[inline]
    fn on_sacked(&mut self, s: &Sent, mark: u64) {
        self.original_below_mark.on_sacked(s, mark);
        self.segments += 1;
        let (sent, is_again) = ((s.sent_at, s.end()), s.was_ever_retransmitted());
        if sent > self.newest {
            (self.newest, self.newest_retransmitted) = (sent, is_again);
        }
        let news = if is_again { &mut self.news_again } else { &mut self.news_once };
        *news = sent.max(*news);
    }
}
