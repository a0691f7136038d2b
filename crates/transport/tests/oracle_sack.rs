//! The scoreboard and RFC 6675's `IsLost`, `SetPipe` and `NextSeg` against the sentences of the RFC, computed over every
//! segment of the window at every step.

use crosswind_base::{Dur, Rng, Streams, Time};
use crosswind_transport::tcp::conn::scoreboard::{Scoreboard, Sent};
use crosswind_transport::tcp::detect::sack::Sack;
use crosswind_transport::tcp::detect::{Detect, Phase, View};
use crosswind_transport::tcp::params::SackAfterTimeout;

const MSS: u64 = 1000;
const DUPTHRESH: u32 = 3;

#[derive(Clone, Copy)]
struct Segment {
    start: u64,
    end: u64,
    sacked: bool,
    retransmitted: bool,
    /// Held lost by a timeout.
    timed_out: bool,
}

/// RFC 6675, a sentence at a time. Octets are looked at one segment at a time, which is the same for whole segments.
#[derive(Default)]
struct Plain {
    window: Vec<Segment>,
}

impl Plain {
    fn is_lost(&self, s: &Segment) -> bool {
        let above: Vec<&Segment> = self.window.iter().filter(|t| t.start >= s.end && t.sacked).collect();
        let bytes: u64 = above.iter().map(|t| t.end - t.start).sum();
        let mut sequences = 0;
        let mut last_end = u64::MAX;
        for t in &above {
            sequences += (t.start != last_end) as u32;
            last_end = t.end;
        }
        s.timed_out || sequences >= DUPTHRESH || bytes > (DUPTHRESH as u64 - 1) * MSS
    }
    fn pipe(&self) -> u64 {
        let mut pipe = 0;
        for s in self.window.iter().filter(|s| !s.sacked) {
            let len = s.end - s.start;
            if !self.is_lost(s) {
                pipe += len;
            }
            if s.retransmitted {
                pipe += len;
            }
        }
        pipe
    }
    fn highest_sacked(&self) -> u64 {
        self.window.iter().filter(|s| s.sacked).map(|s| s.end).max().unwrap_or(0)
    }
    fn rule_1(&self) -> Option<u64> {
        self.window.iter().find(|s| !s.sacked && !s.retransmitted && self.is_lost(s)).map(|s| s.start)
    }
    fn rule_3(&self) -> Option<u64> {
        let high = self.highest_sacked();
        self.window.iter().find(|s| !s.sacked && !s.retransmitted && !self.is_lost(s) && s.end <= high).map(|s| s.start)
    }
    fn get(&mut self, start: u64) -> &mut Segment {
        self.window.iter_mut().find(|s| s.start == start).expect("a segment of the window")
    }
}

struct Both {
    ours: Scoreboard,
    plain: Plain,
    una: u64,
    nxt: u64,
}

impl Both {
    fn new() -> Both {
        Both { ours: Scoreboard::default(), plain: Plain::default(), una: 1, nxt: 1 }
    }
    fn push(&mut self, len: u64) {
        let (start, end) = (self.nxt, self.nxt + len);
        self.ours.push(start, len as u32, Time(start));
        self.plain.window.push(Segment { start, end, sacked: false, retransmitted: false, timed_out: false });
        self.nxt = end;
    }
    fn ack(&mut self, ack: u64) {
        self.ours.ack_to(ack, 0);
        self.plain.window.retain(|s| s.end > ack);
        self.una = ack;
    }
    fn sack(&mut self, block: (u64, u64)) {
        let inside = |s: &&mut Segment| s.start >= block.0 && s.end <= block.1 && !s.sacked;
        let mut news = 0;
        for s in self.plain.window.iter_mut().filter(inside) {
            s.sacked = true;
            news += s.end - s.start;
        }
        assert_eq!(self.ours.sack(block, 0, &mut false), news);
        self.ours.mark_lost_by_sack(DUPTHRESH, MSS);
    }
    fn retransmit(&mut self, start: u64) {
        self.ours.retransmit(start, Time(start));
        self.plain.get(start).retransmitted = true;
    }
    fn timeout(&mut self, keep: SackAfterTimeout) {
        self.ours.mark_all_lost(keep, u64::MAX);
        for s in &mut self.plain.window {
            s.sacked &= keep == SackAfterTimeout::Keep;
            (s.timed_out, s.retransmitted) = (!s.sacked, false);
        }
    }
    fn compare(&mut self, what: &str) {
        let view = View {
            una: self.una,
            nxt: self.nxt,
            mss: MSS,
            dupthresh: DUPTHRESH,
            phase: Phase::Recovery { high: self.nxt },
            recovery_point: 0,
            limited_transmit: true,
            cwnd: 10_000.0,
            handshake_rtt: Dur(u64::MAX),
        };
        self.ours.audit(self.una, self.nxt).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(Sack::default().in_flight(&self.ours, &view), self.plain.pipe(), "{what}: pipe");
        assert_eq!(self.ours.next_lost().map(|s: Sent| s.start), self.plain.rule_1(), "{what}: rule 1");
        assert_eq!(self.ours.next_suspect().map(|s| s.start), self.plain.rule_3(), "{what}: rule 3");
        assert_eq!(self.ours.highest_sacked(), self.plain.highest_sacked(), "{what}");
    }
    /// A random block of whole segments above the first one.
    fn block(&self, r: &mut Rng) -> Option<(u64, u64)> {
        let w = &self.plain.window;
        if w.len() < 2 {
            return None;
        }
        let a = 1 + r.below(w.len() as u64 - 1) as usize;
        let longest = if r.chance(0.8) { 3 } else { 40 };
        let b = (a + r.below(longest) as usize).min(w.len() - 1);
        Some((w[a].start, w[b].end))
    }
}

fn episode(seed: u64) {
    let mut r = Streams::new(seed).named("sack");
    let mut b = Both::new();
    let largest = 2 + r.below(199);
    for step in 0..300 {
        let what = format!("seed {seed} step {step}");
        match r.below(100) {
            0..=34 if (b.plain.window.len() as u64) < largest => (0..=r.below(8)).for_each(|_| b.push(MSS)),
            35..=64 => {
                if let Some(block) = b.block(&mut r) {
                    b.sack(block);
                }
            }
            65..=84 => {
                let next = b.ours.next_lost().or_else(|| if r.chance(0.3) { b.ours.next_suspect() } else { None });
                if let Some(s) = next {
                    b.retransmit(s.start);
                }
            }
            // A cumulative ACK stands where something is missing: at the first hole of what was received.
            85..=96 if !b.plain.window.is_empty() => {
                let w = &b.plain.window;
                let mut i = r.below(1 + w.len() as u64 / 4) as usize;
                while i < w.len() && w[i].sacked {
                    i += 1;
                }
                let ack = w.get(i).map_or(b.nxt, |s| s.start);
                if ack > b.una {
                    b.ack(ack);
                }
            }
            97 => b.timeout(SackAfterTimeout::Keep),
            98 if r.chance(0.3) => b.timeout(SackAfterTimeout::Clear),
            _ => {}
        }
        b.compare(&what);
    }
}

#[test]
fn pipe_and_next_segment_are_those_of_rfc_6675() {
    (0..300).for_each(episode);
}

#[test]
fn three_separate_short_segments_above_a_hole_mean_a_loss() {
    // 300 bytes are no reason (RFC 6675 asks for more than two full segments); three sequences are.
    let mut b = Scoreboard::default();
    (0..7).for_each(|i| b.push(1 + i * 100, 100, Time(i)));
    for i in [2, 4] {
        b.sack((1 + i * 100, 101 + i * 100), 0, &mut false);
        assert!(!b.mark_lost_by_sack(DUPTHRESH, MSS));
    }
    b.sack((601, 701), 0, &mut false);
    assert!(b.mark_lost_by_sack(DUPTHRESH, MSS));
    assert_eq!(b.lost_bytes(), 200);
}

#[test]
fn a_segment_reported_in_two_halves_counts_once_it_is_whole() {
    let mut b = Scoreboard::default();
    (0..5).for_each(|i| b.push(1 + i * 1000, 1000, Time(i)));
    let audit = |b: &Scoreboard| b.audit(1, 5001).expect("the counters agree");
    assert_eq!(b.sack((1501, 2001), 0, &mut false), 0);
    audit(&b);
    assert_eq!(b.sack((3001, 3301), 0, &mut false), 0);
    assert_eq!(b.sack((1001, 1501), 0, &mut false), 1000);
    audit(&b);
    assert_eq!(b.sack((2001, 4001), 0, &mut false), 2000);
    audit(&b);
    assert_eq!((b.sacked_bytes(), b.sacked_ranges().count()), (3000, 1));
}

#[test]
fn a_partly_acknowledged_segment_keeps_its_tail() {
    let mut b = Scoreboard::default();
    (0..5).for_each(|i| b.push(1 + i * 1000, 1000, Time(i)));
    b.sack((2001, 4001), 0, &mut false);
    let a = b.ack_to(1501, 0);
    assert_eq!((a.bytes, a.segments), (1500, 1));
    b.audit(1501, 5001).expect("the counters agree");
    assert_eq!(b.first().map(|s| (s.start, s.len)), Some((1501, 500)));
    b.ack_to(2501, 0);
    b.audit(2501, 5001).expect("the counters agree");
    assert_eq!(b.sacked_bytes(), 1500);
}

/// Quadratic work on this window would take hours, not the fraction of a second that it does take.
#[test]
fn a_window_of_a_hundred_thousand_segments_with_every_other_one_lost_is_repaired() {
    const N: u64 = 100_000;
    let mut b = Scoreboard::default();
    let start = |i: u64| 1 + i * MSS;
    (0..N).for_each(|i| b.push(start(i), MSS as u32, Time(i)));
    let mut retransmitted = 0;
    for i in (1..N).step_by(2) {
        b.sack((start(i), start(i + 1)), 0, &mut false);
        b.mark_lost_by_sack(DUPTHRESH, MSS);
        while let Some(s) = b.next_lost() {
            b.retransmit(s.start, Time(N + i));
            retransmitted += 1;
        }
    }
    // The last two holes have fewer than three SACKed segments above them.
    assert_eq!(retransmitted, N / 2 - 2);
    while let Some(s) = b.next_suspect() {
        b.retransmit(s.start, Time(2 * N));
        retransmitted += 1;
    }
    assert_eq!(retransmitted, N / 2);
    b.audit(1, start(N)).expect("the counters agree");
    for i in 0..N / 2 {
        b.ack_to(start(2 * i + 2), 0);
    }
    assert!(b.is_empty());
    b.audit(start(N), start(N)).expect("the counters agree");
}
