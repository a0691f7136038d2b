//! The allowed rate of TFRC's sender by the RFCs (RFC 5348 sections 4.3 and 4.4, RFC 3448 likewise).

use super::params::{Increase, NoFeedback, RateLaw, TfrcParams};
use crosswind_base::{Dur, Time};

/// What a law is shown when feedback comes, or none does. Rates are bytes per second.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub now: Time,
    /// `R`; zero before the first feedback.
    pub rtt: Dur,
    pub p: f64,
    /// `p` of the report before this one.
    pub p_before: f64,
    /// `X_recv`
    pub receive_rate: f64,
    /// Lost packets that this report is the first to tell of.
    pub lost_packets: u32,
    /// What the equation allows.
    pub equation_rate: f64,
    /// The application, not the rate, has limited the sender all the time that the report is about.
    pub is_data_limited: bool,
    pub is_first: bool,
    /// Least rate at all, and the rate of an initial window per round-trip time.
    pub floor: f64,
    pub initial: f64,
}

impl View {
    /// One packet per round-trip time; infinite before the first feedback.
    pub fn packet_per_rtt(&self, p: &TfrcParams) -> f64 {
        p.packet_size.0 as f64 / self.rtt.as_secs_f64()
    }

    /// Round-trip times since then, two at most: so many packets per round-trip time may ns-2's increase add.
    pub fn rounds_since(&self, at: Time) -> f64 {
        (self.now.since(at).as_secs_f64() / self.rtt.as_secs_f64()).min(2.0)
    }

    /// By ns-2 a report allows so many times the receive rate: twice, but for self-clocking.
    pub fn gain(&self, p: &TfrcParams) -> f64 {
        match (p.conservative.on(), self.lost_packets > 0) {
            (true, true) => 1.0,
            (true, false) => p.conservative_gain,
            (false, _) => 2.0,
        }
    }
}

/// Receive rates of the last two round-trip times, oldest first (`X_recv_set`).
#[derive(Clone, Debug, Default)]
struct ReceiveRates(Vec<(Time, f64)>);

impl ReceiveRates {
    fn max(&self) -> f64 {
        self.0.iter().map(|r| r.1).fold(0.0, f64::max)
    }
    fn only(&mut self, now: Time, rate: f64) {
        self.0.clear();
        self.0.push((now, rate));
    }
    fn add(&mut self, now: Time, rate: f64, rtt: Dur) {
        self.0.retain(|(at, _)| *at + rtt.saturating_mul(2) >= now);
        self.0.push((now, rate));
    }
    /// Keeps the largest, as of now; the infinity of the beginning does not count.
    fn maximise(&mut self, now: Time, rate: f64) {
        self.0.push((now, rate));
        let largest = self.0.iter().map(|r| r.1).filter(|r| r.is_finite()).fold(0.0, f64::max);
        self.only(now, largest);
    }
}

#[derive(Clone, Debug)]
pub struct Rfc {
    /// `X`
    pub rate: f64,
    /// `tld`: when slow start doubled it.
    doubled_at: Time,
    changed_at: Time,
    received: ReceiveRates,
}

impl Rfc {
    pub fn new(rate: f64) -> Rfc {
        Rfc { rate, doubled_at: Time::ZERO, changed_at: Time::ZERO, received: ReceiveRates::default() }
    }

    pub fn on_feedback(&mut self, v: &View, p: &TfrcParams) {
        if v.is_first {
            self.received.only(v.now, f64::INFINITY);
            self.doubled_at = v.now;
            self.set(v.initial, v.now);
        }
        let limit = self.receive_limit(v, p);
        if v.p > 0.0 {
            self.follow_equation(v, limit, p);
        } else if !v.is_first && v.now >= self.doubled_at + v.rtt {
            self.doubled_at = v.now;
            self.set((2.0 * self.rate).min(limit).max(v.initial), v.now);
        }
    }

    fn set(&mut self, rate: f64, now: Time) {
        self.rate = rate;
        self.changed_at = now;
    }

    fn follow_equation(&mut self, v: &View, limit: f64, p: &TfrcParams) {
        let mut rate = v.equation_rate.min(limit).max(v.floor);
        if p.increase == Increase::PacketPerRtt && rate > self.rate && v.rtt > Dur::ZERO {
            rate = rate.min(self.rate + v.packet_per_rtt(p) * v.rounds_since(self.changed_at));
        }
        self.set(rate, v.now);
    }

    /// `recv_limit`, after `X_recv_set` has been brought up to date.
    fn receive_limit(&mut self, v: &View, p: &TfrcParams) -> f64 {
        let now = v.now;
        // The first report, which has no rate, is of no such interval.
        let is_data_limited = v.is_data_limited && v.receive_rate > 0.0;
        let limit = match p.law {
            RateLaw::Rfc5348 if is_data_limited && (v.p > v.p_before || v.lost_packets > 0) => {
                self.received.0.iter_mut().for_each(|r| r.1 /= 2.0);
                self.received.maximise(now, 0.85 * v.receive_rate);
                self.received.max()
            }
            RateLaw::Rfc5348 if is_data_limited => {
                self.received.maximise(now, v.receive_rate);
                2.0 * self.received.max()
            }
            RateLaw::Rfc5348 => {
                self.received.add(now, v.receive_rate, v.rtt);
                2.0 * self.received.max()
            }
            _ => {
                self.received.only(now, v.receive_rate);
                2.0 * v.receive_rate
            }
        };
        if !p.conservative.on() || v.is_first {
            return limit;
        }
        limit.min(v.receive_rate * if v.lost_packets > 0 { 1.0 } else { p.conservative_gain })
    }

    /// The no-feedback timer has expired. `is_idle`: nothing was sent since it was set.
    pub fn on_expiry(&mut self, v: &View, is_idle: bool, p: &TfrcParams) {
        let received = self.received.max();
        // RFC 3448 spares an idle sender of less than four packets per round-trip time.
        let recover = if p.law == RateLaw::Rfc5348 { v.initial } else { 4.0 * v.packet_per_rtt(p) };
        let spared = if v.p > 0.0 { received < recover } else { self.rate < 2.0 * recover };
        if v.rtt > Dur::ZERO && is_idle && spared {
            return;
        }
        if p.no_feedback == NoFeedback::Rate || v.p <= 0.0 || v.rtt == Dur::ZERO {
            self.set((self.rate / 2.0).max(v.floor), v.now);
            return;
        }
        let limit = if v.equation_rate > 2.0 * received { received } else { v.equation_rate / 2.0 };
        let limit = limit.max(v.floor);
        self.received.only(v.now, limit / 2.0);
        self.set(v.equation_rate.min(limit).max(v.floor), v.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tfrc::preset::preset;

    #[test]
    fn an_idle_sender_keeps_a_small_rate() {
        // A packet of 1000 B in 100 ms is 10000 B/s; the initial window of the RFCs is four of these or, in RFC 3448, one.
        for (name, initial) in [("rfc5348", 40_000.0), ("rfc3448", 10_000.0)] {
            let p = preset(name).expect("a preset");
            let v = View {
                now: Time(1),
                rtt: Dur::from_millis(100),
                p: 0.01,
                p_before: 0.01,
                receive_rate: 0.0,
                lost_packets: 0,
                equation_rate: 1e6,
                is_data_limited: false,
                is_first: false,
                floor: 1.0,
                initial,
            };
            for (received, halved) in [(39_000.0, false), (41_000.0, true)] {
                let mut law = Rfc::new(80_000.0);
                law.received.only(Time(0), received);
                law.on_expiry(&v, true, &p);
                assert_eq!(law.rate < 80_000.0, halved, "{name} {received}");
            }
        }
    }
}
