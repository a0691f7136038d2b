//! Claims J20 to J32 of [Järvinen 2006] with both ends at work: what one end sends is what the other end makes of it.

use crosswind_base::units::Size;
use crosswind_base::{Dur, TcpFlags, Time};
use crosswind_testkit::tcp::pair::{End, Fate, Pair, Pick};
use crosswind_transport::tcp::law::Controller;
use crosswind_transport::tcp::law::own::{Facts, Maker, OwnLaw};
use crosswind_transport::tcp::params::*;
use crosswind_transport::tcp::{TcpParams, Trigger, preset};

const MSS: u64 = 536;
const END: Time = Time(600_000_000_000);

fn make(name: &str) -> TcpParams {
    preset::preset(name).expect("a preset of that name")
}

fn segment(i: u64) -> u64 {
    1 + i * MSS
}

/// Marks within one round trip, at any place in the window.
#[test]
fn any_number_of_marks_in_one_window_costs_one_reduction_one_cwr_and_no_retransmission() {
    for preset in ["baseline-linux-2.4", "rfc"] {
        // The peer offers the ten segments of the first window.
        let receive_window = ReceiveWindow::Buffer;
        let first_window = make(preset).with(|p| {
            p.window.initial_window_segments = 10;
            p.receiver.receive_window = receive_window;
        });
        let p = first_window.with(|p| {
            p.connection.mss = Size(MSS);
            p.ecn.mode = EcnMode::Classic;
        });
        for first in 0..10 {
            for count in 1..=10 - first {
                let mut w = Pair::new(p.clone(), 100 * MSS, Dur::from_millis(100), 1);
                for i in first..first + count {
                    w.forward.rules.push((Pick::Seq { seq: segment(i), copy: 0 }, Fate::Mark));
                }
                w.run(END);
                let what = format!("{preset}: marks {first}..{}", first + count);
                assert_eq!(w.left.conn.tx.stats().ecn_reductions, 1, "{what}");
                assert_eq!(w.retransmitted(End::Left), Vec::<u64>::new(), "{what}");
                let data = w.log.iter().filter(|l| l.from == End::Left && l.packet.payload > 0);
                let cwr: Vec<Time> = data.filter(|l| l.packet.flags.has(TcpFlags::CWR)).map(|l| l.at).collect();
                assert_eq!(cwr.len(), 1, "{what}");
                // Every ACK echoes from the first mark until CWR has arrived, and none after.
                let mut acks = w.log.iter().filter(|l| l.from == End::Right && !l.packet.flags.has(TcpFlags::SYN));
                let echoes: Vec<bool> = acks.by_ref().map(|l| l.packet.flags.has(TcpFlags::ECE)).collect();
                let from = echoes.iter().position(|e| *e).expect("the mark is echoed");
                let until = echoes.iter().rposition(|e| *e).expect("the mark is echoed");
                assert!(echoes[from..=until].iter().all(|e| *e), "{what}");
                let at = |i: usize| {
                    let acks = w.log.iter().filter(|l| l.from == End::Right && !l.packet.flags.has(TcpFlags::SYN));
                    acks.map(|l| l.at).nth(i).expect("counted before")
                };
                assert!(at(until) <= cwr[0] + Dur::from_millis(100), "{what}: the echo outlives CWR");
                assert!(w.is_done(), "{what}");
            }
        }
    }
}

#[test]
fn only_new_data_is_ecn_capable() {
    let p = make("baseline-linux-2.4").with(|p| p.ecn.mode = EcnMode::Classic);
    let mut w = Pair::new(p, 200 * MSS, Dur::from_millis(50), 1);
    for i in [5, 6, 20, 50] {
        w.forward.rules.push((Pick::Seq { seq: segment(i), copy: 0 }, Fate::Lose));
    }
    w.forward.rules.push((Pick::Seq { seq: segment(5), copy: 1 }, Fate::Lose));
    w.run(END);
    assert!(w.is_done() && w.retransmitted(End::Left).len() >= 5);
    for l in &w.log {
        let new_data = l.packet.payload > 0 && !l.packet.meta.is_rexmit();
        assert_eq!(l.packet.ecn().is_capable(), new_data, "{:?}", l.packet);
    }
}

/// A spike: everything sent from the first flight at 0.2 s on arrives together at 4 s, and nothing is lost. The initial
/// timeout is 3 s, so the retransmission leaves at 3.2 s and waits behind the flight.
fn spike(p: &TcpParams) -> Pair {
    let p = p.clone().with(|p| p.connection.mss = Size(MSS));
    let mut w = Pair::new(p, 60 * MSS, Dur::from_millis(100), 1);
    let (from, until) = (Time::from_secs_f64(0.15), Time::from_secs_f64(3.9));
    w.forward.rules.push((Pick::During { from, until }, Fate::HoldUntil(Time::from_secs_f64(4.0))));
    w.run(END);
    assert!(w.is_done());
    w
}

#[test]
fn a_delay_spike_costs_one_retransmission_with_frto_and_the_window_without() {
    // Every segment is acknowledged by itself: with delayed ACKs the second one covers the whole flight of four.
    let with = make("enhanced-linux-2.4").with(|p| p.receiver.delayed_ack = Dur::ZERO);
    let w = spike(&with);
    assert_eq!(w.retransmitted(End::Left), [segment(0)]);
    assert_eq!((w.left.conn.tx.stats().spurious_detected, w.left.conn.tx.stats().timeouts), (1, 1));
    assert_eq!(w.left.conn.tx.stats().spurious_timeouts, 1, "the observer agrees");
    assert_eq!(w.left.conn.tx.stats().avoidable_timeouts, 1, "a longer timer would have avoided it");
    let w = spike(&with.with(|p| p.undo.frto = Frto::Off));
    assert_eq!(w.retransmitted(End::Left), [segment(0), segment(1), segment(2), segment(3)]);
    assert_eq!(w.left.conn.tx.stats().spurious_timeouts, 1);
}

/// [Järvinen 2006] section 4.7: a timeout counts when a larger estimate of the round-trip time would have avoided it.
#[test]
fn a_segment_lost_with_its_retransmission_makes_no_avoidable_timeout_whatever_else_arrives() {
    let p = make("baseline-linux-2.4").with(|p| {
        p.connection.mss = Size(MSS);
        p.window.initial_window_segments = 8;
        p.receiver.delayed_ack = Dur::ZERO;
    });
    let mut w = Pair::new(p, 60 * MSS, Dur::from_millis(100), 1);
    for copy in 0..2 {
        w.forward.rules.push((Pick::Seq { seq: segment(1), copy }, Fate::Lose));
    }
    // The retransmission of another one comes after the timeout: an old packet that causes an ACK then.
    w.forward.rules.push((Pick::Seq { seq: segment(5), copy: 0 }, Fate::Lose));
    w.forward.rules.push((Pick::Seq { seq: segment(5), copy: 1 }, Fate::Late(Dur::from_millis(700))));
    w.run(END);
    assert!(w.is_done());
    let s = w.left.conn.tx.stats();
    assert_eq!((s.timeouts, s.spurious_timeouts, s.avoidable_timeouts), (1, 1, 0), "the other count is deceived");
}

#[test]
fn each_timeout_of_a_segment_that_is_only_late_was_avoidable() {
    let p = make("baseline-linux-2.4").with(|p| p.connection.mss = Size(MSS));
    let mut w = Pair::new(p, 60 * MSS, Dur::from_millis(100), 1);
    let (from, until) = (Time::from_secs_f64(0.15), Time::from_secs_f64(14.9));
    w.forward.rules.push((Pick::During { from, until }, Fate::HoldUntil(Time::from_secs_f64(15.0))));
    w.run(END);
    let s = w.left.conn.tx.stats();
    assert_eq!((s.timeouts, s.avoidable_timeouts, s.spurious_timeouts), (2, 2, 1));
}

#[test]
fn frto_of_old_linux_needs_more_than_two_segments() {
    let separate = make("enhanced-linux-2.4").with(|p| p.receiver.delayed_ack = Dur::ZERO);
    let linux = Frto::EveryTimeout;
    for (segments, frto, detected) in [
        (2, linux, 0),
        (3, linux, 1),
        (4, linux, 1),
        (2, Frto::Basic, 1),
        (4, Frto::Basic, 1),
        (2, Frto::Sack, 1),
        (4, Frto::Sack, 1),
    ] {
        let w = spike(&separate.clone().with(|p| {
            p.window.initial_window_segments = segments;
            p.undo.frto = frto;
        }));
        assert_eq!(w.left.conn.tx.stats().spurious_detected, detected, "{segments} segments, {frto:?}");
    }
}

#[test]
fn a_genuine_timeout_is_never_judged_spurious() {
    for frto in [Frto::Basic, Frto::Sack, Frto::EveryTimeout] {
        // The whole first flight is lost, or all of it but the last segment.
        for lost in [4, 3] {
            let p = make("enhanced-linux-2.4").with(|p| {
                p.undo.frto = frto;
                p.recovery.limited_transmit = Switch::Off;
            });
            let mut w = Pair::new(p, 60 * MSS, Dur::from_millis(100), 1);
            for i in 0..lost {
                w.forward.rules.push((Pick::Seq { seq: segment(i), copy: 0 }, Fate::Lose));
            }
            w.run(END);
            assert!(w.is_done());
            assert_eq!(w.left.conn.tx.stats().spurious_detected, 0, "{frto:?}, {lost} lost");
            assert_eq!(w.left.conn.tx.stats().spurious_timeouts, 0, "{frto:?}, {lost} lost");
            assert_eq!(w.left.conn.tx.stats().avoidable_timeouts, 0, "{frto:?}, {lost} lost");
            assert_eq!(w.left.conn.tx.stats().timeouts, 1, "{frto:?}, {lost} lost");
            assert_eq!(w.retransmitted(End::Left), (0..lost).map(segment).collect::<Vec<_>>(), "{frto:?}");
        }
    }
}

#[test]
fn a_closed_connection_hands_its_threshold_to_the_next_and_a_flush_takes_it_away() {
    let p = make("enhanced-linux-2.4").with(|p| p.window.initial_window_segments = 4);
    let connection = |cache: Option<crosswind_transport::tcp::share::Cache>| {
        let mut w = Pair::new(p.clone(), 200 * MSS, Dur::from_millis(100), 1);
        if let Some(c) = cache {
            w.left.cache = c;
        }
        // Two losses in a row while the window still doubles.
        for i in [60, 61] {
            w.forward.rules.push((Pick::Seq { seq: segment(i), copy: 0 }, Fate::Lose));
        }
        w.run(END);
        assert!(w.is_done());
        w
    };
    let first = connection(None);
    assert_eq!(first.left.conn.ssthresh_initial, 65535);
    let mut cache = first.left.cache.clone();
    let stored = cache.lookup(1, Time::ZERO).expect("a connection that saw congestion and recovered is remembered");
    let t = &first.left.conn.tx.get().expect("it has sent").law;
    // Congestion avoidance: the larger of half the window and the threshold.
    assert_eq!(stored, ((t.cwnd() / 2.0) as u64).max(t.ssthresh() as u64));
    let second = connection(Some(cache));
    assert_eq!(second.left.conn.ssthresh_initial, stored);
    assert!(second.left.conn.tx.stats().cwnd_max_bytes < first.left.conn.tx.stats().cwnd_max_bytes);
    let third = connection(Some(crosswind_transport::tcp::share::Cache::new(None)));
    assert_eq!(third.left.conn.ssthresh_initial, 65535);
}

#[test]
fn an_impatient_recovery_times_out_where_a_steady_one_repairs_hole_after_hole() {
    // Fifteen holes at one a round trip of 100 ms: the timer, at least a second, runs out unless each partial ACK restarts it.
    let timeouts = |patience| {
        let newreno = NewRenoParams { patience, ..NewRenoParams::default() };
        let rfc = make("rfc").with(|p| {
            p.recovery.detection = Detection::Newreno;
            p.connection.sack = Switch::Off;
            p.recovery.newreno = newreno;
        });
        let p = rfc.with(|p| {
            p.connection.mss = Size(MSS);
            p.window.initial_window_segments = 40;
            p.window.initial_ssthresh = Size(40 * MSS);
        });
        let mut w = Pair::new(p, 200 * MSS, Dur::from_millis(50), 1);
        (45..60).for_each(|i| w.forward.rules.push((Pick::Seq { seq: segment(i), copy: 0 }, Fate::Lose)));
        w.run(END);
        assert!(w.is_done());
        w.left.conn.tx.stats().timeouts
    };
    assert_eq!((timeouts(Patience::SlowButSteady), timeouts(Patience::Impatient)), (0, 1));
}

/// Counts rates that are said to be less than the path carries.
#[derive(Clone)]
struct Listens(std::sync::Arc<[std::sync::atomic::AtomicU32; 2]>);

impl OwnLaw for Listens {
    fn on_ack(&mut self, f: &Facts) -> Option<f64> {
        if let Some(d) = &f.delivery {
            self.0[usize::from(d.is_app_limited)].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        None
    }
    fn reduce(&mut self, _why: Trigger, _f: &Facts) -> Option<f64> {
        None
    }
    fn copy(&self) -> Box<dyn OwnLaw> {
        Box::new(self.clone())
    }
}

#[test]
fn a_law_that_sends_all_it_may_has_samples_that_say_what_the_path_carries() {
    let heard: std::sync::Arc<[std::sync::atomic::AtomicU32; 2]> = Default::default();
    let copy = heard.clone();
    let own = Maker::new(move |_| Box::new(Listens(copy.clone()))).of_every_ack();
    let p = make("rfc").with(|p| {
        p.controller.law = LawName::Own;
        p.controller.own_law = "listens".into();
        p.controller.own = own;
        p.connection.mss = Size(MSS);
    });
    // The end, where the application has no more to send, lies beyond the end of this run.
    let mut w = Pair::new(p.with(|p| p.host.send_buffer = Size(1 << 30)), 100_000 * MSS, Dur::from_millis(50), 1);
    w.run(Time::from_secs_f64(1.0));
    let [full, limited] = [0, 1].map(|i| heard[i].load(std::sync::atomic::Ordering::Relaxed));
    assert!(full > 50 && limited == 0, "{full} samples, {limited} said to be limited by the application");
}
