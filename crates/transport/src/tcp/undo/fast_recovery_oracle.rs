//! The counters of Linux (`undo_marker`, `undo_retrans`, `retrans_stamp`) beside ours, on random recoveries: is the reduction undone?

use super::fast_recovery::{FastRecovery, RecoveryUndo, Standing};
use crate::tcp::Ack;
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
    /// `tcp_init_undo`.
    fn init(&mut self, una: u64, retrans_out: u64) {
        (self.undo_marker, self.retrans_stamp) = (una, 0);
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
    /// `tcp_try_undo_partial`.
    fn try_undo_partial(&mut self, tsecr: u32, retrans_out: bool) -> bool {
        self.undo_marker != 0 && self.packet_delayed(tsecr) && !retrans_out && self.undo()
    }
    /// `tcp_try_undo_dsack`.
    fn try_undo_dsack(&mut self) -> bool {
        self.undo_marker != 0 && self.undo_retrans == 0 && self.undo()
    }
}

/// One recovery of up to twelve segments and what comes after it; returns how it ended.
fn recovery(seed: u64) -> [u32; 3] {
    let mut r = Streams::new(seed).named("undo");
    let (mut ours, mut kernel) = (FastRecovery::asked_for(RecoveryUndo::Both).expect("it is on"), Kernel::default());
    let mut una = 1 + MSS * (1 + (r.uniform() * 5.0) as u64);
    let before = una;
    let retrans_out = u64::from(r.chance(0.2));
    ours.begin(una, retrans_out * MSS);
    kernel.init(una, retrans_out);
    let (mut clock, mut undone) = (1000u32, [0; 3]);
    let mut steps = 2 + (r.uniform() * 12.0) as u32;
    let mut is_over = false;
    while steps > 0 {
        steps -= 1;
        clock += 1 + (r.uniform() * 3.0) as u32;
        if !is_over && r.chance(0.5) {
            ours.on_retransmission(MSS, clock);
            kernel.retransmit(clock);
        }
        let advances = r.chance(0.5);
        let is_report = r.chance(0.5);
        // Reports of what was sent before the recovery do not count.
        let twice_end = if r.chance(0.8) { una + MSS } else { before };
        let tsecr = if r.chance(0.7) { clock - 1 } else { 990 + (r.uniform() * 20.0) as u32 };
        let is_out = r.chance(0.5);
        una += MSS * u64::from(advances);
        let a = Ack {
            ack: una,
            bytes: MSS * u64::from(advances),
            ts_ecr: tsecr,
            reported_twice: MSS * u64::from(is_report),
            twice_end: if is_report { twice_end } else { 0 },
            ..Ack::default()
        };
        let standing = match is_over {
            true => Standing::Later,
            false if advances && r.chance(0.2) => Standing::Ending,
            false => Standing::Recovering { is_out },
        };
        if is_report {
            kernel.dsack(twice_end);
        }
        let expected = match standing {
            Standing::Ending => kernel.try_undo_recovery(tsecr),
            Standing::Recovering { is_out } => {
                (advances && kernel.try_undo_partial(tsecr, is_out)) || (is_report && kernel.try_undo_dsack())
            }
            Standing::Later => is_report && kernel.try_undo_dsack(),
        };
        assert_eq!(ours.on_ack(&a, standing), expected, "seed {seed}: {a:?} {standing:?}");
        if expected {
            undone[match standing {
                Standing::Recovering { .. } => 0,
                Standing::Ending => 1,
                Standing::Later => 2,
            }] += 1;
            return undone;
        }
        is_over |= standing == Standing::Ending;
    }
    undone
}

#[test]
fn a_reduction_is_undone_when_the_kernel_undoes_it() {
    let counts = (0..4000).map(recovery).fold([0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
    assert!(counts.iter().all(|n| *n > 100), "in a recovery, at its end, later: {counts:?}");
}

#[test]
fn each_rule_looks_at_its_own_facts() {
    let late = Ack { bytes: MSS, ack: 2001, ts_ecr: 99, ..Ack::default() };
    let report = Ack { reported_twice: MSS, twice_end: 2001, ..Ack::default() };
    let undoes = |rule, a: &Ack| {
        let mut f = FastRecovery::asked_for(rule).expect("it is on");
        f.begin(1001, 0);
        f.on_retransmission(MSS, 100);
        f.on_ack(a, Standing::Ending)
    };
    assert_eq!([&late, &report].map(|a| undoes(RecoveryUndo::Dsack, a)), [false, true]);
    assert_eq!([&late, &report].map(|a| undoes(RecoveryUndo::Timestamps, a)), [true, false]);
    assert_eq!([&late, &report].map(|a| undoes(RecoveryUndo::Both, a)), [true, true]);
    assert!(!undoes(RecoveryUndo::Both, &Ack { ts_ecr: 100, ..late }), "the retransmission itself");
    assert!(FastRecovery::asked_for(RecoveryUndo::Off).is_none());
}
