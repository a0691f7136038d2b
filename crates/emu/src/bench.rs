//! Load and measurement for the benchmark: probes that know when they were sent, floods, and a bulk transfer.
//!
//! A probe's sender and receiver are one thread with a socket in each of two namespaces, so that no second thread has
//! to be woken between a packet's arrival and the reading of the clock.

use crate::live::monotonic_ns;
use crate::tun::within;
use crosswind_base::Histogram;
use serde::Serialize;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

const NS_PER_S: f64 = 1e9;
/// What is still under way when the last probe has been sent gets this long.
const GRACE_NS: u64 = 500_000_000;

/// Two places between which something is measured: their namespaces, and the address of the second.
#[derive(Clone, Debug)]
pub struct Path {
    pub from: String,
    pub to: String,
    pub address: SocketAddr,
}

/// What became of the probes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Probed {
    pub sent: u64,
    pub received: u64,
    /// From the sending call to the end of the receiving call.
    pub min_ns: u64,
    pub p50_ns: f64,
    pub p99_ns: f64,
    pub p999_ns: f64,
    pub max_ns: u64,
    /// By how much sending fell behind its plan.
    pub sender_late_p99_ns: f64,
}

/// Probes at an even pace.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub packets_per_s: f64,
    pub seconds: f64,
    pub payload_bytes: usize,
}

#[expect(clippy::disallowed_methods, reason = "a benchmark sends real packets")]
fn sockets(p: &Path) -> io::Result<(UdpSocket, UdpSocket)> {
    let rx = within(Some(&p.to), || UdpSocket::bind(p.address))?;
    rx.set_nonblocking(true)?;
    let any: SocketAddr = if p.address.is_ipv4() { ([0; 4], 0).into() } else { ([0u16; 8], 0).into() };
    let tx = within(Some(&p.from), || UdpSocket::bind(any))?;
    tx.connect(p.address)?;
    tx.set_nonblocking(true)?;
    Ok((tx, rx))
}

/// Sends probes at an even pace and reads them; `offset_ns` is taken off every delay.
pub fn probe(path: &Path, pace: Pace, offset_ns: u64) -> io::Result<Probed> {
    let (tx, rx) = sockets(path)?;
    let interval = (NS_PER_S / pace.packets_per_s) as u64;
    let total = (pace.packets_per_s * pace.seconds) as u64;
    let mut payload = vec![0; pace.payload_bytes.max(16)];
    let mut buffer = vec![0; 65_536];
    let (mut delays, mut behind) = (Histogram::new(), Histogram::new());
    let mut out = Probed::default();
    let start = monotonic_ns() + 1_000_000;
    let (mut due, mut last) = (start, start);
    loop {
        let now = monotonic_ns();
        if out.sent < total && now >= due {
            behind.record(now - due);
            payload[..8].copy_from_slice(&monotonic_ns().to_le_bytes());
            let _ = tx.send(&payload);
            out.sent += 1;
            // A sender that was held up does not make up for it: a burst would measure itself.
            due = (due + interval).max(now);
            last = now;
        }
        match rx.recv(&mut buffer) {
            Ok(n) if n >= 8 => {
                let mut stamp = [0; 8];
                stamp.copy_from_slice(&buffer[..8]);
                delays.record(monotonic_ns().saturating_sub(u64::from_le_bytes(stamp) + offset_ns));
                out.received += 1;
            }
            _ if out.sent >= total && (out.received >= total || now > last + GRACE_NS + offset_ns) => break,
            _ => {}
        }
    }
    if delays.count() > 0 {
        (out.min_ns, out.max_ns) = (delays.min(), delays.max());
        (out.p50_ns, out.p99_ns, out.p999_ns) = (delays.quantile(0.5), delays.quantile(0.99), delays.quantile(0.999));
    }
    out.sender_late_p99_ns = if behind.count() > 0 { behind.quantile(0.99) } else { 0.0 };
    Ok(out)
}

/// How much was sent, and how long it took.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Flooded {
    pub sent: u64,
    pub seconds: f64,
}

/// Sends packets as fast as it can, over all paths in turn, at most so many at once before it looks at the clock.
pub fn flood(paths: &[Path], seconds: f64, payload_bytes: usize) -> io::Result<Flooded> {
    let open = paths.iter().map(sockets).collect::<io::Result<Vec<_>>>()?;
    let payload = vec![0; payload_bytes];
    let start = monotonic_ns();
    let until = start + (seconds * NS_PER_S) as u64;
    let mut sent = 0;
    while monotonic_ns() < until {
        for (tx, _) in &open {
            for _ in 0..32 {
                if tx.send(&payload).is_ok() {
                    sent += 1;
                }
            }
        }
    }
    Ok(Flooded { sent, seconds: (monotonic_ns() - start) as f64 / NS_PER_S })
}

/// The machine's own default may be one that pauses to measure, as BBR does.
const LAW: &str = "cubic";

/// What a bulk transfer brought in its steady part.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Bulk {
    pub bytes: u64,
    pub seconds: f64,
    pub goodput_bps: f64,
}

/// One TCP connection; the first `skip_s` seconds do not count.
#[expect(clippy::disallowed_methods, reason = "a benchmark sends real packets")]
pub fn bulk(path: &Path, seconds: f64, skip_s: f64) -> io::Result<Bulk> {
    let listener = within(Some(&path.to), || TcpListener::bind(path.address))?;
    let sender = path.clone();
    let job = std::thread::spawn(move || -> io::Result<()> {
        let mut s = within(Some(&sender.from), || TcpStream::connect(sender.address))?;
        rustix::net::sockopt::set_tcp_congestion(&s, LAW)?;
        let block = vec![0; 1 << 18];
        loop {
            match s.write(&block) {
                Ok(_) => {}
                Err(e) if matches!(e.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => return Ok(()),
                Err(e) => return Err(e),
            }
        }
    });
    let (mut s, _) = listener.accept()?;
    s.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut block = vec![0; 1 << 18];
    let start = monotonic_ns();
    let (from, until) = (start + (skip_s * NS_PER_S) as u64, start + ((skip_s + seconds) * NS_PER_S) as u64);
    let (mut bytes, mut first, mut last) = (0u64, None, start);
    while last < until {
        let n = s.read(&mut block)?;
        if n == 0 {
            break;
        }
        last = monotonic_ns();
        if first.is_some() {
            bytes += n as u64;
        } else if last >= from {
            first = Some(last);
        }
    }
    drop(s);
    drop(job);
    let took = (last - first.unwrap_or(last)) as f64 / NS_PER_S;
    Ok(Bulk { bytes, seconds: took, goodput_bps: if took > 0.0 { bytes as f64 * 8.0 / took } else { 0.0 } })
}
