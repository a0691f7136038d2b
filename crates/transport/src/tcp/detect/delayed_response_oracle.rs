//! The pseudo-code of TCP-DCR [Bhandarkar 2006, II.A] beside the detector: when does it take duplicates for a loss?

use super::delayed_response::{Base, DcrParams, DelayedResponse, Wait};
use super::sack::Sack;
use super::{Detect, Detection, Phase, Verdict, View};
use crate::tcp::conn::scoreboard::Scoreboard;
use crate::tcp::facts::Ack;
use crate::tcp::preset;
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
    handshake_rtt: Dur(u64::MAX),
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
    /// Returns whether the congestion response begins. `outstanding`: FlightSize of RFC 4653, with what SACK has reported.
    fn on_dupack(&mut self, now: f64, packets_in_flight: u64, outstanding: u64) -> bool {
        if !self.active {
            self.active = true;
            self.deadline = now + self.srtt;
            let scale =
                if self.wait == Wait::Duplicates && self.rtt_inst > 0.0 { self.srtt / self.rtt_inst } else { 1.0 };
            self.thresh = u64::max(3, (packets_in_flight as f64 * scale).round() as u64);
            self.count = 0;
        }
        self.count += 1;
        match self.wait {
            Wait::NcrCareful => self.thresh = u64::max(3, (2 * outstanding).div_ceil(3)),
            Wait::NcrAggressive => self.thresh = u64::max(3, outstanding.div_ceil(2)),
            _ => {}
        }
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
    for wait in [Wait::Timer, Wait::Duplicates, Wait::Window, Wait::NcrCareful, Wait::NcrAggressive] {
        let of_wait: u32 = (0..40).map(|seed| compare(wait, seed)).sum();
        assert!(of_wait > 20, "waits that end in a response are part of the trace ({of_wait} of {wait:?})");
        responses += of_wait;
    }
    assert!(responses > 200, "{responses}");
}

#[test]
fn duplicates_begin_a_wait_outside_of_recoveries_and_of_slow_start_but_for_ncr() {
    let (recovery, timeout) = (Phase::Recovery { high: 50 * MSS }, Phase::Timeout { high: 50 * MSS });
    let echo = Phase::Echo { high: 50 * MSS };
    for (wait, phase, slow_start, waits) in [
        (Wait::Timer, Phase::Open, false, true),
        (Wait::Timer, echo, false, true),
        (Wait::Timer, Phase::Open, true, false),
        (Wait::Timer, recovery, false, false),
        (Wait::Timer, timeout, false, false),
        (Wait::NcrCareful, Phase::Open, true, true),
        (Wait::NcrAggressive, echo, true, true),
        (Wait::NcrAggressive, recovery, true, false),
        (Wait::NcrAggressive, timeout, false, false),
    ] {
        let (mut ours, mut board, v) = after_duplicates(wait, 0);
        let sacked = board.sack((MSS, 2 * MSS), 0, &mut false);
        let a = Ack { sacked, duplicate: true, slow_start, in_flight_before: FLIGHT * MSS, ..Ack::default() };
        ours.on_ack(&a, &[], &mut board, &View { phase, ..v });
        assert_eq!(ours.is_waiting(), waits, "{wait:?} in {phase:?}, slow start {slow_start}");
    }
}

#[test]
fn a_wait_that_has_begun_goes_on_in_slow_start() {
    let (mut ours, mut board, v) = after_duplicates(Wait::Window, 2);
    let sacked = board.sack((3 * MSS, 4 * MSS), 0, &mut false);
    let a = Ack { sacked, duplicate: true, slow_start: true, in_flight_before: FLIGHT * MSS, ..Ack::default() };
    assert_eq!(ours.on_ack(&a, &[], &mut board, &v), Verdict::Nothing, "the third of forty duplicates");
    assert!(ours.is_waiting());
}

#[test]
fn a_round_trip_of_no_time_scales_nothing() {
    let p = preset::preset("sack-dcr").expect("a preset");
    let p = p.with(|p| p.recovery.dcr = DcrParams { wait: Wait::Duplicates, ..DcrParams::default() });
    let mut ours = DelayedResponse::new(Base::Sack(Sack::default()), &p.recovery.dcr);
    let mut board = Scoreboard::default();
    (0..FLIGHT).for_each(|i| board.push(i * MSS, MSS as u32, Time::ZERO));
    let v = View { nxt: FLIGHT * MSS, cwnd: 40e3, ..VIEW };
    ours.on_ack(&Ack { bytes: MSS, rtt: Some(Dur::ZERO), ..Ack::default() }, &[], &mut board, &v);
    let verdicts: Vec<Verdict> = (1..=8)
        .map(|i| {
            let sacked = board.sack((i * MSS, (i + 1) * MSS), 0, &mut false);
            let a = Ack { sacked, duplicate: true, in_flight_before: 8 * MSS, ..Ack::default() };
            ours.on_ack(&a, &[], &mut board, &v)
        })
        .collect();
    assert_eq!(verdicts.iter().position(|v| *v == Verdict::Loss), Some(7), "as many as were in flight: {verdicts:?}");
}

#[test]
fn what_the_window_grows_by_during_the_wait_is_not_sent_before_its_end() {
    let p = preset::preset("sack-dcr").expect("a preset");
    let mut ours = DelayedResponse::new(Base::Sack(Sack::default()), &p.recovery.dcr);
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
    let p = preset::preset("sack-dcr")
        .expect("a preset")
        .with(|p| p.recovery.dcr = DcrParams { wait, ..DcrParams::default() });
    let mut ours = DelayedResponse::new(Base::Sack(Sack::default()), &p.recovery.dcr);
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
fn an_ack_of_new_data_begins_the_count_of_duplicates_anew_although_it_reports_a_hole() {
    // RFC 6675 section 5, DupAcks. Segments so short that their number alone tells of a loss; in slow start nothing waits.
    const SHORT: u64 = 200;
    let (mut ours, _, v) = after_duplicates(Wait::Timer, 0);
    let mut board = Scoreboard::default();
    (0..FLIGHT).for_each(|i| board.push(i * SHORT, SHORT as u32, Time::ZERO));
    let duplicate = |ours: &mut DelayedResponse, board: &mut Scoreboard, i: u64, una: u64| {
        let sacked = board.sack((i * SHORT, (i + 1) * SHORT), 0, &mut false);
        let a = Ack { ack: una, sacked, duplicate: true, slow_start: true, ..Ack::default() };
        ours.on_ack(&a, &[], board, &View { una, nxt: FLIGHT * SHORT, ..v })
    };
    assert_eq!([1, 2].map(|i| duplicate(&mut ours, &mut board, i, 0)), [Verdict::Nothing; 2]);
    let una = 3 * SHORT;
    board.ack_to(una, 0);
    let sacked = board.sack((4 * SHORT, 5 * SHORT), 0, &mut false);
    let both = Ack { ack: una, bytes: una, sacked, ..Ack::default() };
    ours.on_ack(&both, &[], &mut board, &View { una, nxt: FLIGHT * SHORT, ..v });
    let verdicts = [5, 6, 7].map(|i| duplicate(&mut ours, &mut board, i, una));
    assert_eq!(verdicts, [Verdict::Nothing, Verdict::Nothing, Verdict::Loss]);
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
    let p = preset::preset("rfc").expect("a preset").with(|p| {
        p.recovery.dcr = dcr;
        p.recovery.detection = Detection::Sack;
    });
    let mut ours = DelayedResponse::new(Base::Sack(Sack::default()), &p.recovery.dcr);
    let mut plain = Dcr { wait, active: false, deadline: 0.0, thresh: 0, count: 0, srtt: 0.0, rtt_inst: 0.0 };
    let (mut una, mut nxt, mut top, mut now) = (0u64, FLIGHT, 0u64, 0.0);
    let mut board = Scoreboard::default();
    (0..FLIGHT).for_each(|i| board.push(i * MSS, MSS as u32, Time::ZERO));
    let mut responses = 0;
    for step in 0..3000 {
        now = f64::round((now + r.exponential(3.0)) * 1e6) / 1e6;
        let advances = step == 0 || r.chance(if top > una { 0.04 } else { 0.7 });
        // An ACK that says what is known: it neither ends a wait nor counts.
        let is_stale = !advances && r.chance(0.1);
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
        } else if is_stale {
            a.duplicate = true;
        } else {
            top = top.max(una + 1) + 1;
            a.sacked = board.sack(((una + 1) * MSS, top * MSS), 0, &mut false);
            a.duplicate = true;
        }
        a.ack = una * MSS;
        while nxt - una < FLIGHT || nxt <= top {
            board.push(nxt * MSS, MSS as u32, Time::ZERO);
            nxt += 1;
        }
        if a.sacked > 0 {
            expected = plain.on_dupack(now, in_flight, nxt - una);
        }
        let v = View { una: una * MSS, nxt: nxt * MSS, ..VIEW };
        let verdict = ours.on_ack(&a, &[], &mut board, &v);
        let seen = (verdict == Verdict::Loss, ours.is_waiting());
        assert_eq!(seen, (expected, plain.active), "{wait:?} seed {seed} step {step}");
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
