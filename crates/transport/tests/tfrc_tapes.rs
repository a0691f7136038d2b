//! TFRC's sender is played reports, its receiver is played data; every packet that they send is listed with its time.
//!
//! ```text
//! 0.0   > 3              a packet leaves: the number of a data packet, or `report`
//! 0.1   < p 0.01 x 5000  a report comes: loss event rate, receive rate in B/s (also `lost`, `age`: seconds since the echo, `held`: by the receiver)
//! 0.1   < 3              a data packet comes
//! 2.0   rate 500         the allowed rate, B/s, within 0.1 %
//! 2.0   p 0.01           the loss event rate of the last report, within 0.1 %
//! ```

use crosswind_base::packet::Ext;
use crosswind_base::{Dur, Packet, Time};
use crosswind_testkit::tcp::Surroundings;
use crosswind_transport::rate::{Receiver as _, Sender as _, Supply, stamp_us};
use crosswind_transport::tfrc::packet::{Data, Feedback};
use crosswind_transport::tfrc::preset::read;
use crosswind_transport::tfrc::{DATA_HEADERS_BYTES, Receiver, Sender, TfrcParams};
use serde_json::Value;
use std::sync::Arc;

type Sent = Vec<(Packet, Option<Ext>)>;

/// Runs one end until a time, and gives what it sent: (time, packet).
trait End {
    fn wake(&mut self, io: &mut Surroundings<'_>);
    fn next(&self) -> Option<Time>;
}
impl End for Sender {
    fn wake(&mut self, io: &mut Surroundings<'_>) {
        self.on_wake(io);
    }
    fn next(&self) -> Option<Time> {
        self.next_wake()
    }
}
impl End for Receiver {
    fn wake(&mut self, io: &mut Surroundings<'_>) {
        self.on_wake(io);
    }
    fn next(&self) -> Option<Time> {
        self.next_wake()
    }
}

struct Player {
    sent: Sent,
    notes: Vec<crosswind_base::Event>,
    /// What was sent and no line has asked for yet.
    unread: std::collections::VecDeque<(Time, Packet)>,
}

impl Player {
    fn new() -> Player {
        Player { sent: Vec::new(), notes: Vec::new(), unread: Default::default() }
    }
    fn call(&mut self, now: Time, what: impl FnOnce(&mut Surroundings<'_>)) {
        what(&mut Surroundings { now, sent: &mut self.sent, notes: &mut self.notes, cache: None, is_watched: true });
        self.unread.extend(self.sent.drain(..).map(|(p, _)| (now, p)));
    }
    /// Lets the end do what is due before a line; before one that tells of an arrival, all that was sent must be read.
    fn reach(&mut self, end: &mut impl End, words: &[&str], at: Time, line: &str) {
        let arrives = words[1] == "<";
        let stop = if arrives { at } else { at + Dur::from_micros(20) };
        while let Some(at) = end.next().filter(|at| *at < stop) {
            self.call(at, |io| end.wake(io));
        }
        assert!(!arrives || self.unread.is_empty(), "before `{line}`: {:?} was sent", self.unread);
    }
}

/// A line of a tape: a time, what happens, and its particulars.
struct Line<'a> {
    text: &'a str,
    words: Vec<&'a str>,
    at: Time,
}

fn lines(tape: &str) -> impl Iterator<Item = Line<'_>> {
    tape.lines().map(str::trim).filter(|l| !l.is_empty()).map(|text| {
        let words: Vec<&str> = text.split_whitespace().collect();
        Line { text, at: seconds(words[0]), words }
    })
}

fn params(keys: &str) -> Arc<TfrcParams> {
    let value: Value = serde_json::from_str(keys).expect("JSON");
    Arc::new(read(&value, "tfrc").expect("right parameters"))
}

fn seconds(word: &str) -> Time {
    Time::from_secs_f64(word.parse().expect("a time"))
}

#[track_caller]
fn assert_near(line: &str, found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-3 * wanted.abs(), "`{line}`: found {found}");
}

fn number(words: &[&str], key: &str) -> Option<f64> {
    let at = words.iter().position(|w| *w == key)?;
    Some(words[at + 1].parse().expect("a number"))
}

fn expect_packet(line: &str, at: Time, found: Option<(Time, Packet)>, is_data: bool) -> Packet {
    let (sent_at, p) = found.unwrap_or_else(|| panic!("`{line}`: nothing was sent"));
    assert!(sent_at.0.abs_diff(at.0) < 20_000, "`{line}`: sent at {sent_at:?}");
    assert_eq!(p.payload > 0, is_data, "`{line}`");
    p
}

/// Plays reports to a sender with endless data.
fn play_sender(keys: &str, tape: &str) {
    let p = params(keys);
    let payload = (p.packet_size.0 - u64::from(DATA_HEADERS_BYTES)) as u16;
    let mut sender = Sender::new(p, Supply::endless(payload));
    let mut player = Player::new();
    player.call(Time::ZERO, |io| sender.open(io));
    let mut reports = 0;
    for Line { text: line, words, at } in lines(tape) {
        player.reach(&mut sender, &words, at, line);
        match words[1] {
            ">" => {
                let p = expect_packet(line, at, player.unread.pop_front(), true);
                assert_eq!(p.seq, words[2].parse::<u64>().expect("a number"), "`{line}`");
            }
            "<" => {
                let age = Dur::from_secs_f64(number(&words, "age").unwrap_or(0.1));
                let f = Feedback {
                    number: reports,
                    echo: stamp_us(at - age),
                    delay: Dur::from_secs_f64(number(&words, "held").unwrap_or(0.0)),
                    receive_rate: number(&words, "x").expect("`x`"),
                    lost_packets: number(&words, "lost").unwrap_or(0.0) as u32,
                    loss_event_rate: number(&words, "p").expect("`p`"),
                };
                reports += 1;
                player.call(at, |io| sender.on_packet(&f.write(Time::ZERO, at), None, io));
            }
            "rate" => assert_near(line, sender.rate(), words[2].parse().expect("a rate")),
            other => panic!("`{other}` in `{line}`"),
        }
    }
    assert!(player.unread.is_empty(), "no line for {:?}", player.unread);
}

/// Plays data packets to a receiver: 1000 bytes each, round-trip time 100 ms, numbers as listed.
fn play_receiver(keys: &str, tape: &str) {
    let mut receiver = Receiver::new(params(keys));
    let mut player = Player::new();
    let mut last_p = 0.0;
    for Line { text: line, words, at } in lines(tape) {
        player.reach(&mut receiver, &words, at, line);
        match words[1] {
            ">" => {
                let p = expect_packet(line, at, player.unread.pop_front(), false);
                let f = Feedback::read(&p);
                last_p = f.loss_event_rate;
                if let Some(x) = number(&words, "x") {
                    assert_near(line, f.receive_rate, x);
                }
            }
            "<" => {
                let rtt = Dur::from_millis(100);
                let number = words[2].parse().expect("a number");
                let sent = at - Dur::from_millis(50);
                let d = Data {
                    number,
                    stamp: stamp_us(sent),
                    rtt,
                    t_rto: Dur::from_millis(400),
                    round: 1,
                    is_urgent: false,
                };
                let mut p = d.write(1, sent);
                (p.payload, p.len) = (956, 1000);
                player.call(at, |io| receiver.on_packet(&p, io));
            }
            "p" => assert_near(line, last_p, words[2].parse().expect("a ratio")),
            other => panic!("`{other}` in `{line}`"),
        }
    }
    assert!(player.unread.is_empty(), "no line for {:?}", player.unread);
}

#[test]
fn one_packet_a_second_until_the_first_report_then_a_window_per_round_trip_time() {
    play_sender(
        r#"{"preset": "rfc5348"}"#,
        "0.0  > 0
         0.1  < p 0 x 0
         0.1  rate 40000
         0.1  > 1
         0.125 > 2
         0.150 > 3
         0.175 > 4
         0.199 < p 0 x 10000
         0.199 rate 40000
         0.200 > 5
         0.201 < p 0 x 40000
         0.201 rate 80000
         0.2125 > 6
         0.225 > 7",
    );
}

#[test]
fn without_any_report_the_rate_is_halved_after_two_packets_again_and_again() {
    play_sender(
        r#"{"preset": "rfc5348"}"#,
        "0 > 0
         1 > 1
         1.9 rate 1000
         2.001 rate 500
         3 > 2
         5 > 3
         5.9 rate 500
         6.001 rate 250
         9 > 4",
    );
}

#[test]
fn with_losses_the_rate_is_that_of_the_equation_and_at_most_twice_the_receive_rate() {
    // The equation allows 112332 B/s at p = 0.01 and 100 ms.
    play_sender(
        r#"{"preset": "rfc3448", "interpacket_correction": "off"}"#,
        "0    > 0
         0.1  < p 0 x 0
         0.1  rate 10000
         0.1  > 1
         0.19 < p 0.01 x 100000 lost 1
         0.19 rate 112332
         0.19 > 2
         0.195 < p 0.01 x 30000
         0.195 rate 60000",
    );
}

#[test]
fn the_highest_receive_rate_of_two_round_trip_times_limits_in_rfc_5348() {
    // Before there is a receive rate of two round-trip times the equation alone limits: 17701 B/s at p = 0.1.
    play_sender(
        r#"{"preset": "rfc5348"}"#,
        "0    > 0
         0.1  < p 0.1 x 0 lost 1
         0.1  rate 17701
         0.1  > 1
         0.156494 > 2
         0.212988 > 3
         0.269482 > 4
         0.325976 > 5
         0.33 < p 0.001 x 5000
         0.33 rate 10000
         0.34 < p 0.001 x 8000
         0.34 rate 16000
         0.35 < p 0.001 x 4000
         0.35 rate 16000",
    );
}

#[test]
fn self_clocking_holds_the_rate_at_the_receive_rate_after_a_loss_and_half_above_it_otherwise() {
    play_sender(
        r#"{"preset": "rfc3448", "conservative": "on", "interpacket_correction": "off"}"#,
        "0    > 0
         0.1  < p 0 x 0
         0.1  > 1
         0.15 < p 0.001 x 20000 lost 1
         0.15 rate 20000
         0.15 > 2
         0.18 < p 0.001 x 20000
         0.18 rate 30000",
    );
}

#[test]
fn the_limiter_of_ns2_lets_the_rate_rise_by_a_packet_per_round_trip_time() {
    play_sender(
        r#"{"preset": "rfc3448", "increase": "packet-per-rtt", "interpacket_correction": "off"}"#,
        "0    > 0
         0.1  < p 0 x 0
         0.1  > 1
         0.15 < p 0.01 x 100000 lost 1
         0.15 rate 15000
         0.16667 > 2
         0.20 < p 0.01 x 100000
         0.20 rate 20000",
    );
}

#[test]
fn the_time_for_which_a_receiver_holds_a_report_is_part_of_the_round_trip_or_not() {
    // 100 ms of 250 ms were spent at the receiver: a packet of 1000 B per 150 or per 250 ms.
    for (sample, rate) in [("path", "6666.7"), ("whole", "4000")] {
        let keys = format!(
            r#"{{"preset": "rfc3448", "packet_size": "1000 B", "first_interval": "10 s", "rtt_sample": "{sample}"}}"#
        );
        play_sender(&keys, &format!("0 > 0\n0.25 < p 0 x 0 age 0.25 held 0.1\n0.25 > 1\n0.25 rate {rate}"));
    }
}

#[test]
fn a_silence_halves_what_limits_and_a_minimum_of_a_packet_per_round_trip_time_holds() {
    // The equation limits (17701 B/s at p = 0.1): after 400 ms without a report half of that is allowed.
    play_sender(
        r#"{"preset": "rfc3448", "packet_size": "1000 B", "minimum_rate": "packet-per-rtt", "first_interval": "10 s",
            "interpacket_correction": "off"}"#,
        "0      > 0
         0.1    < p 0.1 x 20000 lost 1
         0.1    rate 17701
         0.1    > 1
         0.156494 > 2
         0.212988 > 3
         0.269482 > 4
         0.325976 > 5
         0.382470 > 6
         0.438964 > 7
         0.495458 > 8
         0.5001 rate 10000
         0.595458 > 9",
    );
}

#[test]
fn headercasting_gives_back_what_the_silence_took() {
    let tape = |rate: &str| {
        format!(
            "0      > 0
             0.1    < p 0.1 x 20000 lost 1
             0.1    > 1
             0.156494 > 2
             0.212988 > 3
             0.269482 > 4
             0.325976 > 5
             0.382470 > 6
             0.438964 > 7
             0.495458 > 8
             0.5001 rate 8850.5
             0.55   < p 0.1 x 5000
             0.55   rate {rate}"
        )
    };
    play_sender(
        r#"{"preset": "rfc3448", "first_interval": "10 s", "interpacket_correction": "off", "headercast": "on"}"#,
        &tape("17701"),
    );
    play_sender(r#"{"preset": "rfc3448", "first_interval": "10 s", "interpacket_correction": "off"}"#, &tape("10000"));
}

#[test]
fn the_receiver_reports_the_first_packet_at_once_then_each_round_trip_time_while_data_comes() {
    let before = "0.00 < 0
         0.00 > report
         0.04 < 1
         0.08 < 2
         0.10 > report x 20000
         0.35 < 3";
    // RFC 3448: after a silence the timer keeps its beat, and the rate is that since the last report.
    for (preset, after) in
        [("rfc5348", "0.35 > report x 10000\n 0.38 < 4\n 0.45 > report x 10000"), ("rfc3448", "0.40 > report x 3333.3")]
    {
        play_receiver(&format!(r#"{{"preset": "{preset}"}}"#), &format!("{before}\n{after}"));
    }
}

#[test]
fn the_first_interval_is_made_from_the_largest_rate_so_far_or_from_half_a_packet_per_round_trip_time() {
    // 40000 B/s were reported before; in the 100 ms that end with the loss 20000 B/s have come.
    play_receiver(
        r#"{"preset": "rfc5348"}"#,
        "0.00 < 0
         0.00 > report
         0.02 < 1
         0.04 < 2
         0.06 < 3
         0.08 < 4
         0.10 > report x 40000
         0.12 < 6
         0.20 > report x 10000
         0.29 < 7
         0.295 < 8
         0.295 > report x 20000
         0.295 p 0.045455",
    );
    // The first packet of all was lost.
    play_receiver(
        r#"{"preset": "rfc5348"}"#,
        "0.00 < 1
         0.00 > report
         0.02 < 2
         0.04 < 3
         0.04 > report x 30000
         0.04 p 0.20643",
    );
}

#[test]
fn a_loss_event_is_reported_when_three_later_packets_have_come_and_losses_within_a_round_trip_belong_to_it() {
    // The first interval is made up: 50000 B/s came in the last 100 ms, which the equation allows at p = 0.03438.
    play_receiver(
        r#"{"preset": "rfc5348"}"#,
        "0.00 < 0
         0.00 > report
         0.03 < 1
         0.06 < 3
         0.08 < 4
         0.09 < 6
         0.09 > report x 50000
         0.09 p 0.034378
         0.12 < 7
         0.13 < 8
         0.19 > report",
    );
}

#[test]
fn three_reports_per_round_trip_time_come_three_times_as_often() {
    play_receiver(
        r#"{"preset": "rfc5348", "feedback_per_rtt": 3}"#,
        "0.00 < 0
         0.00 > report
         0.03 < 1
         0.033334 > report
         0.05 < 2
         0.066667 > report",
    );
}

#[test]
fn a_notice_of_a_new_link_is_reported_for_its_round_trips_and_then_forgotten_with_the_old_link() {
    // 48000 B/s need p = 0.036256 at the sender's 100 ms.
    play_receiver(
        r#"{"preset": "rfc5348", "notify": [{"at": "0.2 s", "rate": "384 kbit/s", "rtt": "100 ms", "for_rtts": 2}]}"#,
        "0.00 < 0
         0.00 > report
         0.05 < 1
         0.10 > report
         0.15 < 2
         0.20 > report x 48000
         0.20 p 0.036256
         0.25 < 3
         0.30 > report x 48000
         0.35 < 4
         0.45 < 5
         0.50 > report x 10000
         0.50 p 0.036256",
    );
}
