//! # PragueCC
//!
//! **Source**: udp-prague (`prague_cc.cpp`, February 2026), the reference implementation for UDP; rfc9331 section 4 (what is required).
//!
//! **Idea**: Prague in integers: a window in 10^-6 bytes and a rate in bytes per second, counters of what the receiver got, of marks and of
//! losses. Alpha starts at zero and is renewed, and marks are answered, at most once in the virtual round trip, `max(srtt, 25 ms)`. There is no slow
//! start: an unmarked packet adds `(srtt / virtual)^2` packets a window, and a millisecond of the rate for that packet once `wait` virtual round
//! trips have passed since the last answer. A loss halves; if it turns out to have been none, the half comes back. Below a round trip of 2 ms, or of
//! one packet, the rate is kept instead of the window. What leaves is 3 % above the rate in the first half of a virtual round trip, 3 % below in the
//! second.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `law` | - | `reno` | `praguecc`, with all of its constants |
//!
//! **Deviations**: 1. Packets are segments: where the rate asks for smaller packets (150 bytes at least), two segments are the window, and the
//! pacing keeps the rate. 2. How much has been received, marked and lost comes from the acknowledgements (SACK, AccECN) of TCP; what has been sent is
//! that and what is in flight. 3. Frame mode (video) is left out. 4. A window of ten packets until the first ACK, as with any law.
//!
//! **Checked by**: `law/praguecc_oracle.rs` (800 ACKs of the implementation itself, every column to the last unit).

use super::{AckSample, Change, Controller, Start, Window};
use crate::tcp::facts::{Ack, Trigger};

/// Microseconds: the virtual round trip, and the longest round trip at which the rate is kept.
const REFERENCE_US: u64 = 25_000;
const RATE_BELOW_US: u64 = 2_000;
/// Bytes per second.
const RATE_FIRST_BYTES_PER_S: u64 = 12_500;
const RATE_LEAST_BYTES_PER_S: u64 = 12_500;
const RATE_MOST_BYTES_PER_S: u64 = 12_500_000_000;
/// After an answer: virtual round trips before growth is fast, and bytes per second that cost one more.
const WAIT_LEAST_ROUNDS: u64 = 7;
const WAIT_STEP_BYTES_PER_S: u64 = 1_920_000;
/// Bytes of the smallest packet, and packets of the smallest window.
const PACKET_LEAST_BYTES: u64 = 150;
const WINDOW_LEAST_PACKETS: u64 = 2;
/// Microseconds of the rate that growth adds, and that leave at once.
const GROWTH_US: u64 = 1_000;
const BURST_US: u64 = 250;
const MILLION: u64 = 1_000_000;

/// What is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keeps {
    Window,
    Rate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Begin,
    Avoid,
    Loss,
    Cwr,
}

/// Packets, as the receiver counts them; `sent` is the sender's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    pub received: u64,
    pub marked: u64,
    pub lost: u64,
    pub sent: u64,
}

/// When something was last done, and what had been sent by then; microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    at: u64,
    sent: u64,
}

impl Since {
    /// A round trip and the virtual one have passed.
    fn has_passed(self, c: &Counts, now: u64, virtual_rtt: u64) -> bool {
        c.received + c.lost > self.sent && now.saturating_sub(self.at) >= virtual_rtt
    }
}

/// What a loss has taken, to be given back.
#[derive(Clone, Copy, Debug)]
struct Taken {
    kept: Keeps,
    half: u64,
    wait: u64,
    /// Packets that had been lost before.
    lost: u64,
}

/// The algorithm, as the implementation has it.
#[derive(Clone, Debug)]
pub struct Prague {
    packet_most: u64,
    pub srtt: u64,
    pub virtual_rtt: u64,
    pub keeps: Keeps,
    pub state: State,
    /// The share of marks in 2^-20.
    pub alpha: u64,
    /// Virtual round trips until growth is fast.
    pub wait: u64,
    /// Bytes per second.
    pub rate: u64,
    /// In 10^-6 bytes.
    pub window: u64,
    pub packet: u64,
    pub burst: u64,
    pub window_packets: u64,
    last: Counts,
    at_alpha: Counts,
    alpha_since: Since,
    loss_since: Since,
    cwr_since: Since,
    taken: Option<Taken>,
}

/// The nearest whole number.
fn nearest(a: u128, b: u128) -> u64 {
    ((a + b / 2) / b.max(1)) as u64
}

impl Prague {
    /// At a rate in bytes per second, with packets of so many bytes at most; `now` in microseconds.
    pub fn new(rate: u64, packet_most: u64, now: u64) -> Prague {
        let packet = (rate * REFERENCE_US / MILLION / WINDOW_LEAST_PACKETS)
            .clamp(PACKET_LEAST_BYTES.min(packet_most), packet_most);
        Prague {
            packet_most,
            srtt: 0,
            virtual_rtt: 0,
            keeps: Keeps::Window,
            state: State::Begin,
            alpha: 0,
            wait: rate / WAIT_STEP_BYTES_PER_S + WAIT_LEAST_ROUNDS,
            rate,
            window: 0,
            packet,
            burst: 1,
            window_packets: 10,
            last: Counts::default(),
            at_alpha: Counts::default(),
            alpha_since: Since { at: now, sent: 0 },
            loss_since: Since::default(),
            cwr_since: Since::default(),
            taken: None,
        }
    }

    /// A round trip was measured, in microseconds.
    pub fn on_rtt(&mut self, rtt: u64) {
        self.srtt = match self.srtt {
            0 => rtt,
            srtt => (srtt as i64 + ((rtt as i64 - srtt as i64) >> 3)) as u64,
        };
        self.virtual_rtt = self.srtt.max(REFERENCE_US);
    }

    /// An ACK; `now` in microseconds. What counts less than is known is not heard.
    pub fn on_ack(&mut self, now: u64, c: Counts) {
        if c.received < self.last.received || c.marked < self.last.marked || self.srtt == 0 {
            return;
        }
        if self.state == State::Begin {
            (self.window, self.state) = (self.srtt * self.rate, State::Avoid);
        }
        self.choose();
        self.renew_alpha(now, &c);
        self.give_back(&c);
        if self.state == State::Loss && self.loss_since.has_passed(&c, now, self.virtual_rtt) {
            self.state = State::Avoid;
        }
        if self.state != State::Loss && c.lost > self.last.lost {
            self.lose(now, &c);
        }
        if self.state != State::Loss {
            self.grow((c.received - self.last.received).saturating_sub(c.marked - self.last.marked));
        }
        if self.state == State::Cwr && self.cwr_since.has_passed(&c, now, self.virtual_rtt) {
            self.state = State::Avoid;
        }
        if self.state == State::Avoid && c.marked > self.last.marked {
            self.answer_mark(now, &c);
        }
        self.last = c;
        self.settle();
    }

    /// The timer has expired.
    pub fn on_timeout(&mut self) {
        (self.alpha, self.rate, self.window) = (0, RATE_FIRST_BYTES_PER_S, self.packet * MILLION);
        (self.window_packets, self.state) = (WINDOW_LEAST_PACKETS, State::Begin);
    }

    fn choose(&mut self) {
        let is_short = self.srtt <= RATE_BELOW_US || self.srtt <= self.packet * MILLION / self.rate;
        if !is_short && self.keeps == Keeps::Rate {
            self.window = self.srtt * self.rate;
        }
        self.keeps = if is_short { Keeps::Rate } else { Keeps::Window };
    }

    fn renew_alpha(&mut self, now: u64, c: &Counts) {
        if !self.alpha_since.has_passed(c, now, self.virtual_rtt) {
            return;
        }
        let (received, marked) = (c.received - self.at_alpha.received, c.marked - self.at_alpha.marked);
        if let Some(share) = (marked << 20).checked_div(received) {
            self.alpha = (self.alpha as i64 + (share as i64 - self.alpha as i64) / 16) as u64;
        }
        (self.at_alpha, self.alpha_since) = (*c, Since { at: now, sent: c.sent });
        self.wait = self.wait.saturating_sub(1);
    }

    /// What is kept, to be changed.
    fn kept(&mut self) -> &mut u64 {
        match self.keeps {
            Keeps::Window => &mut self.window,
            Keeps::Rate => &mut self.rate,
        }
    }

    /// A loss was none.
    fn give_back(&mut self, c: &Counts) {
        let Some(t) = self.taken.filter(|t| c.lost <= t.lost) else { return };
        (self.taken, self.keeps, self.state) = (None, t.kept, State::Avoid);
        *self.kept() += t.half;
        self.wait = self.wait.saturating_sub(t.wait);
    }

    fn lose(&mut self, now: u64, c: &Counts) {
        let before = self.taken.map_or(0, |t| t.wait) as i64;
        let wait = self.rate / 2 / self.packet_most * REFERENCE_US / self.virtual_rtt * REFERENCE_US / MILLION;
        let more = (before + wait as i64 - self.wait as i64).min(wait as i64).max(0) as u64;
        self.wait = wait;
        let half = *self.kept() / 2;
        *self.kept() -= half;
        self.taken = Some(Taken { kept: self.keeps, half, wait: more, lost: self.last.lost });
        (self.state, self.loss_since) = (State::Loss, Since { at: now, sent: c.sent });
    }

    fn grow(&mut self, packets: u64) {
        if packets == 0 {
            return;
        }
        let (rate, packet) = (u128::from(self.rate), u128::from(self.packet));
        let (srtt, v, million) = (u128::from(self.srtt), u128::from(self.virtual_rtt), u128::from(MILLION));
        let fast = self.rate * GROWTH_US / MILLION;
        let growth = if fast < self.packet_most || self.wait > 0 { self.packet_most } else { fast };
        match self.keeps {
            Keeps::Window => {
                let scale = u128::from(nearest(srtt * million * srtt, v * v));
                let share = nearest(u128::from(packets) * packet * scale * million, self.window.into());
                self.window += share * growth;
            }
            Keeps::Rate => {
                let divisor = nearest(rate * v, packet * million);
                let more = nearest(u128::from(packets * growth) * million, v);
                self.rate += nearest(more.into(), divisor.into());
            }
        }
    }

    fn answer_mark(&mut self, now: u64, c: &Counts) {
        self.wait = self.rate / WAIT_STEP_BYTES_PER_S + WAIT_LEAST_ROUNDS;
        let alpha = u128::from(self.alpha);
        let kept = self.kept();
        *kept -= ((u128::from(*kept) * alpha) >> 21) as u64;
        (self.state, self.cwr_since) = (State::Cwr, Since { at: now, sent: c.sent });
    }

    /// Rate, window and packets follow from what is kept.
    fn settle(&mut self) {
        if self.keeps == Keeps::Window {
            self.rate = self.window / self.srtt;
        }
        self.rate = self.rate.clamp(RATE_LEAST_BYTES_PER_S, RATE_MOST_BYTES_PER_S);
        self.window = self.rate * self.srtt;
        let packet = self.rate * self.virtual_rtt / MILLION / WINDOW_LEAST_PACKETS;
        self.packet = packet.clamp(PACKET_LEAST_BYTES.min(self.packet_most), self.packet_most);
        self.burst = (self.rate * BURST_US / MILLION / self.packet).max(1);
        self.window_packets = (self.window * 103 / 100_000_000 / self.packet + 1).max(WINDOW_LEAST_PACKETS);
    }

    /// Bytes per second at which packets leave.
    pub fn pacing_rate(&self, now: u64) -> u64 {
        let is_first_half = now.saturating_sub(self.alpha_since.at) < self.virtual_rtt / 2;
        if is_first_half { self.rate * 103 / 100 } else { self.rate * 100 / 103 }
    }
}

/// The algorithm as the controller of a connection.
#[derive(Clone, Debug)]
pub struct PragueCc {
    w: Window,
    cc: Prague,
    counts: Counts,
    lost_bytes: u64,
    now: u64,
}

impl PragueCc {
    pub fn new(start: Start) -> PragueCc {
        let cc = Prague::new(RATE_FIRST_BYTES_PER_S, start.window.mss as u64, 0);
        PragueCc { w: start.window, cc, counts: Counts::default(), lost_bytes: 0, now: 0 }
    }
    /// The window of the algorithm in bytes, two segments at least.
    fn follow(&mut self) {
        let bytes = self.cc.window_packets * self.cc.packet;
        self.w.cwnd = (bytes as f64).max(WINDOW_LEAST_PACKETS as f64 * self.w.mss);
    }
}

impl Controller for PragueCc {
    fn on_ack(&mut self, s: &AckSample<'_>) {
        let a = s.ack;
        self.now = a.now.0 / 1000;
        if let Some(rtt) = a.rtt {
            self.cc.on_rtt((rtt.0 / 1000).max(1));
        }
        self.lost_bytes += s.newly_lost;
        let segments = |bytes: u64| bytes.div_ceil(self.w.mss as u64);
        self.counts.received += u64::from(a.newly_delivered);
        self.counts.marked += u64::from(a.newly_ce);
        self.counts.lost = segments(self.lost_bytes);
        self.counts.sent = self.counts.received + self.counts.lost + segments(s.in_flight);
        self.cc.on_ack(self.now, self.counts);
        if self.cc.state != State::Begin {
            self.follow();
        }
    }
    fn grow(&mut self, a: &Ack) {
        self.on_ack(&AckSample::of(a));
    }
    /// Losses and marks were answered when they were counted.
    fn reduce(&mut self, why: Trigger, _base: f64) {
        if why == Trigger::Timeout {
            self.cc.on_timeout();
            self.w.cwnd = self.w.mss;
        }
    }
    fn change(&mut self, change: Change) {
        match change {
            Change::SegmentSize(_) | Change::SmallerSegments(_) => {
                self.w.apply(change);
                self.cc.packet_most = self.w.mss as u64;
                self.cc.packet = self.cc.packet.min(self.cc.packet_most);
            }
            Change::StartFrom(_) | Change::OneSegment | Change::Restore { .. } => self.w.apply(change),
            _ => {}
        }
    }
    /// The losses since were none: the next ACK gives back what the first of them has taken.
    fn undo(&mut self, before: &Self) {
        self.lost_bytes = before.lost_bytes;
        self.w.cwnd = self.w.cwnd.max(before.w.cwnd);
    }
    fn pacing_rate(&self) -> Option<f64> {
        (self.cc.state != State::Begin).then(|| self.cc.pacing_rate(self.now) as f64)
    }
    fn sample(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("marked_ratio", self.cc.alpha as f64 / f64::from(1 << 20));
    }
    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
}
