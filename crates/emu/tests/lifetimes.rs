//! Lifetimes in the packets of real hosts: what is over is discarded or loses its payload, what goes on says what is left.

use crosswind_base::packet::{Expired, Life, Lifetime};
use crosswind_base::{DropReason, Dur, Time};
use crosswind_emu::delivery::{Delivery, Sink};
use crosswind_emu::frame::checksum;
use crosswind_emu::journal::Keep;
use crosswind_emu::network::Network;
use crosswind_emu::spec::{EgressSpec, FlowPorts, Host, Route, Spec};
use crosswind_record::option::{TimeOfDay, decode, encode};
use serde_json::json;

const UDP: u8 = 17;
const TCP: u8 = 6;
const NOON: TimeOfDay = TimeOfDay(43_200_000);
const LEN: usize = 500;
/// Of a packet of 500 bytes at 30 kbit/s.
const ON_THE_LINE_MS: f64 = 500.0 * 8.0 / 30.0;
const DELAY_MS: f64 = 300.0;
const IP_BYTES: usize = 28;

/// 30 kbit/s and 300 ms, with lifetime packet discard.
fn network() -> Network {
    let hop = EgressSpec {
        link: "hop".into(),
        direction: "forward".into(),
        from: "a".into(),
        to: "b".into(),
        rate_bps: 30_000,
        body: json!({"type": "wire", "rate": "30 kbit/s", "delay": "300 ms"}),
        queue: json!({"type": "lpd", "queue": {"type": "droptail", "limit": "100 packets"}}),
        loss: None,
        delayers: json!({}),
        mtu_bytes: None,
    };
    let spec = Spec {
        name: "hop".into(),
        seed: 1,
        rep: 0,
        hosts: ["a", "b"].map(|n| Host { name: n.into() }).to_vec(),
        egresses: vec![hop],
        routes: vec![Route::of_all(0, 1, vec![0])],
        flow_ports: FlowPorts { first: 80, flows: 1 },
        receivers: Vec::new(),
        flow_names: Default::default(),
        boundaries: Vec::new(),
        subjects: Vec::new(),
        gateway: None,
        start: NOON,
    };
    Network::build(&spec, Keep::Fingerprint).unwrap_or_else(|e| panic!("{e}"))
}

fn sum_into(frame: &mut [u8], protocol: u8) {
    let (field, pseudo_end) = if protocol == UDP { (6, IP_BYTES) } else { (16, IP_BYTES) };
    let behind = (frame.len() - pseudo_end) as u16;
    let mut all = frame[12..20].to_vec();
    all.extend([0, protocol]);
    all.extend(behind.to_be_bytes());
    all.extend(&frame[pseudo_end..]);
    let sum = checksum(&all).to_be_bytes();
    frame[pseudo_end + field..pseudo_end + field + 2].copy_from_slice(&sum);
}

/// A packet of 500 bytes with the option in its header, all sums right.
fn packet(life: &Life, protocol: u8) -> Vec<u8> {
    let mut f = vec![7; LEN];
    f[..20].fill(0);
    f[0] = 0x47;
    f[2..4].copy_from_slice(&(LEN as u16).to_be_bytes());
    f[8] = 64;
    f[9] = protocol;
    f[12..16].copy_from_slice(&[198, 18, 0, 1]);
    f[16..20].copy_from_slice(&[198, 18, 0, 2]);
    f[20..28].copy_from_slice(&encode(life, NOON));
    let sum = checksum(&f[..IP_BYTES]).to_be_bytes();
    f[10..12].copy_from_slice(&sum);
    f[28..48].fill(0);
    f[28..32].copy_from_slice(&[0, 80, 0x0f, 0xa0]);
    if protocol == UDP {
        f[32..34].copy_from_slice(&((LEN - IP_BYTES) as u16).to_be_bytes());
    } else {
        f[40] = 0x50;
        f[41] = 0x19; // ACK, PSH, FIN
    }
    sum_into(&mut f, protocol);
    f
}

#[derive(Default)]
struct Arrived(Vec<(Time, Vec<u8>)>);

impl Sink for Arrived {
    fn deliver(&mut self, d: Delivery<'_>) {
        self.0.push((d.at, d.frame.to_vec()));
    }
}

/// Twenty packets at once: the link needs 2.7 s for them.
fn twenty(life: Life, protocol: u8) -> (Network, Vec<(Time, Vec<u8>)>) {
    let mut n = network();
    let mut got = Arrived::default();
    for _ in 0..20 {
        n.arrive(Time::ZERO, 0, &mut packet(&life, protocol), &mut got);
    }
    n.serve(Time::from_secs_f64(60.0), &mut got);
    (n, got.0)
}

/// The sums of RFC 791 and of RFC 768 or 9293 come to zero over what carries right ones.
fn has_right_sums(f: &[u8]) -> bool {
    let mut transport = f[12..20].to_vec();
    transport.extend([0, f[9]]);
    transport.extend(((f.len() - IP_BYTES) as u16).to_be_bytes());
    transport.extend(&f[IP_BYTES..]);
    let claimed = usize::from(u16::from_be_bytes([f[2], f[3]]));
    checksum(&f[..IP_BYTES]) == 0 && checksum(&transport) == 0 && claimed == f.len()
}

fn life(expired: Expired) -> Life {
    Life { lifetime: Lifetime::Left(Dur::from_millis(2000)), expired, is_cut: false }
}

#[test]
fn a_lifetime_of_two_seconds_lets_as_many_packets_through_as_the_link_can_deliver_in_it() {
    let (n, got) = twenty(life(Expired::Discard), UDP);
    let in_time = ((2000.0 - DELAY_MS) / ON_THE_LINE_MS).floor() as usize;
    assert_eq!(got.len(), in_time);
    assert_eq!(n.losses.by_reason[0][DropReason::Expired as usize], 20 - in_time as u64);
    assert!(got.iter().all(|(_, f)| f.len() == LEN && has_right_sums(f)));
}

#[test]
fn what_goes_on_says_what_is_left_of_its_lifetime() {
    let (_, got) = twenty(life(Expired::Discard), UDP);
    for (k, (_, f)) in got.iter().enumerate() {
        let left = decode(&f[20..28], Time::ZERO, NOON).map(|l| l.lifetime);
        let Some(Lifetime::Left(left)) = left else { panic!("packet {k}: {left:?}") };
        let waited_ms = k as f64 * ON_THE_LINE_MS;
        assert!((left.as_secs_f64() * 1e3 - (2000.0 - waited_ms)).abs() <= 1.0, "packet {k}: {left:?} left");
    }
}

#[test]
fn a_deadline_is_read_by_the_time_of_day_and_stays_as_it_was_written() {
    let until = Life { lifetime: Lifetime::Until(Time::from_secs_f64(2.0)), expired: Expired::Discard, is_cut: false };
    let (_, got) = twenty(until, UDP);
    assert_eq!(got.len(), ((2000.0 - DELAY_MS) / ON_THE_LINE_MS).floor() as usize);
    assert!(got.iter().all(|(_, f)| f[20..28] == encode(&until, NOON) && has_right_sums(f)));
}

#[test]
fn of_packets_that_ask_for_it_the_headers_arrive_with_right_lengths_and_sums() {
    for (protocol, headers) in [(UDP, 36), (TCP, 48)] {
        let (n, got) = twenty(life(Expired::Headers), protocol);
        assert_eq!((got.len(), n.losses.by_reason[0][DropReason::Expired as usize]), (20, 0));
        let cut: Vec<_> = got.iter().filter(|(_, f)| f.len() < LEN).collect();
        assert_eq!(cut.len(), 20 - ((2000.0 - DELAY_MS) / ON_THE_LINE_MS).floor() as usize);
        assert!(got.iter().all(|(_, f)| has_right_sums(f)));
        assert!(cut.iter().all(|(_, f)| f.len() == headers));
        if protocol == TCP {
            assert!(cut.iter().all(|(_, f)| f[41] == 0x18), "the FIN goes with the payload before it");
        }
    }
}

#[test]
fn packets_with_other_options_or_none_pass_as_they_are() {
    let mut n = network();
    let mut got = Arrived::default();
    let mut other = packet(&life(Expired::Discard), UDP);
    other[20..28].copy_from_slice(&[1, 7, 7, 4, 0, 0, 0, 0]);
    let mut broken = packet(&life(Expired::Discard), UDP);
    broken[20..28].copy_from_slice(&[1, 1, 1, 1, 1, 1, 30, 8]);
    for f in [&mut other, &mut broken] {
        let as_sent = f.clone();
        n.arrive(n.now(), 0, f, &mut got);
        n.serve(n.now() + Dur::from_secs(10), &mut got);
        assert_eq!(got.0.pop().map(|g| g.1), Some(as_sent));
    }
}
