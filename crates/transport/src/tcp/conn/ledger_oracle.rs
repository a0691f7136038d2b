//! The ledger against the rules of the draft, in which every packet carries whole copies of the connection's counters, on random flights
//! with losses, retransmissions and SACK blocks.

use super::super::detect::delivered::Delivered;
use super::ledger::{Both, Delivery, Departure, Ledger};
use super::scoreboard::Scoreboard;
use crosswind_base::{Dur, Rng, Streams, Time};

const LEN: u64 = 1000;

/// `P` and `C` of the draft, with its names.
#[derive(Clone, Copy)]
struct P {
    id: u64,
    send_time: u64,
    delivered: u64,
    delivered_time: Option<u64>,
    first_send_time: u64,
    is_app_limited: bool,
    is_retransmitted: bool,
}

#[derive(Default)]
struct C {
    packets: Vec<P>,
    delivered: u64,
    delivered_time: u64,
    first_send_time: u64,
    app_limited: u64,
    min_rtt: Option<u64>,
}

/// Rate, delivered before, application-limited, round trip.
type Sample = (Option<f64>, u64, bool, Option<u64>);

impl C {
    fn inflight(&self) -> u64 {
        self.packets.iter().filter(|p| p.delivered_time.is_some()).count() as u64 * LEN
    }

    fn send(&mut self, id: u64, now: u64) {
        let again = self.packets.iter().position(|p| p.id == id).map(|i| self.packets.remove(i));
        if self.inflight() == 0 && again.is_none() {
            (self.first_send_time, self.delivered_time) = (now, now);
        }
        self.packets.push(P {
            id,
            send_time: now,
            delivered: self.delivered,
            delivered_time: Some(self.delivered_time),
            first_send_time: self.first_send_time,
            is_app_limited: self.app_limited != 0,
            is_retransmitted: again.is_some(),
        });
    }

    /// `ids` are delivered, in any order.
    fn on_ack(&mut self, ids: &[u64], now: u64) -> Sample {
        let mut rs: Option<(P, u64, u64)> = None;
        for id in ids {
            let Some(p) = self.packets.iter_mut().find(|p| p.id == *id) else { continue };
            let Some(delivered_time) = p.delivered_time.take() else { continue };
            self.delivered += LEN;
            self.delivered_time = now;
            if rs.is_none_or(|(q, ..)| (p.send_time, p.id) > (q.send_time, q.id)) {
                rs = Some((*p, p.send_time - p.first_send_time, now - delivered_time));
                self.first_send_time = p.send_time;
            }
        }
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let Some((p, send_elapsed, ack_elapsed)) = rs else { return (None, 0, false, None) };
        let rtt = (!p.is_retransmitted).then(|| now - p.send_time);
        if let Some(rtt) = rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |m| m.min(rtt)));
        }
        let (interval, delivered) = (send_elapsed.max(ack_elapsed), self.delivered - p.delivered);
        let is_short = self.min_rtt.is_some_and(|m| interval < m) || interval == 0;
        let rate = (!is_short).then(|| delivered as f64 / (interval as f64 / 1e9));
        (rate, p.delivered, p.is_app_limited, rtt)
    }
}

/// Both sides of the comparison, and what arrives of what was sent.
struct World {
    ledger: Ledger,
    board: Scoreboard,
    c: C,
    now: u64,
    una: u64,
    nxt: u64,
}

impl World {
    fn send(&mut self) {
        let was_idle = self.c.inflight() == 0;
        let (now, end) = (Time(self.now), self.nxt + LEN);
        self.board.push(self.nxt, LEN as u32, now);
        self.ledger.sent(Departure { now, end, len: LEN, flight: 0, was_idle });
        self.c.send(end, self.now);
        self.nxt = end;
    }

    fn send_again(&mut self) {
        let Some(s) = self.board.first().copied().filter(|s| !s.is_sacked()) else { return };
        self.board.retransmit(s.start, Time(self.now));
        self.ledger.sent(Departure { now: Time(self.now), end: s.end(), len: LEN, flight: 0, was_idle: false });
        self.c.send(s.end(), self.now);
    }

    /// Acknowledges everything below `to`, and a block of `count` segments from `from` on.
    fn ack(&mut self, r: &mut Rng, to: u64, from: u64, count: u64) -> (Delivery, Sample) {
        self.ledger.begin(Time(self.now), to);
        self.board.ack_to(to, 0);
        let mut fresh = Delivered::default();
        let block = (from, (from + count * LEN).min(self.nxt));
        if block.0 < block.1 {
            self.board.sack(block, 0, &mut Both(&mut fresh, &mut self.ledger));
        }
        let ours = self.ledger.sample(0, LEN, Time::ZERO);
        let mut ids: Vec<u64> = (self.una..to).step_by(LEN as usize).map(|s| s + LEN).collect();
        ids.extend((block.0..block.1.max(block.0)).step_by(LEN as usize).map(|s| s + LEN));
        // The order in which one ACK delivers is nobody's business.
        r.shuffle(&mut ids);
        self.una = to;
        (ours, self.c.on_ack(&ids, self.now))
    }
}

#[test]
fn samples_are_those_of_the_draft_on_random_flights() {
    let (mut rates, mut none, mut limited, mut again) = (0, 0, 0, 0);
    for seed in 0..150 {
        let mut r = Streams::new(seed).named("ledger");
        let mut w = World {
            ledger: Ledger::default(),
            board: Scoreboard::new(),
            c: C::default(),
            now: 1_000_000,
            una: 1,
            nxt: 1,
        };
        for step in 0..300 {
            w.now += if r.chance(0.4) { 0 } else { r.below(4_000_000) };
            let segments = (w.nxt - w.una) / LEN;
            match r.below(10) {
                0..=4 if segments < 40 => w.send(),
                5 => w.send_again(),
                6 => {
                    w.ledger.runs_out(w.c.inflight());
                    w.c.app_limited = (w.c.delivered + w.c.inflight()).max(1);
                }
                _ if segments > 0 => {
                    let to = w.una + r.below(segments.min(4) + 1) * LEN;
                    let from = to + (1 + r.below(6)) * LEN;
                    let count = r.below(4);
                    let (ours, (rate, prior, is_limited, trip)) = w.ack(&mut r, to, from, count);
                    let what = format!("seed {seed} step {step}");
                    match (ours.rate, rate) {
                        (Some(a), Some(b)) => assert!((a / b - 1.0).abs() < 1e-9, "{what}: {a} and {b}"),
                        (a, b) => assert_eq!(a, b, "{what}"),
                    }
                    assert_eq!(ours.delivered, w.c.delivered, "{what}");
                    assert_eq!((ours.prior_delivered, ours.is_app_limited), (prior, is_limited), "{what}");
                    assert_eq!(ours.trip.map(|t| t.0), trip, "{what}");
                    rates += u32::from(rate.is_some());
                    none += u32::from(rate.is_none() && ours.newly > 0);
                    limited += u32::from(is_limited);
                    again += u32::from(ours.newly > 0 && trip.is_none());
                }
                _ => {}
            }
        }
    }
    assert!(rates > 5_000 && none > 100 && limited > 500 && again > 200, "{rates} {none} {limited} {again}");
}

/// Sends `count` segments, one every millisecond, and returns the world.
fn flight(count: u64) -> World {
    let mut w = World { ledger: Ledger::default(), board: Scoreboard::new(), c: C::default(), now: 0, una: 1, nxt: 1 };
    for _ in 0..count {
        w.now += 1_000_000;
        w.send();
    }
    w
}

#[test]
fn acks_that_come_together_do_not_show_more_than_was_sent() {
    let mut r = Streams::new(1).named("compressed");
    let mut w = flight(40);
    w.now += 10_000_000;
    let (first, _) = w.ack(&mut r, 1 + LEN, 0, 0);
    assert_eq!(first.trip, Some(Dur(49_000_000)));
    for k in 2..=40 {
        let (d, _) = w.ack(&mut r, 1 + k * LEN, 0, 0);
        // One segment a millisecond, and the one that began the flight.
        assert!(d.rate.is_none_or(|rate| rate <= 1_000_000.0 * 40.0 / 39.0), "{d:?}");
    }
    assert_eq!((w.ledger.sample(0, LEN, Time::ZERO).delivered, w.c.delivered), (40 * LEN, 40 * LEN));
}

#[test]
fn rounds_end_with_what_left_after_their_begin() {
    let mut r = Streams::new(1).named("rounds");
    let mut w = flight(4);
    let mut rounds = Vec::new();
    for k in 1..=12 {
        w.now += 1_000_000;
        rounds.push(w.ack(&mut r, 1 + k * LEN, 0, 0).0.rounds);
        w.send();
    }
    // Four are under way: every fourth ACK is the first of one that left after the round had begun.
    assert_eq!(rounds, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
}

#[test]
fn behind_a_standing_queue_every_sample_is_the_rate_of_the_line_to_a_packet() {
    // A line of one segment a millisecond, 20 ms of delay, 30 segments under way: ten of them wait.
    const LINE: u64 = 1_000_000;
    for per_ack in [1, 2, 5] {
        let mut r = Streams::new(1).named("line");
        let mut w =
            World { ledger: Ledger::default(), board: Scoreboard::new(), c: C::default(), now: LINE, una: 1, nxt: 1 };
        let mut arrivals = std::collections::VecDeque::new();
        let mut line_free = 0;
        let mut send = |w: &mut World, arrivals: &mut std::collections::VecDeque<u64>| {
            line_free = line_free.max(w.now) + LINE;
            arrivals.push_back(line_free + 20 * LINE);
            w.send();
        };
        (0..30).for_each(|_| send(&mut w, &mut arrivals));
        let mut samples = 0;
        for k in 1..=400 / per_ack {
            w.now = arrivals.drain(..per_ack as usize).next_back().expect("30 are under way");
            let (d, _) = w.ack(&mut r, 1 + k * per_ack * LEN, 0, 0);
            (0..per_ack).for_each(|_| send(&mut w, &mut arrivals));
            if k * per_ack <= 60 {
                continue;
            }
            let rate = d.rate.expect("a sample");
            let delivered = (d.delivered - d.prior_delivered) as f64 / LEN as f64;
            let of_line = delivered * LEN as f64 / rate * 1e9 / LINE as f64;
            assert!((delivered - of_line).abs() <= 1.0 + 1e-6, "{per_ack}: {delivered} of {of_line} segments");
            samples += 1;
        }
        assert!(samples > 300 / per_ack, "{samples}");
    }
}
