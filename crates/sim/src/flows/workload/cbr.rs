//! # Constant rate over UDP
//!
//! **Source**: jarvinen-2006 sections 2.7 and 3.3 (`jtg`, audio), open points 7-15 and 7-16.
//!
//! **Idea**: sends a datagram of `payload` bytes every `interval` (or at `rate`, which counts the 28 bytes of UDP and IP
//! headers as well). `packets` make a burst; `bursts` of them follow each other with `idle` between. The defaults of the
//! thesis's audio are `payload = "48 B"`, `interval = "20 ms"`, `packets = 1147`: 76 bytes and 30400 bit/s on the wire.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `payload` | B | - | - |
//! | `interval` | time | - | one of the two is needed |
//! | `rate` | bit/s | - | |
//! | `packets` | packets | endless | - |
//! | `bursts` | - | 1 | - |
//! | `idle` | time | 0 s | - |
//!
//! **Deviations**: none.
//!
//! **Checked by**: `crates/sim/tests/datagrams.rs`.

use super::ping;
use crate::flows::port::EndIo;
use crate::flows::stream::Stream;
use crate::scenario::{Cbr, Draw, FirstPeriod, OnOff, Rounding, WorkloadParams, interval_of};
use crosswind_base::{Dur, Rng, Time};
use crosswind_transport::rate::{Piece, Supply};
use crosswind_transport::tcp::Io;

/// How many packets a burst has.
#[derive(Clone, Copy, Debug)]
enum Burst {
    Endless,
    Packets(u64),
    /// As many as begin within a drawn time, at least one.
    Lasting(Draw, Rounding),
}

/// Sends bursts of datagrams: the sending end of `cbr` and `on-off`.
pub struct Source {
    payload: u16,
    interval: Dur,
    burst: Burst,
    silence: Draw,
    first: FirstPeriod,
    /// Bursts still to begin; `None`: without end.
    bursts_left: Option<u64>,
    /// Number of the present burst, from 1.
    number: u64,
    /// Packets left in the present burst.
    left: u64,
    pub next_at: Option<Time>,
    rng: Rng,
    packets: u64,
    pub burst_began: Time,
    last_sent: Time,
    /// From the first to the last packet of each burst that is over, added up.
    spans: Dur,
    has_ended: bool,
}

/// What a source has to send and has not sent yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    More,
    Nothing,
}

impl Source {
    /// The source of a workload that sends datagrams at its own pace.
    pub fn of(w: &WorkloadParams, rng: Rng) -> Option<Source> {
        match w {
            WorkloadParams::Cbr(p) => Some(Source::cbr(p, rng)),
            WorkloadParams::OnOff(p) => Some(Source::on_off(p, rng)),
            WorkloadParams::Ping(p) => Some(Source::cbr(&ping::asking(p), rng)),
            _ => None,
        }
    }

    fn cbr(p: &Cbr, rng: Rng) -> Source {
        let burst = p.packets.map_or(Burst::Endless, Burst::Packets);
        Source::new([p.payload.0, interval_of(p.payload, p.interval, p.rate).0], burst, p.idle, Some(p.bursts), rng)
    }

    fn on_off(p: &OnOff, rng: Rng) -> Source {
        let shape = [p.payload.0, interval_of(p.payload, p.interval, p.rate).0];
        let first = p.first;
        Source { first, ..Source::new(shape, Burst::Lasting(p.on, p.rounding), p.off, p.bursts, rng) }
    }

    fn new([payload, interval]: [u64; 2], burst: Burst, silence: Draw, bursts: Option<u64>, rng: Rng) -> Source {
        Source {
            payload: payload as u16,
            interval: Dur(interval),
            burst,
            silence,
            first: FirstPeriod::On,
            bursts_left: bursts,
            number: 0,
            left: 0,
            next_at: None,
            rng,
            packets: 0,
            burst_began: Time::ZERO,
            last_sent: Time::ZERO,
            spans: Dur::ZERO,
            has_ended: false,
        }
    }

    /// Goes on with another pace and other spans, from the next packet on.
    pub fn go_on_as(&mut self, w: &WorkloadParams) {
        let (payload, interval, silence) = match w {
            WorkloadParams::Cbr(c) => (c.payload, interval_of(c.payload, c.interval, c.rate), c.idle),
            WorkloadParams::OnOff(o) => (o.payload, interval_of(o.payload, o.interval, o.rate), o.off),
            _ => return,
        };
        if let (WorkloadParams::OnOff(o), Burst::Lasting(on, _)) = (w, &mut self.burst) {
            *on = o.on;
        }
        (self.payload, self.interval, self.silence) = (payload.0 as u16, interval, silence);
    }

    /// Whether it ends by itself.
    pub fn is_finite(&self) -> bool {
        self.bursts_left.is_some() && !matches!(self.burst, Burst::Endless)
    }

    /// The first burst begins now.
    pub fn begin(&mut self, now: Time) {
        let silence = if self.first == FirstPeriod::Off { self.silence.draw(&mut self.rng) } else { Dur::ZERO };
        self.next_burst(now + silence);
    }

    fn next_burst(&mut self, at: Time) {
        if self.bursts_left == Some(0) {
            self.next_at = None;
            return;
        }
        self.bursts_left = self.bursts_left.map(|n| n - 1);
        self.number += 1;
        self.left = match self.burst {
            Burst::Endless => u64::MAX,
            Burst::Packets(n) => n,
            Burst::Lasting(on, Rounding::Up) => on.draw(&mut self.rng).0.div_ceil(self.interval.0).max(1),
            Burst::Lasting(on, Rounding::Nearest) => {
                ((on.draw(&mut self.rng).0 + self.interval.0 / 2) / self.interval.0).max(1)
            }
        };
        self.next_at = Some(at);
        self.burst_began = at;
    }

    /// Hands over what is due by now.
    pub fn feed(&mut self, supply: &mut Supply, now: Time) {
        while self.next_at.is_some_and(|at| at <= now) {
            let (m, left) = self.next(now);
            supply.offer(m.burst);
            if left == Left::Nothing {
                supply.end();
            }
        }
    }

    /// Over a stream: each message is a write. It begins when the connection is there, and closes it in the end.
    pub fn run(&mut self, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) {
        if conn.has_ended() {
            self.next_at = None;
            return;
        }
        if !conn.is_established() || self.has_ended {
            return;
        }
        let now = io.now();
        if self.number == 0 {
            self.begin(now);
        }
        let mut bytes = 0;
        while self.next_at.is_some_and(|at| at <= now) {
            bytes += u64::from(self.next(now).0.payload_bytes);
        }
        // What the socket has no room for is dropped by the application, as by one that sends in real time.
        bytes = bytes.min(conn.space());
        if bytes > 0 {
            conn.write(bytes, io);
        }
        if self.has_ended {
            conn.close(io);
        }
    }

    /// The message that is due now.
    pub fn next(&mut self, now: Time) -> (Piece, Left) {
        let p = Piece { payload_bytes: self.payload, burst: self.number };
        self.packets += 1;
        self.last_sent = now;
        self.left -= 1;
        if self.left > 0 {
            // A program that had to wait for its host goes on with its schedule.
            self.next_at = Some(self.next_at.unwrap_or(now) + self.interval);
            return (p, Left::More);
        }
        self.spans = self.spans + now.since(self.burst_began);
        let silence = self.silence.draw(&mut self.rng);
        self.next_burst(now + self.interval + silence);
        match self.next_at {
            Some(_) => (p, Left::More),
            None => {
                self.has_ended = true;
                (p, Left::Nothing)
            }
        }
    }

    /// Pairs of consecutive packets within a burst.
    pub fn pairs(&self) -> u64 {
        let begun = if self.next_at == Some(self.burst_began) { self.number - 1 } else { self.number };
        self.packets - begun.min(self.packets)
    }

    /// Time from the first to the last packet of each burst, added up over all bursts.
    pub fn span(&self) -> Dur {
        let present = if self.has_ended { Dur::ZERO } else { self.last_sent.since(self.burst_began) };
        self.spans + present
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;
    use serde_json::json;

    /// Packets that so many sources of [Igarashi] chapter 7 send in 100 s: 200 B, 80 kbit/s on average, silent at first.
    fn packets(sources: u32, rounding: &str) -> f64 {
        let w = json!({"payload": "172 B", "interval": "7 ms", "first": "off", "rounding": rounding,
            "on": {"exponential": "350 ms"}, "off": {"exponential": "650 ms"}});
        let w = WorkloadParams::OnOff(serde_json::from_value(w).expect("valid"));
        let streams = Streams::new(1);
        let end = Time::from_secs_f64(100.0);
        let one = |i: u32| {
            let mut source = Source::of(&w, streams.named(&format!("source/{i}"))).expect("a source");
            source.begin(Time::ZERO);
            while let Some(at) = source.next_at.filter(|at| *at < end) {
                source.next(at);
            }
            source.packets
        };
        (0..sources).map(one).sum::<u64>() as f64
    }

    #[test]
    fn sources_of_bursts_send_what_ns2s_do() {
        // A burst has max(1, round(x)) packets, x exponential of mean 50: 50.009. A cycle takes so many times 7 ms and 650 ms:
        // 50.006 packets a second, less the 11.5 that a source misses that begins with a silence. 400 sources: 1.995 million.
        let sets = 20.0;
        let nearest = packets(8000, "nearest") / sets;
        assert!((nearest / 1.995e6 - 1.0).abs() < 0.005, "{nearest}");
        // Rounded up a burst has 50.5 packets and a cycle 1003.5 ms.
        let more = packets(8000, "up") / sets / nearest;
        assert!((more - 1.0064).abs() < 0.004, "{more}");
    }
}
