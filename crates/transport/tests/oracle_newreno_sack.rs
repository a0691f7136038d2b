//! NewReno-SACK against the pseudo-code of [Gurtov 2004] section 4.3.1, in segments, on random ACKs of a toy receiver.

use crosswind_base::{Dur, Streams, Time};
use crosswind_transport::tcp::Ack;
use crosswind_transport::tcp::conn::scoreboard::Scoreboard;
use crosswind_transport::tcp::detect::pipe_sack::PipeSack;
use crosswind_transport::tcp::detect::{Detect, Phase, Release, Verdict, View};
use crosswind_transport::tcp::params::{NewRenoParams, TcpParams};
use crosswind_transport::tcp::preset::preset;
use std::collections::BTreeSet;

const MSS: u64 = 1000;

/// The variables of the text. Segments count from 0.
struct Plain {
    pipe: i64,
    cwnd: i64,
    una: u64,
    nxt: u64,
    sacked: BTreeSet<u64>,
    repaired: BTreeSet<u64>,
    on_partial: u32,
}

impl Plain {
    /// The lowest hole not yet repaired, below the highest segment reported.
    fn hole(&self) -> Option<u64> {
        let top = *self.sacked.last()?;
        (self.una..top).find(|s| !self.sacked.contains(s) && !self.repaired.contains(s))
    }
    /// An ACK during recovery; returns what is sent, in order.
    fn on_ack(&mut self, una: u64, sacked: &[u64]) -> Vec<u64> {
        let partial = una > self.una;
        self.una = una;
        self.sacked.extend(sacked);
        self.sacked = self.sacked.split_off(&una);
        let mut out = Vec::new();
        self.pipe -= 1;
        if partial {
            self.pipe -= 1;
            for _ in 0..self.on_partial {
                let first = (!self.repaired.contains(&una)).then_some(una);
                let Some(h) = self.hole().or(first) else { break };
                self.send(h, &mut out);
            }
        }
        while self.pipe < self.cwnd {
            let next = self.hole().unwrap_or(self.nxt);
            self.send(next, &mut out);
        }
        out
    }
    fn send(&mut self, segment: u64, out: &mut Vec<u64>) {
        if segment == self.nxt {
            self.nxt += 1;
        } else {
            self.repaired.insert(segment);
        }
        self.pipe += 1;
        out.push(segment);
    }
}

fn byte(segment: u64) -> u64 {
    1 + segment * MSS
}

/// SACK blocks of single segments and runs, in bytes.
fn blocks(segments: &BTreeSet<u64>) -> Vec<(u64, u64)> {
    let mut out: Vec<(u64, u64)> = Vec::new();
    for s in segments {
        match out.last_mut() {
            Some(b) if b.1 == byte(*s) => b.1 = byte(s + 1),
            _ => out.push((byte(*s), byte(s + 1))),
        }
    }
    out
}

/// The receiver takes a segment; returns the next one that it expects.
fn receive(segment: u64, mut next: u64, arrived: &mut BTreeSet<u64>) -> u64 {
    arrived.insert(segment);
    while arrived.remove(&next) {
        next += 1;
    }
    *arrived = arrived.split_off(&next);
    next
}

fn params(on_partial: u32) -> TcpParams {
    let newreno = NewRenoParams { partial_segments: on_partial, ..NewRenoParams::default() };
    preset("gurtov-newreno-sack").expect("a preset").with(|p| p.recovery.newreno = newreno)
}

fn episode(seed: u64) -> (usize, usize) {
    let mut r = Streams::new(seed).named("newreno-sack");
    let on_partial = 1 + (seed % 2) as u32;
    let p = params(on_partial).recovery;
    let (mut ours, mut board) = (PipeSack::newreno(&p.newreno, p.dupacks_after_timeout), Scoreboard::default());
    let n = 12 + r.below(30);
    (0..n).for_each(|i| board.push(byte(i), MSS as u32, Time(i)));
    let mut arrived = BTreeSet::new();
    let mut phase = Phase::Open;
    let (mut una, mut nxt, mut forced, mut steps) = (0, n, 0, 0);
    let (cwnd, mut plain) = ((n / 2) as i64, None::<Plain>);
    // Of the first flight the first segment is lost, and enough arrive to find that out.
    let mut queue: Vec<u64> = (0..n).filter(|i| *i >= n - 3 || (*i > 0 && r.chance(0.5))).collect();
    while !queue.is_empty() && steps < 400 {
        steps += 1;
        let before = una;
        una = receive(queue.remove(0), una, &mut arrived);
        let b = blocks(&arrived);
        board.ack_to(byte(una), 0);
        let a = Ack::with(Ack::default(), byte(una), (una - before) * MSS, 0);
        let v = View {
            una: byte(una),
            nxt: byte(nxt),
            mss: MSS,
            dupthresh: 3,
            phase,
            recovery_point: 0,
            limited_transmit: false,
            cwnd: cwnd as f64 * MSS as f64,
            handshake_rtt: Dur(u64::MAX),
        };
        let verdict = ours.on_ack(&a, &b, &mut board, &v);
        if verdict == Verdict::Recovered {
            break;
        }
        if verdict == Verdict::Loss {
            phase = Phase::Recovery { high: byte(nxt) };
            ours.on_sent(MSS);
            board.retransmit(byte(0), Time(0));
            // The text leaves open what `pipe` is at first; here as in ns-2.
            let pipe = nxt as i64 - 3;
            plain = Some(Plain { pipe, cwnd, una, nxt, sacked: arrived.clone(), repaired: [0].into(), on_partial });
            queue.push(0);
            continue;
        }
        let Some(plain) = &mut plain else { continue };
        let mut sent = Vec::new();
        while let Some(s) = ours.next_retransmission(Release::Ack, &mut board) {
            ours.on_sent(MSS);
            sent.push((s.start - 1) / MSS);
            forced += 1;
        }
        let view = |nxt| View { phase, nxt: byte(nxt), ..v };
        while ours.in_flight(&board, &view(nxt)) < cwnd as u64 * MSS {
            if let Some(s) = ours.next_retransmission(Release::Window, &mut board) {
                sent.push((s.start - 1) / MSS);
            } else {
                board.push(byte(nxt), MSS as u32, Time(steps));
                sent.push(nxt);
                nxt += 1;
            }
            ours.on_sent(MSS);
        }
        let fresh: Vec<u64> = arrived.iter().copied().collect();
        assert_eq!(sent, plain.on_ack(una, &fresh), "seed {seed} step {steps}");
        // A retransmission is sometimes lost as well.
        queue.extend(sent.into_iter().filter(|_| !r.chance(0.1)));
    }
    (steps as usize, forced)
}

#[test]
fn what_is_sent_on_every_ack_of_a_recovery_is_what_the_pseudo_code_sends() {
    let (steps, forced) = (0..500).map(episode).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert!(steps > 5_000 && forced > 1_000, "{steps} {forced}");
}
