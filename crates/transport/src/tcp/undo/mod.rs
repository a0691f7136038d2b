//! Detectors of spurious timeouts: was the last one a mistake? One file each, one row in the table below.

pub mod detector;
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

use super::choices::Frto as FrtoChoice;
use super::detect::Phase;
use super::facts::Ack;
use super::params::TcpParams;
use crosswind_base::registry::Row;
pub use detector::{DetectSpurious, Episode, Expiry, SpuriousVerdict};

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
            #[inline]
            fn is_over(&self) -> bool {
                match self { SpuriousDetector::Empty => true, $(SpuriousDetector::$variant(j) => j.is_over()),* }
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
