//! The in-order ACK: it advances, brings neither SACK blocks nor marks, and comes while nothing is held lost, retransmitted or
//! suspected. Nearly every ACK of a long run is one. Of all that [`Sender::on_ack`] asks, little has an answer then, and that
//! is written out here; every other ACK, or one that somebody watches, goes the whole way, with the same outcome
//! (`tests/properties.rs` sends the same packets both ways). What few connections have ([`Optional`]) goes along if it is calm: it
//! hears of the ACK (pacing, delivery rates, HyStart, probes), and only the controller answers; so does RACK while nothing is overdue.
//!
//! [`Optional`]: super::optional::Optional

use super::Sender;
use super::state::{Line, real};
use crate::tcp::choices::{BackoffEnd, GrowWhen};
use crate::tcp::conn::scoreboard::{IN_ORDER_MOST, InOrderAck};
use crate::tcp::detect::{Detect, Phase};
use crate::tcp::facts::Ack;
use crate::tcp::law::Controller;
use crate::tcp::params::TcpParams;
use crate::tcp::undo::DetectSpurious;
use crosswind_base::{Packet, Time};

impl Sender {
    /// Deals with the ACK if it is such a one, and says whether it was.
    #[inline]
    pub(super) fn on_in_order_ack(&mut self, pkt: &Packet, p: &TcpParams, line: &mut impl Line) -> bool {
        // Of segments that left too long ago (`retransmit_overdue`) an ACK tells only in a recovery, or if it reports something.
        let is_plain = self.phase == Phase::Open
            && self.memory.as_ref().is_none_or(|m| m.lift_above == 0)
            && self.spurious.is_over()
            && self.optional.as_ref().is_none_or(|x| x.is_calm())
            && self.episode_at == Time::NEVER
            && self.pending_timeout.is_none()
            && self.undecided.is_none()
            && self.probe_budget.is_none()
            && self.board.is_clear();
        let advances = pkt.ack > self.una && pkt.ack <= self.nxt && self.ecn.is_quiet(pkt.flags);
        if !is_plain || !advances || line.is_watched() {
            return false;
        }
        let Some(after) = self.detector.quiet_after() else { return false };
        // Up to seven segments the number of an ACK with AccECN says itself what it counts.
        let most = if self.ecn.counting.is_some() { 7 } else { IN_ORDER_MOST };
        let Some(taken) = self.board.take_in_order(pkt.ack, most, after) else { return false };
        let now = line.now();
        let a = self.in_order_facts(pkt, &taken, p, now);
        self.detector.on_in_order(&a, self.handshake_rtt);
        self.stats.duplicates.end_row();
        self.take_sample(&a, p);
        self.acked_now = a.bytes;
        self.tell_controller_of_in_order(&a, p);
        self.run_calm(&a);
        self.timeouts_in_a_row = 0;
        let idle = self.outstanding() == 0 && (self.sent_everything() || self.law.cwnd() >= real(p.connection.mss.0));
        self.timer = if idle { Time::NEVER } else { now + self.rtt.rto(p) };
        if self.optional.is_some() {
            self.plan_probe(now);
            self.transmit(p, line);
            return true;
        }
        let before = self.nxt;
        self.transmit_new(p, line);
        self.note_usage(self.nxt > before, p);
        true
    }

    /// What few connections have hears of the ACK; nothing of it has an answer.
    #[inline]
    fn run_calm(&mut self, a: &Ack) {
        let (delivered, nxt) = (self.una + self.board.sacked_bytes(), self.nxt);
        let Some(x) = &mut self.optional else { return };
        if let Some(change) = x.on_in_order(a, delivered, nxt, self.law.window()) {
            self.law.change(change);
        }
    }

    #[inline]
    fn in_order_facts(&mut self, pkt: &Packet, taken: &InOrderAck, p: &TcpParams, now: Time) -> Ack {
        let in_flight_before = match self.optional.is_some() {
            true => self.in_flight_before_calm(pkt.ack, p, now),
            false => self.outstanding(),
        };
        let bytes = pkt.ack - self.una;
        let is_timed = self.may_be_timed(p);
        self.una = pkt.ack;
        self.window_edge = pkt.ack + u64::from(pkt.wnd);
        self.window_max = self.window_max.max(pkt.wnd.into());
        self.window_seq = pkt.seq;
        self.marks(pkt, (taken.segments, bytes), true, p);
        Ack {
            now,
            ack: pkt.ack,
            bytes,
            segments: taken.segments,
            rtt: if is_timed { self.rtt_sample(pkt, Some(taken.first_sent_at), p, now) } else { None },
            ends_backoff: p.timers.backoff_end == BackoffEnd::Sample || self.times_new_data(pkt, p),
            ts_ecr: pkt.ts_ecr,
            below_sent_at: taken.last_sent_at,
            in_flight_before,
            slow_start: self.law.window().in_slow_start(),
            window_limited: match p.window.grow_when {
                GrowWhen::FullInRound => self.is_limited_in_round(p),
                _ => real(in_flight_before + p.connection.mss.0) > self.cwnd(p),
            },
            delivered: bytes,
            newly_delivered: taken.segments,
            covers_original: !self.recovery.watches_order && taken.first_start < self.recovery_point,
            newest: (taken.last_sent_at, pkt.ack),
            news_once: (taken.last_sent_at, pkt.ack),
            ..Ack::default()
        }
    }

    /// New data as far as the window allows: nothing waits to be retransmitted.
    #[inline]
    fn transmit_new(&mut self, p: &TcpParams, line: &mut impl Line) {
        if self.outstanding() == 0 {
            self.restart_after_idle(p, line.now());
        }
        let limit = if p.window.max_burst_segments == 0 { u32::MAX } else { p.window.max_burst_segments };
        let mut room = self.cwnd(p) - real(self.outstanding());
        for _ in 0..limit {
            let before = self.nxt;
            if room < 1.0 || !self.send_new(room, p, line) {
                return;
            }
            room -= real(self.nxt - before);
        }
    }
}
