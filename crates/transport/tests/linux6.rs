//! The sender of Linux 6, step by step: when probes leave, what their ACKs cost, how a reduction is spread.

use crosswind_base::packet::Ext;
use crosswind_base::{Dur, EventKind, Packet, TcpFlags, Time};
use crosswind_transport::tcp::law::Controller;
use crosswind_transport::tcp::params::{TailProbe, TimeoutWindow};
use crosswind_transport::tcp::sender::{Line, Outgoing, Sender};
use crosswind_transport::tcp::{Io, TcpParams, preset, share};

const MSS: u64 = 1448;

#[derive(Default)]
struct Wire {
    now: Time,
    sent: Vec<(Time, u64, bool)>,
}

impl Io for Wire {
    fn now(&self) -> Time {
        self.now
    }
    fn send(&mut self, _: Packet, _: Option<Ext>) {}
    fn note(&mut self, _: EventKind, _: u64, _: u32, _: u32) {}
    fn shared(&mut self) -> Option<&mut share::Cache> {
        None
    }
}

impl Line for Wire {
    fn emit(&mut self, s: Outgoing) {
        self.sent.push((self.now, (s.seq - 1) / MSS, s.retransmit));
    }
}

struct World {
    p: TcpParams,
    tx: Sender,
    wire: Wire,
}

impl World {
    /// A sender with `segments` to send and a round trip of 100 ms behind it.
    fn new(segments: u64) -> World {
        World::with(preset::preset("linux-6").expect("a preset"), segments)
    }
    fn with(p: TcpParams, segments: u64) -> World {
        let mut w = World { tx: Sender::new(&p, true), p, wire: Wire::default() };
        w.at(1_000);
        w.tx.open_window(1 << 40);
        w.tx.rtt.sample(Dur::from_millis(100), w.wire.now, &w.p, 1, 1);
        w.tx.write(segments * MSS);
        w.tx.transmit(&w.p, &mut w.wire);
        w
    }
    fn at(&mut self, ms: u64) {
        self.wire.now = Time(ms * 1_000_000);
    }
    /// An ACK of everything below segment `to`, and of blocks of segments.
    fn ack(&mut self, ms: u64, to: u64, blocks: &[(u64, u64)]) -> Vec<(u64, bool)> {
        self.at(ms);
        let ack = 1 + to * MSS;
        let echo = (self.wire.now.0 / 1_000_000 - 100) as u32 + 1;
        let pkt = Packet { ack, wnd: 1 << 30, flags: TcpFlags::ACK, ts_ecr: echo, ..Packet::default() };
        let blocks: Vec<_> = blocks.iter().map(|b| (1 + b.0 * MSS, 1 + b.1 * MSS)).collect();
        let before = self.wire.sent.len();
        self.tx.on_ack(&pkt, &blocks, &self.p, &mut self.wire);
        self.tx.audit().expect("the counters agree with the segments");
        self.wire.sent[before..].iter().map(|s| (s.1, s.2)).collect()
    }
    fn alarm(&mut self) -> u64 {
        self.wire.now = self.tx.alarm();
        self.tx.on_alarm(&self.p, &mut self.wire);
        self.wire.now.0 / 1_000_000
    }
    fn window(&self) -> f64 {
        self.tx.law.window().cwnd() / MSS as f64
    }
}

#[test]
fn a_timeout_leaves_what_may_still_arrive_and_one_segment_or_one_alone() {
    for (timeout_window, left) in [(TimeoutWindow::Flight, 4.0), (TimeoutWindow::OneSegment, 1.0)] {
        let p = preset::preset("linux-6").expect("a preset").with(|p| {
            p.recovery.tail_probe = TailProbe::Off;
            p.window.timeout_window = timeout_window;
        });
        let mut w = World::with(p, 2);
        w.ack(1_100, 1, &[]);
        // Three more, 50 ms before the timer of the second expires: later than a round trip and a quarter ago.
        w.at(1_350);
        w.tx.write(3 * MSS);
        w.tx.transmit(&w.p, &mut w.wire);
        w.at(1_400);
        w.tx.on_timeout(&w.p, &mut w.wire);
        assert_eq!(w.window(), left, "{timeout_window:?}");
    }
}

#[test]
fn silence_after_the_tail_brings_the_last_segment_again_after_two_round_trips() {
    let mut w = World::new(10);
    assert_eq!(w.wire.sent.len(), 10);
    assert_eq!(w.alarm(), 1_202, "two round trips and two milliseconds");
    assert_eq!(w.wire.sent.last().map(|s| (s.1, s.2)), Some((9, true)));
    // The timer starts afresh with the probe: 100 ms and at least 200 ms.
    assert_eq!(w.tx.timer, w.wire.now + w.tx.rtt.rto(&w.p));
    assert_eq!(w.tx.alarm(), Time::NEVER, "one probe at a time");
}

#[test]
fn a_probe_with_one_segment_in_the_network_leaves_room_for_a_delayed_ack() {
    let mut w = World::new(1);
    // The retransmission timer would expire after 100 ms and a deviation of 200 ms: no later than that.
    assert_eq!(w.alarm(), 1_300);
    assert_eq!(w.wire.sent.len(), 2);
}

#[test]
fn a_tail_that_was_lost_is_found_by_the_sack_of_the_probe() {
    let mut w = World::new(10);
    assert!(w.ack(1_100, 7, &[]).is_empty(), "everything has left");
    let at = w.alarm();
    // The probe was the last segment; the two before it had left earlier and a round trip has passed.
    let sent = w.ack(at + 100, 7, &[(9, 10)]);
    assert_eq!(sent.first(), Some(&(7, true)), "{sent:?}");
    assert!(!w.tx.is_open());
}

#[test]
fn a_probe_that_filled_a_hole_costs_one_reduction_and_no_recovery() {
    let mut w = World::new(10);
    w.ack(1_100, 9, &[]);
    let before = w.window();
    let at = w.alarm();
    w.tx.write(5 * MSS);
    w.tx.transmit(&w.p, &mut w.wire);
    // Beyond the probe's end: the last segment had been lost, the probe replaced it.
    w.ack(at + 100, 12, &[]);
    assert!(w.tx.is_open());
    assert!((w.window() - (before / 2.0).floor()).abs() < 1.01, "{} and {before}", w.window());
}

#[test]
fn three_sacked_segments_show_the_loss_at_once_and_two_wait_for_a_quarter_of_a_round_trip() {
    let mut w = World::new(10);
    assert!(w.ack(1_100, 0, &[(1, 3)]).iter().all(|s| !s.1));
    assert!(w.tx.is_open());
    let fired = w.alarm();
    assert_eq!(fired, 1_125, "25 ms of reordering are allowed for");
    assert_eq!(w.wire.sent.last().map(|s| (s.1, s.2)), Some((0, true)));
    let mut w = World::new(10);
    let sent = w.ack(1_100, 0, &[(1, 4)]);
    assert_eq!(sent.first(), Some(&(0, true)));
}

#[test]
fn a_retransmission_that_is_lost_again_is_found_without_a_timeout() {
    let mut w = World::new(40);
    w.ack(1_100, 0, &[(1, 4)]);
    for (i, ms) in (1_101..1_107).enumerate() {
        w.ack(ms, 0, &[(1, 5 + i as u64)]);
    }
    // What left after the retransmission is SACKed a round trip later: the retransmission is lost too.
    let again = (1_200..1_212).any(|ms| w.ack(ms, 0, &[(1, ms - 1_200 + 11)]).contains(&(0, true)));
    assert!(again, "{:?}", w.wire.sent);
    assert_eq!(w.tx.stats.timeouts, 0);
}

#[test]
fn a_window_of_forty_falls_to_half_by_one_segment_for_every_two_delivered() {
    let mut w = World::new(400);
    // Slow start: every ACK brings two segments.
    (1..=30).for_each(|i| drop(w.ack(1_100 + i, i, &[])));
    assert_eq!(w.window(), 40.0);
    // Segment 30 is lost; 39 others are delivered one by one.
    let mut sent = Vec::new();
    for i in 31..70 {
        sent.extend(w.ack(1_200 + i, 30, &[(31, i + 1)]));
    }
    let new = sent.iter().filter(|s| !s.1).count();
    assert_eq!(sent.iter().filter(|s| s.1).collect::<Vec<_>>(), [&(30, true)]);
    // Twenty leave in all: the retransmission, and before the loss was certain two by limited transmit.
    assert!((19..=22).contains(&new), "{new} new segments");
    // A round trip after the retransmission: an earlier ACK would say that the original was only late.
    w.ack(1_400, 72, &[]);
    assert_eq!((w.window(), w.tx.is_open()), (20.0, true));
}

#[test]
fn an_application_limited_window_grows_in_slow_start_up_to_twice_what_was_out() {
    // Six of a window of ten are out: each ACK of one grows it until it is twice six.
    let mut w = World::new(6);
    let windows: Vec<f64> = (1..=6)
        .map(|n| {
            w.ack(1_100 + n, n, &[]);
            w.window()
        })
        .collect();
    assert_eq!(windows, [11.0, 12.0, 12.0, 12.0, 12.0, 12.0]);
    // Five of twelve: no growth.
    let mut w = World::new(5);
    w.ack(1_100, 5, &[]);
    assert_eq!(w.window(), 10.0);
}
