//! Window laws: how the congestion window grows, and to what it is reduced.
//!
//! A law sees facts and answers with a window. It owns no packets, no timers and no recovery state.

pub mod aimd;
pub mod bic;
pub mod cubic;
pub mod cubic_linux;
pub mod drive;
pub mod fast;
pub mod hstcp;
pub mod htcp;
pub mod hystart;
#[cfg(test)]
mod hystart_oracle;
pub mod ltcp;
#[cfg(test)]
mod oracle;
pub mod own;
pub mod reno;
#[cfg(test)]
mod reno_oracle;
pub mod scalable;
pub(in crate::tcp) mod seen;
pub mod tabulated;
pub mod vegas;
pub mod westwood;

use super::params::{AvoidanceCounting, TcpParams};
use super::registry::Row;
use super::{Ack, Trigger};
use crosswind_base::ConfigError;

/// The arithmetic of one congestion window. Before a timeout that may turn out to have been a mistake the sender takes a copy
/// (`clone`), so that the reduction can be undone without the law's help.
pub trait WindowLaw: Clone {
    /// New data was acknowledged while the window may grow.
    fn on_ack(&mut self, a: &Ack);
    /// Congestion. `base` is the number of bytes that the profile reduces from (flight or window).
    fn reduce(&mut self, why: Trigger, base: f64);
    fn window(&self) -> &Window;
    fn window_mut(&mut self) -> &mut Window;
    fn cwnd(&self) -> f64 {
        self.window().cwnd
    }
    fn ssthresh(&self) -> f64 {
        self.window().ssthresh
    }
    fn set_ssthresh(&mut self, bytes: f64) {
        self.window_mut().ssthresh = bytes;
    }
}

/// What every window law has: the window and the slow-start threshold, in bytes.
#[derive(Clone, Debug)]
pub struct Window {
    /// Congestion window in bytes; fractions accumulate.
    pub cwnd: f64,
    /// Slow-start threshold in bytes.
    pub ssthresh: f64,
    pub mss: f64,
}

impl Window {
    pub fn new(p: &TcpParams) -> Window {
        let mss = p.mss.0 as f64;
        Window { cwnd: mss * p.initial_window_segments as f64, ssthresh: p.initial_ssthresh.0 as f64, mss }
    }
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
    /// The window in segments.
    pub fn segments(&self) -> f64 {
        self.cwnd / self.mss
    }
    /// Grows as slow start does while the window is below the threshold; returns whether it was.
    #[inline]
    pub fn slow_start(&mut self, a: &Ack, counting: AvoidanceCounting) -> bool {
        let below = self.in_slow_start();
        if below {
            self.cwnd += match counting {
                AvoidanceCounting::Bytes => self.mss.min(a.bytes as f64),
                AvoidanceCounting::Segments => (a.bytes as f64).min(self.ssthresh - self.cwnd),
                _ => self.mss,
            };
        }
        below
    }
    /// What an ACK counts for in congestion avoidance, in segments: what it acknowledges, or one.
    #[inline]
    pub fn worth(&self, a: &Ack, counting: AvoidanceCounting) -> f64 {
        let by_bytes = matches!(counting, AvoidanceCounting::Bytes | AvoidanceCounting::Segments);
        if by_bytes { a.bytes as f64 / self.mss } else { 1.0 }
    }
    /// Adds `per_window` segments per window of ACKs.
    #[inline]
    pub fn add(&mut self, per_window: f64, worth: Worth) {
        self.cwnd += per_window * worth.0 * self.mss * self.mss / self.cwnd;
    }
    /// Reduces to `kept` bytes, never below two segments; a timeout starts again from one.
    pub fn fall_to(&mut self, kept: f64, why: Trigger) {
        self.ssthresh = kept.max(2.0 * self.mss);
        self.cwnd = if why == Trigger::Timeout { self.mss } else { self.ssthresh };
    }
}

/// What an ACK counts for, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Worth(pub f64);

impl<L: WindowLaw> WindowLaw for Box<L> {
    #[inline]
    fn on_ack(&mut self, a: &Ack) {
        (**self).on_ack(a);
    }
    fn reduce(&mut self, why: Trigger, base: f64) {
        (**self).reduce(why, base);
    }
    #[inline]
    fn window(&self) -> &Window {
        (**self).window()
    }
    fn window_mut(&mut self) -> &mut Window {
        (**self).window_mut()
    }
}

/// Refuses settings of any law that make no sense, whichever law is chosen.
pub fn check(p: &TcpParams, at: &dyn Fn(&str) -> String) -> Result<(), ConfigError> {
    tabulated::check(p, at)?;
    own::check(p, at)?;
    let named = |law: &str, r: Result<(), ConfigError>| r.map_err(|e| e.under(&at(law)));
    named("aimd", p.aimd.check())?;
    named("ltcp", p.ltcp.check())?;
    named("hstcp", p.hstcp.check())?;
    named("scalable", p.scalable.check())?;
    named("bic", p.bic.check())?;
    named("htcp", p.htcp.check())?;
    named("fast", p.fast.check(p.grow_when))?;
    named("cubic", p.cubic.check())?;
    named("vegas", p.vegas.check())?;
    named("westwood", p.westwood.check())
}

/// Refuses a number outside its range.
fn within(key: &str, value: f64, range: std::ops::RangeInclusive<f64>) -> Result<(), ConfigError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(ConfigError::new(key, value.to_string(), format!("from {} to {}", range.start(), range.end())))
}

/// One row per law: variant, type, name in scenario files, how it is made, file. The rows make the enum that a connection holds, the
/// names that scenarios may use, and the reference pages.
macro_rules! laws {
    ($($variant:ident($t:ty) $name:literal = $make:expr, $file:literal;)*) => {
        /// The law of one connection.
        #[derive(Clone, Debug)]
        pub enum Law { $($variant($t)),* }

        /// The window arithmetic.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum LawName { $(#[serde(rename = $name)] $variant),* }

        impl Law {
            pub fn new(p: &TcpParams) -> Law {
                match p.law {
                    $(LawName::$variant => {
                        let make: fn(&TcpParams) -> $t = $make;
                        Law::$variant(make(p))
                    })*
                }
            }
        }

        /// The window is asked for several times an ACK: the commonest law is told apart first, the others by a table.
        impl Law {
            #[inline(never)]
            fn rarer_on_ack(&mut self, a: &Ack) {
                match self { $(Law::$variant(l) => l.on_ack(a)),* }
            }
            #[inline(never)]
            fn rarer_window(&self) -> &Window {
                match self { $(Law::$variant(l) => l.window()),* }
            }
            #[inline(never)]
            fn rarer_window_mut(&mut self) -> &mut Window {
                match self { $(Law::$variant(l) => l.window_mut()),* }
            }
        }

        impl WindowLaw for Law {
            #[inline]
            fn on_ack(&mut self, a: &Ack) {
                match self {
                    Law::Reno(l) => l.on_ack(a),
                    other => other.rarer_on_ack(a),
                }
            }
            fn reduce(&mut self, why: Trigger, base: f64) {
                match self { $(Law::$variant(l) => l.reduce(why, base)),* }
            }
            #[inline]
            fn window(&self) -> &Window {
                match self {
                    Law::Reno(l) => l.window(),
                    other => other.rarer_window(),
                }
            }
            #[inline]
            fn window_mut(&mut self) -> &mut Window {
                match self {
                    Law::Reno(l) => l.window_mut(),
                    other => other.rarer_window_mut(),
                }
            }
        }

        pub(super) const ROWS: &[Row] =
            &[$(Row { kind: "law", name: $name, source: include_str!($file) }),*];
    };
}

laws! {
    Reno(reno::Reno) "reno" = reno::Reno::new, "reno.rs";
    Aimd(Box<aimd::Aimd>) "aimd" = |p| Box::new(aimd::Aimd::new(p)), "aimd.rs";
    Tabulated(tabulated::Tabulated) "tabulated" = tabulated::Tabulated::new, "tabulated.rs";
    Own(Box<own::Own>) "own" = |p| Box::new(own::Own::new(p)), "own.rs";
    Ltcp(Box<ltcp::Ltcp>) "ltcp" = |p| Box::new(ltcp::Ltcp::new(p)), "ltcp.rs";
    Hstcp(Box<hstcp::Hstcp>) "hstcp" = |p| Box::new(hstcp::Hstcp::new(p)), "hstcp.rs";
    Scalable(Box<scalable::Scalable>) "scalable" = |p| Box::new(scalable::Scalable::new(p)), "scalable.rs";
    Bic(Box<bic::Bic>) "bic" = |p| Box::new(bic::Bic::new(p)), "bic.rs";
    Htcp(Box<htcp::Htcp>) "htcp" = |p| Box::new(htcp::Htcp::new(p)), "htcp.rs";
    Fast(Box<fast::Fast>) "fast" = |p| Box::new(fast::Fast::new(p)), "fast.rs";
    Cubic(Box<cubic::Cubic>) "cubic" = |p| Box::new(cubic::Cubic::new(p)), "cubic.rs";
    Vegas(Box<vegas::Vegas>) "vegas" = |p| Box::new(vegas::Vegas::new(p)), "vegas.rs";
    Westwood(Box<westwood::Westwood>) "westwood" = |p| Box::new(westwood::Westwood::new(p)), "westwood.rs";
}
