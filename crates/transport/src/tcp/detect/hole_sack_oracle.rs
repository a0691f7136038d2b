//! The kernel's tags and counters for SACK with and without FACK, segment by segment, beside [`super::HoleSack`] on random
//! traces.

use super::super::super::Ack;
use super::super::super::conn::scoreboard::Scoreboard;
use super::super::{Detect, Phase, Verdict, View};
use super::{HoleSack, Holes};
use crosswind_base::{Dur, Rng, Streams, Time};

const MSS: u64 = 500;
const REORDERING: usize = 3;

#[derive(Clone, Copy, Default)]
struct Tags {
    sacked: bool,
    lost: bool,
    retrans: bool,
    ever_retrans: bool,
    /// What was to be sent next when this was retransmitted (`TCP_SKB_CB(skb)->ack_seq`).
    ack_seq: usize,
}

/// Segments that are out, from the first unacknowledged one, and the state of the recovery.
struct Kernel {
    holes: Holes,
    queue: Vec<Tags>,
    /// Number of the first segment of `queue`, and of the first that was not out when the recovery began.
    una: usize,
    high: Option<usize>,
}

impl Kernel {
    fn fackets_out(&self) -> usize {
        self.queue.iter().rposition(|t| t.sacked).map_or(0, |i| i + 1)
    }
    fn mark_head_lost(&mut self, packets: usize, high: usize) {
        for (i, t) in self.queue.iter_mut().enumerate().take(packets) {
            if self.una + i >= high {
                break;
            }
            t.lost |= !(t.sacked || t.lost || t.retrans);
        }
    }
    fn in_flight(&self) -> usize {
        let n = |f: fn(&Tags) -> bool| self.queue.iter().filter(|t| f(t)).count();
        self.queue.len() - n(|t| t.sacked) - n(|t| t.lost) + n(|t| t.retrans)
    }
    fn sack(&mut self, from: usize, to: usize) -> usize {
        let mut news = 0;
        for t in &mut self.queue[from - self.una..to - self.una] {
            news += !t.sacked as usize;
            // What was retransmitted and is not tagged lost stays in flight in the kernel; nothing is retransmitted untagged here.
            *t = Tags { sacked: true, lost: false, retrans: false, ..*t };
        }
        news
    }
    /// `tcp_sacktag_write_queue`, event C, for one block that ends at `top`.
    fn find_lost_retransmissions(&mut self, top: usize) {
        let known = top <= self.una || self.queue[top - 1 - self.una].ever_retrans;
        if self.holes == Holes::First || self.high.is_none_or(|h| self.una >= h) || known {
            return;
        }
        for (i, t) in self.queue.iter_mut().enumerate() {
            if self.una + i < top && t.retrans && top > t.ack_seq {
                t.retrans = false;
                t.lost = true;
            }
        }
    }
    /// `tcp_update_scoreboard`.
    fn update_scoreboard(&mut self, high: usize) {
        let lost = match self.holes {
            Holes::First => 1,
            Holes::BelowForward => self.fackets_out().saturating_sub(REORDERING).max(1),
        };
        self.mark_head_lost(lost, high);
    }
    /// `tcp_fastretrans_alert`, as far as it finds losses. `above`: a block ends above the point of recovery.
    fn alert(&mut self, advanced: bool, above: bool) -> Verdict {
        let next = self.una + self.queue.len();
        let Some(high) = self.high else {
            if self.fackets_out() <= REORDERING {
                return Verdict::Nothing;
            }
            self.high = Some(next);
            self.update_scoreboard(next);
            return Verdict::Loss;
        };
        if self.una >= high {
            self.high = None;
            return Verdict::Recovered;
        }
        if above && self.fackets_out() > REORDERING {
            self.mark_head_lost(self.fackets_out() - REORDERING, high);
        }
        if advanced && self.fackets_out() > REORDERING {
            self.update_scoreboard(high);
        }
        // Without FACK a duplicate marks the head, which a recovery has marked already.
        if !advanced && self.holes == Holes::BelowForward {
            self.update_scoreboard(high);
        }
        if advanced { Verdict::Partial { deflate: 0 } } else { Verdict::Nothing }
    }
}

struct Both {
    kernel: Kernel,
    board: Scoreboard,
    ours: HoleSack,
    nxt: usize,
    /// The last segment, which is short, has been sent.
    ended: bool,
    clock: u64,
}

/// Length of the last segment, with its FIN.
const LAST: u64 = 133;

fn at(segment: usize) -> u64 {
    1 + segment as u64 * MSS
}

impl Both {
    fn new(holes: Holes) -> Both {
        let kernel = Kernel { holes, queue: Vec::new(), una: 0, high: None };
        Both { kernel, board: Scoreboard::default(), ours: HoleSack { holes }, nxt: 0, ended: false, clock: 0 }
    }
    /// Where a segment begins, or where the last one ends.
    fn edge(&self, segment: usize) -> u64 {
        if self.ended && segment == self.nxt { at(segment - 1) + LAST } else { at(segment) }
    }
    fn view(&self) -> View {
        View {
            una: self.edge(self.kernel.una),
            nxt: self.edge(self.nxt),
            mss: MSS,
            dupthresh: REORDERING as u32,
            phase: self.kernel.high.map_or(Phase::Open, |h| Phase::Recovery { high: self.edge(h) }),
            recovery_point: 0,
            limited_transmit: true,
            cwnd: 10.0 * MSS as f64,
            handshake_rtt: Dur(u64::MAX),
        }
    }
    fn send(&mut self, segments: usize) {
        self.clock += 1;
        for _ in 0..segments {
            self.board.push(at(self.nxt), MSS as u32, Time(self.clock));
            self.kernel.queue.push(Tags::default());
            self.nxt += 1;
        }
    }
    /// Sends the last segment, which is short.
    fn finish(&mut self) {
        self.clock += 1;
        self.board.push(at(self.nxt), LAST as u32, Time(self.clock));
        self.kernel.queue.push(Tags::default());
        self.nxt += 1;
        self.ended = true;
    }
    /// An ACK of everything below `ack`, with one block.
    fn hear(&mut self, ack: usize, block: Option<(usize, usize)>, what: &str) {
        let before = self.kernel.una;
        let phase = self.view().phase;
        self.kernel.queue.drain(..ack - before);
        self.kernel.una = ack;
        self.board.ack_to(self.edge(ack), 0);
        let bytes = ((ack - before) as u64) * MSS;
        let duplicate = ack == before;
        let mut a = Ack { ack: self.edge(ack), bytes, segments: (ack - before) as u32, duplicate, ..Ack::default() };
        let mut blocks = Vec::new();
        if let Some((from, to)) = block {
            let was_out = self.ended && to == self.nxt && !self.kernel.queue.last().is_some_and(|t| t.sacked);
            let news = self.kernel.sack(from, to) as u64 * MSS - if was_out { MSS - LAST } else { 0 };
            let block = (at(from), self.edge(to));
            assert_eq!(self.board.sack(block, 0, &mut false), news, "{what}");
            a.sacked = news;
            blocks.push(block);
        }
        let above = block.is_some_and(|b| self.kernel.high.is_some_and(|h| b.1 > h));
        if let Some((_, to)) = block {
            self.kernel.find_lost_retransmissions(to);
        }
        let view = View { phase, ..self.view() };
        let ours = self.ours.on_ack(&a, &blocks, &mut self.board, &view);
        // The kernel looks for a loss whenever the state is not open; ours on news.
        let theirs = if self.kernel.high.is_none() && a.sacked == 0 {
            Verdict::Nothing
        } else {
            self.kernel.alert(ack > before, above)
        };
        assert_eq!(ours, theirs, "{what}: verdict");
        self.compare(what);
    }
    fn compare(&mut self, what: &str) {
        self.board.audit(self.edge(self.kernel.una), self.edge(self.nxt)).unwrap_or_else(|e| panic!("{what}: {e}"));
        let flight = self.ours.in_flight(&self.board, &self.view());
        assert_eq!(flight, self.kernel.in_flight() as u64 * MSS, "{what}: in flight");
        let first = self.kernel.queue.iter().position(|t| t.lost && !t.retrans).map(|i| at(self.kernel.una + i));
        assert_eq!(self.board.next_lost().map(|s| s.start), first, "{what}: what is retransmitted next");
    }
    fn retransmit(&mut self) {
        if let Some(s) = self.board.next_lost() {
            self.clock += 1;
            self.board.retransmit(s.start, Time(self.clock));
            let i = ((s.start - 1) / MSS) as usize - self.kernel.una;
            let t = &mut self.kernel.queue[i];
            (t.retrans, t.ever_retrans, t.ack_seq) = (true, true, self.nxt);
        }
    }
}

fn episode(seed: u64, holes: Holes) {
    let mut r: Rng = Streams::new(seed).named("linux-sack");
    let mut b = Both::new(holes);
    let last = 40 + r.below(400);
    for step in 0..300 {
        let what = format!("seed {seed} step {step}");
        let out = b.kernel.queue.len();
        match r.below(10) {
            _ if step == last => b.finish(),
            0..=2 if out < 60 && step < last => b.send(1 + r.below(4) as usize),
            3..=5 if out > 1 => {
                let from = b.kernel.una + 1 + r.below(out as u64 - 1) as usize;
                let to = (from + 1 + r.below(3) as usize).min(b.nxt);
                b.hear(b.kernel.una, Some((from, to)), &what);
            }
            6..=7 => b.retransmit(),
            8 if out > 0 => {
                let mut n = 1 + r.below(1 + out as u64 / 6) as usize;
                while n < out && b.kernel.queue[n].sacked {
                    n += 1;
                }
                b.hear(b.kernel.una + n.min(out), None, &what);
            }
            _ => {}
        }
    }
}

#[test]
fn losses_and_flight_are_those_of_the_kernel() {
    for holes in [Holes::First, Holes::BelowForward] {
        (0..300).for_each(|seed| episode(seed, holes));
    }
}

#[test]
fn holes_count_as_in_flight_until_something_sent_later_is_sacked() {
    let mut b = Both::new(Holes::First);
    b.send(20);
    // Every second segment is lost.
    for i in (1..20).step_by(2) {
        b.hear(0, Some((i, i + 1)), "in the window");
    }
    assert_eq!(b.board.lost_bytes(), MSS, "only the first hole is held lost");
    assert_eq!(b.ours.in_flight(&b.board, &b.view()), 9 * MSS);
    b.send(1);
    b.hear(0, Some((20, 21)), "sent later");
    assert_eq!(b.board.lost_bytes(), 9 * MSS, "all but the last hole are");
}

#[test]
fn with_fack_all_holes_are_lost_and_so_is_a_retransmission_that_later_data_overtakes() {
    let mut b = Both::new(Holes::BelowForward);
    b.send(20);
    for i in (1..20).step_by(2) {
        b.hear(0, Some((i, i + 1)), "in the window");
    }
    assert_eq!(b.board.lost_bytes(), 9 * MSS, "all but the last hole are held lost");
    b.retransmit();
    b.send(1);
    assert_eq!(b.board.next_lost().map(|s| s.start), Some(at(2)));
    b.hear(0, Some((20, 21)), "sent after the retransmission");
    assert_eq!(b.board.next_lost().map(|s| s.start), Some(at(0)), "the first hole once more");
}

#[test]
fn a_short_last_segment_is_a_segment() {
    let mut b = Both::new(Holes::BelowForward);
    b.send(5);
    b.finish();
    for (from, to) in [(1, 2), (3, 4)] {
        b.hear(0, Some((from, to)), "every second one is lost");
    }
    b.retransmit();
    b.hear(0, Some((5, 6)), "the last one has arrived");
    assert_eq!(b.board.next_lost().map(|s| s.start), Some(at(2)), "three segments below it");
}
