//! The delayed ACKs of Linux 2.4 against a model of its rules in ticks of 10 ms, on random arrivals.

use crosswind_base::{Dur, Packet, Size, Streams, TcpFlags, Time};
use crosswind_transport::tcp::TcpParams;
use crosswind_transport::tcp::conn::receiver::{AckNow, Receiver};
use crosswind_transport::tcp::conn::rtt::Rtt;
use crosswind_transport::tcp::params::{DelayedAckTimer, ReceiveWindow};
use crosswind_transport::tcp::preset::preset;

const TICK: u64 = 10_000_000;
const MSS: u64 = 1448;
/// Ticks that an ACK waits at least, and at most.
const WAITS: (i64, i64) = (4, 50);

fn params() -> TcpParams {
    let p = preset("linux-2.4.17").expect("a preset");
    p.with(|p| {
        p.receiver.delayed_ack = Dur::from_millis(40);
        p.receiver.delayed_ack_timer = DelayedAckTimer::Learnt;
        p.receiver.receive_window = ReceiveWindow::Growing;
        p.receiver.receive_buffer = Size(87_380);
    })
}

/// What the receiver has learnt. The window does not grow here: it is a constant of the test.
#[derive(Default)]
struct Model {
    /// In-order edge, and where it was at the last ACK.
    edge: i64,
    answered: i64,
    window: i64,
    /// Length of a full segment, and one that may turn out to be it.
    full: i64,
    candidate: Option<i64>,
    /// What came last ended something.
    ended: bool,
    /// How long an ACK waits; nothing has come yet: 0.
    wait: i64,
    /// ACKs that will not wait.
    prompt: i64,
    last: i64,
    due: Option<i64>,
    trip: i64,
    timeout: i64,
}

impl Model {
    /// A segment is full when none was longer, or when it is as short as the one before it and not very short.
    fn learn_length(&mut self, len: i64, pushed: bool) {
        let shortest = if pushed { 524 } else { 76 };
        let new = (len >= shortest).then_some(len);
        let repeats = new.is_some() && new == self.candidate;
        self.candidate = new.filter(|n| *n < self.full);
        self.ended |= if len >= self.full { pushed } else { !repeats };
        if len >= self.full || repeats {
            self.full = len;
        }
    }

    /// Half the window is answered promptly, as far as that is from two to sixteen segments.
    fn be_prompt(&mut self) {
        let half = match self.window / 2 / self.full {
            0 => 2,
            n => n.min(16),
        };
        self.prompt = self.prompt.max(half);
    }

    fn on_repeated(&mut self) {
        self.be_prompt();
        self.wait = WAITS.0;
    }

    /// A segment comes in order: the wait follows the gap before it, by halves.
    fn on_segment(&mut self, len: i64, pushed: bool, grew: bool, at: i64) {
        self.edge += len;
        self.learn_length(len, pushed);
        let (gap, half) = (at - self.last, self.wait / 2);
        let is_first = self.wait == 0;
        let is_silence = gap > WAITS.0 / 2 && gap >= self.wait && gap > self.timeout;
        self.wait = match gap {
            _ if is_first => WAITS.0,
            0..=2 => half + 2,
            _ if gap < self.wait => self.timeout.min(half + gap),
            _ => self.wait,
        };
        if is_first || is_silence {
            self.be_prompt();
        }
        if grew && self.prompt % 2 == 0 {
            self.prompt += 1;
        }
        self.last = at;
    }

    fn answer(&mut self, at: i64) -> AckNow {
        let longest = if self.trip > 0 { WAITS.1.min(self.trip.max(WAITS.0)) } else { WAITS.1 };
        let wait = self.wait.min(longest.max(WAITS.0));
        let is_soon = self.due.is_some_and(|d| d <= at + wait / 4);
        if self.prompt > 0 || self.ended || self.edge > self.answered + self.full || is_soon {
            return AckNow::Yes;
        }
        self.due = Some(self.due.map_or(at + wait, |d| d.min(at + wait)));
        AckNow::Later
    }

    /// The wait was in vain.
    fn on_timer(&mut self) {
        self.wait = self.timeout.min(2 * self.wait);
    }

    fn on_answered(&mut self) {
        if self.prompt == 1 {
            self.wait = WAITS.0;
        }
        self.prompt = 0.max(self.prompt - 1);
        (self.ended, self.due, self.answered) = (false, None, self.edge);
    }
}

fn segment(seq: i64, len: i64, push: bool) -> Packet {
    let flags = if push { TcpFlags::ACK.with(TcpFlags::PSH) } else { TcpFlags::ACK };
    Packet { seq: seq as u64, payload: len as u16, flags, ..Packet::default() }
}

/// A receiver whose window has stopped growing, and the model beside it, some time after the last segment.
fn pair(p: &TcpParams, srtt_ms: u64) -> (Receiver, Model, i64) {
    let mut rx = Receiver::new(p);
    rx.answer_syn();
    rx.acked();
    let mut rtt = Rtt::new(p);
    rtt.sample(Dur::from_millis(srtt_ms), Time::ZERO, p, 0, 1);
    rx.know(&rtt, p);
    let ticks = |d: Dur| (d.0 / TICK) as i64;
    let mut m = Model { edge: 1, answered: 1, full: 536, window: 4 * MSS as i64, ..Model::default() };
    (m.trip, m.timeout) = (ticks(rtt.srtt.expect("a sample")), ticks(rtt.rto(p)));
    let mut at = 0;
    // The window is 5792 B at first and grows by 2896 B a segment to the clamp, 64087 B, with 21 segments. All are acknowledged at
    // once, and two more: half the first window, in segments, was in store all the time.
    for n in 0..60 {
        at += 8;
        let at_once = deliver(&mut rx, &mut m, p, MSS as i64, false, n < 21, at);
        assert!(at_once == (n < 23) || n >= 23, "segment {n}");
        m.window = rx.window(p) as i64;
    }
    (rx, m, at)
}

/// A segment in order, at both; whether it was acknowledged at once. A timer that is due before it fires before it.
fn deliver(rx: &mut Receiver, m: &mut Model, p: &TcpParams, len: i64, push: bool, grew: bool, at: i64) -> bool {
    let due = m.due.map_or(Time::NEVER, |t| Time(t as u64 * TICK));
    assert_eq!(rx.delack_at, due, "tick {at}");
    if m.due.is_some_and(|t| t <= at) {
        rx.waited();
        rx.acked();
        m.on_timer();
        m.on_answered();
    }
    let now = Time(at as u64 * TICK + 1_400_000);
    let ours = rx.on_segment(&segment(m.edge, len, push), p, now);
    m.on_segment(len, push, grew, at);
    let want = m.answer(at);
    assert_eq!(ours, want, "tick {at}, {len} B, pushed: {push}");
    if want == AckNow::Yes {
        rx.acked();
        m.on_answered();
    }
    want == AckNow::Yes
}

#[test]
fn acks_wait_as_the_kernel_lets_them_on_random_arrivals() {
    let p = params();
    let mut waited = 0;
    for seed in 0..200 {
        let mut rng = Streams::new(seed).named("arrivals");
        let (mut rx, mut m, mut at) = pair(&p, [10, 100, 1200][rng.below(3) as usize]);
        for _ in 0..500 {
            at += [0, 1, 2, 3, 8, 9, 17, 60][rng.below(8) as usize] + rng.below(2) as i64;
            if rng.chance(0.03) {
                // A segment comes once more: acknowledged at once, and quick ACKs follow.
                let again = segment(m.edge - MSS as i64, MSS as i64, false);
                let now = Time(at as u64 * TICK);
                assert_eq!(rx.on_segment(&again, &p, now), AckNow::Yes);
                m.on_repeated();
                rx.acked();
                m.on_answered();
            }
            let small = rng.chance(0.15);
            let len = if small { [40, 100, 300, 600, 1000][rng.below(5) as usize] } else { MSS as i64 };
            let push = rng.chance(0.1);
            waited += u32::from(!deliver(&mut rx, &mut m, &p, len, push, false, at));
        }
    }
    assert!(waited > 5000, "{waited} of 100 000 waited");
}

/// Segments 84 ms apart, of a sender that pushes nothing, after the window has grown.
fn acknowledged_at_once(srtt_ms: u64, segments: usize) -> Vec<bool> {
    let p = params();
    let (mut rx, mut m, mut at) = pair(&p, srtt_ms);
    let mut at_once = Vec::new();
    for n in 0..segments {
        at += if n % 5 < 2 { 9 } else { 8 };
        at_once.push(deliver(&mut rx, &mut m, &p, MSS as i64, false, false, at));
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

#[test]
fn what_is_to_be_learnt_may_be_asked_for_while_a_connection_lives() {
    let (learnt, plain) = (params(), params().with(|p| p.receiver.delayed_ack_timer = DelayedAckTimer::PerSegment));
    let mut rx = Receiver::new(&plain);
    assert!(!rx.learns());
    rx.retime(&learnt);
    assert!(rx.learns());
    let first = segment(1, MSS as i64, false);
    assert_eq!(rx.on_segment(&first, &learnt, Time(TICK)), AckNow::Yes, "ACKs are quick at first");
    rx.retime(&plain);
    assert!(!rx.learns());
}

#[test]
fn a_timer_of_a_coarse_clock_lies_ahead() {
    for (tick, delayed) in [(100, 100), (500, 40), (1000, 200), (10, 10), (0, 0)] {
        let p = params().with(|p| {
            p.timers.rto_tick = Dur::from_millis(tick);
            p.receiver.delayed_ack = Dur::from_millis(delayed);
            p.timers.rto_initial = Dur::from_secs(3);
        });
        let (mut rx, mut rng) = (Receiver::new(&p), Streams::new(tick).named("arrivals"));
        rx.answer_syn();
        rx.acked();
        let (mut now, mut seq, mut waited) = (Time::ZERO, 1, 0);
        for _ in 0..2000 {
            now += Dur::from_millis([0, 1, 30, 90][rng.below(4) as usize]);
            if rx.delack_at <= now {
                rx.waited();
                rx.acked();
            }
            match rx.on_segment(&segment(seq, MSS as i64, false), &p, now) {
                AckNow::Yes | AckNow::No => rx.acked(),
                AckNow::Held => panic!("nothing is beyond a hole"),
                AckNow::Later => {
                    waited += 1;
                    assert!(rx.delack_at > now, "tick {tick} ms: at {now:?} for {:?}", rx.delack_at);
                }
            }
            seq += MSS as i64;
        }
        assert!(waited > 100, "tick {tick} ms: {waited} waited");
    }
}
