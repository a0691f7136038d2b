//! What follows from a verdict on a timeout: what was remembered before it is brought back, or not.

use super::Sender;
use super::state::{Before, Line, PendingTimeout};
use crate::tcp::choices::{SpuriousResponse, SpuriousTimer};
use crate::tcp::detect::Phase;
use crate::tcp::facts::{Ack, is_older, stamp};
use crate::tcp::law::{Change, Controller, Law};
use crate::tcp::params::{TcpParams, Undo};
use crate::tcp::undo::{DetectSpurious, SpuriousVerdict};
use crosswind_base::{EventKind, Packet, Time};

impl Sender {
    /// An episode begins: what a verdict may bring back is kept.
    pub(super) fn remember(&mut self, p: &TcpParams) {
        let (law, flight) = (Some(self.law.clone()), self.outstanding() as f64);
        let estimate = self.rtt.estimate(p);
        self.memory = Some(Box::new(Before { law, flight, estimate, backoff: 0, lift_above: 0 }));
    }

    /// The timeout was genuine: nothing will be brought back.
    fn forget(&mut self) {
        if let Some(m) = &mut self.memory {
            m.law = None;
        }
    }

    /// The timer has backed off.
    pub(super) fn remember_backoff(&mut self) {
        if let Some(m) = &mut self.memory {
            m.backoff = self.rtt.backoff_count();
        }
    }

    /// Counts timeouts that an omniscient observer calls spurious: an ACK caused by a segment sent before the timeout
    /// acknowledges something that was outstanding then ([Järvinen 2006] open point 7-37). Episodes are counted by the
    /// rule of Eifel detection: by timestamps where there are some.
    #[inline]
    pub(super) fn watch_for_spurious(&mut self, pkt: &Packet, blocks: &[(u64, u64)], a: &Ack, p: &TcpParams) {
        if self.undecided.is_some() {
            self.decide(pkt, blocks);
        }
        if self.episode_at != Time::NEVER || self.pending_timeout.is_some() {
            self.look_for_spurious(pkt, a, p);
        }
    }

    #[cold]
    fn look_for_spurious(&mut self, pkt: &Packet, a: &Ack, p: &TcpParams) {
        if self.episode_at != Time::NEVER && a.bytes > 0 {
            let early = match p.connection.timestamps.on() && pkt.ts_ecr != 0 {
                true => is_older(pkt.ts_ecr, stamp(self.episode_at, p.connection.timestamp_tick)),
                false => pkt.cause < self.episode_at,
            };
            self.stats.spurious_episodes += u32::from(early);
            self.stats.genuine_episodes += u32::from(!early);
            self.episode_at = Time::NEVER;
        }
        let Some(PendingTimeout { at, high }) = self.pending_timeout else { return };
        if pkt.cause < at && (a.bytes > 0 || a.sacked > 0) {
            self.stats.spurious_timeouts += 1;
            self.pending_timeout = None;
        } else if self.una >= high {
            self.pending_timeout = None;
        }
    }

    /// Asks the detector of spurious timeouts; returns whether the verdict has set the window.
    pub(super) fn respond_if_spurious(&mut self, a: &Ack, p: &TcpParams, line: &mut impl Line) -> bool {
        self.lift_timer(a, p);
        if self.undo_timeout(a, p, line) {
            return false;
        }
        let held_back = self.spurious.is_active();
        let mut verdict = self.spurious.on_ack(a);
        if verdict == SpuriousVerdict::ProbeWithNewData && !self.has_new_data(p) {
            // RFC 5682 step 2b: with nothing new to send, conventional recovery.
            self.spurious.stop();
            verdict = SpuriousVerdict::Genuine { window_segments: 2 };
        }
        match verdict {
            SpuriousVerdict::None | SpuriousVerdict::Wait => return false,
            SpuriousVerdict::ProbeWithNewData => {
                // Two new segments, whatever the window.
                self.law.change(Change::StartFrom((self.in_flight(p) + 2 * p.connection.mss.0) as f64));
                self.probe_budget = Some(2);
            }
            SpuriousVerdict::Genuine { window_segments } => {
                self.genuine(p);
                self.probe_budget = None;
                self.law.change(Change::StartFrom(window_segments as f64 * self.law.window().mss()));
            }
            SpuriousVerdict::Conventional => {
                if held_back {
                    self.genuine(p);
                } else {
                    self.stats.genuine_detected += 1;
                    self.rtt.on_genuine();
                    self.forget();
                }
                return false;
            }
            SpuriousVerdict::Spurious if p.undo.spurious_response == SpuriousResponse::Ignore => {
                self.stats.spurious_detected += 1;
                line.note(EventKind::Spurious, self.una, 0, 0);
                if held_back {
                    self.board.mark_lost_but_retransmitted(p.recovery.sack_after_timeout, self.spurious.high());
                }
                return false;
            }
            SpuriousVerdict::Spurious => {
                self.probe_budget = None;
                self.board.clear_lost();
                self.respond(a, p);
                self.note_spurious_timeout(a, p, line);
                self.phase = Phase::Open;
            }
        }
        true
    }

    /// Counted, told, and what the timer makes of it.
    pub(super) fn note_spurious_timeout(&mut self, a: &Ack, p: &TcpParams, line: &mut impl Line) {
        self.stats.spurious_detected += 1;
        line.note(EventKind::Spurious, self.una, 0, 0);
        let reached = self.memory.as_ref().map_or(0, |m| m.backoff);
        self.rtt.on_spurious(a.rtt, reached, line.now(), p);
    }

    /// The first segment was lost. The probes themselves are not held lost (Linux), and what the timeout retransmitted is on
    /// its way.
    fn genuine(&mut self, p: &TcpParams) {
        self.stats.genuine_detected += 1;
        self.rtt.on_genuine();
        self.forget();
        self.board.mark_lost_but_retransmitted(p.recovery.sack_after_timeout, self.spurious.high());
    }

    /// Window and threshold after a spurious timeout.
    fn respond(&mut self, a: &Ack, p: &TcpParams) {
        let flight = self.in_flight(p) as f64;
        let (own, flight_before) = self.memory.as_mut().map_or((None, 0.0), |m| (m.law.take(), m.flight));
        let Some(law) = (if p.undo.timeout_undo == Undo::Off { own } else { self.take_remembered() }) else { return };
        let old = law.window().clone();
        let half = (old.cwnd() / 2.0).max(2.0 * old.mss());
        // What takes nothing of the reduction back leaves the law as the timeout has left it.
        if matches!(
            p.undo.spurious_response,
            SpuriousResponse::Full | SpuriousResponse::Avoidance | SpuriousResponse::Rfc4015
        ) {
            self.undo_law(&law);
        }
        let w = self.law.window();
        let (cwnd, ssthresh) = match p.undo.spurious_response {
            // Conservative response: the halved threshold is kept and the window goes there.
            SpuriousResponse::Halved | SpuriousResponse::Ignore => {
                (w.cwnd().max(flight).min(w.ssthresh()), w.ssthresh())
            }
            SpuriousResponse::Full => (w.cwnd(), w.ssthresh()),
            SpuriousResponse::Half => (half, half),
            SpuriousResponse::SlowStart => (w.mss(), half),
            SpuriousResponse::Avoidance => (w.cwnd(), old.cwnd()),
            SpuriousResponse::Rfc4015 => {
                let initial = p.window.initial_window_segments as f64 * w.mss();
                (flight + (a.bytes as f64).min(initial), flight_before.max(old.ssthresh()))
            }
        };
        self.restore(cwnd, ssthresh);
        // RFC 5682 step 3b: a loss in the flight that was never lost may start a recovery. Some rules want to be above the recovery point.
        if p.undo.spurious_unlock.on() {
            self.recovery_point = self.una - 1;
        }
        if p.undo.spurious_timer == SpuriousTimer::Rfc4015
            && let Some(m) = &mut self.memory
        {
            m.lift_above = self.nxt;
        }
    }

    /// The controller takes a reduction back.
    pub(super) fn undo_law(&mut self, before: &Law) {
        if let Some(ledger) = self.optional.as_mut().and_then(|x| x.ledger()) {
            let delivered = ledger.delivered();
            self.law.hear_delivered(delivered);
        }
        self.law.undo(before);
    }

    /// A reduction, or a wait, was a mistake: window and threshold in bytes.
    pub(super) fn restore(&mut self, cwnd: f64, ssthresh: f64) {
        self.law.change(Change::Restore { cwnd, ssthresh });
    }

    /// RFC 4015 step 9, once data that was sent after the verdict is acknowledged.
    fn lift_timer(&mut self, a: &Ack, p: &TcpParams) {
        if p.undo.spurious_timer != SpuriousTimer::Rfc4015 {
            return;
        }
        if let (Some(m), Some(r)) = (&mut self.memory, a.rtt)
            && m.lift_above > 0
            && a.ack > m.lift_above
        {
            m.lift_above = 0;
            self.rtt.lift(m.estimate, r, p);
        }
    }
}
