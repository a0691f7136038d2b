//! FAST as published, both ends at work, on a path of 100 ms that never queues: the window doubles every round trip from the
//! first, whatever the receiver's habits, and what it allows is spread over the round trip.

use crosswind_base::units::Size;
use crosswind_base::{Dur, Time};
use crosswind_testkit::tcp::pair::{End, Pair};
use crosswind_transport::tcp::law::LawName;
use crosswind_transport::tcp::law::fast::{FastParams, FastVersion};
use crosswind_transport::tcp::params::*;
use crosswind_transport::tcp::{TcpParams, preset};

const RTT: Dur = Dur(100_000_000);

/// Timers and timestamps with ticks of 10 ms.
fn params(acks: u32) -> TcpParams {
    let fast = FastParams { version: FastVersion::Published, alpha: 200.0, empty_growth: 2.0, ..FastParams::default() };
    let kernel = preset::preset("linux-2.4-highspeed").expect("a preset");
    kernel.with(|p| {
        p.controller.law = LawName::Fast;
        p.controller.fast = fast;
        p.window.grow_when = GrowWhen::Always;
        p.host.pacing = Pacing::Window;
        p.window.initial_window_segments = 4;
        p.host.send_buffer = Size(1 << 40);
        p.receiver.receive_buffer = Size(1 << 30);
        p.receiver.receive_window = ReceiveWindow::Buffer;
        p.receiver.ack_every_segments = acks;
        p.receiver.quick_acks = 0;
        // Longer than a round trip: only the count decides.
        p.receiver.delayed_ack = if acks == 1 { Dur::ZERO } else { Dur::from_millis(20) };
    })
}

/// Times at which segments left in the first round trips after the handshake.
fn sent(p: TcpParams, round_trips: u64) -> Vec<Time> {
    let mut w = Pair::new(p, 1 << 32, Dur(RTT.0 / 2), 1);
    w.is_watched = false;
    w.run(Time(RTT.0 * (round_trips + 1)));
    w.data(End::Left).map(|(at, ..)| at).collect()
}

fn in_round_trip(sent: &[Time], n: u64) -> usize {
    sent.iter().filter(|t| (RTT.0 * n..RTT.0 * (n + 1)).contains(&t.0)).count()
}

#[test]
fn on_an_empty_path_the_window_doubles_every_round_trip_from_the_first() {
    let times = sent(params(1), 11);
    for n in 1..11 {
        let (before, after) = (in_round_trip(&times, n), in_round_trip(&times, n + 1));
        assert!((after as f64 / before as f64 - 2.0).abs() < 0.1, "round trip {n}: {before}, then {after}");
    }
}

#[test]
fn growth_does_not_depend_on_how_often_the_receiver_acknowledges() {
    // An ACK that is held back for want of segments is late by 20 ms in the first, small windows; the factor is the same after that.
    let factor = |p: TcpParams| {
        let times = sent(p, 11);
        in_round_trip(&times, 11) as f64 / in_round_trip(&times, 10) as f64
    };
    let every = [1, 2, 4, 8].map(|acks| factor(params(acks)));
    assert!(every.iter().all(|f| (f - 2.0).abs() < 0.1), "{every:?}");
    let slow_start = |acks| {
        factor(params(acks).with(|p| {
            p.controller.law = LawName::Reno;
            p.host.pacing = Pacing::Off;
        }))
    };
    assert!(
        slow_start(1) > 1.9 && slow_start(8) < 1.3,
        "slow start goes with the ACKs: {} {}",
        slow_start(1),
        slow_start(8)
    );
}

#[test]
fn a_paced_window_leaves_evenly_although_the_clock_has_ticks_of_10_ms() {
    let times = sent(params(1), 11);
    let last: Vec<u64> = times.iter().filter(|t| t.0 > RTT.0 * 11).map(|t| t.0).collect();
    let gaps: Vec<f64> = last.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    let even = RTT.0 as f64 / last.len() as f64;
    let uneven = gaps.iter().filter(|g| (**g / even - 1.0).abs() > 0.05).count();
    assert!(last.len() > 1000 && uneven * 100 < gaps.len(), "{uneven} of {} gaps", gaps.len());
}

#[test]
fn a_flow_that_its_receiver_limits_does_not_double_for_ever() {
    let p = params(1).with(|p| p.receiver.receive_buffer = Size(100_000));
    let mut w = Pair::new(p, 1 << 32, Dur(RTT.0 / 2), 1);
    w.is_watched = false;
    w.run(Time(RTT.0 * 100));
    assert!((100_000.0..=200_000.0).contains(&w.left.conn.window().cwnd()), "{}", w.left.conn.window().cwnd());
}

#[test]
fn the_published_law_is_refused_where_it_would_not_be_asked() {
    let p = params(1).with(|p| p.window.grow_when = GrowWhen::WindowLimited);
    assert_eq!(p.check("tcp").expect_err("refused").path, "tcp.fast.version");
}
