//! The token bucket filter as the kernel documents it: tokens are nanoseconds of sending time.

/// Rates are given as nanoseconds per byte, so that nothing is rounded.
pub struct Tbf {
    pub ns_per_byte: i64,
    pub peak_ns_per_byte: Option<i64>,
    /// Buckets, in nanoseconds of their rate.
    pub buffer: i64,
    pub mtu: i64,
    pub overhead: i64,
    pub limit_packets: usize,
    pub tokens: i64,
    pub ptokens: i64,
    pub t_c: i64,
    pub queue: Vec<i64>,
    /// When to look again, after a refusal.
    pub watchdog: Option<i64>,
}

impl Tbf {
    /// Whether the packet was let in.
    pub fn enqueue(&mut self, len: i64) -> bool {
        let charged = len + self.overhead;
        let too_long =
            charged * self.ns_per_byte > self.buffer || self.peak_ns_per_byte.is_some_and(|p| charged * p > self.mtu);
        if too_long || self.queue.len() >= self.limit_packets {
            return false;
        }
        self.queue.push(len);
        true
    }

    pub fn dequeue(&mut self, now: i64) -> Option<i64> {
        self.watchdog = None;
        let len = *self.queue.first()?;
        let charged = len + self.overhead;
        let mut toks = (now - self.t_c).min(self.buffer);
        let mut ptoks = 0;
        if let Some(per_byte) = self.peak_ns_per_byte {
            // The peak bucket gets the whole time since the last packet, up to its own size.
            ptoks = (now - self.t_c + self.ptokens).min(self.mtu) - charged * per_byte;
        }
        toks = (toks + self.tokens).min(self.buffer) - charged * self.ns_per_byte;
        if toks >= 0 && ptoks >= 0 {
            (self.t_c, self.tokens, self.ptokens) = (now, toks, ptoks);
            return Some(self.queue.remove(0));
        }
        self.watchdog = Some(now + (-toks).max(-ptoks));
        None
    }
}
