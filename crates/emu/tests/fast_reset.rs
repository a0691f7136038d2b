//! Fast Reset between real hosts: what waits for a connection that was reset is thrown away, by the five-tuple in the bytes.

use crosswind_base::{DropReason, Dur, Time};
use crosswind_emu::delivery::{Delivery, Sink};
use crosswind_emu::journal::Keep;
use crosswind_emu::network::Network;
use crosswind_emu::spec::{EgressSpec, FlowPorts, Host, Route, Spec};
use serde_json::json;

/// 30 kbit/s from `a` to `b`, with Fast Reset.
fn spec() -> Spec {
    let egress = |direction: &str, from: &str, to: &str| EgressSpec {
        link: "hop".into(),
        direction: direction.into(),
        from: from.into(),
        to: to.into(),
        rate_bps: 30_000,
        body: json!({"type": "wire", "rate": "30 kbit/s", "delay": "300 ms"}),
        queue: json!({"type": "droptail", "limit": "100 packets"}),
        loss: None,
        delayers: json!({"fast_reset": {}}),
        mtu_bytes: None,
    };
    Spec {
        name: "hop".into(),
        seed: 1,
        rep: 0,
        hosts: ["a", "b"].map(|n| Host { name: n.into() }).to_vec(),
        egresses: vec![egress("forward", "a", "b"), egress("reverse", "b", "a")],
        routes: vec![Route::of_all(0, 1, vec![0]), Route::of_all(1, 0, vec![1])],
        // Everything from or to port 80 is one declared flow: its connections must be told apart all the same.
        flow_ports: FlowPorts { first: 80, flows: 1 },
        receivers: Vec::new(),
        flow_names: Default::default(),
        boundaries: Vec::new(),
        subjects: Vec::new(),
        gateway: None,
        start: Default::default(),
    }
}

const RST: u8 = 0x04;
const ACK: u8 = 0x10;

fn segment(from: u8, ports: [u16; 2], flags: u8, len: u16) -> Vec<u8> {
    let mut f = vec![0; usize::from(len)];
    f[0] = 0x45;
    f[2..4].copy_from_slice(&len.to_be_bytes());
    f[9] = 6;
    f[12..16].copy_from_slice(&[198, 18, 0, from]);
    f[16..20].copy_from_slice(&[198, 18, 0, 3 - from]);
    f[20..22].copy_from_slice(&ports[0].to_be_bytes());
    f[22..24].copy_from_slice(&ports[1].to_be_bytes());
    f[32] = 0x50;
    f[33] = flags;
    f
}

/// When segments reached `b`, and their destination port.
#[derive(Default)]
struct Arrived(Vec<(Time, u16)>);

impl Sink for Arrived {
    fn deliver(&mut self, d: Delivery<'_>) {
        if d.port == 1 {
            self.0.push((d.at, u16::from_be_bytes([d.frame[22], d.frame[23]])));
        }
    }
}

#[test]
fn a_reset_empties_the_queue_of_its_own_connection_and_of_no_other() {
    let mut n = Network::build(&spec(), Keep::Fingerprint).unwrap_or_else(|e| panic!("{e}"));
    let mut got = Arrived::default();
    // Ten segments of 1000 bytes of each of two connections, in turns: 5.3 s of the link.
    for k in 0..10u64 {
        for port in [4000, 4001] {
            let at = Time::ZERO + Dur::from_millis(k);
            n.arrive(at, 0, &mut segment(1, [80, port], ACK, 1000), &mut got);
        }
    }
    // At 1 s the first breaks off; its reset is at the router 10.7 ms and 300 ms later.
    let broken = Time::from_secs_f64(1.0);
    n.arrive(broken, 1, &mut segment(2, [4000, 80], RST, 40), &mut got);
    n.serve(Time::from_secs_f64(60.0), &mut got);
    let of = |port: u16| got.0.iter().filter(|a| a.1 == port).count();
    assert_eq!(of(4001), 10, "the other connection loses nothing");
    // Until 1.31 s four segments have been sent and the fifth is being sent: three of the first connection.
    assert_eq!(of(4000), 3);
    assert_eq!(n.losses.by_reason[0][DropReason::Reset as usize], 7);
    // Nothing is remembered: a new connection on the same ports is unharmed.
    n.arrive(Time::from_secs_f64(61.0), 0, &mut segment(1, [80, 4000], ACK, 1000), &mut got);
    n.serve(Time::from_secs_f64(70.0), &mut got);
    assert_eq!(got.0.iter().filter(|a| a.1 == 4000).count(), 4);
    assert_eq!(n.packets_inside(), 0);
}
