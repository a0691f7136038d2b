//! Held SACKs against a model of Linux' rules, on random losses, orders and gaps.

use crosswind_base::{Dur, Packet, Streams, TcpFlags, Time};
use crosswind_transport::tcp::TcpParams;
use crosswind_transport::tcp::conn::receiver::{AckNow, Receiver};
use crosswind_transport::tcp::conn::sack_compression::SackCompression;
use crosswind_transport::tcp::preset::preset;
use std::collections::BTreeSet;

const MSS: u64 = 1000;
const LONGEST_US: u64 = 1000;

fn params(longest: Dur) -> TcpParams {
    preset("linux-6").expect("a preset").with(|p| {
        p.receiver.quick_acks = 0;
        p.receiver.sack_compression = longest;
    })
}

/// The receiver's books in segments and microseconds.
#[derive(Default)]
struct Model {
    next: u64,
    beyond: BTreeSet<u64>,
    /// Duplicates told at once, since the edge moved to where it was then.
    duplicates: u64,
    counted_at: u64,
    held: u64,
    alarm: Option<u64>,
}

impl Model {
    fn holes(&self) -> usize {
        self.beyond.iter().filter(|n| !self.beyond.contains(&(*n - 1))).count()
    }

    /// Whether an ACK leaves now; in order they all do here.
    fn on_segment(&mut self, n: u64, now: u64, trip: u64) -> bool {
        self.beyond.insert(n);
        if n == self.next + 1 {
            while self.beyond.remove(&(self.next + 1)) {
                self.next += 1;
            }
            return true;
        }
        if self.counted_at != self.next {
            (self.counted_at, self.duplicates) = (self.next, 0);
        }
        if self.held == 44 || self.holes() > 2 {
            return true;
        }
        if self.duplicates < 3 {
            self.duplicates += 1;
            return true;
        }
        self.held += 1;
        self.alarm.get_or_insert(now + LONGEST_US.min(trip / 20) + 100);
        false
    }

    fn told(&mut self) {
        (self.held, self.alarm) = (0, None);
    }
}

fn segment(n: u64) -> Packet {
    Packet { seq: 1 + (n - 1) * MSS, payload: MSS as u16, flags: TcpFlags::ACK, ..Packet::default() }
}

#[test]
fn acks_are_held_as_the_kernel_holds_them_on_random_arrivals() {
    let (mut held, mut by_count, mut by_alarm) = (0, 0, 0);
    for seed in 0..300 {
        let p = params(Dur::from_micros(LONGEST_US)).with(|p| p.receiver.delayed_ack = Dur::ZERO);
        let mut rng = Streams::new(seed).named("arrivals");
        let trip = [4000, 15_000, 60_000][rng.below(3) as usize];
        let gap = [20, 300, 1200][rng.below(3) as usize];
        let mut rx = Receiver::new(&p);
        rx.answer_syn();
        rx.acked();
        // Segments are numbered from 1: all up to `next` have come.
        let mut m = Model::default();
        let (mut us, mut sent, mut lost) = (0, 0, Vec::new());
        for _ in 0..600 {
            us += rng.below(2 * gap);
            if m.alarm.is_some_and(|at| at <= us) {
                assert_eq!(rx.delack_at, Time(m.alarm.unwrap_or(0) * 1000), "seed {seed}");
                rx.acked();
                m.told();
                by_alarm += 1;
            }
            let comes_late = !lost.is_empty() && rng.chance(0.02);
            let n = if comes_late {
                lost.swap_remove(rng.below(lost.len() as u64) as usize)
            } else {
                sent += 1;
                while rng.chance(0.01) {
                    lost.push(sent);
                    sent += 1;
                }
                sent
            };
            let now = Time(us * 1000);
            let was_held = m.held;
            let want = m.on_segment(n, us, trip);
            let ours = rx.on_segment(&segment(n), &p, now);
            assert_eq!(
                ours,
                if want { AckNow::Yes } else { AckNow::Held },
                "seed {seed}, segment {n} after {}",
                m.next
            );
            if want {
                by_count += u32::from(was_held == 44);
                rx.acked();
                m.told();
            } else {
                held += 1;
                rx.hold(SackCompression::due(now, p.receiver.sack_compression, Some(Dur::from_micros(trip))));
            }
        }
    }
    assert!(held > 20_000 && by_count > 50 && by_alarm > 1000, "{held} held, {by_count} full, {by_alarm} alarms");
}

#[test]
fn nothing_is_held_unless_it_is_asked_for() {
    let p = params(Dur::ZERO);
    let mut rx = Receiver::new(&p);
    rx.answer_syn();
    rx.acked();
    for n in 2..60 {
        assert_eq!(rx.on_segment(&segment(n), &p, Time(n * 1_000_000)), AckNow::Yes);
    }
}
