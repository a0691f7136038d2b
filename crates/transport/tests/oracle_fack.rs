//! FACK against the sentences of its paper: `awnd = nxt - fack + retransmitted`, when recovery begins, what is sent next.

use crosswind_base::{Dur, Streams, Time};
use crosswind_transport::tcp::Ack;
use crosswind_transport::tcp::conn::scoreboard::Scoreboard;
use crosswind_transport::tcp::detect::fack::Fack;
use crosswind_transport::tcp::detect::{Detect, Phase, Verdict, View};

const MSS: u64 = 1000;

#[derive(Clone, Copy)]
struct Segment {
    sacked: bool,
    retransmitted: bool,
}

/// The sender's variables, in segments.
struct Plain {
    window: Vec<Segment>,
    una: u64,
    dups: u32,
    recover: Option<u64>,
}

impl Plain {
    fn fack(&self) -> u64 {
        self.una + self.window.iter().rposition(|s| s.sacked).map_or(0, |i| i as u64 + 1)
    }
    fn nxt(&self) -> u64 {
        self.una + self.window.len() as u64
    }
    fn awnd(&self) -> u64 {
        let retran_data = self.window.iter().filter(|s| s.retransmitted && !s.sacked).count() as u64;
        self.nxt() - self.fack() + retran_data
    }
    fn next_hole(&self) -> Option<u64> {
        let below = (self.fack() - self.una) as usize;
        self.window[..below].iter().position(|s| !s.sacked && !s.retransmitted).map(|i| self.una + i as u64)
    }
    fn ack(&mut self, una: u64) {
        self.window.drain(..(una - self.una) as usize);
        (self.una, self.dups) = (una, 0);
        if self.recover.is_some_and(|r| una >= r) {
            self.recover = None;
        }
    }
    fn sack(&mut self, from: u64, to: u64) -> bool {
        let range = (from - self.una) as usize..(to - self.una) as usize;
        let fresh = self.window[range.clone()].iter().any(|s| !s.sacked);
        self.window[range].iter_mut().for_each(|s| s.sacked = true);
        self.dups += u32::from(fresh);
        let begins = self.recover.is_none() && fresh && (self.fack() - self.una > 3 || self.dups >= 3);
        if begins {
            self.recover = Some(self.nxt());
        }
        begins
    }
}

fn byte(segment: u64) -> u64 {
    1 + segment * MSS
}

fn episode(seed: u64) -> u32 {
    let mut r = Streams::new(seed).named("fack");
    let (mut fack, mut board) = (Fack::default(), Scoreboard::default());
    let mut plain = Plain { window: Vec::new(), una: 0, dups: 0, recover: None };
    let mut recoveries = 0;
    for step in 0..300 {
        let what = format!("seed {seed} step {step}");
        let phase = plain.recover.map_or(Phase::Open, |h| Phase::Recovery { high: byte(h) });
        let view = |plain: &Plain, phase| View {
            una: byte(plain.una),
            nxt: byte(plain.nxt()),
            mss: MSS,
            dupthresh: 3,
            phase,
            recovery_point: 0,
            limited_transmit: true,
            cwnd: 20_000.0,
            handshake_rtt: Dur(u64::MAX),
        };
        match r.below(10) {
            0..=2 if plain.window.len() < 40 => {
                for _ in 0..=r.below(6) {
                    board.push(byte(plain.nxt()), MSS as u32, Time(step));
                    plain.window.push(Segment { sacked: false, retransmitted: false });
                }
            }
            3..=6 if plain.window.len() > 1 => {
                let from = plain.una + 1 + r.below(plain.window.len() as u64 - 1);
                let to = (from + 1 + r.below(3)).min(plain.nxt());
                let sacked = board.sack((byte(from), byte(to)), 0, &mut false);
                let want = plain.sack(from, to);
                let a = Ack::default();
                let a = Ack::with(a, byte(plain.una), 0, sacked);
                let got = fack.on_ack(&a, &[], &mut board, &view(&plain, phase));
                assert_eq!(got == Verdict::Loss, want, "{what}: recovery");
                recoveries += u32::from(want);
            }
            7 if !plain.window.is_empty() => {
                let mut una = plain.una + 1 + r.below(plain.window.len() as u64);
                while una < plain.nxt() && plain.window[(una - plain.una) as usize].sacked {
                    una += 1;
                }
                let bytes = (una - plain.una) * MSS;
                board.ack_to(byte(una), 0);
                plain.ack(una);
                let a = Ack::with(Ack::default(), byte(una), bytes, 0);
                fack.on_ack(&a, &[], &mut board, &view(&plain, phase));
            }
            _ if plain.recover.is_some() => {
                assert_eq!(board.next_lost().map(|s| s.start), plain.next_hole().map(byte), "{what}: next");
                if let Some(h) = plain.next_hole() {
                    board.retransmit(byte(h), Time(step));
                    plain.window[(h - plain.una) as usize].retransmitted = true;
                }
            }
            _ => {}
        }
        let phase = plain.recover.map_or(Phase::Open, |h| Phase::Recovery { high: byte(h) });
        assert_eq!(fack.in_flight(&board, &view(&plain, phase)), plain.awnd() * MSS, "{what}: awnd");
    }
    recoveries
}

#[test]
fn window_in_the_network_start_of_recovery_and_next_hole_are_those_of_the_paper() {
    let recoveries: u32 = (0..300).map(episode).sum();
    assert!(recoveries > 1000, "{recoveries}");
}
