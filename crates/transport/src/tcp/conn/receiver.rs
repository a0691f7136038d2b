//! # Receiver
//!
//! **Source**: rfc7323 section 4.3 and ns-2.35 `Acker::update_ts` (which timestamp is echoed); rfc2883 section 4 (duplicates in
//! the first block); rfc9293 section 3.8.6.3; rfc5681 section 4.2 (delayed ACKs, immediate ACK out of order); rfc2018 section
//! 4 (order of SACK blocks).
//!
//! **Idea**: the receiving half. Puts bytes back in order; acknowledges every `ack_every_segments`-th segment in order,
//! or after `delayed_ack`, and at once whatever is out of order; reports ranges as SACK blocks, the latest first; tells of
//! marks (see `ecn-feedback`); advertises `receive_buffer` (or what `window.rs` makes of it); its right edge never moves back.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `delayed_ack` | time | 200 ms | Linux and BSD; rfc5681 section 4.2 asks for at most 500 ms |
//! | `delayed_ack_timer` | - | `per-segment` | BSD: `heartbeat`; `linux-2.4`: see the page of delayed ACKs of that system |
//! | `ack_every_segments` | segments | 2 | rfc5681 section 4.2 |
//! | `quick_acks` | segments | 0 | ours; Linux acknowledges the first ones at once |
//! | `ack_habit` | - | off | igarashi section 2.19: chunks and empty ACKs, see the page of ACK habits |
//! | `sack_compression` | time | off | see the page of SACK compression |
//! | `sack_blocks` | blocks | 4 | rfc2018 section 3; three beside timestamps. ns-2: 3 |
//! | `timestamp_echo` | - | `rfc7323` | rfc7323 section 4.3, Linux, ns-2; `rfc1323`: its section 3.4 |
//! | `dsack` | - | `off` | rfc2883 |
//! | `receive_buffer` | bytes | 64 MiB | ours: no limit in usual scenarios |
//!
//! **Deviations**: 1. Windows are told to the byte, whatever the shift of window scaling.
//!
//! **Checked by**: `tests/oracle_receiver.rs` (a set of bytes), `tests/tapes`; `crates/sim/tests/worlds.rs`
//! (window-limited flows, slow start, times of one segment).

use super::super::ecn::feedback::Feedback;
use super::super::params::TcpParams;
use super::super::policies::{OldSegment, Policies};
use super::habit::Habit;
use super::quick::{Arrival, QuickAcks};
use super::received_ranges::ReceivedRanges;
use super::rtt::Rtt;
use super::sack_compression::SackCompression;
pub use super::state::AckNow;
use super::window::Growing;
use crate::tcp::choices::{DelayedAckTimer, ReceiveWindow, TimestampEcho};
use crate::tcp::facts::is_older;
use crosswind_base::{Dur, Packet, Rng, SackList, TcpFlags, Time};

/// What the world may read.
#[derive(Clone, Copy, Default, Debug)]
pub struct ReceiverStats {
    pub segments: u64,
    /// Segments whose bytes had all arrived before.
    pub duplicate_segments: u64,
    /// Data segments that start below one that had arrived before (RFC 4737 section 3); retransmissions mostly do.
    pub out_of_order_segments: u64,
    /// Segments outside the window or too old, dropped or cut, and answered.
    pub refused_segments: u64,
}

/// The application reads whatever comes as it comes.
pub(super) const AT_ONCE: u64 = u64::MAX;

#[derive(Debug)]
pub struct Receiver {
    /// Next byte expected.
    pub next: u64,
    /// Received above `next`; none until the first hole.
    ranges: Option<Box<ReceivedRanges>>,
    /// Segments since the last ACK.
    unacked: u32,
    /// When the delayed ACK is due, or never.
    pub delack_at: Time,
    quick_left: u32,
    pub feedback: Feedback,
    pub fin_at: Option<u64>,
    /// `sent_at` of the latest segment, for the ACK's `cause`.
    pub cause: Time,
    /// Timestamp to echo (RFC 7323 section 4.3).
    pub ts_recent: u32,
    last_ack_sent: u64,
    /// Right edge of the window offered last: what goes beyond is not taken.
    pub edge: u64,
    /// Up to where the application has read; [`AT_ONCE`]: it reads whatever comes.
    pub(super) read_to: u64,
    /// The window grows no more: the peer has closed, or nobody reads.
    pub(super) stopped: bool,
    /// First byte of the highest data segment so far.
    highest_start: u64,
    /// The window, where it is not simply the buffer.
    pub(super) growing: Option<Box<Growing>>,
    /// The segment received twice that the next ACK reports; only with `dsack`.
    twice: Option<Box<(u64, u64)>>,
    /// Chunks and empty ACKs; only with `ack_habit`.
    habit: Option<Box<Habit>>,
    /// Waits that are learnt; only with `delayed_ack_timer = "linux-2.4"`.
    quick: Option<Box<QuickAcks>>,
    /// ACKs of what comes beyond a hole; only with `sack_compression`.
    compression: SackCompression,
    /// How a segment is acknowledged that was there before.
    old_segment: OldSegment,
    pub stats: ReceiverStats,
}

impl Receiver {
    pub fn new(p: &TcpParams) -> Receiver {
        Receiver {
            next: 0,
            ranges: None,
            unacked: 0,
            delack_at: Time::NEVER,
            quick_left: p.receiver.quick_acks,
            feedback: Feedback::default(),
            fin_at: None,
            cause: Time::ZERO,
            ts_recent: 0,
            last_ack_sent: 0,
            edge: 0,
            read_to: AT_ONCE,
            stopped: false,
            highest_start: 0,
            twice: None,
            habit: None,
            quick: QuickAcks::asked_for(p),
            compression: SackCompression::default(),
            growing: (p.receiver.receive_window == ReceiveWindow::Growing).then(|| Box::new(Growing::new(p))),
            old_segment: Policies::of(p).old_segment,
            stats: ReceiverStats::default(),
        }
    }

    /// Gives the host its habit of acknowledging, and the dice for it.
    pub fn accustom(&mut self, p: &TcpParams, rng: Rng) {
        self.habit = p.receiver.ack_habit.is_on().then(|| Box::new(Habit::new(p.receiver.ack_habit.clone(), rng)));
    }

    /// A SYN came, and its acknowledgement leaves with the SYN-ACK: so far that is what was last acknowledged (RFC 7323
    /// section 4.3), and the first segment of data renews the echo.
    pub fn answer_syn(&mut self) {
        self.next = 1;
        self.last_ack_sent = 1;
        self.begin();
    }

    /// The peer's SYN has come: a window that was offered before counts from the first byte on.
    pub fn begin(&mut self) {
        self.edge = self.edge.max(1);
    }

    /// A segment leaves with this window.
    #[inline]
    pub fn offer(&mut self, wnd: u32) {
        if !self.stopped {
            self.edge = self.edge.max(self.next.max(1) + u64::from(wnd));
        }
    }

    /// What has been acknowledged (`rcv_wup` in Linux).
    #[inline]
    pub fn acked_to(&self) -> u64 {
        self.last_ack_sent
    }

    /// Bytes of data delivered in order (SYN and FIN not counted).
    pub fn delivered(&self) -> u64 {
        let fin = self.fin_at.is_some_and(|f| self.next > f) as u64;
        self.next.saturating_sub(1 + fin)
    }
    pub fn fin_reached(&self) -> bool {
        self.fin_at.is_some_and(|f| self.next > f)
    }
    pub fn buffered(&self) -> u64 {
        self.ranges.as_ref().map_or(0, |i| i.bytes())
    }

    /// Takes a segment with payload or FIN. `p.seq` is its first byte.
    #[inline]
    pub fn on_segment(&mut self, p: &Packet, params: &TcpParams, now: Time) -> AckNow {
        let tells_at_once = self.feedback.on_segment(p);
        let answer = self.sort_in(p, params, now);
        if tells_at_once { AckNow::Yes } else { answer }
    }

    fn sort_in(&mut self, p: &Packet, params: &TcpParams, now: Time) -> AckNow {
        let fin = p.flags.has(TcpFlags::FIN);
        let (left, mut right) = (p.seq, p.seq + p.payload as u64);
        if fin {
            self.fin_at = Some(right);
            right += 1;
        }
        self.cause = p.sent_at;
        if p.ts_val != 0 && self.renews_echo(p.ts_val, (left, right), params) {
            self.ts_recent = p.ts_val;
        }
        if params.undo.dsack.on() && p.payload > 0 && self.has(left, right) {
            self.twice = Some(Box::new((left, left + u64::from(p.payload))));
            self.feedback.on_duplicate();
        }
        self.stats.segments += 1;
        if p.payload > 0 {
            self.stats.out_of_order_segments += u64::from(left < self.highest_start);
            self.highest_start = self.highest_start.max(left);
        }
        if self.quick.is_some() && (right <= self.next || left > self.next) {
            self.learn_disorder(params);
        }
        if right <= self.next {
            self.stats.duplicate_segments += 1;
            if self.old_segment == OldSegment::Delayed && right == self.next && !self.has_ranges() {
                return self.policy(params, now, fin);
            }
            return AckNow::Yes;
        }
        if left > self.next {
            if self.covered(left, right) {
                self.stats.duplicate_segments += 1;
            }
            self.ranges.get_or_insert_default().add(left, right);
            return self.beyond(params);
        }
        let had_ranges = self.has_ranges();
        self.next = right;
        if had_ranges && let Some(i) = &mut self.ranges {
            self.next = i.absorb(self.next);
        }
        let mut grew = false;
        if self.growing.is_some() {
            // Of what is unread, the segment itself is not counted.
            let waiting = self.buffered() + self.unread().saturating_sub(u64::from(p.payload));
            if let Some(g) = &mut self.growing {
                grew = g.on_data(p.payload.into(), waiting);
            }
        }
        if self.quick.is_some() {
            self.learn(p, grew, params, now);
        }
        if had_ranges {
            return AckNow::Yes;
        }
        self.policy(params, now, fin)
    }

    /// Whether the ACK of a segment beyond a hole leaves at once.
    fn beyond(&mut self, params: &TcpParams) -> AckNow {
        if params.receiver.sack_compression == Dur::ZERO || self.quick_left > 0 {
            return AckNow::Yes;
        }
        let ranges = self.ranges.as_ref().map_or(0, |r| r.count());
        if self.compression.holds(self.next, ranges) { AckNow::Held } else { AckNow::Yes }
    }

    /// The ACK is held until then, unless an earlier time is set or another leaves before.
    pub fn hold(&mut self, until: Time) {
        self.delack_at = self.delack_at.min(until);
    }

    /// Whether a segment's timestamp is the one to echo from now on.
    #[inline]
    fn renews_echo(&self, value: u32, (left, right): (u64, u64), params: &TcpParams) -> bool {
        let next = left <= self.last_ack_sent && self.last_ack_sent < right;
        match params.receiver.timestamp_echo {
            TimestampEcho::Rfc1323 => next,
            TimestampEcho::Rfc7323 => left <= self.last_ack_sent && !is_older(value, self.ts_recent),
        }
    }

    fn policy(&mut self, params: &TcpParams, now: Time, fin: bool) -> AckNow {
        self.unacked += 1;
        if self.quick.is_some() {
            return self.learnt(now, fin);
        }
        if self.quick_left > 0 {
            self.quick_left -= 1;
            return AckNow::Yes;
        }
        let chunk = self.habit.as_ref().map_or(0, |h| h.chunk);
        let every = if chunk > 0 { chunk } else { params.receiver.ack_every_segments };
        if fin || params.receiver.delayed_ack.0 == 0 || self.unacked >= every {
            return AckNow::Yes;
        }
        if self.delack_at == Time::NEVER {
            let tick = params.receiver.delayed_ack.0;
            self.delack_at = match params.receiver.delayed_ack_timer {
                DelayedAckTimer::PerSegment | DelayedAckTimer::Learnt => now + params.receiver.delayed_ack,
                DelayedAckTimer::Heartbeat => Time((now.0 / tick + 1) * tick),
            };
        }
        AckNow::Later
    }

    /// Whether all bytes of [left, right) have arrived.
    #[inline]
    pub fn has(&self, left: u64, right: u64) -> bool {
        right <= self.next || (left > self.next && self.covered(left, right))
    }

    fn covered(&self, left: u64, right: u64) -> bool {
        self.ranges.as_ref().is_some_and(|i| i.cover(left, right))
    }

    fn has_ranges(&self) -> bool {
        self.ranges.as_ref().is_some_and(|i| !i.is_empty())
    }

    /// An ACK waits for another segment or the timer.
    pub fn has_unacked(&self) -> bool {
        self.unacked > 0
    }

    /// Whether the next ACK reports a segment received twice.
    pub fn reports_duplicate(&self) -> bool {
        self.twice.is_some()
    }

    /// What there is to report; most ACKs have nothing.
    #[inline]
    pub fn sack_blocks(&mut self, most: u32) -> Option<SackList> {
        if self.twice.is_none() && !self.has_ranges() {
            return None;
        }
        let list = self.list_blocks(most);
        (!list.is_empty()).then_some(list)
    }

    fn list_blocks(&mut self, most: u32) -> SackList {
        let mut list = SackList::EMPTY;
        if let Some(t) = self.twice.take() {
            list.push(t.0, t.1);
        }
        if let Some(i) = &mut self.ranges {
            i.report(most as usize, &mut list);
        }
        list
    }

    /// Whether the ACK that is about to be sent is followed by one that says nothing new.
    #[inline]
    pub fn repeats_ack(&mut self) -> bool {
        let news = self.unacked > 0 && self.habit.is_some() && !self.has_ranges();
        news && self.habit.as_mut().is_some_and(|h| h.repeats())
    }

    /// Another timer of delayed ACKs, perhaps: what is to be learnt is learnt from now on.
    pub fn retime(&mut self, p: &TcpParams) {
        if self.quick.is_some() != (p.receiver.delayed_ack_timer == DelayedAckTimer::Learnt) {
            self.quick = QuickAcks::asked_for(p);
        }
    }

    /// Whether ACKs wait as long as has been learnt.
    #[inline]
    pub fn learns(&self) -> bool {
        self.quick.is_some()
    }

    /// What this end has measured of the round trip.
    #[cold]
    pub fn know(&mut self, rtt: &Rtt, p: &TcpParams) {
        if let Some(q) = &mut self.quick {
            q.know(rtt, p);
        }
    }

    /// The timer of the ACK has fired: one is about to be sent.
    #[cold]
    pub fn waited(&mut self) {
        if let Some(q) = &mut self.quick {
            q.on_timer();
        }
    }

    #[cold]
    fn learn_disorder(&mut self, p: &TcpParams) {
        let window = self.window_sent(p);
        if let Some(q) = &mut self.quick {
            q.on_disorder(window);
        }
    }

    #[cold]
    fn learn(&mut self, p: &Packet, grew: bool, params: &TcpParams, now: Time) {
        let pushed = p.flags.has(TcpFlags::FIN) || p.flags.has(TcpFlags::PSH);
        let arrival = Arrival { len: p.payload.into(), pushed, grew, window: self.window_sent(params) };
        if let Some(q) = &mut self.quick
            && arrival.len > 0
        {
            q.on_data(arrival, now);
        }
    }

    #[cold]
    fn learnt(&mut self, now: Time, fin: bool) -> AckNow {
        match &self.quick {
            Some(q) if !fin => q.decide(self.next, now, &mut self.delack_at),
            _ => AckNow::Yes,
        }
    }

    /// The window last sent.
    fn window_sent(&self, p: &TcpParams) -> u64 {
        self.growing.as_ref().map_or(p.receiver.receive_buffer.0, |g| g.offered())
    }

    /// An ACK (or a segment that carries one) has been sent.
    #[inline]
    pub fn acked(&mut self) {
        if self.quick.is_some() || self.habit.is_some() || self.growing.is_some() {
            self.hears_of_ack();
        }
        self.unacked = 0;
        self.compression.told();
        self.delack_at = Time::NEVER;
        self.last_ack_sent = self.next;
    }

    /// What few receivers have, and what is told of an ACK that leaves.
    #[inline(never)]
    fn hears_of_ack(&mut self) {
        if let Some(q) = &mut self.quick {
            q.acked(self.next);
        }
        if self.unacked > 0
            && let Some(h) = &mut self.habit
        {
            h.draw();
        }
        let waiting = if self.growing.is_some() { self.waiting() } else { 0 };
        if let Some(g) = &mut self.growing {
            g.sent(self.next, waiting);
        }
    }

    /// Window to advertise: usually the whole buffer, because most applications read at once and what waits out of order lies
    /// inside the window that was offered for it (its right edge never moves back, RFC 9293 section 3.8.6).
    #[inline]
    pub fn window(&self, params: &TcpParams) -> u64 {
        match &self.growing {
            None if self.read_to == AT_ONCE => params.receiver.receive_buffer.0,
            None => self.window_beside_unread(params),
            Some(g) => g.window(self.next, self.waiting()),
        }
    }
}
