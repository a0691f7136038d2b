//! The rate laws of UDT and SABUL against literal copies of what their authors' programs do, on random reports.

use crosswind_base::{Rng, Streams};
use crosswind_transport::udt::law::{Answer, Law};
use crosswind_transport::udt::params::{UdtParams, preset};

fn params(name: &str) -> UdtParams {
    preset(name).expect("a preset of that name")
}

#[track_caller]
fn assert_close(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 1e-9, "{a} is not {b}");
}

/// UDT's variables, in seconds, by the names of its agent for ns-2.
struct Udt {
    snd_interval: f64,
    last_dec_seq: i64,
    nak_count: i64,
    avg_nak_num: i64,
    dec_random: i64,
}

impl Udt {
    fn rate_control(&mut self, path: f64) {
        let mtu = 1500.0;
        let rate = 1.0 / self.snd_interval;
        let mut inc = 1.0 / mtu;
        if path > rate {
            inc = f64::powf(10.0, f64::ceil(f64::log10((path - rate) * mtu * 8.0))) * 0.0000015 / mtu;
            if inc < 1.0 / mtu {
                inc = 1.0 / mtu;
            }
        }
        self.snd_interval = (self.snd_interval * 0.01) / (self.snd_interval * inc + 0.01);
        if self.snd_interval < 0.000001 {
            self.snd_interval = 0.000001;
        }
    }

    /// What follows both after an acknowledgement and after a report.
    fn limit(&mut self, rtt: f64) {
        if self.snd_interval > rtt {
            self.snd_interval = rtt;
        }
    }

    /// `draw(n)`: the generator's next number below n.
    fn nak(&mut self, loss: i64, snd_curr_seqno: i64, mut draw: impl FnMut(u64) -> u64) {
        if loss > self.last_dec_seq {
            self.snd_interval *= 1.125;
            self.avg_nak_num = 1 + f64::ceil(self.avg_nak_num as f64 * 0.875 + self.nak_count as f64 * 0.125) as i64;
            let part = f64::ceil(self.avg_nak_num as f64 / 5.0) as i64;
            self.dec_random = draw(self.avg_nak_num as u64) as i64 + part;
            self.nak_count = 1;
            self.last_dec_seq = snd_curr_seqno;
        } else {
            self.nak_count += 1;
            if self.nak_count % self.dec_random == 0 {
                self.snd_interval *= 1.125;
                self.last_dec_seq = snd_curr_seqno;
            }
        }
    }
}

#[test]
fn the_rate_of_udt_is_that_of_its_authors_agent_on_random_reports() {
    for seed in 1..6 {
        let mut rng = Streams::new(seed).named("reports");
        let (drawn, mut twin): (Rng, Rng) = (Streams::new(seed).named("udt"), Streams::new(seed).named("udt"));
        let p = params("udt-2");
        let mut law = Law::new(&p, drawn);
        let mut udt = Udt { snd_interval: 1e-6, last_dec_seq: -1, nak_count: 0, avg_nak_num: 2, dec_random: 2 };
        law.leave_slow_start(20_000.0);
        udt.snd_interval = 1.0 / 20_000.0;
        let mut sent = 100;
        for _ in 0..2000 {
            sent += rng.below(300);
            if rng.chance(0.6) {
                let capacity = rng.between(0.0, 200_000.0);
                law.on_interval(capacity, 0.0);
                udt.rate_control(capacity);
            } else {
                let loss = sent - rng.below(sent.min(900));
                law.on_loss(loss, sent);
                udt.nak(loss as i64, sent as i64, |n| twin.below(n));
            }
            let rtt = rng.between(40e-6, 400e-6);
            law.bound(rtt);
            udt.limit(rtt);
            assert_close(law.interval_s, udt.snd_interval);
        }
    }
}

/// SABUL's variables, in microseconds, by the names of its sender.
struct Sabul {
    interval: f64,
    history_rate: f64,
    err_count: i64,
    dec_count: i32,
    last_dec_seq: i64,
}

impl Sabul {
    fn syn(&mut self, loss_rate: f64) {
        self.history_rate = self.history_rate * 0.1 + loss_rate * (1.0 - 0.1);
        if self.history_rate > 0.001 {
            return;
        }
        let mut inc = f64::powf(10.0, f64::ceil(f64::log10(10_000.0 / self.interval))) / 1000.0;
        if inc < 1.0 / 1500.0 {
            inc = 1.0 / 1500.0;
        }
        self.interval = (self.interval * 10_000.0) / (self.interval * inc + 10_000.0);
        self.interval = self.interval.clamp(10.0, 1000.0);
    }

    fn err(&mut self, first: i64, curr: i64) {
        if first > self.last_dec_seq {
            self.interval *= 1.125;
            self.last_dec_seq = curr;
            self.err_count = 1;
            self.dec_count = 4;
        } else {
            self.err_count += 1;
            if self.err_count as f64 >= f64::powi(2.0, self.dec_count) {
                self.dec_count += 1;
                self.interval *= 1.125;
            }
        }
    }
}

#[test]
fn the_rate_of_sabul_is_that_of_its_authors_sender_on_random_reports() {
    for seed in 1..6 {
        let mut rng = Streams::new(seed).named("reports");
        let p = params("sabul-2.2");
        let mut law = Law::new(&p, Streams::new(seed).named("unused"));
        let mut sabul = Sabul { interval: 10.0, history_rate: 0.0, err_count: 0, dec_count: 1, last_dec_seq: -1 };
        let mut sent = 100;
        for _ in 0..3000 {
            sent += rng.below(300);
            if rng.chance(0.8) {
                let share = if rng.chance(0.3) { rng.between(0.0, 0.02) } else { 0.0 };
                law.on_interval(0.0, share);
                sabul.syn(share);
            } else if sabul.interval < 800.0 {
                // The limits of the interval hold at each change here, at each control interval there.
                let loss = sent - rng.below(sent.min(900));
                law.on_loss(loss, sent);
                sabul.err(loss as i64, sent as i64);
            }
            assert_close(law.interval_s * 1e6, sabul.interval);
        }
    }
}

#[test]
fn losses_of_one_congestion_reduce_the_rate_once_and_a_new_one_pauses_the_sender() {
    let mut law = Law::new(&params("sabul-2.2"), Streams::new(1).named("unused"));
    assert_eq!(law.on_loss(50, 100), Answer::SlowerAndPause);
    assert!((51..60).all(|n| law.on_loss(n, 120) == Answer::Nothing));
    assert_eq!(law.on_loss(101, 130), Answer::SlowerAndPause);
    assert_eq!(law.cuts, 2);
}

#[test]
fn on_an_empty_gigabit_path_udt_adds_what_ten_gigabits_of_reserve_allow() {
    // B - C = 1 Gbit/s less 500 Mbit/s: 10^9 * 1.5e-6 / 1500 = 1 packet per 10 ms.
    let mut law = Law::new(&params("udt-2"), Streams::new(1).named("unused"));
    law.leave_slow_start(500e6 / 12_000.0);
    let before = 1.0 / law.interval_s;
    law.on_interval(1e9 / 12_000.0, 0.0);
    assert_close(1.0 / law.interval_s - before, 100.0);
}

#[test]
fn a_clock_of_nanoseconds_is_refused_and_says_where() {
    for key in ["control_interval", "expiry"] {
        let read = |value: &str| {
            let table = serde_json::json!({key: value, "ack_interval": "10 ms"});
            crosswind_transport::udt::params::read(&table, "flow.a.udt").err().map(|e| e.to_string())
        };
        assert_eq!(read("1 us"), None, "{key}");
        let said = read("999 ns").unwrap_or_default();
        assert!(said.contains(&format!("flow.a.udt.{key}")) && said.contains("at least 1 us"), "{said}");
    }
}
