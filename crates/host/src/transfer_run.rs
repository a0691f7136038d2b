//! A transfer as a command line asks for it: the request as JSON, what came out as JSON.

use crate::trial::{Direction, Outcome, Trial};
use crosswind_base::{Dur, Vantage, units};
use crosswind_record::pcapng::{PcapngOptions, PcapngWriter, Snap, Vantages};
use crosswind_transport::stack::CutBecause;
use crosswind_transport::tcp::ecn::Agreed;
use crosswind_transport::tcp::preset;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

/// What is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub to_kernel: bool,
    pub size_bytes: u64,
    /// The `tcp` table of our own end, and of the one in the kernel's place in virtual time.
    pub own: Value,
    pub twins: Value,
    pub kernels_law: String,
    /// Settings of the kernel's namespace.
    pub settings: Vec<(String, String)>,
    pub link: Value,
    pub queue: Value,
    pub loss: Option<Value>,
    pub seed: u64,
    pub limit_s: f64,
    /// In virtual time, with our own TCP in the kernel's place.
    pub is_virtual: bool,
    /// A file for the packets at our own host.
    pub pcap: Option<String>,
}

/// A pcapng file for the packets at our own host, whole. Errors: the file cannot be written.
#[expect(clippy::disallowed_methods, reason = "a capture is a file")]
pub fn capture(path: &str) -> io::Result<PcapngWriter<Box<dyn Write + Send>>> {
    let file = Box::new(BufWriter::new(std::fs::File::create(path)?)) as Box<dyn Write + Send>;
    let options =
        PcapngOptions { snap: Snap::Full, vantages: Vantages::Only(Vantage::Sender), ..PcapngOptions::default() };
    PcapngWriter::new(file, options)
}

fn wrong(e: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, e.to_string())
}

/// Does it. Errors: a table that is wrong, a file that cannot be written, a machine that lacks something.
pub fn transfer(w: Request) -> io::Result<Value> {
    let table = |of: &Value| preset::read(of, "tcp").map(Arc::new).map_err(wrong);
    let rate = w.link["rate"].as_str().and_then(units::parse_rate).ok_or_else(|| wrong("link.rate: no rate"))?;
    let trial = Trial {
        direction: if w.to_kernel { Direction::ToKernel } else { Direction::FromKernel },
        size_bytes: w.size_bytes,
        tcp: table(&w.own)?,
        kernels_law: w.kernels_law,
        settings: w.settings,
        rate_bps: rate.0,
        link: w.link,
        queue: w.queue,
        loss: w.loss,
        seed: w.seed,
        limit: Dur((w.limit_s * 1e9) as u64),
        capture: w.pcap.as_deref().map(capture).transpose()?,
    };
    let out = if w.is_virtual { trial.twin(&table(&w.twins)?)? } else { trial.run()? };
    Ok(told(&out, w.size_bytes, w.to_kernel || w.is_virtual))
}

/// `knows_sender`: whether the sender was our own, so that it tells what it did.
fn told(o: &Outcome, size_bytes: u64, knows_sender: bool) -> Value {
    let cuts: Vec<Value> = o
        .cuts
        .iter()
        .map(|c| {
            let why = match c.why {
                CutBecause::Loss => "loss",
                CutBecause::EcnCe => "mark",
                CutBecause::PersistentCongestion => "persistent congestion",
            };
            json!({"at_s": c.at.as_secs_f64(), "before_bytes": c.before_bytes, "after_bytes": c.after_bytes, "why": why})
        })
        .collect();
    json!({
        "size_bytes": size_bytes,
        "right_bytes": o.right_bytes,
        "is_exact": o.failure.is_none() && o.right_bytes == size_bytes,
        "failure": o.failure,
        "seconds": o.elapsed.as_secs_f64(),
        "goodput_bps": o.right_bytes as f64 * 8.0 / o.elapsed.as_secs_f64().max(1e-9),
        "dropped_packets": o.drops_packets,
        "lost_packets": o.losses_packets,
        "marked_packets": o.marks_packets,
        "retransmitted_packets": if knows_sender { Some(o.retransmitted_packets) } else { o.kernels_retransmitted },
        "ecn": match o.ecn {
            Agreed::Nothing => "off",
            Agreed::Classic => "classic",
            Agreed::Dctcp => "dctcp",
            Agreed::Accurate => "accurate",
        },
        "told_marks_packets": o.told_marks_packets,
        "timeouts": if knows_sender { Some(o.timeouts) } else { o.kernels_timeouts },
        "cuts": cuts,
        "damaged_packets": o.counts.damaged_packets,
        "strange_packets": o.counts.strange_packets,
        "captured_packets": o.captured_packets,
        "late_p99_ns": o.late_p99.0,
    })
}
