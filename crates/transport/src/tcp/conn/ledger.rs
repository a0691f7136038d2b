//! # Delivery rate
//!
//! **Source**: draft-ietf-ccwg-bbr section 4.1; linux-6.18 `tcp_rate.c`.
//!
//! **Idea**: an ACK delivers segments; of these, the one that left last is looked at. `rate = delivered / max(sending, acking)`, where
//! `delivered` is what has been delivered since it left, `acking` how long that took, and `sending` how long its flight took to
//! leave. So compressed ACKs never show more than was sent. A sample over less than the least round trip gives no rate. It is
//! *application-limited* where the sender had run out of data before the segment left.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `law` | - | `reno` | measured for controllers that ask for it (`bbr`; laws of a program with `every_ack`) |
//!
//! **Deviations**: 1. Bytes are counted, in Linux segments. 2. The least round trip is that of the whole connection, in Linux of the last
//! five minutes. 3. Where the sender has run out of data is looked at after each attempt to send, not before each ACK and write: nothing
//! changes between.
//!
//! **Checked by**: `conn/ledger_oracle.rs` (the rules of the draft with whole copies, on random flights; compressed ACKs; rounds),
//! `crates/sim/tests/bbr.rs`.

use super::super::detect::delivered::Delivered;
use super::scoreboard::{OnSacked, Sent};
use crosswind_base::{Dur, Time};
use std::collections::VecDeque;

/// One transmission, and what the connection had delivered when it left.
#[derive(Clone, Copy, Debug)]
struct Record {
    end: u64,
    len: u32,
    sent_at: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// Bytes held lost until then, and under way with it.
    lost: u64,
    flight: u64,
    is_app_limited: bool,
    is_retransmitted: bool,
    is_delivered: bool,
    /// The controller knows that this transmission is lost.
    is_told: bool,
}

/// A segment leaves.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    pub now: Time,
    pub end: u64,
    /// Its sequence numbers.
    pub len: u64,
    /// Bytes in the network, this segment included.
    pub flight: u64,
    /// Nothing was in the network.
    pub was_idle: bool,
}

/// What an ACK has shown of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delivery {
    /// Bytes delivered so far, and when the last of them were.
    pub delivered: u64,
    pub delivered_at: Time,
    /// Bytes ever held lost.
    pub lost: u64,
    /// Bytes that this ACK delivered.
    pub newly: u64,
    /// Bytes that had been delivered when the segment looked at left.
    pub prior_delivered: u64,
    /// Bytes held lost since the segment looked at left, and bytes that were in the network then, itself included.
    pub lost_since: u64,
    pub flight: u64,
    /// Bytes per second, where the ACK gives a sample.
    pub rate: Option<f64>,
    pub is_app_limited: bool,
    /// Round trip of the segment looked at, if it was sent once.
    pub trip: Option<Dur>,
    /// The least of all.
    pub least_trip: Option<Dur>,
    /// Round trips so far: one ends with the ACK of what left after its begin.
    pub rounds: u64,
    /// The ACK may have waited at the receiver: it is for a single short segment.
    pub may_have_waited: bool,
    /// When pacing lets the next segment leave; in the past where it holds nothing back.
    pub departs_at: Time,
}

/// All of a connection.
#[derive(Debug, Default)]
pub struct Ledger {
    /// In the order of their ends.
    records: VecDeque<Record>,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// Samples are application-limited until so much has been delivered; zero: they are not.
    limited_until: u64,
    least_trip: Option<Dur>,
    round_end: u64,
    rounds: u64,
    /// Bytes that the controller has been told are lost.
    lost: u64,
    /// Of the ACK in hand.
    now: Time,
    newly: u64,
    newest: Option<Record>,
    segments: u32,
}

impl Ledger {
    pub fn sent(&mut self, d: Departure) {
        if d.was_idle {
            (self.first_sent_at, self.delivered_at) = (d.now, d.now);
        }
        let record = Record {
            end: d.end,
            len: d.len as u32,
            sent_at: d.now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost: self.lost,
            flight: d.flight,
            is_app_limited: self.is_app_limited(),
            is_retransmitted: false,
            is_delivered: false,
            is_told: false,
        };
        if self.records.back().is_none_or(|r| r.end < d.end) {
            return self.records.push_back(record);
        }
        let i = self.find(d.end);
        match self.records.get_mut(i) {
            Some(r) if r.end == d.end => *r = Record { is_retransmitted: true, is_delivered: r.is_delivered, ..record },
            Some(_) => self.records.insert(i, record),
            None => self.records.push_back(record),
        }
    }

    /// Position of the record that ends at `end`, or where it would stand.
    fn find(&self, end: u64) -> usize {
        let Some(first) = self.records.front() else { return 0 };
        // Segments are of one length but for a few: most of them stand where that says.
        let guess = (end.saturating_sub(first.end) / u64::from(first.len.max(1))) as usize;
        if self.records.get(guess).is_some_and(|r| r.end == end) {
            return guess;
        }
        self.records.partition_point(|r| r.end < end)
    }

    /// The sender has nothing more to send, and could: `in_flight` bytes are under way.
    pub fn runs_out(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }
    pub fn is_app_limited(&self) -> bool {
        self.limited_until > 0
    }
    /// Bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// An ACK arrives that acknowledges everything below `ack`.
    pub fn begin(&mut self, now: Time, ack: u64) {
        (self.now, self.newly, self.newest, self.segments) = (now, 0, None, 0);
        while let Some(r) = self.records.front().copied().filter(|r| r.end <= ack) {
            self.deliver(r);
            self.records.pop_front();
        }
    }

    fn deliver(&mut self, r: Record) {
        if r.is_delivered {
            return;
        }
        self.delivered += u64::from(r.len);
        self.delivered_at = self.now;
        self.newly += u64::from(r.len);
        self.segments += 1;
        if self.newest.is_none_or(|n| (r.sent_at, r.end) > (n.sent_at, n.end)) {
            self.newest = Some(r);
        }
    }

    /// The ACK has been read to its end.
    pub fn sample(&mut self, lost: u64, mss: u64, departs_at: Time) -> Delivery {
        if self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let mut out = Delivery {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost,
            newly: self.newly,
            prior_delivered: 0,
            lost_since: 0,
            flight: 0,
            rate: None,
            is_app_limited: false,
            trip: None,
            least_trip: self.least_trip,
            rounds: self.rounds,
            may_have_waited: false,
            departs_at,
        };
        let Some(r) = self.newest else { return out };
        if !r.is_retransmitted {
            let trip = self.now.since(r.sent_at);
            self.least_trip = Some(self.least_trip.map_or(trip, |least| least.min(trip)));
            out.trip = Some(trip);
        }
        let interval = r.sent_at.since(r.first_sent_at).max(self.now.since(r.delivered_at));
        self.first_sent_at = r.sent_at;
        if interval >= self.least_trip.unwrap_or_default() && interval > Dur::ZERO {
            out.rate = Some((self.delivered - r.delivered) as f64 / interval.as_secs_f64());
        }
        if r.delivered >= self.round_end {
            self.round_end = self.delivered;
            self.rounds += 1;
        }
        (out.prior_delivered, out.flight) = (r.delivered, r.flight);
        out.lost_since = self.lost - r.lost;
        out.is_app_limited = r.is_app_limited;
        out.may_have_waited = self.segments == 1 && self.newly < mss && self.delivered - r.delivered == self.newly;
        (out.least_trip, out.rounds) = (self.least_trip, self.rounds);
        out
    }
}

/// A segment is held lost: what the controller hears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lost {
    pub now: Time,
    /// Its first byte, and its length.
    pub start: u64,
    pub len: u64,
    /// Bytes delivered so far.
    pub delivered: u64,
    /// Bytes held lost since it left, itself included, and bytes that were in the network then, itself included.
    pub lost_since: u64,
    pub flight: u64,
    pub is_app_limited: bool,
}

impl Ledger {
    /// Bytes of which [`Ledger::lose`] has told.
    pub fn told_lost(&self) -> u64 {
        self.lost
    }

    /// A segment that has not been retransmitted since is held lost. The first time it is asked about one, it tells of it.
    pub fn lose(&mut self, s: &Sent, now: Time) -> Option<Lost> {
        let i = self.find(s.end());
        let r = self.records.get_mut(i).filter(|r| r.end == s.end() && !r.is_told)?;
        r.is_told = true;
        let len = u64::from(r.len);
        self.lost += len;
        Some(Lost {
            now,
            start: s.start,
            len,
            delivered: self.delivered,
            lost_since: self.lost - r.lost,
            flight: r.flight,
            is_app_limited: r.is_app_limited,
        })
    }
}

/// Both are told of segments that SACK blocks report.
pub struct Both<'a>(pub &'a mut Delivered, pub &'a mut Ledger);

impl OnSacked for Both<'_> {
    fn on_sacked(&mut self, s: &Sent, mark: u64) {
        self.0.on_sacked(s, mark);
        let end = s.end();
        let i = self.1.find(end);
        let Some(r) = self.1.records.get_mut(i).filter(|r| r.end == end) else { return };
        let before = std::mem::replace(&mut r.is_delivered, true);
        let r = Record { is_delivered: before, ..*r };
        self.1.deliver(r);
    }
}
