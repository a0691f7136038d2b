//! Cases at the edge of what detectors count, which their oracles do not reach: they count in whole segments.

use super::delivered::Delivered;
use super::fack::Fack;
use super::newreno::NewReno;
use super::pipe_sack::PipeSack;
use super::rack::Rack;
use super::sack::Sack;
use super::table::{NEWRENO, NS2_NEWRENO, RENO};
use super::tlp::{Kind, Meaning, Tlp};
use super::{Detect, Phase, Verdict, View};
use crate::tcp::conn::scoreboard::Scoreboard;
use crate::tcp::facts::Ack;
use crate::tcp::preset::preset;
use crosswind_base::{Dur, Time};

const MSS: u64 = 1000;

fn view(nxt: u64, phase: Phase) -> View {
    View {
        una: 1,
        nxt,
        mss: MSS,
        dupthresh: 3,
        phase,
        recovery_point: 0,
        limited_transmit: true,
        cwnd: 10_000.0,
        handshake_rtt: Dur(u64::MAX),
    }
}

#[test]
fn fack_counts_three_duplicates_even_when_the_segments_are_short() {
    let mut board = Scoreboard::default();
    (0..5).for_each(|i| board.push(1 + 500 * i, 500, Time(0)));
    let (mut fack, v) = (Fack::default(), view(2501, Phase::Open));
    let verdicts = (1..4).map(|i| {
        let block = (1 + 500 * i, 501 + 500 * i);
        let sacked = board.sack(block, 0, &mut Delivered::default());
        fack.on_ack(&Ack { ack: 1, sacked, duplicate: true, ..Ack::default() }, &[block], &mut board, &v)
    });
    // Two thousand bytes are less than three segments of full length beyond the hole.
    assert_eq!(verdicts.collect::<Vec<_>>(), [Verdict::Nothing, Verdict::Nothing, Verdict::Loss]);
}

#[test]
fn duplicates_release_segments_before_a_recovery_as_each_variant_does() {
    let p = preset("ns2-newreno").expect("a preset");
    // From the third on they release nothing in ns-2, which does not heed the recovery point here: one segment is held lost.
    for (rules, gone, burst) in [(NS2_NEWRENO, [1, 2, 1, 1], [0, 0, 2, 2]), (NEWRENO, [1, 2, 2, 2], [0; 4])] {
        let (mut detector, mut board) = (
            NewReno::new(rules, &p.recovery.newreno, p.recovery.dupacks_after_timeout, p.connection.timestamp_tick),
            Scoreboard::default(),
        );
        (0..8).for_each(|i| board.push(1 + MSS * i, MSS as u32, Time(0)));
        // A recovery point above all that is out.
        let v = View { recovery_point: 20_000, ..view(8001, Phase::Open) };
        for (segments, burst) in gone.into_iter().zip(burst) {
            detector.on_ack(&Ack { ack: 1, duplicate: true, ..Ack::default() }, &[], &mut board, &v);
            assert_eq!(detector.in_flight(&board, &v), (8 - segments) * MSS, "{rules:?}");
            assert_eq!(detector.status().burst_limit, burst, "{rules:?}");
        }
    }
}

#[test]
fn an_ack_in_a_recovery_is_partial_only_when_it_advances() {
    fn verdict(mut detector: impl Detect, bytes: u64) -> Verdict {
        let mut board = Scoreboard::default();
        (0..8).for_each(|i| board.push(1 + MSS * i, MSS as u32, Time(0)));
        let a = Ack { ack: 1 + bytes, bytes, duplicate: bytes == 0, ..Ack::default() };
        let v = View { una: 1 + bytes, ..view(8001, Phase::Recovery { high: 8001 }) };
        detector.on_ack(&a, &[], &mut board, &v)
    }
    let tick = preset("linux-6").expect("a preset").connection.timestamp_tick;
    for (bytes, expected) in [(MSS, Verdict::Partial { deflate: 0 }), (0, Verdict::Nothing)] {
        assert_eq!(verdict(Rack::new(Some(tick)), bytes), expected);
        assert_eq!(verdict(Sack::default(), bytes), expected);
    }
}

#[test]
fn a_duplicate_without_news_is_none_for_sack() {
    let (mut sack, mut board) = (Sack::default(), Scoreboard::default());
    (0..5).for_each(|i| board.push(1 + MSS * i, MSS as u32, Time(0)));
    let v = view(5001, Phase::Open);
    for (sacked, is_quiet) in [(0, true), (MSS, false)] {
        sack.on_ack(&Ack { ack: 1, sacked, duplicate: true, ..Ack::default() }, &[], &mut board, &v);
        assert_eq!(sack.status().is_quiet, is_quiet, "{sacked} B reported");
    }
}

#[test]
fn fack_is_quiet_between_duplicates() {
    let mut board = Scoreboard::default();
    (0..5).for_each(|i| board.push(1 + MSS * i, MSS as u32, Time(0)));
    let (mut fack, v) = (Fack::default(), view(5001, Phase::Open));
    assert!(fack.status().is_quiet);
    fack.on_ack(&Ack { ack: 1, sacked: MSS, duplicate: true, ..Ack::default() }, &[], &mut board, &v);
    assert!(!fack.status().is_quiet, "the next ACK has to be looked at: it begins the count anew");
    fack.on_ack(&Ack { ack: 1001, bytes: MSS, ..Ack::default() }, &[], &mut board, &v);
    assert!(fack.status().is_quiet);
}

#[test]
fn a_report_that_grows_to_both_sides_is_a_duplicate_for_sack1() {
    let p = preset("ns2-sack1").expect("a preset");
    let (mut sack, mut board) = (PipeSack::new(p.recovery.dupacks_after_timeout), Scoreboard::default());
    (0..8).for_each(|i| board.push(1 + MSS * i, MSS as u32, Time(0)));
    let v = view(8001, Phase::Open);
    // The ACKs between the first and the second were lost.
    let verdicts = [(3001, 4001), (2001, 5001), (2001, 6001)].map(|block| {
        let a = Ack { ack: 1, sacked: MSS, duplicate: true, ..Ack::default() };
        (sack.on_ack(&a, &[block], &mut board, &v), sack.status().may_send)
    });
    // The third is answered by the retransmission alone.
    assert_eq!(verdicts, [(Verdict::Nothing, true), (Verdict::Nothing, true), (Verdict::Loss, false)]);
}

#[test]
fn a_duplicate_at_the_end_of_what_was_out_shows_that_the_probe_came_twice() {
    let duplicate = Ack { ack: 5001, duplicate: true, ..Ack::default() };
    let later = Ack { ack: 6001, bytes: MSS, ..Ack::default() };
    for (first, meaning) in [(duplicate, Meaning::Nothing), (Ack { sacked: MSS, ..duplicate }, Meaning::Repaired)] {
        let mut tlp = Tlp::default();
        tlp.sent(5001, Kind::Again);
        assert_eq!(tlp.on_ack(&first), Meaning::Nothing);
        assert_eq!(tlp.on_ack(&later), meaning, "after {first:?}");
    }
}

#[test]
fn only_what_was_sent_once_is_a_sample() {
    let newest = (Time(1_000), 1001);
    let sample = |d: Delivered| d.sample(Time(5_000));
    assert_eq!(sample(Delivered { newest, ..Delivered::default() }), Some(Dur(4_000)));
    assert_eq!(sample(Delivered { newest, newest_retransmitted: true, ..Delivered::default() }), None);
    assert_eq!(sample(Delivered::default()), None, "nothing has been delivered");
}

#[test]
fn losses_are_found_from_the_recovery_point_on() {
    fn verdict(mut detector: impl Detect, recovery_point: u64) -> Verdict {
        let mut board = Scoreboard::default();
        (0..8).for_each(|i| board.push(1 + MSS * i, MSS as u32, Time(0)));
        let block = (1001, 8001);
        let sacked = board.sack(block, 0, &mut Delivered::default());
        let a = Ack { ack: 1, sacked, duplicate: true, ..Ack::default() };
        detector.on_ack(&a, &[block], &mut board, &View { recovery_point, ..view(8001, Phase::Open) })
    }
    for (recovery_point, expected) in [(1, Verdict::Loss), (2, Verdict::Nothing)] {
        assert_eq!(verdict(Fack::default(), recovery_point), expected, "recovery point {recovery_point}");
        assert_eq!(verdict(Sack::default(), recovery_point), expected, "recovery point {recovery_point}");
    }
}

#[test]
fn a_probe_repairs_when_what_followed_it_is_acknowledged_and_no_byte_came_twice() {
    for (kind, ack, reported_twice, repairs) in [
        (Kind::Again, 6001, 0, true),
        (Kind::Again, 5001, 0, false),
        (Kind::Again, 6001, MSS, false),
        (Kind::New, 6001, 0, false),
    ] {
        let mut tlp = Tlp::default();
        tlp.sent(5001, kind);
        let a = Ack { ack, bytes: MSS, reported_twice, twice_end: 5001, ..Ack::default() };
        assert_eq!(tlp.repairs(&a), repairs, "{kind:?} {ack} {reported_twice}");
        assert_eq!(tlp.on_ack(&a) == Meaning::Repaired, repairs, "{kind:?} {ack} {reported_twice}");
    }
}

#[test]
fn duplicates_before_a_recovery_of_pipe_sack_release_a_segment_each_below_the_threshold() {
    let p = preset("ns2-sack1").expect("a preset");
    for (limited_transmit, gone) in [(true, [1, 2, 0]), (false, [0, 0, 0])] {
        let (mut sack, mut board) = (PipeSack::new(p.recovery.dupacks_after_timeout), Scoreboard::default());
        (1..9).for_each(|i| board.push(1 + MSS * i, MSS as u32, Time(0)));
        // Below the recovery point the third finds no loss.
        let v = View { una: 1001, recovery_point: 20_000, limited_transmit, ..view(9001, Phase::Open) };
        for (i, gone) in gone.into_iter().enumerate() {
            let block = (2001, 3001 + MSS * i as u64);
            let a = Ack { ack: 1001, sacked: MSS, duplicate: true, ..Ack::default() };
            assert_eq!(sack.on_ack(&a, &[block], &mut board, &v), Verdict::Nothing);
            assert_eq!(sack.in_flight(&board, &v), (8 - gone) * MSS, "duplicate {i}, limited {limited_transmit}");
        }
        board.mark_first_lost();
        assert_eq!(sack.in_flight(&board, &v), 7 * MSS, "one is held lost");
        let again = board.next_lost().expect("the one held lost");
        board.retransmit(again.start, Time(1));
        assert_eq!(sack.in_flight(&board, &v), 8 * MSS, "and has been retransmitted");
    }
}

#[test]
fn a_partial_ack_deflates_by_what_it_acknowledges_less_one_segment() {
    let p = preset("ns2-newreno").expect("a preset");
    // Duplicates counted, segments acknowledged; duplicates that are left, and segments that come off the window itself.
    for (dups, acked, left, off) in [(5, 2, 4, 0), (3, 2, 2, 0), (2, 2, 1, 0), (1, 3, 1, 2), (4, 1, 4, 0)] {
        for rules in [NEWRENO, NS2_NEWRENO] {
            let (mut detector, mut board) = (
                NewReno::new(rules, &p.recovery.newreno, p.recovery.dupacks_after_timeout, p.connection.timestamp_tick),
                Scoreboard::default(),
            );
            (0..8).for_each(|i| board.push(1 + MSS * i, MSS as u32, Time(0)));
            let v = view(8001, Phase::Recovery { high: 8001 });
            for _ in 0..dups {
                detector.on_ack(&Ack { ack: 1, duplicate: true, ..Ack::default() }, &[], &mut board, &v);
            }
            let una = 1 + acked * MSS;
            board.ack_to(una, 0);
            let v = View { una, ..v };
            let verdict = detector.on_ack(&Ack { ack: una, bytes: acked * MSS, ..Ack::default() }, &[], &mut board, &v);
            assert_eq!(verdict, Verdict::Partial { deflate: off * MSS }, "{rules:?} {dups} {acked}");
            assert!(!detector.status().is_quiet, "there are duplicates to be forgotten");
            // The first that is left is held lost.
            let in_flight = (8 - acked - 1 - left) * MSS;
            assert_eq!(detector.in_flight(&board, &v), in_flight, "{rules:?}: {dups} duplicates, {acked} acknowledged");
        }
    }
}

#[test]
fn the_ack_of_all_that_was_out_ends_a_recovery_and_that_of_one_byte_less_does_not() {
    let p = preset("rfc").expect("a preset");
    for (rules, una, verdict) in [
        (NEWRENO, 8001, Verdict::Recovered),
        (NEWRENO, 8000, Verdict::Partial { deflate: 8000 }),
        (RENO, 1001, Verdict::Recovered),
    ] {
        let (mut detector, mut board) = (
            NewReno::new(rules, &p.recovery.newreno, p.recovery.dupacks_after_timeout, p.connection.timestamp_tick),
            Scoreboard::default(),
        );
        (0..9).for_each(|i| board.push(1 + MSS * i, MSS as u32, Time(0)));
        board.ack_to(una, 0);
        let v = View { una, ..view(9001, Phase::Recovery { high: 8001 }) };
        let a = Ack { ack: una, bytes: una - 1, ..Ack::default() };
        assert_eq!(detector.on_ack(&a, &[], &mut board, &v), verdict, "{rules:?} {una}");
    }
}
