//! CAKE between emulated hosts: it knows them by their addresses, and reads what their acknowledgements say.

use crosswind_base::{Dur, Time};
use crosswind_emu::delivery::{Delivery, Sink};
use crosswind_emu::journal::Keep;
use crosswind_emu::network::Network;
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
            delayers: Value::Null,
            mtu_bytes: None,
        }],
        routes: [0, 1].map(|from| Route::of_all(from, 2, vec![0])).to_vec(),
        flow_ports: FlowPorts::default(),
        receivers: Vec::new(),
        flow_names: Default::default(),
        boundaries: Vec::new(),
        subjects: Vec::new(),
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

/// A segment without data of the first host, with this number acknowledged.
fn acknowledgement(ack: u32) -> Vec<u8> {
    let mut f = frame(1, 80);
    f.truncate(40);
    f[2..4].copy_from_slice(&40u16.to_be_bytes());
    f[9] = 6;
    f[10..12].copy_from_slice(&[0, 0]);
    f[24..28].copy_from_slice(&1u32.to_be_bytes());
    f[28..32].copy_from_slice(&ack.to_be_bytes());
    (f[32], f[33]) = (0x50, 0x10);
    f
}

#[derive(Default)]
struct Acks(Vec<u32>);

impl Sink for Acks {
    fn deliver(&mut self, d: Delivery<'_>) {
        self.0.push(u32::from_be_bytes([d.frame[28], d.frame[29], d.frame[30], d.frame[31]]));
    }
}

#[test]
fn acknowledgements_of_real_hosts_give_way_to_newer_ones() {
    // Across the wrap-around of real numbers, which begin anywhere.
    let numbers: Vec<u32> = (0..20).map(|i| (u32::MAX - 5_000).wrapping_add(i * 1_000)).collect();
    for (filter, expected) in [("off", 0..20), ("on", 18..20), ("aggressive", 19..20)] {
        let mut s = spec("flows");
        s.egresses[0].queue["ack_filter"] = filter.into();
        let mut network = Network::build(&s, Keep::default()).expect("it can be built");
        let mut got = Acks::default();
        // The first leaves at once.
        for n in std::iter::once(1).chain(numbers.iter().copied()) {
            network.arrive(Time::ZERO, 0, &mut acknowledgement(n), &mut got);
        }
        network.serve(Time::ZERO + Dur(1_000_000_000), &mut got);
        assert_eq!(got.0[1..], numbers[expected], "{filter}");
    }
}
