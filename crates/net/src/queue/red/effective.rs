//! What the kernel makes of the parameters of a `red-linux` queue: exponents, weight, probability, decay.

use super::law::damping_rate;
use super::linux::{Damping, LinuxParams};
use crate::params;
use crosswind_base::ConfigError;
use serde::Serialize;
use serde_json::Value;

/// The numbers that the law works with.
#[derive(Clone, Debug, Serialize)]
pub struct Effective {
    /// The weight is 2^-w_log.
    pub w_log: u32,
    pub w_q: f64,
    /// The random number is drawn below this.
    pub random_range: u64,
    /// Its exponent, where it is a power of two.
    pub p_log: Option<u32>,
    pub max_p: f64,
    /// One cell of the damping table is 2^scell_log microseconds.
    pub scell_log: u32,
    /// By how many bits the average is shifted after so many cells of idle time.
    pub damping: Vec<u8>,
}

/// Reads the parameters of a queue in front of a link without a rate of its own.
pub fn linux(queue: &Value) -> Result<Effective, ConfigError> {
    let p: LinuxParams = params::read(queue, "")?;
    let rate = damping_rate(p.rate, None)?;
    let w_log = p.weight_log().expect("checked with the parameters");
    let damping = Damping::new(&p, w_log, rate);
    let range = p.random_range();
    Ok(Effective {
        w_log,
        w_q: 0.5f64.powi(w_log as i32),
        random_range: range,
        p_log: range.is_power_of_two().then(|| range.trailing_zeros()),
        max_p: (p.max_th.0 - p.min_th.0) as f64 / range as f64,
        scell_log: damping.cell_log,
        damping: damping.shifts.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_parameter_sets_of_riva_2003_become_what_its_kernel_used() {
        // min, max, avpkt, burst -> Wlog, Plog, max_p: the table of the specification.
        let sets = [
            (5000, 18_000, 1000, 12, 4, 17, 0.0992),
            (5000, 18_000, 1000, 9, 3, 17, 0.0992),
            (4000, 16_000, 1000, 11, 4, 17, 0.0916),
            (5000, 15_000, 1000, 8, 3, 17, 0.0763),
            (5000, 15_000, 1000, 12, 4, 17, 0.0763),
            (800, 3500, 150, 12, 4, 15, 0.0824),
        ];
        for (min, max, avpkt, burst, w_log, p_log, max_p) in sets {
            let bytes = |n: i32| format!("{n} B");
            let queue = json!({"type": "red-linux", "limit": "20000 B", "min_th": bytes(min), "max_th": bytes(max),
                "avpkt": bytes(avpkt), "burst": burst, "max_p_rounding": "tc-plog", "rate": "140 kbit/s"});
            let e = linux(&queue).expect("valid");
            assert_eq!((e.w_log, e.p_log), (w_log, Some(p_log)), "{queue}");
            assert!((e.max_p - max_p).abs() < 5e-5, "{queue}: {}", e.max_p);
        }
    }
}
