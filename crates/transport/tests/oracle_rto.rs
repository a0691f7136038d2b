//! The four timeout estimators against plain transcriptions of their sources, on random samples and expiries.

use crosswind_base::{Dur, Rng, Streams, Time};
use crosswind_transport::tcp::conn::rtt::Rtt;
use crosswind_transport::tcp::{TcpParams, preset};

/// One thing that happens to an estimator.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// A round trip of this many nanoseconds ends now.
    Sample(u64),
    Expiry,
}

fn ops(r: &mut Rng, n: usize) -> Vec<(Time, Op)> {
    let mut now = 1_000_000_000_000;
    let mut level = r.between(1.0, 900.0);
    (0..n)
        .map(|_| {
            now += r.below(3_000_000_000);
            if r.chance(0.05) {
                level = r.between(0.2, 4000.0);
            }
            let ms = (level * r.between(0.7, 1.4)).max(0.05);
            let op = if r.chance(0.12) { Op::Expiry } else { Op::Sample((ms * 1e6) as u64) };
            (Time(now), op)
        })
        .collect()
}

fn params(name: &str) -> TcpParams {
    preset::preset(name).expect("a preset of that name")
}

/// RFC 6298 sections 2 and 5, in seconds.
struct Rfc {
    srtt: Option<f64>,
    rttvar: f64,
    rto: f64,
}

impl Rfc {
    const G: f64 = 0.001;
    fn step(&mut self, op: Op) {
        match op {
            Op::Sample(ns) => {
                let r = ns as f64 / 1e9;
                match self.srtt {
                    None => {
                        self.srtt = Some(r);
                        self.rttvar = r / 2.0;
                    }
                    Some(srtt) => {
                        self.rttvar = (1.0 - 0.25) * self.rttvar + 0.25 * (srtt - r).abs();
                        self.srtt = Some((1.0 - 0.125) * srtt + 0.125 * r);
                    }
                }
                let rto = self.srtt.unwrap_or(0.0) + f64::max(Rfc::G, 4.0 * self.rttvar);
                self.rto = rto.clamp(1.0, 60.0);
            }
            Op::Expiry => self.rto = (self.rto * 2.0).min(60.0),
        }
    }
}

#[test]
fn the_rfc_6298_estimator_is_its_formulas() {
    let p = params("rfc");
    for seed in 0..50 {
        let mut r = Streams::new(seed).named("rfc");
        let mut ours = Rtt::new(&p);
        let mut plain = Rfc { srtt: None, rttvar: 0.0, rto: 1.0 };
        for (i, (now, op)) in ops(&mut r, 400).into_iter().enumerate() {
            plain.step(op);
            apply(&mut ours, op, now, &p, 0, 0);
            let got = ours.rto(&p).as_secs_f64();
            // Both round differently below a nanosecond; back-off may double that up to 64 times.
            assert!((got - plain.rto).abs() < 1e-7, "seed {seed} step {i} {op:?}: {got} {}", plain.rto);
        }
    }
}

fn apply(e: &mut Rtt, op: Op, now: Time, p: &TcpParams, una: u64, nxt: u64) {
    match op {
        Op::Sample(ns) => {
            e.sample(Dur(ns), now, p, una, nxt);
            e.reset_backoff();
        }
        Op::Expiry => e.back_off(),
    }
}

/// Linux 2.4: jiffies of 10 ms, srtt scaled by 8, deviations by 4.
#[derive(Default)]
struct Linux {
    /// Up to release 2.4.18.
    early: bool,
    srtt: i32,
    mdev: i32,
    mdev_max: i32,
    rttvar: i32,
    rtt_seq: u64,
    rto: i32,
}

impl Linux {
    /// HZ / 5 with HZ = 100.
    const RTO_MIN: i32 = 20;
    const RTO_MAX: i32 = 120 * 100;

    fn sample(&mut self, jiffies: i32, snd_una: u64, snd_nxt: u64) {
        let mut m = if jiffies == 0 { 1 } else { jiffies };
        if self.srtt == 0 {
            // The first sample gives RTO = 3 RTT, in the early releases 5 RTT.
            self.srtt = m << 3;
            self.mdev = m << if self.early { 2 } else { 1 };
            self.rttvar = i32::max(self.mdev, Linux::RTO_MIN);
            self.mdev_max = self.rttvar;
            self.rtt_seq = snd_nxt;
        } else {
            m -= self.srtt >> 3;
            self.srtt += m;
            let rising = m >= 0;
            m = m.abs() - (self.mdev >> 2);
            // When the RTT falls, the deviation grows with an eighth of the gain only.
            if !rising && m > 0 {
                m >>= 3;
            }
            self.mdev += m;
            if self.mdev > self.mdev_max {
                self.mdev_max = self.mdev;
                self.rttvar = i32::max(self.rttvar, self.mdev_max);
            }
            if snd_una > self.rtt_seq {
                if self.mdev_max < self.rttvar {
                    self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
                }
                self.rtt_seq = if self.early { snd_una } else { snd_nxt };
                self.mdev_max = Linux::RTO_MIN;
            }
        }
        self.rto = i32::min((self.srtt >> 3) + self.rttvar, Linux::RTO_MAX);
    }
}

#[test]
fn the_linux_2_4_estimators_are_their_integers() {
    for seed in 0..50 {
        check_linux("baseline-linux-2.4", seed, false);
        check_linux("linux-2.4.17", seed, true);
    }
}

fn check_linux(preset: &str, seed: u64, early: bool) {
    let p = params(preset);
    let mut r = Streams::new(seed).named("linux");
    let mut ours = Rtt::new(&p);
    let mut plain = Linux { rto: 300, early, ..Linux::default() };
    let (mut una, mut nxt) = (1, 2000);
    for (i, (now, op)) in ops(&mut r, 400).into_iter().enumerate() {
        una = nxt.min(una + r.below(3000));
        nxt = nxt.max(una) + r.below(4000);
        match op {
            Op::Sample(ns) => plain.sample((ns / 10_000_000) as i32, una, nxt),
            Op::Expiry => plain.rto = i32::min(plain.rto << 1, Linux::RTO_MAX),
        }
        apply(&mut ours, op, now, &p, una, nxt);
        assert_eq!(ours.rto(&p), Dur::from_millis(plain.rto as u64 * 10), "seed {seed} step {i} {op:?}");
    }
}

/// ns-2.35: ticks of 10 ms; T_SRTT_BITS 3, T_RTTVAR_BITS 2, rttvar_exp_ 2; minimum before back-off.
struct Ns2 {
    t_srtt: i32,
    t_rttvar: i32,
    t_rtxcur_s: f64,
    t_backoff: i32,
}

impl Ns2 {
    fn timeout_s(&self) -> f64 {
        let timeout = if self.t_rtxcur_s < 0.2 { 0.2 } else { self.t_rtxcur_s } * self.t_backoff as f64;
        timeout.clamp(0.02, 60.0)
    }
    fn sample(&mut self, sent_s: f64, now_s: f64) {
        // Whole ticks between the clock's readings at sending and at arrival.
        let into_tick = sent_s - (sent_s / 0.01).floor() * 0.01;
        let t_rtt = i32::max(1, ((now_s - sent_s + into_tick) / 0.01) as i32);
        if self.t_srtt != 0 {
            let mut delta = t_rtt - (self.t_srtt >> 3);
            self.t_srtt += delta;
            if self.t_srtt <= 0 {
                self.t_srtt = 1;
            }
            delta = delta.abs() - (self.t_rttvar >> 2);
            self.t_rttvar += delta;
            if self.t_rttvar <= 0 {
                self.t_rttvar = 1;
            }
        } else {
            self.t_srtt = t_rtt << 3;
            self.t_rttvar = t_rtt << 1;
        }
        self.t_rtxcur_s = (((self.t_rttvar << 3) + self.t_srtt) >> 3) as f64 * 0.01;
        self.t_backoff = 1;
    }
    fn expiry(&mut self) {
        if self.t_backoff < 64 || self.timeout_s() < 60.0 {
            self.t_backoff *= 2;
        }
        if self.t_backoff > 8 {
            self.t_rttvar += self.t_srtt >> 3;
            self.t_srtt = 0;
        }
    }
}

#[test]
fn the_ns2_estimator_is_its_ticks() {
    let p = params("ns2-sack1");
    for seed in 0..50 {
        let mut r = Streams::new(seed).named("ns2");
        let mut ours = Rtt::new(&p);
        let mut plain = Ns2 { t_srtt: 0, t_rttvar: 4800, t_rtxcur_s: 3.0, t_backoff: 1 };
        for (i, (now, op)) in ops(&mut r, 400).into_iter().enumerate() {
            match op {
                Op::Sample(ns) => {
                    // A reading within a microsecond of a tick's edge depends on ns-2's floating point.
                    let sent = now.0 - ns;
                    if [now.0, sent].iter().any(|t| !(1_000..9_999_000).contains(&(t % 10_000_000))) {
                        continue;
                    }
                    plain.sample(sent as f64 / 1e9, now.0 as f64 / 1e9);
                }
                Op::Expiry => plain.expiry(),
            }
            apply(&mut ours, op, now, &p, 0, 0);
            let got = ours.rto(&p).as_secs_f64();
            assert!((got - plain.timeout_s()).abs() < 1e-6, "seed {seed} step {i} {op:?}: {got} {}", plain.timeout_s());
        }
    }
}

#[test]
fn backed_off_timeouts_never_exceed_the_ceiling() {
    for name in preset::names() {
        let p = params(name);
        let mut e = Rtt::new(&p);
        let mut last = Dur::ZERO;
        for _ in 0..100 {
            assert!(e.rto(&p) >= last && e.rto(&p) <= p.timers.rto_max, "{name}");
            last = e.rto(&p);
            e.back_off();
        }
        assert_eq!(last, p.timers.rto_max, "{name}");
    }
}
