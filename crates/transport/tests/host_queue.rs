//! A host whose own queue is full tells its sender at once (Linux 2.4 `tcp_enter_cwr`).

use crosswind_base::units::Size;
use crosswind_base::{BitRate, Dur, Time};
use crosswind_testkit::tcp::pair::{End, Pair};
use crosswind_transport::tcp::params::*;
use crosswind_transport::tcp::{TcpParams, preset};

const MSS: u64 = 1000;
const RTT: Dur = Dur(100_000_000);
const SEGMENTS: u64 = 2000;

/// Segments of 1040 bytes leave one per millisecond; `limit` may wait.
fn params(limit: u32) -> TcpParams {
    let host_queue = HostQueueParams { limit_segments: limit, rate: BitRate(8_320_000) };
    preset::preset("sack-2006").expect("a preset").with(|p| {
        p.host.host_queue = host_queue;
        p.window.initial_ssthresh = Size(1 << 30);
    })
}

fn run(p: TcpParams) -> Pair {
    let mut w = Pair::new(p, SEGMENTS * MSS, Dur(RTT.0 / 2), 1);
    w.run(Time(600_000_000_000));
    w
}

#[test]
fn a_full_queue_ends_slow_start_without_a_loss() {
    let w = run(params(20));
    let s = w.left.conn.tx.stats();
    assert!(w.left.conn.is_over(), "everything arrives");
    assert_eq!((s.retransmitted_segments, s.timeouts, s.fast_recoveries), (0, 0, 0));
    assert!(s.local_reductions >= 1);
    // Bursts of two per ACK: the queue holds 20, so the window of the burst that overflows it is at most 40 and a bit.
    assert!(s.cwnd_max_bytes < 60.0 * MSS as f64, "{}", s.cwnd_max_bytes);
    let without = run(params(0));
    assert_eq!(without.left.conn.tx.stats().local_reductions, 0);
    assert!(without.left.conn.tx.stats().cwnd_max_bytes > 500.0 * MSS as f64);
}

#[test]
fn the_window_falls_once_per_window_of_data() {
    let w = run(params(20));
    let s = w.left.conn.tx.stats();
    let data = w.log.iter().filter(|l| l.from == End::Left && l.packet.payload > 0);
    let (first, last) = data.fold((Time::NEVER, Time::ZERO), |(a, b), l| (a.min(l.at), b.max(l.at)));
    let round_trips = last.since(first).0 / RTT.0;
    assert!(u64::from(s.local_reductions) <= round_trips / 2, "{} in {round_trips}", s.local_reductions);
}

#[test]
fn a_queue_that_is_never_full_changes_nothing() {
    let p = params(0).with(|p| p.window.initial_ssthresh = Size(16 * MSS));
    let wide = params(100_000).with(|p| p.window.initial_ssthresh = Size(16 * MSS));
    let (a, b) = (run(p), run(wide));
    assert_eq!(a.log.len(), b.log.len());
    assert!(a.log.iter().zip(&b.log).all(|(x, y)| x.at == y.at && x.packet.seq == y.packet.seq));
}
