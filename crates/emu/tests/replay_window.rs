//! A tunnel with a replay window between real hosts: frames that come too late behind others are refused.

use crosswind_base::Time;
use crosswind_emu::delivery::{Delivery, Sink};
use crosswind_emu::frame::checksum;
use crosswind_emu::journal::Keep;
use crosswind_emu::network::Network;
use crosswind_emu::spec::{Spec, v4_of};
use serde_json::json;

/// Frames with ECT(1) pass those that wait without.
fn network(window: u32) -> Network {
    let egress = |direction: &str, from: &str, to: &str| {
        json!({"link": "l", "direction": direction, "from": from, "to": to, "rate_bps": 8_000_000,
            "body": {"type": "wire", "rate": "8 Mbit/s", "delay": "1 ms"}, "queue": {"type": "dualpi2", "scheduler": "strict"},
            "loss": {"type": "replay-window", "window": window}})
    };
    let spec = json!({
        "name": "tunnel", "seed": 1, "rep": 0, "hosts": [{"name": "a"}, {"name": "b"}],
        "egresses": [egress("forward", "a", "b"), egress("reverse", "b", "a")],
        "routes": [{"from": 0, "to": 1, "hops": [0]}], "flow_ports": {"first": 20_000, "flows": 0},
    });
    let spec: Spec = serde_json::from_value(spec).expect("a spec");
    Network::build(&spec, Keep::Fingerprint).unwrap_or_else(|e| panic!("{e}"))
}

/// UDP from `a` to `b` with this ECN field, and a number to know it by.
fn datagram(ecn: u8, number: u8) -> Vec<u8> {
    let mut f = vec![0; 100];
    f[..4].copy_from_slice(&[0x45, ecn, 0, 100]);
    f[8..10].copy_from_slice(&[64, 17]);
    f[12..16].copy_from_slice(&v4_of(0));
    f[16..20].copy_from_slice(&v4_of(1));
    f[99] = number;
    let sum = checksum(&f[..20]);
    f[10..12].copy_from_slice(&sum.to_be_bytes());
    f
}

#[derive(Default)]
struct Arrived(Vec<Vec<u8>>);

impl Sink for Arrived {
    fn deliver(&mut self, d: Delivery<'_>) {
        self.0.push(d.frame.to_vec());
    }
}

#[test]
fn a_frame_that_too_many_have_overtaken_is_refused() {
    // The first one is on the line when the second comes, without ECN; five more pass it: it is five behind the newest.
    for (window, expected) in
        [(5, vec![0, 2, 3, 4, 5, 6]), (6, vec![0, 2, 3, 4, 5, 6, 1]), (0, vec![0, 2, 3, 4, 5, 6, 1])]
    {
        let (mut n, mut arrived) = (network(window), Arrived::default());
        for number in 0..7 {
            n.arrive(Time::ZERO, 0, &mut datagram(u8::from(number != 1), number), &mut arrived);
        }
        n.serve(Time::from_secs_f64(1.0), &mut arrived);
        let numbers: Vec<u8> = arrived.0.iter().map(|f| f[99]).collect();
        assert_eq!(numbers, expected, "window {window}");
    }
}
