//! The sending half: the only place with control flow.
//!
//! An arriving ACK is turned into facts ([`Ack`]) once. Then, always in this order: judges, undo, detector,
//! controller, signals, and one gate ([`Sender::congested`]) through which every reduction passes; before a timeout that a judge hears
//! passes it, the law is copied for an undo. Last, whatever the window allows is sent.

mod avoidable;
mod controller;
mod extra;
mod facts;
mod output;
mod persist;
mod stats;
mod undo;
mod usage;
mod usual;
pub mod writer;

pub use persist::WindowProbe;
pub use stats::SenderStats;

use super::conn::rtt::Rtt;
use super::conn::scoreboard::{Scoreboard, Sent};
use super::detect::{Detect, Detector, Habits, Phase, Verdict, View};
use super::law::{Change, Controller, Law, Needs};
use super::params::*;
use super::signal::ecn::{Answers, EcnEcho};
use super::undo::{Bench, Case, Expiry, Judge};
use super::{Ack, Io, Trigger, stamp};
use controller::Found;
use crosswind_base::probe::header_bits;
use crosswind_base::{EventKind, Packet, TcpFlags, Time};
use extra::Extra;
use persist::Probing;
use undo::Before;

/// What is put on the wire; the connection adds the rest of the header.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    pub seq: u64,
    pub payload: u32,
    pub fin: bool,
    pub resend: bool,
    pub cwr: bool,
    /// It asks a closed window for room.
    pub probe: bool,
    pub push: bool,
}

impl Outgoing {
    /// Those of the flags that few segments have.
    #[cold]
    pub fn flags(&self) -> TcpFlags {
        let set = |f: TcpFlags, is_set: bool, flag: TcpFlags| if is_set { f.with(flag) } else { f };
        let fin = set(TcpFlags::ACK, self.fin, TcpFlags::FIN);
        set(set(fin, self.cwr, TcpFlags::CWR), self.push, TcpFlags::PSH)
    }
}

/// Bytes as a real number. Going through the signed type takes one instruction on most processors, not ten.
#[inline]
fn real(bytes: u64) -> f64 {
    bytes as i64 as f64
}

/// A timeout that may still turn out to have been spurious.
#[derive(Clone, Copy, Debug)]
struct PendingTimeout {
    at: Time,
    high: u64,
}

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
    pub law: Law,
    detector: Detector,
    /// The detector's, which never change.
    habits: Habits,
    pub ecn: EcnEcho,
    judges: Bench,
    /// What a judge's verdict may bring back; only once there has been a timeout for a judge to hear.
    memory: Option<Box<Before>>,
    /// When the first timeout since data was last acknowledged occurred, or never.
    episode_at: Time,
    pub phase: Phase,
    guard: u64,
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
    undecided: Option<Box<avoidable::Undecided>>,
    usage: usage::Usage,
    /// Bytes that the ACK in hand acknowledged: they were in the network when it arrived.
    acked_now: u64,
    pub gave_up: bool,
    /// What few connections have.
    extra: Option<Box<Extra>>,
    /// No partial ACK has been seen in the present recovery.
    partial_is_first: bool,
    pub stats: SenderStats,
}

/// Connection-level services that the sender needs while it handles one call.
pub trait Line: Io {
    fn emit(&mut self, s: Outgoing);
}

impl Sender {
    pub fn new(p: &TcpParams, sack: bool) -> Sender {
        let detector = Detector::new(p, sack);
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
            law: Law::new(p),
            habits: detector.habits(),
            detector,
            ecn: EcnEcho::new(p),
            judges: Bench::new(p),
            memory: None,
            episode_at: Time::NEVER,
            phase: Phase::Open,
            guard: 0,
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
            extra: Extra::asked_for(p),
            partial_is_first: true,
            stats: SenderStats::default(),
        }
    }

    pub fn use_sack(&mut self, p: &TcpParams, sack: bool) {
        self.detector = Detector::new(p, sack);
        self.habits = self.detector.habits();
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
        p.send_buffer.0.saturating_sub(self.data_end - self.una.min(self.data_end))
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
    /// The SYN had to be sent again: the timeout starts over for data (RFC 6298 section 5.7), and so may the window.
    pub fn restart_after_syn_loss(&mut self, p: &TcpParams, backoff: u32) {
        match p.handshake {
            Handshake::Ns2 => self.law.change(Change::StartFrom(self.law.window().mss())),
            Handshake::ThreeWay => self.rtt = Rtt::after_syn_loss(p, backoff),
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
            mss: p.mss.0,
            dupthresh: p.dupthresh,
            phase: self.phase,
            guard: self.guard,
            limited_transmit: p.limited_transmit.on(),
            cwnd: self.law.cwnd(),
        }
    }
    pub fn in_flight(&self, p: &TcpParams) -> u64 {
        self.detector.in_flight(&self.board, &self.view(p))
    }
    /// The window in bytes that counts: congestion window and hard limit.
    #[inline]
    fn cwnd(&self, p: &TcpParams) -> f64 {
        let c = self.law.cwnd();
        if p.window_limit_segments == 0 { c } else { c.min(f64::from(p.window_limit_segments) * real(p.mss.0)) }
    }

    /// An acknowledgement arrives. `pkt.ack` is above zero and the handshake is done.
    pub fn on_ack(&mut self, pkt: &Packet, blocks: &[(u64, u64)], p: &TcpParams, line: &mut impl Line) {
        if blocks.is_empty() && self.on_usual_ack(pkt, p, line) {
            return;
        }
        self.on_any_ack(pkt, blocks, p, line);
    }

    #[inline(never)]
    fn on_any_ack(&mut self, pkt: &Packet, blocks: &[(u64, u64)], p: &TcpParams, line: &mut impl Line) {
        let (sound, are_sound) = facts::sound(blocks);
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
        let may_grow = !self.judge(&a, p, line) && !self.is_repaired(&a) && self.may_grow(&a, p);
        let mut echo_beyond_guard = self.ecn.congested_beyond_guard(&a, &self.view(p));
        if echo_beyond_guard && self.phase_is_recovery() && self.habits.echo_prolongs_recovery {
            echo_beyond_guard = false;
            self.prolong_recovery(p, line);
        }
        let lost_before = self.board.ever_lost();
        let verdict = if self.judges.is_active() {
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
            Answers::BeyondGuard => echo_beyond_guard && !self.phase_is_recovery(),
            Answers::OncePerRoundTrip => self.phase == Phase::Open && self.ecn.congested(&a),
        };
        if echo {
            self.congested(Trigger::Echo, p, line);
        }
        self.bound_by_flight(p);
        if self.extra.is_some() {
            self.consult(before, &a, p, line);
        }
        if a.bytes > 0 {
            self.renew_timer(verdict, now, p);
        }
        self.plan_probe(now, p);
        self.moderate(before, &a, p);
        if self.detector.may_send() {
            self.transmit(p, line);
        }
        self.trace_window(line);
    }

    /// What an ACK that advances makes of the retransmission timer.
    #[inline]
    fn renew_timer(&mut self, verdict: Verdict, now: Time, p: &TcpParams) {
        self.timeouts_in_a_row = 0;
        let first_partial = verdict != Verdict::Partial || self.restarts_timer_on_partial();
        // A window below one segment releases nothing more: only the timer can open it again (ns-2).
        let stuck = !self.sent_everything() && self.law.cwnd() < real(p.mss.0);
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
        if !self.habits.first_partial_restarts_timer {
            return true;
        }
        std::mem::replace(&mut self.partial_is_first, false)
    }

    /// Whether some new segment could be sent now, as far as data and the peer's window go.
    fn has_new_data(&self, p: &TcpParams) -> bool {
        let len = p.mss.0.min(self.data_end.saturating_sub(self.nxt));
        !self.sent_everything() && (len > 0 || self.closing) && self.nxt + len <= self.window_edge
    }

    /// Acts on the detector's verdict and ends episodes that are complete.
    fn conclude(&mut self, verdict: Verdict, a: &Ack, p: &TcpParams, line: &mut impl Line) {
        while let Some(s) = self.detector.forced_resend(&mut self.board) {
            self.resend(s, p, line);
        }
        match verdict {
            Verdict::Loss => {
                self.congested(Trigger::Loss, p, line);
                if self.habits.starts_over {
                    return self.start_over(p);
                }
                // With a scoreboard it is known whether the first segment is on its way again already.
                if !(self.habits.uses_scoreboard && self.board.first().is_some_and(Sent::is_resent)) {
                    self.resend_first(p, line);
                }
            }
            Verdict::Recovered => {
                self.phase = Phase::Open;
                if self.habits.forgets_guard {
                    self.guard = 0;
                }
                line.note(EventKind::Recovered, self.una, 0, 0);
            }
            Verdict::Partial => {
                let habits = self.habits;
                let cut = self.detector.take_deflation() as f64;
                if habits.partial_ends_backoff {
                    self.rtt.reset_backoff();
                }
                if habits.partial_resends {
                    self.law.change(Change::Deflate(cut));
                    if p.rtt_sampling == RttSampling::PerWindow && self.timed.is_some_and(|t| self.una >= t.0) {
                        self.timed = None;
                    }
                    self.resend_first(p, line);
                }
            }
            Verdict::Resumed => self.resume(p),
            Verdict::Nothing => {}
        }
        let over = match self.phase {
            Phase::Timeout { high } => self.una >= high,
            // The segment that carries CWR starts at `high`; until it is acknowledged the receiver still echoes the
            // mark that was answered already.
            Phase::Echo { high } => self.una > high,
            _ => false,
        };
        if over && !(self.judges.is_active() && a.bytes == 0) {
            self.phase = Phase::Open;
        }
    }

    /// The one gate: every reduction of the window passes here.
    fn congested(&mut self, why: Trigger, p: &TcpParams, line: &mut impl Line) {
        let base = match p.reduce_from {
            // RFC 5681 section 3.2 step 2: what limited transmit has sent beyond the window does not count.
            ReduceFrom::Flight => {
                let just_left = if why == Trigger::Echo { self.acked_now } else { 0 };
                ((self.outstanding() + just_left) as f64).min(self.cwnd(p))
            }
            ReduceFrom::Cwnd => self.law.cwnd(),
            ReduceFrom::Ns2Window => self.cwnd(p),
        };
        // One reduction per window of data: a loss in the window that an echo has reduced already starts a recovery, but
        // costs nothing more (RFC 3168 section 6.1.2; Linux; ns-2).
        let reduced_already = why == Trigger::Loss && matches!(self.phase, Phase::Echo { .. }) && !Needs::of(p).apart;
        if !reduced_already {
            match self.extra.as_ref().and_then(|x| x.early_share()).filter(|_| why == Trigger::Early) {
                Some(share) => self.law.change(Change::GiveUp(share)),
                None => self.law.reduce(why, base),
            }
            self.ecn.tell_of_reduction();
        }
        self.ecn.answered_last = why == Trigger::Echo;
        self.stats.first_loss_at.come_first(line.now());
        // A recovery inside a window that an echo has reduced keeps that window's end in ns-2.
        let high = if reduced_already && self.ecn.shares_guard() { self.guard } else { self.nxt };
        // An echo says nothing about losses: those of its window are still to be found. ns-2 keeps one `recover` for all.
        if matches!(why, Trigger::Loss | Trigger::Timeout) || (why == Trigger::Echo && self.ecn.shares_guard()) {
            self.guard = high;
        }
        self.partial_is_first = true;
        match why {
            Trigger::Loss => {
                self.phase = Phase::Recovery { high };
                self.stats.fast_recoveries += 1;
                line.note(EventKind::Recovery, self.una, 0, 0);
                if self.habits.loss_restarts_timer {
                    self.timer = line.now() + self.rtt.rto(p);
                    self.timed = None;
                }
                if self.extra.is_some() && !reduced_already {
                    self.begin_spending(base, p);
                }
            }
            Trigger::Echo => {
                self.phase = Phase::Echo { high };
                self.stats.ecn_reductions += 1;
                line.note(EventKind::EcnReduce, self.una, 0, 0);
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
        if self.timeouts_in_a_row > p.retries_max {
            self.gave_up = true;
            return;
        }
        self.pending_timeout = Some(PendingTimeout { at: now, high: self.nxt });
        self.leave_undecided(now);
        let repeated = matches!(self.phase, Phase::Timeout { .. }) && self.timeouts_in_a_row > 1;
        if self.episode_at == Time::NEVER {
            self.episode_at = now;
        }
        let case = self.judges.hears(self.phase);
        if case == Case::New {
            self.remember(p);
        }
        let hold = match self.phase {
            // RFC 5681: the threshold is held when the same segment times out again; ns-2 halves every time.
            Phase::Timeout { .. } if repeated && p.timeout_threshold == TimeoutThreshold::First => true,
            _ if self.ecn.answers == Answers::BeyondGuard => self.ecn.answered_last,
            Phase::Timeout { .. } => false,
            Phase::Recovery { .. } => p.timeout_in_recovery == TimeoutInRecovery::Hold,
            Phase::Echo { .. } => !Needs::of(p).apart,
            Phase::Open => false,
        };
        let ssthresh = self.law.ssthresh();
        let late_before = self.detector.late_before(now, &self.board, &self.view(p));
        self.congested(Trigger::Timeout, p, line);
        if hold {
            self.law.change(Change::Threshold(ssthresh));
        }
        self.detector.on_timeout();
        if let Some(x) = &mut self.extra {
            x.on_timeout();
        }
        self.rtt.back_off();
        self.remember_backoff();
        self.timed = None;
        self.probe_budget = None;
        if case != Case::Refused {
            let resent_end = self.board.first().map_or(self.una, Sent::end);
            self.judges.start(&Expiry { high: self.nxt, resent_end, stamp: stamp(now, p.timestamp_tick) });
        }
        if self.judges.is_active() {
            self.board.clear_lost();
            self.board.mark_first_lost();
        } else {
            self.board.mark_all_lost(p.sack_after_timeout, u64::MAX);
            if let Some(time) = late_before {
                self.board.spare_sent_after(time);
            }
        }
        self.tell_losses(now);
        self.timer = now + self.rtt.rto(p);
        self.resend_first_lost(p, line);
        self.trace_window(line);
    }

    /// A retransmission by the peer arrived: with the defect it counts as a duplicate ACK for F-RTO.
    pub fn on_peer_resend(&mut self, p: &TcpParams, line: &mut impl Line) {
        if self.judges.is_active() && p.frto_peer_resends == PeerResends::CountAsDuplicate {
            self.judges.stop();
            self.board.mark_lost_but_resent(p.sack_after_timeout, self.judges.high());
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
