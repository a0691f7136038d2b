//! The sending half: the only place with control flow.
//!
//! An arriving ACK is turned into facts ([`Ack`]) once. Then, always in this order: spurious timeouts, undo, detector,
//! controller, signals, and one gate ([`Sender::congested`]) through which every reduction passes; before a timeout that may be spurious
//! passes it, the law is copied for an undo. Last, whatever the window allows is sent.

mod avoidable;
mod blocks;
mod caps;
mod controller;
mod extras;
mod facts;
mod fast_path;
mod needless;
mod optional;
mod output;
mod persist;
mod state;
mod stats;
mod undo;
mod usage;
pub mod writer;

pub use state::{Line, Outgoing};
pub use stats::SenderStats;

use super::conn::rtt::Rtt;
use super::conn::scoreboard::{Scoreboard, Sent};
use super::detect::{Detect, Detector, Phase, RecoveryPolicy, Release, Verdict, View};
use super::law::{Change, Controller, Law, Needs};
use super::params::*;
use super::policies::{AfterSynLoss, EchoAnswers, Policies};
use super::signal::ecn::EcnEcho;
use super::undo::{DetectSpurious, Episode, Expiry, SpuriousDetector};
use crate::tcp::facts::{Ack, Trigger, stamp};
use crosswind_base::probe::header_bits;
use crosswind_base::{Dur, EventKind, Packet, Time};
use optional::Optional;
use state::{Before, Found, PendingTimeout, Probing, Undecided, Usage, real};

pub struct Sender {
    pub una: u64,
    /// Next byte to be sent for the first time.
    pub nxt: u64,
    /// End of what the application has written.
    data_end: u64,
    /// No more data will be written; a FIN follows `data_end`.
    closing: bool,
    /// Right edge of the peer's window.
    window_edge: u64,
    /// The largest window that the peer has offered.
    window_max: u64,
    /// Number of the segment that told of the window last (`SND.WL1`).
    window_seq: u64,
    /// Probes of a closed window, and what they are about.
    probing: Probing,
    board: Scoreboard,
    pub rtt: Rtt,
    /// The longest time there is while it is not known.
    pub handshake_rtt: Dur,
    pub law: Law,
    detector: Detector,
    /// The detector's, which never changes.
    recovery: RecoveryPolicy,
    pub ecn: EcnEcho,
    policies: Policies,
    spurious: SpuriousDetector,
    /// What a verdict on a timeout may bring back; only once one may have been spurious.
    memory: Option<Box<Before>>,
    /// When the first timeout since data was last acknowledged occurred, or never.
    episode_at: Time,
    pub phase: Phase,
    recovery_point: u64,
    /// When the retransmission timer expires, or never.
    pub timer: Time,
    timeouts_in_a_row: u32,
    last_sent: Time,
    /// One segment being timed (`per-window` sampling): its end and when it left.
    timed: Option<(u64, Time)>,
    /// Most bytes that one ACK may release during recovery from a timeout probe; see F-RTO.
    probe_budget: Option<u32>,
    pending_timeout: Option<PendingTimeout>,
    /// Timeouts of the first segment.
    undecided: Option<Box<Undecided>>,
    usage: Usage,
    /// Bytes that the ACK in hand acknowledged: they were in the network when it arrived.
    acked_now: u64,
    pub gave_up: bool,
    /// What few connections have.
    optional: Option<Box<Optional>>,
    /// No partial ACK has been seen in the present recovery.
    partial_is_first: bool,
    pub stats: SenderStats,
}

impl Sender {
    pub fn new(p: &TcpParams, sack: bool) -> Sender {
        let (detector, policies) = (Detector::new(p, sack), Policies::of(p));
        Sender {
            una: 1,
            nxt: 1,
            data_end: 1,
            closing: false,
            window_edge: 1,
            window_max: 0,
            window_seq: 0,
            probing: Probing::default(),
            board: Scoreboard::new(),
            rtt: Rtt::new(p),
            handshake_rtt: Dur(u64::MAX),
            law: Law::new(p),
            recovery: detector.policy(),
            detector,
            ecn: EcnEcho::new(policies.echo_answers),
            policies,
            spurious: SpuriousDetector::new(p),
            memory: None,
            episode_at: Time::NEVER,
            phase: Phase::Open,
            recovery_point: 0,
            timer: Time::NEVER,
            timeouts_in_a_row: 0,
            last_sent: Time::ZERO,
            timed: None,
            probe_budget: None,
            pending_timeout: None,
            undecided: None,
            usage: Default::default(),
            acked_now: 0,
            gave_up: false,
            optional: Optional::asked_for(p),
            partial_is_first: true,
            stats: SenderStats::default(),
        }
    }

    pub fn use_sack(&mut self, p: &TcpParams, sack: bool) {
        self.detector = Detector::new(p, sack);
        self.recovery = self.detector.policy();
        if !sack && let Some(x) = &mut self.optional {
            // Without SACK the answer to a probe of the tail says nothing (RFC 8985 section 4).
            x.probe = None;
        }
    }
    /// The application writes `bytes` more. The caller keeps to [`Sender::send_space`].
    pub fn write(&mut self, bytes: u64) {
        debug_assert!(!self.closing, "nothing is written after close");
        self.data_end = self.data_end.saturating_add(bytes);
    }
    pub fn close(&mut self) {
        self.closing = true;
    }
    pub fn written(&self) -> u64 {
        self.data_end - 1
    }
    /// Room in the socket's send buffer.
    pub fn send_space(&self, p: &TcpParams) -> u64 {
        p.host.send_buffer.0.saturating_sub(self.data_end - self.una.min(self.data_end))
    }
    pub fn open_window(&mut self, edge: u64) {
        self.window_edge = self.window_edge.max(edge);
        self.window_max = self.window_max.max(edge.saturating_sub(self.una));
    }
    /// The peer wants smaller segments than were expected; nothing has been sent yet.
    pub fn use_mss(&mut self, mss: u64) {
        self.law.change(Change::SegmentSize(real(mss)));
    }
    pub fn is_closing(&self) -> bool {
        self.closing
    }
    /// No loss recovery is under way.
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }
    /// The SYN had to be retransmitted: the timeout starts over for data (RFC 6298 section 5.7), and so may the window.
    pub fn restart_after_syn_loss(&mut self, p: &TcpParams, backoff: u32) {
        match self.policies.after_syn_loss {
            AfterSynLoss::WindowOfOne => self.law.change(Change::StartFrom(self.law.window().mss())),
            AfterSynLoss::FreshTimer => self.rtt = Rtt::after_syn_loss(p, backoff),
        }
    }
    pub fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }
    /// Everything written, and the FIN if there is one, has been acknowledged.
    pub fn all_acked(&self) -> bool {
        self.una >= self.data_end + self.closing as u64
    }
    pub fn sent_everything(&self) -> bool {
        self.nxt >= self.data_end + self.closing as u64
    }

    #[inline]
    fn view(&self, p: &TcpParams) -> View {
        View {
            una: self.una,
            nxt: self.nxt,
            mss: p.connection.mss.0,
            dupthresh: p.recovery.dupthresh,
            phase: self.phase,
            recovery_point: self.recovery_point,
            limited_transmit: p.recovery.limited_transmit.on(),
            cwnd: self.law.cwnd(),
            handshake_rtt: self.handshake_rtt,
        }
    }
    #[inline]
    pub fn in_flight(&self, p: &TcpParams) -> u64 {
        match self.recovery.counts_by_board {
            true => self.board.in_network(self.outstanding()),
            false => self.in_flight_by_rule(p),
        }
    }
    #[inline(never)]
    fn in_flight_by_rule(&self, p: &TcpParams) -> u64 {
        self.detector.in_flight(&self.board, &self.view(p))
    }
    /// The window in bytes that counts: congestion window and hard limit.
    #[inline]
    fn cwnd(&self, p: &TcpParams) -> f64 {
        let c = self.law.cwnd();
        if p.window.window_limit_segments == 0 {
            c
        } else {
            c.min(f64::from(p.window.window_limit_segments) * real(p.connection.mss.0))
        }
    }

    /// An acknowledgement arrives. `pkt.ack` is above zero and the handshake is done.
    pub fn on_ack(&mut self, pkt: &Packet, blocks: &[(u64, u64)], p: &TcpParams, line: &mut impl Line) {
        if blocks.is_empty() && self.on_in_order_ack(pkt, p, line) {
            return;
        }
        self.on_any_ack(pkt, blocks, p, line);
    }

    #[inline(never)]
    fn on_any_ack(&mut self, pkt: &Packet, blocks: &[(u64, u64)], p: &TcpParams, line: &mut impl Line) {
        let (sound, are_sound) = blocks::sound(blocks);
        let blocks = if are_sound { blocks } else { sound.as_slice() };
        if pkt.ack > self.nxt {
            self.register_probe(pkt.ack, line.now());
        }
        if pkt.ack > self.nxt || (pkt.ack < self.una && blocks.is_empty()) {
            return;
        }
        let now = line.now();
        self.hear_probed();
        line.note(EventKind::Ack, pkt.ack, 0, header_bits(pkt));
        let a = self.facts(pkt, blocks, p, now);
        self.stats.duplicates.count(&a);
        for b in blocks {
            line.note(EventKind::Sack, b.0, (b.1 - b.0) as u32, 0);
        }
        if a.bytes == 0 && !a.duplicate && a.sacked == 0 && a.newly_ce == 0 {
            // A window update, or news we already had.
            self.transmit(p, line);
            return;
        }
        self.take_sample(&a, p);
        if let Some(r) = a.rtt {
            line.note(EventKind::Rtt, r.0, 0, 0);
        }
        self.watch_for_spurious(pkt, blocks, &a, p);
        self.acked_now = a.bytes;
        let may_grow = !self.respond_if_spurious(&a, p, line) && !self.is_repaired(&a) && self.may_grow(&a, p);
        let mut echo_beyond_point = self.ecn.congested_beyond_point(&a, &self.view(p));
        if echo_beyond_point && self.phase_is_recovery() && self.recovery.echo_prolongs_recovery {
            echo_beyond_point = false;
            self.prolong_recovery(p, line);
        }
        let lost_before = self.board.ever_lost();
        let verdict = if self.spurious.is_active() {
            Verdict::Nothing
        } else {
            let v = self.view(p);
            self.detector.on_ack(&a, blocks, &mut self.board, &v)
        };
        let lost = self.board.ever_lost() - lost_before;
        self.tell_controller(&a, Found { verdict, lost, may_grow }, p);
        let before = self.phase;
        self.conclude(verdict, &a, p, line);
        self.look_for_overdue(&a, p, line);
        let echo = match self.ecn.answers {
            EchoAnswers::BeyondRecoveryPoint => echo_beyond_point && !self.phase_is_recovery(),
            EchoAnswers::OncePerRoundTrip => self.phase == Phase::Open && self.ecn.congested(&a),
        };
        if echo {
            self.congested(Trigger::Echo, p, line);
        }
        self.bound_by_flight(p);
        if self.optional.is_some() {
            self.run_optional(before, &a, p, line);
        }
        if a.bytes > 0 {
            self.renew_timer(verdict, now, p);
        }
        self.plan_probe(now);
        self.moderate(before, &a, p);
        if self.detector.status().may_send {
            self.transmit(p, line);
        }
        self.trace_window(line);
    }

    /// What an ACK that advances makes of the retransmission timer.
    #[inline]
    fn renew_timer(&mut self, verdict: Verdict, now: Time, p: &TcpParams) {
        self.timeouts_in_a_row = 0;
        let is_partial = matches!(verdict, Verdict::Partial { .. });
        let first_partial = !is_partial || self.restarts_timer_on_partial();
        // A window below one segment releases nothing more: only the timer can open it again (ns-2).
        let stuck = !self.sent_everything() && self.law.cwnd() < real(p.connection.mss.0);
        if self.outstanding() == 0 && !stuck {
            self.timer = Time::NEVER;
        } else if first_partial {
            self.timer = now + self.rtt.rto(p);
        }
    }

    fn prolong_recovery(&mut self, p: &TcpParams, line: &mut impl Line) {
        self.congested(Trigger::Echo, p, line);
        self.phase = Phase::Recovery { high: self.nxt };
    }

    #[inline]
    fn take_sample(&mut self, a: &Ack, p: &TcpParams) {
        if let Some(r) = a.rtt {
            self.rtt.sample(r, a.now, p, self.una, self.nxt);
            if a.ends_backoff {
                self.rtt.reset_backoff();
            }
            self.stats.rtt_ns.record(r.0);
        }
    }

    /// RFC 6582 section 4 (the "impatient" variant): only the first partial ACK of a recovery restarts the timer.
    fn restarts_timer_on_partial(&mut self) -> bool {
        if !self.recovery.first_partial_restarts_timer {
            return true;
        }
        std::mem::replace(&mut self.partial_is_first, false)
    }

    /// Whether some new segment could be sent now, as far as data and the peer's window go.
    fn has_new_data(&self, p: &TcpParams) -> bool {
        let len = p.connection.mss.0.min(self.data_end.saturating_sub(self.nxt));
        !self.sent_everything() && (len > 0 || self.closing) && self.nxt + len <= self.window_edge
    }

    /// Acts on the detector's verdict and ends episodes that are complete.
    fn conclude(&mut self, verdict: Verdict, a: &Ack, p: &TcpParams, line: &mut impl Line) {
        while let Some(s) = self.detector.next_retransmission(Release::Ack, &mut self.board) {
            self.retransmit(s, p, line);
        }
        match verdict {
            Verdict::Loss => {
                self.congested(Trigger::Loss, p, line);
                if self.recovery.starts_over {
                    return self.start_over(p);
                }
                // With a scoreboard it is known whether the first segment is on its way again already.
                if !(self.recovery.uses_scoreboard && self.board.first().is_some_and(Sent::is_retransmitted)) {
                    self.retransmit_first(p, line);
                }
            }
            Verdict::Recovered => {
                self.end_reduction();
                self.phase = Phase::Open;
                if self.recovery.forgets_recovery_point {
                    self.recovery_point = 0;
                }
                line.note(EventKind::Recovered, self.una, 0, 0);
            }
            Verdict::Partial { deflate } => {
                let policy = self.recovery;
                if policy.partial_ends_backoff {
                    self.rtt.reset_backoff();
                }
                if policy.partial_retransmits {
                    self.law.change(Change::Deflate(deflate as f64));
                    if p.timers.rtt_sampling == RttSampling::PerWindow && self.timed.is_some_and(|t| self.una >= t.0) {
                        self.timed = None;
                    }
                    self.retransmit_first(p, line);
                }
            }
            Verdict::Resumed { flight } => self.resume(flight, p),
            Verdict::Nothing => {}
        }
        let over = match self.phase {
            Phase::Timeout { high } => self.una >= high,
            // The segment that carries CWR starts at `high`; until it is acknowledged the receiver still echoes the
            // mark that was answered already.
            Phase::Echo { high } => self.una > high,
            _ => false,
        };
        if over && !(self.spurious.is_active() && a.bytes == 0) {
            if matches!(self.phase, Phase::Echo { .. }) {
                self.end_reduction();
            }
            self.phase = Phase::Open;
        }
    }

    /// The one gate: every reduction of the window passes here.
    fn congested(&mut self, why: Trigger, p: &TcpParams, line: &mut impl Line) {
        let base = match p.window.reduce_from {
            // RFC 5681 section 3.2 step 2: what limited transmit has sent beyond the window does not count.
            ReduceFrom::Flight => {
                let just_left = if why == Trigger::Echo { self.acked_now } else { 0 };
                ((self.outstanding() + just_left) as f64).min(self.cwnd(p))
            }
            ReduceFrom::Cwnd => self.law.cwnd(),
            ReduceFrom::SmallerWindow => self.cwnd(p),
        };
        // One reduction per window of data: a loss in the window that an echo has reduced already starts a recovery, but
        // costs nothing more (RFC 3168 section 6.1.2; Linux; ns-2).
        let reduced_already =
            why == Trigger::Loss && matches!(self.phase, Phase::Echo { .. }) && !Needs::of(&p.controller).apart;
        if why == Trigger::Loss && self.optional.is_some() {
            match reduced_already {
                true => self.forget_needless(),
                false => self.remember_recovery(p),
            }
        }
        if !reduced_already {
            match self.optional.as_ref().and_then(|x| x.early_share()).filter(|_| why == Trigger::Early) {
                Some(share) => self.law.change(Change::GiveUp(share)),
                None => self.law.reduce(why, base),
            }
            self.ecn.tell_of_reduction();
        }
        self.ecn.answered_last = why == Trigger::Echo;
        self.stats.first_loss_at.come_first(line.now());
        // A recovery inside a window that an echo has reduced keeps that window's end in ns-2.
        let high = if reduced_already && self.ecn.has_one_recovery_point() { self.recovery_point } else { self.nxt };
        // An echo says nothing about losses: those of its window are still to be found. ns-2 keeps one `recover` for all.
        if matches!(why, Trigger::Loss | Trigger::Timeout)
            || (why == Trigger::Echo && self.ecn.has_one_recovery_point())
        {
            self.recovery_point = high;
        }
        self.partial_is_first = true;
        match why {
            Trigger::Loss => {
                self.phase = Phase::Recovery { high };
                self.stats.fast_recoveries += 1;
                line.note(EventKind::Recovery, self.una, 0, 0);
                if self.recovery.loss_restarts_timer {
                    self.timer = line.now() + self.rtt.rto(p);
                    self.timed = None;
                }
                if self.optional.is_some() && !reduced_already {
                    self.begin_reduction(base, p);
                }
            }
            Trigger::Echo => {
                self.phase = Phase::Echo { high };
                self.stats.ecn_reductions += 1;
                line.note(EventKind::EcnReduce, self.una, 0, 0);
                if self.optional.is_some() && p.window.echo_reduction == EchoReduction::AsLosses {
                    self.begin_reduction(base, p);
                }
            }
            Trigger::Local => {
                self.phase = Phase::Echo { high };
                self.stats.local_reductions += 1;
            }
            Trigger::Timeout => self.phase = Phase::Timeout { high },
            Trigger::Early => self.stats.early_reductions += 1,
        }
        self.bound_by_flight(p);
    }

    /// The retransmission timer has expired.
    pub fn on_timeout(&mut self, p: &TcpParams, line: &mut impl Line) {
        self.timer = Time::NEVER;
        if self.outstanding() == 0 {
            self.law.change(Change::OneSegment);
            self.transmit(p, line);
            return self.probe_window(p, line);
        }
        let now = line.now();
        self.stats.timeouts += 1;
        self.stats.last_timeout_at = now.into();
        self.timeouts_in_a_row += 1;
        line.note(EventKind::Timeout, self.una, 0, 0);
        if self.timeouts_in_a_row > p.timers.retries_max {
            self.gave_up = true;
            return;
        }
        self.pending_timeout = Some(PendingTimeout { at: now, high: self.nxt });
        self.leave_undecided(now);
        let repeated = matches!(self.phase, Phase::Timeout { .. }) && self.timeouts_in_a_row > 1;
        if self.episode_at == Time::NEVER {
            self.episode_at = now;
        }
        let episode = self.spurious.on_expiry(self.phase, self.timeouts_in_a_row > 1);
        if episode == Episode::New {
            self.remember(p);
        }
        let reduction = self.remember_timeout(p);
        let hold = self.holds_threshold(repeated, p);
        let ssthresh = self.law.ssthresh();
        let view = self.view(p);
        let late_before = self.detector.on_timeout(now, &self.board, &view);
        self.congested(Trigger::Timeout, p, line);
        if hold {
            self.law.change(Change::Threshold(ssthresh));
        }
        self.start_from_flight(late_before, p);
        if let Some(x) = &mut self.optional {
            x.on_timeout();
        }
        self.rtt.back_off();
        self.remember_backoff();
        self.timed = None;
        self.probe_budget = None;
        if episode != Episode::Refused {
            let retransmitted_end = self.board.first().map_or(self.una, Sent::end);
            let stamp = stamp(now, p.connection.timestamp_tick);
            self.spurious.start(&Expiry { high: self.nxt, retransmitted_end, stamp });
        }
        if self.spurious.is_active() {
            self.board.clear_lost();
            self.board.mark_first_lost();
        } else {
            self.board.mark_all_lost(p.recovery.sack_after_timeout, u64::MAX);
            if let Some(time) = late_before {
                self.board.spare_sent_after(time);
            }
        }
        self.begin_timeout_undo(reduction, p);
        self.tell_losses(now);
        self.timer = now + self.rtt.rto(p);
        self.retransmit_first_lost(p, line);
        self.trace_window(line);
    }

    /// Whether a timeout leaves the threshold as it is.
    fn holds_threshold(&self, repeated: bool, p: &TcpParams) -> bool {
        match self.phase {
            // RFC 5681: the threshold is held when the same segment times out again; ns-2 halves every time.
            Phase::Timeout { .. } if repeated && p.timers.timeout_threshold == TimeoutThreshold::First => true,
            _ if self.ecn.answers == EchoAnswers::BeyondRecoveryPoint => self.ecn.answered_last,
            Phase::Timeout { .. } => false,
            Phase::Recovery { .. } => p.recovery.timeout_in_recovery == TimeoutInRecovery::Hold,
            Phase::Echo { .. } => !Needs::of(&p.controller).apart,
            Phase::Open => false,
        }
    }

    /// A retransmission by the peer arrived: with the defect it counts as a duplicate ACK for F-RTO.
    pub fn on_peer_retransmission(&mut self, p: &TcpParams, line: &mut impl Line) {
        if self.spurious.is_active() && p.undo.frto_peer_retransmissions == PeerRetransmissions::CountAsDuplicate {
            self.spurious.stop();
            self.board.mark_lost_but_retransmitted(p.recovery.sack_after_timeout, self.spurious.high());
            self.law.change(Change::StartFrom(2.0 * self.law.window().mss()));
            self.probe_budget = None;
            self.transmit(p, line);
        }
    }

    fn phase_is_recovery(&self) -> bool {
        matches!(self.phase, Phase::Recovery { .. })
    }

    #[inline]
    fn trace_window(&self, line: &mut impl Line) {
        if !line.is_watched() {
            return;
        }
        let w = self.law.window();
        line.note(EventKind::Cwnd, w.cwnd() as u64, 0, w.ssthresh().min(u32::MAX as f64) as u32);
    }
}
