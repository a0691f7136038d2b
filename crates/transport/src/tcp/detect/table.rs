//! The names of scenario files and the rules that they stand for.

use super::delayed_response::{Base, DelayedResponse};
use super::fack::Fack;
use super::hole_sack::{HoleSack, Holes};
use super::newreno::{Burst, CountOnTimeout, Deflation, EarlyRelease, Ends, NewReno, OnLoss, Rules};
use super::pipe_sack::PipeSack;
use super::rack::Rack;
use super::sack::Sack;
use super::{Detect, RecoveryPointScope, RecoveryPolicy, Release, Status, Verdict, View};
use crate::tcp::Ack;
use crate::tcp::conn::scoreboard::{Scoreboard, Sent};
use crate::tcp::params::TcpParams;
use crosswind_base::Time;
use crosswind_base::registry::Row;

/// One row per rule: variant, type, name in scenario files, whether it needs SACK, how it is made, and the file of its
/// reference page. The rows make the enum that a connection holds and the names that scenarios may use.
macro_rules! detectors {
    ($($variant:ident($t:ty) $name:literal $sack:ident = $make:expr, $file:literal;)*) => {
        /// The detector of one connection.
        #[derive(Clone, Debug)]
        pub enum Detector { $($variant($t),)* Delayed(Box<DelayedResponse>) }

        /// Which rule finds lost segments and how many bytes it holds to be in the network.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum Detection { $(#[serde(rename = $name)] $variant),* }

        impl Detection {
            pub fn needs_sack(self) -> bool {
                match self { $(Detection::$variant => Needs::$sack == Needs::Sack),* }
            }
        }

        impl Detector {
            /// Without SACK at both ends a rule that needs it gives way to NewReno.
            pub fn new(p: &TcpParams, sack_negotiated: bool) -> Detector {
                let rule = Detector::of_rule(p, sack_negotiated);
                if p.recovery.dcr.is_on() { rule.delayed(p) } else { rule }
            }

            fn of_rule(p: &TcpParams, sack_negotiated: bool) -> Detector {
                let usable = sack_negotiated || !p.recovery.detection.needs_sack();
                match if usable { p.recovery.detection } else { Detection::Newreno } {
                    $(Detection::$variant => {
                        let make: fn(&TcpParams) -> $t = $make;
                        Detector::$variant(make(p))
                    })*
                }
            }
        }

        impl Detect for Detector {
            fn policy(&self) -> RecoveryPolicy {
                match self { $(Detector::$variant(d) => d.policy(),)* Detector::Delayed(d) => d.policy() }
            }
            #[inline]
            fn on_ack(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
                match self { $(Detector::$variant(d) => d.on_ack(a, blocks, board, v),)* Detector::Delayed(d) => d.on_ack(a, blocks, board, v) }
            }
            #[inline]
            fn in_flight(&self, board: &Scoreboard, v: &View) -> u64 {
                match self { $(Detector::$variant(d) => d.in_flight(board, v),)* Detector::Delayed(d) => d.in_flight(board, v) }
            }
            #[inline]
            fn status(&self) -> Status {
                match self { $(Detector::$variant(d) => d.status(),)* Detector::Delayed(d) => d.status() }
            }
            #[inline]
            fn next_retransmission(&mut self, why: Release, board: &mut Scoreboard) -> Option<Sent> {
                match self { $(Detector::$variant(d) => d.next_retransmission(why, board),)* Detector::Delayed(d) => d.next_retransmission(why, board) }
            }
            #[inline]
            fn on_sent(&mut self, len: u64) {
                match self { $(Detector::$variant(d) => d.on_sent(len),)* Detector::Delayed(d) => d.on_sent(len) }
            }
            fn on_timeout(&mut self, now: Time, board: &Scoreboard, v: &View) -> Option<Time> {
                match self { $(Detector::$variant(d) => d.on_timeout(now, board, v),)* Detector::Delayed(d) => d.on_timeout(now, board, v) }
            }
            fn on_wake(&mut self, board: &mut Scoreboard, v: &View) -> Verdict {
                match self { $(Detector::$variant(d) => d.on_wake(board, v),)* Detector::Delayed(d) => d.on_wake(board, v) }
            }
        }

        pub(in crate::tcp) const ROWS: &[Row] =
            &[$(Row::page("detector", $name, include_str!($file)),)*
              Row::page("detector", "dcr", include_str!("delayed_response.rs"))];
    };
}

/// Whether a rule lives on SACK blocks.
#[derive(PartialEq, Eq)]
enum Needs {
    Sack,
    Acks,
}

impl Detector {
    /// The rule behind a wait. [`crate::tcp::TcpParams::check`] refuses those that cannot be made to wait.
    fn delayed(self, p: &TcpParams) -> Detector {
        let base = match self {
            Detector::Sack(d) => Base::Sack(d),
            Detector::Reno(d) | Detector::Newreno(d) => Base::NewReno(d),
            other => return other,
        };
        Detector::Delayed(Box::new(DelayedResponse::new(base, p)))
    }
}

/// RFC 5681 and RFC 6582.
pub(super) const RENO: Rules = Rules {
    ends: Ends::OnAnyAck,
    on_loss: OnLoss::Recover,
    recovery_point: RecoveryPointScope::All,
    release: EarlyRelease::LimitedTransmit,
    deflation: Deflation::OfDuplicates,
    burst: Burst::Unlimited,
    on_timeout: CountOnTimeout::Forgotten,
};
pub(super) const NEWRENO: Rules = Rules { ends: Ends::WhenAllAcked, ..RENO };
const TAHOE: Rules = Rules { on_loss: OnLoss::StartOver, ..RENO };
/// The agents of ns-2.
pub(super) const NS2_RENO: Rules = Rules {
    recovery_point: RecoveryPointScope::ButFirstAndEcho,
    release: EarlyRelease::BelowThreshold,
    deflation: Deflation::OfWindowToo,
    ..RENO
};
pub(super) const NS2_NEWRENO: Rules = Rules { ends: Ends::WhenAllAcked, burst: Burst::TwoInRecovery, ..NS2_RENO };
const NS2_TAHOE: Rules =
    Rules { on_loss: OnLoss::StartOver, burst: Burst::OneForDuplicates, on_timeout: CountOnTimeout::Kept, ..NS2_RENO };

detectors! {
    Tahoe(NewReno) "tahoe" Acks = |p| NewReno::new(TAHOE, p), "newreno.rs";
    Reno(NewReno) "reno" Acks = |p| NewReno::new(RENO, p), "newreno.rs";
    Newreno(NewReno) "newreno" Acks = |p| NewReno::new(NEWRENO, p), "newreno.rs";
    Sack(Sack) "sack" Sack = |_| Sack::default(), "sack.rs";
    Fack(Fack) "fack" Sack = |_| Fack::default(), "fack.rs";
    LinuxSack(HoleSack) "linux-2.4" Sack = |_| HoleSack { holes: Holes::First }, "hole_sack.rs";
    LinuxFack(HoleSack) "linux-2.4-fack" Sack = |_| HoleSack { holes: Holes::BelowForward }, "hole_sack.rs";
    Rack(Box<Rack>) "rack" Sack = |p| Box::new(Rack::new(p)), "rack.rs";
    Ns2Tahoe(NewReno) "ns2-tahoe" Acks = |p| NewReno::new(NS2_TAHOE, p), "newreno.rs";
    Ns2Reno(NewReno) "ns2-reno" Acks = |p| NewReno::new(NS2_RENO, p), "newreno.rs";
    Ns2Newreno(NewReno) "ns2-newreno" Acks = |p| NewReno::new(NS2_NEWRENO, p), "newreno.rs";
    Ns2Sack1(Box<PipeSack>) "ns2-sack1" Sack = |p| Box::new(PipeSack::new(p)), "pipe_sack.rs";
    NewrenoSack(Box<PipeSack>) "newreno-sack" Sack = |p| Box::new(PipeSack::newreno(p)), "pipe_sack.rs";
}
