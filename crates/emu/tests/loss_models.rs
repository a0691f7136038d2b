//! Loss models that look at more than chance, on real frames: a path that rewrites the ECN field, and with it the checksum; a tunnel whose
//! end refuses frames that too many have overtaken.

use crosswind_base::Time;
use crosswind_emu::delivery::{Delivery, Sink};
use crosswind_emu::frame::checksum;
use crosswind_emu::journal::Keep;
use crosswind_emu::network::Network;
use crosswind_emu::spec::{Spec, v4_of};
use serde_json::{Value, json};

/// Both directions of a line with this queue and this loss model.
fn network(queue: &Value, loss: &Value) -> Network {
    let egress = |direction: &str, from: &str, to: &str| {
        json!({"link": "l", "direction": direction, "from": from, "to": to, "rate_bps": 8_000_000,
            "body": {"type": "wire", "rate": "8 Mbit/s", "delay": "1 ms"}, "queue": queue, "loss": loss})
    };
    let spec = json!({
        "name": "lossy", "seed": 1, "rep": 0, "hosts": [{"name": "a"}, {"name": "b"}],
        "egresses": [egress("forward", "a", "b"), egress("reverse", "b", "a")],
        "routes": [{"from": 0, "to": 1, "hops": [0]}], "flow_ports": {"first": 20_000, "flows": 0},
    });
    let spec: Spec = serde_json::from_value(spec).expect("a spec");
    Network::build(&spec, Keep::Fingerprint).unwrap_or_else(|e| panic!("{e}"))
}

/// UDP from `a` to `b` of class `EF` with this ECN field, and a number to know it by.
fn datagram(ecn: u8, number: u8) -> Vec<u8> {
    let mut f = vec![0; 100];
    f[..4].copy_from_slice(&[0x45, 46 << 2 | ecn, 0, 100]);
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

/// What arrives of frames that come together, by their ECN fields; each has its place in the list for a number.
fn arrived(mut network: Network, fields: &[u8]) -> Vec<Vec<u8>> {
    let mut arrived = Arrived::default();
    for (number, ecn) in (0..).zip(fields) {
        network.arrive(Time::ZERO, 0, &mut datagram(*ecn, number), &mut arrived);
    }
    network.serve(Time::from_secs_f64(1.0), &mut arrived);
    arrived.0
}

#[test]
fn frames_arrive_with_the_field_that_the_path_writes_and_a_right_checksum() {
    // Not-ECT, ECT(1), ECT(0), CE as RFC 3168 numbers them; only who is capable can be marked.
    for (becomes, expected) in
        [("not-ect", [0, 0, 0, 0]), ("ect0", [2, 2, 2, 2]), ("ect1", [1, 1, 1, 1]), ("ce", [0, 3, 3, 3])]
    {
        let n = network(&json!({"type": "droptail"}), &json!({"type": "ecn-field", "becomes": becomes}));
        let frames = arrived(n, &[0, 1, 2, 3]);
        let fields: Vec<u8> = frames.iter().map(|f| f[1] & 3).collect();
        assert_eq!(fields, expected, "{becomes}");
        assert!(frames.iter().all(|f| f[1] >> 2 == 46 && checksum(&f[..20]) == 0), "{becomes}");
    }
}

#[test]
fn a_frame_that_too_many_have_overtaken_is_refused() {
    // The first one is on the line when the second comes, without ECN; five more, with ECT(1), pass it: it is five behind the newest.
    for (window, expected) in
        [(5, vec![0, 2, 3, 4, 5, 6]), (6, vec![0, 2, 3, 4, 5, 6, 1]), (0, vec![0, 2, 3, 4, 5, 6, 1])]
    {
        let queue = json!({"type": "dualpi2", "scheduler": "strict"});
        let n = network(&queue, &json!({"type": "replay-window", "window": window}));
        let numbers: Vec<u8> = arrived(n, &[1, 0, 1, 1, 1, 1, 1]).iter().map(|f| f[99]).collect();
        assert_eq!(numbers, expected, "window {window}");
    }
}
