//! Crosswind's TCP opposite this machine's kernel, and the same in virtual time beside it. As root:
//!
//! ```text
//! cargo run --release -p crosswind-host --example kernel -- to 20 linux-6-cubic out.pcapng
//! ```
//!
//! Which way the data goes (`to` or `from` the kernel), how many MB, the preset, and a file for the packets at the own host.
//! The link is 20 Mbit/s, 30 ms each way, and a queue of 100 packets.
#![expect(clippy::print_stdout, clippy::disallowed_macros, reason = "an example for people")]

use crosswind_base::Dur;
use crosswind_host::{Direction, Outcome, Trial, capture};
use crosswind_transport::tcp::preset;
use serde_json::json;
use std::io;
use std::sync::Arc;

fn show(name: &str, o: &Outcome) {
    println!(
        "{name:8} {} B in {:.3} s, {} drops, {} retransmitted, {} timeouts, late by {:.2} ms (p99){}",
        o.right_bytes,
        o.elapsed.as_secs_f64(),
        o.drops_packets,
        o.retransmitted_packets,
        o.timeouts,
        o.late_p99.0 as f64 / 1e6,
        o.failure.as_ref().map_or(String::new(), |why| format!("; FAILED: {why}"))
    );
    for c in &o.cuts {
        println!("         cut at {:.3} s: {} -> {} B", c.at.as_secs_f64(), c.before_bytes, c.after_bytes);
    }
}

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize, otherwise: &str| words.get(i).cloned().unwrap_or_else(|| otherwise.to_string());
    let direction = if word(0, "to") == "from" { Direction::FromKernel } else { Direction::ToKernel };
    let wrong = |e: String| io::Error::new(io::ErrorKind::InvalidInput, e);
    let megabytes: u64 = word(1, "20").parse().map_err(|e| wrong(format!("how many MB? {e}")))?;
    let keys = |every: u32| {
        json!({
            "preset": word(2, "linux-6-cubic"), "mss": "1448 B", "timestamps": "on", "receive_buffer": "4 MB",
            "send_buffer": "4 MB", "ack_every_segments": every,
        })
    };
    let tcp = |every| preset::read(&keys(every), "tcp").map(Arc::new).map_err(|e| wrong(e.to_string()));
    let trial = |capture| -> io::Result<Trial> {
        Ok(Trial {
            direction,
            size_bytes: megabytes * 1_000_000,
            tcp: tcp(2)?,
            kernels_law: "cubic".into(),
            settings: Vec::new(),
            link: json!({"type": "wire", "rate": "20 Mbit/s", "delay": "30 ms"}),
            queue: json!({"type": "droptail", "limit": "100 packets"}),
            loss: None,
            rate_bps: 20_000_000,
            seed: 1,
            limit: Dur::from_secs(600),
            capture,
        })
    };
    let to = words.get(3).map(|path| capture(path)).transpose()?;
    show("kernel", &trial(to)?.run()?);
    // Linux acknowledges every segment of a transfer like this one.
    show("virtual", &trial(None)?.twin(&tcp(1)?)?);
    Ok(())
}
