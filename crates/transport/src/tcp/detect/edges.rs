//! Cases at the edge of what detectors count, which their oracles do not reach: they count in whole segments.

use super::fack::Fack;
use super::newreno::{NewReno, Variant};
use super::rack::Rack;
use super::{Detect, Phase, Verdict, View};
use crate::tcp::Ack;
use crate::tcp::conn::scoreboard::Scoreboard;
use crate::tcp::preset::preset;
use crosswind_base::Time;

const MSS: u64 = 1000;

fn view(nxt: u64, phase: Phase) -> View {
    View { una: 1, nxt, mss: MSS, dupthresh: 3, phase, guard: 0, limited_transmit: true, cwnd: 10_000.0 }
}

#[test]
fn fack_counts_three_duplicates_even_when_the_segments_are_short() {
    let mut board = Scoreboard::default();
    (0..5).for_each(|i| board.push(1 + 500 * i, 500, Time(0)));
    let (mut fack, v) = (Fack::default(), view(2501, Phase::Open));
    let verdicts = (1..4).map(|i| {
        let block = (1 + 500 * i, 501 + 500 * i);
        let sacked = board.sack(block, 0, &mut crate::tcp::detect::delivered::Delivered::default());
        fack.on_ack(&Ack { ack: 1, sacked, duplicate: true, ..Ack::default() }, &[block], &mut board, &v)
    });
    // Two thousand bytes are less than three segments of full length beyond the hole.
    assert_eq!(verdicts.collect::<Vec<_>>(), [Verdict::Nothing, Verdict::Nothing, Verdict::Loss]);
}

#[test]
fn duplicates_release_segments_before_a_recovery_as_each_variant_does() {
    let p = preset("ns2-newreno").expect("a preset");
    // From the third on they release nothing in ns-2, which does not heed the guard here: one segment is held lost.
    for (variant, gone) in [(Variant::Ns2NewReno, [1, 2, 1, 1]), (Variant::NewReno, [1, 2, 2, 2])] {
        let (mut detector, mut board) = (NewReno::new(variant, &p), Scoreboard::default());
        (0..8).for_each(|i| board.push(1 + MSS * i, MSS as u32, Time(0)));
        // A guard above all that is out.
        let v = View { guard: 20_000, ..view(8001, Phase::Open) };
        for segments in gone {
            detector.on_ack(&Ack { ack: 1, duplicate: true, ..Ack::default() }, &[], &mut board, &v);
            assert_eq!(detector.in_flight(&board, &v), (8 - segments) * MSS, "{variant:?}");
        }
    }
}

#[test]
fn an_ack_in_a_recovery_of_rack_is_partial_only_when_it_advances() {
    let p = preset("linux-6").expect("a preset");
    let verdict = |bytes: u64| {
        let (mut rack, mut board) = (Rack::new(&p), Scoreboard::default());
        (0..8).for_each(|i| board.push(1 + MSS * i, MSS as u32, Time(0)));
        let a = Ack { ack: 1 + bytes, bytes, duplicate: bytes == 0, ..Ack::default() };
        let v = View { una: 1 + bytes, ..view(8001, Phase::Recovery { high: 8001 }) };
        rack.on_ack(&a, &[], &mut board, &v)
    };
    assert_eq!((verdict(MSS), verdict(0)), (Verdict::Partial, Verdict::Nothing));
}
