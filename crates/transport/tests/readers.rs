//! Closed windows on networks that lose, repeat and reorder: whatever is lost (probes, their answers, updates of the window), the transfer
//! comes to its end, nobody counts a closed window as a timeout, and nobody sends crumbs. And both ends that open at once.

use crosswind_base::units::Size;
use crosswind_base::{Dur, Streams, Time};
use crosswind_testkit::tcp::pair::{Dice, End, Fate, Pair, Pick};
use crosswind_transport::tcp::conn::State;
use crosswind_transport::tcp::params::*;
use crosswind_transport::tcp::{TcpParams, preset};

const DAYS: Time = Time(1_000_000_000_000_000);

fn presets() -> impl Iterator<Item = (&'static str, TcpParams)> {
    let all = preset::names().into_iter().map(|n| (n, preset::preset(n).expect("a preset of that name")));
    all.filter(|(_, p)| p.connection.handshake != Handshake::Ns2)
}

/// A buffer of a few segments, large enough for the receive window that grows.
fn small(p: TcpParams, segments: u64) -> TcpParams {
    let least = if p.receiver.receive_window == ReceiveWindow::Growing { 8 * p.receiver.receive_truesize.0 } else { 0 };
    p.with(|t| t.receiver.receive_buffer = Size((segments * t.connection.mss.0 + 300).max(least)))
}

#[test]
fn a_transfer_to_a_slow_reader_ends_on_any_network() {
    for (name, p) in presets() {
        for seed in 0..12 {
            let mut r = Streams::new(seed).named("readers");
            let p = small(p.clone(), 1 + r.below(8));
            let bytes = 1 + r.below(60_000);
            let what = format!("{name}, seed {seed}");
            let mut w = Pair::new(p, bytes, Dur::from_millis(1 + r.below(200)), seed)
                .read_slowly(1 + r.below(9000), Dur::from_millis(1 + r.below(3000)));
            let mut dice = || Dice {
                lose: if r.chance(0.7) { r.between(0.0, 0.2) } else { 0.0 },
                duplicate: if r.chance(0.3) { r.between(0.0, 0.1) } else { 0.0 },
                late: if r.chance(0.5) { r.between(0.0, 0.2) } else { 0.0 },
                late_by_max: Dur::from_millis(1 + r.below(800)),
                ..Dice::default()
            };
            (w.forward.dice, w.reverse.dice) = (dice(), dice());
            w.run(DAYS);
            assert!(w.is_done(), "{what}: {:?} {:?} at {:?}", w.left.conn.state, w.right.conn.state, w.now);
            assert_eq!((w.right.conn.rx.delivered(), w.right.conn.rx.unread()), (bytes, 0), "{what}");
        }
    }
}

#[test]
fn on_a_perfect_network_a_closed_window_costs_no_timeout_and_no_window() {
    for (name, p) in presets() {
        let p = small(p, 6);
        let mut w = Pair::new(p.clone(), 80_000, Dur::from_millis(20), 1)
            .read_slowly(3 * p.connection.mss.0, Dur::from_secs(2));
        w.run(DAYS);
        let s = w.left.conn.tx.stats();
        assert!(w.is_done(), "{name}");
        assert_eq!((s.timeouts, s.fast_recoveries, s.retransmitted_segments), (0, 0, 0), "{name}");
        // Short segments are the last one, what fills a window, and a byte of a probe: none of them follows from reading alone.
        let short = w
            .log
            .iter()
            .filter(|l| l.from == End::Left && (2..p.connection.mss.0 / 2).contains(&l.packet.payload.into()));
        assert!(short.count() <= 1 + 80_000 / p.receiver.receive_buffer.0 as usize, "{name}");
    }
}

#[test]
fn a_lost_update_of_the_window_is_made_good_by_a_probe() {
    for (name, p) in presets() {
        let p = small(p, 2);
        // All is read at 10 s; everything that the reader says from then on until 11 s is lost.
        let mut w = Pair::new(p, 40_000, Dur::from_millis(20), 1).read_slowly(1 << 20, Dur::from_secs(10));
        let (from, until) = (Time(10_000_000_000), Time(11_000_000_000));
        w.reverse.rules.push((Pick::During { from, until }, Fate::Lose));
        w.run(DAYS);
        assert!(w.is_done(), "{name}");
        assert!(w.left.conn.tx.stats().window_probes > 0, "{name}");
    }
}

#[test]
fn both_ends_open_at_once() {
    for (name, p) in presets() {
        for lost in [None, Some(0), Some(1)] {
            let mut w = Pair::new(p.clone(), 30_000, Dur::from_millis(50), 1);
            w.forward.rules.extend(lost.map(|n| (Pick::Index(n), Fate::Lose)));
            w.open_both();
            while w.now < DAYS && w.step() {}
            assert!(w.is_done(), "{name}, lost: {lost:?}");
            assert_eq!(w.right.conn.rx.delivered(), 30_000, "{name}, lost: {lost:?}");
        }
    }
}

#[test]
fn a_peer_that_has_vanished_is_noticed() {
    let keepalive = KeepaliveParams { idle: Dur::from_secs(60), interval: Dur::from_secs(5), probes: 4 };
    for (name, p) in presets() {
        let mut w = Pair::new(p.with(|p| p.connection.keepalive = keepalive), 10_000, Dur::from_millis(50), 1);
        w.left.closes = crosswind_testkit::tcp::pair::Closes::Never;
        let from = Time(200_000_000_000);
        w.forward.rules.push((Pick::During { from, until: DAYS }, Fate::Lose));
        w.reverse.rules.push((Pick::During { from, until: DAYS }, Fate::Lose));
        w.run(DAYS);
        let at = w.left.conn.closed_at;
        assert_eq!((w.left.conn.state, w.right.conn.state), (State::Aborted, State::Aborted), "{name}");
        // The last answer comes after a probe at 180 s; then a minute, and four probes.
        let at = at.get().expect("it has ended").as_secs_f64();
        assert!((255.0..270.0).contains(&at), "{name}: {at} s");
    }
}
