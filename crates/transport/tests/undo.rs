//! Timeouts that turn out to have been spurious, with both ends at work: what the verdict brings back.

use crosswind_base::units::Size;
use crosswind_base::{Dur, Time};
use crosswind_testkit::tcp::pair::{Fate, Pair, Pick};
use crosswind_transport::tcp::params::*;
use crosswind_transport::tcp::{TcpParams, preset};

const MSS: u64 = 1000;
const LAWS: [LawName; 10] = [
    LawName::Reno,
    LawName::Ltcp,
    LawName::Hstcp,
    LawName::Scalable,
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
    let p = TcpParams { law, mss, initial_ssthresh, spurious_response: response, window_limit_segments: 200, ..rfc };
    match by {
        By::Eifel => TcpParams { timestamps: Switch::On, sack_blocks: 3, eifel: Switch::On, ..p },
        By::Frto => TcpParams { frto: Frto::Sack, ..p },
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
        let tx =
            w.left.conn.tx.get().map(|tx| (tx.stats.timeouts, tx.stats.spurious_detected, format!("{:?}", tx.law)));
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
