//! How far the run has come, counted in events.

use crosswind_base::Time;

/// Counts events.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    pub events: u64,
    /// How many there may have been before time has to go on.
    limit: u64,
    /// How many events one instant may have: more are a loop, not a simulation.
    most: u64,
}

/// How many events pass between two looks at whether the run is still wanted: some hundredths of a second.
const POLL_EVERY: u64 = 1 << 16;

impl Tick {
    /// Whether it is time to ask what lies outside the run: whether it is still wanted, and whether there is memory left.
    #[inline]
    pub fn is_poll(&self) -> bool {
        self.events % POLL_EVERY == 0
    }

    /// All flows may start at once, and many of them send a large window.
    pub fn new(stages: usize) -> Tick {
        let most = 10_000_000 + 1_000 * stages as u64;
        Tick { events: 0, limit: most, most }
    }

    pub fn most(&self) -> u64 {
        self.most
    }

    /// One event at `at`. Whether there may be more at this instant.
    #[inline]
    #[must_use]
    pub fn at(&mut self, now: &mut Time, at: Time) -> bool {
        if at != *now {
            assert!(at > *now, "time runs forward: {at:?} after {now:?}");
            *now = at;
            self.limit = self.events + self.most;
        }
        self.events += 1;
        self.events < self.limit
    }
}
