//! What an ACK says, gathered once for everybody who is asked about it.

use super::Sender;
use super::blocks::reported_twice;
use super::state::real;
use crate::tcp::choices::{BackoffEnd, GrowWhen, RttSampling};
use crate::tcp::conn::ledger::Both;
use crate::tcp::detect::Phase;
use crate::tcp::detect::delivered::Delivered;
use crate::tcp::ecn::Marks;
use crate::tcp::ecn::counting::Progress;
use crate::tcp::facts::{Ack, stamp};
use crate::tcp::law::Controller;
use crate::tcp::params::TcpParams;
use crate::tcp::policies::WindowUpdates;
use crate::tcp::signal::ecn::Delivers;
use crate::tcp::undo::DetectSpurious;
use crosswind_base::{Dur, Packet, Time};

impl Sender {
    #[inline]
    pub(super) fn facts(&mut self, pkt: &Packet, blocks: &[(u64, u64)], p: &TcpParams, now: Time) -> Ack {
        let in_flight_before = self.in_flight_before(p, now);
        let mark = match self.spurious.is_active() {
            true => self.spurious.high(),
            false if self.recovery.watches_order => self.board.highest_sacked(),
            false => self.recovery_point,
        };
        let before = self.una;
        let is_timed = self.may_be_timed(p);
        let mut ledger = self.optional.as_mut().and_then(|x| x.ledger());
        if let Some(ledger) = &mut ledger {
            ledger.begin(now, pkt.ack);
        }
        let acked = if pkt.ack > self.una { self.board.ack_to(pkt.ack, mark) } else { Default::default() };
        self.una = self.una.max(pkt.ack);
        let (mut sacked, mut delivered) = (0, Delivered::of(&acked));
        if self.recovery.uses_scoreboard {
            for b in blocks {
                sacked += match &mut ledger {
                    Some(ledger) => self.board.sack(*b, mark, &mut Both(&mut delivered, ledger)),
                    None => self.board.sack(*b, mark, &mut delivered),
                };
            }
        }
        let is_update = pkt.ack + pkt.wnd as u64 > self.window_edge;
        self.hear_window(pkt, before);
        let duplicate = pkt.ack == before && self.is_duplicate(pkt, is_update && blocks.is_empty());
        let twice = if p.undo.dsack.on() { reported_twice(pkt.ack, blocks) } else { (0, 0) };
        let cwnd = self.cwnd(p);
        let bytes = self.una - before - acked.known_bytes + sacked;
        let marks = self.marks(pkt, (delivered.segments, bytes), pkt.ack > before || sacked > 0, p);
        Ack {
            now,
            ack: pkt.ack,
            bytes: self.una - before,
            segments: acked.segments,
            sacked,
            duplicate,
            rtt: match pkt.ack > before {
                true if !is_timed => None,
                true => self.rtt_sample(pkt, acked.timed, p, now),
                false if sacked > 0 && p.timers.rtt_sampling == RttSampling::PerSack => delivered.sample(now),
                false => None,
            },
            ends_backoff: p.timers.backoff_end == BackoffEnd::Sample || self.times_new_data(pkt, p),
            ts_ecr: pkt.ts_ecr,
            below_sent_at: acked.last_sent_at,
            reported_twice: twice.1 - twice.0,
            twice_end: twice.1,
            in_flight_before,
            slow_start: self.law.window().in_slow_start(),
            window_limited: match p.window.grow_when {
                GrowWhen::FullInRound => self.is_limited_in_round(p),
                _ => real(in_flight_before + p.connection.mss.0) > cwnd,
            },
            delivered: bytes,
            newly_delivered: delivered.segments,
            newly_ce: marks.packets,
            ce_bytes: marks.bytes,
            covers_retransmitted: acked.any_retransmitted,
            covers_original: delivered.original_below_mark,
            newest: delivered.newest,
            newest_retransmitted: delivered.newest_retransmitted,
            news_once: delivered.news_once,
            news_again: delivered.news_again,
        }
    }

    /// Whether an ACK that does not advance is a duplicate one; `updates`: it offers more window, and nothing else.
    #[inline]
    fn is_duplicate(&self, pkt: &Packet, updates: bool) -> bool {
        let is_bare =
            pkt.payload == 0 && !pkt.flags.has(crosswind_base::TcpFlags::FIN.with(crosswind_base::TcpFlags::SYN));
        let may_update = self.policies.window_updates == WindowUpdates::Duplicates;
        is_bare && self.nxt > pkt.ack && (!updates || may_update)
    }

    /// What the ACK reports of marks; `delivered`: segments and bytes.
    #[inline]
    pub(super) fn marks(&mut self, pkt: &Packet, delivered: (u32, u64), is_news: bool, p: &TcpParams) -> Marks {
        let (packets, bytes) = delivered;
        let is_exact = self.recovery.uses_scoreboard || matches!(self.phase, Phase::Open | Phase::Echo { .. });
        let progress = Progress { packets, bytes, mss: p.connection.mss.0, is_exact };
        self.ecn.marks(pkt, Delivers { progress, is_news })
    }

    /// Whether an ACK that advances now is a sample: with `in-order` none that fills a hole. Asked before it is heard.
    #[inline]
    pub(super) fn may_be_timed(&self, p: &TcpParams) -> bool {
        p.timers.rtt_sampling != RttSampling::InOrder || !self.has_hole()
    }

    /// Segments above the first are known to have arrived.
    fn has_hole(&self) -> bool {
        self.board.sacked_bytes() > 0 || self.stats.duplicates.are_coming()
    }

    pub(super) fn rtt_sample(&mut self, pkt: &Packet, timed: Option<Time>, p: &TcpParams, now: Time) -> Option<Dur> {
        if p.timers.rtt_sampling == RttSampling::PerSack && timed.is_some() {
            return timed.map(|t| now.since(t));
        }
        if p.connection.timestamps.on() && pkt.ts_ecr != 0 {
            let ticks = stamp(now, p.connection.timestamp_tick).wrapping_sub(pkt.ts_ecr);
            return Some(Dur((u64::from(ticks) * p.connection.timestamp_tick.0).max(1)));
        }
        match p.timers.rtt_sampling {
            RttSampling::PerAck | RttSampling::InOrder | RttSampling::PerSack => timed.map(|t| now.since(t)),
            RttSampling::PerWindow => {
                let (end, at) = self.timed?;
                if pkt.ack < end {
                    return None;
                }
                self.timed = None;
                Some(now.since(at))
            }
        }
    }

    /// With timestamps ns-2 still times one new segment at a time, only to know when the back-off ends.
    pub(super) fn times_new_data(&mut self, pkt: &Packet, p: &TcpParams) -> bool {
        if !p.connection.timestamps.on() {
            return true;
        }
        let over = self.timed.is_some_and(|t| pkt.ack >= t.0);
        if over {
            self.timed = None;
        }
        over
    }
}
