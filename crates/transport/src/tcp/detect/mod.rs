//! Loss detectors: which segments are lost, how many bytes are in the network, what to send again next.
//!
//! One file per rule. A detector sees facts and the scoreboard; it sends nothing.

pub mod delivered;
#[cfg(test)]
mod edges;
pub mod fack;
pub mod linux_sack;
pub mod newreno;
#[cfg(test)]
mod newreno_oracle;
pub mod ns2_sack1;
pub mod patient;
#[cfg(test)]
mod patient_oracle;
pub mod rack;
#[cfg(test)]
mod rack_oracle;
pub mod sack;
pub mod tlp;

use super::Ack;
use super::conn::scoreboard::{Scoreboard, Sent};
use super::params::TcpParams;
use super::registry::Row;
use crosswind_base::Time;

/// What the sender shows a detector.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// First unacknowledged byte, after this ACK.
    pub una: u64,
    /// Next byte to be sent for the first time.
    pub nxt: u64,
    pub mss: u64,
    pub dupthresh: u32,
    pub phase: Phase,
    /// Everything below was in the network at the last loss or timeout; no new recovery starts until it is
    /// acknowledged (RFC 6582 `recover`).
    pub guard: u64,
    pub limited_transmit: bool,
    /// Congestion window in bytes.
    pub cwnd: f64,
}

impl View {
    /// ns-2's `recover_` rule. It lets the very first segment pass (`bugfix_ss_`), and a loss in a window that an ECN echo
    /// has reduced already.
    pub fn is_guarded_in_ns2(&self) -> bool {
        self.una <= self.guard && self.una > 1 && !matches!(self.phase, Phase::Echo { .. })
    }
}

/// Where the sender stands between losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Open,
    /// Fast recovery, until `high` is acknowledged.
    Recovery {
        high: u64,
    },
    /// After a timeout, until `high` is acknowledged.
    Timeout {
        high: u64,
    },
    /// After an ECN echo, until `high` is acknowledged.
    Echo {
        high: u64,
    },
}

/// What a detector concludes from an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Nothing,
    /// A loss was found: recovery begins.
    Loss,
    /// Recovery goes on; part of the window was acknowledged.
    Partial,
    /// Recovery is complete.
    Recovered,
    /// What looked like a loss was none; the window is set to what was in flight before (RFC 4653).
    Resumed,
}

/// What a detector asks of the sender beyond its verdicts. The default is RFC 6675's.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// SACK blocks go to the sender's scoreboard.
    pub uses_scoreboard: bool,
    /// Any new ACK ends the recovery, not only that of everything outstanding at its start.
    pub ends_on_any_ack: bool,
    /// Only the first partial ACK of a recovery restarts the timer (RFC 6582 section 4, "impatient").
    pub first_partial_restarts_timer: bool,
    /// A partial ACK sends the first segment again.
    pub partial_resends: bool,
    /// A partial ACK ends the back-off of the timer.
    pub partial_ends_backoff: bool,
    /// A loss restarts the timer.
    pub loss_restarts_timer: bool,
    /// After a recovery the next one may begin at once.
    pub forgets_guard: bool,
    /// `Ack::covers_original` tells of segments below the highest that SACK has reported, not of those below the guard.
    pub watches_order: bool,
    /// A loss leaves a window of one segment, and everything outstanding is sent again.
    pub starts_over: bool,
    /// An echo in a recovery, on an ACK beyond its end, prolongs it to all that has been sent (ns-2 `Sack1`).
    pub echo_prolongs_recovery: bool,
    /// With nothing new to send, holes that are not yet held lost are sent again (RFC 6675 NextSeg rule 3).
    pub resends_suspects: bool,
}

impl Default for Habits {
    fn default() -> Habits {
        Habits {
            uses_scoreboard: true,
            ends_on_any_ack: false,
            first_partial_restarts_timer: false,
            partial_resends: false,
            partial_ends_backoff: false,
            loss_restarts_timer: false,
            forgets_guard: false,
            watches_order: false,
            starts_over: false,
            echo_prolongs_recovery: false,
            resends_suspects: true,
        }
    }
}

/// A rule that finds lost segments.
pub trait Detect: Clone + std::fmt::Debug {
    fn on_ack(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict;
    /// Bytes that the rule holds to be in the network.
    fn in_flight(&self, board: &Scoreboard, v: &View) -> u64;
    fn on_timeout(&mut self) {}
    fn habits(&self) -> Habits {
        Habits::default()
    }
    /// The segment to send again next, if any waits.
    #[inline]
    fn next_resend(&mut self, board: &mut Scoreboard) -> Option<Sent> {
        board.next_lost()
    }
    /// A segment that has to be sent again now, whatever is held to be in the network.
    fn forced_resend(&mut self, _board: &mut Scoreboard) -> Option<Sent> {
        None
    }
    /// With a clear scoreboard all outstanding bytes are in the network, and an ACK that advances and brings no SACK blocks
    /// changes nothing here. Rules that look at every ACK, or count segments and not bytes, are never quiet.
    fn is_quiet(&self) -> bool {
        false
    }
    /// Segments that may leave in answer to one ACK; 0 = no limit.
    fn burst_limit(&self) -> u32 {
        0
    }
    /// Whether the ACK in hand may release segments at all.
    fn may_send(&self) -> bool {
        true
    }
    /// A segment of `len` bytes has left, new or again.
    fn on_sent(&mut self, _len: u64) {}
    /// Takes note of a duplicate that must not be taken for a loss yet.
    fn wait_on(&mut self, _a: &Ack, _blocks: &[(u64, u64)], _board: &mut Scoreboard, _v: &View) {}
    /// The wait is over: the first segment is lost, and what else the rule holds lost now.
    fn declare(&mut self, board: &mut Scoreboard, _v: &View) -> Verdict {
        if board.mark_first_lost() { Verdict::Loss } else { Verdict::Nothing }
    }
    /// When a wait ends by itself.
    fn deadline(&self) -> Time {
        Time::NEVER
    }
    fn on_deadline(&mut self, _board: &mut Scoreboard, _v: &View) -> Verdict {
        Verdict::Nothing
    }
    /// A wait is under way during which duplicates make the window grow.
    fn grows_on_duplicate(&self) -> bool {
        false
    }
    /// Bytes that were in flight when the wait began that has just ended well.
    fn take_resumed(&mut self) -> Option<u64> {
        None
    }
    /// At a timeout: what left later than this may still arrive. None: everything outstanding is held lost.
    fn late_before(&self, _now: Time, _board: &Scoreboard, _v: &View) -> Option<Time> {
        None
    }
    /// The ACK in hand has shown segments to be lost that were not held lost before.
    fn found_losses(&self) -> bool {
        false
    }
    /// Bytes by which a partial ACK deflates the window itself.
    fn take_deflation(&mut self) -> u64 {
        0
    }
}

/// One row per rule: variant, type, name in scenario files, whether it needs SACK, how it is made, and the file of its
/// reference page. The rows make the enum that a connection holds and the names that scenarios may use.
macro_rules! detectors {
    ($($variant:ident($t:ty) $name:literal $sack:ident = $make:expr, $file:literal;)*) => {
        /// The detector of one connection.
        #[derive(Clone, Debug)]
        pub enum Detector { $($variant($t),)* Patient(Box<patient::Patient>) }

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
                if p.dcr.is_on() { Detector::Patient(Box::new(patient::Patient::new(rule, p))) } else { rule }
            }

            fn of_rule(p: &TcpParams, sack_negotiated: bool) -> Detector {
                let usable = sack_negotiated || !p.recovery.needs_sack();
                match if usable { p.recovery } else { Detection::Newreno } {
                    $(Detection::$variant => {
                        let make: fn(&TcpParams) -> $t = $make;
                        Detector::$variant(make(p))
                    })*
                }
            }
        }

        impl Detect for Detector {
            #[inline]
            fn on_ack(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) -> Verdict {
                match self { $(Detector::$variant(d) => d.on_ack(a, blocks, board, v),)* Detector::Patient(d) => d.on_ack(a, blocks, board, v) }
            }
            #[inline]
            fn in_flight(&self, board: &Scoreboard, v: &View) -> u64 {
                match self { $(Detector::$variant(d) => d.in_flight(board, v),)* Detector::Patient(d) => d.in_flight(board, v) }
            }
            #[inline]
            fn is_quiet(&self) -> bool {
                match self { $(Detector::$variant(d) => d.is_quiet(),)* Detector::Patient(d) => d.is_quiet() }
            }
            fn on_timeout(&mut self) {
                match self { $(Detector::$variant(d) => d.on_timeout(),)* Detector::Patient(d) => d.on_timeout() }
            }
            #[inline]
            fn habits(&self) -> Habits {
                match self { $(Detector::$variant(d) => d.habits(),)* Detector::Patient(d) => d.habits() }
            }
            #[inline]
            fn next_resend(&mut self, board: &mut Scoreboard) -> Option<Sent> {
                match self { $(Detector::$variant(d) => d.next_resend(board),)* Detector::Patient(d) => d.next_resend(board) }
            }
            #[inline]
            fn forced_resend(&mut self, board: &mut Scoreboard) -> Option<Sent> {
                match self { $(Detector::$variant(d) => d.forced_resend(board),)* Detector::Patient(d) => d.forced_resend(board) }
            }
            #[inline]
            fn burst_limit(&self) -> u32 {
                match self { $(Detector::$variant(d) => d.burst_limit(),)* Detector::Patient(d) => d.burst_limit() }
            }
            #[inline]
            fn may_send(&self) -> bool {
                match self { $(Detector::$variant(d) => d.may_send(),)* Detector::Patient(d) => d.may_send() }
            }
            #[inline]
            fn on_sent(&mut self, len: u64) {
                match self { $(Detector::$variant(d) => d.on_sent(len),)* Detector::Patient(d) => d.on_sent(len) }
            }
            fn wait_on(&mut self, a: &Ack, blocks: &[(u64, u64)], board: &mut Scoreboard, v: &View) {
                match self { $(Detector::$variant(d) => d.wait_on(a, blocks, board, v),)* Detector::Patient(d) => d.wait_on(a, blocks, board, v) }
            }
            fn declare(&mut self, board: &mut Scoreboard, v: &View) -> Verdict {
                match self { $(Detector::$variant(d) => d.declare(board, v),)* Detector::Patient(d) => d.declare(board, v) }
            }
            #[inline]
            fn deadline(&self) -> Time {
                match self {
                    Detector::Patient(d) => d.deadline(),
                    Detector::Rack(d) => d.deadline(),
                    _ => Time::NEVER,
                }
            }
            fn on_deadline(&mut self, board: &mut Scoreboard, v: &View) -> Verdict {
                match self {
                    Detector::Patient(d) => d.on_deadline(board, v),
                    Detector::Rack(d) => d.on_deadline(board, v),
                    _ => Verdict::Nothing,
                }
            }
            fn late_before(&self, now: Time, board: &Scoreboard, v: &View) -> Option<Time> {
                if let Detector::Rack(d) = self { d.late_before(now, board, v) } else { None }
            }
            fn found_losses(&self) -> bool {
                if let Detector::Rack(d) = self { d.found_losses() } else { false }
            }
            #[inline]
            fn grows_on_duplicate(&self) -> bool {
                if let Detector::Patient(d) = self { d.grows_on_duplicate() } else { false }
            }
            fn take_resumed(&mut self) -> Option<u64> {
                if let Detector::Patient(d) = self { d.take_resumed() } else { None }
            }
            fn take_deflation(&mut self) -> u64 {
                match self { $(Detector::$variant(d) => d.take_deflation(),)* Detector::Patient(d) => d.take_deflation() }
            }
        }

        pub(super) const ROWS: &[Row] =
            &[$(Row { kind: "detector", name: $name, source: include_str!($file) },)*
              Row { kind: "detector", name: "dcr", source: include_str!("patient.rs") }];
    };
}

/// Whether a rule lives on SACK blocks.
#[derive(PartialEq, Eq)]
enum Needs {
    Sack,
    Acks,
}

use linux_sack::{Holes, LinuxSack};
use newreno::{NewReno, Variant};

detectors! {
    Tahoe(NewReno) "tahoe" Acks = |p| NewReno::new(Variant::Tahoe, p), "newreno.rs";
    Reno(NewReno) "reno" Acks = |p| NewReno::new(Variant::Reno, p), "newreno.rs";
    Newreno(NewReno) "newreno" Acks = |p| NewReno::new(Variant::NewReno, p), "newreno.rs";
    Sack(sack::Sack) "sack" Sack = |_| sack::Sack::default(), "sack.rs";
    Fack(fack::Fack) "fack" Sack = |_| fack::Fack::default(), "fack.rs";
    LinuxSack(LinuxSack) "linux-2.4" Sack = |_| LinuxSack { holes: Holes::First }, "linux_sack.rs";
    LinuxFack(LinuxSack) "linux-2.4-fack" Sack = |_| LinuxSack { holes: Holes::BelowForward }, "linux_sack.rs";
    Rack(Box<rack::Rack>) "rack" Sack = |p| Box::new(rack::Rack::new(p)), "rack.rs";
    Ns2Tahoe(NewReno) "ns2-tahoe" Acks = |p| NewReno::new(Variant::Ns2Tahoe, p), "newreno.rs";
    Ns2Reno(NewReno) "ns2-reno" Acks = |p| NewReno::new(Variant::Ns2Reno, p), "newreno.rs";
    Ns2Newreno(NewReno) "ns2-newreno" Acks = |p| NewReno::new(Variant::Ns2NewReno, p), "newreno.rs";
    Ns2Sack1(Box<ns2_sack1::Ns2Sack1>) "ns2-sack1" Sack = |p| Box::new(ns2_sack1::Ns2Sack1::new(p)), "ns2_sack1.rs";
    NewrenoSack(Box<ns2_sack1::Ns2Sack1>) "newreno-sack" Sack = |p| Box::new(ns2_sack1::Ns2Sack1::newreno(p)), "ns2_sack1.rs";
}
