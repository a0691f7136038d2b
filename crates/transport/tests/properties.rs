//! Whatever a network does to packets, what TCP promises holds: every preset and every detector, random loss, marks,
//! duplicates and reordering in both directions. Seeds are fixed; a failure names its case.

use crosswind_base::units::Size;
use crosswind_base::{Dur, Streams, Time};
use crosswind_testkit::tcp::pair::{Closes, Dice, End, Host, Pair};
use crosswind_transport::tcp::ecn::OptionRule;
use crosswind_transport::tcp::law::Controller;
use crosswind_transport::tcp::params::*;
use crosswind_transport::tcp::{TcpParams, preset};

/// Every preset, and every detector and switch that a preset does not reach.
fn variants() -> Vec<(String, TcpParams)> {
    let make = |name: &str| preset::preset(name).expect("a preset of that name");
    let mut out: Vec<(String, TcpParams)> = preset::names().into_iter().map(|n| (n.to_string(), make(n))).collect();
    let rfc = make("rfc").with(|p| {
        p.connection.mss = Size(1000);
        p.ecn.mode = EcnMode::Classic;
    });
    for (name, recovery) in [("reno", Detection::Reno), ("newreno", Detection::Newreno), ("sack", Detection::Sack)] {
        for frto in [Frto::Off, Frto::Basic] {
            for limited_transmit in [Switch::On, Switch::Off] {
                let p = rfc.clone().with(|p| {
                    p.recovery.detection = recovery;
                    p.undo.frto = frto;
                    p.recovery.limited_transmit = limited_transmit;
                });
                out.push((format!("rfc {name} {frto:?} limited {limited_transmit:?}"), p));
            }
        }
    }
    let frto = Frto::Sack;
    out.push(("rfc sack frto sack".into(), rfc.clone().with(|p| p.undo.frto = frto)));
    out.push(("rfc timestamps".into(), rfc.clone().with(|p| p.connection.timestamps = Switch::On)));
    let clear = SackAfterTimeout::Clear;
    out.push(("enhanced clear".into(), make("enhanced-linux-2.4").with(|p| p.recovery.sack_after_timeout = clear)));
    out.push(("rfc fack".into(), rfc.clone().with(|p| p.recovery.detection = Detection::Fack)));
    let small = rfc.clone().with(|p| {
        p.receiver.receive_buffer = Size(5500);
        p.host.send_buffer = Size(9000);
        p.host.nagle = Switch::Off;
    });
    out.push(("rfc small buffers".into(), small));
    for (ecn, codepoint, option) in [
        (EcnMode::Dctcp, Codepoint::Ect0, OptionRule::Minimum),
        (EcnMode::Accurate, Codepoint::Ect0, OptionRule::Always),
        (EcnMode::Accurate, Codepoint::Ect1, OptionRule::Minimum),
    ] {
        let ecn_rules = EcnRules { option, ..EcnRules::default() };
        let p = rfc.clone().with(|p| {
            p.ecn.mode = ecn;
            p.ecn.codepoint = codepoint;
            p.ecn.ecn_rules = ecn_rules;
        });
        out.push((format!("rfc ecn {ecn:?} {codepoint:?}"), p.clone()));
        out.push((
            format!("rfc ecn {ecn:?} {codepoint:?} with timestamps"),
            p.with(|p| p.connection.timestamps = Switch::On),
        ));
    }
    let eager = rfc.with(|p| {
        p.receiver.delayed_ack = Dur::ZERO;
        p.window.max_burst_segments = 3;
    });
    out.push(("rfc every segment, bursts of three".into(), eager));
    out
}

fn world(p: &TcpParams, seed: u64) -> Pair {
    let mut r = Streams::new(seed).named("world");
    let bytes = 1 + r.below(120_000);
    let mut w = Pair::new(p.clone(), bytes, Dur::from_millis(1 + r.below(200)), seed);
    if r.chance(0.3) && p.connection.handshake != Handshake::Ns2 {
        w = w.both_write(1 + r.below(30_000));
    }
    // ns-2's agents count segments: they must be full.
    let mss = p.connection.mss.0;
    if p.connection.handshake == Handshake::Ns2 {
        w.left.to_write = w.left.to_write.div_ceil(mss) * mss;
        w.left.closes = Closes::Never;
    }
    w.left.write_size =
        if r.chance(0.5) || p.connection.handshake == Handshake::Ns2 { 1 << 40 } else { 1 + r.below(8 * mss) };
    let dice = |r: &mut crosswind_base::Rng| Dice {
        lose: if r.chance(0.7) { r.between(0.0, 0.12) } else { 0.0 },
        mark: if r.chance(0.5) { r.between(0.0, 0.2) } else { 0.0 },
        duplicate: if r.chance(0.3) { r.between(0.0, 0.1) } else { 0.0 },
        late: if r.chance(0.5) { r.between(0.0, 0.2) } else { 0.0 },
        late_by_max: Dur::from_millis(1 + r.below(1500)),
    };
    w.forward.dice = dice(&mut r);
    w.reverse.dice = dice(&mut r);
    w
}

/// Facts that hold after every event.
fn check_host(h: &Host, peer: &Host, what: &str) {
    let p = h.conn.params();
    let Some(tx) = h.conn.tx.get() else {
        assert_eq!(peer.conn.rx.delivered(), 0, "{what}: something arrived of what was never sent");
        return;
    };
    assert!(tx.una <= tx.nxt, "{what}: una {} nxt {}", tx.una, tx.nxt);
    assert!(peer.conn.rx.delivered() <= tx.written(), "{what}: more arrived than was written");
    if let Err(e) = tx.audit() {
        panic!("{what}: {e}");
    }
    assert!(tx.law.cwnd() >= 0.5 * p.connection.mss.0 as f64, "{what}: cwnd {}", tx.law.cwnd());
    assert!(
        tx.law.cwnd().is_finite()
            && tx.law.ssthresh() >= 2.0 * p.connection.mss.0.min(p.window.initial_ssthresh.0) as f64,
        "{what}"
    );
}

/// Segments leave only while the window has room by the detector's count; the retransmission that starts a recovery,
/// answers a partial ACK or follows a timeout is free, and so is the one segment of a tail loss probe, and in Linux 2.4 the last one.
fn check_flight(before: (u64, u64), h: &Host, what: &str) {
    let p = h.conn.params();
    let (retransmitted, nxt) = before;
    let Some(tx) = h.conn.tx.get() else { return };
    if tx.nxt == nxt && tx.stats.retransmitted_segments <= retransmitted + 1 {
        return;
    }
    // A FIN takes a number and no room.
    let probe = if p.recovery.tail_probe == TailProbe::On { p.connection.mss.0 } else { 0 };
    let last =
        if p.host.final_segment == FinalSegment::WithPrevious && tx.is_closing() { p.connection.mss.0 } else { 0 };
    let window = tx.law.cwnd() as u64 + u64::from(tx.is_closing()) + probe + last;
    assert!(tx.in_flight(p) <= window, "{what}: {} in flight, cwnd {}", tx.in_flight(p), tx.law.cwnd());
}

fn run(p: &TcpParams, seed: u64, what: &str) -> Pair {
    let mut w = world(p, seed);
    let (left_bytes, right_bytes) = (w.left.to_write, w.right.to_write);
    w.open();
    let limit = Time::from_secs_f64(40_000.0);
    let closes = p.connection.handshake != Handshake::Ns2;
    loop {
        let state = |h: &Host| (h.conn.tx.stats().retransmitted_segments, h.conn.tx.nxt());
        let before = (state(&w.left), state(&w.right));
        if w.now > limit || !w.step() {
            break;
        }
        check_host(&w.left, &w.right, what);
        check_host(&w.right, &w.left, what);
        check_flight(before.0, &w.left, what);
        check_flight(before.1, &w.right, what);
        // ns-2's timer runs on although nothing is outstanding.
        if !closes
            && w.right.conn.rx.delivered() == left_bytes
            && w.left.conn.tx.get().is_none_or(|tx| tx.outstanding() == 0)
        {
            break;
        }
    }
    let arrived = (w.right.conn.rx.delivered(), w.left.conn.rx.delivered());
    let at = w.now;
    assert_eq!(arrived, (left_bytes, right_bytes), "{what}: bytes in order; it is {at:?}");
    if closes {
        assert!(w.is_done(), "{what}: states {:?} {:?}", w.left.conn.state, w.right.conn.state);
    }
    w
}

#[test]
fn every_byte_arrives_once_in_order_and_the_connection_closes_whatever_the_network_does() {
    for (name, p) in variants() {
        // Retries without end: the dice may be unkind.
        let p = p.with(|t| {
            t.timers.retries_max = 1000;
            t.timers.rto_max = Dur::from_secs(20).max(t.timers.rto_initial);
        });
        for seed in 0..60 {
            run(&p, seed, &format!("{name}, seed {seed}"));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_segments() {
    for (name, p) in variants() {
        let p = p.with(|p| p.timers.retries_max = 1000);
        let trace = |seed| format!("{:?}", run(&p, seed, &name).log);
        assert_eq!(trace(7), trace(7), "{name}");
        assert_ne!(trace(7), trace(8), "{name}: two seeds, one trace: the dice are not thrown");
    }
}

#[test]
fn usual_acks_have_the_same_outcome_when_they_take_the_short_way() {
    let mut segments = 0;
    // A window of bytes with a flight of segments is nobody's, but may be asked for.
    let rfc = preset::preset("rfc").expect("a preset of that name");
    let mixed = [Detection::LinuxSack, Detection::LinuxFack]
        .map(|recovery| rfc.clone().with(|p| p.recovery.detection = recovery));
    for (name, p) in variants().into_iter().chain(mixed.map(|p| (format!("rfc {:?}", p.recovery.detection), p))) {
        let p = p.with(|p| p.timers.retries_max = 1000);
        for seed in 100..130 {
            let mut outcome = |is_watched| {
                let mut w = world(&p, seed);
                w.is_watched = is_watched;
                w.run(Time::from_secs_f64(2_000.0));
                segments += w.log.len();
                let ends = [&w.left, &w.right].map(|h| {
                    let marks = h.conn.tx.get().map(|tx| format!("{:?}", tx.ecn));
                    format!("{:?} {:?} {marks:?}", h.conn.tx.stats(), h.conn.window())
                });
                (format!("{:?}", w.log), ends)
            };
            let (watched, alone) = (outcome(true), outcome(false));
            assert_eq!(watched.1, alone.1, "{name}, seed {seed}");
            assert!(watched.0 == alone.0, "{name}, seed {seed}: other segments when nobody watches");
        }
    }
    assert!(segments > 100_000, "{segments} segments are enough to tell");
}

#[test]
fn without_loss_nothing_is_sent_twice() {
    for (name, p) in variants() {
        for ms in [1, 30, 150] {
            let mut w = Pair::new(p.clone(), 90_000, Dur::from_millis(ms), 1);
            w.run(Time::from_secs_f64(300.0));
            assert_eq!(w.retransmitted(End::Left), Vec::<u64>::new(), "{name} at {ms} ms");
            assert_eq!(w.right.conn.rx.delivered(), 90_000, "{name}");
            assert_eq!(w.left.conn.tx.stats().timeouts, 0, "{name} at {ms} ms");
        }
    }
}

#[test]
fn one_lost_segment_costs_one_retransmission_and_no_timeout() {
    for (name, p) in variants() {
        // Ninth segment of a long flow: enough duplicates follow for every detector.
        // The AccECN option, where every segment carries it, takes twelve bytes of each.
        let room = if p.ecn.ecn_rules.option == OptionRule::Always { 12 } else { 0 };
        let seq = 1 + 8 * (p.connection.mss.0 - room);
        let p = p.with(|p| {
            p.receiver.receive_buffer = Size(1 << 20);
            p.host.send_buffer = Size(1 << 20);
        });
        let p = p.with(|t| t.receiver.receive_buffer = Size(t.receiver.receive_buffer.0.min(65535)));
        let mut w = Pair::new(p.clone(), 60 * p.connection.mss.0, Dur::from_millis(50), 1);
        use crosswind_testkit::tcp::pair::{Fate, Pick};
        w.forward.rules.push((Pick::Seq { seq, copy: 0 }, Fate::Lose));
        w.run(Time::from_secs_f64(300.0));
        assert_eq!(w.retransmitted(End::Left), [seq], "{name}");
        assert_eq!(w.left.conn.tx.stats().timeouts, 0, "{name}");
        assert_eq!(w.left.conn.tx.stats().fast_recoveries, 1, "{name}");
    }
}

#[test]
fn the_peers_fin_is_acknowledged_once() {
    // Three packets close a connection whose reader closes with its peer: FIN, FIN that acknowledges it, ACK.
    let p = preset::preset("rfc").expect("a preset");
    let mut w = Pair::new(p, 1000, Dur::from_millis(50), 1);
    w.run(Time::from_secs_f64(60.0));
    assert!(w.is_done());
    let fin_at = w.log.iter().position(|l| l.packet.flags.has(crosswind_base::TcpFlags::FIN)).expect("a FIN was sent");
    let flags: Vec<String> = w.log[fin_at..].iter().map(|l| format!("{:?}", l.packet.flags)).collect();
    assert_eq!(flags, ["F.", "F.", "."]);
}
