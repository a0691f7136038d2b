//! What a packet occupies on the line behind the shaper: its length with headers of the link, in cells or blocks.

use crosswind_base::{ConfigError, Size, units};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes that are added to each packet; fewer than none where the length has headers that the line does not carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extra(pub i32);

impl Serialize for Extra {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&format!("{} B", self.0))
    }
}

impl<'de> Deserialize<'de> for Extra {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Extra, D::Error> {
        let text = String::deserialize(d)?;
        let (sign, size) = text.trim().strip_prefix('-').map_or((1, text.trim()), |rest| (-1, rest.trim()));
        let bytes = units::parse_size(size).and_then(|s| i32::try_from(s.0).ok());
        let wrong = || D::Error::custom(format!("expected a size such as \"38 B\" or \"-4 B\", found \"{text}\""));
        bytes.map(|b| Extra(sign * b)).ok_or_else(wrong)
    }
}

impl JsonSchema for Extra {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Extra".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^ *-? *[0-9.]+ *[kKMGi]*B *$", "examples": ["38 B", "-4 B"]})
    }
}

/// What the line carries packets in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cells {
    /// Frames.
    #[default]
    None,
    /// Cells of 53 bytes that carry 48.
    Atm,
    /// Blocks of 64 bytes with a byte more.
    Ptm,
}

/// Lines that have a name: overhead, least length and cells.
pub const FRAMINGS: [(&str, i32, u64, Cells); 14] = [
    ("ethernet", 38, 84, Cells::None),
    ("docsis", 18, 64, Cells::None),
    ("pppoe-ptm", 30, 0, Cells::Ptm),
    ("bridged-ptm", 22, 0, Cells::Ptm),
    ("ipoa-vcmux", 8, 0, Cells::Atm),
    ("ipoa-llcsnap", 16, 0, Cells::Atm),
    ("bridged-vcmux", 24, 0, Cells::Atm),
    ("bridged-llcsnap", 32, 0, Cells::Atm),
    ("pppoa-vcmux", 10, 0, Cells::Atm),
    ("pppoa-llc", 14, 0, Cells::Atm),
    ("pppoe-vcmux", 32, 0, Cells::Atm),
    ("pppoe-llcsnap", 40, 0, Cells::Atm),
    ("conservative", 48, 0, Cells::Atm),
    ("none", 0, 0, Cells::None),
];

/// The length that a packet is charged with.
#[derive(Clone, Copy, Debug)]
pub struct Framing {
    pub overhead: Extra,
    pub mpu: Size,
    pub cells: Cells,
}

impl Framing {
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(-64..=256).contains(&self.overhead.0) {
            return Err(ConfigError::new("overhead", format!("{} B", self.overhead.0), "from -64 B to 256 B"));
        }
        if self.mpu.0 > 256 {
            return Err(ConfigError::new("mpu", units::show_size(self.mpu), "at most 256 B"));
        }
        Ok(())
    }

    /// Bytes on the line of an IP packet of so many.
    #[inline]
    pub fn of(&self, len: u32) -> u64 {
        let whole = (i64::from(len) + i64::from(self.overhead.0)).max(self.mpu.0 as i64).max(0) as u64;
        match self.cells {
            Cells::None => whole,
            Cells::Atm => whole.div_ceil(48) * 53,
            Cells::Ptm => whole + whole.div_ceil(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_on_known_lines() {
        let of = |overhead, mpu, cells| {
            let f = Framing { overhead: Extra(overhead), mpu: Size(mpu), cells };
            [40, 64, 576, 1500].map(|len| f.of(len))
        };
        assert_eq!(of(18, 64, Cells::None), [64, 82, 594, 1518]);
        assert_eq!(of(38, 84, Cells::None), [84, 102, 614, 1538]);
        assert_eq!(of(32, 0, Cells::Atm), [106, 106, 689, 1696]);
        assert_eq!(of(44, 0, Cells::Atm), [106, 159, 689, 1749]);
        assert_eq!(of(30, 0, Cells::Ptm), [72, 96, 616, 1554]);
        // Known from a separate program.
        let others = |overhead, cells| {
            let f = Framing { overhead: Extra(overhead), mpu: Size(0), cells };
            [52, 100, 1452, 1492].map(|len| f.of(len))
        };
        assert_eq!(others(44, Cells::Atm), [106, 159, 1696, 1696]);
        assert_eq!(others(30, Cells::Ptm), [84, 133, 1506, 1546]);
        assert_eq!(of(-50, 0, Cells::None), [0, 14, 526, 1450], "no packet is shorter than nothing");
    }
}
