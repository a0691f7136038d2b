//! Stacks of other people over sockets of this machine: what is sent arrives, and what cannot be is refused with a reason.
#![cfg(target_os = "linux")]

use crosswind_emu::live::monotonic_ns;
use crosswind_host::over_udp::{Request, run};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::mpsc;

const MB: u64 = 1_000_000;

fn request(transport: &Value, port: u16, is_client: bool, size_bytes: Option<u64>, stop_ms: u64) -> Request {
    Request {
        transport: transport.clone(),
        server: SocketAddr::from(([127, 0, 0, 1], port)),
        is_client,
        size_bytes,
        start_ns: monotonic_ns(),
        open_ns: 5_000_000,
        stop_ns: stop_ms * 1_000_000,
        sample_ns: 10_000_000,
        seed: 1,
    }
}

/// Both ends over the loopback device: what the client saw, and what the server did.
#[expect(clippy::disallowed_methods, reason = "two programs are two threads here")]
fn both(transport: &Value, port: u16, size_bytes: Option<u64>, stop_ms: u64) -> (Value, Value) {
    let (tell, listens) = mpsc::channel();
    let server = request(transport, port, false, None, stop_ms);
    let server = std::thread::spawn(move || run(&server, || tell.send(()).expect("somebody waits")));
    listens.recv().expect("the server listens");
    let client = run(&request(transport, port, true, size_bytes, stop_ms), || {}).expect("it runs");
    (client, server.join().expect("it ends").expect("it runs"))
}

#[test]
fn a_transfer_over_sockets_arrives_whole_and_both_ends_close() {
    for (name, port) in [("quinn", 24_870), ("noq", 24_871)] {
        let (client, server) = both(&json!({"type": name, "congestion": "cubic"}), port, Some(2 * MB), 20_000);
        assert_eq!((&client["failure"], &server["failure"]), (&Value::Null, &Value::Null), "{name}");
        assert_eq!((&server["received_bytes"], &client["written_bytes"]), (&json!(2 * MB), &json!(2 * MB)), "{name}");
        let closed = [&client, &server].map(|end| end["close_ns"].as_i64());
        assert!(closed.iter().all(|at| *at > Some(0)), "{name}: {closed:?}, {} {}", client["stack"], server["stack"]);
        assert!(client["open_ns"].as_i64() >= Some(5_000_000), "{name}: it waits for its time");
        let says = client["stack"]["stack_sent_packets"].as_u64().expect("a number");
        let sent = client["sent_packets"].as_u64().expect("a number");
        // The handshake joins packets in one datagram.
        assert!(sent <= says && says <= sent + 10, "{name}: {sent} datagrams, {says} packets in its own words");
    }
}

#[test]
fn an_endless_flow_is_broken_off_at_its_time_and_was_looked_at_meanwhile() {
    let (client, server) = both(&json!({"type": "quinn"}), 24_872, None, 300);
    assert_eq!((client["close_ns"].as_i64(), &client["failure"]), (Some(-1), &Value::Null));
    assert!(server["received_bytes"].as_u64() > Some(10_000) && server["has_all"] == json!(false), "{server}");
    assert!(client["samples"].as_array().is_some_and(|s| s.len() > 5), "windows over time");
    assert!(server["points"].as_array().is_some_and(|p| p.len() > 5), "bytes over time");
}

#[test]
fn what_cannot_go_over_udp_is_refused_with_a_reason() {
    let refused =
        |transport: Value| run(&request(&transport, 24_873, true, None, 10), || {}).expect_err("refused").to_string();
    assert!(refused(json!({"type": "smoltcp"})).contains("whole IP packets"));
    assert!(refused(json!({"type": "quinn", "segments": 0})).contains("segments"));
    assert!(refused(json!({"type": "quin"})).contains("quin"));
}
