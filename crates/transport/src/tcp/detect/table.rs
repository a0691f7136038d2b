//! The names of scenario files and the rules that they stand for.

use super::delayed_response::{Base, DcrParams, DelayedResponse};
use super::detector::{Detect, RecoveryPointScope, RecoveryPolicy, Release, Status, Verdict, View};
use super::fack::Fack;
use super::hole_sack::{HoleSack, Holes};
use super::newreno::{Burst, CountOnTimeout, Deflation, EarlyRelease, Ends, NewReno, NewRenoParams, OnLoss, Rules};
use super::pipe_sack::PipeSack;
use super::rack::Rack;
use super::sack::Sack;
use super::tlp::TailProbe;
use crate::tcp::choices::{DuplicatesRule, SackAfterTimeout, Switch, TimeoutInRecovery, is_default};
use crate::tcp::conn::scoreboard::{Scoreboard, Sent};
use crate::tcp::facts::Ack;
use crosswind_base::registry::Row;
use crosswind_base::{ConfigError, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What counts as lost, and what is retransmitted when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecoveryParams {
    /// Loss detection and recovery.
    #[serde(rename = "recovery")]
    pub detection: Detection,
    /// Duplicate ACKs (or SACKed segments) that mean a loss.
    pub dupthresh: u32,
    /// Wait before duplicates are taken for a loss (TCP-DCR, TCP-NCR).
    #[serde(default, skip_serializing_if = "is_default")]
    pub dcr: DcrParams,
    /// Send a segment when two round trips brought no news, before the timer expires (RFC 8985 section 7).
    #[serde(default, skip_serializing_if = "is_default")]
    pub tail_probe: TailProbe,
    /// RFC 3042: one new segment on each of the first two duplicate ACKs.
    pub limited_transmit: Switch,
    /// Scoreboard after a timeout.
    pub sack_after_timeout: SackAfterTimeout,
    /// Whether a timeout during fast recovery reduces the window once more.
    pub timeout_in_recovery: TimeoutInRecovery,
    /// Whether the next ACK holds lost what left longer ago than the timeout (Linux 2.4): in a recovery, or to begin one.
    pub retransmit_overdue: Switch,
    /// What duplicate ACKs mean after a timeout, without SACK.
    pub dupacks_after_timeout: DuplicatesRule,
    /// NewReno after a timeout and on partial ACKs.
    #[serde(default)]
    pub newreno: NewRenoParams,
}

impl RecoveryParams {
    /// Refuses a wait that makes no sense, and one before a rule that cannot be made to wait.
    pub fn check(&self, at: &dyn Fn(&str) -> String) -> Result<(), ConfigError> {
        self.dcr.check(at)?;
        if self.dcr.is_on() && !self.detection.can_wait() {
            let expected = "a recovery that can be made to wait: sack, newreno or reno";
            return Err(ConfigError::new(at("recovery"), format!("{:?} with dcr", self.detection), expected));
        }
        Ok(())
    }
}

/// The timestamp clock of a connection, for rules that read timestamps.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    pub tick: Dur,
    /// Timestamps are offered.
    pub is_used: bool,
}

impl Clock {
    fn stamped(self) -> Option<Dur> {
        self.is_used.then_some(self.tick)
    }
}

/// One row per rule: variant, type, name in scenario files, whether it needs SACK, how it is made, and the file of its
/// reference page. The rows make the enum that a connection holds and the names that scenarios may use.
macro_rules! detectors {
    ($($variant:ident($t:ty) $name:literal $sack:ident = $make:expr, $file:literal;)*) => {
        /// The detector of one connection.
        #[derive(Clone, Debug)]
        pub enum Detector { $($variant($t),)* Delayed(Box<DelayedResponse>) }

        /// Which rule finds lost segments and how many bytes it holds to be in the network.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        pub enum Detection { $(#[serde(rename = $name)] $variant),* }

        impl Detection {
            pub fn needs_sack(self) -> bool {
                match self { $(Detection::$variant => Needs::$sack == Needs::Sack),* }
            }
        }

        impl Detector {
            /// Without SACK at both ends a rule that needs it gives way to NewReno.
            pub fn of(p: &RecoveryParams, clock: Clock, sack_negotiated: bool) -> Detector {
                let rule = Detector::of_rule(p, clock, sack_negotiated);
                if p.dcr.is_on() { rule.delayed(&p.dcr) } else { rule }
            }

            fn of_rule(p: &RecoveryParams, clock: Clock, sack_negotiated: bool) -> Detector {
                let usable = sack_negotiated || !p.detection.needs_sack();
                match if usable { p.detection } else { Detection::Newreno } {
                    $(Detection::$variant => {
                        let make: fn(&RecoveryParams, Clock) -> $t = $make;
                        Detector::$variant(make(p, clock))
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
            fn quiet_after(&self) -> Option<(Time, u64)> {
                match self { $(Detector::$variant(d) => d.quiet_after(),)* Detector::Delayed(d) => d.quiet_after() }
            }
            #[inline]
            fn on_in_order(&mut self, a: &Ack, handshake_rtt: Dur) {
                match self { $(Detector::$variant(d) => d.on_in_order(a, handshake_rtt),)* Detector::Delayed(d) => d.on_in_order(a, handshake_rtt) }
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

impl Detection {
    /// It can be made to wait ([`super::delayed_response`]).
    pub fn can_wait(self) -> bool {
        matches!(self, Detection::Sack | Detection::Newreno | Detection::Reno)
    }
}

impl Detector {
    /// The rule behind a wait. [`crate::tcp::TcpParams::check`] refuses those that cannot be made to wait.
    fn delayed(self, p: &DcrParams) -> Detector {
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
pub(super) const NEWRENO: Rules = Rules { ends: Ends::WhenAllAcked, deflation: Deflation::OfWindowToo, ..RENO };
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
    Tahoe(NewReno) "tahoe" Acks = |p, c| NewReno::new(TAHOE, &p.newreno, p.dupacks_after_timeout, c.tick), "newreno.rs";
    Reno(NewReno) "reno" Acks = |p, c| NewReno::new(RENO, &p.newreno, p.dupacks_after_timeout, c.tick), "newreno.rs";
    Newreno(NewReno) "newreno" Acks = |p, c| NewReno::new(NEWRENO, &p.newreno, p.dupacks_after_timeout, c.tick), "newreno.rs";
    Sack(Sack) "sack" Sack = |_, _| Sack::default(), "sack.rs";
    Fack(Fack) "fack" Sack = |_, _| Fack::default(), "fack.rs";
    LinuxSack(HoleSack) "linux-2.4" Sack = |_, _| HoleSack { holes: Holes::First }, "hole_sack.rs";
    LinuxFack(HoleSack) "linux-2.4-fack" Sack = |_, _| HoleSack { holes: Holes::BelowForward }, "hole_sack.rs";
    Rack(Box<Rack>) "rack" Sack = |_, c| Box::new(Rack::new(c.stamped())), "rack.rs";
    Ns2Tahoe(NewReno) "ns2-tahoe" Acks = |p, c| NewReno::new(NS2_TAHOE, &p.newreno, p.dupacks_after_timeout, c.tick), "newreno.rs";
    Ns2Reno(NewReno) "ns2-reno" Acks = |p, c| NewReno::new(NS2_RENO, &p.newreno, p.dupacks_after_timeout, c.tick), "newreno.rs";
    Ns2Newreno(NewReno) "ns2-newreno" Acks = |p, c| NewReno::new(NS2_NEWRENO, &p.newreno, p.dupacks_after_timeout, c.tick), "newreno.rs";
    Ns2Sack1(Box<PipeSack>) "ns2-sack1" Sack = |p, _| Box::new(PipeSack::new(p.dupacks_after_timeout)), "pipe_sack.rs";
    NewrenoSack(Box<PipeSack>) "newreno-sack" Sack = |p, _| Box::new(PipeSack::newreno(&p.newreno, p.dupacks_after_timeout)), "pipe_sack.rs";
}
