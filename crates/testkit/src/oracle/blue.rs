//! BLUE as a list of events: an idle link is asked once per step of time, one after the other.

/// The probability and when it was changed.
#[derive(Clone, Debug)]
pub struct Blue {
    pub up: f64,
    pub down: f64,
    pub freeze_ns: u64,
    pub p: f64,
    pub last_ns: Option<u64>,
    /// When the queue became empty.
    pub idle_ns: Option<u64>,
}

impl Blue {
    pub fn new(up: f64, down: f64, freeze_ns: u64) -> Blue {
        Blue { up, down, freeze_ns, p: 0.0, last_ns: None, idle_ns: None }
    }
    /// The queue is full, or longer than it should be.
    pub fn overflow(&mut self, now: u64) {
        let is_frozen = self.last_ns.is_some_and(|t| now - t <= self.freeze_ns);
        if !is_frozen {
            self.p = (self.p + self.up).min(1.0);
            self.last_ns = Some(now);
        }
    }
    /// A packet comes: the idle time until now is over.
    pub fn arrival(&mut self, now: u64) {
        let Some(mut at) = self.idle_ns.take() else { return };
        loop {
            at = at.max(self.last_ns.map_or(0, |t| t + self.freeze_ns));
            if at > now {
                return;
            }
            self.p = (self.p - self.down).max(0.0);
            self.last_ns = Some(at);
        }
    }
}
