//! The pseudo-code of TCP-DCR [Bhandarkar 2006, II.A] beside the detector: when does it take duplicates for a loss?

use super::delayed_response::{Base, DcrParams, DelayedResponse, Wait};
use super::sack::Sack;
use super::{Detect, Detection, Phase, Verdict, View};
use crate::tcp::conn::scoreboard::Scoreboard;
use crate::tcp::params::TcpParams;
use crate::tcp::{Ack, preset};
use crosswind_base::{Dur, Streams, Time};

const MSS: u64 = 1000;
const FLIGHT: u64 = 40;
const VIEW: View = View {
    una: 0,
    nxt: 0,
    mss: MSS,
    dupthresh: 3,
    phase: Phase::Open,
    recovery_point: 0,
    limited_transmit: true,
    cwnd: 1e6,
};

/// State and rules in the words of the source, times in milliseconds.
struct Dcr {
    wait: Wait,
    active: bool,
    deadline: f64,
    thresh: u64,
    count: u64,
    srtt: f64,
    rtt_inst: f64,
}

impl Dcr {
    fn on_rtt(&mut self, ms: f64) {
        self.srtt = if self.srtt == 0.0 { ms } else { 0.875 * self.srtt + 0.125 * ms };
        self.rtt_inst = ms;
    }
    /// Returns whether the congestion response begins.
    fn on_dupack(&mut self, now: f64, packets_in_flight: u64) -> bool {
        if !self.active {
            self.active = true;
            self.deadline = now + self.srtt;
            let scale = if self.wait == Wait::Duplicates { self.srtt / self.rtt_inst } else { 1.0 };
            self.thresh = u64::max(3, (packets_in_flight as f64 * scale).round() as u64);
            self.count = 0;
        }
        self.count += 1;
        let over = if self.wait == Wait::Timer { now >= self.deadline } else { self.count >= self.thresh };
        self.active &= !over;
        over
    }
    fn on_advance(&mut self) {
        self.active = false;
    }
}

#[test]
fn the_response_begins_when_the_pseudo_code_says() {
    let mut responses = 0;
    for wait in [Wait::Timer, Wait::Duplicates, Wait::Window] {
        for seed in 0..40 {
            responses += compare(wait, seed);
        }
    }
    assert!(responses > 100, "waits that end in a response are part of the trace ({responses})");
}

#[test]
fn what_the_window_grows_by_during_the_wait_is_not_sent_before_its_end() {
    let p = preset::preset("sack-dcr").expect("a preset");
    let mut ours = DelayedResponse::new(Base::Sack(Sack::default()), &p);
    let mut board = Scoreboard::default();
    (0..FLIGHT).for_each(|i| board.push(i * MSS, MSS as u32, Time::ZERO));
    let v = View { nxt: FLIGHT * MSS, cwnd: 40e3, ..VIEW };
    let wider = View { cwnd: 42e3, ..v };
    ours.on_ack(&Ack { bytes: MSS, rtt: Some(Dur::from_millis(100)), ..Ack::default() }, &[], &mut board, &v);
    assert_eq!(ours.in_flight(&board, &wider), ours.in_flight(&board, &v));
    let sacked = board.sack((MSS, 2 * MSS), 0, &mut false);
    ours.on_ack(&Ack { sacked, duplicate: true, ..Ack::default() }, &[], &mut board, &v);
    assert!(ours.is_waiting());
    assert_eq!(ours.in_flight(&board, &wider), ours.in_flight(&board, &v) + 2 * MSS);
}

/// A sender of forty segments that waits in this way, after one duplicate for each block reported.
fn after_duplicates(wait: Wait, duplicates: u64) -> (DelayedResponse, Scoreboard, View) {
    let p =
        TcpParams { dcr: DcrParams { wait, ..DcrParams::default() }, ..preset::preset("sack-dcr").expect("a preset") };
    let mut ours = DelayedResponse::new(Base::Sack(Sack::default()), &p);
    let mut board = Scoreboard::default();
    (0..FLIGHT).for_each(|i| board.push(i * MSS, MSS as u32, Time::ZERO));
    let v = View { nxt: FLIGHT * MSS, cwnd: 40e3, ..VIEW };
    let first = Ack { bytes: MSS, rtt: Some(Dur::from_millis(100)), ..Ack::default() };
    ours.on_ack(&first, &[], &mut board, &v);
    for i in 1..=duplicates {
        let sacked = board.sack((i * MSS, (i + 1) * MSS), 0, &mut false);
        let a = Ack { sacked, duplicate: true, in_flight_before: FLIGHT * MSS, ..Ack::default() };
        assert_eq!(ours.on_ack(&a, &[], &mut board, &v), Verdict::Nothing, "{wait:?}");
    }
    (ours, board, v)
}

#[test]
fn the_careful_sender_holds_every_other_segment_back() {
    let in_flight = |wait, duplicates| {
        let (ours, board, v) = after_duplicates(wait, duplicates);
        assert!(ours.is_waiting());
        ours.in_flight(&board, &v)
    };
    let held = |duplicates| in_flight(Wait::NcrCareful, duplicates) - in_flight(Wait::NcrAggressive, duplicates);
    assert_eq!([1, 2, 3, 4].map(held), [MSS, MSS, 2 * MSS, 2 * MSS]);
}

#[test]
fn only_ncr_goes_on_with_what_was_in_flight_when_its_wait_ends_well() {
    let resumed = Verdict::Resumed { flight: FLIGHT * MSS };
    for (wait, duplicates, expected) in [
        (Wait::Timer, 2, Verdict::Nothing),
        (Wait::NcrCareful, 2, resumed),
        (Wait::NcrAggressive, 2, resumed),
        // Nothing was waited for.
        (Wait::NcrCareful, 0, Verdict::Nothing),
    ] {
        let (mut ours, mut board, v) = after_duplicates(wait, duplicates);
        let una = (duplicates + 1) * MSS;
        board.ack_to(una, 0);
        let a = Ack { ack: una, bytes: una, ..Ack::default() };
        let verdict = ours.on_ack(&a, &[], &mut board, &View { una, ..v });
        assert_eq!(verdict, expected, "{wait:?} after {duplicates}");
    }
}

fn compare(wait: Wait, seed: u64) -> u32 {
    let mut r = Streams::new(seed).named("dcr");
    let dcr = DcrParams { wait, ..DcrParams::default() };
    let p = TcpParams { dcr, recovery: Detection::Sack, ..preset::preset("rfc").expect("a preset") };
    let mut ours = DelayedResponse::new(Base::Sack(Sack::default()), &p);
    let mut plain = Dcr { wait, active: false, deadline: 0.0, thresh: 0, count: 0, srtt: 0.0, rtt_inst: 0.0 };
    let (mut una, mut nxt, mut top, mut now) = (0u64, FLIGHT, 0u64, 0.0);
    let mut board = Scoreboard::default();
    (0..FLIGHT).for_each(|i| board.push(i * MSS, MSS as u32, Time::ZERO));
    let mut responses = 0;
    for step in 0..3000 {
        now = f64::round((now + r.exponential(3.0)) * 1e6) / 1e6;
        let advances = step == 0 || r.chance(if top > una { 0.04 } else { 0.7 });
        let in_flight = nxt - una - if top > una { top - una - 1 } else { 0 };
        let mut a = Ack { now: Time((now * 1e6) as u64), in_flight_before: in_flight * MSS, ..Ack::default() };
        let (before, mut expected) = (una, false);
        if advances {
            let ms = (100.0 + r.between(0.0, 30.0)).round();
            una = top.max(una + 1);
            board.ack_to(una * MSS, 0);
            a = Ack { bytes: (una - before) * MSS, rtt: Some(Dur((ms * 1e6) as u64)), ..a };
            plain.on_rtt(ms);
            plain.on_advance();
        } else {
            top = top.max(una + 1) + 1;
            a.sacked = board.sack(((una + 1) * MSS, top * MSS), 0, &mut false);
            a.duplicate = true;
            expected = plain.on_dupack(now, in_flight);
        }
        a.ack = una * MSS;
        while nxt - una < FLIGHT || nxt <= top {
            board.push(nxt * MSS, MSS as u32, Time::ZERO);
            nxt += 1;
        }
        let v = View { una: una * MSS, nxt: nxt * MSS, ..VIEW };
        let verdict = ours.on_ack(&a, &[], &mut board, &v);
        assert_eq!(verdict == Verdict::Loss, expected, "{wait:?} seed {seed} step {step}");
        if expected {
            // The recovery is somebody else's: start over behind everything.
            responses += 1;
            board.ack_to(nxt * MSS, 0);
            (una, top) = (nxt, nxt);
            (0..FLIGHT).for_each(|i| board.push((nxt + i) * MSS, MSS as u32, Time::ZERO));
            nxt += FLIGHT;
        }
    }
    responses
}
