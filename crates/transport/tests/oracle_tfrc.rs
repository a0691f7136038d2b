//! The arithmetic of TFRC against literal copies of what its sources say, and against values worked out by hand.

use crosswind_base::{Streams, Time};
use crosswind_transport::tcp::params::Switch;
use crosswind_transport::tfrc::TfrcParams;
use crosswind_transport::tfrc::equation::{Formula, PathTimes};
use crosswind_transport::tfrc::history::LossHistory;
use crosswind_transport::tfrc::losses::{Arrived, Known, Losses};
use crosswind_transport::tfrc::params::{Equation, PartialHistory};
use crosswind_transport::tfrc::preset::preset;

fn params(name: &str) -> TfrcParams {
    preset(name).expect("a preset of that name")
}

/// RFC 5348 sections 5.4 and 5.5 with its own arrays: `i[0]` is the open interval, `df` the discounts.
struct Rfc {
    n: usize,
    threshold: f64,
    i: Vec<f64>,
    df: Vec<f64>,
    general: f64,
}

impl Rfc {
    fn weight(&self, i: usize) -> f64 {
        if i < self.n / 2 { 1.0 } else { 2.0 * (self.n as f64 - i as f64) / (self.n as f64 + 2.0) }
    }

    fn loss_event_rate(&mut self) -> f64 {
        let k = self.i.len() - 1;
        let (mut tot1, mut w1) = (0.0, 0.0);
        for i in 1..=k {
            tot1 += self.i[i] * self.weight(i - 1) * self.df[i];
            w1 += self.weight(i - 1) * self.df[i];
        }
        let mean = tot1 / w1;
        self.general = 1.0;
        if self.i[0] > 2.0 * mean {
            self.general = f64::max(2.0 * mean / self.i[0], self.threshold);
        }
        let (mut tot0, mut w0) = (self.weight(0) * self.i[0], self.weight(0));
        for i in 1..k {
            tot0 += self.i[i] * self.weight(i) * self.df[i] * self.general;
            w0 += self.weight(i) * self.df[i] * self.general;
        }
        f64::min(w0 / tot0, w1 / tot1)
    }

    fn loss_event(&mut self) {
        let mut df = vec![1.0, 1.0];
        df.extend(self.df[1..].iter().map(|d| d * self.general));
        self.general = 1.0;
        self.i.insert(0, 0.0);
        self.i.truncate(self.n + 1);
        df.truncate(self.n + 1);
        self.df = df;
    }
}

/// ns-2's WALI: arrays of `numsamples + 1` places that are shifted, multiplied, and averaged over two ranges.
struct Wali {
    sample: Vec<f64>,
    mult: Vec<f64>,
    weights: Vec<f64>,
    factor: f64,
    count: usize,
    minimum: f64,
}

const NUMSAMPLES: usize = 9;

impl Wali {
    fn new(first: f64, minimum: f64) -> Wali {
        let mid = NUMSAMPLES / 2;
        let weights = (0..=NUMSAMPLES).map(|i| if i < mid { 1.0 } else { 1.0 - (i - mid) as f64 / (mid as f64 + 1.0) });
        let mut w = Wali {
            sample: vec![0.0; NUMSAMPLES + 1],
            mult: vec![1.0; NUMSAMPLES + 1],
            weights: weights.collect(),
            factor: 1.0,
            count: 2,
            minimum,
        };
        w.sample[1] = first;
        w
    }

    fn average(&self, start: usize, factor: f64) -> f64 {
        let mut end = self.count.min(NUMSAMPLES + 1);
        if start == 0 && end == NUMSAMPLES + 1 {
            end -= 1;
        }
        let shift = usize::from(start == 0);
        let weight = |i: usize| (if i == 0 { 1.0 } else { factor }) * self.mult[i] * self.weights[i + shift];
        let sum: f64 = (start..end).map(weight).sum();
        (start..end).map(|i| weight(i) * self.sample[i] / sum).sum()
    }

    fn loss_event_rate(&mut self) -> f64 {
        if self.sample[0] > 0.0 {
            let ratio = 2.0 * self.average(1, 1.0) / self.sample[0];
            if ratio < 1.0 {
                self.factor = ratio.max(self.minimum);
            }
        }
        1.0 / f64::max(self.average(0, self.factor), self.average(1, self.factor))
    }

    fn loss_event(&mut self) {
        self.count += 1;
        self.sample.rotate_right(1);
        self.sample[0] = 0.0;
        self.mult[1..].iter_mut().for_each(|m| *m *= self.factor);
        self.mult.rotate_right(1);
        self.mult[0] = 1.0;
        self.factor = 1.0;
    }
}

/// Random intervals, some of them very long.
fn intervals(seed: u64) -> Vec<Vec<u64>> {
    let mut rng = Streams::new(seed).named("intervals");
    (0..60)
        .map(|_| {
            let scale = [5, 40, 400, 4000][rng.below(4) as usize];
            (0..1 + rng.below(4)).map(|_| 1 + rng.below(scale)).collect()
        })
        .collect()
}

#[track_caller]
fn assert_close(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 1e-9, "{a} is not {b}");
}

#[test]
fn the_loss_event_rate_is_that_of_the_rfc_on_random_intervals() {
    for (seed, n, discounting) in [(1, 8, Switch::On), (2, 8, Switch::Off), (3, 16, Switch::On), (4, 3, Switch::On)] {
        let p = TfrcParams { loss_intervals: n, discounting, ..params("rfc5348") };
        let threshold = if discounting.on() { p.discount_floor } else { 1.0 };
        let mut ours = LossHistory::new(&p);
        ours.seed(20.0);
        let mut rfc = Rfc { n: n as usize, threshold, i: vec![0.0, 20.0], df: vec![1.0, 1.0], general: 1.0 };
        for steps in intervals(seed) {
            for step in steps {
                ours.open += step;
                rfc.i[0] += step as f64;
                assert_close(1.0 / ours.mean().expect("there is an interval"), rfc.loss_event_rate());
            }
            ours.close(ours.open as f64);
            rfc.loss_event();
        }
    }
}

#[test]
fn the_loss_event_rate_of_the_ns2_profile_is_that_of_its_shifted_arrays() {
    for seed in 1..5 {
        let p = params("ns2-tfrc");
        assert_eq!(p.partial_history, PartialHistory::KeepAll);
        let mut ours = LossHistory::new(&p);
        ours.seed(20.0);
        let mut wali = Wali::new(20.0, p.discount_floor);
        for steps in intervals(seed) {
            // ns-2 keeps the discount of an earlier report of the same interval, which is never the stronger one.
            for step in steps {
                ours.open += step;
                wali.sample[0] += step as f64;
                assert_close(1.0 / ours.mean().expect("there is an interval"), wali.loss_event_rate());
            }
            ours.close(ours.open as f64);
            wali.loss_event();
        }
    }
}

#[test]
fn discounting_lets_a_long_interval_count_for_more_and_only_then() {
    let mean = |discounting, open| {
        let mut h = LossHistory::new(&TfrcParams { discounting, ..params("rfc5348") });
        (0..8).for_each(|_| h.close(100.0));
        h.open = open;
        h.mean().expect("eight intervals")
    };
    assert_eq!(mean(Switch::On, 200), mean(Switch::Off, 200));
    // w = 1 for the open interval, and 5 for seven of 100: (1000 + 500) / 6 without discounting.
    assert_close(mean(Switch::Off, 1000), 250.0);
    // DF = 2 * 100 / 1000 is below the floor of a quarter: (1000 + 125) / 2.25.
    assert_close(mean(Switch::On, 1000), 500.0);
}

#[test]
fn the_open_interval_counts_only_where_it_raises_the_mean() {
    let mut h = LossHistory::new(&params("rfc5348"));
    (0..8).for_each(|_| h.close(100.0));
    for (open, mean) in [(0, 100.0), (99, 100.0), (130, 105.0)] {
        h.open = open;
        assert_close(h.mean().expect("eight intervals"), mean);
    }
}

#[test]
fn the_equation_gives_what_paper_and_pencil_give() {
    let f = Formula::new(&params("rfc5348"));
    let t = PathTimes { rtt_s: 0.1, t_rto_s: 0.4 };
    // 0.1 sqrt(0.02 / 3) = 0.0081650; 3 sqrt(0.03 / 8) = 0.183712, times 0.4 * 0.01 * 1.0032 = 0.00073720.
    assert!((f.rate(0.01, t) - 1000.0 / 0.008_902_16).abs() < 20.0, "{}", f.rate(0.01, t));
    // Rare losses: s sqrt(1.5) / (R sqrt(p)).
    assert!((f.rate(1e-8, t) / (1000.0 * 1.5f64.sqrt() / (0.1 * 1e-4)) - 1.0).abs() < 1e-3);
    assert_eq!(f.rate(0.0, t), f64::INFINITY);
}

#[test]
fn the_inverse_of_the_equation_leads_back_to_the_rate() {
    let t = PathTimes { rtt_s: 0.35, t_rto_s: 1.4 };
    for (name, tolerance) in [("rfc5348", 1e-6), ("ns2-tfrc", 0.05)] {
        let f = Formula::new(&params(name));
        for rate in [500.0, 3750.0, 48_000.0, 1e6] {
            let p = f.loss_event_rate(rate, t);
            assert!((f.rate(p, t) / rate - 1.0).abs() <= tolerance, "{name}: {rate} gives p = {p}");
        }
    }
}

#[test]
fn the_formula_of_ns2_is_that_of_the_rfc_until_its_factor_is_one() {
    let (rfc, ns2) = (Formula::new(&params("rfc5348")), Formula::new(&params("ns2-tfrc")));
    let t = PathTimes { rtt_s: 0.1, t_rto_s: 0.4 };
    assert_eq!(params("ns2-tfrc").equation, Equation::Ns2);
    assert_close(ns2.rate(0.2, t), rfc.rate(0.2, t));
    assert!(ns2.rate(0.5, t) > rfc.rate(0.5, t), "3 sqrt(3 p / 8) passes 1 at p = 0.296");
}

/// By definition (RFC 5348 section 5.1): lost is what has not come when `proofs` higher numbers have.
fn lost_by_definition(order: &[u64], proofs: usize) -> Vec<u64> {
    let highest = *order.iter().max().expect("something came");
    let is_lost = |n: &u64| {
        let before: Vec<u64> = order.iter().copied().take_while(|m| m != n).collect();
        before.iter().filter(|m| *m > n).count() >= proofs
    };
    (0..highest).filter(is_lost).collect()
}

#[test]
fn losses_are_those_of_the_definition_on_random_orders() {
    let mut rng = Streams::new(5).named("orders");
    for proofs in [1, 3] {
        for _ in 0..300 {
            // Packets of which some are lost and some delayed by a few places.
            let mut order: Vec<(u64, u64)> = Vec::new();
            for n in 0..60 {
                if !rng.chance(0.1) {
                    order.push((10 * n + if rng.chance(0.2) { rng.below(60) } else { 0 }, n));
                }
            }
            order.sort_unstable();
            let order: Vec<u64> = order.into_iter().map(|o| o.1).collect();
            let mut losses = Losses::new(proofs, true);
            let mut lost = Vec::new();
            for (i, number) in order.iter().enumerate() {
                let a = Arrived { number: *number, at: Time(i as u64), sent: Time(i as u64), is_marked: false };
                losses.arrive(a, |k| {
                    if let Known::Lost(a) = k {
                        lost.push(a.number);
                    }
                });
            }
            assert_eq!(lost, lost_by_definition(&order, proofs as usize), "{order:?}");
        }
    }
}
