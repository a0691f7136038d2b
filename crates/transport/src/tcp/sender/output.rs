//! What leaves: retransmissions, new data, and what might be lost, as far as window, peer and application allow.

use super::Sender;
use super::optional::SentSegment;
use super::state::{Line, Outgoing, real};
use crate::tcp::choices::{RttSampling, SackAfterTimeout};
use crate::tcp::conn::scoreboard::{Scoreboard, Sent};
use crate::tcp::detect::{Detect, Phase, Release};
use crate::tcp::facts::{Ack, Trigger, stamp};
use crate::tcp::law::{Change, Controller};
use crate::tcp::params::{FinalSegment, TcpParams};
use crate::tcp::policies::TimedSegment;
use crate::tcp::undo::DetectSpurious;
use crosswind_base::Time;

impl Sender {
    /// When the last segment with data or the FIN left, new or again; zero before the first.
    pub fn last_sent(&self) -> Time {
        self.last_sent
    }
    /// The last timeout, if there was one, has been followed by the acknowledgement of new data, and no window is being probed.
    pub fn is_answered(&self) -> bool {
        self.timeouts_in_a_row == 0 && !self.probing.is_on()
    }
    /// The application takes back what has not left, and the FIN too if that has not; returns how many bytes these are.
    pub fn take_back(&mut self) -> u64 {
        let bytes = self.data_end.saturating_sub(self.nxt);
        if !self.sent_everything() {
            self.data_end = self.data_end.min(self.nxt);
            self.closing = false;
        }
        bytes
    }
    /// Compares the counters of the scoreboard with a recount (for tests; it walks the whole window).
    pub fn audit(&self) -> Result<(), String> {
        self.board.audit(self.una, self.nxt)
    }

    /// Tahoe: as after a timeout, but the timer does not back off.
    pub(super) fn start_over(&mut self, p: &TcpParams) {
        self.law.change(Change::StartFrom(self.law.window().mss()));
        self.phase = Phase::Timeout { high: self.recovery_point };
        self.board.mark_all_lost(p.recovery.sack_after_timeout, u64::MAX);
    }

    pub(super) fn retransmit_first_lost(&mut self, p: &TcpParams, line: &mut impl Line) {
        if let Some(s) = self.board.next_lost() {
            self.retransmit(s, p, line);
        }
    }

    pub(super) fn retransmit_first(&mut self, p: &TcpParams, line: &mut impl Line) {
        if let Some(s) = self.board.first().copied()
            && !s.is_sacked()
        {
            self.retransmit(s, p, line);
        }
    }

    /// Segments have become smaller than those under way, of which none arrives: what is not acknowledged is cut anew and retransmitted,
    /// as after a timeout, but the window stays what it is (rfc1191 section 6.4).
    pub fn cut_smaller(&mut self, p: &TcpParams, line: &mut impl Line) {
        let now = line.now();
        let (mss, mut at) = (p.connection.mss.0, self.una);
        self.law.change(Change::SmallerSegments(real(mss)));
        self.board = Scoreboard::new();
        while at < self.nxt {
            let data = mss.min(self.data_end.saturating_sub(at));
            let left = self.nxt - at;
            // The FIN stays with the last of the data.
            let len = if left <= data + 1 { left } else { data };
            self.board.push(at, len as u32, now);
            at += len;
        }
        if self.outstanding() > 0 {
            self.board.mark_all_lost(SackAfterTimeout::Clear, u64::MAX);
            let view = self.view(p);
            self.detector.on_timeout(now, &self.board, &view);
            (self.recovery_point, self.phase) = (self.nxt, Phase::Timeout { high: self.nxt });
            (self.timed, self.probe_budget) = (None, None);
            self.timer = now + self.rtt.rto(p);
        }
        self.transmit(p, line);
    }

    /// Sends whatever the window allows: first what is lost, then new data, then what might be lost.
    pub fn transmit(&mut self, p: &TcpParams, line: &mut impl Line) {
        let mss = p.connection.mss.0;
        self.restart_after_idle(p, line.now());
        if self.optional.is_some() {
            self.let_write(p);
        }
        let limit = match (p.window.max_burst_segments, self.detector.status().burst_limit) {
            (0, 0) => u32::MAX,
            (0, b) | (b, 0) => b,
            (a, b) => a.min(b),
        };
        let sent_before = self.stats.segments;
        let mut room = self.cwnd(p) - real(self.in_flight(p));
        for _ in 0..limit {
            if room < 1.0 || self.is_held_by_pacing(line.now()) {
                break;
            }
            let before = self.nxt;
            if !self.spurious.is_active()
                && room >= real(mss)
                && let Some(s) = self.detector.next_retransmission(Release::Window, &mut self.board)
            {
                self.retransmit(s, p, line);
            } else if !self.send_new(room, p, line) && !self.send_suspect(room, p, line) {
                break;
            }
            // New data adds what it is long; what a retransmission adds is for the detector to say.
            room = match self.nxt - before {
                0 => self.cwnd(p) - real(self.in_flight(p)),
                new => room - real(new),
            };
        }
        self.note_usage(self.stats.segments > sent_before, p);
        if self.optional.is_some() {
            self.note_app_limit(p);
        }
    }

    /// One segment of new data (or the bare FIN), if data, peer window, Nagle and `room` allow.
    #[inline(always)]
    pub(super) fn send_new(&mut self, room: f64, p: &TcpParams, line: &mut impl Line) -> bool {
        if self.probe_budget == Some(0) {
            return false;
        }
        let mss = p.connection.mss.0;
        let is_full = self.data_end > self.nxt + mss;
        let Some((len, fin)) = (if is_full { Some((mss, false)) } else { self.last_segment(p) }) else { return false };
        let limit = p.window.window_limit_segments as u64 * mss;
        let beyond_limit = limit > 0 && self.nxt + len - self.una > limit;
        if self.nxt + len + u64::from(fin) > self.window_edge {
            return room >= 1.0 && !beyond_limit && self.send_part(room, p, line);
        }
        if room < real(len) || beyond_limit {
            return false;
        }
        if p.host.host_queue.limit_segments > 0 && !self.finds_room(len, p, line) {
            return false;
        }
        self.emit_new(len, fin, p, line);
        if p.host.final_segment == FinalSegment::WithPrevious && !fin && self.data_end <= self.nxt + mss {
            self.send_final(p, line);
        }
        true
    }

    /// The last segment with the FIN follows the one before it, as far as the peer's window goes.
    #[cold]
    fn send_final(&mut self, p: &TcpParams, line: &mut impl Line) {
        if let Some((rest, true)) = self.last_segment(p)
            && self.nxt + rest <= self.window_edge
            && (p.host.host_queue.limit_segments == 0 || self.finds_room(rest, p, line))
        {
            self.emit_new(rest, true, p, line);
        }
    }

    #[inline(always)]
    pub(super) fn emit_new(&mut self, len: u64, fin: bool, p: &TcpParams, line: &mut impl Line) {
        let seq = self.nxt;
        let idle = self.outstanding() == 0;
        let now = line.now();
        let cwr = std::mem::take(&mut self.ecn.cwr_pending) && len > 0;
        self.tell_timeout(p, line);
        let push = self.is_pushed(seq + len);
        line.emit(Outgoing { seq, payload: len as u32, fin, retransmit: false, cwr, probe: false, push });
        self.board.push(seq, len as u32 + fin as u32, now);
        self.nxt += len + fin as u64;
        self.stats.segments += 1;
        self.last_sent = now;
        if self.timed.is_none() && p.timers.rtt_sampling == RttSampling::PerWindow {
            self.timed = Some((self.nxt, now));
        }
        if self.timer == Time::NEVER || idle {
            self.timer = now + self.rtt.rto(p);
            self.probing.end();
        }
        if let Some(b) = &mut self.probe_budget {
            *b -= 1;
        }
        self.detector.on_sent(len);
        if self.optional.is_some() {
            self.note_departure(SentSegment { end: self.nxt, numbers: len + u64::from(fin), payload: len, now }, p);
        }
    }

    /// Linux 2.4 (`tcp_transmit_skb`, `tcp_enter_cwr`): a segment that the host's own queue refuses stays to be sent, and the
    /// window falls as for an echo.
    #[inline(never)]
    fn finds_room(&mut self, len: u64, p: &TcpParams, line: &mut impl Line) -> bool {
        let now = line.now();
        let Some(host) = line.shared() else { return true };
        let (queue, on_its_clock) = host.queue(now);
        if queue.admits(on_its_clock, len, p.connection.mss.0, &p.host.host_queue) {
            return true;
        }
        if self.phase == Phase::Open {
            self.congested(Trigger::Local, p, line);
        }
        if self.timer == Time::NEVER {
            self.timer = now + self.rtt.rto(p);
        }
        false
    }

    /// Length of the segment that sends all that is left, and whether it bears the FIN; unless there is nothing to send, or it
    /// has to wait for more (Nagle).
    #[inline(never)]
    fn last_segment(&self, p: &TcpParams) -> Option<(u64, bool)> {
        if self.sent_everything() {
            return None;
        }
        let len = self.data_end.saturating_sub(self.nxt);
        let fin = self.closing;
        let held_by_nagle = len < p.connection.mss.0 && !fin && p.host.nagle.on() && self.outstanding() > 0;
        (!held_by_nagle && (len > 0 || fin)).then_some((len, fin))
    }

    /// RFC 6675 NextSeg rule 3: nothing new to send, but a hole below the highest SACK.
    fn send_suspect(&mut self, room: f64, p: &TcpParams, line: &mut impl Line) -> bool {
        if !matches!(self.phase, Phase::Recovery { .. })
            || !self.recovery.retransmits_suspects
            || room < real(p.connection.mss.0)
        {
            return false;
        }
        match self.board.next_suspect() {
            Some(s) => {
                self.retransmit(s, p, line);
                true
            }
            None => false,
        }
    }

    /// Linux 2.4: when the first segment left longer ago than the timeout, all that did are held lost without waiting for
    /// the timer.
    #[inline]
    pub(super) fn look_for_overdue(&mut self, a: &Ack, p: &TcpParams, line: &mut impl Line) {
        if !p.recovery.retransmit_overdue.on() {
            return;
        }
        let latest = Time(a.now.0.saturating_sub(self.rtt.rto(p).0));
        let overdue = self.board.first().is_some_and(|s| s.sent_at < latest && !s.is_sacked());
        match self.phase {
            Phase::Recovery { .. } if overdue => self.board.mark_lost_sent_before(latest),
            Phase::Open if overdue && (a.duplicate || a.sacked > 0) && self.una >= self.recovery_point => {
                self.board.mark_lost_sent_before(latest);
                self.congested(Trigger::Loss, p, line);
                self.retransmit_first_lost(p, line);
            }
            _ => {}
        }
    }

    /// Packets with a lifetime need not outlive the timer.
    #[inline]
    fn tell_timeout(&self, p: &TcpParams, line: &mut impl Line) {
        if line.is_mortal() {
            line.waits(self.rtt.rto(p));
        }
    }

    pub(super) fn retransmit(&mut self, s: Sent, p: &TcpParams, line: &mut impl Line) {
        let now = line.now();
        let payload = s.end().min(self.data_end).saturating_sub(s.start);
        let fin = self.closing && s.end() > self.data_end;
        // RFC 3168 section 6.1.5: a retransmission says nothing of a reduction. In ns-2 it does.
        let cwr =
            self.ecn.has_one_recovery_point() && self.ecn.is_active() && std::mem::take(&mut self.ecn.cwr_pending);
        if p.host.host_queue.limit_segments > 0
            && let Some(host) = line.shared()
        {
            let (queue, on_its_clock) = host.queue(now);
            queue.take(on_its_clock, payload, p.host.host_queue.rate);
        }
        self.tell_timeout(p, line);
        let push = self.is_pushed(s.start + payload);
        line.emit(Outgoing { seq: s.start, payload: payload as u32, fin, retransmit: true, cwr, probe: false, push });
        self.board.retransmit(s.start, now);
        self.stats.segments += 1;
        self.stats.retransmitted_segments += 1;
        self.stats.retransmitted_bytes += payload;
        self.spurious.on_retransmission(payload);
        if let Some(n) = self.optional.as_mut().and_then(|x| x.needless.as_mut()) {
            n.on_retransmission(payload, stamp(now, p.connection.timestamp_tick));
        }
        self.last_sent = now;
        if self.timed.is_some_and(|t| s.start < t.0) && self.policies.timed_segment == TimedSegment::Dropped {
            self.timed = None;
        }
        let head = s.start == self.una;
        if self.timer == Time::NEVER
            || (head && p.timers.restart_timer_on_retransmission.on() && self.phase_is_recovery())
        {
            self.timer = now + self.rtt.rto(p);
        }
        self.detector.on_sent(payload);
        if self.optional.is_some() {
            self.note_departure(SentSegment { end: s.end(), numbers: s.len.into(), payload, now }, p);
        }
    }
}
