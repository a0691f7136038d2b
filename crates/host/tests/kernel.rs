//! Crosswind's TCP opposite the TCP of this machine's kernel, in real time. Needs to be root, and `/dev/net/tun` and `ip`.
#![cfg(target_os = "linux")]

use crosswind_base::{Dur, Vantage};
use crosswind_host::namespace::Namespace;
use crosswind_host::{Direction, Outcome, Trial};
use crosswind_record::pcapng::{PcapngOptions, PcapngWriter, Snap, Vantages};
use crosswind_transport::stack::CutBecause;
use crosswind_transport::tcp::ecn::Agreed;
use crosswind_transport::tcp::preset;
use serde_json::{Value, json};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard};

const MB: u64 = 1_000_000;
/// One at a time: they share the processors, and time is real.
static TURN: Mutex<()> = Mutex::new(());

/// The turn, or nothing where this machine cannot do it; then the reason is on standard error.
fn turn() -> Option<MutexGuard<'static, ()>> {
    let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let possible = Namespace::new().and_then(|n| crosswind_emu::tun::Tun::open(Some(&n.path()), "probe"));
    match possible {
        Ok(_) => Some(turn),
        Err(e) => {
            // `make test` counts a test that says so as skipped (`tools/check.py`).
            eprintln!("SKIPPED: no kernel opposite, a network namespace with a TUN device cannot be made here: {e}");
            None
        }
    }
}

/// A kernel opens the path to the emulator; options as Linux has them: timestamps, SACK, scaled windows.
fn trial(direction: Direction, size_bytes: u64, keys: &Value) -> Trial {
    let mut tcp =
        json!({"mss": "1448 B", "timestamps": "on", "sack": "on", "receive_buffer": "4 MB", "send_buffer": "4 MB"});
    tcp.as_object_mut().expect("a table").extend(keys.as_object().expect("a table").clone());
    Trial {
        direction,
        size_bytes,
        tcp: Arc::new(preset::read(&tcp, "tcp").expect("parameters make sense")),
        kernels_law: "cubic".into(),
        settings: Vec::new(),
        link: json!({"type": "wire", "rate": "50 Mbit/s", "delay": "10 ms"}),
        queue: json!({"type": "droptail", "limit": "100 packets"}),
        loss: None,
        rate_bps: 50_000_000,
        seed: 1,
        limit: Dur::from_secs(120),
        capture: None,
    }
}

fn complete(t: Trial) -> Outcome {
    let size = t.size_bytes;
    let what = format!("{:?}", t.direction);
    let out = t.run().expect("the machine can do it");
    eprintln!(
        "{what}: {size} B in {:.2} s, {} drops, {} lost, {} retransmitted, {} timeouts, {} cuts, late by {:.2} ms (p99)",
        out.elapsed.as_secs_f64(),
        out.drops_packets,
        out.losses_packets,
        out.retransmitted_packets,
        out.timeouts,
        out.cuts.len(),
        out.late_p99.0 as f64 / 1e6
    );
    assert_eq!((out.failure.clone(), out.right_bytes), (None, size), "{what}: {out:?}");
    assert_eq!((out.counts.damaged_packets, out.counts.strange_packets), (0, 0), "{what}");
    out
}

/// A sender that a busy machine holds up may never fill the queue; that its bytes were right has been seen all the same.
fn overflowed(out: &Outcome, has: bool) {
    assert!(has || out.late_p99 > LATE_MAX, "the queue has overflowed: {out:?}");
    if !has {
        eprintln!("INCONCLUSIVE: the machine was too busy for real time: the queue has not overflowed");
    }
}

#[test]
fn twenty_megabytes_go_either_way_byte_for_byte() {
    let Some(_turn) = turn() else { return };
    for law in ["cubic", "reno"] {
        let out = complete(trial(Direction::ToKernel, 20 * MB, &json!({"preset": "linux-6", "law": law})));
        overflowed(&out, out.drops_packets > 0 && !out.cuts.is_empty());
    }
    for law in ["cubic", "reno"] {
        let t =
            Trial { kernels_law: law.into(), ..trial(Direction::FromKernel, 20 * MB, &json!({"preset": "linux-6"})) };
        let out = complete(t);
        overflowed(&out, out.drops_packets > 0);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a kernel tells of itself in files")]
fn bbr_sends_twenty_megabytes_either_way() {
    let Some(_turn) = turn() else { return };
    let to = complete(trial(Direction::ToKernel, 20 * MB, &json!({"preset": "linux-6-bbr"})));
    let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    if !known.split_whitespace().any(|law| law == "bbr") {
        eprintln!("SKIPPED: this kernel has no bbr: {known}");
        return;
    }
    let t = Trial { kernels_law: "bbr".into(), ..trial(Direction::FromKernel, 20 * MB, &json!({"preset": "linux-6"})) };
    let from = complete(t);
    // 20 MB take 3.3 s at 50 Mbit/s with headers; late packets make it longer.
    for out in [to, from] {
        assert!(out.elapsed < Dur::from_secs(6) || out.late_p99 > LATE_MAX, "{out:?}");
    }
}

/// Losses, and packets that others overtake.
fn rough(mut t: Trial) -> Trial {
    t.link = json!({
        "type": "reordering", "rate": "100 Mbit/s", "delay": "5 ms", "share": 0.002, "late_mean": "3 ms",
        "late_deviation": "1 ms",
    });
    t.rate_bps = 100_000_000;
    t.queue = json!({"type": "droptail", "limit": "500 packets"});
    t.loss = Some(json!({"type": "uniform", "probability": 0.001}));
    t
}

#[test]
fn a_hundred_megabytes_survive_losses_and_reordering_either_way() {
    let Some(_turn) = turn() else { return };
    for direction in [Direction::ToKernel, Direction::FromKernel] {
        let out = complete(rough(trial(direction, 100 * MB, &json!({"preset": "linux-6-cubic"}))));
        assert!(out.losses_packets > 20, "{direction:?}: {}", out.losses_packets);
    }
}

#[test]
fn in_virtual_time_own_tcp_survives_the_same_at_both_ends_and_repeats() {
    for direction in [Direction::ToKernel, Direction::FromKernel] {
        let run = || {
            let t = rough(trial(direction, 100 * MB, &json!({"preset": "linux-6-cubic"})));
            t.twin(&t.tcp).expect("parameters make sense")
        };
        let first = run();
        assert_eq!((first.failure.clone(), first.right_bytes), (None, 100 * MB), "{direction:?}: {first:?}");
        assert!(first.losses_packets > 20 && first.retransmitted_packets >= first.losses_packets, "{first:?}");
        let again = run();
        assert_eq!(
            (first.cuts, first.elapsed, first.retransmitted_packets),
            (again.cuts, again.elapsed, again.retransmitted_packets)
        );
    }
}

fn marking(direction: Direction, ecn: &str) -> Trial {
    Trial {
        queue: json!({"type": "codel", "limit": "1000 packets", "target": "1 ms", "interval": "10 ms"}),
        ..trial(direction, 20 * MB, &json!({"preset": "linux-6-cubic", "ecn": ecn}))
    }
}

fn counted_right(out: &Outcome, direction: Direction) {
    assert_eq!((out.ecn, out.drops_packets), (Agreed::Accurate, 0), "{direction:?}: {out:?}");
    assert!(out.marks_packets > 3, "{direction:?}: {} marks", out.marks_packets);
    assert_eq!(out.told_marks_packets, Some(out.marks_packets), "{direction:?}");
}

#[test]
fn in_virtual_time_accurate_feedback_in_bytes_counts_the_marks_that_the_queue_made() {
    for direction in [Direction::ToKernel, Direction::FromKernel] {
        let t = marking(direction, "accurate");
        let out = t.twin(&t.tcp).expect("parameters make sense");
        assert_eq!((out.failure.clone(), out.right_bytes), (None, 20 * MB), "{direction:?}: {out:?}");
        counted_right(&out, direction);
        assert!(out.cuts.iter().any(|c| c.why == CutBecause::EcnCe), "{direction:?}: {:?}", out.cuts);
    }
}

#[test]
fn a_kernel_with_classic_feedback_gets_classic_feedback_from_one_that_asks_for_more() {
    let Some(_turn) = turn() else { return };
    for direction in [Direction::ToKernel, Direction::FromKernel] {
        let t = Trial { settings: vec![("net.ipv4.tcp_ecn".into(), "1".into())], ..marking(direction, "accurate") };
        let out = complete(t);
        assert_eq!((out.ecn, out.drops_packets), (Agreed::Classic, 0), "{direction:?}: {out:?}");
        assert_eq!(out.told_marks_packets, None, "classic feedback counts none");
        assert!(out.marks_packets > 3, "{direction:?}: {} marks", out.marks_packets);
    }
}

#[test]
fn a_kernel_with_accurate_feedback_counts_the_same_marks_either_way() {
    let Some(_turn) = turn() else { return };
    for direction in [Direction::ToKernel, Direction::FromKernel] {
        let settings = vec![("net.ipv4.tcp_ecn".to_string(), "3".to_string())];
        match (Trial { settings, ..marking(direction, "accurate") }).run() {
            Ok(out) => {
                assert_eq!((out.failure.clone(), out.right_bytes), (None, 20 * MB), "{direction:?}: {out:?}");
                counted_right(&out, direction);
            }
            Err(e) if e.to_string().contains("tcp_ecn") => {
                eprintln!("SKIPPED: no AccECN opposite, this kernel does not offer it: {e}");
                return;
            }
            Err(e) => panic!("the machine can do it: {e}"),
        }
    }
}

/// A run in which packets are later than this says nothing about windows.
const LATE_MAX: Dur = Dur::from_micros(1200);

/// What a live run has in common with its twin in virtual time: as many cuts, windows within 1 %, the first within 50 ms, as many
/// retransmissions within 2 %, goodput within 10 %. Returns what is otherwise.
fn differs(live: &Outcome, twin: &Outcome) -> Option<String> {
    let near = |a: f64, b: f64, share: f64| (a - b).abs() <= share * a.abs().max(b.abs());
    let windows = live.cuts.iter().zip(&twin.cuts).all(|(a, b)| {
        near(a.before_bytes as f64, b.before_bytes as f64, 0.01)
            && near(a.after_bytes as f64, b.after_bytes as f64, 0.01)
    });
    let first = |o: &Outcome| o.cuts.first().map_or(0.0, |c| c.at.as_secs_f64());
    let again = (live.retransmitted_packets as f64, twin.retransmitted_packets as f64);
    let holds = live.cuts.len() == twin.cuts.len()
        && windows
        && (first(live) - first(twin)).abs() <= 0.05
        && (near(again.0, again.1, 0.02) || (again.0 - again.1).abs() <= 2.0)
        && near(live.elapsed.as_secs_f64(), twin.elapsed.as_secs_f64(), 0.1);
    (!holds).then(|| format!("live {live:?}\ntwin {twin:?}"))
}

#[test]
fn a_live_run_is_its_twin_in_virtual_time() {
    let Some(_turn) = turn() else { return };
    let keys = |every: u32| json!({"preset": "linux-6-cubic", "ack_every_segments": every});
    let slow = |keys: &Value| Trial {
        link: json!({"type": "wire", "rate": "20 Mbit/s", "delay": "30 ms"}),
        rate_bps: 20_000_000,
        ..trial(Direction::ToKernel, 20 * MB, keys)
    };
    // As the kernel does for most of such a transfer, the twin acknowledges every segment.
    let twin = slow(&keys(2)).twin(&slow(&keys(1)).tcp).expect("parameters make sense");
    assert!(twin.failure.is_none() && twin.cuts.len() >= 2, "{twin:?}");
    let again = slow(&keys(2)).twin(&slow(&keys(1)).tcp).expect("parameters make sense");
    assert_eq!((twin.cuts.clone(), twin.elapsed), (again.cuts, again.elapsed), "virtual time repeats");
    let mut found = Vec::new();
    for _ in 0..3 {
        let live = complete(slow(&keys(2)));
        match differs(&live, &twin) {
            None => return,
            // Time is real. A machine that is late by two packets of the link shows itself, not the transport.
            Some(_) if live.late_p99 > LATE_MAX => {}
            Some(why) => found.push(why),
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    eprintln!("INCONCLUSIVE: the machine was too busy for real time, three times");
}

#[expect(clippy::disallowed_methods, reason = "a capture is a file")]
fn captured(t: Trial, to: &Path) -> Outcome {
    let file = Box::new(BufWriter::new(std::fs::File::create(to).expect("a file"))) as Box<dyn Write + Send>;
    let options =
        PcapngOptions { snap: Snap::Full, vantages: Vantages::Only(Vantage::Sender), ..PcapngOptions::default() };
    complete(Trial { capture: Some(PcapngWriter::new(file, options).expect("a capture")), ..t })
}

#[expect(clippy::disallowed_methods, reason = "a capture is a file")]
fn remove(file: &Path) {
    std::fs::remove_file(file).expect("it was there");
}

fn tshark(file: &Path, words: &[&str]) -> Option<String> {
    let checks = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"];
    let out = Command::new("tshark").arg("-r").arg(file).args(checks).args(words).output().ok()?;
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Some(String::from_utf8_lossy(&out.stdout).into_owned())
}

#[test]
fn tshark_reads_the_captures_without_a_warning() {
    let Some(_turn) = turn() else { return };
    for (direction, name) in [(Direction::ToKernel, "to"), (Direction::FromKernel, "from")] {
        let file: PathBuf = std::env::temp_dir().join(format!("crosswind-host-{}-{name}.pcapng", std::process::id()));
        let out = captured(trial(direction, 2 * MB, &json!({"preset": "linux-6"})), &file);
        assert!(out.captured_packets > 2 * MB / 1448);
        // Wrong checksums, lengths and options are at least warnings (6291456). What tshark makes of the course of a transfer, losses
        // and windows that are full, is no fault of the packets.
        let filter = "_ws.malformed || (_ws.expert.severity >= 6291456 && !tcp.analysis.flags)";
        match tshark(&file, &["-Y", filter]) {
            Some(found) => assert_eq!(found, "", "{direction:?}"),
            None => eprintln!("SKIPPED: tshark is not installed: captures were not read by it"),
        }
        if let Some(syns) = tshark(&file, &["-Y", "tcp.flags.syn == 1", "-T", "fields", "-e", "tcp.options"]) {
            assert_eq!(syns.lines().filter(|l| !l.is_empty()).count(), 2, "both SYNs have options: {syns}");
        }
        remove(&file);
    }
}
