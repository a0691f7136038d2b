//! The kernel's tags and counters for SACK without FACK, segment by segment, beside [`super::LinuxSack`] on random traces.

use super::super::super::Ack;
use super::super::super::conn::scoreboard::Scoreboard;
use super::super::{Detect, Phase, Verdict, View};
use super::LinuxSack;
use crosswind_base::{Rng, Streams, Time};

const MSS: u64 = 500;
const REORDERING: usize = 3;

#[derive(Clone, Copy, Default)]
struct Tags {
    sacked: bool,
    lost: bool,
    retrans: bool,
}

/// Segments that are out, from the first unacknowledged one, and the state of the recovery.
#[derive(Default)]
struct Kernel {
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
            // What was sent again and is not tagged lost stays in flight in the kernel; nothing is sent again untagged here.
            *t = Tags { sacked: true, lost: false, retrans: false };
        }
        news
    }
    /// `tcp_fastretrans_alert`, as far as it finds losses. `above`: a block ends above the point of recovery.
    fn alert(&mut self, advanced: bool, above: bool) -> Verdict {
        let next = self.una + self.queue.len();
        let Some(high) = self.high else {
            if self.fackets_out() <= REORDERING {
                return Verdict::Nothing;
            }
            self.high = Some(next);
            self.mark_head_lost(1, next);
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
            self.mark_head_lost(1, high);
        }
        if advanced { Verdict::Partial } else { Verdict::Nothing }
    }
}

struct Both {
    kernel: Kernel,
    board: Scoreboard,
    ours: LinuxSack,
    nxt: usize,
}

fn at(segment: usize) -> u64 {
    1 + segment as u64 * MSS
}

impl Both {
    fn view(&self) -> View {
        View {
            una: at(self.kernel.una),
            nxt: at(self.nxt),
            mss: MSS,
            dupthresh: REORDERING as u32,
            phase: self.kernel.high.map_or(Phase::Open, |h| Phase::Recovery { high: at(h) }),
            guard: 0,
            limited_transmit: true,
            cwnd: 10.0 * MSS as f64,
        }
    }
    fn send(&mut self, segments: usize) {
        for _ in 0..segments {
            self.board.push(at(self.nxt), MSS as u32, Time(self.nxt as u64));
            self.kernel.queue.push(Tags::default());
            self.nxt += 1;
        }
    }
    /// An ACK of everything below `ack`, with one block.
    fn hear(&mut self, ack: usize, block: Option<(usize, usize)>, what: &str) {
        let before = self.kernel.una;
        let phase = self.view().phase;
        self.kernel.queue.drain(..ack - before);
        self.kernel.una = ack;
        self.board.ack_to(at(ack), 0);
        let bytes = ((ack - before) as u64) * MSS;
        let mut a = Ack { ack: at(ack), bytes, segments: (ack - before) as u32, ..Ack::default() };
        let mut blocks = Vec::new();
        if let Some((from, to)) = block {
            let news = self.kernel.sack(from, to) as u64 * MSS;
            assert_eq!(self.board.sack((at(from), at(to)), 0, &mut false), news, "{what}");
            a.sacked = news;
            blocks.push((at(from), at(to)));
        }
        let above = block.is_some_and(|b| self.kernel.high.is_some_and(|h| b.1 > h));
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
        self.board.audit(at(self.kernel.una), at(self.nxt)).unwrap_or_else(|e| panic!("{what}: {e}"));
        let flight = self.ours.in_flight(&self.board, &self.view());
        assert_eq!(flight, self.kernel.in_flight() as u64 * MSS, "{what}: in flight");
        let first = self.kernel.queue.iter().position(|t| t.lost && !t.retrans).map(|i| at(self.kernel.una + i));
        assert_eq!(self.board.next_lost().map(|s| s.start), first, "{what}: what is sent again next");
    }
    fn resend(&mut self) {
        if let Some(s) = self.board.next_lost() {
            self.board.resend(s.start, s.sent_at);
            let i = ((s.start - 1) / MSS) as usize - self.kernel.una;
            self.kernel.queue[i].retrans = true;
        }
    }
}

fn episode(seed: u64) {
    let mut r: Rng = Streams::new(seed).named("linux-sack");
    let mut b = Both { kernel: Kernel::default(), board: Scoreboard::default(), ours: LinuxSack, nxt: 0 };
    for step in 0..300 {
        let what = format!("seed {seed} step {step}");
        let out = b.kernel.queue.len();
        match r.below(10) {
            0..=2 if out < 60 => b.send(1 + r.below(4) as usize),
            3..=5 if out > 1 => {
                let from = b.kernel.una + 1 + r.below(out as u64 - 1) as usize;
                let to = (from + 1 + r.below(3) as usize).min(b.nxt);
                b.hear(b.kernel.una, Some((from, to)), &what);
            }
            6..=7 => b.resend(),
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
    (0..300).for_each(episode);
}

#[test]
fn holes_count_as_in_flight_until_something_sent_later_is_sacked() {
    let mut b = Both { kernel: Kernel::default(), board: Scoreboard::default(), ours: LinuxSack, nxt: 0 };
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
