//! Judges: was the last timeout a mistake? One file per judge, one row in the table below.

pub mod frto;
#[cfg(test)]
mod frto_oracle;

use super::Ack;
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
}

/// Someone who decides after a timeout whether it was genuine.
pub trait Judge {
    /// A timeout occurred: `high` is the highest sequence number sent before it, `resent_end` the end of the segment that
    /// is being sent again.
    fn start(&mut self, high: u64, resent_end: u64);
    fn stop(&mut self);
    /// Between `start` and a verdict.
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
            pub fn is_empty(&self) -> bool {
                matches!(self, Bench::Empty)
            }
        }

        impl Judge for Bench {
            fn start(&mut self, high: u64, resent_end: u64) {
                match self { Bench::Empty => {} $(Bench::$variant(j) => j.start(high, resent_end)),* }
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
    Frto(frto::Frto) "frto" when |p| p.frto != FrtoChoice::Off => |p| frto::Frto::new(p.frto), "frto.rs";
}
