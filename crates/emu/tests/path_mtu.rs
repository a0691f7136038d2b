//! A link behind a router with a smaller MTU: the sender is told, in the time that the way back takes, or the packet is
//! cut; and a tape that has forgotten the payload decides the same.

use crosswind_base::{Dur, Time};
use crosswind_emu::delivery::{Delivery, Sink};
use crosswind_emu::frame::parse;
use crosswind_emu::journal::Keep;
use crosswind_emu::network::Network;
use crosswind_emu::spec::{EgressSpec, FlowPorts, Host, Route, Spec, router, v4_of, v6_of};
use serde_json::{Value, json};

const MTU_BYTES: u16 = 576;

/// `a -- middle -- b`; the second link carries `MTU_BYTES`, forward and back.
fn spec() -> Spec {
    let egress = |[link, direction, from, to]: [&str; 4], mtu_bytes: Option<u16>| EgressSpec {
        link: link.into(),
        direction: direction.into(),
        from: from.into(),
        to: to.into(),
        rate_bps: 8_000_000,
        body: json!({"type": "wire", "rate": "8 Mbit/s", "delay": "10 ms"}),
        queue: json!("droptail"),
        loss: None,
        delayers: Value::Null,
        mtu_bytes,
    };
    Spec {
        name: "path".into(),
        seed: 1,
        rep: 0,
        hosts: ["a", "b"].map(|n| Host { name: n.into() }).to_vec(),
        egresses: vec![
            egress(["first", "forward", "a", "middle"], None),
            egress(["first", "reverse", "middle", "a"], None),
            egress(["second", "forward", "middle", "b"], Some(MTU_BYTES)),
            egress(["second", "reverse", "b", "middle"], Some(MTU_BYTES)),
        ],
        routes: vec![Route::of_all(0, 1, vec![0, 2]), Route::of_all(1, 0, vec![3, 1])],
        flow_ports: FlowPorts::default(),
        receivers: Vec::new(),
        flow_names: Default::default(),
        boundaries: Vec::new(),
        subjects: Vec::new(),
        gateway: None,
        start: Default::default(),
    }
}

#[derive(Default)]
struct Arrived(Vec<(Time, u32, Vec<u8>)>);

impl Sink for Arrived {
    fn deliver(&mut self, d: Delivery<'_>) {
        self.0.push((d.at, d.port, d.frame.to_vec()));
    }
}

/// UDP from `a` to `b`, `flags` being the word of the flags of IPv4.
fn datagram(len: u16, flags: u16) -> Vec<u8> {
    let mut f: Vec<u8> = (0..len).map(|i| i as u8).collect();
    f[..2].copy_from_slice(&[0x45, 0]);
    f[2..4].copy_from_slice(&len.to_be_bytes());
    f[6..8].copy_from_slice(&flags.to_be_bytes());
    f[8..12].copy_from_slice(&[64, 17, 0, 0]);
    f[12..16].copy_from_slice(&v4_of(0));
    f[16..20].copy_from_slice(&v4_of(1));
    f
}

fn network() -> Network {
    Network::build(&spec(), Keep::All).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_message_comes_back_over_the_link_that_the_packet_came_over() {
    let (mut n, mut got) = (network(), Arrived::default());
    n.arrive(Time::ZERO, 0, &mut datagram(1000, 0x4000), &mut got);
    n.serve(Time::from_secs_f64(1.0), &mut got);
    let [(at, port, m)] = got.0.as_slice() else { panic!("{:?}", got.0) };
    // 1000 bytes at 8 Mbit/s and 10 ms to the router, 576 bytes and 10 ms back.
    assert_eq!((*at, *port), (Time::ZERO + Dur::from_micros(11_000 + 10_576), 0));
    assert_eq!((m[20], m[21], &m[26..28]), (3, 4, &MTU_BYTES.to_be_bytes()[..]));
    let middle = spec().egresses.iter().position(|e| e.from == "middle").unwrap();
    assert_eq!((&m[12..16], &m[16..20]), (&router(middle).v4[..], &v4_of(0)[..]));
    assert_eq!((n.totals.too_big_packets, n.totals.fragmented_packets, n.packets_inside()), (1, 0, 0));
}

#[test]
fn a_link_of_the_senders_own_answers_at_once() {
    let (mut n, mut got) = (network(), Arrived::default());
    let mut f = datagram(1000, 0x4000);
    f[12..16].copy_from_slice(&v4_of(1));
    f[16..20].copy_from_slice(&v4_of(0));
    n.arrive(Time::ZERO, 1, &mut f, &mut got);
    let [(at, port, m)] = got.0.as_slice() else { panic!("{:?}", got.0) };
    assert_eq!((*at, *port, m[20]), (Time::ZERO, 1, 3));
}

#[test]
fn a_packet_that_may_be_cut_arrives_in_pieces() {
    let (mut n, mut got) = (network(), Arrived::default());
    let f = datagram(1400, 0);
    n.arrive(Time::ZERO, 0, &mut f.clone(), &mut got);
    n.serve(Time::from_secs_f64(1.0), &mut got);
    let lens: Vec<_> = got.0.iter().map(|(_, _, p)| p.len()).collect();
    assert_eq!(lens, [572, 572, 296], "552 = 69 * 8 bytes of data twice, and the rest");
    let whole: Vec<u8> = got.0.iter().flat_map(|(_, _, p)| p[20..].to_vec()).collect();
    assert_eq!(whole, f[20..]);
    assert_eq!((n.totals.too_big_packets, n.totals.fragmented_packets, n.packets_inside()), (0, 1, 0));
}

#[test]
fn ipv6_is_told_as_well_and_small_packets_of_it_pass() {
    let (mut n, mut got) = (network(), Arrived::default());
    let v6 = |len: u16| {
        let mut f = vec![0; usize::from(len)];
        f[0] = 0x60;
        f[4..6].copy_from_slice(&(len - 40).to_be_bytes());
        f[6] = 17;
        f[8..24].copy_from_slice(&v6_of(0));
        f[24..40].copy_from_slice(&v6_of(1));
        f
    };
    n.arrive(Time::ZERO, 0, &mut v6(1281), &mut got);
    n.arrive(Time::ZERO, 0, &mut v6(1280), &mut got);
    n.serve(Time::from_secs_f64(1.0), &mut got);
    let of = |port: u32| got.0.iter().filter(|a| a.1 == port).map(|a| &a.2).collect::<Vec<_>>();
    assert_eq!((of(1).len(), of(1)[0].len()), (1, 1280));
    assert_eq!((of(0).len(), of(0)[0][40], &of(0)[0][44..48]), (1, 2, &1280u32.to_be_bytes()[..]));
}

#[test]
fn what_is_decided_depends_on_headers_only() {
    let decided = |has_payload: bool| {
        let (mut n, mut got) = (network(), Arrived::default());
        for k in 0..200u64 {
            let mut f = datagram(300 + (k * 37 % 1200) as u16, if k % 3 == 0 { 0 } else { 0x4000 });
            if !has_payload {
                f[64..].fill(0);
            }
            n.arrive(Time::ZERO + Dur::from_micros(k * 700), 0, &mut f, &mut got);
        }
        n.serve(Time::from_secs_f64(5.0), &mut got);
        assert!(got.0.iter().all(|a| parse(&a.2).is_ok()) && n.packets_inside() == 0);
        (n.journal.fingerprint(), n.journal.count())
    };
    assert_eq!(decided(true), decided(false));
}
