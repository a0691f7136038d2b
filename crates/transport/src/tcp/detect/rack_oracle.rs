//! RACK against the pseudo-code of RFC 8985 section 6.2 over a plain list of segments, on random traces.

use super::delivered::Delivered;
use super::rack::Rack;
use super::{Detect, Phase, Verdict, View};
use crate::tcp::choices::Switch;
use crate::tcp::conn::scoreboard::Scoreboard;
use crate::tcp::facts::{Ack, stamp};
use crate::tcp::preset;
use crosswind_base::{Dur, Rng, Streams, Time};

const MSS: u64 = 1000;
const DUPTHRESH: u32 = 3;
const TICK: Dur = Dur::from_millis(1);

#[derive(Clone, Copy, Default)]
struct Segment {
    end_seq: u64,
    xmit_ts: u64,
    retransmitted: bool,
    lost: bool,
    sacked: bool,
}

#[derive(Default)]
struct Plain {
    segments: Vec<Segment>,
    xmit_ts: u64,
    end_seq: u64,
    rtt: u64,
    min_rtt: Option<u64>,
    srtt: f64,
    fack: u64,
    reordering_seen: bool,
    reo_wnd_mult: u64,
    reo_wnd_persist: u32,
    dsack_round: Option<u64>,
    timeout: u64,
}

/// RACK_sent_after(t1, seq1, t2, seq2).
fn sent_after(t1: u64, seq1: u64, t2: u64, seq2: u64) -> bool {
    t1 > t2 || (t1 == t2 && seq1 > seq2)
}

impl Plain {
    /// Steps 1 to 3, for the segments that this ACK delivers, in order of their numbers.
    fn deliver(&mut self, now: u64, delivered: &[Segment], sample: Option<u64>, ts_ecr: u32) {
        if let Some(r) = sample {
            self.min_rtt = Some(self.min_rtt.map_or(r, |m| m.min(r)));
            let r = r as f64;
            self.srtt = if self.srtt == 0.0 { r } else { self.srtt + (r - self.srtt) / 8.0 };
        }
        // What SACK had reported before this ACK: blocks of one ACK say nothing of each other's order.
        let fack = self.fack;
        for s in delivered {
            if s.end_seq > self.fack {
                self.fack = s.end_seq;
            } else if s.end_seq < fack && !s.retransmitted {
                self.reordering_seen = true;
            }
        }
        // Of several retransmissions the one that left last stands for all.
        let again = delivered.iter().filter(|s| s.retransmitted).max_by_key(|s| (s.xmit_ts, s.end_seq));
        let mut in_order: Vec<Segment> = delivered.iter().filter(|s| !s.retransmitted).chain(again).copied().collect();
        in_order.sort_by_key(|s| (s.xmit_ts, s.end_seq));
        let min_rtt = self.min_rtt;
        for s in &in_order {
            let rtt = now - s.xmit_ts;
            // ACK.ts_option.echo_reply.ts < Segment.xmit_ts; zero: there are none, or the echo is of an older segment in order.
            let earlier = ts_ecr != 0 && ts_ecr < stamp(Time(s.xmit_ts), TICK);
            if s.retransmitted && (earlier || min_rtt.is_none_or(|m| rtt < m)) {
                continue;
            }
            self.rtt = rtt;
            if sent_after(s.xmit_ts, s.end_seq, self.xmit_ts, self.end_seq) {
                (self.xmit_ts, self.end_seq) = (s.xmit_ts, s.end_seq);
            }
            if !s.retransmitted {
                self.min_rtt = Some(self.min_rtt.map_or(rtt, |m| m.min(rtt)));
            }
        }
    }

    /// Step 4.
    fn update_reo_wnd(&mut self, dsack: bool, una: u64, nxt: u64, recovers: bool, exiting: bool) -> u64 {
        if self.dsack_round.is_some_and(|r| una >= r) {
            self.dsack_round = None;
        }
        if dsack && self.dsack_round.is_none() {
            self.dsack_round = Some(nxt);
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = 16;
        } else if exiting {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult = 1;
            }
        }
        let Some(min_rtt) = self.min_rtt else { return 0 };
        let sacked = self.segments.iter().filter(|s| s.sacked).count();
        if !self.reordering_seen && (recovers || sacked >= DUPTHRESH as usize) {
            return 0;
        }
        let srtt = Dur::from_secs_f64(self.srtt / 1e9).0;
        let quarters = self.reo_wnd_mult * (min_rtt / 4);
        if srtt == 0 { quarters } else { quarters.min(srtt) }
    }

    /// Step 5, `RACK_detect_loss`.
    fn detect_loss(&mut self, now: u64, reo_wnd: u64) {
        self.timeout = 0;
        for s in &mut self.segments {
            if s.sacked || s.lost {
                continue;
            }
            if sent_after(self.xmit_ts, self.end_seq, s.xmit_ts, s.end_seq) {
                let due = s.xmit_ts + self.rtt + reo_wnd;
                if due <= now {
                    s.lost = true;
                } else {
                    self.timeout = self.timeout.max(due);
                }
            }
        }
    }
}

struct Both {
    plain: Plain,
    rack: Rack,
    board: Scoreboard,
    una: u64,
    nxt: u64,
    now: u64,
    phase: Phase,
    handshake_rtt: Option<u64>,
}

impl Both {
    fn view(&self) -> View {
        View {
            una: self.una,
            nxt: self.nxt,
            mss: MSS,
            dupthresh: DUPTHRESH,
            phase: self.phase,
            recovery_point: 0,
            limited_transmit: true,
            cwnd: 0.0,
            handshake_rtt: Dur(self.handshake_rtt.unwrap_or(u64::MAX)),
        }
    }

    fn send(&mut self) {
        self.board.push(self.nxt, MSS as u32, Time(self.now));
        self.nxt += MSS;
        self.plain.segments.push(Segment { end_seq: self.nxt, xmit_ts: self.now, ..Segment::default() });
    }

    fn retransmit_lost(&mut self) {
        let Some(s) = self.board.next_lost() else { return };
        let mine = self.plain.segments.iter_mut().find(|t| t.lost).expect("both hold a segment lost");
        assert_eq!(mine.end_seq, s.end(), "the first lost segment");
        (mine.lost, mine.retransmitted, mine.xmit_ts) = (false, true, self.now);
        self.board.retransmit(s.start, Time(self.now));
    }

    /// An ACK up to `ack`, with one new block.
    fn ack(&mut self, ack: u64, block: Option<(u64, u64)>, dsack: bool, ts_ecr: u32) {
        let mark = self.board.highest_sacked();
        let before = self.una;
        let gone = |s: &Segment| s.end_seq <= ack;
        let mut news: Vec<Segment> = self.plain.segments.iter().filter(|s| gone(s) && !s.sacked).copied().collect();
        self.plain.segments.retain(|s| !gone(s));
        let acked = if ack > before { self.board.ack_to(ack, mark) } else { Default::default() };
        self.una = ack.max(before);
        let sample = acked.timed.map(|t| self.now - t.0);
        let mut delivered = Delivered::of(&acked);
        let mut sacked = 0;
        if let Some(b) = block {
            for s in self.plain.segments.iter_mut().filter(|s| s.end_seq - MSS >= b.0 && s.end_seq <= b.1 && !s.sacked)
            {
                news.push(*s);
                (s.sacked, s.lost) = (true, false);
            }
            sacked = self.board.sack(b, mark, &mut delivered);
        }
        let a = Ack {
            now: Time(self.now),
            ack,
            bytes: self.una - before,
            sacked,
            rtt: sample.map(Dur),
            reported_twice: u64::from(dsack) * MSS,
            covers_original: delivered.original_below_mark,
            newest: delivered.newest,
            newest_retransmitted: delivered.newest_retransmitted,
            news_once: delivered.news_once,
            news_again: delivered.news_again,
            ts_ecr,
            ..Ack::default()
        };
        let exiting = matches!(self.phase, Phase::Recovery { high } if self.una >= high);
        let recovers = self.phase != Phase::Open && !exiting;
        self.plain.deliver(self.now, &news, sample, if ack > before { ts_ecr } else { 0 });
        let reo_wnd = self.plain.update_reo_wnd(dsack, self.una, self.nxt, recovers, exiting);
        let v = self.view();
        let verdict = self.rack.on_ack(&a, &[], &mut self.board, &v);
        if exiting {
            assert_eq!(verdict, Verdict::Recovered);
            self.phase = Phase::Open;
            self.plain.timeout = 0;
        } else {
            self.plain.detect_loss(self.now, reo_wnd);
        }
        if verdict == Verdict::Loss {
            self.phase = Phase::Recovery { high: self.nxt };
        }
    }

    fn expire(&mut self) {
        self.now = self.rack.status().next_wake.0;
        let recovers = self.phase != Phase::Open;
        let reo_wnd = self.plain.update_reo_wnd(false, self.una, self.nxt, recovers, false);
        self.plain.detect_loss(self.now, reo_wnd);
        let v = self.view();
        if self.rack.on_wake(&mut self.board, &v) == Verdict::Loss {
            self.phase = Phase::Recovery { high: self.nxt };
        }
    }

    fn compare(&self, what: &str) {
        let waits = |s: &&crate::tcp::conn::scoreboard::Sent| s.is_lost() && !s.is_retransmitted();
        let ours: Vec<u64> = self.board.segments().filter(waits).map(|s| s.end()).collect();
        let theirs: Vec<u64> = self.plain.segments.iter().filter(|s| s.lost && !s.sacked).map(|s| s.end_seq).collect();
        assert_eq!(ours, theirs, "{what}: lost segments");
        let deadline = if self.rack.status().next_wake == Time::NEVER { 0 } else { self.rack.status().next_wake.0 };
        assert_eq!(deadline, self.plain.timeout, "{what}: the reordering timer");
        self.board.audit(self.una, self.nxt).expect("the counters agree with the segments");
    }
}

fn random_ack(b: &mut Both, r: &mut Rng, with_stamps: bool) {
    let outstanding = (b.nxt - b.una) / MSS;
    if outstanding == 0 {
        return;
    }
    // Cumulative ACKs never stop inside what has been SACKed.
    let first_hole = |b: &Both| b.plain.segments.iter().find(|s| !s.sacked).map_or(b.nxt, |s| s.end_seq - MSS);
    let advance = if r.chance(0.3) { r.below(outstanding.min(3) + 1) } else { 0 };
    let mut ack = b.una + advance * MSS;
    if ack > b.una {
        while b.plain.segments.iter().any(|s| s.end_seq == ack + MSS && s.sacked) {
            ack += MSS;
        }
    } else if first_hole(b) > b.una {
        ack = first_hole(b);
    }
    let from = r.below(outstanding);
    let block = (b.una + from * MSS, b.una + (from + 1 + r.below(3).min(outstanding - from - 1)) * MSS);
    let block = Some(block).filter(|k| k.0 > ack && r.chance(0.8));
    // The echo is of some moment within the last round trips.
    let ts_ecr = if with_stamps { stamp(Time(b.now.saturating_sub(r.below(20_000_000))), TICK) } else { 0 };
    b.ack(ack, block, r.chance(0.03), ts_ecr);
}

#[test]
fn rack_is_the_pseudo_code_of_rfc_8985() {
    let (mut losses, mut waits) = (0, 0);
    for seed in 0..200 {
        let mut r = Streams::new(seed).named("rack");
        let timestamps = if seed % 2 == 1 { Switch::On } else { Switch::Off };
        let p = preset::preset("linux-6").expect("a preset").with(|p| p.connection.timestamps = timestamps);
        let handshake_rtt = (seed % 3 > 0).then(|| 1 + r.below(5_000_000));
        let mut b = Both {
            plain: Plain { reo_wnd_mult: 1, min_rtt: handshake_rtt, ..Plain::default() },
            rack: Rack::new(p.connection.timestamps.on().then_some(p.connection.timestamp_tick)),
            board: Scoreboard::default(),
            una: 1,
            nxt: 1,
            now: 1_000_000,
            phase: Phase::Open,
            handshake_rtt,
        };
        for step in 0..400 {
            b.now += 1 + r.below(3_000_000);
            if b.rack.status().next_wake.0 <= b.now {
                waits += 1;
                b.expire();
                b.compare(&format!("seed {seed} step {step}, timer"));
            }
            match r.below(10) {
                0..=3 => (0..1 + r.below(4)).for_each(|_| b.send()),
                4 => b.retransmit_lost(),
                _ => random_ack(&mut b, &mut r, timestamps.on()),
            }
            losses += usize::from(b.phase != Phase::Open);
            b.compare(&format!("seed {seed} step {step}"));
        }
    }
    assert!(losses > 1000 && waits > 200, "the traces must hold what is tested: {losses} and {waits}");
}
