//! The markers of the RFCs and of igarashi, word by word, in bytes and seconds. Colours are 0 (green), 1 (yellow), 2 (red).

use crosswind_base::Rng;

/// A bucket that grows by `rate` bytes a second up to `size`.
pub struct Tokens {
    pub rate: f64,
    pub size: f64,
    pub have: f64,
}

impl Tokens {
    pub fn full(rate: f64, size: f64) -> Tokens {
        Tokens { rate, size, have: size }
    }
    fn later(&mut self, dt: f64) {
        self.have += self.rate * dt;
        if self.have > self.size {
            self.have = self.size;
        }
    }
}

/// Which marker, with what it remembers. Rates are in bytes a second.
pub enum Marker {
    Tsw2 { cir: f64, win: f64, policy: u8, avg: f64, front: f64, count: u64, rng: Rng },
    Tsw3 { cir: f64, pir: f64, win: f64, avg: f64, front: f64, rng: Rng },
    SingleRate { cir: f64, cbs: f64, ebs: f64, tc: f64, te: f64, at: f64, aware: bool },
    TwoRate { tc: Tokens, tp: Tokens, at: f64, aware: bool },
    TwoRate4115 { tc: Tokens, te: Tokens, at: f64, aware: bool },
    Bucket { t: Tokens, at: f64, aware: bool },
}

impl Marker {
    /// The colour of a packet of `b` bytes at time `now` that came with colour `pre`.
    pub fn mark(&mut self, now: f64, b: f64, pre: u8) -> u8 {
        match self {
            Marker::Tsw2 { .. } | Marker::Tsw3 { .. } => self.by_window(now, b),
            Marker::SingleRate { .. } => self.by_one_rate(now, b, pre),
            _ => self.by_tokens(now, b, pre),
        }
    }

    fn by_window(&mut self, now: f64, b: f64) -> u8 {
        match self {
            Marker::Tsw2 { cir, win, policy, avg, front, count, rng } => {
                let bytes_in_win = *avg * *win;
                let new_bytes = bytes_in_win + b;
                *avg = new_bytes / (now - *front + *win);
                *front = now;
                let mut out = false;
                if *avg > *cir {
                    let p = (*avg - *cir) / *avg;
                    let spaced = *policy == 1 || (*policy == 2 && p < 0.5);
                    let used = if !spaced {
                        p
                    } else if *count as f64 * p < 1.0 {
                        0.0
                    } else if *count as f64 * p < 2.0 {
                        p / (2.0 - *count as f64 * p)
                    } else {
                        1.0
                    };
                    out = rng.uniform() < used;
                }
                *count = if out { 0 } else { *count + 1 };
                out as u8
            }
            Marker::Tsw3 { cir, pir, win, avg, front, rng } => {
                *avg = (*avg * *win + b) / (now - *front + *win);
                *front = now;
                if *avg <= *cir {
                    return 0;
                }
                let u = rng.uniform();
                if *avg <= *pir {
                    let p0 = (*avg - *cir) / *avg;
                    return (u < p0) as u8;
                }
                let p1 = (*avg - *pir) / *avg;
                let p2 = (*pir - *cir) / *avg;
                if u < p1 { 2 } else { (u < p1 + p2) as u8 }
            }
            _ => unreachable!("a marker with a window"),
        }
    }

    fn by_one_rate(&mut self, now: f64, b: f64, pre: u8) -> u8 {
        match self {
            Marker::SingleRate { cir, cbs, ebs, tc, te, at, aware } => {
                let mut new = *cir * (now - *at);
                *at = now;
                let room = *cbs - *tc;
                if new <= room {
                    *tc += new;
                } else {
                    *tc = *cbs;
                    new -= room;
                    *te = if *te + new < *ebs { *te + new } else { *ebs };
                }
                if *aware {
                    if pre == 0 && *tc - b >= 0.0 {
                        *tc -= b;
                        0
                    } else if pre <= 1 && *te - b >= 0.0 {
                        *te -= b;
                        1
                    } else {
                        2
                    }
                } else if *tc - b >= 0.0 {
                    *tc -= b;
                    0
                } else if *te - b >= 0.0 {
                    *te -= b;
                    1
                } else {
                    2
                }
            }
            _ => unreachable!("a marker with one rate"),
        }
    }

    fn by_tokens(&mut self, now: f64, b: f64, pre: u8) -> u8 {
        match self {
            Marker::TwoRate { tc, tp, at, aware } => {
                tc.later(now - *at);
                tp.later(now - *at);
                *at = now;
                let pre = if *aware { pre } else { 0 };
                if pre == 2 || tp.have - b < 0.0 {
                    2
                } else if pre == 1 || tc.have - b < 0.0 {
                    tp.have -= b;
                    1
                } else {
                    tp.have -= b;
                    tc.have -= b;
                    0
                }
            }
            Marker::TwoRate4115 { tc, te, at, aware } => {
                tc.later(now - *at);
                te.later(now - *at);
                *at = now;
                let pre = if *aware { pre } else { 0 };
                if pre == 0 && tc.have - b > 0.0 {
                    tc.have -= b;
                    0
                } else if pre < 2 && te.have - b > 0.0 {
                    te.have -= b;
                    1
                } else {
                    2
                }
            }
            Marker::Bucket { t, at, aware } => {
                t.later(now - *at);
                *at = now;
                if *aware && pre > 0 {
                    pre
                } else if t.have >= b {
                    t.have -= b;
                    0
                } else {
                    1
                }
            }
            _ => unreachable!("a marker with two rates, or a bucket"),
        }
    }
}
