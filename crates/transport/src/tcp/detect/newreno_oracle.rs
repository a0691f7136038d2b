//! The two heuristics for duplicates after a timeout against the pseudo-code of [Gurtov 2004] section 4.5, in segments.

use super::newreno::NewReno;
use super::table::{NS2_NEWRENO, NS2_RENO};
use super::{Detect, Phase, Verdict, View};
use crate::tcp::choices::{DuplicatesRule, SackAfterTimeout};
use crate::tcp::conn::scoreboard::Scoreboard;
use crate::tcp::facts::Ack;
use crate::tcp::params::TcpParams;
use crate::tcp::preset::preset;
use crosswind_base::{Dur, Streams, Time};

const MSS: u64 = 1000;

/// The variables of the text; segments count from 1, `highest_ack` is the last one acknowledged.
struct Plain {
    rule: DuplicatesRule,
    recover: u64,
    prev_highest_ack: u64,
    highest_ack: u64,
    tss: Vec<u64>,
    last_tsecr: u64,
    dupacks: u32,
}

impl Plain {
    fn on_ack(&mut self, ack: u64, tsecr: u64, cwnd: f64) -> bool {
        if ack > self.highest_ack {
            self.prev_highest_ack = self.highest_ack;
            self.highest_ack = ack;
            self.last_tsecr = tsecr;
            self.dupacks = 0;
            return false;
        }
        self.dupacks += 1;
        if self.dupacks != 3 {
            return false;
        }
        if self.highest_ack > self.recover {
            return true;
        }
        match self.rule {
            DuplicatesRule::Bugfix => false,
            DuplicatesRule::NoBugfix => true,
            _ if cwnd <= 1.0 => false,
            DuplicatesRule::AckHeuristic => self.highest_ack - self.prev_highest_ack <= 3,
            DuplicatesRule::TimestampHeuristic => self.last_tsecr == self.tss[self.highest_ack as usize],
        }
    }
}

fn params(rule: DuplicatesRule) -> TcpParams {
    preset("ns2-newreno").expect("a preset").with(|p| p.recovery.dupacks_after_timeout = rule)
}

const RULES: [DuplicatesRule; 4] = [
    DuplicatesRule::Bugfix,
    DuplicatesRule::NoBugfix,
    DuplicatesRule::AckHeuristic,
    DuplicatesRule::TimestampHeuristic,
];

#[test]
fn every_third_duplicate_means_what_it_does_in_the_pseudo_code() {
    let mut found = [[0; 2]; 4];
    for seed in 0..4000 {
        let mut r = Streams::new(seed).named("heuristics");
        let which = seed as usize % 4;
        let p = params(RULES[which]);
        let (rule, tick) = (p.recovery.dupacks_after_timeout, p.connection.timestamp_tick);
        let mut ours = NewReno::new(NS2_NEWRENO, &p.recovery.newreno, rule, tick);
        let n = 30 + r.below(20);
        // Segment i was sent at tss[i] milliseconds; some twice.
        let tss: Vec<u64> = (0..=n).map(|_| r.below(6)).collect();
        let mut board = Scoreboard::default();
        (1..=n).for_each(|i| board.push(1 + (i - 1) * MSS, MSS as u32, Time(tss[i as usize] * 1_000_000)));
        board.mark_all_lost(SackAfterTimeout::Clear, u64::MAX);
        let recover = 5 + r.below(n);
        let mut plain =
            Plain { rule: RULES[which], recover, prev_highest_ack: 0, highest_ack: 0, tss, last_tsecr: 0, dupacks: 0 };
        // A timeout has occurred, nothing is acknowledged yet: the first ACK advances.
        let mut first = true;
        for step in 0..40 {
            let advances = first || r.chance(0.25);
            first = false;
            let ack = if advances { plain.highest_ack + 1 + r.below(6) } else { plain.highest_ack };
            if ack >= n {
                break;
            }
            let cwnd = [1.0, 2.0, 5.5][r.below(3) as usize];
            let tsecr = r.below(6);
            let una = 1 + ack * MSS;
            let mut below_sent_at = Time::ZERO;
            if advances {
                below_sent_at = board.ack_to(una, 0).last_sent_at;
            }
            let bytes = if advances { (ack - plain.highest_ack) * MSS } else { 0 };
            let want = plain.on_ack(ack, tsecr, cwnd);
            let a = Ack {
                ack: una,
                bytes,
                duplicate: !advances,
                ts_ecr: tsecr as u32 + 1,
                below_sent_at,
                ..Ack::default()
            };
            let high = 1 + n * MSS;
            let v = View {
                una,
                nxt: high,
                mss: MSS,
                dupthresh: 3,
                phase: Phase::Timeout { high },
                recovery_point: 1 + recover * MSS,
                limited_transmit: true,
                cwnd: cwnd * MSS as f64,
                handshake_rtt: Dur(u64::MAX),
            };
            let got = ours.on_ack(&a, &[], &mut board, &v) == Verdict::Loss;
            assert_eq!(got, want, "seed {seed} step {step} {:?}", RULES[which]);
            if plain.dupacks == 3 && plain.highest_ack <= recover {
                found[which][usize::from(want)] += 1;
            }
            if want {
                // A recovery would begin; the case is closed.
                break;
            }
        }
    }
    assert_eq!((found[0][1], found[1][0]), (0, 0));
    assert!(found[2].iter().chain(&found[3]).all(|n| *n > 50), "{found:?}");
}

#[test]
fn without_the_bugfix_a_retransmitted_segment_may_be_found_lost_once_more() {
    for (rule, found) in [(DuplicatesRule::NoBugfix, true), (DuplicatesRule::Bugfix, false)] {
        let p = params(rule);
        let mut ours =
            NewReno::new(NS2_RENO, &p.recovery.newreno, p.recovery.dupacks_after_timeout, p.connection.timestamp_tick);
        let mut board = Scoreboard::default();
        (0..8).for_each(|i| board.push(1 + i * MSS, MSS as u32, Time::ZERO));
        // A timeout has sent it again, and a recovery since has left the phase open.
        board.mark_all_lost(SackAfterTimeout::Clear, u64::MAX);
        board.retransmit(1, Time::ZERO);
        let (una, nxt) = (1, 1 + 8 * MSS);
        let recovery_point = if found { nxt } else { nxt + MSS };
        let (phase, cwnd) = (Phase::Open, 4.0 * MSS as f64);
        let v = View {
            una: una + MSS,
            nxt,
            mss: MSS,
            dupthresh: 3,
            phase,
            recovery_point,
            limited_transmit: true,
            cwnd,
            handshake_rtt: Dur(u64::MAX),
        };
        let duplicate = Ack { ack: una, duplicate: true, ..Ack::default() };
        let last = (0..3).map(|_| ours.on_ack(&duplicate, &[], &mut board, &v)).last();
        assert_eq!(last == Some(Verdict::Loss), found, "{rule:?}");
    }
}
