//! CAKE between emulated hosts: it knows them by their addresses.

use crosswind_base::{Dur, Time};
use crosswind_emu::journal::Keep;
use crosswind_emu::network::{Delivery, Network, Sink};
use crosswind_emu::spec::{EgressSpec, FlowPorts, Host, Route, Spec};
use serde_json::{Value, json};

/// What arrives, by the last byte of the source address.
#[derive(Default)]
struct Count([u32; 4]);

impl Sink for Count {
    fn deliver(&mut self, d: Delivery<'_>) {
        self.0[usize::from(d.frame[15])] += 1;
    }
}

/// Two hosts and one that they send to, behind one link.
fn spec(isolation: &str) -> Spec {
    Spec {
        name: "home".into(),
        seed: 1,
        rep: 0,
        hosts: ["a", "b", "c"].map(|n| Host { name: n.into() }).to_vec(),
        egresses: vec![EgressSpec {
            link: "path".into(),
            direction: "forward".into(),
            from: "r".into(),
            to: "c".into(),
            rate_bps: 100_000_000,
            body: json!({"type": "wire", "rate": "100 Mbit/s", "delay": "7 ms"}),
            queue: json!({"type": "cake", "rate": "8 Mbit/s", "isolation": isolation}),
            loss: None,
            holdups: Value::Null,
            mtu_bytes: None,
        }],
        routes: [0, 1].map(|from| Route { from, to: 2, hops: vec![0] }).to_vec(),
        flow_ports: FlowPorts::default(),
        flow_names: Default::default(),
        gateway: None,
        start: Default::default(),
    }
}

/// A datagram of 1000 bytes from a host to the third.
fn frame(from: u8, port: u16) -> Vec<u8> {
    let mut f = vec![0; 1000];
    (f[0], f[8], f[9]) = (0x45, 64, 17);
    f[2..4].copy_from_slice(&1000u16.to_be_bytes());
    f[12..16].copy_from_slice(&[198, 18, 0, from]);
    f[16..20].copy_from_slice(&[198, 18, 0, 3]);
    f[20..22].copy_from_slice(&port.to_be_bytes());
    f[22..24].copy_from_slice(&9u16.to_be_bytes());
    f[24..26].copy_from_slice(&980u16.to_be_bytes());
    let sum: u32 = f[..20].chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    f[10..12].copy_from_slice(&checksum.to_be_bytes());
    f
}

/// The share of the first host, which sends one flow of 8 Mbit/s beside three of the second.
fn share(isolation: &str) -> f64 {
    let mut network = Network::build(&spec(isolation), Keep::default()).expect("it can be built");
    let mut got = Count::default();
    for i in 0..20_000u64 {
        for (host, port) in [(1, 100), (2, 200), (2, 201), (2, 202)] {
            network.arrive(Time::ZERO + Dur(i * 1_000_000), host - 1, &mut frame(host as u8, port), &mut got);
        }
    }
    f64::from(got.0[1]) / f64::from(got.0[1] + got.0[2])
}

#[test]
fn hosts_are_told_apart_by_their_addresses() {
    for (isolation, expected) in
        [("flows", 0.25), ("triple-isolate", 0.25), ("dual-srchost", 0.5), ("dual-dsthost", 0.25), ("srchost", 0.5)]
    {
        // With one destination, triple isolation counts that: its flows are more than those of either source.
        let s = share(isolation);
        assert!((s / expected - 1.0).abs() < 0.02, "{isolation}: {s}");
    }
}
