//! The receiver against a set of bytes: what is next, when an ACK is due at once, which SACK blocks and in which order.

use crosswind_base::{Packet, Streams, TcpFlags, Time};
use crosswind_transport::tcp::conn::receiver::{AckNow, Receiver};
use crosswind_transport::tcp::{TcpParams, preset};
use std::collections::BTreeMap;

/// Every byte that has arrived, with the number of the latest segment that brought it.
struct Plain {
    bytes: BTreeMap<u64, u64>,
    next: u64,
    arrivals: u64,
    /// In-order segments since the last ACK.
    waiting: u32,
}

impl Plain {
    fn new() -> Plain {
        Plain { bytes: BTreeMap::new(), next: 1, arrivals: 0, waiting: 0 }
    }

    /// RFC 5681 section 4.2: at once for a duplicate, out of order, or filling a gap; else every second segment.
    fn on_segment(&mut self, left: u64, right: u64) -> AckNow {
        self.arrivals += 1;
        let gap_before = self.bytes.keys().next_back().is_some_and(|last| *last >= self.next);
        let (duplicate, out_of_order) = (right <= self.next, left > self.next);
        for b in left..right {
            self.bytes.insert(b, self.arrivals);
        }
        while self.bytes.contains_key(&self.next) {
            self.next += 1;
        }
        if duplicate || out_of_order || gap_before {
            return AckNow::Yes;
        }
        self.waiting += 1;
        if self.waiting >= 2 { AckNow::Yes } else { AckNow::Later }
    }

    /// RFC 2018 section 4: isolated runs above `next`; the one that the latest segment fell in comes first.
    fn blocks(&self, most: usize) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64, u64)> = Vec::new();
        for (&b, &when) in self.bytes.range(self.next..) {
            match runs.last_mut() {
                Some(r) if r.1 == b => {
                    r.1 = b + 1;
                    r.2 = r.2.max(when);
                }
                _ => runs.push((b, b + 1, when)),
            }
        }
        runs.sort_by_key(|r| std::cmp::Reverse(r.2));
        runs.iter().take(most).map(|r| (r.0, r.1)).collect()
    }
}

fn params() -> TcpParams {
    preset::preset("rfc").expect("a preset of that name")
}

fn segment(left: u64, right: u64) -> Packet {
    Packet { seq: left, payload: (right - left) as u16, flags: TcpFlags::ACK, ..Packet::default() }
}

#[test]
fn reassembly_acknowledgement_and_blocks_are_those_of_a_set_of_bytes() {
    let p = params();
    for seed in 0..200 {
        let mut r = Streams::new(seed).named("receiver");
        let mut ours = Receiver::new(&p);
        ours.next = 1;
        let mut plain = Plain::new();
        // Half of the seeds cut segments anywhere, as a peer with another segment size would.
        let grid = if seed % 2 == 0 { 10 } else { 1 };
        for step in 0..300 {
            let at = plain.next / grid * grid;
            let farthest = if r.chance(0.5) { 3 } else { 25 };
            let offset = r.below(farthest) * 10 / grid * grid;
            let back = if r.chance(0.1) { r.below(40) / grid * grid } else { 0 };
            let left = (at + 1 % grid + offset).saturating_sub(back).max(1);
            let right = left + if grid == 10 { 10 } else { 1 + r.below(30) };
            let what = format!("seed {seed} step {step} segment {left}:{right}");
            let now = Time(step * 1_000_000);
            let want = plain.on_segment(left, right);
            assert_eq!(ours.on_segment(&segment(left, right), &p, now), want, "{what}");
            assert_eq!(ours.next, plain.next, "{what}");
            assert_eq!(ours.delivered(), plain.next - 1, "{what}");
            for most in [3, 4] {
                assert_eq!(
                    ours.sack_blocks(most).unwrap_or_default().as_slice(),
                    plain.blocks(most as usize),
                    "{what}"
                );
            }
            assert_eq!(ours.buffered(), plain.bytes.range(plain.next..).count() as u64, "{what}");
            let probe = 1 + r.below(plain.next + 300);
            let has = (probe..probe + 10).all(|b| b < plain.next || plain.bytes.contains_key(&b));
            if probe + 10 <= plain.next || probe > plain.next {
                assert_eq!(ours.has(probe, probe + 10), has, "{what}: {probe}");
            }
            if want == AckNow::Yes {
                ours.acked();
                plain.waiting = 0;
                assert_eq!(ours.delack_at, Time::NEVER, "{what}");
            } else {
                assert_ne!(ours.delack_at, Time::NEVER, "{what}");
            }
        }
    }
}

#[test]
fn the_right_edge_of_the_window_never_moves_back() {
    // RFC 9293 section 3.8.6: what waits out of order lies inside the window that was offered for it.
    let p = params();
    let mut rx = Receiver::new(&p);
    rx.next = 1;
    let mut edge = 0;
    let mut r = Streams::new(1).named("edge");
    for step in 0..1000 {
        let left = rx.next + 100 * r.below(20);
        rx.on_segment(&segment(left, left + 100), &p, Time(step));
        let now = rx.next + rx.window(&p);
        assert!(now >= edge, "step {step}: {now} after {edge}");
        edge = now;
    }
}

#[test]
fn a_fin_behind_a_hole_counts_when_the_hole_is_filled() {
    let p = params();
    let mut rx = Receiver::new(&p);
    rx.next = 1;
    let fin = Packet { flags: TcpFlags::ACK.with(TcpFlags::FIN), ..segment(101, 201) };
    assert_eq!(rx.on_segment(&fin, &p, Time(1)), AckNow::Yes);
    assert!(!rx.fin_reached());
    assert_eq!(rx.sack_blocks(3).unwrap_or_default().as_slice(), [(101, 202)]);
    rx.on_segment(&segment(1, 101), &p, Time(2));
    assert!(rx.fin_reached());
    assert_eq!((rx.next, rx.delivered()), (202, 200));
}
