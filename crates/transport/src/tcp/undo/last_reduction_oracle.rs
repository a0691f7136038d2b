//! The counters of Linux (`undo_marker`, `undo_retrans`, `retrans_stamp`) beside ours, on random recoveries and timeouts: is the reduction undone?

use super::last_reduction::{LastReduction, Standing, Undo};
use crate::tcp::facts::Ack;
use crosswind_base::Streams;

const MSS: u64 = 1000;

/// `struct tcp_sock`, as far as undo goes. Counts are segments; -1: nothing has been retransmitted.
#[derive(Default)]
struct Kernel {
    undo_marker: u64,
    undo_retrans: i64,
    retrans_stamp: u32,
}

impl Kernel {
    /// `tcp_init_undo`; the stamp is cleared in the state Open alone.
    fn init(&mut self, una: u64, retrans_out: u64) {
        self.undo_marker = una;
        self.undo_retrans = if retrans_out == 0 { -1 } else { retrans_out as i64 };
    }
    /// `tcp_retransmit_skb`.
    fn retransmit(&mut self, stamp: u32) {
        if self.retrans_stamp == 0 {
            self.retrans_stamp = stamp;
        }
        self.undo_retrans = self.undo_retrans.max(0) + 1;
    }
    /// `tcp_check_dsack`, `tcp_sacktag_one`.
    fn dsack(&mut self, end_seq: u64) {
        if self.undo_marker != 0 && self.undo_retrans > 0 && end_seq > self.undo_marker {
            self.undo_retrans -= 1;
        }
    }
    /// `tcp_packet_delayed`.
    fn packet_delayed(&self, tsecr: u32) -> bool {
        self.retrans_stamp != 0 && tsecr != 0 && tsecr < self.retrans_stamp
    }
    fn undo(&mut self) -> bool {
        self.undo_marker = 0;
        true
    }
    /// `tcp_try_undo_recovery`, when everything is acknowledged.
    fn try_undo_recovery(&mut self, tsecr: u32) -> bool {
        let may = self.undo_marker != 0 && (self.undo_retrans == 0 || self.packet_delayed(tsecr));
        may && self.undo()
    }
    /// `tcp_process_loss`: `tcp_try_undo_loss`, then `tcp_try_undo_recovery`.
    fn process_loss(&mut self, advances: bool, tsecr: u32, recovered: bool) -> bool {
        let may = self.undo_marker != 0 && (self.undo_retrans == 0 || self.packet_delayed(tsecr));
        advances && may && self.undo() || recovered && self.try_undo_recovery(tsecr)
    }
    /// `tcp_try_undo_partial`.
    fn try_undo_partial(&mut self, tsecr: u32, retrans_out: bool) -> bool {
        self.undo_marker != 0 && self.packet_delayed(tsecr) && !retrans_out && self.undo()
    }
    /// `tcp_try_undo_dsack`.
    fn try_undo_dsack(&mut self) -> bool {
        self.undo_marker != 0 && self.undo_retrans == 0 && self.undo()
    }
}

/// Where the kernel stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Recovery,
    Loss,
    Open,
}

/// A recovery or the repair of a timeout in up to twenty steps, and what comes after it; how it ended, if it was undone.
fn episode(seed: u64) -> Option<Standing> {
    let mut r = Streams::new(seed).named("undo");
    let (mut ours, mut kernel) = (LastReduction::default(), Kernel::default());
    let mut una = 1 + MSS * (1 + (r.uniform() * 5.0) as u64);
    let before = una;
    let retrans_out = u64::from(r.chance(0.2));
    ours.begin(Undo::Both, una, retrans_out * MSS);
    kernel.init(una, retrans_out);
    let mut state = if r.chance(0.5) { State::Recovery } else { State::Loss };
    // What had been acknowledged when the timer expired last.
    let mut expired_at = una;
    let mut clock = 1000u32;
    for _ in 0..2 + (r.uniform() * 18.0) as u32 {
        clock += 1 + (r.uniform() * 3.0) as u32;
        if state != State::Open && r.chance(0.1) {
            // The timer expires: a reduction of its own only after progress (`tcp_enter_loss`).
            if state == State::Loss && una > expired_at {
                let out = u64::from(r.chance(0.2));
                ours.begin_again(Undo::Both, una, out * MSS);
                kernel.init(una, out);
            }
            (state, expired_at) = (State::Loss, una);
        }
        if state != State::Open && r.chance(0.5) {
            ours.on_retransmission(MSS, clock);
            kernel.retransmit(clock);
        }
        let advances = r.chance(0.5);
        let is_report = r.chance(0.5);
        // Reports of what was sent before the reduction do not count.
        let twice_end = if r.chance(0.8) { una + MSS } else { before };
        let tsecr = if r.chance(0.7) { clock - 1 } else { 990 + (r.uniform() * 20.0) as u32 };
        let is_out = r.chance(0.5);
        una += MSS * u64::from(advances);
        let ends = advances && r.chance(0.2);
        let a = Ack {
            ack: una,
            bytes: MSS * u64::from(advances),
            ts_ecr: tsecr,
            reported_twice: MSS * u64::from(is_report),
            twice_end: if is_report { twice_end } else { 0 },
            ..Ack::default()
        };
        let standing = match state {
            State::Open => Standing::Later,
            State::Loss => Standing::TimedOut,
            State::Recovery if ends => Standing::Ending,
            State::Recovery => Standing::Recovering { is_out },
        };
        if is_report {
            kernel.dsack(twice_end);
        }
        let expected = match standing {
            Standing::Ending => kernel.try_undo_recovery(tsecr),
            Standing::TimedOut => kernel.process_loss(advances, tsecr, ends),
            Standing::Recovering { is_out } => {
                (advances && kernel.try_undo_partial(tsecr, is_out)) || (is_report && kernel.try_undo_dsack())
            }
            Standing::Later => is_report && kernel.try_undo_dsack(),
        };
        assert_eq!(ours.on_ack(&a, standing), expected, "seed {seed}: {a:?} {standing:?}");
        if expected {
            return Some(standing);
        }
        if ends && state != State::Open {
            state = State::Open;
        }
    }
    None
}

#[test]
fn a_reduction_is_undone_when_the_kernel_undoes_it() {
    let ends: Vec<_> = (0..6000).filter_map(episode).collect();
    for standing in [Standing::Recovering { is_out: false }, Standing::Ending, Standing::TimedOut, Standing::Later] {
        let n = ends.iter().filter(|s| **s == standing).count();
        assert!(n > 100, "{standing:?}: {n}");
    }
}

#[test]
fn each_rule_looks_at_its_own_facts() {
    let late = Ack { bytes: MSS, ack: 2001, ts_ecr: 99, ..Ack::default() };
    let report = Ack { reported_twice: MSS, twice_end: 2001, ..Ack::default() };
    for standing in [Standing::Ending, Standing::TimedOut] {
        let undoes = |rule, a: &Ack| {
            let mut last = LastReduction::default();
            last.begin(rule, 1001, 0);
            last.on_retransmission(MSS, 100);
            last.on_ack(a, standing)
        };
        // After a timeout an ACK has to advance, too.
        let report = Ack { bytes: MSS * u64::from(standing == Standing::TimedOut), ..report };
        assert_eq!([&late, &report].map(|a| undoes(Undo::Dsack, a)), [false, true]);
        assert_eq!([&late, &report].map(|a| undoes(Undo::Timestamps, a)), [true, false]);
        assert_eq!([&late, &report].map(|a| undoes(Undo::Both, a)), [true, true]);
        assert_eq!([&late, &report].map(|a| undoes(Undo::Off, a)), [false, false]);
        assert!(!undoes(Undo::Both, &Ack { ts_ecr: 100, ..late }), "the retransmission itself");
    }
}
