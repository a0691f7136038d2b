//! Pacing with both ends at work: what is retransmitted is spaced as what is new.
//!
//! Segments of 1000 bytes, a round trip of 100 ms, a program's limit of a segment each millisecond.

use crosswind_base::{BitRate, Dur, Time};
use crosswind_testkit::tcp::pair::{End, Fate, Pair, Pick};
use crosswind_transport::tcp::{TcpParams, preset};

const MSS: u64 = 1000;
const END: Time = Time(60_000_000_000);
const GAP: Dur = Dur(1_000_000);
/// Segments 100 to 129 are lost.
const LOST: std::ops::Range<u64> = 100..130;

fn params(limit: Option<BitRate>) -> TcpParams {
    let p = preset::preset("linux-6-cubic").expect("a preset");
    p.with(|p| {
        p.connection.mss.0 = MSS;
        p.host.pacing_limit = limit;
    })
}

/// When each segment left, and whether again.
fn departures(limit: Option<BitRate>) -> Vec<(Time, bool)> {
    let mut w = Pair::new(params(limit), 600 * MSS, Dur(50_000_000), 1);
    for i in LOST {
        w.forward.rules.push((Pick::Seq { seq: 1 + i * MSS, copy: 0 }, Fate::Lose));
    }
    w.run(END);
    assert!(w.is_done(), "the transfer ends");
    let data = w.log.iter().filter(|l| l.from == End::Left && l.packet.payload > 0);
    data.map(|l| (l.at, l.packet.meta.is_rexmit())).collect()
}

#[test]
fn retransmissions_are_paced_like_new_data() {
    let sent = departures(Some(BitRate(8 * MSS * 1000)));
    let again: Vec<Time> = sent.iter().filter(|s| s.1).map(|s| s.0).collect();
    assert!(again.len() as u64 >= LOST.end - LOST.start, "{} were retransmitted", again.len());
    // The first of a recovery leaves at once; one that is late gives half a gap back.
    let gaps: Vec<Dur> = again.windows(2).map(|w| w[1].since(w[0])).collect();
    assert!(gaps[1..].iter().all(|g| g.0 >= GAP.0 / 2), "{gaps:?}");
    // Any n departures, whatever they are, take n - 1 gaps but for that first one, half a gap, and ten that are not paced.
    for (i, first) in sent.iter().enumerate().skip(10) {
        for (n, last) in sent[i..].iter().enumerate() {
            let least = (n as u64).saturating_sub(2) * GAP.0;
            assert!(last.0.since(first.0).0 + GAP.0 / 2 >= least, "{n} after {i}: {:?}", last.0.since(first.0));
        }
    }
    // Without pacing they leave together: the test would notice.
    let free = departures(None);
    let again: Vec<Time> = free.iter().filter(|s| s.1).map(|s| s.0).collect();
    assert!(again.windows(2).any(|w| w[0] == w[1]), "{again:?}");
}
