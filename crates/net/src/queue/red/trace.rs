//! Drives the law of a `red-linux` queue with chosen backlogs, for checking published statements about the law alone.

use super::law::{Arrival, Law, Verdict, damping_rate};
use super::linux::{Linux, LinuxParams};
use crate::params;
use crate::queue::Backlog;
use crosswind_base::{ConfigError, DropReason, Rng, Time};
use serde_json::Value;

/// One arrival: what the law is told. A backlog of zero means that the queue has been empty since the arrival before.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    pub at: Time,
    pub backlog_bytes: u64,
}

/// What the law makes of each arrival: the average after it, in bytes, and the verdict.
pub fn linux(params: &Value, told: &[Told], rng: &mut Rng) -> Result<Vec<(f64, Verdict)>, ConfigError> {
    let params: LinuxParams = params::read(params, "")?;
    let rate = damping_rate(params.rate, None)?;
    let len = params.avpkt.0 as u32;
    let mut law = Linux::new(params, rate);
    let mut before = Time::ZERO;
    let mut answer = |t: &Told| {
        if t.backlog_bytes == 0 {
            law.emptied(before, 0);
        }
        before = t.at;
        let backlog = Backlog { bytes: t.backlog_bytes, packets: t.backlog_bytes.div_ceil(len as u64) as u32 };
        let verdict = law.arrive(&Arrival { backlog, len, now: t.at }, rng);
        (law.avg_bytes(), verdict)
    };
    Ok(told.iter().map(&mut answer).collect())
}

/// The verdict as a packet meets it: 0 passed, 1 marked, 2 dropped early, 3 dropped above the maximum threshold.
pub fn code(verdict: Verdict, is_capable: IsCapable) -> u8 {
    match (verdict, is_capable) {
        (Verdict::Pass, _) => 0,
        (Verdict::Signal(_), IsCapable::Yes) => 1,
        (Verdict::Signal(DropReason::ForcedDrop) | Verdict::Drop(DropReason::ForcedDrop), _) => 3,
        (Verdict::Signal(_) | Verdict::Drop(_), _) => 2,
    }
}

/// Whether a packet is ECN-capable and the queue marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IsCapable {
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Streams;
    use serde_json::json;

    #[test]
    fn a_trace_above_the_maximum_marks_capable_packets_and_drops_others() {
        let told: Vec<Told> = (1..4000).map(|i| Told { at: Time(i * 72_000_000), backlog_bytes: 15 * 576 }).collect();
        let params = json!({"rate": "64 kbit/s"});
        let out = linux(&params, &told, &mut Streams::new(1).named("red")).expect("valid");
        let (avg, verdict) = out[out.len() - 1];
        assert!(avg > 5184.0, "{avg}");
        assert_eq!((code(verdict, IsCapable::Yes), code(verdict, IsCapable::No)), (1, 3));
        assert_eq!(code(out[0].1, IsCapable::Yes), 0);
        let e = linux(&json!({}), &told, &mut Streams::new(1).named("red")).expect_err("no rate");
        assert_eq!(e.path, "rate");
    }
}
