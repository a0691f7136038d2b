//! Tins: classes by DSCP, each with a share of the rate up to which it comes first.

use crosswind_base::Dscp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which tins there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tins {
    /// One for all packets.
    Besteffort,
    /// Best effort, bulk and voice.
    #[default]
    Diffserv3,
    /// Best effort, bulk, video and voice.
    Diffserv4,
    /// Eight, by drop precedence and urgency.
    Diffserv8,
    /// Eight, by the first three bits.
    Precedence,
}

/// One tin: its name, its threshold in bytes per second, its share when nothing shapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    pub name: &'static str,
    pub rate: u64,
    pub quantum: i64,
}

const EIGHT: [&str; 8] = ["tin-0", "tin-1", "tin-2", "tin-3", "tin-4", "tin-5", "tin-6", "tin-7"];

impl Tins {
    /// At a rate in bytes per second; zero stands for no limit.
    pub fn shares(self, rate: u64) -> Vec<Share> {
        let part = |name, shift: u32| Share { name, rate: rate >> shift, quantum: 1024 >> shift };
        match self {
            Tins::Besteffort => vec![Share { quantum: 65_535, ..part("best-effort", 0) }],
            Tins::Diffserv3 => vec![part("best-effort", 0), part("bulk", 4), part("voice", 2)],
            Tins::Diffserv4 => vec![part("best-effort", 0), part("bulk", 4), part("video", 1), part("voice", 2)],
            Tins::Diffserv8 | Tins::Precedence => {
                let (mut rate, mut quantum) = (rate, 256);
                let eighth = |name| {
                    let share = Share { name, rate, quantum: i64::max(1, quantum) };
                    (rate, quantum) = ((rate * 7) >> 3, (quantum * 7) >> 3);
                    share
                };
                EIGHT.map(eighth).to_vec()
            }
        }
    }

    fn tin_of(self, dscp: u8) -> u8 {
        match self {
            Tins::Besteffort => 0,
            Tins::Precedence => dscp >> 3,
            Tins::Diffserv3 => match dscp {
                1 | 8 => 1,
                4 | 44 | 46 | 48 | 56 => 2,
                _ => 0,
            },
            Tins::Diffserv4 => match dscp {
                1 | 8 => 1,
                4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
                32 | 40 | 44 | 46 | 48 | 56 => 3,
                _ => 0,
            },
            Tins::Diffserv8 => match dscp {
                1 => 0,
                2 | 8 | 10 | 12 | 14 => 1,
                24 | 26 | 28 | 30 | 34 | 36 | 38 => 3,
                4 | 18 | 20 | 22 => 4,
                16 => 5,
                32 | 40 | 44 | 46 => 6,
                48 | 56 => 7,
                _ => 2,
            },
        }
    }

    /// The tin of each code point.
    pub fn map(self) -> [u8; 64] {
        std::array::from_fn(|bits| self.tin_of(bits as u8))
    }
}

/// By code point.
#[inline]
pub fn tin_of(map: &[u8; 64], dscp: Dscp) -> usize {
    usize::from(map[usize::from(dscp.bits())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_and_quanta_of_eight_tins() {
        let all = Tins::Diffserv8.shares(1_250_000);
        let bit_per_s: Vec<u64> = all.iter().map(|s| s.rate * 8).collect();
        let known = [10_000_000, 8_750_000, 7_656_248, 6_699_216, 5_861_808, 5_129_080, 4_487_944, 3_926_944];
        assert_eq!(bit_per_s, known);
        assert_eq!(all.iter().map(|s| s.quantum).collect::<Vec<_>>(), [256, 224, 196, 171, 149, 130, 113, 98]);
        let four: Vec<_> = Tins::Diffserv4.shares(1600).iter().map(|s| (s.rate, s.quantum)).collect();
        assert_eq!(four, [(1600, 1024), (100, 64), (800, 512), (400, 256)]);
    }

    #[test]
    fn each_code_point_has_its_tin() {
        let count = |tins: Tins, n: usize| {
            (0..n).map(|t| tins.map().iter().filter(|x| **x as usize == t).count()).collect::<Vec<_>>()
        };
        assert_eq!(count(Tins::Besteffort, 1), [64]);
        assert_eq!(count(Tins::Diffserv3, 3), [57, 2, 5]);
        assert_eq!(count(Tins::Diffserv4, 4), [44, 2, 12, 6]);
        assert_eq!(count(Tins::Diffserv8, 8), [1, 5, 40, 7, 4, 1, 4, 2]);
        assert_eq!(count(Tins::Precedence, 8), [8; 8]);
        let of = |tins: Tins, name: &str| tin_of(&tins.map(), serde_json::from_value(name.into()).expect("a name"));
        assert_eq!(["CS0", "LE", "AF41", "EF"].map(|n| of(Tins::Diffserv4, n)), [0, 1, 2, 3]);
        assert_eq!(["CS0", "LE", "CS1", "EF", "CS7"].map(|n| of(Tins::Diffserv8, n)), [2, 0, 1, 6, 7]);
    }
}
