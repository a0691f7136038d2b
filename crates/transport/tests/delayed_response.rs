//! Claims B1 to B5, B8, B9, B11, B12 and B130 of [Bhandarkar 2006], and RFC 4653, with both ends at work.
//!
//! Segments of 1000 bytes, a round trip of 100 ms, windows of 16 segments and more in congestion avoidance.

use crosswind_base::units::Size;
use crosswind_base::{Dur, Time};
use crosswind_testkit::tcp::pair::{End, Fate, Logged, Pair, Pick};
use crosswind_transport::tcp::detect::Detection;
use crosswind_transport::tcp::detect::delayed_response::{DcrParams, Wait};
use crosswind_transport::tcp::params::*;
use crosswind_transport::tcp::{TcpParams, preset};

const MSS: u64 = 1000;
const END: Time = Time(600_000_000_000);
const RTT: Dur = Dur(100_000_000);
const WAITS: [Wait; 5] = [Wait::Timer, Wait::Duplicates, Wait::Window, Wait::NcrCareful, Wait::NcrAggressive];

fn params(wait: Wait) -> TcpParams {
    let sack = preset::preset("sack-2006").expect("a preset");
    let dcr = DcrParams { wait, ..DcrParams::default() };
    sack.with(|p| {
        p.recovery.dcr = dcr;
        p.window.initial_window_segments = 16;
        p.window.initial_ssthresh = Size(16 * MSS);
    })
}

fn segment(i: u64) -> u64 {
    1 + i * MSS
}

fn pair(p: TcpParams, rules: &[(u64, u32, Fate)]) -> Pair {
    let mut w = Pair::new(p, 300 * MSS, Dur(RTT.0 / 2), 1);
    for &(i, copy, fate) in rules {
        w.forward.rules.push((Pick::Seq { seq: segment(i), copy }, fate));
    }
    w
}

fn data(w: &Pair) -> impl Iterator<Item = &Logged> {
    w.log.iter().filter(|l| l.from == End::Left && l.packet.payload > 0)
}

/// When the first duplicate ACK for segment `i` arrives at the sender.
fn first_duplicate(w: &Pair, i: u64) -> Time {
    let acks = w.log.iter().filter(|l| l.from == End::Right && l.packet.ack == segment(i));
    acks.map(|l| l.at + Dur(RTT.0 / 2)).nth(1).expect("the segment after the hole is acknowledged")
}

fn retransmitted_at(w: &Pair, i: u64) -> Time {
    let again = data(w).find(|l| l.packet.meta.is_rexmit() && l.packet.seq == segment(i));
    again.expect("the segment is retransmitted").at
}

#[test]
fn a_packet_that_is_late_by_less_than_a_round_trip_costs_a_patient_sender_nothing() {
    let late = [(40, 0, Fate::Late(Dur::from_millis(40)))];
    let mut w = pair(params(Wait::Off), &late);
    w.run(END);
    assert_eq!((w.retransmitted(End::Left), w.left.conn.tx.stats().fast_recoveries), (vec![segment(40)], 1));
    for wait in WAITS {
        let mut w = pair(params(wait), &late);
        w.run(END);
        assert_eq!((w.retransmitted(End::Left), w.left.conn.tx.stats().fast_recoveries), (vec![], 0), "{wait:?}");
        assert!(w.is_done() && w.left.conn.tx.stats().timeouts == 0, "{wait:?}");
    }
}

#[test]
fn a_lost_packet_is_sent_again_one_smoothed_round_trip_after_the_first_duplicate() {
    let mut plain = pair(params(Wait::Off), &[(40, 0, Fate::Lose)]);
    plain.run(END);
    assert_eq!(
        retransmitted_at(&plain, 40),
        first_duplicate(&plain, 40),
        "the third duplicate arrives at the same instant"
    );
    let mut w = pair(params(Wait::Timer), &[(40, 0, Fate::Lose)]);
    w.run(END);
    let waited = retransmitted_at(&w, 40).since(first_duplicate(&w, 40));
    assert!(waited.0.abs_diff(RTT.0) <= 1_000_000, "{waited:?}");
    assert_eq!((w.left.conn.tx.stats().fast_recoveries, w.left.conn.tx.stats().timeouts), (1, 0));
    // Counting a window of duplicates takes as long.
    for wait in [Wait::Duplicates, Wait::Window] {
        let mut w = pair(params(wait), &[(40, 0, Fate::Lose)]);
        w.run(END);
        let waited = retransmitted_at(&w, 40).since(first_duplicate(&w, 40));
        assert!(waited.0.abs_diff(RTT.0) <= 1_000_000, "{wait:?} {waited:?}");
    }
}

#[test]
fn while_it_waits_one_new_packet_leaves_per_duplicate_and_the_window_grows_by_one() {
    for (wait, per_duplicate) in [(Wait::Timer, 1.0), (Wait::NcrAggressive, 1.0), (Wait::NcrCareful, 0.5)] {
        let mut w = pair(params(wait), &[(40, 0, Fate::Lose)]);
        w.run(END);
        let from = first_duplicate(&w, 40);
        let acks = w.log.iter().filter(|l| l.from == End::Right && l.packet.ack == segment(40));
        let duplicates = acks.filter(|l| l.at + Dur(RTT.0 / 2) == from).count() - 1;
        let before = data(&w).filter(|l| l.at + RTT == from).count();
        let sent = data(&w).filter(|l| l.at == from && l.packet.seq > segment(40)).count();
        let advanced = before - 1 - duplicates;
        let expected = advanced as f64 + per_duplicate * duplicates as f64;
        assert!((sent as f64 - expected).abs() <= 1.0, "{wait:?}: {sent} for {advanced} and {duplicates} duplicates");
    }
}

#[test]
fn at_expiry_the_threshold_is_half_of_the_window_as_it_is_then() {
    let mut w = pair(params(Wait::Timer), &[(40, 0, Fate::Lose)]);
    w.open();
    let mut grown = 0.0;
    while w.left.conn.tx.stats().fast_recoveries == 0 {
        grown = w.left.conn.window().cwnd();
        assert!(w.step(), "the loss is found");
    }
    // 40 segments at 16 to 18 a round trip: the window has grown by two, and by one more during the wait.
    assert!((18.0..20.5).contains(&(grown / MSS as f64)), "{grown}");
    assert!((w.left.conn.window().ssthresh() - grown / 2.0).abs() <= MSS as f64 / 2.0);
}

#[test]
fn in_slow_start_dcr_is_sack_to_the_packet() {
    let slow = |wait| {
        params(wait).with(|p| {
            p.window.initial_window_segments = 2;
            p.window.initial_ssthresh = Size(1 << 30);
        })
    };
    let trace = |wait| {
        let mut w = pair(slow(wait), &[(20, 0, Fate::Lose)]);
        w.run(Time::from_secs_f64(0.75));
        data(&w).map(|l| (l.at, l.packet.seq, l.packet.meta.is_rexmit())).collect::<Vec<_>>()
    };
    assert_eq!(trace(Wait::Timer), trace(Wait::Off));
    assert!(trace(Wait::Off).iter().any(|x| x.2), "the loss is repaired within the trace");
}

#[test]
fn a_full_receive_window_lets_nothing_new_out_but_the_response_is_delayed_all_the_same() {
    let p = params(Wait::Timer).with(|p| p.window.window_limit_segments = 16);
    let mut w = pair(p, &[(40, 0, Fate::Lose)]);
    w.run(END);
    let (from, until) = (first_duplicate(&w, 40), retransmitted_at(&w, 40));
    assert_eq!(data(&w).filter(|l| l.at > from && l.at < until).count(), 0);
    assert!(until.since(from).0.abs_diff(RTT.0) <= 1_000_000);
    assert_eq!((w.left.conn.tx.stats().fast_recoveries, w.left.conn.tx.stats().timeouts), (1, 0));
}

#[test]
fn when_no_acknowledgement_comes_during_the_wait_the_deadline_itself_ends_it() {
    // The last four segments: one is lost, three duplicates come at once, and then nothing.
    for recovery in [Detection::Sack, Detection::Newreno] {
        let p = params(Wait::Timer).with(|p| p.recovery.detection = recovery);
        let mut w = pair(p, &[(296, 0, Fate::Lose)]);
        w.run(END);
        let waited = retransmitted_at(&w, 296).since(first_duplicate(&w, 296));
        assert!(waited.0.abs_diff(RTT.0) <= 2_000_000, "{recovery:?} {waited:?}");
        assert_eq!((w.left.conn.tx.stats().fast_recoveries, w.left.conn.tx.stats().timeouts), (1, 0), "{recovery:?}");
    }
}

#[test]
fn the_window_grows_with_each_duplicate_while_it_waits_and_not_where_growth_is_off() {
    let grown = |growth| {
        let sack = params(Wait::Timer);
        let mut w = pair(sack.with(|p| p.recovery.dcr.growth = growth), &[(40, 0, Fate::Lose)]);
        w.open();
        let mut widest: f64 = 0.0;
        while w.left.conn.tx.stats().fast_recoveries == 0 {
            widest = w.left.conn.window().cwnd();
            assert!(w.step(), "the loss is found");
        }
        widest / MSS as f64
    };
    let (on, off) = (grown(Switch::On), grown(Switch::Off));
    // Some of the duplicates of a window arrive at the instant at which the wait ends.
    assert!((0.3..1.0).contains(&(on - off)), "{on} and {off}");
}

#[test]
fn a_second_loss_in_the_window_costs_neither_a_wait_nor_a_reduction() {
    let mut w = pair(params(Wait::Timer), &[(40, 0, Fate::Lose), (44, 0, Fate::Lose)]);
    w.run(END);
    assert_eq!(w.left.conn.tx.stats().fast_recoveries, 1);
    assert_eq!(w.retransmitted(End::Left), vec![segment(40), segment(44)]);
    assert!(retransmitted_at(&w, 44).since(retransmitted_at(&w, 40)) <= RTT, "without another wait");
}

#[test]
fn where_the_threshold_is_raised_a_late_packet_is_no_loss_in_the_recovery_either() {
    for (wait, again) in [(Wait::Timer, vec![40, 60]), (Wait::Window, vec![40]), (Wait::NcrAggressive, vec![40])] {
        let mut w = pair(params(wait), &[(40, 0, Fate::Lose), (60, 0, Fate::Late(Dur::from_millis(40)))]);
        w.run(END);
        let again: Vec<u64> = again.into_iter().map(segment).collect();
        assert_eq!((w.retransmitted(End::Left), w.left.conn.tx.stats().fast_recoveries), (again, 1), "{wait:?}");
    }
}

#[test]
fn a_receiver_that_delays_acks_changes_nothing() {
    let p = params(Wait::Timer).with(|p| {
        p.receiver.delayed_ack = Dur::from_millis(40);
        p.receiver.ack_every_segments = 2;
    });
    let mut w = pair(p, &[(41, 0, Fate::Late(Dur::from_millis(30)))]);
    w.run(END);
    assert_eq!((w.retransmitted(End::Left), w.left.conn.tx.stats().fast_recoveries), (vec![], 0));
}

#[test]
fn newreno_can_wait_too() {
    let p = params(Wait::Timer).with(|p| {
        p.recovery.detection = Detection::Newreno;
        p.connection.sack = Switch::Off;
    });
    let mut late = pair(p.clone(), &[(40, 0, Fate::Late(Dur::from_millis(40)))]);
    late.run(END);
    assert_eq!((late.retransmitted(End::Left), late.left.conn.tx.stats().fast_recoveries), (vec![], 0));
    let mut lost = pair(p, &[(40, 0, Fate::Lose)]);
    lost.run(END);
    assert!(retransmitted_at(&lost, 40).since(first_duplicate(&lost, 40)).0.abs_diff(RTT.0) <= 1_000_000);
}

#[test]
fn after_reordering_ncr_goes_on_with_the_window_that_was_in_flight() {
    let mut w = pair(params(Wait::NcrAggressive), &[(40, 0, Fate::Late(Dur::from_millis(40)))]);
    w.run(END);
    assert!(w.left.conn.window().ssthresh() >= 15.0 * MSS as f64, "{}", w.left.conn.window().ssthresh());
    assert!(w.left.conn.tx.stats().cwnd_max_bytes > 17.0 * MSS as f64);
}

#[test]
fn paced_packets_are_never_closer_than_a_round_trip_over_the_window() {
    let p = params(Wait::Window).with(|p| p.host.pacing = Pacing::Window);
    let late: Vec<_> = (2..7).map(|k| (40 * k, 0, Fate::Late(Dur::from_millis(60)))).collect();
    let mut w = pair(p, &late);
    w.run(END);
    assert!(w.is_done());
    let cwnd_max = w.left.conn.tx.stats().cwnd_max_bytes / MSS as f64;
    let first = RTT + RTT + RTT;
    let times: Vec<Time> = data(&w).map(|l| l.at).filter(|t| t.0 > first.0).collect();
    let closest = times.windows(2).map(|w| w[1].since(w[0]).0).min().expect("many packets");
    assert!(closest as f64 >= 0.9 * RTT.0 as f64 / cwnd_max, "{closest} ns with at most {cwnd_max} segments");
}
