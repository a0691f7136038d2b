//! The delayed ACKs of Linux 2.4 against the kernel's functions, written out with the kernel's names, on random arrivals.

use crosswind_base::{Dur, Packet, Size, Streams, TcpFlags, Time};
use crosswind_transport::tcp::TcpParams;
use crosswind_transport::tcp::conn::receiver::{AckNow, Receiver};
use crosswind_transport::tcp::conn::rtt::Rtt;
use crosswind_transport::tcp::params::{DelayedAckTimer, ReceiveWindow};
use crosswind_transport::tcp::preset::preset;

const HZ: i64 = 100;
const TICK: u64 = 10_000_000;
const MSS: u64 = 1448;
const ATO_MIN: i64 = HZ / 25;
const DELACK_MIN: i64 = HZ / 25;
const MAX_QUICKACKS: i64 = 16;
const MIN_RCVMSS: i64 = 536;
const MIN_MSS: i64 = 88;
/// `sizeof(struct tcphdr)` and that with timestamps.
const TCPHDR: i64 = 20;
const HEADER_LEN: i64 = 32;

fn params() -> TcpParams {
    let p = preset("linux-2.4.17").expect("a preset");
    TcpParams {
        delayed_ack: Dur::from_millis(40),
        delayed_ack_timer: DelayedAckTimer::Linux24,
        receive_window: ReceiveWindow::Linux24,
        receive_buffer: Size(87_380),
        ..p
    }
}

/// `struct tcp_opt`, as far as its `ack` matters. The window does not grow here: it is a constant of the test.
#[derive(Default)]
struct Kernel {
    rcv_nxt: i64,
    rcv_wup: i64,
    rcv_wnd: i64,
    rcv_mss: i64,
    last_seg_size: i64,
    ato: i64,
    quick: i64,
    lrcvtime: i64,
    pushed: bool,
    timer: Option<i64>,
    srtt: i64,
    rto: i64,
}

impl Kernel {
    fn tcp_measure_rcv_mss(&mut self, payload: i64, push: bool) {
        let lss = std::mem::take(&mut self.last_seg_size);
        if payload >= self.rcv_mss {
            self.rcv_mss = payload;
            self.pushed |= push;
            return;
        }
        let len = payload + HEADER_LEN;
        if len >= MIN_RCVMSS + TCPHDR || (len >= MIN_MSS + TCPHDR && !push) {
            let len = len - HEADER_LEN;
            self.last_seg_size = len;
            if len == lss {
                self.rcv_mss = len;
                return;
            }
        }
        self.pushed = true;
    }
    fn tcp_incr_quickack(&mut self) {
        let mut quickacks = self.rcv_wnd / (2 * self.rcv_mss);
        if quickacks == 0 {
            quickacks = 2;
        }
        if quickacks > self.quick {
            self.quick = quickacks.min(MAX_QUICKACKS);
        }
    }
    fn tcp_enter_quickack_mode(&mut self) {
        self.tcp_incr_quickack();
        self.ato = ATO_MIN;
    }
    fn tcp_event_data_recv(&mut self, payload: i64, push: bool, grew: bool, jiffies: i64) {
        self.tcp_measure_rcv_mss(payload, push);
        if self.ato == 0 {
            self.tcp_incr_quickack();
            self.ato = ATO_MIN;
        } else {
            let m = jiffies - self.lrcvtime;
            if m <= ATO_MIN / 2 {
                self.ato = (self.ato >> 1) + ATO_MIN / 2;
            } else if m < self.ato {
                self.ato = ((self.ato >> 1) + m).min(self.rto);
            } else if m > self.rto {
                self.tcp_incr_quickack();
            }
        }
        self.lrcvtime = jiffies;
        if grew {
            self.quick |= 1;
        }
    }
    /// `__tcp_ack_snd_check` without segments out of order, and `cleanup_rbuf` of a reader that has waited.
    fn ack_snd_check(&mut self, jiffies: i64) -> AckNow {
        if self.rcv_nxt - self.rcv_wup > self.rcv_mss || self.quick > 0 {
            return AckNow::Yes;
        }
        let answer = self.tcp_send_delayed_ack(jiffies);
        if self.pushed { AckNow::Yes } else { answer }
    }
    fn tcp_send_delayed_ack(&mut self, jiffies: i64) -> AckNow {
        let mut ato = self.ato;
        if ato > DELACK_MIN {
            let mut max_ato = HZ / 2;
            if self.srtt > 0 {
                max_ato = max_ato.min((self.srtt >> 3).max(DELACK_MIN));
            }
            ato = ato.min(max_ato);
        }
        let mut timeout = jiffies + ato;
        if let Some(pending) = self.timer {
            if pending <= jiffies + (ato >> 2) {
                return AckNow::Yes;
            }
            timeout = timeout.min(pending);
        }
        self.timer = Some(timeout);
        AckNow::Later
    }
    fn tcp_delack_timer(&mut self) {
        self.ato = (self.ato << 1).min(self.rto);
    }
    fn tcp_event_ack_sent(&mut self) {
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = ATO_MIN;
            }
        }
        (self.pushed, self.timer) = (false, None);
        self.rcv_wup = self.rcv_nxt;
    }
}

fn segment(seq: i64, len: i64, push: bool) -> Packet {
    let flags = if push { TcpFlags::ACK.with(TcpFlags::PSH) } else { TcpFlags::ACK };
    Packet { seq: seq as u64, payload: len as u16, flags, ..Packet::default() }
}

/// A receiver whose window has stopped growing, and the kernel beside it, some time after the last segment.
fn pair(p: &TcpParams, srtt_ms: u64) -> (Receiver, Kernel, i64) {
    let mut rx = Receiver::new(p);
    rx.answer_syn();
    rx.acked();
    let mut rtt = Rtt::new(p);
    rtt.sample(Dur::from_millis(srtt_ms), Time::ZERO, p, 0, 1);
    rx.know(&rtt, p);
    let ticks = |d: Dur| (d.0 / TICK) as i64;
    let mut k = Kernel { rcv_nxt: 1, rcv_wup: 1, rcv_mss: MIN_RCVMSS, rcv_wnd: 4 * MSS as i64, ..Kernel::default() };
    (k.srtt, k.rto) = (ticks(rtt.srtt.expect("a sample")) << 3, ticks(rtt.rto(p)));
    let mut jiffies = 0;
    // The window is 5792 B at first and grows by 2896 B a segment to the clamp, 64087 B, with 21 segments. All are acknowledged at
    // once, and two more: half the first window, in segments, was in store all the time.
    for n in 0..60 {
        jiffies += 8;
        let at_once = deliver(&mut rx, &mut k, p, MSS as i64, false, n < 21, jiffies);
        assert!(at_once == (n < 23) || n >= 23, "segment {n}");
        k.rcv_wnd = rx.window(p) as i64;
    }
    (rx, k, jiffies)
}

/// A segment in order, at both; whether it was acknowledged at once. A timer that is due before it fires before it.
fn deliver(rx: &mut Receiver, k: &mut Kernel, p: &TcpParams, len: i64, push: bool, grew: bool, jiffies: i64) -> bool {
    let due = k.timer.map_or(Time::NEVER, |t| Time(t as u64 * TICK));
    assert_eq!(rx.delack_at, due, "jiffy {jiffies}");
    if k.timer.is_some_and(|t| t <= jiffies) {
        rx.waited();
        rx.acked();
        k.tcp_delack_timer();
        k.tcp_event_ack_sent();
    }
    let now = Time(jiffies as u64 * TICK + 1_400_000);
    let ours = rx.on_segment(&segment(k.rcv_nxt, len, push), p, now);
    k.rcv_nxt += len;
    k.tcp_event_data_recv(len, push, grew, jiffies);
    let want = k.ack_snd_check(jiffies);
    assert_eq!(ours, want, "jiffy {jiffies}, {len} B, pushed: {push}");
    if want == AckNow::Yes {
        rx.acked();
        k.tcp_event_ack_sent();
    }
    want == AckNow::Yes
}

#[test]
fn acks_wait_as_the_kernel_lets_them_on_random_arrivals() {
    let p = params();
    let mut waited = 0;
    for seed in 0..200 {
        let mut rng = Streams::new(seed).named("arrivals");
        let (mut rx, mut k, mut jiffies) = pair(&p, [10, 100, 1200][rng.below(3) as usize]);
        for _ in 0..500 {
            jiffies += [0, 1, 2, 3, 8, 9, 17, 60][rng.below(8) as usize] + rng.below(2) as i64;
            if rng.chance(0.03) {
                // A segment comes once more: acknowledged at once, and quick ACKs follow.
                let again = segment(k.rcv_nxt - MSS as i64, MSS as i64, false);
                let now = Time(jiffies as u64 * TICK);
                assert_eq!(rx.on_segment(&again, &p, now), AckNow::Yes);
                k.tcp_enter_quickack_mode();
                rx.acked();
                k.tcp_event_ack_sent();
            }
            let small = rng.chance(0.15);
            let len = if small { [40, 100, 300, 600, 1000][rng.below(5) as usize] } else { MSS as i64 };
            let push = rng.chance(0.1);
            waited += u32::from(!deliver(&mut rx, &mut k, &p, len, push, false, jiffies));
        }
    }
    assert!(waited > 5000, "{waited} of 100 000 waited");
}

/// Segments 84 ms apart, of a sender that pushes nothing, after the window has grown.
fn acknowledged_at_once(srtt_ms: u64, segments: usize) -> Vec<bool> {
    let p = params();
    let (mut rx, mut k, mut jiffies) = pair(&p, srtt_ms);
    let mut at_once = Vec::new();
    for n in 0..segments {
        jiffies += if n % 5 < 2 { 9 } else { 8 };
        at_once.push(deliver(&mut rx, &mut k, &p, MSS as i64, false, false, jiffies));
    }
    at_once
}

#[test]
fn a_receiver_on_a_short_way_waits_40_ms_with_every_ack_and_one_that_knows_a_long_way_for_two_segments() {
    assert_eq!(acknowledged_at_once(10, 8), [false; 8]);
    let long = acknowledged_at_once(1200, 12);
    assert_eq!(long.iter().filter(|a| **a).count(), 6, "{long:?}");
    assert!(long.windows(2).all(|w| w[0] != w[1]), "{long:?}");
}
