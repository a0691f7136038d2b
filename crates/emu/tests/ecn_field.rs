//! A path that rewrites the ECN field of real frames: the field, and with it the checksum.

use crosswind_base::Time;
use crosswind_emu::delivery::{Delivery, Sink};
use crosswind_emu::frame::checksum;
use crosswind_emu::journal::Keep;
use crosswind_emu::network::Network;
use crosswind_emu::spec::{Spec, v4_of};
use serde_json::json;

fn network(becomes: &str) -> Network {
    let egress = |direction: &str, from: &str, to: &str| {
        json!({"link": "l", "direction": direction, "from": from, "to": to, "rate_bps": 8_000_000,
            "body": {"type": "wire", "rate": "8 Mbit/s", "delay": "1 ms"}, "queue": {"type": "droptail"},
            "loss": {"type": "ecn-field", "becomes": becomes}})
    };
    let spec = json!({
        "name": "field", "seed": 1, "rep": 0, "hosts": [{"name": "a"}, {"name": "b"}],
        "egresses": [egress("forward", "a", "b"), egress("reverse", "b", "a")],
        "routes": [{"from": 0, "to": 1, "hops": [0]}], "flow_ports": {"first": 20_000, "flows": 0},
    });
    let spec: Spec = serde_json::from_value(spec).expect("a spec");
    Network::build(&spec, Keep::Fingerprint).unwrap_or_else(|e| panic!("{e}"))
}

/// UDP from `a` to `b` of class `EF` with this ECN field.
fn datagram(ecn: u8) -> Vec<u8> {
    let mut f = vec![0; 100];
    f[..4].copy_from_slice(&[0x45, 46 << 2 | ecn, 0, 100]);
    f[8..10].copy_from_slice(&[64, 17]);
    f[12..16].copy_from_slice(&v4_of(0));
    f[16..20].copy_from_slice(&v4_of(1));
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
fn frames_arrive_with_the_field_that_the_path_writes_and_a_right_checksum() {
    // Not-ECT, ECT(1), ECT(0), CE as RFC 3168 numbers them; only who is capable can be marked.
    for (becomes, expected) in
        [("not-ect", [0, 0, 0, 0]), ("ect0", [2, 2, 2, 2]), ("ect1", [1, 1, 1, 1]), ("ce", [0, 3, 3, 3])]
    {
        let (mut n, mut arrived) = (network(becomes), Arrived::default());
        for ecn in 0..4 {
            n.arrive(Time::ZERO, 0, &mut datagram(ecn), &mut arrived);
        }
        n.serve(Time::from_secs_f64(1.0), &mut arrived);
        let fields: Vec<u8> = arrived.0.iter().map(|f| f[1] & 3).collect();
        assert_eq!(fields, expected, "{becomes}");
        assert!(arrived.0.iter().all(|f| f[1] >> 2 == 46 && checksum(&f[..20]) == 0), "{becomes}");
    }
}
