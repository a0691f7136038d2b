//! The names of scenario files, the laws that they stand for, and the parameters of them all.

use super::controller::Controller;
use super::hystart::SlowStart;
use super::hystart_plus::SlowStartParams;
use super::own::Maker;
use super::sample::{AckSample, Needs, SentFacts};
use super::tabulated::LawPoint;
use super::window::{Change, Start, Window};
use super::{
    aimd, bbr, bbr3, bic, copa, cubic, dctcp, fast, hstcp, htcp, ledbat, ltcp, own, prague, praguecc, reno, scalable,
    tabulated, vegas, westwood,
};
use crate::tcp::choices::is_default;
use crate::tcp::conn::ledger::Lost;
use crate::tcp::facts::{Ack, Trigger};
use crate::tcp::signal::early::EarlyParams;
use crosswind_base::registry::Row;
use crosswind_base::{ConfigError, Rng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One row per law: variant, type, name in scenario files, its parameters, what it asks for, how it is made, file. The rows make the enum that a
/// connection holds, the names and tables that scenarios may use, and the reference pages.
macro_rules! laws {
    ($($variant:ident($t:ty) $name:literal $(with $field:ident: $params:ty)? $(, $need:ident)* = $make:expr, $file:literal;)*) => {
        /// The law of one connection.
        #[derive(Clone, Debug)]
        pub enum Law { $($variant($t)),* }

        /// The window arithmetic.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        pub enum LawName { $(#[serde(rename = $name)] $variant),* }

        /// Window arithmetic: which law, a table for each, and how its slow start ends.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct ControllerParams {
            /// Window arithmetic.
            pub law: LawName,
            /// With `law = "tabulated"`: what to add and to keep, by window. Windows grow from row to row.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub law_table: Vec<LawPoint>,
            /// With `law = "own"`: the name under which the program brings it (in Python: `crosswind.run(.., laws={..})`).
            #[serde(default, skip_serializing_if = "String::is_empty")]
            pub own_law: String,
            #[serde(skip)]
            pub own: Maker,
            $($(
                #[doc = concat!("With `law = \"", $name, "\"`.")]
                #[serde(default, skip_serializing_if = "is_default")]
                pub $field: $params,
            )?)*
            /// Answer congestion before there is a loss (PERT).
            #[serde(default, skip_serializing_if = "is_default")]
            pub early: EarlyParams,
            /// How slow start ends without a loss.
            #[serde(default, skip_serializing_if = "is_default")]
            pub slow_start: SlowStart,
            /// How slow start grows with `hystart++` and `limited`.
            #[serde(default, skip_serializing_if = "is_default")]
            pub hystart: SlowStartParams,
        }

        impl ControllerParams {
            /// A law, and the defaults of all tables.
            pub fn of(law: LawName) -> ControllerParams {
                ControllerParams {
                    law,
                    law_table: Vec::new(),
                    own_law: String::new(),
                    own: Maker::default(),
                    $($($field: Default::default(),)?)*
                    early: EarlyParams::default(),
                    slow_start: SlowStart::default(),
                    hystart: SlowStartParams::default(),
                }
            }

            /// Refuses numbers that make no sense in the table of any law, whichever is chosen.
            pub(super) fn check_tables(&self, at: &dyn Fn(&str) -> String) -> Result<(), ConfigError> {
                $($(self.$field.check().map_err(|e| e.under(&at(stringify!($field))))?;)?)*
                self.hystart.check().map_err(|e| e.under(&at("hystart")))
            }
        }

        impl Law {
            /// The law that the parameters name, in its first state.
            pub fn of(p: &ControllerParams, start: Start) -> Law {
                match p.law {
                    $(LawName::$variant => {
                        let make: fn(&ControllerParams, Start) -> $t = $make;
                        Law::$variant(make(p, start))
                    })*
                }
            }
        }

        impl Needs {
            /// What the controller of these parameters asks for.
            pub fn of(p: &ControllerParams) -> Needs {
                let needs = match p.law {
                    $(LawName::$variant => Needs::default()$(.$need())*),*
                };
                Needs { delivery: needs.delivery || p.own.hears_all(), ..needs }
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

        pub(in crate::tcp) const ROWS: &[Row] =
            &[$(Row::page("law", $name, include_str!($file))),*];
    };
}

laws! {
    Reno(reno::Reno) "reno" = |_, s| reno::Reno::new(s), "reno.rs";
    Aimd(Box<aimd::Aimd>) "aimd" with aimd: aimd::AimdParams = |p, s| Box::new(aimd::Aimd::new(&p.aimd, s)), "aimd.rs";
    Tabulated(tabulated::Tabulated) "tabulated" = |p, s| tabulated::Tabulated::new(&p.law_table, s), "tabulated.rs";
    Own(Box<own::Own>) "own" = |p, s| Box::new(own::Own::new(&p.own, s)), "own.rs";
    Ltcp(Box<ltcp::Ltcp>) "ltcp" with ltcp: ltcp::LtcpParams = |p, s| Box::new(ltcp::Ltcp::new(&p.ltcp, s)), "ltcp.rs";
    Hstcp(Box<hstcp::Hstcp>) "hstcp" with hstcp: hstcp::HstcpParams = |p, s| Box::new(hstcp::Hstcp::new(&p.hstcp, s)), "hstcp.rs";
    Scalable(Box<scalable::Scalable>) "scalable" with scalable: scalable::ScalableParams = |p, s| Box::new(scalable::Scalable::new(&p.scalable, s)), "scalable.rs";
    Bic(Box<bic::Bic>) "bic" with bic: bic::BicParams = |p, s| Box::new(bic::Bic::new(&p.bic, s)), "bic.rs";
    Bbr(Box<bbr::Bbr>) "bbr" with bbr: bbr::BbrParams, delivery, pacing, recovery, dice = |p, s| Box::new(bbr::Bbr::new(&p.bbr, s)), "bbr.rs";
    Bbr3(Box<bbr3::Bbr3>) "bbr3" with bbr3: bbr3::Bbr3Params, delivery, pacing, recovery, dice, losses = |p, s| Box::new(bbr3::Bbr3::new(&p.bbr3, s)), "bbr3.rs";
    Copa(Box<copa::Copa>) "copa" with copa: copa::CopaParams, pacing, recovery = |p, s| Box::new(copa::Copa::new(&p.copa, s)), "copa.rs";
    Ledbat(Box<ledbat::Ledbat>) "ledbat++" with ledbat: ledbat::LedbatParams = |p, s| Box::new(ledbat::Ledbat::new(&p.ledbat, s)), "ledbat.rs";
    Dctcp(Box<dctcp::Dctcp>) "dctcp" with dctcp: dctcp::DctcpParams, apart = |p, s| Box::new(dctcp::Dctcp::new(&p.dctcp, s)), "dctcp.rs";
    Prague(Box<prague::Prague>) "prague" with prague: prague::PragueParams, pacing, apart = |p, s| Box::new(prague::Prague::new(&p.prague, s)), "prague.rs";
    PragueCc(Box<praguecc::PragueCc>) "praguecc", pacing, recovery, apart = |_, s| Box::new(praguecc::PragueCc::new(s)), "praguecc.rs";
    Htcp(Box<htcp::Htcp>) "htcp" with htcp: htcp::HtcpParams = |p, s| Box::new(htcp::Htcp::new(&p.htcp, s)), "htcp.rs";
    Fast(Box<fast::Fast>) "fast" with fast: fast::FastParams = |p, s| Box::new(fast::Fast::new(&p.fast, s)), "fast.rs";
    Cubic(Box<cubic::Cubic>) "cubic" with cubic: cubic::CubicParams = |p, s| Box::new(cubic::Cubic::new(&p.cubic, s)), "cubic.rs";
    Vegas(Box<vegas::Vegas>) "vegas" with vegas: vegas::VegasParams = |p, s| Box::new(vegas::Vegas::new(&p.vegas, s)), "vegas.rs";
    Westwood(Box<westwood::Westwood>) "westwood" with westwood: westwood::WestwoodParams = |p, s| Box::new(westwood::Westwood::new(&p.westwood, s)), "westwood.rs";
}
