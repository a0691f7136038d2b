//! How much work a scenario asks for of its own accord, before any of it is done: sources that do not wait for an answer.
//!
//! What TCP sends depends on the network, and a run of it can be stopped at any time; but a source of a packet every
//! nanosecond is a slip of the pen, and is told so at once.

use super::draw::{Draw, Drawn};
use super::workloads::{WorkloadParams, interval_of};
use crosswind_base::units::show_dur;
use crosswind_base::{ConfigError, Dur};

/// Most packets (or transfers) of a group of flows in a run: about an hour of computing.
const MOST: f64 = 2e9;

/// Refuses a workload of `count` members that would make more than can be computed. Paths are relative to the workload.
pub(super) fn check(w: &WorkloadParams, count: u32, duration: Dur) -> Result<(), ConfigError> {
    let Some((key, number, what)) = estimate(w, duration) else { return Ok(()) };
    let number = number * f64::from(count);
    if number <= MOST {
        return Ok(());
    }
    let found = format!("{number:.1e} {what} in {}", show_dur(duration));
    let hint = "a longer interval, a shorter run or a limited number";
    Err(ConfigError::new(key, found, format!("at most {MOST:.0e} in a run, an hour of computing")).hint(hint))
}

/// The key that says how fast a member of the group sends, how much that is, and of what.
fn estimate(w: &WorkloadParams, duration: Dur) -> Option<(&'static str, f64, &'static str)> {
    let in_all = |every: Dur| duration.0 as f64 / (every.0.max(1)) as f64;
    let key = |rate: bool| if rate { "rate" } else { "interval" };
    match w {
        WorkloadParams::Cbr(c) => {
            let most = c.packets.map_or(f64::INFINITY, |n| n as f64 * c.bursts as f64);
            let number = in_all(interval_of(c.payload, c.interval, c.rate)).min(most);
            Some((key(c.rate.is_some()), number, "packets"))
        }
        WorkloadParams::OnOff(o) => {
            let interval = interval_of(o.payload, o.interval, o.rate);
            // A period has at least one packet.
            let (on, off) = (mean(&o.on).max(interval.0 as f64), mean(&o.off));
            let periods = o.bursts.map_or(f64::INFINITY, |n| n as f64).min(duration.0 as f64 / (on + off).max(1.0));
            Some((key(o.rate.is_some()), periods * on / interval.0.max(1) as f64, "packets"))
        }
        WorkloadParams::Ping(p) => {
            Some(("interval", in_all(p.interval).min(p.packets.map_or(f64::INFINITY, |n| n as f64)), "packets"))
        }
        WorkloadParams::Web(w) => {
            let number =
                (duration.0 as f64 / mean(&w.every).max(1.0)).min(w.transfers.map_or(f64::INFINITY, |n| n as f64));
            Some(("every", number, "transfers"))
        }
        WorkloadParams::Bulk(_) | WorkloadParams::Page(_) => None,
    }
}

fn mean<T: Drawn>(d: &Draw<T>) -> f64 {
    match *d {
        Draw::Fixed(v) | Draw::Exponential(v) | Draw::Pareto(v, _) => v.to_f64(),
        Draw::Uniform(low, high) => (low.to_f64() + high.to_f64()) / 2.0,
    }
}
