//! Judges: was the last timeout a mistake? One file per judge, one row in the table below.

pub mod dsack;
pub mod eifel;
#[cfg(test)]
mod eifel_oracle;
pub mod frto;
#[cfg(test)]
mod frto_oracle;

use super::Ack;
use super::detect::Phase;
use super::params::{Frto as FrtoChoice, TcpParams};
use super::registry::Row;

/// What a judge says after an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// No opinion, or not under way.
    None,
    /// Still open: send up to two new segments and wait for the next ACK.
    ProbeWithNewData,
    /// Still open: wait.
    Wait,
    /// The timeout was spurious.
    Spurious,
    /// The timeout was genuine: recover conventionally, with this window in segments.
    Genuine { window_segments: u32 },
    /// The timeout was genuine, and the ACK that told so counts like any other.
    Conventional,
}

/// Facts about an expiry of the timer.
#[derive(Clone, Copy, Debug)]
pub struct Expiry {
    /// Highest sequence number sent before it.
    pub high: u64,
    /// End of the segment that is being sent again.
    pub resent_end: u64,
    /// The timestamp that the retransmission carries.
    pub stamp: u32,
}

/// Whether a judge hears a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Case {
    /// No: conventional recovery.
    Refused,
    /// Yes, a new one.
    New,
    /// Yes: the timer expired again before the verdict.
    Continued,
}

/// Someone who decides after a timeout whether it was genuine.
pub trait Judge {
    /// The timer has expired in this phase. What is under way ends unless the case is continued.
    fn hears(&mut self, phase: Phase) -> Case {
        let fresh = !self.is_active() && !matches!(phase, Phase::Timeout { .. });
        self.stop();
        if fresh { Case::New } else { Case::Refused }
    }
    /// The case is heard: what is being sent again, and when.
    fn start(&mut self, e: &Expiry);
    fn stop(&mut self);
    /// Between `start` and a verdict, while nothing but the first segment is held lost.
    fn is_active(&self) -> bool;
    /// Highest sequence number sent before the timeout that is being judged.
    fn high(&self) -> u64;
    fn judge(&mut self, a: &Ack) -> Judgement;
}

/// One row per judge: variant, type, name, when the parameters ask for it, how it is made, and the file of its reference
/// page. The first row that is asked for sits; with none, every timeout is genuine.
macro_rules! judges {
    ($($variant:ident($t:ty) $name:literal when $asked:expr => $make:expr, $file:literal;)*) => {
        /// The judge of one connection.
        #[derive(Clone, Debug)]
        pub enum Bench { Empty, $($variant($t)),* }

        impl Bench {
            pub fn new(p: &TcpParams) -> Bench {
                $(
                    let asked: fn(&TcpParams) -> bool = $asked;
                    if asked(p) {
                        let make: fn(&TcpParams) -> $t = $make;
                        return Bench::$variant(make(p));
                    }
                )*
                Bench::Empty
            }
            /// Somebody sits.
            pub fn is_asked(&self) -> bool {
                !matches!(self, Bench::Empty)
            }
            /// A segment is sent again.
            #[inline]
            pub fn on_resend(&mut self, bytes: u64) {
                if let Bench::Dsack(j) = self {
                    j.on_resend(bytes);
                }
            }
        }

        impl Judge for Bench {
            fn hears(&mut self, phase: Phase) -> Case {
                match self { Bench::Empty => Case::Refused, $(Bench::$variant(j) => j.hears(phase)),* }
            }
            fn start(&mut self, e: &Expiry) {
                match self { Bench::Empty => {} $(Bench::$variant(j) => j.start(e)),* }
            }
            fn stop(&mut self) {
                match self { Bench::Empty => {} $(Bench::$variant(j) => j.stop()),* }
            }
            #[inline]
            fn is_active(&self) -> bool {
                match self { Bench::Empty => false, $(Bench::$variant(j) => j.is_active()),* }
            }
            fn high(&self) -> u64 {
                match self { Bench::Empty => 0, $(Bench::$variant(j) => j.high()),* }
            }
            #[inline]
            fn judge(&mut self, a: &Ack) -> Judgement {
                match self { Bench::Empty => Judgement::None, $(Bench::$variant(j) => j.judge(a)),* }
            }
        }

        pub(super) const ROWS: &[Row] =
            &[$(Row { kind: "undo", name: $name, source: include_str!($file) }),*];
    };
}

judges! {
    Eifel(eifel::Eifel) "eifel" when |p| p.eifel.on() => |_| eifel::Eifel::default(), "eifel.rs";
    Frto(frto::Frto) "frto" when |p| p.frto != FrtoChoice::Off => |p| frto::Frto::new(p.frto), "frto.rs";
    Dsack(dsack::Dsack) "dsack" when |p| p.dsack.on() => |_| dsack::Dsack::default(), "dsack.rs";
}
