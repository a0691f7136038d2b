//! A part of a run, and who looks at totals in it.

use crosswind_base::Time;

/// A part of a run.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// When it ends.
    pub ends: Time,
    /// Until then nobody reads totals.
    pub report_horizon: Time,
    /// Nor what is sampled.
    pub sample_horizon: Time,
}

impl View {
    /// Anybody may read anything at any time.
    pub fn none() -> View {
        View::up_to(Time::NEVER, Time::ZERO)
    }

    pub fn up_to(ends: Time, report_horizon: Time) -> View {
        View { ends, report_horizon, sample_horizon: report_horizon }
    }

    /// Samples are read at `next`, and totals at `totals`, or at `next` when that is later.
    pub fn until(self, next: Time, totals: Time) -> View {
        View {
            ends: self.ends.min(next),
            report_horizon: self.report_horizon.min(totals.max(next)),
            sample_horizon: self.sample_horizon.min(next),
        }
    }
}
