//! PragueCC beside runs of the implementation itself: what it was told of 800 ACKs, and all that it held after each of them.

use super::praguecc::{Counts, Keeps, Prague, State};

/// 400 ACKs each: T1 at 10 Mbit/s, where a loss turns out to be none and another does not; T3 from 100 kbit/s up, with small packets.
const TRACE: &str = include_str!("praguecc_trace.csv");
/// Inputs of the implementation; outputs of a model that was written from its rules alone, which gives the other two traces to the
/// last unit (`python/tests/test_praguecc_trace.py`).
const SECOND: &str = include_str!("praguecc_trace_2.csv");
const PACKET: u64 = 1400;

fn state(cc: &Prague) -> String {
    let keeps = match cc.keeps {
        Keeps::Window => "window",
        Keeps::Rate => "rate",
    };
    let state = match cc.state {
        State::Begin => "init",
        State::Avoid => "avoid",
        State::Loss => "loss",
        State::Cwr => "cwr",
    };
    let Prague { srtt, virtual_rtt, alpha, wait, rate, window, packet, burst, window_packets, .. } = cc;
    format!("{srtt},{virtual_rtt},{keeps},{state},{alpha},{wait},{rate},{window},{packet},{burst},{window_packets}")
}

#[test]
fn every_column_is_that_of_the_implementation() {
    let mut checked = 0;
    for (file, trace, rate) in [(TRACE, "T1", 1_250_000), (TRACE, "T3", 12_500), (SECOND, "T2", 5_000_000)] {
        let mut cc = Prague::new(rate, PACKET, 1);
        for line in file.lines().filter(|l| l.starts_with(trace)) {
            let fields: Vec<&str> = line.splitn(9, ',').collect();
            let number = |i: usize| fields[i].parse::<u64>().expect("a number");
            cc.on_rtt(number(3));
            cc.on_ack(number(2), Counts { received: number(4), marked: number(5), lost: number(6), sent: number(7) });
            assert_eq!(state(&cc), fields[8], "{trace}, ACK {}", fields[1]);
            checked += 1;
        }
    }
    assert_eq!(checked, 1200);
}

/// The second trace has no published outcome; here is what of its beginning follows from the rules alone.
#[test]
fn below_two_milliseconds_the_rate_is_kept_and_back_above_the_window_follows_from_it() {
    let mut cc = Prague::new(5_000_000, PACKET, 1);
    let mut counts = Counts::default();
    let mut step = |cc: &mut Prague, now: u64, rtt: u64| {
        counts = Counts { received: counts.received + 2, sent: counts.received + 12, ..counts };
        cc.on_rtt(rtt);
        cc.on_ack(now, counts);
    };
    for i in 1..100 {
        step(&mut cc, 10_000 + 700 * i, 1_500);
        assert_eq!((cc.keeps, cc.window), (Keeps::Rate, cc.rate * cc.srtt));
    }
    assert!(cc.rate > 5_000_000, "it grows: {}", cc.rate);
    let before = cc.rate;
    step(&mut cc, 80_700, 40_000);
    assert_eq!(cc.keeps, Keeps::Window);
    assert!(cc.rate >= before && cc.window == cc.rate * cc.srtt);
}

#[test]
fn a_timeout_begins_anew_and_the_rate_leaves_three_per_cent_above_and_below() {
    let mut cc = Prague::new(1_250_000, PACKET, 0);
    cc.on_rtt(50_000);
    cc.on_ack(60_000, Counts { received: 1, sent: 11, ..Counts::default() });
    let rate = cc.rate;
    assert_eq!(
        [60_000, 84_999, 85_000].map(|at| cc.pacing_rate(at)),
        [rate * 103 / 100, rate * 103 / 100, rate * 100 / 103]
    );
    cc.on_timeout();
    assert_eq!((cc.alpha, cc.rate, cc.window_packets, cc.state), (0, 12_500, 2, State::Begin));
}
