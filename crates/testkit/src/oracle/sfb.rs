//! SFB as the kernel's bins count: two tables of 8 times 16, numbers kept as they are.

/// Constants of `tc`.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub limit: u64,
    pub max: u64,
    pub bin_size: u64,
    pub inc: u64,
    pub dec: u64,
    pub penalty_rate: u64,
    pub penalty_burst: u64,
    pub rehash_ns: u64,
    pub warmup_ns: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Pass,
    /// Marked where it can be.
    Pick,
    DropEarly,
    DropBucket,
    DropPenalty,
    DropFull,
}

/// `hash(table, flow)` is given, so that both sides spread flows alike.
pub struct Sfb {
    pub o: Options,
    pub qlen: [[[u64; 16]; 8]; 2],
    pub p_mark: [[[u64; 16]; 8]; 2],
    pub slot: usize,
    pub double_buffering: bool,
    pub rehash_time: u64,
    pub tokens: u64,
    pub token_time: u64,
    pub held: u64,
}

fn bucket(hash: u32, level: usize) -> usize {
    let mut h = hash;
    for _ in 0..level {
        h >>= 4;
    }
    (h & 15) as usize
}

impl Sfb {
    pub fn new(o: Options) -> Sfb {
        Sfb {
            o,
            qlen: [[[0; 16]; 8]; 2],
            p_mark: [[[0; 16]; 8]; 2],
            slot: 0,
            double_buffering: false,
            rehash_time: 0,
            tokens: o.penalty_burst,
            token_time: 0,
            held: 0,
        }
    }
    /// Whether the hash in use is replaced now.
    pub fn swaps(&mut self, now: u64) -> bool {
        if self.o.rehash_ns == 0 {
            return false;
        }
        let limit = self.rehash_time + self.o.rehash_ns;
        if now > limit {
            self.slot = 1 - self.slot;
            self.double_buffering = false;
            self.rehash_time = now;
            return true;
        }
        if !self.double_buffering && self.o.warmup_ns > 0 && now > limit - self.o.warmup_ns {
            self.double_buffering = true;
        }
        false
    }
    fn touch(&mut self, slot: usize, hash: u32) -> (u64, u64) {
        let (mut minqlen, mut p_min) = (65_535, 65_535);
        for level in 0..8 {
            let b = bucket(hash, level);
            let qlen = self.qlen[slot][level][b];
            let p = &mut self.p_mark[slot][level][b];
            if qlen == 0 {
                *p = p.saturating_sub(self.o.dec);
            } else if qlen >= self.o.bin_size {
                *p = (*p + self.o.inc).min(65_535);
            }
            minqlen = minqlen.min(qlen);
            p_min = p_min.min(*p);
        }
        (minqlen, p_min)
    }
    /// A packet comes, after [`Sfb::swaps`]; `s` is the slot before. The hashes that it is counted under if it is let in; 0 for none.
    pub fn arrive(&mut self, s: usize, hashes: [u32; 2], now: u64, r: u64) -> (Answer, [u32; 2]) {
        if self.held >= self.o.limit {
            return (Answer::DropFull, [0, 0]);
        }
        let mut cb = [0, 0];
        cb[s] = hashes[s];
        let (minqlen, p_min) = self.touch(s, hashes[s]);
        if minqlen >= self.o.max {
            return (Answer::DropBucket, cb);
        }
        if p_min >= 65_535 {
            if self.double_buffering {
                cb[1 - s] = hashes[1 - s];
                self.touch(1 - s, hashes[1 - s]);
            }
            return (if self.rate_limit(now) { Answer::DropPenalty } else { Answer::Pass }, cb);
        }
        if r < p_min {
            if p_min > 32_767 && r < (p_min - 32_767) * 2 {
                return (Answer::DropEarly, cb);
            }
            return (Answer::Pick, cb);
        }
        (Answer::Pass, cb)
    }
    fn rate_limit(&mut self, now: u64) -> bool {
        if self.o.penalty_rate == 0 || self.o.penalty_burst == 0 {
            return true;
        }
        if self.tokens < 1 {
            let age = (now - self.token_time).min(10_000_000_000);
            self.tokens = age * self.o.penalty_rate / 1_000_000_000;
            self.tokens = self.tokens.min(self.o.penalty_burst);
            self.token_time = now;
            if self.tokens < 1 {
                return true;
            }
        }
        self.tokens -= 1;
        false
    }
    /// It is in the queue (1), or has left it (-1).
    pub fn count(&mut self, cb: [u32; 2], by: i64) {
        self.held = self.held.wrapping_add_signed(by);
        for (slot, hash) in cb.into_iter().enumerate().filter(|(_, h)| *h != 0) {
            for level in 0..8 {
                let n = &mut self.qlen[slot][level][bucket(hash, level)];
                *n = n.saturating_add_signed(by);
            }
        }
    }
}
