//! Detectors of spurious timeouts: was the last one a mistake? One file each, one row in the table below.

pub mod dsack;
pub mod eifel;
#[cfg(test)]
mod eifel_oracle;
pub mod frto;
#[cfg(test)]
mod frto_oracle;
pub mod last_reduction;
#[cfg(test)]
mod last_reduction_oracle;

use super::Ack;
use super::detect::Phase;
use super::params::{Frto as FrtoChoice, TcpParams};
use crosswind_base::registry::Row;

/// What a detector says after an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpuriousVerdict {
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
    /// End of the segment that is being retransmitted.
    pub retransmitted_end: u64,
    /// The timestamp that the retransmission carries.
    pub stamp: u32,
}

/// What an expiry of the timer is to a detector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Episode {
    /// No: conventional recovery.
    Refused,
    /// Yes, a new one.
    New,
    /// Yes: the timer expired again before the verdict.
    Continued,
}

/// Someone who decides after a timeout whether it was genuine.
pub trait DetectSpurious {
    /// The timer has expired in this phase, for the same segment as before if it is repeated. What is under way ends unless the episode is
    /// continued.
    fn on_expiry(&mut self, phase: Phase, _is_repeated: bool) -> Episode {
        let fresh = !self.is_active() && !matches!(phase, Phase::Timeout { .. });
        self.stop();
        if fresh { Episode::New } else { Episode::Refused }
    }
    /// An episode begins or goes on: what is being retransmitted, and when.
    fn start(&mut self, e: &Expiry);
    fn stop(&mut self);
    /// Between `start` and a verdict, while nothing but the first segment is held lost.
    fn is_active(&self) -> bool;
    /// Highest sequence number sent before the timeout in question.
    fn high(&self) -> u64;
    fn on_ack(&mut self, a: &Ack) -> SpuriousVerdict;
}

/// One row per detector: variant, type, name, when the parameters ask for it, how it is made, and the file of its reference
/// page. The first row that is asked for sits; with none, every timeout is genuine.
macro_rules! spurious {
    ($($variant:ident($t:ty) $name:literal when $asked:expr => $make:expr, $file:literal;)*) => {
        /// The detector of one connection.
        #[derive(Clone, Debug)]
        pub enum SpuriousDetector { Empty, $($variant($t)),* }

        impl SpuriousDetector {
            pub fn new(p: &TcpParams) -> SpuriousDetector {
                $(
                    let asked: fn(&TcpParams) -> bool = $asked;
                    if asked(p) {
                        let make: fn(&TcpParams) -> $t = $make;
                        return SpuriousDetector::$variant(make(p));
                    }
                )*
                SpuriousDetector::Empty
            }
            /// Somebody sits.
            pub fn is_asked(&self) -> bool {
                !matches!(self, SpuriousDetector::Empty)
            }
            /// A segment is retransmitted.
            #[inline]
            pub fn on_retransmission(&mut self, bytes: u64) {
                if let SpuriousDetector::Dsack(j) = self {
                    j.on_retransmission(bytes);
                }
            }
        }

        impl DetectSpurious for SpuriousDetector {
            fn on_expiry(&mut self, phase: Phase, is_repeated: bool) -> Episode {
                match self { SpuriousDetector::Empty => Episode::Refused, $(SpuriousDetector::$variant(j) => j.on_expiry(phase, is_repeated)),* }
            }
            fn start(&mut self, e: &Expiry) {
                match self { SpuriousDetector::Empty => {} $(SpuriousDetector::$variant(j) => j.start(e)),* }
            }
            fn stop(&mut self) {
                match self { SpuriousDetector::Empty => {} $(SpuriousDetector::$variant(j) => j.stop()),* }
            }
            #[inline]
            fn is_active(&self) -> bool {
                match self { SpuriousDetector::Empty => false, $(SpuriousDetector::$variant(j) => j.is_active()),* }
            }
            fn high(&self) -> u64 {
                match self { SpuriousDetector::Empty => 0, $(SpuriousDetector::$variant(j) => j.high()),* }
            }
            #[inline]
            fn on_ack(&mut self, a: &Ack) -> SpuriousVerdict {
                match self { SpuriousDetector::Empty => SpuriousVerdict::None, $(SpuriousDetector::$variant(j) => j.on_ack(a)),* }
            }
        }

        pub(super) const ROWS: &[Row] =
            &[$(Row::page("undo", $name, include_str!($file))),*];
    };
}

spurious! {
    Eifel(eifel::Eifel) "eifel" when |p| p.undo.eifel.on() => |_| eifel::Eifel::default(), "eifel.rs";
    Frto(frto::Frto) "frto" when |p| p.undo.frto != FrtoChoice::Off => |p| frto::Frto::new(p.undo.frto), "frto.rs";
    Dsack(dsack::Dsack) "dsack" when |p| p.undo.dsack.on() => |_| dsack::Dsack::default(), "dsack.rs";
}
