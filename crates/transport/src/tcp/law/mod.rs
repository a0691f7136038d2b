//! Window laws: how the congestion window grows, and to what it is reduced.
//!
//! A law sees facts and answers with a window. It owns no packets, no timers and no recovery state.

pub mod reno;
#[cfg(test)]
mod reno_oracle;
pub mod tabulated;

use super::params::TcpParams;
use super::registry::Row;
use super::{Ack, Trigger};
use crosswind_base::BitRate;

/// The arithmetic of one congestion window. `reduce` is always preceded by a snapshot (`clone`) taken by the sender, so
/// that a reduction can be undone without the law's help.
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
    /// The rate at which segments should be spaced, for laws that have one.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
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
}

/// One row per law: variant, type, name in scenario files, file. The rows make the enum that a connection holds, the
/// names that scenarios may use, and the reference pages.
macro_rules! laws {
    ($($variant:ident($t:ty) $name:literal $file:literal;)*) => {
        /// The law of one connection.
        #[derive(Clone, Debug)]
        pub enum Law { $($variant($t)),* }

        /// The window arithmetic.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum LawName { $(#[serde(rename = $name)] $variant),* }

        impl Law {
            pub fn new(p: &TcpParams) -> Law {
                match p.law { $(LawName::$variant => Law::$variant(<$t>::new(p))),* }
            }
        }

        impl WindowLaw for Law {
            #[inline]
            fn on_ack(&mut self, a: &Ack) {
                match self { $(Law::$variant(l) => l.on_ack(a)),* }
            }
            fn reduce(&mut self, why: Trigger, base: f64) {
                match self { $(Law::$variant(l) => l.reduce(why, base)),* }
            }
            #[inline]
            fn window(&self) -> &Window {
                match self { $(Law::$variant(l) => l.window()),* }
            }
            fn window_mut(&mut self) -> &mut Window {
                match self { $(Law::$variant(l) => l.window_mut()),* }
            }
            fn pacing_rate(&self) -> Option<BitRate> {
                match self { $(Law::$variant(l) => l.pacing_rate()),* }
            }
        }

        pub(super) const ROWS: &[Row] =
            &[$(Row { kind: "law", name: $name, source: include_str!($file) }),*];
    };
}

laws! {
    Reno(reno::Reno) "reno" "reno.rs";
    Tabulated(tabulated::Tabulated) "tabulated" "tabulated.rs";
}
