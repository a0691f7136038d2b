//! Timeouts that turn out to have been spurious, with both ends at work: what the verdict brings back.

use crosswind_base::units::Size;
use crosswind_base::{Dur, Time};
use crosswind_testkit::tcp::pair::{Fate, Pair, Pick};
use crosswind_testkit::tcp::tape::play;
use crosswind_transport::tcp::params::*;
use crosswind_transport::tcp::{TcpParams, preset};

const MSS: u64 = 1000;
const LAWS: [LawName; 11] = [
    LawName::Reno,
    LawName::Ltcp,
    LawName::Hstcp,
    LawName::Scalable,
    LawName::Aimd,
    LawName::Bic,
    LawName::Htcp,
    LawName::Fast,
    LawName::Cubic,
    LawName::Vegas,
    LawName::Westwood,
];

/// Where a judgement comes from.
#[derive(Clone, Copy, Debug)]
enum By {
    Eifel,
    Frto,
}

fn params(law: LawName, by: By, response: SpuriousResponse) -> TcpParams {
    let rfc = preset::preset("rfc").expect("a preset");
    let (mss, initial_ssthresh) = (Size(MSS), Size(20 * MSS));
    let p = rfc.with(|p| {
        p.controller.law = law;
        p.connection.mss = mss;
        p.window.initial_ssthresh = initial_ssthresh;
        p.undo.spurious_response = response;
        p.window.window_limit_segments = 200;
    });
    match by {
        By::Eifel => p.with(|p| {
            p.connection.timestamps = Switch::On;
            p.receiver.sack_blocks = 3;
            p.undo.eifel = Switch::On;
        }),
        By::Frto => p.with(|p| p.undo.frto = Frto::Sack),
    }
}

/// A law in words, without the time of the last ACK (CUBIC), which goes on.
fn shown(law: &impl std::fmt::Debug) -> String {
    let words = format!("{law:?}");
    match words.split_once("heard: ") {
        Some((head, tail)) => head.to_owned() + tail.split_once(", ").map_or("", |t| t.1),
        None => words,
    }
}

/// The law before the first timeout, and when that timeout has been found to be spurious. A segment is lost early, and
/// from 2 s to 3.6 s nothing arrives: the timer expires once.
fn before_and_after(p: TcpParams) -> (String, String) {
    let mut w = Pair::new(p, 20_000 * MSS, Dur::from_millis(50), 1);
    w.forward.rules.push((Pick::Seq { seq: 1 + 50 * MSS, copy: 0 }, Fate::Lose));
    let (from, until) = (Time::from_secs_f64(2.0), Time::from_secs_f64(3.6));
    w.forward.rules.push((Pick::During { from, until }, Fate::HoldUntil(until)));
    w.open();
    let mut before = String::new();
    loop {
        let tx = w.left.conn.tx.get().map(|tx| (tx.stats.timeouts, tx.stats.spurious_detected, shown(&tx.law)));
        match tx {
            Some((0, _, law)) => before = law,
            Some((_, 1, law)) => return (before, law),
            _ => {}
        }
        assert!(w.step(), "the timeout is found to be spurious");
    }
}

#[test]
fn a_spurious_timeout_leaves_every_law_as_it_was() {
    for by in [By::Eifel, By::Frto] {
        for law in LAWS {
            let (before, after) = before_and_after(params(law, by, SpuriousResponse::Full));
            assert_eq!(before, after, "{law:?} {by:?}");
        }
    }
}

#[test]
fn a_response_that_keeps_the_reduction_keeps_what_the_law_made_of_it() {
    for law in [LawName::Cubic, LawName::Bic, LawName::Htcp] {
        let (before, after) = before_and_after(params(law, By::Eifel, SpuriousResponse::Half));
        assert_ne!(before, after, "{law:?}");
    }
}

/// The tape of `eifel_fast_retransmit_unlocked`, with blocks where the rule reads them.
fn a_loss_in_the_flight_of_a_spike(rule: &str) -> String {
    let sack = if rule.contains("sack") || rule == "fack" { "on" } else { "off" };
    let block = |n: u32| if sack == "on" { format!(" sack 2001:{}", 1001 + 1000 * n) } else { String::new() };
    let flight: String = (0..8).map(|n| format!("+0 > . {}:{}\n", 1 + 1000 * n, 1001 + 1000 * n)).collect();
    let duplicates: String =
        (2..5).map(|n| format!("+0.07 < . ack 1001{} ts {}:101\n", block(n), 900 + 70 * n)).collect();
    format!(
        "params preset=rfc mss=\"1000 B\" initial_window_segments=8 limited_transmit=off timestamps=on eifel=on sack={sack} \
         recovery={rule} spurious_response=halved\nhandshake 0.1 win 65535\n+0 write 40000\n{flight}1.1 > . 1:1001 again\n\
         +0.2 < . ack 1001 ts 900:101\n+0 expect spurious 1\n{duplicates}+0 > . 1001:2001 again\n+0 expect recoveries 1\n\
         +0 expect timeouts 1\n"
    )
}

#[test]
fn after_a_spurious_timeout_every_rule_may_find_a_loss_whatever_the_response() {
    for rule in ["newreno", "ns2-reno", "ns2-newreno", "ns2-sack1", "newreno-sack", "reno", "sack", "fack"] {
        let text = a_loss_in_the_flight_of_a_spike(rule);
        play(rule, &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let blocked = text.replace("spurious_response=halved", "spurious_response=halved spurious_unlock=off");
        if !["sack", "fack"].contains(&rule) {
            assert!(play(rule, &blocked).is_err(), "{rule}: it stays locked when it is told to");
        }
    }
}
