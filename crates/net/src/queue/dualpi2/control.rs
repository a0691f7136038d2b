//! The probability that both queues share, as the RFC and as the kernel computes it.

use super::params::{DualPi2Params, Overload, Profile, Wrap};
use crate::queue::pi2::Base;
use crosswind_base::{Dur, Time};

/// The controller of the kernel: whole numbers, nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Kernel {
    p: u32,
    last: i64,
    target: i64,
    /// Parts of a probability for 64 ns.
    gains: [i64; 2],
    period: Dur,
    next: Time,
    /// No probability is greater.
    most: u32,
    wrap: Wrap,
    coupling: u64,
}

/// A gain in Hz as the kernel works with it: 256ths first, then parts of 2^32 - 1 for each 64 ns.
fn scaled(hz: f64) -> i64 {
    let parts = (hz * 256.0).round() as u64;
    (parts * u64::from(u32::MAX) / 4 / 1_000_000_000) as i64
}

impl Kernel {
    pub fn new(p: &DualPi2Params) -> Kernel {
        let coupling = p.coupling as u64;
        let most = if p.overload == Overload::Overflow { u32::MAX / coupling.max(1) as u32 } else { u32::MAX };
        Kernel {
            p: 0,
            last: 0,
            target: p.target.0 as i64,
            gains: [p.alpha, p.beta].map(scaled),
            period: p.t_update,
            next: Time::ZERO + p.t_update,
            most,
            wrap: p.wrap,
            coupling,
        }
    }
    /// The probability before it is squared, in parts of 2^32 - 1.
    pub fn parts(&self) -> u32 {
        self.p
    }
    /// For tests: a controller that has come this far.
    pub fn at(self, parts: u32, last: Dur) -> Kernel {
        Kernel { p: parts, last: last.0 as i64, ..self }
    }
    /// The gains for 64 ns.
    pub fn gains(&self) -> [i64; 2] {
        self.gains
    }
    /// That of an L packet, which may be more than all parts.
    #[inline]
    pub fn coupled(&self) -> u64 {
        u64::from(self.p) * self.coupling
    }
    /// One update with the delay that was found.
    #[inline]
    pub fn update(&mut self, delay: Dur) {
        let q = delay.0 as i64;
        let [alpha, beta] = self.gains;
        let change = (q - self.target).wrapping_mul(alpha).wrapping_add((q - self.last).wrapping_mul(beta));
        self.last = q;
        let far = change.unsigned_abs() >> 6;
        let (is_rise, p) = (change > 0, self.p);
        let new = match (self.wrap, is_rise) {
            // One turn is noticed, more are not.
            (Wrap::Kernel, true) => p.saturating_add(far as u32),
            (Wrap::Kernel, false) => p.saturating_sub(far as u32),
            (Wrap::Clamp, true) => (u64::from(p) + far).min(u64::from(u32::MAX)) as u32,
            (Wrap::Clamp, false) => u64::from(p).saturating_sub(far) as u32,
        };
        self.p = new.min(self.most);
    }
}

/// Either of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Control {
    Rfc(Base),
    Linux(Kernel),
}

impl Control {
    pub fn new(p: &DualPi2Params) -> Control {
        match p.profile {
            Profile::Rfc9332 => Control::Rfc(Base::new(p.target, p.t_update, [p.alpha, p.beta])),
            Profile::Linux => Control::Linux(Kernel::new(p)),
        }
    }
    /// Other parameters with the same past.
    pub fn goes_on_as(&mut self, p: &DualPi2Params) {
        match (self, Control::new(p)) {
            (Control::Rfc(old), Control::Rfc(new)) => old.goes_on_as(new),
            (Control::Linux(old), Control::Linux(new)) => {
                *old = Kernel { p: old.p, last: old.last, next: old.next, ..new };
            }
            _ => {}
        }
    }
    /// The probability before it is squared.
    pub fn p(&self) -> f64 {
        match self {
            Control::Rfc(base) => base.p(),
            Control::Linux(kernel) => f64::from(kernel.p) / f64::from(u32::MAX),
        }
    }
    /// The updates that are due; `oldest`: since when the packet that has waited longest waits.
    #[inline]
    pub fn catch_up(&mut self, now: Time, oldest: Option<Time>) {
        match self {
            Control::Rfc(base) => base.catch_up(now, oldest),
            Control::Linux(kernel) => {
                while kernel.next <= now {
                    let before = *kernel;
                    kernel.update(oldest.map_or(Dur::ZERO, |since| kernel.next.since(since)));
                    if *kernel == before {
                        // All further ones change nothing either.
                        kernel.next += kernel.period.saturating_mul((now - kernel.next).0 / kernel.period.0);
                    }
                    kernel.next += kernel.period;
                }
            }
        }
    }
}
