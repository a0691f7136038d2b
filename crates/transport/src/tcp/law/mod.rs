//! Controllers, also called window laws: how the congestion window grows, and to what it is reduced.
//!
//! A controller sees the facts of every ACK and answers with a window. It owns no packets, no timers and no recovery state; nobody
//! else writes the window ([`window`]).

pub mod aimd;
pub mod bbr;
pub mod bbr3;
#[cfg(test)]
mod bbr3_oracle;
#[cfg(test)]
mod bbr_oracle;
pub mod bic;
pub mod copa;
#[cfg(test)]
mod copa_oracle;
pub mod cubic;
pub mod cubic_linux;
pub mod dctcp;
#[cfg(test)]
mod dctcp_oracle;
pub mod drive;
pub mod fast;
pub mod hstcp;
pub mod htcp;
pub mod hystart;
#[cfg(test)]
mod hystart_oracle;
pub mod hystart_plus;
#[cfg(test)]
mod hystart_plus_oracle;
pub mod ledbat;
pub mod limited_slow_start;
pub mod ltcp;
#[cfg(test)]
mod oracle;
pub mod own;
pub mod prague;
pub mod praguecc;
#[cfg(test)]
mod praguecc_oracle;
pub mod reno;
#[cfg(test)]
mod reno_oracle;
pub(in crate::tcp) mod rtt_filter;
pub mod sample;
pub mod scalable;
#[cfg(test)]
mod scalable_drive;
pub mod search;
pub mod tabulated;
pub mod vegas;
pub mod westwood;
pub mod window;

pub use super::conn::ledger::{Delivery, Lost};
use super::params::TcpParams;
use super::{Ack, Trigger};
use crosswind_base::registry::Row;
use crosswind_base::{ConfigError, Rng};
pub use sample::{AckSample, Needs, SentFacts};
pub use window::{AckCredit, Change, Window};

/// One controller: alone in charge of the window, told of everything. Before a timeout that may turn out to have been a mistake
/// the sender takes a copy (`clone`).
pub trait Controller: Clone {
    /// Every ACK. Unless a controller makes something of the others, too, the window grows on those on which it may.
    #[inline]
    fn on_ack(&mut self, s: &AckSample<'_>) {
        if !s.may_grow {
            return;
        }
        if s.credit == s.ack.bytes {
            self.grow(s.ack);
        } else {
            self.grow(&Ack { bytes: s.credit, ..*s.ack });
        }
    }
    /// Growth by an ACK on which the window may grow; `bytes` of it count.
    fn grow(&mut self, _a: &Ack) {}
    /// Congestion. `base` is the number of bytes that the profile reduces from (flight or window).
    fn reduce(&mut self, why: Trigger, base: f64);
    /// What else the connection asks of the window.
    fn change(&mut self, change: Change) {
        self.window_mut().apply(change);
    }
    /// A segment is held lost. For controllers whose row asks for losses; before the ACK that has shown it.
    fn on_lost(&mut self, _l: &Lost) {}
    /// A segment leaves. For controllers whose row asks for delivery rates.
    fn on_sent(&mut self, _s: &SentFacts) {}
    /// The last timeout was a mistake: `before` is the controller as it was then.
    fn undo(&mut self, before: &Self) {
        *self = before.clone();
    }
    /// So many bytes have been delivered: before an undo, for one whose row asks for rates, as the ACK in hand is still to come.
    fn hear_delivered(&mut self, _bytes: u64) {}
    /// Bytes per second at which segments are to leave.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// It sends less than the path carries on purpose: samples count as application-limited.
    fn holds_back(&self) -> bool {
        false
    }
    /// What it goes by, for time series: name of the metric and value.
    fn sample(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
    /// The random stream that its row asks for.
    fn take_dice(&mut self, _dice: Rng) {}
    fn window(&self) -> &Window;
    /// For this folder: others cannot write what it gives.
    fn window_mut(&mut self) -> &mut Window;
    #[inline]
    fn cwnd(&self) -> f64 {
        self.window().cwnd
    }
    #[inline]
    fn ssthresh(&self) -> f64 {
        self.window().ssthresh
    }
}

/// Refuses settings of any law that make no sense, whichever law is chosen.
pub fn check(p: &TcpParams, at: &dyn Fn(&str) -> String) -> Result<(), ConfigError> {
    tabulated::check(p, at)?;
    own::check(p, at)?;
    let named = |law: &str, r: Result<(), ConfigError>| r.map_err(|e| e.under(&at(law)));
    named("aimd", p.controller.aimd.check())?;
    named("ltcp", p.controller.ltcp.check())?;
    named("hstcp", p.controller.hstcp.check())?;
    named("scalable", p.controller.scalable.check())?;
    named("bic", p.controller.bic.check())?;
    named("bbr", p.controller.bbr.check())?;
    named("bbr3", p.controller.bbr3.check())?;
    named("copa", p.controller.copa.check())?;
    named("hystart", p.controller.hystart.check())?;
    named("ledbat", p.controller.ledbat.check())?;
    named("dctcp", p.controller.dctcp.check())?;
    named("prague", p.controller.prague.check())?;
    named("htcp", p.controller.htcp.check())?;
    named("fast", p.controller.fast.check(p.window.grow_when))?;
    named("cubic", p.controller.cubic.check())?;
    named("vegas", p.controller.vegas.check())?;
    named("westwood", p.controller.westwood.check())
}

/// Refuses a number outside its range.
fn within(key: &str, value: f64, range: std::ops::RangeInclusive<f64>) -> Result<(), ConfigError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(ConfigError::new(key, value.to_string(), format!("from {} to {}", range.start(), range.end())))
}

/// One row per law: variant, type, name in scenario files, what it asks for, how it is made, file. The rows make the enum that a connection holds, the
/// names that scenarios may use, and the reference pages.
macro_rules! laws {
    ($($variant:ident($t:ty) $name:literal $(+ $need:ident)* = $make:expr, $file:literal;)*) => {
        /// The law of one connection.
        #[derive(Clone, Debug)]
        pub enum Law { $($variant($t)),* }

        /// The window arithmetic.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum LawName { $(#[serde(rename = $name)] $variant),* }

        impl Law {
            pub fn new(p: &TcpParams) -> Law {
                match p.controller.law {
                    $(LawName::$variant => {
                        let make: fn(&TcpParams) -> $t = $make;
                        Law::$variant(make(p))
                    })*
                }
            }
        }

        impl Needs {
            /// What the controller of these parameters asks for.
            pub fn of(p: &TcpParams) -> Needs {
                let needs = match p.controller.law {
                    $(LawName::$variant => Needs::default()$(.$need())*),*
                };
                Needs { delivery: needs.delivery || p.controller.own.hears_all(), ..needs }
            }
        }

        /// The window is asked for several times an ACK: the commonest law is told apart first, the others by a table.
        impl Law {
            #[inline(never)]
            fn rarer_on_ack(&mut self, s: &AckSample<'_>) {
                match self { $(Law::$variant(l) => l.on_ack(s)),* }
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

        impl Controller for Law {
            #[inline]
            fn on_ack(&mut self, s: &AckSample<'_>) {
                match self {
                    Law::Reno(l) => l.on_ack(s),
                    _ => self.rarer_on_ack(s),
                }
                if s.limit < f64::INFINITY {
                    let w = self.window_mut();
                    w.cwnd = w.cwnd.min(s.limit);
                }
            }
            fn grow(&mut self, a: &Ack) {
                match self { $(Law::$variant(l) => l.grow(a)),* }
            }
            fn reduce(&mut self, why: Trigger, base: f64) {
                match self { $(Law::$variant(l) => l.reduce(why, base)),* }
            }
            fn change(&mut self, change: Change) {
                match self { $(Law::$variant(l) => l.change(change)),* }
            }
            fn on_lost(&mut self, l: &Lost) {
                match self { $(Law::$variant(x) => x.on_lost(l)),* }
            }
            fn on_sent(&mut self, s: &SentFacts) {
                match self { $(Law::$variant(l) => l.on_sent(s)),* }
            }
            fn hear_delivered(&mut self, bytes: u64) {
                match self { $(Law::$variant(l) => l.hear_delivered(bytes)),* }
            }
            fn undo(&mut self, before: &Law) {
                match (self, before) {
                    $((Law::$variant(l), Law::$variant(b)) => l.undo(b),)*
                    _ => debug_assert!(false, "a connection keeps its law"),
                }
            }
            fn pacing_rate(&self) -> Option<f64> {
                match self { $(Law::$variant(l) => l.pacing_rate()),* }
            }
            fn holds_back(&self) -> bool {
                match self { $(Law::$variant(l) => l.holds_back()),* }
            }
            fn sample(&self, out: &mut dyn FnMut(&'static str, f64)) {
                match self { $(Law::$variant(l) => l.sample(out)),* }
            }
            fn take_dice(&mut self, dice: Rng) {
                match self { $(Law::$variant(l) => l.take_dice(dice)),* }
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
            &[$(Row::page("law", $name, include_str!($file))),*];
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
    Bbr(Box<bbr::Bbr>) "bbr" + delivery + pacing + recovery + dice = |p| Box::new(bbr::Bbr::new(p)), "bbr.rs";
    Bbr3(Box<bbr3::Bbr3>) "bbr3" + delivery + pacing + recovery + dice + losses = |p| Box::new(bbr3::Bbr3::new(p)), "bbr3.rs";
    Copa(Box<copa::Copa>) "copa" + pacing + recovery = |p| Box::new(copa::Copa::new(p)), "copa.rs";
    Ledbat(Box<ledbat::Ledbat>) "ledbat++" = |p| Box::new(ledbat::Ledbat::new(p)), "ledbat.rs";
    Dctcp(Box<dctcp::Dctcp>) "dctcp" + apart = |p| Box::new(dctcp::Dctcp::new(p)), "dctcp.rs";
    Prague(Box<prague::Prague>) "prague" + pacing + apart = |p| Box::new(prague::Prague::new(p)), "prague.rs";
    PragueCc(Box<praguecc::PragueCc>) "praguecc" + pacing + recovery + apart = |p| Box::new(praguecc::PragueCc::new(p)), "praguecc.rs";
    Htcp(Box<htcp::Htcp>) "htcp" = |p| Box::new(htcp::Htcp::new(p)), "htcp.rs";
    Fast(Box<fast::Fast>) "fast" = |p| Box::new(fast::Fast::new(p)), "fast.rs";
    Cubic(Box<cubic::Cubic>) "cubic" = |p| Box::new(cubic::Cubic::new(p)), "cubic.rs";
    Vegas(Box<vegas::Vegas>) "vegas" = |p| Box::new(vegas::Vegas::new(p)), "vegas.rs";
    Westwood(Box<westwood::Westwood>) "westwood" = |p| Box::new(westwood::Westwood::new(p)), "westwood.rs";
}
